"""What a question leaves out."""

import pytest

from clew.reading.rules.negation import find_negation
from clew.reading.rules.question import read_question


def negation_of(text, *names):
    spans = [(text.index(name), text.index(name) + len(name)) for name in names]
    return find_negation(text, read_question(text).words, spans, spans)


@pytest.mark.parametrize(
    ("text", "names", "base", "positive"),
    [
        ("films by Ann that are not by Bo", ["Ann", "Bo"], "films by Ann", "films by Ann that are by Bo"),
        ("Which films don't star Bo?", ["Bo"], "Which films ?", "Which films do star Bo?"),
        ("films by Ann but not by Bo", ["Ann", "Bo"], "films by Ann", "films by Ann and by Bo"),
        ("Which films that star Ann never won Oscar?", ["Ann", "Oscar"], "Which films that star Ann ?",
         "Which films that star Ann won Oscar?"),
    ],
)  # fmt: skip
def test_a_part_is_left_out(text, names, base, positive):
    found = negation_of(text, *names)
    assert found.kind == "part"
    assert " ".join(found.base.split()) == base
    assert " ".join(found.positive.split()) == positive


@pytest.mark.parametrize(
    ("text", "base", "nouns"),
    [
        ("films without a genre", "films", ["genre"]),
        ("Which drugs have no side effects?", "Which drugs ?", ["side", "effects"]),
        ("Which people are not assigned to any project?", "Which people ?", ["project"]),
    ],
)
def test_things_that_have_none_are_asked_for(text, base, nouns):
    found = negation_of(text)
    assert (found.kind, " ".join(found.base.split())) == ("none", base)
    assert [w.norm for w in found.nouns] == nouns


def test_an_exception_is_a_name():
    found = negation_of("films by Ann except Jaws", "Ann", "Jaws")
    assert (found.kind, " ".join(found.base.split())) == ("except", "films by Ann")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Who directed Never Let Me Go?", ["Never Let Me Go"]),
        ("Which films are not by Ann and not by Bo?", ["Ann", "Bo"]),
        ("Who directed Jaws?", ["Jaws"]),
    ],
)
def test_a_name_or_two_negations_are_none(text, names):
    assert negation_of(text, *names) is None
