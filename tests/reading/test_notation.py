"""Queries as text: what is read, and that anything else is an error that says where."""

import pytest

from clew.query.notation import NameLookup, NotationError, read_query
from clew.query.tree import Anchor, Both, Compared, Counted, Extreme, OfType, Query, Value, Walk, Without

NAMES = NameLookup(
    {"Ida": 1, "Ben": 2, "stout": 3}.get,
    {"knows": 0, "made by": 1, "film.by": 2, "born": 3}.get,
    {"Beer": 0, "Old Beer": 1}.get,
    {"hours": "hours", "order date": "order_date"}.get,
)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("{Ida} .knows ^film.by", Query("list", Walk(Walk(Anchor(1), 0), 5))),
        ('{Ida} ."made by"', Query("list", Walk(Anchor(1), 2))),
        ("count(Beer)", Query("count", OfType(0))),
        (".knows[count(^knows) > 1]", Query("list", Counted(OfType(-1, 1), 1, ">", 1))),
        ("argmax(^born, .born)", Query("list", Extreme(OfType(-1, 6), (6,), False, True))),
        ('"Old Beer"', Query("list", OfType(1))),
        ("Beer & {Ida} .knows", Query("list", Both(OfType(0), Walk(Anchor(1), 0)))),
        ("Beer - {Ida}", Query("list", Without(OfType(0), Anchor(1)))),
        ("Beer[born > 5]", Query("list", Compared(OfType(0), (6,), ">", Value(5.0)))),
        ("ask({Ida}[born > {Ben} .born])", Query("yes", Compared(Anchor(1), (6,), ">", Walk(Anchor(2), 6)))),
        ('Beer[knows = "stout"]', Query("list", Both(OfType(0), Walk(Anchor(3), 1)))),
        ("Beer[count(^knows) = 0]", Query("list", Counted(OfType(0), 1, "=", 0))),
        ("Beer[.knows]", Query("list", Counted(OfType(0), 0, ">=", 1))),
        ("argmin(Beer, .born) .knows", Query("list", Walk(Extreme(OfType(0), (6,), False, False), 0))),
        ("@hours({Ida} .knows)", Query("list", Walk(Anchor(1), 0), key="hours")),
        ('max(@"order date"({Ida} .knows))', Query("largest", Walk(Anchor(1), 0), key="order_date")),
        ("argmax({Ida} .knows, @hours)",
         Query("list", Extreme(Walk(Anchor(1), 0), (), False, True, key="hours"))),
        ("top(3, Beer, count(^knows))", Query("list", Extreme(OfType(0), (1,), True, True, 3))),
    ],
)  # fmt: skip
def test_what_is_read(text, query):
    assert read_query(text, NAMES) == query


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{Eva} .knows", "no entity 'Eva'"),
        ("{Ida} .likes", "no relation 'likes'"),
        ("Wine", "no type 'Wine'"),
        ("{Ida", "cannot be read at"),
        ("{Ida} knows", "left over: knows"),
        ("", "expected more"),
        ("(" * 30 + "{Ida}" + ")" * 30, "inside each other"),
        ("{Ida}" * 200, "longer than"),
        ("top(x, Beer, .born)", "whole number"),
        ("count(@hours({Ida} .knows))", "count is of a set"),
        ("@hours({Ida} .knows) by .knows", "left over: by"),
        ("@weight({Ida} .knows)", "no edge has a property 'weight'"),
        ("__import__('os')", "cannot be read|no type"),
    ],
)
def test_anything_else_says_what_is_wrong(text, said):
    with pytest.raises(NotationError, match=said):
        read_query(text, NAMES)
