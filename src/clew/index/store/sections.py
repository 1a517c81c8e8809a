"""A graph as named arrays, the form in which an index stores it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.errors import IndexAccessError
from clew.graph.graph import Adjacency, Aliases, EdgeProperties, Graph, Names, Stated, Types, Values
from clew.index.store.files import map_array

Arrays = Mapping[str, NDArray[np.generic]]
_FIELDS: tuple[tuple[str, str, type[np.generic] | None], ...] = (
    ("source", "source", np.uint16),
    ("entities", "entities", None),
    ("relations", "relations", None),
    ("labels", "labels", None),
    ("relation_labels", "relation_labels", None),
    ("out.offsets", "out.offsets", np.int64),
    ("out.relation", "out.relation", np.int32),
    ("out.neighbour", "out.neighbour", np.int32),
    ("into.offsets", "into.offsets", np.int64),
    ("into.relation", "into.relation", np.int32),
    ("into.neighbour", "into.neighbour", np.int32),
    ("values.datatype", "values.datatype", np.int16),
    ("values.kind", "values.kind", np.uint8),
    ("values.value", "values.value", np.float64),
    ("datatypes", "values.datatypes", None),
    ("types", "types.names", None),
    ("node_types.offsets", "types.offsets", np.int64),
    ("node_types.type", "types.type", np.int32),
    ("aliases", "aliases.names", None),
    ("aliases.entity", "aliases.entity", np.int32),
    ("statements.triples", "edge_properties.triples", np.int32),
    ("statements.offsets", "edge_properties.offsets", np.int64),
    ("statement_keys", "edge_properties.keys", None),
    ("statements.key", "edge_properties.key", np.int32),
    ("statement_texts", "edge_properties.texts", None),
    ("statements.kind", "edge_properties.kind", np.uint8),
    ("statements.value", "edge_properties.value", np.float64),
    ("stated_names", "stated.names", None),
    ("stated.label", "stated.label", np.int32),
    ("stated.pairs", "stated.pairs", np.int32),
    ("beside", "beside", np.uint8),
)
"""Section, attribute of the graph and type; None: `Names`, which are two sections."""
_CHARACTERS = "stated.characters"
_PARTS: dict[str, Any] = {
    "out": Adjacency,
    "into": Adjacency,
    "values": Values,
    "types": Types,
    "aliases": Aliases,
    "edge_properties": EdgeProperties,
    "stated": Stated,
}
_OPTIONAL = {
    "labels": "labels.blob",
    "relation_labels": "relation_labels.blob",
    "edge_properties": "statements.triples",
    "stated": "stated.pairs",
    "beside": "beside",
}
"""Parts of a graph that an index may lack, each with a section that it has if the part is there."""


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
    is_absent = {
        "labels": graph.labels is graph.entities,
        "relation_labels": graph.relation_labels is graph.relations,
        "edge_properties": not len(graph.edge_properties),
        "stated": graph.stated is None,
        "beside": graph.beside is None,
    }
    sections: dict[str, NDArray[np.generic]] = {}
    for section, path, dtype in _FIELDS:
        if is_absent.get(path.partition(".")[0]):
            continue
        value = attrgetter(path)(graph)
        if dtype:
            sections[section] = value
        else:
            sections |= {f"{section}.blob": value.blob, f"{section}.offsets": value.offsets}
    if graph.stated is not None:
        sections[_CHARACTERS] = np.frombuffer(json.dumps(graph.stated.characters).encode(), np.uint8)
    return sections


def graph_of_sections(arrays: Arrays) -> Graph:
    """Make the graph from the arrays of `graph_sections`; raises KeyError if one is missing."""
    whole: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for section, path, dtype in _FIELDS:
        owner, _, field = path.partition(".")
        if owner in _OPTIONAL and _OPTIONAL[owner] not in arrays:
            continue
        value = arrays[section].astype(dtype, copy=False) if dtype else _names(arrays, section)
        fields = parts.setdefault(owner, {}) if field else whole
        fields[field or owner] = value
    if "stated" in parts:
        characters: list[list[str]] = json.loads(arrays[_CHARACTERS].tobytes())
        parts["stated"]["characters"] = tuple((str(name), str(character)) for name, character in characters)
    whole |= {owner: _PARTS[owner](**fields) for owner, fields in parts.items()}
    return Graph(**{"labels": whole["entities"], "relation_labels": whole["relations"], **whole})


def with_prefix(prefix: str, arrays: Arrays) -> dict[str, NDArray[np.generic]]:
    """Put `prefix` and a dot before every name."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def without_prefix(prefix: str, arrays: Arrays) -> dict[str, NDArray[np.generic]]:
    """Keep the arrays whose name begins with `prefix` and a dot, without them."""
    start = f"{prefix}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _names(arrays: Arrays, key: str) -> Names:
    blob, offsets = arrays[f"{key}.blob"], arrays[f"{key}.offsets"]
    return Names(blob.astype(np.uint8, copy=False), offsets.astype(np.int64, copy=False))


def written_graph(folder: Path) -> Graph:
    """The graph whose sections are in a folder. Raises IndexAccessError if it is not there."""
    files = sorted(folder.glob("graph.*.npy"))
    if not files:
        raise IndexAccessError(
            f"{folder}: the index that is written is not there. Write it to a folder that all nodes see"
        )
    arrays = {f.name.removeprefix("graph.").removesuffix(".npy"): map_array(f) for f in files}
    return graph_of_sections(arrays)
