"""A corpus whose vectors are in Milvus finds what one on the disk finds, also when Milvus goes away."""

import os
import shutil
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from film_corpus import EMBEDDER, FILMS, assert_same_corpus

from clew.errors import IndexAccessError, UsageError
from clew.index.build import build_corpus, build_index
from clew.index.corpus import CorpusSettings, WalkIndex, open_corpus
from clew.index.store.directory import open_index
from clew.index.update.edits import Edits
from clew.index.update.update import update_index
from clew.index.vectors.backends import MilvusPlace, MilvusVectors, VectorChoice
from clew.index.vectors.nearest import VectorStoreError

SETTINGS = CorpusSettings("bfs", 3, max_walks=6)


@pytest.fixture
def place(tmp_path):
    pytest.importorskip("pymilvus")
    pytest.importorskip("milvus_lite")
    return MilvusPlace(str(tmp_path / "vectors.db"))


@pytest.fixture(params=["lite", "server"])
def both_places(request, place):
    return place if request.param == "lite" else MilvusPlace(request.getfixturevalue("milvus").uri)


def build(folder, place, settings=SETTINGS, embedder=EMBEDDER, text=FILMS):
    source = folder / "films.tsv"
    source.write_text(text)
    build_index(
        [source], folder / "films.clew", embedder=embedder, corpus=settings,
        vectors=VectorChoice("milvus", place) if place else None,
    )  # fmt: skip
    return folder / "films.clew"


def found(index, query, k=3):
    """Roots and walks that are nearest, without their scores."""
    walks = WalkIndex(index, EMBEDDER)
    nodes = walks.nearest_nodes(query, k)
    return nodes, [[(w.steps, w.nodes) for w in walks.nearest_walks(n, query, k)] for n in nodes]


def queries():
    return EMBEDDER.embed(["who directed Memento?", "year of Heat", "Nolan films"])


def assert_finds_the_same(path, folder):
    """As an index of the same graph that holds its vectors itself."""
    index = open_index(path)
    corpus = build_corpus(index.graph, EMBEDDER, open_corpus(index, connect=False).settings)
    with_vectors = WalkIndex(index, EMBEDDER)
    for query in queries():
        nodes = with_vectors.nearest_nodes(query, 3)
        cosines = unit(corpus.nodes) @ query
        np.testing.assert_allclose(cosines[nodes], np.sort(cosines)[::-1][:3], atol=1e-5)
        for node in nodes:
            mine, theirs = with_vectors.nearest_walks(node, query, 3), corpus.of_root(node)
            best = np.sort(theirs.vectors @ query)[::-1][:3]
            np.testing.assert_allclose([w.score for w in mine], best, atol=1e-5)


def unit(rows):
    rows = rows.astype(np.float32)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def test_it_finds_the_same_before_and_after_updates(both_places, tmp_path):
    path = build(tmp_path, both_places)
    assert_finds_the_same(path, tmp_path)
    for year in range(2):
        edits = Edits(
            add=[("Dune", "year", f"202{year}"), ("Heat", "seen_by", "Nolan")],
            remove=[("Memento", "directed_by", "Nolan")] if year else (),
        )
        update_index(path, edits, embedder=EMBEDDER)
        assert_finds_the_same(path, tmp_path)


def test_who_has_it_open_finds_the_old_vectors_until_the_second_update(place, tmp_path):
    path = build(tmp_path, place)
    old = open_index(path)
    walks, query = WalkIndex(old, EMBEDDER), queries()[0]
    nodes = walks.nearest_nodes(query, 3)
    before = [walks.nearest_walks(n, query, 3) for n in nodes]
    update_index(path, Edits(remove_entities=["Nolan"]), embedder=EMBEDDER)
    assert walks.nearest_nodes(query, 3) == nodes
    assert [walks.nearest_walks(n, query, 3) for n in nodes] == before
    update_index(path, Edits(add=[("Mann", "born_in", "Chicago")]), embedder=EMBEDDER)
    with pytest.raises(IndexAccessError, match="Open it again"):
        _ = [walks.nearest_walks(n, query, 3) for n in nodes]


def test_an_index_that_is_replaced_leaves_no_collections_but_those_of_the_generation_before(place, tmp_path):
    names = set()
    for year in range(3):
        path = build(tmp_path, place, text=f"{FILMS}Heat\tyear\t{year}\n")
        names |= {MilvusVectors.named_in(file) for file in open_index(path).files.values()}
    assert len(names) == 9  # of names, walks and nodes
    assert sum(is_there(place, n) for n in names) == 6
    assert_finds_the_same(path, tmp_path)
    update_index(path, Edits(add=[("Heat", "year", "1")]), embedder=EMBEDDER)
    assert sum(is_there(place, n) for n in names) == 3


def is_there(place, name):
    return MilvusVectors(1, place, name)._ask("look", "has_collection")


