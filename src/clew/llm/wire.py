"""What the wires have in common: a model of an SDK, typed errors for its own, one client per event loop."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar, Generic, TypeVar
from weakref import WeakKeyDictionary

from clew.errors import LlmError
from clew.foundation.bounded_http import ReplyRefused, limits, refused
from clew.llm import errors
from clew.llm.profiles import Profile, split_name
from clew.llm.typed import TypedReplies
from clew.llm.types import Request
from clew.text.embedders.extras import require

T = TypeVar("T")

_OVERFLOW = re.compile(
    r"context[ _](size|length|window)|exceed_context_size|prompt is too long|maximum context|too many tokens"
    r"|context_length_exceeded",
    re.IGNORECASE,
)
_SAMPLING = ("temperature", "top_p", "top_k", "min_p", "max_tokens", "stop", "repeat_penalty", "seed")
_NEVER_SENT = frozenset({"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"})
"""Errors of the HTTP client that say that there was no connection to begin with."""
_QUOTA = re.compile(r"insufficient_quota|billing|credit balance", re.IGNORECASE)


class PerLoop(Generic[T]):
    """One object per event loop, for things that may not cross loops: connections, semaphores."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._objects: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    def get(self) -> T:
        """Return the running loop's object, made at the first call."""
        loop = asyncio.get_running_loop()
        if loop not in self._objects:
            self._objects[loop] = self._make()
        return self._objects[loop]

    async def close(self) -> None:
        """Close the running loop's object, if there is one."""
        loop_object: Any = self._objects.pop(asyncio.get_running_loop(), None)
        if loop_object is not None:
            await loop_object.close()


class SdkModel(TypedReplies):
    """One model of a server, through an official SDK: a package that is also the name of its extra."""

    package: ClassVar[str]
    client: ClassVar[str]
    """The SDK's asynchronous client."""
    options: ClassVar[Mapping[str, Any]] = {}
    """Of the client."""
    listing: ClassVar[Mapping[str, Any]] = {}
    """Of the call that lists models."""

    def __init__(
        self, name: str, profile: Profile, *, base_url: str, api_key: str | None, timeout: float
    ) -> None:
        """Make the model; nothing is sent yet. `timeout` is the silence allowed, in seconds.

        Raises MissingExtra: the SDK is not installed.
        """
        super().__init__(name, profile)
        self._model = split_name(name)[1]
        self._where = f"{name} at {base_url}"
        self._sdk = sdk = require(self.package, self.package)

        def connect() -> Any:  # noqa: ANN401
            return getattr(sdk, self.client)(
                base_url=base_url,
                api_key=api_key or "none",
                timeout=timeout,
                max_retries=0,
                http_client=sdk.DefaultAsyncHttpxClient(timeout=timeout, **limits(asynchronous=True)),
                **self.options,
            )

        self._client = PerLoop(connect)

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        await self._client.close()

    async def models(self) -> tuple[str, ...]:
        """Names of the models that the server lists, or that the key may use."""
        with sdk_errors(self._sdk, self._where):
            page = await self._client.get().models.list(**self.listing)
        return tuple(model.id for model in page.data or ())


