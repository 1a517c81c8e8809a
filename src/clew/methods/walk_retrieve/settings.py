"""Settings of Walk&Retrieve."""

from __future__ import annotations

from dataclasses import dataclass

from clew.methods.options import check_options, option

MOST_K = 100


@dataclass(frozen=True, slots=True)
class WalkRetrieveSettings:
    """`k` nodes and `walks` of each (section 3); `paths` of the question's entities.

    With 0 paths, nodes are those nearest to the question alone, as in the paper. Raises UsageError for
    values out of range.
    """

    k: int = option(3, "nodes, and walks of each", least=1, most=MOST_K)
    walks: int | None = option(
        None, "walks of each node that are read", kind=int, least=1, most=MOST_K, unset="as --k"
    )
    paths: int = option(16, "relation paths that are read too; 0 is the paper's letter", least=0, most=MOST_K)

    def __post_init__(self) -> None:
        check_options("walk-retrieve", self)
