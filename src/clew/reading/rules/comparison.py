"""The words of one question compared with one graph, and laid out around its mentions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clew.reading.rules.alignment import Sides, Weights
from clew.reading.rules.english import FORMER, WH_CLASSES
from clew.reading.rules.focus import CONTENT, is_plain
from clew.reading.rules.question import Question, Word
from clew.reading.rules.similarity import WordTable
from clew.reading.rules.vocabulary import SAME, Vocabulary, class_fit, same_label

Float = NDArray[np.float64]

COMPOUND = 0.3
"""Weight of the first of two nouns that are asked for together (*what film genre*; not of *horror films*)."""
TELLING = 0.5
"""Unless it is so similar to a relation (*which national team*)."""
LITTLE = 0.3
"""Weight of *type* in *type of religion*, and of *space* in *space agency*."""
PAST = 0.6
"""What is left of a word's similarity with a relation that holds no longer (`former_club`)."""
ITSELF = 0.8
"""Similarity from which a verb and a relation's name are forms of one word."""
AWAY = 0.3
"""What is left of a verb's similarity with a step away from who does it, where that is asked for."""
PREPOSITIONS = frozenset("by of in with from for to on at".split())
OF = 0.6
"""Cost of a word to the right of *the daughter of X* before *daughter*."""
VALUE, OWN = 0.3, 0.9
"""What is left of a value's similarity with its relation; similarity of a word with its own forms."""
NAME = 0.5
"""How far a word that is written like a name may still be an ordinary word."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters [start, stop) of the question."""

    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Comparison:
    """The words of a question that count, with their similarities to a graph.

    `words` [W]; `weight` [W]: cost of each left unexplained; `cover` [W, S]: how far each step explains the
    word; `step` [W, S]: how far the word is evidence for the step; `node` [W, S]: how well it names the type
    of the node at which the step arrives, `kind` [W, S]: of the nodes that have the end; `relation` [W, R]:
    similarity with each relation; `fits` [W, S]: whether the word's class allows arriving there.
    """

    question: Question
    words: tuple[Word, ...]
    weight: Float
    cover: Float
    step: Float
    node: Float
    kind: Float
    relation: Float
    fits: Float
    vocabulary: Vocabulary
    weights: Weights

    def sides(
        self,
        left: Sequence[int],
        right: Sequence[int],
        mention: Span,
        ends: Sequence[int],
        *,
        chain: bool = True,
    ) -> Sides:
        """Lay out the words `left` and `right` of a mention (nearest first) whose node has the `ends`.

        The chain of genitives right of a mention binds before anything to its left (*the wife of X's son*).
        """
        bound = self._genitive_chain(right, mention.stop) if chain else []
        left, right = [*bound, *left], [w for w in right if w not in bound]
        order = [*left, *right]
        apart, genitive = self._apart(left, right, mention)
        step, cover = self.step[order], self.cover[order]
        if genitive.any():
            base = self.weights.genitive * self.fits[order]
            step = np.where(genitive[:, None], np.maximum(step, base), step)
            cover = np.where(genitive[:, None], np.maximum(cover, base), cover)
        anchor = np.zeros(len(order))
        for row, word in enumerate(order):
            if not len(ends):
                break
            if row == 0 and self.words[word].stop <= mention.start:
                near = not self._between(self.words[word].stop, mention.start)
                anchor[row] = self.kind[word, list(ends)].max() * (1.0 if near else self.weights.told_apart)
            if self._describes(self.words[word], mention):
                anchor[row] = self.kind[word, list(ends)].max()
        share = np.array([float(self.words[w].share > 0) for w in order])
        asked = sum(self.words[w].share for w in order) * self.weights.word * self.weights.one_way
        return Sides(
            len(left),
            self.weight[order],
            share,
            float(asked),
            self._cross(left, mention),
            apart,
            cover,
            step,
            self.node[order],
            anchor,
        )

    def without(self, used: frozenset[int]) -> Comparison:
        """The same with the words that start at `used` for free: an operator explains them."""
        free = np.array([w.start in used for w in self.words], bool)
        return replace(self, weight=np.where(free, 0.0, self.weight))

    def with_values(self, values: Mapping[int, Sequence[int]]) -> Comparison:
        """The same where some words, by the character at which they start, are values of relations.

        A word that is one of the values (*easy*) does not ask for all of them (`difficulty`), unless it is
        the relation's name.
        """
        step, cover, relation = self.step.copy(), self.cover.copy(), self.relation.copy()
        for row, word in enumerate(self.words):
            for r in values.get(word.start, ()):
                if (
                    self.vocabulary.lexicon.similarity(word.norm, self.vocabulary.relation_words[r][-1])
                    >= OWN
                ):
                    continue
                step[row, 2 * r] *= VALUE
                cover[row, 2 * r] *= VALUE
                relation[row, r] *= VALUE
        return replace(self, step=step, cover=cover, relation=relation)

    def _between(self, start: int, stop: int) -> list[str]:
        return [w.norm for w in self.question.words if w.start >= start and w.stop <= stop]

    def _describes(self, word: Word, mention: Span) -> bool:
        """Whether a word says what the mention before it is: *the Seafood category*."""
        before = [w.norm for w in self.question.words if w.stop <= mention.start]
        right_after = word.start >= mention.stop and not self._between(mention.stop, word.start)
        return right_after and before[-1:] == ["the"]

    def _cross(self, left: Sequence[int], mention: Span) -> float:
        """Cost of a word to the right of the mention before one to its left."""
        if not self._binds_left(mention):
            return 0.0
        noun = self.words[left[0]] if left else None
        owned = noun is not None and self._between(noun.stop, mention.start) in (["of"], ["of", "the"])
        after = [w for w in self.question.words if w.start >= mention.stop][:2]
        if len(after) == 2 and all(w.weight >= CONTENT for w in after):
            return self.weights.cross  # *of X starred films*: films, not X
        return max(self.weights.cross, OF) if owned else self.weights.cross

    def _binds_left(self, mention: Span) -> bool:
        """Whether a preposition ties the mention to the words on its left: *directed by X*, *of film X*."""
        before = [w for w in self.question.words if w.stop <= mention.start][-3:]
        for at, word in enumerate(reversed(before)):
            if word.norm in PREPOSITIONS:
                return True
            if word.norm not in ("the", "a", "an") and (at > 0 or word.weight < 0.9):
                return False
        return False

    def _genitive_chain(self, right: Sequence[int], stop: int) -> list[int]:
        """Words of *X's A's B of …* right of the mention: up to the noun after the last genitive."""
        chain: list[int] = []
        at, last = stop, None
        for word in right:
            gap = self._between(at, self.words[word].start)
            if "'s" in gap:
                last = len(chain)
            elif last is None or (gap and gap != ["of"]):
                break
            chain.append(word)
            at = self.words[word].stop
        return chain[: last + 1] if last is not None else []

    def _apart(
        self, left: Sequence[int], right: Sequence[int], mention: Span
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """For each word: does a genitive part it from the word before; is it in a genitive at all."""
        order = [*left, *right]
        apart, genitive = np.zeros(len(order), bool), np.zeros(len(order), bool)
        for row, index in enumerate(order):
            word = self.words[index]
            before = None if row in (0, len(left)) else self.words[order[row - 1]]
            if before is not None and before.doubled and before.start == word.start:
                apart[row] = genitive[row] = genitive[row - 1] = True
                continue
            if word.weight < 0.5:
                continue
            near = (
                mention
                if before is None or (before.start >= mention.stop) != (word.start >= mention.stop)
                else before
            )
            low, high = (word.stop, near.start) if word.stop <= near.start else (near.stop, word.start)
            links = {"'s"} if word.start >= mention.stop else {"of", "'s"}
            if not links & set(self._between(low, high)):
                continue
            genitive[row] = True
            if before is not None:
                genitive[row - 1] = True
                apart[row] = word.norm == before.norm or not same_label(
                    self.vocabulary, before.norm, word.norm
                )
        return apart, genitive


def compare(question: Question, table: WordTable, weights: Weights) -> Comparison:
    """Compare the words that count (content words and *who*, *where*, *when*) with the graph."""
    vocabulary = table.vocabulary
    words = _counting(question)
    ends = 2 * len(vocabulary.relation_words)
    if not words:
        none = np.zeros((0, ends))
        relation = np.zeros((0, ends // 2))
        return Comparison(
            question, (), np.zeros(0), none, none, none, none, relation, none, vocabulary, weights
        )
    found = table.compare([w.norm for w in words])
    step, cover, kind = found.arrive.copy(), found.cover.copy(), found.type.copy()
    arrived = np.arange(ends) ^ 1
    node = kind[:, arrived].copy()
    telling = found.relation.max(axis=1) >= TELLING
    question = _without_kinds(question, words, telling)
    words = _counting(question)
    weight = np.array([_weight(question, w, weights, bool(t)) for w, t in zip(words, telling, strict=True)])
    weight *= weights.word
    relation = found.relation
    if vocabulary.past.any() and not any(w.norm in FORMER for w in words):
        fading = np.where(vocabulary.past, PAST, 1.0)
        relation = relation * fading
        step, cover = step * np.repeat(fading, 2), cover * np.repeat(fading, 2)
    for row, word in enumerate(words):
        if is_asked(question, word):
            step[row] *= found.turned[row]
            cover[row] *= found.turned[row]
        if _acts_itself(question, word) and vocabulary.lexicon.agent(word.norm):
            acted = _towards_agents(vocabulary, word.norm)
            step[row] *= acted
            cover[row] *= acted
            node[row] = kind[row] = 0.0
        if word.capital:
            step[row] *= NAME
            cover[row] *= NAME
            node[row] *= NAME
        if word.norm in WH_CLASSES:
            likely = class_fit(vocabulary.classes, WH_CLASSES[word.norm])[arrived]
            step[row] = cover[row] = weights.wh_step * likely
            node[row] = likely
    weight *= np.array([LITTLE if w.norm in vocabulary.domains else 1.0 for w in words])
    for row in _modifying(question, words, vocabulary):
        weight[row] *= LITTLE
        node[row], kind[row] = np.maximum(node[row], node[row + 1]), np.maximum(kind[row], kind[row + 1])
    return Comparison(
        question, words, weight, cover, step, node, kind, relation, found.fits, vocabulary, weights
    )


def _modifying(question: Question, words: Sequence[Word], vocabulary: Vocabulary) -> list[int]:
    """The words that stand before the noun of a type's name and are in the name (*space agency*)."""
    found: list[int] = []
    for row, (word, noun) in enumerate(pairwise(words)):
        names = [vocabulary.type_words[t] for t in vocabulary.types_named(noun.norm)]
        names = [name[:-1] for name in names if len(name) > 1]
        together = question.text[word.stop : noun.start] == " "
        if together and any(vocabulary.near(word.norm, said) >= SAME for name in names for said in name):
            found.append(row)
    return found


def _counting(question: Question) -> tuple[Word, ...]:
    return tuple(w for w in question.words if w.weight > 0 or w.norm in WH_CLASSES)


def _without_kinds(question: Question, words: Sequence[Word], telling: NDArray[np.bool_]) -> Question:
    """*What type of religion*: where the noun names a relation, the word *type* says little."""
    named = {w for w, t in zip(words, telling, strict=True) if t}
    spoken = question.words
    idle = {
        kind
        for kind, of, noun in zip(spoken, spoken[1:], spoken[2:], strict=False)
        if kind.norm == "kind" and of.norm == "of" and noun in named
    }
    return replace(question, words=tuple(replace(w, weight=LITTLE) if w in idle else w for w in spoken))


def _weight(question: Question, word: Word, weights: Weights, telling: bool) -> float:
    if word.norm in WH_CLASSES:
        return weights.wh
    if word.share:
        return 0.3 * word.share
    at = question.words.index(word)
    if (
        not telling
        and is_plain(word)
        and at + 1 < len(question.words)
        and is_asked(question, question.words[at + 1])
        and is_plain(question.words[at + 1])
    ):
        return COMPOUND
    return word.weight * (weights.asked if is_asked(question, word) else 1.0)


def _acts_itself(question: Question, word: Word) -> bool:
    """Whether it is the verb right after *who* (*who plays …*)."""
    at = question.words.index(word)
    return at == 1 and question.words[0].norm == "who"


def _towards_agents(vocabulary: Vocabulary, verb: str) -> Float:
    """[S]: what is left of a verb's similarity with a step, where who does it is asked for.

    A step that leads on from who does it cannot arrive there. Of relations that the verb itself names: who
    *works* for X is not who `employs` X.
    """
    left = np.ones(2 * len(vocabulary.labels))
    similar = vocabulary.lexicon.similarity
    for relation, words in enumerate(vocabulary.labels):
        if max((similar(verb, w) for w in words), default=0.0) < ITSELF:
            continue
        if vocabulary.active[relation]:
            left[2 * relation] = AWAY
        elif words and words[-1] == "by":
            left[2 * relation + 1] = AWAY
    return left


def is_asked(question: Question, word: Word) -> bool:
    """Whether it is the noun that says what is asked for (`Question.asked`)."""
    return word.start in question.asked
