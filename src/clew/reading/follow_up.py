"""Follow-ups: questions that go on from the last one, read as whole questions without a model.

    And the Cologne Depot?              a name takes the place of the one of its kind in the last question
    Where is it? Who is his manager?    it, he, they, that city, there: the last answer, or what was asked of
    What else did he found? When?       the relation of the last question the other way round; its date
    Is he older than the first one?     yes or no of the last turns
    only those in Berlin; the two       go on from a set (`last_set.py`)

Each way to read a follow-up is a `FollowUp`: a text for the reader, whose words are accounted for as those of
any question, and what is put around the query that it is read as; or a query that needs no reading.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from clew.graph.steps import Step, opposite
from clew.graph.values import MONTHS
from clew.query.execute import Executor
from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Extreme,
    OfType,
    OnEdge,
    Part,
    Qualified,
    Query,
    Sign,
    Value,
    Walk,
    Without,
    entities_of,
    key_of,
    last_walks,
    mapped,
    parts_of,
    with_entity,
)
from clew.query.vocabulary import DATE, NUMBER
from clew.reading.called import asks_for_names, in_language
from clew.reading.comparisons import EARLIER, FEWER, LATER, is_comparative, sign_beside
from clew.reading.english import FUNCTION, HAVING, LIGHT, PREPOSITIONS, SUPERLATIVE
from clew.reading.framing import TALK
from clew.reading.last_set import (
    AUX,
    ONLY,
    OUT,
    THEM,
    WHICH_BEST,
    YES_NO,
    Around,
    FollowUp,
    OfSet,
    goes_on_from_set,
    is_noun,
    sets_meant,
)
from clew.reading.last_turns import OfTurns, goes_on_from_turns
from clew.reading.left_open import near_names
from clew.reading.mentions import PARTIAL, PLURAL, Mention
from clew.reading.thread import LastAnswer, Referent, either, unordered
from clew.text.inflection import is_participle, is_person, singular, singular_noun
from clew.text.lexicon import NOUN, Lexicon
from clew.text.normalise import tokens
from clew.types import Abstention

__all__ = ["Around", "FollowUp", "follow_ups", "goes_on"]

_LEAD = re.compile(
    r"(?:(?:and|but|or|so|then|now|ok|okay|also|(?:what|how) about|what of"
    r"|(?:the )?same (?:question )?for|sorry|no|i mean(?:t)?|make (?:it|that))\b[\s,:]*)+",
    re.I,
)
_POLITE = re.compile(
    r"(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?|(?:have|do)\s+(?:you|we)\s+(?:got|have|know)\s+|please\s+|(?:can|could|may)\s+i\s+(?:see|have)\s+|tell\s+me\s+"
    r"|(?:name|show|give)\s+(?:me\s+)?(?=the\s+(?:\w+est|most|least|top|bottom|first|last)\b))"
    r"(?=\w)|\W*\bplease$",
    re.I,
)
_ASKS = re.compile(
    rf"(?:who|wh[aeiy]\w*|how|{AUX}|list|show|name|give|count|find|sort|(?:in|at|on|by|from|for|to|with|of)\s+wh\w+)\b",
    re.I,
)
_WHICH = re.compile(
    r"(?P<at>(?:in|at|on|by|from|for|to|with|of)\s+)?(?:which|what)\s+(?P<noun>[\w\s]+)", re.I
)
_PRONOUN = re.compile(
    r"\b(?:(?P<that>that|this|these|those)\s+(?P<noun>(?!(?:first|last)\b)\w+)|(?P<person>he|she|him|her|his|hers)|(?P<thing>it|its)"
    r"|(?P<many>they|them|their|theirs|those|these)|(?P<place>there))\b(?P<owns>['’]s\b)?",
    re.I,
)
_BARE = re.compile(
    r"(?<=\w )(?:that|this)(?=\s*$)"
    r"|(?:(?<=\bis )|(?<=\bwas )|(?<=\bdid )|(?<=\bdoes ))(?:that|this)(?=\s+(\w+))"
    r"|(?:(?<=\bdo )|(?<=\bare )|(?<=\bwere )|(?<=\bdid ))(?P<many>those|these)(?=\s+(\w+))",
    re.I,
)
"""*That* without a noun: *who supplies that*, *which country is that in*, *when did that open*."""
_ASKED_FOR = re.compile(
    r"\W*(?:\w+\s+)?(?:(?P<who>who\w*)|(?P<where>where)"
    r"|(?P<what>which|what)\b(?!\s+(?:year|date|day|month|time)\b))\b",
    re.I,
)
"""What a question asks for, that a pronoun may stand for; *how many* and *when* ask for no such thing."""
_HAVE = re.compile(
    r"(?:which|what|how\s+many)\s+(?!ones?\b).*\b(?:have|(?P<one>has))\s+(?P<between>.*\b(?!of\b)\w+\s+)?",
    re.I,
)
_ROLE = re.compile(
    r"(?:the|its|their)\s+(?P<role>(?!same\b|others?$|rest\b|ones?\b|two\b)[a-z][\w-]*(?:\s+[a-z][\w-]*){0,2})"
)
_EXISTS = re.compile(r"\b(?:is|are|was|were)\s+there\s+\w|\bthere\s+(?:is|are|was|were)\b", re.I)
_THE = re.compile(
    r"(?!.*\bof\b)(?P<the>(?:who|what|which|where|how\s+(?:much|many))\s+(?:is|was)\s+(?:the|an?)\s+[\w\s-]+?)(?P<unit>,?\s+in\s+[\w\s]+)?",
    re.I,
)
_TOPIC = re.compile(rf"(?P<topic>[^,]+),\s*(?P<asked>(?:who|wh[aei]\w+|how|{AUX})\b.+)", re.I)
"""*What about Dune, when did that come out*: what is asked, and of what."""
_DOES_ALONE = re.compile(
    rf"(?:(?P<who>who|what)|(?:who|what|how\s+(?:many|much))(?:\s+{AUX})?)\s+(?P<verb>\w+)", re.I
)
"""*Who conducted?*, *how many came?*, with nothing behind the verb."""
_NO_MORE = re.compile(rf"(?:who|wh[aei]\w+|how(?:\s+\w+)?)\s+{AUX}\s+(?:s?he|it|they|that|those)", re.I)
"""*And Ann, who has she?*: a question of which nothing but the name is new."""
_OTHER = re.compile(r"\s*\b(?:others?|else)\b", re.I)
_ELSE = re.compile(r"(?:what|which|who|whom)\s+(?:other|else)\b.*", re.I)
_PLACES = ("first", "second", "third", "fourth", "fifth")
_NTH = re.compile(
    rf"(?:(?:who|what|which(?:\s+one)?)\s+(?:is|was)\s+)?the\s+({'|'.join(_PLACES[1:])})(?:\s+one)?", re.I
)
_IN_TURN = re.compile(
    rf"\b(?:the|that)\s+(?:(?P<place>{'|'.join(_PLACES)}|last)\s+(?:one|of\s+(?:{THEM}|the\s+two))"
    r"|(?P<other>former|latter)(?:\s+one)?)\b(?P<owns>['’]s\b)?",
    re.I,
)
_BOTH = re.compile(
    r"\bboth(?:\s+of\s+(?:them|these|those))?(?=$|\s+(?:have|has|do|does|did|are|is|was|were)\b|\s+\w+$)"
    r"|\b(?P<other>they|these|those)\b(?=.*\beach\s+other\b)",
    re.I,
)
_EACH = re.compile(rf"\b(?:each|every\s+one)(?:\s+of\s+{THEM}|\s+ones?)?(?=$|,)", re.I)
_ONE_OF = re.compile(rf"{AUX}\s+(?P<name>.+)\s+(?:(?:one|part|some)\s+of|among)\s+{THEM}", re.I)
_THE_ONE = re.compile(
    rf"(?<=\w\s)the\s+(?:(?P<best>(?:(?:most|least|more|less)\s+)?[\w-]+)\s+(?:ones?(?:\s+(?:of|among)\s+{THEM})?"
    rf"|(?:of|among)\s+{THEM})\b|(?P<bare>\w{{3,}}(?:er|est))(?=$|\s+(?P<then>[\w-]+))"
    rf"|one(?P<many>s)?\s+(?:(?P<that>(?:who|that|which)\s+)|(?=(?:{'|'.join(PREPOSITIONS)}|without|\w+ed)\b))"
    r"(?P<said>.+))(?P<owns>['’]s\b)?",
    re.I,
)
"""One of a set in a question of something else: *the coach of the older one*, *the one in Oslo*."""
_BEST_ALONE = re.compile(r"(?:the\s+)?(\w+est|first|last|best|worst|most|least)(?:\s+ones?)?", re.I)
_ANY_OF_TYPE = re.compile(r"(?:are\s+there\s+)?any\s+(?:other\s+)?(?P<noun>\w+(?:\s+\w+)?)", re.I)
_NOUN_ASKED = re.compile(r"\b(?:which|what|how many|any)\s+(\w+)", re.I)
_HOW_MANY = re.compile(r"how\s+many\s+((?!of\b|are\b|is\b|does\b|do\b|did\b)\w+)", re.I)
_BE = r"(?:is|are|was|were)"
_THERE = rf"{_BE}\s+there"
_ADJUNCT = re.compile(r"when|where|(?:by|with|for|from|to|at|in|on)\s+(?:whom?|what|which\s+\w+)", re.I)
"""*By whom?*, *where?*: in the place of the *when* that the last question begins with."""
_ARE = re.compile(r"\W*(?:who|what)\s+(?:are|were)\s+", re.I)
_HOW = re.compile(r"how\s+(?!many\b|much\b|come\b|so\b)\w+|where", re.I)
_OTHER_SIDE = re.compile(
    r"(?P<side>before|after|above|below|over|under|more|less|fewer|earlier|later)(?:\s+(?:than\s+)?(?:that|then))?",
    re.I,
)
_NEXT = re.compile(
    r"(?:(?:in|on)\s+)?the\s+(?:(?P<unit>year|month|day)\s+(?P<after>after|before)(?:\s+that)?"
    r"|(?P<way>next|following|previous|preceding|last)\s+(?P<of>year|month|day)|(?P<day>\d{1,2})(?:st|nd|rd|th))",
    re.I,
)
_MONTH = re.compile(rf"(?:(?:in|for)\s+)?({'|'.join(MONTHS)})", re.I)
_SAME_TIME = re.compile(
    r"\s+(?:(?:in|on|at|for)\s+)?(?:that\s+same|that|the\s+same)\s+(?:year|month|day|date|time|period|week)$",
    re.I,
)
"""What says that a condition of the last question stays: *and Ann that same year*."""
_DID_SO = re.compile(r"\b(?:did|does|do|done)\s+so\b", re.I)
_DOES = re.compile(rf"(?:who|which\s+\w+)\s+(?!{AUX}\b)(?P<does>.+)", re.I)
_MORE = r"(?:more|less|fewer|earlier|later|\w+er)"
_IS_MORE = re.compile(
    rf"{_BE}\s+(?:that|this|it|they|those|these)\s+(?:still\s+)?(?P<more>{_MORE}(?:\s+\w+)?)\s+than\s+(?P<of>.+)"
    rf"|\w+\s+(?P<name>.+?)\s+(?P<does>\w+\s+)?(?P<sign>before|after|{_MORE}\s+than)\s+(?:that|this|it|then)",
    re.I,
)
_THAT = re.compile(r"\b(?:than|before|after|as|is|was|by|of)\s+(?P<that>that|this|it)$", re.I)
_POINTS = re.compile(
    r"\b(?:of|among|from|are|were|do|did|have)\s+(?:those|these|them|they)\b(?!\s+(?:who|that|which|with|in|of)\b)"
    r"|\bthe\s+(?:(?!only\b)\w+\s+)?ones?\b(?!\s+(?:who|that|which)\b)|\b(?:both|each)$",
    re.I,
)
"""*Which of those*, *the completed ones*: words that mean something said before."""
_RESTRICTS = frozenset(
    "no not neither nor without except only more less fewer most least many much all every each both"
    " other others another".split()
)
_IDLE = (FUNCTION | TALK | PREPOSITIONS | {"one", "ones"}) - _RESTRICTS
_FRAME = FUNCTION | LIGHT | frozenset("make makes made give gives gave take takes took".split())
_MOST_WAYS = 4


def follow_ups(last: LastAnswer, question: str) -> list[FollowUp] | Abstention:
    """The ways to read a question after the last one, the likeliest first; none: it is a whole question.

    Raises OverBudget as `Executor.members`.
    """
    question = question.strip().rstrip("?!. ")
    lead = _LEAD.match(question)
    is_led = bool(lead)
    rest = question[lead.end() :] if lead else question
    rest = re.sub(
        r"\b(who|what|which|where|when|how)['’]s\s+(?=been\b|got\b|had\b|\w+(?:en|wn|one)\s+(?:the|an?|most|more|any)\b)",
        r"\1 has ",
        rest,
        flags=re.I,
    )
    rest = re.sub(r"\b(who|what|which|where|when|how)['’]s\b", r"\1 is", rest, flags=re.I)
    rest = re.sub(
        r",?\s+(?:too|then|again|as well|also|instead|though|exactly)$", "", _POLITE.sub("", rest), flags=re.I
    )
    is_open = last.query is None and not last.thread.total
    if is_open or last.is_behind_open:
        is_elliptic = is_led and (not _ASKS.match(rest) or OfSet(last, question).says_more(rest))
        if is_open or not is_elliptic:
            return _FollowUps(last, question).after_open(rest, is_elliptic=is_elliptic)
    known = _FollowUps(last, question).known(rest)
    ways = _ways(last, question, known, is_led=is_led)
    if not ways and known != rest:
        ways = [FollowUp(f"{known}?", is_said=True)]
    if not ways and lead and not _ASKS.match(rest):
        return Abstention("unplaced", f'I cannot tell what is asked of "{rest}" after the last question')
    if isinstance(ways, Abstention) or not YES_NO.match(rest):
        return ways
    return [
        replace(way, around=_verdict(way.around)) if way.query is None and YES_NO.match(way.text) else way
        for way in ways
    ]


def goes_on(question: str) -> bool:
    """Whether a question has words by which it may go on from the last one."""
    question = question.strip().rstrip("?!. ")
    return (
        goes_on_from_set(question)
        or goes_on_from_turns(question)
        or bool(_NEXT.fullmatch(question))
        or any(p.search(question) for p in (_PRONOUN, _IN_TURN, _THAT))
        or bool(_LEAD.match(question) or _ELSE.fullmatch(question))
    )


def is_elliptic(question: str) -> bool:
    """Whether a question says only what takes a place in the last one, as *And Krakow?* does."""
    question = question.strip().rstrip("?!. ")
    lead = _LEAD.match(question)
    rest = question[lead.end() :] if lead else ""
    return lead is not None and not _ASKS.match(rest) and not _TOPIC.fullmatch(rest)


def _verdict(around: Around | None) -> Around:
    """What is put around a question for yes or no, which nothing else answers."""

    def checked(query: Query) -> Query | None:
        found = around(query) if around else query
        return found if found is not None and found.ask in ("yes", "every") else None

    return checked


def _ways(last: LastAnswer, question: str, rest: str, *, is_led: bool) -> list[FollowUp] | Abstention:
    reading = _FollowUps(last, question)
    if reading.asks_for_names(rest):
        return reading.referring(rest)
    if last.query is not None and (query := in_language(last.query, rest)) is not None:
        return [FollowUp(question, query=query)]
    of_set, of_turns = OfSet(last, question), OfTurns(last, question)
    if (so := _DID_SO.search(rest)) and (does := _DOES.match(last.thread.question.rstrip("?!. "))):
        rest = f"{rest[: so.start()]}{does['does']}{rest[so.end() :]}"
    if last.focus is None:
        meant = sets_meant(last, rest)
        if isinstance(meant, Abstention):
            return meant
        if meant:
            return _of_each(meant, question, is_led=is_led)
        named = reading.in_turn(rest)
        if named:
            return named
        if topic := _TOPIC.fullmatch(rest):
            node = reading.only_name(topic["topic"])
            if node is not None and _NO_MORE.fullmatch(topic["asked"]):
                return _ways(last, question, topic["topic"], is_led=True)
            part = reading.some_of_set(topic["topic"]) if node is None else Anchor(node)
            if part is not None:
                return _ways(last.about(part), question, topic["asked"], is_led=False)
    if WHICH_BEST.fullmatch(rest):
        last = last.before_count()
        of_set, reading = OfSet(last, question), _FollowUps(last, question)
    is_part = ONLY.fullmatch(rest) or OUT.fullmatch(rest)
    is_bare = (
        not is_part
        and not re.search(rf"\b(?:of|among|from)\s+{THEM}\b", rest, re.I)
        and (is_led or not reading.has_words(rest))
        and not (YES_NO.match(rest) and _PRONOUN.search(rest))
        and not (_ASKS.match(rest) and (not is_led or goes_on_from_set(rest)))
    )
    return (
        of_set.of_all(rest)
        or of_turns.who_does(rest)
        or of_turns.of_values(rest)
        or of_set.in_order(rest)
        or reading.next_value(rest)
        or (reading.how_many(rest) if is_led else [])
        or reading.other_type(rest)
        or (reading.named(rest) if is_bare else [])
        or of_set.best_group(rest)
        or of_set.by_group(rest)
        or of_turns.when(rest)
        or of_turns.of_both(rest)
        or of_set.of_same(rest)
        or reading.of_each(rest)
        or reading.others(rest)
        or reading.one_more(rest)
        or reading.compared(rest)
        or reading.by_member(rest)
        or reading.without(rest)
        or reading.one_of_set(rest)
        or (reading.of_one(rest) if _ASKS.match(rest) and not is_part else [])
        or [*(reading.of_topic(rest) if is_led else []), *of_set.narrowed(rest, replaces=is_led)]
        or reading.referring(rest)
    )


def _of_each(
    meant: Sequence[tuple[LastAnswer, str]], question: str, *, is_led: bool
) -> list[FollowUp] | Abstention:
    """The ways for each set that may be meant, the likeliest set first."""
    found: list[FollowUp] = []
    left: Abstention | None = None
    for rank, (last, rest) in enumerate(meant):
        ways = _ways(last, question, rest, is_led=is_led)
        if isinstance(ways, Abstention):
            left = left or ways
            continue
        found += [replace(way, rank=way.rank + 10 * rank, is_whole=False) for way in ways]
    return found or left or Abstention("unplaced", "I cannot tell what is asked of the things that are meant")


@dataclass(eq=False)
class _FollowUps:
    """The ways to read a question, `question` as it was asked."""

    last: LastAnswer
    question: str

    def leans(self, rest: str) -> bool:
        """Whether a question has nothing to be asked of without the last one: no name and no type."""
        if any(m.strong and m.candidates for m in self._mentions(rest)):
            return False
        types = {word for label in self.last.reader.vocabulary.types for word in label.split()}
        return not any(singular(t.norm) in types for t in tokens(rest))

    def after_open(self, rest: str, *, is_elliptic: bool) -> list[FollowUp] | Abstention:
        """After a question that was not answered: of the one thing that it names, if nothing else is meant.

        *It* is the book after *who printed Dune?* and *how heavy is Dune?*, not after *what does it cite?*.
        """
        meant, asked = self.last.named_in_open, _ASKED_FOR.match(self.last.thread.question)
        said = [m for m in _PRONOUN.finditer(_BARE.sub(_it, rest)) if self._is_reference(rest, m)]
        if meant is not None and len(said) == 1 and not is_elliptic and self._may_mean(said[0], meant):
            match = said[0]
            is_clear = (
                (not asked and not match["many"])
                or (asked and asked["who"] and match["thing"] and meant.is_person is False)
                or (asked and asked["where"] and (match["thing"] or match["person"]))
                or (asked and asked["what"] and match["person"] and meant.is_person)
            )
            if is_clear and (ways := self.referring(rest)):
                return ways
        if (
            _POINTS.search(rest)
            or self._which_at(rest)
            or _ANY_OF_TYPE.fullmatch(rest)
            or (goes_on(self.question) and (is_elliptic or self.leans(rest)))
        ):
            return Abstention("unplaced", "this goes on from the last question, which was not answered")
        return [self._alone(rest)] if _THE.fullmatch(rest) and not _is_ranked(rest) else []

    # names

    def has_words(self, text: str) -> bool:
        """Whether a text has words of its own beside names and words that say nothing by themselves."""
        mentions = self._mentions(text)
        return any(
            t.norm not in _IDLE
            and not any(m.start < t.stop and t.start < m.stop for m in mentions)
            and not re.match(r"\s+than\b", text[t.stop :], re.I)
            for t in tokens(text)
            if any(c.isalnum() for c in t.norm)
        )

    def _mentions(self, text: str) -> list[Mention]:
        """The longest names and values of a text, without those that overlap them."""
        kept: list[Mention] = []
        mentions = [m for m in self.last.reader.name(text) if m.text.lower() not in _IDLE]
        for mention in sorted(mentions, key=lambda m: (m.start - m.stop, m.start)):
            if not any(mention.overlaps(other) for other in kept):
                kept.append(mention)
        return sorted(kept, key=lambda m: m.start)

    def known(self, text: str) -> str:
        """A text with whole names for parts of names that one thing of the last turns has: *Tregear*."""
        told, label = self.last.told, self.last.reader.graph.label
        for mention in reversed(self._mentions(text)):
            how = mention.candidates[0].how if mention.candidates else PARTIAL + 1
            is_part = not re.match(r"[^\w\s]\w|['’]s\w", text[mention.stop :])
            alike = [c.node for c in mention.candidates if is_part and c.how == how <= PARTIAL]
            meant = [node for node in alike if node in told]
            if len(alike) > 1 and len(meant) == 1:
                text = f"{text[: mention.start]}{label(meant[0])}{text[mention.stop :]}"
        return text

    def only_name(self, text: str) -> int | None:
        """What a text names, if it is nothing but one name of one thing."""
        text = re.sub(r"^(?:the|an?)\s+", "", text, flags=re.I)
        match self._mentions(text):
            case [Mention(start=0) as mention] if mention.stop == len(text) and mention.candidates:
                first, *others = mention.candidates
                return None if others and others[0].how == first.how else first.node
            case _:
                return None

    def some_of_set(self, text: str) -> Part | None:
        """What *the shortest*, *the blue ones* are of the last set, before what is asked of them."""
        if not text.lower().startswith("the "):
            return None
        ways = _ways(self.last, self.question, text, is_led=True)
        if isinstance(ways, Abstention):
            return None
        queries = (way.query or self.last.read(way.text, way.around) for way in ways)
        return next((query.part for query in queries if query and query.ask in ("list", "count")), None)

    def named(self, rest: str) -> list[FollowUp] | Abstention:
        """*And the Cologne Depot?*: the last question with a name or a value for one of its kind."""
        rest = _SAME_TIME.sub("", rest)
        query, mentions, graph = self.last.query, self._mentions(rest), self.last.reader.graph
        bare = re.sub(r"['’]s$", "", rest)
        if bare != rest and not any(mention.stop == len(rest) for mention in mentions):
            return self.named(bare)
        if query is None or not rest:
            return []
        if not mentions:
            words = [t.text for t in tokens(rest) if t.norm not in FUNCTION]
            if not words or not all(w[0].isupper() for w in words):
                return self.reworded(rest) or self._described(query, rest)
            near = near_names(graph, self.last.reader.names, [" ".join(words)])
            return Abstention(
                "no_entity", f'I cannot place "{" ".join(words)}": no name in this graph is like it', near
            )
        are_values = len(mentions) > 1 and not self.has_words(rest)
        if are_values and (found := self._with_value(query, rest, mentions)):
            return [FollowUp(self.question, query=each) for each in found]
        if len(mentions) > 1 or self.has_words(rest):
            return self.reworded(rest) or self._described(query, rest) or self._renamed(query, rest)
        mention = mentions[0]
        best = [c for c in mention.candidates if c.how == mention.candidates[0].how and c.how <= PARTIAL]
        changes = {(old, c.node): _with(query, old, c.node) for c in best for old in self.last.alike(c.node)}
        if len(changes) > 1:
            names = tuple(
                dict.fromkeys(graph.label(n) for pair in changes for n in pair[len(best) > 1 :][:1])
            )
            told = "be" if len(best) > 1 else "take the place of"
            return Abstention("ambiguous_entity", f'"{mention.text}" may {told} {" or ".join(names)}', names)
        found = list(changes.values()) or self._with_value(query, rest, mentions)
        start = self.question.rfind(mention.text)
        at = (start, start + len(mention.text)) if start >= 0 else (0, 0)
        renamed = [] if mention.strong else self._renamed(query, rest)
        if not found and (other := self.reworded(rest) or renamed):
            return other
        if found or rest.split()[0].lower() in PREPOSITIONS or not mention.strong:
            return [FollowUp(self.question, query=each, at=at) for each in found]
        detail = (
            f'I cannot tell what is asked of "{mention.text}": the last question names nothing of its kind'
        )
        return Abstention("unplaced", detail)

    def _with_value(self, query: Query, rest: str, mentions: Sequence[Mention]) -> list[Query]:
        """The last query with values in the place of its own, compared as the words beside one say."""
        old = sorted(dict.fromkeys(v for p in _parts(query) for v in _values_of(p)), key=lambda v: v.number)
        if len(old) != len(mentions):
            return []
        new = [
            next((v for v in m.values if (v.date, v.yearly) == (o.date, o.yearly)), None)
            for o, m in zip(old, mentions, strict=True)
        ]
        if None in new or not new:
            return []
        sign = sign_beside(rest, mentions[0]) if len(mentions) == 1 else None
        found = _with_values(query, {o: n for o, n in zip(old, new, strict=True) if n}, sign)
        return [] if found == query else [found]

    def _renamed(self, query: Query, rest: str) -> list[FollowUp]:
        """*And Quarry Hill?*: in the place of the only name in the text of the last question."""
        named = entities_of(query)
        at = self.last.thread.question.find(self.last.reader.graph.label(named[0])) if len(named) == 1 else -1
        if at < 0 or not rest[0].isupper():
            return []
        return self._in_place(at, at + len(self.last.reader.graph.label(named[0])), rest)

    def _in_place(self, start: int, stop: int, said: str) -> list[FollowUp]:
        """The last question with other words at some characters, of which as much is asked."""
        query, asked = self.last.query, self.last.thread.question.rstrip("?!. ")
        if query is None:
            return []

        def around(new: Query) -> Query | None:
            is_other = new.ask == query.ask and key_of(new) != key_of(query)
            return new if is_other and len(_parts(new)) == len(_parts(query)) else None

        return [FollowUp(f"{asked[:start]}{said}{asked[stop:]}?", around, is_said=True)]

    def _described(self, query: Query, rest: str) -> list[FollowUp]:
        """*And the head of Oncology?*, *and the one who runs it?*: in the place of one of its kind."""
        if not re.match("the ", rest, re.I):
            return []
        told, executor = [self.last.one(node) for node in self.last.told], Executor(self.last.reader.graph)
        said = re.sub(r"^who is the one (?:who|that|which) ", "who ", f"who is {rest}", flags=re.I)
        texts = [said]
        if match := _PRONOUN.search(said):
            meant = (r for r in told if self._may_mean(match, r))
            texts = [self._put(said[: match.start()], r, said[match.end() :]).text for r in meant]
        for described in filter(None, map(self.last.read, texts)):
            nodes = executor.members(described.part).tolist() if described.ask == "list" else []
            if len(nodes) == 1 and (alike := self.last.alike(nodes[0])):
                return [FollowUp(self.question, query=_with(query, alike[0], nodes[0]))]
        return []

    def reworded(self, rest: str) -> list[FollowUp]:
        """*And with black?*: in the place of the phrase of the last question with the same preposition."""
        asked, words = self.last.thread.question.rstrip("?!. "), rest.split()
        best, parts = _BEST_ALONE.fullmatch(rest), parts_of(self.last.query.part) if self.last.query else []
        ranked = list(SUPERLATIVE.finditer(asked))
        if best and len(ranked) == 1 and any(isinstance(part, Extreme) for part in parts[1:]):
            return self._in_place(*ranked[0].span(), best[1])
        if len(words) < 2 or words[0].lower() not in PREPOSITIONS or len(words) > 5:
            return []
        ends = "|".join(sorted(PREPOSITIONS))
        said = re.search(rf"\b{re.escape(words[0])}\s+(?:(?!(?:{ends})\b)[\w'’-]+\s*)+", asked, re.I)
        return self._in_place(said.start(), said.end(), f"{rest} ") if said else []

    def how_many(self, rest: str) -> list[FollowUp]:
        """*And how many appliances?*: of what the last question counted others of."""
        counted, said = _HOW_MANY.fullmatch(rest), _HOW_MANY.search(self.last.thread.question)
        if counted is None or said is None or self.last.query is None or not entities_of(self.last.query):
            return []
        ways = self._in_place(said.start(), said.end(), f"how many {counted[1]}")
        return [replace(way, is_whole=True) for way in ways]

    def other_type(self, rest: str) -> list[FollowUp] | Abstention:
        """*Any coaches?*: what the last question asks of things of another type."""
        match, said = _ANY_OF_TYPE.fullmatch(rest), _NOUN_ASKED.search(self.last.thread.question)
        types, noun = self.last.reader.vocabulary.types, match["noun"].lower() if match else ""
        if match is None or singular_noun(noun) not in types:
            return []
        if said is None or singular(said[1].lower()) == singular_noun(noun):
            return Abstention("unplaced", f'I cannot tell what is asked of "{noun}" after the last question')
        return self._in_place(*said.span(1), noun)

    def next_value(self, rest: str) -> list[FollowUp] | Abstention:
        """*And the year after?*, *and on the 11th?*: the last question of another date."""
        match, query = _NEXT.fullmatch(rest), self.last.query
        if query is not None and (month := _MONTH.fullmatch(rest)):
            number = [name[:3] for name in MONTHS].index(month[1][:3].lower()) + 1
            values = dict.fromkeys(v for p in _parts(query) for v in _values_of(p))
            new = {v: other for v in values if (other := _of_month(v, number))}
            return [FollowUp(self.question, query=_with_values(query, new))] if len(new) == 1 else []
        if query is not None and (side := _OTHER_SIDE.fullmatch(rest)):
            return self._on_side(query, ">" if side["side"].lower() in _UP else "<")
        if match is None or query is None:
            return []
        way = 1 if (match["after"] or match["way"] or "").lower() in ("after", "next", "following") else -1
        unit = (match["unit"] or match["of"] or "day").lower()
        values = dict.fromkeys(v for p in _parts(query) for v in _values_of(p))
        moved = [(v, _moved(v, unit, way, int(match["day"] or 0))) for v in values]
        asked = self.last.thread.question
        years = re.findall(r"\b(?:1\d|20)\d\d\b", asked) if unit == "year" and not values else []
        if len(years) == 1:
            text = asked.replace(years[0], str(int(years[0]) + way))
            return [FollowUp(text, lambda new: new if new.ask == query.ask else None, is_said=True)]
        if len(moved) == 1 and moved[0][1] is not None:
            return [FollowUp(self.question, query=_with_values(query, {moved[0][0]: moved[0][1]}))]
        return Abstention(
            "unplaced", f'I cannot tell what "{rest}" is: the last question does not have one {unit}'
        )

    def without(self, rest: str) -> list[FollowUp]:
        """*Except Night Ferry*, *only Night Ferry*: one of the last set, by its name."""
        out, only, things = OUT.fullmatch(rest), ONLY.fullmatch(rest), self.last.things
        mentions = self._mentions(rest) if (out or only) and things else []
        if things is None or len(mentions) != 1 or mentions[0].stop < len(rest):
            return []
        said = out["rest"] if out else only["rest"] if only else ""
        members = set(things.members)
        found = {c.node for c in mentions[0].candidates if c.node in members and c.how <= PLURAL}
        if len(found) != 1 or len(tokens(said or "")) > len(tokens(mentions[0].text)) + 1:
            return []
        one = Anchor(found.pop())
        part = Without(things.part, one) if out else Both(things.part, one)
        return [FollowUp(self.question, query=Query("list", part))]

    def one_of_set(self, rest: str) -> list[FollowUp]:
        """*Is Night Ferry one of them?*: whether the last set has it."""
        match, things = _ONE_OF.fullmatch(rest), self.last.things
        node = self.only_name(match["name"]) if match else None
        if node is None or things is None:
            return []
        return [FollowUp(self.question, query=Query("every", Anchor(node), unordered(things.part)))]

    def _on_side(self, query: Query, sign: Sign) -> list[FollowUp]:
        """*And after?* of what was asked for before a date."""

        def changed(part: Part) -> Part:
            is_bound = isinstance(part, Compared) and isinstance(part.value, Value)
            return replace(part, sign=sign) if is_bound else part

        values = [v for p in parts_of(query.part) for v in _values_of(p)]
        part = mapped(query.part, changed)
        is_other = len(values) == 1 and part != query.part
        return [FollowUp(self.question, query=replace(query, part=part))] if is_other else []

    # relations

    def others(self, rest: str) -> list[FollowUp]:
        """*What else did he found?*: what a relation of the last turns leads back to but what was told."""
        is_said, vocabulary = bool(_ELSE.fullmatch(rest)), self.last.reader.vocabulary
        is_bare = rest.lower() in ("who else", "what else")  # but not after *who*: are there more answers?
        is_said = is_said and not (is_bare and self.last.thread.question.lower().startswith(rest[:3].lower()))
        pronoun = next((m for m in _PRONOUN.finditer(rest) if not m["that"]), None)
        executor, told = Executor(self.last.reader.graph), list[tuple[Referent, int, Step]]()
        for query in filter(None, (self.last.query, *self.last.earlier)) if is_said else ():
            reached = executor.members(query.part).tolist()
            match query.part:
                case Walk(Anchor(source), step) if len(reached) == 1 and reached[0] in self.last.told:
                    told.append((self.last.one(reached[0]), source, step))
                case _:
                    continue
        if pronoun and pronoun["person"]:
            told.sort(key=lambda each: each[0].is_person is not True)
        for referent, source, step in told:
            if referent.is_value or not (self._may_mean(pronoun, referent) if pronoun else is_bare):
                continue
            if is_bare and (self.last.one(source).is_person is False) == rest.lower().startswith("who"):
                continue
            part: Part = Without(Walk(referent.part, vocabulary.back_over(step)), Anchor(source))
            start, stop = pronoun.span() if pronoun else (0, 0)
            text = _OTHER.sub("", f"{rest[:start]}{rest[stop:]}")
            for token in (t for t in tokens(text) if t.norm.isalnum() and t.norm not in _FRAME):
                types = [
                    OfType(t)
                    for t, label in enumerate(vocabulary.types)
                    if label.split()[-1] == singular(token.norm)
                ]
                if types:
                    part = Both(part, either(types))
                elif not self.last.is_of(token, step):
                    return []
            if len(executor.members(part)):
                return [FollowUp(self.question, query=Query("list", part))]
        return []

    def one_more(self, rest: str) -> list[FollowUp]:
        """*Which other station has got one?*: what the last question called *a* or *an*."""
        match = re.search(r"(?<=\s)(?:got\s+)?one$", rest, re.I)
        said = re.search(r"\ban?\s+[\w\s'’-]+$", self.last.thread.question.rstrip("?!. "), re.I)
        if match is None or said is None or not re.search(rf"\b(?:{'|'.join(HAVING)}|with)\s", rest, re.I):
            return []
        is_other = bool(_OTHER.search(rest))
        text = f"{_OTHER.sub('', rest[: match.start()])}{said[0]}"

        def around(query: Query) -> Query | None:
            return self.last.without_told(query) if is_other else query

        return [FollowUp(f"{text}?", around, is_said=not is_other)]

    def _every(self, referent: Referent, part: Part) -> Query | None:
        """Whether what is asked of one of a set is so of each: *live in Lisbon* of all that live there."""

        def changed(inner: Part) -> Part:
            is_one = isinstance(inner, Anchor) and inner.node == referent.node
            return referent.part if is_one else inner

        sides = ((part.left, part.right), (part.right, part.left)) if isinstance(part, Both) else ()
        for way, target in sides:
            steps, source = list[Step](), way
            while isinstance(source, Walk):
                steps.append(source.step)
                source = source.source
            if steps and isinstance(source, Anchor) and source.node == referent.node:
                for step in steps:
                    target = Walk(target, opposite(step))
                return Query("every", referent.part, target)
        executor, whole = Executor(self.last.reader.graph), mapped(part, changed)
        is_inside = set(executor.members(whole).tolist()) <= set(executor.members(referent.part).tolist())
        return Query("every", referent.part, whole) if is_inside else None

    # yes or no

    def compared(self, rest: str) -> list[FollowUp] | Abstention:
        """*Was that more than in 2020?*, *did Coldharbour close before that?*: values of one relation."""
        query, match = self.last.query, _IS_MORE.fullmatch(rest)
        if query is None or match is None or query.ask not in ("list", "count"):
            return []
        more = (match["more"] or match["sign"]).split()[0].lower()
        said = re.sub(r"^(?:that|the one|those)\s+(?=of|in|at|for)|['’]s$", "", match["of"] or match["name"])
        words = tokens(match["does"] or "")
        other, walks = self.named(said), last_walks(query.part)
        is_known = match["of"] or (len(walks) == 1 and all(self.last.is_of(t, walks[0].step) for t in words))
        if not is_known or not isinstance(other, list) or len(other) != 1 or other[0].query is None:
            return []
        pair = (query, other[0].query) if match["of"] else (other[0].query, query)
        return self._compared_with(*pair, more)

    def _compared_with(self, query: Query, other: Query, more: str) -> list[FollowUp]:
        """Whether the value of one query stands so to that of another."""
        vocabulary, executor = self.last.reader.vocabulary, Executor(self.last.reader.graph)
        walk, sign = query.part, ">"
        is_of_time = isinstance(walk, Walk) and vocabulary.is_of_time(opposite(walk.step))
        sign: Sign = (
            "<" if (more in EARLIER if is_of_time and more in EARLIER | LATER else more in FEWER) else ">"
        )
        if query.ask == "count" == other.ask:
            number = executor.number(other)
            match query.part:
                case Walk(Anchor() as source, step) if number is not None:
                    return [
                        FollowUp(self.question, query=Query("yes", Counted(source, step, sign, int(number))))
                    ]
                case _:
                    return []
        if not isinstance(walk, Walk) or vocabulary.kinds_reached[walk.step] not in (NUMBER, DATE):
            return []
        return [
            FollowUp(self.question, query=Query("yes", Compared(walk.source, (walk.step,), sign, other.part)))
        ]

    # pronouns

    def of_each(self, rest: str) -> list[FollowUp]:
        """*Which drug is made at both?*: of the last two topics, or of two in a set, by their names."""
        match = _BOTH.search(rest)
        if match is None:
            return []
        topics = [[t.node for _, t in self.last.run[-2:] if isinstance(t, Anchor)]]
        found: list[FollowUp] = []
        for nodes in [*(t for t in topics if len(t) == 2), *(t.members for t in self.last.of_number(2))]:
            names = tuple(map(self.last.reader.graph.label, nodes))
            both = "" if match["other"] else "both "
            text = f"{rest[: match.start()]}{both}{' and '.join(names)}{rest[match.end() :]}"
            found.append(FollowUp(f"{text}?", names=names, is_said=True, rank=len(found)))
        return found

    def of_one(self, rest: str) -> list[FollowUp]:
        """*Which branches hold the newest one?*: of what the last set has of such, as far as it is sure."""
        match, things = _THE_ONE.search(rest), self.last.things
        if match is None or things is None or len(things.members) < 2:
            return []
        is_amount = re.match(r"(?:most|least|more|less)\s+(?P<noun>.+)", match["best"] or "", re.I)
        if (match["bare"] and not self._is_alone(match)) or (is_amount and is_noun(is_amount["noun"])):
            return []  # *who has the most pages of those* asks for some of them
        before_it, behind = rest[: match.start()], f"{match['owns'] or ''}{rest[match.end() :]}"
        if re.fullmatch(
            rf"(?:which|what|who)(?:\s+ones?|\s+of\s+{THEM}(?:\s+\w+)?)?\s+{_BE}\s+", before_it, re.I
        ):
            return []
        if any(m.strong and m.candidates and m.stop <= match.start() for m in self._mentions(rest)):
            return []  # one of what is named before: *in the 2024 Masters but not in the 2023 one*
        being = "" if match["that"] else "are " if match["many"] else "is "
        best = match["best"] or match["bare"]
        said = f"the {best} one" if best else match["said"]
        for way in [
            *OfTurns(self.last, self.question).most_of_run(f"which is {said}"),
            *OfSet(self.last, self.question).narrowed(f"which of them {being}{said}", replaces=False),
        ]:
            query = way.query or self.last.read(way.text, way.around)
            members = Executor(self.last.reader.graph).members(query.part).tolist() if query else []
            if query and query.ask == "list" and (len(members) == 1 or (members and match["many"])):
                one = replace(self.last.one(members[0]), part=query.part, is_set=len(members) > 1)
                return [self._put(before_it, one, behind)]
        return [FollowUp(f"{rest}?", lambda _: None)]

    def _is_alone(self, match: re.Match[str]) -> bool:
        """Whether words that rank have no noun behind them: *the lightest come from*."""
        best, then = match["bare"].lower(), (match["then"] or "").lower()
        is_verb = re.search(r"\b(?:do|does|did)\s+$", match.string[: match.start()], re.I)
        is_next = not then or then in FUNCTION | PREPOSITIONS or is_verb or Lexicon.load().mostly_verb(then)
        return bool(is_next) and (bool(SUPERLATIVE.match(best)) or is_comparative(best))

    def asks_for_names(self, rest: str) -> bool:
        """Whether names are asked of what a pronoun stands for: *what is its German name*."""
        match = _PRONOUN.search(rest)
        if match is None:
            return False
        behind = rest[match.end() :]
        return asks_for_names(f"{rest[: match.start()]}it{self._owns(match, behind)}{behind}")

    def in_turn(self, rest: str) -> list[FollowUp] | Abstention:
        """*The first one*, *the last of them*: one of the last turns or answers by its place."""
        query, nth = self.last.query, _NTH.fullmatch(rest)
        if query and nth and query.ask == "list":
            best, number = query.part, _PLACES.index(nth[1].lower()) + 1
            if isinstance(best, Extreme) and (best.number == 1 or best.nth):  # what comes behind the best
                return [FollowUp(self.question, query=Query("list", replace(best, number=number, nth=True)))]
            if not self.last.run and number <= len(self.last.answers) == self.last.thread.total:
                return [FollowUp(self.question, query=Query("list", Anchor(self.last.answers[number - 1])))]
        if query and nth and len(named := entities_of(query)) == 1:
            before = (Executor(self.last.reader.graph).listed(q.part).tolist() for q in self.last.earlier[:2])
            number = _PLACES.index(nth[1].lower())
            new = next(
                (nodes[number] for nodes in before if named[0] in nodes[:number] and len(nodes) > number), -1
            )
            if new >= 0:  # asked of the first of a list
                return [FollowUp(self.question, query=_with(query, named[0], new))]
        match = _IN_TURN.search(rest)
        if match is None:
            return []
        word = (match["place"] or match["other"]).lower()
        at = {"former": 0, "latter": 1, "last": -1}.get(word)
        at = _PLACES.index(word) if at is None else at
        found: list[FollowUp] = []
        for nodes in self.last.in_turn():
            if len(nodes) < 2 or at >= len(nodes):
                continue
            name = self.last.reader.graph.label(nodes[at])
            text = f"{rest[: match.start()]}{name}{match['owns'] or ''}{rest[match.end() :]}"
            text, names = self._resolved(text, (name,), nodes)
            found.append(FollowUp(f"{text}?", names=names, is_said=True, rank=len(found)))
        if not found and match.end() == len(rest):
            return Abstention(
                "unplaced",
                f'I cannot tell which is meant by "{match[0]}" in the last questions and their answers',
            )
        return found

    def _resolved(
        self, text: str, names: tuple[str, ...], among: Sequence[int]
    ) -> tuple[str, tuple[str, ...]]:
        """A text with a name of the last turns for a pronoun that it has beside another name."""
        match = next(
            (m for m in _PRONOUN.finditer(text) if not m["that"] and self._is_reference(text, m)), None
        )
        if match is None or match["many"]:
            return text, names
        meant = [r for r in self.last.referents if self._may_mean(match, r) and not r.is_set]
        meant.sort(key=lambda r: r.node not in among)
        if not meant:
            return text, names
        label = self.last.reader.graph.label(meant[0].node)
        owns = self._owns(match, text[match.end() :])
        return f"{text[: match.start()]}{label}{owns}{text[match.end() :]}", (*names, label)

    def by_member(self, rest: str) -> list[FollowUp]:
        """*What was the prize fund of each?*: what is asked of the members of a set, with the member."""
        if not _EACH.search(rest) or self.last.things is None or len(self.last.things.members) < 2:
            return []
        ways = self.referring(_EACH.sub("them", rest))

        def by(way: FollowUp) -> Around:
            def around(query: Query) -> Query | None:
                match found := way.around(query) if way.around else None:
                    case Query("list", Walk(_, step)):
                        return replace(found, by=(opposite(step),))
                    case _:
                        return None

            return around

        return [replace(way, around=by(way)) for way in ways] if isinstance(ways, list) else []

    def referring(self, rest: str) -> list[FollowUp] | Abstention:
        """A question in which a name stands in the place of *it*, *they*, *that city*, *there*."""
        rest = _BARE.sub(_it, rest)
        mentions = self._mentions(rest)
        names = [m for m in mentions if m.strong and m.candidates]
        said = (m for m in _PRONOUN.finditer(rest) if not any(n.start < m.start() < n.stop for n in names))
        found = [m for m in said if self._is_reference(rest, m)]
        if (
            len(found) > 1
            and found[0][0].lower() == "they"
            and not any(r.is_set for r in self.last.referents)
        ):
            found = found[1:]  # people in general: *where do they make it*
        if not found:
            return [] if any(not m.text.islower() for m in mentions) else self._of_last(rest)
        match = found[0]
        own = _HAVE.fullmatch(rest[: match.start()])
        is_far = own and (own["between"] or match[0].lower() in ("its", "their"))
        if own and is_far and match["thing" if own["one"] else "many"]:
            return []  # it stands for what is asked for: *which clubs have their own bus*
        if any(m.stop <= match.start() for m in names) and not _is_compared(rest, match):
            return []  # it stands for a name before it
        meant = self._meant(match, rest)
        if not meant:
            detail = f'I cannot tell what "{match[0]}" stands for in the last question and its answer'
            return Abstention("unplaced", detail)
        before_it, behind = rest[: match.start()], rest[match.end() :]
        places = ("in ", "at ") if match["place"] else ("",)
        owns = self._owns(match, behind)
        ways = list[FollowUp]()
        for r in meant:
            before, after = before_it, owns + self._rest_of(r, behind)
            if r.is_set and _ARE.fullmatch(before_it) and re.fullmatch(r"'s [\w\s-]+", after):
                before, after = _of_one(before_it), singular_noun(after)  # *who are their managers*
            elif match["many"] and not r.is_set:
                before = _of_one(before_it)
            rank = int(meant[0].is_set and not r.is_set and bool(match["many"]))
            ways += [replace(self._put(before + place, r, after), rank=rank) for place in places]
        others = [m for m in _PRONOUN.finditer(behind) if m["person"] and self._is_reference(behind, m)]
        is_whole = bool(match["place"]) and not behind and bool(re.search(rf"\b{_BE}\s+$", before_it, re.I))
        return [replace(way, is_whole=is_whole) for way in ways[: 1 if others else _MOST_WAYS]]

    def _meant(self, match: re.Match[str], rest: str) -> list[Referent]:
        """What a pronoun of a question may stand for, the likeliest first."""
        meant = [r for r in self.last.referents if self._may_mean(match, r)]
        answer = self._answered()
        if answer and (match["thing"] or match["many"]):
            # A client may be a company; what asked for it, *Private*, is nothing of which more is asked.
            told = [r for r in meant if not r.is_value]
            meant = told or [answer]
        is_who = answer and (answer.is_person or re.match(r"\W*who", self.last.thread.question, re.I))
        if match["person"] and answer in meant and (is_who or not any(r.is_person for r in meant)):
            meant = [r for r in meant if r == answer and not r.is_value] or meant
        if match["many"] and any(r.is_set for r in meant):
            # Behind the set what is one of many people: *which awards do they decide* of a jury.
            meant = [r for r in meant if r.is_set or self.last.is_group(r)]
            meant.sort(key=lambda r: not r.is_set)
        if match["place"]:
            meant.sort(key=lambda r: r.is_person is True)
        if match["person"]:
            meant.sort(key=lambda r: (not r.sex, r.is_person is not True))
        if re.match("who|what|which", rest, re.I) and all(t.norm in _FRAME for t in tokens(rest)):
            return meant[:1]  # *who has it* may be asked of anything
        return meant

    def _rest_of(self, used: Referent, behind: str) -> str:
        """What stands behind a pronoun, with names for others in it: *is he older than her*."""
        for match in reversed([m for m in _PRONOUN.finditer(behind) if self._is_reference(behind, m)]):
            meant = [
                r
                for r in self.last.referents
                if self._may_mean(match, r) and not r.is_set and r.node != used.node
            ]
            is_own = self._may_mean(match, used) and self._owns(match, behind[match.end() :])
            if meant and not match["many"] and not is_own:  # *does that have its own*
                at = "in " if match["place"] else ""
                owns = self._owns(match, behind[match.end() :])
                label = self.last.reader.graph.label(meant[0].node)
                behind = f"{behind[: match.start()]}{at}{label}{owns}{behind[match.end() :]}"
        return behind

    def _owns(self, match: re.Match[str], behind: str) -> str:
        word = match[0].lower()
        owns = match["owns"] or word in ("his", "its", "their") or (word == "her" and _owns_next(behind))
        return "'s" if owns else ""

    def _of_last(self, rest: str) -> list[FollowUp]:
        """*Who is the director?* of what was asked of, *in which rooms?* they are."""
        which = _WHICH.fullmatch(rest)
        referents, things = self.last.referents, self.last.things
        if which and which["at"] and self.last.query is not None and self.last.query.ask == "yes":
            return OfTurns(self.last, self.question).which_of(which["noun"].lower())
        when, asks = _ADJUNCT.match(self.last.thread.question), re.sub(r"^(wh\w+) (\w+)$", r"\2 \1", rest)
        swapped = self._in_place(0, when.end(), asks) if when and _ADJUNCT.fullmatch(asks) else []
        if which and self._is_known(which["noun"]):
            is_set = things and things.type >= 0 and singular(which["noun"].lower()) == singular(things.noun)
            if is_set and things:
                return [FollowUp(self.question, query=Query("list", things.part))]
            # *On which machine?* is no question by itself.
            meant = [r for r in referents if not r.is_value] or referents
            ways = [
                replace(self._put(f"{rest} is ", r, ""), is_whole=not which["at"], rank=1) for r in meant[:1]
            ]
            return [*swapped, *ways]
        if (the := _THE.fullmatch(rest)) and not _is_ranked(rest):
            ways = [(self._put(f"{the['the']} of ", r, the["unit"] or ""), r) for r in referents]
            return [*(replace(way, rank=int(r.is_set)) for way, r in ways), self._alone(rest)]
        if _HOW.fullmatch(rest):
            return [*swapped, *(replace(self._put(f"{rest} is ", r, ""), rank=1) for r in referents)]
        if (does := _DOES_ALONE.fullmatch(rest)) and self._is_verb(does["verb"].lower(), bool(does["who"])):
            told = [r for r in referents if not r.is_set and not r.is_value]
            ways = [(self._put(f"{rest} {at}", r, ""), r) for r in told for at in ("", "to ", "in ")]
            return [replace(w, rank=int(r.node in self.last.answers), is_whole=True) for w, r in ways]
        return swapped or self.than_last(rest)

    def _alone(self, rest: str) -> FollowUp:
        """*Who was the master?* as a whole question, which asks for one of many."""
        executor = Executor(self.last.reader.graph)

        def alone(query: Query) -> Query | None:
            return query if query.ask != "list" or len(executor.members(query.part)) == 1 else None

        return FollowUp(f"{rest}?", alone, rank=2)

    def _is_verb(self, word: str, is_behind_who: bool) -> bool:
        nouns = self.last.reader.vocabulary.nouns
        if is_behind_who:
            return word not in FUNCTION and word != "else"
        return is_participle(word) or (Lexicon.load().mostly_verb(word) and singular(word) not in nouns)

    def _is_known(self, noun: str) -> bool:
        """Whether words are all of the graph: *aircraft*, not *aircraft did he fly*."""
        words = self.last.reader.vocabulary.words
        return all(singular(word) in words or word in words for word in noun.lower().split())

    def _which_at(self, rest: str) -> bool:
        """Whether a question is but *in which aircraft*, which is asked of something said before."""
        which = _WHICH.fullmatch(rest)
        return which is not None and bool(which["at"]) and self._is_known(which["noun"])

    def of_topic(self, rest: str) -> list[FollowUp]:
        """*And the deputy?*: what else the thing has that was asked of; *and the owners?* of a set."""
        match, query = _ROLE.fullmatch(rest), self.last.query
        if match is None or query is None or self._mentions(rest):
            return []
        if SUPERLATIVE.match(match["role"]) and match["role"] not in self.last.reader.vocabulary.relations:
            return []
        role, named = match["role"], entities_of(query)
        is_many = singular(role) != role and any(r.is_set for r in self.last.referents)
        if is_many:
            of = next(r for r in self.last.referents if r.is_set)
        elif len(named) == 1 and isinstance(query.part, Walk) and query.ask == "list":
            of = self.last.one(named[0])
        elif not named and self.last.referents and not self.last.referents[0].is_set:
            of = self.last.referents[0]
        else:
            return []
        asked, label = self.last.thread.question, re.escape(self.last.reader.graph.label(of.node))
        said = re.search(
            rf"\bthe\s+(?:\w+\s+){{1,2}}?(?=(?:of|at|in|for|to)\s+(?:the\s+)?{label}\b)", asked, re.I
        )
        who = "Who" if is_person(singular_noun(role).split()[-1]) else "What"
        role, is_other = role.removeprefix("other "), role.startswith("other ")
        way = self._put(f"{who} {'is' if singular(role) == role else 'are'} the {role} of ", of, "")

        def others(query: Query) -> Query | None:
            found = way.around(query) if way.around else None
            return found and (self.last.without_told(found) or found)

        ways = [replace(way, around=others if is_other else way.around, rank=-1)]
        return [*ways, *(self._in_place(*said.span(), f"{rest} ") if said and not is_many else [])]

    def than_last(self, rest: str) -> list[FollowUp]:
        """*Are there any older blocks?* after a question of one: older than that."""
        words = [t.norm for t in tokens(rest) if is_comparative(t.norm)]
        part = self.last.things.part if self.last.things else None
        if (
            len(words) != 1
            or not isinstance(part, Anchor)
            or not re.match(rf"(?:which|who|what|how many|{_THERE})\b", rest, re.I)
        ):
            return []
        name = self.last.reader.graph.label(part.node)
        return [FollowUp(f"{rest} than {name}?", names=(name,), is_said=True)]

    def _is_reference(self, rest: str, match: re.Match[str]) -> bool:
        """Whether a word stands for something outside of the question."""
        if match["place"]:
            return not any(m.start() <= match.start() < m.end() for m in _EXISTS.finditer(rest))
        if match["that"]:
            noun = match["noun"].lower()
            return noun == "one" or bool(self.last.called(singular(noun))) or self._calls_answer(match)
        return True

    def _calls_answer(self, match: re.Match[str]) -> bool:
        """Whether *that company* can only be the last answer: a noun that the graph has for nothing."""
        answer, noun = self._answered(), match["noun"].lower()
        is_noun = Lexicon.load().uses(noun, NOUN) > 0 and singular(noun) == noun
        return (
            is_noun
            and answer is not None
            and answer.is_person in (None, is_person(noun))
            and noun not in self.last.reader.vocabulary.nouns
        )

    def _answered(self) -> Referent | None:
        """The only answer to the last question, if it is a thing that has a type or is told of."""
        first = next(iter(self.last.referents), None)
        if self.last.focus is not None:
            return None
        is_one = first is not None and not first.is_set and [first.node] == self.last.answers
        return first if is_one and self.last.thread.total == 1 else None

    def _may_mean(self, match: re.Match[str], referent: Referent) -> bool:
        if match["person"]:
            sex = "female" if match["person"].lower() in ("she", "her", "hers") else "male"
            is_of_sex = referent.sex in ("", sex)
            return not referent.is_set and referent.is_person is not False and is_of_sex
        if match["place"]:
            return not referent.is_set
        if match["thing"]:
            return not referent.is_set and referent.is_person is not True
        if match["that"] and match["noun"].lower() != "one":
            is_many = match["that"].lower() in ("those", "these")
            called = self.last.called(singular(match["noun"].lower()))
            meant = called or ([self._answered()] if self._calls_answer(match) else [])
            return referent.is_set == is_many and referent in meant
        return bool(match["many"]) or not referent.is_set

    def _put(self, before: str, referent: Referent, behind: str) -> FollowUp:
        """A name in the place of a pronoun; of a set one member, in whose place the query has the set."""
        name, last = self.last.reader.graph.label(referent.node), self.last.query
        is_other = bool(_OTHER.search(f"{before}.{behind}")) and not asks_for_names(f"{before}{name}{behind}")
        before, behind = (_OTHER.sub("", part) if is_other else part for part in (before, behind))
        text = f"{before}{name}{behind}?"

        def changed(part: Part) -> Part:
            return referent.part if isinstance(part, Anchor) and part.node == referent.node else part

        def around(query: Query) -> Query | None:
            is_asked = last is not None and key_of(query) == key_of(last) and not is_other
            if is_asked or referent.node not in entities_of(query):
                return None
            if referent.is_set and query.ask == "yes":
                return self._every(referent, query.part)
            if referent.is_set:
                query = replace(query, part=mapped(query.part, changed))
            return self.last.without_told(query) if is_other else query

        return FollowUp(text, around, (name,), is_said=not referent.is_set and not is_other)


def _it(that: re.Match[str]) -> str:
    """*It* for *that*, unless a noun is behind it: *did that club win*, not *did that open*."""
    word = (that[1] or that[3] or "").lower()
    is_last = that.string[that.end() :].strip().lower() == word
    is_noun = not is_last and word not in PREPOSITIONS and not Lexicon.load().mostly_verb(word)
    return that[0] if is_noun else "they" if that["many"] else "it"


_COMPARING = (
    LATER | EARLIER | FEWER | frozenset(("more", "higher", "larger", "bigger", "greater", "longer", "taller"))
)


def _is_ranked(rest: str) -> bool:
    return bool(SUPERLATIVE.search(rest)) or any(is_comparative(t.norm) for t in tokens(rest))


def _of_one(before: str) -> str:
    """*Where are* of one thing: *where is*."""
    one = {"are": "is", "were": "was", "do": "does", "have": "has"}
    return re.sub(r"\b(are|were|do|have)(\s+)$", lambda m: one[m[1].lower()] + m[2], before, flags=re.I)


_UP = frozenset(("after", "above", "over", "more", "later"))


def _parts(query: Query) -> list[Part]:
    return [*parts_of(query.part), *(parts_of(query.other) if query.other else ())]


def _is_compared(rest: str, match: re.Match[str]) -> bool:
    """Whether a pronoun is what something before it is compared with: *is Ann older than him*."""
    return (
        bool(re.search(r"\b(?:than|before|after|as)\s+$", rest[: match.start()], re.I))
        and not rest[match.end() :].strip()
    )


def _with(query: Query, old: int, new: int) -> Query:
    other = None if query.other is None else with_entity(query.other, old, new)
    return replace(query, part=with_entity(query.part, old, new), other=other)


def _with_values(query: Query, new: Mapping[Value, Value], sign: Sign | None = None) -> Query:
    """A query with other values in the place of some, compared by `sign` if there is one."""

    def changed(part: Part) -> Part:
        match part:
            case Compared(value=Value() as old) if old in new:
                return replace(part, value=replace(new[old], mention=-1), sign=sign or part.sign)
            case Qualified():
                return replace(part, conditions=tuple(_with_value_of(c, new) for c in part.conditions))
            case _:
                return part

    return replace(query, part=mapped(query.part, changed))


def _with_value_of(condition: OnEdge, new: Mapping[Value, Value]) -> OnEdge:
    value = condition.value
    return replace(condition, value=new.get(value, value)) if isinstance(value, Value) else condition


def _moved(value: Value, unit: str, way: int, day: int) -> Value | None:
    """A date so many units later, or of another day of its month; None where it is no such date."""
    if not value.date:
        is_year = unit == "year" and not value.width and 1000 <= value.number < 3000
        return replace(value, number=value.number + way) if is_year else None
    if value.yearly:
        of_month = value.number % 100
        number = value.number - of_month + day if day else value.number + way
        return replace(value, number=number) if unit == "day" and of_month else None
    if unit == "day" and value.width < 1:
        first = date.fromordinal(int(value.number) + 1)
        moved = first.replace(day=day) if day else first + timedelta(days=way)
        return replace(value, number=value.number + (moved - first).days)
    first, length = date.fromordinal(int(value.number) + 1), int(value.width) + 1
    if unit == "year" and first.day == first.month == 1 and length in (365, 366):
        begin, end = (date(first.year + n, 1, 1) for n in (way, way + 1))
    elif unit == "month" and first.day == 1 and 28 <= length <= 31:
        months = [first.year * 12 + first.month - 1 + n for n in (way, way + 1)]
        begin, end = (date(m // 12, m % 12 + 1, 1) for m in months)
    else:
        return None
    return replace(
        value, number=float(begin.toordinal() - 1), width=value.width + (end - begin).days - length
    )


def _of_month(value: Value, month: int) -> Value | None:
    """Another month of the same year; None for what is no month, or the same."""
    if value.yearly:
        new = replace(value, number=100.0 * month)
        return new if value.number % 100 == 0 and new != value else None
    first = date.fromordinal(int(value.number) + 1) if value.date and value.number >= 1 else None
    if first is None or first.day > 1 or not 27 <= value.width < 31 or first.month == month:
        return None
    begin = first.replace(month=month)
    length = (begin.replace(day=28) + timedelta(days=4)).replace(day=1) - begin
    width = value.width + length.days - int(value.width) - 1
    return replace(value, number=float(begin.toordinal() - 1), width=width)


def _values_of(part: Part) -> list[Value]:
    if isinstance(part, Compared) and isinstance(part.value, Value):
        return [part.value]
    conditions: Sequence[OnEdge] = getattr(part, "conditions", ())
    return [c.value for c in conditions if isinstance(c.value, Value)]


def _owns_next(behind: str) -> bool:
    words = tokens(behind)
    return bool(words) and words[0].norm not in FUNCTION
