"""Numbers and dates of a question as people write them: *1980s*, *3.5k*, *a dozen*, *May 3rd 1999*."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from math import isfinite

from clew.graph.graph import ValueKind
from clew.graph.values import parse_value
from clew.reading.query import Value

_SMALL = {
    w: i
    for i, w in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen twenty".split()
    )
} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "once": 1,
    "twice": 2,
    "hundred": 100,
    "thousand": 1000,
    "dozen": 12,
    "million": 10**6,
}
_TIMES = {
    "k": 1e3,
    "thousand": 1e3,
    "million": 1e6,
    "mn": 1e6,
    "billion": 1e9,
    "bn": 1e9,
    "hundred": 1e2,
}
_NUMBER = re.compile(
    r"(?<![\w.-])[$£€]?(?P<n>-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?)"
    r"(?P<decade>s\b)?\s?(?P<times>k|thousand|million|mn|billion|bn|hundred)?(?![\w-]*\d|[\w])",
    re.I,
)
_SPELT = re.compile(rf"\b({'|'.join(_SMALL)})\b", re.I)
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = {name: i for i, full in enumerate(_MONTHS, 1) for name in (full, full[:3])} | {"sept": 9}
_MONTH_NAMES = "|".join(sorted(_MONTH, key=len, reverse=True))
_DATES = re.compile(
    rf"\d{{4}}-\d{{2}}(?:-\d{{2}})?|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH_NAMES})\.?,? \d{{4}}|"
    rf"(?:{_MONTH_NAMES})\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|(?:{_MONTH_NAMES})\.? (?:of )?\d{{4}}",
    re.I,
)
_YEARS = range(1000, 2200)


def values_in(question: str) -> dict[tuple[int, int], tuple[Value, ...]]:
    """What each number or date of a question may stand for, by its span in characters; a year is both."""
    spans: dict[tuple[int, int], tuple[Value, ...]] = {}
    for match in _DATES.finditer(question):
        value = date_of(match[0])
        if value is not None:
            spans[match.span()] = (value,)
    taken = list(spans)
    for match in _NUMBER.finditer(question):
        if not any(a <= match.start() < b for a, b in taken):
            spans[match.span()] = tuple(_numbers(match))
    for match in _SPELT.finditer(question):
        if not any(a <= match.start() < b for a, b in spans):
            spans[match.span()] = (Value(float(_SMALL[match[0].lower()])),)
    return spans


def _numbers(match: re.Match[str]) -> Iterable[Value]:
    number = float(match["n"].replace(",", "")) * _TIMES.get((match["times"] or "").lower(), 1.0)
    if not isfinite(number):
        return
    width = 9.0 if match["decade"] else 0.0
    yield Value(number, width=width)
    if number in _YEARS and not match["times"]:
        first, last = _day(int(number), 1, 1), _day(int(number + width) + 1, 1, 1)
        yield Value(first, date=True, width=last - first - 1)


def date_of(text: str) -> Value | None:
    """A day or a month that is written in a usual way, None for other text."""
    plain = re.sub(r"(?<=\d)(st|nd|rd|th)\b|\bof\b|\.", " ", text)
    month = re.fullmatch(rf"({_MONTH_NAMES})\.? (?:of )?(\d{{4}})|(\d{{4}})-(\d{{2}})", text, re.I)
    if month is None:
        kind, day = parse_value(re.sub(r"\s+(,|\s)", r"\1", plain))
        return Value(day, date=True) if kind == ValueKind.DATE else None
    year = int(month[2] or month[3])
    number = _MONTH[month[1].lower()] if month[1] else int(month[4])
    if not 1 <= number <= 12 or not 1 <= year < 9999:
        return None
    first = _day(year, number, 1)
    after = _day(year + number // 12, number % 12 + 1, 1)
    return Value(first, date=True, width=after - first - 1)


def _day(year: int, month: int, day: int) -> float:
    return float(date(year, month, day).toordinal() - 1)
