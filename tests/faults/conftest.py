"""Faults, put in; those by the thousand run with `pytest -m slow` only."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILMS = ROOT / "examples" / "films.tsv"


@pytest.fixture(scope="session")
def films(tmp_path_factory):
    """An index with walks and vectors of triples, some of whose files are larger than what samples cover."""
    from clew.index.corpus import CorpusSettings
    from clew.opening.graph_view import index_sources

    path = tmp_path_factory.mktemp("faults") / "films.clew"
    index_sources([FILMS], path, corpus=CorpusSettings("bfs", depth=3), triple_vectors=True)
    return path
