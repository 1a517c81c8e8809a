"""Terms: words with a query graph, parsed, and derived as triples and types.

A term that begins with a step (`.hasFather .hasFather`) is a relation: it leads from one thing to others. Any
other (`person[gender = "Female"]`) is a type: the set of what it is true of. Both may use other terms, in no
circle. What a term means is derived once, when the vocabulary is set and after each update, and stored as
triples and types of their own source; a citation of such a triple is replaced by what it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from graphlib import CycleError, TopologicalSorter

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process

from clew.errors import InputError
from clew.graph.graph import Graph, listed_places
from clew.query.execute import Executor, Nodes, OverBudget
from clew.query.notation import NameLookup, NotationError, read_query
from clew.query.tree import Both, Compared, Counted, Either, OfType, Part, Walk, Without

MOST_DERIVED = 5_000_000
"""Triples, or nodes of a type, that one term may stand for."""
MOST_FOLLOWED = 100_000_000
"""Edges that may be followed to find what all terms stand for."""
NEAR = 3
"""Names that are offered for one that is unknown."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word with its query graph; terms in it have numbers behind the relations and types of the graph.

    `part` of a relation begins at `OfType(-1, end)`, which stands for where its first step leads.
    """

    word: str
    query: str
    part: Part
    is_relation: bool


@dataclass(frozen=True, slots=True)
class GraphNames:
    """Ids of what a graph has, by the names that terms use; a term has a number behind all of its kind."""

    entity: Callable[[str], int | None]
    relations: Mapping[str, int]
    types: Mapping[str, int]
    relation_count: int
    type_count: int


def parse_terms(terms: Mapping[str, str], names: GraphNames) -> tuple[list[Term], list[str]]:
    """Parse terms, those that others use first; and what is wrong with those that cannot be used."""
    parsed: dict[str, Part] = {}
    uses: dict[str, set[str]] = {}
    problems: list[str] = []
    virtual = {word: number for number, word in enumerate(terms)}
    for word, query in terms.items():
        used: set[str] = set()
        try:
            parsed[word] = read_query(query, _lookup(names, virtual, used)).part
            uses[word] = used
        except NotationError as error:
            problems.append(f"[terms] {word} = {query!r}: {error}{_near(str(error), names)}")
    try:
        order = list(TopologicalSorter(uses).static_order())
    except CycleError as error:
        return [], [*problems, f"[terms] these terms use each other in a circle: {' → '.join(error.args[1])}"]
    usable = [word for word in order if word in parsed]
    return [Term(word, terms[word], parsed[word], _leads_on(parsed[word])) for word in usable], problems


def _lookup(names: GraphNames, virtual: Mapping[str, int], used: set[str]) -> NameLookup:
    """Find names of the graph, then terms: a term has a number behind those of the graph."""

    def find(of_graph: Mapping[str, int], first: int, name: str) -> int | None:
        if name in of_graph:
            return of_graph[name]
        if name not in virtual:
            return None
        used.add(name)
        return first + virtual[name]

    relation = partial(find, names.relations, names.relation_count)
    return NameLookup(names.entity, relation, partial(find, names.types, names.type_count))


def _near(message: str, names: GraphNames) -> str:
    """The names nearest to one that is unknown, by the words of the error."""
    for kind, known in (("relation", names.relations), ("type", names.types)):
        _, found, name = message.partition(f"has no {kind} ")
        if found:
            near = [hit[0] for hit in process.extract(name.strip("'\""), list(known), limit=NEAR)]
            return f". It has {', '.join(near)}" if near else ""
    return ""


def _leads_on(part: Part) -> bool:
    """Whether a part begins with a step: it is a relation."""
    leaf = part
    while not isinstance(leaf, OfType):
        inner = getattr(leaf, "source", None) or getattr(leaf, "left", None)
        if inner is None:
            return False
        leaf = inner
    return leaf.type < 0


Pairs = tuple[Nodes, Nodes]
"""Where a relation begins and where it leads: int64 [n] each."""


@dataclass(frozen=True, slots=True)
class Derived:
    """What terms stand for: pairs by the word of a relation, nodes by that of a type."""

    relations: Mapping[str, Pairs]
    types: Mapping[str, Nodes]


@dataclass(eq=False)
class TermExecutor(Executor):
    """Evaluates the parts of terms, in which terms that are derived already are relations and types."""

    names: GraphNames = field(kw_only=True)
    words: Sequence[str] = field(kw_only=True)
    derived: Derived = field(kw_only=True)

    def edges(self, nodes: Nodes, step: int) -> tuple[Nodes, Nodes]:
        """As of any executor; the edges of a term are the pairs that it stands for."""
        if step // 2 < self.names.relation_count:
            return super().edges(nodes, step)
        heads, tails = self.derived.relations[self.words[step // 2 - self.names.relation_count]]
        starts, ends = (tails, heads) if step & 1 else (heads, tails)
        order = np.argsort(starts, kind="stable")
        self.edges_left -= len(nodes)
        low = np.searchsorted(starts[order], nodes)
        count = np.searchsorted(starts[order], nodes, "right") - low
        return np.repeat(np.arange(len(nodes)), count), ends[order][listed_places(low, count)]

    def counts(self, nodes: Nodes, step: int, among: Part | None = None) -> Nodes:
        """How many edges of a step each node has, to members of a set if there is one."""
        if step // 2 < self.names.relation_count or among is not None:
            return super().counts(nodes, step, among)
        return np.bincount(self.edges(nodes, step)[0], minlength=len(nodes))

    def _of_type(self, type_: int, end: int) -> Nodes:
        if type_ >= self.names.type_count:
            return self.derived.types[self.words[type_ - self.names.type_count]]
        if type_ < 0 and end // 2 >= self.names.relation_count:
            pairs = self.derived.relations[self.words[end // 2 - self.names.relation_count]]
            return np.unique(pairs[end & 1])
        return super()._of_type(type_, end)


def pairs_of(executor: Executor, part: Part) -> Pairs:
    """All pairs that a relation's part leads between, each once, ascending.

    Over several steps nothing leads to itself: nobody is his own sister.

    Raises:
        InputError: more than `MOST_DERIVED`.
        OverBudget: more edges are followed than the executor may.

    """
    heads, tails = _pairs(executor, part)
    if not isinstance(part, OfType):
        heads, tails = heads[heads != tails], tails[heads != tails]
    pairs = np.unique(heads * executor.graph.nodes + tails)
    if len(pairs) > MOST_DERIVED:
        raise InputError(f"it stands for {len(pairs):,} triples, and at most {MOST_DERIVED:,} are kept")
    return pairs // executor.graph.nodes, pairs % executor.graph.nodes


def _pairs(executor: Executor, part: Part) -> Pairs:
    match part:
        case OfType(-1, end):
            heads = executor.members(OfType(-1, end ^ 1))
            place, tails = executor.edges(heads, end ^ 1)
            return heads[place], tails
        case Walk(source, step):
            heads, middle = _pairs(executor, source)
            nodes, inverse = np.unique(middle, return_inverse=True)
            place, tails = executor.edges(nodes, step)
            return _joined(heads, inverse, place, tails)
        case Both(left, right):
            return _kept(_pairs(executor, left), executor.members(right), inside=True)
        case Without(left, right):
            return _kept(_pairs(executor, left), executor.members(right), inside=False)
        case Either(left, right):
            one, other = _pairs(executor, left), _pairs(executor, right)
            return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])
        case Compared(source) | Counted(source):
            heads, tails = _pairs(executor, source)
            condition = replace(part, source=OfType(-1, _last_end(source)))
            return _kept((heads, tails), executor.members(condition), inside=True)
        case _:
            raise InputError("a relation is made of steps, conditions, &, | and -")


def _joined(heads: Nodes, middle: NDArray[np.intp], place: Nodes, tails: Nodes) -> Pairs:
    """Pairs (head, middle) put together with edges (middle, tail); `place` ascends."""
    low, high = np.searchsorted(place, middle), np.searchsorted(place, middle, "right")
    count = high - low
    if int(count.sum()) > MOST_DERIVED * 4:
        raise InputError(f"it stands for more than {MOST_DERIVED:,} triples")
    return np.repeat(heads, count), tails[listed_places(low, count)]


def _kept(pairs: Pairs, members: Nodes, *, inside: bool) -> Pairs:
    keep = np.isin(pairs[1], members) == inside
    return pairs[0][keep], pairs[1][keep]


def _last_end(part: Part) -> int:
    """The end at which what a relation leads to stands."""
    match part:
        case OfType(_, end):
            return end
        case Walk(_, step):
            return step ^ 1
        case Both(left) | Without(left):
            return _last_end(left)
        case Compared(source) | Counted(source):
            return _last_end(source)
        case _:
            raise InputError("conditions stand behind a step, not behind |")


def derive(graph: Graph, terms: Iterable[Term], names: GraphNames, words: Sequence[str]) -> Derived:
    """Find what terms stand for in a graph, those that others use first; `words` are all terms as numbered.

    Raises InputError for a term that stands for too much, or takes too long.
    """
    relations: dict[str, Pairs] = {}
    types: dict[str, Nodes] = {}
    derived = Derived(relations, types)
    executor = TermExecutor(graph, MOST_FOLLOWED, names=names, words=words, derived=derived)
    for term in terms:
        try:
            if term.is_relation:
                relations[term.word] = pairs_of(executor, term.part)
            else:
                types[term.word] = executor.members(term.part)
        except InputError as error:
            raise InputError(f"term {term.word!r}: {error}") from error
        except OverBudget as error:
            text = f"more than {MOST_FOLLOWED:,} edges are followed. State it as triples of its own"
            raise InputError(f"term {term.word!r}: {text}") from error
    return derived


def continued(source: Part, part: Part) -> Part:
    """What a relation's part leads to from a source. Raises InputError if it cannot go on so."""
    match part:
        case OfType(_, end):
            return Walk(source, end ^ 1)
        case Walk(before, step):
            return Walk(continued(source, before), step)
        case Both(left, right) | Without(left, right):
            return replace(part, left=continued(source, left), right=right)
        case Either(left, right):
            return Either(continued(source, left), continued(source, right))
        case Compared() | Counted():
            return replace(part, source=continued(source, part.source))
        case _:
            raise InputError("a relation is made of steps, conditions, &, | and -")
