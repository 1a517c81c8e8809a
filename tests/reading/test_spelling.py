"""Words that are none are read as those that were meant; names, and words made of others, as they are."""

import pytest
from small_graph import EMBEDDER, SmallGraph

from clew import Clew
from clew.graph.schema import schema_of
from clew.index.names.names import NamesIndex
from clew.reading.reader import QuestionReader

SMALL = SmallGraph(
    """
    Heat | directed_by | Michael Mann
    Heat | composer | Elliot Goldenthal
    Ashburn 5 | manager | Ann Lee
    Heat | sponsor | Zorblatt
    Heat | assessed_by | Ann Lee
    Ann Lee | date_of_birth | 1961
    """
)
READER = QuestionReader(SMALL.graph, schema_of(SMALL.graph), NamesIndex.of(SMALL.graph), EMBEDDER)


def heard(question: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    reading = READER.read(question)
    assert reading.original_question == question
    return reading.question, reading.respelt


@pytest.mark.parametrize(
    ("question", "text", "respelt"),
    [
        (
            "wich composr wrote Heat?",
            "which composer wrote Heat?",
            (("wich", "which"), ("composr", "composer")),
        ),
        ("Who driected Heat?", "Who directed Heat?", (("driected", "directed"),)),
        ("Who assesed Heat?", "Who assessed Heat?", (("assesed", "assessed"),)),
        ("dob of Ann Lee", "date of birth of Ann Lee", (("dob", "date of birth"),)),
        ("What is the DOB of Ann Lee?", "What is the date of birth of Ann Lee?", (("DOB", "date of birth"),)),
        ("which dept has Ann Lee", "which department has Ann Lee", (("dept", "department"),)),
        ("Who has composd Heat?", "Who has composed Heat?", (("composd", "composed"),)),
    ],
)
def test_what_was_meant_is_read(question: str, text: str, respelt) -> None:
    assert heard(question) == (text, respelt)


@pytest.mark.parametrize(
    "question",
    [
        "Who directed Heat?",
        "who is sponsored by zorblat",
        "Who is the composer of Heaat?",
        "Which crewmates and funders has Heat?",
        "Who is Qwertzui?",
        "who is Ωmega?",
    ],
)
def test_what_may_be_meant_so_is_left(question: str) -> None:
    assert heard(question) == (question, ())


def test_a_misspelt_name_is_found_whole() -> None:
    for question, name in (
        ("who manages Ashbrun 5", "Ashbrun 5"),
        ("films of micheal mann", "micheal mann"),
        ("films by elliot goldentahl", "elliot goldentahl"),
    ):
        assert name in [m.text for m in SMALL.mentions(question) if m.candidates], question


def test_another_number_is_no_misspelt_name() -> None:
    assert not [m for m in SMALL.mentions("who manages Ashburn 6") if m.candidates and "6" in m.text]


def test_what_was_read_is_said_also_where_nothing_is_answered() -> None:
    with Clew.from_triples([("Heat", "composer", "Elliot Goldenthal")]) as graph:
        for question in ("Who is the composr of Heat?", "Which composr has Ran?"):
            assert '"composr" is read as "composer"' in graph.ask(question).notes
        assert graph.ask("Which composr has Ran?").abstained is not None
