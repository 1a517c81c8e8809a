"""Numbers, units, dates and times in the names of nodes and the cells of columns.

Untyped text is a number if it is written as one (`12`, `-3.5`, `1,234,567`, `6e23`, `45 %`; `007` is a
code) and a date if nothing about it is ambiguous (`1999-03-12`, `1999-03`, `12 March 1999`, `March 12,
1999`, `44 BC`, ISO date and time); `03/04/1999` is neither. A time of day (`09:30`, `9:30 pm`) is a date
too, a part of the first day. A bare year such as `1999` is a number, as is every other integer; only
`xsd:gYear` makes it a date. Literals of RDF follow their datatype, cells of a table that of their column,
which says how they are written (`ColumnType`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Float64, UInt8
from clew.graph import XSD
from clew.graph.graph import Graph, Names, ValueKind, Values

# Units of time, length, mass, volume and money, and words for powers of ten.


UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), ("time", 0.001)),
    **dict.fromkeys(("second", "seconds", "sec", "secs"), ("time", 1.0)),
    **dict.fromkeys(("minute", "minutes", "min", "mins"), ("time", 60.0)),
    **dict.fromkeys(("hour", "hours", "hr", "hrs", "h"), ("time", 3600.0)),
    **dict.fromkeys(("day", "days"), ("time", 86_400.0)),
    **dict.fromkeys(("week", "weeks"), ("time", 604_800.0)),
    **dict.fromkeys(("millimetre", "millimetres", "millimeter", "millimeters", "mm"), ("length", 0.001)),
    **dict.fromkeys(("centimetre", "centimetres", "centimeter", "centimeters", "cm"), ("length", 0.01)),
    **dict.fromkeys(("metre", "metres", "meter", "meters", "m"), ("length", 1.0)),
    **dict.fromkeys(("kilometre", "kilometres", "kilometer", "kilometers", "km"), ("length", 1000.0)),
    **dict.fromkeys(("inch", "inches"), ("length", 0.0254)),
    **dict.fromkeys(("foot", "feet", "ft"), ("length", 0.3048)),
    **dict.fromkeys(("yard", "yards", "yd", "yds"), ("length", 0.9144)),
    **dict.fromkeys(("mile", "miles"), ("length", 1609.344)),
    **dict.fromkeys(("milligram", "milligrams", "mg"), ("mass", 1e-6)),
    **dict.fromkeys(("gram", "grams", "gramme", "grammes", "g"), ("mass", 0.001)),
    **dict.fromkeys(("kilogram", "kilograms", "kilo", "kilos", "kg", "kgs"), ("mass", 1.0)),
    **dict.fromkeys(("tonne", "tonnes", "t"), ("mass", 1000.0)),
    **dict.fromkeys(("ounce", "ounces", "oz"), ("mass", 0.028349523125)),
    **dict.fromkeys(("pound", "pounds", "lb", "lbs"), ("mass", 0.45359237)),
    **dict.fromkeys(("millilitre", "millilitres", "milliliter", "milliliters", "ml"), ("volume", 0.001)),
    **dict.fromkeys(("litre", "litres", "liter", "liters", "l"), ("volume", 1.0)),
    **dict.fromkeys(("kmh", "kph"), ("speed", 1 / 3.6)),
    **dict.fromkeys(("mph",), ("speed", 0.44704)),
    **dict.fromkeys(("knot", "knots", "kn"), ("speed", 1.852 / 3.6)),
    **dict.fromkeys(("kw", "kilowatt", "kilowatts"), ("power", 1000.0)),
    **dict.fromkeys(("mw", "megawatt", "megawatts"), ("power", 1e6)),
    **dict.fromkeys(("ha", "hectare", "hectares"), ("area", 10_000.0)),
    **dict.fromkeys(("m2", "sqm", "sqmetre", "sqmetres", "sqmeter", "sqmeters"), ("area", 1.0)),
    **dict.fromkeys(("km2", "sqkm"), ("area", 1e6)),
    **dict.fromkeys(("sqft", "sqfoot", "sqfeet"), ("area", 0.09290304)),
}
"""What a unit measures, and how much of the measure's base unit it is."""
_UNSURE = frozenset((*(unit for unit in UNITS if len(unit) == 1), "min"))
"""Those that are units only at the end of a label: *min ripening days* is no minutes."""
CURRENCIES = {
    **dict.fromkeys(("$", "us$", "usd"), "USD"), **dict.fromkeys(("€", "eur"), "EUR"),
    **dict.fromkeys(("£", "gbp"), "GBP"), **dict.fromkeys(("¥", "jpy"), "JPY"),
    **dict.fromkeys(("₹", "inr"), "INR"), **dict.fromkeys(("₽", "rub"), "RUB"),
    **dict.fromkeys(("₩", "krw"), "KRW"), **dict.fromkeys(("₺", "try"), "TRY"),
    **dict.fromkeys(("zł", "pln"), "PLN"),
    **{code.lower(): code for code in "CHF CNY CAD AUD NZD SEK NOK DKK CZK HUF BRL MXN ZAR SGD HKD".split()},
}  # fmt: skip
"""Signs and codes of currencies, in lower case, by their codes."""
_SIGNS = "".join(sign for sign in CURRENCIES if len(sign) == 1)
CURRENCY_NAMES = {
    "euro": "EUR", "dollar": "USD CAD AUD NZD SGD HKD", "pound": "GBP", "yen": "JPY", "rupee": "INR",
    "rouble": "RUB", "ruble": "RUB", "won": "KRW", "lira": "TRY", "zloty": "PLN", "franc": "CHF",
    "yuan": "CNY", "krona": "SEK", "kronor": "SEK", "krone": "NOK DKK", "kroner": "NOK DKK", "koruna": "CZK",
    "forint": "HUF", "real": "BRL", "reais": "BRL", "peso": "MXN", "rand": "ZAR",
}  # fmt: skip
"""Names of currencies, in the singular, with the codes that they may stand for."""
SCALES = {
    **{"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12},
    **{"k": 1e3, "grand": 1e3, "mn": 1e6, "mio": 1e6, "bn": 1e9, "mrd": 1e9},
}
"""What a word behind a number multiplies it by."""
_COUNTED_IN = {f"{word}{s}": SCALES[word] for word in ("thousand", "million", "billion") for s in ("", "s")}
_NEXT = re.compile(r"[\s-]*([A-Za-z]+)")


def unit_behind(text: str, stop: int) -> str:
    """The unit that is the word behind a number, empty where it is none."""
    word = _NEXT.match(text, stop)
    name = word[1].lower() if word else ""
    return name if name in UNITS else ""


def currencies_beside(text: str, start: int, stop: int) -> tuple[str, tuple[int, int]]:
    """The codes that a sign or a word beside a number at [start, stop) may stand for, and where it stands.

    >>> currencies_beside("It costs 20 euros", 9, 11)
    ('EUR', (12, 17))
    """
    inside = re.match(rf"[{re.escape(_SIGNS)}]", text[start:stop])
    before = re.search(rf"(?:US)?[{re.escape(_SIGNS)}]\s*$", text[:start])
    if inside or before:
        span = (start, start + 1) if inside or before is None else before.span()
        return CURRENCIES.get(text[slice(*span)].strip().lower(), ""), span
    behind = re.compile(rf"\s*([{re.escape(_SIGNS)}]|[^\W\d_]+)").match(text, stop)
    word = behind[1].lower() if behind else ""
    name = next((n for n in (word, word.removesuffix("s")) if n in CURRENCY_NAMES), "")
    code = CURRENCIES.get(word, "") if behind and (behind[1].isupper() or not behind[1].isalpha()) else ""
    codes = code or CURRENCY_NAMES.get(name, "")
    return codes, behind.span(1) if behind and codes else (stop, stop)


def factor_to(unit: str, label: Sequence[str]) -> float:
    """How many of the unit that is among the words of a relation's name one `unit` is; 1 where none is."""
    measure, unit_size = UNITS.get(unit, ("", 1.0))
    own = unit_in(label, measure)
    return unit_size / UNITS[own][1] if own else 1.0


def counted_in(label: Sequence[str]) -> float:
    """What the words of a relation's name say that its numbers are counted in: *millions*; else 1."""
    return max((_COUNTED_IN.get(word, 1.0) for word in label), default=1.0)


def unit_in(label: Sequence[str], measure: str = "") -> str:
    """The unit among the words of a relation's name, of any measure or of one; empty without."""
    words = label[: label.index("per")] if "per" in label else label
    return next(
        (
            word
            for word in words
            if word in UNITS
            and (word not in _UNSURE or word == words[-1])
            and measure in ("", UNITS[word][0])
        ),
        "",
    )


FIRST_YEAR, LAST_YEAR = 1000, 2100
"""Numbers in this range may be years."""
MAX_LENGTH = 40
"""A longer text is not looked at: no number or date of use is written with more characters."""


NUMBER_TYPES, DATE_TYPES, _OPAQUE_TYPES = (
    frozenset(XSD + name for name in names.split())
    for names in (
        "integer decimal float double int long short byte nonNegativeInteger positiveInteger "
        "nonPositiveInteger negativeInteger unsignedLong unsignedInt unsignedShort unsignedByte",
        "date dateTime dateTimeStamp gYearMonth gYear",
        "boolean duration dayTimeDuration yearMonthDuration gMonth gDay gMonthDay anyURI "
        "hexBinary base64Binary QName token",
    )
)

_TIME_TYPE = XSD + "time"
_INFINITE = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf}
MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
"""The months in English, from the first."""
_MONTH = {name[:n]: i for i, name in enumerate(MONTHS, 1) for n in (3, len(name))} | {"sept": 9}

