"""Follow-ups at every door: twenty threads of three, and what is unclear is left open."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from clew import Clew
from clew.errors import UsageError
from clew.llm.testing import ScriptedModel

HERE = Path(__file__).with_name("data") / "follow_ups"
THREADS = [
    (graph, turns)
    for graph, threads in tomllib.loads((HERE / "threads.toml").read_text()).items()
    for turns in threads
]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Clew]:
    cache = tmp_path_factory.mktemp("follow-ups")
    graphs = ("press", "clinic", "museum", "club")
    return {name: Clew.open(HERE / name, cache_dir=cache / name) for name in graphs}


def labels(answer: dict[str, Any]) -> list[str]:
    return [found["label"] for found in answer["answers"]]


def is_right(question: str, found: list[str], gold: list[str]) -> bool:
    is_ordered = question.lower().startswith(("sort", "order"))
    return found == gold if is_ordered else sorted(found) == sorted([] if gold == ["?"] else gold)


@pytest.mark.parametrize(("graph", "turns"), THREADS)
def test_threads_of_three(opened: dict[str, Clew], graph: str, turns: list[list[str]]) -> None:
    previous = None
    for question, *gold in turns:
        answer = opened[graph].ask(question, previous=previous).as_json()
        assert is_right(question, labels(answer), gold), (question, answer["text"], answer["abstained"])
        assert answer["abstained"] or answer["reading"]
        previous = json.loads(json.dumps(answer["thread"]))


def test_threads_that_were_written_before_the_code(opened: dict[str, Clew]) -> None:
    right = wrong = asked = 0
    for graph, threads in tomllib.loads((HERE / "held_out.toml").read_text()).items():
        for turns in threads:
            answer = None
            for number, (question, *gold) in enumerate(turns):
                answer = opened[graph].ask(question, previous=answer)
                found = labels(answer.as_json())
                if number:
                    asked += 1
                    right += is_right(question, found, gold)
                    wrong += bool(found) and not is_right(question, found, gold)
    assert (right >= 0.8 * asked, wrong) <= (True, 4), (right, wrong, asked)


def test_how_it_was_read_is_said(opened: dict[str, Clew]) -> None:
    first = opened["press"].ask("Who wrote The Salt Road?")
    second = first.ask("And Harmattan?")
    assert (second.question, second.reading) == ("And Harmattan?", "the author of Harmattan")
    assert [word.text for word in second.account if word.as_ == "name"] == ["Harmattan"]
    third = second.ask("When was he born?")
    assert third.notes == ('read as "When was Kofi Mensah born?"',)
    books = second.ask("Which books did he write?")
    assert books.ask("Only those published by Heron House").reading == (
        "books whose author is Kofi Mensah and whose publisher is Heron House"
    )


@pytest.mark.parametrize(
    ("first", "then", "reason", "said"),
    [
        ("Who wrote The Salt Road?", "And Atlantis Rising?", "no_entity", "Atlantis Rising"),
        ("Who wrote The Salt Road?", "What about Krakow?", "unplaced", "nothing of its kind"),
        (
            "Is Night Ferry longer than Small Hours?",
            "And Harmattan?",
            "ambiguous_entity",
            "Night Ferry or Small Hours",
        ),
        ("How many books are there?", "How old is she?", "unplaced", '"she"'),
    ],
)
def test_what_is_unclear_is_left_open(
    opened: dict[str, Clew], first: str, then: str, reason: str, said: str
) -> None:
    answer = opened["press"].ask(first)
    assert answer.answers
    left = answer.ask(then)
    assert not left.answers
    assert left.abstained is not None
    assert (left.abstained.reason, said in left.abstained.detail) == (reason, True), left.abstained
    assert left.thread == answer.thread


def test_a_whole_question_is_asked_as_it_stands(opened: dict[str, Clew]) -> None:
    first = opened["press"].ask("Who wrote The Salt Road?")
    alone, after = opened["press"].ask("Who manages Tern Books?"), first.ask("Who manages Tern Books?")
    assert (after.text, after.reading, after.notes) == (alone.text, alone.reading, alone.notes)


def test_a_model_writes_what_rules_leave_open(opened: dict[str, Clew]) -> None:
    first = opened["press"].ask("Who wrote The Salt Road?")
    model = ScriptedModel(["Question: Who wrote The Salt Road?"])
    answer = first.ask("And Salt Roadd, who made them one?", model=model)
    assert answer.text == "Ada Brandt"
    assert answer.usage.calls == len(model.requests) == 1


def test_a_model_may_not_bring_in_a_name(opened: dict[str, Clew]) -> None:
    first = opened["press"].ask("Who wrote The Salt Road?")
    answer = first.ask("And Atlantis Rising?", model=ScriptedModel(["Question: Who wrote Night Ferry?"]))
    assert answer.abstained is not None
    assert answer.abstained.reason == "no_entity"
    assert answer.usage.calls == 1


@pytest.mark.parametrize("previous", [{"question": "x"}, "Who?", 3, {"thread": {"answers": "x"}}])
def test_no_thread_is_said(opened: dict[str, Clew], previous: Any) -> None:
    with pytest.raises(UsageError, match="previous"):
        opened["press"].ask("And Harmattan?", previous=previous)
