"""Sources → `Graph`: names to ids, duplicates, adjacency, values, side files, and a report that counts."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

import numpy as np

from clew.errors import InputError
from clew.foundation.arrays import Int32, Int64, UInt16
from clew.foundation.forms import local_name
from clew.graph.beside import Packed
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
    counted_offsets,
    distinct_pairs,
)
from clew.graph.inference import Ontology, has_rules, is_schema
from clew.graph.naming import RUN_TOGETHER
from clew.graph.readers.arrays import NameIds
from clew.graph.readers.batch import (
    MAX_REASONS,
    RANKS,
    Batch,
    EdgeStatement,
    End,
    IdTriples,
    Label,
    NodeKey,
    OnError,
    Tally,
    shown_key,
)
from clew.graph.readers.columns import TableForm
from clew.graph.readers.delimited import read_pairs
from clew.graph.readers.hints import MOST_INFERRED, Hints
from clew.graph.readers.source_files import checksum, source_bytes
from clew.graph.readers.sources import Sources
from clew.graph.values import node_values, shown_properties

K = TypeVar("K", bound=Hashable)

PACKED_BITS = 63
"""Bits of an int64 that keys may use."""

MAX_UNKNOWN = 5
"""How many entities of side files that the graph lacks are named."""


class GrowingIds(dict[K, int]):
    """Ids in order of first appearance: looking up a key that is missing gives it the next id."""

    def __missing__(self, key: K) -> int:
        self[key] = number = len(self)
        return number

    def of(self, keys: Sequence[K]) -> Int32:
        """Ids of `keys`, int32."""
        return np.fromiter(map(self.__getitem__, keys), np.int32, len(keys))


class Assembler:
    """Collects batches and side files, then makes the graph."""

    def __init__(self) -> None:
        self.triples = self.types_read = self.aliases_read = self.labels_read = 0
        self.unknown = 0
        self.unknown_names: list[str] = []
        self._nodes: GrowingIds[NodeKey] = GrowingIds()
        self._relations: GrowingIds[str] = GrowingIds()
        self._columns: list[tuple[Int32, Int32, Int32, int]] = []
        self._labels: dict[str, Label] = {}
        self._types: list[tuple[int, str]] = []
        self._aliases: list[tuple[str, str]] = []
        self._iris = False
        self._statements: list[EdgeStatement] = []
        self._characters: list[tuple[str, str]] = []
        self.most_inferred = MOST_INFERRED
        """How many triples, and types, that follow from an ontology are added."""
        self._following_types: list[tuple[int, str]] = []
        self.cut = False
        """Whether more followed than may."""
        self.unstated = 0
        """Statements that have properties, but whose triple no source states."""
        self.forms: list[TableForm] = []
        """How tables were read."""
        self._declared: list[Int32] = []
        self._joined: list[Int32] = []
        self._joining: set[str] = set()
        self._beside = Packed()
        self._ends: dict[End, int] = {}
        self.ends_left = 0
        """Statements of what and to what relations of the graph lead, which are none of its triples."""

    def add(self, batch: Batch, source: int) -> None:
        """Take the triples, nodes, types, labels and aliases of one batch of source number `source`."""
        if batch.nodes:
            self._declared.append(self._nodes.of(batch.nodes))
        ends: list[NodeKey] = [""] * (2 * len(batch.heads))
        ends[::2], ends[1::2] = batch.heads, batch.tails
        ids = self._nodes.of(ends)
        if batch.joined:
            self._joined.append(np.unique(ids))
            self._joining.update(batch.relations)
        self._columns.append((ids[::2].copy(), self._relations.of(batch.relations), ids[1::2].copy(), source))
        self.triples += len(batch.heads)
        if (id_batch := batch.ids) is not None:
            node = self._nodes.of(list(id_batch.entities))
            relation = self._relations.of(list(id_batch.relations))[id_batch.relation]
            self._columns.append((node[id_batch.head], relation, node[id_batch.tail], source))
            self.triples += len(id_batch.head)
        self._types += [(self._nodes[entity], type_) for entity, type_ in batch.types]
        self.types_read += len(batch.types)
        self.labels_read += len(batch.labels)
        for label in batch.labels:  # the best of a subject is kept; one that loses is an alias
            best = self._labels.setdefault(label.subject, label)
            if best is not label:
                best, loser = (label, best) if label.rank < best.rank else (best, label)
                self._labels[label.subject] = best
                self._aliases.append((loser.subject, loser.text))
        self._aliases += batch.aliases
        self.aliases_read += len(batch.aliases)
        self._iris |= batch.iris
        self._statements += batch.statements
        self._characters += batch.characters
        self._beside.add(batch.beside)
        self._ends |= dict.fromkeys(batch.ends, source)

    def declare_types(self, pairs: Iterable[tuple[str, str]]) -> int:
        """Take (entity, type) pairs of a side file, counting unknown entities; returns how many it took."""
        node_types = [(self._find(entity), type_) for entity, type_ in pairs]
        known_pairs = [(node, type_) for node, type_ in node_types if node is not None]
        self._types += known_pairs
        self.types_read += len(known_pairs)
        return len(known_pairs)

    def declare_aliases(self, pairs: Iterable[tuple[str, str]]) -> int:
        """Take (entity, alias) pairs of a side file, counting unknown entities; returns how many it took."""
        known_pairs = [(entity, alias) for entity, alias in pairs if self._find(entity) is not None]
        self._aliases += known_pairs
        self.aliases_read += len(known_pairs)
        return len(known_pairs)

    def _find(self, entity: str) -> int | None:
        """Node id of an entity of a side file; one that the graph lacks is counted."""
        node = self._node(entity)
        if node is None:
            self.unknown += 1
            if len(self.unknown_names) < MAX_UNKNOWN:
                self.unknown_names.append(entity)
        return node

    def _node(self, entity: str) -> int | None:
        return self._nodes.get(entity)

    @property
    def declares(self) -> bool:
        """Whether some rows were of nodes."""
        return bool(self._declared)

    def strangers(self) -> tuple[str, ...]:
        """A note on ends of edges of tables that no row of nodes describes, if some rows describe nodes."""
        if not self._declared or not self._joined:
            return ()
        declared_nodes, joined_nodes = (
            np.unique(np.concatenate(ids)) for ids in (self._declared, self._joined)
        )
        strange = np.setdiff1d(joined_nodes, declared_nodes, assume_unique=True)
        if not len(strange):
            return ()
        first_nodes = set(strange[:MAX_UNKNOWN].tolist())
        names = [shown_key(key) for at, key in enumerate(self._nodes) if at in first_nodes]
        return (
            f"{len(strange):,} of {len(joined_nodes):,} ends of edges are not among the ids of nodes: "
            f"{', '.join(names)}{' …' if len(strange) > len(names) else ''}. {self._advice(strange)}",
        )

    def _advice(self, strange_nodes: Int32) -> str:
        """What to do about strange ends of edges: most of them may be in another column of the nodes."""
        strange_ids = set(strange_nodes.tolist())
        texts = {key for key, node in self._nodes.items() if node in strange_ids and isinstance(key, str)}
        same_nodes = [i for key, i in self._nodes.items() if not isinstance(key, str) and key[0] in texts]
        same_nodes += strange_nodes.tolist()
        overlaps: dict[str, int] = {}
        for name, number in self._relations.items():
            if name not in self._joining:
                tails = (tail[relation == number] for _, relation, tail, _ in self._columns)
                overlaps[name] = len(np.intersect1d(np.concatenate(list(tails)), same_nodes))
        best = max(overlaps, key=lambda name: overlaps[name], default="")
        if not best or 2 * overlaps[best] < len(strange_nodes):
            return "Are these the right columns?"
        return (
            f"{overlaps[best]:,} of them are in the column {best} of the nodes: give --id {shlex.quote(best)}"
        )

    def graph(self) -> tuple[Graph, int]:
        """Return the graph and the number of duplicate triples that were merged."""
        self._add_ends()
        if self.most_inferred and self._iris:
            self._infer()
        head, relation, tail = (np.concatenate([c[i] for c in self._columns]) for i in range(3))
        source = np.concatenate([np.full(len(c[0]), c[3], np.uint16) for c in self._columns])
        self._columns.clear()
        entities = Names.of(map(shown_key, self._nodes))
        relations = Names.of(self._relations)
        out, into, source = adjacencies(head, relation, tail, source, len(entities), len(relations))
        datatypes: GrowingIds[str] = GrowingIds()
        keys = (-1 if isinstance(key, str) else datatypes[key[1]] for key in self._nodes)
        datatype = np.fromiter(keys, np.int16, len(self._nodes))
        types, labels = self._type_table(len(entities)), self._label_names(entities, self._nodes)
        graph = Graph(
            entities=entities,
            labels=labels,
            relations=relations,
            relation_labels=self._label_names(relations, self._relations),
            out=out,
            into=into,
            values=node_values(entities, labels, datatype, list(datatypes)),
            types=types,
            aliases=self._alias_table(),
            source=source,
            stated=self._stated(types) if self.most_inferred and (self._iris or self._labels) else None,
            beside=self._beside.array() if self._iris else None,
        )
        graph = replace(graph, edge_properties=self._edge_properties(graph))
        stated = graph.triples - int(np.count_nonzero(graph.source == INFERRED))
        return graph, self.triples - stated

    def _add_ends(self) -> None:
        """Add what is said of the ends of properties that are no relations of the graph."""
        left = [end[3] for end in self._ends if end[0] in self._relations]
        self._beside.add(left)
        self.ends_left = len(left)
        for (head, relation, tail, _), source in self._ends.items():
            if head not in self._relations:
                heads, tails = self._nodes.of([head]), self._nodes.of([tail])
                self._columns.append((heads, self._relations.of([relation]), tails, source))
                self.triples += 1

    def _infer(self) -> None:
        """Add what follows from an ontology, if there is one."""
        if not self._characters and not has_rules(self._relations):
            return
        keys = list(self._nodes)
        triples = np.concatenate([np.stack(c[:3], axis=1) for c in self._columns]).astype(np.int64)
        schema = np.array([number for name, number in self._relations.items() if is_schema(name)])
        typed = [(node, self._nodes[name]) for node, name in self._types if name in self._nodes]
        ontology = Ontology(
            triples[np.isin(triples[:, 1], schema)],
            lambda node: key if isinstance(key := keys[node], str) else None,
            self._relations,
            self._characters,
            self.most_inferred,
        )
        implied, types = ontology.infer(triples, np.array(typed, np.int32).reshape(-1, 2))
        self._following_types = [(node, str(keys[type_])) for node, type_ in types.tolist()]
        self.cut = ontology.cut
        columns = implied.astype(np.int32)
        self._columns.append((columns[:, 0].copy(), columns[:, 1].copy(), columns[:, 2].copy(), INFERRED))

    @property
    def inferred_types(self) -> int:
        """How many types follow from the ontology."""
        return len(self._following_types)

    def _stated(self, types: Types) -> Stated:
        """Types by the names that sources give them, whose labels are in `types`."""
        labels = {label: number for number, label in enumerate(types.names)}
        names: GrowingIds[str] = GrowingIds()
        type_ = names.of([name for _, name in self._types])
        node = np.array([node for node, _ in self._types], np.int32)
        return Stated(
            Names.of(names),
            np.array([labels[self._label(name)] for name in names], np.int32),
            distinct_pairs(node, type_),
            tuple(sorted(set(self._characters))),
        )

    def _edge_properties(self, graph: Graph) -> EdgeProperties:
        """Properties of edges by triple; equal statements of one triple are one."""
        rows: list[StatementRow] = []
        for head, relation, tail, properties in dict.fromkeys(self._statements):
            ids = self._nodes.get(head, -1), self._relations.get(relation, -1), self._nodes.get(tail, -1)
            triple = -1 if min(ids) < 0 else graph.find_triple(*ids)
            if triple < 0 or graph.source[triple] == INFERRED:
                self.unstated += 1
            else:
                rows.append((ids, shown_properties(properties, self._label)))
        return EdgeProperties.of_rows(rows)

    def _label(self, name: str) -> str:
        if name in self._labels:
            return self._labels[name].text
        return local_name(name) if self._iris else name

    def _label_names(self, names: Names, keys: Iterable[NodeKey]) -> Names:
        """Labels of `keys`; the object `names` itself where there are none but the names."""
        if not self._iris and not self._labels:
            return names
        return Names.of(self._label(key) if isinstance(key, str) else key[0] for key in keys)

    def _type_table(self, nodes: int) -> Types:
        """Types as CSR, without repeats; their names are labels or local names, as people read them."""
        names: GrowingIds[str] = GrowingIds()
        assignments = [*self._types, *self._following_types]
        type_ = names.of([self._label(text) for _, text in assignments])
        return Types.of_pairs(
            Names.of(names), np.array([node for node, _ in assignments], np.int64), type_, nodes
        )

    def _local_names(self) -> Iterator[tuple[str, str]]:
        """(entity, the end of its IRI, in words) where that is not its label, or is written as one word.

        Not of those with a label in a language that is read, but such a label in words, if it is one word.
        """
        for key in self._nodes if self._iris else ():
            if not isinstance(key, str) or key.startswith("_:"):
                continue
            label = self._labels.get(key)
            if label is None and not RUN_TOGETHER.search(key):
                continue
            if label is None or label.rank % RANKS == RANKS - 1:
                yield key, RUN_TOGETHER.sub(" ", local_name(key))
            elif " " not in label.text and RUN_TOGETHER.search(label.text):
                yield key, RUN_TOGETHER.sub(" ", label.text)

    def _alias_table(self) -> Aliases:
        """Aliases by node in order of reading; repeats, names themselves and unknown nodes are left out."""
        pairs: dict[tuple[int, str], None] = {}
        for entity, alias in chain(self._aliases, self._local_names()):
            node = self._node(entity)
            if node is not None and alias not in (entity, self._label(entity)):
                pairs[node, alias] = None
        sorted_pairs = sorted(pairs, key=lambda pair: pair[0])
        column = np.array([node for node, _ in sorted_pairs], np.int32)
        return Aliases(Names.of(alias for _, alias in sorted_pairs), column)


def adjacencies(
    head: Int32, relation: Int32, tail: Int32, source: UInt16, nodes: int, relations: int
) -> tuple[Adjacency, Adjacency, UInt16]:
    """Both directions of the distinct triples, and for each (in the order of `out`) its first source."""
    if 2 * nodes.bit_length() + relations.bit_length() <= PACKED_BITS and not source.any():
        out, head = _packed_side(head, relation, tail, nodes, relations)
        into, _ = _packed_side(out.neighbour, out.relation, head, nodes, relations)
        return out, into, np.zeros(len(head), np.uint16)
    order, starts = _sorted_groups(head, relation, tail, nodes, relations)
    source = np.minimum.reduceat(source[order], starts) if source.any() else np.zeros(len(starts), np.uint16)
    first_rows = order[starts]
    head, relation, tail = head[first_rows], relation[first_rows], tail[first_rows]
    into_order, _ = _sorted_groups(tail, relation, head, nodes, relations)
    out = Adjacency(counted_offsets(head, nodes), relation, tail)
    into = Adjacency(counted_offsets(tail, nodes), relation[into_order], head[into_order])
    return out, into, source


def _packed_side(
    node: Int32, relation: Int32, neighbour: Int32, nodes: int, relations: int
) -> tuple[Adjacency, Int32]:
    """The distinct triples one way, sorted as one int64 each (24 bytes a triple), and their nodes."""
    node_bits, relation_bits = nodes.bit_length(), relations.bit_length()
    packed = node.astype(np.int64)
    packed <<= relation_bits
    packed |= relation
    packed <<= node_bits
    packed |= neighbour
    packed.sort()
    distinct = np.ones(len(packed), np.bool_)
    np.not_equal(packed[1:], packed[:-1], out=distinct[1:])
    if not distinct.all():
        packed = packed[distinct]
    neighbour = (packed & ((1 << node_bits) - 1)).astype(np.int32)
    packed >>= node_bits
    relation = (packed & ((1 << relation_bits) - 1)).astype(np.int32)
    packed >>= relation_bits
    node = packed.astype(np.int32)
    return Adjacency(counted_offsets(node, nodes), relation, neighbour), node


def _sorted_groups(
    node: Int32, relation: Int32, neighbour: Int32, nodes: int, relations: int
) -> tuple[Int64, Int64]:
    """Order that sorts by (node, relation, neighbour), and where in it each distinct triple starts."""
    node_bits, relation_bits = nodes.bit_length(), relations.bit_length()
    starts = np.ones(len(node), np.bool_)
    if 2 * node_bits + relation_bits <= PACKED_BITS:
        packed = (node.astype(np.int64) << relation_bits) | relation
        packed = (packed << node_bits) | neighbour
        order = np.argsort(packed)
        packed = packed[order]
        starts[1:] = packed[1:] != packed[:-1]
    else:
        order = np.lexsort((neighbour, relation, node))
        columns = (node[order], relation[order], neighbour[order])
        starts[1:] = np.logical_or.reduce([c[1:] != c[:-1] for c in columns])
    return order, np.flatnonzero(starts)


MAX_SOURCES = np.iinfo(np.uint16).max


class ReadOptions(TypedDict, total=False):
    """How graph files are read: files of types and aliases, their format, what to do with a faulty line."""

    types: Path | None
    aliases: Path | None
    format: str | None
    on_error: OnError
    hints: Hints | None


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What was read from one source; `bytes` as on disk, `triples` before duplicates are merged."""

    path: str
    format: str
    sha256: str
    bytes: int
    triples: int
    blank: int
    skipped: int
    reasons: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What was read and what was not.

    `duplicates` is the number of triples merged into an equal one; `skipped` and `blank` count lines of
    all sources and side files; `reasons` are those of the first skipped lines; `unknown` counts lines
    of side files whose entity is not in the graph, `unknown_names` are the first of them. `tables` are how
    tables were read (`TableForm`), by which later ones are.
    """

    sources: tuple[SourceReport, ...]
    side_files: tuple[SourceReport, ...]
    triples_read: int
    duplicates: int
    blank: int
    skipped: int
    reasons: tuple[str, ...]
    types_read: int
    aliases_read: int
    labels_read: int
    unknown: int
    unknown_names: tuple[str, ...]
    notes: tuple[str, ...]
    tables: tuple[Mapping[str, Any], ...] = ()


class ArrayAssembler(Assembler):
    """An `Assembler` of the one batch of an array directory: names stay bytes, ids stay as given."""

    def __init__(self) -> None:
        super().__init__()
        self._id_batch: IdTriples | None = None
        self._ids: NameIds | None = None

    def add(self, batch: Batch, source: int) -> None:
        """Take the ids of `batch`."""
        if batch.ids is None or self._id_batch is not None or source != 0:
            raise ValueError("one batch of ids is expected")
        self._id_batch = batch.ids
        self.triples = len(batch.ids.head)

    def _node(self, entity: str) -> int | None:
        if self._id_batch is None:
            return None
        self._ids = self._ids or NameIds.of(self._id_batch.entities)
        node = self._ids.find(entity)
        return None if node < 0 else node

    def graph(self) -> tuple[Graph, int]:
        """Return the graph and the number of duplicate triples that were merged."""
        id_batch = self._id_batch
        if id_batch is None:
            return super().graph()
        nodes, ends = len(id_batch.entities), (id_batch.head, id_batch.relation, id_batch.tail)
        no_source = np.zeros(1, np.uint16)
        out, into, source = adjacencies(*ends, no_source, nodes, len(id_batch.relations))
        graph = Graph(
            entities=id_batch.entities,
            labels=id_batch.entities,
            relations=id_batch.relations,
            relation_labels=id_batch.relations,
            out=out,
            into=into,
            values=node_values(id_batch.entities, id_batch.entities, np.full(nodes, -1, np.int16), []),
            types=self._type_table(nodes),
            aliases=self._alias_table(),
            source=source,
        )
        return graph, self.triples - graph.triples


def build_graph(
    sources: Sequence[Path],
    *,
    progress: Callable[[int], None] | None = None,
    **reading: Unpack[ReadOptions],
) -> tuple[Graph, BuildReport]:
    """Read `sources` in their order and the side files into one graph.

    `progress` is called with the number of bytes of the sources read so far, as on disk (their sum is
    `source_bytes`). Raises InputError for a source that cannot be read or a graph without triples,
    ParseError for a malformed line unless `on_error` is "skip".
    """
    if not 0 < len(sources) <= MAX_SOURCES:
        raise InputError(f"{len(sources)} sources given. Give from 1 to {MAX_SOURCES}")
    hints = reading.get("hints") or Hints()
    found = Sources(sources, reading.get("format"), hints)
    assembler = ArrayAssembler() if found.is_of_arrays else Assembler()
    assembler.most_inferred = hints.most_inferred
    reports = _read_sources(sources, found, assembler, progress, reading)
    side_reports = _read_side_files(assembler, reading)
    if assembler.triples == 0:
        names = ", ".join(report.path for report in reports)
        reasons = [reason for report in reports for reason in report.reasons]
        first_reason = f" All lines were skipped, first: {reasons[0]}" if reasons else ""
        notes = [note for report in reports for note in report.notes]
        empty = [note for note in notes if note.endswith(" no rows") or "of the same node" in note]
        first_reason += f" {empty[0]}." if empty else ""
        advice = "A graph needs at least one line head, relation, tail"
        if assembler.declares:
            advice = (
                "The rows have ids and names, and no column says more of them: add one, or further tables"
            )
        raise InputError(f"{names}: no triples found.{first_reason} {advice}")
    strangers = assembler.strangers()
    graph, duplicates = assembler.graph()
    all_reports = [*reports, *side_reports]
    return graph, BuildReport(
        sources=tuple(reports),
        side_files=tuple(side_reports),
        triples_read=assembler.triples,
        duplicates=duplicates,
        blank=sum(report.blank for report in all_reports),
        skipped=sum(report.skipped for report in all_reports),
        reasons=tuple(reason for report in all_reports for reason in report.reasons)[:MAX_REASONS],
        types_read=assembler.types_read,
        aliases_read=assembler.aliases_read,
        labels_read=assembler.labels_read,
        unknown=assembler.unknown,
        unknown_names=tuple(assembler.unknown_names),
        tables=tuple(form.as_json() for form in assembler.forms),
        notes=(*(n for report in all_reports for n in report.notes), *strangers, *_notes(graph, assembler)),
    )


def graph_of(
    triples: Iterable[tuple[str, str, str]],
    types: Mapping[str, Iterable[str]] | None = None,
    aliases: Mapping[str, Iterable[str]] | None = None,
) -> Graph:
    """Make a graph of a few triples in memory; names that only `types` or `aliases` know are left out."""
    assembler = Assembler()
    batch = Batch()
    for head, relation, tail in triples:
        batch.add(head, relation, tail)
    assembler.add(batch, 0)
    assembler.declare_types([(name, t) for name, node_types in (types or {}).items() for t in node_types])
    assembler.declare_aliases(
        [(name, a) for name, node_aliases in (aliases or {}).items() for a in node_aliases]
    )
    return assembler.graph()[0]


def _read_sources(
    paths: Sequence[Path],
    sources: Sources,
    assembler: Assembler,
    progress: Callable[[int], None] | None,
    reading: ReadOptions,
) -> list[SourceReport]:
    reports: list[SourceReport] = []
    hints = reading.get("hints") or Hints()
    for index, path in enumerate(paths):
        done, triples_before = sum(report.bytes for report in reports), assembler.triples
        tally = Tally(reading.get("on_error", "fail"), collect=True, hints=hints)
        if progress is not None:
            tally.progress = lambda read, done=done, progress=progress: progress(done + read)
        for batch in sources.read(index, tally):
            assembler.add(batch, index)
        assembler.forms += tally.forms
        reports.append(_report(path, sources.format(index), assembler.triples - triples_before, tally))
    return reports


def _read_side_files(assembler: Assembler, reading: ReadOptions) -> list[SourceReport]:
    reports: list[SourceReport] = []
    for path, kind, take in (
        (reading.get("types"), "type", assembler.declare_types),
        (reading.get("aliases"), "alias", assembler.declare_aliases),
    ):
        if path is not None:
            hints = reading.get("hints") or Hints()
            tally = Tally(reading.get("on_error", "fail"), collect=True, hints=hints)
            count = sum(take(pairs) for pairs in read_pairs(path, kind, tally))
            reports.append(_report(path, f"entity-{kind}", count, tally))
    return reports


def _report(path: Path, format: str, count: int, tally: Tally) -> SourceReport:
    """What was read; raises the faults that were collected."""
    tally.raise_faults()
    return SourceReport(
        path=str(path),
        format=format,
        sha256=checksum(path),
        bytes=source_bytes([path]),
        triples=count,
        blank=tally.blank,
        skipped=tally.skipped,
        reasons=tuple(tally.reasons),
        notes=tuple(tally.notes),
    )


def _notes(graph: Graph, assembler: Assembler) -> Iterator[str]:
    """Say what looks wrong about a graph that was read without a fault, and how much was inferred."""
    relations, unstated = len(graph.relations), assembler.unstated
    if graph.triples >= 20 and 2 * relations > graph.triples:
        yield (
            f"{relations:,} relations in {graph.triples:,} triples: if the second column is not the "
            "relation, the source is a table or has its columns in another order"
        )
    if unstated:
        statements = "statements with properties are of triples"
        if unstated == 1:
            statements = "statement with properties is of a triple"
        yield f"{unstated:,} {statements} that no source states: left out"
    if assembler.ends_left:
        yield (
            f"{assembler.ends_left:,} statements of the ontology say to what and from what relations lead: "
            "SPARQL finds them, questions do not"
        )
    triples = int(np.count_nonzero(graph.source == INFERRED))
    if triples or assembler.inferred_types:
        yield (
            f"{triples:,} triples and {assembler.inferred_types:,} types follow from the ontology and are "
            "added as inferred; --no-inference leaves them out"
        )
    if assembler.cut:
        limit = f"{assembler.most_inferred:,}"
        yield f"more follows from the ontology than the {limit} that are added; the rest is left out"
