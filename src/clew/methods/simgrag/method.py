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
from clew.index.vectors.entities import IndexDistances
from clew.llm.managed import query_text, short
from clew.llm.types import ReplyInvalid
from clew.methods.base import ModelMethod, Run, ungrounded
from clew.methods.evidence import Proofs, ReadEvidence
from clew.methods.ground import ASKED_YES_NO
from clew.methods.names_view import NamesView
from clew.methods.question import entities_of, misfit_of_value, shared_names
from clew.methods.schema_view import RelationRanking, SchemaView
from clew.methods.settings import SimgragSettings
from clew.methods.simgrag.find_subgraphs import (
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
    GRAPH,
    ExampleKind,
    PatternPlan,
    WrittenPattern,
    answer_nodes,
    as_name,
    default_shots,
    read_prompt,
    template,
    write_pattern,
)
from clew.reading.answer import DraftAnswer, drawn, text_of
from clew.reading.left_open import near_names
from clew.types import Abstention, Answer, AnswerEntity, MatchResult, Pattern, PatternEdge, Reason


def no_usable_reply(
    run: Run,
    error: ReplyInvalid,
    reason: Reason = "empty_result",
    problem: str = "the model gave no usable reply",
) -> Abstention:
    """The abstention of a run that ends at a reply of no use, which its steps have."""
    text = run.talk.replies[-1].text if run.talk.replies else ""
    run.note("reply", {"text": short(text), "problem": error.reason})
    return Abstention(reason, f"{problem}: {error.reason}")


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


class PatternSearch(ModelMethod[SimgragSettings]):
    """The part of SimGRAG that questions and claims share: query to pattern to subgraphs."""

    name, settings_class = "simgrag", SimgragSettings
    settings: SimgragSettings

    def prepare(self) -> None:
        """Open the distances of names and relations, and the schema unless that is left out."""
        self.shots = self.settings.examples or default_shots()
        self.ranking, self._schema = RelationRanking(self.graph, self.embedder), None
        self._open_distances = PatternDistances(self.index, self.embedder)
        self.distances: Distances = self._open_distances
        nodes = self.settings.candidates
        self.by_letter = nodes is not None
        if nodes is not None:
            relations, types = self.settings.candidate_relations or nodes, self.settings.candidate_types
            measured = IndexDistances(self.index, self.embedder)
            self.distances = FewCandidates(measured, nodes, relations, types or 16)
        elif self.settings.schema == "typed":
            self._schema = SchemaView(self.reader)
        self._names = NamesView(self.reader)

    def find(self, run: Run, task: ExampleKind, query: str) -> Found:
        """Write a pattern and match it; if not by the paper's letter, again with hints where nothing fits.

        Raises LlmError: as the model; ReplyInvalid where it gives no pattern.
        """
        hints = self._hints(task, query)
        first = self._write_and_match(run, task, query, hints)
        misfit, finds_nothing = first.misfit, first.written is not None and first.written.finds_nothing
        if misfit is None or misfit.reason == "budget" or self.by_letter or finds_nothing:
            return first
        second = self._write_and_match(run, task, query, self._retry(task, query, first, misfit))
        return second if second.misfit is None or second.pattern is not None else first

    def _write_and_match(self, run: Run, task: ExampleKind, query: str, hints: str) -> Found:
        shots = self.shots.of(task, self.settings.shots)
        operations = task == "question" and self._schema is not None
        with run.stage("pattern"):
            written = write_pattern(run.talk, task, query, shots, hints, operations=operations)
        operations_written = () if written.plan is None else written.plan.operations
        detail = {
            "prompt": written.prompt.version,
            "segments": list(written.segments),
            "pattern": [] if written.pattern is None else written.pattern.as_json()["triples"],
            "operations": [asdict(operation) for operation in operations_written],
            "schema": bool(hints),
            "problem": written.problem,
        }
        run.note("pattern", detail)
        if written.finds_nothing:
            problem = "the model finds nothing of the kind in what the graph records"
            return Found(written, misfit=Misfit("no_relation", problem))
        if written.pattern is None:
            problem = f"the model wrote no pattern to search for ({written.problem})"
            return Found(written, misfit=Misfit("empty_result", problem))
        if written.plan is not None:
            return self._execute(run, written, written.plan)
        with run.stage("match"):
            result, misfit = self._find(task, written.pattern)
        rows = [
            {
                "gsd": round(m.gsd, 3),
                "triples": [list(triple) for triple in triple_names(self.graph, m.triples)],
                "terms": [list(term) for term in gsd_terms(self.graph, written.pattern, m, self.distances)],
            }
            for m in result.matches
        ]
        problem = misfit.detail if misfit else ""
        run.note("match", {"matches": rows, "complete": result.complete, "problem": problem})
        return Found(written, result, misfit)

    def _execute(self, run: Run, written: WrittenPattern, plan: PatternPlan) -> Found:
        """Answer by the query graph of a plan."""
        with run.stage("execute"):
            vocabulary = self.reader.vocabulary
            result = PlanQuery(vocabulary, self._open_distances).answer(plan)
        executed, misfit = (None, result) if isinstance(result, Misfit) else (result, None)
        detail = {
            "operations": [op.op for op in plan.operations],
            "answers": [answer.entity for answer in executed.answers] if executed else [],
            "complete": executed is None or executed.complete,
            "problem": misfit.detail if misfit else "",
        }
        run.note("execute", detail)
        return Found(written, misfit=misfit, executed=executed)

    def _find(self, task: ExampleKind, pattern: Pattern) -> tuple[MatchResult, Misfit | None]:
        """The best matches, and why they do not fit; the paper's letter reads whatever is nearest."""
        graph, distances, k = self.graph, self.distances, self.settings.k
        if self.by_letter:
            result = find_by_letter(graph, pattern, distances, k)
            return result, None if result.matches else unfit(graph, pattern, result, distances)
        if task == "claim" or not answer_nodes(pattern):
            return find_about_claim(graph, pattern, distances, k)
        result = find_subgraphs(graph, pattern, distances, k)
        return result, unfit(graph, pattern, result, distances)

    def _hints(self, task: ExampleKind, query: str, words: str = "") -> str:
        """What this graph records, and other names of what a text names; nothing in the paper's form."""
        if self._schema is None:
            return ""
        reading = self._schema.reader.read(query)
        names = self._names.block(reading, "plain")
        how = template("operations" if task == "question" else "steps_of_graph")
        return how + GRAPH.format(self._schema.text(reading, words)) + names

    def _retry(self, task: ExampleKind, query: str, first: Found, misfit: Misfit) -> str:
        """The first reply with the blame, and the names and relations that may have been meant."""
        written = first.written
        words = " ".join(edge.relation or "" for edge in first.pattern.edges) if first.pattern else ""
        reply = written.replies[-1].text if written is not None and written.replies else ""
        hints = self._hints(task, query, words)
        if not hints:
            # The relations nearest to a text, for a graph of which the prompt says nothing else.
            distances = self.distances.relation_distances(PatternEdge(0, words or query, 1))
            nearest = distances.argsort(kind="stable")[:12].tolist()
            names = "; ".join(as_name(self.graph.relation_labels[relation]) for relation in nearest)
            hints = f"\nThis graph has relations such as {names}.\n"
        near = "; ".join(map(as_name, self.near_names(misfit)))
        first_try = f"A first try was {query_text(short(reply))}\nIt did not work: {as_name(misfit.detail)}."
        return f"{hints}\n{first_try}{f' Names that are like it: {near}.' if near else ''}\n"

    def near_names(self, misfit: Misfit) -> tuple[str, ...]:
        """Names of the graph that may have been meant by those that it lacks."""
        return near_names(self.graph, self.index.names, misfit.names)


