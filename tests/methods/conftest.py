"""The built-in method over graph files, each indexed once a session."""

from pathlib import Path

import pytest

from clew.index.cache import cached_index
from clew.methods.auto import Auto
from clew.text.embedders.static import StaticEmbedder

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def open_auto(tmp_path_factory):
    cache, embedder, opened = tmp_path_factory.mktemp("cache"), StaticEmbedder.load(), {}

    def open_once(source):
        if source not in opened:
            opened[source] = Auto(cached_index([source], cache_dir=cache, embedder=embedder).index, embedder)
        return opened[source]

    return open_once


@pytest.fixture(scope="session")
def films(open_auto):
    return open_auto(ROOT / "examples" / "films.tsv")


@pytest.fixture(scope="session")
def countries(open_auto):
    return open_auto(ROOT / "tests" / "data" / "dev" / "countries.tsv")
