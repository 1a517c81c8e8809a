"""From runs to the tables and charts that every report has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Literal

from clew.evaluate.metrics.errors_by_step import ROAD_STEPS
from clew.evaluate.metrics.registry import METRICS
from clew.evaluate.metrics.run import percentile, risk_coverage, stages
from clew.evaluate.records import ScoredRow
from clew.evaluate.report.charts import (
    BarChart,
    Chart,
    ChartBar,
    ChartTable,
    Point,
    PointChart,
    TableCell,
    TableRow,
)
from clew.evaluate.report.scoring import NO_FIGURE, figure_of, value_text
from clew.evaluate.report.summary import COMPARED_METRICS, LoadedRun, SummaryCell, comparisons

OVERVIEW = {
    "Right, wrong, left open": "accuracy hallucination missing truthfulness judge_accuracy unjudged aurc",
    "Answers": "hits_at_1 exact_match precision recall f1 exact_set bert_score",
    "Claims": "claim_accuracy claim_macro_f1 coverage",
    "Evidence and abstention": "retrieval_hits citation_precision citation_recall sub_questions"
    " abstention_precision abstention_recall coverage",
    "Cost and time": "failures calls tokens cost p50_ms p95_ms mean_ms",
}
MOST_KINDS = 40
_PROBLEMS = {
    "no_gold": "no gold answer: abstaining is right",
    "gold_missing": "gold that the graph lacks (kept in the score)",
    "gold_partly_missing": "gold that the graph has in part (kept in the score)",
    "entity_missing": "an entity that the graph lacks",
    "path_missing": "a gold path by a relation that the graph lacks",
}


def overview(run: LoadedRun) -> list[ChartTable]:
    """Tabulate all metrics: a table for each group of metrics, a row for each part and method."""
    tables: list[ChartTable] = []
    for title, metrics in OVERVIEW.items():
        claims = title == "Claims"
        has_all_cells = title == "Cost and time"
        cells = [c for c in run.cells if has_all_cells or claims == ("claim_accuracy" in c.figures)]
        shown_metrics = [m for m in metrics.split() if any(m in cell.figures for cell in cells)]
        if not shown_metrics:
            continue
        rows: list[TableRow] = []
        for cell in cells:
            rivals = [c for c in cells if c.part == cell.part]
            values = (_cell(cell, m, rivals) for m in shown_metrics)
            rows.append((cell.part, cell.method, f"{len(cell.rows):,}", *values))
        header = (
            "part",
            "method",
            "n",
            *(METRICS[m].title + _ARROWS[METRICS[m].better] for m in shown_metrics),
        )
        tables.append(ChartTable(title, title, header, rows, _NOTES.get(title, _SHARES), names=2))
    return tables


_SHARES = "Shares in %, with 95 % bootstrap intervals; bold: the best method of the part."
_ARROWS = {"higher": " ↑", "lower": " ↓", "neither": ""}
_NOTES = {"Cost and time": "Calls and tokens are means over questions; times are of the method alone."}


def _cell(cell: SummaryCell, metric: str, cells: Sequence[SummaryCell]) -> TableCell:
    figure = cell.figures.get(metric)
    if figure is None:
        return TableCell(NO_FIGURE)
    metric_info = METRICS[metric]
    low_high = ""
    if figure.interval is not None and metric_info.unit == "share":
        low_high = f"{100 * figure.interval.low:.1f}–{100 * figure.interval.high:.1f}"
    seeds = cell.over_seeds(metric)
    if seeds is not None and metric_info.unit == "share":
        low_high = f"{100 * seeds[0]:.1f} ± {100 * seeds[1]:.1f} of {len(cell.by_seed)} samples"
    values = [c.figures[metric].value for c in cells if metric in c.figures]
    best = max(values) if metric_info.better == "higher" else min(values)
    is_best = len(set(values)) > 1 and metric_info.better != "neither" and figure.value == best
    return TableCell(value_text(figure.value, metric_info.unit), low_high, best=is_best)


def bars_of(run: LoadedRun, metric: str) -> BarChart | None:
    """Draw a metric: a group for each part, a bar for each method."""
    if not any(metric in cell.figures for cell in run.cells):
        return None
    rows = tuple(
        tuple(bar_of(run.cell(part, method), metric) for part in run.parts) for method in run.methods
    )
    metric_info = METRICS[metric]
    note = f"{metric_info.definition} Error bars: 95 % bootstrap, or the standard deviation over samples."
    return BarChart(
        f"bars-{metric}", metric_info.title, f"{metric_info.title} (%)", run.parts, run.methods, rows, note
    )


def bar_of(cell: SummaryCell | None, metric: str, scale: float = 100.0) -> ChartBar | None:
    """Draw a figure, with what it is sure of; None where there is none."""
    figure = None if cell is None else cell.figures.get(metric)
    if cell is None or figure is None:
        return None
    seeds, interval = cell.over_seeds(metric), figure.interval
    if seeds is not None:
        mean, deviation = seeds
        return ChartBar(scale * mean, scale * (mean - deviation), scale * (mean + deviation))
    if interval is None:
        return ChartBar(scale * figure.value)
    return ChartBar(scale * figure.value, scale * interval.low, scale * interval.high)


def truth_chart(run: LoadedRun) -> PointChart | None:
    """Draw missing against truthfulness (Walk&Retrieve, figure 3)."""
    series = _points(run, "missing", "truthfulness")
    title = "Missing against truthfulness"
    note = "As Walk&Retrieve, figure 3: up and to the left is better."
    chart = PointChart("truthfulness", title, "missing (%)", "truthfulness (%)", series, note=note)
    return chart if series else None


def time_chart(run: LoadedRun) -> PointChart | None:
    """Draw mean time against Hits@1 (after SimGRAG, figure 5)."""
    series = _points(run, "mean_ms", "hits_at_1")
    note = "As SimGRAG, figure 5(b): up and to the left is better. Time includes every stage of the method."
    title = "Time against Hits@1"
    chart = PointChart("time", title, "mean time (ms)", "Hits@1 (%)", series, log_x=True, note=note)
    return chart if series else None


def _points(run: LoadedRun, x: str, y: str) -> tuple[tuple[str, tuple[Point, ...]], ...]:
    """Pair two metrics: a series for each method, a point for each part; nothing where there is no point."""
    series: dict[str, list[Point]] = {method: [] for method in run.methods}
    for cell in run.cells:
        if {x, y} <= cell.figures.keys():
            at = [cell.figures[m].value * (100 if METRICS[m].unit == "share" else 1) for m in (x, y)]
            series[cell.method].append(Point(at[0], at[1], cell.part))
    return tuple((name, tuple(points)) for name, points in series.items()) if any(series.values()) else ()


def risk_charts(run: LoadedRun) -> list[PointChart]:
    """Draw risk against coverage, a chart for each part."""
    note = (
        "Answers are given in order of the method's confidence (score of its best answer); risk is the share"
        " of answers given that are not accurate. A method whose scores are all equal has one point."
    )
    point_charts: list[PointChart] = []
    for part in run.parts:
        curves = [(c.method, risk_coverage(c.rows)) for c in run.cells if c.part == part]
        points = [
            (name, tuple(Point(100 * p.coverage, 100 * p.risk) for p in curve)) for name, curve in curves
        ]
        series = tuple(pair for pair in points if pair[1])
        if series:
            name, title = f"risk-{part.replace('/', '-')}", f"Risk and coverage, {part}"
            point_charts.append(
                PointChart(name, title, "coverage (%)", "risk (%)", series, lines=True, note=note)
            )
    return point_charts


def latency_table(run: LoadedRun) -> ChartTable:
    """Tabulate p50 and p95 by stage."""
    ordered = stages([row for cell in run.cells for row in cell.rows])
    rows: list[TableRow] = []
    for cell in run.cells:
        line: list[TableCell | str] = [cell.part, cell.method]
        for stage in ordered:
            half, most = percentile(cell.rows, stage, 0.5), percentile(cell.rows, stage, 0.95)
            has_times = half is not None and most is not None
            line.append(TableCell(f"{half:.2f}", f"p95 {most:.2f}") if has_times else TableCell(NO_FIGURE))
        rows.append(tuple(line))
    title = "Time by stage: median and 95th percentile (ms)"
    return ChartTable("latency", title, ("part", "method", *ordered), rows, names=2)


def error_table(run: LoadedRun) -> ChartTable | None:
    """Tabulate errors by step (SimGRAG, table 4)."""
    rows: list[TableRow] = []
    for cell in run.cells:
        counts = Counter(r.error_step for r in cell.rows if r.error_step is not None)
        total = counts.total()
        if not any(r.scores["citation_recall"] is not None for r in cell.rows):
            continue
        steps = [
            TableCell(f"{100 * counts[s] / total:.0f} %", f"{counts[s]:,}") if total else TableCell(NO_FIGURE)
            for s in ROAD_STEPS
        ]
        rows.append((cell.part, cell.method, f"{total:,}", *steps))
    if not rows:
        return None
    note = (
        "Questions with gold paths and Hits@1 = 0, sorted by rule (SimGRAG sorts by hand): pattern, if the"
        " pattern is not that of the gold paths or there is none; retrieval, if no gold answer is in the"
        " evidence shown; reading otherwise."
    )
    header = ("part", "method", "wrong", *ROAD_STEPS)
    return ChartTable("errors", "Errors by step", header, rows, note, names=2)


def group_table(run: LoadedRun, grouping: Literal["kind", "shape"]) -> ChartTable | None:
    """Tabulate Hits@1 by the kind of question or the shape of gold paths, for those with most questions."""
    group_of: Callable[[ScoredRow], str] = attrgetter(grouping)
    counts = Counter((r.key.part, group_of(r)) for cell in run.cells for r in cell.rows if group_of(r))
    if not counts:
        return None
    shown_groups = [key for key, _ in counts.most_common(MOST_KINDS)]
    order = [key for part in run.parts for key in shown_groups if key[0] == part]
    rows: list[TableRow] = []
    for part, group in order:
        line: list[TableCell | str] = [part, group]
        for method in run.methods:
            cell = run.cell(part, method)
            group_rows = [] if cell is None else [r for r in cell.rows if group_of(r) == group]
            figure = figure_of(group_rows, "hits_at_1")
            text, small = (f"{100 * figure.value:.1f}", f"n {figure.n:,}") if figure else (NO_FIGURE, "")
            line.append(TableCell(text, small))
        rows.append(tuple(line))
    omitted = len(counts) - len(shown_groups)
    note = (
        f"The {len(shown_groups)} {grouping}s with most questions; {omitted} more are left out."
        if omitted
        else ""
    )
    title = f"Hits@1 by {grouping} of question"
    return ChartTable(f"{grouping}s", title, ("part", grouping, *run.methods), rows, note, names=2)


def comparison_table(run: LoadedRun) -> ChartTable | None:
    """Tabulate paired tests between methods."""
    pairs = comparisons(run)
    if not pairs:
        return None
    rows: list[TableRow] = []
    for pair in pairs:
        c = pair.comparison
        span = f"{100 * c.interval.low:+.1f} to {100 * c.interval.high:+.1f}"
        better = f"{c.first_better:,} : {c.second_better:,}"
        p = "< 0.001" if pair.adjusted < 0.001 else f"{pair.adjusted:.3f}"
        difference = TableCell(f"{100 * c.difference:+.1f}", span, best=pair.adjusted < 0.05)
        metric, methods = METRICS[pair.metric].title, f"{pair.first} − {pair.second}"
        rows.append((pair.part, metric, methods, difference, better, p))
    note = (
        "Two-sided paired randomisation test on the same questions (exact where few differ and, as"
        " McNemar's test, for 0/1 scores), p after Holm's correction over the pairs of a part and metric;"
        " bold: p < 0.05."
    )
    header = ("part", "metric", "methods", "difference (points)", "better : worse", "p")
    return ChartTable("comparisons", "Comparison of methods", header, rows, note, names=3)


def problem_table(run: LoadedRun) -> ChartTable | None:
    """Tabulate what is odd about the questions."""
    rows: list[TableRow] = []
    for part, facts in run.facts["parts"].items():
        for kind, count in facts["problems"].items():
            ids = facts["problem_ids"][kind]
            ids_text = ", ".join(ids[:8]) + (" …" if len(ids) > 8 else "")
            rows.append((part, _PROBLEMS[kind], f"{count:,}", ids_text))
        rows += [(part, note, NO_FIGURE, NO_FIGURE) for note in facts["notes"]]
    header = ("part", "questions with", "n", "ids")
    return ChartTable("data", "Notes on the data", header, rows, names=2) if rows else None


def metric_table() -> ChartTable:
    """Tabulate the definition, source, range and direction of every metric."""
    rows: list[TableRow] = []
    for metric in METRICS.values():
        span = f"{metric.low:g} … {metric.high:g}".replace("inf", "∞")
        rows.append((metric.title, metric.definition, metric.source, span, metric.better))
    header = ("metric", "definition", "source", "range", "better")
    return ChartTable("metrics", "Metrics", header, rows)


def charts(run: LoadedRun) -> list[Chart]:
    """All charts of a run."""
    metrics = (*COMPARED_METRICS, "claim_accuracy", "judge_accuracy", "bert_score")
    bars = [bars_of(run, metric) for metric in metrics]
    all_charts = (*risk_charts(run), *bars, truth_chart(run), time_chart(run))
    return [chart for chart in all_charts if chart is not None]
