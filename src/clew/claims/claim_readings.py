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
from clew.query.tree import (
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
from clew.query.vocabulary import DATE, NUMBER
from clew.reading.candidates import Option
from clew.reading.comparisons import EARLIER, FEWER, THAN_WORD
from clew.reading.mentions import Mention
from clew.reading.paths import Base, Exploration, by_worth
from clew.reading.reader import QuestionReader

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

    `probability` is its share among all meanings, `none` that of none being right, `name_likeness` how like
    some word is to the relation or type, `word_support` whether words say every step (`SAID`, `HINTED`,
    `UNSAID`).
    """

    piece: Piece
    meanings: tuple[ClaimMeaning, ...]
    probability: float
    none: float
    name_likeness: float
    word_support: int
    other_meanings: tuple[tuple[ClaimMeaning, float], ...] = ()
    """The other meanings with their share."""

    @property
    def meaning(self) -> ClaimMeaning:
        """The likeliest of the meanings."""
        return self.meanings[0]


def read_piece(reader: QuestionReader, piece: Piece) -> PieceReading | None:
    """The likeliest meaning of a piece; None where there is none."""
    mentions = [_mention(i, p) for i, p in zip(piece.items, piece.places, strict=True)]
    exploration = reader.explore(piece.text, mentions)
    meanings = dict(_meanings(exploration, piece))
    if not meanings:
        return None
    ranking = reader.rank_options(exploration, [Option(query, 0.0) for query in meanings])
    words = Wording(reader, exploration, mentions)
    shares: dict[tuple[object, ...], dict[ClaimMeaning, float]] = {}
    for ranked in ranking.ranked:
        meaning = meanings[ranked.option.query]
        group = shares.setdefault(meaning.key, {})
        odds = _fit_odds(meaning, piece.text) * (UNFIT if words.states_more(meaning) else 1.0)
        group[meaning] = group.get(meaning, 0.0) + ranked.probability * odds
    _weigh(words, shares)
    total = sum(sum(group.values()) for group in shares.values())
    if not shares or total <= 0:
        return None
    best = max(shares.values(), key=lambda group: sum(group.values()))
    order = sorted(best, key=lambda m: -best[m])
    order += _reversed_meanings(exploration, shares, order[0])
    name_likeness = words.likeness(order[0]) if not words.states_more(order[0]) else 0.0
    other_meanings = [
        (m, p / total) for group in shares.values() if group is not best for m, p in group.items()
    ]
    share, word_support = sum(best.values()) / total, words.word_support(order[0])
    return PieceReading(
        piece, tuple(order), share, ranking.none, name_likeness, word_support, tuple(other_meanings)
    )


def _weigh(words: Wording, shares: dict[tuple[object, ...], dict[ClaimMeaning, float]]) -> None:
    """Where words say one of the likely meanings, little is left of those of which they say nothing."""
    best_share = max((sum(group.values()) for group in shares.values()), default=0.0)
    likely = {key: group for key, group in shares.items() if sum(group.values()) >= RIVAL * best_share}
    supports = (
        {key: words.word_support(next(iter(group))) for key, group in likely.items()}
        if len(likely) > 1
        else {}
    )
    for key in [key for key, support in supports.items() if support == UNSAID and any(supports.values())]:
        shares[key] = {meaning: share * UNFIT for meaning, share in shares[key].items()}


def _fit_odds(meaning: ClaimMeaning, text: str) -> float:
    """What is left of the odds of a meaning: a way there and back says *X and Y share a director*."""
    there_and_back = len(meaning.steps) == 2 and meaning.steps[0] == meaning.steps[1] ^ 1
    if TOGETHER.search(text):
        return 1.0 if there_and_back else UNFIT
    return 1.0 if not there_and_back or BESIDE.search(text) else UNFIT


def _reversed_meanings(
    exploration: Exploration, shares: dict[tuple[object, ...], dict[ClaimMeaning, float]], best: ClaimMeaning
) -> list[ClaimMeaning]:
    """The meanings with the two ends the other way round, of a relation that holds both ways."""
    if best.kind != "path" or len(best.steps) != 1:
        return []
    relation = best.steps[0] // 2
    words = {
        *exploration.vocabulary.relations[relation].split(),
        *(w for _, _, w in exploration.likeness.words),
    }
    mutual = exploration.schema.inverse[relation] == relation or words & BOTH_WAYS
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
    for span, date in ((value.numbers, False), (value.dates, True)):
        if span is None:
            continue
        low = span.low if math.isfinite(span.low) else span.high
        high = span.high if math.isfinite(span.high) else low
        if not date and value.exact is not None:
            low = high = value.exact
        yield Value(low, date, high - low, 1)


def _sign(value: ClaimedValue) -> Sign:
    span = value.numbers or value.dates
    if span is None or not value.compared:
        return "="
    if math.isinf(span.high):
        return ">=" if span.low_counts else ">"
    if math.isinf(span.low):
        return "<=" if span.high_counts else "<"
    return "="


def _meanings(exploration: Exploration, piece: Piece) -> Iterator[tuple[Query, ClaimMeaning]]:
    """All query graphs of a piece with what they mean."""
    first = piece.items[0]
    second = piece.items[1] if len(piece.items) > 1 else None
    if second is None:
        for c in first.candidates[:MOST_ITEM_NODES]:
            yield from _single_meanings(
                exploration, Anchor(c.node, 0), is_a=bool(_IS_A.match(piece.text, piece.places[0][1]))
            )
        return
    if first.value is not None and not first.candidates and second.candidates:
        for c in second.candidates[:MOST_ITEM_NODES]:
            yield from _value_meanings(exploration, Anchor(c.node, 1), first.value, 0, is_count=False)
        return
    word = _comparing_word(piece)
    for c in first.candidates[:MOST_ITEM_NODES]:
        first_anchor = Anchor(c.node, 0)
        if second.value is not None:
            is_count = second.value.dates is None and piece.text[piece.places[1][1] :].strip() != ""
            yield from _value_meanings(exploration, first_anchor, second.value, 1, is_count=is_count)
        for d in second.candidates[:MOST_ITEM_NODES]:
            if d.node != c.node:
                second_anchor = Anchor(d.node, 1)
                yield from (
                    _comparison_meanings(exploration, first_anchor, second_anchor, word)
                    if word
                    else _path_meanings(exploration, first_anchor, second_anchor)
                )


def _single_meanings(
    exploration: Exploration, anchor: Anchor, *, is_a: bool
) -> Iterator[tuple[Query, ClaimMeaning]]:
    """What one thing has, or what it is."""
    node = np.array([anchor.node], np.int64)
    for step in [*exploration.steps_at(node), *exploration.absent_steps(anchor.node)]:
        yield Query("yes", Walk(anchor, step)), ClaimMeaning("exists", anchor.node, (step,))
    for type_ in range(len(exploration.vocabulary.types) if is_a else 0):
        if float(exploration.types_say[type_].sum()) > 0:
            yield Query("yes", Both(anchor, OfType(type_))), ClaimMeaning("type", anchor.node, (type_,))


def may_stand(exploration: Exploration, node: int) -> NDArray[np.bool_]:
    """Bool [2R]: the ends at which a node, or others like it, stand."""
    schema, ends = exploration.schema, exploration.steps_at(np.array([node], np.int64))
    allowed = np.zeros(len(schema.nodes), np.bool_)
    for end in ends:
        allowed |= schema.together.row(end) > 0
    types = exploration.vocabulary.types_of(node)
    if len(types):
        allowed |= schema.typed[:, types].max(axis=1) > 0
    return allowed


def _path_meanings(
    exploration: Exploration, first_anchor: Anchor, second_anchor: Anchor
) -> Iterator[tuple[Query, ClaimMeaning]]:
    """Paths of one or two steps from one thing to another, whether the graph has them or not."""
    stands, arrives = may_stand(exploration, first_anchor.node), may_stand(exploration, second_anchor.node)
    mine, theirs = (
        set(exploration.steps_at(np.array([n], np.int64))) for n in (first_anchor.node, second_anchor.node)
    )
    absent = set(exploration.absent_steps(first_anchor.node)) | {
        s ^ 1 for s in exploration.absent_steps(second_anchor.node)
    }
    single_steps = {s for s in (*mine, *(t ^ 1 for t in theirs), *absent) if stands[s] and arrives[s ^ 1]}
    for s in sorted(single_steps, key=lambda s: (-exploration.worth_of(s), s))[:60]:
        yield from _path_queries(first_anchor, second_anchor, (s,))
    long_paths = [b.steps for b in _two_step_sets(exploration, first_anchor) if arrives[b.steps[-1] ^ 1]]
    long_paths += [
        tuple(s ^ 1 for s in reversed(b.steps))
        for b in _two_step_sets(exploration, second_anchor)
        if stands[b.steps[-1] ^ 1]
    ]
    for steps in dict.fromkeys(long_paths):
        yield from _path_queries(first_anchor, second_anchor, steps)


def _two_step_sets(exploration: Exploration, anchor: Anchor) -> list[Base]:
    """Sets two steps from a thing, those that the words name best."""
    start = _base(exploration, anchor)
    one_step_sets = by_worth(list(exploration.grown(start)))[:MOST_GROWN]
    return by_worth([b for base in one_step_sets for b in exploration.grown(base)])[:MOST_FIRST_STEPS]


def _base(exploration: Exploration, anchor: Anchor) -> Base:
    covered = exploration.covered(anchor.mention)
    node = np.array([anchor.node], np.int64)
    return Base(anchor, node, -1, frozenset({anchor.mention}), (), covered, 0.0)


def _path_queries(
    first_anchor: Anchor, second_anchor: Anchor, steps: tuple[int, ...]
) -> Iterator[tuple[Query, ClaimMeaning]]:
    """The query graphs that say one path: from either end, or to what both lead to."""
    meaning = ClaimMeaning("path", first_anchor.node, steps, second_anchor.node)
    reverse_steps = tuple(s ^ 1 for s in reversed(steps))
    yield Query("yes", Both(_walk(first_anchor, steps), second_anchor)), meaning
    yield Query("yes", Both(_walk(second_anchor, reverse_steps), first_anchor)), meaning
    if len(steps) > 1:
        yield Query("yes", Both(Walk(first_anchor, steps[0]), Walk(second_anchor, reverse_steps[0]))), meaning


def _walk(part: Part, steps: Sequence[int]) -> Part:
    for step in steps:
        part = Walk(part, step)
    return part


def _value_meanings(
    exploration: Exploration, anchor: Anchor, value: ClaimedValue, mention: int, *, is_count: bool
) -> Iterator[tuple[Query, ClaimMeaning]]:
    """A value of a thing, or of what it leads to, or how many things it leads to."""
    start, sign = _base(exploration, anchor), _sign(value)
    thing_sets = [b for b in by_worth(list(exploration.grown(start))) if exploration.is_of_things(b)][
        :MOST_GROWN
    ]
    for base in (start, *thing_sets):
        for step, kind in exploration.attributes(base):
            no_year = value.timed and kind == NUMBER and not exploration.schema.years[step ^ 1]
            for query_value in _values(value) if not no_year else ():
                if query_value.date == (kind == DATE):
                    query_value = replace(query_value, mention=mention)
                    query = Query("yes", Compared(base.part, (step,), sign, query_value))
                    yield query, ClaimMeaning("value", anchor.node, (*base.steps, step), value=value)
    number = value.exact
    if not is_count or value.unit or number is None or number != round(number) or number > 1e6:
        return
    for step in exploration.steps_at(start.members):
        if exploration.vocabulary.ends[step ^ 1] not in (NUMBER, DATE):
            query = Query("yes", Counted(anchor, step, sign, int(number), mention))
            yield query, ClaimMeaning("count", anchor.node, (step,), value=value)


def _comparing_word(piece: Piece) -> str:
    """The word between two things that compares them (*is longer than*), empty for none."""
    stop = piece.places[1][0]
    hits = [hit for hit in THAN_WORD.finditer(piece.text, piece.places[0][1], stop) if hit.end() <= stop]
    if not hits or re.search(r"[^\W_]{4,}", piece.text[hits[-1].end() : stop]):
        return ""
    return (hits[-1][1] or hits[-1][2]).lower().split()[-1]


def _comparison_meanings(
    exploration: Exploration, first_anchor: Anchor, second_anchor: Anchor, word: str
) -> Iterator[tuple[Query, ClaimMeaning]]:
    """*A is longer than B*: by values of both, or as a relation says of B (`broader`) or A (`older than`)."""
    for relation, label in enumerate(exploration.vocabulary.relations):
        if word in label.split():
            yield from _path_queries(
                first_anchor, second_anchor, (2 * relation + ("than" not in label.split()),)
            )
    if word in _COUNTING:
        pair = Either(first_anchor, second_anchor)
        for step in exploration.repeated_steps_at(
            np.array([first_anchor.node, second_anchor.node], np.int64)
        ):
            extreme = Extreme(pair, (step,), True, word == "more")
            sign: Sign = ">" if word == "more" else "<"
            yield (
                Query("yes", Both(extreme, first_anchor)),
                ClaimMeaning("more", first_anchor.node, (step,), second_anchor.node, sign=sign),
            )
    for step, kind in exploration.attributes(_base(exploration, first_anchor)):
        timed = kind == DATE or bool(exploration.schema.years[step ^ 1])
        if word in TIMED and not timed:
            continue
        sign = "<" if word in (EARLIER if timed else FEWER) else ">"
        query = Query("yes", Compared(first_anchor, (step,), sign, Walk(second_anchor, step)))
        yield query, ClaimMeaning("compare", first_anchor.node, (step,), second_anchor.node, sign=sign)
