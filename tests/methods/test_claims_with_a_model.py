"""Claims that a model writes as query graphs (`auto`) or as patterns with operations (`simgrag`): code
judges.

The model gives no verdict. Whatever it writes, a verdict is what the triples say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from clew import Clew
from clew.llm.testing import ScriptedModel
from clew.types import Verification

TRIPLES = [
    ("Wren", "launched", "1950"), ("Wren", "length", "40"), ("Wren", "yard", "Dock One"),
    ("Wren", "owner", "Ada Moss"), ("Wren", "owner", "Bo Lind"),
    ("Rook", "launched", "1962"), ("Rook", "length", "55"), ("Rook", "yard", "Dock Two"),
    ("Rook", "owner", "Ada Moss"), ("Tern", "length", "30"), ("Tern", "owner", "Ada Moss"),
    ("Dock One", "town", "Oslo"), ("Dock Two", "town", "Bergen"),
]  # fmt: skip
CLAIM = "Zorb quux of the frobnicated blen, by my count."
"""Of which nothing is read without a model."""
YES, NO, OPEN = "supported", "refuted", "not_enough_info"


@pytest.fixture(scope="module")
def ships() -> Iterator[Clew]:
    with Clew.from_triples(TRIPLES) as clew:
        yield clew


def verified(ships: Clew, method: str, *replies: str, closed_world: bool = False) -> Verification:
    return ships.verify(CLAIM, method=method, model=ScriptedModel(list(replies)), closed_world=closed_world)


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        (["{Wren}[.launched < {Rook} .launched]"], YES),
        (["{Wren}[.launched > {Rook} .launched]"], NO),
        (["{Tern}[.launched < {Rook} .launched]"], OPEN),  # nobody knows when the Tern was
        (["argmax(^length, .length) & {Rook}"], YES),
        (["argmin(^length, .length) & {Rook}"], NO),
        (["count({Ada Moss} ^owner) >= 3"], YES),
        (["count({Ada Moss} ^owner) = 2"], NO),
        (["diff({Ada Moss} ^owner, {Bo Lind} ^owner) > 0"], YES),
        (["diff({Rook} .length, {Wren} .length) > 20"], NO),
        (["not {Wren} .owner & {Ada Moss}"], NO),
        (["not {Rook} .owner & {Bo Lind}"], YES),
        (["not {Tern} .yard & {Dock One}"], OPEN),
        (["{Rook}[.owner only {Ada Moss}]"], YES),
        (["{Wren}[.owner only {Ada Moss}]"], NO),
        (["{Wren}[.launched = 1950]"], YES),
        (["{Wren}[.launched < 1940]"], NO),
        (["{Tern}[.launched < 1940]"], OPEN),
        (["every(^owner, ^length)"], YES),
        (["every(^length, ^launched)"], OPEN),
        (['every(^length, ^length[.length > 35])'], NO),
        (["{Wren} .yard .town & {Oslo}"], YES),
        (["{Wren} .yard .town & {Bergen}"], NO),
        (["{Wren} .yard & {Dock Two} - {Oslo} ^town"], NO),
        (["{Bo Lind} ^owner[.length > 50]"], NO),
        (["{Bo Lind} ^owner[.yard .town = {Oslo}] & {Wren}"], YES),
        (["{Tern}[.launched]"], OPEN),
        (["none"], OPEN),
        (["{Wren} .owner & {Bo Lind}", "{Wren} .yard & {Dock Two}"], NO),
        (["{Wren} .owner & {Bo Lind}", "none"], OPEN),
    ],
)  # fmt: skip
def test_each_kind_of_claim_has_a_query(ships: Clew, lines: list[str], verdict: str) -> None:
    reply = "\n".join(["Well.", *(f"Claim: {line}" for line in lines)])
    result = verified(ships, "auto", reply)
    assert (result.verdict, result.usage.calls, bool(result.citations)) == (verdict, 1, verdict != OPEN)
    assert verdict == OPEN or len(result.parts) == len(lines)


def keep(node: str, test: str, than: str) -> dict[str, Any]:
    return {"op": "keep", "node": node, "test": test, "than": than}


N, M, SHIP, OWNER = "UNKNOWN number 1", "UNKNOWN number 2", "UNKNOWN ship 1", "UNKNOWN owner 1"
LENGTHS = [["Rook", "length", N], ["Wren", "length", M]]
RANKED = [[SHIP, "length", N]]
ADAS = [[SHIP, "owner", "Ada Moss"]]
OWNERS = [["Rook", "owner", OWNER]]


@pytest.mark.parametrize(
    ("triples", "operations", "fields", "verdict"),
    [
        ([["Wren", "owner", "Bo Lind"]], [], {}, YES),
        ([["Rook", "owner", "Bo Lind"]], [], {}, NO),
        ([["Wren", "launched", "1950"]], [], {}, YES),
        ([["Wren", "launched", "1951"]], [], {}, OPEN),  # no year of the graph, and near to one
        ([["Rook", "owner", "Bo Lind"]], [], {"denied": True}, YES),
        ([["Tern", "yard", "Dock One"]], [], {"denied": True}, OPEN),
        ([["Wren", "yard", "UNKNOWN yard 1"], ["UNKNOWN yard 1", "town", "Bergen"]], [], {}, NO),
        ([["Wren", "owner", "Bo Lind"], ["Wren", "yard", "Dock Two"]], [], {}, NO),
        (LENGTHS, [keep(N, ">", M)], {}, YES),
        (LENGTHS, [keep(N, "<", M)], {}, NO),
        (LENGTHS, [keep(N, "<", M)], {"denied": True}, YES),
        (LENGTHS, [{"op": "difference", "node": N, "less": M, "test": ">", "than": "20"}], {}, NO),
        (RANKED, [{"op": "max", "node": N}, keep(SHIP, "=", "Rook")], {}, YES),
        (RANKED, [{"op": "max", "node": N}, keep(SHIP, "=", "Wren")], {}, NO),
        (ADAS, [{"op": "count", "node": SHIP, "test": "=", "than": "3"}], {}, YES),
        (ADAS, [{"op": "count", "node": SHIP, "test": ">", "than": 3}], {}, NO),
        ([*OWNERS, ["Rook", "owner", "Ada Moss"]], [keep(f"count of {OWNER}", "=", "1")],
         {"answer": "Rook"}, YES),
        ([["Wren", "owner", OWNER], ["Wren", "owner", "Ada Moss"]], [keep(f"count of {OWNER}", "=", "1")],
         {"answer": "Wren"}, NO),
        ([["Wren", "launched", N]], [keep(N, "<", "1940")], {}, NO),
        ([["Tern", "launched", N]], [keep(N, "<", "1940")], {}, OPEN),
        ([], [], {}, OPEN),
    ],
)  # fmt: skip
def test_each_kind_of_claim_has_a_pattern(
    ships: Clew, triples: list[Any], operations: list[Any], fields: dict[str, Any], verdict: str
) -> None:
    reply = json.dumps({"divided": [], "triples": triples, "operations": operations, **fields})
    result = verified(ships, "simgrag", reply, reply)
    assert (result.verdict, bool(result.citations)) == (verdict, verdict != OPEN)


def test_what_is_largest_is_compared_with_what_is_claimed(ships: Clew) -> None:
    """Else it would be so, whatever is claimed: of one ship the longest is always this one."""
    reply = json.dumps(
        {"divided": [], "triples": [["Tern", "length", N]], "operations": [{"op": "max", "node": N}]}
    )
    assert verified(ships, "simgrag", reply, reply).verdict == OPEN


@pytest.mark.parametrize(
    ("line", "verdict"),
    [("none", NO), ("{Tern}[.launched < 1940]", NO), ("not {Tern}[.launched < 1940]", YES)],
)
def test_in_a_closed_world_what_is_not_recorded_is_not_so(ships: Clew, line: str, verdict: str) -> None:
    assert verified(ships, "auto", f"Claim: {line}", closed_world=True).verdict == verdict


@pytest.mark.parametrize("denied", [False, True])
def test_in_a_closed_world_a_pattern_that_fits_nothing_is_not_so(ships: Clew, denied: bool) -> None:
    reply = {"divided": [], "triples": [["Zorblax", "owner", OWNER]], "operations": [], "denied": denied}
    result = verified(ships, "simgrag", *[json.dumps(reply)] * 2, closed_world=True)
    assert (result.verdict, result.citations) == (YES if denied else NO, ())


@pytest.mark.parametrize(
    "reply",
    ["", "It is true.", "Claim: {Zorblax} .owner", "Claim: sum(^length .length)",
     "Claim: {Wren}[.length > 3] > 2", "Claim: ^owner by .yard",
     "Claim: argmax({Bo Lind} ^owner, .length)", "Claim: {Wren}",
     "Claim: " + "x" * 100_000],
)  # fmt: skip
def test_a_reply_that_is_no_query_is_asked_again(ships: Clew, reply: str) -> None:
    second = verified(ships, "auto", reply, "Claim: {Wren} .owner & {Bo Lind}")
    assert (second.verdict, second.usage.calls) == (YES, 2)
    never = verified(ships, "auto", reply, reply)
    assert (never.verdict, never.abstained and never.abstained.reason) == (OPEN, "empty_result")


def test_the_model_may_ask_for_the_relations_of_a_type(ships: Clew) -> None:
    result = verified(ships, "auto", "Show: Ship", "Claim: {Wren} .owner & {Bo Lind}")
    assert (result.verdict, result.usage.calls) == (YES, 2)
