"""Vectors in faiss and Milvus find what those in files find, also when a server goes away."""

import os
import shutil
import threading
import time
from functools import partial
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pytest
from film_corpus import EMBEDDER, FILMS, assert_same_corpus

from clew.errors import FormatError, IndexAccessError, UsageError
from clew.graph.match.matcher import match
from clew.index.build import build_corpus, build_index
from clew.index.corpus import CorpusSettings, WalkIndex, open_corpus
from clew.index.info import info_of
from clew.index.store.directory import open_index
from clew.index.update.edits import Edits
from clew.index.update.update import update_index
from clew.index.vectors.backends import (
    FaissVectors,
    MilvusPlace,
    MilvusVectors,
    VectorAccess,
    VectorChoice,
    VectorStoreError,
    has_faiss,
    open_vectors,
)
from clew.index.vectors.entities import IndexDistances, open_entity_search
from clew.index.vectors.in_milvus import InMilvus
from clew.index.vectors.triples import TripleVectors, triple_search
from clew.llm.testing import ScriptedModel
from clew.methods.baselines.method import VectorRag
from clew.types import Pattern, PatternEdge, PatternNode

SETTINGS = CorpusSettings("bfs", 3, max_walks=6)
QUESTIONS = ("who directed Memento?", "year of Heat", "Nolan films")
EDITS = (
    Edits(add=[("Dune", "year", "2021"), ("Heat", "seen_by", "Nolan")]),
    Edits(add=[("Dune", "directed_by", "Villeneuve")], remove=[("Memento", "directed_by", "Nolan")]),
    Edits(add=[("Memento", "directed_by", "Nolan")], remove=[("Dune", "year", "2021")]),
)
CHAIN = "".join(f"n{i}\tnext\tn{i + 1}\n" for i in range(3000))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One database for all tests: names of collections follow from the path of an index."""
    pytest.importorskip("pymilvus")
    pytest.importorskip("milvus_lite")
    return MilvusPlace(str(tmp_path_factory.mktemp("lite") / "vectors.db"))


def build(folder, place, text=FILMS, *, embedder=EMBEDDER, corpus=SETTINGS, triple_vectors=True):
    source = folder / "films.tsv"
    source.write_text(text)
    build_index(
        [source], folder / "films.clew", embedder=embedder, corpus=corpus, triple_vectors=triple_vectors,
        vectors=VectorChoice("milvus", place) if place else None,
    )  # fmt: skip
    return folder / "films.clew"


def build_walks(folder, place, text=FILMS, **options):
    """An index without vectors of triples."""
    return build(folder, place, text, triple_vectors=False, **options)


def written_anew(index, folder, **options):
    """The index of the same graph, its vectors in files."""
    folder.mkdir(exist_ok=True)
    lines = ["\t".join(names(index.graph, slot)) for slot in range(index.graph.triples)]
    return open_index(build(folder, None, "\n".join(lines) + "\n", **options))


def names(graph, triple):
    head, relation, tail = graph.triple(triple)
    return graph.entities[head], graph.relations[relation], graph.entities[tail]


def assert_finds_the_same(path, folder):
    """As an index of the same graph that holds its vectors itself."""
    mine = open_index(path)
    theirs = written_anew(mine, folder)
    assert_same_names(mine, theirs)
    assert_same_triples(mine, theirs)
    assert_same_walks(mine)


def assert_same_names(mine, theirs):
    in_milvus, in_files = IndexDistances(mine, EMBEDDER), IndexDistances(theirs, EMBEDDER)
    for name in ("Memento", "Nolen", "Mann"):
        node = PatternNode(name, known=True)
        found = in_milvus.node_candidates(node, 300)
        wanted = in_files.node_candidates(node, 300)
        far = dict(zip((theirs.graph.entities[i] for i in wanted.entities), wanted.distances, strict=True))
        known = {mine.graph.entities[i]: d for i, d in zip(found.entities, found.distances, strict=True)}
        assert known.keys() >= far.keys()  # names that lost all their triples stay
        np.testing.assert_allclose([known[n] for n in far], list(far.values()), atol=1e-5)
        assert found.exhausted
        assert all(a <= b for a, b in pairwise(found.distances.tolist()))


def assert_same_triples(mine, theirs):
    found, wanted = triple_search(mine, EMBEDDER), TripleVectors.of(theirs, EMBEDDER)
    slots, others = np.arange(mine.graph.triples), np.arange(theirs.graph.triples)
    for text in QUESTIONS:
        keys, scores = [names(mine.graph, s) for s in slots], found.similarities(text)(slots)
        scores = dict(zip(keys, scores, strict=True))
        expected = wanted.similarities(text)(others)
        assert len(scores) == len(others)
        np.testing.assert_allclose([scores[names(theirs.graph, s)] for s in others], expected, atol=1e-3)
        top, best = found.top(text, slots, 3)
        np.testing.assert_allclose(best, np.sort(expected)[::-1][:3], atol=1e-3)
        assert [names(mine.graph, s) for s in top] == [names(mine.graph, s) for s in found.nearest(text, 3)]


def assert_same_walks(index):
    corpus = build_corpus(index.graph, EMBEDDER, open_corpus(index, connect=False).settings)
    in_milvus = WalkIndex(index, EMBEDDER)
    for query in EMBEDDER.embed(QUESTIONS):
        nodes = in_milvus.nearest_nodes(query, 3)
        cosines = unit(corpus.nodes) @ query
        np.testing.assert_allclose(cosines[nodes], np.sort(cosines)[::-1][:3], atol=1e-5)
        for node in nodes:
            found, wanted = in_milvus.nearest_walks(node, query, 3), corpus.of_root(node)
            best = np.sort(wanted.vectors @ query)[::-1][:3]
            np.testing.assert_allclose([walk.score for walk in found], best, atol=1e-5)


def unit(rows):
    rows = rows.astype(np.float32)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def test_who_has_it_open_finds_the_old_vectors_until_the_second_update(place, tmp_path):
    path = build(tmp_path, place)
    old = open_index(path)
    walks, query = WalkIndex(old, EMBEDDER), EMBEDDER.embed(QUESTIONS)[0]
    triples, slots = triple_search(old, EMBEDDER), np.arange(old.graph.triples)
    nodes, likeness = walks.nearest_nodes(query, 3), triples.similarities("who")(slots)
    before = [walks.nearest_walks(n, query, 3) for n in nodes]
    update_index(path, Edits(remove_entities=["Nolan"]), embedder=EMBEDDER)
    assert walks.nearest_nodes(query, 3) == nodes
    assert [walks.nearest_walks(n, query, 3) for n in nodes] == before
    np.testing.assert_array_equal(triples.similarities("who")(slots), likeness)
    update_index(path, Edits(add=[("Mann", "born_in", "Chicago")]), embedder=EMBEDDER)
    with pytest.raises(IndexAccessError, match="Open it again"):
        _ = [walks.nearest_walks(n, query, 3) for n in nodes]
    with pytest.raises(IndexAccessError, match="Open it again"):
        triples.similarities("who")(slots)


def test_an_index_that_is_replaced_leaves_no_collections_but_those_of_the_generation_before(place, tmp_path):
    names = set()
    for year in range(3):
        path = build_walks(tmp_path, place, text=f"{FILMS}Heat\tyear\t{year}\n")
        names |= {MilvusVectors.named_in(file) for file in open_index(path).files.values()}
    assert len(names) == 9  # of names, walks and nodes
    assert sum(is_there(place, n) for n in names) == 6
    assert_same_walks(open_index(path))
    update_index(path, Edits(add=[("Heat", "year", "1")]), embedder=EMBEDDER)
    assert sum(is_there(place, n) for n in names) == 3


def is_there(place, name):
    return MilvusVectors(1, place, name)._ask("look", "has_collection")


def test_what_a_killed_update_left_in_milvus_is_not_found_and_goes(place, tmp_path, killed_update):
    path = build(tmp_path, place)
    killed_update(path, EDITS[0], EMBEDDER)
    assert_finds_the_same(path, tmp_path / "again")
    update_index(path, Edits(add=[("Mann", "born_in", "Chicago")]), embedder=EMBEDDER)
    assert_finds_the_same(path, tmp_path / "again")
    held, corpus = InMilvus.open(open_index(path)), open_corpus(open_index(path), writable=True)
    assert (len(held.names), len(held.triples)) == (7, 5)
    assert len(corpus.milvus.walks) == corpus.report().walks + len(corpus.milvus.dead_walks)


def test_a_milvus_that_lost_vectors_is_not_committed(place, tmp_path, monkeypatch):
    monkeypatch.setattr(MilvusVectors, "add", lambda *_: None)
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
        for query in EMBEDDER.embed(QUESTIONS):
            nodes = WalkIndex(index, EMBEDDER).nearest_nodes(query, 3)
            cosines = unit(corpus.nodes) @ query
            np.testing.assert_allclose(cosines[nodes], np.sort(cosines)[::-1][:3], atol=0.02)
    assert index.files["node_search"].exists()


def test_patterns_are_matched_and_nodes_found_as_by_files(place, tmp_path):
    path = build(tmp_path, place, corpus=None)
    mine = open_index(path)
    theirs = written_anew(mine, tmp_path / "again", corpus=None)
    nodes = (PatternNode("Mementto", known=True), PatternNode("UNKNOWN director 1", known=False))
    pattern = Pattern(nodes, (PatternEdge(0, "directed by", 1),))
    for index in (mine, theirs):
        found = match(index.graph, pattern, IndexDistances(index, EMBEDDER), all_tied=True)
        assert [names(index.graph, m.triples[0]) for m in found.matches] == [
            ("Memento", "directed_by", "Nolan")
        ]
        assert found.complete
    query = EMBEDDER.embed(["Memento"])[0]
    near = [WalkIndex(index, EMBEDDER).nearest_nodes(query, 3) for index in (mine, theirs)]
    assert [mine.graph.entities[n] for n in near[0]] == [theirs.graph.entities[n] for n in near[1]]


def test_a_collection_of_another_index_is_a_clear_error(place, tmp_path):
    """A copy is asked after the index was made anew in its place: the collection has its name."""
    path = build(tmp_path, place)
    copy = tmp_path / "copy.clew"
    shutil.copytree(path, copy)
    shutil.rmtree(path)
    build(tmp_path, place, "Alien\tdirected_by\tScott\n")
    opened = open_index(copy)
    for ask in (open_entity_search, lambda index: triple_search(index, EMBEDDER)):
        with pytest.raises(FormatError, match=r"clew_.* of another index.*\$MILVUS_URI, or index the"):
            ask(opened)
    with pytest.raises(FormatError, match="of another index"):
        update_index(copy, EDITS[0], embedder=EMBEDDER)


def test_a_milvus_with_older_vectors_is_a_clear_error(place, tmp_path):
    path = build(tmp_path, place)
    InMilvus.open(open_index(path)).names.remove(np.array([1, 2]))
    with pytest.raises(FormatError, match=r"holds 4 of 6 vectors .*\$MILVUS_URI"):
        IndexDistances(open_index(path), EMBEDDER)


def test_another_milvus_without_them_is_a_clear_error(place, tmp_path):
    path = build(tmp_path, place)
    elsewhere = VectorAccess(str(tmp_path / "other.db"))
    with pytest.raises(FormatError, match=r"has no collection clew_.*\$MILVUS_URI"):
        IndexDistances(open_index(path, access=elsewhere), EMBEDDER)


def test_a_method_that_needs_all_vectors_says_so(place, tmp_path):
    path = build(tmp_path, place)
    with pytest.raises(UsageError, match="Index the sources without --vectors milvus"):
        VectorRag(open_index(path), EMBEDDER, model=ScriptedModel([]))


# What every backend of vectors does alike.
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


# From here on a server runs, which takes most of a core.


@pytest.fixture(params=["lite", "server"])
def both_places(request, place):
    return place if request.param == "lite" else MilvusPlace(request.getfixturevalue("milvus").uri)


def test_it_finds_the_same_after_updates(both_places, tmp_path):
    path = build(tmp_path, both_places)
    update_index(path, EDITS[0], embedder=EMBEDDER)
    for edits in EDITS[1:]:
        update_index(path, edits, embedder=EMBEDDER)
    assert_finds_the_same(path, tmp_path / "again")
    assert set(info_of(open_index(path)).vectors.values()) == {"milvus"}


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


@pytest.mark.slow
def test_milvus_that_goes_down_in_mid_build_is_a_clear_error_and_the_old_index_stays(milvus, tmp_path):
    place = MilvusPlace(milvus.uri)
    path = build_walks(tmp_path, place)
    manifest = (path / "manifest.json").read_bytes()
    impatient = MilvusPlace(milvus.uri, write_seconds=2)
    try:
        with pytest.raises(VectorStoreError, match=r"Milvus at http://127.* run the same command again"):
            build_walks(tmp_path, impatient, embedder=Interrupting(9000, milvus.kill), text=CHAIN)
    finally:
        milvus.start()
    assert (path / "manifest.json").read_bytes() == manifest
    assert_same_walks(open_index(path))
    build_walks(tmp_path, place, text=CHAIN)
    corpus = open_corpus(open_index(path), writable=True)
    assert len(corpus.milvus.walks) == corpus.report().walks


@pytest.mark.slow
def test_milvus_that_is_restarted_in_mid_build_is_waited_for(milvus, tmp_path):
    def restart():
        milvus.kill()
        threading.Thread(target=start).start()

    def start():
        time.sleep(1)
        milvus.start()
        started.set()

    started = threading.Event()
    path = build_walks(tmp_path, MilvusPlace(milvus.uri), embedder=Interrupting(9000, restart), text=CHAIN)
    assert started.wait(60)
    corpus = open_corpus(open_index(path), writable=True)
    assert len(corpus.milvus.walks) == corpus.report().walks
    assert len(corpus.milvus.nodes) == 3001


def test_an_update_while_milvus_is_down_leaves_what_was(milvus, tmp_path):
    path = build_walks(tmp_path, MilvusPlace(milvus.uri))
    manifest = (path / "manifest.json").read_bytes()
    milvus.kill()
    try:
        with pytest.raises(VectorStoreError, match="did not open"):
            update_index(path, Edits(add=[("Heat", "year", "1")]), embedder=EMBEDDER)
    finally:
        milvus.start()
    assert (path / "manifest.json").read_bytes() == manifest
    update_index(path, Edits(add=[("Heat", "year", "1")]), embedder=EMBEDDER)
    assert_same_walks(open_index(path))
