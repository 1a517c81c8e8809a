from __future__ import annotations

import re
import tomllib
from pathlib import Path

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "llm.md").read_text("utf-8")


def test_the_python_of_the_docs_runs():
    (code,) = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)
    exec(compile(code, "docs/llm.md", "exec"), {})  # noqa: S102


def test_the_prices_of_the_docs_are_a_prices_file(tmp_path: Path):
    from clew.llm.budget import read_prices

    (text,) = re.findall(r"```toml\n(.*?)```", DOCS, re.DOTALL)
    assert tomllib.loads(text)
    path = tmp_path / "prices.toml"
    path.write_text(text)
    assert read_prices(path).find("ollama/llama3.1:8b") is not None


def test_every_server_is_in_the_docs():
    from clew.llm.providers import EXTRAS, SERVERS

    for name in (*SERVERS, *EXTRAS):
        assert f"`{name}" in DOCS