_NUMBER = re.compile(
    r"[+\-\u2212]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
    r"(?:[eE][+\-]?[0-9]+)?(?:\s?%)?"
)
_CLOCK = r"(?P<hours>[0-9]{1,2}):(?P<minutes>[0-9]{2})(?::(?P<seconds>[0-9]{2}(?:\.[0-9]+)?))?"
_ISO = re.compile(
    rf"(?P<year>-?[0-9]{{4,9}})(?:-(?P<month>[0-9]{{2}})(?:-(?P<day>[0-9]{{2}})"
    rf"(?:[T ](?=[0-9]{{2}}:){_CLOCK})?)?)?"
    r"(?P<zone>Z|[+-][0-9]{2}(?(hours)(?::?[0-9]{2})?|:?[0-9]{2}))?"
)
_TIME_OF_DAY = re.compile(rf"{_CLOCK}(?: ?(?P<half>[ap])\.?m\.?)?Z?", re.ASCII | re.IGNORECASE)
_DAY_FIRST = re.compile(
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}\.?,? )?(?P<day>[0-9]{1,2})"
    r"(?:(?:st|nd|rd|th)?\.? (?P<month>[A-Za-z]+)\.?,? (?P<year>[0-9]{4})"
    r"|(?P<cut>[-/])(?P<short_month>[A-Za-z]+)(?P=cut)(?P<short_year>[0-9]{4}|[0-9]{2}))"
)
_MONTH_ALONE = re.compile(r"(?P<month>[A-Za-z]+)\.?,?[ -](?P<year>[0-9]{4})")
_MONTH_FIRST = re.compile(r"(?P<month>[A-Za-z]+)\.? (?P<day>[0-9]{1,2})(?:st|nd|rd|th)?,? (?P<year>[0-9]{4})")

