"""Questions that ask for properties of edges, or by them, over tables of customers, products and orders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clew import Clew
from clew.errors import UsageError

TABLES = {
    "customers.csv": "id,name,city\nC1,Iris Chemicals,Hamburg\nC2,Nord Foods,Bremen\nC3,Alba Paper,Kiel\n",
    "products.csv": "id,name,unit_price\nP1,Solvent A,12.5\nP2,Resin B,30\nP3,Cleaner C,8\n",
    "orders.csv": """start,end,relation,quantity,date,status
C1,P1,ordered,120,2023-02-01,shipped
C1,P2,ordered,40,2023-05-12,cancelled
C2,P1,ordered,60,2022-11-03,shipped
C2,P3,ordered,200,2024-01-15,open
C3,P3,ordered,15,2023-03-09,shipped
C3,P2,ordered,75,2023-03-20,cancelled
""",
}


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clew]:
    folder: Path = tmp_path_factory.mktemp("orders")
    for name, text in TABLES.items():
        (folder / name).write_text(text)
    with Clew.open([folder / name for name in TABLES], cache_dir=folder / "cache") as clew:
        yield clew


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("What quantity of Solvent A did Iris Chemicals order?", {"120"}),
        ("How many Solvent A did Iris Chemicals order?", {"120"}),
        ("What is the total quantity of Solvent A ordered?", {"180"}),
        ("What is the average quantity ordered by Nord Foods?", {"130"}),
        ("What is the highest quantity ordered by Iris Chemicals?", {"120"}),
        ("Who ordered the largest quantity of Cleaner C?", {"Nord Foods"}),
        ("Who ordered Resin B with the latest date?", {"Iris Chemicals"}),
        ("Who ordered Solvent A with the earliest date?", {"Nord Foods"}),
        ("Which products did Nord Foods order with quantity below 100?", {"Solvent A"}),
        ("Which customers have cancelled orders?", {"Iris Chemicals", "Alba Paper"}),
        ("Which products ordered by Alba Paper were not shipped?", {"Resin B"}),
        ("Which products were ordered in March 2023?", {"Resin B", "Cleaner C"}),
        ("When did Alba Paper order Resin B?", {"2023-03-20"}),
        ("What is the date on which Nord Foods ordered Cleaner C?", {"2024-01-15"}),
    ],
)
def test_edges_are_asked(orders: Clew, question: str, answers: set[str]) -> None:
    answer = orders.ask(question)
    assert {a.label for a in answer.answers} == answers
    assert all(c.triples and c.triples[0].properties for c in answer.citations)


@pytest.mark.parametrize(
    "question",
    [
        "How many returned Solvent A did Iris Chemicals order?",
        "What is the weight of Solvent A that Iris Chemicals ordered?",
        "Which customers ordered Resin B with status paid?",
    ],
)
def test_what_edges_do_not_record_is_left_open(orders: Clew, question: str) -> None:
    assert orders.ask(question).abstained is not None


@pytest.mark.parametrize("query", ["@quantity({Resin B} ^ordered)", "sum(@quantity({Resin B} ^ordered))"])
def test_a_property_of_edges_is_no_table(orders: Clew, query: str) -> None:
    with pytest.raises(UsageError, match="it must be a set"):
        orders.table(query=query)


def test_a_sum_cites_the_edges_that_it_is_of(orders: Clew) -> None:
    (citation,) = orders.ask("What is the total quantity of Solvent A ordered?").citations
    assert [t.head for t in citation.triples] == ["Iris Chemicals", "Nord Foods"]
    assert orders.ask("What is the total quantity of Solvent A ordered?").reading == (
        "the total quantity for customers who ordered Solvent A"
    )
