"""A request is a span of OpenTelemetry, and calls of a chat model are its children."""

import httpx
import pytest

from clew.llm.adapter import PydanticModel
from clew.llm.managed import ManagedModel
from clew.llm.providers import OpenedModel
from clew.serve.guard import RequestSpans
from servers.served import Running

pytest.importorskip("pydantic_ai")
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings, instrument_model

sdk = pytest.importorskip("opentelemetry.sdk.trace")
export = pytest.importorskip("opentelemetry.sdk.trace.export")
memories = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")


@pytest.fixture
def traced(films_index, monkeypatch):
    """A server, and the spans that are over."""
    memory, provider = memories.InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("test")
    monkeypatch.setattr(RequestSpans, "open", lambda: RequestSpans(tracer))
    said = FunctionModel(lambda *_: ModelResponse(parts=[TextPart("Answer: Heat")]), model_name="test")
    spans = InstrumentationSettings(tracer_provider=provider, include_content=False)
    adapter = PydanticModel("function/test", lambda: OpenedModel(instrument_model(said, spans), None))
    model = ManagedModel(adapter)
    server = Running({"films": films_index}, models={"m": model}, telemetry=True)
    yield server, memory.get_finished_spans
    server.close()


def test_a_request_is_a_span_by_the_conventions(traced):
    server, spans = traced
    reply = server.client.post("/v1/films/ask", json={"question": "Who directed Memento?", "model": ""})
    server.client.get("/healthz")  # the first is over by then
    span = spans()[0]
    assert (span.name, span.kind.name) == ("POST /v1/{graph}/ask", "SERVER")
    told = dict(span.attributes)
    assert told.pop("clew.request") == reply.headers["x-request-id"]
    assert told == {
        "http.request.method": "POST",
        "url.scheme": "http",
        "http.route": "/v1/{graph}/ask",
        "http.response.status_code": 200,
        "clew.graph": "films",
        "clew.how": "auto",
        "clew.outcome": "answered",
    }


def test_calls_of_a_model_are_children_and_the_request_is_one_of_the_caller(traced):
    server, spans = traced
    trace, caller = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    server.client.post(
        "/v1/films/ask",
        json={"question": "Who made it?", "method": "llm"},
        headers={"traceparent": f"00-{trace}-{caller}-01"},
    )
    server.client.get("/healthz")
    by_name = {span.name: span for span in spans()}
    asked, call = by_name["POST /v1/{graph}/ask"], by_name["chat test"]
    assert (f"{asked.context.trace_id:032x}", f"{asked.parent.span_id:016x}") == (trace, caller)
    assert (call.context.trace_id, call.parent.span_id) == (asked.context.trace_id, asked.context.span_id)


def test_a_failure_is_marked_and_nothing_private_is_told(traced, monkeypatch):
    server, spans = traced
    engine = type(server.graphs["films"].clew)

    def broken(*_args, **_options):
        raise TypeError("a bug in Memento")

    monkeypatch.setattr(engine, "ask", broken)
    server.client.post("/v1/films/ask?secret=1", json={"question": "Who directed Memento?"})
    httpx.get(f"{server.url}/healthz")
    span = spans()[0]
    assert (span.status.status_code.name, span.attributes["http.response.status_code"]) == ("ERROR", 500)
    assert "Memento" not in span.to_json()
    assert "secret" not in span.to_json()
