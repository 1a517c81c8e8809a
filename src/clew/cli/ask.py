"""`clew ask`: one question, or a file of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew.cli.method_options import (
    Examples,
    FewCandidates,
    Frontier,
    Hints,
    Hops,
    K,
    MethodOptions,
    Seed,
    Shots,
    Texts,
)
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
    AskedSource,
    EmbedderSpec,
    Faults,
    Format,
    Json,
    LlmSpec,
    OnError,
    Quiet,
    opened_for_asking,
)
from clew.cli.synaptiqa import (
    METHODS,
    AllowUngrounded,
    Chooser,
    HistoryFile,
    QueryOptions,
    Remember,
    Repairs,
    SchemaTokens,
)
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.types import Answer, Citation

ABSTAINED = 3


def ask(
    source: AskedSource,
    question: Annotated[str | None, typer.Argument(metavar="QUESTION", help="In quotes.")] = None,
    questions: Annotated[
        str | None,
        typer.Option(metavar="FILE.jsonl", help='A line {"id", "question", "entities"?} each; - is stdin.'),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="Answers of --questions; resumable."),
    ] = None,
    entities: Annotated[
        list[str] | None,
        typer.Option("--entities", metavar="NAME", help="An entity of the question; repeat it for more."),
    ] = None,
    method: Annotated[str, typer.Option(metavar="NAME", help="How to answer.")] = "auto",
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
    trace: Trace = None,
    hops: Hops = None,
    k: K = None,
    frontier: Frontier = None,
    seed: Seed = None,
    texts: Texts = None,
    shots: Shots = None,
    candidates: FewCandidates = None,
    examples: Examples = None,
    hints: Hints = False,
    allow_ungrounded: AllowUngrounded = False,
    remember: Remember = False,
    history: HistoryFile = None,
    repairs: Repairs = None,
    schema_tokens: SchemaTokens = None,
    chooser: Chooser = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the steps to the answer.")] = False,
    limit_citations: Annotated[
        int, typer.Option(metavar="N", min=0, help="Citations shown on a terminal; --json has all.")
    ] = 10,
    format: Format = None,
    on_error: Faults = OnError.fail,
    embedder: EmbedderSpec = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Ask a question, and get the answers with the triples that prove them.

    A plain graph file is indexed once into a cache. Exit code 3 means that the graph holds no answer.
    """
    from clew.stores.opening import is_address

    method = "synaptiqa" if method == "auto" and is_address(source) else method
    queries = QueryOptions(allow_ungrounded, remember, history, repairs, schema_tokens, chooser)
    own = queries.settings(method, source, llm, shots)
    examples_shown = None if method in METHODS else shots
    chosen = MethodOptions(
        hops, k, frontier, seed, tuple(texts or ()), examples_shown, candidates, examples, hints
    )
    settings = chosen.settings(method) or own
    start = partial(
        opened_for_asking, source, embedder, format=format, on_error=on_error, quiet=quiet,
        rank_triples=chosen.rank_triples((method,)),
    )  # fmt: skip
    calling = ModelOptions(
        cache, replay, max_calls, max_tokens, max_cost, prices, trace, run_calls, run_tokens, run_cost
    )
    if questions is not None:
        if question is not None or entities:
            raise UsageError("--questions has its own entities. Leave out QUESTION and --entities")
        from clew.cli.questions import ask_all

        with opened_model(llm, calling) as model:
            ask_all(
                start,
                questions,
                out,
                method=method,
                explain=explain,
                quiet=quiet,
                model=model,
                settings=settings,
                keep=partial(queries.keep, source, quiet=True),
            )
        return
    from clew.cli.console import write_json
    from clew.cli.progress import explained_wait
    from clew.engine import clean_question

    if question is None:
        raise UsageError(f'No question given. Write: clew ask {source} "…", or --questions FILE.jsonl')
    if out is not None:
        raise UsageError("--out is for --questions. Leave it out, or redirect: … --json > FILE")
    clean_question(question)  # before a long indexing, not after it
    with (
        opened_model(llm, calling) as model,
        start() as clew,
        explained_wait(FIRST_TIME, quiet=quiet),
    ):
        answer = clew.ask(question, entities=entities or (), method=method, model=model, settings=settings)
        cited = answer.citations[:limit_citations]
        labels = clew.labels(triple for citation in cited for triple in citation.triple_ids)
    queries.keep(source, answer, quiet=quiet)
    if json:
        write_json(answer_json(answer, explain=explain))
    else:
        _print(answer, cited, labels, explain=explain)
    if answer.abstained is not None:
        raise typer.Exit(ABSTAINED)


def _print(answer: Answer, cited: Sequence[Citation], labels: Mapping[str, str], *, explain: bool) -> None:
    from clew.cli.answer_view import print_answer
    from clew.cli.console import out

    print_answer(out(), answer, cited, labels)
    if answer.chain is not None:
        from clew.cli.chain_view import print_chain

        print_chain(out(), answer.chain, whole=explain)
    if explain:
        from clew.cli.explain import print_steps

        print_steps(out(), answer.steps)


def answer_json(answer: Answer, *, explain: bool) -> dict[str, Any]:
    """Make the JSON of an answer, with `steps` if they are asked for."""
    if not explain:
        return answer.as_json()
    from clew.cli.explain import steps_json

    return answer.as_json() | {"steps": steps_json(answer.steps)}
