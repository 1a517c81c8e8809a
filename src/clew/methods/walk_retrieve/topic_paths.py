"""Relation paths of the things that a question names, as lines of a prompt: each with all that it ends at.

Beyond the paper: three walks of a node cannot hold a list of 200, a path does in one line. Paths are ranked
by the question's words; the best have most of the room for names, and every line says how many it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from clew.graph.graph import Graph
from clew.graph.walks.relation_paths import RelationPath, relation_paths
from clew.llm.grounded_reply import Fact, Proofs
from clew.llm.prompting import data_line
from clew.methods.relation_ranking import RelationRanking, path_scores
from clew.text.labels import readable, relation_text

MOST_NAMES = 300
"""Names of the ends of all paths that a prompt shows."""
FIRST_NAMES = 12
"""Names of each path, before the best take what room is left."""
LONGEST_NAME = 120


@dataclass(frozen=True, eq=False)
class PathLine:
    """A path as a line of a prompt, with the names that it shows of its ends."""

    text: str
    path: RelationPath
    shown: int

    @property
    def whole(self) -> bool:
        """Whether the line names all that the path ends at."""
        return self.path.complete and self.shown == len(self.path.ends)


class Ends(Mapping[int, tuple[int, ...]]):
    """The ends of a path, each with the triples that lead to it, which are looked up when asked for."""

    def __init__(self, graph: Graph, path: RelationPath) -> None:
        self._graph, self._path = graph, path
        self._places = {int(end): place for place, end in enumerate(path.ends.tolist())}

    def __getitem__(self, entity: int) -> tuple[int, ...]:
        return self._path.proof(self._graph, self._places[entity])

    def __contains__(self, entity: object) -> bool:
        return entity in self._places

    def __iter__(self) -> Iterator[int]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def best_paths(
    graph: Graph, ranking: RelationRanking, question: str, topics: Sequence[int], count: int
) -> list[RelationPath]:
    """The `count` paths from the topics whose relations are most like the words of a question, best first."""
    alike = ranking.alike(question)
    found = [
        path
        for topic in topics
        for path in relation_paths(graph, topic, lambda steps: path_scores(alike, steps))
        if len(path.ends)
    ]
    scores = path_scores(alike, [path.steps for path in found])
    best = nlargest(count, range(len(found)), key=lambda at: (scores[at], -at))
    return [found[at] for at in best]


def path_lines(graph: Graph, paths: Sequence[RelationPath]) -> list[PathLine]:
    """Say paths with their ends: each its first few names, and the best as many more as there is room for."""
    shown = [min(len(path.ends), FIRST_NAMES) for path in paths]
    room = MOST_NAMES - sum(shown)
    for at, path in enumerate(paths):
        more = min(len(path.ends) - shown[at], max(room, 0))
        shown[at] += more
        room -= more
    return [
        PathLine(_said(graph, path, count), path, count) for path, count in zip(paths, shown, strict=True)
    ]


def fact_of(graph: Graph, line: PathLine) -> Fact:
    """What a line holds, for grounding."""
    ends: Proofs = Ends(graph, line.path)
    return Fact((), ends)


def _said(graph: Graph, path: RelationPath, count: int) -> str:
    """*Memento ─directed by→ · ←directed by─ : Insomnia; Tenet (2)*."""
    told = _name(graph, path.root)
    for at, step in enumerate(path.steps):
        relation = data_line(relation_text(graph.relation_labels[step >> 1]), LONGEST_NAME)
        told += f"{' ·' if at else ''} ←{relation}─" if step % 2 else f"{' ·' if at else ''} ─{relation}→"
    names = "; ".join(_name(graph, int(end)) for end in path.ends[:count])
    of = "" if path.complete else "at least "
    number = f"{count:,} of {of}{len(path.ends):,}" if count < len(path.ends) or of else f"{count:,}"
    return f"{told} : {names} ({number})"


def _name(graph: Graph, node: int) -> str:
    return data_line(readable(graph.labels[node]), LONGEST_NAME)
