"""What holds for every method of the registry, with a chat model and without one."""

import inspect
import json

import pytest

from clew.errors import LlmError, UsageError
from clew.llm.testing import ScriptedModel
from clew.methods.registry import METHODS, make_method, method_named

QUESTION = "Which films did Christopher Nolan direct?"
UNREADABLE = "Colourless green ideas sleep furiously with Christopher Nolan?"
REPLIES = {
    "prose": "Memento and Tenet, I think.",
    "names": "Memento\nTenet",
    "an answer": '{"reason": "", "answers": ["Memento"]}',
    "a pattern": '{"divided": ["x"], "triples": [["UNKNOWN film 1", "directed_by", "Christopher Nolan"]]}',
    "a query": "MATCH (f)-[:directed_by]->(d {name: 'Christopher Nolan'}) RETURN f.name",
    "nothing": "",
}

HINTS = {"simgrag", "synaptiqa", "kg-query", "walk-retrieve"}
"""Methods to whose model given entities are hints: one that is not in the graph is not told apart."""


@pytest.fixture(params=METHODS)
def made(request, films):
    """Makes the method: with a model that says one reply, or without a model."""
    name = request.param
    if name in ("synaptiqa", "kg-query"):
        pytest.importorskip("ladybug", reason="ladybug is not installed")

    def make(reply=None):
        model = None if reply is None else ScriptedModel(lambda _: reply)
        return make_method(name, films.index, films.embedder, model)

    make.name = name
    return make


def told(answer):
    """An answer without what differs from run to run."""
    return {key: value for key, value in answer.as_json(steps=True).items() if key != "timings_ms"}


def test_without_a_model_there_is_auto_and_the_others_say_so(made):
    if made.name == "auto":
        answer = made().answer(QUESTION)
        assert (answer.model, answer.usage.calls, bool(answer.answers)) == (None, 0, True)
    else:
        with pytest.raises(UsageError, match=rf"{made.name}.* needs a chat model.*--method auto"):
            made()


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_an_answer_is_complete_and_proved(made, films, triples, reply):
    answer = made(reply).answer(QUESTION, id="q7")
    assert (answer.question, answer.id, answer.method) == (QUESTION, "q7", made.name)
    assert answer.timings_ms["total"] > 0
    assert json.loads(json.dumps(answer.as_json(steps=True))) == answer.as_json(steps=True)
    assert (answer.abstained is None) == bool(answer.answers or answer.text)
    cited = [(t.head, t.relation, t.tail) for citation in answer.citations for t in citation.triples]
    assert set(cited) <= set(triples)
    if answer.grounded:
        assert {a.entity for a in answer.answers} == {c.answer for c in answer.citations if c.triples}
    else:
        assert answer.citations == ()


@pytest.mark.parametrize("reply", ["Memento", '{"reason": "", "answers": ["Memento"]}'])
def test_the_same_question_has_the_same_answer(made, reply):
    assert told(made(reply).answer(QUESTION)) == told(made(reply).answer(QUESTION))


def test_a_given_entity_that_the_graph_lacks_is_no_entity(made):
    answer = made("Memento").answer(QUESTION, entities=["Narnia Pevensie"])
    if answer.grounded or answer.abstained is not None:
        assert answer.abstained is not None
        if made.name not in HINTS:
            assert answer.abstained.reason == "no_entity"
            assert "Narnia Pevensie" in answer.abstained.detail


def test_a_model_that_cannot_be_asked_is_an_error_and_no_answer(made):
    if "model" not in inspect.signature(method_named(made.name)).parameters:
        pytest.skip("it asks no model")
    method = made(LlmError("the server is down"))
    with pytest.raises(LlmError, match="the server is down"):
        method.answer(UNREADABLE)
