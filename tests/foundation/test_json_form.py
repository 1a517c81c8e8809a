"""Plain data as typed objects, from many threads at once."""

import subprocess
import sys

_MANY = """
import sys, threading
from dataclasses import make_dataclass
from clew.foundation.json_form import converted

sys.setswitchinterval(1e-6)
for round in range(200):
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
