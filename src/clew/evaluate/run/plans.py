"""From what a user wants (a data set or an experiment, methods, options) to a run that is ready to go.

An experiment is a table or figure of a paper, with the figures that the paper prints:

```toml
title = "SimGRAG, table 1"
view = "table"            # table, errors
metric = "hits_at_1"
limit = 500               # questions of each part and seed; all where it is left out
seeds = [0]
differs = ["what the paper did otherwise"]

[[columns]]
name = "MetaQA 1-hop"
dataset = "metaqa"
part = "1-hop"            # several joined by + are averaged; kind = "…" and stage = "…" narrow it down

[[rows]]
name = "SimGRAG"
method = "simgrag"        # left out where only the paper's figures are shown
built_in = "auto"         # the method in its place where no model is named
options = { k = 3 }
corpus = { kind = "bfs", depth = 4 }    # walks to store, for walk-retrieve
paper = [98.0]            # one for each column; nan where the paper has none
```
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from clew.engine import Clew
from clew.errors import InputError, UsageError
from clew.evaluate.datasets.registry import DATASETS, dataset_named, read_files
from clew.evaluate.metrics import metric_named
from clew.evaluate.records import DatasetPart
from clew.evaluate.run.asking import check_methods, needs_model, option_names
from clew.evaluate.run.rundir import MethodVariant, OptionValue, RunSettings
from clew.evaluate.run.runner import RunPlan, open_graph
from clew.index.corpus import CorpusSettings
from clew.index.store.writing import Progress
from clew.llm.managed import ManagedModel
from clew.methods.registry import METHODS
from clew.plugins import is_plugin


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table: parts of a data set, a metric or the mean time of a `stage`, maybe of one `kind`.

    `scale` turns our value into the paper's unit; None is the experiment's for shares, else 1.
    """

    name: str
    dataset: str
    part: str
    metric: str
    split: str | None = None
    kind: str | None = None
    stage: str | None = None
    scale: float | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts, which are averaged."""
        return tuple(part.strip() for part in self.part.split("+"))


@dataclass(frozen=True, slots=True)
class RowSpec:
    """A row of a table with the paper's figures (NaN where it has none); `group` is a heading over it."""

    name: str
    method: str | None = None
    label: str = ""
    options: dict[str, OptionValue] = field(default_factory=dict[str, OptionValue])
    corpus: dict[str, Any] | None = None
    built_in: str | None = None
    paper: tuple[float, ...] = ()
    group: str = ""

    def choose_method(self, *, with_model: bool) -> MethodVariant | None:
        """Choose the method of a run, `built_in` where no model is named; None where the paper's is shown."""
        if self.built_in is not None and not with_model:
            return MethodVariant(self.built_in, self.built_in)
        if self.method is None:
            return None
        corpus = None if self.corpus is None else CorpusSettings(**self.corpus)
        given = {**(self.corpus or {}), **self.options}
        options = ", ".join(f"{name}={value}" for name, value in given.items())
        label = f"{self.method}({options})" if options else self.method
        return MethodVariant(self.label or label, self.method, self.options, corpus)


@dataclass(frozen=True)
class Experiment:
    """An experiment; `scale` turns our shares into what the paper prints (100 for percent)."""

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[RowSpec, ...]
    view: Literal["table", "errors"] = "table"
    limit: int | None = None
    seeds: tuple[int, ...] = (0,)
    given_entities: bool = False
    scale: float = 100.0
    differs: tuple[str, ...] = ()

    @property
    def has_paper(self) -> bool:
        """Whether it prints figures of a paper."""
        return any(not math.isnan(value) for row in self.rows for value in row.paper)

    @property
    def data(self) -> tuple[tuple[str, str, str | None], ...]:
        """Data set, part and split of all that is needed."""
        return tuple(dict.fromkeys((c.dataset, part, c.split) for c in self.columns for part in c.parts))

    def methods(self, *, with_model: bool) -> tuple[MethodVariant, ...]:
        """Methods of the rows, each label once."""
        chosen_methods = (row.choose_method(with_model=with_model) for row in self.rows)
        return tuple({method.label: method for method in chosen_methods if method is not None}.values())


def read_experiment(path: Path) -> Experiment:
    """Read an experiment; InputError says which field of which row is wrong."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    return experiment_of(text, str(path))


def experiment_of(text: str, where: str) -> Experiment:
    """Read the text of an experiment; `where` begins the messages."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: not TOML ({error})") from error
    metric = {"metric": document.get("metric", "hits_at_1")}
    try:
        if "columns" in document:
            document["columns"] = [metric | column for column in document["columns"]]
        experiment = msgspec.convert(document, Experiment)
        for column in experiment.columns:
            metric_named(column.metric)
        rows = tuple(_whole_row(row, len(experiment.columns)) for row in experiment.rows)
    except (TypeError, ValueError, UsageError) as error:
        raise InputError(f"{where}: not an experiment: {error}") from error
    return replace(experiment, rows=rows)


