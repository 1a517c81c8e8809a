"""Triples one a line: separated by tabs or `|`, or by commas with quotes (RFC 4180)."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clew.errors import ParseError
from clew.graph.readers.batch import Batch, Tally
from clew.graph.readers.hints import Hints
from clew.graph.readers.stream import line_blocks, numbered_lines, unpacked_name

# Tab- and `|`-separated triples: `head<TAB>relation<TAB>tail`, one a line; side files by the same rules.
#
# Rules: whitespace around a field is stripped; an empty field is an error; a blank line is skipped and
# counted. `\t`, `\n`, `\r`, `\\` (and `\|` where `|` separates) in a name stand for the character; a
# backslash before anything else is a backslash. There are no comments: a line that starts with `#` is a
# triple like any other, since names may start so. A first line with words of `TRIPLE_HEADER` is taken as
# a header and reported.


Header = tuple[frozenset[str], ...]
"""What a header may call each column, in lower case."""

TRIPLE_HEADER: Header = (
    frozenset(("head", "subject", "source", "from", "entity")),
    frozenset(("relation", "relationship", "predicate", "property", "edge")),
    frozenset(("tail", "object", "target", "to", "value")),
)
HEADER_LINES = 4
"""Triples of a file that tell whether the first of them is like the others."""

DELIMITERS = {"\t": ("tab", "tsv"), "|": ("'|'", "pipe"), ",": ("','", "csv"), ";": ("';'", "")}
"""Delimiter → how messages name it, and the format that reads it."""

_ESCAPE = re.compile(r"\\([tnr\\|])")
_PIPE_FIELD = re.compile(r"((?:[^\\|]|\\.?)*)(\||\Z)", re.DOTALL)
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\", "|": "|"}


@dataclass(frozen=True, slots=True)
class DelimitedReader:
    """Reader of triples separated by one character."""

    name: str
    suffixes: tuple[str, ...]
    delimiter: str

    def read(self, path: Path, tally: Tally) -> Iterator[Batch]:
        """Stream the batches of `path`; see `Reader`."""
        batch = Batch()
        rows = DelimitedRows(path, self.delimiter, 3, TRIPLE_HEADER, tally)
        for first, lines in line_blocks(path, tally, legacy=True):
            clean = rows.split_clean(lines)
            if clean is not None:
                batch.heads += clean[::3]
                batch.relations += clean[1::3]
                batch.tails += clean[2::3]
            else:
                for number, line in enumerate(lines, first):
                    fields = rows.split(number, line)
                    if fields is not None:
                        batch.add(fields[0], fields[1], fields[2])
            if batch.full:
                note_header(path, batch, tally)
                yield batch
                batch = Batch()
        note_header(path, batch, tally)
        yield batch


class DelimitedRows:
    """Splits the lines of one file into `columns` clean fields."""

    def __init__(self, path: Path, delimiter: str, columns: int, header: Header, tally: Tally) -> None:
        self._path, self._delimiter, self._columns = path, delimiter, columns
        self._header: Header = header
        self._tally = tally
        self._started = False

    def split_clean(self, lines: list[str]) -> list[str] | None:
        """The fields of all lines one after another, all at once; None if a line needs to be looked at."""
        delimiter, delimiters = self._delimiter, self._columns - 1
        if not self._started or any(line.count(delimiter) != delimiters for line in lines):
            return None
        text = delimiter.join(lines)
        fields = [] if "\\" in text else [field.strip() for field in text.split(delimiter)]
        return fields if fields and all(fields) else None

    def split(self, number: int, line: str) -> list[str] | None:
        """Return the fields of a line; None for a blank line, a header or a line that was skipped."""
        if self._started and "\\" not in line:
            fields = [field.strip() for field in line.split(self._delimiter)]
            if len(fields) == self._columns and all(fields):
                return fields
        return self._split_carefully(number, line)

    def _split_carefully(self, number: int, line: str) -> list[str] | None:
        if not line.strip():
            self._tally.blank += 1
            return None
        fields = [f.strip() for f in _split_escaped(line, self._delimiter)]
        fields = [_ESCAPE.sub(lambda m: _ESCAPED[m[1]], f) if "\\" in f else f for f in fields]
        if not self._started:
            self._started = True
            if is_header(fields, self._header):
                self._tally.note(f"{self._path}:{number}: taken as a header: {', '.join(fields)}")
                return None
        fault = fault_of(fields, self._columns, line, self._delimiter)
        if fault is None:
            return fields
        self._tally.error(ParseError(str(self._path), number, *fault))
        return None


def fault_of(fields: list[str], columns: int, line: str, delimiter: str) -> tuple[str, str] | None:
    """What is wrong with the fields of a line, and what to do about it; None if nothing is."""
    if len(fields) != columns:
        reason = f"{len(fields)} column{'s' * (len(fields) != 1)} where {columns} are expected"
    elif not all(fields):
        reason = f"column {fields.index('') + 1} is empty"
    else:
        return None
    return reason, delimiter_advice(line, delimiter, columns)


def read_pairs(path: Path, kind: str, tally: Tally) -> Iterator[list[tuple[str, str]]]:
    """Stream (entity, text) pairs; a first line `entity<TAB>kind` is a header. Errors as in `Reader`."""
    rows = DelimitedRows(path, "\t", 2, (frozenset(("entity",)), frozenset((kind,))), tally)
    for first, lines in line_blocks(path, tally, legacy=True):
        pairs: list[tuple[str, str]] = []
        for number, line in enumerate(lines, first):
            fields = rows.split(number, line)
            if fields is not None:
                pairs.append((fields[0], fields[1]))
        yield pairs


def is_header(fields: list[str], header: Header) -> bool:
    """Whether a first record names its columns, and is no data."""
    if len(fields) != len(header):
        return False
    return all(field.lower() in words for field, words in zip(fields, header, strict=True))


def note_header(path: Path, batch: Batch, tally: Tally) -> None:
    """Note, once, that a first triple whose names are nowhere else may be a header in words of its own."""
    if tally.begun:
        return
    tally.begun = True
    if len(batch.heads) < HEADER_LINES or 2 * len(set(batch.relations)) > len(batch.relations):
        return
    columns = (batch.heads, batch.relations, batch.tails)
    first = [str(column[0]) for column in columns]
    if all(sum(column.count(name) for column in columns) == 1 for name in first):
        triple = ", ".join(first)
        tally.note(
            f"{path}: the first line is taken as a triple ({triple}). If it is a header, "
            f"remove it, or say what its columns are: --id {first[0]} for rows that are entities"
        )


def delimiter_advice(line: str, delimiter: str, columns: int) -> str:
    """Say what to do about a line that does not have `columns` fields: another delimiter may fit."""
    delimiter_name = DELIMITERS[delimiter][0]
    if line.count(delimiter) + 1 != columns:
        for other, (name, format_) in DELIMITERS.items():
            if other != delimiter and line.count(other) + 1 == columns:
                remedy = f"give --format {format_}" if format_ else f"replace it by {delimiter_name}"
                return f"The line seems to be separated by {name}, not {delimiter_name}: {remedy}"
    if line.lstrip().startswith("#"):
        return "There are no comments in this format: remove the line, or skip bad lines with --on-error skip"
    return (
        f"Each line needs {columns} fields separated by {delimiter_name}; skip bad lines with --on-error skip"
    )


def _split_escaped(line: str, delimiter: str) -> list[str]:
    """Split at the delimiter; a `|` may be escaped, a tab in a name never stands for itself."""
    if "\\" not in line or delimiter != "|":
        return line.split(delimiter)
    fields: list[str] = []
    for part in _PIPE_FIELD.finditer(line):
        fields.append(part[1])
        if not part[2]:
            break
    return fields


TSV = DelimitedReader("tsv", (".tsv", ".tab"), "\t")
PIPE = DelimitedReader("pipe", (".psv", ".pipe"), "|")


# Comma-separated triples, quoted by RFC 4180: `head,relation,tail`, one a record.
#
# A first record with words of `TRIPLE_HEADER` is a header and reported. Where semicolons or tabs separate the
# fields of the first record, as some spreadsheets write them, they do so in all, which is reported too.
# Whitespace around a field is stripped, quoted or not; there are no backslash escapes. Lines before the first
# row that begin with # and have another number of fields are remarks, which are left out and counted.


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
