"""Claims in many wordings on the development graphs; `tests/data/README.md` says what they are."""

import json
from pathlib import Path

import pytest

from sections import opened

ROOT = Path(__file__).resolve().parents[2]
DEV = ROOT / "tests" / "data" / "dev"
GRAPHS = {"films": ROOT / "examples" / "films.tsv", "countries": DEV / "countries.tsv"}
CLAIMS = [json.loads(line) for line in (DEV / "claims.jsonl").read_text("utf-8").splitlines()]
LEFT_OPEN = {
    "A river through Peru is the Danube.",
    "Ridley Scott is the man behind Gladiator.",
    "Sigourney Weaver can be seen in Alien.",
    "The movie Pulp Fiction was helmed by Quentin Tarantino.",
    "The screenplay of Jaws is by Steven Zaillian.",
    "Alien is a British and American horror film by Ridley Scott.",
    "Leonardo DiCaprio appears in a film made by James Cameron.",
    "Titanic came to cinemas in the nineties.",
    "Alien was out by 1985.",
    "In Hungary one pays with the forint.",
    "The Seine never reaches Spain.",
    "Parasite is an American thriller.",
    "Uma Thurman and John Travolta both act in Pulp Fiction.",
    "People in Kenya speak Swahili.",
    "Portugal and Brazil speak the same language.",
    "Uma Thurman and Tom Hanks both act in Pulp Fiction.",
    "Russell Crowe plays a role in Gladiator.",
    "You can pay with euros in Hungary.",
}
"""In words that do not name what the graph has: they may be left open, and not turned around."""


@pytest.fixture(scope="module")
def graphs(cache):
    return {name: opened((path,), cache) for name, path in GRAPHS.items()}


@pytest.mark.parametrize("row", CLAIMS, ids=[row["claim"] for row in CLAIMS])
def test_a_claim_has_its_verdict_and_shows_its_triples(graphs, row):
    clew = graphs[row["graph"]]
    allowed = {row["verdict"], *(["not_enough_info"] if row["claim"] in LEFT_OPEN else [])}
    told = clew.verify(row["claim"])
    assert told.verdict in allowed
    assert told.verdict != "supported" or all(part.triples for part in told.parts)
    if row["verdict"] == "not_enough_info" and "closed" in row:
        assert clew.verify(row["claim"], closed_world=True).verdict == row["closed"]
