"""What superlatives tell against a ranking: the longest is no date, the oldest the earliest of them.

The fastest has the most speed or the least time, the longest-serving began first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from clew.foundation.arrays import Float32
from clew.query.tree import Extreme
from clew.query.vocabulary import DATE, Vocabulary
from clew.reading.candidates import Option
from clew.reading.odds import IGNORED, TURNED, UNSAID
from clew.text.inflection import singular_noun

_SMALLEST = (
    "shortest|smallest|lowest|lightest|cheapest|narrowest|thinnest|softest|shallowest|slimmest|coldest"
    "|quietest|briefest|fewest|least expensive"
)
_SIZES = re.compile(
    rf"\b({_SMALLEST}|longest|largest|biggest|greatest|tallest|highest|heaviest|widest|deepest|fastest"
    r"|slowest|dearest|most expensive)\b(?![-\s](?:serving|running|standing|lived))",
    re.I,
)
"""Superlatives of a size, which no date has."""
_LEAST = re.compile(
    rf"\b(?:{_SMALLEST}|(?:shorter|smaller|lower|lighter|cheaper|narrower|less|fewer)(?!\s+than))\b", re.I
)
"""Superlatives of the smallest number, whatever it is of."""
_AGES = frozenset("age ages old year years".split())
_ENDS_OF_TIME = re.compile(
    r"\b(?:(?P<early>oldest|earliest|eldest|(?:older|elder|earlier)(?!\s+than))"
    r"|(?P<late>youngest|newest|latest|most recent(?:ly)?|(?:younger|newer|later|more recent)(?!\s+than)))\b",
    re.I,
)
"""Ends of time; *older* of two is the oldest."""
_LONGEST_SINCE = re.compile(
    r"\b(?:longest|shortest)[-\s](?:serving|running|standing|established|lasting|employed)\b"
    r"|\bbeen\b[^?]*\b(?:longest|shortest)\b",
    re.I,
)
"""What has been something for the longest began first."""
_OLDEST = re.compile(r"\b(?:oldest|eldest|youngest|newest)\b", re.I)
"""Ends of time that no time of the day has."""
_LATER = frozenset(
    "last latest inspected inspection serviced service checked check reviewed updated due expires expiry end"
    " ended closed sold died death renewed renewal".split()
)
"""Words of labels of what comes later in a life: by none of these is anything the oldest or the newest."""
_JOINED = frozenset(
    "joined join joining hired hire appointed admitted enrolled registered signed since".split()
)
"""And of what makes one the newest, and not the youngest."""
_NEW = re.compile(r"\bnewest\b", re.I)
_FASTEST = re.compile(r"\b(?:(?P<fast>fastest|quickest|swiftest)|slowest)\b", re.I)
_SPEEDS = frozenset("speed speeds velocity pace rate kmh kph mph knots kn mbps gbps".split())
_TIMES = frozenset("time times duration second seconds minute minutes min mins hour hours ms laptime".split())
"""Words of labels by which the fastest has the most, and the least."""
_COMMONEST = re.compile(
    r"\bmost\s+(?:common|frequent|popular|widespread|used|often)\b|\b(?:commonest|most\s+of)\b", re.I
)


_LARGEST = re.compile(rf"{_SIZES.pattern}\s+(?P<noun>\w+)", re.I)
"""What a superlative of a size is said of."""
_COUNTS = re.compile(r"\b(?:most|fewest|least|many|number|count)\b", re.I)
"""Words of a ranking by how many; *the largest grant* is ranked by a value."""


class Superlatives:
    """The superlatives of one question."""

    def __init__(self, vocabulary: Vocabulary, question: str) -> None:
        self.vocabulary = vocabulary
        since, fastest = _LONGEST_SINCE.search(question), _FASTEST.search(question)
        self.since = None if since is None else "shortest" in since[0].lower()
        self.sizes = bool(_SIZES.search(question)) and since is None
        larger_sizes = [m for m in _SIZES.finditer(question) if not _LEAST.fullmatch(m[0])]
        self.least = bool(_LEAST.search(question)) and since is None and not larger_sizes
        self.ends_of_time = tuple({bool(m["late"]) for m in _ENDS_OF_TIME.finditer(question)})
        self.oldest = bool(_OLDEST.search(question))
        self.later = _LATER if _NEW.search(question) else _LATER | _JOINED
        self.fastest = None if fastest is None else bool(fastest["fast"])
        self.commonest = bool(_COMMONEST.search(question))
        self.largest = {singular_noun(m["noun"].lower()) for m in _LARGEST.finditer(question)}
        self.counts = bool(_COUNTS.search(question))

    def against(self, part: Extreme) -> float:
        """The logarithm of what is left of the odds of a ranking by a value, or by a count."""
        if part.counted:
            if not self.sizes or self.counts:
                return 0.0
            return math.log(IGNORED if self._is_what_is_largest(part.steps[-1]) else UNSAID)
        end, label = part.steps[-1] ^ 1, self.vocabulary.relations[part.steps[-1] // 2].split()
        log_odds = math.log(UNSAID) if self.commonest else 0.0
        if self.fastest is not None:
            most, least = not _SPEEDS.isdisjoint(label), not _TIMES.isdisjoint(label)
            log_odds += math.log(TURNED) if most != least and (part.largest == self.fastest) != most else 0.0
        if self.oldest and self._is_of_the_clock(end):
            return log_odds + math.log(IGNORED)
        if self.oldest and self.since is None and not self.later.isdisjoint(label):
            log_odds += math.log(UNSAID)
        if self._is_of_time(end):
            log_odds += math.log(TURNED) if self.since == (not part.largest) else 0.0
            log_odds += math.log(UNSAID) if self.sizes else 0.0
            log_odds += math.log(TURNED) if self.ends_of_time == (not part.largest,) else 0.0
        elif self.least and part.largest:
            log_odds += math.log(TURNED)
        elif self.ends_of_time and _AGES.isdisjoint(label):
            log_odds += math.log(UNSAID)
        elif self.ends_of_time == (part.largest,):
            log_odds += math.log(TURNED)  # the oldest is of the largest age
        return log_odds

    def put_right(self, options: Sequence[Option], scores: Float32) -> None:
        """Give the score of the wrong end to the right one, where a word tells which (*the older of two*).

        `scores` float32 [n + 1] are changed.
        """
        places = {option.query: i for i, option in enumerate(options)}
        for i, option in enumerate(options):
            part = option.query.part
            if not isinstance(part, Extreme):
                continue
            turned = replace(part, largest=not part.largest)
            twin = places.get(replace(option.query, part=turned))
            if twin is not None and self.against(turned) < self.against(part) and scores[twin] > scores[i]:
                scores[i], scores[twin] = scores[twin], scores[i]

    def _is_what_is_largest(self, step: int) -> bool:
        """Whether a step leads to what a superlative is said of: *the largest grant* counts no grants."""
        type_ = int(self.vocabulary.end_types[step ^ 1])
        labels = [
            self.vocabulary.relations[step // 2],
            *([self.vocabulary.types[type_]] if type_ >= 0 else []),
        ]
        return any(singular_noun(word) in self.largest for label in labels for word in label.split())

    def _is_of_time(self, end: int) -> bool:
        """Whether the values of an end are dates or years."""
        return self.vocabulary.ends[end] == DATE or bool(self.vocabulary.schema.years[end])

    def _is_of_the_clock(self, end: int) -> bool:
        """Whether the values of an end are times of the day."""
        return self.vocabulary.ends[end] == DATE and self.vocabulary.schema.high[end] < 1
