"""`Database`: a Neo4j database asked where it is, by a model that writes queries."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Self, cast

from clew.errors import UsageError
from clew.methods.registry import Asks, make_store_method
from clew.opening.environment import make_embedder, neo4j_login
from clew.stores.opening import open_neo4j
from clew.text.normalise import clean, clean_question
from clew.types import Answer

if TYPE_CHECKING:
    from clew.llm.reply import ChatModel
    from clew.methods.registry import Method, MethodFactory, Verifier
    from clew.stores.neo4j import Neo4jStore
    from clew.text.embedders import Embedder


class Database(Asks):
    """An open database. Make one with `Database.open`; it may be used as a context manager."""

    def __init__(self, store: Neo4jStore, embedder: Embedder) -> None:
        super().__init__()
        self.store, self.embedder = store, embedder

    @classmethod
    def open(cls, address: str, *, embedder: str | Embedder | None = None) -> Self:
        """Connect to `neo4j://host:port/database`, with user and password of the environment.

        Raises UsageError for another address, StoreError if there is no usable server, MissingExtra.
        """
        from clew.methods.synaptiqa.queried import MOST_ROWS_READ, SECONDS

        store = open_neo4j(address, neo4j_login(), seconds=SECONDS, rows=MOST_ROWS_READ)
        return cls(store, make_embedder(embedder))

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
        """Answer a question, or abstain with a reason; `auto` is `synaptiqa`.

        `model` is an open one, or its spec. Raises UsageError for an empty question, no model, or a method
        that needs an index; LlmError if the model, StoreError if the database fails.
        """
        question = clean_question(question)
        names = tuple(name for entity in entities if (name := clean(entity)))
        answerer = self._method(method, self._models.model(model), settings)
        work = partial(answerer.answer, question, id=id, entities=names)
        return self._answered(answerer, question, id, work)

    def _make_method(self, name: str | MethodFactory, model: ChatModel | None, settings: object) -> Method:
        return make_store_method(cast("str", name), self.store, self.embedder, model, settings)

    def _make_verifier(self, name: str, model: ChatModel | None, settings: object) -> Verifier:
        raise UsageError(f"Claims are verified over an index: clew index {self.store.name} -o NAME.clew")

    def close(self) -> None:
        """Let go of what was made for asking, and close the connections."""
        super().close()
        self.store.close()
