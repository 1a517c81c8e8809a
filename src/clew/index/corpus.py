"""The corpus of Walk&Retrieve (section 2.1).

Walks as ids, a vector for every walk and node, and their sections.

A walk's vector is that of its sentence and of its outline (the root's name and the relations only) together,
since the names that a question does not know say little about it. A node's vector is that of its name and of
its walks together. Vectors are int8 with one scale a row. A corpus is kept in parts: what an update made anew
is a part of its own, and for every root it is known which part holds it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clew.errors import FormatError, UsageError
from clew.graph.graph import Graph, Int32, Int64, UInt16
from clew.graph.walks import Walker, Walks, WalkSettings, chunks
from clew.index.directory import Index
from clew.index.files import Array
from clew.index.vectors import Float32, Int8, quantise
from clew.text.embedder import Embedder, unit_rows
from clew.text.verbalise import Verbaliser

CorpusKind = Literal["bfs", "random", "lazy"]
KINDS: tuple[CorpusKind, ...] = ("bfs", "random", "lazy")

SETTINGS, NODES, NODE_SCALES = "corpus.settings", "corpus.nodes.q", "corpus.nodes.scale"
PART_OF, ROW_OF = "corpus.part", "corpus.row"
ROOTS_AT_ONCE = 2048
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
    many parts it is kept in.
    """

    roots: int
    walks: int
    made: int
    whole: int
    drawn: int
    undecided: int
    triples_left_out: int
    parts: int


@dataclass(frozen=True, eq=False)
class Part:
    """Walks of some roots with their vectors: `q` int8 [walks, d] times `scale` float32 [walks]."""

    walks: Walks
    q: Int8
    scale: Float32

    def rows(self, row: int) -> slice:
        """Where the walks of the root in `row` are."""
        return slice(int(self.walks.offsets[row]), int(self.walks.offsets[row + 1]))


@dataclass(frozen=True, eq=False)
class RootWalks:
    """The walks of one root, with their vectors float32 [walks, d] of length 1."""

    root: int
    steps: Int32
    nodes: Int32
    counts: UInt16
    vectors: Float32


@dataclass(frozen=True, eq=False)
class Corpus:
    """A stored corpus; `part_of` int16 and `row_of` int32 [nodes] say where the walks of a root are.

    `nodes` int8 [nodes, d] times `node_scales` float32 [nodes] are the node vectors. Lazy ones have no parts.
    """

    settings: CorpusSettings
    parts: tuple[Part, ...]
    part_of: NDArray[np.int16]
    row_of: Int32
    nodes: Int8
    node_scales: Float32

    def of_root(self, root: int) -> RootWalks | None:
        """Get the stored walks of a root; None where none are stored."""
        if not self.parts:
            return None
        part = self.parts[int(self.part_of[root])]
        at, walks = part.rows(int(self.row_of[root])), part.walks
        vectors = unit_rows(part.q[at].astype(np.float32))
        return RootWalks(root, walks.steps[at], walks.nodes[at], walks.counts[at], vectors)

    def report(self) -> CorpusReport:
        """Count what is there."""
        states, left, walks, made = np.zeros(3, np.int64), 0, 0, 0
        for number, part in enumerate(self.parts):
            rows = self.row_of[self.part_of == number]
            held = part.walks
            states += np.bincount(held.state[rows] + 1, minlength=3)
            left += int(held.left_out[rows].sum())
            walks += int((held.offsets[rows + 1] - held.offsets[rows]).sum())
            made += _sum_of_rows(held, rows)
        undecided, drawn, whole = states.tolist()
        return CorpusReport(len(self.row_of), walks, made, whole, drawn, undecided, left, len(self.parts))

    def sections(self) -> dict[str, Array | bytes]:
        """Give the sections of an index."""
        settings = json.dumps({**asdict(self.settings), "parts": len(self.parts)})
        found: dict[str, Array | bytes] = {
            SETTINGS: settings.encode(), NODES: self.nodes, NODE_SCALES: self.node_scales
        }  # fmt: skip
        if self.parts:
            found |= {PART_OF: self.part_of, ROW_OF: self.row_of}
        for number, part in enumerate(self.parts):
            found |= part_sections(number, part)
        return found


