"""Candidates as rows of features: shares, counts and likenesses, of which none is a word of one graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from clew.foundation.arrays import Float32
from clew.reading.asked_type import OTHER, UNKNOWN
from clew.reading.candidates import Option
from clew.reading.likeness import Likeness, content_share
from clew.reading.mentions import PARTIAL, TYPO, Mention, spans_of
from clew.reading.query import (
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Part,
    Query,
    Walk,
    Without,
)
from clew.reading.vocabulary import UNEXPLAINED, Vocabulary
from clew.reading.word_order import MOST_STEPS, StepChain, chain_of, in_order

MOST_SIZE, MOST_RARE, MOST_HUB = 0.65, 0.5, 0.4
"""Logarithms of sizes end here: larger graphs than the ranker was trained on look to it like large ones."""
FEATURES = (
    "link_least", "link_mean", "anchors", "covered", "open_strong", "open_values", "steps", "step_least",
    "step_mean", "step_exact", "explained", "explained_exact", "unexplained", "empty", "unknown_size", "size",
    "turns_back", "rare", "partial", "typo", "final_type", "types_said", "hub", "named_by_words",
    "values_used", "rank_of_candidate", "left_then_right", "right_then_left",
)  # fmt: skip
COMPARED = (
    "link_mean", "covered", "open_strong", "explained", "explained_exact", "unexplained", "left_then_right",
    "right_then_left",
)  # fmt: skip
"""Features that are also given as their distance from the best one among the candidates."""
OF_ENTITIES = ("link_least", "link_mean", "anchors", "partial", "typo", "hub", "rank_of_candidate")
OF_MENTIONS = ("covered", "open_strong", "open_values", "named_by_words", "values_used")
OF_LABELS = (
    "steps", "step_least", "step_mean", "step_exact", "explained", "explained_exact", "unexplained",
    "turns_back", "rare", "types_said", "left_then_right", "right_then_left",
)  # fmt: skip
_TOLD = (*OF_ENTITIES, *OF_MENTIONS, *OF_LABELS, "empty", "unknown_size", "size", "final_type")
_ORDER = [_TOLD.index(name) for name in FEATURES]
_BEST = [FEATURES.index(name) for name in COMPARED]
_LESS_IS_BETTER = np.array([name in ("open_strong", "unexplained") for name in COMPARED])


def with_distances(features: Float32) -> Float32:
    """The features of all candidates, float [n, FEATURES], with how far they are from the best."""
    some = features[:, _BEST]
    best = np.where(_LESS_IS_BETTER, some.min(0), some.max(0))
    return np.concatenate([features, some - best], axis=1)


@dataclass(frozen=True, slots=True)
class _Label:
    """How well one label says each of some words, by likeness and by spelling, and the best of each."""

    near: list[float]
    exact: list[float]
    best_near: float
    best_exact: float


@dataclass(eq=False)
class _Outside:
    """The content words outside of some mentions, and what these and those left open are: `OF_MENTIONS`."""

    words: list[int]
    told: tuple[float, ...]
    labels: dict[tuple[bool, int], _Label] = field(default_factory=dict[tuple[bool, int], _Label])


@dataclass(eq=False)
class Describer:
    """Features of the candidates of one question."""

    vocabulary: Vocabulary
    question: str
    mentions: Sequence[Mention]
    likeness: Likeness

    def __post_init__(self) -> None:
        self._by = [{c.node: (c, rank) for rank, c in enumerate(m.candidates)} for m in self.mentions]
        self._length = max(1, len(self.question))
        self._triples = self.vocabulary.schema.triples
        self._outside: dict[tuple[int, ...], _Outside] = {}
        self._named: dict[tuple[Anchor, ...], tuple[float, ...]] = {}
        self._said: dict[tuple[tuple[int, ...], ...], tuple[float, ...]] = {}

    def features(self, options: Sequence[Option]) -> Float32:
        """The features of candidates, float32 [n, FEATURES]."""
        made = np.array([self._features(o) for o in options], np.float32)
        made = made.reshape(-1, len(FEATURES)).take(_ORDER, axis=1)
        chains: dict[int, list[tuple[int, StepChain]]] = {}
        for row, option in enumerate(options):
            chain = chain_of(option.query.part)
            if chain is not None:
                chains.setdefault(chain.mention, []).append((row, chain))
        for mention, found in chains.items():
            outside = self._outside_of((mention,))
            if outside.words:
                rows = [row for row, _ in found]
                made[rows, -2:] = self._in_order(mention, outside, [chain for _, chain in found])
        return made

    def _in_order(self, mention: int, outside: _Outside, chains: Sequence[StepChain]) -> Float32:
        """How far words outside of a mention say the steps of its chains in their order, float32 [n, 2]."""
        steps = np.array([[*c.steps, *[0] * (MOST_STEPS - len(c.steps))] for c in chains])
        ends = np.array(self.vocabulary.end_types)[steps ^ 1]
        near = self.likeness.relations[outside.words][:, steps // 2]
        types = self.likeness.types[outside.words]
        if types.shape[1]:
            near = np.maximum(near, np.where(ends >= 0, types[:, ends], 0))
            for at, chain in enumerate(chains):
                if chain.type >= 0:
                    last = len(chain.steps) - 1
                    near[:, at, last] = np.maximum(near[:, at, last], types[:, chain.type])
        counts = np.array([len(c.steps) for c in chains])
        start = self.mentions[mention].start
        behind = [self.likeness.words[w][0] > start for w in outside.words]
        return in_order(near.transpose(1, 0, 2), counts, behind)

    def _features(self, option: Option) -> tuple[float, ...]:
        """The features of one candidate, in the order in which they are told.

        What many candidates have in common is told once; where one is no chain, all that is said is taken to
        be in order.
        """
        of = option.query.contents
        outside, final = self._outside_of(of.mentions), self._final_type(option.query.part)
        named = self._named.get(of.entities)
        if named is None:
            named = self._named[of.entities] = self._of_entities(of.entities)
        key = of.mentions, of.steps, of.types
        said = self._said.get(key)
        if said is None:
            said = self._said[key] = self._of_labels(outside, of.steps, of.types)
        size = (
            float(option.size == 0),
            float(option.size < 0),
            min(MOST_SIZE, math.log1p(max(option.size, 0)) / 8),
            self._label(outside, True, final).best_near if final >= 0 else 0.0,
        )
        return named + outside.told + said + size

    def _of_entities(self, entities: Sequence[Anchor]) -> tuple[float, ...]:
        """`OF_ENTITIES`: how the entities of a candidate were linked, and how many edges they have."""
        links = [
            self._by[e.mention][e.node] for e in entities if e.mention >= 0 and e.node in self._by[e.mention]
        ]
        scores = [c.score for c, _ in links] or [1.0]
        return (
            min(scores),
            sum(scores) / len(scores),
            len(links) / 3,
            float(any(c.how == PARTIAL for c, _ in links)),
            float(any(c.how == TYPO for c, _ in links)),
            min(MOST_HUB, max((math.log1p(self._degree(e.node)) for e in entities), default=0.0) / 12),
            max((rank for _, rank in links), default=0) / 6,
        )

    def _of_mentions(self, used: Sequence[int]) -> tuple[float, ...]:
        """`OF_MENTIONS`: what is used of the question and what is left open."""
        spans = spans_of(self.mentions, used)
        left = [m for i, m in enumerate(self.mentions) if i not in used and not _inside(m, spans)]
        return (
            sum(b - a for a, b in spans) / self._length,
            sum(m.strong for m in left) / 2,
            sum(bool(m.values) and not m.candidates for m in left) / 2,
            float(any(not self.mentions[i].strong for i in used if self.mentions[i].candidates)),
            sum(bool(self.mentions[i].values) for i in used) / 2,
        )

    def _of_labels(
        self, outside: _Outside, steps: Sequence[int], declared: Sequence[int]
    ) -> tuple[float, ...]:
        """`OF_LABELS`: how well steps and types say the words outside of the mentions."""
        named = [self._label(outside, False, s // 2) for s in steps]
        types = [self._label(outside, True, t) for t in declared]
        ends = [self._label(outside, True, t) for s in steps if (t := self.vocabulary.end_types[s ^ 1]) >= 0]
        said, count = {id(x): x for x in (*named, *types, *ends)}.values(), max(1, len(outside.words))
        near = [max(column) for column in zip(*(x.near for x in said), strict=True)] or [0.0] * count
        exact = [max(column) for column in zip(*(x.exact for x in said), strict=True)]
        explained = sum(near) / count
        return (
            len(steps) / 4,
            min((x.best_near for x in named), default=0.5),
            sum(x.best_near for x in named) / len(named) if named else 0.5,
            sum(x.best_exact for x in named) / max(1, len(named)),
            explained,
            sum(exact) / count,
            sum(x < UNEXPLAINED for x in near[: len(outside.words)]) / 4,
            sum(a ^ 1 == b for a, b in pairwise(steps)) / 2,
            min(MOST_RARE, min((math.log1p(int(self._triples[s // 2])) for s in steps), default=5.0) / 12),
            sum(x.best_near for x in types) / 2,
            explained,
            explained,
        )

    def of_type(self, query: Query, asked: int) -> float:
        """What the score of a candidate loses for answering with another type than the one asked for."""
        if query.ask not in ("list", "count"):
            return 0.0
        final = self._final_type(query.part)
        return 0.0 if final == asked else math.log(OTHER if final >= 0 else UNKNOWN)

    def answer_type(self, query: Query) -> int:
        """The declared type of what a query lists or counts, -1 where it has none."""
        return self._final_type(query.part) if query.ask in ("list", "count") else -1

    def _degree(self, node: int) -> int:
        graph = self.vocabulary.graph
        return sum(int(side.stops[node]) - int(side.starts[node]) for side in (graph.out, graph.into))

    def _outside_of(self, used: tuple[int, ...]) -> _Outside:
        """The words outside of some mentions, kept for all candidates that use these."""
        known = self._outside.get(used)
        if known is None:
            words = np.flatnonzero(content_share(self.likeness, spans_of(self.mentions, used))).tolist()
            known = self._outside[used] = _Outside(words, self._of_mentions(used))
        return known

    def _label(self, outside: _Outside, is_type: bool, label: int) -> _Label:
        """How well a label says the words outside of some mentions."""
        known = outside.labels.get((is_type, label))
        if known is None:
            like = self.likeness
            tables = (like.types, like.exact_types) if is_type else (like.relations, like.exact_relations)
            near, exact = (table[outside.words, label].tolist() for table in tables)
            known = _Label(near, exact, max(near, default=0.0), max(exact, default=0.0))
            outside.labels[is_type, label] = known
        return known

    def _final_type(self, part: Part) -> int:
        match part:
            case OfType(type_, _):
                return type_
            case Walk(_, step):
                return self.vocabulary.end_types[step ^ 1]
            case Both(left, OfType(type_, _)):
                return type_ if type_ >= 0 else self._final_type(left)
            case Both(left, _) | Either(left, _) | Without(left, _):
                return self._final_type(left)
            case Compared(source, _, _, _) | Counted(source, _, _, _, _) | Extreme(source, _, _, _, _):
                return self._final_type(source)
            case Anchor(node, _):
                return self.vocabulary.type_of(node)


def _inside(mention: Mention, spans: Sequence[tuple[int, int]]) -> bool:
    return any(a < mention.stop and mention.start < b for a, b in spans)
