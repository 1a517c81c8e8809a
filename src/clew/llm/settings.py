"""Everything that a chat model is opened with; the environment comes in as a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from clew.errors import UsageError
from clew.foundation.redaction import keep_address, keep_secret
from clew.llm.budget import Limits
from clew.llm.prices import Price, Prices
from clew.llm.providers import SERVERS, split_name

_SECRETS = ("_API_KEY", "_TOKEN", "_SECRET_ACCESS_KEY", "_INFERENCE_KEY")
"""Ends of the names of variables that hold keys of providers."""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How calls are managed.

    `timeout` is for a whole reply, or between pieces of one that is heard, in seconds. A failed call is sent
    again up to `attempts` times in all. With `replay` nothing is sent and only recorded replies are used.
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
    """A model and how to call it. `base_url` None is the provider's own.

    `cache` is a SQLite file, `trace` a JSONL file with every prompt and reply. `telemetry` makes spans of
    OpenTelemetry, with prompts only if `telemetry_content`.
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
            raise UsageError(f"{url!r} is not a base URL. Write it like http://localhost:11434/v1.")
        return url.rstrip("/")

    def check(self) -> None:
        """Check what can be checked without sending anything.

        Raises UsageError: something is missing, or does not go together; the message says what to do.
        """
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
