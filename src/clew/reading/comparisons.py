"""Words that compare: with a value beside them, and of two things with each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import get_args

from clew.query.tree import Sign
from clew.reading.english import FUNCTION
from clew.reading.mentions import Mention
from clew.text.lexicon import ADJECTIVE, ADVERB, NOUN, Lexicon

_TO_VALUE = r"\s*(?:the\s+)?(?:(?:start|beginning|end|close)\s+of\s+(?:the\s+)?)?[$£€]?"
"""*(between) the start of 2010 (and) the end of 2013*: both years count."""
_BETWEEN, _FROM = (re.compile(rf"\b{word}{_TO_VALUE}$", re.I) for word in ("between", "from"))
_AND = re.compile(rf"[^,;?]{{0,12}}\s*(?:and|to|[-–]){_TO_VALUE}", re.I)
_TO = re.compile(rf"[^,;?]{{0,12}}\s*(?:to|until|till|through|[-–]){_TO_VALUE}", re.I)


def bounds_between(question: str, mentions: Sequence[Mention]) -> dict[int, Sign]:
    """The comparisons that *between* and *from … to* make with two values, by their mentions."""
    bounds: dict[int, Sign] = {}
    valued = sorted((m.start, m.stop, i) for i, m in enumerate(mentions) if m.values)
    for (start, stop, i), (after, _, j) in pairwise(valued):
        between, before = question[stop : max(stop, after)], question[:start]
        ranged = (_BETWEEN, _AND), (_FROM, _TO)
        if any(first.search(before) and then.fullmatch(between) for first, then in ranged):
            bounds |= {i: ">=", j: "<="}
    return bounds


_THAN_WORD = re.compile(
    r"\b(?P<than>more recent|[a-z]+er|more|less)\b(?=[^?;:.]{0,40}?\bthan\b)|\b(?:before|after)\b", re.I
)
_OF_TIME = frozenset(("before", "after"))
"""Words that compare dates alone: *looks after two rooms*."""
_NO_COMPARISON = FUNCTION | _OF_TIME | {"rather", "never", "ever", "however", "whether", "together"}
LATER = frozenset(("later", "newer", "younger", "after", "more recent"))
EARLIER = frozenset("earlier older elder before sooner".split())
"""Words that compare times upwards and downwards."""
_DOWN = (
    "lower|smaller|shorter|lighter|cheaper|narrower|weaker|poorer|younger|softer|thinner|shallower|slimmer"
    "|nearer|closer|colder|cooler|quieter|briefer|milder"
)
FEWER = frozenset(("less", "fewer", "slower", "before", *_DOWN.split("|")))
"""Words that compare numbers downwards; all others do so upwards."""

_COMPARING = (LATER | EARLIER | FEWER | {"more"}) - _OF_TIME


MOST = r"(?:most|least)\s+\w+|\w{3,}est(?:-\w+)?|best|worst"
BEST_FIRST = (
    rf"(?:with\s+)?(?:the\s+)?(?P<first>{MOST}|dearest|most|least|fewest)(?:\s+ones?)?\s+first"
    rf"|from\s+(?:the\s+)?(?P<from>{MOST})\s+to\s+(?:the\s+)?(?:{MOST})"
)
"""In which order things are wanted: *oldest first*, *from longest to shortest*."""


def than_words(text: str, start: int = 0, names: Sequence[Mention] = ()) -> Iterator[re.Match[str]]:
    """The words from `start` on, outside of names, that compare two things: *longer than*, *before*.

    Group `than` is that of a word that *than* follows.
    """
    for hit in _THAN_WORD.finditer(text, start):
        is_named = any(m.strong and m.candidates and m.start <= hit.start() < m.stop for m in names)
        is_word = not hit["than"] or not hit[0].lower().endswith("er") or is_comparative(hit[0].lower())
        if is_word and not is_named:
            yield hit


def is_comparative(word: str) -> bool:
    """Whether a word compares: *older*, *more*; not *manager*, *after*, *neither*."""
    lexicon = Lexicon.load()
    if word in _COMPARING:
        return True
    if not word.endswith("er") or word in _NO_COMPARISON or not lexicon.known(word):
        return False
    if lexicon.mostly_verb(word):
        return False  # *deliver*
    degree = lexicon.uses(word, ADJECTIVE) + lexicon.uses(word, ADVERB)
    plain = (word[:-2], word[:-1], word[:-3], f"{word[:-3]}y")  # steep, wide, big, dry; none of *arbiter*
    return degree >= lexicon.uses(word, NOUN) and any(lexicon.uses(w, ADJECTIVE) for w in (word, *plain))


_FILLER = r"(?:\W|\b(?:than|the|of|about|around|year|a|an|is|was|are|end|start|beginning)\b)*"
_MORE = (
    "more|greater|larger|higher|bigger|longer|older|later|newer|"
    r"above|over|exceed\w*|beyond|after|past|follow\w*|post"
)
_LESS = f"less|fewer|below|under|before|earlier|prior to|pre|{_DOWN}"
_THEN_TOO, _SAME = "on|at|in|during", r"(?:equal|same)(?: to| as)?"
_NO_LESS = (
    rf"at least|(?:no|not|never)(?: any)? (?:{_LESS})(?: than)?|minimum|since|starting(?: in)?"
    r"|after(?: the)? (?:start|beginning) of"
    rf"|(?:{_THEN_TOO}) or after|after or (?:{_THEN_TOO})"
    rf"|(?:{_MORE})(?: than)? or {_SAME}|{_SAME} or (?:{_MORE})"
)
_NO_MORE = (
    rf"at most|(?:no|not|never)(?: any)? (?:{_MORE})(?: than)?|maximum|up to|until|till"
    r"|before(?: the)? (?:end|close) of"
    rf"|(?:{_THEN_TOO}) or before|before or (?:{_THEN_TOO})"
    rf"|(?:{_LESS})(?: than)? or {_SAME}|{_SAME} or (?:{_LESS})"
)
_ANY_MORE = r"(?!other|rather)\w{2,}er than"
_BEFORE: tuple[tuple[str, Sign], ...] = (
    ("exactly|precisely", "="), (_NO_LESS, ">="), (_NO_MORE, "<="), (_MORE, ">"), (_LESS, "<"),
    (_ANY_MORE, ">"),
)  # fmt: skip
_OR_LESS = f"less|fewer|earlier|below|under|before|down|{_DOWN}"
_OR_MORE = rf"more|above|over|up|upwards?|onwards?|after|(?!{_OR_LESS})\w{{2,}}er"
_AFTER: tuple[tuple[str, Sign], ...] = (
    (rf"(?:or|and) (?:{_OR_MORE})|onwards?|upwards?|plus", ">="),
    (rf"(?:or|and) (?:{_OR_LESS})|at most|tops", "<="),
)
_FEW_WORDS = r"\W*(?:[\w%]+\W+){0,3}?"
_OLDER = re.compile(rf"\b(older|younger)\b{_FILLER}$")
"""*Older than 2005* is before it, where *older than 20* is more."""
_BY_THEN = re.compile(r"\bby\s+(?:the\s+)?(?:end\s+of\s+)?$", re.I)

_OPENS_LEAST = (
    rf"{_NO_LESS}|or more|or (?:above|over|(?!{_OR_LESS})\w{{2,}}er)|from|and (?:up|above|over)|not before"
    "|starting|onwards?|upwards?"
)
_OPENS_MOST = rf"{_NO_MORE}|or (?:{_OR_LESS})|by|not (?:after|exceed\w*)|within"
_WIDER: tuple[tuple[str, Sign], ...] = (
    (_OPENS_LEAST, ">="), (_OPENS_MOST, "<="), (_MORE, ">"), (_LESS, "<"),
)  # fmt: skip
"""Words with which a value may be a bound, where they stand near it; with others of them it is none."""
_EITHER_END: tuple[Sign, ...] = (">=", "<=")
_EITHER_SIDE: tuple[Sign, ...] = (">", "<")
_NEAR = 32
"""Characters beside a value in which a word of comparison belongs to it."""


def signs_of(text: str, start: int, stop: int) -> tuple[Sign, ...]:
    """The comparisons that a question may make with the value at [start, stop), likeliest first."""
    before = text[max(0, start - _NEAR) : start].lower()
    after = text[stop : stop + _NEAR].lower()
    symbol = symbol_before(before)
    signs: list[Sign] = [] if symbol is None else [symbol]
    for pattern, sign in _WIDER:
        if re.search(rf"\b({pattern})\b", before) or re.match(
            rf"\W*(?:\w+\W+){{0,2}}?\b({pattern})\b", after
        ):
            signs.append(sign)
    if re.search(r"\bbetween\b|\bfrom\b", text.lower()):
        signs.extend(sign for sign in _EITHER_END if sign not in signs)
    if re.search(r"\w{2,}er than\b|\bthan\b", before):
        signs.extend(sign for sign in _EITHER_SIDE if sign not in signs)
    if re.search(r"\bnot\b|n't\b|\bother\b|\bexcept", before):
        signs.append("!=")
    return (*signs, "=")


_SYMBOL = re.compile(r"(?<![-=])(<=|>=|!=|<|>|≤|≥|≠|=)\s*[$£€]?$")
_SYMBOLS: Mapping[str, Sign] = {"≤": "<=", "≥": ">=", "≠": "!=", **{s: s for s in get_args(Sign)}}


def symbol_before(before: str) -> Sign | None:
    """The comparison that a symbol at the end of a text makes with what follows (*price < 30*)."""
    match = _SYMBOL.search(before)
    return None if match is None else _SYMBOLS[match[1]]


_SINCE_OF_ONE = re.compile(
    r"\W*(?:has|have|had)\b"
    r"|(?!.*\b(?:who|what|which|that|whose|how)\b).*[a-z] (?:has|have|had) been\b",
    re.I,
)
"""Of one thing it is asked or said since when it is so: *has Ann been employed since 2008*, of 2015 not."""


def sign_beside(text: str, mention: Mention) -> Sign | None:
    """The comparison that words right beside the value of a mention make, if any: *by 2004* of a date."""
    before, after = text[: mention.start].lower(), text[mention.stop :].lower()
    symbol = symbol_before(before)
    if symbol is not None:
        return symbol
    is_date = any(value.date for value in mention.values)
    older = _OLDER.search(before) if is_date else None
    if older is not None:
        return "<" if older[1] == "older" else ">"
    hit, sign = _bound(before, is_date=is_date)
    if hit is not None:
        return "=" if hit[1] == "since" and _SINCE_OF_ONE.match(before) else sign
    for pattern, sign in _AFTER:
        if re.match(rf"{_FEW_WORDS}\b(?:{pattern})\b", after):
            return sign
    return "<=" if is_date and _BY_THEN.search(before) else None


def bound_at(text: str, mention: Mention) -> tuple[int, int] | None:
    """Where the words beside the value of a mention stand that set it as a bound: *above*, *or later*."""
    is_date = any(value.date for value in mention.values)
    hit, _ = _bound(text[: mention.start].lower(), is_date=is_date)
    if hit is not None:
        return hit.span(1)
    behind = text[mention.stop :].lower()
    hits = (re.match(rf"{_FEW_WORDS}\b({pattern})\b", behind) for pattern, _ in _AFTER)
    hit = next(filter(None, hits), None)
    return None if hit is None else (mention.stop + hit.start(1), mention.stop + hit.end(1))


def _bound(before: str, *, is_date: bool) -> tuple[re.Match[str] | None, Sign]:
    """The words at the end of a text, in small letters, that set what follows as a bound, and which."""
    for pattern, sign in _BEFORE:
        hit = re.search(rf"\b({pattern})\b{_FILLER}$", before)
        if hit is not None and (is_date or hit[1] not in _OF_TIME):
            return hit, sign
    return None, "="


def bound_before(text: str, start: int) -> Sign | None:
    """The bound that words before a name set with its value, None for none: *at most that of Fir Court*."""
    before = text[:start].lower()
    bounds: tuple[tuple[str, Sign], ...] = ((_NO_LESS, ">="), (_NO_MORE, "<="))
    for pattern, sign in bounds:
        if re.search(rf"\b(?:{pattern})\b{_FILLER}(?:(?:\w+\s+){{1,3}}of\s+(?:the\s+)?)?$", before):
            return sign
    return None
