"""One attempt at a request through a model of pydantic-ai, and its errors as Clew's.

A server may send anything. The HTTP client bounds it (`foundation/bounded_http.py`), pydantic-ai reads it,
and whatever goes wrong then is a typed `LlmError` that begins with the server's address.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from weakref import WeakKeyDictionary

from clew.errors import ClewError, LlmError
from clew.foundation.bounded_http import refused
from clew.llm import types
from clew.llm.providers import SERVERS, LocalServer, OpenedModel, split_name
from clew.llm.reply import ChatModel
from clew.llm.types import Hear, Message, Reply, Request
from clew.types import Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters

T = TypeVar("T")

_SAMPLING = ("temperature", "top_p", "top_k", "max_tokens", "stop", "seed", "min_p", "repeat_penalty")
_NO_SETTINGS = frozenset({"min_p", "repeat_penalty"})
"""Fields of `Request` that pydantic-ai has no setting for."""
_OVERFLOW = re.compile(r"context[ _](size|length|window)|too many tokens|prompt is too long", re.IGNORECASE)
"""What servers say of a prompt that is too long where pydantic-ai does not know their words."""


class PerLoop(Generic[T]):
    """One object per event loop, for things that may not cross loops: connections, semaphores."""

    def __init__(self, make: Callable[[], T], first: T | None = None) -> None:
        self._make, self._first = make, first
        self._objects: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    def get(self) -> T:
        """Return the running loop's object, made at the first call."""
        loop = asyncio.get_running_loop()
        if loop not in self._objects:
            self._objects[loop] = self._make() if self._first is None else self._first
            self._first = None
        return self._objects[loop]

    def pop(self) -> T | None:
        """Forget the running loop's object, and return it."""
        return self._objects.pop(asyncio.get_running_loop(), None)


class PydanticModel(ChatModel):
    """A chat model of any provider that pydantic-ai has."""

    def __init__(
        self,
        name: str,
        make: Callable[[], OpenedModel],
        first: OpenedModel | None = None,
        local: LocalServer | None = None,
    ) -> None:
        """`make` opens connections for an event loop, `first` are such, `local` is what serves the model."""
        super().__init__(name)
        self._opened, self._local = PerLoop(make, first), local
        self._objected: frozenset[str] = frozenset()
        """Settings that the server has objected to by name."""

    async def complete(self, request: Request, hear: Hear | None = None) -> Reply:
        """Reply to a request, in one attempt; the pieces of the reply go to `hear` as they come."""
        from pydantic_ai.direct import model_request, model_request_stream
        from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

        model = self.model
        while True:
            settings, notes = self._settings(request, model)
            messages, parameters = _messages(request.messages), _parameters(request, model, self.name)
            options: Any = {"model_settings": settings, "model_request_parameters": parameters}
            try:
                if hear is None:
                    response = await model_request(model, messages, **options)
                else:
                    async with model_request_stream(model, messages, **options) as stream:
                        async for event in stream:
                            if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                                hear(event.part.content)
                            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                                hear(event.delta.content_delta)
                        response = stream.get()
                return _reply(response, self.name, notes)
            except ClewError:  # of who hears it
                raise
            except Exception as error:  # whatever reading a stranger's reply may raise
                typed = typed_error(error, f"{self.name} at {str(model.base_url).rstrip('/')}")
                parameter = typed.parameter if isinstance(typed, types.ModelRefused) else None
                if parameter is None or parameter in self._objected or parameter not in settings:
                    raise typed from error
                self._objected |= {parameter}

    @property
    def model(self) -> Model:
        """The running event loop's model of pydantic-ai."""
        return self._opened.get().model

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        opened = self._opened.pop()
        if opened is not None and opened.client is not None:
            await opened.client.aclose()
        if self._local is not None:
            self._local.stop()

    async def listed(self) -> tuple[str, ...]:
        """Names of the models that the server lists, or that the key may use; none where it cannot tell."""
        client: Any = getattr(self.model, "client", None)
        if type(client).__module__.partition(".")[0] not in ("openai", "anthropic", "groq"):
            return ()
        try:
            page = await client.with_options(max_retries=0).models.list()
            return tuple(str(listed.id) for listed in page.data or ())
        except Exception:  # a hint that cannot be had is none
            return ()

    def _settings(self, request: Request, model: Model) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The settings that the model takes, with notes on those that it does not."""
        provider, _ = split_name(self.name)
        body_names = SERVERS[provider].body if provider in SERVERS else {}
        known = model.profile.get("openai_unsupported_model_settings", ())
        not_taken = {*model.unsupported_settings, *known, *_NO_SETTINGS}
        settings: dict[str, Any] = {} if "max_retries" in not_taken else {"max_retries": 0}
        body: dict[str, Any] = {}
        notes: list[str] = []
        for field in _SAMPLING:
            name = "stop_sequences" if field == "stop" else field
            value = list(request.stop) or None if field == "stop" else getattr(request, field)
            if value is None:
                continue
            if name in self._objected:
                notes.append(f"{field} dropped: the server refuses it")
            elif field in body_names:
                body[body_names[field]] = value
            elif name in not_taken:
                notes.append(f"{field} dropped: {provider} does not take it for this model")
            else:
                settings[name] = value
        return settings | ({"extra_body": body} if body else {}), tuple(notes)


def _messages(messages: tuple[Message, ...]) -> list[ModelMessage]:
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart

    mapped: list[ModelMessage] = []
    for message in messages:
        # Half of a surrogate pair, which a broken command line can hold, has no UTF-8.
        text = message.text.encode("utf-8", "replace").decode()
        if message.role == "assistant":
            mapped.append(ModelResponse(parts=[TextPart(text)]))
        else:
            part = SystemPromptPart(text) if message.role == "system" else UserPromptPart(text)
            mapped.append(ModelRequest(parts=[part]))
    return mapped


def _parameters(request: Request, model: Model, name: str) -> ModelRequestParameters:
    """How the server shall hold the reply to JSON. Raises ModelRefused for a form that it does not have."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    profile, schema = model.profile, dict(request.schema or {})
    if request.form == "schema" and profile.get("supports_json_schema_output"):
        wanted = OutputObjectDefinition(schema, request.schema_name, strict=True)
        return ModelRequestParameters(output_mode="native", output_object=wanted)
    if request.form == "schema" and profile.get("supports_tools", True):
        tool = ToolDefinition(
            name=request.schema_name, parameters_json_schema=schema, strict=True, kind="output"
        )
        return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
    if request.form == "json" and profile.get("supports_json_object_output"):
        return ModelRequestParameters(output_mode="prompted", prompted_output_template=False)
    if request.form != "text":
        raise types.ModelRefused(f"{name} does not hold replies to the form {request.form}.", 501)
    return ModelRequestParameters()


