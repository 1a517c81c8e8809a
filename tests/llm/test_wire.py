"""The wire, for real: llama.cpp's own server, with a model whose words mean nothing."""

import asyncio
import os
import signal
import socket
import subprocess
import threading
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from clew.llm import Settings, ask, open_model, run_sync
from clew.llm.managed import ManagedModel
from clew.llm.types import ContextOverflow, KeyRefused, ModelTimeout, ModelUnreachable, ReplyInvalid

LONG = "tell me about the film " * 10


@dataclass(frozen=True)
class Bounded:
    # No free text: the tiny model writes bytes that are no UTF-8, and then the server itself gives up.
    kind: Literal["question", "claim"]
    certain: bool
    hops: int
    sides: tuple[bool, bool]


def tiny(url: str, heard: list[str] | None = None, **options: Any) -> ManagedModel:
    """A model of the tiny server, with one attempt; what it says is heard by `heard`."""
    settings = Settings("llamacpp/tiny", base_url=url, **{"attempts": 1, **options})
    return open_model(settings, None if heard is None else lambda _, text: heard.append(text))


def freeze(process: subprocess.Popen[str]) -> None:
    """Stop a process, and wait until it has stopped."""
    os.kill(process.pid, signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)


def test_a_streamed_reply_is_its_pieces(tiny_url: str):
    heard: list[str] = []
    model = tiny(tiny_url, heard)
    reply = run_sync(model.complete(ask("hello", max_tokens=12, seed=3)))
    run_sync(model.close())
    assert reply.text == "".join(heard)
    assert (reply.finish, reply.model) == ("length", "tiny")
    assert reply.usage.input_tokens > 5
    assert reply.usage.output_tokens == 12
    assert len(heard) > 3


@pytest.mark.parametrize("seed", range(2))
def test_a_strict_schema_is_kept_at_once(tiny_url: str, seed: int):
    model = tiny(tiny_url)
    typed = run_sync(model.complete_as(ask("hello", max_tokens=900, seed=seed), Bounded))
    run_sync(model.close())
    assert isinstance(typed.value, Bounded)
    assert len(typed.replies) == 1


def test_plain_text_of_random_words_is_a_typed_failure_after_one_repair(tiny_url: str):
    model = tiny(tiny_url)
    model.refused.update(("schema", "json"))
    with pytest.raises(ReplyInvalid):
        run_sync(model.complete_as(ask("hello", max_tokens=30, seed=1), Bounded))
    run_sync(model.close())
    assert model.run.spent.calls == 2


def test_32_requests_in_parallel(tiny_url: str):
    model = tiny(tiny_url, concurrency=32)

    async def all_of_them() -> list[str]:
        calls = (model.complete(ask(f"question {i}", max_tokens=5, seed=i)) for i in range(32))
        replies = await asyncio.gather(*calls)
        await model.close()
        return [r.text for r in replies]

    texts = asyncio.run(all_of_them())
    assert len(texts) == 32
    assert len(set(texts)) > 16
    assert model.run.spent.calls == 32


@pytest.mark.parametrize("streamed", [False, True])
def test_context_overflow_says_what_to_do(tiny_url: str, streamed: bool):
    model = tiny(tiny_url, [] if streamed else None, attempts=4)
    with pytest.raises(ContextOverflow, match="Use fewer examples"):
        run_sync(model.complete(ask(LONG * 100)))
    run_sync(model.close())
    assert model.run.spent.calls == 0


@pytest.mark.parametrize("streamed", [False, True])
def test_a_cancelled_call_leaves_model_and_server_usable(tiny_url: str, streamed: bool):
    model = tiny(tiny_url, [] if streamed else None, concurrency=1)
    # The schema keeps the reply from ending before it is cancelled.
    endless = {"type": "array", "items": {"type": "boolean"}, "minItems": 600}
    schema = {"type": "object", "properties": {"a": endless}}

    async def cancel() -> str:
        call = asyncio.create_task(model.complete(ask(LONG, max_tokens=700, form="schema", schema=schema)))
        await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        # With one call at a time, this one shows that the first gave its place back.
        reply = await model.complete(ask("hello", max_tokens=3))
        await model.close()
        return reply.finish

    assert asyncio.run(cancel()) in ("stop", "length")
    assert model.run.spent.calls == 2  # the one that was left may be charged


