"""Neo4j 5 over Bolt: read transactions with a timeout, and a schema from samples that take bounded time."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, product
from time import monotonic
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from clew.foundation.system import require
from clew.stores.cypher.guard import USUAL_ROWS, Guarded, guard
from clew.stores.cypher.tree import quote_name
from clew.stores.errors import QueryError, QueryRefused, StoreError, StoreTimeout, connection_fault
from clew.stores.store import (
    LONGEST_EXAMPLE,
    GraphSchema,
    HopSearch,
    Naming,
    Rows,
    SampledProperty,
    SchemaHop,
    StoredEdge,
    StoredNode,
    StoredPath,
    naming_of,
)

SAMPLED_EDGES = 1_000
"""Edges of each type, and nodes of each label, that are looked at for the schema."""
SCHEMA_SECONDS = 10.0

T = TypeVar("T")
Parameters = Mapping[str, object] | None
"""Values of a query's parameters."""
ReadRows = tuple[list[str], list[list[Any]]]
"""Names of columns, and rows with the driver's values."""


@dataclass(frozen=True, slots=True)
class _SampledLabel:
    """A sample of the nodes of a label: how many, all labels that they have, and their properties."""

    nodes: int
    labels: frozenset[str]
    properties: Mapping[str, SampledProperty]


