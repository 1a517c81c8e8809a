"""Many questions: one JSON line each, resumable, nothing lost."""

import json

import pytest


@pytest.fixture
def three(write_lines):
    return write_lines(
        "questions.jsonl",
        {"id": "a", "question": "around Memento"},
        {"question": "who knows"},
        {"id": 7, "question": "around it", "entities": ["Heat"]},
    )


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_one_line_each_in_their_order_on_stdout(run, index, three):
    result = run("ask", index, "--questions", three)
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert [a["id"] for a in answers] == ["a", "2", "7"]
    assert [bool(a["abstained"]) for a in answers] == [False, True, False]
    assert answers[2]["answers"][0]["entity"] == "Michael Mann"


def test_questions_from_stdin(run, index, three):
    result = run("ask", index, "--questions", "-", input=three.read_text())
    assert len(result.stdout.splitlines()) == 3


def test_answers_go_to_the_file(run, index, three, tmp_path):
    result = run("ask", index, "--questions", three, "--out", tmp_path / "out.jsonl")
    assert (result.exit_code, result.stdout) == (0, "")
    assert [a["id"] for a in read(tmp_path / "out.jsonl")] == ["a", "2", "7"]
    assert "3 questions answered now (2 with an answer, 1 abstained)" in result.stderr


def test_what_is_answered_is_not_asked_again(run, index, three, tmp_path):
    out = tmp_path / "out.jsonl"
    run("ask", index, "--questions", three, "--out", out)
    before = out.read_text()
    marked = before.replace('"total": 4.2', '"total": 99')
    out.write_text(marked)
    result = run("ask", index, "--questions", three, "--out", out)
    assert out.read_text() == marked
    assert "3 of 3 questions are answered already" in result.stderr


@pytest.mark.parametrize("cut", [1, 400])
def test_a_torn_last_line_is_done_again(run, index, three, tmp_path, cut):
    out = tmp_path / "out.jsonl"
    run("ask", index, "--questions", three, "--out", out)
    whole = out.read_text()
    out.write_text(whole[:-cut])
    run("ask", index, "--questions", three, "--out", out)
    assert out.read_text() == whole


def test_ctrl_c_leaves_a_file_that_is_resumed(process, run, index, write_lines, tmp_path, interrupt):
    lines = [{"id": str(i), "question": "around hub"} for i in range(5)] + [{"question": "slow Memento"}]
    questions, out = write_lines("questions.jsonl", *lines), tmp_path / "out.jsonl"
    running = process("ask", index, "--questions", questions, "--out", out)
    interrupt(running)
    _, err = running.communicate(timeout=20)
    assert running.returncode == 130
    assert err == "interrupted: 5 of 6 answered now; the same command goes on from here\n"
    assert len(read(out)) == 5
    assert run("ask", index, "--questions", questions, "--out", out).exit_code == 0
    assert [a["id"] for a in read(out)] == ["0", "1", "2", "3", "4", "6"]


def test_ctrl_c_without_a_file_says_how_to_be_resumable(process, index, write_lines, interrupt):
    running = process("ask", index, "--questions", write_lines("q.jsonl", {"question": "slow Memento"}))
    interrupt(running)
    _, err = running.communicate(timeout=20)
    assert running.returncode == 130
    assert err == "interrupted: 0 of 1 answered now; use --out FILE to be able to go on later\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "questions.jsonl:2: not JSON"),
        ("[1]", "questions.jsonl:2: not a JSON object"),
        ('{"id": "x"}', "questions.jsonl:2: field 'question' is missing"),
        ('{"question": 1}', "questions.jsonl:2: field 'question' is missing"),
        ('{"question": " "}', "questions.jsonl:2: The question is empty"),
        ('{"question": "q", "entities": "Heat"}', "questions.jsonl:2: field 'entities'"),
        ('{"question": "q", "entities": [1]}', "questions.jsonl:2: field 'entities'"),
        ('{"question": "q", "id": 1.5}', "questions.jsonl:2: field 'id'"),
        ('{"question": "q", "id": "a"}', "questions.jsonl:2: id 'a' is that of line 1 too"),
        (
            '{"question": "q", "id": "3"}\n{"question": "q"}',
            "questions.jsonl:3: id '3' is that of line 2 too",
        ),
        ("[" * 100_000, "questions.jsonl:2: not JSON"),
    ],
)
def test_a_malformed_line_is_named_before_anything_is_asked(run, index, tmp_path, line, message):
    (tmp_path / "questions.jsonl").write_text('{"id": "a", "question": "broken"}\n' + line + "\n")
    result = run("ask", index, "--questions", "questions.jsonl", "--out", "out.jsonl")
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_bytes_that_are_no_text_are_named(run, index, tmp_path):
    (tmp_path / "q.jsonl").write_bytes(
        b'\xef\xbb\xbf{"question": "around Memento"}\r\n\r\n{"question": "\xff"}'
    )
    assert "q.jsonl:3: not UTF-8" in run("ask", index, "--questions", "q.jsonl").stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no JSON\n", "out.jsonl:1: not JSON"),
        ('{"id": "a"}\n', "out.jsonl:1: not an answer of Clew"),
        ('{"id": "a", "question": "other", "answers": [], "method": "auto"}\n', "out.jsonl:1: id 'a' holds"),
        ('{"id": "a", "question": "around Memento", "answers": [], "method": "m"}\n', "of another method"),
    ],
)
def test_a_file_of_something_else_is_refused_and_kept(run, index, three, tmp_path, content, message):
    out = tmp_path / "out.jsonl"
    out.write_text(content)
    result = run("ask", index, "--questions", three, "--out", out)
    assert result.exit_code == 2
    assert message in result.stderr
    assert out.read_text() == content


def test_a_file_without_line_ends_is_not_cut_to_nothing(run, index, three, tmp_path):
    (tmp_path / "notes.txt").write_text("my only copy")
    result = run("ask", index, "--questions", three, "--out", tmp_path / "notes.txt")
    assert result.exit_code == 2
    assert (tmp_path / "notes.txt").read_text() == "my only copy"


def test_the_questions_are_not_overwritten(run, index, three):
    before = three.read_text()
    result = run("ask", index, "--questions", three, "--out", three)
    assert result.exit_code == 2
    assert three.read_text() == before


@pytest.mark.parametrize(
    ("questions", "out"), [("none.jsonl", "o"), (".", "o"), ("q.jsonl", "no/such/folder")]
)
def test_files_that_cannot_be_opened(run, index, tmp_path, questions, out):
    (tmp_path / "q.jsonl").write_text('{"question": "around Memento"}\n')
    result = run("ask", index, "--questions", questions, "--out", out)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")


def test_no_questions(run, index, tmp_path):
    (tmp_path / "q.jsonl").write_text("\n")
    assert run("ask", index, "--questions", "q.jsonl").exit_code == 2


def test_two_runs_do_not_write_to_one_file(run, index, three, tmp_path):
    from clew.cli.batch import answers_file

    with answers_file(tmp_path / "out.jsonl"):
        result = run("ask", index, "--questions", three, "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 1
    assert "another process" in result.stderr
