"""Entity types that triples say: by *instance of*, and by relations that name the type of their heads.

Sources without declared types often have them nonetheless: `(Q1, instance of, city)` as in Wikidata, or
relations like `film.film.directed_by` as in Freebase, whose heads are films.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Int64
from clew.graph.graph import Graph, Names, Types

TYPING = frozenset((
    "instance of", "is instance of", "is a", "isa", "is an", "a",
    "type", "has type", "rdf type", "entity type",
))  # fmt: skip
"""Names of relations from a thing to its type."""
SUBCLASS = frozenset(("subclass of", "sub class of", "subtype of", "is subclass of"))
"""Names of relations from a type to a wider one."""
LEAST_TYPED = 0.25
"""Of all nodes with outgoing edges so many must have a typing relation, else it says something else."""
MOST_IMPLIED_TYPES = 500
"""Types beyond these many, those with the fewest nodes, are left out."""
DEEPEST_TYPE = 8
"""Steps up from a type to wider ones."""
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
_PATH = re.compile(r"[^\W\d]\w*(?:[./][^\W\d]\w*)+")


def words_apart(name: str) -> str:
    """A name whose words begin with capitals, with spaces between them: `discoveredBy` is two words."""
    return _CAMEL.sub(" ", name)


def relation_path(label: str) -> tuple[str, ...]:
    """The parts of a relation's name that is written as a path: `film.film.directed_by`; else the name."""
    return tuple(re.split(r"[./]", label)) if _PATH.fullmatch(label) else (label,)


def typing_relations(graph: Graph) -> tuple[int, ...]:
    """The relations from things to their types."""
    candidates = [r for r, label in enumerate(graph.relation_labels) if _words(label) in TYPING]
    if not candidates:
        return ()
    heads, relations, _ = graph.out.columns()
    least = LEAST_TYPED * len(np.unique(heads))
    return tuple(r for r in candidates if len(np.unique(heads[relations == r])) >= least)


def with_implied_types(graph: Graph, known: Mapping[str, Sequence[int]] | None = None) -> Graph:
    """The graph with the types that its triples say beside the declared ones; itself if they say none.

    `known` are nodes whose names tell their type; those with a declared type keep it.
    """
    rows = [*_types_of_typing(graph), *_types_of_paths(graph)]
    sizes = np.diff(graph.types.offsets)
    for name, nodes in (known or {}).items():
        untyped = np.array([n for n in nodes if not sizes[n]], np.int64)
        rows += [(name, untyped)] if len(untyped) else []
    if not rows:
        return graph
    ids = {name: i for i, name in enumerate(graph.types.names)}
    nodes, types = [graph.types.owners], [graph.types.type.astype(np.int64)]
    for name, members in sorted(rows, key=lambda row: -len(row[1]))[:MOST_IMPLIED_TYPES]:
        nodes.append(members)
        types.append(np.full(len(members), ids.setdefault(name, len(ids)), np.int64))
    merged_types = Types.of_pairs(Names.of(ids), np.concatenate(nodes), np.concatenate(types), graph.nodes)
    return replace(graph, types=merged_types, stated=None)


def _types_of_typing(graph: Graph) -> Iterator[tuple[str, Int64]]:
    """(type, its nodes) by the typing relations, and of all wider types."""
    typing = typing_relations(graph)
    if not typing:
        return
    heads, relations, tails = graph.out.columns()
    wider: dict[int, set[int]] = defaultdict(set)
    subclass = [r for r, label in enumerate(graph.relation_labels) if _words(label) in SUBCLASS]
    rows = np.isin(relations, subclass)
    for narrow, wide in zip(heads[rows].tolist(), tails[rows].tolist(), strict=True):
        wider[narrow].add(wide)
    rows = np.isin(relations, typing)
    members: dict[int, list[Int64]] = defaultdict(list)
    for type, nodes in _nodes_by_key(tails[rows], heads[rows]):
        for wide in _wider_types(type, wider):
            members[wide].append(nodes)
    for type, parts in members.items():
        yield graph.labels[type], np.unique(np.concatenate(parts))


def _wider_types(type: int, wider: dict[int, set[int]]) -> set[int]:
    """A type and all wider ones."""
    types, frontier = {type}, {type}
    for _ in range(DEEPEST_TYPE):
        frontier = {w for t in frontier for w in wider.get(t, ())} - types
        if not frontier:
            break
        types |= frontier
    return types


def _types_of_paths(graph: Graph) -> Iterator[tuple[str, Int64]]:
    """(type, its nodes) by the names of relations: the part before the last is the type of the heads."""
    paths = [relation_path(label) for label in graph.relation_labels]
    type_ids: dict[str, int] = {}
    kind = np.array(
        [type_ids.setdefault(p[-2], len(type_ids)) if len(p) > 1 else -1 for p in paths], np.int64
    )
    if 2 * int((kind >= 0).sum()) < len(paths):
        return
    names = list(type_ids)
    heads, relations, _ = graph.out.columns()
    for number, nodes in _nodes_by_key(kind[relations], heads):
        if number >= 0:
            yield names[number], np.unique(nodes)


def _nodes_by_key(keys: NDArray[Any], nodes: NDArray[Any]) -> Iterator[tuple[int, Int64]]:
    """Each key with the nodes that stand beside it, in their order."""
    if not len(keys):
        return
    order = np.argsort(keys, kind="stable")
    distinct_keys, starts = np.unique(keys[order], return_index=True)
    yield from zip(distinct_keys.tolist(), np.split(nodes[order].astype(np.int64), starts[1:]), strict=True)


def _words(label: str) -> str:
    """The words of a relation's name: `instanceOf` → instance of."""
    spaced = words_apart(relation_path(label)[-1])
    return " ".join(re.split(r"[\W_]+", spaced)).strip().casefold()
