"""A part of a server that is made when it is first asked, by one task, once."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from clew.serve.app import LateApplication


def test_it_is_made_once_and_ended_by_the_task_that_began_it() -> None:
    tasks = list[object]()

    @asynccontextmanager
    async def runs():
        tasks.append(asyncio.current_task())
        yield
        tasks.append(asyncio.current_task())

    async def app(scope, receive, send) -> None:
        await send(scope)

    made, told = list[int](), list[object]()

    def make():
        made.append(1)
        return app, runs()

    async def send(message) -> None:
        told.append(message)

    async def main() -> None:
        late = LateApplication(make)
        async with late.running():
            assert not made
            await asyncio.gather(*(late({"n": n}, None, send) for n in range(3)))
        assert tasks[0] is tasks[1]

    asyncio.run(main())
    assert made == [1]
    assert sorted(told, key=str) == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_why_it_cannot_be_made_is_raised_by_each_request() -> None:
    def make():
        raise ImportError("no such part")

    async def main() -> None:
        late = LateApplication(make)
        async with late.running():
            for _ in range(2):
                with pytest.raises(ImportError, match="no such part"):
                    await late({}, None, None)

    asyncio.run(main())


def test_what_is_never_asked_is_never_made() -> None:
    async def main() -> None:
        async with LateApplication(lambda: pytest.fail("it is made")).running():
            await asyncio.sleep(0)

    asyncio.run(main())
