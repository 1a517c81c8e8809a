"""For all tests: real requests are off, small graphs are opened once, and llama.cpp is loaded first.

Loaded after ladybug has run a query, it ends the process.
"""

import compileall
import contextlib
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from clew.engine import Clew
from clew.foundation.system import COMPILING
from clew.index.cache import cached_index
from clew.methods.built_in import BuiltInReader
from clew.opening.environment import keep_machine_code
from clew.text.embedders import StaticEmbedder

with contextlib.suppress(ImportError):
    import xllamacpp  # noqa: F401

# The same examples each time, however busy the machine is.
settings.register_profile(
    "clew", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("clew")

SERVERS = {"neo4j_address", "milvus", "tiny_url", "locked_url", "mortal", "sleepy"}
"""Fixtures that start a server; their tests get the mark `server`."""
LOCAL = {"127.0.0.1", "::1", "localhost", "", None}


def own_address() -> str:
    """The address of this machine by which it reaches others; nothing is sent. Ray's nodes are there."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 1))
        return str(probe.getsockname()[0])
    return ""


LOCAL.add(own_address())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if SERVERS & set(getattr(item, "fixturenames", ())):
            item.add_marker("server")
    items.sort(key=lambda item: not item.nodeid.startswith(FIRST))


NEO4J = tuple(f"tests/stores/test_{name}.py" for name in (
    "differential", "attacks", "ask_neo4j", "neo4j_failures", "neo4j_import"))  # fmt: skip
FIRST = (
    *NEO4J, "tests/serve/test_page.py", "tests/index/test_in_milvus.py", "tests/test_examples.py",
    "tests/test_site.py",
)  # fmt: skip
"""Files that take long: they begin first, so that no core waits for one of them in the end."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    from xdist.scheduler import LoadFileScheduling

    class FilesOfAServer(LoadFileScheduling):
        """Files in their order; those that need one server go to one worker, which starts it once."""

        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return NEO4J[0] if file in NEO4J else file

    config.option.loadscopereorder = False
    return FilesOfAServer(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(autouse=True)
def only_localhost(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Real requests are off: connections to other hosts fail, whichever library asks; returns their names."""
    refused: list[str] = []
    connect, connect_ex, look_up = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def check(host: object) -> None:
        name = host.decode() if isinstance(host, bytes) else host
        if name not in LOCAL:
            refused.append(str(name))
            raise socket.gaierror(socket.EAI_NONAME, f"requests to {name} are off in tests")

    def guarded(real: Any) -> Any:
        def call(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6):
                check(address[0])
            return real(self, address)

        return call

    def guarded_look_up(host: Any, *args: Any, **kwargs: Any) -> Any:
        check(host)
        return look_up(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded(connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(connect_ex))
    monkeypatch.setattr(socket, "getaddrinfo", guarded_look_up)
    return refused


ROOT = Path(__file__).resolve().parents[1]
if "PYTEST_XDIST_WORKER" not in os.environ:
    compileall.compile_dir(ROOT / "src", quiet=2)
"""Byte code is made once: hundreds of programs that tests start, and that write none, would each make it."""
keep_machine_code()
os.environ["NUMBA_CACHE_DIR"] = str(COMPILING.folder)
"""Programs that tests start with a cache of their own use the machine code that is there."""
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
"""A program that has no room for its files writes no byte code that is cut short."""
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
"""Haystack reports its use from a thread of its own, in the middle of a later test."""
FILMS = ROOT / "examples" / "films.tsv"


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """A folder for the indexes of files of the repository: each is made once, whichever worker asks first."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "indexes"


@pytest.fixture(scope="session")
def open_auto(cache):
    embedder, opened = StaticEmbedder.load(), {}

    def open_once(source):
        if source not in opened:
            index = cached_index([source], cache_dir=cache, embedder=embedder).index
            opened[source] = BuiltInReader(index, embedder)
        return opened[source]

    return open_once


@pytest.fixture(scope="session")
def films_auto(open_auto):
    return open_auto(FILMS)


@pytest.fixture(scope="session")
def countries(open_auto):
    return open_auto(ROOT / "tests" / "data" / "dev" / "countries.tsv")


@pytest.fixture(scope="session")
def films(cache):
    with Clew.open(FILMS, cache_dir=cache) as opened:
        yield opened


@pytest.fixture(scope="session")
def triples():
    return [tuple(line.split("\t")) for line in FILMS.read_text("utf-8").splitlines()]
