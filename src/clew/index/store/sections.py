"""A graph as named arrays, the form in which an index stores it, and whether they fit each other."""

from __future__ import annotations

import codecs
import json
import secrets
from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from clew.errors import IndexAccessError
from clew.foundation.arrays import AT_ONCE, AnyArray, chunks_of
from clew.graph.graph import Adjacency, Aliases, EdgeProperties, Graph, Names, Stated, Types, Values
from clew.index.store.files import map_array

# A graph as named arrays, the form in which an index stores it.

Arrays = Mapping[str, NDArray[np.generic]]
_FIELDS: tuple[tuple[str, str, type[np.generic] | None], ...] = (
    ("source", "source", np.uint16),
    ("entities", "entities", None),
    ("relations", "relations", None),
    ("labels", "labels", None),
    ("relation_labels", "relation_labels", None),
    ("out.offsets", "out.offsets", np.int64),
    ("out.relation", "out.relation", np.int32),
    ("out.neighbour", "out.neighbour", np.int32),
    ("into.offsets", "into.offsets", np.int64),
    ("into.relation", "into.relation", np.int32),
    ("into.neighbour", "into.neighbour", np.int32),
    ("values.datatype", "values.datatype", np.int16),
    ("values.kind", "values.kind", np.uint8),
    ("values.value", "values.value", np.float64),
    ("datatypes", "values.datatypes", None),
    ("types", "types.names", None),
    ("node_types.offsets", "types.offsets", np.int64),
    ("node_types.type", "types.type", np.int32),
    ("aliases", "aliases.names", None),
    ("aliases.entity", "aliases.entity", np.int32),
    ("statements.triples", "edge_properties.triples", np.int32),
    ("statements.offsets", "edge_properties.offsets", np.int64),
    ("statement_keys", "edge_properties.keys", None),
    ("statements.key", "edge_properties.key", np.int32),
    ("statement_texts", "edge_properties.texts", None),
    ("statements.kind", "edge_properties.kind", np.uint8),
    ("statements.value", "edge_properties.value", np.float64),
    ("stated_names", "stated.names", None),
    ("stated.label", "stated.label", np.int32),
    ("stated.pairs", "stated.pairs", np.int32),
    ("beside", "beside", np.uint8),
)
"""Section, attribute of the graph and type; None: `Names`, which are two sections."""
_CHARACTERS = "stated.characters"
_PARTS: dict[str, Any] = {
    "out": Adjacency,
    "into": Adjacency,
    "values": Values,
    "types": Types,
    "aliases": Aliases,
    "edge_properties": EdgeProperties,
    "stated": Stated,
}
_OPTIONAL = {
    "labels": "labels.blob",
    "relation_labels": "relation_labels.blob",
    "edge_properties": "statements.triples",
    "stated": "stated.pairs",
    "beside": "beside",
}
"""Parts of a graph that an index may lack, each with a section that it has if the part is there."""


def graph_counts(graph: Graph) -> dict[str, int]:
    """Count triples, entities, literals, relations, types and aliases."""
    literals = int(np.count_nonzero(graph.values.datatype >= 0))
    return {
        "triples": graph.triples,
        "entities": graph.nodes - literals,
        "literals": literals,
        "relations": len(graph.relations),
        "types": len(graph.types.names),
        "aliases": len(graph.aliases.names),
    }


def graph_sections(graph: Graph) -> dict[str, NDArray[np.generic]]:
    """Name the arrays of `graph`; labels only where they are not the names themselves."""
    is_absent = {
        "labels": graph.labels is graph.entities,
        "relation_labels": graph.relation_labels is graph.relations,
        "edge_properties": not len(graph.edge_properties),
        "stated": graph.stated is None,
        "beside": graph.beside is None,
    }
    sections: dict[str, NDArray[np.generic]] = {}
    for section, path, dtype in _FIELDS:
        if is_absent.get(path.partition(".")[0]):
            continue
        value = attrgetter(path)(graph)
        if dtype:
            sections[section] = value
        else:
            sections |= {f"{section}.blob": value.blob, f"{section}.offsets": value.offsets}
    if graph.stated is not None:
        sections[_CHARACTERS] = np.frombuffer(json.dumps(graph.stated.characters).encode(), np.uint8)
    return sections


