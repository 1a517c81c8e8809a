"""What the edges of a graph have for properties: which of each relation, of which kind, with which values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Graph, ValueKind
from clew.query.execute import Executor, intersection
from clew.query.tree import Both, Counted, Either, OfType, OnEdge, Part, Qualified, Query, Walk, mapped
from clew.query.vocabulary import words_of_label

MOST_VALUES = 500
"""Different texts of a property up to which they are looked for in questions."""
MOST_RELATIONS = 3
"""Relations up to which a condition is put on the edges of any of them: *who is on leave*."""
OfStep = Callable[[int], tuple[OnEdge, ...]]
_BEGIN = frozenset("since from start started starting begin began beginning starts begins valid".split())
_END = frozenset("until till to end ended ending ends finish finished stop stopped left".split())


@dataclass(eq=False)
class EdgeKeys:
    """What the edges of one graph have for properties."""

    graph: Graph

    def has(self, step: int, key: str) -> bool:
        """Whether edges of a step have a property."""
        return key in self.of_relations.get(step // 2, ())

    @cached_property
    def of_relations(self) -> dict[int, frozenset[str]]:
        """The properties of the edges of each relation that has some."""
        properties = self.graph.edge_properties
        owners = np.repeat(np.arange(len(properties)), np.diff(properties.offsets))
        pairs = np.unique(np.stack([properties.triples[owners, 1], properties.key]), axis=1)
        keys: dict[int, set[str]] = {}
        for relation, key in pairs.T.tolist():
            keys.setdefault(relation, set()).add(properties.keys[key])
        return {relation: frozenset(names) for relation, names in keys.items()}

    @cached_property
    def kinds(self) -> dict[str, set[int]]:
        """What values each property has; 0 is text."""
        properties = self.graph.edge_properties
        pairs = np.unique(np.stack([properties.key, properties.kind.astype(np.int32)]), axis=1)
        kinds: dict[str, set[int]] = {key: set() for key in properties.keys}
        for key, kind in pairs.T.tolist():
            kinds[properties.keys[key]].add(kind)
        return kinds

    @cached_property
    def values(self) -> dict[str, list[str]]:
        """The texts of each property that has few of them, the longest first."""
        properties = self.graph.edge_properties
        values: dict[str, list[str]] = {}
        for number, key in enumerate(properties.keys):
            places = np.flatnonzero((properties.key == number) & (properties.kind == 0))
            texts = {properties.texts[at] for at in places[: 100 * MOST_VALUES].tolist()}
            if len(texts) <= MOST_VALUES:
                values[key] = sorted((t for t in texts if len(t) > 1), key=lambda t: (-len(t), t))
        return values

    def over(self, executor: Executor, query: Query, of_step: OfStep) -> Query | None:
        """The query over edges that fulfil the conditions which `of_step` gives for its outermost such step.

        Of a bare type those that such edges lead to. None where no step has conditions.
        """
        bound = _with_conditions(query, of_step)
        if bound is not None or not isinstance(query.part, OfType):
            return bound
        members, over = executor.members(query.part), list[Part]()
        for relation in sorted(self.of_relations):
            for step in (2 * relation, 2 * relation + 1):
                conditions, source = of_step(step), OfType(-1, step)
                if conditions and len(intersection(members, executor.members(Walk(source, step)))):
                    over.append(Qualified(source, step, conditions))
        if not 0 < len(over) <= MOST_RELATIONS:
            return None
        return replace(query, part=Both(query.part, reduce(Either, over)))

    def dated(self, relation: int) -> tuple[str, str, str]:
        """The begin, the end, and the one date of edges of a relation, "" where there is none."""
        if relation not in self._dated:
            self._dated[relation] = self._dates(relation)
        return self._dated[relation]

    @cached_property
    def _dated(self) -> dict[int, tuple[str, str, str]]:
        return {}

    def _dates(self, relation: int) -> tuple[str, str, str]:
        properties = self.graph.edge_properties
        statements = np.flatnonzero(properties.triples[:, 1] == relation)
        owners = np.repeat(np.arange(len(properties)), np.diff(properties.offsets))
        places = np.flatnonzero(np.isin(owners, statements))
        dated: dict[str, bool] = {}
        for number in np.unique(properties.key[places]).tolist():
            of_key = places[properties.key[places] == number]
            values, kinds = properties.value[of_key], properties.kind[of_key]
            is_year = (kinds == ValueKind.NUMBER) & (values >= 1000) & (values <= 2100) & (values % 1 == 0)
            dated[properties.keys[number]] = bool(((kinds == ValueKind.DATE) | is_year | (kinds == 0)).all())
        words = {key: set(words_of_label(key).split()) for key, is_date in dated.items() if is_date}
        words = {key: said for key, said in words.items() if self._has_values(key, places)}
        begin = next((key for key, said in words.items() if said & _BEGIN), "")
        end = next((key for key, said in words.items() if said & _END and key != begin), "")
        others = [key for key in words if key not in (begin, end)]
        return begin, end, others[0] if len(others) == 1 else ""

    def _has_values(self, key: str, places: NDArray[np.int64]) -> bool:
        properties = self.graph.edge_properties
        number = list(properties.keys).index(key)
        return bool((properties.kind[places[properties.key[places] == number]] > 0).any())


def _with_conditions(query: Query, of_step: OfStep) -> Query | None:
    """The query over edges that fulfil conditions: those that `of_step` gives, of the outermost such step.

    None where there are none for any step.
    """
    found: list[Part] = []

    def bound(part: Part) -> Part:
        match part:
            case Walk(source, step):
                before: tuple[OnEdge, ...] = ()
            case Qualified(source, step, before):
                pass
            case OfType(type_, end) if type_ < 0:
                source, step, before = OfType(-1, end ^ 1), end ^ 1, ()
            case Counted(inner, of, ">=", 1, _, None):
                source, step, before = OfType(-1, of ^ 1), of ^ 1, ()
                conditions = () if found else of_step(step)
                if not conditions:
                    return part
                found.append(part)
                return Both(inner, Qualified(source, step, conditions))
            case _:
                return part
        conditions = () if found else of_step(step)
        if not conditions:
            return part
        found.append(part)
        return Qualified(source, step, (*before, *conditions))

    part = mapped(query.part, bound)
    return replace(query, part=part) if found else None
