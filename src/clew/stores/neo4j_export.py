"""A Neo4j graph → a folder of node and edge CSVs that `clew index` reads.

A shard for the nodes of each label (those of several are in the shard of their first) and one for the
relations of each type, streamed in batches. A shard that is finished is not read again when the same command
is given after an interruption; one that is not is read from its beginning. Properties of edges have no place
in a triple: they are left out and counted.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, cast

from clew.stores.cypher.tokens import quote_name
from clew.stores.errors import StoreError
from clew.stores.import_folder import ImportFolder, Progress, silent
from clew.stores.neo4j import Neo4jStore

BATCH = 20_000
"""Rows that are held at a time, and in one file."""
_NAMES = ("name", "label", "title")
_DELIMITER = ";"
_NODE = "RETURN id(n) AS id, labels(n) AS labels, properties(n) AS properties"

Rows = Sequence[Sequence[object]]
Writer = Callable[[Path, Rows], int]
"""Writes a batch; returns how many of its rows had something that is left out."""


@dataclass(frozen=True, slots=True)
class _Shard:
    """A part of the graph: the query that reads it, and what writes its batches."""

    name: str
    query: str
    parameters: Mapping[str, object]
    write: Writer


def export(store: Neo4jStore, folder: ImportFolder, progress: Progress = silent) -> None:
    """Write all nodes and edges, going on where an earlier call was interrupted.

    Raises StoreError where the server fails or the database is empty; what was finished stays.
    """
    nodes, edges = _count(store, "MATCH (n)"), _count(store, "MATCH ()-[n]->()")
    if not nodes:
        raise StoreError(f"{store.name} has no nodes that this user may read. Check the database's name")
    done = sum(folder.finished.values())
    for shard in _shards(store):
        if shard.name in folder.finished:
            continue
        _clear(folder.data, shard.name)
        seen = left_out = 0
        for number, rows in enumerate(_batches(store.stream(shard.query, shard.parameters))):
            left_out += shard.write(folder.data / f"{shard.name}-{number:05}.csv", rows)
            seen += len(rows)
            progress("nodes and edges", done + seen, nodes + edges)
        done += seen
        folder.note("edges have properties, which are left out", left_out)
        folder.finish(shard.name, seen)


def _count(store: Neo4jStore, match: str) -> int:
    return int(cast(int, store.read(f"{match} RETURN count(n)", most=1)[1][0][0]))


def _shards(store: Neo4jStore) -> Iterator[_Shard]:
    """Yield the shards, nodes before edges; names of labels and types are no names of files."""
    labels = store.read("CALL db.labels() YIELD label RETURN label ORDER BY label", most=100_000)[1]
    for label in (str(row[0]) for row in labels):
        match = f"MATCH (n:{quote_name(label)}) WHERE labels(n)[0] = $label {_NODE}"
        yield _Shard(f"nodes {quoted_file(label)}", match, {"label": label}, _write_nodes)
    yield _Shard("nodes", f"MATCH (n) WHERE size(labels(n)) = 0 {_NODE}", {}, _write_nodes)
    types = "CALL db.relationshipTypes() YIELD relationshipType AS t RETURN t ORDER BY t"
    for type_ in (str(row[0]) for row in store.read(types, most=100_000)[1]):
        pattern = f"MATCH (a)-[r:{quote_name(type_)}]->(b)"
        reads = f"{pattern} RETURN id(a) AS a, id(b) AS b, size(keys(r)) AS properties"
        yield _Shard(f"edges {quoted_file(type_)}", reads, {}, _edge_writer(type_))


def quoted_file(name: str) -> str:
    """Write a name so that it can be that of a file on every system, and no two names alike."""
    return re.sub(r"[^a-z0-9_-]", lambda c: f"%{ord(c[0]):x}.", name)[:150]


def _batches(rows: Iterable[list[object]]) -> Iterator[list[list[object]]]:
    batch: list[list[object]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _clear(folder: Path, shard: str) -> None:
    """Remove what was written of a shard that was not finished."""
    for path in folder.glob("*.csv"):
        if path.name.rpartition("-")[0] == shard:
            path.unlink()


def _write_nodes(path: Path, rows: Rows) -> int:
    kinds: dict[str, set[str]] = {}
    maps = [cast("Mapping[str, object]", row[2]) for row in rows]
    for properties in maps:
        for key, value in properties.items():
            kinds.setdefault(key, set()).add(_kind(value))
    keys = [key for key in kinds if key != "name"]
    header = ["id:ID", "name", ":LABEL", *(f"{key}:{_common(kinds[key])}" for key in keys)]
    with path.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(header)
        for (id, labels, _), properties in zip(rows, maps, strict=True):
            cells = [_cell(properties[key]) if key in properties else "" for key in keys]
            joined = _DELIMITER.join(cast("list[str]", labels))
            writer.writerow([id, _name_of(properties), joined, *cells])
    return 0


def _edge_writer(type_: str) -> Writer:
    def write(path: Path, rows: Rows) -> int:
        with path.open("w", encoding="utf-8", newline="") as lines:
            writer = csv.writer(lines)
            writer.writerow([":START_ID", ":END_ID", ":TYPE"])
            writer.writerows((a, b, type_) for a, b, _ in rows)
        return sum(1 for row in rows if row[2])

    return write


def _name_of(properties: Mapping[str, object]) -> str:
    """Return what people call a node: its name, label or title, else a property like `productName`."""
    for key in (*_NAMES, *sorted(k for k in properties if re.search(r"name$", k, re.IGNORECASE))):
        value = properties.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def _kind(value: object) -> str:
    """Return the CSV type of a value."""
    if isinstance(value, list):
        inner = {_kind(v) for v in cast("list[object]", value)}
        return (inner.pop() if len(inner) == 1 else "string") + "[]"
    for type_, name in (
        (bool, "boolean"),
        (int, "long"),
        (float, "double"),
        (datetime, "datetime"),
        (date, "date"),
    ):
        if isinstance(value, type_):
            return name
    return {"Date": "date", "DateTime": "datetime"}.get(type(value).__name__, "string")


def _common(kinds: set[str]) -> str:
    """Return the type that holds all values of a property."""
    if len(kinds) == 1:
        return next(iter(kinds))
    if kinds == {"long", "double"}:
        return "double"
    return "string[]" if all(kind.endswith("[]") for kind in kinds) else "string"


def _cell(value: object) -> str:
    if isinstance(value, list):
        return _DELIMITER.join(_cell(v) for v in cast("list[object]", value))
    if isinstance(value, bool):
        return str(value).lower()
    found: Any = value
    return str(found.iso_format() if hasattr(found, "iso_format") else found)
