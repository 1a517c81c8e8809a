"""The numbers and dates of a claim, read as those of questions are, each with how it is compared.

*89 minutes*, *1.8 million*, *minus six*, *June 11th, 1929*, *before 2005*, *between 90 and 120*. What is
claims' own: a number holds for values that round to it as it is written (211 for 210.922).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from clew.query.tree import Sign, Value
from clew.query.values import Written, in_unit_of, values_of, written_in
from clew.reading.comparisons import sign_beside
from clew.reading.mentions import Mention

_BETWEEN = re.compile(r"\bbetween $", re.IGNORECASE)
_TIMED = re.compile(
    r"\b(?:in|during|since|before|after|until|throughout)(?: the)?(?: years?)? $", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ClaimedValue:
    """What is written at the characters [start, stop): all that it may stand for, and the comparison.

    `half` of a unit of its last digit; `timed`: a word before it says that it is a year.
    """

    start: int
    stop: int
    values: tuple[Value, ...]
    sign: Sign
    half: float = 0.0
    timed: bool = False

    @property
    def count(self) -> int | None:
        """The number of things that it may be; None where it is no whole number, or in some unit."""
        numbers = [v for v in self.values if not v.date and not v.width and not v.unit]
        return int(numbers[0].number) if numbers and numbers[0].number.is_integer() else None

    def in_unit_of(self, label: str, mention: int) -> Iterator[Value]:
        """What the values of a relation are compared with, in the unit that its name says."""
        for value in self.values:
            plain = replace(in_unit_of(label, value), mention=mention)
            if value.date or value.width or self.sign not in ("=", "!=") or not value.number:
                yield plain
                continue
            half = self.half * min(1.0, abs(plain.number / value.number))
            yield replace(plain, number=plain.number - half, width=2 * half)


def find_values(text: str) -> list[ClaimedValue]:
    """The numbers and dates of a claim, in order; no two overlap."""
    # *One of them*, *once*: no number is claimed.
    written = [w for w in written_in(text) if not (w.spelt and w.number == 1)]
    found: list[ClaimedValue] = []
    for value, following in zip(written, [*written[1:], None], strict=False):
        if found and value.start < found[-1].stop:
            continue
        is_between = following is not None and _BETWEEN.search(text, 0, value.start)
        if is_between and following and text[value.stop : following.start].strip().lower() == "and":
            found.append(ClaimedValue(value.start, following.stop, _between(value, following), "="))
            continue
        values = (*values_of(value), *(Value(float(d), date=True) for d in [value.or_day] if d is not None))
        span = Mention(value.start, value.stop, text[value.start : value.stop], values=values)
        timed = value.days is not None and _TIMED.search(text, 0, value.start) is not None
        sign = sign_beside(text, span) or "="
        found.append(ClaimedValue(value.start, value.stop, values, sign, value.unit / 2, timed))
    return found


def _between(first: Written, second: Written) -> tuple[Value, ...]:
    """All from one value to another, as numbers and as dates."""
    ends = {value.date: value for value in values_of(second) if not value.yearly}
    return tuple(
        replace(low, width=high.number + high.width - low.number, unit=high.unit)
        for low in values_of(first)
        if (high := ends.get(low.date)) is not None and not low.yearly and high.number >= low.number
    )
