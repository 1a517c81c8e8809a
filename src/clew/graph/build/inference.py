"""What RDF says between its lines: triples and types that follow from an ontology, with a bound.

Followed are `rdfs:subClassOf`, `owl:equivalentClass`, `rdfs:subPropertyOf`, `owl:equivalentProperty`,
`owl:inverseOf`, `owl:SymmetricProperty`, `owl:TransitiveProperty`, and restrictions: members of a class with
`owl:hasValue` have the value, and what has some value of the class of `owl:someValuesFrom` is a member where
the restriction defines the class. A class is below each part of its `owl:intersectionOf`; that what is in
all parts is in the class is not followed. Of classes themselves, *every Margherita has some mozzarella as
topping* is the triple of the two classes, as in ontologies of biology, and *every Zinfandel is red* that of
the class and the value. Of SKOS, as its reference says, what is broader is narrower the other way, and what
is related is so both ways. Inferred triples have the source `INFERRED` of
`clew.graph.graph`, so that they are told apart; one that a source states is none.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Int32
from clew.graph.namespaces import OWL, RDF, RDFS, SKOS
from clew.graph.readers.hints import MOST_INFERRED

T = TypeVar("T")
TripleRows = NDArray[np.int64]
Implied = tuple[str, bool]
"""A relation that follows from another, and whether it runs the other way."""

_FIRST, _REST = RDF + "first", RDF + "rest"
_OF_SKOS = {
    SKOS + one: SKOS + other
    for pair in (("broader", "narrower"), ("broadMatch", "narrowMatch"), ("topConceptOf", "hasTopConcept"),
                 ("broaderTransitive", "narrowerTransitive"), ("related", "related"),
                 ("relatedMatch", "relatedMatch"), ("closeMatch", "closeMatch"), ("exactMatch", "exactMatch"))
    for one, other in (pair, pair[::-1])
}  # fmt: skip
"""What each relation of SKOS is the other way."""
_INTERSECTION = OWL + "intersectionOf"
_SUBSUMING = (RDFS + "subClassOf", OWL + "equivalentClass", _INTERSECTION)


@dataclass(eq=False)
class Ontology:
    """What sources say of classes and properties, and what follows from it.

    `schema` int64 [n, 3] are the stated triples whose relation is of RDFS, OWL or lists (`is_schema`);
    `name` says what a node is called, None for a literal; `characters` are (property, `symmetric` or
    `transitive`).
    `relations` gives a name that it lacks the next id: relations that only an ontology names may follow.
    At most so many (`most`) triples follow, and types; `cut` says that more would have.
    """

    schema: TripleRows
    name: Callable[[int], str | None]
    relations: Mapping[str, int]
    characters: Sequence[tuple[str, str]]
    most: int = MOST_INFERRED
    cut: bool = False
    _pairs: dict[str, list[tuple[int, int]]] = field(default_factory=dict[str, list[tuple[int, int]]])

    def __post_init__(self) -> None:
        """Sort the schema's triples by relation."""
        self.schema = _by_relation(self.schema)

    def pairs(self, relation: str) -> list[tuple[int, int]]:
        """(head, tail) of the triples of a relation of RDFS or OWL."""
        if relation not in self._pairs:
            number = self.relations.get(relation, -1)
            found = [(head, tail) for head, _, tail in _of(self.schema, number).tolist()]
            # A value may be a literal, whose name is none of an entity; a class or property may not.
            literal = relation == OWL + "hasValue"
            self._pairs[relation] = [p for p in found if literal or self.name(p[1]) is not None]
        return self._pairs[relation]

    def _parts(self) -> list[tuple[int, int]]:
        """(class, class) of what a class is the intersection of, as lists of RDF say it."""
        if not self.pairs(_INTERSECTION):
            return []
        first, rest = dict(self.pairs(_FIRST)), dict(self.pairs(_REST))
        found: list[tuple[int, int]] = []
        for class_, item in self.pairs(_INTERSECTION):
            seen: set[int] = set()
            while item in first and item not in seen:
                seen.add(item)
                found.append((class_, first[item]))
                item = rest.get(item, -1)
        return found

    def _superclasses(self) -> dict[int, list[int]]:
        """Class → the classes right above it."""
        same = self.pairs(OWL + "equivalentClass")
        both = [pair for one, other in same for pair in ((one, other), (other, one))]
        return _lists([*self.pairs(RDFS + "subClassOf"), *self._parts(), *both])

    def relations_in_play(self) -> set[str]:
        """Names of the relations from whose triples something may follow, and of those that may follow."""
        implied = self._implied_relations()
        held = [property_ for _, property_ in self.pairs(OWL + "onProperty")]
        return {
            *implied,
            *(other for others in implied.values() for other, _ in others),
            *(name for name, _ in self.characters),
            *map(self._name, held),
        }

    def classes_in_play(self) -> set[int]:
        """Classes of whose members something may follow, or that may follow."""
        pairs = [self.pairs(kind) for kind in (*_SUBSUMING, OWL + "someValuesFrom", OWL + "onProperty")]
        return {node for found in (*pairs, self._parts()) for pair in found for node in pair}

    def infer(self, triples: TripleRows, types: Int32) -> tuple[TripleRows, Int32]:
        """The triples, int64 [n, 3], and types (node, class), int32 [n, 2], that follow; no type is stated.

        `triples` int64 [n, 3] are at least those that are stated of `relations_in_play`, and `types` int32
        [n, 2] at least the stated (node, class) of `classes_in_play`.
        """
        implied = self._implied_relations()
        found = [self._along(triples, implied)]
        closed = self._closed(np.concatenate([triples, *found]))
        found += [closed, self._along(closed, implied)]
        known = np.isin(types[:, 1], list(self.classes_in_play()))
        stated = {(node, type_) for node, type_ in types[known].tolist()}
        held = self._members(np.concatenate([triples, *found]), stated)
        found += [self._values(held), self._of_classes()]
        following = np.unique(np.concatenate(found), axis=0)
        if len(following) > self.most:
            self.cut, following = True, following[: self.most]
        return following, self._named(held - stated)

    def _name(self, node: int) -> str:
        name = self.name(node)
        if name is None:
            raise ValueError(f"node {node} is a literal")
        return name

    def _is_unnamed(self, node: int) -> bool:
        name = self.name(node)
        return name is not None and name.startswith("_:")

    def _implied_relations(self) -> dict[str, list[Implied]]:
        """Of each relation, by name, all that follow from it, through any number of rules."""
        rules = self._rules()
        after = {
            (relation, turned): [(other, turned != swapped) for other, swapped in others]
            for relation, others in rules.items()
            for turned in (False, True)
        }
        return {relation: sorted(_beyond((relation, False), after)) for relation in rules}

    def _rules(self) -> Mapping[str, set[Implied]]:
        """Of each relation, by name, what follows from it by one rule."""
        rules: dict[str, set[Implied]] = defaultdict(set)

        def add(one: int, other: int, *, swapped: bool) -> None:
            rules[self._name(one)].add((self._name(other), swapped))

        for sub, parent in self.pairs(RDFS + "subPropertyOf"):
            add(sub, parent, swapped=False)
        for kind, swapped in (("equivalentProperty", False), ("inverseOf", True)):
            for one, other in self.pairs(OWL + kind):
                add(one, other, swapped=swapped)
                add(other, one, swapped=swapped)
        for name, character in self.characters:
            if character == "symmetric":
                rules[name].add((name, True))
        for name, other in _OF_SKOS.items():
            if name in self.relations:
                rules[name].add((other, True))
        return rules

    def _along(self, triples: TripleRows, implied: Mapping[str, Sequence[Implied]]) -> TripleRows:
        found: list[TripleRows] = [np.zeros((0, 3), np.int64)]
        triples = _by_relation(triples)
        for relation, others in implied.items():
            rows = _of(triples, self.relations.get(relation, -1))
            for other, swapped in others if len(rows) else ():
                new = rows[:, [2, 1, 0]] if swapped else rows.copy()
                new[:, 1] = self.relations[other]
                found.append(new)
        return np.concatenate(found)

    def _closed(self, triples: TripleRows) -> TripleRows:
        """What transitive relations reach beyond one step, at most `most` triples."""
        found: list[tuple[int, int, int]] = []
        triples = _by_relation(triples)
        named = {self.relations.get(name) for name, character in self.characters if character == "transitive"}
        for relation in sorted(number for number in named if number is not None):
            after = _lists(_of(triples, relation)[:, [0, 2]].tolist())
            for head in after:
                for tail in _beyond(head, after, self.most - len(found)):
                    found.append((head, relation, tail))
                if len(found) >= self.most:
                    self.cut = True
                    return np.array(found, np.int64)
        return np.array(found, np.int64).reshape(-1, 3)

    def _members(self, triples: TripleRows, stated: set[tuple[int, int]]) -> set[tuple[int, int]]:
        """(node, class): those stated, of the classes above, and by definitions of restrictions."""
        above = self._superclasses()
        held = self._above(stated, above)
        triples = _by_relation(triples)
        while True:
            members = self._defined_members(triples, held)
            more = self._above(members - held, above) - held
            if not more or len(held) > self.most:
                break
            held |= more
        if len(held) > self.most:
            self.cut = True
        return held

    def _named(self, pairs: set[tuple[int, int]]) -> Int32:
        """Those of (node, class) whose class has a name, at most `most`."""
        named = {type_ for _, type_ in pairs if not self._is_unnamed(type_)}
        new = sorted(pair for pair in pairs if pair[1] in named)
        return np.array(new[: self.most], np.int32).reshape(-1, 2)

    def _above(self, pairs: set[tuple[int, int]], above: Mapping[int, Sequence[int]]) -> set[tuple[int, int]]:
        classes = {type_: _beyond(type_, above, self.most) for type_ in {type_ for _, type_ in pairs}}
        return pairs | {(node, other) for node, type_ in pairs for other in classes[type_]}

    def _restrictions(self, kind: str) -> dict[int, list[tuple[str, int]]]:
        """Restriction → (relation, value or class) of a kind."""
        values = _lists(self.pairs(OWL + kind))
        found: dict[int, list[tuple[str, int]]] = defaultdict(list)
        for restriction, property_ in self.pairs(OWL + "onProperty"):
            found[restriction] += [(self._name(property_), value) for value in values.get(restriction, ())]
        return found

    def _defined_members(self, triples: TripleRows, held: set[tuple[int, int]]) -> set[tuple[int, int]]:
        """Members of restrictions that define a class (`owl:equivalentClass`)."""
        defining = {node for pair in self.pairs(OWL + "equivalentClass") for node in pair}
        return {
            (head, restriction)
            for restriction, wanted in self._restrictions("someValuesFrom").items()
            if restriction in defining
            for relation, class_ in wanted
            for head, _, tail in _of(triples, self.relations.get(relation, -1)).tolist()
            if (tail, class_) in held
        }

    def _of_classes(self) -> TripleRows:
        """(class, relation, class or value) of what every member of a named class has."""
        kinds = [self._restrictions(kind) for kind in ("someValuesFrom", "hasValue")]
        held = {restriction for kind in kinds for restriction in kind}
        above = {
            one: [c for c in others if c in held or self._is_unnamed(c)]
            for one, others in self._superclasses().items()
        }
        rows = {
            (class_, self.relations[relation], other)
            for class_ in above
            if not self._is_unnamed(class_)
            for restriction in _beyond(class_, above, self.most)
            for kind in kinds
            for relation, other in kind.get(restriction, ())
            if not self._is_unnamed(other)
        }
        return np.array(sorted(rows), np.int64).reshape(-1, 3)

    def _values(self, held: set[tuple[int, int]]) -> TripleRows:
        """Members of a restriction to a value have it."""
        restrictions = self._restrictions("hasValue")
        rows = [
            (node, self.relations[relation], value)
            for node, type_ in held
            for relation, value in restrictions.get(type_, ())
        ]
        return np.array(sorted(rows), np.int64).reshape(-1, 3)


