"""`synaptiqa`: SynaptiQA (Zhu et al., 2024), a query that a model writes and the graph corrects.

| section | step | where |
|---|---|---|
| III.A | schema, cheat-sheet | `queried.py` |
| III.A | query generation, few-shots from solved questions | `write_query.py` |
| III.B | statement: extract, clean, rules | `write_query.py` |
| III.B | statement: directions | `stores/cypher/direction.py` |
| III.B | validity: names and values compared with the graph's | `check_names.py` |
| III.B | validity: the chooser | `choose_name.py` |
| III.C | query, with the triples behind its rows | `queried.py` |
| III.C | answer from rows, or the model's own with a confidence | `read_rows.py` |

Defaults and deviations, each with its reason:

- The paper has the model clean every statement; here it does so only where the statement does not parse,
  since a parser says what a model would guess. `clean="always"` is the paper's.
- A name that the graph has in another case or number is replaced without asking; the model chooses among the
  five nearest for the others (`chooser="similarity"`: the nearest, if it is clear).
- An error, or no rows, goes back to the model at most `repairs` = 2 times, with what is wrong and near names.
  The paper asks for no second query: `repairs=0`.
- Answers are values of the rows, cited by the triples that the row matched: the query is rewritten to return
  its paths. The paper gives rows to the model and takes its text.
- A model's own answer to an empty result only where the user allows it (`allow_ungrounded`); in the paper
  always.
- The paper leaves open how many solved questions a prompt has, how much of a schema, and how many similar
  names the model chooses among: 5, 1,500 tokens, 5.
- Nothing that a model writes is run unguarded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from clew.errors import InputError
from clew.index.store.directory import Index
from clew.llm.managed import short
from clew.llm.types import BudgetReached, ChatModel
from clew.methods.base import Run, needs_model, ungrounded
from clew.methods.names_view import NamesView
from clew.methods.question import FindTopicEntities, Judge, shared_names
from clew.methods.schema_view import SchemaView
from clew.methods.settings import SynaptiqaSettings
from clew.methods.synaptiqa.check_names import other_types
from clew.methods.synaptiqa.choose_name import Choose, Corrected, choose_by_model, choose_by_similarity
from clew.methods.synaptiqa.queried import QueriedGraph, QueryResult, embedded_store, with_nulls_last
from clew.methods.synaptiqa.read_rows import ask_model_answer, is_absence, is_void, read_rows
from clew.methods.synaptiqa.write_query import (
    LONGEST_REPLY_SHOWN,
    Attempt,
    QueryWriter,
    abstention,
    bound_paths,
    extract_query,
    feedback,
    lacks,
    most_similar,
)
from clew.reading.answer import text_of
from clew.reading.reader import QuestionReader, reader_of
from clew.stores.cypher.direction import Correction
from clew.stores.cypher.parser import parse
from clew.stores.cypher.tree import Statement
from clew.stores.errors import QueryError, QueryRefused, StoreTimeout
from clew.text.embedders import Embedder
from clew.types import Abstention, Answer, AnswerEntity, Citation


class SynaptiQA:
    """Answers questions by Cypher queries that a model writes.

    Over an index `reader` finds what a question names, and the relations that it may need; a database has
    no reader.
    """

    name = "synaptiqa"
    optimised = True

    def __init__(
        self,
        graph: QueriedGraph,
        embedder: Embedder,
        model: ChatModel,
        settings: SynaptiqaSettings | None = None,
        reader: QuestionReader | None = None,
    ) -> None:
        self.graph, self.embedder = graph, embedder
        self.model, self.settings = model, settings or SynaptiqaSettings()
        self.reader, self.judge = reader, None if reader is None else Judge(reader)
        self._views = None if reader is None else (SchemaView(reader), NamesView(reader))

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason.

        `entities` are named to the model. Raises LlmError if the model, StoreError if the database fails.
        """
        run = Run(self.name, id, self.model)
        full_question = f"{question} (about: {', '.join(entities)})" if entities else question
        state, notes = _QueryState(self, run, full_question), ()
        if self.reader is not None and self._views is not None and self.optimised:
            reading, (schema_view, names_view) = self.reader.read(question, entities), self._views
            relations = self.reader.graph.relations
            state.ranks = dict(zip(relations, schema_view.ranks(reading), strict=True))
            state.names = names_view.block(reading, "cypher")
            called = FindTopicEntities(self.reader).called(question, entities)
            notes = shared_names(called, "; the query says which are asked")
        try:
            answer = state.answer()
        except BudgetReached as error:
            answer = Answer(question, abstained=Abstention("budget", str(error)), query=state.query)
        return run.finish(replace(answer, question=question, notes=(*answer.notes, *notes)))


