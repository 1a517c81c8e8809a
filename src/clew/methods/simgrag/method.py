"""`simgrag`: SimGRAG (Cai et al., 2025), a question in two calls of a chat model.

| section | step | where |
|---|---|---|
| 4.1, Tables 16, 17 | query to pattern | `write_pattern.py` |
| 4.2, 4.3, 5 | pattern to subgraphs, by GSD | `find_subgraphs.py`, `graph/match/matcher.py` |
| beyond | operations | `write_pattern.py`, `plan_query.py` |
| 4.4, Tables 18, 19 | verbalised subgraphs, read, grounded | `read.py` |

Defaults: k = 3 and 12 shots (C.1). Deviations, each with its reason:

- Candidates are not cut at k(n), k(r), k(t): the matcher gives what unlimited candidates would.
  `candidates=16` is the paper's letter (C.1, MetaQA: k(n) = k(r) = 16; FactKG: `candidates=16384`,
  `candidate_relations=512`, `candidate_types=16`): the nearest by embedding distance only, nothing of what
  follows but the grounding.
- Two nodes of a pattern may take one entity, as long as no two edges take one triple (Definition 1 has a
  bijection): the writer of a film may be its director.
- Of matches with equal GSD those that run in the direction of the pattern come first.
- Distances are the embedder's or smaller: where what a relation means, a misspelt name or a value agrees
  with the graph (`find_subgraphs.py`). A pattern is written without having seen the graph.
- Where the best match has a GSD per edge above a bound, or a name has nothing like it in the graph, the
  pattern is asked for once more with the first one and what was wrong with it; then the method abstains. The
  paper reads whatever is nearest.
- The first prompt shows what the graph records, in typed lines, and the reply may carry operations (compare,
  count, rank, leave out, or, yes and no). They are a query graph, which is executed over the whole graph
  without a second call (`plan_query.py`). `schema="none"` is the paper's: its patterns are written in
  ignorance of the graph.
- Answers are grounded in the subgraphs. Where the model takes every shown match that ties with the best,
  all others that tie are answers too: k = 3 cannot show the 246 answers that a question of MetaQA has.
- Subgraphs are written in JSON between marks, since names of a graph are data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace

from clew.graph.match.distances import Distances
from clew.grounding import cite
from clew.index.store.directory import Index
from clew.index.vectors.entities import IndexDistances
from clew.llm.managed import Talk, run_sync, short
from clew.llm.reply import TypedReplies
from clew.llm.types import ChatModel, ContextOverflow, OutputForm, Reply, ReplyInvalid, Request
from clew.methods.base import GraphMethod, Retrieved, Run, needs_model, ungrounded
from clew.methods.evidence import Proofs
from clew.methods.ground import ASKED_YES_NO
from clew.methods.names_view import NamesView
from clew.methods.question import Called, FindTopicEntities, misfit_of_value, shared_names
from clew.methods.schema_view import RelationRanking, SchemaView
from clew.methods.settings import SimgragSettings
from clew.methods.simgrag.find_subgraphs import (
    Cut,
    FewCandidates,
    Misfit,
    PatternDistances,
    find_about_claim,
    find_by_letter,
    find_subgraphs,
    gsd_terms,
    triple_names,
    unfit,
)
from clew.methods.simgrag.plan_query import PlanQuery
from clew.methods.simgrag.read import Subgraphs, read_answers
from clew.methods.simgrag.write_pattern import (
    ExampleKind,
    PatternPlan,
    WrittenPattern,
    answer_nodes,
    as_name,
    default_shots,
    hint_text,
    read_prompt,
    retry_text,
    write_pattern,
)
from clew.reading.answer import DraftAnswer, drawn, text_of
from clew.reading.near_names import near_names
from clew.text.embedders import Embedder
from clew.types import Abstention, Answer, AnswerEntity, MatchResult, Pattern, PatternEdge, Step

MOST_NEAR_RELATIONS = 12
"""Relations that a second prompt shows where the first showed nothing of the graph."""
TYPES = 16
"""k(t) of the paper's letter (section C.1)."""


