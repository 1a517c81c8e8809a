"""Claims and their verdicts over small graphs of many trades, in `tests/data/claims/claims.txt`.

`> claim => verdict`, with `~` before what its notes say; `!` is of a closed world, `?` a question of the
same graph and its answer. `not` is before what must not come of it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from clew import Clew
from sections import read_sections

SECTIONS = read_sections(Path(__file__).parents[1] / "data" / "claims" / "claims.txt", ">!?")
CASES = [
    pytest.param(name, *case, id=case[1]) for name, section in SECTIONS.items() for case in section.cases
]


@pytest.fixture(scope="module")
def graphs(cache: Path) -> dict[str, Clew]:
    return {name: section.open(cache) for name, section in SECTIONS.items()}


@pytest.mark.parametrize(("graph", "mark", "said", "expected"), CASES)
def test_a_claim_has_its_verdict(graphs: dict[str, Clew], graph: str, mark: str, said: str, expected: str):
    clew, (verdict, _, note) = graphs[graph], expected.partition(" ~ ")
    if mark == "?":
        found, notes = clew.ask(said).text, ()
    else:
        told = clew.verify(said, closed_world=mark == "!")
        found, notes = told.verdict, told.notes
    assert (found == verdict.removeprefix("not ")) is not verdict.startswith("not ")
    assert note in " ".join(notes)


SHOWN = {
    "All boats are moored.": ("boats", ["Gull state repaired"]),
    "Elm Hall has a sauna.": ("halls", ["Elm Hall has_sauna false"]),
    # Of two likely relations the one that is said is meant.
    "Memento and Jaws have the same director.": (
        "films",
        ["Memento directed_by Christopher Nolan", "Jaws directed_by Steven Spielberg"],
    ),
}


@pytest.mark.parametrize("claim", SHOWN)
def test_what_decides_is_shown(graphs: dict[str, Clew], claim: str):
    graph, triples = SHOWN[claim]
    parts = graphs[graph].verify(claim).parts
    assert [" ".join(t.as_json()) for part in parts for t in part.triples] == triples


def test_every_part_has_its_own_verdict_and_triples(graphs: dict[str, Clew]):
    result = graphs["films"].verify("Memento was directed by Christopher Nolan and released in 2004.")
    assert [(p.text, p.verdict, [t.as_json() for t in p.triples]) for p in result.parts] == [
        (
            "Memento was directed by Christopher Nolan",
            "supported",
            [["Memento", "directed_by", "Christopher Nolan"]],
        ),
        ("and released in 2004", "refuted", [["Memento", "release_year", "2000"]]),
    ]
    assert [c.answer for c in result.citations] == ["supported", "refuted"]
