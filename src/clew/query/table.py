"""Nodes as a table: columns by relation, sorted, filtered, counted by value, and paged.

    table = Table(graph, nodes, vocabulary)
    table.columns()  # what the nodes have: how many, what kind
    table.page(["born", "directed_by^"], sort="born", descending=True, limit=50)

A column is a relation by its stored name; `NAME^` is the relation followed backwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from itertools import islice
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from clew.errors import UsageError
from clew.foundation.forms import fields_json
from clew.graph.graph import Graph, ValueKind
from clew.graph.steps import Step, is_backward, relation_of, step_of
from clew.query.execute import Executor, Nodes, OverBudget, stands
from clew.query.tree import OfType
from clew.query.values import value_of
from clew.query.vocabulary import Vocabulary
from clew.query.words import head_of

MOST_FACETS = 30
"""Values of a column that are counted one by one."""
MOST_IN_CELL = 5
"""Values of a cell that are shown; the others are counted."""
MOST_COLUMNS = 60
"""Columns that are described."""
MOST_BARS = 20
"""Bars of a histogram."""
BACK = "^"
ColumnKind = Literal["number", "date", "text"]
Comparison = Literal["=", "!=", ">", ">=", "<", "<=", "contains", "missing", "present"]
COMPARISONS: tuple[Comparison, ...] = ("=", "!=", ">", ">=", "<", "<=", "contains", "missing", "present")


@dataclass(frozen=True, slots=True)
class ColumnFilter:
    """Rows whose value in a column stands so to a value (a name, number or date as people write it)."""

    column: str
    comparison: Comparison
    value: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """What nodes have by one relation, followed in one direction.

    `label` is its head: *height (cm)*, *films directed by …*. `filled` nodes have a value, `distinct` values
    there are; `low` and `high` are the texts of the least and the largest number or date.
    """

    name: str
    label: str
    kind: ColumnKind
    filled: int
    distinct: int
    low: str = ""
    high: str = ""

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return fields_json(self)


class CellForm(TypedDict):
    """The names of the first values of a cell; `more` counts the others."""

    values: list[str]
    more: int


class RowForm(TypedDict):
    """An entity with a cell a column."""

    entity: str
    label: str
    types: list[str]
    cells: list[CellForm]


class ColumnNameForm(TypedDict):
    """A column that was asked for, and what it is called."""

    name: str
    label: str


class PageForm(TypedDict):
    """A page of `count` rows; `next` is the offset of the next page."""

    count: int
    columns: list[ColumnNameForm]
    rows: list[RowForm]
    next: int | None


class ValueCountForm(TypedDict):
    """A value, and how many rows have it."""

    label: str
    count: int


BarForm = TypedDict("BarForm", {"from": float | str, "to": float | str, "count": int})
"""A bar of a histogram: numbers, or days of which `to` is the first after it."""


class FacetsForm(TypedDict):
    """The commonest values of a column, how many others there are, and bars of numbers and dates."""

    values: list[ValueCountForm]
    left: int
    bars: list[BarForm]


@dataclass(frozen=True, slots=True)
class _Cells:
    """The values of one column: `row` int64 [n], ascending, and the node of each value."""

    row: Nodes
    node: Nodes


@dataclass(eq=False)
class Table:
    """Some nodes of a graph and what they have; columns are called by the words of its vocabulary."""

    graph: Graph
    nodes: Nodes
    vocabulary: Vocabulary
    most_edges: int = 20_000_000
    _cells: dict[str, _Cells] = field(default_factory=dict[str, _Cells])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.graph.relations)}

    def columns(self) -> list[Column]:
        """The columns that nodes have, those that most have first, at most `MOST_COLUMNS`."""
        sample = self.nodes[np.linspace(0, len(self.nodes) - 1, min(len(self.nodes), 2_000)).astype(np.int64)]
        steps = Executor(self.graph).steps(np.unique(sample)) if len(sample) else set[Step]()
        columns = [self.column(self._name(step)) for step in sorted(steps)]
        columns.sort(key=lambda column: (column.name.endswith(BACK), -column.filled))
        return columns[:MOST_COLUMNS]

    def _name(self, step: Step) -> str:
        return self.graph.relations[relation_of(step)] + (BACK if is_backward(step) else "")

    def column(self, name: str) -> Column:
        """Describe one column. Raises UsageError if there is no such relation."""
        cells = self._of(name)
        kind, label = self._kind(cells), self._label(name)
        distinct = np.unique(cells.node)
        filled = len(np.unique(cells.row))
        if kind == "text" or not len(distinct):
            return Column(name, label, kind, filled, len(distinct))
        values = self.graph.values.value[distinct]
        ends = [self.graph.label(int(distinct[at])) for at in (np.nanargmin(values), np.nanargmax(values))]
        return Column(name, label, kind, filled, len(distinct), *ends)

    def _label(self, name: str) -> str:
        return head_of(step_of(self._numbers[name.removesuffix(BACK)], name.endswith(BACK)), self.vocabulary)

    def _of(self, name: str) -> _Cells:
        cells = self._cells.get(name)
        if cells is None:
            relation = self._numbers.get(name.removesuffix(BACK))
            if relation is None:
                raise UsageError(f'The graph has no relation "{name.removesuffix(BACK)}"')
            executor = Executor(self.graph, self.most_edges)
            try:
                row, node = executor.edges(self.nodes, step_of(relation, name.endswith(BACK)))
            except OverBudget as error:
                raise UsageError(f'"{name}" has too many values to show them as a column') from error
            cells = self._cells[name] = _Cells(row, node)
        return cells

    def _kind(self, cells: _Cells) -> ColumnKind:
        kinds = self.graph.values.kind[cells.node]
        _, numbers, dates = np.bincount(kinds, minlength=len(ValueKind)).tolist()
        return "number" if 2 * numbers > len(kinds) else "date" if 2 * dates > len(kinds) else "text"

    def keep(self, filters: Sequence[ColumnFilter]) -> NDArray[np.bool_]:
        """Which rows pass all filters, bool [nodes]. Raises UsageError for a value that is none."""
        return np.all([np.ones(len(self.nodes), np.bool_), *map(self._passes, filters)], axis=0)

    def _passes(self, one: ColumnFilter) -> NDArray[np.bool_]:
        passes = np.zeros(len(self.nodes), np.bool_)
        cells = self._of(one.column)
        if one.comparison in ("missing", "present"):
            passes[cells.row] = True
            return passes if one.comparison == "present" else ~passes
        if one.comparison in ("=", "!=", "contains"):
            inside = self._named(cells, one.value, whole=one.comparison != "contains")
            passes[cells.row[inside]] = True
            return ~passes if one.comparison == "!=" else passes
        bound = value_of(one.value, dates=self._kind(cells) == "date")
        if bound is None:
            raise UsageError(f'"{one.value}" is neither a number nor a date to compare {one.column} with')
        has = self.graph.values.kind[cells.node] != ValueKind.NONE
        good = has & stands(self.graph.values.value[cells.node], one.comparison, bound.number)
        passes[cells.row[good]] = True
        return passes

    def _named(self, cells: _Cells, text: str, *, whole: bool) -> NDArray[np.bool_]:
        """Which cells have a value of a name, or one that a text is part of."""
        wanted = text.casefold().strip()
        distinct, inverse = np.unique(cells.node, return_inverse=True)
        labels = (self.graph.labels[node].casefold() for node in distinct.tolist())
        hits = [label == wanted if whole else wanted in label for label in labels]
        return np.array(hits, np.bool_)[inverse] if hits else np.zeros(0, np.bool_)

    def order(self, sort: str, *, descending: bool) -> NDArray[np.int64]:
        """The rows by a column, those without a value last; `""` is by name."""
        if not sort:
            return self._by_name(self.nodes, descending=descending)
        cells = self._of(sort)
        rows, first = np.unique(cells.row, return_index=True)
        if self._kind(cells) == "text":
            ordered = rows[self._by_name(cells.node[first], descending=descending)]
        else:
            values = self.graph.values.value[cells.node].astype(np.float64)
            best = np.full(len(self.nodes), -math.inf if descending else math.inf)
            (np.fmax if descending else np.fmin).at(best, cells.row, values)
            key = -best[rows] if descending else best[rows]
            ordered = rows[np.argsort(key, kind="stable")]
        rest = np.setdiff1d(np.arange(len(self.nodes)), rows)
        return np.concatenate([ordered, rest]).astype(np.int64)

    def _by_name(self, nodes: Nodes, *, descending: bool) -> NDArray[np.int64]:
        distinct, inverse = np.unique(nodes, return_inverse=True)
        labels = [self.graph.labels[node].casefold() for node in distinct.tolist()]
        rank = np.argsort(sorted(range(len(labels)), key=labels.__getitem__))[inverse]
        return np.argsort(-rank if descending else rank, kind="stable")

    def page(
        self,
        columns: Sequence[str],
        *,
        sort: str | None = None,
        descending: bool = False,
        filters: Sequence[ColumnFilter] = (),
        offset: int = 0,
        limit: int = 50,
    ) -> PageForm:
        """One page as JSON: `{"count", "columns", "rows", "next"}`.

        A row is `{"entity", "label", "types", "cells"}`. Rows are in the order of the nodes unless
        `sort` names a column ("" is the name). A cell is a list of the labels of its first values;
        `"more"` counts the others. Raises UsageError.
        """
        if limit < 1 or offset < 0:
            raise UsageError(f"A page has at least 1 row, from row 0 on, not {limit} from {offset}")
        for name in columns:
            self._of(name)
        rows = np.arange(len(self.nodes)) if sort is None else self.order(sort, descending=descending)
        rows = rows[self.keep(filters)[rows]]
        shown = rows[offset : offset + limit]
        after = offset + len(shown)
        return {
            "count": len(rows),
            "columns": [{"name": name, "label": self._label(name)} for name in columns],
            "rows": [self._row(row, columns) for row in shown.tolist()],
            "next": after if after < len(rows) else None,
        }

    def _row(self, row: int, columns: Sequence[str]) -> RowForm:
        node = int(self.nodes[row])
        cells: list[CellForm] = []
        for name in columns:
            values = self._of(name)
            low, high = np.searchsorted(values.row, [row, row + 1]).tolist()
            labels = [self.graph.label(n) for n in values.node[low:high][:MOST_IN_CELL].tolist()]
            cells.append({"values": labels, "more": max(0, high - low - MOST_IN_CELL)})
        types = self.graph.types
        own = types.of(node) if len(types.offsets) else []
        return {
            "entity": self.graph.entities[node],
            "label": self.graph.label(node),
            "types": [types.names[number] for number in own],
            "cells": cells,
        }

    def facets(self, name: str, filters: Sequence[ColumnFilter] = ()) -> FacetsForm:
        """The values of a column with how many rows have each; of numbers and dates a histogram too.

        `{"values": [{"label", "count"}], "left", "bars": [{"from", "to", "count"}]}`. A bar of dates ends
        before its `to`.
        """
        kept = self.keep(filters)
        cells = self._of(name)
        inside = kept[cells.row]
        row, node = cells.row[inside], cells.node[inside]
        pairs = np.unique(row * np.int64(self.graph.nodes) + node) % max(1, self.graph.nodes)
        values, counts = np.unique(pairs, return_counts=True)
        best = np.argsort(-counts, kind="stable")[:MOST_FACETS]
        listed: list[ValueCountForm] = [
            {"label": self.graph.label(int(values[at])), "count": int(counts[at])} for at in best.tolist()
        ]
        return {"values": listed, "left": max(0, len(values) - MOST_FACETS), "bars": self._bars(cells, node)}

    def _bars(self, cells: _Cells, node: Nodes) -> list[BarForm]:
        kind = self._kind(cells)
        if kind == "text" or not len(node):
            return []
        numbers = self.graph.values.value[node].astype(np.float64)
        numbers = numbers[np.isfinite(numbers)]
        if kind == "date":
            return _bars_of_days(numbers)
        counts, edges = np.histogram(numbers, bins=_round_edges(numbers))
        spans = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
        return [{"from": low, "to": high, "count": count} for low, high, count in spans]


def _round_edges(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The ends of bars of a round size: 1, 2 or 5 times a power of ten; no more bars than numbers."""
    low, high = float(numbers.min()), float(numbers.max())
    most = min(MOST_BARS, len(np.unique(numbers)))
    power = math.floor(math.log10((high - low) / most)) if high > low else 0
    size, unit = 1.0, 10.0 ** abs(power)
    for times in (1, 2, 5, 10, 20):
        size = times * unit if power >= 0 else times / unit
        if math.ceil(high / size) - math.floor(low / size) <= most:
            break
    first = math.floor(low / size)
    ends = np.arange(first, max(math.ceil(high / size), first + 1) + 1, dtype=np.float64)
    return ends * size if size >= 1 else ends / round(1 / size)


