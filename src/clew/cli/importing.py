"""Databases as sources of `clew index`: their graph is read into a folder of CSVs first."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from clew.cli.progress import Bar
from clew.errors import UsageError


@contextmanager
def imported(sources: Sequence[str], output: Path | None, *, quiet: bool) -> Generator[list[Path]]:
    """Yield paths for all sources; what was read from a database is removed once it is indexed.

    After an interruption the folder stays, and the same command goes on from it.
    """
    from clew.stores.opening import is_address

    paths: list[Path] = []
    folders: list[Path] = []
    for source in sources:
        if not is_address(source):
            paths.append(Path(source))
            continue
        if output is None:
            raise UsageError(f"Say where the index of {source} shall be: --output NAME.clew")
        folder = output.with_name(f"{output.stem}.import-{len(folders)}")
        with Bar(quiet=quiet) as bar:
            _read(source, folder, bar)
        folders.append(folder)
        paths.append(folder)
    yield paths
    for folder in folders:
        shutil.rmtree(folder)


def _read(source: str, folder: Path, bar: Bar) -> None:
    from clew.engine import neo4j_user
    from clew.stores.neo4j_export import export
    from clew.stores.opening import open_neo4j

    user, password = neo4j_user()
    store = open_neo4j(source, user=user, password=password)
    try:
        export(
            store, folder, lambda what, done, total: bar.update(f"reading {what}", done, total, "entities")
        )
    finally:
        store.close()