def parameters(request: Request, profile: Profile) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Name sampling parameters as the provider does, with notes on those that it does not take."""
    values = {name: getattr(request, name) for name in _SAMPLING} | {"stop": list(request.stop) or None}
    if request.max_tokens is None:
        values["max_tokens"] = profile.max_tokens
    sampling: dict[str, Any] = {}
    notes: list[str] = []
    for name, value in values.items():
        if value is None:
            continue
        if name in profile.parameters:
            sampling[profile.parameters[name]] = value
        else:
            notes.append(f"{name} dropped: {profile.provider} does not take it for this model")
    return sampling, tuple(notes)


def sendable(text: str) -> str:
    """Replace what UTF-8 cannot write: halves of surrogate pairs, which a broken command line can hold."""
    return text.encode("utf-8", "replace").decode()


@contextmanager
def sdk_errors(sdk: Any, where: str) -> Generator[None]:  # noqa: ANN401
    """Turn the errors of an SDK into Clew's. Both SDKs name them alike; `where` begins every message.

    Raises LlmError: instead of the SDK's error.
    """
    try:
        yield
    except sdk.APITimeoutError as error:
        raise _too_slow(where) from error
    except sdk.APIConnectionError as error:
        _raise_refused(where, error)
        causes: list[BaseException] = [error]
        while (cause := causes[-1].__cause__) is not None:
            causes.append(cause)
        reason = str(causes[-1]) or type(causes[-1]).__name__
        if any(type(cause).__name__ in _NEVER_SENT for cause in causes):
            advice = "Check that the server runs and that the base URL is right."
            raise errors.ModelUnreachable(f"{where} cannot be reached ({reason}). {advice}") from error
        raise _broke_off(where, reason) from error
    except sdk.APIStatusError as error:
        raise status_error(where, error.status_code, _details(error), error.response.headers) from error
    except sdk.APIError as error:
        raise errors.ModelFailed(f"{where} failed in mid-reply ({error}).") from error
    except OSError as error:
        raise _broke_off(where, str(error)) from error
    except ReplyRefused as error:
        _raise_refused(where, error)
    except _transport_errors() as error:
        # In mid-stream the SDKs let their HTTP client's errors through.
        if isinstance(error.__cause__, TimeoutError) or "Timeout" in type(error).__name__:
            raise _too_slow(where) from error
        raise _broke_off(where, str(error)) from error
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        # The SDKs neither check what they parse nor wrap what goes wrong then.
        raise errors.ModelFailed(
            f"{where} sent something that is not a chat reply ({error}). Check the base URL; for servers"
            " that speak OpenAI's API it mostly ends in /v1."
        ) from error


def _raise_refused(where: str, error: BaseException) -> None:
    """Raise what the bounds of replies refused, if that is behind an error."""
    why = refused(error)
    if why is not None:
        raise errors.ModelFailed(f"{where} {why}.") from error


def _transport_errors() -> tuple[type[Exception], ...]:
    """Errors of the HTTP clients that are loaded; which one an SDK uses depends on its version."""
    loaded = (sys.modules.get(name) for name in ("httpx2", "httpx"))
    return tuple(module.HTTPError for module in loaded if module is not None)


def _too_slow(where: str) -> errors.ModelTimeout:
    return errors.ModelTimeout(f"{where} did not answer in time. Allow more time, or ask for less.")


def _broke_off(where: str, reason: str) -> errors.ModelUnreachable:
    return errors.ModelUnreachable(
        f"{where}: the connection broke off before the reply ended ({reason}).", begun=True
    )


def _details(error: Any) -> Mapping[str, Any]:  # noqa: ANN401
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error")
    details = inner if isinstance(inner, dict) else body
    return {"message": str(error.message), **details}


def status_error(where: str, status: int, details: Mapping[str, Any], headers: Mapping[str, str]) -> LlmError:
    """Make the typed error of an HTTP status; `details` are the members of the error body."""
    message = " ".join(str(details.get("message", "")).split())[:500]
    kind = f"{details.get('type', '')} {details.get('code', '')} {message}"
    if status in (401, 403):
        # The server's own words may repeat a part of the key.
        return errors.KeyRefused(
            f"{where} refused the API key (status {status}). Check the key, and that it may use this model.",
            status,
        )
    if status in (400, 413, 422) and _OVERFLOW.search(kind):
        return errors.ContextOverflow(
            f"{where}: the prompt is longer than the model's context ({message}). Use fewer examples or"
            " candidates, or start the server with a larger context.",
            status,
        )
    if status == 429:
        wait = retry_after(headers)
        final = bool(_QUOTA.search(kind))
        advice = "The quota is used up." if final else "Lower the concurrency, or wait."
        return errors.RateLimited(
            f"{where} refused for too many requests ({message}). {advice}", status, wait, final=final
        )
    if status == 404:
        return errors.ModelRefused(
            f"{where}: not found ({message}). Check the model name and the base URL.", status
        )
    if status >= 500 or status == 408:
        return errors.ModelFailed(
            f"{where} failed with status {status} ({message}).", status, retry_after(headers)
        )
    parameter = details.get("param")
    name = parameter if isinstance(parameter, str) else None
    return errors.ModelRefused(f"{where} refused the request with status {status} ({message}).", status, name)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a `Retry-After` header in either form (RFC 9110, 10.2.3); None if absent or not readable."""
    value = headers.get("retry-after")
    if value is None:
        return None
    if value.strip().replace(".", "", 1).isascii() and value.strip().replace(".", "", 1).isdigit():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())
