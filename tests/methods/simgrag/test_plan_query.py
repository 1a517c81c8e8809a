"""Plans with operations over a small machine shop: each operation against what the triples say."""

import json
from pathlib import Path
from typing import Any

import pytest

from clew.engine import Clew
from clew.llm.testing import ScriptedModel
from clew.methods.simgrag.method import SimGRAG
from clew.types import Answer

MACHINES = Path(__file__).parents[2] / "data" / "methods" / "machines.tsv"
M, N = "UNKNOWN machine 1", "UNKNOWN number 1"
PRESSURE = [M, "pressure bar", N]


@pytest.fixture(scope="module")
def shop(cache: Path) -> Clew:
    return Clew.open(MACHINES, cache_dir=cache)


@pytest.fixture
def executed(shop: Clew):
    """Ask with a plan, which the model says again where it is asked again."""

    def run(triples: list[list[str]], answer: str = "", *operations: dict[str, Any]) -> Answer:
        reply = {"divided": [], "triples": triples, "answer": answer, "operations": list(operations)}
        model = ScriptedModel(lambda _: json.dumps(reply))
        return shop.ask("Which one of them is it?", method="simgrag", model=model)

    return run


def names(found: Answer) -> list[str]:
    assert found.abstained is None, found.abstained
    return [answer.label for answer in found.answers]


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
        ([PRESSURE], [{"op": "max", "node": N, "nth": 2}], ["HP-12"]),
        ([PRESSURE], [{"op": "keep", "node": M, "than": ["HP-12", "TB-5"]}, {"op": "min", "node": N}],
         ["HP-12"]),
        ([], [{"op": "only", "triples": [[M, "has part", "sensor"]]}], ["HP-12"]),
        ([[M, "has part", "UNKNOWN machine 2"]],
         [{"op": "keep", "node": "count of UNKNOWN machine 2", "test": "=", "than": "1"}], ["HP-12"]),
        ([PRESSURE, LINE], [{"op": "min", "node": N}], ["TB-5 Mk2"]),
        ([[M, "has part", "UNKNOWN part 1"]], [{"op": "most", "node": "UNKNOWN part 1"}], ["TB-5"]),
        ([[M, "has part", "UNKNOWN part 1"]], [{"op": "fewest", "node": "UNKNOWN part 1"}], ["HP-12"]),
        ([[M, "has part", "UNKNOWN part 1"]],
         [{"op": "keep", "node": "count of UNKNOWN part 1", "test": ">=", "than": "2"}], ["HP-40", "TB-5"]),
        ([LINE], [{"op": "without", "triples": [[M, "has part", "sensor"]]}], ["TB-5 Mk2"]),
        ([[M, "has part", "ram seal"]], [{"op": "or", "triples": [[M, "has part", "valve"]]}],
         ["HP-40", "TB-5"]),
        ([[M, "serviced on", "UNKNOWN date 1"]],
         [{"op": "keep", "node": "UNKNOWN date 1", "test": ">", "than": "1 October 2024"}],
         ["HP-12", "TB-5"]),
        ([[M, "serviced on", "UNKNOWN date 1"]],
         [{"op": "keep", "node": "UNKNOWN date 1", "test": "=", "than": "2024"}], ["HP-40", "TB-5"]),
        ([PRESSURE, ["HP-40", "pressure bar", "UNKNOWN number 2"]],
         [{"op": "keep", "node": N, "test": ">", "than": "UNKNOWN number 2"}], ["HP-12", "TB-5"]),
        ([], [{"op": "without", "triples": [["UNKNOWN work order 1", "done on", M]]}], ["HP-12", "TB-5 Mk2"]),
        ([ON_ORDER, BY_ILSE], [{"op": "most", "node": W}], ["HP-40"]),
        ([ON_ORDER, BY_ILSE], [{"op": "keep", "node": f"count of {W}", "test": ">", "than": 2}], []),
        ([ON_ORDER, [W, "hours", N]], [{"op": "max", "node": N}], ["HP-40"]),
        ([ON_ORDER, [W, "hours", N]], [{"op": "min", "node": N}], ["HP-40", "TB-5"]),
        ([ON_ORDER, [W, "hours", N]], [{"op": "keep", "node": N, "test": "<", "than": "2.5 h"}] * 2,
         ["HP-40", "TB-5"]),
        ([PRESSURE, LINE], [{"op": "keep", "node": N, "test": "<", "than": "300"}, {"op": "max", "node": N}],
         ["HP-40"]),
        ([PRESSURE, [M, "on line", L]], [{"op": "keep", "node": L, "test": "!=", "than": "Gasket Line"}],
         ["HP-12"]),
    ],
    ids=str,
)  # fmt: skip
def test_operations_choose_answers(executed, triples, operations, answers):
    found = executed(triples, M, *operations)
    if not answers:
        assert found.abstained is not None
        assert found.abstained.reason == "empty_result"
        return
    assert sorted(names(found)) == sorted(answers)
    if operations[-1].get("first"):
        assert names(found) == answers


