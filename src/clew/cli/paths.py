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
    left = list(triples)
    drawn: set[str] = set()
    paths: list[ShownPath] = []
    while left:
        path = _walk(_start(left, answer, drawn), left, answer, drawn)
        drawn |= {path.start, *(hop.node for hop in path.hops)}
        paths.append(path)
    return paths


def _start(left: Sequence[TripleText], answer: str, drawn: set[str]) -> str:
    ends = [end for triple in left for end in (triple.head, triple.tail)]
    loose = [end for end in ends if ends.count(end) == 1 and end != answer]
    fresh = [end for end in loose if end not in drawn]
    others = [end for end in ends if end != answer]
    return next(iter([*fresh, *loose, *others, *ends]))


def _walk(start: str, left: list[TripleText], answer: str, drawn: set[str]) -> ShownPath:
    """Follow triples from `start`, those nearest to the answer first, taking them out of `left`."""
    far = _distances(left, answer)
    at, hops = start, list[ShownHop]()
    while choices := [t for t in left if at in (t.head, t.tail)]:
        triple = min(choices, key=lambda t: far.get(_other(t, at), len(far)))
        left.remove(triple)
        forward = triple.head == at
        at = _other(triple, at)
        hops.append(ShownHop(triple.relation, forward, at))
        if at == answer or at in drawn:
            break
    return ShownPath(start, tuple(hops))


def _other(triple: TripleText, node: str) -> str:
    return triple.tail if triple.head == node else triple.head


def _distances(triples: Sequence[TripleText], answer: str) -> dict[str, int]:
    """Count the edges from each node to the answer; nodes that are not connected with it are left out."""
    far, ring = {answer: 0}, {answer}
    while ring:
        near = {_other(t, node) for t in triples for node in ring if node in (t.head, t.tail)}
        ring = near - far.keys()
        far |= dict.fromkeys(ring, max(far.values()) + 1)
    return far
