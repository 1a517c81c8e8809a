r"""Figures at scale: a graph that `make_dbpedia_like.py` wrote, indexed, linked, searched and matched.

    python benchmarks/scale.py GRAPH INDEX.clew [--build] [--json]

Prints a table. Times are given twice: elapsed, and of the processor (`cpu`), of all threads, which does not
count the time in which other programs had it. `--build` indexes first, into INDEX.clew.

The graph of 40 million entities and 170 million triples (some 25 GB of disk), whose ids need more bits than
the generator gives them:

    cd ../shared/bench
    python -c "import make_dbpedia_like as m; m.NODE_BITS, m.RELATION_BITS = 26, 10; m.main()" \\
        g40 --nodes 40000000 --edges 170000000 -k 1024
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clew.engine import Clew
from clew.graph.match.distances import Distances, NearestEntities
from clew.graph.match.patterns import pattern_from_json
from clew.opening.graph_view import index_sources
from clew.types import PatternEdge, PatternNode

Array = NDArray[Any]
T = TypeVar("T")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Clocks:
    """Elapsed and processor milliseconds of many calls."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def run(self, call: Callable[[], T]) -> T:
        """Call and take the times."""
        wall, cpu = time.perf_counter(), time.process_time()
        result = call()
        self.wall.append((time.perf_counter() - wall) * 1000)
        self.cpu.append((time.process_time() - cpu) * 1000)
        return result

    def add(self, other: Clocks) -> None:
        """Take over the times of another one."""
        self.wall += other.wall
        self.cpu += other.cpu

    def row(self) -> dict[str, float]:
        """Give the percentiles."""
        points = (("median", 50), ("p95", 95), ("max", 100))
        wall_figures = {name: float(np.percentile(self.wall, p)) for name, p in points}
        return wall_figures | {f"cpu_{name}": float(np.percentile(self.cpu, p)) for name, p in points}


def misspelt(name: str, rng: random.Random) -> str:
    """Two edits at random places."""
    letters = list(name)
    for _ in range(2):
        at, kind = rng.randrange(len(letters)), rng.randrange(3)
        if kind == 0:
            letters[at] = rng.choice(LETTERS)
        elif kind == 1:
            letters.insert(at, rng.choice(LETTERS))
        elif len(letters) > 1:
            del letters[at]
    return "".join(letters)


def build(graph: Path, index: Path) -> dict[str, Any]:
    """Index the graph; peak memory is that of this process and the largest worker."""
    start = time.monotonic()
    built = index_sources([graph], index)
    main_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worker_peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {
        "seconds": time.monotonic() - start,
        "peak_gib": main_peak / 2**20,
        "peak_worker_gib": worker_peak / 2**20,
        "disk_gb": built.manifest.bytes / 1e9,
    }


def linking(clew: Clew, count: int = 300) -> dict[str, Any]:
    """Link names as written, and with two typos."""
    rng, names, entities = random.Random(7), clew.opened.names, clew.opened.graph.entities
    ids = [rng.randrange(len(entities)) for _ in range(count)]
    names.fuzzy("a warm start")
    exact, typos, right = Clocks(), Clocks(), 0
    for entity in ids:
        name = entities[entity]
        exact.run(lambda name=name: names.exact(name))
        misspelling = misspelt(name, rng)
        hits = typos.run(lambda misspelling=misspelling: names.fuzzy(misspelling))
        right += bool(hits) and hits[0].entity == entity
    return {"exact": exact.row(), "two typos": typos.row() | {"share_right": right / count}}


def vectors(clew: Clew, count: int = 60) -> dict[str, Any]:
    """Top-16 of misspelt names against a scan of all vectors."""
    from clew.index.vectors.backends import open_vectors
    from clew.index.vectors.entities import ENTITY_SCALES, ENTITY_SEARCH, ENTITY_VECTORS, FoundByFile

    if ENTITY_SEARCH not in clew.opened.files:
        return {}
    stored, scales = clew.opened.array(ENTITY_VECTORS), clew.opened.array(ENTITY_SCALES)
    search = FoundByFile(open_vectors(clew.opened.files[ENTITY_SEARCH]), stored, scales)
    rng, entities = random.Random(8), clew.opened.graph.entities
    names = [misspelt(entities[rng.randrange(len(entities))], rng) for _ in range(count)]
    queries = clew.embedder.embed(names)
    clocks, hits = Clocks(), 0.0
    search.nearest(queries[0], 16)
    nearest_results = [clocks.run(lambda q=q: search.nearest(q, 16)) for q in queries]
    distances = _all_distances(stored, scales, queries)
    for nearest, row in zip(nearest_results, distances, strict=True):
        hits += float((nearest.distances <= np.partition(row, 15)[15] + 1e-5).sum()) / 16
    return {"top-16": clocks.row() | {"recall": hits / count}}


def _all_distances(stored: Array, scales: Array, queries: Array) -> Array:
    """Distances of every query from all stored vectors, float32 [queries, n]."""
    distances = np.empty((len(queries), len(stored)), np.float32)
    for start in range(0, len(stored), 1 << 17):
        rows = slice(start, start + (1 << 17))
        block = stored[rows].astype(np.float32) * scales[rows][:, None]
        squared = np.einsum("ij,ij->i", block, block) - 2 * (queries @ block.T)
        squared += np.einsum("ij,ij->i", queries, queries)[:, None]
        distances[:, rows] = np.sqrt(np.maximum(squared, 0))
    return distances


