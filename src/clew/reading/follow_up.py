"""Follow-ups: questions that go on from the last one, read as whole questions without a model.

    And the Cologne Depot?                  a name takes the place of the one of its kind in the last question
    Where is it? Who is his manager?        it, he, they, that city, there: the last answer, or what was asked of
    only those in Berlin                    go on from the last set
    sort them by age; how many are they?

Each way to read a follow-up is a `FollowUp`: a text for the reader, whose words are accounted for as those of
any question, and what is put around the query that it is read as; or a query that needs no reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

from clew.graph.graph import ValueKind
from clew.query.execute import Executor, OverBudget
from clew.query.lookup import lookup_of
from clew.query.notation import NotationError, read_query, write_query
from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    OnEdge,
    Part,
    Query,
    Related,
    Value,
    Walk,
    Without,
    entities_of,
    key_of,
    mapped,
    parts_of,
    steps_of,
    with_entity,
)
from clew.query.vocabulary import DATE
from clew.reading.comparisons import EARLIER, FEWER, LATER
from clew.reading.english import EXTREME, FUNCTION, PREPOSITIONS
from clew.reading.framing import TALK
from clew.reading.mentions import PLURAL, Mention
from clew.reading.near_names import near_names
from clew.reading.reader import QuestionReader
from clew.text.inflection import is_person, plural, singular
from clew.text.normalise import tokens
from clew.types import Abstention, Answer, Thread

_LEAD = re.compile(
    r"(?:(?:and|but|or|so|then|now|ok|okay|also|(?:what|how) about|what of|(?:the )?same for)\b[\s,:]*)+",
    re.I,
)
_THEM = r"(?:them|those|these|they)"
_ALL = re.compile(
    rf"(?P<count>(?:how many|count)(?:\s+(?:are|is|were|{_THEM}|there|that|of|in|all|total))*)"
    rf"|(?:who|what|which|list|show|name)(?:\s+(?:are|were|{_THEM}|all|me|of))+|(?:list|show|name)?\s*which(?:\s+ones?)?",
    re.I,
)
_SORT = re.compile(
    rf"(?:please\s+)?(?:sort|order|rank|arrange|list|show)\s+(?:(?:{_THEM}|it|all|the\s+\w+)\s+)?"
    r"(?:by|according\s+to)\s+(?P<key>.+)",
    re.I,
)
_WAY = re.compile(
    r"[\s,(]+(?:(?:in\s+)?(?P<down>desc)\w*(?:\s+order)?|(?:in\s+)?asc\w*(?:\s+order)?"
    r"|(?:the\s+)?(?P<first>(?:most|least|\w{2,}est)(?:\s+\w+)?)\s+first)\)?$",
    re.I,
)
_ONLY = re.compile(
    rf"(?:(?:show\s+|list\s+|keep\s+)?(?:me\s+)?(?:only|just)\s+(?:{_THEM}|the\s+ones?|the|ones?)?"
    rf"|{_THEM}|the\s+ones?|ones)\s+(?P<that>that|who|which|of\s+{_THEM})?\s*(?P<rest>.+)",
    re.I,
)
_OF_THEM = re.compile(rf"(?:\s+ones?)?\s+of\s+{_THEM}\b", re.I)
_THEIR = re.compile(r"\btheir\b(?P<rest>.+)", re.I)
_AMOUNT = re.compile(r"\b(?:average|mean|total|sum|combined|overall|highest|lowest|maximum|minimum)\b", re.I)
_BEST = re.compile(r"(?:the\s+)?(?:\w{3,}est|(?:most|least)\s+\w+|(?:top|bottom|first|last)\s+\d+)\b.*", re.I)
_PRONOUN = re.compile(
    r"\b(?:(?P<person>he|she|him|her|his|hers)|(?P<thing>it|its)|(?P<many>they|them|their|theirs|those|these)"
    r"|(?P<place>there)|(?P<that>that|this|these|those)\s+(?P<noun>\w+))\b(?:['’]s\b)?",
    re.I,
)
_OWN = frozenset("his its their".split())
_EXISTS = re.compile(r"\b(?:is|are|was|were)\s+there\s+\w|\bthere\s+(?:is|are|was|were)\b", re.I)
_THE = re.compile(r"(?:who|what|which|where)\s+(?:is|was|are|were)\s+(?P<rest>the\s+[\w\s-]+)", re.I)
_RESTRICTS = frozenset(
    "no not neither nor without except only more less fewer most least many much all every each both"
    " other others another".split()
)
_IDLE = (FUNCTION | TALK | PREPOSITIONS) - _RESTRICTS
Around = Callable[[Query], Query | None]


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A way to read a follow-up: a text, known to be about `name`, and what is put around its query.

    `query` is known where nothing has to be read but a name at the characters `at`. What `is_whole` may be
    read without the last question too.
    """

    text: str
    around: Around | None = None
    name: str = ""
    query: Query | None = None
    at: tuple[int, int] = (0, 0)
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class _Referent:
    """What a pronoun may stand for; `node` is it, or one of a set whose members are `part`."""

    part: Part
    node: int
    is_person: bool | None
    is_set: bool = False


