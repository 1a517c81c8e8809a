"""Opening the graph of a part: indexed once into the cache, or made from the data set's own files first."""

from __future__ import annotations

import filecmp
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from clew.engine import Clew
from clew.errors import InputError, UsageError
from clew.evaluate.questions import DatasetPart
from clew.index.corpus import CorpusSettings, open_corpus
from clew.index.store.writing import Progress
from clew.opening.index_files import is_index


@dataclass(frozen=True)
class GraphFile:
    """Where the graph of a part is: an index, or files in a format."""

    paths: tuple[str | Path, ...]
    format: str | None = None

    def open(
        self, *, embedder: str | None, progress: Progress | None, corpus: CorpusSettings | None = None
    ) -> Clew:
        """Open it, with the walks of `corpus` stored; UsageError for an index that stores others."""
        first = self.paths[0]
        if is_index(Path(first)):
            clew = Clew.open(first, embedder=embedder)
            _check_corpus(clew, corpus)
            return clew
        open_graph = partial(Clew.open, self.paths, embedder=embedder, progress=progress)
        return open_graph(format=self.format, corpus=corpus)


def _check_corpus(clew: Clew, corpus: CorpusSettings | None) -> None:
    if corpus is None:
        return
    stored = open_corpus(clew.index)
    if stored is None or stored.settings != corpus:
        stored_walks = "no walks" if stored is None else f"the walks {stored.settings}"
        raise UsageError(
            f"{clew.path}: stores {stored_walks}, but {corpus} are wanted. Give the graph's files as --graph,"
            " or index them with these walks (clew index --corpus)"
        )


def graph_file(part: DatasetPart, source: str | Path | None, folder: Path) -> GraphFile:
    """Find the graph that the user names, else that of the part; one that is made goes into `folder`.

    Raises InputError (the part has no graph and none is named; or it cannot be made).
    """
    if source is not None:
        return GraphFile((source,))
    graph = part.graph
    if graph is None:
        raise InputError(f"{part.name}: the data set comes without its graph. Name it: --graph SOURCE")
    if graph.make is not None:
        return GraphFile((_make_graph(graph.make, part, folder),))
    return GraphFile(graph.files, graph.format)


def _make_graph(make: Callable[[Path], None], part: DatasetPart, folder: Path) -> Path:
    """Make the graph; a file that holds the same already stays as it is."""
    path = folder / f"graph.{part.name.replace('/', '.')}.tsv"
    part_path = path.with_name(f".{path.name}.part")
    folder.mkdir(parents=True, exist_ok=True)
    make(part_path)
    if path.exists() and filecmp.cmp(path, part_path, shallow=False):
        part_path.unlink()
    else:
        part_path.replace(path)
    return path


def fingerprint(clew: Clew) -> str:
    """Name what an index was made from, wherever it is: checksums of its sources, and the embedder."""
    about = clew.index.manifest.about
    sources = "+".join(source.sha256[:16] for source in about.sources)
    return f"{sources} {clew.embedder.fingerprint}"
