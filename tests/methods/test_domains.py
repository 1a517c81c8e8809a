"""Questions on the graphs of the development domains; how many are right is counted in `benchmarks/` only."""

import json
from pathlib import Path

import pytest

from clew.engine import Clew

DOMAINS = Path(__file__).resolve().parents[1] / "data" / "domains"
DEV = DOMAINS / "dev"


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    cache, kept = tmp_path_factory.mktemp("domains"), {}

    def open_graph(folder, name):
        source = next(folder / (name + end) for end in (".tsv", ".ttl") if (folder / (name + end)).exists())
        if source not in kept:
            kept[source] = Clew.open(source, cache_dir=cache)
        return kept[source]

    return open_graph


def labels(answer):
    return {a.label for a in answer.answers}


@pytest.mark.slow
def test_every_answer_of_the_development_half_is_proved(opened):
    asked = answered = 0
    for path in sorted(DEV.glob("*_questions.jsonl")):
        clew = opened(DEV, path.name.removesuffix("_questions.jsonl"))
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            answer = clew.ask(row["question"])
            asked, answered = asked + 1, answered + bool(answer.answers)
            assert bool(answer.answers) == (answer.abstained is None), row["id"]
            proved = {c.answer for c in answer.citations if c.triples}
            # What has none of something has no triple that says so, and the notes tell it.
            absent = any("does not record" in note for note in answer.notes)
            assert absent or {a.entity for a in answer.answers} <= proved, row["id"]
    assert asked > answered > 0


@pytest.mark.parametrize(
    ("name", "question", "wanted"),
    [
        ("geo", "Which river is longer, the Loire or the Seine?", {"Loire"}),
        ("geo", "Is the Matterhorn higher than Mont Blanc?", {"no"}),
        ("league", "Who is older, Pedro Salas or Marco Bellini?", {"Marco Bellini"}),
        ("staff", "Was Maya Patel hired before Ines Ferreira?", {"yes"}),
        ("geo", "Which rivers flow through more than two countries?", {"Rhine"}),
        ("geo", "Which mountains are not in the Alps?", {"Mulhacén", "Aneto", "Rysy"}),
        ("geo", "Which rivers are longer than the Elbe?", {"Rhine", "Danube"}),
        ("staff", "Who was hired before 2015?", {"Alice Moreau", "David Okafor", "Maya Patel"}),
        ("league", "players over 190 cm", {"Jan Novotny", "Ben Carter", "Oscar Lind"}),
        ("pharma", "Which drug for depression was approved first?", {"Fluoxetine"}),
    ],
)
def test_what_is_answered(opened, name, question, wanted):
    answer = opened(DEV, name).ask(question)
    assert labels(answer) == wanted
    assert {a.entity for a in answer.answers} <= {c.answer for c in answer.citations if c.triples}


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("pharma", "Which drugs do not cause hair loss?"),
        ("geo", "Is Narnia larger than France?"),
        ("pharma", "What are the side effects of omeprazole?"),
    ],
)
def test_what_is_not_answered_in_its_positive_form(opened, name, question):
    assert opened(DEV, name).ask(question).abstained is not None


def test_a_difference_is_computed(opened):
    answer = opened(DEV, "league").ask("How many more goals did Tom Adeyemi score than Luca Ferri?")
    assert labels(answer) == {"17"}  # 24 and 7


def test_a_comparison_cites_both_values(opened):
    answer = opened(DEV, "pharma").ask("Which was approved first, aspirin or ibuprofen?")
    assert [t.tail for t in answer.citations[0].triples] == ["1950", "1974"]


def test_absence_is_said_to_be_of_the_graph(opened):
    answer = opened(DEV, "geo").ask("Which mountains are not in the Alps?")
    assert labels(answer) == {"Mulhacén", "Aneto", "Rysy"}
    assert answer.notes == ("what the graph does not record is taken not to be so",)
    assert answer.as_json()["notes"] == list(answer.notes)
