"""`synaptiqa`: SynaptiQA (Zhu et al., 2024), a query that a model writes and the graph corrects.

| section | step | where |
|---|---|---|
| III.A | schema, cheat-sheet | `queried.py` |
| III.A | query generation, few-shots from solved questions | here |
| III.B | statement: extract, clean, rules | here |
| III.B | statement: directions | `stores/cypher/direction.py` |
| III.B | validity: names and values compared with the graph's, the chooser | `names.py` |
| III.C | query, with the triples behind its rows | `queried.py` |
| III.C | answer from rows, or the model's own with a confidence | `read_rows.py` |

Defaults and deviations, each with its reason:

- The paper has the model clean every statement; here it does so only where the statement does not parse,
  since a parser says what a model would guess. `clean="always"` is the paper's.
- A name that the graph has in another case or number is replaced without asking; the model chooses among the
  five nearest for the others.
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

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Literal

from clew.errors import InputError
from clew.index.store.directory import Index
from clew.llm.managed import as_data, prompt_named, query_text, short
from clew.llm.reply import ChatModel, statements
from clew.llm.types import BudgetReached, Request
from clew.methods.base import Run, needs_model, ungrounded
from clew.methods.names_view import NamesView
from clew.methods.question import FindTopicEntities, Judge, shared_names
from clew.methods.schema_view import SchemaView
from clew.methods.settings import SynaptiqaSettings
from clew.methods.synaptiqa.names import Corrected, Unknown, choose_names, other_types
from clew.methods.synaptiqa.queried import (
    QueriedGraph,
    QueryResult,
    aggregated_columns,
    embedded_store,
    most_similar,
    with_nulls_last,
)
from clew.methods.synaptiqa.read_rows import ask_model_answer, is_absence, is_void, read_rows
from clew.reading.answer import text_of
from clew.reading.reader import QuestionReader, reader_of
from clew.stores.cypher.direction import Correction
from clew.stores.cypher.parser import parse
from clew.stores.cypher.tree import LONGEST_STATEMENT, Relationship, Statement, Syntax
from clew.stores.errors import QueryError, QueryRefused, QuerySyntaxError, StoreTimeout
from clew.text.embedders import Embedder
from clew.types import Abstention, Answer, AnswerEntity, Citation, Reason

# From a model's reply to the one statement in it, and rules that mend what is nearly Cypher.
#
# SynaptiQA, section III.B, *statement optimisation*: what is no query is taken off (prose, fences), and the
# statement is checked by rules. The rules are tried only on what does not parse.

BOUND = 10
"""Edges of a path without a bound, as in the paper's `[*..10]` (section III.C)."""
MOST_BEGINNINGS = 8
"""Places of a reply at which a statement may begin."""
ROOM = 4 * LONGEST_STATEMENT
"""Characters that are parsed in all, so that no reply takes long."""

