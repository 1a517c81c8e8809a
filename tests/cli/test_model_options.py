"""How the chat model of `ask`, `verify` and `compare` is called: cache, replay, limits."""

import json

import pytest

from servers.fake_server import Answer, completion, serving

pytest.importorskip("openai")

ASK = ("--method", "llm", "--llm", "vllm/m", "--json", "--quiet")
PRICES = '[models."vllm/*"]\ninput = 1000000\noutput = 1000000\n'


@pytest.fixture
def server(monkeypatch):
    """A server that always says Oslo; the requests that came in."""
    with serving(Answer(completion("Oslo"))) as (fake, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        yield fake.seen


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text(PRICES)
    return path


def reason(result):
    abstained = json.loads(result.stdout)["abstained"]
    return abstained and abstained["reason"]


def test_a_recorded_reply_is_used_again_and_replayed(run, films, tmp_path, server):
    cache = tmp_path / "replies.sqlite"
    said = [
        run("ask", films, "Capital?", *ASK, "--cache", cache, *words) for words in ((), (), ("--replay",))
    ]
    assert [result.exit_code for result in said] == [0, 0, 0]
    assert [json.loads(result.stdout)["text"] for result in said] == ["Oslo"] * 3
    assert len(server) == 1


def test_a_replay_sends_nothing(run, films, tmp_path, server):
    result = run("ask", films, "Capital?", *ASK, "--replay", "--cache", tmp_path / "empty.sqlite")
    assert result.exit_code == 2
    assert "no recorded reply" in result.stderr
    assert server == []


def test_too_few_tokens_are_an_abstention(run, films, server):
    result = run("ask", films, "Capital?", *ASK, "--budget", "tokens=5")
    assert (result.exit_code, reason(result)) == (3, "budget")
    assert server == []


def test_too_little_money_is_an_abstention(run, films, server, prices):
    little, enough = (
        run("ask", films, "Capital?", *ASK, "--budget", f"cost={money}", "--prices", prices)
        for money in ("0.5", "100000")
    )
    assert (little.exit_code, reason(little)) == (3, "budget")
    assert (enough.exit_code, reason(enough)) == (0, None)
    assert len(server) == 1


def test_too_few_calls_are_an_abstention(run, films, server):
    words = ("--method", "kg-rag", "--llm", "vllm/m", "--json", "--quiet")
    free = run("ask", films, "Who directed Memento?", *words)
    calls = len(server)
    assert calls > 1, free.output
    result = run("ask", films, "Who directed Memento?", *words, "--budget", "calls=1")
    assert (result.exit_code, reason(result)) == (3, "budget")
    assert len(server) == calls + 1


def test_a_file_of_questions_has_a_budget_for_each(run, films, server, write_lines):
    asked = write_lines("q.jsonl", *({"id": id, "question": f"Capital {id}?"} for id in "ab"))
    result = run("ask", films, "--questions", asked, *ASK[:4], "--quiet", "--budget", "calls=1")
    assert [json.loads(line)["text"] for line in result.stdout.splitlines()] == ["Oslo", "Oslo"]


def test_a_file_of_questions_has_a_budget_for_all_together(run, films, server, prices, write_lines):
    asked = write_lines("q.jsonl", *({"id": id, "question": f"Capital {id}?"} for id in "abc"))
    words = ("ask", films, "--questions", asked, *ASK[:4], "--quiet", "--concurrency", "1")
    for sent, limit in (
        (2, ("--run-budget", "calls=2")),
        (0, ("--run-budget", "tokens=5")),
        (0, ("--run-budget", "cost=0.5", "--prices", prices)),
    ):
        server.clear()
        rows = [json.loads(line) for line in run(*words, *limit).stdout.splitlines()]
        reasons = [row["abstained"] and row["abstained"]["reason"] for row in rows]
        assert (len(server), reasons) == (sent, [None] * sent + ["budget"] * (3 - sent)), limit


@pytest.mark.parametrize(
    ("verb", "item", "items"), [("ask", "question", "--questions"), ("verify", "claim", "--claims")]
)
def test_what_the_budget_of_the_run_stopped_is_asked_again(
    run, films, server, write_lines, tmp_path, verb, item, items
):
    texts = ["Who directed Memento?", "Oslo is big.", "Heat is long."]
    asked = write_lines("q.jsonl", *({"id": str(n), item: text} for n, text in enumerate(texts)))
    out = tmp_path / "out.jsonl"
    method = ("--method", "simgrag", "--llm", "vllm/m", "--concurrency", "1")
    words = (verb, films, items, asked, "--out", out, *method, "--quiet")

    def ids():
        return [json.loads(line)["id"] for line in out.read_text().splitlines()]

    free = run(*words)
    calls = len(server)
    whole = out.read_text()
    assert (free.exit_code, ids(), calls > 3) == (0, ["0", "1", "2"], True), free.stderr
    out.unlink()
    stopped = run(*words, "--run-budget", f"calls={calls - 1}")
    assert stopped.exit_code == 1
    assert f"1 {item} of 3 not" in stopped.stderr
    assert "The same command asks them again" in stopped.stderr
    assert ids() == ["0", "1"]
    assert run(*words).exit_code == 0
    told = [{k: v for k, v in json.loads(line).items() if k != "timings_ms"} for line in whole.splitlines()]
    again = [json.loads(line) for line in out.read_text().splitlines()]
    assert [{k: v for k, v in row.items() if k != "timings_ms"} for row in again] == told


def test_several_methods_take_them(run, films, server):
    words = ("ask", films, "Capital?", "--method", "llm,llm-qd", "--llm", "vllm/m", "--json", "--quiet")
    row, _ = json.loads(run(*words, "--budget", "tokens=5").stdout)["rows"]
    assert row["answer"]["abstained"]["reason"] == "budget"
    assert server == []


def test_verify_takes_them(run, films, tmp_path, server):
    words = ("verify", films, "Oslo is big.", "--method", "simgrag", "--llm", "vllm/m", "--json", "--explain")
    cache = tmp_path / "replies.sqlite"
    stopped = run(*words, "--quiet", "--budget", "tokens=5", "--cache", cache)
    assert stopped.exit_code == 3
    assert "budget" in [step["name"] for step in json.loads(stopped.stdout)["steps"]]
    assert server == []
    assert run(*words, "--quiet", "--cache", cache).exit_code == 3
    assert len(server) > 0  # without the limit it is asked


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--replay",), "--cache FILE"),
        (("--budget", "cost=1"), "--prices FILE.toml"),
        (("--run-budget", "cost=1"), "--run-budget cost=… needs prices"),
        (("--run-budget", "calls=0"), "--run-budget calls=0"),
        (("--budget", "cost=inf", "--prices", "prices.toml"), "no limit"),
        (("--budget", "cost=nan", "--prices", "prices.toml"), "no limit"),
        (("--prices", "none.toml"), "none.toml"),
        (("--budget", "calls=0"), "no limit"),
        (("--budget", "tokens=many"), "no limit"),
        (("--cache", "none/c.sqlite"), "c.sqlite"),
    ],
)
@pytest.mark.usefixtures("prices")
def test_wrong_usage(run, films, server, words, message):
    result = run("ask", films, "Capital?", *ASK, *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert (result.stdout, server) == ("", [])


@pytest.mark.parametrize("command", ["ask", "verify"])
def test_without_a_model_they_are_wrong_usage(run, films, command):
    result = run(command, films, "Capital?", "--cache", "c.sqlite", "--budget", "calls=3")
    assert result.exit_code == 2
    assert "--cache, --budget: for a chat model" in result.stderr


@pytest.mark.parametrize("command", ["ask", "verify"])
def test_a_money_limit_needs_the_price_of_the_model(run, films, tmp_path, command, server):
    (tmp_path / "other.toml").write_text('[models."openai/*"]\ninput = 1\noutput = 1\n')
    result = run(
        command,
        films,
        "Capital?",
        "--llm",
        "vllm/m",
        "--budget",
        "cost=1",
        "--prices",
        tmp_path / "other.toml",
    )
    assert result.exit_code == 2
    assert "price of vllm/m" in result.stderr
