"""What a sub-answer hands on: values with what has them, and a choice among what was found before."""

from collections.abc import Iterator

import pytest

from clew.engine import Clew
from clew.llm.testing import ScriptedModel
from clew.methods.kg_rag.method import KgRag
from clew.methods.settings import KgRagSettings
from clew.types import Answer

TRIPLES = [
    ("party 1", "number_of_hosts", "5"),
    ("party 2", "number_of_hosts", "4"),
    ("party 3", "number_of_hosts", "4"),
    ("party 1", "theme", "Spring"),
    ("party 2", "theme", "Rave"),
    ("party 3", "theme", "Jazz"),
    ("Night Ferry", "artist", "The Lanterns"),
    ("Salt and Iron", "artist", "The Lanterns"),
    ("Night Ferry", "producer", "Sam Tully"),
    ("Salt and Iron", "producer", "Greta Lind"),
]


@pytest.fixture(scope="module")
def parties() -> Iterator[Clew]:
    types = {name: ["party"] for name in ("party 1", "party 2", "party 3")}
    with Clew.from_triples(TRIPLES, types=types) as clew:
        yield clew


def ask(clew: Clew, question: str, *replies: str) -> tuple[Answer, ScriptedModel]:
    model, steps = ScriptedModel(list(replies)), KgRagSettings(records="steps")
    return KgRag(clew.opened, clew.embedder, model=model, settings=steps).answer(question), model


def test_values_are_handed_on_with_what_has_them(parties: Clew):
    answer, model = ask(
        parties,
        "List the themes of the parties in ascending order of number of hosts.",
        "Sub-questions:\n1. What is the number of hosts of each party?\n2. What are their themes?",
        "Facts: 1-3\nAnswer: 5; 4; 4",
        "Facts: 1-3\nAnswer: Rave; Jazz; Spring",
        "Facts: 1-3\nAnswer: Rave; Jazz; Spring",
    )
    second = model.requests[2].messages[-1].text
    line = next(line for line in second.splitlines() if line.startswith("Answer: "))
    assert set(line.removeprefix("Answer: ").split("; ")) == {"party 1: 5", "party 2: 4", "party 3: 4"}
    assert "party 2: number_of_hosts = 4; theme = Rave" in second
    assert [a.label for a in answer.answers] == ["Rave", "Jazz", "Spring"]
    assert [t.as_json() for t in answer.citations[0].triples][-1] == ["party 2", "theme", "Rave"]


def test_the_value_of_one_thing_is_handed_on_by_itself(parties: Clew):
    _, model = ask(
        parties,
        "Which parties have as many hosts as party 1?",
        "Sub-questions:\n1. How many hosts has party 1?\n2. Which parties have this number?",
        "Facts: 1\nAnswer: 5",
        "Facts: 1\nAnswer: party 1",
        "Facts: 1\nAnswer: party 1",
    )
    assert "Answer: 5\n" in model.requests[2].messages[-1].text


def test_a_sub_answer_that_leaves_some_out_is_part_of_the_chain(parties: Clew):
    answer, model = ask(
        parties,
        "Which albums by The Lanterns were not produced by Sam Tully?",
        "Sub-questions:\n1. Which albums are by The Lanterns?\n2. Which of these did Sam Tully not produce?",
        "Facts: 1-3\nAnswer: Night Ferry; Salt and Iron",
        "Facts: 1-3\nAnswer: Salt and Iron",
        "Facts: 1-3\nAnswer: Salt and Iron",
    )
    assert answer.chain is not None
    assert [link.answers for link in answer.chain.links] == [
        ("Night Ferry", "Salt and Iron"),
        ("Salt and Iron",),
    ]
    assert [a.label for a in answer.answers] == ["Salt and Iron"]
    assert (
        "Which of these did Sam Tully not produce (Night Ferry; Salt and Iron)?"
        in model.requests[3].messages[-1].text
    )
