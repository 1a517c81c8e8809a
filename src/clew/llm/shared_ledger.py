"""A ledger that processes share which are forked after it is made: one limit for all workers of a server."""

from __future__ import annotations

import mmap
import struct
import tempfile
import weakref
from collections.abc import Generator
from contextlib import contextmanager

from clew.llm.budget import Charge, Ledger, Limits

_CHARGE = struct.Struct("=qqqd")
"""Calls, input tokens, output tokens, money."""


class SharedLedger(Ledger):
    """What was spent is in memory that all have, behind a lock that ends with a process that is killed.

    What such a process had set aside stays charged, as its calls may well have been. `usage`, `cost` and
    `refusals` are those of the own process.
    """

    def __init__(self, scope: str, limits: Limits | None = None) -> None:
        super().__init__(scope, limits)
        self._memory = mmap.mmap(-1, _CHARGE.size)
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (open as long as this)
        weakref.finalize(self, self._file.close)

    @contextmanager
    def _changing(self) -> Generator[None]:
        import fcntl  # where processes are forked

        with super()._changing():
            fcntl.lockf(self._file, fcntl.LOCK_EX)
            try:
                self._spent = Charge(*_CHARGE.unpack_from(self._memory))
                yield
                spent = self._spent
                _CHARGE.pack_into(
                    self._memory, 0, spent.calls, spent.input_tokens, spent.output_tokens, spent.money
                )
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN)
