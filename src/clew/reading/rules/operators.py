"""Counts and superlatives: what a question asks of the answers that its pattern finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Graph
from clew.graph.schema import Schema
from clew.reading.rules.comparison import Comparison, Float, is_asked
from clew.reading.rules.counted import DATED, named_end
from clew.reading.rules.quantity import Counting, noun_phrase
from clew.reading.rules.question import Limits, Question
from clew.reading.rules.read import degrees_at
from clew.reading.rules.similarity import WordTable
from clew.reading.rules.vocabulary import class_fit

Kind = Literal["none", "count", "extreme", "most", "range", "number"]

NAMED = 0.3
"""Least similarity of an attribute word with the relation that measures it."""
USED = 0.5
"""From this similarity on, a word of the question belongs to the measured relation."""
KIND = 0.1
"""What a measure of things of the type that is asked for is worth more than one of other things."""
PREFERRED = 0.97
"""What each attribute is worth beside the one before it."""
YEAR = 365.2425
"""Days of a year."""


@dataclass(frozen=True, slots=True)
class Operator:
    """What is done with the answers.

    `count` them; keep those with a value of `relation` in the question's `range` (and count them, if
    `counts`); keep those of `extreme` value of `relation` (`sign` 1 largest, -1 smallest), or those with
    the `most` edges of `relation` at their end `end`, or with a `number` of them as the question says.
    `used`: the characters at which the words that say so start.
    """

    kind: Kind
    sign: int = 1
    relation: int = -1
    end: int = -1
    used: frozenset[int] = frozenset()
    counts: bool = False


COUNTING = ("most", "fewest", "least")
NONE = Operator("none")


def find_operator(
    question: Question,
    comparison: Comparison,
    table: WordTable,
    schema: Schema,
    end: int | None = None,
) -> Operator:
    """The operator of a question; `NONE` where nothing in this graph can be measured as asked.

    Of things of which it is known that they have the `end`, only what such things have is measured.
    """
    held = None if end is None else schema.cooccur[end, ::2] > 0
    if question.limits is not None:
        found = _range(question, question.limits, comparison, schema, held)
        if question.counting is None or _names(comparison, question.counting, found.relation):
            return found
    if question.counting is not None:
        return _number(question, question.counting, comparison, schema)
    if question.superlative is not None:
        return _extreme(question, comparison, table, schema, held)
    return Operator("count") if question.count else NONE


def _names(comparison: Comparison, counting: Counting, relation: int) -> bool:
    """Whether what is counted names a measured relation (*more than 500 employees*)."""
    named = comparison.vocabulary.types_named
    starts = {w.start for w in counting.nouns if not named(w.norm)}
    rows = [i for i, w in enumerate(comparison.words) if w.start in starts]
    return relation >= 0 and float(comparison.relation[rows, relation].max(initial=0.0)) >= NAMED


def _number(question: Question, counting: Counting, comparison: Comparison, schema: Schema) -> Operator:
    rows = [i for i, w in enumerate(comparison.words) if not w.capital]
    found = named_end(comparison, schema, counting.nouns, rows, counting.low)
    if found is None:
        return NONE
    used = counting.starts | found.used
    return Operator("number", 1, found.end // 2, found.end, used, question.count)


def _range(
    question: Question,
    limits: Limits,
    comparison: Comparison,
    schema: Schema,
    held: NDArray[np.bool_] | None,
) -> Operator:
    """The measured relation that the words name best, or the one whose values fit the range.

    A range of years goes with years and dates only.
    """
    tails = np.arange(len(schema.triples)) * 2 + 1
    years, dated = schema.years[tails], schema.dates[tails] >= DATED
    measured = years | dated if limits.years else schema.measured[tails] & ~years
    measured = _of_asked_type(comparison, measured if held is None else measured & held)
    low = np.where(dated, schema.low[tails] / YEAR + 1, schema.low[tails])
    high = np.where(dated, schema.high[tails] / YEAR + 1, schema.high[tails])
    named = comparison.relation.max(axis=0) if len(comparison.words) else np.zeros(len(tails))
    least = limits.low if np.isfinite(limits.low) else limits.high
    most = limits.high if np.isfinite(limits.high) else limits.low
    fits = measured & (low <= most + dated) & (high >= least - dated)
    if not fits.any():
        fits = measured & (named >= NAMED)
    if not fits.any():
        return NONE
    relation = int(np.where(fits, 1 + named + KIND * _of_the_kind(comparison), 0).argmax())
    if fits.sum() > 1 and named[relation] < NAMED:
        return NONE
    near = comparison.relation[:, relation] if len(comparison.words) else np.zeros(0)
    used = {w.start for w, s in zip(comparison.words, near, strict=True) if s >= NAMED}
    return Operator("range", 1, relation, 2 * relation, limits.starts | used, question.count)


def _extreme(
    question: Question,
    comparison: Comparison,
    table: WordTable,
    schema: Schema,
    held: NDArray[np.bool_] | None,
) -> Operator:
    sign, attribute, at = question.superlative or (1, "", 0)
    word = question.words[at]
    tails = np.arange(len(schema.triples)) * 2 + 1
    timed = schema.years[tails] | (schema.dates[tails] >= DATED)
    measured = timed | schema.measured[tails]
    measured = _of_asked_type(comparison, measured if held is None else measured & held)
    if not measured.any():
        return _most(question, comparison, schema, at)
    rows = [i for i, w in enumerate(comparison.words) if w.start > word.start]
    least = NAMED
    if word.norm in COUNTING:
        least, measured = USED, measured & ~timed
        # *The most films* counts films; *the most employees* may be a number of employees.
        rows = rows[:1]
    named = comparison.relation[rows].max(axis=0) if rows else np.zeros(len(tails))
    if word.norm not in COUNTING and len(comparison.words):
        named = comparison.relation.max(axis=0)
    if attribute == "date":
        age = table.compare(["age"]).relation[0]
        named = np.where(timed, np.maximum(named, NAMED), 0.9 * age)
    elif attribute and not (named * measured).max() >= USED:
        named = np.maximum(named, _by_attribute(table, attribute))
        if attribute == "birth":
            named = np.where(timed, np.maximum(named, NAMED), named)
    named = np.where(measured, named + KIND * _of_the_kind(comparison), 0.0)
    relation = int(named.argmax())
    if named[relation] < least:
        return _most(question, comparison, schema, at)
    if attribute == "date" and not timed[relation]:
        sign = -sign
    near = comparison.relation[:, relation] if len(comparison.words) else np.zeros(0)
    used = {w.start for w, s in zip(comparison.words, near, strict=True) if s >= USED}
    return Operator("extreme", sign, relation, 2 * relation, frozenset({word.start, *used}))


def _of_asked_type(comparison: Comparison, measured: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The measured relations of things of the declared type that is asked for, if there are any."""
    share = comparison.vocabulary.type_share[::2]
    for word in comparison.words:
        types = comparison.vocabulary.types_named(word.norm) if is_asked(comparison.question, word) else []
        of = share[:, types].max(axis=1, initial=0.0) > 0
        if (measured & of).any():
            return measured & of
    return measured


