"""An index directory is whole or as it was before, whatever happens to its writer."""

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from clew.errors import FormatError, IndexAccessError, InputError, LockedError
from clew.index.store import files
from clew.index.store.directory import open_index
from clew.index.store.writing import writing

NAMES = ["Memento", "Christopher Nolan", "Été", "👍"]


@pytest.fixture
def graph(graph_of):
    return graph_of(NAMES, aliases=[("Kit", 1)])


@pytest.fixture
def index(tmp_path, graph, write_small):
    path = tmp_path / "films.clew"
    write_small(path, graph, {"counts": np.arange(5), "notes": b"abc"})
    return path


def contents(path):
    return sorted(f.name for f in path.iterdir())


def test_a_new_generation_replaces_the_old_and_an_open_index_stays_whole(index, graph_of, write_small):
    before = open_index(index)
    write_small(index, graph_of(["Other"]))
    assert contents(index) == ["gen-000002", "lock", "manifest.json"]
    assert before.graph.entities[1] == "Christopher Nolan"
    assert open_index(index, verify=True).graph.entities[0] == "Other"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_leaves_what_was_there(index, tmp_path, error):
    before = contents(index)
    for path in (index, tmp_path / "new.clew"):
        with pytest.raises(error), writing(path) as writer:  # noqa: PT012
            writer.add("half", b"x")
            raise error
    assert contents(index) == before
    assert open_index(index, verify=True).graph.nodes == 4
    assert not (tmp_path / "new.clew").exists()


