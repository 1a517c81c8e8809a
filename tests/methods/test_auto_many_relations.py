"""A graph of thousands of relations."""

from pathlib import Path

import pytest

from clew.engine import Clew
from clew.errors import InputError
from clew.llm.testing import ScriptedModel
from clew.methods.synaptiqa import method

RELATIONS = 3_000


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Clew:
    path: Path = tmp_path_factory.mktemp("many") / "many.tsv"
    other = "".join(f"Part {i}\tconnector {i}\tPart {i * 7 % 911}\n" for i in range(RELATIONS))
    path.write_text("Heat\tdirected by\tMichael Mann\nHeat\trelease year\t1995\n" + other, "utf-8")
    return Clew.open(path, cache_dir=path.parent)


def test_a_graph_of_very_many_relations_is_asked(many: Clew) -> None:
    assert many.ask("Who directed Heat?").text == "Michael Mann"
    assert many.ask("Was Heat directed by Michael Mann?").text == "yes"


def test_what_it_leaves_open_is_said(many: Clew) -> None:
    left = many.ask("Who painted Heat?").abstained
    assert left is not None
    assert left.reason == "unplaced"


def test_no_store_is_made_of_more_relations_than_take_a_minute(
    many: Clew, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(method, "MOST_RELATIONS", RELATIONS)
    with pytest.raises(InputError, match=r"3,002 relations are too many: .* Ask with --method auto"):
        method.make_synaptiqa(many.opened, many.embedder, model=ScriptedModel(()))
