"""English words that shape a question: what says nothing, what asks, what compares, what measures.

General English; nothing is of one graph or data set.
"""

from __future__ import annotations

from collections.abc import Mapping

FUNCTION = frozenset(
    """a an the this that these those of in on at by for from to with within into onto over under through
    and or nor but if then than as so is are was were be been being am do does did done has have had having
    can could will would shall should may might must it its he his him she her they them their theirs i me my
    we us our you your who whom whose which what when where why how there here 's s t not no also too very
    just any some each every all both either neither such only ever yet still please s'
    id im ive ill whats whos wheres whens hows thats lets dont doesnt didnt isnt arent wasnt werent cant
    wont""".split()
)
"""Words that say nothing of what is asked for; they are free."""

LIGHT: Mapping[str, float] = {
    **dict.fromkeys(
        """few apply applies applicable name names named tell give show list find get provide identify
        know want like let see look say mention called known listed considered found many much more most
        several various different certain other another others same similar common share shares shared
        sharing together likewise else besides available possible main primary principal respective
        particular overall entire whole total number one ones two three first second kind kinds sort sorts
        type types thing things way ways question answer exactly actually really currently people person
        someone somebody anyone anybody everyone everything anything member members whoever fall falls go
        goes come comes came went gone got get gets make makes made take takes took use uses used involve
        involved involving concern related""".split(),
        0.3,
    ),
    **dict.fromkeys(
        """against along alongside amid among amongst across around aboard behind beneath beside beyond
        concerning despite during inside near off onto outside per regarding throughout toward towards
        underneath upon via""".split(),
        0.3,
    ),
    **dict.fromkeys(
        """appear appears appeared appearing occur occurs occurred happen happens happened exist
        exists existed belong belongs include includes included contain contains contained""".split(),
        0.5,
    ),
}
"""Words that say little; left unexplained they cost less than a content word."""

SHARE: Mapping[str, float] = {
    **dict.fromkeys("share shares shared sharing same common co fellow together alongside".split(), 1.0),
    "collaborated": 0.3,
    **dict.fromkeys("also other others another both else besides too likewise".split(), 0.6),
}
"""Words that send a path back through the relation it came by, and how strongly."""

AUXILIARY = frozenset("is are was were do does did has have had can could will would am be".split())
"""A question that begins with one of these asks for yes or no."""

WH_CLASSES: Mapping[str, Mapping[str, float]] = {
    "who": {"person": 1.0, "group": 0.5},
    "whom": {"person": 1.0, "group": 0.5},
    "whose": {"person": 1.0, "group": 0.5},
    "where": {"location": 1.0, "artifact": 0.6, "group": 0.3},
    "when": {"time": 1.0},
}
"""What a question word asks for: noun classes and how well they fit."""

INTERROGATIVE = frozenset((*WH_CLASSES, "which", "what", "how"))
"""The first of these asks; a later *who* only relates (*films by a director who …*)."""

REQUESTS = frozenset("list show name give find tell identify get return display enumerate".split())
"""Verbs that a request begins with."""

SUPERLATIVES: Mapping[str, tuple[int, str]] = {
    **dict.fromkeys("most highest greatest maximum top max".split(), (1, "")),
    **dict.fromkeys("least lowest minimum fewest min".split(), (-1, "")),
    **dict.fromkeys("largest biggest".split(), (1, "size|area|radius|diameter|population")),
    **dict.fromkeys("smallest tiniest".split(), (-1, "size|area|radius|diameter|population")),
    **dict.fromkeys("latest newest last recent".split(), (1, "date")),
    **dict.fromkeys("earliest oldest first".split(), (-1, "date")),
    "longest": (1, "length|duration"),
    "shortest": (-1, "length|duration|height"),
    "tallest": (1, "height"),
    "heaviest": (1, "weight"),
    "lightest": (-1, "weight"),
    "youngest": (1, "birth"),
    "cheapest": (-1, "price"),
    "fastest": (1, "speed"),
    "slowest": (-1, "speed"),
    "richest": (1, "wealth"),
    "deepest": (1, "depth"),
    "hottest": (1, "temperature"),
    "coldest": (-1, "temperature"),
    "closest": (-1, "distance"),
    "nearest": (-1, "distance"),
    "farthest": (1, "distance"),
    "furthest": (1, "distance"),
    "widest": (1, "width"),
}
"""1 for the largest value, -1 for the smallest, and the attribute measured (`a|b`: either; "": any)."""

MEASURES: Mapping[str, str] = {
    "recent": "date",
    "old": "age",
    "tall": "height",
    "high": "height",
    "long": "length|duration",
    "big": "size",
    "large": "size",
    "heavy": "weight",
    "far": "distance",
    "deep": "depth",
    "fast": "speed",
    "wide": "width",
    "expensive": "price",
    "hot": "temperature",
    "cold": "temperature",
    "rich": "wealth",
    "populous": "population",
}
"""*how old*: the attribute that an adjective measures (WordNet's attribute pointer, the common ones)."""

