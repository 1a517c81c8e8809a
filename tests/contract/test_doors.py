"""The same question has the same answer at every door: by names, with properties of edges, proved."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from doors import DOORS, Refused, run_clew

CASES = tomllib.loads(Path(__file__).with_name("asked.toml").read_text("utf-8"))
ASKED = "question answers text abstained citations reading grounded complete method notes".split()
CHECKED = "claim verdict abstained parts".split()
IDS = re.compile(r"[ED]\d+|http://example\.org/.*")
"""What entities and relations are to machines, in the graphs that have names for them."""


def cases(kind: str, words: str) -> list[Any]:
    """Each case in Python and at another door in turn; `slow` asks it at all doors."""
    found: list[Any] = []
    others = [door for door in DOORS if door != "python"]
    for at, case in enumerate(CASES[kind]):
        failing = case.get("xfail")
        marks = [pytest.mark.xfail(strict=True, reason=failing)] if failing else []
        for door in DOORS:
            often = door in ("python", others[at % len(others)])
            told = [*marks, *([] if often else [pytest.mark.slow])]
            found.append(pytest.param(door, case, id=f"{door}: {case['graph']}: {case[words]}", marks=told))
    return found


def shared(reply: dict[str, Any], keys: list[str]) -> dict[str, Any]:
    return {key: reply[key] for key in keys}


def plain(cell: Any) -> Any:
    """The value of a cell: a term of SPARQL says its kind beside it."""
    return cell["value"] if isinstance(cell, dict) else getattr(cell, "value", cell)


def texts(value: Any) -> Iterator[str]:
    """All texts that stand in triples, answers' labels, candidates and the words of a reply."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        if key not in ("ids", "entity", "answer", "pattern", "steps", "id", "nodes"):
            yield from texts(inner)
    for inner in value if isinstance(value, list) else ():
        yield from texts(inner)
    if isinstance(value, str):
        yield value


@cache
def in_python(python: Any, verb: str, graph: str, text: str) -> dict[str, Any]:
    """What Python says, which is asked once for all doors."""
    return getattr(python, verb)(graph, text)


def assert_no_id_stands_where_a_name_is_meant(case: dict[str, Any], reply: dict[str, Any]) -> None:
    if case["graph"] not in ("films", "movies"):
        assert [text for text in texts(reply) if IDS.fullmatch(text)] == []


@pytest.mark.parametrize(("door", "case"), cases("ask", "question"))
def test_a_question(doors, door, case):
    reply = doors[door].ask(case["graph"], case["question"])
    assert (reply["abstained"] or {}).get("reason") == case.get("abstained")
    assert sorted(re.sub(r" \(\w+\)$", "", a["label"]) for a in reply["answers"]) == case.get("answers", [])
    told = in_python(doors["python"], "ask", case["graph"], case["question"])
    assert shared(reply, ASKED) == shared(told, ASKED)
    assert_no_id_stands_where_a_name_is_meant(case, reply)
    if reply["answers"]:
        proved = {citation["answer"] for citation in reply["citations"] if citation["triples"]}
        assert proved == {a["entity"] for a in reply["answers"]}


@pytest.mark.parametrize(("door", "case"), cases("claim", "claim"))
def test_a_claim(doors, door, case):
    reply = doors[door].verify(case["graph"], case["claim"])
    assert reply["verdict"] == case["verdict"]
    told = in_python(doors["python"], "verify", case["graph"], case["claim"])
    assert shared(reply, CHECKED) == shared(told, CHECKED)
    assert_no_id_stands_where_a_name_is_meant(case, reply)
    if reply["verdict"] != "not_enough_info":
        assert any(part["triples"] for part in reply["parts"])


@pytest.mark.parametrize(("door", "case"), cases("query", "query"))
def test_a_query(doors, door, case):
    pytest.importorskip("ladybug", reason="ladybug is not installed (pip install 'clew[ladybug]')")
    rows = doors[door].query(case["graph"], case["query"])
    assert sorted([plain(cell) for cell in row] for row in rows) == sorted(case["rows"])


@pytest.mark.parametrize("door", DOORS)
def test_a_citation_has_names_ids_and_properties(doors, door):
    (citation,) = doors[door].ask("depots", "Who manages North Depot?")["citations"]
    assert citation["triples"] == [["Eva Brandt", "manages", "North Depot"]]
    assert citation["ids"] == [["E05", "manages", "D1"]]
    assert citation["properties"] == [[{"since": ["2010-02-01"], "status": ["active"]}]]
    assert citation["label"] == "Eva Brandt"


@pytest.mark.parametrize("door", DOORS)
def test_a_part_of_a_claim_has_names_ids_and_properties(doors, door):
    (part,) = doors[door].verify("depots", "David Lang works at River Depot.")["parts"]
    assert part["triples"] == [["David Lang", "works at", "River Depot"]]
    assert part["ids"] == [["E04", "works at", "D2"]]
    assert part["properties"] == [[{"since": ["2020-01-07"], "hours": ["20"], "status": ["leave"]}]]