def graph_of_sections(arrays: Arrays) -> Graph:
    """Make the graph from the arrays of `graph_sections`; raises KeyError if one is missing."""
    whole: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for section, path, dtype in _FIELDS:
        owner, _, field = path.partition(".")
        if owner in _OPTIONAL and _OPTIONAL[owner] not in arrays:
            continue
        value = arrays[section].astype(dtype, copy=False) if dtype else _names(arrays, section)
        fields = parts.setdefault(owner, {}) if field else whole
        fields[field or owner] = value
    if "stated" in parts:
        characters: list[list[str]] = json.loads(arrays[_CHARACTERS].tobytes())
        parts["stated"]["characters"] = tuple((str(name), str(character)) for name, character in characters)
    whole |= {owner: _PARTS[owner](**fields) for owner, fields in parts.items()}
    return Graph(**{"labels": whole["entities"], "relation_labels": whole["relations"], **whole})


def with_prefix(prefix: str, arrays: Arrays) -> dict[str, NDArray[np.generic]]:
    """Put `prefix` and a dot before every name."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def without_prefix(prefix: str, arrays: Arrays) -> dict[str, NDArray[np.generic]]:
    """Keep the arrays whose name begins with `prefix` and a dot, without them."""
    start = f"{prefix}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _names(arrays: Arrays, key: str) -> Names:
    blob, offsets = arrays[f"{key}.blob"], arrays[f"{key}.offsets"]
    return Names(blob.astype(np.uint8, copy=False), offsets.astype(np.int64, copy=False))


def written_graph(folder: Path) -> Graph:
    """The graph whose sections are in a folder. Raises IndexAccessError if it is not there."""
    files = sorted(folder.glob("graph.*.npy"))
    if not files:
        raise IndexAccessError(
            f"{folder}: the index that is written is not there. Write it to a folder that all nodes see"
        )
    arrays = {f.name.removeprefix("graph.").removesuffix(".npy"): map_array(f) for f in files}
    return graph_of_sections(arrays)


# Whether the arrays of an index fit each other, as kernels trust them: lengths, ids, offsets, UTF-8.
#
# A file that holds what was written may still be made up. What was not checked on this machine is, in chunks.


_MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd number, by which the bits of a product are mixed."""
_EDGES_AT_ONCE = 1 << 16
"""Edges whose columns fit into a processor's cache."""


class DamagedSection(Exception):
    """Arrays that do not fit: `section` is the one to blame, the message says why."""

    def __init__(self, section: str, reason: str) -> None:
        self.section = section
        super().__init__(reason)


def check_structure(arrays: Mapping[str, AnyArray]) -> None:
    """Check the sections of an index, as they are in its files. Raises DamagedSection."""
    checks = _Checks(arrays)
    nodes, relations = _check_graph(checks)
    _check_names(checks, nodes)
    _check_vectors(checks, nodes, relations)
    _check_schema(checks, relations)
    _check_walks(checks, nodes, relations)


def _check_graph(checks: _Checks) -> tuple[int, int]:
    """The graph's sections; (nodes, relations)."""
    nodes, relations = checks.names("graph.entities"), checks.names("graph.relations")
    for key, count in (("labels", nodes), ("relation_labels", relations)):
        if f"graph.{key}.blob" in checks.arrays:
            checks.names(f"graph.{key}", rows=count)
    slots = []
    for key in ("graph.out", "graph.into"):
        slots.append(checks.offsets(f"{key}.offsets", nodes, len(checks.array(f"{key}.neighbour"))))
        checks.ids(f"{key}.neighbour", nodes)
        checks.ids(f"{key}.relation", relations, rows=slots[-1])
    checks.equal("graph.into.neighbour", slots[1], slots[0])
    checks.same_edges("graph.out", "graph.into")
    checks.rows("graph.source", slots[0])
    datatypes, types = checks.names("graph.datatypes"), checks.names("graph.types")
    checks.ids("graph.values.datatype", datatypes, least=-1, rows=nodes)
    checks.ids("graph.values.kind", 3, rows=nodes)
    checks.rows("graph.values.value", nodes, "f")
    checks.offsets("graph.node_types.offsets", nodes, checks.ids("graph.node_types.type", types))
    checks.ids("graph.aliases.entity", nodes, rows=checks.names("graph.aliases"))
    _check_statements(checks, nodes, relations)
    _check_stated(checks, nodes, types)
    return nodes, relations


