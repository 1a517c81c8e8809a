"""Methods and verifiers of an index, asked of a graph database without one.

A small database is copied into an index that is used until the database changes (`database_copy.py`). Of a
large one each question or claim gets an index of what is near it: the nodes that it names are found in the
database, all within some hops of them are fetched (`stores/neighbourhood.py`), indexed in memory and asked.
Those of the last ones are kept until the database changes. What was not fetched makes the answer incomplete,
and its notes say what it was; what names nothing is not answered.
"""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Generic, TypeVar

from clew.graph.build.build import build_graph
from clew.index.in_memory import index_in_memory
from clew.index.store.directory import Excerpt, Index
from clew.methods.database_copy import CopiedIndex, DatabaseCopy
from clew.methods.registry import METHODS, Method, Verifier, make_method, make_verifier
from clew.stores.neighbourhood import FetchedEdges, Fetcher, FetchLimits
from clew.types import Abstention, Answer, Step, Verification

if TYPE_CHECKING:
    from clew.llm.types import ChatModel

MOST_NEIGHBOURHOODS = 32
"""Neighbourhoods whose indexes are kept."""
CLAIM_HOPS = 2
"""Steps from what a claim names to what decides it, where no model writes a longer pattern."""
NOTHING_NAMED = "no node of the database has a name that stands in the "
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NearTarget(Generic[T]):
    """The method or verifier that one text asks, over an index of the copy or of what is near its names.

    `fetched` is None of a copy, which is whole; `target` is None where the text names nothing. `step` says
    what was done for it, in `milliseconds`.
    """

    target: T | None
    fetched: FetchedEdges | None
    step: Step
    milliseconds: float

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return self.fetched is None or self.fetched.complete

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out."""
        return () if self.fetched is None else self.fetched.notes

    def times(self, timings: dict[str, float]) -> dict[str, float]:
        """The times of an answer, in ms, with what was spent before it on the database."""
        total = round(timings.get("total", 0.0) + self.milliseconds, 3)
        return {"fetch": round(self.milliseconds, 3), **timings, "total": total}


class NearIndexes(Generic[T]):
    """Makes a method or a verifier over the copy of a database, or over what is near the names in a text."""

    def __init__(
        self,
        copy: DatabaseCopy,
        make: Callable[[Index], T],
        *,
        triple_vectors: bool = False,
        limits: FetchLimits | None = None,
    ) -> None:
        self._copy, self._store, self._make = copy, copy.store, make
        self._triple_vectors, self._limits = triple_vectors, limits
        self._copy_target: tuple[CopiedIndex, T] | None = None
        self._fetcher: Fetcher | None = None
        self._state = ""
        self._cached: OrderedDict[tuple[str, ...], Future[tuple[FetchedEdges, T]]] = OrderedDict()
        self._lock = Lock()
        """Guards the cache; nothing is fetched or made while a thread holds it."""

    def of(self, text: str, entities: Sequence[str] = ()) -> NearTarget[T]:
        """The target that a text asks; `entities` are names beside those in it. Raises StoreError."""
        began, trips_before = perf_counter(), self._store.trips
        copied_index = self._copy.current()
        if copied_index is not None:
            copy_target = self._copy_target
            if copy_target is None or copy_target[0] is not copied_index:
                self._copy_target = copy_target = copied_index, self._make(copied_index.index)
            triples = copied_index.index.manifest.about.counts["triples"]
            detail = {"triples": triples, "round trips": self._store.trips - trips_before}
            return NearTarget(copy_target[1], None, Step("copy of the database", detail), _since(began))
        fetcher = self._fetcher = self._fetcher or Fetcher(self._store, self._limits)
        fetched = fetcher.nodes_named_in(text, entities)
        if not fetched.topic_entities:
            return NearTarget(
                None, fetched, Step("neighbourhood", {"round trips": fetched.trips}), _since(began)
            )
        neighbourhood, target = self._near(fetcher, fetched)
        detail = {
            "nodes": len(neighbourhood.nodes),
            "edges": len(neighbourhood.edges),
            "round trips": fetched.trips,
        }
        return NearTarget(target, neighbourhood, Step("neighbourhood", detail), _since(began))

    def _near(self, fetcher: Fetcher, fetched: FetchedEdges) -> tuple[FetchedEdges, T]:
        """The neighbourhood of what is named, and what one of the threads that ask for it makes over it."""
        with self._lock:
            if fetched.state != self._state:
                self._cached.clear()
                self._state = fetched.state
            future = self._cached.get(fetched.topic_entities)
            is_first = future is None
            if future is None:
                future = self._cached[fetched.topic_entities] = Future()
                if len(self._cached) > MOST_NEIGHBOURHOODS:
                    self._cached.popitem(last=False)
            self._cached.move_to_end(fetched.topic_entities)
        if is_first:
            try:
                future.set_result(self._fetch(fetcher, fetched))
            except BaseException as error:
                with self._lock:
                    if self._cached.get(fetched.topic_entities) is future:
                        del self._cached[fetched.topic_entities]
                future.set_exception(error)
                raise
        return future.result()

    def _fetch(self, fetcher: Fetcher, fetched: FetchedEdges) -> tuple[FetchedEdges, T]:
        with tempfile.TemporaryDirectory(prefix="clew-near-") as folder:
            fetcher.fetch(fetched)
            graph, _ = build_graph([fetcher.write(fetched, Path(folder))], hints=self._copy.hints)
        excerpt, vectors = Excerpt(fetched.whole_hops > 0, fetched.whole_hops > 1), self._triple_vectors
        index = index_in_memory(graph, self._copy.embedder, triple_vectors=vectors, excerpt=excerpt)
        return fetched, self._make(index)


class NearMethod:
    """A method that answers from a copy of a small database, else from what is near what a question names."""

    def __init__(
        self, name: str, copy: DatabaseCopy, model: ChatModel | None = None, settings: object = None
    ) -> None:
        self.name = name
        make = partial(make_method, name, embedder=copy.embedder, model=model, settings=settings)
        ranks = METHODS[name].ranks_triples
        self._indexes: NearIndexes[Method] = NearIndexes(copy, make, triple_vectors=ranks)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer or abstain. Raises StoreError if the database fails, LlmError if the model does."""
        near = self._indexes.of(question, entities)
        if near.target is None:
            abstained = Abstention("no_entity", f"{NOTHING_NAMED}question")
            return Answer(question, abstained=abstained, method=self.name, id=id, notes=near.notes)
        answer = near.target.answer(question, id=id, entities=entities)
        return replace(
            answer,
            complete=answer.complete and near.complete,
            notes=(*answer.notes, *near.notes),
            timings_ms=near.times(dict(answer.timings_ms)),
            steps=(near.step, *answer.steps),
        )


