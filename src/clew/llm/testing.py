"""A chat model for tests that says what it is told to say, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clew.errors import LlmError
from clew.llm.reply import ChatModel
from clew.llm.types import Hear, Reply, Request
from clew.types import Usage

ScriptedLine = str | Reply | LlmError
"""A scripted reply: its text, the whole of it, or the error to raise."""


class ScriptedModel(ChatModel):
    """Replies with a list, in order, or with a function of the request; `requests` records what was asked.

    A text counts one token for four characters, so that usage and budgets have something to count.
    """

    def __init__(
        self,
        script: Sequence[ScriptedLine] | Callable[[Request], ScriptedLine],
        *,
        name: str = "scripted/test",
    ) -> None:
        super().__init__(name)
        self._script = script
        self.requests: list[Request] = []

    async def complete(self, request: Request, hear: Hear | None = None) -> Reply:
        """The next reply of the script, to `hear` word by word. Raises LlmError: it says so, or has ended."""
        self.requests.append(request)
        line = self._line(request)
        if isinstance(line, LlmError):
            raise line
        if not isinstance(line, Reply):
            characters = sum(len(m.text) for m in request.messages)
            line = Reply(line, self.name, Usage(1, -(-characters // 4), -(-len(line) // 4)))
        if hear is not None:
            for word in line.text.split(" "):
                hear(word + " ")
        return line

    def _line(self, request: Request) -> ScriptedLine:
        if callable(self._script):
            return self._script(request)
        at = len(self.requests) - 1
        if at >= len(self._script):
            return LlmError(f"The script has {len(self._script)} replies, and this is request {at + 1}.")
        return self._script[at]
