"""What an XML file may not hold, seen as its bytes pass: elements too deep, and entities that grow.

The parser takes time in the square of the depth: 20,000 levels in 440 kB take half a minute, 200,000 an hour.

An entity that stands for others, or for much text, makes a file of a kilobyte fill the memory. So every
declaration, wherever it stands, must be `<!ENTITY name "value">` of a short value without others in it, and
what is put in for them all is bounded by what was read.
"""

from __future__ import annotations

import re
from pathlib import Path

from clew.errors import InputError

DEEPEST_FILE = 4_000
"""Levels that are read: more than any file has that people or programs write."""
LONGEST_TAG = 1 << 24
_SKIPPED = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
"""How what holds no elements begins and ends."""
_MARK = re.compile(
    rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<![A-Za-z]"
    rb"|(</[^>]*+>)"
    rb"|(<[^!?/>\"'][^>\"']*+(?:\"[^\"]*+\"[^>\"']*+|'[^']*+'[^>\"']*+)*+>)"
    rb"|(<.*+)",
    re.DOTALL,
)
"""A closing tag, an opening one, or what has not ended yet."""

LONGEST_VALUE = 1024
"""Bytes of an entity's value: more than any prefix of IRIs has."""
FREE_EXPANSION = 1 << 24
EXPANSION_SHARE = 20
"""What entities may add, in bytes: this much, and this many times what was read."""
_LONGEST_DECLARATION = 1 << 12
_BEGIN = re.compile(rb"<!ENTITY", re.IGNORECASE)
_PLAIN = re.compile(rb"<!ENTITY\s+([^\s%&;\"'<>]{1,256})\s+(?:\"([^\"&<>%]*)\"|'([^'&<>%]*)')\s*>")
_PREDEFINED = re.compile(rb"<!ENTITY\s+(?:lt|gt|amp|apos|quot)\s+(?:\"[^\"<%]{0,16}\"|'[^'<%]{0,16}')\s*>")


class DepthGuard:
    """Counts the open elements; `take` says whether they are above `DEEPEST_FILE`, or a tag has no end."""

    def __init__(self) -> None:
        self._rest = self._until = b""
        self._depth = 0

    def take(self, data: bytes) -> str:
        """Look at the next bytes; what is wrong with them, "" if nothing is."""
        window, at = self._rest + data, 0
        if self._until:
            end = window.find(self._until)
            if end < 0:
                self._rest = window[-len(self._until) + 1 :]
                return ""
            at = end + len(self._until)
        self._rest = self._until = b""
        for mark in _MARK.finditer(window, at):
            kind = mark.lastindex
            if kind == 1:
                self._depth -= 1
            elif kind == 2 and window[mark.end() - 2] != ord("/"):
                self._depth += 1
                if self._depth > DEEPEST_FILE:
                    return f"elements are nested more than {DEEPEST_FILE:,} deep"
            elif kind == 3:
                return self._keep(mark[0])
        return ""

    def _keep(self, rest: bytes) -> str:
        """Keep the beginning of a tag; of what is skipped, only what its end may begin with."""
        start = next((start for start in _SKIPPED if rest.startswith(start)), None)
        if start is not None:
            self._until = _SKIPPED[start]
            rest = rest[len(start) :][-len(self._until) + 1 :]
        self._rest = rest
        return "a tag has no end" if len(rest) > LONGEST_TAG else ""


class EntityGuard:
    """Sees the bytes of an XML file pass; `take` raises InputError for what it must not declare."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rest = b""
        self._values: dict[bytes, int] = {}
        self._bytes_read = self._bytes_added = 0

    def take(self, data: bytes) -> None:
        """Look at the next bytes."""
        self._bytes_read += len(data)
        window, at = self._rest + data, 0
        while declaration := _BEGIN.search(window, at):
            at = self._take_declaration(window, declaration.start(), final=not data)
            if at < 0:
                self._rest = window[declaration.start() :]
                return
        self._count(window)
        # The beginning of a declaration, or of the name of an entity, may be in this chunk.
        self._rest = window[max(at, len(window) - len(b"<!ENTITY") + 1) :]

    def _take_declaration(self, window: bytes, start: int, *, final: bool) -> int:
        """Take one declaration; where it ends, -1 if the rest of it is still to come."""
        plain = _PLAIN.match(window, start)
        if plain is not None:
            value = plain[2] if plain[2] is not None else plain[3]
            if len(value) > LONGEST_VALUE:
                raise self._refusal(f"stands for more than {LONGEST_VALUE:,} bytes")
            self._values[b"&" + plain[1] + b";"] = len(value)
            return plain.end()
        predefined = _PREDEFINED.match(window, start)
        if predefined is not None:
            return predefined.end()
        if not final and b">" not in window[start:] and len(window) - start < _LONGEST_DECLARATION:
            return -1
        raise self._refusal("is defined by other entities, by markup or by another file")

    def _count(self, window: bytes) -> None:
        """Add up what is put in for entities; one that two chunks share is not counted, which is little."""
        self._bytes_added += sum(window.count(name) * size for name, size in self._values.items())
        if self._bytes_added > FREE_EXPANSION + EXPANSION_SHARE * self._bytes_read:
            raise self._refusal("is used so often that it could fill the memory")

    def _refusal(self, reason: str) -> InputError:
        return InputError(
            f"{self._path}: an XML entity {reason}. Only short ones, as for prefixes of IRIs, are read: "
            "write the others out"
        )
