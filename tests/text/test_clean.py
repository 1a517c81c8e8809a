"""Questions without control characters."""

import pytest

from clew import UsageError
from clew.text.clean import clean_question


@pytest.mark.parametrize(
    ("question", "cleaned"),
    [
        ("a\x00b\x1bc", "a b c"),
        ("a\u2028b", "a b"),
        ("\ud800x", "\ufffdx"),
        ("w " * 300, ("w " * 300).strip()),
    ],
)
def test_questions_are_cleaned(question, cleaned):
    assert clean_question(question) == cleaned


@pytest.mark.parametrize("question", ["", " ", "\x00", "w " * 301, "x" * 10_001])
def test_questions_that_are_none(question):
    with pytest.raises(UsageError):
        clean_question(question)
