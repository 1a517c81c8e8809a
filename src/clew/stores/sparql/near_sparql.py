"""What is near a node behind a SPARQL endpoint, and whether its graph has changed.

Nodes are IRIs. They are named by what labels them in RDF (`graph/readers/rdf.py`), or by the end of their IRI
(*Christopher Nolan* is `…/Christopher_Nolan`). Literals and types are properties of a node: they are fetched
of all nodes that are met, and not passed through. Blank nodes have names within one result only, and are left
out.

Round trips: 3 when the endpoint is first looked at; one for names; two for the edges of some nodes, of which
the first counts them; one for examples of each type of edges; one for each `BATCH` nodes whose properties are
written, and one for the statements about relations and types that were not met before. A result that the
endpoint caps is asked for in halves.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from hashlib import blake2b
from pathlib import Path
from time import time
from typing import cast
from urllib.parse import quote

from clew.graph.namespaces import RDF
from clew.graph.readers.rdf import ALT_LABEL, LABELS, NAMING_PROPERTIES
from clew.stores import neighbourhood as near
from clew.stores.errors import StoreTimeout
from clew.stores.import_folder import ImportFolder
from clew.stores.neighbourhood import Edge, NamedNode, NamedNodes, NearEdges
from clew.stores.sparql.endpoint import SparqlEndpoint
from clew.stores.sparql.export import export
from clew.stores.sparql.terms import iris, is_iri, quoted, written
from clew.stores.store import StoredTerm

STATEMENTS_SAMPLED = 10_000
"""Statements that are looked at for languages, for how IRIs begin, and for blank nodes."""
MOST_LANGUAGES = 8
MOST_PREFIXES = 4
MOST_BINDINGS = 10_000
"""Edges that are asked for at a time; many endpoints give no more."""
MOST_STATEMENTS = 1_000_000
"""Literals and types of `BATCH` nodes."""
STATE_SECONDS = 10.0
OLDEST_SECONDS = 3_600
"""After which a graph counts as changed, as not all changes show in its counts."""
LARGE_SECONDS = 60
"""After which a large graph counts as changed."""
_TYPE = f"{RDF}type"
_NAMES = (*LABELS, *NAMING_PROPERTIES, ALT_LABEL)
_NAME_IRIS = iris(_NAMES)
_NAMES_LIST = ", ".join(f"<{name}>" for name in _NAMES)
_NO_NAME = "FILTER NOT EXISTS { ?x ?s ?y } FILTER NOT EXISTS { ?z " + f"<{_TYPE}> ?s }}"
"""Relations and classes have labels, too, and nothing is near them."""
_IS_EDGE = f"FILTER(?p != <{_TYPE}>) FILTER(isIRI(?o)) FILTER(isIRI(?s))"
_STATE = (
    "SELECT ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?heads) (COUNT(DISTINCT ?o) AS ?tails) "
    "(SUM(STRLEN(STR(?o))) AS ?length) WHERE { ?s ?p ?o } GROUP BY ?p"
)
_BEGINNING = re.compile(r"(.*[/#:])[^/#:]+", re.DOTALL)

Row = Sequence[object]


class NearSparql:
    """A `NearStore` over a SPARQL endpoint."""

    state_lasts = STATE_SECONDS

    def __init__(self, endpoint: SparqlEndpoint) -> None:
        self._endpoint, self.name = endpoint, endpoint.name
        user = endpoint.address.authorization or ""
        self.key = self.name, blake2b(user.encode(), digest_size=8).hexdigest()

    @property
    def trips(self) -> int:
        """Queries of Clew's own that were sent."""
        return self._endpoint.trips

    def state(self, most: int) -> str | None:
        """What is counted of each relation, and the hour; None for more than `most` triples.

        SPARQL has nothing that tells of a change. One that leaves all these counts as they were is not seen
        before `OLDEST_SECONDS` are over.
        """
        if self._count(most) > most:
            return None
        rows = self._endpoint.read(_STATE, most=MOST_STATEMENTS)
        count_lines = sorted(" ".join(_text(term) for term in row) for row in rows)
        return blake2b(
            "\n".join([_clock_text(OLDEST_SECONDS), *count_lines]).encode(), digest_size=16
        ).hexdigest()

    def is_small(self, most: int) -> bool:
        """Whether there are from 1 to `most` triples."""
        return 0 < self._count(most) <= most

    def _count(self, most: int) -> int:
        """Triples, but at most one more than `most`."""
        inner = f"{{ SELECT ?s WHERE {{ ?s ?p ?o }} LIMIT {most + 1} }}"
        return int(_text(self._endpoint.read(f"SELECT (COUNT(*) AS ?n) WHERE {inner}", most=1)[0][0]))

    def export(self, folder: ImportFolder) -> Path:
        """Write all triples as N-Triples."""
        export(self._endpoint.address, folder)
        self._endpoint.trips += len(folder.finished) + 1
        return folder.data / "graph.nt"

    def neighbours(self) -> SparqlNeighbours:
        """Look at a sample of the graph."""
        return SparqlNeighbours(self._endpoint)


