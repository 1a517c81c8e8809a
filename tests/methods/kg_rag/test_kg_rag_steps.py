"""Decompositions of KG-RAG in the forms that models write them in."""

import pytest

from clew.engine import Clew
from clew.llm.testing import ScriptedModel
from clew.methods.kg_rag.method import KgRag
from clew.methods.settings import KgRagSettings


@pytest.mark.parametrize(
    ("reply", "reasoning", "questions"),
    [
        ("Reasoning: r\nSub-questions:\n1. a?\n2. b?", "r", ["a?", "b?"]),
        ("**Reasoning:** r\n\n### Sub-questions\n1) a?\n(2) b", "r", ["a?", "b"]),
        ("Chain-of-Thought: r\n1. a?\n2. b?", "r", ["a?", "b?"]),
        ("I do:\n1. find a\n2. find b", "I do: 1. find a 2. find b", ["Q of Alien?"]),
        ("Sub-questions:\nSub-question 1: a?\nSub-question 2: b?", "", ["a?", "b?"]),
        ("Sub-questions:\nnothing", "", ["Q of Alien?"]),
        ("", "", ["Q of Alien?"]),
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
        ("I'm sorry, I can't help with that.", "I'm sorry, I can't help with that.", ["Q of Alien?"]),
        ("Sub-questions:\n1. a?\n2. " + "b" * 3000, "", ["a?"]),
    ],
)
def test_decompositions_are_read(small: Clew, reply: str, reasoning: str, questions: list[str]):
    replies = iter([reply])
    model = ScriptedModel(lambda _: next(replies, "Answer: none"))
    method = KgRag(small.opened, small.embedder, model=model, settings=KgRagSettings(records="steps"))
    chain = method.answer("Q of Alien?").chain
    assert chain is not None
    assert chain.reasoning == reasoning
    assert [link.question for link in chain.links] == questions
