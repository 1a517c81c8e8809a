"""The validity step (SynaptiQA, III.B): names and values of a query compared with the graph's own.

What the graph has stays; for what it lacks the most similar names of the same kind are found, and the model
picks one, or none. Entities, relations and attributes are embedded each by themselves, and a name of a query
is compared with those of its own kind only.

Comparisons of a text with a number or a date hold of nothing and are no error in Cypher: `o.orderDate >=
date('1998-01-01')` finds nothing where the database keeps days as texts, and a count of it is 0. So a query
that found nothing is told so (`other_types`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from rapidfuzz import fuzz, process

from clew.foundation.arrays import Float32
from clew.graph.graph import ValueKind
from clew.graph.values import parse_value
from clew.llm.managed import Talk, as_data, data_line, prompt_named, query_text
from clew.llm.reply import build, read_value
from clew.llm.types import ReplyInvalid, Request
from clew.query.vocabulary import written_out
from clew.stores.cypher import tree
from clew.stores.cypher.direction import Correction, admits_type
from clew.stores.cypher.parser import parse
from clew.stores.cypher.tree import NodePattern, Statement, quote_name, quote_text, render
from clew.stores.cypher.uses import NameKind, NameUse, Owner, ValueUse, uses_of
from clew.stores.errors import QueryError
from clew.stores.store import CypherStore, GraphSchema, naming_property
from clew.text.embedders import Embedder
from clew.text.lexicon import Lexicon
from clew.text.normalise import normalise
from clew.text.verbalise import relation_text

SAME = 1.0
"""Score of names that differ in case, underscores, accents or number (`Movies`, `movie`) only."""
NEARLY = 0.99
"""Score of the best name that is another one."""
LEAST_LIKENESS = 0.6
"""Likeness below which nothing is chosen by likeness alone."""
MARGIN = 0.05
"""Lead over the next name that makes a choice clear."""
CANDIDATES = 5
"""Names that are offered for one that the graph lacks."""
NAMING = ("name", "title", "label", "fullname", "full_name")
"""Properties that mean whatever property names a node."""
CLEAR = 0.9
"""Likeness of a property that is not taken for a name of the node instead."""
_COMPARISONS = frozenset(("=", "<>", "<", ">", "<=", ">="))
_TIMES = ("date", "datetime", "localdatetime", "time", "localtime")
_TEXT = "text "
_SAMPLING = Request(temperature=0.0, max_tokens=256)


@dataclass(frozen=True, slots=True)
class Near:
    """A name like one that the graph lacks; `score` in [0, 1]; `why` it is proposed, if not for likeness."""

    name: str
    score: float
    why: str = ""


class NameSpace:
    """Names of one kind, compared by meaning and by letters."""

    def __init__(self, names: Iterable[str], embedder: Embedder, lexicon: Lexicon) -> None:
        self.names = tuple(dict.fromkeys(names))
        self._name_set = frozenset(self.names)
        self._embedder, self._lexicon = embedder, lexicon
        self._folded = [self._fold(name) for name in self.names]

    def __contains__(self, name: str) -> bool:
        return name in self._name_set

    @cached_property
    def _vectors(self) -> Float32:
        return self._embedder.embed([written_out(words_of(name).lower()) for name in self.names])

    def scores(self, text: str) -> Float32:
        """Return how like a text every name is, float32 [names], in [0, 1]: cosine or letters, the larger."""
        if not self.names:
            return np.zeros(0, np.float32)
        cosine = self._vectors @ self._embedder.embed([words_of(text)])[0]
        folded = self._fold(text)
        letters = process.cdist([folded], self._folded, scorer=fuzz.ratio)[0] / 100
        same = np.array([folded == other for other in self._folded])
        # Letters and meaning may both come near to 1 for names that are not the same.
        return np.where(same, SAME, np.clip(np.maximum(cosine, letters), 0, NEARLY)).astype(np.float32)

    def meanings(self, text: str) -> Float32:
        """Return the cosines of a text, such as a question, and every name, float32 [names]."""
        if not self.names:
            return np.zeros(0, np.float32)
        return self._vectors @ self._embedder.embed([text])[0]

    def nearest(self, text: str, count: int) -> tuple[Near, ...]:
        """Return the `count` names most like a text, best first; ties in the order of the names."""
        scores = self.scores(text)
        order = np.argsort(-scores, kind="stable")[:count]
        return tuple(Near(self.names[i], round(float(scores[i]), 4)) for i in order.tolist())

    def _fold(self, text: str) -> str:
        """Return the stems of the words of a text, without spaces."""
        words = normalise(words_of(text)).split()
        return "".join(self._lexicon.stem(word) for word in words) or text


def words_of(name: str) -> str:
    """Return the words of a name: `ACTED_IN` is *acted in*, `productName` *product name*."""
    words = relation_text(name[:200])
    return words.lower() if words.isupper() else words


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name of a query that the graph lacks: its `kind`, where it belongs to, and names that are like it."""

    kind: str
    written: str
    near: tuple[Near, ...]
    of: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.written!r}" + (f" of {self.of}" if self.of else "")


@dataclass(frozen=True, slots=True)
class Corrected:
    """A statement after a step, what was changed, and the names for which nothing was chosen."""

    statement: Statement
    corrections: tuple[Correction, ...] = ()
    unknown: tuple[Unknown, ...] = ()

    @classmethod
    def by(
        cls, statement: Statement, edits: Mapping[int, str], corrections: Iterable[Correction]
    ) -> Corrected:
        """Put new texts into the place of tokens. Raises QueryError where that is no statement."""
        after = parse(render(statement.tokens, edits)) if edits else statement
        return cls(after, tuple(corrections))


