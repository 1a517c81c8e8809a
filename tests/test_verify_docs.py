"""What the pages say of claims and of SimGRAG is so."""

import json
import re
from pathlib import Path

import pytest

from clew import Clew
from clew.methods.simgrag.write_pattern import shots_from

ROOT = Path(__file__).resolve().parents[1]


def blocks(page):
    return [
        json.loads(b)
        for b in re.findall(r"```json\n(.*?)```", (ROOT / "docs" / page).read_text("utf-8"), re.S)
    ]


def test_the_verdict_of_the_json_page(tmp_path):
    (shown,) = [b for b in blocks("json.md") if "verdict" in b]
    with Clew.open(ROOT / "examples" / "films.tsv", cache_dir=tmp_path) as films:
        real = films.verify(shown["claim"]).as_json()
    assert list(real) == list(shown)
    timeless = [{k: v for k, v in r.items() if k != "timings_ms"} for r in (real, shown)]
    assert timeless[0] == timeless[1]


def test_the_examples_of_the_simgrag_page():
    (shown,) = blocks("simgrag.md")
    assert len(shots_from(shown, "page").questions) == 1


@pytest.mark.parametrize("page", ["cli.md", "simgrag.md"])
def test_options_of_the_pages_are_there(page):
    from typer.testing import CliRunner

    from clew.cli.app import app

    helps = "".join(
        CliRunner().invoke(app, [*c.split(), option], terminal_width=200).stdout
        for c in ("ask", "verify", "index", "update", "match", "info", "cypher fix", "query", "serve")
        for option in ("--help", "--help-all")
    )
    told = set(re.findall(r"`(--[a-z-]+)", (ROOT / "docs" / page).read_text("utf-8")))
    assert {o for o in told if o not in helps and o not in ("--", "--debug")} == set()
