"""What an update adds and removes by name: read from its files, with types and what an ontology adds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from clew.foundation.arrays import Int32, Int64
from clew.graph.build import GrowingIds
from clew.graph.edit import GraphEdit, NodeText, edited, rows_of, triple_array, triple_slots
from clew.graph.graph import INFERRED, Graph, Stated, packed_pairs
from clew.graph.inference import Ontology, has_rules, is_schema
from clew.graph.readers.batch import MAX_REASONS, Batch, EdgeStatement, End, Label, NodeKey, OnError, Tally
from clew.graph.readers.columns import TableForm
from clew.graph.readers.delimited import read_pairs
from clew.graph.readers.hints import MOST_INFERRED, Hints
from clew.graph.readers.source_files import checksum, source_bytes
from clew.graph.readers.sources import Sources
from clew.graph.readers.stream import line_blocks

# Types of entities while an index is edited: as sources write them, and as people read them.
#
# An index of RDF keeps types by their IRIs (`Stated`), as an ontology speaks of them. Where it keeps labels
# alone, a type is its label here.

NamedText = tuple[str, str]
"""An entity by its name, and a text: a type, an alias or a name of it."""
NamedTexts = Sequence[NamedText]


class TypeEdits:
    """The types in a graph, and what an edit changes of them; `label` is what people read of a new one."""

    def __init__(self, graph: Graph, label: Callable[[str], str]) -> None:
        self._graph, self._label = graph, label
        self._stated = graph.stated_types

    @property
    def infers(self) -> bool:
        """Whether what follows from an ontology is inferred."""
        return self._stated is not None

    def key(self, name: str) -> str:
        """By what a type is kept: its name, or its label."""
        return self._label(name) if self._stated is None else name

    def of(self, nodes: Iterable[int]) -> set[NodeText]:
        """The types that are stated of some nodes, by their keys."""
        if self._stated is None:
            return {(node, label) for node in nodes for label in self._labels_of(node)}
        rows, names = self._stated.pairs, self._stated.names
        spans = ((node, *rows[:, 0].searchsorted([node, node + 1]).tolist()) for node in nodes)
        return {(node, names[int(rows[row, 1])]) for node, low, high in spans for row in range(low, high)}

    def as_written(
        self, stated_types: Collection[NodeText], pairs: Sequence[tuple[int, NamedText]]
    ) -> list[NamedText]:
        """Types of entities, each with its node, by their keys: people may give what they read."""
        types: Mapping[int, set[str]] = _by_node(stated_types)
        named_texts: list[NamedText] = []
        for node, (entity, text) in pairs:
            keys = types.get(node, set())
            matches = [] if text in keys else sorted(key for key in keys if self._label_of(key) == text)
            named_texts += [(entity, key) for key in matches or [text]]
        return named_texts

    def changed(
        self,
        edit: GraphEdit,
        stated_types: Collection[NodeText],
        added: Sequence[NodeText],
        removed: Sequence[NodeText],
    ) -> GraphEdit:
        """An edit, with types that are added to `stated_types` and removed from them."""
        stated, gained, lost = _by_node(stated_types), _by_node(added), _by_node(removed)
        types_added: list[NodeText] = []
        types_removed: list[NodeText] = []
        for node in dict.fromkeys([*gained, *lost]):
            table, before = self._labels_of(node), set(map(self._label_of, stated[node]))
            after = set(map(self._label_of, (stated[node] - lost[node]) | gained[node]))
            types_added += [(node, label) for label in sorted(after - table)]
            types_removed += [(node, label) for label in sorted((table & before) - after)]
        edit = replace(edit, types_added=types_added, types_removed=types_removed)
        if self._stated is None:
            return edit
        names = [key for key in dict.fromkeys(key for _, key in added) if key not in self._numbers]
        return replace(
            edit,
            stated_added=added,
            stated_removed=removed,
            stated_names=names,
            stated_labels=[self._label(key) for key in names],
        )

    def characters(
        self,
        add: Collection[NamedText],
        remove: Collection[NamedText],
        lost: Collection[str],
        missing: list[str],
    ) -> tuple[list[NamedText], list[NamedText]]:
        """Characters of properties that are new, and those that are removed; names what is not there."""
        if self._stated is None:
            return [], []
        present, to_remove = set(self._stated.characters), dict.fromkeys(remove)
        missing += [
            f"{name} is {character}" for name, character in to_remove if (name, character) not in present
        ]
        removed = {pair for pair in present if pair in to_remove or pair[0] in lost}
        return sorted(set(add) - present), sorted(removed - set(add))

    def _labels_of(self, node: int) -> set[str]:
        """What people read of the types of a node, those that follow among them."""
        types = self._graph.types
        if not 0 <= node < self._graph.nodes:
            return set()
        return {types.names[number] for number in types.of(node)}

    def _label_of(self, key: str) -> str:
        """What people read of a type."""
        if self._stated is None:
            return key
        number = self._numbers.get(key)
        label = None if number is None else int(self._stated.label[number])
        return self._label(key) if label is None else self._graph.types.names[label]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        names = () if self._stated is None else self._stated.names
        return {name: number for number, name in enumerate(names)}


def _by_node(pairs: Iterable[NodeText]) -> defaultdict[int, set[str]]:
    texts: defaultdict[int, set[str]] = defaultdict(set)
    for node, text in pairs:
        texts[node].add(text)
    return texts


# What follows from an ontology after an edit: exactly what indexing the edited sources would add.
#
# Where an edit touches nothing that something follows from, nothing is done; otherwise all that follows is
# inferred again from what is stated, in memory, and the difference is a part of the same generation. For that
# `graph.stated` keeps what `Types` loses: types by their IRIs, without those that follow, and which
# properties are symmetric or transitive. Another choice than a fresh index is made only where more follows
# than may be added. A triple that a source comes to state is inferred no more, and follows again when it is
# removed.


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

    None where no ontology is, or nothing changes that it follows from. `label` is of a relation that only an
    ontology names.
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
    # Triples that no source states, and that follow no longer.
    removed = _triples_of(after, np.setdiff1d(np.flatnonzero(after.source == INFERRED), slots))
    added = triples[slots < 0]
    new_relations = list(inference.relations)[len(after.relations) :]  # that only the ontology names
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
        self.relations: GrowingIds[str] = GrowingIds()
        self.relations.of(list(graph.relations))
        self._columns = graph.out.columns()
        schema = self._rows(name for name in graph.relations if is_schema(name))
        self.ontology = Ontology(schema, self._name, self.relations, stated.characters, most_inferred)
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
        numbers = np.array([self.relations[name] for name in relations if name in self.relations], np.int64)
        head, relation, tail = self._columns
        rows = np.flatnonzero(np.isin(relation, numbers) & (self._graph.source != INFERRED))
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


# What an update adds and removes, by name; what it is to do, and what it did.

NamedTriple = tuple[str, str, NodeKey]


@dataclass(frozen=True, slots=True)
class Edits:
    """Changes by name. What is removed goes first; an entity that is removed loses all that is said of it.

    `nodes` are entities that are made even without a triple. `add_names` and `remove_names` are what a source
    calls its entities: labels and aliases; those of other names are passed over. `labels` are names
    for people of entities and relations that are new; `iris` says that names are IRIs. `statements` are edges
    with properties, beside their triples. `add_characters` and `remove_characters` are (property, `symmetric`
    or `transitive`). `add_beside` and `remove_beside` are lines of `Graph.beside`; `add_ends` and
    `remove_ends` are such lines or triples, as the property is a relation or not. RDF that is read with 0
    for `most_inferred` is for an index that infers nothing. `tables` are how tables are read from now on.
    `skipped` lines of its files, the first `reasons` and `notes` tell of reading them.
    """

    add: Sequence[NamedTriple] = ()
    remove: Sequence[NamedTriple] = ()
    add_types: NamedTexts = ()
    remove_types: NamedTexts = ()
    add_aliases: NamedTexts = ()
    remove_aliases: NamedTexts = ()
    add_names: NamedTexts = ()
    remove_names: NamedTexts = ()
    remove_entities: Sequence[str] = ()
    nodes: Sequence[str] = ()
    labels: dict[str, str] = field(default_factory=dict[str, str])
    iris: bool = False
    statements: Sequence[EdgeStatement] = ()
    add_characters: NamedTexts = ()
    remove_characters: NamedTexts = ()
    add_beside: Sequence[str] = ()
    remove_beside: Sequence[str] = ()
    add_ends: Sequence[End] = ()
    remove_ends: Sequence[End] = ()
    most_inferred: int = MOST_INFERRED
    tables: Sequence[TableForm] = ()
    skipped: int = 0
    reasons: Sequence[str] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class EditReport:
    """What an update did.

    `duplicates` were there, `missing` (the first by name) were not to be removed; `following` are triples
    and types that now follow from an ontology, or no longer, None where nothing was inferred.
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
    skipped: int = 0
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    following: Following | None = None