class KgQuery(SynaptiQA):
    """`kg-query`, the paper's ablation (section IV.D): the query as the model writes it, but guarded."""

    name = "kg-query"
    optimised = False


def make_synaptiqa(
    index: Index,
    embedder: Embedder,
    *,
    model: ChatModel | None = None,
    settings: SynaptiqaSettings | None = None,
    kind: type[SynaptiQA] = SynaptiQA,
) -> SynaptiQA:
    """Make `synaptiqa`, or `kg-query`, over an index.

    Raises UsageError without a model, MissingExtra without ladybug, InputError for a graph of more than
    `most_relations` relations.
    """
    model, settings = needs_model(model, kind.name), settings or SynaptiqaSettings()
    relations, most = len(index.graph.relations), settings.most_relations
    if relations > most:
        raise InputError(
            f"{relations:,} relations are too many: the store that queries run on has a table of each, and "
            f"takes up to {most:,}. Ask with --method auto"
        )
    reader = reader_of(index, embedder)

    def names_of(text: str) -> list[str]:
        return [index.graph.labels[hit.entity] for hit in index.names.exact(text)]

    texts = SchemaView(reader).texts if kind.optimised else {}
    graph = QueriedGraph(embedded_store(index.graph), embedder, index.graph, names_of, texts)
    return kind(graph, embedder, model, settings, reader)


make_kg_query = partial(make_synaptiqa, kind=KgQuery)


