"""An index of sources holds their graph, names and vectors, and says what it was made from."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clew.errors import IndexAccessError, InputError, ParseError
from clew.index import build, shards
from clew.index.build import build_index
from clew.index.store.directory import open_index
from clew.text.embedders import embedder as embedder_of

METAQA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "metaqa" / "kb.txt.gz"


@pytest.fixture
def films(tmp_path):
    file = tmp_path / "films.tsv"
    file.write_text("Memento\tdirected_by\tChristopher Nolan\nMemento\treleaseYear\t2000\n")
    (tmp_path / "t.tsv").write_text("Memento\tfilm\n")
    (tmp_path / "a.tsv").write_text("Christopher Nolan\tKit\n")
    return file


def test_an_error_in_a_source_leaves_the_old_index(films, tmp_path, letters):
    out = tmp_path / "films.clew"
    build_index([films], out, embedder=letters)
    films.write_text("only two\tfields\n")
    with pytest.raises(ParseError, match=r"films\.tsv:1"):
        build_index([films], out, embedder=letters)
    assert open_index(out, verify=True).graph.triples == 2
    with pytest.raises(InputError, match=r"absent\.tsv"):
        build_index([tmp_path / "absent.tsv"], tmp_path / "new.clew", embedder=letters)
    assert not (tmp_path / "new.clew").exists()


def test_the_same_sources_give_the_same_files(films, tmp_path, letters):
    builds = [build_index([films], tmp_path / name, embedder=letters) for name in ("a.clew", "b.clew")]
    assert builds[0].manifest.files == builds[1].manifest.files


def test_metaqa_is_small_and_its_names_are_found(tmp_path):
    if not METAQA.exists():
        pytest.skip("the MetaQA graph is not beside the repository")
    out = tmp_path / "metaqa.clew"
    built = build_index([METAQA], out, embedder=embedder_of())
    assert built.manifest.about.counts["entities"] == 43_234
    assert built.manifest.about.counts["triples"] == 133_582
    assert sum(f.stat().st_size for f in out.rglob("*") if f.is_file()) < 60_000_000
    index = open_index(out)
    assert [index.graph.entities[h.entity] for h in index.names.exact("ted danson")] == [
        "ted danson",
        "Ted Danson",
    ]
    assert "The Shawshank Redemption" in {
        index.graph.entities[h.entity] for h in index.names.fuzzy("shawshank redemptoin, the")
    } | {index.graph.entities[h.entity] for h in index.names.fuzzy("the shawshenk redemptoin")}


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