_YEAR_OF_ERA = re.compile(
    r"(?:(?P<ad>AD|CE) ?)?(?P<year>[0-9]{1,7}) ?(?P<era>(?:B\.?C\.?(?:E\.?)?|A\.?D\.?|C\.?E\.?)?)",
    re.IGNORECASE,
)
_NUMERIC_DAY = re.compile(
    r"(?P<first>[0-9]{1,2})(?P<cut>[./-])(?P<second>[0-9]{1,2})(?P=cut)(?P<year>[0-9]{4}|[0-9]{2})"
    rf"(?:[ T,]+{_CLOCK}(?: ?(?P<half>[ap])\.?m\.?)?)?",
    re.ASCII | re.IGNORECASE,
)
"""*31/12/2020*, *31.12.2020 14:30*, *12/31/2020*: a column says which number is the day."""
_SPACES = "\u00a0\u202f\u2009 '\u2019"
_AMOUNT = re.compile(
    rf"(?P<open>\()?(?P<sign>[+\-\u2212]?)\s?(?P<before>[^\W\d_]{{2,3}}\$?|[^\w\s.,()+-])?\s?(?P<sign2>[\-\u2212]?)"
    rf"(?P<digits>[0-9.](?:[0-9.,{_SPACES}]*[0-9])?\.?)(?P<power>[eE][+-]?[0-9]{{1,3}})?"
    r"\s?(?P<after>[^\d\s.,()][^\d()]{0,24})?\)?"
)
"""A number with what stands around it: *$1,200.50*, *1 200 kg*, *(45)*, *3.5 million USD*."""
_GROUPED = re.compile(rf"[0-9]{{1,3}}(?:[{_SPACES}][0-9]{{3}})+(?:[.,][0-9]+)?")
_WITH_POINT = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_WITH_COMMA = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]+)?|[0-9]+(?:,[0-9]+)?")
_WORDS_AROUND = re.compile(r"[^\W\d_]{2,}(?=\.)|[^\W\d_]+\$?|(?<![^\W\d_]{2})\.|[^\w\s.]")
"""Words and signs; a dot behind a word, as of *Mio.*, is none."""
_SQUARE = re.compile(r"\bsq(?:uare|\.)?\s?([a-z]+)|\b(k?m)\u00b2", re.IGNORECASE)
"""A unit of an area: *sq m*, *square metres*, *m²*."""
_BARE_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_COMPACT_DAY = re.compile(r"(?P<year>1[0-9]{3}|20[0-9]{2})(?P<month>[0-9]{2})(?P<day>[0-9]{2})", re.ASCII)
PERCENT = "%"
TRUE = frozenset("true yes y t x ✓ ✔ checked oui o vrai ja j wahr sí sì si sim tak да".split())
FALSE = frozenset("false no n f non faux nein falsch unchecked nee nej nei não nie нет".split())
"""How tables write, in the usual languages, that something is so or not."""
TRUTHS = TRUE | FALSE
FLAGS = {"0": "false", "1": "true"}
"""How they write it in a column that says so, and how XSD does."""
Parsed = tuple[ValueKind, float]
NO_VALUE: Parsed = (ValueKind.NONE, math.nan)


