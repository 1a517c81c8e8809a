"""Names within a few edits: character trigrams for long names, letter signatures for short ones.

Both only propose candidates; `NamesIndex.fuzzy` measures the distance. An edit changes at most four
trigrams (a swap of neighbours), so of any 4k + 1 trigrams of a query a name within k edits shares one: a
query with more trigrams than that is found by postings, rarest first. A shorter query is compared with the
letter signatures of all names of nearly its length, since an edit changes at most two bits of a signature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Int32, Int64

UInt16 = NDArray[np.uint16]
UInt32 = NDArray[np.uint32]

LONGEST = 128
"""Names of more characters than this are not searched for typos (they are found exactly)."""
POSTINGS_BUDGET = 200_000
"""Postings read for one query; beyond it, names that share only frequent trigrams may be missed."""
CANDIDATES_BUDGET = 4096
"""Names measured for one query, likeliest first."""
_TRIGRAMS_AN_EDIT = 4
_BITS_AN_EDIT = 2

NormChunks = Callable[[], Iterator[tuple[int, list[str]]]]
"""Gives (id of the first entry, normal forms) chunk by chunk, and may be called again."""


def edits_allowed(length: int) -> int:
    """How many edits still mean the same name of `length` characters: 0 below 3, 1 below 5, else 2."""
    if length < 3:
        return 0
    return 1 if length < 5 else 2


@dataclass(frozen=True, eq=False)
class Typos:
    """Arrays over entries, whose ids are ascending in every list.

    `posting_offsets` int64 [buckets + 1] and `postings` int32: entries with a trigram in that bucket.
    `lengths` uint16 [entries]: characters of the normal form, 0 where an entry is left out.
    `by_length` int32 with `length_offsets` int64 [LONGEST + 2]: entries of each length, and in the same
    order `signatures` uint32: a bit for each letter that occurs.
    """

    posting_offsets: Int64
    postings: Int32
    lengths: UInt16
    length_offsets: Int64
    by_length: Int32
    signatures: UInt32

    @classmethod
    def of(cls, chunks: NormChunks, entries: int) -> Typos:
        """Index the normal forms; an empty string leaves its entry out. Reads `chunks` twice."""
        buckets = 1 << min(20, max(8, entries.bit_length()))
        lengths = np.zeros(entries, np.uint16)
        signatures = np.zeros(entries, np.uint32)
        counts = np.zeros(buckets, np.int64)
        for first, norms in chunks():
            part = _Chunk.of(norms)
            rows = slice(first, first + len(norms))
            lengths[rows], signatures[rows] = part.lengths, part.signatures()
            counts += np.bincount(part.postings(buckets)[0], minlength=buckets)
        offsets = _offsets(counts)
        postings = _fill(chunks, offsets, buckets)
        order = np.argsort(lengths, kind="stable").astype(np.int32)[int((lengths == 0).sum()) :]
        per_length = np.bincount(lengths[order], minlength=LONGEST + 1)
        return cls(offsets, postings, lengths, _offsets(per_length), order, signatures[order])

    @classmethod
    def open(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Typos:
        """From the arrays of `sections`."""
        return cls(*(arrays[name] for name in _FIELDS))  # pyright: ignore[reportArgumentType]

    def sections(self) -> dict[str, NDArray[np.generic]]:
        """Give the arrays by name."""
        return {name: getattr(self, name) for name in _FIELDS}

    def candidates(self, norm: str) -> Int32:
        """Entries that may be within the allowed edits of `norm`, at most `CANDIDATES_BUDGET`.

        None is missing unless a budget was reached.
        """
        edits = edits_allowed(len(norm))
        if not edits or len(norm) > LONGEST + edits:
            return np.empty(0, np.int32)
        trigrams = np.unique(_Chunk.of([norm], LONGEST + edits).postings(len(self.posting_offsets) - 1)[0])
        if len(trigrams) > _TRIGRAMS_AN_EDIT * edits:
            return self._by_postings(trigrams, len(norm), edits)
        return self._by_signature(norm, edits)

    def _by_postings(self, trigrams: Int64, length: int, edits: int) -> Int32:
        sizes = self.posting_offsets[trigrams + 1] - self.posting_offsets[trigrams]
        order = np.argsort(sizes, kind="stable")
        affordable = int(np.searchsorted(np.cumsum(sizes[order]), POSTINGS_BUDGET, "right"))
        order = order[: max(1, affordable)]
        lists = [
            self.postings[self.posting_offsets[t] : self.posting_offsets[t + 1]] for t in trigrams[order]
        ]
        entries, shared = np.unique(np.concatenate(lists)[:POSTINGS_BUDGET], return_counts=True)
        apart = np.abs(self.lengths[entries].astype(np.int64) - length)
        near = (apart <= edits) & (shared >= max(1, len(lists) - _TRIGRAMS_AN_EDIT * edits))
        return _best(entries[near], -shared[near])

    def _by_signature(self, norm: str, edits: int) -> Int32:
        shortest, longest = max(1, len(norm) - edits), min(LONGEST, len(norm) + edits)
        rows = slice(int(self.length_offsets[shortest]), int(self.length_offsets[longest + 1]))
        wanted = _Chunk.of([norm], LONGEST + edits).signatures()[0]
        differing = _count_bits(self.signatures[rows] ^ wanted)
        near = np.flatnonzero(differing <= _BITS_AN_EDIT * edits)
        return _best(self.by_length[rows][near], differing[near])


_FIELDS = ("posting_offsets", "postings", "lengths", "length_offsets", "by_length", "signatures")


@dataclass(frozen=True, eq=False)
class _Chunk:
    """Normal forms as code points with a space before and after each; too long ones are left out.

    `points` uint32 [characters + 2 · kept]; `lengths` int64 [norms], 0 where left out.
    """

    points: UInt32
    lengths: Int64

    @classmethod
    def of(cls, norms: Iterable[str], longest: int = LONGEST) -> _Chunk:
        kept = [n if len(n) <= longest else "" for n in norms]
        text = "".join(f" {n} " for n in kept if n)
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        return cls(points, np.fromiter(map(len, kept), np.int64, len(kept)))

    def _rows(self) -> Int64:
        """Give the row of each code point."""
        padded = np.where(self.lengths > 0, self.lengths + 2, 0)
        return np.repeat(np.arange(len(self.lengths)), padded)

    def postings(self, buckets: int) -> tuple[Int64, Int64]:
        """Distinct (bucket, row), sorted; `buckets` is a power of two."""
        rows, points = self._rows(), self.points.astype(np.uint64)
        if not len(points):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        mixed = points[:-2] * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= points[1:-1] * np.uint64(0xC2B2AE3D27D4EB4F)
        mixed ^= points[2:] * np.uint64(0x165667B19E3779F9)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        bucket = (mixed >> np.uint64(64 - (buckets.bit_length() - 1))).astype(np.int64)
        inside = rows[:-2] == rows[2:]
        pairs = np.unique(bucket[inside] << 32 | rows[:-2][inside])
        return pairs >> 32, pairs & 0xFFFFFFFF

    def signatures(self) -> UInt32:
        """Set a bit for each of the 32 classes of letters that occurs; uint32 [norms]."""
        bits = np.left_shift(np.uint32(1), self.points & np.uint32(31))
        found = np.zeros(len(self.lengths), np.uint32)
        kept = np.flatnonzero(self.lengths)
        if len(kept):
            starts = np.cumsum(self.lengths[kept] + 2) - (self.lengths[kept] + 2)
            found[kept] = np.bitwise_or.reduceat(bits, starts)
        return found


def postings_of(norms: Sequence[str], buckets: int) -> tuple[Int64, Int64]:
    """Distinct (bucket, row) of the trigrams of some normal forms, sorted; blank ones have none."""
    return _Chunk.of(norms).postings(buckets)


def _fill(chunks: NormChunks, offsets: Int64, buckets: int) -> Int32:
    """Fill the postings: each chunk's rows go behind those of the chunks before it."""
    postings = np.empty(int(offsets[-1]), np.int32)
    cursor = offsets[:-1].copy()
    for first, norms in chunks():
        bucket, row = _Chunk.of(norms).postings(buckets)
        counts = np.bincount(bucket, minlength=buckets)
        rank = np.arange(len(bucket)) - np.repeat(_offsets(counts)[:-1], counts)
        postings[cursor[bucket] + rank] = row + first
        cursor += counts
    return postings


def _offsets(counts: Int64) -> Int64:
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _best(entries: Int32, cost: Int64) -> Int32:
    """Keep the entries of least cost, as many as may be measured."""
    order = np.argsort(cost, kind="stable")[:CANDIDATES_BUDGET]
    return entries[order]


_BITS_OF_BYTE = np.array([bin(i).count("1") for i in range(256)], np.int64)


def _count_bits(words: UInt32) -> Int64:
    """Count the set bits of each word."""
    return _BITS_OF_BYTE[np.ascontiguousarray(words).view(np.uint8)].reshape(-1, 4).sum(axis=1)
