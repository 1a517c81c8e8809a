"""Indexes of plain files that are asked directly: kept in a cache, rebuilt when a file changes."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os.path import isdir, isfile  # unlike those of Path, False where a folder may not be searched
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from clew.errors import FormatError, InputError, LockedError
from clew.graph.readers.hints import Hints
from clew.graph.readers.source_files import checksum, modification_time, source_bytes
from clew.graph.readers.stream import unpacked_name
from clew.index.store.directory import FORMAT_VERSION, Index, open_index
from clew.index.store.files import make_own, usable, user_folder
from clew.text.embedders import Embedder
from clew.version import __version__

if TYPE_CHECKING:
    from clew.graph.build import ReadOptions
    from clew.index.corpus import CorpusSettings
    from clew.index.store.writing import Progress


@dataclass(frozen=True, slots=True)
class SideFiles:
    """Files beside a source that belong to it: `STEM.types.tsv` and `STEM.aliases.tsv`."""

    types: Path | None
    aliases: Path | None


@dataclass(frozen=True, slots=True)
class CachedIndex:
    """An index of plain files, `built` or from the cache; `note` says where it is if not in the cache."""

    path: Path
    index: Index
    built: bool
    side_files: SideFiles
    note: str | None


def cached_index(
    sources: Sequence[Path],
    *,
    cache_dir: Path,
    embedder: Embedder,
    corpus: CorpusSettings | None = None,
    progress: Progress | None = None,
    **reading: Unpack[ReadOptions],
) -> CachedIndex:
    """Open the cached index of `sources`, building it (with walks if `corpus`) if a file has changed.

    Side files beside a single source are used unless `types` or `aliases` name others. Raises as
    `build_index`.
    """
    for source in sources:
        modification_time(source)  # before its name is resolved: that of a link to itself cannot be
    side = side_files(sources, reading.get("types"), reading.get("aliases"))
    reading["types"], reading["aliases"] = side.types, side.aliases
    folder, why = usable(cache_dir)
    note = None if why is None else f"{cache_dir} cannot be written ({why}); the index is kept in {folder}"
    path = folder / _key(sources, embedder, corpus, reading)
    if (why := make_own(path)) is not None:  # an index that somebody else may have put there
        folder = user_folder()
        note = f"{path} cannot be used ({why}); the index is kept in {folder}"
        path = folder / path.name
    files = [(source, "source") for source in sources]
    files += [(f, role) for f, role in ((side.types, "types"), (side.aliases, "aliases")) if f is not None]
    deadline = time.monotonic() + 600
    while (index := _open_current(path, files)) is None:
        # Only where it is made: a cached index is opened without all that makes one.
        from clew.index.build import build_index

        try:
            build_index(sources, path, embedder=embedder, corpus=corpus, progress=progress, wait=0, **reading)
            return CachedIndex(path, open_index(path), True, side, note)
        except LockedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
    return CachedIndex(path, index, False, side, note)


def side_files(sources: Sequence[Path], types: Path | None, aliases: Path | None) -> SideFiles:
    """The named files, else `STEM.types.tsv` and `STEM.aliases.tsv` beside a single source (see `stem`)."""
    if len(sources) != 1:
        return SideFiles(types, aliases)
    source = _with_name(sources[0])
    paths = (source.parent / f"{stem(source)}.{kind}.tsv" for kind in ("types", "aliases"))
    files = [path if isfile(path) else None for path in paths]
    return SideFiles(types or files[0], aliases or files[1])


def stem(source: Path) -> str:
    """Return the name of a source without `.gz` and one more suffix; that of a folder as it is."""
    source = _with_name(source)
    name = unpacked_name(source.name)
    return name if isdir(source) else Path(name).stem


def index_name(source: Path) -> str:
    """What the index of a source is called, where nobody says."""
    return f"{stem(source)}.clew"


def _with_name(source: Path) -> Path:
    """Spell out `.` and `..`, which have no name of their own."""
    return source.resolve() if source.name in ("", "..") else source


def _key(
    sources: Sequence[Path], embedder: Embedder, corpus: CorpusSettings | None, reading: ReadOptions
) -> str:
    """Name the cached index by all that shapes it but the contents of files."""
    format, on_error = reading.get("format"), reading.get("on_error", "fail")
    hints = reading.get("hints") or Hints()
    made_with = [embedder.name, embedder.fingerprint, FORMAT_VERSION, __version__]
    parts: list[object] = [[str(source.resolve()) for source in sources], format, on_error, made_with]
    if corpus is not None:
        parts.append(asdict(corpus))
    if hints != Hints():
        parts.append(asdict(hints))
    digest = hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()
    return f"{stem(sources[0])[:40]}-{digest}.clew"


def _open_current(path: Path, files: Sequence[tuple[Path, str]]) -> Index | None:
    """Open the index if it is whole and made from `files` as they are now."""
    try:
        index = open_index(path)
    except (InputError, FormatError):
        return None
    records = index.manifest.about.sources
    expected = [(str(file.resolve()), role) for file, role in files]
    if [(record.path, record.role) for record in records] != expected:
        return None
    for (file, _), record in zip(files, records, strict=True):
        touched = modification_time(file) != record.modified
        if source_bytes([file]) != record.bytes or (touched and checksum(file) != record.sha256):
            return None
    return index