def test_ctrl_c_after_the_manifest_keeps_the_new_generation(index, graph_of, write_small, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("clew.index.store.writing._sweep", lambda path, keep: keep == 2 and interrupted())
    with pytest.raises(KeyboardInterrupt):
        write_small(index, graph_of(["Other"]))
    assert open_index(index, verify=True).graph.nodes == 1


def test_a_full_disk_at_any_write_leaves_the_old_index(index, graph_of, write_small, monkeypatch):
    calls, limit, write = 0, 0, files.write_piece

    def full(file, piece):
        nonlocal calls
        calls += 1
        if calls > limit:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(file, piece)

    monkeypatch.setattr(files, "write_piece", full)
    monkeypatch.setattr("clew.index.store.writing.write_piece", full)
    before = contents(index)
    for limit in range(500):  # noqa: B007
        calls = 0
        with suppress(IndexAccessError):
            write_small(index, graph_of(["Other"]))
            break
        assert contents(index) == before
        assert open_index(index, verify=True).graph.nodes == 4
    with pytest.raises(IndexAccessError, match="disk is full"), files.disk_errors(index):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert limit > 50
    assert open_index(index, verify=True).graph.nodes == 1


def test_a_second_writer_waits_then_gives_up(index):
    with writing(index), pytest.raises(LockedError, match="another process"), writing(index, wait=0.1):
        pass
    with writing(index, wait=0):
        assert open_index(index).graph.nodes == 4


def test_readers_never_see_half_an_index(index, graph_of, write_small):
    graphs = [graph_of(NAMES * (i + 1)) for i in range(3)]

    def write():
        for i in range(15):
            write_small(index, graphs[i % 3])

    writer = threading.Thread(target=write)
    writer.start()
    opened = 0
    while writer.is_alive():
        assert open_index(index, verify=True).graph.nodes in (4, 8, 12)
        opened += 1
    assert opened > 3


CRASHER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from conftest import make_graph, write_graph
graphs = [make_graph([f"node {i}" for i in range(n)]) for n in (50, 90)]
while True:
    for graph in graphs:
        print("writing", flush=True)
        write_graph(Path(sys.argv[1]), graph)
"""


def test_kill_9_at_any_time_leaves_a_whole_index(tmp_path, graph_of, write_small):
    path, moments = tmp_path / "films.clew", random.Random(7)
    began = time.monotonic()
    write_small(path, graph_of([f"node {i}" for i in range(50)]))
    taken = time.monotonic() - began
    generations: list[int] = []
    while len(generations) < 6 or (len(set(generations)) <= 2 and len(generations) < 40):
        command = [sys.executable, "-c", CRASHER, str(path), str(Path(__file__).parent)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            for _ in range(moments.randint(1, 3)):
                assert child.stdout.readline() == b"writing\n"
            time.sleep(moments.uniform(0, 2 * taken))
            child.send_signal(signal.SIGKILL)
            assert child.wait() == -signal.SIGKILL
        opened = open_index(path, verify=True)
        assert opened.graph.nodes in (50, 90)
        assert [h.entity for h in opened.names.exact("Node 7")] == [7]
        generations.append(opened.manifest.generation)
    assert generations == sorted(generations)
    assert len(set(generations)) > 2, "killed before it wrote anything, forty times"
    write_small(path, graph_of(["last"]))
    assert len(contents(path)) == 3, "the next writer removes what was left"


def section_files(index):
    return sorted(index.glob("gen-*/*.npy"))


def test_a_flipped_byte_is_found(index):
    for file in section_files(index):
        whole = bytearray(file.read_bytes())
        at = len(whole) * 2 // 3
        whole[at] ^= 1
        file.write_bytes(whole)
        with pytest.raises(FormatError, match="checksum differs"):
            open_index(index)
        whole[at] ^= 1
        file.write_bytes(whole)
    open_index(index, verify=True)


@pytest.fixture
def large(index, graph, write_small):
    """A file with blocks that no sample is taken of."""
    write_small(index, graph, {"large": np.zeros(1_000_000, np.uint8)})
    return next(index.glob("gen-*/large.npy"))


def flip(file, at):
    with file.open("r+b") as handle:
        handle.seek(at)
        byte = handle.read(1)[0]
        handle.seek(at)
        handle.write(bytes([byte ^ 1]))


def test_a_flipped_byte_is_found_though_the_time_of_modification_is_put_back(index, large):
    before = large.stat()
    flip(large, 100_000)
    os.utime(large, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(FormatError, match=r"large\.npy: damaged"):
        open_index(index)


def test_an_open_index_notices_that_a_file_has_changed(index, large):
    opened = open_index(index)
    opened.check_unchanged()
    flip(large, 100_000)
    for _ in range(2):
        with pytest.raises(FormatError, match=r"large\.npy: damaged"):
            opened.check_unchanged()
    flip(large, 100_000)
    opened.check_unchanged()


@pytest.mark.parametrize(
    "text", [b"", b"[]", b'{"large.npy": [1]}', b'{"large.npy": 5}', b"\xff", b"[" * 99_999]
)
def test_a_damaged_seal_counts_as_none(index, large, text):
    (large.parent / "sealed.json").write_bytes(text)
    flip(large, 100_000)
    with pytest.raises(FormatError, match=r"large\.npy: damaged"):
        open_index(index)


def test_a_copy_is_checked_once(index, large, tmp_path):
    flip(large, 100_000)
    shutil.copytree(index, tmp_path / "copy.clew")
    with pytest.raises(FormatError, match=r"large\.npy: damaged"):
        open_index(tmp_path / "copy.clew")
    flip(tmp_path / "copy.clew" / large.parent.name / large.name, 100_000)
    open_index(tmp_path / "copy.clew")
    assert (tmp_path / "copy.clew" / large.parent.name / "sealed.json").exists()


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff\xfe", b"{" * 50_000])
def test_a_damaged_manifest_is_an_error_and_can_be_rebuilt(index, graph, write_small, text):
    (index / "manifest.json").write_bytes(text)
    with pytest.raises(FormatError, match="clew index"):
        open_index(index)
    write_small(index, graph)
    assert contents(index) == ["gen-000002", "lock", "manifest.json"]
    assert open_index(index, verify=True).graph.nodes == 4


def test_any_flipped_byte_of_the_manifest_is_found(index):
    file, draw = index / "manifest.json", random.Random(3)
    whole = file.read_bytes()
    for _ in range(60):
        at = draw.randrange(len(whole))
        if whole[at : at + 1].isspace():
            continue
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(FormatError):
            open_index(index)


def test_other_files_are_never_overwritten(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "manifest.json").write_text("{}")
    for path in (tmp_path, tmp_path / "thesis.txt", tmp_path / "app"):
        with pytest.raises(InputError, match="Choose another"), writing(path):
            pass
    with pytest.raises(IndexAccessError), writing(tmp_path / "thesis.txt" / "x.clew"):
        pass
    assert contents(tmp_path) == ["app", "thesis.txt"]
    assert contents(tmp_path / "app") == ["manifest.json"]
