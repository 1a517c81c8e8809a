"""What a question says is what is answered: two small graphs, asked by their faces."""

from pathlib import Path

import pytest

from clew import Clew

FARM = """Zuri is_a animal
Kito is_a animal
Pundu is_a animal
Duke is_a animal
Mirembe is_a animal
Nala is_a animal
oak is_a tree
Pundu mother Zuri
Pundu father Kito
Duke mother Pundu
Duke father Nala
Zuri mother Mirembe
Pundu avoids oak
Zuri joined_on 2015-03-01
Kito joined_on 2016-05-02
Pundu joined_on 2019-04-01
Zuri certs GWO
Kito certs HV
Zuri interacts_with Kito
Mirembe interacts_with Zuri
Zuri fed_by Ann
Kito fed_by Ann
Kito fed_by Bob
Pundu fed_by Bob
Ann is_a keeper
Bob is_a keeper
Cid is_a keeper
Ann speaks English
Bob speaks English
Bob speaks German
Cid speaks German
"""
ORDERS = {
    "orders.csv": """order_no,buyer,ordered,tare_m
4001,Ann Lee,2023-01-23,1.90
4002,Ann Lee,2023-02-23,1.71
4003,Bo Kim,2023-03-01,1.80
4004,Bo Kim,2023-04-11,1.65
4005,Ann Lee,2023-05-09,1.66
""",
    "people.csv": """id,name,job,town,price per hour
1,Sean Walsh,apprentice,Cork,11
2,Sean Walsh,technician,Sligo,20
3,Ann Lee,buyer,Cork,30
4,Bo Kim,buyer,Sligo,31
""",
}


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Clew:
    path = tmp_path_factory.mktemp("farm") / "farm.tsv"
    path.write_text(FARM.replace(" ", "\t"), "utf-8")
    return Clew.index(path, path.with_suffix(".clew"))


@pytest.fixture(scope="module")
def trade(tmp_path_factory: pytest.TempPathFactory) -> Clew:
    folder = tmp_path_factory.mktemp("trade")
    for name, text in ORDERS.items():
        Path(folder / name).write_text(text, "utf-8")
    return Clew.index(folder, folder / "trade.clew")


def labels(clew: Clew, question: str) -> list[str]:
    return sorted(found.label for found in clew.ask(question).answers)


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        ("Who are Pundu's parents?", ["Kito", "Zuri"]),
        ("Who are Duke's grandparents?", ["Kito", "Zuri"]),
        ("How many children does Zuri have?", ["1"]),
        ("Is Pundu a child of Kito?", ["yes"]),
        ("What does Zuri interact with?", ["Kito", "Mirembe"]),
        ("Is Zuri an animal?", ["yes"]),
        ("Which keepers speak nothing but German?", ["Cid"]),
        ("Which keepers speak only English?", ["Ann"]),
    ],
)
def test_is_answered(farm: Clew, question: str, gold: list[str]) -> None:
    assert labels(farm, question) == gold


@pytest.mark.parametrize(
    "question",
    [
        "Is Kito a child of Pundu?",  # not yes, whichever way the mother is told
        "When was Zuri born?",  # it joined
        "When did Zuri leave?",
        "Where does Zuri live?",  # certificates are no place
    ],
)
def test_is_not_answered_by_something_else(farm: Clew, question: str) -> None:
    assert labels(farm, question) in ([], ["no"])


def test_rows_that_numbers_name_are_counted(trade: Clew) -> None:
    assert labels(trade, "How many orders did Ann Lee place?") == ["3"]


def test_a_unit_is_that_of_the_values(trade: Clew) -> None:
    metres = trade.ask("What is the average tare in metres?")
    assert [a.label for a in metres.answers] == ["1.744"]
    assert trade.ask("What is the average tare in feet?").abstained is not None


def test_which_one_of_a_name_is_told_by_what_stands_beside_it(trade: Clew) -> None:
    assert labels(trade, "In which town is the apprentice Sean Walsh?") == ["Cork"]
    shared = trade.ask("In which town is Sean Walsh?")
    assert shared.abstained is not None
    assert len(shared.abstained.candidates) == 2
