"""Server-sent events: what a model says and which steps a method takes, while the answer is made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from clew.foundation.json_form import json_line
from clew.serve.problems import problem_of
from clew.serve.work import Gone, WorkListener
from clew.types import Step

STREAM_MEDIA = "text/event-stream"
KEEP_ALIVE = 15.0
"""Seconds without an event after which a comment is sent, so that nobody on the way hangs up."""


class EventQueue(WorkListener):
    """Events of one request, put in by its thread and taken out by the loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[tuple[str, Any] | None] = asyncio.Queue()

    def reply(self, call: int, piece: str) -> None:
        """Take a piece of what a chat model says."""
        self._put(("reply", {"call": call, "text": piece}))

    def step(self, step: Step) -> None:
        """Take a step of a method."""
        self._put(("step", step.as_json()))

    def _put(self, event: tuple[str, Any] | None) -> None:
        self._loop.call_soon_threadsafe(self._events.put_nowait, event)

    async def stream(
        self, answer: Callable[[], Awaitable[dict[str, Any]]], request: str
    ) -> AsyncGenerator[bytes, None]:
        """Yield the events while `answer` is awaited, then `answer` or `problem`, the last one."""
        task = asyncio.ensure_future(answer())
        task.add_done_callback(lambda _: self._events.put_nowait(None))
        try:
            while True:
                try:
                    async with asyncio.timeout(KEEP_ALIVE):
                        event = await self._events.get()
                except TimeoutError:
                    yield b": waiting\n\n"
                    continue
                if event is None:
                    break
                yield _written(*event)
            try:
                yield _written("answer", await task)
            except Gone:
                return
            except Exception as error:  # the response has begun: whatever it is, it is told as an event
                yield _written("problem", problem_of(error).as_json(request))
        finally:
            task.cancel()


def _written(name: str, data: Any) -> bytes:  # noqa: ANN401
    return f"event: {name}\ndata: {json_line(data)}\n\n".encode()
