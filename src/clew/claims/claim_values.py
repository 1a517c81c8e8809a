"""Numbers and dates that a claim names, as ranges that a value of the graph may lie in.

*89 minutes*, *1.8 million*, *minus six*, *June 11th, 1929*, *before 2005*, *between 90 and 120*. A number
holds for values that round to it as it is written (211 for 210.922), a year or month for every date in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from clew.graph.graph import ValueKind
from clew.graph.values import days_since_epoch
from clew.reading.english import COMPARATORS

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = "|".join(f"{m[:3]}(?:{m[3:]})?" if len(m) > 3 else m for m in _MONTHS)
_DATE = re.compile(
    rf"(?P<y1>\d{{4}})-(?P<m1>\d\d)-(?P<d1>\d\d)"
    rf"|(?P<m2>{_MONTH})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y2>\d{{4}})"
    rf"|(?P<d3>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<m3>{_MONTH})\.?,? (?P<y3>\d{{4}})"
    rf"|(?P<m4>{_MONTH})\.?,? (?P<y4>\d{{4}})"
    rf"|(?<![\d/.-])(?P<d5>\d{{1,2}})(?P<cut>[-/.])(?P<m5>\d{{1,2}})(?P=cut)(?P<y5>\d{{4}})(?!\d)",
    re.IGNORECASE,
)
_WORDS: dict[str, int] = dict(
    zip(
        "zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
        " seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred".split(),
        [0, *range(2, 21), 30, 40, 50, 60, 70, 80, 90, 100],
        strict=True,
    )
)
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>minus |negative |[-\u2212])?"
    rf"(?:(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<power>e[+-]?\d+)?|(?P<word>{'|'.join(_WORDS)}))"
    rf"(?P<decade>s)?(?![\w])(?: (?P<scale>{'|'.join(_SCALES)})\b)?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\bbetween $", re.IGNORECASE)
_DECADES: tuple[str, ...] = tuple(
    "twenties thirties forties fifties sixties seventies eighties nineties".split()
)
_ORDINALS: tuple[str, ...] = tuple(
    """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first""".split()
)
_PERIOD = re.compile(
    rf"\b(?P<decade>{'|'.join(_DECADES)})\b|(?<![\w])'?(?P<short>[2-9]0)s\b"
    rf"|\b(?:(?P<nth>\d{{1,2}})(?:st|nd|rd|th)|(?P<ordinal>{'|'.join(reversed(_ORDINALS))}))[ -]century\b",
    re.IGNORECASE,
)
FIRST_YEAR, LAST_YEAR = 1000, 2100
SAME = 1e-14
UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("second", "seconds"), ("time", 1.0)),
    **dict.fromkeys(("minute", "minutes", "min", "mins"), ("time", 60.0)),
    **dict.fromkeys(("hour", "hours"), ("time", 3600.0)),
    **dict.fromkeys(("day", "days"), ("time", 86_400.0)),
    **dict.fromkeys(("centimetre", "centimetres", "centimeter", "centimeters", "cm"), ("length", 0.01)),
    **dict.fromkeys(("metre", "metres", "meter", "meters", "m"), ("length", 1.0)),
    **dict.fromkeys(("kilometre", "kilometres", "kilometer", "kilometers", "km"), ("length", 1000.0)),
    **dict.fromkeys(("foot", "feet", "ft"), ("length", 0.3048)),
    **dict.fromkeys(("mile", "miles"), ("length", 1609.344)),
    **dict.fromkeys(("gram", "grams", "g"), ("mass", 0.001)),
    **dict.fromkeys(("kilogram", "kilograms", "kg"), ("mass", 1.0)),
}
"""What a unit measures, and how much of the measure's base unit it is."""


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
    """A number or date at the characters [start, stop).

    `numbers`, `dates` (days since 0001-01-01) that it stands for.

    `exact` is the number as written, None for a date; `compared` that words such as *more than* stand
    before it. `unit` is the word after it, if that is a unit. `or_dates`: where day and month may be either.
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

    def holds(self, kind: int, value: float, factor: float = 1.0) -> bool:
        """Whether a value of the graph is what is claimed; `factor` turns it into the claim's unit."""
        if kind == ValueKind.NUMBER and self.numbers is not None:
            value *= factor
            if not self.compared and self.exact is not None and value == round(value):
                # A whole number is not a rounded one.
                width = self.numbers.high - self.numbers.low
                return self.numbers.hold(value) if width > 1 else abs(value - self.exact) <= SAME * abs(value)
            return self.numbers.hold(value)
        dates = (self.dates, self.or_dates)
        return kind == ValueKind.DATE and any(d is not None and d.hold(math.floor(value)) for d in dates)

    def factor(self, label: Sequence[str]) -> float:
        """What turns values of a relation into the claim's unit.

        `label` are the words of the relation's name.
        """
        mine, theirs = UNITS.get(self.unit or ""), _unit_of(label)
        return theirs[1] / mine[1] if mine and theirs and mine[0] == theirs[0] else 1.0

    def measures(self, label: Sequence[str]) -> bool:
        """Whether the words of a relation's name have a unit of what this value's unit measures."""
        mine, theirs = UNITS.get(self.unit or ""), _unit_of(label)
        return bool(mine and theirs and mine[0] == theirs[0])


