"""The stored gold answers of the check sets follow from their graphs; no parser is involved."""

import gzip
import json
from collections import defaultdict
from pathlib import Path

import pytest

from gold import Triples

HERE = Path(__file__).resolve().parent
METAQA = HERE.parents[3] / "shared" / "data" / "metaqa" / "kb.txt.gz"


def rows(name):
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def other():
    lines = (HERE / "other.tsv").read_text(encoding="utf-8").splitlines()
    return Triples(line.split("\t") for line in lines)


@pytest.fixture(scope="module")
def metaqa():
    if not METAQA.exists():
        pytest.skip("the MetaQA graph is not beside the repository")
    with gzip.open(METAQA, "rt", encoding="utf-8") as lines:
        return Triples(line.rstrip("\n").split("|") for line in lines)


def test_paraphrases_follow_their_paths(metaqa):
    for row in rows("paraphrases.jsonl"):
        assert row["gold"] == metaqa.walk(row["topic"], row["path"]), row["id"]


def test_paraphrase_topics_have_no_twin_and_few_answers(metaqa):
    folded = defaultdict(list)
    for name in metaqa.names:
        folded[name.casefold()].append(name)
    for row in rows("paraphrases.jsonl"):
        assert folded[row["topic"].casefold()] == [row["topic"]], row["id"]
        assert 1 <= len(row["gold"]) <= 100, row["id"]


def test_other_questions_follow_their_queries(other):
    for row in rows("other_questions.jsonl"):
        assert row["gold"] == other.gold(row["query"]), row["id"]


@pytest.mark.parametrize("graph", ["metaqa", "other"])
def test_absent_things_are_absent(graph, request):
    triples = request.getfixturevalue(graph)
    folded = {name.casefold() for name in triples.names}
    for row in (r for r in rows("absent.jsonl") if r["graph"] == graph):
        check = row["check"]
        if row["reason"] == "empty_result":
            assert not triples.solve(check), row["id"]
        elif row["reason"] == "no_relation":
            assert check in triples.names, row["id"]
        else:
            assert check.casefold() not in folded, row["id"]
        if row["reason"] == "ambiguous_entity":
            assert sum(check in name for name in triples.names) > 1, row["id"]


def test_ids_are_unique():
    for name in ("paraphrases.jsonl", "other_questions.jsonl", "absent.jsonl"):
        ids = [row["id"] for row in rows(name)]
        assert len(set(ids)) == len(ids), name