def _check_statements(checks: _Checks, nodes: int, relations: int) -> None:
    """Properties of edges, where there are any."""
    if "graph.statements.triples" not in checks.arrays:
        return
    triples = checks.table("graph.statements.triples", nodes, relations, nodes)
    keys, texts = checks.names("graph.statement_keys"), checks.names("graph.statement_texts")
    checks.ids("graph.statements.key", keys, rows=texts)
    checks.ids("graph.statements.kind", 3, rows=texts)
    checks.rows("graph.statements.value", texts, "f")
    checks.offsets("graph.statements.offsets", triples, texts)


def _check_stated(checks: _Checks, nodes: int, types: int) -> None:
    """What sources state of types, where it is kept."""
    if "graph.stated.pairs" not in checks.arrays:
        return
    names = checks.names("graph.stated_names")
    checks.ids("graph.stated.label", types, rows=names)
    checks.table("graph.stated.pairs", nodes, names)
    try:
        characters = json.loads(checks.array("graph.stated.characters", "u").tobytes())
        sound = all(isinstance(text, str) for name, character in characters for text in (name, character))
    except (ValueError, TypeError, RecursionError):
        sound = False
    if not sound:
        checks.fail("graph.stated.characters", "holds something else than pairs of texts")


def _check_names(checks: _Checks, nodes: int) -> None:
    labels = checks.ids("names.label_nodes", nodes)
    entries = nodes + labels + len(checks.array("graph.aliases.entity"))
    checks.ids("names.entries", entries, rows=entries)
    checks.rows("names.hashes", entries)
    ranks = checks.ids("names.typos.by_length", entries)
    checks.rows("names.typos.signatures", ranks)
    postings = checks.ids("names.typos.postings", ranks)
    checks.offsets("names.typos.posting_offsets", None, postings)
    checks.ascending("names.typos.postings", "names.typos.posting_offsets")
    checks.offsets("names.typos.length_offsets", None, ranks)


def _check_vectors(checks: _Checks, nodes: int, relations: int) -> None:
    triples = len(checks.array("graph.out.neighbour"))
    if "in_milvus" in checks.arrays:
        nodes = 0
    if "triple_vectors.ids" in checks.arrays:
        checks.rows("triple_vectors.ids", triples)
        triples = 0
    for name, rows in (("entity_vectors", nodes), ("triple_vectors", triples), ("corpus.nodes", nodes)):
        if f"{name}.q" in checks.arrays:
            checks.rows(f"{name}.q", rows, "i", 2)
            checks.rows(f"{name}.scale", rows, "f")
    if "relation_vectors" in checks.arrays:
        checks.rows("relation_vectors", relations, "f", 2)


def _check_schema(checks: _Checks, relations: int) -> None:
    """Counts over the graph, where they are kept: by relation, and by the two ends of each."""
    if not any(name.startswith("schema.") for name in checks.arrays):
        return
    ends = 2 * relations
    checks.rows("schema.triples", relations)
    checks.ids("schema.inverse", relations, least=-1, rows=relations)
    for names, kinds in (("nodes repeated", "i"), ("numbers dates low high", "f")):
        for name in names.split():
            checks.rows(f"schema.{name}", ends, kinds)
    checks.rows("schema.typed", ends, "i", 2)
    checks.equal("schema.typed", checks.arrays["schema.typed"].shape[1], checks.names("graph.types"))
    if "schema.together" in checks.arrays:
        checks.rows("schema.together", ends, "i", 2)
        checks.equal("schema.together", checks.arrays["schema.together"].shape[1], ends)


