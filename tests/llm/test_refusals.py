"""Texts that name entities and answer nothing, and texts that answer."""

import pytest

from clew.llm.reply import declines

NAME = "Christopher Nolan"


@pytest.mark.parametrize(
    "text",
    [
        "I do not know.",
        "I don’t know the answer",
        "I'm sorry, but I can't help with that.",
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
        f"Not enough information is given on {NAME}.",
        "Unknown.",
        "N/A",
    ],
)
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
