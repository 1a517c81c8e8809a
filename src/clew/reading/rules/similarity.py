"""How well a word of the question names each relation and each node type of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.reading.rules.english import SORTING
from clew.reading.rules.thesaurus import ALIKE
from clew.reading.rules.vocabulary import SAME, Vocabulary, class_row, is_noun, names_tail
from clew.text.lexicon import CLASSES, Lexicon

Float = NDArray[np.float64]

MAJOR = (("person", "group"), ("group", "location"), ("time",), ("quantity",))
"""Classes that tell node types apart; a group may be people (*family*) or a place (*nation*)."""


def major(rows: Float) -> Float:
    """[n, 4]: the strongest class of each kind in `MAJOR`."""
    return np.stack([rows[:, [CLASSES.index(c) for c in names]].max(axis=1) for names in MAJOR], axis=1)


@dataclass(frozen=True, slots=True)
class Scale:
    """How cosines and lexical similarities become a share of a word that is explained, in [0, 1]."""

    floor: float = 0.223
    span: float = 0.516
    label: float = 0.98
    lexical: float = 0.98
    type_floor: float = 0.036
    type_span: float = 0.67
    contrast: float = 0.905
    even: float = 0.263
    role: float = 0.9
    clash: float = 0.419
    facing: float = 0.264
    generic: float = 0.98


@dataclass(frozen=True, eq=False)
class Similarities:
    """Of W words with R relations and S = 2R steps, all in [0, 1].

    `relation` [W, R]: with each relation; `cover` [W, S]: how far each step explains the word; `arrive`
    [W, S]: how far the word tells the step from others; `type` [W, S]: with the type of the nodes that
    have each end; `fits` [W, S]: whether the word's class allows arriving there; `turned` [W, S]: what is
    left of the word where it names who a step leaves, not who it arrives at.
    """

    relation: Float
    cover: Float
    arrive: Float
    type: Float
    fits: Float
    turned: Float


LEAK = 0.1
"""What a cosine below the floor still counts, so that it breaks ties."""


IDENTIFYING = frozenset("id ids identifier uuid guid uri url code key".split())
"""What a thing is kept under is named by these: no *product* is a `productID`."""
APART = 0.3
"""What is left of the similarity of other words with such a relation."""
PLACE = 0.6
"""How far *located* or *based* names a relation to places, whatever it is called."""
HALF = 0.4
"""What a word is worth that only modifies the name of a type."""
MIXED = 0.6
"""How far the name of a type names nodes of which only some are of it; the answers are then sifted by it."""
OWN = 0.8
"""Similarity of words that compare by the same (*wider*, *broader*), and not by opposites."""
BESIDE = 0.6
"""What is left of a word's similarity with other relations than those that it is the whole name of."""


def _ramp(values: Float, floor: float, span: float) -> Float:
    return np.maximum(np.clip((values - floor) / span, 0.0, 1.0), LEAK * np.maximum(values, 0.0))


def _lexical(vocabulary: Vocabulary, words: Sequence[str]) -> Float:
    """[W, V]: lexical similarity with every word of the relations' names."""
    table = np.zeros((len(words), len(vocabulary.word_index)))
    for row, word in enumerate(words):
        for other, column in vocabulary.word_index.items():
            table[row, column] = vocabulary.near(word, other)
    return table


def _named(vocabulary: Vocabulary, words: Sequence[str]) -> Float:
    """[W]: how far a word is one of the relations' own words, by the lexicon alone."""
    near = vocabulary.lexicon.similarity
    return np.array([max((near(w, other) for other in vocabulary.word_index), default=0.0) for w in words])


def _says_type(vocabulary: Vocabulary, word: str, type: Sequence[str]) -> float:
    """How well a word names a type; the words before its last one (*space* of *space agency*) do so less."""
    near = [vocabulary.near(word, said) for said in type]
    return max(near[-1], HALF * max(near[:-1], default=0.0)) if near else 0.0


def _beside_namesakes(vocabulary: Vocabulary, words: Sequence[str]) -> Float:
    """[W, R]: `BESIDE` where a word is the whole name of another relation (*ethnicity*: `nationality`)."""
    lemmas = vocabulary.lexicon.lemmas
    names = [{*lemmas(ws[0]), ws[0]} if len(ws) == 1 else set[str]() for ws in vocabulary.labels]
    own = np.array([[bool(name & {*lemmas(w), w}) for name in names] for w in words])
    return np.where(own.any(axis=1, keepdims=True) & ~own, BESIDE, 1.0)


def _beside_identifiers(vocabulary: Vocabulary, words: Sequence[str]) -> Float:
    """[W, R]: `APART` where a word is not the one that makes the relation an identifier (`productID`)."""
    identifying = [IDENTIFYING & set(ws) if len(ws) > 1 else frozenset[str]() for ws in vocabulary.labels]
    return np.array([[APART if ids and w not in ids else 1.0 for ids in identifying] for w in words])


