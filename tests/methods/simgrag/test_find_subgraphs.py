"""When a pattern fits: the bound of GSD per edge.

Held against ways to say what the example graph has and lacks.
"""

from pathlib import Path

import numpy as np
import pytest

from clew import Clew
from clew.graph.match.matcher import match
from clew.graph.match.patterns import pattern_from_json
from clew.methods.simgrag.find_subgraphs import (
    FITTING_GSD,
    Cut,
    FewCandidates,
    PatternDistances,
    find_about_claim,
    find_subgraphs,
    find_tied,
    opened_patterns,
    unfit,
)
from clew.types import PatternEdge, PatternNode

FILMS = Path(__file__).resolve().parents[3] / "examples" / "films.tsv"
SAID = {
    "directed_by": ["director", "directed", "directed by", "film director of"],
    "starring": ["actor in", "actor of", "stars", "starred in", "acted in", "cast member"],
    "written_by": ["writer", "screenwriter of", "wrote"],
    "release_year": ["release year", "released in", "year of release"],
    "genre": ["genre of the film", "has genre"],
    "runtime_minutes": ["running time", "duration", "length in minutes"],
    "birth_place": ["born in", "place of birth", "birthplace"],
    "birth_year": ["born in year", "year of birth"],
    "spouse": ["spouse", "married to", "wife of", "husband"],
    "language": ["language of the film", "spoken language"],
    "country": ["country of origin", "produced in country", "made in"],
}
LACKING = [
    "composed the music of",
    "won award",
    "budget",
    "filmed in",
    "box office",
    "producer",
    "produced by studio",
    "children of",
    "population",
    "capital of",
    "height of",
    "player of team",
    "color of hair",
    "cinematographer",
    "edited by",
    "distributor",
    "owner of",
    "members of",
    "phone number",
    "ingredient",
]


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    with Clew.open(FILMS, cache_dir=tmp_path_factory.mktemp("cache")) as opened:
        yield opened


@pytest.fixture(scope="module")
def distances(films):
    return PatternDistances(films.index, films.embedder)


def pattern(*triples):
    return pattern_from_json({"triples": [list(t) for t in triples]}, "test")


def test_the_bound_tells_what_the_graph_has_from_what_it_lacks(films, distances):
    names = list(films.index.graph.relations)
    near = [
        float(distances.relation_distances(PatternEdge(0, words, 1))[names.index(relation)])
        for relation, ways in SAID.items()
        for words in ways
    ]
    far = [float(distances.relation_distances(PatternEdge(0, words, 1)).min()) for words in LACKING]
    assert (len(near), sum(d <= FITTING_GSD for d in near)) == (35, 30)
    assert (len(far), sum(d <= FITTING_GSD for d in far)) == (20, 1)


def test_names_are_found_as_values_and_with_typos(films, distances):
    graph = films.index.graph
    for name, entity in (
        ("Cristopher Nolan", "Christopher Nolan"),
        ("the year 2000", None),
        ('"2000"', "2000"),
    ):
        best = distances.node_candidates(PatternNode(name, known=True), 1)
        if entity is not None:
            assert graph.entities[int(best.entities[0])] == entity


@pytest.mark.parametrize(
    "triples",
    [
        [("UNKNOWN film 1", "director", "Christopher Nolan")],
        [("UNKNOWN film 1", "starring", "Tom Hanks"), ("UNKNOWN film 1", "genre", "Drama")],
        [("Memento", "director", "UNKNOWN person 1"), ("UNKNOWN film 1", "director", "UNKNOWN person 1")],
        [("UNKNOWN film 1", "UNKNOWN relation 1", "Christopher Nolan")],
    ],
)
def test_what_ties_is_what_the_matcher_says_ties(films, distances, triples):
    graph, asked = films.index.graph, pattern(*triples)
    best = find_subgraphs(graph, asked, distances, 3).matches[0]
    for node in [i for i, n in enumerate(asked.nodes) if not n.known]:
        tied = find_tied(graph, asked, distances, best, node)
        every = match(graph, asked, distances, k=None, all_tied=True, project=node, distinct="triples")
        assert {m.nodes[node] for m in tied.matches} == {m.nodes[node] for m in every.matches}


def test_the_papers_letter_has_so_many_candidates_and_no_more(distances):
    few = FewCandidates(distances, Cut(nodes=4, relations=2, types=1))
    found = few.node_candidates(PatternNode("Memento", known=True), 1000)
    assert (len(found.entities), found.exhausted) == (4, True)
    assert np.isfinite(few.relation_distances(PatternEdge(0, "director", 1))).sum() == 2


def test_why_a_pattern_does_not_fit(films, distances):
    graph = films.index.graph
    for triple, reason in (
        (("Memento", "phone number", "UNKNOWN 1"), "no_relation"),
        (("Zorblax", "director", "UNKNOWN 1"), "no_entity"),
    ):
        asked = pattern(triple)
        assert unfit(graph, asked, find_subgraphs(graph, asked, distances, 3), distances).reason == reason
    fits = pattern(("Memento", "director", "UNKNOWN 1"))
    assert unfit(graph, fits, find_subgraphs(graph, fits, distances, 3), distances) is None


def test_a_false_claim_is_shown_what_is_so_instead(films, distances):
    asked = pattern(("Memento", "director", "Steven Spielberg"))
    found, left = find_about_claim(films.index.graph, asked, distances, 3)
    assert left is None
    shown = [films.triple(m.triples[0]).as_json() for m in found.matches]
    assert ["Memento", "directed_by", "Christopher Nolan"] in shown
    assert len(opened_patterns(asked)) == 2
