"""What the places of the values of a question tell: *between 2 and 5*, *over 5 m or under 2*, *1 of Block 1*.

Of two values and two attributes the first value belongs to the attribute that is said first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from clew.reading.likeness import Likeness
from clew.reading.mentions import PARTIAL, Mention
from clew.reading.query import Compared, Counted, Part, Query, Sign, Value, parts_of
from clew.reading.vocabulary import UNEXPLAINED

CROSSED, ONE_IS_ENOUGH, OF_A_NAME = 0.05, 0.05, 0.2
"""What is left of the odds of a candidate that gives each of two values to the attribute of the other, asks
for both where *or* stands between them, or takes a number of a name for a value. Set by what it means."""
_BETWEEN = re.compile(r"\bbetween\s+(?:the\s+)?[$£€]?$", re.I)
_FROM = re.compile(r"\bfrom\s+(?:the\s+)?[$£€]?$", re.I)
_AND = re.compile(r"[^,;?]{0,12}\s*(?:and|to|[-–])\s*(?:the\s+)?[$£€]?", re.I)
_TO = re.compile(r"[^,;?]{0,12}\s*(?:to|until|till|through|[-–])\s*(?:the\s+)?[$£€]?", re.I)
_OR = re.compile(r"\bor\b", re.I)
_AND_TOO = re.compile(r"\b(?:and|but)\b|[;?]", re.I)


class ValuePairs:
    """The values of one question by their places."""

    def __init__(self, question: str, mentions: Sequence[Mention], likeness: Likeness) -> None:
        self.mentions, self.likeness = mentions, likeness
        valued = sorted((m.start, m.stop, i) for i, m in enumerate(mentions) if m.values)
        self._is_valued = bool(valued)
        self.bounds: dict[int, Sign] = {}
        """The comparisons that *between* and *from … to* make with two values."""
        self._either: set[frozenset[int]] = set()
        for (start, stop, i), (after, _, j) in pairwise(valued):
            between, before = question[stop : max(stop, after)], question[:start]
            ranged = (_BETWEEN, _AND), (_FROM, _TO)
            if any(first.search(before) and then.fullmatch(between) for first, then in ranged):
                self.bounds |= {i: ">=", j: "<="}
            if _OR.search(between) and not _AND_TOO.search(between):
                self._either.add(frozenset((i, j)))
        names = [m for m in mentions if any(c.how < PARTIAL for c in m.candidates)]
        self._of_names = {
            i for start, stop, i in valued if any(m.start < start and stop <= m.stop for m in names)
        }

    def against(self, query: Query) -> float:
        """The logarithm of what is left of the odds of a candidate."""
        if not self._is_valued:
            return 0.0
        uses = [use for part in query.contents.parts if (use := _use(part)) is not None]
        told = sum(math.log(OF_A_NAME) for mention, _ in uses if mention in self._of_names)
        if len(uses) > 1:
            told += sum(math.log(CROSSED) for _ in self._crossed(uses))
            told += sum(math.log(ONE_IS_ENOUGH) for pair in _nested(query.part) if pair in self._either)
        return told

    def _crossed(self, uses: Sequence[tuple[int, int]]) -> Iterator[None]:
        """Once for each two values whose attributes are said in the other order."""
        placed = [(self.mentions[i].start, self._place(relation)) for i, relation in uses]
        for at, (value, word) in enumerate(placed):
            for other, other_word in placed[at + 1 :]:
                apart = min(word, other_word) >= 0 and word != other_word
                if apart and (value < other) != (word < other_word):
                    yield None

    def _place(self, relation: int) -> int:
        """Where the word stands that says a relation best, -1 where none does."""
        said = self.likeness.relations[:, relation]
        best = int(said.argmax()) if len(said) else -1
        return self.likeness.words[best][0] if best >= 0 and said[best] >= UNEXPLAINED else -1


def _use(part: Part) -> tuple[int, int] | None:
    """The mention of a value, and the relation that it is compared by."""
    match part:
        case Compared(_, steps, _, Value(_, _, _, mention, _)) if mention >= 0:
            return mention, steps[-1] // 2
        case Counted(_, step, _, _, mention) if mention >= 0:
            return mention, step // 2
        case _:
            return None


def _nested(part: Part) -> Iterator[frozenset[int]]:
    """The mentions of each two values that the same members must meet."""
    for outer in parts_of(part):
        inner = outer
        while isinstance(inner, Compared | Counted):
            inner = inner.source
            one, other = _use(outer), _use(inner)
            if one is not None and other is not None:
                yield frozenset((one[0], other[0]))
