"""Every method that asks a model, against llama.cpp's own server with a model that says random words."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.engine import Clew
from clew.llm import open_model, run_sync
from clew.llm.budget import Limits
from clew.llm.managed import ManagedModel
from clew.llm.providers import Settings
from clew.methods.registry import METHODS

QUERYING = ("synaptiqa", "kg-query")
QUESTIONS = (
    "Who starred in the films directed by Ridley Scott?",
    "Who directed Alien?",
    "Who is Xyzzyplugh?",
)


@pytest.fixture(scope="module")
def random_words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagedModel]:
    for package in ("xllamacpp", "gguf", "openai"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed (pip install 'clew[test]')")
    from servers.tiny_model import write_model
    from servers.tiny_server import start

    path: Path = tmp_path_factory.mktemp("tiny") / "tiny.gguf"
    server, url = start(write_model(path))
    model = open_model(Settings("llamacpp/tiny", base_url=url, per_question=Limits(calls=20)))
    yield model
    run_sync(model.close())
    del server


@pytest.mark.parametrize("name", [name for name in METHODS if name != "auto"])
def test_always_a_typed_result(small: Clew, random_words: ManagedModel, name: str):
    if name in QUERYING:
        pytest.importorskip("ladybug", reason="ladybug is not installed")
    for question in QUESTIONS:
        answer = small.ask(question, method=name, model=random_words)
        assert answer.model == "llamacpp/tiny"
        if answer.abstained is None and answer.grounded:
            assert answer.answers
            assert {c.answer for c in answer.citations} == {a.entity for a in answer.answers}
        elif answer.abstained is None:
            assert answer.text
        assert answer.usage.calls <= 20


def test_all_of_table_3_is_sent_to_a_server_that_takes_it(small: Clew, random_words: ManagedModel):
    answer = small.ask(QUESTIONS[0], method="kg-rag", model=random_words)
    notes = [note for step in answer.steps if step.name == "model" for note in step.detail["notes"]]
    assert notes == []
