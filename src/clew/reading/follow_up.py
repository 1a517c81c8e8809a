"""Follow-ups: questions that go on from the last one, read as whole questions without a model.

    And the Cologne Depot?              a name takes the place of the one of its kind in the last question
    Where is it? Who is his manager?    it, he, they, that city, there: the last answer, or what was asked of
    only those in Berlin                go on from the last set
    sort them by age; how many are they?

Each way to read a follow-up is a `FollowUp`: a text for the reader, whose words are accounted for as those of
any question, and what is put around the query that it is read as; or a query that needs no reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from clew.graph.steps import Step, opposite
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
    Related,
    Value,
    Walk,
    Without,
    entities_of,
    key_of,
    last_walks,
    mapped,
    parts_of,
    steps_of,
    with_entity,
)
from clew.reading.comparisons import EARLIER, FEWER, LATER, sign_beside
from clew.reading.english import EXTREME, FUNCTION, PREPOSITIONS
from clew.reading.framing import TALK
from clew.reading.left_open import near_names
from clew.reading.mentions import PLURAL, Mention
from clew.reading.thread import LastAnswer, Referent
from clew.text.inflection import singular
from clew.text.lexicon import ADJECTIVE, NOUN, Lexicon
from clew.text.normalise import tokens
from clew.types import Abstention

Around = Callable[[Query], Query | None]
_LEAD = re.compile(
    r"(?:(?:and|but|or|so|then|now|ok|okay|also|(?:what|how) about|what of|(?:the )?same for)\b[\s,:]*)+",
    re.I,
)
_THEM = r"(?:them|those|these|they)"
_ALL = re.compile(
    rf"(?P<count>(?:how many|count)(?:\s+(?:are|is|were|{_THEM}|there|that|of|in|all|total))*)"
    rf"|(?:who|what|which|list|show|name)(?:\s+(?:are|were|{_THEM}|all|me|of))+|which(?:\s+ones?)?"
    r"|(?:who|what|which(?:\s+one)?)\s+(?:is|was)\s+(?:it|that)",
    re.I,
)
_WHO_DOES = re.compile(r"(?:who|what|which one)\s+(?:is|was|does|did|has|had)(?:\s+then)?", re.I)
_SORT = re.compile(
    rf"(?:please\s+)?(?:sort|order|rank|arrange|list|show)\s+(?:(?:{_THEM}|it|all|the\s+\w+)\s+)?"
    r"(?:by|according\s+to)\s+(?P<key>.+)",
    re.I,
)
_WAY = re.compile(
    r"[\s,(]+(?:(?:in\s+)?(?P<down>desc)\w*(?:\s+order)?|(?:in\s+)?asc\w*(?:\s+order)?"
    r"|(?:the\s+)?(?P<first>(?:most|least|\w{2,}est)(?:\s+\w+)?)\s+first)\)?$",
    re.I,
)
_ONLY = re.compile(
    rf"(?P<only>(?:show\s+|list\s+|keep\s+)?(?:me\s+)?(?:only|just)\s+(?:{_THEM}|the\s+ones?|the|ones?)?)"
    rf"\s*(?P<that>that|who|which|of\s+{_THEM})?\s*(?P<rest>.+)",
    re.I,
)
_ONES = re.compile(rf"(?:{_THEM}|the\s+ones?|ones)\s+(?P<that>that|who|which)?\s*(?P<rest>.+)", re.I)
_OF_THEM = re.compile(rf"(?:\s+ones?)?\s+(?:of|among|from)\s+{_THEM}\b|(?<=which)\s+ones?\b", re.I)
_THEIR = re.compile(r"\btheir\b(?P<rest>.+)", re.I)
_AMOUNT = re.compile(r"\b(?:average|mean|total|sum|combined|overall|highest|lowest|maximum|minimum)\b", re.I)
_BY = re.compile(r"\b(?:by|per|(?:for|in|of|at)\s+(?:each|every))\s+[\w\s-]+$", re.I)
_WHICH_BEST = re.compile(
    r"(?:which|what|who)(?:\s+ones?)?\s+(?:is|are|was|were)\s+"
    r"(?P<best>(?:the\s+)?(?:\w{3,}est|(?:most|least)\s+\w+)(?:\s+ones?)?)",
    re.I,
)
_WHICH_ARE = re.compile(r"which\s+(?=(?:is|are|was|were|has|have|had|do|does|did|can)\s)", re.I)
_WHICH_BE = re.compile(
    r"which\s+(?:is|are|was|were)\s+(?P<of>(?:the|his|her|its|their)\b|(?P<owner>.*)['’]s\b)?\s*"
    r"(?:(?:most|least|top|bottom)\b)?(?P<rest>.+)",
    re.I,
)
_BEST = re.compile(r"(?:the\s+)?(?:\w{3,}est|(?:most|least)\s+\w+|(?:top|bottom|first|last)\s+\d+)\b.*", re.I)
_MOST = re.compile(r"(?:the\s+)?(?P<word>most|least|fewest|highest|lowest|largest|smallest|biggest)", re.I)
_WHICH = re.compile(
    r"(?P<at>(?:in|at|on|by|from|for|to|with|of)\s+)?(?:which|what)\s+(?P<noun>[\w\s]+)", re.I
)
_PRONOUN = re.compile(
    r"\b(?:(?P<that>that|this|these|those)\s+(?P<noun>(?!(?:first|last)\b)\w+)|(?P<person>he|she|him|her|his|hers)|(?P<thing>it|its)"
    r"|(?P<many>they|them|their|theirs|those|these)|(?P<place>there))\b(?P<owns>['’]s\b)?",
    re.I,
)
_EXISTS = re.compile(r"\b(?:is|are|was|were)\s+there\s+\w|\bthere\s+(?:is|are|was|were)\b", re.I)
_THE = re.compile(r"(?:who|what|which|where)\s+(?:is|was)\s+the\s+[\w\s-]+", re.I)
_OTHER = re.compile(r"\s*\b(?:others?|else)\b", re.I)
_RESTRICTS = frozenset(
    "no not neither nor without except only more less fewer most least many much all every each both"
    " other others another".split()
)
_IDLE = (FUNCTION | TALK | PREPOSITIONS | {"one", "ones"}) - _RESTRICTS
_MOST_WAYS = 4


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A way to read a follow-up: a text, known to be about `name`, and what is put around its query.

    `query` is known where nothing has to be read but a name at the characters `at`. `is_said`: the text says
    all of it. What `is_whole` may be read without the last question too.
    """

    text: str
    around: Around | None = None
    name: str = ""
    query: Query | None = None
    at: tuple[int, int] = (0, 0)
    is_said: bool = False
    is_whole: bool = False


