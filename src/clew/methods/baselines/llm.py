"""Two baselines without the graph, whose answers are not grounded.

`llm` is the model alone, zero-shot (KG-RAG section 4.2.2). `llm-qd` takes the question apart and answers the
sub-questions itself: LLM+QD of KG-RAG's Experiment 2 (same section), with KG-RAG's decomposition,
reformulation and synthesis, and the zero-shot prompt of `llm` for each sub-question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.index.store.directory import Index
from clew.llm.prompting import Sampling, Talk, as_data, data_lines, prompt_named, short
from clew.llm.refusals import declines
from clew.llm.types import ChatModel
from clew.methods.base import Run, needs_model, ungrounded
from clew.methods.kg_rag.chain import Plan
from clew.methods.kg_rag.decompose import decompose, default_demonstrations
from clew.methods.kg_rag.method import reformulate, table_3
from clew.methods.settings import LlmSettings
from clew.methods.simgrag.examples import default_shots
from clew.text.embedder import Embedder
from clew.types import Abstention, Answer, Chain, SubAnswer


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
        self.model = needs_model(model, self.name)
        self.settings = settings or LlmSettings()
        self.sampling = table_3(self.settings.seed, self.settings.temperature)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, ungrounded. Raises LlmError."""
        talk = Talk.begin(self.model, id)
        return Run(self.name, id, talk).answer(
            question, lambda: ungrounded_answer(question, self._ask_alone(talk, question, self.sampling))
        )

    def _ask_alone(self, talk: Talk, question: str, sampling: Sampling) -> str:
        """Ask a question with nothing but examples: the first worked questions of SimGRAG, answers alone."""
        shots = default_shots().of("question", self.settings.shots)
        examples = "".join(f"Question: {as_data(s.query)}\nAnswer: {', '.join(s.answers)}\n\n" for s in shots)
        prompt = prompt_named("clew.methods.baselines", "llm").with_values(examples=examples)
        return talk.ask(prompt, sampling, EXAMPLES=examples, QUESTION=as_data(question))


class LlmQd(Llm):
    """Asks the model step by step."""

    name = "llm-qd"

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question with a chain, ungrounded. Raises LlmError."""
        talk = Talk.begin(self.model, id)
        links = list[SubAnswer]()
        plan = Plan()

        def work() -> Answer:
            nonlocal plan
            plan = decompose(talk, question, self.sampling, default_demonstrations(), letter=True)
            for text in plan.questions:
                links.append(self._link(text, links, talk))
            prompt = prompt_named("clew.methods.baselines", "llm_qd_synthesise")
            sampling, answers = replace(self.sampling, max_tokens=512), _answers_text(links)
            return ungrounded_answer(
                question, talk.ask(prompt, sampling, ANSWERS=answers, QUESTION=as_data(question))
            )

        answer = Run(self.name, id, talk).answer(question, work)
        chain = Chain(plan.reasoning, tuple(links), plan.notes) if links else None
        return replace(answer, chain=chain, complete=not plan.cut)

    def _link(self, text: str, links: Sequence[SubAnswer], talk: Talk) -> SubAnswer:
        sub_question = text
        if links:
            sub_question = reformulate(talk, text, _answers_text(links), self.sampling, letter=True) or text
        return SubAnswer(
            text,
            sub_question,
            self._ask_alone(talk, sub_question, replace(self.sampling, repeat_penalty=1.1)),
        )


def _answers_text(links: Sequence[SubAnswer]) -> str:
    """Sub-questions with their answers, for a prompt."""
    return data_lines(line for link in links for line in (link.asked, f"Answer: {link.text}"))


def ungrounded_answer(question: str, text: str) -> Answer:
    """An answer that no triple proves; an abstention if it is empty, or says that the model has none."""
    if not text:
        return Answer(question, abstained=Abstention("not_in_evidence", "the model gave no answer"))
    if declines(text):
        detail = f'the model says that it has no answer: "{short(text)}"'
        return Answer(question, abstained=Abstention("not_in_evidence", detail))
    return ungrounded(question, text)
