"""Which files of an index were found whole, told from what the file system says of them now.

To read all of an index at every start would cost more than a question does, and samples miss most damage. So
a file is compared with its checksum, all of it, once: then its size, inode and times of change are noted, the
last of which no program can set. As long as these are the same nothing has written to the file since. A copy,
a restored backup or a changed byte has others and is checked again, and so is an index that is open, before
each question. What damages a disk below the file system changes no times: `clew info --verify` reads all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

from clew.foundation.whole_file import replace_file
from clew.index.store.files import FileEntry, check_entry, read_regular
from clew.index.store.folders import trusted_folder
from clew.workers.processors import usable_processors

_SEAL = "sealed.json"
_THREADS = 4
_WORTH_THREADS = 1 << 24
"""Bytes from which threads are worth their start."""

Mark = tuple[int, int, int, int]
"""Bytes, nanoseconds of the last modification and of the last change of the inode, and its number."""


class Seal:
    """The marks of the files of one generation; `checked` are the entries that were read whole by it."""

    def __init__(self, folder: Path, *marks: dict[str, Mark]) -> None:
        self._folder, self._marks = folder, marks
        self.checked: tuple[FileEntry, ...] = ()

    @classmethod
    def read(cls, folder: Path) -> Seal:
        """The seal of a generation's folder; an empty one where there is none that can be read."""
        mark_sets: list[dict[str, Mark]] = []
        for place in _places(folder):
            # One that cannot be read counts as none; either may be of a folder that was copied.
            with suppress(OSError, ValueError, TypeError, AttributeError, RecursionError):
                marks = json.loads(read_regular(place))
                mark_sets.append({str(name): _mark(*mark) for name, mark in marks.items()})
        return cls(folder, *mark_sets)

    @classmethod
    def of_written(cls, folder: Path, entries: Iterable[FileEntry]) -> Seal:
        """The seal of files that this process has just written, or checked and taken over."""
        return cls(folder, {entry.file: _mark_of(folder / entry.file) for entry in entries})

    def check(self, entries: Sequence[FileEntry], *, verify: bool = False) -> None:
        """Check the size of all files, and the checksum of each that is not sealed (of all if `verify`).

        Raises FileNotFoundError, and FormatError for the first file that is not as it was written.
        """
        marks = {entry.file: _mark_of(self._folder / entry.file) for entry in entries}
        unsealed = [e for e in entries if verify or not self._is_sealed(e, marks[e.file])]
        sealed = {entry.file for entry in entries} - {entry.file for entry in unsealed}
        for entry in entries:
            if entry.file in sealed:
                check_entry(self._folder, entry, verify=False)
        # Largest first, so that no thread is left with one at the end.
        self._check_whole(sorted(unsealed, key=lambda entry: entry.bytes, reverse=True))
        self._marks = (marks,)
        self.checked = tuple(unsealed)

    def check_changed(self, entries: Sequence[FileEntry]) -> None:
        """Check anew what has changed since; a file that is gone was replaced, and what is mapped is whole.

        Raises FormatError as `check`.
        """
        changed: list[tuple[FileEntry, Mark]] = []
        for entry in entries:
            with suppress(FileNotFoundError):
                mark = _mark_of(self._folder / entry.file)
                if not self._is_sealed(entry, mark):
                    changed.append((entry, mark))
        if not changed:
            return
        with suppress(FileNotFoundError):
            self._check_whole([entry for entry, _ in changed])
            old_marks = self._marks[0] if self._marks else {}
            self._marks = ({**old_marks, **{entry.file: mark for entry, mark in changed}},)

    def _check_whole(self, entries: Sequence[FileEntry]) -> None:
        check = partial(check_entry, self._folder, verify=True)
        if sum(entry.bytes for entry in entries) < _WORTH_THREADS:
            for entry in entries:
                check(entry)
            return
        with ThreadPoolExecutor(min(_THREADS, usable_processors())) as pool:
            list(pool.map(check, entries))

    def _is_sealed(self, entry: FileEntry, mark: Mark) -> bool:
        return any(marks.get(entry.file) == mark for marks in self._marks)

    def write(self) -> None:
        """Note the marks beside the files, else in this user's folder; without either, all is read again."""
        for place in _places(self._folder):
            with suppress(OSError):
                replace_file(place, json.dumps(self._marks[0]))
                return


def _mark(bytes: int, modified: int, changed: int, inode: int) -> Mark:
    return bytes, modified, changed, inode


def _mark_of(path: Path) -> Mark:
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _places(folder: Path) -> list[Path]:
    """Where a seal may be: beside the files, else in the folder of this user."""
    name = hashlib.blake2b(str(folder.absolute()).encode("utf-8", "surrogateescape"), digest_size=12)
    user_folder = trusted_folder()
    return [folder / _SEAL] + ([] if user_folder is None else [user_folder / f"seal-{name.hexdigest()}.json"])
