"""Opening what the user names, with progress: graphs, files and stdin; on a cluster with `--ray`."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from clew.cli.console import Bar, BarUnit, warn
from clew.cli.options import option
from clew.errors import ClewError, InputError, ParseError, UsageError
from clew.foundation.forms import json_lines
from clew.foundation.system import ANSWER_SECONDS, ANSWERS, Bounds
from clew.opening.environment import keep_machine_code
from clew.text.normalise import counted

if TYPE_CHECKING:
    from clew.database import Database
    from clew.engine import Clew
    from clew.graph.readers.hints import Hints
    from clew.index.store.writing import Progress, Stage
    from clew.llm.reply import ChatModel
    from clew.workers import Workers


STDIN = "-"
Numbered = Iterator[tuple[int, dict[str, Any]]]
"""Objects with their line numbers."""


def read_bytes(path: str, advice: str = "Check the path") -> bytes:
    """Read a file, or stdin for `-`; InputError if it cannot be read, with advice where it is not there."""
    if path == STDIN:
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file. {advice}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def refuse_swapped(source: str, text: str, name: str) -> None:
    """Raise InputError where a source is not there, and the text behind it, called `name`, is a path."""
    from clew.stores.opening import is_address

    if source != STDIN and not is_address(source) and not os.path.exists(source) and os.path.exists(text):
        raise InputError(
            f"{source}: no such file or directory. The source stands before the {name}: {text} is one"
        )


def text_or_stdin(argument: str) -> str:
    """Return a text that was given, or stdin for `-`; InputError if that is not UTF-8."""
    if argument != STDIN:
        return argument
    try:
        return read_bytes(STDIN).decode("utf-8-sig").rstrip("\n")
    except UnicodeDecodeError as error:
        raise InputError("stdin: not UTF-8 text. Convert it to UTF-8") from error


def source_name(path: str) -> str:
    """Return what messages call the file."""
    return "stdin" if path == STDIN else path


def objects(path: str) -> Numbered:
    """Yield (line number, object) of lines that are not blank; ParseError if one is not a JSON object."""
    advice = 'Write one object a line, as in {"id": …}'
    yield from json_lines(read_bytes(path).split(b"\n"), source_name(path), advice)


def unique_ids(items: Numbered, file: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Give each object its `id`, else its line number; ParseError if it is malformed or not unique."""
    lines_by_id: dict[str, int] = {}
    for number, value in items:
        raw_id = value.get("id")
        if raw_id is not None and (isinstance(raw_id, bool) or not isinstance(raw_id, (str, int))):
            raise ParseError(file, number, "field 'id' is not a string", "Write a string or leave it out")
        id = str(number if raw_id is None else raw_id)
        if id in lines_by_id:
            reason = f"id {id!r} is that of line {lines_by_id[id]} too"
            raise ParseError(file, number, reason, "Give each line its own id")
        lines_by_id[id] = number
        yield number, id, value


def store_stdin() -> Path:
    """Make a file that holds what stdin gives, until temporary files are removed. Raises InputError."""
    from clew.index.store.files import user_folder

    folder, digest = user_folder(), hashlib.sha256()
    handle, name = tempfile.mkstemp(dir=folder, prefix="stdin-")
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            while data := sys.stdin.buffer.read(1 << 20):
                digest.update(data)
                file.write(data)
            if not file.tell():
                raise InputError("stdin is empty. A source needs at least one triple")
        return new.replace(folder / f"stdin-{digest.hexdigest()[:16]}")
    except OSError as error:
        raise InputError(f"stdin: cannot be kept in {folder} ({error.strerror or error})") from error
    finally:
        new.unlink(missing_ok=True)


SourceArgument = Annotated[
    str, typer.Argument(metavar="SOURCE", help="An index (NAME.clew), a graph file, or - for stdin.")
]
AskedSource = Annotated[
    str,
    typer.Argument(metavar="SOURCE", help="An index (NAME.clew), a graph file, or neo4j://… with --llm."),
]
EmbedderSpec = Annotated[
    str | None,
    typer.Option("--embedder", metavar="SPEC", help="Embedder; by default the one that is built in."),
]
LlmSpec = Annotated[
    str | None,
    typer.Option("--llm", metavar="PROVIDER/MODEL", help="Chat model, for the methods that use one."),
]


def _formats(incomplete: str) -> list[str]:
    """The formats whose names begin so, for completion by a shell."""
    from clew.graph.readers.registry import formats

    return [name for name in formats() if name.startswith(incomplete)]


