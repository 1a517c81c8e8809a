"""What words of a question tell against a candidate: comparisons that it does not make, names it leaves out.

*after 2000*, *20 minutes or less*, *later than X*; *won an Oscar* where no name of the graph is like Oscar;
*not*.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clew.foundation.arrays import Float32
from clew.graph.steps import End, Step, is_backward, is_tail, opposite, relation_of, tail_end
from clew.graph.values import FIRST_YEAR, LAST_YEAR, UNITS
from clew.query.tree import (
    Amount,
    Anchor,
    Ask,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Part,
    Qualified,
    Query,
    Related,
    Sign,
    Value,
    Walk,
    Without,
    contents_of,
    mapped,
    mentions_of,
)
from clew.query.vocabulary import DATE, NUMBER, THING, UNEXPLAINED, Vocabulary, measure_of
from clew.reading import english
from clew.reading.candidates import Option
from clew.reading.comparisons import (
    EARLIER,
    FEWER,
    LATER,
    bound_before,
    bounds_between,
    is_comparative,
    sign_beside,
    than_words,
)
from clew.reading.denial import denials, denies, excepted, excepts
from clew.reading.likeness import Likeness, content_share
from clew.reading.mentions import Mention, spans_of
from clew.text.inflection import singular, singular_noun
from clew.text.lexicon import Lexicon

_SMALLEST = (
    "shortest|smallest|lowest|lightest|cheapest|narrowest|thinnest|softest|shallowest|slimmest|coldest"
    "|quietest|briefest|weakest|coolest|fewest|least expensive"
)
_BIGGEST = (
    "longest|largest|biggest|greatest|tallest|highest|heaviest|widest|deepest|dearest|warmest|hottest|strongest"
    "|loudest|thickest|hardest|brightest|most expensive"
)
_NO_LIFE = r"(?![-\s](?:serving|running|standing|lived))"
"""Not before what makes it a length of time: *the longest-serving mayor*."""
_SIZES = re.compile(rf"\b({_SMALLEST}|{_BIGGEST}|fastest|slowest)\b{_NO_LIFE}", re.I)
"""Superlatives of a size, which no date has."""
MEASURED_IN = {
    **dict.fromkeys("tallest widest narrowest deepest shallowest thickest thinnest".split(), "length"),
    **dict.fromkeys(("heaviest", "lightest"), "mass"),
}
"""What superlatives are measured in."""
_LEAST = re.compile(
    rf"\b(?:{_SMALLEST}|(?:shorter|smaller|lower|lighter|cheaper|narrower|less|fewer)(?!\s+than))\b", re.I
)
"""Superlatives of the smallest number, whatever it is of."""
_GREATEST = re.compile(rf"\b(?:{_BIGGEST})\b{_NO_LIFE}", re.I)
"""Superlatives of the largest number, whatever it is of, but for places: the first is the highest."""
_RANKS = frozenset("rank ranks ranking ranked position place placing seed grade tier level".split())
_AGES = frozenset("age ages old year years".split())
_OF_AGE = frozenset("older younger elder newer".split())
_ENDS_OF_TIME = re.compile(
    r"\b(?:(?P<early>oldest|earliest|eldest|(?:older|elder|earlier)(?!\s+than))"
    r"|(?P<late>youngest|newest|latest|most recent(?:ly)?|(?:younger|newer|later|more recent)(?!\s+than)))\b",
    re.I,
)
"""Ends of time; *older* of two is the oldest."""
_LONGEST_SINCE = re.compile(
    r"\b(?:longest|shortest)[-\s](?:serving|running|standing|established|lasting|employed)\b"
    r"|\bbeen\b[^?]*\b(?:longest|shortest)\b",
    re.I,
)
"""What has been something for the longest began first."""
_OLDEST = re.compile(r"\b(?:oldest|eldest|youngest|newest)\b", re.I)
"""Ends of time that no time of the day has."""
_LATER = frozenset(
    "last latest inspected inspection serviced service checked check reviewed updated due expires expiry end"
    " ended closed sold died death renewed renewal".split()
)
"""Words of labels of what comes later in a life: by none of these is anything the oldest or the newest."""
_JOINED = frozenset(
    "joined join joining hired hire appointed admitted enrolled registered signed since".split()
)
"""And of what makes one the newest, and not the youngest."""
_NEW = re.compile(r"\bnewest\b", re.I)
_FASTEST = re.compile(r"\b(?:(?P<fast>fastest|quickest|swiftest)|slowest)\b", re.I)
_SPEEDS = frozenset("speed speeds velocity pace rate kmh kph mph knots kn mbps gbps".split())
_TIMES = frozenset("time times duration second seconds minute minutes min mins hour hours ms laptime".split())
"""Words of labels by which the fastest has the most, and the least."""
_COMMONEST = re.compile(
    r"\bmost\s+(?:common|frequent|popular|widespread|used|often)\b|\b(?:commonest|most\s+of)\b", re.I
)


_LARGEST = re.compile(rf"{_SIZES.pattern}\s+(?P<noun>\w+)", re.I)
"""What a superlative of a size is said of."""
_COUNTS = re.compile(r"\b(?:most|fewest|least|many|number|count)\b", re.I)
"""Words of a ranking by how many; *the largest grant* is ranked by a value."""


_OF_ALL = frozenset[Ask](("largest", "smallest"))
"""What queries ask for that is the end of all values."""


def ranking_of(query: Query) -> Extreme | None:
    """The ranking by which a query answers: its last part, what that leads from, or the end of all values."""
    match query.part:
        case Extreme() as ranked:
            return ranked
        case Walk(Extreme() as ranked, _) if query.ask == "list":
            return ranked
        case Walk(source, step) if query.ask in _OF_ALL:
            return Extreme(source, (step,), False, query.ask == "largest")
        case _:
            return None


def amounts_asked_for(vocabulary: Vocabulary, question: str) -> frozenset[int]:
    """The relations to numbers that a question asks for the amount of, and not how many have one.

    *How many minutes of delay* of `delay min`, *how many passengers* where that is a number.
    """
    match = english.HOW_MANY_OF.search(question)
    word = match[1].lower() if match else ""
    noun = singular(word)
    if not word or noun in map(singular, vocabulary.types):
        return frozenset()
    unit = UNITS.get(noun) or UNITS.get(word)
    return frozenset(
        relation
        for relation, label in enumerate(vocabulary.relations)
        if vocabulary.ends[tail_end(relation)] == NUMBER
        and (singular(label) == noun or (unit is not None and UNITS.get(measure_of(label)[1]) == unit))
    )


class Superlatives:
    """The superlatives of one question."""

    def __init__(self, vocabulary: Vocabulary, question: str) -> None:
        self.vocabulary = vocabulary
        since, fastest = _LONGEST_SINCE.search(question), _FASTEST.search(question)
        self.since = None if since is None else "shortest" in since[0].lower()
        self.sizes = bool(_SIZES.search(question)) and since is None
        larger_sizes = [m for m in _SIZES.finditer(question) if not _LEAST.fullmatch(m[0])]
        self.least = bool(_LEAST.search(question)) and since is None and not larger_sizes
        self.greatest = bool(_GREATEST.search(question)) and since is None and not _LEAST.search(question)
        self.ends_of_time = tuple({bool(m["late"]) for m in _ENDS_OF_TIME.finditer(question)})
        self.oldest = bool(_OLDEST.search(question))
        self.later = _LATER if _NEW.search(question) else _LATER | _JOINED
        self.fastest = None if fastest is None else bool(fastest["fast"])
        self.commonest = bool(_COMMONEST.search(question))
        self.largest = {singular_noun(m["noun"].lower()) for m in _LARGEST.finditer(question)}
        self.counts = bool(_COUNTS.search(question))

    def against(self, part: Extreme) -> float:
        """The logarithm of what is left of the odds of a ranking by a value, or by a count."""
        if part.counted:
            if not self.sizes or self.counts:
                return 0.0
            return math.log(IGNORED if self._is_what_is_largest(part.steps[-1]) else UNSAID)
        end, label = opposite(part.steps[-1]), self.vocabulary.relations[relation_of(part.steps[-1])].split()
        log_odds = math.log(UNSAID) if self.commonest else 0.0
        if self.fastest is not None:
            most, least = not _SPEEDS.isdisjoint(label), not _TIMES.isdisjoint(label)
            log_odds += math.log(TURNED) if most != least and (part.largest == self.fastest) != most else 0.0
        if self.oldest and self._is_of_the_clock(end):
            return log_odds + math.log(IGNORED)
        if self.oldest and self.since is None and not self.later.isdisjoint(label):
            log_odds += math.log(UNSAID)
        if self.vocabulary.is_of_time(end):
            log_odds += math.log(TURNED) if self.since == (not part.largest) else 0.0
            log_odds += math.log(IGNORED) if self.sizes else 0.0
            log_odds += math.log(TURNED) if self.ends_of_time == (not part.largest,) else 0.0
        elif self.least if part.largest else (self.greatest and _RANKS.isdisjoint(label)):
            log_odds += math.log(TURNED)
        elif self.ends_of_time and _AGES.isdisjoint(label):
            log_odds += math.log(UNSAID)
        elif self.ends_of_time == (part.largest,):
            log_odds += math.log(TURNED)  # the oldest is of the largest age
        return log_odds

    def put_right(self, options: Sequence[Option], scores: Float32) -> None:
        """Give the score of a wrong ranking to the right one, where a word tells which.

        *The older of two* is not the other end, *the runtime of the newest film* not the longest runtime.
        `scores` float32 [n + 1] are changed.
        """
        rankings = {o.query: (i, part) for i, o in enumerate(options) if (part := ranking_of(o.query))}
        for i in np.argsort(-scores[:-1], kind="stable").tolist():
            query = options[i].query
            for wrong in [w for w in self._wrong_rankings(query) if w in rankings]:
                (twin, other), (_, own) = rankings[wrong], rankings[query]
                is_worse = self.against(other) < self.against(own) or other.number < own.number
                if is_worse and scores[twin] > scores[i]:
                    scores[i], scores[twin] = scores[twin], scores[i]

    def _wrong_rankings(self, query: Query) -> list[Query]:
        """What it is taken for: the other end, one where words say how many, the largest of all values."""
        match query.part:
            case Extreme(largest=largest, number=number) as part:
                first = [replace(part, number=1, nth=False)] if number > 1 else []
                return [replace(query, part=one) for one in (replace(part, largest=not largest), *first)]
            case Walk(Extreme(source, _, False) as ranked, step) if query.ask == "list":
                turned = Walk(replace(ranked, largest=not ranked.largest), step)
                return [Query("list", turned), *(Query(ask, Walk(source, step)) for ask in _OF_ALL)]
            case _:
                return []

    def _is_what_is_largest(self, step: Step) -> bool:
        """Whether a step leads to what a superlative is said of: *the largest grant* counts no grants."""
        type_ = int(self.vocabulary.types_reached[step])
        labels = [
            self.vocabulary.relations[relation_of(step)],
            *([self.vocabulary.types[type_]] if type_ >= 0 else []),
        ]
        return any(singular_noun(word) in self.largest for label in labels for word in label.split())

    def _is_of_the_clock(self, end: End) -> bool:
        """Whether the values of an end are times of the day."""
        return self.vocabulary.ends[end] == DATE and self.vocabulary.schema.high[end] < 1


IGNORED, TURNED, UNSAID, LEFT_OPEN = 0.02, 0.02, 0.2, 0.15
"""What is left of the odds of a candidate that ignores a word of comparison beside a value, or at last one
that is written as a name; compares otherwise than words say; compares where no word says so; leaves a name
open. Set by what words mean, not fitted."""


_WHOSE = re.compile(r"\bwhose\s+(?P<owned>[\w\s-]+?)\s+(?:is|are|was|were)\s+(?:the\s+)?$", re.I)
ONCE_SAID = 0.6
"""What is left of the odds of what has the same maker as another, where words say the making once."""
LIKE_A_LABEL = 0.7
"""From this likeness by spelling on a word is one of the graph's labels."""

