"""What a server can be asked, over any protocol: each is one call of the engine and its JSON form."""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from fastapi import Path as InPath
from fastapi import Query

from clew.engine import Clew
from clew.errors import ClewError, UsageError
from clew.evaluate.compared import MethodAnswers, ask_each
from clew.index.explore import Neighbourhood, PathsForm
from clew.index.info import Info
from clew.index.store.directory import MANIFEST, read_manifest
from clew.llm.reply import ChatModel
from clew.methods.registry import METHODS, made_settings
from clew.methods.settings import options_of
from clew.query.table import ColumnFilter, Table, filters_of
from clew.serve import forms
from clew.serve.replies import (
    AnswerRowForm,
    AnswersForm,
    ColumnFacetsForm,
    EntitiesForm,
    ExamplesForm,
    GraphForm,
    GraphsForm,
    JsonValue,
    MethodsForm,
    QueryRowsForm,
    RelationsForm,
    SettingForm,
    TableForm,
    TypeCountForm,
    TypesForm,
)
from clew.serve.settings import Problem, ServerLimits
from clew.stores.store import as_json
from clew.text.embedders import load_runtime
from clew.types import Answer, MatchesForm, Verification
from clew.vocabulary.file import VocabularyForm

# The graphs that a server answers from; each takes up a new generation of its index by itself.

log = logging.getLogger("clew.serve")


@dataclass(frozen=True)
class Snapshot:
    """A generation of a graph that is open. Requests keep the one that they began with."""

    clew: Clew

    @cached_property
    def info(self) -> dict[str, Any]:
        """What the graph holds, without the paths of the server."""
        info = self.clew.info().as_json()
        info["index"] = Path(info["index"]).name
        info["sources"] = [
            {key: value for key, value in source.items() if key not in ("path", "modified", "sha256")}
            | {"path": Path(source["path"]).name}
            for source in info["sources"]
        ]
        info["generation"] = self.clew.generation
        return info

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """Questions that this graph answers."""
        return self.clew.example_questions()


@dataclass
class ServedGraph:
    """A graph under its name: the snapshot that is asked now, and how to open the next one.

    `failure` says why the last generation could not be taken up; the one before is asked on. `damage` says
    what was written to a file of the one that is asked: until that is mended, nothing is answered.
    """

    name: str
    open: Callable[[], Clew]
    snapshot: Snapshot
    failure: str | None = None
    damage: str | None = None
    _last_mark: tuple[int, int, int] | None = None
    _reloading: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, name: str, open: Callable[[], Clew]) -> ServedGraph:
        """Open a graph; raises as `open`."""
        clew = open()
        graph = cls(name, open, Snapshot(clew))
        graph._last_mark = graph._manifest()
        return graph

    @property
    def clew(self) -> Clew:
        """The engine of the snapshot that is asked now."""
        return self.snapshot.clew

    def warm(self) -> None:
        """Make what the first question would make, by asking one that no graph answers at once."""
        self.snapshot.clew.ask(_OPEN)

    def check(self) -> None:
        """Look whether the files that are asked are whole."""
        try:
            self.clew.opened.check_unchanged()
        except ClewError as error:
            self.damage = str(error)
        else:
            self.damage = None

    def reload(self) -> bool:
        """Take up the generation that is on the disk if it is another one; whether it was.

        An index that is gone or damaged leaves everything as it is, with the reason in `failure`.
        """
        with self._reloading:
            mark = self._manifest()
            if mark == self._last_mark:
                return False
            try:
                if read_manifest(self.clew.path).generation == self.clew.generation:
                    self._last_mark, self.failure = mark, None
                    return False
                clew = self.open()
                clew.ask(_OPEN)
            except ClewError as error:
                if self.failure is None:
                    log.warning("reload failed", extra={"graph": self.name, "reason": str(error)})
                self.failure = "its newest generation cannot be opened; the one before is asked"
                return False
            self.snapshot = Snapshot(clew)
            self._last_mark, self.failure = mark, None
            log.info("reloaded", extra={"graph": self.name, "generation": clew.generation})
            return True

    def _manifest(self) -> tuple[int, int, int] | None:
        """What is another one when there is a new generation."""
        try:
            status = (self.clew.path / MANIFEST).stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ino, status.st_size


