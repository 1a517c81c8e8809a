"""Updating an index: its arrays merged with the edits into a new generation, as a build writes it.

Files that do not change are shared with the generation before, which readers that have it open keep. Ids of
entities and relations stay; new ones come after them.
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
from clew.graph.edit import GraphEdit, Merge, edited, triple_slots
from clew.graph.graph import Graph
from clew.index.corpus.build_corpus import add_node_search
from clew.index.corpus.corpus import NODE_SEARCH, WALK_VERSION, Corpus, open_corpus
from clew.index.corpus.walk_vectors import Verbaliser
from clew.index.names.update import updated_names
from clew.index.store.directory import Index, open_index
from clew.index.store.manifest import Manifest, check_embedder, read_manifest
from clew.index.store.sections import graph_counts, graph_sections, with_prefix
from clew.index.store.stored_schema import write_updated_schema
from clew.index.store.writing import IndexWriter, write_changed, writing
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
    RELATION_VECTORS,
    TRIPLE_IDS,
    TRIPLE_SCALES,
    TRIPLE_VECTORS,
    quantise,
)
from clew.text.embedder import Embedder
from clew.text.labels import readable, relation_text

UpdateStage = Literal["reading", "finding", "walks", "writing"]
UpdateProgress = Callable[[UpdateStage, int, int], None]
"""Called with (what, done, total): bytes read, triples found, walks embedded, bytes written."""
FurtherEdit = Callable[[Index, GraphEdit], tuple[GraphEdit, Mapping[str, bytes]]]
"""Makes of an index and an edit the whole edit, and sections to write beside it."""
MOST_LOGGED = 20
"""Updates that the report of an index remembers."""
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

    `further` adds to the edit what follows from it, and what else is to be written.

    Where a model says the walks, `verbaliser` says those that are new, and those that it failed to say
    before; without edits it does the latter alone. `access` is for vectors in a database.

    Raises UsageError as `resolve`, and if the walks are said by another model than `verbaliser`,
    EmbedderMismatch, LockedError if another process still writes to the index,
    InputError and FormatError if there is no good index, IndexAccessError if it cannot be written,
    VectorStoreError if Milvus does not answer, and what the verbaliser raises.
    """
    read_manifest(path)  # a path that is no index is refused before anything is made there
    with writing(path, wait=rules.wait) as writer:
        index = open_index(path, access=access)
        check_embedder(path, index.manifest, embedder)
        update = _Update(writer, index, embedder, verbaliser, progress)
        tell = update.progress_of("finding")
        edit, report = resolve(index.graph, index.names, edits, rules=rules, progress=tell)
        sections: Mapping[str, bytes] = {}
        if further is not None:
            edit, sections = further(index, edit)
        if not edit.size and not sections and not update.is_unsaid():
            return Updated(path, index.manifest, report, None)
        return update.write(edit, report, sections)


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

    def write(self, edit: GraphEdit, report: EditReport, sections: Mapping[str, bytes]) -> Updated:
        """Write what an edit changes, and some `sections`."""
        index, writer = self.index, self.writer
        milvus = InMilvus.open(index)
        graph, merge = edited(index.graph, edit)
        corpus, change = self.corpus(EditedGraph(index.graph, graph, edit))
        contents: dict[str, AnyArray | bytes] = {
            **with_prefix("graph", graph_sections(graph)),
            **with_prefix("names", updated_names(index.names, graph, edit).sections()),
            **self.vectors(edit, graph, merge, milvus),
            **sections,
        }
        self.write_search(graph, edit, contents)
        contents |= {} if milvus is None else milvus.sections()
        contents |= self.corpus_sections(graph, corpus)
        write_changed(
            writer, index, contents, dropped=("corpus.", "schema."), progress=self.progress_of("writing")
        )
        write_updated_schema(writer, index, graph, edit)
        about = index.manifest.about
        updates: list[Any] = [*about.report.get("updates", ()), asdict(report)][-MOST_LOGGED:]
        index_report = {**about.report, "updates": updates}
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
        by_triple = TripleEmbedder(graph.labels.__getitem__, list(graph.relation_labels), embedder)
        rows, scales = by_triple.quantised(*triples.T)
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
        changed = len(edit.added) or len(edit.removed) or edit.renamed or new_nodes > 0
        if not changed and not self.is_unsaid():
            return corpus, CorpusChange(0, 0, 0)
        if corpus.parts and corpus.drawing != WALK_VERSION:
            raise FormatError(
                f"{path}: its walks were drawn by an older Clew, and would not fit those of this one. "
                "Index the sources again"
            )
        return updated_corpus(
            corpus, graphs, self.embedder, verbaliser=self.verbaliser, progress=self.progress_of("walks")
        )

    def write_search(self, graph: Graph, edit: GraphEdit, contents: Mapping[str, AnyArray | bytes]) -> None:
        """Write the file that searches vectors of names anew if too many are newer, or some have changed."""
        index, writer = self.index, self.writer
        if ENTITY_SEARCH not in index.files or IN_MILVUS in index.sections:
            return
        newer = graph.nodes - len(open_vectors(index.files[ENTITY_SEARCH]))
        if edit.renamed or newer > max(MOST_NEWER, graph.nodes // 10):
            vectors: list[Any] = [contents[name] for name in (ENTITY_VECTORS, ENTITY_SCALES)]
            build_search(writer.folder / SEARCH_FILE, *vectors)
            writer.add_file(ENTITY_SEARCH, SEARCH_FILE)

    def corpus_sections(self, graph: Graph, corpus: Corpus | None) -> Mapping[str, AnyArray | bytes]:
        """What is written of a corpus; the file that searches nodes is made anew if too many have changed."""
        if corpus is None:
            return {}
        if NODE_SEARCH not in self.index.files or corpus.milvus is not None:
            return replace(corpus, changed=corpus.changed[:0]).sections()
        if len(corpus.changed) > max(MOST_NEWER, graph.nodes // 10):
            add_node_search(self.writer, corpus)
            corpus = replace(corpus, changed=corpus.changed[:0])
        return corpus.sections()


def _with_rows(array: AnyArray, rows: Int64, values: AnyArray, length: int) -> AnyArray:
    """A copy of `length` rows, some of which have new values; the array itself if none have."""
    if not len(rows):
        return array
    result = np.empty((length, *array.shape[1:]), array.dtype)
    kept = min(len(array), length)
    result[:kept] = array[:kept]
    result[rows] = values
    return result
