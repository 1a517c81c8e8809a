"""`clew verify`: one claim, a file of them, exit codes."""

import json

import pytest

from clew.cli.console import UNANSWERED

TRUE, FALSE, NEITHER = (
    "Christopher Nolan directed Memento.",
    "Michael Mann directed Memento.",
    "Zorblax directed Memento.",
)


@pytest.fixture
def claims(write_lines):
    return write_lines(
        "claims.jsonl", {"id": "a", "claim": TRUE}, {"claim": FALSE}, {"id": 7, "claim": NEITHER}
    )


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("claim", "word", "code"),
    [(TRUE, "Supported", 0), (FALSE, "Refuted", 0), (NEITHER, "Not enough info", UNANSWERED)],
)
def test_a_verdict_on_the_terminal(run, index, claim, word, code):
    result = run("verify", index, claim)
    assert (result.exit_code, result.stdout.startswith(word)) == (code, True)


def test_the_triples_are_shown(run, index):
    assert "Memento ─directed_by→ Christopher Nolan" in run("verify", index, FALSE).stdout


def test_json_and_explain(run, index):
    result = json.loads(run("verify", index, TRUE, "--json", "--explain").stdout)
    assert result["verdict"] == "supported"
    assert [step["name"] for step in result["steps"]] == ["link", "parts"]
    assert "steps" not in json.loads(run("verify", index, TRUE, "--json").stdout)


def test_in_a_closed_world(run, index):
    result = run("verify", index, NEITHER, "--closed-world")
    assert (result.exit_code, result.stdout.split()[0]) == (0, "Refuted")


def test_a_file_of_claims(run, index, claims):
    result = run("verify", index, "--claims", claims)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert [(v["id"], v["verdict"]) for v in lines] == [
        ("a", "supported"),
        ("2", "refuted"),
        ("7", "not_enough_info"),
    ]


def test_claims_from_stdin(run, index, claims):
    assert len(run("verify", index, "--claims", "-", input=claims.read_text()).stdout.splitlines()) == 3


@pytest.mark.parametrize("cut", [0, 30])
def test_what_is_verified_is_not_verified_again(run, index, claims, tmp_path, cut):
    out = tmp_path / "out.jsonl"
    assert run("verify", index, "--claims", claims, "--out", out).exit_code == 0
    whole = read(out)
    out.write_bytes(out.read_bytes()[: -cut or None])
    assert run("verify", index, "--claims", claims, "--out", out).exit_code == 0
    assert [(v["id"], v["verdict"]) for v in read(out)] == [(v["id"], v["verdict"]) for v in whole]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"), ("[]", "not a JSON object"), ('{"id": "1"}', "'claim' is missing"),
        ('{"claim": 3}', "'claim' is missing"), ('{"claim": " "}', "claim is empty"),
        ('{"id": [], "claim": "a"}', "'id'"), ('{"id": "a", "claim": "x"}', "line 1"),
    ],
)  # fmt: skip
def test_malformed_lines_are_named(run, index, claims, line, message):
    with claims.open("a") as file:
        file.write(line + "\n")
    result = run("verify", index, "--claims", claims)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "claims.jsonl:4" in result.stderr
    assert message in result.stderr


def test_wrong_usage(run, index, claims, tmp_path):
    wrong = [
        (), ("",), ("x", "--claims", claims), ("x", "--out", "y"), ("--claims", claims, "--out", claims),
        ("x", "--method", "other"), ("x", "--method", "simgrag"), ("x", "--llm", "nobody/x"),
        ("x", "--set", "k=0"), ("--claims", tmp_path / "none.jsonl"),
        ("x", "--set", f"examples={tmp_path / 'none.json'}"),
        ("x", "--set", "shots=3"),
    ]  # fmt: skip
    for arguments in wrong:
        result = run("verify", index, *arguments)
        assert (result.exit_code, result.stdout) == (2, ""), arguments


def test_other_verdicts_in_the_file_are_named(run, index, claims, tmp_path):
    out = tmp_path / "out.jsonl"
    run("verify", index, "--claims", claims, "--out", out)
    out.write_text(out.read_text().replace("Michael Mann directed", "Nobody directed"))
    result = run("verify", index, "--claims", claims, "--out", out)
    assert result.exit_code == 2
    assert "another claim" in result.stderr
