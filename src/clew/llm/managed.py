"""A chat model under management: cache, budgets, concurrency limit, timeouts, retries, cost, traces.

It wraps any chat model that makes single attempts. A `Talk` with it has a budget for one question.
"""

from __future__ import annotations

import asyncio
import atexit
import hashlib
import os
import re
import threading
from asyncio import sleep
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Mapping, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import count
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from clew.foundation.forms import shorten
from clew.foundation.redaction import redacted
from clew.llm.adapter import PerLoop
from clew.llm.budget import Ledger, ReplyCache, TraceFile, estimate, reserve, settle, taken
from clew.llm.providers import Policy
from clew.llm.reply import FORM, LONGEST_SHOWN, ChatModel, clean
from clew.llm.types import (
    ContextOverflow,
    Hear,
    Message,
    ModelFailed,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
    RateLimited,
    ReplayMissing,
    Reply,
    Request,
    add_usage,
)
from clew.types import Step, Usage

if TYPE_CHECKING:
    from tenacity import RetryCallState


# Asynchronous calls from synchronous code, also where an event loop already runs (notebooks, servers).
#
# One background thread keeps one event loop for the whole process, so that connections are kept between
# calls.

T = TypeVar("T")

_check: ContextVar[Callable[[], None] | None] = ContextVar("clew_waiting", default=None)


@contextmanager
def waiting_checked(check: Callable[[], None]) -> Generator[None]:
    """Let `run_sync` call `check` now and then while it waits in this context; it may raise."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


class _Runner:
    """An event loop in a daemon thread, belonging to the process that made it."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="clew-llm", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        if self.process != os.getpid() or self.loop.is_closed():
            return
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(timeout=5)
        if not self.thread.is_alive():
            self.loop.close()


_lock = threading.Lock()
_runners: list[_Runner] = []


def _runner() -> _Runner:
    with _lock:
        # A forked child has no thread of its parent's.
        if not _runners or _runners[-1].process != os.getpid():
            _runners.append(_Runner())
            atexit.register(_runners[-1].stop)
        return _runners[-1]


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result; Ctrl-C and what `waiting_checked` raises cancel it.

    Raises RuntimeError within such a coroutine, which would wait for itself.
    """
    runner = _runner()
    if threading.current_thread() is runner.thread:
        coroutine.close()
        raise RuntimeError("run_sync was called from a coroutine that run_sync runs; await it instead")
    future = asyncio.run_coroutine_threadsafe(coroutine, runner.loop)
    try:
        check = _check.get()
        while check is not None and not future.done():
            wait([future], timeout=0.25)
            check()
        return future.result()
    except BaseException:
        future.cancel()
        raise


LONGEST_WAIT = 30.0
"""Seconds of the longest wait where the server asks for none."""

Listener = Callable[[int, str], None]
"""Takes the number of a call and the next piece of its reply, in the thread that receives it.