def _by_attribute(table: WordTable, attribute: str) -> Float:
    """[R]: how well each relation measures an attribute; of several (`a|b`) an earlier one is preferred."""
    rows = table.compare(attribute.split("|")).relation
    return (rows * PREFERRED ** np.arange(len(rows))[:, None]).max(axis=0)


def _of_the_kind(comparison: Comparison) -> Float:
    """[R]: how well the heads of each relation are of the type or class that the question asks for."""
    heads = np.arange(comparison.relation.shape[1]) * 2
    said = comparison.kind[:, heads].max(axis=0) if len(comparison.words) else np.zeros(len(heads))
    classes = comparison.question.classes
    asked = class_fit(comparison.vocabulary.classes, classes)[heads] if classes else np.zeros(len(heads))
    return np.maximum(said, asked)


def _most(question: Question, comparison: Comparison, schema: Schema, at: int) -> Operator:
    """*Who directed the most films*: the edges that are counted, at the end of those that have them."""
    word = question.words[at]
    if word.norm not in COUNTING or not len(comparison.words):
        return NONE
    rows = [i for i, w in enumerate(comparison.words) if not w.capital]
    found = named_end(comparison, schema, noun_phrase(question.words, at + 1), rows)
    if found is None:
        return NONE
    return Operator(
        "most", 1 if word.norm == "most" else -1, found.end // 2, found.end, frozenset({word.start})
    )


def busiest(graph: Graph, operator: Operator, number: int = 1) -> list[int]:
    """The `number` nodes with the most (or fewest, at least one) edges of a relation at one end, and ties."""
    counts = degrees_at(graph, operator.end)
    present = np.flatnonzero(counts)
    rank = -operator.sign * counts[present]
    last = np.sort(rank)[min(number, len(rank)) - 1]
    order = np.argsort(rank, kind="stable")
    return [int(n) for n in present[order] if -operator.sign * counts[n] <= last]
