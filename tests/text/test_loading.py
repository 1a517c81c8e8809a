"""Threads may load what comes with Clew at one time."""

import threading

from clew.text.lexicon import Lexicon


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
