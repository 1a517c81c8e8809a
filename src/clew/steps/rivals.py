"""Readings of a question that tie and would be answered differently."""

from __future__ import annotations

from collections.abc import Sequence

from clew.graph.graph import Graph
from clew.steps.found import draw
from clew.steps.readings import Reading
from clew.types import Abstention, MatchResult, Pattern


def answer_nodes(evidence: MatchResult, pattern: Pattern) -> set[int]:
    """The nodes that the matches have at the pattern's answer."""
    return {m.nodes[pattern.answer or 0] for m in evidence.matches}


def differ_in(one: Reading, other: Reading, unnamed: Sequence[int]) -> bool:
    """Whether two readings of one mention differ only in the steps `unnamed`."""
    if one.anchors != other.anchors or len(one.steps) != len(other.steps):
        return False
    return all(a == b or a in unnamed for a, b in zip(one.steps, other.steps, strict=True))


def tie(graph: Graph, chosen: Reading, other: Reading) -> Abstention:
    """Why neither of two readings is answered from: they mean other entities, or other relations."""
    mine, theirs = {a.entity for a in chosen.anchors}, {a.entity for a in other.anchors}
    if mine != theirs:
        names = tuple(graph.entities[e] for e in sorted(mine ^ theirs))
        text = " ".join(a.text for a in chosen.anchors if a.entity not in theirs)
        return Abstention("ambiguous_entity", f'"{text}" may be {" or ".join(names)}', names)
    either = f"{draw(graph, chosen)} or {draw(graph, other)}"
    return Abstention("no_relation", f"the question may mean {either}")
