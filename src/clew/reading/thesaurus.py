"""A thesaurus of what databases record: which words say the same attribute, relation or kind of thing.

*Cost*, *fee* and *expensive* stand on the line of `price`; *nationality* and `qualification` stand on no line
together, so one does not mean the other, however near their vectors are. `model/thesaurus.txt.gz` was written
by a language model that had seen neither questions nor graphs: a line a concept, its words separated by
commas.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import combinations
from pathlib import Path

from clew.errors import EmbedderError
from clew.reading.english import FUNCTION, LIGHT
from clew.text.lexicon import Lexicon

FILE = Path(__file__).with_name("model") / "thesaurus.txt.gz"
NEAR = 2
"""Content words beside a word with which it may make a phrase: *place of birth*."""
LONGEST = 3
"""Content words of a phrase."""


class Thesaurus:
    """Concepts by the words that say them."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Read lines of words and phrases, separated by commas."""
        self._words: dict[str, set[int]] = {}
        self._phrases: dict[frozenset[str], set[int]] = {}
        for concept, line in enumerate(lines):
            for entry in line.split(","):
                words = frozenset(w for w in entry.lower().split() if w not in FUNCTION)
                if len(words) == 1 and not words <= LIGHT:
                    for base in _bases(*words):
                        self._words.setdefault(base, set()).add(concept)
                elif 1 < len(words) <= LONGEST:
                    self._phrases.setdefault(words, set()).add(concept)
        self._begin = {word for phrase in self._phrases for word in phrase}
        self.label_concepts = lru_cache(1 << 14)(self._label_concepts)

    def _label_concepts(self, label: str) -> frozenset[int]:
        """The concepts that the words of a label say."""
        words = [word for word in label.lower().split() if word not in FUNCTION]
        return frozenset().union(*(self.concepts(words, at) for at in range(len(words))))

    def concepts(self, words: Sequence[str], at: int) -> frozenset[int]:
        """The concepts that one of some words says: with words beside it, or else by itself."""
        bases = _bases(words[at])
        near = [word for i, word in enumerate(words) if 0 < abs(i - at) <= NEAR]
        if self._begin & bases and near:
            of_phrases = self._of_phrases(bases, [_bases(word) for word in near])
            if of_phrases:
                return frozenset(of_phrases)
        return frozenset().union(*(self._words.get(base, ()) for base in bases))

    def _of_phrases(self, bases: frozenset[str], near: Sequence[frozenset[str]]) -> set[int]:
        concepts: set[int] = set()
        mates = sorted({word for others in near for word in others} & self._begin)
        for base in bases & self._begin:
            for size in range(1, LONGEST):
                for others in combinations(mates, size):
                    concepts |= self._phrases.get(frozenset((base, *others)), set())
        return concepts


@lru_cache(1 << 14)
def _bases(word: str) -> frozenset[str]:
    """A word and its base forms."""
    word = word.lower()
    return frozenset((word, *Lexicon.load().lemmas(word)))


@cache
def shipped_thesaurus() -> Thesaurus:
    """The thesaurus of the package, read once a process. Raises EmbedderError."""
    return Thesaurus(thesaurus_lines())


def thesaurus_lines() -> list[str]:
    """The concepts of the package, a line each, as `Thesaurus` reads them. Raises EmbedderError."""
    try:
        text = gzip.decompress(FILE.read_bytes()).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise EmbedderError(f"thesaurus.txt.gz of the package is missing or damaged: {error}") from error
    return text.splitlines()
