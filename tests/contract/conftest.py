"""Five small graphs and the doors at which each is asked, opened once."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

for package in ("fastapi", "uvicorn", "prometheus_client", "mcp", "httpx"):
    pytest.importorskip(package, reason=f"{package} is not installed (pip install 'clew[dev]')")
from doors import SOURCES, CommandLine, Http, Mcp, Page, Python, build  # noqa: E402

from servers.served import Running  # noqa: E402


@pytest.fixture(scope="session")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("contract")
    os.environ["CLEW_CACHE_DIR"] = str(folder / "cache")
    return {name: build(name, folder) for name in SOURCES}


@pytest.fixture(scope="session")
def server(indexes: dict[str, Path]) -> Iterator[Running]:
    running = Running(indexes, mcp=True)
    yield running
    running.close()


@pytest.fixture(scope="session")
def doors(indexes: dict[str, Path], server: Running) -> Iterator[dict[str, Any]]:
    mcp = Mcp(server)
    yield {
        "python": Python(indexes),
        "cli": CommandLine(indexes),
        "http": Http(server),
        "page": Page(server),
        "mcp": mcp,
    }
    mcp.close()


@pytest.fixture(scope="session")
def python(doors: dict[str, Any]) -> Python:
    return doors["python"]
