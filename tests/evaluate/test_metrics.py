"""Metrics against examples computed by hand, and against slow and obvious references."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made import record, row

from clew.errors import UsageError
from clew.evaluate import metrics
from clew.evaluate.judge import bert_score, open_tokens, score_record
from clew.evaluate.metrics import METRICS, error_step, metric_named, retrieval_hits
from clew.evaluate.report.summary import bootstrap, score, shape_of

NAMES = st.lists(st.sampled_from("abcdef"), max_size=5, unique=True)
checked = settings(max_examples=60)


@checked
@given(NAMES, NAMES.filter(bool))
def test_set_metrics_are_those_of_sets(given_names, gold):
    got = record(given_names, gold)
    both = set(given_names) & set(gold)
    p = len(both) / len(given_names) if given_names else 0.0
    r = len(both) / len(gold)
    assert metrics.precision(got) == p
    assert metrics.recall(got) == r
    assert metrics.f1(got) == pytest.approx(2 * p * r / (p + r) if p + r else 0.0)
    assert metrics.exact_set(got) == float(set(given_names) == set(gold))
    assert metrics.hits_at_1(got) == float(bool(both))


@checked
@given(NAMES.filter(bool), NAMES.filter(bool))
def test_accurate_incorrect_and_missing_add_up(given_names, gold):
    got = record(given_names, gold)
    assert metrics.accuracy(got) + metrics.hallucination(got) + metrics.missing(got) == 1.0
    assert metrics.truthfulness(got) == metrics.accuracy(got) - metrics.hallucination(got)
    assert metrics.accuracy(got) <= metrics.hits_at_1(got)


@pytest.mark.parametrize(
    ("said", "gold", "hit"),
    [
        ("Zoë_Kravitz", "zoe kravitz", 1.0),
        ("The Crow!", "the crow", 1.0),
        ("Pitt", "Brad Pitt", 0.0),
        ("M. Mann", ("Michael Mann", "M. Mann"), 1.0),
        ("q42", ("Douglas Adams", "Q42"), 1.0),
    ],
)
def test_names_and_aliases(said, gold, hit):
    assert metrics.hits_at_1(record([said], [gold])) == hit


def test_an_alias_given_twice_is_one_found_answer():
    got = record(["Michael Mann", "M. Mann"], [("Michael Mann", "M. Mann"), "Nolan"])
    assert (metrics.precision(got), metrics.recall(got)) == (1.0, 0.5)


@pytest.mark.parametrize(
    ("text", "names", "hit"),
    [
        ("According to fact 3, brad pitt did.", (), 1.0),
        ("The one of fact 3.", ("Brad Pitt",), 1.0),
        ("Brad Pittsburgh", (), 0.0),
        ("Somebody else", ("George Clooney",), 0.0),
    ],
)
def test_the_text_of_an_answer_may_hold_the_gold(text, names, hit):
    assert metrics.text_hit(record(names, ["Brad Pitt"], text=text)) == hit


@pytest.mark.parametrize(
    ("metric", "gold", "text", "hit"),
    [
        # A text without entities is searched for whole words; an exact match is that of KG-RAG.
        (metrics.hits_at_1, "Nolan", "It was Christopher Nolan, I think.", 1.0),
        (metrics.hits_at_1, "Nola", "It was Christopher Nolan.", 0.0),
        (metrics.exact_match, "Brad Pitt", " brad PITT ", 1.0),
        (metrics.exact_match, "Brad Pitt", "Pitt is the actor in question", 0.0),
        (metrics.exact_match, "Zoe", "Zoë", 0.0),
    ],
)
def test_a_text_without_entities(metric, gold, text, hit):
    assert metric(record(gold=[gold], text=text)) == hit
    assert metrics.hits_at_1(record(gold=[gold], text=gold, reason="no_relation")) == 0.0


def test_without_gold_abstaining_is_right():
    assert metrics.hits_at_1(record(reason="no_relation")) == 1.0
    assert metrics.f1(record(["x"])) == 0.0
    assert metrics.built_in(record(reason="no_relation")) == "accurate"
    assert metrics.built_in(record(["x"])) == "incorrect"


def test_a_failure_is_wrong_and_no_abstention():
    failed = record(gold=["x"], failure=True)
    assert metrics.hits_at_1(failed) == 0.0
    assert metrics.built_in(failed) == "missing"
    assert score(failed).abstained is None
    assert metrics.failures([score(failed)]) == 1


def test_judges_are_averaged_and_asked_only_where_it_is_open():
    wrong = record(["x"], ["y"], judgements={"one": "accurate", "two": "incorrect", "three": None})
    assert metrics.accuracy(wrong) == 0.5
    assert metrics.hallucination(wrong) == 0.5
    assert metrics.truthfulness(wrong) == 0.0
    assert metrics.unjudged(wrong) == pytest.approx(1 / 3)
    assert metrics.accuracy(record(["y"], ["y"], judgements={"one": "incorrect"})) == 1.0
    assert metrics.accuracy(record(["x"], ["y"], judgements={"one": None})) is None


def test_judge_accuracy_is_of_its_own_kind_of_judge():
    got = record(["x"], ["y"], judgements={"match:kimi": "yes", "other": "incorrect"})
    assert metrics.judge_accuracy(got) == 1.0
    assert metrics.accuracy(got) == 0.0


PATH = [("Memento", "directed_by", "year")]
PROOF = (("Memento", "directed_by", "Nolan"), ("Nolan", "year", "1970"))


def test_citations_are_held_against_gold_paths():
    other = (("Memento", "written_by", "Nolan"), ("Nolan", "year", "1970"))
    got = record(["1970", "1971"], ["1970", "1980"], paths=PATH, citations=[("1970", PROOF), ("1970", other)])
    assert metrics.citation_precision(got) == 0.5
    assert metrics.citation_recall(got) == 0.5


def test_a_citation_must_hold_the_topic_and_inverses_count_as_one():
    away = (("Heat", "directed_by", "Nolan"), ("Nolan", "year", "1970"))
    assert (
        metrics.citation_precision(record(["1970"], ["1970"], paths=PATH, citations=[("1970", away)])) == 0.0
    )
    back = (("Nolan", "director_of", "Memento"), ("Nolan", "year", "1970"))
    forms = {"directed_by": "directed_by", "director_of": "directed_by", "year": "year"}
    got = record(["1970"], ["1970"], paths=PATH, citations=[("1970", back)], forms=forms)
    assert metrics.citation_precision(got) == 1.0


def test_citation_metrics_need_paths():
    assert metrics.citation_recall(record(["x"], ["x"])) is None
    assert metrics.citation_precision(record(["x"], ["x"], paths=PATH)) is None


def test_claims_by_hand():
    rows = [
        row(["yes"], verdict="supported", id="1"),
        row(["no"], verdict="supported", id="2"),
        row(["no"], verdict="refuted", id="3"),
        row(reason="no_entity", verdict="refuted", id="4"),
    ]
    assert metrics.claim_accuracy(rows) == 0.5
    # supported: 1 right, 1 said, 2 gold → 2/3; refuted: 1 right, 2 said, 2 gold → 1/2
    assert metrics.claim_macro_f1(rows) == pytest.approx((2 / 3 + 1 / 2) / 2)


def test_abstention_by_hand():
    rows = [
        row(reason="no_relation", id="1"),  # right: no gold
        row(reason="no_entity", gold=["x"], in_graph=0, id="2"),  # right: none of it is in the graph
        row(reason="no_entity", gold=["x"], id="3"),  # wrong
        row(["x"], in_graph=0, gold=["y"], id="4"),  # should have
    ]
    assert metrics.abstention_precision(rows) == pytest.approx(2 / 3)
    assert metrics.abstention_recall(rows) == pytest.approx(2 / 3)
    assert metrics.coverage(rows) == 0.25


@checked
@given(st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.booleans()), min_size=1, max_size=12))
def test_risk_and_coverage_against_thresholds(items):
    rows = [row(["x"], ["x" if ok else "y"], scores=[c], id=str(i)) for i, (c, ok) in enumerate(items)]
    points = metrics.risk_coverage(rows)
    thresholds = sorted({c for c, _ in items}, reverse=True)
    for threshold, (coverage, risk) in zip(thresholds, points, strict=True):
        kept = [ok for c, ok in items if c >= threshold]
        assert coverage == pytest.approx(len(kept) / len(items))
        assert risk == pytest.approx(1 - sum(kept) / len(kept))
    assert 0.0 <= metrics.aurc(rows) <= 1.0


def test_bootstrap_is_repeatable_and_holds_the_mean():
    values = [1.0] * 80 + [0.0] * 20
    low, high = bootstrap(values)
    assert (low, high) == bootstrap(values)
    assert low < 0.8 < high
    # the normal interval of a share: 0.8 ± 1.96 · sqrt(0.8 · 0.2 / 100)
    assert high - low == pytest.approx(2 * 1.96 * math.sqrt(0.0016), rel=0.15)
    with pytest.raises(ValueError, match="no values"):
        bootstrap([])


def test_every_metric_says_what_it_is():
    for name, about in METRICS.items():
        assert about.name == name
        assert about.definition.endswith(".")
        assert about.source
        assert about.low < about.high
    with pytest.raises(UsageError, match="no metric 'bogus'"):
        metric_named("bogus")


@pytest.mark.parametrize(
    ("paths", "shape"),
    [
        ([("a", "r")], "1-hop path"),
        ([("a", "r", "s", "t")], "3-hop path"),
        ([("a", "r"), ("b", "s")], "2-hop conjunction"),
        ([("a", "r"), ("b", "s", "t")], "3-hop conjunction"),
        ([("a", "r"), ("b", "s"), ("c", "t")], "3-hop star"),
        ([], ""),
    ],
)
def test_shapes_are_those_of_simgrag(paths, shape):
    assert shape_of(record(paths=paths).question) == shape


PATHS = [("Memento", "directed_by", "year")]


FORMS = {"directed_by": "directed_by", "year": "year", "written_by": "written_by"}


GOOD = {
    "triples": [["Memento", "directed_by", "UNKNOWN 1"], ["UNKNOWN 1", "year", "UNKNOWN 2"]],
    "answer": "UNKNOWN 2",
}


EVIDENCE = [{"name": "match", "detail": {"triples": [["Nolan", "year", "1970"]]}}]


def changed(head, relation):
    return {"triples": [[head, relation, "UNKNOWN 1"], ["UNKNOWN 1", "year", "UNKNOWN 2"]]}


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({"pattern": {"triples": GOOD["triples"][:1]}, "steps": EVIDENCE}, "pattern"),
        ({"pattern": changed("Heat", "directed_by"), "steps": EVIDENCE}, "pattern"),
        ({"pattern": changed("Memento", "written_by"), "steps": EVIDENCE}, "pattern"),
        ({"pattern": changed("Memento", "was made by")}, "retrieval"),  # words that are not the graph's
        ({"pattern": GOOD}, "retrieval"),
        ({"pattern": GOOD, "steps": EVIDENCE}, "reading"),
        ({"reason": "no_relation"}, "pattern"),
    ],
)
def test_an_error_is_of_the_step_that_lost_the_gold(told, error):
    assert error_step(record(["x"], ["1970"], paths=PATHS, forms=FORMS, **told), 0.0) == error


def test_right_answers_and_questions_without_paths_have_no_error_step():
    assert error_step(record(["1970"], ["1970"], paths=PATHS), 1.0) is None
    assert error_step(record(["x"], ["1970"]), 0.0) is None


def test_retrieval_hits_looks_at_citations_and_steps_but_not_at_the_pattern():
    assert retrieval_hits(record(["x"], ["1970"], steps=EVIDENCE)) == 1.0
    assert retrieval_hits(record(["1970"], ["1970"], citations=[("1970", [("a", "r", "1970")])])) == 1.0
    assert retrieval_hits(record(["x"], ["1970"], pattern={"triples": [["a", "r", "1970"]]})) == 0.0


MODEL = Path(__file__).resolve().parents[2].parent / "shared" / "models" / "minilm-int8"


def unit(*rows):
    vectors = np.array(rows, np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_the_definition_on_random_vectors():
    random = np.random.default_rng(0)
    answer, reference = unit(*random.normal(size=(5, 8))), unit(*random.normal(size=(7, 8)))
    precision, recall, f1 = bert_score(answer, reference)
    assert precision == pytest.approx(
        np.mean([max(float(a @ r) for r in reference) for a in answer]), rel=1e-5
    )
    assert recall == pytest.approx(np.mean([max(float(a @ r) for a in answer) for r in reference]), rel=1e-5)
    assert bert_score(reference, answer) == pytest.approx((recall, precision, f1))


def test_nothing_said():
    empty, some = np.zeros((0, 2), np.float32), unit((1, 0))
    assert bert_score(empty, some) == (0.0, 0.0, 0.0)
    assert bert_score(empty, empty) == (1.0, 1.0, 1.0)


def test_a_real_model_prefers_what_means_the_same():
    if not MODEL.exists():
        pytest.skip("needs ../shared/models/minilm-int8")
    model = open_tokens(f"onnx:{MODEL}")
    gold = ["the film director Christopher Nolan"]
    records = [
        record(gold=gold, text=t) for t in (gold[0], "Christopher Nolan, a movie maker", "a bowl of soup", "")
    ]
    same, near, far, nothing = (score_record(r, model)[2] for r in records)
    assert same == pytest.approx(1.0, abs=1e-5)
    assert same > near > far > nothing == 0.0
