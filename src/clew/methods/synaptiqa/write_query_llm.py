"""The `write query` step with a model: generation, cleaning, repair (SynaptiQA, section III.A and B)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.llm.prompting import Sampling, Talk, as_data, prompt_named, query_text
from clew.methods.synaptiqa.history import Solved
from clew.methods.synaptiqa.schema_slice import SchemaSlice

_SAMPLING = Sampling(temperature=0.0, max_tokens=512)
_LONGEST = 4_000
"""Characters of a query that a later prompt shows."""


@dataclass(frozen=True)
class QueryWriter:
    """Asks a model for queries; what it replies is text, to be parsed and guarded."""

    talk: Talk
    schema: SchemaSlice

    def write(self, question: str, solved: Sequence[Solved]) -> str:
        """Return the model's reply to a question. Raises LlmError."""
        return self.talk.ask(
            prompt_named("clew.methods.synaptiqa", "write"),
            _SAMPLING,
            SCHEMA=str(self.schema),
            SOLVED="\n".join(_shot(each) for each in solved) or "(none)",
            QUESTION=as_data(question),
        )

    def clean(self, text: str, problem: str) -> str:
        """Return what the model makes of a reply that does not parse. Raises LlmError."""
        return self.talk.ask(
            prompt_named("clew.methods.synaptiqa", "clean"),
            _SAMPLING,
            TEXT=_query(text),
            PROBLEM=as_data(problem),
        )

    def repair(self, question: str, query: str, problem: Sequence[str]) -> str:
        """Return the model's next query after one that failed, or found nothing. Raises LlmError."""
        return self.talk.ask(
            prompt_named("clew.methods.synaptiqa", "repair"),
            _SAMPLING,
            SCHEMA=str(self.schema),
            QUESTION=as_data(question),
            QUERY=_query(query),
            PROBLEM="\n".join(query_text(line) for line in problem),
        )


def _shot(solved: Solved) -> str:
    return f"Question: {as_data(solved.question)}\nCypher: {query_text(solved.query)}"


def _query(text: str) -> str:
    """A query as data: its arrows stay, a tag that could end the block does not."""
    return text[:_LONGEST].replace("</", "‹/")
