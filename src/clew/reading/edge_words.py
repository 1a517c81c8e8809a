"""Words of a question about properties of edges: *how many hours*, *of more than 50 pallets*, *on leave*.

They are operators: the rest is read without them, and what they ask is put on the edges of a step of it.
Dates by which edges are bounded are read in `times`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Graph, ValueKind
from clew.graph.steps import Step, backward, forward, opposite, relation_of
from clew.graph.values import CURRENCIES, MOST_WRITTEN, UNITS, unit_of_numbers
from clew.query.execute import Executor, intersection
from clew.query.tree import (
    Anchor,
    Ask,
    Both,
    Counted,
    Either,
    Extreme,
    OfType,
    OnEdge,
    Part,
    Qualified,
    Query,
    Sign,
    Walk,
    last_walks,
    mapped,
)
from clew.query.values import in_unit_of
from clew.query.vocabulary import words_of_label
from clew.reading.comparisons import sign_beside
from clew.reading.english import FUNCTION
from clew.reading.mentions import Mention
from clew.reading.operator import Operator
from clew.text.inflection import singular_noun
from clew.text.lexicon import Lexicon
from clew.text.normalise import tokens

MOST_VALUES = 500
"""Different texts of a property up to which they are looked for in questions."""
MOST_RELATIONS = 3
"""Relations up to which a condition is put on the edges of any of them: *who is on leave*."""
DERIVED = 0.85
"""From here on two words are near because one is derived from the other."""
OfStep = Callable[[int], tuple[OnEdge, ...]]
_BEGIN = frozenset("since from start started starting begin began beginning starts begins valid".split())
_LASTING = frozenset(("since", "from", "valid"))
"""Those after which something is so to this day where it has no end."""
ENDS = frozenset(
    "until till to end ended ending ends finish finished stop stopped left closed died returned retired sold"
    " withdrawn resolved completed expired decommissioned".split()
)


@dataclass(frozen=True, slots=True)
class SaidKey:
    """The name of a property in a text, at its characters [start, stop)."""

    key: str
    start: int
    stop: int


def _ends_in_unit(words: Sequence[str]) -> bool:
    """Whether words of a name end in a unit or a currency: *weight kg*, *value eur*."""
    return bool(words) and (words[-1] in UNITS or words[-1] in CURRENCIES)


@dataclass(eq=False)
class EdgeKeys:
    """What the edges of one graph have for properties."""

    graph: Graph

    def has(self, step: Step, key: str) -> bool:
        """Whether edges of a step have a property."""
        return key in self.of_relations.get(relation_of(step), ())

    @cached_property
    def of_relations(self) -> dict[int, frozenset[str]]:
        """The properties of the edges of each relation that has some."""
        properties = self.graph.edge_properties
        owners = np.repeat(np.arange(len(properties)), np.diff(properties.offsets))
        pairs = np.unique(np.stack([properties.triples[owners, 1], properties.key]), axis=1)
        keys: dict[int, set[str]] = {}
        for relation, key in pairs.T.tolist():
            keys.setdefault(relation, set()).add(properties.keys[key])
        return {relation: frozenset(names) for relation, names in keys.items()}

    @cached_property
    def kinds(self) -> dict[str, set[int]]:
        """What values each property has; 0 is text."""
        properties = self.graph.edge_properties
        pairs = np.unique(np.stack([properties.key, properties.kind.astype(np.int32)]), axis=1)
        kinds: dict[str, set[int]] = {key: set() for key in properties.keys}
        for key, kind in pairs.T.tolist():
            kinds[properties.keys[key]].add(kind)
        return kinds

    @cached_property
    def values(self) -> dict[str, list[str]]:
        """The texts of each property that has few of them, the longest first."""
        properties = self.graph.edge_properties
        values: dict[str, list[str]] = {}
        for number, key in enumerate(properties.keys):
            places = np.flatnonzero((properties.key == number) & (properties.kind == 0))
            texts = {properties.texts[at] for at in places[: 100 * MOST_VALUES].tolist()}
            if len(texts) <= MOST_VALUES:
                values[key] = sorted((t for t in texts if len(t) > 1), key=lambda t: (-len(t), t))
        return values

    def measured(self, key: str) -> str:
        """The words of a property, and behind them the unit of its values."""
        properties = self.graph.edge_properties
        places = np.flatnonzero((properties.key == list(properties.keys).index(key)) & (properties.kind > 0))
        written = (
            (properties.texts[at], float(properties.value[at])) for at in places[:MOST_WRITTEN].tolist()
        )
        return f"{words_of_label(key)} {unit_of_numbers(written)}".strip()

    def is_category(self, key: str) -> bool:
        """Whether the texts of a property recur: a *status*, no *note*."""
        properties = self.graph.edge_properties
        count = int((properties.key == list(properties.keys).index(key)).sum())
        return 2 * len(self.values.get(key, ())) <= count

    def said_in(self, text: str) -> list[SaidKey]:
        """The properties that a text names, the longest names first."""
        words = tokens(text)
        spoken = [singular_noun(token.norm) for token in words]
        said: list[SaidKey] = []
        for key in self.graph.edge_properties.keys:
            label = words_of_label(key).split()
            whole = [singular_noun(word) for word in label]
            if len(whole) == 1 and whole[0] in UNITS:  # *how many kilos* of a property `kg`
                same = [at for at, word in enumerate(spoken) if UNITS.get(word) == UNITS[whole[0]]]
                said += [
                    SaidKey(key, words[at].start, words[at].stop) for at in same if spoken[at] != whole[0]
                ]
            for name in (whole, *([whole[:-1]] if _ends_in_unit(label[1:]) else ())):
                for at in range(len(spoken) - len(name) + 1 if name else 0):
                    if spoken[at : at + len(name)] == name:
                        said.append(SaidKey(key, words[at].start, words[at + len(name) - 1].stop))
        return sorted(said, key=lambda s: (s.start - s.stop, s.start))

    def texts_in(self, text: str) -> Iterator[tuple[str, re.Match[str]]]:
        """The texts of properties that stand in a text, each with its property."""
        lower = text.lower()
        for key, values in self.values.items():
            for value in (v for v in values if v.lower() in lower and v.lower() not in FUNCTION):
                for match in re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.I):
                    yield key, match

    def over(self, executor: Executor, query: Query, of_step: OfStep) -> Query | None:
        """The query over edges that fulfil the conditions which `of_step` gives for its outermost such step.

        Of a bare type those that such edges lead to. None where no step has conditions.
        """
        bound = _with_conditions(query, of_step)
        if bound is not None or not isinstance(query.part, OfType):
            return bound
        members, over = executor.members(query.part), list[Part]()
        for relation in sorted(self.of_relations):
            for step in (forward(relation), backward(relation)):
                conditions, source = of_step(step), OfType(-1, step)
                if conditions and len(intersection(members, executor.members(Walk(source, step)))):
                    over.append(Qualified(source, step, conditions))
        if not 0 < len(over) <= MOST_RELATIONS:
            return None
        return replace(query, part=Both(query.part, reduce(Either, over)))

    def dated(self, relation: int) -> tuple[str, str, str]:
        """The begin, the end, and the one date of edges of a relation, "" where there is none."""
        if relation not in self._dated:
            self._dated[relation] = self._dates(relation)
        return self._dated[relation]

    @cached_property
    def _dated(self) -> dict[int, tuple[str, str, str]]:
        return {}

    def _dates(self, relation: int) -> tuple[str, str, str]:
        properties = self.graph.edge_properties
        statements = np.flatnonzero(properties.triples[:, 1] == relation)
        owners = np.repeat(np.arange(len(properties)), np.diff(properties.offsets))
        places = np.flatnonzero(np.isin(owners, statements))
        dated: dict[str, bool] = {}
        for number in np.unique(properties.key[places]).tolist():
            of_key = places[properties.key[places] == number]
            values, kinds = properties.value[of_key], properties.kind[of_key]
            is_year = (kinds == ValueKind.NUMBER) & (values >= 1000) & (values <= 2100) & (values % 1 == 0)
            is_day = (kinds == ValueKind.DATE) & (values >= 1)  # no time of the day
            dated[properties.keys[number]] = bool((is_day | is_year | (kinds == 0)).all())
        words = {key: set(words_of_label(key).split()) for key, is_date in dated.items() if is_date}
        words = {key: said for key, said in words.items() if self._has_values(key, places)}
        begin = next((key for key, said in words.items() if said & _BEGIN), "")
        end = next((key for key, said in words.items() if said & ENDS and key != begin), "")
        if begin and not end and not words[begin] & _LASTING:
            begin = ""  # the `start` of a screening is its time
        others = [key for key in words if key not in (begin, end)]
        if len(others) == 2 and not begin and not end:
            begin, end = self._in_order(others[0], others[1], owners[places], places)
            others = [] if begin else others
        return begin, end, others[0] if len(others) == 1 else ""

    def _in_order(
        self, one: str, other: str, owners: NDArray[np.int64], places: NDArray[np.int64]
    ) -> tuple[str, str]:
        """Two dates of edges of which one is never after the other, as begin and end; "" for others."""
        properties, keys = self.graph.edge_properties, list(self.graph.edge_properties.keys)
        days = [np.full(len(properties), np.nan) for _ in (one, other)]
        for key, of in zip((one, other), days, strict=True):
            at = properties.key[places] == keys.index(key)
            of[owners[at]] = properties.value[places[at]]
        both = ~np.isnan(days[0]) & ~np.isnan(days[1])
        first, second = days[0][both], days[1][both]
        if not (first < second).any() and not (second < first).any():
            return "", ""
        if (first <= second).all():
            return one, other
        return (other, one) if (second <= first).all() else ("", "")

    def _has_values(self, key: str, places: NDArray[np.int64]) -> bool:
        properties = self.graph.edge_properties
        number = list(properties.keys).index(key)
        return bool((properties.kind[places[properties.key[places] == number]] > 0).any())


def _with_conditions(query: Query, of_step: OfStep) -> Query | None:
    """The query over edges that fulfil conditions: those that `of_step` gives, of the outermost such step.

    None where there are none for any step.
    """
    found: list[Part] = []

    def bound(part: Part) -> Part:
        match part:
            case Walk(source, step):
                before: tuple[OnEdge, ...] = ()
            case Qualified(source, step, before):
                pass
            case OfType(type_, end) if type_ < 0 and is_bare:
                source, step, before = OfType(-1, opposite(end)), opposite(end), ()
            case Counted(inner, of, ">=", 1, _, None):
                source, step, before = OfType(-1, opposite(of)), opposite(of), ()
                conditions = () if found else of_step(step)
                if not conditions:
                    return part
                found.append(part)
                return Both(inner, Qualified(source, step, conditions))
            case _:
                return part
        conditions = () if found else of_step(step)
        if not conditions:
            return part
        found.append(part)
        return Qualified(source, step, (*before, *conditions))

    is_bare = False  # what is at an end of edges, where no step is
    part = mapped(query.part, bound)
    if not found:
        is_bare = True
        part = mapped(query.part, bound)
    return replace(query, part=part) if found else None


_AMOUNTS: dict[str, Ask] = {
    **dict.fromkeys(("total", "sum of", "combined", "overall"), "sum"),
    **dict.fromkeys(("average", "mean"), "average"),
    **dict.fromkeys(("highest", "largest", "biggest", "greatest", "maximum", "longest", "most"), "largest"),
    **dict.fromkeys(("lowest", "smallest", "least", "minimum", "shortest", "fewest"), "smallest"),
}
_AMOUNT = "|".join(_AMOUNTS)
_ASKS = re.compile(
    rf"(?:\b(?:for|at|with|in|on|to)\s+)?(?:\b(?P<many>how\s+(?:many|much))\s+(?:(?P<sum>{_AMOUNT})\s+)?"
    r"|\b(?:what|which)\s+|\b(?:what(?:'s|\s+is|\s+are|\s+was|\s+were)|give|show|tell\s+me|list)\s+(?:me\s+)?"
    rf"(?:(?:the|a|an)\s+)?(?:(?P<amount>{_AMOUNT})\s+(?:of\s+)?(?:the\s+)?)?"
    rf"|^\W*(?:the\s+)?(?:(?P<bare>{_AMOUNT})\s+(?:of\s+)?(?:the\s+)?)?)$",
    re.I,
)
"""What asks for a property, before its name."""
_OF = re.compile(
    r"\s+(?:(?:on|in|at|with|for)\s+which|when|where|of|for|at|in|on|that|by)\b(?:\s+(?:all|the)\b)?\s+"
    r"|\s+in\s+total\b",
    re.I,
)
_MANY = re.compile(r"\bhow\s+(?P<what>many|much)\s+(?:of\s+)?(?:the\s+)?", re.I)
_WHERE = re.compile(r"\s+(?:\w+\s+which|when|where|that)\s+(?:the\s+)?", re.I)
_AUXILIARY = re.compile(r"\s+(?:is|are|was|were|does|do|did|has|have|had)\b", re.I)
_RANKS = re.compile(
    r"(?:\bwith\s+)?(?:\bthe\s+)?\b(?:(?P<up>most|highest|largest|biggest|greatest|longest|maximum|latest)"
    r"|fewest|least|lowest|smallest|shortest|minimum|earliest)\s+(?:number\s+of\s+|amount\s+of\s+)?$",
    re.I,
)
_LARGEST = re.compile(
    r"\b(?:(?P<up>largest|biggest|highest|greatest|heaviest|longest)|smallest|lowest|lightest|shortest)\s+(?P<noun>\w+)",
    re.I,
)
_BOUND = re.compile(
    r"(?:\b(?:with|for|of|whose|having|in|at)\s+)?(?:\b(?:a|an|the)\s+)?"
    r"(?:\b(?:(?:no\s+|not\s+)?(?:\w+er|more|less)\s+than|at\s+(?:least|most)|over|under|above|below|exactly"
    r"|up\s+to)\s+|[<>=≤≥]+\s*)?$",
    re.I,
)
_BETWEEN = re.compile(r"\s+(?:of\s+|is\s+|was\s+|are\s+|were\s+|=\s*)?(?:of\s+)?$", re.I)
_AFTER = re.compile(r"\s+(?:or|and)\s+(?:more|less|fewer|over|under|above|below)\b", re.I)
_VALUED = re.compile(
    r"(?:\b(?:with|whose|having|as|in|on|of|by|is|are|was|were)\s+)?(?:\b(?:a|an|the)\s+)?$", re.I
)
_NOT = re.compile(r"\bnot\s+$", re.I)
_IS = re.compile(r"\s+(?:(?:is|was|are|were|of)\s+|=\s*)?(?P<not>not\s+)?[\"'“]?$", re.I)


_WHEN = re.compile(
    r"\s*(?:(?P<begin>(?:since|from)\s+(?:when|(?:what|which)\s+(?:year|date|day))|how\s+long(?=\s+(?:has|have|had)\b)"
    r"|how\s+long\s+since)|(?P<end>(?:until|till|up\s+to|to)\s+(?:when|(?:what|which)\s+(?:year|date|day)))"
    r"|(?:on\s+(?:what|which)\s+(?:date|day)|when))[ ,]+(?=(?:is|are|was|were|does|do|did|has|have|had)\b)",
    re.I,
)


def _are_two(mentions: Sequence[Mention]) -> bool:
    """Whether names stand beside each other, as the two ends of an edge do: *the delivery from A to B*."""
    return any(m.stop <= other.start for m in mentions for other in mentions)


@dataclass(frozen=True, eq=False)
class EdgeWords:
    """What the words of one question ask of properties of edges."""

    executor: Executor
    text: str
    mentions: Sequence[Mention]
    keys: EdgeKeys

    def found(self) -> Iterator[Operator]:
        """The operators, those first that speak of more words."""
        if not len(self.executor.graph.edge_properties):
            return
        asked = self._asked_when, self._asked, self._asked_of_names
        for find in (self._numbers, self._texts, self._ranks, self._largest, *asked):
            yield from find()

    # names of properties

    @cached_property
    def _said(self) -> list[SaidKey]:
        """The properties that the question names outside of names of entities."""
        return [s for s in self.keys.said_in(self.text) if not self._is_named(s.start, s.stop)]

    # conditions

    def _numbers(self) -> Iterator[Operator]:
        """*More than 30 hours*, *with hours over 30*."""
        for said in self._said:
            for at, mention in enumerate(self.mentions):
                number = next((v for v in mention.values if not v.date), None)
                if number is None or not self.keys.kinds[said.key] & {ValueKind.NUMBER}:
                    continue
                start, stop = min(said.start, mention.start), max(said.stop, mention.stop)
                between = self.text[min(said.stop, mention.stop) : max(said.start, mention.start)]
                if mention.stop <= said.start and between.strip() in ("", "of"):
                    start = self._before(_BOUND, mention.start)
                elif said.stop <= mention.start:
                    bound = self._before(_BOUND, mention.start)
                    if not _BETWEEN.fullmatch(self.text, said.stop, max(bound, said.stop + 1)):
                        continue
                    start = self._before(_VALUED, said.start)
                else:
                    continue
                after = _AFTER.match(self.text, stop)
                stop = stop if after is None else after.end()
                sign = sign_beside(self.text, mention) or "="
                value = replace(in_unit_of(self.keys.measured(said.key), number), mention=at)
                yield self._condition(start, stop, OnEdge(said.key, sign, value), words_of_label(said.key))

    def _texts(self) -> Iterator[Operator]:
        """*With status leave*, *as captain*, *whose status is not active*."""
        for key, match in self.keys.texts_in(self.text):
            if self._is_named(*match.span()):
                continue
            start, stop, sign = self._valued(key, *match.span())
            label = "" if (start, stop) == match.span() else words_of_label(key)
            condition = OnEdge(key, sign, match[0])
            yield self._condition(self._before(_VALUED, start), stop, condition, label)

    def _valued(self, key: str, start: int, stop: int) -> tuple[int, int, Sign]:
        """The characters of a value with its property and a *not* beside it, and how it is compared."""
        sign: Sign = "="
        for said in (s for s in self._said if s.key == key):
            is_ = _IS.fullmatch(self.text, said.stop, start)
            if is_ is not None:
                start, sign = said.start, "!=" if is_["not"] else "="
            elif self.text[stop : said.start].isspace():
                stop = said.stop
        denied = _NOT.search(self.text[:start])
        return (start, stop, sign) if denied is None else (denied.start(), stop, "!=")

    def _is_named(self, start: int, stop: int) -> bool:
        named = (m for m in self.mentions if m.candidates and m.strong)
        return any(m.start < stop and start < m.stop for m in named)

    def _before(self, pattern: re.Pattern[str], stop: int) -> int:
        """Where words before a place begin that belong to it."""
        match = pattern.search(self.text[:stop])
        return stop if match is None else match.start()

    def _condition(self, start: int, stop: int, condition: OnEdge, label: str) -> Operator:
        def apply(query: Query) -> Query | None:
            return self._with(query, condition)

        return Operator(start, stop, apply, certain=False, label=label)

    def _with(self, query: Query, condition: OnEdge) -> Query | None:
        """The query with its last step over edges that fulfil a condition."""
        return self.keys.over(
            self.executor, query, lambda step: (condition,) if self.keys.has(step, condition.key) else ()
        )

    # what is asked

    def _largest(self) -> Iterator[Operator]:
        """*The largest delivery from North Depot*: where the edges that a noun names have just one number."""
        for match in _LARGEST.finditer(self.text):
            relations = [r for r in self.keys.of_relations if self._is_noun_of(match["noun"], r)]

            def apply(
                query: Query, relations: Sequence[int] = relations, up: bool = bool(match["up"])
            ) -> Query | None:
                key = self._number_of(query, relations)
                if query.ask != "list" or not key:
                    return None
                return replace(query, part=Extreme(query.part, (), False, up, key=key))

            if relations:
                yield Operator(match.start(), match.start("noun"), apply, certain=False)

    def _is_noun_of(self, noun: str, relation: int) -> bool:
        """Whether a noun is that of a relation: *delivery* of *delivered to*."""
        label = words_of_label(self.keys.graph.relation_labels[relation])
        lexicon = Lexicon.load()
        return any(lexicon.similarity(noun, word) >= DERIVED for word in label.split())

    def _number_of(self, query: Query, relations: Container[int]) -> str:
        """The one property of the last edges of a query that is a number; empty of none, and of several."""
        last = {relation_of(walk.step) for walk in last_walks(query.part)}
        keys = {key for r in last if r in relations for key in self.keys.of_relations.get(r, ())}
        numbers = [key for key in keys if ValueKind.NUMBER in self.keys.kinds[key]]
        return numbers[0] if len(numbers) == 1 else ""

    def _ranks(self) -> Iterator[Operator]:
        """*Who works the most hours*."""
        for said in self._said:
            match = _RANKS.search(self.text[: said.start])
            if match is None or not self.keys.kinds[said.key] & {ValueKind.NUMBER, ValueKind.DATE}:
                continue
            asks = _ASKS.search(self.text[: said.start])
            if asks is not None and (asks["amount"] or asks["bare"] or asks["sum"]):
                continue  # the highest number itself
            key, largest = said.key, match["up"] is not None

            def apply(query: Query, key: str = key, largest: bool = largest) -> Query | None:
                if query.ask != "list" or not self._leads_by(query.part, key):
                    return None
                return replace(query, part=Extreme(query.part, (), False, largest, key=key))

            yield Operator(match.start(), said.stop, apply, certain=False, label=words_of_label(key))

    def _asked(self) -> Iterator[Operator]:
        """*How many hours does Ann work at North Depot*, *the total hours of …*."""
        for said in self._said:
            match = _ASKS.search(self.text[: said.start])
            if match is None:
                continue
            amount = (match["sum"] or match["amount"] or match["bare"] or "").lower()
            ask: Ask = _AMOUNTS.get(amount, "list")
            is_number = bool(self.keys.kinds[said.key] & {ValueKind.NUMBER})
            if match["many"] and is_number:
                ask = "sum" if ask == "list" else ask
            if ask != "list" and not is_number:
                continue
            stop, instead = self._opening(said.stop)
            key = said.key

            def apply(query: Query, key: str = key, ask: Ask = ask) -> Query | None:
                return self._value_of(query, key, ask)

            yield Operator(match.start(), stop, apply, instead, certain=False, label=words_of_label(key))

    def _asked_of_names(self) -> Iterator[Operator]:
        """*How many Solvent did Ann order*, *how much did Ann order*: where edges have just one number."""
        for match in _MANY.finditer(self.text):
            named = [m for m in self.mentions if m.strong and m.candidates and m.start == match.end()]
            stop = max((m.stop for m in named), default=match.end())
            if not _AUXILIARY.match(self.text, stop if named else stop - 1):
                continue
            if not named and match["what"].lower() != "much":
                continue

            def apply(query: Query) -> Query | None:
                key = self._number_of(query, self.keys.of_relations)
                return self._value_of(query, key, "sum") if key else None

            instead = "what" if named else ""
            yield Operator(match.start(), stop, apply, instead, certain=False, names=True, weak=not named)

    def _opening(self, stop: int) -> tuple[int, str]:
        """Where what asks for a property ends, and what is read in its place.

        *What quantity of Resin did Ann order?* is *what did Ann order?*, of Resin.
        """
        of = _OF.match(self.text, stop)
        if of is None:
            return stop, ""
        behind = [m for m in self.mentions if m.strong and m.candidates and m.start >= of.end()]
        named = [m for m in behind if m.start == of.end()]
        if not named:
            return of.end(), "is there " if _are_two(behind) else ""
        name = max(named, key=lambda m: m.stop)
        if _WHERE.fullmatch(of[0]):
            return of.end(), "did "
        return (name.stop, "what") if _AUXILIARY.match(self.text, name.stop) else (of.end(), "is ")

    def _asked_when(self) -> Iterator[Operator]:
        """*Since when*, *until when* something is so, and *when* it was."""
        match = _WHEN.match(self.text)
        if match is None:
            return
        asked = "begin" if match["begin"] else "end" if match["end"] else "date"

        def apply(query: Query) -> Query | None:
            for walk in last_walks(query.part):
                begin, end, plain = self.keys.dated(relation_of(walk.step))
                key = {"begin": begin or plain, "end": end, "date": plain or begin}[asked]
                if key:
                    return self._value_of(query, key, "list")
            return None

        yield Operator(match.start(), match.end(), apply, certain=False, weak=asked == "date")

    def _value_of(self, query: Query, key: str, ask: Ask) -> Query | None:
        """The query that asks for a property of the edges that lead to what the rest means."""
        part = self._with_open_names(query.part) if query.ask == "list" else query.part
        if query.ask not in ("list", "yes") or query.by or not self._leads_by(part, key):
            return None
        return replace(query, ask=ask, part=part, key=key)

    def _leads_by(self, part: Part, key: str) -> bool:
        """Whether edges with a property lead to a set."""
        return any(self.keys.has(walk.step, key) for walk in last_walks(part))

    def _with_open_names(self, part: Part) -> Part:
        """What is asked for, kept to the name that the rest leaves open: the edges between two names."""
        used = {anchor.mention for anchor in Query("list", part).contents.entities}
        members = self.executor.members(part)
        for at, mention in enumerate(self.mentions):
            if at in used or not (mention.strong and mention.candidates):
                continue
            node = next((c.node for c in mention.candidates if np.isin(c.node, members)), None)
            if node is not None:
                part = Both(part, Anchor(node, at))
        return part
