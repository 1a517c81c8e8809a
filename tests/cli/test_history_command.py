"""`clew history`, and how `clew ask` uses it and adds to it."""

import json

import pytest

from clew.stores.history import source_key
from servers.fake_server import Answer, completion, serving

QUERY = "MATCH (f:Entity {name: 'Memento'})-[:directed_by]->(p) RETURN p.name AS director"
ROWS = '{"text": "", "column": "director"}'


@pytest.fixture(autouse=True)
def history(monkeypatch, tmp_path):
    path = tmp_path / "data" / "history.jsonl"
    monkeypatch.setenv("CLEW_HISTORY", str(path))
    return path


def entries(run, *more):
    result = run("history", "list", *more, "--json")
    assert result.exit_code == 0
    return [(e["question"], e["query"]) for e in json.loads(result.stdout)["entries"]]


def test_add_list_and_remove(run, films, history):
    assert entries(run) == []
    assert run("history", "add", films, "Who?", QUERY).exit_code == 0
    assert run("history", "add", "neo4j://u:secret@host/db", "What?", "MATCH (n) RETURN n").exit_code == 0
    assert entries(run, films) == [("Who?", QUERY)]
    assert len(entries(run)) == 2
    assert "secret" not in history.read_text()
    assert run("history", "remove", films, "Who?").exit_code == 0
    assert entries(run) == [("What?", "MATCH (n) RETURN n")]
    assert run("history", "remove", films, "Who?").exit_code == 2


def test_a_question_that_is_there_gets_the_new_query(run, films):
    for query in ("MATCH (n) RETURN n", QUERY, QUERY):
        assert run("history", "add", films, "Who?", query).exit_code == 0
    assert entries(run) == [("Who?", QUERY)]


def test_separators_of_lines_in_a_query_are_kept(run, films):
    query = "MATCH (n) WHERE n.name <> 'a\u2028b\x85c' RETURN n"
    assert run("history", "add", films, "Who?", query).exit_code == 0
    assert entries(run, films) == [("Who?", query)]


@pytest.mark.parametrize("query", ["MATCH (n) DELETE n", "no query", "CALL dbms.shutdown()"])
def test_a_query_that_is_no_harmless_read_is_refused(run, films, query):
    result = run("history", "add", films, "Who?", query)
    assert result.exit_code == 2
    assert "error:" in result.stderr
    assert entries(run) == []


def test_import_reads_all_lines_first(run, films, tmp_path):
    file = tmp_path / "solved.jsonl"
    good = json.dumps({"question": "Who?", "query": QUERY})
    file.write_text(f'{good}\n{{"question": "What?", "query": "MATCH (n) DELETE n"}}\n')
    result = run("history", "import", films, file)
    assert result.exit_code == 2
    assert f"{file}:2" in result.stderr
    assert entries(run) == []
    skipped = run("history", "import", films, file, "--on-error", "skip")
    assert skipped.exit_code == 0
    assert "1 line skipped" in skipped.stderr
    assert entries(run) == [("Who?", QUERY)]


@pytest.mark.parametrize("line", ["not json", "[]", '{"question": "x"}'])
def test_a_damaged_history_says_where(run, history, line):
    history.parent.mkdir()
    history.write_text(f'{{"source": "s", "question": "q", "query": "MATCH (n) RETURN n"}}\n{line}\n')
    result = run("history", "list")
    assert result.exit_code == 2
    assert f"{history}:2" in result.stderr


@pytest.fixture
def server(monkeypatch):
    """A model that writes the query and reads its rows."""
    pytest.importorskip("openai")
    pytest.importorskip("ladybug")
    with serving(Answer(completion(QUERY)), Answer(completion(ROWS))) as (fake, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        yield fake.seen


ASK = ("--method", "synaptiqa", "--llm", "vllm/m")


def test_an_answered_question_is_kept_only_if_the_user_says_so(run, films, server):
    result = run("ask", films, "Who directed Memento?", *ASK, "--json", "--quiet")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["answers"][0]["label"] == "Christopher Nolan"
    assert json.loads(result.stdout)["query"] == QUERY
    assert entries(run) == []


def test_remember_keeps_the_question_with_its_query(run, films, server):
    result = run("ask", films, "Who directed Memento?", *ASK, "--remember", "--explain")
    assert result.exit_code == 0
    assert "kept as an example" in result.stderr
    assert "Memento ─directed_by→ Christopher Nolan" in result.stdout
    assert "written: MATCH" in result.stdout
    assert entries(run) == [("Who directed Memento?", QUERY)]


def test_examples_of_the_source_are_shown_to_the_model(run, films, server):
    run("history", "add", films, "Who made Heat?", "MATCH (h {name: 'Heat'})-->(x) RETURN x.name")
    run("history", "add", "neo4j://host", "Who made Alien?", "MATCH (other) RETURN other.name")
    assert run("ask", films, "Who directed Memento?", *ASK).exit_code == 0
    prompt = json.dumps(server[0].body)
    assert "Who made Heat?" in prompt
    assert "Who made Alien?" not in prompt


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--method", "auto", "--remember"), "--remember: for synaptiqa"),
        (("--method", "synaptiqa", "--allow-ungrounded"), "for a chat model"),
        ((*ASK, "--chooser", "dice"), "--chooser is 'dice'"),
        ((*ASK, "--k", "3"), "for simgrag"),
    ],
)
def test_options_that_do_not_go_together(run, films, monkeypatch, words, told):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    result = run("ask", films, "Who?", *words)
    assert result.exit_code == 2
    assert told in result.stderr


def test_a_database_is_not_asked_by_methods_of_an_index(run):
    result = run("ask", "neo4j://127.0.0.1:1", "Who?", "--format", "tsv")
    assert result.exit_code == 2
    assert "for graph files" in result.stderr


def test_an_address_is_kept_with_its_path_and_without_its_user():
    assert source_key("sparql+https://me:pw@host/a@b") == "sparql+https://host/a@b"
