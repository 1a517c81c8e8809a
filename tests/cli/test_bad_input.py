"""What a user sees who gives something wrong, or whose machine gives way: a message, never a trace."""

# ruff: noqa: E501 (messages stay whole, as users see them)

import gzip
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILMS = "Memento\tdirected_by\tChristopher Nolan\nHeat\tdirected_by\tMichael Mann\n"
LIKE_AN_OPTION = "--help\tis\t-o\n"
NOISE = random.Random(0).randbytes(20_000)
ADVICE = "Each line needs 3 fields separated by tab; skip bad lines with --on-error skip"


@pytest.fixture
def seen(process, run):
    """Run a command line to its end; (exit code, stdout, stderr). A trace of Python is always a failure.

    It has a process of its own where `options` are of one.
    """

    def look(*args, **options):
        if not options:
            result = run(*args)
            assert "Traceback" not in result.stderr
            return result.exit_code, result.stdout, result.stderr
        running = process(*args, **options)
        out, err = running.communicate(timeout=60)
        assert "Traceback" not in (err or "")
        return running.returncode, out, err

    return look


@pytest.fixture
def source(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return write


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", "", "a.tsv: the file is empty. A source needs at least one triple"),
        ("a.tsv", "\n \n", "a.tsv: no triples found. A graph needs at least one line head, relation, tail"),
        ("a.tsv", NOISE, "a.tsv: the file is binary, not text. Give a triple file"),
        ("a.tsv", FILMS.encode("utf-16")[:-1], "a.tsv:2: invalid UTF-16 here or some lines below. Convert the file to UTF-8"),
        ("a.tsv", FILMS.replace("\t", ","), "a.tsv:1: 1 column where 3 are expected. The line seems to be separated by ',', not tab: give --format csv"),
        ("a.tsv", FILMS + "A\tb\n", f"a.tsv:3: 2 columns where 3 are expected. {ADVICE}"),
        ("a.tsv", FILMS + "A\tb\tc\td\n", f"a.tsv:3: 4 columns where 3 are expected. {ADVICE}"),
        ("a.tsv", FILMS + "A\t\tb\n", f"a.tsv:3: column 2 is empty. {ADVICE}"),
        ("a.tsv", FILMS.encode() + "Ä\tis\tX\n".encode() + b"Am\xe9lie\tis\tX\n", "a.tsv:4: invalid UTF-8 (byte 0xe9 at position 3 of the line). Convert the file to UTF-8"),
        ("a.tsv", FILMS.encode() + b"x" * 10_000_000, "a.tsv:3: the line is longer than 1,048,576 bytes. Is this a triple file? Split or remove the line"),
        ("a.tsv.gz", b"no gzip", "a.tsv.gz: its name ends in .gz but it is not gzip data. Rename it"),
        ("a.tsv.gz", b"\x1f\x8b\x08\x00" + NOISE, "a.tsv.gz:1: the gzip data are damaged ("),
        ("a.tsv.gz", gzip.compress(NOISE.hex().encode())[:9000], "the gzip data end too early: the file is truncated. Copy or download it again"),
        ("a.ttl", "@prefix : <http://x/> .\n:a :b :c .\n:a :b ] .\n", "a.ttl:3: "),
    ],
)  # fmt: skip
def test_a_source_that_is_no_graph(seen, source, name, content, message):
    code, out, err = seen("index", source(name, content))
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert not Path("a.clew").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("nothing.tsv", "nothing.tsv: no such file or directory. Check the path"),
        ("-", "stdin is empty. A source needs at least one triple"),
        (".", "file.clew, folder.clew. Read are .tsv, "),
        ("", "The name of the source is empty. Give an index (NAME.clew) or a graph file"),
        ("folder.clew",
         "folder.clew: not a Clew index but a folder without a manifest.json. To make an index: "),
        ("file.clew", "file.clew: not a Clew index but a file. To ask a graph file, give it another ending"),
    ],
)  # fmt: skip
def test_a_source_that_is_not_there(seen, source, given, message):
    Path("folder.clew").mkdir()
    source("file.clew", FILMS)
    code, out, err = seen("ask", given, "around Memento")
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(("command", "text"), [("ask", "Who directed Memento?"), ("verify", "Jaws is old.")])
def test_a_source_behind_the_text_is_told(seen, source, command, text):
    source("films.tsv", FILMS)
    code, _, err = seen(command, text, "films.tsv")
    assert (code, "The source stands before the" in err) == (2, True)
    code, _, err = seen("info", "a name of three words")
    assert (code, "stands before" in err) == (2, False)


