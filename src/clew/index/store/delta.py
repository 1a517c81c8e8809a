"""What updates changed since the arrays of an index were written whole.

An index keeps its arrays as they were built and, beside them, one edit that says what is different now. To
open it is to apply the edit: lists of edges that change go behind the others, new names have an index of
their own, and new rows follow the arrays, which stay mapped. So an update writes what it changes, and opening
costs that much more, until the edit is large and all is written whole again (`is_large`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import AnyArray, Float32, Int8, Int32, Int64
from clew.graph.edit.edit import GraphEdit, edited, rows_of
from clew.graph.edit.growing import extended
from clew.graph.graph import Aliases, Graph, Names, StatementRow
from clew.index.names.names import NamesIndex, NewNames
from clew.index.vectors.vectors import (
    ENTITY_SCALES,
    ENTITY_VECTORS,
    RELATION_VECTORS,
    TRIPLE_IDS,
    TRIPLE_SCALES,
    TRIPLE_VECTORS,
    by_triple,
)

DELTA_TEXTS = "delta.texts"
_TRIPLES = ("added", "removed", "inferred", "restated")
_VECTORS = ("entities_q", "entities_scale", "relations", "triples_q", "triples_scale", "triples_ids")


@dataclass(frozen=True)
class KeptApart:
    """How much of what updates change is kept apart; beyond one of these it is written whole."""

    changes: int = 10_000
    share: float = 0.05
    """Changes of triples and nodes: so many, or this share of all if that is more."""
    edges: int = 2_000_000
    edges_share: float = 0.15
    """Edges that move, or their share: opening the index writes them anew."""
    vectors: int = 10_000
    """Vectors newer than the file that searches them (a tenth if that is more), compared one by one."""
    corpus_parts: int = 12
    """Parts of a corpus: all but the first are put into one; all, when half of what they hold is old."""


@dataclass(frozen=True, eq=False)
class Delta:
    """An edit of the graph that an index was written with, and the vectors of what is new.

    Vectors are `entities_q` int8 [new nodes, d] with a scale each, `relations` float32 [new relations, d],
    and `triples_q` int8 [added triples, d] with a scale each, which have no rows where the index has no
    vectors of triples. Where its vectors are in Milvus, those of entities and triples have none, and
    `triples_ids` int64 [added triples] are ids there.
    """

    edit: GraphEdit
    entities_q: Int8
    entities_scale: Float32
    relations: Float32
    triples_q: Int8
    triples_scale: Float32
    triples_ids: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def open(cls, sections: Mapping[str, AnyArray]) -> Delta | None:
        """From the sections of an index; None where there are none. Raises KeyError, ValueError."""
        if DELTA_TEXTS not in sections:
            return None
        # An older Clew wrote no sources, and no ids in Milvus.
        triples = {n: sections[f"delta.{n}"] for n in _TRIPLES if f"delta.{n}" in sections}
        vectors: dict[str, Any] = {n: sections[f"delta.{n}"] for n in _VECTORS if f"delta.{n}" in sections}
        edit: Any = {**triples, **_texts(sections[DELTA_TEXTS].tobytes())}
        return cls(GraphEdit(**edit), **vectors)

    def sections(self) -> dict[str, AnyArray | bytes]:
        """Give the sections."""
        texts = {
            f.name: list(getattr(self.edit, f.name)) for f in fields(GraphEdit) if f.name not in _TRIPLES
        }
        sections: dict[str, AnyArray | bytes] = {DELTA_TEXTS: json.dumps(texts).encode()}
        sections |= {f"delta.{name}": getattr(self.edit, name) for name in _TRIPLES}
        return sections | {f"delta.{name}": getattr(self, name) for name in _VECTORS}

    def then(self, later: Delta) -> Delta:
        """One that says both, this and what comes after it."""
        edit = self.edit.then(later.edit)
        rows = {
            triple: row for row, triple in enumerate([*rows_of(self.edit.added), *rows_of(later.edit.added)])
        }
        places = [rows[triple] for triple in rows_of(edit.added)]
        vectors: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(later, name)]) for name in _VECTORS
        }
        for name in ("triples_q", "triples_scale", "triples_ids"):
            vectors[name] = vectors[name][places] if len(vectors[name]) else vectors[name]
        return Delta(edit, **vectors)


def _ids(triple: Sequence[int]) -> tuple[int, int, int]:
    head, relation, tail = triple
    return int(head), int(relation), int(tail)


def _texts(data: bytes) -> dict[str, Any]:
    raw = json.loads(data)
    pairs = ("types_added", "types_removed", "aliases_added", "aliases_removed")
    stated = ("stated_added", "stated_removed")
    characters = ("characters_added", "characters_removed")
    statements: list[StatementRow] = [
        (
            _ids(triple),
            tuple((str(key), str(text), int(kind), float(value)) for key, text, kind, value in properties),
        )
        for triple, properties in raw.get("statements", ())
    ]
    unsaid = [_ids(triple) for triple in raw.get("unsaid", ())]
    text_pairs = {
        name: [(int(node), str(text)) for node, text in raw.get(name, ())] for name in (*pairs, *stated)
    }
    text_pairs |= {
        name: [(str(relation), str(character)) for relation, character in raw.get(name, ())]
        for name in characters
    }
    return {**raw, **text_pairs, "statements": statements, "unsaid": unsaid}


@dataclass(frozen=True, eq=False)
class Whole:
    """The parts of an index that a delta changes."""

    graph: Graph
    names: NamesIndex
    sections: Mapping[str, AnyArray]


def applied(written: Whole, delta: Delta) -> Whole:
    """What an index is with a delta."""
    graph, old_slots = edited(written.graph, delta.edit)
    sections = dict(written.sections)
    new_rows = {
        ENTITY_VECTORS: delta.entities_q,
        ENTITY_SCALES: delta.entities_scale,
        RELATION_VECTORS: delta.relations,
        TRIPLE_VECTORS: delta.triples_q,
        TRIPLE_SCALES: delta.triples_scale,
        TRIPLE_IDS: delta.triples_ids,
    }
    moved = by_triple(sections)
    for section, rows in new_rows.items():
        if section in sections:
            appended = _moved_rows(sections[section], old_slots, rows) if section in moved else rows
            sections[section] = extended(sections[section], appended)
    return Whole(graph, _names(written, graph, delta.edit), sections)


def is_large(written: Whole, graph: Graph, delta: Delta, limits: KeptApart) -> bool:
    """Whether a delta is more than is kept apart, `graph` being that of `written` with it."""
    slots = written.graph.slots
    moved_edges = graph.slots - slots + len(graph.into.neighbour) - len(written.graph.into.neighbour)
    changes = max(limits.changes, limits.share * (written.graph.triples + written.graph.nodes))
    return delta.edit.size > changes or moved_edges > max(limits.edges, limits.edges_share * 2 * slots)


def _moved_rows(
    rows: NDArray[np.generic], old_slots: NDArray[np.int64], new_rows: NDArray[np.generic]
) -> NDArray[np.generic]:
    """The rows of triples behind all others: those that were there are copied."""
    later_rows = np.empty((len(old_slots), *rows.shape[1:]), rows.dtype)
    later_rows[old_slots >= 0] = rows[old_slots[old_slots >= 0]]
    later_rows[old_slots < 0] = new_rows
    return later_rows


def _names(written: Whole, graph: Graph, edit: GraphEdit) -> NamesIndex:
    """The names index of `written`, and another one of what is new."""
    old_names, first_node = written.names, written.graph.nodes
    removed_aliases = frozenset(edit.aliases_removed)
    if not edit.names and not edit.aliases_added:
        return replace(old_names, removed_aliases=removed_aliases) if removed_aliases else old_names
    entities = Names.of(edit.names)
    labels = entities if graph.labels is graph.entities else Names.of(edit.labels)
    entity: Int32 = np.array([node for node, _ in edit.aliases_added], np.int32)
    aliases = Aliases(Names.of(text for _, text in edit.aliases_added), entity)
    newer = replace(NamesIndex.of(NewNames(entities, labels, aliases)), first=first_node)
    return replace(old_names, newer=newer, removed_aliases=removed_aliases)
