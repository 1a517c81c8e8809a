"""`clew index` and `clew update`: graph files, or a database, → an index; and its edits."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from clew.cli.console import Bar, BarUnit, escape, warn, write, write_json
from clew.cli.model import ModelOptions, model_of_settings
from clew.cli.opening import (
    STDIN,
    Json,
    RayAddress,
    ReadingOptions,
    describe_counts,
    opened_cluster,
    reading_notes,
    stage_progress,
    store_stdin,
)
from clew.cli.options import option, with_options
from clew.errors import InputError, UsageError
from clew.opening.environment import neo4j_login, vector_choice
from clew.stores.opening import is_address, is_sparql, open_neo4j, shown_address
from clew.text.normalise import byte_size, counted

if TYPE_CHECKING:
    from clew.index.update.update import Updated, UpdateStage
    from clew.llm.budget import Charge
    from clew.methods.walk_retrieve.verbalise import ModelVerbaliser
    from clew.workers import Workers


@dataclass(frozen=True, slots=True)
class VerbaliserOptions:
    """What the user said of the model that says walks; the limits are for all of its work together."""

    verbalise: str | None = option(None, "Chat model that says the walks.", "PROVIDER/MODEL")
    cache: Path | None = option(None, "Record replies of --verbalise, and use them.", "FILE")
    budget: str | None = option(None, "Limits of --verbalise in all, as calls=N,tokens=N,cost=X.", "LIMITS")
    prices: Path | None = option(None, "What a million tokens cost.", "FILE.toml")

    @property
    def calling(self) -> ModelOptions:
        """How the model is called."""
        return ModelOptions(cache=self.cache, budget=self.budget, prices=self.prices)


@contextmanager
def opened_verbaliser(
    options: VerbaliserOptions,
    index: Path,
    bar: Bar,
    *,
    quiet: bool,
    walk_model: str | None = None,
    cluster: Workers | None = None,
) -> Generator[ModelVerbaliser | None]:
    """Open the model that says the walks of `index`, else `walk_model`; None for neither.

    The workers of a `cluster` ask it. What it said before is used again. Raises as `opened_model`.
    """
    spec = options.verbalise or walk_model
    if spec is None:
        options.calling.refuse("--verbalise")
        yield None
        return
    from clew.index.store.writing import SAID_FOLDER
    from clew.methods.walk_retrieve.verbalise import ModelVerbaliser

    settings = options.calling.settings(spec, whole=True)
    with model_of_settings(settings, everywhere=cluster is not None) as model:
        verbaliser = ModelVerbaliser(
            model,
            index / SAID_FOLDER,
            price=settings.prices.find(settings.model),
            estimated=lambda estimate: None if quiet else warn(_describe_estimate(model.name, estimate)),
            progress=lambda done, total, cost: bar.update("verbalising", done, total, "walks", _cost(cost)),
            cluster=cluster,
        )
        try:
            yield verbaliser
        finally:
            if not quiet and verbaliser.sentence_count:
                walks, calls = counted(verbaliser.sentence_count, "walk"), counted(verbaliser.calls, "call")
                again = (
                    f"; {verbaliser.failed:,} failed and are said by templates. To try them again: "
                    f"clew update INDEX --verbalise {verbaliser.name}"
                )
                said = f"{walks} said by {verbaliser.name} ({calls}{_cost(verbaliser.cost)})"
                warn(said + again * bool(verbaliser.failed))


def _describe_estimate(name: str, estimate: Charge) -> str:
    money = f", at most {estimate.money:,.2f} of money" if estimate.money else ""
    return (
        f"{name} is to say about {counted(estimate.calls, 'walk')}, a call each: about "
        f"{estimate.input_tokens:,} tokens in, at most {estimate.output_tokens:,} out{money}. "
        "Stopped, it goes on where it was"
    )


def _cost(cost: float | None) -> str:
    return f", {cost:,.4f} so far" if cost else ""


@with_options
def index(
    *,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE…", help="Graph files, a folder of tables, - for stdin, or neo4j://host."
        ),
    ],
    output: Path | None = option(
        None, "By default SOURCE's name + .clew, here.", "NAME.clew", "--output", "-o"
    ),
    types: Path | None = option(None, "Lines entity<TAB>type.", "FILE"),
    aliases: Path | None = option(None, "Lines entity<TAB>alias.", "FILE"),
    vocabulary: Path | None = option(None, "What your team calls things.", "FILE.toml"),
    corpus: Literal["bfs", "random", "none"] = option(
        "none", "Walks for walk-retrieve that are stored; without, they are made when a question comes."
    ),
    depth: int = option(4, "Length of walks, 1 to 6.", "N"),
    walks: int = option(60, "Random walks of each entity.", "N"),
    max_walks: int = option(60, "Most breadth-first walks of each entity.", "N"),
    directed: bool = option(False, "Walk from heads to tails only."),
    plain_vectors: bool = option(False, "Vectors of walks and nodes are of sentences alone, as published."),
    triple_vectors: bool = option(False, "Embed the triples too, for the methods that rank them."),
    vectors: Literal["auto", "numpy", "faiss", "milvus"] = option(
        "auto", "What searches vectors; auto is faiss for many. Milvus holds all of them."
    ),
    milvus: str | None = option(None, "For --vectors milvus: http://HOST:19530 or NAME.db.", "URI"),
    ray: RayAddress = None,
    saying: VerbaliserOptions,
    reading: ReadingOptions,
    json: Json = False,
) -> None:
    """Index graph files, once, so that they are asked in milliseconds.

    An index that is already there is replaced when the new one is whole.
    """
    from clew.engine import Clew
    from clew.index.cache import index_name
    from clew.index.corpus import CorpusSettings
    from clew.opening.graph_view import index_sources
    from clew.vocabulary.file import open_vocabulary

    if vocabulary is not None:
        open_vocabulary(vocabulary)  # before a long indexing, not after it
    start, choice, quiet = time.monotonic(), vector_choice(vectors, milvus), reading.quiet
    stored = None
    if corpus != "none":
        stored = CorpusSettings(corpus, depth, walks, max_walks, directed, plain=plain_vectors)
    with (
        import_sources(sources, output, quiet=quiet) as (paths, addresses),
        Bar(quiet=quiet) as bar,
    ):
        out = output or Path(index_name(paths[0]))
        with (
            opened_cluster(ray, quiet=quiet) as cluster,
            opened_verbaliser(saying, out, bar, quiet=quiet, cluster=cluster) as verbaliser,
        ):
            built = index_sources(
                paths,
                out,
                embedder=reading.embedder,
                types=types,
                aliases=aliases,
                format=reading.format,
                on_error=reading.on_error,
                hints=reading.hints,
                triple_vectors=triple_vectors,
                progress=stage_progress(bar, without={"walks"} if verbaliser else frozenset()),
                corpus=stored,
                verbaliser=verbaliser,
                vectors=choice,
                addresses=addresses,
                cluster=cluster,
            )
    if vocabulary is not None:
        with Clew.open(out, embedder=reading.embedder) as clew:
            try:
                clew.set_vocabulary(vocabulary)
            except InputError as error:
                then = (
                    f"{out} was made without it. Correct it, then: clew vocabulary {out} --set {vocabulary}"
                )
                raise InputError(f"{error}\n{then}") from error
    seconds, about = time.monotonic() - start, built.manifest.about
    if json:
        from clew.index.info import report_json

        write_json(
            {
                "index": str(built.path),
                "bytes": built.manifest.bytes,
                "seconds": round(seconds, 3),
                "counts": dict(about.counts),
                "embedder": None if about.embedder is None else asdict(about.embedder),
                "sources": [asdict(source) for source in about.sources],
                "report": report_json(about.report),
            }
        )
    elif not quiet:
        counts = about.counts
        write(
            escape(
                f"{built.path}: {describe_counts(counts)}, {counted(counts['relations'], 'relation')}; "
                f"{byte_size(built.manifest.bytes)}, {seconds:.1f} s"
            )
        )
        nouns = (("type", "types"), ("alias", "aliases"))
        if side := [counted(counts[plural], one, plural) for one, plural in nouns if counts[plural]]:
            write(", ".join(side))
        if built.report.duplicates:
            write(f"{counted(built.report.duplicates, 'duplicate triple')} merged")
        for line in reading_notes(about.report):
            warn(line)


@contextmanager
def import_sources(
    sources: Sequence[str], output: Path | None, *, quiet: bool
) -> Generator[tuple[list[Path], dict[Path, str]]]:
    """Yield paths for all sources, and the addresses of those that were read from databases.

    Those lie in `NAME.import` for so long; what a killed import left there is removed. Raises LockedError.
    """
    from clew.index.store.writing import writing

    paths, addresses, made = list[Path](), dict[Path, str](), None
    with ExitStack() as stack:
        for source in sources:
            if not is_address(source) and source != STDIN:
                paths.append(Path(source))
                continue
            if output is None:
                address = shown_address(source)
                raise UsageError(f"Say where the index shall be, as in: clew index {address} -o NAME.clew")
            if source == STDIN:
                paths.append(store_stdin())
                addresses[paths[-1]] = "stdin"
                continue
            if made is None:
                place = output.with_name(f"{output.stem}.import")
                made = stack.enter_context(writing(place, wait=0)).folder
            folder = made / str(len(paths))
            folder.mkdir()
            with Bar(quiet=quiet) as bar:
                data = _export(source, folder, bar)
            paths.append(data)
            addresses[data] = shown_address(source)
        yield paths, addresses


def _export(source: str, folder: Path, bar: Bar) -> Path:
    """Read what a database has into files of the folder; returns what of it is to be indexed."""
    from clew.stores.export import export_neo4j, export_sparql
    from clew.stores.sparql.endpoint import address_of

    unit: BarUnit = "triples" if is_sparql(source) else "entities"

    def tell(what: str, done: int, total: int) -> None:
        bar.update(f"reading {what}", done, total, unit)

    if is_sparql(source):
        path = folder / "graph.nt"
        with path.open("wb") as file:
            export_sparql(address_of(source), file, tell)
        return path
    with closing(open_neo4j(source, neo4j_login(), seconds=300.0)) as store:
        export_neo4j(store, folder, tell)
    return folder


_PARTS: dict[UpdateStage, tuple[str, BarUnit]] = {
    "reading": ("reading", "bytes"),
    "walks": ("embedding walks", "walks"),
    "writing": ("writing", "bytes"),
}
"""Title and unit of a part of an update, as a bar shows them."""


@with_options
def update(
    source: Annotated[str, typer.Argument(metavar="INDEX", help="An index (NAME.clew).")],
    *,
    add: list[str] | None = option(None, "Triples to add; repeatable.", "FILE"),
    remove: list[str] | None = option(None, "Triples to remove; repeatable.", "FILE"),
    types: Path | None = option(None, "Lines entity<TAB>type to add.", "FILE"),
    aliases: Path | None = option(None, "Lines entity<TAB>alias to add.", "FILE"),
    remove_types: Path | None = option(None, "Lines entity<TAB>type to remove.", "FILE"),
    remove_aliases: Path | None = option(None, "Lines entity<TAB>alias to remove.", "FILE"),
    remove_entities: Path | None = option(None, "Entities, one a line, that lose all triples.", "FILE"),
    strict: bool = option(False, "Refuse new entities and relations."),
    ignore_missing: bool = option(False, "Go on if what is to be removed is not there."),
    saying: VerbaliserOptions,
    reading: ReadingOptions,
    json: Json = False,
) -> None:
    """Change an index as a whole or not at all; who has it open goes on with what was there.

    Where a chat model says the walks, it says those that are new; --verbalise alone tries again those that
    it failed to say.
    """
    from clew.index.update.edits import EditFiles, EditRules
    from clew.opening.graph_view import update_index_files, walk_model
    from clew.stores.opening import refuse_address

    for address in (source, *(add or ()), *(remove or ())):
        refuse_address(address)
    files = EditFiles(
        [Path(file) for file in add or ()],
        [Path(file) for file in remove or ()],
        types,
        aliases,
        remove_types,
        remove_aliases,
        remove_entities,
        reading.format,
        reading.on_error,
        reading.hints,
    )
    given = (add, remove, types, aliases, remove_types, remove_aliases, remove_entities)
    if not (any(given) or saying.verbalise):
        raise UsageError(
            "Nothing to do. Give --add FILE or --remove FILE, as in: clew update kb.clew --add new.tsv"
        )
    start, path = time.monotonic(), Path(source)
    with (
        Bar(quiet=reading.quiet) as bar,
        opened_verbaliser(saying, path, bar, quiet=reading.quiet, walk_model=walk_model(path)) as verbaliser,
    ):
        updated = update_index_files(
            path,
            files,
            rules=EditRules(strict, ignore_missing),
            embedder=reading.embedder,
            verbaliser=verbaliser,
            progress=lambda part, done, total: bar.update(_PARTS[part][0], done, total, _PARTS[part][1]),
        )
    seconds = time.monotonic() - start
    if json:
        write_json(
            {
                "index": str(updated.path),
                "generation": updated.manifest.generation,
                "seconds": round(seconds, 3),
                "counts": dict(updated.manifest.about.counts),
                "update": asdict(updated.report),
                "corpus": None if updated.corpus is None else asdict(updated.corpus),
            }
        )
    elif not reading.quiet:
        for line in _update_lines(updated, seconds):
            write(escape(line))
        for line in reading_notes(asdict(updated.report)):
            warn(line)


def _update_lines(updated: Updated, seconds: float) -> list[str]:
    report, counts = updated.report, updated.manifest.about.counts
    lines = [
        f"{updated.path}: {counted(report.added, 'triple')} added, {report.removed:,} removed; now "
        f"{describe_counts(counts)} ({seconds:.2f} s)"
    ]
    if report.new_entities or report.new_relations:
        entities = counted(report.new_entities, "new entity", "new entities")
        lines.append(f"{entities}, {counted(report.new_relations, 'new relation')}")
    if report.duplicates:
        lines.append(f"{counted(report.duplicates, 'triple was', 'triples were')} there already")
    if report.missing:
        examples = "; ".join(report.missing_examples)
        lines.append(f"{counted(report.missing, 'was', 'were')} not there to be removed: {examples}")
    if report.types or report.aliases:
        types, aliases = counted(report.types, "type"), counted(report.aliases, "alias", "aliases")
        lines.append(f"{types} and {aliases} added")
    if (following := report.following) is not None:
        lines.append(
            "inferred again from the ontology: "
            f"{counted(following.triples, 'triple')} and {counted(following.types, 'type')} more, "
            f"{following.triples_gone:,} and {following.types_gone:,} no longer"
        )
    if updated.corpus is not None:
        change = updated.corpus
        lines.append(
            f"walks of {counted(change.changed, 'entity', 'entities')} changed, "
            f"{counted(change.embedded, 'walk')} embedded"
        )
    return lines
