"""Vectors of triples: the same as embedding their texts, made once, added to an index that stays whole."""

from pathlib import Path

import numpy as np
import pytest

from clew.engine import Clew
from clew.errors import IndexAccessError
from clew.graph.build import graph_of
from clew.graph.walks.walks import Walker, WalkSettings
from clew.index.corpus import WalkEmbedder, root_of_walks
from clew.index.store.directory import open_index
from clew.index.vectors.triples import TripleVectors, with_triple_vectors
from clew.opening.graph_view import index_sources
from clew.text.embedders import Additive, StaticEmbedder

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
def clew(source: Path, tmp_path: Path) -> Clew:
    return Clew.open(source, cache_dir=tmp_path / "cache")


def test_vectors_are_made_once_and_no_question_embeds_triples(clew: Clew):
    embedder = Slow(clew.embedder)
    index = with_triple_vectors(clew.opened, embedder)
    made = embedder.texts
    again = with_triple_vectors(open_index(index.path), embedder)
    TripleVectors.of(again, embedder).top("who wrote it", np.arange(3), 2)
    assert embedder.texts == made + 1


@pytest.mark.parametrize("with_vectors", [False, True])
def test_an_index_made_anew_meanwhile_is_not_mixed_up(source: Path, tmp_path: Path, with_vectors: bool):
    out = tmp_path / "kb.clew"
    index_sources([source], out)
    clew = Clew.open(out)
    source.write_text("A\tb\tC\n", "utf-8")
    index_sources([source], out, triple_vectors=with_vectors)
    with pytest.raises(IndexAccessError, match="made anew"):
        with_triple_vectors(clew.opened, clew.embedder)
    assert list(open_index(out).graph.entities) == ["A", "C"]


NAMES = ["Amélie", "Jean-Pierre_Jeunet", "O'Brien’s", "2001", "ÆØ İstanbul", "!!!", "Rock & Roll", "x" * 1200]


class ByTexts:
    """The same embedder without its sums."""

    def __init__(self, inner):
        self.embed, self.dimension = inner.embed, inner.dimension


@pytest.fixture(scope="module")
def embedder():
    return StaticEmbedder.load()


@pytest.fixture(scope="module")
def graph():
    pairs = [(a, b) for a in range(len(NAMES)) for b in range(len(NAMES)) if (3 * a + b) % 4 == 1]
    return graph_of([(NAMES[a], ("directed_by", "release year")[b % 2], NAMES[b]) for a, b in pairs])


@pytest.fixture(scope="module")
def walks(graph):
    return Walker(graph, WalkSettings("random", 4, 20)).walk(np.arange(graph.nodes, dtype=np.int32))


def test_sums_over_parts_are_the_vectors_of_the_texts(embedder, graph, walks):
    made = root_of_walks(walks), walks.steps, walks.nodes
    assert isinstance(embedder, Additive)
    found = WalkEmbedder(graph, embedder).vectors(*made)
    wanted = WalkEmbedder(graph, ByTexts(embedder)).vectors(*made)
    assert np.allclose(found, wanted, atol=1e-5)
    q, scale = WalkEmbedder(graph, embedder).quantised(*made)
    assert np.abs(q * scale[:, None] - wanted).max() <= 0.51 * scale.max()
