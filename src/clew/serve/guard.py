"""What stands before every request: who asks, from where, how much; what is counted and traced of it."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import logging
import os
import time
from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clew.foundation.forms import json_line
from clew.foundation.system import require
from clew.serve.settings import FOLDER, PROBLEM_MEDIA, Access, Problem, ServerLimits

LINGER_BODIES, LINGER_SECONDS = 8, 2.0
"""How many times the longest body is read of one that is refused, and for how long."""

# What a server counts, for Prometheus.

BUCKET_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """Counts of one process, or of all workers where they share a folder."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        counter = partial(Counter, registry=registry)
        timer = partial(Histogram, registry=registry, buckets=BUCKET_SECONDS)
        self.requests = counter("clew_http_requests", "Requests by route and status.", ("route", "status"))
        self.latency = timer("clew_http_request_seconds", "Time of a request.", ("route",))
        self.questions = counter(
            "clew_questions",
            "Questions and claims by graph, method and outcome (answered, why not, a verdict).",
            ("graph", "method", "outcome"),
        )
        self.answering = timer(
            "clew_question_seconds",
            "Time that a method took for a question or a claim.",
            ("graph", "method"),
        )
        self.model_calls = counter("clew_model_calls", "Calls of chat models.", ("graph", "model"))
        self.model_tokens = counter(
            "clew_model_tokens", "Tokens of chat models.", ("graph", "model", "direction")
        )
        self.reloads = counter("clew_reloads", "Generations of an index that were taken up.", ("graph",))
        self.running = Gauge(
            "clew_requests_running",
            "Requests that are worked on or wait.",
            registry=registry,
            multiprocess_mode="livesum",
        )

    def answered(self, graph: str, reply: Mapping[str, Any]) -> str:
        """Count an answer or a verdict in its JSON form; returns its outcome."""
        abstained = reply.get("abstained")
        outcome = reply.get("verdict") or (abstained["reason"] if abstained else "answered")
        method, usage = reply["method"], reply["usage"]
        self.questions.labels(graph, method, outcome).inc()
        self.answering.labels(graph, method).observe(reply["timings_ms"].get("total", 0.0) / 1000)
        if reply["model"] is not None and usage["calls"]:
            self.model_calls.labels(graph, reply["model"]).inc(usage["calls"])
            self.model_tokens.labels(graph, reply["model"], "in").inc(usage["input_tokens"])
            self.model_tokens.labels(graph, reply["model"], "out").inc(usage["output_tokens"])
        return outcome

    def text(self) -> bytes:
        """All counts in the text format of Prometheus, of all workers where there are several."""
        if FOLDER not in os.environ:
            return generate_latest(self._registry)
        shared = CollectorRegistry()
        MultiProcessCollector(shared)  # pyright: ignore[reportUnknownArgumentType]
        return generate_latest(shared)


# An OpenTelemetry span a request (extra `otel`), by the semantic conventions for HTTP servers.
#
# Clew uses the API only, as for calls of chat models, whose spans are children of these: where spans go is up
# to `opentelemetry-instrument`. Questions, answers, tokens and queries of addresses are left out.

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

    @contextlib.contextmanager
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


log = logging.getLogger("clew.serve")

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """An ASGI application around another one: refuses, bounds, times, logs and counts."""

    def __init__(
        self, app: ASGIApp, access: Access, limits: ServerLimits, metrics: Metrics, spans: RequestSpans
    ) -> None:
        self.app, self.limits, self.metrics = app, limits, metrics
        self.access, self._spans = access, spans
        self._tokens = [token.encode() for token in access.tokens]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection's request; everything but HTTP and the start of the server is refused."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            exchange = _Exchange(self, scope, send)
            with self._spans.request(scope["method"], exchange.headers, exchange.id) as ended:
                try:
                    await exchange.handle(receive)
                finally:
                    exchange.note(ended)

    def refusal(self, scope: Scope, headers: Headers) -> Problem | None:
        """Why a request is not let in; None if it is."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_called_right(hosts[0]):
            detail = "The Host header names no address of this server. Start it with --allow-host NAME"
            return Problem(421, "host", "Wrong host", detail)
        if headers.get("transfer-encoding", "chunked").strip().lower() != "chunked":
            detail = "A body is sent as it is, with its length or in chunks"
            return Problem(501, "encoding", "No such encoding", detail)
        origin = headers.get("origin")
        same_origin = origin is None or _place(origin) == hosts[0]
        if not same_origin and origin not in self.access.origins:
            detail = "Pages of another origin may not call this server. Start it with --allow-origin"
            return Problem(403, "origin", "Wrong origin", detail)
        # All but the page itself and the signs of life.
        needs_token = scope["path"].startswith(("/v1/", "/mcp", "/metrics"))
        if self._tokens and needs_token and not self._has_token(headers):
            detail = "A token is needed: Authorization: Bearer TOKEN"
            return Problem(401, "token", "Not authorised", detail, www_authenticate='Bearer realm="clew"')
        return None

    def _is_called_right(self, host: str) -> bool:
        """Whether a Host is an address, localhost or a name that was allowed: none that a stranger sets."""
        try:
            name = (urlsplit(f"//{host}").hostname or "") if "@" not in host else ""
        except ValueError:  # brackets that are no IPv6 address
            return False
        if name == "localhost" or name in self.access.hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def _has_token(self, headers: Headers) -> bool:
        kind, _, credentials = headers.get("authorization", "").partition(" ")
        raw = credentials.strip().encode("utf-8", "replace")
        same = [hmac.compare_digest(raw, token) for token in self._tokens]
        return kind.lower() == "bearer" and any(same)


def _place(origin: str) -> str | None:
    """The host and port of an origin, if it is one."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


