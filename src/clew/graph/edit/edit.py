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
        others = sum(map(len, (self.names, self.relations, self.statements, *pairs, *stated, *characters)))
        return len(self.added) + len(self.removed) + others

    def then(self, later: GraphEdit) -> GraphEdit:
        """One edit that does this and, after it, another one of the graph that results."""
        added, removed = _both(
            rows_of(self.added), rows_of(self.removed), rows_of(later.added), rows_of(later.removed)
        )
        gone = {*later.unsaid, *rows_of(later.removed)}
        inferred, restated = self._sources_then(later)
        more: dict[str, Any] = {name: [*getattr(self, name), *getattr(later, name)] for name in _APPENDED}
        for kind in ("types", "aliases", "stated", "characters"):
            names = f"{kind}_added", f"{kind}_removed"
            more |= zip(names, _both(*(getattr(e, n) for e in (self, later) for n in names)), strict=True)
        return GraphEdit(
            triple_array(added),
            triple_array(removed),
            statements=[*(row for row in self.statements if row[0] not in gone), *later.statements],
            unsaid=sorted({*self.unsaid, *rows_of(self.removed), *gone}),
            inferred=inferred,
            restated=restated,
            **more,
        )

    def _sources_then(self, later: GraphEdit) -> tuple[Int64, Int64]:
        """`inferred` and `restated` of this edit and a later one: what is said last of a triple counts.

        A triple that this one removes and the later one adds is there with the source that it had.
        """
        gone, inferred = set(rows_of(later.removed)), set(rows_of(later.inferred))
        back = (set(rows_of(later.added)) & set(rows_of(self.removed))) - inferred
        restated = set(rows_of(later.restated)) | back
        first = set(rows_of(self.inferred)) - restated - gone
        again = set(rows_of(self.restated)) - inferred - gone
        return triple_array(inferred | first), triple_array(restated | again)


