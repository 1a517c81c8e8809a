"""Methods, and what verifies claims, by name: a method is a folder and a line here."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar, cast

from clew.errors import UsageError
from clew.foundation.system import COMPILING, Bounds, OutOfTime, bounded
from clew.methods.settings import made
from clew.opening.environment import NamedModels
from clew.plugins import imported, is_plugin
from clew.text.normalise import clean_question
from clew.types import Abstention, Answer, Verification

if TYPE_CHECKING:
    from clew.index.store.directory import Index
    from clew.llm.reply import ChatModel
    from clew.stores.store import CypherStore
    from clew.text.embedders import Embedder


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """What is known of a method before it is imported; places are written `module:name`.

    Attributes:
        factory: Called with (index, embedder), and with `model` and `settings` where it has these parameters.
        settings: The dataclass whose fields are its options; None if it has none.
        needs_model: It answers nothing without a chat model.
        verifier: Called like `factory`, makes what verifies claims; None if it verifies none.
        store: Called with (graph, embedder, model, settings); asks a database, without an index.
        ranks_triples: It compares vectors of triples, which an index may lack until the first question.

    """

    factory: str
    settings: str | None = None
    verifier: str | None = None
    store: str | None = None
    needs_model: bool = False
    ranks_triples: bool = False

    def settings_class(self, *, claims: bool = False) -> type | None:
        """Import the dataclass of the settings; without a model there are none for claims."""
        place = None if claims and not (self.verifier and self.needs_model) else self.settings
        return cast(type, imported(place, "settings")) if place else None


def _spec(folder: str, factory: str, settings: str, **fields: Any) -> MethodSpec:  # noqa: ANN401
    """The spec of a method in a folder."""
    fields = {"needs_model": True} | fields
    return MethodSpec(f"clew.methods.{folder}.{factory}", f"clew.methods.settings:{settings}", **fields)


_BY_QUERY = "clew.methods.auto.choose:VerifyByQuery"
_QUERIES = "clew.methods.synaptiqa.method"
METHODS: dict[str, MethodSpec] = {
    "auto": _spec(
        "auto", "method:make_auto", "AutoSettings", needs_model=False, verifier="clew.claims.verify:Verify"
    ),
    "simgrag": _spec(
        "simgrag", "method:SimGRAG", "SimgragSettings",
        verifier="clew.methods.simgrag.method:VerifyWithModel",
    ),
    "kg-rag": _spec("kg_rag", "method:KgRag", "KgRagSettings", ranks_triples=True),
    "llm": _spec("baselines", "method:Llm", "LlmSettings"),
    "llm-qd": _spec("baselines", "method:LlmQd", "LlmSettings"),
    "kaping": _spec("baselines", "method:Kaping", "KapingSettings", ranks_triples=True),
    "triple-rag": _spec("baselines", "method:TripleRag", "TripleRagSettings"),
    "vector-rag": _spec("baselines", "method:VectorRag", "VectorRagSettings", ranks_triples=True),
    "kg-retrieval": _spec("baselines", "method:KgRetrieval", "KgRetrievalSettings"),
    "kg-gpt": _spec("baselines", "method:KgGpt", "KgGptSettings"),
    "synaptiqa": _spec(
        "synaptiqa", "method:make_synaptiqa", "SynaptiqaSettings", store=f"{_QUERIES}:SynaptiQA"
    ),
    "kg-query": _spec(
        "synaptiqa", "method:make_kg_query", "SynaptiqaSettings", store=f"{_QUERIES}:KgQuery"
    ),
    "walk-retrieve": _spec("walk_retrieve", "method:WalkRetrieve", "WalkRetrieveSettings"),
}  # fmt: skip

VERIFIERS = tuple(name for name, spec in METHODS.items() if spec.verifier is not None)


class Method(Protocol):
    """What answers questions over one open index."""

    @property
    def name(self) -> str:
        """The name that users give."""
        ...

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer or abstain; `entities` are names that the user says the question is about."""
        ...


