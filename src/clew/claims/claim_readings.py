"""What a piece of a claim may mean over one graph: relation paths between its items, and which is likeliest.

Every meaning is one or more yes/no query graphs (`reading.query`), which the shipped ranker scores; those of
one meaning add up. Whether the graph has it plays no part: *the graph says otherwise* is told from
*nobody asked that*.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clew.claims.claim_text import BESIDE, TOGETHER, Item, Piece
from clew.claims.claim_values import ClaimedValue
from clew.claims.meanings import TIMED, UNSAID, ClaimMeaning, Wording
from clew.reading.candidates import Option
from clew.reading.comparisons import EARLIER, FEWER, THAN_WORD
from clew.reading.mentions import Mention
from clew.reading.paths import Base, Exploration, by_worth
from clew.reading.query import (
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
)
from clew.reading.reader import QuestionReader
from clew.reading.vocabulary import DATE, NUMBER

MOST_FIRST_STEPS, MOST_GROWN = 24, 10
"""Paths of two steps that are read, and first steps from which they go on."""
MOST_ITEM_NODES = 3
"""Nodes of one item that are tried."""
BOTH_WAYS = frozenset(
    "with between married spouse wife husband partner sibling sister brother twin cousin friend neighbour"
    " neighbor border borders adjacent rival colleague peer ally equal same together".split()
)
"""Words of relations that hold both ways."""
UNFIT = 0.1
"""What is left of the odds of a way there and back where no word says so, or of another where one does."""
RIVAL = 0.2
"""Share of a meaning, beside that of the likeliest, from which it is looked at whether words say it."""
_IS_A = re.compile(r"\s*(?:is|was|are|were)\s+(?:an?|one of the|the|also an?|both an?)\s", re.IGNORECASE)
_COUNTING = frozenset(("more", "fewer", "less"))


@dataclass(frozen=True, slots=True)
class PieceReading:
    """A piece with what it likeliest means, for each node that its names may stand for, the likeliest first.

    `probability` is its share among all meanings, `none` that of none being right, `named` how like some
    word is to the relation or type, `said` whether words say every step (`SAID`, `HINTED`, `UNSAID`).
    """

    piece: Piece
    meanings: tuple[ClaimMeaning, ...]
    probability: float
    none: float
    named: float
    said: int
    others: tuple[tuple[ClaimMeaning, float], ...] = ()
    """The other meanings with their share."""

    @property
    def meaning(self) -> ClaimMeaning:
        """The likeliest of the meanings."""
        return self.meanings[0]


def read_piece(reader: QuestionReader, piece: Piece) -> PieceReading | None:
    """The likeliest meaning of a piece; None where there is none."""
    mentions = [_mention(i, p) for i, p in zip(piece.items, piece.places, strict=True)]
    of = reader.explore(piece.text, mentions)
    meanings = dict(_meanings(of, piece))
    if not meanings:
        return None
    ranking = reader.rank_options(of, [Option(query, 0.0) for query in meanings])
    words = Wording(reader, of, mentions)
    shares: dict[tuple[object, ...], dict[ClaimMeaning, float]] = {}
    for ranked in ranking.ranked:
        meaning = meanings[ranked.option.query]
        same = shares.setdefault(meaning.key, {})
        odds = _fits(meaning, piece.text) * (UNFIT if words.states_more(meaning) else 1.0)
        same[meaning] = same.get(meaning, 0.0) + ranked.probability * odds
    _weigh(words, shares)
    some = sum(sum(same.values()) for same in shares.values())
    if not shares or some <= 0:
        return None
    best = max(shares.values(), key=lambda same: sum(same.values()))
    order = sorted(best, key=lambda m: -best[m])
    order += _turned(of, shares, order[0])
    named = words.likeness(order[0]) if not words.states_more(order[0]) else 0.0
    others = [(m, p / some) for same in shares.values() if same is not best for m, p in same.items()]
    share, said = sum(best.values()) / some, words.said(order[0])
    return PieceReading(piece, tuple(order), share, ranking.none, named, said, tuple(others))


def _weigh(words: Wording, shares: dict[tuple[object, ...], dict[ClaimMeaning, float]]) -> None:
    """Where words say one of the likely meanings, little is left of those of which they say nothing."""
    most = max((sum(same.values()) for same in shares.values()), default=0.0)
    likely = {key: same for key, same in shares.items() if sum(same.values()) >= RIVAL * most}
    said = {key: words.said(next(iter(same))) for key, same in likely.items()} if len(likely) > 1 else {}
    for key in [key for key, how in said.items() if how == UNSAID and any(said.values())]:
        shares[key] = {meaning: share * UNFIT for meaning, share in shares[key].items()}


def _fits(meaning: ClaimMeaning, text: str) -> float:
    """What is left of the odds of a meaning: a way there and back says *X and Y share a director*."""
    back = len(meaning.steps) == 2 and meaning.steps[0] == meaning.steps[1] ^ 1
    if TOGETHER.search(text):
        return 1.0 if back else UNFIT
    return 1.0 if not back or BESIDE.search(text) else UNFIT


def _turned(
    of: Exploration, shares: dict[tuple[object, ...], dict[ClaimMeaning, float]], best: ClaimMeaning
) -> list[ClaimMeaning]:
    """The meanings with the two ends the other way round, of a relation that holds both ways."""
    if best.kind != "path" or len(best.steps) != 1:
        return []
    relation = best.steps[0] // 2
    words = {*of.vocabulary.relations[relation].split(), *(w for _, _, w in of.likeness.words)}
    mutual = of.schema.inverse[relation] == relation or words & BOTH_WAYS
    return list(shares.get(("path", (best.steps[0] ^ 1,), best.sign), {})) if mutual else []


def _mention(item: Item, place: tuple[int, int]) -> Mention:
    """An item as a mention of a piece's text."""
    start, stop = place
    value = item.value
    if value is None:
        return Mention(start, stop, item.text, item.candidates[:MOST_ITEM_NODES])
    words = re.match(
        r"(?:(?:no|at|more|less|[a-z]+er|than|least|most|after|since|from|over|above|before|until|under"
        r"|below|exceeding|by|the|between) )*",
        item.text,
        re.I,
    )
    start += words.end() if words else 0
    return Mention(
        start, stop, item.text, item.candidates[:MOST_ITEM_NODES], tuple(_values(value)), strong=False
    )


