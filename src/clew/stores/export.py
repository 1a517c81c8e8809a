"""The graph of a database → a folder of files that `clew index` reads."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

from clew.stores.cypher.guard import Guarded
from clew.stores.errors import StoreError
from clew.stores.neo4j import Neo4jStore
from clew.stores.sparql.endpoint import GRAPHS, Address, HttpReply, opened_reply, rows_of
from clew.stores.store import ITEM_SEPARATOR, StoredTerm, joined, naming_property

ImportProgress = Callable[[str, int, int], None]
"""Called with what is being read (*triples*), how many of them have been, and how many there are."""


# A Neo4j graph → a folder of node and edge CSVs that `clew index` reads.
#
# A shard has the nodes of a range of ids, and the edges that leave them. Nodes and edges come in lists of up
# to `LISTED_NODES` nodes, since each record costs the driver more than its content; edges of a hub come one
# by one. Properties of edges are columns of the table of edges.

LISTED_NODES = 1_000
_OF_LIST = f"{{delimiter:{ITEM_SEPARATOR}}}"
"""Behind the header of a column of lists."""
_LAST = f"CASE WHEN start + {LISTED_NODES} > $high THEN $high ELSE start + {LISTED_NODES - 1} END"
_IDS = f"UNWIND range(start, {_LAST}) AS i MATCH (a) WHERE id(a) = i"
_LISTS = (
    f"UNWIND range($low, $high, {LISTED_NODES}) AS start CALL {{ WITH start {_IDS} %s AS rows }} RETURN rows"
)
_EDGE = "i, id(b), type(r), properties(r)"
NODES_QUERY = _LISTS % "RETURN collect([i, labels(a), properties(a)])"
EDGES_QUERY = _LISTS % f"AND COUNT {{ (a)-->() }} < $hub MATCH (a)-[r]->(b) RETURN collect([{_EDGE}])"
EDGE_KEYS = "MATCH ()-[r]->() UNWIND keys(r) AS key RETURN DISTINCT key ORDER BY key"
HUB_EDGES = (
    f"UNWIND range($low, $high) AS i MATCH (a) WHERE id(a) = i AND COUNT {{ (a)-->() }} >= $hub "
    f"MATCH (a)-[r]->(b) RETURN {_EDGE}"
)


def export_neo4j(
    store: Neo4jStore,
    folder: Path,
    progress: ImportProgress = lambda what, done, total: None,
    *,
    shard_ids: int = 50_000,
    hub: int = 10_000,
) -> None:
    """Write all nodes and edges into files of a folder.

    A shard has the nodes of `shard_ids` ids; a node with at least `hub` edges has them read one by one.
    Raises StoreError if the server fails or the database is empty.
    """
    nodes, last = _numbers(store, "MATCH (n) RETURN count(n), max(id(n))")
    if not nodes:
        raise StoreError(
            f"{store.name} has no nodes that this user may read. Check the database's name, and the "
            "user's rights"
        )
    total = nodes + _numbers(store, "MATCH ()-[r]->() RETURN count(r)")[0]
    done = 0
    keys = [str(row[0]) for row in store.read(EDGE_KEYS, most=1_000)[1]]
    for low in range(0, last + 1, shard_ids):
        bounds = {"low": low, "high": low + shard_ids - 1, "hub": hub}
        for count in _read_rows(store, folder, f"{low:012}", bounds, keys):
            done += count
            progress("nodes and edges", done, total)


def _numbers(store: Neo4jStore, query: str) -> list[int]:
    return [int(number or 0) for number in store.read(query, most=1)[1][0]]


def _read_rows(
    store: Neo4jStore, folder: Path, shard: str, bounds: Mapping[str, object], keys: Sequence[str]
) -> Iterator[int]:
    """Write a shard, with the `keys` of properties of edges as columns.

    Yields how many nodes or edges each record holds.
    """
    nodes: list[list[Any]] = []
    for (rows,) in store.stream(NODES_QUERY, bounds):
        nodes += rows
        yield len(rows)
    if nodes:
        write_nodes(folder / f"nodes-{shard}.csv", nodes)
    with (folder / f"edges-{shard}.csv").open("w", encoding="utf-8", newline="") as lines:
        writer, types = csv.writer(lines), dict.fromkeys(keys, "")
        writer.writerow([":START_ID", ":END_ID", ":TYPE", *keys])
        hubs = ([row] for row in store.stream(HUB_EDGES, bounds))
        lists = (row[0] for row in store.stream(EDGES_QUERY, bounds))
        for rows in chain(lists, hubs):
            writer.writerows([*row[:3], *_cells(row[3], types)] for row in rows)
            yield len(rows)


def write_nodes(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    """Write rows (id, labels, properties) as a CSV of nodes."""
    kinds: dict[str, set[str]] = {}
    for _, _, properties in rows:
        for key, value in properties.items():
            if value != []:
                kinds.setdefault(key, set()).add(_kind(value))
    types = {key: _common_type(kinds[key]) for key in kinds if key != "name"}
    columns = [f"{key}:{kind}{_OF_LIST * kind.endswith('[]')}" for key, kind in types.items()]
    with path.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(["id:ID", "name", f":LABEL{_OF_LIST}", *columns])
        for id, labels, properties in rows:
            name_key = naming_property(k for k, v in properties.items() if isinstance(v, str) and v)
            name = "" if name_key is None else str(properties[name_key])
            writer.writerow([id, name, joined(labels), *_cells(properties, types)])


def _cells(values: Mapping[str, Any], types: Mapping[str, str]) -> list[str]:
    """The cells of a row's properties; `types` are those of the columns, by key."""
    return [_cell(values[key], type_) if key in values else "" for key, type_ in types.items()]


