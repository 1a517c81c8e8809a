"""Vectors of walks by sums over their parts are those of their texts."""

import numpy as np
import pytest

from clew.graph.build.build import graph_of
from clew.graph.walks.walks import Walker, WalkSettings
from clew.index.corpus.corpus_parts import root_of_walks
from clew.index.corpus.walk_vectors import WalkEmbedder
from clew.text.embedder import Additive
from clew.text.embedders.static import StaticEmbedder

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


def test_sentences_of_a_model_are_embedded_as_they_are(embedder, graph, walks):
    maker = WalkEmbedder(graph, embedder)
    said = ["A film of its own."] + [""] * (len(walks.steps) - 1)
    found = maker.vectors(root_of_walks(walks), walks.steps, walks.nodes, said)
    assert not np.allclose(
        found[0], maker.vectors(root_of_walks(walks), walks.steps, walks.nodes)[0], atol=1e-3
    )


def test_plain_vectors_are_those_of_sentences_alone(embedder, graph, walks):
    maker = WalkEmbedder(graph, embedder, plain=True)
    owners = root_of_walks(walks)
    sentences = [
        maker.templates.sentence(*walk)
        for walk in zip(owners.tolist(), walks.steps.tolist(), walks.nodes.tolist(), strict=True)
    ]
    q, scale = maker.quantised(owners, walks.steps, walks.nodes)
    wanted = embedder.embed(sentences)
    assert np.abs(q * scale[:, None] - wanted).max() <= 0.51 * scale.max()
    nodes, node_scale = maker.node_vectors(walks, q, scale)
    for row in range(len(walks.roots)):
        at = slice(int(walks.offsets[row]), int(walks.offsets[row + 1]))
        mean = (wanted[at] * walks.counts[at, None]).sum(axis=0)
        assert np.allclose(nodes[row] * node_scale[row], mean / np.linalg.norm(mean), atol=0.02)


def test_a_root_without_walks_has_the_vector_of_its_name(embedder):
    lonely = graph_of([("a", "r", "b"), ("c", "s", "c")])
    walks = Walker(lonely, WalkSettings("bfs", 2, directed=True)).walk(
        np.arange(lonely.nodes, dtype=np.int32)
    )
    maker = WalkEmbedder(lonely, embedder, plain=True)
    nodes, scale = maker.node_vectors(walks, *maker.quantised(root_of_walks(walks), walks.steps, walks.nodes))
    row = [lonely.labels[root] for root in walks.roots.tolist()].index("b")
    assert walks.offsets[row] == walks.offsets[row + 1]
    assert np.allclose(nodes[row] * scale[row], embedder.embed(["b"])[0], atol=0.02)


@pytest.mark.parametrize("most", [1, 3])
def test_vectors_do_not_depend_on_the_names_that_are_remembered(embedder, graph, walks, most):
    owners = root_of_walks(walks)
    wanted = WalkEmbedder(graph, embedder).quantised(owners, walks.steps, walks.nodes)
    maker = WalkEmbedder(graph, embedder, remembered=most)
    for at in range(0, len(owners), 7):
        part = slice(at, at + 7)
        q, scale = maker.quantised(owners[part], walks.steps[part], walks.nodes[part])
        assert np.array_equal(q, wanted[0][part])
        assert np.array_equal(scale, wanted[1][part])
