"""What things are called: asked at every door, cited as sources say it, and the same after an update."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clew import Clew
from clew.cli.app import app
from clew.graph.readers.hints import Hints

PREFIXES = """@prefix ex: <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""
TOWNS = """ex:c1 a ex:City ; rdfs:label "Cologne"@en, "Köln"@de ; skos:altLabel "Colonia"@it ; ex:in ex:de .
ex:c2 a ex:City ; rdfs:label "Munich"@en, "München"@de ; ex:in ex:de .
ex:de rdfs:label "Germany"@en .
"""
QUESTIONS = (
    "What else is Cologne called?",
    "What is the German name of Cologne?",
    "Is Cologne also called Colonia?",
    "What else is Munich called?",
    "What is Munich called in Italian?",
    "Where is Köln in?",
)


def write(path: Path, text: str) -> Path:
    path.write_text(PREFIXES + text if path.suffix == ".ttl" else text, "utf-8")
    return path


@pytest.fixture
def towns(tmp_path: Path) -> Clew:
    return Clew.index(write(tmp_path / "towns.ttl", TOWNS), tmp_path / "towns.clew")


def told(clew: Clew) -> list[object]:
    """All that is answered, without its times."""
    forms = [clew.ask(question).as_json() for question in QUESTIONS]
    return [form | {"timings_ms": None} for form in forms]


def test_a_name_is_cited_as_the_file_says_it(towns):
    (citation,) = towns.ask("What is the German name of Cologne?").citations
    (triple,) = citation.triples
    assert (triple.as_json(), triple.properties) == (["Cologne", "label", "Köln"], ((("language", "de"),),))
    assert triple.by_id[1] == "http://www.w3.org/2000/01/rdf-schema#label"
    form = towns.ask("What else is Cologne called?").as_json()
    assert [c["triples"] for c in form["citations"]] == [
        [["Cologne", "label", "Köln"]], [["Cologne", "altLabel", "Colonia"]],
    ]  # fmt: skip


def test_names_are_no_part_of_the_graph(towns, tmp_path):
    bare = TOWNS.replace(', "Köln"@de', "").replace(', "München"@de', "")
    bare = bare.replace(' ; skos:altLabel "Colonia"@it', "")
    with Clew.index(write(tmp_path / "bare.ttl", bare), tmp_path / "bare.clew") as without:
        counts = (towns.info().counts, without.info().counts)
        for name in ("triples", "entities", "literals", "relations"):
            assert counts[0][name] == counts[1][name]
        assert str(towns.query("MATCH (a)-[r]->(b) RETURN a, type(r), b")) == str(
            without.query("MATCH (a)-[r]->(b) RETURN a, type(r), b")
        )


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Cologne is also called Colonia.", "supported"),
        ("The German name of Cologne is Köln.", "supported"),
        ("In German, Munich is called München.", "supported"),
        ("The German name of Cologne is Bonn.", "refuted"),
        ("Cologne is not called Köln in German.", "refuted"),
        ("Cologne is also called Bonn.", "not_enough_info"),
        ("Colonia is the Italian name of Munich.", "not_enough_info"),
    ],
)
def test_claims_of_names(towns, claim, verdict):
    found = towns.verify(claim)
    assert found.verdict == verdict
    assert bool(found.citations) == (verdict != "not_enough_info")


def test_pronouns_stand_for_what_was_asked_of(towns):
    turn = towns.ask("What else is Cologne called?")
    for question, names in (
        ("What is its German name?", "Köln"),
        ("And in Italian?", "Colonia"),
        ("What else is it called?", "Köln · Colonia"),
    ):
        turn = turn.ask(question)
        assert turn.text == names


def test_names_at_the_doors(towns):
    question = "What else is Cologne called?"
    run = CliRunner().invoke(app, ["ask", str(towns.opened.path), question, "--json"])
    of_cli = json.loads(run.stdout)
    of_python = towns.ask(question).as_json()
    for form in (of_cli, of_python):
        form.pop("timings_ms")
    assert of_cli == of_python
    assert "language de" in CliRunner().invoke(app, ["ask", str(towns.opened.path), question]).stdout


