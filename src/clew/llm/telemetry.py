"""OpenTelemetry spans of calls (extra `otel`), by the semantic conventions for generative AI (`gen_ai.*`).

Clew uses the API only: where spans go is up to the application or `opentelemetry-instrument`. Prompts and
replies are left out unless `content` is set.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any

from clew.llm.types import Reply, Request
from clew.text.embedders.extras import require


class Telemetry:
    """Makes spans; `tracer` is None for none."""

    def __init__(self, tracer: Any = None, *, content: bool = False) -> None:  # noqa: ANN401
        self._tracer, self._content = tracer, content

    @classmethod
    def open(cls, *, content: bool = False) -> Telemetry:
        """Use the tracer provider that the application has set.

        Raises MissingExtra: opentelemetry-api is not installed.
        """
        return cls(require("opentelemetry.trace", "otel").get_tracer("clew"), content=content)

    @contextmanager
    def call(self, request: Request, provider: str) -> Generator[Callable[[Reply], None]]:
        """Make the span of a call; yields what takes its reply. An exception marks it as failed and goes on.

        The span is not made current: a streamed reply may end in another context than it began in.
        """
        if self._tracer is None:
            yield lambda reply: None
            return
        api = require("opentelemetry.trace", "otel")
        model = request.model.partition("/")[2]
        span = self._tracer.start_span(
            f"chat {model}", kind=api.SpanKind.CLIENT, attributes=self._attributes(request, provider, model)
        )
        try:
            yield partial(self._replied, span)
        except BaseException as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(api.StatusCode.ERROR)
            raise
        finally:
            span.end()

    def _attributes(self, request: Request, provider: str, model: str) -> dict[str, Any]:
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": model,
            "gen_ai.request.temperature": request.temperature,
            "gen_ai.request.top_p": request.top_p,
            "gen_ai.request.max_tokens": request.max_tokens,
            "gen_ai.request.stop_sequences": list(request.stop) or None,
            "gen_ai.request.seed": request.seed,
            "gen_ai.output.type": "text" if request.form == "text" else "json",
        }
        if self._content:
            attributes["gen_ai.input.messages"] = json.dumps(
                [{"role": m.role, "parts": [{"type": "text", "content": m.text}]} for m in request.messages]
            )
        return {name: value for name, value in attributes.items() if value is not None}

    def _replied(self, span: Any, reply: Reply) -> None:  # noqa: ANN401
        """Add the reply's attributes."""
        attributes: dict[str, Any] = {
            "gen_ai.response.model": reply.model,
            "gen_ai.response.finish_reasons": [reply.finish],
            "gen_ai.usage.input_tokens": reply.usage.input_tokens,
            "gen_ai.usage.output_tokens": reply.usage.output_tokens,
            "clew.cached": reply.cached,
        }
        if self._content:
            message = {"role": "assistant", "parts": [{"type": "text", "content": reply.text}]}
            attributes["gen_ai.output.messages"] = json.dumps([{**message, "finish_reason": reply.finish}])
        span.set_attributes(attributes)
