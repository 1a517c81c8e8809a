from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from clew.errors import MissingExtra
from clew.llm import ask, iterate_sync, run_sync
from clew.llm.errors import KeyRefused
from clew.llm.managed import ManagedModel
from clew.llm.telemetry import Telemetry
from clew.llm.testing import ScriptedModel

REQUEST = ask("hello there", temperature=0.5, max_tokens=9, stop=("#",), seed=4)


def spans_of(script: Any, *, content: bool = False, streamed: bool = False) -> list[Any]:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    export = pytest.importorskip("opentelemetry.sdk.trace.export")
    memory = pytest.importorskip(
        "opentelemetry.sdk.trace.export.in_memory_span_exporter"
    ).InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(memory))
    model = ManagedModel(
        ScriptedModel(script), telemetry=Telemetry(provider.get_tracer("test"), content=content)
    )
    with suppress(KeyRefused):
        list(iterate_sync(model.stream(REQUEST))) if streamed else run_sync(model.complete(REQUEST))
    provider.shutdown()
    return list(memory.get_finished_spans())


@pytest.mark.parametrize("streamed", [False, True])
def test_a_call_is_a_span_by_the_conventions(streamed: bool):
    (span,) = spans_of(["fine"], streamed=streamed)
    assert span.name == "chat test"
    assert span.kind.name == "CLIENT"
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "test",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 9,
        "gen_ai.request.stop_sequences": ("#",),
        "gen_ai.request.seed": 4,
        "gen_ai.output.type": "text",
        "gen_ai.response.model": "scripted/test",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 1,
        "clew.cached": False,
    }


def test_the_names_are_those_of_the_conventions():
    names = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    known = {value for value in vars(names).values() if isinstance(value, str)}
    (span,) = spans_of(["fine"], content=True)
    assert {name for name in span.attributes if name.startswith("gen_ai.")} <= known


def test_content_is_there_only_if_asked_for():
    (without,) = spans_of(["a secret"])
    assert "secret" not in str(without.attributes)
    assert "hello" not in str(without.attributes)
    (span,) = spans_of(["a secret"], content=True)
    sent = json.loads(span.attributes["gen_ai.input.messages"])
    assert sent[0]["parts"] == [{"type": "text", "content": "hello there"}]
    assert json.loads(span.attributes["gen_ai.output.messages"])[0]["parts"][0]["content"] == "a secret"


def test_a_failed_call_is_a_failed_span():
    (span,) = spans_of([KeyRefused("no", 401)])
    assert span.status.status_code.name == "ERROR"
    assert span.attributes["error.type"] == "KeyRefused"


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.trace", None)
    with pytest.raises(MissingExtra, match=r"clew\[otel\]"):
        Telemetry.open()
