"""Errors of queries (exit code 2) and of graph databases (exit code 1), also of their addresses."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from clew.errors import ClewError, UsageError

_HALF = re.compile("[\ud800-\udfff]")


class QueryError(UsageError):
    """A database query that is not run."""


class QuerySyntaxError(QueryError):
    """A query that cannot be read, for a `reason`, from an `offset` in its text on."""

    def __init__(self, reason: str, text: str, offset: int) -> None:
        before = text[:offset]
        line, column = before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
        super().__init__(f"The query cannot be read at line {line}, column {column}: {reason}")


def check_text(text: str) -> None:
    """Raise QuerySyntaxError for half of a character (a lone surrogate), which no store takes."""
    if (half := _HALF.search(text)) is not None:
        raise QuerySyntaxError(f"{half[0]!r} is half of a character", text, half.start())


class QueryRefused(QueryError):
    """A query that is more than a harmless read; nothing of it was run."""


class StoreError(ClewError):
    """A graph database failed or cannot be reached."""


class StoreTimeout(QueryError, StoreError):
    """A query ran longer than it may and was stopped."""

    @classmethod
    def after(cls, seconds: float) -> StoreTimeout:
        """Say how long it ran."""
        return cls(f"The query ran longer than {seconds:g} s and was stopped. Ask for less")


# What an address of a database must not have.


def check_address(address: str) -> None:
    """Raise UsageError, without the password, for a raw `/`, `?` or `#` in it, and for a port that is none.

    Such an address would have its host before the sign, and the rest of the password in its path.
    """
    location = address.partition("://")[2]
    place = re.split("[/?#]", location, maxsplit=1)[0]
    if ":" in place and "@" in location[len(place) :]:
        raise UsageError(
            "The address has an @ behind its first /, ? or #, so that its password would be read as a path. "
            "Write the signs of a password as %2F, %3F, %23 and %40, and an @ of a path as %40"
        )
    host = place.rpartition("@")[2]
    try:
        _ = urlsplit(f"//{host}").port
    except ValueError as error:
        raise UsageError(
            f"{host!r} is no host and port ({error}). Write host:port, as localhost:7687"
        ) from error


def connection_fault(error: BaseException, unencrypted: str) -> str:
    """Say what broke the way to a server, and what to check; empty where that is not known.

    `unencrypted` is what to write where the server does not speak TLS, as *sparql+http://*.
    """
    import socket
    import ssl

    match error:
        case ssl.SSLCertVerificationError():
            return (
                f"has a certificate that is not trusted ({error.verify_message}). Check the host name, or "
                "name the authority's certificate in $SSL_CERT_FILE"
            )
        case ssl.SSLError():
            return f"does not speak TLS there. Check the port, or write {unencrypted}"
        case socket.gaierror():
            return "cannot be reached: there is no host of that name. Check the address"
        case ConnectionRefusedError():
            return "cannot be reached: nothing answers at that port. Check that the server runs, its port too"
        case TimeoutError():
            return "cannot be reached: nothing answered in time. Check host, port and the firewalls between"
        case _:
            return ""