@dataclass(frozen=True, slots=True)
class EditRules:
    """How an update is done: `strict` refuses new entities and relations; `wait` seconds for others."""

    strict: bool = False
    ignore_missing: bool = False
    wait: float = 5.0


USUAL = EditRules()
"""New names are made, and nothing to be removed may be missing."""


# The files of an update → `Edits`, as an index of these files would read them.


@dataclass(frozen=True)
class EditFiles:
    """The files of an update; `remove_entities` has entities, one a line, that lose all triples."""

    add: Sequence[Path] = ()
    remove: Sequence[Path] = ()
    types: Path | None = None
    aliases: Path | None = None
    remove_types: Path | None = None
    remove_aliases: Path | None = None
    remove_entities: Path | None = None
    format: str | None = None
    on_error: OnError = "fail"
    hints: Hints | None = None


def read_edits(
    files: EditFiles,
    progress: Callable[[int, int], None] | None = None,
    known: Sequence[TableForm] = (),
) -> Edits:
    """Read the files of an update, tables as the `known` ones of the index. Raises InputError, ParseError."""
    total = source_bytes([*files.add, *files.remove])
    reader = _Reading(files.on_error, replace(files.hints or Hints(), known=known), total, progress)
    added, removed = _Side(), _Side(calls_rows=False)
    for side, paths in ((added, files.add), (removed, files.remove)):
        for batch in reader.batches(paths, files.format):
            side.take(batch)
        if side is added:
            known = reader.forms(known)
    return Edits(
        add=added.triples,
        remove=removed.triples,
        nodes=added.nodes,
        add_types=[*added.types, *reader.pairs(files.types, "type")],
        remove_types=[*removed.types, *reader.pairs(files.remove_types, "type")],
        add_aliases=reader.pairs(files.aliases, "alias"),
        remove_aliases=reader.pairs(files.remove_aliases, "alias"),
        add_names=added.names,
        remove_names=removed.names,
        remove_entities=reader.lines(files.remove_entities),
        labels={name: label.text for name, label in added.labels.items()},
        iris=added.iris or removed.iris,
        statements=added.statements,
        add_characters=added.characters,
        remove_characters=removed.characters,
        add_beside=added.beside,
        remove_beside=removed.beside,
        add_ends=added.ends,
        remove_ends=removed.ends,
        most_inferred=(files.hints or Hints()).most_inferred,
        tables=known,
        skipped=sum(tally.skipped for tally in reader.tallies),
        reasons=[reason for tally in reader.tallies for reason in tally.reasons][:MAX_REASONS],
        notes=[note for tally in reader.tallies for note in tally.notes],
    )


