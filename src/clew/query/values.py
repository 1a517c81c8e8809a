"""Numbers, dates and times as people write them: *1980s*, *3.5k*, *May 3rd 1999*, *half past nine*."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import date, timedelta
from math import isfinite

from clew.graph.graph import ValueKind
from clew.graph.values import (
    FIRST_YEAR,
    LAST_YEAR,
    MONTHS,
    SCALES,
    UNITS,
    counted_in,
    days_since_epoch,
    factor_to,
    parse_value,
    time_of_day,
    unit_behind,
)
from clew.query.tree import Value

_MONTH = "|".join(("sept", *(f"{m[:3]}(?:{m[3:]})?" if len(m) > 3 else m for m in MONTHS)))
_DATE = re.compile(
    rf"(?<![\d/.-])(?P<y1>\d{{4}})-(?P<m1>\d\d)-(?P<d1>\d\d)(?!\d)"
    rf"|(?P<m2>{_MONTH})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y2>\d{{4}})"
    rf"|(?P<d3>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<m3>{_MONTH})\.?,? (?P<y3>\d{{4}})"
    rf"|(?P<m4>{_MONTH})\.?,? (?:of )?(?P<y4>\d{{4}})"
    rf"|(?<![\d/.-])(?P<y5>\d{{4}})-(?P<m5>\d\d)(?![\d-])"
    rf"|(?<![\d/.-])(?P<d6>\d{{1,2}})(?P<cut>[-/.])(?P<m6>\d{{1,2}})(?P=cut)(?P<y6>\d{{4}})(?!\d)",
    re.IGNORECASE,
)
_ERA = re.compile(
    rf"(?<![\w.-])(?:(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?)?(?i:(?P<month>{_MONTH}))\.?,? )?"
    r"(?:(?:AD|CE) (?P<after>\d{1,4})"
    r"|(?P<year>\d{1,5}) ?(?P<era>B\.?C\.?(?:E\b\.?)?|A\.?D\b\.?|C\.?E\b\.?))(?!\w)"
)
"""*50 BC*, *AD 79*, *23 September 63 BC*."""
_FIRST_OF_TWO = re.compile(
    rf"\b(?:(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: (?:of )?(?P<m1>{_MONTH})\.?)?"
    rf"|(?P<m2>{_MONTH})\.?(?: (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?)?),?"
    r"\s?(?:and|to|until|till|through|or|-|–)\s?(?:the )?$",
    re.IGNORECASE,
)
"""*1 and* (10 March 2024), *January to* (March 2024): the year, and the month, are those of the second."""
_PART_OF_YEAR = re.compile(
    r"\b(?:(?P<half>first|second) half of|(?P<quarter>first|second|third|fourth|last) quarter of"
    r"|Q(?P<q>[1-4])|H(?P<h>[12])) (?P<year>\d{4})(?![\d-])",
    re.IGNORECASE,
)
_OF_EVERY_YEAR = re.compile(
    rf"\b(?:(?P<m1>{_MONTH})\.? (?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:])"
    rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<m2>{_MONTH})\b"
    rf"|(?:in|during|every|each|of|last|next|this) (?P<m3>{_MONTH})\b(?!\.? \d))",
    re.IGNORECASE,
)
SMALL_NUMBERS: tuple[str, ...] = tuple(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen""".split()
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER_WORDS = {word: number for number, word in enumerate(SMALL_NUMBERS)}
NUMBER_WORDS.update({word: 10 * number for number, word in enumerate(_TENS, 2)})
NUMBER_WORDS.update({"once": 1, "twice": 2, "dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6})
_QUANTITY = re.compile(
    r"(?:(?<![\w.\u2212-])|(?<=\bpre-)|(?<=\bpost-))[$£€]?(?P<sign>minus |negative |[-\u2212])?"
    rf"(?:(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<power>e[+-]?\d+)?"
    rf"|(?P<word>{'|'.join(NUMBER_WORDS)}))"
    rf"(?P<decade>s)?(?:\s?(?P<scale>{'|'.join(SCALES)}))?(?!\w|[\w-]{{0,30}}\d)",
    re.IGNORECASE,
)
_SHARES = {"half": 0.5, "quarter": 0.25}
_SHARE = re.compile(
    rf"\b(?P<share>{'|'.join(_SHARES)}) (?:of )?an? (?P<scale>dozen|{'|'.join(SCALES)})\b", re.IGNORECASE
)
_DECADES = tuple(f"{word[:-1]}ies" for word in _TENS)
ORDINALS: tuple[str, ...] = tuple(
    """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first""".split()
)
_PERIOD = re.compile(
    rf"\b(?P<decade>{'|'.join(_DECADES)})\b|(?<![\w])'?(?P<short>[2-9]0)s\b"
    rf"|\b(?:(?P<nth>\d{{1,2}})(?:st|nd|rd|th)|(?P<ordinal>{'|'.join(reversed(ORDINALS))}))[ -]century\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?<![\w:.])(?:(?P<hours>\d{1,2}):(?P<minutes>\d\d)(?::(?P<seconds>\d\d))?(?:\s?(?P<half>[ap])\.?m\b)?"
    r"|(?P<hour>\d{1,2})(?:\s?(?P<part>[ap])\.?m\b|\s?o['’]?clock\b)"
    r"|(?P<past>half|(?:a )?quarter) (?P<way>past|to) (?P<full>\d{1,2}|[a-z]+)(?:\s?(?P<after>[ap])\.?m\b)?"
    r"|(?-i:(?P<word>noon|midday|midnight)\b))(?![:\d])",
    re.IGNORECASE,
)
_LONG_UNITS = "|".join(u for u in UNITS if len(u) > 2 and not u.startswith("sec"))
_ONE = re.compile(
    r"\b(?:than|over|under|above|below|least|most|within|about|exactly|beyond) "
    rf"(?P<all>(?P<half>half )?an? (?P<unit>{_LONG_UNITS})(?P<more> and a half)?)\b",
    re.IGNORECASE,
)
"""*An hour*, *half a mile*, *a kilo and a half* behind a word of comparison; *than a second film* is none."""
_WORDS_OF_TIME = {"noon": 12, "midday": 12, "midnight": 0}
_TO_NEXT = re.compile(r"\s*(?:and|to|or|[-–])\s*[$£€]?", re.I)
"""Between two numbers of which the first is counted as the second one is."""
_LAST_CENTURY = 2000


@dataclass(frozen=True, slots=True)
class Written:
    """A number or a date at the characters [start, stop) of a text, or a number that may be a year.

    `number` with the `unit` of its last written digit, and how much further it goes if it is a decade or a
    century (`width`); `days`, the first and the last day since 0001-01-01, below 1 for a time of day;
    `or_day`, where day and month may be either. `spelt` as a word; `of` which unit.
    `yearly`: the first and the last day, of no year, as `query.Value` has it.
    """

    start: int
    stop: int
    number: float | None = None
    unit: float = 1.0
    width: float = 0.0
    days: tuple[float, float] | None = None
    or_day: int | None = None
    spelt: bool = False
    of: str = ""
    yearly: tuple[float, float] | None = None
    scale: float = 1.0
    """What a word behind its digits counts: a million."""


def written_in(text: str) -> list[Written]:
    """The numbers and dates of a text, in order; no two overlap."""
    written: list[Written] = []
    for hit in _ERA.finditer(text):
        written += filter(None, [_of_era(hit)])
    for hit in (hit for hit in _DATE.finditer(text) if not _overlaps_any(written, hit)):
        dates = _date(hit), _date_before(text, hit)
        written += [date for date in dates if date is not None]
    for pattern, read in (
        (_PART_OF_YEAR, _part_of_year),
        (_OF_EVERY_YEAR, _of_every_year),
        (_CLOCK, _time),
        (_PERIOD, _period),
        (_SHARE, _share),
        (_QUANTITY, _number),
    ):
        hits = [hit for hit in pattern.finditer(text) if not _overlaps_any(written, hit)]
        written += [value for hit in hits if (value := read(hit)) is not None]
    return _with_units(text, sorted(written, key=lambda value: value.start))


def _with_units(text: str, written: list[Written]) -> list[Written]:
    """Each with the unit behind it, and the scale and unit of the one that it leads to, if it has none."""
    read: list[Written] = []
    for value in reversed(written):
        value = replace(value, of=unit_behind(text, value.stop))
        if read and _TO_NEXT.fullmatch(text[value.stop : read[-1].start]):
            value = _counted_as(value, read[-1])
        read.append(value)
    return read[::-1]


def _counted_as(value: Written, following: Written) -> Written:
    """*Between 1 and 1.5 million*, *1 to 2 hours*: the first number is counted as the second one is."""
    number = (value.number or 0.0) * following.scale
    if value.scale == 1 < following.scale and 0 < number < (following.number or 0.0):
        unit = value.unit * following.scale
        value = replace(value, number=number, unit=unit, days=None, scale=following.scale)
    return value if value.of else replace(value, of=following.of)


def values_in(question: str) -> dict[tuple[int, int], tuple[Value, ...]]:
    """What each number or date of a question may stand for, by its span in characters; a year is both."""
    written = written_in(question)
    for hit in (hit for hit in _ONE.finditer(question) if not _overlaps_any(written, hit)):
        number = (0.5 if hit["half"] else 1.0) + (0.5 if hit["more"] else 0.0)
        unit = hit["unit"].lower()
        written.append(Written(hit.start("all"), hit.end(), number, number, spelt=True, of=unit))
    return {
        (value.start, value.stop): tuple(values_of(value))
        for value in sorted(written, key=lambda value: value.start)
    }


def date_of(text: str) -> Value | None:
    """A day or a month that is written in a usual way, None for other text."""
    hit = _DATE.fullmatch(text)
    date = None if hit is None else _date(hit)
    return None if date is None else next(values_of(date))


def value_of(text: str, *, dates: bool) -> Value | None:
    """The number or date that a whole text is, with or without a unit; None for other texts."""
    for (start, stop), values in values_in(text := text.strip()).items():
        if start == 0 and len(text[stop:].split()) <= 1:
            return next((value for value in values if value.date == dates and not value.yearly), None)
    kind, number = parse_value(text)
    return Value(number, date=dates) if kind == (ValueKind.DATE if dates else ValueKind.NUMBER) else None


def in_unit_of(label: str, value: Value) -> Value:
    """A number in the unit that a label says: 5 million *copies sold in millions* are 5, an hour 60 *min*."""
    words = label.split()
    if value.unit:
        # Rounded, as 2.3 hours are 138 minutes and not the float below.
        value = replace(value, number=float(f"{value.number * factor_to(value.unit, words):.12g}"), unit="")
    scale = counted_in(words)
    return value if value.date or abs(value.number) < scale else replace(value, number=value.number / scale)


def values_of(value: Written) -> Iterator[Value]:
    """All that something written may stand for: a number, days, days of every year."""
    if value.number is not None:
        yield Value(value.number, width=value.width, unit=value.of)
    if value.days is not None:
        first, last = value.days
        yield Value(float(first), date=True, width=float(last - first))
    if value.yearly is not None:
        first, last = value.yearly
        yield Value(first, date=True, width=last - first, yearly=True)


def _overlaps_any(written: list[Written], hit: re.Match[str]) -> bool:
    return any(value.start < hit.end() and hit.start() < value.stop for value in written)


def _date(hit: re.Match[str]) -> Written | None:
    group = next(i for i in "123456" if hit[f"y{i}"])
    year, month = int(hit[f"y{group}"]), _month(hit[f"m{group}"])
    if group in "45":
        return _of_months(hit, year, month, 1)
    day = int(hit[f"d{group}"])
    ways = [(month, day), (day, month)][: 1 + (group == "6")]
    days = [number for way in ways if (number := days_since_epoch(year, *way)) is not None]
    or_day = days[1] if len(days) > 1 else None
    return Written(*hit.span(), days=(days[0], days[0]), or_day=or_day) if days else None


def _of_months(hit: re.Match[str], year: int, first: int, count: int) -> Written | None:
    """The days of `count` months from the `first` of a year on, which may go into the next years."""
    start = days_since_epoch(year, first, 1)
    after = days_since_epoch(year + (first + count - 1) // 12, (first + count - 1) % 12 + 1, 1)
    return None if start is None or after is None else Written(*hit.span(), days=(start, after - 1))


def _date_before(text: str, second: re.Match[str]) -> Written | None:
    """The day or month of a year that only the date behind it says: *between 1 and 10 March 2024*."""
    group = next(i for i in "123456" if second[f"y{i}"])
    first = _FIRST_OF_TWO.search(text, 0, second.start()) if group in "234" else None
    if first is None:
        return None
    day, month = first["d1"] or first["d2"], first["m1"] or first["m2"]
    if not month and group != "3":
        return None
    written = f"{day or ''} {month or second['m3']} {second[f'y{group}']}".strip()
    hit = _DATE.fullmatch(written)
    date = None if hit is None else _date(hit)
    ends = [i for i in (first.end(name) for name in ("d1", "m1", "m2", "d2")) if i >= 0]
    return None if date is None else replace(date, start=first.start(), stop=max(ends))


def _of_era(hit: re.Match[str]) -> Written | None:
    """A year before or after Christ, or a month or a day of it; the year before 1 is 1 BC."""
    year = int(hit["year"] or hit["after"])
    year = 1 - year if (hit["era"] or "")[:1] == "B" else year
    month = _month(hit["month"]) if hit["month"] else 0
    if not hit["day"]:
        return _of_months(hit, year, month or 1, 1 if month else 12)
    day = days_since_epoch(year, month or 1, int(hit["day"]))
    return None if day is None else Written(*hit.span(), days=(day, day))


def _time(hit: re.Match[str]) -> Written | None:
    """*10:30*, *9 pm*, *half past nine*, *noon*."""
    if hit["word"]:
        hours, minutes, half = _WORDS_OF_TIME[hit["word"]], 0, None
    elif hit["past"]:
        full = hit["full"].lower()
        if not full.isdigit() and full not in NUMBER_WORDS:
            return None
        hours, half = int(full) if full.isdigit() else int(NUMBER_WORDS[full]), hit["after"]
        minutes = 30 if hit["past"].lower() == "half" else 15
        if hit["way"].lower() == "to":
            hours, minutes = (hours - 1) % 24 or 12, 60 - minutes
    else:
        hours, minutes = int(hit["hours"] or hit["hour"]), int(hit["minutes"] or 0)
        half = hit["half"] or hit["part"]
    time = time_of_day(hours, minutes, float(hit["seconds"] or 0), half)
    return None if time is None else Written(hit.start(), hit.end(), days=(time, time))


def _month(text: str) -> int:
    return int(text) if text.isdigit() else [m[:3] for m in MONTHS].index(text[:3].lower()) + 1


def _part_of_year(hit: re.Match[str]) -> Written | None:
    """*The second half of 2024*, *Q3 2024*."""
    halves = bool(hit["half"] or hit["h"])
    word = (hit["half"] or hit["quarter"] or "").lower()
    part = 4 if word == "last" else ORDINALS.index(word) + 1 if word else int(hit["q"] or hit["h"])
    months = 6 if halves else 3
    return _of_months(hit, int(hit["year"]), (part - 1) * months + 1, months)


def _of_every_year(hit: re.Match[str]) -> Written | None:
    """*January 2*, *the 2nd of January*, *in January*."""
    group = next(i for i in "123" if hit[f"m{i}"])
    month = _month(hit[f"m{group}"])
    if group == "3":
        return Written(hit.start("m3"), hit.end(), yearly=(100.0 * month + 1, 100.0 * month + 31))
    day = int(hit[f"d{group}"])
    if days_since_epoch(2000, month, day) is None:
        return None
    return Written(hit.start(), hit.end(), yearly=(100.0 * month + day, 100.0 * month + day))


def _period(hit: re.Match[str]) -> Written:
    """*The nineties* and *the '90s* (of the last century), *the 19th century*: the years in them."""
    if hit["nth"] or hit["ordinal"]:
        century = int(hit["nth"]) if hit["nth"] else ORDINALS.index(hit["ordinal"].lower()) + 1
        first, count = 100 * (century - 1) + 1, 100
    else:
        tens = int(hit["short"]) if hit["short"] else 10 * (_DECADES.index(hit["decade"].lower()) + 2)
        first, count = 1900 + tens, 10
    last = first + count - 1
    return Written(hit.start(), hit.end(), float(first), 1.0, float(count - 1), years(first, last))


def _share(hit: re.Match[str]) -> Written:
    """*Half a million*, *a quarter of a billion*."""
    scale = hit["scale"].lower()
    number = _SHARES[hit["share"].lower()] * (SCALES.get(scale) or NUMBER_WORDS[scale])
    return Written(hit.start(), hit.end(), number, number, spelt=True)


def _number(hit: re.Match[str]) -> Written | None:
    """A number as it is written; None for one that no graph holds."""
    word_scale = scale = SCALES.get((hit["scale"] or "").lower(), 1.0)
    if hit["word"]:
        number, digits = float(NUMBER_WORDS[hit["word"].lower()]), 0
    else:
        written = hit["digits"].replace(",", "")
        number, digits = float(written), len(written.partition(".")[2])
        scale *= float(f"1{hit['power']}") if hit["power"] else 1.0
    number, unit = (-number if hit["sign"] else number) * scale, 10.0**-digits * scale
    if not (isfinite(number) and isfinite(unit)):
        return None
    # *The 1980s* and *the 2000s* are decades, *the 1700s* a century.
    is_century = FIRST_YEAR <= number < _LAST_CENTURY and number % 100 == 0
    width = (99.0 if is_century else 9.0) if hit["decade"] else 0.0
    plain = bool(hit["digits"]) and hit["digits"].isdigit() and not hit["scale"]
    days = years(number, number + width) if plain and FIRST_YEAR <= number <= LAST_YEAR else None
    return Written(
        hit.start(), hit.end(), number, unit, width, days, spelt=bool(hit["word"]), scale=word_scale
    )


def years(first: float, last: float) -> tuple[float, float]:
    """The first day of a year and the last of another."""
    start, stop = days_since_epoch(int(first), 1, 1), days_since_epoch(int(last), 12, 31)
    return start or 0, stop or 0


_today: ContextVar[date | None] = ContextVar("clew_today", default=None)


def today() -> date:
    """The day that *last year* and *now* are told from: the one that was set, else that of the clock."""
    return _today.get() or date.today()


@contextmanager
def as_of(day: date | None) -> Generator[None]:
    """Take a day for today in this context; None for that of the clock."""
    token = _today.set(day)
    try:
        yield
    finally:
        _today.reset(token)


def day_number(day: date) -> float:
    """A day as `Value` counts it, in days since 0001-01-01."""
    return float(day.toordinal() - 1)


def days_from(day: date, unit: str, count: int) -> date:
    """The day so many days, weeks, months, years or decades from another."""
    if unit in ("day", "week"):
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + count * {"month": 1, "year": 12, "decade": 120}[unit]
    year, month = months // 12, months % 12 + 1
    last = (date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)).day
    return date(year, month, min(day.day, last))
