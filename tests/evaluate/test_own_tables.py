"""`clew eval` on a user's own tables: two CSVs with ids and names, and a file of questions."""

import json

import pytest

NODES = "id,name,type\nE1,Ann Lee,Employee\nE2,Bob Ray,Employee\nW1,Hamburg Depot,Warehouse\n"
EDGES = "source,target,relation\nE1,W1,manages\nE2,W1,works_at\n"
QUESTIONS = (
    {"id": "name", "question": "Who manages Hamburg Depot?", "gold": ["Ann Lee"]},
    {"id": "count", "question": "How many employees are there?", "gold": ["2"]},
    {"id": "yes", "question": "Does Ann Lee manage Hamburg Depot?", "gold": ["yes"]},
    {"id": "nothing", "question": "Who painted Hamburg Depot?", "gold": []},
)


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "staff.csv").write_text(NODES)
    (tmp_path / "posts.csv").write_text(EDGES)
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in QUESTIONS))
    return tmp_path


def scores(run, *targets):
    result = run("eval", *targets, "--method", "auto", "--json", "--out", targets[0].parent / "r")
    assert result.exit_code == 0, result.stderr
    (cell,) = json.loads(result.stdout)["cells"]
    return {name: figure["value"] for name, figure in cell["metrics"].items()}, result


def test_names_counts_and_yes_or_no_have_gold_in_two_tables(run, tables):
    files = (tables / "staff.csv", tables / "posts.csv", tables / "questions.jsonl")
    figures, result = scores(run, *files)
    assert "gold that the graph lacks" not in result.stderr
    assert (figures["accuracy"], figures["hallucination"]) == (1.0, 0.0)
    # The evidence names ids, the gold is a name: they are the same entity.
    assert figures["retrieval_hits"] > 0
    # One question has no answer; abstaining from the others would be no gain.
    assert figures["abstention_precision"] == figures["abstention_recall"] == 1.0


def test_a_directory_with_two_tables_is_a_data_set(run, tables, tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "r"
    result = run("eval", tables, "--method", "auto", "--json", "--out", out)
    assert result.exit_code == 0, result.stderr
    (cell,) = json.loads(result.stdout)["cells"]
    assert cell["metrics"]["accuracy"]["value"] == 1.0


def test_one_file_of_questions_is_needed(run, tables):
    result = run("eval", tables / "staff.csv", tables / "posts.csv")
    assert (result.exit_code, "One file of questions" in result.stderr) == (2, True)
