"""Follow-ups that go on from a set: what is kept or left out of it, its order, which of it is meant.

only those in Berlin; leave out the diesels          within the last set, or without what it has of such
put them in order of age; from oldest to youngest
which of the two is newer?; his three blocks         the last answers, or what the last turns were about
are any of them in Berlin?; are they of one team?
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

import numpy as np

from clew.graph.steps import Step, opposite
from clew.query.execute import Executor
from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Extreme,
    OfType,
    Part,
    Qualified,
    Query,
    Related,
    Walk,
    Without,
    entities_of,
    last_walks,
    parts_of,
    steps_of,
    with_entity,
)
from clew.query.values import NUMBER_WORDS
from clew.query.vocabulary import NUMBER
from clew.query.words import say
from clew.reading.certainty import Around
from clew.reading.comparisons import BEST_FIRST, EARLIER, FEWER, LATER, MOST, is_comparative
from clew.reading.english import ANY_PEOPLE, BEING, DOING, FUNCTION, HAVING, PREPOSITIONS
from clew.reading.thread import LastAnswer, unordered
from clew.text.inflection import singular, singular_noun, singular_of
from clew.text.lexicon import ADJECTIVE, NOUN, Lexicon
from clew.text.normalise import tokens
from clew.types import Abstention

THEM = r"(?:them|those|these|they)"
AUX = r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should)"
_NUMBERS = "|".join((*(word for word, number in NUMBER_WORDS.items() if 1 < number < 20), r"\d{1,2}"))
ALL = re.compile(
    rf"(?P<count>(?:how many|count)(?:\s+(?:are|is|were|{THEM}|there|that|of|in|all|total"
    r"|left|remain|remaining))*)"
    rf"|(?:who|what|which|list|show|name|give)(?:\s+(?:are|were|{THEM}|all|me|of))+|which(?:\s+ones?)?"
    r"|(?:(?:what|give|list|show)\s+(?:(?:me|are)\s+)?)?(?:(?:their|the)\s+)?names?"
    r"|(?:who|what|which(?:\s+one)?)(?:\s+(?:is|was)|['’]s)\s+(?:it|that)|(?:who|what)"
    rf"|what\s+(?:are|is|were)\s+(?:{THEM}|it|he|she)\s+called|{THEM}|it"
    rf"|(?:which|what)\s+(?P<noun>\w+)\s+(?:are|were|is|was)\s+(?:{THEM}|it|that)",
    re.I,
)
SORT = re.compile(
    rf"(?:(?:sort|order|rank|arrange|list|show|put|give|line)(?:\s+(?:me|up))*\s+)?(?:(?:(?:those|these)\s+\w+|the\s+(?P<noun>(?!rest|other)\w+)|{THEM}|it|all)(?:\s*,)?\s+)?(?:please\s+)?"
    r"(?:(?:in|into)\s+(?:the\s+|an?\s+)?(?:(?P<up>ascending|chronological)\s+|(?P<down>descending|reverse)\s+)?order"
    r"(?:\s+(?:of|by)\s+(?P<of>.+))?|(?<!^)(?:by|according\s+to)\s+(?P<by>.+)"
    rf"|(?:(?:who|which|what)\s+are\s+{THEM}\W+)?(?:{BEST_FIRST}|(?P<best>(?:\w+est|most|least))\s+(?P<key>\w+(?:\s+\w+)?)\s+first))",
    re.I,
)
_WAY = re.compile(
    r"[\s,(]+(?:(?:in\s+)?(?P<down>desc)\w*(?:\s+order)?|(?:in\s+)?asc\w*(?:\s+order)?"
    rf"|{BEST_FIRST})\)?$",
    re.I,
)
ONLY = re.compile(
    rf"(?P<only>(?:show\s+|list\s+|keep\s+)?(?:me\s+)?(?:only|just)\s+(?:{THEM}|the\s+ones?|the|ones?)?)"
    rf"\s*(?P<that>that|who|which|of\s+{THEM})?\s*(?P<rest>.+)"
    rf"|(?P<verb>keep|show|list|give)\s+(?:me\s+)?(?:{THEM}|the\s+ones?)\s+(?P<kept>.+)",
    re.I,
)
OUT = re.compile(
    r"(?:(?:please\s+)?(?:leave|take|filter)\s+(?:out|off|away)|drop|remove|exclude|skip|omit|ignore|minus|without"
    r"|except(?:\s+for)?|excluding|apart\s+from|but\s+not|not)\s+(?:(?:any(?:thing|one|body)?|all|every(?:thing|one)?)\s*)?"
    rf"(?:{THEM}|the\s+ones?|ones?|the)?\s*(?P<that>that|who|which)?\s*(?P<rest>.+)",
    re.I,
)
ONES = re.compile(
    rf"(?:{THEM}|the\s+ones?|ones|any(?:thing|one|body)(?!\s+else))\s+(?P<that>that|who|which)?\s*(?P<rest>.+)",
    re.I,
)
_OF_THEM = re.compile(
    r"(?:\s+ones?)?\s*\b(?P<of>of|among(?:st)?|from)\s+(?:all\s+(?:of\s+)?)?"
    r"(?:(?:them|his|hers|theirs)\b|(?:those|these)\b(?:\s+(?P<noun>\w+)(?:\s+ones?)?)?)|(?<=which)\s+ones?\b",
    re.I,
)
_PARTITIVE = re.compile(
    rf"\b(?:which|who|what|whose|many|much|any|ones?|all|none|most|both|each|some|either|neither|first|last|\w+er"
    rf"|(?:{MOST}|average|mean|total|sum)(?:\s+[\w-]+){{0,3}})(?:\s+ones?)?$|^$",
    re.I,
)
_THEIR = re.compile(r"\btheir\b(?P<rest>.+)", re.I)
_TOGETHER_OR_MEAN = re.compile(
    r"\b(?:together|altogether|combined|in total|in all|on average|between them|add up to|come to)\b", re.I
)
_HOW_MUCH = re.compile(
    r"how\s+(?:many|much)\s+(?P<what>\w+)\s+(?:(?P<mean>on average)|together|altogether|combined"
    r"|in (?:total|all))",
    re.I,
)
_AMOUNT = re.compile(r"\b(?:average|mean|total|sum|combined|overall|highest|lowest|maximum|minimum)\b", re.I)
WHICH_BEST = re.compile(
    rf"(?:(?:which|what|who)(?:\s+ones?)?\s+(?:is|are|was|were)\s+|(?:what|who)['’]s\s+)"
    rf"(?P<best>(?:the\s+)?(?:(?:{_NUMBERS})\s+)?(?:{MOST})(?:\s+ones?)?(?:\s+(?:by|in\s+terms\s+of)\s+[\w\s-]+)?)",
    re.I,
)
_WHICH_ARE = re.compile(
    r"(?:which|(?P<many>how\s+many))\s+(?=(?:is|are|was|were|has|have|had|do|does|did|can)\s(?!there\b))",
    re.I,
)
_WHICH_BE = re.compile(
    r"which\s+(?:is|are|was|were)\s+(?P<of>(?:the|his|her|its|their)\b|(?P<owner>.*)['’]s\b)?\s*"
    r"(?:(?:most|least|top|bottom)\b)?(?P<rest>.+)",
    re.I,
)
BEST = re.compile(
    rf"(?:the\s+)?(?:(?:{_NUMBERS})\s+)?(?:\w{{3,}}est|(?:most|least)\s+\w+|(?:top|bottom|first|last)\s+(?:{_NUMBERS}))\b.*",
    re.I,
)
BY = re.compile(r"\b(?:by|per|(?:for|in|of|at)\s+(?:each|every))\s+[\w\s-]+$", re.I)
_OF_ONE = re.compile(
    rf"\b(?:{MOST}|first|last|(?:most|least)$)(?!\w)(?!\s+(?:two|three|\d))"
    r"|^which \w+ (?:is|was|has|does)\b",
    re.I,
)
"""What is so of one thing alone."""
_BEST_ONE = re.compile(r"(?:(?<=est)|(?<=most)|(?<=first)|(?<=last))\s+ones?$", re.I)
_MOST = re.compile(r"(?:the\s+)?(?P<word>most|least|fewest|highest|lowest|largest|smallest|biggest)", re.I)
_ANY = re.compile(
    rf"(?P<aux>{AUX})\s+(?:(?P<how>any|some|one|either|all|both|none|each|every\s*one)\s+of\s+)"
    rf"(?:{THEM})(?:\s+ones?)?\s+(?P<rest>.+)"
    rf"|(?P<be>{AUX})\s+there\s+(?:any|one)(?:\s+of\s+{THEM}|\s+ones)?\s+(?P<behind>(?:(?:{'|'.join(PREPOSITIONS)}|without|that|who|which)\b|\w+ed\b|built\b).+)",
    re.I,
)
_ALSO = re.compile(
    r"(?:are|were|is|was|have|has|had|do|does)(?:n['’]t|\s+not)?\s+(?!(?:there|any|some|all|both|each|either|none|they|these|those"
    r"|it|its|this|that|s?he|h(?:is|er)|their|the|you|we|i)\b)",
    re.I,
)
"""Words that go on with what else is so of a set, behind *and*: *and have a pool?*."""
GROUP_BEST = re.compile(
    r"(?:(?:which|what|who)(?:\s+ones?|\s+of\s+(?:them|those|these)|\s+\w+)?\s+(?:has|have|had|got|is|was|are|were)\s+)?(?:the\s+)?"
    r"(?P<word>most|fewest|least|highest|lowest|largest|smallest|biggest)(?:\s+ones?)?",
    re.I,
)
_SO_MANY = re.compile(
    r"(?P<of>\b(?:of|among|from|between)\s+)?\b(?:all\s+)?(?P<the>the|these|those|them|his|her|its|their|our)\s+"
    rf"(?P<number>{_NUMBERS})\b(?!\s*[-%]|\s+(?:{MOST}|first|last)\b)(?:\s+(?P<noun>[^\W\d]+)(?:\s+ones?)?)?",
    re.I,
)
_OTHER_ONES = re.compile(
    rf"\bthe\s+(?:rest(?:\s+of\s+{THEM})?(?=\s*(?:,|$|by\b|in\b))|(?:other|remaining)(?:s\b|\s+(?:(?P<number>{_NUMBERS})|(?P<one>one)|ones)\b))",
    re.I,
)
_OF_THE = re.compile(
    r"\b(?:of|among|from)\s+(?P<the>the)\s+(?P<said>(?P<whole>(?:whole|entire)\s+\w+)?.+)", re.I
)
_BOTH = re.compile(
    r"(?:(?<=^is)|(?<=^are)|(?<=^was)|(?<=^were)|(?<=^do)|(?<=^did)|(?<=^have)|(?<=^had)|(?<=^can)|(?<=they)|(?<=those)|(?<=these))"
    r"\s+both\b(?:\s+of\s+(?:them|those|these))?",
    re.I,
)
WHICH_IS_MORE = re.compile(
    rf"(?:which|who|what)(?:\s+one)?\s+(?:\w+\s+)?{AUX}\s+(?:the\s+)?(?:\w+er|more|less|first|last)(?:\s+ones?)?\b(?!.*\bthan\b).*"
    r"|(?:which|who)(?:\s+one)?\s+(?:[a-z]+\s+){1,3}(?:the\s+)?(?:first|last|earlier|later|more|less|\w+er)\b(?!.*\bthan\b).*",
    re.I,
)
_SAME = re.compile(
    rf"(?P<aux>{AUX})\s+{THEM}(?:\s+(?:both|all))?(?P<verb>(?:\s+\w+)*?)\s*\b(?P<at>in|at|by|from|for|with|on|to|of)?\s*\bthe\s+same"
    r"\s+(?P<noun>\w+)(?P<behind>.*)",
    re.I,
)
_OF_TWO = re.compile(r"\b(?:of|from|between)\s+(?:the\s+)?(?:two|both)\b|\bof\s+them\b", re.I)
_WHO_BEST = re.compile(rf"who\s+(?P<is>(?!else\b).*\b(?:{MOST}|first|last)\b.*)", re.I)
_PRONOUN = re.compile(r"\b(?:he|she|it|they|him|her|them|his|hers|its|theirs?|there)\b", re.I)
YES_NO = re.compile(rf"{AUX}(?:n['’]t)?\s", re.I)
_HAVING = re.compile(r"(?P<not>without|lacking|with\s+no)\s+|(?:with|having)\s+", re.I)


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A way to read a follow-up: a text, known to be about `names`, and what is put around its query.

    `query` is known where nothing has to be read but a name at the characters `at`. `is_said`: the text says
    all of it. What `is_whole` may be read without the last question too. Ways of a lower `rank` come first.
    """

    text: str
    around: Around | None = None
    names: tuple[str, ...] = ()
    query: Query | None = None
    at: tuple[int, int] = (0, 0)
    is_said: bool = False
    is_whole: bool = False
    rank: int = 0


