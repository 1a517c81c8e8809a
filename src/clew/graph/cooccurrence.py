"""How many nodes have both of two ends of relations: a square of which only what is not 0 is kept.

What a node adds to it is the square of how many ends the node has, so a node of very many is kept as it is
(a *wide* node), and counted when a row is asked for: 100,000 relations take little more than their triples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Int32, Int64
from clew.graph.graph import Graph, counted_offsets, listed_places, offsets_of

MOST_CELLS = 1 << 28
"""Pairs of ends that are counted in one array, of 1 GiB."""
MOST_PAIRS = 1 << 27
"""Pairs that nodes are taken apart into where there is no such array; wider nodes are kept as they are."""
PAIRS_AT_ONCE = 1 << 22
"""Pairs that are sorted together; numbers of the rows that are remembered."""

Wide = tuple[Int32, Int64, Int32]
COOCCURRENCE_ARRAYS = ("starts", "other", "count", "wide", "wide_starts", "wide_ends", "widest")


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """Counts over nodes, by pairs of E ends.

    `starts` int64 [E + 1], `other` int32 and `count` int32 are the rows, without nodes that have more than
    `widest` ends. Of these, `wide` int32 ascending, `wide_starts` int64 and `wide_ends` int32 list the ends.
    """

    starts: Int64
    other: Int32
    count: Int32
    wide: Int32
    wide_starts: Int64
    wide_ends: Int32
    widest: int
    _rows: dict[int, Int64] = field(default_factory=dict[int, Int64], repr=False)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def row(self, end: int) -> Int64:
        """int64 [E]: nodes that have `end` and each end; not to be changed."""
        counts = self._rows.get(end)
        if counts is None:
            counts = self._row(end)
            if (len(self._rows) + 1) * len(self) > PAIRS_AT_ONCE:
                self._rows.clear()
            self._rows[end] = counts
        return counts

    def _row(self, end: int) -> Int64:
        row = np.zeros(len(self), np.int64)
        places = slice(self.starts[end], self.starts[end + 1])
        row[self.other[places]] = self.count[places]
        ends = self.wide_ends[_places_of(self.wide_starts, self._wide_with(end))]
        return row + np.bincount(ends, minlength=len(self)) if len(ends) else row

    def _wide_with(self, end: int) -> Int64:
        """Places of the wide nodes that have an end."""
        return self._wide_of_end[self._wide_places[end] : self._wide_places[end + 1]]

    def meet(self, first_end: int, second_end: int) -> bool:
        """Whether any node has both ends."""
        if first_end in self._rows or len(self) ** 2 <= PAIRS_AT_ONCE:
            return bool(self.row(first_end)[second_end])
        partners = self.other[self.starts[first_end] : self.starts[first_end + 1]]
        at = np.searchsorted(partners, second_end)
        if at < len(partners) and partners[at] == second_end:
            return True
        return bool(np.isin(self._wide_with(first_end), self._wide_with(second_end)).any())

    @cached_property
    def nodes(self) -> Int64:
        """int64 [E]: nodes that have each end."""
        ends = np.repeat(np.arange(len(self)), np.diff(self.starts))
        same = self.other == ends
        counts = np.zeros(len(self), np.int64)
        counts[ends[same]] = self.count[same]
        return counts + np.bincount(self.wide_ends, minlength=len(self))

    @cached_property
    def _wide_of_end(self) -> Int64:
        """Places of wide nodes, by their ends."""
        places = np.repeat(np.arange(len(self.wide)), np.diff(self.wide_starts))
        return places[np.argsort(self.wide_ends, kind="stable")]

    @cached_property
    def _wide_places(self) -> Int64:
        """Where those of each end are."""
        return counted_offsets(self.wide_ends, len(self))

    def changed(self, old: Cooccurrence, new: Cooccurrence, nodes: Int64) -> Cooccurrence:
        """What it is when `nodes`, of which `old` counts what they were, are as `new` counts them."""
        ends = len(new)
        parts = [(self, 1), (old, -1), (new, 1)]
        keys, counts = _merge_counts(
            [(part._keys(ends), sign * part.count.astype(np.int64)) for part, sign in parts]
        )
        stays = np.flatnonzero(~np.isin(self.wide, nodes))
        wide = np.concatenate([self.wide[stays], new.wide])
        widths = np.concatenate([np.diff(self.wide_starts)[stays], np.diff(new.wide_starts)])
        listed = np.concatenate([self.wide_ends[_places_of(self.wide_starts, stays)], new.wide_ends])
        order, starts = np.argsort(wide), offsets_of(widths)
        wide_nodes = (wide[order], offsets_of(widths[order]), listed[_places_of(starts, order)])
        return _of_keys(keys, counts, ends, self.widest, wide_nodes)

    def _keys(self, ends: int) -> Int64:
        """The pairs of the rows as numbers, of `ends` ends."""
        return np.repeat(np.arange(len(self)) * ends, np.diff(self.starts)) + self.other

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What it holds, as `of_arrays` takes it."""
        return {name: np.atleast_1d(getattr(self, name)) for name in COOCCURRENCE_ARRAYS}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Cooccurrence:
        """Make it of what `arrays` gave."""
        columns: Any = [arrays[name] for name in COOCCURRENCE_ARRAYS[:-1]]
        return cls(*columns, widest=int(arrays[COOCCURRENCE_ARRAYS[-1]][0]))

    @staticmethod
    def of_square(counts: NDArray[np.signedinteger[Any]]) -> Cooccurrence:
        """Make it of the counts of all pairs, [E, E]."""
        flat, empty = counts.reshape(-1), np.empty(0, np.int32)
        keys = np.flatnonzero(flat)
        return _of_keys(keys, flat[keys], len(counts), len(counts), (empty, np.zeros(1, np.int64), empty))

    @staticmethod
    def of(graph: Graph, nodes: NDArray[Any], widths: Int64, ends: int, widest: int | None) -> Cooccurrence:
        """Count `nodes`, which have `widths` ends each; those of more than `widest` are wide.

        Without that, as many nodes are taken apart as there is room for.
        """
        widest = _widest(widths) if widest is None else widest
        narrow = widths <= widest
        wide, wide_widths = nodes[~narrow].astype(np.int32), widths[~narrow]
        keys, counts = _count_pairs(graph, nodes[narrow], widths[narrow], ends)
        listed = (wide, offsets_of(wide_widths), _ends_of(graph, wide))
        return _of_keys(keys, counts, ends, widest, listed)


