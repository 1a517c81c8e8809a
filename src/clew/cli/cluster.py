"""`--ray`: the work of a command on a Ray cluster."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clew.cli.console import warn
from clew.cli.standard_input import STDIN
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.cli.opening import SourceOptions
    from clew.workers.base import Workers

RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Work on a Ray cluster: its address, auto (this machine is a node of it), or local.",
    ),
]


def on_every_node(ray: str | None, source: str, reading: SourceOptions) -> tuple[str, SourceOptions]:
    """What the nodes of a cluster open for a source, and say nothing of. Raises UsageError for stdin."""
    if ray is None:
        return source, reading
    if source == STDIN:
        raise UsageError("A cluster cannot read stdin. Name an index or a file that all nodes see")
    return source if "://" in source else str(Path(source).resolve()), replace(reading, quiet=True)


@contextmanager
def opened_cluster(address: str | None, *, quiet: bool) -> Generator[Workers | None]:
    """Connect to a cluster, if there is an address; afterwards say what each node did.

    Raises MissingExtra without Ray, ClusterError if it cannot be used.
    """
    if address is None:
        yield None
        return
    from clew.environment import keep_machine_code
    from clew.workers.on_ray import RayWorkers

    with RayWorkers(address, keep_machine_code) as workers:
        try:
            yield workers
        finally:
            if not quiet:
                for line in workers.work_notes():
                    warn(line)
