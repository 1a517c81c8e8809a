"""The kernels of typos against plain Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.index.names.counting import by_signature, shared

LISTS = st.lists(st.lists(st.integers(100, 139), unique=True), max_size=6)


@settings(max_examples=40, deadline=None)
@given(LISTS, st.integers(1, 4))
def test_what_is_in_several_lists(lists, least):
    postings = np.array([rank for one in lists for rank in sorted(one)], np.int32)
    stops = np.cumsum([len(one) for one in lists], dtype=np.int64)
    spans = np.stack([np.concatenate([[0], stops[:-1]]), stops], 1) if lists else np.zeros((0, 2), np.int64)
    ranks, times = shared(postings, spans.astype(np.int64), 100, 140, least)
    counts = {rank: sum(rank in one for one in lists) for rank in range(100, 140)}
    assert dict(zip(ranks.tolist(), times.tolist(), strict=True)) == {
        rank: count for rank, count in counts.items() if count >= least
    }


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=30), st.integers(0, 2**32 - 1))
def test_what_differs_in_few_bits(signatures, wanted):
    found, bits = by_signature(np.array(signatures, np.uint32), 0, len(signatures), np.uint32(wanted), 16)
    differ = {rank: (one ^ wanted).bit_count() for rank, one in enumerate(signatures)}
    assert dict(zip(found.tolist(), bits.tolist(), strict=True)) == {
        rank: count for rank, count in differ.items() if count <= 16
    }
