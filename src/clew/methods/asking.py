"""What an open index and an open database share: methods are made once, and asked within bounds of time."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from clew.foundation.bounds import Bounds, OutOfTime, bounded
from clew.foundation.compiling import COMPILING
from clew.opening.environment import NamedModels
from clew.text.clean import clean_question
from clew.types import Abstention, Answer, Verification

if TYPE_CHECKING:
    from clew.llm.types import ChatModel
    from clew.methods.registry import Method, MethodFactory, Verifier

T = TypeVar("T")
OutcomeT = TypeVar("OutcomeT", Answer, Verification)
MOST_OF_ONE_NAME = 4
"""Entries of one name that are kept: a caller who alternates between settings gets a method that exists."""


class MethodCache(Generic[T]):
    """Methods or verifiers by name, model and settings; threads that ask for the same share one."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, list[tuple[T, ChatModel | None, object]]] = {}
        self._lock = RLock()

    def get(self, name: Hashable, model: ChatModel | None, settings: object, make: Callable[[], T]) -> T:
        """The method or verifier of a name, a model and settings; made if there is none."""
        with self._lock:
            entries = self._entries.setdefault(name, [])
            for entry in entries:
                if entry[1] is model and entry[2] == settings:
                    return entry[0]
            entries.append((make(), model, settings))
            del entries[:-MOST_OF_ONE_NAME]
            return entries[-1][0]

    def clear(self) -> None:
        """Drop all entries."""
        self._entries.clear()


def _settings(name: str | MethodFactory, settings: object, *, claims: bool = False) -> object:
    if settings is None:
        return None
    from clew.methods.registry import made_settings

    return made_settings(name, settings, claims=claims)


class Asks:
    """Asks methods within `bounds`, each made when it is first needed; a context manager."""

    def __init__(self) -> None:
        self.bounds = Bounds()
        self._methods: MethodCache[Method] = MethodCache()
        self._verifiers: MethodCache[Verifier] = MethodCache()
        self._models = NamedModels()

    def _make_method(self, name: str | MethodFactory, model: ChatModel | None, settings: object) -> Method:
        raise NotImplementedError

    def _make_verifier(self, name: str, model: ChatModel | None, settings: object) -> Verifier:
        raise NotImplementedError

    def _method(self, name: str | MethodFactory, model: ChatModel | None, settings: object) -> Method:
        made = _settings(name, settings)
        return self._methods.get(name, model, made, lambda: self._make_method(name, model, made))

    def _verifier(self, name: str, model: ChatModel | None, settings: object) -> Verifier:
        made = _settings(name, settings, claims=True)
        return self._verifiers.get(name, model, made, lambda: self._make_verifier(name, model, made))

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
        verifier = self._verifier(method, self._models.model(model), settings)

        def out_of_time(abstention: Abstention) -> Verification:
            return Verification(
                claim, "not_enough_info", method=verifier.name, id=id, abstained=abstention, complete=False
            )

        return self._in_time(lambda: verifier.verify(claim, id=id, closed_world=closed_world), out_of_time)

    def _in_time(self, work: Callable[[], OutcomeT], otherwise: Callable[[Abstention], OutcomeT]) -> OutcomeT:
        """What work returns in its time, to which making machine code does not count; else `otherwise`."""
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
        self._methods.clear()
        self._verifiers.clear()
        self._models.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
