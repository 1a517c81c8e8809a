"""All that updates changed, written whole: a graph without gaps, one names index, and its vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from clew.foundation.arrays import AnyArray, Int64
from clew.graph.edit.edit import packed
from clew.graph.graph import Graph
from clew.index.names.names import NamesIndex
from clew.index.names.update import updated_names
from clew.index.store.delta import Whole
from clew.index.store.directory import Index
from clew.index.store.sections import graph_sections, with_prefix
from clew.index.store.writing import IndexWriter
from clew.index.vectors.vectors import ENTITY_SCALES, ENTITY_VECTORS, RELATION_VECTORS, by_triple


def write_changed(
    writer: IndexWriter,
    index: Index,
    contents: Mapping[str, AnyArray | bytes],
    *,
    dropped: tuple[str, ...],
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write `contents`; an array that is still the one of the open index is its file.

    Other sections stay, but for those that `writer` has already and those whose name begins with one of
    `dropped`. `progress` is called with the bytes written and to be written. Raises IndexAccessError.
    """
    sizes = {name: len(c) if isinstance(c, bytes) else c.nbytes for name, c in contents.items()}
    done = 0
    entries = {entry.section: entry for entry in index.manifest.files}
    folder = index.path / index.manifest.folder
    sections = index.sections if index.written is None else index.written.sections
    for section, content in contents.items():
        old_array = sections.get(section)
        if section in entries and _is_same(old_array, content):
            writer.keep(entries[section], folder)
        else:
            writer.add(section, content)
        done += sizes[section]
        if progress is not None:
            progress(done, sum(sizes.values()))
    written_sections = {entry.section for entry in writer.files}
    for section, entry in entries.items():
        if section not in written_sections and not section.startswith(dropped):
            writer.keep(entry, folder)


def _is_same(old: AnyArray | None, new: AnyArray | bytes) -> bool:
    """Whether both are the same memory; equal arrays that are not are simply written."""
    if old is None or isinstance(new, bytes) or old.shape != new.shape or old.dtype != new.dtype:
        return False
    return old.__array_interface__["data"] == new.__array_interface__["data"]


def whole_sections(written: Whole, current: Whole) -> dict[str, AnyArray]:
    """All sections that are other than in `written`, as if the graph had been built so."""
    graph = packed(current.graph)
    contents = with_prefix("graph", graph_sections(graph))
    before = {**written.sections, **with_prefix("graph", graph_sections(written.graph))}
    contents |= {name: current.sections[name] for name in (ENTITY_VECTORS, ENTITY_SCALES, RELATION_VECTORS)}
    contents = {name: new for name, new in contents.items() if not _is_same(before.get(name), new)}
    if current.names is not written.names:
        contents |= with_prefix("names", _names(written, graph).sections())
    moved = by_triple(current.sections)
    slots = current.graph.out.slots() if moved else None
    return contents | {name: current.sections[name][slots] for name in moved}


def _names(written: Whole, graph: Graph) -> NamesIndex:
    """One names index of `graph`, made from that of `written`."""
    old_names, before = written.names, written.graph.nodes
    differing = [n for n in range(before, graph.nodes) if graph.labels[n] != graph.entities[n]]
    label_nodes = np.concatenate([old_names.label_nodes, np.array(differing, np.int32)])
    after, labels = graph.nodes, len(old_names.label_nodes)
    alias_base = after + len(label_nodes)
    alias_numbers, new_alias_rows = _matched_aliases(written.graph, graph)
    new_numbers = np.concatenate([
        np.arange(before), np.arange(labels) + after,
        np.where(alias_numbers >= 0, alias_numbers + alias_base, -1),
    ])  # fmt: skip
    new_nodes, new_labels = np.arange(before, after), np.arange(after + labels, alias_base)
    added = np.concatenate([new_nodes, new_labels, new_alias_rows + alias_base])
    strings = [graph.entities[n] for n in new_nodes.tolist()]
    strings += [graph.labels[n] for n in label_nodes[labels:].tolist()]
    strings += [graph.aliases.names[row] for row in new_alias_rows.tolist()]
    return updated_names(old_names, graph, label_nodes, new_numbers, added, strings)


def _matched_aliases(before: Graph, graph: Graph) -> tuple[Int64, Int64]:
    """New row of each old alias (-1 if it is gone), and the rows that are new."""
    if graph.aliases is before.aliases:
        return np.arange(len(before.aliases.names)), np.empty(0, np.int64)
    pairs = zip(graph.aliases.entity.tolist(), graph.aliases.names, strict=True)
    place = {pair: row for row, pair in enumerate(pairs)}
    old_pairs = zip(before.aliases.entity.tolist(), before.aliases.names, strict=True)
    new_rows = np.array([place.pop(pair, -1) for pair in old_pairs], np.int64)
    return new_rows, np.array(sorted(place.values()), np.int64)
