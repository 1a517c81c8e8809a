"""Tables as databases write them: keys that others end with, numbers of people, initials, names of rows."""

from pathlib import Path

import pytest

from clew import Clew

TABLES = {
    "depots.csv": "depot_id,depot,town,manager_emp_no\n"
    "D1,Leeds Depot,Leeds,E03\nD2,Hull Depot,Hull,E04\nD3,York Depot,York,E01\n",
    "employees.csv": "emp_no,name,role\nE01,Tom Askew,driver\nE02,Priya Nair,driver\n"
    "E03,Gordon Blythe,manager\nE04,Wendy Marr,manager\n",
    "vans.csv": "reg,fuel,depot_id,driver_emp_no\n"
    "YA1,diesel,D1,E01\nYB2,electric,D1,E02\nYC3,diesel,D2,E01\n",
    "members.csv": "member_no,surname,forename,town\n101,Tilney,Margaret,Maldon\n102,Osei,Kwame,Leeds\n",
    "boats.csv": "boat_id,boat_name,built,member_no\n"
    "B1,Avocet,1974,101\nB2,Umi,1990,102\nB3,Wigeon,1981,101\n",
    "tickets.csv": "ticket,customer,brand,bench_by\n"
    "4410,Ann Lee,Omega,RM\n4411,Bob Ray,Seiko,DO\n4412,Ann Lee,Seiko,RM\n",
    "watchmakers.csv": "init,name,started\nRM,Rolf Meister,1994-09-12\nDO,Dilys Owen,2018-06-04\n",
}
ASKED = {
    "Who manages the Leeds Depot?": {"Gordon Blythe"},
    "Which vans does Tom Askew drive?": {"YA1", "YC3"},
    "Which vans are at the Hull Depot?": {"YC3"},
    "Which boats does Margaret Tilney have?": {"Avocet", "Wigeon"},
    "Which tickets does Rolf Meister have?": {"4410", "4412"},
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Clew:
    folder = tmp_path_factory.mktemp("keys")
    for name, text in TABLES.items():
        (folder / name).write_text(text, "utf-8")
    return Clew.open(folder, cache_dir=cache)


@pytest.mark.parametrize("question", ASKED)
def test_columns_lead_to_the_rows_of_other_tables(tables: Clew, question: str):
    answer = tables.ask(question)
    assert {a.label for a in answer.answers} == ASKED[question], answer.abstained


def test_what_an_ontology_says_of_ends_is_no_fact_of_things(tmp_path: Path, cache: Path):
    (tmp_path / "kb.ttl").write_text(
        """@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :height rdfs:domain :Tower ; rdfs:label "height" . :north a :Tower ; :height 12 .
        :depth rdfs:domain :Well .
        """
    )
    clew = Clew.open(tmp_path / "kb.ttl", cache_dir=cache)
    assert clew.info().counts["triples"] == 2  # the height, and of a property that is no relation here
    found = clew.query("SELECT ?p { ?p <http://www.w3.org/2000/01/rdf-schema#domain> ?c }")
    assert len(found.rows) == 2


def test_an_update_keeps_what_is_said_of_ends_as_a_build_does(tmp_path: Path):
    prefixes = "@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    (tmp_path / "data.ttl").write_text(f"{prefixes}:north :height 12 .\n")
    ends = ":depth rdfs:domain :Well . :height rdfs:domain :Tower ."
    (tmp_path / "ends.ttl").write_text(f"{prefixes}{ends}\n")
    updated = Clew.index(tmp_path / "data.ttl", out=tmp_path / "updated.clew")
    updated.update([tmp_path / "ends.ttl"])
    built = Clew.index([tmp_path / "data.ttl", tmp_path / "ends.ttl"], out=tmp_path / "built.clew")
    query = "SELECT ?p { ?p <http://www.w3.org/2000/01/rdf-schema#domain> ?c }"
    found = [each.query(query) for each in (updated, built)]
    assert updated.info().counts["triples"] == built.info().counts["triples"] == 2
    assert len(found[0].rows) == len(found[1].rows) == 2