_DECADE = re.compile(r"(?:the )?'?\d*0'?s", re.I)
_COMPARES = re.compile(
    r"\b(than|at most|at least|until|exceed\w*|beyond|above|below|before|after|over|under|more|less|fewer"
    r"|earlier|later|prior|preced\w*)\b",
    re.I,
)
_WHICH = re.compile(r"\W*(?:which|what|list|show|find|all|the|any)?\b((?:\s*[a-z]+){1,2})", re.I)
_WITHOUT_COMPARING = frozenset(("list", "count", "yes"))
"""What queries ask for that compare only by a part of them."""
_UP: dict[str, int] = {">": 1, ">=": 1, "<": -1, "<=": -1}


class Signs:
    """The words of comparison of one question, and those that are written as names."""

    def __init__(
        self, vocabulary: Vocabulary, question: str, mentions: Sequence[Mention], likeness: Likeness
    ) -> None:
        self.vocabulary, self.mentions, self.question = vocabulary, mentions, question
        self.names, self.likeness = written_as_names(question, likeness), likeness
        self.signs_by_mention = {i: sign_beside(question, m) for i, m in enumerate(mentions) if m.values}
        self.signs_by_mention |= bounds_between(question, mentions)
        self.dates = [
            m
            for m in mentions
            if any(v.date and not v.is_time for v in m.values) and any(c.isdigit() for c in m.text)
        ]
        self.ranges = {i for i, m in enumerate(mentions) if _DECADE.fullmatch(m.text)}
        self.compares = bool(_COMPARES.search(question))
        self.ranks_one = bool(english.SUPERLATIVE.search(question))
        self.may_rank = self.ranks_one or any(map(is_comparative, re.findall("[a-z]+", question.lower())))
        self.superlatives = Superlatives(vocabulary, question)
        denied = math.log(UNSAID) if denies(question, mentions) else 0.0
        self.excepted = excepted(question, mentions)
        self.leaving_out = math.log(IGNORED) if excepts(question, mentions) else denied
        self.owned = {
            i: hit["owned"].lower()
            for i, m in enumerate(mentions)
            if (hit := _WHOSE.search(question, 0, m.start)) is not None
        }
        self.asks_yes = bool(english.YES_NO.search(question))
        self.relations_asked_for = relations_asked_for(vocabulary, question, mentions)
        self.alike = bool(english.ALIKE.search(question))
        self.amounts = amounts_asked_for(vocabulary, question)
        self._open: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        hits = list(than_words(question, names=mentions))
        self.words = [hit[0].lower() for hit in hits]
        than = {hit[0].lower() for hit in hits if hit["than"]}
        self.must_compare = bool(than) and than.isdisjoint(vocabulary.words)

    def put_right(self, options: Sequence[Option], scores: Float32) -> None:
        """Give the score of a comparison the wrong way round to its twin: *older than* of dates and of ages.

        `scores` float32 [n + 1] are changed.
        """
        self.superlatives.put_right(options, scores)
        if not self.words:
            return
        places = {option.query: i for i, option in enumerate(options)}
        for i, option in enumerate(options):
            twin = places.get(replace(option.query, part=mapped(option.query.part, _turned)), i)
            if scores[twin] <= scores[i] and self.against(options[twin].query) > self.against(option.query):
                scores[i], scores[twin] = scores[twin], scores[i]

    def against(self, query: Query) -> float:
        """The logarithm of what is left of the odds of a candidate."""
        log_odds = self.open_names(query) * math.log(LEFT_OPEN) + self._asked_log_odds(query)
        if query.ask in _OF_ALL and (ranked := ranking_of(query)) is not None:
            log_odds += self.superlatives.against(ranked) + (0.0 if self.may_rank else math.log(IGNORED))
        if self.must_compare and query.ask in _WITHOUT_COMPARING:
            log_odds += 0.0 if any(map(_compares, query.contents.parts)) else math.log(IGNORED)
        if self.dates:
            log_odds += self._open_dates(query) * math.log(IGNORED)
        if self.excepted:
            left_out = {m for p in query.contents.parts for m in _left_out(p)}
            log_odds += bool(self.excepted.intersection(query.contents.mentions) - left_out) * math.log(
                IGNORED
            )
        return log_odds + sum([self._part_log_odds(part, query) for part in query.contents.parts])

    def _part_log_odds(self, part: Part, query: Query) -> float:
        """What one part of a candidate tells against it."""
        match part:
            case Anchor(_, mention) if self.signs_by_mention.get(mention) or mention in self.ranges:
                return math.log(IGNORED)
            case Counted(_, step, _, 0, _) if relation_of(step) in self.vocabulary.flags:
                return math.log(IGNORED)  # what has none is what says no
            case OfType(-1, end) if not is_tail(end) and relation_of(end) in self.vocabulary.flags:
                return math.log(IGNORED)  # what has a value may say no
            case Counted(_, _, sign, number, mention) if mention >= 0 and number:
                return self._value_log_odds(mention, sign)
            case Compared(_, steps, sign, Value(_, _, _, mention, _) as value):
                beyond = self._is_beyond(opposite(steps[-1]), value)
                return self._value_log_odds(mention, sign) + beyond * math.log(UNSAID)
            case Extreme():
                return self._extreme_log_odds(part)
            case Both(Walk(_, step), Anchor(node, _)) if self._is_never_at(node, opposite(step)):
                return math.log(IGNORED)
            case Walk(Anchor(_, mention), step) if not is_backward(step) and mention in self.owned:
                is_owned = self.owned[mention] == self.vocabulary.relations[relation_of(step)]
                return math.log(TURNED) if is_owned else 0.0  # *whose owner is Lumen* has it
            case Walk(Walk(_, onward), step) if step == opposite(onward) and not self.alike:
                return self._way_back_log_odds(query, onward)
            case Compared(_, steps, sign, value):
                bound = self._bound_of(value)
                if bound is not None:
                    return 0.0 if sign == bound else math.log(TURNED)
                end = opposite(steps[-1])
                way = self._comparison_way(self.vocabulary.is_of_time(end))
                log_odds = math.log(IGNORED) if sign in _UP and not self.compares else 0.0
                log_odds += math.log(TURNED) if way * _UP.get(sign, 0) < 0 else 0.0
                return log_odds + (math.log(IGNORED) if self._is_no_age(end) else 0.0)
            case _:
                return 0.0

    def _is_never_at(self, node: int, end: End) -> bool:
        """Whether a thing cannot stand at an end of a relation, where nothing of its declared types does."""
        types = self.vocabulary.types_of(node)
        return len(types) > 0 and not self.vocabulary.schema.typed[end, types].any()

    def _asked_log_odds(self, query: Query) -> float:
        """A *not* left out, a yes or no where things are asked for, what has a boat where boats are."""
        part, ignored = query.part, False
        while isinstance(part, Both | Without) and not isinstance(part.left, OfType):
            part = part.left
        if isinstance(part, Walk):
            onto_flag = not is_backward(part.step) and relation_of(part.step) in self.vocabulary.flags
            back = isinstance(part.source, Walk) and part.step == opposite(part.source.step)
            away = is_backward(part.step) and relation_of(part.step) in self.relations_asked_for and not back
            ignored = (onto_flag and not self.asks_yes) or (away and query.ask != "yes")
        if query.ask == "count" and self.amounts:
            ends = {relation_of(p.end) for p in query.contents.parts if isinstance(p, OfType) and p.type < 0}
            ignored |= not self.amounts.isdisjoint({*map(relation_of, query.contents.steps), *ends})
        log_odds = ignored * math.log(IGNORED)
        if self.leaving_out and query.ask != "yes" and not denials(self.vocabulary, query):
            log_odds += self.leaving_out
        return log_odds

    def _way_back_log_odds(self, query: Query, step: Step) -> float:
        """What tells against the same of something as another has: least where it is a thing, as a maker."""
        if self._is_said_twice(query, step):
            return 0.0
        is_value = bool(self.vocabulary.types) and self.vocabulary.kinds_reached[step] != THING
        return math.log(UNSAID if is_value else ONCE_SAID)

    def _is_said_twice(self, query: Query, step: Step) -> bool:
        """Whether two words outside of the names of a query say a relation, or what it leads to."""
        spans = spans_of(self.mentions, mentions_of(query))
        word_likeness = self.likeness.relations[:, relation_of(step)]
        type_ = self.vocabulary.types_reached[step]
        if type_ >= 0:
            word_likeness = np.maximum(word_likeness, self.likeness.types[:, type_])
        return int((word_likeness[content_share(self.likeness, spans)] >= UNEXPLAINED).sum()) > 1

    def open_names(self, query: Query) -> int:
        """How many words that are written as names a candidate neither names nor says by a label."""
        if not self.names:
            return 0
        key = query.contents.mentions, query.contents.steps
        count = self._open.get(key)
        if count is None:
            count = self._open[key] = self._left_open(*key)
        return count

    def _left_open(self, mentions: Sequence[int], steps: Sequence[Step]) -> int:
        spans = spans_of(self.mentions, mentions)
        labels = self.vocabulary.graph.labels
        names = [
            (m.start, m.stop)
            for m in (self.mentions[i] for i in mentions)
            if not m.candidates or not all(labels[c.node].islower() for c in m.candidates)
        ]
        label_likeness = self.likeness.exact_relations[:, sorted({relation_of(step) for step in steps})]
        open_ = 0
        for word in self.names:
            start, stop, _ = self.likeness.words[word]
            # Beside a name it is of it: *Lady* Mina Gray; beside a word such as *fire* it is of another.
            inside = any(a < stop and start < b for a, b in spans)
            if not inside and not any(a <= stop + 1 and start <= b + 1 for a, b in names):
                open_ += float(label_likeness[word].max(initial=0.0)) < LIKE_A_LABEL
        return open_

    def _extreme_log_odds(self, part: Extreme) -> float:
        """A ranking where no words rank, or only compare, or by what a superlative does not say."""
        log_odds = 0.0 if self.may_rank else math.log(IGNORED)
        if self.compares and not self.ranks_one and not isinstance(part.source, Either):
            log_odds += math.log(IGNORED)
        return log_odds + self.superlatives.against(part) if part.steps else log_odds

    def _is_beyond(self, end: End, value: Value) -> bool:
        """Whether a number is beyond all at an end, or no date where dates stand: it tells none apart."""
        schema = self.vocabulary.schema
        if self.vocabulary.ends[end] == DATE and schema.low[end] >= 1:
            return not value.date and not FIRST_YEAR <= value.number <= LAST_YEAR
        if schema.years[end]:
            return not value.date and not FIRST_YEAR <= value.number <= LAST_YEAR
        if value.date or not schema.measured[end]:
            return False
        return not schema.low[end] <= value.number <= schema.high[end]

    def _open_dates(self, query: Query) -> int:
        """How many days or years of the question stand in nothing that a query uses: *in 2024*."""
        used = [self.mentions[i] for i in mentions_of(query)]
        return sum(not any(date.overlaps(m) for m in used) for date in self.dates)

    def _value_log_odds(self, mention: int, sign: Sign) -> float:
        word_sign = self.signs_by_mention.get(mention)
        if word_sign is None:
            return math.log(UNSAID) if sign in _UP and mention not in self.ranges else 0.0
        if word_sign not in _UP:
            return 0.0 if word_sign == sign else math.log(IGNORED)
        if sign not in _UP or _UP[word_sign] != _UP[sign]:
            return math.log(TURNED if sign in _UP else IGNORED)
        return 0.0 if word_sign == sign else math.log(TURNED)

    def _bound_of(self, value: Value | Part | Amount) -> Sign | None:
        """The bound that words set with the value of a name, if they do."""
        anchors = [] if isinstance(value, Value | Amount) else contents_of(value).entities
        starts = [self.mentions[a.mention].start for a in anchors if a.mention >= 0]
        return bound_before(self.question, starts[0]) if starts else None

    def _is_no_age(self, end: End) -> bool:
        """Whether the question compares ages, and an end has none: a length, when it was checked."""
        if _OF_AGE.isdisjoint(self.words):
            return False
        label = self.vocabulary.relations[relation_of(end)].split()
        if self.vocabulary.is_of_time(end):
            return not (_LATER if "newer" in self.words else _LATER | _JOINED).isdisjoint(label)
        return self.vocabulary.ends[end] == NUMBER and _AGES.isdisjoint(label)

    def _comparison_way(self, dates: bool) -> int:
        """Whether the question compares upwards (1) or downwards (-1), 0 where no word says so."""
        for word in self.words:
            if dates and (word in LATER or word in EARLIER):
                return 1 if word in LATER else -1
            if not dates:
                return -1 if word in FEWER else 1
        return 0


