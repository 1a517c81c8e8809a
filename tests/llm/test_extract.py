"""Hostile replies: each ends in the right value, or in `ReplyInvalid` with a reason."""

import json
import time
from contextlib import suppress
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import LlmError
from clew.llm import ask, run_sync
from clew.llm.reply import LONGEST_JSON_REPLY, build, clean, complete_parsed, read_value
from clew.llm.testing import ScriptedModel
from clew.llm.types import ModelFailed, ModelRefused, ReplyInvalid


@dataclass(frozen=True)
class Person:
    name: str
    age: int
    tags: tuple[str, ...] = ()


def read(text: str, stop: tuple[str, ...] = ()) -> Person:
    return read_value(clean(text, stop), lambda value: build(Person, value))


ADA = Person("Ada", 36)
JSON = '{"name": "Ada", "age": 36}'

GOOD = {
    "plain": JSON,
    "white space": f"\n\n\t {JSON} \r\n",
    "byte order mark": f"\ufeff{JSON}",
    "prose around": f"Sure! Here is what you asked for: {JSON}. Let me know!",
    "fence": f"```json\n{JSON}\n```",
    "fence without a language": f"Here:\n```\n{JSON}\n```\nThat's it.",
    "fence never closed": f"```json\n{JSON}",
    "fence in CRLF": f"```json\r\n{JSON}\r\n```",
    "fence within a fence": f"```markdown\n```json\n{JSON}\n```\n```",
    "other code first": f'```python\nprint({{"x": [1, 2]}})\n```\n```json\n{JSON}\n```',
    "the same twice": f"{JSON}\n\nSo the answer is:\n```json\n{JSON}\n```",
    "thought": f'<think>Maybe {{"name": "Bob", "age": 1}}? No.</think>\n{JSON}',
    "thought opened in the prompt": f'It may be {{"name": "Bob", "age": 1}}.</think>{JSON}',
    "two thoughts": f"<think>a</think><thinking>b</thinking>{JSON}",
    "thought in capitals": f"<THINK>hm</THINK>{JSON}",
    "stop token": f"{JSON}<|im_end|>",
    "stop token and more": f'{JSON}<|im_end|>\n<|im_start|>user\n{{"name": "Eve", "age": 2}}',
    "stop token before": f"<|im_start|>{JSON}</s>",
    "braces in prose": f"The set {{x}} is [not] what {{you}} want: {JSON}",
    "more members than asked": '{"name": "Ada", "age": 36, "mood": null}',
    "another language": f"Voilà la réponse demandée : {JSON} 以上です。 وهذا كل شيء",
    "escapes": '{"name": "\\u0041da", "age": 36}',
    "null members of strangers": '{"a": {"b": null}} ' + JSON,
    "own stop word": f'{JSON}\n###\n{{"name": "Eve", "age": 1}}',
}

BAD = {
    "empty": "",
    "white space": " \n ",
    "no JSON": "I am sorry, but I cannot help with that.",
    "only a thought": "<think>I wonder whether",
    "thought never closed": f"<think>Maybe {JSON} or not",
    "only a stop token": "<|im_end|>",
    "truncated": '{"name": "Ada", "ag',
    "truncated in a string": '{"name": "Ada and so on and',
    "truncated in an escape": '{"name": "Ad\\u00',
    "text for a number": '{"name": "Ada", "age": "36"}',
    "true for a number": '{"name": "Ada", "age": true}',
    "fraction for an integer": '{"name": "Ada", "age": 36.5}',
    "number for text": '{"name": 7, "age": 36}',
    "null for text": '{"name": null, "age": 36}',
    "missing member": '{"name": "Ada"}',
    "list for an object": '["Ada", 36]',
    "text for a list": '{"name": "Ada", "age": 36, "tags": "x"}',
    "member twice": '{"name": "Ada", "age": 36, "age": 37}',
    "NaN": '{"name": "Ada", "age": NaN}',
    "infinity": '{"name": "Ada", "age": -Infinity}',
    "single quotes": "{'name': 'Ada', 'age': 36}",
    "trailing comma": '{"name": "Ada", "age": 36,}',
    "comment": '{"name": "Ada", /* sic */ "age": 36}',
    "half a surrogate pair": '{"name": "\\ud800", "age": 36}',
    "two answers": f'{JSON} or {{"name": "Bob", "age": 7}}',
    "control character in a string": '{"name": "A\nda", "age": 36}',
    "a number of 5000 digits": '{"name": "Ada", "age": ' + "9" * 5000 + "}",
    "nested 100,000 deep": "[" * 100_000,
    "nested objects never closed": '{"a":' * 50_000,
    "a megabyte of braces": "{" * LONGEST_JSON_REPLY,
    "a megabyte of text": "lorem ipsum " * 90_000,
    "JSON after a megabyte": "x" * LONGEST_JSON_REPLY + JSON,
    "another schema": '{"type": "object", "properties": {"name": {"type": "string"}}}',
    "python call": '__import__("os").system("echo")',
    "another language": "Je ne sais pas. 知りません。",
}


