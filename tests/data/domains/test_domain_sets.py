"""The gold answers of the domain sets follow from their graphs; no parser is involved."""

import json
from pathlib import Path

import pytest

from gold import read_graph

HERE = Path(__file__).resolve().parent
SETS = sorted(HERE.glob("*/*_questions.jsonl"))
CLAIMS = sorted(HERE.glob("*/claims.jsonl"))


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def graph_of(path, name=None):
    name = name or path.name.removesuffix("_questions.jsonl")
    return next(path.with_name(name + end) for end in (".tsv", ".ttl") if path.with_name(name + end).exists())


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_gold_follows_from_the_graph(path):
    graph = read_graph(graph_of(path))
    for row in rows(path):
        if "gold" in row:
            assert row["gold"] == graph.gold(row["query"]), row["id"]
            assert row["gold"], row["id"]


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_what_is_absent_is_absent(path):
    graph = read_graph(graph_of(path))
    folded = {name.casefold() for name in graph.names}
    for row in rows(path):
        if row.get("reason") == "empty_result":
            assert not graph.gold(row["check"]), row["id"]
        elif row.get("reason") == "no_relation":
            assert row["check"] in graph.names, row["id"]
        elif row.get("reason") == "no_entity":
            assert row["check"].casefold() not in folded, row["id"]


@pytest.mark.parametrize("path", CLAIMS, ids=lambda path: path.parent.name)
def test_verdicts_follow_from_the_graph(path):
    graphs = {row["graph"]: read_graph(graph_of(path, row["graph"])) for row in rows(path)}
    for row in rows(path):
        holds = graphs[row["graph"]].gold(row["query"]) == [row.get("answer", "yes")]
        assert row["verdict"] == ("supported" if holds else "refuted"), row["id"]


def test_ids_are_unique_and_halves_share_no_graph():
    ids = [row["id"] for path in SETS + CLAIMS for row in rows(path)]
    assert len(set(ids)) == len(ids)
    names = [path.name for path in SETS]
    assert len(set(names)) == len(names) == 16