class Verifier(Protocol):
    """What verifies claims against one open index."""

    @property
    def name(self) -> str:
        """The name that users give."""
        ...

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Give a verdict on a claim, part by part."""
        ...


MethodFactory = Callable[..., Method]
"""The class of a method, called with (index, embedder), and with `model` and `settings` if it takes them."""


def method_named(name: str | MethodFactory) -> MethodFactory:
    """The class of a method, by its name or by `module:class`; a class is itself. Raises UsageError."""
    if callable(name):
        return name
    if name in METHODS:
        return cast(MethodFactory, imported(METHODS[name].factory, "method"))
    if isinstance(cast("object", name), str) and is_plugin(name):
        return cast(MethodFactory, imported(name, "method"))
    raise UsageError(
        f"There is no method {name!r}. Methods are: {', '.join(METHODS)}; your own is MODULE:CLASS"
    )


def settings_of(name: str | MethodFactory) -> type | None:
    """Return the dataclass of a method's settings; of a user's own, that which its parameter names."""
    spec = METHODS.get(name) if isinstance(name, str) else None
    if spec is not None and spec.settings is not None:
        return spec.settings_class()
    factory = method_named(name)
    parameter = inspect.signature(factory).parameters.get("settings")
    # Looked up by name, as other names of an annotation may exist for type checkers only.
    names = re.findall(r"[A-Za-z_]\w*", "" if parameter is None else str(parameter.annotation))
    classes = (getattr(sys.modules[factory.__module__], each, None) for each in names)
    return next((t for t in classes if isinstance(t, type) and is_dataclass(t)), None)


def made_settings(name: str | MethodFactory, given: object, *, claims: bool = False) -> object:
    """Settings of a method, or of its `claims`, from a mapping; a dataclass is kept. Raises UsageError."""
    if given is None or is_dataclass(given):
        return given
    called = name if isinstance(name, str) else getattr(name, "__name__", "this method")
    spec = METHODS.get(called)
    kind = spec.settings_class(claims=True) if claims and spec is not None else settings_of(name)
    if not isinstance(given, Mapping):
        raise UsageError(f'Settings are a dict, as {{"k": 5}}, not {type(given).__name__}')
    values = cast("Mapping[str, Any]", given)
    if kind is None and values:
        raise UsageError(f'{called} has no setting "{next(iter(values))}". There are: none')
    return values if kind is None else made(kind, values, called)


def shown_name(name: str) -> str:
    """Return what answers call the method; a user's own may have a name beside that of its class."""
    return str(getattr(method_named(name), "name", name)) if is_plugin(name) else name


def ranks_triples(names: Iterable[str]) -> bool:
    """Tell whether one of some methods compares vectors of triples."""
    return any(name in METHODS and METHODS[name].ranks_triples for name in names)


def make_store_method(
    name: str,
    store: CypherStore,
    embedder: Embedder,
    model: ChatModel | None = None,
    settings: Any = None,  # noqa: ANN401
) -> Method:
    """Make a method that writes queries for a database; `auto` is the first of them.

    Raises UsageError: it needs an index, or has no model; StoreError: the schema cannot be read.
    """
    factories = {each: spec.store for each, spec in METHODS.items() if spec.store is not None}
    name = next(iter(factories)) if name == "auto" else name
    advice = f"make an index: clew index {store.name} -o NAME.clew"
    if name not in factories:
        method_named(name)
        raise UsageError(f"A database is asked by {' and '.join(factories)}. For {name} {advice}")
    if model is None:
        raise UsageError(
            f"To ask a database, {name} needs a chat model. Name one with --llm, as in "
            f"--llm ollama/llama3.1, or {advice}"
        )
    from clew.methods.synaptiqa.queried import QueriedGraph

    factory = cast("Any", imported(factories[name], "method"))
    return cast(Method, factory(QueriedGraph(store, embedder), embedder, model, settings))


def make_method(
    name: str | MethodFactory,
    index: Index,
    embedder: Embedder,
    model: ChatModel | None = None,
    settings: Any = None,  # noqa: ANN401
) -> Method:
    """Make a method, with a chat model if it can use one. Raises UsageError: no such name, or no settings."""
    factory = method_named(name)
    parameters = inspect.signature(factory).parameters
    options: dict[str, Any] = {}
    if model is not None and "model" in parameters:
        options["model"] = model
    if settings is not None:
        if "settings" not in parameters:
            raise UsageError(f"The method {name} has no settings. Leave them out")
        options["settings"] = settings
    return factory(index, embedder, **options)


