"""Whether the arrays of an index fit each other: lengths, ranges of ids and offsets, UTF-8.

Kernels trust arrays: an id beyond the last node would read memory that is not theirs. A file that holds what
was written can still be wrong, where somebody made it up. So what was not checked on this machine before is
looked at once, in chunks, so that no array is in memory whole.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from typing import NoReturn

import numpy as np

from clew.arrays import AnyArray

NUMBERS_AT_ONCE = 1 << 22
"""Numbers that are looked at together."""


class Misfit(Exception):
    """Arrays that do not fit: `section` is the one to blame, the message says why."""

    def __init__(self, section: str, reason: str) -> None:
        self.section = section
        super().__init__(reason)


def check_structure(arrays: Mapping[str, AnyArray]) -> None:
    """Check the sections of an index, by name, as they are in its files; raises Misfit."""
    checks = _Checks(arrays)
    nodes, relations = _check_graph(checks)
    _check_names(checks, nodes)
    _check_vectors(checks, nodes, relations)
    _check_schema(checks, nodes, relations)
    _check_delta(checks, nodes, relations)
    more = checks.names_in("delta.texts")
    nodes, relations = nodes + more[0], relations + more[1]
    _check_walks(checks, nodes, relations)


def _check_graph(checks: _Checks) -> tuple[int, int]:
    """The graph's sections; (nodes, relations)."""
    nodes, relations = checks.names("graph.entities"), checks.names("graph.relations")
    for key, count in (("labels", nodes), ("relation_labels", relations)):
        if f"graph.{key}.blob" in checks.arrays:
            checks.equal(f"graph.{key}.offsets", checks.names(f"graph.{key}"), count)
    slots = []
    for key in ("graph.out", "graph.into"):
        slots.append(checks.offsets(f"{key}.offsets", nodes, len(checks.column(f"{key}.neighbour"))))
        checks.ids(f"{key}.neighbour", nodes)
        checks.equal(f"{key}.relation", checks.ids(f"{key}.relation", relations), slots[-1])
    checks.equal("graph.into.neighbour", slots[1], slots[0])
    checks.equal("graph.source", len(checks.column("graph.source")), slots[0])
    datatypes, types = checks.names("graph.datatypes"), checks.names("graph.types")
    checks.equal("graph.values.datatype", checks.ids("graph.values.datatype", datatypes, least=-1), nodes)
    checks.equal("graph.values.kind", checks.ids("graph.values.kind", 3), nodes)
    checks.equal("graph.values.value", len(checks.column("graph.values.value", "f")), nodes)
    given = checks.ids("graph.node_types.type", types)
    checks.offsets("graph.node_types.offsets", nodes, given)
    aliases = checks.names("graph.aliases")
    checks.equal("graph.aliases.entity", checks.ids("graph.aliases.entity", nodes), aliases)
    _check_statements(checks, nodes, relations)
    _check_stated(checks, nodes, types)
    return nodes, relations


def _check_statements(checks: _Checks, nodes: int, relations: int) -> None:
    """Properties of edges, where there are any."""
    if "graph.statements.triples" not in checks.arrays:
        return
    triples = checks.array("graph.statements.triples", "i", 2)
    if triples.shape[1] != 3:
        checks.fail("graph.statements.triples", f"{triples.shape[1]} columns where 3 were written")
    for column, count in enumerate((nodes, relations, nodes)):
        checks.in_range("graph.statements.triples", triples[:, column], 0, count)
    keys, texts = checks.names("graph.statement_keys"), checks.names("graph.statement_texts")
    checks.equal("graph.statements.key", checks.ids("graph.statements.key", keys), texts)
    checks.equal("graph.statements.kind", checks.ids("graph.statements.kind", 3), texts)
    checks.equal("graph.statements.value", len(checks.column("graph.statements.value", "f")), texts)
    checks.offsets("graph.statements.offsets", len(triples), texts)


def _check_stated(checks: _Checks, nodes: int, types: int) -> None:
    """What sources state of types, where it is kept."""
    if "graph.stated.pairs" not in checks.arrays:
        return
    names = checks.names("graph.stated_names")
    checks.equal("graph.stated.label", checks.ids("graph.stated.label", types), names)
    pairs = checks.array("graph.stated.pairs", "i", 2)
    if pairs.shape[1] != 2:
        checks.fail("graph.stated.pairs", f"{pairs.shape[1]} columns where 2 were written")
    for column, count in enumerate((nodes, names)):
        checks.in_range("graph.stated.pairs", pairs[:, column], 0, count)
    try:
        characters = json.loads(checks.array("graph.stated.characters", "u").tobytes())
        sound = all(isinstance(text, str) for name, character in characters for text in (name, character))
    except (ValueError, TypeError, RecursionError):
        sound = False
    if not sound:
        checks.fail("graph.stated.characters", "holds something else than pairs of texts")


