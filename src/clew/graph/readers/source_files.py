"""The files of a source: which they are, how large, when modified, and their checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from clew.errors import InputError
from clew.graph.readers.stream import missing


def is_of_arrays(path: Path) -> bool:
    """Whether a folder is one of arrays."""
    return (path / "head.npy").is_file()


def source_files(path: Path) -> list[Path]:
    """Files that a source stands for: itself, or those of a folder that are called as files of graphs are."""
    if not path.is_dir():
        return [path] if path.is_file() else []
    # The readers are needed for a folder alone, and by a question not at all.
    if is_of_arrays(path):
        from clew.graph.readers.arrays import ARRAY_FILES

        return [path / name for name in ARRAY_FILES if (path / name).is_file()]
    from clew.graph.readers.registry import is_graph_file

    return sorted(filter(is_graph_file, path.iterdir()))


def source_bytes(sources: Sequence[Path]) -> int:
    """Bytes on disk of all sources, for a progress bar; a missing one counts 0."""
    return sum(file.stat().st_size for path in sources for file in source_files(path))


def checksum(path: Path) -> str:
    """SHA-256 of a file, or of the names and checksums of the files read in a directory, in hexadecimal."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    lines = [f"{checksum(file)}  {file.name}\n" for file in source_files(path)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def modification_time(path: Path) -> int:
    """When a source, or the last of a folder's files, was modified, in ns since 1970; raises InputError."""
    try:
        times = [path.stat().st_mtime_ns]
        if path.is_dir():
            times += [file.stat().st_mtime_ns for file in path.iterdir()]
    except FileNotFoundError as error:
        raise missing(path) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    return max(times)
