"""An RDF graph behind a SPARQL endpoint → one file of N-Triples that `clew index` reads.

One shard for each relation, in the order of their names, appended to the file as it comes. What was finished
is kept: after an interruption the file is cut back to the last whole shard. A shard that ends before its
count is asked on from there, since many endpoints cap a result without a word. Blank nodes have names within
one result only, so all triples that have one are a shard of their own.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, cast

from clew.stores.cypher.guard import Guarded
from clew.stores.errors import StoreError
from clew.stores.import_folder import ImportFolder, ImportProgress, silent
from clew.stores.sparql.endpoint import ACCEPT_GRAPH, ACCEPT_ROWS
from clew.stores.sparql.results import GRAPHS, RESULTS, rows_of
from clew.stores.sparql.wire import Address, HttpReply, send_query
from clew.stores.store import StoredTerm

EXPORT_SECONDS = 300.0
"""Most time between two parts of a reply, and for counting."""
BLOCK = 1 << 20
_MOST_RELATIONS = 1_000_000
_BLANK = "(isBlank(?s) || isBlank(?o))"
BLANK = "_:"
"""The shard of triples with blank nodes."""
BLANK_COUNT = f"SELECT (COUNT(*) AS ?n) WHERE {{ ?s ?p ?o FILTER{_BLANK} }}"
BLANK_TRIPLES = f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ ?s ?p ?o FILTER{_BLANK} }}"


@dataclass(frozen=True, slots=True)
class _Slice:
    """A part of the graph: the query for it, and how many triples it has."""

    name: str
    query: str
    count: int


def export(address: Address, folder: ImportFolder, progress: ImportProgress = silent) -> None:
    """Write all triples of the endpoint's default graph, going on where an earlier call was interrupted.

    Raises StoreError where the endpoint fails, or gives fewer triples than it counts; what was finished
    stays.
    """
    shards = _shards(address)
    total = sum(shard.count for shard in shards)
    if not total:
        raise StoreError(
            f"{address.public_address} has no triples in its default graph. Check the path, or name a graph: "
            "…?default-graph-uri=NAME"
        )
    path = folder.data / "graph.nt"
    with path.open("ab") as file:
        file.truncate(max(folder.finished.values(), default=0))
        done = sum(shard.count for shard in shards if shard.name in folder.finished)
        for shard in shards:
            if shard.name in folder.finished:
                continue
            for count in _read_shard(address, shard, file):
                progress("triples", done + count, total)
            done += shard.count
            file.flush()
            os.fsync(file.fileno())
            folder.finish(shard.name, file.tell())


def _shards(address: Address) -> list[_Slice]:
    """Ask which relations there are, and how often; blank nodes are told apart only where there are some."""
    blank = int(_value(_select(address, BLANK_COUNT)[0][0]))
    blank_filter = f" FILTER(!{_BLANK})" if blank else ""
    rows = _select(address, f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ ?s ?p ?o{blank_filter} }} GROUP BY ?p")
    counts = {_value(p): int(_value(n)) for p, n in rows if p is not None}
    shards = [
        _Slice(p, f"CONSTRUCT {{ ?s <{p}> ?o }} WHERE {{ ?s <{p}> ?o{blank_filter} }}", n)
        for p, n in sorted(counts.items())
    ]
    return [*shards, _Slice(BLANK, BLANK_TRIPLES, blank)] if blank else shards


def _value(term: object) -> str:
    return cast(StoredTerm, term).value


def _select(address: Address, query: str) -> tuple[tuple[object, ...], ...]:
    sent = Guarded(query, {}, None, _MOST_RELATIONS)
    with _open_reply(address, query, ACCEPT_ROWS, tuple(RESULTS)) as reply:
        return rows_of(reply, reply.media, sent).rows


def _read_shard(address: Address, shard: _Slice, file: IO[bytes]) -> Iterator[int]:
    """Append a shard to the file; yields how many of its triples there are."""
    start, count = file.tell(), 0
    for count in _append(address, shard.query, file):
        yield min(count, shard.count)
    if count < shard.count and shard.name != BLANK:
        # The endpoint caps its results. Pages need an order, which the first attempt had not.
        file.seek(start)
        file.truncate()
        count = 0
        for count in _pages(address, shard, file):
            yield min(count, shard.count)
    if count < shard.count:
        raise StoreError(
            f"{address.public_address} gives {count:,} of the {shard.count:,} triples that it counts for "
            f"{shard.name}: its "
            "results are capped, or the graph changes. Ask its operator for a dump, and index that"
        )


def _pages(address: Address, shard: _Slice, file: IO[bytes]) -> Iterator[int]:
    count = 0
    while count < shard.count:
        count_before = count
        query = f"{shard.query} ORDER BY ?s ?o OFFSET {count}"
        for page_count in _append(address, query, file):
            count = count_before + page_count
            yield count
        if count == count_before:
            return


def _append(address: Address, query: str, file: IO[bytes]) -> Iterator[int]:
    """Append what a query gives; yields how many triples there are so far."""
    count = 0
    with _open_reply(address, query, ACCEPT_GRAPH, tuple(GRAPHS)) as reply:
        for lines in _lines(reply):
            file.write(lines)
            count += lines.count(b"\n")
            yield count


@contextmanager
def _open_reply(
    address: Address, query: str, accept: str, known_media: tuple[str, ...]
) -> Generator[HttpReply]:
    """Ask, and hold the reply against what was asked for; what it breaks off with is a StoreError."""
    with send_query(address, query, accept, EXPORT_SECONDS, total=False) as reply:
        if reply.media not in known_media:
            raise StoreError(
                f"{address.public_address} answers with {reply.media} that is no result of SPARQL. "
                "Check the path"
            )
        try:
            yield reply
        except (SyntaxError, ValueError, OSError) as error:
            raise reply.failure or StoreError(
                f"{address.public_address} sends what cannot be read as {reply.media} ({error}). "
                "Run the command again"
            ) from error


def _lines(reply: HttpReply) -> Iterator[bytes]:
    """Yield blocks of whole lines of N-Triples, one triple a line, whatever syntax the endpoint writes."""
    import pyoxigraph

    if GRAPHS[reply.media] != "N_TRIPLES":
        quads = pyoxigraph.parse(cast("IO[bytes]", reply), getattr(pyoxigraph.RdfFormat, GRAPHS[reply.media]))
        for quad in quads:
            yield f"{quad.triple} .\n".encode()
        return
    line_start, checked = b"", False
    while data := reply.read(BLOCK):
        whole_lines, newline, tail = data.rpartition(b"\n")
        if newline:
            lines, line_start = line_start + whole_lines + newline, tail
            if not checked:
                all(pyoxigraph.parse(lines, pyoxigraph.RdfFormat.N_TRIPLES))
                checked = True
            yield lines
        else:
            line_start += data
    if line_start.strip():
        raise ValueError("the last line is not whole")
