"""The notation of meanings in `training/schemas/*.json` (described in `training/README.md`), as query graphs.

`Parser` reads a meaning as nested tuples; `Translator` makes it a `Query` over a graph; `Witness` adds what a
made-up graph must hold for it to have an answer.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import date
from functools import reduce
from typing import Any

from clew.graph.graph import Graph
from clew.graph.steps import Step, opposite, step_of
from clew.graph.values import time_of_day
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
    Sign,
    Value,
    Walk,
    Without,
)
from clew.query.values import date_of

TOKEN = re.compile(
    r'\s*(\{[^}]*\}|"[^"]*"|\d{4}-\d\d(?:-\d\d)?|\d\d:\d\d|-?\d+(?:\.\d+)?(?![\w-])|>=|<=|!=|[=<>()\[\],&|\-]'
    r'|[.^](?:"[^"]+"|\w[\w.:/-]*\w|\w)|\w[\w.:/]*)'
)
Tree = tuple[Any, ...]
LITERALS = ("number", "date", "text", "time")
ASKS = {"count": "count", "sum": "sum", "avg": "average", "max": "largest", "min": "smallest", "ask": "yes"}


class Parser:
    """A recursive descent over one meaning."""

    def __init__(self, text: str, schema: dict[str, Any]) -> None:
        self.names = {n for t in schema["types"].values() for n in t["names"]}
        self.types, self.relations = set(schema["types"]), {r[0] for r in schema["relations"]}
        self.tokens = list(_split(text))
        self.at = 0

    def parse(self) -> Tree:
        """Read it all. Raises ValueError with what was found where something else is expected."""
        if self.tokens == ["none"]:
            return ("none",)
        tree = self.expression()
        if self.at < len(self.tokens):
            raise ValueError(f"left over: {' '.join(self.tokens[self.at :])}")
        return tree

    def peek(self) -> str:
        """The next token, empty at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        """The next token, which must be `expected`, unless that is empty."""
        token = self.peek()
        if not token or (expected and token != expected):
            raise ValueError(f"expected {expected or 'more'}, found {token or 'the end'}")
        self.at += 1
        return token

    def expression(self) -> Tree:
        """Sets joined by `&`, `|` and `-`, from left to right."""
        left = self.term()
        while self.peek() in ("&", "|", "-"):
            left = (self.take(), left, self.term())
        return left

    def step(self) -> Tree:
        """`.relation` or `^relation`."""
        token = self.take()
        name = token[1:].strip('"')
        if token[0] not in ".^" or name not in self.relations:
            raise ValueError(f"no step: {token}")
        return (token[0], name)

    def steps(self) -> tuple[Tree, ...]:
        """Steps, none or more."""
        steps: list[Tree] = []
        while self.peek()[:1] in (".", "^") and self.peek():
            steps.append(self.step())
        return tuple(steps)

    def ranked_by(self) -> Tree:
        """What an extreme is ranked by: a count, or the value at the end of a path."""
        if self.peek() == "count":
            self.take()
            self.take("(")
            steps = self.steps()
            self.take(")")
            return ("count", steps)
        return ("path", self.steps())

    def term(self) -> Tree:
        """One set or operation, with the steps and filters after it."""
        token = self.take()
        tree: Tree
        if token == "(":  # noqa: S105
            tree = self.expression()
            self.take(")")
        elif token[0] == "{":
            if token[1:-1] not in self.names:
                raise ValueError(f"no entity {token}")
            tree = ("entity", token[1:-1])
        elif token in ASKS and self.peek() == "(":
            self.take("(")
            tree = (token, self.expression())
            self.take(")")
        elif token in ("argmax", "argmin", "top", "bottom"):
            self.take("(")
            number = 1
            if token in ("top", "bottom"):
                number = int(self.take())
                self.take(",")
            of = self.expression()
            self.take(",")
            tree = ("extreme", of, self.ranked_by(), token in ("argmax", "top"), number)
            self.take(")")
        elif token in self.types:
            tree = ("type", token)
        else:
            raise ValueError(f"unknown word {token}")
        while self.peek()[:1] in (".", "^", "[") and self.peek():
            tree = self.filter(tree) if self.peek() == "[" else ("walk", tree, self.step())
        return tree

    def filter(self, of: Tree) -> Tree:
        """`[…]` after a set."""
        self.take("[")
        if self.peek() == "count":
            self.take()
            self.take("(")
            steps = self.steps()
            self.take(")")
            tree: Tree = ("counted", of, steps, self.take(), int(self.take()))
        else:
            if self.peek()[0] in ".^":
                steps = self.steps()
            else:
                name = self.take()
                if name not in self.relations:
                    raise ValueError(f"no relation {name}")
                steps = ((".", name),)
            if self.peek() == "]":
                tree = ("counted", of, steps, ">=", 1)
            else:
                sign = self.take()
                operand = self.term() if self.peek()[0] in "{(" else ("value", self.take())
                tree = ("compared", of, steps, sign, operand)
        self.take("]")
        return tree


