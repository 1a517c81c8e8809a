"""Bounds on what a server sends to the HTTP clients of SDKs (httpx, httpx2): size, and where it sends on.

`limits` are options for such a client. Bodies are decompressed here, a block at a time, since a client would
take all that a block holds. A redirection to another origin is refused, as the prompt goes with it.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

MOST_REPLY_BYTES = 32 * 2**20
"""Of one reply as it is sent, and decompressed: a thousand times a long one."""
_PORTS = {"http": 80, "https": 443}


class ReplyRefused(Exception):
    """A reply that is not read; the message goes on after where it comes from."""


def limits(*, asynchronous: bool) -> dict[str, Any]:
    """Options of an `httpx.Client` (or `AsyncClient`) that holds all its replies to the bounds."""
    hook = _check_async if asynchronous else _check
    return {"event_hooks": {"response": [hook]}, "headers": {"Accept-Encoding": "gzip, deflate"}}


def refused(error: BaseException) -> ReplyRefused | None:
    """The refusal behind an error of an SDK, if it is one."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ReplyRefused):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


async def _check_async(response: Any) -> None:  # noqa: ANN401
    _check(response)


def _check(response: Any) -> None:  # noqa: ANN401
    """Refuse a response by its head, and put the bounds around its body."""
    location = response.headers.get("location")
    if location and 300 <= response.status_code < 400:
        try:
            target = response.request.url.join(location)
        except Exception as error:  # InvalidURL of httpx or httpx2, which have no class in common
            raise ReplyRefused(f"sends on to an address that is none ({error})") from error
        _check_origin(response.request.url, target)
    length = response.headers.get("content-length", "")
    if length.isascii() and length.isdecimal() and len(length) < 20 and int(length) > MOST_REPLY_BYTES:
        raise _too_long()
    encoding = response.headers.pop("content-encoding", "identity").strip().lower()
    # Of the package that the SDK has chosen; both check the class of what they read.
    package: Any = sys.modules[type(response).__module__.partition(".")[0]]
    kind = type("BoundedStream", (_Bounded, package.AsyncByteStream, package.SyncByteStream), {})
    response.stream = kind(response.stream, encoding)


def _check_origin(source: Any, target: Any) -> None:  # noqa: ANN401
    source_origin, target_origin = (
        (u.scheme, u.host, u.port or _PORTS.get(u.scheme)) for u in (source, target)
    )
    if source_origin == target_origin or (source_origin, target_origin) == (
        ("http", source_origin[1], 80),
        ("https", source_origin[1], 443),
    ):
        return
    target_text = f"{target.scheme}://{target.host}" + (f":{target.port}" if target.port else "")
    raise ReplyRefused(
        f"sends on to {target_text}, which would get the prompt. If you trust that server, give its address"
    )


class _Bounded:
    """A body that is decompressed and counted while a client of either kind reads it."""

    def __init__(self, inner: Any, encoding: str) -> None:  # noqa: ANN401
        if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise ReplyRefused(f"sends a reply in an encoding that was not asked for ({encoding[:40]!r})")
        # 32: gzip or zlib, as the first bytes say.
        self._zlib = None if encoding in ("", "identity") else zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._inner, self._sent_bytes, self._read_bytes = inner, 0, 0

    def __iter__(self) -> Iterator[bytes]:
        for data in self._inner:
            yield from self._blocks(data)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._inner:
            for block in self._blocks(data):
                yield block

    def close(self) -> None:
        self._inner.close()

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _blocks(self, data: bytes) -> Iterator[bytes]:
        """What some bytes of the body hold; raises ReplyRefused beyond the bounds."""
        self._sent_bytes += len(data)
        if self._sent_bytes > MOST_REPLY_BYTES:
            raise _too_long()
        if self._zlib is None:
            yield data
            return
        while data:
            try:
                block = self._zlib.decompress(data, (1 << 16))
            except zlib.error as error:
                raise ReplyRefused(f"sends a reply that cannot be decompressed ({error})") from error
            self._read_bytes += len(block)
            if self._read_bytes > MOST_REPLY_BYTES:
                raise _too_long()
            yield block
            data = self._zlib.unconsumed_tail


def _too_long() -> ReplyRefused:
    return ReplyRefused(
        f"sends more than {MOST_REPLY_BYTES >> 20} MiB in one reply, of which nothing is used"
    )
