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
from clew.index.vectors.distances import IndexDistances
from clew.methods.simgrag.pattern_distances import Cut, FewCandidates
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
    found: dict[int, int] = field(default_factory=dict)
    expansions: int = 0

    def search(self) -> None:
        """Find the nearest subgraph, or raise OutOfTime."""
        sizes = [len(of) if of is not None else self.graph.nodes for of in self.nodes]
        start = sizes.index(min(sizes))
        steps = list(self._steps(start))
        least = [min(of.values(), default=math.inf) if of is not None else 0.0 for of in self.nodes]
        remaining = [
            sum(min(self.relations[edge]) + (least[to] if new else 0.0) for (edge, _, to), new in rest)
            for rest in (self._with_new(start, steps)[at:] for at in range(len(steps) + 1))
        ]
        first = self.nodes[start] or {}
        for node, far in sorted(first.items(), key=lambda item: item[1]) if self.pruned else first.items():
            self._expand(0, {start: node}, far, steps, remaining)

    def _steps(self, start: int) -> Iterator[Step]:
        """The edges of the pattern in the order of a depth-first traversal."""
        seen, left = {start}, set(range(len(self.pattern.edges)))
        waiting = [start]
        while waiting:
            at = waiting[-1]
            for edge in sorted(left):
                ends = self.pattern.edges[edge]
                if at in (ends.head, ends.tail):
                    left.discard(edge)
                    other = ends.tail if ends.head == at else ends.head
                    yield edge, at, other
                    if other not in seen:
                        seen.add(other)
                        waiting.append(other)
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
        at: int,
        mapped: dict[int, int],
        cost: float,
        steps: Sequence[Step],
        remaining: Sequence[float],
    ) -> None:
        self.expansions += 1
        if not self.expansions % 1024 and time.process_time() > self.deadline:
            raise OutOfTime
        if self.pruned and cost + remaining[at] >= self.best:
            return
        if at == len(steps):
            if cost < self.best:
                self.best, self.found = cost, dict(mapped)
            return
        edge, from_, to = steps[at]
        of, far = self.nodes[to], self.relations[edge]
        follow = []
        for relation, other in self._around(mapped[from_]):
            if math.isinf(far[relation]) or (of is not None and other not in of):
                continue
            if mapped.get(to, other) != other or (to not in mapped and other in mapped.values()):
                continue
            more = far[relation] + (of[other] if of is not None and to not in mapped else 0.0)
            follow.append((more, other))
        if self.pruned:
            follow.sort()
        for more, other in follow:
            self._expand(at + 1, mapped | {to: other}, cost + more, steps, remaining)

    def _around(self, node: int) -> Iterator[tuple[int, int]]:
        for side in (self.graph.out, self.graph.into):
            low, high = side.span(node)
            yield from zip(side.relation[low:high].tolist(), side.neighbour[low:high].tolist(), strict=True)


def candidates(pattern: Pattern, distances: Distances, most: int) -> list[dict[int, float] | None]:
    """The `most` entities nearest to each known node."""
    found: list[dict[int, float] | None] = []
    for node in pattern.nodes:
        if not node.known:
            found.append(None)
            continue
        near = distances.node_candidates(node, most)
        found.append(dict(zip(near.entities[:most].tolist(), near.distances[:most].tolist(), strict=True)))
    return found


def main() -> None:
    """Print a row for each k(n), and one for all candidates."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--hops", type=int, default=3)
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10.0, help="processor time of one question")
    parser.add_argument("--nodes", default="16,128,1024,16384", help="k(n), with commas")
    parser.add_argument("--index", type=Path, help="an index of MetaQA, if there is one")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clew = Clew.open(chosen.index or metaqa_graph(), cache_dir=Path(folder))
        graph, rows = clew.index.graph, questions(chosen.data, chosen.hops, chosen.sample)
        plain = IndexDistances(clew.index, clew.embedder)
        asked: list[tuple[Pattern, int, set[str]]] = []
        for _, topic, kind, gold in rows:
            # As the paper's directed patterns have it: types of MetaQA's unknown nodes restrict nothing.
            triples = [[_plain(name) for name in triple] for triple in pattern_of(kind, topic)[0]]
            pattern = pattern_from_json({"triples": triples}, "pattern")
            last = f"UNKNOWN {len(triples)}"
            asked.append((pattern, [n.name for n in pattern.nodes].index(last), gold))
        sys.stdout.write(
            "| k(n) | form | mean ms | out of time | retrieval Hits@1 |\n|---|---|---|---|---|\n"
        )
        for most in (*map(int, chosen.nodes.split(",")), graph.nodes):
            _row(graph, plain, asked, most, chosen.seconds)


def _plain(name: str) -> str:
    words = name.split()
    return f"UNKNOWN {words[-1]}" if words[0] == "UNKNOWN" else name


def _row(
    graph: Graph,
    plain: IndexDistances,
    asked: Sequence[tuple[Pattern, int, set[str]]],
    most: int,
    seconds: float,
) -> None:
    """Time the three forms with the same candidates, and check that they find subgraphs as near."""
    spent: dict[str, list[float]] = {"Algorithm 1": [], "pruned": [], "Clew": []}
    hits, stopped = dict.fromkeys(spent, 0), dict.fromkeys(spent, 0)
    for pattern, answer, gold in asked:
        few = FewCandidates(plain, Cut(most, 512, 16))
        near = candidates(pattern, few, most)
        far = [np.asarray(few.relation_distances(edge), float).tolist() for edge in pattern.edges]
        match(graph, pattern, few, k=1)  # what is looked up once is not in the time
        began = time.process_time()
        best = match(graph, pattern, few, k=1).matches
        spent["Clew"].append(time.process_time() - began)
        hits["Clew"] += bool(best) and graph.labels[best[0].nodes[answer]] in gold
        for form in ("Algorithm 1", "pruned"):
            began = time.process_time()
            search = Algorithm1(graph, pattern, near, far, form == "pruned", began + seconds)
            try:
                search.search()
                hits[form] += answer in search.found and graph.labels[search.found[answer]] in gold
                if best and abs(search.best - best[0].gsd) > SAME:
                    raise AssertionError(f"{form}: {search.best} is not {best[0].gsd}")
            except OutOfTime:
                stopped[form] += 1
            spent[form].append(time.process_time() - began)
    for form, times in spent.items():
        mean = 1000 * sum(times) / len(times)
        shown = f"{most:,}" if most < graph.nodes else f"all {most:,}"
        sys.stdout.write(
            f"| {shown} | {form} | {mean:,.1f} | {stopped[form]} | {hits[form] / len(times):.2f} |\n"
        )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
