"""The corpus of Walk&Retrieve (section 2.1).

Walks as ids, a vector for every walk and node, and their sections.

Walks are said by templates when they are needed, or once by a chat model, whose sentences are stored.
A walk's vector is that of its sentence and of its outline (the root's name and the relations only) together,
since the names that a question does not know say little about it. A node's vector is that of its name and of
its walks together. Vectors are int8 with one scale a row. A corpus is kept in parts: what an update made anew
is a part of its own, and for every root it is known which part holds it. With Milvus, the vectors are there
(`corpus_milvus`) and their ids here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clew.errors import FormatError, UsageError
from clew.graph.graph import Graph, Int32, Int64, Names, UInt16, offsets_of
from clew.graph.growing import grown
from clew.graph.walks import Walker, Walks, WalkSettings, chunks
from clew.index.backends.registry import open_collection
from clew.index.corpus_milvus import NONE, MilvusCorpus
from clew.index.directory import Index
from clew.index.files import Array
from clew.index.vectors import Float32, Int8
from clew.index.walk_vectors import Sayer, WalkEmbedder
from clew.text.embedder import Embedder, unit_rows

CorpusKind = Literal["bfs", "random", "lazy"]
KINDS: tuple[CorpusKind, ...] = ("bfs", "random", "lazy")

SETTINGS, NODES, NODE_SCALES = "corpus.settings", "corpus.nodes.q", "corpus.nodes.scale"
WALK_COLLECTION, NODE_COLLECTION = "milvus.walks", "milvus.nodes"
NODE_SEARCH = "node_search"
CHANGED_NODES, CHANGED_Q, CHANGED_SCALES = "corpus.changed", "corpus.changed.q", "corpus.changed.scale"
DRAWING = 2
"""How walks are drawn; those that an earlier Clew drew otherwise can be read, but not updated."""
ROOTS_AT_ONCE = 2048
ESTIMATED = 500
"""Roots by whose walks the work of a model is estimated."""
OWN_TRIPLES = 12
"""Triples of a node that stand for its walks where none are stored."""


@dataclass(frozen=True, slots=True)
class CorpusSettings:
    """Which walks are stored: those of `walks` (bfs, random), or none but node vectors (lazy)."""

    kind: CorpusKind = "bfs"
    depth: int = 4
    walks: int = 60
    max_walks: int = 60
    directed: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"There is no corpus {self.kind!r}. Choose one of: {', '.join(KINDS)}, none")
        _ = self.walking

    @property
    def walking(self) -> WalkSettings:
        """How walks are made; those of a lazy corpus are breadth-first."""
        kind = "random" if self.kind == "random" else "bfs"
        return WalkSettings(kind, self.depth, self.walks, self.max_walks, self.directed, self.seed)


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
class Part:
    """Walks of some roots with their vectors: `q` int8 [walks, d] times `scale` float32 [walks].

    With Milvus there are `ids` int64 [walks] instead of the vectors. `said` are a model's sentences, if one
    says them, empty where it failed.
    """

    walks: Walks
    q: Int8
    scale: Float32
    ids: Int64 = field(default_factory=lambda: NONE)
    said: Names | None = None

    def rows(self, row: int) -> slice:
        """Where the walks of the root in `row` are."""
        return slice(int(self.walks.offsets[row]), int(self.walks.offsets[row + 1]))


@dataclass(frozen=True, eq=False)
class RootWalks:
    """The walks of one root, with their vectors float32 [walks, d] of length 1, or their `ids` in Milvus.

    `said` are a model's sentences; empty where it has none.
    """

    root: int
    steps: Int32
    nodes: Int32
    counts: UInt16
    vectors: Float32
    ids: Int64 = field(default_factory=lambda: NONE)
    said: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Corpus:
    """A stored corpus; `part_of` int16 and `row_of` int32 [nodes] say where the walks of a root are.

    `nodes` int8 [nodes, d] times `node_scales` float32 [nodes] are the node vectors, unless they are in
    `milvus`. Lazy ones have no parts. `model` says the walks; `drawing` is how they were drawn. `changed`
    int32, ascending, are nodes whose vectors are not those that were `written` whole, nor those of the file
    that searches them.
    """

    settings: CorpusSettings
    parts: tuple[Part, ...]
    part_of: NDArray[np.int16]
    row_of: Int32
    nodes: Int8
    node_scales: Float32
    model: str | None = None
    milvus: MilvusCorpus | None = None
    drawing: int = DRAWING
    changed: Int32 = field(default_factory=lambda: np.zeros(0, np.int32))
    written: tuple[Int8, Float32] | None = None

    def with_nodes(self, roots: Int32, q: Int8, scale: Float32, nodes: int) -> Corpus:
        """Replace the vectors of `roots`, of `nodes` nodes in all; what stays is not read."""
        written = self.written or (self.nodes, self.node_scales)
        all_q, all_scale = grown(written[0], nodes), grown(written[1], nodes)
        for rows, row_q, row_scale in (
            (self.changed, self.nodes[self.changed], self.node_scales[self.changed]),
            (roots, q, scale),
        ):
            all_q[rows], all_scale[rows] = row_q, row_scale
        changed = np.union1d(self.changed, roots).astype(np.int32)
        return replace(self, nodes=all_q, node_scales=all_scale, changed=changed, written=written)

    def with_nodes_whole(self) -> Corpus:
        """The same, whose vectors of nodes are to be written whole."""
        return replace(self, changed=self.changed[:0], written=None)

    def of_root(self, root: int) -> RootWalks | None:
        """Get the stored walks of a root; None where none are stored."""
        if not self.parts:
            return None
        part = self.parts[int(self.part_of[root])]
        at, walks = part.rows(int(self.row_of[root])), part.walks
        vectors = unit_rows(part.q[at].astype(np.float32))
        said = () if part.said is None else tuple(part.said[i] for i in range(at.start, at.stop))
        return RootWalks(
            root, walks.steps[at], walks.nodes[at], walks.counts[at], vectors, part.ids[at], said
        )

    def report(self) -> CorpusReport:
        """Count what is there."""
        states, left, walks, made, unsaid = np.zeros(3, np.int64), 0, 0, 0, 0
        for number, part in enumerate(self.parts):
            rows = self.row_of[self.part_of == number]
            held = part.walks
            states += np.bincount(held.state[rows] + 1, minlength=3)
            left += int(held.left_out[rows].sum())
            walks += int((held.offsets[rows + 1] - held.offsets[rows]).sum())
            made += _sum_of_rows(held, rows)
            if part.said is not None:
                unsaid += int((np.diff(part.said.offsets)[walks_at(held, rows)] == 0).sum())
        undecided, drawn, whole = states.tolist()
        parts = len(self.parts)
        return CorpusReport(len(self.row_of), walks, made, whole, drawn, undecided, left, unsaid, parts)

    def sections(self) -> dict[str, Array | bytes]:
        """Give the sections of an index."""
        told: dict[str, Any] = {**asdict(self.settings), "parts": len(self.parts), "model": self.model}
        told["drawing"] = self.drawing
        q, scale = self.written or (self.nodes, self.node_scales)
        found: dict[str, Array | bytes] = {NODES: q, NODE_SCALES: scale}
        if self.milvus is not None:
            told["milvus"] = {name: getattr(self.milvus, name) for name in _NUMBERS}
            found |= {f"corpus.milvus.{name}": getattr(self.milvus, name) for name in _ARRAYS}
        if len(self.changed):
            found |= {CHANGED_NODES: self.changed, CHANGED_Q: self.nodes[self.changed]}
            found[CHANGED_SCALES] = self.node_scales[self.changed]
        found[SETTINGS] = json.dumps(told).encode()
        for number, part in enumerate(self.parts):
            found |= part_sections(number, part)
        return found


def part_sections(number: int, part: Part) -> dict[str, Array]:
    """Give the sections of one part."""
    name = f"corpus.p{number}"
    arrays: dict[str, Array] = {f"{name}.{f.name}": getattr(part.walks, f.name) for f in fields(Walks)}
    arrays |= {f"{name}.q": part.q, f"{name}.scale": part.scale}
    if len(part.ids):
        arrays[f"{name}.ids"] = part.ids
    if part.said is not None:
        arrays |= {f"{name}.said.blob": part.said.blob, f"{name}.said.offsets": part.said.offsets}
    return arrays


_NUMBERS = ("next_walk", "update", "retired")
_ARRAYS = ("version", "dead_walks", "dead_nodes")


def open_corpus(index: Index, *, writable: bool = False, connect: bool = True) -> Corpus | None:
    """Get the corpus of an index, memory-mapped; None if it has none.

    Without `connect`, vectors that are in Milvus are left there. Raises FormatError, and VectorStoreError if
    Milvus does not answer.
    """
    if SETTINGS not in index.sections:
        return None
    raw = _raw_settings(index)
    try:
        parts, model, numbers = raw.pop("parts"), raw.pop("model", None), raw.pop("milvus", None)
        drawing = raw.pop("drawing", 1)
        settings = CorpusSettings(**raw)
    except (TypeError, KeyError) as error:
        raise FormatError(f"{index.path}: the settings of its corpus are damaged ({error})") from error
    found = tuple(_open_part(index, f"corpus.p{number}") for number in range(parts))
    corpus = Corpus(
        settings,
        found,
        *places_of(found, index.graph.nodes),
        index.array(NODES).astype(np.int8, copy=False),
        index.array(NODE_SCALES).astype(np.float32, copy=False),
        model,
        _open_milvus(index, numbers, writable=writable) if numbers is not None and connect else None,
        drawing,
    )
    if CHANGED_NODES not in index.sections:
        return corpus
    roots: Any = index.array(CHANGED_NODES)
    vectors: tuple[Any, Any] = index.array(CHANGED_Q), index.array(CHANGED_SCALES)
    return corpus.with_nodes(roots, *vectors, index.graph.nodes)


def places_of(parts: Sequence[Part], nodes: int) -> tuple[NDArray[np.int16], Int32]:
    """In which part the walks of each root are, and in which of its rows: the last one that has it.

    The first part has the roots in order, as far as there were any.
    """
    rows = nodes if parts else 0
    part_of, row_of = np.zeros(rows, np.int16), np.arange(rows, dtype=np.int32)
    for number, part in enumerate(parts[1:], 1):
        part_of[part.walks.roots] = number
        row_of[part.walks.roots] = np.arange(len(part.walks.roots))
    return part_of, row_of


def model_of(index: Index) -> str | None:
    """Name the model that says the walks of an index; None without one. Raises FormatError."""
    return _raw_settings(index).get("model") if SETTINGS in index.sections else None


def vectors_of(index: Index) -> str:
    """Name what searches the vectors of nodes: numpy, faiss or milvus."""
    if NODE_COLLECTION in index.files:
        return "milvus"
    return "faiss" if NODE_SEARCH in index.files else "numpy"


def _raw_settings(index: Index) -> dict[str, Any]:
    try:
        return dict(json.loads(index.data(SETTINGS)))
    except (ValueError, TypeError) as error:
        raise FormatError(f"{index.path}: the settings of its corpus are damaged ({error})") from error


def _open_milvus(index: Index, numbers: dict[str, Any], *, writable: bool) -> MilvusCorpus:
    try:
        walks, nodes = (
            open_collection(index.files[name], writable=writable, access=index.access)
            for name in (WALK_COLLECTION, NODE_COLLECTION)
        )
        arrays: dict[str, Any] = {name: index.array(f"corpus.milvus.{name}") for name in _ARRAYS}
        numbers["retired"] = tuple(numbers["retired"])
        return MilvusCorpus(walks, nodes, **arrays, **numbers)
    except (KeyError, TypeError) as error:
        raise FormatError(f"{index.path}: what it says of Milvus is damaged ({error})") from error


def _optional(index: Index, section: str, otherwise: Any) -> Any:  # noqa: ANN401
    return index.array(section) if section in index.sections else otherwise


def _open_part(index: Index, name: str) -> Part:
    arrays: dict[str, Any] = {f.name: index.array(f"{name}.{f.name}") for f in fields(Walks)}
    q: Any = index.array(f"{name}.q")
    scale: Any = index.array(f"{name}.scale")
    blob: Any = _optional(index, f"{name}.said.blob", None)
    said = None if blob is None else Names(blob, _optional(index, f"{name}.said.offsets", None))
    return Part(Walks(**arrays), q, scale, _optional(index, f"{name}.ids", NONE), said)


Progress = Callable[[int], None]


def build_corpus(
    graph: Graph,
    embedder: Embedder,
    settings: CorpusSettings,
    progress: Progress | None = None,
    *,
    sayer: Sayer | None = None,
    milvus: MilvusCorpus | None = None,
) -> Corpus:
    """Walk, verbalise (by `sayer` if there is one) and embed all nodes, into `milvus` if that is given.

    `progress` is called with the number of roots done. Raises EmbedderError, VectorStoreError, and what the
    sayer raises.
    """
    maker = WalkEmbedder(graph, embedder, sayer)
    walker = Walker(graph, settings.walking if settings.kind != "lazy" else own_triples_of(settings))
    if sayer is not None:
        few = np.unique(np.linspace(0, graph.nodes - 1, min(graph.nodes, ESTIMATED)).astype(np.int32))
        sayer.begin(graph, walker.walk(few), graph.nodes)
    parts: list[Part] = []
    rows = 0 if milvus is not None else graph.nodes
    node_q, node_scale = np.empty((rows, embedder.dimension), np.int8), np.empty(rows, np.float32)
    for roots in chunks(graph.nodes, ROOTS_AT_ONCE):
        part = make_part(walker, maker, roots)
        q, scale = maker.node_vectors(part.walks, part.q, part.scale)
        if milvus is None:
            node_q[roots], node_scale[roots] = q, scale
        else:
            milvus.add_nodes(roots, q)
        if settings.kind != "lazy":
            parts.append(part if milvus is None else without_vectors(part, milvus.add_walks(part.q)))
        if progress is not None:
            progress(int(roots[-1]) + 1)
    model = None if sayer is None else sayer.name
    if not parts:
        none = np.empty(0, np.int32)
        return Corpus(settings, (), none.astype(np.int16), none, node_q, node_scale, model, milvus)
    whole = (joined_parts(parts),)
    return Corpus(settings, whole, *places_of(whole, graph.nodes), node_q, node_scale, model, milvus)


def without_vectors(part: Part, ids: Int64) -> Part:
    """Make a part whose vectors are elsewhere, by their ids."""
    return replace(part, q=part.q[:0], scale=part.scale[:0], ids=ids)


def own_triples_of(settings: CorpusSettings) -> WalkSettings:
    """Make the walks that stand for all walks of a node in a lazy corpus: a few of its own triples."""
    return replace(settings.walking, depth=1, max_walks=OWN_TRIPLES)


def make_part(walker: Walker, maker: WalkEmbedder, roots: Int32) -> Part:
    """Walk `roots` and embed their walks."""
    walks = walker.walk(roots)
    owners = root_of_walks(walks)
    said = maker.said(owners.tolist(), walks.steps, walks.nodes)
    q, scale = maker.quantised(owners, walks.steps, walks.nodes, said)
    return Part(walks, q, scale, said=None if said is None else Names.of(said))


def root_of_walks(walks: Walks) -> Int32:
    """Root of each walk: int32 [walks]."""
    return np.repeat(walks.roots, np.diff(walks.offsets))


def joined_parts(parts: Sequence[Part]) -> Part:
    """Put parts of different roots into one, in their order."""
    starts = np.cumsum([0, *(len(p.walks.steps) for p in parts)])
    offsets = [p.walks.offsets[1:] + start for p, start in zip(parts, starts, strict=False)]
    columns = {
        name: np.concatenate([getattr(p.walks, name) for p in parts])
        for name in ("roots", "steps", "nodes", "counts", "state", "left_out")
    }
    walks = Walks(offsets=np.concatenate([np.zeros(1, np.int64), *offsets]), **columns)
    q, scale = np.concatenate([p.q for p in parts]), np.concatenate([p.scale for p in parts])
    return Part(walks, q, scale, np.concatenate([p.ids for p in parts]), _joined_names(parts))


def _joined_names(parts: Sequence[Part]) -> Names | None:
    names = [p.said for p in parts if p.said is not None]
    if not names:
        return None
    starts = np.cumsum([0, *(n.offsets[-1] for n in names)])
    offsets = [n.offsets[1:] + start for n, start in zip(names, starts, strict=False)]
    return Names(np.concatenate([n.blob for n in names]), np.concatenate([np.zeros(1, np.int64), *offsets]))


def part_of_rows(part: Part, rows: Int32 | Int64) -> Part:
    """Keep only the roots in `rows` of a part, in that order; the same part if these are all."""
    if np.array_equal(rows, np.arange(len(part.walks.roots))):
        return part
    at = walks_at(part.walks, rows)
    said = None if part.said is None else Names.of(part.said[i] for i in at.tolist())
    walks = walks_of_rows(part.walks, rows)
    if len(part.ids):
        return Part(walks, part.q, part.scale, part.ids[at], said)
    return Part(walks, part.q[at], part.scale[at], said=said)


def walks_of_rows(walks: Walks, rows: Int32 | Int64) -> Walks:
    """Keep only the roots in `rows`, in that order."""
    at = walks_at(walks, rows)
    offsets = offsets_of(walks.offsets[rows + 1] - walks.offsets[rows])
    return Walks(
        walks.roots[rows], offsets, walks.steps[at], walks.nodes[at], walks.counts[at],
        walks.state[rows], walks.left_out[rows],
    )  # fmt: skip


def walks_at(walks: Walks, rows: Int32 | Int64) -> Int64:
    """Rows of all walks of the roots in `rows`."""
    lengths = walks.offsets[rows + 1] - walks.offsets[rows]
    before = np.cumsum(lengths) - lengths
    return np.repeat(walks.offsets[rows] - before, lengths) + np.arange(int(lengths.sum()))


def _sum_of_rows(walks: Walks, rows: Int32) -> int:
    ends = offsets_of(walks.counts)
    return int((ends[walks.offsets[rows + 1]] - ends[walks.offsets[rows]]).sum())
