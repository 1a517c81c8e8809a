"""The embedded RDF database, in the process of a query (`stores/worker.py`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pyoxigraph

from clew.stores.errors import QueryError
from clew.stores.process import packed
from clew.stores.sparql.endpoint import table_of
from clew.stores.sparql.guard import guard_sparql, names_of, short_name, tokens_of, with_texts
from clew.stores.store import StoredTerm

_NAMES = """
SELECT DISTINCT ?x { { ?s ?x ?o } UNION { ?s a ?x } UNION { ?x ?p ?o } FILTER(isIRI(?x)) } LIMIT 100000
"""
"""Relations and classes, and further names, with which one that the graph lacks is compared."""


class Engine:
    """A graph in pyoxigraph."""

    def __init__(self, folder: Path, setup: Mapping[str, Any], statements: Sequence[str]) -> None:
        del statements  # the folder is full
        self._store = pyoxigraph.Store.read_only(str(folder / "graph"))
        self._prefixes: dict[str, str] = setup["prefixes"]

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Guard a query and run it; raises as `Store.run`."""
        query, rows = request["query"], request["rows"]
        sent = guard_sparql(query, rows, self._prefixes)
        try:
            results = self._store.query(with_texts(sent.text), prefixes=self._prefixes)
            columns, found = table_of(results)
            messages = packed(
                ([astuple(c) if isinstance(c, StoredTerm) else c for c in row] for row in found), rows + 1
            )
        except (SyntaxError, ValueError, OSError) as error:
            reason = (str(error).splitlines() or [""])[0]
            raise QueryError(f"The embedded store cannot run the query: {reason[:200]}") from error
        if not messages:
            self._check_names(query)
        return {"columns": columns, "rows": messages, "text": sent.text, "parameters": {}}

    def _check_names(self, query: str) -> None:
        """Raise QueryError, with near ones, for a name in a query without rows that the graph lacks."""
        for iri, written in names_of(tokens_of(query), self._prefixes).items():
            node: Any = pyoxigraph.NamedNode(iri)
            places = ((node, None, None), (None, node, None), (None, None, node))
            found = (self._store.quads_for_pattern(*place, None) for place in places)
            if any(next(iter(quads), None) for quads in found) or self._store.contains_named_graph(node):
                continue
            solutions: Any = self._store.query(_NAMES)
            near = get_close_matches(iri, [solution["x"].value for solution in solutions], n=3, cutoff=0.7)
            near_text = ", ".join(short_name(name, self._prefixes, f"<{name}>") for name in near)
            raise QueryError(f"The graph has no {written}" + (f". Near: {near_text}" if near else ""))
