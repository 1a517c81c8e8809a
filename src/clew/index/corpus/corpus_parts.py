"""Parts of a corpus: the walks of some roots with their vectors; made, stored, joined and cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import AnyArray, Float32, Int8, Int32, Int64
from clew.graph.graph import Names, listed_places, offsets_of
from clew.graph.walks.walks import Walker, Walks, joined_walks
from clew.index.corpus.walk_vectors import WalkEmbedder
from clew.index.store.directory import Index
from clew.index.vectors.in_milvus import NONE


@dataclass(frozen=True, eq=False)
class CorpusPart:
    """Walks of some roots with their vectors: `q` int8 [walks, d] times `scale` float32 [walks].

    With Milvus there are `ids` int64 [walks] instead of the vectors. `sentences` are a model's, if one says
    them, empty where it failed.
    """

    walks: Walks
    q: Int8
    scale: Float32
    ids: Int64 = field(default_factory=lambda: NONE)
    sentences: Names | None = None

    def rows(self, row: int) -> slice:
        """Where the walks of the root in `row` are."""
        return slice(int(self.walks.offsets[row]), int(self.walks.offsets[row + 1]))


def make_part(walker: Walker, maker: WalkEmbedder, roots: Int32) -> CorpusPart:
    """Walk `roots` and embed their walks."""
    walks = walker.walk(roots)
    owners = root_of_walks(walks)
    sentences = maker.say(owners.tolist(), walks.steps, walks.nodes)
    q, scale = maker.quantised(owners, walks.steps, walks.nodes, sentences)
    return CorpusPart(walks, q, scale, sentences=None if sentences is None else Names.of(sentences))


def without_vectors(part: CorpusPart, ids: Int64) -> CorpusPart:
    """Make a part whose vectors are elsewhere, by their ids."""
    return replace(part, q=part.q[:0], scale=part.scale[:0], ids=ids)


def part_sections(number: int, part: CorpusPart) -> dict[str, AnyArray]:
    """Give the sections of one part."""
    name = f"corpus.p{number}"
    arrays: dict[str, AnyArray] = {f"{name}.{key}": array for key, array in part.walks._asdict().items()}
    arrays |= {f"{name}.q": part.q, f"{name}.scale": part.scale}
    if len(part.ids):
        arrays[f"{name}.ids"] = part.ids
    if part.sentences is not None:
        arrays |= {f"{name}.said.blob": part.sentences.blob, f"{name}.said.offsets": part.sentences.offsets}
    return arrays


def open_part(index: Index, name: str) -> CorpusPart:
    """Open the part whose sections begin with `name`, memory-mapped."""
    arrays: dict[str, Any] = {key: index.array(f"{name}.{key}") for key in Walks._fields}
    vectors: dict[str, Any] = {kind: index.array(f"{name}.{kind}") for kind in ("q", "scale")}
    ids: Any = index.sections.get(f"{name}.ids", NONE)
    sentence_arrays: Any = [index.sections.get(f"{name}.said.{kind}") for kind in ("blob", "offsets")]
    return CorpusPart(
        Walks(**arrays),
        **vectors,
        ids=ids,
        sentences=None if sentence_arrays[0] is None else Names(*sentence_arrays),
    )


def places_of(parts: Sequence[CorpusPart], nodes: int) -> tuple[NDArray[np.int16], Int32]:
    """(part, row) of the walks of each root, the last that has it; the first part has the roots in order."""
    rows = nodes if parts else 0
    part_of, row_of = np.zeros(rows, np.int16), np.arange(rows, dtype=np.int32)
    for number, part in enumerate(parts[1:], 1):
        part_of[part.walks.roots] = number
        row_of[part.walks.roots] = np.arange(len(part.walks.roots))
    return part_of, row_of


def root_of_walks(walks: Walks) -> Int32:
    """Root of each walk: int32 [walks]."""
    return np.repeat(walks.roots, np.diff(walks.offsets))


def joined_parts(parts: Sequence[CorpusPart]) -> CorpusPart:
    """Put parts of different roots into one, in their order."""
    walks = joined_walks([p.walks for p in parts])
    q, scale = np.concatenate([p.q for p in parts]), np.concatenate([p.scale for p in parts])
    return CorpusPart(walks, q, scale, np.concatenate([p.ids for p in parts]), _joined_names(parts))


def _joined_names(parts: Sequence[CorpusPart]) -> Names | None:
    names = [p.sentences for p in parts if p.sentences is not None]
    if not names:
        return None
    lengths = np.concatenate([np.diff(n.offsets) for n in names])
    return Names(np.concatenate([n.blob for n in names]), offsets_of(lengths))


def part_of_rows(part: CorpusPart, rows: Int32 | Int64) -> CorpusPart:
    """Keep only the roots in `rows` of a part, in that order; the same part if these are all."""
    if np.array_equal(rows, np.arange(len(part.walks.roots))):
        return part
    places = walks_at(part.walks, rows)
    sentences = None if part.sentences is None else Names.of(part.sentences[i] for i in places.tolist())
    walks = walks_of_rows(part.walks, rows)
    if len(part.ids):
        return CorpusPart(walks, part.q, part.scale, part.ids[places], sentences)
    return CorpusPart(walks, part.q[places], part.scale[places], sentences=sentences)


def walks_of_rows(walks: Walks, rows: Int32 | Int64) -> Walks:
    """Keep only the roots in `rows`, in that order."""
    places = walks_at(walks, rows)
    offsets = offsets_of(walks.offsets[rows + 1] - walks.offsets[rows])
    return Walks(
        walks.roots[rows], offsets, walks.steps[places], walks.nodes[places], walks.counts[places],
        walks.state[rows], walks.left_out[rows],
    )  # fmt: skip


def walks_at(walks: Walks, rows: Int32 | Int64) -> Int64:
    """Rows of all walks of the roots in `rows`."""
    return listed_places(walks.offsets[rows], walks.offsets[rows + 1] - walks.offsets[rows])