@dataclass(frozen=True, slots=True)
class ColumnType:
    """How the cells of a column are read, written into the datatype of its literals.

    `base` is an XSD datatype. `comma`: cells have a decimal comma. `day_first`: of `03/04/2019`, 3 is the
    day; None where no cell needs it. `unit` is what numbers are in: the code of a currency, `%`, or one of
    `UNITS`. `as_xsd`: every cell is written as XSD would write it.

    >>> str(ColumnType(XSD + "decimal", comma=True, unit="EUR", as_xsd=False))
    'http://www.w3.org/2001/XMLSchema#decimal;comma;unit=EUR'
    """

    base: str
    comma: bool = False
    day_first: bool | None = None
    unit: str = ""
    as_xsd: bool = True

    def __str__(self) -> str:
        order = {None: "", True: ";day-first", False: ";month-first"}[self.day_first]
        unit = f";unit={self.unit}" if self.unit else ""
        text = f"{self.base}{';comma' * self.comma}{order}{unit}"
        return text if self.as_xsd or text != self.base else f"{text};written"

    @classmethod
    @lru_cache(maxsize=4096)
    def of(cls, datatype: str) -> ColumnType:
        """Read a datatype that a column wrote, or any other."""
        base, *parts = datatype.split(";")
        unit = next((part.removeprefix("unit=") for part in parts if part.startswith("unit=")), "")
        order = True if "day-first" in parts else False if "month-first" in parts else None
        return cls(base, "comma" in parts, order, unit, not parts)

    def in_words(self) -> str:
        """Say it as *decimal, EUR*."""
        name = {"gYear": "year", "token": "id", "string": "text", "double": "decimal"}
        base = self.base.removeprefix(XSD)
        order = {None: "", True: ", day first", False: ", month first"}[self.day_first]
        unit = f", {self.unit}" if self.unit else ""
        return f"{name.get(base, base)}{', decimal comma' * self.comma}{order}{unit}"

    def value(self, text: str) -> Parsed:
        """Kind and value of a cell; (NONE, NaN) of one that does not fit its column."""
        if self.base in NUMBER_TYPES:
            amount = read_amount(text)
            number = None if amount is None else amount.number(comma=self.comma, unit=self.unit)
            return NO_VALUE if number is None else (ValueKind.NUMBER, number)
        if self.base == XSD + "gYear":
            return _year_of_era(text, bare=True)
        if self.base == XSD + "time":
            return _time_of_day(text)
        if self.base in DATE_TYPES:
            return first_value(text, _iso_date, _written_date, self._numeric_day, compact_day, _month_of_year)
        return NO_VALUE

    def fits(self, text: str) -> bool:
        """Whether a cell is of the type of its column."""
        if self.base == XSD + "boolean":
            return text.lower() in TRUTHS
        return self.base in (XSD + "string", XSD + "token") or self.value(text)[0] != ValueKind.NONE

    def datatype_of(self, text: str) -> str | None:
        """The datatype of a cell: that of its column, or a year among dates; None of another text."""
        if self.fits(text):
            return str(self)
        is_year = self.base == XSD + "date" and _BARE_YEAR.fullmatch(text)
        return XSD + "gYear" if is_year else None

    def _numeric_day(self, text: str) -> Parsed:
        match = _numeric_match(text)
        if match is None or self.day_first is None:
            return NO_VALUE
        numbers = int(match["first"]), int(match["second"])
        day, month = numbers if self.day_first else numbers[::-1]
        days = days_since_epoch(_full_year(match["year"]), month, day)
        time = 0.0 if match["hours"] is None else time_of_day(*_on_clock(match), match["half"])
        return NO_VALUE if days is None or time is None else (ValueKind.DATE, days + time)


