"""`clew verify`: one claim, or a file of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clew.cli.batch import BatchRun, Claims, read_items, refuse_batch_options
from clew.cli.console import write_json
from clew.cli.model import AskedModelOptions
from clew.cli.opening import (
    Json,
    RayAddress,
    Seconds,
    SourceArgument,
    SourceOptions,
    bounds_of,
    open_source,
    source_on_nodes,
)
from clew.cli.options import ClaimOptions, option, verifiers, with_short_help
from clew.errors import UsageError
from clew.foundation.bounds import ANSWER_SECONDS
from clew.text.normalise import clean_question

if TYPE_CHECKING:
    from clew.types import Verification

NOT_ENOUGH = 3


@dataclass(frozen=True, slots=True)
class ClaimSource:
    """Which claim is verified, or which file of them, in which world."""

    claim: Annotated[str | None, typer.Argument(metavar="CLAIM", help="In quotes.")] = None
    claims: str | None = option(None, 'A line {"id", "claim"} each; - is stdin.', "FILE.jsonl")
    out: Path | None = option(None, "Verdicts on --claims; resumable.", "FILE.jsonl")
    closed_world: bool = option(False, "What the graph does not record is not so.")


@dataclass(frozen=True, slots=True)
class VerdictOptions:
    """What of a verdict is written, and how."""

    explain: bool = option(False, "Show the steps to the verdict.")
    limit_triples: int = option(5, "Triples shown for a part on a terminal; --json has all.", "N", min=0)
    json: Json = False

    def write(self, result: Verification) -> None:
        """Write a verdict to stdout."""
        if self.json:
            write_json(result.as_json(steps=self.explain))
        else:
            from clew.cli.answer_view import print_verdict

            print_verdict(result, self.limit_triples, explain=self.explain)


@with_short_help(
    first=("quiet", "claims", "out", "closed_world", "llm", "explain", "json"),
    other_titles={"seconds": "Other options", "ray": "Other options"},
)
def verify(
    source: SourceArgument,
    *,
    claim_source: ClaimSource,
    method: Annotated[
        str, typer.Option(metavar="NAME", help="How to verify.", autocompletion=verifiers)
    ] = "auto",
    calling: AskedModelOptions,
    options: ClaimOptions,
    verdict_options: VerdictOptions,
    seconds: Seconds = ANSWER_SECONDS,
    ray: RayAddress = None,
    reading: SourceOptions,
) -> None:
    """Check a claim: supported, refuted, or not enough information, with the triples that show it.

    Exit code 0 is a verdict either way; 3 means that the graph does not hold enough.
    """
    claim, quiet, settings = claim_source.claim, reading.quiet, options.settings(method)
    start = partial(open_source, *source_on_nodes(ray, source, reading), bounds=bounds_of(seconds))
    if claim_source.claims is not None:
        if claim is not None:
            raise UsageError("--claims has its own claims. Leave out CLAIM")
        if calling.stream:
            raise UsageError("--stream is for a single claim. Leave it out; --trace FILE has all replies")
        with calling.open_for_many(ray, quiet=quiet) as (model, at_once, cluster):
            claims = Claims(start, method, model, settings, claim_source.closed_world)
            batch = BatchRun(
                claims, method, claim_source.out, quiet, verdict_options.explain, at_once, cluster
            )
            batch.run(claim_source.claims, read_items(claim_source.claims, Claims))
        return
    if claim is None:
        raise UsageError(f'No claim given. Write: clew verify {source} "…", or --claims FILE.jsonl')
    refuse_batch_options(
        {"--ray": ray, "--concurrency": calling.concurrency, "--out": claim_source.out}, "--claims"
    )
    clean_question(claim, "claim")  # before a long indexing, not after it
    with calling.open_for_one(start, quiet=quiet) as (clew, model):
        world = claim_source.closed_world
        result = clew.verify(claim, closed_world=world, method=method, model=model, settings=settings)
    verdict_options.write(result)
    if result.verdict == "not_enough_info":
        raise typer.Exit(NOT_ENOUGH)