def threaded(answer: Answer, query: Query | None, reader: QuestionReader, question: str) -> Answer:
    """The answer with what a follow-up needs: the whole question, its query, and the ids of its answers."""
    if answer.abstained is not None:
        return answer
    text = None
    try:
        if query is not None:
            text = write_query(query, reader.graph)
            read_again = read_query(text, lookup_of(reader.graph, reader.names))
            text = text if key_of(read_again) == key_of(query) else None
    except NotationError:
        text = None  # its answers tell what it was about
    return replace(answer, thread=Thread.after(answer, question, text))


def unmentioned(query: Query | None) -> Query | None:
    """A query without the places of a text that was read."""

    def changed(part: Part) -> Part:
        part = replace(part, mention=-1) if isinstance(part, Anchor | Counted) else part
        if isinstance(part, Compared) and isinstance(part.value, Value):
            return replace(part, value=replace(part.value, mention=-1))
        return part

    if query is None:
        return None
    other = None if query.other is None else mapped(query.other, changed)
    return replace(query, part=mapped(query.part, changed), other=other, said=())


def last_query(thread: Thread, reader: QuestionReader) -> Query | None:
    """The query of the last question; None where it has none, or the graph lacks a name of it."""
    try:
        return read_query(thread.query, lookup_of(reader.graph, reader.names)) if thread.query else None
    except NotationError:
        return None


def follow_ups(
    reader: QuestionReader, question: str, thread: Thread, query: Query | None
) -> list[FollowUp] | Abstention:
    """The ways to read a question after the last one, the likeliest first; none: it is a whole question.

    `query` is what the last question was read as. Raises OverBudget as `Executor.members`.
    """
    return _Thread(reader, question.strip().rstrip("?!. "), thread, query).follow_ups()


