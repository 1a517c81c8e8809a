"""What `--explain` shows of how a question was read."""

from __future__ import annotations

from collections.abc import Sequence

from clew.graph.graph import Graph
from clew.reading.rules.explain import Explanation
from clew.reading.rules.found import draw
from clew.reading.rules.reading import Reading
from clew.types import Mention, Step


def link_step(graph: Graph, mentions: Sequence[Mention]) -> Step:
    """The mentions with their candidates."""
    rows = [
        {
            "text": m.text,
            "candidates": [
                {"entity": graph.entities[c.entity], "how": c.how, "score": c.score} for c in m.candidates
            ],
        }
        for m in mentions
    ]
    return Step("link", {"mentions": rows})


def readings_step(graph: Graph, readings: Sequence[Reading]) -> Step:
    """The best readings with their costs."""
    rows = [
        {
            "cost": round(r.cost, 3),
            "mentions": [graph.entities[a.entity] for a in r.anchors],
            "pattern": draw(graph, r),
        }
        for r in readings[:8]
    ]
    return Step("readings", {"readings": rows})


def explain_step(told: Explanation) -> Step:
    """What the best reading leaves open."""
    return Step("explanation", {"open_words": list(told.open_words), "explained_share": round(told.share, 3)})
