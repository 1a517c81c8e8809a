"""`llm-qd`: the model takes the question apart and answers the sub-questions itself, without the graph.

LLM+QD of KG-RAG's Experiment 2 (section 4.2.2): KG-RAG's decomposition, reformulation and synthesis, with
the zero-shot prompt of `llm` for each sub-question. Its answers are not grounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.llm.prompting import Talk, as_data, data_lines, prompt_named
from clew.methods.baselines.llm import Llm, ask_alone, solved_examples, ungrounded
from clew.methods.kg_rag.chain import Plan
from clew.methods.kg_rag.decompose import ModelDecompose
from clew.methods.kg_rag.reformulate import reformulated, stop_of_question
from clew.methods.run import Run
from clew.types import Answer, Chain, SubAnswer


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
            plan = ModelDecompose(self.sampling)(question, entities, talk)
            for sub in plan.questions:
                links.append(self._link(sub.text, links, talk))
            told = data_lines(line for link in links for line in (link.asked, f"Answer: {link.text}"))
            prompt = prompt_named("clew.methods.baselines", "llm_qd_synthesise")
            sampling = replace(self.sampling, max_tokens=512)
            return ungrounded(question, talk.ask(prompt, sampling, ANSWERS=told, QUESTION=as_data(question)))

        answer = Run(self.name, id, talk).answer(question, work)
        chain = Chain(plan.reasoning, tuple(links), plan.notes) if links else None
        return replace(answer, chain=chain, complete=not plan.cut)

    def _link(self, text: str, links: Sequence[SubAnswer], talk: Talk) -> SubAnswer:
        asked = text
        if links:
            earlier = data_lines(line for link in links for line in (link.asked, f"Answer: {link.text}"))
            prompt = prompt_named("clew.methods.kg_rag", "reformulate")
            stop = stop_of_question(text, earlier)
            reply = talk.ask(prompt, self.sampling, stop=stop, QUESTION=as_data(text), EARLIER=earlier)
            asked = reformulated(reply, text) or text
        sampling = replace(self.sampling, repeat_penalty=1.1)
        reply = ask_alone(talk, asked, sampling, solved_examples(self.settings.shots))
        return SubAnswer(text, asked, reply)
