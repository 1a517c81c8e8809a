"""Recorded replies of a strong model (`tests/data/replies`): they are replayed, and a new prompt has none."""

from functools import cache
from typing import Any

from clew.engine import Clew
from clew.errors import LlmError
from clew.llm.testing import ScriptedModel
from clew.llm.types import Request
from clew.methods.registry import make_method
from servers.recorded_replies import key_of, recorded


def replaying(method: str) -> ScriptedModel:
    """A model that says what was recorded; a prompt that was not asked is an error that shows its end."""

    def reply(request: Request) -> str | LlmError:
        said = recorded(method).get(key_of([(m.role, m.text) for m in request.messages]))
        last = request.messages[-1].text[-300:]
        return LlmError(f"No reply was recorded to this prompt: …{last}") if said is None else said

    return ScriptedModel(reply)


@cache
def _made(clew: Clew, method: str) -> Any:
    return make_method(method, clew.opened, clew.embedder, ScriptedModel([]))


def method_with(clew: Clew, method: str, model: ScriptedModel) -> Any:
    """A method that asks this model; made once of a graph, since SynaptiQA fills a database with it."""
    made = _made(clew, method)
    made.model = model
    return made