def goes_on_from_set(question: str) -> bool:
    """Whether a question is one of those that need a set."""
    whole = (ALL, SORT, ONLY, OUT, ONES, BEST, WHICH_BEST)
    points = any(m["of"] or m["the"].lower() != "the" for m in _SO_MANY.finditer(question))
    return points or any(p.fullmatch(question) for p in whole) or bool(_which_are(question))


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
        if is_object or (is_of and not is_ones and any(map(is_noun, phrase))):
            return None
    return _WHICH_ARE.match(question) or _which_does(question)


_BEFORE_OBJECT = frozenset("the a an no more less fewer most least exactly over under".split())


def _which_does(question: str) -> re.Match[str] | None:
    """The words before a verb that has no noun before it: *which opened first*, not *which used cars*."""
    match, lexicon = re.match(r"which\s+(?=(\w+)\b(?:\s+(\w+))?)", question, re.I), Lexicon.load()
    if match is None:
        return None
    verb, then = (word and word.lower() for word in match.groups())
    is_verb = lexicon.mostly_verb(verb) or (verb.endswith("ed") and not is_noun(verb))
    is_verb = is_verb or then in _BEFORE_OBJECT
    is_alone = (
        verb not in FUNCTION
        and singular(verb) == verb
        and then not in BEING | DOING | HAVING
        and (not then or then in FUNCTION or not is_noun(then))
    )
    return match if is_verb and is_alone else None


