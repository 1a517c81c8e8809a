"""The example graph, opened once, and scripted models on it."""

import json
from pathlib import Path

import pytest

from clew import Clew
from clew.llm.testing import ScriptedModel
from clew.methods.auto import Auto

FILMS = Path(__file__).resolve().parents[2] / "examples" / "films.tsv"


@pytest.fixture(scope="session")
def films(tmp_path_factory):
    with Clew.open(FILMS, cache_dir=tmp_path_factory.mktemp("cache")) as opened:
        yield opened


@pytest.fixture(scope="session")
def parser(films):
    return Auto(films.index, films.embedder)


@pytest.fixture(scope="session")
def triples():
    return [tuple(line.split("\t")) for line in FILMS.read_text("utf-8").splitlines()]


def pattern_reply(*triples):
    return json.dumps({"divided": [" ".join(t) for t in triples], "triples": [list(t) for t in triples]})


def answers_reply(*answers):
    return json.dumps({"reason": "as the graphs say", "answers": list(answers)})


def verdict_reply(verdict):
    return json.dumps({"reason": "as the graphs say", "verdict": verdict})


def evidence_of(request):
    """The subgraphs that a reading prompt shows."""
    text = request.messages[-1].text
    return list(json.loads(text.rpartition("<evidence>")[2].partition("</evidence>")[0]).values())


def good_model(pattern, read):
    """A model that replies with a pattern, and then with what the function `read` makes of the evidence."""

    def reply(request):
        is_reading = "<evidence>" in request.messages[0].text
        return read(evidence_of(request)) if is_reading else pattern

    return ScriptedModel(reply)
