"""Proofs: the triples that show why a node is a member of a set."""

import pytest
from hypothesis import given, settings
from set_reference import Reference, graphs, parts, provable_parts

from clew.graph.build import graph_of
from clew.query.execute import Executor
from clew.query.prove import pattern_of, prove
from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Query,
    Value,
    Walk,
    Without,
)

checked = settings(max_examples=100, derandomize=True, deadline=None)


@checked
@given(graphs(), parts)
def test_a_proof_is_of_triples_of_the_graph(graph, part) -> None:
    executor = Executor(graph)
    for member in executor.members(part).tolist():
        proof = prove(executor, part, member)
        assert len(set(proof)) == len(proof)
        assert all(0 <= triple < graph.triples for triple in proof)


@checked
@given(graphs(), provable_parts)
def test_a_proof_is_enough_for_its_member(graph, part) -> None:
    executor = Executor(graph)
    for member in executor.members(part).tolist():
        proof = [graph.triple(triple) for triple in prove(executor, part, member)]
        assert member in Reference(graph, proof).members(part)


@checked
@given(graphs(), provable_parts)
def test_a_proof_is_one_piece_that_holds_its_member(graph, part) -> None:
    executor = Executor(graph)
    for member in executor.members(part).tolist():
        left = [graph.triple(triple) for triple in prove(executor, part, member)]
        reached = {member}
        while beside := [t for t in left if reached & {t[0], t[2]}]:
            reached |= {node for head, _, tail in beside for node in (head, tail)}
            left = [t for t in left if t not in beside]
        assert left == []


FIRMS = graph_of(
    [
        ("Acme", "owner", "Ann"), ("Ann", "born_in", "Oslo"), ("Acme", "staff", "12"),
        ("Bolt", "owner", "Ann"), ("Bolt", "staff", "30"), ("Bolt", "sells", "nails"),
        ("Bolt", "sells", "screws"), ("Crag", "staff", "7"),
    ],
    {"Acme": ["Firm"], "Bolt": ["Firm"], "Crag": ["Firm"]},
)  # fmt: skip
IDS = {name: i for i, name in enumerate(FIRMS.labels)}
OWNER, BORN_IN, STAFF, SELLS = 0, 2, 4, 6
FIRM, ANN = OfType(0), Anchor(IDS["Ann"])
OWNED = Walk(ANN, OWNER + 1)


def proof(part, member: str) -> list[str]:
    """The triples of a proof, in order."""
    executor = Executor(FIRMS)
    assert IDS[member] in executor.members(part)
    found = [FIRMS.triple(t) for t in prove(executor, part, IDS[member])]
    return [f"{FIRMS.labels[h]} {FIRMS.relations[r]} {FIRMS.labels[t]}" for h, r, t in found]


@pytest.mark.parametrize(
    ("part", "member", "expected"),
    [
        (ANN, "Ann", []),
        (FIRM, "Acme", []),
        (OfType(-1, SELLS), "Bolt", ["Bolt sells nails"]),
        (Walk(Walk(Anchor(IDS["Acme"]), OWNER), BORN_IN), "Oslo", ["Acme owner Ann", "Ann born_in Oslo"]),
        (Both(OWNED, Walk(Anchor(IDS["30"]), STAFF + 1)), "Bolt", ["Bolt owner Ann", "Bolt staff 30"]),
        (Either(OWNED, Walk(Anchor(IDS["7"]), STAFF + 1)), "Crag", ["Crag staff 7"]),
        (Without(OWNED, Anchor(IDS["Acme"])), "Bolt", ["Bolt owner Ann"]),
        (Counted(OWNED, SELLS, "=", 2), "Bolt", ["Bolt owner Ann", "Bolt sells nails", "Bolt sells screws"]),
        (Counted(OWNED, SELLS, "=", 0), "Acme", ["Acme owner Ann"]),
        (Compared(OWNED, (STAFF,), ">", Value(20.0)), "Bolt", ["Bolt owner Ann", "Bolt staff 30"]),
        (Compared(FIRM, (STAFF,), ">", Walk(Anchor(IDS["Acme"]), STAFF)), "Bolt",
         ["Bolt staff 30", "Acme staff 12"]),
        (Extreme(OWNED, (STAFF,), False, False), "Acme", ["Acme owner Ann", "Acme staff 12"]),
        (Extreme(FIRM, (SELLS,), True, True), "Bolt", ["Bolt sells nails", "Bolt sells screws"]),
    ],
)  # fmt: skip
def test_a_proof_goes_along_the_path(part, member, expected) -> None:
    assert proof(part, member) == expected


def test_a_pattern_is_laid_out_from_its_entities() -> None:
    part = Both(Walk(ANN, OWNER + 1), Walk(Anchor(IDS["nails"]), SELLS + 1))
    pattern = pattern_of(Query("list", part), FIRMS)
    answer = pattern.answer
    assert [(n.name, n.known, n.entity) for n in pattern.nodes if n.known] == [
        ("Ann", True, IDS["Ann"]),
        ("nails", True, IDS["nails"]),
    ]
    assert not pattern.nodes[answer].known
    assert {(e.head, e.relation, pattern.nodes[e.tail].name) for e in pattern.edges} == {
        (answer, "owner", "Ann"),
        (answer, "sells", "nails"),
    }


def test_yes_or_no_is_a_pattern_that_has_to_hold() -> None:
    pattern = pattern_of(Query("yes", Both(Walk(ANN, OWNER + 1), Anchor(IDS["Acme"]))), FIRMS)
    assert pattern.answer is None
    assert [(n.name, n.entity) for n in pattern.nodes] == [("Ann", IDS["Ann"]), ("Acme", IDS["Acme"])]
    assert [(e.head, e.tail) for e in pattern.edges] == [(1, 0)]


def test_what_is_reckoned_is_no_pattern() -> None:
    assert pattern_of(Query("sum", OWNED), FIRMS) is None


@pytest.mark.parametrize(
    "part", [FIRM, ANN, Either(OWNED, ANN), Without(OWNED, ANN), Extreme(OWNED, (STAFF,), False, True)]
)
def test_what_a_pattern_cannot_say_has_none(part) -> None:
    assert pattern_of(Query("list", part), FIRMS) is None
