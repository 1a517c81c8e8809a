"""A run, read back and scored: figures with how sure they are, comparisons of methods; its CSV files."""

from __future__ import annotations

import statistics
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from clew.errors import InputError
from clew.evaluate.metrics import METRICS, QUESTION_METRICS, RUN_METRICS, Unit, error_step, percentile, stages
from clew.evaluate.records import EvalQuestion, GoldVerdict, Key, Record, ScoredRow, truth_of
from clew.evaluate.run.rundir import BERT, CONFIG, JUDGEMENTS, RECORDS, RunDirectory, key_of

# How sure a figure is: bootstrap confidence intervals and paired tests.

RESAMPLES = 1000
"""Resamples of which an interval is made."""
SIGNS = 10_000
"""Draws of random signs of which a p value is made."""
MOST_ENUMERATED = 14
"""Up to so many differing pairs, all sign patterns are enumerated."""
_CHUNK = 2_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of a confidence interval."""

    low: float
    high: float


def bootstrap(values: Sequence[float]) -> Interval:
    """Percentile bootstrap interval of the mean (Efron 1979), 95 %, deterministic; ValueError: no values."""
    data = np.asarray(values, np.float64)
    if not len(data):
        raise ValueError("no values to resample")
    random, chunks = np.random.default_rng(0), _chunks(RESAMPLES, len(data))
    resamples = (data[random.integers(0, len(data), (count, len(data)))] for count in chunks)
    means = np.concatenate([rows.mean(axis=1) for rows in resamples])
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(float(low), float(high))


def _chunks(rows: int, width: int) -> Iterator[int]:
    """Divide rows of so many values into chunks of about _CHUNK values: how many are in each."""
    most = max(1, _CHUNK // width)
    yield from (min(most, rows - start) for start in range(0, rows, most))


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean difference (first minus second) over the same questions, its interval, and p of no difference."""

    difference: float
    interval: Interval
    p: float
    pairs: int
    first_better: int
    second_better: int


def compare(first: Sequence[float], second: Sequence[float]) -> PairedDifference:
    """Compare two methods on the same questions by a two-sided paired randomisation test (Noreen 1989).

    It is exact with few differing pairs, and for 0/1 scores (McNemar's exact test), else by random
    signs, SIGNS times.

    Raises ValueError (the lengths differ or are 0).
    """
    if len(first) != len(second) or not len(first):
        raise ValueError(f"{len(first)} and {len(second)} values cannot be paired")
    differences = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    differing = differences[differences != 0.0]
    return PairedDifference(
        difference=float(differences.mean()),
        interval=bootstrap(differences.tolist()),
        p=_p_value(differing),
        pairs=len(differences),
        first_better=int((differing > 0).sum()),
        second_better=int((differing < 0).sum()),
    )


def _p_value(differing: NDArray[np.float64]) -> float:
    if not len(differing):
        return 1.0
    if np.ptp(np.abs(differing)) == 0.0:  # the two-sided binomial test is exact
        pairs, better = len(differing), int((differing > 0).sum())
        least = min(better, pairs - better)
        return min(1.0, 2 * sum(comb(pairs, k) for k in range(least + 1)) / 2**pairs)
    observed = abs(float(differing.sum())) - 1e-12
    if len(differing) <= MOST_ENUMERATED:
        patterns = np.arange(2 ** len(differing))[:, None] >> np.arange(len(differing)) & 1
        sums = np.abs((patterns * 2 - 1) @ differing)
        return float((sums >= observed).mean())
    random = np.random.default_rng(0)
    as_far = 0
    for count in _chunks(SIGNS, len(differing)):
        signs = random.integers(0, 2, (count, len(differing)), np.int8) * 2 - 1
        as_far += int((np.abs(signs @ differing) >= observed).sum())
    return (as_far + 1) / (SIGNS + 1)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust the p values of several tests (Holm 1979), in their order."""
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, np.arange(len(p), 0, -1) * p[order]))
    return tuple(adjusted.tolist())


# From records to scored rows, from rows to the figures of metrics, and how these are written.


def read_stated_verdict(record: Record) -> GoldVerdict | None:
    """Read what a method says of a claim; None if it abstains or says neither."""
    if record.answer is None or record.abstained is not None:
        return None
    truth = truth_of(record.answers[0][0] if record.answers else record.text)
    return None if truth is None else "supported" if truth else "refuted"


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
    scores = {metric.name: metric(record) for metric in QUESTION_METRICS}
    usage = {} if answer is None else answer["usage"]
    return ScoredRow(
        key=record.key,
        kind=question.kind,
        is_scored=question.is_scored,
        without_gold=question.is_scored and record.gold_in_graph == 0,
        verdict=question.verdict,
        stated_verdict=read_stated_verdict(record) if question.verdict is not None else None,
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
    interval: Interval | None
    n: int


def figures(rows: Sequence[ScoredRow]) -> tuple[Figure, ...]:
    """Compute all metrics that apply to some questions."""
    candidates = (figure_of(rows, name) for name in METRICS)
    return tuple(figure for figure in candidates if figure is not None)


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
    return f"{text} ±{50 * (figure.interval.high - figure.interval.low):.1f}"


# A run, read back and scored: cells of (part, method), figures, comparisons of methods; its CSV files.

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
