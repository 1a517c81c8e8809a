"""The index directory `NAME.clew/`: its manifest, and generations that are put in place at once.

    manifest.json   what the index is, and which files of which generation belong to it
    gen-000001/     one `.npy` file a section
    lock            held by the one writer

A writer (`writing.py`) makes its generation in `writing/`, flushes every file to the disk, renames the
folder, and replaces the manifest last. Stopped at any point, it leaves the manifest and the files of the
generation before; what lies about is removed by the next writer.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec
import numpy as np

from clew.errors import ClewError, EmbedderMismatch, FormatError, IndexAccessError, InputError
from clew.foundation.arrays import AnyArray, Float32, Int8
from clew.foundation.forms import converted
from clew.graph.graph import Graph
from clew.index.names import NamesIndex
from clew.index.store.files import FileEntry, NotRegular, Seal, is_array, map_array, read_regular
from clew.index.store.sections import (
    DamagedSection,
    check_structure,
    graph_of_sections,
    graph_sections,
    with_prefix,
    without_prefix,
)
from clew.index.vectors.backends import VectorAccess

if TYPE_CHECKING:
    from clew.text.embedders import Embedder


# The manifest of an index: what it was made from, with what, and which files belong to it.

FORMAT_VERSION = 5
MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A file, folder or database (`path`: its address) of the index; `bytes`, `modified` (ns) as on disk."""

    path: str
    role: Literal["source", "types", "aliases"]
    format: str
    bytes: int
    modified: int
    sha256: str


@dataclass(frozen=True, slots=True)
class EmbedderRecord:
    """Which embedder made the vectors."""

    name: str
    fingerprint: str
    dimension: int

    @classmethod
    def of(cls, embedder: Embedder) -> EmbedderRecord:
        """What is noted of an embedder."""
        return cls(embedder.name, embedder.fingerprint, embedder.dimension)


@dataclass(frozen=True, slots=True)
class IndexAbout:
    """What an index holds: its sources, embedder, counts of things, and the report of the build."""

    sources: tuple[SourceRecord, ...]
    embedder: EmbedderRecord | None
    counts: Mapping[str, int]
    report: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Manifest:
    """One generation of an index; `created` is in UTC, ISO 8601."""

    clew: str
    created: str
    generation: int
    about: IndexAbout
    files: tuple[FileEntry, ...]

    @property
    def folder(self) -> str:
        """Folder of the generation's files, below the index."""
        return generation_folder(self.generation)

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(entry.bytes for entry in self.files)

    def to_json(self) -> str:
        """Write as JSON, with the format version and a checksum of all the rest."""
        body = {"format": FORMAT_VERSION, **asdict(self)}
        return json.dumps({"checksum": _checksum(body), **body}, indent=1)


def read_manifest(path: Path) -> Manifest:
    """Read the manifest. Raises InputError (no index), IndexAccessError, FormatError (version, damage)."""
    raw = _load(path)
    version = raw.get("format")
    if version != FORMAT_VERSION:
        origin = f"it was made by Clew {raw.get('clew', '(unknown)')} with index format {version}"
        raise FormatError(f"{path}: {origin}, this Clew reads format {FORMAT_VERSION}. {rebuild(path)}")
    body = {key: value for key, value in raw.items() if key != "checksum"}
    if raw.get("checksum") != _checksum(body):
        raise FormatError(f"{path / MANIFEST}: damaged, its checksum differs. {rebuild(path)}")
    try:
        manifest = converted(raw, Manifest)
    except msgspec.ValidationError as error:
        raise FormatError(f"{path / MANIFEST}: damaged ({error}). {rebuild(path)}") from error
    for names in zip(*((entry.section, entry.file) for entry in manifest.files), strict=True):
        if twice := [name for name, times in Counter(names).items() if times > 1]:
            raise FormatError(f"{path / MANIFEST}: damaged, it lists {twice[0]} twice. {rebuild(path)}")
    return manifest


def generation_folder(generation: int) -> str:
    """Name the folder of a generation."""
    return f"gen-{generation:06d}"


