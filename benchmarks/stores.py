"""Query databases: guard and repair, imports, the schema of a large graph. See RESULTS.md, "Query databases".

    python benchmarks/stores.py guard | sparql | neo4j | schema [--edges N]

Needs ../shared/data; `neo4j` and `schema` start a Neo4j server (Java 17 and Maven), `sparql` Oxigraph's.
Times are of the wall, with the
processor time of this process beside them, since the server runs on the same machine; the load when it began
is printed.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from questions import ROOT, SHARED, lines_of, metaqa_graph

from clew.graph.build import build_graph
from clew.stores.cypher.direction import correct_directions
from clew.stores.cypher.guard import guard
from clew.stores.cypher.parser import parse
from clew.stores.errors import QueryError
from clew.stores.store import GraphSchema, SchemaHop

if TYPE_CHECKING:
    from neo4j import Driver


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
    schema = GraphSchema(tuple(SchemaHop(f"L{i}", f"R{i}", f"L{(i * 7) % 20}") for i in range(40)))
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
        correct_directions(parse(query), schema)
    except QueryError:
        return


def benchmark_sparql() -> None:
    """MetaQA behind Oxigraph's server → N-Triples → graph."""
    from sparql_server import oxigraph_server

    from clew.stores.export import export_sparql
    from clew.stores.sparql.embedded import statements
    from clew.stores.sparql.endpoint import address_of

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "kb.txt").write_text("".join("|".join(row) + "\n" for row in metaqa()), "utf-8")
        graph = build_graph([folder / "kb.txt"])[0]
        lines = list(statements(graph))
        (folder / "kb.nt").write_text("".join(lines), "utf-8")
        with oxigraph_server(folder / "kb.nt") as address:

            def read() -> None:
                with (folder / "imported.nt").open("wb") as file:
                    export_sparql(address_of(address), file)

            timed("import of MetaQA from a SPARQL endpoint", len(lines), "triples", read, 5)
        imported_file = folder / "imported.nt"
        same = set(imported_file.read_text("utf-8").splitlines(keepends=True)) == set(lines)
        print(f"the triples are the same: {same}")
        timed("reading them as a graph", len(lines), "triples", lambda: build_graph([imported_file]), 2)


def benchmark_neo4j() -> None:
    """MetaQA into Neo4j and back."""
    from neo4j_server import PASSWORD, neo4j_server

    from clew.stores.export import export_neo4j
    from clew.stores.neo4j import Neo4jStore

    triples = metaqa()
    with neo4j_server() as address, tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with _driver(address) as driver:
            timed("MetaQA into Neo4j", len(triples), "triples", lambda: load(driver, triples), 1)
        store = Neo4jStore(address, password=PASSWORD, seconds=300)
        try:

            def read() -> None:
                export_neo4j(store, folder)

            timed("import of MetaQA from Neo4j", len(triples), "triples", read, 5)
            timed("its schema", 1, "schemas", store.schema, 3)
        finally:
            store.close()
        imported_folder = folder
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


def main() -> None:
    """Run one of the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["guard", "sparql", "neo4j", "schema"])
    parser.add_argument("--edges", type=int, default=5_000_000)
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    if options.what == "schema":
        benchmark_schema(options.edges)
    else:
        {"guard": benchmark_guard, "sparql": benchmark_sparql, "neo4j": benchmark_neo4j}[options.what]()


if __name__ == "__main__":
    main()