def _check_names(checks: _Checks, nodes: int) -> None:
    labels = checks.ids("names.label_nodes", nodes)
    entries = nodes + labels + len(checks.column("graph.aliases.entity"))
    checks.equal("names.entries", checks.ids("names.entries", entries), entries)
    checks.equal("names.hashes", len(checks.column("names.hashes")), entries)
    ranks = checks.ids("names.typos.by_length", entries)
    checks.equal("names.typos.signatures", len(checks.column("names.typos.signatures")), ranks)
    postings = checks.ids("names.typos.postings", ranks)
    checks.offsets("names.typos.posting_offsets", None, postings)
    checks.offsets("names.typos.length_offsets", None, ranks)


def _check_vectors(checks: _Checks, nodes: int, relations: int) -> None:
    triples = len(checks.column("graph.out.neighbour"))
    if "in_milvus" in checks.arrays:
        nodes = 0
    if "triple_vectors.ids" in checks.arrays:
        checks.equal("triple_vectors.ids", len(checks.column("triple_vectors.ids")), triples)
        triples = 0
    for name, rows in (("entity_vectors", nodes), ("triple_vectors", triples)):
        if f"{name}.q" in checks.arrays:
            checks.equal(f"{name}.q", len(checks.array(f"{name}.q", "i", 2)), rows)
            checks.equal(f"{name}.scale", len(checks.column(f"{name}.scale", "f")), rows)
    if "relation_vectors" in checks.arrays:
        checks.equal("relation_vectors", len(checks.array("relation_vectors", "f", 2)), relations)


def _check_schema(checks: _Checks, nodes: int, relations: int) -> None:
    """Counts over the graph, where they are kept: by relation, and by the two ends of each."""
    if "schema.together.starts" not in checks.arrays:
        return
    ends = 2 * relations
    checks.equal("schema.triples", len(checks.column("schema.triples")), relations)
    checks.equal("schema.inverse", checks.ids("schema.inverse", relations, least=-1), relations)
    for name, kinds in (
        ("nodes", "i"),
        ("repeated", "i"),
        *((n, "f") for n in ("numbers", "dates", "low", "high")),
    ):
        checks.equal(f"schema.{name}", len(checks.column(f"schema.{name}", kinds)), ends)
    typed = checks.array("schema.typed", "i", 2)
    checks.equal("schema.typed", len(typed), ends)
    checks.equal("schema.typed", typed.shape[1], checks.names("graph.types"))
    others = checks.ids("schema.together.other", ends)
    checks.equal("schema.together.count", len(checks.column("schema.together.count")), others)
    checks.offsets("schema.together.starts", ends, others)
    wide = checks.ids("schema.together.wide", nodes)
    checks.offsets("schema.together.wide_starts", wide, checks.ids("schema.together.wide_ends", ends))
    checks.equal("schema.together.widest", len(checks.column("schema.together.widest")), 1)


def _check_delta(checks: _Checks, nodes: int, relations: int) -> None:
    if "delta.texts" not in checks.arrays:
        return
    more = checks.names_in("delta.texts")
    sections = ("delta.added", "delta.removed", "delta.inferred", "delta.restated")
    for section in (name for name in sections if name in checks.arrays or name in sections[:2]):
        triples = checks.array(section, "i", 2)
        if triples.shape[1] != 3:
            checks.fail(section, f"{triples.shape[1]} columns where 3 were written")
        for column, count in ((0, nodes + more[0]), (1, relations + more[1]), (2, nodes + more[0])):
            checks.in_range(section, triples[:, column], 0, count)


def _check_walks(checks: _Checks, nodes: int, relations: int) -> None:
    parts = [name.removesuffix(".roots") for name in checks.arrays if name.endswith(".roots")]
    for part in parts:
        roots, walks = checks.ids(f"{part}.roots", nodes), len(checks.array(f"{part}.steps", "i", 2))
        checks.offsets(f"{part}.offsets", roots, walks)
        for name, most in (("steps", 2 * relations), ("nodes", nodes)):
            column = checks.array(f"{part}.{name}", "i", 2)
            checks.equal(f"{part}.{name}", len(column), walks)
            checks.in_range(f"{part}.{name}", column, -1, most)
        checks.equal(f"{part}.counts", len(checks.column(f"{part}.counts")), walks)
        checks.equal(f"{part}.state", checks.ids(f"{part}.state", 2, least=-1), roots)
        checks.equal(f"{part}.left_out", len(checks.column(f"{part}.left_out")), roots)
        vectors = len(checks.array(f"{part}.q", "i", 2))
        checks.equal(f"{part}.scale", len(checks.column(f"{part}.scale", "f")), vectors)
        checks.equal(f"{part}.q", vectors, 0 if f"{part}.ids" in checks.arrays else walks)
        if f"{part}.said.blob" in checks.arrays:
            checks.equal(f"{part}.said.offsets", checks.names(f"{part}.said"), walks)


