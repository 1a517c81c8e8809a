"""What the methods make of a strong model's replies over graphs whose relations have opaque names.

The graphs, questions and claims were written by somebody who had not seen the code, and the replies from the
prompts alone (`tests/data/replies/README.md`). A prompt that changes has no reply, and has to be asked again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clew import Clew
from clew.errors import LlmError
from clew.llm.testing import ScriptedModel
from clew.llm.types import Request
from servers.recorded_replies import key_of, recorded

FOLDER = Path(__file__).resolve().parents[1] / "data" / "opaque"
GRAPHS = ("bloodbank", "cheesecave", "courtarch", "liftsvc", "treereg")
RIGHT = {"auto": 38, "simgrag": 37, "synaptiqa": 40, "walk-retrieve": 26}
"""Questions of 40 whose whole set of answers is right."""
RIGHT_CLAIMS, NOT_ASKED = 17, {("walk-retrieve", "courtarch-6")}
"""Claims of 20; no other verdict decides the other way. What was not replied to in time."""


def reply_of(request: Request) -> str | LlmError:
    """The recorded reply to a prompt."""
    reply = recorded("opaque").get(key_of([(m.role, m.text) for m in request.messages]))
    if reply is None:
        return LlmError("this prompt was not asked")
    for stop in request.stop:
        reply = reply.split(stop)[0]
    return reply


def rows_of(graph: str, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / graph / name).read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Clew]]:
    cache = tmp_path_factory.mktemp("opaque")
    opened = {
        graph: Clew.open(
            FOLDER / graph / "kg.tsv",
            types=FOLDER / graph / "types.tsv",
            cache_dir=cache,
        )
        for graph in GRAPHS
    }
    yield opened
    for clew in opened.values():
        clew.close()


@pytest.mark.parametrize("method", RIGHT)
def test_questions_are_answered(graphs: dict[str, Clew], method: str) -> None:
    if method == "synaptiqa":
        pytest.importorskip("ladybug", reason="ladybug is not installed (pip install 'clew[ladybug]')")
    right = wrong = 0
    for graph, clew in graphs.items():
        for row in rows_of(graph, "questions.jsonl"):
            if (method, row["id"]) in NOT_ASKED:
                continue
            answer = clew.ask(row["question"], method=method, model=ScriptedModel(reply_of))
            names = {a.label for a in answer.answers}, {a.entity for a in answer.answers}
            right += set(row["gold"]) in names
            wrong += bool(answer.answers) and set(row["gold"]) not in names
    assert (right, wrong) == (RIGHT[method], int(method == "simgrag"))


def test_claims_are_checked(graphs: dict[str, Clew]) -> None:
    verdicts = [
        (clew.verify(row["claim"], model=ScriptedModel(reply_of)).verdict.upper(), row["label"])
        for graph, clew in graphs.items()
        for row in rows_of(graph, "claims.jsonl")
    ]
    assert sum(verdict == label for verdict, label in verdicts) == RIGHT_CLAIMS
    assert all(verdict in (label, "NOT_ENOUGH_INFO") for verdict, label in verdicts)
