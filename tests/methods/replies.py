"""Recorded replies of a strong model (`tests/data/replies`): they are replayed, and a new prompt has none."""

from __future__ import annotations

from clew.errors import LlmError
from clew.llm.testing import ScriptedModel
from clew.llm.types import Request
from servers.recorded_replies import key_of, recorded


def replaying(method: str) -> ScriptedModel:
    """A model that says what was recorded; a prompt that was not asked is an error that shows its end."""

    def reply(request: Request) -> str | LlmError:
        said = recorded(method).get(key_of([(m.role, m.text) for m in request.messages]))
        last = request.messages[-1].text[-300:]
        return LlmError(f"No reply was recorded to this prompt: …{last}") if said is None else said

    return ScriptedModel(reply)
