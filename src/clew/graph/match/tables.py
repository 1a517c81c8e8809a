"""Distances given as tables, so that searches can be compared on equal distances with other code.

A directory holds `candidate_ids.npy` int32 [rows, c] and `candidate_distance.npy` float32 [rows, c],
ascending in each row, and `relation_distance.npy` float32 [relations, relations]. A pattern says which are
its own: `"anchors": [{"name", "row"}, …]` and `"relations": {name: id}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from clew.errors import InputError, PatternError
from clew.foundation.arrays import Float32, Int32, load_array
from clew.graph.match.distances import Distance, Distances, NearestEntities
from clew.types import PatternEdge, PatternNode

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
