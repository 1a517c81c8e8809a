"""Counts, superlatives and ranges that a question asks for."""

import pytest

from clew.reading.rules.operators import Operator, busiest, find_operator
from clew.reading.rules.read import find_extreme, holders, values_of


def operator_of(firms, text):
    question, comparison = firms.compare(text)
    return find_operator(question, comparison, firms.table, firms.schema)


@pytest.mark.parametrize(
    ("text", "kind", "relation", "sign"),
    [
        ("Which company has the highest revenue?", "extreme", "revenue", 1),
        ("Which company has the lowest revenue?", "extreme", "revenue", -1),
        ("What is the oldest company?", "extreme", "founded_year", -1),
        ("What is X's latest company?", "extreme", "founded_year", 1),
        ("companies founded after 1990", "range", "founded_year", 1),
        ("companies founded in the 1980s", "range", "founded_year", 1),
        ("companies with a revenue of more than 300", "range", "revenue", 1),
    ],
)
def test_what_is_measured(firms, text, kind, relation, sign):
    found = operator_of(firms, text)
    assert (found.kind, found.relation, found.sign) == (kind, firms.relation(relation), sign)


def test_a_count(firms):
    assert operator_of(firms, "How many companies did Ann Lee found?").kind == "count"


def test_a_range_may_be_counted(firms):
    found = operator_of(firms, "How many companies were founded after 1990?")
    assert (found.kind, found.counts) == ("range", True)


def test_the_most_of_a_relation(firms):
    found = operator_of(firms, "Which company has the most subsidiaries?")
    assert (found.kind, found.relation) == ("most", firms.relation("subsidiary_of"))


def test_nothing_is_asked_for(firms):
    assert operator_of(firms, "Who founded Acme?").kind == "none"


def test_what_the_graph_cannot_measure_is_no_operator(firms):
    assert operator_of(firms, "Which is the heaviest company?").kind == "none"


def test_the_busiest_nodes(firms):
    relation = firms.relation("founded_by")
    most = Operator("most", 1, relation, 2 * relation + 1)
    assert [firms.graph.entities[n] for n in busiest(firms.graph, most)] == ["Ann Lee"]
    assert [firms.graph.entities[n] for n in busiest(firms.graph, most, 2)] == ["Ann Lee", "Jo May"]


def test_extremes_tie(firms):
    relation = firms.relation("revenue")
    heads = [int(n) for n in holders(firms.graph, relation)]
    most = find_extreme(firms.graph, heads, relation, 1)
    assert [firms.graph.entities[n] for n in most.entities] == ["Umbrella"]
    twice = find_extreme(firms.graph, [heads[0], heads[0]], relation, -1)
    assert len(twice.entities) == 2


def test_who_has_no_value_has_no_extreme(firms):
    node = list(firms.graph.entities).index("Ann Lee")
    assert values_of(firms.graph, node, firms.relation("revenue")) == []
    assert find_extreme(firms.graph, [node], firms.relation("revenue"), 1) is None
