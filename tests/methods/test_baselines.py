"""The baselines: what each retrieves, with a scripted model and without, and that none answers unproved."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.engine import Clew
from clew.errors import InputError, UsageError
from clew.llm.errors import BudgetReached
from clew.llm.testing import ScriptedModel
from clew.methods.evidence import EvidenceMethod
from clew.methods.kg_gpt import KgGpt
from clew.methods.kg_retrieval import KgRetrieval
from clew.methods.registry import METHODS, make_method
from clew.methods.triple_rag import TripleRag
from clew.methods.vector_rag import VectorRag
from clew.types import Answer

GROUNDED = ("kg-rag", "kaping", "triple-rag", "vector-rag", "kg-retrieval", "kg-gpt")
UNGROUNDED = ("llm", "llm-qd")
WHO = "Who directed Alien?"


def made(small: Clew, name: str, *replies: str) -> EvidenceMethod:
    return make_method(name, small.index, small.embedder, ScriptedModel(replies))


def evidence(answer: Answer) -> set[tuple[str, ...]]:
    return {tuple(t) for t in answer.steps[0].detail["triples"]}


@pytest.mark.parametrize("name", [n for n in GROUNDED if n != "vector-rag"])
def test_one_hop_is_answered_without_a_model(small: Clew, name: str):
    answer = make_method(name, small.index, small.embedder).answer(WHO)
    assert [a.entity for a in answer.answers] == ["Ridley Scott"]
    assert (answer.method, answer.model, answer.grounded) == (name, None, True)
    assert [t.as_json() for t in answer.citations[0].triples] == [["Alien", "directed by", "Ridley Scott"]]


@pytest.mark.parametrize("name", GROUNDED)
def test_random_text_of_a_model_is_never_an_answer(small: Clew, name: str):
    answer = make_method(
        name, small.index, small.embedder, ScriptedModel(lambda request: "1. It was Uwe Boll, who else?")
    ).answer(WHO)
    assert answer.abstained is not None
    assert not answer.answers


@pytest.mark.parametrize("name", [*GROUNDED, *UNGROUNDED])
def test_a_budget_is_an_abstention(small: Clew, name: str):
    script = [BudgetReached("question", "calls", "0 of 0")] * 9
    answer = make_method(name, small.index, small.embedder, ScriptedModel(script)).answer(WHO)
    assert answer.abstained is not None
    assert answer.abstained.reason == "budget"


@pytest.mark.parametrize("name", UNGROUNDED)
def test_without_a_graph_a_model_is_needed(small: Clew, name: str):
    with pytest.raises(UsageError, match="needs a chat model"):
        make_method(name, small.index, small.embedder)


def test_llm_is_one_call_and_ungrounded(small: Clew):
    answer = made(small, "llm", "Ridley Scott.").answer(WHO)
    assert (answer.text, answer.grounded, answer.answers) == ("Ridley Scott.", False, ())
    assert answer.usage.calls == 1


def test_llm_qd_has_a_chain_without_evidence(small: Clew):
    replies = (
        "Reasoning: two steps\nSub-questions:\n1. Who directed Seven?\n2. What else did that person direct?",
        "David Fincher",
        "What else did David Fincher direct",
        "Alien 3",
        "Alien 3.",
    )
    answer = made(small, "llm-qd", *replies).answer("What else did the director of Seven direct?")
    assert answer.chain is not None
    assert [(link.asked, link.text, link.evidence) for link in answer.chain.links] == [
        ("Who directed Seven?", "David Fincher", ()),
        ("What else did David Fincher direct?", "Alien 3", ()),
    ]
    assert (answer.text, answer.grounded) == ("Alien 3.", False)


def test_kaping_gives_the_nearest_triples_of_one_hop(small: Clew):
    method = made(small, "kaping", "Ridley Scott directed it.")
    answer = method.answer(WHO)
    assert evidence(answer) == {
        ("Alien", "directed by", "Ridley Scott"),
        ("Alien", "starring", "Sigourney Weaver"),
        ("Alien", "genre", "Horror"),
    }
    assert [a.entity for a in answer.answers] == ["Ridley Scott"]
    assert answer.usage.calls == 1


def test_triple_rag_draws_the_same_five_for_the_same_seed(metaqa: Clew):
    question = "What movies did Christopher Nolan direct?"
    draws = [TripleRag(metaqa.index, metaqa.embedder, seed=seed).answer(question).steps for seed in (0, 0, 1)]
    first, again, other = [tuple(map(tuple, steps[0].detail["triples"])) for steps in draws]
    assert len(first) == 5
    assert first == again
    assert first != other
    assert all("Christopher Nolan" in triple for triple in first)


def test_vector_rag_reads_whole_neighbourhoods(small: Clew):
    method = VectorRag(small.index, small.embedder, documents=1)
    answer = method.answer("Alien: directed by, starring, genre?")
    assert evidence(answer) == {
        ("Alien", "directed by", "Ridley Scott"),
        ("Alien", "starring", "Sigourney Weaver"),
        ("Alien", "genre", "Horror"),
    }


def test_vector_rag_reads_texts_of_the_user_ungrounded(small: Clew, tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("The set of Alien was\nbuilt at Shepperton.\n\nSeven was shot in Los Angeles.\n", "utf-8")
    model = ScriptedModel(["Shepperton"])
    method = VectorRag(small.index, small.embedder, model=model, texts=[path], documents=1)
    answer = method.answer("Where was the set of Alien built?")
    assert (answer.text, answer.grounded) == ("Shepperton", False)
    assert "The set of Alien was built at Shepperton." in model.requests[0].messages[-1].text
    assert "Los Angeles" not in model.requests[0].messages[-1].text


def test_vector_rag_says_what_is_wrong_with_texts(small: Clew, tmp_path: Path):
    with pytest.raises(InputError, match="cannot be read"):
        VectorRag(small.index, small.embedder, model=ScriptedModel([]), texts=[tmp_path / "none.txt"])
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        VectorRag(small.index, small.embedder, model=ScriptedModel([]), texts=[tmp_path / "bytes.txt"])
    (tmp_path / "empty.txt").write_text("\n \n")
    with pytest.raises(InputError, match="no text"):
        VectorRag(small.index, small.embedder, model=ScriptedModel([]), texts=[tmp_path / "empty.txt"])
    with pytest.raises(UsageError, match="chat model"):
        VectorRag(small.index, small.embedder, texts=[tmp_path / "none.txt"])


def test_kg_retrieval_takes_the_entities_that_the_model_lists(small: Clew):
    method = made(small, "kg-retrieval", "- Blade Runner\n- Nothing Known", "Harrison Ford")
    answer = method.answer("Who is in the one with the replicants?")
    assert [a.entity for a in answer.answers] == ["Harrison Ford"]
    assert all("Blade Runner" in triple for triple in evidence(answer))


def test_kg_retrieval_shows_every_relation_of_a_hub(metaqa: Clew):
    method = KgRetrieval(metaqa.index, metaqa.embedder, most=6)
    answer = method.answer("What did Christopher Nolan do?", entities=["Christopher Nolan"])
    assert {relation for _, relation, _ in evidence(answer)} == {"directed_by", "written_by"}


def test_kg_gpt_walks_the_relations_that_the_model_chooses(small: Clew):
    sentences = "1. Seven was directed by something 1.\n2. something 1 directed something 2."
    replies = (sentences, "directed by", "directed by", "Alien 3")
    answer = made(small, "kg-gpt", *replies).answer("What else did the director of Seven direct?")
    assert [a.entity for a in answer.answers] == ["Alien 3"]
    assert {relation for _, relation, _ in evidence(answer)} == {"directed by"}


def test_kg_gpt_leaves_out_relations_that_the_graph_lacks(small: Clew):
    replies = ("1. Alien was composed by something 1.", "composed by\nmusic of", "Nobody")
    answer = made(small, "kg-gpt", *replies).answer("Who composed Alien?")
    assert answer.abstained is not None
    assert answer.abstained.reason == "empty_result"


def test_kg_gpt_answers_two_hops_without_a_model(small: Clew):
    answer = KgGpt(small.index, small.embedder).answer("Who starred in the films directed by Ridley Scott?")
    assert {a.entity for a in answer.answers} == {"Sigourney Weaver", "Harrison Ford"}


def test_all_baselines_are_registered():
    assert {*GROUNDED, *UNGROUNDED} <= METHODS.keys()


def test_settings_are_for_methods_that_have_some(small: Clew):
    with pytest.raises(UsageError, match="no settings"):
        make_method("llm", small.index, small.embedder, ScriptedModel([]), settings=object())
