"""The default `verify`: without a model each part of a claim is there, or otherwise, or not recorded.

Steps, in order: `link` (what the claim names: entities, numbers, dates), `parts` (what the words say of
them, read as yes/no query graphs in which every word has its place), what the graph has of each, and the
verdict. Claims are those of FactKG's kinds and more: one hop, conjunction, existence, several hops through
something unnamed, negation, numbers, dates, counts and comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Protocol

from clew.claims.check_claim import Checked, Checker, judge_claim, judge_part
from clew.claims.claim_parts import Alternatives, pieces
from clew.claims.claim_readings import PieceReading, read_piece
from clew.claims.claim_text import (
    ClaimText,
    frame_of,
    is_refusal,
    left_out,
    not_happened,
    says_nobody,
    with_items,
)
from clew.grounding import cite
from clew.index.store.directory import Index
from clew.query.execute import Executor
from clew.reading.account import quoted
from clew.reading.shared_reader import reader_of
from clew.reading.spelling import spelling_notes
from clew.text.embedder import Embedder
from clew.types import ClaimPart, Step, Verification

LEAST_MEANING = 0.4
"""Least probability of a statement among all of its piece to be checked."""
LEAST_SPELT = 0.7
"""Least likeness of some word with what one thing alone has or is."""
NAMES_RELATION = 0.9
"""Likeness from which a word is a relation's name, so that none of it means that there is none."""
SURE_MEANING = 0.85
"""Probability that some statement is right from which what one thing has or is need not be spelt."""
NOTHING_NAMED = "I cannot place it: none of its words names anything in this graph"


