"""Methods of an index, asked of a Neo4j database without one: each question gets an index of what is near it.

The nodes that a question names are found in the database, all within some hops of them are fetched
(`stores/neighbourhood.py`), indexed and asked. Those of the last questions are kept. What was not fetched
makes the answer incomplete, and its notes say what it was; a question that names nothing is not answered.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any

from clew.index.build import build_index
from clew.index.store.directory import Index, open_index
from clew.methods.registry import Method, make_method
from clew.stores.neighbourhood import Fetcher, Neighbourhood
from clew.text.embedder import Embedder
from clew.types import Abstention, Answer, Step

if TYPE_CHECKING:
    from clew.llm.types import ChatModel
    from clew.stores.neo4j import Neo4jStore

MOST_KEPT = 32
"""Neighbourhoods whose indexes are kept."""


class NearMethod:
    """A method that answers each question from the neighbourhood of what it names."""

    def __init__(
        self,
        name: str,
        store: Neo4jStore,
        embedder: Embedder,
        model: ChatModel | None = None,
        settings: Any = None,  # noqa: ANN401
    ) -> None:
        self.name, self._embedder, self._model, self._settings = name, embedder, model, settings
        self._fetcher = Fetcher(store)
        self._folder = tempfile.mkdtemp(prefix="clew-near-")
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._kept: OrderedDict[tuple[int, ...], tuple[Neighbourhood, Index, Method]] = OrderedDict()
        self._lock = Lock()

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer or abstain. Raises StoreError if the database fails, LlmError if the model does."""
        began = perf_counter()
        found = self._fetcher.named(question, entities)
        if not found.seeds:
            detail = "no node of the database has a name that stands in the question"
            abstained = Abstention("no_entity", detail)
            return Answer(question, abstained=abstained, method=self.name, id=id, notes=found.notes)
        near, method = self._near(found)
        fetched = (perf_counter() - began) * 1000
        answer = method.answer(question, id=id, entities=entities)
        times = {"fetch": round(fetched, 3), **answer.timings_ms}
        times["total"] = round(times.get("total", 0.0) + fetched, 3)
        detail = {"nodes": len(near.nodes), "edges": len(near.edges), "round trips": found.trips}
        return replace(
            answer,
            complete=answer.complete and not (near.cut or near.hubs),
            notes=(*answer.notes, *near.notes),
            timings_ms=times,
            steps=(Step("neighbourhood", detail), *answer.steps),
        )

    def _near(self, found: Neighbourhood) -> tuple[Neighbourhood, Method]:
        """The neighbourhood of the nodes that are named, and the method over its index."""
        with self._lock:
            held = self._kept.get(found.seeds)
            if held is None:
                held = self._kept[found.seeds] = self._made(found)
                if len(self._kept) > MOST_KEPT:
                    _, (_, old, _) = self._kept.popitem(last=False)
                    shutil.rmtree(old.path.parent, ignore_errors=True)
            self._kept.move_to_end(found.seeds)
            return held[0], held[2]

    def _made(self, found: Neighbourhood) -> tuple[Neighbourhood, Index, Method]:
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        data = folder / "data"
        data.mkdir()
        self._fetcher.fetch(found)
        self._fetcher.write(found, data)
        build_index([data], folder / "near.clew", embedder=self._embedder)
        index = open_index(folder / "near.clew")
        return found, index, make_method(self.name, index, self._embedder, self._model, self._settings)
