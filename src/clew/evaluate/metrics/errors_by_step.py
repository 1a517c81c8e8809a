"""At which step a wrong answer went wrong (SimGRAG sec. 6.5, table 4), computed from gold paths.

SimGRAG's authors sorted errors by hand; here the rule is: `pattern` if the method's pattern is not that of
the gold paths (another number of edges, other known entities, or relations of the graph that are not those
of the gold); otherwise `retrieval` if no gold answer is among the triples that the record shows; otherwise
`reading`. Without a pattern the step is `retrieval` or `reading`; an abstention or failure without any
evidence counts as `pattern`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal, cast

from clew.evaluate.metrics.evidence import evidence_forms, gold_relations
from clew.evaluate.names import name_form
from clew.evaluate.records import Record

ErrorStep = Literal["pattern", "retrieval", "reading"]
ROAD_STEPS: tuple[ErrorStep, ...] = ("pattern", "retrieval", "reading")
_UNKNOWN = "UNKNOWN"


def error_step(record: Record, hits: float | None) -> ErrorStep | None:
    """Say where a question went wrong; None if it did not, or has no gold paths or no gold."""
    if hits is None or hits > 0 or not record.question.paths or not record.question.gold:
        return None
    pattern = None if record.answer is None else record.answer["pattern"]
    evidence = evidence_forms(record)
    if pattern is None and not evidence:
        return "pattern"
    if pattern is not None and not follows_gold(record, pattern):
        return "pattern"
    return "reading" if any(forms & evidence for forms in record.gold_forms) else "retrieval"


def follows_gold(record: Record, pattern: Mapping[str, Any]) -> bool:
    """Whether a pattern has the shape, the known entities and the relations (if of the graph) of the gold."""
    triples = cast("list[list[str]]", pattern["triples"])
    gold = gold_relations(record)
    if len(triples) != gold.total():
        return False
    nodes = {node for head, _, tail in triples for node in (head, tail)}
    known_entities = {name_form(node) for node in nodes if not node.startswith(_UNKNOWN)}
    if known_entities != {name_form(path.start) for path in record.question.paths}:
        return False
    forms = record.relation_form
    relations = Counter(forms[relation] for _, relation, _ in triples if relation in forms)
    return relations <= gold if relations.total() < len(triples) else relations == gold
