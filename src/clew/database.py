"""`Database`: a Neo4j database that is asked where it is, without an index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from clew.environment import NamedModels, default_cache, make_embedder, neo4j_login
from clew.errors import UsageError
from clew.methods.cache import MethodCache
from clew.stores.opening import is_sparql, shown_address
from clew.text.clean import clean, clean_question
from clew.types import Answer

if TYPE_CHECKING:
    from clew.llm.types import ChatModel
    from clew.methods.database_copy import DatabaseCopy
    from clew.methods.registry import Method
    from clew.stores.neo4j import Neo4jStore
    from clew.text.embedder import Embedder


class Database:
    """An open database. Make one with `Database.open`; it may be used as a context manager."""

    def __init__(self, store: Neo4jStore, embedder: Embedder, *, cache_dir: Path | None = None) -> None:
        self.store, self.embedder, self._cache = store, embedder, cache_dir
        self._methods: MethodCache[Method] = MethodCache()
        self._models = NamedModels()

    @classmethod
    def open(
        cls, address: str, *, embedder: str | Embedder | None = None, cache_dir: str | Path | None = None
    ) -> Self:
        """Connect to `neo4j://host:port/database`, with user and password of the environment.

        A copy of a small database is kept in `cache_dir`, else where indexes of plain files are.

        Raises UsageError for another address, StoreError if there is no usable server, MissingExtra.
        """
        if is_sparql(address):
            shown = shown_address(address)
            raise UsageError(
                f"No method asks a SPARQL endpoint itself. Make an index of it with: clew index {shown} "
                f'-o NAME.clew, or write the query: clew query {shown} "SELECT …"'
            )
        from clew.methods.synaptiqa.queried import MOST_ROWS, SECONDS
        from clew.stores.cypher.guard import Rules
        from clew.stores.opening import open_neo4j

        store = open_neo4j(address, neo4j_login(), seconds=SECONDS, rules=Rules(rows=MOST_ROWS))
        cache = default_cache() if cache_dir is None else Path(cache_dir)
        return cls(store, make_embedder(embedder), cache_dir=cache)

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
        """Answer a question, or abstain with a reason; `auto` is `synaptiqa` where there is a model.

        Without one, and by the methods of an index, it is answered from a copy of a small database, else
        from what is near the names in it.

        `model` is an open one, or its spec.

        Raises UsageError for an empty question or a method that needs an index, LlmError if the model,
        StoreError if the database fails.
        """
        question = clean_question(question)
        names = tuple(name for entity in entities if (name := clean(entity)))
        made = self._method(method, self._models.model(model), settings)
        return made.answer(question, id=id, entities=names)

    def prepare(self, method: str = "auto", model: ChatModel | None = None, settings: object = None) -> None:
        """Make what the first question of a method would make; raises as that."""
        self._method(method, model, settings)

    def _method(self, name: str, model: ChatModel | None, settings: object) -> Method:
        def make() -> Method:
            from clew.methods.registry import make_store_method

            return make_store_method(name, self.store, self.embedder, model, settings, self._copy)

        return self._methods.get(name, model, settings, make)

    @cached_property
    def _copy(self) -> DatabaseCopy:
        from clew.methods.database_copy import DatabaseCopy

        return DatabaseCopy(self.store, self.embedder, self._cache)

    def labels(self, triples: Iterable[int]) -> dict[str, str]:
        """Map names to what people read: here they are the same."""
        return {}

    def close(self) -> None:
        """Close the connections."""
        self._methods.clear()
        self._models.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