@pytest.mark.parametrize(
    ("triples", "operation", "value"),
    [
        ([LINE], {"op": "count", "node": M}, "3"),
        ([], {"op": "count", "node": M}, "4"),
        ([["UNKNOWN work order 1", "done on", "HP-40"],
         ["UNKNOWN work order 1", "done by", "UNKNOWN person 1"]],
         {"op": "count", "node": "UNKNOWN person 1"}, "1"),
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
)  # fmt: skip
def test_operations_give_values_with_the_triples_they_come_from(executed, triples, operation, value):
    found = executed(triples, M if not triples else "", operation)
    assert names(found) == [value]
    assert found.citations or not triples


def test_two_things_are_compared(executed):
    pair = [["HP-40", "pressure bar", N], ["HP-12", "pressure bar", "UNKNOWN number 2"]]
    for test, value in ((">", "no"), ("<", "yes")):
        keep = {"op": "keep", "node": N, "test": test, "than": "UNKNOWN number 2"}
        found = executed(pair, "", keep, {"op": "exists"})
        assert names(found) == [value]
        assert len(found.citations[0].triples) == 2


def test_two_values_of_one_thing_are_compared(tmp_path: Path, cache: Path):
    path = tmp_path / "games.tsv"
    rows = [("G1", "3", "1"), ("G2", "2", "2"), ("G3", "0", "4")]
    path.write_text("".join(f"{g}\thome goals\t{h}\n{g}\taway goals\t{a}\n" for g, h, a in rows), "utf-8")
    game, other = "UNKNOWN game 1", "UNKNOWN number 2"
    triples = [[game, "home goals", N], [game, "away goals", other]]
    with Clew.open(path, cache_dir=cache) as games:
        for test, answers in ((">", ["G1"]), ("<", ["G3"]), ("=", ["G2"]), (">=", ["G1", "G2"])):
            keep = {"op": "keep", "node": N, "test": test, "than": other}
            reply = json.dumps({"divided": [], "triples": triples, "answer": game, "operations": [keep]})
            found = games.ask("Which is it?", method="simgrag", model=ScriptedModel(lambda _, r=reply: r))
            assert names(found) == answers
            assert all(len(citation.triples) == 2 for citation in found.citations)


def test_an_answer_is_proved_by_all_edges_of_its_match(executed):
    found = executed([PRESSURE, LINE], M, {"op": "max", "node": N})
    told = {(t.head, t.tail) for t in found.citations[0].triples}
    assert told == {("TB-5", "400"), ("TB-5", "Gasket Line")}


def test_a_code_that_is_part_of_another_is_not_taken_for_it(executed):
    part = "UNKNOWN part 1"
    found = executed([["TB-5", "has part", part]], part, {"op": "count", "node": part})
    assert names(found) == ["3"]


COLOUR = [M, "colour of paint", N]
CIRCLE = [[W, "done on", M], [W, "hours", M]]
GREEN = {"op": "keep", "node": N, "test": ">", "than": "green"}


@pytest.mark.parametrize(
    ("triples", "operation", "reason"),
    [
        ([COLOUR], {"op": "count", "node": M}, "no_relation"),
        ([["HP-99 Zebra", "on line", L]], {"op": "count", "node": L}, "no_entity"),
        (CIRCLE, {"op": "count", "node": W}, None),
        ([ON_ORDER, [W, "hours", N]], {"op": "most", "node": N}, None),
        ([ON_ORDER, [W, "hours", N]], {"op": "keep", "node": N, "test": ">", "than": M}, None),
        ([PRESSURE], GREEN, None),
        ([PRESSURE], {"op": "sum", "node": M}, None),
        ([PRESSURE], {"op": "max", "node": "UNKNOWN date 7"}, None),
        ([PRESSURE, *(["a", "b", f"c{i}"] for i in range(20))], {"op": "count", "node": M}, None),
    ],
)
def test_what_the_graph_lacks_or_no_query_graph_says_is_an_abstention(executed, triples, operation, reason):
    found = executed(triples, M if M in triples[0] else "", operation)
    assert found.abstained is not None
    assert reason in (None, found.abstained.reason)
    assert found.abstained.detail


def test_one_call_answers_a_question_with_operations(shop):
    largest = {"op": "max", "node": N}
    reply = json.dumps({"divided": ["p"], "triples": [PRESSURE], "answer": M, "operations": [largest]})
    model = ScriptedModel([reply])
    answer = SimGRAG(shop.opened, shop.embedder, model=model).answer(
        "Which machine has the highest pressure?"
    )
    assert [a.entity for a in answer.answers] == ["TB-5"]
    assert answer.usage.calls == 1
    assert "pressure_bar → number 230 to 400" in model.requests[0].messages[-1].text


def test_a_model_that_finds_nothing_of_the_kind_is_not_asked_again(shop):
    model = ScriptedModel(['{"divided": [], "triples": []}'])
    answer = SimGRAG(shop.opened, shop.embedder, model=model).answer("What is the phone number of TB-5?")
    assert answer.abstained is not None
    assert answer.abstained.reason == "no_relation"
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("operations", "text"),
    [
        ([{"op": "count", "node": M, "by": L}], "Gasket Line: 3 · Pump Line: 1"),
        ([{"op": "sum", "node": N, "by": L}], "Gasket Line: 890 · Pump Line: 300"),
        ([{"op": "keep", "node": N, "test": "<", "than": "300"}, {"op": "list", "node": M, "by": L}],
         "Gasket Line: HP-40, TB-5 Mk2"),
    ],
    ids=str,
)  # fmt: skip
def test_a_number_or_a_list_for_each(executed, operations, text):
    found = executed([[M, "on line", L], PRESSURE], L, *operations)
    assert (found.text, len(found.rows.rows)) == (text, text.count(":"))
    assert all(citation.triples for citation in found.citations)


def test_numbers_of_two_named_things_are_added_up_though_they_are_equal(executed):
    of = {code: [[code, "hours", N]] for code in ("WO-1", "WO-3")}
    either = {"op": "or", "triples": of["WO-3"]}
    assert names(executed(of["WO-1"], N, either, {"op": "sum", "node": N})) == ["4"]
