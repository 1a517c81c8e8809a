"""The baselines: what each retrieves, with a scripted model and without, and that none answers unproved."""

import pytest

from clew.engine import Clew
from clew.llm.testing import ScriptedModel
from clew.methods.base import GraphMethod
from clew.methods.baselines.method import KgRetrieval, TripleRag
from clew.methods.registry import make_method
from clew.methods.settings import (
    KapingSettings,
    KgRetrievalSettings,
    LlmSettings,
    TripleRagSettings,
)
from clew.types import Answer

WHO = "Who directed Alien?"


def made(small: Clew, name: str, *replies: str) -> GraphMethod:
    return make_method(name, small.opened, small.embedder, ScriptedModel(replies))


def none() -> ScriptedModel:
    """A model that finds nothing."""
    return ScriptedModel(lambda _: "Answer: none")


def evidence(answer: Answer) -> set[tuple[str, ...]]:
    return {tuple(t) for t in answer.steps[0].detail["triples"]}


def test_triple_rag_draws_the_same_five_for_the_same_seed(metaqa: Clew):
    question = "What movies did Christopher Nolan direct?"
    draws = [
        TripleRag(metaqa.opened, metaqa.embedder, model=none(), settings=TripleRagSettings(seed=seed))
        .answer(question)
        .steps
        for seed in (0, 0, 1)
    ]
    first, again, other = [tuple(map(tuple, steps[0].detail["triples"])) for steps in draws]
    assert len(first) == 5
    assert first == again
    assert first != other
    assert all("Christopher Nolan" in triple for triple in first)


@pytest.mark.parametrize(
    ("k", "reply", "answers", "complete"),
    [
        (10, "Facts: 1, 2\nAnswer: Alien; Blade Runner", 2, True),
        (1, "Facts: 1\nAnswer: {shown}", 1, False),
        (10, "Facts: 1\nAnswer: none", 0, False),
    ],
)
def test_a_model_that_read_a_part_of_the_graph_is_complete_where_its_lists_are_whole(
    small: Clew, k: int, reply: str, answers: int, complete: bool
):
    def replied(request):
        shown = "Alien" if "Alien" in request.messages[-1].text else "Blade Runner"
        return reply.format(shown=shown)

    method = make_method("kaping", small.opened, small.embedder, ScriptedModel(replied), KapingSettings(k=k))
    answer = method.answer("Which films did Ridley Scott direct?")
    assert (len(answer.answers), answer.complete) == (answers, complete)


def test_what_a_limit_leaves_out_is_told(metaqa: Clew):
    method = KgRetrieval(metaqa.opened, metaqa.embedder, model=none(), settings=KgRetrievalSettings(6))
    answer = method.answer("What did Christopher Nolan direct?", entities=["Christopher Nolan"])
    (note,) = answer.steps[0].detail["notes"]
    assert note.startswith("6 of ")
    assert not answer.complete


def test_kg_retrieval_takes_the_entities_that_the_model_lists(small: Clew):
    method = made(small, "kg-retrieval", "- Blade Runner\n- Nothing Known", "Harrison Ford")
    answer = method.answer("Who is in the one with the replicants?")
    assert [a.entity for a in answer.answers] == ["Harrison Ford"]
    assert all("Blade Runner" in triple for triple in evidence(answer))


def test_kg_retrieval_shows_every_relation_of_a_hub(metaqa: Clew):
    method = KgRetrieval(metaqa.opened, metaqa.embedder, model=none(), settings=KgRetrievalSettings(6))
    answer = method.answer("What did Christopher Nolan do?", entities=["Christopher Nolan"])
    assert {relation for _, relation, _ in evidence(answer)} == {"directed_by", "written_by"}


def test_kg_gpt_leaves_out_relations_that_the_graph_lacks(small: Clew):
    replies = ("1. Alien was composed by something 1.", "composed by\nmusic of")
    answer = made(small, "kg-gpt", *replies).answer("Who composed Alien?")
    assert answer.abstained is not None
    assert answer.abstained.reason == "empty_result"


def test_llm_may_have_worked_questions_in_its_prompt(small: Clew):
    for shots in (0, 12):
        model = ScriptedModel(["Ridley Scott"])
        make_method("llm", small.opened, small.embedder, model, LlmSettings(shots=shots)).answer(WHO)
        text = model.requests[0].messages[1].text
        assert (text.count("Question: "), text.count("Answer:")) == (shots + 1, shots + 1)
        assert text.endswith(f"Question: {WHO}\nAnswer:")
