"""A SPARQL endpoint over HTTP: guarded queries, with a deadline and a limit of rows."""

from __future__ import annotations

import http.client
import socket
from base64 import b64encode
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import IO, TYPE_CHECKING, cast
from urllib.parse import SplitResult, quote, unquote, urlencode, urljoin, urlsplit

from clew.errors import UsageError
from clew.foundation.redaction import keep_address
from clew.stores.cypher.guard import USUAL_ROWS, Guarded
from clew.stores.errors import QueryError, StoreError, StoreTimeout, check_address, connection_fault
from clew.stores.sparql.guard import form_of, guard_sparql
from clew.stores.store import Rows, StoredTerm

if TYPE_CHECKING:
    import pyoxigraph


# One request to a SPARQL endpoint over HTTP, and what its failures mean.
#
# Python's own HTTP client, since the socket must be in reach: a deadline holds for the whole reply, however
# slowly it drips. Redirections are followed within the host only, so that a name and password go nowhere
# else.

MOST_SPARQL_BYTES = 512 * 2**20
"""Of a reply whose rows are limited."""
_PREFIX = "sparql+"


@dataclass(frozen=True, slots=True)
class Address:
    """Where an endpoint is; `public_address` is it without name and password."""

    url: SplitResult
    public_address: str
    authorization: str | None


def address_of(text: str) -> Address:
    """Read `sparql+https://[user:password@]host[:port]/path`; UsageError for anything else."""
    keep_address(text)
    check_address(text)
    if not text.startswith((f"{_PREFIX}http://", f"{_PREFIX}https://")):
        raise UsageError(f"{text!r} is no address of a SPARQL endpoint. Write sparql+https://host/sparql")
    try:
        url = urlsplit(text.removeprefix(_PREFIX))
        host, _ = url.hostname, url.port
    except ValueError as error:
        raise UsageError(f"The address of the SPARQL endpoint cannot be read ({error})") from error
    if not host or any(ord(c) <= 32 or ord(c) == 127 for c in text):
        raise UsageError(
            "The address of the SPARQL endpoint has no host, or a space. Write sparql+https://host/sparql"
        )
    plain_url = url._replace(netloc=url.netloc.rpartition("@")[2], fragment="")
    authorization = None
    if url.username is not None:
        secret = f"{unquote(url.username)}:{unquote(url.password or '')}"
        authorization = "Basic " + b64encode(secret.encode()).decode("ascii")
    return Address(plain_url, _PREFIX + plain_url.geturl(), authorization)


