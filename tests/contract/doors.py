"""Five small graphs, and the doors at which each is asked: Python, command line, HTTP, the page, MCP.

Only public faces are used: what stands behind them may be rewritten, and these tests stay as they are.
"""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

from mcp import Client
from typer.testing import CliRunner

from clew import Clew
from clew.cli.app import app
from servers.served import Running

GRAPHS = Path(__file__).with_name("graphs")
SOURCES = {
    "films": ["films.tsv", "--types", "films.types.tsv"],
    "movies": ["movies.txt"],
    "rulers": ["rulers.ttl"],
    "depots": ["depots"],
    "updated": ["depots"],
}
UPDATE = {
    "--add": ["employees.csv", "works_at.csv"],
    "--remove": ["gone.csv"],
    "--remove-entities": ["gone.txt"],
}
DOORS = ("python", "cli", "http", "page", "mcp")


def run_clew(*args: object) -> Any:
    return CliRunner().invoke(app, [str(arg) for arg in args], prog_name="clew")


def build(name: str, out: Path) -> Path:
    """Index a graph by the command line; the updated one is then changed by it."""
    index = out / f"{name}.clew"
    sources = [source if source.startswith("--") else GRAPHS / source for source in SOURCES[name]]
    made = run_clew("index", *sources, "--output", index, "--quiet")
    assert made.exit_code == 0, made.stderr
    if name == "updated":
        changes = [
            arg for key, files in UPDATE.items() for f in files for arg in (key, GRAPHS / "update" / f)
        ]
        done = run_clew("update", index, *changes)
        assert done.exit_code == 0, done.stderr
    return index


class Refused(Exception):
    """An error that a door shows, in its words."""


class Python:
    """`Clew` in this process."""

    def __init__(self, indexes: dict[str, Path]) -> None:
        self.opened = {name: Clew.open(path) for name, path in indexes.items()}

    def ask(self, graph: str, question: str, **options: Any) -> dict[str, Any]:
        return self.opened[graph].ask(question, **options).as_json()

    def verify(self, graph: str, claim: str) -> dict[str, Any]:
        return self.opened[graph].verify(claim).as_json()

    def query(self, graph: str, text: str) -> list[list[Any]]:
        return [list(row) for row in self.opened[graph].query(text).rows]


class CommandLine:
    """`clew … --json`."""

    def __init__(self, indexes: dict[str, Path]) -> None:
        self.indexes = indexes

    def _json(self, *args: object) -> dict[str, Any]:
        done = run_clew(*args, "--json")
        if done.exit_code not in (0, 3):
            raise Refused(done.stderr or repr(done.exception))
        return json.loads(done.stdout)

    def ask(self, graph: str, question: str, *, entities: tuple[str, ...] = (), **_: Any) -> dict[str, Any]:
        given = [arg for entity in entities for arg in ("--entities", entity)]
        return self._json("ask", self.indexes[graph], question, *given)

    def verify(self, graph: str, claim: str) -> dict[str, Any]:
        return self._json("verify", self.indexes[graph], claim)

    def query(self, graph: str, text: str) -> list[list[Any]]:
        return self._json("query", self.indexes[graph], text)["rows"]

    def match(self, graph: str, pattern: dict[str, Any]) -> list[dict[str, Any]]:
        return self._json("match", self.indexes[graph], json.dumps(pattern), "--k", "1")["matches"]


class Http:
    """The HTTP API."""

    def __init__(self, server: Running) -> None:
        self.client = server.client

    def post(self, graph: str, what: str, **body: Any) -> dict[str, Any]:
        reply = self.client.post(f"/v1/{graph}/{what}", json=body)
        if reply.status_code != 200:
            raise Refused(reply.text)
        return reply.json()

    def ask(self, graph: str, question: str, *, entities: tuple[str, ...] = (), **_: Any) -> dict[str, Any]:
        return self.post(graph, "ask", question=question, entities=list(entities))

    def verify(self, graph: str, claim: str) -> dict[str, Any]:
        return self.post(graph, "verify", claim=claim)

    def query(self, graph: str, text: str) -> list[list[Any]]:
        return self.post(graph, "query", query=text)["rows"]


class Page(Http):
    """What the page gets: the last of the events that it asks for."""

    def post(self, graph: str, what: str, **body: Any) -> dict[str, Any]:
        if what == "query":
            return super().post(graph, what, **body)
        accept = {"accept": "text/event-stream"}
        reply = self.client.post(f"/v1/{graph}/{what}", json=body | {"explain": True}, headers=accept)
        name, data = reply.text.strip().rsplit("\n\n", 1)[-1].split("\n", 1)
        if name != "event: answer":
            raise Refused(data)
        return json.loads(data.removeprefix("data: "))


class Mcp:
    """The tools of `/mcp`, by the SDK's own client."""

    def __init__(self, server: Running) -> None:
        self.url, self._ready = f"{server.url}/mcp", threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._connected()), daemon=True)
        self._thread.start()
        assert self._ready.wait(60)

    async def _connected(self) -> None:
        self.loop, self._done = asyncio.get_running_loop(), asyncio.Event()
        async with Client(self.url) as self.client:
            self._ready.set()
            await self._done.wait()

    def call(self, tool: str, **given: Any) -> dict[str, Any]:
        reply = asyncio.run_coroutine_threadsafe(self.client.call_tool(tool, given), self.loop).result(60)
        if reply.is_error:
            raise Refused(reply.content[0].text)
        return reply.structured_content

    def ask(self, graph: str, question: str, *, entities: tuple[str, ...] = (), **_: Any) -> dict[str, Any]:
        return self.call("ask", graph=graph, question=question, entities=list(entities))

    def verify(self, graph: str, claim: str) -> dict[str, Any]:
        return self.call("verify", graph=graph, claim=claim)

    def query(self, graph: str, text: str) -> list[list[Any]]:
        return self.call("query", graph=graph, query=text)["rows"]

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self._done.set)
        self._thread.join(30)