def follow_ups(last: LastAnswer, question: str) -> list[FollowUp] | Abstention:
    """The ways to read a question after the last one, the likeliest first; none: it is a whole question.

    Raises OverBudget as `Executor.members`.
    """
    question = question.strip().rstrip("?!. ")
    lead = _LEAD.match(question)
    rest = question[lead.end() :] if lead else question
    reading = _FollowUps(last, question, len(question) - len(rest))
    is_only = _ONLY.fullmatch(rest)
    is_bare = not is_only and not _OF_THEM.search(rest) and (bool(lead) or not reading.has_words(rest))
    return (
        reading.of_all(rest)
        or reading.in_order(rest)
        or (reading.named(rest) if is_bare else [])
        or reading.by_group(rest)
        or reading.narrowed(rest, replaces=bool(lead))
        or reading.referring(rest)
    )


def goes_on(question: str) -> bool:
    """Whether a question has words by which it may go on from the last one."""
    question = question.strip().rstrip("?!. ")
    whole = (_ALL, _WHO_DOES, _SORT, _ONLY, _ONES, _BEST, _WHICH_BEST)
    return any(p.fullmatch(question) for p in whole) or bool(
        _LEAD.match(question) or _which_are(question) or _PRONOUN.search(question)
    )


def _which_are(question: str) -> re.Match[str] | None:
    """The words before what narrows a set; none where the question has a noun of its own.

    *Which is the oldest*, *which are older than 40* go on from a set; *which is the capital of Norland*,
    *which is the oldest city*, *which was Ada born in* do not.
    """
    if be := _WHICH_BE.match(question):
        words = [token.norm for token in tokens(be["rest"])]
        phrase = list(takewhile(lambda word: word not in FUNCTION and word not in ("one", "ones"), words))
        is_of = be["of"] and not any(token.norm in FUNCTION for token in tokens(be["owner"] or ""))
        is_ones = words[len(phrase) : len(phrase) + 1] in (["one"], ["ones"])
        is_object = bool(words) and words[-1] in PREPOSITIONS
        if is_object or (is_of and not is_ones and any(map(_is_noun, phrase))):
            return None
    return _WHICH_ARE.match(question)


