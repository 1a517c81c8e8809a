"""A stated answer → answers with the triples that prove them: the last step of every method with a model.

It is code, not a prompt. An entity counts if it stands in the facts that were given and a path through them
leads to it from what was known: from the question's entities, and in a chain from the answers before. Yes,
no, numbers and dates count with the facts that the reply names for them. What is rejected is told, with why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from clew.graph.graph import Graph
from clew.grounding import cite
from clew.llm.evidence_names import EvidenceNames, IsName, Linked, evidence_nodes
from clew.llm.prompting import Prompt, Sampling, Talk, short
from clew.llm.reply import REPAIR_PROMPT, StatedAnswer, is_none, stated_answer
from clew.text.labels import readable
from clew.text.normalise import normalise
from clew.types import Abstention, AnswerEntity, Citation

Proofs = Mapping[int, tuple[int, ...]]
"""Entity → the path of triples that proves it, from an entity of the question."""

ASKED_YES_NO = ("yes", "no")
_YES_NO = re.compile(r"(yes|no|true|false)\b[\s.,;:!]*", re.IGNORECASE)
_TRUTH = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}
_ALL = re.compile(
    r"all\s+(?:of|in|from)\s+(?:the\s+)?(?:facts?\s*|lines?\s*|paths?\s*)?(?:no\.?\s*|#)?\[?(\d{1,5})\]?",
    re.I,
)
_NUMBER = re.compile(r"[+\-\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
SHORTEST_CLUE = 2
"""Letters of a name that is looked for in an explanation."""
UNREADABLE = "it does not state its answer in the form that was asked for"
MOST_REJECTED = 5
"""Rejected names that a note repeats."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of a prompt: its triples; where it lists entities, these, with the path that proves each."""

    triples: tuple[int, ...] = ()
    ends: Proofs = field(default_factory=dict[int, tuple[int, ...]])


@dataclass(frozen=True, eq=False)
class Given:
    """What a model was given to read.

    `facts[i]` is the line with the number i + 1; `known` is where proofs begin: the answers before with their
    proofs, and the question's entities, with nothing to prove. `asked` are the entities that the question
    names; `is_name` is as in `EvidenceNames`.
    """

    graph: Graph
    facts: tuple[Fact, ...]
    known: Proofs = field(default_factory=dict[int, tuple[int, ...]])
    asked: frozenset[int] = frozenset()
    is_name: IsName | None = None

    @cached_property
    def triples(self) -> tuple[int, ...]:
        """All triples, as they come first."""
        return tuple(dict.fromkeys(triple for fact in self.facts for triple in fact.triples))

    @cached_property
    def names(self) -> EvidenceNames:
        """The names that an answer may have."""
        nodes = dict.fromkeys(evidence_nodes(self.graph, self.triples))
        nodes |= dict.fromkeys(entity for fact in self.facts for entity in fact.ends)
        return EvidenceNames(self.graph, tuple(nodes), self.is_name)

    def nodes_of(self, facts: Sequence[Fact]) -> set[int]:
        """The entities of some of the facts."""
        return {node for fact in facts for node in (*evidence_nodes(self.graph, fact.triples), *fact.ends)}

    def lines(self, numbers: Iterable[int]) -> tuple[Fact, ...]:
        """Some of the facts; numbers of no line are left out."""
        return tuple(self.facts[n - 1] for n in numbers if 1 <= n <= len(self.facts))


