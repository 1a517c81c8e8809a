"""Steps of KG-RAG: reading a decomposition, prompts, names in a text, proofs, the order of hops, seeds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.methods.kg_rag.decompose import plan_of


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