def speaks(relations: Iterable[str]) -> bool:
    """Whether something may follow from triples of these relations."""
    return any(is_schema(relation) or relation in _OF_SKOS for relation in relations)


def is_schema(relation: str) -> bool:
    """Whether a relation is one that an ontology is written in, its lists too."""
    return relation.startswith((RDFS, OWL)) or relation in (_FIRST, _REST)


def _lists(pairs: Iterable[Sequence[int]]) -> dict[int, list[int]]:
    """Each first of some pairs with the seconds beside it."""
    found: dict[int, list[int]] = defaultdict(list)
    for one, other in pairs:
        found[one].append(other)
    return found


def _by_relation(triples: TripleRows) -> TripleRows:
    return triples[np.argsort(triples[:, 1], kind="stable")]


def _of(triples: TripleRows, relation: int) -> TripleRows:
    """The triples of a relation, of some in the order of their relations."""
    low, high = np.searchsorted(triples[:, 1], [relation, relation + 1]).tolist()
    return triples[low:high]


def _beyond(start: T, after: Mapping[T, Sequence[T]], most: int = sys.maxsize) -> list[T]:
    """What is reached from a node in one step or more, at most `most` nodes, not the node itself."""
    seen, left, found = {start}, [start], list[T]()
    while left and len(found) < most:
        for other in after.get(left.pop(), ()):
            if other not in seen:
                seen.add(other)
                left.append(other)
                found.append(other)
    return found[:most]
