from __future__ import annotations

from dataclasses import dataclass

import pytest

from clew.errors import LlmError
from clew.llm import Reply, ask, run_sync
from clew.llm.errors import ContextOverflow, KeyRefused, ModelFailed, ModelRefused, ReplyInvalid
from clew.llm.testing import ScriptedModel
from clew.llm.typed import complete_parsed
from clew.types import Usage


@dataclass(frozen=True)
class City:
    name: str
    people: int


OSLO = '{"name": "Oslo", "people": 717710}'
REQUEST = ask("Name a city.", "You know cities.")


def test_a_good_reply_takes_one_call_in_the_strongest_form():
    model = ScriptedModel([OSLO])
    typed = run_sync(model.complete_as(REQUEST, City))
    assert typed.value == City("Oslo", 717710)
    (request,) = model.requests
    assert request.form == "schema"
    assert request.schema is not None
    assert request.messages == REQUEST.messages


def test_a_bad_reply_is_repaired_once_with_the_reason_shown():
    model = ScriptedModel(['{"name": "Oslo"}', OSLO])
    typed = run_sync(model.complete_as(REQUEST, City))
    assert typed.value.people == 717710
    assert len(typed.replies) == 2
    repair = model.requests[1].messages
    assert repair[:2] == REQUEST.messages
    assert repair[2].text == '{"name": "Oslo"}'
    assert "missing required field `people`" in repair[3].text


def test_a_second_bad_reply_is_a_typed_failure():
    model = ScriptedModel(["no", "never", OSLO])
    with pytest.raises(ReplyInvalid, match="no JSON"):
        run_sync(model.complete_as(REQUEST, City))
    assert len(model.requests) == 2


def test_a_reply_cut_off_is_told_to_be_brief():
    cut = Reply('{"name": "Os', "m", Usage(1, 1, 1), finish="length")
    model = ScriptedModel([cut, OSLO])
    run_sync(model.complete_as(REQUEST, City))
    assert "too long" in model.requests[1].messages[-1].text


def test_a_megabyte_is_not_shown_again_in_full():
    model = ScriptedModel(["x" * 1_000_000, OSLO])
    run_sync(model.complete_as(REQUEST, City))
    assert sum(len(m.text) for m in model.requests[1].messages) < 10_000


def test_an_empty_reply_is_repaired_without_an_empty_turn():
    model = ScriptedModel(["", OSLO])
    run_sync(model.complete_as(REQUEST, City))
    assert all(m.text for m in model.requests[1].messages)


@pytest.mark.parametrize("refusal", [ModelRefused("no such format", 400), ModelFailed("oops", 500)])
def test_a_form_that_the_server_does_not_take_is_followed_by_the_next(refusal: LlmError):
    model = ScriptedModel([refusal, refusal, OSLO])
    assert run_sync(model.complete_as(REQUEST, City)).value.name == "Oslo"
    assert [r.form for r in model.requests] == ["schema", "json", "text"]
    system = model.requests[2].messages[0].text
    assert system.startswith("You know cities.")
    assert '"people"' in system


def test_a_refused_form_is_not_tried_again():
    model = ScriptedModel([ModelRefused("no such format", 400), OSLO, OSLO])
    run_sync(model.complete_as(REQUEST, City))
    run_sync(model.complete_as(REQUEST, City))
    assert [r.form for r in model.requests] == ["schema", "json", "json"]


@pytest.mark.parametrize(
    "error",
    [KeyRefused("key", 401), ContextOverflow("long", 400), LlmError("other"), ModelFailed("busy", 503)],
)
def test_other_failures_are_not_about_the_form(error: LlmError):
    model = ScriptedModel([error, OSLO])
    with pytest.raises(type(error)):
        run_sync(model.complete_as(REQUEST, City))
    assert len(model.requests) == 1


def test_when_all_forms_are_refused_the_first_refusal_is_raised():
    model = ScriptedModel([ModelRefused(word, 400) for word in ("first", "second", "third")])
    with pytest.raises(ModelRefused, match="first"):
        run_sync(model.complete_as(REQUEST, City))


def test_any_text_can_be_parsed_with_one_repair():
    def parse(text: str) -> int:
        if not text.isdigit():
            raise ReplyInvalid("it is not a number", text)
        return int(text)

    typed = run_sync(complete_parsed(ScriptedModel(["seven", "7"]), REQUEST, parse))
    assert typed.value == 7
    assert len(typed.replies) == 2


def test_only_dataclasses_can_be_asked_for():
    with pytest.raises(TypeError, match="dataclass"):
        run_sync(ScriptedModel([]).complete_as(REQUEST, int))
