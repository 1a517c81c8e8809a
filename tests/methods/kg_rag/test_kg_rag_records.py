"""KG-RAG on records of whole kinds: what they show, what can be told from what is missing, and the chain."""

import json
from collections.abc import Iterator

import pytest

from clew.engine import Clew
from clew.llm.testing import ScriptedModel
from clew.methods.kg_rag.method import KgRag
from clew.methods.settings import KgRagSettings
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


PARTIES = [
    ("party 1", "number_of_hosts", "5"), ("party 2", "number_of_hosts", "4"),
    ("party 3", "number_of_hosts", "4"), ("party 1", "theme", "Spring"), ("party 2", "theme", "Rave"),
    ("party 3", "theme", "Jazz"), ("Night Ferry", "artist", "The Lanterns"),
    ("Salt and Iron", "artist", "The Lanterns"), ("Night Ferry", "producer", "Sam Tully"),
    ("Salt and Iron", "producer", "Greta Lind"),
]  # fmt: skip


@pytest.fixture(scope="module")
def parties() -> Iterator[Clew]:
    types = {name: ["party"] for name in ("party 1", "party 2", "party 3")}
    with Clew.from_triples(PARTIES, types=types) as clew:
        yield clew


def ask_in_steps(clew: Clew, question: str, *replies: str) -> tuple[Answer, ScriptedModel]:
    model, steps = ScriptedModel(list(replies)), KgRagSettings(records="steps")
    return KgRag(clew.opened, clew.embedder, model=model, settings=steps).answer(question), model


def test_values_are_handed_on_with_what_has_them(parties: Clew):
    answer, model = ask_in_steps(
        parties,
        "List the themes of the parties in ascending order of number of hosts.",
        "Sub-questions:\n1. What is the number of hosts of each party?\n2. What are their themes?",
        "Facts: 1-3\nAnswer: 5; 4; 4",
        "Facts: 1-3\nAnswer: Rave; Jazz; Spring",
        "Facts: 1-3\nAnswer: Rave; Jazz; Spring",
    )
    second = model.requests[2].messages[-1].text
    line = next(line for line in second.splitlines() if line.startswith("Answer: "))
    assert set(line.removeprefix("Answer: ").split("; ")) == {"party 1: 5", "party 2: 4", "party 3: 4"}
    assert "party 2: number_of_hosts = 4; theme = Rave" in second
    assert [a.label for a in answer.answers] == ["Rave", "Jazz", "Spring"]
    assert [t.as_json() for t in answer.citations[0].triples][-1] == ["party 2", "theme", "Rave"]


def test_the_value_of_one_thing_is_handed_on_by_itself(parties: Clew):
    _, model = ask_in_steps(
        parties,
        "Which parties have as many hosts as party 1?",
        "Sub-questions:\n1. How many hosts has party 1?\n2. Which parties have this number?",
        "Facts: 1\nAnswer: 5",
        "Facts: 1\nAnswer: party 1",
        "Facts: 1\nAnswer: party 1",
    )
    assert "Answer: 5\n" in model.requests[2].messages[-1].text


def test_a_sub_answer_that_leaves_some_out_is_part_of_the_chain(parties: Clew):
    answer, model = ask_in_steps(
        parties,
        "Which albums by The Lanterns were not produced by Sam Tully?",
        "Sub-questions:\n1. Which albums are by The Lanterns?\n2. Which of these did Sam Tully not produce?",
        "Facts: 1-3\nAnswer: Night Ferry; Salt and Iron",
        "Facts: 1-3\nAnswer: Salt and Iron",
        "Facts: 1-3\nAnswer: Salt and Iron",
    )
    assert answer.chain is not None
    assert [link.answers for link in answer.chain.links] == [
        ("Night Ferry", "Salt and Iron"),
        ("Salt and Iron",),
    ]
    assert [a.label for a in answer.answers] == ["Salt and Iron"]
    assert (
        "Which of these did Sam Tully not produce (Night Ferry; Salt and Iron)?"
        in model.requests[3].messages[-1].text
    )


def test_a_number_for_each_is_counted_by_code(bags: Clew):
    said = "Facts: 1-4\nAnswer: AV: {}; US: 1"
    answer, _ = ask(bags, "number of bags of each disposition", said.format(2))
    assert answer.text == "AV: 2 · US: 1"
    assert answer.rows is not None
    assert answer.rows.rows == (("AV", "2"), ("US", "1"))
    assert [len(citation.triples) for citation in answer.citations] == [2, 1]
    answer, _ = ask(bags, "number of bags of each disposition", said.format(3))
    assert answer.abstained is not None
    assert "AV: 3" in answer.abstained.detail