@dataclass(frozen=True, slots=True)
class Rejected:
    """A name that a reply states and that is no answer, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class GroundedReply:
    """What is left of a stated answer: entities with proofs, or one value with the triples behind it.

    `rests_on` are the triples of the facts that the reply names; `text` the model's own words. `readable`
    says whether the reply states an answer, or that there is none, `cut` whether it was ended by the limit of
    tokens.
    """

    text: str
    proofs: Proofs = field(default_factory=dict[int, tuple[int, ...]])
    value: str = ""
    rests_on: tuple[int, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    abstained: Abstention | None = None
    readable: bool = True
    cut: bool = False

    @property
    def answered(self) -> bool:
        """Whether there is an answer."""
        return bool(self.proofs or self.value)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was rejected, and whether the reply was cut."""
        notes: list[str] = []
        if self.rejected and self.answered:
            notes.append(f"Not counted as answers: {told_rejected(self.rejected)}")
        if self.cut:
            notes.append("the model's reply was cut at its limit of tokens; it may have had more answers")
        return tuple(notes)

    def answers(self, graph: Graph) -> tuple[AnswerEntity, ...]:
        """The answers, in the order of the reply."""
        if self.value:
            return (AnswerEntity(self.value, self.value, 1.0),)
        return tuple(AnswerEntity(graph.entities[e], graph.labels[e], 1.0) for e in self.proofs)

    def citations(self, graph: Graph) -> tuple[Citation, ...]:
        """The triples of each answer."""
        if self.value:
            return (cite(graph, self.value, self.rests_on),)
        return tuple(cite(graph, graph.entities[e], proof) for e, proof in self.proofs.items())


def told_rejected(rejected: Sequence[Rejected]) -> str:
    """Names with why, the first of them."""
    told = "; ".join(f"{each.name} ({each.why})" for each in rejected[:MOST_REJECTED])
    more = len(rejected) - MOST_REJECTED
    return f"{told}; and {more} more" if more > 0 else told


def ask_and_ground(
    talk: Talk, prompt: Prompt, sampling: Sampling, given: Given, values: Mapping[str, str]
) -> GroundedReply:
    """Ask a model, and ground its reply; one without an answer is asked for again, once. Raises LlmError."""
    reply = talk.ask(prompt, sampling, stop=(), **values)
    grounded = ground_reply(stated_answer(reply), given)
    if not grounded.readable:
        again = stated_answer(talk.ask_again(prompt, sampling, reply, REPAIR_PROMPT, values))
        # What it said first is its explanation; the second reply was to be the two lines alone.
        grounded = ground_reply(replace(again, text=reply.strip() if again.has_form else again.text), given)
    return replace(grounded, cut=talk.cut)


def ground_reply(stated: StatedAnswer, given: Given) -> GroundedReply:
    """The answers of a reply that the given facts prove, or an abstention that says why there are none.

    *All of 3* stands for whatever the line 3 lists.
    """
    if not stated.has_form:
        return _abstain(stated, UNREADABLE)
    items, cited = stated.items, given.lines(stated.facts)
    single = items[0] if len(items) == 1 else ""
    alone = "" if given.names.called(single) else single
    if not items or (alone and is_none(alone)):
        return _abstain(stated, "")
    if value := _truth(alone):
        return _valued(stated, given, value, cited)
    linked, listed = list[Linked](), list[Fact]()
    for item in items:
        fact = _whole_line(item, given)
        if fact is not None:
            listed.append(fact)
        else:
            linked += given.names.exactly(item) if stated.form == "bare" else given.names.list_of(item)
    entities = dict.fromkeys(entity for fact in listed for entity in fact.ends)
    entities |= dict.fromkeys(e for each in linked for e in _nearest(given, each.entities, cited))
    if single and _is_other_number(given, list(entities), cited):
        entities = {}
    if not entities and (number := _number(single, stated.form)):
        return _valued(stated, given, number, cited)
    if not linked and not listed:
        return _abstain(stated, UNREADABLE)
    return _entities(stated, given, linked, list(entities), (*listed, *cited))


def _is_other_number(given: Given, entities: Sequence[int], cited: Sequence[Fact]) -> bool:
    """Whether numbers of the evidence are not those of the facts that the reply names: a count has none."""
    kinds, ends = given.graph.values.kind, given.nodes_of(cited)
    return bool(entities and ends) and all(kinds[e] and e not in ends for e in entities)


def _whole_line(item: str, given: Given) -> Fact | None:
    """The fact whose whole list an item takes."""
    found = _ALL.fullmatch(item.strip(" ."))
    lines = given.lines([int(found[1])]) if found and not given.names.called(item) else ()
    return lines[0] if lines and lines[0].ends else None


