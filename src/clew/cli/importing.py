"""Databases as sources of `clew index`: their graph is read into a folder first."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clew.cli.failures import Interrupted
from clew.cli.input import STDIN, stdin_kept
from clew.cli.progress import Bar, BarUnit
from clew.errors import ClewError, UsageError
from clew.opening.environment import neo4j_login
from clew.stores.opening import is_address, is_sparql, open_neo4j, shown_address

if TYPE_CHECKING:
    from clew.stores.import_folder import ImportFolder

COUNT_SECONDS = 300.0
"""For what is counted before a graph is read."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What is to be indexed; `addresses` are those of the databases that some `paths` were read from."""

    paths: list[Path]
    addresses: dict[Path, str]


@contextmanager
def imported(sources: Sequence[str], output: Path | None, *, quiet: bool) -> Generator[Imported]:
    """Yield paths for all sources; what was read from a database is removed once it is indexed.

    After an interruption the folder stays, and the same command goes on from it.
    """
    found = Imported([], {})
    folders: list[Path] = []
    for source in sources:
        if not is_address(source) and source != STDIN:
            found.paths.append(Path(source))
            continue
        if output is None:
            shown = shown_address(source)
            raise UsageError(f"Say where the index shall be, as in: clew index {shown} -o NAME.clew")
        if source == STDIN:
            found.paths.append(stdin_kept())
            found.addresses[found.paths[-1]] = "stdin"
            continue
        path = output.with_name(f"{output.stem}.import-{len(folders)}")
        with Bar(quiet=quiet) as bar:
            data = _read(source, path, bar)
        folders.append(path)
        found.paths.append(data)
        found.addresses[data] = shown_address(source)
    yield found
    for path in folders:
        shutil.rmtree(path)


def _read(source: str, path: Path, bar: Bar) -> Path:
    """Read a graph into a folder; returns what is to be indexed."""
    from clew.stores.import_folder import open_folder

    folder = open_folder(path, shown_address(source))
    try:
        return _export(source, folder, bar)
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; what was read is kept in {path}, and the same command goes on from there"
        ) from None
    except ClewError as error:
        if len(folder.finished) > 1:
            error.add_note(f"What was read is kept in {path}; the same command goes on from there")
        else:
            shutil.rmtree(path)
        raise


def _export(source: str, folder: ImportFolder, bar: Bar) -> Path:
    """Read what a database has into the folder; returns what of it is to be indexed."""
    from clew.stores import neo4j_export
    from clew.stores.sparql import export as sparql_export
    from clew.stores.sparql.wire import address_of

    unit: BarUnit = "triples" if is_sparql(source) else "entities"

    def tell(what: str, done: int, total: int) -> None:
        bar.update(f"reading {what}", done, total, unit)

    if is_sparql(source):
        sparql_export.export(address_of(source), folder, tell)
        return folder.data / "graph.nt"
    with closing(open_neo4j(source, neo4j_login(), seconds=COUNT_SECONDS)) as store:
        neo4j_export.export(store, folder, tell)
    return folder.data