def _check_walks(checks: _Checks, nodes: int, relations: int) -> None:
    parts = [name.removesuffix(".roots") for name in checks.arrays if name.endswith(".roots")]
    for part in parts:
        roots, walks = checks.ids(f"{part}.roots", nodes), len(checks.array(f"{part}.steps", "i", 2))
        checks.offsets(f"{part}.offsets", roots, walks)
        for name, most in (("steps", 2 * relations), ("nodes", nodes)):
            checks.rows(f"{part}.{name}", walks, "i", 2)
            checks.in_range(f"{part}.{name}", checks.arrays[f"{part}.{name}"], -1, most)
        checks.ends(f"{part}.steps", f"{part}.nodes")
        checks.rows(f"{part}.counts", walks)
        checks.ids(f"{part}.state", 2, least=-1, rows=roots)
        checks.rows(f"{part}.left_out", roots)
        vectors = len(checks.array(f"{part}.q", "i", 2))
        checks.rows(f"{part}.scale", vectors, "f")
        checks.equal(f"{part}.q", vectors, 0 if f"{part}.ids" in checks.arrays else walks)
        if f"{part}.said.blob" in checks.arrays:
            checks.names(f"{part}.said", rows=walks)


class _Checks:
    """Looks at arrays; each check raises DamagedSection or returns how many items there are."""

    def __init__(self, arrays: Mapping[str, AnyArray]) -> None:
        self.arrays = arrays

    def fail(self, section: str, reason: str) -> NoReturn:
        """Blame a section."""
        raise DamagedSection(section, reason)

    def array(self, section: str, kinds: str = "iu", dimensions: int = 1) -> AnyArray:
        """An array of a kind of numbers (numpy's letters) and so many dimensions."""
        if section not in self.arrays:
            self.fail(section, "missing from the index")
        array = self.arrays[section]
        if array.dtype.kind not in kinds or array.ndim != dimensions:
            self.fail(section, f"holds {array.dtype} {list(array.shape)}, which was never written")
        return array

    def equal(self, section: str, count: int, expected: int) -> None:
        """Two counts that must be the same."""
        if count != expected:
            self.fail(section, f"{count:,} rows where the other arrays have {expected:,}")

    def rows(self, section: str, expected: int, kinds: str = "iu", dimensions: int = 1) -> None:
        """An array of so many rows."""
        self.equal(section, len(self.array(section, kinds, dimensions)), expected)

    def in_range(self, section: str, array: AnyArray, least: int, most: int) -> None:
        """All numbers of an array are from `least` to below `most`."""
        for chunk in self._chunks(array):
            if len(chunk) and not (least <= int(chunk.min()) and int(chunk.max()) < most):
                self.fail(section, f"holds ids from {chunk.min()} to {chunk.max()}, of {most:,}")

    def ids(self, section: str, most: int, *, least: int = 0, rows: int | None = None) -> int:
        """Ids below `most`; how many there are, of which `rows` are expected."""
        array = self.array(section)
        self.in_range(section, array, least, most)
        if rows is not None:
            self.equal(section, len(array), rows)
        return len(array)

    def table(self, section: str, *counts: int) -> int:
        """Rows of ids, of which the columns are each below one of `counts`; how many there are."""
        rows = self.array(section, "i", 2)
        if rows.shape[1] != len(counts):
            self.fail(section, f"{rows.shape[1]} columns where {len(counts)} were written")
        for column, count in enumerate(counts):
            self.in_range(section, rows[:, column], 0, count)
        return len(rows)

    def ends(self, steps: str, nodes: str) -> None:
        """The rows of two tables end at the same places, with -1 behind them."""
        for start, stop in chunks_of(0, len(self.arrays[steps]), AT_ONCE):
            is_over, other = (self.arrays[name][start:stop] < 0 for name in (steps, nodes))
            if not np.array_equal(is_over, other) or np.any(is_over[:, :-1] > is_over[:, 1:]):
                self.fail(nodes, f"its walks do not end where those of {steps} do")

    def offsets(self, section: str, lists: int | None, items: int) -> int:
        """Offsets of `lists` lists that together have `items` items; returns `items`."""
        array = self.array(section)
        if lists is not None:
            self.equal(section, len(array) - 1, lists)
        if not len(array) or int(array[0]) != 0 or int(array[-1]) != items:
            self.fail(section, f"its lists do not end at {items:,}")
        for start in range(0, len(array), AT_ONCE):
            if np.any(np.diff(array[start : start + AT_ONCE + 1].astype(np.int64)) < 0):
                self.fail(section, "its lists overlap")
        return items

    def ascending(self, section: str, offsets: str) -> None:
        """The ids of each list ascend."""
        array, starts = self.arrays[section], self.arrays[offsets]
        for start, stop in chunks_of(1, len(array), AT_ONCE):
            falls = np.flatnonzero(np.diff(array[start - 1 : stop].astype(np.int64)) < 0) + start
            if not np.isin(falls, starts).all():
                self.fail(section, "its lists are not in order")

    def same_edges(self, out: str, into: str) -> None:
        """Two lists of edges, each in order, that hold the same triples from their two ends.

        Compared are sums of the triples' hashes, by numbers that nobody can know before.
        """
        head, relation, tail = (np.uint64(secrets.randbits(64) | 1) for _ in range(3))
        sums = [
            self._sum_of_edges(key, *factors)
            for key, factors in ((out, (head, relation, tail)), (into, (tail, relation, head)))
        ]
        if sums[0] != sums[1]:
            self.fail(f"{into}.neighbour", f"holds other triples than {out}")

    def _sum_of_edges(self, key: str, *factors: np.uint64) -> int:
        """The sum, modulo 2**64, of a hash of the node, relation and neighbour of each edge."""
        offsets, relation, neighbour = (
            self.arrays[f"{key}.{name}"] for name in ("offsets", "relation", "neighbour")
        )
        total = 0
        for start, stop in chunks_of(0, len(neighbour), _EDGES_AT_ONCE):
            begin = max(start - 1, 0)  # the edge before too, with which the first one is in order
            first, last = np.searchsorted(offsets, [begin, stop - 1], side="right") - 1
            counts = np.diff(np.clip(offsets[first : last + 2].astype(np.int64), begin, stop))
            nodes = np.repeat(np.arange(first, last + 1), counts)
            edges = [nodes, *(column[begin:stop].astype(np.int64) for column in (relation, neighbour))]
            same_node, by_relation, by_neighbour = (np.diff(column) for column in edges)
            if np.any((same_node == 0) & ((by_relation < 0) | ((by_relation == 0) & (by_neighbour < 0)))):
                self.fail(f"{key}.neighbour", "its lists are not in order")
            of_chunk = (column[start - begin :].view(np.uint64) for column in edges)
            mixed = sum(column * factor for column, factor in zip(of_chunk, factors, strict=True))
            mixed = (mixed ^ (mixed >> np.uint64(32))) * _MIX
            total += int((mixed ^ (mixed >> np.uint64(29))).sum(dtype=np.uint64))
        return total % 2**64

    def names(self, key: str, *, rows: int | None = None) -> int:
        """Strings in UTF-8; how many there are, of which `rows` are expected."""
        blob, offsets = self.array(f"{key}.blob", "u"), self.array(f"{key}.offsets")
        if blob.dtype != np.uint8:
            self.fail(f"{key}.blob", f"holds {blob.dtype} where bytes were written")
        self.offsets(f"{key}.offsets", None, len(blob))
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            for chunk in self._chunks(blob):
                decoder.decode(chunk.tobytes())
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            self.fail(f"{key}.blob", "holds bytes that are no UTF-8")
        for chunk in self._chunks(offsets):
            places = chunk.astype(np.int64)
            if np.any((blob[places[places < len(blob)]].astype(np.uint8) & 0xC0) == 0x80):
                self.fail(f"{key}.offsets", "cuts a character in two")
        if rows is not None:
            self.equal(f"{key}.offsets", len(offsets) - 1, rows)
        return len(offsets) - 1

    def _chunks(self, array: AnyArray) -> Iterator[AnyArray]:
        flat = array.reshape(-1)
        return (flat[slice(*span)] for span in chunks_of(0, len(flat), AT_ONCE))
