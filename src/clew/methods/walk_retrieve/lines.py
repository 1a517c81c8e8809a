"""Lines of a prompt beside the sentences of walks: relation paths, and whole types and relations.

Beyond the paper: three walks of a node cannot hold a list of 200, a path does in one line. Paths begin at the
things that a question names, and end at all that they lead to. They are ranked by the question's words; the
best have most of the room for names, and every line says how many it has. A path that only leads back to what
it came from is no line. Of a few things on the way, a line says which of them leads to which end.

*How many countries are there? Who scored the most goals?* Such a question names no thing to begin at. The
types that it names are listed, *everything of type country : China (1)*, and the relations most like its
words, by those of their ends that are fewer: *everything ─position→ : Striker [Ann, Bea (2)]*. What is too
large to be whole is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain

import numpy as np

from clew.graph.graph import Graph
from clew.graph.walks.relation_paths import RelationPath, relation_paths
from clew.llm.grounded_reply import Fact
from clew.llm.prompting import data_line
from clew.methods.kg_rag.retrieve import of_relation
from clew.methods.relation_ranking import RelationRanking, path_scores
from clew.text.labels import readable, relation_text
from clew.text.normalise import normalise

MOST_PATH_ENDS = 300
"""Names of the ends of all paths that a prompt shows."""
FIRST_NAMES = 12
"""Names of each path, before the best take what room is left."""
LONGEST_NAME_IN_LINE = 120
WITH_BEGINNINGS = 4
"""Of so many of the best paths, the shorter paths that they begin with are lines too."""
MOST_BETWEEN, MOST_SOURCES = 12, 4
"""Things before the last step of which a line says which leads where, and those that it says of one end."""
MOST_LISTED_RELATIONS = 4
MOST_LIST_TRIPLES = 200
"""Triples of all relations that are read whole."""
MOST_MEMBERS = 300
"""Things of a type that a line lists."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, eq=False)
class ContextLine:
    """A line of a prompt, and what it holds; of a path also how many of its ends it names."""

    text: str
    fact: Fact
    path: RelationPath | None = None
    shown: int = 0

    @property
    def whole(self) -> bool:
        """Whether the line names all that it is about."""
        return self.path is None or (self.path.complete and self.shown == len(self.path.ends))


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
    """The `count` paths from the topics whose relations are most like the words of a question, best first.

    Behind the best stand the paths that they begin with. One that leads nowhere new is left out, and of those
    with the same relations and ends, in other directions, the worse.
    """
    alike = ranking.alike(question)
    found = [
        path
        for topic in topics
        for path in relation_paths(graph, topic, lambda steps: path_scores(alike, steps))
        if len(path.ends) and not _turns_back(path)
    ]
    scores = path_scores(alike, [path.steps for path in found])
    best = [found[at] for at in nlargest(len(found), range(len(found)), key=lambda at: (scores[at], -at))]
    beginnings = (
        begun for path in best[:WITH_BEGINNINGS] for begun in _from_shortest(path) if not _turns_back(begun)
    )
    each: dict[tuple[object, ...], RelationPath] = {}
    for path in chain(beginnings, best[WITH_BEGINNINGS:]):
        relations = tuple(sorted(step >> 1 for step in path.steps))
        each.setdefault((path.root, relations, path.ends.tobytes()), path)
    return _fairly(list(each.values()), count, len(set(topics)))


