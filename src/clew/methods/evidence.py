"""What a model was given to read, as numbered lines, and which of its triples prove an entity."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from rapidfuzz.distance import OSA

from clew.foundation.arrays import Int64
from clew.graph.graph import Graph, ValueKind, triple_text
from clew.graph.values import parse_value, plain_label
from clew.index.names import NamesIndex
from clew.llm.managed import LONGEST_NAME_READ, data_line
from clew.methods.question import Called, Judge, asked_of
from clew.text.normalise import normalise
from clew.text.verbalise import readable, relation_text

# Which entities of the evidence a stated answer means.
#
# Only entities that stand in the evidence are candidates. A name is taken as it is written, by an alias,
# without an article or a bracket behind it, as a part of a longer name, or misspelt, in this order, and where
# that leaves one. Numbers and dates are compared by value.

SHORTEST_MISSPELT = 5
"""Letters of the shortest name that is looked for misspelt; one in `LETTERS_A_TYPO` may differ."""
LETTERS_A_TYPO = 6
_BRACKET = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")
NUMBER = re.compile(r"[+\-\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
"""A number as a reply writes it."""
_DIGITS = re.compile(r"\d+")
_PARTS = re.compile(r"(,?\s+(?:and|or)\s+|,\s+|\s+&\s+|\s*[/|·]\s*)")


@dataclass(frozen=True, slots=True)
class Linked:
    """The entities that an item means, several where they are called alike, or `why` there are none."""

    item: str
    entities: tuple[int, ...]
    why: str = ""


@dataclass(frozen=True, eq=False)
class EvidenceNames:
    """The names of the entities `nodes` of the evidence; `names` of the whole graph tell misspelt ones."""

    graph: Graph
    nodes: tuple[int, ...]
    names: NamesIndex

    @cached_property
    def _labels(self) -> dict[str, list[int]]:
        """Nodes by the normal forms of their labels, also with an id beside, and of their source names."""
        nodes_by_name: dict[str, list[int]] = {}
        for node in dict.fromkeys(self.nodes):
            names = (self.graph.labels[node], self.graph.entities[node], self.graph.label(node))
            for name in set(map(normalise, names)):
                if name:
                    nodes_by_name.setdefault(name, []).append(node)
        return nodes_by_name

    @cached_property
    def _aliases(self) -> dict[str, list[int]]:
        aliases = self.graph.aliases
        nodes_by_name: dict[str, list[int]] = {}
        for at in np.flatnonzero(np.isin(aliases.entity, np.array(self.nodes, np.int64))).tolist():
            nodes_by_name.setdefault(normalise(aliases.names[at]), []).append(int(aliases.entity[at]))
        return nodes_by_name

    def list_of(self, item: str) -> list[Linked]:
        """What an item means: one thing, else several joined by commas and *and* if each of them is known."""
        whole = self.link_name(item)
        if whole.entities:
            return [whole]
        return self._link_list(item) or [whole]

    def exactly(self, item: str) -> list[Linked]:
        """The same by names as they are written alone; nothing where anything is left over."""
        entities = self._exact(item)
        return [Linked(item, entities)] if entities else self._link_list(item)

    def called(self, item: str) -> bool:
        """Whether an entity is called so to the letter."""
        return any(
            readable(self.graph.labels[node]) == item for node in self._labels.get(normalise(item), ())
        )

    def link_name(self, item: str) -> Linked:
        """The entities that an item means as one name."""
        for name in _shapes(item):
            if entities := self._exact(name):
                return Linked(item, entities)
        if equal_values := self._equal_values(item):
            return Linked(item, equal_values)
        for link in (self._partial, self._misspelt):
            for name in _shapes(item):
                linked = link(item, name)
                if linked is not None:
                    return linked
        return Linked(item, (), "it is not in the facts")

    def _exact(self, name: str) -> tuple[int, ...]:
        norm = normalise(name)
        nodes = self._labels.get(norm) or self._aliases.get(norm) or []
        if len(nodes) > 1:
            nodes = [node for node in nodes if readable(self.graph.labels[node]) == name] or nodes
        return tuple(dict.fromkeys(nodes))

    def _equal_values(self, item: str) -> tuple[int, ...]:
        """Numbers and dates of the evidence that are equal, however they are written; a unit may follow."""
        values = self.graph.values
        kind, value = parse_value(item)
        if kind == ValueKind.NONE:
            numbers = NUMBER.findall(item)
            if len(numbers) != 1:
                return ()
            kind, value = parse_value(numbers[0])
        return tuple(
            node
            for node in dict.fromkeys(self.nodes)
            if values.kind[node] == kind and abs(values.value[node] - value) <= 1e-9 * max(1.0, abs(value))
        )

    def _partial(self, item: str, name: str) -> Linked | None:
        """Names of which the item is a whole-word part; the one with the fewest words beyond it."""
        words = normalise(name).split()
        if not words or (len(words) == 1 and (len(words[0]) < 2 or words[0].isdigit())):
            return None  # 18 is not *professor 18*
        extra_words: dict[int, int] = {}
        for names in (self._labels, self._aliases):
            for label, nodes in names.items():
                tokens = label.split()
                if len(tokens) - len(words) <= 3 and _contains(tokens, words):
                    for node in nodes:
                        extra_words[node] = min(extra_words.get(node, 1_000), len(tokens) - len(words))
        return self._only(item, extra_words, "a part of")

    def _misspelt(self, item: str, name: str) -> Linked | None:
        norm = normalise(name)
        if len(norm) < SHORTEST_MISSPELT or self.names.exact(name):
            return None
        most = max(1, len(norm) // LETTERS_A_TYPO)
        digits = _DIGITS.findall(norm)
        distances: dict[int, int] = {}
        for label, nodes in list(self._labels.items())[:20_000]:
            if abs(len(label) - len(norm)) > most or _DIGITS.findall(label) != digits:
                continue
            distance = OSA.distance(norm, label, score_cutoff=most)
            if distance <= most:
                distances |= dict.fromkeys(nodes, distance)
        return self._only(item, distances, "like")

    def _only(self, item: str, cost: dict[int, int], how: str) -> Linked | None:
        """The entities of least cost, if they are called alike."""
        if not cost:
            return None
        least = min(cost.values())
        best = [node for node, node_cost in cost.items() if node_cost == least]
        names = {normalise(self.graph.labels[node]) for node in best}
        if len(names) > 1:
            names_text = ", ".join(readable(self.graph.labels[node]) for node in best[:3])
            return Linked(item, (), f"it is {how} {len(names)} names of the facts ({names_text})")
        return Linked(item, tuple(best))

    def _link_list(self, item: str) -> list[Linked]:
        """Cut an item at commas and *and* so that each part is a name; nothing where one is not."""
        parts = _PARTS.split(item)
        linked_parts: list[Linked] = []
        at = 0
        while at < len(parts):
            for stop in range(min(len(parts), at + 16), at, -1):
                name = "".join(parts[at:stop]).strip()
                linked = (nodes for shape in _shapes(name) if (nodes := self._exact(shape)))
                if (stop - at) % 2 and (entities := next(linked, ())):
                    linked_parts.append(Linked(name, entities))
                    at = stop + 1
                    break
            else:
                return []
        return linked_parts if len(linked_parts) > 1 else []


def evidence_nodes(graph: Graph, triples: Iterable[int]) -> tuple[int, ...]:
    """Heads and tails of triples, in order, each once."""
    return tuple(dict.fromkeys(node for triple in triples for node in graph.triple(triple)[::2]))


def _shapes(item: str) -> Iterator[str]:
    """An item as it is; without a bracket behind it; and each without an article."""
    bare = _BRACKET.sub("", item)
    for text in dict.fromkeys((item, bare) if bare else (item,)):
        yield from dict.fromkeys((text, without_article(text)))


def without_article(name: str) -> str:
    """A name without an article before it."""
    first, _, remainder = name.partition(" ")
    return remainder if remainder and first.casefold() in ("the", "a", "an") else name


def _contains(tokens: Sequence[str], words: Sequence[str]) -> bool:
    return any(tokens[at : at + len(words)] == list(words) for at in range(len(tokens) - len(words) + 1))


Proofs = Mapping[int, tuple[int, ...]]
"""Entity → the path of triples that proves it, from an entity of the question."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of a prompt: its triples; where it lists entities, these, with the path that proves each.

    `cut`: it does not list all that the graph has, which are `total`, 0 where that is not known. `text` is
    the line without its number.
    """

    triples: tuple[int, ...] = ()
    ends: Proofs = field(default_factory=dict[int, tuple[int, ...]])
    cut: bool = False
    total: int = 0
    text: str = ""

    @property
    def all_triples(self) -> tuple[int, ...]:
        """Its triples, and those of the paths to what it lists."""
        paths = (self.triples, *self.ends.values())
        return tuple(dict.fromkeys(triple for path in paths for triple in path))


def triples_of(facts: Iterable[Fact]) -> tuple[int, ...]:
    """The triples of facts, as they come first."""
    return tuple(dict.fromkeys(triple for fact in facts for triple in fact.triples))


@dataclass(frozen=True, eq=False)
class ReadEvidence:
    """What a model was given to read.

    `facts[i]` is the line with the number i + 1; `known_proofs` is where proofs begin: the answers before
    with their proofs, and the question's entities, with nothing to prove. `named_entities` are those that the
    question names. `question` is what is asked, `judge` says what answers it. `whole`: the facts say what
    they leave out, so that what is missing from them is known not to be so.
    """

    graph: Graph
    judge: Judge
    question: str
    facts: tuple[Fact, ...]
    known_proofs: Proofs
    named_entities: frozenset[int]
    whole: bool = False

    def misfit(self, entity: int) -> str:
        """Why an entity is not what is asked for; empty where it may be, as where a query graph gives it."""
        why = self.judge.misfit(asked_of(self.question), entity)
        return "" if why and self.judge.gives(self.question, entity) else why

    @cached_property
    def starts_at_names(self) -> bool:
        """Whether a path leads to each right answer from what the question names."""
        return self.judge.starts_at_names(self.question)

    @cached_property
    def triples(self) -> tuple[int, ...]:
        """All triples, as they come first."""
        return triples_of(self.facts)

    @cached_property
    def names(self) -> EvidenceNames:
        """The names that an answer may have."""
        nodes = dict.fromkeys(evidence_nodes(self.graph, self.triples))
        nodes |= dict.fromkeys(entity for fact in self.facts for entity in fact.ends)
        return EvidenceNames(self.graph, tuple(nodes), self.judge.reader.names)

    def nodes_of(self, facts: Sequence[Fact]) -> set[int]:
        """The entities of some of the facts."""
        return {node for fact in facts for node in (*evidence_nodes(self.graph, fact.triples), *fact.ends)}

    def lines(self, numbers: Iterable[int]) -> tuple[Fact, ...]:
        """Some of the facts; numbers of no line are left out."""
        return tuple(self.facts[n - 1] for n in numbers if 1 <= n <= len(self.facts))


def prove_stated(
    evidence: ReadEvidence, entities: Sequence[int], cited: Sequence[Fact]
) -> dict[int, tuple[int, ...]]:
    """Prove entities by the facts that a reply names, else by all that were given.

    A line that lists an entity has its path. Other paths begin at what is known. Where several of them
    through the named facts lead to an answer, as in a conjunction, all are its proof; else the shortest is,
    and one from an answer of the chain before one from the question. Without anything known, it is the first
    fact that holds the entity. One that nothing proves is left out.
    """
    proofs: dict[int, tuple[int, ...]] = {}
    cited_paths = _Paths(evidence, triples_of(cited))
    all_paths = _Paths(evidence, evidence.triples)
    # Where every answer has a path from a name, a record of its own does not prove one that has none.
    apart = evidence.whole and evidence.starts_at_names
    for entity in entities:
        if apart and entity not in evidence.named_entities and not all_paths.best_to(entity):
            continue
        listed = next((fact.ends[entity] for fact in cited if entity in fact.ends), None)
        proof = listed or cited_paths.all_to(entity) or all_paths.best_to(entity)
        proof = proof or next((fact.ends[entity] for fact in evidence.facts if entity in fact.ends), None)
        if not proof and entity in evidence.named_entities:
            # One of the question's own (*which is heavier, A or B*) rests on all facts that were named.
            proof = cited_paths.triples if entity in cited_paths.around else all_paths.holding(entity)
        if not proof and not any(evidence.known_proofs.values()) and not evidence.starts_at_names:
            # What is *not* so of what is asked about has no path from it: the facts that were named hold it.
            proof = cited_paths.holding(entity)
        if proof:
            proofs[entity] = proof
    return proofs


class _Paths:
    """Paths through some triples from what is known."""

    def __init__(self, evidence: ReadEvidence, triples: Sequence[int]) -> None:
        self.evidence, self.triples = evidence, tuple(triples)
        self.around: dict[int, list[tuple[int, int]]] = {}
        for triple in triples:
            head, _, tail = evidence.graph.triple(triple)
            self.around.setdefault(head, []).append((triple, tail))
            if tail != head:
                self.around.setdefault(tail, []).append((triple, head))
        self._from: dict[int, dict[int, tuple[int, ...]]] = {}

    def all_to(self, entity: int) -> tuple[int, ...] | None:
        """The paths from each known entity to one, together; None if there is none."""
        if not self.around.get(entity):
            return None
        if not self.evidence.known_proofs:
            return self.holding(entity)
        paths = [
            path for start in self.evidence.known_proofs if (path := self._path(start, entity)) is not None
        ]
        known_proof = self.evidence.known_proofs.get(entity, ())
        return tuple(dict.fromkeys([*known_proof, *(t for path in paths for t in path)])) or None

    def best_to(self, entity: int) -> tuple[int, ...] | None:
        """The shortest path from a known entity; None if there is none."""
        known = self.evidence.known_proofs
        if not known:
            return self.holding(entity)
        paths = [
            (not known[start], len(path), at, path)
            for at, start in enumerate(known)
            if (path := self._path(start, entity)) is not None
        ]
        return min(paths)[-1] if paths else known.get(entity) or None

    def holding(self, entity: int) -> tuple[int, ...] | None:
        """The first triple that holds an entity."""
        around = self.around.get(entity)
        return (around[0][0],) if around else None

    def _path(self, start: int, entity: int) -> tuple[int, ...] | None:
        """From a known entity, its own proof first; None where nothing leads there, or it is the entity."""
        if start == entity:
            return None
        if start not in self._from:
            self._from[start] = self._search(start)
        path = self._from[start].get(entity)
        return None if path is None else (*self.evidence.known_proofs[start], *path)

    def _search(self, start: int) -> dict[int, tuple[int, ...]]:
        """Breadth first; other known entities are ends, and nothing goes on through them."""
        stops = self.evidence.known_proofs.keys() - {start}
        paths: dict[int, tuple[int, ...]] = {start: ()}
        frontier = [start]
        while frontier:
            following: list[int] = []
            for node in frontier:
                for triple, neighbour in self.around.get(node, ()):
                    if neighbour not in paths:
                        paths[neighbour] = (*paths[node], triple)
                        if neighbour not in stops:
                            following.append(neighbour)
            frontier = following
        return paths


def triples_at_node(graph: Graph, node: int, relation: int, side: int) -> list[int]:
    """The triple ids of a relation at an entity, as head (0) or tail (1)."""
    low, high = (graph.into if side else graph.out).relation_span(node, relation)
    if not side:
        return list(range(low, high))
    return [graph.find_triple(head, relation, node) for head in graph.into.neighbour[low:high].tolist()]


def first_into(graph: Graph, node: int) -> tuple[int, ...]:
    """The first triple that leads to an entity, if any does."""
    low, high = graph.into.span(node)
    if low == high:
        return ()
    head, relation = int(graph.into.neighbour[low]), int(graph.into.relation[low])
    return (graph.find_triple(head, relation, node),)


def of_relation(graph: Graph, relation: int) -> Int64:
    """All triples of a relation, int64 ids."""
    return np.flatnonzero(graph.out.relation == relation)


MOST_EDGES = 8
"""Edges of one triple whose properties a line shows."""
LONG_LIST, SAMPLE = 20, 5
"""So many triples that lead to one thing are one line, with so many names and their number."""


_Key = tuple[int, int, int]
"""Relation, side of the known entity (0 where it is the head), and the entity; -1 without one known end."""


def numbered(facts: Sequence[Fact], first: int = 1) -> list[str]:
    """The lines of facts, with their numbers."""
    return [f"[{number}] {fact.text}" for number, fact in enumerate(facts, first)]


def fact_lines(graph: Graph, triples: Sequence[int], proofs: Proofs) -> tuple[Fact, ...]:
    """Triples as lines, those of one relation at a known entity, or at one end, as one line with a list.

    *(*, directed by, X): A; B; C*; a list that lacks some says how many the graph has.
    """
    rows: dict[_Key, list[int]] = {}
    for triple in dict.fromkeys(triples):
        head, relation, tail = graph.triple(triple)
        side, near = (0, head) if head in proofs else (1, tail)
        if (head in proofs) == (tail in proofs):
            side, near = 0, -1
        rows.setdefault((relation, side, near), []).append(triple)
    parts = (part for key, row in rows.items() for part in _parts(graph, row, key))
    return tuple(_line(graph, part, key, proofs) for part, key in parts)


def _parts(graph: Graph, row: list[int], key: _Key) -> Iterator[tuple[list[int], _Key]]:
    """The triples of each line, and what they have in common."""
    if key[2] >= 0:  # so many at one known entity are a list
        yield from [(row, key)] if len(row) >= 5 else (([triple], key) for triple in row)
        return
    by_tail: dict[int, list[int]] = {}
    for triple in row:
        by_tail.setdefault(graph.triple(triple)[2], []).append(triple)
    for tail, triples in by_tail.items():
        is_long = len(triples) >= LONG_LIST
        yield from [(triples, (key[0], 1, tail))] if is_long else (([triple], key) for triple in triples)


def _line(graph: Graph, triples: Sequence[int], key: _Key, proofs: Proofs) -> Fact:
    if len(triples) == 1:
        head, relation, tail = graph.triple(triples[0])
        text = f"({_name(graph, head)}, {_relation(graph, relation)}, {_name(graph, tail)})"
        text += edge_note(graph, triples[0])
        return Fact((triples[0],), text=text)
    relation, back, near = key
    far_ends = [graph.triple(triple)[0 if back else 2] for triple in triples]
    ends = {end: (*proofs.get(near, ()), triple) for end, triple in zip(far_ends, triples, strict=True)}
    low, high = (graph.into if back else graph.out).relation_span(near, relation)
    label = _relation(graph, relation)
    text = f"(*, {label}, {_name(graph, near)})" if back else f"({_name(graph, near)}, {label}, *)"
    cut = high - low > len(triples)
    total = f" [{len(triples)} of {high - low:,} in the graph]" if cut else ""
    if near not in proofs:
        far_ends, total = far_ends[:SAMPLE], f"; … [{high - low:,} in the graph]"
    listed = "; ".join(
        _name(graph, end) + edge_note(graph, triple) for end, triple in zip(far_ends, triples, strict=False)
    )
    return Fact(tuple(triples), ends, cut, high - low, f"{text}: {listed}{total}")


@dataclass(frozen=True, slots=True)
class EdgeValue:
    """A value that stands on an edge of a triple, by its key and as the source writes it."""

    triple: int
    key: str
    text: str
    kind: int
    value: float

    def is_called(self, item: str) -> bool:
        """Whether it is what an item writes: the text, or an equal number or date; a unit may follow."""
        kind, value = parse_value(item)
        if kind == ValueKind.NONE and len(numbers := NUMBER.findall(item)) == 1:
            kind, value = parse_value(numbers[0])
        is_equal = kind != ValueKind.NONE and abs(self.value - value) <= 1e-9 * max(1.0, abs(value))
        return normalise(self.text) == normalise(item) or (kind == self.kind and is_equal)


def edge_values(graph: Graph, triples: Iterable[int]) -> Iterator[EdgeValue]:
    """All that stands on the edges of some triples."""
    edges = graph.edge_properties
    for triple in triples if len(edges) else ():
        for statement in edges.statements(*graph.triple(triple)):
            for at in range(int(edges.offsets[statement]), int(edges.offsets[statement + 1])):
                key, kind, value = edges.keys[int(edges.key[at])], int(edges.kind[at]), float(edges.value[at])
                yield EdgeValue(triple, key, edges.texts[at], kind, value)


def edge_note(graph: Graph, triple: int) -> str:
    """* [@kg = 12; @date = 2024-03-01]*: what stands on each edge of a triple; empty where nothing does."""
    edges = triple_text(graph, triple).properties
    notes = ["; ".join(f"@{data_line(key)} = {data_line(text)}" for key, text in edge) for edge in edges]
    more = f" [… {len(edges):,} edges]" if len(edges) > MOST_EDGES else ""
    return "".join(f" [{note}]" for note in notes[:MOST_EDGES]) + more


def _name(graph: Graph, node: int) -> str:
    return data_line(readable(plain_label(graph, node)), LONGEST_NAME_READ)


def _relation(graph: Graph, relation: int) -> str:
    return data_line(relation_text(graph.relation_labels[relation]), LONGEST_NAME_READ)


def other_names(graph: Graph, called: Called) -> str:
    """A line of a prompt with the graph's names for those that only the question uses; or empty."""
    statements: list[str] = []
    for mention, entities in called.items():
        names = [readable(graph.labels[e]) for e in entities]
        if names and normalise(mention) not in {normalise(name) for name in names}:
            graph_names = " or ".join(data_line(name, LONGEST_NAME_READ) for name in names)
            statements.append(f'"{data_line(mention, LONGEST_NAME_READ)}" is {graph_names}')
    return f"Names: {'; '.join(statements)}\n" if statements else ""
