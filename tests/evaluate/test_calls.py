"""Calls of a model in a run: limits, prices, the cache; and a run that replays as it was."""

import importlib.util
import tomllib

import pytest
from run_files import metric, records, untimed

from clew.evaluate.run.rundir import CONFIG
from servers.fake_server import Answer, completion, serving

pytest.importorskip("openai")

LLM = ("--method", "llm", "--llm", "vllm/m")
PRICES = '[models."vllm/*"]\ninput = 1000000\noutput = 0\n'


@pytest.fixture
def server(monkeypatch):
    """A server that always says the same; the requests that came in."""
    with serving(Answer(completion("Christopher Nolan"))) as (fake, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        yield fake.seen


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text(PRICES)
    return path


def test_a_budget_of_the_run_ends_it_and_the_same_command_goes_on(run, plain, tmp_path, server):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert run("eval", plain, *LLM, "--out", whole).exit_code == 0
    few = ("--run-budget", "calls=2", "--concurrency", 1)
    told = [run("eval", plain, *LLM, *few, "--out", broken) for _ in range(2)]
    assert [result.exit_code for result in told] == [1, 1]
    assert "budget of calls for this run is reached" in told[0].stderr
    assert [r["id"] for r in untimed(broken)] == list("abcd")
    assert all(r["answer"]["abstained"] is None for r in untimed(broken))
    assert run("eval", plain, *LLM, *few, "--out", broken).exit_code == 0
    assert untimed(broken) == untimed(whole)


def test_a_budget_of_questions_is_an_abstention_and_part_of_the_configuration(run, plain, tmp_path, server):
    out = tmp_path / "r"
    assert run("eval", plain, *LLM, "--budget", "tokens=5", "--out", out).exit_code == 0
    assert {r["answer"]["abstained"]["reason"] for r in untimed(out)} == {"budget"}
    assert tomllib.loads((out / CONFIG).read_text())["calls"] == {"max_calls": 40, "max_tokens": 5}
    other = run("eval", plain, *LLM, "--budget", "tokens=6", "--out", out)
    assert other.exit_code == 2
    assert "calls.max_tokens: 5 there, 6 now" in other.stderr
    assert server == []


def test_prices_make_costs(run, plain, tmp_path, server, prices):
    assert run("eval", plain, *LLM, "--prices", prices, "--out", tmp_path / "r").exit_code == 0
    costs = [r["cost"] for r in records(tmp_path / "r").values()]
    assert all(cost > 0 for cost in costs)
    assert metric(tmp_path / "r", "cost", "llm") == pytest.approx(sum(costs), rel=1e-4)


def test_the_judge_has_a_budget_too(run, plain, tmp_path, server):
    judged = run("eval", plain, *LLM, "--judge", "vllm/j", "--run-budget", "calls=5", "--out", tmp_path / "j")
    assert judged.exit_code == 1
    assert "The judgements are kept" in judged.stderr
    assert run("eval", plain, *LLM, "--judge", "vllm/j", "--out", tmp_path / "j").exit_code == 0


@pytest.mark.parametrize(
    "options", [("--replay",), ("--run-budget", "calls=3"), ("--cache", "x"), ("--prices", "p")]
)
def test_options_of_calls_need_a_model(run, plain, options):
    result = run("eval", plain, "--method", "knows", *options)
    assert result.exit_code == 2
    assert "Name one with --llm" in result.stderr


def test_a_cost_needs_prices(run, plain, server):
    result = run("eval", plain, *LLM, "--run-budget", "cost=1")
    assert result.exit_code == 2
    assert "Add --prices FILE.toml" in result.stderr


@pytest.fixture(scope="module")
def tiny_url(tmp_path_factory):
    """A llama.cpp server with a model of random weights, and a prompt that does not fit into it."""
    for package in ("xllamacpp", "gguf"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed (pip install 'clew[test]')")
    from servers.tiny_model import write_model
    from servers.tiny_server import start

    server, url = start(write_model(tmp_path_factory.mktemp("tiny") / "tiny.gguf"))
    yield url
    del server


def test_a_run_replays_from_its_replies_whatever_the_threads(run, plain, tmp_path, tiny_url, monkeypatch):
    methods = ("--method", "auto,simgrag,llm-qd", "--llm", "vllm/tiny")
    monkeypatch.setenv("OPENAI_BASE_URL", tiny_url)
    first = run("eval", plain, *methods, "--limit", 3, "--concurrency", 4, "--out", tmp_path / "first")
    assert first.exit_code == 0, first.stderr
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    recorded = ("--replay", "--cache", tmp_path / "first" / "replies.sqlite")
    again = run(
        "eval", plain, *methods, *recorded, "--limit", 3, "--concurrency", 2, "--out", tmp_path / "again"
    )
    assert again.exit_code == 0, again.stderr
    assert len(untimed(tmp_path / "again")) == 9
    assert untimed(tmp_path / "again") == untimed(tmp_path / "first")