def datatype_in_words(datatype: str) -> str:
    """The datatype of a column as people say it (*decimal, EUR*); any other as it is."""
    written = ";" in datatype or datatype == XSD + "token"
    return ColumnType.of(datatype).in_words() if written else datatype


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as a cell writes it: its digits, its sign, what a word multiplies it by, and its unit."""

    digits: str
    negative: bool
    scale: float
    unit: str
    plain: bool
    """Whether nothing stands beside sign and digits."""

    def number(self, *, comma: bool, unit: str = "") -> float | None:
        """The number in `unit`, with a decimal point or a `comma`; None where digits or unit do not fit."""
        digits = self.digits
        if _GROUPED.fullmatch(digits):
            digits = re.sub(f"[{_SPACES}]", "", digits).replace(",", ".")
        elif not (_WITH_COMMA if comma else _WITH_POINT).fullmatch(digits):
            return None
        elif comma:
            digits = digits.replace(".", "").replace(",", ".")
        else:
            digits = digits.replace(",", "")
        factor = self.scale
        if self.unit and unit and self.unit != unit:
            (measure, size), (of_column, column_size) = (UNITS.get(u, (u, 1.0)) for u in (self.unit, unit))
            if measure != of_column:
                return None
            factor *= size / column_size
        # Rounded, as 2.3 hours are 138 minutes and not the float below.
        number = float(digits) if factor == 1 else float(f"{float(digits) * factor:.12g}")
        return (-number if self.negative else number) if math.isfinite(number) else None


def read_amount(text: str) -> Amount | None:
    """Read a number with its sign, currency, unit, % or power of ten; None for other text, and `007`."""
    match = _AMOUNT.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None or bool(match["open"]) != text.endswith(")") or _CODE.fullmatch(match["digits"]):
        return None
    scale, unit = float(f"1{match['power']}") if match["power"] else 1.0, ""
    around = f"{match['before'] or ''} {match['after'] or ''}"
    around = _SQUARE.sub(lambda unit: f"sq{unit[1] or unit[2]}", around)
    words = [word.lower() for word in _WORDS_AROUND.findall(around)]
    for word in words:
        word_unit = CURRENCIES.get(word) or (word if word in UNITS or word == PERCENT else "")
        # *3.5M €* is millions, *3 m* metres; two units are none.
        power = (
            SCALES.get(word) or SCALES.get(word.rstrip("s")) or (1e6 if word == "m" and "M" in around else 0)
        )
        if power:
            scale *= power
        elif word_unit and unit in ("", word_unit):
            unit = word_unit
        else:
            return None
    if match["before"] and unit not in CURRENCIES.values():
        return None
    negative = bool(match["open"]) or (match["sign"] or match["sign2"]) in ("-", "\u2212")
    plain = not words and not match["open"] and "\u2212" not in text and "," not in text and " " not in text
    return Amount(match["digits"], negative, scale, unit, plain and not _GROUPED.fullmatch(match["digits"]))


MOST_WRITTEN = 20
"""Numbers of a column that are looked at to find their unit."""


def unit_of_numbers(numbers: Iterable[tuple[str, float]]) -> str:
    """The unit that numbers are in, by how they are written; empty if they say none.

    >>> unit_of_numbers([("2.5 t", 2500.0), ("80 kg", 80.0)])
    'kg'
    """
    for text, number in numbers:
        amount = read_amount(text)
        if amount is None or amount.unit not in UNITS:
            continue
        if math.isnan(number) or number in (amount.number(comma=False), amount.number(comma=True)):
            return amount.unit
    return ""


_CODE = re.compile(r"0[0-9]+")
"""Digits that no number is written with."""


def is_bare_year(text: str) -> bool:
    """Whether a number may be a year among dates."""
    return _BARE_YEAR.fullmatch(text) is not None


def compact_day(text: str) -> Parsed:
    """The day that a number such as *20240131* is, in a column of nothing else."""
    match = _COMPACT_DAY.fullmatch(text)
    days = None if match is None else days_since_epoch(*map(int, match.groups()))
    return NO_VALUE if days is None else (ValueKind.DATE, float(days))


def serial_day(text: str) -> str:
    """The day from 1950 to 2099 that spreadsheets write as *45292*, in ISO 8601; "" for other text."""
    days = float(text) if _SERIAL_DAY.fullmatch(text) else 0.0
    if not 18_264 <= days < 73_051:
        return ""
    day = datetime(1899, 12, 30) + timedelta(seconds=round(days * 86_400))
    return day.isoformat() if days % 1 else day.date().isoformat()


_SERIAL_DAY = re.compile(r"[0-9]{5}(?:\.[0-9]+)?")


def _month_of_year(text: str) -> Parsed:
    """*March 1999* in a column of dates; alone it may be a name."""
    match = _MONTH_ALONE.fullmatch(text)
    return _written_date(f"1 {match['month']} {match['year']}") if match else NO_VALUE


def numeric_day(text: str) -> tuple[int, int] | None:
    """The two numbers before the year of *31/12/2020*; None for other text."""
    match = _numeric_match(text) if len(text) <= MAX_LENGTH else None
    return None if match is None else (int(match["first"]), int(match["second"]))


def _numeric_match(text: str) -> re.Match[str] | None:
    """The parts of *31/12/2020*, or *31/12/20*; *3.1.20* is rather a version."""
    match = _NUMERIC_DAY.fullmatch(text)
    if match is None or len(match["year"]) == 4 or match["cut"] == "/":
        return match
    return match if len(match["first"]) == len(match["second"]) == 2 else None


def _full_year(digits: str) -> int:
    """A year of four digits, or of two, as POSIX reads them."""
    century = 0 if len(digits) > 2 else 1900 if int(digits) >= 69 else 2000
    return century + int(digits)


def first_value(text: str, *parsers: Callable[[str], Parsed]) -> Parsed:
    """What the first parser makes of a text that makes anything of it."""
    return next((value for parser in parsers if (value := parser(text))[0]), NO_VALUE)


def shown_properties(
    properties: Iterable[tuple[str, str, str | None]], label: Callable[[str], str]
) -> tuple[tuple[str, str, int, float], ...]:
    """Properties of an edge as people read them: key, text, kind, value; `label` says keys and names."""
    return tuple(
        (label(key), label(text) if datatype is None else text, *_edge_value(text, datatype))
        for key, text, datatype in properties
    )


def _edge_value(text: str, datatype: str | None) -> Parsed:
    """As `parse_value`, and of a boolean (NONE, 1) or (NONE, 0)."""
    type_ = ColumnType.of(datatype or "")
    if type_.base == XSD + "boolean" and type_.fits(text):
        return ValueKind.NONE, float(text.lower() in TRUE)
    return parse_value(text, datatype)


def parse_value(text: str, datatype: str | None = None) -> Parsed:
    """Kind and value of `text`, a number as written (`45 %` is 45) or days since 0001-01-01, a time below 1.

    `datatype` is the IRI of an RDF literal's datatype, that of a column (`ColumnType`), or `@` and a language
    tag; None for untyped text. Strings and datatypes that are not known are read as untyped text. (NONE, NaN)
    if nothing fits.
    """
    if len(text) > MAX_LENGTH:
        return NO_VALUE
    text = text.strip()
    if datatype is not None and ";" in datatype:
        return ColumnType.of(datatype).value(text)
    if datatype in NUMBER_TYPES:
        if text in _INFINITE:
            return ValueKind.NUMBER, _INFINITE[text]
        return _number(text) if _NUMBER.fullmatch(text) else NO_VALUE
    if datatype in DATE_TYPES:
        return _iso_date(text, year_alone=True)
    if datatype == _TIME_TYPE:
        return _time_of_day(text)
    if datatype is not None and (datatype in _OPAQUE_TYPES or datatype.startswith("@")):
        return NO_VALUE
    if _NUMBER.fullmatch(text):
        return NO_VALUE if _CODE.fullmatch(text) else _number(text)
    return first_value(text, _time_of_day, _iso_date, _written_date, _year_of_era)


def as_xsd(text: str, datatype: str) -> tuple[str, str]:
    """A literal as XML Schema writes it: text and datatype; others than those of columns stay.

    >>> as_xsd("$1,200.50", XSD + "decimal;unit=USD")
    ('1200.5', 'http://www.w3.org/2001/XMLSchema#decimal')
    """
    if ";" not in datatype:
        return text, datatype
    base = ColumnType.of(datatype).base
    kind, value = parse_value(text, datatype)
    if base == XSD + "boolean":
        return str(text.lower() in TRUE).lower(), base
    if kind == ValueKind.NUMBER:
        return repr(int(value) if value.is_integer() else value), base
    if kind == ValueKind.DATE:
        seconds = round(value % 1 * 86_400) % 86_400
        time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        if base == XSD + "time":
            return time, base
        if base == XSD + "gYear":
            return f"{year_of(value):05.0f}" if value < 0 else f"{year_of(value):04.0f}", base
        return f"{iso_day(value)}T{time}" if seconds else iso_day(
            value
        ), XSD + "dateTime" if seconds else base
    return text, XSD + "string"


def iso_day(days: float) -> str:
    """The day that is so many days after 0001-01-01, as ISO writes it."""
    cycles, cycle_day = divmod(math.floor(days), _DAYS_OF_400_YEARS)
    day = date.fromordinal(cycle_day + 1)
    year = day.year + 400 * cycles
    return f"{year:05}-{day:%m-%d}" if year < 0 else f"{year:04}-{day:%m-%d}"


def plain_label(graph: Graph, node: int) -> str:
    """The label of a node; a day in numbers as ISO writes it: *12/08/2023* does not tell day from month."""
    label = graph.labels[node]
    is_day = graph.values.kind[node] == ValueKind.DATE and numeric_day(label) is not None
    return iso_day(float(graph.values.value[node])) if is_day else label


def is_value(text: str) -> bool:
    """Whether a text that has no datatype is a number or a date."""
    return parse_value(text)[0] != ValueKind.NONE


def _number(text: str) -> Parsed:
    value = float(text.rstrip("% ").replace(",", "").replace("\u2212", "-"))
    return (ValueKind.NUMBER, value) if math.isfinite(value) else NO_VALUE


def _time_of_day(text: str) -> Parsed:
    match = _TIME_OF_DAY.fullmatch(text)
    time = None if match is None else time_of_day(*_on_clock(match), match["half"])
    return NO_VALUE if time is None else (ValueKind.DATE, time)


def time_of_day(hours: int, minutes: int, seconds: float = 0.0, half: str | None = None) -> float | None:
    """The part of a day that has passed, in [0, 1); `half`: *a* or *p*, of twelve hours. None for no time."""
    if half is not None:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + 12 * (half.lower() == "p")
    passed = _seconds(hours, minutes, seconds)
    return None if passed is None or hours == 24 or seconds >= 60 else passed / 86_400


def _on_clock(match: re.Match[str]) -> tuple[int, int, float]:
    """Hours, minutes and seconds of `_CLOCK`."""
    return int(match["hours"]), int(match["minutes"]), float(match["seconds"] or 0)


def _seconds(hours: int, minutes: int, seconds: float) -> float | None:
    """Seconds after midnight, 24:00 and leap seconds as in ISO 8601; None if a clock has no such time."""
    if hours > 24 or minutes > 59 or seconds >= 61 or (hours == 24 and minutes + seconds > 0):
        return None
    return hours * 3600 + minutes * 60 + seconds


def _iso_date(text: str, *, year_alone: bool = False) -> Parsed:
    """ISO 8601 year, month, day, or day and time; a time with a zone is brought to UTC."""
    is_slashed = text[4:5] == text[7:8] == "/"
    match = _ISO.fullmatch(text.replace("/", "-", 2) if is_slashed else text)
    if match is None or (match["month"] is None and not year_alone):
        return NO_VALUE
    days = days_since_epoch(int(match["year"]), int(match["month"] or 1), int(match["day"] or 1))
    if days is None:
        return NO_VALUE
    if match["hours"] is None:
        return ValueKind.DATE, float(days)
    seconds = _seconds(*_on_clock(match))
    if seconds is None:
        return NO_VALUE
    if (zone := match["zone"]) not in (None, "Z"):
        minutes = int(zone[3:].lstrip(":") or 0)
        seconds -= int(f"{zone[0]}1") * (int(zone[1:3]) * 3600 + minutes * 60)
    return ValueKind.DATE, days + seconds / 86_400


def _written_date(text: str) -> Parsed:
    """`12 March 1999`, `12-Mar-99`, `March 12, 1999`; nothing is ambiguous: the month is an English name."""
    match = _DAY_FIRST.fullmatch(text) or _MONTH_FIRST.fullmatch(text)
    parts = match.groupdict() if match else {}
    month = _MONTH.get((parts.get("month") or parts.get("short_month") or "").lower())
    if month is None:
        return NO_VALUE
    days = days_since_epoch(_full_year(parts.get("year") or parts["short_year"]), month, int(parts["day"]))
    return NO_VALUE if days is None else (ValueKind.DATE, float(days))


def is_whole_day(text: str) -> bool:
    """Whether a text that was read as a date is a day: no month or year alone, and no time of a day."""
    patterns = (_ISO, _NUMERIC_DAY, _DAY_FIRST, _MONTH_FIRST, _COMPACT_DAY)
    match = next((match for pattern in patterns if (match := pattern.fullmatch(text.strip()))), None)
    parts = {} if match is None else match.groupdict("")
    return bool(parts) and not parts.get("hours") and bool(parts.get("day") or parts.get("first"))


def _year_of_era(text: str, *, bare: bool = False) -> Parsed:
    """*753 BC*, *44 BCE*, *AD 79*; a `bare` year too if it is said. The year before 1 is 1 BC."""
    match = _YEAR_OF_ERA.fullmatch(text)
    if match is None or not (bare or match["era"] or match["ad"]) or int(match["year"]) == 0:
        return NO_VALUE
    before = match["era"].lower().startswith("b")
    days = days_since_epoch(1 - int(match["year"]) if before else int(match["year"]), 1, 1)
    return NO_VALUE if days is None else (ValueKind.DATE, float(days))


_DAYS_OF_400_YEARS = 146_097
"""The calendar is the same every 400 years, and Python's has the years 1 to 9999 only."""


