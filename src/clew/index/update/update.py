"""Updating an index: arrays, names and walks merged with the edits into a new generation.

Files that do not change are shared with the generation before, which readers that have it open keep. Ids of
entities and relations stay; new ones come after them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clew.errors import UsageError
from clew.foundation.arrays import AnyArray, Int32, Int64
from clew.graph.edit import GraphEdit, Merge, alias_merge, edited, triple_slots
from clew.graph.graph import Graph, Names
from clew.graph.readers.columns import TableForm
from clew.graph.schema import schema_after
from clew.graph.walks.changed_roots import changed_roots
from clew.graph.walks.walks import Walker, Walks, match_walks
from clew.index.build import NODE_FILE, add_search
from clew.index.corpus import (
    NODE_SEARCH,
    Corpus,
    CorpusPart,
    Verbaliser,
    WalkEmbedder,
    joined_parts,
    open_corpus,
    part_of_rows,
    root_of_walks,
    walks_at,
    walks_of_rows,
    without_vectors,
)
from clew.index.names import NamesIndex, buckets_for, hash_norms
from clew.index.store.directory import Index, Manifest, check_embedder, open_index, read_manifest
from clew.index.store.sections import graph_counts, graph_sections, with_prefix
from clew.index.store.writing import IndexWriter, schema_of_index, write_changed, write_schema, writing
from clew.index.update.edits import USUAL, EditReport, EditRules, Edits
from clew.index.update.resolve import resolve
from clew.index.vectors.backends import VectorAccess, open_vectors
from clew.index.vectors.entities import (
    ENTITY_SCALES,
    ENTITY_SEARCH,
    ENTITY_VECTORS,
    RELATION_VECTORS,
    SEARCH_FILE,
    TRIPLE_IDS,
    TRIPLE_SCALES,
    TRIPLE_VECTORS,
    quantise,
)
from clew.index.vectors.in_milvus import InMilvus
from clew.index.vectors.triples import TripleEmbedder
from clew.text.embedders import Embedder
from clew.text.normalise import normalise
from clew.text.verbalise import readable, relation_text

# A names index after some entries were added and others removed, without reading the names that stay.


def updated_names(old: NamesIndex, graph: Graph, edit: GraphEdit) -> NamesIndex:
    """Index `graph`, which is that of `old` after `edit`; the result equals `NamesIndex.of(graph)`."""
    before, renamed = old.graph, np.array([node for node, _ in edit.renamed], np.int32)
    if not (edit.names or edit.aliases_added or edit.aliases_removed or edit.renamed):
        return replace(old, graph=graph)
    nodes = np.concatenate([renamed, np.arange(before.nodes, graph.nodes, dtype=np.int32)])
    labelled = np.array([n for n in nodes.tolist() if graph.labels[n] != graph.entities[n]], np.int32)
    label_nodes = np.union1d(np.setdiff1d(old.label_nodes, renamed), labelled).astype(np.int32)
    merge, alias_base = alias_merge(before.aliases, edit), graph.nodes + len(label_nodes)
    # The new number of each entry, -1 where it goes; what a node that is renamed is called is indexed anew.
    aliases = np.arange(len(before.aliases.names))
    alias_numbers = alias_base + aliases - merge.removed.searchsorted(aliases)
    alias_places = merge.added - merge.removed.searchsorted(merge.added)
    alias_numbers += alias_places.searchsorted(alias_numbers - alias_base, "right")
    alias_numbers[merge.removed] = -1
    new_numbers = np.concatenate([
        np.where(np.isin(np.arange(before.nodes), renamed), -1, np.arange(before.nodes)),
        np.where(
            np.isin(old.label_nodes, renamed), -1, graph.nodes + label_nodes.searchsorted(old.label_nodes)
        ),
        alias_numbers,
    ])  # fmt: skip
    added = np.concatenate([
        nodes, graph.nodes + label_nodes.searchsorted(labelled),
        alias_base + alias_places + np.arange(len(merge.added)),
    ]).astype(np.int64)  # fmt: skip
    strings = [graph.entities[n] for n in nodes.tolist()] + [graph.labels[n] for n in labelled.tolist()]
    strings += [text for _, text in edit.aliases_added]
    return _with_entries(old, graph, label_nodes, new_numbers, added, strings)


def _with_entries(
    old: NamesIndex,
    graph: Graph,
    label_nodes: Int32,
    new_numbers: Int64,
    added: Int64,
    strings: Sequence[str],
) -> NamesIndex:
    """Index `graph`, whose entries differ little from those of `old`.

    `new_numbers` int64 [old entries] gives each old entry its new number, ascending, or -1 where it is gone;
    `added` int64 (ascending) are the numbers of the entries that are new, `strings` what they say.
    """
    norms = [normalise(s) for s in strings]
    entries = int((new_numbers >= 0).sum()) + len(added)
    if buckets_for(entries) != len(old.typos.posting_offsets) - 1:
        return NamesIndex.of(graph)
    moved = new_numbers[old.entries]
    stays = moved >= 0
    hashes, moved = old.hashes[stays], moved[stays]
    new_hashes = hash_norms(norms)
    order = np.lexsort((added, new_hashes))
    new_hashes, numbers = new_hashes[order], added[order]
    # Pairs (hash, entry) are sorted.
    first, last = np.searchsorted(hashes, new_hashes, "left"), np.searchsorted(hashes, new_hashes, "right")
    inside = [int(np.searchsorted(moved[a:b], n)) for a, b, n in zip(first, last, numbers, strict=True)]
    places = first + np.array(inside, np.int64)
    labelled = np.isin(added, label_nodes)
    visible = ["" if hidden else norm for hidden, norm in zip(labelled, norms, strict=True)]
    return NamesIndex(
        graph,
        np.insert(hashes, places, new_hashes),
        np.insert(moved, places, numbers).astype(np.int32),
        label_nodes,
        old.typos.changed(new_numbers, added, visible, entries),
    )


# A corpus after its graph has changed: only walks that differ are embedded again (section 2.1, *Indexing*).
#
# The result equals, root by root, what `build_corpus` makes of the changed graph.

EMBEDDED_AT_ONCE = 20_000
MOST_PARTS = 12
"""Parts of a corpus: all but the first are put into one; all, when half of what they hold is old."""


@dataclass(frozen=True, slots=True)
class CorpusChange:
    """What an update of a corpus did: roots walked again, roots whose walks differ, walks embedded again."""

    walked: int
    changed: int
    embedded: int


def updated_corpus(
    corpus: Corpus,
    before: Graph,
    graph: Graph,
    edit: GraphEdit,
    embedder: Embedder,
    *,
    verbaliser: Verbaliser | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Corpus, CorpusChange]:
    """Update the `corpus` of the graph `before` to that of `graph`, which was made of it by `edit`.

    `verbaliser` says walks that are new or not said yet. Parts that stay are those of `corpus`, in order.
    """
    maker = WalkEmbedder(graph, embedder, verbaliser, plain=corpus.settings.plain)
    renamed = np.array([node for node, _ in edit.renamed], np.int32)
    if corpus.milvus is not None:
        corpus.milvus.begin_update(graph.nodes)
    walker = Walker(graph, corpus.settings)
    said_anew = _roots_said_anew(corpus, renamed, unsaid=verbaliser is not None)
    stored_walks = [(part.walks, rows) for part, rows in corpus.parts_in_use()]
    changed = changed_roots(before, edit, walker, stored_walks)
    roots = np.union1d(changed, said_anew).astype(np.int32)
    walks, stored = _differing_walks(walker.walk(roots), corpus, said_anew)
    owners = root_of_walks(walks)
    stored.row[np.isin(owners, renamed) | np.isin(walks.nodes, renamed).any(axis=1)] = -1
    part, embedded = _embed_walks(walks, maker, stored, corpus, progress)
    result = _with_nodes(corpus, maker, part, graph.nodes)
    if corpus.milvus is not None:
        part = without_vectors(part, part.ids)
    result = result.with_parts([*corpus.parts, *([part] if len(walks.roots) else [])], graph.nodes)
    if 2 * result.report().walks < sum(len(stored_part.walks.steps) for stored_part in result.parts):
        result = result.with_parts([_stored_part(result, 0)], graph.nodes)
    elif len(result.parts) > MOST_PARTS:
        result = result.with_parts([result.parts[0], _stored_part(result, 1)], graph.nodes)
    return result, CorpusChange(len(roots), len(walks.roots), embedded)


def _stored_part(corpus: Corpus, first: int) -> CorpusPart:
    """Gather what is in use of the parts from the `first` on as one part, in the order of nodes."""
    roots = np.flatnonzero(corpus.part_of >= first).astype(np.int32)
    parts = [part_of_rows(part, rows) for part, rows in corpus.parts_in_use(roots) if len(rows)]
    joined = parts[0] if len(parts) == 1 else joined_parts(parts)
    return part_of_rows(joined, np.argsort(joined.walks.roots, kind="stable"))


def _roots_said_anew(corpus: Corpus, renamed: Int32, *, unsaid: bool) -> Int32:
    """Roots that are `renamed`, or have a walk through one of them, or (`unsaid`) one that is not said."""
    roots = [renamed]
    for part, rows in corpus.parts_in_use() if len(renamed) or unsaid else ():
        is_stale = np.zeros(len(part.walks.nodes), np.bool_)
        if len(renamed):
            is_stale |= np.isin(part.walks.nodes, renamed).any(axis=1)
        if unsaid and part.sentences is not None:
            is_stale |= np.diff(part.sentences.offsets) == 0
        owners = np.searchsorted(part.walks.offsets, np.flatnonzero(is_stale), "right") - 1
        roots.append(part.walks.roots[np.intersect1d(owners, rows)])
    return np.unique(np.concatenate(roots))


@dataclass(frozen=True, eq=False)
class _StoredPlaces:
    """Where walks were stored: `part` int16, `row` int64 [walks], -1 for new ones; `ids` of all in Milvus."""

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
    """Embed walks; vectors that were there are taken over. Also how many were embedded."""
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
    """Replace the vectors of the roots of `part`, of `nodes` nodes in all."""
    roots = part.walks.roots
    if not len(roots):
        return corpus
    q, scale = maker.node_vectors(part.walks, part.q, part.scale)
    if corpus.milvus is not None:
        corpus.milvus.add_nodes(roots, q)
        return corpus
    return replace(
        corpus,
        nodes=_with_rows(corpus.nodes, roots, q, nodes),
        node_scales=_with_rows(corpus.node_scales, roots, scale, nodes),
        changed=np.union1d(corpus.changed, roots).astype(np.int32),
    )


UpdateStage = Literal["reading", "walks", "writing"]
UpdateProgress = Callable[[UpdateStage, int, int], None]
"""Called with (what, done, total): bytes read, walks embedded, bytes written."""
FurtherEdit = Callable[[Index, GraphEdit], tuple[GraphEdit, Mapping[str, bytes]]]
"""Makes of an index and an edit the whole edit, and sections to write beside it."""
MOST_NEWER = 10_000
"""Vectors newer than the file that searches them (a tenth if that is more), which are compared one by one."""


@dataclass(frozen=True, slots=True)
class Updated:
    """What an update did; `corpus` is None without one. Where nothing changed, `manifest` is the old one."""

    path: Path
    manifest: Manifest
    report: EditReport
    corpus: CorpusChange | None


def update_index(
    path: Path,
    edits: Edits,
    *,
    embedder: Embedder,
    rules: EditRules = USUAL,
    verbaliser: Verbaliser | None = None,
    access: VectorAccess | None = None,
    progress: UpdateProgress | None = None,
    further: FurtherEdit | None = None,
) -> Updated:
    """Apply `edits` to the index `path`, as a whole or not at all.

    `further` adds to the edit what follows from it, and what else is to be written; `verbaliser` says walks
    that are new or unsaid. Raises UsageError as `resolve`, and for another model than said the walks,
    EmbedderMismatch, LockedError, InputError, FormatError, IndexAccessError, VectorStoreError.
    """
    read_manifest(path)  # a path that is no index is refused before anything is made there
    with writing(path, wait=rules.wait) as writer:
        index = open_index(path, access=access)
        check_embedder(path, index.manifest, embedder)
        update = _Update(writer, index, embedder, verbaliser, progress)
        edit, report = resolve(index.graph, index.names, edits, rules)
        sections: Mapping[str, bytes] = {}
        if further is not None:
            edit, sections = further(index, edit)
        if not edit.size and not sections and not update.is_unsaid():
            return Updated(path, index.manifest, report, None)
        return update.write(edit, report, sections, edits.tables)


@dataclass(frozen=True, eq=False)
class _Update:
    """An `index` that is open, and its next generation."""

    writer: IndexWriter
    index: Index
    embedder: Embedder
    verbaliser: Verbaliser | None
    progress: UpdateProgress | None

    def progress_of(self, stage: UpdateStage) -> Callable[[int, int], None] | None:
        """The progress callback of one stage of the work."""
        return None if self.progress is None else partial(self.progress, stage)

    def write(
        self, edit: GraphEdit, report: EditReport, sections: Mapping[str, bytes], tables: Sequence[TableForm]
    ) -> Updated:
        """Write what an edit changes, some `sections`, and how `tables` are read from now on."""
        index, writer = self.index, self.writer
        milvus = InMilvus.open(index)
        graph, merge = edited(index.graph, edit)
        corpus, change = self.corpus(graph, edit)
        contents: dict[str, AnyArray | bytes] = {
            **with_prefix("graph", graph_sections(graph)),
            **with_prefix("names", updated_names(index.names, graph, edit).sections()),
            **self.vectors(edit, graph, merge, milvus),
            **sections,
        }
        most_newer = max(MOST_NEWER, graph.nodes // 10)
        if milvus is not None:
            contents |= milvus.sections()
        elif ENTITY_SEARCH in index.files:
            newer = graph.nodes - len(open_vectors(index.files[ENTITY_SEARCH]))
            if edit.renamed or newer > most_newer:
                vectors: list[Any] = [contents[name] for name in (ENTITY_VECTORS, ENTITY_SCALES)]
                add_search(writer, ENTITY_SEARCH, SEARCH_FILE, *vectors)
        if corpus is not None:
            is_searched = NODE_SEARCH in index.files and corpus.milvus is None
            if is_searched and len(corpus.changed) > most_newer:
                add_search(writer, NODE_SEARCH, NODE_FILE, corpus.nodes, corpus.node_scales)
                is_searched = False
            contents |= (corpus if is_searched else replace(corpus, changed=corpus.changed[:0])).sections()
        write_changed(
            writer, index, contents, dropped=("corpus.", "schema."), progress=self.progress_of("writing")
        )
        changed = edit.changed_nodes(index.graph.nodes)
        write_schema(writer, schema_after(schema_of_index(index), index.graph, graph, changed))
        about = index.manifest.about
        updates: list[Any] = [*about.report.get("updates", ()), asdict(report)][-20:]
        index_report = {**about.report, "updates": updates}
        if tables:
            index_report["tables"] = [table.as_json() for table in tables]
        manifest = writer.commit(replace(about, counts=graph_counts(graph), report=index_report))
        return Updated(index.path, manifest, report, change)

    def is_unsaid(self) -> bool:
        """Whether there are walks that the model was to say and did not."""
        corpus = None if self.verbaliser is None else open_corpus(self.index)
        return corpus is not None and corpus.report().unsaid > 0

    def vectors(
        self, edit: GraphEdit, graph: Graph, merge: Merge, milvus: InMilvus | None
    ) -> dict[str, AnyArray]:
        """Vectors of names, relations and triples, those that are new put into Milvus if the others are."""
        sections, embedder, before = self.index.sections, self.embedder, self.index.graph
        nodes = np.array([*(node for node, _ in edit.renamed), *range(before.nodes, graph.nodes)], np.int64)
        q, scale = quantise(embedder.embed([readable(graph.labels[node]) for node in nodes.tolist()]))
        contents: dict[str, AnyArray] = {}
        if edit.relation_labels or edit.relabelled:
            changed_relations = [
                *(number for number, _ in edit.relabelled),
                *range(len(before.relations), len(graph.relations)),
            ]
            labels = list(graph.relation_labels)
            vectors = embedder.embed([relation_text(labels[number]) for number in changed_relations])
            rows = np.array(changed_relations, np.int64)
            contents[RELATION_VECTORS] = _with_rows(
                sections[RELATION_VECTORS], rows, vectors.astype(np.float32), len(labels)
            )
        if milvus is not None:
            milvus.begin_update(before.nodes)
            milvus.set_names(nodes, q, scale)
        elif len(nodes):
            contents |= {
                name: _with_rows(sections[name], nodes, rows, graph.nodes)
                for name, rows in ((ENTITY_VECTORS, q), (ENTITY_SCALES, scale))
            }
        if TRIPLE_VECTORS not in sections:
            return contents
        triples, changed = edit.added, edit.renamed_triples(before)
        triples = np.concatenate([triples, changed])
        rows, scales = TripleEmbedder(graph, embedder).quantised(*triples.T)
        slots, count = triple_slots(graph, changed), len(edit.added)
        columns = {TRIPLE_VECTORS: rows, TRIPLE_SCALES: scales}
        if milvus is not None:
            ids = sections[TRIPLE_IDS].astype(np.int64, copy=False)
            old_slots = triple_slots(before, np.concatenate([edit.removed, changed]))
            milvus.dead = ids[old_slots]
            columns = {TRIPLE_IDS: milvus.add_triples(rows, scales)}
        for name, values in columns.items():
            column = merge(sections[name], values[:count])
            contents[name] = _with_rows(column, slots, values[count:], graph.triples)
        return contents

    def corpus(self, graph: Graph, edit: GraphEdit) -> tuple[Corpus | None, CorpusChange | None]:
        """The corpus of the graph after the edit, and what differs; None without one."""
        corpus, path = open_corpus(self.index, writable=True), self.index.path
        if corpus is None:
            return None, None
        if self.verbaliser is not None and self.verbaliser.name != corpus.model:
            speaker = "by templates" if corpus.model is None else f"by {corpus.model}"
            raise UsageError(
                f"{path}: its walks are said {speaker}, not by {self.verbaliser.name}. Index the sources "
                "again"
            )
        before = self.index.graph
        changed = len(edit.added) or len(edit.removed) or edit.renamed or graph.nodes > before.nodes
        if not changed and not self.is_unsaid():
            return corpus, CorpusChange(0, 0, 0)
        return updated_corpus(
            corpus, before, graph, edit, self.embedder,
            verbaliser=self.verbaliser, progress=self.progress_of("walks"),
        )  # fmt: skip


def _with_rows(array: AnyArray, rows: Int32 | Int64, values: AnyArray, length: int) -> AnyArray:
    """A copy of `length` rows, some of which have new values; the array itself if none have."""
    if not len(rows):
        return array
    result = np.empty((length, *array.shape[1:]), array.dtype)
    kept = min(len(array), length)
    result[:kept] = array[:kept]
    result[rows] = values
    return result
