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
COLUMNS = 3

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
        rows = _Rows(path, self.delimiter, TRIPLE_HEADER, tally)
        batch = Batch()
        for fields in rows.of_csv() if self.delimiter == "," else rows.of_lines():
            batch.heads += fields[::3]
            batch.relations += fields[1::3]
            batch.tails += fields[2::3]
            if batch.full:
                _note_header(path, batch, tally)
                yield batch
                batch = Batch()
        _note_header(path, batch, tally)
        yield batch


class _Rows:
    """The rows of one file, which have a field for each column of `header`; errors as in `Reader`."""

    def __init__(self, path: Path, delimiter: str, header: Header, tally: Tally) -> None:
        self._path, self._delimiter, self._header, self._tally = path, delimiter, header, tally
        self._started = False

    def of_lines(self) -> Iterator[list[str]]:
        """The fields of one row, or of many rows in one list."""
        delimiter, delimiters = self._delimiter, len(self._header) - 1
        for first, lines in line_blocks(self._path, self._tally, legacy=True):
            if self._started and all(line.count(delimiter) == delimiters for line in lines):
                text = delimiter.join(lines)
                fields = [] if "\\" in text else [field.strip() for field in text.split(delimiter)]
                if fields and all(fields):
                    yield fields
                    continue
            for number, line in enumerate(lines, first):
                if not line.strip():
                    self._tally.blank += 1
                    continue
                fields = [field.strip() for field in _split_escaped(line, delimiter)]
                fields = [_ESCAPE.sub(lambda m: _ESCAPED[m[1]], f) if "\\" in f else f for f in fields]
                yield from self._checked(number, fields, line)

    def of_csv(self) -> Iterator[list[str]]:
        """The fields of each record."""
        for number, fields in csv_records(self._path, self._tally):
            yield from self._checked(number, fields, ",".join(fields))

    def _checked(self, number: int, fields: list[str], line: str) -> Iterator[list[str]]:
        """Yield the fields of a row, but not those of a header or of a row that is skipped."""
        is_first, self._started = not self._started, True
        if is_first and is_header(fields, self._header):
            self._tally.note(f"{self._path}:{number}: taken as a header: {', '.join(fields)}")
            return
        columns = len(self._header)
        if len(fields) != columns:
            reason = f"{len(fields)} column{'s' * (len(fields) != 1)} where {columns} are expected"
        elif not all(fields):
            reason = f"column {fields.index('') + 1} is empty"
        else:
            yield fields
            return
        advice = delimiter_advice(line, self._delimiter, columns)
        self._tally.error(ParseError(str(self._path), number, reason, advice))


def read_pairs(path: Path, kind: str, tally: Tally) -> Iterator[list[tuple[str, str]]]:
    """Stream (entity, text) pairs; a first line `entity<TAB>kind` is a header. Errors as in `Reader`."""
    for fields in _Rows(path, "\t", (frozenset(("entity",)), frozenset((kind,))), tally).of_lines():
        yield list(zip(fields[::2], fields[1::2], strict=True))


def is_header(fields: list[str], header: Header) -> bool:
    """Whether a first record names its columns, and is no data."""
    return len(fields) == len(header) and all(
        f.lower() in words for f, words in zip(fields, header, strict=True)
    )


def _note_header(path: Path, batch: Batch, tally: Tally) -> None:
    """Note, once, that a first triple whose names are nowhere else may be a header in words of its own."""
    if tally.begun:
        return
    tally.begun = True
    if len(batch.heads) < 4 or 2 * len(set(batch.relations)) > len(batch.relations):
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
COMMA = DelimitedReader("csv", (".csv",), ",")


# Comma-separated triples, quoted by RFC 4180: `head,relation,tail`, one a record.
#
# A first record with words of `TRIPLE_HEADER` is a header and reported. Where semicolons or tabs separate the
# fields of the first record, as some spreadsheets write them, they do so in all, which is reported too.
# Whitespace around a field is stripped, quoted or not; there are no backslash escapes. Lines before the first
# row that begin with # and have another number of fields are remarks, which are left out and counted.


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
