"""Query graphs as text: the notation in which a model, or training data, says what a question means.

    {Name}                        an entity            .relation   follow it from head to tail
    Type                          all of a type        ^relation   follow it from tail to head
    .relation  ^relation          at the beginning: all that it leads to; all that have it
    A & B, A | B, A - B           both, either, the first without the second; ( ) as usual
    A[relation > 5]               compared with a number, a date, a "text", or {Other} .relation
    A[count(^relation) >= 3]      with so many; A[.relation] with one at all
    count(A) sum(A) avg(A) max(A) min(A) ask(A)
    argmax(A, .relation)  argmin(A, count(^relation))  top(3, A, .relation)  bottom(3, A, .relation)

Names of several words that are no entities stand in quotes (`."made by"`). Reading it never runs anything:
each name must be one that the graph has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from clew.query.tree import (
    Anchor,
    Ask,
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

_TOKEN = re.compile(
    r'\s*(\{[^}]*\}|"[^"]*"|\d{4}-\d\d(?:-\d\d)?|-?\d+(?:\.\d+)?(?![\w-])|>=|<=|!=|[=<>()\[\],&|\-]'
    r'|[.^](?:"[^"]+"|\w[\w.:/-]*\w|\w)|\w[\w.:/]*)'
)
_ASK_OF: dict[str, Ask] = {
    "count": "count",
    "sum": "sum",
    "avg": "average",
    "max": "largest",
    "min": "smallest",
    "ask": "yes",
}
_SIGN_OF: dict[str, Sign] = {s: s for s in ("=", "!=", ">", ">=", "<", "<=")}
LONGEST_NOTATION = 600
"""Characters of a text that is read."""
DEEPEST = 24
"""Terms inside each other."""


class NotationError(ValueError):
    """A text is no query over the graph; the message says where it ends to be one."""


@dataclass(frozen=True, slots=True)
class NameLookup:
    """How names are found; each function gives an id, or None for a name that the graph lacks."""

    entity: Callable[[str], int | None]
    relation: Callable[[str], int | None]
    type: Callable[[str], int | None]


def read_query(text: str, names: NameLookup) -> Query:
    """Read one query.

    Raises:
        NotationError: the text is not of the notation, or a name is not of the graph.

    """
    if len(text) > LONGEST_NOTATION:
        raise NotationError(f"longer than {LONGEST_NOTATION} characters")
    reader = _Reader(list(_tokens(text)), names)
    query = reader.query()
    if reader.unread:
        raise NotationError(f"left over: {' '.join(reader.unread[:6])}")
    return query


def _tokens(text: str) -> Iterator[str]:
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotationError(f"cannot be read at {text[at : at + 20]!r}")
        yield match[1]
        at = match.end()


class _Reader:
    """A recursive descent over the tokens of one query."""

    def __init__(self, tokens: list[str], names: NameLookup) -> None:
        self._tokens, self._names, self._at, self._depth = tokens, names, 0, 0

    @property
    def unread(self) -> list[str]:
        """What is not read yet."""
        return self._tokens[self._at :]

    def query(self) -> Query:
        """A whole query."""
        word = self._peek()
        if word in _ASK_OF and self._peek(1) == "(":
            self._take()
            return Query(_ASK_OF[word], self._bracketed())
        return Query("list", self._set())

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else ""

    def _take(self, expected: str = "") -> str:
        token = self._peek()
        if not token or (expected and token != expected):
            raise NotationError(f"expected {expected or 'more'}, found {token or 'the end'}")
        self._at += 1
        return token

    def _bracketed(self) -> Part:
        self._take("(")
        part = self._set()
        self._take(")")
        return part

    def _set(self) -> Part:
        self._depth += 1
        if self._depth > DEEPEST:
            raise NotationError(f"more than {DEEPEST} terms inside each other")
        left = self._term()
        while self._peek() in ("&", "|", "-"):
            join = {"&": Both, "|": Either, "-": Without}[self._take()]
            left = join(left, self._term())
        self._depth -= 1
        return left

    def _term(self) -> Part:
        word = self._peek()
        if word == "(":
            part = self._bracketed()
        elif word.startswith("{"):
            part = Anchor(self._id_of(self._names.entity, self._take()[1:-1].strip(), "entity"))
        elif word in ("argmax", "argmin", "top", "bottom") and self._peek(1) == "(":
            part = self._extreme()
        elif word[:1] in (".", "^") and word:
            part = OfType(-1, self._step() ^ 1)
        else:
            part = OfType(self._id_of(self._names.type, self._take().strip('"'), "type"))
        while self._peek()[:1] in (".", "^", "[") and self._peek():
            part = self._filter(part) if self._peek() == "[" else Walk(part, self._step())
        return part

    def _id_of(self, find: Callable[[str], int | None], name: str, kind: str) -> int:
        identifier = find(name)
        if identifier is None:
            raise NotationError(f"the graph has no {kind} {name!r}")
        return identifier

    def _step(self) -> int:
        token = self._take()
        if token[:1] not in (".", "^"):
            raise NotationError(f"expected .relation or ^relation, found {token}")
        relation = self._id_of(self._names.relation, token[1:].strip('"'), "relation")
        return 2 * relation + (token[0] == "^")

    def _extreme(self) -> Part:
        word, number = self._take(), 1
        self._take("(")
        if word in ("top", "bottom"):
            number = self._whole_number(self._take())
            self._take(",")
        of = self._set()
        self._take(",")
        counted = self._peek() == "count"
        steps = (self._counted_step(),) if counted else self._steps()
        self._take(")")
        return Extreme(of, steps, counted, word in ("argmax", "top"), number)

    def _steps(self) -> tuple[int, ...]:
        steps = [self._step()]
        while self._peek()[:1] in (".", "^") and self._peek():
            steps.append(self._step())
        return tuple(steps)

    def _counted_step(self) -> int:
        self._take("count")
        self._take("(")
        step = self._step()
        self._take(")")
        return step

    def _filter(self, of: Part) -> Part:
        self._take("[")
        if self._peek() == "count":
            step = self._counted_step()
            part: Part = Counted(of, step, self._sign(), self._whole_number(self._take()))
        else:
            if self._peek()[:1] in (".", "^"):
                steps = self._steps()
            else:
                steps = (2 * self._id_of(self._names.relation, self._take().strip('"'), "relation"),)
            part = Counted(of, steps[0], ">=", 1) if self._peek() == "]" else self._compared(of, steps)
        self._take("]")
        return part

    def _compared(self, of: Part, steps: tuple[int, ...]) -> Part:
        sign = self._sign()
        if self._peek()[:1] in ("{", "("):
            return self._against(of, steps, sign, self._term())
        text = self._take().strip('"')
        if re.fullmatch(r"-?\d+(\.\d+)?", text):
            return Compared(of, steps, sign, Value(float(text)))
        date = date_of(text)
        if date is not None:
            return Compared(of, steps, sign, date)
        return self._against(of, steps, sign, Anchor(self._id_of(self._names.entity, text, "entity")))

    def _against(self, of: Part, steps: tuple[int, ...], sign: Sign, compared: Part) -> Part:
        """Compared with the members of a set: the same ones, or by their values."""
        if sign not in ("=", "!="):
            return Compared(of, steps, sign, compared)
        for step in reversed(steps):
            compared = Walk(compared, step ^ 1)
        return Both(of, compared) if sign == "=" else Without(of, compared)

    def _sign(self) -> Sign:
        token = self._take()
        if token not in _SIGN_OF:
            raise NotationError(f"expected a comparison, found {token}")
        return _SIGN_OF[token]

    def _whole_number(self, text: str) -> int:
        if not text.isdigit():
            raise NotationError(f"expected a whole number, found {text}")
        return int(text)