Picks = dict["Unknown", tuple[str | None, str]]
"""The name that is chosen for each that the graph lacks, if one is, and by what."""
Choose = Callable[[str, Sequence[Unknown]], Picks]
"""(query, names that the graph lacks) → what is chosen. Raises LlmError."""


def _clearest(unknown: Unknown) -> tuple[str | None, str]:
    """The most similar name, if its likeness is `LEAST_LIKENESS` and it leads by `MARGIN`."""
    near = unknown.near
    if not near or near[0].score < LEAST_LIKENESS:
        return None, "nothing is like it"
    best, runners_up = near[0], near[1:]
    same = [n for n in near if n.score >= SAME]
    cased = [n for n in same if n.name.casefold() == unknown.written.casefold()]
    sole = cased or same
    if len(sole) == 1:
        return sole[0].name, sole[0].why or "the same name"
    if runners_up and best.score - runners_up[0].score < MARGIN:
        return None, f"{best.name!r} and {runners_up[0].name!r} are about as like it"
    return best.name, best.why or f"most similar, {best.score:.2f}"


def choose_names(talk: Talk, question: str, query: str, unknown: Sequence[Unknown]) -> Picks:
    """The model's picks of similar names, asked once; by likeness where it is of no use. Raises LlmError."""
    unclear = [each for each in unknown if each.near and each.near[0].score < SAME]
    lines: list[str] = []
    for number, each in enumerate(unclear, 1):
        near = "; ".join(f"{i}) {data_line(n.name)}" for i, n in enumerate(each.near, 1))
        lines.append(f"{number}. {data_line(str(each))}: {near}")
    numbers: list[int] = []
    if unclear:
        prompt = prompt_named("clew.methods.synaptiqa", "choose")
        values = {"QUESTION": as_data(question), "QUERY": query_text(query), "NAMES": "\n".join(lines)}
        text = talk.ask(prompt, _SAMPLING, stop=(), **values)
        with suppress(ReplyInvalid):
            numbers = read_value(text, lambda value: build(Picked, value)).choices
    picks = {each: _clearest(each) for each in unknown}
    for each, at in zip(unclear, numbers, strict=True) if len(numbers) == len(unclear) else ():
        name = each.near[at - 1].name if 1 <= at <= len(each.near) else None
        picks[each] = name, "chosen by the model" if name else "the model chose none"
    return picks


@dataclass(frozen=True)
class Picked:
    """The reply that the model is asked for: for each name the number of a candidate, 0 for none."""

    choices: list[int]


MOST_VALUES = 20_000
"""Distinct values of a property that are compared; of a property with more, those that share a word."""


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
        self._store, self._names_of = store, names_of
        self._space = partial(NameSpace, embedder=embedder, lexicon=lexicon)
        self._spaces: dict[Place, NameSpace | None] = {}

    def has(self, place: Place, operator: str, value: object, function: str = "") -> bool | None:
        """Whether a value has `function(property) operator value`, None if not comparable. StoreError."""
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
        """Return values like a text, best first: names of what is called so too. Raises StoreError.

        None is like a name with an id behind it, by which one of several is meant: *Ann (E08)*.
        """
        called = () if self._names_of is None else self._names_of(text)
        if text in called and not self.has(Place((), "name"), "=", text):
            return ()
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
            if len(self._spaces) >= 64:
                self._spaces.clear()
            values = self._distinct(place, "", {})
            self._spaces[place] = None if len(values) > MOST_VALUES else self._space(values)
        space = self._spaces[place]
        if space is None:
            space = self._space(self._sharing_a_word(place, text))
        return space

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

    def names(self, statement: Statement, choose: Choose) -> Corrected:
        """Check relations, labels (by the relations), then properties (by the labels). Raises as `choose`."""
        relations = _replaced(statement, self._relations(statement), choose)
        labels = _replaced(relations.statement, self._labels_at(relations.statement), choose)
        if labels.unknown and labels.corrections:
            # A label that is known now may tell that of its neighbour.
            second = _replaced(labels.statement, self._labels_at(labels.statement), choose)
            labels = replace(second, corrections=labels.corrections + second.corrections)
        keys = _replaced(labels.statement, self._properties(labels.statement), choose)
        return Corrected(
            keys.statement,
            relations.corrections + labels.corrections + keys.corrections,
            relations.unknown + labels.unknown + keys.unknown,
        )

    def values(self, statement: Statement, choose: Choose) -> Corrected:
        """Check the values that properties are compared with. Raises as `choose`, and StoreError."""
        implied = implied_labels(statement, self.schema)
        uses = uses_of(statement).values
        parts = Counter((use.variable, use.property) for use in uses if use.operator != "=")
        # Several parts of one text are guesses at it, of which one may be right: *trap* or *stuck*.
        sought = [u for u in uses if u.operator == "=" or parts[u.variable, u.property] == 1]
        places = (self._value(use, implied) for use in sought)
        return _replaced(statement, [p for p in places if p is not None], choose)

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


def _replaced(statement: Statement, places: Sequence[_Spot], choose: Choose) -> Corrected:
    """The statement with what is chosen for the names that the graph lacks."""
    if not places:
        return Corrected(statement)
    picks = choose(statement.text, list(dict.fromkeys(place.unknown for place in places)))
    edits: dict[int, str] = {}
    corrections: dict[Correction, None] = {}
    for place in places:
        (name, by), missing = picks[place.unknown], place.unknown
        if name is not None:
            after = edits[place.token] = place.write(name)
            reason = f"the graph has no {missing}; {by}"
            corrections[Correction(missing.kind, missing.written, after, reason)] = None
    unresolved = tuple(each for each, (name, _) in picks.items() if name is None)
    return replace(Corrected.by(statement, edits, corrections), unknown=unresolved)


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
