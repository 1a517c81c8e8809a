"""Names and vectors of a large graph, made in shards by processes of this machine or of a cluster.

A shard is a folder of arrays beside the sections that are being written, which all workers read. A worker of
this machine is `python -m clew.index.shards FOLDER EMBEDDER KIND FIRST STOP …`, as processes that Python
spawns would run the user's own script again; it prints a line for each shard that is done.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from clew.errors import ClewError, IndexAccessError
from clew.foundation.arrays import chunks_of, load_array
from clew.foundation.system import usable_processors
from clew.graph.graph import Graph
from clew.index.names import NamePart, differing_labels
from clew.index.store.sections import written_graph
from clew.index.store.writing import NewIndex
from clew.index.vectors.entities import vector_part
from clew.text.embedders import Embedder
from clew.text.embedders import embedder as embedder_named

ShardKind = Literal["names", "vectors"]
Shard = tuple[ShardKind, int, int]
"""What is made of the rows [first, stop)."""
SHARD_NAMES = 250_000
SHARDED_FROM = 500_000
"""Names from which workers are worth their start."""


def make_shards(
    new_index: NewIndex, kind: ShardKind, rows: int, tell: Callable[[int], None]
) -> list[tuple[int, dict[str, NDArray[np.generic]]]]:
    """The first row and arrays, mapped, of each shard; `tell` gets rows done. Raises IndexAccessError."""
    shards: list[Shard] = [(kind, first, stop) for first, stop in chunks_of(0, rows, SHARD_NAMES)]
    folder, done = new_index.writer.folder.resolve(), 0
    # A model that is not the shipped one has threads of its own.
    workers = min(8, usable_processors()) if new_index.embedder.name == "clew-static" else 1

    def count(shard: Shard) -> None:
        nonlocal done
        done += shard[2] - shard[1]
        tell(done)

    if new_index.cluster is None and workers > 1:
        spans = [shards[i::workers] for i in range(workers)]
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(partial(_run_worker, folder, new_index.embedder.name, count), spans))
    else:
        for shard, _ in zip(shards, new_index.map(partial(_shard_maker, folder), shards), strict=True):
            count(shard)
    return [
        (shard[1], {file.stem: load_array(file, "r") for file in _place(folder, shard).iterdir()})
        for shard in shards
    ]


def remove_shards(new_index: NewIndex) -> None:
    """Remove what `make_shards` has made, once its section is written."""
    shutil.rmtree(new_index.writer.folder / "parts", ignore_errors=True)


def _place(folder: Path, shard: Shard) -> Path:
    return folder / "parts" / f"{shard[0]}-{shard[1]:010d}"


def _shard_maker(folder: Path, graph: Graph, embedder: Embedder) -> Callable[[Shard], None]:
    label_nodes = differing_labels(graph)

    def make(shard: Shard) -> None:
        kind, first, stop = shard
        place = _place(folder, shard)
        place.mkdir(parents=True)
        if kind == "names":
            arrays = NamePart.of(graph, label_nodes, first, stop).arrays()
        else:
            arrays = vector_part(graph, embedder, first, stop)
        for name, array in arrays.items():
            np.save(place / f"{name}.npy", array)

    return make


def _run_worker(folder: Path, embedder: str, count: Callable[[Shard], None], shards: Sequence[Shard]) -> None:
    """Have one process make some shards."""
    words = [str(word) for shard in shards for word in shard]
    command = [sys.executable, "-P", "-m", "clew.index.shards", str(folder), embedder, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        for shard, _ in zip(shards, process.stdout or (), strict=False):
            count(shard)
        messages = process.communicate()[1].strip().splitlines()
    if process.returncode:
        why = (messages or ["it ran out of memory or was stopped"])[-1]
        raise IndexAccessError(
            f"a worker that indexes names ended ({why}). Free some memory or disk, and run the same command "
            "again. What was there before is unchanged"
        )


def _work(path: str, spec: str, *words: str) -> None:
    folder = Path(path)
    make = _shard_maker(folder, written_graph(folder), embedder_named(spec))
    for kind, first, stop in zip(words[::3], words[1::3], words[2::3], strict=True):
        make((cast("ShardKind", kind), int(first), int(stop)))
        sys.stdout.write("done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    try:
        _work(*sys.argv[1:])
    except (ClewError, OSError, MemoryError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