class Graphs:
    """All graphs of a server, by name."""

    def __init__(self, graphs: Iterable[ServedGraph]) -> None:
        self._graphs = {graph.name: graph for graph in graphs}
        self.warm = False
        """Whether each has been asked once, if that is wanted: the first question takes longer."""

    def __getitem__(self, name: str) -> ServedGraph:
        if name not in self._graphs:
            detail = f'There is no graph "{name}" here. There are: {", ".join(self._graphs)}'
            raise Problem(404, "no-such-graph", "No such graph", detail)
        return self._graphs[name]

    def __iter__(self) -> Iterator[ServedGraph]:
        return iter(self._graphs.values())

    def prepare_for_forks(self) -> None:
        """Make what first questions would make, so that processes that are forked share it.

        What has threads of its own does not outlive a fork: it is let go of, and each process makes its own.
        """
        # These stay single-threaded, or need no thread of theirs: they do outlive it.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        load_runtime()
        before = _threads()
        for graph in self:
            graph.warm()
            for question in graph.snapshot.examples:
                graph.clew.ask(question)
        if _threads() > before:
            for graph in self:
                graph.clew.let_go()

    @property
    def names(self) -> list[str]:
        """Names in the order in which they were given."""
        return list(self._graphs)

    def hide_paths(self, text: str) -> str:
        """Write names of graphs for the paths of their indexes."""
        for graph in self._graphs.values():
            path = graph.clew.path
            for path_text in (str(path.resolve()), str(path)):
                text = text.replace(path_text, graph.name)
        return _PATH.sub("…", text)


def _threads() -> int:
    """Threads of this process, also those that Python does not know; 1 more each time if not known."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:  # not Linux
        return next(_UNKNOWN)


_UNKNOWN = count()
_OPEN = "Which one of them all is the best?"
"""All that reads questions is asked this one."""
_PATH = re.compile(r"(?<![\w:/.])/(?:[\w.+-]+/)+[\w.+-]*")
"""A path of a file that no graph's name stands for."""


def named_sources(sources: Iterable[str]) -> Mapping[str, str]:
    """Give each source its name: as in `NAME=SOURCE`, else that of the file without its ending.

    Raises UsageError for two of one name.
    """
    sources_by_name: dict[str, str] = {}
    for source in sources:
        name, separator, location = source.partition("=")
        if not (separator and re.fullmatch(r"[\w.-]+", name)):
            stem = Path(source).name.split(".")[0]
            name, location = re.sub(r"[^\w.-]+", "-", stem) or "graph", source
        if name in sources_by_name:
            raise UsageError(f'Two graphs would be called "{name}". Give one another name: NAME={location}')
        sources_by_name[name] = location
    if not sources_by_name:
        raise UsageError("No graph given. Write: clew serve films.tsv")
    return sources_by_name


