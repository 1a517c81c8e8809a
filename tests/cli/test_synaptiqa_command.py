"""`clew ask --method synaptiqa` with examples of the user, and at the address of a database."""

import json

import pytest

from servers.fake_server import Answer, completion, serving

QUERY = "MATCH (f:Entity {name: 'Memento'})-[:directed_by]->(p) RETURN p.name AS director"
ROWS = '{"text": "", "column": "director"}'
ASK = ("--method", "synaptiqa", "--llm", "vllm/m")


@pytest.fixture
def server(monkeypatch):
    """A model that writes the query and reads its rows."""
    pytest.importorskip("openai")
    pytest.importorskip("ladybug")
    with serving(Answer(completion(QUERY)), Answer(completion(ROWS))) as (fake, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        yield fake.seen


def test_examples_of_the_user_are_shown_to_the_model(run, films, server, tmp_path):
    solved = tmp_path / "solved.jsonl"
    solved.write_text(
        '{"question": "Who made Heat?", "query": "MATCH (h {name: \'Heat\'})-->(x) RETURN x.name"}\n'
    )
    result = run(
        "ask", films, "Who directed Memento?", *ASK, "--set", f"examples={solved}", "--json", "--quiet"
    )
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert (told["answers"][0]["label"], told["query"]) == ("Christopher Nolan", QUERY)
    assert "Who made Heat?" in json.dumps(server[0].body)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"question": "Who?"}', ":1"),
        ("nothing", ":1"),
        ('{"question": "Who?", "query": "MATCH (n) DETACH DELETE n"}', "is no read"),
    ],
)
def test_examples_that_are_none_are_refused(run, films, server, tmp_path, line, told):
    solved = tmp_path / "solved.jsonl"
    solved.write_text(line)
    result = run("ask", films, "Who?", *ASK, "--set", f"examples={solved}")
    assert (result.exit_code, told in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--llm", "vllm/m", "--format", "tsv"), "for graph files"),
        ((), "clew index neo4j://127.0.0.1:1 -o NAME.clew"),
    ],
)
def test_a_database_is_asked_with_a_model_or_indexed(run, words, told):
    result = run("ask", "neo4j://127.0.0.1:1", "Who?", *words)
    assert (result.exit_code, told in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize(
    ("command", "address"), [("verify", "neo4j://127.0.0.1:1"), ("ask", "sparql+http://127.0.0.1:1/x")]
)
def test_what_needs_an_index_says_how_to_make_one(run, command, address):
    result = run(command, address, "Who?")
    assert (result.exit_code, f"clew index {address} -o NAME.clew" in result.stderr) == (2, True)