def _values(value: ClaimedValue) -> Iterator[Value]:
    for held, date in ((value.numbers, False), (value.dates, True)):
        if held is None:
            continue
        low = held.low if math.isfinite(held.low) else held.high
        high = held.high if math.isfinite(held.high) else low
        if not date and value.exact is not None:
            low = high = value.exact
        yield Value(low, date, high - low, 1)


def _sign(value: ClaimedValue) -> Sign:
    held = value.numbers or value.dates
    if held is None or not value.compared:
        return "="
    if math.isinf(held.high):
        return ">=" if held.low_counts else ">"
    if math.isinf(held.low):
        return "<=" if held.high_counts else "<"
    return "="


def _meanings(of: Exploration, piece: Piece) -> Iterator[tuple[Query, ClaimMeaning]]:
    """All query graphs of a piece with what they mean."""
    first = piece.items[0]
    second = piece.items[1] if len(piece.items) > 1 else None
    if second is None:
        for c in first.candidates[:MOST_ITEM_NODES]:
            yield from _alone(of, Anchor(c.node, 0), is_a=bool(_IS_A.match(piece.text, piece.places[0][1])))
        return
    if first.value is not None and not first.candidates and second.candidates:
        for c in second.candidates[:MOST_ITEM_NODES]:
            yield from _valued(of, Anchor(c.node, 1), first.value, 0, counted=False)
        return
    word = _comparing(piece)
    for c in first.candidates[:MOST_ITEM_NODES]:
        here = Anchor(c.node, 0)
        if second.value is not None:
            counted = second.value.dates is None and piece.text[piece.places[1][1] :].strip() != ""
            yield from _valued(of, here, second.value, 1, counted=counted)
        for d in second.candidates[:MOST_ITEM_NODES]:
            if d.node != c.node:
                there = Anchor(d.node, 1)
                yield from _compared(of, here, there, word) if word else _paths(of, here, there)


def _alone(of: Exploration, here: Anchor, *, is_a: bool) -> Iterator[tuple[Query, ClaimMeaning]]:
    """What one thing has, or what it is."""
    node = np.array([here.node], np.int64)
    for step in [*of.steps_at(node), *of.absent_steps(here.node)]:
        yield Query("yes", Walk(here, step)), ClaimMeaning("exists", here.node, (step,))
    for type_ in range(len(of.vocabulary.types) if is_a else 0):
        if float(of.types_say[type_].sum()) > 0:
            yield Query("yes", Both(here, OfType(type_))), ClaimMeaning("type", here.node, (type_,))


def may_stand(of: Exploration, node: int) -> NDArray[np.bool_]:
    """Bool [2R]: the ends at which a node, or others like it, stand."""
    schema, ends = of.schema, of.steps_at(np.array([node], np.int64))
    found = np.zeros(len(schema.nodes), np.bool_)
    for end in ends:
        found |= schema.together.row(end) > 0
    types = of.vocabulary.types_of(node)
    if len(types):
        found |= schema.typed[:, types].max(axis=1) > 0
    return found


