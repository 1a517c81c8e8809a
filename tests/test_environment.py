"""What the environment says of folders."""

import os
import sys
from pathlib import Path

import pytest

from clew import environment
from clew.environment import default_cache, keep_machine_code
from clew.index.store import folders


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
    assert default_cache() == Path(place)


@pytest.mark.parametrize(("writable", "kept"), [(True, None), (False, "numba")])
def test_machine_code_is_kept_where_it_may_be_written(monkeypatch, tmp_path, writable, kept):
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")  # so that what is set here is undone
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.setattr(environment.os, "access", lambda path, mode: writable)
    keep_machine_code()
    assert os.environ["NUMBA_CACHE_DIR"] == ("" if kept is None else str(tmp_path / kept))


def test_a_user_without_a_home_directory_has_a_cache(monkeypatch):
    for name in ("CLEW_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert default_cache() == folders.private_folder()
    assert default_cache().is_absolute()
