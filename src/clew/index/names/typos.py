"""Names within a few edits: character trigrams for long names, letter signatures for short ones.

Both only propose candidates; `NamesIndex.fuzzy` measures the distance. Entries are ranked by length, and
every list holds ranks, so that names of nearly the length of a query are one slice of it. An edit changes at
most four trigrams (a swap of neighbours), so a name within k edits shares all but 4k of a query's trigrams:
they are counted, and the letter signatures (an edit changes at most two bits) sort out most of what is left.
A query of so few trigrams that none need be shared is compared with the signatures alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Int32, Int64, UInt16, UInt32
from clew.graph.graph import offsets_of

LONGEST_WITH_TYPOS = 128
"""Names of more characters than this are not searched for typos (they are found exactly)."""
POSTINGS_BUDGET = 8_000_000
"""Postings read for one query; beyond it, names that share only frequent trigrams may be missed."""
CANDIDATES_BUDGET = 4096
"""Names measured for one query, likeliest first."""
MERGED_AT_ONCE = 1 << 22
"""Postings that are merged together: 16 bytes each."""
_TRIGRAMS_AN_EDIT = 4
_BITS_AN_EDIT = 2
_SHARED = 3
"""Of the lists that are read, how many a candidate must be in."""
_ROW_BITS = 32
_ROWS = (1 << _ROW_BITS) - 1
_NOTHING = np.zeros(0, np.int64)


def edits_allowed(length: int) -> int:
    """How many edits still mean the same name of `length` characters: 0 below 3, 1 below 5, else 2."""
    if length < 3:
        return 0
    return 1 if length < 5 else 2


def buckets_for(entries: int) -> int:
    """How many lists of trigrams so many entries have; a power of two."""
    return 1 << min(20, max(8, entries.bit_length()))


@dataclass(frozen=True, eq=False)
class TypoPart:
    """What the entries from `first` on add, made apart from the others.

    `lengths` uint16 (0: left out) and `signatures` uint32 of each; `pairs` int64: its trigrams as
    `bucket << 32 | row`, distinct and sorted, rows counted from `first`.
    """

    first: int
    lengths: UInt16
    signatures: UInt32
    pairs: Int64

    @classmethod
    def of(cls, first: int, norms: Sequence[str], buckets: int) -> TypoPart:
        """Index normal forms; an empty string leaves its entry out."""
        chunk = _Chunk.of(norms)
        return cls(first, chunk.lengths.astype(np.uint16), chunk.signatures(), chunk.pairs(buckets))

    def ranked(self, low: int, high: int, rank: Int32) -> Int64:
        """What it adds to the buckets [low, high): `bucket << 32 | rank`, by the rank of each entry."""
        ends = np.array([low << _ROW_BITS, high << _ROW_BITS], self.pairs.dtype)
        start, stop = self.pairs.searchsorted(ends).tolist()
        pairs = np.asarray(self.pairs[start:stop])
        return pairs >> _ROW_BITS << _ROW_BITS | rank[(pairs & _ROWS) + self.first]


@dataclass(frozen=True, eq=False)
class Typos:
    """Arrays over entries by rank: in order of length, then entry.

    `by_length` int32: the entry of each rank; `signatures` uint32: a bit for each letter that occurs in it;
    `length_offsets` int64 [LONGEST_WITH_TYPOS + 2]: first rank of each length. `posting_offsets` int64
    [buckets + 1] and `postings` int32: ranks, ascending, with a trigram in that bucket.
    """

    posting_offsets: Int64
    postings: Int32
    length_offsets: Int64
    by_length: Int32
    signatures: UInt32

    @classmethod
    def of(cls, parts: Sequence[TypoPart], buckets: int, at_once: int = MERGED_AT_ONCE) -> Typos:
        """Merge parts that cover all entries in order, about so many postings `at_once`.

        Needs 4 bytes a trigram of every entry, which the lists take, and little beside.
        """
        lengths = np.concatenate([np.zeros(0, np.uint16), *(part.lengths for part in parts)])
        signatures = np.concatenate([np.zeros(0, np.uint32), *(part.signatures for part in parts)])
        order = np.argsort(lengths, kind="stable").astype(np.int32)[int((lengths == 0).sum()) :]
        rank = np.zeros(len(lengths), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        counts = np.zeros(buckets, np.int64)
        for part in parts:
            counts += np.bincount(np.asarray(part.pairs) >> _ROW_BITS, minlength=buckets)
        offsets = offsets_of(counts)
        postings = np.empty(int(offsets[-1]), np.int32)
        for low, high in _cut_lists(offsets, at_once):
            keys = np.concatenate([_NOTHING, *(part.ranked(low, high, rank) for part in parts)])
            keys.sort()
            postings[offsets[low] : offsets[high]] = keys & _ROWS
        per_length = np.bincount(lengths[order], minlength=LONGEST_WITH_TYPOS + 1)
        return cls(offsets, postings, offsets_of(per_length), order, signatures[order])

    @classmethod
    def open(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Typos:
        """From the arrays of `sections`."""
        return cls(*(arrays[name] for name in _FIELDS))  # pyright: ignore[reportArgumentType]

    def sections(self) -> dict[str, NDArray[np.generic]]:
        """Give the arrays by name."""
        return {name: getattr(self, name) for name in _FIELDS}

    def candidates(self, norm: str) -> Int32:
        """Entries that may be within the allowed edits of `norm`, likeliest first; `CANDIDATES_BUDGET`.

        None is missing unless a budget was reached.
        """
        edits = edits_allowed(len(norm))
        if not edits or len(norm) > LONGEST_WITH_TYPOS + edits:
            return np.empty(0, np.int32)
        shortest, longest = max(1, len(norm) - edits), min(LONGEST_WITH_TYPOS, len(norm) + edits)
        low, high = int(self.length_offsets[shortest]), int(self.length_offsets[longest + 1])
        chunk = _Chunk.of([norm], LONGEST_WITH_TYPOS + edits)
        signature = chunk.signatures()[0]
        trigrams = chunk.pairs(len(self.posting_offsets) - 1) >> _ROW_BITS
        if len(trigrams) > _TRIGRAMS_AN_EDIT * edits:
            ranks, shared = self._by_postings(trigrams, low, high, edits)
            near = _differing_bits(self.signatures[ranks], signature) <= _BITS_AN_EDIT * edits
            ranks, cost = ranks[near], -shared[near]
        else:
            bits = _differing_bits(self.signatures[low:high], signature)
            ranks = np.flatnonzero(bits <= _BITS_AN_EDIT * edits)
            cost = bits[ranks].astype(np.int64)
            ranks += low
        return self.by_length[ranks[_best(cost)]]

    def _by_postings(self, trigrams: Int64, low: int, high: int, edits: int) -> tuple[Int64, Int64]:
        """(ranks from `low` to `high` that share enough trigrams, how many they share)."""
        lists: list[tuple[int, int]] = []
        for trigram in trigrams.tolist():
            start, stop = int(self.posting_offsets[trigram]), int(self.posting_offsets[trigram + 1])
            ranks = self.postings[start:stop]
            # Of the lists' own type, or all of a list is converted first.
            first, after = ranks.searchsorted(np.array([low, high], ranks.dtype)).tolist()
            lists.append((start + first, start + after))
        lists.sort(key=lambda span: span[1] - span[0])
        affordable, total = 0, 0
        for start, stop in lists:
            total += stop - start
            affordable += affordable == 0 or total <= POSTINGS_BUDGET
        # The rarest are enough: a name within the edits shares all but so many of any of them.
        affordable = min(affordable, _TRIGRAMS_AN_EDIT * edits + _SHARED)
        least_shared = max(1, affordable - _TRIGRAMS_AN_EDIT * edits)
        times = np.bincount(np.concatenate([self.postings[a:b] for a, b in lists[:affordable]]) - low)
        candidates = np.flatnonzero(times >= least_shared)
        return candidates + low, times[candidates]


_FIELDS = ("posting_offsets", "postings", "length_offsets", "by_length", "signatures")


@dataclass(frozen=True, eq=False)
class _Chunk:
    """Normal forms as code points with a space before and after each; too long ones are left out.

    `points` uint32: the characters, and two spaces a norm; `lengths` int64 [norms], 0 where left out.
    """

    points: UInt32
    lengths: Int64

    @classmethod
    def of(cls, norms: Iterable[str], longest: int = LONGEST_WITH_TYPOS) -> _Chunk:
        short_norms = [n if len(n) <= longest else "" for n in norms]
        text = "".join(f" {n} " for n in short_norms if n)
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        return cls(points, np.fromiter(map(len, short_norms), np.int64, len(short_norms)))

    def _rows(self) -> Int64:
        """Give the row of each code point."""
        padded = np.where(self.lengths > 0, self.lengths + 2, 0)
        return np.repeat(np.arange(len(self.lengths)), padded)

    def pairs(self, buckets: int) -> Int64:
        """Distinct `bucket << 32 | row`, sorted; `buckets` is a power of two."""
        rows, points = self._rows(), self.points.astype(np.uint64)
        if not len(points):
            return np.empty(0, np.int64)
        mixed = points[:-2] * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= points[1:-1] * np.uint64(0xC2B2AE3D27D4EB4F)
        mixed ^= points[2:] * np.uint64(0x165667B19E3779F9)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        bucket = (mixed >> np.uint64(64 - (buckets.bit_length() - 1))).astype(np.int64)
        inside = rows[:-2] == rows[2:]
        pairs = bucket[inside] << _ROW_BITS | rows[:-2][inside]
        pairs.sort()  # several times faster than what np.unique does
        return pairs[np.append(True, pairs[1:] != pairs[:-1])] if len(pairs) else pairs

    def signatures(self) -> UInt32:
        """Set a bit for each of the 32 classes of letters that occurs; uint32 [norms]."""
        bits = np.left_shift(np.uint32(1), self.points & np.uint32(31))
        signatures = np.zeros(len(self.lengths), np.uint32)
        rows = np.flatnonzero(self.lengths)
        if len(rows):
            starts = np.cumsum(self.lengths[rows] + 2) - (self.lengths[rows] + 2)
            signatures[rows] = np.bitwise_or.reduceat(bits, starts)
        return signatures


def _cut_lists(offsets: Int64, at_once: int) -> Iterator[tuple[int, int]]:
    """Cut lists, by their offsets, into runs [low, high) of about `at_once` postings, or one list."""
    low, lists = 0, len(offsets) - 1
    while low < lists:
        high = int(offsets.searchsorted(offsets[low] + at_once, "right")) - 1
        high = max(high, low + 1)
        yield low, high
        low = high


def _best(cost: NDArray[np.integer]) -> Int64:
    """Places of the least costs in order, as many as may be measured."""
    return np.argsort(cost, kind="stable")[:CANDIDATES_BUDGET]


def _differing_bits(words: UInt32, signature: np.uint32) -> NDArray[np.uint8]:
    """How many bits of each word differ from those of `signature`."""
    bits = words ^ signature
    bits -= bits >> np.uint32(1) & np.uint32(0x55555555)
    bits = (bits & np.uint32(0x33333333)) + (bits >> np.uint32(2) & np.uint32(0x33333333))
    bits = bits + (bits >> np.uint32(4)) & np.uint32(0x0F0F0F0F)
    return (bits * np.uint32(0x01010101) >> np.uint32(24)).astype(np.uint8)
