"""What a server counts, for Prometheus."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from clew.serve.shared_counts import FOLDER

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
