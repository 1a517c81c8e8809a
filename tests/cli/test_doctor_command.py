"""`clew doctor`: a line a check on stdout, and the exit code."""

import json
import socket

import pytest

from servers.fake_server import Answer, completion, serving

pytest.importorskip("openai")

MODELS = {"object": "list", "data": [{"id": "m", "object": "model", "created": 0, "owned_by": "x"}]}


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)


def healthy(seen):
    """What a server says that is well; streams it does not know."""
    if seen.path.endswith("/models"):
        return Answer(MODELS)
    if "response_format" in seen.body:
        return Answer(completion('{"colour": "red", "count": 3}'))
    if seen.body.get("stream"):
        return Answer(
            b'data: {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": '
            b'[{"index": 0, "delta": {"content": "yes"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n',
            headers={"content-type": "text/event-stream"},
        )
    return Answer(completion("yes"))


def test_a_line_a_check_and_exit_code_0(run, monkeypatch):
    with serving(by=healthy) as (_, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        result = run("doctor", "--llm", "vllm/m")
    assert result.exit_code == 0, result.output
    lines = [line.split(maxsplit=1) for line in result.stdout.splitlines()]
    names = ("settings", "files", "provider", "chat", "model", "streaming", "structured output", "prices")
    assert [state for state, _ in lines] == ["ok"] * 7 + ["warning"]  # no price: costs are not reported
    assert all(rest.startswith(name) for (_, rest), name in zip(lines, names, strict=True))
    assert result.stderr == ""


def test_a_server_that_does_not_run_is_a_failure_with_advice(run, monkeypatch):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{held.getsockname()[1]}/v1")
        result = run("doctor", "--llm", "vllm/m", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert (found["model"], found["ok"]) == ("vllm/m", False)
    (failed,) = [check for check in found["checks"] if check["state"] == "failed"]
    assert failed["name"] == "chat"
    assert "Check that the server runs" in failed["detail"]


def test_a_missing_key_is_a_failed_check(run):
    result = run("doctor", "--llm", "openai/m")
    assert result.exit_code == 1
    assert result.stdout.startswith("failed   settings ")
    assert "Set OPENAI_API_KEY" in result.stdout


def test_what_the_server_says_cannot_drive_the_terminal(run, monkeypatch):
    with serving(Answer({"error": {"message": "\x1b[2Jno"}}, 401)) as (_, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        result = run("doctor", "--llm", "vllm/m")
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize("words", [(), ("--llm", "m"), ("--nonsense",)])
def test_wrong_usage(run, words):
    result = run("doctor", *words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
