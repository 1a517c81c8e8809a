"""What sort of thing a question asks for, and what sort a candidate answers with: by WordNet's noun classes.

*Who* asks for a person, *where* for a place, *which film* for what films are. Where no types are declared,
what stands at an end of a relation is told by the noun that the relation is (*spouse*, *release year*), who
acts (*directed by*), where (*lives in*); and by the other ends that most of the same nodes have.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np

from clew.foundation.arrays import Float32
from clew.graph.steps import End, Step, is_tail, opposite, relation_of
from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Part,
    Qualified,
    Query,
    Related,
    Walk,
    Without,
    key_of,
)
from clew.query.vocabulary import DATE, LEAF, MOST_READ, MOSTLY, NUMBER, Vocabulary
from clew.reading.candidates import Option
from clew.reading.english import ANY_PEOPLE, BEING, FUNCTION, NARROWS_NOTHING
from clew.reading.likeness import SPELT, Likeness
from clew.reading.mentions import Mention
from clew.reading.which_way import LEAST_SCORE
from clew.text.inflection import singular
from clew.text.lexicon import CLASSES, Lexicon


def answer_with_type(
    vocabulary: Vocabulary,
    options: Sequence[Option],
    scores: Float32,
    type_asked_for: int,
    type_signs: Sequence[float],
) -> None:
    """Give scores to what answers with the type that is asked for; `scores` float32 [n + 1] are changed.

    `type_signs` is what the type of each candidate's answers tells against it, which is added to all. A walk
    to nodes of several types, or either of two, gives its score to the candidate that keeps those of this
    type; one to nodes of which none is of it, to the only candidate that goes on from there to some that are:
    *which animals are endangered*, where the species are.
    """
    places = {key_of(option.query): i for i, option in enumerate(options)}
    onward = _onward(options, lambda step: vocabulary.types_reached[step] == type_asked_for)
    for i, option in enumerate(options):
        query = option.query
        ends = _ends_of(query.part)
        target = (
            places.get(key_of(Query(query.ask, Both(query.part, OfType(type_asked_for))))) if ends else None
        )
        score = scores[i]
        is_of_others = isinstance(query.part, Both) and final_type(query.part, vocabulary) != type_asked_for
        if is_of_others or (len(ends) == 1 and not vocabulary.schema.typed[ends[0], type_asked_for]):
            further = onward.get(key_of(query), [])
            target = further[0] if len(further) == 1 else None
            score += type_signs[i]
        is_mixed = not all(vocabulary.all_of_type(end, type_asked_for) for end in ends)
        if target is not None and (is_of_others or is_mixed):
            scores[target] = max(scores[target], score)
            scores[i] = LEAST_SCORE
    scores[:-1] += type_signs


def answer_further_on(
    options: Sequence[Option],
    scores: Float32,
    others: Sequence[bool],
    rows: Sequence[bool],
    is_wanted: Callable[[Step], bool],
) -> dict[int, int]:
    """Give the score of what answers with `rows` to the only candidate that goes on to what is wanted.

    *Who was ramp lead*, where rows of shifts have the role, and *when was it inspected*, where rows of
    inspections have dates. All that answers with `others` is less likely. `scores` float32 [n + 1] are
    changed. Returns the candidates that go on, by those from which.
    """
    targets: dict[int, int] = {}
    onward = _onward(options, is_wanted)
    for i, option in enumerate(options):
        further = onward.get(key_of(option.query), []) if rows[i] else []
        if len(further) == 1:
            targets[i] = further[0]
            scores[further[0]] = max(scores[further[0]], scores[i])
    scores[:-1] += math.log(OTHER) * np.array(others)
    return targets


_ASKS_WHEN = re.compile(
    r"\W*(?:(?:and|so|but)\s+)?(?:(?:since|until)?\s*when\b(?!\s*,)|(?:(?:in|on|at|from|since)\s+)?(?:what|which)\s+"
    r"(?:date|day|year|month)\b(?=\s+(?:is|are|was|were|do|does|did|has|have|had)\b))",
    re.I,
)


def asks_when(question: str) -> bool:
    """Whether a question asks for a time: *when*, *in which year was*."""
    return _ASKS_WHEN.match(question) is not None


def reached_by(part: Part) -> Step | None:
    """The step that leads to the members of a set, or to those among which they are the first or last."""
    while isinstance(part, Extreme):
        part = part.source
    return part.step if isinstance(part, Walk | Qualified) else None


def answers_with_time(query: Query, vocabulary: Vocabulary) -> bool:
    """Whether what a query lists may be a time: dates, years, or texts."""
    step = reached_by(query.part)
    if query.key or query.ask != "list" or step is None:
        return bool(query.key) or query.ask != "list"
    if vocabulary.is_of_time(opposite(step)):
        return True
    if vocabulary.kinds_reached[step] != LEAF:
        return False
    texts = (vocabulary.graph.labels[node] for node in vocabulary.some_tails(relation_of(step))[:MOST_READ])
    return any(c.isdigit() for text in texts for c in text)  # *about 1810*


def _onward(
    options: Sequence[Option], is_wanted: Callable[[Step], bool]
) -> dict[tuple[object, ...], list[int]]:
    """The candidates that go on by a step to what is wanted, by the key of what they go on from."""
    onward: dict[tuple[object, ...], list[int]] = {}
    for i, option in enumerate(options):
        part = option.query.part
        if not isinstance(part, Walk):
            continue
        back = isinstance(part.source, Walk) and part.step == opposite(part.source.step)
        if not back and is_wanted(part.step):
            onward.setdefault(key_of(Query(option.query.ask, part.source)), []).append(i)
    return onward


def _ends_of(part: Part) -> tuple[End, ...]:
    """The ends at which what one walk leads to stands, or what either of two does; none of another part."""
    match part:
        case Walk(_, step):
            return (opposite(step),)
        case Either(Walk(_, first_step), Walk(_, second_step)):
            return (opposite(first_step), opposite(second_step))
        case _:
            return ()


def final_type(part: Part, vocabulary: Vocabulary) -> int:
    """The declared type of the members of a part, -1 where it has none."""
    match part:
        case OfType(type_, _):
            return type_
        case Walk(_, step) | Qualified(_, step, _):
            return int(vocabulary.types_reached[step])
        case Both(_, OfType(type_, _)) if type_ >= 0:
            return type_
        case Both(inner, _) | Either(inner, _) | Without(inner, _):
            return final_type(inner, vocabulary)
        case Compared(inner) | Counted(inner) | Extreme(inner) | Related(inner):
            return final_type(inner, vocabulary)
        case Anchor(node, _):
            return vocabulary.type_of(node)


_ASKED_TYPE = re.compile(r"\b(?:which|what|how many|whose)\s+((?:[\w-]+\s*){1,3})", re.I)
LEAD = re.compile(
    r"^\W*(?:(?:and|so|please|list|show|find|give|return|display|count|get|me|us|all|the|our|my|your|any|every|each|number"
    r"|what['’]?s|what|are|is|of|an?|some|names?|ids?)\s+)*",
    re.I,
)
_ASKS_WHO = re.compile(
    rf"\W*(?:(?:and|so|but|then|please|tell|show|list|name|find|give|get|me|us)\W+)*(?:whom?|{'|'.join(ANY_PEOPLE)})\b",
    re.I,
)
_JOINING = frozenset(("and", "or", "s"))
_LABELS = frozenset("name names id ids".split())
_WORD = re.compile(r"[^\W_]+")
_WHICH = re.compile(r"\b(?:which|what)\s+$", re.I)
OTHER, UNTYPED = 0.05, 0.3
"""What is left of the probability of a reading that answers with another type, or with no declared one."""


def asked_type(question: str, mentions: Sequence[Mention], likeness: Likeness) -> int:
    """The type whose name follows the word that asks, the last one of a run of such names; -1 for none."""
    if not likeness.types.shape[1]:
        return -1
    match = _ASKED_TYPE.search(question)
    if match is None:
        return _first_noun(question, mentions, likeness)
    start, stop = match.span(1)
    last_type, before = -1, start
    for word, (a, b, _) in enumerate(likeness.words):
        if a < start or b > stop:
            continue
        if last_type >= 0 and question[before:a].strip():
            break  # *languages are films*
        before = b
        if any(m.strong and m.start <= a and b <= m.stop for m in mentions):
            break
        type_ = int(likeness.exact_types[word].argmax())
        if likeness.exact_types[word, type_] >= SPELT:
            last_type = type_
        elif last_type >= 0:
            break
    return last_type


def asks_who(question: str) -> bool:
    """Whether a question asks for people, or for a group of them."""
    return _ASKS_WHO.match(question) is not None


def _first_noun(question: str, mentions: Sequence[Mention], likeness: Likeness) -> int:
    """The type that the first noun of a question names, where it is no part of a longer noun; -1 for none."""
    words = {start: word for word, (start, _, _) in enumerate(likeness.words)}
    lead, last_type = LEAD.match(question), -1
    start = lead.end() if lead else 0
    if any(_is_relation(likeness, word) for at, word in words.items() if at < start):
        return -1
    for at in _WORD.finditer(question, start):
        text = at[0].lower()
        if last_type < 0 and text in NARROWS_NOTHING:
            continue
        is_named = any(m.strong and m.start <= at.start() < m.stop for m in mentions)
        if last_type < 0 and (is_named or text in _JOINING):
            continue  # *Italian or Portuguese players*
        if text in FUNCTION or is_named:
            return last_type
        place = words.get(at.start(), -1)
        type_ = int(likeness.exact_types[place].argmax()) if place >= 0 else -1
        if type_ >= 0 and likeness.exact_types[place, type_] >= SPELT:
            last_type = type_
        elif last_type >= 0:
            lexicon = Lexicon.load()
            is_noun = bool(lexicon.classes(text)) and not lexicon.mostly_verb(text)
            return -1 if is_noun and not text.endswith("ing") else last_type
    return last_type


def _is_relation(likeness: Likeness, word: int) -> bool:
    """Whether a graph records what a word like *name* says: then it is asked for, and not what has it."""
    is_label = likeness.words[word][2] in _LABELS
    return is_label and float(likeness.exact_relations[word].max(initial=0.0)) >= SPELT


def is_kind(likeness: Likeness, question: str, row: int) -> bool:
    """Whether a content word says of which kind the answers are, which the graph does not: *which town …*."""
    like = max(table[row].max(initial=0.0) for table in (likeness.exact_relations, likeness.exact_types))
    return like < SPELT and _WHICH.search(question[: likeness.words[row][0]]) is not None


KINDS = ("kind_like", "kind_known")
"""How like the sort of answer is to what is asked for, in [0, 1], and whether both are known."""
LEAST_SHARED = 0.3
"""Ends that a smaller share of an end's nodes have say nothing of its sort."""
LEAST_LIKE, PEOPLE = 0.3, 0.9
"""A type that is less like persons, groups and animals is nobody; a noun as like persons asks for people."""
_DOINGS = ("act", "event", "process")
_SOLID = ("person", "group", "location", "artifact", "animal", "plant")
"""Classes of what is done; and of what is no time and no amount."""
MOST_RELATIONS = 2_000
"""Relations of a graph up to which other ends tell the kind of an end too: each takes a row of all ends."""
_ASKED_KIND = re.compile(
    r"\b(?:(?P<who>who|whom)|(?P<where>where)|(?P<when>when)"
    r"|(?:which|what|how many|list|name|show|find|give)(?P<noun>\b.*))",
    re.I | re.S,
)
_KIND_OF = re.compile(r"^\W*(?:kinds?|types?|sorts?)\s+of\b", re.I)
_ASKS_WHOSE = re.compile(r"\W*whose\b", re.I)
_WHICH_NOUN = re.compile(r"\W*(?:which|what|how many)\b", re.I)
_NO_NOUN = re.compile(
    r"\W*(?:who|whom|whose|when|where|how|why|(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b)",
    re.I,
)
"""What no noun that is asked for stands behind at once."""
_PLACES = frozenset("in at near".split())
_BEFORE_NOUN = FUNCTION | BEING


