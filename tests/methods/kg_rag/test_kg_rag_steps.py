"""Steps of KG-RAG: reading a decomposition, prompts, names in a text, proofs, the order of hops, seeds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.graph.graph import Names
from clew.llm.prompting import prompt_named
from clew.methods.kg_rag.decompose import plan_of
from clew.methods.kg_rag.method import as_question, stop_of_question
from clew.methods.kg_rag.retrieve import gone_on_from
from clew.methods.topic_entities import entities_named_in, without_names
from graph.reference import make_graph


def named_graph(names: list[str], triples: list[tuple[int, int, int]]):
    labels = Names.of(names)
    return replace(make_graph(len(names), 3, triples), entities=labels, labels=labels)


@pytest.mark.parametrize(
    ("reply", "reasoning", "questions"),
    [
        ("Reasoning: r\nSub-questions:\n1. a?\n2. b?", "r", ["a?", "b?"]),
        ("**Reasoning:** r\n\n### Sub-questions\n1) a?\n(2) b", "r", ["a?", "b"]),
        ("Chain-of-Thought: r\n1. a?\n2. b?", "r", ["a?", "b?"]),
        ("I do:\n1. find a\n2. find b", "I do: 1. find a 2. find b", ["Q?"]),
        ("Sub-questions:\nSub-question 1: a?\nSub-question 2: b?", "", ["a?", "b?"]),
        ("Sub-questions:\nnothing", "", ["Q?"]),
        ("", "", ["Q?"]),
        ("Sub-questions:\n1. a?\n2. A ?\n3. b?", "", ["a?", "b?"]),
        ("**Reasoning:** r\n\n**Sub-questions:**\n\n**1.** a?\n**2.** b", "r", ["a?", "b"]),
        ("Reasoning: r\nSub-questions: 1. a? 2. b?", "r", ["a?", "b?"]),
        ("### Reasoning\nr\n### Sub-questions\n- a?\n- b", "r", ["a?", "b"]),
        ("- a?\n- b?", "", ["a?", "b?"]),
        ("**Sub-question 1:** a?\n**Sub-question 2:** b?", "", ["a?", "b?"]),
        ("Step 1: a?\nStep 2: b?", "", ["a?", "b?"]),
        ("Reasoning: r\nSub-questions:\na?\nb?", "r", ["a?", "b?"]),
        ("```\nReasoning: r\nSub-questions:\n1. a?\n```", "r", ["a?"]),
        ('{"reasoning": "r", "sub_questions": ["a?", "b?"]}', "r", ["a?", "b?"]),
        ("Sub-questions:\n1. a?\nAnswer: x\n2. b?\nAnswer: y", "", ["a?", "b?"]),
        ("I'm sorry, I can't help with that.", "I'm sorry, I can't help with that.", ["Q?"]),
        ("Sub-questions:\n1. a?\n2. " + "b" * 3000, "", ["a?"]),
    ],
)
def test_decompositions_are_read(reply: str, reasoning: str, questions: list[str]):
    plan = plan_of(reply, "Q?")
    assert plan.reasoning == reasoning
    assert list(plan.questions) == questions


@settings(max_examples=100)
@given(st.text(max_size=300))
def test_any_text_is_some_plan(text: str):
    plan = plan_of(text, "Q?")
    assert 1 <= len(plan.questions) <= 8


@pytest.mark.parametrize(
    ("reply", "question"),
    [
        ("Who is it", "Who is it?"),
        ("Who is it?", "Who is it?"),
        ('Sure:\n"Who is it"\n', "Who is it?"),
        ('Who wrote "Who Is She?" in 1970', 'Who wrote "Who Is She?" in 1970?'),
        ("…\n", ""),
        ("w" * 3000, ""),
        ("", ""),
    ],
)
def test_a_question_is_made_of_a_reply_that_was_stopped(reply: str, question: str):
    assert as_question(reply) == question


@pytest.mark.parametrize(
    ("question", "earlier", "stop"),
    [
        ("Who wrote it?", "1. What did Ann play in?\nAnswer: Alien", ("?",)),
        ("Who wrote it?", "1. What did Ann play in?\nAnswer: Who Is She?", ()),
        ("Who wrote it?", "1. Who played in Who Is She? in 1970?\nAnswer: Ann", ()),
        ("Who wrote Who Is She? in 1970?", "1. What?\nAnswer: Ann", ()),
    ],
)
def test_a_question_mark_inside_a_name_does_not_stop_a_reformulation(question, earlier, stop):
    assert stop_of_question(question, earlier) == stop


def test_every_prompt_has_its_slots_and_a_version():
    for name in ("decompose", "sub_answer", "reformulate", "synthesise"):
        prompt = prompt_named("clew.methods.kg_rag", name)
        assert "{{QUESTION}}" in prompt.user
        assert prompt.system
        assert len(prompt.version) == 12


def test_longer_names_come_before_those_in_them():
    graph = named_graph(["Alien", "Alien 3", "Ripley", "ripley"], [])
    assert entities_named_in(graph, "alien_3, and Ripley.", range(4)) == (1, 2)
    assert entities_named_in(graph, "Alien, Alien 3; RIPLEY", range(4)) == (0, 1, 2, 3)
    assert entities_named_in(graph, "Aliens", range(4)) == ()
    assert entities_named_in(graph, "Alien Alien Alien", range(4)) == (0,)


def test_names_are_taken_out_as_whole_words():
    graph = named_graph(["The Crow", "Crow", "A.B."], [])
    assert without_names(graph, "Is the crow a Crow, A.B. or Crows?", range(3)) == "Is  a ,  or Crows?"
    assert without_names(graph, "Is it?", range(3)) == "Is it?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which classes does Physics have?", (1, 4)),  # another branch than the last sub-answer
        ("Who teaches Latin?", (2, 3, 4)),  # its list is taken whole
        ("Who is in room twelve?", (4,)),
        ("Who else?", (1, 2, 3, 4)),
    ],
)
def test_a_sub_question_goes_on_from_what_it_names_and_the_last_sub_answer(text: str, expected: object):
    graph = named_graph(["School", "Physics", "Latin", "Greek", "room twelve"], [(0, 0, 1)])
    assert gone_on_from(graph, text, [{1: ()}, {2: (), 3: ()}, {}, {4: ()}]) == expected
