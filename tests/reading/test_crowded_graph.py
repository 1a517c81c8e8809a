"""Candidates where the graph has far more around a name than is ranked: plain ones are not crowded out."""

import pytest
from small_graph import SmallGraph

from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Either,
    Extreme,
    OfType,
    Query,
    Sign,
    Value,
    Walk,
    Without,
    key_of,
)

PEOPLE = [f"Person {chr(65 + i)}" for i in range(20)]
FLAWS = [f"F-{100 + i}" for i in range(12)]
LINKS = [f"r{i}" for i in range(14)]
LINES = "\n".join(
    [
        *(
            f"{a} | {link} | {PEOPLE[(i + 3 * j + 1) % 20]}"
            for j, link in enumerate(LINKS)
            for i, a in enumerate(PEOPLE)
        ),
        *(f"{f} | hits | {('libfoo', 'libbar')[i % 2]}" for i, f in enumerate(FLAWS)),
        *(f"{f} | seen_by | {PEOPLE[i % 3]}" for i, f in enumerate(FLAWS)),
        *(f"{f} | grade | {i + 1}.5" for i, f in enumerate(FLAWS)),
        *(f"{f} | lines | {40 * i + 11}" for i, f in enumerate(FLAWS)),
        *(f"{PEOPLE[i]} | works_on | {('libfoo', 'libbar')[i % 2]}" for i in range(6)),
        "libfoo | headed_by | Person A",
    ]
)
CROWDED = SmallGraph(LINES, {"Person": PEOPLE, "Flaw": FLAWS, "Library": ["libfoo", "libbar"]})


def along(name: str, *steps: str):
    source = Anchor(CROWDED.ids[name])
    for step in steps:
        source = Walk(source, CROWDED.step(step))
    return source


FLAW = OfType(CROWDED.types["Flaw"])


def graded(sign: Sign, number: float):
    return Compared(FLAW, (CROWDED.step("grade"),), sign, Value(number))


ASKED = [
    (
        "Which weak point in libfoo did Person A notice?",
        Query("list", Both(along("libfoo", "^hits"), along("Person A", "^seen_by"))),
    ),
    ("What about the boss behind libfoo, whom r3?", Query("list", along("libfoo", "headed_by", "r3"))),
    ("How many belong to libfoo?", Query("count", along("libfoo", "^hits"))),
    ("the three worst flaws", Query("list", Extreme(FLAW, (CROWDED.step("grade"),), False, True, 3))),
    (
        "Who noticed the worst flaw?",
        Query("list", Walk(Extreme(FLAW, (CROWDED.step("grade"),), False, True, 1), CROWDED.step("seen_by"))),
    ),
    (
        "flaws in libfoo or libbar that Person A saw",
        Query(
            "list",
            Both(Either(along("libfoo", "^hits"), along("libbar", "^hits")), along("Person A", "^seen_by")),
        ),
    ),
    (
        "flaws of grade 1.5 or 3.5",
        Query("list", Either(graded("=", 1.5), graded("=", 3.5))),
    ),
    ("flaws, grade < 3.5", Query("list", graded("<", 3.5))),
    (
        "people who work on libfoo, except its head",
        Query("list", Without(along("libfoo", "^works_on"), along("libfoo", "headed_by"))),
    ),
]


@pytest.mark.parametrize(("question", "meant"), ASKED, ids=[question for question, _ in ASKED])
def test_plain_candidates_are_among_those_that_are_ranked(question, meant):
    assert key_of(meant) in {key_of(option.query) for option in CROWDED.options(question)}


def test_a_number_is_not_both_a_value_and_how_many_are_asked_for():
    for option in CROWDED.options("the three worst flaws"):
        match option.query.part:
            case Extreme(source, _, _, _, 3):
                assert "Value" not in repr(source)
            case _:
                pass


def test_no_candidate_stands_twice():
    keys = [option.query for option in CROWDED.options("the three worst flaws in libfoo")]
    assert len(keys) == len(set(keys))
