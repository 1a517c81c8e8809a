"""The protocol of data set readers, what they say about their data, and the files that they read."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from clew.errors import InputError, ParseError, UsageError
from clew.evaluate.records import DatasetPart, EvalQuestion
from clew.foundation import forms
from clew.graph.readers.batch import Tally
from clew.graph.readers.stream import numbered_lines

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class DatasetAbout:
    """What a data set is, where to get it, its licence, and which files its directory must have."""

    name: str
    title: str
    source: str
    licence: str
    files: str
    cite: str


class DatasetReader(Protocol):
    """Reads the parts of one data set from a directory that the user names."""

    @property
    def about(self) -> DatasetAbout:
        """What the data set is."""
        ...

    @property
    def splits(self) -> tuple[str, ...]:
        """Splits in order of preference; empty where the data set has none."""
        ...

    def parts(self, folder: Path) -> tuple[str, ...]:
        """Names of the parts whose files are there."""
        ...

    def read(self, folder: Path, part: str, split: str | None) -> DatasetPart:
        """Read one part. Raises InputError (a file is missing), ParseError (file, line, what is expected)."""
        ...


def find_file(folder: Path, names: Sequence[str], description: str) -> Path:
    """Find the first of `names` (or of it with `.gz` or `.bz2`) in `folder`; InputError if none is there."""
    file = find_optional(folder, names)
    if file is not None:
        return file
    if not folder.is_dir():
        raise InputError(f"{folder}: no such directory. Give the directory of the data set")
    raise InputError(f"{folder}: there is no {description}. Expected: {' or '.join(names)} (also .gz, .bz2)")


def find_optional(folder: Path, names: Sequence[str]) -> Path | None:
    """Find the first of `names`, which may be globs, or of it with `.gz` or `.bz2`; None if none is there."""
    for name in names:
        for suffix in ("", ".gz", ".bz2"):
            files = sorted(file for file in folder.glob(name + suffix) if file.is_file())
            if files:
                return files[0]
    return None


def choose_split(splits: Sequence[str], available: Sequence[str], requested: str | None, folder: Path) -> str:
    """Choose the `requested` split (UsageError: unknown), else the first `available` (InputError: none)."""
    if requested is not None:
        if requested not in splits:
            raise UsageError(f"There is no split {requested!r}. Splits are: {', '.join(splits)}.")
        return requested
    for split in splits:
        if split in available:
            return split
    raise InputError(f"{folder}: no split is there. Expected files of one of: {', '.join(splits)}")


class SplitFiles:
    """Data sets with a file for each split: `names` may have SPLIT in them, `noun` is what it holds."""

    splits: tuple[str, ...] = ("test", "dev", "train")
    part: ClassVar = "all"
    noun: ClassVar = "questions"
    names: ClassVar[tuple[str, ...]]

    def parts(self, folder: Path) -> tuple[str, ...]:
        """Name the one part, if a split is there."""
        return (self.part,) if self.available(folder) else ()

    def split_file(self, folder: Path, split: str | None) -> tuple[str, Path]:
        """Choose the split, and find its file; raises as `choose_split` and `find_file`."""
        chosen = choose_split(self.splits, self.available(folder), split, folder)
        return chosen, find_file(folder, self._names(chosen), f"{chosen} {self.noun}")

    def _names(self, split: str) -> list[str]:
        return [name.replace("SPLIT", split) for name in self.names]

    def available(self, folder: Path) -> list[str]:
        """The splits whose files are there."""
        return [split for split in self.splits if find_optional(folder, self._names(split)) is not None]


def unique(questions: Sequence[EvalQuestion], file: Path) -> tuple[EvalQuestion, ...]:
    """Hand back the questions; ParseError for an id that is used twice, InputError if there are none."""
    lines_by_id: dict[str, int] = {}
    for question in questions:
        if question.id in lines_by_id:
            reason = f"id {question.id!r} is that of line {lines_by_id[question.id]} too"
            raise ParseError(str(file), question.line, reason, "Give each question its own id")
        lines_by_id[question.id] = question.line
    if not questions:
        raise InputError(f"{file}: no questions in the file")
    return tuple(questions)


def lines(file: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of lines that are not blank; ParseError: no UTF-8, InputError: unreadable."""
    for number, text in numbered_lines(file, Tally()):
        if text.strip():
            yield number, text.rstrip("\r")


def json_lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) of a file of JSON lines; raises as `lines`, and if a line is no object."""
    advice = "Expected one object a line"
    return ((n, forms.json_object(text.encode(), str(file), n, advice)) for n, text in lines(file))


def json_document(file: Path) -> Any:  # noqa: ANN401
    """Read a whole JSON file; ParseError with the line where it is not JSON."""
    try:
        return json.loads("\n".join(text for _, text in numbered_lines(file, Tally())))
    except json.JSONDecodeError as error:
        raise ParseError(str(file), error.lineno, f"not JSON ({error.msg})") from error
    except RecursionError as error:
        raise InputError(f"{file}: cannot be read ({error})") from error


class _PlainUnpickler(pickle.Unpickler):
    """Reads containers, strings and numbers; anything else would call code, and is refused."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:  # noqa: ANN401
        raise pickle.UnpicklingError(f"it holds an object of {module_name}.{global_name}")


def plain_pickle(file: Path) -> Any:  # noqa: ANN401
    """Read a pickle of dictionaries, lists, strings and numbers, without running code. Raises InputError."""
    try:
        with file.open("rb") as stream:
            return _PlainUnpickler(stream).load()
    except (pickle.UnpicklingError, EOFError, ValueError, IndexError, KeyError, TypeError, OSError) as error:
        raise InputError(f"{file}: not a pickle of plain values ({error}), so it was not loaded") from error


def read_each(
    rows: Iterable[tuple[int, Row]], file: Path, name: str, read: Callable[[int, Row], EvalQuestion]
) -> list[EvalQuestion]:
    """Read questions of a published format; `read` gets number and question. Raises ParseError alone."""
    questions: list[EvalQuestion] = []
    for number, row in rows:
        try:
            questions.append(read(number, row))
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            problem = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
            raise ParseError(str(file), number, f"not a question of {name}", problem) from error
    return questions