class Neo4jStore:
    """A database of a Neo4j server. Every query runs in a transaction that the server lets only read."""

    def __init__(
        self,
        address: str,
        *,
        user: str = "neo4j",
        password: str = "",
        database: str | None = None,
        seconds: float = 10.0,
        rows: int = USUAL_ROWS,
    ) -> None:
        """Connect to `neo4j://host`, `bolt://host`, `neo4j+s://host`; queries end after `seconds`.

        Raises MissingExtra without the driver, StoreError (with what to check) if there is no usable server.
        """
        self._neo4j = require("neo4j", "neo4j")
        # What the driver warns of is raised too; without a handler Python writes it to stderr.
        logging.getLogger("neo4j").addHandler(logging.NullHandler())
        self.name = self.address = address
        self.database, self.user, self._seconds = database, user, seconds
        self._rows = rows
        # A query that is over its time keeps its place until the server ends it.
        self._workers = ThreadPoolExecutor(32, "clew-neo4j")
        try:
            self._driver = self._neo4j.GraphDatabase.driver(
                address, auth=(user, password), connection_timeout=5.0, max_transaction_retry_time=0.0
            )
        except (ValueError, self._neo4j.exceptions.Neo4jError) as error:
            raise StoreError(f"{address}: not an address of Neo4j ({error})") from error
        try:
            with self._translated_errors():
                agent = str(self._driver.get_server_info().agent)
            version = agent.partition("/")[2]
            if version.partition(".")[0].isdigit() and int(version.partition(".")[0]) < 5:
                needed = "Clew needs Neo4j 5 or newer. Upgrade the server"
                raise StoreError(f"{address} is Neo4j {version}; {needed}")
            self.version = agent.replace("/", " ")
            self.read("RETURN 1", most=1)  # says now, and not in mid-work, if there is no such database
        except BaseException:
            self.close()
            raise

    def counts(self) -> tuple[int, int]:
        """Return how many nodes and edges there are that the user may read; raises as `run`."""
        nodes = self.read("MATCH (n) RETURN count(n)", most=1)[1][0][0]
        edges = self.read("MATCH ()-[r]->() RETURN count(r)", most=1)[1][0][0]
        return int(nodes), int(edges)

    def run(self, query: str, parameters: Parameters = None) -> Rows:
        """Guard a query, let the server explain it, and run it; raises as `Store.run`."""
        sent = guard(query, self._rows, parameters)
        work = self._workers.submit(self._explain_and_read, sent)
        try:
            # The server looks for transactions that are over their time every two seconds only
            # (`db.transaction.monitor.check.interval`), so that it ends them later than asked.
            names, rows = work.result(self._seconds)
        except FutureTimeout as error:
            raise StoreTimeout.after(self._seconds) from error
        values = tuple(tuple(_value(v) for v in row) for row in rows[: sent.rows])
        return Rows(sent.columns or tuple(names), values, len(rows) <= sent.rows, sent)

    def _explain_and_read(self, sent: Guarded) -> ReadRows:
        with self._transaction(self._seconds) as transaction:
            explained = transaction.run("EXPLAIN " + sent.text, dict(sent.parameters)).consume()
        if explained.query_type != "r":
            raise QueryRefused("The server says that the query does more than read. Nothing was run")
        return self.read(sent.text, sent.parameters, most=sent.rows + 1)

    def read(
        self, text: str, parameters: Parameters = None, *, most: int, seconds: float | None = None
    ) -> ReadRows:
        """Run a query of Clew's own in a read transaction; at most `most` rows, with the driver's values."""
        with self._transaction(seconds or self._seconds) as transaction:
            result = transaction.run(text, dict(parameters or {}))
            return list(result.keys()), [list(r.values()) for r in result.fetch(most)]

    def stream(self, text: str, parameters: Parameters = None) -> Iterator[list[Any]]:
        """Yield the rows of a query of Clew's own, as they come; without a timeout. Raises as `run`."""
        with self._transaction(None) as transaction:
            for record in transaction.run(text, dict(parameters or {})):
                yield list(record.values())

    @contextmanager
    def _transaction(self, seconds: float | None) -> Generator[Any]:
        """A transaction that the server lets only read, and ends after `seconds`."""
        with (
            self._translated_errors(),
            self._driver.session(
                database=self.database,
                default_access_mode=self._neo4j.READ_ACCESS,
                fetch_size=1_000,
                notifications_min_severity="OFF",  # of the driver, it would end the handshake with Neo4j 4
            ) as session,
            session.begin_transaction(timeout=seconds) as transaction,
        ):
            yield transaction

    def schema(self) -> GraphSchema:
        """Return labels, types, hops and properties from a sample of each label and type.

        `SAMPLED_EDGES` edges are looked at for each type, so the time does not grow with the graph. A type
        that is left when `SCHEMA_SECONDS` are over may connect all labels: nothing is held against it.
        """
        stop = monotonic() + SCHEMA_SECONDS
        labels = self._column("CALL db.labels() YIELD label RETURN label")
        types = self._column("CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType")
        edges = self._sample_each(types, self._sample_edges, stop)
        nodes = self._sample_each(labels, self._sample_nodes, stop)
        hops: list[SchemaHop] = []
        for type_, sample in edges.items():
            hops += [SchemaHop(a, type_, b) for a in labels for b in labels] if sample is None else sample[0]
        nodes = {label: sample for label, sample in nodes.items() if sample is None or sample.nodes}
        known_samples = {label: sample for label, sample in nodes.items() if sample is not None}
        return GraphSchema(
            tuple(hops),
            {label: frozenset(sample.properties if sample else ()) for label, sample in nodes.items()},
            {
                type_: sample[1] if sample else frozenset()
                for type_, sample in edges.items()
                if sample is None or sample[0]
            },
            {
                label: {key: _kind_of(p.example) for key, p in sample.properties.items()}
                for label, sample in known_samples.items()
            },
            namings=self._namings(known_samples),
        )

    def _namings(self, labels: Mapping[str, _SampledLabel]) -> dict[str, Naming]:
        """How nodes of each label are called; names that two labels share tell nodes of neither apart."""
        namings = {label: naming_of(label, s.properties, s.nodes) for label, s in labels.items()}
        owners: dict[str, set[str]] = {}
        for label, naming in namings.items():
            if len(naming.names) == 1:
                name = quote_name(naming.names[0])
                for text in self._column(f"{_sample_of(label)} RETURN DISTINCT n.{name}"):
                    owners.setdefault(text, set()).add(label)
        shared_labels = {
            a
            for owner_labels in owners.values()
            for a in owner_labels
            for b in owner_labels
            # Labels that nodes have together (*Person*, *Actor*) may share names.
            if a != b and b not in labels[a].labels and a not in labels[b].labels
        }
        return {
            label: replace(naming, unique=naming.unique and label not in shared_labels)
            for label, naming in namings.items()
        }

    def find_hops(self, search: HopSearch) -> tuple[SchemaHop, ...]:
        """Find hops that the sample of `schema` has missed; raises as `CypherStore.find_hops`.

        Neo4j counts the edges of a type at a label as they are written, so that a hop without any at one of
        its ends is known not to be there without a search.
        """
        type_ = _pattern_part("r", search.types)
        head, tail = _pattern_part("a", search.heads), _pattern_part("b", search.tails)
        if not all(
            any(self._count(*ends) for ends in product(heads, search.types or ("",), tails))
            for heads, tails in ((search.heads or ("",), ("",)), (("",), search.tails or ("",)))
        ):
            return ()
        text = f"MATCH ({head})-[{type_}]->({tail}) RETURN labels(a), type(r), labels(b) LIMIT 1"
        try:
            rows = self.read(text, most=1, seconds=2.0)[1]
        except StoreTimeout:
            return ()
        return tuple(
            SchemaHop(a, relation, b) for heads, relation, tails in rows for a in heads for b in tails
        )

    def _count(self, head: str, type_: str, tail: str) -> int:
        """Count the edges of a type (any if it is empty) from or to a label."""
        names = [f":{quote_name(name)}" if name else "" for name in (head, type_, tail)]
        text = f"MATCH ({names[0]})-[{names[1]}]->({names[2]}) RETURN count(*)"
        return int(self.read(text, most=1)[1][0][0])

    def _sample_each(self, names: list[str], sample: Callable[[str], T], stop: float) -> dict[str, T | None]:
        """Look at a sample for each name, several at a time; None where the time was over."""

        def work(name: str) -> T | None:
            return None if monotonic() > stop else sample(name)

        return dict(zip(names, self._workers.map(work, names), strict=True))

    def _column(self, text: str) -> list[str]:
        return [str(row[0]) for row in self.read(text, most=100_000)[1]]

    def _sample_edges(self, type_: str) -> tuple[list[SchemaHop], frozenset[str]]:
        text = (
            f"MATCH (a)-[r:{quote_name(type_)}]->(b) WITH a, r, b LIMIT {SAMPLED_EDGES} "
            "UNWIND labels(a) AS head UNWIND labels(b) AS tail "
            "RETURN head, tail, collect(DISTINCT keys(r)) AS keys ORDER BY head, tail"
        )
        rows = self.read(text, most=10_000)[1]
        keys = frozenset(str(key) for _, _, key_lists in rows for edge_keys in key_lists for key in edge_keys)
        return [SchemaHop(str(head), type_, str(tail)) for head, tail, _ in rows], keys

    def _sample_nodes(self, label: str) -> _SampledLabel:
        text = f"{_sample_of(label)} RETURN count(n), collect(DISTINCT labels(n))"
        nodes, label_lists = self.read(text, most=1)[1][0]
        text = (
            f"{_sample_of(label)} UNWIND keys(n) AS key WITH key, n[key] AS value "
            "RETURN key, count(value), count(DISTINCT value), head(collect(value)) ORDER BY key"
        )
        rows = self.read(text, most=10_000)[1]
        properties = {str(key): SampledProperty(n, values, example) for key, n, values, example in rows}
        return _SampledLabel(int(nodes), frozenset(chain(*label_lists)), properties)

    def close(self) -> None:
        """Close the connections."""
        self._workers.shutdown()
        self._driver.close()

    @contextmanager
    def _translated_errors(self) -> Generator[None]:
        """What the driver raises becomes one line that says what to check."""
        errors = self._neo4j.exceptions
        try:
            yield
        except (errors.Neo4jError, errors.DriverError) as error:
            raise self._failure(error) from error
        except (OSError, ValueError) as error:
            raise StoreError(f"{self.address}: the connection failed ({error}). Check the address") from error

    def _failure(self, error: Exception) -> StoreError | QueryError:
        errors = self._neo4j.exceptions
        code, at = str(getattr(error, "code", "") or ""), self.address
        text = str(getattr(error, "message", None) or error).splitlines()[0]
        if "TransactionTimedOut" in code or "Terminated" in code:
            return StoreTimeout.after(self._seconds)
        if isinstance(error, errors.AuthError):
            return StoreError(
                f"{at} does not accept the user and password. Check $NEO4J_USERNAME and $NEO4J_PASSWORD"
            )
        if "DatabaseNotFound" in code:
            return StoreError(f"{at} has no database {self.database!r}. Check the name behind the address")
        if "Forbidden" in code or "Security" in code:
            return StoreError(f"{at}: the user may not read that ({text}). Ask for the right to read")
        if code.startswith("Neo.ClientError.Statement"):
            return QueryError(f"{at} cannot run the query: {text}")
        if isinstance(error, (errors.ServiceUnavailable, errors.SessionExpired)):
            return StoreError(f"{at} {_connection_fault(error, text, at)}")
        if code.startswith("Neo.TransientError"):
            return StoreError(f"{at} cannot do it now ({text}): it starts, stops or is busy. Ask again")
        return StoreError(f"{at} failed: {text}")


