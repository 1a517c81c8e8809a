"""Metrics of the evidence: citation precision and recall against gold paths, and what was retrieved.

A citation is right if its answer is a gold answer and its triples are those of the gold paths: the same
relations as often (a relation and its stored inverse count as one), with every entity that the paths start
from. The question of direction does not arise, as a triple has one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import cast

from clew.evaluate.metrics.base import metric
from clew.evaluate.names import name_form
from clew.evaluate.records import Cited, Record

_ALCE = "after Gao et al. 2023 (ALCE), on gold paths"


def gold_relations(record: Record) -> Counter[str]:
    """Relations of all gold paths, one name for each inverse pair."""
    forms = record.relation_form
    return Counter(forms.get(r, r) for path in record.question.paths for r in path.relations)


def is_right(record: Record, cited: Cited) -> bool:
    """Whether a citation follows the gold paths to a gold answer."""
    forms = record.relation_form
    if not any(name_form(cited.answer) in gold for gold in record.gold_evidence):
        return False
    if Counter(forms.get(relation, relation) for _, relation, _ in cited.triples) != gold_relations(record):
        return False
    nodes = {name_form(node) for head, _, tail in cited.triples for node in (head, tail)}
    return all(name_form(path.start) in nodes for path in record.question.paths)


def evidence_forms(record: Record) -> set[str]:
    """The forms of the names and ids in the triples that an answer shows, but for its pattern."""
    answer_fields = (
        {} if record.answer is None else {k: v for k, v in record.answer.items() if k != "pattern"}
    )
    shown = triples_within(answer_fields, ("triples", "evidence", "ids"))
    return {name_form(node) for head, _, tail in shown for node in (head, tail)}


def triples_within(
    value: object, keys: tuple[str, ...] = ("triples", "evidence"), *, under: bool = False
) -> Iterator[tuple[str, str, str]]:
    """Yield lists of three names `under` a key that has one of some words, in a JSON value."""
    if isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            yield from triples_within(item, keys, under=under or any(word in key for word in keys))
    elif isinstance(value, list):
        items = cast("list[object]", value)
        if under and len(items) == 3 and all(isinstance(item, str) for item in items):
            head, relation, tail = cast("list[str]", items)
            yield head, relation, tail
            return
        for item in items:
            yield from triples_within(item, keys, under=under)


@metric("Citation precision", _ALCE)
def citation_precision(record: Record) -> float | None:
    """Share of citations that prove a gold answer by the gold path, over questions with citations."""
    if not record.question.paths or not record.citations:
        return None
    return sum(is_right(record, cited) for cited in record.citations) / len(record.citations)


@metric("Citation recall", _ALCE)
def citation_recall(record: Record) -> float | None:
    """Share of gold answers that a citation proves by the gold path."""
    if not record.question.paths or not record.gold_evidence:
        return None
    proved_forms = {name_form(cited.answer) for cited in record.citations if is_right(record, cited)}
    return sum(bool(forms & proved_forms) for forms in record.gold_evidence) / len(record.gold_evidence)


@metric("Retrieval Hits@1", "SimGRAG sec. 6.6 (figure 5)")
def retrieval_hits(record: Record) -> float | None:
    """Share of questions with a gold answer in the triples that the answer shows."""
    if not record.gold_evidence:
        return None
    evidence = evidence_forms(record)
    return float(any(forms & evidence for forms in record.gold_evidence))


@metric("Sub-questions", "KG-RAG sec. 4.4.2 (figure 7)", better="neither", high=float("inf"), unit="count")
def sub_questions(record: Record) -> float | None:
    """Sub-questions of the reasoning chain, mean over questions."""
    chain = None if record.answer is None else record.answer.get("chain")
    return None if not chain else float(len(chain["links"]))
