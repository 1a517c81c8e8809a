"""A chat model under management: cache, budgets, concurrency limit, timeouts, retries, cost, traces.

It wraps any chat model that makes single attempts. `for_question` gives a view with a budget of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from threading import Event
from time import perf_counter
from typing import Any, TypeVar

from clew.errors import LlmError
from clew.foundation.redaction import redacted
from clew.llm.budget import Ledger, Reservation
from clew.llm.cache import ReplyCache
from clew.llm.errors import ContextOverflow, ModelFailed, ModelRefused, ModelTimeout, ReplayMissing
from clew.llm.settings import Policy
from clew.llm.telemetry import Telemetry
from clew.llm.trace import TraceFile
from clew.llm.typed import TypedReplies
from clew.llm.types import ChatModel, Chunk, Reply, Request
from clew.llm.wire import PerLoop

T = TypeVar("T")


@dataclass(frozen=True)
class _BegunReply:
    """A streamed reply that has begun: its first chunk, a generator of the others, and its reservation."""

    first: Chunk | None
    chunks: AsyncGenerator[Chunk, None]
    reservation: Reservation


class ManagedModel(TypedReplies):
    """A chat model that keeps to a policy. Ready objects come in; `close` closes them."""

    def __init__(
        self,
        model: ChatModel,
        policy: Policy | None = None,
        *,
        cache: ReplyCache | None = None,
        trace: TraceFile | None = None,
        telemetry: Telemetry | None = None,
        run: Ledger | None = None,
    ) -> None:
        policy = policy or Policy()
        super().__init__(model.name, model.profile)
        self._model, self.policy = model, policy
        self.run = run or Ledger("run", policy.per_run)
        """What the whole run has spent."""
        self._limit = PerLoop(lambda: asyncio.Semaphore(policy.concurrency))
        self._reached = Event()
        self._cache, self._trace, self._telemetry = cache, trace, telemetry or Telemetry()
        self._sleep = asyncio.sleep
        self._question: Ledger = Ledger("question", policy.per_question)
        self._label: str | None = None
        self.reopen: Callable[[], ManagedModel] | None = None
        """Opens the same model in another process, where that can be."""

    def __reduce__(self) -> tuple[Callable[[], ManagedModel], tuple[()]]:
        if self.reopen is None:
            raise TypeError(f"{self.name} was opened for this process alone")
        return self.reopen, ()

    def for_question(self, label: str | None = None) -> ManagedModel:
        """View the same model with a fresh budget for one question; `label` (its id) goes into the trace."""
        view = object.__new__(type(self))
        vars(view).update(vars(self))
        view._question, view._label = Ledger("question", self.policy.per_question), label
        return view

    async def complete(self, request: Request) -> Reply:
        """Reply to a request, from the cache if it is there.

        Raises BudgetReached (the call could pass a limit; nothing was sent), ReplayMissing (replay only, and
        the request was never recorded), ContextOverflow (the request is too long, or was when it was
        recorded), LlmError (the last attempt's error).
        """
        request = replace(request, model=self.name)
        with self._record_call(request) as record:
            reply = self._recall(request)
            if reply is None:
                async with self._limit.get():
                    reply = await self._call_with_retries(request, lambda: self._once(request))
                self._store(request, reply)
            return record(reply)

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Reply piece by piece; failures are retried until the first piece. Raises as `complete`."""
        request = replace(request, model=self.name)
        with self._record_call(request) as record:
            cached_reply = self._recall(request)
            if cached_reply is not None:
                yield Chunk(cached_reply.text, record(cached_reply))
                return
            async with self._limit.get():
                begun = await self._call_with_retries(request, lambda: self._begin(request))
                try:
                    piece: Chunk | None = begun.first
                    while piece is not None:
                        if piece.reply is not None:
                            reply = self._with_price(piece.reply)
                            begun.reservation.settle_reply(reply)
                            self._store(request, reply)
                            piece = Chunk(piece.text, record(reply))
                        yield piece
                        piece = await self._next(begun.chunks)
                except BaseException as error:
                    begun.reservation.settle_failure(error)
                    raise
                finally:
                    await begun.chunks.aclose()

    async def close(self) -> None:
        """Close the model's connections, the cache and the trace."""
        await self._model.close()
        if self._cache is not None:
            self._cache.close()
        if self._trace is not None:
            self._trace.close()

    def _recall(self, request: Request) -> Reply | None:
        """Look into the cache. A replay is charged as it was recorded, so that it meets the same limits."""
        reservation = self._reserve(request) if self.policy.replay else None
        reply = None if self._cache is None else self._cache.find(request)
        if reservation is None:
            return reply
        too_long = None if self._cache is None or reply else self._cache.find_too_long(request)
        if too_long is not None:
            reservation.settle_failure(too_long)
            raise too_long
        if reply is None:
            missing = ReplayMissing(
                f"{self.name}: there is no recorded reply to this request (key {request.key[:12]})."
                " Run without replay to record it."
            )
            reservation.settle_failure(missing)
            raise missing
        reservation.settle_reply(reply)
        return reply

    def _store(self, request: Request, reply: Reply) -> None:
        if self._cache is not None:
            self._cache.store(request, reply)

    def _reserve(self, request: Request) -> Reservation:
        return Reservation((self._question, self.run), request, self.policy.price)

    async def _call_with_retries(self, request: Request, once: Callable[[], Awaitable[T]]) -> T:
        attempt = 1
        while True:
            try:
                result = await once()
            except LlmError as error:
                if isinstance(error, (ModelRefused, ModelFailed)):
                    self._reached.set()
                wait = self.policy.retry.wait(error, request, attempt, reached=self._reached.is_set())
                if wait is None:
                    if isinstance(error, ContextOverflow) and self._cache is not None:
                        self._cache.store_too_long(request, error)
                    raise
                await self._sleep(wait)
                attempt += 1
            else:
                self._reached.set()
                return result

    async def _once(self, request: Request) -> Reply:
        reservation = self._reserve(request)
        try:
            async with asyncio.timeout(self.policy.timeout):
                reply = self._with_price(await self._model.complete(request))
        except TimeoutError as error:
            reservation.settle_failure(error)
            raise self._too_slow() from error
        except BaseException as error:
            reservation.settle_failure(error)
            raise
        reservation.settle_reply(reply)
        return reply

    async def _begin(self, request: Request) -> _BegunReply:
        reservation = self._reserve(request)
        chunks = self._model.stream(request)
        try:
            return _BegunReply(await self._next(chunks), chunks, reservation)
        except BaseException as error:
            reservation.settle_failure(error)
            await chunks.aclose()
            raise

    async def _next(self, chunks: AsyncGenerator[Chunk, None]) -> Chunk | None:
        try:
            async with asyncio.timeout(self.policy.timeout):
                return await anext(chunks, None)
        except TimeoutError as error:
            raise self._too_slow() from error

    def _too_slow(self) -> ModelTimeout:
        return ModelTimeout(
            f"{self.name} did not answer within {self.policy.timeout:g} s. Allow more time, or ask for less."
        )

    def _with_price(self, reply: Reply) -> Reply:
        price = self.policy.price
        # Servers echo what they are sent; nothing after this may hold a key.
        reply = replace(reply, text=redacted(reply.text))
        return reply if price is None else replace(reply, cost=price.of(reply.usage))

    @contextmanager
    def _record_call(self, request: Request) -> Generator[Callable[[Reply], Reply]]:
        """Write span and trace of a call, however it ends; the yielded function takes the reply."""
        start_time = perf_counter()
        replies: list[Reply] = []
        failure: BaseException | None = None
        with self._telemetry.call(request, self.profile.provider) as replied:

            def record(reply: Reply) -> Reply:
                replies.append(reply)
                replied(reply)
                return reply

            try:
                yield record
            except BaseException as error:
                failure = error
                raise
            finally:
                if self._trace is not None:
                    self._trace.write(
                        self._line(request, replies, failure, (perf_counter() - start_time) * 1000)
                    )

    def _line(
        self, request: Request, replies: list[Reply], failure: BaseException | None, ms: float
    ) -> dict[str, Any]:
        return {
            "question": self._label,
            "model": self.name,
            "request": request.as_json(),
            "reply": asdict(replies[0]) if replies else None,
            "error": None if failure is None else {"type": type(failure).__name__, "message": str(failure)},
            "ms": round(ms, 3),
        }
