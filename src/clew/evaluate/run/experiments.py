"""Experiments as data: a table or figure of a paper, with the figures that the paper prints.

```toml
title = "SimGRAG, table 1"
view = "table"            # table, errors, shapes, graphs
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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from clew.errors import InputError, UsageError
from clew.evaluate.metrics import metric_named
from clew.evaluate.run.rundir import MethodVariant, OptionValue
from clew.index.corpus import CorpusSettings

ReportView = Literal["table", "errors", "shapes", "graphs"]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table: parts of a data set, and which metric is shown.

    `kind` takes the questions of one kind only, `stage` the mean time of one stage instead of the metric.
    `scale` turns our value into the paper's unit; None is the experiment's for shares, else 1.
    """

    name: str
    dataset: str
    part: str
    metric: str
    split: str | None = None
    kind: str | None = None
    stage: str | None = None
    scale: float | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts, which are averaged."""
        return tuple(part.strip() for part in self.part.split("+"))


@dataclass(frozen=True, slots=True)
class RowSpec:
    """A row of a table with the paper's figures (NaN where it has none); `group` is a heading over it."""

    name: str
    method: str | None = None
    label: str = ""
    options: dict[str, OptionValue] = field(default_factory=dict[str, OptionValue])
    corpus: dict[str, Any] | None = None
    built_in: str | None = None
    paper: tuple[float, ...] = ()
    group: str = ""

    def choose_method(self, *, with_model: bool) -> MethodVariant | None:
        """Choose the method of a run, `built_in` where no model is named; None where the paper's is shown."""
        if self.built_in is not None and not with_model:
            return MethodVariant(self.built_in, self.built_in)
        if self.method is None:
            return None
        corpus = None if self.corpus is None else CorpusSettings(**self.corpus)
        label = self.label or label_of(self.method, {**(self.corpus or {}), **self.options})
        return MethodVariant(label, self.method, self.options, corpus)


@dataclass(frozen=True)
class Experiment:
    """An experiment; `scale` turns our shares into what the paper prints (100 for percent)."""

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[RowSpec, ...]
    view: ReportView = "table"
    limit: int | None = None
    seeds: tuple[int, ...] = (0,)
    given_entities: bool = False
    scale: float = 100.0
    differs: tuple[str, ...] = ()

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
    metric = {"metric": document.get("metric", "hits_at_1")}
    try:
        if "columns" in document:
            document["columns"] = [metric | column for column in document["columns"]]
        experiment = msgspec.convert(document, Experiment)
        for column in experiment.columns:
            metric_named(column.metric)
        rows = tuple(_whole_row(row, len(experiment.columns)) for row in experiment.rows)
    except (TypeError, ValueError, UsageError) as error:
        raise InputError(f"{where}: not an experiment: {error}") from error
    return replace(experiment, rows=rows)


def _whole_row(row: RowSpec, columns: int) -> RowSpec:
    """The row with a figure of the paper for each column; raises for walks that there are not."""
    row.choose_method(with_model=True)
    paper = row.paper or (math.nan,) * columns
    if len(paper) != columns:
        raise ValueError(f"row {row.name!r} has {len(paper)} figures of the paper for {columns} columns")
    return replace(row, paper=paper)


def label_of(method: str, options: Mapping[str, OptionValue]) -> str:
    """Name a method with its options, for records: `walk-retrieve(depth=4)`."""
    options_text = ", ".join(f"{name}={value}" for name, value in options.items())
    return f"{method}({options_text})" if options_text else method