def _bars_of_days(numbers: NDArray[np.float64]) -> list[BarForm]:
    """Bars of whole days, each up to the first of the next; none for years that are not of four digits."""
    days = np.floor(numbers).astype(np.int64)
    if not len(days) or days.min() < 0 or days.max() >= date.max.toordinal() - 1:
        return []
    edges = np.unique(np.linspace(days.min(), days.max() + 1, MOST_BARS + 1).astype(np.int64))
    counts, _ = np.histogram(days, bins=edges)
    texts = [date.fromordinal(day + 1).isoformat() for day in edges.tolist()]
    spans = zip(texts[:-1], texts[1:], counts.tolist(), strict=True)
    return [{"from": first, "to": after, "count": count} for first, after, count in spans]


def all_of(graph: Graph, name: str) -> OfType:
    """All of a type by its name, or one end of a relation: *head of directed_by*. Raises UsageError."""
    for number, type_ in enumerate(graph.types.names):
        if type_ == name:
            return OfType(number)
    end, of, relation = name.partition(" of ")
    if of and end in ("head", "tail") and relation in (relations := list(graph.relations)):
        return OfType(-1, step_of(relations.index(relation), end == "tail"))
    shown = ", ".join(islice(graph.types.names, MOST_COLUMNS)) or "none"
    raise UsageError(f'The graph has no type "{name}". There are: {shown}')


def filters_of(rows: Sequence[Mapping[str, str]]) -> list[ColumnFilter]:
    """Filters of their JSON form: `{"column", "is", "value"}`. Raises UsageError for another comparison."""
    filters: list[ColumnFilter] = []
    for row in rows:
        comparison = row.get("is", "=")
        if comparison not in COMPARISONS:
            raise UsageError(f'"{comparison}" is no comparison. There are: {", ".join(COMPARISONS)}')
        filters.append(ColumnFilter(row.get("column", ""), comparison, row.get("value", "")))
    return filters
