"""Times in a question: told from today (*last year*, *ten years ago*), and of edges (*in 2023*, *now*)."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from clew.graph.steps import relation_of
from clew.query.execute import Executor
from clew.query.tree import OnEdge, Query, Sign, Value
from clew.query.values import NUMBER_WORDS, day_number, days_from, today
from clew.reading.comparisons import sign_beside
from clew.reading.edge_words import EdgeKeys
from clew.reading.mentions import Mention
from clew.reading.operator import Operator, as_it_is

_PERIOD = r"(?P<unit>year|month|week|day|decade)s?"
_AGO = re.compile(
    rf"\b(?P<sign>more than|over|less than|under)?\s*(?P<number>\d+|an?|\w+)\s+{_PERIOD}\s+ago\b", re.I
)
_WITHIN = re.compile(
    rf"\b(?:in|within|during|over)\s+the\s+(?:last|past)\s+(?P<number>\d+|\w+)\s+{_PERIOD}\b", re.I
)
_LAST = re.compile(r"\b(?:in\s+|during\s+)?(?P<which>last|this)\s+(?P<unit>year|month)\b", re.I)
_BEFORE = re.compile(
    r"\b(?:in|on|during|since|from|before|after|until|till|by|at|as of|prior to|starting)\s+"
    r"(?:the\s+)?(?:year\s+)?$",
    re.I,
)


@dataclass(frozen=True, eq=False)
class Times:
    """The times that the words of one question tell over one graph."""

    executor: Executor
    text: str
    mentions: Sequence[Mention]
    keys: EdgeKeys

    def found(self) -> Iterator[Operator]:
        """Dates of edges (*ordered in 2023*, *works at Nord now*); where edges have none, *last year*."""
        if not len(self.keys.graph.edge_properties):
            yield from self._relative_dates()
            return
        yield from map(self._over_edges, (*self._told_from_today(), *self._told()))

    def now(self, query: Query) -> Query | None:
        """The query over edges that hold today; None where none of its edges begin or end."""
        return self._at_time(query, "=", _span(today(), today()))

    def _over_edges(self, told: tuple[int, int, Sign, Value]) -> Operator:
        """What puts a time on the edges of a query."""
        start, stop, sign, value = told
        return Operator(start, stop, lambda query: self._at_time(query, sign, value), certain=False)

    def _relative_dates(self) -> Iterator[Operator]:
        """*Last year*, *more than ten years ago*, as the dates that they are."""
        for start, stop, sign, value in self._told_from_today():
            first = date.fromordinal(int(value.number) + 1)
            last = date.fromordinal(int(value.number + value.width) + 1)
            if last == today() and sign == "=":
                sign, last = ">=", first
            word = {"<": "before", ">": "after", ">=": "since"}.get(sign, "on" if first == last else "in")
            value = _span(first, last)
            if first == last or first.year != last.year:
                yield Operator(start, stop, as_it_is, f"{word} {first}", values=(value,))
            elif (first.month, last.month) == (1, 12):
                values = (value, Value(float(first.year)))
                yield Operator(start, stop, as_it_is, f"{word} {first.year}", values=values)
            else:
                yield Operator(start, stop, as_it_is, f"{word} {first:%Y-%m}", values=(value,))

    def _told_from_today(self) -> Iterator[tuple[int, int, Sign, Value]]:
        """Dates that are told from today, with how they bound."""
        for match in _AGO.finditer(self.text):
            day = _ago(match["number"], match["unit"])
            if day is not None:
                word = (match["sign"] or "").lower()
                sign: Sign = "<" if word in ("more than", "over") else ">" if word else "="
                yield *match.span(), sign, _span(day, day) if word else _span_of(day, match["unit"].lower())
        for match in _WITHIN.finditer(self.text):
            first = _ago(match["number"], match["unit"])
            if first is not None:
                yield *match.span(), "=", _span(first, today())
        for match in _LAST.finditer(self.text):
            unit, which = match["unit"].lower(), match["which"].lower()
            day = _ago("1", unit) if which == "last" else today()
            if day is not None:
                yield *match.span(), "=", _span_of(day, unit)

    def _told(self) -> Iterator[tuple[int, int, Sign, Value]]:
        """Dates that are written, with how the words before them bound."""
        for mention in self.mentions:
            dates = [v for v in mention.values if v.date and not v.is_time]
            before = _BEFORE.search(self.text, 0, mention.start)
            if dates and before is not None:
                word = before[0].split()[0].lower()
                sign = sign_beside(self.text, mention) or "="
                sign = "<=" if word in ("until", "till") else ">=" if word in ("since", "from") else sign
                yield before.start(), mention.stop, sign, dates[0]

    def _at_time(self, query: Query, sign: Sign, value: Value) -> Query | None:
        """The query with its last step over edges of that time."""
        return self.keys.over(
            self.executor, query, lambda step: self._conditions(relation_of(step), sign, value)
        )

    def _conditions(self, relation: int, sign: Sign, value: Value) -> tuple[OnEdge, ...]:
        """What edges of a relation must have: their date, or a begin and an end around it."""
        begin, end, plain = self.keys.dated(relation)
        if value.yearly and (begin or sign != "="):
            return ()  # *in March* of which year
        first = replace(value, width=0.0)
        last = replace(value, number=value.number + value.width, width=0.0)
        if begin and sign == "=":
            ended = (OnEdge(end, ">=", first, or_none=True),) if end else ()
            return (OnEdge(begin, "<=", last), *ended)
        if begin and sign in ("<", ">="):
            return (OnEdge(begin, "<", first),) if sign == "<" else (OnEdge(begin, "=", value),)
        if end and sign in (">", "<="):
            return (OnEdge(end, ">", last, or_none=True),) if sign == ">" else (OnEdge(end, "=", value),)
        return (OnEdge(plain, sign, value),) if plain and not begin else ()


def _count(word: str) -> int | None:
    word = word.lower()
    if word.isdigit():
        return int(word)
    return 1 if word in ("a", "an") else NUMBER_WORDS.get(word)


def _ago(number: str, unit: str) -> date | None:
    """The day that many units before today; None where the calendar has none."""
    try:
        count = _count(number)
        return None if count is None else days_from(today(), unit.lower(), -count)
    except (ValueError, OverflowError):
        return None


def _span(first: date, last: date) -> Value:
    number = day_number(first)
    return Value(number, date=True, width=day_number(last) - number)


def _span_of(day: date, unit: str) -> Value:
    """The year, the month or the day that a day is in."""
    if unit in ("year", "decade"):
        return _span(date(day.year, 1, 1), date(day.year, 12, 31))
    if unit == "month":
        return _span(day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1]))
    return _span(day, day)