@pytest.mark.parametrize(
    ("line", "question", "triple"),
    [
        ("a\tknows\tb\n", "around a", ["a", "knows", "b"]),
        (LIKE_AN_OPTION, "around --help", ["--help", "is", "-o"]),
        ("a\\tb\tknows\tc\\nd\n", "around a b", ["a\tb", "knows", "c\nd"]),
        ("محمد\tdirected_by\tفاطمة\n", "around محمد", ["محمد", "directed_by", "فاطمة"]),
        ("🎬\tmade_by\t👩‍🎨\n", "around 🎬", ["🎬", "made_by", "👩‍🎨"]),
        ("a\tknows\ta\n", "around a", ["a", "knows", "a"]),
    ],
)
def test_a_graph_of_one_triple_with_an_odd_name(seen, source, line, question, triple):
    code, out, _ = seen("ask", source("a.tsv", line), question, "--json")
    assert code == 0
    assert json.loads(out)["citations"] == [{"answer": triple[2], "label": triple[2], "triples": [triple]}]


def test_what_a_message_advises_for_a_file_works_when_asking(seen, source):
    told = "1 line skipped, the first:\n  a.tsv:3: 2 columns"
    code, out, err = seen("ask", source("a.tsv", FILMS + "A\tb\n"), "around Memento", "--on-error", "skip")
    assert (code, out.split()[0], told in err) == (0, "Christopher", True)
    assert told in seen("index", "a.tsv", "--on-error", "skip")[2]
    comma = source("b.tsv", FILMS.replace("\t", ","))
    assert seen("ask", comma, "around Memento", "--format", "csv")[0] == 0


def spoil_version(index):
    manifest = json.loads((index / "manifest.json").read_bytes())
    (index / "manifest.json").write_text(json.dumps(manifest | {"format": 99, "clew": "9.9"}))


def cut_array(index):
    largest = max(index.glob("gen-*/*.npy"), key=lambda file: file.stat().st_size)
    os.truncate(largest, 100)


def cut_manifest(index):
    os.truncate(index / "manifest.json", 100)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            spoil_version,
            "it was made by Clew 9.9 with index format 99, this Clew reads format 5. Rebuild it with: ",
        ),
        (cut_array, ".npy: damaged, 100 bytes where "),
        (lambda index: next(index.glob("gen-*/graph.out.offsets.npy")).unlink(), ".npy: missing"),
        (shutil.rmtree, "no such index"),
        (cut_manifest, "manifest.json: damaged, not JSON. Rebuild it with: clew index SOURCE -o films.clew"),
    ],
)
def test_a_spoilt_index_is_named_and_can_be_made_again(seen, index, spoil, message):
    spoil(index)
    code, out, err = seen("ask", "films.clew", "around Memento")
    assert (code, out) == (2, "")
    assert message in err
    assert seen("index", "films.tsv", "-o", "films.clew")[0] == 0
    assert seen("ask", "films.clew", "around Memento")[0] == 0


def test_an_index_of_another_embedder_can_be_described_but_not_asked(seen, index):
    from clew.index.store.directory import _checksum  # pyright: ignore[reportPrivateUsage]

    body = json.loads((index / "manifest.json").read_bytes())
    del body["checksum"]
    body["about"]["embedder"] |= {"name": "sentence-transformers/other", "fingerprint": "sha256:0"}
    (index / "manifest.json").write_text(json.dumps({"checksum": _checksum(body), **body}))
    code, _, err = seen("ask", index, "around Memento", "--embedder", "clew-static")
    assert code == 2
    assert "made with the embedder sentence-transformers/other (sha256:0), not clew-static" in err
    code, out, _ = seen("info", index)
    assert code == 0
    assert "sentence-transformers/other" in out