def _split(text: str) -> Iterator[str]:
    at = 0
    while at < len(text.rstrip()):
        match = TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"cannot read at: {text[at : at + 20]!r}")
        yield match[1]
        at = match.end()


class Translator:
    """Meanings as queries over one graph, by the ids of its names."""

    def __init__(self, entities: dict[str, int], relations: dict[str, int], types: dict[str, int]) -> None:
        self.entities, self.relations, self.types = entities, relations, types

    @classmethod
    def of(cls, graph: Graph) -> Translator:
        """Of the names of a graph; of two things that are called the same the first."""
        entities = {label: node for node, label in reversed(list(enumerate(graph.labels)))}
        relations = {name: i for i, name in enumerate(graph.relations)}
        return cls(entities, relations, {name: i for i, name in enumerate(graph.types.names)})

    def query(self, tree: Tree) -> Query:
        """Raises KeyError where the graph lacks a name, ValueError for a meaning that no query has."""
        if tree[0] in ASKS:
            return Query(ASKS[tree[0]], self.part(tree[1]))  # pyright: ignore[reportArgumentType]
        return Query("list", self.part(tree))

    def steps(self, steps: tuple[Tree, ...]) -> tuple[Step, ...]:
        """Steps by the ids of their relations."""
        return tuple(step_of(self.relations[name], way == "^") for way, name in steps)

    def part(self, tree: Tree) -> Part:
        """A set."""
        match tree:
            case ("entity", name):
                return Anchor(self.entities[name])
            case ("type", name):
                return OfType(self.types[name])
            case ("sort", ends):
                return reduce(Either, (OfType(-1, end) for end in self.steps(ends)))
            case ("walk", of, step):
                return Walk(self.part(of), self.steps((step,))[0])
            case ("&", left, right):
                return Both(self.part(left), self.part(right))
            case ("|", left, right):
                return Either(self.part(left), self.part(right))
            case ("-", left, right):
                return self._difference(left, right)
            case ("counted", of, steps, sign, number):
                return self._counted(of, steps, sign, number)
            case ("compared", of, steps, sign, operand):
                return self._compared(of, steps, sign, operand)
            case ("extreme", of, (how, steps), largest, number):
                if how == "count" and len(steps) != 1:
                    raise ValueError("a count over several steps")
                return Extreme(self.part(of), self.steps(steps), how == "count", largest, number)
            case _:
                raise ValueError(f"no part: {tree[0]}")

    def _difference(self, left: Tree, right: Tree) -> Part:
        chain, length = left, 0
        while chain[0] == "walk":
            chain, length = chain[1], length + 1
        if chain == right and length > 1:
            return self.part(left)  # a walk never comes back to where it begins
        return Without(self.part(left), self.part(right))

    def _counted(self, of: Tree, steps: tuple[Tree, ...], sign: Sign, number: int) -> Part:
        if len(steps) != 1:
            raise ValueError("a count over several steps")
        if sign in (">=", ">") and number == (1 if sign == ">=" else 0):
            sign, number = ">=", 1
        return Counted(self.part(of), self.steps(steps)[0], sign, number)

    def _compared(self, of: Tree, steps: tuple[Tree, ...], sign: Sign, operand: Tree) -> Part:
        """A comparison; with a text, or for being the same, it is a join."""
        value = value_of(operand[1]) if operand[0] == "value" else None
        if isinstance(value, Value):
            return Compared(self.part(of), self.steps(steps), sign, value)
        if sign in ("=", "!=") and len(steps) == 1:
            end = self.part(operand) if value is None else Anchor(self.entities[value])
            back = Walk(end, opposite(self.steps(steps)[0]))
            if value is not None and of[0] in ("type", "sort") and sign == "=":
                return back
            return Both(self.part(of), back) if sign == "=" else Without(self.part(of), back)
        if value is not None:
            raise ValueError("a text is compared")
        return Compared(self.part(of), self.steps(steps), sign, self.part(operand))


def value_of(text: str) -> Value | str:
    """A number, a date or a time of day of a meaning, or the text."""
    text = text.strip('"')
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return Value(float(text))
    if time := re.fullmatch(r"(\d\d):(\d\d)", text):
        day_time = time_of_day(int(time[1]), int(time[2]))
        return text if day_time is None else Value(day_time, date=True)
    return (date_of(text) if re.fullmatch(r"\d{4}-\d\d(-\d\d)?", text) else None) or text