_Row = TypeVar("_Row")


class _Reading:
    """Reads the files of one update and keeps count of what it met."""

    def __init__(
        self, on_error: OnError, hints: Hints, total: int, progress: Callable[[int, int], None] | None
    ) -> None:
        self._on_error: OnError = on_error
        self._hints = hints
        self._total, self._bytes_done, self._progress = total, 0, progress
        self.tallies: list[Tally] = []

    def batches(self, paths: Sequence[Path], format: str | None) -> Iterator[Batch]:
        """Stream the batches of files, of which the tables are looked at together.

        Blank nodes are named within their file, so that what it added can be removed by it.
        """
        sources = Sources(paths, format, self._hints)
        for index, path in enumerate(paths):
            tally = self._tally(self._tell)
            yield from sources.read(index, tally, lambda file: checksum(file)[:8])
            tally.raise_faults()
            self._bytes_done += source_bytes([path])

    def forms(self, known: Sequence[TableForm]) -> list[TableForm]:
        """The known forms of tables with the rows that were read now, and how others were read."""
        forms = [form for tally in self.tallies for form in tally.forms]
        rows = Counter[str]()
        for form in forms:
            rows[form.layout.known] += form.rows
        return [
            *(replace(form, rows=form.rows + rows[form.name]) for form in known),
            *(form for form in forms if not form.layout.known),
        ]

    def rows(self, path: Path | None, read: Callable[[Path, Tally], Iterable[Iterable[_Row]]]) -> list[_Row]:
        """Rows of a side file, if there is one."""
        if path is None:
            return []
        tally = self._tally()
        rows = [row for block in read(path, tally) for row in block]
        tally.raise_faults()
        return rows

    def pairs(self, path: Path | None, kind: str) -> list[NamedText]:
        """Pairs of a file."""
        return self.rows(path, lambda path, tally: read_pairs(path, kind, tally))

    def lines(self, path: Path | None) -> list[str]:
        """Lines of a file that are not blank."""
        return self.rows(
            path,
            lambda path, tally: (
                [line.strip() for line in lines if line.strip()] for _, lines in line_blocks(path, tally)
            ),
        )

    def _tally(self, tell: Callable[[int], None] | None = None) -> Tally:
        self.tallies.append(Tally(self._on_error, tell, collect=True, hints=self._hints))
        return self.tallies[-1]

    def _tell(self, done: int) -> None:
        if self._progress is not None:
            self._progress(self._bytes_done + done, self._total)


