"""The validity step: every label, relation, property and value of a query compared with the graph's own.

SynaptiQA, section III.B, *query validity verification*. What the graph has stays; for what it lacks the most
similar names of the same kind are found, and the `choose` step picks one, or none.

Comparisons of a text with a number or a date hold of nothing and are no error in Cypher: `o.orderDate >=
date('1998-01-01')` finds nothing where the database keeps days as texts, and a count of it is 0. So a query
that found nothing is told so (`other_types`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from clew.graph.graph import ValueKind
from clew.graph.values import parse_value
from clew.methods.synaptiqa.choose_name import (
    SAME,
    Choose,
    Corrected,
    NameSpace,
    Near,
    Place,
    StoredValues,
    Unknown,
)
from clew.stores.cypher import tree
from clew.stores.cypher.direction import Correction, admits_type
from clew.stores.cypher.tree import NodePattern, Statement, quote_name, quote_text
from clew.stores.cypher.uses import NameKind, NameUse, ValueUse, uses_of
from clew.stores.store import GraphSchema, naming_property
from clew.text.embedders import Embedder
from clew.text.lexicon import Lexicon

CANDIDATES = 5
"""Names that are offered for one that the graph lacks."""
NAMING = ("name", "title", "label", "fullname", "full_name")
"""Properties that mean whatever property names a node."""
CLEAR = 0.9
"""Likeness of a property that is not taken for a name of the node instead."""
_COMPARISONS = frozenset(("=", "<>", "<", ">", "<=", ">="))
_TIMES = ("date", "datetime", "localdatetime", "time", "localtime")
_TEXT = "text "


@dataclass(frozen=True)
class _Spot:
    """Where a name stands, and how a chosen one is written there."""

    token: int
    unknown: Unknown
    write: Callable[[str], str]


class NameCheck:
    """Compares the names of statements with those of one graph."""

    def __init__(
        self, schema: GraphSchema, values: StoredValues, embedder: Embedder, lexicon: Lexicon
    ) -> None:
        self.schema, self._values = schema, values
        self._space = partial(NameSpace, embedder=embedder, lexicon=lexicon)
        self._labels = self._space(schema.labels)
        self._types = self._space(schema.types)
        self._attributes: dict[frozenset[str], NameSpace] = {}

    def names(self, statement: Statement, question: str, choose: Choose) -> Corrected:
        """Check relations, labels (by the relations), then properties (by the labels). Raises as `choose`."""
        relations = self._replaced(statement, self._relations(statement), question, choose)
        labels = self._replaced(relations.statement, self._labels_at(relations.statement), question, choose)
        if labels.unknown and labels.corrections:
            # A label that is known now may tell that of its neighbour.
            second = self._replaced(labels.statement, self._labels_at(labels.statement), question, choose)
            labels = replace(second, corrections=labels.corrections + second.corrections)
        keys = self._replaced(labels.statement, self._properties(labels.statement), question, choose)
        return Corrected(
            keys.statement,
            relations.corrections + labels.corrections + keys.corrections,
            relations.unknown + labels.unknown + keys.unknown,
        )

    def values(self, statement: Statement, question: str, choose: Choose) -> Corrected:
        """Check the values that properties are compared with. Raises as `choose`, and StoreError."""
        implied = implied_labels(statement, self.schema)
        uses = uses_of(statement).values
        parts = Counter((use.variable, use.property) for use in uses if use.operator != "=")
        # Several parts of one text are guesses at it, of which one may be right: *trap* or *stuck*.
        sought = [u for u in uses if u.operator == "=" or parts[u.variable, u.property] == 1]
        places = (self._value(use, implied) for use in sought)
        return self._replaced(statement, [p for p in places if p is not None], question, choose)

    def _replaced(
        self, statement: Statement, places: Sequence[_Spot], question: str, choose: Choose
    ) -> Corrected:
        if not places:
            return Corrected(statement)
        unknown = list(dict.fromkeys(place.unknown for place in places))
        choices = dict(zip(unknown, choose(question, statement.text, unknown), strict=True))
        edits: dict[int, str] = {}
        corrections: dict[Correction, None] = {}
        for place in places:
            (name, by), missing = choices[place.unknown], place.unknown
            if name is not None:
                after = edits[place.token] = place.write(name)
                reason = f"the graph has no {missing}; {by}"
                corrections[Correction(missing.kind, missing.written, after, reason)] = None
        unresolved = tuple(each for each in unknown if choices[each][0] is None)
        return replace(Corrected.by(statement, edits, corrections), unknown=unresolved)

    def _unknown_names(
        self, statement: Statement, kind: NameKind, space: NameSpace, allowed: Mapping[int, Collection[str]]
    ) -> list[_Spot]:
        """Names of a kind that the graph lacks, with those like them, if any, that are allowed at a token."""
        places: list[_Spot] = []
        for use in uses_of(statement).names:
            if use.kind != kind or use.text in space:
                continue
            near = space.nearest(use.text, len(space.names))
            fitting = allowed.get(use.token, ())
            candidates = [n for n in near if n.name in fitting] or near
            if kind == "label" and len(fitting) == 1 and candidates[0].score < SAME:
                candidates = [Near(candidates[0].name, SAME, "the only label that its relations allow")]
            unknown = Unknown(kind, use.text, tuple(candidates[:CANDIDATES]))
            places.append(_Spot(use.token, unknown, quote_name))
        return places

    def _relations(self, statement: Statement) -> list[_Spot]:
        """Relations that the graph lacks, with those like them that the labels at their ends allow."""
        allowed: dict[int, set[str]] = {}
        for edge, left, right in _hops(statement):
            allowed |= {name.start: self._between(left, right) for name in _names(edge.types)}
        return self._unknown_names(statement, "relation", self._types, allowed)

    def _between(self, left: NodePattern | None, right: NodePattern | None) -> set[str]:
        """Return the relation types that the schema has between two nodes, in either direction."""
        return {
            hop.type
            for hop in self.schema.hops
            for a, b in ((hop.head, hop.tail), (hop.tail, hop.head))
            if may_be(left, a, self.schema) and may_be(right, b, self.schema)
        }

    def _labels_at(self, statement: Statement) -> list[_Spot]:
        """Labels that the graph lacks, with those like them that the relations there allow."""
        allowed: dict[int, set[str]] = {}
        by_variable = _by_variable(statement, self.schema)
        for node, ends in _node_ends(statement, self.schema):
            ends = by_variable[node.variable.text] if node.variable is not None else ends
            allowed |= {name.start: ends for name in _names(node.labels)}
        return self._unknown_names(statement, "label", self._labels, allowed)

    def _properties(self, statement: Statement) -> list[_Spot]:
        implied = implied_labels(statement, self.schema)
        places: list[_Spot] = []
        for use in uses_of(statement).names:
            if use.kind != "property":
                continue
            owners = use.of or implied.get(use.variable, ())
            owned = self._owned(use)
            key_sets = [owned[name] for name in owners if name in owned] if owners else owned.values()
            known_keys = frozenset(key for keys in key_sets for key in keys)
            if known_keys and use.text not in known_keys:
                near = self._near_property(use.text, known_keys)
                unknown = Unknown("property", use.text, near, " or ".join(owners))
                places.append(_Spot(use.token, unknown, quote_name))
        return places

    def _owned(self, use: NameUse | ValueUse) -> Mapping[str, Collection[str]]:
        """The properties of each label, or of each type of relation."""
        return self.schema.label_properties if use.owner == "node" else self.schema.type_properties

    def _near_property(self, text: str, known_keys: frozenset[str]) -> tuple[Near, ...]:
        """Return properties like one; a name or title is that property which names these things."""
        if known_keys not in self._attributes:
            self._attributes[known_keys] = self._space(sorted(known_keys))
        near = self._attributes[known_keys].nearest(text, CANDIDATES)
        naming = naming_property(known_keys)
        if naming is None or naming_property([text]) is None or near[0].score >= CLEAR:
            return near
        score = SAME if text.lower() in NAMING else CLEAR
        lower_scored = (n for n in near if n.name != naming and n.score < score)
        return (Near(naming, score, "it names these nodes"), *lower_scored)

    def _value(self, use: ValueUse, implied: dict[str, tuple[str, ...]]) -> _Spot | None:
        """Look for a value; None if the graph has it, or nothing can be said."""
        labels = use.of or implied.get(use.variable, ())
        owned = self._owned(use)
        owners = [name for name in labels if use.property in owned.get(name, ())]
        place = Place(tuple(owners), use.property, use.owner)
        has = self._values.has(place, use.operator, use.value, use.function)
        if (labels and not owners) or has:
            return None
        owner_text = f"{'|'.join(owners)}.{use.property}" if owners else use.property
        other = _of_other_type(use.value)
        if other is not None and use.operator == "=" and self._values.has(place, "=", other):
            unknown = Unknown("value", str(use.value), (Near(str(other), SAME),), owner_text)
            return _Spot(use.token, unknown, lambda _: repr(other))
        if has is None or not isinstance(use.value, str):
            return None
        near = self._values.near if use.operator == "=" else self._values.near_parts
        unknown = Unknown("value", use.value, near(place, use.value, CANDIDATES), owner_text)
        cased = {"tolower": str.lower, "toupper": str.upper}.get(use.function.lower(), str)
        return _Spot(use.token, unknown, lambda name: quote_text(cased(name)))


def implied_labels(statement: Statement, schema: GraphSchema) -> dict[str, tuple[str, ...]]:
    """Return the labels of variables without any, by the relations beside them."""
    labelled = {
        part.variable.text
        for part in statement.query.walk()
        if isinstance(part, NodePattern) and part.variable is not None and part.labels is not None
    }
    return {n: tuple(sorted(e)) for n, e in _by_variable(statement, schema).items() if n not in labelled}


def _by_variable(statement: Statement, schema: GraphSchema) -> dict[str, set[str]]:
    """Labels that all relations at a variable allow; where they contradict each other, the last one's."""
    labels_by_variable: dict[str, set[str]] = {}
    for node, ends in _node_ends(statement, schema):
        if node.variable is not None:
            allowed = labels_by_variable.get(node.variable.text, ends)
            labels_by_variable[node.variable.text] = (allowed & ends) or ends
    return labels_by_variable


