"""From a reading to an answer: the likeliest candidate is executed and its members proved, or it abstains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from clew.foundation.system import most_answers
from clew.graph.graph import Graph, ValueKind
from clew.graph.naming import Name
from clew.graph.steps import is_backward, opposite, relation_of
from clew.grounding import answer_entity, cite
from clew.query.execute import Executor, Nodes, OverBudget, difference
from clew.query.prove import pattern_of, prove, recorded_instead, triple_of
from clew.query.tree import (
    Anchor,
    Both,
    Counted,
    Extreme,
    Part,
    Query,
    Walk,
    Without,
    key_of,
    parts_of,
    steps_of,
    with_entity,
)
from clew.query.vocabulary import Vocabulary, words_of_label
from clew.query.words import column_of, say
from clew.reading.flags import as_asked, that_decides
from clew.reading.mentions import MEANT, PARTIAL, TYPO, WORDS, Candidate
from clew.reading.mutual import both_ways, either_way
from clew.reading.ranker import Ranked
from clew.reading.reader import Reading
from clew.types import Abstention, Alternative, Answer, AnswerEntity, Citation, Pattern, Rows

MOST_PROVED = 200
"""Members of a counted or summed set that are cited."""
MOST_PROVED_OF_GROUP = 20
"""And of each group."""
FEW_NAMES = 3
"""Names that are cited where a thing is not called so."""
MOST_ALTERNATIVES = 4
MOST_MERGED = 10
"""Candidates that are executed to see which of them answer the same."""
LEAST_MERGED, MOST_MEANINGS = 0.004, 6
"""Share from which on a candidate is one of the meanings of a question, of which so many are told apart."""
LEAST_LIKELY = 0.02
"""Candidates less likely than this are no alternatives."""


@dataclass(frozen=True, slots=True)
class DraftAnswer:
    """What a candidate answers with its proof, or why it does not; the fields are those of `Answer`."""

    answers: tuple[AnswerEntity, ...] = ()
    citations: tuple[Citation, ...] = ()
    text: str = ""
    pattern: Pattern | None = None
    abstained: Abstention | None = None
    complete: bool = True
    notes: tuple[str, ...] = ()
    total: int | None = None
    rows: Rows | None = None


def text_of(answers: Sequence[AnswerEntity]) -> str:
    """The answers in one line."""
    return " · ".join(a.shown for a in answers)


def drawn(answer: Answer, drafted: DraftAnswer, reading: str | None) -> Answer:
    """The answer with its fields taken from what a candidate answers, and `reading` in words."""
    return replace(answer, reading=reading, **{f.name: getattr(drafted, f.name) for f in fields(drafted)})


LEAST_BESIDE, MOST_BESIDE = 0.1, 4
"""How likely a candidate must be beside the likeliest that answers the same, to stand for both; how many."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """Candidates that answer the same: the likeliest of them, and how likely all of them are together.

    `size`: how many things answer it, -1 where that takes more edges than may be followed. `others`: the next
    likely of them, which may have a place for words that the likeliest has none for.
    """

    ranked: Ranked
    query: Query
    share: float
    size: int
    others: tuple[Query, ...] = ()


def meanings_of(executor: Executor, vocabulary: Vocabulary, reading: Reading) -> list[Meaning]:
    """What a question may mean, the likeliest first: at most `MOST_MEANINGS` that answer otherwise.

    Candidates that answer the same are one: their probabilities are added, and the likeliest of them stands
    for all. Only the `MOST_MERGED` likeliest are executed.
    """
    meanings: dict[tuple[object, ...], Meaning] = {}
    for candidate in reading.ranking.ranked[:MOST_MERGED]:
        if candidate.probability < LEAST_MERGED and meanings:
            break
        query = either_way(
            vocabulary, executor, as_asked(vocabulary, reading.question, candidate.option.query)
        )
        key, size = answers_of(executor, vocabulary, both_ways(vocabulary, query))
        meaning = meanings.get(key, Meaning(candidate, query, 0.0, size))
        others = meaning.others
        is_near = candidate.probability >= LEAST_BESIDE * meaning.ranked.probability
        is_near = is_near or steps_of(query) == steps_of(meaning.query)  # of a type, *city in Dunmoor*
        if is_near and query != meaning.query and query.ask != "yes" and len(others) < MOST_BESIDE:
            others = (*others, query)
        share = min(1.0, meaning.share + candidate.probability)
        meanings[key] = replace(meaning, share=share, others=others)
    return sorted(meanings.values(), key=lambda m: -m.share)[:MOST_MEANINGS]


def _number_text(number: float) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".")


def answers_of(executor: Executor, vocabulary: Vocabulary, query: Query) -> tuple[tuple[object, ...], int]:
    """Equal for queries that answer the same, and how many things do; one without answers is but itself."""
    try:
        members = executor.members(query.part)
        if query.ask in ("names", "called"):
            texts = tuple(text for _, text, _ in executor.names(query))
            return (query.ask, texts, query.key, query.name), len(texts)
        if query.key and query.ask == "list":
            edges = executor.on_edges(query.part, query.key)
            return ("on edges", query.key, edges.places.tobytes()), len(edges.places)
        if query.by:
            groups = executor.groups(query)
            return ("groups", *((g, m.tobytes(), n) for g, m, n in groups)), len(groups)
        if query.ask == "every":
            return ("yes", executor.holds(query)), len(members)
        if not len(members) and query.ask == "list":
            return ("none", key_of(query)), 0
        if query.ask == "yes":
            return ("yes", len(members) > 0 and that_decides(vocabulary, query, members)[0]), len(members)
        if query.ask == "list":
            return ("list", members.tobytes()), len(members)
        return ("number", executor.number(query)), len(members)
    except OverBudget:
        return ("budget", key_of(query)), -1


def answer_of(graph: Graph, vocabulary: Vocabulary, query: Query, probability: float = 1.0) -> DraftAnswer:
    """Execute one query; abstains where it has no members, or would follow too many edges."""
    executor = Executor(graph)
    try:
        members = executor.members(query.part)
        if query.ask in ("names", "called"):
            return _names_answer(executor, vocabulary, query, probability)
        if query.key:
            return _edge_answer(executor, vocabulary, query, probability)
        if query.by:
            return _grouped_answer(executor, vocabulary, query, probability)
        if query.ask == "every":
            return _every_answer(executor, vocabulary, query, members, probability)
        if query.ask == "list":
            return _list_answer(executor, vocabulary, query, probability)
        if query.ask == "yes":
            return _yes_or_no_answer(executor, vocabulary, query, members, probability)
        return _number_answer(executor, vocabulary, query, members, probability)
    except OverBudget:
        detail = f"more edges than may be followed: {say(query, vocabulary)}"
        return DraftAnswer(abstained=Abstention("budget", detail), complete=False)


def taken_for(graph: Graph, reading: Reading, query: Query) -> tuple[str, ...]:
    """What names of the question were taken for that are written otherwise, or that more things have."""
    notes: list[str] = []
    for part in query.contents.parts:
        if not isinstance(part, Anchor) or part.mention < 0:
            continue
        mention = reading.mentions[part.mention]
        candidate = next((c for c in mention.candidates if c.node == part.node), None)
        if candidate is None:
            continue
        if candidate.how in (PARTIAL, TYPO, WORDS, MEANT):
            notes.append(f'"{mention.text}" is taken for {graph.labels[part.node]}')
        equal = [c.node for c in mention.candidates if _is_as_near(c, candidate)]
        if equal:
            name, *other_names = map(graph.label, (part.node, *equal))
            notes.append(f'"{mention.text}" may also be {" or ".join(other_names)}; this is of {name}')
    return tuple(dict.fromkeys(notes))


def ambiguous(graph: Graph, vocabulary: Vocabulary, reading: Reading, query: Query) -> Abstention | None:
    """Why not to answer, where a name may as well be another entity of which the same can be asked.

    Where all give the same answer it does not matter which is meant.
    """
    executor = Executor(graph)

    def answers_otherwise(node: int, other: int) -> bool:
        """Whether another entity has what is asked of one, and other answers come of it."""
        walks = [p for p in query.contents.parts if isinstance(p, Walk) and _is_of(p.source, node)]
        asked = [Query("list", replace(walk, source=Anchor(other))) for walk in walks]
        if not all(answers_of(executor, vocabulary, each)[1] for each in asked):
            return False
        whole = replace(query, part=with_entity(query.part, node, other))
        answers, size = answers_of(executor, vocabulary, whole)
        return size != 0 and answers != answers_of(executor, vocabulary, query)[0]

    for part in query.contents.parts:
        if not isinstance(part, Anchor) or part.mention < 0:
            continue
        mention = reading.mentions[part.mention]
        candidate = next((c for c in mention.candidates if c.node == part.node), None)
        equal = [] if candidate is None else [c for c in mention.candidates if _is_as_near(c, candidate)]
        other_nodes = [c.node for c in equal if answers_otherwise(part.node, c.node)]
        if other_nodes:
            names = tuple(map(graph.label, (part.node, *other_nodes)))
            return Abstention("ambiguous_entity", f'"{mention.text}" may be {" or ".join(names)}', names)
    return None


def _is_of(part: Part, node: int) -> bool:
    """Whether a part is one entity."""
    return isinstance(part, Anchor) and part.node == node


def _is_as_near(other: Candidate, candidate: Candidate) -> bool:
    """Whether a name is as good for another entity: a part of two names however long these are."""
    is_as_good = candidate.how == PARTIAL or other.score >= candidate.score
    return other.node != candidate.node and other.how == candidate.how and is_as_good


def alternatives(vocabulary: Vocabulary, reading: Reading, answered: bool) -> tuple[Alternative, ...]:
    """The nearest other readings in words, each meaning once."""
    seen: set[tuple[object, ...]] = set()
    readings: list[Alternative] = []
    for candidate in reading.ranking.ranked[int(answered) :]:
        key = key_of(candidate.option.query)
        if candidate.probability < LEAST_LIKELY or len(readings) == MOST_ALTERNATIVES:
            break
        if key not in seen:
            seen.add(key)
            readings.append(
                Alternative(say(candidate.option.query, vocabulary), round(candidate.probability, 3))
            )
    return tuple(readings)


def _list_answer(executor: Executor, vocabulary: Vocabulary, query: Query, probability: float) -> DraftAnswer:
    graph, part = executor.graph, query.part
    pattern = pattern_of(query, graph)
    if not len(executor.members(part)):
        return DraftAnswer(pattern=pattern, abstained=_empty_result(vocabulary, query))
    score = round(probability, 3)
    answers: list[AnswerEntity] = []
    citations: list[Citation] = []
    rows = None
    if isinstance(part, Extreme) and (part.steps or part.key) and part.number != 1 and not part.nth:
        members, values = executor.ranked(part)
        name = words_of_label(part.key) if part.key else column_of(part.steps, vocabulary)
        columns = ("answer", name)
        texts = _value_texts(executor, part, values.tolist())
        rows = Rows(columns, tuple(zip(map(graph.label, members.tolist()), texts, strict=True)))
    else:
        members = executor.listed(part)
    for node in members[: most_answers()].tolist():
        answers.append(answer_entity(graph, node, score))
        citations.append(cite(graph, node, prove(executor, part, node)))
    return DraftAnswer(
        tuple(answers),
        tuple(citations),
        text_of(answers),
        pattern,
        notes=_notes(query),
        total=len(members),
        rows=rows,
    )


def _grouped_answer(
    executor: Executor, vocabulary: Vocabulary, query: Query, probability: float
) -> DraftAnswer:
    """A row a group: its name, and its number or its members; each proved by edges of its first members."""
    graph, score = executor.graph, round(probability, 3)
    groups = executor.groups(query)
    if not groups:
        return DraftAnswer(abstained=_empty_result(vocabulary, query))
    source = (
        query.part.source
        if query.ask not in ("list", "count") and isinstance(query.part, Walk)
        else query.part
    )
    answers: list[AnswerEntity] = []
    citations: list[Citation] = []
    rows: list[tuple[str | float | tuple[str, ...], ...]] = []
    for group, members, number in groups[: most_answers()]:
        label = executor.period(group, query.period) if query.period else graph.labels[group]
        if number is None:
            cell = tuple(map(graph.label, members.tolist()))
        else:
            cell = int(number) if number.is_integer() else number
        rows.append((label, cell))
        entity = answer_entity(graph, group, score)
        answers.append(replace(entity, entity=label, label=label) if query.period else entity)
        proof = [
            t for m in members[:MOST_PROVED_OF_GROUP].tolist() for t in _to_group(executor, source, query, m)
        ]
        citation = cite(graph, group, tuple(dict.fromkeys(proof)))
        citations.append(replace(citation, answer=label, label=label) if query.period else citation)
    number_name = say(replace(query, by=(), period=""), vocabulary).removeprefix("the ")
    columns = (query.period or column_of(query.by, vocabulary), number_name)
    text = " · ".join(f"{label}: {_cell_text(cell)}" for label, cell in rows)
    table = Rows(columns, tuple(rows))
    in_none = len(executor.members(source)) - len({m for _, members, _ in groups for m in members.tolist()})
    notes = (f"{in_none} of them are in no group",) if in_none else ()
    return DraftAnswer(tuple(answers), tuple(citations), text, notes=notes, total=len(groups), rows=table)


def _to_group(executor: Executor, source: Part, query: Query, member: int) -> list[int]:
    """The triples that show that a member is of a set, what it has, and the first of its ways to a group."""
    part: Part = Anchor(member)
    for step in query.by:
        part = Walk(part, step)
    ends = executor.members(part)[:1].tolist()
    proof = [*prove(executor, source, member), *(t for end in ends for t in prove(executor, part, end))]
    if source is not query.part and isinstance(query.part, Walk):
        valued = Walk(Anchor(member), query.part.step)
        proof += [
            t for value in executor.members(valued)[:1].tolist() for t in prove(executor, valued, value)
        ]
    return proof


def _cell_text(cell: str | float | tuple[str, ...]) -> str:
    if isinstance(cell, float | int):
        return _number_text(cell)
    return cell if isinstance(cell, str) else ", ".join(cell)


def _value_texts(executor: Executor, part: Extreme, values: Sequence[float]) -> list[str | float]:
    """What things are ranked by, dates as they are written."""
    graph, written = executor.graph, dict[float, str]()
    if part.key:
        edges, statements = executor.on_edges(part.source, part.key), executor.graph.edge_properties
        for place in edges.places[statements.kind[edges.places] == ValueKind.DATE].tolist():
            written.setdefault(float(statements.value[place]), statements.texts[place])
    elif not part.counted and len(part.steps) == 1:
        for node in executor.members(Walk(part.source, part.steps[-1])).tolist():
            if graph.values.kind[node] == ValueKind.DATE:
                written.setdefault(float(graph.values.value[node]), graph.labels[node])
    return [written.get(value, value) for value in values]


def _every_answer(
    executor: Executor, vocabulary: Vocabulary, query: Query, members: Nodes, probability: float
) -> DraftAnswer:
    """Whether all of a set are in another: proved by each of them, denied by one that is not."""
    if not len(members) or query.other is None:
        return DraftAnswer(abstained=_empty_result(vocabulary, query))
    outside = difference(members, executor.members(query.other))
    verdict, shown = ("no", outside[:1]) if len(outside) else ("yes", members[:MOST_PROVED])
    proof: list[int] = []
    for node in shown.tolist():
        proof += prove(executor, query.part, node)
        is_so = verdict == "yes"
        proof += (
            prove(executor, query.other, node) if is_so else recorded_instead(executor, query.other, node)
        )
    graph = executor.graph
    if not proof:
        return DraftAnswer(abstained=_empty_result(vocabulary, query))
    entity = AnswerEntity(verdict, verdict, round(probability, 3))
    notes = (f"{graph.labels[int(outside[0])]} is not",) if len(outside) else ()
    return DraftAnswer((entity,), (cite(graph, verdict, tuple(dict.fromkeys(proof))),), verdict, notes=notes)


def _yes_or_no_answer(
    executor: Executor, vocabulary: Vocabulary, query: Query, members: Nodes, probability: float
) -> DraftAnswer:
    graph, score = executor.graph, round(probability, 3)
    pattern = pattern_of(query, graph)
    if len(members):
        is_so, node = that_decides(vocabulary, query, members)
        verdict, proof = "yes" if is_so else "no", prove(executor, query.part, node)
        return DraftAnswer(
            (AnswerEntity(verdict, verdict, score),), (cite(graph, verdict, proof),), verdict, pattern
        )
    instead = _recorded_instead(executor, query)
    if not instead:
        return DraftAnswer(pattern=pattern, abstained=_empty_result(vocabulary, query))
    return DraftAnswer((AnswerEntity("no", "no", score),), (cite(graph, "no", instead),), "no", pattern)


def _recorded_instead(executor: Executor, query: Query) -> tuple[int, ...]:
    """Triples that the graph records in the place of what was asked for."""
    part = query.part
    match part:
        case Both(Walk(Anchor(one), step), Anchor(other)):
            # Of what has no status nobody can tell that it is another one.
            head, way = (other, opposite(step)) if is_backward(step) else (one, step)
            _, tails = executor.edges(np.array([head], np.int64), way)
            return (triple_of(executor.graph, head, way, int(tails[0])),) if len(tails) else ()
        case _:
            pass
    if isinstance(part, Both) and isinstance(part.right, Anchor | Walk):
        recorded = executor.members(part.left)
        return prove(executor, part.left, int(recorded[0])) if len(recorded) else ()
    for inner in parts_of(part):
        steps = getattr(inner, "steps", ())
        source = getattr(inner, "source", None)
        if source is None or len(steps) != 1:
            continue
        for node in executor.members(source)[:1].tolist():
            _, neighbours = executor.edges(np.array([node], np.int64), steps[0])
            if len(neighbours):
                return (triple_of(executor.graph, node, steps[0], int(neighbours[0])),)
    return ()


def _edge_answer(executor: Executor, vocabulary: Vocabulary, query: Query, probability: float) -> DraftAnswer:
    """The values of a property of edges, each with its edges, or one number of them."""
    graph, edges = executor.graph, executor.on_edges(query.part, query.key)
    number = None if query.ask == "list" else executor.number(query)
    if not len(edges.places) or (query.ask != "list" and number is None):
        return DraftAnswer(abstained=_empty_result(vocabulary, query))
    statements = graph.edge_properties
    texts = [statements.texts[at] if number is None else _number_text(number) for at in edges.places.tolist()]
    proofs: dict[str, list[int]] = {}
    rows = zip(texts, edges.before.tolist(), edges.sources, edges.statements.tolist(), strict=True)
    for text, before, source, statement in rows:
        proof = proofs.setdefault(text, [])
        if len(proof) < MOST_PROVED:
            proof += [
                *prove(executor, source, before),
                graph.find_triple(*statements.triples[statement].tolist()),
            ]
    shown = list(proofs)[: most_answers()]
    answers = tuple(AnswerEntity(text, text, round(probability, 3)) for text in shown)
    citations = tuple(cite(graph, text, tuple(dict.fromkeys(proofs[text]))) for text in shown)
    return DraftAnswer(answers, citations, text_of(answers), notes=_notes(query), total=len(proofs))


def _names_answer(
    executor: Executor, vocabulary: Vocabulary, query: Query, probability: float
) -> DraftAnswer:
    """What things are called, each name with all that says so; or yes, or no by the names that they have."""
    found, score, notes = executor.names(query), round(probability, 3), ()
    is_so = bool(found)
    if query.ask == "called" and not is_so:
        found = executor.names(replace(query, ask="names", name=""))[:FEW_NAMES]
        notes = ("what the graph does not record is taken not to be so",)
    if not found:
        return DraftAnswer(abstained=_empty_result(vocabulary, query))
    proofs: dict[str, list[tuple[int, Name]]] = {}
    for member, text, name in found:
        said = text if query.ask == "names" else "yes" if is_so else "no"
        proofs.setdefault(said, []).append((member, name))
    shown = list(proofs)[: most_answers()]
    citations = tuple(_cite_names(executor, query.part, text, proofs[text]) for text in shown)
    answers = tuple(AnswerEntity(text, text, score) for text in shown)
    return DraftAnswer(answers, citations, text_of(answers), notes=notes, total=len(proofs))


def _cite_names(executor: Executor, part: Part, answer: str, names: Sequence[tuple[int, Name]]) -> Citation:
    """The citation of an answer by what sources say of names, of which RDF has no triples in the graph."""
    graph = executor.graph
    members = dict.fromkeys(member for member, _ in names)
    path = cite(graph, answer, tuple(t for member in members for t in prove(executor, part, member)))
    said = tuple(dict.fromkeys(name.said_of(graph, member) for member, name in names[:MOST_PROVED]))
    ids = tuple(name.triple for _, name in names[:MOST_PROVED] if name.triple >= 0)
    return replace(path, triples=(*path.triples, *said), triple_ids=(*path.triple_ids, *ids))


def _number_answer(
    executor: Executor, vocabulary: Vocabulary, query: Query, members: Nodes, probability: float
) -> DraftAnswer:
    graph = executor.graph
    number = executor.number(query)
    if number is None or not (len(members) or query.other is not None):
        return DraftAnswer(abstained=_empty_result(vocabulary, query))
    text = f"{_number_text(100 * number)} %" if query.ask == "share" else _number_text(number)
    cited_nodes = members[:MOST_PROVED].tolist()
    proofs = [prove(executor, query.part, node) for node in cited_nodes]
    if query.other is not None:
        proofs += [
            prove(executor, query.other, n) for n in executor.members(query.other)[:MOST_PROVED].tolist()
        ]
    citations = tuple(cite(graph, text, proof) for proof in proofs if proof)
    notes = _notes(query)
    if citations and len(members) > MOST_PROVED:
        notes = (*notes, f"{MOST_PROVED} of {len(members)} members are cited")
    if not citations:
        # All of a type: no triple says so, the declaration of types does.
        notes = (*notes, "counted by the declared types")
    return DraftAnswer((AnswerEntity(text, text, round(probability, 3)),), citations, text, notes=notes)


def is_negated(query: Query) -> bool:
    """Whether a query is of what the graph does not record."""
    parts = query.contents.parts
    return any(isinstance(p, Without) or (isinstance(p, Counted) and p.number == 0) for p in parts)


def _notes(query: Query) -> tuple[str, ...]:
    return ("what the graph does not record is taken not to be so",) if is_negated(query) else ()


def _empty_result(vocabulary: Vocabulary, query: Query) -> Abstention:
    match query:
        case Query("list", Walk(Anchor(node, _), step)):
            relation, label = vocabulary.relations[relation_of(step)], vocabulary.graph.labels[node]
            back = is_backward(step)
            statement = f'nothing whose "{relation}" is {label}' if back else f'no "{relation}" of {label}'
            return Abstention("empty_result", f"it records {statement}")
        case _:
            return Abstention("empty_result", f"it records none: {say(query, vocabulary)}")
