"""Claims on the example graph, verified without a model."""

import json

import pytest

from clew import Clew, UsageError
from clew.claims.verify import Verify

CLAIMS = [
    ("Christopher Nolan directed Memento.", "supported"),
    ("Memento was directed by Christopher Nolan.", "supported"),
    ("Steven Spielberg directed Memento.", "refuted"),
    ("Memento was directed by Steven Spielberg.", "refuted"),
    ("Christopher Nolan starred in Memento.", "refuted"),
    ("Guy Pearce starred in Memento.", "supported"),
    ("Tom Hanks starred in Memento.", "refuted"),
    ("Memento was not directed by Christopher Nolan.", "refuted"),
    ("Memento was not directed by Steven Spielberg.", "supported"),
    ("Memento wasn't directed by Steven Spielberg.", "supported"),
    ("Memento was composed by Hans Zimmer.", "not_enough_info"),
    ("Memento was released in 2000.", "supported"),
    ("Memento was released in 2001.", "refuted"),
    ("Memento was released in 1e999.", "not_enough_info"),
    ("Memento was released before 2005.", "supported"),
    ("Memento was released after 2005.", "refuted"),
    ("Memento was released between 1999 and 2001.", "supported"),
    ("Memento is longer than Inception.", "refuted"),
    ("Inception is longer than Memento.", "supported"),
    ("Memento was released before Inception.", "supported"),
    ("Inception came out earlier than Memento.", "refuted"),
    ("Christopher Nolan is older than Steven Spielberg.", "refuted"),
    ("Memento and Inception were directed by Christopher Nolan.", "supported"),
    ("Memento and Jaws were directed by Christopher Nolan.", "refuted"),
    ("Memento was directed by Christopher Nolan and released in 2000.", "supported"),
    ("Memento was directed by Christopher Nolan and released in 2004.", "refuted"),
    ("Memento was directed by Christopher Nolan and written by Jonathan Nolan.", "supported"),
    ("Christopher Nolan directed a film starring Tom Hardy.", "supported"),
    ("Christopher Nolan directed a film starring Tom Hanks.", "refuted"),
    ("Memento has a director.", "supported"),
    ("Memento has a composer.", "not_enough_info"),
    ("Christopher Nolan directed at least five films.", "supported"),
    ("Christopher Nolan directed more than 40 films.", "refuted"),
    ("Memento is a film.", "supported"),
    ("Memento is a person.", "refuted"),
    ("Christopher Nolan is a person.", "supported"),
    ("Memento is a thriller.", "supported"),
    ("Memento is a comedy.", "refuted"),
    ("Memento runs 113 minutes.", "supported"),
    ("Memento is over two hours long.", "refuted"),
    ("Memento runs less than 2 hours.", "supported"),
    ("Christopher Nolan was born in London.", "supported"),
    ("Christopher Nolan was born in Paris.", "refuted"),
    ("Christopher Nolan was born in 1970.", "supported"),
    ("Zorblax directed Memento.", "not_enough_info"),
    ("Memento won an Oscar.", "not_enough_info"),
    ("It was directed by Christopher Nolan and stars Guy Pearce.", "supported"),
    ("A film by Christopher Nolan stars Tom Hanks.", "refuted"),
    ("The director of Memento was born in London.", "supported"),
    ("The director of Memento was born in Paris.", "refuted"),
    ("The director of Memento also directed Inception.", "supported"),
    ("Memento and Inception share a director.", "supported"),
    ("Memento and Jaws have the same director.", "refuted"),
    ("It is false that Christopher Nolan directed Memento.", "refuted"),
    ("Did you know that Guy Pearce never starred in Memento?", "refuted"),
    ("Memento is not a comedy and was not released in 2004.", "supported"),
    ("Neither Guy Pearce nor Carrie-Anne Moss directed Memento.", "supported"),
    ("Inception, which stars Leonardo DiCaprio, was released in 2010.", "supported"),
    ("Inception, which stars Tom Hanks, was released in 2010.", "refuted"),
    ("Nobody directed Memento.", "refuted"),
    ("Nothing was directed by Christopher Nolan.", "refuted"),
    ("Christopher Nolan directed nothing.", "refuted"),
    ("Guy Pearce has never directed Memento.", "supported"),
    ("Nobody but Christopher Nolan directed Memento.", "supported"),
    ("Nobody except Guy Pearce starred in Memento.", "refuted"),
    ("Nobody composed Memento.", "not_enough_info"),
    ("Christopher Nolan directed more films than Steven Spielberg.", "supported"),
    ("Steven Spielberg directed more films than Christopher Nolan.", "refuted"),
    ("All films directed by Christopher Nolan star Tom Hardy.", "refuted"),
    ("Memento was directed by Steven Spielberg or Christopher Nolan.", "supported"),
    ("Christopher Nolan's first film was Inception.", "not_enough_info"),
    ("Emma Thomas sued Christopher Nolan.", "not_enough_info"),
    ("2000", "not_enough_info"),
    ("Memento", "not_enough_info"),
    ("😀", "not_enough_info"),
]
CLOSED = [
    ("Memento was composed by Hans Zimmer.", "refuted"),
    ("Memento has a composer.", "refuted"),
    ("Memento does not have a composer.", "supported"),
    ("Nobody composed Memento.", "not_enough_info"),
    ("Zorblax directed Memento.", "refuted"),
    ("Christopher Nolan directed Memento.", "supported"),
]


