"""An index in an object store (`s3://bucket/kb.clew`): fetched once a machine, and checked by its manifest.

It is fetched into a folder of the cache whose name stands for the address and the manifest, under a lock, so
that a second process waits and finds it. A file that was fetched whole stays when the rest fails; the folder
gets its name when all is there. Stores are reached by fsspec, which reads their keys from the environment.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from clew.errors import (
    ClewError,
    FormatError,
    IndexAccessError,
    InputError,
    MissingExtra,
    UsageError,
    first_line,
)
from clew.foundation.redaction import keep_address
from clew.index.store.files import FileEntry, check_entry, disk_errors, sync_files, sync_path
from clew.index.store.folders import usable
from clew.index.store.manifest import MANIFEST, Manifest, read_manifest
from clew.text.embedders.extras import require

EXTRA = "object-store"
FETCH_ATTEMPTS = 3
"""How often a file is fetched that does not come whole, and a manifest whose files are gone is read anew."""
KEPT_GENERATIONS = 2
"""Generations of one address that are kept: a process may have the one before open."""
_PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "az": "adlfs", "abfs": "adlfs"}
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


class ObjectStoreError(IndexAccessError):
    """An object store that refuses, breaks off, or lacks the index; the message names this machine."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """An index that was fetched: where it is here, and what stands for its manifest in the store."""

    path: Path
    mark: str


@dataclass(frozen=True)
class RemoteIndex:
    """An index at an address of an object store, and the cache folder of this machine."""

    address: str
    cache: Path

    def mark(self) -> str:
        """What stands for the manifest that is in the store now. Raises as `fetch`."""
        return _digest(self._manifest_bytes())

    def fetch(self) -> Fetched:
        """Fetch the newest generation, unless it is here already.

        Raises MissingExtra or UsageError without the package of such a store, InputError if there is no
        index, ObjectStoreError if the store refuses or breaks off, FormatError for an index of another
        version or files that are not as they were written, IndexAccessError if the disk is full.
        """
        keep_address(self.address)
        folder = usable(self.cache)[0]
        with disk_errors(folder):
            (folder / "fetched").mkdir(exist_ok=True)
        for attempt in range(1, FETCH_ATTEMPTS + 1):
            raw = self._manifest_bytes()
            mark = _digest(raw)
            name = f"{_stem(self.address)}-{_digest(self.address.encode())}"
            target = folder / "fetched" / f"{name}-{mark}.clew"
            try:
                self._complete(raw, target)
            except FileNotFoundError:  # a newer generation has taken its place
                if attempt < FETCH_ATTEMPTS and _digest(self._manifest_bytes()) != mark:
                    continue
                raise self._error(
                    "lacks files of its own manifest. Copy the index there again, its manifest.json last"
                ) from None
            _sweep(folder / "fetched", name, target)
            return Fetched(target, mark)
        raise self._error("is being replaced over and over. Try again")

    @cached_property
    def _place(self) -> tuple[Any, str]:
        """The file system of the address, and the path of the index in it."""
        fsspec = require("fsspec", EXTRA)
        try:
            store, root = fsspec.core.url_to_fs(self.address)
        except ImportError as error:
            package = _PACKAGES.get(self.address.partition("://")[0], "fsspec")
            if package == "s3fs":
                raise MissingExtra(package, EXTRA) from error
            raise UsageError(
                f"{self.address}: {package} is not installed. Install it with: pip install {package}"
            ) from error
        except (ValueError, OSError) as error:
            raise self._error(
                f"is no address of a store ({first_line(error)}). Write s3://bucket/NAME.clew"
            ) from error
        return store, str(root).rstrip("/")

    def _manifest_bytes(self) -> bytes:
        store, root = self._place
        store.invalidate_cache()
        with self._store_errors():
            try:
                return bytes(store.cat_file(f"{root}/{MANIFEST}"))
            except FileNotFoundError as error:
                raise InputError(
                    f"{self._address_and_host()}: no such index. Check the address, or copy an index there, "
                    "its manifest.json last"
                ) from error

    def _complete(self, raw: bytes, target: Path) -> None:
        """Have the index of a manifest in `target`; raises FileNotFoundError for a file that is gone."""
        if (target / MANIFEST).exists():
            return
        # Only where something is fetched: it takes a while to import.
        from filelock import FileLock

        part = target.with_suffix(".part")
        with disk_errors(target):
            lock = FileLock(target.with_suffix(".lock"))
            lock.acquire()
        try:
            if (target / MANIFEST).exists():  # another process has fetched it meanwhile
                return
            manifest = self._checked_manifest(raw)
            with disk_errors(target):
                (part / manifest.folder).mkdir(parents=True, exist_ok=True)
            for entry in manifest.files:
                self._fetch_whole(part, manifest.folder, entry)
            with disk_errors(target):
                sync_files(part / manifest.folder, [entry.file for entry in manifest.files])
                (part / MANIFEST).write_bytes(raw)
                sync_path(part / MANIFEST)
                os.replace(part, target)
                sync_path(target.parent)
        finally:
            lock.release()

    def _checked_manifest(self, raw: bytes) -> Manifest:
        """The manifest, if it is one and its files are plain names. Raises FormatError."""
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / MANIFEST).write_bytes(raw)
            try:
                manifest = read_manifest(Path(scratch))
            except ClewError as error:
                raise FormatError(str(error).replace(scratch, self.address)) from error
        for entry in manifest.files:
            if not _PLAIN.fullmatch(entry.file):
                raise FormatError(
                    f"{self._address_and_host()}: damaged, {entry.file!r} is no name of a file of an index"
                )
        return manifest

    def _fetch_file(self, name: str, folder: Path) -> None:
        """Fetch a file, by its path below the index, into the same place of a folder."""
        store, root = self._place
        with self._store_errors():
            store.get_file(f"{root}/{name}", str(folder / name))

    def _fetch_whole(self, part: Path, generation: str, entry: FileEntry) -> None:
        """Fetch a file of a generation whole, unless it is here."""
        folder = part / generation
        for attempt in range(1, FETCH_ATTEMPTS + 1):
            try:
                check_entry(folder, entry, verify=True)
                return
            except FormatError as error:
                if attempt == FETCH_ATTEMPTS:
                    raise self._error(
                        f"{entry.file} did not come as it was written ({attempt - 1} times). Is it damaged "
                        "there? Copy the index there again"
                    ) from error
            except FileNotFoundError:
                pass
            self._fetch_file(f"{generation}/{entry.file}", part)
        check_entry(folder, entry, verify=True)

    @contextmanager
    def _store_errors(self) -> Generator[None]:
        """Turn what a store raises into an error that says what to do; FileNotFoundError passes."""
        try:
            yield
        except (FileNotFoundError, ClewError):
            raise
        except PermissionError as error:
            raise self._error(
                f"the store refuses ({first_line(error)}). Check its keys in the environment of this "
                "machine, and the right to read there"
            ) from error
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                with disk_errors(self.cache):
                    raise
            raise self._unreachable_error(error) from error
        except Exception as error:  # each kind of store has errors of its own
            if "credentials" in str(error).lower():
                raise self._error(
                    f"there are no keys for the store ({first_line(error)}). Set them in the environment of "
                    "this machine, as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                ) from error
            raise self._unreachable_error(error) from error

    def _unreachable_error(self, error: Exception) -> ObjectStoreError:
        return self._error(
            f"the store cannot be reached, or broke off ({first_line(error)}). Files that came whole are "
            "kept: check the network and the store's address, and run the same command again"
        )

    def _error(self, message: str) -> ObjectStoreError:
        return ObjectStoreError(f"{self._address_and_host()}: {message}")

    def _address_and_host(self) -> str:
        return f"{self.address} (from {socket.gethostname()})"


def _stem(address: str) -> str:
    name = urlsplit(address).path.rstrip("/").rpartition("/")[2]
    return re.sub(r"[^\w.-]+", "-", name.partition(".")[0])[:40] or "index"


def _digest(raw: bytes) -> str:
    return hashlib.blake2b(raw, digest_size=8).hexdigest()


def _sweep(folder: Path, name: str, current: Path) -> None:
    """Remove what older generations of the same address have left."""
    old_folders = [path for path in folder.glob(f"{name}-*") if path.stem != current.stem and path.is_dir()]
    for path in sorted(old_folders, key=lambda path: -path.stat().st_mtime)[KEPT_GENERATIONS - 1 :]:
        shutil.rmtree(path, ignore_errors=True)
        path.with_suffix(".lock").unlink(missing_ok=True)
