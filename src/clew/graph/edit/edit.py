"""A graph after triples, names, types and aliases were added or removed; the ids of what was there stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from clew.foundation.arrays import Int32, Int64
from clew.graph.edit.growing import extended, grown
from clew.graph.graph import (
    INFERRED,
    Adjacency,
    Aliases,
    EdgeProperties,
    Graph,
    Names,
    Stated,
    StatementRow,
    Types,
    Values,
    counted_offsets,
    listed_places,
    offsets_of,
    packed_pairs,
    unpacked_pairs,
)
from clew.graph.values import node_values

EdgeIds = tuple[int, int, int]
NodeText = tuple[int, str]
Character = tuple[str, str]
_Item = TypeVar("_Item", EdgeIds, NodeText, Character)
_APPENDED = (
    *("names", "labels", "datatypes", "relations", "relation_labels"),
    *("stated_names", "stated_labels"),
)
"""What a later edit adds to behind what an earlier one does."""


@dataclass(frozen=True, eq=False)
class GraphEdit:
    """What changes, by ids of the graph that results.

    New nodes and relations have the ids after the old ones.

    `added`, `removed` int64 [n, 3]: head, relation, tail; distinct, in ascending order, those removed in the
    graph, those added not. `names`, `labels` and `datatypes` (None for an entity) of new nodes; `relations`
    and `relation_labels` of new relations. Types and aliases are (node, text) pairs, those removed in the
    graph, those added not. `statements` are edges with properties that are new; `unsaid` triples that lost
    those that they had, and may be there again.

    `inferred`, int64 [n, 3], ascending, are triples that no source states from now on, added or in the graph;
    `restated` those in the graph that one states from now on. `stated_added` and `stated_removed` are (node,
    type) as in `Stated`; `stated_names` and `stated_labels` types that are new there; `characters_added` and
    `characters_removed` as in `Stated`.
    """

    added: Int64
    removed: Int64
    names: Sequence[str] = ()
    labels: Sequence[str] = ()
    datatypes: Sequence[str | None] = ()
    relations: Sequence[str] = ()
    relation_labels: Sequence[str] = ()
    types_added: Sequence[NodeText] = ()
    types_removed: Sequence[NodeText] = ()
    aliases_added: Sequence[NodeText] = ()
    aliases_removed: Sequence[NodeText] = ()
    statements: Sequence[StatementRow] = ()
    unsaid: Sequence[EdgeIds] = ()
    inferred: Int64 = field(default_factory=lambda: triple_array(()))
    restated: Int64 = field(default_factory=lambda: triple_array(()))
    stated_added: Sequence[NodeText] = ()
    stated_removed: Sequence[NodeText] = ()
    stated_names: Sequence[str] = ()
    stated_labels: Sequence[str] = ()
    characters_added: Sequence[Character] = ()
    characters_removed: Sequence[Character] = ()

    @property
    def endpoints(self) -> Int64:
        """Nodes whose edges change, ascending."""
        return np.unique(np.concatenate([self.added[:, [0, 2]], self.removed[:, [0, 2]]]).ravel())

    def walked(self, nodes: int) -> Int64:
        """Nodes whose edges change, and those that are new where there were `nodes`; ascending."""
        return np.union1d(self.endpoints, np.arange(nodes, nodes + len(self.names)))

    def changed_nodes(self, nodes: int) -> Int64:
        """The nodes of `walked`, and those whose types change; ascending."""
        typed = [node for node, _ in (*self.types_added, *self.types_removed)]
        return np.union1d(self.walked(nodes), np.array(typed, np.int64))

    @property
    def size(self) -> int:
        """How many things change."""
        pairs = (self.types_added, self.types_removed, self.aliases_added, self.aliases_removed)
        stated = (self.inferred, self.restated, self.stated_added, self.stated_removed)
        characters = (self.characters_added, self.characters_removed)
        other_changes = sum(
            map(len, (self.names, self.relations, self.statements, *pairs, *stated, *characters))
        )
        return len(self.added) + len(self.removed) + other_changes

    def then(self, later: GraphEdit) -> GraphEdit:
        """One edit that does this and, after it, another one of the graph that results."""
        added, removed = _combined(
            rows_of(self.added), rows_of(self.removed), rows_of(later.added), rows_of(later.removed)
        )
        lost_triples = {*later.unsaid, *rows_of(later.removed)}
        inferred, restated = self._combined_sources(later)
        fields: dict[str, Any] = {name: [*getattr(self, name), *getattr(later, name)] for name in _APPENDED}
        for kind in ("types", "aliases", "stated", "characters"):
            names = f"{kind}_added", f"{kind}_removed"
            fields |= zip(
                names, _combined(*(getattr(e, n) for e in (self, later) for n in names)), strict=True
            )
        return GraphEdit(
            triple_array(added),
            triple_array(removed),
            statements=[*(row for row in self.statements if row[0] not in lost_triples), *later.statements],
            unsaid=sorted({*self.unsaid, *rows_of(self.removed), *lost_triples}),
            inferred=inferred,
            restated=restated,
            **fields,
        )

    def _combined_sources(self, later: GraphEdit) -> tuple[Int64, Int64]:
        """`inferred` and `restated` of this edit and a later one: what is said last of a triple counts.

        A triple that this one removes and the later one adds is there with the source that it had.
        """
        removed, inferred = set(rows_of(later.removed)), set(rows_of(later.inferred))
        restored = (set(rows_of(later.added)) & set(rows_of(self.removed))) - inferred
        restated = set(rows_of(later.restated)) | restored
        first_inferred = set(rows_of(self.inferred)) - restated - removed
        first_restated = set(rows_of(self.restated)) - inferred - removed
        return triple_array(inferred | first_inferred), triple_array(restated | first_restated)


def _combined(
    added: Sequence[_Item],
    removed: Sequence[_Item],
    later_added: Sequence[_Item],
    later_removed: Sequence[_Item],
) -> tuple[list[_Item], list[_Item]]:
    """What is added and removed by `added` and `removed`, and then by `later_added` and `later_removed`."""
    added_set, removed_set, later_added_set, later_removed_set = (
        set(added),
        set(removed),
        set(later_added),
        set(later_removed),
    )
    return (
        [
            *(item for item in added if item not in later_removed_set),
            *(item for item in later_added if item not in removed_set),
        ],
        [
            *(item for item in removed if item not in later_added_set),
            *(item for item in later_removed if item not in added_set),
        ],
    )


def triple_array(triples: Iterable[EdgeIds]) -> Int64:
    """Triples as int64 [n, 3], in ascending order."""
    return np.array(sorted(triples), np.int64).reshape(-1, 3)


def rows_of(triples: Int64) -> list[EdgeIds]:
    """The triples of an array, one by one."""
    return [(head, relation, tail) for head, relation, tail in triples.tolist()]


def edited(graph: Graph, edit: GraphEdit) -> tuple[Graph, Int64]:
    """Apply `edit`; also from which triple each one behind the slots of `graph` came, -1 if it is new.

    Those that are new are in the order of `edit.added`. Arrays that do not change are those of `graph`.
    """
    nodes = graph.nodes + len(edit.names)
    out, origins = _side(graph.out, edit.removed, edit.added, nodes, (0, 1, 2))
    into, _ = _side(graph.into, edit.removed, edit.added, nodes, (2, 1, 0))
    source = np.zeros(len(origins), np.uint16)
    source[origins >= 0] = graph.source[origins[origins >= 0]]
    entities = appended(graph.entities, edit.names)
    relations = appended(graph.relations, edit.relations)
    result = replace(
        graph,
        entities=entities,
        labels=_edited_labels(graph.entities, graph.labels, entities, edit.names, edit.labels),
        relations=relations,
        relation_labels=_edited_labels(
            graph.relations, graph.relation_labels, relations, edit.relations, edit.relation_labels
        ),
        out=out,
        into=into,
        values=_values(graph.values, edit),
        types=_types(graph.types, edit, nodes),
        aliases=_aliases(graph.aliases, edit),
        edge_properties=_edge_properties(graph.edge_properties, edit),
        source=extended(graph.source, source),
    )
    result = replace(result, stated=_edited_stated(graph, result, edit))
    if len(edit.inferred) or len(edit.restated):
        source = grown(result.source, len(result.source))
        for triples, number in ((edit.inferred, INFERRED), (edit.restated, 0)):
            slots = triple_slots(result, triples)
            source[slots[slots >= 0]] = number
        result = replace(result, source=source)
    return result, origins


def triple_slots(graph: Graph, triples: Int64) -> Int64:
    """Ids of triples (int64 [n, 3]), -1 where the graph lacks one."""
    if not graph.slots:
        return np.full(len(triples), -1, np.int64)
    starts, stops = graph.out.starts, graph.out.stops
    at = _places(graph.out, starts, stops, triples)
    inside = at < stops[triples[:, 0]]
    slot = np.where(inside, at, 0)
    same = (graph.out.relation[slot] == triples[:, 1]) & (graph.out.neighbour[slot] == triples[:, 2])
    return np.where(inside & same, slot, -1)


def _edited_stated(old_graph: Graph, graph: Graph, edit: GraphEdit) -> Stated | None:
    """What sources state of types after an edit; `graph` is `old_graph` with all else of the edit."""
    changes = (edit.stated_added, edit.stated_removed, edit.characters_added, edit.characters_removed)
    stated = (
        old_graph.stated_types if old_graph.stated is not None or graph.labels is not graph.entities else None
    )
    if stated is None or (stated is old_graph.stated and not any(map(len, changes))):
        return stated
    used_names = {name for _, name in edit.stated_added}
    new_labels = dict(zip(edit.stated_names, edit.stated_labels, strict=True))
    names = appended(stated.names, [name for name in new_labels if name in used_names])
    label_ids = {label: number for number, label in enumerate(graph.types.names)}
    labels = np.array(
        [label_ids[label] for name, label in new_labels.items() if name in used_names], np.int32
    )
    number = {name: i for i, name in enumerate(names)}
    added, removed = (
        np.array([node << 32 | number[name] for node, name in side], np.int64) for side in changes[:2]
    )
    packed = np.union1d(np.setdiff1d(packed_pairs(*stated.pairs.T), removed), added)
    characters = (set(stated.characters) - set(changes[3])) | set(changes[2])
    return Stated(names, extended(stated.label, labels), unpacked_pairs(packed), tuple(sorted(characters)))


def _edge_properties(properties: EdgeProperties, edit: GraphEdit) -> EdgeProperties:
    remaining = properties.without(np.concatenate([edit.removed, triple_array(edit.unsaid)]))
    return EdgeProperties.of_rows([*remaining.rows(), *edit.statements]) if edit.statements else remaining


def appended(names: Names, new_names: Sequence[str]) -> Names:
    """Put `new_names` behind; the same object if there are none."""
    if not new_names:
        return names
    added = Names.of(new_names)
    return Names(
        extended(names.blob, added.blob), extended(names.offsets, names.offsets[-1] + added.offsets[1:])
    )


def _edited_labels(
    old_names: Names, labels: Names, names: Names, new_names: Sequence[str], new_labels: Sequence[str]
) -> Names:
    if labels is old_names and list(new_names) == list(new_labels):
        return names
    return appended(labels, new_labels)


def _side(
    side: Adjacency, removed: Int64, added: Int64, nodes: int, columns: tuple[int, int, int]
) -> tuple[Adjacency, Int64]:
    """One direction, changed lists behind all others; and the slot that each edge there is from, -1: new."""
    if not len(added) and not len(removed) and nodes == len(side.starts):
        return side, np.empty(0, np.int64)
    added = added[np.lexsort([added[:, column] for column in reversed(columns)])][:, columns]
    removed = removed[:, columns]
    changed_nodes = np.unique(np.concatenate([removed[:, 0], added[:, 0]]))
    starts, stops = grown(side.starts, nodes), grown(side.stops, nodes)
    starts[len(side.starts) :] = stops[len(side.starts) :] = 0
    lengths = stops[changed_nodes] - starts[changed_nodes]
    old_slots = listed_places(starts[changed_nodes], lengths)
    # Places count in the lists of all touched nodes, one behind the other.
    shift = np.cumsum(lengths) - lengths - starts[changed_nodes]
    removed_places, added_places = (
        _places(side, starts, stops, edges) + shift[np.searchsorted(changed_nodes, edges[:, 0])]
        for edges in (removed, added)
    )
    new_places = (
        added_places - np.searchsorted(np.sort(removed_places), added_places) + np.arange(len(added_places))
    )
    origins = np.full(len(old_slots) + len(added) - len(removed), -1, np.int64)
    origins[np.delete(np.arange(len(origins)), new_places)] = np.delete(old_slots, removed_places)
    np.add.at(lengths, np.searchsorted(changed_nodes, added[:, 0]), 1)
    np.subtract.at(lengths, np.searchsorted(changed_nodes, removed[:, 0]), 1)
    slots = len(side.relation)
    stops[changed_nodes] = slots + np.cumsum(lengths)
    starts[changed_nodes] = stops[changed_nodes] - lengths
    relation, neighbour = (
        _with_edges_behind(column, origins, values)
        for column, values in ((side.relation, added[:, 1]), (side.neighbour, added[:, 2]))
    )
    moved = np.concatenate(
        [side.moved, np.stack([starts[changed_nodes], changed_nodes], axis=1)[lengths > 0]]
    )
    edges = side.edges + len(added) - len(removed)
    return Adjacency(starts, stops, relation, neighbour, side.offsets, moved, edges), origins


def _with_edges_behind(column: Int32, origins: Int64, values: Int64) -> Int32:
    """A column with edges behind: those of its slots in `origins`, and the `values` where that is -1."""
    result = grown(column, len(column) + len(origins))
    added_part, is_old = result[len(column) :], origins >= 0
    added_part[is_old], added_part[~is_old] = column[origins[is_old]], values
    return result


def _places(side: Adjacency, starts: Int64, stops: Int64, edges: Int64) -> Int64:
    """First slots not before (relation, neighbour), for all `edges` (node, relation, neighbour) at once."""
    low, high = starts[edges[:, 0]], stops[edges[:, 0]]
    while (unsettled := np.flatnonzero(low < high)).size:
        middle = (low[unsettled] + high[unsettled]) >> 1
        relation, neighbour = side.relation[middle], side.neighbour[middle]
        target_relation = edges[unsettled, 1]
        is_before = (relation < target_relation) | (
            (relation == target_relation) & (neighbour < edges[unsettled, 2])
        )
        low[unsettled] = np.where(is_before, middle + 1, low[unsettled])
        high[unsettled] = np.where(is_before, high[unsettled], middle)
    return low


def packed(graph: Graph) -> Graph:
    """Lay a graph out anew, without gaps: triple ids change, nothing else."""
    if graph.out.is_packed and graph.into.is_packed:
        return graph
    out, into = (
        Adjacency.packed(offsets_of(side.degrees()), *side.columns()[1:]) for side in (graph.out, graph.into)
    )
    return replace(graph, out=out, into=into, source=graph.source[graph.out.slots()])


def _values(values: Values, edit: GraphEdit) -> Values:
    if not edit.names:
        return values
    datatypes = list(values.datatypes)
    ids = {name: i for i, name in enumerate(datatypes)}
    column = np.array([-1 if d is None else ids.setdefault(d, len(ids)) for d in edit.datatypes], np.int16)
    new_values = node_values(Names.of(edit.names), Names.of(edit.labels or edit.names), column, list(ids))
    return Values(
        extended(values.datatype, new_values.datatype),
        extended(values.kind, new_values.kind),
        extended(values.value, new_values.value),
        appended(values.datatypes, list(ids)[len(datatypes) :]),
    )


def _types(types: Types, edit: GraphEdit, nodes: int) -> Types:
    new_offsets = np.full(nodes + 1 - len(types.offsets), types.offsets[-1])
    offsets = extended(types.offsets, new_offsets)
    if not edit.types_added and not edit.types_removed:
        return types if not len(new_offsets) else Types(types.names, offsets, types.type)
    ids = {name: i for i, name in enumerate(types.names)}
    first = len(ids)
    added_rows = sorted(node << 32 | ids.setdefault(text, len(ids)) for node, text in edit.types_added)
    removed_rows = [node << 32 | ids[text] for node, text in edit.types_removed]
    rows = packed_pairs(Types(types.names, offsets, types.type).owners, types.type)
    rows = np.delete(rows, rows.searchsorted(np.array(removed_rows, np.int64)))
    rows = np.insert(rows, rows.searchsorted(np.array(added_rows, np.int64)), added_rows)
    pairs, names = unpacked_pairs(rows), appended(types.names, list(ids)[first:])
    return Types(names, counted_offsets(pairs[:, 0], nodes), pairs[:, 1].copy())


def _aliases(aliases: Aliases, edit: GraphEdit) -> Aliases:
    names, entity = aliases.names, aliases.entity
    if edit.aliases_removed:
        removed = set(edit.aliases_removed)
        candidates = np.flatnonzero(np.isin(entity, [node for node, _ in removed]))
        rows = [row for row in candidates.tolist() if (int(entity[row]), names[row]) in removed]
        names, entity = without(names, rows), np.delete(entity, rows)
    new_entities = np.array([node for node, _ in edit.aliases_added], np.int32)
    return Aliases(appended(names, [text for _, text in edit.aliases_added]), extended(entity, new_entities))


def without(names: Names, rows: Sequence[int]) -> Names:
    """Leave some rows out."""
    lengths = np.diff(names.offsets)
    is_kept = np.ones(len(lengths), np.bool_)
    is_kept[list(rows)] = False
    return Names(names.blob[np.repeat(is_kept, lengths)], offsets_of(lengths[is_kept]))