def _class_vector(name: str) -> Float32:
    vector = np.zeros(len(CLASSES), np.float32)
    vector[CLASSES.index(name)] = 1
    return vector


UNKNOWN = np.zeros(len(CLASSES), np.float32)
_SOMEBODY = (_class_vector("person"), _class_vector("group"), _class_vector("animal"))
_LIVING = (_class_vector("person"), _class_vector("animal"))
_BY_WORD = {"who": _class_vector("person"), "where": _class_vector("location"), "when": _class_vector("time")}


def asked_kind(question: str, mentions: Sequence[Mention]) -> Float32:
    """The classes of what a question asks for, of length 1; zeros where its words do not say."""
    match = _ASKED_KIND.search(question)
    if match is None:
        return UNKNOWN
    for name, kind in _BY_WORD.items():
        if match[name] is not None:
            return kind
    start = match.start("noun")
    of = _KIND_OF.match(question[start:])
    begin, end = _noun_behind(question, start + (of.end() if of else 0), mentions)
    return _noun_kind(question[begin:end].lower())


def asks_somebody(question: str, mentions: Sequence[Mention]) -> bool:
    """Whether a question begins with *who*, or with *which* and a noun of persons or animals."""
    return asks_who(question) or living_asked_for(question, mentions) != (0, 0)


