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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Literal, cast

from clew.cli.console import Bar, Interrupted, explained_wait, warn, write_json
from clew.cli.opening import STDIN, item_text, objects, source_name, unique_ids, waiting_note
from clew.errors import ClewError, InputError, LockedError, OutputError, ParseError, UsageError
from clew.foundation.forms import json_line, json_lines
from clew.foundation.system import open_growing, take_lock
from clew.text.normalise import counted

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from clew.database import Database
    from clew.engine import Clew
    from clew.llm.managed import ManagedModel
    from clew.types import Answer, Verification
    from clew.workers import Workers


_LINE_START = b'{"id": '
"""How each line of results begins; what a kill has torn begins so too."""
ITEMS_AT_ONCE = 16
"""Items that a worker of a cluster takes at a time."""
_ADVICE = "Give another --out"


@dataclass(frozen=True, slots=True)
class BatchItem:
    """What is asked: a line of the file that a user gives, with its question or claim."""

    id: str
    text: str
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BatchKind:
    """Opens the source and asks items of it; can be pickled on a cluster.

    Its class says what a batch is of: the fields of its results, and the words of its messages.
    """

    item: ClassVar[Literal["question", "claim"]]
    """The field of the text too."""
    items: ClassVar[Literal["questions", "claims"]]
    field: ClassVar[str]
    """A field that every result has beside it."""
    result: ClassVar[str]
    """What one is called, with its article: `an answer`."""
    results: ClassVar[str]
    of: ClassVar[str]
    """Whose a result is: `to another question`."""
    doing: ClassVar[str]
    done: ClassVar[str]

    start: Callable[[], AbstractContextManager[Clew | Database]]
    method: str
    model: ManagedModel | None
    settings: object

    @contextmanager
    def opened(self) -> Generator[Clew | Database]:
        """Open the source and make the method: what is wrong with it is no fault of an item."""
        with self.start() as clew:
            clew.prepare(self.method, self.model, self.settings, claims=self.item == "claim")
            yield clew

    def ask_item(self, clew: Clew | Database, item: BatchItem) -> Answer | Verification:
        """Ask one item; raises a ClewError for what is wrong with it."""
        raise NotImplementedError

    @staticmethod
    def outcome(line: dict[str, Any]) -> str:
        """What came of an item, in words: `abstained`."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What came of an item: its line, and whether it failed, or the budget of the run stopped it."""

    line: dict[str, Any]
    failed: bool = False
    stopped: str = ""
    """By which budget of the run."""


@dataclass
class _Counts:
    """What a run did: outcomes in words, items that the budget stopped, and the first that failed."""

    outcomes: Counter[str] = field(default_factory=Counter[str])
    stopped: int = 0
    stopped_by: str = ""
    first_failure: str = ""


_FAILED = "failed"


