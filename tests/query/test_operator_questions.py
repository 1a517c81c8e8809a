"""Questions with words around them that ask for an operator, over tables of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew import Clew
from clew.methods.settings import AutoSettings

TABLES = {
    "staff": "id,name,team,age,salary,city\n1,Ann Lee,Red,41,90,Oslo\n2,Bob Ray,Red,35,65,Bergen\n"
    "3,Cid Orr,Blue,52,70,Oslo\n4,Dee Poe,Blue,29,40,Turku\n5,Eli Fox,Green,35,55,Turku\n",
    "shop": "start,relation,end,date,amount\nAcme,ordered,Lamp,2023-02-01,5\nAcme,ordered,Desk,2022-03-04,1\n"
    "Belt,ordered,Desk,2024-01-09,7\nCorp,ordered,Lamp,2015-01-09,2\n",
    "work": "start,relation,end,since,until\nEva,works at,Nord,2010,2015\nEva,works at,Sud,2016,\n"
    "Fin,works at,Nord,2014,2020\nGus,works at,Nord,2021,\n",
}


@pytest.fixture(scope="module")
def graphs(tmp_path_factory) -> dict[str, Clew]:
    folder: Path = tmp_path_factory.mktemp("operators")
    opened: dict[str, Clew] = {}
    for name, text in TABLES.items():
        (folder / f"{name}.csv").write_text(text)
        opened[name] = Clew.open(folder / f"{name}.csv", cache_dir=folder)
    return opened


@pytest.mark.parametrize(
    ("graph", "question", "answers"),
    [
        ("staff", "Who is not in Oslo and not in Bergen?", {"Dee Poe", "Eli Fox"}),
        ("staff", "Where do Ann Lee and Bob Ray live?", {"Oslo", "Bergen"}),
        ("staff", "Who is in teams Red and Green?", {"Ann Lee", "Bob Ray", "Eli Fox"}),
        ("staff", "What are the salaries of Ann Lee, Bob Ray and Dee Poe?", {"90", "65", "40"}),
        ("staff", "Do Ann Lee and Cid Orr live in Oslo?", {"yes"}),
        ("staff", "Do Ann Lee and Bob Ray live in Oslo?", {"no"}),
        ("staff", "Who is in team Red but not older than 40?", {"Bob Ray"}),
        ("staff", "Who is the second oldest?", {"Ann Lee"}),
        ("staff", "Who has the third highest salary?", {"Bob Ray"}),
        ("staff", "How much more does Ann Lee earn than Bob Ray?", {"25"}),
        ("staff", "How much older is Ann Lee than Bob Ray?", {"6"}),
        ("staff", "Who earns more than the average salary?", {"Ann Lee", "Bob Ray", "Cid Orr"}),
        ("staff", "How many people earn less than the average salary?", {"2"}),
        ("staff", "Who earns more than Bob Ray but less than Ann Lee?", {"Cid Orr"}),
        ("staff", "Who is as old as Bob Ray?", {"Eli Fox"}),
        ("staff", "Is Bob Ray as old as Eli Fox?", {"yes"}),
        ("staff", "Is Ann Lee as old as Eli Fox?", {"no"}),
        ("staff", "Is Eli Fox the only one in team Green?", {"yes"}),
        ("staff", "Is Ann Lee the only one in team Red?", {"no"}),
        ("shop", "What did Acme order in 2023?", {"Lamp"}),
        ("shop", "Who ordered Desk after 2023?", {"Belt"}),
        ("shop", "Who ordered Lamp before 2020?", {"Corp"}),
        ("shop", "Who ordered a Lamp more than ten years ago?", {"Corp"}),
        ("work", "Where did Eva work in 2012?", {"Nord"}),
        ("work", "Who worked at Nord in 2016?", {"Fin"}),
        ("work", "Who works at Nord now?", {"Gus"}),
        ("work", "Who worked at Nord until 2015?", {"Eva"}),
    ],
)
def test_an_operator_is_put_around_the_rest(graphs, graph, question, answers):
    answer = graphs[graph].ask(question)
    assert {a.label for a in answer.answers} == answers, answer.reading
    assert all(citation.triples for citation in answer.citations)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What is the average salary per city?", [["Oslo", 80], ["Bergen", 65], ["Turku", 47.5]]),
        ("What is the average age by team?", [["Blue", 40.5], ["Red", 38], ["Green", 35]]),
    ],
)
def test_a_group_has_a_row(graphs, question, rows):
    form = graphs["staff"].ask(question).as_json()
    assert form["rows"]["rows"] == rows
    assert [answer["label"] for answer in form["answers"]] == [row[0] for row in rows]


def test_the_day_of_last_year_is_a_setting(graphs):
    def ordered(today: str):
        answer = graphs["shop"].ask("What did Acme order last year?", settings=AutoSettings(today=today))
        return {a.label for a in answer.answers}

    assert (ordered("2024-06-01"), ordered("2023-06-01")) == ({"Lamp"}, {"Desk"})


@pytest.mark.parametrize(
    ("graph", "question"),
    [
        ("staff", "Who is the oldest in each team?"),
        ("staff", "Does every member of team Red earn more than 60?"),
        ("work", "Who no longer works at Nord?"),
    ],
)
def test_what_has_no_form_here_is_left_open(graphs, graph, question):
    answer = graphs[graph].ask(question)
    assert not answer.answers, answer.reading


def test_no_name_that_is_there_is_called_unknown(graphs):
    answer = graphs["staff"].ask("What is the difference in salary between Ann Lee and Bob Ray?")
    assert answer.text == "25" or "no name in this graph" not in answer.abstained.detail


def test_the_words_of_an_operator_are_placed(graphs):
    answer = graphs["staff"].ask("Where do Ann Lee and Bob Ray live?")
    assert {w.text: w.as_ for w in answer.account}["Ray"] == "operator"


def test_another_reading_has_the_day_of_its_answer(graphs):
    settings, question = AutoSettings(today="2024-06-01"), "What did Acme order last year?"
    answer = graphs["shop"].ask(question, settings=settings)
    for number, alternative in enumerate(answer.alternatives, 1):
        again = graphs["shop"].ask(question, settings=settings, reading=number)
        assert again.reading == alternative.reading


@pytest.mark.parametrize("ago", ["999999", "99999999999", "9" * 5000])
def test_a_time_before_all_calendars_is_no_crash(graphs, ago):
    assert not graphs["shop"].ask(f"Who ordered a Lamp more than {ago} years ago?").answers
    assert not graphs["shop"].ask(f"What did Acme order in the last {ago} days?").answers
