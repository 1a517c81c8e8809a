"""The schema of a Neo4j database, from samples of its labels and types that take bounded time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from time import monotonic
from typing import Any, TypeVar

from clew.stores.cypher.schema import LONGEST_EXAMPLE, GraphSchema, HopSearch, SchemaHop
from clew.stores.cypher.tokens import quote_name
from clew.stores.errors import StoreTimeout
from clew.stores.naming import Naming, SampledProperty, naming_of

SAMPLED_EDGES = 1_000
"""Edges of each type, and nodes of each label, that are looked at for the schema."""
SCHEMA_SECONDS = 10.0
SEARCH_SECONDS = 2.0
"""For a hop that the sample may have missed."""

T = TypeVar("T")


ReadsRows = Callable[..., tuple[list[str], list[list[Any]]]]
"""`Neo4jStore.read`: (text, `most` rows, `seconds`) → the names of columns, and rows. Raises StoreError."""


@dataclass(frozen=True, slots=True)
class SampledLabel:
    """A sample of the nodes of a label: how many, and their properties."""

    nodes: int
    properties: Mapping[str, SampledProperty]


class SampledSchema:
    """Reads the schema by `read`, several samples at a time in `workers`."""

    def __init__(self, read: ReadsRows, workers: ThreadPoolExecutor) -> None:
        self._read, self._workers = read, workers

    def read(self) -> GraphSchema:
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
        for type_, sample in edges:
            hops += [SchemaHop(a, type_, b) for a in labels for b in labels] if sample is None else sample[0]
        label_samples = {label: sample for label, sample in nodes if sample is None or sample.nodes}
        known_samples = {label: sample for label, sample in label_samples.items() if sample is not None}
        return GraphSchema(
            tuple(hops),
            {
                label: frozenset(sample.properties if sample else ())
                for label, sample in label_samples.items()
            },
            {
                type_: sample[1] if sample else frozenset()
                for type_, sample in edges
                if sample is None or sample[0]
            },
            {
                label: {key: _kind_of(p.example) for key, p in sample.properties.items()}
                for label, sample in known_samples.items()
            },
            namings=self._namings(known_samples),
        )

    def _namings(self, labels: Mapping[str, SampledLabel]) -> dict[str, Naming]:
        """How nodes of each label are called; names that two labels share tell nodes of neither apart."""
        namings = {label: naming_of(label, s.properties, s.nodes) for label, s in labels.items()}
        owners: dict[str, set[str]] = {}
        for label, naming in namings.items():
            if len(naming.names) == 1:
                text = (
                    f"MATCH (n:{quote_name(label)}) WITH n LIMIT {SAMPLED_EDGES} "
                    f"RETURN DISTINCT n.{quote_name(naming.names[0])}"
                )
                for name in self._column(text):
                    owners.setdefault(name, set()).add(label)
        joint_labels = self._joint_labels(labels)
        shared_labels = {
            a
            for owner_labels in owners.values()
            for a in owner_labels
            for b in owner_labels
            if a != b and (a, b) not in joint_labels
        }
        return {
            label: replace(naming, unique=naming.unique and label not in shared_labels)
            for label, naming in namings.items()
        }

    def _joint_labels(self, labels: Iterable[str]) -> set[tuple[str, str]]:
        """Pairs of labels that nodes have together (*Person*, *Actor*), in both orders."""
        pairs: set[tuple[str, str]] = set()
        for label in labels:
            text = (
                f"MATCH (n:{quote_name(label)}) WITH n LIMIT {SAMPLED_EDGES} "
                "UNWIND labels(n) AS other RETURN DISTINCT other"
            )
            pairs |= {pair for other in self._column(text) for pair in ((label, other), (other, label))}
        return pairs

    def find_hops(self, search: HopSearch) -> tuple[SchemaHop, ...]:
        """Find hops that the sample of `read` has missed; raises as `CypherStore.find_hops`.

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
            rows = self._read(text, most=1, seconds=SEARCH_SECONDS)[1]
        except StoreTimeout:
            return ()
        return tuple(
            SchemaHop(a, relation, b) for heads, relation, tails in rows for a in heads for b in tails
        )

    def _count(self, head: str, type_: str, tail: str) -> int:
        """Count the edges of a type (any if it is empty) from or to a label."""
        names = [f":{quote_name(name)}" if name else "" for name in (head, type_, tail)]
        text = f"MATCH ({names[0]})-[{names[1]}]->({names[2]}) RETURN count(*)"
        return int(self._read(text, most=1)[1][0][0])

    def _sample_each(
        self, names: list[str], sample: Callable[[str], T], stop: float
    ) -> list[tuple[str, T | None]]:
        """Look at a sample for each name, several at a time; None where the time was over."""

        def work(name: str) -> T | None:
            return None if monotonic() > stop else sample(name)

        return list(zip(names, self._workers.map(work, names), strict=True))

    def _column(self, text: str) -> list[str]:
        return [str(row[0]) for row in self._read(text, most=100_000)[1]]

    def _sample_edges(self, type_: str) -> tuple[list[SchemaHop], frozenset[str]]:
        text = (
            f"MATCH (a)-[r:{quote_name(type_)}]->(b) WITH a, r, b LIMIT {SAMPLED_EDGES} "
            "UNWIND labels(a) AS head UNWIND labels(b) AS tail "
            "RETURN head, tail, collect(DISTINCT keys(r)) AS keys ORDER BY head, tail"
        )
        rows = self._read(text, most=10_000)[1]
        keys = frozenset(str(key) for _, _, key_lists in rows for edge_keys in key_lists for key in edge_keys)
        return [SchemaHop(str(head), type_, str(tail)) for head, tail, _ in rows], keys

    def _sample_nodes(self, label: str) -> SampledLabel:
        text = f"MATCH (n:{quote_name(label)}) WITH n LIMIT {SAMPLED_EDGES} RETURN count(n)"
        nodes = int(self._read(text, most=1)[1][0][0])
        text = (
            f"MATCH (n:{quote_name(label)}) WITH n LIMIT {SAMPLED_EDGES} UNWIND keys(n) AS key "
            "WITH key, n[key] AS value RETURN key, count(value), count(DISTINCT value), head(collect(value)) "
            "ORDER BY key"
        )
        rows = self._read(text, most=10_000)[1]
        properties = {str(key): SampledProperty(n, values, example) for key, n, values, example in rows}
        return SampledLabel(nodes, properties)


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
