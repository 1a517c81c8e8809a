"""Time the matcher alone: gold patterns of every shape on a graph file, and paths from its largest hub.

Gold patterns are drawn edge-uniformly, with ids fixed, so that hubs are ends about as often as their degree
suggests. Prints a table, or JSON with `--json`:

    python benchmarks/matcher.py GRAPH.txt.gz [--separator '|'] [--count 150] [--hub NAME] [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from questions import lines_of

from clew.graph.graph import Adjacency, Aliases, Graph, Names, Types, Values
from clew.graph.match.distances import FixedDistances
from clew.graph.match.matcher import match
from clew.types import MatchResult, Pattern, PatternEdge, PatternNode

SHAPES = (
    "path1_known_known",
    "path1_known_unknown",
    "path2_known_known_known",
    "path2_known_unknown_unknown",
    "path2_known_unknown_known",
    "path3_known_known_known_known",
    "path3_known_unknown_unknown_unknown",
    "path3_known_unknown_unknown_known",
    "conjunction3",
    "star3",
)
Sample = tuple[list[int], list[int], set[int]]


def read_graph(path: Path, separator: str) -> Graph:
    """Read the graph of a file of `head|relation|tail` lines, without the product's readers."""
    entities: dict[str, int] = {}
    relations: dict[str, int] = {}
    rows = [line.split(separator) for line in lines_of(path)]
    triples = np.array(
        [
            (
                entities.setdefault(h, len(entities)),
                relations.setdefault(r, len(relations)),
                entities.setdefault(t, len(entities)),
            )
            for h, r, t in rows
        ],
        np.int64,
    )
    triples = np.unique(triples, axis=0)
    nodes = len(entities)

    def side(near: int, far: int) -> Adjacency:
        order = np.lexsort((triples[:, far], triples[:, 1], triples[:, near]))
        offsets = np.zeros(nodes + 1, np.int64)
        np.cumsum(np.bincount(triples[:, near], minlength=nodes), out=offsets[1:])
        return Adjacency(offsets, triples[order, 1].astype(np.int32), triples[order, far].astype(np.int32))

    names, relation_names, nothing = Names.of(entities), Names.of(relations), Names.of([])
    return Graph(
        names,
        names,
        relation_names,
        relation_names,
        side(0, 2),
        side(2, 0),
        Values(np.full(nodes, -1, np.int16), np.zeros(nodes, np.uint8), np.full(nodes, np.nan), nothing),
        Types(nothing, np.zeros(nodes + 1, np.int64), np.zeros(0, np.int32)),
        Aliases(nothing, np.zeros(0, np.int32)),
        np.zeros(len(triples), np.uint16),
    )


def random_edge(graph: Graph, node: int, rng: np.random.Generator) -> tuple[int, int]:
    """(triple, other end) of an edge of `node`, drawn uniformly."""
    out = int(graph.out.stops[node] - graph.out.starts[node])
    into = int(graph.into.stops[node] - graph.into.starts[node])
    pick = int(rng.integers(out + into))
    if pick < out:
        triple = int(graph.out.starts[node]) + pick
        return triple, int(graph.out.neighbour[triple])
    position = int(graph.into.starts[node]) + pick - out
    head = int(graph.into.neighbour[position])
    return graph.find_triple(head, int(graph.into.relation[position]), node), head


def extend(graph: Graph, node: int, triples: list[int], nodes: list[int], rng: np.random.Generator) -> bool:
    """Add an edge of `node` to a node that is not yet there; False if 20 draws found none."""
    for _ in range(20):
        triple, other_end = random_edge(graph, node, rng)
        if other_end not in nodes:
            triples.append(triple)
            nodes.append(other_end)
            return True
    return False


def sample_gold(shape: str, graph: Graph, rng: np.random.Generator) -> Sample | None:
    """(triples, nodes, unknown nodes) of an injective match of `shape`, None if the draw failed."""
    triple = int(rng.integers(graph.triples))
    head, _, tail = graph.triple(triple)
    nodes = [head, tail] if rng.random() < 0.5 else [tail, head]
    triples = [triple]
    if head == tail:
        return None
    hops, flags = (int(shape[4]), shape.split("_")[1:]) if shape.startswith("path") else (3, [])
    for i in range(1, hops):
        if not extend(graph, nodes[1] if shape == "star3" else nodes[i], triples, nodes, rng):
            return None
    if flags:
        return triples, nodes, {n for n, flag in zip(nodes, flags, strict=True) if flag == "unknown"}
    return triples, nodes, {nodes[1]} if shape == "star3" else {nodes[1], nodes[2]}


def gold_pattern(graph: Graph, sample: Sample) -> Pattern:
    """Return the pattern with fixed ids whose match `sample` is."""
    triples, nodes, unknown = sample
    places = {node: i for i, node in enumerate(nodes)}
    edges = [(places[h], r, places[t]) for h, r, t in map(graph.triple, triples)]
    return Pattern(
        tuple(
            PatternNode(f"n{i}", n not in unknown, entity=None if n in unknown else n)
            for i, n in enumerate(nodes)
        ),
        tuple(PatternEdge(h, f"r{r}", t, r) for h, r, t in edges),
    )


