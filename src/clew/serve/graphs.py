"""The graphs that a server answers from; each takes up a new generation of its index by itself."""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from clew.engine import Clew
from clew.errors import ClewError, UsageError
from clew.index.store.directory import MANIFEST, read_manifest
from clew.serve.problems import Problem
from clew.text.onnx_session import load_runtime

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
