"""The files of an index: arrays with checksums, memory-mapped; folders of a cache; which were found whole."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import stat
import tempfile
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from clew.errors import FormatError, IndexAccessError
from clew.foundation.arrays import AT_ONCE, AnyArray, chunks_of, load_array
from clew.foundation.system import is_own, open_at_once, replace_file, usable_processors

# Folders for what can be made again: the cache, or a private one where the cache may not be written.


def usable(cache_dir: Path) -> tuple[Path, str | None]:
    """Choose the cache; else a private folder for temporary files, and why the cache may not be written."""
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache_dir):
            return cache_dir, None
    except OSError as error:
        return user_folder(), error.strerror or str(error)


def private_folder() -> Path:
    """Name the user's folder below that for temporary files; it may not exist."""
    # On Windows each user has a temporary folder.
    user = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
    return Path(tempfile.gettempdir()) / f"clew{user}"


def user_folder() -> Path:
    """Make or find this user's folder; a new one where another user made it."""
    return trusted_folder() or Path(tempfile.mkdtemp(prefix="clew-"))


def trusted_folder() -> Path | None:
    """Make or find this user's folder; None if it cannot be made, or others may write to it."""
    folder = private_folder()
    return folder if make_own(folder) is None else None


def make_own(folder: Path) -> str | None:
    """Make or find a folder; why it is none that this user alone may write to, None where it is one."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        return error.strerror or str(error)
    if not stat.S_ISDIR(status.st_mode):
        return "it is a link"
    return None if is_own(status) else "others may write to it"


# The files of an index: arrays written through to the disk, with checksums, and opened memory-mapped.

_READ_BELOW = 1 << 20
"""Bytes of a file that is read: what is mapped ends the process if the file is truncated."""
_PLACES = "-o; $CLEW_CACHE_DIR for the cache"


class NotRegular(OSError):
    """What stands in the place of a file is a pipe, a device or the like."""

    def __init__(self) -> None:
        super().__init__(errno.EINVAL, "not a regular file")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A section's file: its size and checksum."""

    section: str
    file: str
    bytes: int
    checksum: str


@contextmanager
def disk_errors(path: Path) -> Generator[None]:
    """Turn an error of the operating system while writing the index `path` into one with advice."""
    try:
        yield
    except OSError as error:
        raise IndexAccessError(f"{path}: {_advice(error)}. What was there before is unchanged") from error