_INLINE = re.compile(r"`([^`\n]+)`")
_BEGINS = re.compile(
    r"(?:^|[\n:>`])[ \t]*((?:OPTIONAL[ \t]+)?MATCH\b|WITH\b|UNWIND\b|CALL\b|RETURN\b)", re.IGNORECASE
)
_ANYWHERE = re.compile(r"\b(?:OPTIONAL[ \t]+)?MATCH[ \t]*\(", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[ \t]*(?:(?:OPTIONAL|MATCH|WHERE|WITH|RETURN|ORDER|SKIP|LIMIT|UNWIND|CALL|UNION|AND|OR|XOR|CREATE|"
    r"MERGE|SET|DELETE|DETACH|REMOVE|DROP|FOREACH|LOAD|USE|USING|YIELD|INSERT)\b|[(){}\[\],.;<>=+*/-])",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"^\s*(?:cypher(?:\s+query|\s+statement)?|query|statement|answer)\s*[:=]?\s+", re.IGNORECASE
)


def extract_query(reply: str) -> Corrected:
    """Find the statement in a reply: the first text in it that parses, as it is or by the rules.

    Of several statements it is the first. Raises QueryError: no text in it is a statement (the error of the
    first); QueryRefused: one does more than read.
    """
    first_error: QueryError | None = None
    for text in statements(reply[:LONGEST_STATEMENT])[1:MOST_BEGINNINGS]:
        with suppress(QuerySyntaxError):
            parse(text)
    room = ROOM
    for candidate in _candidates(reply[:LONGEST_STATEMENT]):
        room -= len(candidate)
        if room < 0:
            break
        mended, rule_corrections = apply_rules(candidate)
        for text, corrections in ((candidate, []), (mended, rule_corrections))[: 1 + bool(rule_corrections)]:
            try:
                statement = parse(text)
            except QueryError as error:
                begins = _BEGINS.match(text) is not None
                if begins and isinstance(error, QueryRefused):
                    raise
                first_error = error if first_error is None and begins else first_error
                continue
            if candidate != reply.strip():
                line = " ".join(reply[:400].split())
                reason = "what is around the statement is left out"
                corrections = [Correction("extract", short(line, 80), candidate, reason), *corrections]
            return Corrected(statement, tuple(corrections))
    raise first_error or QueryError("The reply has no statement of Cypher")


def _candidates(reply: str) -> Iterator[str]:
    """Texts that may be the statement: as the reply marks them, then from where one begins, whole and cut."""
    texts = [_LABELLED.sub("", text) for text in statements(reply)]
    texts += [code for code in _INLINE.findall(reply) if _BEGINS.match(code)]
    begins = [*islice(_BEGINS.finditer(reply), MOST_BEGINNINGS)]
    begins += islice(_ANYWHERE.finditer(reply), MOST_BEGINNINGS)
    texts += [reply[match.start(match.lastindex or 0) :].strip() for match in begins]
    seen: set[str] = set()
    for text in texts:
        for cut in _cuts(text.strip("` \t\r\n")):
            if cut and cut not in seen:
                seen.add(cut)
                yield cut


def _cuts(text: str) -> Iterator[str]:
    """The whole text, and then what stands before each line of it that begins no clause, the last first."""
    yield text
    lines = text.split("\n")
    ends = [at for at in range(1, len(lines)) if not _CLAUSE.match(lines[at])]
    for at in reversed(ends[:30]):
        yield "\n".join(lines[:at]).strip()


_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`", re.DOTALL)
_COMMA = r",\s*(?=(?:RETURN|WHERE|WITH|MATCH|ORDER\s+BY|LIMIT)\b)"
_NO_BRACES = r"(\((?:[A-Za-z_]\w*)?\s*:\s*[A-Za-z_]\w*)\s+([A-Za-z_]\w*\s*:\s*(?:\x00\d+\x00|\d+))\s*\)"
_GROUP_BY = r"\bGROUP\s+BY\s+[\w.,\s]+?(?=\bORDER\b|\bLIMIT\b|\Z|;)"
_RULES: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("no comma before a clause", re.compile(_COMMA, re.IGNORECASE), " "),
    ("== is =", re.compile(r"(?<![<>=!])==(?!=)"), "="),
    ("!= is <>", re.compile(r"!="), "<>"),
    ("&& is AND", re.compile(r"&&"), " AND "),
    ("properties stand in braces", re.compile(_NO_BRACES), r"\1 {\2})"),
    ("RETURN groups by itself", re.compile(_GROUP_BY, re.IGNORECASE), " "),
)
"""Why, what, and what for it; strings are hidden as a number between zero characters."""
_LIKE = re.compile(r"\bI?LIKE\s+\x00(\d+)\x00", re.IGNORECASE)


def apply_rules(text: str) -> tuple[str, list[Correction]]:
    """Mend what is nearly Cypher; texts in quotes stay as they are. Returns the text and what was changed."""
    plain = text.translate(_QUOTES)
    corrections = [Correction("rule", text, plain, "typographic quotes")] if plain != text else []
    strings: list[str] = []

    def hide(match: re.Match[str]) -> str:
        strings.append(match[0])
        return f"\x00{len(strings) - 1}\x00"

    plain = _STRING.sub(hide, plain.replace("\x00", " "))
    for reason, pattern, replacement in (*_RULES, ("LIKE is CONTAINS", _LIKE, partial(_contains, strings))):
        mended = pattern.sub(replacement, plain)
        if mended != plain:
            corrections.append(
                Correction("rule", _with_strings(plain, strings), _with_strings(mended, strings), reason)
            )
            plain = mended
    return _with_strings(plain, strings), corrections


def _contains(strings: list[str], match: re.Match[str]) -> str:
    at = int(match[1])
    body = strings[at][1:-1]
    operator = {(True, True): "CONTAINS", (True, False): "ENDS WITH", (False, True): "STARTS WITH"}.get(
        (body.startswith("%"), body.endswith("%")), "="
    )
    strings[at] = strings[at][0] + body.strip("%") + strings[at][0]
    return f"{operator} \x00{at}\x00"


def _with_strings(text: str, strings: list[str]) -> str:
    return re.sub(r"\x00(\d+)\x00", lambda match: strings[int(match[1])], text)


def bound_paths(statement: Statement) -> Corrected:
    """Give paths without an upper bound one."""
    edits: dict[int, str] = {}
    corrections: list[Correction] = []
    for part in statement.query.walk():
        if not isinstance(part, Relationship) or part.length is None:
            continue
        length = part.length
        if length.high is not None or statement.tokens[length.start].text != "*":
            continue
        if length.start > part.right[0]:  # a quantifier behind the edge, which the guard looks at
            continue
        before = statement.source(Syntax(length.start, length.stop))
        after = f"*{length.low}..{BOUND}"
        edits[length.start] = after
        edits |= dict.fromkeys(range(length.start + 1, length.stop), "")
        corrections.append(Correction("rule", before, after, f"a path without a bound gets one of {BOUND}"))
    return Corrected.by(statement, edits, corrections)


# Few-shots are the solved questions most similar to a question (section III.A). What came of a reply, a query
# with its rows or what is wrong with it, is told to the model that repairs it, and in the end to the user.

_LACKS = re.compile(r"[\s`*\"']*NOT IN (?:THIS|THE) GRAPH\b[\s:.*]*(.*)", re.IGNORECASE)
LONGEST_REPLY_SHOWN = 2_000
"""Characters of a model's reply that the steps show."""


def lacks(reply: str) -> str | None:
    """What a reply says that the graph lacks; None for one that does not say so."""
    match = _LACKS.match(reply.strip())
    return None if match is None else (match[1].strip() or "it has nothing of the kind")


@dataclass
class Attempt:
    """The outcome of one reply: a result, a problem (`error`, `empty`), or that the graph `lacks` it."""

    query: str
    kind: Literal["rows", "error", "empty", "lacks"]
    problem: str = ""
    result: QueryResult | None = None
    corrections: list[Correction] = field(default_factory=list[Correction])
    unknown: list[Unknown] = field(default_factory=list[Unknown])

    def step_detail(self, reply: str) -> dict[str, object]:
        """Say for the steps what the model wrote, each correction and why, the query, and its rows."""
        unknown_names = [
            {"name": str(unknown), "near": [near.name for near in unknown.near]} for unknown in self.unknown
        ]
        detail: dict[str, object] = {
            "written": short(reply, LONGEST_REPLY_SHOWN),
            "corrections": [asdict(correction) for correction in self.corrections],
            "not_in_graph": unknown_names,
            "query": self.query,
            "outcome": self.kind,
            "problem": self.problem,
        }
        if self.result is not None:
            detail |= {
                "sent": self.result.sent,
                "columns": list(self.result.columns),
                "rows": [row.labels for row in self.result.rows[:20]],
                "row_count": len(self.result.rows),
                "complete": self.result.complete,
                "evidence_sampled": self.result.sampled,
            }
        return detail


def feedback(attempt: Attempt) -> list[str]:
    """Say what is wrong with a query: it could not be run, or it found nothing; and what the graph has."""
    lines = ["EMPTY: the query was run without an error and found nothing."]
    if attempt.kind == "error":
        lines = [f"ERROR: the query could not be run. {attempt.problem}."]
    for unknown in attempt.unknown:
        near = ", ".join(near.name for near in unknown.near)
        lines.append(f"The graph has no {unknown}. It has: {near or 'nothing like it'}")
    if attempt.kind == "empty" and not attempt.unknown:
        lines.append(
            "All names and values of the query are in the graph. If it asks by the wrong path or condition,"
            " write another; if it is right, the graph holds no answer: write NOT IN THIS GRAPH"
        )
    return lines


def abstention(attempt: Attempt) -> Abstention:
    """Say why the last query gives no answer."""
    near = tuple(dict.fromkeys(n.name for unknown in attempt.unknown for n in unknown.near))
    reason: Reason = "empty_result"
    if attempt.unknown:
        reason = "no_entity" if attempt.unknown[0].kind == "value" else "no_relation"
    query_note = f". The query: {attempt.query}" if attempt.query else ""
    if attempt.kind == "lacks":
        detail = f"the model finds nothing of the kind in the schema: {attempt.problem}"
        return Abstention("no_relation", detail, near)
    if attempt.kind == "error":
        return Abstention(reason, f"no query could be run. {attempt.problem.rstrip('.')}{query_note}", near)
    lack_note = "".join(f"; the graph has no {unknown}" for unknown in attempt.unknown)
    return Abstention(reason, f"the query found nothing{lack_note}{query_note}", near)


_SAMPLING = Request(temperature=0.0, max_tokens=512)
_SHOW = re.compile(r"[\s`*\"']*SHOW\s*:\s*(.+)", re.IGNORECASE)
_SHOWN = "The graph has of that:\n<schema>\n{}\n</schema>\nNow write the query alone."
_NOT_SHOWN = "The schema has no such label. Write the query alone."


class SynaptiQA:
    """Answers questions by Cypher queries that a model writes; over an index a `reader` finds names."""

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
        self._views = None if reader is None else (SchemaView(reader), NamesView(reader, graph.schema))

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question about `entities`, or abstain with a reason. Raises LlmError, StoreError."""
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


MOST_RELATIONS = 30_000
"""Relations of a graph that is asked; its store takes 2 ms for each."""


def make_synaptiqa(
    index: Index,
    embedder: Embedder,
    *,
    model: ChatModel | None = None,
    settings: SynaptiqaSettings | None = None,
    kind: type[SynaptiQA] = SynaptiQA,
) -> SynaptiQA:
    """Make `synaptiqa`, or `kg-query`, over an index. Raises UsageError, MissingExtra.

    InputError: a graph of more than `MOST_RELATIONS` relations.
    """
    model, relations = needs_model(model, kind.name), len(index.graph.relations)
    if relations > MOST_RELATIONS:
        raise InputError(
            f"{relations:,} relations are too many: the store that queries run on has a table of each, and "
            f"takes up to {MOST_RELATIONS:,}. Ask with --method auto"
        )
    reader = reader_of(index, embedder)

    def names_of(text: str) -> list[str]:
        with_id = index.names.with_id(text)
        shown = [] if with_id is None else [index.graph.label(with_id)]
        return [*(index.graph.labels[hit.entity] for hit in index.names.exact(text)), *shown]

    texts = SchemaView(reader).texts if kind.optimised else {}
    graph = QueriedGraph(embedded_store(index.graph), embedder, index.graph, names_of, texts)
    return kind(graph, embedder, model, settings, reader)


make_kg_query = partial(make_synaptiqa, kind=KgQuery)


@dataclass
class _QueryState:
    """One question while it is worked on; `query` is the last statement, `ranks` are of relations."""

    method: SynaptiQA
    run: Run
    question: str
    names: str = ""
    ranks: Mapping[str, float] = field(default_factory=dict[str, float])
    query: str | None = None
    schema: str = ""

    def __post_init__(self) -> None:
        self.talk, self.graph, self.settings = self.run.talk, self.method.graph, self.method.settings
        self.optimised = self.method.optimised

    def answer(self) -> Answer:
        """Write, try and repair queries until one has rows, and read these. Raises LlmError, StoreError."""
        repairs = self.settings.repairs if self.optimised else 0
        with self.run.stage("write"):
            reply = self._write()
        attempt = self._try(reply)
        for _ in range(repairs):
            if attempt.kind in ("rows", "lacks"):
                break
            with self.run.stage("write"):
                problem = "\n".join(map(query_text, feedback(attempt)))
                shown, question = _shown(attempt.query or reply), as_data(self.question)
                values = {"SCHEMA": self.schema, "QUERY": shown, "PROBLEM": problem, "NAMES": self.names}
                reply = self._ask("repair", **values, QUESTION=question)
            attempt = self._try(reply)
        if attempt.result is None or attempt.kind != "rows":
            return self._answer_without_rows(attempt)
        return self._read(attempt.result, attempt.query)

    def _ask(self, prompt: str, **values: str) -> str:
        return self.talk.ask(prompt_named("clew.methods.synaptiqa", prompt), _SAMPLING, stop=(), **values)

    def _write(self) -> str:
        """The model's reply to the question, after a second look at the schema if it asks for one."""
        settings, slicer, tokens = self.settings, self.graph.slicer, self.settings.schema_tokens
        self.schema, left_out = slicer.slice(self.graph.schema.labels, self.question, tokens, self.ranks)
        solved = most_similar(settings.examples, self.question, settings.shots, self.method.embedder)
        self.talk.note("schema", {"left_out": left_out, "solved": [s.question for s in solved]})
        shots = (f"Question: {as_data(s.question)}\nCypher: {query_text(s.query)}" for s in solved)
        values = {"SCHEMA": self.schema, "SOLVED": "\n".join(shots) or "(none)", "NAMES": self.names}
        values |= {"QUESTION": as_data(self.question)}
        reply = self._ask("write", **values)
        asked_for = _SHOW.match(reply)
        if asked_for is None:
            return reply
        more = slicer.of_labels(re.split(r"[,;]", asked_for[1].strip("` .")), self.question, tokens)
        self.schema += f"\n{more}" if more else ""
        problem, prompt = (
            _SHOWN.format(more) if more else _NOT_SHOWN,
            prompt_named("clew.methods.synaptiqa", "write"),
        )
        return self.talk.ask_again(prompt, _SAMPLING, reply, problem, values)

    def _try(self, reply: str) -> Attempt:
        """Make a statement of a reply and run it."""
        lack = lacks(reply) if self.optimised else None
        attempt = Attempt("", "error") if lack is None else Attempt("", "lacks", lack)
        if lack is None:
            self._run(reply, attempt)
        self.talk.note("query", attempt.step_detail(reply))
        return attempt

    def _run(self, reply: str, attempt: Attempt) -> None:
        """Run the statement of a reply; the attempt gets its rows, or what is wrong with it."""
        try:
            with self.run.stage("check"):
                statement = self._optimise(reply, attempt) if self.optimised else parse(reply.strip())
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

    def _optimise(self, reply: str, attempt: Attempt) -> Statement:
        """Optimise a statement: extract, bound paths, names, directions, values. Raises QueryError."""
        statement = self._take(self._extract(reply, attempt), attempt)
        statement = self._take(bound_paths(statement), attempt)
        left_out, choose = self.settings.left_out, partial(choose_names, self.talk, self.question)
        if "names" not in left_out:
            statement = self._take(self.graph.check.names(statement, choose), attempt)
        attempt.query = statement.text
        if attempt.unknown:
            raise QueryError(f"The graph has no {', no '.join(map(str, attempt.unknown))}")
        if "directions" not in left_out:
            statement = self._take(self.graph.directions(statement), attempt)
        if "values" in left_out:
            return statement
        return self._take(self.graph.check.values(statement, choose), attempt)

    def _take(self, corrected: Corrected, attempt: Attempt) -> Statement:
        """Note in the attempt what was corrected; return the corrected statement."""
        attempt.corrections += corrected.corrections
        attempt.unknown += corrected.unknown
        return corrected.statement

    def _extract(self, reply: str, attempt: Attempt) -> Corrected:
        """Find the statement in a reply; the model cleans one that does not parse, or every one, once."""
        try:
            extracted = extract_query(reply)
        except QueryRefused:
            raise
        except QueryError as error:
            if "clean" in self.settings.left_out:
                raise
            return self._clean(reply, str(error), attempt)
        if self.settings.clean == "needed" or "clean" in self.settings.left_out:
            return extracted
        attempt.corrections += extracted.corrections
        try:
            return self._clean(extracted.statement.text, "none is known", attempt)
        except QueryError:
            return replace(extracted, corrections=())  # the statement that there was is kept

    def _clean(self, text: str, problem: str, attempt: Attempt) -> Corrected:
        """Have the model clean a text. Raises QueryError if the result is no statement."""
        extracted = extract_query(self._ask("clean", TEXT=_shown(text), PROBLEM=as_data(problem)))
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
            aggregated = aggregated_columns(parse(query), result.columns)
            text, values, paired = read_rows(
                self.talk, self.question, query, result.columns, rows, self.method.judge, aggregated
            )
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
            complete=result.complete, notes=notes, rows=paired,
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


def _shown(text: str) -> str:
    """A query as data: its arrows stay, a tag that could end the block does not."""
    return text[:4_000].replace("</", "‹/")


def _text(statement: Statement) -> str:
    return statement.text.strip().removesuffix(";")