Faults = Annotated[
    Literal["fail", "skip"],
    typer.Option("--on-error", help="Stop at a line that cannot be read, or skip and count it."),
]
RowForm = Literal["table", "csv", "json"]
"""How rows are written to stdout."""
Json = Annotated[bool, typer.Option("--json", help="Write JSON to stdout.")]
Seconds = Annotated[
    float, typer.Option("--seconds", metavar="S", help="Time that a question may take; 0 is no limit.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes on stderr.")]


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What the user said of how a source is opened."""

    TITLE: ClassVar = "Options of graph files"
    format: str | None = option(
        None, "Format of graph files, if it is not clear.", "NAME", autocompletion=_formats
    )
    on_error: Faults = "fail"
    embedder: EmbedderSpec = None
    quiet: Quiet = False


@dataclass(frozen=True, slots=True)
class ReadingOptions(SourceOptions):
    """What the user said of how graph files are read into an index."""

    columns: str | None = option(None, "Columns of a table of edges, by name or number.", "head=…,tail=…")
    row_id: str | None = option(None, "Column that says what a row of a table is of.", "COLUMN", "--id")
    relation: str | None = option(None, "What edges are called in a table without.", "NAME")
    names: str | None = option(None, "Columns that name rows.", 'Movie=title,Person="first last"')
    split: str | None = option(None, "What separates values in the cells of columns.", 'COLUMN=", "')
    splits: bool = option(True, "Split cells where they show it.", None, "--splits/--no-split")
    encoding: str | None = option(None, "Encoding of tables, as in cp1252.", "NAME")
    language: str = option("en", "Language of the labels of RDF that are shown.", "TAG")
    inference: bool = option(
        True, "Add what follows from an ontology in RDF.", None, "--inference/--no-inference"
    )
    undirected: bool = option(False, "Keep each edge of a table both ways.")

    @property
    def hints(self) -> Hints | None:
        """How files are read, by the options; None if none of them is given. Raises UsageError."""
        from clew.graph.readers.hints import MOST_INFERRED, Hints, columns_of, names_of, split_of

        hints = Hints(
            {} if self.columns is None else columns_of(self.columns),
            self.row_id,
            self.relation,
            self.encoding,
            self.language,
            MOST_INFERRED if self.inference else 0,
            self.undirected,
            {} if self.names is None else names_of(self.names),
            {} if self.split is None else split_of(self.split),
            self.splits,
        )
        return None if hints == Hints() else hints


@dataclass(frozen=True, slots=True)
class RowOptions:
    """How rows are written to stdout."""

    form: RowForm = option("table", "How rows are written; --json is json.", None, "--as")
    json: Json = False

    @property
    def chosen_form(self) -> RowForm:
        """The form that both options say."""
        return "json" if self.json else self.form


@dataclass(frozen=True, slots=True)
class BoundOptions:
    """What each question may take, and how many answers it may have."""

    limit: int = option(ANSWERS, "Answers that are listed and proved; the others are counted.", "N")
    seconds: Seconds = ANSWER_SECONDS

    @property
    def bounds(self) -> Bounds:
        """The bounds of each question. Raises UsageError."""
        return bounds_of(self.seconds, self.limit)


_STAGES: dict[str, tuple[str, BarUnit]] = {
    "read": ("reading", "bytes"),
    "schema": ("counting relations", "entities"),
    "names": ("indexing names", "entities"),
    "vectors": ("embedding names", "entities"),
    "search": ("arranging vectors", "entities"),
    "walks": ("walking", "entities"),
    "nodes": ("arranging entities by their walks", "entities"),
    "triples": ("embedding triples", "triples"),
}


def waiting_note(model: ChatModel | None) -> str:
    """The note to a user who waits for an answer."""
    return "" if model is None else f"{model.name} is asked"


def stage_progress(bar: Bar, *, without: Set[Stage] = frozenset()) -> Progress:
    """Feed the stages of building an index to a bar, but those `without`."""

    def tell(stage: Stage, done: int, total: int) -> None:
        if stage in without:
            return
        title, unit = _STAGES[stage]
        bar.update(title, done, total, unit)

    return tell


def bounds_of(seconds: float, answers: int = ANSWERS) -> Bounds:
    """The bounds of each question; 0 seconds is no limit. Raises UsageError."""
    return Bounds(None if seconds == 0 else seconds, answers)


def open_source(
    source: str, options: SourceOptions, *, rank_triples: bool = False, bounds: Bounds | None = None
) -> Clew:
    """Open `source` for asking, within `bounds` for each question; says on stderr if a file was indexed.

    `rank_triples` makes the vectors of triples now, with progress, if the index has none.
    """
    from clew.engine import Clew

    with Bar(quiet=options.quiet) as bar:
        clew = Clew.open(
            store_stdin() if source == STDIN else source,
            embedder=options.embedder,
            format=options.format,
            on_error=options.on_error,
            progress=stage_progress(bar),
        )
        clew.bounds = bounds or Bounds()
        if rank_triples:
            # If this fails, the method that needs them fails with the same error, in its own row.
            with suppress(ClewError):
                clew.embed_triples(stage_progress(bar))
    if not options.quiet:
        if clew.note is not None:
            warn(f"note: {clew.note}")
        if clew.built:
            side = clew.side_files
            files = [] if side is None else [f.name for f in (side.types, side.aliases) if f is not None]
            what = Path(source).name + (f" with {' and '.join(files)}" if files else "")
            warn(f"indexed {what} once into {clew.path} ({clew.seconds:.1f} s)")
            for line in reading_notes(clew.opened.manifest.about.report):
                warn(line)
    return clew


def open_to_ask(
    source: str, options: SourceOptions, *, rank_triples: bool = False, bounds: Bounds | None = None
) -> Clew | Database:
    """Open `source` for asking: also a Neo4j database, at its address."""
    from clew.stores.opening import is_address, is_sparql, refuse_address

    if not is_address(source):
        return open_source(source, options, rank_triples=rank_triples, bounds=bounds)
    if is_sparql(source):
        refuse_address(source)
    flags = {"--format": options.format is not None, "--on-error": options.on_error != "fail"}
    if wrong := [flag for flag, is_given in flags.items() if is_given]:
        raise UsageError(f"{', '.join(wrong)}: for graph files, not for a database. Leave it out")
    from clew.database import Database

    database = Database.open(source, embedder=options.embedder)
    database.bounds = bounds or Bounds()
    return database


def describe_counts(counts: Mapping[str, int]) -> str:
    """Say how many triples and entities a graph has, and literals if there are any."""
    literals = f", {counted(counts['literals'], 'literal')}" if counts["literals"] else ""
    entities = counted(counts["entities"], "entity", "entities")
    return f"{counted(counts['triples'], 'triple')}, {entities}{literals}"


def reading_notes(report: Mapping[str, Any]) -> list[str]:
    """Say what a user should know of how the sources were read; one line each."""
    lines: list[str] = []
    if report.get("skipped"):
        lines.append(f"{counted(report['skipped'], 'line')} skipped, the first:")
        lines += [f"  {reason}" for reason in report["reasons"]]
    if report.get("unknown"):
        names = ", ".join(report["unknown_names"])
        names += " …" if report["unknown"] > len(report["unknown_names"]) else ""
        lines.append(
            f"entities in side files that the graph lacks, on {counted(report['unknown'], 'line')}: {names}"
        )
    groups: dict[str, list[str]] = {}
    for note in report.get("notes", ()):
        # Alike are those that differ in their source and in numbers alone.
        groups.setdefault(re.sub(r"\d[\d,]*", "0", note.partition(": ")[2] or note), []).append(note)
    for group in groups.values():
        lines += [f"note: {note}" for note in group[:2]]
        if len(group) > 2:
            lines.append(f"note: the same, but for numbers, of {counted(len(group) - 2, 'more source')}")
    return lines


RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Work on a Ray cluster: its address, auto (this machine is a node of it), or local.",
    ),
]


def source_on_nodes(ray: str | None, source: str, reading: SourceOptions) -> tuple[str, SourceOptions]:
    """What the nodes of a cluster open for a source, and say nothing of. Raises UsageError for stdin."""
    if ray is None:
        return source, reading
    if source == STDIN:
        raise UsageError("A cluster cannot read stdin. Name an index or a file that all nodes see")
    return source if "://" in source else str(Path(source).resolve()), replace(reading, quiet=True)


@contextmanager
def opened_cluster(address: str | None, *, quiet: bool) -> Generator[Workers | None]:
    """Connect to a cluster at an address, and say what each node did. Raises MissingExtra, ClusterError."""
    if address is None:
        yield None
        return
    from clew.workers import RayWorkers

    with RayWorkers(address, keep_machine_code) as workers:
        try:
            with _warn_if_ended(address):
                yield workers
        finally:
            if not quiet:
                for line in workers.work_notes():
                    warn(line)


@contextmanager
def _warn_if_ended(address: str) -> Generator[None]:
    """Have another process say what to do if Ray ends this one in mid-work, without a word."""
    text = (
        f"error: {address}: the command was ended in mid-work, as by Ray where the cluster has ended. What "
        "was done is kept: give the same command where there is a cluster, and it goes on\n"
    )
    code = "import sys; sys.stdin.read() or sys.stderr.write(sys.argv[1])"
    command = [sys.executable, "-I", "-S", "-c", code, text]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as watcher:  # noqa: S603
        try:
            yield
        finally:
            watcher.communicate(b"over")
