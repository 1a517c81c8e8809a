"""The OpenAPI description: each response of each route is typed, and what is sent fits its type."""

import json
import shutil
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from clew import Clew
from clew.llm.testing import ScriptedModel
from servers.served import small

ASK, VERIFY = "/v1/{graph}/ask", "/v1/{graph}/verify"


def closed(schema: Any) -> Any:
    """A schema of which an object may have no key that it does not name."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    form = {key: closed(value) for key, value in schema.items()}
    return form | {"additionalProperties": False} if isinstance(form.get("properties"), dict) else form


class Described:
    """A server, with what its description says of the responses."""

    def __init__(self, server) -> None:
        self.client = server.client
        self.api = server.client.get("/v1/openapi.json").json()
        self.asked: set[tuple[str, str]] = set()

    def check(self, method: str, path: str, *, status: int = 200, body: Any = None, **values: str) -> Any:
        """Ask, and compare the reply with what is described for its status; the reply."""
        parts = {"graph": next(iter(self.client.get("/v1/graphs").json()["graphs"]))["name"]} | values
        query = {key: value for key, value in values.items() if f"{{{key}}}" not in path}
        reply = self.client.request(method, path.format(**parts), params=query, json=body)
        assert reply.status_code == status, reply.text
        responses = self.api["paths"][path][method.lower()]["responses"]
        media = responses.get(str(status), responses.get("default"))["content"]
        schema = closed(media[reply.headers["content-type"].partition(";")[0]]["schema"])
        components = {"components": closed(self.api["components"])}
        told = reply.json() if "json" in reply.headers["content-type"] else reply.text
        faults = [
            f"{list(fault.absolute_path)}: {fault.message:.300}"
            for fault in Draft202012Validator(schema | components).iter_errors(told)
        ]
        assert not faults, (path, faults)
        self.asked.add((method.lower(), path))
        return told


@pytest.fixture(scope="module")
def described(films):
    return Described(films)


@pytest.fixture(scope="module")
def with_ids(depots):
    return Described(depots)


REPLIES = (
    ("GET", "/v1/graphs", {}, None),
    ("GET", "/v1/methods", {}, None),
    ("GET", ASK, {"q": "Who directed Memento?"}, None),
    ("POST", ASK, {}, {"question": "Who directed Memento?", "explain": True}),
    ("POST", ASK, {}, {"question": "How many films did each director direct?"}),
    ("POST", ASK, {}, {"question": "Did Christopher Nolan direct Memento?"}),
    ("POST", ASK, {}, {"question": "How many films did Christopher Nolan direct?"}),
    ("POST", ASK, {}, {"question": "Who wrote the soundtrack of Memento?"}),
    ("POST", ASK, {}, {"question": "Who directed Xyzzy?"}),
    ("POST", "/v1/{graph}/batch", {}, {"questions": ["Who directed Memento?", "Who directed Heat?"]}),
    ("POST", "/v1/{graph}/batch", {}, {"questions": ["Who directed Memento?"], "method": "kaping"}),
    ("POST", VERIFY, {}, {"claim": "Christopher Nolan directed Memento and Jaws.", "explain": True}),
    ("POST", VERIFY, {}, {"claim": "Memento is better than Jaws."}),
    ("POST", "/v1/{graph}/compare", {},
     {"question": "Who directed Memento?", "methods": ["auto", "kaping"]}),
    ("POST", "/v1/{graph}/match", {}, {"triples": [["Memento", "directed_by", "UNKNOWN 1"]]}),
    ("POST", "/v1/{graph}/query", {},
     {"query": "SELECT ?s (1.5 AS ?n) ?none WHERE { ?s ?p ?o }", "rows": 2}),
    ("GET", "/v1/{graph}/info", {}, None),
    ("GET", "/v1/{graph}/examples", {}, None),
    ("GET", "/v1/{graph}/relations", {"limit": "3"}, None),
    ("GET", "/v1/{graph}/entities", {"prefix": "chris"}, None),
    ("GET", "/v1/{graph}/entities/{id}", {"id": "Christopher Nolan"}, None),
    ("GET", "/v1/{graph}/vocabulary", {}, None),
    ("GET", "/v1/{graph}/types", {}, None),
    ("POST", "/v1/{graph}/table", {}, {"type": "head of directed_by", "limit": 3}),
    ("POST", "/v1/{graph}/facets", {}, {"type": "head of directed_by", "column": "release_year"}),
    ("GET", "/v1/{graph}/paths", {"from": "Memento", "to": "Inception"}, None),
    ("GET", "/healthz", {}, None),
    ("GET", "/readyz", {}, None),
    ("GET", "/metrics", {}, None),
)  # fmt: skip


@pytest.mark.parametrize(("method", "path", "values", "body"), REPLIES)
def test_a_reply_has_the_form_that_is_described(described, method, path, values, body):
    described.check(method, path, body=body, **values)


def test_no_route_is_left_out(described):
    operations = {(method, path) for path, methods in described.api["paths"].items() for method in methods}
    assert operations == {(method.lower(), path) for method, path, _, _ in REPLIES}


@pytest.mark.parametrize(
    ("method", "path", "values", "body"),
    [
        ("POST", ASK, {}, {"question": "Who works at the Hamburg Depot?", "explain": True}),
        ("POST", ASK, {}, {"question": "How many employees are there per depot?"}),
        ("POST", VERIFY, {}, {"claim": "Anna Keller works at the Hamburg Depot."}),
        ("GET", "/v1/{graph}/info", {}, None),
        ("GET", "/v1/{graph}/types", {}, None),
        ("GET", "/v1/{graph}/relations", {}, None),
    ],
)
def test_ids_dates_and_properties_of_edges_are_described_too(with_ids, method, path, values, body):
    with_ids.check(method, path, body=body, **values)


def test_what_a_table_of_dates_and_properties_holds_is_described(with_ids):
    types = with_ids.check("GET", "/v1/{graph}/types")["types"]
    for each in types:
        rows = {"type": each["type"]}
        table = with_ids.check("POST", "/v1/{graph}/table", body=rows)
        for column in table["available"]:
            with_ids.check("POST", "/v1/{graph}/facets", body=rows | {"column": column["name"]})
        with_ids.check("GET", "/v1/{graph}/entities/{id}", id=table["rows"][0]["entity"])


@pytest.mark.parametrize(
    ("status", "method", "path", "values", "body"),
    [
        (400, "POST", ASK, {}, {"question": 5}),
        (400, "POST", "/v1/{graph}/table", {}, {"type": "no such type"}),
        (404, "POST", ASK, {"graph": "none"}, {"question": "Who?"}),
        (413, "POST", ASK, {}, {"question": "a" * 2_000_000}),
    ],
)
def test_problems_are_described(described, status, method, path, values, body):
    described.check(method, path, status=status, body=body, **values)


def test_a_vocabulary_is_described(running, films_index, tmp_path):
    shutil.copytree(films_index, tmp_path / "films.clew")
    with Clew.open(tmp_path / "films.clew") as clew:
        clew.set_vocabulary(
            '[relations.directed_by]\nlabel = "made by"\nwords = ["by"]\n'
            '[types.film]\nlabel = "movie"\n[terms]\nboss = ".directed_by"\n'
        )
    told = Described(running({"films": tmp_path / "films.clew"})).check("GET", "/v1/{graph}/vocabulary")
    assert told["relations"]["directed_by"] == {"label": "made by", "words": ["by"]}


def test_a_chain_is_described(running, films_index):
    replies = iter(
        [
            json.dumps({"reasoning": "first", "sub_questions": ["Who directed Memento?"]}),
            "Christopher Nolan",
        ]
    )
    model = ScriptedModel(lambda _: next(replies, "Christopher Nolan"))
    server = running({"films": films_index}, models={"m": model}, limits=small(seconds=30))
    told = Described(server).check(
        "POST", ASK, body={"question": "Who directed Memento?", "method": "kg-rag", "explain": True}
    )
    assert told["chain"]["links"][0]["evidence"]


def test_every_response_is_typed(described):
    """No schema of a response is empty, and a client that is generated has names for them."""
    for path, methods in described.api["paths"].items():
        for method, about in methods.items():
            for status, response in about["responses"].items():
                for media, content in response["content"].items():
                    assert content["schema"], (path, method, status, media)
    answer = described.api["components"]["schemas"]["Answer"]
    assert answer["properties"]["citations"]["items"]["$ref"].endswith("/Citation")
    assert "steps" not in answer["required"]
