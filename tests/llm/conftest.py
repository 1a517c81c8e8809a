from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SERVERS = Path(__file__).resolve().parents[1] / "servers"
LOCAL = {"127.0.0.1", "::1", "localhost", "", None}


@pytest.fixture(autouse=True)
def only_localhost(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Real requests are off: connections to other hosts fail, whichever library asks; returns their names."""
    refused: list[str] = []
    connect, connect_ex, look_up = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def check(host: object) -> None:
        name = host.decode() if isinstance(host, bytes) else host
        if name not in LOCAL:
            refused.append(str(name))
            raise OSError(f"requests to {name} are off in tests")

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


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("xllamacpp", "gguf", "openai"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed (pip install 'clew[test]')")
    from servers.tiny_model import write_model

    return write_model(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture(scope="session")
def tiny_url(tiny_model: Path) -> Iterator[str]:
    """Base URL of a llama.cpp server in this process, with the tiny model."""
    from servers.tiny_server import start

    server, url = start(tiny_model)
    yield url
    del server


@pytest.fixture(scope="session")
def locked_url(tiny_model: Path) -> Iterator[str]:
    """The same, for the key `right-key` only."""
    from servers.tiny_server import start

    server, url = start(tiny_model, key="right-key")
    yield url
    del server


@pytest.fixture
def mortal(tiny_model: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a process of its own, which the test may kill, and its base URL."""
    command = [sys.executable, str(SERVERS / "tiny_server.py"), str(tiny_model)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
        process.kill()
