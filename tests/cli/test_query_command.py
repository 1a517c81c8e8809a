"""`clew query` and `clew index` with databases: both languages, exit codes, what goes wrong."""

import json
import socket
from pathlib import Path

import pytest

from servers.fake_server import Answer, completion, serving

FILMS_SPARQL = "SELECT ?f { ?f r:directed_by e:Christopher%20Nolan } ORDER BY ?f"


def test_an_index_is_asked_in_sparql(run, films):
    result = run("query", str(films), FILMS_SPARQL)
    assert result.exit_code == 0, result.output
    assert result.stdout.split() == ["f", "e:Inception", "e:Memento"]


def test_an_index_is_asked_in_cypher(run, films):
    pytest.importorskip("ladybug", reason="ladybug is not installed")
    result = run("query", str(films), "MATCH (n {name: 'Memento'}) RETURN n.name AS name", "--json")
    assert json.loads(result.stdout) == {"columns": ["name"], "rows": [["Memento"]], "complete": True}


def test_json_has_terms_as_sparql_writes_them(run, films):
    query = "SELECT ?name { e:Memento rdfs:label ?name }"
    value = json.loads(run("query", str(films), query, "--json").stdout)
    assert value == {
        "columns": ["name"],
        "rows": [[{"type": "literal", "value": "Memento"}]],
        "complete": True,
    }


def test_rows_are_limited_and_that_is_said(run, films):
    result = run("query", str(films), "SELECT ?s { ?s ?p ?o }", "--rows", "5")
    assert "only the first 5 rows" in result.stderr
    assert len(result.stdout.splitlines()) == 6


def test_explain_shows_what_is_sent(run, films):
    result = run("query", str(films), "SELECT ?s { ?s ?p ?o } # all", "--explain", "--rows", "5")
    assert "sent: SELECT ?s { ?s ?p ?o }   LIMIT 6" in result.stderr


def test_no_rows_is_exit_code_3(run, films):
    assert run("query", str(films), "SELECT ?s { ?s r:directed_by e:Memento }").exit_code == 3


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("INSERT DATA { <a> <b> <c> }", "INSERT"),
        ("PREFIX x: <http://x/> DELETE WHERE { ?s ?p ?o }", "DELETE writes"),
        ("SELECT * { SERVICE <http://x> { ?s ?p ?o } }", "SERVICE"),
        ("SELECT * { ?s x:p ?o }", "prefix x: is not declared"),
        ("SELECT * { ?s ?p", "cannot be read"),
    ],
)
def test_what_is_not_run_is_exit_code_2(run, films, query, message):
    result = run("query", str(films), query)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


@pytest.mark.parametrize(
    ("source", "query", "message"),
    [
        ("neo4j://localhost:9", "SELECT * { ?s ?p ?o }", "looks like SPARQL"),
        ("sparql+http://localhost:9/x", "MATCH (n) RETURN n", "looks like Cypher"),
        ("https://localhost/sparql", "ASK { }", "Write sparql+https://"),
        ("ftp://localhost/x", "ASK { }", "no known kind of address"),
    ],
)
def test_a_wrong_address_is_exit_code_2(run, source, query, message):
    result = run("query", source, query)
    assert (result.exit_code, message in result.stderr) == (2, True), result.output


def closed_port():
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return free.getsockname()[1]


def test_a_server_that_is_down_is_exit_code_1_and_leaves_nothing(run, tmp_path):
    address = f"sparql+http://ann:secret@localhost:{closed_port()}/x"
    result = run("query", address, "ASK { }")
    assert (result.exit_code, "nothing answers at that port" in result.stderr) == (1, True)
    result = run("index", address, "-o", str(tmp_path / "x.clew"))
    assert (result.exit_code, "nothing answers at that port" in result.stderr) == (1, True)
    assert "secret" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_import_has_left_is_removed_by_the_next(run, tmp_path, monkeypatch):
    killed = tmp_path / "x.import" / "writing" / "0"
    killed.mkdir(parents=True)
    (killed / "graph.nt").write_text("<a:a> <a:old> <a:b> .\n")

    def export(_, file, *_progress):
        assert [path.name for path in tmp_path.rglob("*.nt")] == [Path(file.name).name]
        file.write(b"<a:a> <a:new> <a:b> .\n")

    monkeypatch.setattr("clew.stores.export.export_sparql", export)
    result = run("index", "sparql+http://localhost:9/x", "-o", str(tmp_path / "x.clew"))
    assert result.exit_code == 0, result.output
    assert [path.name for path in tmp_path.iterdir()] == ["x.clew"]
    assert "a:new" in run("query", str(tmp_path / "x.clew"), "SELECT ?p { ?s ?p ?o }", "--as", "csv").stdout


