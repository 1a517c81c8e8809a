"""Indexes in object stores, against a real S3 server, `memory://` and `file://`."""

import json
import multiprocessing
import shutil
import sys
from pathlib import Path

import pytest

from clew.engine import Clew
from clew.errors import ClewError, FormatError, InputError
from clew.index.remote import ObjectStoreError, RemoteIndex
from clew.index.store.manifest import MANIFEST
from clew.stores.opening import is_remote

pytest.importorskip("s3fs", reason="the package of S3 stores is not installed")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "servers"))
FILMS = Path(__file__).parents[2] / "examples" / "films.tsv"
QUESTION = "Who directed Memento?"


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    path = tmp_path_factory.mktemp("films") / "films.clew"
    Clew.index([FILMS], path).close()
    return path


@pytest.fixture(scope="module")
def server():
    pytest.importorskip("moto", reason="the server of S3 for tests is not installed")
    from object_store import object_store

    with pytest.MonkeyPatch.context() as patch, object_store(patch) as running:
        yield running


@pytest.fixture
def store(server, films):
    server.refuses, server.cuts, server.times = False, "", 1_000
    server.put(films, "graphs/films.clew")
    server.got.clear()
    return server


ADDRESS = "s3://graphs/films.clew"


def test_an_index_in_s3_is_fetched_once(store, tmp_path):
    with Clew.open(ADDRESS, cache_dir=tmp_path) as clew:
        assert clew.ask(QUESTION).text == "Christopher Nolan"
    first = len(store.got)
    with Clew.open(ADDRESS, cache_dir=tmp_path) as clew:
        assert clew.ask(QUESTION).text == "Christopher Nolan"
    assert [path.endswith(MANIFEST) for path in store.got[first:]] == [True]


def test_a_store_that_refuses_is_named_with_what_to_check(store, tmp_path):
    store.refuses = True
    with pytest.raises(
        ObjectStoreError, match=r"s3://graphs/films.clew \(from .+\): the store refuses .* keys"
    ):
        Clew.open(ADDRESS, cache_dir=tmp_path)


def test_a_store_that_cuts_off_in_the_middle_leaves_nothing_that_is_taken_for_whole(store, tmp_path):
    store.cuts = "entity_vectors.q"
    with pytest.raises(ObjectStoreError, match=r"broke off|did not come as it was written"):
        Clew.open(ADDRESS, cache_dir=tmp_path)
    assert not list((tmp_path / "fetched").glob("*.clew"))
    before = len(store.got)
    store.cuts = ""
    with Clew.open(ADDRESS, cache_dir=tmp_path) as clew:
        assert clew.ask(QUESTION).text == "Christopher Nolan"
    again = [path for path in store.got[before:] if path.endswith("graph.source.npy")]
    assert not again  # what had come whole is not fetched again


def test_a_reply_that_is_cut_off_once_is_asked_for_again(store, tmp_path):
    store.cuts, store.times = "entity_vectors.q", 1
    with Clew.open(ADDRESS, cache_dir=tmp_path) as clew:
        assert clew.ask(QUESTION).text == "Christopher Nolan"


def test_no_index_there(store, tmp_path):
    with pytest.raises(InputError, match="no such index"):
        Clew.open("s3://graphs/none.clew", cache_dir=tmp_path)
    with pytest.raises(ClewError, match=r"no such index|refuses|cannot be reached"):
        Clew.open("s3://nowhere/none.clew", cache_dir=tmp_path)


def test_a_new_generation_is_fetched_and_the_one_before_stays_open(films, tmp_path):
    there = tmp_path / "there.clew"
    shutil.copytree(films, there)
    address, cache = there.as_uri(), tmp_path / "cache"
    cache.mkdir()
    with Clew.open(address, cache_dir=cache) as before:
        Clew.index([FILMS], there).close()
        with Clew.open(address, cache_dir=cache) as after:
            assert after.path != before.path
        assert before.ask(QUESTION).text == "Christopher Nolan"
    Clew.index([FILMS], there).close()
    Clew.open(address, cache_dir=cache).close()
    assert len(list((cache / "fetched").glob("*.clew"))) == 2


