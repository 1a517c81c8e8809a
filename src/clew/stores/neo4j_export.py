"""A Neo4j graph → a folder of node and edge CSVs that `clew index` reads.

One shard for all nodes and one for each relation type, streamed in batches. A shard that is finished is named
in `done.json` and not read again when the same command is given after an interruption; one that is not is
read from its beginning. Properties of edges have no place in a triple and are left out.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, cast

from clew.stores.cypher.tokens import quote_name
from clew.stores.neo4j import Neo4jStore

BATCH = 20_000
"""Rows that are held at a time, and in one file."""
_NAMES = ("name", "label", "title")
_DELIMITER = ";"

Progress = Callable[[str, int, int], None]
"""Called with what is read, how much of it, and how much there is."""


def export(store: Neo4jStore, folder: Path, progress: Progress | None = None) -> None:
    """Write all nodes and edges into `folder`, going on where an earlier call was interrupted.

    Raises StoreError where the server fails; what was finished stays.
    """
    folder.mkdir(parents=True, exist_ok=True)
    marker = folder / "done.json"
    done = cast("list[str]", json.loads(marker.read_text("utf-8"))) if marker.exists() else []
    for shard, count_text, text, write in _shards(store):
        if shard in done:
            continue
        _clear(folder, shard)
        total = int(cast(int, store.read(count_text, most=1)[1][0][0]))
        seen = 0
        for number, rows in enumerate(_batches(store, text)):
            write(folder / f"{shard}-{number:05}.csv", rows)
            seen += len(rows)
            if progress is not None:
                progress(shard, seen, total)
        done.append(shard)
        _replace(marker, json.dumps(done))


Shard = tuple[str, str, str, Callable[[Path, Sequence[Sequence[object]]], None]]


def _shards(store: Neo4jStore) -> Iterator[Shard]:
    """(name, query that counts, query that reads, what writes a batch)."""
    node = "RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties"
    yield "nodes", "MATCH (n) RETURN count(n)", f"MATCH (n) {node}", _write_nodes
    types = "CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType"
    for number, row in enumerate(store.read(types, most=100_000)[1]):
        pattern = f"-[r:{quote_name(str(row[0]))}]->"
        reads = f"MATCH (a){pattern}(b) RETURN elementId(a) AS a, elementId(b) AS b, type(r) AS type"
        yield f"edges-{number:04}", f"MATCH (){pattern}() RETURN count(r)", reads, _write_edges


def _batches(store: Neo4jStore, text: str) -> Iterator[list[list[object]]]:
    batch: list[list[object]] = []
    for row in store.stream(text):
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _clear(folder: Path, shard: str) -> None:
    for path in folder.glob(f"{shard}-*.csv*"):
        path.unlink()


def _replace(path: Path, text: str) -> None:
    """Write a file that is whole or not there."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, "utf-8")
    part.replace(path)


def _write_nodes(path: Path, rows: Sequence[Sequence[object]]) -> None:
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
            writer.writerow([_short(str(id)), _name_of(properties), joined, *cells])


def _write_edges(path: Path, rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow([":START_ID", ":END_ID", ":TYPE"])
        writer.writerows((_short(str(a)), _short(str(b)), type_) for a, b, type_ in rows)


def _short(element: str) -> str:
    """Return the number in an element id, which is unique within a database."""
    return element.rpartition(":")[2]


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
