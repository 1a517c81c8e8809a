"""A corpus after its graph has changed: only walks that differ are embedded again (section 2.1, *Indexing*).

The result equals, root by root, what `build_corpus` makes of the changed graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Int32, Int64
from clew.graph.edit import GraphEdit
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
from clew.text.embedder import Embedder

EMBEDDED_AT_ONCE = 20_000
MOST_PARTS = 12
"""Parts of a corpus: all but the first are put into one; all, when half of what they hold is old."""


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


def updated_corpus(
    corpus: Corpus,
    graphs: EditedGraph,
    embedder: Embedder,
    *,
    verbaliser: Verbaliser | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Corpus, CorpusChange]:
    """Update the `corpus` of a graph to what was made of that.

    `verbaliser` says walks that are new, and those that are not said yet, where a model says the corpus.
    `progress` is called with the walks embedded and to be embedded. Parts that stay are those of `corpus`, in
    their order, unless they were put into one.
    """
    graph = graphs.after
    maker = WalkEmbedder(graph, embedder, verbaliser, plain=corpus.settings.plain)
    if corpus.milvus is not None:
        corpus.milvus.begin_update(graph.nodes)
    if not corpus.parts:
        return _update_lazy(corpus, graphs, maker)
    walker = Walker(graph, corpus.settings.walking)
    stored_walks = [_live_walks(part, rows) for part, rows in corpus.parts_in_use()]
    unsaid = _unsaid_roots(corpus) if verbaliser is not None else np.zeros(0, np.int32)
    renamed = np.array([node for node, _ in graphs.edit.renamed], np.int32)
    said_anew = np.union1d(unsaid, _roots_through(corpus, renamed))
    changed = changed_roots(graphs.before, graphs.edit, walker, stored_walks)
    roots = np.union1d(changed, said_anew).astype(np.int32)
    walks, before = _differing_walks(walker.walk(roots), corpus, said_anew)
    owners = root_of_walks(walks)
    before.row[np.isin(owners, renamed) | np.isin(walks.nodes, renamed).any(axis=1)] = -1
    part, embedded = _embed_walks(walks, maker, before, corpus, progress)
    result = _with_nodes(corpus, maker, part, graph.nodes)
    if corpus.milvus is not None:
        part = replace(part, q=part.q[:0], scale=part.scale[:0])
    result = result.with_parts([*corpus.parts, *([part] if len(walks.roots) else [])], graph.nodes)
    if 2 * result.report().walks < sum(len(stored_part.walks.steps) for stored_part in result.parts):
        result = compacted(result)
    elif len(result.parts) > MOST_PARTS:
        small = _stored_part(result, np.flatnonzero(result.part_of > 0).astype(np.int32))
        result = result.with_parts([result.parts[0], small], graph.nodes)
    return result, CorpusChange(len(roots), len(walks.roots), embedded)


def compacted(corpus: Corpus) -> Corpus:
    """Put all that is in use into one part, in the order of nodes."""
    if not corpus.parts:
        return corpus
    nodes = len(corpus.row_of)
    return corpus.with_parts([_stored_part(corpus, np.arange(nodes, dtype=np.int32))], nodes)


def _stored_part(corpus: Corpus, roots: Int32) -> CorpusPart:
    """Gather what is stored of `roots`, ascending, as one part."""
    parts = [part_of_rows(part, rows) for part, rows in corpus.parts_in_use(roots) if len(rows)]
    joined = parts[0] if len(parts) == 1 else joined_parts(parts)
    return part_of_rows(joined, np.argsort(joined.walks.roots, kind="stable"))


def _live_walks(part: CorpusPart, rows: Int32) -> StoredWalks:
    """The walks of a part, of which some rows are in use."""
    live = np.zeros(len(part.walks.roots), np.bool_)
    live[rows] = True
    return StoredWalks(part.walks, live)


def _unsaid_roots(corpus: Corpus) -> Int32:
    """Roots with a walk that the model was to say and did not."""
    roots: list[Int32] = []
    for part, rows in corpus.parts_in_use():
        if part.sentences is not None:
            unsaid_counts = np.concatenate(
                [np.zeros(1, np.int64), np.cumsum(np.diff(part.sentences.offsets) == 0)]
            )
            ends = part.walks.offsets
            is_unsaid = unsaid_counts[ends[rows + 1]] > unsaid_counts[ends[rows]]
            roots.append(part.walks.roots[rows[is_unsaid]])
    return np.concatenate(roots) if roots else np.zeros(0, np.int32)


def _roots_through(corpus: Corpus, nodes: Int32) -> Int32:
    """Roots that are among some nodes, or have a walk through one of them."""
    roots = [nodes]
    for part, _ in corpus.parts_in_use() if len(nodes) else ():
        walks = np.flatnonzero(np.isin(part.walks.nodes, nodes).any(axis=1))
        roots.append(part.walks.roots[np.searchsorted(part.walks.offsets, walks, "right") - 1])
    return np.unique(np.concatenate(roots))


@dataclass(frozen=True, eq=False)
class _StoredPlaces:
    """Where walks were stored: `part` int16 and `row` int64 [walks], which is -1 for new ones.

    `ids` are those that the vectors of all walks of their roots had in Milvus.
    """

    part: NDArray[np.int16]
    row: Int64
    ids: Int64

    def in_part(self, number: int) -> tuple[Int64, Int64]:
        """Walks that were in a part, and their rows in it."""
        walks = np.flatnonzero((self.part == number) & (self.row >= 0))
        return walks, self.row[walks]


def _embed_walks(
    walks: Walks,
    maker: WalkEmbedder,
    before: _StoredPlaces,
    corpus: Corpus,
    progress: Callable[[int, int], None] | None,
) -> tuple[CorpusPart, int]:
    """Embed walks; vectors of those that were there are taken over. Also how many were embedded.

    With Milvus the vectors that are kept stay there, and are made again only for those of the nodes.
    """
    owners = root_of_walks(walks)
    sentences, before = _sentences(walks, owners, before, maker, corpus)
    new_walks = np.flatnonzero(before.row < 0)
    to_embed = new_walks if corpus.milvus is None else np.arange(len(before.row))
    q = np.empty((len(before.row), maker.embedder.dimension), np.int8)
    scale = np.empty(len(before.row), np.float32)
    if corpus.milvus is None:
        for number, part in enumerate(corpus.parts):
            places, rows = before.in_part(number)
            q[places], scale[places] = part.q[rows], part.scale[rows]
    for start in range(0, len(to_embed), EMBEDDED_AT_ONCE):
        rows = to_embed[start : start + EMBEDDED_AT_ONCE]
        batch_sentences = None if sentences is None else [sentences[i] for i in rows.tolist()]
        q[rows], scale[rows] = maker.quantised(
            owners[rows], walks.steps[rows], walks.nodes[rows], batch_sentences
        )
        if progress is not None:
            progress(start + len(rows), len(to_embed))
    names = None if sentences is None else Names.of(sentences)
    if corpus.milvus is None:
        return CorpusPart(walks, q, scale, sentences=names), len(new_walks)
    ids = np.full(len(before.row), -1, np.int64)
    for number, part in enumerate(corpus.parts):
        places, rows = before.in_part(number)
        ids[places] = part.ids[rows]
    dead_ids = np.setdiff1d(before.ids, ids)
    ids[new_walks] = corpus.milvus.add_walks(q[new_walks])
    corpus.milvus.dead_walks = np.concatenate([corpus.milvus.dead_walks, dead_ids])
    return CorpusPart(walks, q, scale, ids, names), len(new_walks)


def _sentences(
    walks: Walks, owners: Int32, before: _StoredPlaces, maker: WalkEmbedder, corpus: Corpus
) -> tuple[list[str] | None, _StoredPlaces]:
    """Sentences of walks, from before or by the model; where that gave another one, a walk is new."""
    if corpus.model is None:
        return None, before
    sentences = [""] * len(owners)
    for number, part in enumerate(corpus.parts):
        if part.sentences is not None:
            for place, row in zip(*(a.tolist() for a in before.in_part(number)), strict=True):
                sentences[place] = part.sentences[row]
    unsaid = np.array([i for i, text in enumerate(sentences) if not text], np.int64)
    replies = maker.say(owners[unsaid].tolist(), walks.steps[unsaid], walks.nodes[unsaid])
    row = before.row.copy()
    for place, text in zip(unsaid.tolist(), replies or (), strict=bool(replies)):
        sentences[place] = text
        if text:
            row[place] = -1
    return sentences, replace(before, row=row)


def _differing_walks(walks: Walks, corpus: Corpus, unsaid: Int32) -> tuple[Walks, _StoredPlaces]:
    """Walks of `unsaid` roots, and where they, their order, counts or state differ; and where each was."""
    from clew.graph.walks.walks import match_walks

    is_same, row = np.zeros(len(walks.roots), np.uint8), np.full(len(walks.steps), -1, np.int64)
    old_roots = np.flatnonzero(walks.roots < len(corpus.row_of))
    numbers = np.full(len(walks.roots), -1, np.int16)
    numbers[old_roots] = corpus.part_of[walks.roots[old_roots]]
    for number, part in enumerate(corpus.parts):
        part_roots = np.flatnonzero(numbers == number)
        rows = corpus.row_of[walks.roots[part_roots]]
        match_walks(walks, part_roots, part.walks, rows, is_same, row)
    is_same[np.isin(walks.roots, unsaid)] = 0
    differing = np.flatnonzero(is_same == 0)
    places, changed_walks = walks_at(walks, differing), walks_of_rows(walks, differing)
    part = np.repeat(numbers[differing], np.diff(changed_walks.offsets))
    parts_in_use = corpus.parts_in_use(changed_walks.roots[numbers[differing] >= 0])
    ids = [
        old_part.ids[walks_at(old_part.walks, rows)] for old_part, rows in parts_in_use if len(old_part.ids)
    ]
    return changed_walks, _StoredPlaces(part, row[places], np.concatenate([np.zeros(0, np.int64), *ids]))


def _with_nodes(corpus: Corpus, maker: WalkEmbedder, part: CorpusPart, nodes: int) -> Corpus:
    """Replace the vectors of the roots of `part`."""
    roots = part.walks.roots
    vectors = maker.node_vectors(part.walks, part.q, part.scale) if len(roots) else None
    if corpus.milvus is not None:
        if vectors is not None:
            corpus.milvus.add_nodes(roots, vectors[0])
        return corpus
    return corpus if vectors is None else corpus.with_nodes(roots, *vectors, nodes)


def _update_lazy(corpus: Corpus, graphs: EditedGraph, maker: WalkEmbedder) -> tuple[Corpus, CorpusChange]:
    graph = graphs.after
    edit, before = graphs.edit, graphs.before
    near = edit.renamed_triples(before)[:, [0, 2]].ravel()
    named = [node for node, _ in edit.renamed]
    roots = np.unique(np.concatenate([edit.walked(before.nodes), near, named])).astype(np.int32)
    part = make_part(Walker(graph, corpus.settings.own_triples, roots=roots), maker, roots)
    result = _with_nodes(corpus, maker, part, graph.nodes)
    return result, CorpusChange(len(roots), len(roots), len(part.q))
