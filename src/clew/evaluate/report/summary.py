"""A run, read back and scored: figures with how sure they are; `metrics.csv`."""

from __future__ import annotations

import statistics
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from clew.errors import InputError
from clew.evaluate.metrics import METRICS, QUESTION_METRICS, RUN_METRICS, Unit, error_step
from clew.evaluate.records import EvalQuestion, Key, Record, ScoredRow, truth_of
from clew.evaluate.run.rundir import BERT, CONFIG, JUDGEMENTS, RECORDS, RunDirectory, key_of


def bootstrap(values: Sequence[float]) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean (Efron 1979), 95 %, deterministic; ValueError: no values."""
    data = np.asarray(values, np.float64)
    if not len(data):
        raise ValueError("no values to resample")
    random, most = np.random.default_rng(0), max(1, 2_000_000 // len(data))  # that are drawn at once
    counts = (min(most, 1000 - start) for start in range(0, 1000, most))
    resamples = (data[random.integers(0, len(data), (count, len(data)))] for count in counts)
    low, high = np.quantile(np.concatenate([rows.mean(axis=1) for rows in resamples]), (0.025, 0.975))
    return float(low), float(high)


def shape_of(question: EvalQuestion) -> str:
    """Name the structure of the gold paths as SimGRAG's appendix F does; empty without gold paths."""
    hops = [len(path.relations) for path in question.paths]
    if len(hops) < 2:
        return f"{hops[0]}-hop path" if hops else ""
    kind = "star" if len(hops) > 2 and max(hops) == 1 else "conjunction"
    return f"{sum(hops)}-hop {kind}"


def score(record: Record, offset: int = 0) -> ScoredRow:
    """Score one record."""
    question, answer = record.question, record.answer
    truth = None  # what a method says of a claim; None if it abstains or says neither
    if question.verdict is not None and answer is not None and record.abstained is None:
        truth = truth_of(record.answers[0][0] if record.answers else record.text)
    scores = {metric.name: metric(record) for metric in QUESTION_METRICS}
    usage = {} if answer is None else answer["usage"]
    return ScoredRow(
        key=record.key,
        kind=question.kind,
        without_gold=question.verdict is None and record.gold_in_graph == 0,
        verdict=question.verdict,
        stated_verdict=None if truth is None else "supported" if truth else "refuted",
        answered=answer is not None and record.abstained is None,
        abstained=record.abstained,
        failed=record.failure is not None,
        confidence=record.confidence,
        timings=record.timings,
        calls=int(usage.get("calls", 0)),
        tokens=int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0)),
        cost=record.cost,
        scores=scores,
        error_step=error_step(record, scores["hits_at_1"]),
        shape=shape_of(question),
        offset=offset,
    )


@dataclass(frozen=True, slots=True)
class Figure:
    """The value of a metric; `interval` (95 %, bootstrap) for metrics of questions; `n` questions have it."""

    metric: str
    value: float
    interval: tuple[float, float] | None
    n: int


def figure_of(rows: Sequence[ScoredRow], name: str) -> Figure | None:
    """Compute a metric: of questions the mean with its interval; None where it applies to none."""
    if name in RUN_METRICS:
        value = RUN_METRICS[name](rows)
        return None if value is None else Figure(name, value, None, len(rows))
    values = [value for row in rows if (value := row.scores.get(name)) is not None]
    if not values:
        return None
    return Figure(name, sum(values) / len(values), bootstrap(values), len(values))


NO_FIGURE = "–"


def value_text(value: float, unit: Unit) -> str:
    """Write a value: shares as percent, times with as many digits as matter."""
    if unit == "share":
        return f"{100 * value:.1f}"
    if unit == "milliseconds":
        return f"{value:.1f} ms" if value < 100 else f"{value:,.0f} ms"
    return f"{value:,.4g}"


def figure_text(figure: Figure | None) -> str:
    """Write a figure, with half the width of its interval where it has one."""
    if figure is None:
        return NO_FIGURE
    unit = METRICS[figure.metric].unit
    text = value_text(figure.value, unit)
    if figure.interval is None or unit != "share":
        return text
    low, high = figure.interval
    return f"{text} ±{50 * (high - low):.1f}"


