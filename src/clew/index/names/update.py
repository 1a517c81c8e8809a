"""A names index after some entries were added and others removed, without reading the names that stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Int32, Int64, chunks_of
from clew.graph.edit import GraphEdit, Merge, alias_merge
from clew.graph.graph import Graph
from clew.index.names.names import NamesIndex, hash_norms
from clew.index.names.typos import TypoPart, Typos, buckets_for
from clew.text.normalise import normalise

LISTS_AT_ONCE = 65_536
"""Lists that are merged at a time, so that memory does not grow with the index."""


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
    new_numbers = np.concatenate([
        np.where(np.isin(np.arange(before.nodes), renamed), -1, np.arange(before.nodes)),
        np.where(
            np.isin(old.label_nodes, renamed), -1, graph.nodes + label_nodes.searchsorted(old.label_nodes)
        ),
        _alias_numbers(merge, len(before.aliases.names), alias_base),
    ])  # fmt: skip
    added = np.concatenate([
        nodes, graph.nodes + label_nodes.searchsorted(labelled),
        alias_base + merge.added - merge.removed.searchsorted(merge.added) + np.arange(len(merge.added)),
    ]).astype(np.int64)  # fmt: skip
    strings = [graph.entities[n] for n in nodes.tolist()] + [graph.labels[n] for n in labelled.tolist()]
    strings += [text for _, text in edit.aliases_added]
    return _with_entries(old, graph, label_nodes, new_numbers, added, strings)


def _alias_numbers(merge: Merge, count: int, first: int) -> Int64:
    """The new number of each alias, -1 where it goes."""
    numbers = first + np.arange(count) - merge.removed.searchsorted(np.arange(count))
    places = merge.added - merge.removed.searchsorted(merge.added)
    numbers += places.searchsorted(numbers - first, "right")
    numbers[merge.removed] = -1
    return numbers


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
    new_hashes = hash_norms(norms) if norms else np.empty(0, np.uint64)
    order = np.lexsort((added, new_hashes))
    new_hashes, numbers = new_hashes[order], added[order]
    places = _places(hashes, moved, new_hashes, numbers)
    skipped = np.zeros(graph.nodes, np.bool_)
    skipped[label_nodes] = True
    visible = [
        "" if number < graph.nodes and skipped[number] else norm
        for number, norm in zip(added.tolist(), norms, strict=True)
    ]
    return NamesIndex(
        graph,
        np.insert(hashes, places, new_hashes),
        np.insert(moved, places, numbers).astype(np.int32),
        label_nodes,
        _updated_typos(old.typos, new_numbers, added, visible, entries),
    )


def _places(
    hashes: NDArray[np.uint64], entries: Int64, new_hashes: NDArray[np.uint64], numbers: Int64
) -> Int64:
    """Where in the pairs (hash, entry), sorted, the new pairs go."""
    first, last = np.searchsorted(hashes, new_hashes, "left"), np.searchsorted(hashes, new_hashes, "right")
    inside = [int(np.searchsorted(entries[a:b], n)) for a, b, n in zip(first, last, numbers, strict=True)]
    return first + np.array(inside, np.int64)


def _updated_typos(old: Typos, new_numbers: Int64, added: Int64, norms: Sequence[str], entries: int) -> Typos:
    buckets = len(old.posting_offsets) - 1
    part = TypoPart.of(0, norms, buckets)
    indexed_rows = np.flatnonzero(part.lengths)
    order = indexed_rows[np.lexsort((added[indexed_rows], part.lengths[indexed_rows]))]
    length_offsets, by_length = _merged_lists(
        old.length_offsets, old.by_length, new_numbers, part.lengths[order].astype(np.int64), added[order]
    )
    rank = np.full(entries, -1, np.int64)
    rank[by_length] = np.arange(len(by_length))
    moved = new_numbers[old.by_length]
    ranks = np.where(moved >= 0, rank[moved], -1)
    bucket, row = part.pairs >> 32, part.pairs & 0xFFFFFFFF
    fresh = np.sort(bucket << 32 | rank[added[row]])
    offsets, postings = _merged_lists(
        old.posting_offsets, old.postings, ranks, fresh >> 32, fresh & 0xFFFFFFFF
    )
    signatures = np.zeros(len(by_length), np.uint32)
    signatures[ranks[ranks >= 0]] = old.signatures[ranks >= 0]
    signatures[rank[added[indexed_rows]]] = part.signatures[indexed_rows]
    return Typos(offsets, postings, length_offsets, by_length, signatures)


def _merged_lists(
    offsets: Int64, values: Int32, new_numbers: Int64, lists: Int64, entries: Int64
) -> tuple[Int64, Int32]:
    """Put the pairs (`lists`, `entries`), sorted, into lists of ascending values.

    `new_numbers` gives each value that is there its new one, -1 where it goes.
    """
    sizes: list[Int64] = [np.zeros(1, np.int64)]
    parts: list[Int32] = []
    for first, last in chunks_of(0, len(offsets) - 1, LISTS_AT_ONCE):
        span = slice(*np.searchsorted(lists, [first, last]).tolist())
        part = offsets[first : last + 1]
        size, merged = _merged_part(
            part - part[0], values[part[0] : part[-1]], new_numbers, lists[span] - first, entries[span]
        )
        sizes.append(size)
        parts.append(merged)
    return np.cumsum(np.concatenate(sizes)), np.concatenate([np.empty(0, np.int32), *parts])


def _merged_part(
    offsets: Int64, values: Int32, new_numbers: Int64, lists: Int64, entries: Int64
) -> tuple[Int64, Int32]:
    """As `_merged_lists`, but with the sizes of the lists."""
    count = len(offsets) - 1
    moved = new_numbers[values]
    stays = moved >= 0
    key = (np.repeat(np.arange(count), np.diff(offsets)) << 32 | moved)[stays]
    places = np.searchsorted(key, lists << 32 | entries)
    merged = np.insert(moved[stays], places, entries).astype(np.int32)
    return np.bincount(key >> 32, minlength=count) + np.bincount(lists, minlength=count), merged
