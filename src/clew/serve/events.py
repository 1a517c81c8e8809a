"""Server-sent events: what a model says and which steps a method takes, while the answer is made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from clew.foundation.json_form import json_line
from clew.serve.problems import problem_of
from clew.serve.work import Gone, Hear

STREAM_MEDIA = "text/event-stream"
KEEP_ALIVE = 15.0
"""Seconds without an event after which a comment is sent, so that nobody on the way hangs up."""


async def event_stream(
    answer: Callable[[Hear], Awaitable[dict[str, Any]]], request: str
) -> AsyncGenerator[bytes, None]:
    """Yield what is heard while `answer` is awaited, then `answer` or `problem`, the last one."""
    loop, events = asyncio.get_running_loop(), asyncio.Queue[tuple[str, Any] | None]()

    def hear(name: str, data: Any) -> None:  # noqa: ANN401
        loop.call_soon_threadsafe(events.put_nowait, (name, data))

    task = asyncio.ensure_future(answer(hear))
    task.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while True:
            try:
                async with asyncio.timeout(KEEP_ALIVE):
                    event = await events.get()
            except TimeoutError:
                yield b": waiting\n\n"
                continue
            if event is None:
                break
            yield _encode_event(*event)
        try:
            yield _encode_event("answer", await task)
        except Gone:
            return
        except Exception as error:  # the response has begun: whatever it is, it is sent as an event
            yield _encode_event("problem", problem_of(error).as_json(request))
    finally:
        task.cancel()


def _encode_event(name: str, data: Any) -> bytes:  # noqa: ANN401
    return f"event: {name}\ndata: {json_line(data)}\n\n".encode()
