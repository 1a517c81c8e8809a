"""`clew eval experiments/strong-model.toml` offline: recorded replies of a strong model come over HTTP."""

import json
import shutil

import pytest
from made import ROOT

from clew.evaluate.run.plans import read_experiment
from servers.recorded_replies import FOLDER, METHODS, replaying_server, traces

pytest.importorskip("openai")
pytest.importorskip("ladybug", reason="synaptiqa asks the embedded store")

EXPERIMENT = ROOT / "experiments" / "strong-model.toml"
DOMAINS = ROOT / "tests" / "data" / "domains" / "dev"


@pytest.fixture
def model(monkeypatch):
    with replaying_server() as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield "openai/strong"


@pytest.fixture
def sets(tmp_path):
    """Put recorded questions beside their graphs, as `benchmarks/strong_model.py sets` does."""

    def put(*names):
        for name in names:
            folder = tmp_path / "sets" / name
            folder.mkdir(parents=True)
            for file in DOMAINS.glob(f"{name}.*"):
                shutil.copyfile(file, folder / file.name.replace(name, "graph", 1))
            shutil.copyfile(FOLDER / "sets" / f"{name}.jsonl", folder / "questions.jsonl")
        return tmp_path / "sets"

    return put


@pytest.mark.parametrize(
    ("names", "limit"),
    [(("staff",), 2), pytest.param(("courts", "geo", "league", "staff"), 100, marks=pytest.mark.slow)],
)
def test_the_experiment_gives_the_answers_that_were_recorded(run, model, sets, tmp_path, names, limit):
    told = ("--data", f"plain={sets(*names)}", "--limit", limit, "--out", tmp_path / "run", "--quiet")
    result = run("eval", EXPERIMENT, "--llm", model, *told)
    assert not isinstance(result.exception, Exception), result.output
    expected = {(t["method"], t["set"], t["question"]): t for method in METHODS for t in traces(method)}
    records = [json.loads(line) for line in (tmp_path / "run" / "records.jsonl").read_text().splitlines()]
    records = [record for record in records if record["method"] in METHODS]
    assert len(records) == len(METHODS) * sum(min(limit, _size(name)) for name in names)
    for record in records:
        key = record["method"], record["part"].removeprefix("plain/"), record["question"]
        if key not in expected:
            continue  # Its prompt has changed and was not asked anew; the README of the replies lists it.
        labels = [answer["label"] for answer in record["answer"]["answers"]]
        assert sorted(labels) == sorted(expected[key]["answers"]), key


def _size(name):
    return len((FOLDER / "sets" / f"{name}.jsonl").read_text("utf-8").splitlines())


def test_the_experiment_asks_every_method_and_set_that_was_recorded():
    experiment = read_experiment(EXPERIMENT)
    assert {variant.method for variant in experiment.methods(with_model=True)} >= set(METHODS)
    assert {part for _, part, _ in experiment.data} == {p.stem for p in (FOLDER / "sets").glob("*.jsonl")}
