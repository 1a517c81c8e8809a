"""The HTTP API: routes under /v1, each one call of the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from functools import partial
from inspect import Parameter, Signature, getdoc, signature
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from clew.foundation.forms import json_line
from clew.serve.guard import Metrics
from clew.serve.replies import reply_type
from clew.serve.service import Service
from clew.serve.settings import PROBLEM_MEDIA, problem_of
from clew.serve.work import Gone, Hear, Work

# Server-sent events: what a model says and which steps a method takes, while the answer is made.

STREAM_MEDIA = "text/event-stream"


async def event_stream(
    answer: Callable[[Hear], Awaitable[dict[str, Any]]], request: str
) -> AsyncGenerator[bytes, None]:
    """Yield what is heard while `answer` is awaited, then `answer` or `problem`, the last one."""
    loop, events = asyncio.get_running_loop(), asyncio.Queue[tuple[str, Any] | None]()

    def hear(name: str, data: Any) -> None:  # noqa: ANN401
        loop.call_soon_threadsafe(events.put_nowait, (name, data))

    task = asyncio.ensure_future(answer(hear))
    task.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while True:
            try:
                async with asyncio.timeout(15):  # or somebody on the way hangs up
                    event = await events.get()
            except TimeoutError:
                yield b": waiting\n\n"
                continue
            if event is None:
                break
            yield _encode_event(*event)
        try:
            yield _encode_event("answer", await task)
        except Gone:
            return
        except Exception as error:  # the response has begun: whatever it is, it is sent as an event
            yield _encode_event("problem", problem_of(error).as_json(request))
    finally:
        task.cancel()


def _encode_event(name: str, data: Any) -> bytes:  # noqa: ANN401
    return f"event: {name}\ndata: {json_line(data)}\n\n".encode()


PROBLEM_SCHEMA = "#/components/schemas/Problem"
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": text, "content": {PROBLEM_MEDIA: {"schema": {"$ref": PROBLEM_SCHEMA}}}}
    for status, text in (
        (400, "The request is wrong"),
        (404, "There is no such graph"),
        (429, "Too many requests; Retry-After says when to come again"),
        (503, "It took too long or too much memory"),
        ("default", "Any other problem"),
    )
}


Make = Callable[[], Any]


class Api:
    """The routes; `work` does what takes time in threads."""

    def __init__(self, service: Service, work: Work, metrics: Metrics) -> None:
        self._service, self._work, self._metrics = service, work, metrics
        self.router = APIRouter(prefix="/v1", responses=_PROBLEMS)
        answer, rows = self._answered, self._rows
        add = self._add
        add("/graphs", Service.list_graphs, "The graphs, methods and chat models", id="graphs")
        add("/methods", Service.methods, "The methods, and the settings that each takes")
        add("/{graph}/ask", Service.ask, "Ask a question", post=True, send=answer)
        add("/{graph}/ask", Service.ask_by_address, "Ask a question by an address", send=answer)
        add("/{graph}/batch", Service.batch, "Ask several questions", post=True, send=rows)
        add("/{graph}/verify", Service.verify, "Check a claim", post=True, send=answer)
        add("/{graph}/compare", Service.compare, "Ask several methods", post=True, send=rows)
        add("/{graph}/match", Service.match, "Find a pattern", post=True)
        add("/{graph}/query", Service.query, "Run a read-only query", post=True)
        add("/{graph}/info", Service.info, "What the graph holds")
        add("/{graph}/examples", Service.examples, "Questions that this graph answers")
        add("/{graph}/relations", Service.relations, "Relations, with examples and types")
        finds = "Complete or find the name of an entity"
        add("/{graph}/entities", Service.find_entities, finds, id="entities")
        add("/{graph}/entities/{id:path}", Service.neighbours, "What is around an entity", id="entity")
        add("/{graph}/vocabulary", Service.vocabulary, "What the team of a graph calls things")
        add("/{graph}/types", Service.types, "Types, with counts")
        add("/{graph}/table", Service.table, "Entities as a table", post=True)
        add("/{graph}/facets", Service.facets, "The values of a column, counted", post=True)
        add("/{graph}/paths", Service.paths, "The shortest paths between two entities")

    def _add(
        self,
        path: str,
        made_by: Callable[..., object],
        summary: str,
        *,
        id: str = "",
        post: bool = False,
        send: Callable[[Request, str, Make], Awaitable[Response]] | None = None,
    ) -> None:
        """Add a route that sends what a method of the service gives, and takes what the method takes."""
        sends = send or self._json

        async def handler(request: Request, **given: Any) -> Response:  # noqa: ANN401
            form = given.get("form")
            if form is not None and "id" in type(form).model_fields:
                form.id = form.id or request.state.request_id
            return await sends(request, given.get("graph", ""), partial(made_by, self._service, **given))

        taken = list(signature(made_by, eval_str=True).parameters.values())[1:]
        asked = Parameter("request", Parameter.KEYWORD_ONLY, annotation=Request)
        named = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in taken]
        vars(handler)["__signature__"] = Signature([asked, *named])
        self.router.add_api_route(
            path,
            handler,
            methods=["POST" if post else "GET"],
            summary=summary,
            description=getdoc(made_by),
            operation_id=id or made_by.__name__,
            response_model=reply_type(made_by),
            response_description="The JSON form of docs/json.md",
            responses=_STREAM if sends == self._answered else None,
        )

    async def _rows(self, request: Request, graph: str, make: Make) -> Response:
        """Send several answers, and count each."""

        def counted() -> Mapping[str, Any]:
            reply = make()
            for row in reply["rows"]:
                if row["answer"] is not None:
                    self._metrics.answered(graph, row["answer"])
            return reply

        return await self._json(request, graph, counted)

    async def _json(self, request: Request, graph: str, make: Make) -> Response:
        """Send what is made, in a thread, as long as the client is there."""
        del graph
        gone = asyncio.ensure_future(_disconnected(request))
        try:
            body = await self._work.run(lambda: json_line(make()).encode(), gone=gone)
        finally:
            gone.cancel()
        return Response(body, media_type="application/json")

    async def _answered(self, request: Request, graph: str, make: Make) -> Response:
        """Send an answer or a verdict, or the events of one being made, and count it."""

        def counted() -> dict[str, Any]:
            reply = make()
            outcome = self._metrics.answered(graph, reply)
            request.state.noted = {"graph": graph, "how": reply["method"], "outcome": outcome}
            return reply

        if STREAM_MEDIA not in request.headers.get("accept", ""):
            return await self._json(request, graph, counted)
        events = event_stream(lambda hear: self._work.run(counted, hear=hear), request.state.request_id)
        return StreamingResponse(events, media_type=STREAM_MEDIA)


_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The JSON form of docs/json.md; events where they are asked for",
        "content": {STREAM_MEDIA: {"schema": {"type": "string"}}},
    }
}


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