def _whole_row(row: RowSpec, columns: int) -> RowSpec:
    """The row with a figure of the paper for each column; raises for walks that there are not."""
    row.choose_method(with_model=True)
    paper = row.paper or (math.nan,) * columns
    if len(paper) != columns:
        raise ValueError(f"row {row.name!r} has {len(paper)} figures of the paper for {columns} columns")
    return replace(row, paper=paper)


Note = Callable[[str], None]


@dataclass(frozen=True)
class RunRequest:
    """What a user asked for; None and empty leave it to the experiment or the default."""

    targets: tuple[Path, ...]
    """A directory, an experiment, or graph files and the file of questions."""
    dataset: str | None
    parts: tuple[str, ...]
    split: str | None
    graph: str | Path | None
    data: tuple[str, ...]
    methods: tuple[str, ...]
    limit: int | None
    seeds: tuple[int, ...] | None
    given_entities: bool
    llm: str | None
    steps: bool
    embedder: str | None
    workers: int
    out: Path

    @property
    def target(self) -> Path:
        """What was given first."""
        return self.targets[0]


def run_name(targets: Sequence[Path]) -> str:
    """Name a run by what is asked: a directory, an experiment, or the file of questions."""
    questions = [path for path in targets if path.suffix == ".jsonl"]
    return (questions or list(targets))[0].resolve().name.removesuffix(".toml").removesuffix(".jsonl")


def make_plan(
    request: RunRequest, model: ManagedModel | None, *, progress: Progress | None, note: Note
) -> RunPlan:
    """Read the data, open the graphs and check the methods; nothing is asked yet, of `model` neither.

    Raises UsageError, InputError, ParseError.
    """
    is_experiment = request.target.suffix == ".toml"
    if is_experiment and len(request.targets) > 1:
        raise UsageError(f"{request.target}: an experiment is run alone. Give it no further files")
    plan = _experiment(request, note) if is_experiment else _dataset(request)
    for name, count in Counter(part.name for part in plan.parts).items():
        if count > 1:
            raise UsageError(f"Part {name} is there twice. Name each once")
    for part in plan.parts:
        for text in part.notes:
            note(f"{part.name}: {text}")
    check_methods(plan.methods, model)
    embedder, sources = plan.settings.embedder, dict[str, tuple[Sequence[str | Path], str | None]]()
    for part in plan.parts:
        # In an experiment the graph that the user names is for data that come without one.
        if request.graph is not None and not (is_experiment and part.graph):
            sources[part.name] = (request.graph,), None
        elif part.graph:
            sources[part.name] = part.graph, part.format
        else:
            problem = "the data set comes without its graph. Name it: --graph SOURCE"
            raise InputError(f"{part.name}: {problem}")
    graphs: dict[tuple[str, CorpusSettings | None], Clew] = {
        (name, None): open_graph(*source, embedder, progress) for name, source in sources.items()
    }
    methods = plan.methods
    if model is None:
        methods = _without_model(plan, graphs[plan.parts[0].name, None], note)
    graphs |= {
        (name, corpus): open_graph(*source, embedder, progress, corpus)
        for name, source in sources.items()
        for corpus in dict.fromkeys(method.corpus for method in methods)
        if corpus is not None
    }
    return replace(
        plan,
        graphs=graphs,
        methods=methods,
        workers=request.workers,
        model=model,
        price=None if model is None else model.policy.price,
        limits=None if model is None else model.policy.per_question,
    )


def _without_model(plan: RunPlan, clew: Clew, note: Note) -> list[MethodVariant]:
    """Leave out the methods of an experiment that need a model; UsageError for one that the user named."""
    usable_methods: list[MethodVariant] = []
    for spec in plan.methods:
        reason = needs_model(spec, clew)
        if reason is None:
            usable_methods.append(spec)
        elif plan.experiment is None:
            raise UsageError(f"Method {spec.method}: {reason}")
        else:
            note(f"{spec.label}: left out ({reason})")
    if not usable_methods:
        raise UsageError("All methods of the experiment need a model. Name one with --llm provider/model")
    return usable_methods


def _settings(request: RunRequest, limit: int | None = None, seeds: tuple[int, ...] = (0,)) -> RunSettings:
    """What the user says; `limit` and `seeds` where he says nothing of them."""
    return RunSettings(
        request.limit or limit,
        request.seeds or seeds,
        request.given_entities,
        request.steps,
        request.llm,
        request.embedder,
    )


