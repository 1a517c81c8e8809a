"""The validity step: every label, relation, property and value of a query compared with the graph's own.

SynaptiQA, section III.B, *query validity verification*. What the graph has stays; for what it lacks the most
similar names of the same kind are found, and the `choose` step picks one, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from clew.steps.choose_name import Choose, Unknown
from clew.steps.name_space import SAME, NameSpace, Near
from clew.steps.values import Place, Values
from clew.stores.cypher.direction import Correction
from clew.stores.cypher.labels import admits_type
from clew.stores.cypher.parser import parse
from clew.stores.cypher.schema import GraphSchema
from clew.stores.cypher.tokens import quote_name, render
from clew.stores.cypher.tree import LabelExpression, NodePattern, Path, Relationship, Statement
from clew.stores.cypher.uses import NameUse, ValueUse, uses_of
from clew.stores.naming import naming_property
from clew.text.embedder import Embedder
from clew.text.lexicon import Lexicon

CANDIDATES = 5
"""Names that are offered for one that the graph lacks."""


@dataclass(frozen=True)
class Checked:
    """A statement with names that exist, what was replaced, and the names for which nothing was chosen."""

    statement: Statement
    corrections: tuple[Correction, ...] = ()
    unknown: tuple[Unknown, ...] = ()


@dataclass(frozen=True)
class _Place:
    """Where a name stands, and how a chosen one is written there."""

    token: int
    unknown: Unknown
    write: Callable[[str], str]


class NameCheck:
    """Compares the names of statements with those of one graph."""

    def __init__(self, schema: GraphSchema, values: Values, embedder: Embedder, lexicon: Lexicon) -> None:
        self.schema, self._values = schema, values
        self._embedder, self._lexicon = embedder, lexicon
        self._labels = self._space(schema.labels)
        self._types = self._space(schema.types)
        self._attributes: dict[frozenset[str], NameSpace] = {}

    def _space(self, names: Iterable[str]) -> NameSpace:
        return NameSpace(tuple(names), self._embedder, self._lexicon)

    def names(self, statement: Statement, question: str, choose: Choose) -> Checked:
        """Check labels and relations, then the properties of what they have become. Raises as `choose`."""
        first = self._replaced(statement, self._labels_and_types(statement), question, choose)
        then = self._replaced(first.statement, self._properties(first.statement), question, choose)
        return Checked(then.statement, first.corrections + then.corrections, first.unknown + then.unknown)

    def values(self, statement: Statement, question: str, choose: Choose) -> Checked:
        """Check the values that properties are compared with. Raises as `choose`, and StoreError."""
        implied = implied_labels(statement, self.schema)
        places = (self._value(use, implied) for use in uses_of(statement).values)
        return self._replaced(statement, [p for p in places if p is not None], question, choose)

    def _replaced(
        self, statement: Statement, places: Sequence[_Place], question: str, choose: Choose
    ) -> Checked:
        if not places:
            return Checked(statement)
        unknown = list(dict.fromkeys(place.unknown for place in places))
        choices = dict(zip(unknown, choose(question, statement.text, unknown), strict=True))
        edits: dict[int, str] = {}
        made: dict[Correction, None] = {}
        for place in places:
            choice = choices[place.unknown]
            if choice.name is None:
                continue
            edits[place.token] = place.write(choice.name)
            each = place.unknown
            reason = f"the graph has no {each}; {choice.by}"
            made[Correction(each.kind, each.written, edits[place.token], reason)] = None
        left = tuple(each for each in unknown if choices[each].name is None)
        text = render(statement.tokens, edits)
        return Checked(parse(text) if edits else statement, tuple(made), left)

    def _labels_and_types(self, statement: Statement) -> list[_Place]:
        places: list[_Place] = []
        for use in uses_of(statement).names:
            space = {"label": self._labels, "relation": self._types}.get(use.kind)
            if space is not None and use.text not in space:
                near = space.nearest(use.text, CANDIDATES)
                places.append(_Place(use.token, Unknown(use.kind, use.text, near), quote_name))
        return places

    def _properties(self, statement: Statement) -> list[_Place]:
        implied = implied_labels(statement, self.schema)
        places: list[_Place] = []
        for use in uses_of(statement).names:
            if use.kind != "property":
                continue
            of = use.of or implied.get(use.variable, ())
            known = self._known(use, of)
            if known and use.text not in known:
                near = self._near_property(use.text, known)
                unknown = Unknown("property", use.text, near, " or ".join(of))
                places.append(_Place(use.token, unknown, quote_name))
        return places

    def _known(self, use: NameUse, of: Sequence[str]) -> frozenset[str]:
        """Return the properties that the owner of a property may have."""
        owned = self.schema.label_properties if use.owner == "node" else self.schema.type_properties
        wanted = [owned[name] for name in of if name in owned] if of else owned.values()
        return frozenset(key for keys in wanted for key in keys)

    def _near_property(self, text: str, known: frozenset[str]) -> tuple[Near, ...]:
        """Return properties like one; a name or title is that property which names these things."""
        if known not in self._attributes:
            self._attributes[known] = self._space(sorted(known))
        near = self._attributes[known].nearest(text, CANDIDATES)
        naming = naming_property(known)
        if naming_property([text]) is None or naming is None:
            return near
        return (Near(naming, SAME), *(n for n in near if n.name != naming and n.score < SAME))

    def _value(self, use: ValueUse, implied: dict[str, tuple[str, ...]]) -> _Place | None:
        """Look for a value; None if the graph has it, or nothing can be said."""
        labels = use.of or implied.get(use.variable, ())
        owners = [label for label in labels if use.property in self.schema.label_properties.get(label, ())]
        place = Place(tuple(owners), use.property)
        if (labels and not owners) or self._values.has(place, use.operator, use.value, use.function):
            return None
        of = f"{'|'.join(owners)}.{use.property}" if owners else use.property
        other = _of_other_type(use.value)
        if other is not None and use.operator == "=" and self._values.has(place, "=", other):
            unknown = Unknown("value", str(use.value), (Near(str(other), SAME),), of)
            return _Place(use.token, unknown, lambda _: repr(other) if isinstance(other, str) else str(other))
        if not isinstance(use.value, str):
            return None
        unknown = Unknown("value", use.value, self._values.near(place, use.value, CANDIDATES), of)
        return _Place(use.token, unknown, lambda name: quote_text(_cased(name, use.function)))


def implied_labels(statement: Statement, schema: GraphSchema) -> dict[str, tuple[str, ...]]:
    """Labels of variables without any, by the relations beside them: variable → labels of the schema."""
    said = {
        part.variable.text
        for part in statement.query.walk()
        if isinstance(part, NodePattern) and part.variable is not None and part.labels is not None
    }
    implied: dict[str, set[str]] = {}
    for path in (p for p in statement.query.walk() if isinstance(p, Path)):
        for at, edge in enumerate(path.elements):
            if not isinstance(edge, Relationship) or edge.types is None or edge.length is not None:
                continue
            for node, other, outwards in (
                (path.elements[at - 1], path.elements[at + 1], edge.direction == "right"),
                (path.elements[at + 1], path.elements[at - 1], edge.direction == "left"),
            ):
                if not isinstance(node, NodePattern) or node.variable is None:
                    continue
                name = node.variable.text
                if name in said:
                    continue
                ends = _ends(schema, edge, other, outwards)
                implied[name] = implied[name] & ends if implied.get(name, ends) & ends else ends
    return {name: tuple(sorted(labels)) for name, labels in implied.items()}


def _ends(schema: GraphSchema, edge: Relationship, other: object, outwards: bool) -> set[str]:
    """Return the labels at one end of an edge: as it is written, else the other way round."""
    types = edge.types
    hops = [hop for hop in schema.hops if types is None or admits_type(types, hop.type)]
    heads = {hop.head for hop in hops if _may_be(other, hop.tail)}
    tails = {hop.tail for hop in hops if _may_be(other, hop.head)}
    if edge.direction == "both":
        return heads | tails
    return (heads or tails) if outwards else (tails or heads)


def _may_be(node: object, label: str) -> bool:
    labels = node.labels if isinstance(node, NodePattern) else None
    if labels is None or labels.operator not in ("label", "|", "&"):
        return True
    names = [p.name.text for p in labels.walk() if isinstance(p, LabelExpression) and p.name is not None]
    return label in names


def quote_text(text: str) -> str:
    """Write a text as a string of Cypher."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def _of_other_type(value: str | int | float) -> str | int | float | None:
    """Return a number for the text of one, and the text of a number."""
    if not isinstance(value, str):
        return str(value)
    try:
        number = float(value)
    except ValueError:
        return None
    return (
        int(number) if number.is_integer() and abs(number) < 2**53 else number if number == number else None
    )


def _cased(text: str, function: str) -> str:
    return {"tolower": text.lower(), "toupper": text.upper()}.get(function.lower(), text)