@pytest.mark.parametrize("door", DOORS)
def test_two_of_one_name_are_told_apart_by_their_ids(doors, door):
    reply = doors[door].ask("depots", "What is the salary of Anna Keller?")
    assert reply["abstained"]["candidates"] == ["Anna Keller (E01)", "Anna Keller (E08)"]
    for given, salary in (("Anna Keller (E08)", "40100"), ("E08", "40100"), ("Anna Keller (E01)", "61000")):
        told = doors[door].ask("depots", "What is the salary of Anna Keller?", entities=(given,))
        assert told["text"] == salary
        assert told["citations"][0]["triples"][0][0] in ("Anna Keller (E01)", "Anna Keller (E08)")


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "wrong", [{"question": ""}, {"question": "Who directed Metropolis?", "method": "guess"}]
)
def test_a_wrong_question_is_an_error_that_says_what_to_do(doors, door, wrong):
    if door == "cli" and "method" in wrong:
        pytest.skip("the method is an option there, which has its own test")
    from clew import UsageError

    if door in ("http", "page", "mcp") and "method" in wrong:
        call = {"http": doors["http"].post, "page": doors["page"].post}.get(door)
        with pytest.raises(Refused, match="Methods are: auto"):
            call("films", "ask", **wrong) if call else doors["mcp"].call("ask", graph="films", **wrong)
    else:
        with pytest.raises((Refused, UsageError), match=r"empty|Methods are|question"):
            doors[door].ask("films", **wrong)


def test_what_is_around_an_entity_has_names_and_properties(doors):
    http = doors["http"].client.get("/v1/depots/entities/North Depot").json()
    assert doors["mcp"].call("neighbours", graph="depots", entity="North Depot") == http
    assert (http["entity"], http["label"]) == ("D1", "North Depot")
    managed = next(group for group in http["groups"] if group["relation"] == "manages")
    (node,) = managed["nodes"]
    assert node == {
        "entity": "E05",
        "label": "Eva Brandt",
        "properties": [{"since": ["2010-02-01"], "status": ["active"]}],
    }
    shared_name = doors["http"].client.get("/v1/depots/entities/Hill Depot").json()
    labels = {node["label"] for group in shared_name["groups"] for node in group["nodes"]}
    assert "Anna Keller (E08)" in labels


def test_what_a_graph_holds_says_properties_of_edges(doors):
    described = doors["mcp"].call("schema", graph="depots")
    works_at = next(relation for relation in described["relations"] if relation["name"] == "works at")
    assert works_at["example"] == ["Anna Keller (E01)", "works at", "North Depot"]
    assert set(works_at["properties"]) == {"since", "hours", "status"}
    assert works_at["properties"]["status"][0] in ("active", "leave")
    http = doors["http"].client.get("/v1/depots/relations").json()["relations"]
    python = doors["python"].opened["depots"].info().as_json()["relations"]
    assert http == python
    assert next(r for r in http if r["name"] == "works at")["properties"] == works_at["properties"]


def test_a_path_between_two_is_by_names(doors):
    query = {"from": "Eva Brandt", "to": "Bruno Weiss"}
    told = doors["http"].client.get("/v1/depots/paths", params=query).json()
    path = told["paths"][0]
    assert path["triples"] == [
        ["Eva Brandt", "manages", "North Depot"],
        ["Bruno Weiss", "works at", "North Depot"],
    ]
    assert path["ids"] == [["E05", "manages", "D1"], ["E02", "works at", "D1"]]


@pytest.mark.parametrize("graph", ["depots", "rulers", "updated"])
def test_a_frame_and_a_notebook_show_names(doors, graph):
    pytest.importorskip("pandas", reason="pandas is not installed (pip install 'clew[frames]')")
    questions = {"rulers": "Which rulers were born in Rome?"}
    clew = doors["python"].opened[graph]
    answer = clew.ask(questions.get(graph, "Who works at River Depot?"))
    frame = answer.to_frame()
    shown = [cell for triples in frame["triples"] for triple in triples for cell in triple]
    assert shown
    assert not [cell for cell in [*shown, *frame["label"]] if IDS.fullmatch(cell)]
    html = re.sub(r"<[^>]+>", "\n", answer._repr_html_() + clew.info()._repr_html_())
    assert not [text for text in re.split(r"\n| ─|→ ", html) if IDS.fullmatch(text)]


def test_patterns_match_by_names(doors):
    pattern = {"triples": [["UNKNOWN 1", "manages", "River Depot"]]}
    http = doors["http"].post("depots", "match", k=1, **pattern)["matches"]
    (match,) = doors["python"].opened["depots"].match(pattern, k=1).matches
    assert http[0]["triples"] == [["Greta Winter", "manages", "River Depot"]]
    assert doors["mcp"].call("match", graph="depots", k=1, **pattern)["matches"] == http
    assert doors["cli"].match("depots", pattern) == http
    assert list(match.labels) == ["Greta Winter", "River Depot"]


@pytest.mark.parametrize("door", ["http", "page", "mcp"])
def test_the_thread_of_an_answer_is_all_that_is_sent(doors: dict[str, Any], door: str) -> None:
    def ask(question: str, **given: Any) -> dict[str, Any]:
        if door == "mcp":
            return doors[door].call("ask", graph="films", question=question, **given)
        return doors[door].post("films", "ask", question=question, **given)

    first = ask("Who directed Fury?")
    second = ask("And Key Largo?", previous=first["thread"])
    assert (second["text"], second["reading"]) == ("John Huston", "the director of Key Largo")
    third = ask("Which films did he direct?", previous=second["thread"])
    assert "Key Largo" in [answer["label"] for answer in third["answers"]]
    assert ask("How many are they?", previous=third["thread"])["text"] == str(third["thread"]["total"])


def test_the_shell_keeps_the_thread(indexes: dict[str, Any], tmp_path: Any) -> None:
    from typer.testing import CliRunner

    from clew.cli.app import app

    lines = "Who directed Fury?\nAnd Key Largo?\n"
    done = CliRunner().invoke(app, ["shell", str(indexes["films"])], input=lines, prog_name="clew")
    assert done.exit_code == 0, done.stderr
    assert "John Huston" in done.stdout
    assert "the director of Key Largo" in done.stdout
    assert run_clew("ask", indexes["films"], "And Key Largo?").exit_code == 3
