"""What sources stand for: a file, a folder of arrays, or the files of a folder, all tables of which are one.

    sources = Sources(paths, format, hints)
    for batch in sources.read(0, tally): …      # of the first source

What a table refers to may be in any file of any source, CSV or JSON: all are looked through together
(`Survey`) before any is read. Triples, RDF and networks in a folder are read beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from clew.errors import InputError, ParseError
from clew.graph.readers.arrays import ARRAYS
from clew.graph.readers.batch import MAX_FAULTS, Batch, Reader, Tally
from clew.graph.readers.delimited import COMMA, TSV
from clew.graph.readers.hints import Hints
from clew.graph.readers.json_tables import JSON, UNKNOWN_FORM
from clew.graph.readers.networks import NETWORKS
from clew.graph.readers.registry import READERS, choose_reader
from clew.graph.readers.source_files import is_of_arrays, source_bytes, source_files
from clew.graph.readers.survey import Survey, Table
from clew.graph.readers.table import TABLE, read_tables, table_layout

MOST_SHOWN = 3
"""Files of a folder that a message names."""


@dataclass
class _File:
    """A file, or a folder of arrays, and its reader; a `fault` of one in a folder is told when it is read."""

    path: Path
    in_folder: bool = False
    reader: Reader | None = None
    fault: InputError | None = None

    @contextmanager
    def faults_kept(self) -> Generator[None]:
        """Keep a fault of a file in a folder: the others are read."""
        try:
            yield
        except InputError as error:
            if not self.in_folder:
                raise
            self.fault = error


class Sources:
    """The files of some sources with their readers; the tables among them were looked through.

    Raises InputError and ParseError for a source that cannot be read, UsageError for hints that do not fit.
    """

    def __init__(self, paths: Sequence[Path], format: str | None, hints: Hints) -> None:
        self._paths, self._survey = paths, Survey(hints)
        self._files = [_files_of(path, format) for path in paths]
        files = [file for of_source in self._files for file in of_source]
        for file in files:
            with file.faults_kept():
                file.reader = choose_reader(file.path, format, hints)
        if format is None and any(file.reader in (TABLE, JSON) for file in files):
            for file in files:  # the ends of edges may be ids of the tables beside them
                if file.reader in (TSV, COMMA) and table_layout(file.path, hints) is not None:
                    file.reader = TABLE
        tables = [(file, reader) for file in files for reader in (TABLE, JSON) if file.reader is reader]
        for file, reader in tables:
            with file.faults_kept():
                self._survey.of_file[file.path] = reader.look(file.path, hints, alone=len(tables) == 1)
        # A network alone is looked through when it is read.
        if self._survey.tables or not any(file.reader in (JSON, *NETWORKS) for file in files):
            self._survey.settle()

    def format(self, source: int) -> str:
        """The formats of a source, in words."""
        return ", ".join(dict.fromkeys(file.reader.name for file in self._files[source] if file.reader))

    @property
    def tables(self) -> list[Table]:
        """All tables."""
        return self._survey.tables

    @property
    def is_of_arrays(self) -> bool:
        """Whether a folder of arrays is all there is."""
        return [file.reader for of_source in self._files for file in of_source] == [ARRAYS]

    def read(self, source: int, tally: Tally, scope: Callable[[Path], str] | None = None) -> Iterator[Batch]:
        """Stream the batches of a source, nodes of tables before edges.

        `scope` says what begins the names of the blank nodes of a file, if not its number among all.
        """
        files = self._passed_over(self._paths[source], self._files[source], tally)
        numbers = {id(file): at for at, file in enumerate(each for of in self._files for each in of)}
        progress, done = tally.progress, 0
        for file in sorted(files, key=self._has_edges):
            if progress is not None:
                tally.progress = lambda read, done=done: progress(done + read)
            tally.scope = str(numbers[id(file)] or "") if scope is None else scope(file.path)
            tally.begun = False
            if file.fault is None and file.reader is not None:
                tables = self._survey.of_file.get(file.path)
                try:
                    yield from read_tables(tables, tally) if tables else file.reader.read(file.path, tally)
                except InputError as error:
                    if not file.in_folder or len(tally.faults) >= MAX_FAULTS:
                        raise
                    file.fault = error
            if isinstance(file.fault, ParseError):
                tally.error(file.fault)
            elif file.fault is not None:
                reason = str(file.fault).removeprefix(f"{file.path}: ")
                tally.error(ParseError(str(file.path), 0, reason))
            done += source_bytes([file.path])

    def _has_edges(self, file: _File) -> bool:
        return any(table.layout.edges for table in self._survey.of_file.get(file.path, ()))

    def _passed_over(self, path: Path, files: Sequence[_File], tally: Tally) -> list[_File]:
        """The files of a source that are read; of a folder it is noted which are not."""
        if not (files and files[0].in_folder):
            return list(files)
        unknown = [f for f in files if isinstance(f.fault, ParseError) and f.fault.reason == UNKNOWN_FORM]
        unknown = unknown if len(unknown) < len(files) else []
        read = [file for file in files if file not in unknown]
        left = {file.name for file in path.iterdir()} - {file.path.name for file in read}
        if left:
            tally.note(
                f"{path}: {len(left):,} of {len(left) + len(read):,} files are not read: {_shown(left)}"
            )
        faults = [
            file.path.name
            for file in read
            if file.fault or any(table.fault for table in self._survey.of_file.get(file.path, ()))
        ]
        if faults:
            tally.note(f"{path}: {len(faults):,} of {len(read):,} files cannot be read: {_shown(faults)}")
        return read


def _files_of(path: Path, format: str | None) -> list[_File]:
    """The files of a source; InputError for a folder without any."""
    if not path.is_dir() or is_of_arrays(path) or format == ARRAYS.name:
        return [_File(path)]
    files = [_File(file, in_folder=True) for file in source_files(path)]
    if not files:
        names = [file.name for file in path.iterdir()]
        there = f": {_shown(names)}" if names else ""
        suffixes = ", ".join(suffix for reader in READERS for suffix in reader.suffixes)
        raise InputError(
            f"{path}: no file in this folder is called as one of a graph is{there}. Read are {suffixes}, "
            "also compressed; give files that are called otherwise by their paths"
        )
    return files


def _shown(names: Collection[str]) -> str:
    return ", ".join(sorted(names)[:MOST_SHOWN]) + (", …" if len(names) > MOST_SHOWN else "")
