"""`llm`: the model alone, zero-shot, without the graph (KG-RAG section 4.2.2); not grounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from clew.errors import UsageError
from clew.index.store.directory import Index
from clew.llm.errors import BudgetReached
from clew.llm.prompting import Sampling, Talk, as_data, prompt_named, short
from clew.llm.refusals import declines
from clew.llm.types import ChatModel
from clew.methods.kg_rag.method import TABLE_3
from clew.methods.simgrag.examples import default_shots
from clew.text.embedder import Embedder
from clew.types import Abstention, Answer


@dataclass(frozen=True, slots=True)
class Settings:
    """Seed and temperature of the model's sampling; `shots` worked questions in the prompt.

    The paper that has this baseline has none; SimGRAG gives it 12 (section C.2). Raises UsageError for values
    out of range.
    """

    seed: int = 0
    temperature: float = 0.3
    shots: int = 0

    def __post_init__(self) -> None:
        if self.shots < 0 or not 0 <= self.temperature <= 2:
            raise UsageError("llm: shots must be at least 0, the temperature from 0 to 2")

    @property
    def sampling(self) -> Sampling:
        """KG-RAG's Table 3."""
        return replace(TABLE_3, seed=self.seed, temperature=self.temperature)

    @property
    def examples(self) -> str:
        """The worked questions, those of SimGRAG, with answers alone."""
        shots = default_shots().of("question", self.shots)
        return "".join(f"Question: {as_data(s.query)}\nAnswer: {', '.join(s.answers)}\n\n" for s in shots)


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
        self.settings = settings or Settings()

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, ungrounded. Raises LlmError."""
        began = perf_counter()
        talk = Talk.begin(self.model, id)
        try:
            text = ask_alone(talk, question, self.settings.sampling, self.settings.examples)
            answer = ungrounded(question, text)
        except BudgetReached as error:
            answer = Answer(question, abstained=Abstention("budget", str(error)))
        return finished(answer, self.name, talk, began, id)


def ask_alone(talk: Talk, question: str, sampling: Sampling, examples: str = "") -> str:
    """Ask a question with nothing but examples. Raises LlmError."""
    prompt = prompt_named("clew.methods.baselines", "llm").with_values(examples=examples)
    return talk.ask(prompt, sampling, EXAMPLES=examples, QUESTION=as_data(question))


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
