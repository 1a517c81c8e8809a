"""What a claim says by itself: its frame, its negations, what it names, and its pieces, before it is read.

A piece is what is said of two things, of a thing and a value, or of one thing alone, in words of the claim:
*Memento was directed by X and released in 2004* says *Memento was directed by X*, *Memento released in 2004*.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from clew.query.tree import Sign, Value
from clew.query.values import Written, in_unit_of, values_of, written_in
from clew.reading.comparisons import sign_beside
from clew.reading.english import FUNCTION
from clew.reading.mentions import NORMAL, PARTIAL, Candidate, Mention
from clew.text.lexicon import Lexicon

# The numbers and dates of a claim, read as those of questions are, each with how it is compared.
#
# *89 minutes*, *1.8 million*, *minus six*, *June 11th, 1929*, *before 2005*, *between 90 and 120*. What is
# claims' own: a number holds for values that round to it as it is written (211 for 210.922).

_BETWEEN = re.compile(r"\bbetween $", re.IGNORECASE)
_JUST = re.compile(
    r"\b(?:only|just|exactly|precisely|at (?:least|most)|(?:more|less|fewer) than) (?:a single )?$",
    re.IGNORECASE,
)
_TIMED = re.compile(
    r"\b(?:in|during|since|before|after|until|throughout)(?: the)?(?: years?)? $", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ClaimedValue:
    """What is written at the characters [start, stop): all that it may stand for, and the comparison.

    `half` of a unit of its last digit; `timed`: a word before it says that it is a year.
    """

    start: int
    stop: int
    values: tuple[Value, ...]
    sign: Sign
    half: float = 0.0
    timed: bool = False

    @property
    def count(self) -> int | None:
        """The number of things that it may be; None where it is no whole number, or in some unit."""
        numbers = [v for v in self.values if not v.date and not v.width and not v.unit]
        return int(numbers[0].number) if numbers and numbers[0].number.is_integer() else None

    def in_unit_of(self, label: str, mention: int) -> Iterator[Value]:
        """What the values of a relation are compared with, in the unit that its name says."""
        for value in self.values:
            plain = replace(in_unit_of(label, value), mention=mention)
            if value.date or value.width or self.sign not in ("=", "!=") or not value.number:
                yield plain
                continue
            half = self.half * min(1.0, abs(plain.number / value.number))
            yield replace(plain, number=plain.number - half, width=2 * half)


def find_values(text: str) -> list[ClaimedValue]:
    """The numbers and dates of a claim, in order; no two overlap."""
    # *One of them*, *once*: no number is claimed, unless it is said that it is one: *only one*.
    written = [
        w
        for w in written_in(text)
        if not (w.spelt and w.number == 1) or _JUST.search(text, 0, w.start) is not None
    ]
    found: list[ClaimedValue] = []
    for value, following in zip(written, [*written[1:], None], strict=False):
        if found and value.start < found[-1].stop:
            continue
        is_between = following is not None and _BETWEEN.search(text, 0, value.start)
        if is_between and following and text[value.stop : following.start].strip().lower() == "and":
            found.append(ClaimedValue(value.start, following.stop, _between(value, following), "="))
            continue
        values = (*values_of(value), *(Value(float(d), date=True) for d in [value.or_day] if d is not None))
        span = Mention(value.start, value.stop, text[value.start : value.stop], values=values)
        timed = value.days is not None and _TIMED.search(text, 0, value.start) is not None
        sign = sign_beside(text, span) or "="
        found.append(ClaimedValue(value.start, value.stop, values, sign, value.unit / 2, timed))
    return found


def _between(first: Written, second: Written) -> tuple[Value, ...]:
    """All from one value to another, as numbers and as dates."""
    ends = {value.date: value for value in values_of(second) if not value.yearly}
    return tuple(
        replace(low, width=high.number + high.width - low.number, unit=high.unit)
        for low in values_of(first)
        if (high := ends.get(low.date)) is not None and not low.yearly and high.number >= low.number
    )


MOST_CLAIM_ITEMS = 7
_FRAME = re.compile(
    r"""\s*(?:
    (?:yes|no|well|so|oh|agreed|sure|right|indeed|actually|in\ fact|true|that's\ right|that\ is\ right
      |that's\ true|of\ course)\s*[,.!:;-]+\s*
    |(?:well|actually)\s+
    |(?:did|do)\ you\ know\ (?:that|if|whether)?\s*
    |have\ you\ (?:ever\ )?heard\ (?:of|that|about)\s*
    |(?:i|we)\ (?:have\ )?(?:read|heard|believe|think|know|guess|imagined?|thought|assumed?
      |supposed?|remember|recall|understand|learned|learnt
      |am\ sure|was\ told)(?:\ that|\ of|\ about)?\s+
    |are\ you\ (?:familiar\ with|aware\ that|aware\ of)\s*
    |(?:it\ is|it's)\ (?:true|a\ fact|known|said)\ that\s*
    |apparently,?\s*
    |what\ is\ the\ name\ of\s*)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words that frame a claim and are no part of it (general English)."""
_DENIED = re.compile(
    r"\s*(?:it (?:is|'s|is simply) (?:false|untrue|wrong|not true|not the case|not correct) that"
    r"|it isn't (?:true|the case) that|i (?:can't|cannot|do not|don't) (?:believe|think) (?:that )?)\s*",
    re.IGNORECASE,
)
_NOBODY = r"nobody|no one|no-one|none|nothing|nowhere"
_NEGATION = re.compile(
    rf"\b(?:{_NOBODY}|not|never|neither|nor|without|cannot|no|lacks|lacked|ain't)\b|(?<=\w)n['\u2019]t\b"
    r"|(?:"
    + "|".join(
        rf"(?<=\b{word})" for word in "is do are was does did has have had were could would should".split()
    )
    + r")nt\b",
    re.IGNORECASE,
)
NOBODY = re.compile(rf"\b(?:{_NOBODY})\b", re.IGNORECASE)
"""What stands for one end of a relation, and says that there is none."""
NONE_OF = re.compile(
    r"(?:no|(?:none|not\s+(?:even\s+)?one|not\s+a\s+single\s+one)\s+of\s+(?:the|its|his|her|their|these|those|our)"
    r"|not\s+(?:one|a\s+single))\s+(?=[a-z])",
    re.IGNORECASE,
)
NOBODY_DOES = re.compile(r"(?:nobody|no[ -]one)\s+(?=[a-z])", re.IGNORECASE)
HALF = re.compile(
    r"(?:(?P<more>most|(?:more\s+than|over)\s+half|the\s+majority)"
    r"|(?P<less>(?:fewer|less)\s+than\s+half|under\s+half|a\s+minority)|(?:exactly\s+)?half)(?=\s+[a-z])",
    re.IGNORECASE,
)
"""How those of a kind that are so stand to half of it."""
_POSITIVE = {
    "without": "with", "cannot": "can", "lacks": "has", "lacked": "had",
    "nobody": "somebody", "no one": "somebody", "no-one": "somebody", "nothing": "something",
}  # fmt: skip
EXCEPTED = re.compile(
    rf"\b(?:{_NOBODY}|no \w+)(?: else)? (?:but|except(?: for)?|other than|besides|apart from)\b",
    re.IGNORECASE,
)
"""*Nobody but X*: X, and no other."""
ONLY = re.compile(
    r"\b(?P<the>(?:the|its|his|her|their) )?(?:only|solely|exclusively|sole|alone"
    rf"|{EXCEPTED.pattern})\b",
    re.IGNORECASE,
)
"""Words that say that there are no others; after *the* it is what comes before that is the only one."""
_SUPPOSED = re.compile(
    r"\b(?:would|could|might|may|should|ought|almost|nearly|allegedly|supposedly|reportedly|purportedly"
    r"|possibly|probably|perhaps|maybe|hardly|barely|scarcely|likely|unlikely)\b"
)
"""Words of what may be, or nearly was; in small letters, as May is a month."""
_GOVERNS = re.compile(
    r"(?<!\bthe )(?<!\ba )\b(?P<verb>[a-z]+)\s+(?:(?:to\s+(?:be\s+|have\s+)?(?P<base>[a-z]+))"
    r"|(?:of|from|with|for|on|against)\s+(?P<gerund>[a-z]+ing))\b"
)
"""A verb that governs another one: *plans to direct*, *was accused of directing*."""
_HAPPENED = frozenset("use manage go happen come get begin start continue help choose know succeed".split())
"""Verbs that govern another one and say that it happened."""
REFUSED = frozenset("fail refuse decline neglect forget omit".split())
"""And those that say that it did not."""
OUTDOES_BOTH = re.compile(r"\b(?:beats?|exceeds?|outdoes|surpass(?:es)?|tops)\s+both\b", re.IGNORECASE)
"""What says that something goes further than what was compared before."""
_TURN = re.compile(
    r"\b(?:but|except|besides|other than|apart from|however|although|though|whereas|while|instead)\b|;",
    re.IGNORECASE,
)
"""Where a negation ends."""
_LISTING = re.compile(
    r"\s*(?:,|&|,?\s*\b(?:and|or|nor|as well as|plus)\b)\s*(?:(?:the|a|an|both|either|nor|not)\s+)?", re.I
)
_AND = re.compile(r"&|\b(?:and|or|nor|as well as|plus)\b", re.IGNORECASE)
"""What stands between things that are listed, and between the last two."""
OR = re.compile(r"\b(?:or|nor)\b", re.IGNORECASE)
_AUXILIARY = re.compile(r"\s+(?:is|was|are|were|has|have|had|does|did|will)\b", re.IGNORECASE)
_WORD = re.compile(r"\s+([a-z]+)\b")
JOINT = re.compile(
    r"(?:\s*,)?\s*\b(?:and|but|or|nor|as well as|while|whereas|although|though)\b\s*(?:also\b\s*)?"
    r"|\s*[;,&]\s*",
    re.I,
)
"""What joins two clauses, or two verbs."""
GOES_ON = re.compile(r"\s*,?\s*(?:who|whom|which|that|whose|where|of|from|in|'s)\b|\s*,", re.IGNORECASE)
"""What may go on about the thing right before it."""
REFERS_BACK = re.compile(r"\b(?:it|him|her|them|there)\b", re.IGNORECASE)
"""Words that stand for a thing that was named."""
TOGETHER = re.compile(r"\b(?:same|shares?|shared|together|each other|one another|in common)\b", re.IGNORECASE)
"""Words that say something of what is listed, of one and another, and not of each."""
BESIDE = re.compile(r"\b(?:also|too|another|others?|alongside|with|fellow|both)\b", re.IGNORECASE)
"""Words that may speak of what has the same relation to one thing (*also directed X*)."""


def not_happened(
    text: str, places: Sequence[tuple[int, int]], label_words: Container[str]
) -> re.Match[str] | None:
    """The words, outside of names and labels, that say that what they govern may not have happened."""
    lexicon = Lexicon.load()
    for hit in (*_SUPPOSED.finditer(text), *_GOVERNS.finditer(text)):
        if any(start < hit.end() and hit.start() < stop for start, stop in places):
            continue
        if hit.re is _SUPPOSED:
            return hit
        verb, governed = hit["verb"], hit["base"] or hit["gerund"]
        if verb in label_words or not (lexicon.verb(verb) and lexicon.verb(governed)):
            continue
        if governed in label_words and not lexicon.mostly_verb(governed):
            continue  # *belongs to gate B2*
        is_base = bool(hit["gerund"]) or governed in lexicon.lemmas(governed)
        if is_base and _HAPPENED.isdisjoint((verb, *lexicon.lemmas(verb))):
            return hit
    return None


def is_refusal(hit: re.Match[str]) -> bool:
    """Whether words say that what they govern did not happen: *refused to*, *failed to*."""
    return hit.re is _GOVERNS and not REFUSED.isdisjoint((hit["verb"], *Lexicon.load().lemmas(hit["verb"])))


@dataclass(frozen=True, slots=True)
class Item:
    """What a claim names, at the characters [start, stop): nodes that it may be, or a value, or both."""

    start: int
    stop: int
    text: str
    candidates: tuple[Candidate, ...] = ()
    value: ClaimedValue | None = None
    sure: bool = True
    """Written as a name is, or wholly one: not only words that may be part of a name."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What a claim says of one or two of its items, at [start, stop); `text` in its words, not negated.

    `places` are where the items stand in `text`; `group` numbers pieces of which one is enough, -1 for none.
    """

    start: int
    stop: int
    text: str
    items: tuple[Item, ...]
    places: tuple[tuple[int, int], ...]
    negated: bool = False
    group: int = -1

    @property
    def words(self) -> list[str]:
        """The words outside of its items that say something."""
        text = self.text
        for start, stop in sorted(self.places, reverse=True):
            text = text[:start] + " " + text[stop:]
        return [w for w in re.findall(r"[^\W_]+", text.lower()) if w not in FUNCTION]


@dataclass(frozen=True, slots=True)
class ClaimText:
    """A claim with what it names; characters before `frame` are no part of it, `denied`: they deny it."""

    text: str
    frame: int
    denied: bool
    items: tuple[Item, ...] = ()

    def without(self, start: int, stop: int) -> ClaimText:
        """The claim without the words at [start, stop), and what it names there."""
        moved = (
            i if i.stop <= start else replace(i, start=i.start - stop + start, stop=i.stop - stop + start)
            for i in self.items
            if i.stop <= start or stop <= i.start
        )
        return replace(self, text=self.text[:start] + self.text[stop:], items=tuple(moved))

    def part(self, start: int, stop: int) -> ClaimText:
        """The words at [start, stop), without the space around them, as a claim with what it names there."""
        text = self.text[start:stop]
        start += len(text) - len(text.lstrip(" ,"))
        within = [i for i in self.items if start <= i.start and i.stop <= stop]
        moved = tuple(replace(i, start=i.start - start, stop=i.stop - start) for i in within)
        return ClaimText(text.strip(" ,"), 0, denied=False, items=moved)

    def negated(self, start: int, stop: int, position: int) -> bool:
        """Whether a negation outside of names stands at [start, stop) that no *but* parts from `position`."""
        return any(
            not any(i.start <= at < i.stop for i in self.items)
            and not EXCEPTED.match(self.text, at)
            and not _TURN.search(self.text, min(at, position), max(at, position))
            for at in (hit.start() for hit in _NEGATION.finditer(self.text, start, stop))
        )


def frame_of(text: str) -> ClaimText:
    """A claim without its items."""
    frame, denied = 0, False
    while True:
        hit = _FRAME.match(text, frame) or _DENIED.match(text, frame)
        if hit is None or hit.end() == frame:
            return ClaimText(text, frame, denied)
        denied ^= hit.re is _DENIED
        frame = hit.end()


def with_items(claim: ClaimText, mentions: Sequence[Mention]) -> ClaimText:
    """The claim with the names and values that it is about: those that are surest, none inside of another."""
    named_items = [
        Item(m.start, m.stop, m.text, m.candidates, sure=m.strong or m.candidates[0].how <= NORMAL)
        for m in sorted(mentions, key=_weight)
        if m.candidates
        and m.start >= claim.frame
        and not (_is_part(m) or _in_code(claim.text, m.start, m.text))
    ]
    items: list[Item] = []
    for item in named_items:
        if not any(i.start < item.stop and item.start < i.stop for i in items):
            items.append(item)
    for value in find_values(claim.text):
        overlapping = [i for i in items if i.start < value.stop and value.start < i.stop]
        is_within = any(i.stop - i.start > value.stop - value.start for i in overlapping)
        if (
            is_within
            or value.start < claim.frame
            or _in_code(claim.text, value.start, claim.text[value.start : value.stop])
        ):
            continue
        written = claim.text[value.start : value.stop]
        is_name = overlapping and overlapping[0].text == written
        is_name = is_name and overlapping[0].candidates[0].how < PARTIAL  # no *four* of *Four Poster*
        nodes = overlapping[0].candidates if is_name else ()
        items = [i for i in items if i not in overlapping]
        items.append(Item(value.start, value.stop, written, nodes, value))
    items.sort(key=lambda item: item.start)
    items = [i for at, i in enumerate(items) if not _is_said(claim.text, items, at)]
    return replace(claim, items=_merge_parts(claim.text, items)[:MOST_CLAIM_ITEMS])


def _merge_parts(text: str, items: Sequence[Item]) -> tuple[Item, ...]:
    """The items, with two parts of one name that stand side by side as one."""
    merged: list[Item] = []
    for item in items:
        previous = merged[-1] if merged else None
        same = previous is not None and previous.candidates[:1] == item.candidates[:1] != ()
        if previous is not None and same and not text[previous.stop : item.start].strip():
            merged[-1] = replace(previous, stop=item.stop, text=text[previous.start : item.stop])
        else:
            merged.append(item)
    return tuple(merged)


def _is_said(text: str, items: Sequence[Item], at: int) -> bool:
    """Whether a word that names a value says something of names: *Ann closed …*, *is the teacher of Bo*."""
    item, before = items[at], items[at - 1] if at else None
    after = items[at + 1] if at + 1 < len(items) else None
    if before is None or item.value is not None or not item.text.islower() or " " in item.text:
        return False
    if text[before.stop : item.start] == " " and before.candidates:
        return Lexicon.load().verb(item.text)
    is_role = re.search(r"\bthe $", text[: item.start]) is not None
    return is_role and after is not None and text[item.stop : after.start].strip() == "of"


def _is_part(mention: Mention) -> bool:
    """Whether one word in lower case is only a part of a name, or misspelt: claims write names as names."""
    is_lower = mention.text.islower() or mention.text.lower() in FUNCTION or NOBODY.fullmatch(mention.text)
    return mention.candidates[0].how >= PARTIAL and bool(is_lower) and " " not in mention.text


def _in_code(text: str, start: int, number: str) -> bool:
    """Whether a number is a part of a code, as in HP-40."""
    return number.isdigit() and bool(re.search(r"[^\W\d_]-$", text[:start]))


def _weight(mention: Mention) -> tuple[float, int]:
    best = mention.candidates[0] if mention.candidates else Candidate(-1, PARTIAL, 0.0)
    words = min(len(mention.text.split()), 6)
    return (-(best.score + 0.25 * words * (best.how < PARTIAL) + 0.3 * mention.strong), mention.start)


def positive(text: str) -> str:
    """Words without their negations: *did not direct* → *did direct*, *nobody* → *somebody*."""
    without_exceptions = EXCEPTED.sub("", text).replace("can't", "can").replace("won't", "will")
    return re.sub(
        r"\s+", " ", _NEGATION.sub(lambda hit: _POSITIVE.get(hit[0].lower(), ""), without_exceptions)
    )


def negations(text: str, start: int = 0, items: Sequence[Item] = ()) -> list[str]:
    """The words of a text from `start` on, outside of items, that deny."""
    hits = _NEGATION.finditer(text, start)
    return [hit[0] for hit in hits if not any(i.start <= hit.start() < i.stop for i in items)]


def is_before_verb(text: str, stop: int) -> bool:
    """Whether a finite verb follows: *and Cy works in …*, not *and Inception released in …*."""
    if _AUXILIARY.match(text, stop):
        return True
    match = _WORD.match(text, stop)
    if match is None or match[1].endswith(("ed", "ing")):
        return False
    word, lexicon = match[1], Lexicon.load()
    return lexicon.mostly_verb(word) or (word.endswith("s") and lexicon.verb(word))


def runs_of(claim: ClaimText) -> list[list[Item]]:
    """The items in order, those that are listed side by side (*A, B and C*) together."""
    items, text = claim.items, claim.text
    runs: list[list[Item]] = []
    for item in items:
        if runs and _LISTING.fullmatch(text, runs[-1][-1].stop, item.start):
            runs[-1].append(item)
        else:
            runs.append([item])
    split_runs: list[list[Item]] = []
    for at, run in enumerate(runs):
        between = text[run[-2].stop : run[-1].start] if len(run) > 1 else ""
        own_clause = at > 0 and is_before_verb(text, run[-1].stop)
        if len(run) > 1 and len(runs) > 1 and _AND.search(between) and not own_clause:
            split_runs.append(run)
        else:
            split_runs += [[item] for item in run]
    return split_runs


@dataclass(frozen=True, slots=True)
class ClauseSpan:
    """The words before a run of items, at [start, stop), without what joins them to those before."""

    start: int
    stop: int


def clauses(text: str, start: int, stop: int) -> list[ClauseSpan]:
    """The words at [start, stop), cut where something joins two clauses or verbs; empty ones left out."""
    cuts = [(hit.start(), hit.end()) for hit in JOINT.finditer(text, start, stop)]
    starts, stops = [start, *(b for _, b in cuts)], [*(a for a, _ in cuts), stop]
    return [ClauseSpan(a, b) for a, b in zip(starts, stops, strict=True) if says(text[a:b])]


def behind_joint(text: str, start: int, stop: int) -> ClauseSpan:
    """The words at [start, stop) without what joins them to those before: *not* of *A but not B*."""
    joint = JOINT.match(text, start, stop)
    return ClauseSpan(start if joint is None else joint.end(), stop)


def says(text: str) -> bool:
    """Whether words say more than function words do."""
    return any(w not in FUNCTION for w in re.findall(r"[^\W_]+", _NEGATION.sub("", text.lower())))


def join_parts(parts: Sequence[str | Item]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Words and names as one text, and where the names stand in it."""
    text, places = "", list[tuple[int, int]]()
    for part in parts:
        words = part.text if isinstance(part, Item) else positive(part).strip(" ,;:.!?")
        if not words:
            continue
        text += " " if text else ""
        if isinstance(part, Item):
            places.append((len(text), len(text) + len(words)))
        text += words
    return text, tuple(places)


def says_nobody(claim: ClaimText) -> bool:
    """Whether a claim says *nobody*, other than *nobody but*."""
    return NOBODY.search(EXCEPTED.sub("", claim.text), claim.frame) is not None


def left_out(claim: ClaimText, cut: Sequence[Piece]) -> list[tuple[int, int]]:
    """The words of a claim, [start, stop) each, that mean something and stand in none of its pieces."""
    in_pieces = {word for piece in cut for word in re.findall(r"[^\W_]+", piece.text.lower())}
    idle = FUNCTION | in_pieces
    skipped = [
        hit.span()
        for pattern in (_NEGATION, EXCEPTED, _LISTING, OUTDOES_BOTH)
        for hit in pattern.finditer(claim.text)
    ]
    return [
        hit.span()
        for hit in re.compile(r"[^\W_]+").finditer(claim.text, claim.frame)
        if hit[0].lower() not in idle
        and not any(start < hit.end() and hit.start() < stop for start, stop in skipped)
    ]