def _both(
    added: Sequence[_Item], removed: Sequence[_Item], more: Sequence[_Item], gone: Sequence[_Item]
) -> tuple[list[_Item], list[_Item]]:
    """What is added and removed where `added` and `removed` come first, `more` and `gone` after them."""
    here, lost, new, out = set(added), set(removed), set(more), set(gone)
    return (
        [*(item for item in added if item not in out), *(item for item in more if item not in lost)],
        [*(item for item in removed if item not in new), *(item for item in gone if item not in here)],
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
    out, came = _side(graph.out, edit.removed, edit.added, nodes, (0, 1, 2))
    into, _ = _side(graph.into, edit.removed, edit.added, nodes, (2, 1, 0))
    source = np.zeros(len(came), np.uint16)
    source[came >= 0] = graph.source[came[came >= 0]]
    entities = appended(graph.entities, edit.names)
    relations = appended(graph.relations, edit.relations)
    result = replace(
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
        edge_properties=_statements(graph.edge_properties, edit),
        source=extended(graph.source, source),
    )
    result = replace(result, stated=_stated(graph, result, edit))
    if len(edit.inferred) or len(edit.restated):
        source = grown(result.source, len(result.source))
        for triples, number in ((edit.inferred, INFERRED), (edit.restated, 0)):
            slots = triple_slots(result, triples)
            source[slots[slots >= 0]] = number
        result = replace(result, source=source)
    return result, came


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


def _stated(before: Graph, graph: Graph, edit: GraphEdit) -> Stated | None:
    """What sources state of types after an edit; `graph` is `before` with all else of the edit."""
    changes = (edit.stated_added, edit.stated_removed, edit.characters_added, edit.characters_removed)
    held = before.stated_types if before.stated is not None or graph.labels is not graph.entities else None
    if held is None or (held is before.stated and not any(map(len, changes))):
        return held
    used = {name for _, name in edit.stated_added}
    new = dict(zip(edit.stated_names, edit.stated_labels, strict=True))
    names = appended(held.names, [name for name in new if name in used])
    label_ids = {label: number for number, label in enumerate(graph.types.names)}
    labels = np.array([label_ids[label] for name, label in new.items() if name in used], np.int32)
    number = {name: i for i, name in enumerate(names)}
    added, removed = (
        np.array([node << 32 | number[name] for node, name in side], np.int64) for side in changes[:2]
    )
    packed = np.union1d(np.setdiff1d(packed_pairs(*held.pairs.T), removed), added)
    characters = (set(held.characters) - set(changes[3])) | set(changes[2])
    return Stated(names, extended(held.label, labels), unpacked_pairs(packed), tuple(sorted(characters)))


def _statements(held: EdgeProperties, edit: GraphEdit) -> EdgeProperties:
    left = held.without(np.concatenate([edit.removed, triple_array(edit.unsaid)]))
    return EdgeProperties.of_rows([*left.rows(), *edit.statements]) if edit.statements else left


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
    """One direction, changed lists behind all others; and from which slot each edge there came, -1: new."""
    if not len(added) and not len(removed) and nodes == len(side.starts):
        return side, np.empty(0, np.int64)
    added = added[np.lexsort([added[:, column] for column in reversed(columns)])][:, columns]
    removed = removed[:, columns]
    touched = np.unique(np.concatenate([removed[:, 0], added[:, 0]]))
    starts, stops = grown(side.starts, nodes), grown(side.stops, nodes)
    starts[len(side.starts) :] = stops[len(side.starts) :] = 0
    lengths = stops[touched] - starts[touched]
    held = listed_places(starts[touched], lengths)
    # Places count in the lists of all touched nodes, one behind the other.
    shift = np.cumsum(lengths) - lengths - starts[touched]
    gone, place = (
        _places(side, starts, stops, edges) + shift[np.searchsorted(touched, edges[:, 0])]
        for edges in (removed, added)
    )
    new = place - np.searchsorted(np.sort(gone), place) + np.arange(len(place))
    came = np.full(len(held) + len(added) - len(removed), -1, np.int64)
    came[np.delete(np.arange(len(came)), new)] = np.delete(held, gone)
    np.add.at(lengths, np.searchsorted(touched, added[:, 0]), 1)
    np.subtract.at(lengths, np.searchsorted(touched, removed[:, 0]), 1)
    slots = len(side.relation)
    stops[touched] = slots + np.cumsum(lengths)
    starts[touched] = stops[touched] - lengths
    relation, neighbour = (
        _behind(column, came, values)
        for column, values in ((side.relation, added[:, 1]), (side.neighbour, added[:, 2]))
    )
    moved = np.concatenate([side.moved, np.stack([starts[touched], touched], axis=1)[lengths > 0]])
    edges = side.edges + len(added) - len(removed)
    return Adjacency(starts, stops, relation, neighbour, side.offsets, moved, edges), came


def _behind(column: Int32, came: Int64, new: Int64) -> Int32:
    """A column with edges behind: those that `came` from its slots, and the `new` ones where that is -1."""
    result = grown(column, len(column) + len(came))
    behind, kept = result[len(column) :], came >= 0
    behind[kept], behind[~kept] = column[came[kept]], new
    return result


def _places(side: Adjacency, starts: Int64, stops: Int64, edges: Int64) -> Int64:
    """First slots not before (relation, neighbour), for all `edges` (node, relation, neighbour) at once."""
    low, high = starts[edges[:, 0]], stops[edges[:, 0]]
    while (open_ := np.flatnonzero(low < high)).size:
        middle = (low[open_] + high[open_]) >> 1
        relation, neighbour = side.relation[middle], side.neighbour[middle]
        wanted = edges[open_, 1]
        before = (relation < wanted) | ((relation == wanted) & (neighbour < edges[open_, 2]))
        low[open_] = np.where(before, middle + 1, low[open_])
        high[open_] = np.where(before, high[open_], middle)
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
    known = {name: i for i, name in enumerate(datatypes)}
    column = np.array(
        [-1 if d is None else known.setdefault(d, len(known)) for d in edit.datatypes], np.int16
    )
    new = node_values(Names.of(edit.names), Names.of(edit.labels or edit.names), column, list(known))
    return Values(
        extended(values.datatype, new.datatype),
        extended(values.kind, new.kind),
        extended(values.value, new.value),
        appended(values.datatypes, list(known)[len(datatypes) :]),
    )


def _types(types: Types, edit: GraphEdit, nodes: int) -> Types:
    more = np.full(nodes + 1 - len(types.offsets), types.offsets[-1])
    offsets = extended(types.offsets, more)
    if not edit.types_added and not edit.types_removed:
        return types if not len(more) else Types(types.names, offsets, types.type)
    known = {name: i for i, name in enumerate(types.names)}
    first = len(known)
    new = sorted(node << 32 | known.setdefault(text, len(known)) for node, text in edit.types_added)
    gone = [node << 32 | known[text] for node, text in edit.types_removed]
    held = packed_pairs(Types(types.names, offsets, types.type).owners, types.type)
    held = np.delete(held, held.searchsorted(np.array(gone, np.int64)))
    held = np.insert(held, held.searchsorted(np.array(new, np.int64)), new)
    pairs, names = unpacked_pairs(held), appended(types.names, list(known)[first:])
    return Types(names, counted_offsets(pairs[:, 0], nodes), pairs[:, 1].copy())


def _aliases(aliases: Aliases, edit: GraphEdit) -> Aliases:
    names, entity = aliases.names, aliases.entity
    if edit.aliases_removed:
        gone = set(edit.aliases_removed)
        near = np.flatnonzero(np.isin(entity, [node for node, _ in gone]))
        rows = [row for row in near.tolist() if (int(entity[row]), names[row]) in gone]
        names, entity = without(names, rows), np.delete(entity, rows)
    new = np.array([node for node, _ in edit.aliases_added], np.int32)
    return Aliases(appended(names, [text for _, text in edit.aliases_added]), extended(entity, new))


def without(names: Names, rows: Sequence[int]) -> Names:
    """Leave some rows out."""
    lengths = np.diff(names.offsets)
    kept = np.ones(len(lengths), np.bool_)
    kept[list(rows)] = False
    return Names(names.blob[np.repeat(kept, lengths)], offsets_of(lengths[kept]))
