"""A build in shards gives the files of a build in one piece, and goes on where it was stopped."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from clew.errors import IndexAccessError
from clew.index import build, shards
from clew.index.build import build_index
from clew.index.shards import ShardSizes
from clew.index.store.directory import open_index
from clew.text.embedders.registry import embedder as embedder_of

SRC = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "g.tsv"
    file.write_text("".join(f"Näme {i % 97} of {i}\trel\tWord{i * 7 % 1000} Two\n" for i in range(3000)))
    (tmp_path / "a.tsv").write_text("".join(f"Näme {i % 97} of {i}\tother {i}\n" for i in range(0, 3000, 7)))
    return file


SMALL = ShardSizes(names=700, sharded_from=100)


def digests(path):
    return {f.section: f.checksum for f in open_index(path, verify=True).manifest.files}


def test_workers_write_the_same_index(source, tmp_path):
    options = {"embedder": embedder_of(), "aliases": tmp_path / "a.tsv"}
    build_index([source], tmp_path / "one.clew", **options)
    told = []
    tell = lambda *step: told.append(step)  # noqa: E731
    build_index([source], tmp_path / "two.clew", shards=SMALL, progress=tell, **options)
    assert digests(tmp_path / "one.clew") == digests(tmp_path / "two.clew")
    assert sorted(os.listdir(tmp_path / "two.clew")) == ["gen-000001", "lock", "manifest.json"]
    total = max(step[2] for step in told if step[0] == "names")
    assert [step[1] for step in told if step[0] == "names"] == sorted(s[1] for s in told if s[0] == "names")
    assert ("names", total, total) in told


def test_a_stopped_build_goes_on_where_it_was(source, tmp_path, monkeypatch, letters):
    out, made = tmp_path / "x.clew", []

    def stop(folder, graph, labels, embedder, piece):
        kind, first, _ = piece
        if kind == "vectors" and first >= 1400:
            raise KeyboardInterrupt
        made.append((kind, first))
        return make(folder, graph, labels, embedder, piece)

    make = shards.make_shard
    monkeypatch.setattr(shards, "make_shard", stop)
    with pytest.raises(KeyboardInterrupt):
        build_index([source], out, embedder=letters, shards=SMALL)
    before, stages = len(made), []
    monkeypatch.setattr(shards, "make_shard", lambda *a: (made.append(a[4][:2]), make(*a)))
    build_index([source], out, embedder=letters, shards=SMALL, progress=lambda *step: stages.append(step[0]))
    assert {kind for kind, _ in made[before:]} == {"vectors"}
    assert min(first for _, first in made[before:]) == 1400
    assert set(stages) == {"vectors"}
    build_index([source], tmp_path / "y.clew", embedder=letters, shards=SMALL)
    assert digests(out) == digests(tmp_path / "y.clew")


def test_a_stopped_build_of_other_shards_begins_anew(source, tmp_path, monkeypatch, letters):
    def stop(*piece):
        if piece[-1][1] >= 1400:
            raise KeyboardInterrupt
        make(*piece)

    make, larger = shards.make_shard, ShardSizes(names=1000, sharded_from=100)
    monkeypatch.setattr(shards, "make_shard", stop)
    with pytest.raises(KeyboardInterrupt):
        build_index([source], tmp_path / "x.clew", embedder=letters, shards=SMALL)
    monkeypatch.setattr(shards, "make_shard", make)
    for name in ("x.clew", "y.clew"):
        build_index([source], tmp_path / name, embedder=letters, shards=larger)
    assert digests(tmp_path / "x.clew") == digests(tmp_path / "y.clew")


def test_changed_sources_begin_anew(source, tmp_path, monkeypatch, letters):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(shards, "make_shard", stop)
    with pytest.raises(KeyboardInterrupt):
        build_index([source], tmp_path / "x.clew", embedder=letters, shards=SMALL)
    monkeypatch.undo()
    source.write_text("A\trel\tB\n")
    built = build_index([source], tmp_path / "x.clew", embedder=letters, shards=SMALL)
    assert built.manifest.about.counts["entities"] == 2


def test_a_worker_that_dies_is_an_error_and_the_old_index_stays(source, tmp_path, monkeypatch):
    out = tmp_path / "x.clew"
    build_index([source], out, embedder=embedder_of(), shards=SMALL)
    before = digests(out)
    real = subprocess.Popen

    def dies(command, **options):
        process = real([sys.executable, "-c", "import os, signal; os.kill(os.getpid(), 9)"], **options)
        process.wait()
        return process

    monkeypatch.setattr(shards.subprocess, "Popen", dies)
    os.utime(source, (1, 1))
    with pytest.raises(IndexAccessError, match=r"ran out of memory.*run the same command again"):
        build_index([source], out, embedder=embedder_of(), shards=SMALL)
    assert digests(out) == before


def test_memory_that_runs_out_is_an_error(source, tmp_path, monkeypatch, letters):
    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr(build.NamesIndex, "of", full)
    with pytest.raises(IndexAccessError, match="the memory is full"):
        build_index([source], tmp_path / "x.clew", embedder=letters)


def test_kill_9_leaves_what_was_done(tmp_path, source):
    script = (
        "import sys, time; from pathlib import Path; from clew.index import build\n"
        "from clew.opening.environment import keep_machine_code\n"
        "from clew.text.embedders.registry import embedder\n"
        "keep_machine_code()\n"
        "build._add_vectors = lambda *a: (print('here', flush=True), time.sleep(60))\n"
        "build.build_index([Path(sys.argv[1])], Path(sys.argv[2]), embedder=embedder())"
    )
    out = tmp_path / "x.clew"
    environment = {**os.environ, "PYTHONPATH": str(SRC)}
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(source), str(out)], stdout=subprocess.PIPE, env=environment
    )
    assert process.stdout.readline().strip() == b"here"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    stages = []
    build_index([source], out, embedder=embedder_of(), progress=lambda *step: stages.append(step[0]))
    assert set(stages) == {"vectors"}
    assert np.isfinite(open_index(out, verify=True).array("entity_vectors.scale")).all()
