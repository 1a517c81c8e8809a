"""Many questions or claims, one JSON line each; those that `--out` has a result of are left out.

What the budget of the run stopped has no result: it is not written to `--out`, so that it is asked again.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Protocol, TypeVar

from clew.cli.console import warn, write_json
from clew.cli.failures import Interrupted
from clew.cli.jsonl import STDIN
from clew.cli.opening import FIRST_TIME
from clew.cli.progress import Bar, explained_wait
from clew.errors import ClewError, InputError, LockedError, OutputError, ParseError, UsageError
from clew.json_form import json_line
from clew.json_lines import json_object
from clew.locks import open_growing, take_lock
from clew.text.counted import counted

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from clew.llm.managed import ManagedModel

_LINE_START = b'{"id": '
"""How each line of results begins; what a kill has torn begins so too."""
_ADVICE = "Give another --out"


class BatchItem(Protocol):
    """What is asked: a line of the file that a user gives."""

    @property
    def id(self) -> str:
        """What tells it from the others."""
        ...

    @property
    def text(self) -> str:
        """The question or the claim."""
        ...


ItemT = TypeVar("ItemT", bound=BatchItem)
OpenT = TypeVar("OpenT")
"""What is asked: an open index or database."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a batch is of: the fields of its results, and the words of its messages."""

    item: str
    """The field of the text too: `question`."""
    items: Literal["questions", "claims"]
    field: str
    """A field that every result has beside it."""
    result: str
    """What one is called, with its article: `an answer`."""
    results: str
    of: str
    """Whose a result is: `to another question`."""
    doing: str
    done: str
    outcome: Callable[[dict[str, Any]], str]
    """What came of an item, in words: `abstained`."""


@dataclass(frozen=True, slots=True)
class BatchRun:
    """How the items of a batch become lines of `out`, or of stdout."""

    kind: Kind
    method: str
    out: Path | None
    quiet: bool
    model: ManagedModel | None = None

    def run(
        self,
        start: Callable[[], AbstractContextManager[OpenT]],
        given: str,
        items: Sequence[ItemT],
        one: Callable[[OpenT, ItemT], dict[str, Any]],
    ) -> None:
        """Write the result of `one` for each item that was read from `given`; `start` opens the source.

        Raises UsageError if `out` is the file that was given, Stopped if the budget of the run left some out,
        else as `answered`, `answers_file` and `one`.
        """
        out = self.out
        if out is None:
            with start() as clew:
                self._write_all(clew, items, one, None)
            return
        if given != STDIN and out.exists() and out.samefile(given):
            raise UsageError(f"{out}: --out is the file of {self.kind.items}. Give another file")
        with answers_file(out) as file:
            done = self.answered(file, out, items)
            with start() as clew:
                if done and not self.quiet:
                    counts = f"{len(done):,} of {len(items):,} {self.kind.items}"
                    warn(f"{out}: {counts} are {self.kind.done} already")
                left = [item for item in items if item.id not in done]
                outcomes = self._write_all(clew, left, one, file)
            if left and not self.quiet:
                told = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.most_common())
                warn(f"{out}: {counted(len(left), self.kind.item)} {self.kind.done} now ({told})")

    def answered(self, file: BinaryIO, path: Path, items: Sequence[BatchItem]) -> set[str]:
        """Ids that the file has a result of; a last line that was torn by a kill is cut off.

        Raises ParseError if the file holds something else, or results of other items.
        """
        kind = self.kind
        texts = {item.id: item.text for item in items}
        content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        done: set[str] = set()
        for number, raw in enumerate(whole.splitlines(), 1):
            advice = f"The file does not hold {kind.results} of Clew. {_ADVICE}"
            line = json_object(raw, str(path), number, advice)
            id = str(line.get("id"))
            if kind.item not in line or kind.field not in line:
                raise ParseError(str(path), number, f"not {kind.result} of Clew", _ADVICE)
            if id in texts and (line[kind.item], line.get("method")) != (texts[id], self.method):
                what = kind.result.split()[-1]
                reason = f"id {id!r} holds the {what} {kind.of} or of another method"
                raise ParseError(str(path), number, reason, _ADVICE)
            done.add(id)
        torn = content[len(whole) :]
        if not (torn.startswith(_LINE_START) or _LINE_START.startswith(torn)):
            raise ParseError(str(path), whole.count(b"\n") + 1, f"not {kind.result} of Clew", _ADVICE)
        file.truncate(len(whole))
        file.seek(len(whole))
        return done & texts.keys()

    def _write_all(
        self,
        clew: OpenT,
        items: Sequence[ItemT],
        one: Callable[[OpenT, ItemT], dict[str, Any]],
        file: BinaryIO | None,
    ) -> Counter[str]:
        """Write all results, and count their outcomes."""
        done = stopped = 0
        outcomes = Counter[str]()
        try:
            with Bar(quiet=self.quiet) as bar, explained_wait(FIRST_TIME, quiet=self.quiet):
                for item in items:
                    refused = self._refusals
                    try:
                        result = one(clew, item)
                    except ClewError as error:
                        error.add_note(f"This is the {self.kind.item} with id {item.id!r}")
                        raise
                    if file is not None and self._refusals > refused:
                        stopped += 1
                        continue
                    self._write(result, file)
                    outcomes[self.kind.outcome(result)] += 1
                    done += 1
                    bar.update(self.kind.doing, done, len(items), self.kind.items)
        except KeyboardInterrupt as error:
            how = (
                "use --out FILE to be able to go on later"
                if file is None
                else "the same command goes on from here"
            )
            counts = f"{done:,} of {len(items):,} {self.kind.done} now"
            raise Interrupted(f"interrupted: {counts}; {how}") from error
        if stopped and self.model is not None:
            from clew.evaluate.run.answering import Stopped

            raise Stopped(
                f"{counted(stopped, self.kind.item)} of {len(items):,} not {self.kind.done}: "
                f"{self.model.run.reached}. The same command asks them again"
            )
        return outcomes

    @property
    def _refusals(self) -> int:
        """Calls of the model that the budget of the run has refused so far."""
        return 0 if self.model is None else self.model.run.refusals

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


@contextmanager
def answers_file(path: Path) -> Generator[BinaryIO]:
    """Open `path` for reading and appending, for this process alone; InputError if that cannot be."""
    if path.exists() and not path.is_file():
        raise InputError(
            f"{path}: is no regular file, so that answers could not be kept in it. Give another --out"
        )
    try:
        file = open_growing(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}). Give another --out") from error
    with file:
        if not take_lock(file.fileno()):
            raise LockedError(f"{path}: another process is writing answers here. Wait, or give another --out")
        yield file
