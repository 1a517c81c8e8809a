"""A Neo4j graph → a folder of node and edge CSVs that `clew index` reads.

A shard for each range of node ids, with the edges that leave its nodes. One that is finished is not read
again when the same command is given after an interruption. Nodes and edges come in lists, of as many as
`LISTED_NODES` ids, since a record of the driver costs more than what is in it; those of a hub come one by
one. Properties of edges are columns of their tables.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from clew.stores.errors import StoreError
from clew.stores.import_folder import ImportFolder, ImportProgress, silent
from clew.stores.naming import naming_property
from clew.stores.neo4j import Neo4jStore

LISTED_NODES = 1_000
MOST_KEYS = 1_000
"""Keys of properties of edges, each a column."""
LIST_DELIMITERS = ";|\N{BROKEN BAR}\N{SECTION SIGN}\N{PILCROW SIGN}"
"""What may stand between the items of a list; the first that is in none of them does."""
_IDS = f"UNWIND range(start, start + {LISTED_NODES - 1}) AS i MATCH (a) WHERE id(a) = i"
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

Cells = Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class ExportSizes:
    """How much is read at once: ids of nodes in a shard, and edges of a node whose edges come one by one."""

    shard_ids: int = 50_000
    hub: int = 10_000


USUAL_EXPORT = ExportSizes()


def export(
    store: Neo4jStore,
    folder: ImportFolder,
    progress: ImportProgress = silent,
    sizes: ExportSizes = USUAL_EXPORT,
) -> None:
    """Write all nodes and edges, going on where an earlier call was interrupted.

    Raises StoreError where the server fails or the database is empty; what was finished stays.
    """
    nodes, last = _numbers(store, "MATCH (n) RETURN count(n), max(id(n))")
    if not nodes:
        raise StoreError(
            f"{store.name} has no nodes that this user may read. Check the database's name, and the "
            "user's rights"
        )
    total = nodes + _numbers(store, "MATCH ()-[r]->() RETURN count(r)")[0]
    done = sum(folder.finished.values())
    keys = [str(row[0]) for row in store.read(EDGE_KEYS, most=MOST_KEYS)[1]]
    for low in range(0, last + 1, sizes.shard_ids):
        shard = f"{low:012}"
        bounds = {"low": low, "high": low + sizes.shard_ids - 1, "hub": sizes.hub}
        if shard in folder.finished:
            continue
        shard_count = 0
        for count in _read_shard(store, folder, shard, bounds, keys):
            shard_count += count
            progress("nodes and edges", done + shard_count, total)
        done += shard_count
        folder.finish(shard, shard_count)


def _numbers(store: Neo4jStore, query: str) -> list[int]:
    return [int(number or 0) for number in store.read(query, most=1)[1][0]]


def _read_shard(
    store: Neo4jStore, folder: ImportFolder, shard: str, bounds: Mapping[str, object], keys: Sequence[str]
) -> Iterator[int]:
    """Write a shard, with the `keys` of properties of edges as columns.

    Yields how many nodes and edges have come since the last time.
    """
    nodes: list[list[Any]] = []
    for (rows,) in store.stream(NODES_QUERY, bounds):
        nodes += rows
        yield len(rows)
    if nodes:
        write_nodes(folder.data / f"nodes-{shard}.csv", nodes)
    with (folder.data / f"edges-{shard}.csv").open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow([":START_ID", ":END_ID", ":TYPE", *keys])
        hubs = ([row] for row in store.stream(HUB_EDGES, bounds))
        lists = (row[0] for row in store.stream(EDGES_QUERY, bounds))
        for rows in chain(lists, hubs):
            writer.writerows([*row[:3], *_cells(row[3], keys, {}, "; ")] for row in rows)
            yield len(rows)


def write_nodes(path: Path, rows: Cells) -> None:
    """Write rows (id, labels, properties) as a CSV of nodes."""
    kinds: dict[str, set[str]] = {}
    maps: list[Mapping[str, Any]] = [row[2] for row in rows]
    for properties in maps:
        for key, value in properties.items():
            if value != []:
                kinds.setdefault(key, set()).add(_kind(value))
    keys = [key for key in kinds if key != "name"]
    types = {key: _common_type(kinds[key]) for key in keys}
    delimiters = {
        key: _delimiter(p[key] for p in maps if key in p) for key in keys if types[key].endswith("[]")
    }
    label_delimiter = _delimiter(row[1] for row in rows)
    columns = [
        f"{key}:{types[key]}{_delimiter_suffix(delimiters.get(key, LIST_DELIMITERS[0]))}" for key in keys
    ]
    with path.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(["id:ID", "name", f":LABEL{_delimiter_suffix(label_delimiter)}", *columns])
        for (id, labels, _), properties in zip(rows, maps, strict=True):
            name_key = naming_property(k for k, v in properties.items() if isinstance(v, str) and v)
            name = "" if name_key is None else str(properties[name_key])
            writer.writerow([id, name, _cell(labels, label_delimiter), *_cells(properties, keys, delimiters)])


def _cells(
    values: Mapping[str, Any], keys: Iterable[str], delimiters: Mapping[str, str], usual_delimiter: str = ""
) -> list[str]:
    """The cells of a row's properties; `delimiters` stand between the items of a list, by key."""
    return [_cell(values[key], delimiters.get(key, usual_delimiter)) if key in values else "" for key in keys]


def _delimiter(values: Iterable[object]) -> str:
    """Choose what stands between the items of the lists of a column: a character that is in none of them."""
    characters = {character for value in values for character in _cell(value)}
    private_characters = map(chr, range(0xE000, 0xF8FF))
    return next(
        character for character in chain(LIST_DELIMITERS, private_characters) if character not in characters
    )


def _delimiter_suffix(delimiter: str) -> str:
    """Name a delimiter in a header, unless it is the usual one."""
    return "" if delimiter == LIST_DELIMITERS[0] else f"{{delimiter:{delimiter}}}"


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
    """Return the type that holds all values of a property; single values and lists of them are lists."""
    plain_kinds = {kind.removesuffix("[]") for kind in kinds}
    list_suffix = "[]" if any(kind.endswith("[]") for kind in kinds) else ""
    if len(plain_kinds) == 1:
        return plain_kinds.pop() + list_suffix
    return ("double" if plain_kinds == {"long", "double"} else "string") + list_suffix


def _cell(value: Any, delimiter: str = "") -> str:  # noqa: ANN401
    if isinstance(value, list):
        return delimiter.join(map(_cell, value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):  # a point
        return f"({', '.join(map(str, value))})"
    return str(value.iso_format() if hasattr(value, "iso_format") else value)
