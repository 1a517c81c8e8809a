"""Candidates as the ranker sees them: tokens, masked questions, features."""

import math

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
from clew.reading.candidates import Option
from clew.reading.features import FEATURES
from clew.reading.mentions import Candidate, Mention
from clew.reading.tokens import MOST_TOKENS, Kind, names_used, tokens_of, view_of

SMALL = SmallGraph(
    """
    Tide Clock | written_by | Ida Lorn
    Salt Road | written_by | Ida Lorn
    Tide Clock | pages | 310
    Salt Road | pages | 520
    Tide Clock | published | 1988-03-01
    Tide Clock | note | signed copy
    Tide Clock | sequel | Salt Road
    """,
    {"Book": ["Tide Clock", "Salt Road"], "Author": ["Ida Lorn"]},
)
BOOK, AUTHOR = SMALL.types["Book"], SMALL.types["Author"]
WRITTEN, PAGES, PUBLISHED, NOTE, SEQUEL = range(5)
IDA = Anchor(SMALL.ids["Ida Lorn"], 3)
TIDE = Anchor(SMALL.ids["Tide Clock"], 1)
IDA_TOKENS = [(Kind.ANCHOR, 3), (Kind.TYPE, AUTHOR)]
BY_IDA = Walk(IDA, 2 * WRITTEN + 1)
BY_IDA_TOKENS = [*IDA_TOKENS, (Kind.BACKWARD, WRITTEN), (Kind.TYPE, BOOK)]
BOOKS, BOOK_TOKENS = OfType(BOOK), [(Kind.ALL, -1), (Kind.TYPE, BOOK)]
PAGES_TOKENS = [(Kind.FORWARD, PAGES), (Kind.NUMBER, -1)]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (IDA, IDA_TOKENS),
        (Anchor(SMALL.ids["310"], 2), [(Kind.ANCHOR, 2)]),
        (BOOKS, BOOK_TOKENS),
        (OfType(-1, 2 * WRITTEN), [(Kind.ALL, -1), (Kind.BACKWARD, WRITTEN)]),
        (OfType(-1, 2 * WRITTEN + 1), [(Kind.ALL, -1), (Kind.FORWARD, WRITTEN)]),
        (BY_IDA, BY_IDA_TOKENS),
        (Walk(TIDE, 2 * PAGES), [(Kind.ANCHOR, 1), (Kind.TYPE, BOOK), *PAGES_TOKENS]),
        (
            Walk(TIDE, 2 * PUBLISHED),
            [(Kind.ANCHOR, 1), (Kind.TYPE, BOOK), (Kind.FORWARD, PUBLISHED), (Kind.DATE, -1)],
        ),
        (
            Walk(TIDE, 2 * NOTE),
            [(Kind.ANCHOR, 1), (Kind.TYPE, BOOK), (Kind.FORWARD, NOTE), (Kind.TEXT, -1)],
        ),
        (Both(BY_IDA, BOOKS), [*BY_IDA_TOKENS, *BOOK_TOKENS, (Kind.AND, -1)]),
        (Either(BY_IDA, BOOKS), [*BY_IDA_TOKENS, *BOOK_TOKENS, (Kind.OR, -1)]),
        (Without(BY_IDA, BOOKS), [*BY_IDA_TOKENS, *BOOK_TOKENS, (Kind.MINUS, -1)]),
        (
            Compared(BOOKS, (2 * PAGES,), ">=", Value(300.0, mention=5)),
            [*BOOK_TOKENS, *PAGES_TOKENS, (Kind.AT_LEAST, -1), (Kind.VALUE, 5)],
        ),
        (
            Compared(BOOKS, (2 * PAGES,), "<", Walk(TIDE, 2 * PAGES)),
            [*BOOK_TOKENS, *PAGES_TOKENS, (Kind.BELOW, -1), (Kind.ANOTHER, -1), (Kind.ANCHOR, 1)],
        ),
        (
            Counted(BOOKS, 2 * WRITTEN, "=", 2, 4),
            [*BOOK_TOKENS, (Kind.FORWARD, WRITTEN), (Kind.TYPE, AUTHOR), (Kind.EQUAL, -1), (Kind.COUNTED, 4)],
        ),
        (
            Counted(BOOKS, 2 * WRITTEN, "=", 0),
            [*BOOK_TOKENS, (Kind.FORWARD, WRITTEN), (Kind.TYPE, AUTHOR), (Kind.HAS_NONE, -1)],
        ),
        (Extreme(BOOKS, (2 * PAGES,), False, True), [*BOOK_TOKENS, *PAGES_TOKENS, (Kind.HIGHEST, -1)]),
        (
            Extreme(BOOKS, (2 * PAGES,), False, False, 3),
            [*BOOK_TOKENS, *PAGES_TOKENS, (Kind.LOWEST, -1), (Kind.SEVERAL, -1)],
        ),
        (
            Extreme(OfType(AUTHOR), (2 * WRITTEN + 1,), True, False),
            [
                (Kind.ALL, -1),
                (Kind.TYPE, AUTHOR),
                (Kind.BACKWARD, WRITTEN),
                (Kind.TYPE, BOOK),
                (Kind.FEWEST, -1),
            ],
        ),
        (
            Extreme(BOOKS, (2 * SEQUEL, 2 * PAGES), False, True),
            [*BOOK_TOKENS, (Kind.FORWARD, SEQUEL), (Kind.TYPE, BOOK), *PAGES_TOKENS, (Kind.HIGHEST, -1)],
        ),
    ],
)
def test_tokens_say_a_set_in_postfix_order(part, expected) -> None:
    assert tokens_of(Query("list", part), SMALL.vocabulary) == [*expected, (Kind.LIST, -1)]


