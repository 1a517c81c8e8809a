"""A run, read back and scored: cells of (part, method), figures, comparisons of methods; its CSV files."""

from __future__ import annotations

import statistics
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, cast

from clew.errors import InputError
from clew.evaluate.metrics.intervals import PairedDifference, compare, holm
from clew.evaluate.metrics.registry import METRICS
from clew.evaluate.metrics.run import percentile, stages
from clew.evaluate.records import Key, ScoredRow
from clew.evaluate.report.scoring import Figure, figure_of, figures, score
from clew.evaluate.run.rundir import BERT, CONFIG, JUDGEMENTS, RECORDS, RunDirectory, key_of

COMPARED_METRICS = ("hits_at_1", "exact_set", "f1", "truthfulness")


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
        return {figure.metric: figure for figure in figures(self.rows)}

    def as_json(self) -> dict[str, Any]:
        """Part, method, number of questions, and each metric with its interval."""
        metrics: dict[str, Any] = {}
        for name, figure in self.figures.items():
            span = None if figure.interval is None else [figure.interval.low, figure.interval.high]
            metrics[name] = {"value": figure.value, "interval": span, "n": figure.n}
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


def load(directory: RunDirectory, progress: Callable[[int, int], None] | None = None) -> LoadedRun:
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
    total = sum(1 for _ in directory.lines(RECORDS)) if progress is not None else 0
    for done, (offset, record) in enumerate(directory.records(), 1):
        if progress is not None:
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


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two methods on the same questions of a part; `adjusted` is p after Holm's correction."""

    part: str
    metric: str
    first: str
    second: str
    comparison: PairedDifference
    adjusted: float


def comparisons(run: LoadedRun) -> list[ComparedPair]:
    """Compare all pairs of methods on each part; p is corrected over the pairs of a part and metric."""
    compared_pairs: list[ComparedPair] = []
    for part in run.parts:
        for metric in COMPARED_METRICS:
            pairs = _pairs(run, part, metric)
            adjusted = holm([pair.comparison.p for pair in pairs])
            compared_pairs += [replace(pair, adjusted=p) for pair, p in zip(pairs, adjusted, strict=True)]
    return compared_pairs


def _pairs(run: LoadedRun, part: str, metric: str) -> list[ComparedPair]:
    scores: dict[str, dict[tuple[str, int | None], float]] = {}
    for cell in run.cells:
        if cell.part == part:
            cell_scores = ((r.key, r.scores[metric]) for r in cell.rows)
            scores[cell.method] = {(k.id, k.seed): v for k, v in cell_scores if v is not None}
    compared_pairs: list[ComparedPair] = []
    for (first, left), (second, right) in combinations(scores.items(), 2):
        shared = [key for key in left if key in right]
        if shared:
            test = compare([left[key] for key in shared], [right[key] for key in shared])
            compared_pairs.append(ComparedPair(part, metric, first, second, test, 1.0))
    return compared_pairs


def write_tables(run: LoadedRun) -> None:
    """Write `metrics.csv`, `latency.csv`, `comparisons.csv` and `errors.csv` into the run directory."""
    of_cells = {
        "metrics.csv": (_metrics, "part method metric value low high seeds_mean seeds_std n unit better"),
        "latency.csv": (_latency, "part method stage p50_ms p95_ms"),
        "errors.csv": (_errors, "part method step questions"),
    }
    for name, (lines_of, header) in of_cells.items():
        lines = [line for cell in run.cells for line in lines_of(cell)]
        run.directory.write_csv(name, header.split(), lines)
    header = "part metric first second difference low high p p_holm pairs"
    pairs = [_comparison(pair) for pair in comparisons(run)]
    run.directory.write_csv("comparisons.csv", header.split(), pairs)


def _metrics(cell: SummaryCell) -> Iterator[list[object]]:
    for figure in cell.figures.values():
        metric = METRICS[figure.metric]
        low, high = (None, None) if figure.interval is None else (figure.interval.low, figure.interval.high)
        mean, deviation = cell.over_seeds(figure.metric) or (None, None)
        numbers = map(_number, (figure.value, low, high, mean, deviation))
        yield [cell.part, cell.method, figure.metric, *numbers, figure.n, metric.unit, metric.better]


def _latency(cell: SummaryCell) -> Iterator[list[object]]:
    for stage in stages(cell.rows):
        shares = (_number(percentile(cell.rows, stage, share)) for share in (0.5, 0.95))
        yield [cell.part, cell.method, stage, *shares]


def _comparison(pair: ComparedPair) -> list[object]:
    test = pair.comparison
    numbers = (test.difference, test.interval.low, test.interval.high, test.p, pair.adjusted)
    return [pair.part, pair.metric, pair.first, pair.second, *map(_number, numbers), test.pairs]


def _errors(cell: SummaryCell) -> Iterator[list[object]]:
    for step in dict.fromkeys(row.error_step for row in cell.rows if row.error_step is not None):
        yield [cell.part, cell.method, step, sum(row.error_step == step for row in cell.rows)]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
