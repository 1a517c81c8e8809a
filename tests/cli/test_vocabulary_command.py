"""`clew vocabulary` and `clew index --vocabulary`."""

import json

import pytest

from clew import Clew
from servers.fake_server import Answer, completion, serving

FAMILY = "Tom\tparent of\tBob\nPam\tparent of\tBob\nPam\tgender\tfemale\nTom\tgender\tmale\n"
KIN = """
[terms]
parent = '^"parent of"'
mother = '.parent[gender = "female"]'
"""
SHIPS = "V1\tcgo_main\tgrain\nV2\tcgo_main\tcoal\n"
TRADE = '[relations.cgo_main]\nlabel = "goods"\nwords = ["cargo"]\n'


def test_on_the_command_line(run, tmp_path):
    (tmp_path / "g.tsv").write_text(FAMILY)
    assert run("index", tmp_path / "g.tsv", "-o", tmp_path / "g.clew").exit_code == 0
    (tmp_path / "words.toml").write_text(KIN)
    result = run("vocabulary", tmp_path / "g.clew", "--set", tmp_path / "words.toml", "--json")
    assert json.loads(result.stdout)["terms"] == 2
    shown = json.loads(run("vocabulary", tmp_path / "g.clew", "--json").stdout)
    assert shown["terms"]["parent"] == '^"parent of"'
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("[relations.nope]\nlabel = 'x'\n")
    result = run("vocabulary", tmp_path / "g.clew", "--set", wrong)
    assert (result.exit_code, "wrong.toml" in result.stderr) == (2, True)


def test_an_index_is_made_with_a_vocabulary(run, tmp_path):
    (tmp_path / "g.tsv").write_text(SHIPS)
    (tmp_path / "words.toml").write_text(TRADE)
    result = run(
        "index", tmp_path / "g.tsv", "-o", tmp_path / "g.clew", "--vocabulary", tmp_path / "words.toml"
    )
    assert result.exit_code == 0, result.stderr
    with Clew.open(tmp_path / "g.clew") as clew:
        assert clew.vocabulary.relations["cgo_main"].words == ("cargo",)
        assert [relation.label for relation in clew.info().relations] == ["goods"]


def test_a_model_drafts_and_what_it_said_is_replayed(run, tmp_path, monkeypatch):
    pytest.importorskip("openai")
    (tmp_path / "g.tsv").write_text(SHIPS)
    run("index", tmp_path / "g.tsv", "-o", tmp_path / "g.clew")
    said = {
        "relations": [{"name": "cgo_main", "label": "main cargo", "words": [], "unit": "", "description": ""}]
    }
    reply = json.dumps(said | {"types": [], "terms": []})
    draft = (
        "vocabulary", tmp_path / "g.clew", "--llm", "vllm/m", "--quiet", "--cache",
        tmp_path / "said.sqlite",
    )  # fmt: skip
    with serving(Answer(completion(reply))) as (server, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        results = [run(*draft), run(*draft, "--replay")]
        assert len(server.seen) == 1
    for result in results:
        assert result.exit_code == 0, result.stderr
        assert '# label = "main cargo"  # draft' in result.stdout
        assert "what vllm/m says" in result.stdout


def test_a_draft_keeps_to_its_budget_and_goes_with_nothing_else(run, tmp_path, monkeypatch):
    pytest.importorskip("openai")
    (tmp_path / "g.tsv").write_text(SHIPS)
    run("index", tmp_path / "g.tsv", "-o", tmp_path / "g.clew")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    result = run("vocabulary", tmp_path / "g.clew", "--llm", "vllm/m", "--quiet", "--budget", "tokens=10")
    assert result.exit_code != 0
    assert "tokens" in result.stderr
    for others in (("--json",), ("--set", tmp_path / "words.toml")):
        assert run("vocabulary", tmp_path / "g.clew", "--llm", "vllm/m", *others).exit_code == 2
    assert run("vocabulary", tmp_path / "g.clew", "--cache", tmp_path / "x.sqlite").exit_code == 2
