"""Checks a database end to end, one step after the other, and says what is wrong and what to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from time import perf_counter
from typing import Literal, NamedTuple

from clew.errors import ClewError
from clew.stores.neo4j import Neo4jStore
from clew.stores.opening import Login, is_sparql, open_neo4j, shown_address
from clew.stores.sparql.endpoint import SparqlEndpoint
from clew.stores.store import GraphSchema
from clew.text.normalise import counted

DOCTOR_SECONDS = 10.0


class StoreCheck(NamedTuple):
    """One step: what was looked at, how it went, and what was seen or what to do."""

    name: str
    state: Literal["ok", "failed", "warning"]
    detail: str


def check_store(address: str, login: Login) -> list[StoreCheck]:
    """Check address, server and user, reading, schema and speed of a database; nothing is written.

    A step that needs a failed one is left out.
    """
    return list(_sparql(address) if is_sparql(address) else _neo4j(address, login))


def _run_step(name: str, work: Callable[[], str | StoreCheck]) -> StoreCheck:
    try:
        seen = work()
    except ClewError as error:
        return StoreCheck(name, "failed", str(error))
    return seen if isinstance(seen, StoreCheck) else StoreCheck(name, "ok", seen)


def _neo4j(address: str, login: Login) -> Iterator[StoreCheck]:
    try:
        store = open_neo4j(address, login, seconds=DOCTOR_SECONDS)
    except ClewError as error:
        yield StoreCheck("server", "failed", str(error))
        return
    with closing(store):
        yield StoreCheck("server", "ok", f"{shown_address(address)}: {store.version}, user {store.user}")
        yield _run_step("reading", lambda: _check_reading(store))
        yield _run_step("schema", lambda: _schema(store.schema()))
        yield _run_step("speed", lambda: _measure_speed(lambda: store.run("RETURN 1 AS one")))


def _check_reading(store: Neo4jStore) -> str | StoreCheck:
    """Whether the user sees anything: labels that it may not read look like ones without nodes."""
    nodes, edges = store.counts()
    detail = f"{counted(nodes, 'node')} and {counted(edges, 'edge')} that this user may read"
    if nodes:
        return detail
    return StoreCheck(
        "reading",
        "warning",
        f"{detail}. Check the database's name; where users have rights by label (Enterprise edition "
        "only), those of this one: what it may not read looks as if it were not there",
    )


def _schema(schema: GraphSchema) -> str:
    return f"{counted(len(schema.labels), 'label')}, {counted(len(schema.types), 'relation type')}"


def _sparql(address: str) -> Iterator[StoreCheck]:
    try:
        store = SparqlEndpoint(address, seconds=DOCTOR_SECONDS)
    except ClewError as error:
        yield StoreCheck("address", "failed", str(error))
        return
    yield StoreCheck("address", "ok", shown_address(address))
    try:
        has_triples = store.run("ASK { ?s ?p ?o }").rows[0][0]
    except ClewError as error:
        yield StoreCheck("server", "failed", str(error))
        return
    yield StoreCheck("server", "ok", "it answers, and has triples" if has_triples else "it answers")
    if has_triples:
        yield _run_step("reading", lambda: _relations(store))
    else:
        yield StoreCheck(
            "reading", "warning", "its default graph has no triples. Name one: …?default-graph-uri=NAME"
        )
    yield _run_step("speed", lambda: _measure_speed(lambda: store.run("ASK { }")))


def _relations(store: SparqlEndpoint) -> str:
    rows = store.run("SELECT DISTINCT ?p { { SELECT ?p { ?s ?p ?o } LIMIT 10000 } }").rows
    return f"{counted(len(rows), 'relation')} among its first 10,000 triples"


def _measure_speed(work: Callable[[], object]) -> str:
    work()
    start = perf_counter()
    work()
    return f"{(perf_counter() - start) * 1000:.0f} ms for the smallest query"
