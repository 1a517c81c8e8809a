"""What a question needs of a graph database: the nodes that it names, and all within some hops of them.

Databases differ in how they are asked (`NearStore`: `near_neo4j.py`, `sparql/near_sparql.py`); here is which
nodes are asked for. What is not fetched is counted: edges of hubs, and what is beyond the most edges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

from clew.stores.errors import StoreTimeout
from clew.stores.import_folder import ImportFolder

EXAMPLES = 50
"""Edges of each type in every neighbourhood, so that words are read as those of the whole graph."""
MOST_TYPES = 1_000
"""Types of edges that examples are asked of."""
BATCH = 1_000
"""Nodes that are asked for at a time."""
MOST_SEEDS = 20
MOST_NAME_WORDS = 8
"""Words of a name."""
MOST_NAMED = MOST_SEEDS * MOST_NAME_WORDS
"""Nodes of a question's names that are looked at."""
_WORD = re.compile(r"\S+")
_ENDS = " ?!.,;:"
"""Marks behind a word of a sentence, or of a name."""

Edge = tuple[str, str, str]
"""Head and tail, as the database tells its nodes apart, and the type between them."""


@dataclass(frozen=True, slots=True)
class NamedNode:
    """A node, as the database tells it from others, and the name by which it was found."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class NamedNodes:
    """Nodes that are called so, and the state of the database then (`NearStore.state`)."""

    nodes: Sequence[NamedNode] = ()
    state: str = ""


@dataclass(frozen=True, slots=True)
class NearEdges:
    """Edges of some nodes; `hubs` of these have too many edges, which were not fetched.

    `cut`: the database gave fewer edges than it counts.
    """

    edges: Sequence[Edge]
    hubs: int = 0
    cut: bool = False


class Neighbours(Protocol):
    """Asks a database for nodes by their names and for their edges; each method raises StoreError."""

    @property
    def notes(self) -> Sequence[str]:
        """What is never fetched."""
        ...

    def named_nodes(self, texts: Sequence[str], *, any_case: bool) -> NamedNodes:
        """Find nodes that are called as one of `texts`; lower case is compared if `any_case`."""
        ...

    def edges(self, ids: Sequence[str], hub: int) -> NearEdges:
        """Fetch the edges of at most `BATCH` nodes, but none of a node that has more than `hub`."""
        ...

    def examples(self) -> Sequence[Edge]:
        """Fetch `EXAMPLES` edges of each type."""
        ...

    def write(self, nodes: Sequence[str], edges: Sequence[Edge], folder: Path) -> Path:
        """Write nodes, with their properties, and edges; return what `clew index` reads."""
        ...


class NearStore(Protocol):
    """A database that methods of an index can ask. Each method raises StoreError."""

    state_lasts: float
    """For how many seconds a state is believed."""
    name: str
    """What the store is called in messages."""

    @property
    def key(self) -> Sequence[str]:
        """What tells what a user sees of this database from all others."""
        ...

    @property
    def trips(self) -> int:
        """Queries of Clew's own that were sent."""
        ...

    def state(self, most: int) -> str | None:
        """Return another text after the database has changed.

        None where that cannot be told of more than `most` nodes and edges.
        """
        ...

    def is_small(self, most: int) -> bool:
        """Whether it has something, and at most `most` nodes and edges."""
        ...

    def export(self, folder: ImportFolder) -> Path:
        """Write the whole graph; return what `clew index` reads."""
        ...

    def neighbours(self) -> Neighbours:
        """Look at what the database holds."""
        ...


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Bounds of a neighbourhood: hops, edges in all, and edges of a node that is passed through.

    Those of the nodes that are named are fetched however many they are, up to `edges`.
    """

    hops: int = 3
    edges: int = 50_000
    hub: int = 500


@dataclass
class FetchedEdges:
    """Nodes that are named, all edges that were fetched, and what was left out."""

    topic_entities: tuple[str, ...]
    edges: dict[Edge, None] = field(default_factory=dict[Edge, None])
    hubs: int = 0
    cut: bool = False
    unread: int = 0
    """Nodes that are named, too, and were not looked at."""
    whole_hops: int = 0
    """How many hops nothing was left out of: with 1 all edges of the nodes that are named are there."""
    trips: int = 0
    state: str = ""
    """The state of the database (`NearStore.state`) when the names were looked up."""
    exact_case: bool = False
    """Whether names were compared as they are written only, as another comparison took too long."""
    left_out: tuple[str, ...] = ()
    """What is never fetched of this database."""

    @property
    def nodes(self) -> list[str]:
        """All nodes, in a fixed order."""
        return sorted({*self.topic_entities, *(n for head, tail, _ in self.edges for n in (head, tail))})

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return not (self.cut or self.hubs or self.unread)

    @property
    def notes(self) -> tuple[str, ...]:
        """What has to be known to take an answer as it is meant."""
        notes = list(self.left_out)
        if self.hubs:
            notes.append(f"{self.hubs:,} nodes with many edges were not passed through")
        if self.unread:
            notes.append(f"{self.unread:,} more nodes of these names were not looked at")
        if self.cut:
            notes.append(f"the neighbourhood was cut at {len(self.edges):,} edges")
        if self.exact_case:
            notes.append("names were compared as they are written: another comparison took too long")
        return tuple(notes)


class Fetcher:
    """Fetches neighbourhoods from one database; what it holds is looked at once."""

    def __init__(self, store: NearStore, limits: FetchLimits | None = None) -> None:
        self._store, self.limits = store, limits or FetchLimits()
        self._neighbours = store.neighbours()

    def nodes_named_in(self, question: str, entities: Sequence[str] = ()) -> FetchedEdges:
        """Find the nodes that a question names, longest names first. Raises StoreError."""
        spans = list(dict.fromkeys([*entities, *_spans(question)]))
        neighbourhood, trips_before = (
            FetchedEdges((), left_out=tuple(self._neighbours.notes)),
            self._store.trips,
        )
        rows = self._neighbours.named_nodes(spans, any_case=False) if spans else NamedNodes()
        if spans and not rows.nodes:
            try:
                rows = self._neighbours.named_nodes(sorted({s.lower() for s in spans}), any_case=True)
            except StoreTimeout:
                neighbourhood.exact_case = True
        names = {node.name.lower() for node in rows.nodes}
        inner_names = {
            name for name in names if any(name != other and f" {name} " in f" {other} " for other in names)
        }
        longest_first = sorted(rows.nodes, key=lambda node: -len(node.name))
        node_ids = [node.id for node in longest_first if node.name.lower() not in inner_names]
        node_ids = list(dict.fromkeys(node_ids))
        neighbourhood.topic_entities, neighbourhood.unread = (
            tuple(node_ids[:MOST_SEEDS]),
            len(node_ids[MOST_SEEDS:]),
        )
        neighbourhood.state = rows.state
        neighbourhood.trips += self._store.trips - trips_before
        return neighbourhood

    def fetch(self, neighbourhood: FetchedEdges) -> None:
        """Fetch all edges within the hops of the nodes that are named. Raises StoreError."""
        trips_before = self._store.trips
        seen, frontier = set(neighbourhood.topic_entities), list(neighbourhood.topic_entities)
        for hop in range(self.limits.hops):
            reached = self._hop(neighbourhood, frontier, self.limits.edges if hop == 0 else self.limits.hub)
            frontier = [node for node in reached if node not in seen]
            seen |= reached.keys()
            neighbourhood.whole_hops += neighbourhood.complete
            if len(neighbourhood.edges) >= self.limits.edges:
                neighbourhood.cut = True
                break
        else:
            neighbourhood.edges |= dict.fromkeys(self._examples)
        neighbourhood.trips += self._store.trips - trips_before

    def _hop(self, neighbourhood: FetchedEdges, frontier: Sequence[str], hub: int) -> dict[str, None]:
        """Fetch the edges of some nodes, until there are too many; the nodes at their ends."""
        reached: dict[str, None] = {}
        for ids in batches(frontier, BATCH):
            near_edges = self._neighbours.edges(ids, hub)
            neighbourhood.hubs += near_edges.hubs
            neighbourhood.cut = neighbourhood.cut or near_edges.cut
            neighbourhood.edges |= dict.fromkeys(near_edges.edges)
            reached |= dict.fromkeys(node for head, tail, _ in near_edges.edges for node in (head, tail))
            if len(neighbourhood.edges) >= self.limits.edges:
                break
        return reached

    @cached_property
    def _examples(self) -> Sequence[Edge]:
        """Some edges of each type, asked once."""
        return self._neighbours.examples()

    def write(self, neighbourhood: FetchedEdges, folder: Path) -> Path:
        """Write it into a folder; return what `clew index` reads. Raises StoreError."""
        trips_before = self._store.trips
        index_source = self._neighbours.write(neighbourhood.nodes, sorted(neighbourhood.edges), folder)
        neighbourhood.trips += self._store.trips - trips_before
        return index_source


def _spans(question: str) -> Iterator[str]:
    """Runs of words: as they are written (*Monsters, Inc.*), and without what stands around them."""
    words = [(w.start(), w.end()) for w in _WORD.finditer(question)]
    for first in range(len(words)):
        for last in range(first, min(first + MOST_NAME_WORDS, len(words))):
            run_text = question[words[first][0] : words[last][1]]
            span = run_text.strip(f"{_ENDS}\"'()[]")
            if span:
                shorter = run_text.removesuffix(run_text[-1]) if run_text[-1] in _ENDS else run_text
                yield from dict.fromkeys((run_text, shorter, span, span.removesuffix("'s")))


def batches(ids: Sequence[str], most: int) -> Iterator[list[str]]:
    """Cut nodes into lists of at most `most`."""
    return (list(ids[at : at + most]) for at in range(0, len(ids), most))
