"""`walk-retrieve`: Walk&Retrieve (Böckling, Paulheim, Iana: workshop at SIGIR 2025).

Steps of the paper and where they are:
  2.1 graph traversal   `graph.walks.kernels` (eq. 1, eq. 2)
  2.1 verbalisation     `text.verbalise` (templates)
  2.1 indexing          `index.corpus`
  2.2 retrieval         `index.corpus` (eq. 3)
  2.2 generation        `methods/base.py` (Fig. 2b, one call)

Defaults: depth 4, n_w = 60 (section 3, *implementation details*), k = 3 nodes and k = 3 walks of each
(footnote 4).

Deviations:
  - walks follow edges both ways (so that what is only ever a tail has walks too); `--directed` does not.
  - at most 60 breadth-first walks a root (`--max-walks`): a tree of depth 4 has thousands.
  - a walk's vector is that of its sentence and its outline together, a node's that of its name and its walks;
    of sentences alone, the unknown names in them would hide the relations (`benchmarks/RESULTS.md`).
    `--plain-vectors` are of sentences alone. Either way a node's is the sum of its walks' vectors, each as
    often as it was made, in the place of one of all its sentences in a row, which no embedder takes whole.
  - questions and walks are compared by the embedder of the index; the paper encodes both with its chat model.
  - entities that the question names are the first of the k nodes; and beside walks the model reads
    the relation paths of these that are most like the question, each with all that it ends at:
    three walks cannot hold a list. Where it names none, types and the relations most like it are read whole,
    if they are small. `paths=0` is the paper's letter: eq. 3 alone.
  - answers are read from a stated form alone, and a reply in no such form is asked for again, once
    (`llm/reply.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import chain

import numpy as np

from clew.graph.graph import Graph
from clew.graph.steps import edge_of, is_backward, opposite, relation_of, tail_end
from clew.graph.values import plain_label
from clew.graph.walks.walks import RelationPath, relation_paths
from clew.index.corpus import NearWalk, WalkIndex
from clew.llm.managed import data_line
from clew.llm.types import Request
from clew.methods.base import GraphMethod, Retrieved, Run
from clew.methods.evidence import Fact, edge_note, first_into, of_relation
from clew.methods.ground import ASKED_YES_NO, GroundedReply
from clew.methods.question import Called, entities_of, without_names
from clew.methods.schema_view import RelationRanking, SchemaView, path_scores
from clew.methods.settings import WalkRetrieveSettings
from clew.query.vocabulary import DATE, NUMBER
from clew.text.normalise import normalise
from clew.text.verbalise import readable, relation_text

# Lines of a prompt beside the sentences of walks: relation paths, and whole types and relations.
#
# Beyond the paper: three walks of a node cannot hold a list of 200, a path does in one line. Paths begin at
# the things that a question names, and end at all that they lead to. They are ranked by the question's words;
# the best have most of the room for names, and every line says how many it has; those whose relations the
# likeliest readings follow come first. A path that only leads back to what it came from is no line, nor one
# that goes on from a number, a date or a word that another relation has, too. What a thing that is named has
# itself is one line, *Sule Rock : height 43; lit 1868*. Of a few things on the way, a line says which of them
# leads to which end.
#
# *How many countries are there? Who scored the most goals?* Such a question names no thing, or values alone.
# The types that it names are listed, *everything of type country : China (1)*, and the relations that it is
# likeliest to ask for (`AskedSteps`), or that are nearest to its words (`SchemaView`), by those of their
# ends that are fewer: *everything ─position→ : Striker [Ann, Bea (2)]*. Of long lists a line shows some and
# their number, of values the least and the greatest; other relations that are too large to be whole are left
# out.

LONGEST_SENTENCE = 1_000
"""Characters of what a prompt shows of a walk, and of the sentence that a model says of it."""
LONGEST_NAME_IN_LINE = 120
WITH_BEGINNINGS = 4
"""Of so many of the best paths, the shorter paths that they begin with are lines too."""
MOST_SOURCES = 4
"""Things that lead to an end which a line says."""
MOST_ASKED_RELATIONS, MOST_WHOLE_RELATIONS = 4, 10
MOST_OWN, MOST_OWN_LINES = 40, 4
"""Triples in the line of what a thing that is named has itself, and such lines."""
FOLLOWED = 10.0
"""What comes to the score of a path whose relations are asked for: more than any that words give."""
MOST_LISTED_ENDS = 60
"""Ends of a relation that a line shows; of more, the first, and their number."""
_WORD = re.compile(r"\w+")


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
    graph: Graph,
    ranking: RelationRanking,
    question: str,
    topics: Sequence[int],
    count: int,
    asked: Collection[int] = (),
    walks: Collection[tuple[int, ...]] = (),
) -> list[RelationPath]:
    """The `count` paths from the topics that are most like the words of a question, best first.

    Those of the relations that are `asked` for come before the others, and behind the best the paths that
    they begin with; one that leads nowhere new is left out. Of `walks` none is left out.
    """
    alike = ranking.alike(question)

    def rank(paths: Sequence[tuple[int, ...]]) -> list[float]:
        scores = path_scores(alike, paths)
        are_asked = [all(relation_of(step) in asked for step in steps) for steps in paths]
        return [score + FOLLOWED * of_asked for score, of_asked in zip(scores, are_asked, strict=True)]

    paths = [
        path
        for topic in topics
        for path in relation_paths(graph, topic, rank)
        if len(path.ends) and not _turns_back(path) and not _leaves_value(graph, path)
    ]
    scores = rank([path.steps for path in paths])
    best = [paths[at] for at in nlargest(len(paths), range(len(paths)), key=lambda at: (scores[at], -at))]
    beginnings = (
        beginning
        for path in best[:WITH_BEGINNINGS]
        for beginning in _from_shortest(path)
        if not _turns_back(beginning)
    )
    path_by_ends: dict[tuple[object, ...], RelationPath] = {}
    for path in chain(beginnings, best[WITH_BEGINNINGS:]):
        relations = tuple(sorted(relation_of(step) for step in path.steps))
        path_by_ends.setdefault((path.root, relations, path.ends.tobytes()), path)
    chosen = _fair_share(list(path_by_ends.values()), count, len(set(topics)))
    return [*(p for p in path_by_ends.values() if p.steps in walks and p not in chosen), *chosen]


def _leaves_value(graph: Graph, path: RelationPath) -> bool:
    """Whether a path goes on from a value that it came to by another relation: 4 goals, and 4 assists."""
    while path.prefix is not None and path.prefix.steps:
        last, before = path.steps[-1], path.steps[-2]
        if is_backward(last) and not is_backward(before) and last != opposite(before):
            ends = path.prefix.ends
            if (graph.out.starts[ends] == graph.out.stops[ends]).all():
                return True
        path = path.prefix
    return False


def own_line(graph: Graph, topic: int) -> Fact | None:
    """What a thing has itself, in one line; None of one that has nothing."""
    first, last = graph.out.span(topic)
    triples = range(first, min(last, first + MOST_OWN))
    cells: dict[str, list[str]] = {}
    for triple in triples:
        _, relation, tail = graph.triple(triple)
        label = data_line(relation_text(graph.relation_labels[relation]), LONGEST_NAME_IN_LINE)
        cells.setdefault(label, []).append(name_of(graph, tail) + edge_note(graph, triple))
    text = "; ".join(f"{label} {', '.join(names)}" for label, names in cells.items())
    cut = len(triples) < last - first
    return Fact(tuple(triples), cut=cut, text=f"{name_of(graph, topic)} : {text}") if cells else None


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
    if earlier is None or path.steps[-1] != opposite(path.steps[-2]):
        return False
    return set(path.ends.tolist()) <= {*earlier.ends.tolist(), path.root}


def _from_shortest(path: RelationPath) -> Iterable[RelationPath]:
    """A path, behind those that it begins with."""
    if path.prefix is None or not path.prefix.steps:
        return (path,)
    return (*_from_shortest(path.prefix), path)


def path_lines(graph: Graph, paths: Sequence[RelationPath]) -> list[Fact]:
    """Say paths with their ends: each its first few names, and the best as many more as there is room for."""
    counts = [min(len(path.ends), 12) for path in paths]
    room = max(300 - sum(counts), 0)
    for at, path in enumerate(paths):
        extra = min(len(path.ends) - counts[at], room)
        counts[at] += extra
        room -= extra
    facts: list[Fact] = []
    for path, count in zip(paths, counts, strict=True):
        cut, total = count < len(path.ends) or not path.complete, len(path.ends) if path.complete else 0
        facts.append(Fact((), Ends(graph, path), cut, total, _path_text(graph, path, count)))
    return facts


def _path_text(graph: Graph, path: RelationPath, count: int) -> str:
    """*Memento ─directed by→ · ←directed by─ : Insomnia; Tenet (2)*."""
    text = name_of(graph, path.root)
    for at, step in enumerate(path.steps):
        relation = data_line(relation_text(graph.relation_labels[relation_of(step)]), LONGEST_NAME_IN_LINE)
        text += (" ·" if at else "") + (f" ←{relation}─" if is_backward(step) else f" ─{relation}→")
    between = path.between(graph, 12)
    names = "; ".join(
        name_of(graph, int(end))
        + _sources(graph, between.get(int(end), ()))
        + (edge_note(graph, *path.proof(graph, place)) if len(path.steps) == 1 else "")
        for place, end in enumerate(path.ends[:count])
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
    return data_line(readable(plain_label(graph, node)), LONGEST_NAME_IN_LINE)


def whole_lists(
    graph: Graph, question: str, topics: Sequence[int], asked: Sequence[int], order: Sequence[int]
) -> list[Fact]:
    """Types, then relations (those `asked` for, then in `order`), where only values are named; else none."""
    if any(len(range(*graph.out.span(topic))) for topic in topics):
        return []
    lines, room = _type_lines(graph, question), 600
    relations = dict.fromkeys([*asked[:MOST_ASKED_RELATIONS], *order])
    for relation in list(relations)[:MOST_WHOLE_RELATIONS]:
        count = int(np.count_nonzero(graph.out.relation == relation))
        if 0 < count <= room or relation in asked[:MOST_ASKED_RELATIONS]:
            lines.append(_relation_line(graph, relation))
            room -= min(count, room)
    return lines


def _type_lines(graph: Graph, question: str) -> list[Fact]:
    words = set(_WORD.findall(normalise(question)))
    plurals = (("s", ""), ("es", ""), ("ies", "y"))
    word_forms = words | {
        w.removesuffix(end) + singular for end, singular in plurals for w in words if w.endswith(end)
    }
    lines: list[Fact] = []
    for type_, name in enumerate(graph.types.names):
        name_words = set(normalise(readable(name)).split())
        members = (
            np.flatnonzero(graph.types.having(type_)).tolist()
            if name_words and name_words <= word_forms
            else []
        )
        if 0 < len(members) <= 300:
            spans = ((node, *graph.out.span(node)) for node in members)
            firsts = ((node, (a,) if a < b else first_into(graph, node)) for node, a, b in spans)
            ends = {node: proof for node, proof in firsts if proof}
            kind = data_line(readable(name), LONGEST_NAME_IN_LINE)
            text = f"everything of type {kind} : {_names_text(graph, members)}"
            lines.append(Fact((), ends, text=text))
    return lines


def _relation_line(graph: Graph, relation: int) -> Fact:
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
        f"{name_of(graph, end)} [{_names_text(graph, opposite_nodes[end], ', ', proofs[end])}]"
        for end in shown
    )
    label = data_line(relation_text(graph.relation_labels[relation]), LONGEST_NAME_IN_LINE)
    arrow = f"─{label}→" if by_tail else f"←{label}─"
    cut = len(shown) < len(ends)
    number = f"{len(shown):,} of {len(ends):,}" if cut else f"{len(ends):,}"
    text = f"everything {arrow} : {listing} ({number})"
    return Fact(tuple(slots.tolist()), proofs, cut, len(ends), text)


def _shown_ends(graph: Graph, ends: Sequence[int]) -> Sequence[int]:
    """The ends that a line has room for: the first; of values the least and the greatest."""
    if len(ends) <= MOST_LISTED_ENDS:
        return ends
    if not graph.values.kind[np.array(ends)].all():
        return ends[:MOST_LISTED_ENDS]
    by_value = sorted(ends, key=lambda end: float(graph.values.value[end]))
    return [*by_value[: MOST_LISTED_ENDS // 2], *by_value[-(MOST_LISTED_ENDS // 2) :]]


def _names_text(graph: Graph, nodes: Sequence[int], between: str = "; ", triples: Sequence[int] = ()) -> str:
    most = len(nodes) if between == "; " else 12
    notes = [edge_note(graph, triple) for triple in triples[:most]] or [""] * most
    names = between.join(map(str.__add__, [name_of(graph, node) for node in nodes[:most]], notes))
    return f"{names}{between + '…' if len(nodes) > most else ''} ({len(nodes):,})"


def triples_of(walk: NearWalk) -> Iterator[tuple[int, int, int]]:
    """Head, relation and tail of every step of a walk."""
    node = walk.root
    for step, other in zip(walk.steps, walk.nodes, strict=True):
        yield edge_of(node, step, other)
        node = other


class WalkRetrieve(GraphMethod[WalkRetrieveSettings]):
    """Answers from the walks nearest to a question."""

    name, settings_class, needs_topics = "walk-retrieve", WalkRetrieveSettings, False
    prompt = ("clew.methods.walk_retrieve", "read")
    sampling = Request(temperature=0.0)

    def prepare(self) -> None:
        """Open the corpus of walks."""
        self.walks = WalkIndex(self.index, self.embedder)
        self._ranking, self._schema = RelationRanking(self.graph, self.embedder), SchemaView(self.reader)

    def link(self, question: str, entities: Sequence[str], run: Run) -> Called:
        """The entities of the question; by the paper's letter those alone that the user gives."""
        return super().link(question, entities, run) if entities or self.settings.paths else {}

    def retrieve(self, question: str, called: Called, run: Run) -> Retrieved:
        """The lines beside walks, then the sentences of walks (section 2.2)."""
        graph, topics = self.graph, entities_of(called)
        lines = []
        if count := self.settings.paths:
            words, steps = without_names(graph, question, topics), self.judge.steps(question)
            lines = [
                line for topic in topics[:MOST_OWN_LINES] if (line := own_line(graph, topic)) is not None
            ]
            asked, ends = steps.relations, self.reader.vocabulary.ends
            paths = best_paths(graph, self._ranking, words, topics, count, asked, steps.walks)
            lines += path_lines(graph, paths)
            nearness = np.modf(self._schema.ranks(self.reader.read(question)))[0]
            order = np.argsort(-nearness, kind="stable").tolist()
            measuring = [relation for relation in asked if ends[tail_end(relation)] in (NUMBER, DATE)]
            lines += whole_lists(graph, question, topics, asked, [*measuring, *order])
        facts, rows, said = [*lines], list[dict[str, object]](), set[str]()
        for walk in self.nearest_walks(question, topics):
            # As a model has said it when it was indexed, else by the templates.
            sentence = walk.sentence or self.walks.maker.templates.clauses(walk.root, walk.steps, walk.nodes)
            triples = list(triples_of(walk))
            named = [[graph.entities[h], graph.relations[r], graph.entities[t]] for h, r, t in triples]
            score = round(walk.score, 3)
            node = graph.entities[walk.root]
            rows.append({"node": node, "walk": sentence, "score": score, "triples": named})
            if sentence not in said:
                said.add(sentence)
                ids = tuple(dict.fromkeys(graph.find_triple(*triple) for triple in triples))
                facts.append(Fact(ids, text=data_line(sentence, LONGEST_SENTENCE)))
        detail: dict[str, object] = {"corpus": self.walks.settings.kind, "k": self.settings.k, "walks": rows}
        detail |= {"paths": [line.text for line in lines]} if lines else {}
        run.note("retrieve", detail)
        return Retrieved(tuple(facts))

    def nearest_walks(self, question: str, topics: Sequence[int]) -> list[NearWalk]:
        """Eq. 3: k nodes, the topics first, and some of each one's own walks; best walks first."""
        vector = self.embedder.embed([question])[0]
        count = self.settings.walks or self.settings.k
        nodes = self.walks.nearest_nodes(vector, self.settings.k, first=topics)
        walks = [walk for node in nodes for walk in self.walks.nearest_walks(node, vector, count)]
        return sorted(walks, key=lambda walk: -walk.score)

    def is_complete(self, reply: GroundedReply, retrieved: Retrieved) -> bool:
        """Whether the answers are all ends of a path, or come of lines that are whole; walks are samples."""
        lines = [fact for fact in retrieved.facts if fact.ends]
        if reply.value or reply.texts:
            return reply.value in ASKED_YES_NO or (bool(lines) and not any(fact.cut for fact in lines))
        return bool(reply.proofs) and any(
            fact.ends.keys() == reply.proofs.keys() for fact in lines if not fact.cut or fact.total
        )
