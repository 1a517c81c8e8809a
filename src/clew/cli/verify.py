"""`clew verify`: one claim, or a file of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew.cli.method_options import Examples, FewCandidates, Hints, MethodOptions, Shots, Subgraphs
from clew.cli.model import (
    Cache,
    MaxCalls,
    MaxCost,
    MaxTokens,
    ModelOptions,
    PricesFile,
    Replay,
    RunCalls,
    RunCost,
    RunTokens,
    Trace,
    opened_model,
)
from clew.cli.opening import (
    FIRST_TIME,
    EmbedderSpec,
    Faults,
    Format,
    Json,
    LlmSpec,
    OnError,
    Quiet,
    Source,
    opened,
)
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.types import Verification

NOT_ENOUGH = 3


def verify(
    source: Source,
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
    method: Annotated[str, typer.Option(metavar="NAME", help="How to verify.")] = "auto",
    llm: LlmSpec = None,
    cache: Cache = None,
    replay: Replay = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    run_calls: RunCalls = None,
    run_tokens: RunTokens = None,
    run_cost: RunCost = None,
    prices: PricesFile = None,
    shots: Shots = None,
    k: Subgraphs = None,
    candidates: FewCandidates = None,
    examples: Examples = None,
    hints: Hints = False,
    trace: Trace = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the steps to the verdict.")] = False,
    limit_triples: Annotated[
        int, typer.Option(metavar="N", min=0, help="Triples shown for a part on a terminal; --json has all.")
    ] = 5,
    embedder: EmbedderSpec = None,
    format: Format = None,
    on_error: Faults = OnError.fail,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a claim: supported, refuted, or not enough information, with the triples that show it.

    Exit code 0 is a verdict either way; 3 means that the graph does not hold enough.
    """
    options = MethodOptions(k=k, shots=shots, candidates=candidates, examples=examples, hints=hints)
    settings = options.settings(method)
    calling = ModelOptions(
        cache, replay, max_calls, max_tokens, max_cost, prices, trace, run_calls, run_tokens, run_cost
    )
    if claims is not None:
        if claim is not None:
            raise UsageError("--claims has its own claims. Leave out CLAIM")
        from clew.cli.claims import verify_all

        start = partial(opened, source, embedder, format=format, on_error=on_error, quiet=quiet)
        with opened_model(llm, calling) as model:
            verify_all(
                start,
                claims,
                out,
                method=method,
                closed_world=closed_world,
                explain=explain,
                quiet=quiet,
                model=model,
                settings=settings,
            )
        return
    from clew.cli.console import write_json
    from clew.cli.progress import explained_wait
    from clew.engine import clean_question

    if claim is None:
        raise UsageError(f'No claim given. Write: clew verify {source} "…", or --claims FILE.jsonl')
    if out is not None:
        raise UsageError("--out is for --claims. Leave it out, or redirect: … --json > FILE")
    clean_question(claim, "claim")  # before a long indexing, not after it
    with (
        opened_model(llm, calling) as model,
        opened(source, embedder, format=format, on_error=on_error, quiet=quiet) as clew,
        explained_wait(FIRST_TIME, quiet=quiet),
    ):
        result = clew.verify(claim, closed_world=closed_world, method=method, model=model, settings=settings)
        labels = clew.labels(triple for part in result.parts for triple in part.triple_ids)
    if json:
        write_json(verification_json(result, explain=explain))
    else:
        _print(result, labels, limit_triples, explain=explain)
    if result.verdict == "not_enough_info":
        raise typer.Exit(NOT_ENOUGH)


def _print(result: Verification, labels: Mapping[str, str], limit: int, *, explain: bool) -> None:
    from clew.cli.console import out
    from clew.cli.verification_view import print_verification

    print_verification(out(), result, labels, limit)
    if explain:
        from clew.cli.explain import print_steps

        print_steps(out(), result.steps)


def verification_json(result: Verification, *, explain: bool) -> dict[str, Any]:
    """Make the JSON of a verdict, with `steps` if they are asked for."""
    if not explain:
        return result.as_json()
    from clew.cli.explain import steps_json

    return result.as_json() | {"steps": steps_json(result.steps)}
