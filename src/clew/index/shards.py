"""Work on millions of names, cut into shards: one folder a shard and stage, put in place at once.

A shard is made by the same function in this process or by workers beside it, which read the graph's sections
from the folder that is being written. A shard that is there is not made again, so that a build that was
stopped loses one shard a worker at most. A worker is `python -m clew.index.shards FOLDER EMBEDDER`: shards in
on stdin, one JSON array a line, `done` out for each.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import IO, Literal

import numpy as np
from numpy.typing import NDArray

from clew.errors import ClewError, IndexAccessError
from clew.foundation.arrays import Int32, chunks_of, load_array
from clew.graph.graph import Graph
from clew.index.names.names import NamePart, differing_labels, entry_count
from clew.index.new_index import NewIndex, Span
from clew.index.store.sections import written_graph
from clew.index.vectors.vectors import vector_part
from clew.text.embedder import Embedder
from clew.text.embedders.registry import embedder as embedder_named
from clew.workers.processors import usable_processors

ShardKind = Literal["names", "vectors"]
Shard = tuple[ShardKind, int, int]
"""What is made of the rows [first, stop)."""
PARTS_FOLDER = "parts"
MOST_WORKERS = 8


@dataclass(frozen=True, slots=True)
class ShardSizes:
    """Names of one shard, and those from which shards and workers are worth their start."""

    names: int = 250_000
    sharded_from: int = 500_000


USUAL_SHARDS = ShardSizes()


@dataclass(frozen=True, eq=False)
class Shards:
    """Makes the shards of an index that is being written."""

    new_index: NewIndex
    label_nodes: Int32
    sizes: ShardSizes = USUAL_SHARDS

    @property
    def names(self) -> int:
        """How many names, labels and aliases there are."""
        return entry_count(self.new_index.graph, self.label_nodes)

    def spans(self, kind: ShardKind) -> list[Span]:
        """Rows of each shard of a stage."""
        rows = self.new_index.graph.nodes if kind == "vectors" else self.names
        return list(chunks_of(0, rows, self.sizes.names))

    def make(self, kind: ShardKind, tell: Callable[[int], None]) -> list[dict[str, NDArray[np.generic]]]:
        """Make all shards of a stage that are missing and map them; `tell` is called with the rows done."""
        spans = self.spans(kind)
        missing = [span for span in spans if not self._place(kind, span).is_dir()]
        done = sum(stop - first for first, stop in spans) - sum(stop - first for first, stop in missing)
        lock = Lock()

        def count_done(span: Span) -> None:
            nonlocal done
            with lock:
                done += span[1] - span[0]
                tell(done)

        tell(done)
        new_index, folder = self.new_index, self.new_index.writer.folder.resolve()
        if new_index.cluster is not None:
            results = new_index.map(partial(shard_maker, folder), [(kind, *span) for span in missing])
            for span, _ in zip(missing, results, strict=True):
                count_done(span)
        elif (workers := self._workers()) > 1 and len(missing) > 1:
            self._with_workers(workers, kind, missing, count_done)
        else:
            for span in missing:
                make_shard(folder, new_index.graph, self.label_nodes, new_index.embedder, (kind, *span))
                count_done(span)
        return [
            {file.stem: load_array(file, "r") for file in self._place(kind, span).iterdir()} for span in spans
        ]

    def remove(self, kind: ShardKind) -> None:
        """Remove the shards of a stage, whose section is written."""
        for span in self.spans(kind):
            shutil.rmtree(self._place(kind, span), ignore_errors=True)

    def _workers(self) -> int:
        """How many to use: one for a model that is not the shipped one, which has threads of its own."""
        if self.names < self.sizes.sharded_from or self.new_index.embedder.name != "clew-static":
            return 1
        return min(MOST_WORKERS, usable_processors())

    def _place(self, kind: ShardKind, span: Span) -> Path:
        return _shard_folder(self.new_index.writer.folder, kind, span[0])

    def _with_workers(
        self, workers: int, kind: ShardKind, spans: Sequence[Span], count_done: Callable[[Span], None]
    ) -> None:
        idle: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()

        def make(span: Span) -> None:
            process = idle.get()
            try:
                _ask(process, (kind, *span))
            finally:
                idle.put(process)
            count_done(span)

        with ExitStack() as stack:
            for _ in range(workers):
                process = stack.enter_context(
                    _worker(self.new_index.writer.folder, self.new_index.embedder.name)
                )
                stack.callback(_hang_up, process)
                idle.put(process)
            pool = stack.enter_context(ThreadPoolExecutor(workers))
            # After an error or Ctrl-C, the workers finish the shards they are at.
            list(pool.map(make, spans))


def shard_maker(folder: Path, graph: Graph, embedder: Embedder) -> Callable[[Shard], None]:
    """What makes shards of names and of their vectors, in the folder."""
    return partial(make_shard, folder, graph, differing_labels(graph), embedder)


def make_shard(folder: Path, graph: Graph, label_nodes: Int32, embedder: Embedder, shard: Shard) -> None:
    """Make the arrays of one shard, in a folder that gets its name when it is whole."""
    kind, first, stop = shard
    if kind == "names":
        arrays = NamePart.of(graph, label_nodes, first, stop).arrays()
    else:
        arrays = vector_part(graph, embedder, first, stop)
    place = _shard_folder(folder, kind, first)
    new_folder = place.with_suffix(".new")
    shutil.rmtree(new_folder, ignore_errors=True)
    new_folder.mkdir(parents=True)
    for name, array in arrays.items():
        np.save(new_folder / f"{name}.npy", array)
    new_folder.rename(place)


def _shard_folder(folder: Path, kind: ShardKind, first: int) -> Path:
    return folder / PARTS_FOLDER / f"{kind}-{first:010d}"


def _worker(folder: Path, embedder: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-P", "-m", "clew.index.shards", str(folder), embedder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _ask(process: subprocess.Popen[str], shard: Shard) -> None:
    """Have one shard made; IndexAccessError if the worker failed."""
    try:
        print(json.dumps(shard), file=_pipe(process.stdin), flush=True)
        answer = _pipe(process.stdout).readline()
    except BrokenPipeError:
        answer = ""
    if answer.strip() == "done":
        return
    messages = _pipe(process.stderr).read().strip().splitlines()
    code = process.wait()
    why = (
        "it ran out of memory or was stopped"
        if code < 0 and not messages
        else (messages or ["no reason given"])[-1]
    )
    raise IndexAccessError(
        f"a worker that indexes names ended ({why}). Free some memory or disk, run the same command again: "
        "it goes on where it was. What was there before is unchanged"
    )


def _hang_up(process: subprocess.Popen[str]) -> None:
    with suppress(BrokenPipeError):  # of one that ended, which has been reported
        _pipe(process.stdin).close()


def _pipe(pipe: IO[str] | None) -> IO[str]:
    if pipe is None:
        raise ValueError("the worker has no pipe")
    return pipe


def work(folder: Path, spec: str) -> None:
    """Make the shards that are named on stdin, until it ends."""
    make = shard_maker(folder, written_graph(folder), embedder_named(spec))
    for line in sys.stdin:
        make(tuple(json.loads(line)))
        sys.stdout.write("done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    try:
        work(Path(sys.argv[1]), sys.argv[2])
    except (ClewError, OSError, MemoryError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
