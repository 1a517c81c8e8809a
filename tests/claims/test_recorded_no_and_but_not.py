"""Claims over what is recorded as yes or no, and of *this but not that*."""

import pytest

from clew import Clew

RECORDS = [
    ("Oak Hall", "has_sauna", "true"), ("Elm Hall", "has_sauna", "false"), ("Fir Hall", "has_sauna", "true"),
    ("Oak Hall", "district", "North"), ("Elm Hall", "district", "South"), ("Fir Hall", "district", "North"),
    ("Oak Hall", "heated", "no"), ("Elm Hall", "heated", "yes"), ("Fir Hall", "heated", "yes"),
    ("Ash Pier", "district", "South"),
    ("Ferry A", "serves", "Oak Hall"), ("Ferry A", "serves", "Elm Hall"), ("Ferry B", "serves", "Fir Hall"),
]  # fmt: skip


@pytest.fixture(scope="module")
def halls():
    with Clew.from_triples(RECORDS) as clew:
        yield clew


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Oak Hall has a sauna.", "supported"),
        ("Elm Hall has a sauna.", "refuted"),
        ("Elm Hall has no sauna.", "supported"),
        ("Elm Hall does not have a sauna.", "supported"),
        ("Oak Hall has no sauna.", "refuted"),
        ("Elm Hall is heated.", "supported"),
        ("Oak Hall is heated.", "refuted"),
        ("Oak Hall is not heated.", "supported"),
        ("Elm Hall has a sauna and is heated.", "refuted"),
        ("Ash Pier has a sauna.", "not_enough_info"),
    ],
)
def test_what_is_recorded_as_no_is_not_so(halls, claim, verdict):
    assert halls.verify(claim).verdict == verdict


def test_the_recorded_value_is_shown(halls):
    (part,) = halls.verify("Elm Hall has a sauna.").parts
    assert [t.as_json() for t in part.triples] == [["Elm Hall", "has_sauna", "false"]]


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Ferry A serves Oak Hall but not Elm Hall.", "refuted"),
        ("Ferry A serves Oak Hall but not Fir Hall.", "supported"),
        ("Ferry A serves Oak Hall, but never Fir Hall.", "supported"),
        ("Ferry A serves Oak Hall and not Elm Hall.", "refuted"),
        ("Ferry A does not serve Fir Hall but Elm Hall.", "supported"),
        ("Oak Hall is in North but not in South.", "supported"),
    ],
)
def test_but_not_denies_what_follows(halls, claim, verdict):
    assert halls.verify(claim).verdict == verdict
