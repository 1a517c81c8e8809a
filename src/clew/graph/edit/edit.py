"""A graph after triples, names, types and aliases were added or removed; the ids of what was there stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from clew.arrays import Int64
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
    offsets_of,
)
from clew.graph.values import node_values

EdgeIds = tuple[int, int, int]
NodeText = tuple[int, str]
Character = tuple[str, str]
_T = TypeVar("_T", bound=np.generic)
_Item = TypeVar("_Item", EdgeIds, NodeText, Character)


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
        types = _both(self.types_added, self.types_removed, later.types_added, later.types_removed)
        aliases = _both(self.aliases_added, self.aliases_removed, later.aliases_added, later.aliases_removed)
        stated = _both(self.stated_added, self.stated_removed, later.stated_added, later.stated_removed)
        characters = _both(
            self.characters_added, self.characters_removed, later.characters_added, later.characters_removed
        )
        inferred, restated = self._sources_then(later)
        return GraphEdit(
            triple_array(added),
            triple_array(removed),
            [*self.names, *later.names],
            [*self.labels, *later.labels],
            [*self.datatypes, *later.datatypes],
            [*self.relations, *later.relations],
            [*self.relation_labels, *later.relation_labels],
            *types,
            *aliases,
            statements=[*(row for row in self.statements if row[0] not in gone), *later.statements],
            unsaid=sorted({*self.unsaid, *rows_of(self.removed), *gone}),
            inferred=inferred,
            restated=restated,
            stated_added=stated[0],
            stated_removed=stated[1],
            stated_names=[*self.stated_names, *later.stated_names],
            stated_labels=[*self.stated_labels, *later.stated_labels],
            characters_added=characters[0],
            characters_removed=characters[1],
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
    out, runs = _side(graph.out, edit.removed, edit.added, nodes, (0, 1, 2))
    into, _ = _side(graph.into, edit.removed, edit.added, nodes, (2, 1, 0))
    came = _origins(runs, len(out.neighbour) - graph.slots)
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
    return _with_sources(result, edit), came


def _with_sources(graph: Graph, edit: GraphEdit) -> Graph:
    """Say of the triples of a graph that is edited which ones no source states."""
    if not len(edit.inferred) and not len(edit.restated):
        return graph
    source = grown(graph.source, len(graph.source))
    for triples, number in ((edit.inferred, INFERRED), (edit.restated, 0)):
        slots = triple_slots(graph, triples)
        source[slots[slots >= 0]] = number
    return replace(graph, source=source)


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
    packed = np.setdiff1d(held.pairs[:, 0].astype(np.int64) << 32 | held.pairs[:, 1], removed)
    packed = np.union1d(packed, added)
    return Stated(
        names,
        extended(held.label, labels),
        np.stack([packed >> 32, packed & 0xFFFFFFFF], axis=1).astype(np.int32),
        tuple(sorted((set(held.characters) - set(changes[3])) | set(changes[2]))),
    )


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


class _Runs(NamedTuple):
    """Edges that are copied: `length` of them from the slot `start` on, to `to` behind all slots."""

    start: Int64
    to: Int64
    length: Int64

    def copy(self, column: NDArray[_T], behind: NDArray[_T]) -> None:
        """Copy the edges of a column into what comes behind it."""
        for start, to, length in zip(*(part.tolist() for part in self), strict=True):
            behind[to : to + length] = column[start : start + length]


def _side(
    side: Adjacency, removed: Int64, added: Int64, nodes: int, columns: tuple[int, int, int]
) -> tuple[Adjacency, _Runs]:
    """One direction after the edit: lists that change are put behind all others.

    Also which runs of edges they are made of beside those that are new.
    """
    if not len(added) and not len(removed) and nodes == len(side.starts):
        return side, _Runs(*(np.empty(0, np.int64) for _ in range(3)))
    added = added[np.lexsort([added[:, column] for column in reversed(columns)])][:, columns]
    removed = removed[:, columns]
    touched = np.unique(np.concatenate([removed[:, 0], added[:, 0]]))
    starts, stops = grown(side.starts, nodes), grown(side.stops, nodes)
    starts[len(side.starts) :] = stops[len(side.starts) :] = 0
    lengths = stops[touched] - starts[touched]
    # Places count in the lists of all touched nodes, one behind the other.
    begins = np.cumsum(lengths) - lengths
    gone, place = (
        _places(side, starts, stops, edges)
        + (begins - starts[touched])[np.searchsorted(touched, edges[:, 0])]
        for edges in (removed, added)
    )
    gone = np.sort(gone)
    runs = _runs(begins, starts[touched], int(lengths.sum()), gone, place)
    np.add.at(lengths, np.searchsorted(touched, added[:, 0]), 1)
    np.subtract.at(lengths, np.searchsorted(touched, removed[:, 0]), 1)
    slots, more = len(side.relation), int(lengths.sum())
    stops[touched] = slots + np.cumsum(lengths)
    starts[touched] = stops[touched] - lengths
    new = place - np.searchsorted(gone, place) + np.arange(len(place))
    relation, neighbour = grown(side.relation, slots + more), grown(side.neighbour, slots + more)
    for number, (column, grown_column) in enumerate(
        ((side.relation, relation), (side.neighbour, neighbour)), 1
    ):
        runs.copy(column, grown_column[slots:])
        grown_column[slots + new] = added[:, number]
    moved = np.stack([starts[touched], touched], axis=1)[lengths > 0]
    result = Adjacency(
        starts,
        stops,
        relation,
        neighbour,
        side.offsets,
        np.concatenate([side.moved, moved]),
        side.edges + len(added) - len(removed),
    )
    return result, runs


def _runs(begins: Int64, starts: Int64, edges: int, gone: Int64, place: Int64) -> _Runs:
    """Cut lists where edges go and come.

    Lists begin at the places `begins`, and in slots `starts`, with `edges` in all; the edges at the places
    `gone` (ascending) are left out, and one more comes before each of `place` (ascending).
    """
    cuts = np.unique(np.concatenate([begins, gone, gone + 1, place, [edges]]))
    first, length = cuts[:-1], np.diff(cuts)
    kept = ~np.isin(first, gone)
    first, length = first[kept], length[kept]
    inside = np.searchsorted(begins, first, "right") - 1
    to = first - np.searchsorted(gone, first) + np.searchsorted(place, first, "right")
    return _Runs(first - begins[inside] + starts[inside], to, length)


def _origins(runs: _Runs, count: int) -> Int64:
    """From which slot each of `count` edges behind came, -1 for one that is new."""
    found = np.full(count, -1, np.int64)
    for start, to, length in zip(*(part.tolist() for part in runs), strict=True):
        found[to : to + length] = np.arange(start, start + length)
    return found


def _places(side: Adjacency, starts: Int64, stops: Int64, edges: Int64) -> Int64:
    """Find the first slot of a node that is not before (relation, neighbour), for all `edges` at once.

    Their columns are node, relation and neighbour; a binary search.
    """
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
    source = graph.source[graph.out.slots()]
    return replace(graph, out=_packed_side(graph.out), into=_packed_side(graph.into), source=source)


def _packed_side(side: Adjacency) -> Adjacency:
    _, relation, neighbour = side.columns()
    return Adjacency.packed(offsets_of(side.degrees()), relation, neighbour)


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
    held = np.repeat(np.arange(nodes), np.diff(offsets)) << 32 | types.type
    held = np.delete(held, held.searchsorted(np.array(gone, np.int64)))
    held = np.insert(held, held.searchsorted(np.array(new, np.int64)), new)
    offsets = offsets_of(np.bincount(held >> 32, minlength=nodes))
    return Types(appended(types.names, list(known)[first:]), offsets, (held & 0xFFFFFFFF).astype(np.int32))


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
