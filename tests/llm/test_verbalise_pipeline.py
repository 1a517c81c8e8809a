"""`clew index --verbalise` against a server whose words are random: every walk is said, and asked of once."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILMS = "Heat\tdirected_by\tMann\nHeat\tyear\t1995\n"


def clew(folder, url, *arguments):
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT / "src"), "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "clew", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_walks_are_said_when_indexed_and_in_an_update(tiny_url, tmp_path):
    (tmp_path / "films.tsv").write_text(FILMS)
    (tmp_path / "new.tsv").write_text("Heat\tgenre\tcrime\n")
    spec = ("--verbalise", "openai/tiny")
    made = clew(tmp_path, tiny_url, "index", "films.tsv", "--corpus", "bfs", "--depth", "2", *spec)
    assert made.returncode == 0, made.stderr
    assert "openai/tiny is to say about 6 walks, a call each" in made.stderr
    assert "6 walks said by openai/tiny (6 calls" in made.stderr
    told = json.loads(clew(tmp_path, tiny_url, "info", "films.clew", "--json").stdout)["corpus"]
    assert (told["model"], told["distinct"], told["unsaid"]) == ("openai/tiny", 6, 0)
    changed = clew(tmp_path, tiny_url, "update", "films.clew", "--add", "new.tsv")
    assert changed.returncode == 0, changed.stderr
    assert "walks said by openai/tiny" in changed.stderr
    shown = clew(tmp_path, tiny_url, "info", "films.clew")
    assert "walks are said by openai/tiny" in shown.stdout


def test_a_limit_of_calls_is_for_all_walks_and_what_was_said_is_not_asked_again(tiny_url, tmp_path):
    (tmp_path / "films.tsv").write_text(FILMS)
    words = ("index", "films.tsv", "--corpus", "bfs", "--depth", "2", "--verbalise", "openai/tiny")
    stopped = clew(tmp_path, tiny_url, *words, "--budget", "calls=4")
    assert stopped.returncode == 1
    assert "budget" in stopped.stderr.lower() or "limit" in stopped.stderr.lower()
    made = clew(tmp_path, tiny_url, *words, "--budget", "calls=4")
    assert made.returncode == 0, made.stderr


def test_limits_without_a_model_are_refused(tiny_url, tmp_path):
    (tmp_path / "films.tsv").write_text(FILMS)
    refused = clew(tmp_path, tiny_url, "index", "films.tsv", "--budget", "calls=6")
    assert refused.returncode == 2
    assert "--verbalise" in refused.stderr
