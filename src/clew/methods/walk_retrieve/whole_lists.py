"""Whole types and relations, as lines of a prompt, for a question that names no thing to begin at.

*How many countries are there? Who scored the most goals?* Walks are samples, and a path begins at a thing. So
the types that such a question names are listed, *everything of type country : China (1)*, and the relations
most like its words, by those of their ends that are fewer: *everything ─position→ : Striker [Ann, Bea (2)]*.
What is too large to be whole is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clew.graph.graph import Graph
from clew.llm.grounded_reply import Fact
from clew.llm.prompting import data_line
from clew.methods.kg_rag.retrieve import of_relation
from clew.methods.relation_ranking import RelationRanking
from clew.methods.walk_retrieve.topic_paths import name_of
from clew.text.labels import readable, relation_text
from clew.text.normalise import normalise

MOST_LISTED_RELATIONS = 4
MOST_LIST_TRIPLES = 200
"""Triples of all relations that are read whole."""
MOST_MEMBERS = 300
"""Things of a type that a line lists."""
LONGEST_NAME_IN_LIST = 120
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class WholeList:
    """A line, and what it holds."""

    text: str
    fact: Fact


def whole_lists(
    graph: Graph, ranking: RelationRanking, question: str, topics: Sequence[int]
) -> list[WholeList]:
    """Types, then relations, for a question that names nothing but numbers and dates; else none."""
    if not all(graph.values.kind[topic] for topic in topics):
        return []
    lines, room = _types(graph, question), MOST_LIST_TRIPLES
    for relation in ranking.order(question)[:MOST_LISTED_RELATIONS]:
        count = int(np.count_nonzero(graph.out.relation == relation))
        if 0 < count <= room:
            lines.append(_relation(graph, relation))
            room -= count
    return lines


def _types(graph: Graph, question: str) -> list[WholeList]:
    words = set(_WORD.findall(normalise(question)))
    plurals = (("s", ""), ("es", ""), ("ies", "y"))
    said = words | {w.removesuffix(end) + one for end, one in plurals for w in words if w.endswith(end)}
    lines: list[WholeList] = []
    for type_, name in enumerate(graph.types.names):
        named = set(normalise(readable(name)).split())
        members = np.flatnonzero(graph.types.having(type_)).tolist() if named and named <= said else []
        if 0 < len(members) <= MOST_MEMBERS:
            ends = {node: proof for node in members if (proof := _standing(graph, node))}
            kind = data_line(readable(name), LONGEST_NAME_IN_LIST)
            told = f"everything of type {kind} : {_listed(graph, members)}"
            lines.append(WholeList(told, Fact((), ends)))
    return lines


def _relation(graph: Graph, relation: int) -> WholeList:
    """A relation by its tails, or by its heads where these are fewer, those with the most others first."""
    slots = of_relation(graph, relation)
    heads, tails = graph.out.owners(slots).tolist(), graph.out.neighbour[slots].tolist()
    by_tail = len(set(tails)) <= len(set(heads))
    others: dict[int, list[int]] = {}
    proofs: dict[int, tuple[int, ...]] = {}
    for triple, head, tail in zip(slots.tolist(), heads, tails, strict=True):
        end, other = (tail, head) if by_tail else (head, tail)
        others.setdefault(end, []).append(other)
        proofs[end] = (*proofs.get(end, ()), triple)
    ends = sorted(others, key=lambda end: (-len(others[end]), end))
    told = "; ".join(f"{name_of(graph, end)} [{_listed(graph, others[end], ', ')}]" for end in ends)
    named = data_line(relation_text(graph.relation_labels[relation]), LONGEST_NAME_IN_LIST)
    arrow = f"─{named}→" if by_tail else f"←{named}─"
    return WholeList(f"everything {arrow} : {told} ({len(ends):,})", Fact(tuple(slots.tolist()), proofs))


def _listed(graph: Graph, nodes: Sequence[int], between: str = "; ") -> str:
    return f"{between.join(name_of(graph, node) for node in nodes)} ({len(nodes):,})"


def _standing(graph: Graph, node: int) -> tuple[int, ...]:
    """The first triple in which a thing stands."""
    low, high = graph.out.span(node)
    if low < high:
        return (low,)
    low, high = graph.into.span(node)
    if low == high:
        return ()
    head, relation = int(graph.into.neighbour[low]), int(graph.into.relation[low])
    return (graph.find_triple(head, relation, node),)
