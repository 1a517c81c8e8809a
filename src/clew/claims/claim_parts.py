"""Cut a claim into pieces by its items and what joins its clauses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from clew.claims import claim_text
from clew.claims.claim_text import ClaimText, ClauseSpan, Item, Piece
from clew.reading.comparisons import than_words

Alternatives = tuple[Piece, ...]
"""Pieces of which the likeliest is meant: said of the subject, or of what stands before."""
_AUXILIARY = re.compile(r"\b(?:is|was|are|were|has|have|had)\b", re.IGNORECASE)
_WHICH = re.compile(r"\s*,?\s*(?:who|which|that|whose|where)\b", re.IGNORECASE)
_JOINS = re.compile(r"^\s*,?\s*(?:and|but|or|nor)\b\s*", re.IGNORECASE)
_WITH, _AS = re.compile(r"\s*,?\s*with\s*", re.IGNORECASE), re.compile(r"\s+as\b", re.IGNORECASE)

_THAN_BOTH = re.compile(
    r"\s+(?P<said>[^,;]+?)\s+(?:than\s+)?both(?:\s+of)?(?:\s+(?:them|these|those|the\s+others))?\W*",
    re.IGNORECASE,
)
"""What ends a claim and compares a thing with the two that were named before."""


def pieces(claim: ClaimText) -> list[Alternatives]:
    """The pieces of a claim in its order, each with the things that it may be said of."""
    cutter, text, frame = _Cutter(claim), claim.text, claim.frame
    run = cutter.runs[0] if cutter.runs else []
    if len(cutter.runs) > 1:
        cutter.cut_several()
    elif len(run) == 2 and claim_text.TOGETHER.search(text):
        first, second = run
        parts = [text[frame : first.start], first, "and", second, text[second.stop :]]
        cutter.add(frame, len(text), parts, second.stop)
    else:
        for item in run:
            cutter.cut_one(item)
    return cutter.alternatives


class _Cutter:
    """The pieces of one claim as they are found from left to right."""

    def __init__(self, claim: ClaimText) -> None:
        self.claim, self.text, self.runs = claim, claim.text, claim_text.runs_of(claim)
        self.alternatives: list[Alternatives] = []
        self.groups = self.begin = 0
        self.leading: list[str | Item] = []
        """A value before the subject, behind its words: *in 2023 X delivered …*."""

    def piece(self, start: int, stop: int, parts: Sequence[str | Item], *, denied: bool) -> Piece:
        """A piece of some words and items in their order."""
        text, places = claim_text.join_parts(parts)
        return Piece(start, stop, text, tuple(p for p in parts if isinstance(p, Item)), places, denied)

    def add(self, start: int, stop: int, parts: Sequence[str | Item], position: int) -> None:
        """Add a piece that means one thing; a negation counts that nothing parts from `position`."""
        self.alternatives.append(
            (self.piece(start, stop, parts, denied=self.claim.negated(start, stop, position)),)
        )

    def words(self, clause: ClauseSpan) -> str:
        """The words of a clause."""
        return self.text[clause.start : clause.stop]

    def cut_one(self, item: Item) -> None:
        """What is said of the one thing that a claim names."""
        frame, end = self.claim.frame, len(self.text)
        after = claim_text.clauses(self.text, item.stop, end)
        stop = after[0].stop if after else end
        parts = [self.text[frame : item.start], item, self.text[item.stop : stop]]
        self.add(frame, stop, parts, after[0].start if after else item.start)
        for clause in after[1:]:
            self.add(clause.start, clause.stop, [item, self.words(clause)], clause.stop)

    def cut_several(self) -> None:
        """What is said of the items of a claim and those before them."""
        claim, runs, text = self.claim, self.runs, self.text
        subject, prefix, words = runs[0], text[claim.frame : runs[0][0].start], ""
        self.begin = claim.frame
        if runs[0][0].value is not None and not runs[0][0].candidates and runs[1][0].candidates:
            runs = self._value_first()
            subject, prefix, self.begin = runs[0], "", runs[0][0].start
        for before, run, after in zip(runs, runs[1:], [*runs[2:], None], strict=False):
            start, stop = before[-1].stop, run[0].start
            clauses = claim_text.clauses(text, start, stop)
            joins = claim_text.JOINT.match(text, start) and claim_text.is_before_verb(text, run[-1].stop)
            if joins and after is not None:
                # What joins begins a clause of its own: *… and B is …*.
                subject, words, self.begin = run, "", start
                prefix = self.words(clauses[-1]) if clauses else ""
                continue
            if joins and before is not subject and not clauses:
                self._last_subject(subject, before, run)
                continue
            last_clause = clauses[-1] if clauses else claim_text.behind_joint(text, start, stop)
            if before is not subject and len(clauses) > 1 and clauses[0].start == start:
                clauses = clauses[1:]  # words after the item before, which were said of it
            has_verb = bool(clauses) or bool(_AUXILIARY.search(text[start:stop]))
            words = (
                self.words(last_clause)
                if has_verb
                else f"{_without_function_words(words)} {text[start:stop]}"
            )
            if _WITH.fullmatch(text, start, stop) and _AS.match(text, run[-1].stop):
                words = "has"  # *with Ann as captain*
            words = _JOINS.sub("", words, count=1)
            trailing = claim_text.clauses(text, run[-1].stop, len(text)) if after is None else []
            attached = self._attached(run, trailing) if after is None else self._following(run, after)
            for clause in clauses[:-1]:
                self._listed_verb(clause, subject, run, (self.begin, prefix))
            first_start = self.begin if before is subject else last_clause.start if clauses[:-1] else start
            for turn, item in enumerate(run):
                place = (
                    run[turn - 1].stop if turn else first_start,
                    attached[1] if item is run[-1] else item.stop,
                )
                wording = (prefix, words, attached[0], last_clause.start)
                self._pair((subject, before), item, place, wording, (run, after or ()))
            for clause in trailing[attached[2] :]:
                self._trailing(clause, subject[0], run[-1])
            if before is subject and not text[start:stop].strip() and run[0].candidates:
                subject = run  # *the apprentice Ann Lee*: what follows is said of her

    def _last_subject(self, subject: Sequence[Item], before: Sequence[Item], run: Sequence[Item]) -> None:
        """What is said of the last things, which begin a clause of their own: *but C is older than both*."""
        start, stop, text = before[-1].stop, len(self.text), self.text
        said = text[subject[-1].stop : before[0].start]
        both = _THAN_BOTH.fullmatch(text, run[-1].stop) if any(than_words(said)) else None
        is_same = both and set(both["said"].lower().split()) <= set(said.lower().split())
        for thing in run:
            if both and (is_same or claim_text.OUTDOES_BOTH.match(text, both.start("said"))):
                for other in (*subject, *before):
                    self.add(start, stop, [thing, said, other], start)
            else:
                self.add(start, stop, [thing, text[run[-1].stop :]], start)

    def _following(self, run: Sequence[Item], after: Sequence[Item]) -> tuple[str, int, int]:
        """The words right after a run said of it, where what follows begins with words of its own."""
        clauses = claim_text.clauses(self.text, run[-1].stop, after[0].start)
        if len(clauses) > 1 and clauses[0].start == run[-1].stop:
            return self.words(clauses[0]).strip(" .!?,;"), clauses[0].stop, 0
        return "", run[-1].stop, 0

    def _attached(self, run: Sequence[Item], trailing: Sequence[ClauseSpan]) -> tuple[str, int, int]:
        """The words after the last item that belong to it, where they end, and how many clauses they are."""
        start, end = run[-1].stop, len(self.text)
        if not trailing:
            return self.text[start:].strip(" .!?,;") if end - start < 40 else "", end, 0
        if trailing[0].start > start:
            return "", start, 0
        return self.words(trailing[0]).strip(" .!?,;"), trailing[0].stop, 1

    def _value_first(self) -> list[list[Item]]:
        """*In 1999 X did …*, *Born in 1970, X …*: the value is said of what comes next; the runs after it."""
        text, frame, (value, *_), thing = self.text, self.claim.frame, self.runs[0], self.runs[1][0]
        before, between = text[frame : value.start], text[value.stop : thing.start]
        after = ""
        if len(self.runs) == 2:
            after = text[thing.stop :]
        elif not claim_text.says(before + between):
            after = text[thing.stop : self.runs[2][0].start]
            self.leading = [before[:1].lower() + before[1:], value]
        denied = self.claim.negated(frame, thing.stop, thing.stop)
        piece = self.piece(frame, thing.stop, [before, value, between, thing, after], denied=denied)
        # It is said of the thing, or of what that does.
        variants = [replace(piece, items=piece.items[::-1], places=piece.places[::-1])]
        if self.leading and self.runs[2][0].candidates:
            subject, run = self.runs[1:3]
            parts, is_denied = self._of_edge(subject, subject, run[0], (run, ()))
            of_edge = _value_last(self.piece(frame, run[0].stop, [thing, *parts], denied=is_denied))
            variants = [of_edge] if is_denied else [*variants, of_edge]
        self.alternatives.append(tuple(variants))
        return self.runs[1:]

    def _pair(
        self,
        before: tuple[Sequence[Item], Sequence[Item]],
        item: Item,
        place: tuple[int, int],
        wording: tuple[str, str, str, int],
        runs: tuple[Sequence[Item], Sequence[Item]],
    ) -> None:
        """What the words before one item of a run say of it and of the subject, or of the item before."""
        run = runs[0]
        (subject, nearest), (start, stop), claim = before, place, self.claim
        prefix, words, after, clause_start = wording
        denied = claim.negated(start if item is run[0] else clause_start, stop, clause_start)
        if item is not run[0] and claim.negated(start, item.start, item.start):
            denied = True
        group = -1
        for listed in (run, subject) if not denied else ():
            between = (listed[-2].stop, listed[-1].start) if len(listed) > 1 else (0, 0)
            if claim_text.OR.search(self.text, *between):
                self.groups += item is run[0]
                group = self.groups
        # *It is part of A, which is in B* says where A is.
        goes_on = claim_text.GOES_ON if nearest is not subject else _WHICH if prefix.strip() else None
        nearer_things = nearest[-1:] if goes_on and goes_on.match(self.text, nearest[-1].stop) else ()
        of_edge, is_edge_denied = self._of_edge(subject, nearest, item, runs)
        for turn, thing in enumerate(subject):
            at = start if turn == 0 else subject[turn - 1].stop
            variants = [self.piece(at, stop, [prefix, thing, words, item, after], denied=denied)]
            for nearer_thing in nearer_things if turn == 0 else ():
                variants.append(self.piece(start, stop, [nearer_thing, words, item, after], denied=denied))
            if of_edge:
                # What is denied of an edge with a value is not denied of the edge alone.
                parts = [prefix, thing, *of_edge]
                of_value = _value_last(self.piece(at, stop, parts, denied=denied or is_edge_denied))
                variants = [of_value] if is_edge_denied else [*variants, of_value]
            self.alternatives.append(tuple(replace(p, group=group) for p in variants))

    def _of_edge(
        self,
        subject: Sequence[Item],
        nearest: Sequence[Item],
        item: Item,
        runs: tuple[Sequence[Item], Sequence[Item]],
    ) -> tuple[list[str | Item], bool]:
        """What follows the subject where a value is of what it does, and whether all that is denied.

        *Worked at Acme in 2016*, *in 2016 … worked at Acme*.
        """
        (run, following), text, is_nearest = runs, self.text, nearest is subject
        if is_nearest and self.leading and item.candidates:
            verb, rest = text[subject[-1].stop : run[0].start], self._rest(run[-1].stop)
            return [verb, item, rest, *self.leading], self._is_denied(run[-1].stop, subject)
        first, second = (item, following[0]) if is_nearest and following else (nearest[-1], item)
        stop = run[-1].stop if first is item else first.stop
        values = [i.value is not None and not i.candidates for i in (first, second)]
        things = [bool(i.candidates) for i in (first, second)]
        joins = claim_text.JOINT.search(text, stop, second.start) is not None
        is_denied = not joins and self._is_denied(second.stop, subject)
        is_last = things[0] and second.value is not None and (not is_nearest or (values[1] and is_denied))
        is_first = values[0] and things[1] and not joins
        if subject[-1] is first or not (is_last or is_first):
            return [], False
        verb = text[subject[-1].stop : run[0].start if first is item else first.start]
        if is_denied:
            verb = " ".join([*(i if isinstance(i, str) else i.text for i in self.leading), verb])
        return [verb, first, text[stop : second.start], second, self._rest(second.stop)], is_denied

    def _is_denied(self, stop: int, subject: Sequence[Item]) -> bool:
        """Whether what is said of a subject up to a place is denied, the value with it."""
        return self.claim.negated(self.begin, stop, subject[-1].stop)

    def _rest(self, start: int) -> str:
        """The words from a place to where another clause begins."""
        ends = [hit.start() for p in (claim_text.JOINT, _WHICH) if (hit := p.search(self.text, start))]
        return self.text[start : min(ends, default=len(self.text))]

    def _listed_verb(
        self, clause: ClauseSpan, subject: Sequence[Item], run: Sequence[Item], begun: tuple[int, str]
    ) -> None:
        """*Wrote* in *wrote and directed Y*: said of both; or a thing said of the subject alone."""
        (begin, prefix), (start, stop) = begun, (clause.start, clause.stop)
        denied = self.claim.negated(min(begin, start), stop, stop)
        for thing in subject:
            parts = [prefix, thing, self.words(clause)]
            with_object = self.piece(start, stop, [*parts, run[0]], denied=denied)
            self.alternatives.append((with_object, self.piece(start, stop, parts, denied=denied)))

    def _trailing(self, clause: ClauseSpan, subject: Item, last_item: Item) -> None:
        """A clause after the last item: *but starred in it*, *and has a nickname*."""
        words = self.words(clause)
        hit = claim_text.REFERS_BACK.search(words)
        parts = [words] if hit is None else [words[: hit.start()], last_item, words[hit.end() :]]
        self.add(clause.start, clause.stop, [subject, *parts], clause.stop)


def _value_last(piece: Piece) -> Piece:
    """A piece of two things and a value, its items in this order."""
    order = sorted(range(len(piece.items)), key=lambda at: at > 0 and not piece.items[at].candidates)
    items, places = zip(*((piece.items[at], piece.places[at]) for at in order), strict=True)
    return replace(piece, items=items, places=places)


def _without_function_words(words: str) -> str:
    """Words without the function words at their end: *was directed by* → *was directed*."""
    remaining = words.split()
    while remaining and remaining[-1].lower() in ("by", "in", "on", "at", "of", "to", "from", "with"):
        remaining.pop()
    return " ".join(remaining)
