"""When a failed call is sent again, and after what wait."""

from __future__ import annotations

from dataclasses import dataclass

from clew.errors import LlmError
from clew.llm.errors import ModelFailed, ModelTimeout, ModelUnreachable, RateLimited
from clew.llm.types import Request


@dataclass(frozen=True, slots=True)
class Retry:
    """Exponential backoff: `attempts` in all; waits of `first` seconds, doubled, at most `longest`.

    A `Retry-After` of the server goes before; one beyond `patience` seconds ends the attempts.
    """

    attempts: int = 4
    first: float = 0.5
    longest: float = 30.0
    patience: float = 60.0

    def wait(self, error: LlmError, request: Request, attempt: int, *, reached: bool) -> float | None:
        """Seconds to wait after attempt number `attempt` (from 1); None to give up.

        `reached` is whether this server has answered before: one that never did is not worth waiting for.
        The jitter is a function of the request, so that runs repeat.
        """
        attempts = self.attempts
        if isinstance(error, RateLimited):
            if error.final:
                return None
            requested_wait = error.retry_after
        elif isinstance(error, ModelFailed) and (error.status >= 500 or error.status == 408):
            requested_wait = error.retry_after
            if error.status == 500 and request.form != "text":
                # Servers fail like this over a schema too, and another form of the request is to hand.
                attempts = min(attempts, 2)
        elif isinstance(error, (ModelUnreachable, ModelTimeout)) and reached:
            requested_wait = None
            if isinstance(error, ModelTimeout):
                # Each costs the whole timeout, and perhaps the tokens.
                attempts = min(attempts, 2)
        else:
            return None
        if attempt >= attempts:
            return None
        if requested_wait is not None:
            return requested_wait if requested_wait <= self.patience else None
        jitter = int(request.key[:8], 16) / 0xFFFFFFFF
        return min(self.longest, self.first * 2 ** (attempt - 1)) * (0.75 + 0.5 * jitter)
