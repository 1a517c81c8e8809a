"""Cut a claim into pieces by its items and what joins its clauses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from clew.claims.claim_text import (
    GOES_ON,
    JOINT,
    OR,
    ClaimText,
    ClauseSpan,
    Item,
    Piece,
    again,
    clauses,
    is_before_verb,
    joined,
    runs_of,
    says,
    together,
)

Alternatives = tuple[Piece, ...]
"""Pieces of which the likeliest is meant: said of the subject, or of what stands before."""


@dataclass(slots=True)
class _Cutter:
    """The pieces of one claim as they are found from left to right."""

    claim: ClaimText
    runs: list[list[Item]]
    made: list[Alternatives] = field(default_factory=list[Alternatives])
    groups: int = 0

    def text(self, clause: ClauseSpan | None) -> str:
        """The words of a clause."""
        return "" if clause is None else self.claim.text[clause.start : clause.stop]

    def piece(
        self, start: int, stop: int, parts: Sequence[str | Item], items: Sequence[Item], *, denied: bool
    ) -> Piece:
        """A piece of some words and items in their order."""
        text, places = joined(parts)
        order = [p for p in parts if isinstance(p, Item)]
        by_item = {id(item): place for item, place in zip(order, places, strict=True)}
        return Piece(start, stop, text, tuple(items), tuple(by_item[id(i)] for i in items), denied)

    def denied(self, start: int, stop: int, said: int) -> bool:
        """Whether the words at [start, stop) are negated."""
        return self.claim.negated(start, stop, said)


def pieces(claim: ClaimText) -> list[Alternatives]:
    """The pieces of a claim in its order, each with the things that it may be said of."""
    cutter = _Cutter(claim, runs_of(claim))
    if len(cutter.runs) > 1:
        _of_several(cutter)
    elif cutter.runs and len(cutter.runs[0]) == 2 and together(claim.text):
        first, second = cutter.runs[0]
        parts = [claim.text[claim.frame : first.start], first, "and", second, claim.text[second.stop :]]
        end = len(claim.text)
        denied = cutter.denied(claim.frame, end, second.stop)
        cutter.made.append((cutter.piece(claim.frame, end, parts, [first, second], denied=denied),))
    elif cutter.runs:
        for item in cutter.runs[0]:
            _of_one(cutter, item)
    return cutter.made


def _of_one(cutter: _Cutter, item: Item) -> None:
    """What is said of the one thing that a claim names."""
    claim = cutter.claim
    before, end = claim.text[claim.frame : item.start], len(claim.text)
    after = clauses(claim.text, item.stop, end)
    stop = after[0].stop if after else end
    first = claim.text[item.stop : stop]
    denied = cutter.denied(claim.frame, stop, after[0].start if after else item.start)
    cutter.made.append((cutter.piece(claim.frame, stop, [before, item, first], [item], denied=denied),))
    for clause in after[1:]:
        _loose(cutter, clause, item)


def _loose(cutter: _Cutter, clause: ClauseSpan, item: Item) -> None:
    """What one clause says of a thing alone."""
    denied = cutter.denied(clause.start, clause.stop, clause.stop)
    piece = cutter.piece(clause.start, clause.stop, [item, cutter.text(clause)], [item], denied=denied)
    cutter.made.append((piece,))


def _of_several(cutter: _Cutter) -> None:
    """What is said of the items of a claim and those before them."""
    claim, runs = cutter.claim, cutter.runs
    subject, prefix, words = runs[0], claim.text[claim.frame : runs[0][0].start], ""
    begin = claim.frame
    if runs[0][0].value is not None and not runs[0][0].candidates and runs[1][0].candidates:
        runs = _value_first(cutter)
        subject, prefix, begin = runs[0], "", runs[0][0].start
    for before, run, after in zip(runs, runs[1:], [*runs[2:], None], strict=False):
        start, stop = before[-1].stop, run[0].start
        said = clauses(claim.text, start, stop)
        if _begins_clause(claim, start, run, last=after is None):
            subject, words, begin = run, "", start
            prefix = cutter.text(said[-1]) if said else ""
            continue
        own = said[-1] if said else ClauseSpan(start, stop)
        if before is not subject and len(said) > 1 and said[0].start == start:
            said = said[1:]  # words after the item before, which were said of it
        own_words = claim.text[start:stop]
        plain = bool(said) or bool(_AUXILIARY.search(own_words))
        words = cutter.text(own) if plain else f"{_less_function(words)} {own_words}"
        words = _JOINS.sub("", words, count=1)
        end = len(claim.text) if after is None else run[-1].stop
        trailing = clauses(claim.text, run[-1].stop, end) if after is None else []
        attached = (
            _attached(claim, run[-1].stop, trailing) if after is None else _following(claim, run, after)
        )
        for clause in said[:-1]:
            _listed_verb(cutter, clause, subject, run, (begin, prefix))
        for turn, item in enumerate(run):
            place = (
                begin if before is subject else own.start if said[:-1] else start,
                attached[1] if turn == len(run) - 1 else item.stop,
            )
            if turn:
                place = (run[turn - 1].stop, place[1])
            _pair(cutter, (subject, before), item, place, (prefix, words, attached[0], own.start), run)
        for clause in trailing[attached[2] :]:
            _trailing(cutter, clause, subject[0], run[-1])


_AUXILIARY = re.compile(r"\b(?:is|was|are|were|has|have|had)\b", re.IGNORECASE)
_WHICH = re.compile(r"\s*,?\s*(?:who|which|that|whose|where)\b", re.IGNORECASE)
_JOINS = re.compile(r"^\s*,?\s*(?:and|but|or|nor)\b\s*", re.IGNORECASE)


def _following(claim: ClaimText, run: Sequence[Item], after: Sequence[Item]) -> tuple[str, int, int]:
    """The words right after a run that are said of it, where what follows begins with words of its own."""
    said = clauses(claim.text, run[-1].stop, after[0].start)
    if len(said) > 1 and said[0].start == run[-1].stop:
        return claim.text[said[0].start : said[0].stop].strip(" .!?,;"), said[0].stop, 0
    return "", run[-1].stop, 0


def _value_first(cutter: _Cutter) -> list[list[Item]]:
    """*In 1999 X did …*, *Born in 1970, X …*: the value is said of what comes next; the runs after it."""
    claim, (value, *_), thing = cutter.claim, cutter.runs[0], cutter.runs[1][0]
    before, between = claim.text[claim.frame : value.start], claim.text[value.stop : thing.start]
    last = len(cutter.runs) == 2
    after = claim.text[thing.stop :] if last or not says(before + between) else ""
    if not last and after:
        after = claim.text[thing.stop : cutter.runs[2][0].start]
    denied = cutter.denied(claim.frame, thing.stop, thing.stop)
    piece = cutter.piece(
        claim.frame, thing.stop, [before, value, between, thing, after], [thing, value], denied=denied
    )
    cutter.made.append((piece,))
    return cutter.runs[1:]


def _begins_clause(claim: ClaimText, start: int, run: Sequence[Item], *, last: bool) -> bool:
    """Whether what joins begins a clause of its own: *… and B is …*."""
    joint = JOINT.match(claim.text, start)
    return joint is not None and not last and is_before_verb(claim.text, run[-1].stop)


def _less_function(words: str) -> str:
    """Words without the function words at their end: *was directed by* → *was directed*."""
    kept = words.split()
    while kept and kept[-1].lower() in ("by", "in", "on", "at", "of", "to", "from", "with"):
        kept.pop()
    return " ".join(kept)


def _attached(claim: ClaimText, start: int, trailing: Sequence[ClauseSpan]) -> tuple[str, int, int]:
    """The words after the last item that belong to it, where they end, and how many clauses they are."""
    if not trailing:
        return claim.text[start:].strip(" .!?,;") if len(claim.text) - start < 40 else "", len(claim.text), 0
    if trailing[0].start > start:
        return "", start, 0
    return claim.text[start : trailing[0].stop].strip(" .!?,;"), trailing[0].stop, 1


def _pair(
    cutter: _Cutter,
    before: tuple[Sequence[Item], Sequence[Item]],
    item: Item,
    place: tuple[int, int],
    said: tuple[str, str, str, int],
    run: Sequence[Item],
) -> None:
    """What the words before one item say of it and of the subject, or of the item before."""
    subject, nearest = before
    prefix, words, after, where = said
    claim = cutter.claim
    start, stop = place
    whole = start if item is run[0] else where
    denied = cutter.denied(whole, stop, where)
    if item is not run[0] and cutter.denied(start, item.start, item.start):
        denied = True
    either = -1
    if not denied and len(run) > 1 and OR.search(claim.text, run[-2].stop, run[-1].start):
        cutter.groups += item is run[0]
        either = cutter.groups
    if len(subject) > 1 and not denied and OR.search(claim.text, subject[-2].stop, subject[-1].start):
        cutter.groups += item is run[0]
        either = cutter.groups
    goes_on = nearest is not subject and GOES_ON.match(claim.text, nearest[-1].stop)
    others = list(nearest) if goes_on else []
    if nearest is subject and prefix.strip() and _WHICH.match(claim.text, nearest[-1].stop):
        others = list(nearest)  # *It is part of A, which is in B* says where A is
    for turn, thing in enumerate(subject):
        at = start if turn == 0 else subject[turn - 1].stop
        made = [cutter.piece(at, stop, [prefix, thing, words, item, after], [thing, item], denied=denied)]
        if turn == 0:
            made += [
                cutter.piece(start, stop, [other, words, item, after], [other, item], denied=denied)
                for other in others[-1:]
            ]
        cutter.made.append(tuple(replace(p, either=either) for p in made))


def _listed_verb(
    cutter: _Cutter, clause: ClauseSpan, subject: Sequence[Item], run: Sequence[Item], begun: tuple[int, str]
) -> None:
    """*Wrote* in *wrote and directed Y*: said of both; or a thing said of the subject alone."""
    begin, prefix = begun
    words = cutter.text(clause)
    for thing in subject:
        denied = cutter.denied(min(begin, clause.start), clause.stop, clause.stop)
        alone = cutter.piece(clause.start, clause.stop, [prefix, thing, words], [thing], denied=denied)
        both = [
            cutter.piece(
                clause.start, clause.stop, [prefix, thing, words, item], [thing, item], denied=denied
            )
            for item in run[:1]
        ]
        cutter.made.append((*both, alone))


def _trailing(cutter: _Cutter, clause: ClauseSpan, subject: Item, last: Item) -> None:
    """A clause after the last item: *but starred in it*, *and has a nickname*."""
    words = cutter.text(clause)
    rest = again(words, last)
    if rest is None:
        _loose(cutter, clause, subject)
        return
    denied = cutter.denied(clause.start, clause.stop, clause.stop)
    piece = cutter.piece(clause.start, clause.stop, [subject, *rest], [subject, last], denied=denied)
    cutter.made.append((piece,))
