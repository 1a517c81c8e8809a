"""What a piece of a claim may mean, and how surely its words say so.

The ranker tells which of the graph's relations is likeliest meant, also where none is: of *Emma Thomas sued
Christopher Nolan* it finds that they are married. So the words must say the relation of a meaning: by a word
that is like its name, or by being like it, taken together, to the ranker's encoder.

Nor may the verb give its subject another part than the relation does. *Ann teaches at Marrow* is no *Ann,
educated at, Marrow*, however near the two verbs are: who teaches is who educates, and the relation is of who
is educated. *Ann runs Acme* is no *Ann, works at, Acme*: what is run is no place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clew.claims.claim_values import ClaimedValue
from clew.query.tree import Sign
from clew.query.vocabulary import DATE
from clew.reading.english import LIGHT
from clew.reading.likeness import content_share
from clew.reading.mentions import Mention
from clew.reading.paths import Exploration
from clew.reading.reader import QuestionReader
from clew.text.lexicon import Lexicon

MeaningKind = Literal["path", "value", "count", "compare", "more", "type", "exists"]
UNSAID, HINTED, SAID = range(3)
"""How surely the words of a piece say a meaning."""
STATED, EXPLAINED = 0.7, 0.45
"""Likeness by spelling of a word that is the name of a relation; likeness of one that a relation says."""
LEAST_OF_STATED = 0.7
"""Share of the likeness with the relation that it is the name of, from which a word may say another."""
SAYS, HINTS, NEARLY_SAID = 0.32, 0.2, 0.35
"""Likeness, to the ranker's encoder, of words with a relation that they say, and of those that hint at it;
likeness of a word beside which a hint is enough. Set on claims about the development graphs: of a thousand
with a verb that the graph lacks ten are as like as the first, of those that paraphrase most are."""
TIMED = frozenset("before after later earlier sooner recent".split())
"""Words that compare times and nothing else."""

GOING = frozenset(("go", "goes"))
"""Light verbs that in a claim say a relation of their own: who goes to Oslo need not be born there."""
SAME_AGENT = 0.5
"""Likeness of two nouns for who does something, from which they are of one kind: *teacher*, *educator*."""
_PREPOSITIONS = frozenset("at by for from in into of on over to under with within".split())
_PASSIVE = frozenset("am is are was were be been being get gets got gotten".split())
_AGENT = ("er", "or")


@dataclass(frozen=True, slots=True)
class ClaimMeaning:
    """What a piece may mean: `steps` from one node to another, to a value, to a number of nodes, or to any.

    `kind` type: `steps` is the one declared type. `sign` is of comparisons.
    """

    kind: MeaningKind
    node: int
    steps: tuple[int, ...]
    other_node: int = -1
    value: ClaimedValue | None = None
    sign: Sign = "="

    @property
    def relation_steps(self) -> tuple[int, ...]:
        """The steps by relations, which a type has none of."""
        return () if self.kind == "type" else self.steps

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for the meanings that say the same of other things."""
        return self.kind, self.steps, self.sign


