"""What came of one reply of `synaptiqa`: a query with its rows, or what is wrong with it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Literal

from clew.methods.synaptiqa.choose_name import Unknown
from clew.methods.synaptiqa.queried import QueryResult
from clew.stores.cypher.direction import Correction
from clew.types import Abstention, Reason

MOST_SHOWN = 20
"""Rows that the steps of an answer show."""
_LONGEST = 2_000
"""Characters of a model's reply that the steps show."""


@dataclass
class Tried:
    """What came of one reply: a result, a problem (`error`, `empty`), or that the graph `lacks` it."""

    query: str
    kind: Literal["rows", "error", "empty", "lacks"]
    problem: str = ""
    result: QueryResult | None = None
    corrections: list[Correction] = field(default_factory=list[Correction])
    unknown: list[Unknown] = field(default_factory=list[Unknown])

    def shown(self, reply: str) -> dict[str, object]:
        """Say for the steps what the model wrote, each correction and why, the query, and its rows."""
        left = [{"name": str(each), "near": [near.name for near in each.near]} for each in self.unknown]
        detail: dict[str, object] = {
            "written": short(reply),
            "corrections": [asdict(correction) for correction in self.corrections],
            "not_in_graph": left,
            "query": self.query,
            "outcome": self.kind,
            "problem": self.problem,
        }
        if self.result is not None:
            detail |= {
                "sent": self.result.sent,
                "columns": list(self.result.columns),
                "rows": [row.labels for row in self.result.rows[:MOST_SHOWN]],
                "row_count": len(self.result.rows),
                "complete": self.result.complete,
                "evidence_sampled": self.result.sampled,
            }
        return detail


def feedback(tried: Tried) -> list[str]:
    """Say what is wrong with a query: it could not be run, or it found nothing; and what the graph has."""
    lines = ["EMPTY: the query was run without an error and found nothing."]
    if tried.kind == "error":
        lines = [f"ERROR: the query could not be run. {tried.problem}."]
    for each in tried.unknown:
        near = ", ".join(near.name for near in each.near)
        lines.append(f"The graph has no {each}. It has: {near or 'nothing like it'}")
    if tried.kind == "empty" and not tried.unknown:
        lines.append(
            "All names and values of the query are in the graph. If it asks by the wrong path or condition,"
            " write another; if it is right, the graph holds no answer: write NOT IN THIS GRAPH"
        )
    return lines


def abstention(tried: Tried) -> Abstention:
    """Say why the last query gives no answer."""
    near = tuple(dict.fromkeys(n.name for each in tried.unknown for n in each.near))
    reason: Reason = "empty_result"
    if tried.unknown:
        reason = "no_entity" if tried.unknown[0].kind == "value" else "no_relation"
    shown = f". The query: {tried.query}" if tried.query else ""
    if tried.kind == "lacks":
        told = f"the model finds nothing of the kind in the schema: {tried.problem}"
        return Abstention("no_relation", told, near)
    if tried.kind == "error":
        return Abstention(reason, f"no query could be run. {tried.problem.rstrip('.')}{shown}", near)
    lacks = "".join(f"; the graph has no {each}" for each in tried.unknown)
    return Abstention(reason, f"the query found nothing{lacks}{shown}", near)


def short(text: str) -> str:
    """Cut a text for the steps of an answer."""
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " …"
