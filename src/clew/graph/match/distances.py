"""Distances between names of a pattern and of a graph: of embeddings, of tables, or of known ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from clew.errors import InputError, PatternError
from clew.foundation.arrays import Float32, Int32, load_array
from clew.graph.kernels import Array, fast_entry
from clew.types import PatternEdge, PatternNode

# Distances between names of a pattern and of a graph: of embeddings, of given tables, or of known ids.


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


class TextEmbedder(Protocol):
    """What `TextDistances` needs of an embedder."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for each text."""
        ...


@dataclass(frozen=True, eq=False)
class NameVectors:
    """Vectors of names: entities int8 [N, d] times `scale` float32 [N], relations float32 [R, d]."""

    entities: NDArray[np.int8]
    scale: NDArray[np.float32]
    relations: NDArray[np.float32]


class TextDistances(Distances):
    """L2 distances of embeddings (SimGRAG section 4.2, eq. 2).

    `exact` gives the entities whose normalised name equals a text; their distance is 0, free of the error of
    stored int8 vectors. No type restricts what is near.
    """

    def __init__(
        self,
        embedder: TextEmbedder,
        vectors: NameVectors,
        *,
        exact: Callable[[str], Iterable[int]] | None = None,
    ) -> None:
        self.embedder, self.vectors, self.exact = embedder, vectors, exact
        self._nodes: dict[str, NDArray[np.float32]] = {}
        self._relations: dict[str, NDArray[np.float32]] = {}

    def node_candidates(self, node: PatternNode, count: int) -> NearestEntities:
        """Find the nearest `count` entities by a scan of all vectors; ties in order of the ids."""
        distances = self._distances_of(node.name)
        count = min(count, len(distances))
        nearest = np.arange(len(distances), dtype=np.int32)
        if count < len(distances):
            farthest = np.partition(distances, count - 1)[count - 1]
            nearest = np.flatnonzero(distances <= farthest).astype(np.int32)
        nearest = nearest[np.argsort(distances[nearest], kind="stable")]
        return NearestEntities(nearest, distances[nearest], len(nearest) == len(distances))

    def measure(self, node: PatternNode) -> Measure | None:
        """Give the distances of all entities."""
        return Measure(np.zeros(0, np.int32), np.zeros(0), scale=self._distances_of(node.name))

    def _distances_of(self, name: str) -> NDArray[np.float32]:
        if name not in self._nodes:
            self._nodes[name] = self._entity_distances(name)
        return self._nodes[name]

    def _entity_distances(self, name: str) -> NDArray[np.float32]:
        rows = np.require(self.vectors.entities, np.int8, ["C", "W"])
        scale = np.require(self.vectors.scale, np.float32, ["C", "W"])
        distances = distances_from(rows, scale, self._embed(name).copy())
        if self.exact is not None:
            distances[list(self.exact(name))] = 0.0
        return distances

    def relation_distances(self, edge: PatternEdge) -> Distance:
        """Distances of the relation's name from all relations."""
        name = edge.relation or ""
        if name not in self._relations:
            difference = self.vectors.relations - self._embed(name)
            self._relations[name] = np.sqrt(np.square(difference).sum(axis=1))
        return self._relations[name]

    def _embed(self, text: str) -> NDArray[np.float32]:
        return np.asarray(self.embedder.embed([text])[0], np.float32)


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


# Distances given as tables, so that searches can be compared on equal distances with other code.
#
# A directory holds `candidate_ids.npy` int32 [rows, c] and `candidate_distance.npy` float32 [rows, c],
# ascending in each row, and `relation_distance.npy` float32 [relations, relations]. A pattern says which are
# its own: `"anchors": [{"name", "row"}, …]` and `"relations": {name: id}`.


TABLE_FILES = ("candidate_ids.npy", "candidate_distance.npy", "relation_distance.npy")


