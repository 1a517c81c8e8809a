"""The `read` step of SynaptiQA with a model (section III.C): rows and question → text and answers.

The model names values of the rows, or a column of which all values are answers. What it names is looked up
in the rows; the rest is dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from clew.llm.errors import ReplyInvalid
from clew.llm.extract import read_value
from clew.llm.prompting import Sampling, Talk, as_data, data_line, prompt_named, query_text
from clew.llm.refusals import declines
from clew.llm.reply import is_none, stated_answer
from clew.llm.shapes import build
from clew.methods.asked import Judge, asked_of, misfit_of_label, misfit_of_value
from clew.methods.synaptiqa.read_rows import Cell, ReadRow, is_absence, is_void
from clew.text.normalise import normalise

MOST_ROWS_SHOWN = 60
"""Rows that the prompt shows; the model may name a column to mean all."""
_NUMBER = re.compile(r"[+\-\u2212]?[\d,]+(?:\.\d+)?")
_TRUTH = ("yes", "no")
_ROOM = 12_000
"""Characters of rows in a prompt."""
_SAMPLING = Sampling(temperature=0.0, max_tokens=1024)
REPAIR = (
    'This cannot be read. Write the JSON object alone: {"text": "…", "answers": ["…"]}, as you were asked.'
)


@dataclass(frozen=True)
class ColumnReply:
    """A reply that takes all values of a column."""

    column: str
    text: str = ""


@dataclass(frozen=True)
class RowsReply:
    """What a reply says: its text, and answers or the column of which all values are answers."""

    text: str = ""
    answers: list[str] = field(default_factory=list[str])
    column: str = ""


@dataclass(frozen=True)
class OwnReply:
    """The reply that the model is asked for where the graph holds nothing."""

    answer: str
    confidence: float


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """Values of the rows that are answers, with the rows that prove each; and the model's text."""

    text: str
    values: dict[str, tuple[Cell, list[ReadRow]]]


def read_rows(
    talk: Talk,
    question: str,
    query: str,
    columns: Sequence[str],
    rows: Sequence[ReadRow],
    judge: Judge | None = None,
) -> ReadAnswer:
    """Ask a model which values answer a question; `judge` decides yes and no. Raises LlmError."""
    rows_text = _rows_text(columns, rows)
    prompt = prompt_named("clew.methods.synaptiqa", "read")
    values = {"QUESTION": as_data(question), "QUERY": query_text(query), "ROWS": rows_text}
    text = talk.ask(prompt, _SAMPLING, stop=(), **values)
    reply = _reply_of(text)
    reply = reply or _reply_of(talk.ask_again(prompt, _SAMPLING, text, REPAIR, values)) or RowsReply()
    return ReadAnswer(reply.text.strip(), _values_in_rows(reply, columns, rows, question, judge))


def _reply_of(text: str) -> RowsReply | None:
    """What a reply states: a column, or answers; None where it is in no form that states them."""
    try:
        column = read_value(text, lambda value: build(ColumnReply, value))
    except ReplyInvalid:
        stated = stated_answer(text)
        if stated.form in ("", "bare"):
            return None
        items = [] if len(stated.items) == 1 and is_none(stated.items[0]) else list(stated.items)
        return RowsReply(stated.text, items)
    return RowsReply(column.text, [], column.column)


def ask_model_answer(talk: Talk, question: str) -> OwnReply:
    """Ask a model for its own answer with a confidence in [0, 1], 0 for prose; empty where it has none.

    Raises LlmError.
    """
    text = talk.ask(prompt_named("clew.methods.synaptiqa", "own"), _SAMPLING, QUESTION=as_data(question))
    try:
        reply = read_value(text, lambda value: build(OwnReply, value))
    except ReplyInvalid:
        return OwnReply("" if declines(text) else text.strip(), 0.0)
    confidence = reply.confidence if reply.confidence == reply.confidence else 0.0
    answer = "" if declines(reply.answer) else reply.answer.strip()
    return OwnReply(answer, min(max(confidence, 0.0), 1.0))


def _rows_text(columns: Sequence[str], rows: Sequence[ReadRow]) -> str:
    lines = [data_line(json.dumps(list(columns), ensure_ascii=False))]
    room = _ROOM
    for row in rows[:MOST_ROWS_SHOWN]:
        line = query_text(json.dumps(row.labels, ensure_ascii=False))
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    hidden_count = len(rows) - len(lines) + 1
    return "\n".join([*lines, *([f"({hidden_count:,} more rows)"] if hidden_count else [])])


def _values_in_rows(
    reply: RowsReply, columns: Sequence[str], rows: Sequence[ReadRow], question: str, judge: Judge | None
) -> dict[str, tuple[Cell, list[ReadRow]]]:
    """Look the model's answers up in the rows; what is not what is asked for is none."""
    values: dict[str, tuple[Cell, list[ReadRow]]] = {}
    folded_answers = {_folded(answer) for answer in reply.answers}
    # A unit may stand behind a number: *170 minutes*.
    numbers = {_folded(n[0]) for answer in reply.answers if len(n := _NUMBER.findall(answer)) == 1}
    column = list(columns).index(reply.column) if reply.column in columns else -1
    for row in rows:
        for at, cell in enumerate(row.cells):
            if cell is None or (column >= 0 and at != column):
                continue
            names = {_folded(cell.label), _folded(cell.entity)}
            is_number = _NUMBER.fullmatch(cell.label) is not None
            is_named = at == column or names & folded_answers or (is_number and names & numbers)
            if is_named and _fits(question, cell, row):
                values.setdefault(cell.entity, (cell, []))[1].append(row)
    return values if values or column >= 0 else _value(folded_answers, rows, question, judge)


def _fits(question: str, cell: Cell, row: ReadRow) -> bool:
    """Whether a value may be what is asked for: no number is a person or a place, unless it has triples."""
    label = cell.label.casefold()
    if label in _TRUTH:
        return not misfit_of_value(question, label)
    is_value = _NUMBER.fullmatch(label) is not None and all(t.triple.head != cell.entity for t in row.triples)
    return not misfit_of_label(asked_of(question), label, is_value=is_value)


def _value(
    folded_answers: set[str], rows: Sequence[ReadRow], question: str, judge: Judge | None
) -> dict[str, tuple[Cell, list[ReadRow]]]:
    """Yes or no by a query graph of the question (without a reader, by whether rows say so); their number."""
    value = next(iter(folded_answers)) if len(folded_answers) == 1 and rows else ""
    if value in _TRUTH and not misfit_of_value(question, value):
        named = frozenset(t.id for row in rows for t in row.triples if t.id is not None)
        is_so = value == ("no" if is_absence(rows) or is_void(rows) else "yes")
        if is_so if judge is None else not isinstance(judge.decides(question, value, named), str):
            return {value: (Cell(value, value), list(rows))}
    counted = value in {str(len(rows)), str(len({row.cells[:1] for row in rows}))}
    may_count = asked_of(question) in ("a number", "")
    return {value: (Cell(value, value), list(rows))} if counted and may_count else {}


def _folded(text: str) -> str:
    try:
        return f"{float(text.replace(',', '')):.10g}"
    except ValueError:
        return normalise(text) or text
