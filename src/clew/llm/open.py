"""From settings to a managed chat model."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from clew.llm.budget import Ledger
from clew.llm.cache import ReplyCache
from clew.llm.managed import ManagedModel
from clew.llm.profiles import profile_of
from clew.llm.ray_shared import RayLedger, opened_files
from clew.llm.settings import Settings
from clew.llm.streamed import Listener, Streamed
from clew.llm.telemetry import Telemetry
from clew.llm.trace import TraceFile
from clew.llm.types import ChatModel
from clew.llm.wire import SdkModel


def open_adapter(settings: Settings) -> SdkModel:
    """Open the adapter of a model's wire; nothing is sent yet.

    Raises UsageError (no such provider, or something is missing), MissingExtra (the provider's SDK is not
    installed).
    """
    profile = profile_of(settings.model, settings.base_url)
    if profile.wire == "anthropic":
        from clew.llm.anthropic import Anthropic as Adapter
    else:
        from clew.llm.openai_compatible import OpenAICompatible as Adapter
    return Adapter(
        settings.model, profile, base_url=settings.address, api_key=settings.api_key, timeout=settings.timeout
    )


def open_model(
    settings: Settings, listener: Listener | None = None, run: Ledger | None = None
) -> ManagedModel:
    """Open a chat model; nothing is sent yet. A `listener` hears its replies while they come.

    `run` is what the run has spent and may spend, where others share it. Raises UsageError (no such provider,
    or something is missing), MissingExtra (the provider's SDK, or opentelemetry-api, is not installed),
    InputError (the cache or the trace file cannot be opened).
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
    adapter: ChatModel = open_adapter(settings)
    if listener is not None:
        adapter = Streamed(adapter, listener)
    policy = replace(settings, price=settings.prices.find(settings.model))
    telemetry = Telemetry.open(content=settings.telemetry_content) if settings.telemetry else None
    return ManagedModel(adapter, policy, cache=cache, trace=trace, telemetry=telemetry, run=run)
