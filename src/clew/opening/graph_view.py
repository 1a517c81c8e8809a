"""`GraphView`: an open index that is looked into, matched and queried; what `Clew` is beside asking."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, Unpack

from clew.errors import UsageError
from clew.graph.graph import named_triple, triple_text
from clew.opening.environment import keep_machine_code, make_embedder, milvus_access
from clew.stores.opening import refuse_address
from clew.text.normalise import clean_query, clean_question
from clew.types import (
    Entity,
    MatchesForm,
    MatchForm,
    MatchResult,
    Pattern,
    TripleText,
    triples_json,
)

if TYPE_CHECKING:
    from clew.graph.match.distances import Distances
    from clew.index.build import Built, IndexOptions
    from clew.index.corpus import Verbaliser
    from clew.index.explore import Direction, EntityHit, Explorer, Neighbourhood, Paths
    from clew.index.info import Info
    from clew.index.store.directory import Index
    from clew.index.update.edits import EditFiles, EditRules
    from clew.index.update.update import Updated, UpdateProgress
    from clew.query.table import Table
    from clew.stores.ladybug import LadybugStore
    from clew.stores.sparql.embedded import EmbeddedSparql
    from clew.stores.store import Rows
    from clew.text.embedders import Embedder

    EmbeddedStore = LadybugStore | EmbeddedSparql


# Graph files → an index, an index changed by files, and whether something is an index.

FilesOrTriples = str | Path | Sequence[str | Path | tuple[str, str, str]]
"""Graph files, or triples (head, relation, tail)."""


def index_sources(
    sources: Sequence[Path],
    out: Path | None,
    *,
    embedder: str | Embedder | None = None,
    **options: Unpack[IndexOptions],
) -> Built:
    """Index graph files into the directory `out`; `options` and errors are those of `build_index`.

    Without `out`, the index is in the working directory and called after the first source.

    Side files beside a single source are used unless `types` or `aliases` name others. `addresses` are of
    databases that sources were read from; the index names these.
    """
    keep_machine_code()
    from clew.index.build import build_index
    from clew.index.cache import index_name, side_files

    out = Path(index_name(sources[0])) if out is None else out
    side = side_files(sources, options.get("types"), options.get("aliases"))
    options["types"], options["aliases"] = side.types, side.aliases
    return build_index(sources, out, embedder=make_embedder(embedder), **options)


def update_index_files(
    path: Path,
    files: EditFiles,
    *,
    rules: EditRules | None = None,
    embedder: str | Embedder | None = None,
    verbaliser: Verbaliser | None = None,
    progress: UpdateProgress | None = None,
) -> Updated:
    """Change the index `path` by files; raises as `read_edits` and `update_index` of `clew.index`."""
    keep_machine_code()
    from clew.graph.readers.columns import known_tables
    from clew.index.store.directory import read_manifest
    from clew.index.update.edits import EditRules, read_edits
    from clew.index.update.update import update_index
    from clew.vocabulary.terms import with_terms

    about = read_manifest(path).about
    index_embedder = about.embedder
    tell = None if progress is None else partial(progress, "reading")
    known = known_tables(about.report)
    edits = read_edits(files, tell, known=known)
    return update_index(
        path,
        edits,
        embedder=make_embedder(
            embedder if embedder is not None or index_embedder is None else index_embedder.name
        ),
        rules=rules or EditRules(),
        verbaliser=verbaliser,
        access=milvus_access(),
        progress=progress,
        further=with_terms,
    )


def walk_model(path: Path) -> str | None:
    """Name the chat model that says the walks of an index; None without one.

    Raises InputError and FormatError if there is no good index.
    """
    from clew.index.corpus import model_of
    from clew.index.store.directory import open_index

    return model_of(open_index(path))


def is_index(path: Path) -> bool:
    """Whether `path` is, or by its name should be, an index directory and not a graph to be read."""
    return path.suffix == ".clew" or os.path.isfile(path / "manifest.json")


def index_in_memory(folder: Path, source: Path, embedder: Embedder, **options: Unpack[IndexOptions]) -> Index:
    """Index a source that was written to a folder, and open the index."""
    from clew.index.build import build_index
    from clew.index.store.directory import open_index

    keep_machine_code()
    build_index([source], folder / "graph.clew", embedder=embedder, **options)
    return open_index(folder / "graph.clew")


def local_paths(source: str | Path | Sequence[str | Path]) -> list[Path]:
    """The files of a source; UsageError for an empty name or an address."""
    sources = [source] if isinstance(source, str | Path) else list(source)
    if not sources or not all(map(str, sources)):
        raise UsageError("The name of the source is empty. Give an index (NAME.clew) or a graph file")
    for address in map(str, sources):
        if "://" in address:
            refuse_address(address)
    return [Path(each) for each in sources]


def refuse_options(path: Path, options: Mapping[str, object]) -> None:
    """Raise UsageError if one of the options, which are for graph files, is given for an index."""
    for name, value in options.items():
        if value is not None:
            raise UsageError(
                f"{path} is an index, and {name!r} is for graph files. Give it to: clew index SOURCE"
            )


def update_index_by(
    path: Path,
    add: FilesOrTriples,
    remove: FilesOrTriples,
    *,
    rules: EditRules | None = None,
    embedder: Embedder,
    **edit_options: Any,  # noqa: ANN401 (of `EditFiles`)
) -> Updated:
    """Change an index by files or triples, with `edit_options` of `EditFiles`.

    Raises as `update_index_files`.
    """
    from clew.foundation.scratch import Scratch
    from clew.index.update.edits import EditFiles

    add, remove = _changes("add", add), _changes("remove", remove)
    if not all(isinstance(change, str | Path) for change in (*add, *remove)):
        for name in {"format", "hints"} & edit_options.keys():
            raise UsageError(f"{name!r} is for files. Update with files and with triples apart")
    with Scratch("update") as folder:
        added = _files_of(add, Path(folder) / "add.tsv")
        removed = _files_of(remove, Path(folder) / "remove.tsv")
        return update_index_files(
            path, EditFiles(added, removed, **edit_options), rules=rules, embedder=embedder
        )


def _changes(name: str, given: FilesOrTriples) -> Sequence[str | Path | tuple[str, str, str]]:
    """What is added or removed, a file alone as one of several; UsageError for what is neither."""
    if isinstance(given, str | Path):
        return [given]
    if isinstance(given, Iterable) and not (  # pyright: ignore[reportUnnecessaryIsInstance] (of a user)
        isinstance(given, Mapping) or hasattr(given, "columns")
    ):
        return list(given)
    kind = type(given).__name__
    advice = "; of a data frame: list(frame.itertuples(index=False, name=None))" * (kind == "DataFrame")
    raise UsageError(f"{name!r} is a file, several, or triples (head, relation, tail), not {kind}{advice}")


def _files_of(changes: Sequence[str | Path | tuple[str, str, str]], triple_file: Path) -> list[Path]:
    """The files among changes, and one with the triples among them."""
    from clew.graph.readers.networks import write_triples

    files = [Path(change) for change in changes if isinstance(change, str | Path)]
    triples = [change for change in changes if not isinstance(change, str | Path)]
    return [*files, write_triples(triple_file, triples)] if triples else files


_P = ParamSpec("_P")
_T = TypeVar("_T")


def sound(method: Callable[Concatenate[Any, _P], _T]) -> Callable[Concatenate[Any, _P], _T]:
    """A method that uses the open index: what goes wrong because its files are damaged is a FormatError."""

    @wraps(method)
    def checked(self: GraphView, *arguments: _P.args, **options: _P.kwargs) -> _T:
        with self.opened.sound():
            return method(self, *arguments, **options)

    return checked


MOST_TABLES = 4
"""Tables that are kept: those that were asked for last."""


class GraphView:
    """An open index and the embedder that made it; stores, distances and tables are made when needed."""

    def __init__(self, index: Index, embedder: Embedder) -> None:
        """Use an index and the embedder that made it; raises EmbedderMismatch if another one did."""
        from clew.index.store.directory import check_embedder

        check_embedder(index.path, index.manifest, embedder)
        self._opened: Index | None = index
        self._temporary: weakref.finalize[..., GraphView] | None = None
        self.embedder, self.path = embedder, index.path
        self._tables: dict[tuple[object, ...], Table] = {}
        self._keeping_tables = threading.Lock()
        self._stores: dict[bool, EmbeddedStore] = {}
        self._opening_store = threading.Lock()

    @property
    def opened(self) -> Index:
        """The open index: the graph with its names and vectors. Raises UsageError once it is closed."""
        index = self._opened
        if index is None:
            again = "Open it" if self._temporary is None else "Make it"
            raise UsageError(f"{self!r}. {again} again")
        return index

    @cached_property
    def _distances(self) -> Distances:
        from clew.index.vectors.entities import IndexDistances

        return IndexDistances(self.opened, self.embedder)

    @cached_property
    def _explorer(self) -> Explorer:
        from clew.index.explore import Explorer

        return Explorer(self.opened)

    @sound
    def match(
        self,
        pattern: Pattern | Mapping[str, Any],
        *,
        k: int | None = 3,
        all: bool = False,
        where: str = "pattern",
        milliseconds: float | None = None,
        distances: Distances | None = None,
    ) -> MatchResult:
        """Find the `k` matches with the least graph semantic distance, or `all` that tie with the best.

        `distances` are given ones instead of those of the embedder.

        A pattern as JSON is read as by `clew match`; `where` begins the messages about it. The search stops
        after `milliseconds`, with `complete` False. Raises PatternError if the pattern cannot be searched.
        """
        from clew.graph.match.matcher import match
        from clew.graph.match.patterns import match_where, pattern_from_json

        if not isinstance(pattern, Pattern):
            pattern = pattern_from_json(pattern, where)
        graph = self.opened.graph
        search = partial(match, graph, pattern, distances or self._distances, milliseconds=milliseconds)
        if any(edge.where for edge in pattern.edges):
            found = match_where(lambda count: search(k=count), graph, pattern, None if all else k)
        else:
            found = search(k=k, all_tied=all)
        matches = (
            replace(m, labels=tuple(map(graph.label, m.nodes)), texts=tuple(map(self.triple, m.triples)))
            for m in found.matches
        )
        return replace(found, matches=tuple(matches))

    def matches_json(self, result: MatchResult, *, id: str | None, milliseconds: float) -> MatchesForm:
        """Make the stable JSON form of matches (docs/json.md)."""
        forms: list[MatchForm] = []
        for each in result.matches:
            form: MatchForm = {
                "gsd": each.gsd,
                "direction_misses": each.direction_misses,
                "nodes": list(each.labels),
                **triples_json(each.texts),
            }
            if "ids" in form:
                form["node_ids"] = [self.opened.graph.entities[node] for node in each.nodes]
            forms.append(form)
        return {
            "id": id,
            "matches": forms,
            "complete": result.complete,
            "bound": None if result.bound == float("inf") else result.bound,
            "timings_ms": {"total": round(milliseconds, 3)},
        }

    def open_store(self, query: str, *, seconds: float = 10.0, rows: int = 1_000) -> EmbeddedStore:
        """Load the graph into a store of the language that `query` is in, for queries that only read.

        The caller closes it. Raises MissingExtra for Cypher without ladybug.
        """
        from clew.stores.opening import is_sparql_query

        if is_sparql_query(query):
            from clew.stores.sparql.embedded import EmbeddedSparql

            return EmbeddedSparql.of_graph(self.opened.graph, seconds=seconds, rows=rows)
        from clew.stores.ladybug import LadybugStore

        return LadybugStore.of_graph(self.opened.graph, seconds=seconds, rows=rows)

    @sound
    def query(self, text: str, *, seconds: float = 10.0, rows: int = 1_000) -> Rows:
        """Run a reading query of SPARQL or Cypher on the graph: at most `rows` rows in at most `seconds`.

        The graph is loaded into a store with the first query of a language, and the query runs in a process
        of its own. Raises UsageError for what is no query or does more than read, StoreError if it fails,
        MissingExtra for Cypher without ladybug.
        """
        from clew.stores.opening import is_sparql_query

        text = clean_query(text)
        numbers: list[object] = [seconds, rows]
        if not all(isinstance(number, int | float) for number in numbers) or seconds <= 0 or rows < 1:
            raise UsageError("A query has `seconds` above 0 and `rows` of 1 or more")
        language = is_sparql_query(text)
        with self._opening_store:
            if language not in self._stores:
                self._stores[language] = self.open_store(text)
            store = self._stores[language]
        return store.run(text, seconds=seconds, rows=rows)

    @sound
    def info(self) -> Info:
        """Count, and describe every relation by an example and the types at its ends."""
        from clew.index.info import info_of

        return info_of(self.opened)

    @sound
    def find_entities(self, text: str, *, limit: int = 10, typos: bool = True) -> list[EntityHit]:
        """Entities that `text` names, begins, or (with `typos`) misspells, the best first."""
        return self._explorer.find_entities(clean_question(text, "name"), limit=limit, typos=typos)

    @sound
    def neighbours(
        self,
        entity: str,
        *,
        relation: str | None = None,
        direction: Direction | None = None,
        offset: int = 0,
        limit: int = 20,
    ) -> Neighbourhood:
        """What is around an entity: of each relation at most `limit` nodes, from `offset` on.

        Raises UsageError for an entity or a relation that the graph lacks.
        """
        from clew.query.words import head_of
        from clew.reading.reader import reader_of

        vocabulary = reader_of(self.opened, self.embedder).vocabulary
        return self._explorer.neighbours(
            entity,
            relation=relation,
            direction=direction,
            offset=offset,
            limit=limit,
            head=lambda step: head_of(step, vocabulary),
        )

    @sound
    def table(
        self, *, type: str | None = None, query: str | None = None, entities: Sequence[str] | None = None
    ) -> Table:
        """Entities as a table: all of a `type`, the members of a `query` in Clew's notation, or those named.

        A graph that declares no types has the ends of its relations for types: *head of directed_by*.
        The last ones are kept, so that sorting and paging resolve nothing again. Raises UsageError for a type
        or entity that the graph lacks, or a query that cannot be read.
        """
        key = (type, query, None if entities is None else tuple(entities))
        with self._keeping_tables:
            table = self._tables.pop(key, None)
        table = table or self._new_table(type, query, entities)
        with self._keeping_tables:
            self._tables[key] = table
            while len(self._tables) > MOST_TABLES:
                del self._tables[next(iter(self._tables))]
        return table

    def _new_table(self, type: str | None, query: str | None, entities: Sequence[str] | None) -> Table:
        import numpy as np

        from clew.query.execute import Executor, OverBudget
        from clew.query.notation import NotationError, lookup_of, read_set
        from clew.query.table import Table, all_of
        from clew.reading.reader import reader_of

        if [type, query, entities].count(None) != 2:
            raise UsageError("Give one of: type, query, entities")
        graph, vocabulary = self.opened.graph, reader_of(self.opened, self.embedder).vocabulary
        if entities is not None:
            nodes = np.array([self._explorer.node(entity) for entity in entities], np.int64)
            return Table(graph, nodes, vocabulary)
        try:
            if query is not None:
                part = read_set(clean_query(query), lookup_of(graph, self.opened.names))
            else:
                part = all_of(graph, type or "")
            return Table(graph, Executor(graph).members(part), vocabulary)
        except NotationError as error:
            raise UsageError(f"The query cannot be read: {error}") from error
        except OverBudget as error:
            raise UsageError("The query follows too many edges. Make it smaller") from error

    @sound
    def paths(self, start: str, end: str, *, limit: int = 5, longest: int = 4) -> Paths:
        """The shortest paths between two entities; raises UsageError for one that the graph lacks."""
        return self._explorer.paths(start, end, limit=limit, longest=longest)

    @property
    def generation(self) -> int:
        """Number of the index's generation that is open."""
        return self.opened.manifest.generation

    @sound
    def triple(self, id: int) -> TripleText:
        """Return a triple as people read it, with the ids of the source."""
        return triple_text(self.opened.graph, id)

    def triples(self) -> Iterator[TripleText]:
        """All triples, as people read them, with the ids of the source."""
        graph = self.opened.graph
        for head, relation, tail in zip(*graph.out.columns(), strict=True):
            yield named_triple(graph, int(head), int(relation), int(tail))

    def entities(self) -> Iterator[Entity]:
        """All entities with their labels and types; literals are none."""
        graph, types = self.opened.graph, self.opened.graph.types
        type_names = list(types.names)
        for node in range(graph.nodes):
            if graph.values.datatype[node] < 0:
                node_types = tuple(type_names[t] for t in types.of(node))
                yield Entity(graph.entities[node], graph.labels[node], node_types)

    def __repr__(self) -> str:
        index = self._opened
        if index is None:
            return f"<{type(self).__name__} {self.path}: closed>"
        counts = index.manifest.about.counts
        summary = ", ".join(
            f"{counts.get(name, 0):,} {name}" for name in ("triples", "entities", "relations")
        )
        return f"<{type(self).__name__} {self.path}: {summary}>"

    def __iter__(self) -> Iterator[TripleText]:
        return self.triples()

    def _forget(self) -> None:
        """Let go of what was made of the index that is open."""
        while self._stores:
            self._stores.popitem()[1].close()
        for made in ("_distances", "_explorer"):
            self.__dict__.pop(made, None)
        self._tables.clear()
