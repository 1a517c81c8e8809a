"""The protocol of data set readers, and what they say about their data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from clew.errors import InputError, ParseError, UsageError
from clew.evaluate.questions import DatasetPart, EvalQuestion


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
        """Read one part.

        Raises InputError (a file is missing) and ParseError (a line is not as the format wants it; says file,
        line and what was expected).
        """
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
