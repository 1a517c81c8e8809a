"""Comma-separated triples, quoted by RFC 4180: `head,relation,tail`, one a record.

A first record that is literally one of `HEADERS` is a header and reported. Whitespace around a field is
stripped, quoted or not; there are no backslash escapes and no comments.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clew.errors import ParseError
from clew.graph.readers.batch import Batch, Tally
from clew.graph.readers.delimited import HEADERS, delimiter_advice
from clew.graph.readers.stream import line_blocks

_TABLE_KEY = re.compile(r"[A-Za-z]*(?:[a-z]I[Dd]|_id|_ID)")


class Records:
    """Records of a CSV file as (number of their first line, stripped fields); blank ones are counted."""

    def __init__(self, path: Path, tally: Tally) -> None:
        self._path, self._tally, self._line = path, tally, 0

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(self._lines(), strict=True, skipinitialspace=True)
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
            if any(fields):
                yield first, fields
            else:
                self._tally.blank += 1

    def _lines(self) -> Iterator[str]:
        for first, lines in line_blocks(self._path, self._tally):
            for number, line in enumerate(lines, first):
                self._line = number
                yield line + "\n"


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
            if len(fields) == 3 and all(fields):
                batch.add(fields[0], fields[1], fields[2])
            else:
                tally.error(_fault(path, number, fields))
            if batch.full:
                yield batch
                batch = Batch()
        yield batch


def is_triple_header(fields: list[str]) -> bool:
    """Whether a record is literally one of the headers of triple files."""
    return tuple(field.lower() for field in fields) in HEADERS


def is_table(fields: list[str]) -> bool:
    """Whether a first record is that of some other table: not three columns, or a key such as `orderID`."""
    return len(fields) != 3 or _TABLE_KEY.fullmatch(fields[0]) is not None


def _fault(path: Path, number: int, fields: list[str]) -> ParseError:
    if len(fields) == 3:
        reason = f"column {fields.index('') + 1} is empty"
    else:
        reason = f"{len(fields)} column{'s' * (len(fields) != 1)} where 3 are expected"
    return ParseError(str(path), number, reason, delimiter_advice(",".join(fields), ",", 3))


COMMA = CommaReader()