class SparqlNeighbours:
    """Nodes by their names, and their edges."""

    def __init__(self, endpoint: SparqlEndpoint) -> None:
        self._endpoint, self._left_out = endpoint, dict[str, None]()
        labels = f"VALUES ?p {{ {_NAME_IRIS} }} ?s ?p ?o"
        label_languages = [_term(row[0]).language for row in self._sample("?o", labels)]
        languages = [tag for tag, _ in Counter(label_languages).most_common()]
        self._languages = list(dict.fromkeys(["", "en", *languages]))[:MOST_LANGUAGES]
        if set(languages) - set(self._languages):
            self._leave_out(f"of texts only those in {', '.join(filter(None, self._languages))} are fetched")
        statements = self._sample("?s ?o", "?s ?p ?o")
        if any(_term(term).kind == "bnode" for row in statements for term in row):
            self._leave_out("nodes without a name (blank nodes) were not fetched")
        beginnings = Counter(
            match[1]
            for row in statements
            for term in row
            if _term(term).kind == "uri" and (match := _BEGINNING.fullmatch(_text(term)))
        )
        self._beginnings = [text for text, _ in beginnings.most_common(MOST_PREFIXES)]
        self._types = self._all_types()
        self._descriptions: dict[str, list[str]] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What is never fetched, or could not be."""
        return tuple(self._left_out)

    def _leave_out(self, note: str) -> None:
        self._left_out[note] = None

    def _sample(self, variables: str, pattern: str) -> Sequence[Row]:
        return self._endpoint.read(
            f"SELECT {variables} WHERE {{ {pattern} }} LIMIT {STATEMENTS_SAMPLED}", most=STATEMENTS_SAMPLED
        )

    def _all_types(self) -> list[str]:
        """Types of edges; of a large graph those in a sample, where to look for all takes too long."""
        query = f"SELECT DISTINCT ?p WHERE {{ ?s ?p ?o }} LIMIT {near.MOST_TYPES}"
        try:
            rows = self._endpoint.read(query, most=near.MOST_TYPES)
        except StoreTimeout:
            rows = self._sample("?p", "?s ?p ?o")
        return sorted({_text(row[0]) for row in rows} - {_TYPE, *_NAMES})

    def named_nodes(self, texts: Sequence[str], *, any_case: bool) -> NamedNodes:
        """Nodes by their labels and the ends of their IRIs; all labels are read with `any_case`."""
        if any_case:
            lower = ", ".join(quoted(text) for text in texts)
            where = f"VALUES ?p {{ {_NAME_IRIS} }} ?s ?p ?name . FILTER(LCASE(STR(?name)) IN ({lower}))"
        else:
            literals = " ".join(
                f"{quoted(t)}{f'@{tag}' if tag else ''}" for t in texts for tag in self._languages
            )
            pairs = " ".join(f"({iris([iri])} {quoted(text)})" for iri, text in self._possible_iris(texts))
            where = (
                f"{{ VALUES ?name {{ {literals} }} ?s ?p ?name FILTER(?p IN ({_NAMES_LIST})) }} UNION "
                f"{{ VALUES (?s ?name) {{ {pairs} }} "
                "FILTER(EXISTS { ?s ?q ?w } || EXISTS { ?w ?q ?s }) }"
            )
        where = f"{where} FILTER(isIRI(?s)) {_NO_NAME}"
        query = f"SELECT DISTINCT ?s ?name WHERE {{ {where} }} LIMIT {near.MOST_NAMED}"
        rows = self._endpoint.read(query, most=near.MOST_NAMED)
        return NamedNodes(
            [NamedNode(_text(iri), _text(name)) for iri, name in rows], _clock_text(LARGE_SECONDS)
        )

    def _possible_iris(self, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
        """IRIs whose ends are texts, written with underscores or escaped, with the texts."""
        for text in texts:
            ends = dict.fromkeys((quote(text, safe=":.,'()!*"), re.sub(r"\s+", "_", text)))
            yield from (
                (iri, text) for begin in self._beginnings for end in ends if is_iri(iri := begin + end)
            )

    def edges(self, ids: Sequence[str], hub: int) -> NearEdges:
        """Edges of nodes, counted before; nodes with at most `MOST_BINDINGS` edges together are one query."""
        degrees = self._degrees(ids)
        small_nodes = [(node, degrees[node]) for node in ids if 0 < degrees.get(node, 0) <= hub]
        edges, cut = dict[Edge, None](), False
        for nodes, count in _groups(small_nodes):
            cut |= self._edges(nodes, count, edges)
        return NearEdges(list(edges), sum(degree > hub for degree in degrees.values()), cut)

    def _degrees(self, ids: Sequence[str]) -> dict[str, int]:
        values = f"VALUES ?a {{ {iris(ids)} }}"
        out, in_ = (
            f"{{ {values} ?a ?p ?o . BIND(?a AS ?s) {_IS_EDGE} }}",
            f"{{ {values} ?s ?p ?a . BIND(?a AS ?o) {_IS_EDGE} }}",
        )
        query = f"SELECT ?a (COUNT(*) AS ?n) WHERE {{ {out} UNION {in_} }} GROUP BY ?a"
        rows = self._endpoint.read(query, most=len(ids))
        return {_text(node): int(_text(count)) for node, count in rows if node is not None}

    def _edges(self, nodes: Sequence[str], count: int, edges: dict[Edge, None]) -> bool:
        """Add the `count` edges of nodes; whether some are lacking that the endpoint has counted."""
        values = iris(nodes)
        out, in_ = (f"{{ VALUES {end} {{ {values} }} ?s ?p ?o {_IS_EDGE} }}" for end in ("?s", "?o"))
        query = f"SELECT ?s ?p ?o WHERE {{ {out} UNION {in_} }}"
        rows = self._endpoint.read(query, most=count)
        if len(rows) < count and len(nodes) > 1:
            half = len(nodes) // 2
            parts = [(part, self._degrees(part)) for part in (nodes[:half], nodes[half:])]
            return any([self._edges(part, sum(degrees.values()), edges) for part, degrees in parts])
        edges |= dict.fromkeys(_edge(row) for row in rows)
        return len(rows) < count

    def examples(self) -> list[Edge]:
        """Some edges of each type."""
        pattern_end = f"?s ?p ?o {_IS_EDGE} }} LIMIT {near.EXAMPLES}"
        parts = [
            f"{{ SELECT ?s ?p ?o WHERE {{ VALUES ?p {{ <{type_}> }} {pattern_end} }}"
            for type_ in self._types
            if is_iri(type_)
        ]
        if not parts:
            return []
        query = f"SELECT ?s ?p ?o WHERE {{ {' UNION '.join(parts)} }}"
        return [_edge(row) for row in self._endpoint.read(query, most=near.EXAMPLES * len(parts))]

    def write(self, nodes: Sequence[str], edges: Sequence[Edge], folder: Path) -> Path:
        """Write N-Triples of the edges, of literals and types, and of what relations and types are called."""
        tags = ", ".join(quoted(tag) for tag in self._languages)
        value_filter = f"FILTER(?p = <{_TYPE}> || (isLiteral(?o) && LANG(?o) IN ({tags})))"
        relations, types = {kind for _, _, kind in edges}, set[str]()
        with (folder / "graph.nt").open("w", encoding="utf-8") as lines:
            lines.writelines(f"<{head}> <{kind}> <{tail}> .\n" for head, tail, kind in edges)
            for ids in near.batches(nodes, near.BATCH):
                query = f"SELECT ?s ?p ?o WHERE {{ VALUES ?s {{ {iris(ids)} }} ?s ?p ?o {value_filter} }}"
                rows = self._endpoint.read(query, most=MOST_STATEMENTS)
                lines.writelines(_lines(rows))
                relations |= {_text(row[1]) for row in rows}
                types |= {_text(row[2]) for row in rows if _text(row[1]) == _TYPE}
            descriptions = self._describe(relations, types)
            for name in sorted(relations | types):
                lines.writelines(descriptions.get(name, ()))
        return folder / "graph.nt"

    def _describe(self, relations: Set[str], types: Set[str]) -> dict[str, list[str]]:
        """The statements about relations and types, as lines by name; each is asked for once.

        Of a relation also the names of the things that describe it.
        """
        new_names = sorted((relations | types) - self._descriptions.keys() - {_TYPE, *_NAMES})
        if new_names:
            tags = ", ".join(quoted(tag) for tag in self._languages)
            direct_pattern = f"VALUES ?n {{ {iris(new_names)} }} ?n ?p ?o . BIND(?n AS ?s)"
            pointing_pattern = (
                f"VALUES ?n {{ {iris(relations & set(new_names))} }} ?s ?m ?n . FILTER(?m != <{_TYPE}>)"
            )
            described_pattern = (
                f"{{ SELECT ?n ?s WHERE {{ {pointing_pattern} }} }} ?s ?p ?o . FILTER(?p IN ({_NAMES_LIST}))"
            )
            language_filter = f"FILTER(isIRI(?o) || (isLiteral(?o) && LANG(?o) IN ({tags})))"
            where = f"{{ {direct_pattern} }} UNION {{ {described_pattern} }} {language_filter}"
            query = f"SELECT DISTINCT ?n ?s ?p ?o WHERE {{ {where} }} LIMIT {MOST_BINDINGS}"
            rows = self._endpoint.read(query, most=MOST_BINDINGS)
            lines_by_name: dict[str, list[str]] = {name: [] for name in new_names}
            for name, *row in rows:
                lines_by_name[_text(name)] += _lines([row])
            self._descriptions |= lines_by_name
        return self._descriptions


def _groups(degrees: Iterable[tuple[str, int]]) -> Iterator[tuple[list[str], int]]:
    """Nodes whose edges together are at most `MOST_BINDINGS`, or one node, with their number."""
    nodes, count = list[str](), 0
    for node, degree in degrees:
        if nodes and count + degree > MOST_BINDINGS:
            yield nodes, count
            nodes, count = [], 0
        nodes.append(node)
        count += degree
    if nodes:
        yield nodes, count


def _edge(row: Row) -> Edge:
    head, kind, tail = map(_text, row)
    return head, tail, kind


def _lines(rows: Iterable[Row]) -> Iterator[str]:
    """Statements as lines, without those that have a broken IRI or a blank node."""
    for row in rows:
        terms = cast("list[StoredTerm]", list(row))
        if all(term.kind == "literal" or (term.kind == "uri" and is_iri(term.value)) for term in terms):
            yield f"{' '.join(map(written, terms))} .\n"


def _text(term: object) -> str:
    return _term(term).value


def _term(term: object) -> StoredTerm:
    """A value of a row; one of no kind where it has none."""
    return StoredTerm("", "") if term is None else cast(StoredTerm, term)


def _clock_text(seconds: int) -> str:
    """A text that is another one every so many seconds."""
    return str(int(time() // seconds))
