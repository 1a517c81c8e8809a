"""`clew vocabulary` and `clew index --vocabulary`."""

import json

from clew import Clew

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
