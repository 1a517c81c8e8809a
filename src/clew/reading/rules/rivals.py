"""Readings of a question that tie and would be answered differently."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import takewhile

from clew.graph.graph import Graph
from clew.reading.rules.found import draw
from clew.reading.rules.read import find_evidence
from clew.reading.rules.reading import Reading
from clew.reading.rules.readings import Reader
from clew.reading.rules.write_pattern import write_pattern
from clew.types import Abstention, MatchResult, Pattern

TIE = 0.02
"""Readings whose costs differ by no more than this tie."""
LOOSE_TIE, LOOSEST_TIE = 0.15, 0.4
"""The same for readings that differ only in a step that no word names: that would be a guess; and for those
of one step, where nothing but that step could tell."""
CLOSE = 0.35
"""A reading this much dearer than the best may stand in for one that the graph holds nothing for."""


def tied_with(chosen: Reading, readings: Sequence[Reading], unnamed: Sequence[int]) -> list[Reading]:
    """The readings that tie with the chosen one, which has the steps `unnamed` that no word names."""
    return [
        other
        for other in readings
        if other is not chosen and abs(other.cost - chosen.cost) <= _within(chosen, other, unnamed)
    ]


def _within(chosen: Reading, other: Reading, unnamed: Sequence[int]) -> float:
    """How far apart the costs of two readings may be that tie."""
    if not _differ_in(chosen, other, unnamed):
        return TIE
    return LOOSEST_TIE if len(chosen.steps) == 1 else LOOSE_TIE


def rival_of(
    reader: Reader, chosen: Reading, tied: Sequence[Reading], evidence: MatchResult
) -> Reading | None:
    """The first of the readings that tie with the chosen one and would be answered differently."""
    graph = reader.graph
    nodes = _answer_nodes(evidence, write_pattern(graph, chosen)) if tied else set[int]()
    for other in tied:
        pattern = write_pattern(graph, other)
        others = find_evidence(graph, pattern, away=reader.leads_away(other))
        if others.matches and _answer_nodes(others, pattern) != nodes:
            return other
    return None


def sharing(
    chosen: Reading, other: Reading, readings: Sequence[Reading], unnamed: Collection[int]
) -> list[Reading]:
    """Readings of the path that two readings share, if they add only steps `unnamed` to it."""
    if chosen.anchors != other.anchors or len(chosen.anchors) > 1:
        return []
    one, two = chosen.branches[0], other.branches[0]
    path = tuple(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))
    if not set(unnamed).issuperset((*one[len(path) :], *two[len(path) :])):
        return []
    return [
        r
        for r in readings
        if (r.anchors, r.branches) == (chosen.anchors, (path,)) and r.cost <= chosen.cost + CLOSE
    ]


def _answer_nodes(evidence: MatchResult, pattern: Pattern) -> set[int]:
    return {m.nodes[pattern.answer or 0] for m in evidence.matches}


def _differ_in(one: Reading, other: Reading, unnamed: Sequence[int]) -> bool:
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
