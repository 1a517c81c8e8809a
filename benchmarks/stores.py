"""Query databases: guard and repair, imports, the schema of a large graph. See RESULTS.md, "Query databases".

    python benchmarks/stores.py guard | sparql | neo4j | schema [--edges N]
    python benchmarks/stores.py methods [--each N] [--near] [--rdf]

`methods` asks MetaQA in Neo4j (`--rdf`: behind Oxigraph's endpoint) without an index and with one, N
questions of each hop, and 3 N claims made of its triples, half of them with another tail; `--near` as if it
were too large to be copied. Needs ../shared/data; `neo4j`, `methods`
and `schema` start a Neo4j server (Java 17 and Maven), `sparql` Oxigraph's. Times are of the wall, with the
processor time of this process beside them, since the server runs on the same machine; the load when it began
is printed.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from questions import ROOT, SHARED, Item, lines_of, metaqa_graph

from clew.graph.build.build import build_graph
from clew.stores.cypher.direction import fix
from clew.stores.cypher.guard import guard
from clew.stores.cypher.schema import GraphSchema, schema_of
from clew.stores.errors import QueryError
from clew.stores.import_folder import open_folder

if TYPE_CHECKING:
    from neo4j import Driver

    from clew.database import Database
    from clew.engine import Clew
    from clew.stores.neighbourhood import NearStore
    from clew.stores.neo4j import Neo4jStore
    from clew.stores.sparql.endpoint import SparqlEndpoint

sys.path.insert(0, str(ROOT / "tests" / "servers"))

T = TypeVar("T")
QUERY_STEP = 10
"""One query in so many of text2cypher is measured, in their order."""


def timed(name: str, count: int, unit: str, work: Callable[[], T], runs: int = 3) -> T | None:
    """Do some work several times; print the fastest by the wall, and its processor time."""
    best = (float("inf"), 0.0)
    result = None
    for _ in range(runs):
        start, cpu = time.perf_counter(), time.process_time()
        result = work()
        best = min(best, (time.perf_counter() - start, time.process_time() - cpu))
    seconds, cpu = best
    print(
        f"{name}: {seconds:.2f} s ({cpu:.2f} s of this process), {count / seconds:,.0f} {unit}/s "
        f"({count / max(cpu, 1e-9):,.0f} of this process)"
    )
    return result


def metaqa() -> list[list[str]]:
    """The triples of MetaQA."""
    return [line.split("|") for line in lines_of(metaqa_graph())]


def benchmark_guard() -> None:
    """Guard and direction correction over each tenth query of text2cypher."""
    queries: list[str] = []
    for path in sorted((SHARED / "text2cypher").glob("text2cypher_*.csv")):
        with path.open(encoding="utf-8", newline="") as lines:
            queries += [row["cypher"] for row in csv.DictReader(lines) if row.get("cypher")][::QUERY_STEP]
    schema = schema_of([(f"L{i}", f"R{i}", f"L{(i * 7) % 20}") for i in range(40)])
    milliseconds, refused = [], 0
    for query in queries:
        fastest = float("inf")
        for _ in range(3):
            start = time.process_time()
            try:
                guard(query)
                _try_fix(query, schema)
            except QueryError:
                pass
            fastest = min(fastest, time.process_time() - start)
        milliseconds.append(1000 * fastest)
        refused += not _passes(query)
    p50, p95, p99, slowest = np.percentile(milliseconds, [50, 95, 99, 100])
    slow_count = sum(m > 20 for m in milliseconds)
    print(
        f"guard and repair: {len(queries):,} queries, {refused:,} refused; ms a query (processor time) "
        f"p50 {p50:.1f}, "
        f"p95 {p95:.1f}, p99 {p99:.1f}, most {slowest:.1f}; {slow_count} over 20 ms"
    )


def _passes(query: str) -> bool:
    try:
        guard(query)
    except QueryError:
        return False
    return True


def _try_fix(query: str, schema: GraphSchema) -> None:
    try:
        fix(query, schema)
    except QueryError:
        return


def benchmark_sparql() -> None:
    """MetaQA behind Oxigraph's server → N-Triples → graph."""
    from sparql_server import oxigraph_server

    from clew.stores.sparql.embedded import statements
    from clew.stores.sparql.export import export
    from clew.stores.sparql.wire import address_of

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "kb.txt").write_text("".join("|".join(row) + "\n" for row in metaqa()), "utf-8")
        graph = build_graph([folder / "kb.txt"])[0]
        lines = list(statements(graph))
        (folder / "kb.nt").write_text("".join(lines), "utf-8")
        with oxigraph_server(folder / "kb.nt") as address:

            def read() -> None:
                name = f"import-{time.monotonic_ns()}"
                export(address_of(address), open_folder(folder / name, name))

            timed("import of MetaQA from a SPARQL endpoint", len(lines), "triples", read, 5)
        imported_file = next(folder.glob("import-*/data/graph.nt"))
        same = set(imported_file.read_text("utf-8").splitlines(keepends=True)) == set(lines)
        print(f"the triples are the same: {same}")
        timed("reading them as a graph", len(lines), "triples", lambda: build_graph([imported_file]), 2)


