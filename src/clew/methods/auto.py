"""`auto`, the default method: SimGRAG's road (pattern, match, read) with the built-in form of every step.

Steps, in order: `link` (mentions), `readings` (write pattern), `match`, `read`, ground. Nothing is guessed: the method
abstains when a name is not in the graph (`no_entity`) or stands for several entities that would be answered
differently (`ambiguous_entity`), when words that matter stay unexplained or two readings tie (`no_relation`), and when
the graph holds nothing that fits (`empty_result`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from clew.graph.graph import Graph
from clew.graph.schema import Schema, schema_of
from clew.grounding import cite, ground
from clew.index.directory import Index
from clew.steps.alignment import Weights
from clew.steps.comparison import Comparison, compare
from clew.steps.confidence import Trust, confidence
from clew.steps.direction import BEING
from clew.steps.explain import Explanation, explain
from clew.steps.link import Linker, given_mentions
from clew.steps.operators import Operator, find_operator
from clew.steps.read import find_evidence, find_extreme, holder_pattern, holders, values_of, with_value
from clew.steps.readings import Anchor, Reader, Reading
from clew.steps.similarity import Scale, WordTable
from clew.steps.vocabulary import class_fit, vocabulary_of
from clew.steps.write_pattern import write_pattern, write_question
from clew.text.embedder import Embedder
from clew.text.lexicon import Lexicon
from clew.text.question import INTERROGATIVE, WH_CLASSES, Question, read_question
from clew.types import Abstention, Answer, AnswerEntity, Citation, MatchResult, Mention, Pattern, Step

LONGEST = 3
TIE = 0.02
"""Readings whose costs differ by no more than this tie."""
LOOSE_TIE = 0.15
"""The same for readings that differ only in a step that no word names: that would be a guess."""
CLOSE = 0.35
"""A reading this much dearer than the best may stand in for one that the graph holds nothing for."""
ENOUGH = 0.5
"""Least confidence in a reading that is answered from."""
FIRM = 1.0
NAMED = 0.4
"""Evidence from which a step or a node counts as named by a word."""
SURE = 0.6
"""The same where the question word says otherwise (*who is the gender of …*)."""
COMPARING = frozenset("before after than between".split())
"""Words that compare; left open, the question is not understood."""
"""A reading below this cost is not doubted further."""


@dataclass(slots=True)
class _Work:
    """What is known of a question while it is worked on."""

    question: Question
    comparison: Comparison
    mentions: list[Mention]
    operator: Operator
    timings: dict[str, float]
    steps: list[Step]

    def time(self, stage: str, since: float) -> None:
        self.timings[stage] = self.timings.get(stage, 0.0) + (perf_counter() - since) * 1000


@dataclass(frozen=True, slots=True)
class _Found:
    """Answers and their proof, or why there are none."""

    answers: tuple[AnswerEntity, ...] = ()
    citations: tuple[Citation, ...] = ()
    text: str = ""
    pattern: Pattern | None = None
    abstained: Abstention | None = None
    complete: bool = True


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
        self.index, self.graph = index, index.graph
        self.weights, self.trust = weights or Weights(), trust or Trust()
        lexicon = Lexicon.load()
        self.schema: Schema = schema_of(self.graph)
        vocabulary = vocabulary_of(self.graph, self.schema, embedder, lexicon)
        self.table = WordTable(vocabulary, scale or Scale())
        self.reader = Reader.of(self.graph, self.schema, vocabulary, self.weights)
        self.linker = Linker(index.names, lexicon, embedder)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason; `entities` are names that it is about, if known."""
        began = perf_counter()
        work = self._link(question, entities)
        found = self._answer(work)
        work.timings["total"] = (perf_counter() - began) * 1000
        return Answer(
            question=question,
            answers=found.answers,
            text=found.text,
            abstained=found.abstained,
            citations=found.citations,
            pattern=found.pattern,
            method=self.name,
            complete=found.complete,
            timings_ms={stage: round(ms, 3) for stage, ms in work.timings.items()},
            steps=tuple(work.steps),
            id=id,
        )

    def _link(self, text: str, entities: Sequence[str]) -> _Work:
        since = perf_counter()
        question = read_question(text)
        names = self.index.names
        mentions = given_mentions(names, text, entities) if entities else self.linker.link(question)
        comparison = compare(question, self.table, self.weights)
        question = self._outside(question, mentions)
        limits = question.limits
        if limits is not None and any(
            m.start <= start < m.stop and " " in m.text and self.reader.common(question, m) < 0
            for m in mentions
            for start in limits.starts
        ):
            question = replace(question, limits=None)
        if question.limits is not None:
            mentions = [m for m in mentions if m.start not in question.limits.starts]
        operator = find_operator(question, comparison, self.table, self.schema)
        work = _Work(question, comparison.without(operator.used), mentions, operator, {}, [])
        work.time("link", since)
        return work

    def _outside(self, question: Question, mentions: Sequence[Mention]) -> Question:
        """The question without a superlative that is part of a name (*The Last Starfighter*)."""
        if question.superlative is None:
            return question
        word = question.words[question.superlative[2]]
        named = any(
            m.start <= word.start < m.stop and self.reader.common(question, m) < 0.1 for m in mentions
        )
        return replace(question, superlative=None) if named else question

    def _answer(self, work: _Work) -> _Found:
        if work.question.yes_no and len(work.mentions) > 1:
            found = self._yes_or_no(work)
            if found is not None:
                return found
        readings = self._readings(work)
        work.steps.append(_link_step(self.graph, work.mentions))
        work.steps.append(_readings_step(self.graph, readings))
        if not readings:
            return self._without_mentions(work)
        doubt = self._doubt(work, readings[0])
        if doubt is not None:
            alone = (
                self._without_mentions(work) if work.operator.kind in ("extreme", "most", "range") else None
            )
            return alone if alone is not None and alone.abstained is None else _Found(abstained=doubt)
        return self._first_that_holds(work, readings)

    def _readings(self, work: _Work) -> list[Reading]:
        """Readings with the names as written; with misspelt ones where that leaves something open."""
        since = perf_counter()
        readings = self.reader.read(work.comparison, work.mentions)
        told = explain(work.comparison, readings[0], extra=work.operator.used) if readings else None
        if told is None or told.open_names or (told.open_words and readings[0].cost > FIRM):
            work.time("readings", since)
            since = perf_counter()
            taken = [] if not readings else [m for m in work.mentions if _is_anchor(m, readings[0])]
            typos = self.linker.link_typos(work.question, taken)
            typos += self.linker.link_derived(work.question, told.open_words if told else _content(work))
            work.time("link", since)
            since = perf_counter()
            if typos:
                mended = self.reader.read(work.comparison, [*work.mentions, *typos])
                if mended and (not readings or mended[0].cost < readings[0].cost):
                    readings, work.mentions = mended, [*work.mentions, *typos]
        work.time("readings", since)
        return [r for r in readings if self._credible(work, r, readings)]

    def _credible(self, work: _Work, reading: Reading, readings: Sequence[Reading]) -> bool:
        """Whether every ordinary word that the reading takes for a name stands where a name would.

        That is right before the noun that it describes (*horror films*), after *is* or *are*, or beside a word that
        names its relation; anywhere, if no reading has a name that is written like one.
        """
        if not reading.doubtful or all(r.doubtful for r in readings):
            return True
        return all(
            not a.ordinary or self._stands_as_name(work, reading, a, branch)
            for a, branch in zip(reading.anchors, reading.branches, strict=True)
        )

    def _stands_as_name(self, work: _Work, reading: Reading, anchor: Anchor, branch: Sequence[int]) -> bool:
        comparison, words = work.comparison, work.question.words
        if any(w.capital for w in words if anchor.span.start <= w.start < anchor.span.stop):
            return True
        outside = [
            i
            for i, w in enumerate(comparison.words)
            if w.weight > 0 and all(w.stop <= a.span.start or w.start >= a.span.stop for a in reading.anchors)
        ]
        if any(comparison.step[i, branch[0]] >= NAMED for i in outside):
            return True
        after = next((w for w in words if w.start >= anchor.span.stop and w.norm != "-"), None)
        before = [w for w in words if w.stop <= anchor.span.start]
        if after is not None:
            return any(
                comparison.words[i] is after and comparison.node[i, list(reading.steps)].max() >= NAMED
                for i in outside
            )
        return bool(before) and before[-1].norm in BEING

    def _doubt(self, work: _Work, reading: Reading) -> Abstention | None:
        """Why not to trust the best reading: a name or a word that matters is left open."""
        told = explain(work.comparison, reading, extra=work.operator.used)
        work.steps.append(_explain_step(told))
        if work.question.superlative is not None and work.operator.kind == "none":
            word = work.question.words[work.question.superlative[2]].text
            return Abstention("no_relation", f'it has no number or date that "{word}" could mean')
        if told.open_names and not self._owns_open(work.question, told):
            names = " ".join(told.open_names)
            return Abstention("no_entity", f'it has no entity like "{names}"', self._near_names(names))
        asked = self._asks_elsewhere(work.comparison, reading)
        if asked:
            return Abstention("no_relation", f'it has no relation that says "{asked}"')
        if any(w.norm in COMPARING for w in work.question.words if w.text in told.open_words):
            return Abstention("no_relation", f'it does not compare by "{" ".join(told.open_words)}"')
        if confidence(reading, told, self.trust) < ENOUGH or self._owns_open(work.question, told):
            words = " ".join(told.open_words) or " ".join(_content(work)) or work.question.text
            return Abstention("no_relation", f'it has no relation like "{words}"')
        return None

    def _asks_elsewhere(self, comparison: Comparison, reading: Reading) -> str:
        """*Who*, *when* or *where*, if the reading ends at what is known to be something else, unless a word says so."""
        question = comparison.question
        if not question.classes:
            return ""
        classes = self.table.vocabulary.classes
        end = reading.last ^ 1
        told = [
            float(comparison.step[i, reading.last])
            for i, w in enumerate(comparison.words)
            if w.norm not in WH_CLASSES
        ]
        if max(told, default=0.0) >= SURE or classes[end].max() < 0.8:
            return ""
        fits = class_fit(classes, question.classes)[end]
        return "" if fits >= 0.2 else next(w.norm for w in question.words if w.norm in INTERROGATIVE)

    def _owns_open(self, question: Question, told: Explanation) -> bool:
        """Whether an open word is what something is asked for: *the … of X*, *X's …*."""
        words = question.words
        return any(
            word.text in told.weak_words
            and ((at and words[at - 1].norm == "'s") or (at + 1 < len(words) and words[at + 1].norm == "of"))
            for at, word in enumerate(words)
        )

    def _near_names(self, text: str) -> tuple[str, ...]:
        hits = self.index.names.fuzzy(text, 3)
        return tuple(self.graph.labels[h.entity] for h in hits)

    def _first_that_holds(self, work: _Work, readings: Sequence[Reading]) -> _Found:
        """The evidence of the best reading; of one nearly as good where the graph holds nothing for the best."""
        best: Reading | None = None
        empty: Pattern | None = None
        for reading in readings:
            if best is not None and reading.cost > best.cost + CLOSE:
                break
            if reading is not readings[0] and self._doubt_silently(work, reading):
                continue
            # Nothing found for an ordinary word taken for a name: then it was none.
            best = best or (None if reading.doubtful else reading)
            pattern = write_pattern(self.graph, reading)
            since = perf_counter()
            evidence = find_evidence(self.graph, pattern, away=self.reader.leads_away(reading))
            work.time("match", since)
            if not evidence.matches and not evidence.complete:
                return _Found(
                    pattern=pattern, abstained=Abstention("budget", "the search was stopped"), complete=False
                )
            if not evidence.matches:
                empty = empty or pattern
                continue
            rival = self._rival(work, reading, readings, evidence)
            if rival is not None:
                return _Found(pattern=pattern, abstained=rival)
            return self._read(work, reading, pattern, evidence)
        return _Found(
            pattern=empty, abstained=Abstention("empty_result", _nothing(self.graph, best or readings[0]))
        )

    def _doubt_silently(self, work: _Work, reading: Reading) -> bool:
        told = explain(work.comparison, reading, extra=work.operator.used)
        return confidence(reading, told, self.trust) < ENOUGH

    def _rival(
        self, work: _Work, chosen: Reading, readings: Sequence[Reading], evidence: MatchResult
    ) -> Abstention | None:
        """An abstention if another reading ties with the chosen one and would be answered differently."""
        node = _answer_node(evidence, write_pattern(self.graph, chosen))
        unnamed = explain(work.comparison, chosen, extra=work.operator.used).unnamed
        for other in readings:
            near = LOOSE_TIE if _differ_in(chosen, other, unnamed) else TIE
            if other is chosen or abs(other.cost - chosen.cost) > near:
                continue
            pattern = write_pattern(self.graph, other)
            others = find_evidence(self.graph, pattern, away=self.reader.leads_away(other))
            if not others.matches or _answer_node(others, pattern) == node:
                continue
            mine, theirs = {a.entity for a in chosen.anchors}, {a.entity for a in other.anchors}
            if mine != theirs:
                names = tuple(self.graph.entities[e] for e in sorted(mine ^ theirs))
                text = " ".join(a.text for a in chosen.anchors if a.entity not in theirs)
                return Abstention("ambiguous_entity", f'"{text}" may be {" or ".join(names)}', names)
            either = f"{_draw(self.graph, chosen)} or {_draw(self.graph, other)}"
            return Abstention("no_relation", f"the question may mean {either}")
        return None

    def _read(self, work: _Work, reading: Reading, pattern: Pattern, evidence: MatchResult) -> _Found:
        since = perf_counter()
        node = pattern.answer if pattern.answer is not None else 0
        draft = [m.nodes[node] for m in evidence.matches]
        if self.reader.turns_back(reading):
            others = [e for e in draft if e not in {a.entity for a in reading.anchors}]
            if not others:
                return _Found(
                    pattern=pattern, abstained=Abstention("empty_result", _nothing(self.graph, reading))
                )
            draft = others
        operator = work.operator
        if operator.kind == "range":
            proofs = {m.nodes[node]: m.triples for m in reversed(evidence.matches)}
            return self._in_range(work, [(n, proofs[n]) for n in draft], pattern, evidence.complete)
        if operator.kind == "extreme":
            return self._extreme(work, reading, pattern, evidence, draft)
        answers, citations, left = ground(self.graph, draft, evidence.matches, node)
        measured = self.schema.numbers[reading.last ^ 1] > 0.5
        if operator.kind == "count" and left is None and not measured:
            number = str(len(answers))
            counted = tuple(replace(c, answer=number) for c in citations)
            answers, citations = (AnswerEntity(number, number, 1.0),), counted
        work.steps.append(Step("match", {"matches": len(evidence.matches), "complete": evidence.complete}))
        work.time("read", since)
        return _Found(answers, citations, _text(answers), pattern, left, evidence.complete)

    def _extreme(
        self, work: _Work, reading: Reading, pattern: Pattern, evidence: MatchResult, draft: Sequence[int]
    ) -> _Found:
        """Of the drafted answers, those with the extreme value; of drafted values, the extreme one."""
        operator, graph = work.operator, self.graph
        if reading.last == 2 * operator.relation:
            values = [(float(graph.values.value[n]), n) for n in draft if graph.values.kind[n]]
            if not values:
                return _Found(pattern=pattern, abstained=Abstention("empty_result", _nothing(graph, reading)))
            wanted = max(values, key=lambda v: (operator.sign * v[0], -v[1]))[1]
            answers, citations, left = ground(graph, [wanted], evidence.matches, pattern.answer or 0)
            return _Found(answers, citations, _text(answers), pattern, left, evidence.complete)
        extreme = find_extreme(graph, draft, operator.relation, operator.sign)
        if extreme is None:
            name = graph.relation_labels[operator.relation]
            return _Found(
                pattern=pattern, abstained=Abstention("empty_result", f'none of them has a "{name}"')
            )
        return self._with_extreme(
            with_value(pattern, graph, operator.relation, extreme.value), extreme.entities
        )

    def _in_range(
        self,
        work: _Work,
        drafted: Sequence[tuple[int, tuple[int, ...]]],
        pattern: Pattern | None,
        complete: bool,
    ) -> _Found:
        """The drafted entities (with their proof) that have a value in the question's range."""
        graph, operator, limits = self.graph, work.operator, work.question.limits
        answers: list[AnswerEntity] = []
        citations: list[Citation] = []
        for entity, proof in drafted:
            for value, tail in values_of(graph, entity, operator.relation):
                if limits is not None and limits.hold(value):
                    name = graph.entities[entity]
                    answers.append(AnswerEntity(name, graph.labels[entity], 1.0))
                    triple = graph.find_triple(entity, operator.relation, tail)
                    citations.append(cite(graph, name, (*proof, triple)))
                    break
        if not answers:
            name = graph.relation_labels[operator.relation]
            detail = f'nothing that fits has a "{name}" in that range'
            return _Found(pattern=pattern, abstained=Abstention("empty_result", detail))
        if operator.counts:
            number = str(len(answers))
            answers = [AnswerEntity(number, number, 1.0)]
            citations = [replace(c, answer=number) for c in citations]
        return _Found(tuple(answers), tuple(citations), _text(answers), pattern, None, complete)

    def _with_extreme(self, pattern: Pattern, entities: Sequence[int]) -> _Found:
        evidence = find_evidence(self.graph, pattern)
        answers, citations, left = ground(self.graph, entities, evidence.matches, pattern.answer or 0)
        return _Found(answers, citations, _text(answers), pattern, left, evidence.complete)

    def _without_mentions(self, work: _Work) -> _Found:
        """Superlatives over a whole type; anything else needs a name that the graph has."""
        operator, graph = work.operator, self.graph
        open_words = (
            [
                w.text
                for i, w in enumerate(work.comparison.words)
                if w.weight >= 0.9
                and w.start not in operator.used
                and not w.share
                and max(work.comparison.kind[i, operator.end], work.comparison.cover[i, operator.end]) < 0.3
            ]
            if operator.kind in ("extreme", "most", "range")
            else ["?"]
        )
        if open_words:
            names = " ".join(w.text for w in work.question.words if w.capital)
            detail = f'it has no entity like "{names}"' if names else "it names no entity of this graph"
            return _Found(abstained=Abstention("no_entity", detail, self._near_names(names) if names else ()))
        if operator.kind == "most":
            return self._most(operator)
        heads = [int(n) for n in holders(graph, operator.relation)]
        if operator.kind == "range":
            pattern = holder_pattern(graph, operator.relation, None)
            return self._in_range(work, [(n, ()) for n in heads], pattern, True)
        extreme = find_extreme(graph, heads, operator.relation, operator.sign)
        if extreme is None:
            return _Found(abstained=Abstention("empty_result", "none has such a value"))
        return self._with_extreme(holder_pattern(graph, operator.relation, extreme.value), extreme.entities)

    def _most(self, operator: Operator) -> _Found:
        from clew.steps.operators import busiest

        nodes, _ = busiest(self.graph, operator)
        answers = tuple(AnswerEntity(self.graph.entities[n], self.graph.labels[n], 1.0) for n in nodes)
        citations: list[Citation] = []
        for node in nodes:
            for other, triple in self._edges(node, operator):
                citations.append(cite(self.graph, self.graph.entities[node], [triple]))
        return _Found(answers, tuple(citations), _text(answers))

    def _edges(self, node: int, operator: Operator) -> list[tuple[int, int]]:
        side = self.graph.out if operator.end % 2 == 0 else self.graph.into
        found: list[tuple[int, int]] = []
        for at in range(int(side.offsets[node]), int(side.offsets[node + 1])):
            if side.relation[at] != operator.relation:
                continue
            other = int(side.neighbour[at])
            head, tail = (node, other) if operator.end % 2 == 0 else (other, node)
            found.append((other, self.graph.find_triple(head, operator.relation, tail)))
        return found

    def _yes_or_no(self, work: _Work) -> _Found | None:
        """Whether a path between two mentions holds; None where no path is a fair reading."""
        since = perf_counter()
        pairs = self.reader.read_between(work.comparison, work.mentions)
        work.time("readings", since)
        if not pairs:
            return None
        best, _ = pairs[0]
        for reading, target in pairs:
            if reading.cost > best.cost + TIE:
                break
            if self._open(work, reading, target):
                continue
            pattern = write_question(self.graph, reading, target.entity)
            evidence = find_evidence(self.graph, pattern)
            if evidence.matches:
                cited = cite(self.graph, "yes", evidence.matches[0].triples)
                return _Found((AnswerEntity("yes", "yes", 1.0),), (cited,), "yes", pattern)
        return self._recorded_otherwise(work, pairs[0])

    def _open(self, work: _Work, reading: Reading, target: Anchor) -> bool:
        if target.ordinary and not self._stands_as_name(work, reading, target, reading.branches[0]):
            return True
        start, stop = target.span.start, target.span.stop
        inside = frozenset(w.start for w in work.comparison.words if w.start < stop and start < w.stop)
        told = explain(work.comparison, reading, extra=work.operator.used | inside)
        if told.open_names or confidence(reading, told, self.trust) < ENOUGH:
            return True
        return any(w.norm in COMPARING for w in work.question.words if w.text in told.open_words)

    def _recorded_otherwise(self, work: _Work, pair: tuple[Reading, Anchor]) -> _Found | None:
        """*No*, if the graph records the relation for the first entity, but not with the second."""
        reading, target = pair
        if self._open(work, reading, target):
            return None
        asked = write_question(self.graph, reading, target.entity)
        evidence = find_evidence(self.graph, write_pattern(self.graph, reading))
        if not evidence.matches:
            back = tuple(step ^ 1 for step in reversed(reading.branches[0]))
            other = Reading((target,), (back,), (), reading.cost)
            evidence = find_evidence(self.graph, write_pattern(self.graph, other))
        if not evidence.matches:
            return _Found(pattern=asked, abstained=Abstention("empty_result", _nothing(self.graph, reading)))
        citations = tuple(cite(self.graph, "no", m.triples) for m in evidence.matches)
        return _Found((AnswerEntity("no", "no", 1.0),), citations, "no", asked, complete=evidence.complete)


