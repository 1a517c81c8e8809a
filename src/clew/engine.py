"""`Clew`: open an index or a graph file, ask it, match patterns in it, look into it."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, cast, overload

from clew.addresses import is_remote
from clew.bounds import Bounds, OutOfTime, bounded, over
from clew.compiling import COMPILING
from clew.environment import NamedModels, default_cache, keep_machine_code, make_embedder, milvus_access
from clew.errors import UsageError
from clew.grounding import properties_of, triple_text
from clew.methods.cache import MethodCache
from clew.text.clean import clean, clean_query, clean_question
from clew.types import Abstention, Answer, Entity, Match, MatchResult, Pattern, TripleText, Verification

if TYPE_CHECKING:
    from clew.explore import Direction, EntityHit, Explorer, Neighbourhood, Paths
    from clew.graph.match.distances import Distances
    from clew.graph.readers.batch import OnError
    from clew.graph.readers.hints import Hints
    from clew.index.build import Built, IndexOptions
    from clew.index.cache import CachedIndex, SideFiles
    from clew.index.corpus.corpus import CorpusSettings
    from clew.index.corpus.walk_vectors import Verbaliser
    from clew.index.progress import Progress
    from clew.index.remote import RemoteIndex
    from clew.index.store.directory import Index
    from clew.index.update.edit_files import EditFiles
    from clew.index.update.edits import EditRules
    from clew.index.update.update import Updated, UpdateProgress
    from clew.info import Info
    from clew.llm.types import ChatModel
    from clew.methods.built_in import BuiltInReader
    from clew.methods.registry import Method, MethodFactory
    from clew.methods.verifiers import Verifier
    from clew.stores.cypher.guard import Rules
    from clew.stores.store import CypherStore, Rows, SparqlStore
    from clew.text.embedder import Embedder

_Result = TypeVar("_Result", Answer, Verification)


class _IndexAttribute:
    """`Clew.index(sources, out)` makes an index; of an open one, `clew.index` is what it has open."""

    @overload
    def __get__(self, clew: None, kind: type[Clew]) -> Callable[..., Clew]: ...
    @overload
    def __get__(self, clew: Clew, kind: type[Clew]) -> Index: ...
    def __get__(self, clew: Clew | None, kind: type[Clew]) -> Callable[..., Clew] | Index:
        return partial(_make_index, kind) if clew is None else vars(clew)["index"]

    def __set__(self, clew: Clew, index: Index) -> None:
        vars(clew)["index"] = index


class Clew:
    """An open index. Make one with `Clew.open`; it may be used as a context manager.

    `Clew.index(sources, out, **options)` makes an index of graph files (a name, or several) in the directory
    `out` and opens it; `options` are those of `index_sources`, which says what is raised.

    `index` is the graph with its names and vectors. `built` says that a plain file was indexed just now, in
    `seconds`; `path` is where the index is, `note` says so if that is not the cache; `side_files` were read
    beside the source. `bounds` are the time of each question and claim, and how many answers are listed; set
    others as you like.
    """

    index = _IndexAttribute()

    def __init__(self, index: Index, embedder: Embedder, *, cached: CachedIndex | None = None) -> None:
        """Use an index and the embedder that made it; raises EmbedderMismatch if another one did."""
        from clew.index.store.manifest import check_embedder

        check_embedder(index.path, index.manifest, embedder)
        self.index, self.embedder, self.path = index, embedder, index.path
        self._cached = cached is not None
        self.built = cached is not None and cached.built
        self.note = _unused(index) if cached is None else cached.note
        self.side_files: SideFiles | None = None if cached is None else cached.side_files
        self.seconds = 0.0
        self.bounds = Bounds()
        self._methods: MethodCache[Method] = MethodCache()
        self._distances: Distances | None = None
        self._verifiers: MethodCache[Verifier] = MethodCache()
        self._explorer: Explorer | None = None
        self._models = NamedModels()
        self._stores: dict[tuple[bool, float, int], CypherStore | SparqlStore] = {}
        self._opening_store = threading.Lock()
        self._temporary: weakref.finalize[..., Clew] | None = None
        self.origin: RemoteIndex | None = None
        """Where the index was fetched from, if it was."""
        self.mark = ""
        """What stands for the manifest that was fetched."""

    @classmethod
    def open(
        cls,
        source: str | Path | Sequence[str | Path],
        *,
        embedder: str | Embedder | None = None,
        cache_dir: str | Path | None = None,
        types: str | Path | None = None,
        aliases: str | Path | None = None,
        format: str | None = None,
        on_error: OnError = "fail",
        hints: Hints | None = None,
        corpus: CorpusSettings | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Open `source`: an index directory, or graph files (or a folder), indexed once into a cache.

        An index may be in an object store (`s3://bucket/kb.clew`): it is fetched once into the cache.

        `embedder` is a spec or an object; without one, that of the index. The options after it are for graph
        files: `hints` say what the columns of a table are; with `corpus` walks are stored too. Raises
        InputError if there is no such source, ParseError
        for a line that cannot be read, FormatError and EmbedderMismatch for an index that cannot be used,
        UsageError for options that do not go with an index, or the address of a database.
        """
        keep_machine_code()
        sources = [source] if isinstance(source, str | Path) else list(source)
        if not sources or not all(map(str, sources)):
            raise UsageError("The name of the source is empty. Give an index (NAME.clew) or a graph file")
        origin: RemoteIndex | None = None
        for given in sources:
            if "://" in str(given):
                from clew.index.remote import RemoteIndex
                from clew.stores.opening import refuse_address

                if is_remote(str(given)) and len(sources) == 1:
                    cache = default_cache() if cache_dir is None else Path(cache_dir)
                    origin = RemoteIndex(str(given), cache)
                else:
                    refuse_address(str(given))
        fetched = None if origin is None else origin.fetch()
        path, *others = map(Path, sources if fetched is None else [fetched.path])
        wrong = [given for given in (path, *others) if is_index(given)]
        if others and wrong:
            raise UsageError(
                f"{wrong[0]} is an index, and one is opened alone. Give graph files, or it alone"
            )
        if is_index(path):
            options = {"types": types, "aliases": aliases, "format": format, "corpus": corpus, "hints": hints}
            wrong = [name for name, value in options.items() if value is not None]
            if wrong:
                raise UsageError(
                    f"{path} is an index, and {wrong[0]!r} is for graph files. Give it to: clew index SOURCE"
                )
            opened = cls._open_index(path, embedder)
            if fetched is not None:
                opened.origin, opened.mark = origin, fetched.mark
            return opened
        from clew.index.cache import cached_index

        maker, start = make_embedder(embedder), time.monotonic()
        cached = cached_index(
            [path, *others],
            cache_dir=default_cache() if cache_dir is None else Path(cache_dir),
            embedder=maker,
            types=None if types is None else Path(types),
            aliases=None if aliases is None else Path(aliases),
            format=format,
            on_error=on_error,
            hints=hints,
            corpus=corpus,
            progress=progress,
        )
        opened = cls(cached.index, maker, cached=cached)
        opened.seconds = time.monotonic() - start
        return opened

    @classmethod
    def from_triples(
        cls,
        triples: Iterable[tuple[str, str, str]],
        *,
        types: Mapping[str, Iterable[str]] | None = None,
        aliases: Mapping[str, Iterable[str]] | None = None,
        embedder: str | Embedder | None = None,
    ) -> Self:
        """Index triples (head, relation, tail), and types and aliases of entities, until it is closed.

        Numbers are taken as they are written. Raises UsageError for what is no triple of texts, InputError if
        there are none.
        """
        from clew.graph.readers.written import write_pairs, write_triples
        from clew.index.build import build_index
        from clew.index.store.directory import open_index

        keep_machine_code()
        folder, maker = Path(tempfile.mkdtemp(prefix="clew-triples-")), make_embedder(embedder)
        try:
            build_index(
                [write_triples(folder / "triples.tsv", triples)],
                folder / "triples.clew",
                embedder=maker,
                types=write_pairs(folder / "types.tsv", "type", types),
                aliases=write_pairs(folder / "aliases.tsv", "alias", aliases),
                format="tsv",
            )
            opened = cls(open_index(folder / "triples.clew"), maker)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        opened._temporary = weakref.finalize(opened, shutil.rmtree, folder, ignore_errors=True)
        return opened

    @classmethod
    def _open_index(cls, path: Path, embedder: str | Embedder | None) -> Self:
        from clew.index.store.directory import open_index

        index = open_index(path, access=milvus_access())
        made_with = index.manifest.about.embedder
        if embedder is None and made_with is not None:
            embedder = made_with.name
        return cls(index, make_embedder(embedder))

    def ask(
        self,
        question: str,
        *,
        id: str | None = None,
        entities: Sequence[str] = (),
        method: str | MethodFactory = "auto",
        model: ChatModel | str | None = None,
        settings: object = None,
        reading: int | None = None,
    ) -> Answer:
        """Answer a question, or abstain with a reason.

        `entities` are names of entities that the question is about, where the caller knows them, or words
        that one name alone holds (*HP-40*); `id` is handed back. `method` is a name, `module:class` of your
        own, or the class (`docs/python.md`). `model` is used by the methods that can use one: an open one, or
        its spec (`ollama/llama3.1`). `settings` is the dataclass of that name of a method that has one.
        `reading` is the number, from 1, of one of the `alternatives` of the answer of `auto`: it is answered
        instead, without a model. Raises UsageError for an empty or endless question, an unknown method or
        such a number, LlmError if the model fails.
        """
        question = clean_question(question)
        self.index.check_unchanged()
        names = self._given(entities)
        if reading is not None and method != "auto":
            raise UsageError(f"Other readings are those of auto, not of {method}. Leave out one of the two")
        made = self._method(method, None if reading else self._models.model(model), settings)
        before = COMPILING.milliseconds
        with bounded(self.bounds):
            try:
                if reading is None:
                    answer = self._since_when(made, question, id, names)
                    answer = answer or made.answer(question, id=id, entities=names)
                else:
                    from clew.methods.auto.alternative import answer_alternative

                    auto = cast("BuiltInReader", made)
                    answer = answer_alternative(auto, question, reading, id=id, entities=names)
                return _without_compiling(answer, before)
            except OutOfTime:
                abstained = Abstention("budget", over(self.bounds.seconds))
                return Answer(question, abstained=abstained, method=made.name, complete=False, id=id)

    def _since_when(self, made: Method, question: str, id: str | None, names: Sequence[str]) -> Answer | None:
        """Answer from when or until when something is so by a property of its edge, if that is asked."""
        if not len(self.index.graph.edge_properties):
            return None
        from clew.reading.since_when import SinceWhen

        asked = SinceWhen.of(question)
        return asked and asked.answer(made.answer(asked.whether, id=id, entities=names))

    async def ask_async(self, question: str, **options: Any) -> Answer:  # noqa: ANN401 (those of `ask`)
        """Answer as `ask` does, in a thread, so that an event loop goes on meanwhile; raises as `ask`."""
        import asyncio  # an eighth of what a question imports, for none that is not awaited

        return await asyncio.to_thread(partial(self.ask, question, **options))

    async def verify_async(self, claim: str, **options: Any) -> Verification:  # noqa: ANN401
        """Check as `verify` does, in a thread; raises as `verify`."""
        import asyncio

        return await asyncio.to_thread(partial(self.verify, claim, **options))

    def _given(self, entities: Sequence[str]) -> tuple[str, ...]:
        """The names that a user gives for a question's entities, as the graph has them."""
        names = tuple(name for entity in entities if (name := clean(entity)))
        if not names:
            return ()
        from clew.methods.given_entities import names_of_graph

        return names_of_graph(self.index.names, names)

    def _method(self, name: str | MethodFactory, model: ChatModel | None, settings: object) -> Method:
        def make() -> Method:
            from clew.methods.registry import make_method

            return make_method(name, self.index, self.embedder, model, settings)

        return self._methods.get(name, model, settings, make)

    def verify(
        self,
        claim: str,
        *,
        id: str | None = None,
        closed_world: bool = False,
        method: str = "auto",
        model: ChatModel | str | None = None,
        settings: object = None,
    ) -> Verification:
        """Say whether the graph supports a claim, refutes it, or does not hold enough, part by part.

        In a closed world what the graph does not record is not so. `method` is `auto` or `simgrag`,
        `settings` are those of SimGRAG. Raises UsageError for an empty or endless claim or an unknown
        method, LlmError if the model fails.
        """
        claim = clean_question(claim, "claim")
        self.index.check_unchanged()
        verifier = self._verifier(method, self._models.model(model), settings)
        before = COMPILING.milliseconds
        with bounded(self.bounds):
            try:
                found = verifier.verify(claim, id=id, closed_world=closed_world)
                return _without_compiling(found, before)
            except OutOfTime:
                abstained = Abstention("budget", over(self.bounds.seconds))
                return Verification(
                    claim, "not_enough_info", method=verifier.name, id=id, abstained=abstained, complete=False
                )

    def _verifier(self, method: str, model: ChatModel | None, settings: object) -> Verifier:
        def make() -> Verifier:
            from clew.methods.verifiers import make_verifier

            return make_verifier(method, self.index, self.embedder, model, settings)

        return self._verifiers.get(method, model, settings, make)

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

        `distances` are given ones (`Tables.of`) instead of those of the embedder.

        A pattern as JSON is read as by `clew match`; `where` begins the messages about it. The search stops
        after `milliseconds`, with `complete` False. Raises PatternError if the pattern cannot be searched.
        """
        from clew.graph.match.matcher import Budget, match
        from clew.graph.match.patterns import pattern_from_json

        if not isinstance(pattern, Pattern):
            pattern = pattern_from_json(pattern, where)
        self.index.check_unchanged()
        if distances is None and self._distances is None:
            from clew.index.vectors.distances import IndexDistances

            self._distances = IndexDistances(self.index, self.embedder)
        budget = None if milliseconds is None else Budget(milliseconds=milliseconds)
        used = distances if distances is not None else cast("Distances", self._distances)
        graph = self.index.graph
        if any(edge.where for edge in pattern.edges):
            from clew.graph.match.conditions import match_where

            most = None if all else k
            found = match_where(
                lambda count: match(graph, pattern, used, k=count, budget=budget), graph, pattern, most
            )
        else:
            found = match(graph, pattern, used, k=k, all_tied=all, budget=budget)
        return replace(found, matches=tuple(map(self._named, found.matches)))

    def _named(self, found: Match) -> Match:
        """A match with what people read."""
        graph = self.index.graph
        texts = [
            TripleText(
                graph.labels[head],
                graph.relation_labels[relation],
                graph.labels[tail],
                properties_of(graph, head, relation, tail),
            )
            for head, relation, tail in map(graph.triple, found.triples)
        ]
        return replace(found, labels=tuple(graph.labels[node] for node in found.nodes), texts=tuple(texts))

    def edges(
        self,
        head: str | None = None,
        relation: str | None = None,
        tail: str | None = None,
        *,
        where: Mapping[str, object] | None = None,
        order: str | None = None,
        smallest: bool = False,
        limit: int = 100,
    ) -> list[TripleText]:
        """At most `limit` edges that have properties, each with those of its own.

        `where` are conditions (`{"since": ">2010", "airline": "KLM"}`); with `order` the edges are ranked by
        that property, the largest first, or the `smallest`. Raises UsageError for an entity, relation or
        property that the graph lacks.
        """
        from itertools import islice

        from clew.graph.match.conditions import conditions_of, find_edges

        self.index.check_unchanged()
        explorer = self._explore()
        ends = (
            None if head is None else explorer.node(head),
            None if relation is None else explorer.relation(relation),
            None if tail is None else explorer.node(tail),
        )
        wanted = conditions_of(where or {}, "where")
        found = find_edges(self.index.graph, ends, wanted, order=order, smallest=smallest)
        return list(islice(found, limit))

    def matches_json(self, result: MatchResult, *, id: str | None, milliseconds: float) -> dict[str, Any]:
        """Make the stable JSON form of matches (docs/json.md); names are those of the source."""
        names = self.index.graph.entities
        return {
            "id": id,
            "matches": [
                {
                    "gsd": found.gsd,
                    "direction_misses": found.direction_misses,
                    "nodes": [names[node] for node in found.nodes],
                    "triples": [self.triple(triple).as_json() for triple in found.triples],
                    **self._properties_json(found),
                }
                for found in result.matches
            ],
            "complete": result.complete,
            "bound": None if result.bound == float("inf") else result.bound,
            "timings_ms": {"total": round(milliseconds, 3)},
        }

    def open_store(
        self, query: str, *, seconds: float = 10.0, rules: Rules | None = None
    ) -> CypherStore | SparqlStore:
        """Load the graph into a store of the language that `query` is in, for queries that only read.

        The caller closes it. Raises MissingExtra for Cypher without ladybug.
        """
        from clew.stores.opening import is_sparql_query

        if is_sparql_query(query):
            from clew.stores.sparql.embedded import EmbeddedSparql

            return EmbeddedSparql.of_graph(self.index.graph, seconds=seconds, rules=rules)
        from clew.stores.ladybug import LadybugStore

        return LadybugStore.of_graph(self.index.graph, seconds=seconds, rules=rules)

    def query(self, text: str, *, seconds: float = 10.0, rows: int = 1_000) -> Rows:
        """Run a reading query of SPARQL or Cypher on the graph: at most `rows` rows in at most `seconds`.

        The graph is loaded into a store with the first query of a language; of SPARQL one query runs at a
        time. Raises UsageError for what is no query or does more than read, StoreError if it fails,
        MissingExtra for Cypher without ladybug.
        """
        from clew.stores.cypher.guard import Rules
        from clew.stores.opening import is_sparql_query

        text = clean_query(text)
        self.index.check_unchanged()
        key = is_sparql_query(text), seconds, rows
        with self._opening_store:
            if key not in self._stores:
                self._stores[key] = self.open_store(text, seconds=seconds, rules=Rules(rows=rows))
            store = self._stores[key]
        return store.run(text)

    def prepare(
        self,
        method: str = "auto",
        model: ChatModel | None = None,
        settings: object = None,
        *,
        claims: bool = False,
    ) -> None:
        """Make what the first question of a method would make, or of its `claims`; raises as these."""
        if claims:
            self._verifier(method, model, settings)
        else:
            self._method(method, model, settings)

    def embed_triples(self, progress: Progress | None = None) -> None:
        """Make the vectors of triples where the index has none, for methods that rank triples.

        Without it the first question of such a method does so. Raises as
        `clew.index.vectors.triple_vectors.with_triple_vectors`.
        """
        from clew.index.vectors.triple_vectors import with_triple_vectors

        def tell(done: int) -> None:
            if progress is not None:
                progress("triples", done, self.index.graph.triples)

        self.index = with_triple_vectors(self.index, self.embedder, tell)

    def update(
        self,
        add: FilesOrTriples = (),
        remove: FilesOrTriples = (),
        *,
        rules: EditRules | None = None,
        **more: Any,  # noqa: ANN401 (of `EditFiles`)
    ) -> Updated:
        """Change the index on the disk, as a whole or not at all, and go on with what it is then.

        `add` and `remove` are files, or triples (head, relation, tail); `more` are other fields of
        `EditFiles`. Raises as `update_index_files`, and UsageError for a graph file that was indexed into the
        cache: that is indexed anew when it changes.
        """
        from clew.index.store.directory import open_index
        from clew.index.update.edit_files import EditFiles

        if self._cached:
            raise UsageError(
                f"{self.path} is the cache of a graph file. Make an index to update: Clew.index(SOURCE, OUT)"
            )
        if not all(isinstance(change, str | Path) for change in (*add, *remove)):
            for name in {"format", "hints"} & more.keys():
                raise UsageError(f"{name!r} is for files. Update with files and with triples apart")
        with tempfile.TemporaryDirectory(prefix="clew-update-") as folder:
            added, removed = (
                _as_files(changes, Path(folder) / f"{side}.tsv")
                for side, changes in (("add", add), ("remove", remove))
            )
            files = EditFiles(added, removed, **more)
            updated = update_index_files(self.path, files, rules=rules, embedder=self.embedder)
        self._forget()
        self.index = open_index(self.path, access=milvus_access())
        return updated

    def info(self) -> Info:
        """Count, and describe every relation by an example and the types at its ends."""
        from clew.info import info_of

        return info_of(self.index)

    def find_entities(self, text: str, *, limit: int = 10, typos: bool = True) -> list[EntityHit]:
        """Entities that `text` names, begins, or (with `typos`) misspells, the best first."""
        return self._explore().find_entities(clean(text), limit=limit, typos=typos)

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
        found = self._explore()
        return found.neighbours(entity, relation=relation, direction=direction, offset=offset, limit=limit)

    def paths(self, start: str, end: str, *, limit: int = 5, longest: int = 4) -> Paths:
        """The shortest paths between two entities; raises UsageError for one that the graph lacks."""
        return self._explore().paths(start, end, limit=limit, longest=longest)

    def example_questions(self, limit: int = 6) -> tuple[str, ...]:
        """Questions about this graph that are answered here, without a model, as the graph has it."""
        from clew.explore import example_questions

        kept: list[str] = []
        for number, relation in enumerate(self.info().relations[: 4 * limit]):
            if len(kept) == limit:
                break
            declared = [share.type for share in relation.head_types if share.declared]
            triple = self._explore().sample_triple(relation.name, 0.618 * number % 1)
            for question, right in example_questions(triple, next(iter(declared), None)):
                if right in {found.label for found in self.ask(question).answers}:
                    kept.append(question)
                    break
        return tuple(kept)

    def _explore(self) -> Explorer:
        if self._explorer is None:
            from clew.explore import Explorer

            self._explorer = Explorer(self.index)
        return self._explorer

    @property
    def generation(self) -> int:
        """Number of the index's generation that is open."""
        return self.index.manifest.generation

    def triple(self, id: int) -> TripleText:
        """Return a triple by the names that the source gives."""
        return triple_text(self.index.graph, id)

    def _properties_json(self, found: Match) -> dict[str, Any]:
        """Properties of the edges of a match, where there are any."""
        told = [self.triple(triple).properties_json() for triple in found.triples]
        return {"properties": told} if any(told) else {}

    def triples(self, *, names: bool = False) -> Iterator[TripleText]:
        """All triples, as people read them, or by the `names` that the source gives."""
        graph = self.index.graph
        nodes = graph.entities if names else graph.labels
        relations = list(graph.relations if names else graph.relation_labels)
        for head, relation, tail in zip(*graph.out.columns(), strict=True):
            yield TripleText(nodes[int(head)], relations[int(relation)], nodes[int(tail)])

    def entities(self) -> Iterator[Entity]:
        """All entities with their labels and types; literals are none."""
        graph, types = self.index.graph, self.index.graph.types
        type_names = list(types.names)
        for node in range(graph.nodes):
            if graph.values.datatype[node] < 0:
                own = types.type[types.offsets[node] : types.offsets[node + 1]].tolist()
                yield Entity(graph.entities[node], graph.labels[node], tuple(type_names[t] for t in own))

    def labels(self, triples: Iterable[int]) -> dict[str, str]:
        """Map the names in some triples to what people read, where the two differ."""
        graph, found = self.index.graph, dict[str, str]()
        if graph.labels is graph.entities and graph.relation_labels is graph.relations:
            return found
        for head, relation, tail in map(graph.triple, triples):
            found[graph.relations[relation]] = graph.relation_labels[relation]
            found |= {graph.entities[node]: graph.labels[node] for node in (head, tail)}
        return found

    def close(self) -> None:
        """Let go of what was made for asking; the files are unmapped with the last reference to the index."""
        self._forget()
        self._models.close()
        if self._temporary is not None:
            self._temporary()

    def _forget(self) -> None:
        """Let go of what was made of the index that is open."""
        self._methods.clear()
        self._verifiers.clear()
        while self._stores:
            self._stores.popitem()[1].close()
        self._distances = self._explorer = None

    def __repr__(self) -> str:
        counts = self.index.manifest.about.counts
        told = ", ".join(f"{counts.get(name, 0):,} {name}" for name in ("triples", "entities", "relations"))
        return f"<{type(self).__name__} {self.path}: {told}>"

    def __iter__(self) -> Iterator[TripleText]:
        return self.triples()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


