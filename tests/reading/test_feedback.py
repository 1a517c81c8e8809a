"""Which candidates a user's answers make right, and which questions can be learned from."""

from small_graph import SmallGraph

from clew.index.names.names import NamesIndex
from clew.query.execute import Executor
from clew.query.words import say
from clew.reading.feedback import Feedback, Judge, usable
from clew.reading.learned_words import likely_words

GRAPH = SmallGraph(
    """
    Heat | made by | Mann
    Heat | shown in | 1995
    Ali | made by | Mann
    Ali | shown in | 2001
    """
)
NAMES = NamesIndex.of(GRAPH.graph)


def right(feedback):
    options = GRAPH.options(feedback.question)
    found = Judge(Executor(GRAPH.graph), NAMES).right(feedback, options)
    return {say(o.query, GRAPH.vocabulary) for o, r in zip(options, found, strict=False) if r}, bool(
        found[-1]
    )


def test_candidates_with_exactly_the_answers_are_right():
    said, none = right(Feedback(1, "What did Mann make?", frozenset({"Heat", "Ali"})))
    assert said
    assert not none
    assert right(Feedback(1, "What did Mann make?", frozenset({"Heat"}))) == (set(), True)


def test_accepted_answers_are_some_and_rejected_ones_are_none():
    accepted, _ = right(Feedback(1, "What did Mann make?", accepted=frozenset({"Heat"})))
    assert right(Feedback(1, "What did Mann make?", frozenset({"Heat", "Ali"})))[0] <= accepted
    rejected, none = right(Feedback(1, "What did Mann make?", rejected=frozenset({"Heat"})))
    assert none
    assert not rejected & accepted


def test_an_empty_answer_says_that_no_candidate_is_right():
    assert right(Feedback(1, "What did Mann make?", frozenset())) == (set(), True)


def test_a_number_is_the_same_however_it_is_written():
    said, _ = right(Feedback(1, "How many films did Mann make?", frozenset({"2.0"})))
    assert said


def test_contradictions_unknown_answers_and_repetitions_are_told_apart():
    given = [
        Feedback(1, "A?", frozenset({"Heat"})),
        Feedback(2, "a?", frozenset({"Ali"})),
        Feedback(3, "B?", frozenset({"Nobody"})),
        Feedback(4, "C?", frozenset({"Heat"})),
        Feedback(5, "C?", rejected=frozenset({"Ali"})),
        Feedback(6, "D?", frozenset({"Heat"}), rejected=frozenset({"Heat"})),
        Feedback(7, "E?", frozenset({"12"})),
    ]
    found = usable(given, NAMES)
    assert [one.line for one in found.feedback] == [4, 7]
    assert found.feedback[0].rejected == {"Ali"}
    assert (found.contradicting, found.unknown, found.repeated) == ((1, 2, 6), (3,), (5,))


def test_words_are_learned_for_the_label_that_they_come_with():
    asked = [(("gaffer", "works"), {0: 1.0}), (("churn", "works"), {1: 1.0})] * 5
    found = likely_words(asked)
    assert dict(zip(found.words, found.labels.tolist(), strict=True)) == {"gaffer": 0, "churn": 1}