@pytest.fixture(scope="module")
def verifier(films):
    return Verify(films.index, films.embedder)


@pytest.mark.parametrize(("claim", "verdict"), CLAIMS, ids=[c for c, _ in CLAIMS])
def test_verdicts(verifier, claim, verdict):
    assert verifier.verify(claim).verdict == verdict


@pytest.mark.parametrize(("claim", "verdict"), CLOSED, ids=[c for c, _ in CLOSED])
def test_in_a_closed_world_what_is_not_recorded_is_not_so(verifier, claim, verdict):
    assert verifier.verify(claim, closed_world=True).verdict == verdict


def test_every_part_has_its_own_verdict_and_triples(verifier):
    result = verifier.verify("Memento was directed by Christopher Nolan and released in 2004.")
    assert [(p.text, p.verdict) for p in result.parts] == [
        ("Memento was directed by Christopher Nolan", "supported"),
        ("and released in 2004", "refuted"),
    ]
    assert result.parts[0].triples[0].as_json() == ["Memento", "directed_by", "Christopher Nolan"]
    assert result.parts[1].triples[0].as_json() == ["Memento", "release_year", "2000"]
    assert [c.answer for c in result.citations] == ["supported", "refuted"]


def test_a_negation_within_a_name_denies_nothing():
    with Clew.from_triples([("No Country for Old Men", "directed_by", "Joel Coen")]) as clew:
        assert clew.verify("No Country for Old Men was directed by Joel Coen.").verdict == "supported"
        assert clew.verify("Joel Coen did not direct No Country for Old Men.").verdict == "refuted"


def test_the_json_has_the_keys_of_the_contract(verifier):
    result = json.loads(json.dumps(verifier.verify("Memento is a film.", id="7").as_json()))
    assert list(result) == [
        "id",
        "claim",
        "verdict",
        "abstained",
        "parts",
        "citations",
        "method",
        "model",
        "complete",
        "usage",
        "timings_ms",
        "notes",
    ]
    assert list(result["parts"][0]) == ["text", "verdict", "triples"]
    assert (result["id"], result["method"], result["model"]) == ("7", "auto", None)
    assert result["usage"] == {"calls": 0, "input_tokens": 0, "output_tokens": 0}


@pytest.mark.parametrize(
    "text",
    [
        "?",
        "not",
        "2000",
        "\U0001f600",
        "and and and",
        "before",
        "it",
        "Memento",
        "a " * 300,
        "((((",
        "Memento " * 40,
        "Memento is longer than",
        "between 3 and",
        "\u202eNolan",
        "Christopher Nolan directed 99999999999999999999999 films",
    ],
)
def test_any_text_gets_a_verdict(verifier, text):
    assert verifier.verify(text).verdict in ("supported", "refuted", "not_enough_info")


def test_a_text_that_claims_nothing_is_not_supported(verifier):
    for text in ("Memento", "2000", "not", "it", "Memento Memento"):
        assert verifier.verify(text).verdict == "not_enough_info", text


def test_the_engine_verifies(films):
    assert films.verify("Christopher Nolan directed Memento.").verdict == "supported"
    with pytest.raises(UsageError, match="claim is empty"):
        films.verify("  ")
    with pytest.raises(UsageError, match="simgrag"):
        films.verify("Memento is a film.", method="other")
    with pytest.raises(UsageError, match="--llm"):
        films.verify("Memento is a film.", method="simgrag")


def test_a_name_before_a_verb_begins_a_clause_of_its_own():
    """*Research and Cy works in* is no list of what Bo works in."""
    staff = Clew.from_triples(
        [("Bo", "works in", "Research"), ("Cy", "works in", "Sales"), ("Bo", "reports to", "Ada Stone")]
    )
    said = staff.verify("Bo works in Research and Cy works in Research.")
    assert [part.verdict for part in said.parts] == ["supported", "refuted"]
    assert staff.verify("Bo works in Research and Cy works in Sales.").verdict == "supported"


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [("Ali stars Al Pacino.", "not_enough_info"), ("Ran was directed by Michael Mann.", "refuted")],
)
def test_one_film_of_an_actor_does_not_show_that_there_are_no_others(tmp_path, claim, verdict):
    source = tmp_path / "few.tsv"
    source.write_text(
        "Heat\tdirected by\tMichael Mann\nAli\tdirected by\tMichael Mann\n"
        "Ran\tdirected by\tAkira Kurosawa\nHeat\tstarring\tAl Pacino\n"
    )
    with Clew.open(source, cache_dir=tmp_path) as few:
        assert few.verify(claim).verdict == verdict
