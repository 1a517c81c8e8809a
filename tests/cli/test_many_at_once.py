"""Files of questions and claims asked of a model: some at a time, going on after one that fails."""

import json
import threading
import time

import pytest

from servers.fake_server import Answer, completion, serving

pytest.importorskip("openai")

LLM = ("--method", "llm", "--llm", "vllm/m", "--quiet")


class Model:
    """A server that waits `seconds` before each reply and counts who waits; what is asked of *bad* fails."""

    def __init__(self):
        self.seconds = 0.15
        self.waiting = self.most = 0
        self.lock = threading.Lock()
        self.broken = True

    def __call__(self, seen):
        question = seen.body["messages"][-1]["content"]
        with self.lock:
            self.waiting += 1
            self.most = max(self.most, self.waiting)
        time.sleep(self.seconds)
        with self.lock:
            self.waiting -= 1
        if "bad" in question and self.broken:
            return Answer({"error": {"message": "no such luck"}}, status=400)
        return Answer(completion("Oslo"))


@pytest.fixture
def model(monkeypatch):
    model = Model()
    with serving(by=model) as (_, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        yield model


@pytest.fixture
def asked(write_lines):
    ids = ("a", "bad", "c", "d", "e", "f")
    return write_lines("q.jsonl", *({"id": id, "question": f"Capital {id}?"} for id in ids))


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(("at_once", "most"), [((), 6), (("--concurrency", "2"), 2)])
def test_so_many_are_asked_at_a_time_and_answered_in_their_order(run, films, model, asked, at_once, most):
    model.broken = False
    result = run("ask", films, "--questions", asked, *LLM, *at_once)
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["a", "bad", "c", "d", "e", "f"]
    assert model.most == most
    assert result.exit_code == 0


def test_one_that_fails_says_why_and_is_asked_again(run, films, model, asked, tmp_path):
    model.seconds, out = 0.0, tmp_path / "out.jsonl"
    result = run("ask", films, "--questions", asked, "--out", out, *LLM)
    assert result.exit_code == 1
    assert "1 question of 6 failed, the first with id 'bad'" in result.stderr
    failed = [line for line in lines(out) if "failure" in line]
    assert [line["id"] for line in failed] == ["bad"]
    assert failed[0]["failure"]["type"] == "ModelRefused"
    assert "no such luck" in failed[0]["failure"]["message"]
    assert [line["text"] for line in lines(out) if "failure" not in line] == ["Oslo"] * 5
    model.broken = False
    again = run("ask", films, "--questions", asked, "--out", out, *LLM)
    assert again.exit_code == 0
    assert [line["id"] for line in lines(out)] == ["a", "bad", "c", "d", "e", "f", "bad"]
    assert lines(out)[-1]["text"] == "Oslo"


def test_a_reply_may_take_so_long(run, films, model, asked):
    model.seconds = 0.6
    result = run("ask", films, "Capital a?", *LLM, "--timeout", "0.1")
    assert result.exit_code == 1
    assert "did not answer within 0.1 s" in result.stderr


def test_claims_go_on_too(run, films, model, write_lines):
    model.seconds = 0.0
    claims = write_lines(
        "c.jsonl", {"id": "1", "claim": "Oslo is bad at it."}, {"id": "2", "claim": "Oslo is big."}
    )
    result = run("verify", films, "--claims", claims, "--method", "simgrag", *LLM[2:])
    bad, good = map(json.loads, result.stdout.splitlines())
    assert (result.exit_code, bad["failure"]["type"], good["verdict"]) == (
        1,
        "ModelRefused",
        "not_enough_info",
    )


def test_what_is_wrong_with_the_method_is_no_fault_of_a_question(run, films, asked):
    result = run("ask", films, "--questions", asked, "--method", "simgrag")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "needs a chat model" in result.stderr


def test_a_refused_key_ends_the_run_with_one_message(run, films, asked, monkeypatch):
    with serving(Answer({"error": {"message": "no"}}, status=401)) as (_, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        result = run("ask", films, "--questions", asked, *LLM)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith("may use this model. This is the question with id 'a'\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--questions", "q.jsonl", "--concurrency", "3"), "--concurrency: for a chat model"),
        (("Capital?", "--timeout", "3"), "--timeout: for a chat model"),
        (("Capital?", *LLM, "--concurrency", "3"), "--concurrency is for --questions"),
    ],
)
def test_options_that_would_do_nothing(run, films, asked, words, message):
    result = run("ask", films, *words)
    assert (result.exit_code, message in result.stderr) == (2, True)


def test_ctrl_c_abandons_what_waits_and_keeps_what_is_done(
    process, films, write_lines, tmp_path, monkeypatch, interrupt
):
    held = threading.Event()

    def reply(seen):
        if "late" in seen.body["messages"][-1]["content"]:
            (tmp_path / "at-work").touch()
            held.wait(90)
        return Answer(completion("Oslo"))

    asked = write_lines("q.jsonl", *({"id": id, "question": f"Capital {id}?"} for id in ("late", "b", "c")))
    out = tmp_path / "out.jsonl"
    with serving(by=reply) as (fake, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        running = process("ask", films, "--questions", asked, "--out", out, *LLM)
        deadline = time.monotonic() + 60
        while len(fake.seen) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(2)  # for the two replies to be read
        began = time.monotonic()
        interrupt(running)
        _, err = running.communicate(timeout=60)
        took = time.monotonic() - began
        held.set()
    assert running.returncode == 130
    assert took < 30  # the late reply would take 90
    assert "interrupted: 2 of 3 answered now; the same command goes on from here" in err
    assert sorted(line["id"] for line in lines(out)) == ["b", "c"]
