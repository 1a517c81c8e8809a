"""Names and values of a graph like those that it lacks, and which is meant (SynaptiQA, III.B)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from rapidfuzz import fuzz, process

from clew.foundation.arrays import Float32
from clew.llm.managed import Sampling, Talk, as_data, data_line, prompt_named, query_text
from clew.llm.reply import build, read_value
from clew.llm.types import ReplyInvalid
from clew.query.vocabulary import written_out
from clew.stores.cypher.direction import Correction
from clew.stores.cypher.parser import parse
from clew.stores.cypher.tree import Statement, quote_name, render
from clew.stores.cypher.uses import Owner
from clew.stores.errors import QueryError
from clew.stores.store import CypherStore
from clew.text.embedders import Embedder
from clew.text.lexicon import Lexicon
from clew.text.normalise import normalise
from clew.text.verbalise import relation_text

# Names of a graph like one that it lacks, and the `choose` step, which of them is meant (SynaptiQA, III.B).
#
# Entities, relations and attributes are embedded each by themselves, and a name of a query is compared with
# those of its own kind only. The built-in choice is the most similar one, if it is similar enough and no
# other is about as similar.

SAME = 1.0
"""Score of names that differ in case, underscores, accents or number (`Movies`, `movie`) only."""
NEARLY = 0.99
"""Score of the best name that is another one."""
LEAST_LIKENESS = 0.6
"""Likeness below which nothing is chosen by likeness alone."""
MARGIN = 0.05
"""Lead over the next name that makes a choice clear."""
_SAMPLING = Sampling(temperature=0.0, max_tokens=256)


@dataclass(frozen=True, slots=True)
class Near:
    """A name of the graph like one that it lacks; `score` in [0, 1], 1: the same, written otherwise.

    `why` it is proposed, where that is not for its likeness.
    """

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


Choose = Callable[[str, str, Sequence[Unknown]], list[tuple[str | None, str]]]
"""(question, query, names that the graph lacks) → the name that is chosen for each, if one is, and by what.

Raises LlmError.
"""


def choose_by_similarity(
    question: str, query: str, unknown: Sequence[Unknown]
) -> list[tuple[str | None, str]]:
    """The most similar name of each, if its likeness is `LEAST_LIKENESS` and it leads by `MARGIN`."""
    return [_clearest(each) for each in unknown]


def _clearest(unknown: Unknown) -> tuple[str | None, str]:
    """Choose among the names near to one, which are sorted by likeness."""
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


def choose_by_model(
    talk: Talk, question: str, query: str, unknown: Sequence[Unknown]
) -> list[tuple[str | None, str]]:
    """The model's picks of the similar names, asked once for all that are not clear. Raises LlmError.

    Similarity chooses where the model's reply is of no use.
    """
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
    choices = dict(zip(unknown, choose_by_similarity(question, query, unknown), strict=True))
    for each, at in zip(unclear, numbers, strict=True) if len(numbers) == len(unclear) else ():
        name = each.near[at - 1].name if 1 <= at <= len(each.near) else None
        choices[each] = name, "chosen by the model" if name else "the model chose none"
    return [choices[each] for each in unknown]


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
