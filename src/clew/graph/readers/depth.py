"""How deep the elements of an XML file are nested, seen as its bytes pass.

The parser takes time in the square of the depth: 20,000 levels in 440 kB take half a minute, 200,000 an hour.
"""

from __future__ import annotations

import re

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


class DepthGuard:
    """Counts the open elements; `take` says whether they are above `DEEPEST_FILE`, or a tag has no end."""

    def __init__(self) -> None:
        self._rest = self._until = b""
        self._depth = 0

    def take(self, data: bytes) -> str:
        """Look at the next bytes; what is wrong with them, "" if nothing is."""
        window, at = self._rest + data, 0
        if self._until:
            found = window.find(self._until)
            if found < 0:
                self._rest = window[-len(self._until) + 1 :]
                return ""
            at = found + len(self._until)
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
