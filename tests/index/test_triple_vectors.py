"""Vectors of triples: the same as embedding their texts, made once, added to an index that stays whole."""

from pathlib import Path

import numpy as np
import pytest

from clew.engine import Clew
from clew.errors import IndexAccessError
from clew.index.store.directory import open_index
from clew.index.vectors.triples import TripleVectors, with_triple_vectors
from clew.opening.graph_view import index_sources

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
