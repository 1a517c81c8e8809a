"""Settings of SimGRAG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from clew.errors import UsageError
from clew.methods.options import check_options, option

if TYPE_CHECKING:
    from clew.methods.simgrag.examples import Shots

FITTING_GSD = 1.0
"""GSD per edge up to which a pattern fits.

With `PatternDistances`, 101 of 109 ways to say a relation of four graphs are nearer to it with the built-in
embedder, 108 with MiniLM, and 1 and 3 of 24 relations that they lack (benchmarks/bound.py).
"""


@dataclass(frozen=True)
class SimgragSettings:
    """How SimGRAG works; `candidates` and what goes with it are the paper's cut of candidates (section C.1).

    `bound` is the GSD per edge above which a match does not fit. Raises UsageError for values out of range.
    """

    k: int = option(3, "subgraphs that are read", least=1)
    shots: int = option(12, "examples in a prompt", least=0)
    candidates: int | None = option(
        None, "the paper's cut of candidates k(n), as 16", kind=int, least=1, unset="unlimited"
    )
    candidate_relations: int | None = option(
        None, "with --candidates, those of a relation, k(r)", kind=int, least=1, unset="as many"
    )
    candidate_types: int | None = option(
        None, "with --candidates, types that an unknown is of, k(t)", kind=int, least=1, unset="16"
    )
    examples: Shots | None = option(
        None, "worked examples for this graph", kind=str, reads="clew.methods.simgrag.examples:read_shots"
    )
    schema: Literal["typed", "none"] = option(
        "typed",
        "what the graph records, shown in the first prompt; none is the papers' letter",
        choices=("typed", "none"),
    )
    bound: float = option(
        FITTING_GSD, "GSD per edge above which a match does not fit", least=0, offered=False
    )

    def __post_init__(self) -> None:
        check_options("simgrag", self)
        if self.candidates is None and (self.candidate_relations or self.candidate_types):
            raise UsageError("Relations and types are cut where candidates are. Give candidates too")
