"""What a server can be asked, over any protocol: each is one call of the engine and its JSON form."""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Literal

from clew.engine import Clew
from clew.errors import ClewError, UsageError
from clew.evaluate.compared import ask_each
from clew.index.store.directory import MANIFEST, read_manifest
from clew.llm.types import ChatModel
from clew.methods.registry import METHODS, made_settings
from clew.methods.settings import options_of
from clew.query.table import ColumnFilter, Table, filters_of
from clew.serve.settings import Problem, ServerLimits
from clew.stores.store import as_json
from clew.text.embedders import load_runtime
from clew.types import Answer

# The graphs that a server answers from; each takes up a new generation of its index by itself.

log = logging.getLogger("clew.serve")


@dataclass(frozen=True)
class Snapshot:
    """A generation of a graph that is open. Requests keep the one that they began with."""

    clew: Clew
    generation: int

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
        info["generation"] = self.generation
        return info

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """Questions that this graph answers."""
        return self.clew.example_questions()


@dataclass
class ServedGraph:
    """A graph under its name: the snapshot that is asked now, and how to open the next one.

    `failure` says why the last generation could not be taken up; the one before is asked on.
    """

    name: str
    open: Callable[[], Clew]
    snapshot: Snapshot
    failure: str | None = None
    _last_mark: tuple[int, int, int] | None = None
    _reloading: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, name: str, open: Callable[[], Clew]) -> ServedGraph:
        """Open a graph; raises as `open`."""
        clew = open()
        graph = cls(name, open, Snapshot(clew, clew.generation))
        graph._last_mark = graph._manifest()
        return graph

    @property
    def clew(self) -> Clew:
        """The engine of the snapshot that is asked now."""
        return self.snapshot.clew

    def warm(self) -> None:
        """Make what the first question would make, by asking one that no graph answers at once."""
        self.snapshot.clew.ask(_OPEN)

    def reload(self) -> bool:
        """Take up the generation that is on the disk if it is another one; whether it was.

        An index that is gone or damaged leaves everything as it is, with the reason in `failure`.
        """
        with self._reloading:
            mark = self._manifest()
            if mark == self._last_mark:
                return False
            try:
                if read_manifest(self.clew.path).generation == self.snapshot.generation:
                    self._last_mark, self.failure = mark, None
                    return False
                clew = self.open()
                clew.ask(_OPEN)
            except ClewError as error:
                if self.failure is None:
                    log.warning("reload failed", extra={"graph": self.name, "reason": str(error)})
                self.failure = "its newest generation cannot be opened; the one before is asked"
                return False
            self.snapshot = Snapshot(clew, clew.generation)
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
                graph.clew.close()

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
            name, location = _stem(source), source
        if name in sources_by_name:
            raise UsageError(f'Two graphs would be called "{name}". Give one another name: NAME={location}')
        sources_by_name[name] = location
    if not sources_by_name:
        raise UsageError("No graph given. Write: clew serve films.tsv")
    return sources_by_name


def _stem(source: str) -> str:
    stem = Path(source).name.split(".")[0]
    return re.sub(r"[^\w.-]+", "-", stem) or "graph"


SHOWN_COLUMNS = 5
"""Columns of a table where a client names none."""
MOST_QUERY_ROWS = 200
"""Rows of a query that are read."""


@dataclass(frozen=True, slots=True)
class Models:
    """The chat models that may be asked, by name; the first is asked where no other is named."""

    by_name: Mapping[str, ChatModel]

    def get(self, name: str | None) -> ChatModel | None:
        """Find a model: `""` or none on the server is no model. Raises UsageError for an unknown name."""
        if not name:
            return None if name == "" else next(iter(self.by_name.values()), None)
        if name not in self.by_name:
            names = ", ".join(self.by_name) or "none; start the server with --llm"
            raise UsageError(f'There is no chat model "{name}" here. There are: {names}')
        return self.by_name[name]


