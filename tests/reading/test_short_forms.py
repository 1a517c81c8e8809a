"""Names of columns are read as what they are short for."""

import pytest
from small_graph import EMBEDDER, SmallGraph

from clew.graph.schema import schema_of
from clew.index.names.names import NamesIndex
from clew.query.short_forms import is_short_for, written_out
from clew.reading.answer import answer_of
from clew.reading.reader import QuestionReader


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("dept mgr", "department manager"),
        ("emp dob", "employee birth date"),
        ("author", "author"),
        ("val", "value"),
        ("sub", "sub"),
        ("cncl leader", "cncl leader"),
    ],
)
def test_usual_short_forms_are_written_out(label: str, words: str) -> None:
    assert written_out(label) == words


@pytest.mark.parametrize(
    ("short", "word", "may_be"),
    [
        ("cncl", "council", True),
        ("cllr", "councillor", True),
        ("surg", "surgery", True),
        ("stn", "station", True),
        ("stn", "step", False),
        ("stn", "stonework", False),
        ("cncl", "tunnel", False),
        ("or", "orchestra", False),
        ("station", "stn", False),
    ],
)
def test_letters_may_be_short_for_a_word(short: str, word: str, may_be: bool) -> None:
    assert is_short_for(short, word) is may_be


STAFF = SmallGraph(
    """
    Ida Lorn | emp.dept | Archive
    Ida Lorn | emp.hire_dt | 2019-03-01
    Ida Lorn | emp.sup_id | Jo May
    Jo May | emp.dept | Front Desk
    Jo May | emp.hire_dt | 2011-07-15
    Archive | dept.loc | Bergen
    Front Desk | dept.loc | Malmo
    Archive | dept.mgr | Jo May
    Archive | dept.tel | 5541
    Stoke Barrow | cncl_ldr | Jo May
    Stoke Barrow | cncl_clerk | Ida Lorn
    """
)
READER = QuestionReader(STAFF.graph, schema_of(STAFF.graph), NamesIndex.of(STAFF.graph), EMBEDDER)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("What is the location of the Archive?", {"Bergen"}),
        ("Who is the manager of the Archive?", {"Jo May"}),
        ("mgr of the Archive", {"Jo May"}),
        ("Which department is Ida Lorn in?", {"Archive"}),
        ("When was Jo May hired?", {"2011-07-15"}),
        ("What is the telephone number of the Archive?", {"5541"}),
        ("Who is the council leader of Stoke Barrow?", {"Jo May"}),
    ],
)
def test_questions_are_answered_over_names_of_columns(question: str, answers: set[str]) -> None:
    best = READER.read(question).ranking.ranked[0]
    drafted = answer_of(STAFF.graph, READER.vocabulary, best.option.query)
    assert {a.label for a in drafted.answers} == answers
