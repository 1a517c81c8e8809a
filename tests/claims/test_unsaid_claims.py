"""Claims whose words say no relation of the graph, of things side by side in it: they are left open."""

from pathlib import Path

import pytest

from clew.engine import Clew

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
GRAPHS = {
    "films": ROOT / "examples" / "films.tsv",
    "countries": DATA / "dev" / "countries.tsv",
    "pharma": DATA / "domains" / "dev" / "pharma.tsv",
    "staff": DATA / "domains" / "dev" / "staff.tsv",
    "space": DATA / "domains" / "dev" / "space.ttl",
}
UNSAID_CLAIMS = {
    "films": [
        "Emma Thomas sued Christopher Nolan.",
        "Emma Thomas is taller than Christopher Nolan.",
        "Christopher Nolan is taller than Steven Spielberg.",
        "Christopher Nolan hated Emma Thomas.",
        "Guy Pearce painted Memento.",
        "Guy Pearce burned Memento.",
        "Guy Pearce did not burn Memento.",
        "Tom Hanks did not sue Memento.",
        "Christopher Nolan financed Memento.",
        "Memento was stolen by Jonathan Nolan.",
        "Memento was banned in the United States.",
        "Memento and Inception were burned by Christopher Nolan.",
        "Memento cost 113 million dollars.",
        "Memento weighs 113 kilograms.",
        "Memento was burned in 2000.",
        "Memento was burned before Inception.",
        "Inception is more expensive than Memento.",
        "Inception is louder than Memento.",
        "Christopher Nolan was arrested in 1970.",
        "Christopher Nolan bombed London.",
        "Christopher Nolan goes to London.",
        "Christopher Nolan painted at least five films.",
        "Only Christopher Nolan hates Memento.",
        "All films hated by Christopher Nolan star Tom Hardy.",
        "The director of Memento hates London.",
        "Memento has a lawyer.",
        "Nobody painted Memento.",
    ],
    "countries": [
        "Spain bought Portugal.",
        "The Danube poisoned Hungary.",
        "Paris burned France.",
        "Spain is colder than Portugal.",
        "The Nile is deeper than the Amazon.",
    ],
    "pharma": [
        "Aspirin was stolen by Bayer.",
        "Adalimumab was invented in 336.",
        "Insulin Glargine hates INSR.",
    ],
    "staff": [
        "Bob Fischer sued Berlin.",
        "Alice Moreau sold Atlas.",
        "Delta Migration killed 600000 people.",
    ],
    "space": ["Galileo saved Orbiter.", "Europa Clipper photographed NASA.", "Juice bought Ganymede."],
}


@pytest.mark.parametrize(("graph", "claim"), [(g, c) for g, claims in UNSAID_CLAIMS.items() for c in claims])
def test_a_verb_that_the_graph_lacks_decides_nothing(verifiers, graph, claim):
    assert verifiers[graph].verify(claim).verdict == "not_enough_info"


def test_of_two_likely_relations_the_one_that_is_said_is_meant(verifiers):
    result = verifiers["films"].verify("Memento and Jaws have the same director.")
    assert {t.relation for part in result.parts for t in part.triples} == {"directed_by"}


STAFF = [
    ("Ann", "worksAt", "Acme"), ("Bob", "worksAt", "Initech"), ("Ann", "livesIn", "Rome"),
    ("Ann", "educated_at", "Marrow University"), ("Bob", "educated_at", "Oslo College"),
    ("Acme", "locatedIn", "Rome"), ("Cid", "employed_by", "Acme"), ("Dan", "employed_by", "Initech"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "supported"),
    [
        # Who teaches is who educates, and the relation is of who is educated.
        ("Ann teaches at Marrow University.", False),
        ("Ann taught at Marrow University.", False),
        ("Ann was educated at Marrow University.", True),
        ("Ann studied at Marrow University.", True),
        ("Ann graduated from Marrow University.", True),
        ("Cid hires Acme.", False),
        ("Acme hires Cid.", True),
        # What is run is no place.
        ("Ann runs Acme.", False),
        ("Ann operates Acme.", False),
        ("Ann works for Acme.", True),
        ("Ann inhabits Rome.", True),
    ],
)
def test_a_verb_of_another_part_does_not_say_a_relation(claim: str, supported: bool) -> None:
    with Clew.from_triples(STAFF) as clew:
        verdict = clew.verify(claim).verdict
        assert verdict == ("supported" if supported else "not_enough_info")