_TURNED: dict[Sign, Sign] = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


def _turned(part: Part) -> Part:
    """A comparison with a value or with what another has, the other way round; all else as it is."""
    if isinstance(part, Compared) and part.sign in _TURNED and not isinstance(part.value, Amount):
        return replace(part, sign=_TURNED[part.sign])
    return part


def _compares(part: Part) -> bool:
    return isinstance(part, Compared | Counted | Extreme | Qualified | Related)


def relations_asked_for(vocabulary: Vocabulary, question: str, mentions: Sequence[Mention]) -> frozenset[int]:
    """The relations that are a noun which a question asks for: *which boats* are what `boat` leads to."""
    match, lexicon, relations = _WHICH.match(question), Lexicon.load(), set[int]()
    if match is None:
        return frozenset()
    for word in re.finditer(r"[a-z]+", match[1], re.I):
        start, noun = match.start(1) + word.start(), singular(word[0].lower())
        is_named = any(m.strong and m.candidates and m.start <= start < m.stop for m in mentions)
        if not is_named and lexicon.classes(noun) and not lexicon.mostly_verb(noun):
            relations.update(vocabulary.relations_by_words.get((noun,), ()))
    return frozenset(relations)


def written_as_names(question: str, likeness: Likeness) -> list[int]:
    """The content words that are written as names inside a sentence and are no types, by their places."""
    if question.istitle() or question.isupper():
        return []
    places: list[int] = []
    for place, (start, stop, _) in enumerate(likeness.words):
        before = question[:start].rstrip("\"'([ ")
        is_name = question[start].isupper() and stop - start > 1
        if not is_name or not before or before[-1] in ".?!:":
            continue
        if likeness.exact_types[place].max(initial=0) < LIKE_A_LABEL:
            places.append(place)
    return places


def _left_out(part: Part) -> tuple[int, ...]:
    """The mentions of what a part leaves out."""
    match part:
        case Without(_, right):
            return contents_of(right).mentions
        case Compared(_, _, "!=", Value(mention=mention)):
            return (mention,)
        case _:
            return ()