def _advice(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full. Free some space or choose another place for the index ({_PLACES})"
    if error.errno == errno.EFBIG:
        return "a file would exceed the size that is allowed here. Raise the limit (ulimit -f)"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return (
            f"no permission to write here ({error.strerror}). Choose another place for the index ({_PLACES})"
        )
    return f"cannot write the index ({error.strerror or error})"


def write_parts(
    folder: Path, section: str, shape: tuple[int, ...], dtype: np.dtype[np.generic], parts: Iterable[AnyArray]
) -> FileEntry:
    """Write a section as `.npy` from arrays that are its rows; OSError, ValueError if they do not fill it."""
    if dtype.hasobject:
        raise ValueError(f"section {section!r} is an array of objects")
    # Little-endian on every machine, so that an index can be copied.
    dtype = dtype.newbyteorder("<")
    header = io.BytesIO()
    descr = np.lib.format.dtype_to_descr(dtype)
    np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": shape})
    path = folder / f"{section}.npy"
    digest = hashlib.blake2b(header.getvalue(), digest_size=16)
    bytes_left = int(np.prod(shape)) * dtype.itemsize
    with path.open("wb") as file:
        write_piece(file, header.getvalue())
        for part in parts:
            data = np.ascontiguousarray(part, dtype).reshape(-1).view(np.uint8).data
            for span in chunks_of(0, len(data), AT_ONCE):
                digest.update(data[slice(*span)])
                write_piece(file, data[slice(*span)])
            bytes_left -= len(data)
    if bytes_left:
        raise ValueError(f"the parts of section {section!r} do not fill its shape {shape}")
    return FileEntry(section, path.name, path.stat().st_size, digest.hexdigest())


def file_entry(folder: Path, section: str, name: str) -> FileEntry:
    """Describe a file of another format that has been written into `folder`."""
    path = folder / name
    return FileEntry(section, name, path.stat().st_size, full_checksum(path))


def write_piece(file: io.BufferedWriter, piece: bytes | memoryview) -> None:
    """Write to a file of an index; every byte of every file goes through here."""
    file.write(piece)


def sync_path(path: Path) -> None:
    """Wait until a file, or the new and renamed entries of a folder, are on the disk."""
    windows = os.name == "nt"
    if windows and path.is_dir():  # which cannot be opened there; its entries are written with its files
        return
    handle = os.open(path, os.O_RDWR if windows else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_regular(path: Path) -> bytes:
    """Read a whole file; OSError, of which `NotRegular` for a device or a pipe, which is not waited for."""
    with open(path, "rb", opener=open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotRegular
        return file.read()


def full_checksum(path: Path) -> str:
    """BLAKE2b of the whole file, 16 bytes in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def map_array(path: Path, *, held: bool = False) -> AnyArray:
    """Map an `.npy` file, or read it if it is small or to be `held`. Raises OSError, ValueError."""
    # Copy-on-write rather than read-only: compiled kernels then see the type that they see for arrays
    # in memory, and the file cannot be changed either way.
    is_mapped = not held and path.stat().st_size > _READ_BELOW
    try:
        return np.asarray(load_array(path, "c" if is_mapped else None))
    except MemoryError as error:
        if path.stat().st_size > _READ_BELOW:
            raise
        raise ValueError("its header claims more than it holds") from error


def check_entry(folder: Path, entry: FileEntry) -> None:
    """Check the size and checksum of a file. Raises FileNotFoundError, FormatError."""
    path = folder / entry.file
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise FormatError(f"{path}: damaged, {NotRegular().strerror}")
    if (size := status.st_size) != entry.bytes:
        raise FormatError(f"{path}: damaged, {size:,} bytes where {entry.bytes:,} were written")
    if full_checksum(path) != entry.checksum:
        raise FormatError(f"{path}: damaged, its checksum differs from what was written")


def is_array(entry: FileEntry) -> bool:
    """Whether the section is an array, and not a file of another format."""
    return entry.file.endswith(".npy")


# Which files of an index were found whole, told from what the file system says of them now.
#
# To read all of an index at every start would cost more than a question does. So a file is compared with its
# checksum, all of it, once: then its size, inode and times of change are noted, the last of which no program
# can set. As long as these are the same nothing has written to the file since. A copy, a restored backup or a
# changed byte has others and is checked again, and so is an index that is open, before each question. What
# damages a disk below the file system changes no times: `clew info --verify` reads all.

_SEAL = "sealed.json"


class Mark(NamedTuple):
    """What a file system says of a file; times of the last change, of content and inode, in nanoseconds."""

    bytes: int
    modified: int
    changed: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Mark:
        """That of a file as it is now."""
        status = path.stat()
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class Seal:
    """The marks of the files of one generation that were found whole."""

    def __init__(self, folder: Path, marks: Iterable[tuple[str, Mark]] = ()) -> None:
        self._folder, self._marks = folder, set(marks)

    @classmethod
    def read(cls, folder: Path) -> Seal:
        """The seal of a generation's folder; an empty one where there is none that can be read."""
        known: set[tuple[str, Mark]] = set()
        for place in _places(folder):
            # One that cannot be read counts as none; either may be of a folder that was copied.
            with suppress(OSError, ValueError, TypeError, AttributeError, RecursionError):
                marks = json.loads(read_regular(place))
                known |= {(str(name), Mark(*mark)) for name, mark in marks.items()}
        return cls(folder, known)

    def check(self, entries: Sequence[FileEntry], *, verify: bool = False) -> bool:
        """Check each file that is not sealed (all if `verify`); whether there were any. FileNotFoundError.

        Raises FormatError for the first file that is not as it was written.
        """
        marks = [(entry.file, Mark.of(self._folder / entry.file)) for entry in entries]
        pairs = zip(entries, marks, strict=True)
        unsealed = [entry for entry, mark in pairs if verify or mark not in self._marks]
        # Largest first, so that no thread is left with one at the end.
        unsealed.sort(key=lambda entry: entry.bytes, reverse=True)
        if unsealed:
            with ThreadPoolExecutor(min(4, usable_processors())) as pool:
                list(pool.map(partial(check_entry, self._folder), unsealed))
        self._marks = set(marks)
        return bool(unsealed)

    def write(self) -> None:
        """Note the marks beside the files, else in this user's folder; without either, all is read again."""
        for place in _places(self._folder):
            with suppress(OSError):
                replace_file(place, json.dumps(dict(sorted(self._marks))))
                return


def _places(folder: Path) -> list[Path]:
    """Where a seal may be: beside the files, else in the folder of this user."""
    name = hashlib.blake2b(str(folder.absolute()).encode("utf-8", "surrogateescape"), digest_size=12)
    user_folder = trusted_folder()
    return [folder / _SEAL] + ([] if user_folder is None else [user_folder / f"seal-{name.hexdigest()}.json"])
