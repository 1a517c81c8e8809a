"""Words of a question that are no words, read as those that were meant: *driected*, *wich*, *dob*.

Names are not touched: `mention_finder.py` finds what is misspelt in them. Of questions over schemas
that nothing was trained on 62 % were answered right where a word was misspelt, else 84 % of the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

from clew.reading.english import FUNCTION
from clew.reading.mentions import Mention
from clew.text.normalise import tokens

SHORTEST, LONGER = 4, 8
"""Letters of a word that may be misspelt, and of one that may be so twice."""
WORD_ENDINGS = ("s", "es", "ed", "ing", "er", "ers")
OF_GRAPH = 0.75
"""What a word of the graph is nearer than another, in edits."""
SLIP_OF_GRAPH = 1 - OF_GRAPH
"""What is made of words may be at most so far from what was meant: *assesed* is not of *asses*."""
OTHER_START = 0.5
"""What a word that begins with another letter is farther."""
OTHER_LETTER = 0.1
"""What a word with another letter in the place of one is farther than one with a letter more or fewer, or two
that change places: *wich* is *which*, and not *with*."""

Respelt = tuple[tuple[str, str], ...]
"""Words that were written otherwise than they were meant: (written, meant)."""


def spelling_notes(respelt: Respelt) -> tuple[str, ...]:
    """The notes on words that were written otherwise."""
    return tuple(f'"{written}" is read as "{meant}"' for written, meant in respelt)


@dataclass(frozen=True, eq=False)
class Speller:
    """Finds what was meant by words that are none.

    `common_words` gives words and names of English texts, the more frequent the lower their number, and is
    asked for them when some word is none; `of_graph` are those of the graph's relations and types, and
    `short_forms` what is short for some.
    """

    common_words: Callable[[], Mapping[str, int]]
    of_graph: frozenset[str]
    is_word: Callable[[str], bool]
    short_forms: Mapping[str, str] = field(default_factory=dict[str, str])

    def respelt(self, text: str, mentions: Sequence[Mention]) -> tuple[str, Respelt]:
        """A text with its words as they were meant, and which were written otherwise."""
        changes: list[tuple[str, str]] = []
        for token in reversed(tokens(text)):
            is_in_name = any(m.start < token.stop and token.start < m.stop for m in mentions if m.candidates)
            is_name = token.start > 0 and token.text[:1].isupper()
            if is_in_name or not token.text.isascii() or not token.text.isalpha():
                continue
            meant = None if self.is_word(token.norm) else self.short_forms.get(token.norm)
            if meant is None and not is_name:
                meant = self._meant(token.norm)
            if meant is not None:
                changes.append((token.text, meant))
                text = text[: token.start] + meant + text[token.stop :]
        return text, tuple(reversed(changes))

    def _meant(self, word: str) -> str | None:
        """The word that was most likely meant, None where it is one itself or none is near."""
        if len(word) < SHORTEST or self.is_word(word) or word in self._common:
            return None
        dearest = SLIP_OF_GRAPH if self._is_made(word) else inf
        from rapidfuzz.distance import OSA

        most = 2 if len(word) >= LONGER else 1
        ranked: list[tuple[float, int, str]] = []
        for length in range(len(word) - most, len(word) + most + 1):
            for candidate, rank in self._by_length.get(length, ()):
                edits = OSA.distance(word, candidate, score_cutoff=most)
                if edits <= most and self.is_word(candidate):
                    cost = (
                        edits
                        - OF_GRAPH * (candidate in self.of_graph)
                        + OTHER_START * (candidate[0] != word[0])
                    )
                    cost += OTHER_LETTER * (length == len(word) and sorted(candidate) != sorted(word))
                    ranked.append((cost, rank, candidate))
        best = min(ranked, default=None)
        return best[2] if best is not None and best[0] <= dearest else None

    def _is_made(self, word: str) -> bool:
        """Whether a word is made of others, as *keywords* and *funder* are."""
        for ending in WORD_ENDINGS:
            stem = word.removesuffix(ending)
            joined = stem[-1:] + ending[0] != "ee"  # of *line* there is no *linees*
            if (
                len(stem) >= SHORTEST
                and stem != word
                and joined
                and (self.is_word(stem) or stem in self._common)
            ):
                return True
        cuts = range(SHORTEST - 1, len(word) - SHORTEST + 1)
        return any(self.is_word(word[:at]) and self.is_word(word[at:]) for at in cuts)

    @cached_property
    def _common(self) -> Mapping[str, int]:
        return self.common_words()

    @cached_property
    def _by_length(self) -> dict[int, list[tuple[str, int]]]:
        """What may be meant, if it is a word, with how rare it is, by its length."""
        words_by_length: dict[int, list[tuple[str, int]]] = {}
        inflected = {word + ending for word in self.of_graph for ending in WORD_ENDINGS}
        for word in sorted({*self._common, *self.of_graph, *inflected, *FUNCTION}):
            if len(word) >= SHORTEST - 1 and word.isascii() and word.isalpha():
                words_by_length.setdefault(len(word), []).append((word, self._common.get(word, 0)))
        return words_by_length
