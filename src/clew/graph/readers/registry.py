"""Which reader reads a source: by format name, by file name, or by looking at the first lines."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from clew.errors import InputError, ParseError, UsageError
from clew.graph.readers.arrays import ARRAYS
from clew.graph.readers.batch import Reader, Tally
from clew.graph.readers.delimited import (
    COMMA,
    PIPE,
    TRIPLE_HEADER,
    TSV,
    csv_records,
    delimiter_advice,
    is_header,
)
from clew.graph.readers.hints import Hints
from clew.graph.readers.json_tables import JSON
from clew.graph.readers.layout import TRIPLE_COLUMNS
from clew.graph.readers.networks import NETWORKS
from clew.graph.readers.rdf import JSONLD, NTRIPLES, RDF_READERS, RDFXML, TURTLE
from clew.graph.readers.stream import BOM, ByteSource, is_plain, missing, numbered_lines, unpacked_name
from clew.graph.readers.survey import shown_row
from clew.graph.readers.table import TABLE, broken, table_layout

READERS: tuple[Reader, ...] = (*(TSV, PIPE, COMMA, TABLE), *RDF_READERS, *(JSON, ARRAYS), *NETWORKS)
"""All readers; a new one is added here."""

SNIFFED_BYTES = 4096
SNIFFED_JSON = 1 << 16


def formats() -> tuple[str, ...]:
    """Names that `--format` takes."""
    return tuple(reader.name for reader in READERS)


def reader_named(name: str) -> Reader:
    """Return the reader of a format name; UsageError if there is none."""
    for reader in READERS:
        if reader.name == name:
            return reader
    raise UsageError(f"unknown format {name!r}. Formats are: {', '.join(formats())}")


def is_graph_file(file: Path) -> bool:
    """Whether a file of a folder is one of a graph, by its name: neither hidden nor beside another one."""
    name = unpacked_name(file.name).lower()
    is_known = any(name.endswith(suffix) for reader in READERS for suffix in reader.suffixes)
    return is_known and not name.startswith(".") and not name.endswith(_BESIDE) and not file.is_dir()


_BESIDE = (".types.tsv", ".aliases.tsv", "datapackage.json", "-metadata.json")
"""How files are called that only say more of others: side files, Frictionless Data, CSV on the Web."""


def choose_reader(path: Path, format: str | None = None, hints: Hints | None = None) -> Reader:
    """Choose the reader of a file or a folder of arrays: the one named, else by suffix, else by first lines.

    Raises InputError if it is missing, or its lines fit no format or more than one, UsageError for hints that
    do not fit it.
    """
    hints = hints or Hints()
    if not path.exists():
        raise missing(path)
    if not path.is_dir() and not path.is_file():
        raise InputError(f"{path}: is not a regular file. Save the data to a file first")
    if format is not None:
        reader = reader_named(format)
        if path.is_file() and reader is ARRAYS:
            raise InputError(f"{path}: format arrays is a directory, this is a file")
        return TABLE if hints.of_table and reader in (COMMA, TSV) else reader
    if path.is_dir():
        return ARRAYS
    suffix = Path(unpacked_name(path.name)).suffix.lower()
    reader = next((reader for reader in READERS if suffix in reader.suffixes), None)
    if reader is None:
        return TABLE if hints.of_table else _sniff(path, hints)
    return _looked_into(path, reader, hints)


def _looked_into(path: Path, reader: Reader, hints: Hints) -> Reader:
    """The reader of what a file holds, where `reader` is only that of its kind of text: JSON, XML, CSV."""
    if reader is COMMA or reader is TSV:
        return _choose_table(path, reader, hints)
    if reader not in (JSON, RDFXML):
        return reader
    with ByteSource(path, Tally(on_error="skip")) as source:
        start = source.read(SNIFFED_JSON if reader is JSON else SNIFFED_BYTES).removeprefix(BOM)
    if reader is JSON:
        return JSONLD if _KEYWORD.search(start) else JSON
    root = _ROOT.match(start)
    return next((network for network in NETWORKS if root and network.mark == root[1]), RDFXML)


def _choose_table(path: Path, triples: Reader, hints: Hints) -> Reader:
    """The reader of `triples`, or that of other tables, by the first rows; InputError if neither fits."""
    if hints.of_table:
        return TABLE
    first_record = next(csv_records(path, Tally(on_error="skip", hints=hints)), None)
    if first_record is None or is_header(first_record[1], TRIPLE_HEADER):
        return triples
    line, fields = first_record
    if table_layout(path, hints) is not None:
        return TABLE
    if len(fields) == TRIPLE_COLUMNS or triples is TSV:
        return triples
    fault = broken(path, hints)
    if fault is not None:
        raise fault
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
_ROOT = re.compile(rb"\s*(?:<[?!][^>]*>\s*)*<(?:\w+:)?(\w+)")
"""The root of an XML file."""


def _sniff(path: Path, hints: Hints) -> Reader:
    """RDF by how it begins; tab or `|`, whichever splits most of the first lines in three; else a table."""
    if is_plain(path):
        with path.open("rb") as file:
            start = file.read(SNIFFED_BYTES).removeprefix(BOM)
        start_reader = next((reader for pattern, reader in _RDF_STARTS if pattern.match(start)), None)
        if start_reader is not None:
            return _looked_into(path, start_reader, hints)
    numbered = numbered_lines(path, Tally(on_error="skip", hints=hints), legacy=True)
    lines = list(islice((line for _, line in numbered if line.strip()), 5))
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
