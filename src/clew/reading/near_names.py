"""Names that a graph lacks, and those of its own that may be meant by them."""

from __future__ import annotations

from collections.abc import Sequence

from clew.graph.graph import Graph
from clew.index.names import NamesIndex


def unknown_names(names: NamesIndex, entities: Sequence[str]) -> list[str]:
    """Those of some names that are no entity's."""
    return [name for name in entities if not names.exact(name)]


def near_names(graph: Graph, names: NamesIndex, missing: Sequence[str], most: int = 3) -> tuple[str, ...]:
    """What may be meant by names that a graph lacks: those like them, but for what it records no more of."""
    hits = (hit.entity for name in missing for hit in names.fuzzy(name, most + 1))
    recorded = [entity for entity in dict.fromkeys(hits) if is_recorded(graph, entity)]
    return tuple(graph.labels[entity] for entity in recorded[: most * len(missing)])


def is_recorded(graph: Graph, entity: int) -> bool:
    """Whether a triple or a type is left of an entity, whose name stays when its triples are removed."""
    lists = (graph.out, graph.into)
    return any(start < stop for start, stop in (side.span(entity) for side in lists)) or bool(
        graph.types.offsets[entity + 1] > graph.types.offsets[entity]
    )
