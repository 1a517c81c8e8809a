"""The HTTP API: each route is one call of the engine in its JSON form; errors are problem documents."""

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import httpx
import pytest

from clew import Clew
from clew.llm.managed import ManagedModel
from clew.llm.testing import ScriptedModel
from clew.llm.types import ModelFailed, Reply
from clew.serve.work import hear_reply
from clew.types import Usage
from servers.served import FILMS, small

QUESTIONS = (
    "Who directed Memento?",
    "Which films share a director with Memento?",
    "How many films did Christopher Nolan direct?",
    "Who painted Memento?",
    "Who directed Xyzzy?",
)


@pytest.fixture(scope="module")
def engine(films_index):
    with Clew.open(films_index) as clew:
        yield clew


@pytest.fixture
def scripted(running, films_index):
    """A server whose chat model says one name."""
    return running({"films": films_index}, models={"m": ScriptedModel(lambda _: "Christopher Nolan")})


def test_methods_are_compared(films, scripted):
    body = {"question": "Who directed Memento?", "methods": ["auto", "kaping"]}
    rows = scripted.client.post("/v1/films/compare", json=body).json()["rows"]
    assert [row["method"] for row in rows] == body["methods"]
    assert [row["answer"]["text"] for row in rows] == ["Christopher Nolan"] * 2
    rows = films.client.post("/v1/films/compare", json=body).json()["rows"]
    assert rows[0]["answer"]["text"] == "Christopher Nolan"
    assert "needs a chat model" in rows[1]["error"]


def test_the_id_of_a_request_is_that_of_its_answer(films):
    reply = films.client.post("/v1/films/ask", json={"question": "Who directed Memento?"})
    assert reply.json()["id"] == reply.headers["x-request-id"]
    reply = films.client.post("/v1/films/ask", json={"question": "Who directed Memento?", "id": "mine"})
    assert reply.json()["id"] == "mine"


def test_several_questions_are_answered_in_turn(films, engine):
    questions = ["Who directed Memento?", " ", "Who directed Heat?"]
    rows = films.client.post("/v1/films/batch", json={"questions": questions}).json()["rows"]
    assert [row["answer"] and row["answer"]["text"] for row in rows] == [
        "Christopher Nolan",
        None,
        "Michael Mann",
    ]
    assert "empty" in rows[1]["error"]
    told = films.client.post("/v1/films/batch", json={"questions": ["?"] * 101})
    assert (told.status_code, "questions" in told.json()["detail"]) == (400, True)


def test_a_method_is_told_what_it_takes(scripted):
    listed = {m["name"]: m["settings"] for m in scripted.client.get("/v1/methods").json()["methods"]}
    [top] = [one for one in listed["kaping"] if one["default"] == 10]
    assert (top["type"], top["least"]) == ("integer", 1)
    body = {"question": "Who directed Memento?", "method": "kaping", "explain": True}
    read = []
    for count in (1, 3):
        told = scripted.client.post("/v1/films/ask", json=body | {"settings": {top["name"]: count}}).json()
        [evidence] = [step["detail"]["triples"] for step in told["steps"] if step["name"] == "evidence"]
        read.append(len(evidence))
    assert read == [1, 3]
    body = {"question": body["question"], "methods": ["kaping"], "settings": {"kaping": {top["name"]: 1}}}
    assert scripted.client.post("/v1/films/compare", json=body).json()["rows"][0]["error"] is None


@pytest.mark.parametrize(
    ("method", "settings", "detail"),
    [
        ("kaping", {"nonsense": 1}, 'no setting "nonsense"'),
        ("simgrag", {"examples": "/etc/passwd"}, 'no setting "examples"'),
        ("auto", {"confidence": "high"}, "is a number"),
        ("auto", {"confidence": True}, "is a number"),
        ("auto", {"confidence": 3}, "from 0 to 1"),
        ("synaptiqa", {"no": {"a": 1}}, "settings"),
    ],
)
def test_settings_that_are_none_are_refused(films, method, settings, detail):
    body = {"question": "Who directed Memento?", "method": method, "settings": settings}
    reply = films.client.post("/v1/films/ask", json=body)
    assert (reply.status_code, detail in reply.json()["detail"]) == (400, True)


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        ("films/ask", {"question": ""}, "The question is empty"),
        ("films/ask", {"question": "w " * 301}, "301 words"),
        ("films/ask", {}, "question: Field required"),
        ("films/ask", {"question": 3}, "question: Input should be a valid string"),
        ("films/ask", {"question": "?", "more": 1}, "more: Extra inputs"),
        ("films/ask", {"question": "?", "method": "os:system"}, 'There is no method "os:system"'),
        ("films/ask", {"question": "?", "model": "openai/x"}, 'There is no chat model "openai/x"'),
        ("films/ask", [], "valid dictionary"),
        ("films/match", {"triples": [["a", "b"]]}, "triples.0"),
        ("films/match", {"triples": [["UNKNOWN 1", "b", "UNKNOWN 2"]]}, "known"),
        ("films/match", {"triples": [["a", "b", "c"]], "k": 10_000}, "k is from 1 to 100"),
        ("films/compare", {"question": "?", "methods": []}, "methods"),
        ("films/compare", {"question": "?", "methods": ["nothing"]}, "There is no method"),
    ],
)
def test_what_is_wrong_is_said(films, path, body, detail):
    reply = films.client.post(f"/v1/{path}", json=body)
    told = reply.json()
    assert (reply.status_code, reply.headers["content-type"]) == (400, "application/problem+json")
    assert detail in told["detail"]
    assert told.keys() == {"type", "title", "status", "detail", "instance"}