class NearVerifier:
    """Verifies claims against a copy of a small database, else against what is near what a claim names.

    What is not there is not so, in a closed world, only where all edges of what is named were fetched.
    """

    def __init__(
        self, name: str, copy: DatabaseCopy, model: ChatModel | None = None, settings: object = None
    ) -> None:
        self.name = name
        make = partial(make_verifier, name, embedder=copy.embedder, model=model, settings=settings)
        limits = FetchLimits(hops=CLAIM_HOPS) if model is None else None
        self._indexes: NearIndexes[Verifier] = NearIndexes(copy, make, limits=limits)

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Give a verdict. Raises StoreError if the database fails, LlmError if the model does."""
        near = self._indexes.of(claim)
        if near.target is None:
            abstained = Abstention("no_entity", f"{NOTHING_NAMED}claim")
            return Verification(
                claim, "not_enough_info", method=self.name, id=id, abstained=abstained, notes=near.notes,
                steps=(near.step,),
            )  # fmt: skip
        whole = near.fetched is None or near.fetched.whole_hops > 0
        verification = near.target.verify(claim, id=id, closed_world=closed_world and whole)
        return replace(
            verification,
            complete=verification.complete and near.complete,
            notes=(*verification.notes, *near.notes),
            timings_ms=near.times(dict(verification.timings_ms)),
            steps=(near.step, *verification.steps),
        )


def _since(began: float) -> float:
    """Milliseconds."""
    return (perf_counter() - began) * 1000
