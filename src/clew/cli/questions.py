"""`clew ask --questions`: a file of questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from clew.cli.batch import AskedWith, BatchKind, BatchRun
from clew.cli.jsonl import objects, source_name, unique_ids
from clew.errors import InputError, ParseError, UsageError
from clew.text.clean import clean_question

if TYPE_CHECKING:
    from clew.database import Database
    from clew.engine import Clew
    from clew.types import Answer


def _outcome(answer: dict[str, Any]) -> str:
    return "with an answer" if answer["abstained"] is None else "abstained"


QUESTIONS = BatchKind(
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


def ask_all(batch: BatchRun, asked: AskedWith, questions: str, keep: Callable[[Answer], None] | None) -> None:
    """Answer all questions of a file; `keep` gets each answer, and can be pickled on a cluster.

    All questions are read before the first is asked, so that a malformed line costs nothing.
    """
    batch.run(asked, questions, read_questions(questions), _AskOne(asked, keep))


@dataclass(frozen=True, slots=True)
class _AskOne:
    """Asks one question."""

    asked: AskedWith
    keep: Callable[[Answer], None] | None

    def __call__(self, clew: Clew | Database, question: QuestionLine) -> Answer:
        answer = clew.ask(
            question.text,
            id=question.id,
            entities=question.entities,
            method=self.asked.method,
            model=self.asked.model,
            settings=self.asked.settings,
        )
        if self.keep is not None:
            self.keep(answer)
        return answer


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