def is_noun(word: str) -> bool:
    """Whether a word behind *the* is a noun, or unknown: not *oldest*, *older*, *two*."""
    lexicon = Lexicon.load()
    is_adjective = lexicon.uses(word, ADJECTIVE) > lexicon.uses(word, NOUN)
    if word.isdigit() or is_adjective or lexicon.mostly_verb(word):
        return False
    return bool(lexicon.classes(word)) or not lexicon.known(word)


def sets_meant(last: LastAnswer, rest: str) -> list[tuple[LastAnswer, str]] | Abstention:
    """The sets that *the two*, *his three blocks*, *the other one* may be, and what is asked of *them*.

    None where the question has no such words.
    """
    if match := _OTHER_ONES.search(rest):
        number = _number(match["number"]) if match["number"] else 1 if match["one"] else 0
        found = [t for t in last.others() if (len(t.members) == number if number else len(t.members) > 1)]
        if "rest" in match[0].lower():
            found = [
                t for t in found if not (isinstance(t.part, Without) and isinstance(t.part.left, OfType))
            ]
        if not found:
            return _not_told(match[0])
        return [_asked_of(replace(last, focus=found[0]), rest, match.span(), "it" if number == 1 else "they")]
    if YES_NO.match(rest) and (match := _BOTH.search(rest)):
        called = last.of_number(2)
        subject = " they" if not re.search(r"\b(?:they|those|these)\s+$", rest[: match.start()], re.I) else ""
        text = f"{rest[: match.start()]}{subject}{rest[match.end() :]}"
        return [(replace(last, focus=things), text) for things in called] or _not_told(match[0].strip())
    if match := next((m for m in _SO_MANY.finditer(rest) if m["the"].lower() != "them" or m["of"]), None):
        return _so_many(last, rest, match)
    if meant := _said_before(last, rest):
        return [meant]
    executor = Executor(last.reader.graph)
    sizes = [len(executor.members(query.part)) for query, _ in last.run if query.ask != "count"]
    if (last.things is not None and len(last.things.members) > 1) or any(n > 1 for n in sizes):
        return []
    is_of_people = re.search(r"\b(?:they|them|their)\b", rest, re.I) and not re.match(
        r"which\s+ones?\b", rest, re.I
    )
    people = next(last.of_run(), None) if is_of_people else None
    if people is not None and len(people.members) > 1 and people.are_people:
        return [(replace(last, focus=people), rest)]
    if last.run and (_of_them(rest) or WHICH_IS_MORE.fullmatch(rest) or _SAME.fullmatch(rest)):
        return [(replace(last, focus=t), rest) for t in last.of_run() if len(t.members) > 1]
    return []


