"""What a claim says by itself: its words, values, negations and comparisons.

Before any graph is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from clew.claims.claim_values import ClaimedValue, find_values
from clew.reading.rules.question import MEASURES, SUPERLATIVES, Question, Word, read_question

NEGATIONS = frozenset(
    """not no never neither nor without nobody none nothing nowhere
    isnt arent wasnt werent doesnt dont didnt hasnt havent hadnt cannot
    cant couldnt wont wouldnt shouldnt aint lacks lacked""".split()
)
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
_PRONOUN = re.compile(
    r"\s*(?:it|he|she|they|this|these|his|her|their|its|someone|somebody|something)\b", re.IGNORECASE
)
_INDEFINITE = re.compile(r"\s*(?:a|an|some|there (?:is|are|was|were) (?:a|an|some))\s+\w", re.IGNORECASE)

_TURN = re.compile(
    r"\b(?:but|except|besides|other than|apart from|however|although|though|whereas|while|instead)\b|;",
    re.IGNORECASE,
)
"""Where a negation ends."""
_DESCRIBED = re.compile(
    r"\s*(?:the|a|an|some|this|that)\s+(?:[\w-]+\s+){0,3}?[\w-]+(?=\s*,|\s+(?:is|was|are|were|has|have|had|which|who|that)\b)",
    re.IGNORECASE,
)
"""What says only of what kind the unnamed thing is that a claim begins with (*A television show, …*)."""


@dataclass(frozen=True, slots=True)
class ClaimComparison:
    """*A is longer than B*: the sign and attribute of the word at [start, stop).

    1 if A's value is the larger.
    """

    sign: int
    attribute: str
    start: int
    stop: int


COMPARATIVES: Mapping[str, tuple[int, str]] = {
    **{word[:-3] + "er": measure for word, measure in SUPERLATIVES.items() if word.endswith("est")},
    "later": (1, "date"), "earlier": (-1, "date"), "after": (1, "date"), "before": (-1, "date"),
    "older": (-1, "date"), "newer": (1, "date"), "more": (1, ""), "less": (-1, ""), "fewer": (-1, ""),
    "elder": (-1, "date"), "larger": (1, ""), "smaller": (-1, ""),
}  # fmt: skip
"""Words that compare two things: 1 where the first has the larger value, and what is measured."""


@dataclass(frozen=True, eq=False)
class ClaimText:
    """A claim cut into words.

    `frame`: characters before it are no part of what is claimed (*Did you know that*); `denied`: they deny
    the whole. `negations`: characters at which negating words start. `about_unknown`: it begins with a
    pronoun or an indefinite (*It is …*, *An artist …*), so that something unnamed is meant. `described`:
    where the words end that only say of what kind this is, after *a* or *an* if `indefinite`.
    """

    text: str
    question: Question
    values: tuple[ClaimedValue, ...]
    negations: tuple[int, ...]
    frame: int
    denied: bool
    about_unknown: bool
    described: int
    indefinite: bool

    def outside_of(self, spans: Sequence[tuple[int, int]]) -> ClaimText:
        """The claim whose negations are none within names (*No Country for Old Men*) at [start, stop)."""
        kept = tuple(at for at in self.negations if not any(a <= at < b for a, b in spans))
        return replace(self, negations=kept)

    def negated(self, start: int, stop: int, said: int) -> bool:
        """Whether a negation stands at the characters [start, stop).

        And no *but* stands between it and `said`, where what might be negated is said.
        """
        return any(
            start <= at < stop and not _TURN.search(self.text, min(at, said), max(at, said))
            for at in self.negations
        )

    def negated_right_before(self, start: int) -> bool:
        """Whether the word before `start` negates (*Neither X nor Y*)."""
        before = [w for w in self.question.words if w.stop <= start]
        return bool(before) and before[-1].start in self.negations


def read_claim(text: str) -> ClaimText:
    """Cut and read a claim; never fails."""
    question = read_question(text)
    question = replace(question, words=tuple(_say_team(question.words)))
    frame, denied = 0, False
    while True:
        hit = _FRAME.match(text, frame) or _DENIED.match(text, frame)
        if hit is None or hit.end() == frame:
            break
        denied ^= hit.re is _DENIED
        frame = hit.end()
    negations = tuple(w.start for w in question.words if w.norm in NEGATIONS and w.start >= frame)
    about = bool(_PRONOUN.match(text, frame) or _INDEFINITE.match(text, frame))
    kind = _DESCRIBED.match(text, frame)
    values = tuple(v for v in find_values(text) if v.start >= frame)
    described = frame if kind is None else kind.end()
    return ClaimText(
        text,
        question,
        values,
        negations,
        frame,
        denied,
        about,
        described,
        bool(_INDEFINITE.match(text, frame)),
    )


def _say_team(words: Sequence[Word]) -> Iterator[Word]:
    """*Plays for X*: X is a team, as *works for X* says that X is an employer."""
    for word, after in zip_longest(words, words[1:]):
        playing = (
            word is not None
            and word.norm in ("play", "plays", "played", "playing")
            and after is not None
            and after.norm in ("for", "with")
        )
        if word is not None:
            yield replace(word, norm="team") if playing else word


def find_comparison(words: Sequence[Word], start: int, stop: int) -> ClaimComparison | None:
    """The comparison in the words between two things at [start, stop): *longer than*, *released before*."""
    inside = [w for w in words if w.start >= start and w.stop <= stop]
    norms = [w.norm for w in inside]
    than = norms.index("than") if "than" in norms else None
    if than is None:
        last = inside[-1] if inside else None
        if last is None or last.norm not in ("before", "after"):
            return None
        return ClaimComparison(*COMPARATIVES[last.norm], last.start, last.stop)
    for at in range(than - 1, -1, -1):
        if norms[at] not in COMPARATIVES:
            continue
        sign, attribute = COMPARATIVES[norms[at]]
        after = norms[at + 1]
        if norms[at] in ("more", "less") and after in MEASURES:
            attribute = MEASURES[after]
        return ClaimComparison(sign, attribute, inside[at].start, inside[than].stop)
    return None
