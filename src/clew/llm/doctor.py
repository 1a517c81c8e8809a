"""Checks a model's configuration end to end, one step after the other, and says what is wrong."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Literal

from clew.errors import ClewError, LlmError
from clew.llm.cache import ReplyCache
from clew.llm.managed import ManagedModel
from clew.llm.open import open_adapter
from clew.llm.providers import split_name
from clew.llm.run import run_sync
from clew.llm.settings import Settings
from clew.llm.trace import TraceFile
from clew.llm.types import ask

State = Literal["ok", "failed", "warning"]


@dataclass(frozen=True, slots=True)
class Check:
    """One step: what was looked at, how it went, and what was seen or what to do."""

    name: str
    state: State
    detail: str


@dataclass(frozen=True, slots=True)
class _Probe:
    """What the structured check asks for."""

    colour: Literal["red", "green", "blue"]
    count: int


def doctor(settings: Settings) -> list[Check]:
    """Check settings, files, provider, chat, model, streaming and structured output, in order.

    A step that needs a failed one is left out. At most five short calls are made, none from a cache.
    """
    checks: list[Check] = []
    for name, check in (("settings", _settings), ("files", _files), ("provider", _provider)):
        try:
            checks.append(Check(name, "ok", check(settings)))
        except ClewError as error:
            checks.append(Check(name, "failed", str(error)))
            return checks
    checks.extend(run_sync(_served(settings)))
    checks.append(_prices(settings))
    return checks


def _settings(settings: Settings) -> str:
    settings.check()
    place = f" at {settings.address}" if settings.address else ""
    return f"{settings.model}{place}, {'with' if settings.api_key else 'without'} a key"


def _provider(settings: Settings) -> str:
    open_adapter(replace(settings, replay=False))
    return "what this provider needs is installed"


def _files(settings: Settings) -> str:
    if settings.cache is not None:
        ReplyCache(settings.cache).close()
    if settings.trace is not None:
        TraceFile(settings.trace).close()
    paths = [str(path) for path in (settings.cache, settings.trace) if path is not None]
    return f"can be written: {', '.join(paths)}" if paths else "no cache and no trace"


def _prices(settings: Settings) -> Check:
    price = settings.prices.find(settings.model)
    if price is None:
        return Check("prices", "warning", "no price is known, so costs are not reported; see docs/llm.md")
    price_text = f"{price.input:g} in, {price.output:g} out, {settings.prices.currency} a million"
    return Check("prices", "ok", price_text)


async def _served(settings: Settings) -> list[Check]:
    adapter = open_adapter(replace(settings, replay=False))
    pieces: list[str] = []
    policy = replace(settings, replay=False)
    model = ManagedModel(adapter, policy)
    heard = ManagedModel(adapter, policy, listener=lambda _, piece: pieces.append(piece))
    try:
        checks = [await _step("chat", _chat(model))]
        listed = await adapter.listed()
        if listed:
            checks.append(_listed(split_name(settings.model)[1], listed))
        if checks[0].state == "ok":
            checks.append(await _step("streaming", _stream(heard, pieces)))
            then = " Methods that read JSON will not work well."
            checks.append(await _step("structured output", _structured(model), then))
        return checks
    finally:
        await adapter.close()


async def _step(name: str, work: Awaitable[str], then: str = "") -> Check:
    """One call; `then` is what a failure means."""
    try:
        return Check(name, "ok", await work)
    except LlmError as error:
        return Check(name, "failed", f"{error} {then}".strip())


def _listed(name: str, names: tuple[str, ...]) -> Check:
    if name in names:
        return Check("model", "ok", f"the server lists {name}")
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    return Check("model", "warning", f"the server does not list {name}; it lists {shown}")


async def _chat(model: ManagedModel) -> str:
    reply = await model.complete(ask("Reply with the word yes.", max_tokens=16))
    usage, notes = reply.usage, "".join(f"; {note}" for note in reply.notes)
    return f"{reply.model}: {usage.input_tokens} tokens in, {usage.output_tokens} out{notes}"


async def _stream(model: ManagedModel, pieces: list[str]) -> str:
    await model.complete(ask("Reply with the word yes.", max_tokens=16))
    return f"{len(pieces)} pieces"


async def _structured(model: ManagedModel) -> str:
    request = ask("Name a colour (red, green or blue) and a number from 1 to 9, as JSON.", max_tokens=256)
    typed = await model.complete_as(request, _Probe)
    return f"a valid value, {'at once' if len(typed.replies) == 1 else 'after a repair'}"
