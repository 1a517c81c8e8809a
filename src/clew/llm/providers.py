"""From `provider/model` to a model of pydantic-ai with a bounded HTTP client.

The rows of `SERVERS` speak OpenAI's chat completions at an address of the user's choice. `gguf/FILE` is
served in this process (`local.py`). Every other provider of pydantic-ai works by its name there, with the
environment variables that its documentation names.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clew.errors import MissingExtra, UsageError
from clew.foundation.bounded_http import limits
from clew.foundation.redaction import keep_address

if TYPE_CHECKING:
    from pydantic_ai.models import Model

OLD_HTTPX = frozenset({"cohere", "groq"})
"""Providers whose SDK takes clients of httpx; the others take those of httpx2."""
OWN_CLIENT = frozenset({"huggingface"})
"""Providers whose SDK takes no client of ours, whatever the signature says: their replies are not bounded."""
EXTRAS = ("anthropic", "bedrock", "cohere", "google", "groq", "huggingface", "mistral", "xai")
"""Providers with an extra of their own; the others need `openai`."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that speaks OpenAI's chat completions.

    `variables` is how the names of its environment variables begin. `body` maps fields of `Request` that
    OpenAI's API lacks to members of the request's body.
    """

    base_url: str = ""
    variables: str = "OPENAI"
    body: Mapping[str, str] = field(default_factory=dict[str, str])


_SAMPLERS = {"top_k": "top_k", "min_p": "min_p"}
SERVERS: Mapping[str, Server] = {
    "openai": Server("https://api.openai.com/v1"),
    "ollama": Server("http://localhost:11434/v1", "OLLAMA"),
    "vllm": Server("http://localhost:8000/v1", body={**_SAMPLERS, "repeat_penalty": "repetition_penalty"}),
    "llamacpp": Server("http://localhost:8080/v1", body={**_SAMPLERS, "repeat_penalty": "repeat_penalty"}),
    "lmstudio": Server(
        "http://localhost:1234/v1", body={"top_k": "top_k", "repeat_penalty": "repeat_penalty"}
    ),
    "gguf": Server(body={**_SAMPLERS, "repeat_penalty": "repeat_penalty"}),
}


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model of pydantic-ai and the HTTP client that it was given, None where its SDK takes none."""

    model: Model
    client: Any


def split_name(name: str) -> tuple[str, str]:
    """Split `provider/model`; the model may have slashes and colons of its own. Raises UsageError."""
    provider, _, model = name.partition("/")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", provider) or not model.strip():
        raise UsageError(
            f"There is no model {name!r}. Write it as provider/model, for example ollama/llama3.1:8b,"
            " openai/gpt-4o or gguf/FILE.gguf."
        )
    return provider, model


def extra_of(provider: str) -> str:
    """Name the extra of Clew that brings what a provider needs."""
    if provider == "gguf":
        return "local"
    return next((extra for extra in EXTRAS if extra == provider.partition("-")[0]), "openai")


def open_provider(name: str, base_url: str | None, api_key: str | None, timeout: float) -> OpenedModel:
    """Make the model `provider/model`; nothing is sent yet. `timeout` is the silence allowed, in seconds.

    Raises UsageError (no such provider, or it is not set up; the message names its environment variables),
    MissingExtra (its packages are not installed).
    """
    provider, model = split_name(name)
    try:
        return _opened(provider, model, base_url, api_key, timeout)
    except ImportError as error:
        cause = error if error.name else error.__cause__
        package = getattr(cause, "name", None) or provider
        raise MissingExtra(package, extra_of(provider)) from error
    except RuntimeError as error:  # pydantic-ai's UserError
        message = str(error).partition(" To try ")[0]
        variables = " or ".join(dict.fromkeys(re.findall(r"[A-Z]+_[A-Z_]+", message)))
        advice = f"Set {variables}." if variables else message
        raise UsageError(f"{name} is not set up. {advice}") from error


def _opened(
    provider: str, model_name: str, base_url: str | None, api_key: str | None, timeout: float
) -> OpenedModel:
    models = importlib.import_module("pydantic_ai.models")
    providers = importlib.import_module("pydantic_ai.providers")
    httpx = importlib.import_module("httpx" if provider in OLD_HTTPX else "httpx2")
    client: Any = None

    def connect(kind: type[Any], **options: Any) -> Any:  # noqa: ANN401
        """Make a provider with those of our options that it takes."""
        nonlocal client
        taken = inspect.signature(kind).parameters
        if base_url is not None and "base_url" not in taken:
            raise UsageError(f"{provider} cannot be asked at another base URL. Leave out {base_url!r}.")
        if "http_client" in taken and provider not in OWN_CLIENT:
            client = httpx.AsyncClient(timeout=timeout, follow_redirects=True, **limits(asynchronous=True))
        options |= {"http_client": client, "base_url": base_url, "api_key": api_key}
        return kind(**{name: value for name, value in options.items() if name in taken and value is not None})

    def connect_named(name: str) -> Any:  # noqa: ANN401
        try:
            kind = providers.infer_provider_class(name)
        except ValueError as error:
            raise UsageError(
                f"There is no provider {name!r}. docs/llm.md lists those that there are."
            ) from error
        return connect(kind)

    if provider in SERVERS:
        # A stream without a finish reason broke off, whatever the connection says.
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.ollama import OllamaProvider
        from pydantic_ai.providers.openai import OpenAIProvider
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        whole = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
        if provider == "ollama":
            model: Model = OllamaModel(model_name, provider=connect(OllamaProvider), profile=whole)
        elif base_url == SERVERS["openai"].base_url:
            model = OpenAIChatModel(model_name, provider=connect(OpenAIProvider), profile=whole)
        else:
            served = connect(OpenAICompatibleProvider, name=provider)
            model = OpenAIChatModel(model_name, provider=served, profile=whole)
    else:
        model = models.infer_model(f"{provider}:{model_name}", connect_named)
    keep_address(model.base_url)
    return OpenedModel(model, client)
