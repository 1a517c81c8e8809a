"""`llm`: the model alone, zero-shot, without the graph (KG-RAG section 4.2.2); not grounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from clew.errors import UsageError
from clew.index.directory import Index
from clew.llm.errors import BudgetReached
from clew.llm.types import ChatModel
from clew.methods.kg_rag import TABLE_3
from clew.steps.declined import declines
from clew.steps.prompting import Talk, data_line, prompt_named, short
from clew.text.embedder import Embedder
from clew.types import Abstention, Answer


@dataclass(frozen=True, slots=True)
class Settings:
    """The seed of the model's sampling."""

    seed: int = 0


class Llm:
    """Asks the model."""

    name = "llm"

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.model = needed(model, self.name)
        self.sampling = replace(TABLE_3, seed=(settings or Settings()).seed)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, ungrounded. Raises LlmError."""
        began = perf_counter()
        talk = Talk.begin(self.model, id)
        try:
            text = talk.ask(prompt_named("llm"), self.sampling, QUESTION=data_line(question))
            answer = ungrounded(question, text)
        except BudgetReached as error:
            answer = Answer(question, abstained=Abstention("budget", str(error)))
        return finished(answer, self.name, talk, began, id)


def needed(model: ChatModel | None, name: str) -> ChatModel:
    """The model; UsageError if there is none."""
    if model is None:
        raise UsageError(
            f"The method {name} needs a chat model. Name one with --llm, as in --llm ollama/llama3.1"
        )
    return model


def ungrounded(question: str, text: str) -> Answer:
    """An answer that no triple proves; an abstention if it is empty, or says that the model has none."""
    if not text:
        return Answer(question, abstained=Abstention("not_in_evidence", "the model gave no answer"))
    if declines(text):
        detail = f'the model says that it has no answer: "{short(text)}"'
        return Answer(question, abstained=Abstention("not_in_evidence", detail))
    return Answer(question, text=text, grounded=False)


def finished(answer: Answer, name: str, talk: Talk, began: float, id: str | None) -> Answer:
    """The answer with what it cost."""
    total = round((perf_counter() - began) * 1000, 3)
    return replace(
        answer,
        method=name,
        model=talk.model.name,
        usage=talk.usage,
        timings_ms={"total": total},
        steps=tuple(talk.steps),
        id=id,
    )
