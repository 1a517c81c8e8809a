"""Vectors of triples: the same as embedding their texts, made once, added to an index that stays whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from film_corpus import embedded_text

from clew.engine import Clew
from clew.errors import FormatError, IndexAccessError
from clew.index.store.directory import open_index
from clew.index.update.edit_files import EditFiles
from clew.index.vectors.triple_vectors import TRIPLE_VECTORS, TripleVectors, with_triple_vectors
from clew.opening.index_files import index_sources, update_index_files

LINES = (
    "The_Crow\twritten_by\tJohn Shirley\nThe_Crow\thas_genre\tAction\n東京\tdiscoveredBy\tØrsted\n!!!\t–\t…\n"
)


class Slow:
    """An embedder that does not add up: of the built-in one, but hides that it is additive."""

    def __init__(self, embedder: object) -> None:
        self._embedder = embedder
        self.name, self.fingerprint = embedder.name, embedder.fingerprint
        self.dimension, self.texts = embedder.dimension, 0

    def embed(self, texts):
        self.texts += len(texts)
        return self._embedder.embed(texts)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "kb.tsv"
    path.write_text(LINES, "utf-8")
    return path


@pytest.fixture
def opened(source: Path, tmp_path: Path) -> Clew:
    return Clew.open(source, cache_dir=tmp_path / "cache")


def rows(vectors: TripleVectors) -> np.ndarray:
    return vectors.rows.astype(np.float32) * vectors.scales[:, None]


@pytest.mark.parametrize("wrap", [lambda e: e, Slow], ids=["sums", "texts"])
def test_rows_are_the_embedded_texts(opened: Clew, wrap):
    embedder = wrap(opened.embedder)
    index = with_triple_vectors(opened.index, embedder)
    vectors = TripleVectors.of(index, embedder)
    texts = [embedded_text(index.graph, t) for t in range(index.graph.triples)]
    assert "(The Crow, written by, John Shirley)" in texts
    assert np.abs(rows(vectors) - opened.embedder.embed(texts)).max() < 0.004


def test_vectors_are_made_once_and_no_question_embeds_triples(opened: Clew):
    embedder = Slow(opened.embedder)
    index = with_triple_vectors(opened.index, embedder)
    made = embedder.texts
    again = with_triple_vectors(open_index(index.path), embedder)
    TripleVectors.of(again, embedder).top("who wrote it", np.arange(3), 2)
    assert embedder.texts == made + 1


def test_a_second_method_finds_what_the_first_added(opened: Clew):
    embedder = Slow(opened.embedder)
    first = with_triple_vectors(opened.index, embedder)
    made = embedder.texts
    second = with_triple_vectors(opened.index, embedder)
    assert second.manifest == first.manifest
    assert embedder.texts == made


def test_the_index_is_otherwise_the_same(opened: Clew):
    before = opened.index
    after = with_triple_vectors(before, opened.embedder)
    assert after.manifest.about == before.manifest.about
    assert after.manifest.generation == before.manifest.generation + 1
    assert {f.section: f.checksum for f in before.manifest.files}.items() <= {
        f.section: f.checksum for f in after.manifest.files
    }.items()
    assert list(after.graph.entities) == list(before.graph.entities)


@pytest.mark.parametrize("with_vectors", [False, True])
def test_an_index_made_anew_meanwhile_is_not_mixed_up(source: Path, tmp_path: Path, with_vectors: bool):
    out = tmp_path / "kb.clew"
    index_sources([source], out)
    opened = Clew.open(out)
    source.write_text("A\tb\tC\n", "utf-8")
    index_sources([source], out, triple_vectors=with_vectors)
    with pytest.raises(IndexAccessError, match="made anew"):
        with_triple_vectors(opened.index, opened.embedder)
    assert list(open_index(out).graph.entities) == ["A", "C"]


def test_index_option_makes_them_at_once(source: Path, tmp_path: Path):
    index_sources([source], tmp_path / "kb.clew", triple_vectors=True)
    assert TRIPLE_VECTORS in open_index(tmp_path / "kb.clew", verify=True).sections


def test_an_index_without_them_says_so(opened: Clew):
    with pytest.raises(FormatError, match="no section"):
        TripleVectors.of(opened.index, opened.embedder)


def test_similarities_are_the_dot_products(opened: Clew):
    index = with_triple_vectors(opened.index, opened.embedder)
    vectors = TripleVectors.of(index, opened.embedder)
    text = "what genre has the crow"
    exact = rows(vectors) @ opened.embedder.embed([text])[0]
    found = vectors.similarities(text)(np.arange(index.graph.triples))
    assert np.abs(found - exact).max() < 1e-3


def test_top_is_in_order_and_ties_go_to_the_smaller_id(opened: Clew):
    index = with_triple_vectors(opened.index, opened.embedder)
    vectors = TripleVectors.of(index, opened.embedder)
    top, scores = vectors.top("", np.array([3, 1, 2, 0]), 3)
    assert top.tolist() == [0, 1, 2]
    assert (scores == 0).all()
    top, scores = vectors.top("action genre", np.array([3, 1, 2, 0]), 9)
    assert len(top) == 4
    assert (np.diff(scores) <= 0).all()
    assert embedded_text(index.graph, int(top[0])) == "(The Crow, has genre, Action)"


def test_a_section_whose_parts_do_not_fill_its_shape_is_refused(opened: Clew):
    from clew.index.store.writing import writing

    with writing(opened.path) as writer, pytest.raises(ValueError, match="do not fill"):
        writer.add_parts("short", (3, 2), np.dtype(np.int8), [np.zeros((2, 2), np.int8)])
    assert open_index(opened.path).manifest == opened.index.manifest


@pytest.mark.parametrize("before", [True, False])
def test_vectors_of_triples_follow_an_update(source: Path, tmp_path: Path, before: bool):
    """Whether they were there before it, or are made after it."""
    path, new = tmp_path / "kb.clew", tmp_path / "new.tsv"
    index_sources([source], path, triple_vectors=before)
    new.write_text("The_Crow\tdirected_by\tAlex Proyas\n", "utf-8")
    update_index_files(path, EditFiles([new]))
    opened = Clew.open(path)
    assert (TRIPLE_VECTORS in opened.index.sections) == before
    index = with_triple_vectors(opened.index, opened.embedder)
    slots = np.arange(index.graph.triples)
    texts = [embedded_text(index.graph, t) for t in slots.tolist()]
    found = rows(TripleVectors.of(index, opened.embedder))[slots]
    assert np.allclose(found, opened.embedder.embed(texts), atol=0.01)
    assert open_index(path, verify=True).graph.triples == opened.index.graph.triples


def test_an_update_of_aliases_keeps_the_vectors_of_triples(source: Path, tmp_path: Path):
    path, aliases = tmp_path / "kb.clew", tmp_path / "aliases.tsv"
    index_sources([source], path, triple_vectors=True)
    aliases.write_text("The_Crow\tCrow\n", "utf-8")
    update_index_files(path, EditFiles(aliases=aliases))
    assert TRIPLE_VECTORS in open_index(path).sections