@dataclass(frozen=True, slots=True)
class Asking:
    """A question or claim, and how it is to be answered; `model` None is the server's first, "" none."""

    question: str
    entities: Sequence[str] = ()
    method: str = "auto"
    model: str | None = None
    id: str | None = None
    explain: bool = False
    settings: Mapping[str, Any] | None = None
    reading: int | None = None
    partial: bool = False
    previous: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """Answers from some graphs, with some models, within limits."""

    graphs: Graphs
    models: Models
    limits: ServerLimits

    def list_graphs(self) -> dict[str, Any]:
        """All graphs with their counts, and the methods and models there are."""
        graphs = [
            {
                "name": graph.name,
                "generation": graph.snapshot.generation,
                "counts": dict(graph.clew.index.manifest.about.counts),
                "note": graph.failure,
            }
            for graph in self.graphs
        ]
        return {"graphs": graphs, "methods": list(METHODS), "models": list(self.models.by_name)}

    def ask(self, graph: str, asking: Asking) -> dict[str, Any]:
        """Answer a question: the JSON form of an answer."""
        clew, model = self._engine(graph), self.models.get(asking.model)
        answer = clew.ask(
            asking.question,
            id=asking.id,
            entities=asking.entities,
            method=_check_method(asking.method),
            model=model,
            settings=_settings(asking.method, asking.settings),
            reading=asking.reading,
            partial=asking.partial,
            previous=asking.previous,
        )
        return self._within_limit(answer).as_json(steps=asking.explain)

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

    def ask_all(self, graph: str, questions: Sequence[str], asking: Asking) -> dict[str, Any]:
        """Answer questions in turn, each as `asking` says: a row each, with its error where it failed."""
        rows: list[dict[str, Any]] = []
        for question in questions:
            try:
                row = {"answer": self.ask(graph, replace(asking, question=question)), "error": None}
            except ClewError as error:
                row = {"answer": None, "error": self.graphs.hide_paths(str(error))}
            rows.append(row)
        return {"rows": rows}

    def list_methods(self) -> dict[str, Any]:
        """The methods, and the settings that each takes."""
        return {
            "methods": [
                {"name": name, "needs_model": spec.needs_model, "settings": list(_options(name))}
                for name, spec in METHODS.items()
            ]
        }

    def verify(self, graph: str, asking: Asking, *, closed_world: bool = False) -> dict[str, Any]:
        """Check a claim, which is the question of `asking`: the JSON form of a verdict."""
        model = self.models.get(asking.model)
        checked = self._engine(graph).verify(
            asking.question,
            id=asking.id,
            closed_world=closed_world,
            method=_check_method(asking.method),
            model=model,
            settings=_settings(asking.method, asking.settings, claims=True),
        )
        return checked.as_json(steps=asking.explain)

    def compare(
        self,
        graph: str,
        question: str,
        methods: Sequence[str],
        *,
        entities: Sequence[str] = (),
        model: str | None = None,
        settings: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """Ask several methods the same question, each with its settings."""
        names = [_check_method(name) for name in dict.fromkeys(methods)]
        if not names or len(names) > self.limits.methods:
            raise UsageError(f"Give 1 to {self.limits.methods} methods, not {len(names)}")
        chat_model = self.models.get(model)
        settings_by_method = {name: _settings(name, values) for name, values in (settings or {}).items()}
        comparison = ask_each(
            self._engine(graph),
            question,
            names,
            entities=entities,
            model=chat_model,
            settings=settings_by_method,
        ).as_json()
        for row in comparison["rows"]:
            row["error"] = row["error"] and self.graphs.hide_paths(row["error"])
        return comparison

    def match(
        self, graph: str, pattern: Mapping[str, Any], *, k: int = 3, all: bool = False, id: str | None = None
    ) -> dict[str, Any]:
        """Find a pattern; the search stops a little before the time of the request is over."""
        if not 1 <= k <= self.limits.k:
            raise UsageError(f"k is from 1 to {self.limits.k}, not {k}")
        clew, began = self._engine(graph), time.perf_counter()
        result = clew.match(pattern, k=k, all=all, milliseconds=900 * self.limits.seconds)
        if len(result.matches) > self.limits.answers:
            result = replace(result, matches=result.matches[: self.limits.answers], complete=False)
        return clew.matches_json(result, id=id, milliseconds=(time.perf_counter() - began) * 1000)

    def query(self, graph: str, statement: str, *, rows: int = 50) -> dict[str, Any]:
        """Run a reading query of Cypher or SPARQL: `{"columns", "rows", "complete"}`."""
        seconds = min(10.0, self.limits.seconds)
        result = self._engine(graph).query(statement, seconds=seconds, rows=MOST_QUERY_ROWS)
        return {
            "columns": list(result.columns),
            "rows": [[as_json(value) for value in row] for row in result.rows[:rows]],
            "complete": result.complete and len(result.rows) <= rows,
        }

    def info(self, graph: str) -> dict[str, Any]:
        """Counts, relations and types."""
        return self.graphs[graph].snapshot.info

    def relations(self, graph: str, *, limit: int = 500, offset: int = 0) -> dict[str, Any]:
        """The relations with examples, types at their ends and counts, the most frequent first."""
        info = self.info(graph)
        page = info["relations"][offset : offset + limit]
        return {"relations": page, "count": len(info["relations"]), "types": info["types"]}

    def examples(self, graph: str) -> dict[str, Any]:
        """Questions that this graph answers."""
        return {"questions": list(self.graphs[graph].snapshot.examples)}

    def find_entities(self, graph: str, text: str, *, limit: int = 10) -> dict[str, Any]:
        """Entities that a text names, begins or misspells."""
        hits = self._engine(graph).find_entities(text, limit=min(limit, self.limits.page))
        return {"entities": [hit.as_json() for hit in hits]}

    def neighbours(
        self,
        graph: str,
        entity: str,
        *,
        relation: str | None = None,
        direction: Literal["out", "in"] | None = None,
        offset: int = 0,
        limit: int = 20,
    ) -> dict[str, Any]:
        """What is around an entity, a group for each relation."""
        neighbourhood = self._engine(graph).neighbours(
            entity, relation=relation, direction=direction, offset=offset, limit=min(limit, self.limits.page)
        )
        return neighbourhood.as_json()

    def vocabulary(self, graph: str) -> dict[str, Any]:
        """What the team of a graph calls things."""
        return self._engine(graph).vocabulary.as_json()

    def types(self, graph: str) -> dict[str, Any]:
        """The types of a graph with their counts; of one without, the ends of its relations."""
        info = self.info(graph)
        declared = [{"type": name, "count": count} for name, count in info["types"].items()]
        ends = [
            {"type": f"{end} of {relation['name']}", "count": relation[f"{end}s"]}
            for relation in info["relations"]
            for end in ("head", "tail")
        ]
        return {"types": declared or ends, "declared": bool(declared)}

    def table(self, graph: str, rows: Mapping[str, Any], page: Mapping[str, Any]) -> dict[str, Any]:
        """A page of entities; without `columns` the first ones are chosen, and all are described."""
        table, filters = self._table(graph, rows)
        named = {key: value for key, value in page.items() if key != "columns"}
        chosen: Sequence[str] | None = page.get("columns")
        described = [] if chosen is not None else table.columns()
        columns = [column.name for column in described[:SHOWN_COLUMNS]] if chosen is None else chosen
        reply = table.page(columns, filters=filters, **named)
        return reply | {"available": [column.as_json() for column in described]}

    def facets(self, graph: str, rows: Mapping[str, Any], column: str) -> dict[str, Any]:
        """The values of one column, counted."""
        table, filters = self._table(graph, rows)
        return table.column(column).as_json() | table.facets(column, filters)

    def _table(self, graph: str, rows: Mapping[str, Any]) -> tuple[Table, list[ColumnFilter]]:
        named = {key: rows[key] for key in ("type", "query", "entities")}
        return self._engine(graph).table(**named), filters_of(rows["filters"])

    def paths(self, graph: str, start: str, end: str, *, limit: int = 5, longest: int = 4) -> dict[str, Any]:
        """The shortest paths between two entities."""
        return self._engine(graph).paths(start, end, limit=limit, longest=longest).as_json()

    def _engine(self, graph: str) -> Clew:
        return self.graphs[graph].clew


def _options(method: str, *, claims: bool = False) -> Iterator[dict[str, Any]]:
    """What a client may tell a method: options whose values are plain, not files of this machine."""
    kind = METHODS[method].settings_class(claims=claims)
    for name, (option, default) in ({} if kind is None else options_of(kind)).items():
        if option.offered and not option.reads and option.kind in _KINDS:
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
