"""`clew ask`: one question, or a file of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clew.bounds import ANSWERS, SECONDS
from clew.cli.batch import AskedWith, BatchRun, refuse_many
from clew.cli.cluster import RayAddress, on_every_node, opened_cluster
from clew.cli.method_options import AskedMethod, MethodOptions
from clew.cli.model import ManyOptions, Stream, opened_model
from clew.cli.opening import (
    AskedSource,
    Json,
    LlmSpec,
    RowForm,
    RowFormOption,
    Seconds,
    SourceOptions,
    bounds_of,
    opened_for_asking,
    waiting,
)
from clew.cli.options import with_short_help
from clew.cli.solved import SolvedOptions
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.types import Answer, Citation

ABSTAINED = 3
CHOOSING = "--reading N answers that"


@with_short_help(
    first=("quiet",),
    rest={
        "stream": "Options of the chat model",
        "limit_citations": "Other options",
        "limit": "Other options",
        "form": "Other options",
        "seconds": "Other options",
        "chosen": "Other options",
        "ray": "Other options",
    },
)
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
    method: AskedMethod = "auto",
    chosen: Annotated[
        int | None,
        typer.Option("--reading", metavar="N", min=1, help="Answer the other reading of this number."),
    ] = None,
    llm: LlmSpec = None,
    *,
    calling: ManyOptions,
    stream: Stream = None,
    options: MethodOptions,
    solved: SolvedOptions,
    explain: Annotated[bool, typer.Option("--explain", help="Show the steps to the answer.")] = False,
    limit_citations: Annotated[
        int, typer.Option(metavar="N", min=0, help="Citations shown on a terminal; --json has all.")
    ] = 10,
    limit: Annotated[
        int, typer.Option(metavar="N", help="Answers that are listed and proved; the others are counted.")
    ] = ANSWERS,
    seconds: Seconds = SECONDS,
    ray: RayAddress = None,
    reading: SourceOptions,
    form: RowFormOption = RowForm.table,
    json: Json = False,
) -> None:
    """Ask a question, and get the answers with the triples that prove them.

    A plain graph file is indexed once into a cache. Exit code 3 means that the graph holds no answer.
    """
    from clew.cli.console import warn, write_csv, write_json
    from clew.cli.progress import explained_wait
    from clew.cli.replies import heard_replies
    from clew.methods.registry import ranks_triples, shown_name
    from clew.stores.opening import is_address
    from clew.text.clean import clean_question

    method = "synaptiqa" if method == "auto" and llm is not None and is_address(source) else method
    settings = solved.with_history(options.settings(method), method, source, llm)
    start = partial(
        opened_for_asking,
        *on_every_node(ray, source, reading),
        rank_triples=ranks_triples({method: settings}),
        bounds=bounds_of(seconds, limit),
    )
    if questions is not None:
        if question is not None or entities:
            raise UsageError("--questions has its own entities. Leave out QUESTION and --entities")
        single = {"--as": form is not RowForm.table, "--stream": stream, "--reading": chosen is not None}
        if any(single.values()):
            name = next(name for name, given in single.items() if given)
            raise UsageError(f"{name} is for a single question. Leave it out; --out has answers as JSON")
        from clew.cli.questions import QUESTIONS, ask_all

        with (
            opened_cluster(ray, quiet=reading.quiet) as cluster,
            opened_model(llm, calling, everywhere=cluster is not None) as model,
        ):
            at_once = calling.at_once if model is not None else 1
            name = shown_name(method)
            batch = BatchRun(QUESTIONS, name, out, reading.quiet, explain, model, at_once, cluster)
            keep = partial(solved.keep, source, quiet=True) if cluster is None else None
            ask_all(batch, AskedWith(start, method, model, settings), questions, keep)
        return
    if question is None:
        raise UsageError(f'No question given. Write: clew ask {source} "…", or --questions FILE.jsonl')
    refuse_many({"--ray": ray, "--concurrency": calling.concurrency, "--out": out}, "--questions")
    if chosen is not None and is_address(source):
        raise UsageError("--reading is for an index, not for a database. Leave it out")
    clean_question(question)  # before a long indexing, not after it
    with (
        heard_replies(stream, llm, quiet=reading.quiet) as listener,
        opened_model(llm, calling, listener) as model,
        start() as clew,
        explained_wait(waiting(model), quiet=reading.quiet or bool(stream)),
    ):
        asked = partial(clew.ask, question, entities=entities or (), method=method, settings=settings)
        answer = asked(model=model) if chosen is None else asked(reading=chosen)
        cited = answer.citations[:limit_citations]
        labels = clew.labels(triple for citation in cited for triple in citation.triple_ids)
    solved.keep(source, answer, quiet=reading.quiet)
    if json or form is RowForm.json:
        write_json(answer.as_json(steps=explain))
    elif form is RowForm.csv:
        write_csv(("entity", "label", "score"), ((a.entity, a.label, str(a.score)) for a in answer.answers))
        if answer.abstained is not None:
            warn(f"no answer: {answer.abstained.detail}")
    else:
        print_asked(answer, cited, labels, explain=explain)
    if answer.abstained is not None:
        raise typer.Exit(ABSTAINED)


def print_asked(
    answer: Answer,
    cited: Sequence[Citation],
    labels: Mapping[str, str],
    *,
    explain: bool = False,
    choosing: str = CHOOSING,
) -> None:
    """Print an answer with some of its citations; `choosing` says how another reading is answered."""
    from clew.cli.answer_view import print_answer
    from clew.cli.console import out

    print_answer(out(), answer, cited, labels, choosing)
    if answer.chain is not None:
        from clew.cli.chain_view import print_chain

        print_chain(out(), answer.chain, whole=explain)
    if explain:
        from clew.cli.explain import print_steps

        print_steps(out(), answer.steps)
