"""Open graphs for the tests of methods: MetaQA's, if the data sets are there, and a small one."""

from pathlib import Path

import pytest
from small_films import SMALL

from clew.engine import Clew

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


@pytest.fixture(scope="session")
def metaqa(tmp_path_factory: pytest.TempPathFactory) -> Clew:
    source = DATA / "metaqa" / "kb.txt.gz"
    if not source.exists():
        pytest.skip("the data sets are not beside the repository")
    return Clew.open(source, cache_dir=tmp_path_factory.mktemp("metaqa"))


@pytest.fixture
def small(tmp_path: Path) -> Clew:
    path = tmp_path / "small.txt"
    path.write_text(SMALL, "utf-8")
    return Clew.open(path, cache_dir=tmp_path / "cache")
