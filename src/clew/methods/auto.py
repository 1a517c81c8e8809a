"""`auto` where a chat model is configured: the built-in parser first.

Where it abstains (also because its readings tie), the model's pattern. One grounded answer either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clew.errors import UsageError
from clew.index.store.directory import Index
from clew.reading.rules.auto import Auto, auto_of
from clew.text.embedder import Embedder
from clew.types import Answer, Step

if TYPE_CHECKING:
    from clew.llm.types import ChatModel
    from clew.methods.simgrag.method import Settings


def make_auto(
    index: Index, embedder: Embedder, *, model: ChatModel | None = None, settings: Settings | None = None
) -> Auto | AutoWithModel:
    """Make the default method: without a model the built-in parser alone. `settings` are those of SimGRAG.

    Raises UsageError for settings without a model.
    """
    if model is not None:
        return AutoWithModel(index, embedder, model, settings)
    if settings is not None:
        raise UsageError("These settings are for a language model. Name one with --llm provider/model")
    return auto_of(index, embedder)


class AutoWithModel:
    """Answers questions over one open index, with as few calls of a model as will do."""

    name = "auto"

    def __init__(
        self, index: Index, embedder: Embedder, model: ChatModel, settings: Settings | None = None
    ) -> None:
        # Without a model nothing of the LLM layer is imported.
        from clew.methods.simgrag.method import SimGRAG

        self.parser = auto_of(index, embedder)
        self.simgrag = SimGRAG(index, embedder, model=model, settings=settings, parser=self.parser)

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason.

        Raises LlmError if the model is needed and cannot be asked.
        """
        plain = self.parser.answer(question, id=id, entities=entities)
        if plain.abstained is None:
            return plain
        asked = self.simgrag.answer(question, id=id, entities=entities)
        timings = {**plain.timings_ms, **asked.timings_ms}
        timings["total"] = plain.timings_ms.get("total", 0.0) + asked.timings_ms.get("total", 0.0)
        steps = (*plain.steps, Step("abstained", {"reason": plain.abstained.reason}), *asked.steps)
        if asked.abstained is None or asked.abstained.reason == "budget":
            return replace(asked, method=self.name, timings_ms=timings, steps=steps)
        # Two abstentions: what the graph itself shows is the better reason.
        return replace(plain, model=asked.model, usage=asked.usage, timings_ms=timings, steps=steps)