@dataclass(frozen=True, slots=True)
class BatchRun:
    """How the items of a batch, `at_once` at a time, become lines of `out`, or of stdout.

    `method` is what results call it. On a cluster each worker opens the source.
    """

    kind: BatchKind
    method: str
    out: Path | None
    quiet: bool
    explain: bool = False
    at_once: int = 1
    cluster: Workers | None = None

    def run(self, source: str, items: Sequence[BatchItem]) -> None:
        """Write the result of each item that was read from `source`.

        Raises UsageError if `out` is the file that was given, Stopped if the budget of the run left some out
        or some failed, else as `answered` and `answers_file`, and what concerns all items.
        """
        out = self.out
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

    def answered(self, file: BinaryIO, path: Path, items: Sequence[BatchItem]) -> set[str]:
        """Ids that the file has a result of; a last line that was torn by a kill is cut off.

        Raises ParseError if the file holds something else, or results of other items.
        """
        kind = self.kind
        texts = {item.id: item.text for item in items}
        content = file.read()
        whole_lines = content[: content.rfind(b"\n") + 1]
        answered_ids: set[str] = set()
        advice = f"The file does not hold {kind.results} of Clew. {_ADVICE}"
        for number, line in json_lines(whole_lines.split(b"\n"), str(path), advice):
            id = str(line.get("id"))
            if kind.item not in line or not (kind.field in line or isinstance(line.get("failure"), dict)):
                raise ParseError(str(path), number, f"not {kind.result} of Clew", _ADVICE)
            if id in texts and (line[kind.item], line.get("method")) != (texts[id], self.method):
                noun = kind.result.split()[-1]
                reason = f"id {id!r} holds the {noun} {kind.of} or of another method"
                raise ParseError(str(path), number, reason, _ADVICE)
            if line.get("failure") is None:
                answered_ids.add(id)
        torn = content[len(whole_lines) :]
        if not (torn.startswith(_LINE_START) or _LINE_START.startswith(torn)):
            raise ParseError(str(path), whole_lines.count(b"\n") + 1, f"not {kind.result} of Clew", _ADVICE)
        file.truncate(len(whole_lines))
        file.seek(len(whole_lines))
        return answered_ids & texts.keys()

    @contextmanager
    def _results(self, items: Sequence[BatchItem]) -> Generator[Iterator[BatchResult]]:
        """What comes of the items, in their order: here, some at a time, or on a cluster."""
        if self.cluster is not None:
            size = max(ITEMS_AT_ONCE, self.at_once)
            pieces = [items[at : at + size] for at in range(0, len(items), size)]
            work = self.cluster.map(replace(self, cluster=None).in_worker, pieces)
            yield (result for results in work for result in results)
            return
        from clew.evaluate.run.asking import in_threads

        with self.kind.opened() as clew:
            results = in_threads(lambda item: self.result(clew, item), items, self.at_once)
            with closing(results):
                yield results

    def in_worker(self) -> Callable[[Sequence[BatchItem]], list[BatchResult]]:
        """Open the source in a worker of a cluster, as long as it lives; what is made answers some items."""
        from clew.evaluate.run.asking import in_threads

        opened = ExitStack()
        clew = opened.enter_context(self.kind.opened())
        atexit.register(opened.close)
        return lambda items: list(in_threads(lambda item: self.result(clew, item), items, self.at_once))

    def _write_all(self, items: Sequence[BatchItem], file: BinaryIO | None) -> None:
        """Write all results, and say what came of them."""
        counts, kind = _Counts(), self.kind
        try:
            with (
                self._results(items) as results,
                Bar(quiet=self.quiet) as bar,
                explained_wait(waiting_note(self.kind.model), quiet=self.quiet),
            ):
                for result in results:
                    if file is None or not result.stopped:
                        self._write(result.line, file)
                    self._count(result, counts, stopped=file is not None and bool(result.stopped))
                    bar.update(kind.doing, counts.outcomes.total(), len(items), kind.items)
        except KeyboardInterrupt as error:
            advice = "use --out FILE to be able to go on later"
            advice = advice if file is None else "the same command goes on from here"
            progress = f"{counts.outcomes.total():,} of {len(items):,} {kind.done} now"
            raise Interrupted(f"interrupted: {progress}; {advice}") from error
        self._tell(counts, len(items), file)

    def result(self, clew: Clew | Database, item: BatchItem) -> BatchResult:
        """What came of one item. Raises a ClewError that concerns them all: a key, an extra, a recording."""
        stopped = ""
        try:
            reply = self.kind.ask_item(clew, item)
        except Exception as error:
            message = str(error)
            if not isinstance(error, ClewError):  # a bug fails this item alone
                message = f"internal error: {error}; please report it"
            elif error.exit_code == 2 and not isinstance(error, UsageError):
                error.add_note(f"This is the {self.kind.item} with id {item.id!r}")
                raise
            elif getattr(error, "scope", None) == "run":
                stopped = message
            failure = {"type": type(error).__name__, "message": message}
            line = {"id": item.id, self.kind.item: item.text, "method": self.method, "failure": failure}
            return BatchResult(line, failed=True, stopped=stopped)
        model = self.kind.model
        if model is not None and model.run.reached is not None and _stopped_early(reply):
            stopped = str(model.run.reached)
        return BatchResult(reply.as_json(steps=self.explain), stopped=stopped)

    def _count(self, result: BatchResult, counts: _Counts, *, stopped: bool) -> None:
        line = result.line
        if stopped:
            counts.stopped += 1
            counts.stopped_by = counts.stopped_by or result.stopped
        elif result.failed:
            counts.outcomes[_FAILED] += 1
            counts.first_failure = counts.first_failure or f"id {line['id']!r}: {line['failure']['message']}"
        else:
            counts.outcomes[self.kind.outcome(line)] += 1

    def _tell(self, counts: _Counts, total: int, file: BinaryIO | None) -> None:
        """Say what was done; raises Stopped where some have no result."""
        kind, failed = self.kind, counts.outcomes[_FAILED]
        if total and file is not None and not self.quiet:
            outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.outcomes.most_common())
            warn(f"{self.out}: {counted(total, kind.item)} {kind.done} now ({outcomes})")
        problems: list[str] = []
        if counts.stopped:
            stopped = counted(counts.stopped, kind.item)
            problems.append(f"{stopped} of {total:,} not {kind.done}: {counts.stopped_by}")
        if failed:
            failure = counts.first_failure.rstrip(".")
            problems.append(f"{counted(failed, kind.item)} of {total:,} failed, the first with {failure}")
        if problems:
            from clew.workers import Stopped

            advice = "The same command asks them again" if file is not None else "Its line says why"
            raise Stopped(". ".join([*problems, advice]))

    def _write(self, result: dict[str, Any], file: BinaryIO | None) -> None:
        if file is None:
            write_json(result)
            sys.stdout.flush()
            return
        line = (json_line(result) + "\n").encode("utf-8")
        try:
            while line:
                line = line[file.write(line) :]
        except OSError as error:
            raise OutputError(
                f"{self.out}: cannot be written ({error.strerror}). Its {self.kind.results} are kept: make "
                "room, and the same command goes on from there"
            ) from error