def test_names_after_an_update_are_those_of_the_changed_file(towns, tmp_path):
    more = 'ex:c2 skos:altLabel "Monaco di Baviera"@it, "City of Monks" .\nex:c1 rdfs:label "Keulen"@nl .\n'
    gone = 'ex:c1 skos:altLabel "Colonia"@it .\nex:c2 rdfs:label "München"@de .\n'
    towns.update(add=write(tmp_path / "more.ttl", more))
    assert towns.ask("What is Munich called in Italian?").text == "Monaco di Baviera"
    with Clew.index(write(tmp_path / "all.ttl", TOWNS + more), tmp_path / "all.clew") as anew:
        assert told(towns) == told(anew)
    towns.update(remove=write(tmp_path / "gone.ttl", gone))
    assert towns.ask("What is the German name of Munich?").abstained is not None
    left = (TOWNS + more).replace(' ; skos:altLabel "Colonia"@it', "").replace(', "München"@de', "")
    with Clew.index(write(tmp_path / "left.ttl", left), tmp_path / "left.clew") as anew:
        assert told(towns) == told(anew)


PORTS = "id,name,aka,name_de,depth\nP1,Naples,Napoli; Parthenope,Neapel,12\nP2,Geneva,,Genf,8\n"
OF_PORTS = (
    "What else is Naples called?", "What is Napoli also known as?", "What is the German name of Geneva?",
    "What is the depth of Napoli?", "What else is Geneva called?", "What is the depth of Genève?",
)  # fmt: skip


def test_columns_of_names_after_an_update(tmp_path):
    more = "id,name,aka,name_de,depth\nP3,Lisbon,Lisboa,Lissabon,20\nP2,Geneva,Genève; Genava,Genf,8\n"
    with Clew.index(write(tmp_path / "ports.csv", PORTS), tmp_path / "ports.clew") as ports:
        assert ports.ask(OF_PORTS[0]).text == "Neapel · Napoli · Parthenope"
        ports.update(add=write(tmp_path / "more.csv", more))
        whole = PORTS.replace("P2,Geneva,,Genf,8\n", more.partition("\n")[2])
        with Clew.index(write(tmp_path / "whole.csv", whole), tmp_path / "whole.clew") as anew:
            for question in OF_PORTS:
                mine, theirs = ports.ask(question), anew.ask(question)
                assert mine.text == theirs.text
                assert {c.triples for c in mine.citations} == {c.triples for c in theirs.citations}
            assert ports.ask("What is the depth of Genève?").text == "8"


def test_a_cell_of_names_is_kept_whole_where_that_is_said(tmp_path):
    source = write(tmp_path / "ports.csv", PORTS)
    with Clew.open(source, cache_dir=tmp_path / "cache", hints=Hints(splits=False)) as whole:
        assert whole.ask("What else is Naples called?").text == "Neapel · Napoli; Parthenope"


def test_aliases_of_a_file_come_and_go(tmp_path):
    source = write(tmp_path / "towns.tsv", "Naples\tin\tItaly\nRome\tin\tItaly\n")
    aliases = write(tmp_path / "names.tsv", "Naples\tNapoli\n")
    more, gone = (
        write(tmp_path / "more.tsv", "Rome\tRoma\n"),
        write(tmp_path / "gone.tsv", "Naples\tNapoli\n"),
    )
    with Clew.index(source, tmp_path / "t.clew", aliases=aliases) as clew:
        answer = clew.ask("What else is Naples called?")
        assert answer.text == "Napoli"
        assert answer.citations[0].triples[0].as_json() == ["Naples", "also known as", "Napoli"]
    run = CliRunner().invoke(
        app, ["update", str(tmp_path / "t.clew"), "--aliases", str(more), "--remove-aliases", str(gone)]
    )
    assert run.exit_code == 0, run.output
    with Clew.open(tmp_path / "t.clew") as clew:
        assert clew.ask("What else is Rome called?").text == "Roma"
        assert clew.ask("What is Roma also known as?").text == "Rome"
        assert clew.ask("What else is Naples called?").abstained is not None


def test_ids_are_no_names_that_are_asked(tmp_path):
    rows = "ship_id,name,aka,depth\nS1,Gull,Larus,3\nS2,Tern,Sterna,4\n"
    with Clew.open(write(tmp_path / "ships.csv", rows), cache_dir=tmp_path / "cache") as clew:
        assert clew.ask("What else is Gull called?").text == "Larus"
        assert clew.ask("What is the depth of S1?").text == "3"
