"""Where the graph of a database is put while it is read: finished shards stay after an interruption."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clew.errors import InputError
from clew.foundation.whole_file import replace_file

DATA, MARKER = "data", "import.json"


ImportProgress = Callable[[str, int, int], None]
"""Called with what is read, how much of it is, and how much there is."""


def silent(what: str, done: int, total: int) -> None:
    """Show no progress."""


@dataclass
class ImportFolder:
    """A folder with `data`, and a file that names what is finished in it; made with `open_folder`.

    `finished` are shards with what their writer wants to know of them when the work goes on.
    """

    path: Path
    source: str
    finished: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def data(self) -> Path:
        """Where the files of the graph are."""
        return self.path / DATA

    def finish(self, shard: str, state: int) -> None:
        """Remember that a shard is whole; it is not read again."""
        self.finished[shard] = state
        text = json.dumps({"source": self.source, "finished": self.finished})
        replace_file(self.path / MARKER, text, synced=True)


def open_folder(path: Path, source: str) -> ImportFolder:
    """Open the folder of an import, as it was left if it is of the same `source`, else empty.

    InputError if something else is there, which is not touched.
    """
    marker = path / MARKER
    if path.exists() and not marker.exists() and any(path.iterdir()):
        raise InputError(f"{path} is in the way of the import. Move it, or give another --output")
    folder = ImportFolder(path, source)
    marker_fields: dict[str, Any] = {}
    if marker.exists():
        marker_fields = json.loads(marker.read_text("utf-8"))
        if marker_fields["source"] != source:
            shutil.rmtree(path)
            marker_fields = {}
    folder.data.mkdir(parents=True, exist_ok=True)
    folder.finished.update(marker_fields.get("finished", {}))
    if not marker_fields:
        folder.finish("", 0)
    return folder