@dataclass(frozen=True, slots=True)
class Service:
    """Answers from some graphs, with some models by name, within limits.

    Its methods take what requests hold and say in their docstrings what the HTTP API says of them.
    """

    graphs: Graphs
    models: Mapping[str, ChatModel]
    limits: ServerLimits

    def list_graphs(self) -> GraphsForm:
        """List the graphs with their counts, the methods, and the chat models."""
        graphs: list[GraphForm] = [
            {
                "name": graph.name,
                "generation": graph.clew.generation,
                "counts": dict(graph.clew.opened.manifest.about.counts),
                "note": graph.failure,
            }
            for graph in self.graphs
        ]
        return {"graphs": graphs, "methods": list(METHODS), "models": list(self.models)}

    def methods(self) -> MethodsForm:
        """List the methods with their settings: type, range, choices and default of each."""
        return {
            "methods": [
                {"name": name, "needs_model": spec.needs_model, "settings": list(_options(name))}
                for name, spec in METHODS.items()
            ]
        }

    def ask(self, graph: forms.GraphName, form: forms.AskForm) -> Annotated[dict[str, Any], Answer]:
        """Answer a question, or abstain with a reason; both are 200.

        With `Accept: text/event-stream` come events: `reply` (pieces of what a chat model says), `step`
        (steps of the method, when they are taken), and last `answer` or `problem`.
        """
        clew, model = self._engine(graph), self._model(form.model)
        answer = clew.ask(
            form.question,
            id=form.id,
            entities=form.entities,
            method=_check_method(form.method),
            model=model,
            settings=_settings(form.method, form.settings),
            reading=form.reading,
            partial=form.partial,
            previous=form.previous,
        )
        return self._within_limit(answer).as_json(steps=form.explain)

    def _within_limit(self, answer: Answer) -> Answer:
        count, most = len(answer.answers), self.limits.answers
        if count <= most:
            return answer
        names = {entity.entity for entity in answer.answers[:most]}
        note = f"only the first {most:,} of {count:,} answers are sent"
        return replace(
            answer,
            answers=answer.answers[:most],
            citations=tuple(cited for cited in answer.citations if cited.answer in names),
            text=f"{count:,} answers",
            notes=(*answer.notes, note),
            total=count if answer.total is None else answer.total,
        )

    def ask_by_address(
        self,
        graph: forms.GraphName,
        question: Annotated[forms.Text, Query(alias="q", examples=["Who directed Memento?"])],
        id: forms.RequestId,
        method: Annotated[forms.NameText, Query()] = "auto",
    ) -> Annotated[dict[str, Any], Answer]:
        """Answer a question as POST does, without a chat model: `/v1/films/ask?q=Who+directed+Memento?`."""
        form = forms.AskForm.model_construct(question=question, method=method, model="", id=id)
        return self.ask(graph, form)

    def batch(self, graph: forms.GraphName, form: forms.BatchForm) -> AnswersForm:
        """Answer questions in turn, in the time of one request; one that fails has its error in its row."""
        rows: list[AnswerRowForm] = []
        for question in form.questions:
            asked = forms.AskForm.model_construct(
                question=question, method=form.method, model=form.model, settings=form.settings
            )
            try:
                rows.append({"answer": self.ask(graph, asked), "error": None})
            except ClewError as error:
                rows.append({"answer": None, "error": self.graphs.hide_paths(str(error))})
        return {"rows": rows}

    def verify(
        self, graph: forms.GraphName, form: forms.VerifyForm
    ) -> Annotated[dict[str, Any], Verification]:
        """Say whether the graph supports a claim, refutes it, or does not hold enough, part by part."""
        model = self._model(form.model)
        checked = self._engine(graph).verify(
            form.claim,
            id=form.id,
            closed_world=form.closed_world,
            method=_check_method(form.method),
            model=model,
            settings=_settings(form.method, form.settings, claims=True),
        )
        return checked.as_json(steps=form.explain)

    def compare(
        self, graph: forms.GraphName, form: forms.CompareForm
    ) -> Annotated[dict[str, Any], MethodAnswers]:
        """Ask several methods the same question; one that fails has its error in its row."""
        names = [_check_method(name) for name in dict.fromkeys(form.methods)]
        if len(names) > self.limits.methods:
            raise UsageError(f"Give at most {self.limits.methods} methods, not {len(names)}")
        chat_model = self._model(form.model)
        settings = {name: _settings(name, values) for name, values in form.settings.items()}
        comparison = ask_each(
            self._engine(graph),
            form.question,
            names,
            entities=form.entities,
            model=chat_model,
            settings=settings,
        ).as_json()
        for row in comparison["rows"]:
            row["error"] = row["error"] and self.graphs.hide_paths(row["error"])
        return comparison

    def match(self, graph: forms.GraphName, form: forms.MatchForm) -> MatchesForm:
        """Find the matches of a pattern, in order of graph semantic distance."""
        if form.k > self.limits.k:
            raise UsageError(f"k is from 1 to {self.limits.k}, not {form.k}")
        clew, began = self._engine(graph), time.perf_counter()
        # The search stops a little before the time of the request is over.
        result = clew.match(form.pattern(), k=form.k, all=form.all, milliseconds=900 * self.limits.seconds)
        if len(result.matches) > self.limits.answers:
            result = replace(result, matches=result.matches[: self.limits.answers], complete=False)
        return clew.matches_json(result, id=form.id, milliseconds=(time.perf_counter() - began) * 1000)

    def query(self, graph: forms.GraphName, form: forms.QueryForm) -> QueryRowsForm:
        """Run a reading query of Cypher or SPARQL; whatever else it may do is refused."""
        seconds = min(10.0, self.limits.seconds)
        result = self._engine(graph).query(form.query, seconds=seconds, rows=200)
        return {
            "columns": list(result.columns),
            "rows": [
                [cast("JsonValue", as_json(value)) for value in row] for row in result.rows[: form.rows]
            ],
            "complete": result.complete and len(result.rows) <= form.rows,
        }

    def info(self, graph: forms.GraphName) -> Annotated[dict[str, Any], Info]:
        """Counts, relations with examples, types, sources and updates."""
        return self.graphs[graph].snapshot.info

    def examples(self, graph: forms.GraphName) -> ExamplesForm:
        """Questions made from this graph, each of which it answers."""
        return {"questions": list(self.graphs[graph].snapshot.examples)}

    def relations(
        self, graph: forms.GraphName, limit: forms.Page = 500, offset: forms.Offset = 0
    ) -> RelationsForm:
        """The most frequent relations first, with the declared types of the graph."""
        info = self.info(graph)
        page = info["relations"][offset : offset + limit]
        return {"relations": page, "count": len(info["relations"]), "types": info["types"]}

    def find_entities(
        self,
        graph: forms.GraphName,
        prefix: Annotated[str, Query(max_length=200, examples=["chris"])],
        limit: forms.Page = 10,
    ) -> EntitiesForm:
        """Entities that a text names, begins or misspells, the best first."""
        hits = self._engine(graph).find_entities(prefix, limit=min(limit, self.limits.page))
        return {"entities": [hit.as_json() for hit in hits]}

    def neighbours(
        self,
        graph: forms.GraphName,
        id: Annotated[str, InPath(max_length=2_000, examples=["Christopher Nolan"])],
        relation: Annotated[forms.NameText | None, Query()] = None,
        direction: Annotated[Literal["out", "in"] | None, Query()] = None,
        limit: forms.Page = 20,
        offset: forms.Offset = 0,
    ) -> Annotated[dict[str, Any], Neighbourhood]:
        """What is around an entity: for each relation and direction a count and one page of nodes."""
        neighbourhood = self._engine(graph).neighbours(
            id, relation=relation, direction=direction, offset=offset, limit=min(limit, self.limits.page)
        )
        return neighbourhood.as_json()

    def vocabulary(self, graph: forms.GraphName) -> VocabularyForm:
        """Labels, words and units of relations and types, and terms with their query graphs."""
        return self._engine(graph).vocabulary.as_json()

    def types(self, graph: forms.GraphName) -> TypesForm:
        """The types of a graph with their counts; of one without, the ends of its relations."""
        info = self.info(graph)
        declared: list[TypeCountForm] = [
            {"type": name, "count": count} for name, count in info["types"].items()
        ]
        ends: list[TypeCountForm] = [
            {"type": f"{end} of {relation['name']}", "count": relation[f"{end}s"]}
            for relation in info["relations"]
            for end in ("head", "tail")
        ]
        return {"types": declared or ends, "declared": bool(declared)}

    def table(self, graph: forms.GraphName, form: forms.TableForm) -> TableForm:
        """A page of entities with columns, sorted and filtered; `available` describes all columns."""
        table, filters = self._table(graph, form)
        described = [] if form.columns is not None else table.columns()
        columns = form.columns or [column.name for column in described[:5]]
        page = form.model_dump(include={"sort", "descending", "offset", "limit"})
        reply = table.page(columns, filters=filters, **page)
        return {**reply, "available": [column.as_json() for column in described]}

    def facets(self, graph: forms.GraphName, form: forms.FacetsForm) -> ColumnFacetsForm:
        """The values of a column with how many rows have each; of numbers a histogram too."""
        table, filters = self._table(graph, form)
        return {**table.column(form.column).as_json(), **table.facets(form.column, filters)}  # type: ignore[typeddict-item]

    def _table(self, graph: str, form: forms.RowsForm) -> tuple[Table, list[ColumnFilter]]:
        table = self._engine(graph).table(type=form.type, query=form.query, entities=form.entities)
        return table, filters_of([condition.model_dump(by_alias=True) for condition in form.filters])

    def paths(
        self,
        graph: forms.GraphName,
        start: Annotated[forms.NameText, Query(alias="from", examples=["Memento"])],
        end: Annotated[forms.NameText, Query(alias="to", examples=["Inception"])],
        limit: Annotated[int, Query(ge=1, le=50)] = 5,
        longest: Annotated[int, Query(ge=1, le=6)] = 4,
    ) -> PathsForm:
        """The shortest paths between two entities, along edges in both directions."""
        return self._engine(graph).paths(start, end, limit=limit, longest=longest).as_json()

    def _engine(self, graph: str) -> Clew:
        return self.graphs[graph].clew

    def _model(self, name: str | None) -> ChatModel | None:
        """Find a model: None is the first, `""` is none. Raises UsageError for an unknown name."""
        if not name:
            return None if name == "" else next(iter(self.models.values()), None)
        if name not in self.models:
            names = ", ".join(self.models) or "none; start the server with --llm"
            raise UsageError(f'There is no chat model "{name}" here. There are: {names}')
        return self.models[name]


