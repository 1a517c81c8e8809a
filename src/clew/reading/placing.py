"""How likely a content word of a text is carried by a query graph: trees over what is known of the word.

`model/placing.npz` keeps the trees; `scripts/train_reader/train_placing.py` fits them on questions with their
right query graphs, and on the same with conditions that no part of these graphs carries.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Float32
from clew.graph.steps import End, relation_of
from clew.query.tree import Compared, Counted, Either, Extreme, OfType, Query, Without, steps_of
from clew.query.vocabulary import Vocabulary
from clew.reading.background import OF_BACKGROUND
from clew.reading.english import ANYONE, FUNCTION, LIGHT, NARROWS_NOTHING
from clew.reading.fitted import MODEL, Trees, shipped_trees
from clew.reading.framing import TALK
from clew.reading.likeness import SHARPNESS, SPELT, Likeness, types_said
from clew.reading.mentions import Mention
from clew.reading.ranker import GraphRanker
from clew.reading.thesaurus import shipped_thesaurus
from clew.reading.tokens import names_used, view_of
from clew.text.lexicon import Lexicon

OF_WORLD = tuple(f"world_{name}" for name in OF_BACKGROUND)
OF_SENSE = ("sense_own", "sense_room", "sense_other", "sense_known", "sense_labels", "senses")
"""Whether a word shares a concept with a label of the query, with the step that other words say least, and
with another label; whether it has one, how many labels of the query have, and how many it has."""
OF_WORD = (
    "like_relation", "like_type", "exact", "other_relation", "other_type", "other_exact",
    "heard_relation", "heard_type", "heard_other", "heard_share", "heard_rank",
    "room", "room_filled", "steps", "words", "names",
    "frequency", "known", "verb", "noun", "agent", "time", "place", "person", "quantity", "attribute", "act",
    "light", "talk", "anyone", "idle", "operator", "lists", "counts", "asks_yes",
    "operated", "valued", "all_of_type",
    "from_end", "from_start", "behind_names", "before_names", "beside_name_left", "beside_name_right",
    "capital", "asked_for", "behind_article", "behind_the", "digits", "length",
    "phrase_words", "phrase_best", "phrase_mean", "phrase_name", "phrase_last", "relative", "with", "at",
    "for", "of", "by", "while", "before_like", "after_like", "best_elsewhere", "only_word", *OF_WORLD,
    "types", *OF_SENSE,
)  # fmt: skip
"""Of a content word: how like it is to labels of the query and to others, by the lexicon and by the encoder;
what steps of the query other words leave unsaid; what word it is; where it stands, and in what phrase; how
many types the graph declares; what the thesaurus says of it."""
PLACED = (*OF_WORD, "heard")
MOST_OTHERS = 60
"""Labels beside those of a query with which a word is compared by the encoder."""
_BOUNDARY = re.compile(
    r"[,;:?!.()]|\b(?:in|on|at|by|of|for|from|to|with|within|into|onto|over|under|through|after|before|near|against"
    r"|about|upon|as|between|towards?|without|while|during|when|if|because|that|which|who|whom|whose|where|and|or|but"
    r"|than|is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b",
    re.I,
)
"""Where a phrase begins."""
_OPERATOR = re.compile(
    r"\w{3,}est|most|least|best|worst|top|bottom|max\w*|min\w*|first|last|latest|more|less|fewer|later|earlier|\w{2,}er"
    r"|average|mean|total|sum|number|count|altogether|combined|only",
    re.I,
)
_ASKS = re.compile(r"\b(?:which|what|how many|how much|list|all|the)\s+$", re.I)
_ARTICLE, _THE = re.compile(r"\ban?\s+$", re.I), re.compile(r"\bthe\s+$", re.I)
_CLASSES = {name: name for name in ("time", "person", "quantity", "attribute", "act")} | {"place": "location"}
_OPENERS = {
    "relative": ("that", "which", "who", "whose", "where", "whom"),
    "with": ("with", "without"),
    "at": ("in", "on", "at", "near", "under", "over"),
    "for": ("for",),
    "of": ("of",),
    "by": ("by",),
    "while": ("while", "during", "when", "if", "because", "before", "after"),
}
"""Words that open a phrase, by what they make it."""
BESIDE, RARE = 8, 40_000
"""Characters beside a phrase in which a name is of it; the rank of a word that no list of common ones has."""


@dataclass(frozen=True, eq=False)
class WordRows:
    """The content words of a text outside of some names, and what is known of each.

    `places` are among `Likeness.words`; `rows` float32 [n, OF_WORD]; `states` float32 [n, 384].
    """

    places: tuple[int, ...]
    rows: Float32
    states: Float32

    def say_another(self) -> NDArray[np.bool_]:
        """Which words the thesaurus knows, and every label of the query, but for no concept of both.

        So too words that share a concept with another label of the graph alone.
        """
        known, own, other, labels, exact = (
            self.rows[:, OF_WORD.index(name)]
            for name in ("sense_known", "sense_own", "sense_other", "sense_labels", "exact")
        )
        return (known > 0) & (own == 0) & ((labels >= 1) | (other > 0)) & (exact < SPELT)


@dataclass(frozen=True, eq=False)
class Placing:
    """Trees over what is known of words, and what the encoder's vectors of these tell by themselves.

    A word that is likelier than `least` to be carried has its place.
    """

    trees: Trees
    weights: Float32
    bias: float
    least: float

    def of(self, words: WordRows) -> Float32:
        """How likely each word is carried, float32 [n]."""
        return self.trees.of(with_heard(words.rows, words.states @ self.weights + self.bias))


def with_heard(rows: Float32, heard: Float32) -> Float32:
    """Rows with what the vectors of words tell: float32 [n, PLACED]."""
    return np.concatenate([rows, heard[:, None]], axis=1).astype(np.float32)


@cache
def shipped_placing(name: str = "placing.npz", folder: Path = MODEL) -> Placing:
    """The trees of the package, or of another folder, read once a process. Raises EmbedderError."""
    trees = shipped_trees(name, PLACED, folder)
    return Placing(trees, trees.others["weights"], float(trees.others["bias"]), float(trees.others["cut"]))


def word_rows(
    ranker: GraphRanker,
    text: str,
    mentions: Sequence[Mention],
    likeness: Likeness,
    query: Query,
    taken: Sequence[tuple[int, int]],
) -> WordRows:
    """What is known of the content words of a text outside of the spans `taken`, if it is read as a query.

    Raises EmbedderError if the shipped model cannot be opened.
    """
    places = [
        place
        for place, (start, stop, word) in enumerate(likeness.words)
        if word not in FUNCTION and not any(a < stop and start < b for a, b in taken)
    ]
    if not places:
        return WordRows((), np.zeros((0, len(OF_WORD)), np.float32), np.zeros((0, 384), np.float32))
    words = [likeness.words[place] for place in places]
    relations = sorted({relation_of(step) for step in steps_of(query)} | _ends(query))
    types = types_said(ranker.vocabulary, query)
    near = likeness.relations[places], likeness.types[places]
    own = [(False, r) for r in relations] + [(True, t) for t in types]
    view = view_of(text, mentions, names_used(query))
    others = _others(*near, set(own))
    states, heard, of_world = ranker.hear(view, [(start, stop) for start, stop, _ in words], own, others)
    of_labels = _of_labels(likeness, places, relations, types, heard)
    by_step = np.maximum(near[0][:, relations], heard[:, : len(relations)])
    phrases = _Phrases(text, words, taken, of_labels)
    senses = _Senses([word for _, _, word in words], *_texts_of(ranker.vocabulary, own, others))
    of_query, all_types = _of_query(query, len(words), len(taken)), math.log1p(len(ranker.vocabulary.types))
    rows = np.zeros((len(words), len(OF_WORD)), np.float32)
    for row, (start, _, word) in enumerate(words):
        features = of_query | {name: column[row] for name, column in of_labels.items()}
        said = np.delete(by_step, row, 0).max(0, initial=0.0)  # by the other words, [steps]
        features |= _room(by_step, row, said) | _of_word(word, ranker.ranker.common_words)
        features |= phrases.of(row) | {"capital": start > 0 and text[start].isupper()}
        features |= dict(zip(OF_WORLD, of_world[row], strict=True)) | {"types": all_types}
        features |= senses.of(row, said)
        rows[row] = [features[name] for name in OF_WORD]
    return WordRows(tuple(places), rows, states)


def _of_labels(
    likeness: Likeness, places: Sequence[int], relations: Sequence[int], types: Sequence[int], heard: Float32
) -> dict[str, Float32]:
    """How like words are to the labels of a query and to others, by the lexicon and by the encoder."""
    to_relations, to_types = likeness.relations[places], likeness.types[places]
    exact = likeness.exact_relations[places], likeness.exact_types[places]
    like_relation, like_type = (
        table[:, labels].max(1, initial=0) for table, labels in ((to_relations, relations), (to_types, types))
    )
    like = np.maximum(like_relation, like_type)
    best = np.maximum(to_relations.max(1, initial=0), to_types.max(1, initial=0))
    count = len(relations) + len(types)
    own, other = heard[:, :count].max(1, initial=-1), heard[:, count:]
    odds = np.exp((heard - heard.max(1, initial=-1)[:, None]) / SHARPNESS)
    return {
        "like_relation": like_relation,
        "like_type": like_type,
        "exact": np.maximum(exact[0][:, relations].max(1, initial=0), exact[1][:, types].max(1, initial=0)),
        "other_relation": to_relations.max(1, initial=0),
        "other_type": to_types.max(1, initial=0),
        "other_exact": np.maximum(exact[0].max(1, initial=0), exact[1].max(1, initial=0)),
        "heard_relation": heard[:, : len(relations)].max(1, initial=-1),
        "heard_type": heard[:, len(relations) : count].max(1, initial=-1),
        "heard_other": other.max(1, initial=-1),
        "heard_share": odds[:, :count].sum(1) / np.maximum(odds.sum(1), 1e-6),
        "heard_rank": np.minimum(10, (other > own[:, None]).sum(1)),
        "best_elsewhere": best - like,
        "like": like,
    }


def _room(by_step: Float32, row: int, said: Float32) -> dict[str, float]:
    """How far the step that other words say least is left unsaid, and how like it a word is.

    `said`: how far other words say each step, float32 [steps].
    """
    if not len(said):
        return {"room": 0.0, "room_filled": 0.0}
    return {"room": float((1 - said).max(initial=0.0)), "room_filled": float(by_step[row, said.argmin()])}


def _texts_of(
    vocabulary: Vocabulary, own: Sequence[tuple[bool, int]], others: Sequence[tuple[bool, int]]
) -> tuple[list[str], list[str]]:
    """The labels of relations (false) and types (true)."""
    tables = vocabulary.relations, vocabulary.types
    return [tables[of_type][i] for of_type, i in own], [tables[of_type][i] for of_type, i in others]


class _Senses:
    """What the thesaurus says of words beside labels of a query and others."""

    def __init__(self, words: Sequence[str], own: Sequence[str], others: Sequence[str]) -> None:
        thesaurus = shipped_thesaurus()
        self.words = [thesaurus.concepts(words, at) for at in range(len(words))]
        self.own = [thesaurus.label_concepts(label) for label in own]
        self.others = [thesaurus.label_concepts(label) for label in others]

    def of(self, row: int, said: Float32) -> dict[str, float]:
        """Of one word; `said` as in `_room`."""
        concepts = self.words[row]
        return {
            "sense_own": any(concepts & label for label in self.own),
            "sense_room": len(said) > 0 and bool(concepts & self.own[int(said.argmin())]),
            "sense_other": any(concepts & label for label in self.others),
            "sense_known": bool(concepts),
            "sense_labels": sum(map(bool, self.own)) / max(1, len(self.own)),
            "senses": len(concepts),
        }


def _of_query(query: Query, words: int, names: int) -> dict[str, float]:
    parts = query.contents.parts
    return {
        "steps": len(steps_of(query)),
        "words": words,
        "only_word": words == 1,
        "names": names,
        "lists": query.ask == "list",
        "counts": query.ask == "count",
        "asks_yes": query.ask == "yes",
        "operated": any(isinstance(p, Compared | Counted | Extreme) for p in parts),
        "valued": any(isinstance(p, Compared | Either | Without) for p in parts),
        "all_of_type": not names and any(isinstance(p, OfType) for p in parts),
    }


def _of_word(word: str, common: Mapping[str, int]) -> dict[str, float]:
    """What word it is: how frequent, of which classes, and whether it says little by itself."""
    lexicon = Lexicon.load()
    classes = lexicon.classes(word)
    return {name: classes.get(of, 0.0) for name, of in _CLASSES.items()} | {
        "frequency": math.log1p(common.get(word, RARE)),
        "known": lexicon.known(word),
        "verb": lexicon.mostly_verb(word) + lexicon.verb(word),
        "noun": bool(classes),
        "agent": bool(lexicon.agent(word)),
        "light": word in LIGHT,
        "talk": word in TALK,
        "anyone": word in ANYONE,
        "idle": word in NARROWS_NOTHING,
        "operator": _OPERATOR.fullmatch(word) is not None,
        "digits": any(c.isdigit() for c in word),
        "length": len(word),
    }


def _ends(query: Query) -> set[End]:
    return {relation_of(p.end) for p in query.contents.parts if isinstance(p, OfType) and p.type < 0}


def _others(relations: Float32, types: Float32, own: set[tuple[bool, int]]) -> list[tuple[bool, int]]:
    """The labels that are most like some word and are none of a query."""
    ranked = [(float(s), (False, i)) for i, s in enumerate(relations.max(0))]
    ranked += [(float(s), (True, i)) for i, s in enumerate(types.max(0))]
    ranked.sort(key=lambda r: (-r[0], r[1]))
    return sorted([label for _, label in ranked if label not in own][:MOST_OTHERS])


class _Phrases:
    """Where the words of one text stand: in which phrase, opened by what, and beside which names."""

    def __init__(
        self,
        text: str,
        words: Sequence[tuple[int, int, str]],
        taken: Sequence[tuple[int, int]],
        of_labels: Mapping[str, Float32],
    ) -> None:
        self.text, self.words, self.taken = text, words, taken
        self.like, self.share = of_labels["like"], of_labels["heard_share"]
        boundaries = [(m.start(), m[0].lower()) for m in _BOUNDARY.finditer(text)]
        self.openers = [
            max(((at, word) for at, word in boundaries if at < start), default=(-1, ""))
            for start, _, _ in words
        ]

    def of(self, row: int) -> dict[str, float]:
        """Where a word stands."""
        text, (start, stop, _), (phrase, opener) = self.text, self.words[row], self.openers[row]
        before = text[:start]
        mates = [i for i, (place, _) in enumerate(self.openers) if place == phrase]
        first, last = self.words[mates[0]][0] - BESIDE, self.words[mates[-1]][1] + BESIDE
        return {name: opener in openers for name, openers in _OPENERS.items()} | {
            "from_end": len(self.words) - 1 - row,
            "from_start": row,
            "behind_names": bool(self.taken) and start >= max(b for _, b in self.taken),
            "before_names": bool(self.taken) and stop <= min(a for a, _ in self.taken),
            "beside_name_left": any(text[b:start] in (" ", "-") for _, b in self.taken),
            "beside_name_right": any(text[stop:a] in (" ", "-") for a, _ in self.taken),
            "asked_for": _ASKS.search(before) is not None,
            "behind_article": _ARTICLE.search(before) is not None,
            "behind_the": _THE.search(before) is not None,
            "phrase_words": len(mates),
            "phrase_best": max(max(self.like[i], self.share[i]) for i in mates),
            "phrase_mean": float(np.mean([self.like[i] for i in mates])),
            "phrase_name": any(first <= a <= last for a, _ in self.taken),
            "phrase_last": phrase == self.openers[-1][0],
            "before_like": self._like_of(row - 1, row),
            "after_like": self._like_of(row + 1, row),
        }

    def _like_of(self, other: int, row: int) -> float:
        """How like a label the word right beside another is; -1 where none stands there."""
        if not 0 <= other < len(self.words):
            return -1.0
        first, last = sorted((other, row))
        between = self.text[self.words[first][1] : self.words[last][0]]
        return -1.0 if between.strip() else float(self.like[other])
