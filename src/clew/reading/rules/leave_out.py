"""Negation without a model: what a question asks for, less what it leaves out.

Absence is of the graph: what it does not record is taken not to be so (closed world), and the answer says so.
What is left out must be a part of what is asked for, or the two were not read alike and nothing is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Graph
from clew.graph.schema import Schema
from clew.grounding import cite
from clew.reading.rules.comparison import Comparison
from clew.reading.rules.counted import named_end
from clew.reading.rules.explain import EXPLAINED
from clew.reading.rules.found import Found, text_of
from clew.reading.rules.measured import CLEARLY, counted
from clew.reading.rules.negation import Negation
from clew.reading.rules.read import degrees_at, edges_at
from clew.types import Abstention, AnswerEntity, Citation, Mention

CLOSED_WORLD = "what the graph does not record is taken not to be so"
TYPICAL = 0.95
"""Relations that this share of the things of a kind has are typical of the kind."""
MOSTLY = 0.66
"""A thing that has this share of what is typical of a kind is of the kind."""
SAID = 0.3
"""From this similarity on a noun may name them."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Asked:
    """A question by itself: what was found, its words, and the step that arrives at the answers."""

    found: Found
    comparison: Comparison
    mentions: Sequence[Mention]
    last: int | None


@dataclass(frozen=True, eq=False)
class Leaver:
    """Answers negated questions over one graph; `ask` reads one that is not."""

    graph: Graph
    schema: Schema
    ask: Callable[[str], Asked]

    def answer(self, question: Comparison, negation: Negation, mentions: Sequence[Mention]) -> Found:
        """The answers of the base that are not left out, or an abstention."""
        if negation.kind == "except":
            return self._except(negation, mentions)
        if negation.kind == "none":
            return self._having_none(question, negation)
        return self._without_part(negation, mentions)

    def _except(self, negation: Negation, mentions: Sequence[Mention]) -> Found:
        asked = self.ask(negation.base)
        if asked.found.abstained is not None:
            return asked.found
        names = {
            self.graph.entities[c.entity]
            for m in mentions
            if (m.start, m.stop) == (negation.start, negation.stop)
            for c in m.candidates
        }
        if not names & {a.entity for a in asked.found.answers}:
            text = " or ".join(sorted(names))
            return _unread(negation, f'"{text}" is none of what is asked for')
        return self._left(asked.found, names, ())

    def _without_part(self, negation: Negation, mentions: Sequence[Mention]) -> Found:
        positive = self.ask(negation.positive)
        gone = positive.found
        if gone.abstained is not None and gone.abstained.reason != "empty_result":
            return gone
        out = {a.entity for a in gone.answers}
        base = self._base(negation, None if positive.last is None else positive.last ^ 1)
        if base.abstained is not None:
            return base
        if not out <= {a.entity for a in base.answers}:
            return _unread(negation, "what is left out is no part of what is asked for")
        # *Which countries do not border Germany*: Germany is not meant.
        itself = {
            self.graph.entities[c.entity] for m in mentions if m.start >= negation.start for c in m.candidates
        }
        return self._left(base, out | itself, (CLOSED_WORLD,))

    def _having_none(self, question: Comparison, negation: Negation) -> Found:
        rows = [i for i, w in enumerate(question.words) if not w.capital]
        end = named_end(question, self.schema, negation.nouns, rows)
        if end is None or not _all_named(question, negation, end.end):
            words = " ".join(w.text for w in negation.nouns)
            return Found(abstained=Abstention("no_relation", f'it has no relation like "{words}"'))
        base = self._base(negation, end.end)
        if base.abstained is not None:
            return base
        having = {self.graph.entities[int(n)] for n in np.flatnonzero(self._has(end.end))}
        return self._left(base, having, (CLOSED_WORLD,))

    def _base(self, negation: Negation, end: int | None) -> Found:
        """What is asked for before anything is left out; `end`: one that things left out have."""
        asked = self.ask(negation.base)
        nouns = [w.norm for w in asked.comparison.words if w.weight >= 0.9]
        types = asked.comparison.vocabulary.types_named(nouns[0]) if len(nouns) == 1 else []
        if types:
            return self._all_of(np.logical_or.reduce([self.graph.types.having(t) for t in types]))
        if asked.found.abstained is None:
            return asked.found
        if asked.mentions and len(nouns) > 1:
            return asked.found
        members = self._kind(asked.comparison, end) if end is not None and len(nouns) <= 1 else None
        return asked.found if members is None else self._all_of(members)

    def _kind(self, comparison: Comparison, end: int) -> Bools | None:
        """Bool [nodes]: those that the base's noun names, or that are recorded like those with the `end`."""
        rows = [i for i, w in enumerate(comparison.words) if w.weight >= 0.9]
        named = comparison.kind[rows[0]] if rows else np.zeros(len(self.schema.nodes))
        if rows and named[end] < SAID and comparison.cover[rows[0], end ^ 1] < SAID:
            return None
        clear = np.flatnonzero((named >= CLEARLY) & ~self.schema.measured)
        if len(clear):
            return np.logical_or.reduce([self._has(int(e)) for e in clear])
        share = self.schema.cooccur[end] / max(int(self.schema.nodes[end]), 1)
        typical = [int(e) for e in np.flatnonzero(share >= TYPICAL) if e != end]
        if not typical:
            return None
        return np.mean([self._has(e) for e in typical], axis=0) >= MOSTLY

    def _has(self, end: int) -> Bools:
        """Bool [nodes]: which have an end."""
        return degrees_at(self.graph, end) > 0

    def _all_of(self, members: Bools) -> Found:
        """All members of a kind, each with a triple in which it stands."""
        nodes = [int(n) for n in np.flatnonzero(members)]
        answers = tuple(AnswerEntity(self.graph.entities[n], self.graph.labels[n], 1.0) for n in nodes)
        citations = tuple(
            cite(self.graph, answer.entity, triples)
            for answer, node in zip(answers, nodes, strict=True)
            if (triples := self._first_triple(node))
        )
        return Found(answers, citations, text_of(answers))

    def _first_triple(self, node: int) -> list[int]:
        for side, adjacency in enumerate((self.graph.out, self.graph.into)):
            start, stop = adjacency.span(node)
            if start < stop:
                return edges_at(self.graph, node, 2 * int(adjacency.relation[start]) + side)[:1]
        return []

    def _left(self, base: Found, out: set[str], notes: tuple[str, ...]) -> Found:
        """The answers of the base that are not among `out`, with their triples."""
        kept: list[AnswerEntity] = [a for a in base.answers if a.entity not in out]
        citations: list[Citation] = [c for c in base.citations if c.answer not in out]
        if not kept:
            detail = "all that it asks for is left out again" if base.answers else "nothing fits"
            return Found(pattern=base.pattern, abstained=Abstention("empty_result", detail))
        text = text_of(kept)
        return replace(base, answers=tuple(kept), citations=tuple(citations), text=text, notes=notes)


def _all_named(question: Comparison, negation: Negation, end: int) -> bool:
    """Whether each word of what is lacked names the relation, or that to which it leads."""
    starts = {w.start for w in negation.nouns if w.weight >= 0.9}
    return all(
        max(question.relation[i, end // 2], question.cover[i, end], question.node[i, end]) >= EXPLAINED
        for i, w in enumerate(question.words)
        if w.start in starts
    )


def number_of_answers(found: Found) -> Found:
    """Their number as the one answer."""
    answers, citations = counted(found.answers, found.citations)
    return replace(found, answers=tuple(answers), citations=tuple(citations), text=text_of(answers))


def _unread(negation: Negation, why: str) -> Found:
    return Found(abstained=Abstention("no_relation", f'it cannot be asked with "{negation.word}" so: {why}'))