def _said_before(last: LastAnswer, rest: str) -> tuple[LastAnswer, str] | None:
    """*Which of the sold ones*: the last set asked for so; *of the whole group*: what was narrowed."""
    match, vocabulary = _OF_THE.search(rest), last.reader.vocabulary
    if match is None or not _PARTITIVE.search(rest[: match.start()].strip()):
        return None
    said, found = tokens(match["said"]), list[tuple[LastAnswer, int]]()
    for query in filter(None, (last.query, *last.earlier)):
        meant = last if query is last.query else last.about(query.part)
        members = set(meant.things.members if meant.things else ())
        text = f"{say(query, vocabulary)} {last.thread.question if query is last.query else ''}"
        known = set(map(singular_of, tokens(text))) - FUNCTION
        run = list(takewhile(lambda t, known=known: singular_of(t) in known, said))
        stop = match.start("said") + (run[-1].stop if run else 0)
        ones = re.match(rf"\s+(?:ones|{_NUMBERS})\b", rest[stop:], re.I)
        if len(members) > 1 and run and (ones or singular_of(run[-1]) != run[-1].norm):
            found = [(meant, stop + (ones.end() if ones else 0))]
            break
        if match["whole"] and last.things is not None and members > set(last.things.members):
            found = [(meant, match.end("whole"))]
    if not found:
        return None
    text = f"{rest[: match.start('the')]}them{rest[found[0][1] :]}"
    return found[0][0], re.sub(r"^(\w+ them),\s*(which|who|what|how many)\b", r"\2 \1", text, flags=re.I)


def _so_many(last: LastAnswer, rest: str, match: re.Match[str]) -> list[tuple[LastAnswer, str]] | Abstention:
    number = _number(match["number"])
    noun, stop = (match["noun"] or "").lower(), match.end()
    if singular(noun) == noun and Lexicon.load().mostly_verb(noun):
        noun, stop = "", match.end("number")  # *do the two interact*
    behind = rest[match.end("noun") :].split() if noun else []
    called = last.of_number(number, singular(noun))
    if noun and not called:
        # *Which of the two joined first?*: a verb is no noun of theirs; *those three ladders* may be.
        is_many = singular(noun) != noun and (not behind or behind[0].lower() in BEING | DOING | HAVING)
        is_noun = noun not in FUNCTION and is_many
        stop = stop if is_noun else match.end("number")
        is_other_noun = is_noun and singular(noun) in last.reader.vocabulary.nouns
        called = [] if is_other_noun else last.of_number(number)
    if not called:
        is_pointing = match["of"] or match["the"].lower() != "the"
        return _not_told(rest[match.start() : stop]) if is_pointing else []
    span = (match.start("the"), stop) if match["of"] else (match.start(), stop)
    return [_asked_of(replace(last, focus=things), rest, span, "they") for things in called]


def _asked_of(last: LastAnswer, rest: str, span: tuple[int, int], pronoun: str) -> tuple[LastAnswer, str]:
    """A question with a pronoun in the place of what it says of a set: *of them*, *they*, *those*."""
    before, behind = rest[: span[0]], rest[span[1] :]
    if not before.strip() and re.match(
        r"\s*,\s*(?:who|wh\w+|how|is|are|does|do|did)\b.*\b(?:it|s?he|they|them|there|h[ie]\w+|its|their)\b",
        behind,
        re.I,
    ):
        return last, behind.lstrip(" ,")
    if pronoun == "they" and before.strip():
        is_of = re.search(r"\b(?:of|among|from|between)\s+$", before, re.I)
        is_subject = re.search(rf"\b{AUX}\s+$", before, re.I)
        pronoun = "them" if is_of else "they" if is_subject else "those"
    return last, f"{before}{pronoun}{behind}"


def _number(word: str) -> int:
    return NUMBER_WORDS.get(word.lower()) or int(word)


def _not_told(said: str) -> Abstention:
    return Abstention(
        "unplaced", f'I cannot tell which are meant by "{said}" in the last questions and their answers'
    )