A new try is a new call.
"""


class SingleAttempts(Protocol):
    """A model that tries once; `hear` takes the pieces of the reply as they come."""

    name: str

    async def complete(self, request: Request, hear: Hear | None = None) -> Reply:
        """Reply to a request, in one attempt. Raises LlmError."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class ManagedModel(ChatModel):
    """A chat model that keeps to a policy. Ready objects come in; `close` closes them."""

    def __init__(
        self,
        model: SingleAttempts,
        policy: Policy | None = None,
        *,
        cache: ReplyCache | None = None,
        trace: TraceFile | None = None,
        listener: Listener | None = None,
        run: Ledger | None = None,
    ) -> None:
        policy = policy or Policy()
        super().__init__(model.name)
        self._model, self.policy = model, policy
        self.run = run or Ledger("run", policy.per_run)
        """What the whole run has spent."""
        self._limit = PerLoop(lambda: asyncio.Semaphore(policy.concurrency))
        self._reached = Event()
        self._cache, self._trace, self._listener, self._calls = cache, trace, listener, count(1)
        self._sleep: Callable[[float], Awaitable[None]] = sleep
        self._alone = Ledger("question", policy.per_question)
        self.reopen: Callable[[], ManagedModel] | None = None
        """Opens the same model in another process, where that can be."""

    def __reduce__(self) -> tuple[Callable[[], ManagedModel], tuple[()]]:
        if self.reopen is None:
            raise TypeError(f"{self.name} was opened for this process alone")
        return self.reopen, ()

    async def complete(
        self, request: Request, question: Ledger | None = None, label: str | None = None
    ) -> Reply:
        """Reply to a request, from the cache if it is there, within the budget of a `question`.

        All without one are one question; `label` is its name in the trace. Raises BudgetReached (nothing was
        sent), ReplayMissing, ContextOverflow (also as recorded), LlmError (of the last attempt).
        """
        request, start_time = replace(request, model=self.name), perf_counter()
        ledgers = (question or self._alone, self.run)
        outcome: dict[str, Any] = {"reply": None, "error": None}
        try:
            reply = self._recall(request, ledgers)
            if reply is None:
                async with self._limit.get():
                    reply = await self._call_with_retries(request, ledgers)
                if self._cache is not None:
                    self._cache.store(request, reply)
            outcome["reply"] = asdict(reply)
            return reply
        except BaseException as error:
            outcome["error"] = {"type": type(error).__name__, "message": str(error)}
            raise
        finally:
            if self._trace is not None:
                about = {"question": label, "model": self.name, "request": request.as_json()}
                ms = round((perf_counter() - start_time) * 1000, 3)
                self._trace.write({**about, **outcome, "ms": ms})

    async def close(self) -> None:
        """Close the model's connections, the cache and the trace."""
        await self._model.close()
        if self._cache is not None:
            self._cache.close()
        if self._trace is not None:
            self._trace.close()

    def _recall(self, request: Request, ledgers: Sequence[Ledger]) -> Reply | None:
        """Look into the cache. A replay is charged as it was recorded, so that it meets the same limits."""
        cache, price = self._cache, self.policy.price
        if not self.policy.replay:
            return None if cache is None else cache.find(request)
        charge = estimate(request, price)
        reserve(ledgers, charge)
        found = None if cache is None else cache.find(request) or cache.find_too_long(request)
        found = found or ReplayMissing(
            f"{self.name}: there is no recorded reply to this request (key {request.key[:12]})."
            " Run without replay to record it."
        )
        settle(ledgers, charge, taken(found, charge, price))
        if isinstance(found, Reply):
            return found
        raise found

    async def _call_with_retries(self, request: Request, ledgers: Sequence[Ledger]) -> Reply:
        from tenacity import AsyncRetrying, retry_if_exception, wait_exponential, wait_random

        doubled = wait_exponential(multiplier=0.5, max=LONGEST_WAIT) + wait_random(0, 0.5)

        def wait(state: RetryCallState) -> float:
            asked = _asked_wait(state)
            return min(doubled(state), LONGEST_WAIT) if asked is None else asked

        def enough(state: RetryCallState) -> bool:
            error = state.outcome and state.outcome.exception()
            # A timeout costs the whole wait, and perhaps the tokens. A failure over a schema (500) is met by
            # asking in another form.
            twice = isinstance(error, ModelTimeout) or (
                isinstance(error, ModelFailed) and error.status == 500 and request.form != "text"
            )
            attempts = min(self.policy.attempts, 2) if twice else self.policy.attempts
            # What asks to wait for more than a minute ends the attempts.
            return state.attempt_number >= attempts or (_asked_wait(state) or 0.0) > 60.0

        may = retry_if_exception(self._may_go_through)
        retrying = AsyncRetrying(retry=may, wait=wait, stop=enough, sleep=self._sleep, reraise=True)
        try:
            return await retrying(self._once, request, ledgers)
        except ContextOverflow as error:
            if self._cache is not None:
                self._cache.store_too_long(request, error)
            raise

    def _may_go_through(self, error: BaseException) -> bool:
        """Whether an attempt may follow one that failed so; not if the server never answered."""
        if isinstance(error, RateLimited):
            return not error.final
        if isinstance(error, ModelFailed):
            return error.status >= 500 or error.status == 408
        return isinstance(error, (ModelUnreachable, ModelTimeout)) and self._reached.is_set()

    async def _once(self, request: Request, ledgers: Sequence[Ledger]) -> Reply:
        price = self.policy.price
        charge = estimate(request, price)
        reserve(ledgers, charge)
        try:
            reply = await self._heard(request)
        except BaseException as error:
            if isinstance(error, (ModelRefused, ModelFailed)):
                self._reached.set()
            settle(ledgers, charge, taken(error, charge, price))
            raise
        self._reached.set()
        # Servers echo what they are sent; nothing after this may hold a key.
        reply = replace(reply, text=redacted(reply.text), cost=price.of(reply.usage) if price else reply.cost)
        settle(ledgers, charge, taken(reply, charge, price))
        return reply

    async def _heard(self, request: Request) -> Reply:
        """Make one attempt; what is heard of the reply gives it more time."""
        timeout, listener, call = self.policy.timeout, self._listener, next(self._calls)
        try:
            async with asyncio.timeout(timeout) as limit:
                if listener is None:
                    return await self._model.complete(request)

                def hear(piece: str) -> None:
                    limit.reschedule(asyncio.get_running_loop().time() + timeout)
                    if piece:
                        listener(call, piece)

                return await self._model.complete(request, hear)
        except TimeoutError as error:
            message = f"{self.name} did not answer within {timeout:g} s. Allow more time, or ask for less."
            raise ModelTimeout(message) from error