class Interrupting:
    """Counts letters, and does something before its text number `at`."""

    name, dimension, fingerprint = EMBEDDER.name, EMBEDDER.dimension, EMBEDDER.fingerprint

    def __init__(self, at, action):
        self.left, self.action = at, action

    def embed(self, texts):
        before, self.left = self.left, self.left - len(texts)
        if before > 0 >= self.left:
            self.action()
        return EMBEDDER.embed(texts)


CHAIN = "".join(f"n{i}\tnext\tn{i + 1}\n" for i in range(3000))


def test_milvus_that_goes_down_in_mid_build_is_a_clear_error_and_the_old_index_stays(milvus, tmp_path):
    place = MilvusPlace(milvus.uri)
    path = build(tmp_path, place)
    manifest = (path / "manifest.json").read_bytes()
    impatient = MilvusPlace(milvus.uri, write_seconds=2)
    try:
        with pytest.raises(VectorStoreError, match=r"Milvus at http://127.* run the same command again"):
            build(tmp_path, impatient, embedder=Interrupting(9000, milvus.kill), text=CHAIN)
    finally:
        milvus.start()
    assert (path / "manifest.json").read_bytes() == manifest
    assert_finds_the_same(path, tmp_path)
    build(tmp_path, place, text=CHAIN)
    corpus = open_corpus(open_index(path), writable=True)
    assert len(corpus.milvus.walks) == corpus.report().walks


def test_milvus_that_is_restarted_in_mid_build_is_waited_for(milvus, tmp_path):
    def restart():
        milvus.kill()
        threading.Thread(target=start).start()

    def start():
        time.sleep(1)
        milvus.start()
        started.set()

    started = threading.Event()
    path = build(tmp_path, MilvusPlace(milvus.uri), embedder=Interrupting(9000, restart), text=CHAIN)
    assert started.wait(60)
    corpus = open_corpus(open_index(path), writable=True)
    assert len(corpus.milvus.walks) == corpus.report().walks
    assert len(corpus.milvus.nodes) == 3001


def test_an_update_while_milvus_is_down_leaves_what_was(milvus, tmp_path):
    path = build(tmp_path, MilvusPlace(milvus.uri))
    manifest = (path / "manifest.json").read_bytes()
    milvus.kill()
    try:
        with pytest.raises(VectorStoreError, match="did not open"):
            update_index(path, Edits(add=[("Heat", "year", "1")]), embedder=EMBEDDER)
    finally:
        milvus.start()
    assert (path / "manifest.json").read_bytes() == manifest
    update_index(path, Edits(add=[("Heat", "year", "1")]), embedder=EMBEDDER)
    assert_finds_the_same(path, tmp_path)


def test_what_a_killed_update_left_in_milvus_is_not_found_and_goes(place, tmp_path, killed_update):
    path = build(tmp_path, place)
    killed_update(path, Edits(add=[("Nolan", "born_in", "London")]), EMBEDDER)
    assert_finds_the_same(path, tmp_path)
    update_index(path, Edits(add=[("Mann", "born_in", "Chicago")]), embedder=EMBEDDER)
    assert_finds_the_same(path, tmp_path)
    corpus = open_corpus(open_index(path), writable=True)
    assert len(corpus.milvus.walks) == corpus.report().walks + len(corpus.milvus.dead_walks)


def test_a_milvus_that_lost_vectors_is_not_committed(place, tmp_path, monkeypatch):
    monkeypatch.setattr(MilvusVectors, "add_new", lambda *_: None)
    with pytest.raises(IndexAccessError, match="it lost some"):
        build(tmp_path, place)
    assert not (tmp_path / "films.clew" / "manifest.json").exists()


def test_milvus_needs_a_place():
    with pytest.raises(UsageError, match="MILVUS_URI"):
        VectorChoice("milvus")


def test_nodes_searched_by_faiss_are_those_that_are_nearest_also_after_updates(tmp_path):
    pytest.importorskip("faiss")
    source = tmp_path / "films.tsv"
    source.write_text(FILMS)
    path = tmp_path / "films.clew"
    build_index([source], path, embedder=EMBEDDER, corpus=SETTINGS, vectors=VectorChoice("faiss"))
    assert {"node_search.faiss", "entity_search.faiss"} <= set(os.listdir(path / "gen-000001"))
    for year in range(3):
        update_index(
            path, Edits(add=[("Dune", "year", str(year)), ("Mann", "made", "Heat")]), embedder=EMBEDDER
        )
        index = open_index(path)
        corpus = open_corpus(index)
        assert_same_corpus(corpus, build_corpus(index.graph, EMBEDDER, SETTINGS))
        for query in queries():
            nodes = WalkIndex(index, EMBEDDER).nearest_nodes(query, 3)
            cosines = unit(corpus.nodes) @ query
            np.testing.assert_allclose(cosines[nodes], np.sort(cosines)[::-1][:3], atol=0.02)
    assert Path(index.files["node_search"]).exists()
    shutil.rmtree(path)