def _stopped_early(reply: Answer | Verification) -> bool:
    """Whether a limit of calls, tokens or money ended the work on it."""
    abstained = reply.abstained
    steps = any(step.name == "budget" for step in reply.steps)
    return steps or (abstained is not None and abstained.reason == "budget")


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


# What `--questions` and `--claims` name: files of questions and of claims, and how each is asked.


@dataclass(frozen=True, slots=True)
class Questions(BatchKind):
    """How questions are answered."""

    item, items, field = "question", "questions", "answers"
    result, results, of = "an answer", "answers", "to another question"
    doing, done = "asking", "answered"

    def ask_item(self, clew: Clew | Database, item: BatchItem) -> Answer:
        """Answer a question."""
        return clew.ask(
            item.text,
            id=item.id,
            entities=item.entities,
            method=self.method,
            model=self.model,
            settings=self.settings,
        )

    @staticmethod
    def outcome(line: dict[str, Any]) -> str:
        """Whether there is an answer."""
        return "with an answer" if line["abstained"] is None else "abstained"


@dataclass(frozen=True, slots=True)
class Claims(BatchKind):
    """How claims are verified."""

    item, items, field = "claim", "claims", "verdict"
    result, results, of = "a verdict", "verdicts", "on another claim"
    doing, done = "verifying", "verified"
    closed_world: bool = False

    def ask_item(self, clew: Clew | Database, item: BatchItem) -> Verification:
        """Verify a claim."""
        return clew.verify(
            item.text,
            id=item.id,
            closed_world=self.closed_world,
            method=self.method,
            model=self.model,
            settings=self.settings,
        )

    @staticmethod
    def outcome(line: dict[str, Any]) -> str:
        """The verdict."""
        return str(line["verdict"]).replace("_", " ")


def read_items(path: str, kind: type[BatchKind]) -> list[BatchItem]:
    """Read all questions or claims before the first is asked, so that a malformed line costs nothing.

    Raises ParseError for a malformed line, an empty text, or an id used twice; InputError for an empty file.
    """
    file, field = source_name(path), kind.item
    batch_items: list[BatchItem] = []
    for number, id, value in unique_ids(objects(path), file):
        text = item_text(value, field, file, number, f'Write {{"{field}": "…"}}')
        batch_items.append(BatchItem(id, text, _entities(value, file, number) if field == "question" else ()))
    if not batch_items:
        raise InputError(f'{file}: no {kind.items}. Write a line {{"id": "1", "{field}": "…"}} for each')
    return batch_items


def _entities(value: dict[str, Any], file: str, number: int) -> tuple[str, ...]:
    raw = value.get("entities")
    names = cast("list[object]", raw) if isinstance(raw, list) else [] if raw is None else [None]
    if not all(isinstance(name, str) for name in names):
        raise ParseError(file, number, "field 'entities' is not a list of strings", 'Write "entities": ["…"]')
    return tuple(cast("list[str]", names))
