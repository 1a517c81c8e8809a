"""A build in shards gives the files of a build in one piece."""

import os
import subprocess
import sys

import pytest

from clew.errors import IndexAccessError
from clew.index import build, shards
from clew.index.build import build_index
from clew.index.store.directory import open_index
from clew.text.embedders import embedder as embedder_of


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "g.tsv"
    file.write_text("".join(f"Näme {i % 97} of {i}\trel\tWord{i * 7 % 1000} Two\n" for i in range(3000)))
    (tmp_path / "a.tsv").write_text("".join(f"Näme {i % 97} of {i}\tother {i}\n" for i in range(0, 3000, 7)))
    return file


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(shards, "SHARD_NAMES", 700)
    monkeypatch.setattr(build, "SHARDED_FROM", 100)


def digests(path):
    return {f.section: f.checksum for f in open_index(path, verify=True).manifest.files}


def test_workers_write_the_same_index(source, tmp_path, request):
    options = {"embedder": embedder_of(), "aliases": tmp_path / "a.tsv"}
    build_index([source], tmp_path / "one.clew", **options)
    request.getfixturevalue("small")
    told = []
    tell = lambda *step: told.append(step)  # noqa: E731
    build_index([source], tmp_path / "two.clew", progress=tell, **options)
    assert digests(tmp_path / "one.clew") == digests(tmp_path / "two.clew")
    assert sorted(os.listdir(tmp_path / "two.clew")) == ["gen-000001", "lock", "manifest.json"]
    total = max(step[2] for step in told if step[0] == "names")
    assert [step[1] for step in told if step[0] == "names"] == sorted(s[1] for s in told if s[0] == "names")
    assert ("names", total, total) in told


def test_a_worker_that_dies_is_an_error_and_the_old_index_stays(source, tmp_path, monkeypatch, small):
    out = tmp_path / "x.clew"
    build_index([source], out, embedder=embedder_of())
    before = digests(out)
    real = subprocess.Popen

    def dies(command, **options):
        process = real([sys.executable, "-c", "import os, signal; os.kill(os.getpid(), 9)"], **options)
        process.wait()
        return process

    monkeypatch.setattr(shards.subprocess, "Popen", dies)
    os.utime(source, (1, 1))
    with pytest.raises(IndexAccessError, match=r"ran out of memory.*run the same command again"):
        build_index([source], out, embedder=embedder_of())
    assert digests(out) == before


def test_memory_that_runs_out_is_an_error(source, tmp_path, monkeypatch, letters):
    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr(build.NamesIndex, "of", full)
    with pytest.raises(IndexAccessError, match="the memory is full"):
        build_index([source], tmp_path / "x.clew", embedder=letters)
