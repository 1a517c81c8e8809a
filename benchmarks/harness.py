"""Shared by the benchmarks: open graphs, ask sets of questions, count."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from questions import Item

from clew.index.cache import cached_index
from clew.methods.built_in import BuiltInReader
from clew.methods.registry import Method
from clew.methods.settings import AutoSettings
from clew.text.embedders import StaticEmbedder

CACHE = Path.home() / ".cache" / "clew-benchmarks"


@lru_cache(maxsize=1)
def shipped_embedder() -> StaticEmbedder:
    """The embedder that ships, loaded once."""
    return StaticEmbedder.load()


def open_built_in(
    source: Path, types: Path | None = None, aliases: Path | None = None, settings: AutoSettings | None = None
) -> BuiltInReader:
    """The default method over a graph file; side files beside it are taken."""
    opened = cached_index(
        [source], cache_dir=CACHE, embedder=shipped_embedder(), types=types, aliases=aliases
    )
    return BuiltInReader(opened.index, shipped_embedder(), settings)


@dataclass
class Count:
    """What came of a set of questions."""

    questions: int = 0
    hits: int = 0
    exact: int = 0
    right_reason: int = 0
    ungrounded: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    milliseconds: list[float] = field(default_factory=list)

    def row(self, name: str, *, absent: bool = False) -> str:
        """One line of a table."""
        n = max(self.questions, 1)
        p50, p95 = np.percentile(self.milliseconds, [50, 95]) if self.milliseconds else (0.0, 0.0)
        times = f"{p50:.1f} / {p95:.1f}"
        abstained = sum(self.reasons.values())
        if absent:
            shares = (abstained, self.right_reason)
            cells = [*(f"{100 * s / n:.1f}" for s in shares), times]
        else:
            shares = (self.hits, self.exact, abstained, self.questions - self.hits - abstained)
            cells = [*(f"{100 * s / n:.2f}" for s in shares), times, str(self.ungrounded)]
        return "| " + " | ".join([name, str(self.questions), *cells]) + " |"


def ask_all(method: Method, items: Iterable[Item], running_count: Count | None = None) -> Count:
    """Ask every question; an answer counts as ungrounded if a citation's triple is not in the graph.

    Gold may be names of the source or labels. Counts are added to `running_count`.
    """
    count = running_count or Count()
    for item in items:
        began = time.perf_counter()
        answer = method.answer(item.question)
        count.milliseconds.append((time.perf_counter() - began) * 1000)
        entities, labels = {a.entity for a in answer.answers}, {a.label for a in answer.answers}
        count.questions += 1
        count.hits += bool((entities | labels) & item.gold)
        count.exact += bool(item.gold) and item.gold in (entities, labels)
        if answer.abstained is not None:
            count.reasons[answer.abstained.reason] += 1
            count.right_reason += answer.abstained.reason in item.reasons
        cited = {c.answer for c in answer.citations if c.triples and all(t >= 0 for t in c.triple_ids)}
        count.ungrounded += bool(entities - cited)
    return count
