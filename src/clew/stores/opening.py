"""A store by its address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.errors import UsageError
from clew.stores.cypher.guard import Rules

if TYPE_CHECKING:
    from clew.stores.neo4j import Neo4jStore

CYPHER_SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
SPARQL_SCHEMES = ("sparql+http", "sparql+https")


def is_address(source: str) -> bool:
    """Whether a source is the address of a database and not a file."""
    return "://" in source and source.partition("://")[0] in (*CYPHER_SCHEMES, *SPARQL_SCHEMES)


def open_neo4j(
    address: str, *, user: str, password: str, seconds: float = 10.0, rules: Rules | None = None
) -> Neo4jStore:
    """Connect to `neo4j://host[:port][/database]`; raises as `Neo4jStore`, UsageError for another scheme."""
    scheme, _, rest = address.partition("://")
    if scheme not in CYPHER_SCHEMES:
        raise UsageError(f"{address!r} is no address of Neo4j. Write neo4j://host:7687/database")
    from clew.stores.neo4j import Neo4jStore

    host, _, database = rest.partition("/")
    return Neo4jStore(
        f"{scheme}://{host}",
        user=user,
        password=password,
        database=database or None,
        seconds=seconds,
        rules=rules,
    )
