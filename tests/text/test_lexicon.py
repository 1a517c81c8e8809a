"""The lexicon that ships: a file that is missing or damaged, and threads that load it at once."""

import threading
from pathlib import Path

import pytest

from clew.errors import FormatError
from clew.text.lexicon import LEXICON_FILE, Lexicon


def test_a_missing_or_damaged_table_is_a_format_error(tmp_path: Path):
    with pytest.raises(FormatError, match="Install clew again"):
        Lexicon.load(tmp_path / "none.npz")
    damaged = tmp_path / "lexicon.npz"
    damaged.write_bytes(LEXICON_FILE.read_bytes()[:50_000])
    with pytest.raises(FormatError, match="Install clew again"):
        Lexicon.load(damaged)
    (tmp_path / "empty.npz").write_bytes(b"")
    with pytest.raises(FormatError, match="Install clew again"):
        Lexicon.load(tmp_path / "empty.npz")


def test_many_threads_load_the_lexicon():
    """Headers of NumPy's files go through the parser of Python, which two threads of 3.11 may not share."""
    loaded: list[bool] = []
    threads = [
        threading.Thread(target=lambda: loaded.append(Lexicon.load().known("film"))) for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loaded == [True] * 12
