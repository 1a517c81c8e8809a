"""What RDF says between its lines: triples and types that follow from an ontology, with a bound.

Followed are `rdfs:subClassOf`, `owl:equivalentClass`, `rdfs:subPropertyOf`, `owl:equivalentProperty`,
`owl:inverseOf`, `owl:SymmetricProperty`, `owl:TransitiveProperty`, and restrictions: members of a class with
`owl:hasValue` have the value, and what has some value of the class of `owl:someValuesFrom` is a member where
the restriction defines the class. Of classes themselves, *every Margherita has some mozzarella as topping* is
the triple of the two classes, as in ontologies of biology. Inferred triples have the source `INFERRED`, so
that they are told apart; one that a source states is none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Int32 = NDArray[np.int32]
Triples = NDArray[np.int64]
Implied = tuple[str, bool]
"""A relation that follows from another, and whether it runs the other way."""

INFERRED = 65_535
"""The source of triples that no file states."""
MOST_INFERRED = 2_000_000
"""Triples, and types, that are inferred at most; the rest is left out with a note."""
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"


@dataclass(eq=False)
class Ontology:
    """A graph's triples as ids, its names, and what its properties are (`symmetric`, `transitive`).

    `relations` gives a name that it lacks the next id: relations that only an ontology names may follow.
    """

    triples: Triples
    nodes: Mapping[str, int]
    relations: Mapping[str, int]
    types: Sequence[tuple[int, str]]
    characters: Sequence[tuple[str, str]]
    cut: bool = False
    _by_name: dict[int, str] = field(default_factory=dict[int, str])

    def __post_init__(self) -> None:
        """Look names up by id."""
        self._by_name = {number: name for name, number in self.nodes.items()}

    def pairs(self, relation: str) -> list[tuple[int, int]]:
        """(head, tail) of the triples of a relation of RDFS or OWL."""
        number = self.relations.get(relation)
        if number is None:
            return []
        rows = self.triples[self.triples[:, 1] == number]
        found = [(int(head), int(tail)) for head, _, tail in rows]
        # A value may be a literal, whose name is none of an entity; a class or property that is one is none.
        literal = relation == OWL + "hasValue"
        return [pair for pair in found if literal or pair[1] in self._by_name]

    def infer(self) -> tuple[Triples, list[tuple[int, str]]]:
        """The triples (int64 [n, 3]) and the types that follow; some may be stated too."""
        implied = self._implied_relations()
        found = [self._along(self.triples, implied)]
        closed = self._closed(np.concatenate([self.triples, *found]))
        found += [closed, self._along(closed, implied)]
        types = self._types(np.concatenate([self.triples, *found]))
        found += [self._values(types), self._of_classes()]
        triples = np.unique(np.concatenate(found), axis=0)
        if len(triples) > MOST_INFERRED:
            self.cut, triples = True, triples[:MOST_INFERRED]
        return triples, [(node, self._by_name[type_]) for node, type_ in sorted(types)]

    def _implied_relations(self) -> dict[str, list[Implied]]:
        """Of each relation, by name, all that follow from it, through any number of rules."""
        rules: dict[str, set[Implied]] = defaultdict(set)

        def add(one: int, other: int, *, swapped: bool) -> None:
            rules[self._by_name[one]].add((self._by_name[other], swapped))

        for sub, parent in self.pairs(RDFS + "subPropertyOf"):
            add(sub, parent, swapped=False)
        for kind, swapped in (("equivalentProperty", False), ("inverseOf", True)):
            for one, other in self.pairs(OWL + kind):
                add(one, other, swapped=swapped)
                add(other, one, swapped=swapped)
        for name, character in self.characters:
            if character == "symmetric":
                rules[name].add((name, True))
        closed: dict[str, list[Implied]] = {}
        for relation in rules:
            seen: set[Implied] = {(relation, False)}
            left = [(relation, False)]
            while left:
                at, turned = left.pop()
                for other, swapped in rules.get(at, ()):
                    step = (other, turned != swapped)
                    if step not in seen:
                        seen.add(step)
                        left.append(step)
            closed[relation] = sorted(seen - {(relation, False)})
        return closed

    def _along(self, triples: Triples, implied: Mapping[str, Sequence[Implied]]) -> Triples:
        found: list[Triples] = [np.zeros((0, 3), np.int64)]
        for relation, others in implied.items():
            rows = triples[triples[:, 1] == self.relations.get(relation, -1)]
            for other, swapped in others if len(rows) else ():
                new = rows[:, [2, 1, 0]] if swapped else rows.copy()
                new[:, 1] = self.relations[other]
                found.append(new)
        return np.concatenate(found)

    def _closed(self, triples: Triples) -> Triples:
        """What transitive relations reach beyond one step, at most `MOST_INFERRED` triples."""
        found: list[tuple[int, int, int]] = []
        named = {self.relations.get(name) for name, character in self.characters if character == "transitive"}
        for relation in sorted(number for number in named if number is not None):
            after: dict[int, list[int]] = defaultdict(list)
            for head, _, tail in triples[triples[:, 1] == relation].tolist():
                after[head].append(tail)
            for head in after:
                for tail in _beyond(head, after, MOST_INFERRED - len(found)):
                    found.append((head, relation, tail))
                if len(found) >= MOST_INFERRED:
                    self.cut = True
                    return np.array(found, np.int64)
        return np.array(found, np.int64).reshape(-1, 3)

    def _types(self, triples: Triples) -> set[tuple[int, int]]:
        """(node, class) that follow: from the classes above, and from definitions by restrictions."""
        above: dict[int, list[int]] = defaultdict(list)
        for one, other in self.pairs(RDFS + "subClassOf"):
            above[one].append(other)
        defined = self.pairs(OWL + "equivalentClass")
        for one, other in defined:
            above[one].append(other)
            above[other].append(one)
        stated = {(node, self.nodes[name]) for node, name in self.types if name in self.nodes}
        held = self._above(stated, above)
        while True:
            members = self._defined_members(triples, held, above)
            more = self._above(members - held, above) - held
            if not more or len(held) > MOST_INFERRED:
                break
            held |= more
        if len(held) > MOST_INFERRED:
            self.cut = True
        kept = sorted(held - stated)[:MOST_INFERRED]
        return {(node, type_) for node, type_ in kept if not self._by_name[type_].startswith("_:")} | {
            (node, type_) for node, type_ in held if self._by_name[type_].startswith("_:")
        }

    def _above(self, pairs: set[tuple[int, int]], above: Mapping[int, Sequence[int]]) -> set[tuple[int, int]]:
        classes = {type_: _beyond(type_, above, MOST_INFERRED) for type_ in {type_ for _, type_ in pairs}}
        return pairs | {(node, other) for node, type_ in pairs for other in classes[type_]}

    def _restrictions(self, kind: str) -> dict[int, list[tuple[str, int]]]:
        """Restriction → (relation, value or class) of a kind."""
        values: dict[int, list[int]] = defaultdict(list)
        for restriction, value in self.pairs(OWL + kind):
            values[restriction].append(value)
        found: dict[int, list[tuple[str, int]]] = defaultdict(list)
        for restriction, property_ in self.pairs(OWL + "onProperty"):
            found[restriction] += [(self._by_name[property_], value) for value in values[restriction]]
        return found

    def _defined_members(
        self, triples: Triples, held: set[tuple[int, int]], above: Mapping[int, Sequence[int]]
    ) -> set[tuple[int, int]]:
        """Members of restrictions that define a class (`owl:equivalentClass`)."""
        defining = {node for pair in self.pairs(OWL + "equivalentClass") for node in pair}
        members: set[tuple[int, int]] = set()
        for restriction, wanted in self._restrictions("someValuesFrom").items():
            for relation, class_ in wanted if restriction in defining else ():
                inside = {node for node, type_ in held if type_ == class_}
                rows = triples[triples[:, 1] == self.relations.get(relation, -1)].tolist()
                members |= {(head, restriction) for head, _, tail in rows if tail in inside}
        return members

    def _of_classes(self) -> Triples:
        """(class, relation, class) of what every member of a named class has some of."""
        some = self._restrictions("someValuesFrom")
        rows = [
            (class_, self.relations[relation], other)
            for kind in (RDFS + "subClassOf", OWL + "equivalentClass")
            for class_, restriction in self.pairs(kind)
            for relation, other in some.get(restriction, ())
            if not self._by_name[class_].startswith("_:") and not self._by_name[other].startswith("_:")
        ]
        return np.array(sorted(rows), np.int64).reshape(-1, 3)

    def _values(self, types: set[tuple[int, int]]) -> Triples:
        """Members of a restriction to a value have it."""
        restrictions = self._restrictions("hasValue")
        rows = [
            (node, self.relations[relation], value)
            for node, type_ in types
            for relation, value in restrictions.get(type_, ())
        ]
        types -= {pair for pair in types if self._by_name[pair[1]].startswith("_:")}
        return np.array(sorted(rows), np.int64).reshape(-1, 3)


def _beyond(start: int, after: Mapping[int, Sequence[int]], most: int) -> list[int]:
    """What is reached from a node in one step or more, at most `most` nodes, not the node itself."""
    seen, left, found = {start}, [start], list[int]()
    while left and len(found) < most:
        for other in after.get(left.pop(), ()):
            if other not in seen:
                seen.add(other)
                left.append(other)
                found.append(other)
    return found[:most]
