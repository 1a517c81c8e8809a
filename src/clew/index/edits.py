"""What an update adds and removes, by name; and the same by ids of one graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from clew.errors import UsageError
from clew.graph.assemble import local_name
from clew.graph.edit import GraphEdit, triple_array
from clew.graph.graph import Graph
from clew.graph.readers.batch import NodeKey, Tally
from clew.graph.readers.registry import choose_reader
from clew.graph.readers.side import read_pairs
from clew.index.names import NamesIndex

Triple = tuple[str, str, NodeKey]
Pair = tuple[str, str]
_Item = TypeVar("_Item", tuple[int, int, int], tuple[int, str])
MOST_NAMED = 5
"""Missing triples and unknown names that a message shows."""


@dataclass(frozen=True, slots=True)
class Edits:
    """Changes by name. What is removed goes first; an entity that is removed loses all that is said of it.

    `labels` are names for people of entities and relations that are new; `iris` says that names are IRIs.
    """

    add: Sequence[Triple] = ()
    remove: Sequence[Triple] = ()
    add_types: Sequence[Pair] = ()
    remove_types: Sequence[Pair] = ()
    add_aliases: Sequence[Pair] = ()
    remove_aliases: Sequence[Pair] = ()
    remove_entities: Sequence[str] = ()
    labels: dict[str, str] = field(default_factory=dict[str, str])
    iris: bool = False


@dataclass(frozen=True, slots=True)
class EditReport:
    """What an update did.

    `duplicates` were added already, `missing` not there to be removed (the first by name).
    """

    added: int
    removed: int
    duplicates: int
    missing: int
    missing_examples: tuple[str, ...]
    new_entities: int
    new_relations: int
    types: int
    aliases: int


def read_edits(
    add: Iterable[Path] = (),
    remove: Iterable[Path] = (),
    *,
    types: Path | None = None,
    aliases: Path | None = None,
    remove_types: Path | None = None,
    remove_aliases: Path | None = None,
    remove_entities: Path | None = None,
    format: str | None = None,
    on_error: Literal["fail", "skip"] = "fail",
) -> Edits:
    """Read the files of an update; raises InputError and ParseError as an index of them would."""
    added, removed = _Read(on_error), _Read(on_error)
    for path in add:
        added.take(path, format)
    for path in remove:
        removed.take(path, format)
    return Edits(
        add=added.triples,
        remove=removed.triples,
        add_types=[*added.types, *_pairs(types, "type", on_error)],
        remove_types=[*removed.types, *_pairs(remove_types, "type", on_error)],
        add_aliases=[*added.aliases, *_pairs(aliases, "alias", on_error)],
        remove_aliases=[*removed.aliases, *_pairs(remove_aliases, "alias", on_error)],
        remove_entities=_lines(remove_entities),
        labels=added.labels,
        iris=added.iris,
    )


class _Read:
    """All that the files of one side say."""

    def __init__(self, on_error: Literal["fail", "skip"]) -> None:
        self._on_error: Literal["fail", "skip"] = on_error
        self.triples: list[Triple] = []
        self.types: list[Pair] = []
        self.aliases: list[Pair] = []
        self.labels: dict[str, str] = {}
        self.iris = False

    def take(self, path: Path, format: str | None) -> None:
        """Read one file."""
        for batch in choose_reader(path, format).read(path, Tally(self._on_error)):
            self.triples += zip(batch.heads, batch.relations, batch.tails, strict=True)
            if batch.ids is not None:
                ids = batch.ids
                names, relations = ids.entities, ids.relations
                columns = zip(ids.head.tolist(), ids.relation.tolist(), ids.tail.tolist(), strict=True)
                self.triples += [(names[h], relations[r], names[t]) for h, r, t in columns]
            self.types += batch.types
            self.aliases += batch.aliases
            for label in sorted(batch.labels, key=lambda found: found.rank, reverse=True):
                self.labels[label.subject] = label.text
            self.iris |= batch.iris


def _pairs(path: Path | None, kind: str, on_error: Literal["fail", "skip"]) -> list[Pair]:
    if path is None:
        return []
    return [pair for pairs in read_pairs(path, kind, Tally(on_error)) for pair in pairs]


def _lines(path: Path | None) -> list[str]:
    from clew.graph.readers.stream import line_blocks

    if path is None:
        return []
    return [line.strip() for _, lines in line_blocks(path, Tally()) for line in lines if line.strip()]


def resolve(
    graph: Graph, names: NamesIndex, edits: Edits, *, strict: bool = False, ignore_missing: bool = False
) -> tuple[GraphEdit, EditReport]:
    """Find the ids of `edits` in `graph`; new names get the ids after the old ones.

    Raises UsageError for a triple to be removed that is not there unless `ignore_missing`, and for an entity
    or relation that is new if `strict`.
    """
    return _Resolver(graph, names, edits).resolve(strict=strict, ignore_missing=ignore_missing)


class _Resolver:
    """The work of `resolve` for one update."""

    def __init__(self, graph: Graph, names: NamesIndex, edits: Edits) -> None:
        self._graph, self._index, self._edits = graph, names, edits
        self._relations = {name: i for i, name in enumerate(graph.relations)}
        self._old_relations = len(self._relations)
        self._nodes: dict[NodeKey, int] = {}
        self._new: list[NodeKey] = []

    def resolve(self, *, strict: bool, ignore_missing: bool) -> tuple[GraphEdit, EditReport]:
        edits, missing = self._edits, list[str]()
        removed = self._removed(missing)
        removed_entities = [node for name in edits.remove_entities if (node := self.node(name)) >= 0]
        held = self._types_of([*edits.remove_types, *edits.add_types], removed_entities)
        types_removed = self._gone(held, edits.remove_types, removed_entities, missing)
        held_aliases = self._aliases_of([*edits.remove_aliases, *edits.add_aliases], removed_entities)
        aliases_removed = self._gone(held_aliases, edits.remove_aliases, removed_entities, missing)
        if missing and not ignore_missing:
            shown = "; ".join(missing[:MOST_NAMED]) + (" …" if len(missing) > MOST_NAMED else "")
            raise UsageError(
                f"{len(missing):,} of what is to be removed is not in the index: {shown}. "
                "Nothing was changed; --ignore-missing goes on without it"
            )
        added, duplicates = self._added(removed)
        types_added = self._more(held, types_removed, edits.add_types)
        aliases_added = self._more(held_aliases, aliases_removed, edits.add_aliases)
        relations = list(self._relations)[self._old_relations :]
        if strict and (self._new or relations):
            shown = ", ".join([*map(_shown, self._new), *relations][:MOST_NAMED])
            raise UsageError(
                f"{len(self._new):,} entities and {len(relations):,} relations are not in the index: "
                f"{shown}. Nothing was changed; without --strict they are made"
            )
        triples = _changes(removed, added)
        edit = GraphEdit(
            triple_array(triples[0]),
            triple_array(triples[1]),
            [_shown(key) for key in self._new],
            [self._label(key) if isinstance(key, str) else key[0] for key in self._new],
            [None if isinstance(key, str) else key[1] for key in self._new],
            relations,
            [self._label(name) for name in relations],
            *_changes(types_removed, types_added),
            *_changes(aliases_removed, aliases_added),
        )
        report = EditReport(
            len(added), len(removed), duplicates, len(missing), tuple(missing[:MOST_NAMED]),
            len(self._new), len(relations), len(types_added), len(aliases_added),
        )  # fmt: skip
        return edit, report

    def _removed(self, missing: list[str]) -> list[tuple[int, int, int]]:
        """Triples to be removed; names what is not there."""
        found: dict[tuple[int, int, int], None] = {}
        for head, relation, tail in self._edits.remove:
            ids = self.node(head), self._relations.get(relation, -1), self.node(tail)
            if min(ids) < 0 or self._graph.find_triple(*ids) < 0:
                missing.append(" ".join((head, relation, _shown(tail))))
            else:
                found[ids] = None
        for name in self._edits.remove_entities:
            node = self.node(name)
            if node < 0:
                missing.append(name)
            else:
                found |= dict.fromkeys(self._triples_of(node))
        return list(found)

    def _triples_of(self, node: int) -> list[tuple[int, int, int]]:
        out, into = self._graph.out, self._graph.into
        rows = range(*out.span(node))
        found = [(node, int(out.relation[i]), int(out.neighbour[i])) for i in rows]
        rows = range(*into.span(node))
        return found + [(int(into.neighbour[i]), int(into.relation[i]), node) for i in rows]

    def _added(self, removed: Sequence[tuple[int, int, int]]) -> tuple[list[tuple[int, int, int]], int]:
        """Triples that are new; one that is removed and added stays as it is."""
        gone, found, duplicates = set(removed), dict[tuple[int, int, int], None](), 0
        old = self._graph.nodes
        for head, relation, tail in self._edits.add:
            ids = (
                self._made(head),
                self._relations.setdefault(relation, len(self._relations)),
                self._made(tail),
            )
            there = (
                max(ids[0], ids[2]) < old
                and ids[1] < self._old_relations
                and self._graph.find_triple(*ids) >= 0
            )
            if ids in found or (there and ids not in gone):
                duplicates += 1
            else:
                found[ids] = None
        return list(found), duplicates

    def node(self, key: NodeKey) -> int:
        """Id of a node, -1 if there is none."""
        if key not in self._nodes:
            self._nodes[key] = self._find(key)
        return self._nodes[key]

    def _find(self, key: NodeKey) -> int:
        name, datatype = (key, None) if isinstance(key, str) else key
        values = self._graph.values
        for hit in self._index.exact(name):
            if hit.kind == "name" and self._graph.entities[hit.entity] == name:
                held = int(values.datatype[hit.entity])
                if (None if held < 0 else values.datatypes[held]) == datatype:
                    return hit.entity
        return -1

    def _made(self, key: NodeKey) -> int:
        node = self.node(key)
        if node < 0:
            node = self._nodes[key] = self._graph.nodes + len(self._new)
            self._new.append(key)
        return node

    def _types_of(self, pairs: Sequence[Pair], nodes: Sequence[int]) -> set[tuple[int, str]]:
        """Types of the entities in `pairs`, and of `nodes`."""
        types = self._graph.types
        return {
            (node, types.names[int(type_)])
            for node in self._known(pairs, nodes)
            for type_ in types.type[types.offsets[node] : types.offsets[node + 1]]
        }

    def _aliases_of(self, pairs: Sequence[Pair], nodes: Sequence[int]) -> set[tuple[int, str]]:
        """Aliases of the entities in `pairs`, and of `nodes`."""
        if not pairs and not nodes:
            return set()
        aliases = self._graph.aliases
        rows = np.flatnonzero(np.isin(aliases.entity, list(self._known(pairs, nodes))))
        return {(int(aliases.entity[row]), aliases.names[row]) for row in rows.tolist()}

    def _known(self, pairs: Sequence[Pair], nodes: Sequence[int]) -> set[int]:
        found = {self.node(entity) for entity, _ in pairs} | set(nodes)
        return {node for node in found if 0 <= node < self._graph.nodes}

    def _gone(
        self, held: set[tuple[int, str]], remove: Sequence[Pair], nodes: Sequence[int], missing: list[str]
    ) -> list[tuple[int, str]]:
        """Pairs to be removed, and all of `nodes`; names what is not there."""
        lost = set(nodes)
        found = dict.fromkeys(sorted(pair for pair in held if pair[0] in lost))
        for entity, text in remove:
            pair = (self.node(entity), text)
            if pair in held:
                found[pair] = None
            else:
                missing.append(f"{entity} {text}")
        return list(found)

    def _more(
        self, held: set[tuple[int, str]], gone: Sequence[tuple[int, str]], add: Sequence[Pair]
    ) -> list[tuple[int, str]]:
        """Pairs that are new; one that is removed and added stays as it is."""
        there = held - set(gone)
        wanted = dict.fromkeys((self._made(entity), text) for entity, text in add)
        return [pair for pair in wanted if pair not in there]

    def _label(self, name: str) -> str:
        return self._edits.labels.get(name) or (local_name(name) if self._edits.iris else name)


def _shown(key: NodeKey) -> str:
    return key if isinstance(key, str) else key[0]


def _changes(removed: Sequence[_Item], added: Sequence[_Item]) -> tuple[list[_Item], list[_Item]]:
    """What is added and what is removed; nothing is both."""
    gone, new = set(removed), set(added)
    return [item for item in added if item not in gone], [item for item in removed if item not in new]
