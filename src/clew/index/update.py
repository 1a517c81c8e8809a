"""Updating an index: a new generation that shares with the last one what did not change.

Readers keep the generation that they have open; the next open sees the new one, whole. A crash at any point
leaves the last one. Ids of entities and relations stay; new ones come after them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.errors import UsageError
from clew.graph.edit import GraphEdit, edited, packed
from clew.graph.graph import Graph, Int32, Int64
from clew.index.backends.entities import ENTITY_SEARCH, SEARCH_FILE, build_search
from clew.index.backends.registry import Access, VectorChoice, open_vectors
from clew.index.build import check_embedder
from clew.index.build_corpus import add_node_search
from clew.index.corpus import NODE_SEARCH, Corpus, Sayer, open_corpus
from clew.index.directory import Index, IndexWriter, open_index, writing
from clew.index.edits import EditReport, Edits, resolve
from clew.index.files import Array
from clew.index.manifest import About, Manifest
from clew.index.names import NamesIndex
from clew.index.sections import graph_counts, graph_sections, with_prefix
from clew.index.update_corpus import CorpusChange, updated_corpus
from clew.index.update_names import updated_names
from clew.index.vectors import (
    ENTITY_SCALES,
    ENTITY_VECTORS,
    RELATION_VECTORS,
    quantise,
    readable,
    relation_text,
)
from clew.text.embedder import Embedder

Progress = Callable[[int, int], None]
LEAST_NEWER = 10_000
"""Vectors newer than the file that searches them, up to which they are compared one by one."""
MOST_LOGGED = 20
"""Updates that the report of an index remembers."""


@dataclass(frozen=True, slots=True)
class Updated:
    """What an update did.

    `corpus` is None without a corpus. Where nothing changed, `manifest` is the old one.
    """

    path: Path
    manifest: Manifest
    report: EditReport
    corpus: CorpusChange | None


def update_index(
    path: Path,
    edits: Edits,
    *,
    embedder: Embedder,
    strict: bool = False,
    ignore_missing: bool = False,
    wait: float = 5.0,
    sayer: Sayer | None = None,
    access: Access | None = None,
    progress: Progress | None = None,
) -> Updated:
    """Apply `edits` to the index `path`, as a whole or not at all.

    Where a model says the walks, `sayer` says those that are new, and those that it failed to say before;
    without edits it does the latter alone. `access` is for vectors in a database; `progress` is called with
    the walks embedded and to be embedded.

    Raises UsageError as `resolve`, and if the walks are said by another model than `sayer`, EmbedderMismatch,
    LockedError if another process still writes to the index after `wait` seconds, InputError and FormatError
    if there is no good index, IndexError_ if it cannot be written, VectorStoreError if Milvus does not
    answer, and what the sayer raises.
    """
    open_index(path)  # a path that is no index is refused before anything is made there
    with writing(path, wait=wait) as writer:
        index = open_index(path, access=access)
        check_embedder(path, index.manifest, embedder)
        edit, report = resolve(index.graph, index.names, edits, strict=strict, ignore_missing=ignore_missing)
        if _is_empty(edit) and not _is_unsaid(index, sayer):
            return Updated(path, index.manifest, report, None)
        graph = packed(edited(index.graph, edit))
        sections = with_prefix("graph", graph_sections(graph))
        sections |= with_prefix("names", _names(index, graph, edit).sections())
        sections |= _vectors(index, edit, embedder)
        corpus, change = _corpus(index, graph, edit, embedder, sayer, progress)
        dropped = [*_outdated(edit), *_searches(writer, index, graph, sections, corpus)]
        contents: dict[str, Array | bytes] = {**sections}
        if corpus is not None:
            if NODE_SEARCH not in index.files or NODE_SEARCH in dropped:
                corpus = replace(corpus, changed=corpus.changed[:0])
            contents |= corpus.sections()
        _write(writer, index, contents, dropped=tuple(dropped))
        manifest = writer.commit(_about(index.manifest.about, graph, report))
    return Updated(path, manifest, report, change)


def _is_empty(edit: GraphEdit) -> bool:
    changes = len(edit.added) + len(edit.removed) + len(edit.names) + len(edit.relations)
    return not changes and edit.types is None and edit.aliases is None


def _is_unsaid(index: Index, sayer: Sayer | None) -> bool:
    """Whether there are walks that the model was to say and did not."""
    corpus = None if sayer is None else open_corpus(index)
    return corpus is not None and corpus.report().unsaid > 0


def _outdated(edit: GraphEdit) -> tuple[str, ...]:
    """Prefixes of sections that say nothing true any more.

    Vectors of triples are by triple id, and ids of triples move; the first question that needs them makes
    them anew.
    """
    moved = len(edit.added) or len(edit.removed)
    return ("triple_vectors.",) if moved else ()


def _searches(
    writer: IndexWriter,
    index: Index,
    graph: Graph,
    sections: Mapping[str, Array],
    corpus: Corpus | None,
) -> list[str]:
    """Write anew the files that search vectors, if too many are newer than them; their sections.

    Others are kept: what is newer than a file is compared one by one.
    """
    written: list[str] = []
    nodes, most = graph.nodes, max(LEAST_NEWER, graph.nodes // 10)
    if ENTITY_SEARCH in index.files:
        backend = open_vectors(index.files[ENTITY_SEARCH])
        if nodes - len(backend) > most:
            build_search(writer.folder / SEARCH_FILE, sections[ENTITY_VECTORS], sections[ENTITY_SCALES])
            writer.add_file(ENTITY_SEARCH, SEARCH_FILE)
            written.append(ENTITY_SEARCH)
    if NODE_SEARCH in index.files and corpus is not None and len(corpus.changed) > most:
        add_node_search(writer, corpus, VectorChoice("faiss"))
        written.append(NODE_SEARCH)
    return written


def _write(
    writer: IndexWriter, index: Index, contents: Mapping[str, Array | bytes], *, dropped: tuple[str, ...]
) -> None:
    """Write what is new; an array that is still the one of the open index is its file."""
    entries = {entry.section: entry for entry in index.manifest.files}
    folder = index.path / index.manifest.folder
    held = _held(index)
    for section, content in contents.items():
        old = held.get(section)
        if old is not None and section in entries and _is_same(old, content):
            writer.keep(entries[section], folder)
        else:
            writer.add(section, content)
    for section, entry in entries.items():
        if section not in contents and not section.startswith(("graph.", "names.", "corpus.", *dropped)):
            writer.keep(entry, folder)


def _held(index: Index) -> dict[str, Array]:
    found = dict(index.sections)
    found |= with_prefix("graph", graph_sections(index.graph))
    return found | with_prefix("names", index.names.sections())


def _is_same(old: Array, new: Array | bytes) -> bool:
    """Whether both are the same memory; equal arrays that are not are simply written."""
    if isinstance(new, bytes) or old.shape != new.shape or old.dtype != new.dtype:
        return False
    return old.__array_interface__["data"] == new.__array_interface__["data"]


def _names(index: Index, graph: Graph, edit: GraphEdit) -> NamesIndex:
    old = index.names
    if not edit.names and edit.aliases is None:
        return replace(old, graph=graph)
    label_nodes = _label_nodes(old.label_nodes, index.graph, graph)
    before, after = index.graph.nodes, graph.nodes
    labels, more_labels = len(old.label_nodes), len(label_nodes) - len(old.label_nodes)
    new_nodes = np.arange(before, after)
    new_labels = np.arange(after + labels, after + labels + more_labels)
    alias_base = after + labels + more_labels
    alias_kept, alias_new = _matched_aliases(index.graph, graph)
    kept = np.concatenate([
        np.arange(before), np.arange(labels) + after, np.where(alias_kept >= 0, alias_kept + alias_base, -1)
    ])  # fmt: skip
    added = np.concatenate([new_nodes, new_labels, alias_new + alias_base])
    strings = [graph.entities[n] for n in new_nodes.tolist()]
    strings += [graph.labels[n] for n in label_nodes[labels:].tolist()]
    strings += [graph.aliases.names[row] for row in alias_new.tolist()]
    return updated_names(old, graph, label_nodes, kept, added, strings)


def _label_nodes(old: Int32, before: Graph, graph: Graph) -> Int32:
    differing = [n for n in range(before.nodes, graph.nodes) if graph.labels[n] != graph.entities[n]]
    return np.concatenate([old, np.array(differing, np.int32)])


def _matched_aliases(before: Graph, graph: Graph) -> tuple[Int64, Int64]:
    """New row of each old alias (-1 if it is gone), and the rows that are new."""
    if graph.aliases is before.aliases:
        return np.arange(len(before.aliases.names)), np.empty(0, np.int64)
    pairs = zip(graph.aliases.entity.tolist(), graph.aliases.names, strict=True)
    place = {pair: row for row, pair in enumerate(pairs)}
    old = zip(before.aliases.entity.tolist(), before.aliases.names, strict=True)
    kept = np.array([place.pop(pair, -1) for pair in old], np.int64)
    return kept, np.array(sorted(place.values()), np.int64)


def _vectors(index: Index, edit: GraphEdit, embedder: Embedder) -> dict[str, NDArray[np.generic]]:
    found: dict[str, NDArray[np.generic]] = {
        name: index.array(name) for name in (ENTITY_VECTORS, ENTITY_SCALES, RELATION_VECTORS)
    }
    if edit.names:
        q, scale = quantise(embedder.embed([readable(label) for label in edit.labels]))
        found[ENTITY_VECTORS] = np.concatenate([found[ENTITY_VECTORS], q])
        found[ENTITY_SCALES] = np.concatenate([found[ENTITY_SCALES], scale])
    if edit.relations:
        vectors = embedder.embed([relation_text(label) for label in edit.relation_labels])
        found[RELATION_VECTORS] = np.concatenate([found[RELATION_VECTORS], vectors.astype(np.float32)])
    return found


def _corpus(
    index: Index,
    graph: Graph,
    edit: GraphEdit,
    embedder: Embedder,
    sayer: Sayer | None,
    progress: Progress | None,
) -> tuple[Corpus | None, CorpusChange | None]:
    corpus = open_corpus(index, writable=True)
    if corpus is None:
        return None, None
    if sayer is not None and sayer.name != corpus.model:
        told = "by templates" if corpus.model is None else f"by {corpus.model}"
        raise UsageError(
            f"{index.path}: its walks are said {told}, not by {sayer.name}. Index the sources again"
        )
    new = np.arange(index.graph.nodes, graph.nodes)
    changed = np.unique(np.concatenate([edit.endpoints, new]))
    if not len(changed) and not _is_unsaid(index, sayer):
        return corpus, CorpusChange(0, 0, 0, compacted=False)
    removed = bool(len(edit.removed))
    return updated_corpus(corpus, graph, embedder, changed, removed=removed, sayer=sayer, progress=progress)


def _about(about: About, graph: Graph, report: EditReport) -> About:
    counts = {**about.counts, **graph_counts(graph)}
    updates: list[Any] = [*about.report.get("updates", ()), asdict(report)]
    return replace(about, counts=counts, report={**about.report, "updates": updates[-MOST_LOGGED:]})
