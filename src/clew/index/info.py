"""What an index holds, for people: counts, relations with examples, and what stands at their ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import AT_ONCE, chunks_of
from clew.foundation.forms import fields_json, frame_of, info_html
from clew.graph.graph import (
    EdgeProperties,
    Graph,
    distinct_pairs,
    listed_places,
    named_triple,
    packed_pairs,
    unpacked_pairs,
)
from clew.graph.schema import Schema
from clew.graph.steps import End, head_end, is_tail, relation_of, tail_end
from clew.graph.values import datatype_in_words
from clew.index.store.directory import EmbedderRecord, Index, SourceRecord
from clew.index.store.sections import graph_counts
from clew.index.store.writing import schema_of_index
from clew.types import TripleText

VALUE_KINDS = ("number", "date")


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
    """A relation: triples, distinct nodes at both ends with types, an example, properties of its edges."""

    name: str
    label: str
    triples: int
    heads: int
    tails: int
    example: TripleText
    properties: Mapping[str, Sequence[str]]
    head_types: tuple[TypeShare, ...]
    tail_types: tuple[TypeShare, ...]

    def as_json(self) -> dict[str, Any]:
        """Its fields, and `example_ids` where the source has ids beside names."""
        form = fields_json(self)
        return form if self.example.ids is None else form | {"example_ids": list(self.example.ids)}


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
        return form | {"report": report_json(self.report)}

    def to_frame(self) -> Any:  # noqa: ANN401 (of pandas or polars)
        """A data frame with a row a relation. Raises MissingExtra without pandas and polars."""
        keys = ("name", "label", "triples", "heads", "tails", "example")
        return frame_of([{key: row[key] for key in keys} for row in self.as_json()["relations"]])

    def __repr__(self) -> str:
        counts = ", ".join(f"{number:,} {noun}" for noun, number in self.counts.items())
        return f"<Info {self.path}: {counts}>"

    def _repr_html_(self) -> str:
        return info_html(self.as_json())


class ReportForm(TypedDict, total=False):
    """What reading the sources gave: counts, the first reasons of lines that were skipped, and notes."""

    triples_read: int
    duplicates: int
    blank: int
    skipped: int
    reasons: list[str]
    unknown: int
    unknown_names: list[str]
    notes: list[str]


def report_json(report: Mapping[str, Any]) -> ReportForm:
    """Pick the parts of a build report that are in the JSON of `clew index` and `clew info`."""
    picked = {key: report[key] for key in ReportForm.__annotations__ if key in report}
    return cast("ReportForm", picked)


def info_of(index: Index) -> Info:
    """Describe what an index holds, with the counts of its schema."""
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
        relations=relations_of(graph, schema_of_index(index)),
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
    from clew.index.corpus import NODE_COLLECTION, NODE_SEARCH, open_corpus

    corpus = open_corpus(index, connect=False)
    if corpus is None:
        return None
    report = asdict(corpus.report())
    vectors = (
        "milvus" if NODE_COLLECTION in index.files else "faiss" if NODE_SEARCH in index.files else "numpy"
    )
    details = {"distinct": report.pop("walks"), "model": corpus.model, "vectors": vectors}
    return asdict(corpus.settings) | details | report


def relations_of(graph: Graph, schema: Schema) -> tuple[RelationInfo, ...]:
    """All relations, those with most triples first."""
    examples = np.full(len(graph.relations), -1, np.int64)  # the first triple of each relation
    for start, stop in reversed(list(chunks_of(0, graph.triples, AT_ONCE))):
        # Of equal places the last value stays.
        examples[graph.out.relation[start:stop][::-1]] = np.arange(stop - 1, start - 1, -1)
    properties, datatypes = _properties_by_relation(graph.edge_properties), _tail_datatypes(graph)
    return tuple(
        RelationInfo(
            name=graph.relations[relation],
            label=graph.relation_labels[relation],
            triples=int(schema.triples[relation]),
            heads=int(schema.nodes[head_end(relation)]),
            tails=int(schema.nodes[tail_end(relation)]),
            example=named_triple(graph, *graph.triple(int(examples[relation]))),
            properties=properties.get(relation, {}),
            head_types=_types(graph, schema, head_end(relation), {}),
            tail_types=_types(graph, schema, tail_end(relation), datatypes.get(relation, {})),
        )
        for relation in np.argsort(-schema.triples, kind="stable").tolist()
        if schema.triples[relation]
    )


def _properties_by_relation(edges: EdgeProperties) -> dict[int, dict[str, list[str]]]:
    """Find the properties of edges of each relation, each with its commonest values."""
    relations = np.repeat(edges.triples[:, 1], np.diff(edges.offsets))
    by_relation: dict[int, dict[str, list[str]]] = {}
    for relation, key in distinct_pairs(relations, edges.key).tolist():
        places = np.flatnonzero((relations == relation) & (edges.key == key))[:1000]
        values = Counter(edges.texts[place] for place in places.tolist())
        commonest = [value for value, _ in values.most_common(3)]
        by_relation.setdefault(relation, {})[edges.keys[key]] = commonest
    return by_relation


def _tail_datatypes(graph: Graph) -> dict[int, dict[str, int]]:
    """How many literals of each datatype are tails of each relation."""
    by_relation: dict[int, dict[str, int]] = {}
    literals = np.flatnonzero(graph.values.datatype >= 0)
    for start, stop in chunks_of(0, len(literals), AT_ONCE):
        nodes = literals[start:stop]
        lengths = graph.into.degrees()[nodes]
        relation = graph.into.relation[listed_places(graph.into.starts[nodes], lengths)]
        datatype = np.repeat(graph.values.datatype[nodes], lengths)
        pairs = packed_pairs(np.repeat(nodes, lengths), relation)
        _, once = np.unique(pairs, return_index=True)
        keys, counts = np.unique(packed_pairs(relation[once], datatype[once]), return_counts=True)
        for (number, type_), count in zip(unpacked_pairs(keys).tolist(), counts.tolist(), strict=True):
            name, of_relation = graph.values.datatypes[type_], by_relation.setdefault(number, {})
            of_relation[name] = of_relation.get(name, 0) + count
    return by_relation


def _types(graph: Graph, schema: Schema, end: End, datatypes: Mapping[str, int]) -> tuple[TypeShare, ...]:
    """The most frequent types of the nodes at an end: declared ones, datatypes, or what else they are."""
    nodes, types = int(schema.nodes[end]), graph.types.names
    if schema.typed[end].any():
        return _shares(schema.typed[end], nodes, types.__getitem__, declared=True)
    if datatypes:
        names = [datatype_in_words(name) for name in datatypes]
        return _shares(np.array(list(datatypes.values())), nodes, names.__getitem__, declared=True)
    values = np.rint(np.array([schema.numbers[end], schema.dates[end]]) * nodes).astype(np.int64)
    if 2 * values.sum() >= nodes:
        return _shares(values, nodes, VALUE_KINDS.__getitem__, declared=False)
    others = schema.together.row(end).copy()
    others[end] = 0

    def name_of(end: End) -> str:
        return f"{'tail' if is_tail(end) else 'head'} of {graph.relation_labels[relation_of(end)]}"

    return _shares(others, nodes, name_of, declared=False)


def _shares(
    counts: NDArray[np.int64], total: int, name: Callable[[int], str], *, declared: bool
) -> tuple[TypeShare, ...]:
    order = np.argsort(-counts, kind="stable")[:3].tolist()
    shares = [(i, int(counts[i]) / total) for i in order]
    return tuple(TypeShare(name(i), round(s, 4), declared) for i, s in shares if s >= 0.05)
