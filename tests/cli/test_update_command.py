"""`clew update`, `clew index --corpus` and what `clew info` says of it."""

import json

import pytest

from clew.engine import Clew
from servers.fake_server import Answer, completion, serving


@pytest.fixture
def files(tmp_path):
    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.tsv").write_text(text)

    return write


def test_triples_are_added_and_removed(index, run, files):
    files(new="Tenet\tdirected_by\tChristopher Nolan\n", gone="Heat\tdirected_by\tMichael Mann\n")
    done = run("update", index, "--add", "new.tsv", "--remove", "gone.tsv", "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert (told["update"]["added"], told["update"]["removed"], told["update"]["new_entities"]) == (1, 1, 1)
    assert told["generation"] == 2
    with Clew.open(index) as clew:
        assert clew.opened.names.exact("Tenet")


def test_counts_have_the_names_that_info_gives_them(index, run, files):
    files(new="Tenet\tdirected_by\tChristopher Nolan\n")
    counts = json.loads(run("update", index, "--add", "new.tsv", "--json").stdout)["counts"]
    assert counts == json.loads(run("info", index, "--json").stdout)["counts"]


def test_lines_that_cannot_be_read_are_skipped_and_counted(index, run, files):
    files(new="Tenet\tdirected_by\tChristopher Nolan\nonly one column\n")
    done = run("update", index, "--add", "new.tsv", "--on-error", "skip")
    assert done.exit_code == 0
    assert "1 triple added" in done.stdout
    assert "1 line skipped" in done.stderr
    assert "new.tsv:2" in done.stderr


def test_what_is_not_there_cannot_be_removed(index, run, files):
    files(gone="Heat\tdirected_by\tNobody\n")
    refused = run("update", index, "--remove", "gone.tsv")
    assert refused.exit_code == 2
    assert "Heat directed_by Nobody" in refused.stderr
    assert "Nothing was changed" in refused.stderr
    assert run("update", index, "--remove", "gone.tsv", "--ignore-missing").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), ""),
        (("--add", "missing.tsv"), "missing.tsv"),
        (("--add", "neo4j://localhost"), "neo4j://localhost is the address of a database"),
        (("--add", "new.tsv", "--strict"), "Tenet"),
        (("--add", "torn.tsv"), "torn.tsv:2"),
    ],
)
def test_an_update_that_cannot_be_done_says_why(index, run, files, arguments, message):
    new = "Tenet\tdirected_by\tChristopher Nolan\n"
    files(new=new, torn=new + "only one column\n")
    refused = run("update", index, *arguments)
    assert (refused.exit_code, message in refused.stderr) == (2, True)


def test_a_plain_file_is_not_an_index(films, run, files):
    files(new="a\tb\tc\n")
    assert run("update", films, "--add", "new.tsv").exit_code == 2


def test_info_tells_what_the_cap_cut(films, run):
    made = run("index", films, "--corpus", "bfs", "--depth", "2", "--max-walks", "10", "--quiet")
    assert made.exit_code == 0
    told = json.loads(run("info", films.with_suffix(".clew"), "--json").stdout)["corpus"]
    assert (told["kind"], told["depth"], told["max_walks"]) == ("bfs", 2, 10)
    assert told["triples_left_out"] == 90
    shown = run("info", films.with_suffix(".clew")).stdout
    assert "at most 10 of an entity" in shown
    assert "90 of their own triples" in shown


def test_plain_vectors_are_told(films, run):
    made = run("index", films, "--corpus", "random", "--plain-vectors", "--quiet")
    assert made.exit_code == 0
    assert ", plain vectors" in run("info", films.with_suffix(".clew")).stdout


@pytest.mark.parametrize("arguments", [("--depth", "9"), ("--max-walks", "0"), ("--walks", "0")])
def test_numbers_of_a_corpus_out_of_range_are_refused(films, run, arguments):
    refused = run("index", films, "--corpus", "random", *arguments)
    assert (refused.exit_code, "give a number" in refused.stderr) == (2, True)


def test_k_reaches_walk_retrieve(films, run, monkeypatch):
    assert run("index", films, "--corpus", "bfs", "--quiet").exit_code == 0
    index = films.with_suffix(".clew")

    def asked(*options):
        words = ("--method", "walk-retrieve", "--llm", "vllm/m", *options)
        return run("ask", index, "Who directed Memento?", *words)

    pytest.importorskip("openai")
    with serving(Answer(completion("Answer: none"))) as (_, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        told = asked("--set", "k=1", "--json", "--explain")
        assert asked("--set", "k=101").exit_code == 2
    assert told.exit_code in (0, 3)
    (retrieved,) = [s["detail"] for s in json.loads(told.stdout)["steps"] if s["name"] == "retrieve"]
    assert len(retrieved["walks"]) == 1


@pytest.mark.parametrize(
    ("method", "settings", "message"),
    [
        ("synaptiqa", ["k=2"], "k=2: synaptiqa has no such setting"),
        ("walk-retrieve", ["k=2", "shots=3"], "shots=3: walk-retrieve has no such setting"),
        ("walk-retrieve", ["letter=yes"], "letter=yes: walk-retrieve has no such setting"),
    ],
)
def test_settings_of_other_methods_are_refused(index, run, method, settings, message):
    told = [part for setting in settings for part in ("--set", setting)]
    refused = run("ask", index, "who", "--method", method, "--llm", "vllm/m", *told)
    assert refused.exit_code == 2
    assert message in refused.stderr


def test_strict_makes_no_new_names(run, index, tmp_path):
    (tmp_path / "more.tsv").write_text("Nobody\tlikes\tMemento\n")
    result = run("update", index, "--add", tmp_path / "more.tsv", "--strict")
    assert result.exit_code == 2
    assert "1 entities and 1 relations are not in the index: Nobody, likes" in result.stderr
