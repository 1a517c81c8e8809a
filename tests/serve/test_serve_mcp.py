"""MCP, with the SDK's own client over both transports."""

import asyncio
import os
import sys
from dataclasses import dataclass

import pytest

from clew import Clew
from servers.served import ROOT

pytest.importorskip("mcp", reason="mcp is not installed (pip install 'clew[mcp]')")
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from clew.serve.mcp import MOST_TOOL_RELATIONS

TOOLS = ["ask", "verify", "find_entities", "neighbours", "schema", "match", "query"]
OPEN = "who made it best in Memento or Heat"
"""A question that is not answered, but may be read in several ways."""


CALLS = {
    "ask": {"question": "Who directed Memento?"},
    "verify": {"claim": "Christopher Nolan directed Memento and Jaws."},
    "find_entities": {"text": "cristopher nolan"},
    "neighbours": {"entity": "Memento", "relation": "directed_by", "direction": "out"},
    "schema": {"graph": "films"},
    "match": {"triples": [["Memento", "directed_by", "UNKNOWN 1"]], "k": 1},
    "query": {"query": "SELECT ?s WHERE { ?s ?p ?o } LIMIT 2"},
}


@pytest.fixture(scope="module", params=["stdio", "http"])
def talked(request, films, films_index):
    """What one client is told: the tools, what each of them answers, and the resources with their texts."""
    if request.param == "http":
        place = f"{films.url}/mcp"
    else:
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        command = ["-m", "clew", "mcp", f"films={films_index}"]
        place = StdioServerParameters(command=sys.executable, args=command, env=environment)

    async def conversation(client):
        tools = (await client.list_tools()).tools
        replies = {name: await client.call_tool(name, given) for name, given in CALLS.items()}
        readings = {
            number: await client.call_tool("ask", {"question": OPEN, "reading": number})
            for number in (None, 1, 40)
        }
        uris = [str(resource.uri) for resource in (await client.list_resources()).resources]
        texts = {uri: (await client.read_resource(uri)).contents[0].text for uri in uris}
        return Talked(tools, replies, readings, texts)

    return talk(place, conversation)


@dataclass(frozen=True)
class Talked:
    tools: list
    replies: dict
    readings: dict
    texts: dict


def talk(place, conversation):
    async def main():
        async with Client(place) as client:
            return await conversation(client)

    return asyncio.run(main())


def test_tools_say_what_they_are_for(talked):
    assert [tool.name for tool in talked.tools] == TOOLS
    for tool in talked.tools:
        assert len(tool.description) > 40
        assert tool.annotations.read_only_hint
        assert tool.output_schema["type"] == "object"


def test_all_tools_answer(talked):
    told = {name: reply.structured_content for name, reply in talked.replies.items()}
    assert [name for name, reply in talked.replies.items() if reply.is_error] == []
    assert (told["ask"]["text"], told["ask"]["count"]) == ("Christopher Nolan", 1)
    assert told["ask"]["citations"][0]["triples"] == [["Memento", "directed_by", "Christopher Nolan"]]
    assert [part["verdict"] for part in told["verify"]["parts"]] == ["supported", "refuted"]
    assert told["find_entities"]["entities"][0]["label"] == "Christopher Nolan"
    nolan = {"entity": "Christopher Nolan", "label": "Christopher Nolan"}
    assert told["neighbours"]["groups"][0]["nodes"] == [nolan]
    assert "directed_by" in [relation["name"] for relation in told["schema"]["relations"]]
    assert set(told["schema"]["vocabulary"]) == {"relations", "types", "terms"}
    assert told["match"]["matches"][0]["nodes"] == ["Memento", "Christopher Nolan"]
    assert len(told["query"]["rows"]) == 2


def test_what_else_may_be_meant_is_asked_by_its_number(talked, films):
    first, chosen = (talked.readings[number].structured_content for number in (None, 1))
    asked = films.client.post("/v1/films/ask", json={"question": OPEN}).json()
    assert first["alternatives"] == asked["alternatives"] != []
    over_http = films.client.post("/v1/films/ask", json={"question": OPEN, "reading": 1}).json()
    assert (chosen["reading"], chosen["text"]) == (over_http["reading"], over_http["text"])
    assert chosen["reading"] == first["alternatives"][0]["reading"]
    assert talked.readings[40].is_error
    assert "no reading 40" in talked.readings[40].content[0].text


def test_a_schema_has_the_vocabulary_of_what_it_lists(running, tmp_path):
    names = [f"rel_{n}" for n in range(MOST_TOOL_RELATIONS + 20)]
    triples = [("a", name, f"b{n}") for n, name in enumerate(names)]
    (tmp_path / "wide.tsv").write_text("".join("\t".join(triple) + "\n" for triple in triples), "utf-8")
    words = [f'[relations."{name}"]\nwords = ["word {name}"]\n' for name in names]
    terms = ["[terms]\n", *(f'"term {n}" = ".{name}"\n' for n, name in enumerate(names))]
    with Clew.index(tmp_path / "wide.tsv", tmp_path / "wide.clew") as clew:
        clew.set_vocabulary("".join([*words, *terms]))
    server = running({"wide": tmp_path / "wide.clew"}, mcp=True)
    told = talk(f"{server.url}/mcp", lambda client: client.call_tool("schema", {})).structured_content
    listed = {relation["name"] for relation in told["relations"]}
    assert len(listed) == len(told["vocabulary"]["terms"]) == MOST_TOOL_RELATIONS
    assert set(told["vocabulary"]["relations"]) == listed
    assert told["term_count"] == len(names)


def test_resources_are_read(talked):
    assert list(talked.texts) == ["clew://films/schema", "clew://films/info"]
    schema, info = talked.texts.values()
    assert "directed_by" in schema
    assert '"triples": 3382' in info
    assert "/tmp" not in schema + info  # noqa: S108 (that no path is told)


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("ask", {"question": ""}, "The question is empty"),
        ("ask", {"question": "?", "graph": "other"}, "There are: films"),
        ("ask", {"question": "?", "method": "os:system"}, "There is no method"),
        ("neighbours", {"entity": "Mementoo"}, "Near it are: Memento"),
        ("query", {"statement": "INSERT DATA { <a:b> <c:d> 1 }"}, "query"),
        ("query", {"text": "MATCH (f) DELETE f"}, "Only reading queries are run"),
        ("match", {"triples": []}, "match: triples: List should have at least 1 item"),
        ("ask", {"question": 7}, "ask: question: Input should be a valid string"),
        ("ask", {}, "ask: question: Field required"),
        (
            "find_entities",
            {"text": "Nolan", "most": 3},
            "find_entities: most: Extra inputs are not permitted",
        ),
    ],
)
def test_errors_are_told_to_the_agent(films, tool, arguments, told):
    result = talk(f"{films.url}/mcp", lambda client: client.call_tool(tool, arguments))
    assert result.is_error
    assert told in result.content[0].text
    assert "pydantic" not in result.content[0].text


def test_answers_are_bounded(films):
    question = {"question": "Which films did Christopher Nolan direct?", "limit": 3}
    told = talk(f"{films.url}/mcp", lambda client: client.call_tool("ask", question)).structured_content
    assert (len(told["answers"]), len(told["citations"]), told["count"]) == (3, 3, 11)
