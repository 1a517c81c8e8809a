"""Methods of an index, asked of a graph database without one.

A small database is copied into an index that is used until the database changes (`database_copy.py`). Of a
large one each question gets an index of what is near it: the nodes that a question names are found in the
database, all within some hops of them are fetched (`stores/neighbourhood.py`), indexed in memory and asked.
Those of the last questions are kept until the database changes. What was not fetched makes the answer
incomplete, and its notes say what it was; a question that names nothing is not answered.
"""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any

from clew.graph.build.build import build_graph
from clew.index.in_memory import index_in_memory
from clew.methods.database_copy import Copied, DatabaseCopy
from clew.methods.registry import METHODS, Method, make_method
from clew.stores.neighbourhood import FetchedEdges, Fetcher
from clew.types import Abstention, Answer, Step

if TYPE_CHECKING:
    from clew.llm.types import ChatModel

MOST_NEIGHBOURHOODS = 32
"""Neighbourhoods whose indexes are kept."""
_Seeds = tuple[str, ...]
_Near = tuple[FetchedEdges, Method]


class NearMethod:
    """A method that answers from a copy of a small database, else from what is near what a question names."""

    def __init__(
        self,
        name: str,
        copy: DatabaseCopy,
        model: ChatModel | None = None,
        settings: Any = None,  # noqa: ANN401
    ) -> None:
        self.name, self._model, self._settings = name, model, settings
        self._copy, self._store, self._embedder = copy, copy.store, copy.embedder
        self._of_copy: tuple[Copied, Method] | None = None
        self._fetcher: Fetcher | None = None
        self._state = ""
        self._kept: OrderedDict[_Seeds, Future[_Near]] = OrderedDict()
        self._lock = Lock()
        """Of what is kept; nothing is fetched or made while it is held."""

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer or abstain. Raises StoreError if the database fails, LlmError if the model does."""
        began, before = perf_counter(), self._store.trips
        copied = self._copy.current()
        if copied is not None:
            method = self._method_of(copied)
            counts = copied.index.manifest.about.counts
            detail = {"triples": counts["triples"], "round trips": self._store.trips - before}
            fetched = (perf_counter() - began) * 1000
            answer = method.answer(question, id=id, entities=entities)
            return replace(
                answer,
                timings_ms=_with_fetch(answer, fetched),
                steps=(Step("copy of the database", detail), *answer.steps),
            )
        return self._answer_near(question, id, entities, began)

    def _method_of(self, copied: Copied) -> Method:
        held = self._of_copy
        if held is None or held[0] is not copied:
            made = make_method(self.name, copied.index, self._embedder, self._model, self._settings)
            self._of_copy = held = copied, made
        return held[1]

    def _answer_near(self, question: str, id: str | None, entities: Sequence[str], began: float) -> Answer:
        fetcher = self._fetcher = self._fetcher or Fetcher(self._store)
        found = fetcher.nodes_named_in(question, entities)
        if not found.topic_entities:
            detail = "no node of the database has a name that stands in the question"
            abstained = Abstention("no_entity", detail)
            return Answer(question, abstained=abstained, method=self.name, id=id, notes=found.notes)
        near, method = self._near(fetcher, found)
        fetched = (perf_counter() - began) * 1000
        answer = method.answer(question, id=id, entities=entities)
        detail = {"nodes": len(near.nodes), "edges": len(near.edges), "round trips": found.trips}
        return replace(
            answer,
            complete=answer.complete and not (near.cut or near.hubs),
            notes=(*answer.notes, *near.notes),
            timings_ms=_with_fetch(answer, fetched),
            steps=(Step("neighbourhood", detail), *answer.steps),
        )

    def _near(self, fetcher: Fetcher, found: FetchedEdges) -> _Near:
        """The neighbourhood of the nodes that are named, and the method over its index.

        Of threads that ask for the same, one makes it; others do not wait.
        """
        with self._lock:
            if found.state != self._state:
                self._kept.clear()
                self._state = found.state
            held = self._kept.get(found.topic_entities)
            mine = held is None
            if held is None:
                held = self._kept[found.topic_entities] = Future()
                if len(self._kept) > MOST_NEIGHBOURHOODS:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(found.topic_entities)
        if mine:
            try:
                held.set_result(self._made(fetcher, found))
            except BaseException as error:
                with self._lock:
                    if self._kept.get(found.topic_entities) is held:
                        del self._kept[found.topic_entities]
                held.set_exception(error)
                raise
        return held.result()

    def _made(self, fetcher: Fetcher, found: FetchedEdges) -> _Near:
        with tempfile.TemporaryDirectory(prefix="clew-near-") as folder:
            fetcher.fetch(found)
            graph, _ = build_graph([fetcher.write(found, Path(folder))], hints=self._copy.hints)
        spec = METHODS[self.name]
        index = index_in_memory(graph, self._embedder, triple_vectors=spec.ranks_triples)
        return found, make_method(self.name, index, self._embedder, self._model, self._settings)


def _with_fetch(answer: Answer, fetched: float) -> dict[str, float]:
    """The times of an answer, in ms, with what was spent before it on the database."""
    times = {"fetch": round(fetched, 3), **answer.timings_ms}
    times["total"] = round(times.get("total", 0.0) + fetched, 3)
    return times
