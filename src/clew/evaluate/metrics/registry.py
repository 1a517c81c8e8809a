"""All metrics; adding one is a function and a name here."""

from __future__ import annotations

from typing import Any

from clew.errors import UsageError
from clew.evaluate.metrics import answers, evidence, outcome, run
from clew.evaluate.metrics.base import Metric, QuestionMetric, RunMetric

QUESTION_METRICS: tuple[QuestionMetric, ...] = (
    *(answers.hits_at_1, answers.text_hit, answers.exact_match, answers.precision, answers.recall),
    *(answers.f1, answers.exact_set, answers.bert_score),
    *(outcome.accuracy, outcome.hallucination, outcome.missing, outcome.truthfulness),
    *(outcome.judge_accuracy, outcome.unjudged),
    *(evidence.citation_precision, evidence.citation_recall),
    *(evidence.retrieval_hits, evidence.sub_questions),
)
_OF_RUNS: tuple[RunMetric, ...] = (
    *(run.claim_accuracy, run.claim_macro_f1, run.abstention_precision, run.abstention_recall),
    *(run.coverage, run.aurc, run.failures, run.calls, run.tokens, run.cost),
    *(run.p50_ms, run.p95_ms, run.mean_ms),
)
RUN_METRICS = {metric.name: metric for metric in _OF_RUNS}
METRICS: dict[str, Metric[Any]] = {m.name: m for m in (*QUESTION_METRICS, *_OF_RUNS)}


def metric_named(name: str) -> Metric[Any]:
    """Return a metric; UsageError if there is none of that name."""
    if name not in METRICS:
        raise UsageError(f"There is no metric {name!r}. Metrics are: {', '.join(METRICS)}.")
    return METRICS[name]
