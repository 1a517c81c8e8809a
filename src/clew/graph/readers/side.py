"""Side files: `entity<TAB>type` and `entity<TAB>alias`, by the same rules as tab-separated triples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clew.graph.readers.batch import Tally
from clew.graph.readers.delimited import DelimitedRows
from clew.graph.readers.stream import line_blocks


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
