"""`clew eval`: ask the questions of a data set with one or more methods, and measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clew.cli.console import FAILED, Bar, Interrupted, escape, out, put, warn, write, write_json
from clew.cli.model import ManyOptions, opened_models
from clew.cli.opening import EmbedderSpec, Json, Quiet, RayAddress, opened_cluster, stage_progress
from clew.cli.options import comma_names, option, with_options
from clew.errors import InputError, UsageError
from clew.foundation.system import usable_processors
from clew.text.normalise import byte_size, counted

if TYPE_CHECKING:
    from clew.evaluate.report.summary import LoadedRun
    from clew.evaluate.run.plans import RunRequest
    from clew.evaluate.run.rundir import RunDirectory
    from clew.evaluate.run.runner import RunCounts
    from clew.llm.managed import ManagedModel
    from clew.workers import Workers

    Models = Callable[[str], ManagedModel]


def print_datasets(json: Json = False) -> None:
    """List the data sets that `clew eval` reads. Nothing is downloaded."""
    from clew.evaluate.datasets.registry import DATASETS

    if json:
        write_json([asdict(reader.about) | {"splits": list(reader.splits)} for reader in DATASETS])
        return
    console = out()
    for reader in DATASETS:
        about = reader.about
        put(console, escape(f"{about.name}: {about.title}"), "bold")
        facts = {"from": about.source, "licence": about.licence, "files": about.files}
        facts |= {"splits": ", ".join(reader.splits), "cite": about.cite}
        for title, text in facts.items():
            if text:
                put(console, escape(f"  {title:<8} {text}"))


def write_report(runs: Sequence[Path], page: Path, *, json: bool, quiet: bool) -> None:
    """Write one self-contained HTML page, and its tables and plots as CSV beside it."""
    from clew.evaluate.report.build import build_report, can_draw

    with Bar(quiet=quiet) as bar:

        def tell(what: str, done: int, total: int) -> None:
            bar.update(what, done, total, "questions" if what == "reading" else "files")

        folder = build_report(runs, page, progress=tell)
    if not can_draw() and not quiet:
        warn("the page has no charts. Draw them: pip install 'clew[report]'")
    if json:
        write_json({"page": str(page), "folder": str(folder)})
    elif not quiet:
        write(f"{page} ({byte_size(page.stat().st_size)}); tables and plots: {folder}/")


HEADLINE = (
    *("accuracy", "hallucination", "missing", "hits_at_1", "exact_set", "f1"),
    *("claim_accuracy", "coverage", "p50_ms", "p95_ms"),
)


@dataclass(frozen=True, slots=True)
class RunModelOptions(ManyOptions):
    """How the chat models of a run are called."""

    cache: Path | None = option(None, "Replies of models are kept here; else in RUN/replies.sqlite.", "FILE")


@with_options
def evaluate(
    *,
    targets: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIRECTORY|X.toml|FILE…",
            help="A data set, an experiment, graph files and questions (.jsonl), or runs to report.",
        ),
    ] = None,
    datasets: bool = option(False, "List the data sets that are read."),
    dataset: str | None = option(None, "Its format; see: --datasets.", "NAME"),
    parts: list[str] | None = option(None, "A part of it; again for more.", "NAME", "--part"),
    hops: str | None = option(None, "Short for --part N-hop.", "N,…"),
    split: str | None = option(None, "test, dev or train.", "NAME"),
    graph: str | None = option(None, "Graph to ask; else its own.", "SOURCE"),
    data: list[str] | None = option(
        None, "Where an experiment finds a data set; or one directory of all.", "NAME=DIR"
    ),
    limit: int | None = option(None, "Questions of each part and seed.", "N", min=1),
    seed: str | None = option(None, "Seeds of the samples; 0 if not given.", "N,…"),
    given_entities: bool = option(False, "Tell methods which entities a question is about."),
    method: str = option("auto", "Methods to run.", "NAME,…"),
    llm: str | None = option(None, "Chat model of the methods.", "MODEL"),
    workers: int | None = option(None, "Processes; without --llm.", "N", min=1),
    ray: RayAddress = None,
    steps: bool = option(True, "Keep the steps of each answer.", None, "--steps/--no-steps"),
    out: Path | None = option(None, "Directory of the run; resumable.", "RUN"),
    embedder: EmbedderSpec = None,
    judges: list[str] | None = option(None, "A judging model; again for more.", "MODEL", "--judge"),
    bert: str | None = option(None, "Model of BERTScore.", "onnx:PATH"),
    calling: RunModelOptions,
    report: Path | None = option(None, "Write a page with the figures of the runs.", "FILE.html"),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Ask the questions of a data set, score the answers, write RUN/metrics.csv.

    The same command goes on after Ctrl-C or a kill; no question that has an answer is asked again. Of runs
    that are there `--report` makes a page.
    """
    if datasets:
        print_datasets(json=json)
        return
    if not targets:
        raise UsageError("Nothing to ask. Give your own files, or a data set; see: clew eval --datasets")
    if report is not None and all((path / "config.resolved.toml").is_file() for path in targets):
        write_report(targets, report, json=json, quiet=quiet)
        return
    from clew.evaluate.run.plans import RunRequest, run_name

    if llm is not None and workers is not None:
        raise UsageError("--workers is for methods without a model. With --llm give --concurrency N")
    try:
        seeds = None if seed is None else tuple(dict.fromkeys(map(int, seed.split(","))))
    except ValueError as error:
        raise UsageError(f"--seed {seed}: not numbers. Write --seed 0 or --seed 0,1,2") from error
    request = RunRequest(
        targets=tuple(targets),
        dataset=dataset,
        parts=(*(parts or ()), *(f"{number}-hop" for number in comma_names(hops or ""))),
        split=split,
        graph=graph,
        data=tuple(data or ()),
        methods=comma_names(method),
        limit=limit,
        seeds=seeds,
        given_entities=given_entities,
        llm=llm,
        steps=steps,
        embedder=embedder,
        workers=calling.at_once if llm else workers or usable_processors(),
        out=out or Path("runs") / run_name(targets),
    )
    if llm is None and not judges:
        calling.refuse()
    elif calling.cache is None:
        try:
            request.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{request.out}: cannot be made ({error.strerror}). Give another --out"
            ) from error
        calling = replace(calling, cache=request.out / "replies.sqlite")
    with (
        opened_cluster(ray, quiet=quiet) as cluster,
        opened_models(calling, everywhere=cluster is not None) as models,
    ):
        run, failed = _run(request, models, judges or [], bert, cluster, quiet=quiet)
    if json:
        write_json(run.as_json())
    else:
        _print(run)
    if report is not None:
        write_report([request.out], report, json=False, quiet=quiet or json)
    if failed:
        raise typer.Exit(FAILED)