def rebuild(path: Path) -> str:
    """Advice for an index that cannot be used."""
    return f"Rebuild it with: clew index SOURCE -o {path}"


def _load(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise InputError(f"{path}: no such index. Make one with: clew index SOURCE -o {path}")
    try:
        raw = json.loads(read_regular(path / MANIFEST))
    except (FileNotFoundError, NotADirectoryError) as error:
        kind = "a folder without a manifest.json" if path.is_dir() else "a file"
        if path.is_dir():
            advice = f"To make an index: clew index SOURCE -o {path.with_suffix('.clew')}"
        elif path.suffix == ".clew":
            advice = "To ask a graph file, give it another ending than .clew"
        else:
            advice = f"To make an index of it: clew index {path} -o {path.with_suffix('.clew')}"
        raise InputError(f"{path}: not a Clew index but {kind}. {advice}") from error
    except NotRegular as error:
        raise FormatError(f"{path / MANIFEST}: damaged, {error.strerror}. {rebuild(path)}") from error
    except OSError as error:
        raise IndexAccessError(f"{path}: cannot read the index ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path / MANIFEST}: damaged, not JSON. {rebuild(path)}") from error
    if not isinstance(raw, dict):
        raise FormatError(f"{path / MANIFEST}: damaged, not an object. {rebuild(path)}")
    return cast(dict[str, Any], raw)


def _checksum(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True)
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).hexdigest()


def check_embedder(path: Path, manifest: Manifest, embedder: Embedder) -> None:
    """Raise EmbedderMismatch unless `embedder` made the vectors of the index `path`."""
    made_with = manifest.about.embedder
    if made_with is None or made_with.fingerprint != embedder.fingerprint:
        name = "none" if made_with is None else f"{made_with.name} ({made_with.fingerprint})"
        raise EmbedderMismatch(
            f"{path}: the index was made with the embedder {name}, not {embedder.name} "
            f"({embedder.fingerprint}). Choose that one (--embedder), or index the sources again"
        )


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
    made: dict[object, Any] = field(default_factory=dict[object, Any])
    """What is made of the index once, for all that ask it."""
    seal: Seal | None = None

    @property
    def arrays(self) -> dict[str, AnyArray]:
        """All arrays by section, those of the graph and of its names too."""
        graph, names = graph_sections(self.graph), self.names.sections()
        return {**with_prefix("graph", graph), **with_prefix("names", names), **self.sections}

    def check_unchanged(self, *, verify: bool = False) -> None:
        """Check anew the files that were written to since they were opened, all if `verify`. FormatError."""
        if self.seal is not None:
            with suppress(FileNotFoundError), _damage_errors(self.path):
                self.seal.check(self.manifest.files, verify=verify)

    @contextmanager
    def sound(self) -> Generator[None]:
        """Use the index after checking anew the files that were written to.

        An error of Python becomes FormatError if a file is damaged, also where no time of it changed.
        """
        self.check_unchanged()
        try:
            yield
        except ClewError:
            raise
        except Exception:
            self.check_unchanged(verify=True)
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


def open_index(
    path: Path, *, verify: bool = False, access: VectorAccess | None = None, held: bool = False
) -> Index:
    """Open the index `path`, memory-mapped, or read if `held`; `access` is for vectors in a database.

    Files that have changed since they were found whole are checked, all if `verify`. Raises InputError (no
    index), FormatError (another version, damage), IndexAccessError.
    """
    for _ in range(5):
        manifest = read_manifest(path)
        try:
            with _damage_errors(path):
                return _open(path, manifest, verify, access or VectorAccess(), held)
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


def _open(path: Path, manifest: Manifest, verify: bool, access: VectorAccess, held: bool) -> Index:
    folder = path / manifest.folder
    seal = Seal.read(folder)
    is_new = seal.check(manifest.files, verify=verify)
    arrays = {f.section: map_array(folder / f.file, held=held) for f in manifest.files if is_array(f)}
    if is_new:
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
