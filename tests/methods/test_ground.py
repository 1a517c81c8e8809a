"""Stated answers → answers with proofs: what is linked, what is rejected and why, what a proof is."""

from __future__ import annotations

import pytest
from hypothesis import given as given_that
from hypothesis import strategies as st

from clew.graph.build import graph_of
from clew.llm.reply import stated_answer
from clew.methods.evidence import Fact, ReadEvidence
from clew.methods.ground import GroundedReply, ground_reply

TRIPLES = [
    ("Hydraulic Press HP-40", "max_pressure_bar", "260"),
    ("Hydraulic Press HP-40B", "max_pressure_bar", "220"),
    ("Test Bench TB-5", "max_pressure_bar", "400"),
    ("Test Bench TB-5 Mk2", "max_pressure_bar", "230"),
    ("Test Bench TB-5", "commissioned_on", "2014-02-28"),
    ("Marta Kowel", "works_shift", "Weekend Shift"),
    ("Marta Kovel", "works_shift", "Early Shift"),
    ("Lowe & Hask", "based_in", "Sant Orell"),
    ("Sant Orell", "in_country", "Talesia"),
    ("The Prestige", "directed_by", "Christopher Nolan"),
    ("Memento", "directed_by", "Christopher Nolan"),
    ("Boiler B-1", "max_pressure_bar", "9"),
]
GRAPH = graph_of(TRIPLES, aliases={"Boiler B-1": ["the Kettle"]})
NAMES = {name: node for node, name in enumerate(GRAPH.entities)}


def evidence(*known: str, lines: list[int] | None = None, asked: tuple[str, ...] = ()) -> ReadEvidence:
    """The triples of some lines as facts (all of them), with where proofs begin."""
    ids = [GRAPH.find_triple(NAMES[h], list(GRAPH.relations).index(r), NAMES[t]) for h, r, t in TRIPLES]
    facts = tuple(Fact((ids[i],)) for i in (range(len(ids)) if lines is None else lines))
    return ReadEvidence(GRAPH, facts, {NAMES[k]: () for k in known}, frozenset(NAMES[a] for a in asked))


def grounded(reply: str, given: ReadEvidence) -> GroundedReply:
    return ground_reply(stated_answer(reply), given)


def labels(found: GroundedReply) -> list[str]:
    return [answer.label for answer in found.answers(GRAPH)]


@pytest.mark.parametrize(
    ("stated", "names"),
    [
        ("Hydraulic Press HP-40", ["Hydraulic Press HP-40"]),
        ("HP-40", ["Hydraulic Press HP-40"]),
        ("hydraulic press hp 40 (260 bar)", ["Hydraulic Press HP-40"]),
        ("TB-5", ["Test Bench TB-5"]),
        ("the Kettle", ["Boiler B-1"]),
        ("Kettle", ["Boiler B-1"]),
        ("Hydraulik Press HP-40", ["Hydraulic Press HP-40"]),
        ("Prestige", ["The Prestige"]),
        ("260 bar", ["260"]),
        ("28 February 2014", ["2014-02-28"]),
        ("Lowe & Hask", ["Lowe & Hask"]),
        ("HP-40; HP-40B", ["Hydraulic Press HP-40", "Hydraulic Press HP-40B"]),
        ("Lowe & Hask, Sant Orell and Talesia", ["Lowe & Hask", "Sant Orell", "Talesia"]),
        ("Christopher Nolan, but I am not sure", []),
        ("Hydraulic Press HP-41", []),
        ("Uwe Boll", []),
        ("Press", []),
    ],
)
def test_names_are_linked_to_the_evidence(stated, names):
    assert labels(grounded(f"So it is.\nAnswer: {stated}", evidence())) == names


def test_a_right_name_of_something_else_is_no_misspelling():
    lines = [5]
    given = evidence(lines=lines)
    assert labels(grounded("Answer: Marta Kovel", given)) == ["Marta Kowel"]
    known = ReadEvidence(GRAPH, given.facts, is_name=lambda text: text in NAMES)
    found = grounded("Answer: Marta Kovel", known)
    assert labels(found) == []
    assert "Marta Kovel (it is not in the facts)" in found.abstained.detail


def test_entities_of_the_question_are_dropped_unless_nothing_else_is_answered():
    given = evidence("Memento", asked=("Memento",))
    both = grounded("Answer: Memento; The Prestige", given)
    assert labels(both) == ["The Prestige"]
    assert "the question names it itself" in both.notes[0]
    two = evidence("Test Bench TB-5", "Boiler B-1", asked=("Test Bench TB-5", "Boiler B-1"))
    assert labels(grounded("400 is more than 9.\nFacts: 3, 12\nAnswer: Test Bench TB-5", two)) == [
        "Test Bench TB-5"
    ]


def test_a_proof_is_the_path_from_what_was_known():
    found = grounded("Answer: The Prestige", evidence("Memento"))
    assert [[t.as_json() for t in c.triples] for c in found.citations(GRAPH)] == [
        [
            ["Memento", "directed_by", "Christopher Nolan"],
            ["The Prestige", "directed_by", "Christopher Nolan"],
        ]
    ]


def test_what_no_path_leads_to_is_rejected():
    found = grounded("Answer: Talesia", evidence("Memento"))
    assert not found.answered
    assert "do not connect it with what was asked about" in found.abstained.detail


def test_what_is_not_connected_counts_by_the_fact_that_is_named_for_it_but_not_in_a_chain():
    given = evidence("Memento")
    named = "Not by him.\nFacts: 8\nAnswer: Lowe & Hask"
    assert labels(grounded(named, given)) == ["Lowe & Hask"]
    chain = ReadEvidence(GRAPH, given.facts, {NAMES["Memento"]: (given.triples[10],)})
    assert not grounded(named, chain).answered


def test_a_chain_goes_on_from_its_earlier_answers():
    known = {NAMES["Sant Orell"]: (GRAPH.find_triple(NAMES["Lowe & Hask"], 3, NAMES["Sant Orell"]),)}
    assert list(GRAPH.relations)[3] == "based_in"
    whole = evidence("Lowe & Hask")
    found = grounded("Answer: Talesia", ReadEvidence(GRAPH, whole.facts, known | dict(whole.known_proofs)))
    assert [t.relation for t in found.citations(GRAPH)[0].triples] == ["based_in", "in_country"]


@given_that(
    st.lists(st.sampled_from(sorted(NAMES)), min_size=2, max_size=6),
    st.lists(st.sampled_from(sorted(NAMES)), min_size=1, max_size=3, unique=True),
)
def test_no_answer_comes_from_outside_the_stated_form(explained, stated):
    """Whatever names stand in an explanation, answers are among those that are stated."""
    words = "\n".join(f"It may be {name}, or not." for name in explained)
    found = grounded(f"{words}\nAnswer: {'; '.join(stated)}", evidence())
    assert set(labels(found)) <= set(stated)
    assert not grounded(words, evidence()).answered
