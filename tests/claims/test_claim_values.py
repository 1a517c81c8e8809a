"""Numbers and dates of claims."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.claims.claim_text import find_values
from clew.graph.graph import ValueKind
from clew.graph.values import days_since_epoch, parse_value
from clew.query.execute import against


def holds(claim, value):
    """Whether the one value that a claim names is that of the graph."""
    (found,) = find_values(claim)
    kind, number = parse_value(value)
    return is_so(found, number, date=kind == ValueKind.DATE)


def is_so(found, number, *, date=False, label=""):
    """Whether a value of the graph stands to what a claim names as the claim says."""
    return any(
        against(np.array([float(number)]), found.sign, value, date)[0] for value in found.in_unit_of(label, 0)
    )


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("born 01-07-1976", "1976-07-01"),
        ("born 01-07-1976", "1976-01-07"),
        ("on 13/07/1976", "1976-07-13"),
        ("in the nineties", "1994"),
        ("in the '80s", "1989-12-31"),
        ("after the 1990s", "2001"),
        ("before the nineties", "1989"),
        ("in the nineteenth century", "1813-01-28"),
        ("by 1985", "1985-06-01"),
        ("1,147 meters", "1147.0"),
        ("211 metres", "210.922"),
        ("−6", "−6"),
        ("minus six", "-6"),
        ("108,600,000", "1.086E8"),
        ("1.8 million", "1800000"),
        ("twelve films", "12"),
        ("4.37E11", "4.37e11"),
        ("September 22nd, 1856", "1856-09-22"),
        ("the 11th of June 1929", "1929-06-11"),
        ("May 1977", "1977-05-31"),
        ("in 1996", "1996-12-31"),
        ("in 1996", "1996"),
        ("the 1980s", "1989"),
        ("before 2005", "2004"),
        ("before 2005", "2004-12-31"),
        ("after 2005", "2006-01-01"),
        ("at least 3", "3"),
        ("more than 3", "4"),
        ("between 90 and 120", "120"),
        ("since 1999", "1999"),
        ("3.14", "3.1416"),
        ("4 July 1976", "July 4, 1976"),
    ],
)
def test_what_a_value_holds_for(claim, value):
    assert holds(claim, value)


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("on 13/07/1976", "1976-07-12"), ("after the 1990s", "1999"), ("before the nineties", "1990"),
        ("in the 19th century", "1901"), ("by 1985", "1986"), ("1,147 meters", "1148"), ("211 metres", "212"),
        ("6", "-6"), ("1.8 million", "1.8E9"), ("89", "88"), ("September 22nd, 1856", "1856-09-23"),
        ("May 1977", "1977-06-01"), ("in 1996", "1997-01-01"), ("the 1980s", "1990"), ("before 2005", "2005"),
        ("after 2005", "2005-12-31"), ("more than 3", "3"), ("between 90 and 120", "121"),
        ("2000", "2000.0001e3"), ("less than 10", "10"),
    ],
)  # fmt: skip
def test_what_it_does_not_hold_for(claim, value):
    assert not holds(claim, value)


@pytest.mark.parametrize("text", ["the 14th regiment", "its 3rd runway", "no numbers", "Alfa164", "", "-"])
def test_what_is_no_value(text):
    assert find_values(text) == []


def test_units_are_converted():
    (value,) = find_values("less than 2 hours")
    assert is_so(value, 113, label="runtime minutes")
    assert not is_so(value, 121, label="runtime minutes")
    (value,) = find_values("it takes 2 hours")
    assert is_so(value, 120, label="runtime minutes")
    assert not is_so(value, 113, label="runtime minutes")


@settings(max_examples=150)
@given(st.integers(-(10**12), 10**12), st.booleans())
def test_a_whole_number_holds_for_itself_alone(number, grouped):
    text = f"it is {number:,} long" if grouped else f"it is {number} long"
    (found,) = find_values(text)
    assert is_so(found, number)
    assert not is_so(found, number + 1)
    assert not is_so(found, number - 1)


@settings(max_examples=100)
@given(st.dates())
def test_a_date_holds_for_itself_alone(date):
    months = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
    ]
    month = [*months, "November", "December"][date.month - 1]
    for text in (
        date.isoformat(),
        f"{month} {date.day}, {date.year:04}",
        f"{date.day}th of {month} {date.year:04}",
    ):
        (found,) = find_values(text)
        days = days_since_epoch(date.year, date.month, date.day)
        assert [is_so(found, days + shift, date=True) for shift in (-1, 0, 1)] == [False, True, False]


@pytest.mark.parametrize(
    ("text", "timed"),
    [
        ("in 1921", True),
        ("since the year 1921", True),
        ("before 1921", True),
        ("of 1921", False),
        ("in 21", False),
    ],
)
def test_a_year_after_a_word_of_time_is_nothing_else(text, timed):
    (value,) = find_values(f"it happened {text} there")
    assert value.timed is timed


def test_a_text_is_no_date():
    assert not holds("born in 1976", "a village")


def test_a_number_is_counted_as_the_one_that_it_leads_to():
    (between,) = find_values("sold between 1 and 1.5 million")
    assert [is_so(between, n) for n in (999_999, 1e6, 1.5e6, 1_500_001)] == [False, True, True, False]
    first, second = find_values("it lasted 1 or 2 hours")
    assert [is_so(v, 60, label="minutes") for v in (first, second)] == [True, False]
