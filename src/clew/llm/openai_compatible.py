"""Servers that speak OpenAI's chat completions, through the official SDK (extra `openai`).

OpenAI, Azure, Ollama, vLLM, llama.cpp, LM Studio, OpenRouter: what differs is in `profiles.py`. One call is
one attempt; retries, budgets and the cache are in `managed.py`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from clew.bounded_http import limits
from clew.llm.errors import ModelFailed, ModelRefused
from clew.llm.profiles import Profile, split_name
from clew.llm.shapes import without
from clew.llm.typed import TypedReplies
from clew.llm.types import Chunk, Reply, Request
from clew.llm.wire import PerLoop, parameters, sdk_errors, sendable, without_system
from clew.text.embedders.extras import require
from clew.types import Usage


class OpenAICompatible(TypedReplies):
    """One model of a server; `connect` makes an `openai.AsyncOpenAI` for the running event loop."""

    def __init__(self, name: str, profile: Profile, base_url: str, connect: Callable[[], Any]) -> None:
        super().__init__(name, profile)
        self._model = split_name(name)[1]
        self._where = f"{name} at {base_url}"
        self._client = PerLoop(connect)
        self._unwanted: frozenset[str] = frozenset()

    @classmethod
    def open(
        cls, name: str, profile: Profile, *, base_url: str, api_key: str | None, timeout: float
    ) -> OpenAICompatible:
        """Make the model; nothing is sent yet. `timeout` is the silence allowed, in seconds.

        Raises MissingExtra: openai is not installed.
        """
        sdk = require("openai", "openai")

        def connect() -> Any:  # noqa: ANN401
            return sdk.AsyncOpenAI(
                base_url=base_url,
                api_key=api_key or "none",
                timeout=timeout,
                max_retries=0,
                http_client=sdk.DefaultAsyncHttpxClient(timeout=timeout, **limits(asynchronous=True)),
            )

        return cls(name, profile, base_url, connect)

    async def complete(self, request: Request) -> Reply:
        """Reply to a request, in one attempt."""
        sdk = require("openai", "openai")
        completion, notes = await self._create(sdk, request)
        with sdk_errors(sdk, self._where):
            if not isinstance(completion, sdk.types.chat.ChatCompletion):
                raise TypeError("no chat completion")
            choice = completion.choices[0]
            return Reply(
                text=_text(choice.message.content or choice.message.refusal),
                model=completion.model or self._model,
                usage=_usage(completion.usage),
                finish=choice.finish_reason or "stop",
                notes=notes,
            )

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Reply piece by piece, in one attempt."""
        sdk = require("openai", "openai")
        options = {"stream": True, "stream_options": {"include_usage": True}}
        stream, notes = await self._create(sdk, request, **options)
        pieces: list[str] = []
        model, finish, usage = self._model, "", Usage(calls=1)
        with sdk_errors(sdk, self._where):
            try:
                async for event in stream:
                    model = event.model or model
                    usage = _usage(event.usage) if event.usage else usage
                    if not event.choices:
                        continue
                    finish = event.choices[0].finish_reason or finish
                    text = _text(event.choices[0].delta.content)
                    if text:
                        pieces.append(text)
                        yield Chunk(text)
            finally:
                await stream.close()
        if not finish:
            raise ModelFailed(f"{self._where}: the reply ended before it was whole.")
        yield Chunk("", Reply("".join(pieces), model, usage, finish, notes=notes))

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        await self._client.close()

    async def models(self) -> tuple[str, ...]:
        """Names of the models that the server lists."""
        sdk = require("openai", "openai")
        with sdk_errors(sdk, self._where):
            page = await self._client.get().models.list()
        return tuple(model.id for model in page.data or ())

    async def _create(self, sdk: Any, request: Request, **options: Any) -> tuple[Any, tuple[str, ...]]:  # noqa: ANN401
        """Send a request, again where the server objects to a sampling parameter by name."""
        while True:
            body, notes = self._body(request)
            try:
                with sdk_errors(sdk, self._where):
                    return await self._client.get().chat.completions.create(**body, **options), notes
            except ModelRefused as error:
                self._give_up(error, body)

    def _body(self, request: Request) -> tuple[dict[str, Any], tuple[str, ...]]:
        sent, notes = parameters(request, self.profile)
        for name in self._unwanted & sent.keys():
            del sent[name]
            notes = (*notes, f"{name} dropped: the server refuses it")
        messages = request.messages if self.profile.system else without_system(request.messages)
        beyond = {name: sent.pop(name) for name in self.profile.beyond & sent.keys()}
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": sendable(m.text)} for m in messages],
            **sent,
        }
        if beyond:
            body["extra_body"] = beyond
        if request.form == "json":
            body["response_format"] = {"type": "json_object"}
        elif request.form == "schema":
            body["response_format"] = {"type": "json_schema", "json_schema": self._schema(request)}
        return body, notes

    def _schema(self, request: Request) -> Mapping[str, Any]:
        schema = without(request.schema, self.profile.schema_without)
        return {"name": request.schema_name, "schema": schema, "strict": True}

    def _give_up(self, error: ModelRefused, body: Mapping[str, Any]) -> None:
        """Leave out a sampling parameter that the server objects to by name; any other refusal is raised."""
        name = error.parameter
        optional = set(self.profile.parameters.values()) - self._unwanted
        if error.status != 400 or name is None or name not in optional or name not in body:
            raise error
        self._unwanted |= {name}


def _text(content: Any) -> str:  # noqa: ANN401
    if not isinstance(content, str | None):
        raise TypeError("the content is not text")
    return content or ""


def _usage(usage: Any) -> Usage:  # noqa: ANN401
    if usage is None:
        return Usage(calls=1)
    return Usage(1, int(usage.prompt_tokens or 0), int(usage.completion_tokens or 0))
