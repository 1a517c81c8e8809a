"""Citation precision and recall, against gold paths.

A citation is right if its answer is a gold answer and its triples are those of the gold paths: the same
relations as often (a relation and its stored inverse count as one), with every entity that the paths start
from. The question of direction does not arise, as a triple has one.
"""

from __future__ import annotations

from collections import Counter

from clew.evaluate.metrics.base import Metric, QuestionMetric
from clew.evaluate.names import name_form
from clew.evaluate.records import Cited, Record


def gold_relations(record: Record) -> Counter[str]:
    """Relations of all gold paths, one name for each inverse pair."""
    forms = record.relation_form
    return Counter(forms.get(r, r) for path in record.question.paths for r in path.relations)


def is_right(record: Record, cited: Cited) -> bool:
    """Whether a citation follows the gold paths to a gold answer."""
    forms = record.relation_form
    if not any(name_form(cited.answer) in gold for gold in record.gold_forms):
        return False
    if Counter(forms.get(relation, relation) for _, relation, _ in cited.triples) != gold_relations(record):
        return False
    nodes = {name_form(node) for head, _, tail in cited.triples for node in (head, tail)}
    return all(name_form(path.start) in nodes for path in record.question.paths)


def citation_precision(record: Record) -> float | None:
    """Share of the citations that are right; None without citations or gold paths."""
    if not record.question.paths or not record.citations:
        return None
    return sum(is_right(record, cited) for cited in record.citations) / len(record.citations)


def citation_recall(record: Record) -> float | None:
    """Share of the gold answers that a right citation proves; None without gold paths."""
    if not record.question.paths or not record.gold_forms:
        return None
    proved = {name_form(cited.answer) for cited in record.citations if is_right(record, cited)}
    return sum(bool(forms & proved) for forms in record.gold_forms) / len(record.gold_forms)


CITATION_METRICS = (
    QuestionMetric(
        Metric(
            "citation_precision",
            "Citation precision",
            "Share of citations that prove a gold answer by the gold path, over questions with citations.",
            "after Gao et al. 2023 (ALCE), on gold paths",
        ),
        citation_precision,
    ),
    QuestionMetric(
        Metric(
            "citation_recall",
            "Citation recall",
            "Share of gold answers that a citation proves by the gold path.",
            "after Gao et al. 2023 (ALCE), on gold paths",
        ),
        citation_recall,
    ),
)
