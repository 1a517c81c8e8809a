"""One limit of calls and money for all, on a simulated cluster of two nodes."""

import time

import pytest

from clew.llm.budget import Charge, Limits
from clew.llm.open import RayLedger
from clew.llm.types import BudgetReached
from workers.work import spend

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


@pytest.fixture
def connected(cluster):
    import ray  # here: whoever collects these slow tests imports nothing for them

    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield ray
    ray.shutdown()


def test_limits_hold_over_all_nodes(connected):
    ledger = RayLedger("run", Limits(calls=25))
    task = connected.remote(num_cpus=1, scheduling_strategy="SPREAD")(spend)
    assert sum(connected.get([task.remote(ledger, 20) for _ in range(4)])) == 25
    with pytest.raises(BudgetReached, match="budget of calls for this run is reached: 26 needed"):
        ledger.reserve(Charge(1))
    ledger.handle.end()


def test_money_is_settled_by_what_calls_took(connected):
    ledger = RayLedger("run", Limits(money=2.0))
    assert spend(ledger, 20) == 7  # the eighth could cost 0.5 beside 1.75
    ledger.handle.end()


def test_a_ledger_that_is_gone_lets_nothing_through(connected):
    from clew.errors import LlmError

    ledger = RayLedger("run", Limits(calls=10_000))
    ledger.handle.end()
    time.sleep(5)  # Ray ends an actor a moment after it is told to
    with pytest.raises(LlmError, match="nothing is sent"):
        ledger.reserve(Charge(1))
