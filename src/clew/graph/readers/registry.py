"""Which reader reads a source: by format name, by file name, or by looking at the first lines."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from clew.errors import InputError, ParseError, UsageError
from clew.graph.readers.arrays import ARRAYS
from clew.graph.readers.batch import Reader, Tally
from clew.graph.readers.delimited import COMMA, PIPE, TSV, csv_records, delimiter_advice, is_triple_header
from clew.graph.readers.hints import Hints
from clew.graph.readers.json_tables import JSON
from clew.graph.readers.networks import NETWORKS
from clew.graph.readers.rdf import JSONLD, NQUADS, NTRIPLES, RDFXML, TRIG, TURTLE
from clew.graph.readers.source_files import missing, source_files
from clew.graph.readers.stream import BOM, ByteSource, is_plain, numbered_lines, unpacked_name
from clew.graph.readers.survey import shown_row
from clew.graph.readers.table import TABLE, is_table_file, table_layout

READERS: tuple[Reader, ...] = (
    *(TSV, PIPE, COMMA, TABLE),
    *(NTRIPLES, NQUADS, TURTLE, TRIG, RDFXML, JSONLD),
    *(JSON, ARRAYS),
    *NETWORKS,
)
"""All readers; adding one is a line here."""

SNIFFED_LINES = 5
SNIFFED_BYTES = 4096
SNIFFED_JSON = 1 << 16
TRIPLE_COLUMNS = 3


def formats() -> tuple[str, ...]:
    """Names that `--format` takes."""
    return tuple(reader.name for reader in READERS)


def reader_named(name: str) -> Reader:
    """Return the reader of a format name; UsageError if there is none."""
    for reader in READERS:
        if reader.name == name:
            return reader
    raise UsageError(f"unknown format {name!r}. Formats are: {', '.join(formats())}")


def choose_reader(path: Path, format: str | None = None, hints: Hints | None = None) -> Reader:
    """Choose the reader for `path`: the one the user names, else by suffix, else by the first lines.

    Raises InputError if the source is missing, is a directory of another kind, or its lines fit no format
    or more than one, UsageError for hints that do not fit it.
    """
    hints = hints or Hints()
    if not path.exists():
        raise missing(path)
    if path.is_dir():
        return _choose_for_directory(path, format)
    if not path.is_file():
        raise InputError(f"{path}: is not a regular file. Save the data to a file first")
    if format is not None:
        reader = reader_named(format)
        if reader is ARRAYS:
            raise InputError(f"{path}: format arrays is a directory, this is a file")
        return TABLE if hints.of_table and reader in (COMMA, TSV) else reader
    suffix = Path(unpacked_name(path.name)).suffix.lower()
    if suffix in (*COMMA.suffixes, *TSV.suffixes):
        return _choose_table(path, COMMA if suffix in COMMA.suffixes else TSV, hints)
    if suffix in JSON.suffixes:
        return _json_reader(path)
    for reader in READERS:
        if suffix in reader.suffixes:
            return _xml_reader(path) if reader is RDFXML else reader
    return TABLE if hints.of_table else _sniff(path, hints)


def _choose_for_directory(path: Path, format: str | None) -> Reader:
    """Arrays or tables."""
    if format is not None:
        reader = reader_named(format)
        if reader in (ARRAYS, TABLE):
            return reader
        raise InputError(f"{path}: is a directory, but format {format} is a file. Give the files")
    files = source_files(path)
    if files:
        return TABLE if is_table_file(files[0]) else ARRAYS
    raise InputError(
        f"{path}: is a directory without tables of nodes and edges. Give the triple files in it: {path}/*"
    )


def _choose_table(path: Path, triples: Reader, hints: Hints) -> Reader:
    """The reader of `triples`, or that of other tables, by the first rows; InputError if neither fits."""
    if hints.of_table:
        return TABLE
    first_record = next(csv_records(path, Tally(on_error="skip", hints=hints)), None)
    if first_record is None or is_triple_header(first_record[1]):
        return triples
    line, fields = first_record
    if table_layout(path, hints) is not None:
        return TABLE
    if len(fields) == TRIPLE_COLUMNS or triples is TSV:
        return triples
    text = ",".join(fields)
    if len(fields) == 1:
        raise ParseError(str(path), line, "1 column where 3 are expected", delimiter_advice(text, ",", 3))
    raise ParseError(
        str(path),
        line,
        f"a table ({shown_row(fields)}), and it is not clear what its columns are",
        "Say it: --columns head=from,relation=type,tail=to for edges, --id NAME for rows that are entities",
    )


_RDF_STARTS: tuple[tuple[re.Pattern[bytes], Reader], ...] = (
    (re.compile(rb"\s*(?:<\?xml|<!DOCTYPE|<!--|<rdf:)"), RDFXML),
    (re.compile(rb"\s*(?:#[^\n]*\n\s*)*(?:@prefix|@base|PREFIX|BASE)\s", re.IGNORECASE), TURTLE),
    (re.compile(rb"\s*(?:#[^\n]*\n\s*)*(?:<[^<>\s]+>|_:\S+)\s+<[^<>\s]+>\s"), NTRIPLES),
    (re.compile(rb"\s*[\[{]\s*[\[{\"]"), JSON),
)
_KEYWORD = re.compile(rb'"@(?:context|id|graph|type|value|list|language|reverse)"\s*:')
"""What JSON-LD has and other JSON has not."""


def _json_reader(path: Path) -> Reader:
    """That of JSON-LD, if a file begins so, or that of other JSON."""
    with ByteSource(path, Tally(on_error="skip")) as source:
        return JSONLD if _KEYWORD.search(source.read(SNIFFED_JSON)) else JSON


_ROOT = re.compile(rb"\s*(?:<[?!][^>]*>\s*)*<(?:\w+:)?(\w+)")


def _xml_reader(path: Path) -> Reader:
    """That of the root of an XML file, or of RDF/XML."""
    with ByteSource(path, Tally(on_error="skip")) as source:
        root = _ROOT.match(source.read(SNIFFED_BYTES).removeprefix(BOM))
    return next((reader for reader in NETWORKS if root and reader.mark == root[1]), RDFXML)


def _sniff(path: Path, hints: Hints) -> Reader:
    """RDF by how it begins; tab or `|`, whichever splits most of the first lines in three; else a table."""
    if is_plain(path):
        with path.open("rb") as file:
            start = file.read(SNIFFED_BYTES).removeprefix(BOM)
        start_reader = next((reader for pattern, reader in _RDF_STARTS if pattern.match(start)), None)
        if start_reader is not None:
            if start_reader is RDFXML:
                return _xml_reader(path)
            return _json_reader(path) if start_reader is JSON else start_reader
    numbered = numbered_lines(path, Tally(on_error="skip", hints=hints), legacy=True)
    lines = list(islice((line for _, line in numbered if line.strip()), SNIFFED_LINES))
    if not lines:
        raise InputError(f"{path}: the file has blank lines only. A source needs at least one triple")
    tabs, bars = (sum(line.count(d) == 2 for line in lines) for d in ("\t", "|"))
    if tabs != bars and 2 * max(tabs, bars) > len(lines):
        return _choose_table(path, TSV, hints) if tabs > bars else PIPE
    commas = sum(line.count(",") == 2 for line in lines)
    if tabs == bars and 2 * commas > len(lines):
        return _choose_table(path, COMMA, hints)
    if not tabs and not bars and table_layout(path, hints) is not None:
        return TABLE
    problem = (
        "fit two formats" if tabs and tabs == bars else "are not three fields separated by tabs, ',' or '|'"
    )
    raise InputError(
        f"{path}: the format is not clear: the first lines {problem}. Give --format ({', '.join(formats())})"
    )
