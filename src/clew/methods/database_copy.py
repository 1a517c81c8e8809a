"""A small Neo4j database as an index that is kept for as long as the database does not change.

A server gives every read transaction a bookmark, which is another one after each write: one round trip tells
whether the copy still holds. Where a cache folder is given, the copy outlives the process.

Round trips: one a question; when it is read, 3 counts, and 3 for each 50,000 ids of nodes.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, cast

from filelock import FileLock

from clew.errors import FormatError, InputError
from clew.index.build import build_index
from clew.index.store.directory import Index, open_index
from clew.index.store.folders import usable
from clew.index.store.manifest import FORMAT_VERSION
from clew.stores.import_folder import open_folder
from clew.stores.neo4j_export import SHARD, export
from clew.text.embedder import Embedder
from clew.version import __version__

if TYPE_CHECKING:
    from clew.stores.neo4j import Neo4jStore

MOST_COPIED = 250_000
"""Nodes and edges of a database that is copied."""
MOST_SHARDS = 50
"""Ranges of ids that are asked for; ids of a database from which much was deleted are far apart."""
WORTH = 10
"""A copy that was made anew lasted so many times as long as it took, or the database changes too often."""
BUSY_SECONDS = 60.0
"""How long no copy is made of a database that changes too often."""


@dataclass(frozen=True, slots=True)
class Copied:
    """The index of a database, and the state of the database that it shows."""

    index: Index
    state: str
    since: float
    """When it was made, in seconds of a clock that only goes forward."""
    seconds: float
    """How long that took."""


class DatabaseCopy:
    """The copy of one database; threads share it."""

    def __init__(
        self, store: Neo4jStore, embedder: Embedder, cache: Path | None = None, most: int = MOST_COPIED
    ) -> None:
        self._store, self._embedder, self._most = store, embedder, most
        if cache is None:
            folder = Path(tempfile.mkdtemp(prefix="clew-copy-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        else:
            folder = usable(cache)[0]
        parts = [store.address, store.database, embedder.name, embedder.fingerprint]
        made_by = json.dumps([*parts, FORMAT_VERSION, __version__])
        self._base = folder / f"neo4j-{hashlib.blake2b(made_by.encode(), digest_size=8).hexdigest()}"
        self._held: Copied | None = None
        self._busy_until = 0.0
        self._making = Lock()

    def current(self) -> Copied | None:
        """The copy of the database as it is now; None if it is large, or changes too often.

        Raises StoreError if the database fails, IndexAccessError if the copy cannot be written.
        """
        if not self._most or monotonic() < self._busy_until:
            return None
        state = self._store.state()
        with self._making:  # who asks meanwhile needs the same copy
            held = self._held
            if held is not None and held.state == state:
                return held
            if held is not None and monotonic() - held.since < WORTH * held.seconds:
                return self._leave()
            began = monotonic()
            index = self._cached(state)
            if index is None:
                return self._leave()
            self._held = Copied(index, state, monotonic(), monotonic() - began)
            return self._held

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
            if not self._is_small():
                return None
            mark.unlink(missing_ok=True)
            with tempfile.TemporaryDirectory(dir=self._base.parent, prefix="clew-import-") as scratch:
                folder = open_folder(Path(scratch) / "import", self._store.name)
                export(self._store, folder)
                if self._store.state() != state:
                    return None
                build_index(
                    [folder.data], path, embedder=self._embedder, addresses={folder.data: self._store.name}
                )
            part = self._base.with_suffix(".state.part")
            part.write_text(state, "utf-8")
            os.replace(part, mark)
            return open_index(path)

    def _is_small(self) -> bool:
        nodes, edges = self._store.counts()
        if not 0 < nodes + edges <= self._most:
            return False
        last = self._store.read("MATCH (n) RETURN max(id(n))", most=1)[1][0][0]
        return int(cast(int, last)) < MOST_SHARDS * SHARD