def part_sections(number: int, part: Part) -> dict[str, Array]:
    """Give the sections of one part."""
    name = f"corpus.p{number}"
    arrays: dict[str, Array] = {f"{name}.{f.name}": getattr(part.walks, f.name) for f in fields(Walks)}
    return arrays | {f"{name}.q": part.q, f"{name}.scale": part.scale}


def open_corpus(index: Index) -> Corpus | None:
    """Get the corpus of an index, memory-mapped; None if it has none. Raises FormatError."""
    if SETTINGS not in index.sections:
        return None
    try:
        raw: dict[str, Any] = json.loads(index.data(SETTINGS))
        parts = raw.pop("parts")
        settings = CorpusSettings(**raw)
    except (ValueError, TypeError, KeyError) as error:
        raise FormatError(f"{index.path}: the settings of its corpus are damaged ({error})") from error
    found = tuple(_open_part(index, f"corpus.p{number}") for number in range(parts))
    none = np.empty(0, np.int32)
    return Corpus(
        settings,
        found,
        index.array(PART_OF).astype(np.int16, copy=False) if parts else none.astype(np.int16),
        index.array(ROW_OF).astype(np.int32, copy=False) if parts else none,
        index.array(NODES).astype(np.int8, copy=False),
        index.array(NODE_SCALES).astype(np.float32, copy=False),
    )


def _open_part(index: Index, name: str) -> Part:
    arrays: dict[str, Any] = {f.name: index.array(f"{name}.{f.name}") for f in fields(Walks)}
    q: Any = index.array(f"{name}.q")
    scale: Any = index.array(f"{name}.scale")
    return Part(Walks(**arrays), q, scale)


@dataclass(frozen=True, eq=False)
class WalkEmbedder:
    """Turns walks into vectors: verbalise, then embed."""

    verbaliser: Verbaliser
    embedder: Embedder

    @classmethod
    def of(cls, graph: Graph, embedder: Embedder) -> WalkEmbedder:
        """Say walks by templates."""
        return cls(Verbaliser(graph), embedder)

    def vectors(self, roots: Sequence[int], steps: Int32, nodes: Int32) -> Float32:
        """Embed the walks `steps`, `nodes` [walks, depth] of `roots` [walks]: float32 [walks, d]."""
        step_rows: list[list[int]] = steps.tolist()
        node_rows: list[list[int]] = nodes.tolist()
        said = [
            self.verbaliser.sentence(root, s, n)
            for root, s, n in zip(roots, step_rows, node_rows, strict=True)
        ]
        outlines: dict[tuple[int, ...], int] = {}
        place = [
            outlines.setdefault((root, *s), len(outlines)) for root, s in zip(roots, step_rows, strict=True)
        ]
        outlined = self.embedder.embed([self.verbaliser.outline(key[0], key[1:]) for key in outlines])
        return unit_rows(self.embedder.embed(said) + outlined[place])

    def quantised(self, roots: Sequence[int], steps: Int32, nodes: Int32) -> tuple[Int8, Float32]:
        """Embed as `vectors`, rounded as they are stored."""
        return quantise(self.vectors(roots, steps, nodes))

    def node_vectors(self, walks: Walks, q: Int8, scale: Float32) -> tuple[Int8, Float32]:
        """Vectors of the roots of `walks`, from their names and walks together, each as often as made."""
        from clew.graph.kernels.walks import weighted_sums

        names = self.embedder.embed([self.verbaliser.name(root) for root in walks.roots.tolist()])
        sums = np.empty_like(names)
        weighted_sums(q, scale, walks.counts, walks.offsets, sums)
        return quantise(unit_rows(names + unit_rows(sums)))


Progress = Callable[[int], None]


