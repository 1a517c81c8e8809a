"""`auto`, the default method: SimGRAG's road (pattern, match, read) with the built-in form of every step.

Steps, in order: `link` (mentions), `readings` (write pattern), `doubt`, `match`, `read`, ground. Nothing
is guessed: the method abstains when a name is not in the graph (`no_entity`) or stands for several
entities that would be answered differently (`ambiguous_entity`), when words that matter stay unexplained
or two readings tie (`no_relation`), and when the graph holds nothing that fits (`empty_result`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from weakref import WeakValueDictionary

from clew.graph.graph import ValueKind
from clew.graph.values import parse_value
from clew.grounding import ground
from clew.index.store.directory import Index
from clew.reading.near_names import near_names, unknown_names
from clew.reading.rules.alignment import Weights
from clew.reading.rules.compare_two import compare_two
from clew.reading.rules.comparison import Span
from clew.reading.rules.confidence import Trust, confidence
from clew.reading.rules.contrast import Contrast, find_contrast
from clew.reading.rules.direction import compared_step
from clew.reading.rules.doubt import before_asked, confident, doubt, with_recorded
from clew.reading.rules.found import Found, nothing, text_of
from clew.reading.rules.interpret import Interpreter, Work
from clew.reading.rules.leave_out import Asked, Leaver, number_of_answers
from clew.reading.rules.link import Linker
from clew.reading.rules.measured import (
    asks_over_all,
    counted,
    cut,
    extreme_of,
    foremost,
    in_range,
    named_ends,
    over_all,
    with_number,
)
from clew.reading.rules.negation import Negation, find_negation
from clew.reading.rules.question import Question
from clew.reading.rules.read import find_evidence
from clew.reading.rules.reading import Reading
from clew.reading.rules.readings import Reader, asked_type
from clew.reading.rules.rivals import CLOSE, TIE, rival_of, sharing, tie, tied_with
from clew.reading.rules.shown import explain_step, link_step, readings_step
from clew.reading.rules.similarity import Scale, WordTable
from clew.reading.rules.vocabulary import vocabulary_of
from clew.reading.rules.write_pattern import write_pattern
from clew.reading.rules.yes_no import yes_or_no
from clew.reading.shared_reader import with_types
from clew.text.embedder import Embedder
from clew.text.lexicon import Lexicon
from clew.types import Abstention, Answer, MatchResult, Pattern, Step

NAMELIKE = 0.5
"""Below this cost (`Reader.common`) words are taken for a name where one is expected."""
MOST_RELATIONS = 2_000
"""Relations of a graph that is read by rules in seconds and in 1 GiB; both grow with their square."""
_NO_PATTERN = Abstention("no_entity", "it names no entity of this graph")


class Auto:
    """Answers questions over one open index without a model.

    Raises InputError for a graph of so many relations that the machine has not the memory to compare them.
    """

    name = "auto"

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        weights: Weights | None = None,
        scale: Scale | None = None,
        trust: Trust | None = None,
    ) -> None:
        self.index, (self.graph, self.schema) = index, with_types(index)
        self.weights, self.trust = weights or Weights(), trust or Trust()
        lexicon = Lexicon.load()
        vocabulary = vocabulary_of(self.graph, self.schema, embedder, lexicon)
        self.table = WordTable(vocabulary, scale or Scale())
        self.reader = Reader.of(self.graph, self.schema, vocabulary, self.weights)
        self.linker = Linker(index.names, lexicon, embedder)
        self.interpreter = Interpreter(index.names, self.schema, self.table, self.reader, self.linker)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason; `entities` are names that it is about, if known."""
        began = perf_counter()
        work = self.interpreter.link(question, entities)
        unknown = unknown_names(self.index.names, entities)
        found = self._lacks(unknown) if unknown else self._found(work)
        if work.question.count and found.answers and not any(_is_number(a.entity) for a in found.answers):
            detail = "it is asked how many, and finds no number"
            found = Found(pattern=found.pattern, abstained=Abstention("no_relation", detail))
        work.timings["total"] = (perf_counter() - began) * 1000
        return Answer(
            question=question,
            answers=tuple(replace(a, score=round(work.score, 3)) for a in found.answers),
            text=found.text,
            abstained=found.abstained,
            citations=found.citations,
            pattern=found.pattern,
            method=self.name,
            complete=found.complete,
            notes=found.notes,
            timings_ms={stage: round(ms, 3) for stage, ms in work.timings.items()},
            steps=tuple(work.steps),
            id=id,
        )

    def pattern(self, question: str, entities: Sequence[str] = ()) -> Pattern | Abstention:
        """The pattern of a question by itself, for methods that answer it in their own way, or why not.

        It is the one that `answer` follows; of a hub with a million edges its answers need not be read.
        """
        unknown = unknown_names(self.index.names, entities)
        if unknown:
            return self._lacks(unknown).abstained or _NO_PATTERN
        work = self.interpreter.link(question, entities)
        work.only_pattern = True
        found = self._answer(work)
        if found.pattern is not None and any(node.known for node in found.pattern.nodes):
            return found.pattern
        return found.abstained or _NO_PATTERN

    def _lacks(self, names: Sequence[str]) -> Found:
        """The abstention for given entities that are not in the graph."""
        text = ", ".join(names)
        near = self._near_names(names[0])
        return Found(abstained=Abstention("no_entity", f'it has no entity "{text}" (given)', near))

    def _found(self, work: Work) -> Found:
        """What a question asks for: two things compared, or what one pattern finds."""
        contrast = find_contrast(work.question)
        if contrast is not None and compared_step(work.comparison, Span(0, 0)) is None:
            return self._compared(work, contrast)
        question, names = work.question, [(m.start, m.stop) for m in work.mentions]
        likely = [(m.start, m.stop) for m in work.mentions if self.reader.common(question, m) < NAMELIKE]
        negation = find_negation(question.text, question.words, names, likely)
        if negation is not None and not _asks_more(work.question):
            return self._negated(work, negation)
        return self._answer(work)

    def _negated(self, work: Work, negation: Negation) -> Found:
        """What the question asks for, less what it leaves out."""
        many = _HOW_MANY.search(work.question.text) if work.question.count else None

        def ask(text: str) -> Asked:
            plain = _HOW_MANY.sub("which   ", text) if many else text
            part = self.interpreter.link(plain, work.given)
            found = self._answer(part)
            work.steps.append(
                Step("part", {"question": " ".join(plain.split()), "answers": len(found.answers)})
            )
            work.score = min(work.score, part.score)
            return Asked(found, part.comparison, part.mentions, found.last)

        if work.question.count and many is None:
            return self._answer(work)
        found = Leaver(self.graph, self.schema, ask).answer(work.comparison, negation, work.mentions)
        return number_of_answers(found) if many and found.abstained is None else found

    def _compared(self, work: Work, contrast: Contrast) -> Found:
        args = (self.graph, self.schema, self.table, work.comparison, contrast)
        found = compare_two(*args, work.mentions)
        if found.abstained is not None:
            guessed = self.linker.link_typos(work.question, [])
            mended = compare_two(*args, [*work.mentions, *guessed]) if guessed else found
            found = mended if mended.abstained is None else found
        work.steps.append(link_step(self.graph, work.mentions))
        return found

    def _answer(self, work: Work) -> Found:
        if work.question.yes_no and len(work.mentions) > 1:
            since = perf_counter()
            pairs = self.reader.read_between(work.comparison, work.mentions)
            work.time("readings", since)
            found = yes_or_no(self.graph, work.comparison, work.operator, pairs, self.trust, TIE)
            if found is not None:
                return found
        readings = self.interpreter.readings(work)
        readings = self.interpreter.measure_what_it_has(work, readings)
        work.steps.append(link_step(self.graph, work.mentions))
        work.steps.append(readings_step(self.graph, readings))
        if not readings:
            return self._without_mentions(work)
        told = work.explain(readings[0])
        work.steps.append(explain_step(told))
        doubted = doubt(
            work.question, work.comparison, readings[0], told, work.operator, self.trust, self._near_names
        )
        if doubted is None and work.question.yes_no and len(readings[0].anchors) > 1:
            names = " and ".join(f'"{self.graph.labels[a.entity]}"' for a in readings[0].anchors)
            return Found(abstained=Abstention("no_relation", f"it does not tell yes or no for {names}"))
        if doubted is None:
            return self._first_that_holds(work, readings)
        if asks_over_all(work.comparison, work.operator):
            return self._without_mentions(work)
        if doubted.reason == "no_relation":
            doubted = with_recorded(self.graph, work.comparison, readings[0], doubted)
        return Found(abstained=doubted)

    def _near_names(self, text: str) -> tuple[str, ...]:
        return near_names(self.graph, self.index.names, [text])

    def _first_that_holds(self, work: Work, readings: Sequence[Reading]) -> Found:
        """The evidence of the best reading; of one nearly as good if the graph holds nothing for the best."""
        best: Reading | None = None
        empty: Pattern | None = None
        for reading in readings:
            if best is not None and reading.cost > best.cost + CLOSE:
                break
            if reading is not readings[0] and not self._may_stand_in(work, reading, readings[0]):
                continue
            # Nothing found for an ordinary word taken for a name: then it was none.
            best = best or (None if reading.doubtful else reading)
            pattern = write_pattern(self.graph, reading)
            tied = tied_with(reading, readings, work.explain(reading).unnamed)
            since = perf_counter()
            # A hub has a million answers, and nobody reads them here.
            some = work.only_pattern and not tied and self._is_plain(work, reading)
            evidence = find_evidence(self.graph, pattern, away=self.reader.leads_away(reading), first=some)
            work.time("match", since)
            if not evidence.matches and not evidence.complete:
                return Found(
                    pattern=pattern, abstained=Abstention("budget", "the search was stopped"), complete=False
                )
            if not evidence.matches:
                empty = empty or pattern
                continue
            rival = rival_of(self.reader, reading, tied, evidence)
            if rival is None:
                found = self._read(work, reading, pattern, evidence)
                return replace(found, last=reading.last, notes=(*found.notes, *self._by_part(reading)))
            unnamed = {*work.explain(reading).unnamed, *work.explain(rival).unnamed}
            same = [r for r in sharing(reading, rival, readings, unnamed) if self._is_confident(work, r)]
            shared = same[0] if same else None
            if shared is None:
                return Found(pattern=pattern, abstained=tie(self.graph, reading, rival))
            pattern = write_pattern(self.graph, shared)
            found = self._read(work, shared, pattern, find_evidence(self.graph, pattern))
            return replace(found, last=shared.last)
        last = (best or readings[0]).last
        return replace(nothing(self.graph, best or readings[0], empty), last=last)

    def _by_part(self, reading: Reading) -> list[str]:
        """What to note of names that were found by a part of them."""
        labels = self.graph.labels
        return [f'"{a.text}" is taken for {labels[a.entity]}' for a in reading.anchors if a.how == "part"]

    def _may_stand_in(self, work: Work, reading: Reading, first: Reading) -> bool:
        """Whether a reading may answer where the graph holds nothing for the first.

        Not by the same steps and more, nor without what describes the noun that is asked for: that would
        answer another question. Nor with the same name where that is an ordinary word: then it was none.
        """
        if first.doubtful and reading.anchors == first.anchors and reading.cost > first.cost + CLOSE:
            return False
        kept = {a.span for a in reading.anchors}
        if any(a.span not in kept and before_asked(work.comparison, first, a) for a in first.anchors):
            return False
        if len(reading.steps) > len(first.steps) and not Counter(first.steps) - Counter(reading.steps):
            return False
        return self._is_confident(work, reading)

    def _is_confident(self, work: Work, reading: Reading) -> bool:
        """Whether a reading explains enough to be answered from."""
        return confident(work.comparison, reading, work.operator, self.trust)

    def _is_plain(self, work: Work, reading: Reading) -> bool:
        """Whether reading the matches cannot lead to another pattern."""
        return work.operator.kind not in ("range", "extreme", "number") and not self.reader.turns_back(
            reading
        )

    def _read(self, work: Work, reading: Reading, pattern: Pattern, evidence: MatchResult) -> Found:
        if work.only_pattern and self._is_plain(work, reading):
            return Found(pattern=pattern)
        since = perf_counter()
        work.score = confidence(reading, work.explain(reading), self.trust)
        graph, operator, node = self.graph, work.operator, pattern.answer or 0
        draft = [m.nodes[node] for m in evidence.matches]
        if self.reader.turns_back(reading):
            draft = [e for e in draft if e not in {a.entity for a in reading.anchors}]
            if not draft:
                return nothing(graph, reading, pattern)
        wanted = work.question.wanted
        counting = work.question.counting
        if operator.kind in ("range", "number") or (operator.kind == "extreme" and wanted is not None):
            proofs = {m.nodes[node]: m.triples for m in reversed(evidence.matches)}
            drafted = [(n, proofs[n]) for n in draft]
            if operator.kind == "extreme" and wanted is not None:
                return foremost(graph, operator, wanted.number, drafted, pattern, evidence.complete)
            if operator.kind == "number" and counting is not None:
                found = with_number(graph, operator, counting, drafted, pattern, evidence.complete)
            else:
                found = in_range(graph, operator, work.question.limits, drafted, pattern, evidence.complete)
            return found if wanted is None else cut(found, wanted.number)
        if operator.kind == "extreme":
            return extreme_of(graph, operator, reading, pattern, evidence, draft)
        answers, citations, left = ground(graph, draft, evidence.matches, node)
        measured = self.schema.numbers[reading.last ^ 1] > 0.5
        if operator.kind == "count" and left is None and not measured:
            answers, citations = counted(answers, citations)
        work.steps.append(Step("match", {"matches": len(evidence.matches), "complete": evidence.complete}))
        work.time("read", since)
        found = Found(tuple(answers), tuple(citations), text_of(answers), pattern, left, evidence.complete)
        return found if wanted is None else cut(found, wanted.number)

    def _without_mentions(self, work: Work) -> Found:
        """Superlatives and ranges over a whole type; anything else needs a name that the graph has."""
        if asks_over_all(work.comparison, work.operator):
            end = work.operator.end
            asked = asked_type(work.comparison, end)
            kinds = [] if asked is not None else named_ends(work.comparison, self.schema, end)
            return over_all(self.graph, work.operator, work.question, asked, kinds)
        names = " ".join(w.text for w in work.question.words if w.capital)
        detail = f'it has no entity like "{names}"' if names else "it names no entity of this graph"
        near = self._near_names(names) if names else ()
        return Found(abstained=Abstention("no_entity", detail, near))


def auto_of(index: Index, embedder: Embedder) -> Auto:
    """Return the built-in parser of a graph: one for all methods that use it, as long as one of them does."""
    key = id(index.graph), id(embedder)
    made = _MADE.get(key)
    if made is None:
        made = _MADE[key] = Auto(index, embedder)
    return made


_MADE: WeakValueDictionary[tuple[int, int], Auto] = WeakValueDictionary()
"""Parsers by their graph and embedder, which they hold, so that no other one gets its place in memory."""


def _is_number(text: str) -> bool:
    return parse_value(text)[0] == ValueKind.NUMBER


def _asks_more(question: Question) -> bool:
    """Whether something else is asked of the answers than which they are."""
    others = (question.superlative, question.limits, question.wanted, question.counting)
    return question.yes_no or any(part is not None for part in others)


_HOW_MANY = re.compile(r"how many", re.IGNORECASE)
