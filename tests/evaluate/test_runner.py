"""Runs: the same records each time, whatever happened on the way."""

import json
import os
import signal
import time
import tomllib

import pytest
from run_files import metric, records, untimed

from clew.evaluate.run.rundir import CONFIG, RECORDS, RunDirectory


def test_a_run_writes_records_configuration_and_metrics(run, plain, tmp_path):
    result = run("eval", plain, "--method", "knows", "--out", tmp_path / "r")
    assert result.exit_code == 0, result.stderr
    made = records(tmp_path / "r")
    assert list(made) == [("knows", i) for i in "abcde"]
    assert made["knows", "a"]["answer"]["answers"][0]["entity"] == "Christopher Nolan"
    assert made["knows", "c"]["gold_in_graph"] == 2
    assert made["knows", "b"]["query"] == "SELECT ?x"
    config = tomllib.loads((tmp_path / "r" / CONFIG).read_text())
    assert config["methods"] == [{"label": "knows", "method": "knows"}]
    assert len(config["parts"][0]["files"][0]["sha256"]) == 64
    # a, b, c right, d rightly abstained from, e is not in the graph
    assert metric(tmp_path / "r", "hits_at_1") == 0.8
    assert metric(tmp_path / "r", "recall") == pytest.approx((1 + 1 + 2 / 3 + 1) / 5, abs=1e-4)
    assert metric(tmp_path / "r", "abstention_precision") == 1.0
    assert metric(tmp_path / "r", "citation_recall") == 1.0


def test_json_has_the_figures_of_the_table(run, plain, tmp_path):
    told = json.loads(run("eval", plain, "--method", "knows", "--out", tmp_path / "r", "--json").stdout)
    (cell,) = told["cells"]
    assert (cell["part"], cell["method"], cell["questions"]) == ("plain/films", "knows", 5)
    assert cell["metrics"]["hits_at_1"]["value"] == 0.8
    assert told["problems"]["plain/films"]["gold_missing"] == 1
    made = json.loads(
        run("eval", tmp_path / "r", "--report", tmp_path / "r" / "report.html", "--json").stdout
    )
    assert made == {"page": str(tmp_path / "r" / "report.html"), "folder": str(tmp_path / "r" / "report")}


def test_a_graph_alone_is_no_data_set(run, plain):
    assert "a graph alone. Give a file of questions too" in run("eval", plain / "graph.tsv").stderr


def test_a_directory_that_is_not_there(run):
    result = run("eval", "absent")
    assert (result.exit_code, "absent: no such directory" in result.stderr) == (2, True)


def test_problems_of_questions_are_told_and_kept(run, plain, tmp_path):
    result = run("eval", plain, "--method", "knows", "--out", tmp_path / "r")
    assert "1 question without a gold answer" in result.stderr
    assert "1 question with gold that the graph lacks, in the score all the same" in result.stderr
    assert "1 question with gold that the graph has only in part" in result.stderr
    assert "1 question about an entity that the graph lacks" in result.stderr
    facts = RunDirectory(tmp_path / "r").facts()["parts"]["plain/films"]
    assert facts["problem_ids"]["gold_missing"] == ["e"]


def test_a_gold_path_by_a_relation_that_the_graph_lacks_is_told(run, plain, tmp_path):
    path = plain / "questions.jsonl"
    question = {"id": "p", "question": "knows Memento", "gold": ["Christopher Nolan"]}
    wrong = json.dumps(question | {"paths": [["Memento", "directed_by", "Christopher Nolan"]]})
    path.write_text(path.read_text() + wrong + "\n")
    result = run("eval", plain, "--method", "knows", "--out", tmp_path / "r")
    assert "1 question with a gold path by a relation that the graph lacks" in result.stderr
    assert RunDirectory(tmp_path / "r").facts()["parts"]["plain/films"]["problem_ids"]["path_missing"] == [
        "p"
    ]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ({"gold": []}, {"verdict": "refuted"}, ":2: a claim among questions"),
        ({"verdict": "refuted"}, {"gold": []}, ":2: a question among claims"),
    ],
)
def test_questions_and_claims_in_one_file_are_an_error_at_the_first_that_differs(
    run, plain, first, second, message
):
    lines = [json.dumps({"question": "x?", "id": n} | kind) for n, kind in enumerate((first, second))]
    (plain / "questions.jsonl").write_text("\n".join(lines))
    result = run("eval", plain, "--method", "knows", "--out", plain / "r")
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


