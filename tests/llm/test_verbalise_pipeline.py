"""`clew index --verbalise` against a server whose words are random: every walk is said, and asked of once."""

import json

import pytest
from typer.testing import CliRunner

from clew.cli.app import app

FILMS = "Heat\tdirected_by\tMann\nHeat\tyear\t1995\n"


@pytest.fixture
def clew(tiny_url, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", tiny_url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films.tsv").write_text(FILMS)
    return lambda *arguments: CliRunner().invoke(app, arguments, prog_name="clew")


def test_walks_are_said_when_indexed_and_in_an_update(clew, tmp_path):
    (tmp_path / "new.tsv").write_text("Heat\tgenre\tcrime\n")
    spec = ("--verbalise", "openai/tiny")
    made = clew("index", "films.tsv", "--corpus", "bfs", "--depth", "2", *spec)
    assert made.exit_code == 0, made.stderr
    assert "openai/tiny is to say about 6 walks, a call each" in made.stderr
    assert "6 walks said by openai/tiny (6 calls" in made.stderr
    told = json.loads(clew("info", "films.clew", "--json").stdout)["corpus"]
    assert (told["model"], told["distinct"], told["unsaid"]) == ("openai/tiny", 6, 0)
    changed = clew("update", "films.clew", "--add", "new.tsv")
    assert changed.exit_code == 0, changed.stderr
    assert "walks said by openai/tiny" in changed.stderr
    shown = clew("info", "films.clew")
    assert "walks are said by openai/tiny" in shown.stdout


def test_a_limit_of_calls_is_for_all_walks_and_what_was_said_is_not_asked_again(clew):
    words = ("index", "films.tsv", "--corpus", "bfs", "--depth", "2", "--verbalise", "openai/tiny")
    stopped = clew(*words, "--budget", "calls=4")
    assert stopped.exit_code == 1
    assert "budget" in stopped.stderr.lower() or "limit" in stopped.stderr.lower()
    made = clew(*words, "--budget", "calls=4")
    assert made.exit_code == 0, made.stderr


def test_limits_without_a_model_are_refused(clew):
    refused = clew("index", "films.tsv", "--budget", "calls=6")
    assert refused.exit_code == 2
    assert "--verbalise" in refused.stderr
