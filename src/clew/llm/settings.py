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
from clew.llm.profiles import profile_of
from clew.llm.retry import Retry


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How calls are managed. `timeout` (s) is for a whole reply, or between pieces of a streamed one.

    With `replay` nothing is sent and only recorded replies are used.
    """

    timeout: float = 120.0
    concurrency: int = 8
    retry: Retry = field(default_factory=Retry)
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
        """Base URL that requests go to.

        Raises UsageError: the provider has none of its own, or it is not a URL.
        """
        profile = profile_of(self.model, self.base_url)
        url = self.base_url or profile.base_url
        if url is None:
            raise UsageError(
                f"{self.model} needs the base URL of your own resource. Set {profile.url_variable}."
            )
        try:
            parts = urlsplit(url)
            is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_valid = False
        if not is_valid:
            raise UsageError(f"{url!r} is not a base URL. Write it like http://localhost:11434/v1.")
        return url.rstrip("/")

    def check(self) -> None:
        """Check what can be checked without sending anything.

        Raises UsageError: something is missing, or does not go together; the message says what to do.
        """
        profile = profile_of(self.model, self.base_url)
        if profile.key_needed and not self.api_key and not self.replay:
            raise UsageError(f"{self.model} needs an API key. Set {profile.key_variable}.")
        if self.api_key and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise UsageError(f"The API key of {self.model} has characters that no key has. Copy it again.")
        if not self.timeout > 0 or self.concurrency < 1 or self.retry.attempts < 1:
            raise UsageError("The timeout must be above 0, concurrency and attempts at least 1.")
        if self.replay and self.cache is None:
            raise UsageError("Replay needs the reply cache that was recorded. Name its file.")
        has_money_limit = self.per_question.money is not None or self.per_run.money is not None
        if has_money_limit and self.prices.find(self.model) is None:
            raise UsageError(
                f"A budget of money needs the price of {self.model}. Add it to the prices file: "
                f'[models."{self.model}"] with input and output for a million tokens.'
            )
        _ = self.address


def settings_from(environment: Mapping[str, str], model: str, **options: Any) -> Settings:  # noqa: ANN401
    """Make the settings of a model from environment variables and options; options go before.

    Read are the variables that the provider's profile names: OPENAI_API_KEY and OPENAI_BASE_URL,
    ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL, OPENROUTER_API_KEY, OLLAMA_HOST. A key goes to no server that it
    was not meant for: one that needs none gets it only where its base URL is given too. Any OTEL_* variable
    turns on telemetry, but for OTEL_SDK_DISABLED=true. Raises UsageError: there is no such provider.
    """
    profile = profile_of(model)
    environment_options: dict[str, Any] = {}
    key = environment.get(profile.key_variable or "")
    url = environment.get(profile.url_variable or "")
    if key and (profile.key_needed or url or options.get("base_url")):
        environment_options["api_key"] = key
    if url:
        environment_options["base_url"] = ollama_url(url) if profile.url_variable == "OLLAMA_HOST" else url
    environment_options["telemetry"] = wants_telemetry(environment)
    explicit_options = {name: value for name, value in options.items() if value is not None}
    return Settings(model, **{**environment_options, **explicit_options})


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