def build_corpus(
    graph: Graph, embedder: Embedder, settings: CorpusSettings, progress: Progress | None = None
) -> Corpus:
    """Walk, verbalise and embed all nodes; `progress` is called with the number of roots done."""
    maker = WalkEmbedder.of(graph, embedder)
    walker = Walker(graph, settings.walking if settings.kind != "lazy" else own_triples_of(settings))
    parts: list[Part] = []
    node_q = np.empty((graph.nodes, embedder.dimension), np.int8)
    node_scale = np.empty(graph.nodes, np.float32)
    for roots in chunks(graph.nodes, ROOTS_AT_ONCE):
        part = make_part(walker, maker, roots)
        node_q[roots], node_scale[roots] = maker.node_vectors(part.walks, part.q, part.scale)
        if settings.kind != "lazy":
            parts.append(part)
        if progress is not None:
            progress(int(roots[-1]) + 1)
    if not parts:
        none = np.empty(0, np.int32)
        return Corpus(settings, (), none.astype(np.int16), none, node_q, node_scale)
    rows = np.arange(graph.nodes, dtype=np.int32)
    return Corpus(settings, (joined_parts(parts),), np.zeros(graph.nodes, np.int16), rows, node_q, node_scale)


def own_triples_of(settings: CorpusSettings) -> WalkSettings:
    """Make the walks that stand for all walks of a node in a lazy corpus: a few of its own triples."""
    return replace(settings.walking, depth=1, max_walks=OWN_TRIPLES)


def make_part(walker: Walker, maker: WalkEmbedder, roots: Int32) -> Part:
    """Walk `roots` and embed their walks."""
    walks = walker.walk(roots)
    return Part(walks, *maker.quantised(root_of_walks(walks).tolist(), walks.steps, walks.nodes))


def root_of_walks(walks: Walks) -> Int32:
    """Root of each walk: int32 [walks]."""
    return np.repeat(walks.roots, np.diff(walks.offsets))


def joined_parts(parts: Sequence[Part]) -> Part:
    """Put parts of different roots into one, in their order."""
    starts = np.cumsum([0, *(len(p.q) for p in parts)])
    offsets = [p.walks.offsets[1:] + start for p, start in zip(parts, starts, strict=False)]
    columns = {
        name: np.concatenate([getattr(p.walks, name) for p in parts])
        for name in ("roots", "steps", "nodes", "counts", "state", "left_out")
    }
    walks = Walks(offsets=np.concatenate([np.zeros(1, np.int64), *offsets]), **columns)
    return Part(walks, np.concatenate([p.q for p in parts]), np.concatenate([p.scale for p in parts]))


def part_of_rows(part: Part, rows: Int32 | Int64) -> Part:
    """Keep only the roots in `rows` of a part, in that order."""
    at = _walks_at(part.walks, rows)
    return Part(walks_of_rows(part.walks, rows), part.q[at], part.scale[at])


def walks_of_rows(walks: Walks, rows: Int32 | Int64) -> Walks:
    """Keep only the roots in `rows`, in that order."""
    at = _walks_at(walks, rows)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(walks.offsets[rows + 1] - walks.offsets[rows], out=offsets[1:])
    return Walks(
        walks.roots[rows], offsets, walks.steps[at], walks.nodes[at], walks.counts[at],
        walks.state[rows], walks.left_out[rows],
    )  # fmt: skip


def _walks_at(walks: Walks, rows: Int32 | Int64) -> Int64:
    """Rows of all walks of the roots in `rows`."""
    lengths = walks.offsets[rows + 1] - walks.offsets[rows]
    before = np.cumsum(lengths) - lengths
    return np.repeat(walks.offsets[rows] - before, lengths) + np.arange(int(lengths.sum()))


def _sum_of_rows(walks: Walks, rows: Int32) -> int:
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(walks.counts, dtype=np.int64)])
    return int((ends[walks.offsets[rows + 1]] - ends[walks.offsets[rows]]).sum())