class WithModel(Protocol):
    """What verifies by a chat model what is left open."""

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Give a verdict on a claim, part by part."""
        ...


class Verify:
    """Verifies claims against one open index; `with_model`, if there is one, what it leaves open."""

    name = "auto"

    def __init__(self, index: Index, embedder: Embedder, with_model: WithModel | None = None) -> None:
        self.with_model, self.reader = with_model, reader_of(index, embedder)
        self.graph = self.reader.graph

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Verify one claim; in a closed world what the graph does not record is not so. Raises LlmError."""
        if self.with_model is None:
            return self._verify(claim, id=id, closed_world=closed_world)
        plain = self._verify(claim, id=id)
        if plain.verdict != "not_enough_info":
            return plain
        asked = self.with_model.verify(claim, id=id, closed_world=closed_world)
        verdict = asked
        if asked.verdict == "not_enough_info":
            if closed_world and asked.abstained is None:
                plain = self._verify(claim, id=id, closed_world=True)
            verdict = replace(plain, model=asked.model, usage=asked.usage, abstained=asked.abstained)
        total = plain.timings_ms["total"] + asked.timings_ms["total"]
        return replace(
            verdict, method=self.name, timings_ms={**plain.timings_ms, **asked.timings_ms, "total": total},
            steps=(*plain.steps, *asked.steps),
        )  # fmt: skip

    def _verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Verify one claim without a model."""
        began = perf_counter()
        corrected, mentions, respelt = self.reader.spell(claim)
        text = with_items(frame_of(corrected), mentions)
        entities, link_ended = self.graph.entities, perf_counter()
        linked = [{"text": i.text, "entities": [entities[c.node] for c in i.candidates]} for i in text.items]
        checker = Checker(self.reader.vocabulary, text, Executor(self.graph))
        checked = self._checked(checker)
        parts = [judge_part(text, self.reader.vocabulary, p, closed=closed_world) for p in checked]
        if not parts:
            parts = [ClaimPart(claim, "refuted" if closed_world else "not_enough_info")]
        verdict = judge_claim(parts, denied=text.denied)
        missing = [p.missing for p in checked if p.missing] if checked else [NOTHING_NAMED]
        notes = tuple(dict.fromkeys(missing)) if verdict == "not_enough_info" else ()
        ended = perf_counter()
        timings = {"link": link_ended - began, "check": ended - link_ended, "total": ended - began}
        citations = tuple(cite(self.graph, p.verdict, p.triple_ids) for p in parts if p.triple_ids)
        times = {stage: round(1000 * s, 3) for stage, s in timings.items()}
        spelt = {"respelt": [list(pair) for pair in respelt]} if respelt else {}
        steps = (Step("link", {"mentions": linked, **spelt}), self._parts_step(checked))
        return Verification(
            claim, verdict, tuple(parts), citations, method=self.name, timings_ms=times, steps=steps, id=id,
            complete=not checker.over_budget, notes=(*spelling_notes(respelt), *notes),
        )  # fmt: skip

    def _checked(self, checker: Checker) -> list[Checked]:
        """The parts of a claim as the graph has them; words in none of them are parts of their own."""
        text = checker.claim
        read = self._read(text)
        checked = _best_of_groups([self._check(checker, options, readings) for options, readings in read])
        for start, stop in left_out(text, [p for options, _ in read for p in options]):
            missing = f"I cannot place {quoted([text.text[start:stop]])}"
            checked.append(Checked(start, stop, "unknown", missing=missing))
        return checked

    def _read(self, claim: ClaimText) -> list[tuple[Alternatives, list[PieceReading]]]:
        """The readings of each piece; what may be no name and gives no reading is no name."""
        read = [(options, self._readings(options)) for options in pieces(claim)]
        doubtful = {
            item
            for options, readings in read
            for item in options[0].items[-1:]
            if not item.sure and not any(map(_is_likely, readings))
        }
        if not doubtful:
            return read
        items = tuple(i for i in claim.items if i not in doubtful)
        return [(o, self._readings(o)) for o in pieces(replace(claim, items=items))]

    def _readings(self, options: Alternatives) -> list[PieceReading]:
        """What a piece likeliest says, said of each thing that it may be said of, the likeliest first."""
        read = [r for r in (read_piece(self.reader, option) for option in options) if r is not None]
        return sorted(read, key=lambda r: (bool(r.unplaced), -r.probability))

    def _check(self, checker: Checker, options: Alternatives, readings: Sequence[PieceReading]) -> Checked:
        """One piece as the graph has it."""
        piece, likeliest = options[0], readings[0] if readings else None
        blank = Checked(piece.start, piece.stop, "unknown", (), piece.negated, piece.group, read=likeliest)
        named = likeliest.named if likeliest and likeliest.statement.kind == "exists" else 1.0
        if named < NAMES_RELATION and says_nobody(checker.claim):
            return replace(blank, finding="unread", missing=self._open(likeliest))
        likely = [r for r in readings if _is_likely(r) and (len(r.piece.items) > 1 or r.piece.words)]
        if likeliest is None or not likely:
            return replace(blank, missing=self._open(likeliest))
        found = [(r, *checker.check(r)) for r in likely]
        read, finding, triples = next((f for f in found if f[1] == "there"), found[0])
        labels = " ".join(self.reader.vocabulary.relations[s // 2] for s in read.statement.relation_steps)
        hit = not_happened(piece.text, piece.places, labels.split())
        if hit is not None:
            missing = f'"{hit[0]}" does not say that it happened'
            if finding == "there" and is_refusal(hit) and not piece.negated:
                return replace(blank, finding="otherwise", triples=triples, read=read)
            return replace(blank, missing=missing, read=read)
        missing = self._not_recorded(read) if finding == "unknown" else ""
        return replace(blank, finding=finding, triples=triples, missing=missing, read=read)

    def _open(self, read: PieceReading | None) -> str:
        """What is missing of a piece that says nothing for sure."""
        if read is not None and read.unplaced:
            return f"I cannot place {quoted(read.unplaced)}"
        if read is None:
            return NOTHING_NAMED
        return f"No relation of this graph is surely meant by {quoted([read.piece.text])}"

    def _not_recorded(self, read: PieceReading) -> str:
        """What the graph does not record of the first thing of a piece."""
        node, steps = read.statement.node, read.statement.relation_steps
        named = " of ".join(self.reader.vocabulary.relations[s // 2] for s in reversed(steps)) or "type"
        return f'The graph does not record what "{named}" of {self.graph.labels[node]} would have to be'

    def _parts_step(self, parts: Sequence[Checked]) -> Step:
        rows = [
            {
                "text": p.read.piece.text,
                "relations": [
                    self.graph.relations[s // 2] + (" (inverse)" if s % 2 else "")
                    for s in p.read.statement.relation_steps
                ],
                "kind": p.read.statement.kind,
                "probability": round(p.read.probability, 3),
                "none": round(p.read.none, 3),
                "named": round(p.read.named, 3),
                "unplaced": list(p.read.unplaced),
                "found": p.finding,
            }
            for p in parts
            if p.read is not None
        ]
        return Step("parts", {"parts": rows})


def _is_likely(read: PieceReading) -> bool:
    """Whether a piece is read surely enough to be checked: all its words have a place, too."""
    is_single = read.statement.kind in ("type", "exists")
    if is_single and read.named < LEAST_SPELT and 1 - read.none < SURE_MEANING:
        return False
    return not read.unplaced and read.probability >= LEAST_MEANING


def _best_of_groups(parts: Sequence[Checked]) -> list[Checked]:
    """The parts, of those of which one is enough the best one."""
    order = {"there": 0, "unknown": 1, "unread": 2, "otherwise": 3}
    best: dict[int, Checked] = {}
    for part in parts:
        best_part = best.get(part.group)
        if part.group >= 0 and (best_part is None or order[part.finding] < order[best_part.finding]):
            best[part.group] = part
    return [p for p in parts if p.group < 0 or best[p.group] is p]
