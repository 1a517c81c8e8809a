"""What the methods make of a strong model's replies over graphs whose relations have opaque names.

The graphs, questions and claims were written by somebody who had not seen the code, and the replies from the
prompts alone (`tests/data/replies/README.md`). A prompt that changes has no reply, and has to be asked again.
"""

from __future__ import annotations

import json
from collections import Counter
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
SETS = {
    "first": ("bloodbank", "cheesecave", "courtarch", "liftsvc", "treereg"),
    "second": ("apiary", "pianoworkshop", "quarry", "waterworks", "weavingmill"),
}
"""Prompts and code were worked on with the first set in sight; the second came later, and was only asked."""
RIGHT = {
    "first": {
        "auto": (38, 0), "kg-rag": (37, 0), "simgrag": (37, 0), "synaptiqa": (40, 0),
        "walk-retrieve": (35, 0),
    },
    "second": {
        "auto": (39, 1), "kg-rag": (40, 0), "simgrag": (39, 0), "synaptiqa": (40, 0),
        "walk-retrieve": (39, 0),
    },
}  # fmt: skip
"""Questions of 40 whose whole set of answers is right, and those that are answered otherwise."""
LEAST_REPLAYED = 4
"""Questions that have replies of a small model."""
LEAST_CLAIMS = 19
"""Claims of 20 whose verdict is right; no other verdict decides the other way."""


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
def graphs(cache: Path) -> Iterator[dict[str, Clew]]:
    opened = {
        graph: Clew.open(
            FOLDER / graph / "kg.tsv",
            types=FOLDER / graph / "types.tsv",
            cache_dir=cache,
        )
        for graphs_of_set in SETS.values()
        for graph in graphs_of_set
    }
    yield opened
    for clew in opened.values():
        clew.close()


@pytest.mark.parametrize("chosen", [pytest.param("first", marks=pytest.mark.slow), "second"])
def test_questions_are_answered(graphs: dict[str, Clew], chosen: str) -> None:
    """A question is asked by all methods in turn: what it means is read once."""
    pytest.importorskip("ladybug", reason="ladybug is not installed (pip install 'clew[ladybug]')")
    right, wrong = Counter[str](), Counter[str]()
    models = {method: ScriptedModel(reply_of) for method in RIGHT[chosen]}
    for graph in SETS[chosen]:
        for row in rows_of(graph, "questions.jsonl"):
            for method, model in models.items():
                answer = graphs[graph].ask(row["question"], method=method, model=model)
                names = {a.label for a in answer.answers}, {a.entity for a in answer.answers}
                right[method] += set(row["gold"]) in names
                wrong[method] += bool(answer.answers) and set(row["gold"]) not in names
    assert {method: (right[method], wrong[method]) for method in models} == RIGHT[chosen]


def test_a_small_model_makes_auto_no_worse_than_none(graphs: dict[str, Clew]) -> None:
    """Replies of Qwen2.5-Coder 0.5B, which chooses the first reading whatever it says.

    Questions whose prompts have no reply any more are left out.
    """

    def reply(request: Request) -> str | LlmError:
        said = recorded("qwen-coder-0.5b").get(key_of([(m.role, m.text) for m in request.messages]))
        return LlmError("this prompt was not asked") if said is None else said

    model = ScriptedModel(reply)
    asked = right = wrong = right_without = wrong_without = 0
    for graph in SETS["first"]:
        clew = graphs[graph]
        for row in rows_of(graph, "questions.jsonl"):
            try:
                answer = clew.ask(row["question"], model=model)
            except LlmError:
                continue
            without = clew.ask(row["question"])
            gold = set(row["gold"])
            asked += answer.usage.calls > 0
            right += {a.label for a in answer.answers} == gold
            right_without += {a.label for a in without.answers} == gold
            wrong += bool(answer.answers) and {a.label for a in answer.answers} != gold
            wrong_without += bool(without.answers) and {a.label for a in without.answers} != gold
    if asked < LEAST_REPLAYED:
        pytest.skip(f"the small model was asked {asked} of these prompts: ask it anew")
    assert wrong <= 1.5 * wrong_without
    assert right >= right_without


@pytest.mark.parametrize("method", ["auto", "simgrag"])
@pytest.mark.parametrize("chosen", [pytest.param("first", marks=pytest.mark.slow), "second"])
def test_claims_are_checked(graphs: dict[str, Clew], chosen: str, method: str) -> None:
    model = ScriptedModel(reply_of)
    verdicts = [
        (graphs[graph].verify(row["claim"], method=method, model=model).verdict.upper(), row["label"])
        for graph in SETS[chosen]
        for row in rows_of(graph, "claims.jsonl")
    ]
    assert all(verdict in (label, "NOT_ENOUGH_INFO") for verdict, label in verdicts)
    assert sum(verdict == label for verdict, label in verdicts) >= LEAST_CLAIMS
