"""Whether the facts that a model names come to the number that it states.

A number is derived if it stands in one of them (*148 min*), if as many things stand in a list that is whole,
if it is the sum, the average or the difference of their values, or if a query graph of the question gives it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from clew.graph.graph import Graph, ValueKind
from clew.methods.asked import adds_up, counts, says
from clew.methods.evidence import Fact, ReadEvidence, prove_stated
from clew.text.labels import readable

NUMBER = re.compile(r"[+\-\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_STARTS_WITH_DIGIT = re.compile(r"[+\-\u2212]?\d")
DAYS_A_YEAR = 365.2425
SAME = 1e-9
MOST_LISTS = 8
"""Lists of the facts whose unions, intersections and differences are counted."""


def plain_number(text: str) -> str:
    """A number as it is written, without groups and with a plain minus."""
    return text.replace(",", "").replace("\u2212", "-")


def derived_number(evidence: ReadEvidence, stated: str, cited: Sequence[Fact]) -> tuple[int, ...] | str:
    """The triples that come to a stated number, or why none do."""
    number, question = float(stated), evidence.question
    named = tuple(dict.fromkeys(triple for fact in cited for triple in fact.all_triples))
    decided = evidence.decides(stated, frozenset(named)) if counts(question) else ""
    if decided:
        return says(decided) if isinstance(decided, str) else tuple(dict.fromkeys((*named, *decided)))
    if not cited:
        return "it names no facts for it"
    holders = [node for node in evidence.nodes_of(cited) if _holds(evidence, node, number)]
    for proof in prove_stated(evidence, holders, cited).values():
        return proof
    if counts(question) and number in set(_counts(evidence, cited)):
        return named
    values = _values(evidence.graph, named)
    if len(values) > 1 and counts(question):
        results = [sum(values), sum(values) / len(values)] if adds_up(question) else []
        results += [abs(values[0] - values[1])] if len(values) == 2 else []
        decimals = len(stated.partition(".")[2])
        if any(abs(round(result, decimals) - number) <= SAME * max(1.0, abs(number)) for result in results):
            return named
    return "the facts that it names do not come to it"


def _holds(evidence: ReadEvidence, node: int, number: float) -> bool:
    """Whether a value of the facts, with its unit, is or begins with a number (*2010* of *2010-07-16*)."""
    label = readable(evidence.graph.labels[node])
    if node in evidence.named_entities or not _STARTS_WITH_DIGIT.match(label):
        return False
    first = NUMBER.match(label)
    return first is not None and float(plain_number(first[0])) == number


def _values(graph: Graph, triples: Sequence[int]) -> list[float]:
    """The values of several triples of one relation, dates in years; empty where they are of several."""
    ends = [graph.triple(triple)[1:] for triple in triples]
    ends = [(relation, tail) for relation, tail in ends if graph.values.kind[tail] != ValueKind.NONE]
    if len({relation for relation, _ in ends}) != 1:
        return []
    kinds, values = graph.values.kind, graph.values.value
    return [float(values[tail]) / (DAYS_A_YEAR if kinds[tail] == ValueKind.DATE else 1.0) for _, tail in ends]


def _counts(evidence: ReadEvidence, cited: Sequence[Fact]) -> Iterator[int]:
    """How many things the facts list: each list, and several together, if they are whole."""
    lists = [set(fact.ends) for fact in cited if fact.ends and not fact.cut]
    yield from (fact.total for fact in cited if fact.cut and fact.total)
    single = [fact.triples[0] for fact in cited if len(fact.triples) == 1 and not fact.ends]
    lists += _lists_of(evidence, single)
    yield from map(len, lists)
    for first, second in combinations(lists[:MOST_LISTS], 2):
        yield from (len(first | second), len(first & second), len(first - second), len(second - first))
    if lists:
        yield len(set[int]().union(*lists))


def _lists_of(evidence: ReadEvidence, triples: Sequence[int]) -> list[set[int]]:
    """What single triples list: the whole list at a thing that they share, else all that are named."""
    graph = evidence.graph
    parts = [graph.triple(triple) for triple in triples]
    lists: list[set[int]] = []
    for relation in {relation for _, relation, _ in parts}:
        heads, tails = ({p[side] for p in parts if p[1] == relation} for side in (0, 2))
        for near, far, side in ((tails, heads, graph.into), (heads, tails, graph.out)):
            if len(near) == 1 and (not evidence.known_proofs or near <= evidence.known_proofs.keys()):
                low, high = side.relation_span(next(iter(near)), relation)
                whole = set(side.neighbour[low:high].tolist())
                lists += [whole] if whole == far else []
            elif len(near) == len(far) > 1 and side is graph.out:
                lists.append(far)
    return lists
