"""`clew mcp`: graphs as tools of an agent, over stdin and stdout."""

from __future__ import annotations

from typing import Annotated

import typer

from clew.cli.model import ModelOptions
from clew.cli.opening import SourceOptions
from clew.cli.options import with_options
from clew.cli.serve import ModelSpecs, Sources, open_graphs


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
    from clew.text.embedders.extras import require

    require("mcp", "mcp")
    import anyio

    from clew.serve.logs import write_logs
    from clew.serve.mcp import make_server
    from clew.serve.service import Models, Service
    from clew.serve.settings import ServerLimits
    from clew.serve.work import Work

    if llm is None:
        calling.refuse()
    limits = ServerLimits(seconds=seconds)
    graphs = open_graphs(sources, reading, limits)
    models = Models({spec: calling.shared_model(spec) for spec in llm or []})
    server = make_server(Service(graphs, models, limits), Work(limits))
    write_logs(quiet=True)
    anyio.run(server.run_stdio_async)
