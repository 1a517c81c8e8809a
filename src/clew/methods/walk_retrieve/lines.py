"""Lines of a prompt beside the sentences of walks: relation paths, and whole types and relations.

Beyond the paper: three walks of a node cannot hold a list of 200, a path does in one line. Paths begin at the
things that a question names, and end at all that they lead to. They are ranked by the question's words; the
best have most of the room for names, and every line says how many it has. A path that only leads back to what
it came from is no line. Of a few things on the way, a line says which of them leads to which end.

*How many countries are there? Who scored the most goals?* Such a question names no thing to begin at. The
types that it names are listed, *everything of type country : China (1)*, and the relations most like its
words, or that it is likeliest to ask for (`AskedSteps`), by those of their ends that are fewer: *everything
─position→ : Striker [Ann, Bea (2)]*. Of long lists a line shows some and their number, of values the least
and the greatest; other relations that are too large to be whole are left out.
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
from clew.index.corpus import NearWalk
from clew.llm.prompting import data_line
from clew.methods.evidence import Fact, of_relation
from clew.methods.relation_ranking import RelationRanking, path_scores
from clew.text.labels import readable, relation_text
from clew.text.normalise import normalise

LONGEST_SENTENCE = 1_000
"""Characters of what a prompt shows of a walk, and of the sentence that a model says of it."""
MOST_PATH_ENDS = 300
"""Names of the ends of all paths that a prompt shows."""
FIRST_NAMES = 12
"""Names of each path, before the best take what room is left."""
LONGEST_NAME_IN_LINE = 120
WITH_BEGINNINGS = 4
"""Of so many of the best paths, the shorter paths that they begin with are lines too."""
MOST_BETWEEN, MOST_SOURCES = 12, 4
"""Things before the last step of which a line says which leads where, and those that it says of one end."""
MOST_LISTED_RELATIONS, MOST_ASKED_RELATIONS = 4, 2
MOST_LISTED_ENDS, MOST_LISTED_NAMES = 60, 12
"""Ends of a relation that a line shows, and the names beside each: of more, the first, and their number."""
MOST_LIST_TRIPLES = 200
"""Triples of all relations that are read whole."""
MOST_MEMBERS = 300
"""Things of a type that a line lists."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, eq=False)
class ContextLine:
    """A line of a prompt, and its fact."""

    text: str
    fact: Fact


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
    paths = [
        path
        for topic in topics
        for path in relation_paths(graph, topic, lambda steps: path_scores(alike, steps))
        if len(path.ends) and not _turns_back(path)
    ]
    scores = path_scores(alike, [path.steps for path in paths])
    best = [paths[at] for at in nlargest(len(paths), range(len(paths)), key=lambda at: (scores[at], -at))]
    beginnings = (
        beginning
        for path in best[:WITH_BEGINNINGS]
        for beginning in _from_shortest(path)
        if not _turns_back(beginning)
    )
    path_by_ends: dict[tuple[object, ...], RelationPath] = {}
    for path in chain(beginnings, best[WITH_BEGINNINGS:]):
        relations = tuple(sorted(step >> 1 for step in path.steps))
        path_by_ends.setdefault((path.root, relations, path.ends.tobytes()), path)
    return _fair_share(list(path_by_ends.values()), count, len(set(topics)))