FilesOrTriples = Sequence[str | Path | tuple[str, str, str]]
"""Graph files, or triples (head, relation, tail)."""


def _as_files(changes: FilesOrTriples, written: Path) -> list[Path]:
    """The files among changes, and one with the triples among them."""
    from clew.graph.readers.written import write_triples

    files = [Path(change) for change in changes if isinstance(change, str | Path)]
    triples = [change for change in changes if not isinstance(change, str | Path)]
    return [*files, write_triples(written, triples)] if triples else files


def _make_index(
    kind: type[Clew],
    sources: str | Path | Sequence[str | Path],
    out: str | Path,
    **options: Any,  # noqa: ANN401
) -> Clew:
    given = [sources] if isinstance(sources, str | Path) else sources
    index_sources([Path(source) for source in given], Path(out), **options)
    return kind.open(out, embedder=options.get("embedder"))


def _unused(index: Index) -> str | None:
    """Why what was learned from the user's questions is not used; None if it is, or there is nothing."""
    from clew.index.store.directory import FITTED

    if not (index.path / FITTED).exists():
        return None
    from clew.reading.adapter import open_adapter
    from clew.reading.ranker import MODEL

    return open_adapter(index.path, index.graph, MODEL).problem


def _without_compiling(result: _Result, before: float) -> _Result:
    """The result, where machine code was made for it, with that time beside its own, not in it."""
    spent = COMPILING.milliseconds - before
    if not spent:
        return result
    own = max(result.timings_ms["total"] - spent, 0.0)
    times = {**result.timings_ms, "compile": round(spent, 3), "total": round(own, 3)}
    return replace(result, timings_ms=times)


