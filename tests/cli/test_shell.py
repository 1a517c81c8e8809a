"""`clew shell`: lines from a pipe, and a terminal with completion, history and Ctrl-C."""

import os
import stat
import subprocess
import sys
import time

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from stand_in import StandIn

from clew.cli.shell_commands import NameCompleter
from clew.engine import Clew

PROMPT, CTRL_C, CTRL_D, UP = "films>", "\x03", "\x04", "\x1b[A"


@pytest.fixture
def lines(run, index):
    """Run lines as from a pipe."""
    return lambda *given, options=(): run("shell", index, *options, input="\n".join(given))


def test_a_line_is_a_question(lines):
    result = lines("around Memento")
    assert result.stdout.splitlines()[:2] == [
        "Christopher Nolan · 2000    (2 answers, 4 ms)",
        "  Memento ─directed_by→ Christopher Nolan   [1]",
    ]
    assert (result.exit_code, result.stderr) == (0, "")


def test_lines_are_done_in_their_order_until_exit(lines):
    result = lines("around Heat", "# around hub", "", "around Memento", "exit", "around hub")
    assert [line.split("  ")[0] for line in result.stdout.splitlines() if "answer" in line] == [
        "Michael Mann",
        "Christopher Nolan · 2000",
    ]


def test_a_line_that_fails_is_told_and_the_others_go_on(lines):
    result = lines("wrong x", "broken x", "neighbours Xyzzy", "verify", "around Heat")
    assert result.exit_code == 1
    assert "Michael Mann" in result.stdout
    assert result.stderr.splitlines()[:2] == [
        "error: the question is wrong",
        "error: internal error: TypeError: a bug; please report it. `clew --debug …` shows the trace",
    ]
    assert 'error: The graph has no entity "Xyzzy"' in result.stderr
    assert "error: What? Write: verify CLAIM" in result.stderr


def test_an_abstention_is_no_failure(lines):
    result = lines("who knows")
    assert result.exit_code == 0
    assert result.stdout.startswith("The graph has no")


def test_neighbours_are_a_line_for_each_relation_and_direction(lines):
    assert lines("neighbours Christopher Nolan").stdout.splitlines() == [
        "Christopher Nolan   2 triples",
        "  ←directed_by─ Memento · Inception",
    ]
    assert lines('neighbours "hub"').stdout.splitlines()[1].endswith("thing 011 … and 88 more")


def test_search_lists_entities_with_typos(lines):
    assert lines("search Mementp").stdout == "Memento   2 triples\n"
    assert lines("search qqqqqqqq").stderr == 'no entity is called like "qqqqqqqq"\n'


def test_a_claim_is_checked_and_explained(lines):
    result = lines("verify Christopher Nolan directed Heat", "explain")
    assert result.stdout.startswith("Refuted")
    assert "Heat ─directed_by→ Michael Mann" in result.stdout
    assert "\nparts\n" in result.stdout


def test_a_query_prints_rows_or_says_that_there_are_none(lines):
    none = "query SELECT ?y WHERE { e:Memento r:year ?y FILTER(?y < 0) }"
    result = lines("query SELECT ?y WHERE { e:Memento r:year ?y }", none)
    assert result.stdout.split() == ["y", "2000"]
    assert result.stderr == "no rows\n"


def test_info_and_help(lines):
    result = lines("info", "help")
    assert "triples    106" in result.stdout
    assert "  verify CLAIM       whether the graph supports or refutes it\n" in result.stdout


def test_words_of_commands_may_begin_a_question(lines):
    assert "The graph has no on Memento." in lines("info on Memento").stdout
    assert "The graph has no Memento." in lines("ask verify Memento").stdout


@pytest.mark.parametrize("line", ["reading", "reading x", "reading 0", "reading 1", "explain"])
def test_what_needs_an_earlier_line_says_so(lines, line):
    result = lines(line)
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert "internal" not in result.stderr


def test_bytes_of_no_encoding_and_control_characters_do_no_harm(process, index):
    running = process("shell", str(index), stdin=subprocess.PIPE)
    out, err = running.communicate("who \x1b[31m knows\nneighbours --help\n")
    assert running.returncode == 0, err
    assert "\x1b" not in out + err


def test_stdin_cannot_be_the_graph_too(run):
    result = run("shell", "-", input="a\tb\tc\n")
    assert result.exit_code == 2
    assert "reads its lines from stdin" in result.stderr


@pytest.fixture
def completed(index):
    """What Tab offers behind a text: the whole line with each."""
    with Clew.open(index) as clew:
        completer = NameCompleter(clew)

        def offered(text):
            found = completer.get_completions(Document(text), CompleteEvent())
            return [text[: len(text) + one.start_position] + one.text for one in found]

        yield offered


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("who directed Mem", ["who directed Memento"]),
        ("films by christopher n", ["films by Christopher Nolan"]),
        ("verify Nol", ["verify Christopher Nolan"]),
        ("neigh", ["neighbours"]),
        ("around thing 00", [f"around thing 00{i}" for i in range(10)]),
        ("who directed xyz", []),
        ("", []),
    ],
)
def test_the_last_words_are_completed_to_names(completed, text, lines):
    assert sorted(completed(text))[:10] == lines


def test_names_with_control_characters_are_not_offered(completed):
    assert completed("x an") == []


@pytest.fixture
def terminal(index, tmp_path, monkeypatch):
    """A shell on a terminal."""
    pexpect = pytest.importorskip("pexpect", reason="needs a pseudo terminal")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("PROMPT_TOOLKIT_NO_CPR", "1")
    started = []

    def start():
        program = [sys.modules[StandIn.__module__].__file__, "shell", str(index)]
        started.append(pexpect.spawn(sys.executable, program, encoding="utf-8", timeout=60, use_poll=True))
        started[-1].expect_exact("Ctrl-D leaves")
        started[-1].expect_exact(PROMPT)
        return started[-1]

    yield start
    for child in started:
        child.close(force=True)


def typed(child, keys, *expected):
    """Type keys, and wait for what they are to bring, in this order."""
    child.send(keys)
    for text in expected:
        child.expect_exact(text)


def test_a_terminal_completes_interrupts_and_remembers(terminal, tmp_path):
    child = terminal()
    typed(child, "around Chr\t", "istopher Nolan")
    typed(child, CTRL_C, "Ctrl-D leaves", PROMPT)
    typed(child, "around Heat\r", "Michael Mann", PROMPT)
    typed(child, "slow Heat\r", "slow Heat")
    while not (tmp_path / "at-work").exists():
        time.sleep(0.01)
    typed(child, CTRL_C, "interrupted", PROMPT)
    typed(child, CTRL_D)
    rest = child.read()
    child.wait()
    assert (child.exitstatus, "Traceback" in rest) == (0, False)
    kept = tmp_path / "data" / "clew" / "shell_history"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "+around Heat" in kept.read_text()
    typed(terminal(), UP + UP + "\r", "Michael Mann")