def _unit_of(label: Sequence[str]) -> tuple[str, float] | None:
    return next((UNITS[w] for w in label if w in UNITS and len(w) > 1), None)


def find_values(text: str) -> list[ClaimedValue]:
    """The numbers and dates of a claim, in order; no two overlap."""
    found = [_date(text, hit) for hit in _DATE.finditer(text)]
    values = [value for value in found if value is not None]
    values += [_period(text, hit) for hit in _PERIOD.finditer(text)]
    hits = [
        hit
        for hit in _NUMBER.finditer(text)
        if not any(v.start < hit.end() and hit.start() < v.stop for v in values)
    ]
    values += _numbers(text, hits)
    return sorted(values, key=lambda v: v.start)


def _date(text: str, hit: re.Match[str]) -> ClaimedValue | None:
    group = next(i for i in "12345" if hit[f"y{i}"])
    year, month = int(hit[f"y{group}"]), _month(hit[f"m{group}"])
    day = int(hit[f"d{group}"]) if group != "4" else None
    if group == "5":
        return _day_and_month(text, hit, year, month, day or 0)
    first = days_since_epoch(year, month, day or 1)
    if first is None:
        return None
    after = days_since_epoch(year + month // 12, month % 12 + 1, 1) or first + 31
    last = first if day is not None else after - 1
    return _compared(text, hit.start(), hit.end(), None, Range(first, last), None)


def _day_and_month(text: str, hit: re.Match[str], year: int, month: int, day: int) -> ClaimedValue | None:
    """*01/07/1976*: the day or the month first, and either where both can be."""
    days = [
        d for d in (days_since_epoch(year, month, day), days_since_epoch(year, day, month)) if d is not None
    ]
    if not days:
        return None
    value = _compared(text, hit.start(), hit.end(), None, Range(days[0], days[0]), None)
    either = None if value.compared or len(days) < 2 else Range(days[1], days[1])
    return replace(value, or_dates=either)


def _period(text: str, hit: re.Match[str]) -> ClaimedValue:
    """*The nineties* and *the '90s* (of the last century), *the 19th century*: the years in them."""
    if hit["nth"] or hit["ordinal"]:
        century = int(hit["nth"]) if hit["nth"] else _ORDINALS.index(hit["ordinal"].lower()) + 1
        first, count = 100 * (century - 1) + 1, 100
    else:
        tens = int(hit["short"]) if hit["short"] else 10 * (_DECADES.index(hit["decade"].lower()) + 2)
        first, count = 1900 + tens, 10
    last = first + count - 1
    return _compared(text, hit.start(), hit.end(), Range(first, last), _years(first, last), None)


def _month(text: str) -> int:
    return int(text) if text.isdigit() else [m[:3] for m in _MONTHS].index(text[:3].lower()) + 1


def _numbers(text: str, hits: Sequence[re.Match[str]]) -> Iterator[ClaimedValue]:
    skip = -1
    for at, hit in enumerate(hits):
        if at == skip:
            continue
        number, unit = _read(hit)
        if not (math.isfinite(number) and math.isfinite(unit)):
            continue  # no graph holds it
        following = hits[at + 1] if at + 1 < len(hits) else None
        joined = "" if following is None else text[hit.end() : following.start()].strip().lower()
        if following is not None and joined == "and" and _BETWEEN.search(text[: hit.start()]):
            skip = at + 1
            yield _between(text, hit, following)
            continue
        dates = _years(number, number) if _is_year(hit, number) else None
        half = unit / 2
        if hit["decade"]:
            numbers, dates = Range(number, number + 9), _years(number, number + 9)
        else:
            numbers = Range(number - half, number + half)
        yield _compared(text, hit.start(), hit.end(), numbers, dates, None if hit["decade"] else number)


def _read(hit: re.Match[str]) -> tuple[float, float]:
    """(number, the unit of its last written digit)."""
    scale = _SCALES.get((hit["scale"] or "").lower(), 1.0)
    if hit["word"]:
        number, digits = float(_WORDS[hit["word"].lower()]), 0
    else:
        written = hit["digits"].replace(",", "")
        number, digits = float(written), len(written.partition(".")[2])
        scale *= float(f"1{hit['power']}") if hit["power"] else 1.0
    return (-number if hit["sign"] else number) * scale, 10.0**-digits * scale


def _is_year(hit: re.Match[str], number: float) -> bool:
    return bool(hit["digits"]) and hit["digits"].isdigit() and FIRST_YEAR <= number <= LAST_YEAR


def _years(first: float, last: float) -> Range:
    start, stop = days_since_epoch(int(first), 1, 1), days_since_epoch(int(last), 12, 31)
    return Range(start or 0, stop or 0)


def _between(text: str, first: re.Match[str], second: re.Match[str]) -> ClaimedValue:
    low, high = _read(first)[0], _read(second)[0]
    years = _is_year(first, low) and _is_year(second, high)
    dates = _years(low, high) if years else None
    start = first.start() - len("between ")
    numbers = Range(min(low, high), max(low, high))
    return ClaimedValue(
        start, second.end(), text[start : second.end()], numbers, dates, None, True, _unit(text, second.end())
    )


def _compared(
    text: str, start: int, stop: int, numbers: Range | None, dates: Range | None, exact: float | None
) -> ClaimedValue:
    """Apply the words before a value: *before*, *at least*, *more than*."""
    before = text[:start].lower().split()
    if before[-1:] == ["the"]:
        before.pop()
    unit = _unit(text, stop)
    for length in (3, 2, 1):
        phrase = " ".join(before[-length:]) if len(before) >= length else ""
        compared = (-1, True) if phrase == "by" and dates is not None else COMPARATORS.get(phrase)
        if phrase == "from" or compared is None:
            continue
        sign, counts = compared
        begin = text.lower().rfind(phrase, 0, start)
        edge = None if numbers is None else numbers.low if counts == (sign > 0) else numbers.high
        number = exact if numbers is not None and exact is not None else edge
        low_high = None if number is None else _open(number, number, sign, counts)
        days = (
            None
            if dates is None
            else _open(
                dates.low if counts or sign < 0 else dates.high,
                dates.high if counts or sign > 0 else dates.low,
                sign,
                counts,
            )
        )
        return ClaimedValue(begin, stop, text[begin:stop], low_high, days, exact, True, unit)
    return ClaimedValue(start, stop, text[start:stop], numbers, dates, exact, False, unit)


def _open(low: float, high: float, sign: int, counts: bool) -> Range:
    """All above `low` (sign 1) or below `high`."""
    return Range(low, math.inf, counts, True) if sign > 0 else Range(-math.inf, high, True, counts)


def _unit(text: str, stop: int) -> str | None:
    word = re.match(r"[\s-]*([A-Za-z]+)", text[stop:])
    name = word[1].lower() if word else ""
    return name if name in UNITS else None
