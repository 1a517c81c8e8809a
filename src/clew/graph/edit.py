"""A graph after triples, names, types and aliases were added or removed; the ids of what was there stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from clew.graph.graph import Adjacency, Aliases, Graph, Int32, Int64, Names, Types, Values
from clew.graph.growing import extended, grown
from clew.graph.literals import node_values


@dataclass(frozen=True, eq=False)
class GraphEdit:
    """What changes, by ids of the graph that results.

    New nodes and relations have the ids after the old ones.

    `added`, `removed` int64 [n, 3]: head, relation, tail; distinct, those removed in the graph, those added
    not. `names`, `labels` and `datatypes` (None for an entity) of new nodes; `relations` and
    `relation_labels` of new relations. `types` and `aliases` are all (node, text) pairs of the result, None
    where nothing changes.
    """

    added: Int64
    removed: Int64
    names: Sequence[str] = ()
    labels: Sequence[str] = ()
    datatypes: Sequence[str | None] = ()
    relations: Sequence[str] = ()
    relation_labels: Sequence[str] = ()
    types: Sequence[tuple[int, str]] | None = None
    aliases: Sequence[tuple[int, str]] | None = None
    source: int = 0

    @property
    def endpoints(self) -> Int64:
        """Nodes whose edges change, ascending."""
        return np.unique(np.concatenate([self.added[:, [0, 2]], self.removed[:, [0, 2]]]).ravel())


def edited(graph: Graph, edit: GraphEdit) -> Graph:
    """Apply `edit`. Arrays that do not change are those of `graph`."""
    nodes = graph.nodes + len(edit.names)
    out, came = _side(graph.out, edit.removed, edit.added, nodes, (0, 1, 2))
    into, _ = _side(graph.into, edit.removed, edit.added, nodes, (2, 1, 0))
    source = np.full(len(came), edit.source, np.uint16)
    source[came >= 0] = graph.source[came[came >= 0]]
    entities = appended(graph.entities, edit.names)
    relations = appended(graph.relations, edit.relations)
    return replace(
        graph,
        entities=entities,
        labels=_labelled(graph.entities, graph.labels, entities, edit.names, edit.labels),
        relations=relations,
        relation_labels=_labelled(
            graph.relations, graph.relation_labels, relations, edit.relations, edit.relation_labels
        ),
        out=out,
        into=into,
        values=_values(graph.values, edit),
        types=_types(graph.types, edit, nodes),
        aliases=_aliases(graph.aliases, edit),
        source=extended(graph.source, source),
    )


def appended(names: Names, more: Sequence[str]) -> Names:
    """Put `more` names behind; the same object if there are none."""
    if not more:
        return names
    new = Names.of(more)
    return Names(extended(names.blob, new.blob), extended(names.offsets, names.offsets[-1] + new.offsets[1:]))


def _labelled(
    old: Names, labels: Names, names: Names, more: Sequence[str], more_labels: Sequence[str]
) -> Names:
    if labels is old and list(more) == list(more_labels):
        return names
    return appended(labels, more_labels)


def _side(
    side: Adjacency, removed: Int64, added: Int64, nodes: int, columns: tuple[int, int, int]
) -> tuple[Adjacency, Int64]:
    """One direction after the edit: lists that change are put behind all others.

    Also from which slot each edge behind came, -1 for one that is new.
    """
    added = added[np.lexsort([added[:, column] for column in reversed(columns)])]
    touched = np.unique(np.concatenate([removed[:, columns[0]], added[:, columns[0]]]))
    starts, stops = grown(side.starts, nodes), grown(side.stops, nodes)
    starts[len(side.starts) :] = stops[len(side.starts) :] = 0
    lengths = stops[touched] - starts[touched]
    begins = np.cumsum(lengths) - lengths
    shift = dict(zip(touched.tolist(), (begins - starts[touched]).tolist(), strict=True))

    def places(triples: Int64) -> Int64:
        """Where in the lists of all touched nodes the triples are, or would be."""
        found = (
            shift[node] + _place(side, node, *edge) if node < len(side.starts) else shift[node]
            for node, *edge in triples[:, columns].tolist()
        )
        return np.fromiter(found, np.int64, len(triples))

    old = np.arange(int(lengths.sum())) - np.repeat(begins - starts[touched], lengths)
    gone, place = np.sort(places(removed)), places(added)
    # Edges are first removed: what comes behind them moves up.
    place -= np.searchsorted(gone, place)
    old = np.delete(old, gone)
    relation = np.insert(side.relation[old], place, added[:, columns[1]].astype(np.int32))
    neighbour = np.insert(side.neighbour[old], place, added[:, columns[2]].astype(np.int32))
    np.add.at(lengths, np.searchsorted(touched, added[:, columns[0]]), 1)
    np.subtract.at(lengths, np.searchsorted(touched, removed[:, columns[0]]), 1)
    stops[touched] = len(side.relation) + np.cumsum(lengths)
    starts[touched] = stops[touched] - lengths
    moved = np.stack([starts[touched], touched], axis=1)[lengths > 0]
    result = Adjacency(
        starts,
        stops,
        extended(side.relation, relation),
        extended(side.neighbour, neighbour),
        side.offsets,
        np.concatenate([side.moved, moved]),
        side.edges + len(added) - len(removed),
    )
    return result, np.insert(old, place, -1)


def _place(side: Adjacency, node: int, relation: int, neighbour: int) -> int:
    """Find the first slot of a node that is not before (relation, neighbour)."""
    low, high = side.relation_span(node, relation)
    return low + int(side.neighbour[low:high].searchsorted(np.int32(neighbour)))


def packed(graph: Graph) -> Graph:
    """Lay a graph out anew, without gaps: triple ids change, nothing else."""
    if graph.out.is_packed and graph.into.is_packed:
        return graph
    source = graph.source[graph.out.slots()]
    return replace(graph, out=_packed_side(graph.out), into=_packed_side(graph.into), source=source)


def _packed_side(side: Adjacency) -> Adjacency:
    _, relation, neighbour = side.columns()
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(side.degrees())])
    return Adjacency.packed(offsets, relation, neighbour)


def _values(values: Values, edit: GraphEdit) -> Values:
    if not edit.names:
        return values
    datatypes = list(values.datatypes)
    known = {name: i for i, name in enumerate(datatypes)}
    column = np.array(
        [-1 if d is None else known.setdefault(d, len(known)) for d in edit.datatypes], np.int16
    )
    new = node_values(Names.of(edit.names), column, list(known))
    return Values(
        extended(values.datatype, new.datatype),
        extended(values.kind, new.kind),
        extended(values.value, new.value),
        appended(values.datatypes, list(known)[len(datatypes) :]),
    )


def _types(types: Types, edit: GraphEdit, nodes: int) -> Types:
    if edit.types is None:
        more = np.full(nodes + 1 - len(types.offsets), types.offsets[-1])
        return types if not len(more) else Types(types.names, extended(types.offsets, more), types.type)
    known = {name: i for i, name in enumerate(types.names)}
    first = len(known)
    pairs = sorted({(node, known.setdefault(text, len(known))) for node, text in edit.types})
    column = np.array(pairs, np.int64).reshape(-1, 2)
    offsets = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(column[:, 0], minlength=nodes), out=offsets[1:])
    return Types(appended(types.names, list(known)[first:]), offsets, column[:, 1].astype(np.int32))


def _aliases(aliases: Aliases, edit: GraphEdit) -> Aliases:
    if edit.aliases is None:
        return aliases
    ordered = sorted(dict.fromkeys(edit.aliases), key=lambda pair: pair[0])
    column: Int32 = np.array([node for node, _ in ordered], np.int32)
    return Aliases(Names.of(text for _, text in ordered), column)