def living_asked_for(question: str, mentions: Sequence[Mention]) -> tuple[int, int]:
    """Where the noun of persons or animals stands behind *which*, *what*, *how many*; (0, 0) for none."""
    if not _WHICH_NOUN.match(question):
        return 0, 0
    start, stop = _place_of_noun(question, mentions)
    kind = _noun_kind(question[start:stop].lower())
    return (start, stop) if max(float(kind @ one) for one in _LIVING) >= PEOPLE else (0, 0)


def asks_people(question: str, mentions: Sequence[Mention]) -> bool:
    """Whether a question begins with *who* or *whose*, or with a noun of persons alone: *pupils of*."""
    if asks_who(question) or _ASKS_WHOSE.match(question):
        return True
    start, stop = _place_of_noun(question, mentions)
    noun = question[start:stop].lower()
    return noun in ANY_PEOPLE or float(_noun_kind(noun) @ _SOMEBODY[0]) >= PEOPLE


def category_asked_for(question: str, mentions: Sequence[Mention]) -> int:
    """The mention of a value that is the noun asked for, -1 for none: *which dogs*, of a species."""
    start, stop = _place_of_noun(question, mentions)
    places = (i for i, m in enumerate(mentions) if m.candidates and m.start <= start < stop <= m.stop)
    return next(places, -1) if start < stop else -1


