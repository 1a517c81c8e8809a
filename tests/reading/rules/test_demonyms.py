"""Adjectives of countries."""

import pytest

from clew.reading.demonyms import country_names, places_of


@pytest.mark.parametrize(
    ("adjective", "place"), [("French", "France"), ("south african", "South Africa"), ("European", "Europe")]
)
def test_an_adjective_is_of_a_place(adjective, place):
    assert place in places_of(adjective)


def test_other_adjectives_are_of_none():
    assert places_of("blue") == ()


def test_continents_are_no_countries():
    assert "Sweden" in country_names()
    assert "Europe" not in country_names()
