"""`clew serve`: a web page, an HTTP API and MCP over graphs; `clew mcp`: the tools alone."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew.cli.console import warn
from clew.cli.model import ModelOptions
from clew.cli.opening import SourceOptions, open_source
from clew.cli.options import option, with_options
from clew.errors import InputError, UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from clew.engine import Clew
    from clew.llm.budget import Ledger
    from clew.serve.service import Graphs, Service
    from clew.serve.settings import ServerLimits, ServeSettings
    from clew.serve.work import Work


Sources = Annotated[
    list[str], typer.Argument(metavar="SOURCE…", help="Indexes or graph files; NAME=SOURCE names one.")
]
ModelSpecs = Annotated[
    list[str] | None,
    typer.Option(
        "--llm", metavar="PROVIDER/MODEL", help="A chat model that may be asked; repeat it for more."
    ),
]


@with_options
def serve(
    sources: Sources,
    llm: ModelSpecs = None,
    *,
    host: str = option("127.0.0.1", "Address to listen on.", "ADDRESS"),
    port: int = option(8765, "Port; 0 is any.", "N", min=0, max=65535),
    workers: int = option(1, "Processes.", "N", min=1, max=64),
    seconds: float = option(60.0, "Time that a request may take.", "S", "--timeout", min=1),
    token_file: Path | None = option(None, "Tokens, one a line: only who has one may ask.", "FILE"),
    allow_host: list[str] | None = option(
        None, "A name by which the server is called; repeat it for more.", "NAME"
    ),
    allow_origin: list[str] | None = option(
        None, "A web page that may call the API, as https://example.org.", "ORIGIN"
    ),
    calling: ModelOptions,
    reading: SourceOptions,
) -> None:
    """Open a page to ask in, an HTTP API under /v1 and MCP under /mcp, all over the same graphs.

    Updates of an index are taken up without a restart. Limits of --llm are for all requests together.
    """
    from clew.llm.providers import wants_telemetry
    from clew.serve.settings import Access, ServerLimits, ServeSettings, shared_counts

    if llm is None:
        calling.refuse()
    if token_file is None and not _is_loopback(host):
        raise UsageError(
            f"{host} can be reached by others, and nothing says who may ask. Give --token-file FILE with "
            "a token a line, or leave out --host"
        )
    tokens = () if token_file is None else _read_tokens(token_file)
    settings = ServeSettings(
        host,
        port,
        workers,
        Access(tokens, tuple(allow_host or ()), tuple(allow_origin or ())),
        ServerLimits(seconds=seconds),
        telemetry=wants_telemetry(os.environ),
    )
    spent = {spec: calling.shared_ledger() if hasattr(os, "fork") else None for spec in llm or ()}
    for spec in spent:  # what is wrong with one is told at once
        asyncio.run(calling.shared_model(spec).close())
    with shared_counts():
        code = _run(sources, settings, reading, partial(_application, spent=spent, calling=calling))
    raise typer.Exit(code)


def _run(
    sources: list[str],
    settings: ServeSettings,
    reading: SourceOptions,
    make: Callable[[Graphs, ServeSettings], ASGIApp],
) -> int:
    """Listen, open the graphs, and serve what is made of them until the end."""
    from clew.foundation.system import require

    for package in ("fastapi", "uvicorn", "prometheus_client"):
        require(package, "serve")
    from clew.serve.run import address_of, listen
    from clew.serve.run import serve as run
    from clew.serve.settings import write_logs

    with ExitStack() as listening:
        sockets = [listening.enter_context(opened) for opened in listen(settings)]
        graphs = open_graphs(sources, reading, settings.limits)
        write_logs(quiet=reading.quiet)
        if settings.workers > 1:
            graphs.prepare_for_forks()
            if find_spec("mcp") is not None:
                import_module("clew.serve.mcp")  # once, for all workers

        def started() -> None:
            warn(f"serving {', '.join(graphs.names)} at {address_of(sockets[0])} (Ctrl-C ends it)")

        return run(partial(make, graphs, settings), sockets, started)


def _application(
    graphs: Graphs, settings: ServeSettings, spent: Mapping[str, Ledger | None], calling: ModelOptions
) -> ASGIApp:
    """Put the application together, in the process that serves it: of the graphs as they are now."""
    from clew.serve.app import make_app

    def mounted(service: Service, work: Work) -> tuple[ASGIApp, AbstractAsyncContextManager[Any]]:
        from clew.serve.mcp import mounted  # it takes as long as all else of a start

        return mounted(service, work)

    for graph in graphs:
        graph.reload()
    models = {spec: calling.shared_model(spec, run) for spec, run in spent.items()}
    return make_app(graphs, models, settings, mcp=mounted if find_spec("mcp") else None)


def open_graphs(sources: list[str], reading: SourceOptions, limits: ServerLimits) -> Graphs:
    """Open each source under its name; raises as `Clew.open`, UsageError for two of one name."""
    from clew.foundation.system import Bounds
    from clew.serve.service import Graphs, ServedGraph, named_sources

    def opens(source: str) -> Clew:
        clew = open_source(source, reading, bounds=Bounds(limits.seconds, limits.answers))
        clew.hold()
        return clew

    sources_by_name = named_sources(sources)
    return Graphs(ServedGraph.of(name, partial(opens, source)) for name, source in sources_by_name.items())


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _read_tokens(path: Path) -> tuple[str, ...]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: the tokens cannot be read ({error})") from error
    tokens = tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    if not tokens:
        raise InputError(f"{path}: no token in it. Write one a line")
    for number, token in enumerate(tokens, 1):
        if len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token:
            raise InputError(
                f"{path}: token {number} is not one of at least 16 plain characters. Make one "
                "with: python -c 'import secrets; print(secrets.token_urlsafe())'"
            )
    return tokens


@with_options
def mcp(
    sources: Sources,
    llm: ModelSpecs = None,
    *,
    seconds: float = option(60.0, "Time that a call may take.", "S", "--timeout", min=1),
    calling: ModelOptions,
    reading: SourceOptions,
) -> None:
    """Serve graphs to an agent by the Model Context Protocol, over stdin and stdout.

    Tools: ask, verify, find_entities, neighbours, schema, match, query; all of them only read.
    """
    from clew.foundation.system import require

    for package in ("mcp", "fastapi"):
        require(package, "mcp")
    import anyio

    from clew.serve.mcp import make_server
    from clew.serve.service import Service
    from clew.serve.settings import ServerLimits, write_logs
    from clew.serve.work import Work

    if llm is None:
        calling.refuse()
    limits = ServerLimits(seconds=seconds)
    graphs = open_graphs(sources, reading, limits)
    models = {spec: calling.shared_model(spec) for spec in llm or []}
    server = make_server(Service(graphs, models, limits), Work(limits))
    write_logs(quiet=True)
    anyio.run(server.run_stdio_async)
