"""Query graphs: their parts, and when two mean the same."""

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
    entities_of,
    key_of,
    mentions_of,
    parts_of,
    steps_of,
)

ONE, OTHER = Walk(Anchor(4, 2), 1), Walk(Anchor(7, 0), 3)
WHOLE = Query(
    "list",
    Extreme(
        Counted(
            Compared(Without(Both(ONE, OTHER), OfType(0)), (5, 6), ">", Value(3.0, mention=5)), 8, ">=", 2, 6
        ),
        (9,),
        False,
        True,
    ),
)


def test_parts_come_outer_ones_first() -> None:
    kinds = [type(part) for part in parts_of(WHOLE.part)]
    assert kinds == [Extreme, Counted, Compared, Without, Both, Walk, Anchor, Walk, Anchor, OfType]


def test_all_mentions_steps_and_entities_are_told() -> None:
    assert mentions_of(WHOLE) == (0, 2, 5, 6)
    assert steps_of(WHOLE) == (9, 8, 5, 6, 1, 3)
    assert entities_of(WHOLE) == (4, 7)


def test_a_set_that_is_compared_with_is_a_part() -> None:
    query = Query("yes", Compared(Anchor(1, 0), (2,), ">", Walk(Anchor(3, 1), 2)))
    assert entities_of(query) == (1, 3)
    assert mentions_of(query) == (0, 1)


def test_order_and_mentions_do_not_change_the_meaning() -> None:
    assert key_of(Query("list", Both(ONE, OTHER))) == key_of(
        Query("list", Both(OTHER, Walk(Anchor(4, 9), 1)))
    )
    assert key_of(Query("list", Either(ONE, OTHER))) == key_of(Query("list", Either(OTHER, ONE)))


def test_what_means_something_else_has_another_key() -> None:
    different = [
        Query("list", ONE),
        Query("count", ONE),
        Query("list", Both(ONE, OTHER)),
        Query("list", Either(ONE, OTHER)),
        Query("list", Without(ONE, OTHER)),
        Query("list", Without(OTHER, ONE)),
        Query("list", Compared(ONE, (2,), ">", Value(3.0))),
        Query("list", Compared(ONE, (2,), ">", Value(3.0, date=True))),
        Query("list", Compared(ONE, (2,), ">=", Value(3.0))),
        Query("list", Counted(ONE, 2, ">", 3)),
        Query("list", Extreme(ONE, (2,), False, True)),
        Query("list", Extreme(ONE, (2,), True, True)),
        Query("list", Extreme(ONE, (2,), False, True, 2)),
    ]
    assert len({key_of(query) for query in different}) == len(different)
