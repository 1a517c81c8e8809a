"""Triples, graphs of NetworkX and data frames in memory as files that the readers read: one road for all."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from clew.errors import UsageError
from clew.graph.readers.networks import network_of
from clew.graph.readers.sheets import cell_text

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def write_triples(path: Path, triples: Iterable[tuple[str, str, str]]) -> Path:
    """Write a file of tab-separated triples; raises UsageError for what is none."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("head\trelation\ttail\n")
        for number, triple in enumerate(triples, 1):
            if isinstance(triple, str) or len(triple) != 3:
                raise UsageError(f"triple {number} is {triple!r}. Give (head, relation, tail)")
            file.write("\t".join(_field(part, number, triple) for part in triple) + "\n")
    return path


def write_pairs(path: Path, kind: str, pairs: Mapping[str, Iterable[str]] | None) -> Path | None:
    """Write a side file of types or aliases; None if there are none."""
    if pairs is None:
        return None
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"entity\t{kind}\n")
        for entity, texts in pairs.items():
            if isinstance(texts, str):
                raise UsageError(f"{kind} of {entity!r} is a text. Give a list: {{{entity!r}: [{texts!r}]}}")
            for text in texts:
                file.write(f"{_field(entity, 0, entity)}\t{_field(text, 0, text)}\n")
    return path


def write_network(path: Path, graph: Any) -> Path:  # noqa: ANN401 (a graph of NetworkX)
    """Write a graph of NetworkX as JSON of nodes and links; raises UsageError for what is none."""
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise UsageError(f"{type(graph).__name__} is no graph of NetworkX")
    network = network_of(graph)
    fields = {"directed": not network.undirected, "nodes": network.nodes, "links": network.links}
    path.write_text(json.dumps(fields, default=cell_text), "utf-8")
    return path


def write_frames(folder: Path, frames: Mapping[str, Any]) -> Path:
    """Write data frames of pandas or polars as tables in a folder, by their names; UsageError for others."""
    folder.mkdir()
    for name, frame in frames.items():
        if not name or not set("/\\\0").isdisjoint(name) or name.startswith("."):
            raise UsageError(f"{name!r} is no name of a table. Give one as in {{'films': frame}}")
        if not hasattr(frame, "columns") or not (hasattr(frame, "iter_rows") or hasattr(frame, "itertuples")):
            raise UsageError(f"{name} is no data frame of pandas or polars, but {type(frame).__name__}")
        rows = frame.iter_rows() if hasattr(frame, "iter_rows") else frame.itertuples(index=False, name=None)
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([str(column) for column in frame.columns])
            writer.writerows([cell_text(value) for value in row] for row in rows)
    return folder


def _field(part: object, number: int, source: object) -> str:
    if not isinstance(part, str | int | float) or not str(part).strip():
        place = f"triple {number}, {source!r}" if number else repr(source)
        raise UsageError(f"{place}: {part!r} is no name. Give texts that are not empty")
    return str(part).encode("utf-8", "replace").decode("utf-8").translate(_ESCAPES)