def _beside_comparatives(vocabulary: Vocabulary, words: Sequence[str]) -> Float:
    """[W, R]: 0 where a word may say the opposite of what a relation compares by (*narrower*: `broader`)."""
    lexicon, names = vocabulary.lexicon, [ws[0] if len(ws) == 1 else "" for ws in vocabulary.labels]
    compared = [is_comparative(lexicon, name) for name in names]
    rows = [
        [of and lexicon.similarity(w, name) < OWN for of, name in zip(compared, names, strict=True)]
        if is_comparative(lexicon, w)
        else [False] * len(names)
        for w in words
    ]
    return np.where(np.array(rows, bool), 0.0, 1.0)


def is_comparative(lexicon: Lexicon, word: str) -> bool:
    """Whether a word is a form of an adjective that compares: *broader*, not *teacher*."""
    return word.endswith("er") and lexicon.lemmas(word)[:1] not in ((word,), ())


def _sorted_by(vocabulary: Vocabulary, words: Sequence[str]) -> NDArray[np.bool_]:
    """[W, R]: whether a word says what the relation sorts (*drugs*: `drug_class`), so what its heads are."""
    found = np.zeros((len(words), len(vocabulary.labels)), bool)
    for r, label in enumerate(vocabulary.labels):
        if len(label) < 2 or label[-1] not in SORTING or "of" in label:
            continue
        for row, word in enumerate(words):
            near = max(vocabulary.near(word, said) for said in label[:-1])
            found[row, r] = near >= SAME and vocabulary.near(word, label[-1]) < SAME
    return found


def _places(vocabulary: Vocabulary, words: Sequence[str]) -> Float:
    """[W, R]: `PLACE` where a word says that something is at a place, and the relation's tails are places."""
    placing = np.array([vocabulary.near(w, "location") >= ALIKE for w in words])
    tails = vocabulary.classes[1::2, CLASSES.index("location")]
    return PLACE * placing[:, None] * tails[None]


def _best(vocabulary: Vocabulary, table: Float) -> Float:
    """[W, R]: the best of a table [W, V] over the words of each relation."""
    return np.where(vocabulary.word_relation > 0, table[:, :, None], 0.0).max(axis=1)


def _agreement(vocabulary: Vocabulary, words: Sequence[str]) -> tuple[Float, Float]:
    """Two [W, S]: how well a noun's class fits the end's nodes, as their type and as what one arrives at.

    A type fits if both are of one major class, or neither is; an arrival fits unless the word is of a class
    that the end's nodes are known not to be of.
    """
    rows = np.stack([class_row(vocabulary.lexicon, w) * is_noun(vocabulary.lexicon, w) for w in words])
    word, end = major(rows)[:, None], major(vocabulary.classes)[None]
    match = np.minimum(word, end).max(axis=2)
    known = np.minimum(2 * vocabulary.classes.max(axis=1), 1.0)
    noun = rows.sum(axis=1, keepdims=True) > 0
    as_type = np.maximum(match, 1 - known * np.maximum(word.max(axis=2), end.max(axis=2)))
    as_arrival = np.maximum(match, 1 - known * word.max(axis=2))
    return np.where(noun, as_type, 1.0), np.where(noun, as_arrival, 1.0)


