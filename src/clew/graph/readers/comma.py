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
    delimiter_advice,
    is_header,
    note_header,
)
from clew.graph.readers.stream import line_blocks, unpacked_name

COLUMNS = 3


class Records:
    """Records of a CSV file as (number of their first line, stripped fields); blank ones are counted."""

    def __init__(self, path: Path, tally: Tally) -> None:
        self._path, self._tally, self._line = path, tally, 0

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        first_line = _first_line(self._path, self._tally)
        delimiter = _delimiter(first_line, self._path)
        width = len(next(csv.reader([first_line], delimiter=delimiter), []))
        begun, remarks = False, 0
        if delimiter != "," and not is_tabbed(self._path):
            self._tally.note(f"{self._path}: fields are separated by {DELIMITERS[delimiter][0]}")
        reader = csv.reader(self._lines(), strict=True, skipinitialspace=True, delimiter=delimiter)
        while True:
            first = self._line + 1
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                reason = f"broken CSV up to line {self._line}: {error}"
                advice = 'Check the quotes: a quote inside a quoted field is written ""'
                self._tally.error(ParseError(str(self._path), first, reason, advice))
                continue
            fields = [field.strip() for field in record]
            if not begun and fields and fields[0].startswith("#") and len(fields) != width:
                remarks += 1
                continue
            if remarks and not begun:
                self._tally.note(
                    f"{self._path}: lines before the first row that begin with # are left out: {remarks}"
                )
            begun = True
            if any(fields):
                yield first, fields
            else:
                self._tally.blank += 1

    def _lines(self) -> Iterator[str]:
        for first, lines in line_blocks(self._path, self._tally, legacy=True):
            for number, line in enumerate(lines, first):
                self._line = number
                yield line + "\n"


def _first_line(path: Path, tally: Tally) -> str:
    """First line of a file that is neither blank nor a remark (#); else the first that is not blank."""
    blocks = line_blocks(path, Tally(on_error="skip", hints=tally.hints), legacy=True)
    remark = ""
    for _, lines in blocks:
        for line in filter(str.strip, lines):
            if not line.startswith("#"):
                return line
            remark = remark or line
    return remark


def is_tabbed(path: Path) -> bool:
    """Whether a file says by its name that tabs separate its fields."""
    return Path(unpacked_name(path.name)).suffix.lower() in TSV.suffixes


def _delimiter(line: str, path: Path) -> str:
    """What separates the fields of a first line: a comma, unless something else makes more of it."""
    columns = {d: len(next(csv.reader([line], delimiter=d), [])) for d in (",", ";", "\t")}
    if is_tabbed(path) and columns["\t"] > 1:
        return "\t"
    if columns[","] == COLUMNS:
        return ","
    better = (d for d in (";", "\t") if columns[d] == COLUMNS or columns[d] > columns[","] == 1)
    return next(better, ",")


@dataclass(frozen=True, slots=True)
class CommaReader:
    """Reader of comma-separated triples."""

    name: str = "csv"
    suffixes: tuple[str, ...] = (".csv",)

    def read(self, path: Path, tally: Tally) -> Iterator[Batch]:
        """Stream the batches of `path`; see `Reader`."""
        batch, started = Batch(), False
        for number, fields in Records(path, tally):
            if not started:
                started = True
                if is_triple_header(fields):
                    tally.note(f"{path}:{number}: taken as a header: {', '.join(fields)}")
                    continue
            if len(fields) == COLUMNS and all(fields):
                batch.add(fields[0], fields[1], fields[2])
            else:
                tally.error(_fault(path, number, fields))
            if batch.full:
                note_header(path, batch, tally)
                yield batch
                batch = Batch()
        note_header(path, batch, tally)
        yield batch


def is_triple_header(fields: list[str]) -> bool:
    """Whether a record is a header of triples."""
    return is_header(fields, TRIPLE_HEADER)


def _fault(path: Path, number: int, fields: list[str]) -> ParseError:
    if len(fields) == COLUMNS:
        reason = f"column {fields.index('') + 1} is empty"
    else:
        reason = f"{len(fields)} column{'s' * (len(fields) != 1)} where 3 are expected"
    return ParseError(str(path), number, reason, delimiter_advice(",".join(fields), ",", 3))


COMMA = CommaReader()
