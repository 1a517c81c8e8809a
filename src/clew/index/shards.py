"""Work on millions of names, cut into shards: one folder a shard and stage, put in place at once.

A shard is made by the same function in this process or by workers beside it, which read the graph's sections
from the folder that is being written. A shard that is there is not made again, so that a build that was
stopped loses one shard a worker at most.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO, Literal

import numpy as np
from numpy.typing import NDArray

from clew.arrays import Int32
from clew.errors import IndexAccessError
from clew.graph.graph import Graph
from clew.index.names.names import NamePart, differing_labels, entry_count
from clew.index.names.typos import chunks_of
from clew.index.store.sections import written_graph
from clew.index.vectors.vectors import vector_part
from clew.text.embedder import Embedder
from clew.text.embedders.registry import embedder
from clew.workers.base import Workers

ShardKind = Literal["names", "vectors"]
PARTS_FOLDER = "parts"
NAMES_OF_SHARD = 250_000
"""Names of one shard."""
SHARDED_FROM = 500_000
"""Names from which shards and workers are worth their start."""
MOST_WORKERS = 8


@dataclass(frozen=True, eq=False)
class Shards:
    """Makes the shards of an index that is being written in `folder`."""

    folder: Path
    graph: Graph
    label_nodes: Int32
    embedder: Embedder
    workers: int
    cluster: Workers | None = None

    def spans(self, kind: ShardKind) -> list[tuple[int, int]]:
        """Rows of each shard of a stage."""
        rows = self.graph.nodes if kind == "vectors" else entry_count(self.graph, self.label_nodes)
        return list(chunks_of(0, rows, NAMES_OF_SHARD))

    def make(self, kind: ShardKind, tell: Callable[[int], None]) -> list[dict[str, NDArray[np.generic]]]:
        """Make all shards of a stage that are missing and map them; `tell` is called with the rows done."""
        spans = self.spans(kind)
        missing = [span for span in spans if not self._place(kind, span).is_dir()]
        done = sum(stop - first for first, stop in spans) - sum(stop - first for first, stop in missing)
        lock = Lock()

        def finished(span: tuple[int, int]) -> None:
            nonlocal done
            with lock:
                done += span[1] - span[0]
                tell(done)

        tell(done)
        if self.cluster is not None:
            pieces = ShardPieces(self.folder.resolve(), self.embedder.name)
            for span, _ in zip(missing, self.cluster.map(pieces, [(kind, *s) for s in missing]), strict=True):
                finished(span)
        elif self.workers > 1 and len(missing) > 1:
            self._with_workers(kind, missing, finished)
        else:
            for span in missing:
                make_shard(self.folder, self.graph, self.label_nodes, self.embedder, (kind, *span))
                finished(span)
        return [_map(self._place(kind, span)) for span in spans]

    def remove(self, kind: ShardKind) -> None:
        """Remove the shards of a stage, whose section is written."""
        for span in self.spans(kind):
            shutil.rmtree(self._place(kind, span), ignore_errors=True)

    def _place(self, kind: ShardKind, span: tuple[int, int]) -> Path:
        return _shard_folder(self.folder, kind, span[0])

    def _with_workers(
        self, kind: ShardKind, spans: Sequence[tuple[int, int]], finished: Callable[[tuple[int, int]], None]
    ) -> None:
        queue = iter(spans)
        lock, stopped = Lock(), False

        def serve() -> None:
            nonlocal stopped
            with _worker(self.folder, self.embedder.name) as process:
                try:
                    while True:
                        with lock:
                            span = None if stopped else next(queue, None)
                        if span is None:
                            return
                        _ask(process, {"kind": kind, "first": span[0], "stop": span[1]})
                        finished(span)
                except BaseException:
                    stopped = True
                    raise
                finally:
                    with suppress(BrokenPipeError):  # of one that ended, which has been reported
                        _pipe(process.stdin).close()

        with ThreadPoolExecutor(self.workers) as pool:
            try:
                for future in [pool.submit(serve) for _ in range(self.workers)]:
                    future.result()
            except BaseException:
                stopped = True  # Ctrl-C: the workers finish the shards they are at
                raise


@dataclass(frozen=True, slots=True)
class ShardPieces:
    """Makes shards of names and of their vectors, in the folder."""

    folder: Path
    embedder: str

    def __call__(self) -> Callable[[tuple[ShardKind, int, int]], None]:
        """Open the graph."""
        graph, maker = written_graph(self.folder), embedder(self.embedder)
        labels = differing_labels(graph)
        return lambda piece: make_shard(self.folder, graph, labels, maker, piece)


def worker_count(embedder: Embedder, names: int) -> int:
    """How many workers to use: one for a model that is not the shipped one, which has threads of its own."""
    if names < SHARDED_FROM or embedder.name != "clew-static":
        return 1
    return min(MOST_WORKERS, os.cpu_count() or 1)


def make_shard(
    folder: Path, graph: Graph, label_nodes: Int32, embedder: Embedder, piece: tuple[ShardKind, int, int]
) -> None:
    """Make one shard, its kind and span, and put it in place."""
    kind, first, stop = piece
    if kind == "names":
        arrays = NamePart.of(graph, label_nodes, first, stop).arrays()
    else:
        arrays = vector_part(graph, embedder, first, stop)
    place = _shard_folder(folder, kind, first)
    new = place.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    for name, array in arrays.items():
        np.save(new / f"{name}.npy", array)
    new.rename(place)


def _shard_folder(folder: Path, kind: ShardKind, first: int) -> Path:
    return folder / PARTS_FOLDER / f"{kind}-{first:010d}"


def _map(folder: Path) -> dict[str, NDArray[np.generic]]:
    return {file.stem: np.load(file, mmap_mode="r") for file in folder.iterdir()}


def _worker(folder: Path, embedder: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-P", "-m", "clew.index.worker", str(folder), embedder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _ask(process: subprocess.Popen[str], task: dict[str, object]) -> None:
    """Have one task done; IndexAccessError if the worker failed."""
    try:
        print(json.dumps(task), file=_pipe(process.stdin), flush=True)
        answer = _pipe(process.stdout).readline()
    except BrokenPipeError:
        answer = ""
    if answer.strip() == "done":
        return
    said = _pipe(process.stderr).read().strip().splitlines()
    code = process.wait()
    why = (
        "it ran out of memory or was stopped" if code < 0 and not said else (said or ["no reason given"])[-1]
    )
    raise IndexAccessError(
        f"a worker that indexes names ended ({why}). Free some memory or disk, run the same command again: "
        "it goes on where it was. What was there before is unchanged"
    )


def _pipe(pipe: IO[str] | None) -> IO[str]:
    if pipe is None:
        raise ValueError("the worker has no pipe")
    return pipe
