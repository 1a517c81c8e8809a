"""Many questions or claims, some at a time, one JSON line each; those that `--out` has a result of are left.

One that fails has a line that says why, and the others are asked all the same; the same command asks again.
What the budget of the run stopped has no result: it is not written to `--out`, so that it is asked again.
"""

from __future__ import annotations

import atexit
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, cast

from clew.cli.console import Bar, Interrupted, explained_wait, warn, write_json
from clew.cli.opening import STDIN, objects, source_name, unique_ids, waiting_note
from clew.errors import InputError, LockedError, OutputError, ParseError, UsageError
from clew.evaluate.records import EvalQuestion
from clew.foundation.forms import append_line, json_lines
from clew.foundation.system import open_growing, take_lock
from clew.text.normalise import clean_question, counted

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from clew.database import Database
    from clew.engine import Clew
    from clew.evaluate.run.asking import Asker, Outcome
    from clew.workers import Workers


_LINE_START = b'{"id": '
"""How each line of results begins; what a kill has torn begins so too."""
_ADVICE = "Give another --out"


class BatchKind(NamedTuple):
    """What a batch is of, a field of its results beside that, and the words of its messages."""

    item: Literal["question", "claim"]
    items: Literal["questions", "claims"]
    field: str
    result: str
    doing: str
    done: str


_QUESTIONS = BatchKind("question", "questions", "answers", "answer", "asking", "answered")
_CLAIMS = BatchKind("claim", "claims", "verdict", "verdict", "verifying", "verified")
_FAILED = "failed"


@dataclass(frozen=True, slots=True)
class BatchRun:
    """How the items of a batch, `at_once` at a time, become lines of `out`, or of stdout.

    `start` opens the source, in each worker of a cluster; `method` is what results call it.
    """

    start: Callable[[], AbstractContextManager[Clew | Database]]
    asker: Asker
    method: str
    out: Path | None
    quiet: bool
    at_once: int = 1
    cluster: Workers | None = None

    @property
    def kind(self) -> BatchKind:
        """What is asked."""
        return _CLAIMS if self.asker.claims else _QUESTIONS

    def run(self, source: str) -> None:
        """Write the result of each item that `source` has.

        Raises as `read_items`, `answered` and `answers_file`, UsageError if `out` is the file that was given,
        Stopped if the budget of the run left some out or some failed.
        """
        out, items = self.out, read_items(source, self.kind)
        if out is None:
            self._write_all(items, None)
            return
        if source != STDIN and out.exists() and out.samefile(source):
            raise UsageError(f"{out}: --out is the file of {self.kind.items}. Give another file")
        with answers_file(out) as file:
            answered_ids = self.answered(file, out, items)
            if answered_ids and not self.quiet:
                counts = f"{len(answered_ids):,} of {len(items):,} {self.kind.items}"
                warn(f"{out}: {counts} are {self.kind.done} already")
            self._write_all([item for item in items if item.id not in answered_ids], file)

    def answered(self, file: BinaryIO, path: Path, items: Sequence[EvalQuestion]) -> set[str]:
        """Ids that the file has a result of; a last line that a kill tore is cut off. Raises ParseError."""
        kind = self.kind
        texts = {item.id: item.text for item in items}
        content = file.read()
        whole_lines = content[: content.rfind(b"\n") + 1]
        answered_ids: set[str] = set()
        advice = f"The file does not hold {kind.result}s of Clew. {_ADVICE}"
        wrong = f"not {'an answer' if kind is _QUESTIONS else 'a verdict'} of Clew"
        for number, line in json_lines(whole_lines.split(b"\n"), str(path), advice):
            id = str(line.get("id"))
            if kind.item not in line or not (kind.field in line or isinstance(line.get("failure"), dict)):
                raise ParseError(str(path), number, wrong, _ADVICE)
            if id in texts and (line[kind.item], line.get("method")) != (texts[id], self.method):
                reason = f"id {id!r} holds the {kind.result} on another {kind.item} or of another method"
                raise ParseError(str(path), number, reason, _ADVICE)
            if line.get("failure") is None:
                answered_ids.add(id)
        torn = content[len(whole_lines) :]
        if not (torn.startswith(_LINE_START) or _LINE_START.startswith(torn)):
            raise ParseError(str(path), whole_lines.count(b"\n") + 1, wrong, _ADVICE)
        file.truncate(len(whole_lines))
        file.seek(len(whole_lines))
        return answered_ids & texts.keys()

    @contextmanager
    def _outcomes(self, items: Sequence[EvalQuestion]) -> Generator[Iterator[tuple[EvalQuestion, Outcome]]]:
        """What comes of the items: here, some at a time, or on a cluster."""
        from clew.evaluate.run.asking import in_threads, in_workers

        if self.cluster is not None:
            yield in_workers(self.cluster, replace(self, cluster=None).in_worker, items, self.at_once)
            return
        with self._asked() as ask, closing(in_threads(ask, items, self.at_once)) as outcomes:
            yield outcomes

    @contextmanager
    def _asked(self) -> Generator[Callable[[EvalQuestion], tuple[EvalQuestion, Outcome]]]:
        """Open the source and make the method: what is wrong with it is no fault of an item."""
        with self.start() as clew:
            self.asker.prepare(clew)
            yield lambda item: (item, self.asker.ask(clew, item.id, item.text, item.entities))

    def in_worker(self) -> Callable[[EvalQuestion], tuple[EvalQuestion, Outcome]]:
        """Open the source in a worker of a cluster, as long as it lives."""
        opened = ExitStack()
        atexit.register(opened.close)
        return opened.enter_context(self._asked())

    def _write_all(self, items: Sequence[EvalQuestion], file: BinaryIO | None) -> None:
        """Write all results, and say what came of them; raises Stopped where some have no result."""
        kind, total = self.kind, len(items)
        outcomes, stopped, failures = Counter[str](), list[str](), list[str]()
        try:
            with (
                self._outcomes(items) as found,
                Bar(quiet=self.quiet) as bar,
                explained_wait(waiting_note(self.asker.model), quiet=self.quiet),
            ):
                for item, outcome in found:
                    failure = outcome.failure
                    if outcome.stopped and file is not None:
                        stopped.append(outcome.stopped)
                    elif failure is not None:
                        line = {"id": item.id, kind.item: item.text, "method": self.method}
                        self._write(line | {"failure": asdict(failure)}, file)
                        outcomes[_FAILED] += 1
                        failures.append(f"id {item.id!r}: {failure.message.rstrip('.')}")
                    elif outcome.reply is not None:
                        self._write(outcome.reply, file)
                        words = "with an answer" if outcome.reply.get("abstained") is None else "abstained"
                        verdict = str(outcome.reply.get("verdict", "")).replace("_", " ")
                        outcomes[verdict or words] += 1
                    bar.update(kind.doing, outcomes.total(), total, kind.items)
        except KeyboardInterrupt as error:
            advice = "use --out FILE to be able to go on later"
            advice = advice if file is None else "the same command goes on from here"
            progress = f"{outcomes.total():,} of {total:,} {kind.done} now"
            raise Interrupted(f"interrupted: {progress}; {advice}") from error
        if total and file is not None and not self.quiet:
            counts = ", ".join(f"{count:,} {words}" for words, count in outcomes.most_common())
            warn(f"{self.out}: {counted(total, kind.item)} {kind.done} now ({counts})")
        problems: list[str] = []
        if stopped:
            problems.append(f"{counted(len(stopped), kind.item)} of {total:,} not {kind.done}: {stopped[0]}")
        if failures:
            failed = counted(len(failures), kind.item)
            problems.append(f"{failed} of {total:,} failed, the first with {failures[0]}")
        if problems:
            from clew.workers import Stopped

            advice = "The same command asks them again" if file is not None else "Its line says why"
            raise Stopped(". ".join([*problems, advice]))

    def _write(self, result: dict[str, Any], file: BinaryIO | None) -> None:
        if file is None:
            write_json(result)
            sys.stdout.flush()
            return
        try:
            append_line(file, result)
        except OSError as error:
            raise OutputError(
                f"{self.out}: cannot be written ({error.strerror}). Its {self.kind.result}s are kept: make "
                "room, and the same command goes on from there"
            ) from error


