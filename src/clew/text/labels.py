"""Labels of entities and relations as texts that are read and embedded."""

from __future__ import annotations

import re

_LONGEST = 1000
"""Characters of a label that are embedded."""
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")


def readable(label: str) -> str:
    """Give the text of a label that is embedded: underscores are spaces, and a long literal is cut."""
    return label[:_LONGEST].replace("_", " ")


def relation_text(label: str) -> str:
    """Give the text of a relation's label that is embedded: `readable`, and `discoveredBy` is two words."""
    return _CAMEL.sub(" ", readable(label))
