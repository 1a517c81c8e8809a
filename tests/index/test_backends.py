"""The contract of the vector backends: every one finds, adds, removes, saves and opens alike."""

import os
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest

from clew.errors import FormatError, IndexAccessError, UsageError
from clew.index.vectors.backends import (
    MilvusPlace,
    MilvusVectors,
    VectorAccess,
    VectorChoice,
    has_faiss,
    open_vectors,
)
from clew.index.vectors.nearest import FaissVectors, VectorStoreError

DIMENSION = 16


@pytest.fixture(scope="module", params=["faiss", "milvus-lite", "milvus-server"])
def backend(request, tmp_path_factory):
    """Make an empty index of a dimension. All tests of one backend run before those of the next."""
    if request.param.startswith("faiss") and not has_faiss():
        pytest.skip("faiss is not installed")
    if not request.param.startswith("milvus"):
        return FaissVectors
    if find_spec("pymilvus") is None:
        pytest.skip("pymilvus is not installed")
    if request.param == "milvus-server":
        place = MilvusPlace(request.getfixturevalue("milvus").uri)
    else:
        if find_spec("milvus_lite") is None:
            pytest.skip("milvus-lite is not installed")
        place = MilvusPlace(str(tmp_path_factory.mktemp("lite") / "vectors.db"))
    return partial(MilvusVectors, place=place)


@pytest.fixture(scope="module")
def vectors():
    rows = np.random.default_rng(1).normal(size=(600, DIMENSION)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def filled(backend, vectors):
    """An index that is only looked into."""
    index = backend(DIMENSION)
    index.add(np.arange(600) * 7, vectors)
    return index


def test_the_vector_itself_is_the_nearest(filled, vectors):
    assert len(filled) == 600
    for row in range(0, 600, 37):
        found = filled.search(vectors[row], 5)
        assert found.ids[0] == row * 7
        assert found.distances[0] < 0.05
        assert (np.diff(found.distances) >= 0).all()


def test_most_of_the_nearest_are_found(filled, vectors):
    rng, hits = np.random.default_rng(2), 0
    for _ in range(30):
        query = vectors[rng.integers(600)] + rng.normal(scale=0.05, size=DIMENSION).astype(np.float32)
        exact = np.argsort(np.linalg.norm(vectors - query, axis=1))[:10] * 7
        hits += len(set(filled.search(query, 10).ids.tolist()) & set(exact.tolist()))
    assert hits >= 250


def test_saved_and_opened_it_answers_alike(filled, vectors, tmp_path):
    filled.save(tmp_path / "v")
    opened = open_vectors(tmp_path / "v", DIMENSION)
    assert len(opened) == 600
    found, before = opened.search(vectors[3], 8), filled.search(vectors[3], 8)
    assert found.ids.tolist() == before.ids.tolist()
    np.testing.assert_allclose(found.distances, before.distances)
    assert sorted(os.listdir(tmp_path)) == ["v"]


def test_more_than_there_are_and_none(backend, filled, vectors):
    assert len(filled.search(vectors[0], 10_000).ids) > 300
    assert len(backend(DIMENSION).search(vectors[0], 3).ids) == 0


def test_a_query_of_another_shape_is_a_usage_error(filled, vectors):
    with pytest.raises(UsageError, match=r"\[16\] is needed"):
        filled.search(vectors[0, :8], 3)


def test_of_a_collection_some_are_searched_and_removed(backend, vectors):
    index = backend(DIMENSION)
    if not isinstance(index, MilvusVectors):
        pytest.skip("files are made anew")
    index.add(np.arange(600) * 7, vectors)
    assert set(index.search(vectors[10], 3, np.array([70, 77, 5])).ids.tolist()) == {70, 77}
    index.remove(np.array([70, 5]))
    assert len(index) == 599
    assert 70 not in index.search(vectors[10], 20).ids


def test_damaged_files_and_other_dimensions_are_format_errors(filled, tmp_path):
    path = tmp_path / "v"
    filled.save(path)
    with pytest.raises(FormatError, match="dimension 16, the embedder gives 32"):
        open_vectors(path, 32)
    data = bytearray(path.read_bytes())
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(FormatError, match=r"(cannot read it|damaged).*Index the sources again"):
        open_vectors(path)


def test_a_disk_that_fills_leaves_the_old_file(filled, tmp_path):
    path = tmp_path / "missing" / "v"
    with pytest.raises(IndexAccessError):
        filled.save(path)


def test_the_backend_follows_the_count():
    assert [VectorChoice().uses_faiss(n) for n in (10, 200_000, 200_001)] == [False, False, has_faiss()]
    assert not VectorChoice("milvus", MilvusPlace("vectors.db")).uses_faiss(200_001)


def test_a_milvus_that_is_not_there_says_where_and_what_to_do():
    pytest.importorskip("pymilvus")
    index = MilvusVectors(DIMENSION, MilvusPlace("http://127.0.0.1:9", write_seconds=1))
    with pytest.raises(VectorStoreError, match=r"127\.0\.0\.1:9 did not create .*run the same command"):
        index.add(np.array([1]), np.ones((1, DIMENSION), np.float32))


def test_a_collection_that_is_gone_is_a_format_error(milvus, vectors, tmp_path):
    index = MilvusVectors(DIMENSION, MilvusPlace(milvus.uri))
    index.add(np.arange(5), vectors[:5])
    index.save(tmp_path / "v")
    index.drop()
    with pytest.raises(FormatError, match="has no collection"):
        open_vectors(tmp_path / "v", access=VectorAccess(milvus.uri))


def test_a_collection_of_the_same_name_that_is_another_is_a_format_error(backend, vectors, tmp_path):
    index = backend(DIMENSION)
    if not isinstance(index, MilvusVectors):
        pytest.skip("the others are files")
    index.add(np.arange(5), vectors[:5])
    index.save(tmp_path / "v")
    another = MilvusVectors(DIMENSION, index.place, index.collection)
    another.create()
    with pytest.raises(FormatError, match=r"is of another index.*\$MILVUS_URI, or index the sources again"):
        open_vectors(tmp_path / "v")
    another.save(tmp_path / "v")
    open_vectors(tmp_path / "v")
