"""What the methods make of a strong model's replies to their prompts, on development questions.

The replies were written from the prompts alone (`tests/data/replies/README.md`). A change of a prompt fails
here: it has to be asked again. A change of what is read from replies shows in the answers.
"""

from pathlib import Path

import pytest
from replies import method_with, replaying

from clew.engine import Clew
from servers.recorded_replies import METHODS, recorded, traces

ROOT = Path(__file__).resolve().parents[2]
DOMAINS = ROOT / "tests" / "data" / "domains" / "dev"
DATA = ROOT.parent / "shared" / "data"
FACTORY = {"types": DATA / "factory" / "types.tsv", "aliases": DATA / "factory" / "aliases.tsv"}
SOURCES = {
    "albums": DOMAINS / "albums.tsv",
    "courts": DOMAINS / "courts.tsv",
    "recipes": DOMAINS / "recipes.tsv",
    "staff": DOMAINS / "staff.tsv",
    "league": DOMAINS / "league.tsv",
    "factory": DATA / "factory" / "kg.tsv",
    "metaqa": DATA / "metaqa" / "kb.txt.gz",
    "pq2H": DATA / "pathquestion" / "2H-kb.txt",
    "pq3H": DATA / "pathquestion" / "3H-kb.txt",
}


@pytest.fixture(scope="module", params=SOURCES)
def opened(request: pytest.FixtureRequest, cache: Path) -> tuple[str, Clew]:
    source = SOURCES[request.param]
    if not source.exists():
        pytest.skip("the data sets are not beside the repository")
    beside = FACTORY if request.param == "factory" else {}
    return request.param, Clew.open(source, cache_dir=cache, **beside)


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.slow)])
def test_the_recorded_replies_are_read_as_they_were(opened: tuple[str, Clew], every: int):
    name, clew = opened
    of_set = [t for method in METHODS for t in traces(method) if t["set"] == name]
    questions = sorted({t["question"] for t in of_set})[::every]
    for trace in sorted(  # what a question means is read once for both
        (t for t in of_set if t["question"] in questions), key=lambda t: t["question"]
    ):
        method, asked = trace["method"], f"{trace['method']}: {trace['question']}"
        answer = method_with(clew, method, replaying(method)).answer(trace["question"])
        assert sorted(a.label for a in answer.answers) == sorted(trace["answers"]), asked
        assert (answer.abstained and answer.abstained.reason) == trace["abstained"], asked
        assert all(c.triples for c in answer.citations) or answer.notes


@pytest.mark.parametrize("method", METHODS)
def test_thirty_questions_and_more_are_recorded(method: str):
    assert len(traces(method)) >= 30
    assert len(recorded(method)) >= len([t for t in traces(method) if t["calls"]]) // 2