@pytest.mark.parametrize("streamed", [False, True])
def test_a_server_killed_in_mid_reply(mortal: tuple[subprocess.Popen[str], str], streamed: bool):
    process, url = mortal
    begun = threading.Event()
    model = tiny(url)
    if streamed:
        settings = Settings("llamacpp/tiny", base_url=url, attempts=1)
        model = open_model(settings, lambda *_: begun.set())
    run_sync(model.complete(ask("hello", max_tokens=2)))
    begun.clear()
    # The schema keeps the reply from ending soon, and freezing the server from ending before the kill.
    endless = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "boolean"}, "minItems": 600}},
    }

    async def complete() -> None:
        call = asyncio.create_task(model.complete(ask("hello", form="schema", schema=endless)))
        while streamed and not begun.is_set():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        freeze(process)
        process.kill()
        await call

    with pytest.raises(ModelUnreachable) as caught:
        run_sync(complete())
    run_sync(model.close())
    assert caught.value.begun
    assert "broke off" in str(caught.value)


def test_a_closed_port_fails_at_once():

    async def never(seconds: float) -> None:
        raise AssertionError("a server that never answered is waited for")

    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        model = tiny(url, attempts=2)
        model._sleep = never  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(ModelUnreachable, match="Check that the server runs") as caught:
            run_sync(model.complete(ask("hello")))
        run_sync(model.close())
    assert not caught.value.begun


def test_a_wrong_key_is_refused_and_not_repeated(locked_url: str):
    model = tiny(locked_url, api_key="sk-wrong-key-123")
    with pytest.raises(KeyRefused, match="Check the key") as caught:
        run_sync(model.complete(ask("hello")))
    run_sync(model.close())
    assert caught.value.exit_code == 2
    assert "wrong-key" not in str(caught.value)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_slow_server_is_waited_for(sleepy: tuple[subprocess.Popen[str], str], streamed: bool):
    process, url = sleepy
    model = tiny(url, [] if streamed else None, timeout=30)
    run_sync(model.complete(ask("hello", max_tokens=2)))
    freeze(process)
    woken = threading.Event()

    def wake():
        woken.set()
        os.kill(process.pid, signal.SIGCONT)

    timer = threading.Timer(0.5, wake)
    timer.start()
    run_sync(model.complete(ask("hello", max_tokens=2)))
    assert woken.is_set()
    timer.join()
    run_sync(model.close())
    assert model.run.spent.calls == 2


@pytest.mark.parametrize("streamed", [False, True])
def test_a_server_that_stops_answering(sleepy: tuple[subprocess.Popen[str], str], streamed: bool):
    process, url = sleepy
    patient, model = tiny(url, timeout=60), tiny(url, [] if streamed else None, timeout=0.3)
    run_sync(patient.complete(ask("hello", max_tokens=2)))
    run_sync(patient.close())
    freeze(process)
    try:
        with pytest.raises(ModelTimeout, match="Allow more time"):
            run_sync(model.complete(ask("hello", max_tokens=2)))
    finally:
        os.kill(process.pid, signal.SIGCONT)
    run_sync(model.close())


def test_all_that_the_papers_sample_with_is_taken(tiny_url: str):
    model = tiny(tiny_url)
    sampling = {"temperature": 0.3, "top_k": 40, "min_p": 0.05, "repeat_penalty": 1.1}
    assert run_sync(model.complete(ask("hello", max_tokens=2, **sampling))).notes == ()
    run_sync(model.close())
