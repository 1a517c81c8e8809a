"""A SPARQL endpoint over HTTP: guarded queries, with a deadline and a limit of rows."""

from __future__ import annotations

import http.client
import socket
import ssl
from base64 import b64encode
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, cast
from urllib.parse import SplitResult, quote, unquote, urlencode, urljoin, urlsplit

from clew.errors import UsageError
from clew.foundation.redaction import keep_address
from clew.stores.cypher.guard import USUAL_ROWS, Guarded
from clew.stores.errors import QueryError, StoreError, StoreTimeout, check_address
from clew.stores.sparql.guard import form_of, guard_sparql
from clew.stores.store import Rows, StoredTerm

if TYPE_CHECKING:
    import pyoxigraph


# One request to a SPARQL endpoint over HTTP, and what its failures mean.
#
# Python's own HTTP client, since the socket must be in reach: a deadline holds for the whole reply, however
# slowly it drips. Redirections are followed within the host only, so that a name and password go nowhere
# else.

CONNECT_SECONDS = 5.0
LONGEST_GET = 2_000
"""Characters of an address; a longer query is sent by POST."""
MOST_HOPS = 5
MOST_SPARQL_BYTES = 512 * 2**20
"""Of a reply whose rows are limited."""
_REDIRECTS = (301, 302, 303, 307, 308)
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
    """The body of a reply, as it comes; reading raises StoreError where it breaks off or takes too long."""

    def __init__(self, response: http.client.HTTPResponse, clock: _RequestClock, most: int | None) -> None:
        self.media = (response.headers.get_content_type() or "").lower()
        self.status = response.status
        self.failure: StoreError | None = None
        self.public_address = clock.public_address
        self._response, self._clock, self._most, self._count = response, clock, most, 0

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, fewer where fewer have come; none at the end."""
        if self.failure is not None:
            raise self.failure
        if self._response.isclosed():
            return b""
        try:
            with self._clock.watch("broke off the connection in mid-reply"):
                data = self._response.read1(size if size > 0 else 1 << 16)
                bytes_left = self._response.length
        except StoreError as error:
            self.failure = error
            raise
        self._count += len(data)
        if not data and bytes_left:
            self.failure = StoreError(
                f"{self.public_address} broke off the connection in mid-reply. Ask again; ask for less if it "
                "happens again"
            )
        elif self._most is not None and self._count > self._most:
            self.failure = StoreError(
                f"{self.public_address} sends more than {self._most >> 20} MiB. Ask for less"
            )
        if self.failure is not None:
            raise self.failure
        return data


class _RequestClock:
    """The time that a request has, and what its failures are called."""

    def __init__(self, public_address: str, seconds: float, *, total: bool) -> None:
        self.public_address, self._seconds, self._total = public_address, seconds, total
        self._end = monotonic() + seconds
        self.socket: socket.socket | None = None

    def seconds_left(self) -> float:
        if not self._total:
            return self._seconds
        seconds_left = self._end - monotonic()
        if seconds_left <= 0:
            raise TimeoutError
        return seconds_left

    @contextmanager
    def watch(self, broken: str) -> Generator[None]:
        """Set the time of the socket; turn what fails into one line that says what to check."""
        try:
            if self.socket is not None:
                self.socket.settimeout(self.seconds_left())
            yield
        except TimeoutError as error:
            raise StoreTimeout(
                f"{self.public_address}: no result within {self._seconds:g} s; stopped. Ask for less, "
                "or allow more time"
            ) from error
        except (http.client.HTTPException, OSError) as error:
            raise StoreError(f"{self.public_address}{_fault(error, broken)}") from error


def _fault(error: Exception, broken: str) -> str:
    """Say what failed, `broken` if nothing better is known, and what to check."""
    match error:
        case ssl.SSLCertVerificationError():
            return (
                f": its certificate is not trusted ({error.verify_message}). Check the host name, or name "
                "the authority's certificate in $SSL_CERT_FILE"
            )
        case ssl.SSLError():
            reason = error.reason or error
            return f" does not speak TLS there ({reason}). Check the port, or write sparql+http://"
        case socket.gaierror():
            return ": there is no host of that name. Check the address"
        case ConnectionRefusedError():
            return ": nothing answers at that port. Check that the server runs, its host and port"
        case http.client.BadStatusLine() | http.client.LineTooLong():
            return (
                " closed the connection, or answered something that is not HTTP. Check that the port is that "
                "of HTTP, and whether it is HTTPS (sparql+https://)"
            )
        case _:
            return f" {broken} ({_reason(error)}). Check that the server still runs"


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


@contextmanager
def send_query(
    address: Address, query: str, accept: str, seconds: float, *, total: bool = True
) -> Generator[HttpReply]:
    """Send a query; yields the reply.

    `seconds` are for all of it, or (`total` False) between two parts of it. Raises StoreError with what to
    check, StoreTimeout, QueryError where the endpoint does not understand the query.
    """
    clock = _RequestClock(address.public_address, seconds, total=total)
    headers = {"Accept": accept, "User-Agent": "clew", "Connection": "close"}
    if address.authorization is not None:
        headers["Authorization"] = address.authorization
    target = address.url
    for _ in range(MOST_HOPS):
        with (
            closing(_connect(target, clock)) as connection,
            closing(_ask(connection, target, query, headers, clock)) as response,
        ):
            if response.status not in _REDIRECTS:
                yield _check_status(HttpReply(response, clock, MOST_SPARQL_BYTES if total else None))
                return
            target = _redirect_target(address, target, response.headers.get("location") or "")
    raise StoreError(
        f"{address.public_address} sends from one address to the next without end. Check the path"
    )


def _connect(url: SplitResult, clock: _RequestClock) -> http.client.HTTPConnection:
    clock.socket = None
    seconds = min(CONNECT_SECONDS, clock.seconds_left())
    make: Callable[..., http.client.HTTPConnection] = http.client.HTTPConnection
    options: dict[str, Any] = {}
    if url.scheme == "https":
        make, options = http.client.HTTPSConnection, {"context": ssl.create_default_context()}
    connection = make(url.hostname or "", url.port, timeout=seconds, **options)
    try:
        with clock.watch("cannot be reached"):
            connection.connect()
    except StoreTimeout as error:
        secure = ", and that it speaks TLS there" if url.scheme == "https" else ""
        raise StoreError(
            f"{clock.public_address}: no connection within {seconds:g} s. "
            f"Check host, port and firewall{secure}"
        ) from error
    clock.socket = connection.sock
    return connection


def _ask(
    connection: http.client.HTTPConnection,
    url: SplitResult,
    query: str,
    headers: Mapping[str, str],
    clock: _RequestClock,
) -> http.client.HTTPResponse:
    """Ask by GET, which no server takes for an update; by POST if the query is too long for it."""
    form = urlencode({"query": query})
    path = quote(url.path or "/", safe="/%:@!$&'()*+,;=~")
    whole_path = f"{path}?{url.query}&{form}" if url.query else f"{path}?{form}"
    with clock.watch("cannot be asked"):
        if len(whole_path) <= LONGEST_GET:
            connection.request("GET", whole_path, headers=dict(headers))
        else:
            path = f"{path}?{url.query}" if url.query else path
            kind = {"Content-Type": "application/x-www-form-urlencoded"}
            connection.request("POST", path, body=form.encode("ascii"), headers={**headers, **kind})
        return connection.getresponse()


def _redirect_target(address: Address, url: SplitResult, location: str) -> SplitResult:
    new_url = urlsplit(urljoin(url.geturl(), location))
    target_url = new_url._replace(query=address.url.query, fragment="")
    if target_url.hostname != address.url.hostname or (
        url.scheme == "https" and target_url.scheme != "https"
    ):
        raise StoreError(
            f"{address.public_address} sends on to {target_url.geturl()}. "
            "If you trust that address, write it instead"
        )
    return target_url


def _check_status(reply: HttpReply) -> HttpReply:
    """Raise what a reply that holds no result means."""
    at, status = reply.public_address, reply.status
    if status == 200 and "html" not in reply.media:
        return reply
    if status == 200:
        raise StoreError(
            f"{at} answers with a web page, not with results. Check the path: endpoints often end in "
            "/sparql or /query"
        )
    text = "" if "html" in reply.media else _first_line(reply)
    reason = f" ({text})" if text else ""
    if status in (400, 422):
        raise QueryError(f"{at} cannot run the query{reason}")
    if status in (401, 403):
        raise StoreError(
            f"{at} lets nobody read without the right user and password (HTTP {status}). Write "
            "sparql+https://user:password@host/…, and check both"
        )
    if status in (404, 405, 410):
        raise StoreError(f"{at}: there is no endpoint at that path (HTTP {status}). Check the path")
    if status in (408, 504):
        raise StoreTimeout(f"{at} stopped the query after its own time{reason}. Ask for less")
    if status == 429:
        raise StoreError(f"{at} gets too many requests (HTTP 429). Wait, then ask again")
    raise StoreError(f"{at} failed with HTTP {status}{reason}. Check the server, or ask for less")


def _first_line(reply: HttpReply) -> str:
    try:
        text = reply.read(4_000).decode("utf-8", "replace")
    except StoreError:
        return ""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line[:200]


# Results of SPARQL as rows: from a stream of bytes, whether an endpoint or the store in process wrote it.

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
