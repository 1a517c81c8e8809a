"""What stands on edges (a price, a day, a state) is asked for, ranked by, summed and shown by the methods."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clew import Clew
from clew.llm.testing import ScriptedModel
from clew.llm.types import Request
from clew.types import Answer

DELIVERIES = """from,to,relationship,kg,day,late
Mill One,Corner Bakery,delivers to,12,2023-03-01,true
Mill One,Corner Bakery,delivers to,20,2024-05-02,false
Mill Two,Corner Bakery,delivers to,8,2024-01-09,true
Mill Two,Hill Bakery,delivers to,30,2024-02-01,false
Mill One,Hill Bakery,delivers to,5,2022-02-01,
Mill One,Greta Holm,run by,,,
Mill Two,Jonas Berg,run by,,,
"""
MILL, BAKERY, N = "UNKNOWN mill 1", "UNKNOWN bakery 1", "UNKNOWN number 1"


@pytest.fixture(scope="module")
def clew(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Clew:
    path = tmp_path_factory.mktemp("deliveries") / "deliveries.csv"
    path.write_text(DELIVERIES, "utf-8")
    return Clew.open(path, cache_dir=cache)


def planned(clew: Clew, triples: list[list[str]], answer: str, *operations: dict[str, Any]) -> Answer:
    reply = {"divided": [], "triples": triples, "answer": answer, "operations": list(operations)}
    return clew.ask("Which is it?", method="simgrag", model=ScriptedModel(lambda _: json.dumps(reply)))


TO_CORNER = [MILL, f"delivers to [@kg = {N}]", "Corner Bakery"]
LATE = [MILL, "delivers to [@late = true]", BAKERY]
DATED = [MILL, "delivers to [@day = UNKNOWN date 1] [@late = true]", BAKERY]
IN_2024 = [
    {"op": "keep", "node": "UNKNOWN date 1", "test": ">=", "than": "2024-01-01"},
    {"op": "keep", "node": "UNKNOWN date 1", "test": "<", "than": "2025-01-01"},
]


@pytest.mark.parametrize(
    ("triples", "answer", "operations", "answers"),
    [
        ([LATE], MILL, [], ["Mill One", "Mill Two"]),
        ([LATE], BAKERY, [], ["Corner Bakery"]),
        # Mill One was late, and delivered in 2024, but not at once.
        ([DATED], MILL, IN_2024, ["Mill Two"]),
        ([[MILL, "delivers to [@day = 2024] [@late = true]", BAKERY]], MILL, [], ["Mill Two"]),
        ([[MILL, "delivers to [@late = UNKNOWN state 1]", "Hill Bakery"]], MILL, [], ["Mill Two"]),
        ([TO_CORNER], MILL, [{"op": "min", "node": N}], ["Mill Two"]),
        ([TO_CORNER], MILL, [{"op": "max", "node": N}], ["Mill One"]),
        ([TO_CORNER, [MILL, "run by", "UNKNOWN person 1"]], "UNKNOWN person 1",
         [{"op": "max", "node": N}], ["Greta Holm"]),
        ([TO_CORNER], N, [{"op": "sum", "node": N}], ["40"]),
        ([["Mill One", *TO_CORNER[1:]]], N, [{"op": "average", "node": N}], ["16"]),
        ([TO_CORNER], N, [], ["12", "20", "8"]),
        ([TO_CORNER], N, [{"op": "max", "node": N}], ["20"]),
        ([[MILL, "delivers to [@day = UNKNOWN date 1]", "Corner Bakery"]], "UNKNOWN date 1",
         [{"op": "max", "node": "UNKNOWN date 1"}], ["2024-05-02"]),
        ([[MILL, "delivers to", BAKERY]], MILL,
         [{"op": "without", "triples": [[MILL, "delivers to [@day < 2023-01-01]", "Hill Bakery"]]}],
         ["Mill Two"]),
    ],
    ids=str,
)  # fmt: skip
def test_a_pattern_asks_by_what_stands_on_edges(
    clew: Clew, triples: list[list[str]], answer: str, operations: list[dict[str, Any]], answers: list[str]
):
    found = planned(clew, triples, answer, *operations)
    assert found.abstained is None, found.abstained
    assert sorted(a.label for a in found.answers) == sorted(answers)
    assert found.citations


@pytest.mark.parametrize(
    ("triples", "answer", "operations", "why"),
    [
        ([TO_CORNER], MILL, [{"op": "count", "node": N}], "count"),
        ([[MILL, "delivers to [@colour = red]", BAKERY]], MILL, [], "@colour"),
        ([[MILL, "delivers to [@kg]", BAKERY]], MILL, [], "[@"),
        ([[MILL, "delivers to [@late > true]", BAKERY]], MILL, [], "does not compare"),
        ([TO_CORNER, [MILL, f"delivers to [@kg = {N}]", "Hill Bakery"]], N, [{"op": "sum", "node": N}],
         "one edge alone"),
        ([TO_CORNER, [MILL, "delivers to", "Hill Bakery"]], N, [{"op": "sum", "node": N}], "several triples"),
        ([TO_CORNER], MILL, [{"op": "max", "node": N}, {"op": "keep", "node": N, "test": ">", "than": "9"}],
         "before all else"),
    ],
    ids=str,
)  # fmt: skip
def test_what_a_pattern_cannot_say_of_edges_is_refused(
    clew: Clew, triples: list[list[str]], answer: str, operations: list[dict[str, Any]], why: str
):
    found = planned(clew, triples, answer, *operations)
    assert found.abstained is not None
    assert why in found.abstained.detail


def test_only_over_several_triples(tmp_path: Path, cache: Path):
    path = tmp_path / "sold.tsv"
    path.write_text(
        "B1\tsold to\tAda\nB2\tsold to\tAda\nB1\tsold to\tBen\nB1\tcheese\tBrie\nB2\tcheese\tFeta\n"
        "Brie\tmilk\tcow\nFeta\tmilk\tgoat\n",
        "utf-8",
    )
    batch, cheese = "UNKNOWN batch 1", "UNKNOWN cheese 1"
    said = [[batch, "sold to", "UNKNOWN shop 1"], [batch, "cheese", cheese], [cheese, "milk", "cow"]]
    with Clew.open(path, cache_dir=cache) as clew:
        found = planned(clew, said, "UNKNOWN shop 1", {"op": "only", "triples": said})
    assert [a.label for a in found.answers] == ["Ben"]


def prompts(clew: Clew, method: str, question: str) -> list[str]:
    model = ScriptedModel(
        lambda request: (
            json.dumps({"reasoning": "", "sub_questions": [question]})
            if "sub_questions" in request.messages[0].text
            else "Facts: none\nAnswer: not told"
        )
    )
    clew.ask(question, method=method, model=model)
    return [message.text for request in model.requests for message in request.messages]


def test_the_form_is_told_where_edges_have_properties(clew: Clew, tmp_path: Path, cache: Path):
    assert "[@returned = false]" in prompts(clew, "simgrag", "Which mill was late?")[0]
    plain = tmp_path / "plain.tsv"
    plain.write_text("Mill One\tdelivers to\tCorner Bakery\n", "utf-8")
    with Clew.open(plain, cache_dir=cache) as other:
        assert "[@" not in prompts(other, "simgrag", "Which mill was late?")[0]


@pytest.mark.parametrize("method", ["kg-rag", "walk-retrieve"])
@pytest.mark.parametrize("question", ["Which mills deliver to Corner Bakery?", "Who delivers the most?"])
def test_facts_show_what_stands_on_edges(clew: Clew, method: str, question: str):
    text = "\n".join(prompts(clew, method, question))
    assert "[@kg = 12; @day = 2023-03-01; @late = true] [@kg = 20; @day = 2024-05-02; @late = false]" in text


@pytest.mark.parametrize("method", ["kg-rag", "walk-retrieve"])
@pytest.mark.parametrize(
    ("question", "stated", "answers"),
    [
        ("When did Mill Two deliver to Corner Bakery?", "2024-01-09", ["2024-01-09"]),
        ("On which days did Mill One deliver to Corner Bakery?", "2 May 2024; 2023-03-01",
         ["2023-03-01", "2024-05-02"]),
        ("On which days did Mill One deliver to Corner Bakery?", "Mill One: 2024-05-02", ["2024-05-02"]),
        ("How many kg did Mill Two deliver to Corner Bakery?", "8 kg", ["8"]),
        ("How many kg did Mill One deliver to Corner Bakery in total?", "32", ["32"]),
        ("When did Mill Two deliver to Corner Bakery?", "2024-01-10", []),
        ("When did Mill Two deliver to Corner Bakery?", "2022-02-01", []),
        ("Who took what Mill Two delivered to Corner Bakery?", "2024-01-09", []),
    ],
)  # fmt: skip
def test_an_answer_may_stand_on_an_edge(
    clew: Clew, method: str, question: str, stated: str, answers: list[str]
):
    """The reply names the facts about the mill of the question and the bakery."""
    mill = question.split(" did ")[-1][:8] if " did " in question else "Mill Two"

    def reply(request: Request) -> str:
        if "sub_questions" in request.messages[0].text:
            return json.dumps({"reasoning": "", "sub_questions": [question]})
        lines = re.findall(r"^\[(\d+)\] (.*)$", request.messages[1].text, re.MULTILINE)
        shown = [number for number, text in lines if mill in text and "@day" in text]
        return f"So it is written.\nFacts: {', '.join(shown)}\nAnswer: {stated}"

    found = clew.ask(question, method=method, model=ScriptedModel(reply))
    assert sorted(a.label for a in found.answers) == answers
    for citation in found.citations:
        assert "Corner Bakery" in {triple.tail for triple in citation.triples}


@pytest.mark.parametrize(("kilos", "verdict"), [("40", "supported"), ("41", "refuted")])
def test_claims_are_judged_by_what_stands_on_edges(clew: Clew, kilos: str, verdict: str):
    asked = {"op": "sum", "node": N, "test": "=", "than": kilos}
    reply = {"divided": [], "triples": [TO_CORNER], "answer": N, "operations": [asked], "denied": False}
    model = ScriptedModel(lambda _: json.dumps(reply))
    said = f"The mills delivered {kilos} kilos to Corner Bakery."
    assert clew.verify(said, method="simgrag", model=model).verdict == verdict
