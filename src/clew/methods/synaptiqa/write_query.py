"""The `write query` step: a model writes, cleans and repairs; one statement is taken from its reply."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np

from clew.errors import InputError, ParseError
from clew.foundation.forms import json_lines
from clew.llm.managed import Sampling, Talk, as_data, prompt_named, query_text, short
from clew.llm.reply import statements
from clew.methods.synaptiqa.choose_name import Corrected, Unknown
from clew.methods.synaptiqa.queried import QueryResult, SchemaSlice, SchemaSlicer
from clew.stores.cypher.direction import Correction
from clew.stores.cypher.guard import guard
from clew.stores.cypher.parser import parse
from clew.stores.cypher.tree import LONGEST_STATEMENT, Relationship, Statement, Syntax
from clew.stores.errors import QueryError, QueryRefused, QuerySyntaxError
from clew.text.embedders import Embedder
from clew.types import Abstention, Reason

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


# The `write query` step with a model: generation, cleaning, repair (SynaptiQA, section III.A and B).
#
# Few-shots are the solved questions most similar to a question (section III.A). What came of a reply, a query
# with its rows or what is wrong with it, is told to the model that repairs it, and in the end to the user.

_SAMPLING = Sampling(temperature=0.0, max_tokens=512)
_LACKS = re.compile(r"[\s`*\"']*NOT IN (?:THIS|THE) GRAPH\b[\s:.*]*(.*)", re.IGNORECASE)
_SHOW = re.compile(r"[\s`*\"']*SHOW\s*:\s*(.+)", re.IGNORECASE)
_SHOWN = "The graph has of that:\n<schema>\n{}\n</schema>\nNow write the query alone."
_NOT_SHOWN = "The schema has no such label. Write the query alone."
LONGEST_REPLY_SHOWN = 2_000
"""Characters of a model's reply that the steps show."""


@dataclass(frozen=True, slots=True)
class Solved:
    """A question with the query that answers it."""

    question: str
    query: str


def read_solved(path: Path) -> tuple[Solved, ...]:
    """Read lines `{"question", "query"}`.

    Raises InputError for the file, ParseError for a line, QueryError for a query that does more than read.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}). Give another file") from error
    advice, solved = 'Write {"question": "…", "query": "MATCH …"}', list[Solved]()
    for number, fields in json_lines(lines, str(path), advice):
        question, query = fields.get("question"), fields.get("query")
        if not isinstance(question, str) or not isinstance(query, str):
            raise ParseError(str(path), number, "no solved question", advice)
        guard(query)
        solved.append(Solved(question, query))
    return tuple(solved)


def most_similar(
    solved: Sequence[Solved], question: str, count: int, embedder: Embedder
) -> tuple[Solved, ...]:
    """Return the `count` solved questions most similar to a question, the best nearest to it: as the last."""
    if not solved or count < 1:
        return ()
    vectors = embedder.embed([entry.question for entry in solved])
    scores = vectors @ embedder.embed([question])[0]
    best = np.argsort(-scores, kind="stable")[:count]
    return tuple(solved[at] for at in reversed(best.tolist()))


@dataclass
class QueryWriter:
    """Asks a model for queries; `names` are lines on what the question names."""

    talk: Talk
    slicer: SchemaSlicer
    schema: SchemaSlice
    tokens: int
    names: str = ""

    def write(self, question: str, solved: Sequence[Solved]) -> str:
        """Return the model's reply to a question, after a second look if it asks for one. Raises LlmError."""
        shots = (f"Question: {as_data(s.question)}\nCypher: {query_text(s.query)}" for s in solved)
        values = {"SCHEMA": str(self.schema), "SOLVED": "\n".join(shots) or "(none)", "NAMES": self.names}
        prompt = prompt_named("clew.methods.synaptiqa", "write")
        values |= {"QUESTION": as_data(question)}
        reply = self.talk.ask(prompt, _SAMPLING, stop=(), **values)
        asked_for = _SHOW.match(reply)
        if asked_for is None:
            return reply
        more = self.slicer.of_labels(re.split(r"[,;]", asked_for[1].strip("` .")), question, self.tokens)
        if more is not None:
            self.schema = SchemaSlice((*self.schema.lines, *more.lines), self.schema.left_out)
        problem = _NOT_SHOWN if more is None else _SHOWN.format(more)
        return self.talk.ask_again(prompt, _SAMPLING, reply, problem, values)

    def clean(self, text: str, problem: str) -> str:
        """Return what the model makes of a reply that does not parse. Raises LlmError."""
        prompt = prompt_named("clew.methods.synaptiqa", "clean")
        return self.talk.ask(prompt, _SAMPLING, TEXT=_query(text), PROBLEM=as_data(problem))

    def repair(self, question: str, query: str, problem: Sequence[str]) -> str:
        """Return the model's next query after one that failed, or found nothing. Raises LlmError."""
        problem_text = "\n".join(query_text(line) for line in problem)
        values = {"SCHEMA": str(self.schema), "QUERY": _query(query), "PROBLEM": problem_text}
        prompt = prompt_named("clew.methods.synaptiqa", "repair")
        return self.talk.ask(prompt, _SAMPLING, stop=(), **values, QUESTION=as_data(question))


def lacks(reply: str) -> str | None:
    """What a reply says that the graph lacks; None for one that does not say so."""
    match = _LACKS.match(reply.strip())
    return None if match is None else (match[1].strip() or "it has nothing of the kind")


def _query(text: str) -> str:
    """A query as data: its arrows stay, a tag that could end the block does not."""
    return text[:4_000].replace("</", "‹/")


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