def refuse_batch_options(values: Mapping[str, object], batch_option: str) -> None:
    """Raise UsageError for options of a batch where one item is asked; `batch_option` is that of a batch."""
    wrong = next((option for option, value in values.items() if value is not None), None)
    if wrong is not None:
        redirect = ", or redirect: … --json > FILE" if wrong == "--out" else ""
        raise UsageError(f"{wrong} is for {batch_option}. Leave it out{redirect}")


@contextmanager
def answers_file(path: Path) -> Generator[BinaryIO]:
    """Open `path` for reading and appending, for this process alone; InputError if that cannot be."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is no regular file, so that answers could not be kept in it. {_ADVICE}")
    try:
        file = open_growing(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}). {_ADVICE}") from error
    with file:
        if not take_lock(file.fileno()):
            raise LockedError(f"{path}: another process is writing answers here. Wait, or give another --out")
        yield file


def read_items(path: str, kind: BatchKind) -> list[EvalQuestion]:
    """Read all questions or claims before the first is asked. Raises ParseError, InputError (empty file)."""
    file, field = source_name(path), kind.item
    batch_items: list[EvalQuestion] = []
    for number, id, value in unique_ids(objects(path), file):
        text, advice = value.get(field), f'Write {{"{field}": "…"}}'
        if not isinstance(text, str):
            raise ParseError(file, number, f"field {field!r} is missing or not a string", advice)
        try:
            text = clean_question(text, field)
        except UsageError as error:
            raise ParseError(file, number, str(error)) from error
        entities = (value.get("entities") or []) if field == "question" else []
        if not isinstance(entities, list) or not all(
            isinstance(name, str) for name in cast("list[object]", entities)
        ):
            reason, advice = "field 'entities' is not a list of strings", 'Write "entities": ["…"]'
            raise ParseError(file, number, reason, advice)
        batch_items.append(EvalQuestion(id, text, entities=tuple(cast("list[str]", entities))))
    if not batch_items:
        raise InputError(f'{file}: no {field}s. Write a line {{"id": "1", "{field}": "…"}} for each')
    return batch_items
