"""What sort of thing is asked for, and what sort candidates answer with, where no types are declared."""

import numpy as np
import pytest
from small_graph import SmallGraph

from clew.query.tree import Anchor, OfType, Query, Walk
from clew.reading.answer_kind import AnswerKinds, asked_kind, asks_people, noun_asked_for
from clew.text.lexicon import CLASSES

SMALL = SmallGraph(
    """
    Heat | directed_by | Ann
    Heat | release_year | 1995
    Ann | spouse | Bob
    Ann | lives_in | Oslo
    Oslo | capital_of | Norway
    """
)
PERSON, LOCATION = CLASSES.index("person"), CLASSES.index("location")


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who directed Heat?", "person"),
        ("Where does Ann live?", "location"),
        ("When was it released?", "time"),
        ("Which director made Heat?", "person"),
        ("What sort of city is Oslo?", "location"),
    ],
)
def test_the_asking_word_or_the_noun_behind_it_says_the_sort(question, kind):
    asked = asked_kind(question, SMALL.mentions(question))
    assert CLASSES[int(asked.argmax())] == kind
    assert np.linalg.norm(asked) == pytest.approx(1)


def test_a_question_without_a_noun_says_none():
    assert not asked_kind("What is it?", []).any()


@pytest.mark.parametrize(
    ("end", "kind"),
    [("^directed_by", "person"), ("^spouse", "person"), ("^lives_in", "location"), ("^release_year", "time")],
)
def test_an_end_is_told_by_its_relation(end, kind):
    assert CLASSES[int(AnswerKinds(SMALL.vocabulary).of_end(SMALL.step(end)).argmax())] == kind


def test_an_end_is_told_by_what_its_nodes_are_elsewhere():
    # Whoever has a spouse directed, too.
    assert AnswerKinds(SMALL.vocabulary).of_end(SMALL.step("spouse"))[PERSON] > 0.5


def test_who_is_like_a_person_and_unlike_a_place():
    kinds, asked = AnswerKinds(SMALL.vocabulary), asked_kind("Who is it?", [])
    ann = Anchor(SMALL.ids["Ann"], -1)
    person, place = (Query("list", Walk(ann, SMALL.step(name))) for name in ("spouse", "lives_in"))
    (like, known), (unlike, _) = kinds.features([person, place], asked).tolist()
    assert (known, unlike) == (1, 0)
    assert like > 0.9


def test_a_declared_type_is_left_to_the_ranker():
    typed = SmallGraph("Heat | directed_by | Ann", {"Person": ["Ann"]})
    query = Query("list", OfType(typed.types["Person"]))
    assert not AnswerKinds(typed.vocabulary).features([query], asked_kind("Who is it?", [])).any()


def test_a_type_that_can_be_no_one_is_nobody():
    jobs = SmallGraph("Job 1 | employee | Ann", {"Employment": ["Job 1"], "Person": ["Ann"]})
    kinds = AnswerKinds(jobs.vocabulary)
    assert {name: kinds.is_nobody(i) for name, i in jobs.types.items()} == {
        "Employment": True,
        "Person": False,
    }


def test_codes_are_nobody_where_people_have_names():
    school = SmallGraph(
        """
        RES-001 | result of | Lily Cartwright
        RES-001 | result in | Physics Mock
        RES-002 | result of | Ben Halloran
        RES-002 | result in | Physics Mock
        """
    )
    heads, tails = school.step("^result of") ^ 1, school.step("result of") ^ 1
    assert school.vocabulary.are_codes(heads)
    assert not school.vocabulary.are_codes(tails)
    assert asks_people("Which pupils have results?", ())
    assert asks_people("pupils taught by her", ())
    assert not asks_people("flights to Oslo", ())


@pytest.mark.parametrize(
    ("question", "noun"),
    [
        ("which of our buyers are in Porto", "buyers"),
        ("list all vendors", "vendors"),
        ("vendors in Porto", "vendors"),
        ("When did the ferry leave", ""),
        ("is there a lift at Porto", ""),
        ("Who sells tuna", ""),
    ],
)
def test_the_noun_that_is_asked_for(question, noun):
    assert noun_asked_for(question, ()) == noun
