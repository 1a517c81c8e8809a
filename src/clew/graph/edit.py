"""A graph after triples, names, types and aliases were added or removed: sorted arrays merged with the edits.

The result has the form of a graph that was built. Ids of nodes and relations stay, new ones come after them;
triple ids change. Arrays that do not change are those of the graph before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Int64
from clew.graph.beside import changed
from clew.graph.graph import (
    DERIVED,
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
    offsets_of,
    packed_pairs,
    unpacked_pairs,
)
from clew.graph.values import node_values

EdgeIds = tuple[int, int, int]
NodeText = tuple[int, str]
Character = tuple[str, str]
_T = TypeVar("_T", bound=np.generic)
_NO_PLACES = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class GraphEdit:
    """What changes, by ids of the graph that results.

    New nodes and relations have the ids after the old ones.

    `added`, `removed` int64 [n, 3]: head, relation, tail; distinct, in ascending order, those removed in the
    graph, those added not. `names`, `labels` and `datatypes` (None for an entity) of new nodes; `relations`
    and `relation_labels` of new relations. `renamed` are nodes, ascending, with their new labels. Types and
    aliases are (node, text) pairs, those removed in the graph, those added not; added aliases by ascending
    node. `statements` are edges with properties that are new; `unsaid` triples that lost those that they
    had, and may be there again.

    `inferred`, int64 [n, 3], ascending, are triples that no source states from now on, added or in the graph;
    `derived`, as `inferred`, are those that stand for terms of a vocabulary; `restated` those in the graph
    that one states from now on. `relabelled` are relations with their new labels. `stated_added` and
    `stated_removed` are (node, type) as in `Stated`; `stated_names` and `stated_labels` types that are new
    there; `characters_added` and `characters_removed` as in `Stated`. `beside_added` and `beside_removed` are
    lines of `Graph.beside`; of `beside_lost` subjects all go.
    """

    added: Int64
    removed: Int64
    names: Sequence[str] = ()
    labels: Sequence[str] = ()
    datatypes: Sequence[str | None] = ()
    relations: Sequence[str] = ()
    relation_labels: Sequence[str] = ()
    renamed: Sequence[NodeText] = ()
    types_added: Sequence[NodeText] = ()
    types_removed: Sequence[NodeText] = ()
    aliases_added: Sequence[NodeText] = ()
    aliases_removed: Sequence[NodeText] = ()
    statements: Sequence[StatementRow] = ()
    unsaid: Sequence[EdgeIds] = ()
    inferred: Int64 = field(default_factory=lambda: triple_array(()))
    derived: Int64 = field(default_factory=lambda: triple_array(()))
    relabelled: Sequence[NodeText] = ()
    restated: Int64 = field(default_factory=lambda: triple_array(()))
    stated_added: Sequence[NodeText] = ()
    stated_removed: Sequence[NodeText] = ()
    stated_names: Sequence[str] = ()
    stated_labels: Sequence[str] = ()
    characters_added: Sequence[Character] = ()
    characters_removed: Sequence[Character] = ()
    beside_added: Sequence[str] = ()
    beside_removed: Sequence[str] = ()
    beside_lost: Sequence[str] = ()

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

    def renamed_triples(self, graph: Graph) -> Int64:
        """Triples of `graph` that stay and have an end that is renamed, int64 [n, 3], ascending."""
        triples = {triple for node, _ in self.renamed for triple in graph.triples_of(node)}
        return triple_array(triples - set(rows_of(self.removed)))

    @property
    def size(self) -> int:
        """How many things change."""
        named = (self.names, self.relations, self.renamed, self.relabelled, self.statements)
        pairs = (self.types_added, self.types_removed, self.aliases_added, self.aliases_removed)
        stated = (self.inferred, self.restated, self.stated_added, self.stated_removed)
        characters = (self.characters_added, self.characters_removed)
        beside = (self.beside_added, self.beside_removed)
        return sum(map(len, (self.added, self.removed, *named, *pairs, *stated, *characters, *beside)))


def triple_array(triples: Iterable[EdgeIds]) -> Int64:
    """Triples as int64 [n, 3], in ascending order."""
    return np.array(sorted(triples), np.int64).reshape(-1, 3)


def rows_of(triples: Int64) -> list[EdgeIds]:
    """The triples of an array, one by one."""
    return [(head, relation, tail) for head, relation, tail in triples.tolist()]


@dataclass(frozen=True, eq=False)
class Merge:
    """Which rows of a sorted array go, and before which of its rows new ones are put; int64, ascending."""

    removed: Int64
    added: Int64

    def __call__(self, column: NDArray[_T], new_rows: NDArray[_T]) -> NDArray[_T]:
        """Merge `new_rows` into a column, [n, …]; the same object if nothing changes."""
        if len(self.removed):
            column = np.delete(column, self.removed, axis=0)
        places = self.added - np.searchsorted(self.removed, self.added)
        return np.insert(column, places, new_rows, axis=0) if len(places) else column


def edited(graph: Graph, edit: GraphEdit) -> tuple[Graph, Merge]:
    """Apply `edit`; also how an array with a row for each triple is merged, new rows as in `edit.added`."""
    nodes = graph.nodes + len(edit.names)
    out, merge = _merged_side(graph.out, edit.removed, edit.added, nodes)
    into, _ = _merged_side(graph.into, _reversed(edit.removed), _reversed(edit.added), nodes)
    entities, labels = _appended_both(graph.entities, graph.labels, edit.names, edit.labels)
    relations, relation_labels = _appended_both(
        graph.relations, graph.relation_labels, edit.relations, edit.relation_labels
    )
    if edit.relabelled:
        new = dict(edit.relabelled)
        relation_labels = Names.of(new.get(number, label) for number, label in enumerate(relation_labels))
    renamed = np.array([node for node, _ in edit.renamed], np.int64)
    labels = _merged_names(labels, Merge(renamed, renamed), [text for _, text in edit.renamed])
    result = replace(
        graph,
        entities=entities,
        labels=labels,
        relations=relations,
        relation_labels=relation_labels,
        out=out,
        into=into,
        values=_values(graph.values, edit, entities, labels),
        types=_types(graph.types, edit, nodes),
        aliases=_aliases(graph.aliases, edit),
        edge_properties=_edge_properties(graph.edge_properties, edit),
        source=merge(graph.source, np.zeros(len(edit.added), np.uint16)),
    )
    result = replace(result, stated=_edited_stated(graph, result, edit))
    if result.beside is not None:
        lines = changed(result.beside, edit.beside_added, edit.beside_removed, edit.beside_lost)
        result = replace(result, beside=lines)
    if len(edit.inferred) or len(edit.derived) or len(edit.restated):
        source = result.source.copy()
        for triples, number in ((edit.inferred, INFERRED), (edit.derived, DERIVED), (edit.restated, 0)):
            slots = triple_slots(result, triples)
            source[slots[slots >= 0]] = number
        result = replace(result, source=source)
    return result, merge


def triple_slots(graph: Graph, triples: Int64) -> Int64:
    """Ids of triples (int64 [n, 3]), -1 where the graph lacks one."""
    if not graph.triples:
        return np.full(len(triples), -1, np.int64)
    at = _places(graph.out, triples)
    inside = at < graph.out.stops[triples[:, 0]]
    slot = np.where(inside, at, 0)
    same = (graph.out.relation[slot] == triples[:, 1]) & (graph.out.neighbour[slot] == triples[:, 2])
    return np.where(inside & same, slot, -1)


def _reversed(triples: Int64) -> Int64:
    """Edges as (tail, relation, head), in ascending order."""
    edges = triples[:, ::-1]
    return edges[np.lexsort((edges[:, 2], edges[:, 1], edges[:, 0]))]


def _merged_side(side: Adjacency, removed: Int64, added: Int64, nodes: int) -> tuple[Adjacency, Merge]:
    """One direction with edges (node, relation, neighbour) that go and come; both ascending."""
    if not len(added) and not len(removed) and nodes == len(side.starts):
        return side, Merge(_NO_PLACES, _NO_PLACES)
    new_nodes = nodes - len(side.starts)
    lists = replace(side, offsets=np.append(side.offsets, np.full(new_nodes, len(side.neighbour))))
    merge = Merge(_places(lists, removed), _places(lists, added))
    change = np.bincount(added[:, 0], minlength=nodes) - np.bincount(removed[:, 0], minlength=nodes)
    relation = merge(side.relation, added[:, 1].astype(np.int32))
    neighbour = merge(side.neighbour, added[:, 2].astype(np.int32))
    return Adjacency(lists.offsets + offsets_of(change), relation, neighbour), merge


def _places(side: Adjacency, edges: Int64) -> Int64:
    """First slots not before (relation, neighbour), for all `edges` (node, relation, neighbour) at once."""
    low, high = side.starts[edges[:, 0]].copy(), side.stops[edges[:, 0]].copy()
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


def _edited_stated(old_graph: Graph, graph: Graph, edit: GraphEdit) -> Stated | None:
    """What sources state of types after an edit; `graph` is `old_graph` with all else of the edit."""
    changes = (edit.stated_added, edit.stated_removed, edit.characters_added, edit.characters_removed)
    has_ids = old_graph.stated is not None or graph.labels is not graph.entities
    stated = old_graph.stated_types if has_ids else None
    if stated is None or (stated is old_graph.stated and not any(map(len, changes))):
        return stated
    used_names = {name for _, name in edit.stated_added}
    new = dict(zip(edit.stated_names, edit.stated_labels, strict=True))
    new = {name: label for name, label in new.items() if name in used_names}
    names = appended(stated.names, list(new))
    label_ids = {label: number for number, label in enumerate(graph.types.names)}
    labels = np.array([label_ids[label] for label in new.values()], np.int32)
    number = {name: i for i, name in enumerate(names)}
    added, removed = (
        np.array([node << 32 | number[name] for node, name in side], np.int64) for side in changes[:2]
    )
    packed = np.union1d(np.setdiff1d(packed_pairs(*stated.pairs.T), removed), added)
    characters = (set(stated.characters) - set(changes[3])) | set(changes[2])
    label = np.concatenate([stated.label, labels])
    return Stated(names, label, unpacked_pairs(packed), tuple(sorted(characters)))


def _edge_properties(properties: EdgeProperties, edit: GraphEdit) -> EdgeProperties:
    removed = {*rows_of(edit.removed), *edit.unsaid} if len(properties) else set[EdgeIds]()
    if not edit.statements:
        if len(removed) < len(properties):  # the fewer are looked up among the others
            is_same = not any(properties.statements(*triple) for triple in removed)
        else:
            is_same = removed.isdisjoint(map(tuple, properties.triples.tolist()))
        if is_same:
            return properties
    rows = (row for row in properties.rows() if row[0] not in removed)
    return EdgeProperties.of_rows([*rows, *edit.statements])


def appended(names: Names, new_names: Sequence[str]) -> Names:
    """Put `new_names` behind; the same object if there are none."""
    if not new_names:
        return names
    added = Names.of(new_names)
    offsets = np.concatenate([names.offsets, names.offsets[-1] + added.offsets[1:]])
    return Names(np.concatenate([names.blob, added.blob]), offsets)


def _merged_names(names: Names, merge: Merge, new_names: Sequence[str]) -> Names:
    """Merge strings as `merge` does rows; the same object if nothing changes."""
    if not len(merge.removed) and not new_names:
        return names
    new, lengths = Names.of(new_names), np.diff(names.offsets)
    is_kept = np.ones(len(lengths), np.bool_)
    is_kept[merge.removed] = False
    starts = offsets_of(lengths[is_kept])[merge.added - np.searchsorted(merge.removed, merge.added)]
    blob = np.insert(
        names.blob[np.repeat(is_kept, lengths)], np.repeat(starts, np.diff(new.offsets)), new.blob
    )
    return Names(blob, offsets_of(merge(lengths, np.diff(new.offsets))))


def _appended_both(
    names: Names, labels: Names, new_names: Sequence[str], new_labels: Sequence[str]
) -> tuple[Names, Names]:
    """Append new names and labels; both results are one object if all labels are the names."""
    all_names = appended(names, new_names)
    same = labels is names and list(new_names) == list(new_labels)
    return all_names, all_names if same else appended(labels, new_labels)


def _values(values: Values, edit: GraphEdit, entities: Names, labels: Names) -> Values:
    """The values with those of new and renamed nodes."""
    renamed, old_nodes = [node for node, _ in edit.renamed], len(values.kind)
    nodes = [*renamed, *range(old_nodes, len(entities))]
    if not nodes:
        return values
    datatypes = list(values.datatypes)
    ids = {name: i for i, name in enumerate(datatypes)}
    new_column = [-1 if d is None else ids.setdefault(d, len(ids)) for d in edit.datatypes]
    column = np.concatenate([values.datatype[renamed], np.array(new_column, np.int16)])
    names, texts = (Names.of(strings[node] for node in nodes) for strings in (entities, labels))
    changed, count = node_values(names, texts, column, list(ids)), len(renamed)
    kind = np.concatenate([values.kind, changed.kind[count:]])
    value = np.concatenate([values.value, changed.value[count:]])
    kind[renamed], value[renamed] = changed.kind[:count], changed.value[:count]
    return Values(
        np.concatenate([values.datatype, changed.datatype[count:]]),
        kind,
        value,
        appended(values.datatypes, list(ids)[len(datatypes) :]),
    )


def _types(types: Types, edit: GraphEdit, nodes: int) -> Types:
    new_offsets = np.full(nodes + 1 - len(types.offsets), types.offsets[-1])
    if len(new_offsets):
        types = replace(types, offsets=np.concatenate([types.offsets, new_offsets]))
    if not edit.types_added and not edit.types_removed:
        return types
    ids = {name: i for i, name in enumerate(types.names)}
    first = len(ids)
    added_rows = sorted(node << 32 | ids.setdefault(text, len(ids)) for node, text in edit.types_added)
    removed_rows = [node << 32 | ids[text] for node, text in edit.types_removed]
    rows = packed_pairs(types.owners, types.type)
    rows = np.delete(rows, rows.searchsorted(np.array(removed_rows, np.int64)))
    rows = np.insert(rows, rows.searchsorted(np.array(added_rows, np.int64)), added_rows)
    pairs, names = unpacked_pairs(rows), appended(types.names, list(ids)[first:])
    return Types(names, counted_offsets(pairs[:, 0], nodes), pairs[:, 1].copy())


def alias_merge(aliases: Aliases, edit: GraphEdit) -> Merge:
    """Which aliases go, and where those of `edit.aliases_added` are put: behind the others of their node."""
    removed, rows = set(edit.aliases_removed), list[int]()
    for node in {node for node, _ in removed}:
        low, high = aliases.entity.searchsorted(np.array([node, node + 1], np.int32)).tolist()
        rows += [row for row in range(low, high) if (node, aliases.names[row]) in removed]
    added = aliases.entity.searchsorted(np.array([node for node, _ in edit.aliases_added], np.int32), "right")
    return Merge(np.array(sorted(rows), np.int64), added)


def _aliases(aliases: Aliases, edit: GraphEdit) -> Aliases:
    if not edit.aliases_added and not edit.aliases_removed:
        return aliases
    merge, nodes = alias_merge(aliases, edit), np.array([node for node, _ in edit.aliases_added], np.int32)
    texts = [text for _, text in edit.aliases_added]
    return Aliases(_merged_names(aliases.names, merge, texts), merge(aliases.entity, nodes))
