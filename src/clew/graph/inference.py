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
from clew.graph import OWL, RDF, RDFS, SKOS
from clew.graph.readers.hints import MOST_INFERRED

T = TypeVar("T")
TripleRows = NDArray[np.int64]
ImpliedRelation = tuple[str, bool]
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
            rows = [(head, tail) for head, _, tail in _triples_of(self.schema, number).tolist()]
            # A value may be a literal, whose name is none of an entity; a class or property may not.
            literal = relation == OWL + "hasValue"
            self._pairs[relation] = [p for p in rows if literal or self.name(p[1]) is not None]
        return self._pairs[relation]

    def _intersections(self) -> list[tuple[int, int]]:
        """(class, class) of what a class is the intersection of, as lists of RDF say it."""
        if not self.pairs(_INTERSECTION):
            return []
        first_items, rests = dict(self.pairs(_FIRST)), dict(self.pairs(_REST))
        intersections: list[tuple[int, int]] = []
        for class_, item in self.pairs(_INTERSECTION):
            seen: set[int] = set()
            while item in first_items and item not in seen:
                seen.add(item)
                intersections.append((class_, first_items[item]))
                item = rests.get(item, -1)
        return intersections

    def _superclasses(self) -> dict[int, list[int]]:
        """Class → the classes right above it."""
        equivalents = self.pairs(OWL + "equivalentClass")
        both_ways = [pair for first, second in equivalents for pair in ((first, second), (second, first))]
        return _seconds_by_first([*self.pairs(RDFS + "subClassOf"), *self._intersections(), *both_ways])

    def relations_in_play(self) -> set[str]:
        """Names of the relations from whose triples something may follow, and of those that may follow."""
        implied = self._implied_relations()
        restricted_properties = [property_ for _, property_ in self.pairs(OWL + "onProperty")]
        return {
            *implied,
            *(relation for consequences in implied.values() for relation, _ in consequences),
            *(name for name, _ in self.characters),
            *map(self._name, restricted_properties),
        }

    def classes_in_play(self) -> set[int]:
        """Classes of whose members something may follow, or that may follow."""
        pairs = [self.pairs(kind) for kind in (*_SUBSUMING, OWL + "someValuesFrom", OWL + "onProperty")]
        return {
            node for class_pairs in (*pairs, self._intersections()) for pair in class_pairs for node in pair
        }

    def infer(self, triples: TripleRows, types: Int32) -> tuple[TripleRows, Int32]:
        """The triples, int64 [n, 3], and types (node, class), int32 [n, 2], that follow; no type is stated.

        `triples` int64 [n, 3] are at least those that are stated of `relations_in_play`, and `types` int32
        [n, 2] at least the stated (node, class) of `classes_in_play`.
        """
        implied = self._implied_relations()
        inferred_rows = [self._implied_triples(triples, implied)]
        transitive = self._transitive_triples(np.concatenate([triples, *inferred_rows]))
        inferred_rows += [transitive, self._implied_triples(transitive, implied)]
        is_known = np.isin(types[:, 1], list(self.classes_in_play()))
        stated = {(node, type_) for node, type_ in types[is_known].tolist()}
        members = self._members(np.concatenate([triples, *inferred_rows]), stated)
        inferred_rows += [self._value_triples(members), self._class_triples()]
        following = np.unique(np.concatenate(inferred_rows), axis=0)
        if len(following) > self.most:
            self.cut, following = True, following[: self.most]
        return following, self._named_types(members - stated)

    def _name(self, node: int) -> str:
        name = self.name(node)
        if name is None:
            raise ValueError(f"node {node} is a literal")
        return name

    def _is_unnamed(self, node: int) -> bool:
        name = self.name(node)
        return name is not None and name.startswith("_:")

    def _implied_relations(self) -> dict[str, list[ImpliedRelation]]:
        """Of each relation, by name, all that follow from it, through any number of rules."""
        rules = self._rules()
        next_relations = {
            (relation, turned): [(consequence, turned != swapped) for consequence, swapped in consequences]
            for relation, consequences in rules.items()
            for turned in (False, True)
        }
        return {relation: sorted(_reachable((relation, False), next_relations)) for relation in rules}

    def _rules(self) -> Mapping[str, set[ImpliedRelation]]:
        """Of each relation, by name, what follows from it by one rule."""
        rules: dict[str, set[ImpliedRelation]] = defaultdict(set)

        def add(premise: int, consequence: int, *, swapped: bool) -> None:
            rules[self._name(premise)].add((self._name(consequence), swapped))

        for sub, parent in self.pairs(RDFS + "subPropertyOf"):
            add(sub, parent, swapped=False)
        for kind, swapped in (("equivalentProperty", False), ("inverseOf", True)):
            for first, second in self.pairs(OWL + kind):
                add(first, second, swapped=swapped)
                add(second, first, swapped=swapped)
        for name, character in self.characters:
            if character == "symmetric":
                rules[name].add((name, True))
        for name, inverse in _OF_SKOS.items():
            if name in self.relations:
                rules[name].add((inverse, True))
        return rules

    def _implied_triples(
        self, triples: TripleRows, implied: Mapping[str, Sequence[ImpliedRelation]]
    ) -> TripleRows:
        inferred_rows: list[TripleRows] = [np.zeros((0, 3), np.int64)]
        triples = _by_relation(triples)
        for relation, consequences in implied.items():
            rows = _triples_of(triples, self.relations.get(relation, -1))
            for consequence, swapped in consequences if len(rows) else ():
                new_rows = rows[:, [2, 1, 0]] if swapped else rows.copy()
                new_rows[:, 1] = self.relations[consequence]
                inferred_rows.append(new_rows)
        return np.concatenate(inferred_rows)

    def _transitive_triples(self, triples: TripleRows) -> TripleRows:
        """What transitive relations reach beyond one step, at most `most` triples."""
        rows: list[tuple[int, int, int]] = []
        triples = _by_relation(triples)
        transitive = {
            self.relations.get(name) for name, character in self.characters if character == "transitive"
        }
        for relation in sorted(number for number in transitive if number is not None):
            tails_by_head = _seconds_by_first(_triples_of(triples, relation)[:, [0, 2]].tolist())
            for head in tails_by_head:
                for tail in _reachable(head, tails_by_head, self.most - len(rows)):
                    rows.append((head, relation, tail))
                if len(rows) >= self.most:
                    self.cut = True
                    return np.array(rows, np.int64)
        return np.array(rows, np.int64).reshape(-1, 3)

    def _members(self, triples: TripleRows, stated: set[tuple[int, int]]) -> set[tuple[int, int]]:
        """(node, class): those stated, of the classes above, and by definitions of restrictions."""
        superclasses = self._superclasses()
        triples = _by_relation(triples)
        members, new_members = set[tuple[int, int]](), stated
        while new_members:
            members |= self._with_superclasses(new_members, superclasses)
            if len(members) > self.most:
                self.cut = True
                break
            new_members = self._defined_members(triples, members) - members
        return members

    def _named_types(self, pairs: set[tuple[int, int]]) -> Int32:
        """Those of (node, class) whose class has a name, at most `most`."""
        named_classes = {type_ for _, type_ in pairs if not self._is_unnamed(type_)}
        named_pairs = sorted(pair for pair in pairs if pair[1] in named_classes)
        return np.array(named_pairs[: self.most], np.int32).reshape(-1, 2)

    def _with_superclasses(
        self, pairs: set[tuple[int, int]], superclasses: Mapping[int, Sequence[int]]
    ) -> set[tuple[int, int]]:
        classes = {
            type_: _reachable(type_, superclasses, self.most) for type_ in {type_ for _, type_ in pairs}
        }
        return pairs | {(node, superclass) for node, type_ in pairs for superclass in classes[type_]}

    def _restrictions(self, kind: str) -> dict[int, list[tuple[str, int]]]:
        """Restriction → (relation, value or class) of a kind."""
        values = _seconds_by_first(self.pairs(OWL + kind))
        restrictions: dict[int, list[tuple[str, int]]] = defaultdict(list)
        for restriction, property_ in self.pairs(OWL + "onProperty"):
            restrictions[restriction] += [(self._name(property_), v) for v in values.get(restriction, ())]
        return restrictions

    def _defined_members(self, triples: TripleRows, members: set[tuple[int, int]]) -> set[tuple[int, int]]:
        """Members of restrictions that define a class (`owl:equivalentClass`)."""
        defining = {node for pair in self.pairs(OWL + "equivalentClass") for node in pair}
        return {
            (head, restriction)
            for restriction, conditions in self._restrictions("someValuesFrom").items()
            if restriction in defining
            for relation, class_ in conditions
            for head, _, tail in _triples_of(triples, self.relations.get(relation, -1)).tolist()
            if (tail, class_) in members
        }

    def _class_triples(self) -> TripleRows:
        """(class, relation, class or value) of what every member of a named class has."""
        kinds = [self._restrictions(kind) for kind in ("someValuesFrom", "hasValue")]
        restrictions = {restriction for kind in kinds for restriction in kind}
        superclasses_by_class = {
            class_: [c for c in parents if c in restrictions or self._is_unnamed(c)]
            for class_, parents in self._superclasses().items()
        }
        rows = {
            (class_, self.relations[relation], value)
            for class_ in superclasses_by_class
            if not self._is_unnamed(class_)
            for restriction in _reachable(class_, superclasses_by_class, self.most)
            for kind in kinds
            for relation, value in kind.get(restriction, ())
            if not self._is_unnamed(value)
        }
        return np.array(sorted(rows), np.int64).reshape(-1, 3)

    def _value_triples(self, members: set[tuple[int, int]]) -> TripleRows:
        """Members of a restriction to a value have it."""
        restrictions = self._restrictions("hasValue")
        rows = [
            (node, self.relations[relation], value)
            for node, type_ in members
            for relation, value in restrictions.get(type_, ())
        ]
        return np.array(sorted(rows), np.int64).reshape(-1, 3)