def _names(labels: tree.LabelExpression | None) -> Iterator[tree.Name]:
    """The names in an expression of labels, or of the types of an edge."""
    for part in labels.walk() if labels is not None else ():
        if isinstance(part, tree.LabelExpression) and part.name is not None:
            yield part.name


def _hops(statement: Statement) -> Iterator[tuple[tree.Relationship, NodePattern | None, NodePattern | None]]:
    for path in (p for p in statement.query.walk() if isinstance(p, tree.PathPattern)):
        for at, edge in enumerate(path.elements):
            if isinstance(edge, tree.Relationship):
                ends = path.elements[at - 1], path.elements[at + 1]
                left, right = (end if isinstance(end, NodePattern) else None for end in ends)
                yield edge, left, right


def _node_ends(statement: Statement, schema: GraphSchema) -> Iterator[tuple[NodePattern, set[str]]]:
    """Yield the nodes beside relations of known types, with the labels that the schema has at that end."""
    for edge, left, right in _hops(statement):
        types = edge.types
        hops = [h for h in schema.hops if types is None or admits_type(types, h.type)]
        if types is None or edge.length is not None or not hops:
            continue
        for node, other, outwards in (
            (left, right, edge.direction == "right"),
            (right, left, edge.direction == "left"),
        ):
            if node is None:
                continue
            heads = {hop.head for hop in hops if may_be(other, hop.tail, schema)}
            tails = {hop.tail for hop in hops if may_be(other, hop.head, schema)}
            is_labelled = other is not None and other.labels is not None
            if edge.direction == "both" or (
                is_labelled and all(may_be(other, label, schema) for label in schema.labels)
            ):  # All that the other node says of its labels is unknown to the schema.
                yield node, heads | tails
            else:
                # As it is written, else the other way round: directions are corrected later.
                yield node, (heads or tails) if outwards else (tails or heads)


