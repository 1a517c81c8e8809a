"""The index directory `NAME.clew/`: generations that are written aside and put in place at once.

    manifest.json   what the index is, and which files of which generation belong to it
    gen-000001/     one `.npy` file a section
    lock            held by the one writer

A writer (`writing.py`) makes its generation in `writing/`, flushes every file to the disk, renames the
folder, and replaces the manifest last. Stopped at any point, it leaves the manifest and the files of the
generation before; what lies about is removed by the next writer.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from clew.errors import ClewError, FormatError, IndexAccessError
from clew.foundation.arrays import AnyArray, Float32, Int8
from clew.graph.graph import Graph
from clew.index.names.names import NamesIndex
from clew.index.store.files import is_array, map_array
from clew.index.store.manifest import Manifest, read_manifest, rebuild
from clew.index.store.seal import Seal
from clew.index.store.sections import graph_of_sections, graph_sections, with_prefix, without_prefix
from clew.index.store.structure import DamagedSection, check_structure
from clew.index.vectors.backends.registry import VectorAccess

_ATTEMPTS = 5


@dataclass(frozen=True, eq=False)
class Index:
    """An open index: a snapshot that stays whole while others write new generations."""

    path: Path
    manifest: Manifest
    graph: Graph
    names: NamesIndex
    sections: Mapping[str, AnyArray]
    files: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """Sections of other formats, checked."""
    access: VectorAccess = field(default_factory=VectorAccess)
    """How to reach a vector database that holds some of it."""
    made: dict[tuple[object, ...], Any] = field(default_factory=dict[tuple[object, ...], Any])
    """What is made of the index once, for all that ask it."""
    seal: Seal | None = None

    @property
    def arrays(self) -> dict[str, AnyArray]:
        """All arrays by section, those of the graph and of its names too."""
        graph, names = graph_sections(self.graph), self.names.sections()
        return {**with_prefix("graph", graph), **with_prefix("names", names), **self.sections}

    def check_unchanged(self) -> None:
        """Check anew the files that were written to since they were opened; raises FormatError."""
        if self.seal is not None:
            with _damage_errors(self.path):
                self.seal.check_changed(self.manifest.files)

    @contextmanager
    def sound(self) -> Generator[None]:
        """Use the index after checking anew the files that were written to.

        An error of Python is raised as FormatError if a file is damaged, also below the file system, where no
        time of it changes.
        """
        self.check_unchanged()
        try:
            yield
        except ClewError:
            raise
        except Exception:
            if self.seal is not None:
                with (
                    suppress(FileNotFoundError),
                    _damage_errors(self.path),
                ):  # replaced: what is mapped is whole
                    self.seal.check(self.manifest.files, verify=True)
            raise

    def array(self, name: str) -> AnyArray:
        """Get an extra section's array, memory-mapped; FormatError if the index lacks it."""
        if name not in self.sections:
            raise FormatError(f"{self.path}: the index has no section {name!r}. {rebuild(self.path)}")
        return self.sections[name]

    def vectors(self, rows: str, scales: str) -> tuple[Int8, Float32]:
        """Get stored vectors, int8 [n, d] times float32 [n], by the names of sections; raises as `array`."""
        return self.array(rows).astype(np.int8, copy=False), self.array(scales).astype(np.float32, copy=False)

    def data(self, name: str) -> bytes:
        """Get an extra section that was written as bytes; FormatError if the index lacks it."""
        return self.array(name).tobytes()


def open_index(path: Path, *, verify: bool = False, access: VectorAccess | None = None) -> Index:
    """Open the index `path`, memory-mapped; `access` is for vectors that are in a database.

    Files that have changed since they were found whole are read and checked, all files if `verify`. Raises
    InputError if there is no index, FormatError if it is of another version or damaged, IndexAccessError if
    it may not be read.
    """
    for _ in range(_ATTEMPTS):
        manifest = read_manifest(path)
        try:
            with _damage_errors(path):
                return _open(path, manifest, verify, access or VectorAccess())
        except FileNotFoundError as error:
            # A writer may have put a newer generation in place since the manifest was read.
            if read_manifest(path).generation == manifest.generation:
                raise FormatError(f"{error.filename}: missing from the index. {rebuild(path)}") from error
    raise IndexAccessError(f"{path}: the index is being replaced over and over. Try again")


@contextmanager
def _damage_errors(path: Path) -> Generator[None]:
    """Turn what goes wrong in the files of an index into an error with advice."""
    try:
        yield
    except FileNotFoundError:
        raise
    except FormatError as error:
        raise FormatError(f"{error}. {rebuild(path)}") from error
    except OSError as error:
        raise IndexAccessError(f"{path}: cannot read the index ({error.strerror or error})") from error
    except (LookupError, ValueError, TypeError, OverflowError) as error:
        raise FormatError(f"{path}: damaged ({error}). {rebuild(path)}") from error


def _open(path: Path, manifest: Manifest, verify: bool, access: VectorAccess) -> Index:
    folder = path / manifest.folder
    seal = Seal.read(folder)
    seal.check(manifest.files, verify=verify)
    arrays = {f.section: map_array(folder / f.file) for f in manifest.files if is_array(f)}
    if seal.checked:
        try:
            check_structure(arrays)
        except DamagedSection as error:
            raise FormatError(f"{folder / error.section}.npy: damaged, {error}") from error
        seal.write()
    files = {f.section: folder / f.file for f in manifest.files if not is_array(f)}
    graph = graph_of_sections(without_prefix("graph", arrays))
    names = NamesIndex.open(graph, without_prefix("names", arrays))
    extra = {name: array for name, array in arrays.items() if not name.startswith(("graph.", "names."))}
    graph = replace(graph, find_namesakes=names.namesakes)
    return Index(path, manifest, graph, names, extra, files, access, seal=seal)
