"""The baselines: what each retrieves, with a scripted model and without, and that none answers unproved."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.engine import Clew
from clew.errors import InputError, UsageError
from clew.llm.testing import ScriptedModel
from clew.llm.types import BudgetReached
from clew.methods.base import GraphMethod
from clew.methods.baselines.method import KgRetrieval, TripleRag, VectorRag, read_documents
from clew.methods.registry import make_method
from clew.methods.settings import (
    KapingSettings,
    KgRetrievalSettings,
    LlmSettings,
    TripleRagSettings,
    VectorRagSettings,
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


def test_vector_rag_reads_texts_of_the_user_ungrounded(small: Clew, tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("The set of Alien was\nbuilt at Shepperton.\n\nSeven was shot in Los Angeles.\n", "utf-8")
    model = ScriptedModel(["Shepperton"])
    method = VectorRag(
        small.opened, small.embedder, model=model, settings=VectorRagSettings(1, read_documents([path]))
    )
    answer = method.answer("Where was the set of Alien built?")
    assert (answer.text, answer.grounded) == ("Shepperton", False)
    assert "The set of Alien was built at Shepperton." in model.requests[0].messages[-1].text
    assert "Los Angeles" not in model.requests[0].messages[-1].text


def reading(small: Clew, path: Path, *replies: str | Exception) -> VectorRag:
    """Vector-rag over texts, with a scripted model."""
    model, settings = ScriptedModel(replies), VectorRagSettings(1, read_documents([path]))
    return VectorRag(small.opened, small.embedder, model=model, settings=settings)


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot be read"), (b"\xff\xfe\x00", "UTF-8"), (b"\n \n", "no text")],
)
def test_vector_rag_says_what_is_wrong_with_texts(
    small: Clew, tmp_path: Path, content: bytes | None, message: str
):
    path = tmp_path / "notes.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        reading(small, path)


def test_vector_rag_reads_the_texts_of_a_folder(small: Clew, tmp_path: Path):
    folder = tmp_path / "texts"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("Alien was shot at Shepperton.", "utf-8")
    (folder / "deep" / "b.txt").write_text("One.\n\nSeven was shot in Los Angeles.", "utf-8")
    (folder / "c.bin").write_bytes(b"\xff")
    answer = reading(small, folder, "Los Angeles").answer("Where was Seven shot?")
    assert answer.steps[0].detail["texts"] == [{"from": "b.txt:2", "text": "Seven was shot in Los Angeles."}]


def test_vector_rag_cuts_long_paragraphs_between_words(small: Clew, tmp_path: Path):
    path = tmp_path / "long.txt"
    path.write_text("word " * 500 + "Shepperton", "utf-8")
    texts = [paragraph.text for paragraph in reading(small, path).paragraphs]
    assert " ".join(texts) == path.read_text("utf-8")
    assert max(map(len, texts)) <= 400


def test_vector_rag_over_texts_keeps_to_the_budget(small: Clew, tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("Alien was shot at Shepperton.", "utf-8")
    answer = reading(small, path, BudgetReached("question", "calls", "0 of 0")).answer(WHO)
    assert answer.abstained is not None
    assert answer.abstained.reason == "budget"


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


class Plain:
    """A method that can be told nothing."""

    def __init__(self, index, embedder) -> None:
        self.index, self.embedder = index, embedder


def test_settings_are_for_methods_that_have_some(small: Clew):
    with pytest.raises(UsageError, match="no settings"):
        make_method(Plain, small.opened, small.embedder, settings=object())


def test_llm_may_have_worked_questions_in_its_prompt(small: Clew):
    for shots in (0, 12):
        model = ScriptedModel(["Ridley Scott"])
        make_method("llm", small.opened, small.embedder, model, LlmSettings(shots=shots)).answer(WHO)
        text = model.requests[0].messages[1].text
        assert (text.count("Question: "), text.count("Answer:")) == (shots + 1, shots + 1)
        assert text.endswith(f"Question: {WHO}\nAnswer:")
