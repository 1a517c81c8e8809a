"""Looking into a graph: names that a text may mean or is a part of, what is around an entity, paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np

from clew.errors import UsageError
from clew.foundation.arrays import Int32, Int64, UInt64
from clew.foundation.forms import fields_json
from clew.foundation.system import check
from clew.graph.graph import Adjacency, Graph, Names, named_triple
from clew.graph.steps import Step, is_backward, relation_of, step_of
from clew.index.names import NamesIndex
from clew.index.store.directory import Index
from clew.text.normalise import normalise
from clew.types import PropertiesForm, TriplesForm, TripleText, triples_json

# Names that a text is a part of, *Kurosawa* of *Akira Kurosawa*, or how they or words in them begin.

MOST_FOUND = 200
"""Places of the text in the names that are looked at; a text that is in more of them says little."""
KEY_BYTES = 8
"""Bytes of a beginning that are compared at once."""
WORDS_BELOW = 64_000_000
"""Bytes of names up to which the beginnings of their words are found too; the table takes 16 bytes a word."""
MOST_COMPARED_NAMES = 5_000
"""Names that are compared beyond their first `KEY_BYTES`, for one text."""

_LOWER = np.arange(256, dtype=np.uint8)
_LOWER[ord("A") : ord("Z") + 1] += 32
_LOWER[ord("_")] = ord(" ")
_BREAKS = np.zeros(256, bool)
_BREAKS[[ord(c) for c in " _-/.,:;()[]\"'#&"]] = True


def nodes_containing(index: NamesIndex, text: str) -> list[int] | None:
    """The entities of whose names `text` is some words, as written, ascending; None if it is in too many.

    Names that end with it (a surname) go before others that begin with it, those before the rest.
    """
    check()
    words = normalise(text).split()
    best: dict[int, int] = {}
    place_count = 0
    aliases = index.graph.aliases
    for names, owners in ((index.graph.labels, None), (aliases.names, aliases.entity)):
        for row in _rows(names, text):
            place_count += 1
            if place_count > MOST_FOUND:
                return None
            rank = _rank(normalise(names[row]).split(), words)
            node = row if owners is None else int(owners[row])
            if rank is not None:
                best[node] = min(rank, best.get(node, rank))
    best_rank = min(best.values(), default=0)
    return sorted(node for node, rank in best.items() if rank == best_rank)


def _rows(names: Names, text: str) -> Iterator[int]:
    """The rows of the names that hold the characters of `text`."""
    last_row = -1
    blob = np.ascontiguousarray(names.blob).data
    for match in re.finditer(re.escape(text.encode("utf-8")), blob):
        row = int(np.searchsorted(names.offsets, match.start(), "right")) - 1
        if row != last_row and match.end() <= names.offsets[row + 1]:
            last_row = row
            yield row


def _rank(name: list[str], words: list[str]) -> int | None:
    """0 if the name ends with the words, 1 if it begins with them, 2 if they are inside; None if not."""
    size = len(words)
    if len(name) <= size:
        return None
    places = [at for at in range(len(name) - size + 1) if name[at : at + size] == words]
    if not places:
        return None
    return 0 if places[-1] == len(name) - size else 1 if places[0] == 0 else 2


@dataclass(frozen=True, eq=False)
class Prefixes:
    """Beginnings of names in order: `keys` uint64 [beginnings], ascending, and `rows` int32 of their names.

    `inside` bool [beginnings]: it is that of a word within the name, not of the name. Letters of ASCII are
    compared without regard to case.
    """

    names: Names
    keys: UInt64
    rows: Int32
    inside: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @classmethod
    def of(cls, names: Names) -> Prefixes:
        """Find all beginnings; some 100 ns a name."""
        blob, offsets = np.asarray(names.blob), np.asarray(names.offsets)
        starts = offsets[:-1]
        if len(blob) <= WORDS_BELOW:
            after_break = np.flatnonzero(_BREAKS[blob[:-1]] & ~_BREAKS[blob[1:]]) + 1
            starts = np.union1d(starts, after_break)
        starts = starts[starts < offsets[-1]]  # of empty names at the end
        rows = (np.searchsorted(offsets, starts, "right") - 1).astype(np.int32)
        filled = starts < offsets[rows + 1]
        starts, rows = starts[filled], rows[filled]
        keys = _keys(blob, starts, offsets[rows + 1])
        inside = starts > offsets[rows]
        order = np.lexsort((inside, keys))
        return cls(names, keys[order], rows[order], inside[order])

    def find(self, text: str) -> tuple[Int32, Int32]:
        """Rows of names that begin with `text`, and of those with a word that does; both ascending."""
        prefix = " ".join(text.lower().replace("_", " ").split())
        raw = prefix.encode("utf-8", "replace")
        if not raw:
            return np.empty(0, np.int32), np.empty(0, np.int32)
        low_key = int.from_bytes(raw[:KEY_BYTES].ljust(KEY_BYTES, b"\0"), "big")
        high_key = int.from_bytes(raw[:KEY_BYTES].ljust(KEY_BYTES, b"\xff"), "big")
        first = int(np.searchsorted(self.keys, np.uint64(low_key), "left"))
        last = int(np.searchsorted(self.keys, np.uint64(high_key), "right"))
        rows, inside = self.rows[first:last], self.inside[first:last]
        if len(raw) > KEY_BYTES:
            rows, inside = rows[:MOST_COMPARED_NAMES], inside[:MOST_COMPARED_NAMES]
            names = (self.names[row].lower().replace("_", " ") for row in rows.tolist())
            fits = [
                prefix in name if within else name.startswith(prefix)
                for name, within in zip(names, inside.tolist(), strict=True)
            ]
            rows, inside = rows[np.array(fits, bool)], inside[np.array(fits, bool)]
        begins = np.unique(rows[~inside])
        return begins, np.setdiff1d(rows[inside], begins)


def _keys(blob: np.ndarray, starts: Int64, stops: Int64) -> np.ndarray:  # pyright: ignore[reportMissingTypeArgument]
    """The first bytes from each start, as numbers that sort as the bytes do."""
    keys = np.zeros(len(starts), np.uint64)
    last_byte = max(len(blob) - 1, 0)
    for place in range(KEY_BYTES):
        positions = starts + place
        byte = (
            np.where(positions < stops, _LOWER[blob[np.minimum(positions, last_byte)]], 0) if len(blob) else 0
        )
        keys = keys << np.uint64(8) | np.asarray(byte, np.uint64)
    return keys


Direction = Literal["out", "in"]
"""`out`: the entity is the head of the triples; `in`: their tail."""

MOST_EXPANDED = 200_000
"""Edges that a search for paths looks at."""
LONGEST_FOUND_PATH = 6
"""Triples of the longest path that is looked for."""


@dataclass(frozen=True, slots=True)
class EntityHit:
    """An entity that a text may mean; `how` it was found, and how many triples it is in."""

    entity: str
    label: str
    types: tuple[str, ...]
    how: Literal["exact", "alias", "prefix", "word", "typo"]
    triples: int

    def as_json(self) -> dict[str, Any]:
        """All fields, by their names."""
        return fields_json(self)


class NodeForm(TypedDict):
    """A neighbour: its id, its name, and the properties of the edges to it."""

    entity: str
    label: str
    properties: NotRequired[PropertiesForm]


class NeighbourGroupForm(TypedDict):
    """A page of the neighbours at one relation: `count` there are; `next` is the offset of the next page."""

    relation: str
    label: str
    heading: str
    direction: Direction
    count: int
    nodes: list[NodeForm]
    next: int | None


@dataclass(frozen=True, slots=True)
class NeighbourGroup:
    """The nodes at one relation of an entity: `triples` to them from `offset` on, of `count`.

    `heading` says what they are to it: *directed by*, or *films directed by …* of triples that lead to it.
    """

    relation: str
    label: str
    heading: str
    direction: Direction
    count: int
    offset: int
    triples: tuple[TripleText, ...]

    @property
    def nodes(self) -> tuple[tuple[str, str], ...]:
        """The other ends of the triples: (id, label)."""
        if self.direction == "out":
            return tuple((triple.by_id[2], triple.tail) for triple in self.triples)
        return tuple((triple.by_id[0], triple.head) for triple in self.triples)

    def as_json(self) -> NeighbourGroupForm:
        """`{"relation", "label", "heading", "direction", "count", "nodes", "next"}`."""
        after = self.offset + len(self.triples)
        nodes: list[NodeForm] = []
        for triple, (entity, label) in zip(self.triples, self.nodes, strict=True):
            nodes.append({"entity": entity, "label": label})
            if triple.properties:
                nodes[-1]["properties"] = triple.properties_json()
        return {
            "relation": self.relation,
            "label": self.label,
            "heading": self.heading,
            "direction": self.direction,
            "count": self.count,
            "nodes": nodes,
            "next": after if after < self.count else None,
        }


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Around an entity: a group for each relation and direction, smallest first, but `groups_left`."""

    entity: str
    label: str
    types: tuple[str, ...]
    aliases: tuple[str, ...]
    triples: int
    groups: tuple[NeighbourGroup, ...]
    groups_left: int = 0

    def as_json(self) -> dict[str, Any]:
        """The form that is documented in docs/json.md."""
        return fields_json(self)


