import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVERS = Path(__file__).resolve().parents[1] / "servers"


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


@contextmanager
def process_of(model: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, str(SERVERS / "tiny_server.py"), str(model)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
        process.kill()


@pytest.fixture
def mortal(tiny_model: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a process of its own, which the test may kill, and its base URL."""
    with process_of(tiny_model) as served:
        yield served


@pytest.fixture(scope="module")
def sleepy(tiny_model: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The same for tests that freeze it, and wake it again."""
    with process_of(tiny_model) as served:
        yield served
