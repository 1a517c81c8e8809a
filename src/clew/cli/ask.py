"""`clew ask`: one question, or a file of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clew.cli.method_options import MethodOptions
from clew.cli.model import ModelOptions, Stream, opened_model
from clew.cli.opening import (
    AskedSource,
    Form,
    Json,
    LlmSpec,
    RowForm,
    SourceOptions,
    opened_for_asking,
    waiting,
)
from clew.cli.options import with_short_help
from clew.cli.synaptiqa import METHODS as QUERYING
from clew.cli.synaptiqa import QueryOptions
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.types import Answer, Citation

ABSTAINED = 3


@with_short_help(
    first=("quiet",), rest={"stream": "Options of the chat model", "limit_citations": "Other options"}
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
    method: Annotated[str, typer.Option(metavar="NAME", help="How to answer.")] = "auto",
    llm: LlmSpec = None,
    *,
    calling: ModelOptions,
    stream: Stream = None,
    options: MethodOptions,
    queries: QueryOptions,
    explain: Annotated[bool, typer.Option("--explain", help="Show the steps to the answer.")] = False,
    limit_citations: Annotated[
        int, typer.Option(metavar="N", min=0, help="Citations shown on a terminal; --json has all.")
    ] = 10,
    reading: SourceOptions,
    form: Form = RowForm.table,
    json: Json = False,
) -> None:
    """Ask a question, and get the answers with the triples that prove them.

    A plain graph file is indexed once into a cache. Exit code 3 means that the graph holds no answer.
    """
    from clew.cli.console import warn, write_csv, write_json
    from clew.cli.progress import explained_wait
    from clew.cli.replies import heard_replies
    from clew.stores.opening import is_address
    from clew.text.clean import clean_question

    method = "synaptiqa" if method == "auto" and is_address(source) else method
    own = queries.settings(method, source, llm, options.shots)
    options = replace(options, shots=None) if method in QUERYING else options
    settings = options.settings(method) or own
    start = partial(opened_for_asking, source, reading, rank_triples=options.rank_triples((method,)))
    if questions is not None:
        if question is not None or entities:
            raise UsageError("--questions has its own entities. Leave out QUESTION and --entities")
        if form is not RowForm.table:
            raise UsageError("--as is for a single question. Leave it out; answers of --questions are JSON")
        if stream:
            raise UsageError("--stream is for a single question. Leave it out; --trace FILE has all replies")
        from clew.cli.questions import ask_all

        with opened_model(llm, calling) as model:
            ask_all(
                start,
                questions,
                out,
                method=method,
                explain=explain,
                quiet=reading.quiet,
                model=model,
                settings=settings,
                keep=partial(queries.keep, source, quiet=True),
            )
        return
    if question is None:
        raise UsageError(f'No question given. Write: clew ask {source} "…", or --questions FILE.jsonl')
    if out is not None:
        raise UsageError("--out is for --questions. Leave it out, or redirect: … --json > FILE")
    clean_question(question)  # before a long indexing, not after it
    with (
        heard_replies(stream, llm, quiet=reading.quiet) as listener,
        opened_model(llm, calling, listener) as model,
        start() as clew,
        explained_wait(waiting(model), quiet=reading.quiet or bool(stream)),
    ):
        answer = clew.ask(question, entities=entities or (), method=method, model=model, settings=settings)
        cited = answer.citations[:limit_citations]
        labels = clew.labels(triple for citation in cited for triple in citation.triple_ids)
    queries.keep(source, answer, quiet=reading.quiet)
    if json or form is RowForm.json:
        write_json(answer.as_json(steps=explain))
    elif form is RowForm.csv:
        write_csv(("entity", "label", "score"), ((a.entity, a.label, str(a.score)) for a in answer.answers))
        if answer.abstained is not None:
            warn(f"no answer: {answer.abstained.detail}")
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
