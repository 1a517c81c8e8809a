"""`clew ask --questions`: many questions, one JSON line each; those answered in `--out` are left out."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from clew.cli.ask import answer_json
from clew.cli.console import json_line, warn, write_json
from clew.cli.failures import Interrupted
from clew.cli.jsonl import STDIN, objects, parse, source_name, unique_ids
from clew.cli.opening import FIRST_TIME
from clew.cli.progress import Bar, explained_wait
from clew.engine import clean_question
from clew.errors import ClewError, InputError, LockedError, OutputError, ParseError, UsageError

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.llm.types import ChatModel

LINE_START = b'{"id": '
"""How each line of answers begins; what a kill has torn begins so too."""


@dataclass(frozen=True, slots=True)
class Question:
    """A line of the file of questions."""

    id: str
    text: str
    entities: tuple[str, ...]


def ask_all(
    start: Callable[[], Clew],
    questions: str,
    out: Path | None,
    *,
    method: str,
    explain: bool,
    quiet: bool,
    model: ChatModel | None = None,
    settings: object = None,
) -> None:
    """Answer all questions of a file, to stdout or, resumable, to `out`; `start` opens the source.

    All questions are read before the first is asked, so that a malformed line costs nothing.
    """
    asked = read_questions(questions)
    run = _Run(method, explain, quiet, out, model, settings)
    if out is None:
        with start() as clew:
            run.answer(clew, asked, None)
        return
    if questions != STDIN and out.exists() and out.samefile(questions):
        raise UsageError(f"{out}: --out is the file of questions. Give another file")
    with answers_file(out) as file:
        done = answered(file, out, asked, method)
        with start() as clew:
            if done and not quiet:
                warn(f"{out}: {len(done):,} of {len(asked):,} questions are answered already")
            run.answer(clew, [q for q in asked if q.id not in done], file)


def read_questions(path: str) -> list[Question]:
    """Read the questions; ParseError for a malformed line, an empty question, or an id used twice."""
    file = source_name(path)
    read = [_question(file, *item) for item in unique_ids(objects(path), file)]
    if not read:
        raise InputError(f'{file}: no questions. Write a line {{"id": "1", "question": "…"}} for each')
    return read


def _question(file: str, number: int, id: str, value: dict[str, Any]) -> Question:
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
    return Question(id, cleaned, tuple(cast("list[str]", names)))


@contextmanager
def answers_file(path: Path) -> Generator[BinaryIO]:
    """Open `path` for reading and appending, for this process alone; InputError if that cannot be."""
    try:
        # Unbuffered: a line is in the file as soon as it is written, and nothing is written twice.
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+b", buffering=0)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}). Give another --out") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise LockedError(
                f"{path}: another process is writing answers here. Wait, or give another --out"
            ) from error
        yield cast(BinaryIO, file)


def answered(file: BinaryIO, path: Path, asked: Sequence[Question], method: str) -> set[str]:
    """Ids that the file has an answer to; a last line that was torn by a kill is cut off.

    Raises ParseError if the file holds something else, or answers to other questions.
    """
    texts = {question.id: question.text for question in asked}
    content = file.read()
    whole = content[: content.rfind(b"\n") + 1]
    done: set[str] = set()
    for number, raw in enumerate(whole.splitlines(), 1):
        line = parse(raw, str(path), number, "The file does not hold answers of Clew. Give another --out")
        id = str(line.get("id"))
        if "question" not in line or "answers" not in line:
            raise ParseError(str(path), number, "not an answer of Clew", "Give another --out")
        if id in texts and (line["question"], line.get("method")) != (texts[id], method):
            reason = f"id {id!r} holds the answer to another question or of another method"
            raise ParseError(str(path), number, reason, "Give another --out")
        done.add(id)
    torn = content[len(whole) :]
    if not (torn.startswith(LINE_START) or LINE_START.startswith(torn)):
        raise ParseError(str(path), whole.count(b"\n") + 1, "not an answer of Clew", "Give another --out")
    file.truncate(len(whole))
    file.seek(len(whole))
    return done & texts.keys()


@dataclass(frozen=True, slots=True)
class _Run:
    """How the questions are answered."""

    method: str
    explain: bool
    quiet: bool
    out: Path | None
    model: ChatModel | None = None
    settings: object = None

    def answer(self, clew: Clew, questions: Sequence[Question], file: BinaryIO | None) -> None:
        """Answer `questions` in their order to `file`, or to stdout."""
        done = 0
        try:
            with Bar(quiet=self.quiet) as bar, explained_wait(FIRST_TIME, quiet=self.quiet):
                for question in questions:
                    self._write(self._ask(clew, question), file)
                    done += 1
                    bar.update("asking", done, len(questions), "questions")
        except KeyboardInterrupt as error:
            how = (
                "use --out FILE to be able to go on later"
                if file is None
                else "the same command goes on from here"
            )
            raise Interrupted(f"interrupted: {done:,} of {len(questions):,} answered now; {how}") from error

    def _ask(self, clew: Clew, question: Question) -> dict[str, Any]:
        try:
            answer = clew.ask(
                question.text,
                id=question.id,
                entities=question.entities,
                method=self.method,
                model=self.model,
                settings=self.settings,
            )
        except ClewError as error:
            error.add_note(f"This is the question with id {question.id!r}")
            raise
        return answer_json(answer, explain=self.explain)

    def _write(self, answer: dict[str, Any], file: BinaryIO | None) -> None:
        if file is None:
            write_json(answer)
            sys.stdout.flush()
            return
        line = (json_line(answer) + "\n").encode("utf-8")
        try:
            while line:
                line = line[file.write(line) :]
        except OSError as error:
            raise OutputError(
                f"{self.out}: cannot be written ({error.strerror}). Its answers are kept: make room, and "
                "the same command goes on from there"
            ) from error