class HttpReply:
    """A request to an endpoint, and the body of its reply as it comes.

    `seconds` are for all of it, or (`total` False) between two parts of it. What fails raises StoreError with
    what to check, StoreTimeout; a `read` that failed fails again.
    """

    def __init__(self, address: Address, seconds: float, *, total: bool) -> None:
        self.public_address = address.public_address
        self.media, self.failure = "", cast("StoreError | None", None)
        self._seconds, self._total, self._end = seconds, total, monotonic() + seconds
        self._socket: socket.socket | None = None
        self._response: http.client.HTTPResponse | None = None
        self._count = 0

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, fewer where fewer have come; none at the end."""
        response, at = self._response, self.public_address
        if self.failure is not None:
            raise self.failure
        if response is None or response.isclosed():
            return b""
        try:
            with self._watch("broke off the connection in mid-reply"):
                data = response.read1(size if size > 0 else 1 << 16)
            self._count += len(data)
            if not data and response.length:
                again = "Ask again; ask for less if it happens again"
                raise StoreError(f"{at} broke off the connection in mid-reply. {again}")
            if self._total and self._count > MOST_SPARQL_BYTES:
                raise StoreError(f"{at} sends more than {MOST_SPARQL_BYTES >> 20} MiB. Ask for less")
        except StoreError as error:
            self.failure = error
            raise
        return data

    @contextmanager
    def _watch(self, broken: str) -> Generator[None]:
        """Set the time of the socket; turn what fails into one line that says what to check."""
        try:
            if self._socket is not None:
                self._socket.settimeout(self._seconds_left())
            yield
        except TimeoutError as error:
            raise StoreTimeout(
                f"{self.public_address}: no result within {self._seconds:g} s; stopped. Ask for less, "
                "or allow more time"
            ) from error
        except (http.client.BadStatusLine, http.client.LineTooLong) as error:
            raise StoreError(
                f"{self.public_address} closed the connection, or answered something that is not HTTP. Check "
                "that the port is that of HTTP, and whether it is HTTPS (sparql+https://)"
            ) from error
        except (http.client.HTTPException, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            fault = connection_fault(error, "sparql+http://")
            fault = fault or f"{broken} ({reason}). Check that the server still runs"
            raise StoreError(f"{self.public_address} {fault}") from error

    def _seconds_left(self) -> float:
        seconds_left = self._end - monotonic() if self._total else self._seconds
        if seconds_left <= 0:
            raise TimeoutError
        return seconds_left

    @contextmanager
    def asking(self, url: SplitResult, query: str, headers: Mapping[str, str]) -> Generator[None]:
        """Ask, by GET, which no server takes for an update; by POST if the query is too long for it."""
        is_secure = url.scheme == "https"
        kind = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
        seconds, self._socket = min(5.0, self._seconds_left()), None
        connection = kind(url.hostname or "", url.port, timeout=seconds)
        form = urlencode({"query": query})
        path = quote(url.path or "/", safe="/%:@!$&'()*+,;=~") + (f"?{url.query}" if url.query else "")
        whole_path = f"{path}{'&' if url.query else '?'}{form}"
        with closing(connection):
            try:
                with self._watch("cannot be reached"):
                    connection.connect()
            except StoreTimeout as error:
                secure = ", and that it speaks TLS there" if is_secure else ""
                raise StoreError(
                    f"{self.public_address}: no connection within {seconds:g} s. "
                    f"Check host, port and firewall{secure}"
                ) from error
            self._socket = connection.sock
            with self._watch("cannot be asked"):
                if len(whole_path) <= 2_000:
                    connection.request("GET", whole_path, headers=dict(headers))
                else:
                    form_kind = {"Content-Type": "application/x-www-form-urlencoded"}
                    connection.request(
                        "POST", path, body=form.encode("ascii"), headers={**headers, **form_kind}
                    )
                self._response = connection.getresponse()
            with closing(self._response):
                self.media = (self._response.headers.get_content_type() or "").lower()
                yield

    def redirection(self, address: Address, url: SplitResult) -> SplitResult | None:
        """Where the reply sends on to, within the host; None if it does not."""
        response = self._response
        if response is None or response.status not in (301, 302, 303, 307, 308):
            return None
        target = urlsplit(urljoin(url.geturl(), response.headers.get("location") or ""))
        target = target._replace(query=address.url.query, fragment="")
        is_weaker = url.scheme == "https" and target.scheme != "https"
        if target.hostname != address.url.hostname or is_weaker:
            raise StoreError(
                f"{self.public_address} sends on to {target.geturl()}. "
                "If you trust that address, write it instead"
            )
        return target

    def check_status(self) -> None:
        """Raise what a reply that holds no result means."""
        at, is_page = self.public_address, "html" in self.media
        status = 0 if self._response is None else self._response.status
        if status == 200:
            if is_page:
                raise StoreError(
                    f"{at} answers with a web page, not with results. Check the path: endpoints often end in "
                    "/sparql or /query"
                )
            return
        text = ""
        with suppress(StoreError):
            text = "" if is_page else self.read(4_000).decode("utf-8", "replace")
        line = next((line.strip() for line in text.splitlines() if line.strip()), "")
        reason = f" ({line[:200]})" if line else ""
        match status:
            case 400 | 422:
                raise QueryError(f"{at} cannot run the query{reason}")
            case 401 | 403:
                raise StoreError(
                    f"{at} lets nobody read without the right user and password (HTTP {status}). Write "
                    "sparql+https://user:password@host/…, and check both"
                )
            case 404 | 405 | 410:
                raise StoreError(f"{at}: there is no endpoint at that path (HTTP {status}). Check the path")
            case 408 | 504:
                raise StoreTimeout(f"{at} stopped the query after its own time{reason}. Ask for less")
            case 429:
                raise StoreError(f"{at} gets too many requests (HTTP 429). Wait, then ask again")
            case _:
                advice = "Check the server, or ask for less"
                raise StoreError(f"{at} failed with HTTP {status}{reason}. {advice}")


# Results of SPARQL as rows, whether an endpoint or the embedded store has them.

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


def table_of(results: object) -> tuple[tuple[str, ...], Iterator[tuple[object, ...]]]:
    """Columns and rows of what pyoxigraph makes of a query: terms, None where a variable has no value."""
    import pyoxigraph

    if isinstance(results, pyoxigraph.QueryBoolean):
        return (ASK_COLUMN,), iter([(bool(results),)])
    if isinstance(results, pyoxigraph.QuerySolutions):
        return tuple(variable.value for variable in results.variables), _solution_rows(results)
    triples = cast("Iterable[pyoxigraph.Triple]", results)
    return RESULT_COLUMNS, ((term_of(t.subject), term_of(t.predicate), term_of(t.object)) for t in triples)


def _solution_rows(results: pyoxigraph.QuerySolutions) -> Iterator[tuple[object, ...]]:
    try:
        for solution in results:
            yield tuple(term_of(term) for term in solution)
    finally:
        # So that an error's traceback does not keep them: they must end in the thread that reads them.
        del results


def rows_of(reply: HttpReply, sent: Guarded) -> Rows:
    """Read as many rows as may be returned, and whether there are more; in `opened_reply`."""
    import pyoxigraph

    stream = cast("IO[bytes]", reply)  # only `read` is called
    if reply.media in GRAPHS:
        results = pyoxigraph.parse(stream, getattr(pyoxigraph.RdfFormat, GRAPHS[reply.media]))
    else:
        form = getattr(pyoxigraph.QueryResultsFormat, RESULTS[reply.media])
        results = pyoxigraph.parse_query_results(stream, form)
    columns, rows = table_of(results)
    del results  # as in `_solution_rows`
    found = tuple(islice(rows, sent.rows + 1))
    return Rows(columns, found[: sent.rows], len(found) <= sent.rows, sent)


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


@contextmanager
def opened_reply(
    address: Address, query: str, seconds: float, *, graph: bool = False, total: bool = True
) -> Generator[HttpReply]:
    """Ask for rows, or for a `graph`; yields the reply.

    `seconds` are for all of it, or (`total` False) between two parts of it. Raises StoreError with what to
    check, also for what cannot be read inside, StoreTimeout, QueryError where the endpoint does not
    understand the query.
    """
    accept, known_media = (_ACCEPT_GRAPH, GRAPHS) if graph else (_ACCEPT_ROWS, RESULTS)
    reply, at, target = HttpReply(address, seconds, total=total), address.public_address, address.url
    headers = {"Accept": accept, "User-Agent": "clew", "Connection": "close"}
    if address.authorization is not None:
        headers["Authorization"] = address.authorization
    for _ in range(5):
        with reply.asking(target, query, headers):
            if (further := reply.redirection(address, target)) is not None:
                target = further
                continue
            reply.check_status()
            if reply.media not in known_media:
                raise StoreError(
                    f"{at} answers with {reply.media} that is no result of SPARQL. Check the path"
                )
            try:
                yield reply
            except (SyntaxError, ValueError, OSError, StoreError) as error:
                advice = "It may have been cut short; ask again"
                reason = f"{at} sends what cannot be read as {reply.media} ({error}). {advice}"
                raise reply.failure or StoreError(reason) from error
            return
    raise StoreError(f"{at} sends from one address to the next without end. Check the path")


_ACCEPT_ROWS = (
    "application/sparql-results+json, application/sparql-results+xml;q=0.9, "
    "text/tab-separated-values;q=0.8, application/json;q=0.5"
)
_ACCEPT_GRAPH = "application/n-triples, text/turtle;q=0.9, application/rdf+xml;q=0.8"


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
        """Guard a query and run it; raises as `Store.run`."""
        sent = guard_sparql(query, self._rows)
        graph = form_of(sent.text) in ("CONSTRUCT", "DESCRIBE")
        with opened_reply(self.address, sent.text, self._seconds, graph=graph) as reply:
            return rows_of(reply, sent)

    def close(self) -> None:
        """Nothing is held open."""