def days_since_epoch(year: int, month: int, day: int) -> int | None:
    """Days from 0001-01-01 (proleptic Gregorian; year 0 is 1 BCE), None if there is no such day."""
    cycles, cycle_year = divmod(year - 1, 400)
    try:
        return date(cycle_year + 1, month, day).toordinal() - 1 + cycles * _DAYS_OF_400_YEARS
    except ValueError:
        return None


def year_of(days: float) -> float:
    """The year in which a day lies, given in days since 0001-01-01."""
    cycles, cycle_day = divmod(math.floor(days), _DAYS_OF_400_YEARS)
    return float(date.fromordinal(cycle_day + 1).year + 400 * cycles)


def month_days(days: NDArray[np.float64]) -> NDArray[np.int64]:
    """100 times the month of each day since 0001-01-01, and its day, int64 [n]; -1 for times and midnight."""
    whole_days = np.floor(days)
    date = np.datetime64("0001-01-01") + whole_days.astype("timedelta64[D]")
    month = date.astype("datetime64[M]")
    codes = (month.astype(np.int64) % 12 + 1) * 100 + (date - month).astype(np.int64) + 1
    codes[whole_days == 0] = -1
    return codes


def node_values(names: Names, labels: Names, datatype: NDArray[np.int16], datatypes: Sequence[str]) -> Values:
    """Parse the values of all nodes; `datatype` int16 [nodes] is an index into `datatypes` or -1.

    Only names whose first and last bytes may belong to a number or a date are parsed. The name of an entity
    that has a label beside it is an id, as the 144 of a movie, and no number.
    """
    kind: UInt8 = np.zeros(len(names), np.uint8)
    value: Float64 = np.full(len(names), np.nan)
    of_columns = np.array([*(";" in name for name in datatypes), False])[datatype]
    for node in np.flatnonzero(_may_be_value(names) | of_columns).tolist():
        type_ = int(datatype[node])
        if type_ < 0 and labels is not names and labels[node] != names[node]:
            continue
        kind[node], value[node] = parse_value(names[node], datatypes[type_] if type_ >= 0 else None)
    return Values(datatype, kind, value, Names.of(datatypes))


