"""Records of all things of a kind, as a prompt shows them: what each has, and what it lacks.

    Voyage: all 24 of the graph. Relations: vsl (vessel) → Vessel; dep (departure); not shown: nm
    [1] VOY-1: vsl = Bergen; dep = 2021-03-04
    [2] VOY-2: vsl = Oslo; no dep

Things are of one kind by their commonest type, or, without types, by the commonest relation that they have. A
graph that fits is shown whole. Else the kinds that a question asks of are, then those beside them; of a kind
that is too long the relations that matter: those of the likeliest readings, numbers, dates and codes, and
the nearest to the words. What is left out is said, so that what is missing tells something.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from clew.foundation.arrays import Float64, Int64
from clew.graph.graph import Graph
from clew.graph.steps import tail_end
from clew.graph.values import plain_label
from clew.llm.managed import LONGEST_NAME, data_line
from clew.methods.evidence import Fact, edge_note, first_into, numbered, triples_at_node, triples_of
from clew.methods.question import Judge
from clew.methods.schema_view import CHARACTERS, FOLLOWED, SchemaView
from clew.query.vocabulary import DATE, NUMBER
from clew.reading.account import SPELT
from clew.reading.reader import Reading
from clew.text.verbalise import readable

RECORD_TOKENS = 4_000
"""Tokens of the records in one prompt."""
SHORTEST_TRIPLE = 8
"""Characters that a triple takes in a record, at least."""
MOST_OF_CELL = 20
"""Values of one relation at one thing that are shown."""
MOST_READ = 4
"""Relations of the likeliest readings whose things are asked of."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Things that are recorded alike: by their type, or by a relation that they have."""

    name: str
    type: int
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """The lines of one kind, with their heading; `whole`: with all that is recorded of each."""

    heading: str
    facts: tuple[Fact, ...]
    whole: bool = True

    @property
    def size(self) -> int:
        """Characters."""
        return len(self.heading) + sum(len(fact.text) + 6 for fact in self.facts)


