"""`clew ask --questions`: a file of questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from clew.cli.batch import BatchRun, Kind
from clew.cli.jsonl import objects, source_name, unique_ids
from clew.errors import InputError, ParseError, UsageError
from clew.methods.registry import shown_name
from clew.text.clean import clean_question

if TYPE_CHECKING:
    from clew.database import Database
    from clew.engine import Clew
    from clew.llm.managed import ManagedModel
    from clew.types import Answer


def _outcome(answer: dict[str, Any]) -> str:
    return "with an answer" if answer["abstained"] is None else "abstained"


_KIND = Kind(
    "question",
    "questions",
    "answers",
    "an answer",
    "answers",
    "to another question",
    "asking",
    "answered",
    _outcome,
)


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """A line of the file of questions."""

    id: str
    text: str
    entities: tuple[str, ...]


def ask_all(
    start: Callable[[], Clew | Database],
    questions: str,
    out: Path | None,
    *,
    method: str,
    explain: bool,
    quiet: bool,
    model: ManagedModel | None = None,
    settings: object = None,
    keep: Callable[[Answer], None] | None = None,
) -> None:
    """Answer all questions of a file, to stdout or, resumable, to `out`; `start` opens the source.

    `keep` gets each answer.

    All questions are read before the first is asked, so that a malformed line costs nothing.
    """

    def one(clew: Clew | Database, question: QuestionLine) -> dict[str, Any]:
        answer = clew.ask(
            question.text,
            id=question.id,
            entities=question.entities,
            method=method,
            model=model,
            settings=settings,
        )
        if keep is not None:
            keep(answer)
        return answer.as_json(steps=explain)

    BatchRun(_KIND, shown_name(method), out, quiet, model).run(
        start, questions, read_questions(questions), one
    )


def read_questions(path: str) -> list[QuestionLine]:
    """Read the questions; ParseError for a malformed line, an empty question, or an id used twice."""
    file = source_name(path)
    read = [_question(file, *item) for item in unique_ids(objects(path), file)]
    if not read:
        raise InputError(f'{file}: no questions. Write a line {{"id": "1", "question": "…"}} for each')
    return read


def _question(file: str, number: int, id: str, value: dict[str, Any]) -> QuestionLine:
    text, entities = value.get("question"), value.get("entities")
    if not isinstance(text, str):
        raise ParseError(
            file, number, "field 'question' is missing or not a string", 'Write {"question": "…"}'
        )
    if entities is None:
        entities = []
    names = cast("list[object]", entities) if isinstance(entities, list) else [None]
    if not all(isinstance(name, str) for name in names):
        raise ParseError(file, number, "field 'entities' is not a list of strings", 'Write "entities": ["…"]')
    try:
        cleaned = clean_question(text)
    except UsageError as error:
        raise ParseError(file, number, str(error)) from error
    return QuestionLine(id, cleaned, tuple(cast("list[str]", names)))
