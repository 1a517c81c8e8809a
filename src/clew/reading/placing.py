"""How likely a content word of a text is carried by a query graph: features of each word, and trees over them.

`model/placing.npz` keeps the trees; `scripts/train_reader/train_placing.py` fits them on questions with their
right query graphs, and on the same with conditions that no part of these graphs carries.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from clew.foundation.arrays import Float32
from clew.query.tree import Compared, Counted, Either, Extreme, OfType, Query, Without, steps_of
from clew.reading.english import ANYONE, FUNCTION, LIGHT, NARROWS_NOTHING
from clew.reading.framing import TALK
from clew.reading.likeness import Likeness, types_said
from clew.reading.mentions import Mention
from clew.reading.ranker import GraphRanker
from clew.reading.tokens import names_used, view_of
from clew.reading.trees import Trees, shipped_trees
from clew.text.lexicon import Lexicon

OF_WORD = (
    "like_relation", "like_type", "exact", "other_relation", "other_type", "other_exact",
    "heard_relation", "heard_type", "heard_other", "heard_share", "heard_rank",
    "room", "room_filled", "steps", "words", "names",
    "frequency", "known", "verb", "noun", "agent", "time", "place", "person", "quantity", "attribute", "act",
    "light", "talk", "anyone", "idle", "operator", "lists", "counts", "asks_yes",
    "operated", "valued", "all_of_type",
    "from_end", "from_start", "behind_names", "before_names", "beside_name_left", "beside_name_right", "capital",
    "asked_for", "behind_article", "behind_the", "digits", "length",
    "phrase_words", "phrase_best", "phrase_mean", "phrase_name", "phrase_last", "relative", "with", "at", "for",
    "of", "by", "while", "before_like", "after_like", "best_elsewhere", "only_word",
)  # fmt: skip
"""Of a content word: how like it is to labels of the query and to others, by the lexicon and by the encoder; what
steps of the query other words leave unsaid; what word it is; where it stands, and in what phrase."""
PLACED = (*OF_WORD, "heard")
MOST_OTHERS = 60
"""Labels beside those of a query with which a word is compared by the encoder."""
SHARPNESS = 0.05
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
_CLASSES = ("time", "location", "person", "quantity", "attribute", "act")


@dataclass(frozen=True, eq=False)
class WordRows:
    """The content words of a text outside of some names: their places, and what is known of each.

    `places` are among `Likeness.words`; `rows` float32 [n, OF_WORD]; `states` float32 [n, 384] by the encoder.
    """

    places: tuple[int, ...]
    rows: Float32
    states: Float32


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
def shipped_placing() -> Placing:
    """The trees of the package, read once a process. Raises EmbedderError."""
    trees = shipped_trees("placing.npz", PLACED)
    return Placing(trees, trees.others["weights"], float(trees.others["bias"]), float(trees.others["cut"]))


def word_rows(
    ranker: GraphRanker, text: str, mentions: Sequence[Mention], likeness: Likeness, query: Query,
    taken: Sequence[tuple[int, int]],
) -> WordRows:  # fmt: skip
    """What is known of the content words of a text outside of the spans `taken`, if it is read as a query."""
    outside = [
        place
        for place, (start, stop, word) in enumerate(likeness.words)
        if word not in FUNCTION and not any(a < stop and start < b for a, b in taken)
    ]
    if not outside:
        return WordRows((), np.zeros((0, len(OF_WORD)), np.float32), np.zeros((0, 384), np.float32))
    vocabulary = ranker.vocabulary
    relations = sorted({step // 2 for step in steps_of(query)} | _ends(query))
    types = types_said(vocabulary, query)
    like_relations, like_types = likeness.relations[outside], likeness.types[outside]
    exact = np.concatenate([likeness.exact_relations, likeness.exact_types], axis=1)[outside]
    like = np.maximum(like_relations[:, relations].max(1, initial=0), like_types[:, types].max(1, initial=0))
    own_exact = np.maximum(
        likeness.exact_relations[outside][:, relations].max(1, initial=0),
        likeness.exact_types[outside][:, types].max(1, initial=0),
    )
    best = np.maximum(like_relations.max(1, initial=0), like_types.max(1, initial=0))
    own = [(False, r) for r in relations] + [(True, t) for t in types]
    others = _others(like_relations, like_types, set(own))
    states, heard = ranker.hear(
        view_of(text, mentions, names_used(query)), [likeness.words[i][:2] for i in outside], [*own, *others]
    )
    own_heard, other_heard = heard[:, : len(own)], heard[:, len(own) :]
    odds = np.exp((heard - heard.max(1, keepdims=True)) / SHARPNESS) if heard.shape[1] else heard
    share = (
        odds[:, : len(own)].sum(1) / np.maximum(odds.sum(1), 1e-6)
        if heard.shape[1]
        else np.zeros(len(outside))
    )
    by_step = np.maximum(like_relations[:, relations], own_heard[:, : len(relations)])
    parts = query.contents.parts
    phrases = _phrases(text, likeness, outside)
    rows = np.zeros((len(outside), len(OF_WORD)), np.float32)
    last_name = max((b for _, b in taken), default=-1)
    first_name = min((a for a, _ in taken), default=-1)
    common = ranker.common_words
    lexicon = Lexicon.load()
    single = dict(
        steps=len(steps_of(query)), words=len(outside), names=len(taken), lists=query.ask == "list",
        counts=query.ask == "count", asks_yes=query.ask == "yes",
        operated=any(isinstance(p, Compared | Counted | Extreme) for p in parts),
        valued=any(isinstance(p, Compared | Either | Without) for p in parts),
        all_of_type=any(isinstance(p, OfType) for p in parts) and not taken,
    )  # fmt: skip
    for row, place in enumerate(outside):
        start, stop, word = likeness.words[place]
        before = text[:start]
        phrase, opener = phrases[row]
        mates = [i for i, (p, _) in enumerate(phrases) if p == phrase]
        rest = [i for i in range(len(outside)) if i != row]
        said_by_rest = by_step[rest].max(0, initial=0.0) if relations else np.zeros(0)
        room = float((1 - said_by_rest).max(initial=0.0))
        fills = float(by_step[row, int(said_by_rest.argmin())]) if relations else 0.0
        classes = lexicon.classes(word)
        phrase_stop = max(likeness.words[outside[i]][1] for i in mates)
        phrase_start = min(likeness.words[outside[i]][0] for i in mates)
        named = dict(
            single, like_relation=like_relations[row, relations].max(initial=0),
            like_type=like_types[row, types].max(initial=0), exact=own_exact[row],
            other_relation=like_relations[row].max(initial=0), other_type=like_types[row].max(initial=0),
            other_exact=exact[row].max(initial=0),
            heard_relation=own_heard[row, : len(relations)].max(initial=-1),
            heard_type=own_heard[row, len(relations) :].max(initial=-1),
            heard_other=other_heard[row].max(initial=-1), heard_share=share[row],
            heard_rank=min(10, int((other_heard[row] > own_heard[row].max(initial=-1)).sum())),
            room=room, room_filled=fills,
            frequency=math.log1p(common.get(word, 40_000)), known=lexicon.known(word),
            verb=lexicon.mostly_verb(word) + lexicon.verb(word), noun=bool(classes), agent=bool(lexicon.agent(word)),
            **dict(zip(("time", "place", "person", "quantity", "attribute", "act"), (classes.get(c, 0.0) for c in _CLASSES), strict=True)),
            light=word in LIGHT, talk=word in TALK, anyone=word in ANYONE, idle=word in NARROWS_NOTHING,
            operator=_OPERATOR.fullmatch(word) is not None,
            from_end=sum(1 for p in outside if p > place), from_start=row,
            behind_names=last_name >= 0 and start >= last_name, before_names=first_name >= 0 and stop <= first_name,
            beside_name_left=any(text[b:start] in (" ", "-") for _, b in taken),
            beside_name_right=any(text[stop:a] in (" ", "-") for a, _ in taken),
            capital=text[start].isupper() and start > 0, asked_for=_ASKS.search(before) is not None,
            behind_article=_ARTICLE.search(before) is not None, behind_the=_THE.search(before) is not None,
            digits=any(c.isdigit() for c in word), length=len(word), phrase_words=len(mates),
            phrase_best=max(max(like[i], share[i]) for i in mates), phrase_mean=float(np.mean([like[i] for i in mates])),
            phrase_name=any(phrase_start - 8 <= a <= phrase_stop + 8 for a, _ in taken),
            phrase_last=phrase == phrases[-1][0],
            relative=opener in ("that", "which", "who", "whose", "where", "whom"), **{"with": opener in ("with", "without")},
            at=opener in ("in", "on", "at", "near", "under", "over"), **{"for": opener == "for"}, of=opener == "of",
            by=opener == "by", **{"while": opener in ("while", "during", "when", "if", "because", "before", "after")},
            before_like=like[row - 1] if row and text[likeness.words[outside[row - 1]][1] : start].strip() == "" else -1,
            after_like=like[row + 1] if row + 1 < len(outside) and text[stop : likeness.words[outside[row + 1]][0]].strip() == "" else -1,
            best_elsewhere=float(best[row] - like[row]), only_word=len(outside) == 1,
        )  # fmt: skip
        rows[row] = [named[name] for name in OF_WORD]
    return WordRows(tuple(outside), rows, states)


def _ends(query: Query) -> set[int]:
    return {p.end // 2 for p in query.contents.parts if isinstance(p, OfType) and p.type < 0}


def _others(relations: Float32, types: Float32, own: set[tuple[bool, int]]) -> list[tuple[bool, int]]:
    """The labels that are most like some word and are none of a query."""
    ranked = [(float(s), (False, i)) for i, s in enumerate(relations.max(0))]
    ranked += [(float(s), (True, i)) for i, s in enumerate(types.max(0))]
    ranked.sort(key=lambda r: (-r[0], r[1]))
    return sorted([label for _, label in ranked if label not in own][:MOST_OTHERS])


def _phrases(text: str, likeness: Likeness, outside: Sequence[int]) -> list[tuple[int, str]]:
    """The phrase of each word: the place where it begins, and the word that opens it."""
    boundaries = [(m.start(), m[0].lower()) for m in _BOUNDARY.finditer(text)]
    phrases: list[tuple[int, str]] = []
    for place in outside:
        start = likeness.words[place][0]
        phrases.append(max(((at, word) for at, word in boundaries if at < start), default=(-1, "")))
    return phrases
