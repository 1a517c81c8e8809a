"""`Streamed`: a listener hears the pieces of every reply, and the reply is that of the model."""

import pytest

from clew.llm.errors import ModelFailed
from clew.llm.managed import ManagedModel, Policy
from clew.llm.retry import Retry
from clew.llm.run import run_sync
from clew.llm.streamed import Streamed
from clew.llm.testing import ScriptedModel
from clew.llm.types import Chunk, ask

REQUEST = ask("hello")


def test_pieces_are_heard_in_order_and_make_up_the_reply():
    heard = []
    model = Streamed(ScriptedModel(["one two", "three"]), lambda call, text: heard.append((call, text)))
    replies = [run_sync(model.complete(REQUEST)).text for _ in range(2)]
    assert replies == ["one two", "three"]
    assert heard == [(1, "one "), (1, "two "), (2, "three ")]


class Breaking(ScriptedModel):
    async def stream(self, request):
        async for chunk in super().stream(request):
            yield chunk
            if len(self.requests) == 1:
                raise ModelFailed("cut off", status=500)


def test_a_reply_that_breaks_off_is_tried_again_as_another_call():
    heard = []
    inner = Breaking(["one two", "three"])
    model = ManagedModel(
        Streamed(inner, lambda call, text: heard.append((call, text))), Policy(retry=Retry(first=0))
    )
    assert run_sync(model.complete(REQUEST)).text == "three"
    assert heard == [(1, "one "), (2, "three ")]


class Endless(ScriptedModel):
    async def stream(self, request):
        yield Chunk("never whole")


def test_a_stream_without_an_end_is_no_reply():
    model = Streamed(Endless([]), lambda call, text: None)
    with pytest.raises(ModelFailed, match="before it was whole"):
        run_sync(model.complete(REQUEST))
