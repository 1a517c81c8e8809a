"""A word of a claim that is none is read as the one that was meant, and the step says so."""

import pytest

from clew import Clew

TRIPLES = [("Heat", "directed by", "Michael Mann"), ("Ran", "directed by", "Akira Kurosawa")]


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Heat was driected by Michael Mann.", "supported"),
        ("Heat was driected by Akira Kurosawa.", "refuted"),
    ],
)
def test_a_misspelt_word_is_read(claim: str, verdict: str) -> None:
    with Clew.from_triples(TRIPLES) as graph:
        told = graph.verify(claim)
        assert told.verdict == verdict
        assert told.notes == ('"driected" is read as "directed"',)
        assert told.steps[0].detail["respelt"] == [["driected", "directed"]]
