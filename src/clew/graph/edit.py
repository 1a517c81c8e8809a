"""A graph after triples, names, types and aliases were added or removed; the ids of what was there stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from clew.graph.graph import Adjacency, Aliases, Graph, Int32, Int64, Names, Types, Values
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
    out, source_rows, inserted = _side(graph.out, edit.removed, edit.added, nodes, (0, 1, 2))
    into, _, _ = _side(graph.into, edit.removed, edit.added, nodes, (2, 1, 0))
    source = np.insert(np.delete(graph.source, source_rows), inserted, np.uint16(edit.source))
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
        source=source,
    )


def appended(names: Names, more: Sequence[str]) -> Names:
    """Put `more` names behind; the same object if there are none."""
    if not more:
        return names
    new = Names.of(more)
    offsets = np.concatenate([names.offsets, names.offsets[-1] + new.offsets[1:]])
    return Names(np.concatenate([names.blob, new.blob]), offsets)


def _labelled(
    old: Names, labels: Names, names: Names, more: Sequence[str], more_labels: Sequence[str]
) -> Names:
    if labels is old and list(more) == list(more_labels):
        return names
    return appended(labels, more_labels)


def _side(
    side: Adjacency, removed: Int64, added: Int64, nodes: int, columns: tuple[int, int, int]
) -> tuple[Adjacency, Int64, Int64]:
    """One direction after the edit; also the rows that go, and before which of the rest new ones come."""
    node, relation, neighbour = columns
    out = np.array([_row(side, t[node], t[relation], t[neighbour]) for t in removed.tolist()], np.int64)
    order = np.lexsort((added[:, neighbour], added[:, relation], added[:, node]))
    added = added[order]
    grown = np.concatenate([side.offsets, np.full(nodes + 1 - len(side.offsets), side.offsets[-1])])
    place = np.array(
        [_place(side, grown, t[node], t[relation], t[neighbour]) for t in added.tolist()], np.int64
    )
    # Rows are first removed: what comes behind them moves up.
    place -= np.searchsorted(np.sort(out), place)
    change = np.zeros(nodes, np.int64)
    np.add.at(change, added[:, node], 1)
    np.subtract.at(change, removed[:, node], 1)
    offsets = grown + np.concatenate([np.zeros(1, np.int64), np.cumsum(change)])
    relations = np.insert(np.delete(side.relation, out), place, added[:, relation].astype(np.int32))
    neighbours = np.insert(np.delete(side.neighbour, out), place, added[:, neighbour].astype(np.int32))
    return Adjacency(offsets, relations, neighbours), out, place


def _row(side: Adjacency, node: int, relation: int, neighbour: int) -> int:
    return _place(side, side.offsets, node, relation, neighbour)


def _place(side: Adjacency, offsets: Int64, node: int, relation: int, neighbour: int) -> int:
    """Find the first row of a node that is not before (relation, neighbour)."""
    start, stop = int(offsets[node]), int(offsets[node + 1])
    low = start + int(np.searchsorted(side.relation[start:stop], relation, "left"))
    high = start + int(np.searchsorted(side.relation[start:stop], relation, "right"))
    return low + int(np.searchsorted(side.neighbour[low:high], neighbour))


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
        np.concatenate([values.datatype, new.datatype]),
        np.concatenate([values.kind, new.kind]),
        np.concatenate([values.value, new.value]),
        appended(values.datatypes, list(known)[len(datatypes) :]),
    )


def _types(types: Types, edit: GraphEdit, nodes: int) -> Types:
    if edit.types is None:
        more = nodes + 1 - len(types.offsets)
        if not more:
            return types
        offsets = np.concatenate([types.offsets, np.full(more, types.offsets[-1])])
        return Types(types.names, offsets, types.type)
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
