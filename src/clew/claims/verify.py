"""The default `verify`: without a model each part of a claim is there, or otherwise, or not recorded.

Steps, in order: `link` (what the claim names: entities, numbers, dates), `parts` (what the words say of
them, read as yes/no query graphs in which every word has its place), what the graph has of each, and the
verdict. Claims are those of FactKG's kinds and more: one hop, conjunction, existence, several hops through
something unnamed, negation, numbers, dates, counts and comparisons.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import pairwise
from time import perf_counter
from typing import Literal, Protocol

import numpy as np

from clew.claims.asked import asked_by, read_asked
from clew.claims.claim_parts import Alternatives, pieces
from clew.claims.claim_readings import PieceReading, Statement, read_piece, says_ways, walk
from clew.claims.claim_text import (
    JOINT,
    ONLY,
    ClaimedValue,
    ClaimText,
    Item,
    frame_of,
    is_refusal,
    left_out,
    not_happened,
    says_nobody,
    with_items,
)
from clew.claims.quantified import KindReading, Quantified, kind_of, quantified, read_kind
from clew.graph import OWL, RDFS
from clew.graph.graph import ValueKind, triple_text
from clew.graph.naming import names_of
from clew.graph.steps import Step as RelationStep
from clew.graph.steps import is_backward, opposite, relation_of, step_of, way_back
from clew.grounding import cite
from clew.index.store.directory import Index
from clew.query.execute import Executor, Nodes, OverBudget, against, difference, intersection, stands
from clew.query.prove import prove
from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Part,
    Qualified,
    Query,
    Related,
    Sign,
    Value,
    Walk,
    Without,
    contents_of,
    last_walks,
    steps_of,
)
from clew.query.vocabulary import THING, Vocabulary
from clew.query.words import say
from clew.reading.account import quoted
from clew.reading.called import AskedNames, names_claimed, verdict_of
from clew.reading.comparisons import than_words
from clew.reading.denial import denied_words
from clew.reading.edge_words import EdgeKeys
from clew.reading.flags import leads_to_flag, that_decides
from clew.reading.likeness import NO_LIKENESS
from clew.reading.mentions import PARTIAL, Mention
from clew.reading.mutual import both_ways, either_way
from clew.reading.operators import Operators
from clew.reading.reader import QuestionReader, reader_of
from clew.reading.spelling import spelling_notes
from clew.text.embedders import Embedder
from clew.text.inflection import singular, singular_noun
from clew.text.normalise import normalise
from clew.types import Citation, ClaimPart, Step, TripleText, Verdict, Verification

# What a graph says of each part of a claim, and of the whole.
#
# A part is there, or the graph records something else in its place, or it is not recorded: all of it by query
# graphs, executed and proved as those of questions are. A negation turns the first two around. In a closed
# world what is not recorded is not so.

Finding = Literal["there", "otherwise", "unknown", "unread"]
"""`unread`: the words say nothing that the graph could record."""

LEAST_OTHERWISE = 0.7
"""Least probability of the statements together that are not so, for a part to be not so."""
MOST_NONE = 0.9
"""Most probability that no statement is meant, for things not to be related so."""
NAMES_MEANING = 0.75
"""Likeness from which words are the name of what a statement says."""
CLOSE_SHARE = 0.3
"""Share of a statement, beside that of the likeliest, from which it may be what was meant."""
MOST_MIDDLES = 1000
MOST_WITHIN = 4
"""Steps over which one thing lies within another."""
_DECLARING = frozenset(
    (
        *(RDFS + name for name in ("subClassOf", "subPropertyOf", "domain", "range")),
        *(OWL + name for name in ("inverseOf", "equivalentClass", "equivalentProperty", "disjointWith")),
    )
)
"""Relations of which both ends are types or relations, not things."""
_WITHIN = frozenset("in within inside part contains located".split())
"""Words of relations by which one thing lies within another."""
MOST_SHOWN = 20
"""Members of a set that are proved where many say otherwise."""
NEGATED: dict[Sign, Sign] = {"=": "!=", "!=": "=", ">": "<=", "<=": ">", "<": ">=", ">=": "<"}
SPARE = 0.02
"""Share of the nodes of an end that may have it several times, for what one has to be all."""
CHANCE = 0.05
"""Most probability that by chance none of them has it several times, for that to show anything."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A part of a claim as the graph has it: its place in the text, what was found, and its triples.

    `missing` says what there is not enough information for; `group` is that of its piece.
    """

    start: int
    stop: int
    finding: Finding
    triples: tuple[int, ...] = ()
    negated: bool = False
    group: int = -1
    missing: str = ""
    read: PieceReading | None = None
    asked: Query | None = None
    """As what question the whole claim was read."""
    names: tuple[TripleText, ...] = ()
    """What sources say of names, which may be no triples."""


@dataclass(frozen=True, eq=False)
class Checker:
    """Checks what the pieces of one claim say against one graph."""

    vocabulary: Vocabulary
    edge_keys: EdgeKeys
    claim: ClaimText
    executor: Executor
    topics: set[int] = field(default_factory=set[int])
    """Nodes that some part was found to be about."""
    over_budget: list[Statement | Quantified | Query] = field(
        default_factory=list["Statement | Quantified | Query"]
    )

    def check(self, read: PieceReading) -> tuple[Finding, tuple[int, ...]]:
        """What the graph has of one piece, and the triples that show it."""
        piece, statement = read.piece, read.statement
        if self._says_opposite(read):
            found = self._find(statement)
            return ("otherwise", found[1]) if found[0] == "there" else ("unknown", ())
        finding, triples = self._find(statement)
        for alternative in read.statements[1:] if finding != "there" else ():
            found = self._find(alternative)
            if found[0] == "there":
                statement, (finding, triples) = alternative, found
                break
        if finding == "there":
            self.topics.update((statement.node, statement.other))
        # A part of a name is enough beside what the graph has next to it, and nowhere else.
        partial_items = (item for item in piece.items if _is_part(item))
        doubtful = any(item.candidates[0].node not in self.topics for item in partial_items)
        if finding == "otherwise" and (doubtful or not self._surely_otherwise(read)):
            return "unknown", ()
        if finding == "there" and statement.kind == "path":
            finding, triples = self._only(read, statement, triples)
            return self._to_this_day(read, statement, triples) if finding == "there" else (finding, triples)
        return finding, triples

    def _to_this_day(
        self, read: PieceReading, statement: Statement, triples: tuple[int, ...]
    ) -> tuple[Finding, tuple[int, ...]]:
        """Otherwise where what is said to be so *now* or *still* has ended."""
        query = either_way(self.vocabulary, self.executor, Query("yes", statement.said))
        operators = Operators(
            self.vocabulary, self.executor, read.piece.text, (), self.edge_keys, NO_LIKENESS
        )
        for operator in operators.to_this_day():
            query = operator.apply(query) or query
        return ("there" if len(self.executor.members(query.part)) else "otherwise"), triples

    def named_in(self, statements: Sequence[Statement], nodes: set[int]) -> set[int]:
        """Of which of some things a statement is so."""
        so = [s for s in statements if self._find(s)[0] == "there"]
        return nodes.intersection(node for s in so for node in (s.node, s.other))

    def check_kind(self, said: Quantified, read: KindReading) -> tuple[Finding, tuple[int, ...]]:
        """Whether all of a kind are so, or so many; one of which something else is recorded is not so.

        That none is so must be known of each.
        """
        if read.kind is None or read.told is None:
            return "unread", ()
        told = Both(read.told, read.kind)
        members, so = self.executor.members(read.kind), self.executor.members(told)
        outside = difference(members, so)[:MOST_MIDDLES].tolist()
        if said.total not in (None, len(members)):
            return ("otherwise" if len(members) else "unknown"), self._proved(read.kind)
        if said.of_half:
            return self._check_half(read.kind, read.told, said.sign)
        if said.number is None:
            if len(members) and self.executor.holds(Query("every", read.kind, told)):
                return "there", self._proved(told)
            for member in outside:
                if instead := self._recorded_instead(read.told, member):
                    return "otherwise", (*prove(self.executor, read.kind, member), *instead)
            return "unknown", ()
        proof = self._proved(told)
        if not len(so) and not (proof := self._contradicting(Both(read.kind, read.told))):
            return "unknown", ()
        is_so = bool(stands(np.array([len(so)]), said.sign, said.number)[0])
        return "there" if is_so else "otherwise", proof

    def _check_half(self, kind: Part, told: Part, sign: Sign) -> tuple[Finding, tuple[int, ...]]:
        """How those of a kind that are so stand to half of it, however others are which it does not tell."""
        members, so = self.executor.members(kind), self.executor.members(Both(told, kind))
        instead = [self._recorded_instead(told, n) for n in difference(members, so)[:MOST_MIDDLES].tolist()]
        known = [proof for proof in instead if proof]
        least, most = len(so) / max(len(members), 1), 1 - len(known) / max(len(members), 1)
        proof = (*self._proved(Both(told, kind)), *(t for each in known[:MOST_SHOWN] for t in each))
        are_so = stands(np.array([least, most]), sign, 0.5)
        if are_so.all():
            return "there", proof
        is_open = are_so.any() or (sign == "=" and least < 0.5 < most) or not len(members)
        return ("unknown" if is_open else "otherwise"), proof

    def check_asked(self, query: Query, number: ClaimedValue | None) -> tuple[Finding, tuple[int, ...]]:
        """Whether the answer to a question is yes, or the number that a claim says it is."""
        if number is not None:
            return self._check_number(query, number)
        if query.ask == "every" and query.other is not None:
            members, others = self.executor.members(query.part), self.executor.members(query.other)
            rivals = difference(members, others)[:MOST_SHOWN].tolist()
            if rivals:
                proof = next(filter(None, (self._recorded_instead(query.other, n) for n in rivals)), ())
                return ("otherwise" if proof else "unknown"), proof
            shown, told = members[:MOST_SHOWN].tolist(), (query.part, query.other)
            proof = tuple(dict.fromkeys(t for n in shown for p in told for t in prove(self.executor, p, n)))
            return ("there" if proof else "unknown"), proof
        query = either_way(self.vocabulary, self.executor, query)
        members = self.executor.members(query.part)
        if len(members):
            is_so, node = that_decides(self.vocabulary, query, members)
            return ("there" if is_so else "otherwise"), prove(self.executor, query.part, node)
        recorded = self._contradicting(query.part)
        return ("otherwise" if recorded else "unknown"), recorded

    def check_amount(self, query: Query, sign: Sign, number: float) -> tuple[Finding, tuple[int, ...]]:
        """Whether the number that a query asks for stands so to another; nothing is told of what has none."""
        query = both_ways(self.vocabulary, query)
        amount, parts = self.executor.number(query), (query.part, *([query.other] if query.other else ()))
        if amount is None or not any(len(self.executor.members(part)) for part in parts):
            return "unknown", ()
        proof = tuple(dict.fromkeys(t for part in parts for t in self._proved(part)))
        is_so = bool(stands(np.array([amount]).round(6), sign, number)[0])
        return ("there" if is_so else "otherwise"), proof

    def _check_number(self, query: Query, number: ClaimedValue) -> tuple[Finding, tuple[int, ...]]:
        """Whether there are so many of a set, or whether the numbers that it is are the one that is said."""
        if query.ask == "count" and number.count is not None:
            return self.check_amount(query, number.sign, number.count)
        if not (proof := self._proved(query.part)):
            return "unknown", ()
        labels = {self.vocabulary.measured(relation_of(w.step)) for w in last_walks(query.part)}
        members = self.executor.members(query.part)
        kinds = self.executor.graph.values.kind[members]
        if query.ask == "list" and (kinds == ValueKind.NONE).any():
            return "unknown", ()
        are_dates = bool((kinds == ValueKind.DATE).all())
        values = [v for label in labels for v in number.in_unit_of(label, -1) if v.date == are_dates]
        if query.ask != "list":
            numbers = np.array([n for n in [self.executor.number(query)] if n is not None])
            is_so = any(against(numbers, number.sign, v, are_dates).any() for v in values)
            return ("unknown" if not len(numbers) else "there" if is_so else "otherwise"), proof
        is_so = any(len(self.executor.members(Compared(query.part, (), number.sign, v))) for v in values)
        return ("there" if is_so else "otherwise" if len(members) == 1 else "unknown"), proof

    def check_both(self, query: Query, other: Query, sign: Sign) -> tuple[Finding, tuple[int, ...]]:
        """How what one question asks for stands to what another does: values, numbers, or how many."""
        if query.ask in ("list", "count"):
            return self.check_amount(replace(query, ask="difference", other=other.part), sign, 0)
        amounts = [self.executor.number(each) for each in (query, other)]
        if None in amounts:
            return "unknown", ()
        is_so = bool(stands(np.array(amounts[:1], np.float64), sign, float(amounts[1] or 0))[0])
        return ("there" if is_so else "otherwise"), (*self._proved(query.part), *self._proved(other.part))

    def _recorded_instead(self, part: Part, member: int) -> tuple[int, ...]:
        """What is recorded of a thing that is not in a set, or of what the set starts from, in its place."""
        within = next(iter(_wider(part)), part)
        if within is not part and not np.isin(member, self.executor.members(within)):
            return self._recorded_instead(within, member)
        me = Anchor(member)
        match part:
            case Both(_, right):
                return self._recorded_instead(right, member)
            case Without(_, right):
                return prove(self.executor, right, member)
            case Walk(source, step):
                start, steps = _way(part)
                if isinstance(start, Anchor):
                    return self._other_ends(start.node, steps, member)
                back = Walk(me, opposite(step))
                if isinstance(source, OfType) or not self._tells((back.step,)):
                    return self._proved(back) if isinstance(source, OfType) else ()
                own = self.executor.members(back).tolist()
                return self._of_all([self._proved(back), *(self._recorded_instead(source, n) for n in own)])
            case Qualified(source, step, conditions):  # another text denies none: a note beside a status
                valued = [c for c in conditions if isinstance(c.value, Value)]
                others = [Qualified(source, step, (replace(c, sign=NEGATED[c.sign]),)) for c in valued]
                return next((proof for o in others if (proof := self._proved(Both(o, me)))), ())
            case Compared(_, steps, sign, value):
                return self._proved(Compared(me, steps, NEGATED[sign], value))
            case Counted(_, step, _, number):
                there = Walk(me, step)  # of values some may not be recorded, but not too many
                is_told = self.vocabulary.kinds_reached[step] == THING
                return self._proved(there) if is_told or len(self.executor.members(there)) > number else ()
            case Extreme(_, steps) if not part.key:
                is_ranked = np.isin(member, self.executor.members(replace(part, number=0, nth=False)))
                return (*self._proved(part), *self._complete(me, steps)) if is_ranked else ()
            case Related(_, step):
                return self._proved(Walk(me, step))
            case _:
                return ()

    def _of_all(self, proofs: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
        """The triples of all proofs; none if one is missing."""
        found = list(proofs)
        return tuple(dict.fromkeys(t for p in found[:MOST_SHOWN] for t in p)) if all(found) else ()

    def _says_opposite(self, read: PieceReading) -> bool:
        """Whether words say what the relation denies by its name: *causes* of `does_not_cause`."""
        words = {singular(w) for w in read.piece.words}
        labels = (self.vocabulary.relations[relation_of(s)] for s in read.statement.relation_steps)
        return any(words & denied_words(label) for label in labels)

    def _surely_otherwise(self, read: PieceReading) -> bool:
        """Whether what is not so was likely meant: by the statements together that are not so."""
        if read.statement.kind == "path" and read.none > MOST_NONE:
            return False
        if not says_ways(self.vocabulary, read.statement.relation_steps, read.piece.text):
            return False
        probability = read.probability
        for statement, share in read.others:
            if share >= CLOSE_SHARE * read.probability:
                finding = self._find(statement)[0]
                probability += share * (finding == "otherwise")
                if finding == "there" and read.named < NAMES_MEANING:
                    return False
        return probability >= LEAST_OTHERWISE

    def _find(self, statement: Statement) -> tuple[Finding, tuple[int, ...]]:
        try:
            if proof := self._proof(statement):
                return "there", proof[0]
            denial = self._denied(statement)
            return ("otherwise", denial) if denial else self._instead(statement)
        except OverBudget:
            self.over_budget.append(statement)
            return "unknown", ()

    def _proof(self, statement: Statement) -> tuple[tuple[int, ...], ...]:
        """The triples of what is said, in a tuple; an empty one where the graph does not have it."""
        part = either_way(self.vocabulary, self.executor, Query("yes", statement.said)).part
        members = self.executor.members(part)
        if statement.kind == "exists":
            return self._proof_of_having(statement, members)
        if statement.kind == "more":
            members = members[:1] if members.tolist() == [statement.node] else members[:0]
            part = Both(part, Counted(Anchor(statement.other), statement.steps[0], ">=", 0))
        if not len(members):
            return ()
        if statement.kind != "more":
            return (prove(self.executor, part, int(members[0])),)
        nodes = (statement.node, statement.other)
        return (tuple(t for n in nodes for t in self._proved(Walk(Anchor(n), statement.steps[0]))),)

    def _proof_of_having(self, statement: Statement, members: Nodes) -> tuple[tuple[int, ...], ...]:
        """As `_proof`, of what one thing has: what is recorded as *no* it has not."""
        query = Query("yes", statement.walk())
        if not len(members) or not leads_to_flag(self.vocabulary, query):
            return tuple(prove(self.executor, statement.said, node) for node in members[:1].tolist())
        is_so, flag = that_decides(self.vocabulary, query, self.executor.members(query.part))
        return (prove(self.executor, query.part, flag),) if is_so else ()

    def _proved(self, part: Part) -> tuple[int, ...]:
        """The triples of the first members of a set."""
        members = self.executor.members(part)[:MOST_SHOWN].tolist()
        return tuple(dict.fromkeys(t for member in members for t in prove(self.executor, part, member)))

    def _denied(self, statement: Statement) -> tuple[int, ...]:
        """The triples of a relation that denies what is said, or that it denies.

        Its name tells so, or a team.
        """
        if statement.kind != "path" or len(statement.steps) != 1:
            return ()
        relation, back = relation_of(statement.steps[0]), is_backward(statement.steps[0])
        labels = self.vocabulary.relations
        words, denied = _content(labels[relation]), denied_words(labels[relation])
        for other, label in enumerate(labels):
            other_denied = denied_words(label)
            if other != relation and (
                (other_denied and words and other_denied >= words)
                or (denied and denied >= _content(label))
                or relation == self.vocabulary.denies.get(other)
                or other == self.vocabulary.denies.get(relation)
            ):
                part = Both(Walk(Anchor(statement.node), step_of(other, back)), Anchor(statement.other))
                if len(self.executor.members(part)):
                    return prove(self.executor, part, statement.other)
        return ()

    def _instead(self, statement: Statement) -> tuple[Finding, tuple[int, ...]]:
        """What the graph records in the place of what it does not have."""
        recorded: tuple[int, ...] = ()
        match statement.kind:
            case "edge":
                recorded = self._other_edge(statement)
            case "more":
                step, ends = statement.steps[0], (statement.node, statement.other)
                recorded = tuple(t for node in ends for t in self._proved(Walk(Anchor(node), step)))
            case "type":
                own = self.vocabulary.types_of(statement.node).tolist()
                said = OfType(statement.steps[0])
                may_be_both = any(len(self.executor.members(Both(OfType(t), said))) for t in own)
                return ("otherwise" if own and not may_be_both else "unknown"), ()
            case "exists" if leads_to_flag(self.vocabulary, Query("yes", statement.walk())):
                recorded = self._proved(statement.walk())
            case "exists":
                pass
            case _:
                recorded = self._contradicting(statement.said)
                recorded = recorded if self.is_of_named(statement.said, recorded) else ()
        return ("otherwise", recorded) if recorded else ("unknown", ())

    def is_of_named(self, part: Part, triples: Sequence[int]) -> bool:
        """Whether triples speak of something that is named: where a spouse was born says nothing of one."""
        named, graph = {a.node for a in contents_of(part).entities}, self.executor.graph
        ends = {node for t in triples for node in (graph.triple(t)[0], graph.triple(t)[2])}
        return bool(triples) and (not named or not named.isdisjoint(ends))

    def _contradicting(self, part: Part) -> tuple[int, ...]:
        """Triples of what is recorded in the place of a set that is empty; none where it may well be so."""
        if isinstance(part, Either):
            return self._of_all([self._contradicting(part.left), self._contradicting(part.right)])
        if isinstance(part, Walk):
            is_empty = not len(self.executor.members(part.source))
            return self._contradicting(part.source) if is_empty else ()
        for within in _wider(part):
            members = self.executor.members(within)[: MOST_MIDDLES + 1].tolist()
            instead = self._of_all(self._recorded_instead(part, node) for node in members)
            instead = instead if members else self._contradicting(within)
            if instead and len(members) <= MOST_MIDDLES:
                return instead
        return ()

    def _other_edge(self, statement: Statement) -> tuple[int, ...]:
        """The triple of an edge whose property is another than is said; none where it has none."""
        if statement.value is None:
            other = replace(statement, sign="!=").said
            is_told = self.edge_keys.is_category(statement.edge_key) and len(self.executor.members(other))
            return prove(self.executor, other, statement.other) if is_told else ()
        least = replace(statement.value, number=-math.inf, width=math.inf, yearly=False)
        known = replace(statement, sign=">=", value=least)
        part = known.said
        return prove(self.executor, part, statement.other) if len(self.executor.members(part)) else ()

    def _complete(self, source: Part, steps: Sequence[RelationStep]) -> tuple[int, ...]:
        """Triples of a path from a set, whatever it ends at; none if some node on the way records none."""
        if not steps or len(self.executor.members(Counted(walk(source, steps[:-1]), steps[-1], "=", 0))):
            return ()
        return self._proved(walk(source, steps))

    def _tells(self, steps: Sequence[RelationStep]) -> bool:
        """Whether what a node has by a path is all there is: from head to tail, or if nearly all have one."""
        schema = self.vocabulary.schema
        return all(
            not is_backward(step)
            or (schema.repeated[step] <= SPARE * schema.nodes[step] and self._chance(step) <= CHANCE)
            for step in steps
        )

    def _chance(self, step: RelationStep) -> float:
        """The probability that so many edges lead to different things, of all that they may lead to."""
        type_, count = self.vocabulary.end_types[step], int(self.vocabulary.schema.nodes[step])
        among = max(count, len(self.executor.members(OfType(type_))) if type_ >= 0 else 0)
        return float(np.prod(1 - np.arange(count) / among))

    def _other_ends(self, node: int, steps: tuple[RelationStep, ...], other: int) -> tuple[int, ...]:
        """Triples that contradict a path: where it leads from either end, or where both ends lead to."""
        back = way_back(steps)
        if self._lies_within(walk(Anchor(node), steps), other):
            return ()
        for end, way in ((node, steps), (other, back)):
            is_value = bool(self.vocabulary.graph.values.kind[end])
            is_told = not is_value and self._tells(way[-1:] if len(way) > 1 else way)
            if is_told and (found := self._complete(Anchor(end), way)):
                return found
        if len(steps) > 1 and self._tells((steps[0], back[0])):
            mine = self._complete(Anchor(node), steps[:1])
            theirs = self._complete(Anchor(other), back[:1])
            return (*mine, *theirs) if mine and theirs else ()
        return ()

    def _lies_within(self, way: Part, other: int) -> bool:
        """Whether what is recorded lies in what is said, or this in that: Athens is a part of Greece."""
        recorded, labels = self.executor.members(way), self.vocabulary.relations
        for step in self.executor.steps(np.array([other], np.int64)):
            part: Part = Anchor(other)
            for _ in range(MOST_WITHIN if not _WITHIN.isdisjoint(labels[relation_of(step)].split()) else 0):
                part = Walk(part, step)
                if len(intersection(self.executor.members(part), recorded)):
                    return True
        return False

    def _only(
        self, read: PieceReading, statement: Statement, triples: tuple[int, ...]
    ) -> tuple[Finding, tuple[int, ...]]:
        """Otherwise where the graph has others beside the *only* one: *X is the only director of Y*."""
        items = read.piece.items
        if len(statement.steps) != 1 or len(items) != 2:
            return "there", triples
        claimed = np.array(sorted({c.node for i in self.claim.items for c in i.candidates[:1]}), np.int64)
        is_first = any(c.node == statement.node for c in items[0].candidates)
        for hit in ONLY.finditer(self.claim.text):
            after = sorted((i for i in items if i.start >= hit.end()), key=lambda i: i.start)
            before = sorted((i for i in items if i.stop <= hit.start()), key=lambda i: i.start)
            qualified = before[-1:] if hit["the"] else after[:1]
            if qualified:
                back = (qualified[0] is items[0]) == is_first
                reached = statement.walk(back=back)
                own = np.array([statement.node if back else statement.other], np.int64)
                rivals = difference(difference(self.executor.members(reached), claimed), own)
                if len(rivals):
                    shown = rivals[:MOST_SHOWN].tolist()
                    return "otherwise", tuple(t for n in shown for t in prove(self.executor, reached, n))
        return "there", triples


def _wider(part: Part) -> tuple[Part, ...]:
    """The sets that a set is narrowed from."""
    match part:
        case Both(left, right):
            return left, right
        case Without(left):
            return (left,)
        case Qualified(source, step):
            return (Walk(source, step),)
        case Compared(source) | Counted(source) | Extreme(source) | Related(source):
            return (source,)
        case _:
            return ()


def _way(part: Part) -> tuple[Part, tuple[RelationStep, ...]]:
    """Where steps start, and the steps from there."""
    steps: tuple[RelationStep, ...] = ()
    while isinstance(part, Walk):
        part, steps = part.source, (part.step, *steps)
    return part, steps


def _content(label: str) -> frozenset[str]:
    """The words of a label in the singular, without auxiliaries."""
    return frozenset(singular(w) for w in label.split() if w not in ("is", "are", "has", "does", "do", "a"))


def _is_part(item: Item) -> bool:
    """Whether an item is by a part of a name, or misspelt."""
    if not item.candidates or item.value is not None or item.candidates[0].how < PARTIAL:
        return False
    code = any(c.isdigit() for c in item.text) and item.candidates[0].how == PARTIAL
    return not code or len(item.candidates) > 1


@dataclass(frozen=True, slots=True)
class Stated:
    """A part of a claim: a query that finds something if it is so, or asks for a `number` that it names.

    Without a query the graph has nothing of the kind.
    """

    query: Query | None
    denied: bool = False
    sign: Sign = "="
    number: float | None = None


def judge_stated(
    reader: QuestionReader, claim: str, stated: Sequence[Stated], *, closed: bool
) -> tuple[ClaimPart, ...]:
    """The verdicts of the parts of a claim that somebody else read."""
    text, vocabulary, parts = ClaimText(claim, 0, denied=False), reader.vocabulary, list[ClaimPart]()
    checker = Checker(vocabulary, reader.edge_keys, text, Executor(reader.graph))
    for each in stated:
        found: tuple[Finding, tuple[int, ...]] = "unknown", ()
        with suppress(OverBudget):
            if each.query is not None and each.number is not None:
                found = checker.check_amount(each.query, each.sign, each.number)
            elif each.query is not None:
                found = checker.check_asked(each.query, None)
        part = judge_part(text, vocabulary, Checked(0, len(claim), *found, each.denied), closed=closed)
        said = claim if each.query is None or len(stated) == 1 else say(each.query, vocabulary)
        parts.append(replace(part, text=said.removeprefix("whether ")))
    return tuple(parts)


_BY_SO_MUCH = re.compile(
    r"\s*(?:[a-z]+\s+){0,2}?(?:more|less|fewer|[a-z]{2,}er)\b[^,;]*\bthan\b", re.IGNORECASE
)
"""What follows the number of *holds 40 more people than the hall*: it is that of a difference."""


def judge_part(claim: ClaimText, vocabulary: Vocabulary, checked: Checked, *, closed: bool) -> ClaimPart:
    """The verdict of a part, with its negations."""
    finding, negated = checked.finding, checked.negated
    if closed and (finding == "unknown" or (finding == "unread" and not negated)):
        finding = "otherwise"
    verdict: Verdict = "not_enough_info"
    if finding in ("there", "otherwise"):
        verdict = "supported" if (finding == "there") != negated else "refuted"
    text = claim.text[max(checked.start, claim.frame) : checked.stop].strip(" ,.;:!?")
    if text[-1:].isdigit() and _BY_SO_MUCH.match(claim.text, checked.stop):
        verdict = "not_enough_info"
    triples = (*checked.names, *(triple_text(vocabulary.graph, t) for t in checked.triples))
    return ClaimPart(text, verdict, triples, checked.triples)


def judge_claim(parts: Iterable[ClaimPart], *, denied: bool) -> Verdict:
    """Refuted if a part is, supported if all are; turned around if the whole is denied."""
    verdicts = {part.verdict for part in parts}
    if not verdicts or verdicts == {"supported"}:
        verdict: Verdict = "supported" if verdicts else "not_enough_info"
    else:
        verdict = "refuted" if "refuted" in verdicts else "not_enough_info"
    if denied and verdict != "not_enough_info":
        return "refuted" if verdict == "supported" else "supported"
    return verdict


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

    def _verify_names(self, claim: str, asked: AskedNames, *, closed: bool) -> Verification | None:
        """The verdict on a claim of what a thing is called; None where sources do not tell."""
        is_so, names = verdict_of(Executor(self.graph), asked)
        if is_so is None and not closed:
            return None
        verdict: Verdict = "supported" if bool(is_so) != asked.denied else "refuted"
        triples = tuple(dict.fromkeys(name.said_of(self.graph, node) for node, name in names))
        ids = tuple(name.triple for _, name in names if name.triple >= 0)
        citations = (Citation(verdict, triples, ids, verdict),) if triples else ()
        step = Step.taken(
            "parts", {"parts": [{"text": claim, "reading": say(asked.query, self.reader.vocabulary)}]}
        )
        part = ClaimPart(claim, verdict, triples, ids)
        return Verification(claim, verdict, (part,), citations, method=self.name, steps=(step,))

    def _verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Verify one claim without a model."""
        began = perf_counter()
        corrected, mentions, respelt = self.reader.spell(claim)
        asked = names_claimed(self.reader, corrected)
        if asked is not None and (named := self._verify_names(claim, asked, closed=closed_world)):
            total = round(1000 * (perf_counter() - began), 3)
            return replace(named, timings_ms={"total": total}, id=id, notes=spelling_notes(respelt))
        text = self._without_counted(with_items(frame_of(corrected), self._of_data(mentions)))
        entities, link_ended = self.graph.entities, perf_counter()
        linked = [{"text": i.text, "entities": [entities[c.node] for c in i.candidates]} for i in text.items]
        checker = Checker(self.reader.vocabulary, self.reader.edge_keys, text, Executor(self.graph))
        checked = self._checked(checker)
        parts = [judge_part(text, self.reader.vocabulary, p, closed=closed_world) for p in checked]
        if not parts:
            parts = [ClaimPart(claim, "refuted" if closed_world else "not_enough_info")]
        verdict = judge_claim(parts, denied=text.denied)
        missing = [p.missing for p in checked if p.missing] if checked else [NOTHING_NAMED]
        notes = tuple(dict.fromkeys(missing)) if verdict == "not_enough_info" else ()
        ended = perf_counter()
        timings = {"link": link_ended - began, "check": ended - link_ended, "total": ended - began}
        citations = tuple(
            replace(cite(self.graph, p.verdict, p.triple_ids), triples=p.triples) for p in parts if p.triples
        )
        times = {stage: round(1000 * s, 3) for stage, s in timings.items()}
        spelt = {"respelt": [list(pair) for pair in respelt]} if respelt else {}
        steps = (Step.taken("link", {"mentions": linked, **spelt}), self._parts_step(checked))
        return Verification(
            claim, verdict, tuple(parts), citations, method=self.name, timings_ms=times, steps=steps, id=id,
            complete=not checker.over_budget, notes=(*spelling_notes(respelt), *notes),
        )  # fmt: skip

    def _of_data(self, mentions: Sequence[Mention]) -> list[Mention]:
        """What is named without the types and relations that an ontology declares, if more is named."""
        graph, declaring = self.graph, self._declaring

        def is_declared(node: int) -> bool:
            edges = [side.relation[slice(*side.span(node))] for side in (graph.out, graph.into)]
            return any(np.isin(e, declaring).any() for e in edges)

        rest = [
            replace(m, candidates=tuple(c for c in m.candidates if not is_declared(c.node))) for m in mentions
        ]
        return rest if declaring and any(m.candidates for m in rest) else list(mentions)

    def _without_counted(self, claim: ClaimText) -> ClaimText:
        """A claim in which a type right behind a number is no thing that it names: *sails four boats*."""
        types = set(map(singular_noun, self.reader.vocabulary.types))
        counted = {
            item
            for number, item in pairwise(claim.items)
            if number.value is not None
            and claim.text[number.stop : item.start] == " "
            and singular_noun(item.text.lower()) in types
        }
        return replace(claim, items=tuple(i for i in claim.items if i not in counted)) if counted else claim

    @cached_property
    def _declaring(self) -> list[int]:
        """The relations between types and relations: *subclass of*, *domain*."""
        return [r for r, name in enumerate(self.graph.relations) if name in _DECLARING]

    def _checked(self, checker: Checker) -> list[Checked]:
        """The parts of a claim as the graph has them; the whole of it where its parts leave it open."""
        checked = self._by_parts(checker)
        parts = [judge_part(checker.claim, self.reader.vocabulary, c, closed=False) for c in checked]
        is_open = judge_claim(parts, denied=False) == "not_enough_info"
        whole = self._asked(checker) if is_open else None
        return checked if whole is None else [whole]

    def _by_parts(self, checker: Checker) -> list[Checked]:
        """The parts of a claim as the graph has them; words in none of them are parts of their own."""
        text = checker.claim
        said = quantified(text, self.reader.vocabulary.words)
        if said is not None:
            kind = read_kind(self.reader, said)
            is_open = kind.told is None and any(kind_words for kind_words, _ in said.ways)
            kind = self._kind(text, said) if is_open else kind
            if kind.told is not None or said.number is None:
                return [self._check_kind(checker, said, kind)]
        read = self._read(text)
        if said is not None and said.number and len(read) > 1:
            return [self._check_kind(checker, said, KindReading())]
        checked = _best_of_groups([self._check(checker, options, readings) for options, readings in read])
        for start, stop in left_out(text, [p for options, _ in read for p in options]):
            missing = f"I cannot place {quoted([text.text[start:stop]])}"
            checked.append(Checked(start, stop, "unknown", missing=missing))
        return self._with_comparisons(text, _of_one_thing(checker, _of_open_clauses(text, checked)))

    def _with_comparisons(self, claim: ClaimText, checked: list[Checked]) -> list[Checked]:
        """The parts, and words that compare (*pays more … than*) where none of them compares anything."""
        statements = [c.read.statement for c in checked if c.read is not None]
        steps = [step for s in statements for step in s.relation_steps]
        labels = " ".join(self.reader.vocabulary.relations[relation_of(step)] for step in steps).split()
        spans = [(i.start, i.stop) for i in claim.items]
        hits = [
            hit
            for hit in than_words(claim.text, claim.frame)
            if hit["than"]
            and hit["than"].lower() not in labels
            and not any(start <= hit.start() < stop for start, stop in spans)
        ]
        if not hits or any(s.kind in ("compare", "more", "value", "count", "edge") for s in statements):
            return checked
        start, stop = hits[0].span()
        left = Checked(start, stop, "unknown", missing=f"I cannot place {quoted([hits[0][0]])}")
        # What is said with words that compare is not told without them.
        return [left, *(c for c in checked if not c.start <= start < c.stop)]

    def _asked(self, checker: Checker) -> Checked | None:
        """A claim that is read whole, as a question that it answers; None where none is read surely."""
        claim = checker.claim
        for asked in asked_by(claim, self.reader.vocabulary.words):
            read = read_asked(self.reader, asked)
            if read is None:
                continue
            relations = (self.reader.vocabulary.relations[relation_of(step)] for step in steps_of(read.query))
            labels = " ".join(relations).split()
            if not_happened(claim.text, [(i.start, i.stop) for i in claim.items], labels):
                return None
            try:
                if read.than is not None:
                    finding, triples = checker.check_both(read.query, read.than, asked.sign)
                else:
                    finding, triples = checker.check_asked(read.query, asked.number)
            except OverBudget:
                checker.over_budget.append(read.query)
                return None
            is_told = finding != "otherwise" or checker.is_of_named(read.query.part, triples)
            if is_told and (
                (finding == "there" and read.supports) or (finding == "otherwise" and read.refutes)
            ):
                return Checked(claim.frame, len(claim.text), finding, triples, asked=read.query)
        return None

    def _kind(self, claim: ClaimText, said: Quantified) -> KindReading:
        """The sets that a claim of a kind speaks of, where it is read as a statement: *(some) … are*."""
        if any(i.stop <= said.start and i.value is None for i in claim.items):
            return KindReading()  # it is of an object: *U1 serves all stations*
        kind_words = said.ways[0][0]
        kind = kind_of(self.reader, kind_words)
        if isinstance(kind, OfType):
            within = said.start, said.start + len(kind_words)
            items = tuple(i for i in claim.items if i.start >= within[1] or i.stop <= within[0])
            claim = replace(claim, items=items)
        start = said.start if said.start < max((i.stop for i in claim.items), default=0) else claim.frame
        read = self._read(
            replace(claim, frame=start, items=tuple(i for i in claim.items if i.start >= start))
        )
        likeliest = read[0][1][0] if len(read) == 1 and read[0][1] else None
        if likeliest is None or not _is_likely(likeliest) or likeliest.piece.negated:
            return KindReading(unplaced=likeliest.unplaced if likeliest else ())
        statement = likeliest.statement
        match statement.kind, statement.steps:
            case "path", steps if kind_words.lower() == likeliest.piece.items[0].text.lower():
                named = [Anchor(c.node) for c in likeliest.piece.items[0].candidates]
                return KindReading(reduce(Either, named), walk(Anchor(statement.other), way_back(steps)))
            case "path", (first, second):
                kind = Walk(Anchor(statement.node), first)
                return KindReading(kind, Walk(Anchor(statement.other), opposite(second)))
            case "path", (step,):
                alike = [s.node for s in likeliest.statements if s.other == statement.other]
                named = [Anchor(node) for node in dict.fromkeys(alike)]
                return KindReading(reduce(Either, named), Walk(Anchor(statement.other), opposite(step)))
            case "exists", _ if kind is not None:
                return KindReading(kind, statement.walk())
            case _:
                return KindReading()

    def _check_kind(self, checker: Checker, said: Quantified, read: KindReading) -> Checked:
        """A claim of a kind as the graph has it."""
        text = checker.claim
        try:
            finding, triples = checker.check_kind(said, read)
        except OverBudget:
            checker.over_budget.append(said)
            finding, triples = "unknown", ()
        missing, names = "", ()
        if said.called is not None and finding in ("there", "otherwise"):
            called = ((c.node, n) for c in said.called.candidates for n in names_of(self.graph, c.node))
            same = normalise(said.called.text)
            names = tuple(n.said_of(self.graph, node) for node, n in called if normalise(n.text) == same)
        if read.kind is None:
            missing = f"I cannot place {quoted(read.unplaced or [text.text[text.frame :].strip()])}"
        elif finding == "unknown":
            kind = say(Query("list", read.kind), self.reader.vocabulary)
            missing = f"The graph does not tell it of each of {kind}"
        return Checked(
            text.frame, len(text.text), finding, triples, said.denied, missing=missing, names=names
        )

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
        if finding == "otherwise" and len(read.piece.items) < max(len(r.piece.items) for r in readings):
            return replace(blank, missing=self._open(readings[-1]), read=read)  # it leaves a thing out
        relations = self.reader.vocabulary.relations
        labels = " ".join(relations[relation_of(step)] for step in read.statement.relation_steps)
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
        relations = self.reader.vocabulary.relations
        named = " of ".join(relations[relation_of(step)] for step in reversed(steps)) or "type"
        return f'The graph does not record what "{named}" of {self.graph.labels[node]} would have to be'

    def _parts_step(self, parts: Sequence[Checked]) -> Step:
        rows = [
            {
                "text": p.read.piece.text,
                "relations": [
                    self.graph.relations[relation_of(s)] + (" (inverse)" if is_backward(s) else "")
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
        rows += [
            {"text": "", "reading": say(p.asked, self.reader.vocabulary), "found": p.finding}
            for p in parts
            if p.asked is not None
        ]
        return Step.taken("parts", {"parts": rows})


def _is_likely(read: PieceReading) -> bool:
    """Whether a piece is read surely enough to be checked: all its words have a place, too."""
    is_single = read.statement.kind in ("type", "exists")
    if is_single and read.named < LEAST_SPELT and 1 - read.none < SURE_MEANING:
        return False
    return not read.unplaced and read.probability >= LEAST_MEANING


def _of_open_clauses(claim: ClaimText, checked: Sequence[Checked]) -> list[Checked]:
    """The parts; a value that goes on about what is left open may be of that: *worked for X since 2017*."""
    parts = list(checked)
    for at, (before, part) in enumerate(pairwise(parts), 1):
        is_of_value = part.read is not None and part.read.statement.kind == "value"
        goes_on = part.start == before.stop and JOINT.match(claim.text, part.start) is None
        if before.finding == "unknown" and part.finding == "otherwise" and is_of_value and goes_on:
            parts[at] = replace(part, finding="unknown", triples=())
    return parts


def _of_one_thing(checker: Checker, checked: list[Checked]) -> list[Checked]:
    """The parts; what is so of several things of one name is so of none: *the apprentice Sean Walsh*."""
    for item in (i for i in checker.claim.items if len(i.candidates) > 1):
        named = {c.node for c in item.candidates}
        parts = [
            part
            for part in checked
            if part.finding == "there" and part.read is not None and item in part.read.piece.items
        ]
        of_which = [checker.named_in(part.read.statements, named) for part in parts if part.read is not None]
        if len(parts) > 1 and not set.intersection(*of_which):
            missing = f"{quoted([item.text])} may be one or another"
            checked = [replace(p, finding="unknown", missing=missing) if p in parts else p for p in checked]
    return checked


def _best_of_groups(parts: Sequence[Checked]) -> list[Checked]:
    """The parts, of those of which one is enough the best one."""
    order = {"there": 0, "unknown": 1, "unread": 2, "otherwise": 3}
    best: dict[int, Checked] = {}
    for part in parts:
        best_part = best.get(part.group)
        if part.group >= 0 and (best_part is None or order[part.finding] < order[best_part.finding]):
            best[part.group] = part
    return [p for p in parts if p.group < 0 or best[p.group] is p]
