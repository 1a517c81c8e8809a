"""From settings to a managed chat model, also for the nodes of a Ray cluster, and checks of it.

What the processes of a cluster share is held by actors on the node that the command is connected to. A ledger
is one limit for all workers of a command; if its actor is gone, nobody can tell what was spent, so nothing
more is sent. The recorded replies and the trace of a model are files of that node.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from clew.errors import ClewError, LlmError, UsageError
from clew.llm.adapter import PydanticModel
from clew.llm.budget import Charge, Ledger, Limits, ReplyCache, TraceFile
from clew.llm.managed import Listener, ManagedModel, run_sync
from clew.llm.providers import LocalServer, OpenedModel, Settings, open_provider, split_name
from clew.llm.types import BudgetReached, ask

_LEDGER_LOST = (
    "What was spent in the cluster is not known, as the process that holds it does not answer: nothing is "
    "sent. Give the command again, with --ray ADDRESS as before"
)
_FILES_LOST = (
    "The process that keeps replies for the cluster does not answer. Give the command again; it goes on"
)


@dataclass(frozen=True)
class ActorHandle:
    """An actor, and the message for when it is gone; a pickled copy is a handle of the same actor."""

    actor: Any
    lost_message: str

    @classmethod
    def start(cls, make: Callable[..., object], *arguments: object, lost_message: str) -> ActorHandle:
        """Start an actor that holds `make(*arguments)`, and ends with this process. Raises LlmError."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        this_node = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        options: dict[str, Any] = {"num_cpus": 0, "max_restarts": 0, "scheduling_strategy": this_node}
        actor_class: Any = ray.remote(make).options(**options)  # pyright: ignore
        handle = cls(actor_class.remote(*arguments), lost_message)
        handle.ask("__ray_ready__", seconds=120.0)
        return handle

    def ask(self, method: str, *arguments: object, seconds: float = 30.0) -> Any:  # noqa: ANN401
        """Call a method of what is held, and wait; raises its ClewErrors, LlmError without an answer."""
        import ray
        from ray.exceptions import RayError, RayTaskError

        try:
            return ray.get(getattr(self.actor, method).remote(*arguments), timeout=seconds)  # pyright: ignore
        except RayTaskError as error:
            if isinstance(error.cause, ClewError):
                raise error.cause from error
            raise LlmError(f"{self.lost_message} ({error.cause})") from error
        except RayError as error:
            raise LlmError(self.lost_message) from error

    def end(self) -> None:
        """End the actor: what it held is gone."""
        import ray

        ray.kill(self.actor)  # pyright: ignore


class RayLedger(Ledger):
    """A ledger that all processes of a cluster share, in an actor; a pickled copy is the same ledger.

    What a killed process had set aside stays charged; `reached` is that of this process. LlmError.
    """

    def __init__(self, scope: str, limits: Limits, handle: ActorHandle | None = None) -> None:
        super().__init__(scope, limits)
        self.handle = handle or ActorHandle.start(Ledger, scope, limits, lost_message=_LEDGER_LOST)

    def reserve(self, charge: Charge) -> None:
        """Set aside what a call may take. Raises BudgetReached, LlmError (the actor is gone)."""
        try:
            self.handle.ask("reserve", charge)
        except BudgetReached as refused:
            self.reached = self.reached or refused
            raise

    def settle(self, reserved: Charge, actual: Charge) -> None:
        """Replace a reservation by what the call took; as it stands where the actor is gone."""
        self.handle.actor.settle.remote(reserved, actual)

    def __reduce__(self) -> tuple[type[RayLedger], tuple[str, Limits, ActorHandle]]:
        return RayLedger, (self.scope, self.limits, self.handle)


def _hold(kind: type[ReplyCache | TraceFile], path: Path) -> ActorHandle:
    """An actor that has a file open. Raises InputError for one that cannot be used."""
    kind(path).close()  # what is wrong with a file is said by this process
    return ActorHandle.start(kind, path.resolve(), lost_message=_FILES_LOST)


