"""The default `verify`: without a model each part of a claim is there, or otherwise, or not recorded.

Steps, in order: `link` (what the claim names: entities, numbers, dates), `parts` (what the words say of
them, read by the shipped ranker as query graphs), `check` (what the graph has), and the verdict. Claims are
those of FactKG's kinds and more: one hop, conjunction, existence, several hops through something unnamed,
negation, numbers, dates, counts and comparisons.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Protocol

from clew.claims.check_claim import Checked, Checker, judge_claim, judge_part, says_nobody
from clew.claims.claim_parts import Alternatives, pieces
from clew.claims.claim_readings import PieceReading, read_piece
from clew.claims.claim_text import ClaimText, frame_of, with_items
from clew.claims.meanings import HINTED, UNSAID
from clew.graph.implied_types import with_implied_types
from clew.graph.schema import with_types_of
from clew.grounding import cite
from clew.index.store.directory import Index
from clew.index.store.stored_schema import schema_of_index
from clew.reading.reader import QuestionReader
from clew.reading.signs import LIKE_A_LABEL, written_as_names
from clew.reading.spelling import spelling_notes
from clew.text.embedder import Embedder
from clew.types import ClaimPart, Step, Verification

LEAST_MEANING = 0.4
"""Least probability of a meaning among all of its piece to be checked."""
SURE_HINTED = 0.985
"""The least of one to be right where words only hint at the relation; where none does, it is left open."""
LEAST_SPELT = 0.7
"""Least likeness of some word with what one thing alone has or is."""
NAMES_RELATION = 0.9
"""Likeness from which a word is a relation's name, so that none of it means that there is none."""
SURE_MEANING = 0.85
"""Probability that some meaning is right from which what one thing has or is need not be spelt."""
_SUPERLATIVE = re.compile(r"\b(?:first|last|most|least|\w{2,}est)\b", re.IGNORECASE)


class WithModel(Protocol):
    """What verifies by a chat model what is left open."""

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Give a verdict on a claim, part by part."""
        ...


class Verify:
    """Verifies claims against one open index; `with_model`, if there is one, what it leaves open."""

    name = "auto"

    def __init__(self, index: Index, embedder: Embedder, with_model: WithModel | None = None) -> None:
        self.with_model = with_model
        schema = schema_of_index(index)
        self.graph = with_implied_types(index.graph)
        if self.graph is not index.graph:
            schema = with_types_of(schema, self.graph)
        self.reader = QuestionReader(self.graph, schema, index.names, embedder)

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
        read = self._read(text)
        checker = Checker(self.reader.vocabulary, text)
        checked = _best_of_groups([*self._checked(checker, read), *self._names(text)])
        parts = [judge_part(text, self.graph, p, closed=closed_world) for p in checked]
        if not parts:
            parts = [ClaimPart(claim, "refuted" if closed_world else "not_enough_info")]
        ended = perf_counter()
        timings = {"link": link_ended - began, "check": ended - link_ended, "total": ended - began}
        citations = tuple(cite(self.graph, p.verdict, p.triple_ids) for p in parts if p.triple_ids)
        times = {stage: round(1000 * s, 3) for stage, s in timings.items()}
        spelt = {"respelt": [list(pair) for pair in respelt]} if respelt else {}
        steps = (Step("link", {"mentions": linked, **spelt}), self._parts_step(checked))
        return Verification(
            claim, judge_claim(parts, denied=text.denied), tuple(parts), citations, method=self.name,
            timings_ms=times, steps=steps, id=id, notes=spelling_notes(respelt),
        )  # fmt: skip

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
        """What a piece likeliest means, said of each thing that it may be said of, the likeliest first."""
        read = [r for r in (read_piece(self.reader, option) for option in options) if r is not None]
        return sorted(read, key=lambda r: -r.probability)

    def _checked(
        self, checker: Checker, read: Sequence[tuple[Alternatives, list[PieceReading]]]
    ) -> list[Checked]:
        parts: list[Checked] = []
        for options, readings in read:
            piece, likeliest = options[0], readings[0] if readings else None
            likely = [r for r in readings if _is_likely(r) and self._claims(r)]
            checks = [checker.check(r) for r in likely]
            best = next((p for p in checks if p.finding == "there"), checks[0] if checks else None)
            exists = (
                likeliest is not None
                and likeliest.meaning.kind == "exists"
                and likeliest.name_likeness < NAMES_RELATION
            )
            unread = exists and says_nobody(checker.claim)
            if unread or best is None:
                finding = "unread" if unread else "unknown"
                best = Checked(piece.start, piece.stop, finding, (), piece.negated, piece.group, likeliest)
            parts.append(best)
        return parts

    def _claims(self, read: PieceReading) -> bool:
        """Whether anything is said: a name alone says nothing."""
        words = read.piece.words
        vocabulary = self.reader.vocabulary
        relation_words = " ".join(vocabulary.relations[s // 2] for s in read.meaning.relation_steps).split()
        # Which is the first or the largest of several is not read.
        if any(_SUPERLATIVE.fullmatch(w) and w not in relation_words for w in words):
            return False
        return len(read.piece.items) > 1 or bool(words)

    def _names(self, claim: ClaimText) -> list[Checked]:
        """Words that are written as names and name nothing that the graph has."""
        likeness = self.reader.explore(claim.text, ()).likeness
        spans = [
            likeness.words[place][:2]
            for place in written_as_names(claim.text, likeness)
            if likeness.exact_relations[place].max(initial=0.0) < LIKE_A_LABEL
        ]
        first_word = re.match(r"\W*([A-Z][^\W\d_]+)", claim.text[claim.frame :])
        if first_word and not self.reader.is_word(first_word[1]):
            spans.append((claim.frame + first_word.start(1), claim.frame + first_word.end(1)))
        return [
            Checked(start, stop, "unknown")
            for start, stop in spans
            if start >= claim.frame and not any(i.start < stop and start < i.stop for i in claim.items)
        ]

    def _parts_step(self, parts: Sequence[Checked]) -> Step:
        rows = [
            {
                "text": p.read.piece.text,
                "relations": [
                    self.graph.relations[s // 2] + (" (inverse)" if s % 2 else "")
                    for s in p.read.meaning.relation_steps
                ],
                "kind": p.read.meaning.kind,
                "probability": round(p.read.probability, 3),
                "none": round(p.read.none, 3),
                "named": round(p.read.name_likeness, 3),
                "said": p.read.word_support,
                "found": p.finding,
            }
            for p in parts
            if p.read is not None
        ]
        return Step("parts", {"parts": rows})


def _is_likely(read: PieceReading) -> bool:
    right_probability = 1 - read.none
    if (
        read.meaning.kind in ("type", "exists")
        and read.name_likeness < LEAST_SPELT
        and right_probability < SURE_MEANING
    ):
        return False
    if read.word_support == HINTED and read.meaning.kind != "compare":
        return read.probability * right_probability >= SURE_HINTED
    return read.word_support != UNSAID and read.probability >= LEAST_MEANING


def _best_of_groups(parts: Sequence[Checked]) -> list[Checked]:
    """The parts, of those of which one is enough the best one."""
    order = {"there": 0, "unknown": 1, "unread": 2, "otherwise": 3}
    best: dict[int, Checked] = {}
    for part in parts:
        best_part = best.get(part.group)
        if part.group >= 0 and (best_part is None or order[part.finding] < order[best_part.finding]):
            best[part.group] = part
    return [p for p in parts if p.group < 0 or best[p.group] is p]