class Witness:
    """Adds triples to a made-up graph so that a meaning has an answer."""

    def __init__(
        self, schema: dict[str, Any], rng: random.Random, triples: set[tuple[str, str, str]]
    ) -> None:
        self.rng, self.triples = rng, triples
        self.ends = {r[0]: r for r in schema["relations"]}
        self.names = {t: spec["names"] for t, spec in schema["types"].items()}
        self.type_by_name = {n: t for t, names in self.names.items() for n in names}

    def types_of(self, tree: Tree) -> str | None:
        """The type of a set's members, or the kind of its literals."""
        match tree:
            case ("entity", name):
                return self.type_by_name.get(name)
            case ("type", name):
                return name
            case ("walk", _, (way, name)):
                return self.ends[name][2 if way == "." else 1]
            case ("value", _):
                return None
            case _:
                return self.types_of(tree[1])

    def possible_member(self, tree: Tree) -> str | None:
        """Somebody who may be a member."""
        if tree[0] == "entity":
            return tree[1]
        kind = self.types_of(tree)
        if kind in self.names:
            return self.rng.choice(self.names[kind])
        return None

    def make(self, tree: Tree, member: str | None = None) -> str | None:  # noqa: C901, one case a form
        """Make `member`, or somebody, a member of a set; None where that is not known how."""
        match tree:
            case ("entity", name):
                return name if member in (None, name) else None
            case ("type", name):
                return member or self.rng.choice(self.names[name])
            case ("walk", of, (way, name)):
                source = self.make(of, self.possible_member(of))
                relation = self.ends[name]
                kind = relation[2] if way == "." else relation[1]
                target = member or (self.rng.choice(self.names[kind]) if kind in self.names else None)
                if source is None or target is None:
                    return None
                self.triples.add((source, name, target) if way == "." else (target, name, source))
                return target
            case ("&", left, right):
                first = member or self.possible_member(left) or self.possible_member(right)
                if left[0] == "entity" or right[0] == "entity":
                    first = left[1] if left[0] == "entity" else right[1]
                entity = self.make(left, first)
                return self.make(right, entity) if entity is not None else None
            case ("|" | "-", left, _):
                return self.make(left, member)
            case ("compared", of, ((".", name),), "=", ("value", text)) if isinstance(value_of(text), str):
                entity = self.make(of, member or self.possible_member(of))
                if entity is not None:
                    self.triples.add((entity, name, str(value_of(text))))
                return entity
            case ("compared", *_):
                return self._compared(tree, member)
            case ("counted", *_):
                return self._counted(tree, member)
            case ("extreme", of, *_):
                return self.make(of, member or self.possible_member(of))
            case _ if tree[0] in ASKS:
                return self.make(tree[1], None)
            case _:
                return None

    def _counted(self, tree: Tree, member: str | None) -> str | None:
        """Somebody with as many neighbours as are asked for."""
        _, of, steps, sign, number = tree
        entity = self.make(of, member or self.possible_member(of))
        if entity is None or sign not in (">", ">=", "=") or len(steps) != 1:
            return entity
        way, name = steps[0]
        kind = self.ends[name][2 if way == "." else 1]
        for _ in range(int(number) + (sign == ">") if kind in self.names else 0):
            neighbour = self.rng.choice(self.names[kind])
            self.triples.add((entity, name, neighbour) if way == "." else (neighbour, name, entity))
        return entity

    def _compared(self, tree: Tree, member: str | None) -> str | None:
        """Somebody whose values meet all comparisons that stand inside each other."""
        bounds: dict[str, list[tuple[str, Value]]] = {}
        while tree[0] == "compared":
            _, of, steps, sign, operand = tree
            value = value_of(operand[1]) if operand[0] == "value" else None
            if isinstance(value, Value) and len(steps) == 1 and steps[0][0] == ".":
                bounds.setdefault(steps[0][1], []).append((sign, value))
            tree = of
        entity = self.make(tree, member or self.possible_member(tree))
        for name, signs in bounds.items() if entity is not None else ():
            if not any(t[0] == entity and t[1] == name for t in self.triples) or self.rng.random() < 0.5:
                self.triples = self._triples_with_value(entity, name, signs)
        return entity

    def _triples_with_value(
        self, entity: str, name: str, signs: list[tuple[str, Value]]
    ) -> set[tuple[str, str, str]]:
        """The triples, with a value of one relation of an entity that meets all comparisons of it."""
        dates = signs[0][1].date
        of_day = dates and all(0 <= value.number < 1 for _, value in signs)
        distance = self.rng.randint(1, 300) if dates else self.rng.choice((1, 2, 5))
        if of_day:
            distance = self.rng.randint(1, 8) / 96
        low = max(
            (v.number + (s == ">") * (v.width + 1) for s, v in signs if s in (">", ">=", "=")), default=None
        )
        high = min((v.number - (s == "<") for s, v in signs if s in ("<", "<=")), default=None)
        number = low if low is not None and (high is None or "=" in {s for s, _ in signs}) else None
        if number is None:
            number = (low + high) / 2 if low is not None and high is not None else (high or 0) - distance
        elif "=" not in {s for s, _ in signs}:
            number += distance
        if of_day:
            hours, minutes = divmod(round(min(max(number, 0), 0.99) * 1440), 60)
            text = f"{hours:02}:{minutes:02}"
        else:
            text = date.fromordinal(max(1, int(number)) + 1).isoformat() if dates else f"{number:g}"
        self.triples -= {t for t in self.triples if t[0] == entity and t[1] == name}
        self.triples.add((entity, name, text))
        return self.triples
