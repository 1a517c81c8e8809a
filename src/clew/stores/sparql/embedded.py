"""The embedded RDF store: an index in pyoxigraph, asked in SPARQL, in processes of its own.

What was RDF is as its sources say it: IRIs, literals with datatypes and languages, blank nodes, types, labels
and named graphs, of which the default graph has all triples. What follows from the ontology is there too.

Other names get a prefix each, known to every query: `e:` entities, `r:` relations, `t:` types
(`e:Christopher%20Nolan`). Such an entity has its label as `rdfs:label` and its aliases as `skos:altLabel`.
Tails of a relation that are all numbers, days, or true or false are literals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast
from urllib.parse import quote

import numpy as np

from clew.foundation.scratch import Scratch
from clew.graph import RDF, RDFS, SKOS, XSD
from clew.graph.beside import blank_term, lines_of
from clew.graph.graph import Graph, ValueKind
from clew.graph.inference import is_schema
from clew.graph.schema import kind_of_values, value_relations, written_as
from clew.graph.values import as_xsd
from clew.stores.cypher.guard import USUAL_ROWS
from clew.stores.errors import StoreError
from clew.stores.process import EmbeddedStore, QueryProcesses
from clew.stores.store import StoredTerm

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
_DATATYPES = {"INT64": "integer", "DOUBLE": "decimal", "DATE": "date", "BOOLEAN": "boolean"}


class EmbeddedSparql(EmbeddedStore):
    """An index in pyoxigraph; made with `of_graph`."""

    @classmethod
    def of_graph(cls, graph: Graph, *, seconds: float = 10.0, rows: int = USUAL_ROWS) -> EmbeddedSparql:
        """Load a graph; queries end after `seconds`. Raises StoreError if it cannot be loaded."""
        import pyoxigraph

        folder = Scratch("rdf")
        try:
            store = pyoxigraph.Store(f"{folder.name}/graph")
            path = Path(folder.name) / "graph.nq"
            with path.open("w", encoding="utf-8", errors="replace", newline="") as lines:
                lines.writelines(statements(graph))
            # In one load, as blank nodes keep their names only within one.
            store.bulk_load(path=path, format=pyoxigraph.RdfFormat.N_QUADS)
            path.unlink()
            store.flush()
        except (OSError, SyntaxError, ValueError) as error:
            raise StoreError(f"The graph cannot be loaded into the embedded store: {error}") from error
        del store
        processes = QueryProcesses("sparql", folder, {"prefixes": PREFIXES})
        return cls(processes, seconds=seconds, rows=rows)

    @staticmethod
    def read(value: object) -> object:
        """Make a term of its parts."""
        return StoredTerm(*cast("list[str]", value)) if isinstance(value, list) else value


def statements(graph: Graph) -> Iterator[str]:
    """Yield a graph as lines of N-Quads."""
    literal = graph.values.datatype >= 0
    terms = [
        _literal(graph, node) if is_literal else _term(graph, graph.entities[node])
        for node, is_literal in enumerate(literal.tolist())
    ]
    relations = [_iri("r", name) for name in graph.relations]
    kinds = value_relations(graph)
    for head, relation, tail in zip(*(column.tolist() for column in graph.out.columns()), strict=True):
        is_written = relation not in kinds or (graph.beside is not None and literal[tail])
        value = terms[tail] if is_written else _typed(graph.labels[tail], kinds[relation])
        yield f"{terms[head]} {relations[relation]} {value} .\n"
    if graph.beside is not None:
        yield from (f"{line}\n" for line in lines_of(graph.beside))
    others = [not (is_literal or _is_rdf(graph, node)) for node, is_literal in enumerate(literal.tolist())]
    label, alias = f"<{RDFS}label>", f"<{SKOS}altLabel>"
    for node in np.flatnonzero(others).tolist():
        yield f"{terms[node]} {label} {quoted(graph.labels[node])} .\n"
    for name, node in zip(graph.aliases.names, graph.aliases.entity.tolist(), strict=True):
        if others[node]:
            yield f"{terms[node]} {alias} {quoted(name)} .\n"
    yield from _edge_properties(graph, terms, relations)
    type_ = f"<{RDF}type>"
    for node, iri in _types(graph):
        yield f"{terms[node]} {type_} {iri} .\n"


def _is_rdf(graph: Graph, node: int) -> bool:
    """Whether a node is one of RDF, of which the sources say all that there is to say."""
    name = graph.entities[node]
    return graph.beside is not None and (name.startswith("_:") or _IRI.fullmatch(name) is not None)


def _term(graph: Graph, name: str) -> str:
    is_blank = graph.beside is not None and name.startswith("_:")
    return blank_term(name) if is_blank else _iri("e", name)


def _classes(graph: Graph) -> dict[int, list[str]]:
    """The classes of an ontology by the numbers of the types that are called as they are."""
    numbers = {name: number for number, name in enumerate(graph.types.names)}
    relations = [number for number, name in enumerate(graph.relations) if is_schema(name)]
    heads, relation, tails = graph.out.columns()
    edges = np.flatnonzero(np.isin(relation, relations))
    classes: dict[int, list[str]] = {}
    for node in np.union1d(heads[edges], tails[edges]).tolist():
        if graph.labels[node] in numbers and _IRI.fullmatch(graph.entities[node]):
            classes.setdefault(numbers[graph.labels[node]], []).append(_iri("t", graph.entities[node]))
    return classes


def _types(graph: Graph) -> Iterator[tuple[int, str]]:
    """Types of nodes: by the IRIs that sources state, and those that follow by what people read of them."""
    stated = graph.stated_types if graph.beside is not None else None
    said = set[tuple[int, int]]()
    iris: dict[int, list[str]] = {}
    if stated is not None:
        labels: list[int] = stated.label.tolist()
        names = [_iri("t", name) for name in stated.names]
        for number, name in zip(labels, names, strict=True):
            iris.setdefault(number, []).append(name)
        iris = _classes(graph) | iris
        for node, number in stated.pairs.tolist():
            said.add((node, labels[number]))
            yield node, names[number]
    type_iris = [
        known[0] if len(known := iris.get(type_, [])) == 1 else _iri("t", name)
        for type_, name in enumerate(graph.types.names)
    ]
    for node, type_ in zip(graph.types.owners.tolist(), graph.types.type.tolist(), strict=True):
        if (node, type_) not in said:
            yield node, type_iris[type_]


def _edge_properties(graph: Graph, terms: Sequence[str], relations: Sequence[str]) -> Iterator[str]:
    """Yield a reifier (RDF 1.2) of each statement that has properties, and these: `p:since`."""
    properties = graph.edge_properties
    values: dict[str, list[tuple[str, int, float]]] = {key: [] for key in properties.keys}
    for _, items in properties.rows():
        for key, text, kind, number in items:
            values[key].append((text, kind, number))
    keys = {key: (_iri("p", key), kind_of_values(of_key)) for key, of_key in values.items()}
    for statement, ((head, relation, tail), items) in enumerate(properties.rows()):
        if _is_rdf(graph, head):
            continue  # its sources say it
        node = f"_:s{statement}"
        yield f"{node} <{RDF}reifies> <<( {terms[head]} {relations[relation]} {terms[tail]} )>> .\n"
        for key, text, of_value, number in items:
            iri, kind = keys[key]
            if of_value != ValueKind.NONE:  # beside texts, in a column that is not of one kind
                kind = kind or kind_of_values([(text, of_value, number)])
            yield f"{node} {iri} {_typed(written_as(kind, text, number), kind) if kind else quoted(text)} .\n"


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
