"""Learn an `Adapter` for one graph from a user's questions (`clew fit`), with NumPy alone.

The likelihood of the candidates that answer as the user says, all of them together, is made as large as can
be, less a penalty on the squares of all weights (Adam, all questions at once). Its strength is chosen on
halves: each half of the questions is answered with what was learned from the other. What does not help there
is not handed out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clew.errors import InputError
from clew.foundation.arrays import Float32
from clew.query.execute import Executor
from clew.reading.adapter import NO_CANDIDATE, Adapter, AdapterAbout, symbols_of, terms_of
from clew.reading.features import FEATURES
from clew.reading.feedback import Feedback, Judge
from clew.reading.fitted_layer import Example, ExampleRow, Layer
from clew.reading.learned_words import LikelyWords, likely_words
from clew.reading.ranker import Scored
from clew.reading.reader import QuestionReader
from clew.reading.tokens import RELATION_KINDS, Kind

LEAST_QUESTIONS = 20
"""Questions with a right candidate that must be there."""
MOST_OF_QUESTION = 100
"""Candidates of a question that are learned from, the right ones and those that the head likes best."""
STRENGTHS = (60.0, 8.0, 1.0, 0.12)
"""Penalties that are tried, strongest first: a graph with few questions wants another than one with many."""
ENOUGH_COVERED = 0.98
"""Share of questions with a right candidate from which no words are learned for the enumeration."""

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Figures:
    """How questions with known answers were answered, counted; `likelihood` is the mean logarithm."""

    questions: int
    right: int
    answered_right: int
    answered_wrong: int
    likelihood: float

    def better_than(self, other: Figures) -> bool:
        """Whether these are better: likelier, not fewer right, and more right or fewer wrong."""
        improves = self.right > other.right or self.answered_wrong < other.answered_wrong
        return improves and self.right >= other.right and self.likelihood > other.likelihood


@dataclass(frozen=True, slots=True)
class Fitted:
    """What was learned, None if it did not help; and figures of held-out halves without it and with it."""

    adapter: Adapter | None
    questions: int
    covered: int
    before: Figures
    after: Figures
    strength: float
    words: int


def fit(
    reader: QuestionReader,
    questions: Sequence[Feedback],
    digests: tuple[str, str],
    confidence: float,
    seed: int = 0,
    tell: Tell = lambda _stage, _done, _total: None,
) -> Fitted:
    """Learn an adapter for the graph of `reader`, which has none; `digests` of its words and its model.

    Figures count a reading as answered from a probability of `confidence`.

    Raises:
        InputError: too few questions have a candidate that answers them as their user says.
        EmbedderError: the shipped model cannot be opened.

    """
    half = np.random.default_rng(seed).permutation(len(questions)) % 2
    examples = read_examples(reader, questions, "reading questions", tell)
    covered = sum(e.covered for e in examples)
    if covered < LEAST_QUESTIONS:
        raise InputError(
            f"{covered} of {len(questions)} usable questions have a reading with the given answers, and at "
            f"least {LEAST_QUESTIONS} are needed. Give more questions, and all answers of each"
        )
    words = LikelyWords()
    held_out = examples
    if covered < ENOUGH_COVERED * len(examples):
        held_out = _read_again(reader, examples, half, tell)
        words = likely_words([(e.words, e.labels) for e in examples])
    before, after, strength = choose(examples, held_out, half, confidence, tell)
    if not after.better_than(before):
        return Fitted(None, len(questions), covered, before, after, strength, 0)
    about = AdapterAbout(*digests, len(questions), {"before": asdict(before), "after": asdict(after)})
    adapter = learned(examples, strength).adapter(about, words)
    return Fitted(adapter, len(questions), covered, before, after, strength, len(set(words.words)))


def read_examples(
    reader: QuestionReader, questions: Sequence[Feedback], stage: str, tell: Tell
) -> list[Example]:
    """Read questions and tell which of their candidates are right. Raises EmbedderError."""
    examples: list[Example] = []
    for done, feedback in enumerate(questions):
        tell(stage, done, len(questions))
        examples.append(_example(reader, feedback))
    tell(stage, len(questions), len(questions))
    return examples


def _read_again(
    reader: QuestionReader, examples: Sequence[Example], half: NDArray[np.int64], tell: Tell
) -> list[Example]:
    """Each half read with the words that were learned from the other."""
    all_examples = list(examples)
    for side in (0, 1):
        words = likely_words([(e.words, e.labels) for e, h in zip(examples, half, strict=True) if h != side])
        if not words.words:
            continue
        empty = Layer.of(()).adapter(AdapterAbout("", "", 0, {}), words)
        wider = replace(reader, adapter=empty)
        places = np.flatnonzero(half == side).tolist()
        questions = [examples[i].feedback for i in places]
        new_examples = read_examples(wider, questions, f"reading half {side + 1} again", tell)
        for i, e in zip(places, new_examples, strict=True):
            all_examples[i] = e
    return all_examples


def _example(reader: QuestionReader, feedback: Feedback) -> Example:
    linked, scored = reader.score(feedback.question)
    right = Judge(Executor(reader.graph), reader.names).right(feedback, scored.options)
    places = np.argsort(-(scored.scores[:-1] + 1000.0 * right[:-1]), kind="stable")[
        :MOST_OF_QUESTION
    ].tolist()
    rows = [
        ExampleRow(
            tuple(sorted(symbols_of(scored.tokens[i]))),
            scored.features[i],
            float(scored.scores[i]),
            bool(right[i]),
        )
        for i in places
    ]
    rows.append(
        ExampleRow(
            (NO_CANDIDATE,), np.zeros(len(FEATURES), np.float32), float(scored.scores[-1]), bool(right[-1])
        )
    )
    spans = [(m.start, m.stop) for m in linked.mentions if m.strong and m.candidates]
    words = {w for a, b, w in linked.likeness.words if not any(p < b and a < q for p, q in spans)}
    count = len(reader.vocabulary.relations)
    labels = _labels(scored, right, count) if feedback.answers is not None or feedback.accepted else {}
    return Example(
        feedback, tuple(terms_of(linked.text, linked.mentions)), tuple(sorted(words)), tuple(rows), labels
    )


def _labels(scored: Scored, right: NDArray[np.bool_], relations: int) -> dict[int, float]:
    """The relations and types of the right candidates, by how likely the head finds these."""
    places = np.flatnonzero(right[:-1])
    if not len(places):
        return {}
    shares = np.exp(scored.scores[places] - scored.scores[places].max())
    shares /= shares.sum()
    weights: dict[int, float] = defaultdict(float)
    for place, share in zip(places.tolist(), shares.tolist(), strict=True):
        for kind, ref in {
            (k == Kind.TYPE, r) for k, r in scored.tokens[place] if k in RELATION_KINDS or k == Kind.TYPE
        }:
            weights[ref + relations * kind] += share
    return dict(weights)


def choose(
    examples: Sequence[Example],
    held_out: Sequence[Example],
    half: NDArray[np.int64],
    confidence: float,
    tell: Tell,
) -> tuple[Figures, Figures, float]:
    """(without, with, strength): the figures of halves, each held out once, with the best strength.

    `half` int64 [questions], 0 or 1; `held_out` are the examples as they are read when they are held out.
    """
    shares: dict[float, list[tuple[Example, Float32]]] = defaultdict(list)
    done = 0
    for side in (0, 1):
        train = [e for e, h in zip(examples, half, strict=True) if h != side]
        test = [e for e, h in zip(held_out, half, strict=True) if h == side]
        layer = Layer.of(train)
        for strength in STRENGTHS:
            tell("learning", done, 2 * len(STRENGTHS))
            done += 1
            layer.train(train, strength)
            shares[strength] += zip(test, layer.shares(test), strict=True)
    tell("learning", done, done)
    figures = {strength: figures_of(rows, confidence) for strength, rows in shares.items()}
    best = max(figures, key=lambda s: figures[s].likelihood)
    return without(held_out, confidence), figures[best], best


def without(examples: Sequence[Example], confidence: float) -> Figures:
    """How examples are answered with nothing learned."""
    shares = [_softmax(np.array([r.score for r in e.rows], np.float32)) for e in examples]
    return figures_of(list(zip(examples, shares, strict=True)), confidence)


def figures_of(rows: Sequence[tuple[Example, Float32]], confidence: float) -> Figures:
    """Figures of the questions whose answers are known whole or in part; `rows` with their probabilities."""
    right = answered_right = answered_wrong = questions = 0
    logs: list[float] = []
    for example, shares in rows:
        is_right = np.array([row.right for row in example.rows])
        logs.append(float(np.log(max(1e-9, shares[is_right].sum()))))
        if example.feedback.answers is None and not example.feedback.accepted:
            continue
        questions += 1
        right_share = float(shares[:-1][is_right[:-1]].sum())
        wrong_share = float(shares[:-1][~is_right[:-1]].max(initial=0.0))
        is_first = example.covered and right_share > wrong_share
        right += is_first
        answered_right += is_first and right_share >= confidence
        answered_wrong += not is_first and wrong_share >= confidence
    return Figures(questions, right, answered_right, answered_wrong, round(float(np.mean(logs)), 4))


def learned(examples: Sequence[Example], strength: float) -> Layer:
    """The layer that is learned from all of some examples, down to a penalty of `strength`."""
    layer = Layer.of(examples)
    for each in (s for s in STRENGTHS if s >= strength):
        layer.train(examples, each)
    return layer


def _softmax(scores: Float32) -> Float32:
    shares = np.exp(scores - scores.max())
    return shares / shares.sum()
