"""What a follow-up may stand for: the set of the last question, its answers, what the last turns named."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property, reduce
from itertools import takewhile

import numpy as np

from clew.graph.graph import ValueKind
from clew.graph.steps import End, Step, opposite, relation_of, step_of
from clew.index.names import NamesIndex
from clew.query.execute import Executor, difference
from clew.query.notation import NotationError, read_query, write_query
from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Part,
    Query,
    Value,
    Walk,
    Without,
    entities_of,
    key_of,
    mapped,
    parts_of,
)
from clew.query.vocabulary import DATE, LEAF, NUMBER, UNEXPLAINED
from clew.reading.certainty import Around
from clew.reading.english import ANY_PEOPLE, FUNCTION
from clew.reading.kinship import recorded_sex, sex_of
from clew.reading.reader import QuestionReader
from clew.text.inflection import is_person, person_share, plural, singular
from clew.text.lexicon import Lexicon
from clew.text.normalise import Token, tokens
from clew.types import Answer, Thread

_NOUN = re.compile(r"\b(?:which|what|list|show|all)\s+(?:all\s+)?(?:the\s+)?([\w\s-]+)", re.I)


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
    if answer.abstained is not None and answer.abstained.reason != "empty_result":
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


def changes(one: object, other: object) -> list[tuple[object, object]]:
    """Where two queries differ: the smallest parts in which one has something else, each pair once.

    >>> [(Anchor(1), Anchor(2))] == changes(Walk(Anchor(1), 4), Walk(Anchor(2), 4))
    True
    """
    if one == other:
        return []
    if not isinstance(one, Query | Part) or isinstance(one, Anchor) or type(one) is not type(other):
        return [(one, other)]
    compared = (f.name for f in fields(one) if f.compare)
    pairs = (pair for name in compared for pair in changes(getattr(one, name), getattr(other, name)))
    return list(dict.fromkeys(pairs))


def _topics(one: Query, other: Query) -> tuple[Part | Value, Part | Value] | None:
    """The only things in which two queries differ; None where they differ in more."""
    match changes(one, other):
        case [(Anchor() | Value() as old, Anchor() | Value() as new)]:
            return old, new
        case _:
            ranked = [[p for p in parts_of(query.part) if isinstance(p, Extreme)] for query in (one, other)]
    if [len(parts) for parts in ranked] != [1, 1] or ranked[0] == ranked[1]:
        return None
    old, new = ranked[0][0], ranked[1][0]
    is_same = replace(one, part=mapped(one.part, lambda part: new if part == old else part)) == other
    return (old, new) if is_same and old.source == new.source else None


def _are_people(label: str) -> bool:
    return is_person(label) or label.split()[-1] in PEOPLE


def either(parts: Iterable[Part]) -> Part:
    """What is in one of several sets."""
    return reduce(Either, parts)


def unordered(part: Part) -> Part:
    """A set without the order that was asked for."""
    return mapped(part, lambda p: p.source if isinstance(p, Extreme) and p.number == 0 else p)


def labels_of(reader: QuestionReader, node: int) -> list[str]:
    """The types of a node, then the relations that lead to it, in words."""
    vocabulary, into = reader.vocabulary, reader.graph.into
    relations = set(into.relation[slice(*into.span(node))].tolist())
    types = [vocabulary.types[t] for t in vocabulary.types_of(node).tolist()]
    return [*types, *(vocabulary.relations[r] for r in sorted(relations))]


@dataclass(eq=False)
class Things:
    """A set that a follow-up may go on from; `question` is the one that it comes from."""

    reader: QuestionReader
    part: Part
    question: str

    @cached_property
    def members(self) -> list[int]:
        """The members of the set. Raises OverBudget."""
        return Executor(self.reader.graph).members(self.part).tolist()

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
        """What the members are called, in the plural if that is read as one: not *wos* of *wo*."""
        if self.type >= 0:
            label = self.reader.vocabulary.types[self.type]
            return many if singular(many := plural(label)) == label else label
        said = _NOUN.search(self.question)
        words = list(takewhile(lambda w: w.lower() not in FUNCTION, said[1].split() if said else ()))
        return next((w for w in reversed(words) if singular(w) != w), next(iter(words), "things"))

    def are(self, type_: int) -> bool:
        """Whether a type is that of the set, or one of several that have its noun: *steam locomotive*."""
        if type_ == self.type:
            return True
        head = self.reader.vocabulary.types[type_].split()[-1]
        return self.type < 0 and head == singular(self.noun.split()[-1].lower())

    @property
    def are_people(self) -> bool:
        """Whether all members are persons, by their types or what leads to them."""
        labels = (labels_of(self.reader, node) for node in self.members[:MOST_CALLED])
        return bool(self.members) and all(any(map(_are_people, each)) for each in labels)

    def called(self, noun: str) -> bool:
        """Whether all members are called by a noun in the singular, by their types or what leads to them."""
        labels = (labels_of(self.reader, node) for node in self.members[:MOST_CALLED])
        return bool(self.members) and all(
            any(noun in map(singular, label.split()) for label in each) for each in labels
        )


PEOPLE = ANY_PEOPLE | {"staff", "personnel"}
MOST_CALLED = 50
"""Members of a set whose labels are compared with a noun."""


@dataclass(eq=False)
class LastAnswer:
    """The last question over a graph, as `query`, and its answer; `focus` is a set that is meant instead."""

    reader: QuestionReader
    thread: Thread
    query: Query | None
    read_surely: Callable[[str, Around | None], Query | None]
    """Reads a text as a whole question, with what is put around its query; None where that is not sure."""
    focus: Things | None = None

    @cached_property
    def is_behind_open(self) -> bool:
        """Whether a question that went on from `query` was left open: *it* may be what that asked for."""
        if self.query is None or self.thread.total:
            return False
        return len(Executor(self.reader.graph).members(self.query.part)) > 0

    def read(self, text: str, around: Around | None = None) -> Query | None:
        """The query of a text, without the places of it; None where it is not sure."""
        return unmentioned(self.read_surely(text, around))

    @cached_property
    def answers(self) -> list[int]:
        """The answers that are things of the graph, without numbers and dates."""
        kinds, values = (ValueKind.NUMBER, ValueKind.DATE), self.reader.graph.values
        return [n for n in nodes_of(self.thread, self.reader.names) if values.kind[n] not in kinds]

    @cached_property
    def things(self) -> Things | None:
        """The things that were asked for, or whose number or values were."""
        if self.focus is not None:
            return self.focus
        if self.query is None:
            is_whole = self.answers and len(self.answers) == self.thread.total
            return self._things(either(map(Anchor, self.answers))) if is_whole else None
        match self.query:
            case Query(ask) as query if len(pair := entities_of(query)) == 2 and (
                ask == "difference" or (ask == "yes" and isinstance(query.part, Compared))
            ):
                return self._things(either(map(Anchor, pair)))  # what was compared
            case Query("list", Walk(source, step), by=(back,)) if back == opposite(step):
                return self._things(source)  # what each of them has
            case _:
                return self._things(self._of_values(self.query.part))

    @cached_property
    def owners(self) -> Things | None:
        """The things of which texts were asked for, where each text is that of one alone: *sheet numbers*."""
        repeated, owners = self.reader.vocabulary.schema.repeated, self.owners_of_texts
        part = self.things.part if self.things else None
        return (
            owners if owners and isinstance(part, Walk) and not repeated[opposite(part.step)] else self.things
        )

    @cached_property
    def owners_of_texts(self) -> Things | None:
        """The things of which texts were asked for, which have nothing themselves."""
        match self.things.part if self.things else None:
            case Walk(source, step) if not isinstance(source, Anchor) and (
                self.reader.vocabulary.kinds_reached[step] == LEAF
            ):
                return self._things(source)
            case _:
                return None

    def _things(self, part: Part) -> Things:
        return Things(self.reader, part, self.thread.question)

    def _of_values(self, part: Part) -> Part:
        """The set whose numbers or dates a part is."""
        kinds = self.reader.vocabulary.kinds_reached
        while isinstance(part, Walk) and kinds[part.step] in (NUMBER, DATE):
            part = part.source
        return part

    @cached_property
    def earlier(self) -> list[Query]:
        """The queries of the turns before, the last one first."""
        read = (
            unmentioned(query_of(replace(self.thread, query=text), self.reader))
            for text in self.thread.earlier
        )
        return [query for query in read if query is not None]

    @cached_property
    def run(self) -> list[tuple[Query, Part | Value]]:
        """The queries at the end that ask the same of one thing each, with that; in their order.

        The thing may be named, or be the best of a set: *who wrote the longest book, and the shortest?*.
        """
        found: list[tuple[Query, Part | Value]] = []
        after = unmentioned(self.query)
        for query in self.earlier if after is not None else ():
            pair = _topics(query, after) if after is not None else None
            if pair is None or after is None or (found and pair[1] != found[0][1]):
                break
            found = [(query, pair[0]), *(found or [(after, pair[1])])]
            after = query
        return found

    def is_of(self, token: Token, step: Step) -> bool:
        """Whether a word is like a relation, or was said in the last question."""
        said = {t.norm[:4] for t in tokens(self.thread.question) if t.norm not in FUNCTION}
        like = self.reader.compare(token.text)
        return token.norm[:4] in said or bool(
            len(like.words) and like.relations[0, relation_of(step)] >= UNEXPLAINED
        )

    def about(self, part: Part) -> LastAnswer:
        """With another set in focus: that of a turn before, or one thing."""
        return replace(self, focus=self._things(self._of_values(part)))

    def before_count(self) -> LastAnswer:
        """With the set of the turn before in focus, of which the last one only counted some."""
        query, before = self.query, next(iter(self.earlier), None)
        if query is None or before is None or query.ask != "count" or before.ask != "list":
            return self
        counted, whole = self._things(self._of_values(query.part)), self._things(self._of_values(before.part))
        return replace(self, focus=whole) if set(counted.members) < set(whole.members) else self

    def sets(self) -> Iterator[Things]:
        """The sets that a number of things may be meant of, the likeliest first."""
        if self.query is not None and self.query.ask in ("list", "count") and self.owners is not None:
            yield self.owners
        yield from self.of_run()
        if self.query is not None and len(named := entities_of(self.query)) > 1:
            yield self._things(either(map(Anchor, named)))
        for query in filter(None, (self.query, *self.earlier)):
            part = self._of_values(query.part)
            while isinstance(part, Without | Extreme):
                part = part.left if isinstance(part, Without) else part.source
                yield self._things(part)
            yield self._things(part)
        if self.query is not None:
            yield from map(self._things, parts_of(self.query.part))

    def of_run(self) -> Iterator[Things]:
        """The answers of the run together; its topics; and what it went over from these: *depots in York*."""
        topics = [topic for _, topic in self.run if not isinstance(topic, Value)]
        if not topics or len(topics) < len(self.run):
            return
        kinds = self.reader.vocabulary.kinds_reached
        ways = [
            [part for part in parts_of(query.part) if topic in parts_of(part)] for query, topic in self.run
        ]
        together = [
            either(parts)
            for parts in zip(*ways, strict=False)
            if not isinstance(parts[0], Walk) or kinds[parts[0].step] not in (NUMBER, DATE)
        ]
        part = self.query.part if self.query else None
        are_texts = isinstance(part, Walk) and kinds[part.step] == LEAF
        is_list = self.query is not None and self.query.ask == "list" and not are_texts
        first = together[:1] if is_list else []
        yield from map(self._things, [*first, *together[: len(first) - 1 if first else None : -1]])

    def of_number(self, number: int, noun: str = "") -> list[Things]:
        """The sets of so many things that a noun in the singular may call, each once."""
        found: dict[tuple[int, ...], Things] = {}
        for things in self.sets():
            if len(things.members) == number and (not noun or things.called(noun)):
                found.setdefault(tuple(things.members), things)
        return list(found.values())

    def others(self) -> Iterator[Things]:
        """What is left of a set of the turns before without the last one."""
        here = self.things
        for things in self.sets() if here is not None else ():
            inside, own = set(things.members), set(here.members if here else ())
            if own < inside and here is not None:
                yield replace(things, part=Without(things.part, here.part))
        if here is not None and here.type >= 0 and not isinstance(here.part, OfType):
            yield replace(here, part=Without(OfType(here.type), here.part))

    def in_turn(self) -> Iterator[list[int]]:
        """Lists of things of which one may be meant by its place: the answers, what the turns were about."""
        queries, executor = [query for query, _ in self.run], Executor(self.reader.graph)
        topics = [executor.members(t).tolist() for _, t in self.run if not isinstance(t, Value)]
        if queries and all(query.ask == "list" for query in queries):
            each = [executor.members(query.part).tolist() for query in queries]
            if all(len(nodes) == 1 for nodes in each):
                yield [nodes[0] for nodes in each]
        if topics and all(len(nodes) == 1 for nodes in topics):
            yield [nodes[0] for nodes in topics]
        if len(self.answers) == self.thread.total:
            yield self.answers

    @cached_property
    def referents(self) -> list[Referent]:
        """The last answer, or the set of several; then what the last question names."""
        found: list[Referent] = []
        query, things = self.query, self.things
        nodes = self.answers if query is None or query.ask == "list" else []
        if query is not None and query.ask in ("largest", "smallest") and isinstance(query.part, Walk):
            best = Extreme(query.part.source, (query.part.step,), False, query.ask == "largest")
            nodes = Executor(self.reader.graph).members(best).tolist()
            things = replace(things, part=best) if things else None
        is_one = len(nodes) == 1 and self.thread.total == 1
        if self.focus is not None or (not is_one and things and not isinstance(things.part, Anchor)):
            nodes = things.members if things else []
            is_one = len(nodes) == 1
        if is_one:
            found.append(self.one(nodes[0]))
        elif things is not None and things.members and not isinstance(things.part, Anchor):
            found.append(replace(self.one(things.members[0]), part=things.part, is_set=True))
        owners = self.owners_of_texts
        if owners is not None and owners.members:
            found.append(
                replace(self.one(owners.members[0]), part=owners.part, is_set=len(owners.members) > 1)
            )
        if self.named_in_open is not None:
            return [self.named_in_open]
        named = entities_of(self.query) if self.query else ()
        found += [self.one(n) for n in named if all(r.is_set or r.node != n for r in found)]
        return [*found, *(r for r in self.met if all(r.node != other.node for other in found))]

    @cached_property
    def named_in_open(self) -> Referent | None:
        """The one thing that a question names which was not answered."""
        if self.query is not None or self.thread.total:
            return None
        latest = self.thread.question.rstrip("?!. ").rpartition("? ")[2]
        named = [
            [c.node for c in m.candidates] for m in self.reader.name(latest) if m.strong and m.candidates
        ]
        return self.one(named[0][0]) if len(named) == 1 and len(named[0]) == 1 else None

    @cached_property
    def told(self) -> list[int]:
        """What the last questions name, and the last answers: others are asked for by *other* and *else*."""
        queries = filter(None, (self.query, *self.earlier))
        return list(dict.fromkeys([*(n for query in queries for n in entities_of(query)), *self.answers]))

    def without_told(self, query: Query) -> Query | None:
        """What is left without what was told; none where it has nothing of that, and asks for no others."""
        members = set(Executor(self.reader.graph).members(query.part).tolist())
        told = [node for node in self.told if node in members]
        for node in told:
            query = replace(query, part=Without(query.part, Anchor(node)))
        match query.part:
            case Walk(Walk(_, step), back) if back == opposite(step):
                return query  # the way back leaves out where it came from
            case _:
                return query if told else None

    def one(self, node: int) -> Referent:
        """One thing; whether it is a person its types say, or else the relations that lead to it."""
        labels = labels_of(self.reader, node)
        types = len(self.reader.vocabulary.types_of(node))
        is_one, sex = any(map(_are_people, labels[:types] if types else labels)) or None, self._sex(node)
        if types and not is_one and not sex and not any(map(person_share, labels[:types])):
            is_one = False
        begin, end = self.reader.graph.out.span(node)
        return Referent(Anchor(node), node, is_one, sex=sex, is_value=not types and begin == end)

    def is_group(self, referent: Referent) -> bool:
        """Whether one thing is many people: a jury, a company."""
        nouns = (label.split()[-1] for label in labels_of(self.reader, referent.node))
        return not referent.is_value and any(Lexicon.load().classes(n).get("group", 0.0) > 0.5 for n in nouns)

    @cached_property
    def met(self) -> list[Referent]:
        """The one thing on the way to the answer that is called *a* or *an*: *who has a dog?*."""
        query, found = self.query, list[Referent]()
        if query is None or query.ask != "list" or not re.search(r"\ban?\s", self.thread.question):
            return []
        for part in parts_of(query.part):
            if isinstance(part, Walk) and not isinstance(part.source, Anchor):
                way = Both(part.source, Walk(query.part, opposite(part.step)))
                nodes = Executor(self.reader.graph).members(way).tolist()
                found += map(self.one, nodes if len(nodes) == 1 else ())
        return found

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

    def called(self, noun: str) -> list[Referent]:
        """The referents that a noun in the singular calls."""
        return [
            r
            for r in self.referents
            if any(noun in map(singular, label.split()) for label in labels_of(self.reader, r.node))
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
