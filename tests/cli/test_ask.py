"""One question: what is printed where, and the exit code."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from clew.cli.answer_view import paths_of, print_answer
from clew.methods.registry import METHODS
from clew.types import Answer, AnswerEntity, TripleText


def test_answers_and_evidence_are_on_stdout(run, index):
    result = run("ask", index, "around Memento")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0] == "Christopher Nolan · 2000    (2 answers, 4 ms)"
    assert lines[1] == "  Memento ─directed_by→ Christopher Nolan   [1]"
    assert lines[2] == "  Memento ─year→ 2000                       [2]"
    assert result.stderr == ""


def test_abstaining_exits_with_3_and_names_candidates(run, index):
    result = run("ask", index, "who knows")
    assert result.exit_code == 3
    assert result.stdout.splitlines() == [
        "The graph has no knows.   (abstained: no_entity)",
        "  Did you mean: Memento?",
    ]


@pytest.mark.parametrize(("question", "code"), [("around Memento", 0), ("who knows", 3)])
def test_json_is_one_line_of_the_stable_form(run, index, question, code):
    result = run("ask", index, question, "--json")
    assert result.exit_code == code
    answer = json.loads(result.stdout)
    assert result.stdout.count("\n") == 1
    assert set(answer) == {
        *("id", "question", "answers", "text", "abstained", "citations", "pattern", "method", "model"),
        *("grounded", "complete", "usage", "timings_ms", "chain", "query", "confidence", "notes"),
        *("reading", "alternatives", "total", "account", "rows", "thread"),
    }


def test_steps_are_in_the_json_only_if_explained(run, index):
    answer = json.loads(run("ask", index, "around Memento", "--json", "--explain").stdout)
    assert [step["name"] for step in answer["steps"]] == ["link", "match"]


def test_explain_shows_mentions_with_candidates(run, index):
    lines = run("ask", index, "around Memento", "--explain").stdout.splitlines()
    assert lines[3:] == [
        "link", "  Memento  Memento  exact  score 1", "match", "  matches: 2", "  complete: yes",
    ]  # fmt: skip


def test_long_lists_are_counted_not_cut_silently(run, index):
    text = run("ask", index, "around hub").stdout
    assert "thing 059 … and 40 more; --json prints all" in text
    assert "… and 90 more citations; --json prints all" in text
    assert text.count("─has→") == 10


def test_answers_beyond_the_limit_are_counted_from_those_that_are_shown():
    console, names = Console(record=True, width=200), [f"thing {number}" for number in range(5)]
    answers = tuple(AnswerEntity(name, name, 1.0) for name in names)
    answer = Answer("What has hub?", answers, text=" · ".join(names), total=100)
    print_answer(console, answer, "--reading N")
    text = " ".join(console.export_text().split())
    assert "thing 4 … and 95 more; --json prints the first 5; --limit lists more" in text


def test_json_has_all_answers_and_citations(run, index):
    answer = json.loads(run("ask", index, "around hub", "--json").stdout)
    assert len(answer["answers"]) == len(answer["citations"]) == 100


def test_a_plain_file_is_indexed_once_and_says_so(run, films):
    first, second = (run("ask", films, "around Memento") for _ in range(2))
    assert first.stderr.startswith("indexed films.tsv once into ")
    assert second.stderr == ""
    assert first.stdout == second.stdout


def test_side_files_that_were_used_are_named(run, films):
    films.with_name("films.types.tsv").write_text("Memento\tfilm\n")
    assert "indexed films.tsv with films.types.tsv once into " in run("ask", films, "around Memento").stderr


def test_quiet_says_nothing_beside_the_answer(run, films):
    assert run("ask", films, "around Memento", "--quiet").stderr == ""


def test_entities_may_be_given(run, index):
    assert "Michael Mann" in run("ask", index, "around what", "--entities", "Heat").stdout


def test_names_that_look_like_options_work_after_two_dashes(run, index):
    result = run("ask", index, "--", "around --help")
    assert result.exit_code == 0


def test_control_characters_of_a_graph_do_not_reach_the_terminal(run, index):
    text = run("ask", index, "--", "around --help").stdout
    assert "\x1b" not in text
    assert r"an \x1b[31mentity" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((" \t\x00",), "The question is empty"),
        (("word " * 301,), "301 words"),
        (("x" * 10_001,), "10,001 characters"),
        ((), "No question given"),
        (("q", "--method", "nothing"), "no method 'nothing'"),
        (("q", "--out", "file"), "--out is for --questions"),
        (("q", "--questions", "file"), "Leave out QUESTION"),
        (("q", "--bogus"), "No such option"),
        (("q", "--embedder", "bogus"), "no embedder 'bogus'"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_what_to_do(run, index, arguments, message):
    result = run("ask", index, *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert message in result.stderr


def test_control_characters_in_a_question_are_spaces(run, index):
    result = run("ask", index, "around\x1b\x00Memento\x07", "--json")
    assert json.loads(result.stdout)["question"] == "around Memento"


def test_a_bug_is_one_line_without_a_trace(run, index):
    result = run("ask", index, "broken thing")
    assert result.exit_code == 1
    assert result.stderr == (
        "error: internal error: TypeError: a bug; please report it. `clew --debug …` shows the trace\n"
    )


def test_debug_shows_the_trace_of_a_bug(run, index):
    assert "Traceback" in run("--debug", "ask", index, "broken thing").stderr


def test_no_colour_when_piped(process, index):
    out, err = process("ask", index, "around Memento").communicate(timeout=20)
    assert "Christopher Nolan" in out
    assert "\x1b" not in out + err


def test_ctrl_c_while_a_question_is_answered(process, index, interrupt):
    running = process("ask", index, "slow Memento")
    interrupt(running)
    out, err = running.communicate(timeout=20)
    assert (running.returncode, out) == (130, "")
    assert err == "interrupted; everything is as it was\n"


def test_an_encoding_without_dots_gets_escapes(process, index, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    out, err = process("ask", index, "around Memento").communicate(timeout=20)
    assert r"Christopher Nolan \xb7 2000" in out
    assert err == ""


def test_json_is_valid_in_any_encoding(process, films, monkeypatch):
    films.write_text("Amélie\tdirected_by\tJean-Pierre Jeunet\nAmélie\tyear\t2001\n")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    out, _ = process("ask", films, "around Amélie", "--json", "--quiet").communicate(timeout=20)
    assert json.loads(out)["citations"][0]["triples"] == [["Amélie", "directed_by", "Jean-Pierre Jeunet"]]


def test_colour_on_a_terminal_unless_no_color(process, index, monkeypatch):
    import os
    import pty

    def seen():
        ours, theirs = pty.openpty()
        running = process("ask", index, "around Memento", stdout=theirs, stderr=subprocess.DEVNULL)
        os.close(theirs)
        assert running.wait(20) == 0
        text = os.read(ours, 65536).decode()
        os.close(ours)
        return text

    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[1mChristopher Nolan" in seen()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[36m" not in seen()


def test_help_shows_the_options_of_a_first_day_and_all_when_asked(run):
    short, whole = run("ask", "--help").stdout, run("ask", "--help-all").stdout
    assert "--explain" in short
    assert "--budget" not in short
    assert "more options, of models, methods and files: --help-all" in short
    assert short.count("\n  -") == 10
    for title in ("Options of the chat model", "Other options", "Options of graph files"):
        assert title in whole
        assert title not in short
    assert "--budget" in whole
    assert whole.count("\n  -") <= 30
    assert "more options" not in whole


def test_answers_are_written_as_csv(run, index):
    result = run("ask", index, "around Memento", "--as", "csv")
    assert result.stdout.splitlines()[0] == "entity,label,score"
    assert result.stdout.splitlines()[1].startswith("Christopher Nolan,Christopher Nolan,")
    result = run("ask", index, "--questions", "-", "--as", "csv", input="")
    assert result.exit_code == 2
    assert "--as is for a single question" in result.stderr


def test_an_abstention_names_other_readings_and_one_is_answered_by_its_number(run, monkeypatch):
    monkeypatch.setitem(
        METHODS, "auto", replace(METHODS["auto"], factory="clew.methods.auto.method:make_auto")
    )
    question, index = "who made it best in Memento or Heat", Path(__file__).parents[2] / "examples/films.tsv"
    surely = ("--set", "confidence=1")
    told = json.loads(run("ask", index, question, *surely, "--json").stdout)
    assert told["abstained"] is not None
    first = told["alternatives"][0]["reading"]
    assert f"1. {first}" in run("ask", index, question, *surely).stdout
    chosen = json.loads(run("ask", index, question, *surely, "--reading", "1", "--json").stdout)
    assert chosen["reading"] == first
    refused = run("ask", index, question, *surely, "--reading", "9")
    assert (refused.exit_code, "There is no reading 9" in refused.stderr) == (2, True)
    refused = run("ask", index, "--questions", "-", "--reading", "1", input="")
    assert (refused.exit_code, "--reading is for a single question" in refused.stderr) == (2, True)


def draw(triples, answer):
    texts = [TripleText(*t.split()) for t in triples]
    return [path.plain.strip() for path in paths_of(texts, answer)]


@pytest.mark.parametrize(
    ("triples", "answer", "paths"),
    [
        (["A r B"], "B", ["A ─r→ B"]),
        (["A r B"], "A", ["B ←r─ A"]),
        (["A r B", "C r B"], "C", ["A ─r→ B ←r─ C"]),
        (["C r B", "A r B"], "C", ["A ─r→ B ←r─ C"]),
        (["A r X", "B s X"], "X", ["A ─r→ X", "B ─s→ X"]),
        (["X r A", "X s Y", "Y t B"], "X", ["A ←r─ X", "B ←t─ Y ←s─ X"]),
        (["A r Y", "B r Y", "Y s X"], "X", ["A ─r→ Y ─s→ X", "B ─r→ Y"]),
        (["A r B", "A s B"], "B", ["A ─r→ B", "A ─s→ B"]),
        (["A r A"], "A", ["A ─r→ A"]),
        (["A r B", "C s D"], "7", ["A ─r→ B", "C ─s→ D"]),
        (["A r B", "B r C", "C r A"], "C", ["A ←r─ C", "A ─r→ B ─r→ C"]),
        ([], "A", []),
    ],
)
def test_paths(triples, answer, paths):
    assert draw(triples, answer) == paths


node = st.sampled_from("ABCDX")


@settings(max_examples=200)
@given(st.lists(st.tuples(node, st.sampled_from("rs"), node), max_size=6), node)
def test_every_triple_is_drawn_once_in_its_direction(triples, answer):
    found = []
    for path in paths_of([TripleText(*t) for t in triples], answer):
        nodes, arrows = path.plain.split()[::2], path.plain.split()[1::2]
        for at, arrow, end in zip(nodes[:-1], arrows, nodes[1:], strict=True):
            found.append((at, arrow[1], end) if arrow.endswith("→") else (end, arrow[1], at))
    assert sorted(found) == sorted(triples)
