"""Superlatives and ranges: of the entities that a question is about, those whose values are as asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from clew.graph.graph import Graph, ValueKind
from clew.graph.schema import Schema
from clew.grounding import cite, ground
from clew.reading.rules.comparison import Comparison, is_asked
from clew.reading.rules.found import Found, nothing, text_of
from clew.reading.rules.operators import Operator, busiest
from clew.reading.rules.quantity import Counting
from clew.reading.rules.question import ABOUT, Limits, Question
from clew.reading.rules.read import (
    degrees_at,
    edges_at,
    end_pattern,
    find_evidence,
    find_extreme,
    holder_pattern,
    holders,
    values_of,
    with_value,
)
from clew.reading.rules.reading import Reading
from clew.reading.rules.vocabulary import class_fit
from clew.types import Abstention, AnswerEntity, Citation, MatchResult, Pattern

CLEARLY = 0.85
"""From this similarity on a noun names the nodes of an end."""
SAID = 0.3
"""From this share on a word says the type of the nodes that are measured."""
OVER_ALL = ("extreme", "most", "range", "number")
"""Operators that may range over all entities that have the relation."""


def extreme_of(
    graph: Graph,
    operator: Operator,
    reading: Reading,
    pattern: Pattern,
    evidence: MatchResult,
    draft: Sequence[int],
) -> Found:
    """Of the drafted answers, those with the extreme value; of drafted values, the extreme one."""
    if reading.last == 2 * operator.relation:
        values = [(float(graph.values.value[n]), n) for n in draft if graph.values.kind[n]]
        if not values:
            return nothing(graph, reading, pattern)
        wanted = max(values, key=lambda v: (operator.sign * v[0], -v[1]))[1]
        answers, citations, left = ground(graph, [wanted], evidence.matches, pattern.answer or 0)
        return Found(answers, citations, text_of(answers), pattern, left, evidence.complete)
    extreme = find_extreme(graph, draft, operator.relation, operator.sign)
    if extreme is None:
        name = graph.relation_labels[operator.relation]
        return Found(pattern=pattern, abstained=Abstention("empty_result", f'none of them has a "{name}"'))
    return _with_value(graph, with_value(pattern, graph, operator.relation, extreme.value), extreme.entities)


def in_range(
    graph: Graph,
    operator: Operator,
    limits: Limits | None,
    drafted: Sequence[tuple[int, tuple[int, ...]]],
    pattern: Pattern,
    complete: bool,
) -> Found:
    """The drafted entities, each with the ids of its triples, that have a value in the question's range."""
    answers: list[AnswerEntity] = []
    citations: list[Citation] = []
    for entity, proof in drafted:
        for value, tail in values_of(graph, entity, operator.relation):
            dated = graph.values.kind[tail] == ValueKind.DATE
            if limits is not None and limits.hold(value, dated=dated):
                name = graph.entities[entity]
                answers.append(AnswerEntity(name, graph.labels[entity], 1.0))
                triple = graph.find_triple(entity, operator.relation, tail)
                citations.append(cite(graph, name, (*proof, triple)))
                break
    if not answers:
        name = graph.relation_labels[operator.relation]
        detail = f'nothing that fits has a "{name}" in that range'
        return Found(pattern=pattern, abstained=Abstention("empty_result", detail))
    if operator.counts:
        answers, citations = counted(answers, citations)
    return Found(tuple(answers), tuple(citations), text_of(answers), pattern, None, complete)


def with_number(
    graph: Graph,
    operator: Operator,
    counting: Counting,
    drafted: Sequence[tuple[int, tuple[int, ...]]],
    pattern: Pattern | None,
    complete: bool,
) -> Found:
    """The drafted entities, each with the ids of its triples, that have as many edges as asked for."""
    kept = [(n, proof, edges_at(graph, n, operator.end)) for n, proof in drafted]
    kept = [row for row in kept if counting.holds(len(row[2]))]
    if not kept:
        name = graph.relation_labels[operator.relation]
        detail = f'nothing that fits has so many by "{name}"'
        return Found(pattern=pattern, abstained=Abstention("empty_result", detail))
    answers = [AnswerEntity(graph.entities[n], graph.labels[n], 1.0) for n, _, _ in kept]
    citations = [cite(graph, graph.entities[n], (*proof, *triples)) for n, proof, triples in kept]
    if operator.counts:
        answers, citations = counted(answers, citations)
    return Found(tuple(answers), tuple(citations), text_of(answers), pattern, None, complete)


