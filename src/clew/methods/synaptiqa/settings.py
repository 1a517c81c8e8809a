"""Settings of SynaptiQA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from clew.errors import UsageError
from clew.methods.options import check_options, option

if TYPE_CHECKING:
    from clew.methods.synaptiqa.write_query_llm import Solved

PARTS = ("clean", "names", "directions", "values")
"""Parts of the query optimisation (section III.B) that an ablation may leave out."""


@dataclass(frozen=True)
class SynaptiqaSettings:
    """How SynaptiQA works; `examples` are solved questions. Raises UsageError for values out of range."""

    shots: int = option(5, "examples in a prompt", least=0)
    schema_tokens: int = option(1_500, "tokens of the schema in a prompt", least=100)
    repairs: int = option(2, "times that a query is asked for again", least=0)
    chooser: Literal["llm", "similarity"] = option(
        "llm", "who replaces names that the graph lacks", choices=("llm", "similarity")
    )
    clean: Literal["needed", "always"] = option(
        "needed", "when the model cleans a query", choices=("needed", "always")
    )
    without: str = option("", f"corrections to leave out, with commas: {', '.join(PARTS)}")
    allow_ungrounded: bool = option(False, "let the model answer by itself where the graph does not")
    most_relations: int = option(
        30_000, "relations of a graph that is asked; its store takes 2 ms for each", least=1, offered=False
    )
    examples: tuple[Solved, ...] = option(
        (),
        "solved questions of this graph",
        kind=str,
        reads="clew.methods.synaptiqa.write_query_llm:read_solved",
    )

    def __post_init__(self) -> None:
        check_options("synaptiqa", self)
        wrong = sorted(self.left_out - set(PARTS))
        if wrong:
            raise UsageError(f"There is no part {wrong[0]!r} to leave out. Parts are: {', '.join(PARTS)}")

    @property
    def left_out(self) -> frozenset[str]:
        """The parts that are left out."""
        return frozenset(part.strip() for part in self.without.split(",") if part.strip())
