"""Labels of entities and relations as texts that are read and embedded."""

from __future__ import annotations

from clew.graph.schema import words_apart

_LONGEST = 1000
"""Characters of a label that are embedded."""


def readable(label: str) -> str:
    """Give the text of a label that is embedded: underscores are spaces, and a long literal is cut."""
    return label[:_LONGEST].replace("_", " ")


def relation_text(label: str) -> str:
    """Give the text of a relation's label that is embedded: `readable`, with its words apart."""
    return words_apart(readable(label))
