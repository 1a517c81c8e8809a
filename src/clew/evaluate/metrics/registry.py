"""All metrics; adding one is a function and a line."""

from __future__ import annotations

from clew.errors import UsageError
from clew.evaluate.metrics.answers import ANSWER_METRICS
from clew.evaluate.metrics.base import Metric, QuestionMetric, RunMetric
from clew.evaluate.metrics.citations import CITATION_METRICS
from clew.evaluate.metrics.outcome import OUTCOME_METRICS
from clew.evaluate.metrics.retrieval import RETRIEVAL_METRICS
from clew.evaluate.metrics.run import RUN_METRICS

QUESTION_METRICS: tuple[QuestionMetric, ...] = (
    *ANSWER_METRICS,
    *OUTCOME_METRICS,
    *CITATION_METRICS,
    *RETRIEVAL_METRICS,
)
METRICS: dict[str, QuestionMetric | RunMetric] = {m.about.name: m for m in (*QUESTION_METRICS, *RUN_METRICS)}


def metric_named(name: str) -> QuestionMetric | RunMetric:
    """Return a metric; UsageError if there is none of that name."""
    if name not in METRICS:
        raise UsageError(f"There is no metric {name!r}. Metrics are: {', '.join(METRICS)}.")
    return METRICS[name]


def about(name: str) -> Metric:
    """Say what a metric is; UsageError if there is none of that name."""
    return metric_named(name).about
