"""How a generation of an index is written: by one process at a time, and put in place whole."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeVar

import numpy as np

from clew.errors import FormatError, InputError, LockedError
from clew.foundation.arrays import AnyArray
from clew.foundation.system import open_growing, take_lock
from clew.graph.graph import Graph
from clew.index.store.directory import MANIFEST, Index, IndexAbout, Manifest, generation_folder, read_manifest
from clew.index.store.files import (
    FileEntry,
    Mark,
    Seal,
    disk_errors,
    file_entry,
    map_array,
    sync_path,
    write_parts,
    write_piece,
)
from clew.index.store.sections import with_prefix, without_prefix, written_graph
from clew.index.vectors.backends import VectorChoice
from clew.text.embedders import Embedder, embedder
from clew.version import __version__
from clew.workers import Workers

if TYPE_CHECKING:
    from clew.graph.schema import Schema


_LOCK, _WRITING, _NEW_MANIFEST = "lock", "writing", "manifest.new"
SAID_FOLDER = "said"
"""Folder of sentences that a chat model has said for a generation that is not whole yet."""
_GENERATION = re.compile(r"gen-(\d{6,})")
_SECTION = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")
_POLL_SECONDS = 0.05


class IndexWriter:
    """Takes the sections of a new generation; nothing is visible before `commit`."""

    def __init__(self, path: Path, generation: int) -> None:
        self._path, self.generation = path, generation
        self.folder = path / _WRITING
        self.files: list[FileEntry] = []
        """The sections so far."""
        self._linked_files: set[str] = set()

    def add(self, section: str, content: AnyArray | bytes) -> None:
        """Write one section; its name is lower-case words joined by dots. Raises IndexAccessError."""
        array = np.frombuffer(content, np.uint8) if isinstance(content, bytes) else content
        self.add_parts(section, array.shape, array.dtype, (array,))

    def keep(self, entry: FileEntry, folder: Path) -> None:
        """Take over a file of the generation in `folder` as it is; on most disks without copying it."""
        self._check_name(entry.section)
        target = self.folder / entry.file
        with disk_errors(self._path):
            try:
                os.link(folder / entry.file, target)
                self._linked_files.add(entry.file)
            except OSError:  # a disk without hard links
                shutil.copyfile(folder / entry.file, target)
        self.files.append(entry)

    def add_all(self, sections: Mapping[str, AnyArray | bytes]) -> None:
        """Write all of `sections`."""
        for section, content in sections.items():
            self.add(section, content)

    def add_parts(
        self, section: str, shape: tuple[int, ...], dtype: np.dtype[np.generic], parts: Iterable[AnyArray]
    ) -> None:
        """Write one section of a known shape from arrays that are its rows. Raises IndexAccessError."""
        self._check_name(section)
        with disk_errors(self._path):
            self.files.append(write_parts(self.folder, section, shape, dtype, parts))

    def add_file(self, section: str, name: str) -> None:
        """Take the file `name` of another format, which is in `folder`, as a section."""
        self._check_name(section)
        with disk_errors(self._path):
            self.files.append(file_entry(self.folder, section, name))

    def _check_name(self, section: str) -> None:
        if not _SECTION.fullmatch(section) or any(f.section == section for f in self.files):
            raise ValueError(f"section name {section!r} is malformed or taken")

    def array(self, section: str) -> AnyArray:
        """Map a section that has been written."""
        entry = next(f for f in self.files if f.section == section)
        return map_array(self.folder / entry.file)

    def commit(self, about: IndexAbout) -> Manifest:
        """Put the new generation in place and remove the one before. Raises IndexAccessError."""
        created = datetime.now(UTC).isoformat(timespec="seconds")
        manifest = Manifest(__version__, created, self.generation, about, tuple(self.files))
        with disk_errors(self._path):
            for entry in set(self.folder.iterdir()) - {self.folder / entry.file for entry in self.files}:
                if entry.is_dir():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()
            for entry in self.files:  # all together, which is much faster than one by one
                if entry.file not in self._linked_files:  # what was taken over is on the disk already
                    sync_path(self.folder / entry.file)
            sync_path(self.folder)
            self.folder.rename(self._path / manifest.folder)
            sync_path(self._path)
            new_manifest = self._path / _NEW_MANIFEST
            with new_manifest.open("wb") as file:
                write_piece(file, manifest.to_json().encode())
            sync_path(new_manifest)
            os.replace(new_manifest, self._path / MANIFEST)
            sync_path(self._path)
            _sweep(self._path, manifest.generation)
            shutil.rmtree(self._path / SAID_FOLDER, ignore_errors=True)
        # Last: to remove the generation before changes the files that both have.
        with suppress(FileNotFoundError):  # a newer generation is there already
            folder = self._path / manifest.folder
            Seal(folder, ((entry.file, Mark.of(folder / entry.file)) for entry in manifest.files)).write()
        return manifest

    def close(self) -> None:
        """Remove what was written unless it was committed; what resists is left to the next writer."""
        # The manifest decides, not a flag: Ctrl-C may have come between the two.
        if _current_generation(self._path) != self.generation:
            shutil.rmtree(self._path / generation_folder(self.generation), ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        (self._path / _NEW_MANIFEST).unlink(missing_ok=True)


def write_changed(
    writer: IndexWriter,
    index: Index,
    contents: Mapping[str, AnyArray | bytes],
    *,
    dropped: tuple[str, ...] = (),
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write the next generation of an open index: an array that is still the index's own is its file.

    Sections that are not among `contents` stay, but for those that `writer` has already and those whose name
    begins with one of `dropped`. `progress` is called with (bytes written, all). Raises IndexAccessError.
    """
    entries = {entry.section: entry for entry in index.manifest.files}
    folder = index.path / index.manifest.folder
    sizes = {name: len(c) if isinstance(c, bytes) else c.nbytes for name, c in contents.items()}
    done = 0
    for section, content in contents.items():
        if section in entries and _is_same(index.arrays.get(section), content):
            writer.keep(entries[section], folder)
        else:
            writer.add(section, content)
        done += sizes[section]
        if progress is not None:
            progress(done, sum(sizes.values()))
    written_sections = {entry.section for entry in writer.files}
    for section, entry in entries.items():
        if section not in written_sections and not section.startswith(dropped):
            writer.keep(entry, folder)