@dataclass
class _QueryState:
    """One question while it is worked on; `query` is the last statement that was made for it.

    `names` says for the prompt what the question names, `ranks` how likely it needs each relation.
    """

    method: SynaptiQA
    run: Run
    question: str
    names: str = ""
    ranks: Mapping[str, float] = field(default_factory=dict[str, float])
    query: str | None = None

    def __post_init__(self) -> None:
        self.talk, self.graph, self.settings = self.run.talk, self.method.graph, self.method.settings
        self.optimised = self.method.optimised

    def answer(self) -> Answer:
        """Write, try and repair queries until one has rows, and read these. Raises LlmError, StoreError."""
        slicer, tokens = self.graph.slicer, self.settings.schema_tokens
        schema = slicer.slice(self.graph.schema.labels, self.question, tokens, self.ranks)
        writer = QueryWriter(self.talk, slicer, schema, tokens, self.names)
        with self.run.stage("write"):
            shots = most_similar(
                self.settings.examples, self.question, self.settings.shots, self.method.embedder
            )
            self.talk.note(
                "schema", {"left_out": writer.schema.left_out, "solved": [s.question for s in shots]}
            )
            reply = writer.write(self.question, shots)
        repairs = self.settings.repairs if self.optimised else 0
        attempt = self._try(reply, writer)
        for _ in range(repairs):
            if attempt.kind in ("rows", "lacks"):
                break
            with self.run.stage("write"):
                reply = writer.repair(self.question, attempt.query or reply, feedback(attempt))
            attempt = self._try(reply, writer)
        if attempt.result is None or attempt.kind != "rows":
            return self._answer_without_rows(attempt)
        return self._read(attempt.result, attempt.query)

    def _try(self, reply: str, writer: QueryWriter) -> Attempt:
        """Make a statement of a reply and run it."""
        lack = lacks(reply) if self.optimised else None
        attempt = Attempt("", "error") if lack is None else Attempt("", "lacks", lack)
        if lack is None:
            self._run(reply, writer, attempt)
        self.talk.note("query", attempt.step_detail(reply))
        return attempt

    def _run(self, reply: str, writer: QueryWriter, attempt: Attempt) -> None:
        """Run the statement of a reply; the attempt gets its rows, or what is wrong with it."""
        try:
            with self.run.stage("check"):
                statement = self._optimise(reply, writer, attempt) if self.optimised else parse(reply.strip())
                attempt.query = self.query = _text(statement)
            with self.run.stage("query"):
                attempt.result = self.graph.run(statement)
                if self.optimised:
                    ordered, attempt.result = with_nulls_last(self.graph, statement, attempt.result)
                    attempt.query = self.query = _text(self._take(ordered, attempt))
            void = is_void(attempt.result.rows)
            if self.optimised and ((absent := is_absence(attempt.result.rows)) or void):
                if type_problems := other_types(statement, self.graph.schema):
                    raise QueryError("; ".join(type_problems))
                void = void or (bool(attempt.unknown) and absent)
            attempt.kind, attempt.problem = "rows", ""
            if void:
                attempt.kind, attempt.problem = "empty", "the query ran and found nothing"
        except (QueryError, StoreTimeout) as error:
            attempt.problem = str(error)

    def _optimise(self, reply: str, writer: QueryWriter, attempt: Attempt) -> Statement:
        """Optimise a statement: extract, bound paths, names, directions, values. Raises QueryError."""
        statement = self._take(self._extract(reply, writer, attempt), attempt)
        statement = self._take(bound_paths(statement), attempt)
        by_model, left_out = self.settings.chooser == "llm", self.settings.left_out
        choose: Choose = partial(choose_by_model, self.talk) if by_model else choose_by_similarity
        if "names" not in left_out:
            statement = self._take(self.graph.check.names(statement, self.question, choose), attempt)
        attempt.query = statement.text
        if attempt.unknown:
            raise QueryError(f"The graph has no {', no '.join(map(str, attempt.unknown))}")
        if "directions" not in left_out:
            statement = self._take(self.graph.directions(statement), attempt)
        if "values" in left_out:
            return statement
        return self._take(self.graph.check.values(statement, self.question, choose), attempt)

    def _take(self, corrected: Corrected, attempt: Attempt) -> Statement:
        """Note in the attempt what was corrected; return the corrected statement."""
        attempt.corrections += corrected.corrections
        attempt.unknown += corrected.unknown
        return corrected.statement

    def _extract(self, reply: str, writer: QueryWriter, attempt: Attempt) -> Corrected:
        """Find the statement in a reply; the model cleans one that does not parse, or every one, once."""
        try:
            extracted = extract_query(reply)
        except QueryRefused:
            raise
        except QueryError as error:
            if "clean" in self.settings.left_out:
                raise
            return self._clean(reply, str(error), writer, attempt)
        if self.settings.clean == "needed" or "clean" in self.settings.left_out:
            return extracted
        attempt.corrections += extracted.corrections
        try:
            return self._clean(extracted.statement.text, "none is known", writer, attempt)
        except QueryError:
            return replace(extracted, corrections=())  # the statement that there was is kept

    def _clean(self, text: str, problem: str, writer: QueryWriter, attempt: Attempt) -> Corrected:
        """Have the model clean a text. Raises QueryError if the result is no statement."""
        extracted = extract_query(writer.clean(text, problem))
        cleaned = extracted.statement.text
        if cleaned != text:
            attempt.corrections.append(
                Correction("clean", short(text, LONGEST_REPLY_SHOWN), cleaned, problem)
            )
        return extracted

    def _read(self, result: QueryResult, query: str) -> Answer:
        """Answer from rows: what the model names of them, cited by their triples."""
        rows = [row for row in result.rows if row.triples] or list(result.rows)
        with self.run.stage("read"):
            text, values = read_rows(self.talk, self.question, query, result.columns, rows, self.method.judge)
        self.talk.note("read", {"text": text, "answers": [cell.label for cell, _ in values.values()]})
        if not values:
            detail = f"none of the model's answers is in the rows of the query {query}"
            return Answer(self.question, abstained=Abstention("not_in_evidence", detail), query=query)
        answers = tuple(AnswerEntity(cell.entity, cell.label, 1.0) for cell, _ in values.values())
        citations: list[Citation] = []
        for cell, proofs in values.values():
            triples = list(dict.fromkeys(t for row in proofs for t in row.triples))
            ids = tuple(t.id for t in triples if t.id is not None)
            citations.append(Citation(cell.entity, tuple(t.triple for t in triples), ids, cell.label))
        denied = {a.label for a in answers} <= {"no", "0"} and not any(c.triples for c in citations)
        notes = ("what the graph does not record is taken not to be so",) if denied else ()
        return Answer(
            self.question, answers, text or text_of(answers), citations=tuple(citations), query=query,
            complete=result.complete, notes=notes,
        )  # fmt: skip

    def _answer_without_rows(self, attempt: Attempt) -> Answer:
        """Give the model's own answer, where that is allowed, or abstain and show the query."""
        query = attempt.query or None
        if self.settings.allow_ungrounded:
            own = ask_model_answer(self.talk, self.question)
            self.talk.note("own", asdict(own))
            if own.answer:
                answer = ungrounded(self.question, own.answer)
                return replace(answer, query=query, confidence=own.confidence)
        return Answer(self.question, abstained=abstention(attempt), query=query)


def _text(statement: Statement) -> str:
    return statement.text.strip().removesuffix(";")
