"""Running a server: one process, or workers around shared sockets that are started again when they end."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from time import monotonic
from types import FrameType
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from clew.errors import ClewError, UsageError
from clew.serve.app import GRACE
from clew.serve.settings import FOLDER, ServeSettings
from clew.workers import end_with_parent

# Connections that give up their place: a head that does not come, idle ones when others wait.

HEAD_SECONDS = 10.0
"""Time in which a connection, or the rest of a head that has begun, has to come."""
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
    _answered: RequestResponseCycle | None = None
    """The request that is being answered; `cycle` is the last that has come, of several sent at once."""

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
        """Let go of the timer, and of all requests of the client that has gone."""
        self._stop_timer()
        self.pipeline.clear()
        if self._answered is not None and not self._answered.response_complete:
            self._answered.disconnected = True
            self._answered.message_event.set()
        super().connection_lost(exc)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:  # noqa: ANN401
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

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


BACKLOG = 512
_REFUSED = 100
"""Added by a worker to the exit code of an error that the next one would meet too."""


def listen(settings: ServeSettings) -> list[socket.socket]:
    """Open a socket for each worker, all on one address; the kernel shares connections out among them.

    A worker's socket is kept open here, so that while it is started again its connections wait. Raises
    UsageError if the address is taken or not one of this machine, or the system (Windows) cannot share it.
    """
    if settings.workers > 1 and not (hasattr(os, "fork") and hasattr(socket, "SO_REUSEPORT")):
        raise UsageError("This system cannot share an address between processes. Leave out --workers")
    opened: list[socket.socket] = []
    try:
        for _ in range(settings.workers):
            port = opened[0].getsockname()[1] if opened else settings.port
            opened.append(_bind_socket(settings.host, port, shared=settings.workers > 1))
    except OSError as error:
        for open_socket in opened:
            open_socket.close()
        reason = (error.strerror or str(error)).partition(" (while")[0]
        raise UsageError(
            f"{settings.host}:{settings.port} cannot be listened on ({reason}). "
            "Give another --port, or 0 for any"
        ) from error
    return opened


def _bind_socket(host: str, port: int, *, shared: bool) -> socket.socket:
    places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = places[0]
    dual_stack = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    opened = socket.create_server(
        address, family=family, backlog=BACKLOG, reuse_port=shared, dualstack_ipv6=dual_stack
    )
    # Its connections inherit it: a response of two writes would wait for the client's late ACK (40 ms).
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return opened


def address_of(opened: socket.socket) -> str:
    """The address to open in a browser."""
    host, port, *_ = opened.getsockname()
    host_text = f"[{host}]" if ":" in host else host
    return f"http://{host_text}:{port}"


def serve(make: Callable[[], ASGIApp], sockets: list[socket.socket], started: Callable[[], None]) -> int:
    """Serve until SIGINT or SIGTERM, then finish what is in progress; returns an exit code.

    `make` puts the application together, in each worker anew; `started` is called once it is listened.
    Workers are started again when they end, but not after a ClewError of `make`, which ends the server.
    Where the system cannot fork, all is in this process, with the first socket.
    """
    if not hasattr(os, "fork"):
        started()
        return _serve_one(make, sockets[0])
    return _Workers(make, sockets).run(started)


def _serve_one(make: Callable[[], ASGIApp], opened: socket.socket) -> int:
    config = uvicorn.Config(
        make(),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        http=Connection,
        backlog=BACKLOG,
        timeout_keep_alive=20,
        timeout_graceful_shutdown=round(GRACE),
        ws="none",
        proxy_headers=False,
    )
    server = _Quiet(config)
    server.run(sockets=[opened])
    return 0 if server.started else 1


class _Quiet(uvicorn.Server):
    """A server for which Ctrl-C is the way to end it, and no error."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._captured_signals.clear()


class _Workers:
    """Workers, one a socket: forks of this process, which has the graphs open and asks nothing itself."""

    def __init__(self, make: Callable[[], ASGIApp], sockets: list[socket.socket]) -> None:
        self._make, self._sockets = make, sockets
        self._running: dict[int, tuple[int, float]] = {}
        """The place of each process among the sockets, and when it began."""
        self._ending, self._code = False, 0
        self._alive = os.pipe()
        """Reading from it returns when this process has ended, as only it keeps the other end open."""

    def run(self, started: Callable[[], None]) -> int:
        """Start all workers, start again those that end, until told to end."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._end)
        gc.collect()
        gc.freeze()  # or collecting garbage would copy the pages that workers share
        for place in range(len(self._sockets)):
            self._start(place)
        started()
        while self._running:
            self._wait()
        return self._code

    def _start(self, place: int) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child:
            self._running[child] = place, time.monotonic()
            if self._ending:  # it was told while this one began
                os.kill(child, signal.SIGTERM)
            return
        code = 1
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            for position, opened in enumerate(self._sockets):
                if position != place:
                    opened.close()
            read_end, write_end = self._alive
            os.close(write_end)
            # As if told to end: what is in progress is finished, and the address is free at once.
            end_with_parent(lambda: os.read(read_end, 1), lambda: os.kill(os.getpid(), signal.SIGTERM))
            code = _serve_one(self._make, self._sockets[place])
        except ClewError as error:
            sys.stderr.write(f"error: {error}\n")
            code = _REFUSED + error.exit_code
        except Exception as error:  # it is told, and the worker is started again
            sys.stderr.write(f"worker {place + 1} ended: {type(error).__name__}: {error}\n")
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _wait(self) -> None:
        try:
            child, status = os.wait()
        except InterruptedError:
            return
        place, begun = self._running.pop(child)
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(child, os.environ[FOLDER])
        if self._ending:
            return
        if (code := os.waitstatus_to_exitcode(status)) > _REFUSED:
            self._code = code - _REFUSED
            self._end()
            return
        # One that ends at once is started a little later, so that a fault is no storm.
        time.sleep(max(0.0, 0.5 - (time.monotonic() - begun)))
        if not self._ending:
            self._start(place)

    def _end(self, *_: object) -> None:
        self._ending = True
        for opened in self._sockets:  # so that each address is free when its worker lets go of it
            opened.close()
        for child in self._running:
            os.kill(child, signal.SIGTERM)
