"""Words of a question that are an operator, and what it puts around the query of the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew.query.tree import Query, Value

Spans = tuple[tuple[int, int], ...]
Apply = Callable[[Query], Query | None]


@dataclass(frozen=True, slots=True)
class Operator:
    """Words of a question and what they put around a query; `instead` is read in their place."""

    start: int
    stop: int
    apply: Apply
    instead: str = ""
    certain: bool = True
    """Whether the words mean nothing else; else a reading of the whole question that uses them is kept."""
    names: bool = False
    """Whether it adds a name to one before it."""
    values: tuple[Value, ...] = ()
    """What the last word of `instead` may stand for."""
    weak: bool = False
    """Whether a reading of the whole question that is likelier is taken before it in any case."""
    label: str = ""
    """What the words spell, where they are those of a label."""


def as_it_is(query: Query) -> Query:
    """The query itself: its words stand in the text in another form."""
    return query