def _entities(
    stated: StatedAnswer,
    given: Given,
    linked: Sequence[Linked],
    entities: Sequence[int],
    cited: Sequence[Fact],
) -> GroundedReply:
    """Keep the entities that the facts prove; those of the question only where there are no others."""
    rejected = [Rejected(each.item, each.why) for each in linked if not each.entities]
    proofs = prove_stated(given, entities, cited)
    kept = {entity: proof for entity, proof in proofs.items() if entity not in given.asked} or proofs
    unproved = [entity for entity in entities if entity not in proofs]
    for entity in (*unproved, *(entity for entity in proofs if entity not in kept)):
        own = "the question names it itself"
        why = own if entity in given.asked else "the facts do not connect it with what was asked about"
        rejected.append(Rejected(readable(given.graph.labels[entity]), why))
    if not kept:
        return _abstain(stated, f"it answers {told_rejected(rejected)}", rejected)
    names = [readable(given.graph.labels[entity]) for entity in kept]
    rests_on = tuple(dict.fromkeys(triple for fact in cited for triple in fact.triples))
    return GroundedReply(_text(stated, names), kept, "", rests_on, tuple(rejected))


def _valued(stated: StatedAnswer, given: Given, value: str, cited: Sequence[Fact]) -> GroundedReply:
    """Yes, no or a number, with the facts that the reply names, or else those whose names it repeats."""
    behind = (path for fact in cited for path in (fact.triples, *fact.ends.values()))
    triples = tuple(dict.fromkeys(triple for path in behind for triple in path))
    triples = triples or _repeated(given, stated.text)
    if not triples and len(given.facts) == 1:
        triples = given.facts[0].triples
    if not triples:
        return _abstain(stated, f'it answers "{value}" and names no facts for it')
    return GroundedReply(_text(stated, [value]), {}, value, triples)


def _abstain(stated: StatedAnswer, why: str, rejected: Sequence[Rejected] = ()) -> GroundedReply:
    told = why or "it finds no answer in the facts"
    detail = f"the model was asked, and {told}" + (f': "{short(stated.text)}"' if stated.text else "")
    return GroundedReply(
        stated.text,
        rejected=tuple(rejected),
        abstained=Abstention("not_in_evidence", " ".join(detail.split())),
        readable=why != UNREADABLE,
    )


def _text(stated: StatedAnswer, names: Sequence[str]) -> str:
    """The model's own words, and what they do not repeat of its answer."""
    told = "; ".join(names)
    if not stated.text or stated.form == "bare":
        return stated.text or told
    said = f" {normalise(stated.text)} "
    return stated.text if all(f" {normalise(n)} " in said for n in names) else f"{stated.text}\n{told}"


def _truth(item: str) -> str:
    """Yes or no, where an item says nothing else before a comma."""
    found = _YES_NO.match(item)
    alone = found and (found.end() == len(item) or found[0].strip() != found[1])
    return _TRUTH[found[1].lower()] if found and alone else ""


def _number(item: str, form: str) -> str:
    """The number of an item that has one; with a bare line, nothing beside it."""
    found = _NUMBER.findall(item)
    if len(found) != 1 or (form == "bare" and found[0] != item.strip(" .")):
        return ""
    return found[0].replace(",", "").replace("\u2212", "-")


def _nearest(given: Given, entities: tuple[int, ...], cited: Sequence[Fact]) -> tuple[int, ...]:
    """Of entities that are called alike, those of the facts that the reply names, if any are."""
    ends = given.nodes_of(cited) if len(entities) > 1 else ()
    return tuple(e for e in entities if e in ends) or entities


def _repeated(given: Given, text: str) -> tuple[int, ...]:
    """The given triples whose two ends an explanation names."""
    graph, said = given.graph, f" {normalise(text)} "
    named = {
        node
        for node in given.names.nodes
        if len(name := normalise(graph.labels[node])) >= SHORTEST_CLUE and f" {name} " in said
    } | set(given.asked)
    return tuple(t for t in given.triples if {*graph.triple(t)[::2]} <= named)


