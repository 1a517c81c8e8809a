"""Settings of KG-RAG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from clew.methods.options import check_options, option

if TYPE_CHECKING:
    from clew.methods.kg_rag.decompose import Demonstration

Frontier = Literal["question", "answers"]
Handed = Literal["facts", "sentences"]
"""What goes on to the next sub-question: what is proved, or the sentence of the model."""


@dataclass(frozen=True, slots=True)
class KgRagSettings:
    """How KG-RAG works: N `hops`, K triples for a sub-question, and what goes on from one to the next.

    `answer_hops` are those around an earlier answer. Raises UsageError for values out of range.
    """

    hops: int = option(3, "hops around the entities", least=1)
    k: int = option(30, "triples that are read", least=1)
    frontier: Frontier = option(
        "answers", "where later sub-questions look for triples", choices=("question", "answers")
    )
    handed: Handed = option(
        "facts", "what of a sub-answer goes on to the next sub-question", choices=("facts", "sentences")
    )
    lists: bool = option(True, "whole lists are read beside the nearest triples", offered=False)
    schema: Literal["typed", "none"] = option(
        "typed",
        "what the graph records, shown in the first prompt; none is the papers' letter",
        choices=("typed", "none"),
    )
    directed: bool = option(False, "look for triples from head to tail alone")
    answer_hops: int = option(1, "hops around an earlier answer", least=1, offered=False)
    seed: int = option(0, "seed of the model's sampling")
    temperature: float = option(0.3, "temperature of the model's sampling", least=0, most=2)
    shots: int = option(3, "examples in a prompt", least=0)
    examples: tuple[Demonstration, ...] | None = option(
        None,
        "worked examples for this graph",
        kind=str,
        reads="clew.methods.kg_rag.decompose:read_demonstrations",
    )

    def __post_init__(self) -> None:
        check_options("kg-rag", self)