def _options(method: str, *, claims: bool = False) -> Iterator[SettingForm]:
    """What a client may tell a method: options whose values are plain, not files of this machine."""
    kind = METHODS[method].settings_class(claims=claims)
    for name, (option, default) in ({} if kind is None else options_of(kind)).items():
        if not option.reads and option.kind in _KINDS:
            yield {
                "name": name,
                "about": option.help,
                "type": _KINDS[option.kind],
                "default": default,
                "least": option.least,
                "most": option.most,
                "choices": list(option.choices),
            }


_KINDS: Mapping[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}


def _settings(method: str, values: Mapping[str, Any] | None, *, claims: bool = False) -> object:
    """Make the settings of a method; None where nothing is given.

    Raises UsageError for one that the method does not take from clients, or a value that it refuses.
    """
    names = [option["name"] for option in _options(_check_method(method), claims=claims)]
    for name in values or ():
        if name not in names:
            raise UsageError(
                f'{method} has no setting "{name}" here. There are: {", ".join(names) or "none"}'
            )
    return made_settings(method, values, claims=claims) if values else None


def _check_method(method: str) -> str:
    """Let only Clew's own methods through: `module:class` would import what a client names."""
    if method not in METHODS:
        raise UsageError(f'There is no method "{method}". Methods are: {", ".join(METHODS)}')
    return method
