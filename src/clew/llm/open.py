"""From settings to a managed chat model, and checks of it from end to end."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from clew.errors import ClewError, LlmError
from clew.llm.adapter import PydanticModel
from clew.llm.budget import Ledger, ReplyCache, TraceFile
from clew.llm.managed import Listener, ManagedModel, run_sync
from clew.llm.providers import LocalServer, OpenedModel, Settings, open_provider, split_name
from clew.llm.ray_shared import RayLedger, opened_files
from clew.llm.types import ask


def open_adapter(settings: Settings) -> PydanticModel:
    """Open what makes single attempts; nothing is sent yet, and with `replay` nothing is needed.

    Raises UsageError (no such provider, or something is missing), MissingExtra (the provider's packages are
    not installed), InputError (a GGUF file that cannot be loaded).
    """
    provider, file = split_name(settings.model)
    local = LocalServer(Path(file)) if provider == "gguf" and not settings.replay else None

    def connect() -> OpenedModel:
        base_url, key = settings.address or None, settings.api_key
        if local is not None:
            base_url, key = local.base_url(), local.key
        opened = open_provider(settings.model, base_url, key, settings.timeout)
        if not settings.telemetry:
            return opened
        from pydantic_ai.models.instrumented import InstrumentationSettings, instrument_model

        spans = InstrumentationSettings(include_content=settings.telemetry_content)
        return replace(opened, model=instrument_model(opened.model, spans))

    return PydanticModel(settings.model, connect, None if settings.replay else connect(), local)


def open_model(
    settings: Settings, listener: Listener | None = None, run: Ledger | None = None
) -> ManagedModel:
    """Open a chat model; nothing is sent yet. A `listener` hears its replies while they come.

    `run` is what the run has spent and may spend, where others share it. Raises UsageError (no such provider,
    or something is missing), MissingExtra (the provider's packages are not installed), InputError (the cache,
    the trace or a GGUF file cannot be opened).
    """
    settings.check()
    cache = ReplyCache(settings.cache) if settings.cache else None
    trace = TraceFile(settings.trace) if settings.trace else None
    return _open_managed(settings, listener, run, cache, trace)


@contextmanager
def opened_everywhere(settings: Settings) -> Generator[ManagedModel]:
    """Open a chat model for all nodes of the Ray cluster that this process is connected to, and close it.

    Pickled and loaded in another process it is opened anew there, with the same limits of the run, recorded
    replies and trace, of which one actor has each; keys and addresses are those of this process. Raises as
    `open_model`, and UsageError as `opened_files`.
    """
    settings.check()
    with opened_files(settings.cache, settings.trace) as (replies, trace):
        run = RayLedger.start("run", settings.per_run)
        try:
            yield _OpenOnNode(settings, run, replies, trace)()
        finally:
            run.close()


@dataclass(frozen=True)
class _OpenOnNode:
    """Opens a model in any process of a cluster."""

    settings: Settings
    run: Ledger
    cache: ReplyCache | None
    trace: TraceFile | None

    def __call__(self) -> ManagedModel:
        settings = replace(self.settings)  # this process remembers too what must not be shown
        model = _open_managed(settings, None, self.run, self.cache, self.trace)
        model.reopen = self
        return model


def _open_managed(
    settings: Settings,
    listener: Listener | None,
    run: Ledger | None,
    cache: ReplyCache | None,
    trace: TraceFile | None,
) -> ManagedModel:
    policy = replace(settings, price=settings.prices.find(settings.model))
    return ManagedModel(open_adapter(settings), policy, cache=cache, trace=trace, listener=listener, run=run)


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
            return [*checks, Check(name, "failed", str(error))]
    price = settings.prices.find(settings.model)
    prices = Check("prices", "warning", "no price is known, so costs are not reported; see docs/llm.md")
    if price is not None:
        price_text = f"{price.input:g} in, {price.output:g} out, {settings.prices.currency} a million"
        prices = Check("prices", "ok", price_text)
    return [*checks, *run_sync(_served(settings)), prices]


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


async def _served(settings: Settings) -> list[Check]:
    policy, pieces = replace(settings, replay=False), list[str]()
    adapter = open_adapter(policy)
    model = ManagedModel(adapter, policy)
    heard = ManagedModel(adapter, policy, listener=lambda _, piece: pieces.append(piece))
    yes = ask("Reply with the word yes.", max_tokens=16)
    checks: list[Check] = []

    async def chat() -> str:
        reply = await model.complete(yes)
        usage, notes = reply.usage, "".join(f"; {note}" for note in reply.notes)
        return f"{reply.model}: {usage.input_tokens} tokens in, {usage.output_tokens} out{notes}"

    async def stream() -> str:
        await heard.complete(yes)
        return f"{len(pieces)} pieces"

    async def structured() -> str:
        request = ask("Name a colour (red, green or blue) and a number from 1 to 9, as JSON.", max_tokens=256)
        typed = await model.complete_as(request, _Probe)
        return f"a valid value, {'at once' if len(typed.replies) == 1 else 'after a repair'}"

    async def check(name: str, work: Awaitable[str], then: str = "") -> None:
        """Do one step; `then` is what a failure means."""
        try:
            checks.append(Check(name, "ok", await work))
        except LlmError as error:
            checks.append(Check(name, "failed", f"{error} {then}".strip()))

    try:
        await check("chat", chat())
        answers, name = checks[0].state == "ok", split_name(settings.model)[1]
        if names := await adapter.listed():
            shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
            missing = Check("model", "warning", f"the server does not list {name}; it lists {shown}")
            checks.append(Check("model", "ok", f"the server lists {name}") if name in names else missing)
        if answers:
            await check("streaming", stream())
            then = "Methods that read JSON will not work well."
            await check("structured output", structured(), then)
        return checks
    finally:
        await adapter.close()
