"""Open graphs for the tests of methods: MetaQA's, if the data sets are there, small ones, the films."""

from pathlib import Path

import pytest

from clew.engine import Clew
from clew.index.cache import cached_index
from clew.methods.auto import Auto
from clew.text.embedders.static import StaticEmbedder

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


@pytest.fixture(scope="session")
def metaqa(tmp_path_factory: pytest.TempPathFactory) -> Clew:
    source = DATA / "metaqa" / "kb.txt.gz"
    if not source.exists():
        pytest.skip("the data sets are not beside the repository")
    return Clew.open(source, cache_dir=tmp_path_factory.mktemp("metaqa"))


SMALL = """\
Alien|directed by|Ridley Scott
Alien 3|directed by|David Fincher
Alien|starring|Sigourney Weaver
Alien 3|starring|Sigourney Weaver
Alien|genre|Horror
Alien 3|genre|Drama
Blade Runner|directed by|Ridley Scott
Blade Runner|starring|Harrison Ford
Blade Runner|genre|Drama
Seven|directed by|David Fincher
"""


@pytest.fixture
def small(tmp_path: Path) -> Clew:
    path = tmp_path / "small.txt"
    path.write_text(SMALL, "utf-8")
    return Clew.open(path, cache_dir=tmp_path / "cache")


ROOT = Path(__file__).resolve().parents[2]
FILMS = ROOT / "examples" / "films.tsv"


@pytest.fixture(scope="session")
def open_auto(tmp_path_factory):
    cache, embedder, opened = tmp_path_factory.mktemp("cache"), StaticEmbedder.load(), {}

    def open_once(source):
        if source not in opened:
            opened[source] = Auto(cached_index([source], cache_dir=cache, embedder=embedder).index, embedder)
        return opened[source]

    return open_once


@pytest.fixture(scope="session")
def films_auto(open_auto):
    return open_auto(FILMS)


@pytest.fixture(scope="session")
def countries(open_auto):
    return open_auto(ROOT / "tests" / "data" / "dev" / "countries.tsv")


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
