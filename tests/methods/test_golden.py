"""No method's JSON changes unseen; `python tests/methods/golden.py` writes it again where it is meant to."""

import json
from pathlib import Path

import pytest
from golden import GRAPHS, read, records

from clew.engine import Clew


@pytest.mark.parametrize("graph", GRAPHS)
def test_every_method_answers_as_it_did(graph: str, cache: Path):
    pytest.importorskip("ladybug", reason="ladybug is not installed")
    wanted = read(graph)
    with Clew.open(GRAPHS[graph], cache_dir=cache) as clew:
        made = {name: json.loads(json.dumps(record)) for name, record in records(graph, clew)}
    changed = [name for name in wanted.keys() | made.keys() if wanted.get(name) != made.get(name)]
    for name in sorted(changed)[:1]:
        assert made.get(name) == wanted.get(name), name
    assert made == wanted, sorted(changed)
