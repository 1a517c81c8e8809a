"""The ASGI application: routes, page, signs of life, and what happens at start and end."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from clew.errors import ClewError
from clew.foundation.system import release_memory
from clew.llm.reply import ChatModel
from clew.serve.api import PROBLEM_SCHEMA, Api
from clew.serve.guard import Guard, Metrics, RequestSpans, problem_response
from clew.serve.replies import json_type
from clew.serve.service import Graphs, ServedGraph, Service
from clew.serve.settings import Problem, ProblemForm, ServeSettings, first_fault, problem_of
from clew.serve.work import Gone, Work
from clew.version import __version__

log = logging.getLogger("clew.serve")

GRACE = 20.0
"""Seconds that answers in progress have at the end."""


Mounted = tuple[ASGIApp, AbstractAsyncContextManager[Any]]
"""An application, and what runs it."""


class LateApplication:
    """The application that `make` makes, in a thread, when it is first asked: its imports take long."""

    def __init__(self, make: Callable[[], Mounted]) -> None:
        self._make = make
        self._requested, self._ended = asyncio.Event(), asyncio.Event()
        self._app: asyncio.Future[ASGIApp] | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Let it be asked. What runs it is entered and left by one task, as that wants it."""
        self._app = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._run(self._app))
        try:
            yield
        finally:
            self._ended.set()
            if not self._requested.is_set():
                task.cancel()
            await asyncio.wait([task])

    async def _run(self, app: asyncio.Future[ASGIApp]) -> None:
        await self._requested.wait()
        try:
            application, runs = await asyncio.to_thread(self._make)
            async with runs:
                app.set_result(application)
                await self._ended.wait()
        except Exception as error:  # each request raises it
            if app.done():
                raise
            app.set_exception(error)

    async def application(self) -> ASGIApp:
        """Make it, or wait until it is made; raises as `make`."""
        assert self._app is not None  # noqa: S101 (only a server that runs is asked)
        self._requested.set()
        return await asyncio.shield(self._app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on to what is made; raises as `make`."""
        await (await self.application())(scope, receive, send)


class PageFiles(StaticFiles):
    """Files with an ETag of what is in them.

    Their times say little: installers and images of containers give files of two versions the same one.
    """

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """The file, or 304 without a body where the browser has it."""
        tag = _tag(os.fspath(full_path), stat_result.st_mtime_ns, stat_result.st_size)
        response = FileResponse(full_path, status_code, {"etag": tag, "cache-control": "no-cache"})
        response.set_stat_headers(stat_result)
        if self.is_not_modified(response.headers, Headers(scope=scope)):
            return NotModifiedResponse(response.headers)
        return response


@cache
def _tag(path: str, modified: int, size: int) -> str:
    del modified, size  # a file that changed is read again
    return f'"{sha256(Path(path).read_bytes()).hexdigest()[:32]}"'


class App(FastAPI):
    """FastAPI, whose description has the form of problems, which is of another media type than replies."""

    def openapi(self) -> dict[str, Any]:
        """The description."""
        document = super().openapi()
        schema = TypeAdapter(json_type(ProblemForm)).json_schema()
        document["components"]["schemas"].setdefault(PROBLEM_SCHEMA.rpartition("/")[2], schema)
        return document


def make_app(
    graphs: Graphs,
    models: Mapping[str, ChatModel],
    settings: ServeSettings,
    *,
    mcp: Callable[[Service, Work], Mounted] | None = None,
) -> ASGIApp:
    """Put a server together around graphs that are open."""
    counts, work = Metrics(), Work(settings.limits)
    service = Service(graphs, models, settings.limits)
    agents = None if mcp is None else LateApplication(lambda: mcp(service, work))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            if agents is not None:
                await stack.enter_async_context(agents.running())
            await stack.enter_async_context(_watch_graphs(graphs, work, counts, settings, agents))
            yield
            await work.close(GRACE)
            for graph in graphs:  # a worker's end runs no finalizers
                graph.clew.let_go()

    app = App(
        title="Clew",
        version=__version__,
        description="Questions and claims over a knowledge graph; every answer is proved by its triples.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        lifespan=lifespan,
    )
    app.include_router(Api(service, work, counts).router)
    _add_signs_of_life(app, graphs, counts)
    _add_problems(app, graphs)
    if agents is not None:
        app.router.routes.append(Route("/mcp", agents))
    app.mount("/", PageFiles(directory=str(Path(str(files("clew.serve"))) / "page"), html=True))
    spans = RequestSpans.open() if settings.telemetry else RequestSpans()
    return Guard(app, settings.access, settings.limits, counts, spans)


@asynccontextmanager
async def _watch_graphs(
    graphs: Graphs, work: Work, counts: Metrics, settings: ServeSettings, agents: LateApplication | None
) -> AsyncGenerator[None]:
    """Look for new generations, and at the memory, while the server runs."""

    async def reload() -> None:
        while True:
            await asyncio.sleep(settings.reload_seconds)
            for graph in graphs:
                began = time.monotonic()
                await asyncio.to_thread(graph.check)
                if graph.damage is not None:  # its file was read, and will be again
                    await asyncio.sleep(10 * (time.monotonic() - began))
                if await asyncio.to_thread(graph.reload):
                    counts.reloads.labels(graph.name).inc()
                    await asyncio.sleep(settings.reload_seconds)
                    await asyncio.to_thread(release_memory)

    async def watch() -> None:
        while True:
            await asyncio.sleep(0.25)
            work.watch_memory()
            counts.running.set(work.jobs)

    tasks = [asyncio.create_task(watcher()) for watcher in (reload, watch)]
    if settings.warm:
        tasks.append(asyncio.create_task(_warm(graphs, work, agents)))
    else:
        graphs.warm = True
    for task in tasks:
        task.add_done_callback(_log_failure)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


async def _warm(graphs: Graphs, work: Work, agents: LateApplication | None) -> None:
    """Ask each graph once, and then make what users may want next.

    What is imported late is imported here: work cannot be ended within an import.
    """

    async def try_graph(graph: ServedGraph, begin: Callable[[], object]) -> None:
        try:
            await work.run(begin, endless=True)
        except ClewError as error:
            log.warning("could not be asked", extra={"graph": graph.name, "reason": str(error)})

    for graph in graphs:
        await try_graph(graph, graph.warm)
    graphs.warm = True
    for graph in graphs:
        await try_graph(graph, lambda graph=graph: graph.snapshot.examples)
    if agents is not None:
        await agents.application()


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("background task ended", exc_info=error)


def _add_signs_of_life(app: FastAPI, graphs: Graphs, counts: Metrics) -> None:
    async def healthz() -> PlainTextResponse:
        """The process is there."""
        return PlainTextResponse("ok\n")

    async def readyz() -> PlainTextResponse:
        """All graphs are open, have been asked and are whole; notes say what is not."""
        notes = [f"{graph.name}: {graph.damage or graph.failure or 'ok'}\n" for graph in graphs]
        is_ready = graphs.warm and not any(graph.damage for graph in graphs)
        return PlainTextResponse(graphs.hide_paths("".join(notes)), 200 if is_ready else 503)

    async def metrics() -> Response:
        """Counts for Prometheus."""
        return Response(counts.text(), media_type="text/plain; version=0.0.4")

    for path, handler in (("/healthz", healthz), ("/readyz", readyz), ("/metrics", metrics)):
        app.add_api_route(
            path,
            handler,
            summary=(handler.__doc__ or "").rstrip("."),
            tags=["operation"],
            response_class=PlainTextResponse,
            operation_id=handler.__name__,
        )


def _add_problems(app: FastAPI, graphs: Graphs) -> None:
    async def failed(request: Request, error: Exception) -> Response:
        if isinstance(error, Gone):
            return Response(status_code=499)
        problem = _problem(error)
        id = getattr(request.state, "request_id", None)
        if problem.status >= 500 and problem.kind == "internal":
            log.error("internal error", exc_info=error, extra={"request": id})
        problem.detail = graphs.hide_paths(problem.detail)
        return problem_response(problem, id)

    for kind in (RequestValidationError, HTTPException, Problem, Gone, ClewError, Exception):
        app.add_exception_handler(kind, failed)


def _problem(error: Exception) -> Problem:
    """Turn an error into a problem; the value of a wrong field is not repeated."""
    if isinstance(error, RequestValidationError):
        return Problem(400, "usage", "The request is wrong", f"{first_fault(error.errors())}. See /docs.html")
    if isinstance(error, HTTPException):
        titles = {404: "Not found", 405: "Wrong method"}
        title = titles.get(error.status_code, "The request failed")
        return Problem(error.status_code, "http", title, f"{error.detail}. See /docs.html")
    return problem_of(error)
