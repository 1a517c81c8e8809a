"""An actor that holds what all processes of a Ray cluster share; it is on the node where it was started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clew.errors import ClewError, LlmError

NAMESPACE = "clew"
_SECONDS = 30.0
"""How long an actor may take to answer."""
_START_SECONDS = 120.0
"""How long it may take to start."""


@dataclass(frozen=True)
class HeldByActor:
    """An actor, and what is said if it is gone: `lost`. Pickled, it stays the same one."""

    actor: Any
    lost: str

    @classmethod
    def start(
        cls, make: Callable[..., object], *given: object, lost: str, name: str | None = None
    ) -> HeldByActor:
        """Have `make(*given)` held by an actor of the cluster that this process is connected to.

        One with a name outlives this process, and is found where it is there; any other ends with it.
        """
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        options: dict[str, Any] = {"num_cpus": 0, "max_restarts": 0, "scheduling_strategy": here}
        if name is not None:
            options |= {"name": name, "namespace": NAMESPACE, "get_if_exists": True, "lifetime": "detached"}
        made: Any = ray.remote(make).options(**options)  # pyright: ignore
        return cls(made.remote(*given), lost)

    def ask(self, method: str, *given: object, starting: bool = False) -> Any:  # noqa: ANN401
        """Call a method of what is held, and wait for its result.

        Raises the ClewErrors that it raises, and LlmError if the actor does not answer.
        """
        import ray
        from ray.exceptions import RayError, RayTaskError

        try:
            return ray.get(  # pyright: ignore
                getattr(self.actor, method).remote(*given), timeout=_START_SECONDS if starting else _SECONDS
            )
        except RayTaskError as error:
            if isinstance(error.cause, ClewError):
                raise error.cause from error
            raise LlmError(f"{self.lost} ({error.cause})") from error
        except RayError as error:
            raise LlmError(self.lost) from error

    def tell(self, method: str, *given: object) -> None:
        """Call a method, and wait for nothing."""
        getattr(self.actor, method).remote(*given)

    def close(self) -> None:
        """End the actor: what it held is gone."""
        import ray

        ray.kill(self.actor)  # pyright: ignore
