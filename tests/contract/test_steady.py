"""Every method with a scripted model, two threads, and an update that is killed."""

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from doors import build, run_clew

from clew import Clew

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "Who directed Metropolis?"


def test_two_threads_have_the_same_answers(python):
    clew = python.opened["films"]
    questions = [QUESTION, "Which films did John Huston direct?", "Where was the director of M born?"] * 4
    alone = [clew.ask(question).text for question in questions]
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda question: clew.ask(question).text, questions)) == alone
        claims = ["Fritz Lang directed Metropolis.", "Fritz Lang directed Key Largo."] * 4
        verdicts = list(threads.map(lambda claim: clew.verify(claim).verdict, claims))
    assert verdicts == ["supported", "refuted"] * 4


def test_an_update_that_is_killed_leaves_one_of_the_two(tmp_path):
    index, added = build("films", tmp_path), tmp_path / "new.tsv"
    added.write_text("Beat the Devil\tdirected_by\tJohn Huston\n", "utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "clew", "update", str(index), "--add", str(added), "--quiet"]
    rng = random.Random(7)
    for _ in range(3):
        with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as update:
            time.sleep(rng.uniform(0.3, 1.2))
            update.send_signal(signal.SIGKILL)
            update.wait()
        with Clew.open(index) as clew:
            films = {answer.label for answer in clew.ask("Which films did John Huston direct?").answers}
            assert films - {"Beat the Devil"} == {"Key Largo", "The African Queen", "The Maltese Falcon"}
            assert len(list(clew)) in (48, 49)
    assert run_clew("update", index, "--add", added, "--quiet").exit_code == 0
    with Clew.open(index) as clew:
        assert clew.ask("Who directed Beat the Devil?").text == "John Huston"
