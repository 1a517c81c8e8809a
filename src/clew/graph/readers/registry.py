"""Which reader reads a source: by format name, by file name, or by looking at the first lines."""

from __future__ import annotations

from pathlib import Path

from clew.errors import InputError, UsageError
from clew.graph.readers.batch import Reader, Tally
from clew.graph.readers.delimited import PIPE, TSV
from clew.graph.readers.stream import line_blocks

READERS: tuple[Reader, ...] = (TSV, PIPE)
"""All readers; adding one is a line here."""

SNIFFED_LINES = 5


def formats() -> tuple[str, ...]:
    """Names that `--format` takes."""
    return tuple(reader.name for reader in READERS)


def reader_named(name: str) -> Reader:
    """Return the reader of a format name; UsageError if there is none."""
    for reader in READERS:
        if reader.name == name:
            return reader
    raise UsageError(f"unknown format {name!r}. Formats are: {', '.join(formats())}")


def choose_reader(path: Path, format: str | None = None) -> Reader:
    """Choose the reader for `path`: the one the user names, else by suffix, else by the first lines.

    Raises InputError if the file is missing or its lines fit no format or more than one.
    """
    if format is not None:
        return reader_named(format)
    suffixes = [s.lower() for s in path.suffixes if s.lower() != ".gz"]
    for reader in READERS:
        if suffixes and suffixes[-1] in reader.suffixes:
            return reader
    return _sniff(path)


def _sniff(path: Path) -> Reader:
    """Tab or `|`, if all of the first lines have exactly two of one and not of the other."""
    lines = _first_lines(path)
    fits = [r for r, d in ((TSV, "\t"), (PIPE, "|")) if lines and all(x.count(d) == 2 for x in lines)]
    if len(fits) == 1:
        return fits[0]
    why = "fit more than one format" if fits else "are not three fields separated by tabs or '|'"
    raise InputError(
        f"{path}: the format is not clear: the first lines {why}. Give --format ({', '.join(formats())})"
    )


def _first_lines(path: Path) -> list[str]:
    found: list[str] = []
    for _, lines in line_blocks(path, Tally(on_error="skip")):
        found += [line for line in lines if line.strip()][: SNIFFED_LINES - len(found)]
        if len(found) >= SNIFFED_LINES:
            break
    return found
