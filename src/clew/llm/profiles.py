"""What each provider takes and can do, as data. A new provider is one row; code never probes for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Literal
from urllib.parse import urlsplit

from clew.errors import UsageError

OutputForm = Literal["schema", "json", "text"]
"""How a server holds a reply to JSON: to a JSON schema, to any JSON, not at all."""
Wire = Literal["openai", "anthropic"]
_FORMS: tuple[OutputForm, ...] = ("schema", "json", "text")


@dataclass(frozen=True, slots=True)
class Profile:
    """What a provider takes.

    `parameters` maps a field of `Request` to its name in the request body; a field that is not there is
    dropped and noted in the reply. `schema_without` are JSON-schema words that the server does not take.
    """

    provider: str
    wire: Wire = "openai"
    base_url: str | None = None
    key_variable: str | None = None
    url_variable: str | None = None
    key_needed: bool = False
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    forms: tuple[OutputForm, ...] = _FORMS
    schema_without: frozenset[str] = frozenset()
    max_tokens: int | None = None


_COMMON = {name: name for name in ("temperature", "top_p", "max_tokens", "stop", "seed")}
_SAMPLERS = {**_COMMON, "top_k": "top_k", "min_p": "min_p"}
_HOSTED = {**_COMMON, "max_tokens": "max_completion_tokens"}
_BOUNDS = frozenset({"minLength", "maxLength", "minItems", "maxItems"})


def _local(
    provider: str, port: int, parameters: Mapping[str, str], forms: tuple[OutputForm, ...] = _FORMS
) -> Profile:
    """A server on this machine that speaks OpenAI's API, and may be elsewhere."""
    return Profile(
        provider,
        base_url=f"http://localhost:{port}/v1",
        key_variable="OPENAI_API_KEY",
        url_variable="OPENAI_BASE_URL",
        parameters=parameters,
        forms=forms,
    )


_AZURE = Profile(
    "azure",
    key_variable="OPENAI_API_KEY",
    url_variable="OPENAI_BASE_URL",
    key_needed=True,
    parameters=_HOSTED,
    schema_without=_BOUNDS,
)

PROFILES: Mapping[str, Profile] = {
    profile.provider: profile
    for profile in (
        replace(_AZURE, provider="openai", base_url="https://api.openai.com/v1"),
        _AZURE,
        Profile(
            "openrouter",
            base_url="https://openrouter.ai/api/v1",
            key_variable="OPENROUTER_API_KEY",
            key_needed=True,
            parameters={**_SAMPLERS, "repeat_penalty": "repetition_penalty"},
            schema_without=_BOUNDS,
        ),
        Profile(
            "ollama", base_url="http://localhost:11434/v1", url_variable="OLLAMA_HOST", parameters=_COMMON
        ),
        _local("vllm", 8000, {**_SAMPLERS, "repeat_penalty": "repetition_penalty"}),
        _local("llamacpp", 8080, {**_SAMPLERS, "repeat_penalty": "repeat_penalty"}),
        _local(
            "lmstudio",
            1234,
            {**_COMMON, "top_k": "top_k", "repeat_penalty": "repeat_penalty"},
            forms=("schema", "text"),
        ),
        Profile(
            "anthropic",
            wire="anthropic",
            base_url="https://api.anthropic.com",
            key_variable="ANTHROPIC_API_KEY",
            url_variable="ANTHROPIC_BASE_URL",
            key_needed=True,
            parameters={"max_tokens": "max_tokens", "stop": "stop_sequences"},
            forms=("schema", "text"),
            schema_without=_BOUNDS,
            max_tokens=4096,
        ),
    )
}
"""By provider, the part of a name before its first slash; its `max_tokens` is sent if none is set."""

REASONING = ("o1*", "o3*", "o4*", "gpt-5*")
"""OpenAI's models that choose their own sampling."""


def split_name(name: str) -> tuple[str, str]:
    """Split `provider/model`; the model may have slashes and colons of its own.

    Raises UsageError: no provider, an unknown one, or no model.
    """
    provider, _, model = name.partition("/")
    if not model.strip() or provider not in PROFILES:
        providers = ", ".join(PROFILES)
        raise UsageError(
            f"There is no model {name!r}. Write it as provider/model, for example ollama/llama3.1:8b or"
            f" openai/gpt-4o. Providers: {providers}."
        )
    return provider, model


def profile_of(name: str, base_url: str | None = None) -> Profile:
    """Find the profile of `provider/model` at a base URL.

    `openai/…` at another host than OpenAI's is a compatible server: it gets the parameters that all of them
    take, and needs no key. Raises UsageError: as `split_name`.
    """
    provider, model = split_name(name)
    profile = PROFILES[provider]
    if provider == "openai" and base_url and urlsplit(base_url).hostname != "api.openai.com":
        return replace(profile, parameters=_COMMON, key_needed=False)
    if provider in ("openai", "azure") and any(fnmatchcase(model, glob) for glob in REASONING):
        parameters = {k: v for k, v in profile.parameters.items() if k in ("max_tokens", "seed")}
        return replace(profile, parameters=parameters)
    return profile
