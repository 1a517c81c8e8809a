"""Candidates as rows of features: shares, counts and likenesses, of which none is a word of one graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clew.foundation.arrays import Float32, Float64, Int64
from clew.graph.steps import opposite, relation_of
from clew.query.tree import (
    Anchor,
    Contents,
    Query,
)
from clew.query.vocabulary import UNEXPLAINED, Vocabulary
from clew.reading.asked_for import OTHER, UNTYPED, final_type
from clew.reading.candidates import Option
from clew.reading.likeness import Likeness, content_share
from clew.reading.mentions import PARTIAL, TYPO, Mention, spans_of
from clew.reading.which_way import MOST_STEPS, StepChain, chain_of, in_order

OF_LABELS = (
    "steps", "step_least", "step_mean", "step_exact", "explained", "explained_exact", "unexplained",
    "turns_back", "rare", "types_said", "left_then_right", "right_then_left",
)  # fmt: skip
MOST_RARE = 0.5
"""Logarithms of sizes end here: larger graphs than the ranker was trained on look to it like large ones."""
WITHOUT_STEPS, RARE_WITHOUT_STEPS = 0.5, 5 / 12
"""How well a step is said, and how rare it is, where there is none."""


def label_features(
    vocabulary: Vocabulary, likeness: Likeness, words: Sequence[int], queries: Sequence[Query]
) -> Float64:
    """`OF_LABELS` of queries by how they say some words of the question, float64 [n, OF_LABELS].

    Where a query is no chain, all that is said is taken to be in order.
    """
    steps, types = (_padded([getattr(q.contents, name) for q in queries]) for name in ("steps", "types"))
    none = steps < 0
    count = (~none).sum(1)
    relations, ends = np.where(none, -1, relation_of(steps)), np.full(steps.shape, -1)
    ends[~none] = vocabulary.types_at_ends[opposite(steps[~none])]
    tables = (likeness.relations, likeness.types), (likeness.exact_relations, likeness.exact_types)
    near, exact = (
        (
            how_like(relation_table, words, relations),
            how_like(type_table, words, types),
            how_like(type_table, words, ends),
        )
        for relation_table, type_table in tables
    )
    word_likeness = np.concatenate(near, 2).max(2)
    by_step, by_type = near[0].max(0, initial=0.0), near[1].max(0, initial=0.0)
    explained = word_likeness.sum(0) / max(1, len(words))
    columns = (
        count / 4,
        np.where(count, np.where(none, np.inf, by_step).min(1), WITHOUT_STEPS),
        np.where(count, by_step.sum(1) / np.maximum(1, count), WITHOUT_STEPS),
        exact[0].max(0, initial=0.0).sum(1) / np.maximum(1, count),
        explained,
        np.concatenate(exact, 2).max(2).sum(0) / max(1, len(words)),
        (word_likeness < UNEXPLAINED).sum(0) / 4,
        (opposite(steps[:, :-1]) == steps[:, 1:]).sum(1) / 2,
        _how_rare(vocabulary, relations),
        by_type.sum(1) / 2,
        explained,
        explained,
    )
    return np.stack(columns, axis=1)


def _how_rare(vocabulary: Vocabulary, relations: Int64) -> Float64:
    """The logarithm of the triples of the rarest relation of each query."""
    least, is_relation = np.full(relations.shape, np.inf), relations >= 0
    least[is_relation] = np.log1p(vocabulary.schema.triples[relations[is_relation]]) / 12
    return np.minimum(MOST_RARE, np.where(is_relation.any(1), least.min(1), RARE_WITHOUT_STEPS))


def how_like(table: Float32, words: Sequence[int], labels: Int64) -> Float64:
    """How like some words are to labels, 0 where there is none (-1): float64 [words, *labels]."""
    used, places = np.unique(labels, return_inverse=True)
    label_likeness = np.zeros((len(words), len(used)))
    label_likeness[:, used >= 0] = table[np.array(words, np.int64)[:, None], used[used >= 0]]
    return label_likeness[:, places.reshape(labels.shape)]


def _padded(rows: Sequence[Sequence[int]]) -> Int64:
    """Rows of unequal length, -1 behind the end of each: int64 [n, longest], one column at least."""
    longest = max(1, *map(len, rows))
    return np.array([[*row, *[-1] * (longest - len(row))] for row in rows], np.int64)


MOST_SIZE, MOST_HUB = 0.65, 0.4
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
OF_SIZE = ("empty", "unknown_size", "size")
_COMPUTED = (*OF_ENTITIES, *OF_MENTIONS, *OF_LABELS, "final_type", *OF_SIZE)
_ORDER = [_COMPUTED.index(name) for name in FEATURES]
_BEST = [FEATURES.index(name) for name in COMPARED]
_LESS_IS_BETTER = np.array([name in ("open_strong", "unexplained") for name in COMPARED])


def with_distances(features: Float32) -> Float32:
    """The features of all candidates, float [n, FEATURES], with how far they are from the best."""
    compared = features[:, _BEST]
    best = np.where(_LESS_IS_BETTER, compared.min(0), compared.max(0))
    return np.concatenate([features, compared - best], axis=1)


@dataclass(eq=False)
class _Outside:
    """The content words outside of some mentions, and what these and those left open are: `OF_MENTIONS`."""

    words: list[int]
    features: tuple[float, ...]


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
        self._outside: dict[tuple[int, ...], _Outside] = {}
        self._name_features: dict[tuple[Anchor, ...], tuple[float, ...]] = {}

    def features(self, options: Sequence[Option]) -> Float32:
        """The features of candidates, float32 [n, FEATURES]."""
        name_features = np.array([self._features_of_names(o.query.contents) for o in options])
        name_features = name_features.reshape(-1, len(OF_ENTITIES) + len(OF_MENTIONS))
        groups = (
            name_features,
            self._features_of_labels([o.query for o in options]),
            _features_of_sizes(options),
        )
        features = np.concatenate(groups, axis=1).astype(np.float32).take(_ORDER, axis=1)
        chains: dict[int, list[tuple[int, StepChain]]] = {}
        for row, option in enumerate(options):
            chain = chain_of(option.query.part)
            if chain is not None:
                chains.setdefault(chain.mention, []).append((row, chain))
        for mention, row_chains in chains.items():
            outside = self._outside_of((mention,))
            if outside.words:
                rows = [row for row, _ in row_chains]
                features[rows, -2:] = self._in_order(mention, outside, [chain for _, chain in row_chains])
        return features

    def _in_order(self, mention: int, outside: _Outside, chains: Sequence[StepChain]) -> Float32:
        """How far words outside of a mention say the steps of its chains in their order, float32 [n, 2]."""
        steps = np.array([[*c.steps, *[0] * (MOST_STEPS - len(c.steps))] for c in chains])
        ends = self.vocabulary.types_at_ends[opposite(steps)]
        near = self.likeness.relations[outside.words][:, relation_of(steps)]
        types = self.likeness.types[outside.words]
        if types.shape[1]:
            near = np.maximum(near, np.where(ends >= 0, types[:, ends], 0))
            for at, chain in enumerate(chains):
                if chain.type >= 0:
                    end = len(chain.steps) - 1
                    near[:, at, end] = np.maximum(near[:, at, end], types[:, chain.type])
        counts = np.array([len(c.steps) for c in chains])
        start = self.mentions[mention].start
        is_behind = [self.likeness.words[w][0] > start for w in outside.words]
        return in_order(near.transpose(1, 0, 2), counts, is_behind)

    def _features_of_names(self, of: Contents) -> tuple[float, ...]:
        """`OF_ENTITIES` and `OF_MENTIONS` of a candidate; what many candidates share is computed once."""
        name_features = self._name_features.get(of.entities)
        if name_features is None:
            name_features = self._name_features[of.entities] = self._features_of_entities(of.entities)
        return name_features + self._outside_of(of.mentions).features

    def _features_of_labels(self, queries: Sequence[Query]) -> Float64:
        """`OF_LABELS` of candidates, and how well their last type is said, outside of their names."""
        features = np.zeros((len(queries), len(OF_LABELS) + 1))
        alike: dict[tuple[int, ...], list[int]] = {}
        for row, query in enumerate(queries):
            alike.setdefault(query.contents.mentions, []).append(row)
        for mentions, rows in alike.items():
            words, alike_queries = self._outside_of(mentions).words, [queries[row] for row in rows]
            final = np.array([final_type(query.part, self.vocabulary) for query in alike_queries], np.int64)
            features[rows, :-1] = label_features(self.vocabulary, self.likeness, words, alike_queries)
            features[rows, -1] = how_like(self.likeness.types, words, final).max(0, initial=0.0)
        return features

    def _features_of_entities(self, entities: Sequence[Anchor]) -> tuple[float, ...]:
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

    def _features_of_mentions(self, used: Sequence[int]) -> tuple[float, ...]:
        """`OF_MENTIONS`: what is used of the question and what is left open."""
        spans = spans_of(self.mentions, used)
        open_mentions = [m for i, m in enumerate(self.mentions) if i not in used and not m.touches(spans)]
        return (
            sum(b - a for a, b in spans) / self._length,
            sum(m.strong for m in open_mentions) / 2,
            sum(bool(m.values) and not m.candidates for m in open_mentions) / 2,
            float(any(not self.mentions[i].strong for i in used if self.mentions[i].candidates)),
            sum(bool(self.mentions[i].values) for i in used) / 2,
        )

    def of_type(self, query: Query, type_asked_for: int) -> float:
        """What the score of a candidate loses for answering with another type than the one asked for."""
        if query.ask not in ("list", "count"):
            return 0.0
        final = final_type(query.part, self.vocabulary)
        return 0.0 if final == type_asked_for else math.log(OTHER if final >= 0 else UNTYPED)

    def answer_type(self, query: Query) -> int:
        """The declared type of what a query lists or counts, -1 where it has none."""
        return final_type(query.part, self.vocabulary) if query.ask in ("list", "count") else -1

    def _degree(self, node: int) -> int:
        graph = self.vocabulary.graph
        return sum(int(side.stops[node]) - int(side.starts[node]) for side in (graph.out, graph.into))

    def _outside_of(self, used: tuple[int, ...]) -> _Outside:
        """The words outside of some mentions, kept for all candidates that use these."""
        outside = self._outside.get(used)
        if outside is None:
            words = np.flatnonzero(content_share(self.likeness, spans_of(self.mentions, used))).tolist()
            outside = self._outside[used] = _Outside(words, self._features_of_mentions(used))
        return outside


def _features_of_sizes(options: Sequence[Option]) -> Float64:
    """`OF_SIZE`: whether a candidate has no answers here, or how many is not known; and how many."""
    sizes, features = np.array([option.size for option in options]), np.zeros((len(options), len(OF_SIZE)))
    features[:, 0], features[:, 1] = sizes == 0, sizes < 0
    features[:, 2] = np.minimum(MOST_SIZE, np.log1p(np.maximum(sizes, 0)) / 8)
    return features
