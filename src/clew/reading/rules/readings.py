"""Readings of a question: which mentions, which relation paths around them, and what they cost.

A reading is a tree: one branch of steps from every mention to a node where the branches meet, and a trunk
that goes on from there to the answer. A single mention has one branch and no trunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Graph
from clew.graph.schema import Schema
from clew.reading.rules.alignment import Space, Weights, best_joins, best_paths
from clew.reading.rules.comparison import Comparison, Span, is_asked
from clew.reading.rules.direction import compared_step, preferred_step
from clew.reading.rules.english import ASKING_TYPES, FUNCTION
from clew.reading.rules.one_way import OneWay
from clew.reading.rules.question import Question
from clew.reading.rules.reading import Anchor, Reading
from clew.reading.rules.typed_words import CALLED, TypedWords
from clew.reading.rules.vocabulary import WHOLLY, Vocabulary, class_fit, class_row, is_noun, of_other_types
from clew.text.lexicon import CLASSES
from clew.text.normalise import normalise
from clew.types import Mention

Float = NDArray[np.float64]

MOST_RELATIONS = 24
"""Relations that are tried beyond the first step: those nearest to the words of the question, or that lead to
what the words name."""
UNKNOWN_CLASS = 0.5
"""How much of the charge for the wrong class a node of unknown class gets."""
NAMED, TYPED = 0.2, 0.4
"""Evidence from which a second word names a way back, or a word the nodes to which it leads."""
SURELY, GROUP = 0.8, 0.5
"""From this on a type is one of persons; the share of a word that it costs if *who* is none of them."""
MOST_COMMON = 1.3
"""Cost up to which a word is taken for a name in a yes/no question."""
UNTYPED = 0.8
"""What a word costs, of its whole weight, that says a type of which no node is."""
TURNED = 4.0
"""Cost of saying a one-way relation the other way round: it is another statement."""
FAR_OFF = 1.25
"""So many words may a reading leave open before two names are read that meet far from the answer."""
USUAL = 0.02
"""A step that this share of a node's kind can take may be asked for of the node itself."""


def asked_type(comparison: Comparison, end: int, names: Sequence[Span] = ()) -> int | None:
    """The declared type that a word outside the `names` says, if some nodes of the end are of it."""
    share = comparison.vocabulary.type_share[end]
    said = [
        type
        for word in comparison.words
        if all(word.stop <= s.start or word.start >= s.stop for s in names)
        for type in comparison.vocabulary.types_named(word.norm)
        if share[type] > 0
    ]
    return said[0] if said else None