@pytest.mark.parametrize("case", GOOD)
def test_the_value_is_found(case: str):
    assert read(GOOD[case], ("###",)) == ADA


@pytest.mark.parametrize("case", BAD)
def test_no_value_is_made_up(case: str):
    began = time.process_time()
    with pytest.raises(ReplyInvalid) as caught:
        read(BAD[case])
    assert caught.value.reason
    assert len(str(caught.value)) < 400
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"name": "Ada"}', "missing required field `age`"),
        ('{"name": "Ada", "age": "36"}', "at $.age: Expected `int`, got `str`"),
        ('{"name": "Ada", "age": 36, "age": 37}', "'age' is there twice"),
        ('{"name": "Ada", "age": NaN}', "NaN is not a JSON number"),
        ('{"name": "Ada", "ag', "not valid JSON"),
        (f'{JSON} or {{"name": "Bob", "age": 7}}', "2 different JSON values"),
        ("", "empty"),
        ("no", "no JSON"),
    ],
)
def test_the_reason_says_what_is_wrong(text: str, reason: str):
    with pytest.raises(ReplyInvalid) as caught:
        read(text)
    assert reason in caught.value.reason


def test_a_string_may_hold_anything():
    odd = Person("</s> ``` <think> {[\"\\ 'x'", 1)
    # A stop token ends the reply wherever it is; all else is kept.
    kept = Person(odd.name.replace("</s>", ""), 1)
    text = json.dumps({"name": kept.name, "age": 1})
    assert read(text) == kept


MEMBERS = ('"name": "Ada"', '"age": 36', JSON)


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from([*'{}[]":,\\ 07-.e\n`</|', "```", "<think>", "</think>", "null", *MEMBERS]),
        max_size=40,
    )
)
def test_any_text_is_a_value_or_a_typed_failure(pieces: list[str]):
    with suppress(ReplyInvalid):
        assert isinstance(read("".join(pieces)), Person)


PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<|`["), max_size=20)


@settings(max_examples=100)
@given(PLAIN, st.integers(-(10**9), 10**9), st.lists(PLAIN, max_size=3), st.booleans(), st.booleans())
def test_what_is_written_is_read(name: str, age: int, tags: list[str], ascii: bool, fenced: bool):
    text = json.dumps({"name": name, "age": age, "tags": tags}, ensure_ascii=ascii)
    text = f"Here:\n```json\n{text}\n```" if fenced else f"Here: {text}"
    assert read(text) == Person(name, age, tuple(tags))


def test_backslashes_of_markdown_are_taken_off_and_those_of_json_stay():
    assert clean(r"MATCH (a)-\[r:ACTED\_IN\]->(m) RETURN a") == "MATCH (a)-[r:ACTED_IN]->(m) RETURN a"
    assert read(r'{"name": "Ada", "age": 36, "tags": ["a\_b", "c\\_d"]}').tags == ("a_b", "c\\_d")


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
