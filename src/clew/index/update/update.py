"""Updating an index: a new generation that shares with the last one what did not change.

Readers keep the generation that they have open. Ids of entities and relations stay; new ones come after them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from clew.errors import FormatError, UsageError
from clew.foundation.arrays import AnyArray, Int64
from clew.graph.edit.edit import GraphEdit
from clew.index.corpus.build_corpus import add_node_search
from clew.index.corpus.corpus import NODE_SEARCH, WALK_VERSION, Corpus, open_corpus
from clew.index.corpus.walk_vectors import Verbaliser
from clew.index.store.compact import whole_sections, write_changed
from clew.index.store.delta import Delta, KeptApart, Whole, applied, is_large
from clew.index.store.directory import Index, open_index
from clew.index.store.manifest import Manifest, check_embedder, read_manifest
from clew.index.store.sections import graph_counts
from clew.index.store.stored_schema import write_schema
from clew.index.store.writing import IndexWriter, writing
from clew.index.update.edits import USUAL, EditReport, EditRules, Edits
from clew.index.update.resolve import resolve
from clew.index.update.update_corpus import CorpusChange, EditedGraph, updated_corpus
from clew.index.vectors.backends.registry import VectorAccess, open_vectors
from clew.index.vectors.entity_search import ENTITY_SEARCH, SEARCH_FILE, build_search
from clew.index.vectors.in_milvus import InMilvus
from clew.index.vectors.triple_vectors import TripleEmbedder
from clew.index.vectors.vectors import (
    ENTITY_SCALES,
    ENTITY_VECTORS,
    IN_MILVUS,
    TRIPLE_IDS,
    TRIPLE_VECTORS,
    quantise,
)
from clew.text.embedder import Embedder
from clew.text.labels import readable, relation_text

UpdateStage = Literal["reading", "finding", "walks", "writing"]
UpdateProgress = Callable[[UpdateStage, int, int], None]
"""Called with (what, done, total): bytes read, triples found, walks embedded, bytes written."""
MOST_LOGGED = 20
"""Updates that the report of an index remembers."""


@dataclass(frozen=True, slots=True)
class Updated:
    """What an update did.

    `corpus` is None without a corpus; `compacted` says that the arrays of the graph were written whole. Where
    nothing changed, `manifest` is the old one.
    """

    path: Path
    manifest: Manifest
    report: EditReport
    corpus: CorpusChange | None
    compacted: bool = False


def update_index(
    path: Path,
    edits: Edits,
    *,
    embedder: Embedder,
    rules: EditRules = USUAL,
    verbaliser: Verbaliser | None = None,
    access: VectorAccess | None = None,
    progress: UpdateProgress | None = None,
) -> Updated:
    """Apply `edits` to the index `path`, as a whole or not at all.

    Where a model says the walks, `verbaliser` says those that are new, and those that it failed to say
    before; without edits it does the latter alone. `access` is for vectors in a database.

    Raises UsageError as `resolve`, and if the walks are said by another model than `verbaliser`,
    EmbedderMismatch, LockedError if another process still writes to the index,
    InputError and FormatError if there is no good index, IndexAccessError if it cannot be written,
    VectorStoreError if Milvus does not answer, and what the verbaliser raises.
    """
    read_manifest(path)  # a path that is no index is refused before anything is made there
    with writing(path, wait=rules.wait) as writer:
        # All is read: damage would go on into the new generation.
        index = open_index(path, verify=True, access=access)
        check_embedder(path, index.manifest, embedder)
        update = _Update(writer, index, embedder, verbaliser, progress, rules.kept_apart)
        tell = update.progress_of("finding")
        edit, report = resolve(index.graph, index.names, edits, rules=rules, progress=tell)
        if not edit.size and not update.is_unsaid():
            return Updated(path, index.manifest, report, None)
        return update.write(edit, report)


@dataclass(frozen=True, eq=False)
class _Update:
    """An `index` that is open, and its next generation."""

    writer: IndexWriter
    index: Index
    embedder: Embedder
    verbaliser: Verbaliser | None
    progress: UpdateProgress | None
    kept_apart: KeptApart

    def progress_of(self, stage: UpdateStage) -> Callable[[int, int], None] | None:
        """The progress callback of one stage of the work."""
        return None if self.progress is None else partial(self.progress, stage)

    def write(self, edit: GraphEdit, report: EditReport) -> Updated:
        """Write what an edit changes."""
        index, writer = self.index, self.writer
        milvus = InMilvus.open(index)
        later = self.delta(edit, milvus)
        delta = later if index.delta is None else index.delta.then(later)
        current = applied(self.written_whole, delta)
        corpus, change = self.corpus(EditedGraph(index.graph, current.graph, edit))
        compact = is_large(self.written_whole, current.graph, delta, self.kept_apart)
        contents: dict[str, AnyArray | bytes] = {
            **(whole_sections(self.written_whole, current) if compact else delta.sections()),
            **({} if milvus is None else milvus.sections()),
            **self.corpus_sections(current, corpus),
        }
        dropped = ("delta.", "corpus.", "schema.") if compact else ("delta.", "corpus.")
        write_changed(writer, index, contents, dropped=dropped, progress=self.progress_of("writing"))
        if compact:
            write_schema(writer, current.graph)
        about = index.manifest.about
        updates: list[Any] = [*about.report.get("updates", ()), asdict(report)][-MOST_LOGGED:]
        index_report = {**about.report, "updates": updates}
        manifest = writer.commit(replace(about, counts=graph_counts(current.graph), report=index_report))
        return Updated(index.path, manifest, report, change, compact)

    @property
    def written_whole(self) -> Whole:
        """What the arrays of the index hold."""
        return self.index.written or self.current_whole

    @property
    def current_whole(self) -> Whole:
        """What the index is, with what updates have changed since."""
        return Whole(self.index.graph, self.index.names, self.index.sections)

    def is_unsaid(self) -> bool:
        """Whether there are walks that the model was to say and did not."""
        corpus = None if self.verbaliser is None else open_corpus(self.index)
        return corpus is not None and corpus.report().unsaid > 0

    def delta(self, edit: GraphEdit, milvus: InMilvus | None) -> Delta:
        """One edit, with the vectors of what is new, or their ids in Milvus."""
        index, embedder = self.index, self.embedder
        q, scale = quantise(embedder.embed([readable(label) for label in edit.labels]))
        relations = embedder.embed([relation_text(label) for label in edit.relation_labels])
        graph, triples = index.graph, edit.added
        if TRIPLE_VECTORS not in index.sections:
            triples = triples[:0]
        by_triple = TripleEmbedder(
            lambda node: graph.labels[node] if node < graph.nodes else edit.labels[node - graph.nodes],
            [*graph.relation_labels, *edit.relation_labels],
            embedder,
        ).quantised(*triples.T)
        if milvus is None:
            return Delta(edit, q, scale, relations.astype(np.float32), *by_triple)
        milvus.begin_update(graph.nodes)
        milvus.add_names(graph.nodes, q, scale)
        ids = np.zeros(0, np.int64)
        if TRIPLE_IDS in index.sections:
            ids = milvus.add_triples(*by_triple, _ids_in_milvus(self.written_whole, triples))
            milvus.dead = _ids_in_milvus(self.current_whole, edit.removed)
        rows, scales = by_triple
        return Delta(edit, q[:0], scale[:0], relations.astype(np.float32), rows[:0], scales[:0], ids)

    def corpus(self, graphs: EditedGraph) -> tuple[Corpus | None, CorpusChange | None]:
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
        edit, new_nodes = graphs.edit, graphs.after.nodes - graphs.before.nodes
        changed = len(edit.added) or len(edit.removed) or new_nodes > 0
        if not changed and not self.is_unsaid():
            return corpus, CorpusChange(0, 0, 0, compacted=False)
        if corpus.parts and corpus.drawing != WALK_VERSION:
            raise FormatError(
                f"{path}: its walks were drawn by an older Clew, and would not fit those of this one. "
                "Index the sources again"
            )
        parts, tell = self.kept_apart.corpus_parts, self.progress_of("walks")
        return updated_corpus(
            corpus, graphs, self.embedder, verbaliser=self.verbaliser, most_parts=parts, progress=tell
        )

    def corpus_sections(self, current: Whole, corpus: Corpus | None) -> Mapping[str, AnyArray | bytes]:
        """What is written of a corpus: with all vectors of nodes, where too many of them are newer ones.

        Files that search vectors are written anew if too many are newer than them. Others are kept: what is
        newer than a file is compared one by one.
        """
        index, writer = self.index, self.writer
        most_newer = max(self.kept_apart.vectors, current.graph.nodes // 10)
        if ENTITY_SEARCH in index.files and IN_MILVUS not in index.sections:
            backend = open_vectors(index.files[ENTITY_SEARCH])
            if current.graph.nodes - len(backend) > most_newer:
                vectors = current.sections[ENTITY_VECTORS], current.sections[ENTITY_SCALES]
                build_search(writer.folder / SEARCH_FILE, *vectors)
                writer.add_file(ENTITY_SEARCH, SEARCH_FILE)
        if corpus is None or len(corpus.changed) <= most_newer:
            return {} if corpus is None else corpus.sections()
        if NODE_SEARCH in index.files:
            add_node_search(writer, corpus)
        return corpus.with_nodes_whole().sections()


def _ids_in_milvus(whole: Whole, triples: Int64) -> Int64:
    """Ids of triples [n, 3] that are in a graph; -1 of others."""
    slots = [
        whole.graph.find_triple(*row) if row[0] < whole.graph.nodes > row[2] else -1
        for row in triples.tolist()
    ]
    ids = whole.sections[TRIPLE_IDS].astype(np.int64, copy=False)
    return np.array([-1 if slot < 0 else ids[slot] for slot in slots], np.int64)
