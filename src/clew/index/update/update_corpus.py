"""A corpus after its graph has changed: only walks that differ are embedded again (section 2.1, *Indexing*).

The result equals, root by root, what `build_corpus` makes of the changed graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Int32, Int64
from clew.graph.edit.edit import GraphEdit
from clew.graph.graph import Graph, Names
from clew.graph.walks.changed_roots import StoredWalks, changed_roots
from clew.graph.walks.walks import Walker, Walks
from clew.index.corpus.corpus import Corpus
from clew.index.corpus.corpus_parts import (
    CorpusPart,
    joined_parts,
    make_part,
    part_of_rows,
    root_of_walks,
    walks_at,
    walks_of_rows,
)
from clew.index.corpus.walk_vectors import Verbaliser, WalkEmbedder
from clew.index.store.delta import KeptApart
from clew.text.embedder import Embedder

EMBEDDED_AT_ONCE = 20_000


@dataclass(frozen=True, eq=False)
class EditedGraph:
    """A graph `before` and `after` an edit."""

    before: Graph
    after: Graph
    edit: GraphEdit


@dataclass(frozen=True, slots=True)
class CorpusChange:
    """What an update of a corpus did: roots walked again, roots whose walks differ, walks embedded again."""

    walked: int
    changed: int
    embedded: int
    compacted: bool


def updated_corpus(
    corpus: Corpus,
    graphs: EditedGraph,
    embedder: Embedder,
    *,
    verbaliser: Verbaliser | None = None,
    most_parts: int = KeptApart.corpus_parts,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Corpus, CorpusChange]:
    """Update the `corpus` of a graph to what was made of that.

    `verbaliser` says walks that are new, and those that are not said yet, where a model says the corpus.
    `progress` is called with the walks embedded and to be embedded. Parts that stay are those of `corpus`, in
    their order, unless it was compacted.
    """
    graph = graphs.after
    maker = WalkEmbedder(graph, embedder, verbaliser, plain=corpus.settings.plain)
    if corpus.milvus is not None:
        corpus.milvus.begin_update(graph.nodes)
    if not corpus.parts:
        return _updated_lazy(corpus, graphs, maker)
    walker = Walker(graph, corpus.settings.walking)
    held = [_live(part, rows) for part, rows in corpus.used()]
    unsaid = _unsaid(corpus) if verbaliser is not None else np.zeros(0, np.int32)
    roots = np.union1d(changed_roots(graphs.before, graphs.edit, walker, held), unsaid).astype(np.int32)
    walks, old = _differing(walker.walk(roots), corpus, unsaid)
    part, fresh = _embedded(walks, maker, old, corpus, progress)
    result = _with_nodes(corpus, maker, part, graph.nodes)
    if corpus.milvus is not None:
        part = replace(part, q=part.q[:0], scale=part.scale[:0])
    result = result.with_parts([*corpus.parts, *([part] if len(walks.roots) else [])], graph.nodes)
    compact = 2 * result.report().walks < sum(len(one.walks.steps) for one in result.parts)
    if compact:
        result = compacted(result)
    elif len(result.parts) > most_parts:
        small = _stored(result, np.flatnonzero(result.part_of > 0).astype(np.int32))
        result = result.with_parts([result.parts[0], small], graph.nodes)
    return result, CorpusChange(len(roots), len(walks.roots), fresh, compact)


def compacted(corpus: Corpus) -> Corpus:
    """Put all that is in use into one part, in the order of nodes."""
    if not corpus.parts:
        return corpus
    nodes = len(corpus.row_of)
    return corpus.with_parts([_stored(corpus, np.arange(nodes, dtype=np.int32))], nodes)


def _stored(corpus: Corpus, roots: Int32) -> CorpusPart:
    """Gather what is stored of `roots`, ascending, as one part."""
    held = [part_of_rows(part, rows) for part, rows in corpus.used(roots) if len(rows)]
    joined = held[0] if len(held) == 1 else joined_parts(held)
    return part_of_rows(joined, np.argsort(joined.walks.roots, kind="stable"))


def _live(part: CorpusPart, rows: Int32) -> StoredWalks:
    """The walks of a part, of which some rows are in use."""
    live = np.zeros(len(part.walks.roots), np.bool_)
    live[rows] = True
    return StoredWalks(part.walks, live)


def _unsaid(corpus: Corpus) -> Int32:
    """Roots with a walk that the model was to say and did not."""
    found: list[Int32] = []
    for part, rows in corpus.used():
        if part.said is not None:
            lacking = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.diff(part.said.offsets) == 0)])
            ends = part.walks.offsets
            some = lacking[ends[rows + 1]] > lacking[ends[rows]]
            found.append(part.walks.roots[rows[some]])
    return np.concatenate(found) if found else np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class _Before:
    """Where walks were stored: `part` int16 and `row` int64 [walks], which is -1 for new ones.

    `ids` are those that the vectors of all walks of their roots had in Milvus.
    """

    part: NDArray[np.int16]
    row: Int64
    ids: Int64

    def there(self, number: int) -> tuple[Int64, Int64]:
        """Walks that were in a part, and their rows in it."""
        at = np.flatnonzero((self.part == number) & (self.row >= 0))
        return at, self.row[at]


def _embedded(
    walks: Walks,
    maker: WalkEmbedder,
    old: _Before,
    corpus: Corpus,
    progress: Callable[[int, int], None] | None,
) -> tuple[CorpusPart, int]:
    """Embed walks; vectors of those that were there are taken over. Also how many were embedded.

    With Milvus the vectors that are kept stay there, and are made again only for those of the nodes.
    """
    owners = root_of_walks(walks)
    said, old = _said(walks, owners, old, maker, corpus)
    new = np.flatnonzero(old.row < 0)
    made = new if corpus.milvus is None else np.arange(len(old.row))
    q = np.empty((len(old.row), maker.embedder.dimension), np.int8)
    scale = np.empty(len(old.row), np.float32)
    if corpus.milvus is None:
        for number, part in enumerate(corpus.parts):
            at, rows = old.there(number)
            q[at], scale[at] = part.q[rows], part.scale[rows]
    for start in range(0, len(made), EMBEDDED_AT_ONCE):
        rows = made[start : start + EMBEDDED_AT_ONCE]
        told = None if said is None else [said[i] for i in rows.tolist()]
        q[rows], scale[rows] = maker.quantised(owners[rows], walks.steps[rows], walks.nodes[rows], told)
        if progress is not None:
            progress(start + len(rows), len(made))
    names = None if said is None else Names.of(said)
    if corpus.milvus is None:
        return CorpusPart(walks, q, scale, said=names), len(new)
    ids = np.full(len(old.row), -1, np.int64)
    for number, part in enumerate(corpus.parts):
        at, rows = old.there(number)
        ids[at] = part.ids[rows]
    gone = np.setdiff1d(old.ids, ids)
    ids[new] = corpus.milvus.add_walks(q[new])
    corpus.milvus.dead_walks = np.concatenate([corpus.milvus.dead_walks, gone])
    return CorpusPart(walks, q, scale, ids, names), len(new)


def _said(
    walks: Walks, owners: Int32, old: _Before, maker: WalkEmbedder, corpus: Corpus
) -> tuple[list[str] | None, _Before]:
    """Sentences of walks, from before or by the model; where that gave another one, a walk is new."""
    if corpus.model is None:
        return None, old
    said = [""] * len(owners)
    for number, part in enumerate(corpus.parts):
        if part.said is not None:
            for at, row in zip(*(a.tolist() for a in old.there(number)), strict=True):
                said[at] = part.said[row]
    lacking = np.array([i for i, text in enumerate(said) if not text], np.int64)
    told = maker.said(owners[lacking].tolist(), walks.steps[lacking], walks.nodes[lacking])
    row = old.row.copy()
    for at, text in zip(lacking.tolist(), told or (), strict=bool(told)):
        said[at] = text
        if text:
            row[at] = -1
    return said, replace(old, row=row)


def _differing(walks: Walks, corpus: Corpus, unsaid: Int32) -> tuple[Walks, _Before]:
    """Walks of `unsaid` roots, and where they, their order, counts or state differ; and where each was."""
    from clew.graph.walks.kernels.equal_walks import match_walks

    same, row = np.zeros(len(walks.roots), np.uint8), np.full(len(walks.steps), -1, np.int64)
    old = np.flatnonzero(walks.roots < len(corpus.row_of))
    numbers = np.full(len(walks.roots), -1, np.int16)
    numbers[old] = corpus.part_of[walks.roots[old]]
    for number, part in enumerate(corpus.parts):
        mine = np.flatnonzero(numbers == number)
        rows = corpus.row_of[walks.roots[mine]]
        match_walks(walks, mine, part.walks, rows, same, row)
    same[np.isin(walks.roots, unsaid)] = 0
    kept = np.flatnonzero(same == 0)
    at, found = walks_at(walks, kept), walks_of_rows(walks, kept)
    part = np.repeat(numbers[kept], np.diff(found.offsets))
    used = corpus.used(found.roots[numbers[kept] >= 0])
    ids = [each.ids[walks_at(each.walks, rows)] for each, rows in used if len(each.ids)]
    return found, _Before(part, row[at], np.concatenate([np.zeros(0, np.int64), *ids]))


def _with_nodes(corpus: Corpus, maker: WalkEmbedder, part: CorpusPart, nodes: int) -> Corpus:
    """Replace the vectors of the roots of `part`."""
    roots = part.walks.roots
    made = maker.node_vectors(part.walks, part.q, part.scale) if len(roots) else None
    if corpus.milvus is not None:
        if made is not None:
            corpus.milvus.add_nodes(roots, made[0])
        return corpus
    return corpus if made is None else corpus.with_nodes(roots, *made, nodes)


def _updated_lazy(corpus: Corpus, graphs: EditedGraph, maker: WalkEmbedder) -> tuple[Corpus, CorpusChange]:
    graph = graphs.after
    roots = graphs.edit.walked(graphs.before.nodes).astype(np.int32)
    part = make_part(Walker(graph, corpus.settings.own_triples, roots=roots), maker, roots)
    result = _with_nodes(corpus, maker, part, graph.nodes)
    return result, CorpusChange(len(roots), len(roots), len(part.q), compacted=False)
