"""Open graphs for the tests of methods: MetaQA's, if the data sets are there, and a small one."""

from pathlib import Path

import pytest
from small_films import SMALL

from clew.engine import Clew

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


@pytest.fixture(scope="session")
def metaqa(cache: Path) -> Clew:
    source = DATA / "metaqa" / "kb.txt.gz"
    if not source.exists():
        pytest.skip("the data sets are not beside the repository")
    return Clew.open(source, cache_dir=cache)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Clew:
    path: Path = tmp_path_factory.mktemp("small") / "small.txt"
    path.write_text(SMALL, "utf-8")
    return Clew.open(path, cache_dir=path.parent / "cache")
