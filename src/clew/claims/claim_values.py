"""Numbers and dates that a claim names, as ranges that a value of the graph may lie in.

*89 minutes*, *1.8 million*, *minus six*, *June 11th, 1929*, *before 2005*, *between 90 and 120*. A number
holds for values that round to it as it is written (211 for 210.922), a year or month for every date in it.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clew.graph.graph import ValueKind
from clew.graph.units import counted_in, factor_to, unit_behind
from clew.graph.values import month_days
from clew.query.values import Written, written_in
from clew.reading.comparisons import COMPARATORS

_BETWEEN = re.compile(r"\bbetween $", re.IGNORECASE)
_TIMED = re.compile(
    r"\b(?:in|during|since|before|after|until|throughout)(?: the)?(?: years?)? $", re.IGNORECASE
)
_DIGITS = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e\+?\d+)?(?!\w)", re.IGNORECASE)
SAME_NUMBER = 1e-14


@dataclass(frozen=True, slots=True)
class Range:
    """Values from `low` to `high`; whether the ends count."""

    low: float
    high: float
    low_counts: bool = True
    high_counts: bool = True

    def hold(self, value: float) -> bool:
        """Whether a value lies in the range."""
        above = value > self.low or (self.low_counts and value == self.low)
        return above and (value < self.high or (self.high_counts and value == self.high))


@dataclass(frozen=True, slots=True)
class ClaimedValue:
    """A number or date at the characters [start, stop): `numbers`, `dates` that it stands for, as days.

    `exact` is the number as written, None for a date; `compared` that words such as *more than* stand
    before it. `unit` is the word after it, if that is a unit. `or_dates`: where day and month may be either.
    `timed`: words such as *in* before it say that it is a year, and no number of anything. `yearly`: `dates`
    are days of every year, as `query.Value` has them.
    """

    start: int
    stop: int
    text: str
    numbers: Range | None
    dates: Range | None
    exact: float | None = None
    compared: bool = False
    unit: str | None = None
    or_dates: Range | None = None
    timed: bool = False
    yearly: bool = False

    def holds(self, kind: int, value: float, factor: float = 1.0) -> bool:
        """Whether a value of the graph is what is claimed; `factor` turns it into the claim's unit."""
        if kind == ValueKind.NUMBER and self.numbers is not None:
            value *= factor
            exact = self.exact if not self.compared and value == round(value) else None
            if exact is not None and self.numbers.high - self.numbers.low <= 1:
                # A whole number is not a rounded one.
                return abs(value - exact) <= SAME_NUMBER * abs(value)
            return self.numbers.hold(value)
        if kind != ValueKind.DATE:
            return False
        day = value if 0 <= value < 1 else math.floor(value)
        if self.yearly:
            day = float(month_days(np.array([value]))[0])
        return any(d is not None and d.hold(day) for d in (self.dates, self.or_dates))

    def factor(self, label: Sequence[str]) -> float:
        """What turns values of a relation, whose name has the words `label`, into the claim's unit."""
        scale, bounds = counted_in(label), self.numbers
        small = bounds is None or all(abs(n) < scale for n in (bounds.low, bounds.high) if math.isfinite(n))
        return (1 if small else scale) / factor_to(self.unit or "", label)


def find_values(text: str) -> list[ClaimedValue]:
    """The numbers and dates of a claim, in order; no two overlap."""
    # *One of them*, *once*: no number is claimed.
    numerals = [w for w in written_in(text) if not (w.spelt and w.number == 1)]
    numerals = sorted((*numerals, *_beyond_all(text)), key=lambda w: w.start)
    values: list[ClaimedValue] = []
    partner: Written | None = None
    for value, following in zip(numerals, [*numerals[1:], None], strict=False):
        if value is partner:
            continue
        joined = "" if following is None else text[value.stop : following.start].strip().lower()
        if following is not None and joined == "and" and _BETWEEN.search(text[: value.start]):
            partner = following
            values.append(_between(text, value, following))
        else:
            values.append(_single_value(text, value))
    return values


def _beyond_all(text: str) -> Iterator[Written]:
    """Numbers that no float holds, as the largest: without them a claim would say less than it does."""
    for hit in _DIGITS.finditer(text):
        if math.isinf(number := float(hit[0])):
            largest = math.copysign(sys.float_info.max, number)
            yield Written(hit.start(), hit.end(), largest, of=unit_behind(text, hit.end()))


def _single_value(text: str, value: Written) -> ClaimedValue:
    """A value with the words of comparison before it."""
    span = value.days or value.yearly
    days = None if span is None else Range(*span)
    number, half = value.number, value.unit / 2
    if number is None:
        claimed = _compared(text, value, None, days, None)
        swapped = None if claimed.compared or value.or_day is None else Range(value.or_day, value.or_day)
        return replace(claimed, or_dates=swapped, yearly=value.yearly is not None)
    timed = days is not None and _TIMED.search(text[: value.start]) is not None
    ends, exact = (number, number + value.width), None
    if not value.width:
        ends, exact = (number - half, number + half), number
    return replace(_compared(text, value, Range(*ends), days, exact), timed=timed)


def _between(text: str, first: Written, second: Written) -> ClaimedValue:
    """All from one value to another, numbers or dates."""
    start, stop = first.start - len("between "), second.stop
    low, high = first.number, second.number
    numbers = None if low is None or high is None else Range(min(low, high), max(low, high))
    dates = None if first.days is None or second.days is None else Range(first.days[0], second.days[1])
    return ClaimedValue(start, stop, text[start:stop], numbers, dates, None, True, second.of or None)


def _compared(
    text: str, value: Written, numbers: Range | None, dates: Range | None, exact: float | None
) -> ClaimedValue:
    """Apply the words before a value: *before*, *at least*, *more than*."""
    start, stop, unit = value.start, value.stop, value.of or None
    before = text[:start].lower().split()
    if before[-1:] == ["the"]:
        before.pop()
    for length in (3, 2, 1):
        phrase = " ".join(before[-length:]) if len(before) >= length else ""
        compared = (-1, True) if phrase == "by" and dates is not None else COMPARATORS.get(phrase)
        if phrase == "from" or compared is None:
            continue
        sign, counts = compared
        begin = text.lower().rfind(phrase, 0, start)
        edge = None if numbers is None else numbers.low if counts == (sign > 0) else numbers.high
        number = exact if numbers is not None and exact is not None else edge
        low_high = None if number is None else _half_range(number, number, sign, counts)
        days = None
        if dates is not None:
            low = dates.low if counts or sign < 0 else dates.high
            high = dates.high if counts or sign > 0 else dates.low
            days = _half_range(low, high, sign, counts)
        return ClaimedValue(begin, stop, text[begin:stop], low_high, days, exact, True, unit)
    return ClaimedValue(start, stop, text[start:stop], numbers, dates, exact, False, unit)


def _half_range(low: float, high: float, sign: int, counts: bool) -> Range:
    """All above `low` (sign 1) or below `high`."""
    return Range(low, math.inf, counts, True) if sign > 0 else Range(-math.inf, high, True, counts)
