"""Query graphs evaluated with sets of triples, slowly and obviously; and random small graphs and queries."""

import operator
from collections.abc import Iterable
from datetime import date

from hypothesis import strategies as st

from clew.graph.build import graph_of
from clew.graph.graph import Graph
from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Part,
    Query,
    Value,
    Walk,
    Without,
)

THINGS, NUMBERS = "abcdef", {"1": 1.0, "2": 2.0, "3.5": 3.5}
DAYS = ("1990-01-01", "1990-06-15", "2001-12-31")
DATES = {day: float(date.fromisoformat(day).toordinal() - 1) for day in DAYS}
KNOWS, LIKES, AGE, BORN = range(4)
TAILS = {"knows": THINGS, "likes": THINGS, "age": tuple(NUMBERS), "born": DAYS}
FIXED = [
    ("a", "knows", "b"), ("c", "likes", "d"), ("e", "age", "1"), ("f", "born", DAYS[0]),
    ("e", "age", "2"), ("e", "age", "3.5"), ("f", "born", DAYS[1]), ("f", "born", DAYS[2]),
]  # fmt: skip
"""Triples of every graph, so that all names have the same ids in all of them."""
NODES = len({name for head, _, tail in FIXED for name in (head, tail)})
Triples = set[tuple[int, int, int]]

