"""What follows from an ontology after an edit: exactly what indexing the edited sources would add.

Where an edit touches nothing that something follows from, nothing is done; otherwise all that follows is
inferred again from what is stated, in memory, and the difference is a part of the same generation. For that
`graph.stated` keeps what `Types` loses: types by their IRIs, without those that follow, and which properties
are symmetric or transitive. Another choice than a fresh index is made only where more follows than may be
added. A triple that a source comes to state is inferred no more, and follows again when it is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from clew.foundation.arrays import Int32, Int64
from clew.graph.build import GrowingIds
from clew.graph.edit import GraphEdit, NodeText, edited, rows_of, triple_array, triple_slots
from clew.graph.graph import INFERRED, Graph, Stated, packed_pairs
from clew.graph.inference import Ontology, has_rules, is_schema


@dataclass(frozen=True, slots=True)
class Following:
    """How many triples and types follow newly, and no longer; `cut`: more follows than may be added."""

    triples: int = 0
    triples_gone: int = 0
    types: int = 0
    types_gone: int = 0
    cut: bool = False


def with_following(
    graph: Graph, edit: GraphEdit, label: Callable[[str], str], most_inferred: int
) -> tuple[GraphEdit, Following | None]:
    """An edit of `graph` as its sources state it, with what follows from it and what follows no longer.

    None where nothing was inferred: there is no ontology, or the edit changes nothing that something follows
    from. `label` says what people read of a relation that only an ontology names. At most so many triples
    (`most_inferred`) follow, and types.
    """
    after, _ = edited(graph, edit)
    stated = after.stated_types
    if stated is None:
        return edit, None
    if not (stated.characters or edit.characters_removed or has_rules(after.relations)):
        return edit, None  # there is no ontology
    inference = _Inference(after, stated, most_inferred)
    if not inference.is_touched(edit):
        return edit, None
    triples, types = inference.infer()
    slots = np.full(len(triples), -1, np.int64)
    known = triples[:, 1] < len(after.relations)
    slots[known] = triple_slots(after, triples[known])
    removed = _triples_of(after, np.setdiff1d(inference.inferred_slots(), slots))
    added = triples[slots < 0]
    new_relations = inference.new_relations()
    types_added, types_removed = inference.changed_types(types)
    counts = (len(added), len(removed), len(types_added), len(types_removed))
    # A triple that is removed and follows stays, as an inferred one.
    following, gone = set(rows_of(added)), set(rows_of(edit.removed))
    all_types_added = [*edit.types_added, *types_added]
    all_types_removed = [*edit.types_removed, *types_removed]
    edit = replace(
        edit,
        added=triple_array({*rows_of(edit.added), *(following - gone)}),
        removed=triple_array({*(gone - following), *rows_of(removed)}),
        relations=[*edit.relations, *new_relations],
        relation_labels=[*edit.relation_labels, *map(label, new_relations)],
        types_added=[pair for pair in all_types_added if pair not in all_types_removed],
        types_removed=[pair for pair in all_types_removed if pair not in all_types_added],
        inferred=added,
    )
    return edit, Following(*counts, cut=inference.ontology.cut)


class _Inference:
    """An edited graph, and the ontology that its sources state."""

    def __init__(self, graph: Graph, stated: Stated, most_inferred: int) -> None:
        self._graph, self._stated = graph, stated
        self._relations: GrowingIds[str] = GrowingIds()
        self._relations.of(list(graph.relations))
        self._columns = graph.out.columns()
        self._sources = np.asarray(graph.source)
        schema = self._rows(name for name in graph.relations if is_schema(name))
        self.ontology = Ontology(schema, self._name, self._relations, stated.characters, most_inferred)
        self._relations_in_play = self.ontology.relations_in_play()
        # Types that are classes in play: their numbers in `stated`, and the nodes.
        numbers = {name: number for number, name in enumerate(stated.names)}
        classes = ((class_, self._name(class_)) for class_ in sorted(self.ontology.classes_in_play()))
        self._classes = {numbers[name]: class_ for class_, name in classes if name in numbers}

    def _name(self, node: int) -> str | None:
        literal = int(self._graph.values.datatype[node]) >= 0
        return None if literal else self._graph.entities[node]

    def _rows(self, relations: Iterable[str]) -> Int64:
        """The stated triples of some relations, int64 [n, 3]."""
        numbers = np.array([self._relations[name] for name in relations if name in self._relations], np.int64)
        head, relation, tail = self._columns
        rows = np.flatnonzero(np.isin(relation, numbers) & (self._sources != INFERRED))
        return np.stack([head[rows], relation[rows], tail[rows]], axis=1).astype(np.int64)

    def is_touched(self, edit: GraphEdit) -> bool:
        """Whether the edit changes anything that something follows from, or that follows."""
        if edit.characters_added or edit.characters_removed:
            return True
        changed = np.unique(np.concatenate([edit.added[:, 1], edit.removed[:, 1], edit.restated[:, 1]]))
        names = [self._graph.relations[number] for number in changed.tolist()]
        if any(is_schema(name) or name in self._relations_in_play for name in names):
            return True
        classes = {self._stated.names[number] for number in self._classes}
        return any(name in classes for _, name in (*edit.stated_added, *edit.stated_removed))

    def infer(self) -> tuple[Int64, Int32]:
        """What follows: triples, int64 [n, 3], and types (node, class), int32 [n, 2]."""
        nodes = np.full(len(self._stated.names), -1, np.int32)
        nodes[list(self._classes)] = list(self._classes.values())
        classes = nodes[self._stated.pairs[:, 1]]
        types = np.stack([self._stated.pairs[:, 0], classes], axis=1)[classes >= 0]
        return self.ontology.infer(self._rows(self._relations_in_play), types)

    def inferred_slots(self) -> Int64:
        """The triples that no source states, ascending."""
        return np.flatnonzero(self._sources == INFERRED)

    def new_relations(self) -> list[str]:
        """Relations that only the ontology names, of which triples follow."""
        return list(self._relations)[len(self._graph.relations) :]

    def changed_types(self, following: Int32) -> tuple[list[NodeText], list[NodeText]]:
        """(node, label) to be added to the types and removed, so that they are what is stated and follows."""
        types, stated = self._graph.types, self._stated
        labels = {label: number for number, label in enumerate(types.names)}
        label_numbers = {class_: int(stated.label[number]) for number, class_ in self._classes.items()}
        for class_ in np.unique(following[:, 1]).tolist():
            if class_ not in label_numbers:
                label_numbers[class_] = labels.setdefault(self._graph.labels[class_], len(labels))
        ids = [label_numbers[class_] for class_ in following[:, 1].tolist()]
        expected_pairs = np.concatenate([
            packed_pairs(stated.pairs[:, 0], stated.label[stated.pairs[:, 1]]),
            packed_pairs(following[:, 0], np.array(ids, np.int64)),
        ])  # fmt: skip
        present_pairs = packed_pairs(types.owners, types.type)
        names = list(labels)
        added, removed = (
            [(pair >> 32, names[pair & 0xFFFFFFFF]) for pair in pairs.tolist()]
            for pairs in (
                np.setdiff1d(expected_pairs, present_pairs),
                np.setdiff1d(present_pairs, expected_pairs),
            )
        )
        return added, removed


def _triples_of(graph: Graph, slots: Int64) -> Int64:
    """(head, relation, tail) of some triple ids, ascending."""
    columns = (graph.out.owners(slots), graph.out.relation[slots], graph.out.neighbour[slots])
    triples = np.stack(columns, axis=1).astype(np.int64)
    return triples[np.lexsort((triples[:, 2], triples[:, 1], triples[:, 0]))]
