"""`Database`: a Neo4j database, or what is behind a SPARQL endpoint, asked where it is, without an index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from clew.bounds import Bounds, OutOfTime, bounded, over
from clew.environment import NamedModels, default_cache, make_embedder, neo4j_login
from clew.graph.readers.hints import Hints
from clew.methods.cache import MethodCache
from clew.stores.sparql.endpoint import SparqlEndpoint
from clew.text.clean import clean, clean_question
from clew.types import Abstention, Answer, Verification

if TYPE_CHECKING:
    from clew.llm.types import ChatModel
    from clew.methods.database_copy import DatabaseCopy
    from clew.methods.registry import Method
    from clew.methods.verifiers import Verifier
    from clew.stores.neighbourhood import NearStore
    from clew.stores.neo4j import Neo4jStore
    from clew.text.embedder import Embedder


class Database:
    """An open database. Make one with `Database.open`; it may be used as a context manager.

    `bounds` are the time of each question and claim, and how many answers are listed; set others as you like.
    """

    def __init__(
        self,
        store: Neo4jStore | SparqlEndpoint,
        embedder: Embedder,
        *,
        cache_dir: Path | None = None,
        language: str = "en",
    ) -> None:
        self.store, self.embedder, self._cache, self._language = store, embedder, cache_dir, language
        self._methods: MethodCache[Method] = MethodCache()
        self._verifiers: MethodCache[Verifier] = MethodCache()
        self.bounds = Bounds()
        self._models = NamedModels()

    @classmethod
    def open(
        cls,
        address: str,
        *,
        embedder: str | Embedder | None = None,
        cache_dir: str | Path | None = None,
        language: str = "en",
    ) -> Self:
        """Connect to `neo4j://host:port/database`, with user and password of the environment.

        `sparql+https://host/path` is an endpoint of RDF, whose labels are read in a `language`. A copy of a
        small database is kept in `cache_dir`, else where indexes of plain files are.

        Raises UsageError for another address, StoreError if there is no usable server, MissingExtra.
        """
        from clew.methods.synaptiqa.queried import MOST_ROWS, SECONDS
        from clew.stores.cypher.guard import Rules
        from clew.stores.opening import open_database

        store = open_database(address, neo4j_login(), seconds=SECONDS, rules=Rules(rows=MOST_ROWS))
        cache = default_cache() if cache_dir is None else Path(cache_dir)
        return cls(store, make_embedder(embedder), cache_dir=cache, language=language)

    def ask(
        self,
        question: str,
        *,
        id: str | None = None,
        entities: Sequence[str] = (),
        method: str = "auto",
        model: ChatModel | str | None = None,
        settings: object = None,
    ) -> Answer:
        """Answer a question, or abstain with a reason; of Neo4j `auto` is `synaptiqa` where there is a model.

        Without one, of RDF, and by the methods of an index, it is answered from a copy of a small database,
        else from what is near the names in it.

        `model` is an open one, or its spec.

        Raises UsageError for an empty question or a method that needs an index, LlmError if the model,
        StoreError if the database fails.
        """
        question = clean_question(question)
        names = tuple(name for entity in entities if (name := clean(entity)))
        made = self._method(method, self._models.model(model), settings)
        with bounded(self.bounds):
            try:
                return made.answer(question, id=id, entities=names)
            except OutOfTime:
                abstained = Abstention("budget", over(self.bounds.seconds))
                return Answer(question, abstained=abstained, method=made.name, complete=False, id=id)

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
        """Say whether the database supports a claim, refutes it, or does not hold enough, part by part.

        It is checked against a copy of a small database, else against what is near the names in it; what of
        that was not fetched decides nothing, also in a closed world. Arguments are those of `Clew.verify`.

        Raises UsageError for an empty claim or an unknown method, LlmError if the model, StoreError if the
        database fails.
        """
        claim = clean_question(claim, "claim")
        verifier = self._verifier(method, self._models.model(model), settings)
        with bounded(self.bounds):
            try:
                return verifier.verify(claim, id=id, closed_world=closed_world)
            except OutOfTime:
                from clew.methods.verifiers import out_of_time

                return out_of_time(verifier, claim, self.bounds.seconds, id)

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

    def _verifier(self, name: str, model: ChatModel | None, settings: object) -> Verifier:
        def make() -> Verifier:
            from clew.methods.verifiers import make_store_verifier

            return make_store_verifier(name, self._copy, model, settings)

        return self._verifiers.get(name, model, settings, make)

    def _method(self, name: str, model: ChatModel | None, settings: object) -> Method:
        def make() -> Method:
            from clew.methods.registry import make_store_method

            cypher = None if isinstance(self.store, SparqlEndpoint) else self.store
            return make_store_method(name, self._copy, model, settings, cypher=cypher)

        return self._methods.get(name, model, settings, make)

    @cached_property
    def _copy(self) -> DatabaseCopy:
        from clew.methods.database_copy import DatabaseCopy

        return DatabaseCopy(self._near, self.embedder, self._cache, hints=Hints(language=self._language))

    @property
    def _near(self) -> NearStore:
        if isinstance(self.store, SparqlEndpoint):
            from clew.stores.sparql.near_sparql import NearSparql

            return NearSparql(self.store)
        from clew.stores.near_neo4j import NearNeo4j

        return NearNeo4j(self.store)

    def labels(self, triples: Iterable[int]) -> dict[str, str]:
        """Map names to what people read: here they are the same."""
        return {}

    def close(self) -> None:
        """Close the connections."""
        self._methods.clear()
        self._verifiers.clear()
        self._models.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