@dataclass(frozen=True, eq=False)
class TableDistances(Distances):
    """The distances of one pattern: candidates by name, all that there are, and relations by name.

    Lists that are all at hand are searched whole in less time than measuring takes; tables know no types.
    """

    candidates: Mapping[str, NearestEntities]
    relations: Mapping[str, Float32]

    def node_candidates(self, node: PatternNode, count: int) -> NearestEntities:
        """Give all candidates of the node's name, however many are asked for."""
        nearest = self.candidates.get(node.name)
        if nearest is None:
            raise PatternError(f"pattern: field 'anchors' has no row for the node {node.name!r}")
        return nearest

    def relation_distances(self, edge: PatternEdge) -> Distance:
        """Give the row of the relation's name."""
        distances = self.relations.get(edge.relation or "")
        if distances is None:
            raise PatternError(f"pattern: field 'relations' has no id for the relation {edge.relation!r}")
        return distances


@dataclass(frozen=True, eq=False)
class Tables:
    """The arrays of a directory of tables (memory-mapped), for a graph of `nodes` and `relations`."""

    ids: Int32
    distances: Float32
    relations: Float32

    @classmethod
    def open(cls, folder: Path, nodes: int, relations: int) -> Tables:
        """Map the tables; InputError if one is missing, malformed, or of another graph."""
        ids, distances, relation_distances = (_load(folder / name) for name in TABLE_FILES)
        if ids.shape != distances.shape:
            raise InputError(
                f"{folder}: candidate_ids is {list(ids.shape)}, candidate_distance {list(distances.shape)}"
            )
        if not np.issubdtype(ids.dtype, np.integer):
            raise InputError(f"{folder / TABLE_FILES[0]}: holds {ids.dtype}; integers are needed")
        if ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < nodes:
            raise InputError(
                f"{folder / TABLE_FILES[0]}: names entities that the graph lacks (it has {nodes:,})"
            )
        if relation_distances.shape != (relations, relations):
            raise InputError(
                f"{folder / TABLE_FILES[2]}: is {list(relation_distances.shape)}; "
                f"the graph has {relations} relations"
            )
        return cls(
            ids.astype(np.int32, copy=False),
            distances.astype(np.float32, copy=False),
            relation_distances.astype(np.float32, copy=False),
        )

    def of(self, record: Mapping[str, Any], where: str) -> TableDistances:
        """Take what the pattern `record` names; `where` begins the message of a PatternError."""
        candidates: dict[str, NearestEntities] = {}
        for i, anchor in enumerate(_list(record, "anchors", where)):
            name, row = anchor.get("name"), anchor.get("row")
            if not isinstance(name, str) or not isinstance(row, int) or not 0 <= row < len(self.ids):
                raise PatternError(
                    f"{where}: field 'anchors[{i}]' needs a name and a row from 0 to {len(self.ids) - 1}"
                )
            candidates[name.strip()] = NearestEntities(self.ids[row], self.distances[row], True)
        relations = record.get("relations")
        if not isinstance(relations, dict):
            raise PatternError(f"{where}: field 'relations' must map names of relations to their ids")
        rows: dict[str, Float32] = {}
        for name, id in cast("dict[str, object]", relations).items():
            if not isinstance(id, int) or not 0 <= id < len(self.relations):
                raise PatternError(
                    f"{where}: field 'relations' gives {name!r} the id {id!r}; "
                    f"ids are 0 to {len(self.relations) - 1}"
                )
            rows[name.strip()] = self.relations[id]
        return TableDistances(candidates, rows)


def _list(record: Mapping[str, Any], field: str, where: str) -> list[dict[str, Any]]:
    value = record.get(field)
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in cast("list[object]", value)):
        raise PatternError(f"{where}: field {field!r} must be a list of objects")
    return cast("list[dict[str, Any]]", value)


def _load(path: Path) -> NDArray[Any]:
    try:
        array = load_array(path, "r")
    except FileNotFoundError as error:
        raise InputError(
            f"{path}: no such file. A directory of tables needs {', '.join(TABLE_FILES)}"
        ) from error
    except (ValueError, EOFError, OSError) as error:
        raise InputError(f"{path}: not a NumPy array file: {error}") from error
    if array.ndim != 2:
        raise InputError(f"{path}: has {array.ndim} dimensions; a table has 2")
    return array
