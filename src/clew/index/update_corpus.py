"""A corpus after its graph has changed: only walks that differ are embedded again (section 2.1, *Indexing*).

The result equals, root by root, what `build_corpus` makes of the changed graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Graph, Int32, Int64, Names, UInt16
from clew.graph.walks import Walker, Walks
from clew.index.corpus import (
    Corpus,
    Part,
    Sayer,
    WalkEmbedder,
    joined_parts,
    make_part,
    own_triples_of,
    part_of_rows,
    places_of,
    root_of_walks,
    walks_of_rows,
)
from clew.text.embedder import Embedder

EMBEDDED_AT_ONCE = 20_000
MOST_PARTS = 12
"""Beyond so many parts, all but the first are put into one; all, when half of what they hold is old."""


@dataclass(frozen=True, slots=True)
class CorpusChange:
    """What an update of a corpus did: roots walked again, roots whose walks differ, walks embedded again."""

    walked: int
    changed: int
    embedded: int
    compacted: bool


def updated_corpus(
    corpus: Corpus,
    graph: Graph,
    embedder: Embedder,
    changed: Int64,
    *,
    removed: bool,
    sayer: Sayer | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Corpus, CorpusChange]:
    """Update `corpus` to `graph`, in which the edges of the nodes `changed` are not what they were.

    `removed` says that edges went; `sayer` says walks that are new, and those that are not said yet, where a
    model says the corpus. `progress` is called with the walks embedded and to be embedded. Parts that stay
    are those of `corpus`, in their order, unless it was compacted.
    """
    maker = WalkEmbedder.of(graph, embedder, sayer)
    if corpus.milvus is not None:
        corpus.milvus.begin_update(graph.nodes)
    if not corpus.parts:
        return _updated_lazy(corpus, graph, maker, changed)
    walker = Walker(graph, corpus.settings.walking)
    old_nodes = len(corpus.row_of)
    live = [_live(corpus, number) for number in range(len(corpus.parts))]
    held = [(part.walks, rows) for part, rows in zip(corpus.parts, live, strict=True)]
    unsaid = _unsaid(corpus) if sayer is not None else np.zeros(0, np.int32)
    roots = np.union1d(walker.touched(held, changed, removed=removed), unsaid).astype(np.int32)
    walks = walker.walk(roots)
    walks = walks_of_rows(walks, _differing(walks, corpus, unsaid))
    before = _stored(corpus, walks.roots[walks.roots < old_nodes])
    part, fresh = _embedded(walks, maker, before, corpus, progress)
    result = _with_nodes(corpus, maker, part, graph.nodes)
    if corpus.milvus is not None:
        part = replace(part, q=part.q[:0], scale=part.scale[:0])
    result = _with_part(result, part, graph.nodes)
    compact = 2 * _live_walks(result) < _all_walks(result)
    if compact:
        result = compacted(result)
    elif len(result.parts) > MOST_PARTS:
        result = _without_small_parts(result)
    return result, CorpusChange(len(roots), len(walks.roots), fresh, compact)


def compacted(corpus: Corpus) -> Corpus:
    """Put all that is in use into one part, in the order of nodes."""
    if not corpus.parts:
        return corpus
    return _with_parts(corpus, (_stored(corpus, np.arange(len(corpus.row_of), dtype=np.int32)),))


def _without_small_parts(corpus: Corpus) -> Corpus:
    """Put all parts but the first into one."""
    roots = np.flatnonzero(corpus.part_of > 0).astype(np.int32)
    return _with_parts(corpus, (corpus.parts[0], _stored(corpus, roots)))


def _with_parts(corpus: Corpus, parts: tuple[Part, ...]) -> Corpus:
    part_of, row_of = places_of(parts, len(corpus.row_of))
    return replace(corpus, parts=parts, part_of=part_of, row_of=row_of)


def _live(corpus: Corpus, number: int) -> NDArray[np.bool_]:
    """Which roots of a part are not in a later one."""
    found = np.zeros(len(corpus.parts[number].walks.roots), np.bool_)
    found[corpus.row_of[corpus.part_of == number]] = True
    return found


def _live_walks(corpus: Corpus) -> int:
    count = 0
    for number, part in enumerate(corpus.parts):
        rows = corpus.row_of[corpus.part_of == number]
        count += int((part.walks.offsets[rows + 1] - part.walks.offsets[rows]).sum())
    return count


def _stored(corpus: Corpus, roots: Int32) -> Part:
    """Gather what is stored of `roots`, ascending, as one part."""
    parts: list[Part] = []
    for number, part in enumerate(corpus.parts):
        mine = roots[corpus.part_of[roots] == number]
        if len(mine) or not number:
            parts.append(part_of_rows(part, corpus.row_of[mine]))
    joined = joined_parts(parts)
    order = np.argsort(joined.walks.roots, kind="stable")
    return joined if len(parts) == 1 else part_of_rows(joined, order)


def _all_walks(corpus: Corpus) -> int:
    return sum(len(part.walks.steps) for part in corpus.parts)


def _unsaid(corpus: Corpus) -> Int32:
    """Roots with a walk that the model was to say and did not."""
    found: list[Int32] = []
    for number, part in enumerate(corpus.parts):
        if part.said is not None:
            rows = corpus.row_of[corpus.part_of == number]
            lacking = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.diff(part.said.offsets) == 0)])
            ends = part.walks.offsets
            some = lacking[ends[rows + 1]] > lacking[ends[rows]]
            found.append(part.walks.roots[rows[some]])
    return np.concatenate(found) if found else np.zeros(0, np.int32)


def _embedded(
    walks: Walks,
    maker: WalkEmbedder,
    before: Part,
    corpus: Corpus,
    progress: Callable[[int, int], None] | None,
) -> tuple[Part, int]:
    """Embed walks; vectors of those that were there are taken over. Also how many were embedded.

    With Milvus the vectors that are kept stay there, and are made again only for those of the nodes.
    """
    owners = root_of_walks(walks)
    row = _same_walk(before.walks, walks, owners)
    said, row = _said(walks, owners, row, before, maker, corpus)
    new = np.flatnonzero(row < 0)
    kept = np.flatnonzero(row >= 0)
    made = new if corpus.milvus is None else np.arange(len(row))
    q = np.empty((len(row), maker.embedder.dimension), np.int8)
    scale = np.empty(len(row), np.float32)
    if corpus.milvus is None:
        q[kept], scale[kept] = before.q[row[kept]], before.scale[row[kept]]
    for start in range(0, len(made), EMBEDDED_AT_ONCE):
        rows = made[start : start + EMBEDDED_AT_ONCE]
        told = None if said is None else [said[i] for i in rows.tolist()]
        q[rows], scale[rows] = maker.quantised(
            owners[rows].tolist(), walks.steps[rows], walks.nodes[rows], told
        )
        if progress is not None:
            progress(start + len(rows), len(made))
    names = None if said is None else Names.of(said)
    if corpus.milvus is None:
        return Part(walks, q, scale, said=names), len(new)
    ids = np.empty(len(row), np.int64)
    ids[kept], ids[new] = before.ids[row[kept]], corpus.milvus.add_walks(q[new])
    gone = np.setdiff1d(before.ids, ids[kept])
    corpus.milvus.dead_walks = np.concatenate([corpus.milvus.dead_walks, gone])
    return Part(walks, q, scale, ids, names), len(new)


def _said(
    walks: Walks, owners: Int32, row: Int64, before: Part, maker: WalkEmbedder, corpus: Corpus
) -> tuple[list[str] | None, Int64]:
    """Sentences of walks, from before or by the model; `row` is -1 where that gave another one."""
    if corpus.model is None:
        return None, row
    old = before.said
    said = ["" if old is None or at < 0 else old[at] for at in row.tolist()]
    lacking = np.array([i for i, text in enumerate(said) if not text], np.int64)
    told = maker.said(owners[lacking].tolist(), walks.steps[lacking], walks.nodes[lacking])
    row = row.copy()
    for at, text in zip(lacking.tolist(), told or (), strict=bool(told)):
        said[at] = text
        if text:
            row[at] = -1
    return said, row


def _same_walk(before: Walks, walks: Walks, owners: Int32) -> Int64:
    """Find the row of each walk in `before`, -1 where it was not there."""
    if not len(before.steps) or not len(walks.steps):
        return np.full(len(walks.steps), -1, np.int64)
    old_owners = root_of_walks(before)
    old, new = _hashes(old_owners, before), _hashes(owners, walks)
    order = np.argsort(old, kind="stable")
    at = np.minimum(np.searchsorted(old[order], new), len(old) - 1)
    row = order[at]
    same = (old[row] == new) & (old_owners[row] == owners)
    same &= (before.steps[row] == walks.steps).all(axis=1) & (before.nodes[row] == walks.nodes).all(axis=1)
    return np.where(same, row, -1)


def _hashes(owners: Int32, walks: Walks) -> NDArray[np.uint64]:
    from clew.graph.kernels.walks import hash_walks

    found = np.empty(len(owners), np.uint64)
    hash_walks(owners, walks.steps, walks.nodes, found)
    return found


def _differing(walks: Walks, corpus: Corpus, unsaid: Int32) -> Int64:
    """Rows of `walks` (by root) whose walks, their order, counts or state are not those that are stored.

    And those of the roots `unsaid`.
    """
    from clew.graph.kernels.walks import same_walks

    same = np.zeros(len(walks.roots), np.uint8)
    old = np.flatnonzero(walks.roots < len(corpus.row_of))
    numbers = corpus.part_of[walks.roots[old]]
    for number, part in enumerate(corpus.parts):
        mine = old[numbers == number]
        if len(mine):
            same_walks(*_columns(walks), mine, corpus.row_of[walks.roots[mine]], *_columns(part.walks), same)
    same[np.isin(walks.roots, unsaid)] = 0
    return np.flatnonzero(same == 0)


def _columns(walks: Walks) -> tuple[Int64, Int32, Int32, UInt16, NDArray[np.int8], Int64]:
    return walks.offsets, walks.steps, walks.nodes, walks.counts, walks.state, walks.left_out


def _with_part(corpus: Corpus, part: Part, nodes: int) -> Corpus:
    parts = (*corpus.parts, part) if len(part.walks.roots) else corpus.parts
    part_of, row_of = places_of(parts, nodes)
    return replace(corpus, parts=parts, part_of=part_of, row_of=row_of)


def _with_nodes(corpus: Corpus, maker: WalkEmbedder, part: Part, nodes: int) -> Corpus:
    """Replace the vectors of the roots of `part`."""
    roots = part.walks.roots
    made = maker.node_vectors(part.walks, part.q, part.scale) if len(roots) else None
    if corpus.milvus is not None:
        if made is not None:
            corpus.milvus.add_nodes(roots, made[0])
        return corpus
    return corpus if made is None else corpus.with_nodes(roots, *made, nodes)


def _updated_lazy(
    corpus: Corpus, graph: Graph, maker: WalkEmbedder, changed: Int64
) -> tuple[Corpus, CorpusChange]:
    walker = Walker(graph, own_triples_of(corpus.settings))
    part = make_part(walker, maker, changed.astype(np.int32))
    result = _with_nodes(corpus, maker, part, graph.nodes)
    return result, CorpusChange(len(changed), len(changed), len(part.q), compacted=False)
