"""Solved questions: the few-shots of SynaptiQA (section III.A), those most similar to a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clew.errors import InputError
from clew.stores.history import History
from clew.text.embedder import Embedder


@dataclass(frozen=True, slots=True)
class Solved:
    """A question, and the query that answers it."""

    question: str
    query: str


def read_solved(path: Path) -> tuple[Solved, ...]:
    """Read the solved questions of a history, of all sources. Raises InputError, ParseError for a line."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such history. Make one: clew history import")
    return tuple(Solved(entry.question, entry.query) for entry in History(path).entries())


def most_similar(
    solved: Sequence[Solved], question: str, count: int, embedder: Embedder
) -> tuple[Solved, ...]:
    """Return the `count` solved questions most similar to a question, the most similar one last.

    A prompt shows them in this order, so that the best example stands nearest to the question.
    """
    if not solved or count < 1:
        return ()
    vectors = embedder.embed([each.question for each in solved])
    scores = vectors @ embedder.embed([question])[0]
    best = np.argsort(-scores, kind="stable")[:count]
    return tuple(solved[at] for at in reversed(best.tolist()))
