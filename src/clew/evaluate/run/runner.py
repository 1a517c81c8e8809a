"""Runs: methods × parts × samples, resumable; one record a question, then judgements, then `metrics.csv`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from clew.engine import Clew
from clew.errors import UsageError
from clew.evaluate.records import DatasetPart, EvalQuestion, GoldAnswer, Key, Record, is_computed
from clew.evaluate.run.asking import (
    AnswerTask,
    Outcome,
    as_answer,
    in_threads,
    in_workers,
    open_and_ask,
    task_asker,
)
from clew.evaluate.run.rundir import RECORDS, LineFile, MethodVariant, RunDirectory, RunSettings, file_hash
from clew.graph.schema import schema_of
from clew.index.corpus import CorpusSettings, open_corpus
from clew.index.store.writing import Progress
from clew.llm.budget import Limits, Price
from clew.llm.reply import ChatModel
from clew.opening.graph_view import is_index
from clew.types import Usage
from clew.version import __version__
from clew.workers import Processes, Stopped, Workers


def open_graph(
    files: Sequence[str | Path],
    format: str | None,
    embedder: str | None,
    progress: Progress | None,
    corpus: CorpusSettings | None = None,
) -> Clew:
    """Open a graph, with the walks of `corpus` stored; UsageError for an index that stores others."""
    if not is_index(Path(files[0])):
        return Clew.open(files, embedder=embedder, progress=progress, format=format, corpus=corpus)
    clew = Clew.open(files[0], embedder=embedder)
    stored = None if corpus is None else open_corpus(clew.opened)
    if corpus is not None and (stored is None or stored.settings != corpus):
        stored_walks = "no walks" if stored is None else f"the walks {stored.settings}"
        raise UsageError(
            f"{clew.path}: stores {stored_walks}, but {corpus} are wanted. Give the graph's files as --graph,"
            " or index them with these walks (clew index --corpus)"
        )
    return clew


RunProgress = Callable[[str, int, int], None]
"""Receives the progress: a title, how many are done, of how many."""
ProblemKind = Literal["no_gold", "gold_missing", "gold_partly_missing", "entity_missing", "path_missing"]
PROBLEMS: Mapping[ProblemKind, str] = {
    "no_gold": "without a gold answer (abstaining is right)",
    "gold_missing": "with gold that the graph lacks, in the score all the same",
    "gold_partly_missing": "with gold that the graph has only in part",
    "entity_missing": "about an entity that the graph lacks",
    "path_missing": "with a gold path by a relation that the graph lacks, which no citation follows",
}
"""What stands against answering a question from a graph, as it is said of questions."""


@dataclass(frozen=True)
class RunPlan:
    """A run that is ready to go: each part with its open graph, and one more for each corpus of walks."""

    parts: Sequence[DatasetPart]
    graphs: Mapping[tuple[str, CorpusSettings | None], Clew]
    """By the name of the part and the walks that are stored."""
    methods: Sequence[MethodVariant]
    settings: RunSettings
    workers: int = 1
    cluster: Workers | None = None
    model: ChatModel | None = None
    price: Price | None = None
    limits: Limits | None = None
    experiment: str | None = None

    def config(self) -> dict[str, Any]:
        """Describe the run for `config.resolved.toml`, completely."""
        limits = {} if self.limits is None else {f"max_{n}": v for n, v in asdict(self.limits).items()}
        price = {} if self.price is None else {f"{n}_price": v for n, v in asdict(self.price).items()}
        calls = limits | price

        def fingerprint(clew: Clew) -> str:
            """What an index was made from, wherever it is: checksums of its sources, and the embedder."""
            sources = "+".join(source.sha256[:16] for source in clew.opened.manifest.about.sources)
            return f"{sources} {clew.embedder.fingerprint}"

        return {
            "clew": __version__,
            "run": asdict(self.settings),
            **({"calls": calls} if calls else {}),
            "methods": [method.as_dict() for method in self.methods],
            "parts": [
                {
                    "name": part.name,
                    "task": part.task,
                    "questions": len(part.questions),
                    "graph_fingerprint": fingerprint(self.graphs[part.name, None]),
                    "files": [{"path": str(f.resolve()), "sha256": file_hash(f)} for f in part.files],
                }
                for part in self.parts
            ],
        }

    @property
    def seeds(self) -> tuple[int | None, ...]:
        """Seeds that answers depend on: without a model they do not."""
        return (None,) if self.model is None else self.settings.seeds


@dataclass
class RunCounts:
    """What a call of `run` did."""

    asked_now: int = 0
    answered_before: int = 0
    failed: int = 0
    first_failure: str = ""
    """The id of the first question that ended in an error, and why."""
    problems: Mapping[str, Mapping[ProblemKind, int]] = field(
        default_factory=dict[str, "Mapping[ProblemKind, int]"]
    )


def run(plan: RunPlan, directory: RunDirectory, progress: RunProgress) -> RunCounts:
    """Ask all questions that the directory has no answer to; records before an error are kept.

    Raises UsageError (a run of another configuration), LockedError, ClewError.
    """
    with directory.locked():
        facts = {"parts": {part.name: _facts(plan, part) for part in plan.parts}}
        directory.begin(plan.config(), facts, plan.experiment)
        done = RunCounts(problems={name: about["problems"] for name, about in facts["parts"].items()})
        answered_keys = directory.answered_keys()
        with closing(LineFile(directory.path / RECORDS)) as records:
            _ask_parts(plan, answered_keys, records, done, progress)
    return done


def _ask_parts(
    plan: RunPlan, answered_keys: set[Key], records: LineFile, done: RunCounts, progress: RunProgress
) -> None:
    """Part by part and index by index, so that one is open at a time in the workers."""
    corpora = dict.fromkeys(method.corpus for method in plan.methods)
    work = [(part, corpus, list(_tasks(plan, part, corpus))) for part in plan.parts for corpus in corpora]
    total = sum(len(tasks) for _, _, tasks in work)
    for part, corpus, tasks in work:
        open_tasks = [task for task in tasks if task.key not in answered_keys]
        done.answered_before += len(tasks) - len(open_tasks)
        with closing(_outcomes(plan, plan.graphs[part.name, corpus], open_tasks)) as outcomes:
            for task, outcome in outcomes:
                if outcome.stopped:
                    # An abstention for want of budget is not what the method makes of the question.
                    kept = "What was answered is kept; the same command goes on from there"
                    raise Stopped(f"{outcome.stopped}. {kept}")
                records.add(_record(plan, task, outcome).as_json())
                done.asked_now += 1
                if outcome.failure is not None:
                    done.failed += 1
                    problem = f"id {task.question.id!r}: {outcome.failure.message}"
                    done.first_failure = done.first_failure or problem
                progress(f"{task.method.label} on {part.name}", done.answered_before + done.asked_now, total)


def _tasks(plan: RunPlan, part: DatasetPart, corpus: CorpusSettings | None) -> Iterator[AnswerTask]:
    """Each method of a corpus with each of its questions; with a model, for each seed anew."""
    settings = plan.settings
    for method in (m for m in plan.methods if m.corpus == corpus):
        for seed in plan.seeds:
            questions = settings.union(part) if seed is None else settings.sample(part, seed)
            for question in questions:
                entities = question.entities if settings.given_entities else ()
                key = Key(part.name, method.label, seed, question.id)
                yield AnswerTask(key, method, question, entities, claim=part.task == "claims")


def _outcomes(
    plan: RunPlan, clew: Clew, tasks: Sequence[AnswerTask]
) -> Generator[tuple[AnswerTask, Outcome]]:
    """Ask on a cluster, in threads with a model, whose replies are waited for, else in processes."""
    threads, has_few_tasks = 1 if plan.model is None else plan.workers, len(tasks) < 2 * plan.workers
    steps = plan.settings.steps
    if plan.cluster is None and (plan.model is not None or has_few_tasks or plan.workers <= 1):
        return in_threads(task_asker(clew, plan.model, steps=steps), tasks, threads)
    make = partial(open_and_ask, clew.path.resolve(), clew.embedder.name, plan.model, steps=steps)
    return in_workers(plan.cluster or Processes(plan.workers), make, tasks, threads)


def _record(plan: RunPlan, task: AnswerTask, outcome: Outcome) -> Record:
    clew, question = plan.graphs[task.key.part, task.method.corpus], task.question
    answer = None if outcome.reply is None else as_answer(outcome.reply)
    usage = None if answer is None else Usage(**answer["usage"])
    return Record(
        key=task.key,
        question=question,
        gold_in_graph=sum(is_gold_there(clew, answer) for answer in question.gold),
        gold_ids=[ids_of(clew, answer.names) for answer in question.gold],
        answer=answer,
        failure=outcome.failure,
        cost=None if plan.price is None or usage is None or not usage.calls else plan.price.of(usage),
    )


def ids_of(clew: Clew, names: Sequence[str]) -> list[str]:
    """The ids of the entities that have one of the names, in order, each once."""
    entities = clew.opened.graph.entities
    hits = (hit for name in names for hit in clew.opened.names.exact(name))
    return list(dict.fromkeys(entities[hit.entity] for hit in hits))


def is_gold_there(clew: Clew, answer: GoldAnswer) -> bool:
    """Whether the graph names a gold answer, or it is one that is computed: a number, yes or no."""
    return any(map(is_computed, answer.names)) or bool(ids_of(clew, answer.names))


def _facts(plan: RunPlan, part: DatasetPart) -> dict[str, Any]:
    """Find what a report must know of a part: samples, problems of questions, inverse relations, counts."""
    clew, settings = plan.graphs[part.name, None], plan.settings
    ids_by_problem: dict[ProblemKind, list[str]] = {}
    relations = frozenset(clew.opened.graph.relations)
    for question in settings.union(part):
        for kind in problems_of(clew, question, relations):
            ids_by_problem.setdefault(kind, []).append(question.id)
    graph, seeds = clew.opened.graph, () if settings.limit is None else settings.seeds
    return {
        "task": part.task,
        "notes": list(part.notes),
        "questions": len(part.questions),
        "samples": {str(seed): [q.id for q in settings.sample(part, seed)] for seed in seeds},
        "problems": {kind: len(ids) for kind, ids in ids_by_problem.items()},
        "problem_ids": {kind: ids[:200] for kind, ids in ids_by_problem.items()},
        # Each relation under one name for it and its stored inverse.
        "relation_form": {
            name: min(name, graph.relations[other]) if other >= 0 else name
            for name, other in zip(graph.relations, schema_of(graph).inverse.tolist(), strict=True)
        },
        "graph": {
            "entities": len(graph.entities),
            "triples": graph.triples,
            "relations": len(graph.relations),
        },
    }


def problems_of(clew: Clew, question: EvalQuestion, relations: Set[str]) -> list[ProblemKind]:
    """Name what stands against answering a question from a graph with these relations; it stays scored."""
    problems: list[ProblemKind] = []
    if question.verdict is None:
        gold_in_graph = sum(is_gold_there(clew, answer) for answer in question.gold)
        if not question.gold:
            problems.append("no_gold")
        elif gold_in_graph == 0:
            problems.append("gold_missing")
        elif gold_in_graph < len(question.gold):
            problems.append("gold_partly_missing")
    if not all(ids_of(clew, (entity,)) for entity in question.entities):
        problems.append("entity_missing")
    if any(not relations >= set(path.relations) for path in question.paths):
        problems.append("path_missing")
    return problems
