"""Anthropic's messages, through the official SDK (extra `anthropic`). One call is one attempt."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from clew.bounded_http import limits
from clew.llm.errors import ModelFailed
from clew.llm.profiles import Profile, split_name
from clew.llm.shapes import without
from clew.llm.typed import TypedReplies
from clew.llm.types import Chunk, Reply, Request
from clew.llm.wire import PerLoop, parameters, sdk_errors, sendable
from clew.text.embedders.extras import require
from clew.types import Usage

_FINISH = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}


class Anthropic(TypedReplies):
    """One model of Anthropic's API; `connect` makes an `anthropic.AsyncAnthropic` for the running loop."""

    def __init__(self, name: str, profile: Profile, base_url: str, connect: Callable[[], Any]) -> None:
        super().__init__(name, profile)
        self._model = split_name(name)[1]
        self._where = f"{name} at {base_url}"
        self._client = PerLoop(connect)

    @classmethod
    def open(cls, name: str, profile: Profile, *, base_url: str, api_key: str, timeout: float) -> Anthropic:
        """Make the model; nothing is sent yet. `timeout` is the silence allowed, in seconds.

        Raises MissingExtra: anthropic is not installed.
        """
        sdk = require("anthropic", "anthropic")

        def connect() -> Any:  # noqa: ANN401
            # The SDK's own spans would double Clew's.
            return sdk.AsyncAnthropic(
                base_url=base_url,
                api_key=api_key,
                timeout=timeout,
                max_retries=0,
                open_telemetry=False,
                http_client=sdk.DefaultAsyncHttpxClient(timeout=timeout, **limits(asynchronous=True)),
            )

        return cls(name, profile, base_url, connect)

    async def complete(self, request: Request) -> Reply:
        """Reply to a request, in one attempt."""
        sdk = require("anthropic", "anthropic")
        body, notes = self._body(request)
        with sdk_errors(sdk, self._where):
            message = await self._client.get().messages.create(**body)
            return self._reply(sdk, message, notes)

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Reply piece by piece, in one attempt."""
        sdk = require("anthropic", "anthropic")
        body, notes = self._body(request)
        with sdk_errors(sdk, self._where):
            async with self._client.get().messages.stream(**body) as stream:
                async for text in stream.text_stream:
                    yield Chunk(text)
                message = await stream.get_final_message()
            reply = self._reply(sdk, message, notes)
        if not message.stop_reason:
            raise ModelFailed(f"{self._where}: the reply ended before it was whole.")
        yield Chunk("", reply)

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        await self._client.close()

    async def models(self) -> tuple[str, ...]:
        """Names of the models that the key may use."""
        sdk = require("anthropic", "anthropic")
        with sdk_errors(sdk, self._where):
            page = await self._client.get().models.list(limit=1000)
        return tuple(model.id for model in page.data or ())

    def _body(self, request: Request) -> tuple[dict[str, Any], tuple[str, ...]]:
        sent, notes = parameters(request, self.profile)
        system = "\n\n".join(m.text for m in request.messages if m.role == "system")
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": m.role, "content": sendable(m.text)} for m in request.messages if m.role != "system"
            ],
            **sent,
        }
        if system:
            body["system"] = sendable(system)
        if request.form == "schema":
            schema = without(request.schema, self.profile.schema_without)
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        return body, notes

    def _reply(self, sdk: Any, message: Any, notes: tuple[str, ...]) -> Reply:  # noqa: ANN401
        if not isinstance(message, sdk.types.Message):
            raise TypeError("no message")
        usage = message.usage
        read = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
        return Reply(
            text="".join(block.text for block in message.content if block.type == "text"),
            model=message.model,
            usage=Usage(1, usage.input_tokens + read, usage.output_tokens),
            finish=_FINISH.get(message.stop_reason or "", message.stop_reason or "stop"),
            notes=notes,
        )