def test_an_index_is_no_source_of_another(seen, index):
    code, _, err = seen("index", index, "-o", "other.clew")
    assert code == 2
    assert "is an index already. Ask it (clew ask " in err


WITHOUT_POWERS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


@pytest.fixture
def plain_user():
    """Run as a user who must obey permissions; root gives up its power to pass over them."""
    prefix = WITHOUT_POWERS if os.geteuid() == 0 else []
    if prefix and (not shutil.which("setpriv") or subprocess.run([*prefix, "true"]).returncode):
        pytest.skip("root cannot give up its powers here")

    def look(*args, **variables):
        command = [*prefix, sys.executable, str(Path(__file__).with_name("stand_in.py")), *map(str, args)]
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), **variables}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, done.stderr

    return look


def test_no_permission_to_read(plain_user, films, index):
    films.chmod(0)
    assert plain_user("ask", films, "around x") == (
        2,
        "",
        f"error: {films}: cannot be opened: Permission denied\n",
    )
    folder = films.with_name("folder")
    folder.mkdir()
    (folder / "a.tsv").write_text(FILMS)
    folder.chmod(0)
    expected = (2, "", f"error: {folder}: cannot be read (Permission denied)\n")
    assert plain_user("ask", folder, "around x") == expected
    index.chmod(0)
    code, _, err = plain_user("ask", index, "around x")
    assert (code, err) == (1, f"error: {index}: cannot read the index (Permission denied)\n")
    for path in (folder, index):
        path.chmod(0o700)


def test_no_permission_to_write(plain_user, films, index, write_lines, tmp_path):
    questions = write_lines("questions.jsonl", {"question": "around Memento"})
    cache, home = tmp_path / "closed", tmp_path / "tmp"
    cache.mkdir(mode=0o500)
    home.mkdir()
    code, out, err = plain_user("ask", films, "around Memento", CLEW_CACHE_DIR=str(cache), TMPDIR=str(home))
    assert (code, out.split()[0]) == (0, "Christopher")
    assert f"note: {cache} cannot be written (Permission denied); the index is kept in {home}/clew-" in err
    index.chmod(0o500)
    tmp_path.chmod(0o500)
    for out_path in (index, "new.clew"):
        code, _, err = plain_user("index", films, "-o", out_path)
        assert code == 1
        assert (
            "no permission to write here (Permission denied). Choose another place for the index (-o;" in err
        )
    code, _, err = plain_user("ask", index, "--questions", questions, "--out", "answers.jsonl")
    assert (code, err) == (
        2,
        "error: answers.jsonl: cannot be written (Permission denied). Give another --out\n",
    )
    tmp_path.chmod(0o700)
    index.chmod(0o700)


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def test_a_disk_without_room_leaves_the_index_as_it_was(seen, films, index):
    films.write_text(FILMS * 2)
    before = sorted(index.rglob("*"))
    code, out, err = seen("index", films, "-o", index, preexec_fn=small_files)
    assert (code, out) == (1, "")
    assert "What was there before is unchanged" in err
    assert sorted(index.rglob("*")) == before
    assert json.loads(seen("info", index, "--json")[1])["counts"]["triples"] > 100