@dataclass(eq=False)
class _Thread:
    """A question after the last one."""

    reader: QuestionReader
    question: str
    thread: Thread
    last: Query | None

    def follow_ups(self) -> list[FollowUp] | Abstention:
        lead = _LEAD.match(self.question)
        rest = self.question[lead.end() :] if lead else self.question
        for read in (self._of_all, self._in_order):
            if found := read(rest):
                return found
        if lead or not self._is_whole(rest):
            named = self._named(rest)
            if named:
                return named
        narrowed = self._narrowed(rest, replaces=bool(lead))
        if narrowed:
            return narrowed
        return self._referring(rest)

    # the last set

    @cached_property
    def _members(self) -> list[int]:
        part = self._set
        return [] if part is None else Executor(self.reader.graph).members(part).tolist()

    @cached_property
    def _answers(self) -> list[int]:
        """The answers of the last question that are things of the graph."""
        graph = self.reader.graph
        found = (self.reader.names.exact(id) for id in self.thread.answers)
        nodes = [next((h.entity for h in hits if graph.entities[h.entity] == id), None)
                 for hits, id in zip(found, self.thread.answers, strict=True)]  # fmt: skip
        kinds = (ValueKind.NUMBER, ValueKind.DATE)
        return [n for n in nodes if n is not None and graph.values.kind[n] not in kinds]

    @cached_property
    def _set(self) -> Part | None:
        """What the last question was about as a set."""
        if self.last is None:
            whole = self._answers and len(self._answers) == self.thread.total
            return reduce(Either, map(Anchor, self._answers)) if whole else None
        part = self.last.part
        is_amount = self.last.ask in ("sum", "average", "largest", "smallest")
        return part.source if is_amount and isinstance(part, Walk) else part

    @cached_property
    def _type(self) -> int:
        """The declared type of all members of the last set, -1 where they have none."""
        types = [set(self.reader.vocabulary.types_of(n).tolist()) for n in self._members]
        return min(set.intersection(*types), default=-1) if types else -1

    @property
    def _noun(self) -> str:
        """What the members of the last set are called, in the plural."""
        if self._type >= 0:
            return plural(self.reader.vocabulary.types[self._type])
        said = re.search(
            r"\b(?:which|what|list|show|all)\s+(?:all\s+)?(?:the\s+)?(\w+)", self.thread.question, re.I
        )
        return said[1] if said and said[1].lower() not in FUNCTION else "things"

    def _of_all(self, rest: str) -> list[FollowUp]:
        """*How many are they?*, *which ones?*."""
        match = _ALL.fullmatch(rest)
        if match is None or self._set is None:
            return []
        return [FollowUp(self.question, query=Query("count" if match["count"] else "list", self._set))]

    def _in_order(self, rest: str) -> list[FollowUp]:
        """*Sort them by age, oldest first*: by what "What is the age of X?" is read as."""
        match = _SORT.fullmatch(rest)
        if match is None or self._set is None or not self._members:
            return []
        way = _WAY.search(match["key"])
        key, node, whole = match["key"][: way.start()] if way else match["key"], self._members[0], self._set
        name = self.reader.graph.label(node)

        def around(query: Query) -> Query | None:
            steps, part = list[int](), query.part
            while isinstance(part, Walk):
                steps.insert(0, part.step)
                part = part.source
            is_counted = query.ask == "count"
            if part != replace(Anchor(node), mention=getattr(part, "mention", -1)) or not steps:
                return None
            if query.ask not in ("list", "count") or (is_counted and len(steps) > 1):
                return None
            largest = self._is_downwards(way, steps[-1], is_counted)
            return Query("list", Extreme(whole, tuple(steps), is_counted, largest, 0))

        return [FollowUp(f"What is the {key} of {name}?", around, name)]

    def _is_downwards(self, way: re.Match[str] | None, step: int, is_counted: bool) -> bool:
        """Whether the largest comes first: *descending*, *oldest first*, *latest first*."""
        if way is None or not way["first"]:
            return way is not None and bool(way["down"])
        word = way["first"].lower().split()[0]
        more = {"most": "more", "least": "less"}.get(word, word.removesuffix("st") + "r")
        schema, vocabulary = self.reader.vocabulary.schema, self.reader.vocabulary
        is_time = not is_counted and (vocabulary.ends[step ^ 1] == DATE or bool(schema.years[step ^ 1]))
        if is_time and more in LATER | EARLIER:
            return more in LATER
        return more not in FEWER

    def _narrowed(self, rest: str, *, replaces: bool) -> list[FollowUp]:
        """*Only those in Berlin*, *which of them …*, *their average age*: of all such things, those of the set."""
        if self._set is None:
            return []
        only, noun, text = _ONLY.fullmatch(rest), self._noun, ""
        if _OF_THEM.search(rest):
            text, replaces = _OF_THEM.sub(f" {noun}", rest, count=1), False
            text = re.sub(r"^who\b", "which", text, flags=re.I)
        elif only and (
            only["that"] or rest.split()[0].lower() in ("only", "just", "the", "ones", "show", "keep")
        ):
            text, replaces = f"Which {noun} {_being(only['rest'], only['that'])}", False
        elif only and replaces:
            text = f"Which {noun} {_being(only['rest'], None)}"
        elif (their := _THEIR.search(rest)) and _AMOUNT.search(rest):
            text = f"{rest[: their.start()]}the{their['rest']} of the {noun}"
        elif _BEST.fullmatch(rest):
            text = (
                f"Which {noun} is {rest}"
                if rest.lower().startswith("the ")
                else f"Which {noun} is the {rest}"
            )
        elif replaces and rest and not self._is_whole(rest):
            text = f"Which {noun} {_being(rest, None)}"
        if not text:
            return []
        return [FollowUp(f"{text}?", lambda query: self._within(query, replaces=replaces))]

    def _within(self, query: Query, *, replaces: bool) -> Query | None:
        """A query of all such things as one of the last set; it takes the place of a condition of its own kind."""
        whole = self._set
        if whole is None or query.other is not None or key_of(query) == key_of(Query("list", whole)):
            return None
        if replaces or (isinstance(whole, Extreme) and whole.number == 1):
            steps = set(steps_of(query))
            while isinstance(whole, Compared | Counted | Extreme) and (
                isinstance(whole, Extreme) or steps & set(steps_of(Query("list", whole)))
            ):
                whole = whole.source
        if query.ask in ("sum", "average", "largest", "smallest"):
            if not isinstance(query.part, Walk):
                return None
            part: Part = replace(query.part, source=self._restricted(query.part.source, whole))
        else:
            part = self._restricted(query.part, whole)
        return replace(query, part=part)

    def _restricted(self, part: Part, whole: Part) -> Part:
        match part:
            case OfType(type_, _) if type_ >= 0 and type_ == self._type:
                return whole
            case Extreme(source) | Compared(source) | Counted(source) | Related(source):
                return replace(part, source=self._restricted(source, whole))
            case Without(left):
                return replace(part, left=self._restricted(left, whole))
            case Both(left, right) if isinstance(left, OfType):
                return Both(self._restricted(left, whole), right)
            case Both(left, right) if isinstance(right, OfType):
                return Both(left, self._restricted(right, whole))
            case _:
                return Both(whole, part)

    # names

    def _is_whole(self, text: str) -> bool:
        """Whether a text has words of its own beside names and words that say nothing by themselves."""
        mentions = self._mentions(text)
        return any(
            t.norm not in _IDLE and not any(m.start < t.stop and t.start < m.stop for m in mentions)
            for t in tokens(text)
            if any(c.isalnum() for c in t.norm)
        )

    def _mentions(self, text: str) -> list[Mention]:
        """The longest names and values of a text, without those that overlap them."""
        kept: list[Mention] = []
        mentions = [m for m in self.reader.name(text) if m.candidates or m.values]
        for mention in sorted(mentions, key=lambda m: (m.start - m.stop, m.start)):
            if not any(mention.overlaps(other) for other in kept):
                kept.append(mention)
        return sorted(kept, key=lambda m: m.start)

    def _named(self, rest: str) -> list[FollowUp] | Abstention:
        """*And the Cologne Depot?*: the last question with a name, or a value, in the place of one of its kind."""
        mentions = self._mentions(rest)
        if self.last is None or not rest:
            return []
        if not mentions:
            words = [t.text for t in tokens(rest) if t.norm not in FUNCTION]
            if not words or not all(w[0].isupper() for w in words):
                return []
            near = near_names(self.reader.graph, self.reader.names, [" ".join(words)])
            detail = f'I cannot place "{" ".join(words)}": no name in this graph is like it'
            return Abstention("no_entity", detail, near)
        if len(mentions) > 1 or self._is_whole(rest):
            return []
        mention, graph = mentions[0], self.reader.graph
        best = [c for c in mention.candidates if c.how == mention.candidates[0].how and c.how <= PLURAL]
        found: dict[tuple[object, ...], Query] = {}
        for candidate in best:
            for old in self._places_of(candidate.node):
                query = replace(self.last, part=with_entity(self.last.part, old, candidate.node))
                if self.last.other is not None:
                    query = replace(query, other=with_entity(self.last.other, old, candidate.node))
                found[key_of(query)] = query
        if len(found) > 1:
            olds = [graph.label(n) for c in best for n in self._places_of(c.node)]
            names = tuple(dict.fromkeys(olds if len(best) == 1 else [graph.label(c.node) for c in best]))
            told = "it may take the place of" if len(best) == 1 else "it may be"
            return Abstention("ambiguous_entity", f'"{mention.text}": {told} {" or ".join(names)}', names)
        if not found and mention.values:
            found = {key_of(q): q for q in self._with_value(mention)}
        if len(found) == 1:
            shift = len(self.question) - len(rest)
            at = (mention.start + shift, mention.stop + shift)
            return [FollowUp(self.question, query=query, at=at) for query in found.values()]
        if rest.split()[0].lower() in PREPOSITIONS:
            return []
        detail = (
            f'I cannot tell what "{mention.text}" is asked for: the last question names nothing of its kind'
        )
        return Abstention("unplaced", detail)

    def _places_of(self, node: int) -> list[int]:
        """What the last question names that is of the kind of a node."""
        if self.last is None:
            return []
        return [old for old in entities_of(self.last) if old != node and self._is_alike(old, node)]

    def _is_alike(self, old: int, node: int) -> bool:
        """Whether two nodes share a declared type, or where neither has one, a relation that leads to or from both."""
        types = [set(self.reader.vocabulary.types_of(n).tolist()) for n in (old, node)]
        if any(types):
            return bool(types[0] & types[1])
        return bool(self._ends(old) & self._ends(node))

    def _ends(self, node: int) -> set[int]:
        graph = self.reader.graph
        spans = ((side, 0, graph.out.span(node)) for side in (graph.out,))
        heads = {2 * int(r) for side, _, (start, stop) in spans for r in side.relation[start:stop]}
        start, stop = graph.into.span(node)
        return heads | {2 * int(r) + 1 for r in graph.into.relation[start:stop]}

    def _with_value(self, mention: Mention) -> Iterator[Query]:
        """The last query with a value in the place of its only one."""
        assert self.last is not None
        values = [v for p in parts_of(self.last.part) for v in _values_of(p)]
        if len(values) != 1:
            return
        (old,) = values
        for new in (v for v in mention.values if v.date == old.date):

            def changed(part: Part, new: Value = new) -> Part:
                if isinstance(part, Compared) and isinstance(part.value, Value):
                    return replace(part, value=replace(new, mention=-1))
                return part

            yield replace(self.last, part=mapped(self.last.part, changed))
            return

    # pronouns

    def _referring(self, rest: str) -> list[FollowUp] | Abstention:
        """A question in which a name stands in the place of *it*, *they*, *that city*, *there*."""
        match = next((m for m in _PRONOUN.finditer(rest) if self._is_reference(rest, m)), None)
        if match is None:
            the = _THE.fullmatch(rest)
            if the is None or self._mentions(rest) or EXTREME.search(rest):
                return []
            of = [self._put(f"{rest} of ", r, "") for r in self._referents() if not r.is_set]
            return [replace(way, is_whole=True) for way in of]
        if any(m.stop <= match.start() and m.strong and m.candidates for m in self._mentions(rest)):
            return []  # it stands for a name before it
        meant = [r for r in self._referents() if self._may_mean(match, r)]
        if match["person"]:
            meant.sort(key=lambda r: r.is_person is not True)
        if match["many"]:
            meant.sort(key=lambda r: not r.is_set)
        if not meant:
            detail = f'I cannot tell what "{match[0]}" stands for: the last question and its answer have nothing of the kind'
            return Abstention("unplaced", detail)
        before, behind = rest[: match.start()], rest[match.end() :]
        word = match[0].lower()
        own = word in _OWN or (
            word == "her" and bool(re.match(r"\s+\w", behind)) and not _begins_idle(behind)
        )
        owns = "'s" if own or word.endswith(("'s", "’s")) else ""
        places = ("in ", "at ") if match["place"] else ("",)
        return [self._put(before + place, r, owns + behind) for r in meant for place in places]

    def _is_reference(self, rest: str, match: re.Match[str]) -> bool:
        """Whether a word stands for something outside of the question."""
        if match["place"]:
            return not _EXISTS.search(rest)
        if match["that"]:
            return match["noun"].lower() == "one" or bool(self._called(singular(match["noun"].lower())))
        return True

    def _called(self, noun: str) -> list[_Referent]:
        """The referents that are called so: by their types, or by relations that lead to them."""
        vocabulary, graph = self.reader.vocabulary, self.reader.graph
        called: list[_Referent] = []
        for referent in self._referents():
            labels = [vocabulary.types[t] for t in vocabulary.types_of(referent.node).tolist()]
            start, stop = graph.into.span(referent.node)
            labels += [vocabulary.relations[int(r)] for r in set(graph.into.relation[start:stop].tolist())]
            if any(noun in map(singular, label.split()) for label in labels):
                called.append(referent)
        return called

    def _may_mean(self, match: re.Match[str], referent: _Referent) -> bool:
        if match["person"]:
            return not referent.is_set and referent.is_person is not False
        if match["thing"] or match["place"]:
            return not referent.is_set and referent.is_person is not True
        if match["that"] and match["noun"].lower() != "one":
            is_many = match["that"].lower() in ("those", "these")
            return referent.is_set == is_many and referent in self._called(singular(match["noun"].lower()))
        return bool(match["many"]) or not referent.is_set

    def _referents(self) -> list[_Referent]:
        """What may be meant: the last answer, or the set of them; then what the last question names."""
        found: list[_Referent] = []
        is_number = self.last is not None and self.last.ask != "list"
        nodes = [] if is_number else self._answers
        if len(nodes) == 1 and self.thread.total == 1:
            found.append(_Referent(Anchor(nodes[0]), nodes[0], self._is_person(nodes[0])))
        elif self._set is not None and (nodes or (self.last and self.last.ask == "count")) and self._members:
            node = self._members[0]
            found.append(_Referent(self._set, node, self._is_person(node), is_set=True))
        for node in entities_of(self.last) if self.last else ():
            if all(r.node != node for r in found):
                found.append(_Referent(Anchor(node), node, self._is_person(node)))
        return found

    def _is_person(self, node: int) -> bool | None:
        """Whether a node is called a person by its types, or else by relations that lead to it; None: unknown."""
        vocabulary, graph = self.reader.vocabulary, self.reader.graph
        types = vocabulary.types_of(node).tolist()
        if types:
            return any(is_person(vocabulary.types[t]) for t in types)
        start, stop = graph.into.span(node)
        relations = {int(r) for r in graph.into.relation[start:stop]}
        return True if any(is_person(vocabulary.relations[r]) for r in relations) else None

    def _put(self, before: str, referent: _Referent, behind: str) -> FollowUp:
        """A name in the place of a pronoun; of a set one member, in whose place the query has the set."""
        name = self.reader.graph.label(referent.node)

        def around(query: Query) -> Query | None:
            if self.last is not None and key_of(query) == key_of(self.last):
                return None  # that was asked

            def changed(part: Part) -> Part:
                return referent.part if isinstance(part, Anchor) and part.node == referent.node else part

            if referent.node not in entities_of(query):
                return None
            if not referent.is_set:
                return query
            part = mapped(query.part, changed)
            return Query("every", referent.part, part) if query.ask == "yes" else replace(query, part=part)

        return FollowUp(f"{before}{name}{behind}?", around, name)


def _values_of(part: Part) -> list[Value]:
    if isinstance(part, Compared) and isinstance(part.value, Value):
        return [part.value]
    conditions: Sequence[OnEdge] = getattr(part, "conditions", ())
    return [c.value for c in conditions if isinstance(c.value, Value)]


def _being(rest: str, that: str | None) -> str:
    """What narrows a set, as a question goes on: *in Berlin* → *are in Berlin*, *who live in* → *live in*."""
    return rest if that and not that.lower().startswith("of") else f"are {rest}"


def _begins_idle(text: str) -> bool:
    words = tokens(text)
    return bool(words) and words[0].norm in FUNCTION
