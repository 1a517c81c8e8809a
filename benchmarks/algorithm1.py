"""SimGRAG's retrieval as the paper writes it, beside Clew's: time and retrieval Hits@1 over k(n) (figure 5).

Algorithm 1 (section 5.1) and the same with branches pruned by the lower bound of eq. 11 and nearest first
(section 5.2), both in Python over lists, against Clew's matcher with the same candidates and with all. The
patterns are those that a good model writes for MetaQA (`simgrag.py`); k = 1; all nine relations are
candidates. Candidates are looked up before the clock runs. A question that takes longer than the limit is
stopped: its time is the limit, and it counts as not found.

python benchmarks/algorithm1.py ../shared/data/metaqa --hops 3 --sample 20 --seconds 10
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from questions import metaqa_graph
from simgrag import pattern_of, questions

from clew import Clew
from clew.graph.graph import Graph
from clew.graph.match.distances import Distances
from clew.graph.match.matcher import match
from clew.graph.match.patterns import pattern_from_json
from clew.index.vectors.entities import IndexDistances
from clew.methods.simgrag.find_subgraphs import FewCandidates
from clew.types import Pattern

Step = tuple[int, int, int]
"""An edge of the pattern, the node that it is followed from, and the other one."""
SAME = 1e-6


class OutOfTime(Exception):
    """The limit of a question was reached."""


@dataclass
class Algorithm1:
    """Top-1 retrieval of one pattern; `pruned` as in section 5.2."""

    graph: Graph
    pattern: Pattern
    nodes: Sequence[Mapping[int, float] | None]
    """Candidates of each node with their distances; None of an unknown one: all, at no distance."""
    relations: Sequence[Sequence[float]]
    pruned: bool
    deadline: float
    best: float = math.inf
    best_nodes: dict[int, int] = field(default_factory=dict)
    expansions: int = 0

    def search(self) -> None:
        """Find the nearest subgraph, or raise OutOfTime."""
        sizes = [
            len(node_candidates) if node_candidates is not None else self.graph.nodes
            for node_candidates in self.nodes
        ]
        start = sizes.index(min(sizes))
        steps = list(self._steps(start))
        least_distances = [
            min(node_candidates.values(), default=math.inf) if node_candidates is not None else 0.0
            for node_candidates in self.nodes
        ]
        remaining = [
            sum(
                min(self.relations[edge]) + (least_distances[to] if new else 0.0)
                for (edge, _, to), new in remaining_steps
            )
            for remaining_steps in (self._with_new(start, steps)[at:] for at in range(len(steps) + 1))
        ]
        first_candidates = self.nodes[start] or {}
        for node, distance in (
            sorted(first_candidates.items(), key=lambda item: item[1])
            if self.pruned
            else first_candidates.items()
        ):
            self._expand(0, {start: node}, distance, steps, remaining)

    def _steps(self, start: int) -> Iterator[Step]:
        """The edges of the pattern in the order of a depth-first traversal."""
        seen, remaining_edges = {start}, set(range(len(self.pattern.edges)))
        waiting = [start]
        while waiting:
            node = waiting[-1]
            for edge in sorted(remaining_edges):
                ends = self.pattern.edges[edge]
                if node in (ends.head, ends.tail):
                    remaining_edges.discard(edge)
                    other_end = ends.tail if ends.head == node else ends.head
                    yield edge, node, other_end
                    if other_end not in seen:
                        seen.add(other_end)
                        waiting.append(other_end)
                    break
            else:
                waiting.pop()

    def _with_new(self, start: int, steps: Sequence[Step]) -> list[tuple[Step, bool]]:
        seen, marked = {start}, []
        for step in steps:
            marked.append((step, step[2] not in seen))
            seen.add(step[2])
        return marked

    def _expand(
        self,
        depth: int,
        mapped: dict[int, int],
        cost: float,
        steps: Sequence[Step],
        remaining: Sequence[float],
    ) -> None:
        self.expansions += 1
        if not self.expansions % 1024 and time.process_time() > self.deadline:
            raise OutOfTime
        if self.pruned and cost + remaining[depth] >= self.best:
            return
        if depth == len(steps):
            if cost < self.best:
                self.best, self.best_nodes = cost, dict(mapped)
            return
        edge, from_, to = steps[depth]
        node_candidates, relation_distances = self.nodes[to], self.relations[edge]
        extensions = []
        for relation, neighbour in self._around(mapped[from_]):
            if math.isinf(relation_distances[relation]) or (
                node_candidates is not None and neighbour not in node_candidates
            ):
                continue
            if mapped.get(to, neighbour) != neighbour or (to not in mapped and neighbour in mapped.values()):
                continue
            added_cost = relation_distances[relation] + (
                node_candidates[neighbour] if node_candidates is not None and to not in mapped else 0.0
            )
            extensions.append((added_cost, neighbour))
        if self.pruned:
            extensions.sort()
        for added_cost, neighbour in extensions:
            self._expand(depth + 1, mapped | {to: neighbour}, cost + added_cost, steps, remaining)

    def _around(self, node: int) -> Iterator[tuple[int, int]]:
        for side in (self.graph.out, self.graph.into):
            low, high = side.span(node)
            yield from zip(side.relation[low:high].tolist(), side.neighbour[low:high].tolist(), strict=True)


def candidates(pattern: Pattern, distances: Distances, count: int) -> list[dict[int, float] | None]:
    """The `most` entities nearest to each known node."""
    candidates_by_node: list[dict[int, float] | None] = []
    for node in pattern.nodes:
        if not node.known:
            candidates_by_node.append(None)
            continue
        nearest = distances.node_candidates(node, count)
        candidates_by_node.append(
            dict(zip(nearest.entities[:count].tolist(), nearest.distances[:count].tolist(), strict=True))
        )
    return candidates_by_node


def main() -> None:
    """Print a row for each k(n), and one for all candidates."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--hops", type=int, default=3)
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10.0, help="processor time of one question")
    parser.add_argument("--nodes", default="16,128,1024,16384", help="k(n), with commas")
    parser.add_argument("--index", type=Path, help="an index of MetaQA, if there is one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clew = Clew.open(options.index or metaqa_graph(), cache_dir=Path(folder))
        graph, rows = clew.opened.graph, questions(options.data, options.hops, options.sample)
        index_distances = IndexDistances(clew.opened, clew.embedder)
        pattern_rows: list[tuple[Pattern, int, set[str]]] = []
        for _, topic, kind, gold in rows:
            # As the paper's directed patterns have it: types of MetaQA's unknown nodes restrict nothing.
            triples = [[_plain(name) for name in triple] for triple in pattern_of(kind, topic)[0]]
            pattern = pattern_from_json({"triples": triples}, "pattern")
            last = f"UNKNOWN {len(triples)}"
            pattern_rows.append((pattern, [n.name for n in pattern.nodes].index(last), gold))
        sys.stdout.write(
            "| k(n) | form | mean ms | out of time | retrieval Hits@1 |\n|---|---|---|---|---|\n"
        )
        for count in (*map(int, options.nodes.split(",")), graph.nodes):
            _row(graph, index_distances, pattern_rows, count, options.seconds)


def _plain(name: str) -> str:
    words = name.split()
    return f"UNKNOWN {words[-1]}" if words[0] == "UNKNOWN" else name


def _row(
    graph: Graph,
    index_distances: IndexDistances,
    pattern_rows: Sequence[tuple[Pattern, int, set[str]]],
    count: int,
    seconds: float,
) -> None:
    """Time the three forms with the same candidates, and check that they find subgraphs as near."""
    times_by_form: dict[str, list[float]] = {"Algorithm 1": [], "pruned": [], "Clew": []}
    hits, stopped = dict.fromkeys(times_by_form, 0), dict.fromkeys(times_by_form, 0)
    for pattern, answer_node, gold in pattern_rows:
        cut_distances = FewCandidates(index_distances, count, 512, 16)
        node_candidates = candidates(pattern, cut_distances, count)
        relation_distances = [
            np.asarray(cut_distances.relation_distances(edge), float).tolist() for edge in pattern.edges
        ]
        match(graph, pattern, cut_distances, k=1)  # what is looked up once is not in the time
        began = time.process_time()
        best = match(graph, pattern, cut_distances, k=1).matches
        times_by_form["Clew"].append(time.process_time() - began)
        hits["Clew"] += bool(best) and graph.labels[best[0].nodes[answer_node]] in gold
        for form in ("Algorithm 1", "pruned"):
            began = time.process_time()
            search = Algorithm1(
                graph, pattern, node_candidates, relation_distances, form == "pruned", began + seconds
            )
            try:
                search.search()
                hits[form] += (
                    answer_node in search.best_nodes and graph.labels[search.best_nodes[answer_node]] in gold
                )
                if best and abs(search.best - best[0].gsd) > SAME:
                    raise AssertionError(f"{form}: {search.best} is not {best[0].gsd}")
            except OutOfTime:
                stopped[form] += 1
            times_by_form[form].append(time.process_time() - began)
    for form, times in times_by_form.items():
        mean = 1000 * sum(times) / len(times)
        count_text = f"{count:,}" if count < graph.nodes else f"all {count:,}"
        sys.stdout.write(
            f"| {count_text} | {form} | {mean:,.1f} | {stopped[form]} | {hits[form] / len(times):.2f} |\n"
        )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