def _reply(response: ModelResponse, name: str, notes: tuple[str, ...]) -> Reply:
    from pydantic_ai.messages import TextPart, ToolCallPart

    calls = [part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart)]
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    refusal = (response.provider_details or {}).get("refusal")
    finish = response.finish_reason or "stop"
    if not response.parts and response.finish_reason is None:
        raise ValueError("it has no content and no end")
    return Reply(
        text=calls[0] if calls else text or (refusal if isinstance(refusal, str) else ""),
        model=response.model_name or name,
        usage=Usage(1, response.usage.input_tokens, response.usage.output_tokens),
        finish="stop" if finish == "tool_call" else finish,
        notes=notes,
    )


def typed_error(error: Exception, where: str) -> LlmError:
    """Make Clew's error of one of pydantic-ai, or of what its reading of a reply raised."""
    from pydantic_ai import exceptions as ai

    if (bound := refused(error)) is not None:
        return types.ModelFailed(f"{where} {bound}.")
    if isinstance(error, ai.ModelTimeoutError):
        return types.ModelTimeout(f"{where} did not answer in time. Allow more time, or ask for less.")
    if isinstance(error, ai.ModelConnectionError):
        reason = _reason(error)
        if error.phase in ("connect", "pool"):
            advice = "Check that the server runs and that the base URL is right."
            return types.ModelUnreachable(f"{where} cannot be reached ({reason}). {advice}")
        return types.ModelUnreachable(
            f"{where}: the connection broke off before the reply ended ({reason}).", begun=True
        )
    if isinstance(error, ai.ModelHTTPError):
        return _status_error(error, where)
    if isinstance(error, ai.ModelAPIError) and error.in_stream:
        return types.ModelFailed(f"{where} failed in mid-reply ({_said(error)}).")
    return types.ModelFailed(
        f"{where} sent something that is not a chat reply ({_short(str(error))}). Check the base URL; for"
        " servers that speak OpenAI's API it mostly ends in /v1."
    )


def _status_error(error: Any, where: str) -> LlmError:  # noqa: ANN401 (a ModelHTTPError of several kinds)
    """Make the typed error of an HTTP status."""
    from pydantic_ai import exceptions as ai

    status: int = error.status_code
    said = _said(error)
    if isinstance(error, ai.ModelAuthenticationError):
        # The server's own words may repeat a part of the key.
        return types.KeyRefused(
            f"{where} refused the API key (status {status}). Check the key, and that it may use this model.",
            status,
        )
    rejected = status in (400, 413, 422)
    if isinstance(error, ai.ModelContextWindowExceededError) or (rejected and _OVERFLOW.search(said)):
        return types.ContextOverflow(
            f"{where}: the prompt is longer than the model's context ({said}). Use fewer examples or"
            " candidates, or start the server with a larger context.",
            status,
        )
    if isinstance(error, (ai.ModelRateLimitError, ai.ModelQuotaExceededError)):
        final = isinstance(error, ai.ModelQuotaExceededError)
        advice = "The quota is used up." if final else "Lower the concurrency, or wait."
        return types.RateLimited(
            f"{where} refused for too many requests ({said}). {advice}",
            status,
            error.retry_after,
            final=final,
        )
    if status == 404:
        return types.ModelRefused(
            f"{where}: not found ({said}). Check the model name and the base URL.", status
        )
    if status >= 500 or status == 408:
        return types.ModelFailed(f"{where} failed with status {status} ({said}).", status, error.retry_after)
    parameter = _details(error.body).get("param")
    name = parameter if isinstance(parameter, str) else None
    return types.ModelRefused(f"{where} refused the request with status {status} ({said}).", status, name)


def _details(body: object) -> Mapping[str, Any]:
    """The members of an error's body, which may stand in a member `error`."""
    members = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    inner = members.get("error")
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else members


def _said(error: Any) -> str:  # noqa: ANN401
    """The server's own words: the message of the body of an error, else all of it."""
    message = _details(error.body).get("message")
    kind = f"{error.provider_error_type or ''} {error.provider_error_code or ''}".strip()
    return _short(f"{message or error.body or error.message}{f'; {kind}' if kind else ''}")


def _short(text: str) -> str:
    return " ".join(text.split())[:500]


def _reason(error: BaseException) -> str:
    """What is at the root of an error."""
    while error.__cause__ is not None:
        error = error.__cause__
    return _short(str(error)) or type(error).__name__
