"""Terms: words with a query graph, parsed, put into each other, and derived as triples and types.

A term that begins with a step (`.hasFather .hasFather`) is a relation: it leads from one thing to others. Any
other (`person[gender = "Female"]`) is a type: the set of what it is true of. Both may use other terms, in no
circle. What a term means is derived once, when the vocabulary is set and after each update, and stored as
triples and types of their own source; a citation of such a triple is replaced by what it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from graphlib import CycleError, TopologicalSorter

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process

from clew.errors import InputError
from clew.query.execute import Executor, Nodes, OverBudget
from clew.query.notation import NameLookup, NotationError, read_query
from clew.query.tree import Both, Compared, Counted, Either, OfType, Part, Walk, Without

MOST_DERIVED = 5_000_000
"""Triples, or nodes of a type, that one term may stand for."""
MOST_FOLLOWED = 100_000_000
"""Edges that may be followed to find what all terms stand for."""
NEAR = 3
"""Names that are offered for one that is unknown."""


class TermError(ValueError):
    """A term that cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word with its query graph, in which no other term is left.

    `part` of a relation begins at `OfType(-1, end)`, which stands for where its first step leads.
    """

    word: str
    query: str
    part: Part
    is_relation: bool


@dataclass(frozen=True, slots=True)
class GraphNames:
    """Ids of what a graph has, by the names that terms use; None for what it lacks."""

    entity: Callable[[str], int | None]
    relations: Mapping[str, int]
    types: Mapping[str, int]


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
    words = list(terms)
    done: dict[str, Term] = {}
    for word in order:
        if word not in parsed:
            continue
        try:
            part = _Expander(names, words, done).expanded(parsed[word])
        except TermError as error:
            problems.append(f"[terms] {word} = {terms[word]!r}: {error}")
            continue
        done[word] = Term(word, terms[word], part, _leads_on(part))
    return list(done.values()), problems


def _lookup(names: GraphNames, virtual: Mapping[str, int], used: set[str]) -> NameLookup:
    """Find names of the graph, then terms: a term has a number behind those of the graph."""

    def find(of_graph: Mapping[str, int], name: str) -> int | None:
        if name in of_graph:
            return of_graph[name]
        if name not in virtual:
            return None
        used.add(name)
        return len(of_graph) + virtual[name]

    return NameLookup(
        names.entity, lambda name: find(names.relations, name), lambda name: find(names.types, name)
    )


def _near(message: str, names: GraphNames) -> str:
    """The names nearest to one that is unknown, by the words of the error."""
    for kind, known in (("relation", names.relations), ("type", names.types)):
        before, found, name = message.partition(f"has no {kind} ")
        if found:
            near = [hit[0] for hit in process.extract(name.strip("'\""), list(known), limit=NEAR)]
            return f". It has {', '.join(near)}" if near else ""
        del before
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


@dataclass(frozen=True, slots=True)
class _Expander:
    """Puts what terms mean in the place of terms."""

    names: GraphNames
    words: Sequence[str]
    done: Mapping[str, Term]

    def term(self, number: int) -> Term:
        """The term of a number. Raises TermError if it cannot be used."""
        word = self.words[number]
        if word not in self.done:
            raise TermError(f"it uses {word!r}, which cannot be used")
        return self.done[word]

    def expanded(self, part: Part) -> Part:
        """A part without terms."""
        match part:
            case OfType(-1, end):
                return self._leaf(part, end)
            case OfType(type_) if type_ >= len(self.names.types):
                used = self.term(type_ - len(self.names.types))
                if used.is_relation:
                    raise TermError(f"{used.word!r} is a relation, not a type: write .{used.word}")
                return used.part
            case Walk(source, step):
                return self._walked(self.expanded(source), step)
            case _:
                inner = {f.name: getattr(part, f.name) for f in fields(part)}
                changed = {n: self.expanded(value) for n, value in inner.items() if isinstance(value, Part)}
                return replace(part, **changed)

    def _leaf(self, part: OfType, end: int) -> Part:
        if end // 2 < len(self.names.relations):
            return part
        used = self.term(end // 2 - len(self.names.relations))
        return used.part if end & 1 else _reverse(None, used)

    def _walked(self, source: Part, step: int) -> Part:
        if step // 2 < len(self.names.relations):
            return Walk(source, step)
        used = self.term(step // 2 - len(self.names.relations))
        if not used.is_relation:
            raise TermError(f"{used.word!r} is a type, not a relation: write it without . and ^")
        return _reverse(source, used) if step & 1 else _continued(source, used.part)


def _continued(source: Part, inner: Part) -> Part:
    """What a relation's part leads to from a source."""
    match inner:
        case OfType(_, end):
            return Walk(source, end ^ 1)
        case Walk(before, step):
            return Walk(_continued(source, before), step)
        case Both(left, right) | Without(left, right):
            return replace(inner, left=_continued(source, left), right=right)
        case Either(left, right):
            return Either(_continued(source, left), _continued(source, right))
        case Compared() | Counted():
            return replace(inner, source=_continued(source, inner.source))
        case _:
            raise TermError("a relation cannot go on from this")


def _reverse(source: Part | None, used: Term) -> Part:
    """What a relation of steps alone leads back to from a source; without one, a relation of its own."""
    steps: list[int] = []
    inner = used.part
    while isinstance(inner, Walk):
        steps.append(inner.step)
        inner = inner.source
    if not isinstance(inner, OfType):
        raise TermError(f"{used.word!r} has conditions, so that it cannot be followed backwards with ^")
    back, *further = [step ^ 1 for step in (*steps, inner.end ^ 1)]
    reached: Part = OfType(-1, back ^ 1) if source is None else Walk(source, back)
    for step in further:
        reached = Walk(reached, step)
    return reached


Pairs = tuple[Nodes, Nodes]
"""Where a relation begins and where it leads: int64 [n] each."""


def pairs_of(executor: Executor, part: Part) -> Pairs:
    """All pairs that a relation's part leads between, each once, ascending.

    Raises:
        InputError: more than `MOST_DERIVED`.
        OverBudget: more edges are followed than the executor may.

    """
    heads, tails = _pairs(executor, part)
    if not isinstance(part, OfType):  # over several steps nothing leads to itself: nobody is his own sister
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
    within = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(heads, count), tails[np.repeat(low, count) + within]


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


@dataclass(frozen=True, slots=True)
class Derived:
    """What terms stand for: pairs by the word of a relation, nodes by that of a type."""

    relations: Mapping[str, Pairs]
    types: Mapping[str, Nodes]


def derive(executor: Executor, terms: Iterable[Term]) -> Derived:
    """Find what terms stand for in a graph.

    Raises InputError for a term that stands for too much, or takes too long.
    """
    relations: dict[str, Pairs] = {}
    types: dict[str, Nodes] = {}
    executor.edges_left = MOST_FOLLOWED
    for term in terms:
        try:
            if term.is_relation:
                relations[term.word] = pairs_of(executor, term.part)
            else:
                types[term.word] = executor.members(term.part)
        except InputError as error:
            raise InputError(f"term {term.word!r}: {error}") from error
        except OverBudget as error:
            advice = "Make it smaller, or state it as triples of its own"
            raise InputError(
                f"term {term.word!r}: more than {MOST_FOLLOWED:,} edges are followed. {advice}"
            ) from error
    return Derived(relations, types)
