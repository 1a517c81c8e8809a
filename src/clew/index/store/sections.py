"""A graph as named arrays, the form in which an index stores it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from clew.errors import IndexAccessError
from clew.foundation.arrays import load_array
from clew.graph.graph import Adjacency, Aliases, EdgeProperties, Graph, Names, Stated, Types, Values

_T = TypeVar("_T", bound=np.generic)
Arrays = Mapping[str, NDArray[np.generic]]


def graph_counts(graph: Graph) -> dict[str, int]:
    """Count triples, entities, literals, relations, types and aliases."""
    literals = int(np.count_nonzero(graph.values.datatype >= 0))
    return {
        "triples": graph.triples,
        "entities": graph.nodes - literals,
        "literals": literals,
        "relations": len(graph.relations),
        "types": len(graph.types.names),
        "aliases": len(graph.aliases.names),
    }


def graph_sections(graph: Graph) -> dict[str, NDArray[np.generic]]:
    """Name the arrays of `graph`; labels only where they are not the names themselves."""
    sections: dict[str, NDArray[np.generic]] = {"source": graph.source}
    names = {
        "entities": graph.entities,
        "relations": graph.relations,
        "datatypes": graph.values.datatypes,
        "types": graph.types.names,
        "aliases": graph.aliases.names,
    }
    if graph.labels is not graph.entities:
        names["labels"] = graph.labels
    if graph.relation_labels is not graph.relations:
        names["relation_labels"] = graph.relation_labels
    for key, strings in names.items():
        sections |= _strings(key, strings)
    for key, side in (("out", graph.out), ("into", graph.into)):
        sections |= {f"{key}.offsets": side.offsets, f"{key}.relation": side.relation}
        sections[f"{key}.neighbour"] = side.neighbour
    values, types = graph.values, graph.types
    sections |= {"values.datatype": values.datatype, "values.kind": values.kind, "values.value": values.value}
    sections |= {"node_types.offsets": types.offsets, "node_types.type": types.type}
    if len(properties := graph.edge_properties):
        sections |= {f"statements.{name}": getattr(properties, name) for name in _STATEMENTS}
        sections |= _strings("statement_keys", properties.keys) | _strings(
            "statement_texts", properties.texts
        )
    if (stated := graph.stated) is not None:
        sections |= {"stated.pairs": stated.pairs, "stated.label": stated.label}
        sections |= _strings("stated_names", stated.names)
        sections["stated.characters"] = np.frombuffer(json.dumps(stated.characters).encode(), np.uint8)
    return sections | {"aliases.entity": graph.aliases.entity}


_STATEMENTS = ("triples", "offsets", "key", "kind", "value")


def _strings(key: str, names: Names) -> dict[str, NDArray[np.generic]]:
    return {f"{key}.blob": names.blob, f"{key}.offsets": names.offsets}


def graph_of_sections(arrays: Arrays) -> Graph:
    """Make the graph from the arrays of `graph_sections`; raises KeyError if one is missing."""
    entities, relations = _names(arrays, "entities"), _names(arrays, "relations")
    return Graph(
        entities=entities,
        labels=_names(arrays, "labels") if "labels.blob" in arrays else entities,
        relations=relations,
        relation_labels=_names(arrays, "relation_labels") if "relation_labels.blob" in arrays else relations,
        out=_adjacency(arrays, "out"),
        into=_adjacency(arrays, "into"),
        values=Values(
            _typed(arrays["values.datatype"], np.int16),
            _typed(arrays["values.kind"], np.uint8),
            _typed(arrays["values.value"], np.float64),
            _names(arrays, "datatypes"),
        ),
        types=Types(
            _names(arrays, "types"),
            _typed(arrays["node_types.offsets"], np.int64),
            _typed(arrays["node_types.type"], np.int32),
        ),
        aliases=Aliases(_names(arrays, "aliases"), _typed(arrays["aliases.entity"], np.int32)),
        source=_typed(arrays["source"], np.uint16),
        edge_properties=_properties(arrays),
        stated=_stated(arrays),
    )


def _properties(arrays: Arrays) -> EdgeProperties:
    if "statements.triples" not in arrays:
        return EdgeProperties.none()
    return EdgeProperties(
        _typed(arrays["statements.triples"], np.int32),
        _typed(arrays["statements.offsets"], np.int64),
        _names(arrays, "statement_keys"),
        _typed(arrays["statements.key"], np.int32),
        _names(arrays, "statement_texts"),
        _typed(arrays["statements.kind"], np.uint8),
        _typed(arrays["statements.value"], np.float64),
    )


def _stated(arrays: Arrays) -> Stated | None:
    if "stated.pairs" not in arrays:
        return None
    characters: list[list[str]] = json.loads(arrays["stated.characters"].tobytes())
    return Stated(
        _names(arrays, "stated_names"),
        _typed(arrays["stated.label"], np.int32),
        _typed(arrays["stated.pairs"], np.int32),
        tuple((str(name), str(character)) for name, character in characters),
    )


def with_prefix(prefix: str, arrays: Arrays) -> dict[str, NDArray[np.generic]]:
    """Put `prefix` and a dot before every name."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def without_prefix(prefix: str, arrays: Arrays) -> dict[str, NDArray[np.generic]]:
    """Keep the arrays whose name begins with `prefix` and a dot, without them."""
    start = f"{prefix}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _names(arrays: Arrays, key: str) -> Names:
    return Names(_typed(arrays[f"{key}.blob"], np.uint8), _typed(arrays[f"{key}.offsets"], np.int64))


def _adjacency(arrays: Arrays, key: str) -> Adjacency:
    return Adjacency(
        _typed(arrays[f"{key}.offsets"], np.int64),
        _typed(arrays[f"{key}.relation"], np.int32),
        _typed(arrays[f"{key}.neighbour"], np.int32),
    )


def _typed(array: NDArray[np.generic], dtype: type[_T]) -> NDArray[_T]:
    """Give the array its static type; no copy where it has it already."""
    return array.astype(dtype, copy=False)


def written_graph(folder: Path) -> Graph:
    """The graph whose sections are in a folder. Raises IndexAccessError if it is not there."""
    files = sorted(folder.glob("graph.*.npy"))
    if not files:
        raise IndexAccessError(
            f"{folder}: the index that is written is not there. Write it to a folder that all nodes see"
        )
    arrays = {f.name.removeprefix("graph.").removesuffix(".npy"): load_array(f, "r") for f in files}
    return graph_of_sections(arrays)
