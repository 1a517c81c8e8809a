"""How sure it is that a question means one of its likeliest readings: trees over what is known of each.

The ranker tells many candidates apart, each by itself. Of the few likeliest answers more is known: how far
each is before the others, which words of the question have no place in it, how many things it is, what sort
of question is asked. `scripts/train_reader/train_certainty.py` fits the trees on questions of people over
graphs that the ranker was not trained on, on the same without the relations that some of them ask for, and
on neighbours of them that nothing in their graphs answers; `model/certainty.npz` keeps them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clew.foundation.arrays import Float32
from clew.graph.steps import relation_of
from clew.query.execute import Executor
from clew.query.tree import Query, mentions_of, steps_of
from clew.query.vocabulary import UNEXPLAINED, Vocabulary
from clew.reading.account import OF_ACCOUNT, Account
from clew.reading.answer import LEAST_MERGED, Meaning, meanings_of
from clew.reading.denial import denials
from clew.reading.english import (
    COUNT,
    EXTREME,
    FUNCTION,
    LIGHT,
    NEGATION,
    PREPOSITIONS,
    THAN,
    YES_NO,
)
from clew.reading.fitted import OF_CANDIDATES, shipped_trees
from clew.reading.likeness import content_share, types_said
from clew.reading.mentions import spans_of
from clew.reading.reader import QuestionReader, Reading

OF_SHARES = ("share", "none", "lead", "place", "best_share", "candidates")
"""Log odds of a meaning and of none; how far it is before the others; its place; the odds of the first."""
OF_SCORES = ("head", "head_gap", "head_none", "signs")
"""The head's score, less its best, less that of none; what the signs added to the odds against none."""
OF_WORDS = (
    "words", "said_least", "said_mean", "said_most", "step_least", "step_mean", "unsaid", "said_elsewhere",
)  # fmt: skip
"""Content words outside of the names: how like they are to labels of the meaning, and to other labels."""
OF_QUESTION = (
    "length", "asks_who", "asks_when_where", "asks_what", "asks_yes_no", "asks_count", "asks_extreme",
    "asks_not", "asks_than", "asks_several",
)  # fmt: skip
OF_ANSWER = ("open_names", "answers")
"""Names of the question that the meaning leaves out; the logarithm of how many things answer it."""
OF_ACCOUNTS = (*OF_ACCOUNT, *(f"{name}_from_best" for name in OF_ACCOUNT))
_MORE_IS_BETTER = np.array([name != "unplaced" for name in OF_ACCOUNT])
OF_MEANING = (*OF_SHARES, *OF_SCORES, *OF_WORDS, *OF_QUESTION, *OF_ANSWER, *OF_ACCOUNTS, *OF_CANDIDATES)
AGAINST = 1.5
"""What signs tell so much more against than against the likeliest meaning does not come before it: *1980* of
*the 1980s*. Of 10,405 questions, their graphs held out, no such meaning that did was as sure as 0.5."""
DENIED = 1.5
"""How much better the odds are of a meaning that leaves out what the question does, every word placed: of 56
such questions over graphs of strangers that were as sure as 0.5, 54 were read right."""
GOES_ON = 3.0
"""How much better the odds are of a meaning that goes on from a set, where the question does. Of 440
follow-ups over graphs of strangers 307 were answered right with 3, 301 where only shares among what goes on
counted; of 182 that were written for other graphs, where most have no answer, 49 and 42 were answered."""
RIVAL = 0.05
"""Share of a meaning, beside that of the likeliest, from which it may be what was meant."""
LEAST_SHARE, MOST_SIGNS = 1e-5, 20.0
"""Shares below, and what signs say beyond, count no further."""
_WHO = re.compile(r"\W*who(?:m|se)?\b", re.I)
_WHEN_WHERE = re.compile(r"\W*(?:when|where)\b", re.I)
_WHAT = re.compile(r"\W*(?:what|which|how)\b", re.I)
_SEVERAL = re.compile(r"\b(?:are|were|have|all|list|do|every)\b|\b(?:which|what|how many|any)\s+\w+s\b", re.I)
"""What tells that several things are asked for."""
_IDLE = LIGHT | FUNCTION | PREPOSITIONS


Around = Callable[[Query], Query | None]
"""What is put around the query of a text: that of the last question."""


