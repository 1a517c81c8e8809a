"""From settings and `provider/model` to a model of pydantic-ai with a bounded HTTP client.

The rows of `SERVERS` speak OpenAI's chat completions at an address of the user's choice. `gguf/FILE` is
served in this process. Every other provider of pydantic-ai works by its name there, with the
environment variables that its documentation names.
"""

from __future__ import annotations

import importlib
import inspect
import re
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from clew.errors import InputError, MissingExtra, UsageError
from clew.foundation.bounded_http import limits
from clew.foundation.redaction import keep_address, keep_secret
from clew.foundation.system import require
from clew.llm.budget import Limits, Price, Prices

if TYPE_CHECKING:
    from pydantic_ai.models import Model


class LocalServer:
    """llama.cpp's server for one file. It is started when its address is first asked for."""

    def __init__(self, path: Path) -> None:
        """Raises InputError (there is no such file), MissingExtra (xllamacpp is not installed)."""
        self._library = require("xllamacpp", "local")
        if not path.is_file():
            raise InputError(
                f"{path}: there is no such file. Write --llm gguf/PATH with the path of a GGUF file."
            )
        self._path, self._lock = path, threading.Lock()
        self._server: Any = None
        self.key = secrets.token_hex(16)
        """The key without which the server does nothing."""
        keep_secret(self.key)

    def base_url(self) -> str:
        """Address of its API; the first call loads the model. Raises InputError: it is no model."""
        with self._lock:
            if self._server is None:
                self._server = self._start()
            return f"{self._server.listening_address}/v1"

    def stop(self) -> None:
        """Free the model."""
        with self._lock:
            self._server = None

    def _start(self) -> Any:  # noqa: ANN401
        parameters = self._library.CommonParams()
        parameters.model.path = str(self._path)
        parameters.api_keys = [self.key]
        parameters.port, parameters.n_parallel = 0, 1
        parameters.n_ctx = 8_192  # 1 GiB of memory with a model of 8 billion parameters
        parameters.verbosity, parameters.warmup = -1, False
        try:
            return self._library.Server(parameters)
        except RuntimeError as error:
            raise InputError(f"{self._path}: llama.cpp cannot load it as a model ({error}).") from error


OLD_HTTPX = frozenset({"cohere", "groq"})
"""Providers whose SDK takes clients of httpx; the others take those of httpx2."""
OWN_CLIENT = frozenset({"huggingface"})
"""Providers whose SDK takes no client of ours, whatever the signature says: their replies are not bounded."""
EXTRAS = ("anthropic", "bedrock", "cohere", "google", "groq", "huggingface", "mistral", "xai")
"""Providers with an extra of their own; the others need `openai`."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that speaks OpenAI's chat completions; its environment variables begin with `variables`.

    `body` maps fields of `Request` that OpenAI's API lacks to members of the request's body.
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

    Raises UsageError (the message names environment variables), MissingExtra.
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
            bounds = limits(asynchronous=True)
            try:
                client = httpx.AsyncClient(timeout=timeout, follow_redirects=True, **bounds)
            except (httpx.InvalidURL, ValueError) as error:
                raise UsageError(
                    "The address of the proxy cannot be read. Write HTTP_PROXY, HTTPS_PROXY and ALL_PROXY "
                    "like http://user:password@host:8080, with %2F for a / in the password"
                ) from error
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


_SECRETS = ("_API_KEY", "_TOKEN", "_SECRET_ACCESS_KEY", "_INFERENCE_KEY")
"""Ends of the names of variables that hold keys of providers."""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How calls are managed.

    `timeout` (seconds) is for a reply, or between pieces of one that is heard; `attempts` of a failed call
    are made in all; `replay` sends nothing.
    """

    timeout: float = 120.0
    concurrency: int = 8
    attempts: int = 4
    per_question: Limits = field(default_factory=Limits)
    per_run: Limits = field(default_factory=Limits)
    price: Price | None = None
    replay: bool = False


