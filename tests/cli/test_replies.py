"""`--stream`: what the model says is seen on stderr while it says it, and stdout stays as it is."""

import json

import pytest

from servers.fake_server import Answer, completion, events, piece, serving

pytest.importorskip("openai")

ASK = ("--method", "llm", "--llm", "vllm/m")
USAGE = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}


def oslo(seen):
    if not seen.body.get("stream"):
        return Answer(completion("It is\nOslo \x1b[31m."))
    said = [piece("It is\nOs"), piece("lo \x1b[31m."), piece(None, "stop")]
    return events(*said, {**piece(None), "choices": [], "usage": USAGE})


@pytest.fixture
def server(monkeypatch):
    with serving(by=oslo) as (fake, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        yield fake.seen


def test_a_reply_is_written_to_stderr_and_the_answer_stays_the_same(run, films, server):
    plain, streamed = (
        run("ask", films, "Capital?", *ASK, "--json", "--quiet", *words) for words in ((), ("--stream",))
    )
    assert [request.body.get("stream", False) for request in server] == [False, True]
    assert (plain.stderr, streamed.stderr) == ("", "It is\nOslo \\x1b[31m.\n")
    first, second = (
        {k: v for k, v in json.loads(result.stdout).items() if k != "timings_ms"}
        for result in (plain, streamed)
    )
    assert first == second
    assert first["usage"] == {"calls": 1, "input_tokens": 5, "output_tokens": 2}


def test_each_reply_begins_a_line(run, films, server):
    words = ("--method", "llm-qd", "--llm", "vllm/m", "--stream", "--quiet")
    result = run("ask", films, "Who directed Memento?", *words)
    assert result.stderr == "It is\nOslo \\x1b[31m.\n" * len(server)
    assert len(server) > 1


def test_a_cached_reply_is_not_said_again(run, films, tmp_path, server):
    words = ("ask", films, "Capital?", *ASK, "--stream", "--quiet", "--cache", tmp_path / "c.sqlite")
    assert [run(*words).stderr != "" for _ in range(2)] == [True, False]
    assert len(server) == 1


def test_a_claim_is_streamed_too(run, films, server):
    words = ("--method", "simgrag", "--llm", "vllm/m", "--stream", "--quiet")
    assert "It is\nOslo" in run("verify", films, "Oslo is big.", *words).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ask", "Capital?", "--stream"), "--stream: for a chat model"),
        (("verify", "Oslo is big.", "--stream"), "--stream: for a chat model"),
        (("ask", "--questions", "q.jsonl", *ASK, "--stream"), "--stream is for a single question"),
        (("verify", "--claims", "q.jsonl", *ASK[2:], "--stream"), "--stream is for a single claim"),
    ],
)
@pytest.mark.usefixtures("server")
def test_wrong_use_of_stream_is_exit_code_2(run, films, words, message):
    result = run(words[0], films, *words[1:])
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr
