"""Methods by name; adding one is a file and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol, cast

from clew.errors import UsageError
from clew.index.store.directory import Index
from clew.plugins import imported, is_plugin
from clew.text.embedder import Embedder
from clew.types import Answer

if TYPE_CHECKING:
    from clew.llm.types import ChatModel
    from clew.stores.store import CypherStore

METHODS: dict[str, str] = {
    "auto": "clew.methods.auto.method:make_auto",
    "simgrag": "clew.methods.simgrag.method:SimGRAG",
    "kg-rag": "clew.methods.kg_rag.method:KgRag",
    "llm": "clew.methods.baselines.llm:Llm",
    "llm-qd": "clew.methods.baselines.llm_qd:LlmQd",
    "kaping": "clew.methods.baselines.kaping:Kaping",
    "triple-rag": "clew.methods.baselines.triple_rag:TripleRag",
    "vector-rag": "clew.methods.baselines.vector_rag:VectorRag",
    "kg-retrieval": "clew.methods.baselines.kg_retrieval:KgRetrieval",
    "kg-gpt": "clew.methods.baselines.kg_gpt:KgGpt",
    "synaptiqa": "clew.methods.synaptiqa.method:make_synaptiqa",
    "kg-query": "clew.methods.synaptiqa.method:make_kg_query",
    "walk-retrieve": "clew.methods.walk_retrieve.method:WalkRetrieve",
}
"""Name → `module:class`, imported when it is first used; the class is called with (index, embedder)."""

STORE_METHODS: dict[str, str] = {
    "synaptiqa": "clew.methods.synaptiqa.method:SynaptiQA",
    "kg-query": "clew.methods.synaptiqa.method:KgQuery",
}
"""The methods that can ask a database without an index; called with (graph, embedder, model, settings)."""


RANK_TRIPLES = frozenset(("kg-rag", "kaping", "vector-rag"))
"""Methods that compare vectors of triples, which an index may lack until the first question."""


class Method(Protocol):
    """What answers questions over one open index."""

    @property
    def name(self) -> str:
        """The name that users give."""
        ...

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer or abstain; `entities` are names that the user says the question is about."""
        ...


class MethodFactory(Protocol):
    """The class of a method."""

    def __call__(self, index: Index, embedder: Embedder, **options: Any) -> Method:  # noqa: ANN401
        """Make the method for an open index; a parameter `model` is a chat model, `settings` a dataclass."""
        ...


def method_named(name: str | MethodFactory) -> MethodFactory:
    """Return the class of a method: by its name, as `module:class` of a user's own, or as it is.

    Raises UsageError if there is none of that name.
    """
    if not isinstance(name, str):
        return name
    if name not in METHODS:
        if is_plugin(name):
            return cast(MethodFactory, imported(name, "method"))
        raise UsageError(
            f"There is no method {name!r}. Methods are: {', '.join(METHODS)}; your own is MODULE:CLASS"
        )
    module, _, attribute = METHODS[name].partition(":")
    return cast(MethodFactory, getattr(import_module(module), attribute))


def shown_name(name: str) -> str:
    """Return what answers call the method; a user's own may have a name beside that of its class."""
    return str(getattr(method_named(name), "name", name)) if is_plugin(name) else name


def make_store_method(
    name: str,
    store: CypherStore,
    embedder: Embedder,
    model: ChatModel | None = None,
    settings: Any = None,  # noqa: ANN401
) -> Method:
    """Make a method that asks a database itself; `auto` is the first of them.

    Raises UsageError for a method that needs an index, or without a model; StoreError if the schema cannot
    be read.
    """
    name = next(iter(STORE_METHODS)) if name == "auto" else name
    if name not in STORE_METHODS:
        method_named(name)
        raise UsageError(
            f"The method {name} needs an index. Make one with: clew index {store.name} -o NAME.clew. "
            f"Databases are asked by {' and '.join(STORE_METHODS)}"
        )
    if model is None:
        raise UsageError(
            f"To ask a database, {name} needs a chat model. Name one with --llm, as in "
            f"--llm ollama/llama3.1, or make an index: clew index {store.name} -o NAME.clew"
        )
    from clew.methods.synaptiqa.queried import QueriedGraph

    module, _, attribute = STORE_METHODS[name].partition(":")
    factory = getattr(import_module(module), attribute)
    return cast(Method, factory(QueriedGraph.of_store(store, embedder), embedder, model, settings))


def make_method(
    name: str | MethodFactory,
    index: Index,
    embedder: Embedder,
    model: ChatModel | None = None,
    settings: Any = None,  # noqa: ANN401
) -> Method:
    """Make a method, with a chat model if it can use one.

    Raises UsageError for an unknown name, or for settings where the method has none.
    """
    factory = method_named(name)
    taken = signature(factory).parameters
    options: dict[str, Any] = {}
    if model is not None and "model" in taken:
        options["model"] = model
    if settings is not None:
        if "settings" not in taken:
            raise UsageError(f"The method {name} has no settings. Leave them out")
        options["settings"] = settings
    return factory(index, embedder, **options)