def _fairly(paths: Sequence[RelationPath], count: int, topics: int) -> list[RelationPath]:
    """The first `count` paths, of which no topic has more than its share where another has some to give."""
    share, of_topic = -(-count // max(topics, 1)), Counter[int]()
    first, others = list[RelationPath](), list[RelationPath]()
    for path in paths:
        of_topic[path.root] += 1
        (first if of_topic[path.root] <= share else others).append(path)
    kept = set(map(id, [*first, *others][:count]))
    return [path for path in paths if id(path) in kept]


def _turns_back(path: RelationPath) -> bool:
    """Whether a path goes back by the relation that it came by, and reaches only where it was before."""
    before = path.prefix.prefix if path.prefix is not None else None
    if before is None or path.steps[-1] != path.steps[-2] ^ 1:
        return False
    return set(path.ends.tolist()) <= {*before.ends.tolist(), path.root}


def _from_shortest(path: RelationPath) -> Iterable[RelationPath]:
    """A path, behind those that it begins with."""
    if path.prefix is None or not path.prefix.steps:
        return (path,)
    return (*_from_shortest(path.prefix), path)


def path_lines(graph: Graph, paths: Sequence[RelationPath]) -> list[ContextLine]:
    """Say paths with their ends: each its first few names, and the best as many more as there is room for."""
    shown = [min(len(path.ends), FIRST_NAMES) for path in paths]
    room = max(MOST_PATH_ENDS - sum(shown), 0)
    for at, path in enumerate(paths):
        more = min(len(path.ends) - shown[at], room)
        shown[at] += more
        room -= more
    pairs = zip(paths, shown, strict=True)
    return [ContextLine(_said(graph, p, count), Fact((), Ends(graph, p)), p, count) for p, count in pairs]


def _said(graph: Graph, path: RelationPath, count: int) -> str:
    """*Memento ─directed by→ · ←directed by─ : Insomnia; Tenet (2)*."""
    told = name_of(graph, path.root)
    for at, step in enumerate(path.steps):
        relation = data_line(relation_text(graph.relation_labels[step >> 1]), LONGEST_NAME_IN_LINE)
        told += (" ·" if at else "") + (f" ←{relation}─" if step % 2 else f" ─{relation}→")
    between = path.between(graph, MOST_BETWEEN)
    names = "; ".join(
        name_of(graph, int(end)) + _sources(graph, between.get(int(end), ())) for end in path.ends[:count]
    )
    of = "" if path.complete else "at least "
    number = f"{count:,} of {of}{len(path.ends):,}" if count < len(path.ends) or of else f"{count:,}"
    return f"{told} : {names} ({number})"


def _sources(graph: Graph, nodes: Sequence[int]) -> str:
    """* [Ravi Menon]*: what leads to an end; empty where a line does not say it."""
    if not nodes:
        return ""
    more = len(nodes) - MOST_SOURCES
    told = ", ".join(name_of(graph, node) for node in nodes[:MOST_SOURCES])
    return f" [{told}{f' and {more} more' if more > 0 else ''}]"


def name_of(graph: Graph, node: int) -> str:
    """A name as a line shows it."""
    return data_line(readable(graph.labels[node]), LONGEST_NAME_IN_LINE)


def whole_lists(
    graph: Graph, ranking: RelationRanking, question: str, topics: Sequence[int]
) -> list[ContextLine]:
    """Types, then relations, for a question that names nothing but numbers and dates; else none."""
    if not all(graph.values.kind[topic] for topic in topics):
        return []
    lines, room = _types(graph, question), MOST_LIST_TRIPLES
    for relation in ranking.order(question)[:MOST_LISTED_RELATIONS]:
        count = int(np.count_nonzero(graph.out.relation == relation))
        if 0 < count <= room:
            lines.append(_relation(graph, relation))
            room -= count
    return lines


def _types(graph: Graph, question: str) -> list[ContextLine]:
    words = set(_WORD.findall(normalise(question)))
    plurals = (("s", ""), ("es", ""), ("ies", "y"))
    said = words | {w.removesuffix(end) + one for end, one in plurals for w in words if w.endswith(end)}
    lines: list[ContextLine] = []
    for type_, name in enumerate(graph.types.names):
        named = set(normalise(readable(name)).split())
        members = np.flatnonzero(graph.types.having(type_)).tolist() if named and named <= said else []
        if 0 < len(members) <= MOST_MEMBERS:
            ends = {node: proof for node in members if (proof := _standing(graph, node))}
            kind = data_line(readable(name), LONGEST_NAME_IN_LINE)
            told = f"everything of type {kind} : {_listed(graph, members)}"
            lines.append(ContextLine(told, Fact((), ends)))
    return lines


def _relation(graph: Graph, relation: int) -> ContextLine:
    """A relation by its tails, or by its heads where these are fewer, those with the most others first."""
    slots = of_relation(graph, relation)
    heads, tails = graph.out.owners(slots).tolist(), graph.out.neighbour[slots].tolist()
    by_tail = len(set(tails)) <= len(set(heads))
    others: dict[int, list[int]] = {}
    proofs: dict[int, tuple[int, ...]] = {}
    for triple, head, tail in zip(slots.tolist(), heads, tails, strict=True):
        end, other = (tail, head) if by_tail else (head, tail)
        others.setdefault(end, []).append(other)
        proofs[end] = (*proofs.get(end, ()), triple)
    ends = sorted(others, key=lambda end: (-len(others[end]), end))
    told = "; ".join(f"{name_of(graph, end)} [{_listed(graph, others[end], ', ')}]" for end in ends)
    named = data_line(relation_text(graph.relation_labels[relation]), LONGEST_NAME_IN_LINE)
    arrow = f"─{named}→" if by_tail else f"←{named}─"
    return ContextLine(f"everything {arrow} : {told} ({len(ends):,})", Fact(tuple(slots.tolist()), proofs))


def _listed(graph: Graph, nodes: Sequence[int], between: str = "; ") -> str:
    return f"{between.join(name_of(graph, node) for node in nodes)} ({len(nodes):,})"


def _standing(graph: Graph, node: int) -> tuple[int, ...]:
    """The first triple in which a thing stands."""
    low, high = graph.out.span(node)
    if low < high:
        return (low,)
    low, high = graph.into.span(node)
    if low == high:
        return ()
    head, relation = int(graph.into.neighbour[low]), int(graph.into.relation[low])
    return (graph.find_triple(head, relation, node),)
