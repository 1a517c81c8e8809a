"""A small database as an index that is kept for as long as the database does not change.

Its state (`NearStore.state`) tells whether the copy still holds. Where a cache folder is given, the copy
outlives the process.

Round trips of Neo4j: one a question; when it is read, 3 counts, and 3 for each 50,000 ids of nodes. Of a
SPARQL endpoint: two every ten seconds; when it is read, 4 counts, and one for each relation.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from time import monotonic

from filelock import FileLock

from clew.errors import FormatError, InputError
from clew.foundation.whole_file import replace_file
from clew.graph.readers.hints import Hints
from clew.index.build import build_index
from clew.index.store.directory import Index, open_index
from clew.index.store.folders import usable
from clew.index.store.manifest import FORMAT_VERSION
from clew.stores.import_folder import open_folder
from clew.stores.neighbourhood import NearStore
from clew.text.embedder import Embedder
from clew.version import __version__

MOST_COPIED = 250_000
"""Nodes and edges of a database that is copied."""
WORTH = 10
"""A copy that was made anew lasted so many times as long as it took, or the database changes too often."""
BUSY_SECONDS = 60.0
"""How long no copy is made of a database that changes too often."""


@dataclass(frozen=True, slots=True)
class CopiedIndex:
    """The index of a database, and the state of the database that it shows."""

    index: Index
    state: str
    since: float
    """When it was made, in seconds of a clock that only goes forward."""
    seconds: float
    """How long making it took."""


class DatabaseCopy:
    """The copy of one database; threads share it."""

    def __init__(
        self,
        store: NearStore,
        embedder: Embedder,
        cache: Path | None = None,
        most: int = MOST_COPIED,
        *,
        hints: Hints | None = None,
        worth: float = WORTH,
    ) -> None:
        self.store, self.embedder, self._most, self._worth = store, embedder, most, worth
        self.hints = hints or Hints()
        if cache is None:
            folder = Path(tempfile.mkdtemp(prefix="clew-copy-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        else:
            folder = usable(cache)[0]
        parts = [*store.key, self.hints.language, embedder.name, embedder.fingerprint]
        identity = json.dumps([*parts, FORMAT_VERSION, __version__])
        self._base = folder / f"copy-{hashlib.blake2b(identity.encode(), digest_size=8).hexdigest()}"
        self._copy: CopiedIndex | None = None
        self._busy_until, self._checked_at = 0.0, -math.inf
        self._lock = Lock()

    def current(self) -> CopiedIndex | None:
        """The copy of the database as it is now; None if it is large, or changes too often.

        Raises StoreError, and IndexAccessError if the copy cannot be written.
        """
        if not self._most or monotonic() < self._busy_until:
            return None
        copy = self._copy
        if copy is not None and monotonic() - self._checked_at < self.store.state_lasts:
            return copy
        checked_at, state = monotonic(), self.store.state(self._most)
        if state is None:
            return self._leave()
        with self._lock:  # who asks meanwhile needs the same copy
            copy, self._checked_at = self._copy, checked_at
            if copy is not None and copy.state == state:
                return copy
            if copy is not None and monotonic() - copy.since < self._worth * copy.seconds:
                return self._leave()
            began = monotonic()
            index = self._cached(state)
            if index is None:
                return self._leave()
            self._copy = CopiedIndex(index, state, monotonic(), monotonic() - began)
            return self._copy

    def _leave(self) -> None:
        self._busy_until = monotonic() + BUSY_SECONDS

    def _cached(self, state: str) -> Index | None:
        """Open the copy of a state, or make it; None for a large database, or one that changes meanwhile."""
        path, mark = self._base.with_suffix(".clew"), self._base.with_suffix(".state")
        with FileLock(self._base.with_suffix(".lock")):
            try:
                if mark.read_text("utf-8") == state:
                    return open_index(path)
            except (OSError, InputError, FormatError):
                pass
            if not self.store.is_small(self._most):
                return None
            mark.unlink(missing_ok=True)
            with tempfile.TemporaryDirectory(dir=self._base.parent, prefix="clew-import-") as scratch:
                folder = open_folder(Path(scratch) / "import", self.store.name)
                data = self.store.export(folder)
                if self.store.state(self._most) != state:
                    return None
                build_index(
                    [data], path, embedder=self.embedder, addresses={data: self.store.name}, hints=self.hints
                )
            replace_file(mark, state)
            return open_index(path)