def foremost(
    graph: Graph,
    operator: Operator,
    number: int,
    drafted: Sequence[tuple[int, tuple[int, ...]]],
    pattern: Pattern,
    complete: bool,
) -> Found:
    """The `number` drafted entities of the largest or smallest values, and all that tie with the last.

    In the order of the values; `drafted`: each entity with the ids of its triples.
    """
    valued: list[tuple[float, int, int, tuple[int, ...]]] = []
    for entity, proof in drafted:
        values = values_of(graph, entity, operator.relation)
        if values:
            value, tail = max(values, key=lambda v: (operator.sign * v[0], -v[1]))
            valued.append((-operator.sign * value, entity, tail, proof))
    valued.sort(key=lambda row: row[:2])
    if not valued:
        name = graph.relation_labels[operator.relation]
        return Found(pattern=pattern, abstained=Abstention("empty_result", f'none of them has a "{name}"'))
    last = valued[min(number, len(valued)) - 1][0]
    chosen = [row for row in valued if row[0] <= last]
    names = [graph.entities[entity] for _, entity, _, _ in chosen]
    answers = tuple(AnswerEntity(n, graph.labels[row[1]], 1.0) for n, row in zip(names, chosen, strict=True))
    citations = tuple(
        cite(graph, name, (*proof, graph.find_triple(entity, operator.relation, tail)))
        for name, (_, entity, tail, proof) in zip(names, chosen, strict=True)
    )
    return Found(answers, citations, text_of(answers), pattern, None, complete)


def cut(found: Found, number: int) -> Found:
    """The first `number` of the answers; the text says of how many."""
    if len(found.answers) <= number:
        return found
    answers = found.answers[:number]
    kept = {a.entity for a in answers}
    text = f"{text_of(answers)} ({number} of {len(found.answers)})"
    citations = tuple(c for c in found.citations if c.answer in kept)
    return replace(found, answers=answers, citations=citations, text=text)


def counted(
    answers: Sequence[AnswerEntity], citations: Sequence[Citation]
) -> tuple[list[AnswerEntity], list[Citation]]:
    """The number of answers as the one answer, with the citations of all."""
    number = str(len(answers))
    return [AnswerEntity(number, number, 1.0)], [replace(c, answer=number) for c in citations]


def named_ends(comparison: Comparison, schema: Schema, end: int) -> list[int]:
    """The ends whose nodes the noun after *which* names, if it names those of `end` less clearly."""
    rows = [i for i, w in enumerate(comparison.words) if is_asked(comparison.question, w)]
    if not rows or comparison.kind[rows, end].max() >= CLEARLY:
        return []
    named = comparison.kind[rows].max(axis=0)
    return [int(e) for e in np.flatnonzero((named >= CLEARLY) & ~schema.measured)]