def _is_same(old: AnyArray | None, new: AnyArray | bytes) -> bool:
    """Whether both are the same memory; equal arrays that are not are simply written."""
    if old is None or isinstance(new, bytes) or old.shape != new.shape or old.dtype != new.dtype:
        return False
    return old.__array_interface__["data"] == new.__array_interface__["data"]


@contextmanager
def writing(path: Path, *, wait: float = 5.0) -> Generator[IndexWriter]:
    """Write a new generation of the index `path`; without a `commit`, or on an error, all is as before.

    Raises LockedError if another process writes for more than `wait` seconds, InputError if `path` holds
    something else, IndexAccessError.
    """
    with _hold_lock(path, wait):
        with disk_errors(path):
            current = _current_generation(path)
            if current is not None:
                _sweep(path, current)
            last_number = max((number for number, _ in _generations(path)), default=0)
            shutil.rmtree(path / _WRITING, ignore_errors=True)
            (path / _WRITING).mkdir(exist_ok=True)
        writer = IndexWriter(path, last_number + 1)
        try:
            yield writer
        finally:
            writer.close()


@contextmanager
def _hold_lock(path: Path, wait: float) -> Generator[None]:
    """Hold the lock of `path`; a folder that was made for nothing is removed again."""
    deadline = time.monotonic() + wait
    while (file := _try_lock(path)) is None:
        if time.monotonic() > deadline:
            raise LockedError(f"{path}: another process is writing to this index. Wait until it is done")
        time.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        if not (path / MANIFEST).exists():
            # Not empty, if it was not ours alone; gone, if the user removed it; Windows keeps open files.
            with suppress(OSError):
                (path / _LOCK).unlink(missing_ok=True)
                path.rmdir()
        file.close()


def _try_lock(path: Path) -> BinaryIO | None:
    with disk_errors(path):
        _claim(path)
        try:
            file = open_growing(path / _LOCK)
        except FileNotFoundError:  # another writer gave up and removed the folder
            return None
    with suppress(FileNotFoundError):
        if take_lock(file.fileno()) and os.fstat(file.fileno()).st_ino == os.stat(path / _LOCK).st_ino:
            return file
    file.close()
    return None