def test_processes_write_what_one_process_writes(run, plain, tmp_path, process):
    run("eval", plain, "--method", "knows", "--out", tmp_path / "one")
    other = process("eval", plain, "--method", "knows", "--workers", 2, "--out", tmp_path / "two")
    # workers import the stand-ins by their name
    _, err = other.communicate(timeout=120)
    assert other.returncode == 0, err
    assert untimed(tmp_path / "one") == untimed(tmp_path / "two")


def test_what_is_answered_is_not_asked_again(run, plain, tmp_path):
    run("eval", plain, "--method", "knows", "--out", tmp_path / "r")
    path = tmp_path / "r" / RECORDS
    path.write_text(path.read_text().replace('"total": 4.0', '"total": 99.0'))
    before = path.read_text()
    result = run("eval", plain, "--method", "knows", "--out", tmp_path / "r")
    assert path.read_text() == before
    assert "5 questions were answered already, 0 asked now" in result.stderr


@pytest.mark.parametrize("cut", [1, 3000])
def test_a_torn_line_is_done_again(run, plain, tmp_path, cut):
    run("eval", plain, "--method", "knows", "--out", tmp_path / "r")
    path = tmp_path / "r" / RECORDS
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert run("eval", plain, "--method", "knows", "--out", tmp_path / "r").exit_code == 0
    assert path.read_bytes() == whole


def test_killed_at_random_and_resumed_the_records_are_the_same(run, plain, tmp_path, process):
    questions = [json.loads(line) for line in (plain / "questions.jsonl").read_text().splitlines()]
    many = [{**q, "id": f"{q['id']}{n}"} for n in range(5) for q in questions]
    (plain / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in many))
    run("eval", plain, "--method", "slow", "--out", tmp_path / "whole")
    broken = tmp_path / "broken"
    for wait in (3, 14):
        running = process("eval", plain, "--method", "slow", "--workers", 1, "--out", broken)
        deadline = time.monotonic() + 60
        while not (broken / RECORDS).exists() or (broken / RECORDS).read_bytes().count(b"\n") < wait:
            assert time.monotonic() < deadline
            assert running.poll() is None, running.stderr.read()
            time.sleep(0.002)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    resumed = run("eval", plain, "--method", "slow", "--out", broken)
    assert resumed.exit_code == 0, resumed.stderr
    assert untimed(broken) == untimed(tmp_path / "whole")
    assert len(untimed(broken)) == 25


def test_a_worker_ends_with_its_parent(plain, tmp_path, process):
    running = process("eval", plain, "--method", "slow", "--workers", 2, "--out", tmp_path / "r", SLOW="30")
    deadline = time.monotonic() + 60
    while len(workers := children(running.pid)) < 2:  # a worker and the tracker of resources
        assert time.monotonic() < deadline
        assert running.poll() is None, running.stderr.read()
        time.sleep(0.05)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    while any(alive(pid) for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        pytest.skip("needs /proc/PID/task/PID/children")


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_another_configuration_is_refused_with_the_difference(run, plain, tmp_path):
    run("eval", plain, "--method", "knows", "--out", tmp_path / "r")
    result = run("eval", plain, "--method", "knows", "--limit", 3, "--out", tmp_path / "r")
    assert result.exit_code == 2
    assert "holds a run of another configuration" in result.stderr
    assert "run.limit: nothing there, 3 now" in result.stderr


def test_changed_questions_are_another_configuration(run, plain, tmp_path):
    run("eval", plain, "--method", "knows", "--out", tmp_path / "r")
    (plain / "questions.jsonl").write_text((plain / "questions.jsonl").read_text().replace("M. Mann", "Mike"))
    result = run("eval", plain, "--method", "knows", "--out", tmp_path / "r")
    assert "parts[0].files[0].sha256" in result.stderr


def test_a_moved_data_set_is_the_same_configuration(run, plain, tmp_path):
    run("eval", plain, "--method", "knows", "--out", tmp_path / "r")
    moved = plain.rename(tmp_path / "elsewhere")
    moved = moved.rename(tmp_path / "deep").rename(tmp_path / "films")
    assert run("eval", moved, "--method", "knows", "--out", tmp_path / "r").exit_code == 0


def test_two_processes_do_not_share_a_run(run, plain, tmp_path):
    with RunDirectory(tmp_path / "r").locked():
        result = run("eval", plain, "--method", "knows", "--out", tmp_path / "r")
    assert result.exit_code == 1
    assert "another process runs here" in result.stderr


def test_a_bug_in_a_method_fails_its_question_and_is_counted_and_asked_again(run, plain, tmp_path):
    result = run("eval", plain, "--method", "broken", "--out", tmp_path / "r", "--quiet")
    assert result.exit_code == 1, result.stderr
    assert "3 questions ended in an error, the first with id 'a': " in result.stderr
    assert "a bug (stand_in_methods.py:" in result.stderr
    failed = records(tmp_path / "r")["broken", "a"]
    assert failed["answer"] is None
    assert failed["failure"]["type"] == "TypeError"
    assert "a bug (stand_in_methods.py:" in failed["failure"]["message"]
    again = run("eval", plain, "--method", "broken", "--out", tmp_path / "r")
    assert "2 questions were answered already, 3 asked now" in again.stderr
    assert metric(tmp_path / "r", "failures", "broken") == 3


def test_seeds_sample_and_are_averaged(run, plain, tmp_path):
    run("eval", plain, "--method", "knows", "--limit", 3, "--seed", "0,1,2,3", "--out", tmp_path / "r")
    rows = [line.split(",") for line in (tmp_path / "r" / "metrics.csv").read_text().splitlines()]
    hits = next(r for r in rows if r[2] == "hits_at_1")
    assert hits[6], hits[7]
    samples = RunDirectory(tmp_path / "r").facts()["parts"]["plain/films"]["samples"]
    assert {len(ids) for ids in samples.values()} == {3}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--method", "bogus"], "There is no method 'bogus'"),
        (["--dataset", "bogus"], "There is no data set 'bogus'"),
        (["--split", "dev"], "plain has no splits"),
        (["--seed", "x"], "not numbers"),
        (["--data", "plain=x"], "--data is for experiments"),
        (["--method", ","], "No method given"),
        (["--graph", "absent.tsv"], "absent.tsv: no such file"),
        (["--bert", "bogus"], "Write --bert onnx:PATH"),
    ],
)
def test_wrong_options(run, plain, args, message):
    result = run("eval", plain, *(["--method", "knows"] if "--method" not in args else []), *args)
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


