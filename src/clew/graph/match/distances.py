"""Distances between names of a pattern and of a graph: of embeddings, or of known ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from clew.errors import PatternError
from clew.graph.kernels import Array, fast_entry
from clew.types import PatternEdge, PatternNode

Mask = NDArray[np.bool_]
Distance = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class NearestEntities:
    """The entities nearest to a name: `entities` int32 [c], distinct, `distances` float [c], ascending.

    `exhausted` says that no other entity is a candidate; else those left out are at least as far as the last.
    """

    entities: NDArray[np.int32]
    distances: Distance
    exhausted: bool


LARGEST_DISTANCE = 32767
"""Of a query's components, which are rounded to int16."""
LARGEST_SUM = (1 << 31) // 127 - 4096
"""Of their absolute values, so that products with int8 add up in an int32."""


@dataclass(frozen=True, eq=False)
class Rounded:
    """A query as integers, so that its products with int8 rows are exact: `values` int16 [d] times `step`."""

    values: NDArray[np.int16]
    step: float

    @classmethod
    def of(cls, query: NDArray[np.float32]) -> Self:
        """Round `query` float32 [d]."""
        sizes = np.abs(query)
        step = max(float(sizes.max(initial=0)) / LARGEST_DISTANCE, float(sizes.sum()) / LARGEST_SUM)
        if not step:
            return cls(np.zeros(len(query), np.int16), 0.0)
        return cls(np.rint(query / np.float32(step)).astype(np.int16), step)

    @property
    def plain(self) -> NDArray[np.float64]:
        """Step and squared length, float64 [2]."""
        return np.array([self.step, float(np.square(self.values.astype(np.int64)).sum()) * self.step**2])


@dataclass(frozen=True, eq=False)
class Measure:
    """How far any entity is from a name: a search that comes upon an entity need not have it listed.

    `entities` int32 [c] have `distances` float [c]; any other is compared by `rows` int8 [N, d] times `scale`
    float32 [N] with `query`, or, without rows, `scale` are the distances; without both
    it is not allowed. They are those of `node_candidates`, to the last bit.
    """

    entities: NDArray[np.integer[Any]]
    distances: Distance
    rows: NDArray[np.int8] | None = None
    scale: NDArray[np.float32] | None = None
    query: Rounded | None = None


class Distances(Protocol):
    """Where the matcher gets distances from; all are non-negative, infinite means not allowed.

    A node with `entity` and an edge with `fixed` are never asked for: their distance is 0, nothing else is
    allowed.
    """

    def node_candidates(self, node: PatternNode, count: int) -> NearestEntities:
        """Find the `count` nearest entities of a known node, or more, or all there are.

        There may be fewer where more take long: who asks again gets them, until there are no more.
        """
        ...

    def relation_distances(self, edge: PatternEdge) -> Distance:
        """Distance of every relation, float [relations], from that of an edge with a known relation."""
        ...

    def prepare(self, nodes: Sequence[PatternNode], count: int) -> None:
        """Tell that all of `nodes` will be asked for so many candidates next: they may be found together."""

    def measure(self, node: PatternNode) -> Measure | None:
        """How far any entity is from a known node; None if only `node_candidates` tells."""
        return None

    def allowed(self, node: PatternNode) -> Mask | None:
        """Which entities, bool [entities], a typed unknown may be; None if any."""
        return None


class FixedDistances(Distances):
    """For patterns of fixed ids; `masks` (bool [entities], by type) restricts typed unknowns."""

    def __init__(self, masks: Mapping[str, Mask] | None = None) -> None:
        self.masks = {} if masks is None else masks

    def node_candidates(self, node: PatternNode, count: int) -> NearestEntities:
        """Raise a `PatternError`: the node has no entity."""
        raise PatternError(f"node {node.name!r} has no entity: link it first, or match by text")

    def relation_distances(self, edge: PatternEdge) -> Distance:
        """Raise a `PatternError`: the relation is not fixed."""
        raise PatternError(f"relation {edge.relation!r} is not fixed: resolve it first, or match by text")

    def allowed(self, node: PatternNode) -> Mask | None:
        """Return the mask of the node's type, if there is one."""
        return None if node.type is None else self.masks.get(node.type)


@fast_entry
def distances_from(rows: Array, scale: Array, query: Array) -> Array:
    """L2 distances of `query` float32 [d] from `rows` int8 [n, d] times `scale`, summed in any order."""
    distances = np.empty(len(rows), np.float32)
    for i in range(len(rows)):
        total = np.float32(0)
        factor = scale[i]
        for j in range(len(query)):
            difference = factor * np.float32(rows[i, j]) - query[j]
            total += difference * difference
        distances[i] = np.sqrt(total)
    return distances