def _is_noun(word: str) -> bool:
    """Whether a word behind *the* is a noun, or unknown: not *oldest*, *older*, *two*."""
    lexicon = Lexicon.load()
    is_adjective = lexicon.uses(word, ADJECTIVE) > lexicon.uses(word, NOUN)
    if word.isdigit() or is_adjective or lexicon.mostly_verb(word):
        return False
    return bool(lexicon.classes(word)) or not lexicon.known(word)


@dataclass(eq=False)
class _FollowUps:
    """The ways to read a question, of which `skipped` characters lead to what it asks."""

    last: LastAnswer
    question: str
    skipped: int

    # the last set

    def of_all(self, rest: str) -> list[FollowUp]:
        """*How many are they?*, *which ones?*; *who did?* after a no."""
        query, whole = self.last.query, self.last.set
        if whole is not None and (match := _ALL.fullmatch(rest)):
            return [FollowUp(self.question, query=Query("count" if match["count"] else "list", whole))]
        if query is None or query.ask != "yes" or not _WHO_DOES.fullmatch(rest):
            return []
        match query.part:
            case Both(Walk() as walk, Anchor()) | Both(Anchor(), Walk() as walk):
                return [FollowUp(self.question, query=Query("list", walk))]
            case _:
                return []

    def in_order(self, rest: str) -> list[FollowUp]:
        """*Sort them by age, oldest first*: by what "What is the age of X?" is read as."""
        match, whole = _SORT.fullmatch(rest), self.last.set
        if match is None or whole is None or not self.last.members:
            return []
        way = _WAY.search(match["key"])
        key, node = match["key"][: way.start()] if way else match["key"], self.last.members[0]
        name = self.last.reader.graph.label(node)

        def around(query: Query) -> Query | None:
            steps, part, is_counted = list[Step](), query.part, query.ask == "count"
            while isinstance(part, Walk):
                steps.insert(0, part.step)
                part = part.source
            is_path = isinstance(part, Anchor) and part.node == node and bool(steps)
            if not is_path or query.ask not in ("list", "count") or (is_counted and len(steps) > 1):
                return None
            largest = self._is_downwards(way, steps[-1], is_counted)
            return Query("list", Extreme(whole, tuple(steps), is_counted, largest, 0))

        return [FollowUp(f"What is the {key} of {name}?", around, name)]

    def _is_downwards(self, way: re.Match[str] | None, step: Step, is_counted: bool) -> bool:
        """Whether the largest comes first: *descending*, *oldest first*, *latest first*."""
        if way is None or not way["first"]:
            return way is not None and bool(way["down"])
        vocabulary, more = self.last.reader.vocabulary, _comparative(way["first"].lower().split()[0])
        if vocabulary.is_of_time(opposite(step)) and not is_counted and more in LATER | EARLIER:
            return more in LATER
        return more not in FEWER

    def by_group(self, rest: str) -> list[FollowUp]:
        """*And per depot?*: what was counted, summed or averaged, by another group."""
        query, asked = self.last.query, self.last.thread.question.rstrip("?!. ")
        if query is None or not query.by or not _BY.match(rest):
            return []
        if query.ask != "count":
            said = _BY.search(asked)
            return [FollowUp(f"{asked[: said.start()]}{rest}?")] if said else []

        def around(counted: Query) -> Query | None:
            return self._within(counted, replaces=False) if counted.by else None

        return [FollowUp(f"How many {self.last.noun} are there {rest}?", around)]

    def narrowed(self, rest: str, *, replaces: bool) -> list[FollowUp]:
        """*Only those in Berlin*, *which of them …*, *their average age*: all such things, within the set."""
        query, noun = self.last.query, self.last.noun
        if self.last.set is None or not rest:
            return []
        most = _MOST.fullmatch(rest)
        if most and query is not None and isinstance(query.part, Extreme):
            largest = _comparative(most["word"].lower()) not in FEWER
            return [FollowUp(self.question, query=replace(query, part=replace(query.part, largest=largest)))]
        is_narrower, swaps = True, False
        if only := _ONLY.fullmatch(rest) or (not replaces and _ONES.fullmatch(rest)):
            text = f"Which {noun} {_being(only['rest'], only['that'])}"
        elif _OF_THEM.search(rest):
            text = re.sub(r"^who\b", "which", _OF_THEM.sub(f" {noun}", rest, count=1), flags=re.I)
        elif (their := _THEIR.search(rest)) and _AMOUNT.search(rest):
            text = f"{rest[: their.start()]}the{their['rest']} of the {noun}"
        elif best := _WHICH_BEST.fullmatch(rest):
            text = f"Which {noun} is {re.sub(' ones?$', '', best['best'], flags=re.I)}"
        elif which := _which_are(rest):
            text, swaps = f"Which {noun} {rest[which.end() :]}", True
        elif _BEST.fullmatch(rest):
            text = f"Which {noun} is {'' if rest.lower().startswith('the ') else 'the '}{rest}"
        elif replaces and (ones := _ONES.fullmatch(rest)):
            text, is_narrower, swaps = f"Which {noun} {_being(ones['rest'], ones['that'])}", False, True
        elif replaces and not _PRONOUN.search(rest) and not re.match(r"(?:who|wh\w+|how)\b", rest, re.I):
            text, is_narrower, swaps = f"Which {noun} {_being(rest, None)}", False, True
        else:
            return []
        return [
            FollowUp(f"{text}?", lambda query: self._within(query, replaces=not is_narrower, swaps=swaps))
        ]

    def _within(self, query: Query, *, replaces: bool, swaps: bool = False) -> Query | None:
        """A query of all such things as one of the last set; or in the place of a condition that it has.

        With `swaps` also in the place of one that nothing fulfils beside it.
        """
        whole = self.last.set
        if whole is None or query.other is not None:
            return None
        walks = last_walks(query.part)
        if swaps and len(walks) == 1 and (swapped := self._swapped(whole, walks[0])) != whole:
            if swapped in parts_of(query.part):
                return query
            whole = swapped
        steps = set(steps_of(query))
        while isinstance(whole, Extreme | Compared | Counted) and (
            (isinstance(whole, Extreme) and whole.number == 1)
            or (replaces and steps & set(steps_of(Query("list", whole))))
        ):
            whole = whole.source
        part = query.part
        if query.ask in ("sum", "average", "largest", "smallest"):
            return (
                replace(query, part=replace(part, source=self._restricted(part.source, whole)))
                if isinstance(part, Walk)
                else None
            )
        return replace(query, part=self._restricted(part, whole))

    def _swapped(self, whole: Part, new: Walk | Qualified) -> Part:
        """The last set by another condition: *in Norland*, then *in Sudland*, where each is in one."""
        repeated = self.last.reader.vocabulary.schema.repeated
        match whole, new.source:
            case Both(left, right), _:
                return Both(self._swapped(left, new), self._swapped(right, new))
            case Walk(Anchor(old), step), Anchor(node) if step == new.step and old != node:
                return whole if repeated[opposite(step)] else new
            case _:
                return whole

    def _restricted(self, part: Part, whole: Part) -> Part:
        match part:
            case OfType(type_, _) if type_ >= 0 and type_ == self.last.type:
                return whole
            case Extreme(source) | Compared(source) | Counted(source) | Related(source):
                return replace(part, source=self._restricted(source, whole))
            case Without(left) | Both(OfType() as left):
                return replace(part, left=self._restricted(left, whole))
            case Both(left, OfType() as right):
                return Both(left, self._restricted(right, whole))
            case _:
                return Both(whole, part)

    # names

    def has_words(self, text: str) -> bool:
        """Whether a text has words of its own beside names and words that say nothing by themselves."""
        mentions = self._mentions(text)
        return any(
            t.norm not in _IDLE and not any(m.start < t.stop and t.start < m.stop for m in mentions)
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

    def named(self, rest: str) -> list[FollowUp] | Abstention:
        """*And the Cologne Depot?*: the last question with a name or a value for one of its kind."""
        query, mentions, graph = self.last.query, self._mentions(rest), self.last.reader.graph
        if query is None or not rest:
            return []
        if not mentions:
            words = [t.text for t in tokens(rest) if t.norm not in FUNCTION]
            if not words or not all(w[0].isupper() for w in words):
                return []
            near = near_names(graph, self.last.reader.names, [" ".join(words)])
            return Abstention(
                "no_entity", f'I cannot place "{" ".join(words)}": no name in this graph is like it', near
            )
        if len(mentions) > 1 or self.has_words(rest):
            return []
        mention = mentions[0]
        best = [c for c in mention.candidates if c.how == mention.candidates[0].how and c.how <= PLURAL]
        changes = {(old, c.node): _with(query, old, c.node) for c in best for old in self.last.alike(c.node)}
        if len(changes) > 1:
            names = tuple(
                dict.fromkeys(graph.label(n) for pair in changes for n in pair[len(best) > 1 :][:1])
            )
            told = "be" if len(best) > 1 else "take the place of"
            return Abstention("ambiguous_entity", f'"{mention.text}" may {told} {" or ".join(names)}', names)
        found = list(changes.values()) or self._with_value(query, rest, mention)
        at = (mention.start + self.skipped, mention.stop + self.skipped)
        if found or rest.split()[0].lower() in PREPOSITIONS or not mention.strong:
            return [FollowUp(self.question, query=each, at=at) for each in found]
        detail = (
            f'I cannot tell what is asked of "{mention.text}": the last question names nothing of its kind'
        )
        return Abstention("unplaced", detail)

    def _with_value(self, query: Query, rest: str, mention: Mention) -> list[Query]:
        """The last query with a value in the place of its only one, compared as the words beside it say."""
        values = [v for p in parts_of(query.part) for v in _values_of(p)]
        new = [
            replace(v, mention=-1) for v in mention.values if len(values) == 1 and v.date == values[0].date
        ]
        sign = sign_beside(rest, mention)

        def changed(part: Part) -> Part:
            if isinstance(part, Compared) and isinstance(part.value, Value):
                return replace(part, value=new[0], sign=sign or part.sign)
            return part

        part = mapped(query.part, changed) if new else query.part
        return [] if part == query.part else [replace(query, part=part)]

    # pronouns

    def referring(self, rest: str) -> list[FollowUp] | Abstention:
        """A question in which a name stands in the place of *it*, *they*, *that city*, *there*."""
        match = next((m for m in _PRONOUN.finditer(rest) if self._is_reference(rest, m)), None)
        mentions = self._mentions(rest)
        if match is None:
            return [] if mentions else self._of_last(rest)
        if any(m.stop <= match.start() and m.strong and m.candidates for m in mentions):
            return []  # it stands for a name before it
        meant = [r for r in self.last.referents if self._may_mean(match, r)]
        if (answer := self._answered()) and (match["thing"] or match["many"]):
            # A client may be a company; what asked for it, *Private*, is nothing of which more is asked.
            told = [r for r in meant if not r.is_value or r == answer]
            meant = told or [answer]
        if match["many"] and any(r.is_set for r in meant):
            meant = [r for r in meant if r.is_set]
        if match["person"]:
            meant.sort(key=lambda r: (not r.sex, r.is_person is not True))
        if not meant:
            detail = f'I cannot tell what "{match[0]}" stands for in the last question and its answer'
            return Abstention("unplaced", detail)
        before, behind, word = rest[: match.start()], rest[match.end() :], match[0].lower()
        owns = match["owns"] or word in ("his", "its", "their") or (word == "her" and _owns_next(behind))
        places = ("in ", "at ") if match["place"] else ("",)
        ways = [
            self._put(before + place, r, ("'s" if owns else "") + behind) for r in meant for place in places
        ]
        return ways[:_MOST_WAYS]

    def _of_last(self, rest: str) -> list[FollowUp]:
        """*Who is the director?* of what was asked of, *in which rooms?* they are."""
        which, words = _WHICH.fullmatch(rest), self.last.reader.vocabulary.words
        referents = self.last.referents
        if which and all(singular(w) in words or w in words for w in which["noun"].lower().split()):
            is_set = self.last.type >= 0 and singular(which["noun"].lower()) == singular(self.last.noun)
            if is_set and self.last.set is not None:
                return [FollowUp(self.question, query=Query("list", self.last.set))]
            return [replace(self._put(f"{rest} is ", r, ""), is_whole=True) for r in referents[:1]]
        if _THE.fullmatch(rest) and not EXTREME.search(rest):
            return [
                replace(self._put(f"{rest} of ", r, ""), is_whole=True) for r in referents if not r.is_set
            ]
        return []

    def _is_reference(self, rest: str, match: re.Match[str]) -> bool:
        """Whether a word stands for something outside of the question."""
        if match["place"]:
            return not _EXISTS.search(rest)
        if match["that"]:
            noun = match["noun"].lower()
            return noun == "one" or bool(self.last.called(singular(noun)))
        return True

    def _answered(self) -> Referent | None:
        """The only answer to the last question, if it is a thing that has a type or is told of."""
        first = next(iter(self.last.referents), None)
        is_one = first is not None and not first.is_set and [first.node] == self.last.answers
        return first if is_one and self.last.thread.total == 1 else None

    def _may_mean(self, match: re.Match[str], referent: Referent) -> bool:
        if match["person"]:
            sex = "female" if match["person"].lower() in ("she", "her", "hers") else "male"
            is_of_sex = referent.sex in ("", sex)
            return not referent.is_set and referent.is_person is not False and is_of_sex
        if match["thing"] or match["place"]:
            return not referent.is_set and referent.is_person is not True
        if match["that"] and match["noun"].lower() != "one":
            is_many = match["that"].lower() in ("those", "these")
            return referent.is_set == is_many and referent in self.last.called(
                singular(match["noun"].lower())
            )
        return bool(match["many"]) or not referent.is_set

    def _put(self, before: str, referent: Referent, behind: str) -> FollowUp:
        """A name in the place of a pronoun; of a set one member, in whose place the query has the set."""
        name, last = self.last.reader.graph.label(referent.node), self.last.query
        text = f"{_OTHER.sub('', before)}{name}{_OTHER.sub('', behind)}?"
        is_other = bool(_OTHER.search(f"{before}.{behind}"))

        def changed(part: Part) -> Part:
            return referent.part if isinstance(part, Anchor) and part.node == referent.node else part

        def around(query: Query) -> Query | None:
            is_asked = last is not None and key_of(query) == key_of(last) and not is_other
            if is_asked or referent.node not in entities_of(query):
                return None
            if referent.is_set:
                part = mapped(query.part, changed)
                query = (
                    Query("every", referent.part, part) if query.ask == "yes" else replace(query, part=part)
                )
            for node in self.last.told if is_other else ():
                query = replace(query, part=Without(query.part, Anchor(node)))
            return query

        return FollowUp(text, around, name, is_said=not referent.is_set and not is_other)


def _with(query: Query, old: int, new: int) -> Query:
    other = None if query.other is None else with_entity(query.other, old, new)
    return replace(query, part=with_entity(query.part, old, new), other=other)


def _values_of(part: Part) -> list[Value]:
    if isinstance(part, Compared) and isinstance(part.value, Value):
        return [part.value]
    conditions: Sequence[OnEdge] = getattr(part, "conditions", ())
    return [c.value for c in conditions if isinstance(c.value, Value)]


def _comparative(superlative: str) -> str:
    """*Oldest* → *older*."""
    return {"most": "more", "least": "less"}.get(superlative, superlative.removesuffix("st") + "r")


def _being(rest: str, that: str | None) -> str:
    """What narrows a set, as a question goes on: *in Berlin* → *are in Berlin*, *who live in* → *live in*."""
    return rest if that and not that.lower().startswith("of") else f"are {rest}"


def _owns_next(behind: str) -> bool:
    words = tokens(behind)
    return bool(words) and words[0].norm not in FUNCTION
