"""Tables as teams keep them: terse headers, lists of initials, names in the place of ids, ticks, dates."""

from pathlib import Path

import pytest

from clew import Clew

TABLES = {
    "sites.csv": "site,nm,hab,alt_m,key\nS01,Alder Carr,wet woodland,142,Y\n"
    "S02,Bryn Glas,oak woodland,268,N\nS03,Cors y Felin,reedbed,8,Y\nS04,Ffridd Uchaf,moor,388,Y\n",
    "tblMaker.csv": "ID,Maker,Since\n1,Ann Orr,2001\n2,Ben Ash,2014\n3,Cy Pell,2009\n",
    "towers.csv": "twr,bells,note,town\nT1,6,,Alford\nT2,8,,Burgh\nT3,6,,Candlesby\nT4,5,,Driby\n"
    "T5,10,,Eresby\nT6,3,,Farlesthorpe\n",
    "peals.csv": "peal,tower,band,rung,quarter\nP1,T1,mko; ajs,02-Mar-24,x\nP2,T2,ajs,14-Apr-24,\n"
    "P3,T2,pdr; mko,Sat 04 May 2024,x\n",
    "ringers.csv": "initials,name,learnt\nmko,Miriam Kent,2021/01/02\najs,Alan Shore,1998/05/30\n"
    "pdr,Petra Dow,2015/11/12\n",
    "chairs.csv": "no,chair,made by,site\n1,Windsor,Ann Orr,Alder Carr\n2,Ladderback,Cy Pell,Ffridd Uchaf\n"
    "3,Rocker,Ann Orr,Alder Carr\n",
    "trips.csv": "Trip No,boat,from,to,rdr\n24-01,Avocet,T1,T2,mko\n"
    "24-02,Umi,T2,T3,pdr\n24-03,Avocet,T3,T1,mko\n",
}
ASKED = {
    "Which sites are higher than 200 m?": {"Bryn Glas", "Ffridd Uchaf"},
    "What is the habitat of Cors y Felin?": {"reedbed"},
    "Which chairs are made by Ann Orr?": {"Windsor", "Rocker"},
    "Which towers have more than 6 bells?": {"Burgh", "Eresby"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    for name, text in TABLES.items():
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def kept(folder: Path, cache: Path) -> Clew:
    return Clew.open(folder, cache_dir=cache)


@pytest.mark.parametrize("question", ASKED)
def test_rows_are_called_by_their_names_and_found_by_them(kept: Clew, question: str):
    answer = kept.ask(question)
    assert {a.label for a in answer.answers} == ASKED[question], answer.abstained


def rows(clew: Clew, pattern: str, *names: str) -> set[tuple[str, ...]]:
    shown = ", ".join(name if "." in name else f"{name}.name" for name in names)
    found = clew.query(f"MATCH {pattern} RETURN {shown}")
    return {tuple(map(str, row)) for row in found.rows}


def test_cells_with_several_initials_lead_to_people(kept: Clew):
    assert rows(kept, "(p)-[:band]->(r)", "p", "r") == {
        *(("P1", "Miriam Kent"), ("P1", "Alan Shore"), ("P2", "Alan Shore")),
        *(("P3", "Petra Dow"), ("P3", "Miriam Kent")),
    }


def test_names_stand_for_the_rows_that_are_called_so(kept: Clew):
    made = rows(kept, "(c)-[:`made by`]->(m)", "c", "m.Since")
    assert made == {("Windsor", "2001"), ("Rocker", "2001"), ("Ladderback", "2009")}
    assert rows(kept, "(c)-[:site]->(s)-[:hab]->(h)", "c", "h") >= {("Windsor", "wet woodland")}


def test_trips_with_an_id_are_things_and_not_edges(kept: Clew):
    assert rows(kept, "(t)-[:rdr]->(r)", "t", "r") >= {("24-01", "Miriam Kent")}
    assert rows(kept, "(t)-[:from]->(a)", "t", "a") >= {("24-02", "Burgh")}


def test_ticks_are_true_and_dates_are_dates(kept: Clew):
    assert rows(kept, "(p:peal)", "p", "p.quarter") == {("P1", "True"), ("P2", "None"), ("P3", "True")}
    answer = kept.ask("Which ringers learnt after 2010?")
    assert {a.label for a in answer.answers} == {"Miriam Kent", "Petra Dow"}, answer.abstained
    assert {a.label for a in kept.ask("Which peals were rung after 1 April 2024?").answers} == {"P2", "P3"}


def test_an_update_finds_rows_by_name_as_a_build_does(folder: Path, tmp_path: Path):
    updated = Clew.index(folder, out=tmp_path / "updated.clew")
    more = tmp_path / "chairs.csv"
    more.write_text("no,chair,made by,site\n4,Stool,Ben Ash,Cors y Felin\n", "utf-8")
    updated.update([more])
    made = rows(updated, "(c)-[:`made by`]->(m)", "c", "m.Since")
    assert ("Stool", "2014") in made
    assert ("Stool", "reedbed") in rows(updated, "(c)-[:site]->(s)-[:hab]->(h)", "c", "h")