IDIOMS: Mapping[str, str] = {
    "a couple of": "several",
    "other half": "spouse",
    "better half": "spouse",
    "significant other": "spouse",
    "life partner": "spouse",
    "line of work": "profession",
    "line of business": "profession",
    "walk of life": "profession",
    "do for a living": "profession",
    "does for a living": "profession",
    "did for a living": "profession",
    "work as": "profession",
    "works as": "profession",
    "worked as": "profession",
    "work for": "employed",
    "works for": "employed",
    "worked for": "employed",
    "working for": "employed",
    "come from": "origin|nationality",
    "comes from": "origin|nationality",
    "came from": "origin|nationality",
    "based in": "location|based",
    "situated in": "location|situated",
    "passed away": "died",
    "pass away": "die",
    "take place": "occur",
    "takes place": "occurs",
    "took place": "occurred",
    "made up of": "composed",
    "consist of": "composed",
    "consists of": "composed",
    "part of": "member",
    "belong to": "member",
    "belongs to": "member",
    "brought up": "raised",
    "grow up": "raised",
    "grew up": "raised",
    "set up": "founded",
    "took over": "acquired",
    "come out": "released",
    "comes out": "released",
    "came out": "released",
    "coming out": "released",
    "used to": "formerly",
    "work with": "collaborated",
    "works with": "collaborated",
    "worked with": "collaborated",
    "working with": "collaborated",
    "collaborated with": "collaborated",
    "came up with": "created",
    "come up with": "created",
    "made with": "with",
    "make with": "with",
    "in charge of": "head",
    "go by": "name",
    "above sea level": "elevation",
    "put out": "released",
    "puts out": "released",
    "lift off": "launched",
    "lifted off": "launched",
    "blast off": "launched",
    "took off": "launched",
    "take effect": "effective|force",
    "took effect": "effective|force",
    "takes effect": "effective|force",
    "come into force": "effective|force",
    "came into force": "effective|force",
    "take office": "tenure|term",
    "took office": "tenure|term",
    "took the place of": "replaced",
    "takes the place of": "replaces",
    "instead of": "replace",
    "made of": "composed|material",
    "made from": "composed|material|ingredient",
    "broke up": "dissolved",
    "break up": "dissolve",
    "set in": "setting|location",
    "got married to": "married",
    "get married to": "married",
    "born to": "parent",
    "is out": "released",
    "was out": "released",
    "were out": "released",
}
"""Phrases that mean one word (general English)."""

NUMBERS: Mapping[str, int] = {
    word: number
    for number, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)
} | {"fifteen": 15, "twenty": 20, "fifty": 50, "hundred": 100}
"""Numbers from two on that say how many are wanted."""

ARITHMETIC = frozenset(
    """average averages averaged mean median sum total combined altogether difference ratio percentage percent
    proportion""".split()
)
"""Words that ask for a calculation, unless a relation is called so."""

TITLES = frozenset(
    """king queen prince princess emperor empress duke duchess count countess earl baron lord lady sir dame
    president chancellor minister senator governor mayor ambassador judge justice general colonel captain
    major admiral sergeant doctor dr professor prof mr mrs ms miss saint pope bishop archbishop cardinal
    father sister brother lake river mount mountain cape planet city town state country company""".split()
)
"""Words written with a capital before a name of which they need not be a part (*President Lincoln*)."""

FORMER = frozenset("former formerly previous previously past old ex earlier once last prior".split())
"""Words that say of a relation that it holds no longer; without one of them it is not meant."""

SORTING = frozenset("class category type kind status genre group".split())
"""*drug class*: what stands before one of these in a relation's name is what is sorted so."""

FOREMOST = frozenset("top first last any".split())
"""Before a number: so many of them are wanted."""

BEFORE_NUMBER = frozenset("which what name list show find give identify me the are some other".split())
"""The same, where a noun in lower case follows the number."""

BEFORE_SUPERLATIVE = frozenset("the 's its his her their whose which what most least very".split())
"""A superlative stands after one of these; *first* in *the person who first …* is none."""

TIMED = frozenset("after before since until from later earlier newer older younger".split())
"""Comparators after which a number from 1000 to 2100 is a year."""

KIN = frozenset(
    """father mother parent parents dad mom mum child children kid kids son sons daughter daughters
    heir""".split()
)
"""Kin that *grand* makes more distant by one generation."""

ASKING_TYPES = frozenset("type types kind class classes category categories instance instances sort".split())
"""Words that ask of what type something is."""

KINDS = frozenset("kind kinds sort sorts type types".split())
"""*What sort of film* asks for the sort."""

STAND_INS: Mapping[str, str] = {
    **dict.fromkeys("person people individual individuals someone".split(), "who"),
    **dict.fromkeys("place places location".split(), "where"),
    **dict.fromkeys("year years date dates day".split(), "when"),
}
"""*Which person* asks like *who*."""

SHORTENED = INTERROGATIVE | frozenset("that there it he she here this".split())
"""Words before *'s* that make it *is*, not a possessive."""
