"""Every method with a scripted model, two threads, and an update that is killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from doors import build, run_clew

from clew import Clew
from clew.llm.testing import ScriptedModel
from clew.methods.registry import METHODS

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "Who directed Metropolis?"
REPLY = (
    '{"reason": "", "answers": ["Fritz Lang"], "divided": ["x"], "sub_questions": ["Who directed it?"],'
    ' "triples": [["Metropolis", "directed_by", "UNKNOWN 1"]]}'
)
REPLIES = {"prose": "Fritz Lang", "an object": REPLY, "nothing": ""}


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
@pytest.mark.parametrize("method", METHODS)
def test_a_method_answers_with_proof_or_abstains(python, method, reply):
    if method in ("synaptiqa", "kg-query"):
        pytest.importorskip("ladybug", reason="ladybug is not installed (pip install 'clew[ladybug]')")
    clew = python.opened["films"]
    answer = clew.ask(QUESTION, method=method, model=ScriptedModel(lambda _: reply))
    told = {(t.head, t.relation, t.tail) for citation in answer.citations for t in citation.triples}
    assert told <= {(t.head, t.relation, t.tail) for t in clew}
    assert (answer.abstained is None) == bool(answer.text)
    if answer.grounded and answer.answers:
        assert {a.entity for a in answer.answers} == {c.answer for c in answer.citations if c.triples}
        assert answer.text == "Fritz Lang"


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
