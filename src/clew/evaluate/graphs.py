"""Opening the graph of a part: indexed once into the cache, or made from the data set's own files first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clew.engine import Clew, is_index
from clew.errors import InputError
from clew.evaluate.questions import Part
from clew.index.build import Progress


@dataclass(frozen=True)
class OpenGraph:
    """An open index, and a fingerprint of what it was made from, the same wherever the files are."""

    clew: Clew
    fingerprint: str


def open_graph(
    part: Part, given: Path | None, folder: Path, *, embedder: str | None, progress: Progress | None
) -> OpenGraph:
    """Open the graph that the user names, else that of the part; one that is made goes into `folder`.

    Raises:
        InputError: the part has no graph and none is named; or the graph cannot be read.
        ParseError: as `Clew.open`.

    """
    source = given or _source(part, folder)
    format = (
        None if given is not None or part.graph is None or part.graph.make is not None else part.graph.format
    )
    clew = Clew.open(
        source, embedder=embedder, progress=progress, format=None if is_index(source) else format
    )
    return OpenGraph(clew, fingerprint(clew))


def _source(part: Part, folder: Path) -> Path:
    graph = part.graph
    if graph is None:
        raise InputError(f"{part.name}: the data set comes without its graph. Name it: --graph SOURCE")
    if graph.make is None:
        return _single(graph.files, part)
    path = folder / f"graph.{part.name.replace('/', '.')}.tsv"
    passing = path.with_name(f".{path.name}.part")
    folder.mkdir(parents=True, exist_ok=True)
    graph.make(passing)
    if path.exists() and path.read_bytes() == passing.read_bytes():
        passing.unlink()
    else:
        passing.replace(path)
    return path


def _single(files: Sequence[Path], part: Part) -> Path:
    if len(files) != 1:
        raise InputError(
            f"{part.name}: {len(files)} graph files. Index them, and name the index with --graph"
        )
    return files[0]


def fingerprint(clew: Clew) -> str:
    """Name the contents of an index: checksums of its sources, and the embedder."""
    about = clew.index.manifest.about
    sources = "+".join(source.sha256[:16] for source in about.sources)
    return f"{sources} {clew.embedder.fingerprint}"
