"""Experiments as data: a table or figure of a paper, with the figures that the paper prints.

```toml
title = "SimGRAG, table 1"
view = "table"            # table, bars, scatter, lines, errors, shapes, graphs
metric = "hits_at_1"
limit = 500               # questions of each part and seed; all where it is left out
seeds = [0]
differs = ["what the paper did otherwise"]

[[columns]]
name = "MetaQA 1-hop"
dataset = "metaqa"
part = "1-hop"            # several joined by + are averaged; kind = "…" and stage = "…" narrow it down

[[rows]]
name = "SimGRAG"
method = "simgrag"        # left out where only the paper's figures are shown
built_in = "auto"         # the method in its place where no model is named
options = { k = 3 }
corpus = { kind = "bfs", depth = 4 }    # walks to store, for walk-retrieve
paper = [98.0]            # one for each column; nan where the paper has none
```
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from clew.errors import InputError, UsageError
from clew.evaluate.metrics import metric_named
from clew.evaluate.run.rundir import MethodVariant, OptionValue
from clew.index.corpus import CorpusSettings

ReportView = Literal["table", "bars", "scatter", "lines", "errors", "shapes", "graphs"]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table, or a group of a figure: parts of a data set, and which metric is shown.

    Several parts are averaged. `kind` takes the questions of one kind only, `stage` the mean time of one
    stage instead of the metric. `scale` turns our value into the paper's unit; None is the experiment's for
    shares, else 1.
    """

    name: str
    dataset: str
    parts: tuple[str, ...]
    split: str | None
    metric: str
    kind: str | None = None
    stage: str | None = None
    scale: float | None = None


@dataclass(frozen=True, slots=True)
class RowSpec:
    """A row of a table or a series of a figure, with the paper's figures (NaN where it has none).

    `x` and `series` place it in a figure of lines; `group` is a heading over it. Where no model is named,
    `built_in` is asked in place of `method`.
    """

    name: str
    method: MethodVariant | None
    paper: tuple[float, ...]
    built_in: MethodVariant | None = None
    group: str = ""
    series: str = ""
    x: float | None = None

    def choose_method(self, *, with_model: bool) -> MethodVariant | None:
        """Choose the method of a run; None where only the paper's figures are shown."""
        return self.method if with_model or self.built_in is None else self.built_in


@dataclass(frozen=True)
class Experiment:
    """An experiment; `scale` turns our shares into what the paper prints (100 for percent)."""

    title: str
    view: ReportView
    columns: tuple[TableColumn, ...]
    rows: tuple[RowSpec, ...]
    limit: int | None = None
    seeds: tuple[int, ...] = (0,)
    given_entities: bool = False
    scale: float = 100.0
    differs: tuple[str, ...] = ()
    x_title: str = ""

    @property
    def has_paper(self) -> bool:
        """Whether it prints figures of a paper."""
        return any(not math.isnan(value) for row in self.rows for value in row.paper)

    @property
    def data(self) -> tuple[tuple[str, str, str | None], ...]:
        """Data set, part and split of all that is needed."""
        return tuple(dict.fromkeys((c.dataset, part, c.split) for c in self.columns for part in c.parts))

    def methods(self, *, with_model: bool) -> tuple[MethodVariant, ...]:
        """Methods of the rows, each label once."""
        chosen_methods = (row.choose_method(with_model=with_model) for row in self.rows)
        return tuple({method.label: method for method in chosen_methods if method is not None}.values())


def read_experiment(path: Path) -> Experiment:
    """Read an experiment; InputError says which field of which row is wrong."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    return experiment_of(text, str(path))


def experiment_of(text: str, where: str) -> Experiment:
    """Read the text of an experiment; `where` begins the messages."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: not TOML ({error})") from error
    try:
        return _experiment(document)
    except (KeyError, TypeError, ValueError, UsageError) as error:
        reason = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{where}: not an experiment: {reason}") from error


def _experiment(document: dict[str, Any]) -> Experiment:
    view = document.get("view", "table")
    if view not in get_args(ReportView):
        raise ValueError(f"view {view!r} is none of {', '.join(get_args(ReportView))}")
    metric = document.get("metric", "hits_at_1")
    columns = tuple(_column(c, metric) for c in document["columns"])
    return Experiment(
        title=document["title"],
        view=view,
        columns=columns,
        rows=tuple(_row(r, len(columns)) for r in document["rows"]),
        limit=document.get("limit"),
        seeds=tuple(int(seed) for seed in document.get("seeds", [0])),
        given_entities=bool(document.get("given_entities", False)),
        scale=float(document.get("scale", 100.0)),
        differs=tuple(map(str, document.get("differs", []))),
        x_title=str(document.get("x_title", "")),
    )


def _column(value: dict[str, Any], metric: str) -> TableColumn:
    name = value.get("metric", metric)
    metric_named(name)
    scale = value.get("scale")
    return TableColumn(
        name=value["name"],
        dataset=value["dataset"],
        parts=tuple(part.strip() for part in value["part"].split("+")),
        split=value.get("split"),
        metric=name,
        kind=value.get("kind"),
        stage=value.get("stage"),
        scale=None if scale is None else float(scale),
    )


def _row(value: dict[str, Any], columns: int) -> RowSpec:
    paper = tuple(float(v) for v in value.get("paper", [math.nan] * columns))
    if len(paper) != columns:
        raise ValueError(f"row {value['name']!r} has {len(paper)} figures of the paper for {columns} columns")
    method = None
    if "method" in value:
        options = cast("dict[str, OptionValue]", value.get("options", {}))
        walks = cast("dict[str, Any] | None", value.get("corpus"))
        corpus = None if walks is None else CorpusSettings(**walks)
        label = str(value.get("label") or label_of(value["method"], {**(walks or {}), **options}))
        method = MethodVariant(label, value["method"], options, corpus)
    x = value.get("x")
    return RowSpec(
        name=value["name"],
        method=method,
        paper=paper,
        built_in=None if "built_in" not in value else MethodVariant(value["built_in"], value["built_in"]),
        group=str(value.get("group", "")),
        series=str(value.get("series", "")),
        x=None if x is None else float(x),
    )


def label_of(method: str, options: Mapping[str, OptionValue]) -> str:
    """Name a method with its options, for records: `walk-retrieve(depth=4)`."""
    options_text = ", ".join(f"{name}={value}" for name, value in options.items())
    return f"{method}({options_text})" if options_text else method
