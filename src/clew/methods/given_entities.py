"""Names that a user gives for a question's entities: the graph's, or a part of one of them (*HP-40*)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clew.index.names.containing import nodes_containing
from clew.index.names.names import NamesIndex

NAME_CODE = re.compile(r"\d.*[^\W\d_]|[^\W\d_].*\d")
"""A word with a digit and a letter: *HP-40*."""


def names_of_graph(names: NamesIndex, given: Sequence[str]) -> tuple[str, ...]:
    """Each given name, or the entity for it where it is no name, but whole words of one entity's name alone.

    A single word has to be a code, as other words are parts of too much.
    """
    return tuple(name if names.exact(name) else _entity_called(names, name) or name for name in given)


def _entity_called(names: NamesIndex, part: str) -> str:
    if not (NAME_CODE.search(part) or " " in part.strip()):
        return ""
    nodes = shortest_named(names, part, nodes_containing(names, part) or [])
    return names.graph.entities[nodes[0]] if len(nodes) == 1 else ""


def shortest_named(names: NamesIndex, part: str, nodes: Sequence[int]) -> list[int]:
    """Of a code, the entities with the shortest name (*TB-5* is not *TB-5 Mk2*); of other parts, all."""
    if not NAME_CODE.search(part):
        return list(nodes)
    length = {node: len(names.graph.labels[node]) for node in nodes}
    least = min(length.values(), default=0)
    return [node for node in nodes if length[node] == least]
