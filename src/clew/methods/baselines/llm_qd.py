"""`llm-qd`: the model takes the question apart and answers the sub-questions itself, without the graph.

LLM+QD of KG-RAG's Experiment 2 (section 4.2.2): KG-RAG's decomposition, reformulation and synthesis, with
the zero-shot prompt of `llm` for each sub-question. Its answers are not grounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

from clew.index.store.directory import Index
from clew.llm.errors import BudgetReached
from clew.llm.prompting import Talk, as_data, data_lines, prompt_named
from clew.llm.types import ChatModel
from clew.methods.baselines.llm import Settings, ask_alone, finished, needed, ungrounded
from clew.methods.kg_rag.chain import Plan
from clew.methods.kg_rag.decompose import ModelDecompose
from clew.methods.kg_rag.reformulate import reformulated
from clew.text.embedder import Embedder
from clew.types import Abstention, Answer, Chain, SubAnswer


class LlmQd:
    """Asks the model step by step."""

    name = "llm-qd"

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
        self.sampling = self.settings.sampling
        self.decompose = ModelDecompose(self.sampling)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question with a chain, ungrounded. Raises LlmError."""
        began = perf_counter()
        talk = Talk.begin(self.model, id)
        plan, links = Plan(), list[SubAnswer]()
        try:
            plan = self.decompose(question, entities, talk)
            for sub in plan.questions:
                links.append(self._link(sub.text, links, talk))
            told = data_lines(line for link in links for line in (link.asked, f"Answer: {link.text}"))
            prompt, sampling = (
                prompt_named("clew.methods.baselines", "llm_qd_synthesise"),
                replace(self.sampling, max_tokens=512),
            )
            answer = ungrounded(
                question, talk.ask(prompt, sampling, ANSWERS=told, QUESTION=as_data(question))
            )
        except BudgetReached as error:
            answer = Answer(question, abstained=Abstention("budget", str(error)))
        chain = Chain(plan.reasoning, tuple(links), plan.notes) if links else None
        return finished(replace(answer, chain=chain, complete=not plan.cut), self.name, talk, began, id)

    def _link(self, text: str, links: Sequence[SubAnswer], talk: Talk) -> SubAnswer:
        asked = text
        if links:
            earlier = data_lines(line for link in links for line in (link.asked, f"Answer: {link.text}"))
            prompt = prompt_named("clew.methods.kg_rag", "reformulate")
            reply = talk.ask(prompt, self.sampling, stop=("?",), QUESTION=as_data(text), EARLIER=earlier)
            asked = reformulated(reply, text) or text
        sampling = replace(self.sampling, repeat_penalty=1.1)
        reply = ask_alone(talk, asked, sampling, self.settings.examples)
        return SubAnswer(text, asked, reply)
