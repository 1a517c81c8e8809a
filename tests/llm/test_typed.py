from dataclasses import dataclass

import pytest

from clew.errors import LlmError
from clew.llm import ask, run_sync
from clew.llm.reply import complete_parsed
from clew.llm.testing import ScriptedModel
from clew.llm.types import ModelFailed, ModelRefused, ReplyInvalid


@dataclass(frozen=True)
class City:
    name: str
    people: int


OSLO = '{"name": "Oslo", "people": 717710}'
REQUEST = ask("Name a city.", "You know cities.")


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


def test_a_megabyte_is_not_shown_again_in_full():
    model = ScriptedModel(["x" * 1_000_000, OSLO])
    run_sync(model.complete_as(REQUEST, City))
    assert sum(len(m.text) for m in model.requests[1].messages) < 10_000


@pytest.mark.parametrize("refusal", [ModelRefused("no such format", 400), ModelFailed("oops", 500)])
def test_a_form_that_the_server_does_not_take_is_followed_by_the_next(refusal: LlmError):
    model = ScriptedModel([refusal, refusal, OSLO])
    assert run_sync(model.complete_as(REQUEST, City)).value.name == "Oslo"
    assert [r.form for r in model.requests] == ["schema", "json", "text"]
    system = model.requests[2].messages[0].text
    assert system.startswith("You know cities.")
    assert '"people"' in system


def test_any_text_can_be_parsed_with_one_repair():
    def parse(text: str) -> int:
        if not text.isdigit():
            raise ReplyInvalid("it is not a number", text)
        return int(text)

    typed = run_sync(complete_parsed(ScriptedModel(["seven", "7"]), REQUEST, parse))
    assert typed.value == 7
    assert len(typed.replies) == 2
