"""Claims of other steps than the graph has: the paths that join what is named; what silence means."""

import json
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.engine import Clew
from clew.llm.testing import ScriptedModel
from clew.methods.simgrag.verify import VerifyWithModel, connect

TRIPLES = [
    ("Una Brandt", "works_at", "Dry Dock Ltd"),
    ("Dry Dock Ltd", "seat", "Oslo"),
    ("Oslo", "in_country", "Norway"),
    ("Piet Osgood", "works_at", "Bolt AG"),
    ("Bolt AG", "seat", "Bergen"),
    ("Una Brandt", "reports_to", "Piet Osgood"),
]
WORKS = ("Una Brandt", "works in", "Norway")


@pytest.fixture(scope="module")
def firms():
    with Clew.from_triples(TRIPLES) as clew:
        yield clew


@pytest.fixture
def verify(firms):
    def run(claim, triple, reason, verdict, *, closed_world=False):
        pattern = json.dumps({"divided": [claim], "triples": [triple]})
        model = ScriptedModel([pattern, json.dumps({"reason": reason, "verdict": verdict})])
        verifier = VerifyWithModel(firms.opened, firms.embedder, model=model)
        return verifier.verify(claim, closed_world=closed_world), model.requests[-1].messages[-1].text

    return run


def evidence_of(prompt):
    """The graphs that a prompt shows."""
    return json.loads(prompt.rpartition("<evidence>")[2].partition("</evidence>")[0])


def test_a_path_of_three_steps_is_shown_and_proves_the_claim(verify, firms):
    evidence = evidence_of(verify("Una Brandt works in Norway.", WORKS, "", "Unknown")[1])
    path = [list(triple) for triple in TRIPLES[:3]]
    number = list(evidence.values()).index(path) + 1
    result, _ = verify("Una Brandt works in Norway.", WORKS, f"her firm sits there [{number}]", "True")
    assert result.verdict == "supported"
    assert [t.as_json() for part in result.parts for t in part.triples] == path


@pytest.mark.parametrize(
    ("claim", "verdict", "stands"),
    [
        ("Una Brandt does not work in Bergen.", "True", "supported"),
        ("Una Brandt works in Bergen.", "False", "refuted"),
    ],
)
def test_in_a_closed_world_the_model_says_what_silence_means(verify, claim, verdict, stands):
    triple = ("Una Brandt", "works in", "Bergen")
    result, prompt = verify(claim, triple, "nothing says so", verdict, closed_world=True)
    assert result.verdict == stands
    assert "a claim that denies it" in prompt
    assert '"Unknown"' not in prompt.partition("Your turn")[0]
    assert all(not part.triples for part in result.parts)


def test_in_an_open_world_silence_is_no_verdict(verify):
    result, prompt = verify(
        "Una Brandt works in Bergen.", ("Una Brandt", "works in", "Bergen"), "", "Unknown"
    )
    assert result.verdict == "not_enough_info"
    assert 'it is "Unknown"' in prompt


def walks_of(graph, first, last):
    """Every path of up to three different triples through different nodes: the slow and obvious way."""
    found = set()
    triples = range(len(graph.out.neighbour))
    for length in (1, 2, 3):
        for path in permutations(triples, length):
            at, seen = first, {first}
            for triple in path:
                head, _, tail = graph.triple(triple)
                if at not in (head, tail) or head == tail:
                    break
                at = tail if at == head else head
                if at in seen:
                    break
                seen.add(at)
                if at == last and triple != path[-1]:
                    break
            else:
                if at == last:
                    found.add(path)
    return found


def connected(graph, ends, **limits):
    """The paths that `connect` finds by words that are like no relation, and whether they are all."""
    return connect(graph, ends, np.zeros((1, len(graph.relations)), np.float32), **limits)


@settings(max_examples=8)
@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 1), st.integers(0, 4)), min_size=4, max_size=7))
def test_paths_are_those_of_a_slow_search(edges):
    triples = [(f"n{h}", f"r{r}", f"n{t}") for h, r, t in sorted(edges)]
    with Clew.from_triples(triples) as clew:
        graph = clew.opened.graph
        for last in range(1, min(3, len(graph.entities))):
            found, complete = connected(graph, [0, last], most=1_000, of_one_kind=1_000)
            assert complete
            assert set(found) == walks_of(graph, 0, last)


def test_few_paths_are_shown_and_fewer_of_one_kind():
    of_one_kind = [(a, "knows", b) for middle in "xyz" for a, b in (("Ann", middle), (middle, "Bea"))]
    with Clew.from_triples([*of_one_kind, ("Ann", "likes", "Bea"), ("Bea", "helps", "Ann")]) as clew:
        graph = clew.opened.graph
        ends = [clew.opened.names.exact(name)[0].entity for name in ("Ann", "Bea")]
        (*direct, first, second), complete = connected(graph, ends, most=4, of_one_kind=2)
        assert [len(path) for path in (*direct, first, second)] == [1, 1, 2, 2]
        assert complete
        assert connected(graph, ends, most=4, of_one_kind=1) == ((*direct, first), True)
        assert connected(graph, ends, most=1, of_one_kind=2) == ((direct[0],), True)


def test_a_third_step_around_hubs_is_left_out_and_said(firms):
    ends = [firms.opened.names.exact(name)[0].entity for name in ("Una Brandt", "Norway")]
    assert connected(firms.opened.graph, ends, edges_around=1) == ((), False)


FILMS = {
    "Memento": ("Thriller", "Christopher Nolan", "English", "dramatic"),
    "Insomnia": ("Crime", "Christopher Nolan", "English", "drama"),
    "Beowulf": ("Action", "Robert Zemeckis", "Old English", "drama"),
    "Heat": ("Crime", "Michael Mann", "French", "heist"),
}


RELATIONS = ("has_genre", "directed_by", "in_language", "has_tags")


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lacking")
    lines = [
        f"{film}\t{r}\t{tail}\n"
        for film, tails in FILMS.items()
        for r, tail in zip(RELATIONS, tails, strict=True)
    ]
    (folder / "films.tsv").write_text("".join(lines))
    with Clew.open(folder / "films.tsv", cache_dir=folder / "cache") as clew:
        yield clew


@pytest.mark.parametrize(
    "triples",
    [
        [["UNKNOWN film 1", "has genre", "Drama"]],
        [["UNKNOWN film 1", "has genre", "Drama"], ["UNKNOWN film 1", "directed by", "Christopher Nolan"]],
        [["UNKNOWN film 1", "in language", "German"]],
        [["UNKNOWN film 1", "in language", "German"], ["UNKNOWN film 1", "directed by", "Michael Mann"]],
    ],
)
def test_a_pattern_with_a_name_that_is_not_there_has_no_answer(films, triples):
    pattern = json.dumps({"divided": ["x"], "triples": triples})
    reading = json.dumps({"reason": "near enough", "answers": list(FILMS)})
    model = ScriptedModel(lambda request: pattern if "triples" in request.messages[-1].text else reading)
    answer = films.ask("Which films are these?", method="simgrag", model=model)
    assert answer.answers == ()
    assert answer.abstained is not None


def test_the_same_pattern_with_a_name_that_is_there_has_one(films):
    pattern = json.dumps({"divided": ["x"], "triples": [["UNKNOWN film 1", "has genre", "Thriller"]]})
    reading = json.dumps({"reason": "it says so", "answers": ["Memento"]})
    replies = iter((pattern, reading))
    answer = films.ask(
        "Which?", method="simgrag", model=ScriptedModel(lambda request: next(replies, reading))
    )
    assert [a.label for a in answer.answers] == ["Memento"]
