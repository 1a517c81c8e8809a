"""A SPARQL endpoint over HTTP: guarded queries, with a deadline and a limit of rows."""

from __future__ import annotations

from clew.stores.cypher.guard import USUAL_ROWS, Guarded
from clew.stores.errors import StoreError
from clew.stores.sparql.guard import form_of, guard_sparql
from clew.stores.sparql.results import GRAPHS, RESULTS, rows_of
from clew.stores.sparql.wire import HttpReply, address_of, send_query
from clew.stores.store import Rows

ACCEPT_ROWS = (
    "application/sparql-results+json, application/sparql-results+xml;q=0.9, "
    "text/tab-separated-values;q=0.8, application/json;q=0.5"
)
ACCEPT_GRAPH = "application/n-triples, text/turtle;q=0.9, application/rdf+xml;q=0.8"


class SparqlEndpoint:
    """A SPARQL 1.1 endpoint; the guard lets queries only read, and they go where only queries are taken."""

    def __init__(self, address: str, *, seconds: float = 10.0, rows: int = USUAL_ROWS) -> None:
        """Take an address `sparql+https://[user:password@]host/path`; queries end after `seconds`.

        Nothing is sent yet. Raises UsageError for an address that cannot be read.
        """
        self.address = address_of(address)
        self.name = self.address.public_address
        self._seconds, self._rows = seconds, rows

    def run(self, query: str) -> Rows:
        """Guard a query and run it; raises as `SparqlStore.run`."""
        return self._ask(guard_sparql(query, self._rows))

    def _ask(self, sent: Guarded) -> Rows:
        graph = form_of(sent.text) in ("CONSTRUCT", "DESCRIBE")
        accept, known_media = (ACCEPT_GRAPH, GRAPHS) if graph else (ACCEPT_ROWS, RESULTS)
        with send_query(self.address, sent.text, accept, self._seconds) as reply:
            if reply.media not in known_media:
                raise StoreError(
                    f"{self.name} answers with {reply.media} that is no result of SPARQL. Check the path"
                )
            try:
                return rows_of(reply, reply.media, sent)
            except (SyntaxError, ValueError, OSError, StoreError) as error:
                raise _reply_error(reply, error) from error

    def close(self) -> None:
        """Nothing is held open."""


def _reply_error(reply: HttpReply, error: Exception) -> StoreError:
    """What reading a reply failed of: the connection if it did, else what came over it."""
    if reply.failure is not None:
        return reply.failure
    return StoreError(
        f"The reply cannot be read as {reply.media} ({error}). It may have been cut short; ask again"
    )