@dataclass(frozen=True, eq=False)
class Reader:
    """Finds readings in one graph; holds what does not depend on the question."""

    graph: Graph
    schema: Schema
    vocabulary: Vocabulary
    weights: Weights
    follow: Float
    backs: NDArray[np.bool_]
    meets: NDArray[np.bool_]
    symmetric: NDArray[np.bool_]
    fixed: Float

    @cached_property
    def one_way(self) -> OneWay:
        """The relations of which it matters who stands where."""
        return OneWay(self.graph, self.schema, self.vocabulary)

    def either_way(self, start: Float) -> Float:
        """[S]: costs of steps at the later thing of a statement, of one-way relations in both directions."""
        start = start.copy()
        for step in np.flatnonzero(np.isfinite(start)).tolist():
            if not np.isfinite(start[step ^ 1]) and step // 2 in self.one_way:
                start[step ^ 1] = self.weights.step + self.weights.absent
        return start

    def charged(self, comparison: Comparison, span: Span, start: Float) -> Float:
        """[S]: costs of first steps from a thing of a statement, dearer against the grammar around it.

        A one-way relation of which the thing has the other end only may be walked as it is stated.
        """
        charged = start.copy()
        for step in np.flatnonzero(np.isfinite(start)).tolist():
            both = np.isfinite(start[step ^ 1])
            if both and step % 2 == 0:
                continue  # once for the two
            if self.states(comparison, span, step ^ 1):
                charged[step] += TURNED
                charged[step ^ 1] = min(charged[step ^ 1], self.weights.step + self.weights.absent)
            elif both and self.states(comparison, span, step):
                charged[step ^ 1] += TURNED
            elif both and (preferred := preferred_step(comparison, span, step // 2)) is not None:
                charged[preferred ^ 1] += self.weights.against_grammar
        return charged

    def states(self, comparison: Comparison, span: Span, step: int) -> bool:
        """Whether a statement says that a step leads from the thing at `span`, and not to it."""
        return step // 2 in self.one_way and preferred_step(comparison, span, step // 2, stated=True) == step

    @classmethod
    def of(cls, graph: Graph, schema: Schema, vocabulary: Vocabulary, weights: Weights) -> Reader:
        """Prepare the costs of going on from step to step."""
        steps = 2 * len(graph.relations)
        index = np.arange(steps)
        arrived = index ^ 1
        ways = schema.cooccur[arrived].astype(np.float64)
        ways[index, arrived] = schema.repeated[arrived]
        ways[schema.unlike[arrived]] = 0
        meets = ((schema.cooccur > 0) & ~schema.unlike)[np.ix_(arrived, arrived)]
        share = ways / np.maximum(schema.nodes[arrived], 1)[:, None]
        with np.errstate(divide="ignore"):
            follow = np.where(ways > 0, weights.step - weights.rare * np.log10(share), np.inf)
        both = schema.cooccur[index, arrived] > 0.1 * np.minimum(schema.nodes, schema.nodes[arrived])
        fixed = np.where((index % 2 == 1) & both, weights.against, 0.0)
        backs = index[None] == arrived[:, None]
        for relation, inverse in enumerate(schema.inverse):
            if inverse >= 0:
                backs[2 * relation, 2 * inverse] = backs[2 * inverse + 1, 2 * relation + 1] = True
                backs[2 * inverse, 2 * relation] = backs[2 * relation + 1, 2 * inverse + 1] = True
        symmetric = np.repeat(schema.inverse == np.arange(len(schema.inverse)), 2)
        return cls(graph, schema, vocabulary, weights, follow, backs, meets, symmetric, fixed)

    def ends_of(self, node: int) -> list[int]:
        """The ends that a node has: steps that can be walked from it."""
        ends: list[int] = []
        for side, adjacency in enumerate((self.graph.out, self.graph.into)):
            start, stop = adjacency.span(node)
            ends += [2 * int(r) + side for r in np.unique(adjacency.relation[start:stop])]
        return ends

    @staticmethod
    def leads_away(reading: Reading) -> bool:
        """Whether a step of the reading walks back through the relation of the one before."""
        paths = (*reading.branches, reading.trunk)
        return any(b == a ^ 1 for path in paths for a, b in pairwise(path))

    def turns_back(self, reading: Reading) -> bool:
        """Whether a reading ends by walking back the step before (*films that share a director with X*)."""
        path = reading.trunk if len(reading.trunk) > 1 else reading.branches[0] if not reading.trunk else ()
        return len(path) > 1 and bool(self.backs[path[-2], path[-1]])

    def read(self, comparison: Comparison, mentions: Sequence[Mention], *, keep: int = 16) -> list[Reading]:
        """Readings with one mention, with two or three where one leaves words unexplained; cheapest first."""
        space = self._space(comparison)
        mentions = self._whole(comparison.question, mentions)
        singles: list[Reading] = []
        for mention in mentions:
            for anchor in self._anchors(comparison, mention):
                singles += self._single(comparison, space, anchor)
        singles.sort(key=_order)
        readings = singles[: 4 * keep]
        best = readings[0].cost if readings else np.inf
        if best > self.weights.word * 0.25 and {"and", "both"} & {w.norm for w in comparison.question.words}:
            for mention in mentions[:4]:
                for anchor in list(self._anchors(comparison, mention))[:2]:
                    readings += self._twice(comparison, space, anchor)
            readings.sort(key=_order)
            best = readings[0].cost if readings else np.inf
        if best > self.weights.word * 0.5:
            for pair in self._sets(comparison, mentions, 2):
                readings += self._joined(comparison, space, pair)
            readings.sort(key=_order)
            best = readings[0].cost if readings else np.inf
            if best > self.weights.word * 0.5:
                for triple in self._sets(comparison, mentions, 3):
                    readings += self._joined(comparison, space, triple)
                readings.sort(key=_order)
            if readings and readings[0].cost > FAR_OFF * self.weights.word:
                for pair in self._sets(comparison, mentions, 2):
                    longer = self._joined(comparison, space, pair, trunk=2)
                    readings += [r for r in longer if len(r.trunk) == 2]
                readings.sort(key=_order)
        readings = self._with_types(comparison, readings)
        certain = [r for r in readings[keep:] if not r.doubtful][: keep // 2]
        return [self._typed(comparison, r) for r in readings[:keep] + certain]

    def _with_types(self, comparison: Comparison, readings: list[Reading]) -> list[Reading]:
        """The readings, dearer by the words for types that no node of theirs is of."""
        said = self.typed_words.said(comparison)
        if not said:
            return readings
        found: list[Reading] = []
        for reading in readings:
            spans = [a.span for a in reading.anchors]
            outside = {
                row: types
                for row, types in said.items()
                if all(
                    comparison.words[row].stop <= s.start or comparison.words[row].start >= s.stop
                    for s in spans
                )
            }
            entities = list(dict.fromkeys(a.entity for a in reading.anchors))
            missing = self.typed_words.missing(comparison, outside, reading.steps, entities, reading.nodes)
            found.append(replace(reading, cost=reading.cost + UNTYPED * self.weights.word * missing))
        return sorted(found, key=_order)

    @cached_property
    def typed_words(self) -> TypedWords:
        """What words say of types."""
        return TypedWords(self.graph, self.vocabulary)

    def _typed(self, comparison: Comparison, reading: Reading) -> Reading:
        """The reading with the type that the question asks for, if not all that it may reach are of it."""
        ends = [step ^ 1 for step in reading.steps[:-1]] + [e for a in reading.anchors for e in a.ways]
        asked = asked_type(comparison, reading.last ^ 1, [a.span for a in reading.anchors])
        share = self.vocabulary.type_share
        if asked is None or any(share[end, asked] >= WHOLLY for end in (*ends, reading.last ^ 1)):
            return reading
        if self._called(comparison, reading.last, asked):
            return reading
        return replace(reading, type=asked)

    def _called(self, comparison: Comparison, step: int, type: int) -> bool:
        """Whether the word for a type is the name of the step too (*ingredients*: `has_ingredient`)."""
        named = self.vocabulary.types_named
        rows = [i for i, w in enumerate(comparison.words) if type in named(w.norm)]
        return bool(comparison.cover[rows, step].max(initial=0.0) >= CALLED)

    def _whole(self, question: Question, mentions: Sequence[Mention]) -> list[Mention]:
        """Without mentions inside a longer one that is written just like a name (*Fall* in *The Fall*)."""
        sure = [m for m in mentions if m.candidates[0].score == 1.0 and self.common(question, m) < 0]
        return [
            m
            for m in mentions
            if not any(s is not m and s.start <= m.start and m.stop <= s.stop for s in sure)
            or any(s.start == m.start and s.stop == m.stop for s in sure)
        ]

    def read_between(
        self, comparison: Comparison, mentions: Sequence[Mention]
    ) -> list[tuple[Reading, Anchor]]:
        """For a yes/no question: paths from one mention that may end at another, cheapest first."""
        space = self._space(comparison)
        found: list[tuple[Reading, Anchor]] = []
        for first, second in self._sets(comparison, mentions, 2):
            if first.cost > MOST_COMMON or second.cost > MOST_COMMON:
                continue
            compared = compared_step(comparison, first.span)
            if compared is not None:
                found.append((Reading((first,), ((compared,),), (), first.cost + second.cost), second))
                continue
            ends, start = self._start(first.entity)
            start = self.charged(comparison, first.span, start)
            text = len(comparison.question.text)
            left = self._words(comparison, 0, first.span.start)[::-1]
            right = self._words(comparison, first.span.stop, second.span.start)
            right += self._words(comparison, second.span.stop, text)
            _, target = self._start(second.entity)
            final = self.either_way(target)[np.arange(len(target)) ^ 1] - self.weights.step
            active = self._active(space, ends)
            sides = comparison.sides(left, right, first.span, ends)
            limited = replace(space, active=active, final=final)
            for path in best_paths(sides, start, limited, self.weights, slack=1.0):
                cost = path.cost + first.cost + second.cost
                found.append((Reading((first,), (path.steps,), (), cost), second))
        return sorted(found, key=lambda pair: _order(pair[0]))

    def _anchors(self, comparison: Comparison, mention: Mention) -> Iterator[Anchor]:
        span = Span(mention.start, mention.stop)
        common = self.common(comparison.question, mention)
        ordinary = common > 0 or (common > -0.03 and mention.candidates[0].how == "typo")
        for candidate in mention.candidates:
            cost = common + 3 * (1 - candidate.score)
            yield Anchor(
                span,
                candidate.entity,
                cost,
                mention.text,
                candidate.how,
                ordinary,
                tuple(self.ends_of(candidate.entity)),
            )

    def common(self, question: Question, span: Span | Mention) -> float:
        """Cost of taking words for a name that are, as written, more likely just words."""
        words = [w for w in question.words if w.start < span.stop and span.start < w.stop]
        if not words or any(not w.norm.isascii() for w in words):
            return 0.0
        length = -0.04 * len(words)
        written = [w for w in words[(span.start == 0) :] if w.norm not in ("i", "id", "im", "ive")]
        if any(c.isupper() or c.isdigit() for w in written for c in w.text):
            return length
        if all(w.weight < 0.7 for w in words):
            return 1.5 + length
        plain = [normalise(w.text) for w in words]
        lower = not any(c.isupper() for c in question.text[1:])
        if lower and len(words) > 1:
            return length
        if all(self.vocabulary.lexicon.known(w) or w in FUNCTION for w in plain):
            return (
                self.weights.common_word if len(words) == 1 else max(self.weights.common_words, 0.1 - length)
            ) + length
        return length

    def _sets(
        self, comparison: Comparison, mentions: Sequence[Mention], size: int
    ) -> Iterator[tuple[Anchor, ...]]:
        """Sets of anchors that do not overlap, in the order of the question; two of each mention at most."""
        likely = sorted(
            (
                sorted(self._anchors(comparison, m), key=lambda a: (a.cost, a.entity))[:2]
                for m in mentions
                if m.candidates
            ),
            key=lambda anchors: anchors[0].cost,
        )[:6]
        for group in combinations(likely, size):
            spans = sorted((anchors[0].span for anchors in group), key=lambda s: s.start)
            if any(a.stop > b.start for a, b in pairwise(spans)):
                continue
            ordered = sorted(group, key=lambda anchors: anchors[0].span.start)
            yield tuple(anchors[0] for anchors in ordered)
            for at, anchors in enumerate(ordered):
                if len(anchors) > 1:
                    yield tuple(a[1] if i == at else a[0] for i, a in enumerate(ordered))

    def _space(self, comparison: Comparison) -> Space:
        steps = len(self.fixed)
        final = np.zeros(steps)
        if comparison.question.classes:
            likely = class_fit(self.vocabulary.classes, comparison.question.classes)[np.arange(steps) ^ 1]
            known = np.minimum(2 * self.vocabulary.classes.max(axis=1), 1.0)[np.arange(steps) ^ 1]
            final = self.weights.answer_class * (1 - likely) * np.maximum(known, UNKNOWN_CLASS)
            final = final + GROUP * self.weights.word * self._declared_otherwise(comparison)
        for row, word in enumerate(comparison.words):
            if is_asked(comparison.question, word) and is_noun(self.vocabulary.lexicon, word.norm):
                told = np.maximum(comparison.node[row], comparison.cover[row])
                final = final + self.weights.asked_type * (1 - told)
                final = final + self.weights.word * of_other_types(self.vocabulary, word.norm)
        active = np.arange(steps)
        if steps > 2 * MOST_RELATIONS and len(comparison.words):
            node = comparison.node.max(axis=0)
            told = np.maximum(comparison.relation.max(axis=0), np.maximum(node[::2], node[1::2]))
            near = np.argsort(-told, kind="stable")[:MOST_RELATIONS]
            active = np.sort(np.concatenate([2 * near, 2 * near + 1]))
        typing = () if any(w.norm in ASKING_TYPES for w in comparison.words) else self.vocabulary.typing
        barred = frozenset(s for r in typing for s in (2 * r, 2 * r + 1))
        active = active[~np.isin(active, list(barred))] if barred else active
        return Space(
            self.follow,
            self.backs,
            self.meets,
            self.symmetric,
            self.fixed,
            final,
            active.astype(np.int64),
            barred,
        )

    @staticmethod
    def _active(space: Space, ends: Sequence[int]) -> NDArray[np.int64]:
        """The steps to try, with those from a mention that has the `ends`."""
        if not ends:
            return space.active
        return np.union1d(space.active, np.array([e for e in ends if e not in space.barred], np.int64))

    def _declared_otherwise(self, comparison: Comparison) -> NDArray[np.bool_]:
        """Whether each step arrives at nodes of declared types that are no persons, if asked for *who*."""
        vocabulary = self.vocabulary
        if "person" not in comparison.question.classes or not vocabulary.type_words:
            return np.zeros(len(self.fixed), bool)
        lexicon, person = vocabulary.lexicon, CLASSES.index("person")
        people = [bool(t) and class_row(lexicon, t[-1])[person] >= SURELY for t in vocabulary.type_words]
        share = vocabulary.type_share[np.arange(len(self.fixed)) ^ 1]
        none = share[:, people].sum(axis=1) == 0 if any(people) else np.zeros(len(share), bool)
        return none & (share.max(axis=1) >= WHOLLY)

    def _directed(self, comparison: Comparison, anchor: Anchor, start: Float) -> Float:
        """Charge first steps against the grammar around the mention, where both ways are possible."""
        both = np.flatnonzero((self.fixed > 0) & np.isfinite(start))
        for backward in both:
            preferred = preferred_step(comparison, anchor.span, int(backward) // 2)
            if preferred is None:
                continue
            start[backward] -= self.fixed[backward]
            start[preferred ^ 1] += self.weights.against_grammar
        return start

    def _start(self, entity: int) -> tuple[list[int], Float]:
        """The ends of a node, and the cost of each first step.

        Also of steps that others of its kind have, so that *nothing recorded* is told from *not asked*.
        """
        ends = self.ends_of(entity)
        start = np.full(len(self.fixed), np.inf)
        kinds = [e for e in ends if e // 2 not in self.vocabulary.typing]
        if kinds:
            kind = self.schema.cooccur[kinds] / np.maximum(self.schema.nodes[kinds], 1)[:, None]
            usual = (kind.max(axis=0) >= USUAL) & ~self._of_other_types(entity)
            start[usual] = self.weights.step + self.weights.absent
        start[ends] = self.weights.step
        return ends, start

    def _of_other_types(self, entity: int) -> NDArray[np.bool_]:
        """The steps that only nodes of other declared types than those of an entity can take."""
        types, share = self.graph.types, self.vocabulary.type_share
        own = types.type[types.offsets[entity] : types.offsets[entity + 1]]
        if not len(own):
            return np.zeros(len(share), bool)
        return (share[:, own].max(axis=1) == 0) & (share.max(axis=1) >= WHOLLY)

    def _words(self, comparison: Comparison, start: int, stop: int) -> list[int]:
        return [i for i, w in enumerate(comparison.words) if w.start >= start and w.stop <= stop]

    def _single(self, comparison: Comparison, space: Space, anchor: Anchor) -> list[Reading]:
        ends, start = self._start(anchor.entity)
        start = self._directed(comparison, anchor, start)
        left = self._words(comparison, 0, anchor.span.start)[::-1]
        right = self._words(comparison, anchor.span.stop, len(comparison.question.text))
        sides = comparison.sides(left, right, anchor.span, ends)
        active = self._active(space, ends)
        paths = best_paths(sides, start, replace(space, active=active), self.weights)
        words = [*left, *right]
        return [
            Reading(
                (anchor,), (p.steps,), (), p.cost + anchor.cost + self._turning(comparison, words, p.steps)
            )
            for p in paths
        ]

    def _turning(self, comparison: Comparison, words: Sequence[int], steps: Sequence[int]) -> float:
        """Cost of a way back that no word asks for, nor names, nor the type of what it leads back to."""
        if any(comparison.words[i].share for i in words):
            return 0.0
        content = [i for i in words if comparison.words[i].weight >= 0.9]
        back = [b for a, b in pairwise(steps) if self.backs[a, b] and not self.symmetric[a]]
        silent = [
            s
            for s in back
            if np.sort(comparison.step[words, s])[-2:-1].sum() < NAMED
            and comparison.node[content, s].max(initial=0.0) < TYPED
        ]
        return self.weights.plain_return * len(silent)

    def _twice(self, comparison: Comparison, space: Space, anchor: Anchor) -> list[Reading]:
        """Two relations of one mention that meet: *who both directed and starred in X*.

        Every word goes to the step or node that it names best, whatever its place.
        """
        ends, start = self._start(anchor.entity)
        outside = [
            i
            for i, w in enumerate(comparison.words)
            if w.stop <= anchor.span.start or w.start >= anchor.span.stop
        ]
        if not outside:
            return []
        weight = comparison.weight[outside]
        told = np.maximum(comparison.cover[outside], comparison.node[outside])
        evidence = comparison.step[outside]
        found: list[Reading] = []
        for one, other in combinations(ends, 2):
            if not space.meets[one, other] or evidence[:, one].argmax() == evidence[:, other].argmax():
                continue
            open_share = 1 - np.maximum(told[:, one], told[:, other])
            named = 2 - evidence[:, one].max() - evidence[:, other].max()
            cost = float(weight @ open_share + self.weights.step_evidence * named + space.final[one])
            cost += float(start[one] + start[other]) + anchor.cost
            found.append(Reading((anchor, anchor), ((one,), (other,)), (), cost))
        return found

    def _joined(
        self, comparison: Comparison, space: Space, anchors: tuple[Anchor, ...], *, trunk: int = 1
    ) -> list[Reading]:
        begin, end = 0, len(comparison.question.text)
        edges = [begin, *(a.span.start for a in anchors), end]
        stops = [begin, *(a.span.stop for a in anchors)]
        gaps = [self._words(comparison, stops[i], edges[i + 1]) for i in range(len(anchors) + 1)]
        sides, starts, active = [], [], space.active
        for i, anchor in enumerate(anchors):
            ends, start = self._start(anchor.entity)
            start = self._directed(comparison, anchor, start)
            sides.append(comparison.sides(gaps[i][::-1], gaps[i + 1], anchor.span, ends, chain=False))
            starts.append(start)
            active = self._active(replace(space, active=active), ends)
        whole = comparison.sides(
            gaps[0][::-1], gaps[-1], Span(anchors[0].span.start, anchors[-1].span.stop), (), chain=False
        )
        joins = best_joins(sides, whole, starts, replace(space, active=active), self.weights, trunk=trunk)
        cost = sum(a.cost for a in anchors)
        return [Reading(anchors, j.branches, j.trunk, j.cost + cost) for j in joins]


def _order(reading: Reading) -> tuple[float, int, tuple[int, ...], tuple[int, ...]]:
    return (reading.cost, len(reading.steps), tuple(a.entity for a in reading.anchors), reading.steps)