class QuestionModel(TypedReplies):
    """The chat model of a question, which keeps its replies: usage is known however the question ends."""

    def __init__(self, talk: Talk, refused: set[OutputForm]) -> None:
        super().__init__(talk.model.name, refused)
        self._model, self._replies = talk.model, talk.replies

    async def complete(self, request: Request) -> Reply:
        """Reply to a request; raises as the model does, and ReplyInvalid for a repair that is too long."""
        try:
            reply = await self._model.complete(request)
        except ContextOverflow as error:
            if all(message.role != "assistant" for message in request.messages):
                raise
            # A repair shows the model its own reply, and that may be a long one.
            raise ReplyInvalid("it is no use, and too long to be shown again") from error
        self._replies.append(reply)
        return reply

    async def close(self) -> None:
        """Leave the model open: it is the caller's."""


def note_useless(run: Run, error: ReplyInvalid) -> None:
    """Note what the model said last, and why it is of no use."""
    text = run.talk.replies[-1].text if run.talk.replies else ""
    run.steps.append(Step("reply", {"text": short(text), "problem": error.reason}))


def no_usable_reply(run: Run, error: ReplyInvalid) -> Abstention:
    """The abstention of a run that ends at a reply of no use, which its steps have."""
    note_useless(run, error)
    return Abstention("empty_result", f"the model gave no usable reply: {error.reason}")


@dataclass(frozen=True)
class Found:
    """What a model wrote, and the best matches of its pattern; or `misfit`, why none fits.

    `executed` is what a plan with operations came to, without matches to be read.
    """

    written: WrittenPattern | None = None
    result: MatchResult = field(default_factory=lambda: MatchResult(()))
    misfit: Misfit | None = None
    executed: DraftAnswer | None = None

    @property
    def pattern(self) -> Pattern | None:
        """The pattern that was written."""
        return None if self.written is None else self.written.pattern


