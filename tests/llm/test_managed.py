import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from clew.errors import InputError, LlmError
from clew.llm import Reply, Request, ask, run_sync
from clew.llm.budget import Limits, ReplyCache, TraceFile
from clew.llm.managed import ManagedModel, Policy, Talk
from clew.llm.testing import ScriptedLine, ScriptedModel
from clew.llm.types import (
    BudgetReached,
    Hear,
    KeyRefused,
    ModelFailed,
    ModelTimeout,
    ModelUnreachable,
)
from clew.types import Usage

REQUEST = ask("hello", max_tokens=10)


def waits() -> tuple[list[float], Callable[[float], Awaitable[None]]]:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    return waited, sleep


def managed(script: Any, **policy: Any) -> tuple[ManagedModel, ScriptedModel, list[float]]:
    waited, sleep = waits()
    inner = ScriptedModel(script)
    model = ManagedModel(inner, Policy(**policy))
    model._sleep = sleep  # pyright: ignore[reportPrivateUsage]
    return model, inner, waited


# Retries


@pytest.mark.parametrize("error", [ModelUnreachable("gone", begun=True), ModelTimeout("slow")])
def test_a_server_that_has_answered_before_is_waited_for(error: LlmError):
    model, inner, _ = managed(["first", error, "second"])
    run_sync(model.complete(REQUEST))
    assert run_sync(model.complete(REQUEST)).text == "second"
    assert len(inner.requests) == 3


# Budgets


def test_calls_in_parallel_cannot_pass_a_limit_together():
    model, inner, _ = managed(lambda _: "yes", per_run=Limits(tokens=100))

    async def many() -> list[Any]:
        return await asyncio.gather(*(model.complete(REQUEST) for _ in range(50)), return_exceptions=True)

    results = run_sync(many())
    assert sum(isinstance(r, BudgetReached) for r in results) > 0
    used = model.run.spent
    assert used.tokens <= 100
    assert used.calls == len(inner.requests) == sum(isinstance(r, Reply) for r in results)


def test_a_reply_larger_than_thought_ends_the_budget():
    large = Reply("x", "m", Usage(1, 10, 5000))
    model, inner, _ = managed([large, "yes"], per_question=Limits(tokens=1000))
    run_sync(model.complete(REQUEST))
    with pytest.raises(BudgetReached, match="tokens"):
        run_sync(model.complete(REQUEST))
    assert len(inner.requests) == 1


@pytest.mark.parametrize(
    ("error", "charged"),
    [
        (KeyRefused("key", 401), False),
        (ModelFailed("down", 503), False),
        (ModelUnreachable("nobody there"), False),
        (ModelUnreachable("gone", begun=True), True),
        (ModelTimeout("slow"), True),
    ],
)
def test_an_attempt_that_may_be_billed_is_charged(error: LlmError, charged: bool):
    model, _, _ = managed([error, "yes"], per_question=Limits(calls=1), attempts=1)
    with pytest.raises(type(error)):
        run_sync(model.complete(REQUEST))
    if charged:
        with pytest.raises(BudgetReached):
            run_sync(model.complete(REQUEST))
    else:
        assert run_sync(model.complete(REQUEST)).text == "yes"


# Concurrency and time


class Dripping(ScriptedModel):
    """Says ten words, one each 20 ms."""

    async def complete(self, request: Request, hear: Hear | None = None) -> Reply:
        for _ in range(10):
            await asyncio.sleep(0.02)
            if hear is not None:
                hear("word ")
        return await super().complete(request)


def test_a_reply_that_is_heard_may_take_its_time():
    heard: list[tuple[int, str]] = []
    policy = Policy(timeout=0.1)
    model = ManagedModel(Dripping(["a"]), policy, listener=lambda call, text: heard.append((call, text)))
    assert run_sync(model.complete(REQUEST)).text == "a"
    assert heard == [(1, "word ")] * 10
    with pytest.raises(ModelTimeout):
        run_sync(ManagedModel(Dripping(["a"]), policy).complete(REQUEST))


class Breaking(ScriptedModel):
    async def complete(self, request: Request, hear: Hear | None = None) -> Reply:
        if not self.requests:
            self.requests.append(request)
            hear("one ")  # pyright: ignore[reportOptionalCall]
            raise ModelFailed("broke off", 503)
        return await super().complete(request, hear)