def _asked_wait(state: RetryCallState) -> float | None:
    """Seconds that the server asks to wait for."""
    error = state.outcome and state.outcome.exception()
    return error.retry_after if isinstance(error, (RateLimited, ModelFailed)) else None


_SLOT = re.compile(r"\{\{([A-Z]+)\}\}")
_INCLUDED = re.compile(r"\{\{> (\w+)\}\}")
_USER = "=== user ==="
_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b\u2028\u2029\ud800-\udfff]+")
_UNSEEN = re.compile(r"[\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]+")
"""Marks of direction, tags and the like, which hide or turn what a prompt shows; joiners belong to words."""
_BULLET = re.compile(r"^\s*(?:\d{1,2}[.):]\s|[-*•])\s*")
LONGEST_LINE = 400
"""Characters of one line of data in a prompt."""
LONGEST_NAME_READ, LONGEST_NAME = 200, 80
"""Characters of a name that a model reads, and of one that a prompt shows beside others."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt file: a system text, a user text with slots `{{NAME}}`, and a hash of both."""

    name: str
    system: str
    user: str
    version: str

    def with_values(self, **values: str) -> Prompt:
        """The same with a version that tells values apart which are part of the prompt, as examples are."""
        text = "\n".join((self.version, *values.values()))
        return replace(self, version=hashlib.sha256(text.encode()).hexdigest()[:12])

    def messages(self, **values: str) -> tuple[Message, Message]:
        """Fill the slots. Raises KeyError for one without a value."""
        return Message("system", filled(self.system, values)), Message("user", filled(self.user, values))


def filled(text: str, values: Mapping[str, str]) -> str:
    """Fill the slots `{{NAME}}` of a text in one pass, so that no value is read as one."""
    return _SLOT.sub(lambda slot: values[slot[1]], text)


@cache
def prompt_named(package: str, name: str) -> Prompt:
    """Read `prompts/NAME.txt` of a package; that of `clew.methods.kg_rag` is called `kg_rag/NAME`.

    `{{> OTHER}}` stands for `prompts/OTHER.txt`.
    """
    folder = files(package).joinpath("prompts")
    text = folder.joinpath(f"{name}.txt").read_text("utf-8").replace("{{FORM}}", FORM)
    text = _INCLUDED.sub(lambda slot: folder.joinpath(f"{slot[1]}.txt").read_text("utf-8").strip(), text)
    system, _, user = text.partition(_USER)
    version = hashlib.sha256(text.encode()).hexdigest()[:12]
    return Prompt(f"{package.rpartition('.')[2]}/{name}", system.strip(), user.strip(), version)


