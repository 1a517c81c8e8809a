"""`clew ask --questions`: a file of questions."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from clew.cli.batch import BatchKind, BatchRun
from clew.cli.jsonl import objects, source_name, unique_ids
from clew.errors import InputError, ParseError, UsageError
from clew.methods.registry import shown_name
from clew.text.clean import clean_question

if TYPE_CHECKING:
    from clew.database import Database
    from clew.engine import Clew
    from clew.llm.managed import ManagedModel
    from clew.types import Answer
    from clew.workers.base import Workers


def _outcome(answer: dict[str, Any]) -> str:
    return "with an answer" if answer["abstained"] is None else "abstained"


_KIND = BatchKind(
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
    at_once: int = 1,
    settings: object = None,
    keep: Callable[[Answer], None] | None = None,
    cluster: Workers | None = None,
) -> None:
    """Answer all questions of a file, `at_once` at a time, to stdout or, resumable, to `out`.

    `start` opens the source, `keep` gets each answer; on a `cluster` all of these can be pickled.

    All questions are read before the first is asked, so that a malformed line costs nothing.
    """
    read = read_questions(questions)
    batch = BatchRun(_KIND, shown_name(method), out, quiet, explain, model, at_once, cluster)
    batch.run(_Ready(start, method, model, settings), questions, read, _One(method, model, settings, keep))


@dataclass(frozen=True, slots=True)
class _Ready:
    """Opens the source and makes the method: what is wrong with it is no fault of a question."""

    start: Callable[[], Clew | Database]
    method: str
    model: ManagedModel | None
    settings: object

    @contextmanager
    def __call__(self) -> Generator[Clew | Database]:
        with self.start() as clew:
            clew.prepare(self.method, self.model, self.settings)
            yield clew


@dataclass(frozen=True, slots=True)
class _One:
    """Asks one question."""

    method: str
    model: ManagedModel | None
    settings: object
    keep: Callable[[Answer], None] | None

    def __call__(self, clew: Clew | Database, question: QuestionLine) -> Answer:
        answer = clew.ask(
            question.text,
            id=question.id,
            entities=question.entities,
            method=self.method,
            model=self.model,
            settings=self.settings,
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
