"""At which step an answer went wrong."""

import pytest
from made import record

from clew.evaluate.metrics import error_step, retrieval_hits

PATHS = [("Memento", "directed_by", "year")]
FORMS = {"directed_by": "directed_by", "year": "year", "written_by": "written_by"}
GOOD = {
    "triples": [["Memento", "directed_by", "UNKNOWN 1"], ["UNKNOWN 1", "year", "UNKNOWN 2"]],
    "answer": "UNKNOWN 2",
}
EVIDENCE = [{"name": "match", "detail": {"triples": [["Nolan", "year", "1970"]]}}]


def step(**told):
    return error_step(record(["x"], ["1970"], paths=PATHS, forms=FORMS, **told), 0.0)


def changed(head, relation):
    return {"triples": [[head, relation, "UNKNOWN 1"], ["UNKNOWN 1", "year", "UNKNOWN 2"]]}


@pytest.mark.parametrize(
    "pattern",
    [
        {"triples": GOOD["triples"][:1]},
        changed("Heat", "directed_by"),
        changed("Memento", "written_by"),
    ],
)
def test_another_pattern_than_the_gold(pattern):
    assert step(pattern=pattern, steps=EVIDENCE) == "pattern"


def test_a_pattern_in_words_that_are_not_the_graphs_is_judged_by_its_shape():
    assert step(pattern=changed("Memento", "was made by")) == "retrieval"


def test_the_pattern_is_right_but_the_gold_was_not_found():
    assert step(pattern=GOOD) == "retrieval"


def test_the_gold_was_found_but_not_read():
    assert step(pattern=GOOD, steps=EVIDENCE) == "reading"


def test_nothing_at_all_counts_as_pattern():
    assert error_step(record(gold=["1970"], paths=PATHS, reason="no_relation"), 0.0) == "pattern"


def test_right_answers_and_questions_without_paths_have_no_error_step():
    assert error_step(record(["1970"], ["1970"], paths=PATHS), 1.0) is None
    assert error_step(record(["x"], ["1970"]), 0.0) is None


def test_retrieval_hits_looks_at_citations_and_steps_but_not_at_the_pattern():
    assert retrieval_hits(record(["x"], ["1970"], steps=EVIDENCE)) == 1.0
    assert retrieval_hits(record(["1970"], ["1970"], citations=[("1970", [("a", "r", "1970")])])) == 1.0
    assert retrieval_hits(record(["x"], ["1970"], pattern={"triples": [["a", "r", "1970"]]})) == 0.0
