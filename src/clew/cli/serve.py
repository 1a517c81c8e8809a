"""`clew serve`: a web page, an HTTP API and MCP over graphs; `clew mcp`: the tools alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew.cli.console import warn
from clew.cli.model import ModelOptions
from clew.cli.opening import RayAddress, SourceOptions, open_source, source_on_nodes
from clew.cli.options import option, with_options
from clew.errors import InputError, UsageError
from clew.opening.environment import keep_machine_code

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from clew.llm.budget import Ledger
    from clew.serve.service import Graphs, Service
    from clew.serve.settings import Access, ServerLimits, ServeSettings
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
LEAST_TOKEN = 16
"""Characters of the shortest token that is taken."""


@dataclass(frozen=True, slots=True)
class AccessOptions:
    """Who may ask the server."""

    token_file: Path | None = option(None, "Tokens, one a line: only who has one may ask.", "FILE")
    allow_host: list[str] | None = option(
        None, "A name by which the server is called; repeat it for more.", "NAME"
    )
    allow_origin: list[str] | None = option(
        None, "A web page that may call the API, as https://example.org.", "ORIGIN"
    )

    def access(self, host: str) -> Access:
        """Read the tokens. Raises UsageError for an open address without any, InputError for the file."""
        from clew.serve.settings import Access

        if self.token_file is None and not _is_loopback(host):
            raise UsageError(
                f"{host} can be reached by others, and nothing says who may ask. Give --token-file FILE with "
                "a token a line, or leave out --host"
            )
        tokens = () if self.token_file is None else _read_tokens(self.token_file)
        return Access(tokens, tuple(self.allow_host or ()), tuple(self.allow_origin or ()))


@dataclass(frozen=True, slots=True)
class ListenOptions:
    """Where the server listens, with how many processes."""

    host: str = option("127.0.0.1", "Address to listen on.", "ADDRESS")
    port: int = option(8765, "Port; 0 is any.", "N", min=0, max=65535)
    workers: int = option(1, "Processes.", "N", min=1, max=64)
    seconds: float = option(60.0, "Time that a request may take.", "S", "--timeout", min=1)
    ray: RayAddress = None


@with_options
def serve(
    sources: Sources,
    llm: ModelSpecs = None,
    *,
    listening: ListenOptions,
    access_options: AccessOptions,
    calling: ModelOptions,
    reading: SourceOptions,
) -> None:
    """Open a page to ask in, an HTTP API under /v1 and MCP under /mcp, all over the same graphs.

    Updates of an index are taken up without a restart. Limits of --llm are for all requests together. With
    --ray the processes are replicas on the nodes of a cluster, which open the sources themselves.
    """
    from clew.llm.providers import wants_telemetry
    from clew.serve.settings import ServerLimits, ServeSettings, shared_counts

    if llm is None:
        calling.refuse()
    settings = ServeSettings(
        listening.host,
        listening.port,
        listening.workers,
        access_options.access(listening.host),
        ServerLimits(seconds=listening.seconds),
        telemetry=wants_telemetry(os.environ),
    )
    if listening.ray is not None:
        _run_on_ray(listening.ray, sources, settings, reading, calling, llm or [])
        return
    spent = {spec: None if listening.workers == 1 else calling.shared_ledger() for spec in llm or ()}
    with shared_counts(listening.workers):
        code = _run(sources, settings, reading, partial(_application, spent=spent, calling=calling))
    raise typer.Exit(code)


def _run_on_ray(
    address: str,
    sources: list[str],
    settings: ServeSettings,
    reading: SourceOptions,
    calling: ModelOptions,
    llm: list[str],
) -> None:
    """Serve on a cluster until the end; what is spent on models is held there, once for all replicas."""
    from clew.llm.ray_shared import RayLedger
    from clew.serve.run import serve_on_ray
    from clew.serve.service import named_sources
    from clew.workers import RayWorkers

    if settings.port == 0:
        raise UsageError("Ray's proxy listens on a port that is given. Give another --port than 0")
    sources_by_name, quiet = named_sources(sources), reading
    placed: list[str] = []
    for name, source in sources_by_name.items():
        node_source, quiet = source_on_nodes(address, source, reading)
        placed.append(f"{name}={node_source}")

    def started(at: str) -> None:
        warn(f"serving {', '.join(sources_by_name)} at {at}, {settings.workers} replicas (Ctrl-C ends it)")

    with RayWorkers(address, keep_machine_code):
        spent = {spec: RayLedger.start("run", calling.shared_limits(), f"clew-{spec}") for spec in llm}
        try:
            serve_on_ray(partial(_replica, placed, settings, quiet, spent, calling), settings, started)
        finally:
            for ledger in spent.values():
                ledger.close()


def _replica(
    sources: list[str],
    settings: ServeSettings,
    reading: SourceOptions,
    spent: Mapping[str, Ledger | None],
    calling: ModelOptions,
) -> ASGIApp:
    """Open the graphs and put the application together, on a node."""
    keep_machine_code()
    return _application(open_graphs(sources, reading, settings.limits), settings, spent, calling)


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
    """Put the application together, in the process that serves it."""
    from clew.serve.app import make_app
    from clew.serve.service import Models

    models = Models({spec: calling.shared_model(spec, run) for spec, run in spent.items()})
    if find_spec("mcp") is None:
        return make_app(graphs, models, settings)
    return make_app(graphs, models, settings, mcp=_mounted)


def _mounted(service: Service, work: Work) -> tuple[ASGIApp, AbstractAsyncContextManager[Any]]:
    """Make the application for /mcp; its imports take as long as all else of a start."""
    from clew.serve.mcp import mounted

    return mounted(service, work)


def open_graphs(sources: list[str], reading: SourceOptions, limits: ServerLimits) -> Graphs:
    """Open each source under its name; raises as `Clew.open`, UsageError for two of one name."""
    from clew.foundation.system import Bounds
    from clew.serve.service import Graphs, ServedGraph, named_sources

    opens = partial(open_source, options=reading, bounds=Bounds(limits.seconds, limits.answers))
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
        if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
            raise InputError(
                f"{path}: token {number} is not one of at least {LEAST_TOKEN} plain characters. Make one "
                "with: python -c 'import secrets; print(secrets.token_urlsafe())'"
            )
    return tokens


# `clew mcp`: graphs as tools of an agent, over stdin and stdout.


@with_options
def mcp(
    sources: Sources,
    llm: ModelSpecs = None,
    seconds: Annotated[
        float, typer.Option("--timeout", metavar="S", min=1, help="Time that a call may take.")
    ] = 60.0,
    *,
    calling: ModelOptions,
    reading: SourceOptions,
) -> None:
    """Serve graphs to an agent by the Model Context Protocol, over stdin and stdout.

    Tools: ask, verify, find_entities, neighbours, schema, match, query; all of them only read.
    """
    from clew.foundation.system import require

    require("mcp", "mcp")
    import anyio

    from clew.serve.mcp import make_server
    from clew.serve.service import Models, Service
    from clew.serve.settings import ServerLimits, write_logs
    from clew.serve.work import Work

    if llm is None:
        calling.refuse()
    limits = ServerLimits(seconds=seconds)
    graphs = open_graphs(sources, reading, limits)
    models = Models({spec: calling.shared_model(spec) for spec in llm or []})
    server = make_server(Service(graphs, models, limits), Work(limits))
    write_logs(quiet=True)
    anyio.run(server.run_stdio_async)
