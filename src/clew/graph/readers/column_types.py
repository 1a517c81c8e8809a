"""What a column holds, told by all its cells: a type, or several values in a cell.

A column is of numbers, dates, times, or true and false if nearly all its cells can be read so; what cannot
is kept as text and counted. Whether a comma is decimal, and whether the day or the month comes first, is what
most cells show that leave no choice. One leading zero makes a column of codes.

A cell holds several values where a separator stands in many cells and the parts come again, alone or in
another place of other cells: *Crime, Drama* beside *Drama*, but never *Paris, France*.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from clew.graph.namespaces import XSD
from clew.graph.readers.columns import header_words
from clew.graph.units import CURRENCIES, UNITS, unit_in
from clew.graph.values import (
    FALSE,
    MAX_LENGTH,
    PERCENT,
    TRUE,
    ColumnType,
    numeric_day,
    parse_value,
    read_amount,
)

TYPED_SHARE = 0.8
"""A column has a type if at least this share of its cells can be read so."""
MOST_TRACKED = 20_000
"""Distinct cells of a column that are kept to look for names, references and separators."""
SEPARATORS = ("|", "; ", ";", ", ", " / ", ",")
"""What may stand between the values of a cell, the surest first."""
LONGEST_PART = 6
"""Words of a value among several in a cell."""
_XSD_DAY = re.compile(r"\d{4}-\d\d-\d\d(?P<time>T\d\d:\d\d:\d\d.*)?")
_XSD_TIME = re.compile(r"\d\d:\d\d:\d\d")


class Form(NamedTuple):
    """How a cell is written.

    `first`, `second`: whether it can be read with a decimal point, with a decimal comma; of a date, with the
    day first, with the month first. `whole`: without a fraction, in each case. `plain`: as XSD writes it.
    """

    kind: str
    first: bool = True
    second: bool = True
    whole: tuple[bool, bool] = (True, True)
    unit: str = ""
    plain: bool = True
    sign: str = ""


_TEXT, _INTEGER, _CODE = Form("text"), Form("number"), Form("code")


@lru_cache(maxsize=1 << 16)
def form_of(cell: str) -> Form:
    """Tell how a cell is written."""
    if len(cell) > MAX_LENGTH:
        return _TEXT
    if cell.isdecimal() and cell.isascii():
        return _CODE if cell[0] == "0" and len(cell) > 1 else _INTEGER
    if cell.lower() in TRUE | FALSE and len(cell) > 1:
        return Form("truth", plain=cell.lower() in ("true", "false"))
    if not any(map(str.isdigit, cell)):
        return _TEXT
    amount = read_amount(cell)
    point = None if amount is None else amount.number(comma=False)
    comma = None if amount is None else amount.number(comma=True)
    if amount is not None and (point is not None or comma is not None):
        whole = tuple(number is None or number.is_integer() for number in (point, comma))
        fraction = "." in amount.digits and not comma, "," in amount.digits and not point
        return Form(
            "number",
            point is not None,
            comma is not None,
            (whole[0] and not fraction[0], whole[1] and not fraction[1]),
            amount.unit,
            amount.plain and amount.scale == 1,
            "," if "," in amount.digits else "." if "." in amount.digits else "",
        )
    day = numeric_day(cell)
    if day is not None:
        return Form("day", day[1] <= 12, day[0] <= 12, plain=False, sign="." if "." in cell else "")
    for kind in ("time", "date", "gYear"):
        if parse_value(cell, f"{XSD}{kind};written")[0]:
            return _dated(kind, cell)
    return _TEXT


def _dated(kind: str, cell: str) -> Form:
    if kind != "date":
        return Form(kind, plain=kind == "time" and _XSD_TIME.fullmatch(cell) is not None)
    hit = _XSD_DAY.fullmatch(cell)
    return Form(kind, plain=hit is not None, sign="T" if hit and hit["time"] else "")


@dataclass(slots=True)
class ColumnProfile:
    """What the cells of a column are, in numbers of cells; `distinct` are the first of them, bounded."""

    filled: int = 0
    empty: int = 0
    forms: Counter[Form] = field(default_factory=Counter[Form])
    distinct: set[str] = field(default_factory=set[str])
    tracked: int = 0
    """Cells of which `distinct` has all."""

    def take(self, cells: Sequence[str]) -> None:
        """Look at further cells."""
        counts = Counter(cells)
        self.empty += counts.pop("", 0)
        for cell, count in counts.items():
            self.filled += count
            self.forms[form_of(cell)] += count
        if len(self.distinct) < MOST_TRACKED:
            self.distinct.update(counts)
            self.tracked += len(cells)

    @property
    def unique(self) -> float:
        """Share of the cells looked at that are distinct."""
        return len(self.distinct) / max(self.tracked, 1)

    @property
    def whole_numbers(self) -> bool:
        """Whether all cells are plain whole numbers."""
        return bool(self.filled) and self.forms[_INTEGER] == self.filled


@dataclass(frozen=True, slots=True)
class Typing:
    """The type of a column, None for text; the unit that its name says; how many of its cells do not fit."""

    type: ColumnType | None = None
    unit: str = ""
    texts: int = 0
    unsure: bool = False
    """Whether its dates can be read with the day or the month first, and no cell of the table tells."""

    def in_words(self) -> str:
        """Say it as *decimal, EUR; 3 cells are texts*; nothing of a text."""
        if self.unsure:
            return "text, as no date shows whether the day or the month comes first"
        if self.type is None:
            return ""
        unit = f", {self.unit}" if self.unit and not self.type.unit else ""
        texts = (
            f"; {self.texts:,} cell{'s are texts' if self.texts > 1 else ' is a text'}" if self.texts else ""
        )
        return f"{self.type.in_words()}{unit}{texts}"


def types_of(names: Sequence[str], profiles: Sequence[ColumnProfile], delimiter: str = ",") -> list[Typing]:
    """The types of the columns of a table; a comma is rather decimal where semicolons separate cells."""
    days = Counter[bool]()
    for profile in profiles:
        for form, count in profile.forms.items():
            if form.kind == "day" and form.first != form.second:
                days[form.first] += count
    day_first = days[True] > days[False] if days[True] != days[False] else None
    return [
        _typing(name, profile, delimiter == ";", day_first)
        for name, profile in zip(names, profiles, strict=True)
    ]


def _typing(name: str, profile: ColumnProfile, semicolons: bool, day_first: bool | None) -> Typing:
    """Take the first type that fits nearly all cells."""
    least = TYPED_SHARE * profile.filled
    counts = Counter[str]()
    for form, count in profile.forms.items():
        counts[form.kind] += count
    if not profile.filled:
        return Typing()
    if counts["code"] and counts["code"] + counts["number"] >= least:
        return Typing(ColumnType(XSD + "token"))
    eras = counts["gYear"]
    years = eras + profile.forms[_INTEGER]
    if eras and years >= least:
        return Typing(ColumnType(XSD + "gYear", as_xsd=False), texts=profile.filled - years)
    if counts["number"] >= least:
        return _number_typing(name, profile, semicolons, least)
    if counts["date"] + counts["day"] >= least:
        return _date_typing(profile, day_first, least)
    for kind, base in (("time", "time"), ("truth", "boolean")):
        if counts[kind] >= least:
            plain = all(form.plain for form in profile.forms if form.kind == kind)
            return Typing(ColumnType(XSD + base, as_xsd=plain), texts=profile.filled - counts[kind])
    return Typing()


def _number_typing(name: str, profile: ColumnProfile, semicolons: bool, least: float) -> Typing:
    forms = [(form, count) for form, count in profile.forms.items() if form.kind == "number"]
    points = sum(count for form, count in forms if form.first and not form.second)
    commas = sum(count for form, count in forms if form.second and not form.first)
    comma = commas > points or (semicolons and not points and any(form.sign == "," for form, _ in forms))
    units = Counter[str]()
    for form, count in forms:
        units[form.unit] += count
    units.pop("", None)
    said = _unit_of_name(name)
    unit = next((u for u, _ in units.most_common()), "")
    if said and unit and _measure(said) == _measure(unit):
        unit = said
    fitting = [
        (form, count)
        for form, count in forms
        if (form.second if comma else form.first) and (not form.unit or _measure(form.unit) == _measure(unit))
    ]
    fit = sum(count for _, count in fitting)
    if fit < least:
        return Typing()
    whole = all(form.whole[comma] and form.unit in ("", unit) for form, _ in fitting)
    plain = not comma and all(form.plain and not form.unit for form, _ in fitting)
    base = XSD + ("integer" if whole else "decimal")
    return Typing(ColumnType(base, comma, None, unit, plain), said, profile.filled - fit)


def _measure(unit: str) -> str:
    return UNITS.get(unit, (unit, 1.0))[0]


def _unit_of_name(name: str) -> str:
    """The unit, currency or % that a column's name says."""
    words = header_words(name).split()
    currency = next((CURRENCIES[w] for w in words if w in CURRENCIES and len(w) == 3), "")
    percent = PERCENT if {"percent", "percentage", "pct"}.intersection(words) or PERCENT in name else ""
    return currency or percent or unit_in(words)