@pytest.mark.parametrize(
    ("content", "statuses"),
    [
        (b'{"question": ', [400]),
        (b'{"question": "Who is \\ud800?"}', range(500)),
        (b"x" * 1_100_000, [413]),
        ((b"x" * 100_000 for _ in range(12)), [413]),
    ],
    ids=["broken", "surrogate", "long", "long in pieces"],
)
def test_a_body_that_is_no_question_has_its_status(films, content, statuses):
    headers = {"content-type": "application/json"}
    reply = films.client.post("/v1/films/ask", content=content, headers=headers)
    assert reply.status_code in statuses


def test_a_beginning_is_completed(films):
    hits = films.client.get("/v1/films/entities?prefix=christopher n").json()["entities"]
    assert hits[0]["label"] == "Christopher Nolan"


def test_what_is_around_an_entity_comes_in_pages(films):
    found = []
    offset = 0
    while offset is not None:
        query = {"relation": "directed_by", "direction": "in", "limit": 4, "offset": offset}
        (group,) = films.client.get("/v1/films/entities/Christopher Nolan", params=query).json()["groups"]
        found += [node["entity"] for node in group["nodes"]]
        offset = group["next"]
    lines = [line.split("\t") for line in FILMS.read_text().splitlines()]
    assert sorted(found) == sorted(h for h, r, t in lines if (r, t) == ("directed_by", "Christopher Nolan"))
    assert group["count"] == len(found)


def test_a_name_may_hold_anything(running, tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path))
    names = ["a/b?c#d", "100%", "é\u202e", "..", "x&y=z"]
    source = tmp_path / "odd.tsv"
    source.write_text("".join(f"{name}\tis\tthing\n" for name in names))
    client = running({"odd": source}).client
    for name in names:
        reply = client.get(f"/v1/odd/entities/{quote(name, safe='')}")
        if name != "..":  # which clients take for the folder above
            assert reply.json()["entity"] == name


def test_example_questions_are_answered(films):
    questions = films.client.get("/v1/films/examples").json()["questions"]
    assert len(questions) >= 3
    for question in questions:
        assert films.client.post("/v1/films/ask", json={"question": question}).json()["abstained"] is None


