"""What the README shows is what happens."""

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clew.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def consoles():
    """Commands of the README's consoles with what they print."""
    for block in re.findall(r"```console\n(.*?)```", README, re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed


def comparable(text):
    """Without times, and with lines as they are when nothing is wrapped at a terminal's width."""
    text = re.sub(r"\((.*?)[\d,]+ ms\)", r"(\1 ms)", text)
    return re.sub(r"\s+", " ", text.replace(" · ", " ")).strip()


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path))
    monkeypatch.chdir(ROOT)
    return lambda arguments: CliRunner().invoke(app, arguments)


@pytest.mark.parametrize(("command", "printed"), list(consoles()), ids=lambda text: text[:40])
def test_consoles_of_the_readme(run, command, printed):
    program, *arguments = shlex.split(command)
    assert program == "clew"
    assert comparable(run(arguments).stdout) == comparable(printed)


def test_python_of_the_readme(run, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    assert "Christopher Nolan (TripleText(head='Memento'" in capsys.readouterr().out


def test_the_answer_of_the_json_page_has_the_keys_of_an_answer(run):
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    shown = json.loads(re.findall(r"```json\n(.*?)```", page, re.S)[0])
    real = json.loads(run(["ask", "examples/films.tsv", shown["question"], "--json"]).stdout)
    assert list(real) == list(shown)
    assert real["answers"] == shown["answers"]
    assert real["citations"] == shown["citations"]


def test_links_of_the_documents_lead_somewhere():
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
