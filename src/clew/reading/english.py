"""The closed classes of English that reading needs: function words, and words that may ask for an operation.

They only open a door: which operation a question asks for, if any, the ranker decides.
"""

from __future__ import annotations

import re

from clew.text.inflection import singular

FUNCTION = frozenset(
    """a an the this that these those of in on at by for from to with within into onto over under through
    and or nor but if then than as so is are was were be been being am do does did done has have had having
    can could will would shall should may might must it its he his him she her they them their theirs i me my
    we us our you your who whom whose which what when where why how there here s t not no also too very
    just any some each every all both either neither such only ever yet still please
    im ive ill whats whos wheres whens hows thats lets dont doesnt didnt isnt arent wasnt werent cant
    wont give show list tell name find me many much more most less least fewer fewest without except
    between during since until other another others per""".split()
)
"""Words that are never a name of their own, unless they are written as one."""

HAPPENING = frozenset("happen happens happened happening occur occurs occurred occurring".split())
"""Verbs that say of an event that it was one."""
STARTING = frozenset(
    "start starts started starting begin begins began begun beginning join joins joined".split()
)
"""Verbs of what has a beginning, whatever the beginning of it is called: `hired`, `member since`."""
BEGINNINGS = STARTING | frozenset(
    "since from hired appointed admitted enrolled registered signed employed founded opened launched".split()
)
"""Words of labels of beginnings."""
LIGHT = HAPPENING.union(
    """located situated found lies lie lying based stands stand standing sits come comes came goes go get gets
    got find finds use uses used keep keeps put placed one people known considered ll ve re
    belong belongs belonging belonged
    contain contains containing contained consist consists consisting comprise comprises comprising""".split()
)
"""Verbs and nouns that name no relation by themselves: any of a place, of having, of being called."""
GOING = frozenset(("go", "goes"))
"""Those that do where something is stated: who goes to Oslo need not be born there."""

NARROWS_NOTHING = frozenset(
    """different distinct various several same similar own single individual unique available possible certain
    specific particular existing current present total respective corresponding common popular recent main
    whole entire known complete full real actual given overall exact""".split()
)
"""Adjectives that leave what they stand before as it is, or that an operation says."""
NARROWS = frozenset("popular recent main common available complete full".split())
"""Those of them that may leave something out."""

BEING = frozenset("is are was were be been being".split())
DOING = frozenset("do does did can could may might must shall should will would".split())
HAVING = frozenset("has have had".split())
RELATIVE = frozenset("who whom what which that everyone everything anyone anything those all".split())
INDEFINITE = frozenset("someone somebody something anyone anybody anything".split())
ANYONE = frozenset(
    "everyone everybody everything whoever whomever whatever whichever nobody nothing none thing things"
    " entity entities item items".split()
).union(INDEFINITE)
"""Words for what is asked for that say nothing of it."""
ANY_PEOPLE = frozenset("people persons somebody someone anybody anyone everybody everyone folks".split())
"""Words for people that say no type of them."""
PREPOSITIONS = frozenset(
    "in on at by of for from to with within into onto over under through after before near against about upon"
    " as between towards toward".split()
)
EACH_PERIOD = {
    "day": ("daily",), "hour": ("hourly",), "month": ("monthly",), "night": ("nightly",),
    "quarter": ("quarterly",), "week": ("weekly",), "year": ("yearly", "annual"),
}  # fmt: skip
"""Periods, and what is said of what each of them has: *paid per hour* is the `hourly rate`."""
IN_FULL = {"max": ("maximum",), "min": ("minimum",), "avg": ("average",)}
SHORT_DAYS = {
    day: (day[:3].title(), day[:2].title())
    for day in "monday tuesday wednesday thursday friday saturday sunday".split()
}
"""Days of the week, and what tables call them."""
SHORT_MONTHS = {
    month: (month[:3],)
    for month in "January February March April June July August September October November December".split()
}
"""Months, likewise; they are written with a capital."""
MUTUAL = frozenset(
    "border bordering adjacent adjoin adjoining neighbor neighbour neighboring neighbouring sibling"
    " sister brother twin cousin spouse wife husband married marry partner friend rival colleague peer"
    " ally equal equivalent similar same related linked connected meet met know acquainted acquaintance"
    " associate teammate roommate classmate interact interacting overlap overlapping intersect compete"
    " collaborate cooperate compatible incompatible interchangeable".split()
)
"""Words of what holds both ways, though a graph may record it one way only."""
OF_ONE_SEX = frozenset("sister brother wife husband".split())
KIN_OF_ONE_SEX = (
    OF_ONE_SEX - {"wife", "husband"}
    | frozenset(
        f"{grand}{word}" for grand in ("", "grand") for word in "mother father son daughter mum dad".split()
    )
    | frozenset("aunt uncle niece nephew brothers sisters sons daughters".split())
)
"""Words of kin that say more than *parent*, *child* and *sibling* do."""


def mutual_words(label: str) -> frozenset[str]:
    """The words of a label by which it holds both ways."""
    return MUTUAL.intersection(map(singular, label.split()))