def has_rules(relations: Iterable[str]) -> bool:
    """Whether something may follow from triples of these relations."""
    return any(is_schema(relation) or relation in _OF_SKOS for relation in relations)


def is_schema(relation: str) -> bool:
    """Whether a relation is one that an ontology is written in, its lists too."""
    return relation.startswith((RDFS, OWL)) or relation in (_FIRST, _REST)


def _seconds_by_first(pairs: Iterable[Sequence[int]]) -> dict[int, list[int]]:
    """Each first of some pairs with the seconds beside it."""
    lists: dict[int, list[int]] = defaultdict(list)
    for first, second in pairs:
        lists[first].append(second)
    return lists


def _by_relation(triples: TripleRows) -> TripleRows:
    return triples[np.argsort(triples[:, 1], kind="stable")]


def _triples_of(triples: TripleRows, relation: int) -> TripleRows:
    """The triples of a relation, of some in the order of their relations."""
    low, high = np.searchsorted(triples[:, 1], [relation, relation + 1]).tolist()
    return triples[low:high]


def _reachable(start: T, successors: Mapping[T, Sequence[T]], most: int = sys.maxsize) -> list[T]:
    """What is reached from a node in one step or more, at most `most` nodes, not the node itself."""
    seen, stack, nodes = {start}, [start], list[T]()
    while stack and len(nodes) < most:
        for neighbour in successors.get(stack.pop(), ()):
            if neighbour not in seen:
                seen.add(neighbour)
                stack.append(neighbour)
                nodes.append(neighbour)
    return nodes[:most]
