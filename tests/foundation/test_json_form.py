"""Plain data as typed objects, from many threads at once; objects a line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clew.errors import ParseError
from clew.foundation.forms import json_lines
from clew.foundation.system import replace_file

_MANY = """
import sys, threading
from dataclasses import make_dataclass
from clew.foundation.forms import converted

sys.setswitchinterval(1e-6)
for round in range(60):
    inner = make_dataclass("Inner", [("a", int), ("b", str)])
    outer = make_dataclass("Outer", [("one", inner), ("more", tuple[inner, ...])])
    part = {"a": 1, "b": "x"}
    found = []
    go = threading.Barrier(12)

    def convert():
        go.wait()
        found.append(converted({"one": part, "more": [part, part]}, outer))

    threads = [threading.Thread(target=convert) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 12 and all(item.more[1].b == "x" for item in found)
"""


def test_many_threads_meet_a_class_for_the_first_time():
    done = subprocess.run([sys.executable, "-c", _MANY], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_lines_are_numbered_with_those_that_are_blank() -> None:
    lines = [b'\xef\xbb\xbf{"a": 1}\r\n', b" \r\n", b'{"a": 2}']
    assert list(json_lines(lines, "f", "")) == [(1, {"a": 1}), (3, {"a": 2})]


@pytest.mark.parametrize(("line", "reason"), [(b"[1]", "not a JSON object"), (b'"\xff"', "not UTF-8 text")])
def test_a_line_that_is_no_object_is_named(line: bytes, reason: str) -> None:
    with pytest.raises(ParseError, match=f"f:2: {reason}"):
        list(json_lines([b"{}", line], "f", "Mend it"))


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
