"""`clew ask`: one question, or a file of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from clew.cli.batch import BatchRun, refuse_batch_options
from clew.cli.cluster import RayAddress, source_on_nodes
from clew.cli.console import warn, write_csv, write_json
from clew.cli.items import Questions, read_items
from clew.cli.method_options import AskedMethod, MethodOptions
from clew.cli.model import AskedModelOptions
from clew.cli.opening import AskedSource, BoundOptions, RowOptions, SourceOptions, open_to_ask
from clew.cli.options import option, with_short_help
from clew.errors import UsageError
from clew.methods.registry import METHODS, ranks_triples, shown_name
from clew.methods.settings import options_of
from clew.opening.environment import default_history
from clew.stores.opening import is_address
from clew.text.clean import clean_question

if TYPE_CHECKING:
    from clew.types import Answer, Citation

ABSTAINED = 3


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
class SolvedOptions:
    """What the user said of solved questions, for the methods whose settings have a `history`."""

    TITLE: ClassVar = "Options of methods"
    remember: bool = option(False, "synaptiqa: keep answered questions with their queries as examples.")
    history: Path | None = option(None, "synaptiqa: the history of examples.", "FILE.jsonl")

    def with_history(self, settings: Any, method: str, source: str, llm: str | None) -> Any:  # noqa: ANN401
        """Return the settings with the solved questions of the source; as they are for other methods.

        Raises UsageError for options that do not go with the method, or need a model; ParseError and
        InputError for the history.
        """
        flag = "--remember" if self.remember else "--history" if self.history is not None else ""
        settings_class = METHODS[method].settings_class() if method in METHODS else None
        if settings_class is None or "history" not in options_of(settings_class):
            if flag:
                raise UsageError(f"{flag}: for synaptiqa, not for {method}. Leave it out")
            return settings
        if llm is None:
            if flag or settings is not None:
                subject = flag or f"The options of {method}"
                raise UsageError(f"{subject}: for a chat model. Name one with --llm, or leave it out")
            return None
        from clew.stores.history import History, source_key

        return replace(
            settings or settings_class(), history=History(self._path()).entries(source_key(source))
        )

    def _path(self) -> Path:
        return default_history() if self.history is None else self.history

    def keep(self, source: str, answer: Answer, *, quiet: bool) -> None:
        """Keep an answered question as an example, if the user says so."""
        if not self.remember or answer.query is None or answer.abstained is not None or not answer.grounded:
            return
        from clew.stores.history import History, SolvedEntry, source_key

        added = History(self._path()).add([SolvedEntry(source_key(source), answer.question, answer.query)])
        if added and not quiet:
            warn(f"kept as an example in {self._path()}; clew history list shows all")


@dataclass(frozen=True, slots=True)
class AnswerOptions(RowOptions):
    """What of an answer is written, and how."""

    explain: bool = option(False, "Show the steps to the answer.")
    limit_citations: int = option(10, "Citations shown on a terminal; --json has all.", "N", min=0)

    def write(self, answer: Answer, cited: Sequence[Citation], labels: Mapping[str, str]) -> None:
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

            print_full_answer(answer, cited, labels, explain=self.explain)


@with_short_help(
    first=("quiet", "questions", "out", "entities", "llm", "explain", "json"),
    other_titles={"ray": "Other options"},
)
def ask(
    source: AskedSource,
    *,
    question_options: QuestionOptions,
    method: AskedMethod = "auto",
    calling: AskedModelOptions,
    options: MethodOptions,
    solved: SolvedOptions,
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
    settings = solved.with_history(options.settings(method), method, source, calling.llm)
    start = partial(
        open_to_ask,
        *source_on_nodes(ray, source, reading),
        rank_triples=ranks_triples({method: settings}),
        bounds=bounding.bounds,
    )
    file = question_options.file({"--as": answer_options.form != "table", "--stream": calling.stream})
    if file is not None:
        with calling.open_for_many(ray, quiet=quiet) as (model, at_once, cluster):
            keep = None if cluster is not None else partial(solved.keep, source, quiet=True)
            questions = Questions(start, method, model, settings, keep)
            name, explain = shown_name(method), answer_options.explain
            batch = BatchRun(questions, name, question_options.out, quiet, explain, at_once, cluster)
            batch.run(file, read_items(file, Questions))
        return
    question = question_options.single_question(source)  # before a long indexing, not after it
    refuse_batch_options(
        {"--ray": ray, "--concurrency": calling.concurrency, "--out": question_options.out}, "--questions"
    )
    with calling.open_for_one(start, quiet=quiet) as (clew, model):
        reply = partial(
            clew.ask, question, entities=question_options.entities or (), method=method, settings=settings
        )
        answer = (
            reply(model=model) if question_options.chosen is None else reply(reading=question_options.chosen)
        )
        cited = answer.citations[: answer_options.limit_citations]
        labels = clew.labels(triple for citation in cited for triple in citation.triple_ids)
    solved.keep(source, answer, quiet=quiet)
    answer_options.write(answer, cited, labels)
    if answer.abstained is not None:
        raise typer.Exit(ABSTAINED)
