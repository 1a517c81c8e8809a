"""Processes that are forked share one limit."""

import os
import signal
import sys

import pytest

from clew.llm.budget import Charge, Limits
from clew.llm.types import BudgetReached

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are not forked there")


def spend(ledger, most):
    """Reserve and settle calls until the limit; returns how many."""
    for done in range(most):
        try:
            ledger.reserve(Charge(1, 10, 5, 0.5))
        except BudgetReached:
            return done
        ledger.settle(Charge(1, 10, 5, 0.5), Charge(1, 8, 2, 0.25))
    return most


def test_processes_together_keep_to_one_limit():
    from clew.llm.budget import SharedLedger

    ledger, children = SharedLedger("run", Limits(calls=200)), []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            os._exit(spend(ledger, 250))
        children.append(child)
    counts = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert sum(counts) == 200
    with pytest.raises(BudgetReached, match="calls"):
        ledger.reserve(Charge(1))


def test_what_a_killed_process_set_aside_stays_charged_and_its_lock_is_free():
    from clew.llm.budget import SharedLedger

    ledger = SharedLedger("run", Limits(money=1.0))
    child = os.fork()
    if child == 0:
        with ledger._changing():
            ledger.spent = Charge(1, 0, 0, 0.75)
        with ledger._changing():
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    ledger.reserve(Charge(1, 0, 0, 0.25))
    with pytest.raises(BudgetReached, match="money"):
        ledger.reserve(Charge(1, 0, 0, 0.25))
