"""Servers that speak OpenAI's chat completions, through the official SDK (extra `openai`).

OpenAI, Azure, Ollama, vLLM, llama.cpp, LM Studio, OpenRouter: what differs is in `profiles.py`. One call is
one attempt; retries, budgets and the cache are in `managed.py`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any

from clew.llm.errors import ModelFailed, ModelRefused
from clew.llm.shapes import without
from clew.llm.types import Chunk, Reply, Request
from clew.llm.wire import SdkModel, parameters, sdk_errors, sendable
from clew.types import Usage

_EXTRA_PARAMETERS = frozenset({"repetition_penalty", "repeat_penalty", "top_k", "min_p"})
"""Names in the request body that the SDK does not know."""


class OpenAICompatible(SdkModel):
    """One model of a server that speaks OpenAI's API."""

    package, client = "openai", "AsyncOpenAI"
    _refused_parameters: frozenset[str] = frozenset()
    """Sampling parameters that the server has objected to."""

    async def complete(self, request: Request) -> Reply:
        """Reply to a request, in one attempt."""
        completion, notes = await self._create(request)
        with sdk_errors(self._sdk, self._where):
            if not isinstance(completion, self._sdk.types.chat.ChatCompletion):
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
        options = {"stream": True, "stream_options": {"include_usage": True}}
        stream, notes = await self._create(request, **options)
        pieces: list[str] = []
        model, finish, usage = self._model, "", Usage(calls=1)
        with sdk_errors(self._sdk, self._where):
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

    async def _create(self, request: Request, **options: Any) -> tuple[Any, tuple[str, ...]]:  # noqa: ANN401
        """Send a request, again where the server objects to a sampling parameter by name."""
        while True:
            body, notes = self._body(request)
            try:
                with sdk_errors(self._sdk, self._where):
                    return await self._client.get().chat.completions.create(**body, **options), notes
            except ModelRefused as error:
                self._give_up(error, body)

    def _body(self, request: Request) -> tuple[dict[str, Any], tuple[str, ...]]:
        sampling, notes = parameters(request, self.profile)
        for name in self._refused_parameters & sampling.keys():
            del sampling[name]
            notes = (*notes, f"{name} dropped: the server refuses it")
        extra_parameters = {name: sampling.pop(name) for name in _EXTRA_PARAMETERS & sampling.keys()}
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": sendable(m.text)} for m in request.messages],
            **sampling,
        }
        if extra_parameters:
            body["extra_body"] = extra_parameters
        if request.form == "json":
            body["response_format"] = {"type": "json_object"}
        elif request.form == "schema":
            schema = without(request.schema, self.profile.schema_without)
            named_schema = {"name": request.schema_name, "schema": schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": named_schema}
        return body, notes

    def _give_up(self, error: ModelRefused, body: Mapping[str, Any]) -> None:
        """Leave out a sampling parameter that the server objects to by name; any other refusal is raised."""
        name = error.parameter
        optional = set(self.profile.parameters.values()) - self._refused_parameters
        if error.status != 400 or name is None or name not in optional or name not in body:
            raise error
        self._refused_parameters |= {name}


def _text(content: Any) -> str:  # noqa: ANN401
    if not isinstance(content, str | None):
        raise TypeError("the content is not text")
    return content or ""


def _usage(usage: Any) -> Usage:  # noqa: ANN401
    if usage is None:
        return Usage(calls=1)
    return Usage(1, int(usage.prompt_tokens or 0), int(usage.completion_tokens or 0))
