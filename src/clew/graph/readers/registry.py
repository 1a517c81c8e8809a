"""Which reader reads a source: by format name, by file name, or by looking at the first lines."""

from __future__ import annotations

from pathlib import Path

from clew.errors import InputError, ParseError, UsageError
from clew.graph.readers.arrays import ARRAY_FILES, ARRAYS
from clew.graph.readers.batch import Reader, Tally
from clew.graph.readers.comma import COMMA, Records, is_table, is_triple_header
from clew.graph.readers.delimited import PIPE, TSV, delimiter_advice
from clew.graph.readers.property_csv import PROPERTY_CSV, header_kind, is_csv
from clew.graph.readers.rdf import JSONLD, NQUADS, NTRIPLES, RDFXML, TRIG, TURTLE
from clew.graph.readers.stream import line_blocks, unpacked_name

READERS: tuple[Reader, ...] = (
    *(TSV, PIPE, COMMA, PROPERTY_CSV),
    *(NTRIPLES, NQUADS, TURTLE, TRIG, RDFXML, JSONLD),
    ARRAYS,
)
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

    Raises InputError if the source is missing, is a directory of another kind, or its lines fit no format
    or more than one.
    """
    if not path.exists():
        raise missing(path)
    if path.is_dir():
        return _choose_for_directory(path, format)
    if not path.is_file():
        raise InputError(f"{path}: is not a regular file. Save the data to a file first")
    if format is not None:
        return _named_for_file(path, format)
    suffix = Path(unpacked_name(path.name)).suffix.lower()
    for reader in READERS:
        if suffix in reader.suffixes:
            return _choose_csv(path) if reader is COMMA else reader
    return _sniff(path)


def missing(path: Path) -> InputError:
    """Return the error of a source that is not there."""
    if str(path) == "-":
        return InputError("A graph is read from files, not from stdin. Save it to a file first")
    return InputError(f"{path}: no such file or directory. Check the path")


def source_files(path: Path) -> list[Path]:
    """Files that are read for a source; empty if it is missing or a directory of another kind."""
    if not path.is_dir():
        return [path] if path.is_file() else []
    if (path / "head.npy").is_file():
        return [path / name for name in ARRAY_FILES if (path / name).is_file()]
    return sorted(file for file in path.iterdir() if is_csv(file))


def _named_for_file(path: Path, format: str) -> Reader:
    reader = reader_named(format)
    if reader is ARRAYS:
        raise InputError(f"{path}: format arrays is a directory, this is a file")
    return reader


def _choose_for_directory(path: Path, format: str | None) -> Reader:
    """Arrays or node and edge CSVs."""
    if format is not None:
        reader = reader_named(format)
        if reader in (ARRAYS, PROPERTY_CSV):
            return reader
        raise InputError(f"{path}: is a directory, but format {format} is a file. Give the files")
    files = source_files(path)
    if files:
        return PROPERTY_CSV if is_csv(files[0]) else ARRAYS
    raise InputError(
        f"{path}: is a directory without node and edge CSV files. Give the triple files in it: {path}/*"
    )


def _choose_csv(path: Path) -> Reader:
    """Triples or nodes and edges, by the first record; InputError if it looks like another table."""
    first = next(iter(Records(path, Tally(on_error="skip"))), None)
    if first is None:
        return COMMA
    line, fields = first
    if is_triple_header(fields):
        return COMMA
    if header_kind(fields) is not None:
        return PROPERTY_CSV
    if not is_table(fields):
        return COMMA
    text = ",".join(fields)
    shown = text if len(text) <= 60 else text[:60] + "…"
    if len(fields) == 1:
        raise ParseError(str(path), line, "1 column where 3 are expected", delimiter_advice(text, ",", 3))
    raise ParseError(
        str(path),
        line,
        f"a table ({shown}), not triples or nodes and edges",
        "Give a file head,relation,tail, or one with a header of nodes (:ID or id) or edges (source, "
        "target, type); if it does hold triples, give --format csv",
    )


def _sniff(path: Path) -> Reader:
    """Tab or `|`, whichever splits most of the first lines into three fields."""
    lines = _first_lines(path)
    if not lines:
        raise InputError(f"{path}: the file has blank lines only. A source needs at least one triple")
    tabs, bars = (sum(line.count(d) == 2 for line in lines) for d in ("\t", "|"))
    if tabs != bars and 2 * max(tabs, bars) > len(lines):
        return TSV if tabs > bars else PIPE
    why = "fit two formats" if tabs and tabs == bars else "are not three fields separated by tabs or '|'"
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
