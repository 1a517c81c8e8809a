"""Graph files → an index, an index changed by files, and whether something is an index."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from clew.errors import UsageError
from clew.opening.environment import cache_folder, keep_machine_code, make_embedder, milvus_access
from clew.stores.opening import is_remote, refuse_address

if TYPE_CHECKING:
    from clew.index.build import Built, IndexOptions
    from clew.index.corpus.walk_vectors import Verbaliser
    from clew.index.remote import RemoteIndex
    from clew.index.store.directory import Index
    from clew.index.update.edit_files import EditFiles
    from clew.index.update.edits import EditRules
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
    from clew.index.build import build_index
    from clew.index.cache import side_files

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
    from clew.index.store.manifest import read_manifest
    from clew.index.update.edit_files import read_edits
    from clew.index.update.edits import EditRules
    from clew.index.update.update import update_index
    from clew.vocabulary.stored import with_terms

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
    from clew.index.corpus.corpus import model_of
    from clew.index.store.directory import open_index

    return model_of(open_index(path))


def is_index(path: Path) -> bool:
    """Whether `path` is, or by its name should be, an index directory and not a graph to be read."""
    return path.suffix == ".clew" or os.path.isfile(path / "manifest.json")


def index_triples(
    folder: Path,
    triples: Iterable[tuple[str, str, str]],
    types: Mapping[str, Iterable[str]] | None,
    aliases: Mapping[str, Iterable[str]] | None,
    embedder: Embedder,
) -> Index:
    """Index triples, with types and aliases of entities, in a folder, and open the index."""
    from clew.graph.readers.written import write_pairs, write_triples
    from clew.index.build import build_index
    from clew.index.store.directory import open_index

    keep_machine_code()
    build_index(
        [write_triples(folder / "triples.tsv", triples)],
        folder / "triples.clew",
        embedder=embedder,
        types=write_pairs(folder / "types.tsv", "type", types),
        aliases=write_pairs(folder / "aliases.tsv", "alias", aliases),
        format="tsv",
    )
    return open_index(folder / "triples.clew")


def local_paths(
    source: str | Path | Sequence[str | Path], cache_dir: str | Path | None
) -> tuple[list[Path], RemoteIndex | None, str]:
    """The files of a source; of an index in an object store, fetched now, with that and its mark.

    Raises UsageError for an empty name or another address, and as `RemoteIndex.fetch`.
    """
    sources = [source] if isinstance(source, str | Path) else list(source)
    if not sources or not all(map(str, sources)):
        raise UsageError("The name of the source is empty. Give an index (NAME.clew) or a graph file")
    for address in map(str, sources):
        if is_remote(address) and len(sources) == 1:
            from clew.index.remote import RemoteIndex

            origin = RemoteIndex(address, cache_folder(cache_dir))
            fetched = origin.fetch()
            return [fetched.path], origin, fetched.mark
        if "://" in address:
            refuse_address(address)
    return [Path(each) for each in sources], None, ""


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
    from clew.index.update.edit_files import EditFiles

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
    from clew.graph.readers.written import write_triples

    files = [Path(change) for change in changes if isinstance(change, str | Path)]
    triples = [change for change in changes if not isinstance(change, str | Path)]
    return [*files, write_triples(triple_file, triples)] if triples else files
