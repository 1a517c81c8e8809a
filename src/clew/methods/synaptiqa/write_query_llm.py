"""The `write query` step with a model: generation, cleaning, repair (SynaptiQA, section III.A and B).

Few-shots are the solved questions most similar to a question (section III.A).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clew.errors import InputError
from clew.llm.prompting import Sampling, Talk, as_data, prompt_named, query_text
from clew.methods.synaptiqa.schema_slice import SchemaSlice
from clew.stores.history import History, SolvedEntry
from clew.text.embedder import Embedder

_SAMPLING = Sampling(temperature=0.0, max_tokens=512)
_LACKS = re.compile(r"[\s`*\"']*NOT IN (?:THIS|THE) GRAPH\b[\s:.*]*(.*)", re.IGNORECASE)
_LONGEST = 4_000
"""Characters of a query that a later prompt shows."""


def read_solved(path: Path) -> tuple[SolvedEntry, ...]:
    """Read the solved questions of a history, of all sources. Raises InputError, ParseError for a line."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such history. Make one: clew history import")
    return History(path).entries()


def most_similar(
    solved: Sequence[SolvedEntry], question: str, count: int, embedder: Embedder
) -> tuple[SolvedEntry, ...]:
    """Return the `count` solved questions most similar to a question, the best nearest to it: as the last."""
    if not solved or count < 1:
        return ()
    vectors = embedder.embed([each.question for each in solved])
    scores = vectors @ embedder.embed([question])[0]
    best = np.argsort(-scores, kind="stable")[:count]
    return tuple(solved[at] for at in reversed(best.tolist()))


@dataclass(frozen=True)
class QueryWriter:
    """Asks a model for queries; `names` is a line of other names of what the question names."""

    talk: Talk
    schema: SchemaSlice
    names: str = ""

    def write(self, question: str, solved: Sequence[SolvedEntry]) -> str:
        """Return the model's reply to a question. Raises LlmError."""
        shots = (f"Question: {as_data(s.question)}\nCypher: {query_text(s.query)}" for s in solved)
        values = {"SCHEMA": str(self.schema), "SOLVED": "\n".join(shots) or "(none)", "NAMES": self.names}
        prompt = prompt_named("clew.methods.synaptiqa", "write")
        return self.talk.ask(prompt, _SAMPLING, stop=(), **values, QUESTION=as_data(question))

    def clean(self, text: str, problem: str) -> str:
        """Return what the model makes of a reply that does not parse. Raises LlmError."""
        prompt = prompt_named("clew.methods.synaptiqa", "clean")
        return self.talk.ask(prompt, _SAMPLING, TEXT=_query(text), PROBLEM=as_data(problem))

    def repair(self, question: str, query: str, problem: Sequence[str]) -> str:
        """Return the model's next query after one that failed, or found nothing. Raises LlmError."""
        told = "\n".join(query_text(line) for line in problem)
        values = {"SCHEMA": str(self.schema), "QUERY": _query(query), "PROBLEM": told}
        prompt = prompt_named("clew.methods.synaptiqa", "repair")
        return self.talk.ask(prompt, _SAMPLING, stop=(), **values, QUESTION=as_data(question))


def lacks(reply: str) -> str | None:
    """What a reply says that the graph lacks; None for one that does not say so."""
    found = _LACKS.match(reply.strip())
    return None if found is None else (found[1].strip() or "it has nothing of the kind")


def _query(text: str) -> str:
    """A query as data: its arrows stay, a tag that could end the block does not."""
    return text[:_LONGEST].replace("</", "‹/")