def test_a_reply_that_breaks_off_is_heard_again_as_another_call():
    heard: list[tuple[int, str]] = []
    model = ManagedModel(Breaking(["no", "three"]), listener=lambda call, text: heard.append((call, text)))
    model._sleep = waits()[1]  # pyright: ignore[reportPrivateUsage]
    assert run_sync(model.complete(REQUEST)).text == "three"
    assert heard == [(1, "one "), (2, "three ")]


# Cache and replay


def cached(path: Path, script: Any, **policy: Any) -> tuple[ManagedModel, ScriptedModel]:
    inner = ScriptedModel(script)
    return ManagedModel(inner, Policy(**policy), cache=ReplyCache(path)), inner


@pytest.mark.parametrize(
    "other",
    [
        ask("hello!", max_tokens=10),
        ask("hello", max_tokens=11),
        ask("hello", max_tokens=10, temperature=0.0),
        ask("hello", max_tokens=10, seed=1),
        ask("hello", max_tokens=10, form="json"),
        ask("hello", "system", max_tokens=10),
    ],
)
def test_another_request_is_another_key(other: Request):
    assert other.key != REQUEST.key


def test_a_replay_meets_the_same_budget(tmp_path: Path):
    outcomes: list[list[str]] = []
    for replay in (False, True):
        model, _ = cached(tmp_path / "c.sqlite", lambda _: "yes", replay=replay, per_question=Limits(calls=1))
        view, seen = Talk(model, None), list[str]()
        for text in ("one", "two"):
            try:
                seen.append(run_sync(view.complete(ask(text))).text)
            except BudgetReached as error:
                seen.append(error.limit)
        outcomes.append(seen)
        run_sync(model.close())
    assert outcomes[0] == outcomes[1] == ["yes", "calls"]


def test_a_failure_is_not_recorded(tmp_path: Path):
    model, inner = cached(tmp_path / "c.sqlite", [KeyRefused("key", 401), "yes"])
    with pytest.raises(KeyRefused):
        run_sync(model.complete(REQUEST))
    assert run_sync(model.complete(REQUEST)).text == "yes"
    run_sync(model.close())
    assert len(inner.requests) == 2


def test_a_file_that_is_no_cache_is_an_error_that_names_it(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("these are not the replies that you are looking for" * 50)
    with pytest.raises(InputError, match=r"notes\.txt.*cannot be used"):
        ReplyCache(path)


def test_odd_text_is_cached_as_it_is(tmp_path: Path):
    text = "\x00 \ud800 🎬 'quote\" \n"
    model, _ = cached(tmp_path / "c.sqlite", [text])
    run_sync(model.complete(ask(text)))
    assert run_sync(model.complete(ask(text))).text == text
    run_sync(model.close())


# Trace


def test_the_trace_has_every_prompt_and_reply(tmp_path: Path):
    path = tmp_path / "trace.jsonl"
    script: list[ScriptedLine] = ["yes\n", KeyRefused("wrong key", 401)]
    model = ManagedModel(ScriptedModel(script), trace=TraceFile(path))
    view = Talk(model, "q7")
    run_sync(view.complete(REQUEST))
    with pytest.raises(KeyRefused):
        run_sync(view.complete(REQUEST))
    run_sync(model.close())
    good, bad = (json.loads(line) for line in path.read_text().splitlines())
    assert good["question"] == "q7"
    assert good["request"]["messages"] == [{"role": "user", "text": "hello"}]
    assert good["reply"]["text"] == "yes\n"
    assert good["reply"]["usage"]["calls"] == 1
    assert (bad["reply"], bad["error"]["type"]) == (None, "KeyRefused")


def test_the_key_of_a_request_never_changes_so_that_old_recordings_replay():
    options: dict[str, Any] = {
        "form": "schema",
        "schema": {"type": "object"},
        "temperature": 0.0,
        "stop": ("#",),
    }
    key = "391a7abe4d6bfd1e715513595b605bee3c0a0089c09ffb5acfd9a8eb8e553f7c"
    assert ask("hello", "be brief", **options).key == key
