"""A part of the server that is made in the background, or when it is first asked: its imports take long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

Mounted = tuple[ASGIApp, AbstractAsyncContextManager[Any]]
"""An application, and what runs it."""


class MadeLate:
    """The application that `make` makes, in a thread, when it is first asked."""

    def __init__(self, make: Callable[[], Mounted]) -> None:
        self._make = make
        self._wanted, self._ended = asyncio.Event(), asyncio.Event()
        self._app: asyncio.Future[ASGIApp] | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Let it be asked. What runs it is entered and left by one task, as that wants it."""
        self._app = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._run(self._app))
        try:
            yield
        finally:
            self._ended.set()
            if not self._wanted.is_set():
                task.cancel()
            await asyncio.wait([task])

    async def _run(self, app: asyncio.Future[ASGIApp]) -> None:
        await self._wanted.wait()
        try:
            made, runs = await asyncio.to_thread(self._make)
            async with runs:
                app.set_result(made)
                await self._ended.wait()
        except Exception as error:  # told to each that asks
            if app.done():
                raise
            app.set_exception(error)

    async def made(self) -> ASGIApp:
        """Make it, or wait until it is made; raises as `make`."""
        assert self._app is not None  # noqa: S101 (only a server that runs is asked)
        self._wanted.set()
        return await asyncio.shield(self._app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on to what is made; raises as `make`."""
        await (await self.made())(scope, receive, send)
