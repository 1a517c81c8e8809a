"""The tables of a run as CSV files: figures, times, paired tests, errors by step."""

from __future__ import annotations

from collections.abc import Iterator

from clew.evaluate.metrics.registry import METRICS
from clew.evaluate.metrics.run import percentile, stages
from clew.evaluate.report.summary import LoadedRun, SummaryCell, comparisons
from clew.evaluate.run.rundir import COMPARISONS, ERRORS, LATENCY, METRIC_FILES

TableLine = list[object]
OF_METRICS = (
    "part", "method", "metric", "value", "low", "high", "seeds_mean", "seeds_std", "n", "unit", "better",
)  # fmt: skip
OF_LATENCY = ("part", "method", "stage", "p50_ms", "p95_ms")
OF_COMPARISONS = (
    "part", "metric", "first", "second", "difference", "low", "high", "p", "p_holm", "pairs",
)  # fmt: skip
OF_ERRORS = ("part", "method", "step", "questions")


def write_tables(run: LoadedRun) -> None:
    """Write `metrics.csv`, `latency.csv`, `comparisons.csv` and `errors.csv` into the run directory."""
    for file, header, lines in (
        (METRIC_FILES, OF_METRICS, (line for cell in run.cells for line in _metrics(cell))),
        (LATENCY, OF_LATENCY, (line for cell in run.cells for line in _latency(cell))),
        (COMPARISONS, OF_COMPARISONS, _comparisons(run)),
        (ERRORS, OF_ERRORS, (line for cell in run.cells for line in _errors(cell))),
    ):
        run.directory.write_csv(file, header, list(lines))


def _metrics(cell: SummaryCell) -> Iterator[TableLine]:
    for figure in cell.figures.values():
        what, seeds = METRICS[figure.metric], cell.over_seeds(figure.metric)
        low, high = (None, None) if figure.interval is None else (figure.interval.low, figure.interval.high)
        mean, deviation = seeds or (None, None)
        numbers = map(_number, (figure.value, low, high, mean, deviation))
        yield [cell.part, cell.method, figure.metric, *numbers, figure.n, what.unit, what.better]


def _latency(cell: SummaryCell) -> Iterator[TableLine]:
    for stage in stages(cell.rows):
        shares = (_number(percentile(cell.rows, stage, share)) for share in (0.5, 0.95))
        yield [cell.part, cell.method, stage, *shares]


def _comparisons(run: LoadedRun) -> Iterator[TableLine]:
    for pair in comparisons(run):
        test = pair.comparison
        numbers = (test.difference, test.interval.low, test.interval.high, test.p, pair.adjusted)
        yield [pair.part, pair.metric, pair.first, pair.second, *map(_number, numbers), test.pairs]


def _errors(cell: SummaryCell) -> Iterator[TableLine]:
    for step in dict.fromkeys(row.error_step for row in cell.rows if row.error_step is not None):
        yield [cell.part, cell.method, step, sum(row.error_step == step for row in cell.rows)]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
