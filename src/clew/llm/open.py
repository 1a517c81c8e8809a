"""From settings to a managed chat model."""

from __future__ import annotations

from clew.llm.budget import Ledger
from clew.llm.cache import ReplyCache
from clew.llm.managed import ManagedModel, Policy, Tracing
from clew.llm.profiles import profile_of
from clew.llm.settings import Settings
from clew.llm.streamed import Listener, Streamed
from clew.llm.telemetry import Telemetry
from clew.llm.trace import TraceFile
from clew.llm.types import ChatModel


def open_adapter(settings: Settings) -> ChatModel:
    """Open the adapter of a model's wire; nothing is sent yet.

    Raises:
        UsageError: no such provider, or something is missing.
        MissingExtra: the provider's SDK is not installed.

    """
    profile = profile_of(settings.model, settings.base_url)
    address, timeout = settings.address, settings.timeout
    if profile.wire == "anthropic":
        from clew.llm.anthropic import Anthropic

        return Anthropic.open(
            settings.model, profile, base_url=address, api_key=settings.api_key or "none", timeout=timeout
        )
    from clew.llm.openai_compatible import OpenAICompatible

    return OpenAICompatible.open(
        settings.model, profile, base_url=address, api_key=settings.api_key, timeout=timeout
    )


def open_model(
    settings: Settings, listener: Listener | None = None, run: Ledger | None = None
) -> ManagedModel:
    """Open a chat model; nothing is sent yet. A `listener` hears its replies while they come.

    `run` is what the run has spent and may spend, where others share it.

    Raises:
        UsageError: no such provider, or something is missing.
        MissingExtra: the provider's SDK, or opentelemetry-api, is not installed.
        InputError: the cache or the trace file cannot be opened.

    """
    settings.check()
    adapter = open_adapter(settings)
    if listener is not None:
        adapter = Streamed(adapter, listener)
    policy = Policy(
        timeout=settings.timeout,
        concurrency=settings.concurrency,
        retry=settings.retry,
        per_question=settings.per_question,
        per_run=settings.per_run,
        price=settings.prices.find(settings.model),
        replay=settings.replay,
    )
    telemetry = Telemetry.open(content=settings.telemetry_content) if settings.telemetry else Telemetry()
    cache = ReplyCache(settings.cache) if settings.cache else None
    trace = TraceFile(settings.trace) if settings.trace else None
    return ManagedModel(adapter, policy, cache=cache, tracing=Tracing(trace, telemetry), run=run)