def _kind(value: Any) -> str:  # noqa: ANN401
    """Return the CSV type of a value."""
    if isinstance(value, list):
        inner = {_kind(item) for item in value}
        return (inner.pop() if len(inner) == 1 else "string") + "[]"
    kinds = ((bool, "boolean"), (int, "long"), (float, "double"), (datetime, "datetime"), (date, "date"))
    for type_, name in kinds:
        if isinstance(value, type_):
            return name
    return {"Date": "date", "DateTime": "datetime"}.get(type(value).__name__, "string")


def _common_type(kinds: set[str]) -> str:
    """Return the type that holds all values of a property: a list if some of them are lists."""
    plain_kinds = {kind.removesuffix("[]") for kind in kinds}
    list_suffix = "[]" if any(kind.endswith("[]") for kind in kinds) else ""
    if len(plain_kinds) == 1:
        return plain_kinds.pop() + list_suffix
    return ("double" if plain_kinds == {"long", "double"} else "string") + list_suffix


def _cell(value: Any, type_: str = "") -> str:  # noqa: ANN401
    """Write a value as the cell of a column; a single value in a column of lists is a list of one."""
    if isinstance(value, list) or type_.endswith("[]"):
        items = map(_cell, cast("list[object]", value) if isinstance(value, list) else [value])
        return joined(items) if type_.endswith("[]") else "; ".join(items)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):  # a point
        return f"({', '.join(map(str, value))})"
    return str(value.iso_format() if hasattr(value, "iso_format") else value)


# An RDF graph behind a SPARQL endpoint → one file of N-Triples that `clew index` reads.
#
# One shard for each relation, in the order of their names, appended to the file as it arrives. A shard with
# fewer triples than were counted is read again in pages, since many endpoints cap a result without saying so.
# Names of blank nodes hold within one result only, so that all triples with blank nodes are one shard.

EXPORT_SECONDS = 300.0
"""Longest wait for a reply, and between two parts of it."""
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


def export_sparql(
    address: Address, file: IO[bytes], progress: ImportProgress = lambda what, done, total: None
) -> None:
    """Write all triples of the endpoint's default graph, as N-Triples.

    Raises StoreError if the endpoint fails, or returns fewer triples than it counts.
    """
    shards = _shards(address)
    total = sum(shard.count for shard in shards)
    if not total:
        raise StoreError(
            f"{address.public_address} has no triples in its default graph. Check the path, or name a graph: "
            "…?default-graph-uri=NAME"
        )
    done = 0
    for shard in shards:
        for count in _read_triples(address, shard, file):
            progress("triples", done + count, total)
        done += shard.count


def _shards(address: Address) -> list[_Slice]:
    """Count the triples of each relation, and those with blank nodes; if there are any, they are a shard."""
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
    sent = Guarded(query, {}, None, 1_000_000)
    with opened_reply(address, query, EXPORT_SECONDS, total=False) as reply:
        return rows_of(reply, sent).rows


def _read_triples(address: Address, shard: _Slice, file: IO[bytes]) -> Iterator[int]:
    """Append a shard to the file; yields how many of its triples have been written."""
    start, count = file.tell(), 0
    for count in _append(address, shard.query, file):
        yield min(count, shard.count)
    if count < shard.count and shard.name != BLANK:
        # The endpoint caps its results. Pages need an order, so begin again with one.
        file.seek(start)
        file.truncate()
        count, page = 0, 1
        while page and count < shard.count:
            page = 0
            for page in _append(address, f"{shard.query} ORDER BY ?s ?o OFFSET {count}", file):
                yield min(count + page, shard.count)
            count += page
    if count < shard.count:
        raise StoreError(
            f"{address.public_address} gives {count:,} of the {shard.count:,} triples that it counts for "
            f"{shard.name}: its "
            "results are capped, or the graph changes. Ask its operator for a dump, and index that"
        )


def _append(address: Address, query: str, file: IO[bytes]) -> Iterator[int]:
    """Append the triples that a query returns; yields how many have been written so far."""
    count = 0
    with opened_reply(address, query, EXPORT_SECONDS, graph=True, total=False) as reply:
        for lines in _lines(reply):
            file.write(lines)
            count += lines.count(b"\n")
            yield count


def _lines(reply: HttpReply) -> Iterator[bytes]:
    """Yield blocks of complete lines of N-Triples, a triple a line, whatever syntax the endpoint writes."""
    import pyoxigraph

    if GRAPHS[reply.media] != "N_TRIPLES":
        quads = pyoxigraph.parse(cast("IO[bytes]", reply), getattr(pyoxigraph.RdfFormat, GRAPHS[reply.media]))
        for quad in quads:
            yield f"{quad.triple} .\n".encode()
        return
    line_start, checked = b"", False
    while data := reply.read(1 << 20):
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
