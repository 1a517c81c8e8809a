"""What the environment says of folders."""

from pathlib import Path

import pytest

from clew.foundation.system import COMPILING
from clew.index.store import files
from clew.index.update.edits import EditFiles
from clew.opening.environment import cache_folder, keep_machine_code
from clew.opening.graph_view import index_sources, update_index_files


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({"CLEW_CACHE_DIR": "/a", "XDG_CACHE_HOME": "/b"}, "/a"),
        ({"XDG_CACHE_HOME": "/b"}, "/b/clew"),
        ({"HOME": "/h"}, "/h/.cache/clew"),
    ],
)
def test_where_the_cache_is(monkeypatch, variables, place):
    for name in ("CLEW_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(place)


@pytest.mark.parametrize(("own", "kept"), [("", "cache/kernels"), ("own", "own")])
def test_machine_code_is_kept_beside_the_indexes_or_where_it_is_said(monkeypatch, tmp_path, own, kept):
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", own and str(tmp_path / own))
    monkeypatch.setattr(COMPILING, "folder", None)
    keep_machine_code()
    assert COMPILING.folder == tmp_path / kept


def test_machine_code_of_an_index_and_of_its_update_is_kept(monkeypatch, tmp_path):
    kept = COMPILING.folder
    (tmp_path / "a.tsv").write_text("Heat\tyear\t1995\n")
    (tmp_path / "b.tsv").write_text("Heat\tgenre\tcrime\n")
    for change in (
        lambda: index_sources([tmp_path / "a.tsv"], tmp_path / "a.clew"),
        lambda: update_index_files(tmp_path / "a.clew", EditFiles([tmp_path / "b.tsv"])),
    ):
        monkeypatch.setattr(COMPILING, "folder", None)
        change()
        assert COMPILING.folder == kept is not None


def test_a_user_without_a_home_directory_has_a_cache(monkeypatch):
    for name in ("CLEW_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert cache_folder() == files.private_folder()
    assert cache_folder().is_absolute()
