"""Claims of all, of none or of so many of a kind."""

import pytest

from clew import Clew

YARD = """\
Swift|type|Boat
Heron|type|Boat
Gull|type|Boat
Tern|type|Boat
Ada Moe|type|Person
Ben Lie|type|Person
Swift|state|moored
Heron|state|moored
Gull|state|repaired
Tern|state|moored
Swift|built_in|Bergen
Heron|built_in|Bergen
Gull|built_in|Bergen
Tern|built_in|Bergen
Swift|length_m|9
Heron|length_m|14
Gull|length_m|11
Tern|length_m|12
Swift|insured|true
Heron|insured|false
Gull|insured|true
Tern|insured|true
Ada Moe|sails|Swift
Ada Moe|sails|Heron
Ada Moe|sails|Gull
Ada Moe|sails|Tern
Ben Lie|sails|Swift
Ben Lie|born_in|Bergen
Ada Moe|born_in|Oslo"""


@pytest.fixture(scope="module")
def yard():
    with Clew.from_triples([tuple(line.split("|")) for line in YARD.splitlines()]) as clew:
        yield clew


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("All boats are moored.", "refuted"),
        ("Every boat is moored.", "refuted"),
        ("Not all boats are moored.", "supported"),
        ("All boats were built in Bergen.", "supported"),
        ("Each boat was built in Bergen.", "supported"),
        ("All boats are insured.", "refuted"),
        ("All boats are longer than 8 metres.", "supported"),
        ("All boats are longer than 10 metres.", "refuted"),
        ("All boats built in Bergen are insured.", "refuted"),
        ("All boats that Ben Lie sails are moored.", "supported"),
        ("Ada Moe sails all boats.", "supported"),
        ("Ben Lie sails all boats.", "refuted"),
        ("Ben Lie does not sail all boats.", "supported"),
        ("All boats are not moored.", "not_enough_info"),
        ("Almost all boats are moored.", "not_enough_info"),
        ("All boats are blessed.", "not_enough_info"),
        ("Ada Moe burned all boats.", "not_enough_info"),
    ],
)
def test_all_is_more_than_some(yard, claim, verdict):
    assert yard.verify(claim).verdict == verdict


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Three boats are moored.", "supported"),
        ("Four boats are moored.", "refuted"),
        ("At least two boats are moored.", "supported"),
        ("More than three boats are moored.", "refuted"),
        ("Three boats are insured.", "supported"),
        ("Two boats are insured.", "refuted"),
        ("No boats are repaired.", "refuted"),
        ("Three boats are blessed.", "not_enough_info"),
        # Ben was born there, who is no boat.
        ("Four boats were built in Bergen.", "supported"),
        ("Ada Moe sails four boats.", "supported"),
        ("Ben Lie sails two boats.", "refuted"),
    ],
)
def test_so_many_of_a_kind_are_counted(yard, claim, verdict):
    assert yard.verify(claim).verdict == verdict


def test_what_refutes_all_is_one_that_is_not(yard):
    (part,) = yard.verify("All boats are moored.").parts
    assert [t.as_json() for t in part.triples] == [["Gull", "state", "repaired"]]


def test_those_of_another_kind_do_not_count():
    country = [("Ann", "country", "Latvia"), ("Lux", "country", "Latvia"), ("Ozo", "country", "Malta")]
    types = [("Ann", "type", "Person"), ("Lux", "type", "Company"), ("Ozo", "type", "Company")]
    with Clew.from_triples([*country, *types]) as clew:
        assert clew.verify("Two companies are in Latvia.").verdict != "supported"
        assert clew.verify("One company is in Latvia.").verdict == "supported"
        assert clew.verify("A person is in Malta.").verdict != "supported"


def test_a_word_of_time_before_a_number_of_things_compares_nothing():
    rooms = [("Ada", "looks_after", "Attic"), ("Ada", "looks_after", "Cellar"), ("Bo", "looks_after", "Hall")]
    with Clew.from_triples(rooms) as clew:
        assert clew.verify("Ada looks after two things.").verdict == "supported"
        assert clew.verify("Ada looks after three things.").verdict == "refuted"
