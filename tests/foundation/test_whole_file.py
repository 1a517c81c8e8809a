"""A file is there as a whole: the old one or the new one."""

import os
from pathlib import Path

import pytest

from clew.foundation.system import replace_file


@pytest.mark.parametrize(("content", "held"), [("é\n", b"\xc3\xa9\n"), (b"\r\n\0", b"\r\n\0")])
def test_it_holds_what_was_given_and_nothing_else_is_left(
    tmp_path: Path, content: str | bytes, held: bytes
) -> None:
    (tmp_path / "f").write_text("a longer one that was there before")
    replace_file(tmp_path / "f", content)
    assert (tmp_path / "f").read_bytes() == held
    assert os.listdir(tmp_path) == ["f"]


def test_what_cannot_be_put_in_place_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        replace_file(tmp_path / "taken", "text")
    assert os.listdir(tmp_path) == ["taken"]
