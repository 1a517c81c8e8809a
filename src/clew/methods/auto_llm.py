"""`auto` where a chat model is configured: the built-in parser first; where it abstains (also because its readings tie),
the model's pattern. One grounded answer either way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.index.directory import Index
from clew.llm.run import run_sync
from clew.llm.types import ChatModel
from clew.methods.auto import Auto
from clew.methods.simgrag import Options, SimGRAG
from clew.text.embedder import Embedder
from clew.types import Answer, Step


class AutoWithModel:
    """Answers questions over one open index, with as few calls of a model as will do."""

    name = "auto"

    def __init__(
        self, index: Index, embedder: Embedder, *, model: ChatModel | None = None, options: Options | None = None
    ) -> None:
        self.parser = Auto(index, embedder)
        self.simgrag = SimGRAG(index, embedder, model=model, options=options, parser=self.parser)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason; raises LlmError if the model is needed and cannot be asked."""
        return run_sync(self.answer_async(question, id=id, entities=entities))

    async def answer_async(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question."""
        plain = self.parser.answer(question, id=id, entities=entities)
        if plain.abstained is None:
            return plain
        asked = await self.simgrag.answer_async(question, id=id, entities=entities)
        timings = {**plain.timings_ms, **asked.timings_ms}
        timings["total"] = plain.timings_ms.get("total", 0.0) + asked.timings_ms.get("total", 0.0)
        steps = (*plain.steps, Step("abstained", {"reason": plain.abstained.reason}), *asked.steps)
        if asked.abstained is None or asked.abstained.reason == "budget":
            return replace(asked, method=self.name, timings_ms=timings, steps=steps)
        # Two abstentions: what the graph itself shows is the better reason.
        return replace(plain, model=asked.model, usage=asked.usage, timings_ms=timings, steps=steps)
