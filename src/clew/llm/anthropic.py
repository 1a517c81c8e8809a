"""Anthropic's messages, through the official SDK (extra `anthropic`). One call is one attempt."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from clew.llm.errors import ModelFailed
from clew.llm.shapes import without
from clew.llm.types import Chunk, Reply, Request
from clew.llm.wire import SdkModel, parameters, sdk_errors, sendable
from clew.types import Usage

_FINISH = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}


class Anthropic(SdkModel):
    """One model of Anthropic's API."""

    package, client = "anthropic", "AsyncAnthropic"
    options = {"open_telemetry": False}  # noqa: RUF012
    """The SDK's own spans would double Clew's."""
    listing = {"limit": 1000}  # noqa: RUF012

    async def complete(self, request: Request) -> Reply:
        """Reply to a request, in one attempt."""
        body, notes = self._body(request)
        with sdk_errors(self._sdk, self._where):
            message = await self._client.get().messages.create(**body)
            return self._reply(message, notes)

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Reply piece by piece, in one attempt."""
        body, notes = self._body(request)
        with sdk_errors(self._sdk, self._where):
            async with self._client.get().messages.stream(**body) as stream:
                async for text in stream.text_stream:
                    yield Chunk(text)
                message = await stream.get_final_message()
            reply = self._reply(message, notes)
        if not message.stop_reason:
            raise ModelFailed(f"{self._where}: the reply ended before it was whole.")
        yield Chunk("", reply)

    def _body(self, request: Request) -> tuple[dict[str, Any], tuple[str, ...]]:
        sampling, notes = parameters(request, self.profile)
        system = "\n\n".join(m.text for m in request.messages if m.role == "system")
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": m.role, "content": sendable(m.text)} for m in request.messages if m.role != "system"
            ],
            **sampling,
        }
        if system:
            body["system"] = sendable(system)
        if request.form == "schema":
            schema = without(request.schema, self.profile.schema_without)
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        return body, notes

    def _reply(self, message: Any, notes: tuple[str, ...]) -> Reply:  # noqa: ANN401
        if not isinstance(message, self._sdk.types.Message):
            raise TypeError("no message")
        usage = message.usage
        cache_tokens = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
        return Reply(
            text="".join(block.text for block in message.content if block.type == "text"),
            model=message.model,
            usage=Usage(1, usage.input_tokens + cache_tokens, usage.output_tokens),
            finish=_FINISH.get(message.stop_reason or "", message.stop_reason or "stop"),
            notes=notes,
        )
