"""What a graph says of each part of a claim, and of the whole.

A part is there, or the graph records something else instead, or it is not recorded. A negation turns the
first two around. In a closed world what is not recorded is not so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clew.claims.claim_readings import PieceReading
from clew.claims.claim_text import EXCEPTED, NOBODY, ClaimText, Item
from clew.claims.claim_values import ClaimedValue
from clew.claims.meanings import ClaimMeaning
from clew.graph.graph import Graph
from clew.graph.named import triple_text
from clew.query.prove import triple_of
from clew.query.vocabulary import Vocabulary
from clew.reading.mentions import PARTIAL
from clew.types import ClaimPart, Verdict

Finding = Literal["there", "otherwise", "unknown", "unread"]
"""`unread`: the words name nothing that the graph records, so that it is silent of what they mean."""
Int = NDArray[np.int64]

LEAST_OTHERWISE = 0.7
"""Least probability of the meanings together that are not so, for a part to be not so."""
NAMES_MEANING = 0.75
"""Likeness from which words are the name of what a meaning says."""
CLOSE_SHARE = 0.3
"""Share of a meaning, beside that of the likeliest, from which it may be what was meant."""
MOST_MIDDLES = 1000
MOST_SHOWN_TRIPLES = 20
"""Triples that a part shows of those that say otherwise, or of many."""
SPARE = 0.02
"""Share of the nodes of an end that may have it several times, for what one has to be all."""
LEAST_ENDS = 5
"""Nodes of such an end below which it shows nothing that none of them has it several times."""
_ONLY = re.compile(
    r"\b(?P<the>(?:the|its|his|her|their) )?(?:only|solely|exclusively|sole|alone"
    rf"|{EXCEPTED.pattern})\b",
    re.IGNORECASE,
)
"""Words that say that there are no others; after *the* it is what comes before that is the only one."""
_ALL = re.compile(r"\b(?:all|every|each|always)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Checked:
    """A part of a claim as the graph has it: its place in the text, what was found, and its triples.

    `group` is that of its piece; `read` how it was read, None where it means nothing here.
    """

    start: int
    stop: int
    finding: Finding
    triples: tuple[int, ...] = ()
    negated: bool = False
    group: int = -1
    read: PieceReading | None = None


@dataclass(frozen=True, eq=False)
class Checker:
    """Checks what pieces of a claim mean against one graph."""

    vocabulary: Vocabulary
    claim: ClaimText
    topic_nodes: set[int] = field(default_factory=set[int])
    """Nodes that some part was found to be about."""

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.vocabulary.graph

    def check(self, read: PieceReading) -> Checked:
        """What the graph has of one piece."""
        piece, meaning = read.piece, read.meaning
        finding, triples = self._find(meaning)
        for alternative in read.meanings[1:] if finding != "there" else ():
            if self._find(alternative)[0] == "there":
                meaning, (finding, triples) = alternative, self._find(alternative)
                break
        if finding == "there":
            self.topic_nodes.update((meaning.node, meaning.other_node))
        # A part of a name is enough beside what the graph has next to it, and nowhere else.
        partial_items = (item for item in piece.items if _is_part(item))
        doubtful = any(item.candidates[0].node not in self.topic_nodes for item in partial_items)
        if finding == "otherwise" and (doubtful or not self._surely_otherwise(read)):
            finding, triples = "unknown", ()
        if finding == "there" and meaning.kind == "path":
            finding, triples = self._check_only(read, meaning, triples)
        if meaning.kind == "path" and len(meaning.steps) > 1 and _ALL.search(piece.text):
            finding, triples = self._check_all(meaning)
        return Checked(piece.start, piece.stop, finding, triples, piece.negated, piece.group, read)

    def _surely_otherwise(self, read: PieceReading) -> bool:
        """Whether what is not so was likely meant: by the meanings together that are not so."""
        probability = read.probability
        for meaning, share in read.other_meanings:
            if share >= CLOSE_SHARE * read.probability:
                finding = self._find(meaning)[0]
                probability += share * (finding == "otherwise")
                if finding == "there" and read.name_likeness < NAMES_MEANING:
                    return False
        return probability >= LEAST_OTHERWISE

    def _find(self, meaning: ClaimMeaning) -> tuple[Finding, tuple[int, ...]]:
        match meaning.kind:
            case "path":
                proof = self._proof(meaning.node, meaning.steps, meaning.other_node)
                return ("there", proof) if proof else self._path_otherwise(meaning)
            case "value":
                return self._value(meaning)
            case "count":
                return self._count(meaning)
            case "compare":
                return self._compare(meaning)
            case "more":
                return self._compare_counts(meaning)
            case "type":
                types = self.vocabulary.types_of(meaning.node).tolist()
                return ("there" if meaning.steps[0] in types else "otherwise" if types else "unknown"), ()
            case "exists":
                triples = self.recorded(meaning.node, meaning.steps)
                return ("there", triples) if triples else ("unknown", ())

    def walk(self, node: int, step: int) -> Int:
        """The nodes to which a step leads, ascending."""
        side = self.graph.out if step % 2 == 0 else self.graph.into
        low, high = side.relation_span(node, step // 2)
        return side.neighbour[low:high].astype(np.int64)

    def _proof(self, node: int, steps: Sequence[int], target: int) -> tuple[int, ...]:
        """Triples of a path from one node to another; none if the graph has none."""
        reached = self.walk(node, steps[0])
        if len(steps) == 1:
            return (triple_of(self.graph, node, steps[0], target),) if target in reached else ()
        for middle in np.intersect1d(reached, self.walk(target, steps[1] ^ 1)).tolist():
            if middle not in (node, target):
                return (
                    triple_of(self.graph, node, steps[0], middle),
                    triple_of(self.graph, middle, steps[1], target),
                )
        return ()

    def recorded(self, node: int, steps: Sequence[int]) -> tuple[int, ...]:
        """Triples of a path from a node, whatever it ends at; none if some node on the way records none."""
        triples: list[int] = []
        for middle in self.walk(node, steps[0])[:MOST_MIDDLES].tolist():
            triples.append(triple_of(self.graph, node, steps[0], middle))
            if len(steps) > 1:
                ends = self.walk(middle, steps[1])
                if not len(ends):
                    return ()
                triples += [
                    triple_of(self.graph, middle, steps[1], n) for n in ends[:MOST_SHOWN_TRIPLES].tolist()
                ]
        return tuple(dict.fromkeys(triples))[: 2 * MOST_SHOWN_TRIPLES]

    def tells(self, steps: Sequence[int]) -> bool:
        """Whether what a node has by a path is all there is: from head to tail, or if nearly all have one."""
        schema = self.vocabulary.schema
        return all(
            s % 2 == 0 or (schema.nodes[s] >= LEAST_ENDS and schema.repeated[s] <= SPARE * schema.nodes[s])
            for s in steps
        )

    def _path_otherwise(self, meaning: ClaimMeaning) -> tuple[Finding, tuple[int, ...]]:
        """Triples that contradict a path: where it leads from either end, or where both ends lead to."""
        a, b, steps = meaning.node, meaning.other_node, meaning.steps
        reverse_steps = tuple(s ^ 1 for s in reversed(steps))
        contradicting: tuple[int, ...] = ()
        if self.tells(steps if len(steps) == 1 else steps[1:]):
            contradicting = self.recorded(a, steps)
        if not contradicting and self.tells(reverse_steps if len(steps) == 1 else reverse_steps[1:]):
            contradicting = self.recorded(b, reverse_steps)
        if not contradicting and len(steps) > 1 and self.tells(steps[:1]) and self.tells(reverse_steps[:1]):
            mine, theirs = self.recorded(a, steps[:1]), self.recorded(b, reverse_steps[:1])
            contradicting = (*mine, *theirs) if mine and theirs else ()
        return ("otherwise", contradicting) if contradicting else ("unknown", ())

    def _ends(self, meaning: ClaimMeaning) -> list[tuple[int, tuple[int, ...]]]:
        """The nodes before the last step of a meaning, each with the triples that lead there."""
        if len(meaning.steps) == 1:
            return [(meaning.node, ())]
        step = meaning.steps[0]
        return [
            (int(n), (triple_of(self.graph, meaning.node, step, int(n)),))
            for n in self.walk(meaning.node, step)[:MOST_MIDDLES]
        ]

    def _value(self, meaning: ClaimMeaning) -> tuple[Finding, tuple[int, ...]]:
        value, step = meaning.value, meaning.steps[-1]
        if value is None:
            return "unknown", ()
        contradicting: list[int] = []
        silent = False
        for node, before in self._ends(meaning):
            reached = self.walk(node, step)
            for end in reached.tolist():
                path = (*before, triple_of(self.graph, node, step, end))
                if self._holds(value, end, step):
                    return "there", path
                contradicting += path
            silent |= not len(reached)
        triples = tuple(dict.fromkeys(contradicting))[:MOST_SHOWN_TRIPLES]
        return ("otherwise", triples) if triples and not silent else ("unknown", ())

    def _holds(self, value: ClaimedValue, node: int, step: int) -> bool:
        values = self.graph.values
        factor = value.factor(self.vocabulary.relations[step // 2].split())
        return value.holds(int(values.kind[node]), float(values.value[node]), factor)

    def _count(self, meaning: ClaimMeaning) -> tuple[Finding, tuple[int, ...]]:
        value = meaning.value
        if value is None or value.numbers is None:
            return "unknown", ()
        count = len(self.walk(meaning.node, meaning.steps[0]))
        if not count:
            return "unknown", ()
        finding = "there" if value.numbers.hold(count) else "otherwise"
        return finding, self.recorded(meaning.node, meaning.steps)

    def _compare(self, meaning: ClaimMeaning) -> tuple[Finding, tuple[int, ...]]:
        step, sign = meaning.steps[0], 1 if meaning.sign == ">" else -1
        best: list[tuple[float, int]] = []
        for node in (meaning.node, meaning.other_node):
            values = self.graph.values
            ends = [n for n in self.walk(node, step).tolist() if values.kind[n]]
            if not ends:
                return "unknown", ()
            best_end = max(ends, key=lambda n: sign * float(values.value[n]))
            best.append((float(values.value[best_end]), triple_of(self.graph, node, step, best_end)))
        holds = sign * best[0][0] > sign * best[1][0]
        return ("there" if holds else "otherwise"), tuple(t for _, t in best)

    def _compare_counts(self, meaning: ClaimMeaning) -> tuple[Finding, tuple[int, ...]]:
        """*More films than*: of how many nodes a step leads to."""
        mine, theirs = (len(self.walk(node, meaning.steps[0])) for node in (meaning.node, meaning.other_node))
        if not mine and not theirs:
            return "unknown", ()
        holds = mine > theirs if meaning.sign == ">" else mine < theirs
        triples_by_node = (self.recorded(node, meaning.steps) for node in (meaning.node, meaning.other_node))
        triples = tuple(
            triple for node_triples in triples_by_node for triple in node_triples[:MOST_SHOWN_TRIPLES]
        )
        return ("there" if holds else "otherwise"), triples

    def _check_only(
        self, read: PieceReading, meaning: ClaimMeaning, triples: tuple[int, ...]
    ) -> tuple[Finding, tuple[int, ...]]:
        """Otherwise where the graph has others beside the *only* one: *X is the only director of Y*."""
        items = read.piece.items
        if len(meaning.steps) != 1 or len(items) != 2:
            return "there", triples
        claimed_nodes = {c.node for i in self.claim.items for c in i.candidates[:1]}
        is_first = any(c.node == meaning.node for c in items[0].candidates)
        for hit in _ONLY.finditer(self.claim.text):
            after = sorted((i for i in items if i.start >= hit.end()), key=lambda i: i.start)
            before = sorted((i for i in items if i.stop <= hit.start()), key=lambda i: i.start)
            qualified = before[-1:] if hit["the"] else after[:1]
            if not qualified:
                continue
            claimed_node, shared_node, step = meaning.node, meaning.other_node, meaning.steps[0] ^ 1
            if (qualified[0] is items[0]) != is_first:
                claimed_node, shared_node, step = meaning.other_node, meaning.node, meaning.steps[0]
            rivals = [
                n for n in self.walk(shared_node, step).tolist() if n not in claimed_nodes | {claimed_node}
            ]
            if rivals:
                examples = rivals[:MOST_SHOWN_TRIPLES]
                return "otherwise", tuple(triple_of(self.graph, shared_node, step, n) for n in examples)
        return "there", triples

    def _check_all(self, meaning: ClaimMeaning) -> tuple[Finding, tuple[int, ...]]:
        """*All films of X star Y*: every node in the middle of a path leads to its end."""
        first, second = meaning.steps
        middles = self.walk(meaning.node, first)[:MOST_MIDDLES].tolist()
        triples: list[int] = []
        for middle in middles:
            triple = triple_of(self.graph, meaning.node, first, middle)
            if meaning.other_node not in self.walk(middle, second):
                contradicting = self.recorded(middle, (second,))
                return ("otherwise", (triple, *contradicting)) if contradicting else ("unknown", ())
            triples += [triple, triple_of(self.graph, middle, second, meaning.other_node)]
        return ("there", tuple(triples[:MOST_SHOWN_TRIPLES])) if middles else ("unknown", ())


def _is_part(item: Item) -> bool:
    """Whether an item is by a part of a name, or misspelt."""
    if not item.candidates or item.value is not None or item.candidates[0].how < PARTIAL:
        return False
    code = any(c.isdigit() for c in item.text) and item.candidates[0].how == PARTIAL
    return not code or len(item.candidates) > 1


def judge_part(claim: ClaimText, graph: Graph, checked: Checked, *, closed: bool) -> ClaimPart:
    """The verdict of a part, with its negations."""
    finding, negated = checked.finding, checked.negated
    if closed and (finding == "unknown" or (finding == "unread" and not negated)):
        finding = "otherwise"
    verdict: Verdict = "not_enough_info"
    if finding in ("there", "otherwise"):
        verdict = "supported" if (finding == "there") != negated else "refuted"
    text = claim.text[max(checked.start, claim.frame) : checked.stop].strip(" ,.;:!?")
    return ClaimPart(text, verdict, tuple(triple_text(graph, t) for t in checked.triples), checked.triples)


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


def says_nobody(claim: ClaimText) -> bool:
    """Whether a claim says *nobody*, other than *nobody but*."""
    return NOBODY.search(EXCEPTED.sub("", claim.text), claim.frame) is not None
