"""Questions over small graphs, each for one thing that they may ask: `tests/data/questions/asked.txt`.

`> question => answers`; none if it has to be left open, for the reason behind `?`. Behind `~` is what the
notes say, or why it is left open. An answer is of every word of its question, and has its triples.
"""

from pathlib import Path

import pytest

from clew import Clew
from clew.errors import UsageError
from clew.methods.settings import AutoSettings
from sections import read_sections

SECTIONS = read_sections(Path(__file__).parents[1] / "data" / "questions" / "asked.txt")
CASES = [
    pytest.param(name, question, expected, id=question)
    for name, section in SECTIONS.items()
    for _, question, expected in section.cases
]


@pytest.fixture(scope="module")
def graphs(cache: Path) -> dict[str, Clew]:
    return {name: section.open(cache) for name, section in SECTIONS.items()}


@pytest.mark.parametrize(("graph", "question", "expected"), CASES)
def test_what_is_asked(graphs: dict[str, Clew], graph: str, question: str, expected: str):
    answer = graphs[graph].ask(question)
    wanted, _, said = expected.partition(" ~ ")
    names, _, reason = wanted.partition("?")
    assert {a.label for a in answer.answers} == {one.strip() for one in names.split(",")} - {""}
    if answer.abstained is None:
        assert all(citation.triples for citation in answer.citations)
        assert [question[w.begin : w.end] for w in answer.account] == [w.text for w in answer.account]
        assert "unplaced" not in {word.as_ for word in answer.account}
        assert said in " ".join(answer.notes)
    else:
        assert reason.strip() in ("", answer.abstained.reason)
        assert said in answer.abstained.detail


def labels(answer) -> list[str]:
    return [a.label for a in answer.answers]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which sailings had no mishap?", ["F102", "F104"]),  # of `sailing_no`, which denies nothing
        ("Which captains have not had a sailing?", ["Una Strand"]),  # by rows of duties
        ("Which people have neither inspected nor painted a boat?", ["Ivo Marek"]),
    ],
)
def test_what_lacks_something_is_answered_with_a_note(
    graphs: dict[str, Clew], question: str, names: list[str]
):
    answer = graphs["boatyard" if "boat" in question else "ferries"].ask(question)
    assert labels(answer) == names
    assert "what the graph does not record is taken not to be so" in answer.notes


def test_the_rest_is_answered_where_that_is_wanted_and_marked(graphs: dict[str, Clew]):
    question = "Who manages the Hamburg Depot in the rain?"
    answer = graphs["depots"].ask(question, partial=True)
    assert labels(answer) == ["Ivo Marek"]
    assert any('"rain"' in note for note in answer.notes)
    placed = {word["text"]: (word["as"], word["part"]) for word in answer.as_json()["account"]}
    assert placed["Hamburg"] == ("name", "Hamburg Depot")
    assert (placed["manages"][0], placed["rain"][0]) == ("relation", "unplaced")
    with pytest.raises(UsageError):
        graphs["depots"].ask(question, method="kg-rag", partial=True)


def test_a_name_of_two_is_offered_by_each(graphs: dict[str, Clew]):
    answer = graphs["promotions"].ask("When was Lorne hired?")
    assert sorted(answer.abstained.candidates) == ["Ada Lorne", "Dee Lorne"]
    readings = {a.reading for a in answer.alternatives}
    assert {"when Ada Lorne was hired", "when Dee Lorne was hired"} <= readings


def test_a_comparison_cites_both_values(graphs: dict[str, Clew]):
    answer = graphs["pharma of the domains"].ask("Which was approved first, aspirin or ibuprofen?")
    assert [t.tail for t in answer.citations[0].triples] == ["1950", "1974"]


def test_a_sum_cites_the_edges_that_it_is_of(graphs: dict[str, Clew]):
    answer = graphs["orders"].ask("What is the total quantity of Solvent A ordered?")
    assert answer.reading == "the total quantity for customers who ordered Solvent A"
    assert [t.head for t in answer.citations[0].triples] == ["Iris Chemicals", "Nord Foods"]
    assert all(t.properties for t in answer.citations[0].triples)


@pytest.mark.parametrize("query", ["@quantity({Resin B} ^ordered)", "sum(@quantity({Resin B} ^ordered))"])
def test_a_property_of_edges_is_no_table(graphs: dict[str, Clew], query: str):
    with pytest.raises(UsageError, match="it must be a set"):
        graphs["orders"].table(query=query)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What is the average salary per city?", [["Oslo", 80], ["Bergen", 65], ["Turku", 47.5]]),
        ("What is the average age by team?", [["Blue", 40.5], ["Red", 38], ["Green", 35]]),
    ],
)
def test_a_group_has_a_row(graphs: dict[str, Clew], question: str, rows: list[list[object]]):
    form = graphs["staff"].ask(question).as_json()
    assert form["rows"]["rows"] == rows
    assert [answer["label"] for answer in form["answers"]] == [row[0] for row in rows]


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many rentals has each skipper had?", [["Una Strand", 2], ["Ola Berg", 1]]),
        ("How many boats did each firm repair?", [["Moen Works", 1], ["Vik Boats", 1]]),
    ],
)
def test_what_is_counted_of_each_is_told_by_the_schema(
    graphs: dict[str, Clew], question: str, rows: list[list[object]]
):
    assert graphs["boatyard"].ask(question).as_json()["rows"]["rows"] == rows


def test_the_day_of_last_year_is_a_setting_of_every_reading(graphs: dict[str, Clew]):
    shop, question = graphs["shop"], "What did Acme order last year?"
    for today, ordered in (("2024-06-01", ["Lamp"]), ("2023-06-01", ["Desk"])):
        answer = shop.ask(question, settings=AutoSettings(today=today))
        assert labels(answer) == ordered
        for number, alternative in enumerate(answer.alternatives, 1):
            again = shop.ask(question, settings=AutoSettings(today=today), reading=number)
            assert again.reading == alternative.reading


def test_no_name_that_is_there_is_called_unknown(graphs: dict[str, Clew]):
    answer = graphs["staff"].ask("What is the difference in salary between Ann Lee and Bob Ray?")
    assert answer.text == "25" or "no name in this graph" not in answer.abstained.detail


def test_the_words_of_an_operator_are_placed(graphs: dict[str, Clew]):
    answer = graphs["staff"].ask("Where do Ann Lee and Bob Ray live?")
    assert {w.text: w.as_ for w in answer.account}["Ray"] == "operator"


@pytest.mark.parametrize("ago", ["999999", "99999999999", "9" * 5000])
def test_a_time_before_all_calendars_is_no_crash(graphs: dict[str, Clew], ago: str):
    assert not graphs["shop"].ask(f"Who ordered a Lamp more than {ago} years ago?").answers
    assert not graphs["shop"].ask(f"What did Acme order in the last {ago} days?").answers


def test_what_is_asked_about_is_not_said_to_be_taken(graphs: dict[str, Clew]):
    answer = graphs["films"].ask("Which Nolan films are over 150 minutes?")
    assert (answer.abstained.reason, answer.notes) == ("ambiguous_entity", ())
