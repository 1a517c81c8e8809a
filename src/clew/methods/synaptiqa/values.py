"""Values of properties: whether a graph has one, and which of its values are like one that it lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from clew.methods.synaptiqa.choose_name import NEARLY, SAME, NameSpace, Near
from clew.stores.cypher.tree import quote_name
from clew.stores.cypher.uses import Owner
from clew.stores.errors import QueryError
from clew.stores.store import CypherStore
from clew.text.embedder import Embedder
from clew.text.lexicon import Lexicon
from clew.text.normalise import normalise

MOST_VALUES = 20_000
"""Distinct values of a property that are compared; of a property with more, those that share a word."""
VALUES_KEPT = 64
"""Properties whose values are kept."""


@dataclass(frozen=True, slots=True)
class Place:
    """A property of nodes with one of some labels, or of relations of some types; without them, of any."""

    labels: tuple[str, ...]
    property: str
    owner: Owner = "node"


NamesOf = Callable[[str], Sequence[str]]
"""Text → the names of the things that are called so, by whichever of their names."""


class StoredValues:
    """Values as a Cypher store has them, asked by guarded queries; those of a property are kept."""

    def __init__(
        self, store: CypherStore, embedder: Embedder, lexicon: Lexicon, names_of: NamesOf | None = None
    ) -> None:
        self._store, self._embedder, self._lexicon, self._names_of = store, embedder, lexicon, names_of
        self._spaces: dict[Place, NameSpace | None] = {}

    def has(self, place: Place, operator: str, value: object, function: str = "") -> bool | None:
        """Whether some node or relation has a value for which `function(property) operator value` holds.

        None where the store cannot compare the two. Raises StoreError.
        """
        key = f"n.{quote_name(place.property)}"
        subject = f"{function}({key})" if function else key
        is_comparable = False
        for node in _nodes(place):
            query = f"MATCH {node} WHERE {subject} {operator} $value RETURN 1 AS found LIMIT 1"
            try:
                result = self._store.run(query, {"value": value})
            except QueryError:
                # A label without the property, or a value of another type than the store keeps there.
                continue
            is_comparable = True
            if result.rows:
                return True
        return False if is_comparable else None

    def near(self, place: Place, text: str, count: int) -> tuple[Near, ...]:
        """Return values like a text, best first: names of what is called so too. Raises StoreError."""
        near = self._values(place, text).nearest(text, count)
        other_names = [] if near and near[0].score >= SAME else self._other_names(place, text)
        return (*other_names, *(n for n in near if n.name not in {c.name for c in other_names}))[:count]

    def _other_names(self, place: Place, text: str) -> list[Near]:
        """The names of the nodes that have a text for another name (*e:1* of *Anna Berg*)."""
        if self._names_of is None or place.property != "name" or place.owner != "node":
            return []
        names = [name for name in dict.fromkeys(self._names_of(text)) if self.has(place, "=", name)]
        score = SAME if len(names) == 1 else NEARLY
        return [Near(name, score, f"{text!r} is a name of it") for name in names]

    def near_parts(self, place: Place, text: str, count: int) -> tuple[Near, ...]:
        """Return parts of values like a text by its letters, best first. Raises StoreError."""
        score_by_part: dict[str, float] = {}
        for value in self._values(place, text).names:
            part = fuzz.partial_ratio_alignment(text.lower(), value.lower())
            if part is not None and len(value) == len(value.lower()):
                words = value[part.dest_start : part.dest_end].strip()
                score_by_part[words] = max(score_by_part.get(words, 0.0), part.score / 100)
        best = sorted(score_by_part.items(), key=lambda item: (-item[1], item[0]))[:count]
        return tuple(Near(words, round(score, 4)) for words, score in best if words)

    def _values(self, place: Place, text: str) -> NameSpace:
        if place not in self._spaces:
            if len(self._spaces) >= VALUES_KEPT:
                self._spaces.clear()
            values = self._distinct(place, "", {})
            self._spaces[place] = None if len(values) > MOST_VALUES else self._space(values)
        space = self._spaces[place]
        if space is None:
            space = self._space(self._sharing_a_word(place, text))
        return space

    def _space(self, values: Sequence[str]) -> NameSpace:
        return NameSpace(values, self._embedder, self._lexicon)

    def _sharing_a_word(self, place: Place, text: str) -> list[str]:
        """Return values that hold the beginning of a word of the text: typos are rare at the beginning."""
        key = f"toLower(n.{quote_name(place.property)})"
        values: dict[str, None] = {}
        for word in sorted(normalise(text).split(), key=len, reverse=True)[:3]:
            part = word[: max(3, len(word) - 2)]
            texts = self._distinct(place, f" AND {key} CONTAINS $part", {"part": part})
            values |= dict.fromkeys(texts[:MOST_VALUES])
        return list(values)

    def _distinct(self, place: Place, condition: str, parameters: dict[str, object]) -> list[str]:
        """Return the distinct texts of a property, in order; of a label at most `MOST_VALUES` + 1."""
        key = f"n.{quote_name(place.property)}"
        distinct = f"RETURN DISTINCT {key} AS v LIMIT {MOST_VALUES + 1}"
        texts: set[str] = set()
        for node in _nodes(place):
            query = f"MATCH {node} WHERE {key} IS NOT NULL{condition} {distinct}"
            try:
                rows = self._store.run(query, parameters).rows
            except QueryError:
                continue
            texts.update(value for row in rows for value in _texts(row[0]))
        return sorted(texts)


def _nodes(place: Place) -> list[str]:
    """Patterns whose n has the property."""
    names = [f"n:{quote_name(label)}" for label in place.labels] or ["n"]
    return [f"({name})" if place.owner == "node" else f"()-[{name}]->()" for name in names]


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, tuple):
        return [text for item in value for text in _texts(item)]  # pyright: ignore[reportUnknownVariableType]
    return []