def _of_keys(keys: Int64, counts: NDArray[Any], ends: int, widest: int, wide: Wide) -> Cooccurrence:
    starts = np.searchsorted(keys, np.arange(ends + 1) * ends).astype(np.int64)
    other = (keys % max(ends, 1)).astype(np.int32)
    return Cooccurrence(starts, other, counts.astype(np.int32), *wide, widest)


def _widest(widths: Int64) -> int:
    """The most ends of nodes that are taken apart, so that their pairs are not too many."""
    nodes = np.bincount(widths) if len(widths) else np.zeros(1, np.int64)
    pairs = np.cumsum(nodes * np.arange(len(nodes), dtype=np.int64) ** 2)
    return int(np.searchsorted(pairs, MOST_PAIRS, side="right")) - 1


def _count_pairs(graph: Graph, nodes: NDArray[Any], widths: Int64, ends: int) -> tuple[Int64, Int64]:
    """Pairs of ends of nodes as numbers, ascending, and how many nodes have each."""
    empty = np.empty(0, np.int64)
    totals, parts = (empty, empty), list[tuple[Int64, Int64]]()
    for run in _runs(widths**2):
        keys = _pairs(_ends_of(graph, nodes[run]), widths[run], ends)
        parts.append(_sum_counts(keys, np.ones(len(keys), np.int64)))
        if sum(len(keys) for keys, _ in parts) > max(PAIRS_AT_ONCE, len(totals[0])):
            totals, parts = _merge_counts([totals, *parts]), []
    return _merge_counts([totals, *parts])


def _ends_of(graph: Graph, nodes: NDArray[Any]) -> Int32:
    """The ends of each node, one node after the other."""
    owners, side_ends = list[Int64](), list[Int32]()
    for number, side in enumerate((graph.out, graph.into)):
        lengths = side.stops[nodes] - side.starts[nodes]
        owner = np.repeat(np.arange(len(nodes)), lengths)
        relation = side.relation[listed_places(side.starts[nodes], lengths)].astype(np.int32)
        is_new = np.append(True, (relation[1:] != relation[:-1]) | (owner[1:] != owner[:-1]))[: len(owner)]
        owners.append(owner[is_new])
        side_ends.append(2 * relation[is_new] + number)
    order = np.argsort(np.concatenate(owners), kind="stable")
    return np.concatenate(side_ends)[order].astype(np.int32)


def _pairs(listed: Int32, widths: Int64, ends: int) -> Int64:
    """The pairs of the ends of each node, of which so many are listed, as numbers."""
    starts, node_widths = offsets_of(widths), np.repeat(widths, widths)
    first_ends = np.repeat(listed.astype(np.int64), node_widths)
    nodes = np.repeat(np.arange(len(widths)), widths)
    return first_ends * ends + listed[_places_of(starts, nodes)]


def _merge_counts(parts: Sequence[tuple[Int64, Int64]]) -> tuple[Int64, Int64]:
    keys, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _sum_counts(keys, counts)


def _runs(sizes: Int64) -> Iterator[slice]:
    """Runs of which the sizes together are about PAIRS_AT_ONCE."""
    at = np.cumsum(sizes) // PAIRS_AT_ONCE
    bounds = [0, *(np.flatnonzero(np.diff(at)) + 1).tolist(), len(sizes)]
    yield from (slice(start, stop) for start, stop in pairwise(bounds) if start < stop)


def _sum_counts(keys: Int64, counts: NDArray[Any]) -> tuple[Int64, Int64]:
    """The keys, ascending and once each, with the sums of their counts that are not 0."""
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order].astype(np.int64)
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.empty(0, np.int64)
    sums = np.add.reduceat(counts, first) if len(first) else counts
    return keys[first][sums != 0], sums[sums != 0]


def _places_of(starts: Int64, rows: NDArray[Any]) -> Int64:
    """The places of all that some rows hold."""
    return listed_places(starts[rows], np.diff(starts)[rows])
