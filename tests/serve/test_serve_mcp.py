"""MCP, with the SDK's own client over both transports."""

import asyncio
import os
import sys

import pytest

from servers.served import ROOT

pytest.importorskip("mcp", reason="mcp is not installed (pip install 'clew[mcp]')")
from mcp import Client
from mcp.client.stdio import StdioServerParameters

TOOLS = ["ask", "verify", "find_entities", "neighbours", "schema", "match", "query"]


@pytest.fixture(params=["stdio", "http"])
def place(request, films, films_index):
    if request.param == "http":
        return f"{films.url}/mcp"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = ["-m", "clew", "mcp", f"films={films_index}"]
    return StdioServerParameters(command=sys.executable, args=command, env=environment)


def talk(place, conversation):
    async def main():
        async with Client(place) as client:
            return await conversation(client)

    return asyncio.run(main())


def test_tools_say_what_they_are_for(place):
    tools = talk(place, lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS
    for tool in tools:
        assert len(tool.description) > 40
        assert tool.annotations.read_only_hint
        assert tool.output_schema["type"] == "object"


def test_all_tools_answer(place):
    async def conversation(client):
        async def call(name, **arguments):
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result.content
            return result.structured_content

        asked = await call("ask", question="Who directed Memento?")
        assert (asked["text"], asked["count"]) == ("Christopher Nolan", 1)
        assert asked["citations"][0]["triples"] == [["Memento", "directed_by", "Christopher Nolan"]]
        none = await call("ask", question="Who directed Xyzzy?")
        assert none["abstained"]["reason"] == "no_entity"
        checked = await call("verify", claim="Christopher Nolan directed Memento and Jaws.")
        assert [part["verdict"] for part in checked["parts"]] == ["supported", "refuted"]
        hits = await call("find_entities", text="cristopher nolan")
        assert hits["entities"][0]["label"] == "Christopher Nolan"
        around = await call("neighbours", entity="Memento", relation="directed_by", direction="out")
        assert around["groups"][0]["nodes"] == [{"entity": "Christopher Nolan", "label": "Christopher Nolan"}]
        schema = await call("schema", graph="films")
        assert "directed_by" in [relation["name"] for relation in schema["relations"]]
        found = await call("match", triples=[["Memento", "directed_by", "UNKNOWN 1"]], k=1)
        assert found["matches"][0]["nodes"] == ["Memento", "Christopher Nolan"]
        rows = await call("query", statement="SELECT ?s WHERE { ?s ?p ?o } LIMIT 2")
        assert len(rows["rows"]) == 2

    talk(place, conversation)


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("ask", {"question": ""}, "The question is empty"),
        ("ask", {"question": "?", "graph": "other"}, "There are: films"),
        ("ask", {"question": "?", "method": "os:system"}, "There is no method"),
        ("neighbours", {"entity": "Mementoo"}, "Near it are: Memento"),
        ("query", {"statement": "INSERT DATA { <a:b> <c:d> 1 }"}, "query"),
        ("query", {"statement": "MATCH (f) DELETE f"}, "Only reading queries are run"),
        ("match", {"triples": []}, "triples"),
    ],
)
def test_errors_are_told_to_the_agent(films, tool, arguments, told):
    result = talk(f"{films.url}/mcp", lambda client: client.call_tool(tool, arguments))
    assert result.is_error
    assert told in result.content[0].text


def test_answers_are_bounded(films):
    question = {"question": "Which films did Christopher Nolan direct?", "limit": 3}
    told = talk(f"{films.url}/mcp", lambda client: client.call_tool("ask", question)).structured_content
    assert (len(told["answers"]), len(told["citations"]), told["count"]) == (3, 3, 11)


def test_resources_are_read(place):
    async def conversation(client):
        listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
        texts = [(await client.read_resource(uri)).contents[0].text for uri in listed]
        return listed, texts

    listed, texts = talk(place, conversation)
    assert listed == ["clew://films/schema", "clew://films/info"]
    assert "directed_by" in texts[0]
    assert '"triples": 3382' in texts[1]
    assert "/tmp" not in "".join(texts)  # noqa: S108 (that no path is told)