class PatternSearch:
    """The part of SimGRAG that questions and claims share: query to pattern to subgraphs."""

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: SimgragSettings | None = None,
    ) -> None:
        self.index, self.graph, self.model = index, index.graph, needs_model(model, "simgrag")
        self.settings = settings or SimgragSettings()
        self.shots = self.settings.examples or default_shots()
        self.ranking, self._schema = RelationRanking(index.graph, embedder), None
        self._open_distances = PatternDistances(index, embedder)
        self.distances: Distances = self._open_distances
        self.cut, node_count = None, self.settings.candidates
        if node_count is not None:
            types = self.settings.candidate_types or TYPES
            self.cut = Cut(node_count, self.settings.candidate_relations or node_count, types)
            self.distances = FewCandidates(IndexDistances(index, embedder), self.cut)
        self._find_entities = FindTopicEntities.of(index, embedder)
        if self.cut is None and self.settings.schema == "typed":
            self._schema = SchemaView(self._find_entities.reader)
        self._refused_forms: set[OutputForm] = set()

    def model_of(self, run: Run) -> QuestionModel:
        """Return the model as it is asked for one question."""
        return QuestionModel(run.talk, self._refused_forms)

    async def find(self, run: Run, task: ExampleKind, query: str) -> Found:
        """Write a pattern and match it; if not by the paper's letter, again with hints where nothing fits.

        Raises LlmError: as the model; ReplyInvalid where it gives no pattern.
        """
        hints = self._hints(task, query)
        first = await self._write_and_match(run, task, query, hints)
        misfit, finds_nothing = first.misfit, first.written is not None and first.written.finds_nothing
        if misfit is None or misfit.reason == "budget" or self.cut is not None or finds_nothing:
            return first
        second = await self._write_and_match(run, task, query, self._retry(task, query, first, misfit))
        return second if second.misfit is None or second.pattern is not None else first

    async def _write_and_match(self, run: Run, task: ExampleKind, query: str, hints: str) -> Found:
        shots = self.shots.of(task, self.settings.shots)
        operations = task == "question" and self._schema is not None
        with run.stage("pattern"):
            model = self.model_of(run)
            written = await write_pattern(model, task, query, shots, hints, operations=operations)
        run.steps.append(_pattern_step(written, bool(hints)))
        if written.finds_nothing:
            detail = "the model finds nothing of the kind in what the graph records"
            return Found(written, misfit=Misfit("no_relation", detail))
        if written.pattern is None:
            detail = f"the model wrote no pattern to search for ({written.problem})"
            return Found(written, misfit=Misfit("empty_result", detail))
        if written.plan is not None:
            return self._execute(run, written, written.plan)
        with run.stage("match"):
            result, misfit = self._find(task, written.pattern)
        run.steps.append(self._match_step(written.pattern, result, misfit))
        return Found(written, result, misfit)

    def _execute(self, run: Run, written: WrittenPattern, plan: PatternPlan) -> Found:
        """Answer by the query graph of a plan."""
        vocabulary, bound = self._find_entities.reader.vocabulary, self.settings.bound
        with run.stage("execute"):
            result = PlanQuery(vocabulary, self._open_distances, bound).answer(plan)
        executed, misfit = (None, result) if isinstance(result, Misfit) else (result, None)
        detail = {
            "operations": [op.op for op in plan.operations],
            "answers": [answer.entity for answer in executed.answers] if executed else [],
            "complete": executed is None or executed.complete,
            "problem": misfit.detail if misfit else "",
        }
        run.steps.append(Step("execute", detail))
        return Found(written, misfit=misfit, executed=executed)

    def _find(self, task: ExampleKind, pattern: Pattern) -> tuple[MatchResult, Misfit | None]:
        """The best matches, and why they do not fit; the paper's letter reads whatever is nearest."""
        graph, distances, settings = self.graph, self.distances, self.settings
        if self.cut is not None:
            result = find_by_letter(graph, pattern, distances, settings.k)
            return result, None if result.matches else unfit(
                graph, pattern, result, distances, settings.bound
            )
        if task == "claim" or not answer_nodes(pattern):
            return find_about_claim(graph, pattern, distances, settings.k, settings.bound)
        result = find_subgraphs(graph, pattern, distances, settings.k)
        return result, unfit(graph, pattern, result, distances, settings.bound)

    def _hints(self, task: ExampleKind, query: str, words: str = "") -> str:
        """What this graph records, and other names of what a text names; nothing in the paper's form."""
        if self._schema is None:
            return ""
        reading = self._schema.reader.read(query)
        names = NamesView(self._schema.reader).block(reading, "plain")
        return hint_text(self._schema.text(reading, words), names, operations=task == "question")

    def _retry(self, task: ExampleKind, query: str, first: Found, misfit: Misfit) -> str:
        """The first reply with the blame, and the names and relations that may have been meant."""
        written = first.written
        words = " ".join(edge.relation or "" for edge in first.pattern.edges) if first.pattern else ""
        reply = written.replies[-1].text if written is not None and written.replies else ""
        hints = self._hints(task, query, words)
        if not hints:
            # The relations nearest to a text, for a graph of which the prompt says nothing else.
            distances = self.distances.relation_distances(PatternEdge(0, words or query, 1))
            nearest = distances.argsort(kind="stable")[:MOST_NEAR_RELATIONS].tolist()
            names = "; ".join(as_name(self.graph.relation_labels[relation]) for relation in nearest)
            hints = f"\nThis graph has relations such as {names}.\n"
        return retry_text(hints, short(reply), misfit.detail, self.near_names(misfit))

    def _match_step(self, pattern: Pattern, result: MatchResult, misfit: Misfit | None) -> Step:
        rows = [
            {
                "gsd": round(m.gsd, 3),
                "triples": [list(triple) for triple in triple_names(self.graph, m.triples)],
                "terms": [list(term) for term in gsd_terms(self.graph, pattern, m, self.distances)],
            }
            for m in result.matches
        ]
        problem = misfit.detail if misfit else ""
        return Step("match", {"matches": rows, "complete": result.complete, "problem": problem})

    def near_names(self, misfit: Misfit) -> tuple[str, ...]:
        """Names of the graph that may have been meant by those that it lacks."""
        return near_names(self.graph, self.index.names, misfit.names)


def _pattern_step(written: WrittenPattern, hinted: bool) -> Step:
    triples = [] if written.pattern is None else written.pattern.as_json()["triples"]
    operations = () if written.plan is None else written.plan.operations
    detail = {
        "prompt": written.prompt.version,
        "segments": list(written.segments),
        "pattern": triples,
        "operations": [asdict(operation) for operation in operations],
        "schema": hinted,
        "problem": written.problem,
    }
    return Step("pattern", detail)


@dataclass(frozen=True, slots=True)
class ReadSubgraphs(Retrieved):
    """What a model reads of a pattern's matches."""

    subgraphs: Subgraphs = field(kw_only=True)


