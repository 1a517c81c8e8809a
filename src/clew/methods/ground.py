"""A stated answer → answers with the triples that prove them: the last step of every method with a model.

It is code, not a prompt. An entity counts if it stands in the facts that were given, a path through them
leads to it from what was known (the question's entities, and in a chain the answers before), and it is what
is asked for (`question.py`). A number counts if it stands in the facts that the reply names, if they come to
it (counted, added up, compared), or if a query graph of the question does; yes and no by a query graph alone.
What a model only says is ungrounded. What is rejected is told, with why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal

from clew.graph.graph import Graph, ValueKind
from clew.grounding import answer_entity, cite
from clew.llm.managed import Prompt, Sampling, Talk, short
from clew.llm.reply import REPAIR_PROMPT, StatedAnswer, is_none, stated_answer
from clew.methods.evidence import Fact, Linked, Proofs, ReadEvidence, prove_stated
from clew.methods.question import adds_up, counts, misfit_of_value, says
from clew.text.normalise import normalise
from clew.text.verbalise import readable
from clew.types import Abstention, AnswerEntity, Citation

# Whether the facts that a model names come to the number that it states.
#
# A number is derived if it stands in one of them (*148 min*), if as many things stand in a list that is
# whole, if it is the sum, the average or the difference of their values, or if a query graph of the question
# gives it.

NUMBER = re.compile(r"[+\-\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_STARTS_WITH_DIGIT = re.compile(r"[+\-\u2212]?\d")
DAYS_A_YEAR = 365.2425
SAME = 1e-9
MOST_LISTS = 8
"""Lists of the facts whose unions, intersections and differences are counted."""


def plain_number(text: str) -> str:
    """A number as it is written, without groups and with a plain minus."""
    return text.replace(",", "").replace("\u2212", "-")


def derived_number(evidence: ReadEvidence, stated: str, cited: Sequence[Fact]) -> tuple[int, ...] | str:
    """The triples that come to a stated number, or why none do."""
    number, question = float(stated), evidence.question
    named = tuple(dict.fromkeys(triple for fact in cited for triple in fact.all_triples))
    decided = evidence.decides(stated, frozenset(named)) if counts(question) else ""
    if decided:
        return says(decided) if isinstance(decided, str) else tuple(dict.fromkeys((*named, *decided)))
    if not cited:
        return "it names no facts for it"
    holders = [node for node in evidence.nodes_of(cited) if _holds(evidence, node, number)]
    for proof in prove_stated(evidence, holders, cited).values():
        return proof
    if counts(question) and number in set(_counts(evidence, cited)):
        return named
    values = _values(evidence.graph, named)
    if len(values) > 1 and counts(question):
        results = [sum(values), sum(values) / len(values)] if adds_up(question) else []
        results += [abs(values[0] - values[1])] if len(values) == 2 else []
        decimals = len(stated.partition(".")[2])
        if any(abs(round(result, decimals) - number) <= SAME * max(1.0, abs(number)) for result in results):
            return named
    return "the facts that it names do not come to it"


def _holds(evidence: ReadEvidence, node: int, number: float) -> bool:
    """Whether a value of the facts, with its unit, is or begins with a number (*2010* of *2010-07-16*)."""
    label = readable(evidence.graph.labels[node])
    if node in evidence.named_entities or not _STARTS_WITH_DIGIT.match(label):
        return False
    first = NUMBER.match(label)
    return first is not None and float(plain_number(first[0])) == number


def _values(graph: Graph, triples: Sequence[int]) -> list[float]:
    """The values of several triples of one relation, dates in years; empty where they are of several."""
    ends = [graph.triple(triple)[1:] for triple in triples]
    ends = [(relation, tail) for relation, tail in ends if graph.values.kind[tail] != ValueKind.NONE]
    if len({relation for relation, _ in ends}) != 1:
        return []
    kinds, values = graph.values.kind, graph.values.value
    return [float(values[tail]) / (DAYS_A_YEAR if kinds[tail] == ValueKind.DATE else 1.0) for _, tail in ends]


def _counts(evidence: ReadEvidence, cited: Sequence[Fact]) -> Iterator[int]:
    """How many things the facts list: each list, and several together, if they are whole."""
    lists = [set(fact.ends) for fact in cited if fact.ends and not fact.cut]
    yield from (fact.total for fact in cited if fact.cut and fact.total)
    single = [fact.triples[0] for fact in cited if len(fact.triples) == 1 and not fact.ends]
    lists += _lists_of(evidence, single)
    yield from map(len, lists)
    for first, second in combinations(lists[:MOST_LISTS], 2):
        yield from (len(first | second), len(first & second), len(first - second), len(second - first))
    if lists:
        yield len(set[int]().union(*lists))


def _lists_of(evidence: ReadEvidence, triples: Sequence[int]) -> list[set[int]]:
    """What single triples list: the whole list at a thing that they share, else all that are named."""
    graph = evidence.graph
    parts = [graph.triple(triple) for triple in triples]
    lists: list[set[int]] = []
    for relation in {relation for _, relation, _ in parts}:
        heads, tails = ({p[side] for p in parts if p[1] == relation} for side in (0, 2))
        for near, far, side in ((tails, heads, graph.into), (heads, tails, graph.out)):
            if len(near) == 1 and (not evidence.known_proofs or near <= evidence.known_proofs.keys()):
                low, high = side.relation_span(next(iter(near)), relation)
                whole = set(side.neighbour[low:high].tolist())
                lists += [whole] if whole == far else []
            elif len(near) == len(far) > 1 and side is graph.out:
                lists.append(far)
    return lists


ASKED_YES_NO = ("yes", "no")
_YES_NO = re.compile(r"(yes|no|true|false)\b[\s.,;:!]*", re.IGNORECASE)
_TRUTH = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}
_ALL = re.compile(
    r"all\s+(?:of|in|from)\s+(?:the\s+)?(?:facts?\s*|lines?\s*|paths?\s*)?(?:no\.?\s*|#)?\[?(\d{1,5})\]?",
    re.I,
)
SHORTEST_CLUE = 2
"""Letters of a name that is looked for in an explanation."""
UNREADABLE = "it does not state its answer in the form that was asked for"
MOST_REJECTED = 5
"""Rejected names that a note repeats."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A name that a reply states and that is no answer, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class GroundedReply:
    """What is left of a stated answer: entities with proofs, or one value with the triples behind it.

    `rests_on` are the triples of the facts that the reply names; `text` the model's own words. `unproved` is
    what it states where nothing of it is an answer. `readable` says whether the reply states an answer, or
    that there is none, `cut` whether it was ended by the limit of tokens.
    """

    text: str
    proofs: Proofs = field(default_factory=dict[int, tuple[int, ...]])
    value: str = ""
    rests_on: tuple[int, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    abstained: Abstention | None = None
    unproved: str = ""
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
            notes.append(f"Not counted as answers: {describe_rejected(self.rejected)}")
        if self.cut:
            notes.append("the model's reply was cut at its limit of tokens; it may have had more answers")
        return tuple(notes)

    def answers(self, graph: Graph) -> tuple[AnswerEntity, ...]:
        """The answers, in the order of the reply."""
        if self.value:
            return (AnswerEntity(self.value, self.value, 1.0),)
        return tuple(answer_entity(graph, e) for e in self.proofs)

    def citations(self, graph: Graph) -> tuple[Citation, ...]:
        """The triples of each answer."""
        if self.value:
            return (cite(graph, self.value, self.rests_on),)
        return tuple(cite(graph, e, proof) for e, proof in self.proofs.items())


def describe_rejected(rejected: Sequence[Rejected]) -> str:
    """Names with why, the first of them."""
    description = "; ".join(f"{rejection.name} ({rejection.why})" for rejection in rejected[:MOST_REJECTED])
    surplus = len(rejected) - MOST_REJECTED
    return f"{description}; and {surplus} more" if surplus > 0 else description


def ask_and_ground(
    talk: Talk, prompt: Prompt, sampling: Sampling, evidence: ReadEvidence, values: Mapping[str, str]
) -> GroundedReply:
    """Ask a model, and ground its reply; one without an answer is asked for again, once. Raises LlmError."""
    reply = talk.ask(prompt, sampling, stop=(), **values)
    grounded = ground_reply(stated_answer(reply), evidence)
    if not grounded.readable:
        second_statement = stated_answer(talk.ask_again(prompt, sampling, reply, REPAIR_PROMPT, values))
        # What it said first is its explanation; the second reply was to be the two lines alone.
        grounded = ground_reply(
            replace(
                second_statement, text=reply.strip() if second_statement.has_form else second_statement.text
            ),
            evidence,
        )
    return replace(grounded, cut=talk.cut)


def ground_reply(statement: StatedAnswer, evidence: ReadEvidence) -> GroundedReply:
    """The answers of a reply that the given facts prove, or an abstention that says why there are none.

    *All of 3* stands for whatever the line 3 lists.
    """
    if not statement.has_form:
        return _abstain(statement, UNREADABLE)
    items, cited = statement.items, evidence.lines(statement.facts)
    single = items[0] if len(items) == 1 else ""
    plain_item = "" if evidence.names.called(single) else single
    if not items or (plain_item and is_none(plain_item)):
        return _abstain(statement, "")
    if value := _truth(plain_item):
        return _truth_reply(statement, evidence, value, cited)
    linked, listed = list[Linked](), list[Fact]()
    for item in items:
        fact = _whole_line(item, evidence)
        if fact is not None:
            listed.append(fact)
        elif _ALL.fullmatch(item.strip(" .")) and not evidence.names.called(item):
            linked.append(Linked(item, (), "there is no such line"))
        else:
            linked += (
                evidence.names.exactly(item) if statement.form == "bare" else evidence.names.list_of(item)
            )
    entities = dict.fromkeys(entity for fact in listed for entity in fact.ends)
    entities |= dict.fromkeys(e for link in linked for e in _cited_entities(evidence, link.entities, cited))
    if single and _is_other_number(evidence, list(entities), cited):
        entities = {}
    number = "" if listed else _number(single, statement.form)
    if number and not entities:
        return _number_reply(statement, evidence, number, cited)
    if number and counts(evidence.question):
        # A number that stands in a fact may still not be the one that is asked for.
        other = evidence.decides(number, frozenset())
        if other and isinstance(other, str):
            return _ungrounded(statement, number, says(other))
    if not linked and not listed:
        return _abstain(statement, UNREADABLE)
    return _entities(statement, evidence, linked, list(entities), (*listed, *cited))


def _is_other_number(evidence: ReadEvidence, entities: Sequence[int], cited: Sequence[Fact]) -> bool:
    """Whether numbers of the evidence are not those of the facts that the reply names: a count has none."""
    kinds, ends = evidence.graph.values.kind, evidence.nodes_of(cited)
    return bool(entities and ends) and all(kinds[e] and e not in ends for e in entities)


def _whole_line(item: str, evidence: ReadEvidence) -> Fact | None:
    """The fact whose whole list an item takes; of a single triple the end that was not known."""
    match = None if evidence.names.called(item) else _ALL.fullmatch(item.strip(" ."))
    lines = evidence.lines([int(match[1])]) if match else ()
    if not lines or lines[0].ends or len(lines[0].triples) != 1:
        return lines[0] if lines and lines[0].ends else None
    head, _, tail = evidence.graph.triple(lines[0].triples[0])
    known = evidence.known_proofs
    end, near = (head, tail) if tail in known and head not in known else (tail, head)
    return Fact(lines[0].triples, {end: (*known.get(near, ()), *lines[0].triples)})


def _entities(
    statement: StatedAnswer,
    evidence: ReadEvidence,
    linked: Sequence[Linked],
    entities: Sequence[int],
    cited: Sequence[Fact],
) -> GroundedReply:
    """Keep the entities that the facts prove; those of the question only where there are no others."""
    rejected = [Rejected(link.item, link.why) for link in linked if not link.entities]
    misfits = {entity: why for entity in entities if (why := evidence.misfit(entity))}
    rejected += [Rejected(readable(evidence.graph.labels[e]), why) for e, why in misfits.items()]
    entities = [entity for entity in entities if entity not in misfits]
    proofs = prove_stated(evidence, entities, cited)
    answer_proofs = {
        entity: proof for entity, proof in proofs.items() if entity not in evidence.named_entities
    } or proofs
    unproved = [entity for entity in entities if entity not in proofs]
    for entity in (*unproved, *(entity for entity in proofs if entity not in answer_proofs)):
        question_reason = "the question names it itself"
        why = (
            question_reason
            if entity in evidence.named_entities
            else "the facts do not connect it with what was asked about"
        )
        rejected.append(Rejected(readable(evidence.graph.labels[entity]), why))
    if not answer_proofs:
        reason = "ungrounded" if misfits and len(misfits) == len(rejected) else "not_in_evidence"
        return _abstain(statement, f"it answers {describe_rejected(rejected)}", rejected, reason)
    names = [readable(evidence.graph.labels[entity]) for entity in answer_proofs]
    rests_on = tuple(dict.fromkeys(triple for fact in cited for triple in fact.triples))
    return GroundedReply(_text(statement, names), answer_proofs, "", rests_on, tuple(rejected))


def _truth_reply(
    statement: StatedAnswer, evidence: ReadEvidence, value: str, cited: Sequence[Fact]
) -> GroundedReply:
    """Yes or no, where it is asked for and a query graph of the question comes to it."""
    if misfit := misfit_of_value(evidence.question, value):
        return _ungrounded(statement, value, misfit)
    named = tuple(dict.fromkeys(triple for fact in cited for triple in fact.all_triples))
    decided = evidence.decides(value, frozenset(named))
    if isinstance(decided, str):
        return _ungrounded(statement, value, says(decided))
    # What is not so rests on what is recorded in its place, which the model names.
    triples = named if named and value == "no" else tuple(dict.fromkeys((*named, *decided)))
    return GroundedReply(_text(statement, [value]), {}, value, triples)


def _number_reply(
    statement: StatedAnswer, evidence: ReadEvidence, value: str, cited: Sequence[Fact]
) -> GroundedReply:
    """A number that the facts come to which the reply names, or else those whose names it repeats."""
    if misfit := misfit_of_value(evidence.question, value):
        return _ungrounded(statement, value, misfit)
    if not cited:
        repeated = _repeated_triples(evidence, statement.text)
        cited = [Fact((triple,)) for triple in repeated] or evidence.facts[: len(evidence.facts) == 1]
    triples = derived_number(evidence, value, cited)
    if isinstance(triples, str):
        return _ungrounded(statement, value, triples)
    return GroundedReply(_text(statement, [value]), {}, value, triples)


def refused(statement: StatedAnswer, why: str) -> GroundedReply:
    """A reply of which nothing is an answer, and why."""
    return _abstain(statement, why)


def _ungrounded(statement: StatedAnswer, value: str, why: str) -> GroundedReply:
    return _abstain(statement, f'it answers "{value}", which nothing proves: {why}', (), "ungrounded")


def _abstain(
    statement: StatedAnswer,
    why: str,
    rejected: Sequence[Rejected] = (),
    reason: Literal["not_in_evidence", "ungrounded"] = "not_in_evidence",
) -> GroundedReply:
    finding = why or "it finds no answer in the facts"
    detail = f"the model was asked, and {finding}" + (
        f': "{short(statement.text)}"' if statement.text else ""
    )
    return GroundedReply(
        statement.text,
        rejected=tuple(rejected),
        abstained=Abstention(reason, " ".join(detail.split())),
        unproved="" if not why or why == UNREADABLE else statement.text or "; ".join(statement.items),
        readable=why != UNREADABLE,
    )


def _text(statement: StatedAnswer, names: Sequence[str]) -> str:
    """The model's own words, and what they do not repeat of its answer."""
    names_text = "; ".join(names)
    if not statement.text or statement.form == "bare":
        return statement.text or names_text
    normal_text = f" {normalise(statement.text)} "
    return (
        statement.text
        if all(f" {normalise(n)} " in normal_text for n in names)
        else f"{statement.text}\n{names_text}"
    )


def _truth(item: str) -> str:
    """Yes or no, where an item says nothing else before a comma."""
    match = _YES_NO.match(item)
    is_alone = match and (match.end() == len(item) or match[0].strip() != match[1])
    return _TRUTH[match[1].lower()] if match and is_alone else ""


def _number(item: str, form: str) -> str:
    """The number of an item that has one; with a bare line, nothing beside it."""
    numbers = NUMBER.findall(item)
    if len(numbers) != 1 or (form == "bare" and numbers[0] != item.strip(" .")):
        return ""
    return plain_number(numbers[0])


def _cited_entities(
    evidence: ReadEvidence, entities: tuple[int, ...], cited: Sequence[Fact]
) -> tuple[int, ...]:
    """Of entities that are called alike, those of the facts that the reply names, if any are."""
    ends = evidence.nodes_of(cited) if len(entities) > 1 else ()
    return tuple(e for e in entities if e in ends) or entities


def _repeated_triples(evidence: ReadEvidence, text: str) -> tuple[int, ...]:
    """The given triples whose two ends an explanation names."""
    graph, normal_text = evidence.graph, f" {normalise(text)} "
    named_nodes = {
        node
        for node in evidence.names.nodes
        if len(name := normalise(graph.labels[node])) >= SHORTEST_CLUE and f" {name} " in normal_text
    } | set(evidence.named_entities)
    return tuple(t for t in evidence.triples if {*graph.triple(t)[::2]} <= named_nodes)
