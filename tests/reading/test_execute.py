"""The executor, against sets of triples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from set_reference import DATES, NUMBERS, Reference, graphs, parts, steps

from clew.graph.build.build import graph_of
from clew.query.execute import Executor, OverBudget
from clew.query.tree import (
    Anchor,
    Compared,
    Counted,
    Extreme,
    OfType,
    Query,
    Value,
    Walk,
    Without,
)

checked = settings(max_examples=400, derandomize=True, deadline=None)


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


@checked
@given(graphs(), parts)
def test_around_is_what_each_step_leads_to(graph, part) -> None:
    reference, members = Reference(graph), Executor(graph).members(part)
    expected = {s: {t for n in members.tolist() for t in reference.after(n, s)} for s in range(8)}
    around = Executor(graph).around(members)
    assert {s: nodes.tolist() for s, nodes in around.items()} == {
        s: sorted(e) for s, e in expected.items() if e
    }


@checked
@given(graphs(), st.lists(st.integers(0, 11), max_size=12, unique=True).map(sorted), steps)
def test_spans_of_many_nodes_are_those_of_each(graph, nodes, step) -> None:
    executor = Executor(graph)
    counts = executor.counts(np.array(nodes, np.int64), step)
    assert counts.tolist() == [len(Reference(graph).after(node, step)) for node in nodes]


def test_a_list_and_a_yes_have_no_number() -> None:
    executor = Executor(graph_of([("a", "age", "1")]))
    assert executor.number(Query("list", Anchor(0))) is None
    assert executor.number(Query("yes", Anchor(0))) is None


FAMILY = graph_of(
    [
        ("Ann", "child", "Bo"),
        ("Ann", "child", "Cy"),
        ("Dan", "child", "Cy"),
        ("Bo", "height", "170"),
        ("Cy", "height", "170"),
        ("Dan", "height", "181"),
        ("Bo", "born", "1980-05-05"),
        ("Cy", "born", "1985-01-01"),
    ],
    {"Ann": ["Person"], "Bo": ["Person"], "Cy": ["Person"], "Dan": ["Person"]},
)
IDS = {name: i for i, name in enumerate(FAMILY.labels)}
CHILD, HEIGHT, BORN_ON = 0, 2, 4
PEOPLE = OfType(0)


def names(part) -> list[str]:
    return [FAMILY.labels[n] for n in Executor(FAMILY).members(part).tolist()]


def test_a_chain_does_not_come_back_to_where_it_begins() -> None:
    ann = Anchor(IDS["Ann"])
    assert names(Walk(Walk(ann, CHILD), CHILD + 1)) == ["Dan"]


def test_ties_of_an_extreme_all_count() -> None:
    assert names(Extreme(PEOPLE, (HEIGHT,), False, False)) == ["Bo", "Cy"]
    assert names(Extreme(PEOPLE, (HEIGHT,), False, True, 2)) == ["Bo", "Cy", "Dan"]


def test_who_has_none() -> None:
    assert names(Counted(PEOPLE, CHILD, "=", 0)) == ["Bo", "Cy"]


def test_a_year_is_a_span_of_days() -> None:
    year = Value(722814.0, date=True, width=365.0)
    assert names(Compared(PEOPLE, (BORN_ON,), "=", year)) == ["Bo"]
    assert names(Compared(PEOPLE, (BORN_ON,), ">", year)) == ["Cy"]
    assert names(Compared(PEOPLE, (BORN_ON,), "<=", year)) == ["Bo"]


def test_a_number_is_no_date() -> None:
    assert names(Compared(PEOPLE, (BORN_ON,), ">", Value(5.0))) == []


def test_equal_values_are_summed_each() -> None:
    heights = Walk(PEOPLE, HEIGHT)
    assert Executor(FAMILY).number(Query("sum", heights)) == 521
    assert Executor(FAMILY).number(Query("count", heights)) == 2


def test_more_edges_than_allowed_are_not_followed() -> None:
    executor = Executor(FAMILY, edges_left=3)
    with pytest.raises(OverBudget):
        executor.members(Walk(PEOPLE, HEIGHT))


def test_what_was_evaluated_costs_nothing_again() -> None:
    executor = Executor(FAMILY)
    executor.members(Walk(PEOPLE, HEIGHT))
    left = executor.edges_left
    executor.members(Without(Walk(PEOPLE, HEIGHT), Anchor(IDS["181"])))
    assert executor.edges_left == left


@checked
@given(graphs())
def test_names_of_random_graphs_have_fixed_ids(graph) -> None:
    assert [*graph.relations] == ["knows", "likes", "age", "born"]
    assert sorted(graph.entities) == sorted([*"abcdef", *NUMBERS, *DATES])
    assert [*graph.types.names] == ["P", "Q"]
