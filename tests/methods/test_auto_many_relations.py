"""A graph of more relations than the rules are for is read by the ranker alone."""

from pathlib import Path

import pytest

from clew.engine import Clew
from clew.errors import InputError
from clew.methods.synaptiqa.method import make_synaptiqa
from clew.reading.rules import auto

RELATIONS = 3_000


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Clew:
    path: Path = tmp_path_factory.mktemp("many") / "many.tsv"
    other = "".join(f"Part {i}\tconnector {i}\tPart {i * 7 % 911}\n" for i in range(RELATIONS))
    path.write_text("Heat\tdirected by\tMichael Mann\nHeat\trelease year\t1995\n" + other, "utf-8")
    return Clew.open(path, cache_dir=path.parent)


def test_more_relations_than_the_rules_are_for_are_asked_without_them(many: Clew, monkeypatch) -> None:
    monkeypatch.setattr(auto, "Auto", None)
    assert len(many.index.graph.relations) > auto.MOST_RELATIONS
    assert many.ask("Who directed Heat?").text == "Michael Mann"
    assert many.ask("Was Heat directed by Michael Mann?").text == "yes"


def test_what_the_ranker_leaves_open_says_that_it_reads_alone(many: Clew) -> None:
    left = many.ask("Who painted the moon?").abstained
    assert left is not None
    assert left.reason == "no_relation"
    assert f"has {RELATIONS + 2:,} relations" in left.detail
    assert f"up to {auto.MOST_RELATIONS:,}" in left.detail


def test_a_given_name_that_is_not_there_is_said_without_the_rules(many: Clew) -> None:
    left = many.ask("Who directed it?", entities=["Xyzzy Plugh"]).abstained
    assert left is not None
    assert (left.reason, "Xyzzy Plugh" in left.detail) == ("no_entity", True)


def test_more_relations_than_the_rules_can_compare_are_said_at_once(many: Clew, monkeypatch) -> None:
    monkeypatch.setattr("clew.graph.schema.physical_memory", lambda: 1)
    with pytest.raises(InputError, match="are too many: how they go together"):
        auto.auto_of(many.index, many.embedder)


def test_no_store_is_made_of_more_relations_than_take_a_minute(many: Clew, monkeypatch) -> None:
    monkeypatch.setattr("clew.methods.synaptiqa.method.MOST_RELATIONS", RELATIONS)
    with pytest.raises(InputError, match=r"3,002 relations are too many: .* Ask with --method auto"):
        make_synaptiqa(many.index, many.embedder)
