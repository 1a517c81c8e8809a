"""Learn from a user's questions for one index, and keep what was learned in it if it helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clew.errors import InputError
from clew.index.store.directory import Index
from clew.methods.built_in import built_in_reader
from clew.reading.adapter import graph_digest, model_digest, write_adapter
from clew.reading.feedback import Feedback, Usable, usable
from clew.reading.fitting import LEAST_QUESTIONS, Fitted, Tell, fit
from clew.reading.ranker import MODEL
from clew.text.embedder import Embedder


@dataclass(frozen=True, slots=True)
class FittedIndex:
    """What was learned for an index; `path` is the file that it is kept in, None if it did not help."""

    index: Path
    usable: Usable
    result: Fitted
    path: Path | None
    seed: int


def fit_index(
    index: Index, embedder: Embedder, feedback: Sequence[Feedback], seed: int, tell: Tell
) -> FittedIndex:
    """Learn from questions; what was learned before is replaced, unless this does not help.

    Raises InputError (too few can be learned from), IndexAccessError (the index may not be written), and
    EmbedderError (the shipped model cannot be opened).
    """
    learnable = usable(feedback, index.names)
    if len(learnable.feedback) < LEAST_QUESTIONS:
        raise InputError(
            f"{len(learnable.feedback)} of {len(feedback)} questions can be learned from, and at least "
            f"{LEAST_QUESTIONS} are needed ({len(learnable.unknown)} have an answer that the graph does not "
            f"have, {len(learnable.contradicting)} contradict each other, {len(learnable.repeated)} stand "
            f"there twice)"
        )
    built_in = built_in_reader(index, embedder)
    digests = graph_digest(index.graph), model_digest(MODEL)
    result = fit(
        replace(built_in.reader, adapter=None), learnable.feedback, digests, built_in.confidence, seed, tell
    )
    path = None if result.adapter is None else write_adapter(index.path, result.adapter)
    return FittedIndex(index.path, learnable, result, path, seed)
