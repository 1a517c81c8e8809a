"""What all processes of a Ray cluster share, held by actors on the node that the command is connected to.

A ledger is one limit for all workers of a command. If its actor is gone, nobody can tell what was spent, so
nothing more is sent. The recorded replies and the trace of a model are files of that node.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.errors import ClewError, LlmError, UsageError
from clew.llm.budget import Charge, Ledger, Limits, ReplyCache, TraceFile
from clew.llm.types import BudgetReached

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
        """Start an actor that holds `make(*arguments)`, in the cluster that this process is connected to.

        The actor ends with this process. Raises LlmError if it does not start.
        """
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        this_node = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        options: dict[str, Any] = {"num_cpus": 0, "max_restarts": 0, "scheduling_strategy": this_node}
        actor_class: Any = ray.remote(make).options(**options)  # pyright: ignore
        handle = cls(actor_class.remote(*arguments), lost_message)
        handle.ask("__ray_ready__", seconds=120.0)
        return handle

    def ask(self, method: str, *arguments: object, seconds: float = 30.0) -> Any:  # noqa: ANN401
        """Call a method of what is held, and wait for its result.

        Raises the ClewErrors that it raises, and LlmError if the actor does not answer.
        """
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

    def close(self) -> None:
        """End the actor: what it held is gone."""
        import ray

        ray.kill(self.actor)  # pyright: ignore


class RayLedger(Ledger):
    """A ledger that all processes of a cluster share; a pickled copy is the same ledger.

    What a killed process had set aside stays charged, as its calls may have been made. `reached` is that of
    this process alone.
    """

    def __init__(self, scope: str, limits: Limits, handle: ActorHandle) -> None:
        super().__init__(scope, limits)
        self._handle = handle

    @classmethod
    def start(cls, scope: str, limits: Limits) -> RayLedger:
        """Start a ledger in the cluster that this process is connected to; it ends with this process.

        Raises LlmError if the cluster does not start it.
        """
        return cls(scope, limits, ActorHandle.start(Ledger, scope, limits, lost_message=_LEDGER_LOST))

    def reserve(self, charge: Charge) -> None:
        """Set aside what a call may take.

        Raises BudgetReached (it could pass a limit), LlmError (the actor is gone).
        """
        try:
            self._handle.ask("reserve", charge)
        except BudgetReached as refused:
            with self._lock:
                self.reached = self.reached or refused
            raise

    def settle(self, reserved: Charge, actual: Charge) -> None:
        """Replace a reservation by what the call took; as it stands where the actor is gone."""
        self._handle.actor.settle.remote(reserved, actual)

    def close(self) -> None:
        """End the actor: what was spent is forgotten."""
        self._handle.close()

    def __reduce__(self) -> tuple[type[RayLedger], tuple[str, Limits, ActorHandle]]:
        return RayLedger, (self.scope, self.limits, self._handle)


class RayReplies(ReplyCache):
    """Recorded replies for all processes of a cluster."""

    def __init__(self, path: Path, handle: ActorHandle) -> None:
        self.path, self._handle = path, handle

    def run(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """Have a statement run; what it records is in the file when this returns."""
        return self._handle.ask("run", statement, *values)

    def close(self) -> None:
        """Leave the file to the others."""


class RayTrace(TraceFile):
    """A trace file for all processes of a cluster."""

    def __init__(self, path: Path, handle: ActorHandle) -> None:
        self.path, self._handle = path, handle

    def write(self, record: dict[str, Any]) -> None:
        """Write one call; it is in the file when this returns."""
        self._handle.ask("write", record)

    def close(self) -> None:
        """Leave the file to the others."""


@contextmanager
def opened_files(
    cache: Path | None, trace: Path | None
) -> Generator[tuple[RayReplies | None, RayTrace | None]]:
    """Have actors open the files of one model, where the command runs.

    Raises UsageError (this process is no part of the cluster, which could not write them here), InputError
    (one of them cannot be used).
    """
    from ray.util.client import ray as client

    if (cache or trace) and client.is_connected():
        raise UsageError(
            "Recorded replies and traces are files of this machine, and with an address ray:// it is no "
            "node of the cluster. Give the command on a node, with --ray auto, or leave out --cache and "
            "--trace"
        )
    handles: list[ActorHandle] = []

    def hold(kind: type[ReplyCache | TraceFile], path: Path) -> ActorHandle:
        kind(path).close()  # what is wrong with a file is said by this process
        handles.append(ActorHandle.start(kind, path.resolve(), lost_message=_FILES_LOST))
        return handles[-1]

    try:
        replies = None if cache is None else RayReplies(cache, hold(ReplyCache, cache))
        yield replies, None if trace is None else RayTrace(trace, hold(TraceFile, trace))
    finally:
        for handle in handles:
            handle.ask("close")
            handle.close()