def _run(
    request: RunRequest,
    models: Models,
    judges: Sequence[str],
    bert: str | None,
    cluster: Workers | None,
    *,
    quiet: bool,
) -> tuple[LoadedRun, int]:
    """Ask, judge and score; and how many questions and judgements ended in an error."""
    from clew.evaluate.report.summary import load, write_metrics
    from clew.evaluate.run.plans import make_plan
    from clew.evaluate.run.rundir import RunDirectory
    from clew.evaluate.run.runner import run

    directory = RunDirectory(request.out)
    model = None if request.llm is None else models(request.llm)

    def note(text: str) -> None:
        if not quiet:
            warn(text)

    with Bar(quiet=quiet) as bar:
        plan = make_plan(request, model, progress=stage_progress(bar), note=note)
        plan = replace(plan, cluster=cluster)
    try:
        with Bar(quiet=quiet) as bar:
            outcome = run(plan, directory, partial(bar.update, unit="questions"))
        _tell(outcome, quiet=quiet)
        failed_judgements = _score_answers(directory, request.workers, models, judges, bert, quiet=quiet)
    except KeyboardInterrupt as error:
        raise Interrupted(f"interrupted; the same command goes on in {request.out}") from error
    with Bar(quiet=quiet) as bar:
        loaded = load(directory, partial(bar.update, "scoring", unit="questions"))
    write_metrics(loaded)
    return loaded, outcome.failed + failed_judgements


def _score_answers(
    directory: RunDirectory,
    workers: int,
    models: Models,
    judges: Sequence[str],
    bert: str | None,
    *,
    quiet: bool,
) -> int:
    """Ask the judges, and compute BERTScore, where the user wants them; how many judgements failed."""
    failed_judgements = 0
    if judges:
        from clew.evaluate.judge import judge_of, judge_run

        with Bar(quiet=quiet) as bar:
            tell = partial(bar.update, "judging", unit="questions")
            unjudged = judge_run(directory, [judge_of(spec, models) for spec in judges], workers, tell)
        failed_judgements = sum(each.failed for each in unjudged)
        if unjudged:  # also with --quiet: the figures leave them out
            first = f"{unjudged[0].judge}: {unjudged[0].problem.rstrip('.')}"
            advice = ". The same command asks again" if failed_judgements else ""
            warn(f"{counted(len(unjudged), 'judgement')} without a verdict, the first by {first}{advice}")
    if bert is not None:
        from clew.evaluate.judge import open_tokens, score_run

        with Bar(quiet=quiet) as bar:
            score_run(directory, open_tokens(bert), partial(bar.update, "BERTScore", unit="questions"))
    return failed_judgements


def _tell(outcome: RunCounts, *, quiet: bool) -> None:
    """Say on stderr what a user must know of the questions; of errors also if `quiet`."""
    if outcome.failed:
        failed, failure = counted(outcome.failed, "question"), outcome.first_failure.rstrip(".")
        warn(f"{failed} ended in an error, the first with {failure}. The same command asks again")
    if quiet:
        return
    if outcome.answered_before:
        answered = counted(outcome.answered_before, "question was", "questions were")
        warn(f"{answered} answered already, {outcome.asked_now:,} asked now")
    from clew.evaluate.run.runner import PROBLEMS

    for part, problems in outcome.problems.items():
        for kind, count in problems.items():
            warn(f"{part}: {counted(count, 'question')} {PROBLEMS[kind]}")


def _print(run: LoadedRun) -> None:
    """Print the headline figures: one line for each part and method."""
    from clew.evaluate.metrics import METRICS
    from clew.evaluate.report.summary import figure_text

    shares = [m for m in HEADLINE if any(m in cell.figures for cell in run.cells)]
    lines = [["part", "method", "n", *(METRICS[m].title for m in shares)]]
    for cell in run.cells:
        values = [figure_text(cell.figures.get(m)) for m in shares]
        lines.append([escape(cell.part), escape(cell.method), f"{len(cell.rows):,}", *values])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [f"{text:{'<' if at < 2 else '>'}{widths[at]}}" for at, text in enumerate(line)]
        write("  ".join(cells).rstrip())
    path = run.directory.path
    write(f"\nAll metrics: {path}/metrics.csv. A report: clew eval {path} --report report.html")
