"""KG-RAG on records of whole kinds: what they show, what can be told from what is missing, and the chain."""

import json
from collections.abc import Iterator

import pytest

from clew.engine import Clew
from clew.llm.testing import ScriptedModel
from clew.types import Answer

BAGS = {
    "B-1": {"dnr": "Ann Lee", "dsp_cd": "AV", "vol": "450"},
    "B-2": {"dnr": "Bo Ek", "dsp_cd": "US", "vol": "470", "giv_to": "St Mary"},
    "B-3": {"dnr": "Cy Orr", "vol": "430"},
    "B-4": {"dnr": "Di Fox", "dsp_cd": "AV", "vol": "480"},
}
TRIPLES = [(bag, relation, value) for bag, has in BAGS.items() for relation, value in has.items()]
TYPES = {bag: ["Bag"] for bag in BAGS} | {"St Mary": ["Hospital"], "St Luke": ["Hospital"]}


@pytest.fixture(scope="module")
def bags() -> Iterator[Clew]:
    with Clew.from_triples([*TRIPLES, ("St Luke", "city", "Leeds")], types=TYPES) as clew:
        yield clew


def ask(clew: Clew, question: str, *replies: str, plan: tuple[str, ...] = ()) -> tuple[Answer, ScriptedModel]:
    split = json.dumps({"reasoning": "r", "sub_questions": list(plan or (question,))})
    model = ScriptedModel([split, *replies])
    return clew.ask(question, method="kg-rag", model=model), model


def facts_of(model: ScriptedModel) -> list[str]:
    prompt = model.requests[1].messages[-1].text
    return prompt.partition("<facts>\n")[2].partition("\n</facts>")[0].splitlines()


def number_of(bag: str) -> str:
    return str(list(BAGS).index(bag) + 1)


def test_all_of_a_kind_are_shown_with_what_they_lack(bags: Clew):
    _, model = ask(bags, "Which bags are available?", "Facts: 1, 4\nAnswer: B-1; B-4")
    lines = facts_of(model)
    assert lines[0].startswith("Bag: all 4 in the graph")
    assert f"[{number_of('B-3')}] B-3: dnr = Cy Orr; no dsp_cd; vol = 430; no giv_to" in lines


def test_what_lacks_something_is_answered_by_its_record(bags: Clew):
    answer, model = ask(bags, "Which bags have no disposition?", "Facts: 3\nAnswer: B-3")
    assert [a.label for a in answer.answers] == ["B-3"]
    assert {t.head for t in answer.citations[0].triples} == {"B-3"}
    assert answer.complete
    assert len(model.requests) == 2


def test_pairs_are_answers_of_their_things(bags: Clew):
    said = "Facts: 1, 4\nAnswer: B-1: Ann Lee; B-4: Di Fox"
    answer, _ = ask(bags, "Which donor gave each available bag?", said)
    assert [a.label for a in answer.answers] == ["Ann Lee", "Di Fox"]
    assert [(c.triples[0].head, c.triples[0].tail) for c in answer.citations] == [
        ("B-1", "Ann Lee"),
        ("B-4", "Di Fox"),
    ]


def test_things_of_several_kinds_are_counted_together():
    pumps = {f"P-{number}": ("gear pump", "screw pump", "lobe pump")[number % 3] for number in range(1, 7)}
    wider = [(kind, "subclass of", "pump") for kind in ("gear pump", "screw pump", "lobe pump")]
    with Clew.from_triples([*((pump, "is a", kind) for pump, kind in pumps.items()), *wider]) as clew:
        answer, _ = ask(clew, "How many pumps are there?", "Facts: 1-6\nAnswer: 6")
    assert [a.label for a in answer.answers] == ["6"]
    assert {t.head for t in answer.citations[0].triples} == pumps.keys()


def test_a_pair_that_no_fact_joins_is_no_answer(bags: Clew):
    answer, _ = ask(bags, "Which donor gave each available bag?", "Facts: 1, 4\nAnswer: B-1: Di Fox")
    assert not answer.answers


def test_none_is_not_the_same_as_not_told(bags: Clew):
    question = "Which bags were given to St Luke?"
    none, _ = ask(bags, question, "No record has it.\nFacts: 1-4\nAnswer: none")
    not_told, _ = ask(bags, question, "The facts do not say.\nFacts: none\nAnswer: not told")
    assert none.abstained is not None
    assert not_told.abstained is not None
    assert (none.abstained.reason, not_told.abstained.reason) == ("empty_result", "not_in_evidence")


def test_steps_are_answered_at_once_where_records_hold_all(bags: Clew):
    plan = ("Which bag was given to St Mary?", "Who is the donor of that bag?")
    answer, model = ask(bags, "Who gave the bag that went to St Mary?", "Facts: 2\nAnswer: Bo Ek", plan=plan)
    assert [a.label for a in answer.answers] == ["Bo Ek"]
    assert len(model.requests) == 2
    assert "2. Who is the donor of that bag?" in model.requests[1].messages[-1].text


def test_records_may_be_read_step_by_step(bags: Clew):
    replies = (
        json.dumps({"sub_questions": ["Which bag was given to St Mary?", "Who is the donor of that bag?"]}),
        "Facts: 1\nAnswer: B-2",
        "Facts: 1\nAnswer: Bo Ek",
        "Facts: 1\nAnswer: Bo Ek",
    )
    model = ScriptedModel(list(replies))
    question = "Who gave the bag that went to St Mary?"
    answer = bags.ask(question, method="kg-rag", model=model, settings={"records": "steps"})
    assert [a.label for a in answer.answers] == ["Bo Ek"]
    assert answer.chain is not None
    assert answer.chain.links[1].asked == "Who is the donor of that bag (B-2 (Bag))?"
    assert "B-2: dnr = Bo Ek; dsp_cd = US" in model.requests[2].messages[-1].text