def benchmark_neo4j() -> None:
    """MetaQA into Neo4j and back."""
    from neo4j_server import PASSWORD, neo4j_server

    from clew.stores.neo4j import Neo4jStore
    from clew.stores.neo4j_export import export

    triples = metaqa()
    with neo4j_server() as address, tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with _driver(address) as driver:
            timed("MetaQA into Neo4j", len(triples), "triples", lambda: load(driver, triples), 1)
        store = Neo4jStore(address, password=PASSWORD, seconds=300)
        try:

            def read() -> None:
                name = f"import-{time.monotonic_ns()}"
                export(store, open_folder(folder / name, name))

            timed("import of MetaQA from Neo4j", len(triples), "triples", read, 5)
            timed("its schema", 1, "schemas", store.schema, 3)
        finally:
            store.close()
        imported_folder = next(folder.glob("import-*/data"))
        graph = timed(
            "reading it as a graph", len(triples), "triples", lambda: build_graph([imported_folder])[0], 2
        )
        imported_triples = {
            (graph.labels[h], graph.relations[r], graph.labels[t])
            for h, r, t in (graph.triple(i) for i in range(graph.triples))
        }
        print(f"the triples are the same: {imported_triples == set(map(tuple, triples))}")


def _driver(address: str) -> Driver:
    import neo4j
    from neo4j_server import PASSWORD

    return neo4j.GraphDatabase.driver(address, auth=("neo4j", PASSWORD), notifications_min_severity="OFF")


def load(driver: Driver, triples: list[list[str]]) -> None:
    """Write triples, one node for each name."""
    names = sorted({name for head, _, tail in triples for name in (head, tail)})
    driver.execute_query("CREATE CONSTRAINT FOR (n:Thing) REQUIRE n.name IS UNIQUE")
    for at in range(0, len(names), 20_000):
        driver.execute_query(
            "UNWIND $names AS name CREATE (:Thing {name: name})", names=names[at : at + 20_000]
        )
    for relation in sorted({relation for _, relation, _ in triples}):
        rows = [[head, tail] for head, triple_relation, tail in triples if triple_relation == relation]
        text = "MATCH (a:Thing {name: row[0]}), (b:Thing {name: row[1]})"
        for at in range(0, len(rows), 20_000):
            driver.execute_query(
                f"UNWIND $rows AS row {text} CREATE (a)-[:{relation}]->(b)", rows=rows[at : at + 20_000]
            )


