"""The manifest of an index: what it was made from, with what, and which files belong to it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec

from clew.errors import EmbedderMismatch, FormatError, IndexAccessError, InputError
from clew.foundation.json_form import converted
from clew.index.store.files import FileEntry, NotRegular, read_regular

if TYPE_CHECKING:
    from clew.text.embedder import Embedder

FORMAT_VERSION = 4
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
        return converted(raw, Manifest)
    except msgspec.ValidationError as error:
        raise FormatError(f"{path / MANIFEST}: damaged ({error}). {rebuild(path)}") from error


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
