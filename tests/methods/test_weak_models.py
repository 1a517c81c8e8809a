"""A model that reads nothing leaves `auto` about as right and as wrong as it is without one.

Over a graph and questions by an author who saw nothing of Clew (`tests/data/trades`); the models choose by
the place of a reading, by lot, or now this way and now that.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from clew import Clew
from clew.llm.testing import ScriptedModel
from clew.llm.types import Request

FOLDER = Path(__file__).resolve().parents[1] / "data" / "trades" / "dev" / "football"
MOST_WRONG = 1.5
"""Times as many wrong answers as without a model."""


def choosing(number: Callable[[int], int]) -> ScriptedModel:
    """A model that chooses a number of so many readings; 0 is that the graph cannot tell."""

    def reply(request: Request) -> str:
        shown = re.findall(r"^(\d+)\. ", request.messages[1].text, re.MULTILINE)
        chosen = number(len(shown)) if shown else 0
        return f"Query: {chosen or 'none'}"

    return ScriptedModel(reply)


def by_lot() -> Callable[[int], int]:
    draw = random.Random(47)
    return lambda count: draw.randint(1, count)


def fickle() -> Callable[[int], int]:
    """None, then the first, and so on."""
    turns = count()
    return lambda _: next(turns) % 2


WEAK: dict[str, Callable[[], Callable[[int], int]]] = {
    "the first": lambda: lambda _: 1,
    "the last": lambda: lambda shown: shown,
    "by lot": by_lot,
    "now none, now the first": fickle,
}
NO_SECOND_LOOK = "by lot, without a second look"


@pytest.fixture(scope="module")
def football(cache: Path) -> Iterator[Clew]:
    with Clew.open(FOLDER / "kg.tsv", types=FOLDER / "types.tsv", cache_dir=cache) as clew:
        yield clew


Counts = dict[str | None, tuple[int, int]]


@pytest.fixture(scope="module")
def counts(football: Clew) -> Counts:
    """Of each model, and of none: how many questions are answered with the whole set, and how many otherwise.

    Every fourth question is asked.
    """
    models = {None: None, **{name: choosing(make()) for name, make in WEAK.items()}}
    models[NO_SECOND_LOOK] = choosing(by_lot())
    right, wrong = Counter[str | None](), Counter[str | None]()
    for line in (FOLDER / "questions.jsonl").read_text("utf-8").splitlines()[::4]:
        row = json.loads(line)
        for name, model in models.items():
            settings = {"second_look": False} if name == NO_SECOND_LOOK else None
            answer = football.ask(row["question"], model=model, settings=settings)
            names = {a.label for a in answer.answers}, {a.entity for a in answer.answers}
            is_right = set(row["answers"]) in names
            right[name] += is_right
            wrong[name] += bool(answer.answers) and not is_right
    assert all(model.requests for model in models.values() if model is not None)
    return {name: (right[name], wrong[name]) for name in models}


@pytest.mark.parametrize("name", WEAK)
def test_a_model_that_reads_nothing_adds_few_wrong_answers(counts: Counts, name: str) -> None:
    right, wrong = counts[name]
    assert wrong <= MOST_WRONG * counts[None][1]
    assert right >= counts[None][0] - (1 if name == "by lot" else 0)


def test_it_is_the_second_look_that_holds_it_back(counts: Counts) -> None:
    assert counts[NO_SECOND_LOOK][1] > MOST_WRONG * counts[None][1]