@pytest.mark.parametrize(
    ("ask", "kind"),
    [
        ("list", Kind.LIST),
        ("count", Kind.COUNT),
        ("yes", Kind.YES),
        ("sum", Kind.SUM),
        ("average", Kind.AVERAGE),
        ("largest", Kind.LARGEST),
        ("smallest", Kind.SMALLEST),
    ],
)
def test_the_last_token_says_what_is_asked(ask, kind) -> None:
    assert tokens_of(Query(ask, BY_IDA), SMALL.vocabulary) == [*BY_IDA_TOKENS, (kind, -1)]


def mention(question: str, text: str, *, value: float | None = None) -> Mention:
    start = question.index(text)
    candidates = () if value is not None else (Candidate(0, 1, 1.0),)
    values = () if value is None else (Value(value),)
    return Mention(start, start + len(text), text, candidates, values)


QUESTION = "Did Ida Lorn write over 300 pages of Tide Clock?"
MENTIONS = [
    mention(QUESTION, "Ida Lorn"),
    mention(QUESTION, "300", value=300),
    mention(QUESTION, "Tide Clock"),
    mention(QUESTION, "Tide"),
]


def test_used_names_are_masked_in_their_order_and_values_stay() -> None:
    view = view_of(QUESTION, MENTIONS, (0, 2))
    assert view.text == "Did X write over 300 pages of Y?"
    assert {i: view.text[a:b] for i, (a, b) in view.places.items()} == {0: "X", 1: "300", 2: "Y"}


def test_masks_go_by_place_not_by_number() -> None:
    view = view_of(QUESTION, MENTIONS[::-1], (1, 3))
    assert view.text == "Did X write over 300 pages of Y?"
    assert view.text[slice(*view.places[3])] == "X"


def test_names_that_are_not_used_stay() -> None:
    view = view_of(QUESTION, MENTIONS, (2,))
    assert view.text == "Did Ida Lorn write over 300 pages of X?"
    assert sorted(view.places) == [1, 2]


def test_nothing_is_masked_where_nothing_is_used() -> None:
    view = view_of(QUESTION, MENTIONS, ())
    assert view.text == QUESTION
    assert {i: view.text[a:b] for i, (a, b) in view.places.items()} == {1: "300"}


def test_of_names_that_overlap_the_first_is_masked() -> None:
    view = view_of(QUESTION, MENTIONS, (2, 3))
    assert view.text == "Did Ida Lorn write over 300 pages of X?"


def test_only_names_of_entities_are_masked() -> None:
    part = Compared(Both(Walk(TIDE, 0), IDA), (2 * PAGES,), ">", Value(300.0, mention=7))
    assert names_used(Query("list", part)) == (1, 3)
    assert names_used(Query("list", Compared(BOOKS, (2,), ">", Walk(TIDE, 2)))) == (1,)


QUESTIONS = [
    "Who wrote Tide Clock?",
    "Which books by Ida Lorn have more than 300 pages?",
    "How many books are there and which has the most pages?",
    "",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_candidate_has_all_features_and_fits(question) -> None:
    describer = SMALL.describer(question)
    for option in SMALL.options(question):
        features = describer.features([option])[0].tolist()
        assert len(features) == len(FEATURES)
        assert all(math.isfinite(f) for f in features)
        tokens = tokens_of(option.query, SMALL.vocabulary)
        assert len(tokens) <= MOST_TOKENS
        assert all(-1 <= ref < 5 for _, ref in tokens)


def features_of(question: str, query: Query, size: int = 1) -> dict[str, float]:
    found = SMALL.describer(question).features([Option(query, 0.0, size)])[0].tolist()
    return dict(zip(FEATURES, found, strict=True))


def test_a_relation_that_the_question_names_is_seen() -> None:
    tide = Anchor(TIDE.node, 0)
    said = features_of("How many pages has Tide Clock?", Query("list", Walk(tide, 2 * PAGES)))
    other = features_of("How many pages has Tide Clock?", Query("list", Walk(tide, 2 * NOTE)))
    assert said["step_exact"] == 1 > other["step_exact"]
    assert said["explained_exact"] > other["explained_exact"]
    assert said["unexplained"] < other["unexplained"]


def test_the_size_of_the_answers_is_told_where_it_is_known() -> None:
    query = Query("list", Walk(Anchor(TIDE.node, 0), 2 * PAGES))
    sizes = [features_of("pages of Tide Clock", query, size) for size in (0, 1, -1)]
    assert [s["empty"] for s in sizes] == [1, 0, 0]
    assert [s["unknown_size"] for s in sizes] == [0, 0, 1]
    assert sizes[1]["size"] == pytest.approx(math.log(2) / 8)


def test_a_name_that_is_left_open_is_counted() -> None:
    question = "Did Ida Lorn write Tide Clock?"
    ida, tide = Anchor(IDA.node, 0), Anchor(TIDE.node, 1)
    one = features_of(question, Query("list", Walk(ida, 2 * WRITTEN + 1)))
    both = features_of(question, Query("yes", Both(Walk(ida, 2 * WRITTEN + 1), tide)))
    assert (one["open_strong"], both["open_strong"]) == (0.5, 0)
    assert (one["anchors"], both["anchors"]) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert one["covered"] < both["covered"]


def test_a_step_straight_back_is_told() -> None:
    tide = Anchor(TIDE.node, 0)
    there = Walk(tide, 2 * WRITTEN)
    back = features_of("Who wrote Tide Clock?", Query("list", Walk(there, 2 * WRITTEN + 1)))
    assert back["turns_back"] == 0.5
    assert features_of("Who wrote Tide Clock?", Query("list", there))["turns_back"] == 0