def test_a_claim_that_is_refused_leaves_the_others_verified(run, plain, tmp_path):
    claims = [("long " * 301, "refuted"), ("Christopher Nolan directed Memento.", "supported")]
    lines = [json.dumps({"question": text, "verdict": verdict}) for text, verdict in claims]
    (plain / "questions.jsonl").write_text("\n".join(lines) + "\n")
    assert run("eval", plain, "--method", "auto", "--out", tmp_path / "r").exit_code == 1
    refused, verified = records(tmp_path / "r").values()
    assert refused["failure"]["type"] == "UsageError"
    assert verified["answer"]["verdict"] == "supported"


NODES = "id,name,type\nE1,Ann Lee,Employee\nE2,Bob Ray,Employee\nW1,Hamburg Depot,Warehouse\n"


EDGES = "source,target,relation\nE1,W1,manages\nE2,W1,works_at\n"


QUESTIONS = (
    {"id": "name", "question": "Who manages Hamburg Depot?", "gold": ["Ann Lee"]},
    {"id": "count", "question": "How many employees are there?", "gold": ["2"]},
    {"id": "yes", "question": "Does Ann Lee manage Hamburg Depot?", "gold": ["yes"]},
    {"id": "nothing", "question": "Who painted Hamburg Depot?", "gold": []},
)


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "staff.csv").write_text(NODES)
    (tmp_path / "posts.csv").write_text(EDGES)
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in QUESTIONS))
    return tmp_path


def scores(run, *targets):
    result = run("eval", *targets, "--method", "auto", "--json", "--out", targets[0].parent / "r")
    assert result.exit_code == 0, result.stderr
    (cell,) = json.loads(result.stdout)["cells"]
    return {name: figure["value"] for name, figure in cell["metrics"].items()}, result


def test_names_counts_and_yes_or_no_have_gold_in_two_tables(run, tables):
    files = (tables / "staff.csv", tables / "posts.csv", tables / "questions.jsonl")
    figures, result = scores(run, *files)
    assert "gold that the graph lacks" not in result.stderr
    assert (figures["accuracy"], figures["hallucination"]) == (1.0, 0.0)
    # The evidence names ids, the gold is a name: they are the same entity.
    assert figures["retrieval_hits"] > 0
    # One question has no answer; abstaining from the others would be no gain.
    assert figures["abstention_precision"] == figures["abstention_recall"] == 1.0


def test_a_directory_with_two_tables_is_a_data_set(run, tables, tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "r"
    result = run("eval", tables, "--method", "auto", "--json", "--out", out)
    assert result.exit_code == 0, result.stderr
    (cell,) = json.loads(result.stdout)["cells"]
    assert cell["metrics"]["accuracy"]["value"] == 1.0


def test_one_file_of_questions_is_needed(run, tables):
    result = run("eval", tables / "staff.csv", tables / "posts.csv")
    assert (result.exit_code, "One file of questions" in result.stderr) == (2, True)
