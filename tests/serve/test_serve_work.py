"""Work has its time, its place in a queue, and somebody who waits for it."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import FunctionType

import httpx
import pytest

from clew.llm.managed import run_sync
from clew.serve.settings import Problem
from clew.serve.work import Work
from clew.types import Step
from servers.served import small


def as_of_clew(work):
    """A function as one of a module of Clew, so that it is ended as the work of these is."""
    names = work.__globals__ | {"__name__": "clew.of_tests"}
    return FunctionType(work.__code__, names, work.__name__, work.__defaults__, work.__closure__)


@as_of_clew
def endless(started, ended):
    """Python that goes on until something is raised in it."""
    started.set()
    try:
        while True:
            sum(range(1000))
    finally:
        ended.set()


@pytest.fixture
def signs():
    return threading.Event(), threading.Event()


def run(limits, doing):
    async def main():
        work = Work(limits)
        try:
            return await doing(work)
        finally:
            await work.close(0)

    return asyncio.run(main())


def test_what_grows_too_large_is_stopped(signs):
    async def grow(work):
        held = []

        @as_of_clew
        def more():
            while True:
                held.append(bytearray(2_000_000))
                for page in range(0, 2_000_000, 4096):
                    held[-1][page] = 1
                time.sleep(0.001)

        task = asyncio.ensure_future(work.run(more))
        while not task.done():
            work.watch_memory()
            await asyncio.sleep(0.02)
        return task.exception()

    assert run(small(memory=100_000_000), grow).kind == "memory"


def test_an_import_is_not_broken_off(tmp_path, monkeypatch):
    """Or its lock would stay locked for all threads."""
    (tmp_path / "slowly_imported.py").write_text("import time\nfor _ in range(300): time.sleep(0.001)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    done = threading.Semaphore(0)

    @as_of_clew
    def bring():
        import slowly_imported

        assert slowly_imported
        done.release()
        endless(threading.Event(), threading.Event())

    async def often(work):
        for _ in range(3):
            with pytest.raises(Problem):
                await work.run(bring)
        assert all([await asyncio.to_thread(done.acquire, timeout=60) for _ in range(3)])

    run(small(seconds=0.1, threads=3), often)


def test_waiting_for_a_model_is_ended():
    cancelled = threading.Event()

    async def reply():
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    with pytest.raises(Problem, match="longer"):
        run(small(seconds=0.2), lambda work: work.run(lambda: run_sync(reply())))
    assert cancelled.wait(5)


def test_steps_are_heard_in_the_request_that_takes_them():
    async def both(work):
        told = [], []

        def take(name):
            for i in range(50):
                Step.taken(f"{name}{i}", {})
                time.sleep(0.0005)

        await asyncio.gather(
            *(
                work.run(lambda n=n: take(n), hear=lambda *event, into=into: into.append(event))
                for n, into in zip("ab", told, strict=True)
            )
        )
        return told

    for name, told in zip("ab", run(small(), both), strict=True):
        assert told == [("step", {"name": f"{name}{i}", "detail": {}}) for i in range(50)]


def test_a_client_that_goes_away_stops_its_work(running, films_index, monkeypatch, signs):
    server = running({"films": films_index}, limits=small())
    engine = type(server.graphs["films"].clew)
    monkeypatch.setattr(engine, "ask", lambda *args, **options: endless(*signs))
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server.url}/v1/films/ask", json={"question": "?"}, timeout=0.5)
    assert signs[0].is_set()
    assert signs[1].wait(5)


def test_a_reader_of_events_that_goes_away_stops_the_work(running, films_index, monkeypatch, signs):
    server = running({"films": films_index}, limits=small())
    engine = type(server.graphs["films"].clew)
    monkeypatch.setattr(engine, "ask", lambda *args, **options: endless(*signs))
    headers = {"accept": "text/event-stream"}
    with (
        httpx.Client(timeout=5) as client,
        client.stream("POST", f"{server.url}/v1/films/ask", json={"question": "?"}, headers=headers),
    ):
        assert signs[0].wait(5)
    assert signs[1].wait(5)


def test_over_http_too_slow_is_503_and_too_much_429(running, films_index, monkeypatch):
    server = running({"films": films_index}, limits=small(seconds=0.4, threads=1, waiting=1))
    engine = type(server.graphs["films"].clew)
    monkeypatch.setattr(engine, "ask", lambda *args, **options: endless(threading.Event(), threading.Event()))

    def ask(_):
        reply = httpx.post(f"{server.url}/v1/films/ask", json={"question": "?"}, timeout=10)
        return reply.status_code, "retry-after" in reply.headers

    with ThreadPoolExecutor(6) as threads:
        assert set(threads.map(ask, range(6))) == {(503, False), (429, True)}
