"""The form in which replies state answers: what is read, and that nothing else is."""

import pytest

from clew.llm.reply import declines, fact_numbers, stated_answer


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ("Why.\nFacts: 1\nAnswer: Christopher Nolan", ("Christopher Nolan",)),
        ("Answer: A; B; C", ("A", "B", "C")), ("Answer: A;\nB; C", ("A", "B", "C")),
        ("**Answer:** `A`; *B*", ("A", "B")), ("Final answer: A", ("A",)), ("The answer is: A", ("A",)),
        ("- Answer: yes", ("yes",)), ("Answer:\n- A\n- B\n\nThat is all.", ("A", "B")),
        ("Answer:\nA; B", ("A", "B")),
        ("Answer: first guess\nNo, that was wrong.\nAnswer: A", ("A",)),
        ("Answer: A; A", ("A",)), ('Answer: "A"', ("A",)),
        ("Answer: Sant Orell, Talesia; Koda", ("Sant Orell, Talesia", "Koda")),
        ('{"reason": "graph [1]", "answers": ["A", "B"]}', ("A", "B")),
        ('```json\n{"answers": [12, true, 2.5]}\n```', ("12", "yes", "2.5")),
        ('{"answer": "A; B"}', ("A", "B")), ('{"answer": false}', ("no",)), ('{"answers": []}', ()),
        ("SP-9514, SP-2909, and SP-1852", ("SP-9514, SP-2909, and SP-1852",)),
        ("I do not know the answer", ()),
    ],
)  # fmt: skip
def test_answers_are_read_from_the_form(reply, items):
    stated = stated_answer(reply)
    assert stated.items == items
    assert stated.form


@pytest.mark.parametrize(
    "reply",
    [
        "", "Alien was directed by Ridley Scott.\nHe is British.", "The first is A.\nThe second is B.",
        '{"reason": "A fits"}', '{"answers": [{"name": "A"}]}\nA', "My answers depend on this: A.\nOr B.",
    ],
)  # fmt: skip
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


NAME = "Christopher Nolan"


@pytest.mark.parametrize(
    "text",
    [
        "I do not know.", "I don’t know the answer", "I'm sorry, but I can't help with that.",
        f"I cannot answer this from the context, which names {NAME}.",
        f"The provided context does not mention who composed it; it only says that {NAME} directed it.",
        f"According to the evidences, there is no connection. They only mention that {NAME} directed it.",
        f"There is no information about this. {NAME} is mentioned as director.",
        f"Unfortunately, none of the facts answers this. {NAME} only directed it.",
        f"Let me look at the facts. The facts don't say who composed it. {NAME} directed it.",
        f"The answer is not mentioned in the facts. {NAME} is.",
        f"{NAME} directed it. Answer: I don't know.",
        f"The composer is not specified in the triples, which only list {NAME}.",
        f"It cannot be determined whether {NAME} composed it.",
        f"As an AI language model, I have no opinion on {NAME}.",
        f"The evidence provides no information about the composer, only {NAME}.",
        f"It is not possible to determine the composer. {NAME} directed it.",
        f"Not enough information is given on {NAME}.", "Unknown.", "N/A",
    ],
)  # fmt: skip
def test_declines(text):
    assert declines(text, [NAME])


@pytest.mark.parametrize(
    "text",
    [
        NAME,
        f"It was directed by {NAME}.",
        f"{NAME} directed it. The facts do not mention other directors.",
        "Christopher-Nolan wrote it. There is no information on others.",
        f"The facts do not mention this directly. Fact 3 does, however. So the answer is {NAME}.",
        f"Based on the facts, {NAME} directed it, as stated.",
    ],
)
def test_answers(text):
    assert not declines(text, [NAME])


def test_a_name_is_no_refusal():
    text = "The film is I Don't Know How She Does It."
    assert not declines(text, ["I Don't Know How She Does It"])


def test_without_names_only_what_comes_first_counts():
    assert declines("I don't know.")
    assert not declines("She acted in many films. I don't know more.")


def test_a_long_text_is_looked_through_in_part():
    assert not declines("word " * 1_000_000 + "I do not know.", [NAME])
