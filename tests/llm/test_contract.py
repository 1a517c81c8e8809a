"""What every chat model must do, whatever serves it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from clew.llm import ChatModel, Settings, ask, iterate_sync, run_sync
from clew.llm.managed import ManagedModel
from clew.llm.open import open_adapter
from clew.llm.testing import ScriptedModel
from servers.fake_server import Answer, Seen, completion, events, message, message_events, piece, serving

TEXT = '{"colour": "red", "count": 3}'


@dataclass(frozen=True)
class Thing:
    colour: str
    count: int


def polite(seen: Seen) -> Answer:
    """The same reply on both wires, as a stream to who asks for one."""
    halves = (TEXT[:9], TEXT[9:])
    streamed = seen.body.get("stream")
    if seen.path.endswith("/messages"):
        return message_events(*halves) if streamed else Answer(message(TEXT))
    if streamed:
        return events(*(piece(half) for half in halves), piece(None, "stop"))
    return Answer(completion(TEXT))


def scripted(url: str) -> ChatModel:
    return ScriptedModel(lambda _: TEXT)


def managed(url: str) -> ChatModel:
    return ManagedModel(ScriptedModel(lambda _: TEXT))


def openai(url: str) -> ChatModel:
    pytest.importorskip("openai")
    return open_adapter(Settings("vllm/fake", base_url=f"{url}/v1"))


def managed_openai(url: str) -> ChatModel:
    return ManagedModel(openai(url))


def anthropic(url: str) -> ChatModel:
    pytest.importorskip("anthropic")
    return open_adapter(Settings("anthropic/fake", base_url=url, api_key="k"))


MODELS = (scripted, managed, openai, managed_openai, anthropic)


@pytest.fixture(params=MODELS, ids=lambda make: make.__name__)
def model(request: pytest.FixtureRequest) -> Iterator[ChatModel]:
    make: Callable[[str], ChatModel] = request.param
    with serving(by=polite) as (_, url):
        made = make(url)
        yield made
        run_sync(made.close())


def test_it_has_a_name_and_a_profile(model: ChatModel):
    assert model.name.partition("/")[0] == model.profile.provider


def test_it_completes(model: ChatModel):
    reply = run_sync(model.complete(ask("hello")))
    assert reply.text == TEXT
    assert reply.finish == "stop"
    assert reply.usage.calls == 1
    assert reply.usage.output_tokens > 0


def test_it_completes_as_a_type(model: ChatModel):
    assert run_sync(model.complete_as(ask("hello"), Thing)).value == Thing("red", 3)


def test_it_streams(model: ChatModel):
    chunks = list(iterate_sync(model.stream(ask("hello"))))
    assert "".join(c.text for c in chunks).strip() == TEXT
    assert [c.reply is None for c in chunks] == [True] * (len(chunks) - 1) + [False]


def test_it_serves_two_event_loops_one_after_the_other(model: ChatModel):
    async def once() -> str:
        try:
            return (await model.complete(ask("hello"))).text
        finally:
            await model.close()

    assert [json.loads(asyncio.run(once()))["count"] for _ in range(2)] == [3, 3]