class _Exchange:
    """One request and its response."""

    def __init__(self, guard: Guard, scope: Scope, send: Send) -> None:
        self._guard, self._scope, self._send_on = guard, scope, send
        self.id, self._began = uuid4().hex[:16], time.perf_counter()
        self._status = 499  # the client went away before there was a response
        self.headers = Headers(scope=scope)
        scope.setdefault("state", {})["request_id"] = self.id

    async def handle(self, receive: Receive) -> None:
        answer: Response | None = None
        refused = self._guard.refusal(self._scope, self.headers)
        if refused is not None:
            answer = problem_response(refused, self.id)
        elif "access-control-request-method" in self.headers and self._scope["method"] == "OPTIONS":
            answer = Response(status_code=204, headers=_PREFLIGHT)
        else:
            try:
                receive = await self._with_body(receive)
            except Problem as problem:
                answer = problem_response(problem, self.id)
                answer.headers["connection"] = "close"  # what is left of the body is not waited for
        if answer is not None:
            await self._discard(receive)
        await (answer or self._guard.app)(self._scope, receive, self._send)

    async def _with_body(self, receive: Receive) -> Receive:
        """Read the body, which has to come in time and within its limit; then hear of the client's end."""
        most = self._guard.limits.body
        length = self.headers.get("content-length", "0")
        if length.isdigit() and (len(length) > 18 or int(length) > most):
            raise _too_long(most)
        if self._scope["method"] in ("GET", "HEAD") and length == "0":
            return receive
        try:
            async with asyncio.timeout(self._guard.limits.body_seconds):
                body = await _read(receive, most)
        except TimeoutError:
            raise Problem(408, "slow", "Too slow", "The body of the request did not come in time") from None
        pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return pending.pop() if pending else await receive()

        return replay

    async def _discard(self, receive: Receive) -> None:
        """Read on a little while from the body of a request that is answered without it.

        A client that is still sending when its connection is closed may lose the response; one that waits to
        be told to go on sends nothing.
        """
        if "expect" in self.headers:
            return
        left = LINGER_BODIES * self._guard.limits.body
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(LINGER_SECONDS, self._guard.limits.body_seconds)):
                while left > 0:
                    message = await receive()
                    left -= len(message.get("body", b""))
                    if message["type"] == "http.disconnect" or not message.get("more_body", False):
                        return

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["x-request-id"] = self.id
            headers.update(HEADERS)
            headers.setdefault("cache-control", "no-store")
            origin = self.headers.get("origin")
            if origin in self._guard.access.origins:
                headers["access-control-allow-origin"] = origin
                headers["vary"] = "Origin"
        await self._send_on(message)

    def note(self, ended: Ended) -> None:
        """Count, log and trace the request, which is over."""
        seconds = time.perf_counter() - self._began
        route = getattr(self._scope.get("route"), "path", "other")
        self._guard.metrics.requests.labels(route, str(self._status)).inc()
        self._guard.metrics.latency.labels(route).observe(seconds)
        noted: Mapping[str, Any] = self._scope["state"].get("noted", {})
        ended(route, self._status, noted)
        log.info(
            "request",
            extra={
                "request": self.id,
                "method": self._scope["method"],
                "route": route,
                "status": self._status,
                "ms": round(seconds * 1000, 3),
                **noted,
            },
        )


_PREFLIGHT = {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "authorization, content-type",
    "access-control-max-age": "600",
}


def problem_response(problem: Problem, request: str | None) -> Response:
    """Write a problem as a response."""
    body = json_line(problem.as_json(request)).encode()
    return Response(body, status_code=problem.status, headers=problem.headers, media_type=PROBLEM_MEDIA)


async def _read(receive: Receive, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return b""
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _too_long(most)
        if not message.get("more_body", False):
            return b"".join(parts)


def _too_long(most: int) -> Problem:
    return Problem(413, "too-long", "Too long", f"The body of a request has at most {most:,} bytes")
