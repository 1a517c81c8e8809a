"""The last by a property is the last that has it, and no query is run twice without need."""

import pytest

from clew.methods.synaptiqa.queried import QueryResult, with_nulls_last
from clew.methods.synaptiqa.read_rows import ReadRow
from clew.stores.cypher.parser import parse
from clew.stores.errors import QueryError

NEWEST = "MATCH (b:Book) RETURN b.name ORDER BY b.bought DESC LIMIT 1"


def result(*names):
    return QueryResult(("b.name",), tuple(ReadRow((name,), ()) for name in names), True, False, "")


def test_what_has_no_value_is_put_behind():
    sent = []

    def run(statement):
        sent.append(statement.text)
        return result("Dune")

    found = with_nulls_last(parse(NEWEST), result("undated"), run)
    assert sent == ["MATCH (b:Book) RETURN b.name ORDER BY b.bought IS NULL, b.bought DESC LIMIT 1"]
    assert found.result == result("Dune")
    assert [c.after for c in found.corrections] == ["ORDER BY b.bought IS NULL, b.bought DESC"]


def test_a_statement_whose_rows_are_the_same_stays_as_it_is():
    found = with_nulls_last(parse(NEWEST), result("Dune"), lambda _: result("Dune"))
    assert (found.statement.text, found.corrections) == (NEWEST, ())


def test_a_database_that_takes_no_such_order_keeps_the_rows():
    def run(_):
        raise QueryError("no such order")

    assert with_nulls_last(parse(NEWEST), result("undated"), run).result == result("undated")


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (b:Book) RETURN b.name ORDER BY b.bought LIMIT 1",
        "MATCH (b:Book) RETURN b.name ORDER BY b.bought DESC",
        "MATCH (b:Book)-->(a) RETURN a.name, count(b) AS n ORDER BY n DESC LIMIT 1",
        "MATCH (b:Book) RETURN b.name ORDER BY coalesce(b.bought, 0) DESC LIMIT 1",
    ],
)
def test_an_order_that_nulls_cannot_change_is_not_run_again(query):
    def run(_):
        raise AssertionError("run again")

    assert with_nulls_last(parse(query), result("Dune"), run).statement.text == query
