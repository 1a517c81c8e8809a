"""Walks are those of eq. 1 and eq. 2, whatever the threads and chunks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import UsageError
from clew.graph.build import graph_of
from clew.graph.walks import walks as making
from clew.graph.walks.walks import Walker, WalkSettings

TRIPLES = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from("rs"), st.integers(0, 9)),
    min_size=1,
    max_size=30,
    unique=True,
)


def graph_from(triples):
    return graph_of([(f"n{h}", r, f"n{t}") for h, r, t in triples])


def edges_of(graph, directed):
    """{node: {(step, neighbour)}} by the plain definition."""
    edges = {node: set() for node in range(graph.nodes)}
    for head, relation, tail in map(graph.triple, range(graph.triples)):
        edges[head].add((2 * relation, tail))
        if not directed:
            edges[tail].add((2 * relation + 1, head))
    return edges


def layers_of(edges, root):
    """Distance of every node that is reached, by breadth-first search."""
    distance, queue = {root: 0}, [root]
    for node in queue:
        for _, other in edges[node]:
            if other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    return distance


def walks_by_root(walks):
    found = {}
    for i, root in enumerate(walks.roots.tolist()):
        rows = range(int(walks.offsets[i]), int(walks.offsets[i + 1]))
        found[root] = [
            [(s, n) for s, n in zip(walks.steps[r].tolist(), walks.nodes[r].tolist(), strict=True) if s >= 0]
            for r in rows
        ]
    return found


def all_roots(graph):
    return np.arange(graph.nodes, dtype=np.int32)


@settings(max_examples=60)
@given(TRIPLES, st.integers(1, 5), st.sampled_from([2, 5, 40]), st.booleans())
def test_breadth_first_walks_are_paths_of_one_spanning_tree(triples, depth, cap, directed):
    graph = graph_from(triples)
    walker = Walker(graph, WalkSettings("bfs", depth, max_walks=cap, directed=directed))
    walks = walker.walk(all_roots(graph))
    edges = edges_of(graph, directed)
    for i, (root, paths) in enumerate(walks_by_root(walks).items()):
        distance, parent = layers_of(edges, root), {}
        assert len(paths) <= cap
        assert len({tuple(p) for p in paths}) == len(paths)
        own = {p[0] for p in paths if len(p) == 1}
        assert own <= edges[root]
        for path in paths:
            if len(path) == 1:
                continue
            node = root
            for turn, (step, other) in enumerate(path, 1):
                assert (step, other) in edges[node]
                assert distance[other] == turn
                assert parent.setdefault(other, (node, step)) == (node, step)
                node = other
        if walks.state[i] == 1:
            reached = {n for n, d in distance.items() if 0 < d <= depth}
            assert {p[-1][1] for p in paths} | {root} == reached | {root}


@settings(max_examples=40)
@given(TRIPLES, st.booleans())
def test_random_walks_follow_edges_and_end_only_where_there_is_none(triples, directed):
    graph = graph_from(triples)
    walks = Walker(graph, WalkSettings("random", 4, walks=20, directed=directed)).walk(all_roots(graph))
    edges = edges_of(graph, directed)
    for i, (root, paths) in enumerate(walks_by_root(walks).items()):
        assert len({tuple(p) for p in paths}) == len(paths)
        made = int(walks.counts[walks.offsets[i] : walks.offsets[i + 1]].sum())
        assert made == (20 if edges[root] else 0)
        for path in paths:
            node = root
            for edge in path:
                assert edge in edges[node]
                node = edge[1]
            assert len(path) == 4 or not edges[node]


def test_a_step_is_uniform_over_neighbours_not_edges():
    # 12 neighbours, so that there is a table; b0 is reached by three relations, and counts once (eq. 1).
    triples = [("a", "r", f"b{i}") for i in range(12)] + [("a", "s", "b0"), ("b0", "t", "a")]
    graph = graph_of(triples)
    walks = Walker(graph, WalkSettings("random", 1, walks=10_000)).walk(np.array([0], np.int32))
    made = np.zeros(graph.nodes)
    np.add.at(made, walks.nodes[:, 0], walks.counts)
    chi = ((made[1:] - 10_000 / 12) ** 2 / (10_000 / 12)).sum()
    assert chi < 31.3  # 0.1 % of samples are beyond, with 11 degrees of freedom


@pytest.mark.parametrize("kind", ["bfs", "random"])
def test_results_do_not_depend_on_threads_chunks_or_other_roots(kind, monkeypatch):
    rng = np.random.default_rng(1)
    graph = graph_of([(f"n{h}", "r", f"n{t}") for h, t in rng.integers(0, 200, (600, 2)).tolist()])
    options = WalkSettings(kind, 4, walks=12, max_walks=12)
    monkeypatch.setattr(making, "usable_processors", lambda: 1)
    whole = walks_by_root(Walker(graph, options).walk(all_roots(graph)))
    monkeypatch.setattr(making, "usable_processors", lambda: 4)
    monkeypatch.setattr(making, "ROOTS_OF_THREAD", 7)
    assert walks_by_root(Walker(graph, options).walk(all_roots(graph))) == whole
    few = walks_by_root(Walker(graph, options).walk(np.array([5, 3], np.int32)))
    assert few == {5: whole[5], 3: whole[3]}


def test_one_edge_more_at_a_hub_changes_few_walks():
    hub = [("hub", "r", f"n{i}") for i in range(500)]
    one = Walker(graph_of(hub), WalkSettings("random", 1, walks=1000)).walk(np.array([0], np.int32))
    two = Walker(graph_of([*hub, ("hub", "r", "new")]), WalkSettings("random", 1, walks=1000))
    more = two.walk(np.array([0], np.int32))
    before = dict(zip(one.nodes[:, 0].tolist(), one.counts.tolist(), strict=True))
    after = dict(zip(more.nodes[:, 0].tolist(), more.counts.tolist(), strict=True))
    moved = sum(abs(before.get(n, 0) - after.get(n, 0)) for n in before | after) / 2
    assert moved <= 20


def test_own_triples_beyond_the_cap_are_counted():
    graph = graph_of([("hub", "r", f"n{i}") for i in range(50)])
    walks = Walker(graph, WalkSettings("bfs", 3, max_walks=10)).walk(np.array([0], np.int32))
    assert len(walks.steps) == 10
    assert walks.left_out.tolist() == [40]


@pytest.mark.parametrize("wrong", [{"depth": 0}, {"depth": 7}, {"walks": 0}, {"max_walks": 10_001}])
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(UsageError, match="give a number"):
        WalkSettings(**wrong)


def rows(triples):
    return np.array(triples, np.int64).reshape(-1, 3)
