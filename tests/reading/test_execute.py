"""The executor, against sets of triples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from set_reference import Reference, graphs, parts

from clew.graph.build import graph_of
from clew.query.execute import Executor, OverBudget
from clew.query.tree import (
    Anchor,
    Compared,
    OfType,
    Query,
    Value,
    Walk,
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
