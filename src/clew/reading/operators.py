"""Words that ask for an operator around the rest of a question: *per team*, *the second oldest*, *than Bob*.

The words are left out, the rest is read as any question, and the operator is put around what that means:
*How many orders per team?* is *how many orders*, by team. A reading around which an operator cannot stand is
none. Where no reading is left, the question is read with its words, and they stay without a place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise

from clew.graph.steps import Step, backward, forward, head_end, is_backward, opposite, relation_of, tail_end
from clew.graph.values import UNITS
from clew.query.execute import Executor, OverBudget
from clew.query.tree import (
    PERIODS,
    Amount,
    Anchor,
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
    Value,
    Walk,
    Without,
    mapped,
    mentions_of,
    parts_of,
    steps_of,
    with_entity,
)
from clew.query.values import ORDINALS
from clew.query.vocabulary import DATE, NUMBER, Vocabulary, words_of_label
from clew.reading import english
from clew.reading.asked_for import final_type
from clew.reading.comparisons import BEST_FIRST, EARLIER
from clew.reading.edge_words import ENDS, EdgeKeys, EdgeWords
from clew.reading.flags import FlagWords
from clew.reading.kinship import (
    Lineage,
    broader_word,
    kin_terms,
    lineage,
    naming,
    recorded_sex,
    sex_of,
    sex_said,
)
from clew.reading.likeness import Likeness
from clew.reading.mentions import Mention, spans_of
from clew.reading.operator import Operator, Spans, as_it_is
from clew.reading.own import OwnThings
from clew.reading.ranker import Ranked, Ranking
from clew.reading.spelt import Spelling
from clew.reading.times import Times
from clew.reading.which_way import name_of
from clew.text.inflection import comparative, is_participle, nouns_of, plural, singular_noun
from clew.text.lexicon import ADJECTIVE, Lexicon
from clew.text.normalise import Token, tokens

MOST_AROUND = 20
"""Readings of the rest around which operators are put."""
_NTH = re.compile(
    rf"\b(?P<nth>{'|'.join(ORDINALS[1:12])}|(?:[2-9]|1\d)(?:nd|rd|th))[-\s]+(?=(?:most|least|best|worst|\w{{2,}}est)\b)",
    re.I,
)
_GROUP = re.compile(
    r"\s*\b(?:(?:per|(?P<by>by))\s+|(?:for|in|of|at|from|on|over|to|with|under)\s+(?:each|every)\s+(?:of\s+the\s+)?)"
    r"(?:(?:kinds?|sorts?|types?)\s+of\s+)?(?P<group>[\w-]+(?:\s+[\w-]+)?)"
    r"|\s*\b(?:do|does|did|has|have|is|are)\s+(?:each|every)\s+(?P<subject>[\w-]+(?:\s+[\w-]+)??)(?:\s+(?:have|has|had|got|contain))?(?=\W*$)",
    re.I,
)
_KIND = re.compile(r"\s+(?:types?|kinds?|sorts?|category|categories)\b", re.I)
_LISTS = re.compile(r"\W*(?:which|what|whom?|whose|list|show|name|give|find)\b", re.I)
_IN_PLACE = re.compile(
    rf"\s+(?:(?:in|at|on)\s+)?(?P<the>the\s+)?(?P<nth>{'|'.join(ORDINALS[:12])}|(?:[1-9]|1\d)(?:st|nd|rd|th))"
    r"(?P<noun>[-\s]+(?:place|position|rank))?(?=\W*$|\s+(?:in|at|on|of|for|behind|with|during)\b)",
    re.I,
)
_CAME = re.compile(r"\b(?:came|come|comes|finish\w*|placed|ranked|ended)$", re.I)
_PLACES = frozenset("place position rank order standing placing".split())
"""What a relation is called that numbers the rows of a list."""
_EACH_DOES = re.compile(
    r"\s+(?:do|does|did|has|have|is|are|was|were|can)\s+(?P<each>(?:each|every)\s+)"
    r"(?P<which>[\w-]+(?:\s+[\w-]+){1,4})",
    re.I,
)
"""*How many tickets did each venue sell*: each of what, before what it does."""
_MANY_OF_EACH = re.compile(
    r"\W*how\s+many\s+(?P<counted>[\w-]+(?:\s[\w-]+)?)\s+(?:do|does|did|has|have|is|are|was|were|can)\s+(?:each|every)\s+"
    r"(?P<which>[\w-]+(?:\s+[\w-]+)?)\b(?P<verb>[^?,;]*)(?=\W*$)",
    re.I,
)
_MANY_AT_EACH = re.compile(
    r"\W*how\s+many\s+(?P<counted>[\w-]+)\s+(?P<verb>(?:[\w-]+\s+){0,4}?)"
    r"(?:at|in|on|for|to|by|with|from|under|per)\s+(?:each|every)\s+(?P<which>[\w-]+(?:\s+[\w-]+)?)(?=\W*$)",
    re.I,
)
_LESS_NONE = re.compile(
    r"[.;,?!]\s*(?:and\s+)?(?:please\s+)?(?:skip|ignore|omit|exclude|leave\s+out)\s+(?:\w+\s+){0,3}(?:with|having|that\s+have|who\s+have)"
    r"\s+(?:none|zero)(?=\W*$)",
    re.I,
)
"""*Leave out any with none*, as groups are those that have some."""
_EACH = re.compile(r"(?<=\w)\s+(?:each|every)\s+(?P<which>[\w-]+(?:\s+[\w-]+){0,2})(?=\W*$)", re.I)
"""*How many players hold each title*."""
_MORE = re.compile(
    r"\b(?:how\s+(?:much|many)\s+(?:(?!number)(?P<unit>\w+)\s+)??(?P<more>\w+er|more|less)\b|(?P<of>difference)\b)",
    re.I,
)
_BY_HOW_MUCH = re.compile(r"\bby\s+how\s+(?:much|many(?:\s+(?P<unit>\w+))?)\b", re.I)
_THAN = re.compile(r"\b(?P<more>\w+er|more|less)(?=\s+than\b)", re.I)
_CURRENT = re.compile(
    rf"\bstill\s+(?P<state>open|active|running|alive|ongoing|pending|outstanding|unresolved|valid)\b"
    r"(?=\W*$|\s+(?:in|at|on|and|or|with|for|of|from|by|that|which|who)\b)"
    rf"|{english.NOW.pattern}|\bstill\b|\btoday\b|\bcurrent(?=\s+(?!of\b)\w)",
    re.I,
)
_HOW_MANY_DAYS = re.compile(
    r"\bhow\s+many\s+days\b(?=\s+(?:was|were|did|passed|elapsed|are\s+there|were\s+there|lay)\b)"
    r"(?:\s+(?:passed|elapsed|lay|(?:are|were)\s+there)\s+(?:between|from)\b(?:\s+(?:when|the))*)?",
    re.I,
)
_HOW_MANY_UNITS = re.compile(
    r"\W*how\s+(?:many|much)\s+(?P<unit>[a-z]+\d?)\b(?!\s+(?:is|are|was|were|of(?!\s+(?:each|every)))\b)",
    re.I,
)
_TAKE = re.compile(r"\s+(?:take|last)\b(?=\W*$|\s+from\b)", re.I)
_NTH_IN_TIME = re.compile(
    rf"\b(?P<first>the\s+(?P<nth>{'|'.join(ORDINALS[1:12])}|(?:[2-9]|1\d)(?:nd|rd|th)))"
    r"(?=\s+(?!most\b|least\b|best\b|worst\b|half\b|quarter\b|century\b|time\b|\w{2,}est\b)[a-z])",
    re.I,
)
_UNKNOWN = re.compile(
    r"\b(?:with|of|has|have|having)\s+(?:an?\s+)?(?:unknown|missing|unrecorded|unspecified)\s+(?=\w)"
    r"|\b(?P<whose>whose)\s+(?:\w+\s+){1,3}?(?P<is>(?:is|are)\s+(?:unknown|missing|unrecorded|not\s+(?:known|recorded)))\b",
    re.I,
)
_HERE_LONGEST = re.compile(
    r"(?:\b(?:has|have)|(?<=\bwho)['’]s)\s+(?:been\s+)?(?:(?!been\b|the\b)\w+\s+)?(?P<here>here|with\s+us|for\s+us)"
    r"\s+(?:the\s+)?(?P<end>longest|shortest)\b",
    re.I,
)
_START_HERE = re.compile(
    r"(?<=\bstart|\bbegan|\bbegin)(?:ed|s)?(?P<doing>\s+(?:working\b|\w+ing(?=\s+(?:here|with\s+us|for\s+us)\b))"
    r"(?:\s+(?:here|with\s+us|for\s+us)\b)?)",
    re.I,
)
_IN_ORDER = re.compile(
    rf"(?:\s*,)?\s+(?:{BEST_FIRST}"
    r"|(?:(?:sorted|ordered|ranked)\s+by|in\s+order\s+of)\s+(?:the\s+|their\s+)?(?P<by>\w+(?:\s+\w+)?))(?=\W*$)",
    re.I,
)
_THEM = re.compile(r"\b(?:them|those|these|it)\b", re.I)
_ONE = re.compile(r"(?<=est)\s+one(?=\W*$)", re.I)
_SOME = re.compile(
    r"\b(?:at\s+least\s+(?:one|an?)|one\s+or\s+more)(?=\s+(?!other|more|of\b|and\b|or\b)[a-z])", re.I
)
_WHEN_LAST = re.compile(
    r"^\W*(?:when|(?:on\s+|in\s+)?(?:what|which)\s+(?:date|day|year|month))\b.*?"
    r"(?P<word>(?<!\bthe)\s+(?:(?P<last>last|most\s+recently|latest)|first))\b(?=\s+\w)",
    re.I,
)
_LESS = frozenset("less fewer younger shorter smaller lower lighter cheaper slower earlier narrower".split())
_SHARE = re.compile(
    r"\b(?:what|which)\s+(?:percent(?:age)?|share|proportion|fraction|%)\s+of(?:\s+(?:all|the))*\b", re.I
)
_VERB_OF_SHARE = re.compile(
    r"(?<!that )(?<!which )(?<!who )\b(?:is|are|was|were|has|have|had|do|does|did|can)\b", re.I
)
_AVERAGE = re.compile(
    r"(?P<than>\b(?:than|above|below|over|under))\s+(?:the\s+)?(?:average|mean)(?P<noun>\s+\w+)?", re.I
)
_BOUND = re.compile(r"\s*,?\s*\b(?:but|and)\s+(?:\w+\s+)?(?:more|less|fewer|\w{2,}er)\s+than\s+", re.I)
_AS_MUCH = re.compile(
    r"(?<!least )(?<!most )(?<!twice )(?<!half )\b(?:equally|just\s+as|as)\s+(?P<what>[a-z]+)\s+as\b", re.I
)
_NEITHER = re.compile(r"\bneither\b", re.I)
_NOR = re.compile(r"\s*,?\s*nor\s+(?:(?:in|of|for|at|by|from|to|with|on)\s+)?", re.I)
_OPPOSITE: dict[Sign, Sign] = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_ONLY_ONE = re.compile(r"\bthe\s+(?:only|sole)\b", re.I)
_AND = re.compile(r"\s*(?:,\s*)?(?P<word>and|or|&)\s+(?:in\s+|of\s+|for\s+)?|\s*,\s*", re.I)


_OF_WHOM = re.compile(r"\s+(?:of|do|does|did|has|have|had)\s+(?:the\s+)?", re.I)
_WHOSE = re.compile(r"['’]s?\s+(?:\w+\s+)?")


def _ordinal(word: str) -> int:
    """The number of *third* or *3rd*."""
    return ORDINALS.index(word.lower()) + 1 if word.lower() in ORDINALS else int(word[:-2])


def _is_head(noun: str, label: str) -> bool:
    return label.endswith(f" {noun}")


def _with_part(query: Query, old: Part, new: Part) -> Query:
    return replace(query, part=mapped(query.part, lambda p: new if p == old else p))


@dataclass(frozen=True, eq=False)
class Operators:
    """The operators that the words of one question ask for over one graph."""

    vocabulary: Vocabulary
    executor: Executor
    text: str
    mentions: Sequence[Mention]
    edge_keys: EdgeKeys
    likeness: Likeness

    def found(self) -> list[Operator]:
        """The operators, in their order; of those that share words the first."""
        operators: list[Operator] = []
        times = Times(self.executor, self.text, self.mentions, self.edge_keys)
        own = OwnThings(self.spelling, self.text)
        numbers = (
            EdgeWords(self.executor, self.text, self.mentions, self.edge_keys).found,
            self._equals,
            own.found,
            own.neither,
            own.sums,
            self._in_order,
            self._shares,
            self._differences,
            self._days,
            self._amounts,
            self._unknown,
            FlagWords(self.executor, self.vocabulary, self.text, self.mentions).found,
            self._otherwise,
            self._last_time,
            self.to_this_day,
            self._nth,
            self._in_place,
            self._groups,
            self._averages,
            self._bounds,
        )
        finders = (
            *numbers,
            self._neither,
            self._only,
            times.found,
            self._names,
            self._lineage,
            self._kin,
            self._sexes,
        )
        for operator in (o for find in finders for o in find()):
            if not any(o.start < operator.stop and operator.start < o.stop for o in operators):
                operators.append(operator)
        return sorted(operators, key=lambda o: o.start)

    def prefers(self, ranked: Sequence[Ranked], ranking: Ranking, operators: Sequence[Operator]) -> bool:
        """Whether readings with operators are taken before those of the whole question.

        Where the likeliest of these says the words too, the likelier of both is taken, unless the words of an
        operator mean nothing else.
        """
        if not ranked or any(o.certain for o in operators):
            return bool(ranked)
        whole = ranking.ranked[:1]
        used = [m for r in whole for m in spans_of(self.mentions, mentions_of(r.option.query))]
        steps = [step for r in whole for step in steps_of(r.option.query)]
        labels = {self.vocabulary.relations[relation_of(step)] for step in steps}

        def is_said(operator: Operator) -> bool:
            behind = any(operator.start <= start < operator.stop for start, _ in used)
            behind = operator.label in labels if operator.label else behind
            return behind and (not operator.names or any(stop <= operator.start for _, stop in used))

        is_likelier = not whole or ranked[0].probability > whole[0].probability
        if any(o.weak for o in operators):
            return is_likelier
        return is_likelier or not any(map(is_said, operators))

    def rest(self, operators: Sequence[Operator]) -> tuple[str, tuple[Mention, ...], Spans]:
        """The question without the words of operators, its mentions, and spans of what is read instead.

        Those inside of an operator have no place left; a number that stands for one is a mention at the end.
        """
        text, cuts = "", [(0, 0)]
        numbers: list[Mention] = []
        said: list[tuple[int, int]] = []
        last = 0
        for o in operators:
            text += self.text[last : o.start]
            said += [(len(text), len(text) + len(o.instead))] if o.instead else []
            if o.values:
                start = len(text) + o.instead.rindex(" ") + 1
                stop = len(text) + len(o.instead)
                numbers.append(Mention(start, stop, o.instead.split()[-1], values=o.values))
            text += o.instead
            last = o.stop
            if not o.instead and (not text or text[-1] == " "):
                behind = self.text[last : last + 1]
                last += behind == " "
                text = text if behind.isalnum() or behind == " " else text.rstrip()
            cuts.append((last, len(text) - last))
        text += self.text[last:]

        def moved(mention: Mention) -> Mention:
            inside = next((o for o in operators if o.start < mention.stop and mention.start < o.stop), None)
            at = mention.start if inside is None else inside.start
            shift = next(shift for start, shift in reversed(cuts) if start <= at)
            length = mention.stop - mention.start if inside is None else 0
            strong = mention.strong and inside is None
            return replace(mention, start=at + shift, stop=at + shift + length, strong=strong)

        return text, (*map(moved, self.mentions), *numbers), tuple(said)

    def around_all(
        self, ranked: Sequence[Ranked], operators: Sequence[Operator], said: Spans
    ) -> tuple[Ranked, ...]:
        """Readings of the rest with all operators around them, less those where these cannot stand."""
        changed = ((r, self.around(r.option.query, operators)) for r in ranked[:MOST_AROUND])
        return tuple(
            replace(r, option=replace(r.option, query=replace(query, said=said), size=-1))
            for r, query in changed
            if query is not None
        )

    def around(self, query: Query, operators: Sequence[Operator]) -> Query | None:
        """A query of the rest with all operators around it, None where one of them cannot stand there."""
        try:
            for operator in operators:
                changed = operator.apply(query)
                if changed is None:
                    return None
                query = changed
        except OverBudget:
            return None
        return query

    # n-th, shares, groups

    def _nth(self) -> Iterator[Operator]:
        for match in _NTH.finditer(self.text):
            yield Operator(*match.span(), partial(self._at_rank, _ordinal(match["nth"])))
        for match in _NTH_IN_TIME.finditer(self.text):  # *the second race*, by its date
            of_time = partial(self._at_rank, _ordinal(match["nth"]), in_time=True)
            yield Operator(*match.span("first"), of_time, "the first")

    def _at_rank(self, number: int, query: Query, *, in_time: bool = False) -> Query | None:
        def nth(part: Part) -> Part:
            match part:
                case Extreme(_, (*_, step), False, largest, 1, False) if in_time:
                    is_meant = not largest and self.vocabulary.is_of_time(opposite(step))
                case Extreme(_, _, _, _, 1, False):
                    is_meant = not in_time
                case _:
                    return part
            return replace(part, number=number, nth=True) if is_meant else part

        changed = replace(query, part=mapped(query.part, nth))
        return None if changed == query else changed

    def _in_order(self) -> Iterator[Operator]:
        """*Ships, newest first*: read as *ships, the newest*, of which all are listed."""
        if _THEM.search(self.text):
            return
        for match in _IN_ORDER.finditer(self.text):
            if match["by"] and not self._is_noun(singular_noun(match["by"].split()[-1].lower())):
                continue  # *products ordered by Ann*
            superlative = match["first"] or match["from"] or f"lowest {match['by']}"
            yield Operator(*match.span(), self._all_in_order, f", the {superlative}")

    def _all_in_order(self, query: Query) -> Query | None:
        match query:
            case Query("list", Extreme(number=1, nth=False) as first, key=""):
                return replace(query, part=replace(first, number=0))
            case _:
                return None

    def _equals(self) -> Iterator[Operator]:
        """*As old as Bob*: read as *older than Bob*, and equal is put in the place of more."""
        for match in _AS_MUCH.finditer(self.text):
            what = match["what"].lower()
            if what in ("well", "far", "soon", "long", "such", "same") or not self._is_measure(what):
                continue
            yield Operator(*match.span(), self._equal, f"{comparative(what)} than")

    def _is_measure(self, word: str) -> bool:
        """Whether a word may be an adjective or a quantity: *old*, *much*."""
        return word in ("much", "many") or Lexicon.load().uses(word, ADJECTIVE) > 0

    def _equal(self, query: Query) -> Query | None:
        def equal(part: Part) -> Part:
            is_bound = isinstance(part, Compared) and not isinstance(part.value, Value | Amount)
            return replace(part, sign="=") if isinstance(part, Compared) and is_bound else part

        changed = replace(query, part=mapped(query.part, equal))
        if changed == query:
            return None
        match changed:
            case Query("list" | "count", Compared(source, _, _, Walk(Anchor() as same, _))) if not isinstance(
                source, Anchor
            ):
                return replace(changed, part=Without(changed.part, same))
            case _:
                return changed

    def _shares(self) -> Iterator[Operator]:
        for match in _SHARE.finditer(self.text):
            verb = _VERB_OF_SHARE.search(self.text, match.end())
            if verb is not None:
                yield Operator(*match.span(), partial(self._share, verb.start()), "How many")

    def _share(self, verb: int, query: Query) -> Query | None:
        """The share of what stands before the verb that is also what stands behind it."""
        if query.ask != "count":
            return None
        whole = self._said_before(query.part, verb)
        whole = self._all_like(query.part) if whole is None else whole
        return None if whole is None or whole == query.part else Query("share", query.part, whole)

    def _said_before(self, part: Part, stop: int) -> Part | None:
        """A set without the conditions that name what stands behind a place; None if nothing is left."""
        match part:
            case Both(left, right):
                kept = [side for side in map(partial(self._said_before, stop=stop), (left, right)) if side]
                return Both(kept[0], kept[1]) if len(kept) == 2 else (kept or [None])[0]
            case Compared(source, _, _, Value(number=number)):
                is_behind = any(
                    v.number == number for m in self.mentions if m.start >= stop for v in m.values
                )
                before = self._said_before(source, stop)
                return before if is_behind or before is None else replace(part, source=before)
            case Walk(source):
                return part if self._said_before(source, stop) is not None else None
            case Anchor(node):
                spans = [m.start for m in self.mentions if any(c.node == node for c in m.candidates)]
                return None if spans and min(spans) >= stop else part
            case _:
                return part

    def _all_like(self, part: Part) -> Part | None:
        """All things of the kind that a set is of."""
        match part:
            case OfType():
                return part
            case Both(_, OfType() as all_of_type) | Both(OfType() as all_of_type, _):
                return all_of_type
            case Walk(_, step) if self.vocabulary.types_reached[step] >= 0:
                return OfType(self.vocabulary.types_reached[step])
            case Walk(_, step):
                return OfType(-1, opposite(step))
            case Anchor() | Qualified():
                return None
            case Both(left, _) | Either(left, _):
                return self._all_like(left)
            case Without(left, _):
                return self._all_like(left)
            case Compared(source) | Counted(source) | Extreme(source) | Related(source):
                return self._all_like(source)

    def _groups(self) -> Iterator[Operator]:
        yield from self._counts_of_each()
        for match in _GROUP.finditer(self.text):
            before = self.text[: match.start()].split()[-1:]
            said = match[0].strip().lower()
            if any(said.startswith(per) for per in self.vocabulary.rates):
                continue  # the `price per copy`
            if match["by"] and before and is_participle(before[0].lower()):
                continue  # "owned by people" groups nothing
            if "every" in said.split() and _LISTS.match(self.text):
                continue  # *which hives were calm at every inspection*
            name = "group" if match["group"] else "subject"
            words = match[name].split()
            fewest = len(words) if match["subject"] else 1  # no verb goes with it: *did each company send*
            for length in range(len(words), fewest - 1, -1):
                noun = singular_noun(" ".join(words[:length]).lower())
                if not self._is_noun(noun):
                    continue
                stop = match.start(name) + len(" ".join(words[:length]))
                stop = kind.end() if (kind := _KIND.match(self.text, stop)) else stop  # *per fuel type*
                if match["by"] and english.SUPERLATIVE.search(self.text, 0, match.start()):
                    yield Operator(match.start(), stop, partial(self._ranked_by, noun))
                    break
                stop = match.end() if name == "subject" else stop
                is_counted = said.startswith("per") and _LISTS.match(self.text) is None
                grouped = partial(self._grouped, noun=noun, by=bool(match["by"]), is_counted=is_counted)
                yield Operator(match.start(), stop, grouped)
                break
        each = _EACH.search(self.text) if english.HOW_MANY.search(self.text) else None
        noun = "" if each is None else singular_noun(each["which"].lower())
        if each is not None and self._is_noun(noun):
            yield Operator(*each.span(), partial(self._grouped, noun=noun, by=False))
        for match in _EACH_DOES.finditer(self.text):
            words = [m.span() for m in re.finditer(r"\S+", match["which"])]
            runs = (
                (first, last)
                for first in range(len(words) - 1)
                for last in range(len(words) - 2, first - 1, -1)
            )
            for first, last in runs:
                noun = singular_noun(match["which"][words[first][0] : words[last][1]].lower())
                if self._is_noun(noun):
                    # What is no type is no subject by itself: *how many customers does each manager serve*.
                    is_type = first > 0 or noun in map(singular_noun, self.vocabulary.types)
                    whole = match.start(), match.start("which") + words[last][1]
                    yield Operator(
                        *(match.span("each") if is_type else whole),
                        partial(self._grouped, noun=noun, by=False),
                    )
                    break

    @property
    def spelling(self) -> Spelling:
        """What the words of the question spell in the schema."""
        return Spelling(self.vocabulary, self.executor, self.likeness)

    def _counts_of_each(self) -> Iterator[Operator]:
        """*How many services does each team own*: all of a type, by the one step that is said."""
        match = _MANY_OF_EACH.match(self.text) or _MANY_AT_EACH.match(self.text)
        counted = -1 if match is None else self.spelling.type_at(match.span("counted"))
        if match is None or counted < 0:
            return
        near, words = self.spelling.near(counted), list(re.finditer(r"\S+", match["which"]))
        for last in reversed(words):
            stop = match.start("which") + last.end()
            noun = singular_noun(self.text[match.start("which") : stop].lower())
            type_ = self.spelling.type_at((match.start("which"), stop))
            ways = [way for way in near if self._is_grouping(way[0], noun)]
            ways = ways or [w for w in near if type_ >= 0 and self.vocabulary.types_reached[w[0]] == type_]
            verb = (stop, match.end()) if match.re is _MANY_OF_EACH else match.span("verb")
            ways = self.spelling.said(verb, ways) if self.spelling.content(verb) else ways
            if len(ways) == 1:
                by = partial(replace, by=ways[0])
                yield Operator(*match.span(), by, f"How many {plural(self.vocabulary.types[counted])}")
                return

    def _ranked_by(self, noun: str, query: Query) -> Query | None:
        """*The smallest team by budget*: the query, if that is by what it ranks."""
        ranked = (p for p in query.contents.parts if isinstance(p, Extreme) and p.steps)
        labels = (self.vocabulary.relations[relation_of(p.steps[-1])] for p in ranked)
        return query if any(noun in nouns_of(label) for label in labels) else None

    def _is_noun(self, noun: str) -> bool:
        """Whether a noun is what some type or relation of the graph is called, or a period of its dates."""
        return (
            noun in PERIODS
            or noun in self.vocabulary.nouns
            or any(map(partial(_is_head, noun), self.vocabulary.nouns))
        )

    def _grouped(self, query: Query, noun: str, *, by: bool, is_counted: bool = False) -> Query | None:
        if is_counted and query.ask == "list":
            query = replace(query, ask="count")  # *loans per courier*
        if any(isinstance(p, Extreme) for p in query.contents.parts):
            return None  # the oldest of all is not the oldest of each
        if (by and query.ask == "list") or query.ask in ("yes", "every", "share", "difference"):
            return None
        if query.by or query.key:
            return None
        part = query.part
        if query.ask in ("sum", "average", "largest", "smallest"):
            if not isinstance(part, Walk):
                return None
            part = part.source
        members = self.executor.members(part)
        steps = sorted(self.executor.steps(members))
        direct = [(step,) for step in steps if self._is_grouping(step, noun)]
        if not direct and noun in PERIODS:
            dates = [
                step for step in steps if not is_backward(step) and self.vocabulary.is_of_time(opposite(step))
            ]
            said = [step for step in dates if self._is_said(step)] or dates
            return replace(query, by=(said[0],), period=noun) if len(said) == 1 else None
        if not direct:
            direct = [(step,) for step in steps if self._has_head(step, noun)]
            direct = direct if len(direct) == 1 else []
        if not direct:
            # *Bids per sale*, by the lots that they are for.
            direct = [
                (step, further)
                for step in steps
                if not is_backward(step)
                for further in sorted(self.executor.steps(self.executor.edges(members, step)[1]))
                if not is_backward(further) and self._is_grouping(further, noun)
            ]
            direct = direct if len(direct) == 1 else []
        said = set(steps_of(query))
        direct = [by for by in direct if by[0] in said or opposite(by[0]) in said] or direct
        return replace(query, by=direct[0]) if len(direct) == 1 else None

    def _is_said(self, step: Step) -> bool:
        """Whether a word of the text is one of the label of a step: *joined* of `joined on`."""
        stem = Lexicon.load().stem
        words = set(map(stem, self.vocabulary.relations[relation_of(step)].split())) - english.FUNCTION
        return any(stem(token.norm) in words for token in tokens(self.text))

    def _is_grouping(self, step: Step, noun: str) -> bool:
        """Whether a noun is what a step leads to: its type, or its relation from the head."""
        type_ = self.vocabulary.types_reached[step]
        if type_ >= 0 and singular_noun(self.vocabulary.types[type_]) == noun:
            return True
        return not is_backward(step) and noun in nouns_of(self.vocabulary.relations[relation_of(step)])

    def _has_head(self, step: Step, noun: str) -> bool:
        """Whether a noun is the last of what the relation of a step is called: *type* of `wagon type`."""
        labels = nouns_of(self.vocabulary.relations[relation_of(step)])
        return not is_backward(step) and any(_is_head(noun, label) for label in labels)

    # two things

    def _differences(self) -> Iterator[Operator]:
        """*How much older is Ann than Bob*: of Ann, less that of Bob."""
        by = _BY_HOW_MUCH.search(self.text)
        compared = _THAN.search(self.text, by.end()) if by is not None else None
        matches = [compared] if compared is not None else _MORE.finditer(self.text)
        for match in matches:
            than = re.compile(r"\s+(?:than|and)\s+(?:that\s+of\s+|the\s+\w+\s+of\s+)?(?:the\s+)?", re.I)
            named = [m for m in self.mentions if m.candidates and m.start > match.end()]
            for mention in named:
                before = than.search(self.text, match.end(), mention.start)
                if before is None or before.end() != mention.start:
                    continue
                word = (match["more"] or "").lower()
                asking = by if by is not None and compared is not None else match
                if word:
                    yield Operator(*asking.span(), as_it_is, self._how(word))
                if asking is not match:
                    yield Operator(match.start() - 1, match.end(), as_it_is)
                unit = (asking["unit"] or "").lower()
                yield Operator(before.start(), mention.stop, partial(self._difference, mention, word, unit))
                break

    def _how(self, word: str) -> str:
        """*How old* of *older*, *how much* of *more* or *less*."""
        lemmas = (*Lexicon.load().lemmas(word), word.removesuffix("er"))
        base = next((lemma for lemma in lemmas if comparative(lemma) == word), "")
        return f"How {base}" if base and word not in ("more", "less") else "How much"

    def _difference(self, mention: Mention, word: str, unit: str, query: Query) -> Query | None:
        pair = self._of_another(query.part, mention)
        if pair is None or query.ask not in ("list", "count", "sum"):
            return None
        first, second = pair
        if unit in UNITS and isinstance(first, Walk):
            own = self.vocabulary.unit_of(relation_of(first.step))
            if own and UNITS[own] != UNITS[unit]:
                return None  # centimetres of what is in metres
        if query.ask == "list" and (
            not isinstance(first, Walk) or self.vocabulary.kinds_reached[first.step] != NUMBER
        ):
            return None
        if query.ask == "sum" and not isinstance(first, Walk):
            return None
        # Of years the earlier one is older.
        is_time = isinstance(first, Walk) and self.vocabulary.is_of_time(opposite(first.step))
        is_less = word in EARLIER if is_time else word in _LESS
        first, second = (second, first) if is_less else (first, second)
        return Query("difference", first, second)

    def _of_another(
        self, part: Part, mention: Mention, first: Mention | None = None
    ) -> tuple[Part, Part] | None:
        """A part of one entity (that of a mention), and the same of another; None where that is not told."""
        entities = Query("list", part).contents.entities
        anchors = [a for a in entities if a.mention >= 0 and first in (None, self.mentions[a.mention])]
        nodes = list(dict.fromkeys(a.node for a in anchors))
        other = self._node_like(mention, nodes[0]) if len(nodes) == 1 else None
        if other is None:
            return None
        changed = with_entity(part, nodes[0], other)
        index = self.mentions.index(mention)
        return part, mapped(
            changed, lambda p: replace(p, mention=index) if isinstance(p, Anchor) and p.node == other else p
        )

    def _node_like(self, mention: Mention, node: int) -> int | None:
        """The node that a name stands for beside another: of its type, where one is."""
        types = set(self.vocabulary.types_of(node).tolist())
        alike = [c.node for c in mention.candidates if types & set(self.vocabulary.types_of(c.node).tolist())]
        nodes = alike or [c.node for c in mention.candidates]
        return next((n for n in nodes if n != node), None)

    def _names(self) -> Iterator[Operator]:
        """*Ann, Bob and Cid*: what is asked of the first is asked of all."""
        named = sorted((m for m in self.mentions if m.candidates), key=lambda m: (m.start, -m.stop))
        runs: list[list[Mention]] = []
        words: list[str] = []
        for left, right in pairwise(named):
            between = _AND.fullmatch(self.text, left.stop, right.start) if left.stop <= right.start else None
            if between is None:
                continue
            if runs and runs[-1][-1] == left:
                runs[-1].append(right)
                words[-1] = between["word"] or words[-1]
            elif not re.search(r"\bbetween\W*$", self.text[: left.start], re.I):
                runs.append([left, right])
                words.append(between["word"] or "")
        for run, word in zip(runs, words, strict=True):
            if word.lower() in ("and", "&"):
                yield Operator(
                    run[0].stop,
                    run[-1].stop,
                    lambda query, run=run: self._of_all(query, run),
                    certain=False,
                    names=True,
                )

    def _of_all(self, query: Query, names: Sequence[Mention]) -> Query | None:
        """What is asked of the first name, asked of all: what they share, else what each has."""
        if query.ask not in ("yes", "every") and english.YES_NO.search(self.text):
            return None
        match query:
            case Query("yes", Both(Walk(Anchor() as a, step), Anchor() as b)):
                inside = a.mention >= 0 and self.mentions[a.mention] == names[0]
                one, rest = (a, Walk(b, opposite(step))) if inside else (b, Walk(a, step))
                others = [(self._node_like(m, one.node), self.mentions.index(m)) for m in names[1:]]
                if any(node is None for node, _ in others):
                    return None
                anchors = [one, *(Anchor(node, place) for node, place in others if node is not None)]
                return Query("every", reduce(Either, anchors), rest)
            case _:
                pass
        pairs = [self._of_another(query.part, mention, names[0]) for mention in names[1:]]
        parts = [query.part, *(pair[1] for pair in pairs if pair is not None)]
        if len(parts) < len(names) or query.ask == "yes":
            return None
        if not all(len(self.executor.members(inner)) for part in parts for inner in parts_of(part)):
            return None  # of one of them it is not recorded
        if len(self.executor.members(reduce(Both, parts))):
            return replace(query, part=reduce(Both, parts))
        walks = [part for part in parts if isinstance(part, Walk)]
        if query.ask not in ("list", "count") and len(walks) == len(parts):
            return replace(query, part=Walk(reduce(Either, [w.source for w in walks]), walks[0].step))
        return replace(query, part=reduce(Either, parts))

    # amounts and bounds

    def _amounts(self) -> Iterator[Operator]:
        """*How many kilos did we sell in May*: read as *which sales*, of which the one weight is added up."""
        match = _HOW_MANY_UNITS.match(self.text)
        unit = UNITS.get(match["unit"].lower()) if match is not None else None
        if match is None or unit is None:
            return
        measured = [
            r for r in range(len(self.vocabulary.relations)) if UNITS.get(self.vocabulary.unit_of(r)) == unit
        ]
        type_ = self.vocabulary.end_types[head_end(measured[0])] if len(measured) == 1 else -1
        if type_ >= 0:
            step, rows = forward(measured[0]), plural(self.vocabulary.types[type_])
            label = self.vocabulary.relations[measured[0]]
            apply = partial(self._amount, step=step, type_=type_)
            yield Operator(*match.span(), apply, f"Which {rows}", certain=False, label=label)

    def _amount(self, query: Query, step: Step, type_: int) -> Query | None:
        """The sum over a set of one type."""
        is_set = query.ask == "list" and not query.key and not isinstance(query.part, Anchor)
        if not is_set or final_type(query.part, self.vocabulary) != type_:
            return None
        return Query("sum", Walk(query.part, step))

    def _days(self) -> Iterator[Operator]:
        """*How many days did the job take*: between the two dates of it, or those that are named."""
        match = _HOW_MANY_DAYS.search(self.text)
        if match is not None:
            yield Operator(*match.span(), self._between_dates, "When")
            if take := _TAKE.search(self.text, match.end()):
                yield Operator(*take.span(), as_it_is)

    def _between_dates(self, query: Query) -> Query | None:
        match query:
            case Query("list", Walk(Anchor() as thing, step), key="") if not is_backward(step):
                dated = [
                    s for s in sorted(self.executor.steps(self.executor.members(thing))) if self._is_day(s)
                ]
            case _:
                return None
        said = [s for s in dated if self._is_named(s)]
        days = said if len(said) == 2 else dated
        if len(days) != 2 or step not in days:
            return None
        first, second = (Walk(thing, s) for s in days)
        found = Query("difference", first, second)
        number = self.executor.number(found)
        return Query("difference", second, first) if number is not None and number < 0 else found

    def _is_day(self, step: Step) -> bool:
        return not is_backward(step) and self.vocabulary.kinds_reached[step] == DATE

    def _is_named(self, step: Step) -> bool:
        """Whether the question has a word of the name of a relation: *from opening to closing*."""
        lexicon = Lexicon.load()
        stems = {lexicon.stem(token.norm) for token in tokens(self.text)}
        return any(
            lexicon.stem(word) in stems for word in self.vocabulary.relations[relation_of(step)].split()
        )

    def _unknown(self) -> Iterator[Operator]:
        """*Wagons of unknown age*, *whose age is not known*: without one."""
        for match in _UNKNOWN.finditer(self.text):
            if match["whose"] is None:
                yield Operator(*match.span(), as_it_is, "without a ")
                continue
            yield Operator(*match.span("whose"), as_it_is, "without a")
            yield Operator(match.start("is") - 1, match.end("is"), as_it_is)

    def _otherwise(self) -> Iterator[Operator]:
        """*Who has worked here the longest*, *at least one*: what is read as it is said more often."""
        for match in _HERE_LONGEST.finditer(self.text):
            has = "has" if match[0][0].isalpha() else " has"  # *who's*
            yield Operator(*match.span(), self._of_workers, f"{has} been here the {match['end']}")
        for match in _SOME.finditer(self.text):  # any
            yield Operator(*match.span(), as_it_is, "a")
        for match in _ONE.finditer(self.text):  # *which hut is the oldest one*
            yield Operator(*match.span(), as_it_is)
        for match in _LESS_NONE.finditer(self.text):
            yield Operator(*match.span(), lambda query: query if query.by else None)
        for match in _START_HERE.finditer(self.text):
            yield Operator(*match.span("doing"), as_it_is)

    def _of_workers(self, query: Query) -> Query | None:
        """A query of people: what they do here is their work, and an animal has none."""
        type_ = final_type(query.part, self.vocabulary)
        noun = singular_noun(self.vocabulary.types[type_]).split()[-1] if type_ >= 0 else ""
        kinds = Lexicon.load().classes(noun)
        return query if kinds.get("person", 0.0) + kinds.get("group", 0.0) > 0.5 else None

    def _last_time(self) -> Iterator[Operator]:
        """*When was it last serviced*: the latest of the dates of its services."""
        match = _WHEN_LAST.match(self.text)
        word = "" if match is None else match["word"].strip().lower()
        if match is not None and not any(word in label.split() for label in self.vocabulary.relations):
            yield Operator(*match.span("word"), partial(self._latest, latest=bool(match["last"])))

    def _latest(self, query: Query, latest: bool) -> Query | None:
        part = query.part
        is_time = isinstance(part, Walk) and self.vocabulary.is_of_time(opposite(part.step))
        if query.ask != "list" or not is_time:
            return None
        return replace(query, part=Extreme(part, (), False, latest))

    def to_this_day(self) -> Iterator[Operator]:
        """*Who plays in Low Tide now*: by rows and edges that have no end, where such may have one."""
        match = _CURRENT.search(self.text)
        if match is not None and not any("current" in label.split() for label in self.vocabulary.relations):
            ends = self._ends_of_rows()
            if ends or self.edge_keys.of_relations:
                yield Operator(*match.span(), partial(self._still, ends, must=bool(match["state"])))
            elif match["aside"]:
                yield Operator(*match.span(), as_it_is)

    def _ends_of_rows(self) -> dict[int, Step]:
        """By declared types, the relation that says until when what it is of was so."""
        vocabulary, ends = self.vocabulary, dict[int, Step]()
        for relation, label in enumerate(vocabulary.relations):
            type_ = vocabulary.end_types[head_end(relation)]
            is_end = vocabulary.is_of_time(tail_end(relation)) and not ENDS.isdisjoint(label.split())
            if is_end and type_ >= 0:
                ends[type_] = forward(relation)
        return ends

    def _still(self, ends: Mapping[int, Step], query: Query, must: bool) -> Query | None:
        """What a query asks of rows and edges that have no end; others hold as they are recorded.

        None where edges that end are counted, or there are only such others and a state is said (`must`).
        """

        def open_rows(part: Part) -> Part:
            end = None if isinstance(part, Anchor) else ends.get(final_type(part, self.vocabulary))
            return part if end is None else Counted(part, end, "=", 0)

        def still(part: Part) -> Part:
            is_end = isinstance(part, Walk) and part.step in ends.values()
            return (
                replace(part, source=open_rows(part.source))
                if isinstance(part, Walk) and not is_end
                else part
            )

        found = replace(query, part=open_rows(mapped(query.part, still)))
        times = Times(self.executor, self.text, self.mentions, self.edge_keys)
        found = times.now(found) or found
        dated = (self.edge_keys.dated(relation_of(step)) for step in steps_of(query))
        return None if found == query and (must or any(end for _, end, _ in dated)) else found

    def _in_place(self) -> Iterator[Operator]:
        """*Who came third*: of rows, or by edges, that record which place."""
        match = _IN_PLACE.search(self.text)
        came = None if match is None else _CAME.search(self.text, 0, match.start())
        if match is None or (came is None and match["the"] and not match["noun"]):
            return
        number = _ordinal(match["nth"])
        if number == 1 and not match["noun"] and came is None:
            return  # the earliest
        start, instead = (match.start(), "") if came is None else (came.start(), "was")
        yield Operator(start, match.end(), partial(self._at_place, Value(number)), instead)

    def _at_place(self, place: Value, query: Query) -> Query | None:
        keys = sorted(
            key for key in self.edge_keys.kinds if _PLACES.intersection(words_of_label(key).split())
        )
        for key in keys:
            conditions = (OnEdge(key, "=", place),)
            over = self.edge_keys.over(
                self.executor,
                query,
                lambda step, key=key, of=conditions: of if self.edge_keys.has(step, key) else (),
            )
            if over is not None:
                return over
        relations = {
            self.vocabulary.end_types[head_end(r)]: forward(r)
            for r, label in enumerate(self.vocabulary.relations)
            if _PLACES.intersection(label.split()) and self.vocabulary.ends[tail_end(r)] == NUMBER
        }

        def at_place(part: Part) -> Part:
            step = None if isinstance(part, Anchor) else relations.get(final_type(part, self.vocabulary))
            return part if step is None else Compared(part, (step,), "=", place)

        def of_rows(part: Part) -> Part:
            return replace(part, source=at_place(part.source)) if isinstance(part, Walk) else part

        changed = replace(query, part=mapped(query.part, of_rows))
        return None if changed == query else changed

    def _averages(self) -> Iterator[Operator]:
        """*More than average*: read as more than some number, in whose place the average is put."""
        for match in _AVERAGE.finditer(self.text):
            stop = match.end()
            if match["noun"] and not self._is_noun(singular_noun(match["noun"].strip().lower())):
                stop = match.start("noun")
            number = self._middle()
            if number is not None:
                instead = f"{match['than']} {number:g}"
                if len(instead) <= stop - match.start():
                    yield Operator(match.start(), stop, self._than_average, instead, values=(Value(number),))

    def _middle(self) -> float | None:
        """A number between the least and the most of the values that the words of the question may mean."""
        schema = self.vocabulary.schema
        words = {singular_noun(w) for w in re.findall(r"\w+", self.text.lower())}
        ends = [e for e in range(1, len(self.vocabulary.ends), 2) if self.vocabulary.ends[e] == NUMBER]
        named = [e for e in ends if words & set(self.vocabulary.relations[relation_of(e)].split())] or ends
        return round(float(schema.low[named[0]] + schema.high[named[0]]) / 2) if named else None

    def _than_average(self, query: Query) -> Query | None:
        def averaged(part: Part) -> Part:
            if not isinstance(part, Compared) or not isinstance(part.value, Value) or len(part.steps) != 1:
                return part
            whole = self._all_like(part.source)
            if whole is None or part.sign == "=":
                return part
            return replace(part, value=Amount("average", Walk(whole, part.steps[0])))

        changed = replace(query, part=mapped(query.part, averaged))
        return None if changed == query else changed

    def _bounds(self) -> Iterator[Operator]:
        """*More than Bob but less than Ann*: a second bound, on the other side."""
        for match in _BOUND.finditer(self.text):
            named = [m for m in self.mentions if m.candidates and m.start == match.end()]
            if named:
                mention = max(named, key=lambda m: m.stop)
                yield Operator(
                    match.start(), mention.stop, lambda query, mention=mention: self._bounded(query, mention)
                )

    def _bounded(self, query: Query, mention: Mention) -> Query | None:
        def bounded(part: Part) -> Part:
            match part:
                case Compared(_, _, (">" | "<" | ">=" | "<=") as sign, Walk(Anchor(node, _), step)):
                    other = self._node_like(mention, node)
                    if other is None:
                        return part
                    value = Walk(Anchor(other, self.mentions.index(mention)), step)
                    return Compared(part, part.steps, _OPPOSITE[sign], value)
                case _:
                    return part

        changed = replace(query, part=mapped(query.part, bounded))
        return None if changed == query else changed

    def _neither(self) -> Iterator[Operator]:
        """*In neither Oslo nor Turku*: all less what is in one of both."""
        neither = _NEITHER.search(self.text)
        nor = None if neither is None else _NOR.search(self.text, neither.end())
        if neither is None or nor is None:
            return
        named = sorted((m for m in self.mentions if m.candidates), key=lambda m: m.start - m.stop)
        left = next((m for m in named if m.stop == nor.start()), None)
        right = next((m for m in named if m.start == nor.end()), None)
        if left is not None and right is not None:
            yield Operator(*neither.span(), as_it_is)
            yield Operator(nor.start(), right.stop, lambda query: self._of_neither(query, left, right))

    def _of_neither(self, query: Query, left: Mention, right: Mention) -> Query | None:
        pair = self._of_another(query.part, right, left)
        whole = self._all_like(query.part)
        if pair is None or whole is None or query.ask not in ("list", "count"):
            return None
        return replace(query, part=Without(whole, Either(*pair)))

    # only

    def _only(self) -> Iterator[Operator]:
        one = _ONLY_ONE.search(self.text)
        if one is not None and not re.match(r"\s+(?:\w+\s+)?\w+est\b", self.text[one.end() :]):
            yield Operator(*one.span(), self._only_one, "the")
        # Said twice it is no more: *Oslo only, and no other town*.
        for number, match in enumerate(english.ONLY.finditer(self.text) if one is None else ()):
            yield Operator(*match.span(), as_it_is if number else self._only_related)

    def _only_one(self, query: Query) -> Query | None:
        match query:
            case Query("yes", Both(Walk(Anchor() as a, step), Anchor() as b)) if a.node != b.node:
                told = [self._place(a), self._place(b)]
                subject, whole = (b, Walk(a, step)) if told[1] < told[0] else (a, Walk(b, opposite(step)))
                return Query("every", whole, subject)
            case _:
                return None

    def _only_related(self, query: Query) -> Query | None:
        match query:
            case Query("list" | "count", Walk(Anchor() as targets, step)):
                return replace(query, part=Related(query.part, opposite(step), "only", targets))
            case Query("yes", Both(Walk(Anchor() as a, step), Anchor() as b)):
                is_turned = self._place(b) < self._place(a)
                first, other, way = (b, a, opposite(step)) if is_turned else (a, b, step)
                return Query("every", Walk(first, way), other)
            case _:
                return None

    def _place(self, anchor: Anchor) -> int:
        return self.mentions[anchor.mention].start if anchor.mention >= 0 else len(self.text)

    # kin

    def _lineage(self) -> Iterator[Operator]:
        """*Bob's parents* and children, where mothers and fathers are recorded: read as *Bob's mother*."""
        named = [m for m in self.mentions if m.candidates]
        for token in tokens(self.text):
            if any(m.start < token.stop and token.start < m.stop for m in named):
                continue
            told = lineage(self.vocabulary, token.norm)
            if told is not None and told.is_up:
                label = self.vocabulary.relations[told.relations[0]]
                yield Operator(token.start, token.stop, partial(self._elders, told), label)
            elif told is not None and (elder := self._elder(token)) is not None:
                word = self.text[token.start : token.stop]
                yield Operator(token.start, token.stop, partial(self._children, told, elder), word)

    def _elder(self, token: Token) -> Mention | None:
        """Whose children a word means: *children of Ann*, *Ann's children*, *children does Ann have*."""
        named = (m for m in self.mentions if m.candidates)
        return next(
            (
                m
                for m in named
                if _OF_WHOM.fullmatch(self.text, token.stop, max(token.stop, m.start))
                or _WHOSE.fullmatch(self.text, m.stop, max(m.stop, token.start))
            ),
            None,
        )

    def _elders(self, of: Lineage, query: Query) -> Query | None:
        """The query with all that a kin term leads to in the place of mothers."""
        walk = self._only_walk(query, of.relations[:1])
        return (
            None
            if walk is None
            else _with_part(query, walk, of.walked(walk.source, back=is_backward(walk.step)))
        )

    def _children(self, of: Lineage, elder: Mention, query: Query) -> Query | None:
        """The query with the children of an elder in the place of a mother's or a father's, or of these."""
        walk = self._only_walk(query, of.relations)
        if walk is None or not isinstance(walk.source, Anchor) or walk.source.mention < 0:
            return None
        is_elder = self.mentions[walk.source.mention] == elder
        return _with_part(query, walk, of.walked(walk.source, back=not is_elder))

    def _only_walk(self, query: Query, relations: Sequence[int]) -> Walk | None:
        """The only step of a query over some relations."""
        steps = [step for step in steps_of(query) if relation_of(step) in relations]
        walks = [p for p in query.contents.parts if isinstance(p, Walk) and p.step in steps]
        return walks[0] if len(steps) == len(walks) == 1 else None

    def _kin(self) -> Iterator[Operator]:
        """*The mother of Bob*, where `parent` is recorded and who is female: read as *the parent of Bob*."""
        named = [m for m in self.mentions if m.candidates]
        told: list[tuple[Token, str, str]] = []
        for token in tokens(self.text):
            if kin_terms(token.norm) and not any(
                m.start < token.stop and token.start < m.stop for m in named
            ):
                labels = {label: naming(token.norm, label) for label in self.vocabulary.relations}
                broader = [label for label, how in labels.items() if how == "broader"]
                if broader and "named" not in labels.values():
                    told.append((token, broader[0], sex_of(token.norm)))
        if {sex for _, _, sex in told} == {"female", "male"}:
            return  # mum and dad are both
        for token, label, sex in told:
            recorded = recorded_sex(self.vocabulary, sex) if sex else None
            if recorded is not None:
                word = broader_word(token.norm, label)[0]
                word = plural(word) if singular_noun(token.norm) != token.norm else word
                of_sex = Walk(Anchor(recorded[1]), backward(recorded[0]))
                apply = partial(self._of_sex, word=token.norm, of_sex=of_sex)
                yield Operator(token.start, token.stop, apply, word)

    def _sexes(self) -> Iterator[Operator]:
        """*Which women work in Oslo*: people of whom the graph records that they are women."""
        named = [m for m in self.mentions if m.candidates and m.strong]
        words = tokens(self.text)
        for token, after in zip(words, [*words[1:], None], strict=False):
            sex = sex_said(token.norm)
            recorded = recorded_sex(self.vocabulary, sex) if sex else None
            if recorded is None or any(m.start < token.stop and token.start < m.stop for m in named):
                continue
            of_sex = Walk(Anchor(recorded[1]), backward(recorded[0]))
            is_noun = after is None or not self._is_noun(singular_noun(after.norm))
            person = "people" if plural(singular_noun(token.norm)) == token.norm else "person"
            instead = person if is_noun else ""
            apply = partial(self._all_of_sex, of_sex=of_sex)
            yield Operator(token.start, token.stop, apply, instead, certain=False)

    def _all_of_sex(self, query: Query, of_sex: Walk) -> Query | None:
        """The query with those of its members that are of one sex; None if it is recorded of none."""
        members = self.executor.members(query.part)
        recorded = len(self.executor.edges(members, opposite(of_sex.step))[1])
        return replace(query, part=Both(query.part, of_sex)) if recorded and query.ask != "yes" else None

    def _of_sex(self, query: Query, word: str, of_sex: Walk) -> Query | None:
        """The query with those of one sex alone at the end of its one step that is broader than a word."""
        walks = [p for p in query.contents.parts if isinstance(p, Walk) and self._is_broader(p, word)]
        match query:
            case Query("yes", Both(Walk(Anchor() as start) as walk, Anchor() as end)) if walks == [walk]:
                told = end if self._leads_to(walk, word) else start
                if not len(self.executor.members(Walk(told, opposite(of_sex.step)))):
                    return None
                if told is end:
                    return replace(query, part=Both(query.part, of_sex))
                return replace(query, part=Both(replace(walk, source=Both(start, of_sex)), end))
            case _:
                leading = [walk for walk in walks if self._leads_to(walk, word)]
                if len(leading) != 1:
                    return None
                return replace(
                    query, part=mapped(query.part, lambda p: Both(p, of_sex) if p == leading[0] else p)
                )

    def _is_broader(self, walk: Walk, word: str) -> bool:
        return naming(word, self.vocabulary.relations[relation_of(walk.step)]) == "broader"

    def _leads_to(self, walk: Walk, word: str) -> bool:
        """Whether a step leads to those that a kin term is said of, by what the name of its relation is."""
        label = self.vocabulary.relations[relation_of(walk.step)]
        name = name_of(label)
        at_tail = name is None or name.kind != "noun of"
        return broader_word(word, label)[1] == (at_tail != is_backward(walk.step))
