"""Connections that give up their place: a head that does not come, idle ones when others wait."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

HEAD_SECONDS = 10.0
"""Time in which a connection, or the rest of a head that has begun, has to come."""
IDLE_SECONDS = 20
"""Time that a connection is kept after a response."""
MOST_CONNECTIONS = 1_000
"""Open connections of a process."""
MOST_OF_CLIENT = 256
"""Open connections of one address; a proxy is one."""


class Connection(HttpToolsProtocol):
    """HTTP/1.1 of uvicorn, with a time limit for heads.

    Where there are too many connections, or too many of one client, the one that has been idle longest is
    closed, and a new one if none is idle.
    """

    _head_timer: asyncio.TimerHandle | None = None
    _opened = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head; make room for it."""
        super().connection_made(transport)
        self._opened = monotonic()
        self._await_head()
        everyone = cast("set[Connection]", self.connections)
        address = self.client and self.client[0]
        peers = [one for one in everyone if (one.client and one.client[0]) == address]
        crowd = everyone if len(everyone) > MOST_CONNECTIONS else peers if len(peers) > MOST_OF_CLIENT else ()
        if crowd:
            idle = [one for one in crowd if one.is_idle and one is not self]
            min(idle, key=lambda one: one._opened, default=self).transport.close()

    def on_message_begin(self) -> None:
        """Note the first bytes of a request; its head has to be complete in time."""
        super().on_message_begin()
        if self._head_timer is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        """Stop waiting for the head."""
        self._stop_timer()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is None or cycle.response_complete

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
