"""A plain file is indexed once, and again when it or what belongs to it changes."""

import os
import shutil
import tempfile
import threading
from pathlib import Path

import pytest

from clew.index import cache as cache_module
from clew.index.cache import SideFiles, cached_index, side_files
from clew.index.store.writing import writing


@pytest.fixture
def films(tmp_path):
    file = tmp_path / "films.tsv"
    file.write_text("Memento\tdirected_by\tNolan\n")
    return file


@pytest.fixture
def ask(tmp_path, films, letters):
    def cached(**options):
        options = {"cache_dir": tmp_path / "cache", "embedder": letters} | options
        return cached_index([films], **options)

    return cached


def test_a_file_is_indexed_once(ask):
    first, second = ask(), ask()
    assert (first.built, second.built) == (True, False)
    assert first.path == second.path
    assert second.index.graph.entities[0] == "Memento"
    assert first.note is None


def test_a_change_is_noticed_though_size_and_time_are_the_same_or_not(ask, films):
    ask()
    films.write_text("Memento\tdirected_by\tNolun\n")
    os.utime(films, ns=(1, 1))
    again = ask()
    assert again.built
    assert again.index.graph.entities[1] == "Nolun"
    films.write_text("Memento\tdirected_by\tNolan and others\n")
    assert ask().built


def test_a_touched_file_is_not_indexed_again(ask, films):
    ask()
    os.utime(films, ns=(5, 5))
    assert not ask().built


def test_side_files_are_picked_up_and_noticed(ask, films):
    assert ask().side_files == SideFiles(None, None)
    aliases = films.with_name("films.aliases.tsv")
    aliases.write_text("Nolan\tKit\n")
    found = ask()
    assert found.built
    assert found.side_files == SideFiles(None, aliases)
    assert [h.entity for h in found.index.names.exact("kit")] == [1]
    aliases.write_text("Nolan\tKitty\n")
    assert ask().built
    aliases.unlink()
    assert ask().built
    assert not ask().built


def test_a_side_file_that_is_named_wins(ask, films, tmp_path):
    films.with_name("films.types.tsv").write_text("Memento\tfilm\n")
    other = tmp_path / "other.tsv"
    other.write_text("Memento\tmovie\n")
    found = ask(types=other)
    assert found.side_files.types == other
    assert list(found.index.graph.types.names) == ["movie"]


@pytest.mark.parametrize("name", ["films.tsv", "films.tsv.gz", "films.nt"])
def test_the_stem_of_side_files(tmp_path, name):
    (tmp_path / "films.types.tsv").write_text("a\tb\n")
    assert side_files([tmp_path / name], None, None) == SideFiles(tmp_path / "films.types.tsv", None)


def test_options_and_embedders_have_their_own_index(ask, other_letters):
    paths = {ask().path, ask(on_error="skip").path, ask(format="tsv").path, ask(embedder=other_letters).path}
    assert len(paths) == 4


def test_a_damaged_index_is_made_again(ask):
    next(ask().path.glob("gen-*/graph.out.offsets.npy")).write_bytes(b"")
    assert ask().built
    (ask().path / "manifest.json").write_text("{}")
    assert ask().built
    assert not ask().built


def test_a_cache_that_cannot_be_written_is_replaced_and_said(ask, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    first = ask(cache_dir=tmp_path / "file" / "cache")
    assert first.note is not None
    assert "cannot be written" in first.note
    assert first.path.is_relative_to(tmp_path / "tmp")
    assert not ask(cache_dir=tmp_path / "file" / "cache").built


def test_a_folder_that_others_may_write_is_not_trusted(ask, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    shared = Path(tmp_path) / f"clew-{os.getuid()}"
    shared.mkdir()
    shared.chmod(0o777)
    (tmp_path / "file").write_text("")
    assert ask(cache_dir=tmp_path / "file").path.parent != shared


def test_the_index_that_another_process_builds_is_waited_for(ask, monkeypatch):
    path, began = ask().path, threading.Event()
    (path / "manifest.json").write_text("{}")
    seen, sleep = [], cache_module.time.sleep

    def slept(seconds):
        began.set()
        sleep(seconds)

    monkeypatch.setattr(cache_module.time, "sleep", slept)
    with writing(path):
        waiting = threading.Thread(target=lambda: seen.append(ask()))
        waiting.start()
        assert began.wait(5)
    waiting.join()
    assert seen[0].index.graph.triples == 1


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no modes of files")
def test_an_index_that_somebody_else_may_have_put_into_the_cache_is_not_read(ask, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    planted = ask()
    planted.path.chmod(0o777)
    found = ask()
    assert (found.built, found.path == planted.path) == (True, False)
    assert f"{planted.path} cannot be used (others may write to it)" in found.note


def test_a_file_in_the_place_of_a_cached_index_is_said(ask, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = ask().path
    shutil.rmtree(path)
    path.write_text("a file")
    found = ask()
    assert (found.built, found.path == path) == (True, False)
    assert f"{path} cannot be used (File exists)" in found.note