def of_category(part: Part, category: int) -> bool:
    """Whether what is in a set has a value itself, of those that speak of it; *their owners* have not."""
    match part:
        case Walk(Anchor(_, mention), _):
            return mention == category
        case Walk():
            return False
        case Both(left, right):
            return of_category(left, category) or of_category(right, category)
        case Either(left, right):
            return of_category(left, category) and of_category(right, category)
        case Compared(source) | Counted(source) | Extreme(source) | Related(source) | Without(source):
            return of_category(source, category)
        case _:
            return False


def _place_of_noun(question: str, mentions: Sequence[Mention]) -> tuple[int, int]:
    """Where the noun stands that is asked for: characters [start, stop), empty for none."""
    match = _WHICH_NOUN.match(question) or LEAD.match(question)
    start = match.end() if match else 0
    return (0, 0) if _NO_NOUN.match(question, start) else _noun_behind(question, start, mentions)


def _noun_behind(question: str, start: int, mentions: Sequence[Mention]) -> tuple[int, int]:
    """The head of the first noun phrase from a place on; names before it are of it (*European countries*)."""
    lexicon, noun = Lexicon.load(), (0, 0)
    for word in re.finditer(r"[^\W_]+", question[start:]):
        at = start + word.start()
        text = word[0].lower()
        is_named = any(m.strong and m.candidates and m.start <= at < m.stop for m in mentions)
        if is_named or (noun == (0, 0) and text in _BEFORE_NOUN):
            continue
        if text in FUNCTION or lexicon.mostly_verb(text) or not lexicon.classes(text):
            break
        noun = at, start + word.end()
    return noun


def _noun_kind(word: str) -> Float32:
    vector = UNKNOWN.copy()
    for name, share in (Lexicon.load().classes(word) if word else {}).items():
        vector[CLASSES.index(name)] = share
    return _unit(vector)


