"""A chat model whose replies are heard while they come."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from itertools import count

from clew.llm.errors import ModelFailed
from clew.llm.typed import TypedReplies
from clew.llm.types import ChatModel, Chunk, Reply, Request

Listener = Callable[[int, str], None]
"""Takes the number of a call and the next piece of its reply, in the thread that receives it.

A new try is a new call.
"""


class Streamed(TypedReplies):
    """A chat model that asks for every reply as a stream, and lets a listener hear it."""

    def __init__(self, model: ChatModel, listener: Listener) -> None:
        super().__init__(model.name, model.profile)
        self._model, self._listener, self._calls = model, listener, count(1)

    async def complete(self, request: Request) -> Reply:
        """Reply to a request, in one attempt. Raises as the model's `stream`."""
        async for chunk in self.stream(request):
            if chunk.reply is not None:
                return chunk.reply
        raise ModelFailed(f"{self.name}: the reply ended before it was whole.")

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Reply piece by piece."""
        call = next(self._calls)
        async with aclosing(self._model.stream(request)) as chunks:
            async for chunk in chunks:
                if chunk.text:
                    self._listener(call, chunk.text)
                yield chunk

    async def close(self) -> None:
        """Close the model's connections."""
        await self._model.close()