def _paths(of: Exploration, here: Anchor, there: Anchor) -> Iterator[tuple[Query, ClaimMeaning]]:
    """Paths of one or two steps from one thing to another, whether the graph has them or not."""
    stands, arrives = may_stand(of, here.node), may_stand(of, there.node)
    mine, theirs = (set(of.steps_at(np.array([n], np.int64))) for n in (here.node, there.node))
    absent = set(of.absent_steps(here.node)) | {s ^ 1 for s in of.absent_steps(there.node)}
    ones = {s for s in (*mine, *(t ^ 1 for t in theirs), *absent) if stands[s] and arrives[s ^ 1]}
    for s in sorted(ones, key=lambda s: (-of.worth_of(s), s))[:60]:
        yield from _forms(here, there, (s,))
    far = [b.steps for b in _far(of, here) if arrives[b.steps[-1] ^ 1]]
    far += [tuple(s ^ 1 for s in reversed(b.steps)) for b in _far(of, there) if stands[b.steps[-1] ^ 1]]
    for steps in dict.fromkeys(far):
        yield from _forms(here, there, steps)


def _far(of: Exploration, here: Anchor) -> list[Base]:
    """Sets two steps from a thing, those that the words name best."""
    start = _base(of, here)
    ones = by_worth(list(of.grown(start)))[:MOST_GROWN]
    return by_worth([b for one in ones for b in of.grown(one)])[:MOST_FIRST_STEPS]


def _base(of: Exploration, here: Anchor) -> Base:
    said = of.covered(here.mention)
    node = np.array([here.node], np.int64)
    return Base(here, node, -1, frozenset({here.mention}), (), said, 0.0)


def _forms(here: Anchor, there: Anchor, steps: tuple[int, ...]) -> Iterator[tuple[Query, ClaimMeaning]]:
    """The query graphs that say one path: from either end, or to what both lead to."""
    meaning = ClaimMeaning("path", here.node, steps, there.node)
    back = tuple(s ^ 1 for s in reversed(steps))
    yield Query("yes", Both(_walk(here, steps), there)), meaning
    yield Query("yes", Both(_walk(there, back), here)), meaning
    if len(steps) > 1:
        yield Query("yes", Both(Walk(here, steps[0]), Walk(there, back[0]))), meaning


def _walk(part: Part, steps: Sequence[int]) -> Part:
    for step in steps:
        part = Walk(part, step)
    return part


def _valued(
    of: Exploration, here: Anchor, value: ClaimedValue, mention: int, *, counted: bool
) -> Iterator[tuple[Query, ClaimMeaning]]:
    """A value of a thing, or of what it leads to, or how many things it leads to."""
    start, sign = _base(of, here), _sign(value)
    things = [b for b in by_worth(list(of.grown(start))) if of.is_of_things(b)][:MOST_GROWN]
    for base in (start, *things):
        for step, kind in of.attributes(base):
            no_year = value.timed and kind == NUMBER and not of.schema.years[step ^ 1]
            for shown in _values(value) if not no_year else ():
                if shown.date == (kind == DATE):
                    shown = replace(shown, mention=mention)
                    query = Query("yes", Compared(base.part, (step,), sign, shown))
                    yield query, ClaimMeaning("value", here.node, (*base.steps, step), value=value)
    number = value.exact
    if not counted or value.unit or number is None or number != round(number) or number > 1e6:
        return
    for step in of.steps_at(start.members):
        if of.vocabulary.ends[step ^ 1] not in (NUMBER, DATE):
            query = Query("yes", Counted(here, step, sign, int(number), mention))
            yield query, ClaimMeaning("count", here.node, (step,), value=value)


def _comparing(piece: Piece) -> str:
    """The word between two things that compares them (*is longer than*), empty for none."""
    stop = piece.places[1][0]
    hits = [hit for hit in THAN_WORD.finditer(piece.text, piece.places[0][1], stop) if hit.end() <= stop]
    if not hits or re.search(r"[^\W_]{4,}", piece.text[hits[-1].end() : stop]):
        return ""
    return (hits[-1][1] or hits[-1][2]).lower().split()[-1]


def _compared(
    of: Exploration, here: Anchor, there: Anchor, word: str
) -> Iterator[tuple[Query, ClaimMeaning]]:
    """*A is longer than B*: by values of both, or as a relation says of B (`broader`) or A (`older than`)."""
    for relation, label in enumerate(of.vocabulary.relations):
        if word in label.split():
            yield from _forms(here, there, (2 * relation + ("than" not in label.split()),))
    if word in _COUNTING:
        both = Either(here, there)
        for step in of.repeated_steps_at(np.array([here.node, there.node], np.int64)):
            most = Extreme(both, (step,), True, word == "more")
            sign: Sign = ">" if word == "more" else "<"
            yield (
                Query("yes", Both(most, here)),
                ClaimMeaning("more", here.node, (step,), there.node, sign=sign),
            )
    for step, kind in of.attributes(_base(of, here)):
        timed = kind == DATE or bool(of.schema.years[step ^ 1])
        if word in TIMED and not timed:
            continue
        sign = "<" if word in (EARLIER if timed else FEWER) else ">"
        query = Query("yes", Compared(here, (step,), sign, Walk(there, step)))
        yield query, ClaimMeaning("compare", here.node, (step,), there.node, sign=sign)
