"""The example graph, opened once."""

from pathlib import Path

import pytest

from clew import Clew
from clew.methods.auto import Auto

FILMS = Path(__file__).resolve().parents[2] / "examples" / "films.tsv"


@pytest.fixture(scope="session")
def films(tmp_path_factory):
    with Clew.open(FILMS, cache_dir=tmp_path_factory.mktemp("cache")) as opened:
        yield opened


@pytest.fixture(scope="session")
def parser(films):
    return Auto(films.index, films.embedder)


@pytest.fixture(scope="session")
def triples():
    return [tuple(line.split("\t")) for line in FILMS.read_text("utf-8").splitlines()]