def names_a_thing(noun: str) -> bool:
    """Whether a noun surely means persons, groups, places or things that are made: no time and no amount."""
    kind = _noun_kind(singular(noun))
    return float(sum(kind[CLASSES.index(name)] ** 2 for name in _SOLID)) >= PEOPLE


def _unit(vector: Float32) -> Float32:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


@dataclass(eq=False)
class AnswerKinds:
    """The sorts of the ends and types of one graph."""

    vocabulary: Vocabulary
    _kinds: dict[int, Float32] = field(default_factory=dict[int, Float32])
    _relation_kinds: dict[int, Float32] = field(default_factory=dict[int, Float32])
    _numbered: dict[int, bool] = field(default_factory=dict[int, bool])

    def features(self, queries: Sequence[Query], kind_asked_for: Float32) -> Float32:
        """How like what queries answer with is to what is asked for, float32 [n, KINDS]."""
        features = np.zeros((len(queries), len(KINDS)), np.float32)
        if not kind_asked_for.any():
            return features
        for row, query in enumerate(queries):
            kind = self._part_kind(query.part) if query.ask in ("list", "count") else UNKNOWN
            if kind.any():
                features[row] = float(kind @ kind_asked_for), 1
        return features

    def answers_nobody(self, query: Query, type_: int) -> bool:
        """Whether what a query lists, of a declared type or -1, is no person or group, as it is written."""
        if type_ >= 0:
            return self.is_nobody(type_)
        match query:
            case Query("list", Walk(_, step)):
                return self.vocabulary.are_words(opposite(step))
            case _:
                return False

    def are_codes(self, query: Query) -> bool:
        """Whether what a query lists or counts has codes for names, so that it is nobody."""
        match query:
            case Query("list" | "count", Walk(_, step)):
                return self.vocabulary.are_codes(opposite(step))
            case _:
                return False

    def is_nobody(self, type_: int, *, groups: bool = True) -> bool:
        """Whether nothing that a declared type may mean is a person, an animal, or a group if these count."""
        if self.are_numbered(type_):
            return True
        kind = self._type_kind(type_)
        somebody = _SOMEBODY if groups else _LIVING
        return bool(kind.any()) and max(float(kind @ one) for one in somebody) < LEAST_LIKE

    def are_people(self, type_: int) -> bool:
        """Whether a declared type means persons."""
        return float(self._type_kind(type_) @ _SOMEBODY[0]) >= PEOPLE and not self.are_numbered(type_)

    def people_among(self, query: Query) -> Query:
        """A query for the people among what it lists, where that is of persons and of other things."""
        if query.ask not in ("list", "count") or not isinstance(query.part, Walk):
            return query
        end, schema = opposite(query.part.step), self.vocabulary.schema
        types = np.flatnonzero(schema.typed[end]).tolist()
        people = [type_ for type_ in types if self.are_people(type_)]
        others = [type_ for type_ in types if self.is_nobody(type_)]
        told_apart = {*people, *others} == {*types} and schema.typed[end].sum() == schema.nodes[end]
        if not people or not others or not told_apart:
            return query
        return replace(query, part=Both(query.part, reduce(Either, map(OfType, people))))

    def of_type_among(self, query: Query, type_: int) -> Query:
        """A query for things of the type that is asked for, where some of what it lists is of no other.

        *Which episodes had no guest*, where sponsorships have none either.
        """
        if query.ask not in ("list", "count") or final_type(query.part, self.vocabulary) not in (-1, type_):
            return query
        part = query.part
        while isinstance(part, Counted | Compared | Without | Both):
            part = part.left if isinstance(part, Without | Both) else part.source
        end = opposite(part.step) if isinstance(part, Walk) else part.end if isinstance(part, OfType) else -1
        is_mixed = (
            end >= 0 and 0 < self.vocabulary.schema.typed[end, type_] < self.vocabulary.schema.nodes[end]
        )
        return replace(query, part=Both(query.part, OfType(type_))) if is_mixed else query

    def are_doings(self, type_: int) -> bool:
        """Whether a declared type means what is done, no thing or person: *inspection*."""
        classes = Lexicon.load().classes(singular(self.vocabulary.types[type_].split()[-1]))
        return sum(classes.get(name, 0.0) for name in _DOINGS) > MOSTLY

    def are_rows(self, type_: int) -> bool:
        """Whether the things of a type are what is done, or rows without a name: shifts, and no farms."""
        return self.are_doings(type_) or self.are_numbered(type_)

    def are_numbered(self, type_: int) -> bool:
        """Whether the things of a type are rows without a name, which are called by their number.

        *team member 3*, as tables are read; not *Employee 3*, which is what somebody is called.
        """
        if type_ not in self._numbered:
            graph, label = self.vocabulary.graph, re.escape(self.vocabulary.types[type_])
            slots = np.flatnonzero(graph.types.type == type_)[:MOST_READ]
            nodes = np.unique(np.searchsorted(graph.types.offsets, slots, side="right") - 1).tolist()
            is_made_up = re.compile(rf"{label} \d+").fullmatch
            self._numbered[type_] = bool(nodes) and all(
                is_made_up(graph.labels[node]) and graph.entities[node] != graph.labels[node]
                for node in nodes
            )
        return self._numbered[type_]

    def _part_kind(self, part: Part) -> Float32:
        match part:
            case OfType(type_, end):
                return UNKNOWN if type_ >= 0 else self.of_end(end)
            case Walk(_, step) | Qualified(_, step, _):
                return self.of_end(opposite(step))
            case Both(_, OfType(type_, _)) if type_ >= 0:
                return UNKNOWN
            case Both(left, _) | Either(left, _) | Without(left, _):
                return self._part_kind(left)
            case Compared(source) | Counted(source) | Extreme(source) | Related(source):
                return self._part_kind(source)
            case Anchor():
                return UNKNOWN

    def _type_kind(self, type_: int) -> Float32:
        return _noun_kind(self.vocabulary.types[type_].split()[-1])

    def of_end(self, end: End) -> Float32:
        """The classes of what stands at an end, of length 1; zeros where it has a type or nothing says."""
        if self.vocabulary.end_types[end] >= 0:
            return UNKNOWN
        kind = self._kinds.get(end)
        if kind is None:
            kind = self._kinds[end] = _unit(self._end_kind(end) + self._kind_of_other_ends(end))
        return kind

    def _kind_of_other_ends(self, end: End) -> Float32:
        """What other ends say of one, each as far as its nodes are of them."""
        vocabulary = self.vocabulary
        if len(vocabulary.relations) > MOST_RELATIONS:
            return UNKNOWN
        shares = vocabulary.schema.together.row(end) / max(1, int(vocabulary.schema.nodes[end]))
        other_ends = [e for e in np.flatnonzero(shares >= LEAST_SHARED).tolist() if e != end]
        return sum((float(shares[e]) * self._end_kind(e) for e in other_ends), start=UNKNOWN)

    def _end_kind(self, end: End) -> Float32:
        kind = self._relation_kinds.get(end)
        if kind is None:
            kind = self._relation_kinds[end] = self._kind_of_relation(end)
        return kind

    def _kind_of_relation(self, end: End) -> Float32:
        """What the type or the values of an end say of it, or the name of its relation."""
        vocabulary = self.vocabulary
        if vocabulary.end_types[end] >= 0:
            return self._type_kind(vocabulary.end_types[end])
        if vocabulary.ends[end] in (DATE, NUMBER):
            return _class_vector("time" if vocabulary.is_of_time(end) else "quantity")
        words = [w for w in vocabulary.relations[relation_of(end)].split() if w not in BEING]
        return _tail_kind(words) if is_tail(end) else _head_kind(words)


def _tail_kind(words: Sequence[str]) -> Float32:
    """What a relation says of its tails: *spouse*, *place of birth*, *directed by*, *lives in*."""
    if not words:
        return UNKNOWN
    lexicon, last = Lexicon.load(), words[-1]
    if last == "by":
        return _BY_WORD["who"] if len(words) > 1 and lexicon.agent(words[-2]) else UNKNOWN
    if last in _PLACES:
        return _BY_WORD["where"]
    noun = words[words.index("of") - 1] if "of" in words[1:-1] else last
    return UNKNOWN if lexicon.mostly_verb(noun) else _noun_kind(noun)


def _head_kind(words: Sequence[str]) -> Float32:
    """What a relation says of its heads: *capital of*."""
    return _noun_kind(words[-2]) if len(words) > 1 and words[-1] == "of" else UNKNOWN
