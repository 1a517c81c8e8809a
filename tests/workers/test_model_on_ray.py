"""A chat model that the workers of a cluster ask: one budget, one file of replies, the same records."""

import json
import pickle
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="openai is not installed: pip install 'clew[openai]'")

from typer.testing import CliRunner

from clew.cli.app import app
from clew.errors import ParseError
from clew.llm.budget import Limits
from clew.llm.open import open_model, opened_everywhere
from clew.llm.providers import Settings
from clew.llm.types import BudgetReached, KeyRefused
from clew.opening.graph_view import index_sources
from clew.workers import RayWorkers
from servers.fake_server import Answer, completion, serving
from workers.work import nothing

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]
FILMS = Path(__file__).parents[2] / "examples" / "films.tsv"
QUESTIONS = [f"Who directed {film}?" for film in ("Memento", "Inception", "Dunkirk", "Insomnia", "Tenet")]


@pytest.fixture(scope="module")
def address(cluster):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ADDRESS", cluster.address)
        yield "auto"


@pytest.fixture
def served(monkeypatch):
    with serving(by=lambda _: Answer(completion("He did.\nAnswer: Christopher Nolan"))) as (fake, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-right-key-1234")
        yield fake


@pytest.fixture
def index(tmp_path):
    index_sources([FILMS], tmp_path / "films.clew")
    return str(tmp_path / "films.clew")


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "questions.jsonl"
    lines = [json.dumps({"id": str(at), "question": QUESTIONS[at % 5]}) for at in range(40)]
    path.write_text("\n".join(lines))
    return str(path)


def run(*arguments):
    return CliRunner().invoke(app, [*arguments, "--quiet"])


def records(path):
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return {one["id"]: {k: v for k, v in one.items() if k != "timings_ms"} for one in found}


def test_records_are_those_of_one_process_and_replies_are_kept(address, served, index, questions, tmp_path):
    asked = ["ask", index, "--questions", questions, "--llm", "openai/x", "--method", "kaping"]
    alone, spread, again = (tmp_path / f"{name}.jsonl" for name in ("alone", "spread", "again"))
    kept, trace = str(tmp_path / "kept.sqlite"), tmp_path / "trace.jsonl"
    assert run(*asked, "--out", str(alone)).exit_code == 0
    on_cluster = [*asked, "--ray", address, "--cache", kept]
    said = run(*on_cluster, "--out", str(spread), "--trace", str(trace))
    assert said.exit_code == 0, said.output
    assert len(trace.read_text().splitlines()) == 40
    assert records(spread) == records(alone)
    before = len(served.seen)
    assert run(*on_cluster, "--replay", "--out", str(again)).exit_code == 0
    assert records(again) == records(alone)
    assert len(served.seen) == before


def test_a_budget_holds_over_the_cluster_and_the_same_command_goes_on(
    address, served, index, questions, tmp_path
):
    asked = ["ask", index, "--questions", questions, "--llm", "openai/x", "--method", "kaping"]
    asked += ["--ray", address, "--run-budget", "calls=25", "--out", str(tmp_path / "out.jsonl")]
    stopped = run(*asked)
    assert stopped.exit_code == 1
    assert "15 questions of 40 not answered: The budget of calls for this run is reached" in stopped.output
    assert len(served.seen) == 25
    assert run(*asked).exit_code == 0
    assert len(served.seen) == 40
    assert len(records(tmp_path / "out.jsonl")) == 40


def test_claims_are_verified_on_a_cluster(address, served, index, tmp_path):
    claims = tmp_path / "claims.jsonl"
    lines = [json.dumps({"id": str(at), "claim": "Christopher Nolan directed Memento"}) for at in range(20)]
    claims.write_text("\n".join(lines))
    asked = ["verify", index, "--claims", str(claims), "--llm", "openai/x", "--method", "simgrag"]
    alone, spread = tmp_path / "alone.jsonl", tmp_path / "spread.jsonl"
    assert (
        run(*asked, "--out", str(alone)).exit_code
        == run(*asked, "--ray", address, "--out", str(spread)).exit_code
    )
    assert records(spread) == records(alone)


def test_what_a_model_says_of_walks_is_the_same(address, served, tmp_path):
    graph = tmp_path / "small.tsv"
    graph.write_text("".join(f"a{n}\tknows\ta{n + 1}\n" for n in range(80)))
    made = [tmp_path / "alone.clew", tmp_path / "spread.clew"]
    for out, more in zip(made, ([], ["--ray", address]), strict=True):
        said = run("index", str(graph), "-o", str(out), "--corpus", "bfs", "--verbalise", "openai/x", *more)
        assert said.exit_code == 0, said.output
    files = [sorted(p for p in out.rglob("*.npy")) for out in made]
    assert [p.name for p in files[0]] == [p.name for p in files[1]]
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(*files, strict=True))


def test_no_more_walks_are_said_than_the_budget_allows(address, served, tmp_path):
    graph = tmp_path / "small.tsv"
    graph.write_text("".join(f"a{n}\tknows\ta{n + 1}\n" for n in range(80)))
    asked = [
        "index", str(graph), "-o", str(tmp_path / "a.clew"), "--corpus", "bfs", "--verbalise", "openai/x",
    ]  # fmt: skip
    stopped = run(*asked, "--ray", address, "--budget", "calls=300")
    assert stopped.exit_code == 1
    assert "budget of calls" in stopped.output
    assert len(served.seen) == 300
    assert run(*asked).exit_code == 0
    with_budget = len(served.seen)
    asked[asked.index("-o") + 1] = str(tmp_path / "b.clew")
    assert run(*asked).exit_code == 0
    assert with_budget <= len(served.seen) - with_budget  # what was said before it stopped is not asked again


def test_a_model_of_one_process_cannot_be_sent():
    with pytest.raises(TypeError, match="opened for this process alone"):
        pickle.dumps(open_model(Settings("ollama/x")))


def test_a_key_is_not_shown_where_a_model_is_opened_anew(address, monkeypatch):
    monkeypatch.setattr("clew.foundation.redaction._secrets", set())
    settings = Settings("openai/x", api_key="sk-secret-key-9876", per_run=Limits(calls=1))
    with RayWorkers(address, nothing), opened_everywhere(settings) as model:
        monkeypatch.setattr("clew.foundation.redaction._secrets", set())
        monkeypatch.setattr("clew.foundation.redaction._pattern", None)
        pickle.loads(pickle.dumps(model))  # noqa: S301
        assert "sk-secret" not in str(ParseError("a", 1, "sk-secret-key-9876"))


@pytest.mark.parametrize(
    "error",
    [
        BudgetReached("run", "calls", "26 needed"),
        KeyRefused("no", 401),
        ParseError("a.tsv", 3, "not a triple", "Mend it", others=("a.tsv:4: …",)),
    ],
)
def test_errors_come_back_from_a_worker_as_they_were(error):
    loaded = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(loaded) is type(error)
    assert str(loaded) == str(error)
    assert vars(loaded) == vars(error)
