"""`--ray`: the work of a command on a Ray cluster."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clew.cli.console import warn
from clew.cli.input import STDIN
from clew.errors import UsageError
from clew.opening.environment import keep_machine_code

if TYPE_CHECKING:
    from clew.cli.opening import SourceOptions
    from clew.workers.base import Workers

_IF_NOT_OVER = "import sys; sys.stdin.read() or sys.stderr.write(sys.argv[1])"
RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Work on a Ray cluster: its address, auto (this machine is a node of it), or local.",
    ),
]


def source_on_nodes(ray: str | None, source: str, reading: SourceOptions) -> tuple[str, SourceOptions]:
    """What the nodes of a cluster open for a source, and say nothing of. Raises UsageError for stdin."""
    if ray is None:
        return source, reading
    if source == STDIN:
        raise UsageError("A cluster cannot read stdin. Name an index or a file that all nodes see")
    return source if "://" in source else str(Path(source).resolve()), replace(reading, quiet=True)


@contextmanager
def opened_cluster(
    address: str | None, *, quiet: bool, ahead: Sequence[str] = ()
) -> Generator[Workers | None]:
    """Connect to a cluster, if there is an address; afterwards say what each node did.

    Workers import the modules `ahead` while there are no pieces for them yet.

    Raises MissingExtra without Ray, ClusterError if it cannot be used.
    """
    if address is None:
        yield None
        return
    from clew.workers.on_ray import RayWorkers

    with RayWorkers(address, keep_machine_code, ahead) as workers:
        try:
            with _warn_if_ended(address):
                yield workers
        finally:
            if not quiet:
                for line in workers.work_notes():
                    warn(line)


@contextmanager
def _warn_if_ended(address: str) -> Generator[None]:
    """Have another process say what to do, if this one is ended in mid-work.

    Ray does so where a cluster ends, without a word and so that nothing in the process can say one.
    """
    text = (
        f"error: {address}: the command was ended in mid-work, as by Ray where the cluster has ended. What "
        "was done is kept: give the same command where there is a cluster, and it goes on\n"
    )
    command = [sys.executable, "-I", "-S", "-c", _IF_NOT_OVER, text]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as watcher:  # noqa: S603
        try:
            yield
        finally:
            watcher.communicate(b"over")
