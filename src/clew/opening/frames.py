"""Data frames (pandas, polars) and graphs of NetworkX, written as the files that they would be.

Clew.open({"employees": employees, "works_at": works_at})
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from clew.errors import UsageError

SOURCES = "a path, or several; a data frame, several, or {name: frame}; or a graph of NetworkX"


def in_memory(source: object) -> bool:
    """Whether a source is no path and no paths. Raises UsageError for what is no source at all."""
    if isinstance(source, str | Path):
        return False
    if isinstance(source, Sequence) and all(isinstance(each, str | Path) for each in source):
        return False
    if _is_graph(source) or all(map(_is_frame, _frames(source).values())):
        return True
    raise UsageError(f"A source is {SOURCES}; this is {type(source).__name__}")


def write_files(source: object, folder: Path) -> list[Path]:
    """Write a source that is in memory into a folder. Raises UsageError for values that no file can hold."""
    if _is_graph(source):
        return [_write_graph(cast("Any", source), folder / "graph.json")]
    paths: list[Path] = []
    for name, frame in _frames(source).items():
        paths.append(folder / f"{name}.csv")
        if hasattr(frame, "write_csv"):
            frame.write_csv(paths[-1])
        else:
            frame.to_csv(paths[-1], index=False)
    return paths


def _frames(source: Any) -> dict[str, Any]:  # noqa: ANN401
    """The frames of a source by their names."""
    if isinstance(source, Mapping):
        return {str(name): frame for name, frame in cast("Mapping[object, Any]", source).items()}
    frames = source if isinstance(source, (list, tuple)) else [source]
    return {f"table{number}": frame for number, frame in enumerate(cast("Sequence[Any]", frames), 1)}


def _is_frame(source: object) -> bool:
    return hasattr(source, "columns") and (hasattr(source, "to_csv") or hasattr(source, "write_csv"))


def _is_graph(source: object) -> bool:
    return all(hasattr(source, name) for name in ("nodes", "edges", "is_directed"))


def _write_graph(graph: Any, path: Path) -> Path:  # noqa: ANN401
    """Write a graph of NetworkX in its node-link form."""
    form = {
        "directed": graph.is_directed(),
        "multigraph": graph.is_multigraph(),
        "nodes": [{**values, "id": node} for node, values in graph.nodes(data=True)],
        "links": [
            {**values, "source": head, "target": tail} for head, tail, values in graph.edges(data=True)
        ],
    }
    try:
        path.write_text(json.dumps(form, ensure_ascii=False), "utf-8")
    except TypeError as error:
        raise UsageError(f"The graph cannot be written as JSON ({error}). Name its nodes by texts") from error
    return path
