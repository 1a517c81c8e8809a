"""What the steps after matching hand on: answers with their proof, or why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.graph.graph import Graph
from clew.reading.rules.reading import Reading
from clew.types import Abstention, AnswerEntity, Citation, Pattern


@dataclass(frozen=True, slots=True)
class Found:
    """Answers and their proof, or an abstention; the fields are those of `types.Answer`."""

    answers: tuple[AnswerEntity, ...] = ()
    citations: tuple[Citation, ...] = ()
    text: str = ""
    pattern: Pattern | None = None
    abstained: Abstention | None = None
    complete: bool = True
    notes: tuple[str, ...] = ()
    last: int | None = None
    """The step that arrives at the answers, where a reading was answered from."""


def text_of(answers: Sequence[AnswerEntity]) -> str:
    """The answers in one line."""
    return " · ".join(a.label for a in answers)


def nothing(graph: Graph, reading: Reading, pattern: Pattern | None = None) -> Found:
    """The abstention where the graph holds nothing that fits a reading."""
    names = " and ".join(f'"{graph.labels[a.entity]}"' for a in reading.anchors)
    detail = f"it records nothing for {names} by {draw(graph, reading)}"
    return Found(pattern=pattern, abstained=Abstention("empty_result", detail))


def draw(graph: Graph, reading: Reading) -> str:
    """A reading's relations as arrows: *←directed_by─ ─starring→*."""
    branches = [_arrows(graph, branch) for branch in reading.branches]
    return " and ".join(branches) + (" then " + _arrows(graph, reading.trunk) if reading.trunk else "")


def _arrows(graph: Graph, steps: Sequence[int]) -> str:
    named = [(graph.relation_labels[step // 2], step % 2) for step in steps]
    return " ".join(f"←{name}─" if back else f"─{name}→" for name, back in named)
