"""Triples as paths to draw: `Memento ─directed_by→ Christopher Nolan ←directed_by─ Inception`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.types import TripleText


@dataclass(frozen=True, slots=True)
class ShownHop:
    """One edge of a path; `forward` if it is drawn from its head to its tail."""

    relation: str
    forward: bool
    node: str


@dataclass(frozen=True, slots=True)
class ShownPath:
    """A node and the hops that lead on from it."""

    start: str
    hops: tuple[ShownHop, ...]


def paths_of(triples: Sequence[TripleText], answer: str) -> list[ShownPath]:
    """Cut the triples of a citation into paths that lead to `answer`; each triple is in one of them.

    Paths begin at loose ends, in the order of the triples, and stop at the answer or at a node that is
    drawn already; what is left (a cycle, parallel edges) begins at a node that is drawn.
    """
    remaining = list(triples)
    drawn_nodes: set[str] = set()
    paths: list[ShownPath] = []
    while remaining:
        path = _walk(_start(remaining, answer, drawn_nodes), remaining, answer, drawn_nodes)
        drawn_nodes |= {path.start, *(hop.node for hop in path.hops)}
        paths.append(path)
    return paths


def _start(remaining: Sequence[TripleText], answer: str, drawn_nodes: set[str]) -> str:
    ends = [end for triple in remaining for end in (triple.head, triple.tail)]
    loose = [end for end in ends if ends.count(end) == 1 and end != answer]
    fresh = [end for end in loose if end not in drawn_nodes]
    other_ends = [end for end in ends if end != answer]
    return next(iter([*fresh, *loose, *other_ends, *ends]))


def _walk(start: str, remaining: list[TripleText], answer: str, drawn_nodes: set[str]) -> ShownPath:
    """Follow triples from `start`, those nearest to the answer first, taking them out of `remaining`."""
    distances = _distances(remaining, answer)
    at, hops = start, list[ShownHop]()
    while choices := [t for t in remaining if at in (t.head, t.tail)]:
        triple = min(choices, key=lambda t: distances.get(_other_end(t, at), len(distances)))
        remaining.remove(triple)
        forward = triple.head == at
        at = _other_end(triple, at)
        hops.append(ShownHop(triple.relation, forward, at))
        if at == answer or at in drawn_nodes:
            break
    return ShownPath(start, tuple(hops))


def _other_end(triple: TripleText, node: str) -> str:
    return triple.tail if triple.head == node else triple.head


def _distances(triples: Sequence[TripleText], answer: str) -> dict[str, int]:
    """Count the edges from each node to the answer; nodes that are not connected with it are left out."""
    distances, ring = {answer: 0}, {answer}
    while ring:
        neighbours = {_other_end(t, node) for t in triples for node in ring if node in (t.head, t.tail)}
        ring = neighbours - distances.keys()
        distances |= dict.fromkeys(ring, max(distances.values()) + 1)
    return distances