def _claim(path: Path) -> None:
    """Make the folder of the index, or see that it is one (or empty)."""
    if path.is_symlink() and not path.exists():
        raise InputError(f"{path}: a symbolic link to nothing. Remove it, or choose another name (-o)")
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: a file is in the way. Choose another name for the index (-o)")
    path.mkdir(parents=True, exist_ok=True)
    strange = sorted(set(os.listdir(path)) - {_LOCK, _WRITING, _NEW_MANIFEST, SAID_FOLDER})
    if strange and not _generations(path):  # a manifest.json alone may be of another program
        raise InputError(f"{path}: this folder holds other files ({strange[0]}). Choose another one (-o)")


def _generations(path: Path) -> list[tuple[int, Path]]:
    matches = ((_GENERATION.fullmatch(entry.name), entry) for entry in path.iterdir())
    return sorted((int(match[1]), entry) for match, entry in matches if match)


def _current_generation(path: Path) -> int | None:
    """Which generation must stay; None where there is no index, or one that cannot be read."""
    try:
        return read_manifest(path).generation
    except (InputError, FormatError):
        return None


def _sweep(path: Path, keep: int) -> None:
    """Remove all generations but one, and what an interrupted writer left."""
    for number, folder in _generations(path):
        if number != keep:
            shutil.rmtree(folder, ignore_errors=True)
    (path / _NEW_MANIFEST).unlink(missing_ok=True)


# The schema of a graph as sections of an index, so that it is not counted at every start.

MOST_BYTES = 1 << 26
"""Bytes that the schema of a small graph may take; a larger one is counted when needed."""
_SQUARE = "together"


def write_schema(writer: IndexWriter, schema: Schema) -> None:
    """Write the schema of a graph, if it is not too large; raises IndexAccessError."""
    sections = {f.name: getattr(schema, f.name) for f in fields(schema) if f.name != _SQUARE}
    if schema.together.square is not None:
        sections[_SQUARE] = schema.together.square
    triples = int(schema.triples.sum())
    if sum(array.nbytes for array in sections.values()) <= max(MOST_BYTES, 16 * triples):
        writer.add_all(with_prefix("schema", sections))


def schema_of_index(index: Index) -> Schema:
    """Give the schema of an index: the stored one, or count it."""
    from clew.graph.schema import Cooccurrence, Schema, schema_of

    arrays: dict[str, Any] = without_prefix("schema", index.sections)
    if not arrays:
        return schema_of(index.graph)
    counts = {field.name: arrays[field.name] for field in fields(Schema) if field.name != _SQUARE}
    return Schema(**counts, together=Cooccurrence(index.graph, arrays.get(_SQUARE)))


# An index that is being written, and how far that is.

S = TypeVar("S")
T = TypeVar("T")
Span = tuple[int, int]
"""Rows [first, stop)."""
Stage = Literal["read", "schema", "names", "vectors", "search", "walks", "nodes", "triples"]
Progress = Callable[[Stage, int, int], None]
"""Called with (stage, done, total): bytes of the sources, then entities (for walks too), then triples."""


def say_nothing(*_: object) -> None:
    """Tell nobody how far the work is."""


@dataclass(frozen=True, eq=False)
class NewIndex:
    """A generation that `writer` writes of the index `path`: its graph, and what makes its vectors.

    `tell` is told how far the work is; the nodes of a `cluster` must see the index.
    """

    writer: IndexWriter
    path: Path
    graph: Graph
    embedder: Embedder
    vectors: VectorChoice = field(default_factory=VectorChoice)
    tell: Progress = say_nothing
    cluster: Workers | None = None

    def map(self, make: Callable[[Graph, Embedder], Callable[[S], T]], pieces: Iterable[S]) -> Iterator[T]:
        """Results in the order of the pieces, made here or by the cluster, where `make` is pickled."""
        if self.cluster is None:
            return map(make(self.graph, self.embedder), pieces)
        maker = partial(_made, self.writer.folder.resolve(), self.embedder.name, make)
        return self.cluster.map(maker, pieces)


def _made(
    folder: Path, embedder_name: str, make: Callable[[Graph, Embedder], Callable[[S], T]]
) -> Callable[[S], T]:
    """What does pieces in a worker, from what is written in the folder."""
    return make(written_graph(folder), embedder(embedder_name))
