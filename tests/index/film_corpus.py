"""A graph of films whose corpus is stored, an embedder that needs no data, and two corpora compared."""

import numpy as np

from clew.opening.environment import keep_machine_code

keep_machine_code()
"""Programs that tests start import this too; without it each would compile all kernels that it calls."""


class Letters:
    """Counts letters: an embedder that needs no file."""

    name, dimension = "letters", 27

    def __init__(self, fingerprint="v1"):
        self.fingerprint = fingerprint

    def embed(self, texts):
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            for letter in text.lower():
                vectors[row, ord(letter) % self.dimension] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


EMBEDDER = Letters()
FILMS = "Memento\tdirected_by\tNolan\nTenet\tdirected_by\tNolan\nHeat\tdirected_by\tMann\nHeat\tyear\t1995\n"


def assert_same_corpus(found, wanted):
    assert np.array_equal(found.nodes, wanted.nodes)
    assert np.array_equal(found.node_scales, wanted.node_scales)
    for root in range(len(wanted.row_of)):
        mine, theirs = found.of_root(root), wanted.of_root(root)
        assert mine.sentences == theirs.sentences
        for name in ("steps", "nodes", "counts", "vectors"):
            assert np.array_equal(getattr(mine, name), getattr(theirs, name)), (root, name)
    assert found.report().__class__(*[*vars_of(found.report())[:-1], 0]) == found.report().__class__(
        *[*vars_of(wanted.report())[:-1], 0]
    )


def vars_of(report):
    return [getattr(report, name) for name in report.__slots__]


def said_by_a_model(request):
    """The triples, in other words; the same for the same walk."""
    lines = request.messages[1].text.split("<walk>\n")[1].split("\n</walk>")[0]
    return " and then ".join(lines.splitlines()).upper()
