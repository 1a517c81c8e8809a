"""The stored gold answers of the check sets follow from their graphs; no parser is involved."""

import gzip
import json
from collections import defaultdict
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
METAQA = HERE.parents[3] / "shared" / "data" / "metaqa" / "kb.txt.gz"


class Triples:
    """Triples by (node, relation), both ways."""

    def __init__(self, lines, separator):
        self.out, self.into, self.pairs = defaultdict(set), defaultdict(set), defaultdict(set)
        self.names = set()
        for line in lines:
            head, relation, tail = line.split(separator)
            self.out[head, relation].add(tail)
            self.into[tail, relation].add(head)
            self.pairs[relation].add((head, tail))
            self.names |= {head, tail}

    def walk(self, topic, path):
        """Nodes at the end of `path`; a return by the same relation never ends where it came from."""
        ends = {(None, topic)}
        for i, (relation, sign) in enumerate(path):
            back = i > 0 and path[i - 1][0] == relation and path[i - 1][1] != sign
            step = self.out if sign == "+" else self.into
            ends = {(at, to) for was, at in ends for to in step[at, relation] if not (back and to == was)}
        return sorted({end for _, end in ends})

    def _edges(self, head, relation, tail):
        if not head.startswith("?"):
            return [(head, t) for t in self.out[head, relation]]
        if not tail.startswith("?"):
            return [(h, tail) for h in self.into[tail, relation]]
        return self.pairs[relation]

    def solve(self, body):
        """All assignments of the variables of `head,relation,tail & …`; names may hold commas."""
        found = [{}]
        for condition in body.split(" & "):
            if "!=" in condition:
                variable, name = condition.split("!=")
                found = [f for f in found if f[variable] != name]
                continue
            head, relation, tail = condition.rsplit(",", 2)
            found = [
                {**f, **{v: x for v, x in ((head, h), (tail, t)) if v.startswith("?")}}
                for f in found
                for h, t in self._edges(f.get(head, head), relation, f.get(tail, tail))
                if f.get(tail, t) == t and (tail.startswith("?") or tail == t)
            ]
        return found

    def gold(self, query):
        """Answer of `what: body` (README)."""
        asked, body = query.split(": ", 1)
        found, (word, *variables) = self.solve(body), asked.split()
        if word == "ask":
            return ["yes" if found else "no"]
        if word == "count":
            return [str(len({f[variables[0]] for f in found}))]
        if word in ("max", "min"):
            value, answer = variables
            best = (max if word == "max" else min)(float(f[value]) for f in found)
            return sorted({f[answer] for f in found if float(f[value]) == best})
        return sorted({f[word] for f in found})


def rows(name):
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def other():
    return Triples((HERE / "other.tsv").read_text(encoding="utf-8").splitlines(), "\t")


@pytest.fixture(scope="module")
def metaqa():
    if not METAQA.exists():
        pytest.skip("the MetaQA graph is not beside the repository")
    with gzip.open(METAQA, "rt", encoding="utf-8") as lines:
        return Triples((line.rstrip("\n") for line in lines), "|")


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