PathsForm = TypedDict("PathsForm", {"from": str, "to": str, "paths": list[TriplesForm], "complete": bool})
"""Shortest paths between two entities: each as the triples of a citation."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Shortest paths between two entities; not `complete` where the search was stopped or more were cut."""

    start: str
    end: str
    paths: tuple[tuple[TripleText, ...], ...]
    complete: bool

    def as_json(self) -> PathsForm:
        """`{"from", "to", "paths", "complete"}`: a path is as the triples of a citation are."""
        paths = [triples_json(path) for path in self.paths]
        return {"from": self.start, "to": self.end, "paths": paths, "complete": self.complete}


class Explorer:
    """Looks into one open index; made once, as it keeps a table of beginnings."""

    def __init__(self, index: Index) -> None:
        self.index, self.graph = index, index.graph

    def find_entities(self, text: str, *, limit: int = 10, typos: bool = True) -> list[EntityHit]:
        """Entities that `text` names, begins, or (with `typos`) misspells, the best first.

        Equal names first, then those that begin with it, with a word that does, within typos; by triples.
        """
        ranked: dict[int, Literal["exact", "alias", "prefix", "word", "typo"]] = {}
        with_id = self.index.names.with_id(text)
        if with_id is not None:
            ranked[with_id] = "exact"
        for hit in self.index.names.exact(text):
            ranked.setdefault(hit.entity, "alias" if hit.kind == "alias" else "exact")
        begins, words = self._prefixes.find(text)
        for node in self._largest(begins, limit):
            ranked.setdefault(node, "prefix")
        for node in self._largest(words, limit):
            ranked.setdefault(node, "word")
        if typos and len(ranked) < limit and len(text) > 2:
            for node in nodes_containing(self.index.names, text) or ():
                ranked.setdefault(node, "word")
            for hit in self.index.names.fuzzy(text, limit):
                ranked.setdefault(hit.entity, "typo")
        graph = self.graph
        return [
            EntityHit(graph.entities[node], graph.label(node), self._types(node), how, self._degree(node))
            for node, how in islice(ranked.items(), limit)
        ]

    def neighbours(
        self,
        entity: str,
        *,
        relation: str | None = None,
        direction: Direction | None = None,
        offset: int = 0,
        limit: int = 20,
        head: Callable[[Step], str],
    ) -> Neighbourhood:
        """What is around an entity: of each relation `limit` nodes from `offset` on. Raises UsageError."""
        if direction not in (None, "out", "in"):
            raise UsageError(f'The direction is "out" or "in", not {direction!r:.80}')
        node = self.node(entity)
        relation_number = None if relation is None else self.relation(relation)
        groups = [
            (side, name, *span)
            for name, side in (("out", self.graph.out), ("in", self.graph.into))
            if direction in (None, name)
            for span in _spans(side, node)
            if relation_number in (None, span[0])
        ]
        groups.sort(key=lambda group: group[4] - group[3])
        listed_groups = groups[:100]
        return Neighbourhood(
            entity=self.graph.entities[node],
            label=self.graph.label(node),
            types=self._types(node),
            aliases=self._aliases(node),
            triples=self._degree(node),
            groups=tuple(
                self._group(node, head, step_of(number, name == "in"), (start, stop), (offset, limit))
                for _, name, number, start, stop in listed_groups
            ),
            groups_left=len(groups) - len(listed_groups),
        )

    def paths(self, start: str, end: str, *, limit: int = 5, longest: int = 4) -> Paths:
        """The shortest paths between two entities, along edges in both directions. Raises UsageError."""
        if not 1 <= longest <= LONGEST_FOUND_PATH:
            raise UsageError(f"The longest path is of 1 to {LONGEST_FOUND_PATH} triples, not {longest}")
        first, last = self.node(start), self.node(end)
        found, complete = _shortest_paths(self.graph, (first, last), longest)
        graph = self.graph
        paths = [tuple(named_triple(graph, *triple) for triple in path) for path in islice(found, limit + 1)]
        complete = complete and len(paths) <= limit
        return Paths(graph.label(first), graph.label(last), tuple(paths[:limit]), complete)

    def sample_triple(self, relation: str, share: float) -> TripleText:
        """One of a relation's triples by labels, `share` in [0, 1) of the way through. Raises UsageError."""
        number, nodes = self.relation(relation), self.graph.nodes
        for step in range(nodes):
            head = (int(share * nodes) + step) % nodes
            start, stop = self.graph.out.relation_span(head, number)
            if start < stop:
                labels, tail = self.graph.labels, int(self.graph.out.neighbour[start])
                return TripleText(labels[head], self.graph.relation_labels[number], labels[tail])
        raise UsageError(f'The graph has no triple of "{relation}"')

    def node(self, entity: str) -> int:
        """The node of a name, *Anna Keller (E08)* too: as written, else the only one. Raises UsageError."""
        if not isinstance(entity, str):  # pyright: ignore[reportUnnecessaryIsInstance] (of a user)
            raise UsageError(f"An entity is a name, not {entity!r:.80}")
        with_id = self.index.names.with_id(entity)
        if with_id is not None:
            return with_id
        hits = self.index.names.exact(entity)
        exact_hits = [hit for hit in hits if self.graph.entities[hit.entity] == entity]
        best = exact_hits or [hit for hit in hits if hit.exact] or list(hits)
        if not best:
            near = [hit.label for hit in self.find_entities(entity, limit=3)]
            advice = f". Near it are: {', '.join(near)}" if near else ". Look for it by a part of its name"
            raise UsageError(f'The graph has no entity "{entity}"{advice}')
        if len({hit.entity for hit in best}) > 1:
            names = ", ".join(self.graph.label(hit.entity) for hit in best[:5])
            raise UsageError(f'"{entity}" stands for several entities: {names}. Give one of these names')
        return best[0].entity

    @cached_property
    def _prefixes(self) -> Prefixes:
        return Prefixes.of(self.graph.labels)

    def _largest(self, nodes: np.ndarray[tuple[int], np.dtype[np.int32]], limit: int) -> list[int]:
        """Those of some nodes that are in most triples, at most `limit`."""
        if not len(nodes):
            return []
        out, into = self.graph.out, self.graph.into
        degrees = (out.stops[nodes] - out.starts[nodes]) + (into.stops[nodes] - into.starts[nodes])
        order = np.argsort(-degrees, kind="stable")[:limit]
        return nodes[order].tolist()

    def _degree(self, node: int) -> int:
        spans = (self.graph.out.span(node), self.graph.into.span(node))
        return sum(stop - start for start, stop in spans)

    def _types(self, node: int) -> tuple[str, ...]:
        types = self.graph.types
        return tuple(map(types.names.__getitem__, types.of(node)))

    def _aliases(self, node: int) -> tuple[str, ...]:
        aliases = self.graph.aliases
        return tuple(aliases.names[i] for i in np.flatnonzero(aliases.entity == node)[:20].tolist())

    def relation(self, name: str) -> int:
        """The number of a relation, by its name or label; UsageError if the graph lacks it."""
        for number, (relation, label) in enumerate(
            zip(self.graph.relations, self.graph.relation_labels, strict=True)
        ):
            if name in (relation, label):
                return number
        raise UsageError(f'The graph has no relation "{name}"')

    def _group(
        self,
        node: int,
        head: Callable[[Step], str],
        step: Step,
        span: tuple[int, int],
        page: tuple[int, int],
    ) -> NeighbourGroup:
        (start, stop), (offset, limit), graph = span, page, self.graph
        relation, is_back = relation_of(step), is_backward(step)
        side = graph.into if is_back else graph.out
        ends = side.neighbour[start + offset : min(start + offset + limit, stop)].tolist()
        triples = tuple(
            named_triple(graph, end, relation, node) if is_back else named_triple(graph, node, relation, end)
            for end in ends
        )
        name, label = graph.relations[relation], graph.relation_labels[relation]
        direction: Direction = "in" if is_back else "out"
        return NeighbourGroup(name, label, head(step), direction, stop - start, offset, triples)