def _may_be_value(names: Names) -> NDArray[np.bool_]:
    """Say which names are worth parsing: bool [nodes], never False for one that has a value."""
    if len(names.blob) == 0:
        return np.zeros(len(names), np.bool_)
    opens, closes = np.zeros(256, np.bool_), np.zeros(256, np.bool_)
    opens[list(_OPENING)] = True
    closes[list(_CLOSING)] = True
    starts, stops = names.offsets[:-1], names.offsets[1:]
    length = stops - starts
    last = len(names.blob) - 1
    head = [names.blob[np.minimum(starts + i, last)] for i in range(3)]
    is_month = np.isin(_three_letters(*head), _MONTH_LETTERS)
    tail = names.blob[np.maximum(stops, 1) - 1]
    return (opens[head[0]] | is_month) & closes[tail] & (length > 0) & (length <= 3 * MAX_LENGTH)


# Bytes from 0x80 begin or end white space, which is stripped, or the minus sign U+2212; I and F are for INF.
_OPENING = b"0123456789+-.I\xc2\xe1\xe2\xe3" + bytes(range(33))
_CLOSING = b"0123456789.%ZFmMcCeEdD" + bytes(range(128, 192)) + bytes(range(33))


def _three_letters(first: UInt8, second: UInt8, third: UInt8) -> NDArray[np.int32]:
    """Code of three bytes, letters in lower case."""
    lower = [byte.astype(np.int32) | 32 for byte in (first, second, third)]
    return (lower[0] << 16) | (lower[1] << 8) | lower[2]


_MONTH_LETTERS = _three_letters(*(np.array([ord(name[i]) for name in MONTHS], np.uint8) for i in range(3)))