class RayReplies(ReplyCache):
    """Recorded replies for all processes of a cluster, in an actor on this node."""

    def __init__(self, path: Path) -> None:
        self.path, self.handle = path, _hold(ReplyCache, path)

    def run(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """Have a statement run; what it records is in the file when this returns."""
        return self.handle.ask("run", statement, *values)

    def close(self) -> None:
        """Leave the file to the others."""


class RayTrace(TraceFile):
    """A trace file for all processes of a cluster, in an actor on this node."""

    def __init__(self, path: Path) -> None:
        self.path, self.handle = path, _hold(TraceFile, path)

    def write(self, record: dict[str, Any]) -> None:
        """Write one call; it is in the file when this returns."""
        self.handle.ask("write", record)

    def close(self) -> None:
        """Leave the file to the others."""


def open_adapter(settings: Settings) -> PydanticModel:
    """Open what makes single attempts; nothing is sent yet, and with `replay` nothing is needed.

    Raises UsageError (no such provider, something is missing), MissingExtra, InputError (a GGUF file).
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

    `run` is what the run has spent and may spend, where others share it. Raises UsageError, MissingExtra,
    InputError (cache, trace or a GGUF file).
    """
    settings.check()
    cache = ReplyCache(settings.cache) if settings.cache else None
    trace = TraceFile(settings.trace) if settings.trace else None
    return _open_managed(settings, listener, run, cache, trace)


@contextmanager
def opened_everywhere(settings: Settings) -> Generator[ManagedModel]:
    """Open a chat model for all nodes of the Ray cluster that this process is connected to, and close it.

    Pickled, it is opened anew elsewhere, with the same limits, recorded replies, trace, keys and addresses.
    Raises as `open_model`, and UsageError for files that this process could not write.
    """
    from ray.util.client import ray as client

    settings.check()
    if (settings.cache or settings.trace) and client.is_connected():
        raise UsageError(
            "Recorded replies and traces are files of this machine, and with an address ray:// it is no "
            "node of the cluster. Give the command on a node, with --ray auto, or leave out --cache and "
            "--trace"
        )
    with ExitStack() as opened:
        cache = RayReplies(settings.cache) if settings.cache else None
        if cache is not None:
            opened.callback(cache.handle.end)
            opened.callback(cache.handle.ask, "close")
        trace = RayTrace(settings.trace) if settings.trace else None
        if trace is not None:
            opened.callback(trace.handle.end)
            opened.callback(trace.handle.ask, "close")
        run = RayLedger("run", settings.per_run)
        opened.callback(run.handle.end)
        yield _OpenOnNode(settings, run, cache, trace)()


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
    """Check settings, files, provider, chat, model, streaming and structured output, as far as each works.

    At most five short calls are made, none from a cache.
    """
    checks: list[Check] = []
    try:
        settings.check()
        place = f" at {settings.address}" if settings.address else ""
        key = "with" if settings.api_key else "without"
        checks.append(Check("settings", "ok", f"{settings.model}{place}, {key} a key"))
        if settings.cache is not None:
            ReplyCache(settings.cache).close()
        if settings.trace is not None:
            TraceFile(settings.trace).close()
        paths = ", ".join(str(path) for path in (settings.cache, settings.trace) if path is not None)
        checks.append(Check("files", "ok", f"can be written: {paths}" if paths else "no cache and no trace"))
        open_adapter(replace(settings, replay=False))
        checks.append(Check("provider", "ok", "what this provider needs is installed"))
    except ClewError as error:
        name = ("settings", "files", "provider")[len(checks)]
        return [*checks, Check(name, "failed", str(error))]
    price = settings.prices.find(settings.model)
    prices = Check("prices", "warning", "no price is known, so costs are not reported; see docs/llm.md")
    if price is not None:
        price_text = f"{price.input:g} in, {price.output:g} out, {settings.prices.currency} a million"
        prices = Check("prices", "ok", price_text)
    return [*checks, *run_sync(_served(settings)), prices]


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