def _spans(side: Adjacency, node: int) -> Iterator[tuple[int, int, int]]:
    """(relation, first slot, slot after the last) of each relation at a node."""
    start, stop = side.span(node)
    while start < stop:
        relation = int(side.relation[start])
        _, last = side.relation_span(node, relation)
        yield relation, start, last
        start = last


_Path = list[tuple[int, int, int]]
_Parents = dict[int, list[tuple[int, tuple[int, int, int]]]]
"""For each node reached, its (node before, triple) on every shortest way from one end."""


def _shortest_paths(graph: Graph, ends: tuple[int, int], longest: int) -> tuple[Iterator[_Path], bool]:
    """(head, relation, tail) of the triples of each shortest path, by a breadth-first search from both ends.

    Also whether the search ended before it looked at `MOST_EXPANDED` edges.
    """
    depths = [{end: 0} for end in ends]
    parents: list[_Parents] = [{end: []} for end in ends]
    rings, edges_seen, meeting = [[end] for end in ends], 0, list[int]()
    for _ in range(longest):
        if not all(rings):
            break
        side = 0 if len(rings[0]) <= len(rings[1]) else 1  # the smaller ring is widened
        ring: list[int] = []
        for node in rings[side]:
            depth = depths[side][node] + 1
            for adjacency, forward in ((graph.out, True), (graph.into, False)):
                start, stop = adjacency.span(node)
                edges_seen += stop - start
                if edges_seen > MOST_EXPANDED:
                    return iter(()), False
                edges = (adjacency.relation[start:stop].tolist(), adjacency.neighbour[start:stop].tolist())
                for relation, neighbour in zip(*edges, strict=True):
                    if neighbour not in depths[side]:
                        depths[side][neighbour], parents[side][neighbour] = depth, []
                        ring.append(neighbour)
                    if depths[side][neighbour] == depth:
                        triple = (node, relation, neighbour) if forward else (neighbour, relation, node)
                        parents[side][neighbour].append((node, triple))
        rings[side] = ring
        if meeting := sorted(node for node in ring if node in depths[1 - side]):
            break
    lengths = {node: depths[0][node] + depths[1][node] for node in meeting}
    shortest = min(lengths.values(), default=0)
    nearest = [node for node in meeting if lengths[node] == shortest]
    paths = (
        [*reversed(before), *after]
        for node in nearest
        for before in _paths_back(parents[0], node)
        for after in _paths_back(parents[1], node)
    )
    return paths, True


def _paths_back(parents: _Parents, node: int) -> Iterator[_Path]:
    if not parents[node]:
        yield []
    for before, triple in parents[node]:
        for path in _paths_back(parents, before):
            yield [triple, *path]
