"""`auto` with a model: what is sure is not asked; a reply is a number, a query or none, no more is read.

What the reader does not say too has to be chosen twice.
"""

import re

import pytest

from clew.llm.budget import Limits
from clew.llm.managed import ManagedModel
from clew.llm.providers import Policy
from clew.llm.testing import ScriptedModel
from clew.methods.auto.method import make_auto
from clew.methods.settings import AutoSettings

OPEN = "For how much of an evening does Memento keep one in the seat?"


@pytest.fixture
def ask(films):
    """Ask with scripted replies; returns the answer and the model."""

    def run(question, *replies, **given):
        model = ScriptedModel(list(replies))
        return make_auto(films.opened, films.embedder, model=model).answer(question, **given), model

    return run


def names(answer):
    return [a.entity for a in answer.answers]


def test_what_both_readers_answer_alike_is_not_asked(ask):
    answer, model = ask("Who directed Memento?")
    assert (names(answer), answer.usage.calls, model.requests) == (["Christopher Nolan"], 0, [])


def test_a_query_of_the_model_is_executed_and_proved(ask):
    answer, _ = ask(OPEN, *["It asks for the length.\nQuery: {Memento} .runtime_minutes"] * 2)
    assert (names(answer), answer.method, answer.model, answer.usage.calls) == (
        ["113"],
        "auto",
        "scripted/test",
        2,
    )
    assert [c.triples[0].as_json() for c in answer.citations] == [["Memento", "runtime_minutes", "113"]]


def readings(request):
    """The numbers of the readings that a prompt offers, by their notation."""
    block = re.search(r"<readings>\n(.*?)\n</readings>", request.messages[1].text, re.S)[1]
    lines = (line.partition(". ") for line in block.splitlines())
    return {re.sub(r" — .*| \(\d+ answers?\)$", "", text): number for number, _, text in lines}


def test_a_number_chooses_the_reading_that_it_was_shown_with(films):
    def choose(request):
        return f"Query: {readings(request)['{Memento} .runtime_minutes']}"

    assert names(films.ask(OPEN, model=ScriptedModel(choose))) == ["113"]


def test_on_the_second_look_no_reading_has_the_number_that_it_had(ask):
    _, model = ask(OPEN, "Query: 1", "Query: 1")
    first, second = map(readings, model.requests)
    assert first.keys() == second.keys()
    assert all(first[text] != second[text] for text in first)
    assert "— the runtime of Memento (1 answer)" in model.requests[1].messages[1].text
    assert "<graph>" not in model.requests[1].messages[1].text


def test_a_query_of_the_model_is_believed_at_once_if_it_follows_a_relation(ask):
    answer, model = ask(OPEN, "Query: {Memento} .runtime_minutes | {Alien} .runtime_minutes")
    assert (set(names(answer)), len(model.requests)) == ({"113", "117"}, 1)
    assert ask(OPEN, "Query: {Memento} | {Alien}")[0].abstained is not None


@pytest.mark.parametrize(
    ("replies", "calls"),
    [
        (("Query: 1", "Query: 1"), 2),  # each is chosen once
        (("The graph holds nothing of that.\nQuery: none",), 1),
        (("Surely Christopher Nolan.\nQuery: none",), 1),
        (("no idea", "still none"), 2),
    ],
)
def test_what_is_not_chosen_is_not_answered(ask, replies, calls):
    answer, _ = ask(OPEN, *replies)
    assert answer.abstained is not None
    assert (answer.answers, answer.citations, answer.usage.calls) == ((), (), calls)


def test_without_a_second_look_the_first_choice_is_answered(films):
    model = ScriptedModel(["Query: {Memento} .runtime_minutes"])
    answer = films.ask(OPEN, model=model, settings={"second_look": False})
    assert (names(answer), answer.usage.calls) == (["113"], 1)


def test_a_reply_that_cannot_be_read_is_asked_for_once_more(ask):
    found = "Query: {Memento} .runtime_minutes"
    answer, model = ask(OPEN, "Query: {Memento} .no_such_relation", found, found)
    assert names(answer) == ["113"]
    assert "no_such_relation" in model.requests[1].messages[-1].text


def test_a_query_that_finds_nothing_is_asked_for_once_more(ask):
    empty = "Query: {Memento} .directed_by .runtime_minutes"
    answer, model = ask(OPEN, empty, *["Query: {Memento} .runtime_minutes"] * 2)
    assert names(answer) == ["113"]
    assert "finds nothing" in model.requests[1].messages[-1].text
    answer, _ = ask(OPEN, empty, empty)
    assert (answer.abstained.reason, answer.usage.calls) == ("empty_result", 2)


def test_a_confidence_of_one_leaves_what_the_rules_leave(films):
    answer = make_auto(films.opened, films.embedder, settings=AutoSettings(confidence=1.0)).answer(OPEN)
    assert answer.abstained is not None


def test_a_budget_that_is_reached_is_an_abstention_of_questions_and_follow_ups(films):
    model = ManagedModel(ScriptedModel(["Query: none"]), Policy(per_question=Limits(tokens=5)))
    last = films.ask("Who directed Memento?")
    for answer in (
        films.ask(OPEN, model=model),
        films.ask("And what about its reception?", model=model, previous=last),
    ):
        assert answer.abstained is not None
        assert answer.abstained.reason == "budget"
        assert answer.usage.calls == 0
