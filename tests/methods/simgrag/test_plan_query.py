"""Plans with operations over a small machine shop: each operation against what the triples say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clew.engine import Clew
from clew.errors import PatternError
from clew.llm.reply import build, read_value
from clew.llm.testing import ScriptedModel
from clew.methods.simgrag.find_subgraphs import Misfit, PatternDistances
from clew.methods.simgrag.method import SimGRAG
from clew.methods.simgrag.plan_query import PlanQuery
from clew.methods.simgrag.write_pattern import PlanReply, plan_of
from clew.reading.answer import DraftAnswer
from clew.reading.shared_reader import reader_of

TRIPLES = """\
HP-40	pressure_bar	260
HP-12	pressure_bar	300
TB-5	pressure_bar	400
TB-5 Mk2	pressure_bar	230
HP-40	on_line	Gasket Line
HP-12	on_line	Pump Line
TB-5	on_line	Gasket Line
TB-5 Mk2	on_line	Gasket Line
HP-40	has_part	ram seal
HP-40	has_part	sensor
HP-12	has_part	sensor
TB-5	has_part	sensor
TB-5	has_part	valve
TB-5	has_part	pump
HP-40	serviced_on	2024-03-01
HP-12	serviced_on	2025-01-20
TB-5	serviced_on	2024-11-02
WO-1	done_on	HP-40
WO-2	done_on	HP-40
WO-3	done_on	TB-5
WO-1	hours	2
WO-2	hours	3.5
WO-3	hours	2
WO-1	done_by	Ilse Tamm
WO-2	done_by	Ilse Tamm
WO-3	done_by	Nadia Quist
"""
TYPES = """\
HP-40	Machine
HP-12	Machine
TB-5	Machine
TB-5 Mk2	Machine
Gasket Line	Line
Pump Line	Line
ram seal	Part
sensor	Part
valve	Part
pump	Part
WO-1	Work Order
WO-2	Work Order
WO-3	Work Order
Ilse Tamm	Person
Nadia Quist	Person
"""
M, N = "UNKNOWN machine 1", "UNKNOWN number 1"
PRESSURE = [M, "pressure bar", N]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Clew:
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.tsv").write_text(TRIPLES, "utf-8")
    (folder / "shop.types.tsv").write_text(TYPES, "utf-8")
    return Clew.open(folder / "shop.tsv", cache_dir=folder / "cache")


@pytest.fixture(scope="module")
def executor(shop: Clew) -> PlanQuery:
    distances = PatternDistances(shop.index, shop.embedder)
    return PlanQuery(reader_of(shop.index, shop.embedder).vocabulary, distances)


def executed(
    executor: PlanQuery, triples: list[list[str]], answer: str = "", *operations: dict[str, Any]
) -> DraftAnswer | Misfit:
    reply = {"divided": [], "triples": triples, "answer": answer, "operations": list(operations)}
    return executor.answer(plan_of(read_value(json.dumps(reply), lambda value: build(PlanReply, value))))


def names(found: DraftAnswer | Misfit) -> list[str]:
    assert isinstance(found, DraftAnswer), found.detail
    return [answer.entity for answer in found.answers]


LINE = [M, "on line", "Gasket Line"]
L, W = "UNKNOWN line 1", "UNKNOWN work order 1"
ON_ORDER, BY_ILSE = [W, "done on", M], [W, "done by", "Ilse Tamm"]


@pytest.mark.parametrize(
    ("triples", "operations", "answers"),
    [
        ([PRESSURE], [{"op": "keep", "node": N, "test": ">", "than": "250"}], ["HP-12", "HP-40", "TB-5"]),
        ([PRESSURE], [{"op": "keep", "node": N, "test": "<=", "than": 260}], ["HP-40", "TB-5 Mk2"]),
        ([PRESSURE], [{"op": "keep", "node": N, "test": "!=", "than": "260"}], ["HP-12", "TB-5", "TB-5 Mk2"]),
        ([PRESSURE], [{"op": "max", "node": N}], ["TB-5"]),
        ([PRESSURE], [{"op": "min", "node": N}], ["TB-5 Mk2"]),
        ([PRESSURE], [{"op": "max", "node": N, "first": 2}], ["TB-5", "HP-12"]),
        ([PRESSURE, LINE], [{"op": "min", "node": N}], ["TB-5 Mk2"]),
        ([[M, "has part", "UNKNOWN part 1"]], [{"op": "most", "node": "UNKNOWN part 1"}], ["TB-5"]),
        ([[M, "has part", "UNKNOWN part 1"]], [{"op": "fewest", "node": "UNKNOWN part 1"}], ["HP-12"]),
        (
            [[M, "has part", "UNKNOWN part 1"]],
            [{"op": "keep", "node": "count of UNKNOWN part 1", "test": ">=", "than": "2"}],
            ["HP-40", "TB-5"],
        ),
        ([LINE], [{"op": "without", "triples": [[M, "has part", "sensor"]]}], ["TB-5 Mk2"]),
        (
            [[M, "has part", "ram seal"]],
            [{"op": "or", "triples": [[M, "has part", "valve"]]}],
            ["HP-40", "TB-5"],
        ),
        (
            [[M, "serviced on", "UNKNOWN date 1"]],
            [{"op": "keep", "node": "UNKNOWN date 1", "test": ">", "than": "1 October 2024"}],
            ["HP-12", "TB-5"],
        ),
        (
            [[M, "serviced on", "UNKNOWN date 1"]],
            [{"op": "keep", "node": "UNKNOWN date 1", "test": "=", "than": "2024"}],
            ["HP-40", "TB-5"],
        ),
        (
            [PRESSURE, ["HP-40", "pressure bar", "UNKNOWN number 2"]],
            [{"op": "keep", "node": N, "test": ">", "than": "UNKNOWN number 2"}],
            ["HP-12", "TB-5"],
        ),
        ([], [{"op": "without", "triples": [["UNKNOWN work order 1", "done on", M]]}], ["HP-12", "TB-5 Mk2"]),
        ([ON_ORDER, BY_ILSE], [{"op": "most", "node": W}], ["HP-40"]),
        ([ON_ORDER, BY_ILSE], [{"op": "keep", "node": f"count of {W}", "test": ">", "than": 2}], []),
        ([ON_ORDER, [W, "hours", N]], [{"op": "max", "node": N}], ["HP-40"]),
        ([ON_ORDER, [W, "hours", N]], [{"op": "min", "node": N}], ["HP-40", "TB-5"]),
        (
            [ON_ORDER, [W, "hours", N]],
            [{"op": "keep", "node": N, "test": "<", "than": "2.5 h"}] * 2,
            ["HP-40", "TB-5"],
        ),
        (
            [PRESSURE, LINE],
            [{"op": "keep", "node": N, "test": "<", "than": "300"}, {"op": "max", "node": N}],
            ["HP-40"],
        ),
        (
            [PRESSURE, [M, "on line", L]],
            [{"op": "keep", "node": L, "test": "!=", "than": "Gasket Line"}],
            ["HP-12"],
        ),
    ],
    ids=str,
)
def test_operations_choose_answers(executor, triples, operations, answers):
    found = executed(executor, triples, M, *operations)
    if not answers:
        assert isinstance(found, Misfit)
        assert found.reason == "empty_result"
        return
    assert sorted(names(found)) == sorted(answers)
    if operations[-1].get("first"):
        assert names(found) == answers


@pytest.mark.parametrize(
    ("triples", "operation", "value"),
    [
        ([LINE], {"op": "count", "node": M}, "3"),
        ([], {"op": "count", "node": M}, "4"),
        (
            [
                ["UNKNOWN work order 1", "done on", "HP-40"],
                ["UNKNOWN work order 1", "done by", "UNKNOWN person 1"],
            ],
            {"op": "count", "node": "UNKNOWN person 1"},
            "1",
        ),
        ([["UNKNOWN work order 1", "hours", N]], {"op": "sum", "node": N}, "7.5"),
        ([["UNKNOWN work order 1", "hours", N]], {"op": "average", "node": N}, "2.5"),
        ([["HP-40", "on line", "Gasket Line"]], {"op": "exists"}, "yes"),
        ([["HP-12", "on line", "Gasket Line"]], {"op": "exists"}, "no"),
        ([ON_ORDER, BY_ILSE], {"op": "count", "node": M}, "1"),
        ([["HP-12", "on line", L], ["TB-5", "on line", L]], {"op": "exists"}, "no"),
        ([["HP-40", "on line", L], ["TB-5", "on line", L]], {"op": "exists"}, "yes"),
        ([LINE, [M, "pressure bar", "230"]], {"op": "exists"}, "yes"),
    ],
    ids=str,
)
def test_operations_give_values_with_the_triples_they_come_from(executor, triples, operation, value):
    found = executed(executor, triples, M if not triples else "", operation)
    assert names(found) == [value]
    assert found.citations or not triples


def test_two_things_are_compared(executor):
    pair = [["HP-40", "pressure bar", N], ["HP-12", "pressure bar", "UNKNOWN number 2"]]
    for test, value in ((">", "no"), ("<", "yes")):
        keep = {"op": "keep", "node": N, "test": test, "than": "UNKNOWN number 2"}
        found = executed(executor, pair, "", keep, {"op": "exists"})
        assert names(found) == [value]
        assert len(found.citations[0].triple_ids) == 2


def test_an_answer_is_proved_by_all_edges_of_its_match(executor, shop):
    found = executed(executor, [PRESSURE, LINE], M, {"op": "max", "node": N})
    triples = [shop.index.graph.triple(t) for t in found.citations[0].triple_ids]
    told = [(shop.index.graph.entities[h], shop.index.graph.entities[t]) for h, _, t in triples]
    assert sorted(told) == [("TB-5", "400"), ("TB-5", "Gasket Line")]


def test_a_code_that_is_part_of_another_is_not_taken_for_it(executor):
    part = "UNKNOWN part 1"
    found = executed(executor, [["TB-5", "has part", part]], part, {"op": "count", "node": part})
    assert names(found) == ["3"]


@pytest.mark.parametrize(
    ("triples", "reason"),
    [
        ([[M, "colour of paint", N]], "no_relation"),
        ([["HP-99 Zebra", "on line", "UNKNOWN line 1"]], "no_entity"),
    ],
)
def test_what_the_graph_lacks_is_said(executor, triples, reason):
    unknown = next(name for name in triples[0] if name.startswith("UNKNOWN"))
    found = executed(executor, triples, "", {"op": "count", "node": unknown})
    assert isinstance(found, Misfit)
    assert found.reason == reason


@pytest.mark.parametrize(
    ("triples", "operation"),
    [
        ([[W, "done on", M], [W, "hours", M]], {"op": "count", "node": W}),
        ([ON_ORDER, [W, "hours", N]], {"op": "most", "node": N}),
        ([ON_ORDER, [W, "hours", N]], {"op": "keep", "node": N, "test": ">", "than": "UNKNOWN machine 1"}),
        ([PRESSURE], {"op": "keep", "node": N, "test": ">", "than": "green"}),
        ([PRESSURE], {"op": "sum", "node": M}),
    ],
    ids=["a circle", "two steps away", "of one thing", "no value", "no number"],
)
def test_what_no_query_graph_says_is_told_to_the_model(executor, triples, operation):
    found = executed(executor, triples, M, operation)
    assert isinstance(found, Misfit)
    assert found.detail


@pytest.mark.parametrize(
    "reply",
    [
        {"triples": [PRESSURE], "answer": "UNKNOWN colour 9"},
        {"triples": [PRESSURE], "answer": M, "operations": [{"op": "max", "node": "UNKNOWN date 7"}]},
        {"triples": [PRESSURE] * 1 + [["a", "b", f"c{i}"] for i in range(20)], "answer": M},
    ],
)
def test_what_no_triple_has_is_refused(reply):
    with pytest.raises(PatternError):
        plan_of(build(PlanReply, {"divided": [], **reply}))


def test_one_call_answers_a_question_with_operations(shop):
    largest = {"op": "max", "node": N}
    reply = json.dumps({"divided": ["p"], "triples": [PRESSURE], "answer": M, "operations": [largest]})
    model = ScriptedModel([reply])
    answer = SimGRAG(shop.index, shop.embedder, model=model).answer("Which machine has the highest pressure?")
    assert [a.entity for a in answer.answers] == ["TB-5"]
    assert answer.usage.calls == 1
    assert "pressure_bar → number 230 to 400" in model.requests[0].messages[-1].text


def test_a_model_that_finds_nothing_of_the_kind_is_not_asked_again(shop):
    model = ScriptedModel(['{"divided": [], "triples": []}'])
    answer = SimGRAG(shop.index, shop.embedder, model=model).answer("What is the phone number of TB-5?")
    assert answer.abstained is not None
    assert answer.abstained.reason == "no_relation"
    assert len(model.requests) == 1
