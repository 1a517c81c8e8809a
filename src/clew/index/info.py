"""What an index holds, for people: counts, relations with examples, and what stands at their ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Int32, Int64, chunks_of
from clew.foundation.forms import fields_json, frame_of, info_html
from clew.graph.graph import (
    Adjacency,
    EdgeProperties,
    Graph,
    ValueKind,
    counted_offsets,
    distinct_pairs,
    listed_places,
    named_triple,
)
from clew.graph.values import datatype_in_words
from clew.index.store.directory import EmbedderRecord, Index, SourceRecord
from clew.index.store.sections import graph_counts
from clew.types import TripleText

NODES_AT_ONCE = 1 << 20
"""Nodes whose edges are looked through at a time."""
MOST_COUNTED_NODES = 20_000
"""Shares at the end of a relation are those of at most so many of its nodes, evenly spaced."""

MOST_END_TYPES = 3
MOST_SAMPLE_VALUES, MOST_READ_VALUES = 3, 1_000
"""Values of a property of edges that are given, and of how many edges they are the commonest."""
LEAST_TYPE_SHARE = 0.05
VALUE_KINDS = {ValueKind.NUMBER: "number", ValueKind.DATE: "date"}


@dataclass(frozen=True, slots=True)
class TypeShare:
    """`share` in (0, 1] of the nodes at one end of a relation that are of a type.

    Where no type is declared, a node's type is inferred: "number", "date", a literal's datatype, or the
    ends of other relations that it has, as in "head of written_by".
    """

    type: str
    share: float
    declared: bool


@dataclass(frozen=True, slots=True)
class RelationInfo:
    """A relation: triples, distinct nodes at both ends with types, an example.

    `properties` are those of its edges, each with its commonest values.
    """

    name: str
    label: str
    triples: int
    heads: int
    tails: int
    example: TripleText
    properties: Mapping[str, Sequence[str]]
    head_types: tuple[TypeShare, ...]
    tail_types: tuple[TypeShare, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Info:
    """What an index holds; `bytes` on disk, `created` in UTC, `report` what reading the sources gave.

    `vectors` says what searches those of `names`, and where those of `triples` are, None without them.
    `updates` are what the last updates did.
    """

    path: str
    clew: str
    created: str
    bytes: int
    counts: Mapping[str, int]
    relations: tuple[RelationInfo, ...]
    types: Mapping[str, int]
    embedder: EmbedderRecord | None
    sources: tuple[SourceRecord, ...]
    report: Mapping[str, Any]
    vectors: Mapping[str, str | None]
    corpus: Mapping[str, Any] | None = None
    updates: Sequence[Mapping[str, Any]] = ()

    def as_json(self) -> dict[str, Any]:
        """Make the stable JSON form (documented in docs/json.md)."""
        names = "clew created bytes counts embedder sources report types relations vectors corpus updates"
        form: dict[str, Any] = {"index": self.path, **fields_json(self, names)}
        form["report"] = report_json(self.report)
        for relation, described in zip(self.relations, form["relations"], strict=True):
            if relation.example.ids is not None:
                described["example_ids"] = list(relation.example.ids)
        return form

    def to_frame(self) -> Any:  # noqa: ANN401 (of pandas or polars)
        """A data frame with a row a relation. Raises MissingExtra without pandas and polars."""
        keys = ("name", "label", "triples", "heads", "tails", "example")
        return frame_of([{key: row[key] for key in keys} for row in self.as_json()["relations"]])

    def __repr__(self) -> str:
        counts = ", ".join(f"{number:,} {noun}" for noun, number in self.counts.items())
        return f"<Info {self.path}: {counts}>"

    def _repr_html_(self) -> str:
        return info_html(self.as_json())


def report_json(report: Mapping[str, Any]) -> dict[str, Any]:
    """Pick the parts of a build report that are in the JSON of `clew index` and `clew info`."""
    keys = ("triples_read", "duplicates", "blank", "skipped", "reasons", "unknown", "unknown_names", "notes")
    return {key: report[key] for key in keys if key in report}


def info_of(index: Index) -> Info:
    """Look through the whole graph of `index` once."""
    graph, about = index.graph, index.manifest.about
    members: list[int] = np.bincount(graph.types.type, minlength=len(graph.types.names)).tolist()
    order = sorted(range(len(members)), key=lambda i: -members[i])
    types = {graph.types.names[i]: members[i] for i in order}
    return Info(
        path=str(index.path),
        clew=index.manifest.clew,
        created=index.manifest.created,
        bytes=index.manifest.bytes,
        counts=graph_counts(graph),
        relations=relations_of(graph),
        types=types,
        embedder=about.embedder,
        sources=about.sources,
        report=about.report,
        vectors=_vectors_of(index),
        corpus=_corpus_of(index),
        updates=about.report.get("updates", ()),
    )


def _vectors_of(index: Index) -> dict[str, str | None]:
    """What searches the vectors of names, and where those of triples are."""
    from clew.index.vectors.entities import ENTITY_SEARCH, IN_MILVUS, TRIPLE_IDS, TRIPLE_VECTORS

    names = "faiss" if ENTITY_SEARCH in index.files else "numpy"
    triples = "files" if TRIPLE_VECTORS in index.sections else None
    return {
        "names": "milvus" if IN_MILVUS in index.sections else names,
        "triples": "milvus" if TRIPLE_IDS in index.sections else triples,
    }


def _corpus_of(index: Index) -> dict[str, Any] | None:
    """Settings of the corpus, what is in it and what its cap cut."""
    from clew.index.corpus import open_corpus, vectors_of

    corpus = open_corpus(index, connect=False)
    if corpus is None:
        return None
    report = asdict(corpus.report())
    details = {"distinct": report.pop("walks"), "model": corpus.model, "vectors": vectors_of(index)}
    return asdict(corpus.settings) | details | report


def relations_of(graph: Graph) -> tuple[RelationInfo, ...]:
    """All relations, those with most triples first."""
    ends = _Ends(graph)
    properties = _properties_by_relation(graph.edge_properties)
    relations: list[RelationInfo] = []
    for relation in np.argsort(-ends.triples, kind="stable").tolist():
        if not ends.triples[relation]:
            continue
        with_head, with_tail = ends.nodes(2 * relation), ends.nodes(2 * relation + 1)
        head, _, tail = graph.triple(int(ends.first_triple[relation]))
        name, label = graph.relations[relation], graph.relation_labels[relation]
        relations.append(
            RelationInfo(
                name=name,
                label=label,
                triples=int(ends.triples[relation]),
                heads=len(with_head),
                tails=len(with_tail),
                example=named_triple(graph, head, relation, tail),
                properties=properties.get(relation, {}),
                head_types=ends.types(2 * relation, with_head),
                tail_types=ends.types(2 * relation + 1, with_tail),
            )
        )
    return tuple(relations)


def _properties_by_relation(edges: EdgeProperties) -> dict[int, dict[str, list[str]]]:
    """Find the properties of edges of each relation, each with its commonest values."""
    relations = np.repeat(edges.triples[:, 1], np.diff(edges.offsets))
    by_relation: dict[int, dict[str, list[str]]] = {}
    for relation, key in distinct_pairs(relations, edges.key).tolist():
        places = np.flatnonzero((relations == relation) & (edges.key == key))[:MOST_READ_VALUES]
        values = Counter(edges.texts[place] for place in places.tolist())
        commonest = [value for value, _ in values.most_common(MOST_SAMPLE_VALUES)]
        by_relation.setdefault(relation, {})[edges.keys[key]] = commonest
    return by_relation


class _Ends:
    """Which nodes have each end: end 2r is a head of relation r, end 2r + 1 a tail.

    `triples` int64 [relations] and `first_triple` (a triple id, -1 without one) are of each relation;
    `_by_side` of out and into are the nodes that have relation r at `places[r]` to `places[r + 1]`.
    """

    def __init__(self, graph: Graph) -> None:
        relations = len(graph.relations)
        self._graph, self._sides = graph, (graph.out, graph.into)
        self.triples, self.first_triple = np.zeros(relations, np.int64), np.full(relations, -1, np.int64)
        self._by_side = [self._list_nodes(side) for side in self._sides]

    def _list_nodes(self, side: Adjacency) -> tuple[Int64, Int32]:
        """The places of relations, and the nodes that have each of them, ascending."""
        relations, parts = len(self.triples), list[tuple[Int64, Int64]]()
        for span in chunks_of(0, self._graph.nodes, NODES_AT_ONCE):
            relation, node, slots = _edges(side, np.arange(*span))
            if side is self._graph.out:
                self.triples += np.bincount(relation, minlength=relations)
            is_new = np.ones(len(slots), np.bool_)
            is_new[1:] = (relation[1:] != relation[:-1]) | (node[1:] != node[:-1])
            relation, node, slots = relation[is_new], node[is_new], slots[is_new]
            if side is self._graph.out:
                distinct, places = np.unique(relation, return_index=True)
                self.first_triple[distinct] = np.where(
                    self.first_triple[distinct] < 0, slots[places], self.first_triple[distinct]
                )
            parts.append((relation, node))
        relation, node = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        # Short integers are sorted by their digits.
        short = relation.astype(np.int16 if relations < 1 << 15 else np.int32)
        order = np.argsort(short, kind="stable")
        return counted_offsets(relation, relations), node[order].astype(np.int32)

    def nodes(self, end: int) -> Int32:
        """Return the distinct nodes that have the end, ascending."""
        relation, side = divmod(end, 2)
        places, nodes = self._by_side[side]
        return nodes[places[relation] : places[relation + 1]]

    def types(self, end: int, nodes: Int32) -> tuple[TypeShare, ...]:
        """Find the most frequent types of `nodes`, which have `end`: the declared ones if there are any."""
        if len(nodes) > MOST_COUNTED_NODES:
            nodes = nodes[np.linspace(0, len(nodes) - 1, MOST_COUNTED_NODES).astype(np.int64)]
        graph = self._graph
        declared = _counts(graph.types.offsets, graph.types.type, nodes, len(graph.types.names))
        if declared.any():
            return _shares(declared, len(nodes), lambda i: graph.types.names[i], declared=True)
        literal = self._literal_types(nodes)
        if literal:
            return literal
        inferred = self._ends_of(nodes)
        inferred[end] = 0
        labels = self._graph.relation_labels

        def end_name(end: int) -> str:
            return f"{'tail' if end % 2 else 'head'} of {labels[end // 2]}"

        return _shares(inferred, len(nodes), end_name, declared=False)

    def _ends_of(self, nodes: Int32) -> Int64:
        """Count how many of some nodes have each end."""
        counts = np.zeros(2 * len(self._graph.relations), np.int64)
        for number, side in enumerate(self._sides):
            relation, node, _ = _edges(side, nodes)
            ends = np.sort(relation * self._graph.nodes + node)
            distinct_ends = (
                ends[np.append(True, ends[1:] != ends[:-1])] // self._graph.nodes if len(ends) else ends
            )
            counts[number::2] = np.bincount(distinct_ends, minlength=len(counts) // 2)
        return counts

    def _literal_types(self, nodes: Int32) -> tuple[TypeShare, ...]:
        """Share datatypes, or kinds of parsed values where the source knows no datatypes."""
        values = self._graph.values
        datatype = values.datatype[nodes]
        if (datatype >= 0).any():
            counts = np.bincount(datatype[datatype >= 0], minlength=len(values.datatypes))
            return _shares(
                counts, len(nodes), lambda i: datatype_in_words(values.datatypes[i]), declared=True
            )
        counts = np.bincount(values.kind[nodes], minlength=len(ValueKind))
        counts[ValueKind.NONE] = 0
        if 2 * counts.sum() < len(nodes):
            return ()
        return _shares(counts, len(nodes), lambda i: VALUE_KINDS[ValueKind(i)], declared=False)


def _edges(side: Adjacency, nodes: Int32 | Int64) -> tuple[Int64, Int64, Int64]:
    """Relation, node and slot of each edge of some nodes; int64 [edges]."""
    lengths = side.stops[nodes] - side.starts[nodes]
    slots = listed_places(side.starts[nodes], lengths)
    return side.relation[slots].astype(np.int64), np.repeat(nodes.astype(np.int64), lengths), slots


def _counts(offsets: Int64, item: Int32, nodes: Int32, items: int) -> Int64:
    """Count how often each item stands in the rows `nodes` of a table of rows: int64 [items]."""
    places = listed_places(offsets[nodes], offsets[nodes + 1] - offsets[nodes])
    return np.bincount(item[places], minlength=items)


def _shares(
    counts: NDArray[np.int64], total: int, name: Callable[[int], str], *, declared: bool
) -> tuple[TypeShare, ...]:
    order = np.argsort(-counts, kind="stable")[:MOST_END_TYPES].tolist()
    shares = [(i, int(counts[i]) / total) for i in order]
    return tuple(TypeShare(name(i), round(s, 4), declared) for i, s in shares if s >= LEAST_TYPE_SHARE)
