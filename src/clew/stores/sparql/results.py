"""Results of SPARQL as rows: from a stream of bytes, whether an endpoint or the store in process wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import islice
from typing import IO, TYPE_CHECKING, cast

from clew.stores.cypher.guard import Guarded
from clew.stores.store import Rows, StoredTerm

if TYPE_CHECKING:
    import pyoxigraph

    from clew.stores.sparql.wire import HttpReply

RESULTS = {
    "application/sparql-results+json": "JSON",
    "application/json": "JSON",
    "application/sparql-results+xml": "XML",
    "application/xml": "XML",
    "text/tab-separated-values": "TSV",
}
"""Media type → pyoxigraph's `QueryResultsFormat`, of SELECT and ASK."""
GRAPHS = {
    "application/n-triples": "N_TRIPLES",
    "text/turtle": "TURTLE",
    "application/x-turtle": "TURTLE",
    "application/rdf+xml": "RDF_XML",
    "text/plain": "N_TRIPLES",
}
"""Media type → pyoxigraph's `RdfFormat`, of CONSTRUCT and DESCRIBE."""
RESULT_COLUMNS = ("subject", "predicate", "object")
ASK_COLUMN = "ask"


def rows_of(source: BytesIO | HttpReply, media: str, sent: Guarded) -> Rows:
    """Read as many rows as may be returned, and whether there are more.

    Raises SyntaxError or ValueError where `source` does not hold what `media` says, OSError if it breaks off.
    """
    import pyoxigraph

    stream = cast("IO[bytes]", source)  # only `read` is called
    if media in GRAPHS:
        triples = pyoxigraph.parse(stream, getattr(pyoxigraph.RdfFormat, GRAPHS[media]))
        return _rows(RESULT_COLUMNS, _triple_rows(triples), sent)
    results = pyoxigraph.parse_query_results(stream, getattr(pyoxigraph.QueryResultsFormat, RESULTS[media]))
    if isinstance(results, pyoxigraph.QueryBoolean):
        return _rows((ASK_COLUMN,), [(bool(results),)], sent)
    columns = tuple(variable.value for variable in results.variables)
    rows = _solution_rows(results)
    # So that an error's traceback does not keep them: they must end in the thread that reads them.
    del results
    return _rows(columns, rows, sent)


def _rows(columns: tuple[str, ...], rows: Iterable[tuple[object, ...]], sent: Guarded) -> Rows:
    first_rows = tuple(islice(rows, sent.rows + 1))
    return Rows(columns, first_rows[: sent.rows], len(first_rows) <= sent.rows, sent)


def _solution_rows(results: pyoxigraph.QuerySolutions) -> Iterator[tuple[object, ...]]:
    try:
        for solution in results:
            yield tuple(term_of(term) for term in solution)
    finally:
        del results  # as in `rows_of`


def _triple_rows(quads: Iterable[pyoxigraph.Quad]) -> Iterator[tuple[object, ...]]:
    for quad in quads:
        yield term_of(quad.subject), term_of(quad.predicate), term_of(quad.object)


def term_of(term: object) -> StoredTerm | None:
    """Turn a term of pyoxigraph into one of a row; None where a variable has no value."""
    import pyoxigraph

    if isinstance(term, pyoxigraph.NamedNode):
        return StoredTerm("uri", term.value)
    if isinstance(term, pyoxigraph.BlankNode):
        return StoredTerm("bnode", term.value)
    if isinstance(term, pyoxigraph.Literal):
        if term.language:
            return StoredTerm("literal", term.value, language=term.language)
        datatype = term.datatype.value
        return StoredTerm("literal", term.value, "" if datatype.endswith("#string") else datatype)
    return None if term is None else StoredTerm("triple", str(term))
