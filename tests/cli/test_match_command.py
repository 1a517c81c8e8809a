"""Patterns from files, matches as JSON lines or drawn."""

import json

import pytest

DIRECTOR = {"triples": [["Memento", "directed by", "UNKNOWN person 1"]], "answer": "UNKNOWN person 1"}
SHARED = {"triples": [["Memento", "directed_by", "UNKNOWN 1"], ["UNKNOWN film", "directed_by", "UNKNOWN 1"]]}


@pytest.fixture
def pattern(write_lines):
    return lambda *objects: write_lines("patterns.json", *objects)


def test_a_match_as_json(run, index, pattern):
    result = run("match", index, pattern(DIRECTOR), "--k", "1", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 0
    assert found["matches"] == [
        {
            "gsd": 0.0,
            "direction_misses": 0,
            "nodes": ["Memento", "Christopher Nolan"],
            "triples": [["Memento", "directed_by", "Christopher Nolan"]],
        }
    ]
    assert (found["id"], found["complete"], found["bound"]) == (None, True, None)
    assert found["timings_ms"]["total"] > 0


def test_matches_are_drawn(run, index, pattern):
    lines = run("match", index, pattern(SHARED), "--all").stdout.splitlines()
    assert lines[0].startswith("1 match ")
    assert lines[1:] == ["gsd 0.0000", "  Memento ─directed_by→ Christopher Nolan ←directed_by─ Inception"]


def test_k_bounds_the_matches(run, index, pattern):
    for k in (1, 2, 5):
        found = json.loads(run("match", index, pattern(DIRECTOR), "--k", k, "--json").stdout)
        assert len(found["matches"]) == k


def test_many_patterns_one_line_each(run, index, pattern):
    file = pattern(DIRECTOR | {"id": "x"}, SHARED)
    result = run("match", index, "--patterns", file)
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["x", "2"]


def test_a_pattern_from_stdin(run, index):
    result = run("match", index, "-", "--json", input=json.dumps(DIRECTOR))
    assert json.loads(result.stdout)["matches"]


@pytest.mark.parametrize("given", ["my pattern.json", "a b " * 2_000])
def test_a_pattern_that_is_not_there_is_told(run, index, given):
    result = run("match", index, given)
    assert result.exit_code == 2
    told = "no such file. Check the path. A pattern is one object" if len(given) < 100 else "cannot be read"
    assert told in result.stderr


def test_a_pattern_without_a_match_exits_with_3(run, index, pattern):
    chain = [[f"UNKNOWN {i}", "UNKNOWN relation", f"UNKNOWN {i + 1}"] for i in range(9)]
    result = run(
        "match", index, pattern({"triples": [["Heat", "directed_by", "UNKNOWN 0"], *chain]}), "--json"
    )
    assert (result.exit_code, json.loads(result.stdout)["matches"]) == (3, [])


def test_a_type_that_the_graph_lacks_matches_nothing(run, films, pattern, tmp_path):
    (tmp_path / "types").write_text("Memento\tfilm\nChristopher Nolan\tperson\n")
    run("index", films, "--types", tmp_path / "types", "--quiet")
    for kind, found in (("person", True), ("volcano", False)):
        typed = {"triples": [["Memento", "directed by", f"UNKNOWN {kind} 1"]]}
        result = run("match", films.with_suffix(".clew"), pattern(typed), "--json")
        assert result.exit_code == (0 if found else 3)
        assert bool(json.loads(result.stdout)["matches"]) is found


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "patterns.json: not JSON"),
        ("{}", "field 'triples' must be a list"),
        ('{"triples": []}', "patterns.json: field 'triples'"),
        ('{"triples": ["abc"]}', "field 'triples[0]' must be a list of three strings"),
        ('{"triples": [["a", "b"]]}', "patterns.json: field 'triples[0]' has 2 entries"),
        ('{"triples": [["a", "r", "b"], ["a", 3, "b"]]}', "field 'triples[1]': its relation"),
        ('{"triples": [["a", "r", " "]]}', "field 'triples[0]': its tail"),
        ('{"triples": [["a", "r", "b"]], "answer": "c"}', "field 'answer'"),
        ('{"triples": [["UNKNOWN 1", "b", "UNKNOWN 2"]]}', "every node is unknown"),
        ('{"triples": [["a", "r", "b"], ["c", "r", "d"]]}', "'c' is not connected with 'a'"),
        (json.dumps({"triples": [["a", "r", "b"]] * 17}), "has 17 triples: at most 16"),
    ],
)  # fmt: skip
def test_a_malformed_pattern_names_file_and_field(run, index, tmp_path, content, message):
    (tmp_path / "patterns.json").write_text(content)
    result = run("match", index, "patterns.json")
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_malformed_line_is_named_before_anything_is_searched(run, index, tmp_path):
    (tmp_path / "p.jsonl").write_text(json.dumps(DIRECTOR) + '\n{"triples": 1}\n')
    result = run("match", index, "--patterns", "p.jsonl")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "p.jsonl:2: " in result.stderr


@pytest.mark.parametrize(
    "arguments", [[], ["p.json", "--patterns", "p.jsonl"], ["p.json", "--k", "0"], ["none.json"]]
)
def test_wrong_usage(run, index, arguments):
    assert run("match", index, *arguments).exit_code == 2


def test_a_pattern_is_given_in_the_argument(run, index):
    result = run("match", index, json.dumps(DIRECTOR), "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["matches"]
    result = run("match", index, '{"triples": ')
    assert result.exit_code == 2
    assert "PATTERN: " in result.stderr