def _fair_share(paths: Sequence[RelationPath], count: int, topics: int) -> list[RelationPath]:
    """The first `count` paths, of which no topic has more than its share where another has some to give."""
    share, of_topic = -(-count // max(topics, 1)), Counter[int]()
    within_share, beyond_share = list[RelationPath](), list[RelationPath]()
    for path in paths:
        of_topic[path.root] += 1
        (within_share if of_topic[path.root] <= share else beyond_share).append(path)
    chosen_ids = set(map(id, [*within_share, *beyond_share][:count]))
    return [path for path in paths if id(path) in chosen_ids]


def _turns_back(path: RelationPath) -> bool:
    """Whether a path goes back by the relation that it came by, and reaches only where it was before."""
    earlier = path.prefix.prefix if path.prefix is not None else None
    if earlier is None or path.steps[-1] != path.steps[-2] ^ 1:
        return False
    return set(path.ends.tolist()) <= {*earlier.ends.tolist(), path.root}


def _from_shortest(path: RelationPath) -> Iterable[RelationPath]:
    """A path, behind those that it begins with."""
    if path.prefix is None or not path.prefix.steps:
        return (path,)
    return (*_from_shortest(path.prefix), path)


def path_lines(graph: Graph, paths: Sequence[RelationPath]) -> list[ContextLine]:
    """Say paths with their ends: each its first few names, and the best as many more as there is room for."""
    counts = [min(len(path.ends), FIRST_NAMES) for path in paths]
    room = max(MOST_PATH_ENDS - sum(counts), 0)
    for at, path in enumerate(paths):
        extra = min(len(path.ends) - counts[at], room)
        counts[at] += extra
        room -= extra
    pairs = zip(paths, counts, strict=True)
    return [
        ContextLine(
            _path_text(graph, path, count),
            Fact(
                (),
                Ends(graph, path),
                cut=count < len(path.ends) or not path.complete,
                total=len(path.ends) if path.complete else 0,
            ),
        )
        for path, count in pairs
    ]


def _path_text(graph: Graph, path: RelationPath, count: int) -> str:
    """*Memento ─directed by→ · ←directed by─ : Insomnia; Tenet (2)*."""
    text = name_of(graph, path.root)
    for at, step in enumerate(path.steps):
        relation = data_line(relation_text(graph.relation_labels[step >> 1]), LONGEST_NAME_IN_LINE)
        text += (" ·" if at else "") + (f" ←{relation}─" if step % 2 else f" ─{relation}→")
    between = path.between(graph, MOST_BETWEEN)
    names = "; ".join(
        name_of(graph, int(end)) + _sources(graph, between.get(int(end), ())) for end in path.ends[:count]
    )
    at_least = "" if path.complete else "at least "
    number = (
        f"{count:,} of {at_least}{len(path.ends):,}" if count < len(path.ends) or at_least else f"{count:,}"
    )
    return f"{text} : {names} ({number})"


def _sources(graph: Graph, nodes: Sequence[int]) -> str:
    """* [Ravi Menon]*: what leads to an end; empty where a line does not say it."""
    if not nodes:
        return ""
    hidden_count = len(nodes) - MOST_SOURCES
    names = ", ".join(name_of(graph, node) for node in nodes[:MOST_SOURCES])
    return f" [{names}{f' and {hidden_count} more' if hidden_count > 0 else ''}]"


def name_of(graph: Graph, node: int) -> str:
    """A name as a line shows it."""
    return data_line(readable(graph.labels[node]), LONGEST_NAME_IN_LINE)


def whole_lists(
    graph: Graph,
    ranking: RelationRanking,
    question: str,
    topics: Sequence[int],
    asked: Sequence[int] = (),
) -> list[ContextLine]:
    """Types, then relations, for a question that names nothing but numbers and dates; else none.

    Relations that are `asked` for, by the likeliest readings, come before those that are nearest by their
    names.
    """
    if not all(graph.values.kind[topic] for topic in topics):
        return []
    lines, room = _type_lines(graph, question), MOST_LIST_TRIPLES
    order = dict.fromkeys([*asked[:MOST_ASKED_RELATIONS], *ranking.order(question)])
    for relation in list(order)[:MOST_LISTED_RELATIONS]:
        count = int(np.count_nonzero(graph.out.relation == relation))
        if 0 < count <= room or relation in asked[:MOST_ASKED_RELATIONS]:
            lines.append(_relation_line(graph, relation))
            room -= min(count, room)
    return lines


def _type_lines(graph: Graph, question: str) -> list[ContextLine]:
    words = set(_WORD.findall(normalise(question)))
    plurals = (("s", ""), ("es", ""), ("ies", "y"))
    word_forms = words | {
        w.removesuffix(end) + singular for end, singular in plurals for w in words if w.endswith(end)
    }
    lines: list[ContextLine] = []
    for type_, name in enumerate(graph.types.names):
        name_words = set(normalise(readable(name)).split())
        members = (
            np.flatnonzero(graph.types.having(type_)).tolist()
            if name_words and name_words <= word_forms
            else []
        )
        if 0 < len(members) <= MOST_MEMBERS:
            ends = {node: proof for node in members if (proof := _first_triple(graph, node))}
            kind = data_line(readable(name), LONGEST_NAME_IN_LINE)
            text = f"everything of type {kind} : {_names_text(graph, members)}"
            lines.append(ContextLine(text, Fact((), ends)))
    return lines


def _relation_line(graph: Graph, relation: int) -> ContextLine:
    """A relation by its tails, or by its heads where these are fewer, those with the most others first."""
    slots = of_relation(graph, relation)
    heads, tails = graph.out.owners(slots).tolist(), graph.out.neighbour[slots].tolist()
    by_tail = len(set(tails)) <= len(set(heads))
    opposite_nodes: dict[int, list[int]] = {}
    proofs: dict[int, tuple[int, ...]] = {}
    for triple, head, tail in zip(slots.tolist(), heads, tails, strict=True):
        end, opposite = (tail, head) if by_tail else (head, tail)
        opposite_nodes.setdefault(end, []).append(opposite)
        proofs[end] = (*proofs.get(end, ()), triple)
    ends = sorted(opposite_nodes, key=lambda end: (-len(opposite_nodes[end]), end))
    shown = _shown_ends(graph, ends)
    listing = "; ".join(
        f"{name_of(graph, end)} [{_names_text(graph, opposite_nodes[end], ', ')}]" for end in shown
    )
    label = data_line(relation_text(graph.relation_labels[relation]), LONGEST_NAME_IN_LINE)
    arrow = f"─{label}→" if by_tail else f"←{label}─"
    number = f"{len(shown):,} of {len(ends):,}" if len(shown) < len(ends) else f"{len(ends):,}"
    cut = len(shown) < len(ends)
    fact = Fact(tuple(slots.tolist()), proofs, cut, len(ends))
    return ContextLine(f"everything {arrow} : {listing} ({number})", fact)


def _shown_ends(graph: Graph, ends: Sequence[int]) -> Sequence[int]:
    """The ends that a line has room for: the first; of values the least and the greatest."""
    if len(ends) <= MOST_LISTED_ENDS:
        return ends
    if not graph.values.kind[np.array(ends)].all():
        return ends[:MOST_LISTED_ENDS]
    by_value = sorted(ends, key=lambda end: float(graph.values.value[end]))
    return [*by_value[: MOST_LISTED_ENDS // 2], *by_value[-(MOST_LISTED_ENDS // 2) :]]


def _names_text(graph: Graph, nodes: Sequence[int], between: str = "; ") -> str:
    most = len(nodes) if between == "; " else MOST_LISTED_NAMES
    names = between.join(name_of(graph, node) for node in nodes[:most])
    return f"{names}{between + '…' if len(nodes) > most else ''} ({len(nodes):,})"


def _first_triple(graph: Graph, node: int) -> tuple[int, ...]:
    """The first triple in which a thing stands."""
    low, high = graph.out.span(node)
    if low < high:
        return (low,)
    low, high = graph.into.span(node)
    if low == high:
        return ()
    head, relation = int(graph.into.neighbour[low]), int(graph.into.relation[low])
    return (graph.find_triple(head, relation, node),)


def triples_of(walk: NearWalk) -> Iterator[tuple[int, int, int]]:
    """Head, relation and tail of every step of a walk."""
    node = walk.root
    for step, other in zip(walk.steps, walk.nodes, strict=True):
        head, tail = (node, other) if step % 2 == 0 else (other, node)
        yield head, step // 2, tail
        node = other