def make_verifier(
    name: str, index: Index, embedder: Embedder, model: ChatModel | None, settings: object
) -> Verifier:
    """Make a verifier: `auto` asks a model only where it cannot decide by itself. Raises UsageError."""
    if name not in VERIFIERS:
        raise UsageError(f"Claims are not verified by {name!r}. Methods are: {', '.join(VERIFIERS)}.")
    spec = METHODS[name]
    expected = spec.settings_class(claims=True)
    if settings is not None and (expected is None or not isinstance(settings, expected)):
        raise UsageError(f"{settings!r} are no settings of {expected.__name__ if expected else name}")
    verifier = cast("Any", imported(str(spec.verifier), "verifier"))
    if spec.needs_model:
        return verifier(index, embedder, model=model, settings=settings)
    by_query = None if model is None else cast("Any", imported(_BY_QUERY, "verifier"))(index, embedder, model)
    return verifier(index, embedder, by_query)


T = TypeVar("T")
OutcomeT = TypeVar("OutcomeT", Answer, Verification)


class Asks:
    """Asks methods within `bounds`, each made when it is first needed; a context manager."""

    def __init__(self) -> None:
        self.bounds = Bounds()
        self._made: dict[Hashable, list[tuple[ChatModel | None, object, Any]]] = {}
        self._locks = {"method": RLock(), "verifier": RLock()}
        self._models = NamedModels()

    def _make_method(self, name: str | MethodFactory, model: ChatModel | None, settings: object) -> Method:
        raise NotImplementedError

    def _make_verifier(self, name: str, model: ChatModel | None, settings: object) -> Verifier:
        raise NotImplementedError

    def _method(self, name: str | MethodFactory, model: ChatModel | None, settings: object) -> Method:
        made = made_settings(name, settings)
        return self._once("method", name, model, made, lambda: self._make_method(name, model, made))

    def _verifier(self, name: str, model: ChatModel | None, settings: object) -> Verifier:
        made = made_settings(name, settings, claims=True)
        return self._once("verifier", name, model, made, lambda: self._make_verifier(name, model, made))

    def _once(
        self,
        kind: Literal["method", "verifier"],
        name: Hashable,
        model: ChatModel | None,
        settings: object,
        make: Callable[[], T],
    ) -> T:
        """What was made for a name, a model and settings, or is now; threads share it."""
        with self._locks[kind]:
            entries = self._made.setdefault((kind, name), [])
            for made_with, own_settings, made in entries:
                if made_with is model and own_settings == settings:
                    return made
            entries.append((model, settings, make()))
            del entries[:-4]  # a caller who alternates between settings gets what exists
            return entries[-1][2]

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
        `settings` are those of SimGRAG, also as a dict.

        Raises UsageError for an empty or endless claim, an unknown method or a database, LlmError if the
        model fails.
        """
        claim = clean_question(claim, "claim")
        if not isinstance(cast("object", closed_world), bool):
            raise UsageError(f"`closed_world` is True or False, not {closed_world!r:.80}")
        verifier = self._verifier(method, self._models.model(model), settings)

        def out_of_time(abstention: Abstention) -> Verification:
            return Verification(
                claim, "not_enough_info", method=verifier.name, id=id, abstained=abstention, complete=False
            )

        return self._in_time(lambda: verifier.verify(claim, id=id, closed_world=closed_world), out_of_time)

    def _answered(self, method: Method, question: str, id: str | None, work: Callable[[], Answer]) -> Answer:
        """The answer to a question, or an abstention if it takes too long."""

        def out_of_time(abstention: Abstention) -> Answer:
            return Answer(question, abstained=abstention, method=method.name, complete=False, id=id)

        return self._in_time(work, out_of_time)

    def _in_time(self, work: Callable[[], OutcomeT], otherwise: Callable[[Abstention], OutcomeT]) -> OutcomeT:
        """What `work` returns in time, else `otherwise`; making machine code does not count."""
        compiled_before = COMPILING.milliseconds
        with bounded(self.bounds):
            try:
                result = work()
            except OutOfTime:
                problem = f"it takes more than {self.bounds.seconds:g} seconds"
                return otherwise(Abstention("budget", f"{problem}. Ask for less, or allow more (--seconds)"))
        compiling = COMPILING.milliseconds - compiled_before
        if not compiling:
            return result
        total = max(result.timings_ms["total"] - compiling, 0.0)
        times = {**result.timings_ms, "compile": round(compiling, 3), "total": round(total, 3)}
        return replace(result, timings_ms=times)

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

    def close(self) -> None:
        """Drop the methods, verifiers and models."""
        self._made.clear()
        self._models.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
