"""The HTTP API: routes under /v1, each one call of the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response, StreamingResponse

from clew.foundation.forms import json_line
from clew.serve.forms import (
    AskForm,
    BatchForm,
    CompareForm,
    FacetsForm,
    MatchForm,
    NameText,
    QueryForm,
    RowsForm,
    TableForm,
    Text,
    VerifyForm,
)
from clew.serve.guard import Metrics
from clew.serve.service import Asking, Service
from clew.serve.settings import PROBLEM_MEDIA, problem_of
from clew.serve.work import Gone, Hear, Work

# Server-sent events: what a model says and which steps a method takes, while the answer is made.

STREAM_MEDIA = "text/event-stream"
KEEP_ALIVE = 15.0
"""Seconds without an event after which a comment is sent, so that nobody on the way hangs up."""


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
                async with asyncio.timeout(KEEP_ALIVE):
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


GraphName = Annotated[str, Path(description="Name of a graph; GET /v1/graphs lists them.")]
Page = Annotated[int, Query(ge=1, le=1000)]
Offset = Annotated[int, Query(ge=0)]

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": text, "content": {PROBLEM_MEDIA: {}}}
    for status, text in (
        (400, "The request is wrong"),
        (404, "There is no such graph"),
        (429, "Too many requests; Retry-After says when to come again"),
        (503, "It took too long or too much memory"),
    )
}


class Api:
    """The routes; `work` does what takes time in threads."""

    def __init__(self, service: Service, work: Work, metrics: Metrics) -> None:
        self._service, self._work, self._metrics = service, work, metrics
        self.router = APIRouter(prefix="/v1", responses=_PROBLEMS)
        add = self.router.add_api_route
        add("/graphs", self.graphs, summary="The graphs, methods and chat models")
        add("/methods", self.methods, summary="The methods, and the settings that each takes")
        add("/{graph}/ask", self.ask, methods=["POST"], summary="Ask a question", responses=_STREAM)
        add("/{graph}/ask", self.ask_by_address, summary="Ask a question by an address")
        add("/{graph}/batch", self.batch, methods=["POST"], summary="Ask several questions")
        add("/{graph}/verify", self.verify, methods=["POST"], summary="Check a claim", responses=_STREAM)
        add("/{graph}/compare", self.compare, methods=["POST"], summary="Ask several methods")
        add("/{graph}/match", self.match, methods=["POST"], summary="Find a pattern")
        add("/{graph}/query", self.query, methods=["POST"], summary="Run a read-only query")
        add("/{graph}/info", self.info, summary="What the graph holds")
        add("/{graph}/examples", self.examples, summary="Questions that this graph answers")
        add("/{graph}/relations", self.relations, summary="Relations, with examples and types")
        add("/{graph}/entities", self.entities, summary="Complete or find the name of an entity")
        add("/{graph}/entities/{id:path}", self.entity, summary="What is around an entity")
        add("/{graph}/vocabulary", self.vocabulary, summary="What the team of a graph calls things")
        add("/{graph}/types", self.types, summary="Types, with counts")
        add("/{graph}/table", self.table, methods=["POST"], summary="Entities as a table")
        add("/{graph}/facets", self.facets, methods=["POST"], summary="The values of a column, counted")
        add("/{graph}/paths", self.paths, summary="The shortest paths between two entities")

    async def graphs(self, request: Request) -> Response:
        """List the graphs with their counts, the methods, and the chat models."""
        return await self._json(request, self._service.list_graphs)

    async def methods(self, request: Request) -> Response:
        """List the methods with their settings: type, range, choices and default of each."""
        return await self._json(request, self._service.list_methods)

    async def ask(self, request: Request, graph: GraphName, form: AskForm) -> Response:
        """Answer a question, or abstain with a reason; both are 200.

        With `Accept: text/event-stream` come events: `reply` (pieces of what a chat model says), `step`
        (steps of the method, when they are taken), and last `answer` or `problem`.
        """
        fields = form.model_dump(exclude={"id"})
        asking = Asking(id=form.id or request.state.request_id, **fields)
        return await self._answered(request, graph, lambda: self._service.ask(graph, asking))

    async def ask_by_address(
        self,
        request: Request,
        graph: GraphName,
        question: Annotated[Text, Query(alias="q", examples=["Who directed Memento?"])],
        method: Annotated[NameText, Query()] = "auto",
    ) -> Response:
        """Answer a question as POST does, without a chat model: `/v1/films/ask?q=Who+directed+Memento?`."""
        asking = Asking(question, method=method, model="", id=request.state.request_id)
        return await self._answered(request, graph, lambda: self._service.ask(graph, asking))

    async def batch(self, request: Request, graph: GraphName, form: BatchForm) -> Response:
        """Answer questions in turn, in the time of one request; one that fails has its error in its row."""
        asking = Asking("", method=form.method, model=form.model, settings=form.settings)
        return await self._rows(request, graph, lambda: self._service.ask_all(graph, form.questions, asking))

    async def verify(self, request: Request, graph: GraphName, form: VerifyForm) -> Response:
        """Say whether the graph supports a claim, refutes it, or does not hold enough, part by part."""
        fields = form.model_dump(exclude={"claim", "closed_world", "id"})
        asking = Asking(form.claim, id=form.id or request.state.request_id, **fields)
        verify = partial(self._service.verify, graph, asking, closed_world=form.closed_world)
        return await self._answered(request, graph, verify)

    async def compare(self, request: Request, graph: GraphName, form: CompareForm) -> Response:
        """Ask several methods the same question; one that fails has its error in its row."""
        settings = {name: values or {} for name, values in form.settings.items()}
        fields = form.model_dump(include={"question", "methods", "entities", "model"})
        return await self._rows(
            request, graph, lambda: self._service.compare(graph, **fields, settings=settings)
        )

    async def match(self, request: Request, graph: GraphName, form: MatchForm) -> Response:
        """Find the matches of a pattern, in order of graph semantic distance."""
        id = form.id or request.state.request_id
        return await self._json(
            request, lambda: self._service.match(graph, form.pattern(), k=form.k, all=form.all, id=id)
        )

    async def query(self, request: Request, graph: GraphName, form: QueryForm) -> Response:
        """Run a reading query of Cypher or SPARQL; whatever else it may do is refused."""
        return await self._json(request, lambda: self._service.query(graph, form.query, rows=form.rows))

    async def info(self, request: Request, graph: GraphName) -> Response:
        """Counts, relations with examples, types, sources and updates."""
        return await self._json(request, lambda: self._service.info(graph))

    async def examples(self, request: Request, graph: GraphName) -> Response:
        """Questions made from this graph, each of which it answers."""
        return await self._json(request, lambda: self._service.examples(graph))

    async def relations(
        self, request: Request, graph: GraphName, limit: Page = 500, offset: Offset = 0
    ) -> Response:
        """The most frequent relations first, with the declared types of the graph."""
        return await self._json(request, lambda: self._service.relations(graph, limit=limit, offset=offset))

    async def entities(
        self,
        request: Request,
        graph: GraphName,
        prefix: Annotated[str, Query(max_length=200, examples=["chris"])],
        limit: Page = 10,
    ) -> Response:
        """Entities that a text names, begins or misspells, the best first."""
        return await self._json(request, lambda: self._service.find_entities(graph, prefix, limit=limit))

    async def entity(
        self,
        request: Request,
        graph: GraphName,
        id: Annotated[str, Path(max_length=2_000, examples=["Christopher Nolan"])],
        relation: Annotated[NameText | None, Query()] = None,
        direction: Annotated[Literal["out", "in"] | None, Query()] = None,
        limit: Page = 20,
        offset: Offset = 0,
    ) -> Response:
        """What is around an entity: for each relation and direction a count and one page of nodes."""
        return await self._json(
            request,
            lambda: self._service.neighbours(
                graph, id, relation=relation, direction=direction, offset=offset, limit=limit
            ),
        )

    async def vocabulary(self, request: Request, graph: GraphName) -> Response:
        """Labels, words and units of relations and types, and terms with their query graphs."""
        return await self._json(request, lambda: self._service.vocabulary(graph))

    async def types(self, request: Request, graph: GraphName) -> Response:
        """The types of a graph with their counts; of one without, the ends of its relations."""
        return await self._json(request, lambda: self._service.types(graph))

    async def table(self, request: Request, graph: GraphName, form: TableForm) -> Response:
        """A page of entities with columns, sorted and filtered; `available` describes all columns."""
        page = form.model_dump(include={"columns", "sort", "descending", "offset", "limit"})
        return await self._json(request, lambda: self._service.table(graph, _rows_of(form), page))

    async def facets(self, request: Request, graph: GraphName, form: FacetsForm) -> Response:
        """The values of a column with how many rows have each; of numbers a histogram too."""
        return await self._json(request, lambda: self._service.facets(graph, _rows_of(form), form.column))

    async def paths(
        self,
        request: Request,
        graph: GraphName,
        start: Annotated[NameText, Query(alias="from", examples=["Memento"])],
        end: Annotated[NameText, Query(alias="to", examples=["Inception"])],
        limit: Annotated[int, Query(ge=1, le=50)] = 5,
        longest: Annotated[int, Query(ge=1, le=6)] = 4,
    ) -> Response:
        """The shortest paths between two entities, along edges in both directions."""
        return await self._json(
            request, lambda: self._service.paths(graph, start, end, limit=limit, longest=longest)
        )

    async def _rows(self, request: Request, graph: str, make: Callable[[], dict[str, Any]]) -> Response:
        """Send several answers, and count each."""

        def counted() -> dict[str, Any]:
            reply = make()
            for row in reply["rows"]:
                if row["answer"] is not None:
                    self._metrics.answered(graph, row["answer"])
            return reply

        return await self._json(request, counted)

    async def _json(self, request: Request, make: Callable[[], dict[str, Any]]) -> Response:
        """Send what is made, in a thread, as long as the client is there."""
        gone = asyncio.ensure_future(_disconnected(request))
        try:
            body = await self._work.run(lambda: json_line(make()).encode(), gone=gone)
        finally:
            gone.cancel()
        return Response(body, media_type="application/json")

    async def _answered(self, request: Request, graph: str, make: Callable[[], dict[str, Any]]) -> Response:
        """Send an answer or a verdict, or the events of one being made, and count it."""

        def counted() -> dict[str, Any]:
            reply = make()
            outcome = self._metrics.answered(graph, reply)
            request.state.noted = {"graph": graph, "how": reply["method"], "outcome": outcome}
            return reply

        if STREAM_MEDIA not in request.headers.get("accept", ""):
            return await self._json(request, counted)
        events = event_stream(lambda hear: self._work.run(counted, hear=hear), request.state.request_id)
        return StreamingResponse(events, media_type=STREAM_MEDIA)


def _rows_of(form: RowsForm) -> dict[str, Any]:
    """Which entities are meant, with filters in their JSON form."""
    return form.model_dump(include={"type", "query", "entities", "filters"}, by_alias=True)


_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The JSON form of docs/json.md; events where they are asked for",
        "content": {"application/json": {}, STREAM_MEDIA: {}},
    }
}


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