class _Checks:
    """Looks at arrays; each check raises Misfit or returns how many items there are."""

    def __init__(self, arrays: Mapping[str, AnyArray]) -> None:
        self.arrays = arrays

    def fail(self, section: str, reason: str) -> NoReturn:
        """Blame a section."""
        raise Misfit(section, reason)

    def array(self, section: str, kinds: str = "iu", dimensions: int = 1) -> AnyArray:
        """An array of a kind of numbers (numpy's letters) and so many dimensions."""
        if section not in self.arrays:
            self.fail(section, "missing from the index")
        array = self.arrays[section]
        if array.dtype.kind not in kinds or array.ndim != dimensions:
            self.fail(section, f"holds {array.dtype} {list(array.shape)}, which was never written")
        return array

    def column(self, section: str, kinds: str = "iu") -> AnyArray:
        """An array of one dimension."""
        return self.array(section, kinds)

    def equal(self, section: str, found: int, expected: int) -> None:
        """Two counts that must be the same."""
        if found != expected:
            self.fail(section, f"{found:,} rows where the other arrays have {expected:,}")

    def in_range(self, section: str, array: AnyArray, least: int, most: int) -> None:
        """All numbers of an array are from `least` to below `most`."""
        for chunk in _chunks(array):
            if len(chunk) and not (least <= int(chunk.min()) and int(chunk.max()) < most):
                self.fail(section, f"holds ids from {chunk.min()} to {chunk.max()}, of {most:,}")

    def ids(self, section: str, most: int, *, least: int = 0) -> int:
        """Ids below `most`; how many there are."""
        array = self.column(section)
        self.in_range(section, array, least, most)
        return len(array)

    def offsets(self, section: str, lists: int | None, items: int) -> int:
        """Offsets of `lists` lists that together have `items` items; returns `items`."""
        array = self.column(section)
        if lists is not None:
            self.equal(section, len(array) - 1, lists)
        if not len(array) or int(array[0]) != 0 or int(array[-1]) != items:
            self.fail(section, f"its lists do not end at {items:,}")
        for start in range(0, len(array), NUMBERS_AT_ONCE):
            if np.any(np.diff(array[start : start + NUMBERS_AT_ONCE + 1].astype(np.int64)) < 0):
                self.fail(section, "its lists overlap")
        return items

    def names(self, key: str) -> int:
        """Strings in UTF-8; how many there are."""
        blob, offsets = self.array(f"{key}.blob", "u"), self.column(f"{key}.offsets")
        if blob.dtype != np.uint8:
            self.fail(f"{key}.blob", f"holds {blob.dtype} where bytes were written")
        self.offsets(f"{key}.offsets", None, len(blob))
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            for chunk in _chunks(blob):
                decoder.decode(chunk.tobytes())
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            self.fail(f"{key}.blob", "holds bytes that are no UTF-8")
        for chunk in _chunks(offsets):
            places = chunk.astype(np.int64)
            if np.any((blob[places[places < len(blob)]].astype(np.uint8) & 0xC0) == 0x80):
                self.fail(f"{key}.offsets", "cuts a character in two")
        return len(offsets) - 1

    def names_in(self, section: str) -> tuple[int, int]:
        """How many nodes and relations an edit adds; (0, 0) without one."""
        if section not in self.arrays:
            return 0, 0
        try:
            texts = json.loads(self.arrays[section].tobytes())
            lengths = {len(texts[name]) for name in ("names", "labels", "datatypes")}
            relations = {len(texts[name]) for name in ("relations", "relation_labels")}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            self.fail(section, f"holds something else than what an update writes ({error!r})")
        if len(lengths) != 1 or len(relations) != 1:
            self.fail(section, "its lists are not of one length")
        return lengths.pop(), relations.pop()


def _chunks(array: AnyArray) -> Iterator[AnyArray]:
    flat = array.reshape(-1)
    return (flat[start : start + NUMBERS_AT_ONCE] for start in range(0, len(flat), NUMBERS_AT_ONCE))
