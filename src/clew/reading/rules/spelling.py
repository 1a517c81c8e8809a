"""Misspelt words of a question that are those of a graph's relations and types: *overuled* → overruled."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from clew.reading.rules.question import Question, Word
from clew.reading.rules.vocabulary import Vocabulary

LEAST, LONG = 5, 7
"""Letters of the shortest word that is mended, and from which on it may have two wrong ones."""


def mended(question: Question, vocabulary: Vocabulary, taken: Collection[int]) -> Question:
    """The question with unknown words in the spelling of the graph; not those that start at `taken`."""
    words = tuple(w if w.start in taken else _mended(w, vocabulary) for w in question.words)
    return question if words == question.words else replace(question, words=words)


def _mended(word: Word, vocabulary: Vocabulary) -> Word:
    if len(word.norm) < LEAST or not word.norm.isalpha() or word.capital or not word.weight:
        return word
    lexicon = vocabulary.lexicon
    if lexicon.known(word.norm) or word.norm in vocabulary.word_index:
        return word
    from rapidfuzz.distance import OSA

    stem, best = lexicon.stem(word.norm), (LEAST, "")
    for other in vocabulary.spoken:
        if len(other) < LEAST:
            continue
        edits = min(OSA.distance(word.norm, other), OSA.distance(stem, lexicon.stem(other)))
        best = min(best, (edits, other))
    return replace(word, norm=best[1]) if best[0] <= 1 + (len(word.norm) >= LONG) else word
