"""Query graphs in words."""

import pytest
from small_graph import SmallGraph

from clew.query.tree import (
    Anchor,
    Both,
    Compared,
    Counted,
    Either,
    Extreme,
    OfType,
    Query,
    Value,
    Walk,
    Without,
)
from clew.query.words import say

SMALL = SmallGraph(
    """
    Tides | written_by | Ida
    Roads | written_by | Ida
    Tides | pages | 310
    Tides | published | 1988-03-01
    Ida Lorn | penName | Ida
    """,
    {"Book": ["Tides", "Roads"]},
)
IDA, TIDES = Anchor(SMALL.ids["Ida"]), Anchor(SMALL.ids["Tides"])
WRITTEN, PAGES, PUBLISHED = 0, 2, 4
BOOKS = OfType(SMALL.types["Book"])
BY_IDA = Walk(IDA, WRITTEN + 1)
DAY = 725796.0  # 1988-03-01


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (IDA, "Ida"),
        (BOOKS, "everything of type book"),
        (OfType(-1, WRITTEN), "everything with written by"),
        (OfType(-1, WRITTEN + 1), "every written by"),
        (Walk(TIDES, WRITTEN), "written by of Tides"),
        (Walk(Anchor(SMALL.ids["Ida Lorn"]), 6), "pen name of [Ida Lorn]"),
        (BY_IDA, "book whose written by is Ida"),
        (Walk(BY_IDA, PAGES), "pages of [book whose written by is Ida]"),
        (Walk(IDA, 7), "what whose pen name is Ida"),
        (Both(BY_IDA, TIDES), "book whose written by is Ida that is also Tides"),
        (Either(TIDES, IDA), "Tides or Ida"),
        (Without(BY_IDA, TIDES), "book whose written by is Ida but not Tides"),
        (Compared(BOOKS, (PAGES,), ">", Value(300.0)), "everything of type book whose pages is above 300"),
        (
            Compared(BOOKS, (PAGES,), "!=", Value(80.0, width=9.0)),
            "everything of type book whose pages is not 80 to 89",
        ),
        (
            Compared(BOOKS, (PUBLISHED,), "<", Value(0.4375, date=True)),
            "everything of type book whose published is below 10:30",
        ),
        (
            Compared(BOOKS, (PUBLISHED,), "=", Value(102, date=True, yearly=True)),
            "everything of type book whose published is January 2",
        ),
        (
            Compared(BOOKS, (PUBLISHED,), "=", Value(301, date=True, width=30.0, yearly=True)),
            "everything of type book whose published is March",
        ),
        (
            Compared(BOOKS, (PUBLISHED,), ">=", Value(DAY, date=True)),
            "everything of type book whose published is at least 1988-03-01",
        ),
        (
            Compared(BOOKS, (PUBLISHED,), "=", Value(DAY, date=True, width=30.0)),
            "everything of type book whose published is 1988-03-01 to 1988-03-31",
        ),
        (
            Compared(BOOKS, (WRITTEN + 1, PAGES), "<", Walk(TIDES, PAGES)),
            "everything of type book whose pages of written by (from the other end) is below pages of Tides",
        ),
        (Counted(BOOKS, WRITTEN, ">=", 2), "everything of type book with at least 2 written by"),
        (Counted(BOOKS, WRITTEN, "=", 0), "everything of type book with no written by"),
        (Extreme(BOOKS, (PAGES,), False, True), "the one with the largest pages of everything of type book"),
        (
            Extreme(BOOKS, (PAGES,), False, False, 3),
            "the 3 with the smallest pages of everything of type book",
        ),
        (
            Extreme(BOOKS, (WRITTEN,), True, False),
            "the one with the fewest written by of everything of type book",
        ),
    ],
)
def test_a_set_is_said(part, words) -> None:
    assert say(Query("list", part), SMALL.vocabulary) == words


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        ("count", "the number of book whose written by is Ida"),
        ("yes", "whether there is book whose written by is Ida"),
        ("sum", "the sum of book whose written by is Ida"),
        ("average", "the average of book whose written by is Ida"),
        ("largest", "the largest of book whose written by is Ida"),
        ("smallest", "the smallest of book whose written by is Ida"),
    ],
)
def test_what_is_asked_is_said(ask, words) -> None:
    assert say(Query(ask, BY_IDA), SMALL.vocabulary) == words


def test_whether_an_entity_is_in_a_set_is_said_of_it() -> None:
    assert (
        say(Query("yes", Both(BY_IDA, TIDES)), SMALL.vocabulary)
        == "whether Tides is book whose written by is Ida"
    )