@dataclass(frozen=True)
class SummaryCell:
    """One method on one part. `rows` are all its questions, `by_seed` those of each sample."""

    part: str
    method: str
    rows: Sequence[ScoredRow]
    by_seed: Mapping[int, Sequence[ScoredRow]] = field(default_factory=dict[int, Sequence[ScoredRow]])

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """Metrics over all questions of the cell."""
        return {name: figure for name in METRICS if (figure := figure_of(self.rows, name)) is not None}

    def as_json(self) -> dict[str, Any]:
        """Part, method, number of questions, and each metric with its interval."""
        metrics: dict[str, Any] = {}
        for name, figure in self.figures.items():
            interval = None if figure.interval is None else list(figure.interval)
            metrics[name] = {"value": figure.value, "interval": interval, "n": figure.n}
        return {"part": self.part, "method": self.method, "questions": len(self.rows), "metrics": metrics}

    def over_seeds(self, metric: str) -> tuple[float, float] | None:
        """Mean and standard deviation over samples, as KG-RAG reports; None with fewer than two."""
        seed_figures = (figure_of(rows, metric) for rows in self.by_seed.values())
        values = [figure.value for figure in seed_figures if figure is not None]
        return (statistics.mean(values), statistics.stdev(values)) if len(values) > 1 else None


@dataclass(frozen=True)
class LoadedRun:
    """A run directory with its scored rows."""

    directory: RunDirectory
    config: Mapping[str, Any]
    facts: Mapping[str, Any]
    cells: Sequence[SummaryCell]

    def cell(self, part: str, method: str) -> SummaryCell | None:
        """Find a cell."""
        return next((c for c in self.cells if c.part == part and c.method == method), None)

    def as_json(self) -> dict[str, Any]:
        """All figures, for `clew eval --json`."""
        return {
            "run": str(self.directory.path),
            "cells": [cell.as_json() for cell in self.cells],
            "problems": {part: facts["problems"] for part, facts in self.facts["parts"].items()},
        }

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts, in order."""
        return tuple(dict.fromkeys(cell.part for cell in self.cells))

    @property
    def methods(self) -> tuple[str, ...]:
        """Labels of the methods, in order."""
        return tuple(dict.fromkeys(cell.method for cell in self.cells))


def load(directory: RunDirectory, progress: Callable[[int, int], None]) -> LoadedRun:
    """Read and score a run; InputError if the directory is none. `progress` gets records done, and all."""
    facts = directory.facts()
    try:
        config = tomllib.loads((directory.path / CONFIG).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{directory.path / CONFIG}: cannot be read ({error})") from error
    bert_by_key = {key_of(line): line["f1"] for _, line in directory.lines(BERT)}
    verdicts_by_key: dict[Key, dict[str, str | None]] = {}
    for _, line in directory.lines(JUDGEMENTS):
        verdicts_by_key.setdefault(key_of(line), {})[line["judge"]] = line["verdict"]
    rows: dict[tuple[str, str], list[ScoredRow]] = {}
    total = sum(1 for _ in directory.lines(RECORDS))
    for done, (offset, record) in enumerate(directory.records(), 1):
        progress(done, total)
        key = record.key
        forms = facts["parts"].get(key.part, {}).get("relation_form", {})
        judgements, bert_score = verdicts_by_key.get(key, {}), bert_by_key.get(key)
        joined_record = replace(record, judgements=judgements, bert_score=bert_score, relation_form=forms)
        rows.setdefault((key.part, key.method), []).append(score(joined_record, offset))
    order = [(part["name"], m["label"]) for part in config["parts"] for m in config["methods"]]
    cells = [_cell(at, rows[at], facts) for at in order if at in rows]
    return LoadedRun(directory, config, facts, cells)


def _cell(at: tuple[str, str], rows: Sequence[ScoredRow], facts: Mapping[str, Any]) -> SummaryCell:
    samples = cast("dict[str, list[str]]", facts["parts"][at[0]]["samples"])
    ids = {int(seed): set(ids) for seed, ids in samples.items()}
    by_seed = {
        seed: [r for r in rows if r.key.id in ids[seed] and r.key.seed in (None, seed)] for seed in ids
    }
    return SummaryCell(at[0], at[1], rows, by_seed)


def write_metrics(run: LoadedRun) -> None:
    """Write `metrics.csv` into the run directory."""
    header = "part method metric value low high seeds_mean seeds_std n unit better"
    lines: list[list[object]] = []
    for cell, figure in ((each, figure) for each in run.cells for figure in each.figures.values()):
        metric, none = METRICS[figure.metric], (None, None)
        values = (figure.value, *(figure.interval or none), *(cell.over_seeds(figure.metric) or none))
        numbers = ("" if value is None else f"{value:.6g}" for value in values)
        lines.append([cell.part, cell.method, figure.metric, *numbers, figure.n, metric.unit, metric.better])
    run.directory.write_csv("metrics.csv", header.split(), lines)