@dataclass(frozen=True, slots=True)
class LikelyReading:
    """A question as it was read: the surest query, where it has one, and how likely it is what was asked."""

    reading: Reading
    query: Query | None = None
    account: Account | None = None
    """What each word of the question is in the query."""
    likelihood: float = 0.0
    empty: Meaning | None = None
    """The likeliest meaning, where nothing answers it: it is not sure, but that nothing is there is told."""


def likely_reading(
    reader: QuestionReader,
    reading: Reading,
    least: float = 0.0,
    *,
    partial: bool = False,
    around: Around | None = None,
    may_be_empty: bool = False,
) -> LikelyReading:
    """The surest of what a question may mean.

    `least` as for an account; `partial`: words without a place do not make a meaning less sure.
    `may_be_empty`: nor does it that nothing is found, if no likely meaning finds anything. With
    `around` a meaning that goes on from the last question is surer, and others are likely only if sure.
    Raises EmbedderError if the shipped model cannot be opened.
    """
    meanings = meanings_of(Executor(reader.graph), reader.vocabulary, reading)
    if not meanings:
        return LikelyReading(reading)
    if may_be_empty and not any(m.size for m in meanings if m.share >= RIVAL * meanings[0].share):
        meanings = [replace(m, size=max(m.size, 1)) for m in meanings]
    meanings, accounts = accounted(reader, reading, meanings, least)
    told = [account.without_open_words() for account in accounts] if partial else accounts
    certainties = certainties_of(reader.vocabulary, reading, meanings, told)
    if around is not None:
        certainties = _going_on(reader, meanings, certainties, around)
    best, empty = int(certainties.argmax()), None if meanings[0].size else meanings[0]
    likelihood, query = float(certainties[best]), meanings[best].query
    if denials(reader.vocabulary, query) and not accounts[best].open_words:
        likelihood = DENIED * likelihood / (1 + (DENIED - 1) * likelihood)
    return LikelyReading(reading, query, accounts[best], likelihood, empty)


def _going_on(
    reader: QuestionReader, meanings: Sequence[Meaning], certainties: Float32, around: Around
) -> Float32:
    """Certainties where a question is known to go on from a set: of what does, and finds something there."""
    executor = Executor(reader.graph)
    kept = np.array([
        (query := around(meaning.query)) is not None
        and (query.ask == "yes" or len(executor.members(query.part)) > 0)
        for meaning in meanings
    ])  # fmt: skip
    if not kept.any():
        return certainties
    left = max(1.0 - float(certainties[~kept].sum()), LEAST_SHARE)
    odds = GOES_ON * certainties / np.maximum(left - certainties, LEAST_SHARE)
    return np.where(kept, odds / (1 + odds), certainties).astype(np.float32)


def accounted(
    reader: QuestionReader, reading: Reading, meanings: Sequence[Meaning], least: float = 0.0
) -> tuple[list[Meaning], list[Account]]:
    """Meanings with their accounts, each by that of its queries which leaves the fewest words open.

    `least` as for an account. Raises EmbedderError if the shipped model cannot be opened.
    """
    chosen: list[Meaning] = []
    accounts: list[Account] = []
    for meaning in meanings:
        account = reader.account(reading, meaning.query, least)
        for query in meaning.others if account.open_words else ():
            other = reader.account(reading, query, least)
            if other.open_words < account.open_words:
                meaning, account = replace(meaning, query=query), other
        chosen.append(meaning)
        accounts.append(account)
    return chosen, accounts


def certainties_of(
    vocabulary: Vocabulary, reading: Reading, meanings: Sequence[Meaning], accounts: Sequence[Account]
) -> Float32:
    """How sure it is of each of the likeliest meanings of a question that it is what was asked, float32 [n].

    `accounts`: those of the words of the question in each. Raises EmbedderError if the shipped trees cannot
    be read.
    """
    rows = rows_of(vocabulary, reading, meanings, accounts)
    sure = shipped_trees("certainty.npz", OF_MEANING).of(rows)
    signs = rows[:, OF_MEANING.index("signs")]
    return np.where(signs < signs[0] - AGAINST, 0, sure).astype(np.float32)


