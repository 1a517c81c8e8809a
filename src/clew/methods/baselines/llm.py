"""`llm`: the model alone, zero-shot, without the graph (KG-RAG section 4.2.2); not grounded."""

from __future__ import annotations

from collections.abc import Sequence

from clew.errors import UsageError
from clew.index.store.directory import Index
from clew.llm.prompting import Sampling, Talk, as_data, prompt_named, short
from clew.llm.refusals import declines
from clew.llm.types import ChatModel
from clew.methods.baselines.settings import LlmSettings
from clew.methods.kg_rag.method import table_3
from clew.methods.run import Run
from clew.methods.simgrag.examples import default_shots
from clew.text.embedder import Embedder
from clew.types import Abstention, Answer


class Llm:
    """Asks the model."""

    name = "llm"

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: LlmSettings | None = None,
    ) -> None:
        self.model = needed(model, self.name)
        self.settings = settings or LlmSettings()
        self.sampling = table_3(self.settings.seed, self.settings.temperature)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, ungrounded. Raises LlmError."""
        talk = Talk.begin(self.model, id)
        examples = solved_examples(self.settings.shots)
        return Run(self.name, id, talk).answer(
            question, lambda: ungrounded(question, ask_alone(talk, question, self.sampling, examples))
        )


def solved_examples(shots: int) -> str:
    """Return the first worked questions of SimGRAG, with answers alone."""
    solved = default_shots().of("question", shots)
    return "".join(f"Question: {as_data(s.query)}\nAnswer: {', '.join(s.answers)}\n\n" for s in solved)


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