class Tables(Distances):
    """Distances that were written with the patterns: rows of candidates by name, and of relations by name.

    A folder holds `candidate_ids.npy` int32 and `candidate_distance.npy` float32 [rows, c], ascending, and
    `relation_distance.npy` float32 [R, R]; a pattern names its rows, `"anchors": [{"name", "row"}]`,
    `"relations": {name: id}`.
    """

    def __init__(self, arrays: tuple[Array, Array, Array], record: dict[str, Any]) -> None:
        ids, distances, between = arrays
        rows = ((anchor["name"], anchor["row"]) for anchor in record["anchors"])
        self._candidates = {name: NearestEntities(ids[row], distances[row], True) for name, row in rows}
        self._relations = {name: between[number] for name, number in record["relations"].items()}

    def node_candidates(self, node: PatternNode, count: int) -> NearestEntities:
        """All candidates of the node's name."""
        return self._candidates[node.name]

    def relation_distances(self, edge: PatternEdge) -> Array:
        """The row of the relation's name."""
        return self._relations[edge.relation or ""]


def matching(clew: Clew, graph: Path, repeats: int = 3) -> dict[str, Any]:
    """All patterns with the tables that were written with them, k = 3; the first round warms up."""
    names = ("candidate_ids", "candidate_distance", "relation_distance")
    ids, distances, between = (np.load(graph / f"{name}.npy", "r") for name in names)
    records = [json.loads(line) for line in (graph / "patterns.jsonl").open()]
    clocks, shapes, complete = Clocks(), dict[str, Clocks](), 0
    for repeat in range(repeats + 1):
        for record in records:
            pattern, tables = pattern_from_json(record, "pattern"), Tables((ids, distances, between), record)
            record_clocks = Clocks()
            result = record_clocks.run(lambda p=pattern, d=tables: clew.match(p, distances=d))
            assert result.matches[0].gsd == 0
            if repeat:
                complete += result.complete
                for group_clocks in (clocks, shapes.setdefault(record["shape"], Clocks())):
                    group_clocks.add(record_clocks)
    rows = {f"match {shape}": shape_clocks.row() for shape, shape_clocks in shapes.items()}
    return {"match all": clocks.row() | {"complete": complete / (repeats * len(records))}} | rows


def end_to_end(clew: Clew, graph: Path) -> dict[str, Any]:
    """The same patterns from the names as text: linking, vectors and search, no table."""
    from clew.index.vectors.entities import IndexDistances

    records = [json.loads(line) for line in (graph / "patterns.jsonl").open()]
    clocks, shapes, right, complete = Clocks(), dict[str, Clocks](), 0, 0
    clew.match(pattern_from_json(records[0], "pattern"))
    for record in records:
        # A new object, so that no name is remembered.
        distances = IndexDistances(clew.opened, clew.embedder)
        pattern = pattern_from_json(record, "pattern")
        record_clocks = Clocks()
        result = record_clocks.run(
            lambda p=pattern, d=distances: clew.match(p, distances=d, milliseconds=2000)
        )
        for group_clocks in (clocks, shapes.setdefault(record["shape"], Clocks())):
            group_clocks.add(record_clocks)
        right += bool(result.matches) and result.matches[0].gsd < 1e-6
        complete += result.complete
    shares = {"share_with_gold": right / len(records), "complete": complete / len(records)}
    rows = {f"end to end {shape}": shape_clocks.row() for shape, shape_clocks in shapes.items()}
    return {"end to end": clocks.row() | shares} | rows


def questions(clew: Clew, count: int = 100) -> dict[str, Any]:
    """Questions of one step, forwards and back, without a model; the first fifth warms up and is apart.

    `share_right`: the triple that was asked for is answered; lists that are cut count as right.
    """
    rng, graph = random.Random(3), clew.opened.graph
    first, later, right, wrong = Clocks(), Clocks(), 0, 0
    for number in range(count):
        head, relation, tail = graph.triple(rng.randrange(graph.triples))
        relation_words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", graph.relations[relation]).lower()
        text, gold = f"What is the {relation_words} of {graph.labels[head]}?", graph.labels[tail]
        if number % 2:
            text, gold = f"Which things have {graph.labels[tail]} as {relation_words}?", graph.labels[head]
        clocks = later if number >= count // 5 else first
        answer = clocks.run(lambda text=text: clew.ask(text))
        labels = {a.label for a in answer.answers}
        is_right = gold in labels or (answer.total or 0) > len(labels)
        right += is_right
        wrong += not is_right and answer.abstained is None
    shares = {"share_right": right / count, "share_wrong": wrong / count}
    return {"questions, the first": first.row(), "questions": later.row() | shares}


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", type=Path)
    parser.add_argument("index", type=Path)
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--skip-text", action="store_true", help="not the patterns from names as text")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows: dict[str, Any] = {}
    if args.build:
        rows["build"] = build(args.graph, args.index)
    start = time.perf_counter()
    clew = Clew.open(args.index)
    rows["open"] = {"seconds": time.perf_counter() - start}
    rows |= linking(clew)
    rows |= questions(clew)
    rows |= vectors(clew)
    rows |= matching(clew, args.graph)
    if not args.skip_text:
        rows |= end_to_end(clew, args.graph)
    status = Path("/proc/self/status").read_text() if Path("/proc/self/status").exists() else ""
    resident_sizes = [line.split()[1] for line in status.splitlines() if line.startswith("RssAnon")]
    rows["memory"] = {"own_gib": int(resident_sizes[0]) / 2**20} if resident_sizes else {}
    if args.json:
        print(json.dumps(rows, indent=1))
        return
    for name, row in rows.items():
        print(f"{name:42}", "  ".join(f"{key} {value:.3f}" for key, value in row.items()))


if __name__ == "__main__":
    main()
