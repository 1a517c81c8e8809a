"""The corpus of Walk&Retrieve (section 2.1): walks as ids, a vector for every walk and node, their sections.

Walks are said by templates when they are needed, or once by a chat model, whose sentences are stored.
A walk's vector is that of its sentence and of its outline (the root's name and the relations only) together,
since the names that a question does not know say little about it. A node's vector is that of its name and of
its walks together. Plain ones, the paper's, are of sentences alone. Vectors are int8 with one scale a row. A
corpus is kept in parts: what an update made anew is a part of its own, and for every root it is known which
part holds it. With Milvus, the vectors are there (`corpus_milvus`) and their ids here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clew.errors import FormatError, UsageError
from clew.foundation.arrays import AnyArray, Float32, Int8, Int32, Int64, UInt16
from clew.graph.walks.walks import WalkSettings
from clew.index.corpus.corpus_milvus import MilvusCorpus
from clew.index.corpus.corpus_parts import CorpusPart, open_part, part_sections, places_of, walks_at
from clew.index.store.directory import Index
from clew.index.vectors.backends.registry import open_collection
from clew.index.vectors.in_milvus import NONE
from clew.text.embedder import unit_rows

CorpusKind = Literal["bfs", "random", "lazy"]
WALK_KINDS: tuple[CorpusKind, ...] = ("bfs", "random", "lazy")

CORPUS_SETTINGS, CORPUS_NODES, NODE_SCALES = "corpus.settings", "corpus.nodes.q", "corpus.nodes.scale"
WALK_COLLECTION, NODE_COLLECTION = "milvus.walks", "milvus.nodes"
NODE_SEARCH = "node_search"
CHANGED_NODES = "corpus.changed"
WALK_VERSION = 3
"""How walks are drawn; those that an earlier Clew drew otherwise can be read, but not updated."""
OWN_TRIPLES = 12
"""Triples of a node that stand for its walks where none are stored."""


@dataclass(frozen=True, slots=True)
class CorpusSettings:
    """Which walks are stored: those of `walks` (bfs, random), or none but node vectors (lazy).

    Vectors of walks and nodes that are `plain` are of sentences alone (section 2.1). Raises UsageError for
    values out of range.
    """

    kind: CorpusKind = "bfs"
    depth: int = 4
    walks: int = 60
    max_walks: int = 60
    directed: bool = False
    seed: int = 0
    plain: bool = False

    def __post_init__(self) -> None:
        if self.kind not in WALK_KINDS:
            raise UsageError(
                f"There is no corpus {self.kind!r}. Choose one of: {', '.join(WALK_KINDS)}, none"
            )
        if self.plain and self.kind == "lazy":
            raise UsageError("--plain-vectors are of walks that are stored: make the corpus bfs or random")
        _ = self.walking

    @property
    def walking(self) -> WalkSettings:
        """How walks are made; those of a lazy corpus are breadth-first."""
        kind = "random" if self.kind == "random" else "bfs"
        return WalkSettings(kind, self.depth, self.walks, self.max_walks, self.directed, self.seed)

    @property
    def own_triples(self) -> WalkSettings:
        """How the walks are made that stand for all walks of a node in a lazy corpus: a few own triples."""
        return replace(self.walking, depth=1, max_walks=OWN_TRIPLES)


@dataclass(frozen=True, slots=True)
class CorpusReport:
    """What is in a corpus.

    `whole`, `drawn` and `undecided` roots as by `Walks.state`, the own triples that the cap left out, and how
    many parts it is kept in. `unsaid` walks are those that a model was to say and did not: templates say
    them.
    """

    roots: int
    walks: int
    made: int
    whole: int
    drawn: int
    undecided: int
    triples_left_out: int
    unsaid: int
    parts: int


@dataclass(frozen=True, eq=False)
class RootWalks:
    """The walks of one root, with their vectors float32 [walks, d] of length 1, or their `ids` in Milvus.

    `sentences` are a model's; empty where it has none.
    """

    root: int
    steps: Int32
    nodes: Int32
    counts: UInt16
    vectors: Float32
    ids: Int64 = field(default_factory=lambda: NONE)
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Corpus:
    """A stored corpus; `part_of` int16 and `row_of` int32 [nodes] say where the walks of a root are.

    `nodes` int8 [nodes, d] times `node_scales` float32 [nodes] are the node vectors, unless they are in
    `milvus`. Lazy ones have no parts. `model` says the walks; `drawing` is how they were drawn. `changed`
    int32, ascending, are nodes whose vectors are not those of the file that searches them, if there is one.
    """

    settings: CorpusSettings
    parts: tuple[CorpusPart, ...]
    part_of: NDArray[np.int16]
    row_of: Int32
    nodes: Int8
    node_scales: Float32
    model: str | None = None
    milvus: MilvusCorpus | None = None
    drawing: int = WALK_VERSION
    changed: Int32 = field(default_factory=lambda: np.zeros(0, np.int32))

    def with_nodes(self, roots: Int32, q: Int8, scale: Float32, nodes: int) -> Corpus:
        """Replace the vectors of `roots`, of `nodes` nodes in all."""
        all_q, all_scale = np.empty((nodes, q.shape[1]), np.int8), np.empty(nodes, np.float32)
        all_q[: len(self.nodes)], all_scale[: len(self.nodes)] = self.nodes, self.node_scales
        all_q[roots], all_scale[roots] = q, scale
        changed = np.union1d(self.changed, roots).astype(np.int32)
        return replace(self, nodes=all_q, node_scales=all_scale, changed=changed)

    def of_root(self, root: int) -> RootWalks | None:
        """Get the stored walks of a root; None where none are stored."""
        if not self.parts:
            return None
        part = self.parts[int(self.part_of[root])]
        span, walks = part.rows(int(self.row_of[root])), part.walks
        vectors = unit_rows(part.q[span].astype(np.float32))
        sentences = (
            () if part.sentences is None else tuple(part.sentences[i] for i in range(span.start, span.stop))
        )
        steps, nodes = walks.steps[span], walks.nodes[span]
        return RootWalks(root, steps, nodes, walks.counts[span], vectors, part.ids[span], sentences)

    def parts_in_use(self, roots: Int32 | None = None) -> Iterator[tuple[CorpusPart, Int32]]:
        """Each part, with its rows that no later part has anew: of all roots, or of some, in their order."""
        for number, part in enumerate(self.parts):
            if roots is None:
                yield part, self.row_of[self.part_of == number]
            else:
                yield part, self.row_of[roots[self.part_of[roots] == number]]

    def with_parts(self, parts: Sequence[CorpusPart], nodes: int) -> Corpus:
        """The same with other parts, which have the walks of so many nodes."""
        part_of, row_of = places_of(parts, nodes)
        return replace(self, parts=tuple(parts), part_of=part_of, row_of=row_of)

    def report(self) -> CorpusReport:
        """Count what is there."""
        states, left_out, walks, walks_made, unsaid = np.zeros(3, np.int64), 0, 0, 0, 0
        for part, rows in self.parts_in_use():
            part_walks, places = part.walks, walks_at(part.walks, rows)
            states += np.bincount(part_walks.state[rows] + 1, minlength=3)
            left_out += int(part_walks.left_out[rows].sum())
            walks += len(places)
            walks_made += int(part_walks.counts[places].sum())
            if part.sentences is not None:
                unsaid += int((np.diff(part.sentences.offsets)[places] == 0).sum())
        undecided, drawn, whole = states.tolist()
        parts = len(self.parts)
        return CorpusReport(
            len(self.row_of), walks, walks_made, whole, drawn, undecided, left_out, unsaid, parts
        )

    def sections(self) -> dict[str, AnyArray | bytes]:
        """Give the sections of an index."""
        settings: dict[str, Any] = {**asdict(self.settings), "parts": len(self.parts), "model": self.model}
        settings["drawing"] = self.drawing
        sections: dict[str, AnyArray | bytes] = {CORPUS_NODES: self.nodes, NODE_SCALES: self.node_scales}
        if self.milvus is not None:
            settings["milvus"] = {name: getattr(self.milvus, name) for name in _NUMBERS}
            sections |= {f"corpus.milvus.{name}": getattr(self.milvus, name) for name in _ARRAYS}
        if len(self.changed):
            sections[CHANGED_NODES] = self.changed
        sections[CORPUS_SETTINGS] = json.dumps(settings).encode()
        for number, part in enumerate(self.parts):
            sections |= part_sections(number, part)
        return sections


_NUMBERS = ("next_walk", "update")
_ARRAYS = ("version", "dead_walks", "dead_nodes")


def open_corpus(index: Index, *, writable: bool = False, connect: bool = True) -> Corpus | None:
    """Get the corpus of an index, memory-mapped; None if it has none.

    Without `connect`, vectors that are in Milvus are left there. Raises FormatError, and VectorStoreError if
    Milvus does not answer.
    """
    if CORPUS_SETTINGS not in index.sections:
        return None
    raw = _raw_settings(index)
    try:
        part_count, model, numbers = raw.pop("parts"), raw.pop("model", None), raw.pop("milvus", None)
        drawing = raw.pop("drawing", 1)
        settings = CorpusSettings(**raw)
    except (TypeError, KeyError) as error:
        raise FormatError(f"{index.path}: the settings of its corpus are damaged ({error})") from error
    opened_parts = tuple(open_part(index, f"corpus.p{number}") for number in range(part_count))
    changed: Any = index.sections.get(CHANGED_NODES, np.zeros(0, np.int32))
    return Corpus(
        settings,
        opened_parts,
        *places_of(opened_parts, index.graph.nodes),
        *index.vectors(CORPUS_NODES, NODE_SCALES),
        model,
        _open_milvus(index, numbers, writable=writable) if numbers is not None and connect else None,
        drawing,
        changed,
    )


def model_of(index: Index) -> str | None:
    """Name the model that says the walks of an index; None without one. Raises FormatError."""
    return _raw_settings(index).get("model") if CORPUS_SETTINGS in index.sections else None


def vectors_of(index: Index) -> str:
    """Name what searches the vectors of nodes: numpy, faiss or milvus."""
    if NODE_COLLECTION in index.files:
        return "milvus"
    return "faiss" if NODE_SEARCH in index.files else "numpy"


def _raw_settings(index: Index) -> dict[str, Any]:
    try:
        return dict(json.loads(index.data(CORPUS_SETTINGS)))
    except (ValueError, TypeError) as error:
        raise FormatError(f"{index.path}: the settings of its corpus are damaged ({error})") from error


def _open_milvus(index: Index, numbers: dict[str, Any], *, writable: bool) -> MilvusCorpus:
    try:
        walks, nodes = (
            open_collection(index.files[name], writable=writable, access=index.access)
            for name in (WALK_COLLECTION, NODE_COLLECTION)
        )
        arrays: dict[str, Any] = {name: index.array(f"corpus.milvus.{name}") for name in _ARRAYS}
        counts: dict[str, Any] = {name: numbers[name] for name in _NUMBERS}
        return MilvusCorpus(walks, nodes, **arrays, **counts)
    except (KeyError, TypeError) as error:
        raise FormatError(f"{index.path}: what it says of Milvus is damaged ({error})") from error