@pytest.mark.parametrize(
    ("verb", "kind", "text", "out"),
    [
        ("ask", "question", "around Memento", "answers"),
        ("verify", "claim", "Memento was directed by Christopher Nolan", "verdicts"),
    ],
)
def test_a_disk_without_room_keeps_what_was_done_before(seen, index, write_lines, verb, kind, text, out):
    given = write_lines("given.jsonl", *({"id": str(i), kind: text} for i in range(8)))
    command = (verb, index, f"--{kind}s", given, "--out", f"{out}.jsonl")
    assert seen(verb, index, text)[0] == 0, "compiled, which takes room too"
    code, _, err = seen(*command, preexec_fn=small_files)
    assert code == 1
    assert f"error: {out}.jsonl: cannot be written (File too large). Its {out} are kept" in err
    assert seen(*command)[0] == 0
    done = [json.loads(line)["id"] for line in Path(f"{out}.jsonl").read_text().splitlines()]
    assert done == [str(i) for i in range(8)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("args", [("ask", "films.clew", "around Memento"), ("--help",)])
def test_an_output_without_room(seen, index, args):
    with open("/dev/full", "w") as full:
        code, _, err = seen(*args, stdout=full)
    assert (code, err) == (1, "error: the output cannot be written (No space left on device)\n")


@pytest.mark.parametrize("args", [("ask", "films.clew", "around Memento"), ("info", "films.clew")])
def test_a_reader_that_has_gone(process, index, args):
    reading, writing = os.pipe()
    os.close(reading)
    running = process(*args, stdout=writing)
    os.close(writing)
    assert running.communicate(timeout=60)[1] == ""
    assert running.returncode == 141


@pytest.mark.parametrize(
    ("closed", "args", "code"),
    [
        (1, ("ask", "films.clew", "around Memento"), 0),
        (2, ("ask", "films.clew", "around Memento"), 0),
        (0, ("ask", "films.clew", "--questions", "-"), 2),
    ],
)
def test_streams_that_are_closed(seen, index, closed, args, code):
    assert seen(*args, preexec_fn=lambda: os.close(closed))[0] == code


def test_ctrl_c_at_any_time_of_indexing_keeps_the_index(process, seen, films, index):
    lines = (f"node {i % 4999}\tr{i % 7}\tnode {i % 5003}\n" for i in range(10_000))
    films.write_text("".join(lines))
    for delay in (0.4, 0.6, 0.8):
        running = process("index", films, "-o", index)
        time.sleep(delay)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
        # 0: it was done before; -SIGINT: Python was not up yet or ends itself so.
        assert running.returncode in (0, 130, -signal.SIGINT)
        assert running.returncode != 130 or err == "" or "as it was" in err
        assert seen("info", index)[0] == 0
    assert seen("index", films, "-o", index)[0] == 0
    assert not (index / "writing").exists()
    assert "10,000" in seen("info", index)[1]


def test_two_writers_at_once_both_end_well(process, films):
    films.write_text("".join(f"node {i}\tr\tnode {i + 1}\n" for i in range(5000)))
    both = [process("index", films, "-o", "both.clew") for _ in range(2)]
    for running in both:
        assert "5,000 triples" in running.communicate(timeout=60)[0]
        assert running.returncode == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("ask", "films.clew", "Who", "directed", "Heat?"),
         "Put the question in quotes. See: clew ask --help"),
        (("films.tsv", "Who directed Heat?"),
         'To ask a graph, write: clew ask films.tsv "…". See: clew --help'),
        (("akk", "films.tsv"), "No such command 'akk'. Did you mean 'ask'? See: clew --help"),
    ],
)  # fmt: skip
def test_a_command_line_that_is_nearly_right(seen, index, args, message):
    code, _, err = seen(*args)
    assert (code, message in err) == (2, True)


def test_a_disk_without_room_for_machine_code(index, tmp_path):
    # A pattern is searched for with compiled code; a plain question is not.
    (tmp_path / "pattern.json").write_text('{"triples": [["Memento", "made by", "UNKNOWN person"]]}')
    command = [sys.executable, "-m", "clew", "match", str(index), str(tmp_path / "pattern.json")]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NUMBA_CACHE_DIR": str(tmp_path / "code")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, preexec_fn=small_files)
    assert done.returncode == 1
    said = f"error: {tmp_path / 'code'}: the compiled search cannot be kept (File too large). Make room, or"
    assert said in done.stderr
