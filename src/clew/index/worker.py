"""A process that makes shards: tasks in on stdin, one JSON object a line, `done` out for each.

Run as `python -m clew.index.worker FOLDER EMBEDDER` by `clew.index.shards`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from clew.errors import ClewError
from clew.index.names.names import differing_labels
from clew.index.shards import make_shard
from clew.index.store.sections import written_graph
from clew.text.embedders.registry import embedder


def main(folder: Path, spec: str) -> None:
    """Do the tasks until stdin ends."""
    graph = written_graph(folder)
    label_nodes, model = differing_labels(graph), embedder(spec)
    for line in sys.stdin:
        task = json.loads(line)
        make_shard(folder, graph, label_nodes, model, (task["kind"], task["first"], task["stop"]))
        sys.stdout.write("done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2])
    except (ClewError, OSError, MemoryError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
