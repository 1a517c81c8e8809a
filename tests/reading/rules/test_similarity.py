"""How well words name the relations of a graph."""

import numpy as np
import pytest


@pytest.mark.parametrize(
    ("word", "relation"),
    [
        ("founder", "founded_by"),
        ("established", "founded_by"),
        ("headquartered", "headquarters"),
        ("income", "revenue"),
        ("inspired", "influenced"),
    ],
)
def test_a_word_names_its_relation_best(firms, word, relation):
    assert firms.relations[int(firms.table.compare([word]).relation[0].argmax())].startswith(relation[:5])


def test_a_word_of_another_field_names_nothing(firms):
    assert firms.table.compare(["volcano"]).relation.max() < 0.3


def test_all_shares_lie_between_nothing_and_all(firms):
    found = firms.table.compare(["founder", "who", "revenue", "zzz", "year"])
    for rows in (found.relation, found.cover, found.arrive, found.type, found.fits, found.turned):
        assert rows.min() >= 0.0
        assert rows.max() <= 1.0 + 1e-9


def test_a_row_does_not_depend_on_the_other_words(firms):
    alone = firms.table.compare(["founder"])
    among = firms.table.compare(["income", "founder", "place"])
    assert np.array_equal(alone.cover[0], among.cover[1])


def test_either_of_two_words_counts(firms):
    both, one, other = (firms.table.compare([w]).relation[0] for w in ("income|founder", "income", "founder"))
    assert np.array_equal(both, np.maximum(one, other))


def test_a_noun_that_names_a_step_s_beginning_is_turned(firms):
    turned = firms.table.compare(["founder"]).turned[0]
    assert turned[firms.step("founded_by", False)] < turned[firms.step("founded_by")] == 1.0
