"""Golden traces of KG-RAG (`tests/data/methods/kg_rag.toml`), and replies in the forms of its prompts."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "data" / "methods" / "kg_rag.toml"


@dataclass(frozen=True)
class Golden:
    """A question, the model's replies, and the outcome; None is not looked at."""

    name: str
    question: str
    replies: tuple[str, ...]
    answers: tuple[str, ...] = ()
    abstained: str | None = None
    asked: tuple[str, ...] | None = None
    sub_answers: tuple[tuple[str, ...], ...] | None = None
    notes: tuple[str, ...] = ()
    complete: bool = True
    reasoning: str | None = None
    calls: int | None = None


def plan(*questions: str, reasoning: str = "Step by step.") -> str:
    """A decomposition in the form that the prompt asks for."""
    numbered = "\n".join(f"{i}. {q}" for i, q in enumerate(questions, 1))
    return f"Reasoning: {reasoning}\nSub-questions:\n{numbered}\n<END>"


CROW = ("What movies were written by John Shirley?", "What is the genre of these movies?")
SHIRLEY = "What genres are the movies written by John Shirley in?"


def said(text: str, answer: str = "") -> str:
    """A reply that states its answer."""
    return f"{text}\nAnswer: {answer or text}"


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


GOLDEN = tuple(
    Golden(**{name: _tuples(value) for name, value in golden.items()})
    for golden in tomllib.loads(FILE.read_text("utf-8"))["golden"]
)