def benchmark_schema(edges: int) -> None:
    """The schema of a large Neo4j graph of 10 labels and 20 types."""
    from neo4j_server import PASSWORD, neo4j_server

    from clew.stores.neo4j import Neo4jStore

    nodes = max(edges // 50, 1_000)
    with neo4j_server() as address:
        with _driver(address) as driver:
            for at in range(0, nodes, 50_000):
                for label in range(10):
                    driver.execute_query(
                        f"UNWIND range($low, $high, 10) AS i CREATE (:L{label} "
                        f"{{name: 'n' + i, p{label}: i}})",
                        low=at + label,
                        high=min(at + 50_000, nodes) - 1,
                    )
            start = time.perf_counter()
            for number, at in enumerate(range(0, edges, 10_000)):
                driver.execute_query(
                    f"UNWIND range($low, $high) AS i MATCH (a) WHERE id(a) = i % {nodes} "
                    f"MATCH (b) WHERE id(b) = (i * 7919 + 13) % {nodes} CREATE (a)-[:T{number % 20} "
                    f"{{w: i}}]->(b)",
                    low=at,
                    high=at + 9_999,
                )
            print(f"{nodes:,} nodes and {edges:,} edges written in {time.perf_counter() - start:.0f} s")
        store = Neo4jStore(address, password=PASSWORD)
        try:
            first = time.perf_counter()
            schema = store.schema()
            print(f"schema, the first time: {time.perf_counter() - first:.2f} s")
            timed("schema", 1, "schemas", store.schema, 5)
            print(f"{len(schema.labels)} labels, {len(schema.types)} types, {len(schema.hops)} hops")
        finally:
            store.close()


def benchmark_methods(each: int, near: bool, rdf: bool) -> None:
    """Methods asked of MetaQA in a database without an index, against those of an index of it."""
    from questions import metaqa as metaqa_questions

    from clew.database import Database
    from clew.engine import Clew
    from clew.methods.database_copy import DatabaseCopy
    from clew.text.embedders.static import StaticEmbedder

    chosen_items = [
        (h, item) for h in (1, 2, 3) for item in random.Random(7).sample(metaqa_questions(h), each)
    ]
    embedder = StaticEmbedder.load()
    with (
        tempfile.TemporaryDirectory() as scratch,
        (_rdf if rdf else _neo4j)(Path(scratch)) as (store, near_store),
    ):
        data = near_store.export(open_folder(Path(scratch) / "import", "metaqa"))
        index = Clew.index([data], Path(scratch) / "metaqa.clew", embedder=embedder)
        with Database(store, embedder, cache_dir=Path(scratch) / "cache") as database, index:
            if near:
                vars(database)["_copy"] = DatabaseCopy(near_store, embedder, most=0)
            for method in ("kg-rag", "walk-retrieve", "auto"):
                _compare_answers(method, chosen_items, index, database)
            _compare_claims(_claims(3 * each), index, database)


@contextmanager
def _neo4j(folder: Path) -> Generator[tuple[Neo4jStore, NearStore]]:
    """MetaQA in Neo4j."""
    from neo4j_server import PASSWORD, neo4j_server

    from clew.stores.near_neo4j import NearNeo4j
    from clew.stores.neo4j import Neo4jStore

    with neo4j_server() as address:
        with _driver(address) as driver:
            load(driver, metaqa())
        store = Neo4jStore(address, password=PASSWORD)
        yield store, NearNeo4j(store)


@contextmanager
def _rdf(folder: Path) -> Generator[tuple[SparqlEndpoint, NearStore]]:
    """MetaQA behind Oxigraph's server."""
    from sparql_server import oxigraph_server

    from clew.stores.sparql.embedded import statements
    from clew.stores.sparql.endpoint import SparqlEndpoint
    from clew.stores.sparql.near_sparql import NearSparql

    (folder / "kb.txt").write_text("".join("|".join(row) + "\n" for row in metaqa()), "utf-8")
    (folder / "kb.nt").write_text("".join(statements(build_graph([folder / "kb.txt"])[0])), "utf-8")
    with oxigraph_server(folder / "kb.nt") as address:
        endpoint = SparqlEndpoint(address)
        yield endpoint, NearSparql(endpoint)


def _compare_answers(
    method: str, chosen_items: list[tuple[int, Item]], index: Clew, database: Database
) -> None:
    same, times, trips = Counter[int](), {"database": list[float](), "index": list[float]()}, list[int]()
    right = Counter[str]()
    for hops, item in chosen_items:
        question = item.question
        outcomes: list[tuple[set[str], str | None]] = []
        for name, engine in (("index", index), ("database", database)):
            trips_before, began = database.store.trips, time.perf_counter()
            answer = engine.ask(question, method=method)
            times[name].append((time.perf_counter() - began) * 1000)
            reason = None if answer.abstained is None else answer.abstained.reason
            outcomes.append(({a.entity for a in answer.answers}, reason))
            right[name] += not item.gold.isdisjoint(a.label for a in answer.answers)
        trips.append(database.store.trips - trips_before)
        same[hops] += outcomes[0] == outcomes[1]
        if outcomes[0] != outcomes[1]:
            print(
                f"  differs: {question}: {_first_answers(outcomes[0])} / {_first_answers(outcomes[1])}",
                flush=True,
            )
    quantiles = {name: np.percentile(ms, [50, 95]).round().tolist() for name, ms in times.items()}
    print(
        f"{method}: same {dict(same)}; with a right answer {dict(right)}; median, p95 in ms {quantiles}; "
        f"round trips {int(np.median(trips))}",
        flush=True,
    )


def _claims(count: int) -> list[str]:
    """Claims of triples of MetaQA, every other one with the tail of another triple."""
    templates = {
        "directed_by": "{0} was directed by {1}.",
        "written_by": "{1} wrote {0}.",
        "starred_actors": "{1} starred in {0}.",
        "release_year": "{0} was released in {1}.",
    }
    chance = random.Random(7)
    triples = [triple for triple in metaqa() if triple[1] in templates]
    claims: list[str] = []
    for number, (head, relation, tail) in enumerate(chance.sample(triples, count)):
        other_tails = [
            t
            for _, other_relation, t in chance.sample(triples, 100)
            if other_relation == relation and t != tail
        ]
        claims.append(templates[relation].format(head, other_tails[0] if number % 2 else tail))
    return claims


def _compare_claims(claims: list[str], index: Clew, database: Database) -> None:
    same, times = Counter[str](), {"database": list[float](), "index": list[float]()}
    verdicts = {name: Counter[str]() for name in times}
    for claim in claims:
        claim_verdicts: list[str] = []
        for name, engine in (("index", index), ("database", database)):
            began = time.perf_counter()
            claim_verdicts.append(engine.verify(claim).verdict)
            times[name].append((time.perf_counter() - began) * 1000)
            verdicts[name][claim_verdicts[-1]] += 1
        same["same" if claim_verdicts[0] == claim_verdicts[1] else "another"] += 1
        if claim_verdicts[0] != claim_verdicts[1]:
            print(f"  differs: {claim}: {claim_verdicts[0]} / {claim_verdicts[1]}", flush=True)
    quantiles = {name: np.percentile(ms, [50, 95]).round().tolist() for name, ms in times.items()}
    verdict_counts = {name: dict(counts) for name, counts in verdicts.items()}
    print(f"claims: {dict(same)}; {verdict_counts}; median, p95 in ms {quantiles}", flush=True)


def _first_answers(outcome: tuple[set[str], str | None]) -> str:
    """The answers of an index or a database, the first of them only."""
    return outcome[1] or f"{len(outcome[0])} as {', '.join(sorted(outcome[0])[:4])}"


def main() -> None:
    """Run one of the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["guard", "sparql", "neo4j", "schema", "methods"])
    parser.add_argument("--edges", type=int, default=5_000_000)
    parser.add_argument("--each", type=int, default=67)
    parser.add_argument("--near", action="store_true")
    parser.add_argument("--rdf", action="store_true")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    if options.what == "schema":
        benchmark_schema(options.edges)
    elif options.what == "methods":
        benchmark_methods(options.each, options.near, options.rdf)
    else:
        {"guard": benchmark_guard, "sparql": benchmark_sparql, "neo4j": benchmark_neo4j}[options.what]()


if __name__ == "__main__":
    main()