class Wording:
    """The words of one piece outside of its items, beside what they may mean."""

    def __init__(self, reader: QuestionReader, exploration: Exploration, mentions: Sequence[Mention]) -> None:
        self.reader, self.like, self.vocabulary, self._exploration = (
            reader,
            exploration.likeness,
            exploration.vocabulary,
            exploration,
        )
        outside = content_share(self.like, [(m.start, m.stop) for m in mentions])
        self.rows = [i for i, is_outside in enumerate(outside.tolist()) if is_outside]
        self.content_rows = [i for i in self.rows if self._word(i) not in LIGHT]
        """Those that may name a relation."""
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def _word(self, row: int) -> str:
        return self.like.words[row][2]

    def states_more(self, meaning: ClaimMeaning) -> bool:
        """Whether a word is the name of a relation of which the meaning says nothing."""
        if meaning.kind == "type":
            return False
        like, types = self.like, self._types(meaning)
        for row in self.content_rows:
            meaning_likeness = float(like.relations[row, [s // 2 for s in meaning.steps]].max())
            meaning_likeness = max(meaning_likeness, float(like.types[row, types].max()) if types else 0.0)
            exact_likeness = float(like.exact_relations[row].max(initial=0.0))
            if exact_likeness >= STATED and meaning_likeness < max(
                EXPLAINED, LEAST_OF_STATED * exact_likeness
            ):
                return True
        return False

    def likeness(self, meaning: ClaimMeaning) -> float:
        """How like some word is to what a meaning says; 1 where there are no words."""
        like, rows = self.like, self.content_rows
        if not rows:
            return 1.0
        if meaning.kind == "type":
            return float(like.exact_types[rows, meaning.steps[0]].min())
        ends = self.vocabulary.end_types
        best = [like.relations[rows, s // 2].max() for s in meaning.steps]
        best += [like.types[rows, t].max() for s in meaning.steps if (t := ends[s ^ 1]) >= 0]
        return float(max(best))

    def word_support(self, meaning: ClaimMeaning) -> int:
        """How surely the words say every step of a meaning: `SAID`, `HINTED` or `UNSAID`."""
        if meaning.kind == "type":
            return SAID
        types = self._types(meaning)
        timed = meaning.kind == "compare" and self.vocabulary.ends[meaning.steps[0] ^ 1] == DATE
        # What names the sort of an end says no relation, nor does that something was before.
        rows = [
            i
            for i in self.rows
            if not (timed and self._word(i) in TIMED)
            and not (types and float(self.like.exact_types[i, types].max()) >= STATED)
        ]
        words = [self._word(i) for i in rows]
        heavy = [word for word in words if word not in LIGHT or word in GOING]
        if not heavy:
            return SAID
        if self._is_of_another_part(meaning, rows):
            return UNSAID
        texts = {" ".join(words), " ".join(heavy), *(words if len(meaning.steps) > 1 else ())}
        supports = [self._step_support(rows, texts, s // 2) for s in meaning.steps]
        # *A film by X stars Y* has no word for the first of its two steps.
        return min(supports) if len(words) > 1 else max(supports)

    def _is_of_another_part(self, meaning: ClaimMeaning, rows: Sequence[int]) -> bool:
        """Whether the verb between two things gives the first another part than the relation does."""
        if meaning.kind != "path" or len(meaning.steps) != 1 or meaning.steps[0] % 2:
            return False
        relation = meaning.steps[0] // 2
        verbs = [row for row in rows if self._word(row) not in LIGHT]
        return any(
            _is_of_agent(self._exploration, row, relation)
            or (
                self.like.relations[row, relation] < EXPLAINED
                and _is_of_object(self._exploration, row, relation)
            )
            for row in verbs
        )

    def _step_support(self, rows: Sequence[int], texts: set[str], relation: int) -> int:
        """How surely words, or some of the texts that they make, say one relation."""
        word_likeness = float(self.like.relations[rows, relation].max())
        if word_likeness >= EXPLAINED:
            return SAID
        for text in texts - self._vectors.keys():
            self._vectors[text] = self.reader.vector(text)
        text_likeness = max(self.reader.likeness(self._vectors[text], relation) for text in texts)
        if text_likeness >= SAYS or (text_likeness >= HINTS and word_likeness >= NEARLY_SAID):
            return SAID
        return HINTED if text_likeness >= HINTS else UNSAID

    def _types(self, meaning: ClaimMeaning) -> list[int]:
        """The types of the ends of the steps of a meaning."""
        ends = self.vocabulary.end_types
        return [t for s in meaning.steps for t in (ends[s], ends[s ^ 1]) if t >= 0]


def _is_of_agent(exploration: Exploration, row: int, relation: int) -> bool:
    """Whether an active verb is of who does what a relation says was done to its head (*educated at*)."""
    label = exploration.vocabulary.relations[relation].split()
    lexicon = Lexicon.load()
    if len(label) < 2 or label[-1] not in _PREPOSITIONS or not _is_participle(lexicon, label[0]):
        return False
    start, _, word = exploration.likeness.words[row]
    if (
        not lexicon.verb(word)
        or word == label[0]
        or _PASSIVE & set(exploration.question[:start].lower().split()[-2:])
    ):
        return False
    agents = [noun for noun in lexicon.agent(label[0]) if noun.endswith(_AGENT)]
    return any(
        lexicon.similarity(one, other) >= SAME_AGENT for one in lexicon.agent(word) for other in agents
    )


def _is_of_object(exploration: Exploration, row: int, relation: int) -> bool:
    """Whether a verb has an object right behind it, where a relation has a preposition (*works at*)."""
    label = exploration.vocabulary.relations[relation].split()
    lexicon = Lexicon.load()
    if len(label) < 2 or label[-1] not in _PREPOSITIONS or not lexicon.verb(label[0]):
        return False
    _, stop, word = exploration.likeness.words[row]
    right_behind = any(m.start == stop + 1 for m in exploration.mentions)
    return right_behind and lexicon.verb(word) and not _is_participle(lexicon, label[0])


def _is_participle(lexicon: Lexicon, word: str) -> bool:
    """Whether a word is a form of a verb for what was done: *educated*, *born*, *held*."""
    return lexicon.verb(word) and lexicon.lemmas(word)[0] != word and not word.endswith(("s", "ing"))