@dataclass(eq=False)
class OfSet:
    """The ways to read a question as one of the last set."""

    last: LastAnswer
    question: str
    """As it was asked."""

    @cached_property
    def whole(self) -> Part | None:
        """The last set."""
        return self.last.things.part if self.last.things else None

    @cached_property
    def noun(self) -> str:
        """What its members are called."""
        return self.last.owners.noun if self.last.owners else "things"

    @property
    def _may_be_people(self) -> bool:
        """Whether *who* may ask for one of the set, unless its type is none of people: not of animals."""
        things = self.last.things
        return things is not None and (things.type < 0 or things.are_people)

    def names_what_is_asked(self, rest: str) -> bool:
        """Whether a question has a noun of the graph: *longest film in the programme* is a whole one."""
        nouns, lexicon = self.last.reader.vocabulary.nouns, Lexicon.load()
        return any(singular(t.norm) in nouns and not lexicon.mostly_verb(t.norm) for t in tokens(rest))

    def _called(self, noun: str | None) -> bool:
        """Whether a noun may call the members, as *ones* and no noun do."""
        low = (noun or "ones").lower()
        things = self.last.owners
        return low in ("one", "ones") or bool(
            things
            and (things.called(singular(low)) or singular(low) == singular(things.noun.split()[-1].lower()))
        )

    # all of it, and its numbers

    def of_all(self, rest: str) -> list[FollowUp]:
        """*How many are they?*, *which ones?*, *their names*."""
        match, whole, met = ALL.fullmatch(rest), self.whole, self.last.met
        if (
            match
            and re.search(r"\bit\s+called$", rest, re.I)
            and self.last.things
            and self.last.things.are_people
        ):
            return [FollowUp(self.question, query=Query("list", r.part)) for r in met[:1]]
        if match is None or whole is None or not self._called(match["noun"]):
            return []
        if (
            re.fullmatch("how many", rest, re.I)
            and isinstance(best := whole, Extreme)
            and best.number == 1
            and best.steps
        ):
            value: Part = best
            for step in best.steps:
                value = Walk(value, step)
            each = best.steps[:1] if best.counted and len(self.last.answers) > 1 else ()  # as many each
            by = tuple(opposite(step) for step in each)
            return [FollowUp(self.question, query=Query("count" if best.counted else "list", value, by=by))]
        if re.search(r"\b(?:total|all)$", rest, re.I) and len(self.last.run) > 1:
            return []  # a sum
        if rest.lower() == "it" and (asked := self._asked_of_other(whole)):
            return [FollowUp(self.question, query=asked)]
        found = Query("count" if match["count"] else "list", whole)
        return [] if found == self.last.query and match["count"] else [FollowUp(self.question, query=found)]

    def _asked_of_other(self, whole: Part) -> Query | None:
        """What the last question asks of one thing, of *the other one*."""
        query, other = self.last.query, self.last.focus
        named = entities_of(query) if query else ()
        is_other = other is not None and len(other.members) == 1 and not isinstance(whole, Anchor)
        if (
            query is None
            or other is None
            or not is_other
            or len(named) != 1
            or not isinstance(query.part, Walk)
        ):
            return None
        return replace(query, part=with_entity(query.part, named[0], other.members[0]))

    def of_same(self, rest: str) -> list[FollowUp]:
        """*Do they play for the same team?*: whether what is read of one of them is that of the others."""
        match, things = _SAME.fullmatch(rest), self.last.things
        if match is None or things is None or len(things.members) < 2:
            return []
        node, whole = things.members[0], things.part
        name, noun = self.last.reader.graph.label(node), match["noun"]
        aux = {"do": "does", "are": "is", "were": "was", "have": "has"}.get(
            match["aux"].lower(), match["aux"]
        )
        at = f"{match['at']} " if match["at"] else ""
        texts = [
            f"{at}which {noun} {aux} {name} {match['verb']}{match['behind']}?",
            f"Which {noun} {aux} {name} {match['verb']} {at.strip()}?",
            f"What is the {noun} of {name}?",
        ]

        def around(query: Query) -> Query | None:
            steps, part = list[Step](), query.part
            while isinstance(part, Walk):
                steps.append(part.step)
                part = part.source
            if part != Anchor(node, getattr(part, "mention", -1)) or not steps or query.ask != "list":
                return None
            back: Part = query.part
            for step in steps:
                back = Walk(back, opposite(step))
            return Query("every", Without(whole, Anchor(node)), back)

        return [FollowUp(text, around, (name,), rank=rank) for rank, text in enumerate(texts)]

    # order

    def in_order(self, rest: str) -> list[FollowUp]:
        """*Sort them by age, oldest first*: by what "What is the age of X?" is read as."""
        match, things = SORT.fullmatch(rest), self.last.things
        if match is None or things is None or not things.members or not self._called(match["noun"]):
            return []
        # Another order takes the place of the last.
        whole = unordered(things.part)
        key, best, is_down = _order_of(match)
        node = things.members[0]
        name = self.last.reader.graph.label(node)

        def sorted_by(steps: tuple[Step, ...], is_counted: bool) -> Query | None:
            if best and comparative_of(best.lower().split()[0]) not in LATER | EARLIER | FEWER | _MORE:
                largest = None if self._is_of_time(steps) else True
            else:
                largest = self._is_downwards(best, is_down, steps[-1], is_counted)
            return None if largest is None else Query("list", Extreme(whole, steps, is_counted, largest, 0))

        def by_key(query: Query) -> Query | None:
            steps, part, is_counted = list[Step](), query.part, query.ask == "count"
            while isinstance(part, Walk):
                steps.insert(0, part.step)
                part = part.source
            is_path = isinstance(part, Anchor) and part.node == node and bool(steps)
            if not is_path or query.ask not in ("list", "count") or (is_counted and len(steps) > 1):
                return None
            return sorted_by(tuple(steps), is_counted)

        def by_best(query: Query) -> Query | None:
            ranked = next((p for p in parts_of(query.part) if isinstance(p, Extreme)), None)
            if ranked is None or query.ask != "list":
                return None
            return Query("list", replace(ranked, source=whole, number=0, nth=False, among=None))

        texts = [f"What is the {key} of {name}?", f"When was {name} {_as_participle(key)}?"] if key else []
        found = [FollowUp(text, by_key, (name,), rank=rank) for rank, text in enumerate(texts)]
        if best:
            found.append(
                FollowUp(f"Which {singular(self.noun)} is the {best}?", by_best, rank=2 if key else 0)
            )
        if best and not key and (many := re.fullmatch(r"(?:most|least|fewest)\s+(\w+)", best, re.I)):
            found.append(FollowUp(f"How many {many[1]} does {name} have?", by_key, (name,), rank=3))
        if match["up"] and not key:
            orders = (Extreme(whole, steps, False, False, 0) for steps in self._only_time())
            found += [FollowUp(self.question, query=Query("list", order)) for order in orders]
        return found

    def _only_time(self) -> list[tuple[Step, ...]]:
        """The step to the only time that the members have."""
        vocabulary, executor = self.last.reader.vocabulary, Executor(self.last.reader.graph)
        steps = executor.steps(np.array(self.last.things.members[:50] if self.last.things else []))
        times = [s for s in steps if s in vocabulary.value_steps and vocabulary.is_of_time(opposite(s))]
        return [(times[0],)] if len(times) == 1 else []

    def _is_of_time(self, steps: tuple[Step, ...]) -> bool:
        return self.last.reader.vocabulary.is_of_time(opposite(steps[-1]))

    def _is_downwards(self, best: str | None, is_down: bool, step: Step, is_counted: bool) -> bool:
        """Whether the largest comes first: *descending*, *oldest first*, *latest first*."""
        if best is None:
            return is_down
        more = comparative_of(best.lower().split()[0])
        if (
            self.last.reader.vocabulary.is_of_time(opposite(step))
            and not is_counted
            and more in LATER | EARLIER
        ):
            return more in LATER
        return more not in FEWER

    # a part of it

    def by_group(self, rest: str) -> list[FollowUp]:
        """*And per depot?*: what was counted, summed or averaged, by another group."""
        query, asked = self.last.query, self.last.thread.question.rstrip("?!. ")
        if query is None or not query.by or not BY.match(rest):
            return []
        if query.ask != "count":
            said = BY.search(asked)
            return [FollowUp(f"{asked[: said.start()]}{rest}?")] if said else []

        def around(counted: Query) -> Query | None:
            return self._within(counted, replaces=False) if counted.by else None

        return [FollowUp(f"How many {self.noun} are there {rest}?", around)]

    def best_group(self, rest: str) -> list[FollowUp] | Abstention:
        """*Which has the most?* of what was counted by group."""
        query, best, kinds = (
            self.last.query,
            GROUP_BEST.fullmatch(rest),
            self.last.reader.vocabulary.kinds_reached,
        )
        if query is None or best is None:
            return []
        largest = comparative_of(best["word"].lower()) not in FEWER
        match query:
            case Query("sum" | "average" | "list", Walk(source, step)) if kinds[step] == NUMBER and (
                not isinstance(source, Anchor) and (not query.by or query.ask == "list")
            ):
                return [
                    FollowUp(self.question, query=Query("list", Extreme(source, (step,), False, largest)))
                ]
            case _:
                pass
        if not query.by or query.ask == "list":
            return []
        if query.period or query.ask != "count":
            return Abstention("unplaced", f'I cannot tell which group "{rest}" asks for: none was counted')
        groups = query.part
        for step in query.by:
            groups = Walk(groups, step)
        back = tuple(opposite(step) for step in query.by[::-1])
        found = Extreme(groups, back, counted=True, largest=largest, among=query.part)
        return [FollowUp(self.question, query=Query("list", found))]

    def narrowed(self, rest: str, *, replaces: bool) -> list[FollowUp]:
        """*Only those in Berlin*, *which of them …*, *leave out …*: all such things, and the set."""
        query, noun = self.last.query, self.noun
        if self.whole is None or not rest:
            return []
        most = _MOST.fullmatch(rest)
        if most and query is not None and isinstance(query.part, Extreme) and self.last.focus is None:
            largest = comparative_of(most["word"].lower()) not in FEWER
            return [FollowUp(self.question, query=replace(query, part=replace(query.part, largest=largest)))]
        texts, how = self._texts(rest, noun, replaces=replaces)
        texts = [_BEST_ONE.sub("", text) for text in texts]
        if any(_OF_ONE.search(text) for text in texts):
            one = re.compile(rf"(?<=which ){re.escape(noun)}\b", re.I)
            texts = [*(one.sub(singular_noun(noun), text) for text in texts), *texts]
        whole = self.last.owners.part if self.last.owners else None
        is_which = re.match("which|who", rest, re.I)
        is_count = how.is_elliptic and query is not None and query.ask == "count"

        def around(query: Query) -> Query | None:
            kinds = set(map(type, parts_of(query.part)))
            if how.is_elliptic and Walk in kinds <= {OfType, Walk, Both}:
                return None  # *and the publisher?*: each has one
            found = self._within(query, replaces=not how.is_narrower, swaps=how.swaps)
            if found is None or (how.is_best and not isinstance(found.part, Extreme)):
                return None
            if how.is_amount and found.ask not in ("sum", "average", "count"):
                return None
            is_amount = found.ask in ("sum", "average", "largest", "smallest")
            if (is_which and is_amount) or (
                (found.part == whole or isinstance(found.part, OfType)) and not found.by and not how.is_out
            ):
                return (
                    None  # *Which was the biggest?* is not its size; *how many sold?* not how many there are
                )
            if how.is_out:
                return self._left_out(query, found)
            if how.verdict:
                return self._verdict(found, how.verdict)
            return replace(found, ask="count") if is_count and found.ask == "list" else found

        is_of_all = isinstance(self.whole, Anchor) and how.is_best and not how.is_whole
        return [
            FollowUp(f"{text}?", None if is_of_all else around, rank=rank, is_whole=how.is_whole)
            for rank, text in enumerate(dict.fromkeys(texts))
        ]

    def _texts(self, rest: str, noun: str, *, replaces: bool) -> tuple[list[str], _How]:
        """The questions of all such things that a follow-up may be, and how it goes on from the set."""
        are_many = self.last.things is not None and len(self.last.things.members) > 1
        is_of_two = re.match(r"(?:which|what|who)\b|(?:the\s+)?\w+er\b", rest, re.I) and _OF_TWO.search(rest)
        is_best = False
        is_of_some = "than" not in rest and re.match("which|who|what", rest, re.I) and _of_them(rest)
        if is_of_two or (are_many and (is_of_some or WHICH_IS_MORE.fullmatch(rest))):
            more, rest = rest, _of_two(rest)
            is_best = more != rest
        found = self._part_of(rest, noun, is_led=replaces)
        if found is None and _of_them(rest):
            found = self._some_of(rest, noun, is_best=is_best)
        if found is None:
            found = self._best_of(rest, noun, is_best=is_best, are_many=are_many, is_led=replaces)
        if found is not None:
            return found
        if replaces and (ones := ONES.fullmatch(rest)):
            return _being(ones["rest"], ones["that"], noun), _How(is_narrower=False, swaps=True)
        is_asked = re.match(rf"(?:who|wh\w+|how|{AUX})\b", rest, re.I) or _PRONOUN.search(rest)
        if replaces and not is_asked and not isinstance(self.whole, Anchor):
            return _being(rest, None, noun), _How(is_narrower=False, swaps=True, is_elliptic=True)
        return [], _How()

    def _part_of(self, rest: str, noun: str, *, is_led: bool) -> tuple[list[str], _How] | None:
        """*Leave out the diesels*, *only those in Berlin*, *are any of them in Berlin*."""
        if out := OUT.fullmatch(rest):
            return _being(out["rest"], out["that"], noun), _How(is_out=True)
        if only := ONLY.fullmatch(rest) or (not is_led and ONES.fullmatch(rest)):
            said = only.groupdict()
            kept = re.sub(r"\s+ones?$", "", said.get("kept") or only["rest"], flags=re.I)
            if BEST.fullmatch(kept):
                return [_the_best(kept, noun)], _How(is_best=True)
            return _being(kept, only["that"], noun), _How(is_elliptic=not said.get("verb"))
        if is_led and self.says_more(rest):
            return [f"Which {noun} {rest}"], _How()
        if any_of := _ANY.fullmatch(rest):
            aux, said = any_of["aux"] or any_of["be"], any_of["rest"] or any_of["behind"]
            that = re.match(r"(?:that|who|which)\s+", said, re.I)
            being = "" if that or aux.lower() in DOING else f"{aux} "
            text = f"Which {noun} {being}{said[that.end() :] if that else said}"
            return [text], _How(verdict=(any_of["how"] or "any").lower())
        return None

    def says_more(self, rest: str) -> bool:
        """Whether *and have a pool* says it of a set; *and is White Barn wider* is of what it names."""
        also = _ALSO.match(rest)
        text = rest[also.end() :] if also else ""
        named = [m for m in self.last.reader.name(text) if m.start == 0 and m.candidates]
        return also is not None and not (text[:1].isupper() and any(m.stop < len(text) for m in named))

    def _some_of(self, rest: str, noun: str, *, is_best: bool) -> tuple[list[str], _How]:
        """*Which of them …*, *the oldest of those indoor ones*, *who has most among them*."""
        texts = [_OF_THEM.sub(f" {said}", rest, count=1) for said in self._nouns_said(rest, noun)]
        if best := re.match(
            rf"(?:(?:which|what|who)(?:\s+ones?)?\s+(?:is|are|was|were)\s+)?(?:the\s+)?"
            rf"(?P<best>{MOST})\s+(?P<noun>{noun}.*)",
            texts[0],
            re.I,
        ):
            return [f"Which {best['noun']} is the {best['best']}"], _How(is_best=True)
        at_end = rf"(?:who|which)\s+(?!{re.escape(noun)})(?P<is>.+)\s+{re.escape(noun)}"
        if behind := re.fullmatch(at_end, texts[0], re.I):
            texts = [f"which {noun} {behind['is']}"]
        who = list[str]()
        if rest.lower().startswith("who") or (noun == "things" and re.match("which|what", rest, re.I)):
            who = [re.sub(r"^(?:who|which|what)\s+\w+", "who", texts[-1], flags=re.I)]
        return [*(re.sub(r"^who\b", "which", each, flags=re.I) for each in texts), *who], _How(
            is_best=is_best
        )

    def _best_of(
        self, rest: str, noun: str, *, is_best: bool, are_many: bool, is_led: bool
    ) -> tuple[list[str], _How] | None:
        """*Their average age*, *which is the oldest*, *the two oldest*, *who joined first*."""
        if total := _HOW_MUCH.fullmatch(rest):
            amount = "average" if total["mean"] else "total"
            return [f"What is the {amount} {total['what']} of the {noun}"], _How(is_amount=True)
        if (they := re.search(rf"\b{THEM}\b", rest, re.I)) and _TOGETHER_OR_MEAN.search(rest):
            return _of_amount(rest, they, noun), _How(is_amount=True)
        if (their := _THEIR.search(rest)) and _AMOUNT.search(rest):
            return [f"{rest[: their.start()]}the{their['rest']} of the {noun}"], _How()
        if best := WHICH_BEST.fullmatch(rest):
            return [_the_best(best["best"], noun)], _How(is_best=True)
        if which := _which_are(rest):
            is_many = which[0].lower().startswith("how")
            swaps = not is_best and not is_many
            return [f"{which[0]}{noun} {rest[which.end() :]}"], _How(swaps=swaps, is_best=is_best)
        if not is_led and self.names_what_is_asked(rest):
            return None
        if BEST.fullmatch(rest):
            return [_the_best(rest, noun)], _How(is_best=True)
        if are_many and (who := _WHO_BEST.fullmatch(rest)) and (is_led or self._may_be_people):
            return [f"Which {noun} {who['is']}", rest], _How(is_best=True, is_whole=True)
        return None

    def _nouns_said(self, rest: str, noun: str) -> list[str]:
        """What the members may be called in *of those indoor ones*, *of these people are*."""
        match = _of_them(rest)
        said = match["noun"] if match else None
        if not said:
            return [noun]
        low, lexicon = said.lower(), Lexicon.load()
        if self.last.owners and self.last.owners.called(singular(low)):
            return [noun]
        if low in FUNCTION:
            return [f"{noun} {said}"]
        if singular(low) != low or low in ANY_PEOPLE:
            return [said, noun, f"{noun} {said}"]
        is_adjective = lexicon.uses(low, ADJECTIVE) > 0 and not lexicon.mostly_verb(low)
        return [f"{said} {noun}" if is_adjective else f"{noun} {said}"]

    def _left_out(self, query: Query, inside: Query) -> Query | None:
        """What is left without all such things; without the best of them, those inside of the set."""
        whole = self.last.owners.part if self.last.owners else self.whole
        if inside.ask != "list" or whole is None or inside.other is not None:
            return None
        is_ranked = any(isinstance(part, Extreme) for part in parts_of(query.part))
        return replace(inside, part=Without(whole, inside.part if is_ranked else query.part))

    def _verdict(self, query: Query, how: str) -> Query | None:
        """Whether any, all or none of the set are of a narrower one."""
        whole = self.last.owners.part if self.last.owners else self.whole
        if query.ask != "list" or query.other is not None or whole is None:
            return None
        if how in ("any", "some", "one", "either"):
            return Query("yes", query.part)
        return Query("every", whole, query.part) if how != "none" else None

    def _within(self, query: Query, *, replaces: bool, swaps: bool = False) -> Query | None:
        """A query of all such things as one of the last set; or in the place of a condition that it has.

        With `swaps` also in the place of one that nothing fulfils beside it.
        """
        whole = self.last.owners.part if self.last.owners else None
        if whole is None or query.other is not None:
            return None
        walks = last_walks(query.part)
        if swaps and len(walks) == 1 and (swapped := self._swapped(whole, walks[0])) != whole:
            if swapped in parts_of(query.part):
                return query
            whole = swapped
        steps = set(steps_of(query))
        while isinstance(whole, Extreme | Compared | Counted) and (
            (isinstance(whole, Extreme) and (whole.number == 1 or whole.nth))
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
        match part:
            case Walk(OfType(type_, _), step) if self._is_own(type_) and query.ask == "list":
                # *The ones with a title*: those that have one, not their titles.
                return replace(query, part=Counted(whole, step, ">=", 1))
            case _:
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

    def _is_own(self, type_: int) -> bool:
        return type_ >= 0 and self.last.owners is not None and self.last.owners.are(type_)

    def _restricted(self, part: Part, whole: Part) -> Part:
        match part:
            case OfType(type_, _) if self._is_own(type_):
                return whole
            case Extreme(source) | Compared(source) | Counted(source) | Related(source):
                return replace(part, source=self._restricted(source, whole))
            case Without(left) | Both(OfType() as left):
                return replace(part, left=self._restricted(left, whole))
            case Both(left, OfType() as right):
                return Both(left, self._restricted(right, whole))
            case _:
                return Both(whole, part)


@dataclass(frozen=True, slots=True)
class _How:
    """How a follow-up goes on from a set."""

    is_narrower: bool = True
    swaps: bool = False
    is_out: bool = False
    is_elliptic: bool = False
    is_best: bool = False
    is_amount: bool = False
    is_whole: bool = False
    verdict: str = ""


_MORE = frozenset(("more", "higher", "larger", "bigger", "greater", "longer", "taller", "heavier", "wider"))


def _order_of(match: re.Match[str]) -> tuple[str, str | None, bool]:
    """What a set is to be sorted by, what of it comes first, and whether downwards."""
    said = f" {match['of'] or match['by'] or match['key'] or ''}"
    way = _WAY.search(said)
    key = said[: way.start()] if way else said
    key = re.sub(rf"^\s*(?:the(?:ir)?|its|his|her)\s+|\s+of\s+{THEM}$", "", key, flags=re.I).strip()
    best = match["from"] or match["first"] or match["best"] or (way and (way["from"] or way["first"]))
    return key, best, bool(match["down"] or (way and way["down"]))


def _of_two(rest: str) -> str:
    """*The younger of the two* is the youngest of them; so are *is newer* and *has the earlier date*."""
    words = rest.split()
    out: list[str] = []
    for at, word in enumerate(words):
        low = word.lower()
        if is_comparative(low) and (at + 1 == len(words) or words[at + 1].lower() != "than"):
            best = {
                "more": "most",
                "less": "least",
                "fewer": "fewest",
                "better": "best",
                "worse": "worst",
            }.get(low, low.removesuffix("r") + "st")
            out += [best] if out and out[-1].lower() == "the" else ["the", best]
        else:
            out.append(word)
    return " ".join(out)


def _of_them(rest: str) -> re.Match[str] | None:
    """Words by which something is one or some of a set: *which of those*; not *the tenants of those*."""
    match = _OF_THEM.search(rest)
    is_part = (match is not None and (match["of"] or "").lower() != "of") or _PARTITIVE.search(
        rest[: match.start()].strip() if match else ""
    )
    return match if is_part else None


def _of_amount(rest: str, they: re.Match[str], noun: str) -> list[str]:
    """*How long are they on average*, *how much do they cost in total*, of the set."""
    texts = [f"{rest[: they.start()]}the {noun}{rest[they.end() :]}"]
    if cost := re.match(
        rf"(?:how\s+(?:much|many)(?P<of>\s+\w+)?|what)\s+(?:do|does|did|is|are|were)\s+{THEM}\s+(?P<verb>\w+)?",
        rest,
        re.I,
    ):
        what = (cost["of"] or cost["verb"] or "").strip()
        amount = "average" if re.search(r"average|mean", rest, re.I) else "total"
        texts.append(f"What is the {amount} {what} of the {noun}")
    return texts


def _the_best(best: str, noun: str) -> str:
    """*The two oldest* as a question: *which are the two oldest players*."""
    best = re.sub(r"^the\s+|\s+ones?$", "", best, flags=re.I)
    if by := re.fullmatch(rf"(?P<best>{MOST})\s+(?:by|in\s+terms\s+of)\s+(?P<key>.+)", best, re.I):
        way = "lowest" if comparative_of(by["best"].lower().split()[0]) in FEWER else "highest"
        return f"Which {noun} has the {way} {by['key']}"
    if re.match(rf"(?:{_NUMBERS})\b", best, re.I) or re.match(
        rf"(?:top|bottom|first|last)\s+(?:{_NUMBERS})\b", best, re.I
    ):
        return f"Which are the {best} {noun}"
    return f"Which {noun} is the {best}"


def comparative_of(superlative: str) -> str:
    """*Oldest* → *older*, *the most* → *more*."""
    superlative = superlative.lower().removeprefix("the ")
    return {"most": "more", "least": "less", "best": "better", "worst": "worse"}.get(
        superlative, superlative.removesuffix("st") + "r"
    )


def _as_participle(noun: str) -> str:
    """*Election* → *elected*."""
    return re.sub(r"(?:ation|ion|ment|ing|al)$", "ed", noun)


def _being(rest: str, that: str | None, noun: str) -> list[str]:
    """What narrows a set, as questions go on: *in Berlin* → *are in Berlin*, *who live in* → *live in*."""
    if that and not that.lower().startswith("of"):
        return [f"Which {noun} {rest}"]
    if having := _HAVING.match(rest):
        what = rest[having.end() :]
        have = f"Which {noun} have {re.sub('^(?:an?|any) ', 'no ', what) if having['not'] else what}"
        if having["not"] and " no " not in have:
            have = f"Which {noun} have no {what}"
        return [f"Which {noun} are {rest}", have] if not having["not"] else [have]
    texts = [f"Which {noun} are {rest}"]
    if len(rest.split()) <= 3 and rest.split()[0].lower() not in PREPOSITIONS:
        texts += [f"Which {rest} are there", f"Which {noun} {rest}"]
    return texts
