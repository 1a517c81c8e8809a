"""Numbers, files and folders that no one means: each ends in a clear error or an answer."""

import json
import os
import shutil
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clew import Clew
from clew.cli.app import app
from clew.errors import FormatError
from clew.index.store.files import FileEntry, check_entry
from clew.llm.testing import ScriptedModel

LONG = "9" * 5_000
FILMS = "Memento\tdirected_by\tChristopher Nolan\nMemento\tyear\t2000\nHeat\tyear\t1995\n"


@pytest.fixture
def films(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "films.tsv").write_text(FILMS)
    return tmp_path


def run(*arguments):
    """(exit code, last line of stderr); no traceback, and no error that has to be reported."""
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr
    return done.exit_code, done.stderr.splitlines()[-1:]


@pytest.mark.parametrize("number", [LONG, "1e999", "-1e999", "1." + LONG, "0." + "0" * 400 + "1", "1e-999"])
def test_a_number_that_no_graph_holds_is_no_error(films, number):
    assert run("ask", "films.tsv", f"Which films have a year over {number}?")[0] in (0, 3)
    with Clew.open("films.tsv") as clew:
        clew.ask(f"Who directed the first {number} films?")
        clew.verify(f"The year of Memento is {number}.")
        clew.verify(f"Memento was released after {number}.")


def test_a_number_is_no_misspelt_year(films):
    """*1e999* is a letter away from *1999*."""
    source = Path(__file__).resolve().parents[2] / "examples" / "films.tsv"
    done = CliRunner().invoke(app, ["ask", str(source), "Which films were released after 1e999?"])
    assert "taken for" not in done.stdout + done.stderr


@pytest.mark.parametrize("today", ["0001-01-01", "0001-02-01", "9999-12-31"])
def test_the_ends_of_the_calendar_are_no_error(films, today):
    for when in ("last year", "last month", "this month", "this decade"):
        asked = run("ask", "films.tsv", f"Which films are of {when}?", "--set", f"today={today}")
        assert asked[0] in (0, 3)


def test_a_reading_of_a_model_beyond_all_is_none(films):
    model = ScriptedModel(lambda _: f"Query: {LONG}")
    with Clew.open("films.tsv") as clew:
        assert clew.ask("Which gizmos does Memento frobnicate?", model=model).abstained


def test_a_limit_beyond_all_is_none(films):
    assert run("query", "films.tsv", f"SELECT ?x {{ ?x ?y ?z }} LIMIT {LONG}")[0] == 0


@pytest.mark.parametrize("query", [f"MATCH (n) RETURN {LONG}", f"MATCH (n) RETURN n LIMIT {LONG}"])
def test_such_a_number_in_cypher_is_an_error(films, query):
    pytest.importorskip("ladybug", reason="ladybug is not installed")
    code, last = run("query", "films.tsv", query)
    assert (code, "a number of 5,000 characters" in last[0]) == (2, True)


def test_a_graph_of_such_numbers_is_read(films):
    (films / "odd.tsv").write_text(f"a\tsize\t{LONG}\nb\tsize\t1e999\nc\tsize\t12\n")
    assert run("ask", "odd.tsv", "Which has the largest size?")[0] in (0, 3)
    (films / "odd.csv").write_text(f"from,to,order\n{LONG},2,7\n3,{LONG},8\n")
    assert run("info", "odd.csv")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("match", "films.tsv", f'{{"triples": [["a", "b", {LONG}]]}}'), "not JSON"),
        (("index", "half.json", "-o", "half.clew"), "surrogates not allowed"),
        (("index", "films.tsv", "--encoding", "rot13"), "unknown encoding 'rot13'"),
        (("index", "films.tsv", "--encoding", "zlib_codec"), "unknown encoding 'zlib_codec'"),
        (("index", "films.tsv", "--vectors", "milvus", "--milvus", "http://h:x"), "is no URI of Milvus"),
        (("index", "films.tsv", "-o", "/dev/full"), "Choose another name"),
        (("query", "neo4j://u:p@localhost:99999", "RETURN 1"), "'localhost:99999' is no host and port"),
        (("query", "sparql+http://localhost:99999/s", "ASK { ?s ?p ?o }"), "is no host and port"),
        (("ask", "loop", "Who?"), "Too many levels of symbolic links"),
        (("info", "loop"), "Too many levels of symbolic links"),
        (("index", "films.tsv", "-o", "dangling.clew"), "a symbolic link to nothing"),
        (("ask", "films.tsv", "--questions", "q.jsonl", "--out", "/dev/full"), "no regular file"),
        (("ask", "films.tsv", "--questions", "q.jsonl", "--out", "dangling.clew"), "cannot be written"),
    ],
)
def test_what_cannot_be_is_an_error_that_says_so(films, arguments, says):
    (films / "loop").symlink_to("loop2")
    (films / "loop2").symlink_to("loop")
    (films / "dangling.clew").symlink_to("nowhere/else")
    (films / "half.json").write_text('[{"id": "\\ud800", "kind": "x"}, {"id": "b", "kind": "y"}]')
    (films / "q.jsonl").write_text(json.dumps({"id": "1", "question": "Who directed Memento?"}) + "\n")
    code, last = run(*arguments)
    assert code == 2
    assert says in last[0]
    assert not (films / "nowhere").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
