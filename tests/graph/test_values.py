"""Numbers and dates in names."""

import datetime
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.graph import XSD
from clew.graph.graph import Names, ValueKind
from clew.graph.values import days_since_epoch, node_values, parse_value

NUMBER, DATE = ValueKind.NUMBER, ValueKind.DATE


def day(year: int, month: int, day: int) -> float:
    return float(datetime.date(year, month, day).toordinal() - 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("1999", 1999), ("-3.5", -3.5), ("+7", 7), ("0", 0), (".5", 0.5), ("5.", 5)],
        *[("1,234,567", 1234567), ("1,234.5", 1234.5), ("6.02e23", 6.02e23), ("1E-3", 0.001)],
        *[("45%", 45), ("45 %", 45), ("\u22125", -5), (" 12 ", 12)],
    ],
)
def test_numbers(text: str, value: float) -> None:
    assert parse_value(text) == (NUMBER, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1999-03-12", day(1999, 3, 12)), ("1999-03", day(1999, 3, 1)), ("12 March 1999", day(1999, 3, 12)),
        ("1st Sept. 2001", day(2001, 9, 1)), ("March 12, 1999", day(1999, 3, 12)),
        ("mar 12 1999", day(1999, 3, 12)), ("1999-03-12T06:00:00", day(1999, 3, 12) + 0.25),
        ("1999-03-12 00:00:00.000", day(1999, 3, 12)),
        ("1999-03-12T00:00:00+06:00", day(1999, 3, 12) - 0.25),
        ("1999-03-12T00:00Z", day(1999, 3, 12)), ("1999-03-12T18:00-0600", day(1999, 3, 13)),
        ("1998-12-31T23:59:60Z", day(1999, 1, 1)), ("1999-03-12T24:00", day(1999, 3, 13)),
        ("2000-02-29", day(2000, 2, 29)), ("0001-01-01", 0), ("0000-12-31", -1),
    ],
)  # fmt: skip
def test_dates(text: str, value: float) -> None:
    assert parse_value(text) == (DATE, value)


@pytest.mark.parametrize(
    "text",
    [
        *["03/04/1999", "3.4.1999", "1999-02-30", "1900-02-29", "1999-13", "31 Foo 1999", "May 1999"],
        *["1,23", "1,2345", "12,", "1_000", "٣", "inf", "nan", "1e999", "0x10", "1 2", "--5", "%", ""],
        *["1999-03-12T25:00:00", "Apollo 13", "12 Monkeys", "9" * 41, "2001: A Space Odyssey", "007"],
    ],
)
def test_what_is_neither(text: str) -> None:
    kind, value = parse_value(text)
    assert kind == ValueKind.NONE
    assert math.isnan(value)


@pytest.mark.parametrize(
    ("text", "datatype", "expected"),
    [
        ("1999", XSD + "gYear", (DATE, day(1999, 1, 1))),
        ("1999", XSD + "integer", (NUMBER, 1999)),
        ("1999", XSD + "string", (NUMBER, 1999)),
        ("1999", "http://example.org/dollar", (NUMBER, 1999)),
        ("-INF", XSD + "double", (NUMBER, -math.inf)),
        ("1999-03-12+05:00", XSD + "date", (DATE, day(1999, 3, 12))),
        ("12000-01-01", XSD + "date", (DATE, float(days_since_epoch(12000, 1, 1) or 0))),
    ],
)
def test_the_datatype_decides(text: str, datatype: str, expected: tuple[ValueKind, float]) -> None:
    assert parse_value(text, datatype) == expected


@pytest.mark.parametrize(
    ("text", "datatype", "hours"),
    [
        ("09:30", None, 9.5), ("9:30", None, 9.5), ("9:30 pm", None, 21.5), ("12:15 a.m.", None, 0.25),
        ("18:00:36", None, 18.01), ("07:45:00", XSD + "time", 7.75),
    ],
)  # fmt: skip
def test_a_time_of_day_is_a_part_of_a_day(text: str, datatype: str | None, hours: float) -> None:
    kind, value = parse_value(text, datatype)
    assert kind == ValueKind.DATE
    assert value * 24 == pytest.approx(hours)


@pytest.mark.parametrize(
    "text",
    [
        *["24:30", "24:00", "23:59:60", "9:60", "16:9", "13:00 pm", "1:2:3", "10:00:00:00"],
        *["1999-03-12T9:30", "1999-03-12T24:01"],
    ],
)
def test_what_is_no_time(text: str) -> None:
    assert parse_value(text)[0] == ValueKind.NONE


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("1999", "@en"), ("1", XSD + "boolean"), ("x", XSD + "integer"), ("1999", XSD + "time"),
        ("25:00", XSD + "time"), ("NaN", XSD + "float"),
    ],
)  # fmt: skip
def test_datatypes_without_a_value(text: str, datatype: str) -> None:
    assert parse_value(text, datatype)[0] == ValueKind.NONE


SAMPLES = [
    "1999", "-3.5", ".5", "45 %", "\u22125", "1999-03-12", "mar 12 1999", "2 May 2000", "1e5", "x", "", " 7 ",
    "-INF", "5.", "\u30007", "7\xa0", "\u2003May 2, 2000",
]  # fmt: skip
KINDS = [None, XSD + "double", XSD + "date", XSD + "string", "@en"]


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from(SAMPLES) | st.text(max_size=6), st.integers(0, 4)), max_size=8))
def test_the_column_equals_parsing_one_by_one(rows: list[tuple[str, int]]) -> None:
    names = Names.of(text.encode("utf-8", "replace").decode() for text, _ in rows)
    values = node_values(names, names, np.array([i - 1 for _, i in rows], np.int16), [k for k in KINDS if k])
    expected = [parse_value(names[j], KINDS[i]) for j, (_, i) in enumerate(rows)]
    assert values.kind.tolist() == [kind for kind, _ in expected]
    np.testing.assert_array_equal(values.value, [value for _, value in expected])


def test_an_id_beside_a_label_is_no_number():
    names, labels = Names.of(["144", "1995", "7"]), Names.of(["Apollo 13", "1995", "Seven"])
    values = node_values(names, labels, np.array([-1, -1, 0], np.int16), [XSD + "integer"])
    assert values.kind.tolist() == [ValueKind.NONE, ValueKind.NUMBER, ValueKind.NUMBER]
