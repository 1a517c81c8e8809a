"""Triples as numbered lines of a prompt: what a model reads, and what it may name by number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clew.graph.graph import Graph
from clew.llm.prompting import data_line
from clew.methods.evidence import Fact, Proofs
from clew.methods.topic_entities import Called
from clew.text.labels import readable, relation_text
from clew.text.normalise import normalise

LONG_LIST, SAMPLE = 20, 5
"""So many triples that lead to one thing are one line, with so many names and their number."""
SHORTEST_LIST = 5
"""Triples at one known entity and of one relation that become one line with a list."""
LONGEST_NAME_IN_FACT = 200
"""Characters of a name in a line."""


_Key = tuple[int, int, int]
"""Relation, side of the known entity (0 where it is the head), and the entity; -1 without one known end."""


@dataclass(frozen=True, slots=True)
class FactLines:
    """Lines of a prompt, and the triples that each line holds."""

    lines: tuple[str, ...]
    facts: tuple[Fact, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines) or "(none)"


def fact_lines(graph: Graph, triples: Sequence[int], proofs: Proofs, first: int = 1) -> FactLines:
    """Number triples from `first` on, those of one relation at a known entity as one line with a list.

    *[3] (*, directed by, X): A; B; C*. A list says how many the graph has where it lacks some of them. What
    many things have in common is one line, too: *(*, flag, Norway): Ann; Bea; … [134 in the graph]*.
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
        for part, part_key in _parts(graph, row, key):
            line, fact = _line(graph, part, part_key, proofs)
            lines.append(f"[{first + len(lines)}] {line}")
            facts.append(fact)
    return FactLines(tuple(lines), tuple(facts))


def _parts(graph: Graph, row: list[int], key: _Key) -> Iterator[tuple[list[int], _Key]]:
    """The triples of each line, and what they have in common."""
    if key[2] >= 0 and len(row) >= SHORTEST_LIST:
        yield row, key
        return
    by_tail: dict[int, list[int]] = {}
    for triple in row:
        by_tail.setdefault(graph.triple(triple)[2], []).append(triple)
    for tail, triples in by_tail.items() if key[2] < 0 else ((-1, row),):
        if key[2] < 0 and len(triples) >= LONG_LIST:
            yield triples, (key[0], 1, tail)
        else:
            yield from (([triple], key) for triple in triples)


def _line(graph: Graph, triples: Sequence[int], key: _Key, proofs: Proofs) -> tuple[str, Fact]:
    if len(triples) == 1:
        head, relation, tail = graph.triple(triples[0])
        text = f"({_name(graph, head)}, {_relation(graph, relation)}, {_name(graph, tail)})"
        return text, Fact((triples[0],))
    relation, back, near = key
    far_ends = [graph.triple(triple)[0 if back else 2] for triple in triples]
    ends = {end: (*proofs.get(near, ()), triple) for end, triple in zip(far_ends, triples, strict=True)}
    side = graph.into if back else graph.out
    low, high = side.relation_span(near, relation)
    label = _relation(graph, relation)
    text = f"(*, {label}, {_name(graph, near)})" if back else f"({_name(graph, near)}, {label}, *)"
    cut = high - low > len(triples)
    total = f" [{len(triples)} of {high - low:,} in the graph]" if cut else ""
    listed = "; ".join(_name(graph, end) for end in far_ends)
    if near not in proofs:
        listed = "; ".join(_name(graph, end) for end in far_ends[:SAMPLE])
        total = f"; … [{high - low:,} in the graph]"
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
