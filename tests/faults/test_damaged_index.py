"""Bits of an index are flipped: it says so, and neither answers wrongly nor ends with a signal."""

import json
import random
import shutil
import subprocess
import sys

import numpy as np
import pytest

from clew import Clew
from clew.errors import FormatError
from clew.index.store.directory import _checksum
from clew.index.store.files import full_checksum

pytestmark = pytest.mark.slow

ROUNDS = 1_000
QUESTION = "Who directed Memento?"
ANSWER = ["Christopher Nolan"]


def flip(file, at, bit):
    with file.open("r+b") as handle:
        handle.seek(at)
        byte = handle.read(1)[0]
        handle.seek(at)
        handle.write(bytes([byte ^ (1 << bit)]))


def places(path, rounds):
    """(file, byte, bit), each byte of the index as likely as any other."""
    found = sorted(f for f in path.rglob("*") if f.is_file() and f.name not in ("lock", "sealed.json"))
    sizes = [f.stat().st_size for f in found]
    draw = random.Random(11)
    for file in draw.choices(found, sizes, k=rounds):
        yield file, draw.randrange(file.stat().st_size), draw.randrange(8)


def answers(path):
    with Clew.open(path) as clew:
        return [entity.label for entity in clew.ask(QUESTION).answers]


def test_a_thousand_flipped_bits_are_all_said(films, record_property):
    assert answers(films) == ANSWER
    said = right = 0
    for file, at, bit in places(films, ROUNDS):
        flip(file, at, bit)
        try:
            assert answers(films) == ANSWER, (file, at, bit)
            right += 1  # white space of the manifest
        except FormatError as error:
            assert file.name in str(error) or "manifest" in file.name  # noqa: PT017
            said += 1
        finally:
            flip(file, at, bit)
    record_property("said", said)
    record_property("right", right)
    assert said + right == ROUNDS
    assert answers(films) == ANSWER


MADE_UP = """
import sys, json
from clew import Clew
from clew.errors import ClewError
from clew.llm.testing import ScriptedModel
try:
    with Clew.open(sys.argv[1]) as clew:
        clew.ask(sys.argv[2])
        clew.ask(sys.argv[2], method="walk-retrieve", model=ScriptedModel(lambda _: "Answer: none"))
        clew.verify("Memento was directed by Christopher Nolan.")
        clew.info()
except ClewError as error:
    print("said")
"""


def test_made_up_arrays_with_right_checksums_end_nothing_with_a_signal(films, tmp_path, record_property):
    draw, codes = random.Random(5), []
    for number in range(200):
        path = tmp_path / f"{number}.clew"
        shutil.copytree(films, path)
        manifest = json.loads((path / "manifest.json").read_text())
        entry = draw.choice([e for e in manifest["files"] if e["bytes"] > 200])
        file = next(path.glob(f"gen-*/{entry['file']}"))
        array = np.load(file)
        flat = array.reshape(-1)
        for _ in range(3):
            at = draw.randrange(len(flat))
            flat.view(np.uint8)[at * flat.itemsize + draw.randrange(flat.itemsize)] ^= 1 << draw.randrange(8)
        np.save(file, array)
        entry |= {
            "bytes": file.stat().st_size,
            "checksum": full_checksum(file),
        }
        body = {key: value for key, value in manifest.items() if key != "checksum"}
        (path / "manifest.json").write_text(json.dumps({"checksum": _checksum(body), **body}))
        done = subprocess.run(
            [sys.executable, "-c", MADE_UP, str(path), QUESTION], capture_output=True, text=True, timeout=600
        )
        codes.append((done.returncode, entry["section"], done.stdout.strip(), done.stderr[-300:]))
        shutil.rmtree(path)
    bad = [code for code in codes if code[0] != 0]
    record_property("refused", sum(code[2] == "said" for code in codes))
    assert not bad
