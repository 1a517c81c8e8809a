"""The embedded RDF store: an index in pyoxigraph, asked in SPARQL, in processes of its own.

Names that are IRIs stay; others get a prefix each, known to every query: `e:` entities, `r:` relations,
`t:` types (`e:Christopher%20Nolan`). Every entity has its label as `rdfs:label` and its aliases as
`skos:altLabel`. Tails of a relation that are all numbers, days, or true or false are literals.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import cast
from urllib.parse import quote

import numpy as np

from clew.graph import RDF, RDFS, SKOS, XSD
from clew.graph.graph import Graph, ValueKind
from clew.graph.schema import value_relations
from clew.graph.values import as_xsd
from clew.stores.cypher.guard import USUAL_ROWS, Guarded
from clew.stores.errors import StoreError
from clew.stores.process import QueryProcesses
from clew.stores.store import Rows, StoredTerm

# Terms of RDF as text of N-Triples and SPARQL, which write them the same way.

_IN_STRINGS = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


def quoted(value: str) -> str:
    """A text between quotation marks."""
    return f'"{value.translate(_IN_STRINGS)}"'


PREFIXES = {
    "e": "urn:clew:entity:",
    "r": "urn:clew:relation:",
    "t": "urn:clew:type:",
    "p": "urn:clew:property:",
    "rdf": RDF,
    "rdfs": RDFS,
    "skos": SKOS,
    "xsd": XSD,
}
_IRI = re.compile(r"(?:[a-z][a-z0-9+.-]*://|urn:)[^\s<>\"{}|\\^`\x00-\x20]+")
_ESCAPED = re.compile(r"[^\w.:-]")
_BLOCK = 50_000
"""Triples that are written at a time."""
_DATATYPES = {"INT64": "integer", "DOUBLE": "decimal", "DATE": "date", "BOOLEAN": "boolean"}


class EmbeddedSparql:
    """An index in pyoxigraph; made with `of_graph`. One that nobody holds any more closes itself."""

    name = "embedded"

    def __init__(self, processes: QueryProcesses, *, seconds: float, rows: int) -> None:
        self._processes, self._seconds, self._rows = processes, seconds, rows

    @classmethod
    def of_graph(cls, graph: Graph, *, seconds: float = 10.0, rows: int = USUAL_ROWS) -> EmbeddedSparql:
        """Load a graph; queries end after `seconds`. Raises StoreError if it cannot be loaded."""
        import pyoxigraph

        folder = tempfile.TemporaryDirectory(prefix="clew-rdf-")
        try:
            store = pyoxigraph.Store(f"{folder.name}/graph")
            for block in _blocks(statements(graph)):
                store.bulk_load(block, pyoxigraph.RdfFormat.N_TRIPLES)
            store.flush()
        except (OSError, SyntaxError, ValueError) as error:
            raise StoreError(f"The graph cannot be loaded into the embedded store: {error}") from error
        del store
        processes = QueryProcesses("sparql", folder)
        processes.load({"prefixes": PREFIXES}, [])
        return cls(processes, seconds=seconds, rows=rows)

    def run(self, query: str, *, seconds: float | None = None, rows: int | None = None) -> Rows:
        """Run a query in a process, in the store's limits unless others are given; as `SparqlStore.run`."""
        most = self._rows if rows is None else rows
        reply = self._processes.ask(
            {"query": query, "rows": most}, self._seconds if seconds is None else seconds
        )
        found = tuple(tuple(_cell(value) for value in row) for row in reply["rows"])
        columns = tuple(reply["columns"])
        sent = Guarded(reply["text"], {}, columns, most)
        return Rows(columns, found[:most], len(found) <= most, sent)

    def close(self) -> None:
        """End the processes and remove the folder."""
        self._processes.close()


def _cell(value: object) -> object:
    return StoredTerm(*cast("list[str]", value)) if isinstance(value, list) else value


def _blocks(lines: Iterator[str]) -> Iterator[bytes]:
    while block := "".join(islice(lines, _BLOCK)):
        yield block.encode("utf-8", "replace")


def statements(graph: Graph) -> Iterator[str]:
    """Yield a graph as lines of N-Triples."""
    literal = graph.values.datatype >= 0
    terms = [
        _literal(graph, node) if is_literal else _iri("e", graph.entities[node])
        for node, is_literal in enumerate(literal.tolist())
    ]
    relations = [_iri("r", name) for name in graph.relations]
    kinds = value_relations(graph)
    for head, relation, tail in zip(*(column.tolist() for column in graph.out.columns()), strict=True):
        value = _typed(graph.labels[tail], kinds[relation]) if relation in kinds else terms[tail]
        yield f"{terms[head]} {relations[relation]} {value} .\n"
    label, alias, type_ = f"<{RDFS}label>", f"<{SKOS}altLabel>", f"<{RDF}type>"
    for node in np.flatnonzero(~literal).tolist():
        yield f"{terms[node]} {label} {quoted(graph.labels[node])} .\n"
    for name, node in zip(graph.aliases.names, graph.aliases.entity.tolist(), strict=True):
        yield f"{terms[node]} {alias} {quoted(name)} .\n"
    yield from _edge_properties(graph, terms, relations)
    types = [_iri("t", name) for name in graph.types.names]
    for node, type_id in zip(graph.types.owners.tolist(), graph.types.type.tolist(), strict=True):
        yield f"{terms[node]} {type_} {types[type_id]} .\n"


def _edge_properties(graph: Graph, terms: Sequence[str], relations: Sequence[str]) -> Iterator[str]:
    """Yield the statements that have properties as reified ones: `rdf:subject`, …, `p:since`."""
    properties = graph.edge_properties
    ends = [f"<{RDF}{name}>" for name in ("subject", "predicate", "object")]
    keys = [_iri("p", name) for name in properties.keys]
    number = f"^^<{XSD}double>"
    for statement, (head, relation, tail) in enumerate(properties.triples.tolist()):
        node = f"_:s{statement}"
        for end, term in zip(ends, (terms[head], relations[relation], terms[tail]), strict=True):
            yield f"{node} {end} {term} .\n"
        for at in range(int(properties.offsets[statement]), int(properties.offsets[statement + 1])):
            numeric = properties.kind[at] == ValueKind.NUMBER
            value = f'"{float(properties.value[at])!r}"{number}' if numeric else quoted(properties.texts[at])
            yield f"{node} {keys[int(properties.key[at])]} {value} .\n"


def _iri(prefix: str, name: str) -> str:
    """Write a name as an IRI; one that is an IRI stays."""
    if _IRI.fullmatch(name):
        return f"<{name}>"
    return f"<{PREFIXES[prefix]}{_ESCAPED.sub(lambda c: quote(c[0], safe=''), name)}>"


def _typed(text: str, kind: str) -> str:
    """A value as a literal of XML Schema."""
    datatype = "double" if kind == "DOUBLE" and "e" in text.lower() else _DATATYPES[kind]
    return f"{quoted(text.lower() if kind == 'BOOLEAN' else text)}^^<{XSD}{datatype}>"


def _literal(graph: Graph, node: int) -> str:
    written, datatype = as_xsd(graph.labels[node], graph.values.datatypes[int(graph.values.datatype[node])])
    text = quoted(written)
    if datatype.startswith("@"):
        return text + datatype
    return f"{text}^^<{datatype}>" if _IRI.fullmatch(datatype) else text
