import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clew.errors import InputError, MissingExtra, UsageError
from clew.foundation.redaction import redacted
from clew.llm import Reply, Settings, ask, open_model, run_sync, settings_from
from clew.llm.budget import Limits, Price, ReplyCache, read_prices
from clew.llm.providers import ollama_url, split_name
from clew.llm.types import ModelUnreachable
from clew.types import Usage

# Names and profiles


@pytest.mark.parametrize("name", ["", "gpt-4o", "openai/", "openai/ ", "/x", "OpenAI/gpt-4o", "a b/x"])
def test_another_name_is_a_usage_error_that_shows_how(name: str):
    with pytest.raises(UsageError, match=r"provider/model, for example ollama"):
        split_name(name)


# Environment


@pytest.mark.parametrize(
    ("environment", "model", "url", "key"),
    [
        ({"OPENAI_API_KEY": "k"}, "openai/m", "https://api.openai.com/v1", "k"),
        ({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://h/v1/"}, "openai/m", "http://h/v1", "k"),
        ({"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "o"}, "anthropic/m", "", "k"),
        ({"MISTRAL_API_KEY": "k", "OPENAI_BASE_URL": "http://h/v1"}, "mistral/m", "", "k"),
        ({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://h/v1"}, "gguf/m.gguf", "", None),
        ({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://h/"}, "anthropic/m", "http://h", "k"),
        ({"OPENAI_API_KEY": "k"}, "ollama/m", "http://localhost:11434/v1", None),
        ({"OLLAMA_HOST": "box:99", "OPENAI_BASE_URL": "http://h/v1"}, "ollama/m", "http://box:99/v1", None),
        ({"OPENAI_API_KEY": "k"}, "vllm/m", "http://localhost:8000/v1", None),
        ({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://h/v1"}, "vllm/m", "http://h/v1", "k"),
        ({"OPENAI_API_KEY": "k"}, "openrouter/a/b", "", None),
    ],
)
def test_the_environment_gives_address_and_key(
    environment: dict[str, str], model: str, url: str, key: str | None
):
    settings = settings_from(environment, model)
    assert (settings.address, settings.api_key) == (url, key)


def test_options_go_before_the_environment():
    environment = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://h/v1", "OTEL_SERVICE_NAME": "x"}
    settings = settings_from(environment, "openai/m", base_url="http://i/v1", timeout=3.0, api_key=None)
    assert (settings.base_url, settings.timeout, settings.api_key) == ("http://i/v1", 3.0, "k")
    assert settings.telemetry


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("localhost", "http://localhost:11434/v1"),
        ("0.0.0.0", "http://localhost:11434/v1"),  # noqa: S104
        ("0.0.0.0:9", "http://localhost:9/v1"),
        (":9", "http://localhost:9/v1"),
        ("box:9", "http://box:9/v1"),
        ("http://box", "http://box:80/v1"),
        ("https://box/", "https://box:443/v1"),
        ("http://box:9/", "http://box:9/v1"),
        ("http://box:9/models/ollama/", "http://box:9/models/ollama/v1"),
        ("https://box/ollama", "https://box:443/ollama/v1"),
        ("[::1]:9", "http://[::1]:9/v1"),
        ("[::1]", "http://[::1]:11434/v1"),
    ],
)
def test_ollama_hosts(host: str, url: str):
    assert ollama_url(host) == url


def test_a_key_is_not_shown():
    assert "secret" not in repr(Settings("openai/m", api_key="secret"))


# What does not go together


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": "openai/m"}, "Set OPENAI_API_KEY"),
        ({"model": "anthropic/m"}, "Set ANTHROPIC_API_KEY"),
        ({"model": "azure/m", "api_key": "k"}, "Set AZURE_OPENAI_ENDPOINT"),
        ({"model": "deepseek/m"}, "Set DEEPSEEK_API_KEY"),
        ({"model": "nobody/m"}, "no provider 'nobody'"),
        ({"model": "deepseek/m", "api_key": "k", "base_url": "http://h/v1"}, "another base URL"),
        ({"model": "openai/m", "api_key": "k\n"}, "Copy it again"),
        ({"model": "openai/m", "api_key": "k…"}, "Copy it again"),
        ({"base_url": "localhost:8080/v1"}, "not a base URL"),
        ({"base_url": "http://h:99999/v1"}, "not a base URL"),
        ({"base_url": "file:///etc/passwd"}, "not a base URL"),
        ({"replay": True}, "Name its file"),
        ({"timeout": 0.0}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"concurrency": 0}, "concurrency"),
        ({"attempts": 0}, "attempts"),
        ({"per_run": Limits(money=1.0)}, "needs the price of ollama/m"),
    ],
)
def test_a_usage_error_says_what_to_do(options: dict[str, Any], says: str):
    settings = Settings(**{"model": "ollama/m", **options})
    with pytest.raises(UsageError, match=says):
        open_model(settings)


@pytest.mark.parametrize(
    ("package", "model", "extra"),
    [
        ("openai", "ollama/m", "openai"),
        ("openai", "deepseek/m", "openai"),
        ("anthropic", "anthropic/m", "anthropic"),
        ("groq", "groq/m", "groq"),
        ("pydantic_ai.models", "google/m", "google"),
        ("xllamacpp", "gguf/m.gguf", "local"),
    ],
)
def test_a_missing_package_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, package: str, model: str, extra: str
):
    monkeypatch.setitem(sys.modules, package, None)
    held = ("pydantic_ai.models", "pydantic_ai.providers")
    for name in [name for name in sys.modules if name.startswith(held) and name != package]:
        above, _, last = name.rpartition(".")
        if (parent := sys.modules.get(above)) and hasattr(parent, last):
            monkeypatch.setattr(parent, last, getattr(parent, last))  # as it was, for the tests behind
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingExtra, match=rf"clew\[{extra}\]"):
        open_model(Settings(model))


def test_recorded_replies_need_no_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    cache = ReplyCache(tmp_path / "replies")
    request = ask("hello")
    cache.store(replace(request, model="openai/m"), Reply("yes", "m"))
    cache.close()
    for package in ("openai", "pydantic_ai", "httpx2", "tenacity"):
        monkeypatch.setitem(sys.modules, package, None)
    model = open_model(Settings("openai/m", cache=tmp_path / "replies", replay=True))
    assert run_sync(model.complete(request)).text == "yes"
    run_sync(model.close())


def test_keys_of_all_providers_are_hidden():
    settings_from({"GROQ_API_KEY": "gsk-1234567", "AWS_SECRET_ACCESS_KEY": "aws/12345678"}, "groq/m")
    assert redacted("gsk-1234567 and aws/12345678") == "*** and ***"


# Prices


def test_prices_are_those_of_the_file(tmp_path: Path):
    path = tmp_path / "prices.toml"
    path.write_text(
        'currency = "EUR"\n[models."openai/gpt-4o"]\ninput = 2.5\noutput = 10\n'
        '[models."ollama/*"]\ninput = 0\noutput = 0\n'
    )
    prices = read_prices(path)
    assert prices.currency == "EUR"
    assert prices.find("openai/gpt-4o") == Price(2.5, 10.0)
    assert prices.find("ollama/llama3.1:8b") == Price(0.0, 0.0)
    assert prices.find("openai/gpt-5") is None
    assert Price(2.5, 10.0).of(Usage(1, 1_000_000, 100_000)) == pytest.approx(3.5)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "needs input"),
        ("[models", "not valid TOML"),
        ('[models."a/b"]\ninput = 1\n', "field `output`"),
        ('[models."a/b"]\ninput = -1\noutput = 1\n', "not negative"),
        ('[models."a/b"]\ninput = "1"\noutput = 1\n', "needs input"),
        ('[models."a/b"]\ninput = nan\noutput = 1\n', "needs input"),
        ('[models."a/b"]\ninput = true\noutput = 1\n', "needs input"),
        ("models = 3\n", "needs input"),
        ('[models]\n"a/b" = 3\n', "needs input"),
    ],
)
def test_a_bad_prices_file_is_named(tmp_path: Path, text: str, says: str):
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        read_prices(path)
    assert str(path) in str(caught.value)


def test_a_missing_or_binary_prices_file_is_named(tmp_path: Path):
    with pytest.raises(InputError, match="cannot be read"):
        read_prices(tmp_path / "none.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not valid TOML"):
        read_prices(tmp_path / "b.toml")


def test_another_host_cannot_be_reached():
    with pytest.raises(OSError, match="off in tests"), socket.socket() as made:
        made.connect(("192.0.2.1", 80))


@pytest.mark.parametrize("host", ["192.0.2.1", "api.openai.com"])
def test_a_model_of_another_host_cannot_be_reached(only_localhost: list[str], host: str):
    pytest.importorskip("openai")
    model = open_model(Settings("openai/x", base_url=f"http://{host}/v1", api_key="k"))
    with pytest.raises(ModelUnreachable):
        run_sync(model.complete(ask("hello")))
    run_sync(model.close())
    assert only_localhost == [host]
