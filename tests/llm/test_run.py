import asyncio
import multiprocessing

import pytest

from clew.llm.managed import run_sync


async def double(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


def test_inside_of_a_running_event_loop():
    async def outer() -> int:
        return run_sync(double(4))

    assert asyncio.run(outer()) == 8


def test_waiting_for_itself_is_an_error_and_no_deadlock():
    async def outer() -> int:
        return run_sync(double(1))

    with pytest.raises(RuntimeError, match="await it instead"):
        run_sync(outer())


def test_a_forked_process_has_a_loop_of_its_own():
    run_sync(double(1))
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_run_in_child)
    child.start()
    child.join(10)
    assert child.exitcode == 0


def _run_in_child() -> None:
    assert run_sync(double(3)) == 6