@dataclass(frozen=True)
class Settings(Policy):
    """A model and how to call it; `base_url` None is the provider's own.

    `cache` is a SQLite file, `trace` a JSONL file; `telemetry` has prompts only if `telemetry_content`.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    prices: Prices = field(default_factory=Prices)
    cache: Path | None = None
    trace: Path | None = None
    telemetry: bool = False
    telemetry_content: bool = False

    def __post_init__(self) -> None:
        """Remember what must not be shown."""
        keep_secret(self.api_key)
        keep_address(self.base_url)

    @property
    def address(self) -> str:
        """Base URL that requests go to, empty where the provider knows it. Raises UsageError: it is none."""
        provider, _ = split_name(self.model)
        url = self.base_url or (SERVERS[provider].base_url if provider in SERVERS else "")
        try:
            parts = urlsplit(url)
            is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_valid = False
        if url and not is_valid:
            keep_address(url if "://" in url else f"http://{url}")
            raise UsageError(f"{url!r} is not a base URL. Write it like http://localhost:11434/v1.")
        return url.rstrip("/")

    def check(self) -> None:
        """Check what can be checked without sending anything. Raises UsageError, which says what to do."""
        if self.address == SERVERS["openai"].base_url and not self.api_key and not self.replay:
            raise UsageError(f"{self.model} needs an API key. Set OPENAI_API_KEY.")
        if self.api_key and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise UsageError(f"The API key of {self.model} has characters that no key has. Copy it again.")
        if not self.timeout > 0 or self.concurrency < 1 or self.attempts < 1:
            raise UsageError("The timeout must be above 0, concurrency and attempts at least 1.")
        if self.replay and self.cache is None:
            raise UsageError("Replay needs the reply cache that was recorded. Name its file.")
        has_money_limit = self.per_question.money is not None or self.per_run.money is not None
        if has_money_limit and self.prices.find(self.model) is None:
            raise UsageError(
                f"A budget of money needs the price of {self.model}. Add it to the prices file: "
                f'[models."{self.model}"] with input and output for a million tokens.'
            )


def settings_from(environment: Mapping[str, str], model: str, **options: Any) -> Settings:  # noqa: ANN401
    """Make the settings of a model from environment variables and options; options go before.

    The variables are PROVIDER_API_KEY and PROVIDER_BASE_URL; those of servers that speak OpenAI's API begin
    with OPENAI, and Ollama's address is OLLAMA_HOST. A key goes to no server that it was not meant for: one
    that needs none gets it only where its base URL is given too. Any OTEL_* variable turns on telemetry, but
    for OTEL_SDK_DISABLED=true. Raises UsageError: it is no name of a model.
    """
    provider, _ = split_name(model)
    server = SERVERS.get(provider)
    variables = provider.upper().replace("-", "_") if server is None else server.variables
    url_variable = "OLLAMA_HOST" if variables == "OLLAMA" else f"{variables}_BASE_URL"
    key, url = environment.get(f"{variables}_API_KEY"), environment.get(url_variable)
    for name, value in environment.items():
        if name.endswith(_SECRETS):
            keep_secret(value)
    found: dict[str, Any] = {"telemetry": wants_telemetry(environment)}
    if key and (server is None or provider == "openai" or url or options.get("base_url")):
        found["api_key"] = key
    if url:
        found["base_url"] = ollama_url(url) if variables == "OLLAMA" else url
    if provider == "gguf":
        found = {"telemetry": found["telemetry"]}
    explicit_options = {name: value for name, value in options.items() if value is not None}
    return Settings(model, **{**found, **explicit_options})


def wants_telemetry(environment: Mapping[str, str]) -> bool:
    """Whether spans are wanted: there is a variable OTEL_*, and OTEL_SDK_DISABLED is not true."""
    disabled = environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
    return not disabled and any(name.startswith("OTEL_") for name in environment)


def ollama_url(host: str) -> str:
    """Turn what OLLAMA_HOST may hold (`host`, `host:port`, `:port`, a URL) into the base URL of its API."""
    scheme, mark, location = host.strip().rpartition("://")
    server, slash, path = location.rstrip("/").partition("/")
    name, colon, port = server.rpartition(":")
    if not colon or not port.isdigit():
        name, port = server, {"http": "80", "https": "443"}.get(scheme, "11434")
    # A server listens on 0.0.0.0; a client cannot call it there everywhere.
    name = "localhost" if name in ("", "0.0.0.0", "[::]") else name  # noqa: S104
    return f"{scheme if mark else 'http'}://{name}:{port}{slash}{path}/v1"
