"""Roots whose walks an edit changes: none is missing, and few are too many."""

import random

import numpy as np
import pytest

from clew.graph.build import graph_of
from clew.graph.edit import GraphEdit, edited
from clew.graph.walks.changed_roots import changed_roots
from clew.graph.walks.walks import MOST_LAYER_EDGES, Walker, WalkSettings


def random_edit(graph, rng, size, hubs):
    """Triples to remove, and to add at any node or at few of them."""
    held = [graph.triple(i) for i in range(graph.triples)]
    removed = rng.sample(held, min(rng.randrange(size + 1), len(held) - 1))
    draws = {
        (
            rng.randrange(graph.nodes),
            rng.randrange(len(graph.relations)),
            rng.randrange(min(hubs, graph.nodes)),
        )
        for _ in range(size)
    }
    return GraphEdit(rows(sorted(draws - set(held))), rows(sorted(removed)))


def rows(triples):
    return np.array(triples, np.int64).reshape(-1, 3)


def random_graph(rng, nodes, triples, hubs):
    def tail():
        return rng.randrange(hubs) if rng.random() < 0.5 else rng.randrange(nodes)

    return graph_of(
        sorted({(f"n{rng.randrange(nodes)}", rng.choice("rst"), f"n{tail()}") for _ in range(triples)})
    )


def differing(before, after):
    """Roots whose walks are not the same in both."""
    found = set(range(len(before.roots), len(after.roots)))
    for root in range(len(before.roots)):
        one, two = (w.offsets[root : root + 2] for w in (before, after))
        parts = [(slice(*one), slice(*two))]
        same = np.diff(one)[0] == np.diff(two)[0] and before.state[root] == after.state[root]
        same = same and before.left_out[root] == after.left_out[root]
        for a, b in parts if same else ():
            same = all(
                np.array_equal(getattr(before, name)[a], getattr(after, name)[b])
                for name in ("steps", "nodes", "counts")
            )
        if not same:
            found.add(root)
    return found


def told(graph, edit, options, budget=MOST_LAYER_EDGES, **words):
    """Roots that differ, and those that are told."""
    roots = np.arange(graph.nodes, dtype=np.int32)
    before = Walker(graph, options, layer_edges=budget).walk(roots)
    after = edited(graph, edit)[0]
    walker = Walker(after, options, layer_edges=budget)
    stored = [(before, np.arange(graph.nodes, dtype=np.int32))]
    found = set(changed_roots(graph, edit, walker, stored, **words).tolist())
    return differing(before, walker.walk(np.arange(after.nodes, dtype=np.int32))), found


@pytest.mark.parametrize("kind", ["bfs", "random"])
def test_few_roots_are_told_that_do_not_differ(kind):
    rng = random.Random(7)
    graph = random_graph(rng, 3000, 6000, 20)
    edit = random_edit(graph, rng, 10, 3000)
    differ, found = told(graph, edit, WalkSettings(kind, 4, 60, 60))
    assert len(differ) <= len(found) < 1.5 * len(differ)
    assert len(found) < graph.nodes / 2


@pytest.mark.parametrize("removed", [False, True])
def test_one_more_edge_side_by_side_with_others_touches_who_chooses_among_them(removed):
    held = [(f"leaf{i}", "r0", "hub") for i in range(40)] + [("x", f"r{i}", "hub") for i in range(5)]
    graph = graph_of([*held, ("other", "r5", "other")])
    edge = rows([(graph.triple(40)[0], 5, graph.triple(40)[2])])
    assert graph.entities[edge[0, 0]] == "x"
    edit = GraphEdit(edge, rows([]))
    if removed:
        graph, edit = edited(graph, edit)[0], GraphEdit(rows([]), edge)
    differ, found = told(graph, edit, WalkSettings("random", 2, 6))
    assert differ <= found
    assert 2 < len(differ) < 40