COUNT = re.compile(r"\b(how (many|much|often)|numbers?|counts?|totals?|amount|quantity|size)\b", re.I)
AMOUNT = re.compile(rf"{COUNT.pattern}|\b(?:capacity|value|limit|max\w*|min\w*|strength|score)\b", re.I)
"""Words for how much there is of something."""
DIFFERENT = re.compile(r"\b(different|distinct|unique|various|kinds?|types?|values?)\b", re.I)
"""Words by which also values that are equal for several are counted once."""
ONLY = re.compile(
    r"\b(?:only|solely|exclusively|purely|nothing\s+(?:but|other\s+than|except)"
    r"|(?:,\s*)?(?:and\s+|with\s+)?(?:nothing|nobody|no\s+one|nowhere)\s+else|and\s+no\s+others?)\b"
    r"|(?:,\s*)?\b(?:(?:and|but|with)\s+)?no\s+other(?:\s+\w+)?(?=\W*$)",
    re.I,
)
"""Words that shut out all else."""
JUST_SO_MANY = re.compile(
    r"\b(?:just|only)\s+(?:a\s+single|one|two|three|four|five|six|seven|eight|nine|ten)\b"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten)\s+\w+\s+only\b",
    re.I,
)
NOW = re.compile(
    r"\b(?:now|currently|(?P<aside>right now|nowadays|at present|at the moment|these days))\b", re.I
)
"""What says that something is so to this day; `aside`: where all is, it says nothing."""
HOW_MANY = re.compile(r"\bhow\s+(many|much)\b|\bnumber\s+of\b", re.I)
"""Words that ask for a number and, unlike those of `COUNT`, for nothing else (*phone number*)."""
HOW_MANY_OF = re.compile(r"\W*\bhow\s+many\s+(\w+)", re.I)
AGGREGATE = re.compile(
    r"\b(averages?|avg|means?|totals?|sum|altogether|together|combined|overall|how (many|much)|typical|"
    r"add up|all told|in all)\b",
    re.I,
)
EXTREME = re.compile(
    r"\b(\w{2,}est|most|least|best|worst|top|bottom|max\w*|min\w*|first|last|latest|record|peak|only|"
    r"more|less|fewer|later|earlier|\w{2,}er|which (?:one )?of)\b",
    re.I,
)
SUPERLATIVE = re.compile(
    r"\b(\w{2,}est|most|least|best|worst|top|bottom|max\w*|min\w*|first|last|latest|record|peak|only)\b", re.I
)
"""Words that rank: unlike those of `EXTREME`, none that only compare."""
AVERAGE = re.compile(r"\b(average|avg|mean|typical)", re.I)
SUM = re.compile(
    r"\b(total|sum|altogether|together|combined|overall|how (many|much)|add(s|ed)? up|all told|in all\b)",
    re.I,
)
SUM_OF_TWO = re.compile(
    r"\b(?:totals?|sum|altogether|together|combined|overall|add up|all told|in all|and)\b", re.I
)
YES_NO = re.compile(
    r"(^|[,;:.!?-]\s*)(and |so |but |then |also )?"
    r"(is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|isn'?t|aren'?t|wasn'?t|"
    r"doesn'?t|didn'?t|hasn'?t|haven'?t|don'?t)\b|\b(true|whether|correct)\b|\bright\W*$|\bif\b|\bor not\b",
    re.I,
)
EITHER = re.compile(r"\b(or|either)\b|/", re.I)
BOTH = re.compile(r"\b(and|both|as well)\b|&", re.I)
FREE = r"(?:(?<=-)free|\bfree(?=\s+(?:of|from)\b|\W*$))\b"
"""*Free* where it denies: *nut-free*, *free of nuts*; not *free entry*."""
NEGATION = re.compile(
    r"\b(no|not|never|without|except|excluding|excludes?|besides|apart|aside|but|other|others|else|neither|"
    r"nor|none|nobody|nothing|lacks?|lacking|missing|outside|rather|cannot|avoid\w*)\b|n[o']t\b|" + FREE,
    re.I,
)
ALIKE = re.compile(
    r"\b(?:same|shar\w+|also|others?|another|as|fellow|common|both|equal\w*|alike|similar\w*|together|alongside|besides?"
    r"|apart|rest|co|colleagues?|siblings?|brothers?|sisters?|twins?|peers?|neighbou?rs?|relatives?|\w*mates?|else|with|like|too)\b",
    re.I,
)
"""Words that ask for what has something in common with another, without which a step back is said twice."""
THAN = re.compile(
    r"\b(than|as|exceed\w*|beyond|above|below|before|after|over|under|at (?:most|least)|until|by|equal\w*)\b",
    re.I,
)
OR_EQUAL = re.compile(
    r"\b(at (?:most|least)|until|by|or (?:equal|same|before|after)|(?:equal|same|before|after) or"
    r"|(?:no|not) \w+ than)\b",
    re.I,
)
"""Words with which a bound itself counts."""

_RANK_BEFORE = re.compile(r"\b(?:top|bottom|first|last|best|worst)\s+$", re.I)
_RANK_AFTER = re.compile(r"\s+(?:most|least|fewest|best|worst|\w{2,}est)\b", re.I)


def is_rank(text: str, start: int, stop: int) -> bool:
    """Whether a number says how many of a rank are asked for: *top 3*, *the 2 cheapest*."""
    if not text[start:stop].isdigit():
        return False
    return bool(_RANK_BEFORE.search(text[:start]) or _RANK_AFTER.match(text[stop:]))
