"""No answer comes from outside the form that states it, whatever a model says and whichever method asks."""

import pytest
from golden import Asked
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.engine import Clew
from clew.llm.testing import ScriptedModel
from clew.methods.registry import METHODS, make_method
from clew.types import Answer

QUESTION = "Who dreamt up Alien, would you say?"
ASKED = Asked(
    "small", QUESTION, ("Who directed Alien?",), (("Alien", "directed by", "UNKNOWN person 1"),),
    "MATCH (a {name: 'Alien'})-[:directed_by]->(d) RETURN d.name AS answer", ("Ridley Scott",),
)  # fmt: skip
NAMES = ("Ridley Scott", "David Fincher", "Sigourney Weaver", "Alien 3", "Blade Runner", "yes", "no", "12")
TELLS = (
    "Well, {} is surely what one would say here, given all that we know of it.",
    "I thought about {} for a while\nand then about {} as well,\nsince graph [1] and fact 2 name them.",
    "# Thoughts\n\n- it may be {}, but who knows\n- or else {} would have to be seen\n\nSo much for that.",
    "The user wants {}. In the context, [1] says it is so, and [3] that it isn't. No more can be told.",
)
SAID = st.builds(
    lambda told, names: told.format(*names), st.sampled_from(TELLS), st.permutations(NAMES).map(tuple)
)
OWN_KNOWLEDGE = ("llm", "llm-qd")
"""Methods whose answer is what the model says, marked as not grounded."""


def answer_of(small: Clew, name: str, replies: tuple[str, ...]) -> Answer:
    if name in ("synaptiqa", "kg-query"):
        pytest.importorskip("ladybug")
    said = list(replies)
    model = ScriptedModel(lambda _: said.pop(0) if len(said) > 1 else said[0])
    return make_method(name, small.opened, small.embedder, model).answer(QUESTION)


def script(name: str) -> tuple[str, ...]:
    """What a model says to each step, the last of which states the answer; `auto` is told a query."""
    return ("Query: {Alien} .\"directed by\"",) if name == "auto" else ASKED.script(name)  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=4)
@given(said=SAID)
def test_prose_states_no_answer(small: Clew, name: str, said: str):
    # All steps before the last reply are well done, so that the last one alone decides.
    answer = answer_of(small, name, (*script(name)[:-1], said))
    assert answer.usage.calls
    if name == "auto":  # What the built-in readers found is not the model's.
        assert answer.answers == small.ask(QUESTION).answers
    else:
        assert not (answer.grounded and answer.answers), answer.answers


@pytest.mark.parametrize("name", [name for name in METHODS if name not in (*OWN_KNOWLEDGE, "kg-query")])
def test_the_same_name_in_the_form_is_an_answer(small: Clew, name: str):
    assert [a.label for a in answer_of(small, name, script(name)).answers] == ["Ridley Scott"]
