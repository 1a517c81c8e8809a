"""What a follow-up may stand for: the set of the last question, its answers, and what it named."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np

from clew.graph.graph import ValueKind
from clew.graph.steps import End, step_of
from clew.index.names import NamesIndex
from clew.query.execute import Executor, difference
from clew.query.notation import NotationError, read_query, write_query
from clew.query.tree import (
    Anchor,
    Compared,
    Counted,
    Either,
    OfType,
    Part,
    Query,
    Value,
    Walk,
    entities_of,
    key_of,
    mapped,
)
from clew.query.vocabulary import DATE, NUMBER
from clew.reading.english import FUNCTION
from clew.reading.kinship import recorded_sex, sex_of
from clew.reading.reader import QuestionReader
from clew.text.inflection import is_person, person_share, plural, singular
from clew.types import Answer, Thread

_NOUN = re.compile(r"\b(?:which|what|list|show|all)\s+(?:all\s+)?(?:the\s+)?(\w+)", re.I)


@dataclass(frozen=True, slots=True)
class Referent:
    """What a word may stand for: `part`, which is `node`, or a set of which it is one."""

    part: Part
    node: int
    is_person: bool | None
    is_set: bool = False
    sex: str = ""
    """Of a person, where the graph tells it."""
    is_value: bool = False
    """Whether nothing is recorded of it, not even a type: *Private* of `kind`."""


def threaded(answer: Answer, query: Query, reader: QuestionReader, question: str) -> Answer:
    """The answer with what a follow-up needs of it; `question` is whole."""
    if answer.abstained is not None:
        return answer
    try:
        text: str | None = write_query(query, reader.graph)
        read_again = read_query(str(text), reader.lookup)
        text = text if key_of(read_again) == key_of(query) else None
    except NotationError:
        text = None  # its answers tell what it was about
    return replace(answer, thread=Thread.after(answer, question, text))


def query_of(thread: Thread, reader: QuestionReader) -> Query | None:
    """The query of a thread; None where it has none, or the graph lacks a name of it."""
    try:
        return read_query(thread.query, reader.lookup) if thread.query else None
    except NotationError:
        return None


def unmentioned(query: Query | None) -> Query | None:
    """A query without places of the text that it was read from."""

    def changed(part: Part) -> Part:
        part = replace(part, mention=-1) if isinstance(part, Anchor | Counted) else part
        if isinstance(part, Compared) and isinstance(part.value, Value):
            return replace(part, value=replace(part.value, mention=-1))
        return part

    if query is None:
        return None
    other = None if query.other is None else mapped(query.other, changed)
    return replace(query, part=mapped(query.part, changed), other=other, said=())


def nodes_of(thread: Thread, names: NamesIndex) -> list[int]:
    """The first answers of a thread that are nodes of the graph."""
    entities, nodes = names.graph.entities, list[int]()
    for id in thread.ids:
        nodes += [hit.entity for hit in names.exact(id) if entities[hit.entity] == id][:1]
    return nodes


@dataclass(eq=False)
class LastAnswer:
    """The last question over one graph, as `query`, and its answer."""

    reader: QuestionReader
    thread: Thread
    query: Query | None

    @cached_property
    def answers(self) -> list[int]:
        """The answers that are things of the graph, without numbers and dates."""
        kinds, values = (ValueKind.NUMBER, ValueKind.DATE), self.reader.graph.values
        return [n for n in nodes_of(self.thread, self.reader.names) if values.kind[n] not in kinds]

    @cached_property
    def set(self) -> Part | None:
        """The things that were asked for, or whose number or values were."""
        if self.query is None:
            is_whole = self.answers and len(self.answers) == self.thread.total
            return reduce(Either, map(Anchor, self.answers)) if is_whole else None
        part, kinds = self.query.part, self.reader.vocabulary.kinds_reached
        while isinstance(part, Walk) and kinds[part.step] in (NUMBER, DATE):
            part = part.source
        return part

    @cached_property
    def members(self) -> list[int]:
        """The members of the set. Raises OverBudget."""
        return [] if self.set is None else Executor(self.reader.graph).members(self.set).tolist()

    @cached_property
    def type(self) -> int:
        """The declared type of all members, -1 where they share none."""
        if not self.members:
            return -1
        members, executor = np.array(self.members), Executor(self.reader.graph)
        types = sorted(self.reader.vocabulary.types_of(self.members[0]).tolist())
        shared = (t for t in types if not len(difference(members, executor.members(OfType(t)))))
        return next(shared, -1)

    @cached_property
    def noun(self) -> str:
        """What the members are called, in the plural."""
        if self.type >= 0:
            return plural(self.reader.vocabulary.types[self.type])
        said = _NOUN.search(self.thread.question)
        return said[1] if said and said[1].lower() not in FUNCTION else "things"

    @cached_property
    def referents(self) -> list[Referent]:
        """The last answer, or the set of several; then what the last question names."""
        found: list[Referent] = []
        nodes = self.answers if self.query is None or self.query.ask == "list" else []
        if len(nodes) == 1 and self.thread.total == 1:
            found.append(self._one(nodes[0]))
        elif self.set is not None and self.members and not isinstance(self.set, Anchor):
            found.append(replace(self._one(self.members[0]), part=self.set, is_set=True))
        named = entities_of(self.query) if self.query else ()
        return [*found, *(self._one(n) for n in named if all(r.is_set or r.node != n for r in found))]

    @cached_property
    def told(self) -> list[int]:
        """What the last question names, and its answers: others are asked for by *other* and *else*."""
        return [*(entities_of(self.query) if self.query else ()), *self.answers]

    def _one(self, node: int) -> Referent:
        """One thing; whether it is a person its types say, or else the relations that lead to it."""
        labels = self._labels(node)
        types = len(self.reader.vocabulary.types_of(node))
        is_one = any(map(is_person, labels[:types] if types else labels)) or None
        if types and not any(map(person_share, labels[:types])):
            is_one = False
        begin, end = self.reader.graph.out.span(node)
        is_value = not types and begin == end
        return Referent(Anchor(node), node, is_one, sex=self._sex(node), is_value=is_value)

    def _sex(self, node: int) -> str:
        """The sex of a person: as recorded, or as the name of what leads to it says, *mother*."""
        graph, vocabulary = self.reader.graph, self.reader.vocabulary
        for sex in ("female", "male"):
            recorded = recorded_sex(vocabulary, sex)
            if recorded is not None and graph.find_triple(node, *recorded) >= 0:
                return sex
        into = graph.into.relation[slice(*graph.into.span(node))].tolist()
        said = {sex_of(word) for r in set(into) for word in vocabulary.relations[r].split()} - {""}
        return said.pop() if len(said) == 1 else ""

    def _labels(self, node: int) -> list[str]:
        """The types of a node, then the relations that lead to it, in words."""
        vocabulary, into = self.reader.vocabulary, self.reader.graph.into
        relations = set(into.relation[slice(*into.span(node))].tolist())
        types = [vocabulary.types[t] for t in vocabulary.types_of(node).tolist()]
        return [*types, *(vocabulary.relations[r] for r in sorted(relations))]

    def called(self, noun: str) -> list[Referent]:
        """The referents that a noun in the singular calls."""
        return [
            r
            for r in self.referents
            if any(noun in map(singular, label.split()) for label in self._labels(r.node))
        ]

    def alike(self, node: int) -> list[int]:
        """What the last question names that is of the kind of a node: by type, else by a relation of both."""
        named = entities_of(self.query) if self.query else ()
        return [old for old in named if old != node and self._are_alike(old, node)]

    def _are_alike(self, old: int, node: int) -> bool:
        types = [set(self.reader.vocabulary.types_of(n).tolist()) for n in (old, node)]
        return bool(types[0] & types[1] if any(types) else self._ends(old) & self._ends(node))

    def _ends(self, node: int) -> set[End]:
        """The ends of relations at which a node stands."""
        sides = enumerate((self.reader.graph.out, self.reader.graph.into))
        return {step_of(r, at) for at, side in sides for r in side.relation[slice(*side.span(node))].tolist()}
