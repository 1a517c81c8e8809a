"""One reading of a question: the names in it, and the steps from them to the answer."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from clew.reading.rules.comparison import Span


@dataclass(frozen=True, slots=True)
class Anchor:
    """A mention read as one entity.

    `cost` of doing so; `ordinary`: its words are more likely just words; `ways`: the steps that can be walked
    from the entity.
    """

    span: Span
    entity: int
    cost: float
    text: str
    how: str
    ordinary: bool = False
    ways: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """Branches of steps (see `graph.schema`) from each anchor to where they meet, then the trunk.

    `type`: the declared type that the question asks for, where others stand at the end of the path too.
    """

    anchors: tuple[Anchor, ...]
    branches: tuple[tuple[int, ...], ...]
    trunk: tuple[int, ...]
    cost: float
    type: int | None = None

    @property
    def steps(self) -> tuple[int, ...]:
        """All steps, branch by branch, then the trunk."""
        return (*(s for b in self.branches for s in b), *self.trunk)

    @property
    def nodes(self) -> list[tuple[int, ...]]:
        """For every node but the names, the ends that it has on the paths."""
        meeting = tuple(branch[-1] ^ 1 for branch in self.branches)
        inner = [tuple({s ^ 1, after}) for path in self.branches for s, after in pairwise(path)]
        trunk = [tuple({s ^ 1, after}) for s, after in pairwise(self.trunk)]
        first = (*meeting, self.trunk[0]) if self.trunk else meeting
        last = [(self.trunk[-1] ^ 1,)] if self.trunk else []
        return [*inner, first, *trunk, *last]

    @property
    def doubtful(self) -> bool:
        """Whether it takes an ordinary word for a name."""
        return any(a.ordinary for a in self.anchors)

    @property
    def last(self) -> int:
        """The step that arrives at the answer."""
        return self.trunk[-1] if self.trunk else self.branches[0][-1]