def _content(work: _Work) -> list[str]:
    return [w.text for w in work.comparison.words if w.weight >= 0.9 and not w.share]


def _answer_node(evidence: MatchResult, pattern: Pattern) -> set[int]:
    return {m.nodes[pattern.answer or 0] for m in evidence.matches}


def _differ_in(one: Reading, other: Reading, unnamed: Sequence[int]) -> bool:
    if one.anchors != other.anchors or len(one.steps) != len(other.steps):
        return False
    return all(a == b or a in unnamed for a, b in zip(one.steps, other.steps, strict=True))


def _text(answers: Sequence[AnswerEntity]) -> str:
    return " · ".join(a.label for a in answers)


def _is_anchor(mention: Mention, reading: Reading) -> bool:
    return any(a.span.start == mention.start and a.span.stop == mention.stop for a in reading.anchors)


def _nothing(graph: Graph, reading: Reading) -> str:
    names = " and ".join(f'"{graph.labels[a.entity]}"' for a in reading.anchors)
    return f"it records nothing for {names} by {_draw(graph, reading)}"


def _draw(graph: Graph, reading: Reading) -> str:
    branches = [_steps(graph, branch) for branch in reading.branches]
    return " and ".join(branches) + (" then " + _steps(graph, reading.trunk) if reading.trunk else "")


def _steps(graph: Graph, steps: Sequence[int]) -> str:
    return " ".join(
        f"─{graph.relations[s // 2]}→" if s % 2 == 0 else f"←{graph.relations[s // 2]}─" for s in steps
    )


def _link_step(graph: Graph, mentions: Sequence[Mention]) -> Step:
    rows = [
        {
            "text": m.text,
            "candidates": [
                {"entity": graph.entities[c.entity], "how": c.how, "score": c.score} for c in m.candidates
            ],
        }
        for m in mentions
    ]
    return Step("link", {"mentions": rows})


def _readings_step(graph: Graph, readings: Sequence[Reading]) -> Step:
    rows = [
        {
            "cost": round(r.cost, 3),
            "mentions": [graph.entities[a.entity] for a in r.anchors],
            "pattern": _draw(graph, r),
        }
        for r in readings[:8]
    ]
    return Step("readings", {"readings": rows})


def _explain_step(told: Explanation) -> Step:
    return Step("explanation", {"open_words": list(told.open_words), "explained_share": round(told.share, 3)})
