"""`clew verify`: one claim, or a file of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clew.bounds import SECONDS
from clew.cli.batch import AskedWith, BatchRun, refuse_many
from clew.cli.cluster import RayAddress, on_every_node, opened_cluster
from clew.cli.method_options import ClaimOptions, verifiers
from clew.cli.model import ManyOptions, Stream, opened_model
from clew.cli.opening import (
    Json,
    LlmSpec,
    Seconds,
    SourceArgument,
    SourceOptions,
    bounds_of,
    opened,
    waiting,
)
from clew.cli.options import with_short_help
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.types import Verification

NOT_ENOUGH = 3
LIMIT = 5
"""Triples of a part that are shown on a terminal."""


@with_short_help(
    first=("quiet",),
    rest={
        "stream": "Options of the chat model",
        "limit_triples": "Other options",
        "seconds": "Other options",
        "ray": "Other options",
    },
)
def verify(
    source: SourceArgument,
    claim: Annotated[str | None, typer.Argument(metavar="CLAIM", help="In quotes.")] = None,
    claims: Annotated[
        str | None,
        typer.Option(metavar="FILE.jsonl", help='A line {"id", "claim"} each; - is stdin.'),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="Verdicts on --claims; resumable."),
    ] = None,
    closed_world: Annotated[
        bool, typer.Option("--closed-world", help="What the graph does not record is not so.")
    ] = False,
    method: Annotated[
        str, typer.Option(metavar="NAME", help="How to verify.", autocompletion=verifiers)
    ] = "auto",
    llm: LlmSpec = None,
    *,
    calling: ManyOptions,
    stream: Stream = None,
    options: ClaimOptions,
    explain: Annotated[bool, typer.Option("--explain", help="Show the steps to the verdict.")] = False,
    limit_triples: Annotated[
        int, typer.Option(metavar="N", min=0, help="Triples shown for a part on a terminal; --json has all.")
    ] = LIMIT,
    seconds: Seconds = SECONDS,
    ray: RayAddress = None,
    reading: SourceOptions,
    json: Json = False,
) -> None:
    """Check a claim: supported, refuted, or not enough information, with the triples that show it.

    Exit code 0 is a verdict either way; 3 means that the graph does not hold enough.
    """
    from clew.cli.console import write_json
    from clew.cli.progress import explained_wait
    from clew.cli.replies import heard_replies
    from clew.text.clean import clean_question

    settings = options.settings(method)
    bounds = bounds_of(seconds)
    if claims is not None:
        if claim is not None:
            raise UsageError("--claims has its own claims. Leave out CLAIM")
        if stream:
            raise UsageError("--stream is for a single claim. Leave it out; --trace FILE has all replies")
        from clew.cli.claims import CLAIMS, verify_all

        with (
            opened_cluster(ray, quiet=reading.quiet) as cluster,
            opened_model(llm, calling, everywhere=cluster is not None) as model,
        ):
            start = partial(opened, *on_every_node(ray, source, reading), bounds=bounds)
            at_once = calling.at_once if model is not None else 1
            batch = BatchRun(CLAIMS, method, out, reading.quiet, explain, model, at_once, cluster)
            asked = AskedWith(start, method, model, settings, claims=True)
            verify_all(batch, asked, claims, closed_world=closed_world)
        return
    if claim is None:
        raise UsageError(f'No claim given. Write: clew verify {source} "…", or --claims FILE.jsonl')
    refuse_many({"--ray": ray, "--concurrency": calling.concurrency, "--out": out}, "--claims")
    clean_question(claim, "claim")  # before a long indexing, not after it
    with (
        heard_replies(stream, llm, quiet=reading.quiet) as listener,
        opened_model(llm, calling, listener) as model,
        opened(source, reading, bounds=bounds) as clew,
        explained_wait(waiting(model), quiet=reading.quiet or bool(stream)),
    ):
        result = clew.verify(claim, closed_world=closed_world, method=method, model=model, settings=settings)
        labels = clew.labels(triple for part in result.parts for triple in part.triple_ids)
    if json:
        write_json(result.as_json(steps=explain))
    else:
        print_verdict(result, labels, limit_triples, explain=explain)
    if result.verdict == "not_enough_info":
        raise typer.Exit(NOT_ENOUGH)


def print_verdict(
    result: Verification, labels: Mapping[str, str], limit: int = LIMIT, *, explain: bool = False
) -> None:
    """Print a verdict with at most `limit` triples for each part of the claim."""
    from clew.cli.console import out
    from clew.cli.verification_view import print_verification

    print_verification(out(), result, labels, limit)
    if explain:
        from clew.cli.explain import print_steps

        print_steps(out(), result.steps)
