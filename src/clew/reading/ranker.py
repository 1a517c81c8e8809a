"""The ranker that ships with the package: an int8 encoder of texts and a head that scores candidates.

Trained by `scripts/train_reader`; `model/CARD.md` says on what, and how well it does. Both parts are run by
onnxruntime on one core. Labels of relations and types are encoded once a graph, never in a question.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.errors import EmbedderError
from clew.foundation.arrays import Float32
from clew.graph.steps import Step, opposite
from clew.query.tree import mentions_of
from clew.query.vocabulary import Vocabulary
from clew.reading.alignment import NOTHING, Aligner, Alignment, EncodedView
from clew.reading.asked_for import (
    OTHER,
    AnswerKinds,
    answer_further_on,
    answer_with_type,
    answers_with_time,
    asked_kind,
    asked_type,
    asks_people,
    asks_somebody,
    asks_when,
    category_asked_for,
    of_category,
)
from clew.reading.background import Seen, shipped_background
from clew.reading.candidates import Option
from clew.reading.features import COMPARED, FEATURES, Describer
from clew.reading.fitted import MODEL, OF_CANDIDATES, PLAIN, Calibration, FirstPass, rows_of
from clew.reading.flags import put_flags_right
from clew.reading.likeness import Likeness
from clew.reading.literal import Literal
from clew.reading.mentions import Mention
from clew.reading.narrower import Narrower
from clew.reading.scope import Scope
from clew.reading.signs import Signs
from clew.reading.tokens import (
    MENTION_KINDS,
    MOST_TOKENS,
    MOST_VIEWS,
    RELATION_KINDS,
    Kind,
    QueryToken,
    View,
    names_used,
    tokens_of,
    view_of,
)
from clew.reading.which_way import WhichWay
from clew.text.embedders import open_session

MODEL_VERSION = 3
LABELS_AT_ONCE = 64
TEXTS_KEPT, WORDS_KEPT, LABELS_SEEN = 64, 256, 128
"""Texts, words and labels that are kept: a question is looked at once for each of its meanings."""
ALL_AT_ONCE = 300
"""Labels of a graph that are all encoded when the first is needed."""
GIVEN = len(FEATURES) + len(COMPARED)
"""Features of a candidate that the head is given."""
MOST_LABELS = 20_000
"""Labels of one graph that are kept encoded."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its probability; those of all candidates and of none being right sum to 1."""

    option: Option
    probability: float
    row: int = -1
    """Its row among those that were scored."""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Candidates with their rows of tokens and features, and their scores, that of none right last.

    `known` float32 [n, OF_CANDIDATES]; `head`, `calibrated` and `scores` float32 [n + 1]: by the head, as the
    calibration has them, and with all signs; `left_out` as of `Ranking`.
    """

    options: tuple[Option, ...]
    tokens: Sequence[Sequence[QueryToken]]
    known: Float32
    head: Float32
    calibrated: Float32
    scores: Float32
    alignment: Alignment
    left_out: int

    @property
    def features(self) -> Float32:
        """The features of the candidates, float32 [n, FEATURES]."""
        return self.known[:, : len(FEATURES)]

    @classmethod
    def nothing(cls, left_out: int) -> Scored:
        """No candidate, where so many were left out."""
        known, alone = np.zeros((0, len(OF_CANDIDATES)), np.float32), np.zeros(1, np.float32)
        return cls((), (), known, alone, alone, alone, NOTHING, left_out)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates, the likeliest first, the probability that none of them is right, and what was scored."""

    ranked: tuple[Ranked, ...]
    none: float
    scored: Scored

    @property
    def left_out(self) -> int:
        """Candidates that were not ranked: too long, of other names than most, or left out at first sight."""
        return self.scored.left_out


