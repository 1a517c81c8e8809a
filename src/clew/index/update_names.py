"""A names index after some entries were added and others removed, without reading the names that stay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Graph, Int32, Int64
from clew.index.names import NamesIndex, hash_norms
from clew.index.typos import Typos, postings_of
from clew.text.normalise import normalise


def updated_names(
    old: NamesIndex, graph: Graph, label_nodes: Int32, kept: Int64, added: Int64, strings: Sequence[str]
) -> NamesIndex:
    """Index `graph`, whose entries differ little from those of `old`.

    `kept` int64 [old entries] gives each old entry its new number, ascending, or -1 where it is gone; `added`
    int64 (ascending) are the numbers of the entries that are new, `strings` what they say. The result equals
    `NamesIndex.of(graph)`.
    """
    norms = [normalise(s) for s in strings]
    entries = int((kept >= 0).sum()) + len(added)
    if _buckets(entries) != len(old.typos.posting_offsets) - 1:
        return NamesIndex.of(graph)
    moved = kept[old.entries]
    there = moved >= 0
    hashes, moved = old.hashes[there], moved[there]
    new = hash_norms(norms) if norms else np.empty(0, np.uint64)
    order = np.lexsort((added, new))
    new, numbers = new[order], added[order]
    at = _places(hashes, moved, new, numbers)
    skipped = np.zeros(graph.nodes, np.bool_)
    skipped[label_nodes] = True
    visible = [
        "" if number < graph.nodes and skipped[number] else norm
        for number, norm in zip(added.tolist(), norms, strict=True)
    ]
    return NamesIndex(
        graph,
        np.insert(hashes, at, new),
        np.insert(moved, at, numbers).astype(np.int32),
        label_nodes,
        _updated_typos(old.typos, kept, added, visible, entries),
    )


def _buckets(entries: int) -> int:
    return 1 << min(20, max(8, entries.bit_length()))


def _places(hashes: NDArray[np.uint64], entries: Int64, new: NDArray[np.uint64], numbers: Int64) -> Int64:
    """Where in the pairs (hash, entry), sorted, the new pairs go."""
    first, last = np.searchsorted(hashes, new, "left"), np.searchsorted(hashes, new, "right")
    inside = [int(np.searchsorted(entries[a:b], n)) for a, b, n in zip(first, last, numbers, strict=True)]
    return first + np.array(inside, np.int64)


def _updated_typos(old: Typos, kept: Int64, added: Int64, norms: Sequence[str], entries: int) -> Typos:
    buckets = len(old.posting_offsets) - 1

    new = Typos.of(lambda: iter([(0, list(norms))]), len(norms)) if norms else None
    lengths = np.zeros(entries, np.uint16)
    lengths[kept[kept >= 0]] = old.lengths[kept >= 0]
    if new is not None:
        lengths[added] = new.lengths
    offsets, postings = _merged_lists(
        old.posting_offsets, old.postings, kept, *_new_postings(norms, added, buckets)
    )
    shown = np.flatnonzero(lengths[added] > 0) if len(added) else np.empty(0, np.int64)
    signature_of = np.zeros(entries, np.uint32)
    if new is not None:
        signature_of[added[new.by_length]] = new.signatures
    order = np.lexsort((added[shown], lengths[added[shown]]))
    rows = added[shown][order]
    alive = kept[old.by_length] >= 0
    signature_of[kept[old.by_length[alive]]] = old.signatures[alive]
    length_offsets, by_length = _merged_lists(
        old.length_offsets, old.by_length, kept, lengths[rows].astype(np.int64), rows
    )
    return Typos(offsets, postings, lengths, length_offsets, by_length, signature_of[by_length])


def _new_postings(norms: Sequence[str], added: Int64, buckets: int) -> tuple[Int64, Int64]:
    """(list, entry) of the new entries, sorted."""
    bucket, row = postings_of(norms, buckets)
    return bucket, added[row]


def _merged_lists(
    offsets: Int64, values: Int32, kept: Int64, lists: Int64, entries: Int64
) -> tuple[Int64, Int32]:
    """Lists of ascending entries, those kept renumbered, with the pairs (`lists`, `entries`), sorted.

    Put in.
    """
    count = len(offsets) - 1
    moved = kept[values]
    there = moved >= 0
    key = (np.repeat(np.arange(count), np.diff(offsets)) << 32 | moved)[there]
    at = np.searchsorted(key, lists << 32 | entries)
    merged = np.insert(moved[there], at, entries).astype(np.int32)
    sizes = np.bincount(key >> 32, minlength=count) + np.bincount(lists, minlength=count)
    found = np.zeros(count + 1, np.int64)
    np.cumsum(sizes, out=found[1:])
    return found, merged