def test_an_index_in_memory(films, tmp_path):
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.put(str(films), "/kb.clew", recursive=True)
    try:
        with Clew.open("memory://kb.clew", cache_dir=tmp_path) as clew:
            assert clew.ask(QUESTION).text == "Christopher Nolan"
    finally:
        memory.rm("/kb.clew", recursive=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda raw: raw[:100], "not JSON"),
        (lambda raw: raw.replace(b'"generation": 1', b'"generation": 2'), "checksum differs"),
        (lambda raw: json.dumps({**json.loads(raw), "format": 99}).encode(), "index format 99"),
    ],
)
def test_a_damaged_manifest_is_told(films, tmp_path, change, said):
    there = tmp_path / "there.clew"
    shutil.copytree(films, there)
    (there / MANIFEST).write_bytes(change((there / MANIFEST).read_bytes()))
    with pytest.raises(FormatError, match=said) as told:
        Clew.open(there.as_uri(), cache_dir=tmp_path / "cache")
    assert there.as_uri() in str(told.value)


def test_a_file_that_differs_from_the_manifest_is_told(films, tmp_path):
    there = tmp_path / "there.clew"
    shutil.copytree(films, there)
    file = there / "gen-000001" / "graph.source.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(ObjectStoreError, match=r"graph.source.npy did not come as it was written"):
        Clew.open(there.as_uri(), cache_dir=tmp_path / "cache")
    file.unlink()
    with pytest.raises(ObjectStoreError, match="lacks files of its own manifest"):
        Clew.open(there.as_uri(), cache_dir=tmp_path / "cache")


def test_names_of_files_that_lead_elsewhere_are_refused(films, tmp_path, monkeypatch):
    from clew.index import remote

    there = tmp_path / "there.clew"
    shutil.copytree(films, there)
    monkeypatch.setattr(remote, "read_manifest", lambda path: _elsewhere(films))
    with pytest.raises(FormatError, match=r"'\.\./\.\./x' is no name"):
        Clew.open(there.as_uri(), cache_dir=tmp_path / "cache")


def _elsewhere(path):
    from dataclasses import replace

    from clew.index.store.manifest import read_manifest

    manifest = read_manifest(path)
    return replace(manifest, files=(replace(manifest.files[0], file="../../x"),))


def test_a_full_disk_is_told(films, tmp_path, monkeypatch):
    import errno

    from fsspec.implementations.local import LocalFileSystem

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(LocalFileSystem, "get_file", full)
    with pytest.raises(ClewError, match="the disk is full"):
        Clew.open(films.as_uri(), cache_dir=tmp_path)


def _fetch(address, cache, results):
    results.put(str(RemoteIndex(address, Path(cache)).fetch().path))


def test_a_second_process_waits_and_finds_what_the_first_fetched(films, tmp_path):
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    held = RemoteIndex(films.as_uri(), tmp_path).fetch().path
    lock, hidden = held.with_suffix(".lock"), held.with_suffix(".part")
    from filelock import FileLock

    held.rename(hidden)
    with FileLock(lock):
        other = context.Process(target=_fetch, args=(films.as_uri(), str(tmp_path), results))
        other.start()
        other.join(0.2)
        assert other.is_alive()
        hidden.rename(held)
        stamp = held.stat().st_ino
    other.join(60)
    assert results.get() == str(held)
    assert held.stat().st_ino == stamp


@pytest.mark.parametrize(
    ("source", "remote"),
    [("s3://a/b.clew", True), ("neo4j://host", False), ("a.clew", False), ("file", False)],
)
def test_what_is_an_address_of_a_store(source, remote):
    assert is_remote(source) is remote


def test_a_server_takes_up_a_new_generation_and_outlives_a_store_that_fails(films, tmp_path):
    graphs = pytest.importorskip("clew.serve.graphs")
    there = tmp_path / "there.clew"
    shutil.copytree(films, there)
    graph = graphs.ServedGraph.of("films", lambda: Clew.open(there.as_uri(), cache_dir=tmp_path / "cache"))
    graph.remote_seconds = 0.0
    first = graph.clew
    assert not graph.reload()
    Clew.index([FILMS], there).close()
    assert graph.reload()
    assert graph.clew is not first
    shutil.rmtree(there)
    assert not graph.reload()
    assert "does not answer" in graph.failure
    assert graph.clew.ask(QUESTION).text == "Christopher Nolan"
    first.close()
    graph.clew.close()


def test_an_evaluation_on_workers_opens_the_address(films, tmp_path):
    from clew.evaluate.run.graphs import GraphFile

    opened = GraphFile(films.as_uri()).open(embedder=None, progress=None)
    assert opened.origin.address == films.as_uri()
    opened.close()
