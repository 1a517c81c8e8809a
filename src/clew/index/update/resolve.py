"""What an update adds and removes by name → the same by ids of one graph."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from clew.errors import UsageError
from clew.foundation.forms import local_name
from clew.graph import XSD
from clew.graph.beside import ENDS, line_of, term_of
from clew.graph.edit import EdgeIds, GraphEdit, NodeText, triple_array
from clew.graph.graph import INFERRED, Graph, StatementRow
from clew.graph.inference import has_rules
from clew.graph.readers.batch import EdgeStatement, End, NodeKey, shown_key
from clew.graph.readers.columns import SEPARATORS, TYPED_SHARE
from clew.graph.values import DATE_TYPES, NUMBER_TYPES, ColumnType, shown_properties
from clew.index.names import NamesIndex
from clew.index.update.edits import (
    USUAL,
    EditReport,
    EditRules,
    Edits,
    Following,
    NamedText,
    NamedTexts,
    NamedTriple,
    TypeEdits,
    with_following,
)


@dataclass(frozen=True, slots=True)
class _Range:
    """What a relation leads to: literals of some `datatypes`, the commonest first, or entities."""

    datatypes: tuple[str, ...] = ()
    refers: bool = False

    def read(self, key: NodeKey) -> NodeKey | None:
        """A literal as the others of the relation are; None if it is of another type."""
        text, own = (key, "") if isinstance(key, str) else key
        type_ = ColumnType.of(own)
        for datatype in self.datatypes:
            of_index = ColumnType.of(datatype)
            if not _is_measured(datatype):
                return text, datatype
            # A column that shows how it is written is read so, as one of euros among dollars.
            differs = (type_.comma and not of_index.comma) or (type_.unit and type_.unit != of_index.unit)
            order = type_.day_first
            read = None if differs or order not in (None, of_index.day_first) else of_index.datatype_of(text)
            if read is not None:
                return text, read
        return None


def _is_measured(datatype: str) -> bool:
    """Whether values of a datatype are read, and not only kept, as texts of a language are."""
    return _kind(datatype) in ("number", "date", XSD + "time", XSD + "boolean")


def _ranges(graph: Graph) -> dict[int, _Range]:
    """What each relation leads to, where that is the same nearly always."""
    values, width = graph.values, len(graph.values.datatypes) + 1
    relation, tail = graph.out.relation, graph.out.neighbour
    pairs = relation.astype(np.int64) * width + values.datatype[tail] + 1
    if len(graph.relations) * width <= MOST_COUNTED:
        counts = np.bincount(pairs)
        keys = np.flatnonzero(counts)
        counts = counts[keys]
    else:
        keys, counts = np.unique(pairs, return_counts=True)
    by_relation: dict[int, Counter[str]] = {}
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        number, datatype = divmod(key, width)
        name = values.datatypes[datatype - 1] if datatype else ""
        by_relation.setdefault(number, Counter())[name] += count
    ranges: dict[int, _Range] = {}
    for number, found in by_relation.items():
        kinds = Counter[str]()
        for datatype, count in found.items():  # entities are of the datatype ""
            kinds[_kind(datatype)] += count
        kind, count = kinds.most_common(1)[0]
        if count >= TYPED_SHARE * found.total():
            datatypes = (datatype for datatype, _ in found.most_common() if _kind(datatype) == kind)
            ranges[number] = _Range(tuple(filter(None, datatypes)), refers=not kind)
    return ranges


def _kind(datatype: str) -> str:
    """What a datatype is, but for how it is written: all numbers are one kind."""
    base = ColumnType.of(datatype).base
    return "number" if base in NUMBER_TYPES else "date" if base in DATE_TYPES else base


NodeT = TypeVar("NodeT", bound=NodeKey)
_Change = TypeVar("_Change", EdgeIds, NodeText)
_SCOPED = re.compile(r"^_:[0-9a-f]{8}/")
MOST_COUNTED = 1 << 24
"""Pairs of a relation and a datatype that are counted in a table of all."""
_TEXT = XSD + "string"
MOST_MISSING = 5
"""Missing triples and unknown names that a message shows."""


def resolve(
    graph: Graph, names: NamesIndex, edits: Edits, rules: EditRules = USUAL
) -> tuple[GraphEdit, EditReport]:
    """Find the ids of `edits` in `graph`; new names get the ids after the old ones.

    Raises UsageError: missing, unless `ignore_missing`; new, if `strict`; RDF without inference.
    """
    return _Resolver(graph, names, edits).resolve(rules)


class _Resolver:
    """The work of `resolve` for one update."""

    def __init__(self, graph: Graph, names: NamesIndex, edits: Edits) -> None:
        if edits.add_ends or edits.remove_ends:
            edits = _with_ends(edits, {*graph.relations, *(relation for _, relation, _ in edits.add)})
        self._graph, self._index, self._edits = graph, names, edits
        self._missing = list[str]()
        self._relations = {name: i for i, name in enumerate(graph.relations)}
        self._old_relations = len(self._relations)
        self._iris = edits.iris or graph.stated is not None
        # People write names where the index has ids beside them; a file of RDF, or one with labels, has ids.
        self._by_label = not edits.iris and graph.labels is not graph.entities
        self._relation_labels: dict[str, list[int]] = {}
        if self._by_label and graph.relation_labels is not graph.relations:
            for number, label in enumerate(graph.relation_labels):
                self._relation_labels.setdefault(label, []).append(number)
        self._nodes: dict[NodeKey, int] = {}
        self._new_nodes: list[NodeKey] = []
        self._types = TypeEdits(graph, self._type)
        self._unfit = Counter[str]()
        self._groups: dict[int, str] = {}

    def resolve(self, rules: EditRules) -> tuple[GraphEdit, EditReport]:
        edits, missing = self._edits, self._missing
        if edits.iris and not edits.most_inferred and self._types.infers:
            raise UsageError(
                "this index has what follows from its ontology, and updates keep it so. To leave that out, "
                "index anew with --no-inference"
            )
        removed, moved = self._removed_triples(), self._ends_of_new_relations()
        lost_nodes = [node for name in edits.remove_entities if (node := self.node(name)) >= 0]
        types_to_add = [(name, self._types.key(text)) for name, text in edits.add_types]
        types, types_removed = self._types_removed(types_to_add, lost_nodes)
        add, remove = edits.add_characters, edits.remove_characters
        characters = self._types.characters(add, remove, edits.remove_entities, missing)
        names_to_remove = [(self._stored_key(name), text) for name, text in edits.remove_names]
        aliases, aliases_removed = self._aliases_removed(names_to_remove, lost_nodes)
        if missing and not rules.ignore_missing:
            examples = "; ".join(missing[:MOST_MISSING]) + (" …" if len(missing) > MOST_MISSING else "")
            raise UsageError(
                f"{len(missing):,} of what is to be removed is not in the index: {examples}. "
                "Nothing was changed; --ignore-missing goes on without it"
            )
        added, restated, duplicates = self._added_triples([*removed, *moved])
        for name in edits.nodes:
            self._ensure_node(name)
        types_added = self._new_pairs(types, types_removed, types_to_add)
        renamed = self._renamed()
        aliases_removed += [pair for pair in renamed.items() if pair in aliases]
        aliases_to_add = [*edits.add_aliases, *self._other_names(edits.add_names)]
        aliases_added = [
            pair for pair in self._new_pairs(aliases, aliases_removed, aliases_to_add)
            if renamed.get(pair[0]) != pair[1]
        ]  # fmt: skip
        relations = list(self._relations)[self._old_relations :]
        if rules.strict and (self._new_nodes or relations):
            examples = ", ".join([*map(shown_key, self._new_nodes), *relations][:MOST_MISSING])
            raise UsageError(
                f"{len(self._new_nodes):,} entities and {len(relations):,} relations are not in the index: "
                f"{examples}. Nothing was changed; without --strict they are made"
            )
        net_added, net_removed = _changes([*removed, *(t for t in moved if t not in removed)], added)
        new_aliases, old_aliases = _changes(aliases_removed, aliases_added)
        moved_lines = self._lines_of(triple for triple in moved if triple not in removed)
        edit = GraphEdit(
            triple_array(net_added),
            triple_array(net_removed),
            [shown_key(key) for key in self._new_nodes],
            [self._label(key) if isinstance(key, str) else key[0] for key in self._new_nodes],
            [None if isinstance(key, str) else key[1] for key in self._new_nodes],
            relations,
            [self._label(name) for name in relations],
            aliases_added=sorted(new_aliases, key=lambda pair: pair[0]),
            aliases_removed=old_aliases,
            renamed=sorted(renamed.items()),
            characters_added=characters[0],
            characters_removed=characters[1],
            statements=self._statements({*net_added, *restated}, set(net_removed)),
            unsaid=sorted(removed),
            restated=triple_array(restated),
            beside_added=[
                *edits.add_beside,
                *(line for line in moved_lines if line not in edits.remove_beside),
            ],
            beside_removed=[*edits.remove_beside, *self._lines_of(t for t in net_removed if t not in moved)],
            beside_lost=[term_of(name) for name in edits.remove_entities],
        )
        edit = self._types.changed(edit, types, *_changes(types_removed, types_added))
        edit, following = with_following(self._graph, edit, self._type, edits.most_inferred)
        return edit, EditReport(
            len(added) + len(restated), len(removed), duplicates, len(missing), tuple(missing[:MOST_MISSING]),
            sum(isinstance(key, str) for key in self._new_nodes), len(relations), len(types_added),
            len(aliases_added), edits.skipped, tuple(edits.reasons),
            (*edits.notes, *self._notes(following)),
            following,
        )  # fmt: skip

    def _types_removed(
        self, to_add: NamedTexts, lost_nodes: Sequence[int]
    ) -> tuple[set[NodeText], list[NodeText]]:
        """The types that are stated of what changes and of `lost_nodes`, and those that go."""
        to_remove = [
            (self._stored_key(name), self._types.key(text)) for name, text in self._edits.remove_types
        ]
        stated_types = self._types.of(self._known_nodes([*to_remove, *to_add], lost_nodes))
        to_remove = self._types.as_written(stated_types, [(self.node(pair[0]), pair) for pair in to_remove])
        return stated_types, self._removed_pairs(stated_types, to_remove, lost_nodes)

    def _aliases_removed(
        self, names: NamedTexts, lost_nodes: Sequence[int]
    ) -> tuple[set[NodeText], list[NodeText]]:
        """The aliases of what changes and of `lost_nodes`, and those that go, of which some are `names`."""
        edits, aliases = self._edits, self._graph.aliases
        to_remove = [*edits.remove_aliases, *self._other_names(names)]
        named_texts = [*to_remove, *edits.add_aliases, *edits.add_names]
        is_near = np.isin(aliases.entity, list(self._known_nodes(named_texts, lost_nodes)))
        node_aliases = {
            (int(aliases.entity[row]), aliases.names[row]) for row in np.flatnonzero(is_near).tolist()
        }
        return node_aliases, self._removed_pairs(node_aliases, to_remove, lost_nodes)

    def _ends_of_new_relations(self) -> list[EdgeIds]:
        """What the graph says of the ends of properties that become relations, which is kept beside it."""
        graph, found = self._graph, list[EdgeIds]()
        if graph.beside is None or not any(end in self._relations for end in ENDS):
            return found
        for name in {relation for _, relation, _ in self._edits.add} - self._relations.keys():
            node = self.node(name)
            for slot in range(*graph.out.span(node)) if 0 <= node < graph.nodes else ():
                if graph.relations[int(graph.out.relation[slot])] in ENDS and not self._follows(slot):
                    found.append((node, int(graph.out.relation[slot]), int(graph.out.neighbour[slot])))
        return found

    def _lines_of(self, triples: Iterable[EdgeIds]) -> Iterator[str]:
        """Triples as lines of `Graph.beside`, where named graphs may state them too."""
        graph = self._graph
        if graph.beside is None:
            return
        for head, relation, tail in triples:
            datatype = int(graph.values.datatype[tail])
            text = graph.entities[tail]
            key = text if datatype < 0 else (text, graph.values.datatypes[datatype])
            if datatype < 0 or not key[1] or key[1].startswith("@") or ":" in key[1]:
                yield line_of((graph.entities[head], graph.relations[relation], key))

    def _notes(self, following: Following | None) -> Iterator[str]:
        """Notes on values unlike others of their relation, and on what a new index would infer otherwise."""
        for relation, count in self._unfit.items():
            values = "1 value is" if count == 1 else f"{count:,} values are"
            yield f"{relation}: {values} not as the others of the index are, and kept as written"
        if following is not None and following.cut:
            yield (
                f"more follows from the ontology than the {self._edits.most_inferred:,} that are added; the "
                "rest is left out, maybe another part than if the sources were indexed anew"
            )
        spoken = has_rules(relation for _, relation, _ in (*self._edits.add, *self._edits.remove))
        if not self._types.infers and (spoken or np.any(self._graph.source == INFERRED)):
            yield (
                "what follows from the ontology is as it was, as the index was made with --no-inference or "
                "by an older Clew: index anew for what follows from this update"
            )

    def _removed_triples(self) -> list[tuple[int, int, int]]:
        """Triples to be removed; notes what is not there."""
        triples: dict[tuple[int, int, int], None] = {}
        for head, relation, tail, _ in self._one_by_one(self._edits.remove):
            ends = self._stored_key(head), self._stored_key(tail)
            number = self._relation(relation)
            ids = self.node(ends[0]), number, self.node(self._as_tail(number, ends[1]))
            triple = -1 if min(ids) < 0 else self._graph.find_triple(*ids)
            if triple < 0 or self._follows(triple):
                inferred = " (inferred: no source states it)" if triple >= 0 else ""
                self._missing.append(f"{shown_key(ends[0])} {relation} {shown_key(ends[1])}{inferred}")
            else:
                triples[ids] = None
        for name in self._edits.remove_entities:
            node = self.node(name)
            if node < 0:
                self._missing.append(name)
            else:
                of_node = self._graph.triples_of(node)
                triples |= {t: None for t in of_node if not self._follows(self._graph.find_triple(*t))}
        return list(triples)

    def _stored_key(self, key: NodeT) -> NodeT:
        """What the index calls a node that is removed: a blank node of its first source has no scope."""
        if isinstance(key, str) and _SCOPED.match(key) and self.node(key) < 0:
            return _SCOPED.sub("_:", key)
        return key

    def _follows(self, triple: int) -> bool:
        """Whether a triple is inferred, and so comes and goes by itself."""
        return self._types.infers and int(self._graph.source[triple]) == INFERRED

    def _added_triples(self, removed: Sequence[EdgeIds]) -> tuple[list[EdgeIds], list[EdgeIds], int]:
        """Triples that are new, those that were inferred and are stated now, and how many are neither."""
        removed_set, added, duplicates = set(removed), dict[EdgeIds, None](), 0
        restated: dict[EdgeIds, None] = {}
        old_nodes = self._graph.nodes
        for head, relation, tail, _ in self._one_by_one(self._edits.add):
            node, number = self._ensure_node(head), self._relation(relation)
            if number < 0:
                number = self._relations[relation] = len(self._relations)
            ids = (node, number, self._ensure_node(self._as_tail(number, tail, note=True)))
            is_old = max(ids[0], ids[2]) < old_nodes and ids[1] < self._old_relations
            triple = self._graph.find_triple(*ids) if is_old else -1
            if ids in added or ids in restated:
                duplicates += 1
            elif triple < 0 or ids in removed_set:
                added[ids] = None
            elif self._follows(triple):
                restated[ids] = None
            else:
                duplicates += 1
        return list(added), list(restated), duplicates

    def _statements(self, added: Container[EdgeIds], removed: Container[EdgeIds]) -> list[StatementRow]:
        """New edges with properties, of triples that are stated in the end."""
        rows: list[StatementRow] = []
        for head, relation, tail, properties in self._one_by_one(self._edits.statements):
            number = self._relation(relation)
            ids = self.node(head), number, self.node(self._as_tail(number, tail))
            is_old = max(ids[0], ids[2]) < self._graph.nodes and ids[1] < self._old_relations
            triple = self._graph.find_triple(*ids) if is_old and min(ids) >= 0 else -1
            if (triple >= 0 and ids not in removed and not self._follows(triple)) or ids in added:
                rows.append((ids, shown_properties(properties, self._label)))
        return rows

    @cached_property
    def _ranges(self) -> dict[int, _Range]:
        return {} if self._edits.iris else _ranges(self._graph)

    def _one_by_one(self, triples: Iterable[NamedTriple | EdgeStatement]) -> Iterator[EdgeStatement]:
        """Triples with their properties, of a tail that lists entities one for each: *Ann Orr; Ben Ash*."""
        for head, relation, tail, *properties in triples:
            for part in self._listed(self._relation(relation), tail):
                yield head, relation, part, properties[0] if properties else ()

    def _listed(self, relation: int, key: NodeKey) -> Sequence[NodeKey]:
        """The parts of a text, if it is none of what a relation leads to and all of them are; else it."""
        text, range_ = key if isinstance(key, str) else key[0], self._ranges.get(relation)
        marks = [mark for mark in SEPARATORS if mark in text] if range_ is not None and range_.refers else []
        for mark in marks if marks and self._referred(relation, text) < 0 else ():
            parts = [part.strip() for part in text.split(mark)]
            if all(self._referred(relation, part) >= 0 for part in parts):
                return parts
        return [key]

    def _as_tail(self, relation: int, key: NodeKey, *, note: bool = False) -> NodeKey:
        """A tail as the index reads those of its relation; what does not fit stays, counted in a `note`."""
        range_ = self._ranges.get(relation)
        if range_ is None:
            return key
        text, own = (key, None) if isinstance(key, str) else key
        if range_.refers:
            node = self._referred(relation, text)
            if node >= 0:
                return self._graph.entities[node]
            return key if own is not None and _kind(own) != _TEXT else text
        if own is None and not _is_measured(range_.datatypes[0]) and self.node(text) >= 0:
            return key
        read = range_.read(key)
        if read is None and note:
            self._unfit[self._graph.relation_labels[relation]] += 1
        return key if read is None else read

    def _referred(self, relation: int, text: str) -> int:
        """The entity that is an id or a name among those that a relation leads to; -1 without one."""
        if relation not in self._groups:
            tails = self._graph.out.neighbour[np.flatnonzero(self._graph.out.relation == relation)[:50]]
            ids = (self._graph.entities[node] for node in tails.tolist())
            groups = {id_[: id_.rfind(":") + 1] for id_ in ids}
            self._groups[relation] = groups.pop() if len(groups) == 1 else ""
        own = self.node(text)
        if 0 <= own < self._graph.nodes or not self._groups[relation]:
            return own if own < self._graph.nodes else -1
        node = self.node(self._groups[relation] + text)
        return node if node < self._graph.nodes else -1

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
                datatype_id = int(values.datatype[hit.entity])
                if (None if datatype_id < 0 else values.datatypes[datatype_id]) == datatype:
                    return hit.entity
        if not self._by_label or datatype is not None or name in self._edits.labels:
            return -1
        called = [
            hit.entity
            for hit in self._index.exact(name)
            if self._graph.labels[hit.entity] == name and int(values.datatype[hit.entity]) < 0
        ]
        if len(called) > 1:
            ids = ", ".join(self._graph.entities[node] for node in called[:MOST_MISSING])
            raise UsageError(
                f"{len(called):,} entities are called {name}: {ids}. Nothing was changed; write the one that "
                f"you mean by its id, or as {name} ({self._graph.entities[called[0]]})"
            )
        if not called:
            ids = {hit.entity for hit in self._index.exact(name) if hit.kind == "alias"}
            called = [node for node in ids if self._graph.entities[node].endswith(f":{name}")]
            called = called if len(called) == 1 else []
        with_id = self._index.with_id(name)
        return called[0] if called else -1 if with_id is None else with_id

    def _relation(self, name: str) -> int:
        """Number of a relation by its name, or by what people read of it; -1 if there is none."""
        if name in self._relations:
            return self._relations[name]
        numbers = self._relation_labels.get(name, ())
        if len(numbers) > 1:
            names = ", ".join(self._graph.relations[number] for number in numbers)
            raise UsageError(
                f"{len(numbers):,} relations are called {name}: {names}. Nothing was changed; write the one "
                "that you mean in full"
            )
        return numbers[0] if numbers else -1

    def _ensure_node(self, key: NodeKey) -> int:
        node = self.node(key)
        if node < 0:
            node = self._nodes[key] = self._graph.nodes + len(self._new_nodes)
            self._new_nodes.append(key)
        return node

    def _known_nodes(self, pairs: NamedTexts, nodes: Sequence[int]) -> set[int]:
        ids = {self.node(entity) for entity, _ in pairs} | set(nodes)
        return {node for node in ids if 0 <= node < self._graph.nodes}

    def _removed_pairs(
        self, present: set[NodeText], remove: NamedTexts, nodes: Sequence[int]
    ) -> list[NodeText]:
        """Pairs to be removed, and all of `nodes`; notes what is not there."""
        lost_nodes = set(nodes)
        pairs = dict.fromkeys(sorted(pair for pair in present if pair[0] in lost_nodes))
        for entity, text in remove:
            pair = (self.node(entity), text)
            if pair in present:
                pairs[pair] = None
            else:
                self._missing.append(f"{entity} {text}")
        return list(pairs)

    def _new_pairs(
        self, present: set[NodeText], removed: Sequence[NodeText], add: NamedTexts
    ) -> list[NodeText]:
        """Pairs that are new; one that is removed and added stays as it is."""
        remaining = present - set(removed)
        pairs = dict.fromkeys((self._ensure_node(entity), text) for entity, text in add)
        return [pair for pair in pairs if pair not in remaining]

    def _type(self, name: str) -> str:
        """What people read of a type or relation: its label or local name."""
        node = self.node(name) if self._iris else -1
        return self._graph.labels[node] if 0 <= node < self._graph.nodes else self._label(name)

    def _other_names(self, pairs: NamedTexts) -> list[NamedText]:
        """Those pairs that name an entity otherwise than by its name and label."""
        others: list[NamedText] = []
        for name, text in pairs:
            node = self.node(name)  # which may be new
            label = self._graph.labels[node] if 0 <= node < self._graph.nodes else self._label(name)
            if node >= 0 and text not in (name, label):
                others.append((name, text))
        return others

    def _renamed(self) -> dict[int, str]:
        """The new label of each entity whose label is removed: the one that is added, else its name."""
        renamed: dict[int, str] = {}
        for name, text in self._edits.remove_names:
            name, entities = self._stored_key(name), self._graph.entities
            node = self.node(name)
            if 0 <= node < self._graph.nodes:
                without_label = self._label(entities[node])
                if text == self._graph.labels[node] != without_label:
                    renamed[node] = without_label
        return renamed

    def _label(self, name: str) -> str:
        return self._edits.labels.get(name) or (local_name(name) if self._iris else name)


def _with_ends(edits: Edits, relations: Container[str]) -> Edits:
    """Edits with what is said of ends of properties among the lines or the triples, as in a build."""

    def split(ends: Sequence[End]) -> tuple[list[NamedTriple], list[str]]:
        triples: list[NamedTriple] = [(h, r, t) for h, r, t, _ in ends if h not in relations]
        return triples, [line for head, _, _, line in ends if head in relations]

    (added, lines), (removed, removed_lines) = split(edits.add_ends), split(edits.remove_ends)
    return replace(
        edits,
        add=[*edits.add, *added],
        remove=[*edits.remove, *removed],
        add_beside=[*edits.add_beside, *lines],
        remove_beside=[*edits.remove_beside, *removed_lines],
    )


def _changes(removed: Sequence[_Change], added: Sequence[_Change]) -> tuple[list[_Change], list[_Change]]:
    """What is added and what is removed; nothing is both."""
    removed_set, added_set = set(removed), set(added)
    return [item for item in added if item not in removed_set], [
        item for item in removed if item not in added_set
    ]
