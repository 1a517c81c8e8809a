"""Triples as numbered lines of a prompt: what a model reads, and what it may name by number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.graph.graph import Graph
from clew.llm.prompting import data_line
from clew.methods.evidence import Fact, Proofs
from clew.methods.topic_entities import Called
from clew.text.labels import readable, relation_text
from clew.text.normalise import normalise

SHORTEST_LIST = 5
"""Triples at one known entity and of one relation that become one line with a list."""
LONGEST_NAME_IN_FACT = 200
"""Characters of a name in a line."""


@dataclass(frozen=True, slots=True)
class FactLines:
    """Lines of a prompt, and the triples that each line holds."""

    lines: tuple[str, ...]
    facts: tuple[Fact, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines) or "(none)"


def fact_lines(graph: Graph, triples: Sequence[int], proofs: Proofs, first: int = 1) -> FactLines:
    """Number triples from `first` on, those of one relation at a known entity as one line with a list.

    *[3] (*, directed by, X): A; B; C*. A list says how many the graph has where it lacks some of them.
    """
    # By relation, direction and known entity, -1 without one known end.
    rows: dict[tuple[int, int, int], list[int]] = {}
    for triple in dict.fromkeys(triples):
        head, relation, tail = graph.triple(triple)
        side, near = (0, head) if head in proofs else (1, tail)
        if (head in proofs) == (tail in proofs):
            side, near = 0, -1
        rows.setdefault((relation, side, near), []).append(triple)
    lines, facts = list[str](), list[Fact]()
    for key, row in rows.items():
        parts = [row] if key[2] >= 0 and len(row) >= SHORTEST_LIST else [[triple] for triple in row]
        for part in parts:
            line, fact = _line(graph, part, key, proofs)
            lines.append(f"[{first + len(lines)}] {line}")
            facts.append(fact)
    return FactLines(tuple(lines), tuple(facts))


def _line(
    graph: Graph, triples: Sequence[int], key: tuple[int, int, int], proofs: Proofs
) -> tuple[str, Fact]:
    if len(triples) == 1:
        head, relation, tail = graph.triple(triples[0])
        text = f"({_name(graph, head)}, {_relation(graph, relation)}, {_name(graph, tail)})"
        return text, Fact((triples[0],))
    relation, back, near = key
    far_ends = [graph.triple(triple)[0 if back else 2] for triple in triples]
    ends = {end: (*proofs[near], triple) for end, triple in zip(far_ends, triples, strict=True)}
    side = graph.into if back else graph.out
    low, high = side.relation_span(near, relation)
    label = _relation(graph, relation)
    text = f"(*, {label}, {_name(graph, near)})" if back else f"({_name(graph, near)}, {label}, *)"
    cut = high - low > len(triples)
    total = f" [{len(triples)} of {high - low:,} in the graph]" if cut else ""
    listed = "; ".join(_name(graph, end) for end in far_ends)
    return f"{text}: {listed}{total}", Fact(tuple(triples), ends, cut, high - low)


def _name(graph: Graph, node: int) -> str:
    return data_line(readable(graph.labels[node]), LONGEST_NAME_IN_FACT)


def _relation(graph: Graph, relation: int) -> str:
    return data_line(relation_text(graph.relation_labels[relation]), LONGEST_NAME_IN_FACT)


def other_names(graph: Graph, called: Called) -> str:
    """A line of a prompt with the graph's names for those that only the question uses; or empty."""
    statements: list[str] = []
    for mention, entities in called.items():
        names = [readable(graph.labels[e]) for e in entities]
        if names and normalise(mention) not in {normalise(name) for name in names}:
            graph_names = " or ".join(data_line(name, LONGEST_NAME_IN_FACT) for name in names)
            statements.append(f'"{data_line(mention, LONGEST_NAME_IN_FACT)}" is {graph_names}')
    return f"Names: {'; '.join(statements)}\n" if statements else ""