def test_an_address_needs_a_name_for_its_index(run):
    result = run("index", "neo4j://localhost")
    assert (result.exit_code, "clew index neo4j://localhost -o NAME.clew" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    "address", ["sparql+http://ann:secret@localhost:9/x", "neo4j://ann:secret@localhost:9"]
)
@pytest.mark.parametrize("command", [("info", "{}"), ("update", "{}", "--add", "x.tsv")], ids=lambda c: c[0])
def test_what_needs_an_index_says_how_to_make_one(run, command, address):
    result = run(*(part.format(address) for part in command))
    shown = address.replace("ann:secret@", "")
    assert (result.exit_code, f"clew index {shown} -o NAME.clew" in result.stderr) == (2, True)
    assert "secret" not in result.output


def test_the_doctor_checks_an_endpoint(run):
    result = run("doctor", "--store", f"sparql+http://localhost:{closed_port()}/x")
    assert result.exit_code == 1
    assert "failed" in result.stdout
    assert "nothing answers at that port" in result.stdout


def test_rows_are_written_as_csv_or_json(run, index):
    query = "SELECT ?film ?label WHERE { ?film r:directed_by ?d . ?d rdfs:label ?label } ORDER BY ?film"
    result = run("query", index, query, "--as", "csv")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[:2] == ["film,label", "e:Heat,Michael Mann"]
    rows = json.loads(run("query", index, query, "--as", "json").stdout)["rows"]
    assert len(rows) == 3


@pytest.mark.parametrize(
    ("scheme", "sign", "command"),
    [
        ("neo4j", "/", ("query", "MATCH (n) RETURN n")),
        ("bolt+s", "?", ("index",)),
        ("sparql+http", "#", ("query", "ASK { }")),
        ("sparql+https", "/", ("ask", "Who?")),
        ("https", "?", ("verify", "A.")),
        ("neo4j", "#", ("doctor", "--store")),
    ],
)
def test_a_password_with_a_raw_sign_is_neither_shown_nor_looked_up(run, monkeypatch, scheme, sign, command):
    looked_up = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest, **more: looked_up.append(host) or [])
    address = f"{scheme}://ann:s3cr{sign}et7@db.example/x"
    words = (*command, address) if "--store" in command else (command[0], address, *command[1:])
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert not any(part in result.output for part in ("s3cr", "et7"))
    assert "%2F" in result.stderr
    assert not looked_up


@pytest.mark.parametrize(
    ("query", "said", "form"),
    [
        ("RETURN log(0) AS x", "no finite number", "json"),
        ("RETURN sqrt(-1) AS x", "no finite number", "csv"),
        ("RETURN 1.0 / 0 AS x", "no finite number", "table"),
        ("RETURN 1e400 AS x", "too large", "json"),
        ("RETURN 9223372036854775807 + 1 AS x", "INT64", "csv"),
    ],
)
def test_what_is_no_finite_number_is_an_error_of_the_query(run, films, query, said, form):
    pytest.importorskip("ladybug", reason="ladybug is not installed")
    result = run("query", str(films), query, "--as", form)
    assert (result.exit_code, said in result.stderr) == (2, True), result.output


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
def test_what_is_not_asked_of_a_database_says_how_to_make_an_index(run, command, address):
    result = run(command, address, "Who?")
    assert (result.exit_code, f"clew index {address} -o NAME.clew" in result.stderr) == (2, True)
