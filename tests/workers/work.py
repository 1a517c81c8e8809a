"""What the workers of the tests do."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from clew.errors import InputError
from clew.llm.budget import Charge
from clew.llm.types import BudgetReached


def nothing():
    """Prepare nothing."""


@dataclass(frozen=True)
class Squares:
    """Squares numbers; where they are is given."""

    seconds: float = 0.0

    def __call__(self):
        return self.square

    def square(self, number):
        time.sleep(self.seconds)
        return number, number**2


@dataclass(frozen=True)
class Dying:
    """Ends its process at a number, as often as is said."""

    number: int
    times: int
    folder: Path

    def __call__(self):
        return self.work

    def work(self, number):
        if number == self.number:
            deaths = len(list(self.folder.iterdir()))
            if deaths < self.times:
                (self.folder / str(deaths)).touch()
                os._exit(1)
        return number


class Missing:
    """Cannot be made."""

    def __call__(self):
        raise InputError("films.clew: no such file or directory. Check the path")


@dataclass(frozen=True)
class Failing:
    """Fails at every piece."""

    error: Exception

    def __call__(self):
        return self.work

    def work(self, number):
        raise self.error


def spend(ledger, calls):
    """Calls that are let through."""
    sent = 0
    for _ in range(calls):
        try:
            ledger.reserve(Charge(1, 10, 10, 0.5))
        except BudgetReached:
            continue
        ledger.settle(Charge(1, 10, 10, 0.5), Charge(1, 5, 5, 0.25))
        sent += 1
    return sent