def _dataset(request: RunRequest) -> RunPlan:
    """What is asked of the parts of a data set; their graphs are not open yet."""
    if request.data:
        raise UsageError("--data is for experiments. Give the directory of the data set itself")
    if len(request.targets) > 1 or request.target.suffix == ".jsonl":
        return _of_parts(request, [read_files(request.targets)])
    if not request.target.is_dir():
        if request.target.exists():
            raise UsageError(
                f"{request.target}: a graph alone. Give a file of questions too, as in: "
                f"clew eval {request.target} questions.jsonl"
            )
        raise InputError(f"{request.target}: no such directory. Give the directory of the data set")
    reader = dataset_named(request.dataset or _guess(request.target))
    if request.split is not None and not reader.splits:
        raise UsageError(f"{reader.about.name} has no splits. Leave out --split")
    names = request.parts or reader.parts(request.target)
    if not names:
        about = reader.about
        raise InputError(f"{request.target}: no questions of {about.name}. Expected: {about.files}")
    return _of_parts(
        request, [reader.read(request.target, name, request.split) for name in dict.fromkeys(names)]
    )


def _of_parts(request: RunRequest, parts: Sequence[DatasetPart]) -> RunPlan:
    if not request.methods:
        raise UsageError("No method given. Write --method auto")
    methods = [MethodVariant(name, name) for name in dict.fromkeys(request.methods)]
    return RunPlan(parts, {}, methods, _settings(request))


def _guess(folder: Path) -> str:
    """Name the data set of a directory by what is in it, where only one fits."""
    if (folder / "questions.jsonl").is_file():
        return "plain"
    matching_names = [reader.about.name for reader in DATASETS if reader.parts(folder)]
    if len(matching_names) == 1:
        return matching_names[0]
    names = ", ".join(reader.about.name for reader in DATASETS)
    raise UsageError(f"{folder}: say what it is with --dataset, one of: {names}")


def _experiment(request: RunRequest, note: Note) -> RunPlan:
    if request.dataset or request.parts:
        raise UsageError("An experiment names its data itself. Leave out --dataset, --part and --hops")
    experiment = read_experiment(request.target)
    parts: list[DatasetPart] = []
    for dataset, name, split in experiment.data:
        folder = _data_folder(request.data, dataset)
        if folder is None:
            note(f"{dataset}/{name}: left out, as its directory is not known. Name it: --data {dataset}=DIR")
            continue
        try:
            part = dataset_named(dataset).read(folder, name, request.split or split)
        except InputError as error:
            note(f"{dataset}/{name}: left out ({error})")
            continue
        if not part.graph and request.graph is None:
            note(f"{part.name}: left out, as it comes without its graph. Name it: --graph SOURCE")
        elif all(part.name != other.name for other in parts):
            parts.append(part)
    if not parts:
        raise InputError(f"{request.target}: none of its data is there. Name it: --data metaqa=DIR --data …")
    methods = _available_methods(experiment, note, with_model=request.llm is not None)
    settings = _settings(request, experiment.limit, experiment.seeds)
    settings = replace(settings, given_entities=request.given_entities or experiment.given_entities)
    return RunPlan(parts, {}, methods, settings, experiment=request.target.read_text("utf-8"))


def _available_methods(experiment: Experiment, note: Note, *, with_model: bool) -> list[MethodVariant]:
    """Take the methods that this version has with their options; say which are left out."""
    methods: list[MethodVariant] = []
    for spec in experiment.methods(with_model=with_model):
        if spec.method not in METHODS and not is_plugin(spec.method):
            note(f"{spec.label}: left out, as this version has no method {spec.method}")
            continue
        unknown_options = sorted(set(spec.options) - option_names(spec.method))
        if unknown_options:
            note(
                f"{spec.label}: left out, as {spec.method} has no option {unknown_options[0]!r}"
                " in this version"
            )
            continue
        methods.append(spec)
    if not methods:
        raise UsageError("This version has none of the experiment's methods")
    return methods


def _data_folder(data: Sequence[str], dataset: str) -> Path | None:
    """Find the directory of a data set: `NAME=DIR` names one, a plain `DIR` has one directory for each."""
    named = dict(item.split("=", 1) for item in data if "=" in item)
    roots = [Path(item) for item in data if "=" not in item]
    for path in (*map(Path, named.values()), *roots):
        if not path.is_dir():
            raise InputError(f"{path}: no such directory. Check --data")
    places = [Path(named[dataset])] if dataset in named else [root / dataset for root in roots]
    return next((place for place in places if place.is_dir()), None)
