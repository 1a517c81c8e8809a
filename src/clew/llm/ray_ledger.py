"""A ledger that all nodes of a Ray cluster share: one limit for the replicas of a server, wherever they are.

What was spent is held by one actor. One that is gone cannot tell what was spent, so that nothing is sent
then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clew.llm.budget import Charge, Ledger, Limits
from clew.llm.errors import BudgetReached, LlmError

NAMESPACE = "clew"
_SECONDS = 30.0
"""How long the actor may take to answer."""
_START_SECONDS = 120.0
"""How long it may take to start."""


class Held:
    """What the actor does; a refusal is `(limit, detail)`."""

    def __init__(self, scope: str, limits: Limits) -> None:
        self._ledger = Ledger(scope, limits)

    def reserve(self, charge: Charge) -> tuple[str, str] | None:
        """Set aside what a call may take, or say why not."""
        try:
            self._ledger.reserve(charge)
        except BudgetReached as refused:
            return refused.limit, refused.detail
        return None

    def settle(self, reserved: Charge, actual: Charge) -> None:
        """Replace a reservation by what the call took."""
        self._ledger.settle(reserved, actual)

    def limits(self) -> Limits:
        """The limits that it was made with."""
        return self._ledger.limits


class RayLedger(Ledger):
    """What was spent by all that have it, in whatever process of the cluster; pickled, it stays the same one.

    What a process had set aside that was killed stays charged, as its calls may well have been. `usage`,
    `cost` and `refusals` are those of the own process.
    """

    def __init__(self, scope: str, limits: Limits, actor: Any) -> None:  # noqa: ANN401
        super().__init__(scope, limits)
        self._actor = actor

    @classmethod
    def start(cls, name: str, scope: str, limits: Limits) -> RayLedger:
        """Make one in the cluster that this process is connected to, or find that of the same name.

        One that is found goes on from what was spent, with the limits that it was made with. Raises LlmError
        if the cluster does not start it.
        """
        import ray

        made: Any = ray.remote(Held).options(  # pyright: ignore
            name=name,
            namespace=NAMESPACE,
            get_if_exists=True,
            lifetime="detached",
            num_cpus=0,
            max_restarts=0,
        )
        ledger = cls(scope, limits, made.remote(scope, limits))
        ledger.limits = ledger._asked(lambda: ledger._actor.limits.remote(), _START_SECONDS)
        return ledger

    def reserve(self, charge: Charge) -> None:
        """Set aside what a call may take.

        Raises:
            BudgetReached: it could pass a limit.
            LlmError: the actor is gone.

        """
        refusal = self._asked(lambda: self._actor.reserve.remote(charge))
        if refusal is not None:
            with self._lock:
                refused = BudgetReached(self.scope, *refusal)
                self.reached = self.reached or refused
                self.refusals += 1
            raise refused

    def settle(self, reserved: Charge, actual: Charge) -> None:
        """Replace a reservation by what the call took; as it stands where the actor is gone."""
        self._actor.settle.remote(reserved, actual)

    def close(self) -> None:
        """End the actor: what was spent is forgotten."""
        import ray

        ray.kill(self._actor)  # pyright: ignore

    def _asked(self, send: Callable[[], Any], seconds: float = _SECONDS) -> Any:  # noqa: ANN401
        import ray
        from ray.exceptions import RayError

        try:
            return ray.get(send(), timeout=seconds)  # pyright: ignore
        except RayError as error:
            raise LlmError(
                "What was spent in the cluster is not known, as the process that holds it does not answer: "
                "nothing is sent. Start the server again (clew serve … --ray ADDRESS)"
            ) from error

    def __reduce__(self) -> tuple[type[RayLedger], tuple[str, Limits, Any]]:
        return RayLedger, (self.scope, self.limits, self._actor)
