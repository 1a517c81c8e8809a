"""Yes/no questions between two mentions: a path that holds says *yes*, one recorded otherwise says *no*."""

from __future__ import annotations

from collections.abc import Sequence

from clew.graph.graph import Graph
from clew.grounding import cite
from clew.reading.rules.comparison import Comparison
from clew.reading.rules.confidence import Trust, confidence
from clew.reading.rules.doubt import ENOUGH, compares, stands_as_name
from clew.reading.rules.explain import explain
from clew.reading.rules.found import Found, nothing
from clew.reading.rules.operators import Operator
from clew.reading.rules.read import find_evidence
from clew.reading.rules.reading import Anchor, Reading
from clew.reading.rules.write_pattern import write_pattern, write_question
from clew.types import AnswerEntity

LONGEST_NO = 2
"""Steps of a path of which *no* may be said: of a longer one too much else may be meant."""


def yes_or_no(
    graph: Graph,
    comparison: Comparison,
    operator: Operator,
    pairs: Sequence[tuple[Reading, Anchor]],
    trust: Trust,
    tie: float,
) -> Found | None:
    """Whether the graph holds one of the best paths; None where none of them is a fair reading.

    `pairs`: paths from one mention that may end at another, cheapest first (`Reader.read_between`); those
    within `tie` of the best are tried. The answer is *no* only if the graph records the relation for one
    of the two mentions, but not with the other.
    """
    for reading, target in pairs:
        if reading.cost > pairs[0][0].cost + tie:
            break
        if _leaves_open(comparison, operator, reading, target, trust):
            continue
        pattern = write_question(graph, reading, target.entity)
        evidence = find_evidence(graph, pattern)
        if evidence.matches:
            cited = cite(graph, "yes", evidence.matches[0].triples)
            return Found((AnswerEntity("yes", "yes", 1.0),), (cited,), "yes", pattern)
    if (
        not pairs
        or len(pairs[0][0].branches[0]) > LONGEST_NO
        or _leaves_open(comparison, operator, *pairs[0], trust)
    ):
        return None
    return _recorded_otherwise(graph, *pairs[0])


def _leaves_open(
    comparison: Comparison, operator: Operator, reading: Reading, target: Anchor, trust: Trust
) -> bool:
    if target.ordinary and not stands_as_name(comparison, reading, target, reading.branches[0]):
        return True
    if reading.doubtful and not stands_as_name(comparison, reading, reading.anchors[0], reading.branches[0]):
        return True
    start, stop = target.span.start, target.span.stop
    inside = frozenset(w.start for w in comparison.words if w.start < stop and start < w.stop)
    told = explain(comparison, reading, extra=operator.used | inside)
    if told.open_names or confidence(reading, told, trust) < ENOUGH:
        return True
    return compares(comparison.question, told)


def _recorded_otherwise(graph: Graph, reading: Reading, target: Anchor) -> Found:
    """*No* with what is recorded instead, or an abstention if nothing is."""
    asked = write_question(graph, reading, target.entity)
    evidence = find_evidence(graph, write_pattern(graph, reading))
    if not evidence.matches:
        back = tuple(step ^ 1 for step in reversed(reading.branches[0]))
        other = Reading((target,), (back,), (), reading.cost)
        evidence = find_evidence(graph, write_pattern(graph, other))
    if not evidence.matches:
        return nothing(graph, reading, asked)
    citations = tuple(cite(graph, "no", m.triples) for m in evidence.matches)
    return Found((AnswerEntity("no", "no", 1.0),), citations, "no", asked, complete=evidence.complete)
