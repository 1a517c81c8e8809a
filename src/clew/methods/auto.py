"""`auto`, the default method: SimGRAG's road (pattern, match, read) with the built-in form of every step.

Steps, in order: `link` (mentions), `readings` (write pattern), `doubt`, `match`, `read`, ground. Nothing
is guessed: the method abstains when a name is not in the graph (`no_entity`) or stands for several
entities that would be answered differently (`ambiguous_entity`), when words that matter stay unexplained
or two readings tie (`no_relation`), and when the graph holds nothing that fits (`empty_result`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from weakref import WeakValueDictionary

import numpy as np

from clew.graph.graph import Graph, ValueKind
from clew.graph.implied_types import with_implied_types
from clew.graph.literals import parse_value
from clew.graph.schema import MOSTLY, Schema, with_types_of
from clew.grounding import ground
from clew.index.directory import Index
from clew.index.stored_schema import schema_of_index
from clew.steps.alignment import Weights
from clew.steps.compare_two import compare_two
from clew.steps.comparison import Comparison, Span, compare, is_asked
from clew.steps.confidence import Trust, confidence
from clew.steps.doubt import before_asked, confident, content, credible, doubt, ending_as_asked, with_recorded
from clew.steps.explain import Explanation, explain
from clew.steps.found import Found, nothing, text_of
from clew.steps.leave_out import Asked, Leaver, number_of_answers
from clew.steps.link import Linker, given_mentions, unknown_names
from clew.steps.measured import (
    CLEARLY,
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
from clew.steps.operators import Operator, find_operator
from clew.steps.read import find_evidence
from clew.steps.readings import Reader, Reading, asked_type
from clew.steps.rivals import CLOSE, TIE, rival_of, sharing, tie, tied_with
from clew.steps.shown import explain_step, link_step, readings_step
from clew.steps.spelling import mended
from clew.steps.similarity import Scale, WordTable
from clew.steps.vocabulary import label_words, vocabulary_of
from clew.steps.write_pattern import write_pattern
from clew.steps.yes_no import yes_or_no
from clew.text.demonyms import country_names
from clew.text.contrast import Contrast, find_contrast
from clew.text.embedder import Embedder
from clew.text.lexicon import Lexicon
from clew.text.negation import Negation, find_negation
from clew.text.question import Question, Word, read_question, with_year
from clew.types import Abstention, Answer, MatchResult, Mention, Pattern, Step

PLURAL = 1.5
"""So much dearer may a reading be that takes a noun for the entity whose plural it is, not for a type."""
NAMELIKE = 0.5
"""Below this cost (`Reader.common`) words are taken for a name where one is expected."""
FIRM = 1.0
"""A reading below this cost is not doubted for an open word that may be a misspelt name."""

_NO_PATTERN = Abstention("no_entity", "it names no entity of this graph")


@dataclass(slots=True)
class _Work:
    """What is known of a question while it is worked on."""

    question: Question
    comparison: Comparison
    mentions: list[Mention]
    operator: Operator
    timings: dict[str, float]
    steps: list[Step]
    given: Sequence[str] = ()
    """Names of entities that the question is about, if the user gave them."""
    score: float = 1.0
    """Confidence in the reading that is answered from."""
    only_pattern: bool = False
    """Whether only the pattern is wanted, and its matches are not read."""

    def explain(self, reading: Reading) -> Explanation:
        """What a reading explains, and what it leaves open."""
        return explain(self.comparison, reading, extra=self.operator.used)

    def time(self, stage: str, since: float) -> None:
        """Add the time since then to a stage."""
        self.timings[stage] = self.timings.get(stage, 0.0) + (perf_counter() - since) * 1000


class Auto:
    """Answers questions over one open index without a model."""

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
        schema = schema_of_index(index)
        self.index, self.graph = index, with_implied_types(index.graph, _known(index, schema))
        self.weights, self.trust = weights or Weights(), trust or Trust()
        lexicon = Lexicon.load()
        self.schema = schema if self.graph is index.graph else with_types_of(schema, self.graph)
        vocabulary = vocabulary_of(self.graph, self.schema, embedder, lexicon)
        self.table = WordTable(vocabulary, scale or Scale())
        self.reader = Reader.of(self.graph, self.schema, vocabulary, self.weights)
        self.linker = Linker(index.names, lexicon, embedder)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason; `entities` are names that it is about, if known."""
        began = perf_counter()
        work = self._link(question, entities)
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
        work = self._link(question, entities)
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

    def _link(self, text: str, entities: Sequence[str]) -> _Work:
        since = perf_counter()
        question = read_question(text)
        names = self.index.names
        linked = given_mentions(names, text, entities) if entities else self.linker.link(question)
        mentions = linked if entities else self._no_types(question, linked)
        question = self._outside(question, mentions).of_all()
        inside = {w.start for w in question.words for m in mentions if m.start <= w.start < m.stop}
        question = with_year(mended(question, self.reader.vocabulary, inside), inside)
        comparison = compare(question, self.table, self.weights).with_values(self._values(question, mentions))
        said = [part.starts for part in (question.limits, question.wanted) if part is not None]
        mentions = [m for m in mentions if not any(m.start in starts for starts in said)]
        operator = find_operator(question, comparison, self.table, self.schema)
        work = _Work(question, comparison.without(operator.used), mentions, operator, {}, [], entities)
        work.time("link", since)
        return work

    def _values(self, question: Question, mentions: Sequence[Mention]) -> dict[int, list[int]]:
        """Where ordinary words start that are values, and the relations that they are values of."""
        return {
            m.start: [e // 2 for c in m.candidates[:1] for e in self.reader.ends_of(c.entity) if e % 2]
            for m in mentions
            if m.text.islower() and " " not in m.text
        }

    def _no_types(self, question: Question, mentions: Sequence[Mention]) -> list[Mention]:
        """Mentions without words in lower case that say a type (*moons*, where one is the Moon)."""
        named = self.reader.vocabulary.types_named
        types = {(w.start, w.stop) for w in question.words if w.text.islower() and named(w.norm)}
        return [m for m in mentions if (m.start, m.stop) not in types]

    def _outside(self, question: Question, mentions: Sequence[Mention]) -> Question:
        """The question without what only seems one: a superlative, a range or a number in a name.

        As in *The Last Starfighter* and *The 39 Steps*.
        """
        if question.superlative is not None:
            start = question.words[question.superlative[2]].start
            if any(m.start <= start < m.stop and self.reader.common(question, m) < 0.1 for m in mentions):
                question = replace(question, superlative=None)
        names = [m for m in mentions if " " in m.text and self.reader.common(question, m) < 0]
        if question.limits is not None and _touches(names, question.limits.starts):
            question = replace(question, limits=None)
        if question.wanted is not None and _touches(names, question.wanted.starts):
            question = replace(question, wanted=None)
        if question.counting is not None and _touches(names, question.counting.starts):
            question = replace(question, counting=None)
        return question

    def _found(self, work: _Work) -> Found:
        """What a question asks for: two things compared, or what one pattern finds."""
        contrast = find_contrast(work.question)
        if contrast is not None:
            return self._compared(work, contrast)
        question, names = work.question, [(m.start, m.stop) for m in work.mentions]
        likely = [(m.start, m.stop) for m in work.mentions if self.reader.common(question, m) < NAMELIKE]
        negation = find_negation(question.text, question.words, names, likely)
        if negation is not None and not _asks_more(work.question):
            return self._negated(work, negation)
        return self._answer(work)

    def _negated(self, work: _Work, negation: Negation) -> Found:
        """What the question asks for, less what it leaves out."""
        many = _HOW_MANY.search(work.question.text) if work.question.count else None

        def ask(text: str) -> Asked:
            plain = _HOW_MANY.sub("which   ", text) if many else text
            part = self._link(plain, work.given)
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

    def _compared(self, work: _Work, contrast: Contrast) -> Found:
        args = (self.graph, self.schema, self.table, work.comparison, contrast)
        found = compare_two(*args, work.mentions)
        if found.abstained is not None:
            guessed = self.linker.link_typos(work.question, [])
            mended = compare_two(*args, [*work.mentions, *guessed]) if guessed else found
            found = mended if mended.abstained is None else found
        work.steps.append(link_step(self.graph, work.mentions))
        return found

    def _answer(self, work: _Work) -> Found:
        if work.question.yes_no and len(work.mentions) > 1:
            since = perf_counter()
            pairs = self.reader.read_between(work.comparison, work.mentions)
            work.time("readings", since)
            found = yes_or_no(self.graph, work.comparison, work.operator, pairs, self.trust, TIE)
            if found is not None:
                return found
        readings = self._readings(work)
        readings = self._measure_what_it_has(work, readings)
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

    def _measure_what_it_has(self, work: _Work, readings: list[Reading]) -> list[Reading]:
        """The readings with a measure that the things at their end have."""
        operator = work.operator
        if not readings or operator.kind not in ("extreme", "range"):
            return readings
        end = readings[0].last ^ 1
        if end == operator.end ^ 1 or self.schema.cooccur[end, operator.end] > 0:
            return readings
        comparison = compare(work.question, self.table, self.weights)
        comparison = comparison.with_values(self._values(work.question, work.mentions))
        other = find_operator(work.question, comparison, self.table, self.schema, end)
        if other.kind != operator.kind:
            return readings
        work.operator, work.comparison = other, comparison.without(other.used)
        return self._readings(work)

    def _readings(self, work: _Work) -> list[Reading]:
        """Readings with the names as written; with misspelt ones where that leaves something open."""
        since = perf_counter()
        readings = self.reader.read(work.comparison, work.mentions)
        told = work.explain(readings[0]) if readings else None
        work.time("readings", since)
        given = any(c.how == "given" for m in work.mentions for c in m.candidates)
        if given:
            return readings
        plural = [] if told is None or readings[0].cost <= FIRM else self._plural_names(work, readings[0])
        if plural:
            mended = self.reader.read(work.comparison, [*work.mentions, *plural])
            starts = {m.start for m in plural}
            mended.sort(key=lambda r: r.cost - PLURAL * any(a.span.start in starts for a in r.anchors))
            if mended and any(a.span.start in starts for a in mended[0].anchors):
                readings, told = mended, work.explain(mended[0])
                work.mentions = [*work.mentions, *plural]
        if told is None or told.open_names or (told.open_words and readings[0].cost > FIRM):
            since = perf_counter()
            taken = [m for m in work.mentions if readings and _is_anchor(m, readings[0])]
            taken = [m for m in taken if told is None or not _beside_open(work.question, m, told.open_names)]
            open_words = told.open_words if told else content(work.comparison)
            guessed = self.linker.link_typos(work.question, taken)
            guessed += self.linker.link_parts(work.question, taken)
            guessed += self.linker.link_derived(work.question, open_words)
            guessed = self._no_types(work.question, guessed)
            work.time("link", since)
            since = perf_counter()
            mentions = [*work.mentions, *guessed]
            mended = self.reader.read(work.comparison, mentions) if guessed else []
            if mended and (not readings or mended[0].cost < readings[0].cost):
                readings, work.mentions = mended, mentions
            work.time("readings", since)
        credited = [r for r in readings if credible(work.comparison, r, readings)]
        return ending_as_asked(work.comparison, credited)

    def _plural_names(self, work: _Work, reading: Reading) -> list[Mention]:
        """Mentions by the singular of a noun that the reading takes for a type (*strikers*: Striker)."""
        comparison, last = work.comparison, reading.last
        nouns = [
            w
            for i, w in enumerate(comparison.words)
            if is_asked(comparison.question, w)
            and not w.capital
            and all(not _overlaps(w, a.span) for a in reading.anchors)
            and comparison.node[i, last] < CLEARLY
        ]
        return self._no_types(work.question, self.linker.link_plurals(nouns))

    def _near_names(self, text: str) -> tuple[str, ...]:
        hits = self.index.names.fuzzy(text, 3)
        return tuple(self.graph.labels[h.entity] for h in hits)

    def _first_that_holds(self, work: _Work, readings: Sequence[Reading]) -> Found:
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

    def _may_stand_in(self, work: _Work, reading: Reading, first: Reading) -> bool:
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

    def _is_confident(self, work: _Work, reading: Reading) -> bool:
        """Whether a reading explains enough to be answered from."""
        return confident(work.comparison, reading, work.operator, self.trust)

    def _is_plain(self, work: _Work, reading: Reading) -> bool:
        """Whether reading the matches cannot lead to another pattern."""
        return work.operator.kind not in ("range", "extreme", "number") and not self.reader.turns_back(
            reading
        )

    def _read(self, work: _Work, reading: Reading, pattern: Pattern, evidence: MatchResult) -> Found:
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

    def _without_mentions(self, work: _Work) -> Found:
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


def _known(index: Index, schema: Schema) -> dict[str, list[int]]:
    """Nodes whose names tell that they are countries, where a relation leads to such, but none says so."""
    graph = index.graph
    if any("country" in label_words(label) for label in graph.relation_labels):
        return {}
    hits = (index.names.exact(name) for name in sorted(country_names()))
    found = sorted({h.entity for of in hits for h in of if h.exact and h.kind != "alias"})
    sides = [(2 * r + side, n) for n in found for side, r in _relations_at(graph, n)]
    counts = Counter(end for end, _ in sides)
    return {"country": found} if any(n >= MOSTLY * schema.nodes[end] for end, n in counts.items()) else {}


def _relations_at(graph: Graph, node: int) -> Iterator[tuple[int, int]]:
    """(side, relation) of all edges of a node, each once; side 0 where it is a head."""
    for side, adjacency in enumerate((graph.out, graph.into)):
        start, stop = adjacency.span(node)
        yield from ((side, int(r)) for r in np.unique(adjacency.relation[start:stop]))


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


def _overlaps(word: Word, span: Span) -> bool:
    return word.start < span.stop and span.start < word.stop


def _asks_more(question: Question) -> bool:
    """Whether something else is asked of the answers than which they are."""
    others = (question.superlative, question.limits, question.wanted, question.counting)
    return question.yes_no or any(part is not None for part in others)


_HOW_MANY = re.compile(r"how many", re.IGNORECASE)


def _touches(mentions: Sequence[Mention], starts: Collection[int]) -> bool:
    return any(m.start <= start < m.stop for m in mentions for start in starts)


def _beside_open(question: Question, mention: Mention, names: Collection[str]) -> bool:
    """Whether a word that is written like a name stands open right beside a mention (*Europa Cliper*)."""
    return any(
        w.text in names
        and w.capital
        and question.text[min(w.stop, mention.stop) : max(w.start, mention.start)] == " "
        for w in question.words
    )


def _is_anchor(mention: Mention, reading: Reading) -> bool:
    return any(a.span.start == mention.start and a.span.stop == mention.stop for a in reading.anchors)
