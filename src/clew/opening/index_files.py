"""Graph files → an index, an index changed by files, and whether something is an index."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from clew.errors import UsageError
from clew.opening.environment import keep_machine_code, make_embedder, milvus_access
from clew.stores.opening import refuse_address

if TYPE_CHECKING:
    from clew.index.build import Built, IndexOptions
    from clew.index.corpus import Verbaliser
    from clew.index.store.directory import Index
    from clew.index.update.edits import EditFiles, EditRules
    from clew.index.update.update import Updated, UpdateProgress
    from clew.text.embedder import Embedder


FilesOrTriples = Sequence[str | Path | tuple[str, str, str]]
"""Graph files, or triples (head, relation, tail)."""


def index_sources(
    sources: Sequence[Path],
    out: Path,
    *,
    embedder: str | Embedder | None = None,
    **options: Unpack[IndexOptions],
) -> Built:
    """Index graph files into the directory `out`; `options` and errors are those of `build_index`.

    Side files beside a single source are used unless `types` or `aliases` name others. `addresses` are of
    databases that sources were read from; the index names these.
    """
    keep_machine_code()
    from clew.index.build import build_index, side_files

    side = side_files(sources, options.get("types"), options.get("aliases"))
    options["types"], options["aliases"] = side.types, side.aliases
    return build_index(sources, out, embedder=make_embedder(embedder), **options)


def update_index_files(
    path: Path,
    files: EditFiles,
    *,
    rules: EditRules | None = None,
    embedder: str | Embedder | None = None,
    verbaliser: Verbaliser | None = None,
    progress: UpdateProgress | None = None,
) -> Updated:
    """Change the index `path` by files; raises as `read_edits` and `update_index` of `clew.index`."""
    keep_machine_code()
    from clew.index.store.directory import read_manifest
    from clew.index.update.edits import EditRules, read_edits
    from clew.index.update.update import update_index
    from clew.vocabulary.terms import with_terms

    index_embedder = read_manifest(path).about.embedder
    edits = read_edits(files, None if progress is None else partial(progress, "reading"))
    return update_index(
        path,
        edits,
        embedder=make_embedder(
            embedder if embedder is not None or index_embedder is None else index_embedder.name
        ),
        rules=rules or EditRules(),
        verbaliser=verbaliser,
        access=milvus_access(),
        progress=progress,
        further=with_terms,
    )


def walk_model(path: Path) -> str | None:
    """Name the chat model that says the walks of an index; None without one.

    Raises InputError and FormatError if there is no good index.
    """
    from clew.index.corpus import model_of
    from clew.index.store.directory import open_index

    return model_of(open_index(path))


def is_index(path: Path) -> bool:
    """Whether `path` is, or by its name should be, an index directory and not a graph to be read."""
    return path.suffix == ".clew" or os.path.isfile(path / "manifest.json")


def index_in_memory(folder: Path, source: Path, embedder: Embedder, **options: Unpack[IndexOptions]) -> Index:
    """Index a source that was written to a folder, and open the index."""
    from clew.index.build import build_index
    from clew.index.store.directory import open_index

    keep_machine_code()
    build_index([source], folder / "graph.clew", embedder=embedder, **options)
    return open_index(folder / "graph.clew")


def local_paths(source: str | Path | Sequence[str | Path]) -> list[Path]:
    """The files of a source; UsageError for an empty name or an address."""
    sources = [source] if isinstance(source, str | Path) else list(source)
    if not sources or not all(map(str, sources)):
        raise UsageError("The name of the source is empty. Give an index (NAME.clew) or a graph file")
    for address in map(str, sources):
        if "://" in address:
            refuse_address(address)
    return [Path(each) for each in sources]


def refuse_options(path: Path, options: Mapping[str, object]) -> None:
    """Raise UsageError if one of the options, which are for graph files, is given for an index."""
    for name, value in options.items():
        if value is not None:
            raise UsageError(
                f"{path} is an index, and {name!r} is for graph files. Give it to: clew index SOURCE"
            )


def update_index_by(
    path: Path,
    add: FilesOrTriples,
    remove: FilesOrTriples,
    *,
    rules: EditRules | None = None,
    embedder: Embedder,
    **edit_options: Any,  # noqa: ANN401 (of `EditFiles`)
) -> Updated:
    """Change an index by files or triples, with `edit_options` of `EditFiles`.

    Raises as `update_index_files`.
    """
    from clew.index.update.edits import EditFiles

    if not all(isinstance(change, str | Path) for change in (*add, *remove)):
        for name in {"format", "hints"} & edit_options.keys():
            raise UsageError(f"{name!r} is for files. Update with files and with triples apart")
    with tempfile.TemporaryDirectory(prefix="clew-update-") as folder:
        added = _files_of(add, Path(folder) / "add.tsv")
        removed = _files_of(remove, Path(folder) / "remove.tsv")
        return update_index_files(
            path, EditFiles(added, removed, **edit_options), rules=rules, embedder=embedder
        )


def _files_of(changes: FilesOrTriples, triple_file: Path) -> list[Path]:
    """The files among changes, and one with the triples among them."""
    from clew.graph.readers.networks import write_triples

    files = [Path(change) for change in changes if isinstance(change, str | Path)]
    triples = [change for change in changes if not isinstance(change, str | Path)]
    return [*files, write_triples(triple_file, triples)] if triples else files
