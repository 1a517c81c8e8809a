"""The executor, against sets of triples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from set_reference import Reference, graphs, parts, provable_parts

from clew.graph.build import graph_of
from clew.query.execute import Executor, OverBudget
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

checked = settings(max_examples=150, derandomize=True, deadline=None)


@checked
@given(graphs(), parts)
def test_members_are_those_of_the_reference(graph, part) -> None:
    found = Executor(graph).members(part)
    assert found.dtype == np.int64
    assert found.tolist() == sorted(Reference(graph).members(part))


@checked
@given(graphs(), parts, st.sampled_from(["count", "sum", "average", "largest", "smallest"]))
def test_numbers_are_those_of_the_reference(graph, part, ask) -> None:
    query = Query(ask, part)
    expected = Reference(graph).number(query)
    assert Executor(graph).number(query) == (expected if expected is None else pytest.approx(expected))


FAMILY = graph_of(
    [
        ("Ann", "child", "Bo"), ("Ann", "child", "Cy"), ("Dan", "child", "Cy"), ("Bo", "height", "170"),
        ("Cy", "height", "170"), ("Dan", "height", "181"), ("Bo", "born", "1980-05-05"),
        ("Cy", "born", "1985-01-01"),
    ],
    {"Ann": ["Person"], "Bo": ["Person"], "Cy": ["Person"], "Dan": ["Person"]},
)  # fmt: skip
IDS = {name: i for i, name in enumerate(FAMILY.labels)}
CHILD, HEIGHT, BORN_ON = 0, 2, 4
PEOPLE = OfType(0)


def names(part) -> list[str]:
    return [FAMILY.labels[n] for n in Executor(FAMILY).members(part).tolist()]


def test_a_chain_does_not_come_back_to_where_it_begins() -> None:
    ann = Anchor(IDS["Ann"])
    assert names(Walk(Walk(ann, CHILD), CHILD + 1)) == ["Dan"]


def test_a_year_is_a_span_of_days() -> None:
    year = Value(722814.0, date=True, width=365.0)
    assert names(Compared(PEOPLE, (BORN_ON,), "=", year)) == ["Bo"]
    assert names(Compared(PEOPLE, (BORN_ON,), ">", year)) == ["Cy"]
    assert names(Compared(PEOPLE, (BORN_ON,), "<=", year)) == ["Bo"]


def test_equal_values_are_summed_each() -> None:
    heights = Walk(PEOPLE, HEIGHT)
    assert Executor(FAMILY).number(Query("sum", heights)) == 521
    assert Executor(FAMILY).number(Query("count", heights)) == 2


def test_more_edges_than_allowed_are_not_followed() -> None:
    executor = Executor(FAMILY, edges_left=3)
    with pytest.raises(OverBudget):
        executor.members(Walk(PEOPLE, HEIGHT))


proved = settings(max_examples=100, derandomize=True, deadline=None)


@proved
@given(graphs(), parts)
def test_a_proof_is_of_triples_of_the_graph(graph, part) -> None:
    executor = Executor(graph)
    for member in executor.members(part).tolist():
        proof = prove(executor, part, member)
        assert len(set(proof)) == len(proof)
        assert all(0 <= triple < graph.triples for triple in proof)


@proved
@given(graphs(), provable_parts)
def test_a_proof_is_enough_for_its_member(graph, part) -> None:
    executor = Executor(graph)
    for member in executor.members(part).tolist():
        proof = [graph.triple(triple) for triple in prove(executor, part, member)]
        assert member in Reference(graph, proof).members(part)


@proved
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


FIRM_IDS = {name: i for i, name in enumerate(FIRMS.labels)}


OWNER, BORN_IN, STAFF, SELLS = 0, 2, 4, 6


ACME = FIRM_IDS["Acme"]
FIRM, ANN = OfType(0), Anchor(FIRM_IDS["Ann"])


OWNED = Walk(ANN, OWNER + 1)


def proof(part, member: str) -> list[str]:
    """The triples of a proof, in order."""
    executor = Executor(FIRMS)
    assert FIRM_IDS[member] in executor.members(part)
    found = [FIRMS.triple(t) for t in prove(executor, part, FIRM_IDS[member])]
    return [f"{FIRMS.labels[h]} {FIRMS.relations[r]} {FIRMS.labels[t]}" for h, r, t in found]


@pytest.mark.parametrize(
    ("part", "member", "expected"),
    [
        (ANN, "Ann", []),
        (FIRM, "Acme", []),
        (OfType(-1, SELLS), "Bolt", ["Bolt sells nails"]),
        (Walk(Walk(Anchor(ACME), OWNER), BORN_IN), "Oslo", ["Acme owner Ann", "Ann born_in Oslo"]),
        (Both(OWNED, Walk(Anchor(FIRM_IDS["30"]), STAFF + 1)), "Bolt", ["Bolt owner Ann", "Bolt staff 30"]),
        (Either(OWNED, Walk(Anchor(FIRM_IDS["7"]), STAFF + 1)), "Crag", ["Crag staff 7"]),
        (Without(OWNED, Anchor(ACME)), "Bolt", ["Bolt owner Ann"]),
        (Counted(OWNED, SELLS, "=", 2), "Bolt", ["Bolt owner Ann", "Bolt sells nails", "Bolt sells screws"]),
        (Counted(OWNED, SELLS, "=", 0), "Acme", ["Acme owner Ann"]),
        (Compared(OWNED, (STAFF,), ">", Value(20.0)), "Bolt", ["Bolt owner Ann", "Bolt staff 30"]),
        (Compared(FIRM, (STAFF,), ">", Walk(Anchor(ACME), STAFF)), "Bolt",
         ["Bolt staff 30", "Acme staff 12"]),
        (Extreme(OWNED, (STAFF,), False, False), "Acme", ["Acme owner Ann", "Acme staff 12"]),
        (Extreme(FIRM, (SELLS,), True, True), "Bolt", ["Bolt sells nails", "Bolt sells screws"]),
    ],
)  # fmt: skip
def test_a_proof_goes_along_the_path(part, member, expected) -> None:
    assert proof(part, member) == expected


def test_a_pattern_is_laid_out_from_its_entities() -> None:
    part = Both(Walk(ANN, OWNER + 1), Walk(Anchor(FIRM_IDS["nails"]), SELLS + 1))
    pattern = pattern_of(Query("list", part), FIRMS)
    answer = pattern.answer
    assert [(n.name, n.known, n.entity) for n in pattern.nodes if n.known] == [
        ("Ann", True, FIRM_IDS["Ann"]),
        ("nails", True, FIRM_IDS["nails"]),
    ]
    assert not pattern.nodes[answer].known
    assert {(e.head, e.relation, pattern.nodes[e.tail].name) for e in pattern.edges} == {
        (answer, "owner", "Ann"),
        (answer, "sells", "nails"),
    }


def test_yes_or_no_is_a_pattern_that_has_to_hold() -> None:
    pattern = pattern_of(Query("yes", Both(Walk(ANN, OWNER + 1), Anchor(ACME))), FIRMS)
    assert pattern.answer is None
    assert [(n.name, n.entity) for n in pattern.nodes] == [
        ("Ann", FIRM_IDS["Ann"]),
        ("Acme", ACME),
    ]
    assert [(e.head, e.tail) for e in pattern.edges] == [(1, 0)]


def test_what_is_reckoned_is_no_pattern() -> None:
    assert pattern_of(Query("sum", OWNED), FIRMS) is None


@pytest.mark.parametrize(
    "part", [FIRM, ANN, Either(OWNED, ANN), Without(OWNED, ANN), Extreme(OWNED, (STAFF,), False, True)]
)
def test_what_a_pattern_cannot_say_has_none(part) -> None:
    assert pattern_of(Query("list", part), FIRMS) is None
