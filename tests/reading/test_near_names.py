"""Names that may be meant by one that a graph lacks."""

from clew.engine import Clew


def test_a_question_is_not_told_of_what_was_removed_and_that_is_no_typo_of_another():
    with Clew.from_triples([("Globex", "led_by", "Hank"), ("Globix", "led_by", "Bill")]) as clew:
        clew.update(remove=[("Globex", "led_by", "Hank")])
        for given in ({"entities": ["Globexx"]}, {}):
            answer = clew.ask("Who leads Globexx?", **given)
            assert answer.abstained is not None
            assert "Globex" not in answer.abstained.candidates
            assert "Globix" in answer.abstained.candidates
        assert clew.ask("Who leads Globex?").answers == ()
        assert clew.ask("Who leads Globyx?").answers[0].entity == "Bill"
