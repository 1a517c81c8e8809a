"""An OpenTelemetry span a request (extra `otel`), by the semantic conventions for HTTP servers.

Clew uses the API only, as for calls of chat models, whose spans are children of these: where spans go is up
to `opentelemetry-instrument`. Questions, answers, tokens and queries of addresses are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from clew.text.embedders.extras import require

Ended = Callable[[str, int, Mapping[str, Any]], None]
"""Told the route, the status and what was noted of a request when it is over."""


class RequestSpans:
    """Makes spans; `tracer` is None for none."""

    def __init__(self, tracer: Any = None) -> None:  # noqa: ANN401
        self._tracer = tracer

    @classmethod
    def open(cls) -> RequestSpans:
        """Use the tracer provider that the application has set; raises MissingExtra without the API."""
        return cls(require("opentelemetry.trace", "otel").get_tracer("clew"))

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str], id: str) -> Generator[Ended]:
        """Make the span of a request, a child of the caller's where its headers name one.

        It is current while the request is worked on. One that fails on the server's side is marked so.
        """
        if self._tracer is None:
            yield lambda _route, _status, _noted: None
            return
        api, context = require("opentelemetry.trace", "otel"), require("opentelemetry.propagate", "otel")
        with self._tracer.start_as_current_span(
            method,
            context=context.extract(dict(headers)),
            kind=api.SpanKind.SERVER,
            record_exception=False,  # its words may be those of a question
            set_status_on_exception=False,
            attributes={"http.request.method": method, "url.scheme": "http", "clew.request": id},
        ) as span:

            def ended(route: str, status: int, noted: Mapping[str, Any]) -> None:
                span.update_name(f"{method} {route}")
                attributes = {"http.route": route, "http.response.status_code": status}
                span.set_attributes(attributes | {f"clew.{name}": value for name, value in noted.items()})
                if status >= 500:
                    span.set_attribute("error.type", str(status))
                    span.set_status(api.StatusCode.ERROR)

            yield ended