def may_be(node: NodePattern | None, label: str, schema: GraphSchema) -> bool:
    """Whether a node may have a label: it says so, or says nothing that the schema knows."""
    labels = None if node is None else node.labels
    if labels is None or labels.operator not in ("label", "|", "&"):
        return True
    names = {name.text for name in _names(labels)}
    return label in names or not names & set(schema.labels)


def _of_other_type(value: str | int | float) -> str | int | float | None:
    """Return a number for the text of one, and the text of a number."""
    if not isinstance(value, str):
        return str(value)
    kind, number = parse_value(value)
    if kind != ValueKind.NUMBER:
        return None
    return int(number) if number.is_integer() else number


def other_types(statement: Statement, schema: GraphSchema) -> tuple[str, ...]:
    """Say which properties that are texts a statement compares with a number or a date."""
    uses = {use.token: use for use in uses_of(statement).names if use.kind == "property"}
    implied = implied_labels(statement, schema)
    problems: list[str] = []
    for subject, value in _comparisons(statement):
        use = uses.get(subject.key.start)
        if use is None or use.owner != "node":
            continue
        labels = use.of or implied.get(use.variable, ())
        kinds = [schema.kinds.get(label, {}).get(use.text, "") for label in labels]
        if kinds and all(kind.startswith(_TEXT) for kind in kinds):
            subject_text, example = f"{'|'.join(labels)}.{use.text}", kinds[0].removeprefix(_TEXT)
            problems.append(f"{subject_text} is a text, as in '{example}'; no text compares with {value}")
    return tuple(dict.fromkeys(problems))


def _comparisons(statement: Statement) -> Iterator[tuple[tree.PropertyAccess, str]]:
    for part in statement.query.walk():
        if isinstance(part, tree.Calculation) and part.operator in _COMPARISONS and len(part.operands) == 2:
            for subject, value in (part.operands, part.operands[::-1]):
                if isinstance(subject, tree.PropertyAccess) and (kind := _kind(value)):
                    yield subject, kind


def _kind(value: tree.Expression) -> str:
    if isinstance(value, tree.LiteralValue) and value.kind in ("integer", "float"):
        return "a number"
    if isinstance(value, tree.Call) and value.name.lower() in _TIMES:
        return f"a {value.name.lower()}"
    return ""
