"""The words of a question aligned with the steps of its chains.

Read outward from a name, words say the steps of a chain one behind the other: *the actors (2) of films (1) by
X*. Words on the left of the name are read first, then those on its right, or the other way; each is given to
the step that it says, to the type of what a step leads to, or to none, and a step may be said by no word.
The best alignment under some weights is found by dynamic programming; what it is made of, less what that of
the best chain is made of, are features of the candidate, and the weights are those that the calibration has
for them. So chains are told apart, and how likely a chain is beside candidates that are none is left to the
head.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clew.foundation.arrays import Float32, Int64
from clew.graph.steps import opposite, relation_of
from clew.query.tree import Query
from clew.query.vocabulary import Vocabulary
from clew.reading.likeness import SHARPNESS, Likeness, content_share
from clew.reading.mentions import Mention
from clew.reading.tokens import View
from clew.reading.which_way import MOST_STEPS, StepChain, chain_of

ALIGNED = (
    "said", "said_exactly", "heard", "heard_share", "typed", "typed_heard", "entered", "first_silent",
    "later_silent", "joined", "right_first", "no_chain",
)  # fmt: skip
"""What an alignment is made of.

Of words given to relations: likeness, likeness by spelling, likeness in the question, its share among all
relations; of those given to types: likeness, and in the question; likeness of the first word of each step;
steps that no word says; words behind *of* or *'s* that begin no step of their own; whether the right is read
first; whether the candidate is no chain.
"""
_AT = {name: place for place, name in enumerate(ALIGNED)}
_LINK = re.compile(r"\bof\b|['’]s?(?!\w)", re.I)


@dataclass(frozen=True, eq=False)
class Words:
    """The words of a question outside of a name: what each says of each label.

    `enter`, `stay` float32 [words, labels + 1, ALIGNED]: of the first word of a step, and of a further one;
    the last label is none. `left` and `right`: the words on each side of the name, the nearest first;
    `linked`: which of them *of* or *'s* joins to what stands between it and the name.
    """

    enter: Float32
    stay: Float32
    linked: tuple[bool, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Alignment:
    """What it takes to align the candidates of one question.

    `names`: by mention its words, and the rows of the chains from it; `labels` int64 [n, MOST_STEPS, 3]: of
    each step the relation, the type of what it leads to and the type that is kept there, -1 for none;
    `counts` int64 [n]: steps, 0 where a candidate is no chain.
    """

    names: tuple[tuple[Words, tuple[int, ...]], ...]
    labels: Int64
    counts: Int64

    def features(self, weights: Float32) -> Float32:
        """What the best alignment of each candidate is made of, float32 [n, ALIGNED].

        `weights` float32 [ALIGNED] say which is best.
        """
        features = np.zeros((len(self.counts), len(ALIGNED)), np.float32)
        for words, rows in self.names:
            at = list(rows)
            features[at] = _Weighed(words, weights).chains(self.labels[at], self.counts[at])
        is_chain = self.counts > 0
        if is_chain.any():
            best = np.where(is_chain, features @ weights, -np.inf).argmax()
            features[is_chain] -= features[best]
        features[~is_chain, _AT["no_chain"]] = 1
        return features


NOTHING = Alignment((), np.zeros((0, MOST_STEPS, 3), np.int64), np.zeros(0, np.int64))


class _Weighed:
    """Some words under some weights."""

    def __init__(self, words: Words, weights: Float32) -> None:
        self.words, self.weights = words, weights
        self.enter, self.stay = _scored(words.enter, weights), _scored(words.stay, weights)
        self.silent = np.zeros((2, len(ALIGNED)), np.float32)
        self.silent[0, _AT["first_silent"]] = self.silent[1, _AT["later_silent"]] = 1
        self.silence = self.silent @ weights
        self.joining = float(weights[_AT["joined"]])

    def chains(self, labels: Int64, counts: Int64) -> Float32:
        """The better of reading the left first and the right first, float32 [n, ALIGNED]."""
        left, right = self.words.left, self.words.right
        best = self._in_order(left + right, labels, counts)
        if left and right:
            right_first = self._in_order(right + left, labels, counts)
            right_first[:, _AT["right_first"]] = 1
            better = right_first @ self.weights > best @ self.weights
            best[better] = right_first[better]
        return best

    def _in_order(self, order: Sequence[int], labels: Int64, counts: Int64) -> Float32:
        """The best alignment of words in an order; in state k the last word is at step k, 0 is before all."""
        n, rows = len(labels), np.arange(len(labels))
        score = np.full((n, MOST_STEPS + 1), -np.inf, np.float32)
        score[:, 0] = 0
        features = np.zeros((n, MOST_STEPS + 1, len(ALIGNED)), np.float32)
        is_step = np.arange(MOST_STEPS)[None] < counts[:, None]
        for word in order:
            enter_score, enter_label = _best(self.enter[word], labels)
            stay_score, stay_label = _best(self.stay[word], labels)
            entering_score, entering_features = self._entering(score, features)
            linked = self.words.linked[word]
            stays = score[:, 1:] + np.maximum(stay_score, 0) + linked * self.joining
            enters = np.where(is_step, entering_score + enter_score, -np.inf)
            stay_features = np.where(stay_score[..., None] > 0, self.words.stay[word, stay_label], 0)
            stay_features[..., _AT["joined"]] = linked
            entered = (enters > stays)[..., None]
            features[:, 1:] = np.where(
                entered,
                entering_features + self.words.enter[word, enter_label],
                features[:, 1:] + stay_features,
            )
            score[:, 1:] = np.maximum(stays, enters)
            score[:, 0] += linked * self.joining
            features[:, 0, _AT["joined"]] += linked
        # Steps behind the last word are said by none.
        for step in range(1, MOST_STEPS + 1):
            kind = int(step > 1)
            passed = score[:, step - 1] + self.silence[kind]
            better = (counts >= step) & (passed > score[:, step])
            features[better, step] = features[better, step - 1] + self.silent[kind]
            score[better, step] = passed[better]
        return features[rows, counts]

    def _entering(self, score: Float32, features: Float32) -> tuple[Float32, Float32]:
        """The best way to come to each step from an earlier one, those between said by none."""
        entering_score, entering_features = score[:, :-1].copy(), features[:, :-1].copy()
        for step in range(1, MOST_STEPS):
            kind = int(step > 1)
            passed = entering_score[:, step - 1] + self.silence[kind]
            better = passed > entering_score[:, step]
            entering_score[better, step] = passed[better]
            entering_features[better, step] = entering_features[better, step - 1] + self.silent[kind]
        return entering_score, entering_features


def _scored(table: Float32, weights: Float32) -> Float32:
    """The scores of what words say, [words, labels + 1]; that of no label is -inf."""
    scores = table @ weights
    scores[:, -1] = -np.inf
    return scores


def _best(scores: Float32, labels: Int64) -> tuple[Float32, Int64]:
    """The best score among the labels of each step, and which label that is: both [n, MOST_STEPS]."""
    label_scores = scores[labels]
    at = label_scores.argmax(-1)[..., None]
    return np.take_along_axis(label_scores, at, -1)[..., 0], np.take_along_axis(labels, at, -1)[..., 0]


@dataclass(frozen=True, eq=False)
class EncodedView:
    """A view of the question as the encoder has it.

    `near` float32 [tokens, labels]: how like its tokens are to the labels; `offsets`: their characters.
    """

    view: View
    near: Float32
    offsets: Sequence[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Aligner:
    """Makes ready the alignment of one question's candidates."""

    vocabulary: Vocabulary
    question: str
    mentions: Sequence[Mention]
    likeness: Likeness
    labels: Mapping[tuple[bool, int], int]
    """The place of each relation (False, number) and of each type (True, number): relations come first."""

    def alignment(self, queries: Sequence[Query], views: Sequence[EncodedView]) -> Alignment:
        """What it takes to align candidates, each with its view of the question."""
        labels = np.full((len(queries), MOST_STEPS, 3), -1)
        counts = np.zeros(len(queries), np.int64)
        rows: dict[int, list[int]] = {}
        for row, query in enumerate(queries):
            chain = chain_of(query.part)
            if chain is not None:
                counts[row] = len(chain.steps)
                labels[row, : counts[row]] = self._steps(chain)
                rows.setdefault(chain.mention, []).append(row)
        names = tuple(
            (self._words(m, views[name_rows[0]]), tuple(name_rows)) for m, name_rows in rows.items()
        )
        return Alignment(names, labels, counts)

    def _steps(self, chain: StepChain) -> list[tuple[int, int, int]]:
        ends = self.vocabulary.end_types
        step_labels = [
            (self.labels[False, relation_of(step)], self._type(ends[opposite(step)]), -1)
            for step in chain.steps
        ]
        step_labels[-1] = (*step_labels[-1][:2], self._type(chain.type))
        return step_labels

    def _type(self, type_: int) -> int:
        return self.labels.get((True, type_), -1)

    def _words(self, mention: int, encoded: EncodedView) -> Words:
        like, name = self.likeness, self.mentions[mention]
        relations = [label for is_type, label in self.labels if not is_type]
        types = [label for is_type, label in self.labels if is_type]
        outside = np.flatnonzero(content_share(like, [(name.start, name.stop)])).tolist()
        spans = [like.words[w][:2] for w in outside]
        near = np.array([_near(encoded, *span) for span in spans], np.float32)
        by_relation, by_type = np.split(near.reshape(len(spans), len(self.labels)), [len(relations)], axis=1)
        odds = np.exp((by_relation - by_relation.max(1, initial=0.0)[:, None]) / SHARPNESS)
        relation_likeness, type_likeness = (
            like.relations[np.ix_(outside, relations)],
            like.types[np.ix_(outside, types)],
        )
        stay = np.zeros((len(spans), len(self.labels) + 1, len(ALIGNED)), np.float32)
        of_relations, of_types = stay[:, : len(relations)], stay[:, len(relations) : -1]
        of_relations[..., _AT["said"]] = relation_likeness
        of_relations[..., _AT["said_exactly"]] = like.exact_relations[np.ix_(outside, relations)]
        of_relations[..., _AT["heard"]] = by_relation
        of_relations[..., _AT["heard_share"]] = odds / np.maximum(odds.sum(1, keepdims=True), 1e-6)
        of_types[..., _AT["typed"]], of_types[..., _AT["typed_heard"]] = type_likeness, by_type
        enter = stay.copy()
        enter[:, : len(relations), _AT["entered"]] = relation_likeness
        left = tuple(i for i, (a, _) in enumerate(spans) if a < name.start)[::-1]
        right = tuple(i for i, (a, _) in enumerate(spans) if a >= name.start)
        return Words(enter, stay, self._linked(name, spans), left, right)

    def _linked(self, name: Mention, spans: Sequence[tuple[int, int]]) -> tuple[bool, ...]:
        """Which words *of* or *'s* joins to what stands between them and the name."""
        links: list[bool] = []
        for start, stop in spans:
            if start < name.start:
                inner = min([s for s in spans if s[0] >= stop], default=(name.start, name.start))
                links.append(self._is_link((start, stop), inner))
            else:
                inner = max([s for s in spans if s[1] <= start], default=(name.stop, name.stop))
                links.append(self._is_link(inner, (start, stop)))
        return tuple(links)

    def _is_link(self, before: tuple[int, int], after: tuple[int, int]) -> bool:
        """Whether *of* or *'s* stands between two words that are not of one label (*place of birth*)."""
        if not _LINK.search(self.question[before[1] : after[0]]):
            return False
        phrase = " ".join(self.question[before[0] : after[1]].lower().split())
        return not any(phrase in label for label in self.vocabulary.relations)


def _near(encoded: EncodedView, start: int, stop: int) -> Float32:
    """How like the tokens of a word are to the labels, the likest of them: float32 [labels]."""
    first, last = encoded.view.at(start), encoded.view.at(stop)
    inside = [i for i, (a, b) in enumerate(encoded.offsets) if a < last and first < b]
    return encoded.near[inside].max(0) if inside else np.zeros(encoded.near.shape[1], np.float32)
