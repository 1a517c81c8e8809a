import json

import pytest
from typer.testing import CliRunner

from clew.cli.app import app

SCHEMA = "(Person, WORKS_AT, Company)"
WRONG = "MATCH (c:Company)-[:WORKS_AT]->(p) RETURN p"
RIGHT = "MATCH (c:Company)<-[:WORKS_AT]-(p) RETURN p"
ILLEGAL = "MATCH (p:Person)-[:WORKS_AT]->(c:City) RETURN c"


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, ["cypher", "fix", *arguments], input=stdin)


def test_a_statement_is_corrected_and_the_change_told():
    result = run("--schema", SCHEMA, WRONG)
    assert (result.exit_code, result.stdout) == (0, RIGHT + "\n")
    assert "(:Person)-[:WORKS_AT]->(:Company)" in result.stderr


def test_a_right_statement_is_printed_as_it_is():
    result = run("--schema", SCHEMA, RIGHT)
    assert (result.exit_code, result.stdout, result.stderr) == (0, RIGHT + "\n", "")


def test_an_illegal_hop_is_named_and_nothing_is_printed():
    result = run("--schema", SCHEMA, ILLEGAL)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "(p:Person)-[:WORKS_AT]->(c:City)" in result.stderr
    assert "no label City" in result.stderr


def test_the_schema_may_be_a_file_and_the_statement_stdin(tmp_path):
    (tmp_path / "schema.txt").write_text("(:Person)-[:WORKS_AT]->(:Company)\n")
    assert run("--schema", str(tmp_path / "schema.txt"), "-", stdin=WRONG + "\n").stdout == RIGHT + "\n"


def test_json_has_the_corrections():
    value = json.loads(run("--schema", SCHEMA, "--json", WRONG).stdout)
    assert value["statement"] == RIGHT
    assert value["corrections"][0]["before"] == "(c:Company)-[:WORKS_AT]->(p)"


def test_a_file_gives_a_line_for_every_line(tmp_path):
    lines = [
        {"id": "a", "statement": WRONG},
        {"statement": ILLEGAL},
        {"query": "MATCH (n:City)-[:IN]->(m) RETURN m", "schema": "(Country, IN, City)"},
        {"cypher": "MATCH (n) DELETE n"},
    ]
    path = tmp_path / "many.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    result = run("--schema", SCHEMA, "--file", str(path))
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 2
    assert [row["id"] for row in rows] == ["a", "2", "3", "4"]
    assert rows[0]["statement"] == RIGHT
    assert rows[1]["illegal"] == ["(p:Person)-[:WORKS_AT]->(c:City)"]
    assert rows[2]["statement"] == "MATCH (n:City)<-[:IN]-(m) RETURN m"
    assert rows[3]["statement"] is None
    assert "DELETE" in rows[3]["error"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give one statement"),
        (["--schema", SCHEMA], "Give one statement"),
        ([WRONG], "Give the schema"),
        (["--schema", "Person", WRONG], "no schema and no file"),
        (["--schema", "(Person)", WRONG], "cannot be read at character 1"),
        (["--schema", SCHEMA, "MATCH (n"], "never closed"),
        (["--schema", SCHEMA, "MATCH (n) DELETE n"], "DELETE"),
        (["--schema", SCHEMA, "--file", "none.jsonl"], "no such file"),
    ],
)
def test_what_is_wrong_is_said(arguments, message):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
