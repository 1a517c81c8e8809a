"""Replies as typed values: JSON schema, else JSON mode, else plain text; one repair; then a typed failure."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import is_dataclass, replace
from typing import TypeVar

from clew.errors import LlmError
from clew.llm import errors
from clew.llm.errors import ReplyInvalid
from clew.llm.extract import clean, read_value
from clew.llm.shapes import build, schema_of
from clew.llm.types import ChatModel, Message, OutputForm, Request, Typed

T = TypeVar("T")

FORMS: tuple[OutputForm, ...] = ("schema", "json", "text")
"""Forms of a reply, the strongest first; the last is never refused."""
LONGEST_SHOWN = 8_000
"""Characters of its own reply that a model is shown again."""


class TypedReplies(ChatModel):
    """The part of a chat model that all share: `complete_as`, by way of its own `complete`."""

    def __init__(self, name: str, refused: set[OutputForm] | None = None) -> None:
        self.name = name
        self._refused: set[OutputForm] = set() if refused is None else refused

    async def complete_as(self, request: Request, shape: type[T]) -> Typed[T]:
        """Reply with a value of a dataclass type, after at most one repair turn.

        The strongest form that the server takes is used; one that it refuses is not tried again. Raises
        ReplyInvalid (the reply does not fit the type, also after the repair), LlmError (as `complete`).
        """
        if not is_dataclass(shape):
            raise TypeError(f"{shape!r} is not a dataclass")
        forms: list[OutputForm] = [form for form in FORMS if form not in self._refused]
        first: LlmError | None = None
        for form in forms:
            formed_request = _in_form(request, form, shape)

            def read(text: str, formed_request: Request = formed_request) -> T:
                cleaned = clean(text, formed_request.messages, formed_request.stop)
                return read_value(cleaned, lambda value: build(shape, value))

            try:
                return await complete_parsed(self, formed_request, read)
            except LlmError as error:
                if isinstance(error, ReplyInvalid):
                    raise
                if form == forms[-1] or not _is_about_form(error, form):
                    raise first or error from None
                first = first or error
                if isinstance(error, errors.ModelRefused):
                    self._refused.add(form)
        raise AssertionError("unreachable: the last form returns or raises")


def _is_about_form(error: LlmError, form: OutputForm) -> bool:
    """Whether another form may go through: it was refused, or broke the server, or was never recorded."""
    if form == "text" or isinstance(error, (errors.KeyRefused, errors.ContextOverflow, errors.RateLimited)):
        return False
    if isinstance(error, errors.ModelRefused):
        return error.status in (400, 404, 415, 422, 501)
    if isinstance(error, errors.ModelFailed):
        return error.status in (500, 501)
    return isinstance(error, errors.ReplayMissing)


def _in_form(request: Request, form: OutputForm, shape: type) -> Request:
    schema = schema_of(shape)
    if form == "schema":
        return replace(request, form=form, schema=schema, schema_name=shape.__name__)
    order = (
        "Reply with one JSON value that fits this JSON schema, and with nothing else:\n"
        f"{json.dumps(schema, ensure_ascii=False)}"
    )
    messages = list(request.messages)
    at = next((i for i, m in enumerate(messages) if m.role == "system"), None)
    if at is None:
        messages.insert(0, Message("system", order))
    else:
        messages[at] = Message("system", f"{messages[at].text}\n\n{order}")
    return replace(request, form=form, messages=tuple(messages))


async def complete_parsed(model: ChatModel, request: Request, parse: Callable[[str], T]) -> Typed[T]:
    """Complete and parse, with one repair turn that shows the model what was wrong.

    `parse` gets the raw text and raises `ReplyInvalid`. Raises ReplyInvalid (the reply cannot be parsed, also
    after the repair), LlmError (as `ChatModel.complete`).
    """
    reply = await model.complete(request)
    try:
        return Typed(parse(reply.text), (reply,))
    except ReplyInvalid as error:
        reason = error.reason
    if reply.finish == "length":
        reason += "; it was cut off because it was too long, so be brief"
    turns = (
        Message("assistant", reply.text.strip()[:LONGEST_SHOWN] or "(nothing)"),
        Message(
            "user", f"That cannot be used: {reason}. Reply again, in the form asked for, without excuses."
        ),
    )
    second_reply = await model.complete(replace(request, messages=(*request.messages, *turns)))
    return Typed(parse(second_reply.text), (reply, second_reply))