def index_sources(
    sources: Sequence[Path],
    out: Path,
    *,
    embedder: str | Embedder | None = None,
    **options: Unpack[IndexOptions],
) -> Built:
    """Index graph files into the directory `out`; `options` and errors are those of `build_index`.

    Side files beside a single source are used unless `types` or `aliases` name others. `addresses` are of
    databases that sources were read from; the index names these.
    """
    keep_machine_code()
    from clew.index.build import build_index
    from clew.index.cache import side_files

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
    from clew.index.store.manifest import read_manifest
    from clew.index.update.edit_files import read_edits
    from clew.index.update.edits import EditRules
    from clew.index.update.update import update_index

    made_with = read_manifest(path).about.embedder
    edits = read_edits(files, None if progress is None else partial(progress, "reading"))
    return update_index(
        path,
        edits,
        embedder=make_embedder(embedder if embedder is not None or made_with is None else made_with.name),
        rules=rules or EditRules(),
        verbaliser=verbaliser,
        access=milvus_access(),
        progress=progress,
    )


def said_by(path: Path) -> str | None:
    """Name the chat model that says the walks of an index; None without one.

    Raises InputError and FormatError if there is no good index.
    """
    from clew.index.corpus.corpus import model_of
    from clew.index.store.directory import open_index

    return model_of(open_index(path))


def is_index(path: Path) -> bool:
    """Whether `path` is, or by its name should be, an index directory and not a graph to be read."""
    return path.suffix == ".clew" or os.path.isfile(path / "manifest.json")
