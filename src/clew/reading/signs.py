"""What words of a question tell against a candidate: comparisons that it does not make, names it leaves out.

*after 2000*, *20 minutes or less*, *later than X*; *won an Oscar* where no name of the graph is like Oscar;
*not*.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from clew.query.tree import (
    Amount,
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
    contents_of,
    mentions_of,
)
from clew.query.values import FIRST_YEAR, LAST_YEAR
from clew.query.vocabulary import DATE, THING, UNEXPLAINED, Vocabulary
from clew.reading import english
from clew.reading.between import bounds_between
from clew.reading.comparisons import EARLIER, FEWER, LATER, THAN_WORD, bound_before, sign_beside
from clew.reading.denial import denials, denies, excepts
from clew.reading.likeness import Likeness, content_share
from clew.reading.mentions import Mention, spans_of
from clew.reading.odds import IGNORED, LEFT_OPEN, TURNED, UNSAID
from clew.reading.superlatives import Superlatives
from clew.text.inflection import singular
from clew.text.lexicon import Lexicon

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
        self.superlatives = Superlatives(vocabulary, question)
        denied = math.log(UNSAID) if denies(question, mentions) else 0.0
        self.leaving_out = math.log(IGNORED) if excepts(question, mentions) else denied
        self.owned = {
            i: hit["owned"].lower()
            for i, m in enumerate(mentions)
            if (hit := _WHOSE.search(question, 0, m.start)) is not None
        }
        self.asks_yes = bool(english.YES_NO.search(question))
        self.relations_asked_for = relations_asked_for(vocabulary, question, mentions)
        self.alike = bool(english.ALIKE.search(question))
        self._open: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        self.words = [(m[1] or m[2]).lower() for m in THAN_WORD.finditer(question)]

    def against(self, query: Query) -> float:
        """The logarithm of what is left of the odds of a candidate."""
        log_odds = self.open_names(query) * math.log(LEFT_OPEN) + self._asked_log_odds(query)
        if self.dates:
            log_odds += self._open_dates(query) * math.log(IGNORED)
        return log_odds + sum([self._part_log_odds(part, query) for part in query.contents.parts])

    def _part_log_odds(self, part: Part, query: Query) -> float:
        """What one part of a candidate tells against it."""
        match part:
            case Anchor(_, mention) if self.signs_by_mention.get(mention) or mention in self.ranges:
                return math.log(IGNORED)
            case Counted(_, step, _, 0, _) if step // 2 in self.vocabulary.flags:
                return math.log(IGNORED)  # what has none is what says no
            case OfType(type_, end) if type_ < 0 and not end & 1 and end // 2 in self.vocabulary.flags:
                return math.log(IGNORED)  # what has a value may say no
            case Counted(_, _, sign, number, mention) if mention >= 0 and number:
                return self._value_log_odds(mention, sign)
            case Compared(_, steps, sign, Value(_, _, _, mention, _) as value):
                beyond = self._is_beyond(steps[-1] ^ 1, value)
                return self._value_log_odds(mention, sign) + beyond * math.log(UNSAID)
            case Extreme():
                return self._extreme_log_odds(part)
            case Both(Walk(_, step), Anchor(node, _)) if self._is_never_at(node, step ^ 1):
                return math.log(IGNORED)
            case Walk(Anchor(_, mention), step) if not step & 1 and self._is_owned(mention, step // 2):
                return math.log(TURNED)
            case Walk(Walk(_, onward_step), back_step) if back_step == onward_step ^ 1 and not self.alike:
                return self._way_back_log_odds(query, onward_step)
            case Compared(_, steps, sign, value):
                bound = self._bound_of(value)
                if bound is not None:
                    return 0.0 if sign == bound else math.log(TURNED)
                way = self._comparison_way(self.vocabulary.ends[steps[-1] ^ 1] == DATE)
                log_odds = math.log(IGNORED) if sign in _UP and not self.compares else 0.0
                return log_odds + (math.log(TURNED) if way * _UP.get(sign, 0) < 0 else 0.0)
            case _:
                return 0.0

    def _is_owned(self, mention: int, relation: int) -> bool:
        """Whether the question asks for what has a thing by a relation: *whose owner is Lumen*."""
        return self.owned.get(mention, "") == self.vocabulary.relations[relation]

    def _is_never_at(self, node: int, end: int) -> bool:
        """Whether a thing cannot stand at an end of a relation, where nothing of its declared types does."""
        types = self.vocabulary.types_of(node)
        return len(types) > 0 and not self.vocabulary.schema.typed[end, types].any()

    def _asked_log_odds(self, query: Query) -> float:
        """A *not* left out, a yes or no where things are asked for, what has a boat where boats are."""
        part, ignored = query.part, False
        while isinstance(part, Both | Without) and not isinstance(part.left, OfType):
            part = part.left
        if isinstance(part, Walk):
            onto_flag = not part.step & 1 and part.step // 2 in self.vocabulary.flags
            back = isinstance(part.source, Walk) and part.step == part.source.step ^ 1
            away = bool(part.step & 1) and part.step // 2 in self.relations_asked_for and not back
            ignored = (onto_flag and not self.asks_yes) or (away and query.ask != "yes")
        log_odds = ignored * math.log(IGNORED)
        if self.leaving_out and query.ask != "yes" and not denials(self.vocabulary, query):
            log_odds += self.leaving_out
        return log_odds

    def _way_back_log_odds(self, query: Query, step: int) -> float:
        """What tells against the same of something as another has: least where it is a thing, as a maker."""
        if self._is_said_twice(query, step):
            return 0.0
        is_value = bool(self.vocabulary.types) and self.vocabulary.ends[step ^ 1] != THING
        return math.log(UNSAID if is_value else ONCE_SAID)

    def _is_said_twice(self, query: Query, step: int) -> bool:
        """Whether two words outside of the names of a query say a relation, or what it leads to."""
        spans = spans_of(self.mentions, mentions_of(query))
        word_likeness = self.likeness.relations[:, step // 2]
        type_ = self.vocabulary.end_types[step ^ 1]
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

    def _left_open(self, mentions: Sequence[int], steps: Sequence[int]) -> int:
        spans = spans_of(self.mentions, mentions)
        labels = self.vocabulary.graph.labels
        names = [
            (m.start, m.stop)
            for m in (self.mentions[i] for i in mentions)
            if not m.candidates or not all(labels[c.node].islower() for c in m.candidates)
        ]
        label_likeness = self.likeness.exact_relations[:, sorted({step // 2 for step in steps})]
        open_ = 0
        for word in self.names:
            start, stop, _ = self.likeness.words[word]
            # Beside a name it is of it: *Lady* Mina Gray; beside a word such as *fire* it is of another.
            inside = any(a < stop and start < b for a, b in spans)
            if not inside and not any(a <= stop + 1 and start <= b + 1 for a, b in names):
                open_ += float(label_likeness[word].max(initial=0.0)) < LIKE_A_LABEL
        return open_

    def _extreme_log_odds(self, part: Extreme) -> float:
        """A ranking where words only compare, or by what a superlative does not say."""
        log_odds = 0.0
        if self.compares and not self.ranks_one and not isinstance(part.source, Either):
            log_odds += math.log(IGNORED)
        return log_odds + self.superlatives.against(part) if part.steps else log_odds

    def _is_beyond(self, end: int, value: Value) -> bool:
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

    def _comparison_way(self, dates: bool) -> int:
        """Whether the question compares upwards (1) or downwards (-1), 0 where no word says so."""
        for word in self.words:
            if dates and (word in LATER or word in EARLIER):
                return 1 if word in LATER else -1
            if not dates:
                return -1 if word in FEWER else 1
        return 0


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
