"""From settings to a managed chat model."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from clew.llm.adapter import PydanticModel
from clew.llm.budget import Ledger
from clew.llm.cache import ReplyCache
from clew.llm.local import LocalServer
from clew.llm.managed import Listener, ManagedModel
from clew.llm.providers import OpenedModel, open_provider, split_name
from clew.llm.ray_shared import RayLedger, opened_files
from clew.llm.settings import Settings
from clew.llm.trace import TraceFile


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
