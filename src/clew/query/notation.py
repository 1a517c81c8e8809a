"""Query graphs as text: the notation in which a model, or training data, says what a question means.

    {Name}                        an entity            .relation   follow it from head to tail
    Type                          all of a type        ^relation   follow it from tail to head
    .relation  ^relation          at the beginning: all that it leads to; all that have it
    A & B, A | B, A - B           both, either, the first without the second; ( ) as usual
    A[relation > 5]               compared with a number, a date, a "text", or {Other} .relation
    A[count(^relation) >= 3]      with so many; A[.relation] with one at all
    A[relation > {.other}]        compared with what each has itself, by one step or more
    A[relation > avg(B)]          compared with a sum, average, largest or smallest
    A .relation[@date > 2023]     over edges that have such a property; [@until >= 2023 or none]
    A[.relation only B]  A[.relation all B]    that it leads to only members of B, to all members of B
    count(A) sum(A) avg(A) max(A) min(A) ask(A)
    share(A, B) diff(A, B) every(A, B)         A's share of B, A less B, whether every A is in B
    count(A) by .relation         a row a group
    count(A) by year(.relation)   a row a year, a month or a day
    @hours(A)  sum(@hours(A))     a property of the edges that lead to A, or a number of it
    names(A)  names(A, @de)       what members of A are called beside what they are shown as; in a language
    names(A, "Köln")              all but this, where it is known; called(A, "Köln", @de): whether they are
    argmax(A, .relation)  argmin(A, count(^relation))  top(3, A, .relation)  bottom(3, A, @hours)
    nth(2, A, .relation)          the second largest; nth(-2, …) the second smallest; top(all, …) in order

A value is a number, a date (`2020-05-31`, `2020-05`), a time (`"10:30"`), or a range of numbers or dates
(`1980..1989`). Names of several words that are no entities stand in quotes (`."made by"`). Reading it never
runs anything: each name must be one that the graph has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import TypeVar

from clew.graph.graph import Graph
from clew.graph.steps import Step, forward, is_backward, opposite, relation_of, step_of
from clew.graph.values import time_of_day
from clew.index.names import NamesIndex
from clew.query.tree import (
    PERIODS,
    Amount,
    Anchor,
    Ask,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    OnEdge,
    Part,
    Qualified,
    Query,
    Related,
    Sign,
    Statistic,
    Value,
    Walk,
    Without,
)
from clew.query.values import date_of
from clew.query.vocabulary import Vocabulary, words_of_label

_NUMBER = r"-?\d+(?:\.\d+)?"
_TOKEN = re.compile(
    r'\s*(\{[^}]*\}|"[^"]*"|@(?:"[^"]+"|\w+)|\d{4}-\d\d-\d\d\.\.\d{4}-\d\d-\d\d'
    r"|\d{4}-\d\d(?:-\d\d)?|-?\d+(?:\.\d+)?(?:\.\.-?\d+(?:\.\d+)?)?(?![\w-])|>=|<=|!=|[=<>()\[\],&|\-]"
    r'|[.^](?:"[^"]+"|\w[\w.:/-]*\w|\w)|\w[\w.:/]*)'
)
_AMOUNTS: dict[str, Statistic] = {"sum": "sum", "avg": "average", "max": "largest", "min": "smallest"}
_ASK_OF: dict[str, Ask] = {"count": "count", "ask": "yes", **_AMOUNTS}
_OF_NAMES: dict[str, Ask] = {"names": "names", "called": "called"}
_OF_TWO: dict[str, Ask] = {"share": "share", "diff": "difference", "every": "every"}
_SIGN_OF: dict[str, Sign] = {s: s for s in ("=", "!=", ">", ">=", "<", "<=")}
LONGEST_NOTATION = 600
"""Characters of a text that is read."""
DEEPEST = 24
"""Terms inside each other."""


class NotationError(ValueError):
    """A text is no query over the graph; the message says where it ends to be one."""


_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class NameLookup:
    """How names are found; each function gives an id, or None for a name that the graph lacks."""

    entity: Callable[[str], int | None]
    relation: Callable[[str], int | None]
    type: Callable[[str], int | None]
    edge_key: Callable[[str], str | None] = lambda _: None


def read_query(text: str, names: NameLookup) -> Query:
    """Read one query. Raises NotationError: it is not of the notation, or a name is not of the graph."""
    if len(text) > LONGEST_NOTATION:
        raise NotationError(f"longer than {LONGEST_NOTATION} characters")
    tokens = list(_tokens(text))
    reader = _Reader([token for token, _ in tokens], names)
    try:
        query = reader.query()
        if reader.at < len(tokens):
            raise NotationError(f"left over: {' '.join(token for token, _ in tokens[reader.at :][:6])}")
    except NotationError as error:
        begin = tokens[reader.at][1] if reader.at < len(tokens) else len(text.rstrip())
        raise NotationError(f"{error} (at character {begin + 1})") from None
    return query


def read_set(text: str, names: NameLookup) -> Part:
    """Read a set, as a table or a term stands for one; raises as `read_query`, also for what is no set."""
    query = read_query(text, names)
    if query.ask != "list" or query.by or query.key:
        raise NotationError("it must be a set; leave out what counts or compares them")
    return query.part


def write_query(query: Query, graph: Graph) -> str:
    """Write a query so that `read_query` reads it. Raises NotationError: too long, or a name cannot be."""
    text = _Writer(graph).query(query)
    if len(text) > LONGEST_NOTATION:
        raise NotationError(f"longer than {LONGEST_NOTATION} characters")
    return text


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """The tokens, each with where it begins."""
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotationError(f"cannot be read at {text[at : at + 20]!r} (at character {at + 1})")
        yield match[1], match.start(1)
        at = match.end()


class _Reader:
    """A recursive descent over the tokens of one query."""

    def __init__(self, tokens: list[str], names: NameLookup) -> None:
        self._tokens, self._names, self._depth = tokens, names, 0
        self.at = 0
        """The token that is read next; where a name is not of the graph, its token."""

    def query(self) -> Query:
        """A whole query."""
        word = self._peek()
        if word in _ASK_OF and self._peek(1) == "(":
            self._take()
            key = ""
            if self._peek(1).startswith("@"):
                self._take("(")
                key = self._key()
            query = Query(_ASK_OF[word], self._bracketed(), key=key)
            if key:
                self._take(")")
                if query.ask in ("count", "yes"):
                    raise NotationError(f"{word} is of a set, and not of a property of edges")
        elif word.startswith("@"):
            key = self._key()
            query = Query("list", self._bracketed(), key=key)
        elif word in _OF_NAMES and self._peek(1) == "(":
            return self._of_names(_OF_NAMES[word])
        elif word in _OF_TWO and self._peek(1) == "(":
            self._take()
            self._take("(")
            part = self._set()
            self._take(",")
            query = Query(_OF_TWO[word], part, self._set())
            self._take(")")
        else:
            query = Query("list", self._set())
        if self._peek() == "by" and query.ask != "yes" and query.other is None and not query.key:
            self._take()
            if self._peek() in PERIODS and self._peek(1) == "(":
                period = self._take()
                self._take("(")
                query = replace(query, by=self._steps(), period=period)
                self._take(")")
                return query
            return replace(query, by=self._steps())
        return query

    def _of_names(self, ask: Ask) -> Query:
        """What the members of a set are called, or whether they are called so."""
        self._take()
        self._take("(")
        query = Query(ask, self._set())
        while self._peek() == ",":
            self._take()
            text = self._take()
            if text[:1] not in ('"', "@"):
                raise NotationError(f'expected a "name" or the @tag of a language, found {text}')
            query = replace(query, **{"name" if text[0] == '"' else "key": text.lstrip("@").strip('"')})
        self._take(")")
        if ask == "called" and not query.name:
            raise NotationError('called says what: called({Cologne}, "Köln")')
        return query

    def _key(self) -> str:
        """A property of edges."""
        name = self._take()[1:].strip('"')
        key = self._names.edge_key(name)
        if key is None:
            raise NotationError(f"no edge has a property {name!r}")
        return key

    def _peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self._tokens[at] if at < len(self._tokens) else ""

    def _is_at_step(self) -> bool:
        return self._peek()[:1] in (".", "^")

    def _take(self, expected: str = "") -> str:
        token = self._peek()
        if not token or (expected and token != expected):
            raise NotationError(f"expected {expected or 'more'}, found {token or 'the end'}")
        self.at += 1
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
        elif word in ("argmax", "argmin", "top", "bottom", "nth") and self._peek(1) == "(":
            part = self._extreme()
        elif self._is_at_step():
            part = OfType(-1, opposite(self._step()))
        else:
            part = OfType(self._id_of(self._names.type, self._take().strip('"'), "type"))
        while self._is_at_step() or self._peek() == "[":
            if self._peek() != "[":
                part = Walk(part, self._step())
            elif self._peek(1).startswith("@"):
                part = self._qualified(part)
            else:
                part = self._filter(part)
        return part

    def _id_of(self, find: Callable[[str], int | None], name: str, kind: str) -> int:
        identifier = find(name)
        if identifier is None:
            self.at -= 1  # its token was taken
            raise NotationError(f"the graph has no {kind} {name!r}")
        return identifier

    def _step(self) -> Step:
        is_step, token = self._is_at_step(), self._take()
        if not is_step:
            raise NotationError(f"expected .relation or ^relation, found {token}")
        relation = self._id_of(self._names.relation, token[1:].strip('"'), "relation")
        return step_of(relation, token[0] == "^")

    def _extreme(self) -> Part:
        word, number, largest = self._take(), 1, True
        self._take("(")
        if word in ("top", "bottom") and self._peek() == "all":
            number = 0
        elif word in ("top", "bottom", "nth"):
            text = self._peek()
            largest = not (word == "nth" and text.startswith("-"))
            number = self._whole_number(text.removeprefix("-") if word == "nth" else text)
        if word in ("top", "bottom", "nth"):
            self._take()
            self._take(",")
        if word == "nth" and not number:
            raise NotationError("there is no 0th")
        of = self._set()
        self._take(",")
        counted, summed = self._peek() == "count", self._peek() == "sum"
        key = self._key() if self._peek().startswith("@") else ""
        if summed:
            steps = self._in_brackets("sum", self._steps)
        else:
            steps = () if key else (self._counted_step(),) if counted else self._steps()
        self._take(")")
        largest = largest if word == "nth" else word in ("argmax", "top")
        return Extreme(of, steps, counted, largest, number, word == "nth", key=key, summed=summed)

    def _steps(self) -> tuple[Step, ...]:
        steps = [self._step()]
        while self._is_at_step():
            steps.append(self._step())
        return tuple(steps)

    def _counted_step(self) -> Step:
        return self._in_brackets("count", self._step)

    def _in_brackets(self, word: str, read: Callable[[], _Read]) -> _Read:
        """What stands in brackets behind a word."""
        self._take(word)
        self._take("(")
        found = read()
        self._take(")")
        return found

    def _qualified(self, of: Part) -> Part:
        """Conditions on the edges of the last step."""
        if not isinstance(of, Walk):
            raise NotationError("[@…] must stand behind a relation")
        conditions: list[OnEdge] = []
        while self._peek() == "[" and self._peek(1).startswith("@"):
            self._take("[")
            key = self._key()
            sign, text = self._sign(), self._take().strip('"')
            value = _value_of(text) or text
            if isinstance(value, str) and sign not in ("=", "!="):
                raise NotationError(f"a text can only be equal or not: {text!r}")
            or_none = self._peek() == "or" and self._peek(1) == "none"
            if or_none:
                self._take("or")
                self._take("none")
            conditions.append(OnEdge(key, sign, value, or_none))
            self._take("]")
        return Qualified(of.source, of.step, tuple(conditions))

    def _filter(self, of: Part) -> Part:
        self._take("[")
        if self._peek() == "count":
            step = self._counted_step()
            part: Part = Counted(of, step, self._sign(), self._whole_number(self._take()))
        else:
            if self._is_at_step():
                steps = self._steps()
            else:
                steps = (forward(self._id_of(self._names.relation, self._take().strip('"'), "relation")),)
            if self._peek() in ("only", "all") and len(steps) == 1:
                how = "only" if self._take() == "only" else "all"
                part = Related(of, steps[0], how, self._set())
                self._take("]")
                return part
            part = Counted(of, steps[0], ">=", 1) if self._peek() == "]" else self._compared(of, steps)
        self._take("]")
        return part

    def _compared(self, of: Part, steps: tuple[Step, ...]) -> Part:
        sign = self._sign()
        if self._peek() in _AMOUNTS and self._peek(1) == "(":
            return Compared(of, steps, sign, Amount(_AMOUNTS[self._take()], self._bracketed()))
        if self._peek()[:1] == "{" and (own := self._own(self._peek()[1:-1].strip())):
            self._take()
            return Compared(of, steps, sign, own)
        if self._peek()[:1] in ("{", "("):
            return self._against(of, steps, sign, self._term())
        text = self._take().strip('"')
        value = _value_of(text)
        if value is not None:
            return Compared(of, steps, sign, value)
        return self._against(of, steps, sign, Anchor(self._id_of(self._names.entity, text, "entity")))

    def _own(self, text: str) -> Amount | None:
        """Steps in braces, of each member itself; None for the name of an entity, as *.NET*."""
        if text[:1] not in (".", "^") or self._names.entity(text) is not None:
            return None
        inner = _Reader([token for token, _ in _tokens(text)], self._names)
        first, *others = inner._steps()
        if inner._peek():
            raise NotationError(f"expected a step, found {inner._peek()}")
        part: Part = OfType(-1, opposite(first))
        for step in others:
            part = Walk(part, step)
        return Amount("own", part)

    def _against(self, of: Part, steps: tuple[Step, ...], sign: Sign, compared: Part) -> Part:
        """Compared with the members of a set: the same ones, or by their values."""
        if sign not in ("=", "!="):
            return Compared(of, steps, sign, compared)
        for step in reversed(steps):
            compared = Walk(compared, opposite(step))
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


def _value_of(text: str) -> Value | None:
    """A number, a date, a time of day, or a range of numbers or dates; None for other text."""
    first, _, last = text.partition("..")
    if last:
        start, stop = _value_of(first), _value_of(last)
        if start is None or stop is None or start.date != stop.date:
            return None
        return replace(start, width=stop.number + stop.width - start.number)
    if re.fullmatch(_NUMBER, text):
        return Value(float(text))
    if time := re.fullmatch(r"(\d\d):(\d\d)", text):
        passed = time_of_day(int(time[1]), int(time[2]))
        return None if passed is None else Value(passed, date=True)
    return date_of(text)


@dataclass(frozen=True)
class _Writer:
    """Queries over one graph as text."""

    graph: Graph

    def query(self, query: Query) -> str:
        text = self.set(query.part)
        if query.ask in _OF_NAMES:
            name = f', "{_plain(query.name, chr(34))}"' if query.name else ""
            language = f", {_key_text(query.key)}" if query.key else ""
            return f"{query.ask}({text}{name}{language})"
        if query.key:
            text = f"{_key_text(query.key)}({text})"
        word = next((w for w, ask in (_ASK_OF | _OF_TWO).items() if ask == query.ask), "")
        if word:
            other = "" if query.other is None else f", {self.set(query.other)}"
            text = f"{word}({text}{other})"
        by = f"{query.period}({self.steps(query.by)})" if query.period else self.steps(query.by)
        return f"{text} by {by}" if query.by else text

    def set(self, part: Part) -> str:
        if getattr(part, "among", None) is not None or (
            isinstance(part, Extreme) and not part.steps and not part.key
        ):
            raise NotationError("the notation has no form for it")
        match part:
            case Both(left, right) | Either(left, right) | Without(left, right):
                sign = {Both: "&", Either: "|", Without: "-"}[type(part)]
                return f"{self.term(left)} {sign} {self.term(right)}"
            case Anchor(node):
                return "{" + _plain(self.graph.label(node), "{}") + "}"
            case OfType(type_, end):
                return self.step(opposite(end)) if type_ < 0 else _quoted(self.graph.types.names[type_])
            case Walk(source, step):
                return f"{self.term(source)} {self.step(step)}"
            case Qualified(source, step, conditions):
                on_edges = "".join(map(_on_edge, conditions))
                return f"{self.term(source)} {self.step(step)}{on_edges}"
            case Related(source, step, how, targets):
                return f"{self.term(source)}[{self.step(step)} {how} {self.set(targets)}]"
            case Compared(source, steps, sign, value):
                return f"{self.term(source)}[{self.steps(steps)} {sign} {self.operand(value, sign)}]"
            case Counted(source, step, sign, number):
                return f"{self.term(source)}[count({self.step(step)}) {sign} {number}]"
            case Extreme(source, steps, counted, largest, number, nth):
                of_all = "count" if counted else "sum" if part.summed else ""
                by = f"{of_all}({self.steps(steps)})" if of_all else self.steps(steps)
                by = _key_text(part.key) if part.key else by
                word = ("argmin", "argmax")[largest] if number == 1 else ("bottom", "top")[largest]
                first = "" if number == 1 else f"{number or 'all'}, "
                if nth:
                    word, first = "nth", f"{number if largest else -number}, "
                return f"{word}({first}{self.set(source)}, {by})"

    def relation(self, relation: int) -> str:
        """A relation as prompts show it; its IRI where another has its label."""
        stored, name = stored_relation(self.graph, relation), self.graph.relations[relation]
        return stored if stored == name or self._relation_called(stored) == relation else name

    @cached_property
    def _relation_called(self) -> Callable[[str], int | None]:
        return by_label(list(self.graph.relation_labels), list(self.graph.relations))

    def term(self, part: Part) -> str:
        """A set as it stands inside another one."""
        return f"({self.set(part)})" if isinstance(part, Both | Either | Without) else self.set(part)

    def operand(self, value: Value | Part | Amount, sign: Sign) -> str:
        if isinstance(value, Value):
            return _value_text(value)
        if isinstance(value, Amount) and value.ask == "own":
            return "{" + self.steps(value.way) + "}"
        if isinstance(value, Amount):
            word = next(word for word, ask in _AMOUNTS.items() if ask == value.ask)
            return f"{word}({self.set(value.part)})"
        if sign in ("=", "!="):
            raise NotationError("the values of a set cannot be equal in the notation")
        return f"({self.set(value)})"

    def steps(self, steps: Sequence[Step]) -> str:
        return " ".join(map(self.step, steps))

    def step(self, step: Step) -> str:
        return ("^" if is_backward(step) else ".") + _quoted(self.relation(relation_of(step)))


def _on_edge(condition: OnEdge) -> str:
    value = condition.value
    text = f'"{_plain(value, chr(34))}"' if isinstance(value, str) else _value_text(value)
    none = " or none" if condition.or_none else ""
    return f"[{_key_text(condition.key)} {condition.sign} {text}{none}]"


def _key_text(key: str) -> str:
    return f'@"{_plain(key, chr(34))}"'


def _value_text(value: Value) -> str:
    if value.yearly or value.unit or (value.date and value.number < 0):
        raise NotationError("a day of every year, one before Christ, or a number with a unit has no notation")
    ends = (value.number, value.number + value.width)
    if not value.date:
        first, last = (f"{end:.10f}".rstrip("0").rstrip(".") for end in ends)
    elif 0 < value.number < 1:
        minutes = round(value.number * 24 * 60)
        return f'"{minutes // 60:02}:{minutes % 60:02}"'
    else:
        first, last = (date.fromordinal(int(end) + 1).isoformat() for end in ends)
    return first if first == last else f"{first}..{last}"


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z]\w*", name) else f'"{_plain(name, chr(34))}"'


def _plain(name: str, without: str) -> str:
    if not name.strip() or any(c in name for c in without):
        raise NotationError(f"the name {name!r} cannot be written")
    return name


# The names of a graph as a query in the notation writes them.


def lookup_of(
    graph: Graph,
    names: NamesIndex,
    linked: Mapping[str, int] | None = None,
    vocabulary: Vocabulary | None = None,
) -> NameLookup:
    """Find names as the source or people write them, then by a `vocabulary`; `linked` entities first."""

    def entity(name: str) -> int | None:
        if linked and name.casefold() in linked:
            return linked[name.casefold()]
        with_id = names.with_id(name)
        hits = names.exact(name)
        return with_id if with_id is not None else hits[0].entity if hits else None

    relations, types, keys = [*graph.relations], [*graph.types.names], [*graph.edge_properties.keys]
    key_of = by_label(keys, keys)

    def edge_key(name: str) -> str | None:
        at = key_of(name)
        return None if at is None else keys[at]

    other_words = (
        ({}, {}) if vocabulary is None else (vocabulary.relations_by_words, vocabulary.types_by_words)
    )
    return NameLookup(
        entity,
        by_label([*graph.relation_labels], relations, other_words[0]),
        by_label(types, types, other_words[1]),
        edge_key,
    )


def stored_relation(graph: Graph, relation: int) -> str:
    """A relation as the source writes it; of one with an IRI its label."""
    name = graph.relations[relation]
    return graph.relation_labels[relation] if "://" in name else name


def by_label(
    labels: Sequence[str], names: Sequence[str], other_words: Mapping[tuple[str, ...], Sequence[int]] = {}
) -> Callable[[str], int | None]:
    """Find ids by names: as the source writes them, then as people read them; or by words for one alone."""
    ids = {" ".join(words): numbers[0] for words, numbers in other_words.items() if len(numbers) == 1}
    for i in reversed(range(len(labels))):
        for form in (words_of_label(labels[i]), labels[i].casefold(), names[i].casefold()):
            ids[form] = i

    def find(name: str) -> int | None:
        exact = ids.get(name.casefold())
        return ids.get(words_of_label(name)) if exact is None else exact

    return find