def test_all_examples_of_the_openapi_description_work(films):
    api = films.client.get("/v1/openapi.json").json()
    asked = 0
    for path, methods in api["paths"].items():
        for method, about in methods.items():
            values = {p["name"]: p for p in about.get("parameters", [])}
            query = {n: p["schema"]["examples"][0] for n, p in values.items() if "examples" in p["schema"]}
            filled = path.replace("{graph}", "films").replace("{id}", str(query.pop("id", "")))
            body = None
            if "requestBody" in about:
                schema = about["requestBody"]["content"]["application/json"]["schema"]
                fields = api["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["properties"]
                body = {name: field["examples"][0] for name, field in fields.items() if "examples" in field}
            reply = films.client.request(method, filled, params=query, json=body)
            assert reply.status_code == 200, (filled, reply.text)
            asked += 1
    assert asked >= 14


def test_no_path_of_the_server_is_told(films, films_index):
    folder = str(films_index.parent)
    for path in ("graphs", "films/info", "films/relations", "films/examples", "openapi.json"):
        assert folder not in films.client.get(f"/v1/{path}").text
    assert str(FILMS.parent) not in films.client.get("/v1/films/info").text


def test_a_bug_tells_nothing_of_itself(films, monkeypatch, caplog):
    def broken(*args, **options):
        raise TypeError("secret /etc/passwd")

    monkeypatch.setattr(type(films.graphs["films"].clew), "ask", broken)
    reply = films.client.post("/v1/films/ask", json={"question": "Who?"})
    assert (reply.status_code, reply.json()["type"]) == (500, "urn:clew:problem:internal")
    assert "secret" not in reply.text
    assert "Traceback" not in reply.text
    assert any(r.exc_info and r.request == reply.headers["x-request-id"] for r in caplog.records)


def test_many_answers_are_cut_and_counted(running, films_index):
    client = running({"films": films_index}, limits=small(answers=3)).client
    told = client.post("/v1/films/ask", json={"question": "Which films did Christopher Nolan direct?"}).json()
    assert len(told["answers"]) == 3
    assert len(told["citations"]) == 3
    assert "only the first 3 of 11 answers are sent" in told["notes"]
    assert told["total"] == 11


def events_of(response):
    name = None
    for line in response.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def test_events_come_while_an_answer_is_made(films):
    headers = {"accept": "text/event-stream"}
    body = {"question": "Who directed Memento?", "explain": True}
    with films.client.stream("POST", "/v1/films/ask", json=body, headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = list(events_of(response))
    assert [name for name, _ in events][-1] == "answer"
    assert [data["name"] for name, data in events if name == "step"][:2] == ["link", "ranked"]
    assert events[-1][1]["text"] == "Christopher Nolan"


def test_an_error_after_the_first_event_is_an_event(films):
    headers = {"accept": "text/event-stream"}
    body = {"question": "Who directed Memento?", "method": "simgrag"}
    with films.client.stream("POST", "/v1/films/ask", json=body, headers=headers) as response:
        events = list(events_of(response))
    assert events[-1][0] == "problem"
    assert "needs a chat model" in events[-1][1]["detail"]


class InPieces(ScriptedModel):
    """Says its reply in two pieces, the second when it is let."""

    def __init__(self):
        super().__init__([])
        self.let = threading.Event()

    async def complete(self, request, hear=None):
        self.requests.append(request)
        hear("Answer: Christopher")
        await asyncio.to_thread(self.let.wait, 10)
        hear(" Nolan")
        return Reply("Answer: Christopher Nolan", self.name, Usage(1, 5, 2))


def test_what_a_model_says_is_heard_while_it_says_it(running, films_index):
    model = InPieces()
    client = running({"films": films_index}, models={"m": ManagedModel(model, listener=hear_reply)}).client
    body, headers = {"question": "Who directed Memento?", "method": "llm"}, {"accept": "text/event-stream"}
    with client.stream("POST", "/v1/films/ask", json=body, headers=headers) as response:
        events = events_of(response)
        assert next(e for e in events if e[0] == "reply")[1]["text"] == "Answer: Christopher"
        model.let.set()
        rest = list(events)
    assert rest[0] == ("reply", {"call": 1, "text": " Nolan"})
    assert rest[-1][0] == "answer"
    assert rest[-1][1]["usage"]["calls"] == 1
    text = client.get("/metrics").text
    assert 'clew_model_calls_total{graph="films"' in text


def test_a_failing_model_is_502(running, films_index):
    client = running(
        {"films": films_index}, models={"m": ScriptedModel([ModelFailed("m: broke", status=500)])}
    ).client
    reply = client.post("/v1/films/ask", json={"question": "Who directed Memento?", "method": "llm"})
    assert (reply.status_code, reply.json()["type"]) == (502, "urn:clew:problem:model")


def test_questions_are_counted(films):
    films.client.post("/v1/films/ask", json={"question": "Who directed Memento?"})
    films.client.post("/v1/films/ask", json={"question": "Who directed Xyzzy?"})
    text = films.client.get("/metrics").text
    assert 'clew_questions_total{graph="films",method="auto",outcome="answered"}' in text
    assert 'clew_questions_total{graph="films",method="auto",outcome="no_entity"}' in text
    assert 'clew_http_request_seconds_bucket{le="0.1",route="/v1/{graph}/ask"}' in text


def test_a_request_is_one_line_of_the_log(films, caplog):
    caplog.set_level("INFO", "clew.serve")
    reply = films.client.post("/v1/films/ask", json={"question": "Who directed Memento?"})
    deadline = time.monotonic() + 60
    while not (
        lines := [r for r in caplog.records if getattr(r, "request", 0) == reply.headers["x-request-id"]]
    ):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert [(r.route, r.status, r.graph, r.outcome) for r in lines] == [
        ("/v1/{graph}/ask", 200, "films", "answered")
    ]
    assert "Memento" not in str(vars(lines[0]))


def test_questions_at_once_are_answered_as_one_by_one(films, engine):
    right = {q: engine.ask(q).text for q in QUESTIONS}

    def ask(_):
        with httpx.Client(base_url=films.url, timeout=30) as client:
            told = {q: client.post("/v1/films/ask", json={"question": q}).json() for q in QUESTIONS}
        return {question: answer["text"] for question, answer in told.items()}

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(ask, range(6))) == [right] * 6
