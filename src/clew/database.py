"""`Database`: a Neo4j database, or what is behind a SPARQL endpoint, asked where it is, without an index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

from clew.graph.readers.hints import Hints
from clew.methods.asking import Asks
from clew.opening.environment import cache_folder, make_embedder, neo4j_login
from clew.stores.sparql.endpoint import SparqlEndpoint
from clew.text.clean import clean, clean_question
from clew.types import Answer

if TYPE_CHECKING:
    from clew.llm.types import ChatModel
    from clew.methods.database_copy import DatabaseCopy
    from clew.methods.registry import Method, MethodFactory, Verifier
    from clew.stores.neighbourhood import NearStore
    from clew.stores.neo4j import Neo4jStore
    from clew.text.embedder import Embedder


class Database(Asks):
    """An open database. Make one with `Database.open`; it may be used as a context manager."""

    def __init__(
        self,
        store: Neo4jStore | SparqlEndpoint,
        embedder: Embedder,
        *,
        cache_dir: Path | None = None,
        language: str = "en",
    ) -> None:
        super().__init__()
        self.store, self.embedder, self._cache, self._language = store, embedder, cache_dir, language

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
        from clew.methods.synaptiqa.queried import MOST_ROWS_READ, SECONDS
        from clew.stores.opening import open_database

        store = open_database(address, neo4j_login(), seconds=SECONDS, rows=MOST_ROWS_READ)
        cache = cache_folder(cache_dir)
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
        answerer = self._method(method, self._models.model(model), settings)
        return self._in_time(
            lambda: answerer.answer(question, id=id, entities=names),
            lambda abstention: Answer(
                question, abstained=abstention, method=answerer.name, complete=False, id=id
            ),
        )

    def _make_method(self, name: str | MethodFactory, model: ChatModel | None, settings: object) -> Method:
        from clew.methods.registry import make_store_method

        cypher = None if isinstance(self.store, SparqlEndpoint) else self.store
        return make_store_method(cast("str", name), self._copy, model, settings, cypher=cypher)

    def _make_verifier(self, name: str, model: ChatModel | None, settings: object) -> Verifier:
        from clew.methods.registry import make_store_verifier

        return make_store_verifier(name, self._copy, model, settings)

    @cached_property
    def _copy(self) -> DatabaseCopy:
        from clew.methods.database_copy import DatabaseCopy

        return DatabaseCopy(
            self._near_store, self.embedder, self._cache, hints=Hints(language=self._language)
        )

    @property
    def _near_store(self) -> NearStore:
        if isinstance(self.store, SparqlEndpoint):
            from clew.stores.sparql.near_sparql import NearSparql

            return NearSparql(self.store)
        from clew.stores.near_neo4j import NearNeo4j

        return NearNeo4j(self.store)

    def labels(self, triples: Iterable[int]) -> dict[str, str]:
        """Map names to what people read: here they are the same."""
        return {}

    def close(self) -> None:
        """Let go of what was made for asking, and close the connections."""
        super().close()
        self.store.close()