class TestAPipe:
    """One that nobody writes to: opened as a file is, it would be waited for without end."""

    @pytest.fixture
    def index(self, films):
        assert run("index", "films.tsv", "-o", "films.clew")[0] == 0
        return films / "films.clew"

    @pytest.fixture(autouse=True)
    def end(self):
        """An error in place of a test that waits."""
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.alarm(120)
        yield
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)

    def put(self, path):
        path.unlink(missing_ok=True)
        os.mkfifo(path)

    @pytest.mark.parametrize("name", ["manifest.json", "gen-000001/graph.entities.blob.npy"])
    def test_in_the_place_of_a_file_of_an_index_is_an_error(self, index, name):
        self.put(index / name)
        code, last = run("info", "films.clew")
        assert (code, "not a regular file" in last[0], name.split("/")[-1] in last[0]) == (2, True, True)

    def test_that_is_empty_as_its_file_says_is_an_error(self, index):
        """The size of a pipe is 0, which a manifest may say."""
        pipe = index / "pipe.npy"
        self.put(pipe)
        with pytest.raises(FormatError, match="not a regular file"):
            check_entry(index, FileEntry("pipe", pipe.name, 0, ""))

    def test_in_the_place_of_a_seal_counts_as_none(self, index):
        self.put(index / "gen-000001" / "sealed.json")
        assert run("info", "films.clew")[0] == 0

    @pytest.mark.parametrize(
        "arguments",
        [
            ("index", "pipe.tsv", "-o", "new.clew"),
            ("ask", "folder", "Who directed Memento?"),
            ("index", "films.tsv", "--types", "pipe.tsv", "-o", "new.clew"),
            ("index", "films.tsv", "--aliases", "/dev/zero", "-o", "new.clew"),
        ],
    )
    def test_as_a_source_is_an_error(self, films, arguments):
        self.put(films / "pipe.tsv")
        (films / "folder").mkdir()
        self.put(films / "folder" / "edges.csv")
        code, last = run(*arguments)
        assert code == 2
        assert "not a regular file" in last[0] or "is empty" in last[0] or "a device" in last[0]

    def test_that_somebody_writes_to_is_read(self, films):
        """As bash hands over `--types <(…)`."""
        self.put(films / "pipe.tsv")
        writer = threading.Thread(target=(films / "pipe.tsv").write_text, args=("Memento\tfilm\n",))
        writer.start()
        hold = os.open(films / "pipe.tsv", os.O_RDWR)
        writer.join()
        threading.Timer(1, os.close, [hold]).start()
        assert run("index", "films.tsv", "--types", "pipe.tsv", "-o", "new.clew")[0] == 0
        assert Clew.open(films / "new.clew").info().counts["types"] == 1


def test_forty_threads_open_one_plain_file_for_the_first_time(films):
    go = threading.Barrier(40)

    def ask(_):
        go.wait(300)
        with Clew.open(films / "films.tsv", cache_dir=films / "shared") as clew:
            return clew.ask("Who directed Memento?").text

    with ThreadPoolExecutor(40) as threads:
        assert list(threads.map(ask, range(40))) == ["Christopher Nolan"] * 40


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_trace_on_a_full_disk_is_said(films, monkeypatch):
    pytest.importorskip("openai")
    from servers.fake_server import Answer, completion, serving

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with serving(Answer(completion("Christopher Nolan"))) as (_, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        ask = ("ask", "films.tsv", "Who directed Memento?", "--method", "llm", "--llm", "openai/x")
        code, last = run(*ask, "--trace", "/dev/full")
    assert code == 2
    assert last[0] == "error: /dev/full: the trace cannot be written (No space left on device)."


@pytest.fixture
def full(tmp_path):
    """A file system of 1 MiB, if this user may mount one."""
    import subprocess

    place = tmp_path / "small"
    place.mkdir()
    if not shutil.which("mount") or os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this system mounts nothing")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def test_a_build_on_a_full_disk_leaves_nothing(films, full):
    lines = (f"entity number {i}\tis next to\tentity number {i + 1}\n" for i in range(30_000))
    (films / "many.tsv").write_text("".join(lines))
    code, last = run("index", "many.tsv", "-o", full / "x.clew")
    assert code == 1
    assert "the disk is full" in last[0]
    assert size(full) < 4096, list(full.rglob("*"))
