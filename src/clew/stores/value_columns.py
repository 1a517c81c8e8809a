"""Which relations of a graph lead to values alone, where its source tells no literals from entities."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from clew.graph.graph import Graph, ValueKind
from clew.graph.values import parse_value

BOOLEANS = frozenset(("true", "false"))
"""What nodes that are booleans are called, in lower case."""
WHOLE = re.compile(r"[+-]?(?:0|[1-9]\d{0,17})")
_DECIMAL = re.compile(r"[+-]?(?:(?:0|[1-9]\d{0,14})(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,2})?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def value_relations(graph: Graph) -> dict[int, str]:
    """Relations whose tails are all numbers, days, or true or false, with the type of ladybug.

    The tails are heads of nothing and of no declared type.
    """
    _, relations, tails = graph.out.columns()
    has_type = graph.types.offsets[1:] > graph.types.offsets[:-1]
    plain_nodes = ~has_type & (graph.values.datatype < 0) & (graph.out.degrees() == 0)
    kinds: dict[int, str] = {}
    others = relations[~plain_nodes[tails]]
    for relation in np.setdiff1d(relations, others).tolist():
        nodes = np.unique(tails[relations == relation])
        kind = kind_of([graph.labels[int(node)] for node in nodes[:1]])
        kind = kind and kind_of([graph.labels[int(node)] for node in nodes])
        if kind:
            kinds[relation] = kind
    return kinds


def kind_of(texts: Iterable[str]) -> str:
    """The type of a column of some texts: whole numbers, numbers, days or booleans; empty for others."""
    kinds = {kind_of_text(text) for text in texts}
    return "DOUBLE" if kinds == {"INT64", "DOUBLE"} else kinds.pop() if len(kinds) == 1 else ""


def kind_of_text(text: str) -> str:
    """The type of one text; one with leading zeros is none."""
    if WHOLE.fullmatch(text):
        return "INT64"
    if _DECIMAL.fullmatch(text):
        return "DOUBLE"
    if _DAY.fullmatch(text) and parse_value(text)[0] == ValueKind.DATE:
        return "DATE"
    return "BOOLEAN" if text.lower() in BOOLEANS else ""