SIGNS = {
    "=": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


class Reference:
    """Evaluates parts over a set of triples (head, relation, tail) of ids."""

    def __init__(self, graph: Graph, triples: Iterable[tuple[int, int, int]] | None = None) -> None:
        names = list(graph.entities)
        every = {graph.triple(slot) for slot in range(graph.triples)}
        self.triples = every if triples is None else set(triples)
        self.numbers = {i: NUMBERS[n] for i, n in enumerate(names) if n in NUMBERS}
        self.dates = {i: DATES[n] for i, n in enumerate(names) if n in DATES}
        self.types = [
            {n for n in range(len(names)) if graph.types.having(t)[n]} for t in range(len(graph.types.names))
        ]

    def after(self, node: int, step: int) -> list[int]:
        """Where a step leads to from a node."""
        relation = step // 2
        if step % 2:
            return [h for h, r, t in self.triples if r == relation and t == node]
        return [t for h, r, t in self.triples if r == relation and h == node]

    def values(self, node: int, steps: tuple[int, ...]) -> tuple[list[float], list[float]]:
        """Numbers and dates that steps lead to from a node."""
        ends = [node]
        for step in steps:
            ends = [t for end in ends for t in self.after(end, step)]
        return [self.numbers[e] for e in ends if e in self.numbers], [
            self.dates[e] for e in ends if e in self.dates
        ]

    def members(self, part: Part) -> set[int]:
        """The nodes of a part."""
        match part:
            case Anchor(node, _):
                return {node}
            case OfType(type_, end):
                if type_ >= 0:
                    return set(self.types[type_])
                return {(t if end % 2 else h) for h, r, t in self.triples if r == end // 2}
            case Walk(source, step):
                reached = {t for node in self.members(source) for t in self.after(node, step)}
                return reached - self.never_again(part)
            case Both(left, right):
                return self.members(left) & self.members(right)
            case Either(left, right):
                return self.members(left) | self.members(right)
            case Without(left, right):
                return self.members(left) - self.members(right)
            case Counted(source, step, sign, number, _):
                return {n for n in self.members(source) if SIGNS[sign](len(self.after(n, step)), number)}
            case Compared(source, steps, sign, value):
                return {n for n in self.members(source) if self.stands(n, steps, sign, value)}
            case Extreme():
                return self.extreme(part)

    def never_again(self, part: Walk) -> set[int]:
        """The entity that a chain of two walks or more begins at."""
        inner: Part = part
        while isinstance(inner, Walk):
            inner = inner.source
        return {inner.node} if isinstance(inner, Anchor) and isinstance(part.source, Walk) else set()

    def stands(self, node: int, steps: tuple[int, ...], sign: str, value: Value | Part) -> bool:
        """Whether some value of a node stands so to a value, or to all of those of a set."""
        numbers, dates = self.values(node, steps)
        if not isinstance(value, Value):
            others = [v for n in self.members(value) for kind in self.values(n, ()) for v in kind]
            return bool(others) and any(all(SIGNS[sign](v, o) for o in others) for v in numbers + dates)
        low, high = value.number, value.number + value.width
        inside = {"=": lambda v: low <= v <= high, "!=": lambda v: not low <= v <= high}
        beside = {
            ">": lambda v: v > high,
            "<": lambda v: v < low,
            ">=": lambda v: v >= low,
            "<=": lambda v: v <= high,
        }
        return any((inside | beside)[sign](v) for v in (dates if value.date else numbers))

    def extreme(self, part: Extreme) -> set[int]:
        """Members whose best score fewer than `number` others beat."""
        scores: dict[int, float] = {}
        for node in self.members(part.source):
            numbers, dates = self.values(node, part.steps)
            found = [float(len(self.after(node, part.steps[0])))] if part.counted else numbers + dates
            if found and found != [0.0]:
                best = max(found) if part.largest else min(found)
                scores[node] = best if part.largest else -best
        return {n for n, s in scores.items() if sum(other > s for other in scores.values()) < part.number}

    def number(self, query: Query) -> float | None:
        """What a query asks for, where that is a number."""
        members = self.members(query.part)
        if query.ask == "count":
            return float(len(members))
        reached: Iterable[int] = members
        if isinstance(query.part, Walk):
            source, step = query.part.source, query.part.step
            reached = [t for node in self.members(source) for t in self.after(node, step)]
        numbers = [self.numbers[n] for n in reached if n in self.numbers]
        if not numbers or not members:
            return None
        return {
            "sum": sum(numbers),
            "average": sum(numbers) / len(numbers),
            "largest": max(numbers),
            "smallest": min(numbers),
        }[query.ask]


relations = st.sampled_from(sorted(TAILS))
more_triples = st.lists(
    relations.flatmap(lambda r: st.tuples(st.sampled_from(THINGS), st.just(r), st.sampled_from(TAILS[r]))),
    max_size=25,
)
types_given = st.dictionaries(
    st.sampled_from(THINGS), st.sampled_from([["P"], ["Q"], ["P", "Q"]]), max_size=6
)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Small graphs with two relations between things, one to numbers and one to dates, and two types."""
    fixed = {"a": ["P"], "b": ["Q"]}
    given = fixed | draw(types_given) | fixed
    return graph_of([*FIXED, *draw(more_triples)], given)


steps = st.integers(0, 2 * len(TAILS) - 1)
paths_to_values = st.sampled_from(
    [(2 * AGE,), (2 * BORN,), (2 * KNOWS, 2 * AGE), (2 * LIKES + 1, 2 * BORN), (2 * KNOWS,)]
)
signs = st.sampled_from(sorted(SIGNS))
values = st.one_of(
    st.builds(Value, st.sampled_from([0.0, 1.0, 2.0, 3.0, 3.5]), st.just(False), st.sampled_from([0.0, 1.0])),
    st.builds(
        Value,
        st.sampled_from([DATES[DAYS[0]] - 9, *DATES.values()]),
        st.just(True),
        st.sampled_from([0.0, 364.0]),
    ),
)
leaves = st.one_of(
    st.builds(Anchor, st.integers(0, NODES - 1)),
    st.builds(OfType, st.integers(0, 1)),
    st.builds(OfType, st.just(-1), steps),
)


def rising(inner: st.SearchStrategy[Part]) -> st.SearchStrategy[Part]:
    """Parts that only gain members when triples are added."""
    value_of = paths_to_values.filter(lambda p: len(p) == 1)
    return st.one_of(
        st.builds(Walk, inner, steps),
        st.builds(Walk, inner, steps),
        st.builds(Both, inner, inner),
        st.builds(Either, inner, inner),
        st.builds(Compared, inner, value_of, signs, values),
        st.builds(Counted, inner, steps, st.just(">="), st.integers(1, 3)),
    )


def any_part(inner: st.SearchStrategy[Part]) -> st.SearchStrategy[Part]:
    """Parts of every kind."""
    order = st.sampled_from([">", ">=", "<", "<="])
    ranked = st.tuples(paths_to_values, st.just(False)) | st.tuples(st.tuples(steps), st.just(True))
    than = st.tuples(inner, paths_to_values, order, inner).map(
        lambda c: Compared(c[0], c[1], c[2], Walk(c[3], c[1][-1]))
    )
    return st.one_of(
        rising(inner),
        st.builds(Without, inner, inner),
        st.builds(Compared, inner, paths_to_values, signs, values),
        than,
        st.builds(Counted, inner, steps, signs, st.integers(0, 3)),
        st.tuples(inner, ranked, st.booleans(), st.integers(1, 3)).map(
            lambda e: Extreme(e[0], e[1][0], e[1][1], e[2], e[3])
        ),
    )


parts = st.recursive(leaves, any_part, max_leaves=5)
provable_parts = st.recursive(leaves, rising, max_leaves=5)