def over_all(
    graph: Graph, operator: Operator, question: Question, type: int | None, kinds: Sequence[int] = ()
) -> Found:
    """A superlative or a range over all entities that have the relation, those of a declared type at most.

    Or those that have one of the ends `kinds`.
    """
    number = 1 if question.wanted is None else question.wanted.number
    if operator.kind == "most":
        return _most(graph, operator, number)
    if operator.kind == "number" and question.counting is not None:
        return _numbered(graph, operator, question.counting, type)
    heads = [int(n) for n in holders(graph, operator.relation)]
    if type is not None:
        of = graph.types.having(type)
        heads = [n for n in heads if of[n]]
    if kinds:
        having = np.logical_or.reduce([degrees_at(graph, end) > 0 for end in kinds])
        heads = [n for n in heads if having[n]]
    if operator.kind == "range":
        pattern = holder_pattern(graph, operator.relation, None)
        found = in_range(graph, operator, question.limits, [(n, ()) for n in heads], pattern, True)
        return found if question.wanted is None else cut(found, number)
    if number > 1:
        pattern = holder_pattern(graph, operator.relation, None)
        return foremost(graph, operator, number, [(n, ()) for n in heads], pattern, True)
    extreme = find_extreme(graph, heads, operator.relation, operator.sign)
    if extreme is None:
        return Found(abstained=Abstention("empty_result", "none has such a value"))
    pattern = holder_pattern(graph, operator.relation, extreme.value)
    return _with_value(graph, pattern, extreme.entities)


def asks_over_all(comparison: Comparison, operator: Operator) -> bool:
    """Whether nothing but the type of what is measured is said: *the longest film*."""
    if operator.kind not in OVER_ALL or _asks_on(comparison, operator):
        return False
    rest = [w for w in comparison.words if w.start not in operator.used]
    if any(w.norm == ABOUT or any(c.isdigit() for c in w.norm) for w in rest):
        return False
    both = operator.kind in ("most", "number")
    ends = [operator.end, operator.end ^ 1] if both else [operator.end]
    return not any(
        w.weight >= 0.9
        and w.start not in operator.used
        and not w.share
        and max(comparison.kind[i, ends].max(), comparison.cover[i, ends].max()) < SAID
        for i, w in enumerate(comparison.words)
    )


def _asks_on(comparison: Comparison, operator: Operator) -> bool:
    """Whether something of what is measured is asked for: *the maker of the oldest drug*, *who makes …*."""
    question, words = comparison.question, comparison.question.words
    starts = [w.start for w in words if w.start in operator.used]
    first = min(starts, default=len(question.text))
    before = [w for w in words if w.start < first and w.start not in operator.used]
    if any(w.weight > 0 and after.norm == "of" for w, after in pairwise(before)):
        return True
    classes = comparison.vocabulary.classes
    acting = words[1:2] if operator.kind == "extreme" and words[0].norm == "who" else ()
    if any(w.start not in operator.used and comparison.vocabulary.lexicon.agent(w.norm) for w in acting):
        return True
    if not question.classes or classes[operator.end].max() < SAID:
        return False
    return bool(class_fit(classes, question.classes)[operator.end] < LEAST_FIT)


LEAST_FIT = 0.2
"""Below this the nodes of an end are not what *who* or *where* asks for."""


def _with_value(graph: Graph, pattern: Pattern, entities: Sequence[int]) -> Found:
    evidence = find_evidence(graph, pattern)
    answers, citations, left = ground(graph, entities, evidence.matches, pattern.answer or 0)
    return Found(answers, citations, text_of(answers), pattern, left, evidence.complete)


def _numbered(graph: Graph, operator: Operator, counting: Counting, type: int | None) -> Found:
    """All nodes that have as many edges of a relation as the question says."""
    degrees = degrees_at(graph, operator.end)
    fits = (degrees >= max(counting.low, 1)) & (degrees <= counting.high)
    if type is not None:
        fits &= graph.types.having(type)
    drafted = [(int(n), ()) for n in np.flatnonzero(fits)]
    return with_number(graph, operator, counting, drafted, end_pattern(graph, operator.end), True)


def _most(graph: Graph, operator: Operator, number: int) -> Found:
    """The `number` nodes with the most edges of a relation, and those that tie; every edge is cited."""
    nodes = busiest(graph, operator, number)
    answers = tuple(AnswerEntity(graph.entities[n], graph.labels[n], 1.0) for n in nodes)
    citations = tuple(
        cite(graph, graph.entities[node], [triple])
        for node in nodes
        for triple in edges_at(graph, node, operator.end)
    )
    return Found(answers, citations, text_of(answers))
