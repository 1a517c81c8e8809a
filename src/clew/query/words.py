"""Query graphs in words, for people: what was read, and what else might have been."""

from __future__ import annotations

from calendar import month_name

from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Part,
    Query,
    Value,
    Walk,
    Without,
)
from clew.query.vocabulary import Vocabulary

_SIGN_WORDS = {
    "=": "is",
    "!=": "is not",
    ">": "is above",
    ">=": "is at least",
    "<": "is below",
    "<=": "is at most",
}
_COUNTS = {
    "=": "exactly",
    "!=": "not",
    ">": "more than",
    ">=": "at least",
    "<": "fewer than",
    "<=": "at most",
}
_ASK_WORDS = {
    "count": "the number of",
    "yes": "whether there is",
    "sum": "the sum of",
    "average": "the average of",
    "largest": "the largest of",
    "smallest": "the smallest of",
}


def say(query: Query, vocabulary: Vocabulary) -> str:
    """A query in one line of plain English."""
    match query:
        case Query("yes", Both(left, Anchor(node, _))):
            return f"whether {vocabulary.graph.label(node)} is {_say(left, vocabulary)}"
        case Query("list", part):
            return _say(part, vocabulary)
        case _:
            return f"{_ASK_WORDS[query.ask]} {_say(query.part, vocabulary)}"


def _say(part: Part, vocabulary: Vocabulary) -> str:
    match part:
        case Anchor(node, _):
            return vocabulary.graph.label(node)
        case OfType(type_, end):
            if type_ >= 0:
                return f"everything of type {vocabulary.types[type_]}"
            relation = vocabulary.relations[end // 2]
            return f"every {relation}" if end & 1 else f"everything with {relation}"
        case Walk(source, step):
            return _say_step(_say(source, vocabulary), step, vocabulary)
        case Both():
            return _say_both(part, vocabulary)
        case Either(left, right):
            return f"{_say(left, vocabulary)} or {_say(right, vocabulary)}"
        case Without(left, right):
            return f"{_say(left, vocabulary)} but not {_say(right, vocabulary)}"
        case Compared(source, steps, sign, value):
            value_text = _value(value) if isinstance(value, Value) else _say(value, vocabulary)
            condition = f"{_names(steps, vocabulary)} {_SIGN_WORDS[sign]} {value_text}"
            return f"{_say(source, vocabulary)} whose {condition}"
        case Counted(source, step, sign, number, _):
            count_text = "no" if number == 0 else f"{_COUNTS[sign]} {number}"
            return f"{_say(source, vocabulary)} with {count_text} {_names((step,), vocabulary)}"
        case Extreme(source, steps, counted, largest, number):
            number_text = "" if number == 1 else f"{number} "
            rank = ("most" if largest else "fewest") if counted else ("largest" if largest else "smallest")
            of = f"{_names(steps, vocabulary)} of {_say(source, vocabulary)}"
            return f"the {number_text or 'one '}with the {rank} {of}"


def _say_both(part: Both, vocabulary: Vocabulary) -> str:
    match part:
        case Both(Walk(source, step), OfType(type_, _)) if type_ >= 0 and step & 1:
            return _say_whose(_say(source, vocabulary), step, vocabulary, vocabulary.types[type_])
        case Both(left, OfType(type_, _)) if type_ >= 0:
            return f"{_say(left, vocabulary)}, of type {vocabulary.types[type_]}"
        case Both(left, right):
            return f"{_say(left, vocabulary)} that is also {_say(right, vocabulary)}"


def _say_step(source: str, step: int, vocabulary: Vocabulary) -> str:
    relation = vocabulary.relations[step // 2]
    if not step & 1:
        return f"{relation} of [{source}]" if " " in source else f"{relation} of {source}"
    type_ = vocabulary.end_types[step ^ 1]
    sure = type_ >= 0 and vocabulary.all_of_type(step ^ 1, type_)
    return _say_whose(source, step, vocabulary, vocabulary.types[type_] if sure else "what")


def _say_whose(source: str, step: int, vocabulary: Vocabulary, things: str) -> str:
    """Things that a relation leads from to a source."""
    source_text = f"[{source}]" if " " in source else source
    return f"{things} whose {vocabulary.relations[step // 2]} is {source_text}"


def _names(steps: tuple[int, ...], vocabulary: Vocabulary) -> str:
    return " of ".join(
        f"{vocabulary.relations[s // 2]}{' (from the other end)' if s & 1 else ''}" for s in reversed(steps)
    )


def _value(value: Value) -> str:
    if not value.date:
        return (
            f"{value.number:g}" if not value.width else f"{value.number:g} to {value.number + value.width:g}"
        )
    if value.yearly:
        return _of_every_year(value)
    from datetime import date

    if 0 <= value.number < 1:
        minutes = round(value.number * 24 * 60)
        return f"{minutes // 60:02}:{minutes % 60:02}"
    start, stop = (
        date.fromordinal(int(day) + 1).isoformat() for day in (value.number, value.number + value.width)
    )
    return start if start == stop else f"{start} to {stop}"


def _of_every_year(value: Value) -> str:
    month, day = divmod(int(value.number), 100)
    name = month_name[month]
    return name if value.width else f"{name} {day}"
