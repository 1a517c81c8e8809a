"""Servers for the tests; without FastAPI these tests are skipped."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

for package in ("fastapi", "uvicorn", "prometheus_client", "mcp", "httpx"):
    pytest.importorskip(package, reason=f"{package} is not installed (pip install 'clew[dev]')")
from clew.opening.graph_view import index_sources  # noqa: E402
from servers.served import EVIL, FILMS, Process, Running  # noqa: E402


@pytest.fixture(scope="session")
def films_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("index") / "films.clew"
    index_sources([FILMS], path)
    return path


@pytest.fixture(scope="session")
def films(films_index: Path) -> Iterator[Running]:
    running = Running({"films": films_index}, mcp=True)
    yield running
    running.close()


@pytest.fixture(scope="session")
def depots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Tables with ids, names, dates and numbers, and edges with properties."""
    path = tmp_path_factory.mktemp("depots") / "depots.clew"
    folder = Path(__file__).parents[1] / "contract" / "graphs" / "depots"
    index_sources([folder / f"{name}.csv" for name in ("employees", "depots", "works_at")], path)
    running = Running({"depots": path})
    yield running
    running.close()


@pytest.fixture(scope="session")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A graph whose names are markup, addresses, marks of direction, and orders to a terminal."""
    folder = tmp_path_factory.mktemp("evil")
    lines = [f"Mallory\tknows\t{name}\n" for name in EVIL] + [
        f"{name}\tsaid <b>by</b>\tEve\n" for name in EVIL
    ]
    (folder / "evil.tsv").write_text("".join(lines), "utf-8")
    index_sources([folder / "evil.tsv"], folder / "evil.clew")
    running = Running({"evil": folder / "evil.clew"})
    yield running
    running.close()


@pytest.fixture
def running() -> Iterator[Callable[..., Running]]:
    """Start servers of one's own."""
    made: list[Running] = []

    def start(*args: object, **options: object) -> Running:
        made.append(Running(*args, **options))  # type: ignore[arg-type]
        return made[-1]

    yield start
    for one in made:
        one.close()


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    made: list[Process] = []

    def start(*args: str, first: str = "") -> Process:
        made.append(Process(*args, folder=tmp_path, first=first))
        return made[-1]

    yield start
    for one in made:
        one.close()