def milliseconds(call: Callable[[], MatchResult]) -> tuple[float, MatchResult]:
    """Least time of two calls, and the result."""
    began = time.perf_counter()
    call()
    middle = time.perf_counter()
    result = call()
    return 1000 * min(middle - began, time.perf_counter() - middle), result


def summary(times: dict[str, list[float]]) -> dict[str, Any]:
    """Median, 95th percentile and maximum of each mode."""
    return {
        mode: {"median": statistics.median(t), "p95": float(np.percentile(t, 95)), "max": max(t)}
        for mode, t in times.items()
    }


def time_shapes(graph: Graph, count: int, seed: int) -> dict[str, Any]:
    """Median, 95th percentile and maximum for k = 3, and for the answer set of the last node."""
    rng = np.random.default_rng(seed)
    figures: dict[str, Any] = {}
    for shape in SHAPES:
        times: dict[str, list[float]] = {"k3": [], "answers": []}
        pattern_count = 0
        while pattern_count < count:
            sample = sample_gold(shape, graph, rng)
            if sample is None:
                continue
            pattern_count += 1
            pattern = gold_pattern(graph, sample)
            unknown = [i for i, node in enumerate(pattern.nodes) if not node.known]
            wall_time, result = milliseconds(lambda p=pattern: match(graph, p, FixedDistances()))
            assert result.matches[0].gsd == 0
            times["k3"].append(wall_time)
            project = unknown[-1] if unknown else None
            wall_time, _ = milliseconds(
                lambda p=pattern, i=project: match(graph, p, FixedDistances(), all_tied=True, project=i)
            )
            times["answers"].append(wall_time)
        figures[shape] = summary(times)
    return figures


def hub_path(graph: Graph, hub: int, hops: int, rng: np.random.Generator) -> Pattern | None:
    """Draw a path of `hops` edges from `hub`, the nodes after it unknown, that has a match."""
    nodes, triples = [hub], []
    for _ in range(hops):
        if not extend(graph, nodes[-1], triples, nodes, rng):
            return None
    return gold_pattern(graph, (triples, nodes, set(nodes[1:])))


def time_hub(graph: Graph, hub: int, seed: int) -> dict[str, Any]:
    """Worst and median time over 20 relation paths of each length from the hub."""
    rng = np.random.default_rng(seed)
    figures: dict[str, Any] = {}
    for hops in (1, 2, 3):
        times: dict[str, list[float]] = {"k3": [], "answers": []}
        most_matches = 0
        while len(times["k3"]) < 20:
            pattern = hub_path(graph, hub, hops, rng)
            if pattern is None:
                continue
            wall_time, _ = milliseconds(lambda p=pattern: match(graph, p, FixedDistances()))
            times["k3"].append(wall_time)
            wall_time, result = milliseconds(
                lambda p=pattern, h=hops: match(graph, p, FixedDistances(), all_tied=True, project=h)
            )
            times["answers"].append(wall_time)
            most_matches = max(most_matches, len(result.matches))
        figures[f"hub_{hops}"] = summary(times) | {"most_answers": most_matches}
    return figures


def main() -> None:
    """Read the graph, time, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("graph", type=Path)
    parser.add_argument("--separator", default="|")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=20241217)
    parser.add_argument("--hub", help="name of an entity; the one with the most edges if not given")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    graph = read_graph(args.graph, args.separator)
    degree = graph.out.degrees() + graph.into.degrees()
    hub = int(degree.argmax()) if args.hub is None else list(graph.entities).index(args.hub)
    began = time.perf_counter()
    first_pattern = gold_pattern(
        graph, sample_gold("path1_known_known", graph, np.random.default_rng(0)) or ([], [], set())
    )
    match(graph, first_pattern, FixedDistances())
    figures: dict[str, Any] = {
        "first_call_s": time.perf_counter() - began,
        "hub": {"name": graph.entities[hub], "degree": int(degree[hub])},
        "milliseconds": time_shapes(graph, args.count, args.seed) | time_hub(graph, hub, args.seed),
    }
    if args.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"first call {figures['first_call_s']:.2f} s; hub {graph.entities[hub]!r}, {degree[hub]} edges")
    print(
        f"{'ms':38s} {'k = 3: median':>14s} {'p95':>8s} {'max':>8s} "
        f"{'answers: median':>16s} {'p95':>8s} {'max':>8s}"
    )
    for shape, row in figures["milliseconds"].items():
        match_times, answer_times = row["k3"], row["answers"]
        print(
            f"{shape:38s} {match_times['median']:14.3f} {match_times['p95']:8.3f} {match_times['max']:8.3f} "
            f"{answer_times['median']:16.3f} {answer_times['p95']:8.3f} {answer_times['max']:8.3f}"
        )


if __name__ == "__main__":
    main()
