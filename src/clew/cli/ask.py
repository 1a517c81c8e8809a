"""`clew ask` and `clew verify`: one question or claim, or a file of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from clew.cli.batch import BatchRun, refuse_batch_options
from clew.cli.console import FAILED, UNANSWERED, escape, out, put, warn, write_csv, write_json
from clew.cli.model import AskedModelOptions
from clew.cli.opening import (
    AskedSource,
    BoundOptions,
    Json,
    RayAddress,
    RowOptions,
    Seconds,
    SourceArgument,
    SourceOptions,
    bounds_of,
    open_source,
    open_to_ask,
    refuse_swapped,
    source_on_nodes,
)
from clew.cli.options import (
    AskedMethods,
    MethodOptions,
    comma_names,
    option,
    verifiers,
    with_short_help,
)
from clew.errors import UsageError
from clew.evaluate.compared import MethodRow
from clew.foundation.system import ANSWER_SECONDS
from clew.methods.registry import method_named, ranks_triples, shown_name
from clew.stores.opening import is_address, shown_address
from clew.text.normalise import clean_question

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.types import Answer


MOST_NAMES_IN_CELL = 6
"""Answers that a cell of the table names; the rest is counted."""


def _print(rows: Sequence[MethodRow]) -> None:
    """Print a table with a row a method; what failed comes last."""
    from rich.table import Table
    from rich.text import Text

    console, table = out(), Table(box=None, pad_edge=False, header_style="bold cyan")
    table.add_column("method", no_wrap=True)
    table.add_column("answer", overflow="fold")
    table.add_column("abstained", no_wrap=True)
    for title in ("evidence", "cited", "calls", "tokens", "ms"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        if (answer := row.answer) is not None:
            used = answer.usage
            milliseconds = answer.timings_ms.get("total", 0.0)
            figures = (row.evidence, row.cited, used.calls, used.input_tokens + used.output_tokens)
            reason = "" if answer.abstained is None else answer.abstained.reason
            cells = [row.method, _describe_answer(answer), reason, *(f"{figure:,}" for figure in figures)]
            table.add_row(*map(Text, [*cells, f"{milliseconds:,.0f}"]))
    if table.row_count:
        console.print(table)
    for row in rows:
        if row.error is not None:
            put(console, f"{row.method}: error: {escape(row.error)}", "yellow")


def _describe_answer(answer: Answer) -> str:
    """The first answers, or the start of a text without any, with marks such as *ungrounded*."""
    names = [escape(a.label) for a in answer.answers]
    omitted = len(names) - MOST_NAMES_IN_CELL
    text = " · ".join(names[:MOST_NAMES_IN_CELL]) + (f" … and {omitted:,} more" if omitted > 0 else "")
    if not names:
        text = escape(" ".join(answer.text.split())) if answer.abstained is None else "–"
        text = text if len(text) <= 160 else text[:160] + " …"
    marks = [] if answer.grounded else ["ungrounded"]
    marks += [] if answer.complete or not names else ["incomplete"]
    return text + (f" ({', '.join(marks)})" if marks else "")


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """Which question is asked, or which file of them."""

    question: Annotated[str | None, typer.Argument(metavar="QUESTION", help="In quotes.")] = None
    questions: str | None = option(
        None, 'A line {"id", "question", "entities"?} each; - is stdin.', "FILE.jsonl"
    )
    out: Path | None = option(None, "Answers of --questions; resumable.", "FILE.jsonl")
    entities: list[str] | None = option(None, "An entity of the question; repeat it for more.", "NAME")
    chosen: int | None = option(None, "Answer the other reading of this number.", "N", "--reading", min=1)

    def single_question(self, source: str) -> str:
        """The single question, cleaned. Raises UsageError if it cannot be asked of the source."""
        if self.question is None:
            raise UsageError(f'No question given. Write: clew ask {source} "…", or --questions FILE.jsonl')
        if self.chosen is not None and is_address(source):
            raise UsageError("--reading is for an index, not for a database. Leave it out")
        clean_question(self.question)
        refuse_swapped(source, self.question, "question")
        return self.question

    def file(self, single: Mapping[str, object]) -> str | None:
        """The file of questions, if there is one. Raises UsageError for what is of a `single` question."""
        if self.questions is None:
            return None
        if self.question is not None or self.entities:
            raise UsageError("--questions has its own entities. Leave out QUESTION and --entities")
        for name, value in {**single, "--reading": self.chosen is not None}.items():
            if value:
                raise UsageError(f"{name} is for a single question. Leave it out; --out has answers as JSON")
        return self.questions


@dataclass(frozen=True, slots=True)
class AnswerOptions(RowOptions):
    """What of an answer is written, and how."""

    explain: bool = option(False, "Show the steps to the answer.")
    partial: bool = option(False, "Answer the rest where words of the question have no place in the graph.")
    allow_ungrounded: bool = option(False, "Give what a model says where no triple proves it, marked so.")

    def write(self, answer: Answer) -> None:
        """Write an answer to stdout."""
        if self.chosen_form == "json":
            write_json(answer.as_json(steps=self.explain))
        elif self.chosen_form == "csv":
            rows = ((a.entity, a.label, str(a.score)) for a in answer.answers)
            write_csv(("entity", "label", "score"), rows)
            if answer.abstained is not None:
                warn(f"no answer: {answer.abstained.detail}")
        else:
            from clew.cli.answer_view import print_full_answer

            print_full_answer(answer, explain=self.explain)


@with_short_help(
    first=("quiet", "questions", "out", "entities", "llm", "explain", "json"),
    other_titles={"ray": "Other options"},
)
def ask(
    source: AskedSource,
    *,
    question_options: QuestionOptions,
    method: AskedMethods = "auto",
    calling: AskedModelOptions,
    options: MethodOptions,
    answer_options: AnswerOptions,
    bounding: BoundOptions,
    ray: RayAddress = None,
    reading: SourceOptions,
) -> None:
    """Ask a question, and get the answers with the triples that prove them.

    A plain graph file is indexed once into a cache. Exit code 3 means that the graph holds no answer.
    """
    quiet = reading.quiet
    method = "synaptiqa" if method == "auto" and calling.llm is not None and is_address(source) else method
    if calling.llm is None and is_address(source):
        raise UsageError(
            "To ask a database, name a chat model, as in --llm ollama/llama3.1, or make an index: "
            f"clew index {shown_address(source)} -o NAME.clew"
        )
    names = list(dict.fromkeys(comma_names(method)))
    for name in names:
        method_named(name)  # an unknown one before a long indexing, not after it
    flags = {"partial": answer_options.partial, "allow_ungrounded": answer_options.allow_ungrounded}
    set_flags = [f"{name}=yes" for name, is_given in flags.items() if is_given]
    every_setting = replace(options, set=[*(options.set or []), *set_flags]).settings_of_each(names)
    start = partial(
        open_to_ask,
        *source_on_nodes(ray, source, reading),
        rank_triples=ranks_triples(names),
        bounds=bounding.bounds,
    )
    entities = question_options.entities or ()
    if len(names) != 1:
        from clew.evaluate.compared import ask_each

        if not names:
            raise UsageError("No method given. Write: --method auto,kg-rag")
        if question_options.questions is not None or question_options.chosen is not None:
            raise UsageError("Several methods are asked one question. To measure them on many: clew eval")
        question = clean_question(question_options.single_question(source))
        with calling.open_for_one(start, quiet=quiet) as (clew, model):
            asked = cast("Clew", clew)  # a database is asked in the same way
            compared = ask_each(
                asked, question, names, entities=entities, model=model, settings=every_setting
            )
        if answer_options.chosen_form == "json":
            write_json(compared.as_json())
        else:
            _print(compared.rows)
        if all(row.error is not None for row in compared.rows):
            raise typer.Exit(FAILED)
        return
    (method,) = names
    settings = every_setting[method]
    file = question_options.file({"--as": answer_options.form != "table", "--stream": calling.stream})
    if file is not None:
        from clew.evaluate.run.asking import Asker

        with calling.open_for_many(ray, quiet=quiet) as (model, at_once, cluster):
            asker = Asker(method, model, settings, steps=answer_options.explain)
            name, out_file = shown_name(method), question_options.out
            BatchRun(start, asker, name, out_file, quiet, at_once, cluster).run(file)
        return
    question = question_options.single_question(source)  # before a long indexing, not after it
    refuse_batch_options(
        {"--ray": ray, "--concurrency": calling.concurrency, "--out": question_options.out}, "--questions"
    )
    with calling.open_for_one(start, quiet=quiet) as (clew, model):
        reply = partial(clew.ask, question, entities=entities, method=method, settings=settings)
        chosen = question_options.chosen
        answer = reply(model=model) if chosen is None else reply(reading=chosen)
    answer_options.write(answer)
    if answer.abstained is not None:
        raise typer.Exit(UNANSWERED)


@with_short_help(
    first=("quiet", "llm"),
    other_titles=dict.fromkeys(("limit_triples", "seconds", "ray"), "Other options"),
)
def verify(
    source: SourceArgument,
    *,
    claim: Annotated[str | None, typer.Argument(metavar="CLAIM", help="In quotes.")] = None,
    claims: str | None = option(None, 'A line {"id", "claim"} each; - is stdin.', "FILE.jsonl"),
    out: Path | None = option(None, "Verdicts on --claims; resumable.", "FILE.jsonl"),
    closed_world: bool = option(False, "What the graph does not record is not so."),
    method: str = option("auto", "How to verify.", "NAME", autocompletion=verifiers),
    calling: AskedModelOptions,
    options: MethodOptions,
    explain: bool = option(False, "Show the steps to the verdict."),
    limit_triples: int = option(5, "Triples shown for a part on a terminal; --json has all.", "N", min=0),
    json: Json = False,
    seconds: Seconds = ANSWER_SECONDS,
    ray: RayAddress = None,
    reading: SourceOptions,
) -> None:
    """Check a claim: supported, refuted, or not enough information, with the triples that show it.

    Exit code 0 is a verdict either way; 3 means that the graph does not hold enough.
    """
    quiet, settings = reading.quiet, options.settings(method, claims=True)
    start = partial(open_source, *source_on_nodes(ray, source, reading), bounds=bounds_of(seconds))
    if claims is not None:
        if claim is not None:
            raise UsageError("--claims has its own claims. Leave out CLAIM")
        if calling.stream:
            raise UsageError("--stream is for a single claim. Leave it out; --trace FILE has all replies")
        from clew.evaluate.run.asking import Asker

        with calling.open_for_many(ray, quiet=quiet) as (model, at_once, cluster):
            asker = Asker(method, model, settings, claims=True, closed_world=closed_world, steps=explain)
            BatchRun(start, asker, method, out, quiet, at_once, cluster).run(claims)
        return
    if claim is None:
        raise UsageError(f'No claim given. Write: clew verify {source} "…", or --claims FILE.jsonl')
    refuse_batch_options({"--ray": ray, "--concurrency": calling.concurrency, "--out": out}, "--claims")
    clean_question(claim, "claim")  # before a long indexing, not after it
    refuse_swapped(source, claim, "claim")
    with calling.open_for_one(start, quiet=quiet) as (clew, model):
        result = clew.verify(claim, closed_world=closed_world, method=method, model=model, settings=settings)
    if json:
        write_json(result.as_json(steps=explain))
    else:
        from clew.cli.answer_view import print_verdict

        print_verdict(result, limit_triples, explain=explain)
    if result.verdict == "not_enough_info":
        raise typer.Exit(UNANSWERED)
