"""The form in which replies state answers: what is read, and that nothing else is."""

import pytest

from clew.llm.reply import fact_numbers, stated_answer


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ("Why.\nFacts: 1\nAnswer: Christopher Nolan", ("Christopher Nolan",)),
        ("Answer: A; B; C", ("A", "B", "C")),
        ("Answer: A;\nB; C", ("A", "B", "C")),
        ("**Answer:** `A`; *B*", ("A", "B")),
        ("Final answer: A", ("A",)),
        ("The answer is: A", ("A",)),
        ("- Answer: yes", ("yes",)),
        ("Answer:\n- A\n- B\n\nThat is all.", ("A", "B")),
        ("Answer:\nA; B", ("A", "B")),
        ("Answer: first guess\nNo, that was wrong.\nAnswer: A", ("A",)),
        ("Answer: A; A", ("A",)),
        ('Answer: "A"', ("A",)),
        ("Answer: Sant Orell, Talesia; Koda", ("Sant Orell, Talesia", "Koda")),
        ('{"reason": "graph [1]", "answers": ["A", "B"]}', ("A", "B")),
        ('```json\n{"answers": [12, true, 2.5]}\n```', ("12", "yes", "2.5")),
        ('{"answer": "A; B"}', ("A", "B")),
        ('{"answer": false}', ("no",)),
        ('{"answers": []}', ()),
        ("SP-9514, SP-2909, and SP-1852", ("SP-9514, SP-2909, and SP-1852",)),
        ("I do not know the answer", ()),
    ],
)
def test_answers_are_read_from_the_form(reply, items):
    stated = stated_answer(reply)
    assert stated.items == items
    assert stated.form


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Alien was directed by Ridley Scott.\nHe is British.",
        "The first is A.\nThe second is B.",
        '{"reason": "A fits"}',
        '{"answers": [{"name": "A"}]}\nA',
        "My answers depend on this: A.\nOr B.",
    ],
)
def test_what_states_no_answer_has_none(reply):
    stated = stated_answer(reply)
    assert not stated.items
    assert not stated.form


def test_the_words_of_the_model_are_kept_without_the_lines_of_the_form():
    stated = stated_answer("It has two.\nThey are on line A.\nFacts: 1, 3-5\nAnswer: 2")
    assert stated.text == "It has two.\nThey are on line A."
    assert stated.facts == (1, 3, 4, 5)


def test_facts_of_json_are_read():
    assert stated_answer('{"answers": ["A"], "facts": [1, 4]}').facts == (1, 4)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("2, 5-8", (2, 5, 6, 7, 8)), ("[1] [3]", (1, 3)), ("none", ()), ("1-999999", ()), ("4–6; 4", (4, 5, 6))],
)
def test_numbers_of_facts(text, numbers):
    assert fact_numbers(text) == numbers
