"""What tests of claims share."""

import pytest

from clew import Clew
from clew.claims.verify import Verify


@pytest.fixture(scope="module")
def verifiers(request, tmp_path_factory):
    """A verifier of each of the module's `GRAPHS`, by its name."""
    graphs = request.module.GRAPHS
    opened = {n: Clew.open(p, cache_dir=tmp_path_factory.mktemp("cache")) for n, p in graphs.items()}
    yield {name: Verify(clew.index, clew.embedder) for name, clew in opened.items()}
    for clew in opened.values():
        clew.close()