def _date_typing(profile: ColumnProfile, day_first: bool | None, least: float) -> Typing:
    days = [(form, count) for form, count in profile.forms.items() if form.kind == "day"]
    if days and day_first is None and any(form.sign == "." for form, _ in days):
        day_first = True
    dates = [(form, count) for form, count in profile.forms.items() if form.kind == "date"]
    fitting = [
        (form, count)
        for form, count in days
        if day_first is not None and (form.first if day_first else form.second)
    ]
    fit = sum(count for _, count in (*dates, *fitting))
    if fit < least:
        return Typing(unsure=bool(days) and day_first is None)
    plain = not fitting and all(form.plain for form, _ in dates)
    timed = plain and all(form.sign == "T" for form, _ in dates)
    base = XSD + ("dateTime" if timed else "date")
    return Typing(
        ColumnType(base, day_first=day_first if fitting else None, as_xsd=plain), texts=profile.filled - fit
    )


def separator_of(profile: ColumnProfile) -> str:
    """What separates several values in the cells of a column of texts; empty if each holds one."""
    return next((mark for mark in SEPARATORS if _separates(mark, profile.distinct)), "")


def _separates(mark: str, cells: Iterable[str]) -> bool:
    """Whether most cells with a mark have parts that come again in another place or alone."""
    lists = [[part.strip() for part in cell.split(mark)] for cell in cells if cell]
    several = [parts for parts in lists if len(parts) > 1]
    if len(several) < 2 or 10 * len(several) < len(lists):
        return False
    if any(not part or len(part.split()) > LONGEST_PART for parts in several for part in parts):
        return False
    places: dict[str, set[int]] = {}
    for parts in lists:
        for place, part in enumerate(parts):
            places.setdefault(part, set()).add(place if len(parts) > 1 else -1)
    again = sum(any(len(places[part]) > 1 for part in parts) for parts in several)
    # Nothing but a list is written with bars.
    return 2 * again >= len(several) or mark == "|"