def _sample_of(label: str) -> str:
    return f"MATCH (n:{quote_name(label)}) WITH n LIMIT {SAMPLED_EDGES}"


def _pattern_part(variable: str, names: Sequence[str]) -> str:
    """A variable of a pattern with any of some labels or types."""
    return variable + (":" + "|".join(map(quote_name, names)) if names else "")


def _kind_of(value: Any) -> str:  # noqa: ANN401
    """What the values of a property are, with one of them: *whole number 5*, *date 1996-07-04*."""
    if isinstance(value, list):
        return "list of " + (_kind_of(value[0]) if value else "anything")
    printable = value.iso_format() if hasattr(value, "iso_format") else value
    kinds = ((bool, "true or false"), (int, "whole number"), (float, "number"), (str, "text"))
    class_kinds = {"Date": "date", "DateTime": "date and time", "Time": "time", "Duration": "duration"}
    kind = next((name for type_, name in kinds if isinstance(value, type_)), None)
    kind = kind or class_kinds.get(type(value).__name__, type(value).__name__)
    return f"{kind} {str(printable)[:LONGEST_EXAMPLE]}".replace("\n", " ")


def _connection_fault(error: BaseException, text: str, address: str) -> str:
    """Say what broke the way to a server, and what to check."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) and cause not in causes:
        causes.append(cause)
    if not any(isinstance(cause, OSError) for cause in causes):
        # The driver hides why a server that routes is not reached.
        parts = urlsplit(address)
        try:
            socket.create_connection((parts.hostname or "localhost", parts.port or 7687), timeout=5.0).close()
        except OSError as fault:
            causes.append(fault)
    for cause in causes:
        if fault := connection_fault(cause, "the address without +s"):
            return fault + ", or write +ssc to trust any" * ("certificate" in fault)
    if any(type(cause).__name__ == "BoltSecurityError" for cause in causes):
        return (
            "ends the connection when it is to be encrypted. Write the address without +s, or check the port"
        )
    return (
        f"cannot be reached, or the connection broke ({text}). Check that the server still runs, that the "
        "port is that of Bolt (7687), and whether it wants encryption (neo4j+s://)"
    )


def _value(value: object) -> object:
    """Turn a value of the driver into one of a row."""
    from neo4j.graph import Node, Path, Relationship

    if isinstance(value, Node):
        return StoredNode(value.element_id, tuple(sorted(value.labels)), _values(value))
    if isinstance(value, Relationship):
        head, tail = (n.element_id if n is not None else "" for n in (value.start_node, value.end_node))
        return StoredEdge(value.element_id, value.type, head, tail, _values(value))
    if isinstance(value, Path):
        nodes = tuple(cast(StoredNode, _value(n)) for n in value.nodes)
        return StoredPath(nodes, tuple(cast(StoredEdge, _value(r)) for r in value.relationships))
    if isinstance(value, list):
        return tuple(_value(v) for v in cast("list[object]", value))
    if isinstance(value, dict):
        return _values(cast("dict[str, object]", value))
    return value


def _values(properties: Mapping[str, object]) -> dict[str, object]:
    return {key: _value(value) for key, value in properties.items()}
