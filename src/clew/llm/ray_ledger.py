"""A ledger that all nodes of a Ray cluster share: one limit for replicas of a server and workers of a batch.

What was spent is held by one actor. One that is gone cannot tell what was spent, so that nothing is sent
then.
"""

from __future__ import annotations

from clew.llm.budget import Charge, Ledger, Limits
from clew.llm.errors import BudgetReached
from clew.llm.ray_actor import HeldByActor

_LOST = (
    "What was spent in the cluster is not known, as the process that holds it does not answer: nothing is "
    "sent. Give the command again, with --ray ADDRESS as before"
)


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
    `cost`, `reached` and `refusals` are those of the own process.
    """

    def __init__(self, scope: str, limits: Limits, held: HeldByActor) -> None:
        super().__init__(scope, limits)
        self._held = held

    @classmethod
    def start(cls, scope: str, limits: Limits, name: str | None = None) -> RayLedger:
        """Make one in the cluster that this process is connected to, or find that of the same name.

        One that is found goes on from what was spent, with the limits that it was made with; one without a
        name ends with this process. Raises LlmError if the cluster does not start it.
        """
        held = HeldByActor.start(Held, scope, limits, lost=_LOST, name=name)
        return cls(scope, held.ask("limits", starting=True), held)

    def reserve(self, charge: Charge) -> None:
        """Set aside what a call may take.

        Raises BudgetReached (it could pass a limit), LlmError (the actor is gone).
        """
        refusal = self._held.ask("reserve", charge)
        if refusal is not None:
            with self._lock:
                refused = BudgetReached(self.scope, *refusal)
                self.reached = self.reached or refused
                self.refusals += 1
            raise refused

    def settle(self, reserved: Charge, actual: Charge) -> None:
        """Replace a reservation by what the call took; as it stands where the actor is gone."""
        self._held.tell("settle", reserved, actual)

    def close(self) -> None:
        """End the actor: what was spent is forgotten."""
        self._held.close()

    def __reduce__(self) -> tuple[type[RayLedger], tuple[str, Limits, HeldByActor]]:
        return RayLedger, (self.scope, self.limits, self._held)
