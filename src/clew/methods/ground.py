"""A stated answer → answers with the triples that prove them: the last step of every method with a model.

It is code, not a prompt. An entity counts if it stands in the facts that were given, a path through them
leads to it from what was known (the question's entities, and in a chain the answers before), and it is what
is asked for (`question.py`). A number counts if it stands in the facts that the reply names, if they come to
it (counted, added up, compared), or if a query graph of the question does; yes, no and zero by that alone.
What stands on an edge (*since 2019*) counts if the edge is in the facts that the reply names. What a model
only says is ungrounded. What is rejected is told, with why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal

from clew.graph.graph import Graph, ValueKind
from clew.graph.values import plain_label
from clew.grounding import answer_entity, cite
from clew.llm.managed import short
from clew.llm.reply import StatedAnswer, is_none, is_nothing
from clew.methods.evidence import (
    NUMBER,
    Fact,
    Linked,
    Proofs,
    ReadEvidence,
    edge_values,
    prove_stated,
    triples_at_node,
    triples_of,
)
from clew.methods.question import (
    adds_up,
    asked_of,
    counts,
    counts_things,
    misfit_of_label,
    misfit_of_value,
    says,
)
from clew.text.normalise import normalise
from clew.text.verbalise import readable
from clew.types import Abstention, AnswerEntity, Citation

# Whether the facts that a model names come to the number that it states.
#
# A number is derived if it stands in one of them (*148 min*), if as many things stand in a list that is
# whole, if it is the sum, the average or the difference of their values, or if a query graph of the question
# gives it.

_STARTS_WITH_DIGIT = re.compile(r"[+\-\u2212]?\d")
SAME = 1e-9
DO_NOT_COME_TO_IT = "the facts that it names do not come to it"


def plain_number(text: str) -> str:
    """A number as it is written, without groups and with a plain minus."""
    return text.replace(",", "").replace("\u2212", "-")


def derived_number(evidence: ReadEvidence, stated: str, cited: Sequence[Fact]) -> tuple[int, ...] | str:
    """The triples that come to a stated number, or why none do."""
    number, question = float(stated), evidence.question
    named = tuple(dict.fromkeys(triple for fact in cited for triple in fact.all_triples))
    decided = evidence.judge.decides(question, stated, frozenset(named)) if counts(question) else ""
    if decided:
        return says(decided) if isinstance(decided, str) else tuple(dict.fromkeys((*named, *decided)))
    if not cited:
        return "it names no facts for it"
    holders = [node for node in evidence.nodes_of(cited) if _holds(evidence, node, number)]
    other, wrong = evidence.judge.answers_otherwise(question, holders) if holders else ("", frozenset[int]())
    if holders and wrong.issuperset(holders):
        return says(other)
    for proof in prove_stated(evidence, holders, cited).values():
        return proof
    may_count = counts_things(question) or not asked_of(question)
    if number and may_count and number in set(_counts(evidence, cited)):
        return named
    for values in _values(evidence, named) if counts(question) else ():
        differences = [abs(values[0] - values[1])] if len(values) == 2 else []
        if _is_one_of((*differences, *_sums(question, values)), stated):
            return named
    return DO_NOT_COME_TO_IT


def _sums(question: str, values: Sequence[float]) -> tuple[float, ...]:
    """The sum and the average of values, where a question may ask for them."""
    return (sum(values), sum(values) / len(values)) if adds_up(question) else ()


def _is_one_of(results: Sequence[float], stated: str) -> bool:
    """Whether a stated number is one of some results, as far as it is written out."""
    number, decimals = float(stated), len(stated.partition(".")[2])
    return any(abs(round(result, decimals) - number) <= SAME * max(1.0, abs(number)) for result in results)


def _holds(evidence: ReadEvidence, node: int, number: float) -> bool:
    """Whether a value of the facts, with its unit, is or begins with a number (*2010* of *2010-07-16*)."""
    label = readable(plain_label(evidence.graph, node))
    if node in evidence.named_entities or not _STARTS_WITH_DIGIT.match(label):
        return False
    first = NUMBER.match(label)
    return first is not None and float(plain_number(first[0])) == number


def _values(evidence: ReadEvidence, triples: Sequence[int]) -> list[list[float]]:
    """The values of several triples by relation, and on their edges by key, dates in years.

    Those of several relations only of records.
    """
    graph, kinds = evidence.graph, evidence.graph.values.kind
    tails = (graph.triple(triple)[1:] for triple in triples)
    found = [(relation, "", int(kinds[tail]), float(graph.values.value[tail])) for relation, tail in tails]
    found += [(graph.triple(e.triple)[1], e.key, e.kind, e.value) for e in edge_values(graph, triples)]
    by_place: dict[tuple[int, str], list[float]] = {}
    for relation, key, kind, value in found:
        if kind != ValueKind.NONE:
            days = 365.2425 if kind == ValueKind.DATE else 1.0
            by_place.setdefault((relation, key), []).append(value / days)
    several = [of_one for of_one in by_place.values() if len(of_one) > 1]
    return several if evidence.whole or len({relation for relation, _ in by_place}) == 1 else []


def _counts(evidence: ReadEvidence, cited: Sequence[Fact]) -> Iterator[int]:
    """How many things the facts list: each list, and several together, if they are whole."""
    records = [fact for fact in cited if evidence.whole and len(fact.ends) == 1]
    lists = [set(fact.ends) for fact in cited if fact.ends and not fact.cut and fact not in records]
    yield from (fact.total for fact in cited if fact.cut and fact.total)
    single = [fact.triples[0] for fact in cited if len(fact.triples) == 1 and not fact.ends]
    lists += [*_lists_of(evidence, single), *_lists_of_records(evidence.graph, records)]
    yield from map(len, lists)
    for first, second in combinations(lists[:8], 2):
        yield from (len(first | second), len(first & second), len(first - second), len(second - first))
    if lists:
        yield len(set[int]().union(*lists))


def _lists_of_records(graph: Graph, records: Sequence[Fact]) -> list[set[int]]:
    """What records list: the things of each kind, and what each relation leads to that is no value."""
    things: dict[tuple[int, ...], set[int]] = {}
    ends: dict[int, set[int]] = {}
    for fact in records:
        triples = [graph.triple(triple) for triple in fact.triples]
        (thing,) = fact.ends
        kind = graph.types.of(thing) or [-1 - relation for _, relation, _ in triples[:1]]
        things.setdefault(tuple(kind), set()).add(thing)
        for _, relation, tail in triples:
            if graph.values.kind[tail] == ValueKind.NONE:
                ends.setdefault(relation, set()).add(tail)
    return [*things.values(), *ends.values()]


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
_WITH_NUMBER = re.compile(rf"(.+?)(?::\s+|\s*\(|\s+)({NUMBER.pattern})\)?")
"""A thing with a number, as replies write it: *Dog: 10*, *Dog (10)*, *Dog 10*."""
_ALL = re.compile(
    r"all\s+(?:of|in|from)\s+(?:the\s+)?(?:facts?\s*|lines?\s*|paths?\s*)?(?:no\.?\s*|#)?\[?(\d{1,5})\]?",
    re.I,
)
UNREADABLE = "it does not state its answer in the form that was asked for"
MOST_REJECTED = 5
"""Rejected names that a note repeats."""


@dataclass(frozen=True, slots=True)
class GroundedReply:
    """What is left of a stated answer: entities or `texts` of edges with proofs, or one value.

    `rests_on` are the triples of the facts that the reply names; `text` the model's own words. `rejected` are
    names that it states and that are no answers. `unproved` is what it states where nothing of it is one.
    `pairs` are things with what is said of each (*Ann: 1970*). `shows_none`: it says that
    the facts that it names show that there is none. `cited` are these facts. `readable` says whether it
    states an answer, or that there is none, `cut` whether it was ended by the limit of tokens.
    """

    text: str
    proofs: Proofs = field(default_factory=dict[int, tuple[int, ...]])
    value: str = ""
    rests_on: tuple[int, ...] = ()
    rejected: tuple[Linked, ...] = ()
    abstained: Abstention | None = None
    unproved: str = ""
    readable: bool = True
    cut: bool = False
    pairs: tuple[tuple[str, str], ...] = ()
    shows_none: bool = False
    cited: tuple[Fact, ...] = ()
    texts: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])

    @property
    def answered(self) -> bool:
        """Whether there is an answer."""
        return bool(self.proofs or self.texts or self.value)

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
        texts = (AnswerEntity(text, text, 1.0) for text in self.texts)
        return (*(answer_entity(graph, e) for e in self.proofs), *texts)

    def citations(self, graph: Graph) -> tuple[Citation, ...]:
        """The triples of each answer."""
        if self.value:
            return (cite(graph, self.value, self.rests_on),)
        return tuple(cite(graph, e, proof) for e, proof in (*self.proofs.items(), *self.texts.items()))


def describe_rejected(rejected: Sequence[Linked]) -> str:
    """Names with why, the first of them."""
    description = "; ".join(f"{rejection.item} ({rejection.why})" for rejection in rejected[:MOST_REJECTED])
    surplus = len(rejected) - MOST_REJECTED
    return f"{description}; and {surplus} more" if surplus > 0 else description


def ground_reply(statement: StatedAnswer, evidence: ReadEvidence) -> GroundedReply:
    """The answers of a reply that the given facts prove, or an abstention that says why there are none."""
    return replace(_grounded(statement, evidence), cited=evidence.lines(statement.facts))


def _grounded(statement: StatedAnswer, evidence: ReadEvidence) -> GroundedReply:
    if not statement.form:
        return refused(statement, UNREADABLE)
    items, cited = statement.items, evidence.lines(statement.facts)
    single = items[0] if len(items) == 1 else ""
    plain_item = "" if evidence.names.called(single) else single
    if not items or (plain_item and is_none(plain_item)):
        shows_none = evidence.whole and bool(cited) and is_nothing(plain_item)
        return replace(refused(statement, ""), rests_on=triples_of(cited), shows_none=shows_none)
    if value := _truth(plain_item):
        return _value_reply(statement, evidence, value, cited)
    on_edges = _on_edges(statement, evidence, cited)
    counted = _paired_numbers(statement, evidence, cited)
    if counted and (counted.answered or on_edges is None):
        return counted
    linked, listed, owners = _items(statement, evidence)
    entities = dict.fromkeys(entity for fact in listed for entity in fact.ends)
    kinds, ends = evidence.graph.values.kind, evidence.nodes_of(cited)
    for link in linked:
        # Of entities that are called alike, those of the facts that the reply names, if any are.
        alike = [entity for entity in link.entities if entity in ends] if len(link.entities) > 1 else []
        entities |= dict.fromkeys(alike or link.entities)
    if single and ends and all(kinds[entity] and entity not in ends for entity in entities):
        entities = {}  # Numbers of other facts than those that the reply names: a count has none.
    number = "" if listed else _number(single, statement.form)
    if number and not entities:
        reply = _value_reply(statement, evidence, number, cited)
        return reply if reply.answered or on_edges is None else on_edges
    if on_edges is not None and not any(entity in ends for entity in entities):
        return on_edges
    if number and counts(evidence.question):
        # A number that stands in a fact may still not be the one that is asked for.
        other = evidence.judge.decides(evidence.question, number, frozenset())
        if other and isinstance(other, str):
            return _ungrounded(statement, number, says(other))
    if not linked and not listed:
        return refused(statement, UNREADABLE)
    grounded = _entities(statement, evidence, linked, list(entities), (*listed, *cited))
    label = evidence.graph.label
    pairs = ((label(o), label(e)) for e, each in owners.items() if e in grounded.proofs for o in each)
    return replace(grounded, pairs=tuple(pairs))


def _on_edges(statement: StatedAnswer, evidence: ReadEvidence, cited: Sequence[Fact]) -> GroundedReply | None:
    """Items that stand on edges of the named facts, also beside a thing (*Ann: 2019*); None without any."""
    graph, known, names = evidence.graph, evidence.known_proofs, evidence.names
    triples = dict.fromkeys(triple for fact in cited or evidence.facts for triple in fact.all_triples)
    values = list(edge_values(graph, triples))
    texts, pairs, rejected = dict[str, tuple[int, ...]](), list[tuple[str, str]](), list[Linked]()
    for item in statement.items if values else ():
        thing, _, text = ("", "", item) if names.called(item) else item.rpartition(": ")
        owners = names.link_name(thing).entities if thing else ()
        found = [each for each in values if each.is_called(text)]
        found = [each for each in found if not thing or {*owners} & {*graph.triple(each.triple)[::2]}]
        misfits = [misfit_of_label(asked_of(evidence.question), e.text, is_value=bool(e.kind)) for e in found]
        why = min(misfits, default="no edge of the facts has it")
        for each in found if not why else ():
            nodes = graph.triple(each.triple)[::2]
            paths = [known[node] for node in nodes if node in known]
            paths = paths or list(prove_stated(evidence, nodes, cited).values())
            if paths or not evidence.starts_at_names:
                proof = (*texts.get(each.text, ()), *min(paths, key=len, default=()), each.triple)
                texts[each.text] = tuple(dict.fromkeys(proof))
                pairs += [(graph.label(o), each.text) for o in nodes if o in owners]
        rejected += [Linked(item, (), why)] if why else []
    other, _ = evidence.judge.answers_otherwise(evidence.question, ())
    if not texts or (other and not any(text in other for text in texts)):
        return None
    rests_on, pairs = tuple(t for proof in texts.values() for t in proof), list(dict.fromkeys(pairs))
    text = _text(statement, list(texts))
    return GroundedReply(text, texts=texts, rests_on=rests_on, rejected=tuple(rejected), pairs=tuple(pairs))


def _items(
    statement: StatedAnswer, evidence: ReadEvidence
) -> tuple[list[Linked], list[Fact], dict[int, tuple[int, ...]]]:
    """What the items of a statement mean: names, whole lines, and the things that pairs say something of."""
    linked, listed, owners = list[Linked](), list[Fact](), dict[int, tuple[int, ...]]()
    for item in statement.items:
        fact = _whole_line(item, evidence)
        if pair := _pair(item, evidence):
            for entity, owner in pair.items():
                owners[entity] = tuple(dict.fromkeys((*owners.get(entity, ()), *owner)))
                linked.append(Linked(item, (entity,)))
        elif fact is not None:
            listed.append(fact)
        elif _ALL.fullmatch(item.strip(" .")) and not evidence.names.called(item):
            linked.append(Linked(item, (), "there is no such line"))
        else:
            link = evidence.names.exactly if statement.form == "bare" else evidence.names.list_of
            linked += link(item)
    return linked, listed, owners


def _pair(item: str, evidence: ReadEvidence) -> dict[int, tuple[int, ...]]:
    """What a pair says of a thing, with the thing: *Ann: 1970*; nothing where no fact joins the two."""
    if ": " not in item or evidence.names.called(item):
        return {}
    thing, _, values = item.partition(": ")
    owners = evidence.names.link_name(thing).entities
    entities = [entity for link in evidence.names.list_of(values) for entity in link.entities]
    triples = [evidence.graph.triple(triple) for triple in evidence.triples]
    ends = {(one, other) for head, _, tail in triples for one, other in ((head, tail), (tail, head))}
    joined = {entity: tuple(o for o in owners if (o, entity) in ends) for entity in entities}
    return {entity: owner for entity, owner in joined.items() if owner}


def _paired_numbers(
    statement: StatedAnswer, evidence: ReadEvidence, cited: Sequence[Fact]
) -> GroundedReply | None:
    """Things with a number that the facts about each come to, *English: 29*, *Dog (10)*; None of other items.

    Where a fact has each number, they are values of the things (`_pair`). A list of which one number is not
    proved is none.
    """
    items = statement.items
    parts = [match.groups() for item in items if (match := _WITH_NUMBER.fullmatch(item))]
    if len(parts) < len(items) or all(evidence.names.called(item) or _pair(item, evidence) for item in items):
        return None
    proofs, pairs, rejected = dict[int, tuple[int, ...]](), list[tuple[str, str]](), list[Linked]()
    for thing, number in parts:
        link = evidence.names.link_name(thing)
        found = [(entity, _number_of(evidence, entity, number, cited)) for entity in link.entities]
        proved = {entity: proof for entity, proof in found if proof}
        proofs |= proved
        pairs += [(evidence.graph.label(entity), number) for entity in proved]
        if not proved:
            rejected.append(Linked(f"{thing}: {number}", (), link.why or DO_NOT_COME_TO_IT))
    if rejected and not all(": " in item for item in items):
        return None
    if rejected:
        return refused(statement, f"it answers {describe_rejected(rejected)}", rejected, "ungrounded")
    return GroundedReply(statement.text, proofs, "", triples_of(cited), tuple(rejected), pairs=tuple(pairs))


def _number_of(evidence: ReadEvidence, entity: int, number: str, cited: Sequence[Fact]) -> tuple[int, ...]:
    """The triples at a thing that come to a number: so many of a relation, also with another, or a sum."""
    facts = [fact for fact in cited or evidence.facts if entity in evidence.nodes_of([fact])]
    triples = tuple(dict.fromkeys(triple for fact in facts for triple in fact.all_triples))
    stated = plain_number(number)
    ends: dict[int, set[int]] = {}
    at_it: dict[tuple[int, int], set[int]] = {}
    for head, relation, tail in map(evidence.graph.triple, triples_of(cited) or triples):
        ends.setdefault(relation, set()).update((head, tail))
        if entity in (head, tail):
            at_it.setdefault((relation, int(entity == tail)), set()).add(head if entity == tail else tail)
    for relation, side in at_it:
        listed = triples_at_node(evidence.graph, entity, relation, side)
        if len(listed) == float(stated):
            return tuple(listed)
    results = [result for values in _values(evidence, triples) for result in _sums(evidence.question, values)]
    results += [len(near & other) for near in at_it.values() for other in ends.values()]
    if evidence.whole and all(len(fact.ends) == 1 for fact in facts):
        results.append(len(facts))
    return triples if _is_one_of(results, stated) else ()


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
    """Keep the entities that the facts prove; those of the question only where there are no others.

    One that is alone in the question is no answer to it, unless a query graph gives it.
    """
    rejected = [link for link in linked if not link.entities]
    misfits = {entity: why for entity in entities if (why := evidence.misfit(entity))}
    labels = evidence.graph.labels
    rejected += [Linked(readable(labels[e]), (), why) for e, why in misfits.items()]
    entities = [entity for entity in entities if entity not in misfits]
    proofs, is_choice = prove_stated(evidence, entities, cited), len(evidence.named_entities) > 1
    answer_proofs = {e: p for e, p in proofs.items() if e not in evidence.named_entities}
    if not answer_proofs and (is_choice or any(evidence.judge.gives(evidence.question, e) for e in proofs)):
        answer_proofs = proofs
    for entity in sorted((e for e in entities if e not in answer_proofs), key=lambda e: e in proofs):
        why = "the facts do not connect it with what was asked about"
        why = "the question names it itself" if entity in evidence.named_entities else why
        rejected.append(Linked(readable(labels[entity]), (), why))
    if not answer_proofs:
        reason = "ungrounded" if misfits and len(misfits) == len(rejected) else "not_in_evidence"
        return refused(statement, f"it answers {describe_rejected(rejected)}", rejected, reason)
    names = [readable(labels[entity]) for entity in answer_proofs]
    other, wrong = evidence.judge.answers_otherwise(evidence.question, list(answer_proofs))
    if wrong.issuperset(answer_proofs):
        return _ungrounded(statement, "; ".join(names), says(other))
    rejected += [Linked(readable(labels[e]), (), says(other)) for e in answer_proofs if e in wrong]
    answer_proofs = {e: proof for e, proof in answer_proofs.items() if e not in wrong}
    # What is chosen of the names of the question has no path from another of them.
    is_chosen = is_choice and evidence.named_entities.issuperset(answer_proofs)
    if not is_chosen and evidence.judge.answer_another(evidence.question, answer_proofs):
        return _ungrounded(statement, "; ".join(names), "the facts that lead to it do not say what is asked")
    names = [readable(labels[entity]) for entity in answer_proofs]
    rests_on = triples_of(cited)
    return GroundedReply(_text(statement, names), answer_proofs, "", rests_on, tuple(rejected))


def _value_reply(
    statement: StatedAnswer, evidence: ReadEvidence, value: str, cited: Sequence[Fact]
) -> GroundedReply:
    """Yes or no where a query graph of the question comes to it; a number where the named facts do.

    Without named facts a number is compared with those whose names the reply repeats.
    """
    if misfit := misfit_of_value(evidence.question, value):
        return _ungrounded(statement, value, misfit)
    if value not in ASKED_YES_NO:
        if not cited:
            repeated = _repeated_triples(evidence, statement.text)
            cited = [Fact((triple,)) for triple in repeated] or evidence.facts[: len(evidence.facts) == 1]
        triples = derived_number(evidence, value, cited)
        if isinstance(triples, str):
            return _ungrounded(statement, value, triples)
        return GroundedReply(_text(statement, [value]), {}, value, triples)
    named = tuple(dict.fromkeys(triple for fact in cited for triple in fact.all_triples))
    decided = evidence.judge.decides(evidence.question, value, frozenset(named))
    if isinstance(decided, str):
        return _ungrounded(statement, value, says(decided))
    # What is not so rests on what is recorded in its place, which the model names.
    triples = named if named and value == "no" else tuple(dict.fromkeys((*named, *decided)))
    return GroundedReply(_text(statement, [value]), {}, value, triples)


def _ungrounded(statement: StatedAnswer, value: str, why: str) -> GroundedReply:
    return refused(statement, f'it answers "{value}", which nothing proves: {why}', (), "ungrounded")


def refused(
    statement: StatedAnswer,
    why: str,
    rejected: Sequence[Linked] = (),
    reason: Literal["not_in_evidence", "ungrounded"] = "not_in_evidence",
) -> GroundedReply:
    """A reply of which nothing is an answer, and why; where it says so itself, `why` is empty."""
    said = f': "{short(statement.text)}"' if statement.text else ""
    detail = f"the model was asked, and {why or 'it finds no answer in the facts'}{said}"
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
    is_said = all(f" {normalise(name)} " in normal_text for name in names)
    return statement.text if is_said else f"{statement.text}\n{names_text}"


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


def _repeated_triples(evidence: ReadEvidence, text: str) -> tuple[int, ...]:
    """The given triples whose two ends an explanation names."""
    graph, normal_text = evidence.graph, f" {normalise(text)} "
    named_nodes = {
        node
        for node in evidence.names.nodes
        if len(name := normalise(graph.labels[node])) >= 2 and f" {name} " in normal_text
    } | set(evidence.named_entities)
    return tuple(t for t in evidence.triples if {*graph.triple(t)[::2]} <= named_nodes)
