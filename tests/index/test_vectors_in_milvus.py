"""An index whose vectors of names and triples are in Milvus finds what one on the disk finds."""

import shutil
from itertools import pairwise

import numpy as np
import pytest
from film_corpus import EMBEDDER, FILMS

from clew.errors import FormatError, IndexAccessError, UsageError
from clew.graph.match.matcher import match
from clew.index.build import build_index
from clew.index.corpus import WalkIndex
from clew.index.info import info_of
from clew.index.store.directory import open_index
from clew.index.update.edits import Edits
from clew.index.update.update import update_index
from clew.index.vectors.backends import MilvusPlace, MilvusVectors, VectorAccess, VectorChoice
from clew.index.vectors.entities import IndexDistances, open_entity_search
from clew.index.vectors.in_milvus import InMilvus
from clew.index.vectors.triples import TripleVectors, triple_search
from clew.llm.testing import ScriptedModel
from clew.methods.baselines.method import VectorRag
from clew.types import Pattern, PatternEdge, PatternNode

QUESTIONS = ("who directed Memento?", "year of Heat", "Nolan films")
EDITS = (
    Edits(add=[("Dune", "year", "2021"), ("Heat", "seen_by", "Nolan")]),
    Edits(add=[("Dune", "directed_by", "Villeneuve")], remove=[("Memento", "directed_by", "Nolan")]),
    Edits(add=[("Memento", "directed_by", "Nolan")], remove=[("Dune", "year", "2021")]),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One database for all tests: names of collections follow from the path of an index."""
    pytest.importorskip("pymilvus")
    pytest.importorskip("milvus_lite")
    return MilvusPlace(str(tmp_path_factory.mktemp("lite") / "vectors.db"))


@pytest.fixture(params=["lite", "server"])
def both_places(request, place):
    return place if request.param == "lite" else MilvusPlace(request.getfixturevalue("milvus").uri)


def build(folder, place, text=FILMS, **options):
    source = folder / "films.tsv"
    source.write_text(text)
    vectors = VectorChoice("milvus", place) if place else None
    options.setdefault("triple_vectors", True)
    build_index([source], folder / "films.clew", embedder=EMBEDDER, vectors=vectors, **options)
    return folder / "films.clew"


def written_anew(index, folder):
    """The index of the same graph, its vectors in files."""
    folder.mkdir(exist_ok=True)
    lines = ["\t".join(names(index.graph, slot)) for slot in range(index.graph.triples)]
    return open_index(build(folder, None, "\n".join(lines) + "\n"))


def names(graph, triple):
    head, relation, tail = graph.triple(triple)
    return graph.entities[head], graph.relations[relation], graph.entities[tail]


def assert_finds_the_same(path, folder):
    mine = open_index(path)
    theirs = written_anew(mine, folder)
    assert_same_names(mine, theirs)
    assert_same_triples(mine, theirs)


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


def test_it_finds_the_same_before_and_after_updates(both_places, tmp_path):
    path = build(tmp_path, both_places)
    assert_finds_the_same(path, tmp_path / "again")
    for edits in EDITS:
        update_index(path, edits, embedder=EMBEDDER)
    assert_finds_the_same(path, tmp_path / "again")


def test_after_an_update_they_are_still_in_milvus(place, tmp_path):
    path = build(tmp_path, place)
    update_index(path, EDITS[0], embedder=EMBEDDER)
    assert info_of(open_index(path)).vectors == {"names": "milvus", "triples": "milvus"}


def test_patterns_are_matched_and_nodes_found_as_by_files(place, tmp_path):
    path = build(tmp_path, place)
    mine = open_index(path)
    theirs = written_anew(mine, tmp_path / "again")
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


def test_what_a_killed_update_left_is_not_found_and_goes(place, tmp_path, killed_update):
    path = build(tmp_path, place)
    killed_update(path, EDITS[0], EMBEDDER)
    assert_finds_the_same(path, tmp_path / "again")
    update_index(path, Edits(add=[("Mann", "born_in", "Chicago")]), embedder=EMBEDDER)
    held = InMilvus.open(open_index(path))
    assert (len(held.names), len(held.triples)) == (7, 5)


def test_who_has_it_open_finds_the_old_triples_until_the_second_update(place, tmp_path):
    path = build(tmp_path, place)
    old = open_index(path)
    triples, slots = triple_search(old, EMBEDDER), np.arange(old.graph.triples)
    before = triples.similarities("who")(slots)
    update_index(path, EDITS[1], embedder=EMBEDDER)
    np.testing.assert_array_equal(triples.similarities("who")(slots), before)
    update_index(path, EDITS[0], embedder=EMBEDDER)
    with pytest.raises(IndexAccessError, match="Open it again"):
        triples.similarities("who")(slots)


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


def test_a_milvus_that_lost_vectors_is_not_committed(place, tmp_path, monkeypatch):
    monkeypatch.setattr(MilvusVectors, "add_new", lambda *_: None)
    with pytest.raises(IndexAccessError, match="it lost some"):
        build(tmp_path, place)
    assert not (tmp_path / "films.clew" / "manifest.json").exists()