class SimGRAG(GraphMethod[SimgragSettings]):
    """Answers questions over one open index with a chat model."""

    name, settings_class, needs_topics = "simgrag", SimgragSettings, False

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: SimgragSettings | None = None,
    ) -> None:
        super().__init__(index, embedder, model=model, settings=settings)
        self.search = PatternSearch(index, embedder, model=model, settings=settings)

    def _answer(self, run: Run, talk: Talk, question: str, entities: Sequence[str]) -> Answer:
        query = f"{question} (about: {', '.join(entities)})" if entities else question
        try:
            answer = super()._answer(run, talk, query, entities)
        except ReplyInvalid as error:
            answer = Answer(question, abstained=no_usable_reply(run, error))
        return replace(answer, question=question)

    def retrieve(self, question: str, called: Called, run: Run) -> Retrieved:
        """The best matches of the pattern that the model writes, or what its query graph comes to."""
        search = self.search
        found = run_sync(search.find(run, "question", question))
        pattern, misfit = found.pattern, found.misfit
        answer: Answer | None = None
        if misfit is not None or pattern is None:
            misfit = misfit or Misfit("empty_result", "the model wrote no pattern")
            abstained = Abstention(misfit.reason, misfit.detail, search.near_names(misfit))
            answer = Answer(question, pattern=pattern, abstained=abstained)
        elif found.executed is not None:
            answer = self._executed_answer(question, pattern, found.executed)
        if answer is not None or pattern is None:
            return Retrieved(answer=answer)
        subgraphs = Subgraphs(self.graph, search.distances, pattern, found.result, search.cut is None)
        return ReadSubgraphs((), subgraphs.facts, subgraphs=subgraphs)

    def _executed_answer(self, question: str, pattern: Pattern, executed: DraftAnswer) -> Answer:
        """The answer of a query graph, if it is what is asked for."""
        values = [a.entity for a in executed.answers if a.entity.isdigit() or a.entity in ASKED_YES_NO]
        misfits = {misfit_of_value(question, value) for value in values}
        if not values or "" in misfits or len(values) < len(executed.answers):
            return drawn(Answer(question), replace(executed, pattern=pattern), None)
        detail = f'the model wrote a query for "{executed.text}": {misfits.pop()}'
        if self.settings.allow_ungrounded:
            return ungrounded(question, executed.text, (detail,))
        return Answer(question, pattern=pattern, abstained=Abstention("ungrounded", detail))

    def read_answer(
        self, run: Run, talk: Talk, question: str, called: Called, retrieved: Retrieved
    ) -> Answer:
        """Have the model read the subgraphs (section 4.4), and ground its reply in them and in their ties."""
        if not isinstance(retrieved, ReadSubgraphs):
            return super().read_answer(run, talk, question, called, retrieved)
        subgraphs = retrieved.subgraphs
        pattern, search = subgraphs.pattern, self.search
        shots = search.shots.of("question", self.settings.shots)
        graphs = list(dict.fromkeys(triple_names(self.graph, m.triples) for m in subgraphs.result.matches))
        prompt = read_prompt("question", question, graphs, shots)
        try:
            with run.stage("read"):
                stated = run_sync(read_answers(search.model_of(run), prompt))
        except ReplyInvalid as error:
            note_useless(run, error)
            detail = f"the model was asked, and states no answer: {error.reason}"
            abstained = Abstention("not_in_evidence", detail)
            return Answer(question, pattern=pattern, abstained=abstained)
        detail = {"prompt": prompt.version, "reason": stated.text, "answers": list(stated.items)}
        run.steps.append(Step("read", detail))
        with run.stage("ground"):
            stated = replace(stated, text="")
            known = dict.fromkeys(subgraphs.named, ())
            evidence = self.evidence(question, retrieved.facts, known, subgraphs.named)
            found = subgraphs.ground(stated, evidence)
        notes = shared_names(called)
        if found.node is None and (relations := subgraphs.relations(stated, question)):
            return self._relation_answer(question, pattern, relations, notes)
        answer = self.answer_of(question, found.reply, complete=found.complete, notes=notes)
        return replace(answer, pattern=replace(pattern, answer=found.node) if answer.answers else pattern)

    def _relation_answer(
        self, question: str, pattern: Pattern, relations: Proofs, notes: tuple[str, ...]
    ) -> Answer:
        graph = self.graph
        answers = tuple(AnswerEntity(graph.relations[r], graph.relation_labels[r], 1.0) for r in relations)
        citations = tuple(cite(graph, graph.relations[r], triples) for r, triples in relations.items())
        text = text_of(answers)
        return Answer(question, answers, text, citations=citations, pattern=pattern, notes=notes)