def prove_stated(given: Given, entities: Sequence[int], cited: Sequence[Fact]) -> dict[int, tuple[int, ...]]:
    """Prove entities by the facts that a reply names, else by all that were given.

    A line that lists an entity has its path. Other paths begin at what is known. Where several of them
    through the named facts lead to an answer, as in a conjunction, all are its proof; else the shortest is,
    and one from an answer of the chain before one from the question. Without anything known, it is the first
    fact that holds the entity. One that nothing proves is left out.
    """
    proofs: dict[int, tuple[int, ...]] = {}
    near = _Paths(given, tuple(dict.fromkeys(t for fact in cited for t in fact.triples)))
    far = _Paths(given, given.triples)
    for entity in entities:
        listed = next((fact.ends[entity] for fact in cited if entity in fact.ends), None)
        proof = listed or near.all_to(entity) or far.best_to(entity)
        proof = proof or next((fact.ends[entity] for fact in given.facts if entity in fact.ends), None)
        if not proof and entity in given.asked:
            # One of the question's own (*which is heavier, A or B*) rests on all facts that were named.
            proof = near.with_all(entity) or far.holding(entity)
        if not proof and not any(given.known.values()):
            # What is *not* so of what is asked about has no path from it: the facts that were named hold it.
            proof = near.holding(entity)
        if proof:
            proofs[entity] = proof
    return proofs


class _Paths:
    """Paths through some triples from what is known."""

    def __init__(self, given: Given, triples: Sequence[int]) -> None:
        self.given, self.triples = given, tuple(triples)
        self.around: dict[int, list[tuple[int, int]]] = {}
        for triple in triples:
            head, _, tail = given.graph.triple(triple)
            self.around.setdefault(head, []).append((triple, tail))
            if tail != head:
                self.around.setdefault(tail, []).append((triple, head))
        self._from: dict[int, dict[int, tuple[int, ...]]] = {}

    def all_to(self, entity: int) -> tuple[int, ...] | None:
        """The paths from each known entity to one, together; None if there is none."""
        if not self.around.get(entity):
            return None
        if not self.given.known:
            return self.holding(entity)
        paths = [path for start in self.given.known if (path := self._path(start, entity)) is not None]
        own = self.given.known.get(entity, ())
        return tuple(dict.fromkeys([*own, *(t for path in paths for t in path)])) or None

    def best_to(self, entity: int) -> tuple[int, ...] | None:
        """The shortest path from a known entity; None if there is none."""
        known = self.given.known
        if not known:
            return self.holding(entity)
        paths = [
            (not known[start], len(path), at, path)
            for at, start in enumerate(known)
            if (path := self._path(start, entity)) is not None
        ]
        return min(paths)[-1] if paths else known.get(entity) or None

    def with_all(self, entity: int) -> tuple[int, ...] | None:
        """All triples, if one of them holds an entity."""
        return self.triples if self.around.get(entity) else None

    def holding(self, entity: int) -> tuple[int, ...] | None:
        """The first triple that holds an entity."""
        around = self.around.get(entity)
        return (around[0][0],) if around else None

    def _path(self, start: int, entity: int) -> tuple[int, ...] | None:
        """From a known entity, its own proof first; None where nothing leads there, or it is the entity."""
        if start == entity:
            return None
        if start not in self._from:
            self._from[start] = self._search(start)
        path = self._from[start].get(entity)
        return None if path is None else (*self.given.known[start], *path)

    def _search(self, start: int) -> dict[int, tuple[int, ...]]:
        """Breadth first; other known entities are ends, and nothing goes on through them."""
        stops = self.given.known.keys() - {start}
        paths: dict[int, tuple[int, ...]] = {start: ()}
        frontier = [start]
        while frontier:
            following: list[int] = []
            for node in frontier:
                for triple, other in self.around.get(node, ()):
                    if other not in paths:
                        paths[other] = (*paths[node], triple)
                        if other not in stops:
                            following.append(other)
            frontier = following
        return paths
