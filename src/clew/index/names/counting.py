"""Kernels of `typos`: counting over lists and comparing signatures."""

from __future__ import annotations

import numpy as np

from clew.graph.kernels import Array, entry


@entry
def shared(postings: Array, spans: Array, low: int, high: int, least: int) -> tuple[Array, Array]:
    """(ranks in [low, high) that are in at least `least` of the lists, in how many: uint8).

    `spans` int64 [lists, 2] are ranges of `postings`, whose ranks all are in [low, high); a byte a rank
    counts.
    """
    counts = np.zeros(high - low, np.uint8)
    found = np.empty(1024, np.int32)
    size = 0
    for i in range(len(spans)):
        for at in range(spans[i, 0], spans[i, 1]):
            rank = postings[at] - low
            counts[rank] += np.uint8(1)
            if counts[rank] == least:
                if size == len(found):
                    bigger = np.empty(2 * size, np.int32)
                    bigger[:size] = found
                    found = bigger
                found[size] = rank
                size += 1
    found = found[:size]
    times = np.empty(size, np.uint8)
    for i in range(size):
        times[i] = counts[found[i]]
    return found + np.int32(low), times


@entry
def by_signature(signatures: Array, low: int, high: int, wanted: int, most: int) -> tuple[Array, Array]:
    """(ranks in [low, high) whose signature differs from `wanted` in at most `most` bits, in how many)."""
    found = np.empty(1024, np.int32)
    bits = np.empty(1024, np.uint8)
    size = 0
    for rank in range(low, high):
        word = np.uint64(signatures[rank] ^ np.uint32(wanted))
        word -= (word >> np.uint64(1)) & np.uint64(0x55555555)
        word = (word & np.uint64(0x33333333)) + ((word >> np.uint64(2)) & np.uint64(0x33333333))
        word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F)
        differing = ((word * np.uint64(0x01010101)) >> np.uint64(24)) & np.uint64(0xFF)
        if differing <= most:
            if size == len(found):
                more, more_bits = np.empty(2 * size, np.int32), np.empty(2 * size, np.uint8)
                more[:size], more_bits[:size] = found, bits
                found, bits = more, more_bits
            found[size], bits[size] = rank, differing
            size += 1
    return found[:size], bits[:size]
