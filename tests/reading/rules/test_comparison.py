"""Words laid out around a mention."""

import pytest

from clew.reading.rules.comparison import OF, Span


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("Who is the founder of Ann Lee married to?", True),
        ("What are the headquarters of Ann Lee founded companies?", False),
        ("Who was married to Ann Lee before?", False),
    ],
)
def test_what_is_of_somebody_is_read_before_what_stands_behind_the_name(firms, text, bound):
    _, comparison = firms.compare(text)
    start = text.index("Ann Lee")
    span = Span(start, start + len("Ann Lee"))
    left = [i for i, w in enumerate(comparison.words) if w.stop <= span.start][::-1]
    right = [i for i, w in enumerate(comparison.words) if w.start >= span.stop]
    assert (comparison.sides(left, right, span, ()).cross == OF) == bound


def test_a_word_that_is_a_value_does_not_ask_for_the_relation(firms):
    _, comparison = firms.compare("Which company is located in Oslo?")
    row = next(i for i, w in enumerate(comparison.words) if w.norm == "located")
    relation = firms.relation("headquarters")
    start = comparison.words[row].start
    assert (
        comparison.with_values({start: [relation]}).relation[row, relation]
        < comparison.relation[row, relation]
    )