def rows_of(
    vocabulary: Vocabulary, reading: Reading, meanings: Sequence[Meaning], accounts: Sequence[Account]
) -> Float32:
    """What is known of the likeliest meanings of a question, float32 [n, OF_MEANING]."""
    question_features = _question_features(reading.question)
    rows: list[tuple[float, ...]] = []
    for place, meaning in enumerate(meanings):
        spans = spans_of(reading.mentions, mentions_of(meaning.query))
        word_features = _word_features(vocabulary, reading, meaning.query, spans)
        open_names = sum(m.strong and bool(m.candidates) and not m.touches(spans) for m in reading.mentions)
        answer_features = open_names, math.log1p(max(meaning.size, 0))
        shares = _share_features(reading, meanings, place)
        rows.append(
            (
                *shares,
                *_score_features(reading, meaning),
                *word_features,
                *question_features,
                *answer_features,
            )
        )
    candidate_features = reading.ranking.scored.known[[m.ranked.row for m in meanings]]
    groups = np.array(rows, np.float32), account_features(accounts), candidate_features
    return np.concatenate(groups, axis=1)


def account_features(accounts: Sequence[Account]) -> Float32:
    """`OF_ACCOUNTS`: what the accounts of meanings tell, and how far each is from the best of the others."""
    features = np.array([account.features() for account in accounts], np.float32)
    gaps = np.zeros_like(features)
    for row in range(len(features)) if len(features) > 1 else ():
        others = np.delete(features, row, 0)
        gaps[row] = features[row] - np.where(_MORE_IS_BETTER, others.max(0), others.min(0))
    return np.concatenate([features, gaps], axis=1)


def _share_features(reading: Reading, meanings: Sequence[Meaning], place: int) -> tuple[float, ...]:
    shares = [m.share for m in meanings]
    meaning_share, best_other = (
        shares[place],
        max((s for i, s in enumerate(shares) if i != place), default=0.0),
    )
    lead = math.log((meaning_share + LEAST_MERGED) / (best_other + LEAST_MERGED))
    odds, count = (
        (_odds(s) for s in (meaning_share, reading.ranking.none, max(shares))),
        len(reading.ranking.ranked),
    )
    share, none, best = odds
    return share, none, lead, place, best, math.log(count)


def _odds(share: float) -> float:
    share = min(max(share, LEAST_SHARE), 1 - LEAST_SHARE)
    return math.log(share / (1 - share))


def _score_features(reading: Reading, meaning: Meaning) -> tuple[float, ...]:
    scored, row = reading.ranking.scored, meaning.ranked.row
    head, before, after = scored.head, scored.calibrated, scored.scores
    signs = float((after[row] - after[-1]) - (before[row] - before[-1]))
    gaps = head[row] - head[:-1].max(), head[row] - head[-1]
    return head[row], *gaps, max(-MOST_SIGNS, min(MOST_SIGNS, signs))


def _word_features(
    vocabulary: Vocabulary, reading: Reading, query: Query, spans: Sequence[tuple[int, int]]
) -> tuple[float, ...]:
    like, outside = reading.likeness, content_share(reading.likeness, spans)
    words = [i for i, (_, _, word) in enumerate(like.words) if outside[i] and word not in _IDLE]
    if not words:
        return (0, 1, 1, 1, 1, 1, 0, 0)
    steps = sorted({relation_of(step) for step in steps_of(query)})
    types = types_said(vocabulary, query)
    by_step = like.relations[np.ix_(words, steps)].max(1, initial=0.0)
    word_likeness = np.maximum(by_step, like.types[np.ix_(words, types)].max(1, initial=0.0))
    best = np.maximum(like.relations[words].max(1, initial=0.0), like.types[words].max(1, initial=0.0))
    unsaid, elsewhere = float((word_likeness < UNEXPLAINED).sum()), float((best - word_likeness).max())
    summary = word_likeness.min(), word_likeness.mean(), word_likeness.max()
    return len(words), *summary, by_step.min(), by_step.mean(), unsaid, elsewhere


def _question_features(text: str) -> tuple[float, ...]:
    asks = [bool(p.match(text)) for p in (_WHO, _WHEN_WHERE, _WHAT)]
    holds = [bool(p.search(text)) for p in (YES_NO, COUNT, EXTREME, NEGATION, THAN, _SEVERAL)]
    return (len(text.split()), *asks, *holds)
