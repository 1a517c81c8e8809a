"""A store by its address."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from clew.errors import UsageError
from clew.foundation.redaction import keep_address, keep_secret
from clew.stores.errors import check_address

if TYPE_CHECKING:
    from clew.stores.neo4j import Neo4jStore
    from clew.stores.sparql.endpoint import SparqlEndpoint

CYPHER_SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
SPARQL_SCHEMES = ("sparql+http", "sparql+https")
_SPARQL = re.compile(
    r"(?:SELECT|ASK|CONSTRUCT|DESCRIBE|PREFIX|BASE)\b|(?:INSERT|DELETE|LOAD|CLEAR|DROP|CREATE|COPY|MOVE|ADD)"
    r"\s+(?:DATA|WHERE|SILENT|GRAPH|DEFAULT|ALL|NAMED)\b|(?:INSERT|DELETE)\s*\{|(?:WITH|LOAD)\s*<",
    re.IGNORECASE,
)
"""How queries and updates of SPARQL begin; no statement of Cypher begins so."""
_BEFORE = re.compile(r"(?:\s+|#[^\n]*|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
"""Blanks, and comments of both languages."""


@dataclass(frozen=True, slots=True)
class Login:
    """Who asks a Neo4j server, and which of its databases where the address names none."""

    user: str = "neo4j"
    password: str = ""
    database: str | None = None

    def __post_init__(self) -> None:
        """Remember what must not be shown."""
        keep_secret(self.password)


def is_address(source: str) -> bool:
    """Whether a source is the address of a database and not a file.

    Raises UsageError for an address of another kind (`https://…`), which no file is either.
    """
    keep_address(source)
    scheme, separator, _ = source.partition("://")
    if not separator or not scheme.replace("+", "").isalnum():
        return False
    check_address(source)
    if scheme in ("http", "https"):
        raise UsageError(
            f"{shown_address(source)!r} is a web address. Write sparql+{scheme}://… for a SPARQL endpoint; "
            "download a file first"
        )
    if scheme not in (*CYPHER_SCHEMES, *SPARQL_SCHEMES):
        raise UsageError(
            f"{shown_address(source)!r} is no known kind of address. Write neo4j://host or "
            "sparql+https://host/path; copy an index that is elsewhere to this machine first"
        )
    return True


def refuse_address(source: str) -> None:
    """Raise UsageError, with what to do, if a source is the address of a database."""
    if is_address(source):
        address = shown_address(source)
        raise UsageError(
            f"{address} is the address of a database, and this needs an index of it. Make one with: "
            f"clew index {address} -o NAME.clew"
        )


def is_sparql(address: str) -> bool:
    """Whether an address is that of a SPARQL endpoint."""
    return address.partition("://")[0] in SPARQL_SCHEMES


def is_sparql_query(text: str) -> bool:
    """Whether a text is of SPARQL by its grammar: the words that it may begin with begin no Cypher."""
    return _SPARQL.match(text, _BEFORE.match(text).end()) is not None  # pyright: ignore[reportOptionalMemberAccess]


def shown_address(address: str) -> str:
    """Return an address without user and password."""
    scheme, separator, location = address.partition("://")
    host, slash, path = location.partition("/")
    return scheme + separator + host.rpartition("@")[2] + slash + path


def open_database(address: str, login: Login, *, seconds: float, rows: int) -> Neo4jStore | SparqlEndpoint:
    """Open the store of an address; raises as it does."""
    if is_sparql(address):
        from clew.stores.sparql.endpoint import SparqlEndpoint

        return SparqlEndpoint(address, seconds=seconds, rows=rows)
    return open_neo4j(address, login, seconds=seconds, rows=rows)


def open_neo4j(address: str, login: Login, *, seconds: float = 10.0, rows: int = 1_000) -> Neo4jStore:
    """Connect to `neo4j://[user:password@]host[:port][/database]`.

    Raises as `Neo4jStore`, UsageError for another scheme.
    """
    keep_address(address)
    check_address(address)
    scheme, _, location = address.partition("://")
    if scheme not in CYPHER_SCHEMES:
        raise UsageError(
            f"{shown_address(address)!r} is no address of Neo4j. Write neo4j://host:7687/database"
        )
    from clew.stores.neo4j import Neo4jStore

    place, _, database = location.partition("/")
    credentials, separator, host = place.rpartition("@")
    user, _, password = credentials.partition(":") if separator else (login.user, "", login.password)
    return Neo4jStore(
        f"{scheme}://{host}",
        user=unquote(user) if separator else user,
        password=unquote(password) if separator else password,
        database=database or login.database,
        seconds=seconds,
        rows=rows,
    )
