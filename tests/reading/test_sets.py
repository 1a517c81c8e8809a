"""Sets of ids are NumPy's, only faster."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clew.query.execute import SetCache, difference, distinct, intersection, union

IDS = st.lists(st.integers(0, 30), max_size=40).map(lambda ids: np.array(ids, np.int64))


@given(IDS, IDS)
def test_sets_are_those_of_numpy(one, other):
    a, b = distinct(one), distinct(other)
    assert a.tolist() == sorted(set(one.tolist()))
    assert intersection(a, b).tolist() == np.intersect1d(a, b).tolist()
    assert union(a, b).tolist() == np.union1d(a, b).tolist()
    assert difference(a, b).tolist() == np.setdiff1d(a, b).tolist()


def test_sets_are_made_once_until_there_are_too_many():
    kept, made = SetCache(most=5), []

    def make(size):
        made.append(size)
        return {0: np.arange(size)}

    for size in (2, 3, 2, 3, 4, 2):
        assert len(kept.get(size, lambda size=size: make(size))[0]) == size
    assert made == [2, 3, 4, 2]