def data_lines(lines: Iterable[str]) -> str:
    """Lines of data for a prompt: one line each, cut where too long, and no tag that could end the block."""
    return "\n".join(map(data_line, lines))


def data_line(text: str, longest: int = LONGEST_LINE) -> str:
    """One line of data: as in `data_lines`."""
    return shorten(as_data(text), longest)


def as_data(text: str) -> str:
    """One line without control and invisible characters, and without `<` and `>`, of which marks are made."""
    return _BREAKS.sub(" ", _UNSEEN.sub("", text)).strip().replace("<", "‹").replace(">", "›")


def listed(reply: str) -> list[str]:
    """The lines of a reply that is a list, without numbers, bullets and quotes."""
    lines = (_BULLET.sub("", line).strip(' "') for line in reply.splitlines())
    return [line for line in lines if line]


def query_text(text: str) -> str:
    """Make a query safe to stand between tags: one line that keeps its arrows and ends no block or turn."""
    return as_data(text).replace("‹", "<").replace("›", ">").replace("</", "‹/").replace("<|", "‹|")


def short(text: str, longest: int = 200) -> str:
    """The beginning of a model's text, for a message."""
    return text if len(text) <= longest else text[:longest] + " …"


class Talk(ChatModel):
    """The calls for one question, and what was spent; a form that the model refused is not tried again."""

    def __init__(self, model: ChatModel, label: str | None) -> None:
        """`label` is of the question, which has a budget of its own where the model has budgets."""
        super().__init__(model.name, model.refused)
        self.model, self.label = model, label
        self.replies: list[Reply] = []
        self.steps: list[Step] = []
        limits = model.policy.per_question if isinstance(model, ManagedModel) else None
        self._ledger = Ledger("question", limits)

    async def complete(self, request: Request) -> Reply:
        """Reply to a request, as the model does."""
        if isinstance(self.model, ManagedModel):
            reply = await self.model.complete(request, self._ledger, self.label)
        else:
            reply = await self.model.complete(request)
        self.replies.append(reply)
        return reply

    def ask(self, prompt: Prompt, sampling: Request, *, stop: tuple[str, ...] = (), **values: str) -> str:
        """Complete a prompt, sampled so: the reply without thoughts and what follows a stop. LlmError."""
        return self._ask(prompt, prompt.messages(**values), sampling, stop)

    def ask_again(
        self, prompt: Prompt, sampling: Request, reply: str, problem: str, values: Mapping[str, str]
    ) -> str:
        """Show the model its own reply to a prompt, and what is wrong with it. Raises LlmError."""
        turns = (Message("assistant", reply[:LONGEST_SHOWN]), Message("user", problem))
        return self._ask(prompt, (*prompt.messages(**values), *turns), sampling, ())

    def _ask(
        self, prompt: Prompt, messages: tuple[Message, ...], sampling: Request, stop: tuple[str, ...]
    ) -> str:
        reply = run_sync(self.complete(replace(sampling, messages=messages, stop=stop)))
        text = clean(reply.text, stop)
        detail = {"prompt": prompt.name, "version": prompt.version, "reply": text, "notes": list(reply.notes)}
        self.note("model", detail)
        return text

    def note(self, name: str, detail: Mapping[str, Any]) -> None:
        """Add a step that is taken now, between those of the calls."""
        self.steps.append(Step.taken(name, detail))

    @property
    def cut(self) -> bool:
        """Whether the last reply was ended by its limit of tokens."""
        return bool(self.replies) and self.replies[-1].finish == "length"

    @property
    def usage(self) -> Usage:
        """Calls and tokens so far."""
        return add_usage(reply.usage for reply in self.replies)
