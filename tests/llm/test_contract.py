"""What every chat model must do: models of pydantic-ai, its clients of servers, and ours for tests."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from clew.llm import ChatModel, Message, Request, Settings, ask, run_sync
from clew.llm.adapter import PydanticModel
from clew.llm.managed import ManagedModel
from clew.llm.open import open_adapter
from clew.llm.providers import OpenedModel
from clew.llm.testing import ScriptedModel
from servers.fake_server import (
    Answer,
    Seen,
    completion,
    events,
    message,
    message_events,
    needs,
    piece,
    serving,
)

pytest.importorskip("pydantic_ai")

from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

pytestmark = needs("openai", "anthropic")
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


def of_pydantic_ai(model: object) -> PydanticModel:
    return PydanticModel("function/fake", lambda: OpenedModel(model, None))  # pyright: ignore


def said(messages: list[object], info: AgentInfo) -> ModelResponse:
    return ModelResponse(parts=[TextPart(TEXT)])


async def said_in_pieces(messages: list[object], info: AgentInfo):
    yield TEXT[:9]
    yield TEXT[9:]


MODELS: dict[str, Callable[[str], ChatModel]] = {
    "scripted": lambda url: ScriptedModel(lambda _: TEXT),
    "managed": lambda url: ManagedModel(ScriptedModel(lambda _: TEXT)),
    "function": lambda url: of_pydantic_ai(FunctionModel(said, stream_function=said_in_pieces)),
    "test": lambda url: of_pydantic_ai(TestModel(custom_output_text=TEXT)),
    "vllm": lambda url: open_adapter(Settings("vllm/fake", base_url=f"{url}/v1")),
    "ollama": lambda url: open_adapter(Settings("ollama/fake", base_url=f"{url}/v1")),
    "openai": lambda url: open_adapter(Settings("openai/fake", base_url=f"{url}/v1", api_key="k")),
    "anthropic": lambda url: open_adapter(Settings("anthropic/fake", base_url=url, api_key="k")),
}


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> Iterator[ChatModel]:
    with serving(by=polite) as (_, url):
        made = MODELS[request.param](url)
        yield made
        run_sync(made.close())


def test_it_completes(model: ChatModel):
    reply = run_sync(model.complete(ask("hello")))
    assert reply.text == TEXT
    assert reply.finish == "stop"
    assert reply.usage.calls == 1
    assert reply.usage.output_tokens > 0


def test_it_completes_as_a_type(model: ChatModel):
    if isinstance(model, PydanticModel) and isinstance(model._opened._make().model, TestModel):  # pyright: ignore
        pytest.skip("TestModel has no native JSON schema, and its tool calls are made up")
    assert run_sync(model.complete_as(ask("hello"), Thing)).value == Thing("red", 3)


def test_what_it_says_is_heard_while_it_comes(model: ChatModel):
    heard: list[str] = []
    if not isinstance(model, ManagedModel):
        model = ManagedModel(model, listener=lambda _, text: heard.append(text))  # pyright: ignore
        reply = run_sync(model.complete(ask("hello")))
        assert "".join(heard).strip() == reply.text == TEXT
        assert len(heard) > 1


def test_it_serves_two_event_loops_one_after_the_other(model: ChatModel):
    async def once() -> str:
        try:
            return (await model.complete(ask("hello"))).text
        finally:
            await model.close()

    assert [json.loads(asyncio.run(once()))["count"] for _ in range(2)] == [3, 3]


def test_a_model_without_json_schemas_is_held_to_them_by_a_tool():
    seen: list[AgentInfo] = []

    def call(messages: list[object], info: AgentInfo) -> ModelResponse:
        seen.append(info)
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, json.loads(TEXT))])

    model = of_pydantic_ai(FunctionModel(call, profile={"supports_tools": True}))
    assert run_sync(model.complete_as(ask("hello"), Thing)).value == Thing("red", 3)
    assert seen[0].output_tools[0].parameters_json_schema["required"] == ["colour", "count"]


def test_a_model_without_any_form_is_asked_in_text():
    asked: list[str] = []

    def say(messages: list[ModelRequest], info: AgentInfo) -> ModelResponse:
        asked.append(str(messages[0].parts[0].content))
        return ModelResponse(parts=[TextPart(f"Here: {TEXT}")])

    model = of_pydantic_ai(FunctionModel(say, profile={"supports_tools": False}))  # pyright: ignore
    assert run_sync(model.complete_as(ask("hello", "Be brief."), Thing)).value == Thing("red", 3)
    (system,) = asked
    assert system.startswith("Be brief.")
    assert '"colour"' in system


def test_turns_keep_their_roles_and_order():
    turns = (
        Message("system", "a"),
        Message("user", "b"),
        Message("assistant", "c"),
        Message("user", "d"),
    )
    with serving(by=polite) as (fake, url):
        for name in ("vllm", "anthropic"):
            model = MODELS[name](url)
            run_sync(model.complete(replace(Request(turns), max_tokens=9)))
            run_sync(model.close())
    vllm, anthropic = (seen.body for seen in fake.seen)
    assert [(m["role"], m["content"]) for m in vllm["messages"]] == [(m.role, m.text) for m in turns]
    assert "a" in json.dumps(anthropic["system"])
    assert [m["role"] for m in anthropic["messages"]] == ["user", "assistant", "user"]
