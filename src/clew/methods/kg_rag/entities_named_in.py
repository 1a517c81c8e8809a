"""Entities that a text names, and the paths that prove them: how the text of a model is grounded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from clew.graph.graph import Graph
from clew.methods.kg_rag.chain import Proofs
from clew.text.labels import readable
from clew.text.normalise import normalise


def entities_named_in(graph: Graph, text: str, entities: Iterable[int]) -> tuple[int, ...]:
    """Which of `entities` a text names by their labels, in the order of the text.

    Where one name is part of another (*Alien*, *Alien 3*), the longest that is there counts; of names that
    differ in how they are written only (a person and a tag), those that are there as written, if any.
    """
    words = f" {normalise(text)} "
    labels: dict[str, list[int]] = {}
    for entity in dict.fromkeys(entities):
        labels.setdefault(normalise(graph.labels[entity]), []).append(entity)
    as_written = {
        label: [e for e in same if readable(graph.labels[e]) in text]
        for label, same in labels.items()
        if len(same) > 1
    }
    places: list[tuple[int, list[int]]] = []
    for label in sorted((name for name in labels if name), key=lambda name: (-len(name), name)):
        at = words.find(f" {label} ")
        while at >= 0:
            places.append((at, as_written.get(label) or labels[label]))
            # What a longer name has taken is no longer there for a shorter one; the length stays.
            words = words[: at + 1] + "\x00" * len(label) + words[at + 1 + len(label) :]
            at = words.find(f" {label} ")
    ordered = sorted(places, key=lambda place: place[0])
    return tuple(dict.fromkeys(entity for _, named in ordered for entity in named))


def without_names(graph: Graph, text: str, entities: Iterable[int]) -> str:
    """A text without the names of `entities`, however they are written, longest first."""
    labels = sorted({readable(graph.labels[e]) for e in entities}, key=lambda name: (-len(name), name))
    names = [re.escape(label) for label in labels if label.strip() and label.casefold() in text.casefold()]
    return re.sub(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", "", text, flags=re.IGNORECASE) if names else text


def ends_of(graph: Graph, triples: Iterable[int]) -> list[int]:
    """Heads and tails of triples, in order, each once."""
    return list(dict.fromkeys(node for t in triples for node in graph.triple(t)[::2]))


def prove(
    graph: Graph, wanted: Sequence[int], known: Proofs, triples: Sequence[int]
) -> dict[int, tuple[int, ...]]:
    """Prove entities by the shortest path through `triples` from a known one; without one, they are left out.

    Of paths as short, the one whose triples stand earlier. A known entity needs a path from another one.
    """
    around: dict[int, list[tuple[int, int]]] = {}
    for triple in triples:
        head, _, tail = graph.triple(triple)
        around.setdefault(head, []).append((triple, tail))
        if tail != head:
            around.setdefault(tail, []).append((triple, head))
    reached = _reach(around, known)
    proofs: dict[int, tuple[int, ...]] = {}
    for entity in wanted:
        paths = reached
        if entity in known:
            paths = _reach(around, {e: p for e, p in known.items() if e != entity})
        if entity in paths and (entity not in known or paths[entity]):
            proofs[entity] = paths[entity]
    return proofs


def _reach(around: Mapping[int, Sequence[tuple[int, int]]], known: Proofs) -> dict[int, tuple[int, ...]]:
    """Breadth-first from all known entities at once."""
    paths = dict(known)
    frontier = list(known)
    while frontier:
        following: list[int] = []
        for node in frontier:
            for triple, other in around.get(node, ()):
                if other not in paths:
                    paths[other] = (*paths[node], triple)
                    following.append(other)
        frontier = following
    return paths