@dataclass(eq=False)
class _Side:
    """All that the files of one side, added or removed, say; `names` are labels and aliases."""

    calls_rows: bool = True
    """Whether ids and numbers of rows are names of them too; rows that are removed keep these."""
    triples: list[NamedTriple] = field(default_factory=list[NamedTriple])
    nodes: list[str] = field(default_factory=list[str])
    labels: dict[str, Label] = field(default_factory=dict[str, Label])
    types: list[NamedText] = field(default_factory=list[NamedText])
    names: list[NamedText] = field(default_factory=list[NamedText])
    iris: bool = False
    statements: list[EdgeStatement] = field(default_factory=list[EdgeStatement])
    characters: list[NamedText] = field(default_factory=list[NamedText])
    beside: list[str] = field(default_factory=list[str])
    ends: list[End] = field(default_factory=list[End])

    def take(self, batch: Batch) -> None:
        """Take one batch."""
        self.triples += zip(batch.heads, batch.relations, batch.tails, strict=True)
        if batch.ids is not None:
            ids = batch.ids
            names, relations = ids.entities, ids.relations
            columns = zip(ids.head.tolist(), ids.relation.tolist(), ids.tail.tolist(), strict=True)
            self.triples += [(names[h], relations[r], names[t]) for h, r, t in columns]
        self.nodes += batch.nodes
        self.types += batch.types
        if batch.iris or self.calls_rows:
            self.names += batch.aliases
        for label in batch.labels:
            is_number = bool(label.rank) and not batch.iris
            if is_number and not self.calls_rows:
                continue
            best_label = self.labels.get(label.subject)
            if best_label is None or label.rank < best_label.rank:
                self.labels[label.subject] = label
            if not is_number:  # by which a row that is there already is not called once more
                self.names.append((label.subject, label.text))
        self.iris |= batch.iris
        self.statements += batch.statements
        self.characters += batch.characters
        self.beside += batch.beside
        self.ends += batch.ends