def _facing(
    vocabulary: Vocabulary,
    words: Sequence[str],
    table: Float,
    noun: NDArray[np.bool_],
    person: Float,
) -> NDArray[np.bool_]:
    """[W, S]: whether the step arrives at the end that the noun does not name.

    *Director* does not name the heads of `directed_by`.
    """
    lexical = _best(vocabulary, table) >= 0.5
    named = lexical & (noun & (person >= 0.5))[:, None]
    steps = np.arange(2 * lexical.shape[1])
    by_tail = np.array([names_tail(words, vocabulary.lexicon) for words in vocabulary.labels])
    by_head = vocabulary.active & ~by_tail
    wrong = np.where(steps % 2 == 1, by_tail[steps // 2], by_head[steps // 2])
    return (named[:, steps // 2] & wrong[None]) | (
        _names_tails(vocabulary, words)[:, steps // 2] & (steps % 2 == 1)
    )


def _names_tails(vocabulary: Vocabulary, words: Sequence[str]) -> NDArray[np.bool_]:
    """[W, R]: whether a word is the noun that says what a relation's tails are (*symptom*: `has_symptom`)."""
    found = np.zeros((len(words), len(vocabulary.labels)), bool)
    for r, label in enumerate(vocabulary.labels):
        noun = label[0] if "of" in label else label[-1] if label else ""
        if vocabulary.active[r] or not is_noun(vocabulary.lexicon, noun) or label[-1] == "of":
            continue
        found[:, r] = [vocabulary.lexicon.similarity(w, noun) >= 0.9 for w in words]
    return found


def similarities(vocabulary: Vocabulary, words: Sequence[str], scale: Scale) -> Similarities:
    """Compare words with the graph.

    A relation is named by its label's embedding, by the best word of the label, and by lexical relatedness
    (noisy or). A type is known by its declared name, by the relations that it has (a word that resembles them
    evenly names it), and by the part that it plays in them (*actor*: a tail of `starred_actors`).
    """
    vectors = vocabulary.embedder.embed(list(words)).astype(np.float64)
    label = vectors @ vocabulary.relation_vectors.T
    single = vectors @ vocabulary.word_vectors.T
    belongs = vocabulary.word_relation > 0
    best = np.where(belongs[None], single[:, :, None], -1.0).max(axis=1)
    cosine = _ramp(scale.label * label + (1 - scale.label) * best, scale.floor, scale.span)
    table = _lexical(vocabulary, words)
    lexical = (table[:, :, None] * vocabulary.word_relation[None]).max(axis=1)
    lexical = np.maximum(lexical, _places(vocabulary, words))
    noun = np.array([is_noun(vocabulary.lexicon, w) for w in words])
    agreement, arrival = _agreement(vocabulary, words)
    even = 1.0 - np.clip((_named(vocabulary, words)[:, None] - scale.even) / (1 - scale.even), 0.0, 1.0)
    kind = _ramp(vectors @ vocabulary.end_vectors.T, scale.type_floor, scale.type_span)
    kind = kind * even * agreement * vocabulary.richness
    kind = np.where(noun[:, None], kind, 0.0)
    cosine = cosine * (1 - scale.generic * kind.max(axis=1, keepdims=True))
    beside = _beside_namesakes(vocabulary, words) * _beside_identifiers(vocabulary, words)
    beside *= _beside_comparatives(vocabulary, words)
    sorts = _sorted_by(vocabulary, words)
    beside = np.where(sorts, beside * APART, beside)
    relation = (1 - (1 - cosine) * (1 - scale.lexical * lexical)) * beside
    full = (1 - (1 - cosine) * (1 - scale.lexical * _best(vocabulary, table))) * beside
    top = relation.max(axis=1, keepdims=True)
    relation = relation * (relation / np.where(top > 0, top, 1.0)) ** scale.contrast

    person = np.array([class_row(vocabulary.lexicon, w)[CLASSES.index("person")] for w in words])
    suffered = relation * (
        1 - person[:, None] * vocabulary.active
    )  # a *player* is no tail of `plays_in_club`
    roles = (suffered[:, None, :] * vocabulary.role[None]).max(axis=2)
    agents = person[:, None] * (full[:, None, :] * vocabulary.acts[None]).max(axis=2)
    roles = np.maximum(roles, agents)
    kind = np.maximum(kind, scale.role * roles)
    kind[:, ::2] = np.maximum(kind[:, ::2], sorts)
    # Nodes that have such an end beside others are of the same kind.
    kind = np.maximum(kind, scale.role * (sorts[:, None, :] * vocabulary.heads[None]).max(axis=2))
    if vocabulary.type_words:
        named = np.array([[_says_type(vocabulary, w, ts) for ts in vocabulary.type_words] for w in words])
        kind = np.maximum(kind, (named[:, None, :] * vocabulary.type_share[None]).max(axis=2))
        for row, word in enumerate(words):
            for type in vocabulary.types_named(word):
                share = vocabulary.type_share[:, type]
                kind[row] = np.where(share > 0, np.maximum(kind[row], MIXED + (1 - MIXED) * share), kind[row])
    kind = np.where(noun[:, None], kind, 0.0)

    steps = np.arange(2 * relation.shape[1])
    clash = 1 - scale.clash * (1 - arrival[:, steps ^ 1])
    verb = np.array([bool(vocabulary.lexicon.agent(w)) for w in words])
    facing = _facing(vocabulary, words, table, noun, person)
    clash = np.where((noun & ~verb)[:, None], clash, 1.0)
    turned = np.where(facing, scale.facing, 1.0)
    return Similarities(
        relation,
        full[:, steps // 2] * clash,
        relation[:, steps // 2] * clash,
        kind,
        arrival[:, steps ^ 1],
        turned,
    )


MOST_REMEMBERED = 20_000
"""Words whose rows are kept; a row takes 44 bytes a step."""


class WordTable:
    """Similarities of words with one graph, remembered by word."""

    def __init__(self, vocabulary: Vocabulary, scale: Scale) -> None:
        self.vocabulary = vocabulary
        self.scale = scale
        self._rows: dict[str, tuple[Float, ...]] = {}

    def compare(self, words: Sequence[str]) -> Similarities:
        """The rows of `words` (at least one)."""
        wanted = {w for word in words for w in word.split("|")}
        known = self._rows
        missing = sorted(wanted - known.keys())
        if missing:
            if len(known) + len(missing) > MOST_REMEMBERED:
                # A new table: another thread may still read the old one.
                known = self._rows = {}
                missing = sorted(wanted)
            found = similarities(self.vocabulary, missing, self.scale)
            columns = (found.relation, found.cover, found.arrive, found.type, found.fits, found.turned)
            for at, word in enumerate(missing):
                known[word] = tuple(column[at] for column in columns)
        rows = [_either([known[w] for w in word.split("|")]) for word in words]
        return Similarities(*(np.stack(row) for row in zip(*rows, strict=True)))


def _either(rows: Sequence[tuple[Float, ...]]) -> tuple[Float, ...]:
    """Join the rows of a word; of `a|b` the larger of both."""
    if len(rows) == 1:
        return rows[0]
    return tuple(np.maximum.reduce(parts) for parts in zip(*rows, strict=True))
