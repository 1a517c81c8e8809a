"""Comma-separated triples, quoted by RFC 4180: `head,relation,tail`, one a record.

A first record with words of `TRIPLE_HEADER` is a header and reported. Where semicolons or tabs separate the
fields of the first record, as some spreadsheets write them, they do so in all, which is reported too.
Whitespace around a field is stripped, quoted or not; there are no backslash escapes. Lines before the first
row that begin with # and have another number of fields are remarks, which are left out and counted.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clew.errors import ParseError
from clew.graph.readers.batch import Batch, Tally
from clew.graph.readers.delimited import (
    DELIMITERS,
    TRIPLE_HEADER,
    TSV,
    fault_of,
    is_header,
    note_header,
)
from clew.graph.readers.hints import Hints
from clew.graph.readers.stream import numbered_lines, unpacked_name

COLUMNS = 3


def csv_records(path: Path, tally: Tally) -> Iterator[tuple[int, list[str]]]:
    """Records of a CSV file as (number of their first line, stripped fields); blank ones are counted."""
    line, first_line = 0, _first_line(path, tally)
    delimiter = _delimiter(first_line, path)
    width = _width(first_line, delimiter)
    begun, remarks = False, 0
    if delimiter != "," and not is_tabbed(path):
        tally.note(f"{path}: fields are separated by {DELIMITERS[delimiter][0]}")

    def lines() -> Iterator[str]:
        nonlocal line
        for number, text in numbered_lines(path, tally, legacy=True):
            line = number
            yield text + "\n"

    reader = csv.reader(lines(), strict=True, skipinitialspace=True, delimiter=delimiter)
    while True:
        first = line + 1
        try:
            fields = [field.strip() for field in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            reason = f"broken CSV up to line {line}: {error}"
            advice = 'Check the quotes: a quote inside a quoted field is written ""'
            tally.error(ParseError(str(path), first, reason, advice))
            continue
        if not begun and fields and fields[0].startswith("#") and len(fields) != width:
            remarks += 1
            continue
        if remarks and not begun:
            tally.note(f"{path}: lines before the first row that begin with # are left out: {remarks}")
        begun = True
        if any(fields):
            yield first, fields
        else:
            tally.blank += 1


def separator(path: Path, hints: Hints) -> str:
    """What separates the fields of a file."""
    return _delimiter(_first_line(path, Tally(hints=hints)), path)


def _first_line(path: Path, tally: Tally) -> str:
    """First line of a file that is neither blank nor a remark (#); else the first that is not blank."""
    remark = ""
    for _, line in numbered_lines(path, Tally(on_error="skip", hints=tally.hints), legacy=True):
        if line.strip() and not line.startswith("#"):
            return line
        remark = remark or (line.strip() and line)
    return remark


def is_tabbed(path: Path) -> bool:
    """Whether a file says by its name that tabs separate its fields."""
    return Path(unpacked_name(path.name)).suffix.lower() in TSV.suffixes


def _delimiter(line: str, path: Path) -> str:
    """What separates the fields of a first line: a comma, unless something else makes more of it."""
    columns = {d: _width(line, d) for d in (",", ";", "\t")}
    if is_tabbed(path) and columns["\t"] > 1:
        return "\t"
    if columns[","] == COLUMNS:
        return ","
    better = (d for d in (";", "\t") if columns[d] == COLUMNS or columns[d] > columns[","] == 1)
    return next(better, ",")


def _width(line: str, delimiter: str) -> int:
    """How many fields a first line has; one where it cannot be split so."""
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:
        return 1


@dataclass(frozen=True, slots=True)
class CommaReader:
    """Reader of comma-separated triples."""

    name: str = "csv"
    suffixes: tuple[str, ...] = (".csv",)

    def read(self, path: Path, tally: Tally) -> Iterator[Batch]:
        """Stream the batches of `path`; see `Reader`."""
        batch, started = Batch(), False
        for number, fields in csv_records(path, tally):
            if not started:
                started = True
                if is_triple_header(fields):
                    tally.note(f"{path}:{number}: taken as a header: {', '.join(fields)}")
                    continue
            fault = fault_of(fields, COLUMNS, ",".join(fields), ",")
            if fault is None:
                batch.add(fields[0], fields[1], fields[2])
            else:
                tally.error(ParseError(str(path), number, *fault))
            if batch.full:
                note_header(path, batch, tally)
                yield batch
                batch = Batch()
        note_header(path, batch, tally)
        yield batch


def is_triple_header(fields: list[str]) -> bool:
    """Whether a record is a header of triples."""
    return is_header(fields, TRIPLE_HEADER)


COMMA = CommaReader()
