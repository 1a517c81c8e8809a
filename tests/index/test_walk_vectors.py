"""Vectors of walks by sums over their parts are those of their texts."""

import numpy as np
import pytest

from clew.graph.build import graph_of
from clew.graph.walks.walks import Walker, WalkSettings
from clew.index.corpus import WalkEmbedder, root_of_walks
from clew.text.embedders import Additive, StaticEmbedder

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
