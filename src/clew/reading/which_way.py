"""Which way a relation leads from a name, where the grammar around the name says so.

Where the same things are heads and tails, only the place of a name beside the relation's own word tells
*what feeds B1* from *what B1 feeds*. A relation's name says who does what: of a verb (`feeds`, `flows into`,
`linked to`) the head is who acts; before *by* (`managed by`) the tail; a noun (`parent`, also `broader`) says
what the tail is to the head, before *of* (`part of`) what the head is to the tail.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Float32
from clew.graph.steps import Step, backward, forward, head_end, opposite, relation_of, tail_end
from clew.query.tree import Anchor, Both, OfType, Part, Query, Walk, key_of
from clew.query.vocabulary import UNEXPLAINED, Vocabulary
from clew.reading.candidates import Option
from clew.reading.english import BEING, DOING, HAVING, INDEFINITE, MUTUAL, PREPOSITIONS, RELATIVE
from clew.reading.likeness import Likeness
from clew.reading.mentions import Mention
from clew.text.inflection import is_participle, person_share, singular
from clew.text.lexicon import Lexicon

SAME_AGENT = 0.5
"""Likeness of two nouns for who does something, from which they are of one kind: *teacher*, *educator*."""
_PREPOSITIONS = frozenset("at by for from in into of on over to under with within".split())
_AGENT = ("er", "or")


def verb_of_another_part(
    text: str, mentions: Sequence[Mention], likeness: Likeness, rows: Sequence[int], relation: int, label: str
) -> str | None:
    """The verb of a text, among its `rows`, that gives its subject another part than a relation does."""
    words = label.split()
    if len(words) < 2 or words[-1] not in _PREPOSITIONS:
        return None
    lexicon = Lexicon.load()
    for row in rows:
        start, stop, verb = likeness.words[row]
        if not lexicon.verb(verb) or verb == words[0]:
            continue
        has_object = any(m.start == stop + 1 for m in mentions)
        if is_participle(words[0]):
            is_passive = not BEING.isdisjoint(text[:start].lower().split()[-2:])
            if not is_passive and _are_of_one_agent(verb, words[0]):
                return verb
        elif has_object and likeness.relations[row, relation] < UNEXPLAINED and lexicon.verb(words[0]):
            return verb
    return None


def _are_of_one_agent(verb: str, participle: str) -> bool:
    """Whether who does one thing is of the kind of who does the other: *teaches*, *educated*."""
    lexicon = Lexicon.load()
    agents = [noun for noun in lexicon.agent(participle) if noun.endswith(_AGENT)]
    return any(
        lexicon.similarity(one, other) >= SAME_AGENT for one in lexicon.agent(verb) for other in agents
    )


MOST_STEPS = 4


@dataclass(frozen=True, slots=True)
class StepChain:
    """A chain of steps from one name, the first first; `type`: that of what it keeps at its end, or -1."""

    mention: int
    steps: tuple[Step, ...]
    type: int = -1


def chain_of(part: Part) -> StepChain | None:
    """The chain that a part is, None where it is none from one name in the question."""
    type_ = -1
    if isinstance(part, Both) and isinstance(part.right, OfType):
        part, type_ = part.left, part.right.type
    steps: list[Step] = []
    while isinstance(part, Walk):
        steps.append(part.step)
        part = part.source
    if not isinstance(part, Anchor) or part.mention < 0 or not 0 < len(steps) <= MOST_STEPS:
        return None
    return StepChain(part.mention, tuple(reversed(steps)), type_)


def in_order(near: Float32, counts: NDArray[np.int64], right: Sequence[bool]) -> Float32:
    """How much of some words chains say if these stand in their order, float32 [n, 2].

    `near` float32 [n, words, MOST_STEPS] how like the words are to each step, of which chain i has
    `counts[i]`; `right` which words stand behind the name. The words left of it are read first, then those
    right of it first; each word is said by the step of the word before it, or by a later one.
    """
    left = [i for i, behind in enumerate(right) if not behind][::-1]
    behind = [i for i, is_behind in enumerate(right) if is_behind]
    is_step = np.arange(MOST_STEPS)[None] < counts[:, None]
    shares = [
        _share_in_order(np.where(is_step[:, None], near, -np.inf)[:, order])
        for order in (left + behind, behind + left)
    ]
    return np.stack(shares, axis=1)


def _share_in_order(near: Float32) -> Float32:
    best = near[:, 0]
    for word in range(1, near.shape[1]):
        best = np.maximum.accumulate(best, axis=1) + near[:, word]
    return best.max(axis=1) / near.shape[1]


LEAST_SCORE = -30.0
"""The score of a candidate that another one takes the place of."""
LEAST_SHARED_ENDS = 0.1
"""Of the end that has fewer nodes, the share that the other end has too, from which on both are of one kind:
a few films that are called like their writers are no chain of writers."""
_ARTICLES = frozenset("the a an".split())
_LEADING = BEING | DOING | _ARTICLES | HAVING
_DETERMINERS = _ARTICLES | frozenset("s whose its his her their any all some no".split())
MOSTLY_PERSONS = 0.9
"""Share of the uses of a noun from which on it is for persons."""
_FROM_TO = {"to": "from", "from": "to"}
_LEAST_STEM = 4
"""Letters of a verb from which a longer word that begins with it is taken for its noun."""
_OF_DOER = (["of"], ["for"], ["to"])
_NOUN_AND_THAN = 2
"""Words after a comparative up to which *than* is of it: *broader than*, *a broader concept than*."""
_WORD_OR_POSSESSIVE = re.compile(r"['’]s\b|[^\W_]+")


class NameRole(Enum):
    """What a name is: who acts, who is acted on, whose *noun* something is, or that *noun* itself."""

    AGENT = "agent"
    PATIENT = "patient"
    OWNER = "owner"
    OWNED = "owned"


_ENDS = {
    "verb": (NameRole.AGENT, NameRole.PATIENT),
    "passive": (NameRole.PATIENT, NameRole.AGENT),
    "noun": (NameRole.OWNER, NameRole.OWNED),
    "noun of": (NameRole.OWNED, NameRole.OWNER),
}
"""What head and tail are, by what the name of a relation is."""


@dataclass(frozen=True, slots=True)
class RelationName:
    """The name of a relation: what it is (of `_ENDS`), its word, and the preposition behind it, if any."""

    kind: str
    word: str
    preposition: str

    @property
    def mutual(self) -> bool:
        """Whether it holds both ways though it may be recorded one way only: *borders*, *interacts with*."""
        together = self.preposition in ("with", "between") and not self.word.endswith("ed")
        return together or singular(self.word) in MUTUAL


def goes_both_ways(vocabulary: Vocabulary, relation: int) -> bool:
    """Whether the things at both ends of a relation are of one kind, so that each way means another thing."""
    heads, tails = head_end(relation), tail_end(relation)
    if vocabulary.canonical[heads] == vocabulary.canonical[tails]:
        return False
    if vocabulary.end_types[heads] == vocabulary.end_types[tails] >= 0:
        return True
    schema = vocabulary.schema
    if not schema.together.meet(heads, tails):
        return False
    shared = int(schema.together.row(heads)[tails])
    return shared > LEAST_SHARED_ENDS * int(min(schema.nodes[heads], schema.nodes[tails]))


class WhichWay:
    """The steps that one question says from each of its names."""

    def __init__(self, vocabulary: Vocabulary, question: str, mentions: Sequence[Mention]) -> None:
        self._vocabulary, self._question, self._mentions = vocabulary, question, mentions
        self._names: dict[int, RelationName | None] = {}
        self._steps_asked: dict[tuple[int, int, int], int | None] = {}

    def put_right(self, options: Sequence[Option], scores: Float32) -> None:
        """Give the score of each candidate that goes a wrong way to the one that goes the right way.

        Where the graph has nothing that way none is right, unless the relation is mutual. `scores` float32
        [n + 1], that of none last, are changed.
        """
        # Those that walk over a relation whose name tells which way it may be asked.
        names = [[self._name(relation_of(s)) for s in _walked(option.query)] for option in options]
        turned = [i for i, of_option in enumerate(names) if any(of_option)]
        if not turned:
            return
        places = {key_of(option.query): i for i, option in enumerate(options)}
        for i in turned:
            option = options[i]
            right = Query(option.query.ask, self._turned(option.query.part))
            if right == option.query:
                continue
            target = places.get(key_of(right), len(options))
            if target == len(options) and any(name is not None and name.mutual for name in names[i]):
                continue
            scores[target] = np.logaddexp(scores[target], scores[i])
            scores[i] = LEAST_SCORE

    def _turned(self, part: Part) -> Part:
        """A part with its steps the way that the question says, where it says one."""
        if isinstance(part, Both) and isinstance(part.right, Anchor) and isinstance(part.left, Walk):
            # *Does X manage Y*: both names say which way.
            walk, anchor = part.left, part.right
            name_steps = (
                self._step_from(walk.source, walk.step),
                self._step_from_name(anchor.mention, relation_of(walk.step)),
            )
            steps = {
                step
                for step in (name_steps[0], None if name_steps[1] is None else opposite(name_steps[1]))
                if step is not None
            }
            if len(steps) == 1:
                return replace(part, left=Walk(self._turned(walk.source), self._canonical(*steps)))
            return part
        if isinstance(part, Walk):
            step = self._step_from(part.source, part.step)
            return Walk(self._turned(part.source), part.step if step is None else self._canonical(step))
        inner = {f.name: getattr(part, f.name) for f in fields(part)}
        return replace(part, **{n: self._turned(p) for n, p in inner.items() if isinstance(p, Part)})

    def _step_from(self, source: Part, step: Step) -> Step | None:
        match source:
            case Anchor(_, mention):
                return self._step_from_name(mention, relation_of(step))
            case Walk():
                return self._step_from_something(relation_of(step))
            case _:
                return None

    def _canonical(self, step: Step) -> Step:
        return int(self._vocabulary.canonical[step])

    def _step_from_name(self, mention: int, relation: int) -> Step | None:
        """The step along a relation that is asked from a name; None where nothing says which."""
        if mention < 0:
            return None
        at = self._mentions[mention]
        return self._cached_step(relation, at.start, at.stop)

    def _step_from_something(self, relation: int) -> Step | None:
        """The step that is asked from what has no name: *something that feeds X*, where it is said once."""
        places = [(place, place + len(word)) for place, word in self._words if word in INDEFINITE]
        return self._cached_step(relation, *places[0]) if len(places) == 1 else None

    def _cached_step(self, relation: int, start: int, stop: int) -> Step | None:
        key = relation, start, stop
        if key not in self._steps_asked:
            self._steps_asked[key] = self._step_between(relation, start, stop)
        return self._steps_asked[key]

    def _step_between(self, relation: int, start: int, stop: int) -> Step | None:
        name = self._name(relation)
        if name is None:
            return None
        before = [word for place, word in self._words if place < start]
        behind = [word for place, word in self._words if place >= stop]
        role = _role_before(behind, before, name) or _role_behind(before, name)
        head, tail = _ENDS[name.kind]
        return forward(relation) if role == head else backward(relation) if role == tail else None

    def _name(self, relation: int) -> RelationName | None:
        """The name of a relation that may be gone both ways, if it is simple enough to tell which."""
        if relation not in self._names:
            both_ways = goes_both_ways(self._vocabulary, relation)
            self._names[relation] = name_of(self._vocabulary.relations[relation]) if both_ways else None
        return self._names[relation]

    @cached_property
    def _words(self) -> list[tuple[int, str]]:
        """The words of the question with where they start, in lower case."""
        return [(m.start(), m[0].lower().lstrip("'’")) for m in _WORD_OR_POSSESSIVE.finditer(self._question)]


def name_of(label: str) -> RelationName | None:
    """What the label of a relation is as a name; None where it is of more words than tell."""
    words = label.split()
    while len(words) > 1 and words[0] in _LEADING:
        words = words[1:]
    words = [words[0], *(w for w in words[1:] if w not in _ARTICLES)]
    word, *further = words
    if len(further) > 1 or (further and further[0] not in PREPOSITIONS):
        return None
    lexicon, preposition = Lexicon.load(), "".join(further)
    is_noun = bool(lexicon.classes(word)) and not (
        word.endswith(("ed", "ing")) and lexicon.lemmas(word)[:1] != (word,)
    )
    if preposition == "by":
        return RelationName("passive", word, "by")
    if preposition == "of" and is_noun:
        return RelationName("noun of", word, "of")
    if preposition or (lexicon.verb(word) and (word.endswith("s") or not is_noun)):
        return RelationName("verb", word, preposition)
    return RelationName("noun", word, "")


def tail_told(text: str, label: str, places: Sequence[tuple[int, int]]) -> int | None:
    """Which of two names a statement makes the tail of a relation; None where its words do not tell.

    *X is based at Y*, *the delivery from X to Y*; *X funds Y*, *the funding of Y by X*; *X is a parent of Y*.
    """
    name = name_of(label)
    if name is None or name.mutual:
        return None
    words = [(m.start(), m[0].lower()) for m in _WORD_OR_POSSESSIVE.finditer(text)]
    outside = [(at, word) for at, word in words if not any(a <= at < b for a, b in places)]
    said = [at for at, word in outside if _is_word(word, name) or _is_made_of(word, name)]
    before = [[w for at, w in words if at < start and w not in _ARTICLES] for start, _ in places]
    if name.kind == "noun":
        behind_each = [[w for at, w in words if at >= stop] for _, stop in places]
        roles = [
            _role_before(b, a, name) or _role_behind(a, name)
            for a, b in zip(before, behind_each, strict=True)
        ]
        tails = {i if role == NameRole.OWNED else 1 - i for i, role in enumerate(roles) if role is not None}
        return tails.pop() if len(tails) == 1 else None
    last = [spoken[-1] if spoken else "" for spoken in before]
    heads = [i for i, word in enumerate(last) if word and word == _FROM_TO.get(name.preposition)]
    tails = [i for i, word in enumerate(last) if said and word and word == name.preposition]
    heads += [i for i, word in enumerate(last) if said and word == "by" != name.preposition]
    told = {*tails, *(1 - i for i in heads)}
    if told or name.preposition or not said or not name.word.endswith("s"):
        return told.pop() if len(told) == 1 else None
    which = max(
        (i for i, (_, stop) in enumerate(places) if stop <= said[0]), key=lambda i: places[i], default=-1
    )
    between = {word for at, word in outside if which >= 0 and places[which][1] <= at < said[0]}
    behind = next((word for at, word in words if at > said[0] and word not in _ARTICLES), "")
    verb = dict(outside)[said[0]]
    is_active = between <= DOING | RELATIVE | HAVING and not verb.endswith("ing")
    return 1 - which if which >= 0 and is_active and behind not in PREPOSITIONS else None


def _is_made_of(word: str, name: RelationName) -> bool:
    """Whether a word begins with the verb of a name, as its noun does: *delivery*, *funding*."""
    bases = (lemma for lemma in Lexicon.load().lemmas(name.word) if len(lemma) >= _LEAST_STEM)
    return any(word.startswith(base) for base in bases)


def _is_word(word: str, name: RelationName) -> bool:
    if word == name.word:
        return True
    lexicon = Lexicon.load()
    return bool(set(lexicon.lemmas(word)) & set(lexicon.lemmas(name.word)))


def _role_behind(before: Sequence[str], name: RelationName) -> NameRole | None:
    """What a name is that stands behind the word of a relation."""
    at = max((i for i, word in enumerate(before) if _is_word(word, name)), default=-1)
    if at < 0:
        return None
    is_noun_here = at > 0 and before[at - 1] in _DETERMINERS
    between = [word for word in before[at + 1 :] if word not in _ARTICLES]
    if name.kind in ("noun", "noun of"):
        if between == ["by"] and is_participle(before[at]):
            return NameRole.OWNED  # *mentored by X*: X is the mentor
        if between == ["of"] or (between[-1:] == ["than"] and len(between) <= _NOUN_AND_THAN):
            return NameRole.OWNER
        is_whose = len(between) == 1 and between[0] in BEING and before[at - 1 : at] == ["whose"]
        return NameRole.OWNED if is_whose else None
    if is_noun_here:
        return NameRole.PATIENT if between in _OF_DOER and _does_it(before[at], name) else None
    if between == ["by"]:
        return NameRole.AGENT if name.preposition in ("", "by") else None
    if name.preposition in ("", "by"):
        return None if between else NameRole.PATIENT
    return NameRole.PATIENT if between == [name.preposition] else None


def _role_before(behind: Sequence[str], before: Sequence[str], name: RelationName) -> NameRole | None:
    """What a name is that stands before the word of a relation."""
    at = next((i for i, word in enumerate(behind) if _is_word(word, name)), -1)
    if at < 0:
        return None
    between, after = list(behind[:at]), list(behind[at + 1 :])
    last = next((word for word in reversed(before) if word not in _ARTICLES), "")
    plain = [word for word in between if word not in _ARTICLES]
    if between == ["s"] and _does_it(behind[at], name):
        return NameRole.PATIENT
    is_being = (not plain and last in BEING) or (len(plain) == 1 and plain[0] in BEING)
    followed = after[:1] == [name.preposition]
    if name.kind in ("noun", "noun of"):
        if between == ["s"]:
            return NameRole.OWNER
        is_owned = after[:1] == ["of"] or "than" in after[:_NOUN_AND_THAN]
        does_it = last in DOING and not plain and not after and person_share(name.word) >= MOSTLY_PERSONS
        return NameRole.OWNED if (is_being and is_owned) or does_it else None  # *who does X mentor*
    if is_being:
        if name.preposition in ("", "by"):
            return NameRole.PATIENT if after[:1] == ["by"] else None
        return NameRole.AGENT if followed else None
    if plain or (name.preposition not in ("", "by") and not followed):
        return None
    return NameRole.AGENT if last in DOING or last in RELATIVE else None


def _does_it(noun: str, name: RelationName) -> bool:
    """Whether a noun is for who does what a verb says, as the verb is: *understudy*, *coach*; not *play*."""
    is_verb = name.kind == "verb" and not name.preposition and noun != name.word
    return is_verb and person_share(noun) >= MOSTLY_PERSONS


def _walked(query: Query) -> list[Step]:
    """The steps of walks."""
    return [part.step for part in query.contents.parts if isinstance(part, Walk)]
