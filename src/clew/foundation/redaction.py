"""Keys and passwords never leave: what is written passes `redacted`, which knows them by their values.

Who takes a secret from a user calls `keep_secret`, who takes an address `keep_address`. Errors redact their
messages, models their replies, and the command line its streams; JSON lines are redacted too.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from threading import Lock
from typing import Any, TextIO
from urllib.parse import parse_qsl, quote, quote_plus, unquote

MARK = "***"
LEAST_SECRET, LEAST_LETTERS = 6, 12
"""Characters of a secret that is looked for anywhere, and of one of letters alone; else only in addresses."""

_SECRET_PARAMETER = re.compile(
    r"api[-_]?key|key|access[-_]?key|(?:access[-_]?|auth[-_]?)?token|secret|sig|signature|password|passwd|pwd"
    r"|subscription-key|code|x-[a-z]+-(?:signature|security-token)",
    re.IGNORECASE,
)
_CREDENTIALS = re.compile(
    r"(?:[a-z][a-z0-9+.-]*:/{1,3}|//)[^:/?#@\s]*:(.+)@"
    r"|(?:[a-z][a-z0-9+.-]*:|^(?=[^:/]*:[^/]))[^:/?#@\s]*:([^\s]+)@",
    re.IGNORECASE | re.DOTALL,
)
"""`user:password@` behind a scheme or at the start, whatever the password is written with."""
_secrets: set[str] = set()
_pattern: re.Pattern[str] | None = None
_lock = Lock()


def keep_secret(secret: str | None) -> None:
    """Remember a key or password, as JSON and addresses write it too, unless it may be a plain word."""
    secret = (secret or "").strip()
    if len(secret) >= LEAST_SECRET and not (secret.isalpha() and len(secret) < LEAST_LETTERS):
        _keep(_forms(secret))


def keep_address(address: str | None) -> None:
    """Remember what is secret in an address, also a wrong one: `user:password@`, `?api-key=`."""
    for match in _CREDENTIALS.finditer(address or ""):
        _keep([f":{match[1] or match[2]}@"])
    _, separator, location = (address or "").partition("://")
    if not separator:
        return
    place, _, after = location.partition("/")
    if "?" in place:
        place, _, after = place.partition("?")
        after = f"?{after}"
    credentials, at, _ = place.rpartition("@")
    _, colon, password = credentials.partition(":")
    if at and colon and password:
        keep_secret(unquote(password))
        keep_secret(b64encode(unquote(credentials).encode()).decode("ascii"))
        keep_secret(password)
        _keep([f":{password}@"])
    query = after.partition("?")[2].partition("#")[0]
    for name, value in parse_qsl(query):
        if _SECRET_PARAMETER.fullmatch(name):
            keep_secret(value)
            _keep(f"{name}={form}" for form in _forms(value))


def redacted(text: str) -> str:
    """The text with a mark in the place of every secret that is known."""
    pattern = _pattern
    return text if pattern is None else pattern.sub(_mark, text)


class RedactedStream:
    """A stream of text that writes no secret to the one behind it; all else is that one's."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, redacted."""
        self._stream.write(redacted(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each, redacted."""
        for line in lines:
            self.write(line)

    def close(self) -> None:
        """Leave the stream behind open: it is not this one's."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._stream, name)


def _mark(match: re.Match[str]) -> str:
    """The mark, with what tells where the secret stood."""
    text = match[0]
    if text.startswith(":") and text.endswith("@"):
        return f":{MARK}@"
    name, equals, _ = text.partition("=")
    return f"{name}={MARK}" if equals and _SECRET_PARAMETER.fullmatch(name) else MARK


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]


def _keep(forms: Iterable[str]) -> None:
    global _pattern
    new = set(forms) - _secrets
    if not new:
        return
    with _lock:
        _secrets.update(new)
        # The longest first, or a part of one would hide the rest of it from the mark.
        _pattern = re.compile("|".join(map(re.escape, sorted(_secrets, key=lambda s: (-len(s), s)))))
