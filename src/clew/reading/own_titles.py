"""Names that are nodes too: the title of a thing, in graphs that keep names as values of a property.

`Apollo 13` is then the movie, by its name, and the text at the end of its edge `title`. Nobody asks for the
text, and a name that stands for two nodes makes every reading of it less sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.graph.graph import Graph
from clew.reading.mentions import Candidate, Mention

MOST_OF_ONE_TITLE = 50
"""Things of one title; what more lead to is a thing of its own."""


def without_own_titles(graph: Graph, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """The mentions without candidates that are only the title of other candidates of the same mention."""
    return tuple(_without_titles(graph, m) if len(m.candidates) > 1 else m for m in mentions)


def _without_titles(graph: Graph, mention: Mention) -> Mention:
    nodes = {c.node for c in mention.candidates}
    candidates = tuple(c for c in mention.candidates if not _is_title(graph, c, nodes))
    return replace(mention, candidates=candidates) if candidates else mention


def _is_title(graph: Graph, candidate: Candidate, nodes: set[int]) -> bool:
    """Whether all edges of a node come from others of some nodes, which are called the same."""
    start, stop = graph.into.span(candidate.node)
    if not 0 < stop - start <= MOST_OF_ONE_TITLE or len(set(graph.out.span(candidate.node))) > 1:
        return False
    heads = set(graph.into.neighbour[start:stop].tolist())
    return candidate.node not in heads and heads <= nodes
