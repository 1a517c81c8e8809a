"""The built-in method on published questions, where the data is at hand."""

import gzip
import random
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"

pytestmark = pytest.mark.skipif(not SHARED.exists(), reason="no published data beside the repository")


def read_lines(path):
    packed = path.with_name(path.name + ".gz")
    if packed.exists():
        return gzip.decompress(packed.read_bytes()).decode("utf-8").splitlines()
    return path.read_text(encoding="utf-8").splitlines()


def metaqa(hops):
    for line in read_lines(SHARED / "metaqa" / f"{hops}-hop" / "vanilla" / "qa_dev.txt"):
        question, gold = line.split("\t")
        yield question.replace("[", "").replace("]", ""), set(gold.split("|"))


def pathquestion(hops):
    for line in read_lines(SHARED / "pathquestion" / f"PQ-{hops}H.txt"):
        question, answer, _ = line.split("\t")
        yield question, set(answer[answer.index("(") + 1 : -1].rstrip("/").split("/"))


def wc2014():
    for part in ("P1", "P2", "C"):
        for line in read_lines(SHARED / "wc2014" / f"WC-{part}.first20.txt"):
            columns = line.split("\t")
            yield columns[0], set(columns[3].rstrip("/").split("/"))


def hits(auto, rows, count):
    """Share of a seeded sample with a right answer; every answer is proved by triples that exist."""
    rows, right = list(rows), 0
    sample = random.Random(13).sample(rows, min(count, len(rows)))
    for question, gold in sample:
        answer = auto.answer(question)
        found = {a.entity for a in answer.answers}
        right += bool(found & gold)
        proved = {c.answer for c in answer.citations if c.triple_ids and min(c.triple_ids) >= 0}
        assert found <= proved
    return right / len(sample)


@pytest.fixture(params=[30, pytest.param(60, marks=pytest.mark.slow)])
def count(request):
    return request.param


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_metaqa(open_auto, hops, count):
    assert hits(open_auto(SHARED / "metaqa" / "kb.txt.gz"), metaqa(hops), count) >= 0.7


@pytest.mark.parametrize("hops", [2, 3])
def test_pathquestion(open_auto, hops, count):
    assert (
        hits(open_auto(SHARED / "pathquestion" / f"{hops}H-kb.txt"), pathquestion(hops), count)
        >= {2: 0.3, 3: 0.2}[hops]
    )  # *mother* is no *parents* whose gender is unknown, which it is of most here: those are left open


@pytest.mark.slow
@pytest.mark.xfail(strict=True, reason="0.77: *soccer club* and *professional football team* are unplaced")
def test_wc2014(open_auto):
    assert hits(open_auto(SHARED / "wc2014" / "WC2014.txt"), wc2014(), 60) >= 0.8
