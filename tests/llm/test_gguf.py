"""A GGUF file in this process: a model of 65 KB whose words mean nothing, and whose JSON is valid."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from typer.testing import CliRunner

from clew.cli.app import app
from clew.errors import InputError
from clew.llm import Settings, ask, open_model, run_sync
from clew.llm.open import open_adapter

FILMS = Path(__file__).resolve().parents[2] / "examples" / "films.tsv"


@dataclass(frozen=True)
class Bounded:
    kind: Literal["question", "claim"]
    certain: bool
    hops: int


def test_a_file_chats_and_keeps_to_a_schema(tiny_model: Path):
    heard: list[str] = []
    model = open_model(Settings(f"gguf/{tiny_model}"), lambda _, text: heard.append(text))
    reply = run_sync(model.complete(ask("hello", max_tokens=6, seed=1)))
    assert (reply.usage.output_tokens, reply.finish) == (6, "length")
    assert "".join(heard) == reply.text
    typed = run_sync(model.complete_as(ask("hello", max_tokens=900, seed=1), Bounded))
    assert (typed.value.kind in ("question", "claim"), len(typed.replies)) == (True, 1)
    run_sync(model.close())


def test_nobody_else_on_the_machine_can_use_it(tiny_model: Path):
    adapter = open_adapter(Settings(f"gguf/{tiny_model}"))

    async def address() -> str:
        return str(adapter.model.base_url)

    url = run_sync(address())
    assert url.startswith("http://127.0.0.1:")
    request = urllib.request.Request(  # noqa: S310
        f"{url.rstrip('/')}/chat/completions",
        json.dumps({"messages": [{"role": "user", "content": "hi"}]}).encode(),
        {"content-type": "application/json"},
    )
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(request, timeout=10)  # noqa: S310
    run_sync(adapter.close())


def test_a_file_that_is_not_there_or_no_model_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"none\.gguf.*no such file"):
        open_model(Settings(f"gguf/{tmp_path}/none.gguf"))
    (tmp_path / "text.gguf").write_text("no model")
    with pytest.raises(InputError, match=r"text\.gguf.*cannot load"):
        open_model(Settings(f"gguf/{tmp_path}/text.gguf"))


def test_the_command_line_asks_it(tiny_model: Path, tmp_path: Path):
    words = (
        "ask", str(FILMS), "Who directed Memento?", "--llm", f"gguf/{tiny_model}", "--method", "llm",
        "--json",
    )  # fmt: skip
    ended = CliRunner().invoke(app, [*words, "--trace", str(tmp_path / "trace")])
    assert ended.exit_code in (0, 3), ended.output
    (line,) = (tmp_path / "trace").read_text().splitlines()
    assert json.loads(line)["error"] is None