@dataclass(eq=False)
class Ranker:
    """Scores candidates; one for all graphs."""

    encoder: Any
    head: Any
    tokenizer: Any
    first_pass: FirstPass
    calibration: Calibration = PLAIN
    """What makes probabilities of scores; by default they are the head's own."""

    @classmethod
    def open(cls, folder: Path = MODEL) -> Ranker:
        """Open the model of a folder.

        Raises:
            EmbedderError: a file is missing, damaged, or of another version.

        """
        try:
            from tokenizers import Tokenizer

            about = json.loads((folder / "model.json").read_text("utf-8"))
            if about["version"] != MODEL_VERSION or about["features"] != [*FEATURES, *COMPARED]:
                raise EmbedderError(
                    f"{folder}: the reader's model is of another version. Install clew again."
                )
            encoder, head = [open_session(folder / name, threads=1) for name in ("encoder.onnx", "head.onnx")]
            text = gzip.decompress((folder / "tokenizer.json.gz").read_bytes()).decode("utf-8")
            tokenizer = Tokenizer.from_str(text)
            first_pass = FirstPass.open(folder / "first_pass.npz")
            tokenizer.no_padding()
            tokenizer.enable_truncation(int(about["longest"]))
            weights = about.get("calibration")
            calibration = PLAIN if weights is None else Calibration.of(**weights)
        except EmbedderError:
            raise
        except Exception as error:  # both libraries raise bare Exceptions of their own
            raise EmbedderError(
                f"{folder}: cannot read the reader's model ({error}). Install clew again."
            ) from error
        return cls(encoder, head, tokenizer, first_pass, calibration)

    @cached_property
    def common_words(self) -> dict[str, int]:
        """Words of English texts, the more frequent the lower their number."""
        return {word: at for word, at in self.tokenizer.get_vocab().items() if word.isalpha()}

    def encode(self, texts: Sequence[str]) -> tuple[Float32, Float32, list[list[tuple[int, int]]]]:
        """Vectors of tokens float32 [n, L, 384], mask float32 [n, L], and the characters of each token."""
        # A lone surrogate is no text that the tokenizer takes.
        encoded = [self.tokenizer.encode(t.encode("utf-8", "replace").decode("utf-8")) for t in texts]
        longest = max(len(e.ids) for e in encoded)
        ids, mask = np.zeros((len(texts), longest), np.int64), np.zeros((len(texts), longest), np.float32)
        for i, e in enumerate(encoded):
            ids[i, : len(e.ids)] = e.ids
            mask[i, : len(e.ids)] = 1
        states = self.encoder.run(None, {"ids": ids, "mask": mask})[0]
        return states, mask, [list(e.offsets) for e in encoded]

    @cached_property
    def encode_text(self) -> Callable[[str], tuple[Float32, list[tuple[int, int]]]]:
        """Vectors of the tokens of one text, float32 [L, 384], and their characters; some are kept."""

        @lru_cache(maxsize=TEXTS_KEPT)
        def encode(text: str) -> tuple[Float32, list[tuple[int, int]]]:
            states, _, offsets = self.encode([text])
            return states[0], offsets[0]

        return encode

    @cached_property
    def see_word(self) -> Callable[[str], tuple[Float32, Seen]]:
        """The vector of one word by itself, float32 [384], and what it is in the world; many are kept."""

        @lru_cache(maxsize=WORDS_KEPT)
        def see(word: str) -> tuple[Float32, Seen]:
            vector = _unit(self.encode_labels([word.lower()]))[0]
            return vector, shipped_background().see(vector)

        return see

    def encode_labels(self, labels: Sequence[str]) -> Float32:
        """One vector a label, the mean of its tokens: float32 [n, 384]."""
        rows = np.zeros((len(labels), 384), np.float32)
        order = sorted(range(len(labels)), key=lambda i: len(labels[i]))
        for start in range(0, len(order), LABELS_AT_ONCE):
            batch = order[start : start + LABELS_AT_ONCE]
            states, mask, _ = self.encode([labels[i] for i in batch])
            rows[batch] = (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return rows


@cache
def shipped() -> Ranker:
    """The model of the package, opened once a process. Raises EmbedderError."""
    return Ranker.open()


@dataclass(eq=False)
class GraphRanker:
    """Ranks the candidates of questions over one graph."""

    ranker: Ranker
    vocabulary: Vocabulary
    kinds: AnswerKinds
    _vectors: dict[str, Float32] = field(default_factory=dict[str, Float32])

    def rank(
        self, question: str, mentions: Sequence[Mention], likeness: Likeness, options: Sequence[Option]
    ) -> Ranking:
        """Rank all candidates of a question."""
        scored = self.score(question, mentions, likeness, options)
        if not scored.options:
            return Ranking((), 1.0, scored)
        scores = scored.scores
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        likely: list[float] = shares.tolist()
        ranked = [Ranked(option, likely[row], row) for row, option in enumerate(scored.options)]
        ranked.sort(key=lambda r: (-r.probability, -r.option.worth))
        return Ranking(tuple(ranked), float(shares[-1]), scored)

    def score(
        self, question: str, mentions: Sequence[Mention], likeness: Likeness, options: Sequence[Option]
    ) -> Scored:
        """The scores of all candidates of a question."""
        rows = _Rows(self.vocabulary, question, mentions, likeness)
        candidates = [option for option in sorted(options, key=lambda o: -o.worth) if rows.add(option)]
        if not candidates:
            return Scored.nothing(len(options))
        known = rows_of(rows.describer.features(candidates), rows.tokens)
        signs = Signs(self.vocabulary, question, mentions, likeness)
        sign_scores = np.array([signs.against(option.query) for option in candidates], np.float32)
        scope = Scope(self.vocabulary, question, mentions, likeness)
        best = scope.with_what_is_said(candidates, self.ranker.first_pass.best(known, sign_scores))
        rows.keep(best.tolist())
        candidates, known, sign_scores = [candidates[i] for i in best], known[best], sign_scores[best]
        head, labels, views = self._scores(rows, known[:, :GIVEN])
        scores = head.copy()
        kind = asked_kind(question, mentions)
        known = np.concatenate([known, self.kinds.features([o.query for o in candidates], kind)], axis=1)
        aligner = Aligner(self.vocabulary, question, mentions, likeness, labels)
        alignment = aligner.alignment([o.query for o in candidates], [views[v] for v in rows.view])
        type_asked_for = asked_type(question, mentions, likeness)
        further: dict[int, int] = {}
        if type_asked_for >= 0:
            of_type = [rows.describer.of_type(option.query, type_asked_for) for option in candidates]
            answer_with_type(self.vocabulary, candidates, scores, type_asked_for, of_type)
        elif asks_somebody(question, mentions):
            types = [rows.describer.answer_type(option.query) for option in candidates]
            nobody = [self.kinds.answers_nobody(o.query, t) for o, t in zip(candidates, types, strict=True)]
            doings = [n and t >= 0 and self.kinds.are_rows(t) for n, t in zip(nobody, types, strict=True)]
            further = answer_further_on(candidates, scores, nobody, doings, self._reaches_people)
        elif asks_when(question):
            no_times = [not answers_with_time(option.query, self.vocabulary) for option in candidates]
            further = answer_further_on(candidates, scores, no_times, no_times, self._reaches_time)
        aligned = alignment.features(self.ranker.calibration.of_alignment)
        known = np.concatenate([known, aligned], axis=1)
        calibrated = self.ranker.calibration.scores(scores, known)
        scores = calibrated.copy()
        if type_asked_for < 0 and asks_people(question, mentions):
            scores[:-1] += math.log(OTHER) * np.array([self.kinds.are_codes(o.query) for o in candidates])
        category = category_asked_for(question, mentions)
        if category >= 0:
            of_others = [
                category in mentions_of(o.query) and not of_category(o.query.part, category)
                for o in candidates
            ]
            scores[:-1] += math.log(OTHER) * np.array(of_others)
        scope.put_right(candidates, scores)
        WhichWay(self.vocabulary, question, mentions).put_right(candidates, scores)
        put_flags_right(self.vocabulary, question, candidates, scores)
        signs.put_right(candidates, scores)
        literal = Literal(self.vocabulary, question, mentions, likeness)
        said = np.array([literal.for_(option.query) for option in candidates], np.float32)
        for things, target in further.items():
            said[target], said[things] = max(said[target], said[things]), 0
        scores[:-1] += said
        scores[:-1] += sign_scores
        Narrower(self.vocabulary, mentions, likeness).put_right(candidates, scores[:-1])
        left_out = len(options) - len(candidates)
        return Scored(tuple(candidates), rows.tokens, known, head, calibrated, scores, alignment, left_out)

    def _reaches_people(self, step: Step) -> bool:
        type_ = int(self.vocabulary.types_reached[step])
        return type_ >= 0 and self.kinds.are_people(type_)

    def _reaches_time(self, step: Step) -> bool:
        return self.vocabulary.is_of_time(opposite(step))

    def hear(
        self,
        view: View,
        spans: Sequence[tuple[int, int]],
        own: Sequence[tuple[bool, int]],
        others: Sequence[tuple[bool, int]],
    ) -> tuple[Float32, Float32, Float32]:
        """Vectors of spans of a question, float32 [n, 384], and how like labels of graph and world they are.

        `own` are the labels of a query (whether of a type, and which), `others` those beside them: [n, own +
        others]; the last is [n, OF_BACKGROUND], of each word by itself.
        """
        states, offsets = self.ranker.encode_text(view.text)
        vectors = np.zeros((len(spans), 384), np.float32)
        places = [(view.at(start), view.at(stop)) for start, stop in spans]
        for row, place in enumerate(places):
            first, last = span_of(offsets, place)
            if first < last:
                vectors[row] = states[first:last].mean(0)
        encoded, at = self._encoded({*own, *others})
        words, labels = _unit(vectors), _unit(encoded)[[at[label] for label in (*own, *others)]]
        background = shipped_background()
        alone = [self.ranker.see_word(view.text[slice(*place)]) for place in places]
        seen = [self.see_label(self._text_of(label)) for label in own]
        near = np.stack([vector for vector, _ in alone]) @ labels[: len(own)].T
        of_world = background.compare([word for _, word in alone], seen, near)
        return vectors, words @ labels.T, of_world

    @cached_property
    def see_label(self) -> Callable[[str], Seen]:
        """What a label of the graph is beside those of the world; some are kept."""

        @lru_cache(maxsize=LABELS_SEEN)
        def see(label: str) -> Seen:
            return shipped_background().see(_unit(self._vectors[label]))

        return see

    def vector(self, text: str) -> Float32:
        """The vector of a text, of length 1: float32 [384]."""
        return _unit(self.ranker.encode_labels([text]))[0]

    def likenesses(self, vector: Float32, relations: Sequence[int]) -> Float32:
        """How like a vector of `vector` is to those of the labels of relations: cosines, float32 [R]."""
        encoded, at = self._encoded({(False, relation) for relation in relations})
        return (_unit(encoded) @ vector)[[at[False, relation] for relation in relations]]

    def _scores(
        self, rows: _Rows, features: Float32
    ) -> tuple[Float32, dict[tuple[bool, int], int], list[EncodedView]]:
        """Scores of all rows with their features, that of none last; labels, and the encoded views."""
        states, mask, offsets = self.ranker.encode([view.text for view in rows.views.values()])
        labels, at = self._labels(rows)
        kinds, label_at, span_at = rows.arrays(at, offsets)
        features = features.astype(np.float16).astype(np.float32)
        inputs = {
            "states": states,
            "mask": mask,
            "labels": labels,
            "kinds": kinds,
            "label_at": label_at,
            "span_at": span_at,
            "view": np.array([*rows.view, 0], np.int64),
            "features": np.concatenate([features, features.max(0, keepdims=True)]),
        }
        unit = _unit(labels[: len(at)])
        views = [
            EncodedView(view, _unit(state[: len(token_offsets)]) @ unit.T, token_offsets)
            for view, state, token_offsets in zip(rows.views.values(), states, offsets, strict=True)
        ]
        return self.ranker.head.run(None, inputs)[0], at, views

    def _labels(self, rows: _Rows) -> tuple[Float32, dict[tuple[bool, int], int]]:
        """Vectors of the labels that the rows use, and where each of them is."""
        return self._encoded(
            {(k == Kind.TYPE, r) for tokens in rows.tokens for k, r in tokens if _is_label(k, r)}
        )

    def _text_of(self, label: tuple[bool, int]) -> str:
        is_type, number = label
        return self.vocabulary.types[number] if is_type else self.vocabulary.relations[number]

    def _encoded(self, labels: set[tuple[bool, int]]) -> tuple[Float32, dict[tuple[bool, int], int]]:
        """Vectors of labels (whether of a type, and which), and where each of them is."""
        used = sorted(labels)
        texts = list(map(self._text_of, used))
        new = sorted({t for t in texts if t not in self._vectors})
        all_labels = {*self.vocabulary.relations, *self.vocabulary.types} if new else set[str]()
        if new and len(all_labels) <= ALL_AT_ONCE:
            # Vectors of 8-bit weights differ a little with what is encoded beside: so all at once, always.
            new = sorted(all_labels)
        if new:
            if len(self._vectors) + len(new) > MOST_LABELS:
                self._vectors.clear()
                new = sorted(set(texts))
            self._vectors |= dict(zip(new, self.ranker.encode_labels(new), strict=True))
        vectors = [self._vectors[t] for t in texts] or [np.zeros(384, np.float32)]
        return np.stack(vectors), {label: i for i, label in enumerate(used)}


def _unit(vectors: Float32) -> Float32:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


def _is_label(kind: int, ref: int) -> bool:
    return ref >= 0 and (kind in RELATION_KINDS or kind == Kind.TYPE)


class _Rows:
    """The rows of one question's candidates."""

    def __init__(
        self, vocabulary: Vocabulary, question: str, mentions: Sequence[Mention], likeness: Likeness
    ) -> None:
        self.vocabulary, self.question, self.mentions = vocabulary, question, mentions
        self.describer = Describer(vocabulary, question, mentions, likeness)
        self.views: dict[tuple[int, ...], View] = {}
        self.tokens: list[list[QueryToken]] = []
        self.view: list[int] = []
        self._numbers: dict[tuple[int, ...], int] = {}

    def add(self, option: Option) -> bool:
        """Add a row; False if the candidate is too long, or masks names that no row has room for."""
        tokens, used = tokens_of(option.query, self.vocabulary), names_used(option.query)
        if len(tokens) > MOST_TOKENS or (used not in self.views and len(self.views) >= MOST_VIEWS):
            return False
        if used not in self.views:
            self._numbers[used] = len(self.views)
            self.views[used] = view_of(self.question, self.mentions, used)
        self.tokens.append(tokens)
        self.view.append(self._numbers[used])
        return True

    def keep(self, places: Sequence[int]) -> None:
        """Keep some of the rows, and the views that they need."""
        used = {view: number for number, view in enumerate(dict.fromkeys(self.view[i] for i in places))}
        views = list(self.views.items())
        self.views = dict(views[view] for view in used)
        self.tokens, self.view = [self.tokens[i] for i in places], [used[self.view[i]] for i in places]

    def arrays(
        self, at: dict[tuple[bool, int], int], offsets: Sequence[Sequence[tuple[int, int]]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Kinds and rows of labels [rows + 1, T], spans of tokens [rows + 1, T, 2]; NONE last."""
        count, longest = len(self.tokens) + 1, max(map(len, self.tokens))
        kinds = np.zeros((count, longest), np.int64)
        label_at = np.full((count, longest), -1, np.int64)
        span_at = np.zeros((count, longest, 2), np.int64)
        places = [view.places for view in self.views.values()]
        spans: dict[tuple[int, int], tuple[int, int]] = {}
        for row, tokens in enumerate(self.tokens):
            v = self.view[row]
            for t, (kind, ref) in enumerate(tokens):
                kinds[row, t] = kind
                if _is_label(kind, ref):
                    label_at[row, t] = at[kind == Kind.TYPE, ref]
                elif kind in MENTION_KINDS and ref in places[v]:
                    if (v, ref) not in spans:
                        spans[v, ref] = span_of(offsets[v], places[v][ref])
                    span_at[row, t] = spans[v, ref]
        kinds[-1, 0] = Kind.NONE
        return kinds, label_at, span_at


def span_of(offsets: Sequence[tuple[int, int]], place: tuple[int, int]) -> tuple[int, int]:
    """The tokens that stand for the characters [start, stop)."""
    inside = [i for i, (a, b) in enumerate(offsets) if a < place[1] and place[0] < b]
    return (inside[0], inside[-1] + 1) if inside else (0, 0)