class SimGRAG(PatternSearch):
    """Answers questions over one open index with a chat model."""

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason; `entities` are what it is about. Raises LlmError."""
        run = Run(self.name, id, self.model)
        query = f"{question} (about: {', '.join(entities)})" if entities else question
        return run.answer(question, lambda: replace(self._work(run, query, entities), question=question))

    def _work(self, run: Run, question: str, entities: Sequence[str]) -> Answer:
        """Link, find the best matches of the pattern that the model writes, and have them read."""
        with run.stage("link"):
            called, missing = self.link(question, entities, run), None
            if entities:
                missing = self.find_topic_entities.missing(question, entities, entities_of(called))
        if missing is not None:
            return Answer(question, abstained=missing)
        try:
            with run.stage("retrieve"):
                found = self.find(run, "question", question)
        except ReplyInvalid as error:
            return Answer(question, abstained=no_usable_reply(run, error))
        pattern, misfit, notes = found.pattern, found.misfit, shared_names(called)
        if misfit is not None or pattern is None:
            misfit = misfit or Misfit("empty_result", "the model wrote no pattern")
            abstained = Abstention(misfit.reason, misfit.detail, self.near_names(misfit))
            return Answer(question, pattern=pattern, abstained=abstained, notes=notes)
        if found.executed is not None:
            answer = self._executed_answer(question, pattern, found.executed)
            return replace(answer, notes=(*answer.notes, *notes))
        return self._read_answer(run, question, pattern, found.result, notes)

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

    def _read_answer(
        self, run: Run, question: str, pattern: Pattern, result: MatchResult, notes: tuple[str, ...]
    ) -> Answer:
        """Have the model read the subgraphs (section 4.4), and ground its reply in them and in their ties."""
        shots = self.shots.of("question", self.settings.shots)
        graphs = list(dict.fromkeys(triple_names(self.graph, m.triples) for m in result.matches))
        prompt = read_prompt("question", question, graphs, shots)
        try:
            with run.stage("read"):
                stated = read_answers(run.talk, prompt)
        except ReplyInvalid as error:
            problem = "the model was asked, and states no answer"
            abstained = no_usable_reply(run, error, "not_in_evidence", problem)
            return Answer(question, pattern=pattern, abstained=abstained)
        detail = {"prompt": prompt.version, "reason": stated.text, "answers": list(stated.items)}
        run.note("read", detail)
        with run.stage("ground"):
            stated = replace(stated, text="")
            subgraphs = Subgraphs(self.graph, self.distances, pattern, result, not self.by_letter)
            known = dict.fromkeys(subgraphs.named, ())
            evidence = ReadEvidence(self.graph, self.judge, question, subgraphs.facts, known, subgraphs.named)
            found = subgraphs.ground(stated, evidence)
        if found.node is None and (relations := subgraphs.relations(stated, question)):
            return replace(self._relation_answer(question, pattern, relations), notes=notes)
        answer = self.answer_of(question, found.reply, complete=found.complete, notes=notes)
        return replace(answer, pattern=replace(pattern, answer=found.node) if answer.answers else pattern)

    def _relation_answer(self, question: str, pattern: Pattern, relations: Proofs) -> Answer:
        graph = self.graph
        answers = tuple(AnswerEntity(graph.relations[r], graph.relation_labels[r], 1.0) for r in relations)
        citations = tuple(cite(graph, graph.relations[r], triples) for r, triples in relations.items())
        return Answer(question, answers, text_of(answers), citations=citations, pattern=pattern)