@dataclass(frozen=True, slots=True)
class Records:
    """Records in a prompt by kind, with a `note` behind them; `whole`: they are all that the graph has."""

    kinds: tuple[Shown, ...] = ()
    whole: bool = False
    note: str = ""

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The records."""
        return tuple(fact for kind in self.kinds for fact in kind.facts)

    @property
    def triples(self) -> tuple[int, ...]:
        """All triples."""
        return triples_of(self.facts)

    def lines(self, first: int = 1) -> list[str]:
        """The lines, with numbers from `first` on."""
        lines = list[str]()
        for kind in self.kinds:
            lines += [kind.heading, *numbered(kind.facts, first)]
            first += len(kind.facts)
        return [*lines, self.note] if self.note else lines


@dataclass(eq=False)
class RecordsView:
    """The records of one graph as prompts show them."""

    schema: SchemaView
    judge: Judge

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.schema.reader.graph

    def of(self, texts: Sequence[str], named: Sequence[int] = ()) -> Records | None:
        """Records of what some questions ask of, with what they name; None where they do not fit."""
        room = RECORD_TOKENS * CHARACTERS
        if len(self.graph.out.relation) * SHORTEST_TRIPLE <= room:
            shown = [self._kind(kind) for kind in self.kinds]
            if sum(each.size for each in shown) <= room:
                return Records(tuple(shown), whole=True)
        readings = [self.schema.reader.read(text) for text in texts]
        asked = self._asked(texts, readings, named)
        ranks = self._ranks(readings)
        chosen: dict[int, Shown] = {}
        for number, place in enumerate(asked):
            kind = self.kinds[place]
            each = self._that_fits(kind, kind.members, ranks, room // (len(asked) - number))
            if each is None:
                return None
            chosen[place], room = each, room - each.size
        for place in self._beside(asked):
            kind = self.kinds[place]
            if self._least_size(kind.members) <= room:
                each = self._kind(kind)
                if each.size <= room:
                    chosen[place], room = each, room - each.size
        if not chosen:
            return None
        hidden = self._leading_in(chosen)
        note = f"Not shown, but in the graph: {'; '.join(hidden)}" if hidden else ""
        named = [*named, *(node for text in texts for node in self.judge.steps(text).entities)]
        near = self._of_things(named, ranks, [place for place, each in chosen.items() if each.whole])
        return Records((*near, *chosen.values()), note=note)

    def _leading_in(self, places: Collection[int]) -> list[str]:
        """What leads to things of some kinds from other ones: *arrested_by of Arrest*."""
        into, named = self.graph.into, dict[str, None]()
        for place in places:
            slots = np.concatenate([np.arange(*into.span(node)) for node in self.kinds[place].members])
            pairs = np.stack([into.relation[slots], self._kinds_with_places[1][into.neighbour[slots]]])
            for relation, other in np.unique(pairs, axis=1).T.tolist():
                if other not in places and other >= 0:
                    of = self.kinds[other].name
                    stored = self.schema.stored_name(relation)
                    named[f"{stored} of {data_line(of)}" if of else stored] = None
        return list(named)

    def of_things(self, nodes: Sequence[int], text: str) -> Records:
        """Records of some things, as far as they fit: those of a kind that is too long are left out."""
        return Records(tuple(self._of_things(nodes, self._ranks([self.schema.reader.read(text)]))))

    def _of_things(self, nodes: Sequence[int], ranks: Float64, told: Collection[int] = ()) -> Iterator[Shown]:
        """Records of things, then of what leads to them, but of the kinds that are `told` whole."""
        room = RECORD_TOKENS * CHARACTERS // 2
        into, place_of = self.graph.into, self._kinds_with_places[1]
        own = np.array([node for node in dict.fromkeys(nodes) if place_of[node] >= 0], np.int64)
        ends = [into.neighbour[slice(*into.span(node))] for node in own.tolist()]
        leading = np.setdiff1d(np.concatenate([*ends, own]), own)
        for things, place in ((each, place) for each in (own, leading) for place in self._places(each)):
            members = things[place_of[things] == place].tolist()
            each = None if place in told else self._that_fits(self.kinds[place], members, ranks, room)
            if each is not None and any(fact.triples for fact in each.facts):
                facts = tuple(
                    replace(fact, text=f"{fact.text}{self._led_to(place, node)}")
                    for node, fact in zip(members, each.facts, strict=True)
                )
                yield replace(each, facts=facts)
                room -= each.size

    def _led_to(self, place: int, node: int) -> str:
        """How many triples lead to a thing by each relation that leads to its kind: none, too."""
        counts: list[str] = []
        for relation in self._relations_to.get(place, ()):
            low, high = self.graph.into.relation_span(node, relation)
            counts.append(f"{high - low} {self.schema.stored_name(relation)}")
        return f"; leading to it: {', '.join(counts)}" if counts else ""

    @cached_property
    def _relations_to(self) -> dict[int, list[int]]:
        """The relations that lead to things of each kind."""
        into, relations = self.graph.into, dict[int, list[int]]()
        places = self._kinds_with_places[1][into.owners(np.arange(len(into.relation)))]
        pairs = np.stack([places, into.relation.astype(np.int64)])[:, places >= 0]
        for place, relation in np.unique(pairs, axis=1).T.tolist():
            relations.setdefault(place, []).append(relation)
        return relations

    def _ranks(self, readings: Sequence[Reading]) -> Float64:
        """How likely some questions need each relation."""
        return np.max([self.schema.ranks(reading) for reading in readings], axis=0)

    # kinds

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """What things there are; values that no type has and that lead nowhere are none."""
        return self._kinds_with_places[0]

    @cached_property
    def _kinds_with_places(self) -> tuple[tuple[Kind, ...], Int64]:
        graph = self.graph
        types, out = graph.types, graph.out
        count = len(types.names)
        stands_for = np.array([name not in self.schema.reader.team.terms for name in types.names], bool)
        owners, kind_of = types.owners, types.type.astype(np.int64)
        pairs = [np.stack([owners[stands_for[kind_of]], kind_of[stands_for[kind_of]]])] if count else []
        heads = np.unique(
            np.stack([out.owners(np.arange(len(out.relation))), out.relation.astype(np.int64)]), axis=1
        )
        is_typed = np.zeros(graph.nodes, bool)
        if pairs:
            is_typed[pairs[0][0]] = True
        untyped = heads[:, ~is_typed[heads[0]]]
        pairs.append(np.stack([untyped[0], untyped[1] + count]))
        nodes, groups = np.concatenate(pairs, axis=1)
        sizes = np.bincount(groups, minlength=1)
        order = np.lexsort((groups, -sizes[groups], nodes))
        first = order[np.unique(nodes[order], return_index=True)[1]]
        place_of, kinds = np.full(graph.nodes, -1, np.int64), list[Kind]()
        for group in np.unique(groups[first]).tolist():
            members = nodes[first[groups[first] == group]]
            place_of[members] = len(kinds)
            name = types.names[group] if group < count else ""
            kinds.append(Kind(name, group if group < count else -1, tuple(members.tolist())))
        return tuple(kinds), place_of

    def _places(self, nodes: Iterable[int]) -> list[int]:
        """The kinds of some things, those of most of them first."""
        places = self._kinds_with_places[1][np.fromiter(nodes, np.int64)]
        found, counts = np.unique(places[places >= 0], return_counts=True)
        return found[np.argsort(-counts, kind="stable")].tolist()

    def _asked(self, texts: Sequence[str], readings: Sequence[Reading], named: Sequence[int]) -> list[int]:
        """The kinds that questions ask of: by a type that they say, else by what they may follow."""
        graph, asked = self.graph, dict[int, None]()
        for text, reading in zip(texts, readings, strict=True):
            likeness = reading.likeness.exact_types
            said = (likeness >= SPELT) & (likeness == likeness.max(axis=1, initial=0.0, keepdims=True))
            steps = self.judge.steps(text)
            types = np.flatnonzero(said.any(axis=0)).tolist() or steps.types
            for type_ in types:
                asked |= dict.fromkeys(self._places(np.flatnonzero(graph.types.having(type_)).tolist())[:1])
            for relation in () if types else steps.relations[:MOST_READ]:
                asked |= dict.fromkeys(self._places(graph.out.nodes_with(relation).tolist())[:1])
        return list(asked) or self._places(named)

    def _beside(self, places: Sequence[int]) -> list[int]:
        """The kinds that some kinds lead to, or that lead to them."""
        graph, beside = self.graph, dict[int, None]()
        for place in places:
            for node in self.kinds[place].members:
                for side in (graph.out, graph.into):
                    low, high = side.span(node)
                    beside |= dict.fromkeys(self._places(side.neighbour[low:high].tolist()))
        return [place for place in beside if place not in places]

    # what fits

    def _least_size(self, members: Sequence[int]) -> int:
        spans = (self.graph.out.span(node) for node in members)
        return SHORTEST_TRIPLE * (len(members) + sum(high - low for low, high in spans))

    def _that_fits(self, kind: Kind, members: Sequence[int], ranks: Float64, room: int) -> Shown | None:
        """Things of a kind with all relations, else with those that matter; None if they are too many."""
        if len(members) * SHORTEST_TRIPLE > room:
            return None
        if self._least_size(members) <= room:
            whole = self._kind(kind, members)
            if whole.size <= room:
                return whole
        order = sorted(self._relations(members), key=lambda r: (-self._tier(r, ranks[r]), -ranks[r]))
        best: Shown | None = None
        low, high = 1, len(order)
        while low <= high:
            middle = (low + high) // 2
            each = self._kind(kind, members, frozenset(order[:middle]))
            if each.size <= room:
                best, low = each, middle + 1
            else:
                high = middle - 1
        return best

    def _tier(self, relation: int, rank: float) -> int:
        """What the likeliest readings follow, then what measures and what codes, then the others."""
        if rank >= FOLLOWED:
            return 2
        measures = self.schema.vocabulary.ends[tail_end(relation)] in (NUMBER, DATE)
        return int(measures or self.schema.is_code(relation))

    def _relations(self, members: Sequence[int]) -> list[int]:
        out = self.graph.out
        return sorted({int(r) for node in members for r in out.relation[slice(*out.span(node))]})

    # lines

    def _kind(
        self, kind: Kind, members: Sequence[int] | None = None, relations: Collection[int] = ()
    ) -> Shown:
        """The records of things of a kind: all or some, with all relations or with some."""
        graph, schema = self.graph, self.schema
        members = kind.members if members is None else members
        recorded = self._relations(members)
        shown = [r for r in recorded if not relations or r in relations]
        hidden = [schema.stored_name(r) for r in recorded if r not in shown]
        facts: list[Fact] = []
        for node in members:
            cells, triples = list[str](), list[int]()
            for relation in shown:
                at_node = triples_at_node(graph, node, relation, 0)
                cells.append(self._cell(relation, at_node))
                triples += at_node[:MOST_OF_CELL]
            other = [graph.types.names[t] for t in graph.types.of(node) if t != kind.type]
            cells += [f"also {', '.join(map(data_line, other))}"] if other else []
            # A thing that has nothing of its own is known by what leads to it.
            proof = tuple(triples) or first_into(graph, node)
            name = self._name(node)
            facts.append(Fact(proof, {node: proof}, text=f"{name}: {'; '.join(cells)}" if cells else name))
        name = data_line(kind.name) or f"Things with {self._widest(members, recorded)}"
        count = "all" if len(members) == len(kind.members) else f"{len(members):,} of the"
        heading = f"{name}: {count} {len(kind.members):,} in the graph"
        if shown:
            rest = f"; not shown: {', '.join(hidden)}" if hidden else ""
            heading += f"; relations: {'; '.join(map(schema.relation_line, shown))}{rest}"
        return Shown(heading, tuple(facts), not hidden)

    def _widest(self, members: Sequence[int], relations: Sequence[int]) -> str:
        """The relation that most of some things have."""
        out = self.graph.out
        spans = {r: [out.relation_span(node, r) for node in members] for r in relations}
        return self.schema.stored_name(max(relations, key=lambda r: sum(a < b for a, b in spans[r])))

    def _cell(self, relation: int, triples: Sequence[int]) -> str:
        """What a thing has of a relation: *calls_at = Oslo | Bergen*, or *no calls_at*."""
        name = self.schema.stored_name(relation)
        if not triples:
            return f"no {name}"
        shown, graph = triples[:MOST_OF_CELL], self.graph
        tails = [self._name(graph.triple(triple)[2]) + edge_note(graph, triple) for triple in shown]
        more = f" | … [{len(tails)} of {len(triples):,}]" if len(triples) > len(tails) else ""
        return f"{name} = {' | '.join(tails)}{more}"

    def _name(self, node: int) -> str:
        return data_line(readable(plain_label(self.graph, node)), LONGEST_NAME)
