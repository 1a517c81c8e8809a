"""Tables as teams keep them: terse headers, lists of initials, names in the place of ids, ticks, dates."""

from pathlib import Path

import pytest

from clew import Clew
from clew.errors import ClewError

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


def test_an_update_takes_a_list_of_names_apart(folder: Path, tmp_path: Path):
    updated = Clew.index(folder, out=tmp_path / "updated.clew")
    more = tmp_path / "chairs.csv"
    more.write_text("no,chair,made by,site\n4,Stool,Ben Ash; Cy Pell,Cors y Felin\n", "utf-8")
    updated.update([more])
    made = rows(updated, "(c)-[:`made by`]->(m)", "c", "m.Since")
    assert {("Stool", "2014"), ("Stool", "2009")} <= made


FAMILY = {
    "people.csv": "no,given,family,birthplace,referred_by\n"
    + "".join(f"{i},Given{i},Family{i},{i % 4 + 1},{'' if i < 7 else i - 5}\n" for i in range(1, 13)),
    "places.csv": "no,place,rank\n1,Alford,2\n2,Burgh,1\n3,Candlesby,2\n4,Driby,3\n",
    "marriages.csv": "no,husband,wife,held on,guests\n1,1,2,18360512,4\n2,3,4,18410301,2\n"
    "3,5,12,18520917,3\n",
    "Wards.csv": "no,ward,is_open,children\n41077,North,1,1\n52310,South,0,1\n"
    "60018,West,1,0\n71942,East,0,1\n",
    "bx.csv": "box,goes to,Ward\nB1,52310,North\nB2,41077,East\nB3,71942,East\nB4,60018,South\n"
    "B5,52310,West\nB6,41077,North\n",
    "beasts.csv": "beast,ward,sighted,size\nAdder,West,Aug 2021,3\nBadger,East,May 2019,4\n",
}


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Clew:
    folder = tmp_path_factory.mktemp("family")
    for name, text in FAMILY.items():
        (folder / name).write_text(text, "utf-8")
    return Clew.open(folder, cache_dir=cache)


def test_numbers_that_are_ids_lead_to_rows_and_small_counts_do_not(family: Clew):
    assert ("marriage 3", "Given12 Family12") in rows(family, "(m)-[:wife]->(p)", "m", "p")
    assert ("Given7 Family7", "Given2 Family2") in rows(family, "(p)-[:referred_by]->(r)", "p", "r")
    assert ("Given1 Family1", "Burgh") in rows(family, "(p)-[:birthplace]->(t)", "p", "t")
    assert ("B1", "South") in rows(
        family, "(b:bx)-[:`goes to`]->(w)", "b", "w"
    )  # no chance: 6 of 6 in 31,000
    assert rows(family, "(p:place)", "p", "p.rank") >= {("Driby", "3")}
    assert rows(family, "(m:marriage)", "m", "m.guests") >= {("marriage 1", "4")}


TICKETS = "key,title,type,status\n" + "".join(
    f"T-{i},{title},{kind},{status}\n"
    for i, (title, kind, status) in enumerate(
        [
            *(("Login fails", "bug", "open"), ("Dark theme", "feature", "open")),
            *(("Slow export", "bug", "closed"), ("Upgrade mailer", "task", "closed")),
        ]
    )
)
RIVERS = (
    "river,riverLabel,country,countryLabel\nhttp://www.wikidata.org/entity/Q584,Rhine,"
    "http://www.wikidata.org/entity/Q183,Germany\nhttp://www.wikidata.org/entity/Q1471,Seine,"
    "http://www.wikidata.org/entity/Q142,France\n"
)
BOM = (
    '{"bomFormat": "CycloneDX", "components": [{"bom-ref": "a", "type": "library", "name": "left"}, '
    '{"bom-ref": "b", "type": "application", "name": "shop"}], '
    '"dependencies": [{"ref": "b", "dependsOn": ["a"]}]}'
)


@pytest.mark.parametrize(
    ("file", "text", "question", "answer"),
    [
        # The file says what rows are, a column *type* of what kind: both are asked for.
        ("tickets.csv", TICKETS, "How many tickets are open?", "2"),
        ("tickets.csv", TICKETS, "How many tickets are there?", "4"),
        ("tickets.csv", TICKETS, "Which bugs are open?", "Login fails"),
        ("tickets.csv", TICKETS, "How many bugs are there?", "2"),
        ("nodes.csv", TICKETS, "How many bugs are there?", "2"),
        ("bom.json", BOM, "How many components are there?", "2"),
        ("bom.json", BOM, "Which libraries are there?", "left"),
        # Where no file says it, the column of ids does.
        ("query.csv", RIVERS, "Which rivers are in Germany?", "Rhine"),
        ("stock.csv", "part,stock\nBolt,900\nNut,1200\n", "How many parts are there?", "2"),
        (
            "export.csv",
            "ticket_no,subject\nT1,Login fails\nT2,Slow export\n",
            "How many tickets are there?",
            "2",
        ),
    ],
)
def test_what_rows_are(tmp_path: Path, cache: Path, file: str, text: str, question: str, answer: str):
    (tmp_path / file).write_text(text)
    with Clew.open(tmp_path / file, cache_dir=cache) as clew:
        assert clew.ask(question).text == answer


def test_kinds_that_have_roles_are_types(tmp_path: Path, cache: Path):
    dealers = "id,name,type\n" + "".join(
        f"C{i},Firm {i},{'buyer' if i % 2 else 'seller'}\n" for i in range(8)
    )
    sales = "from,relation,to\n" + "".join(f"C{i},sold to,C{(i + 3) % 8}\n" for i in (0, 2, 4, 6))
    (tmp_path / "dealers.csv").write_text(dealers)
    (tmp_path / "sales.csv").write_text(sales)
    with Clew.open([tmp_path / "dealers.csv", tmp_path / "sales.csv"], cache_dir=cache) as clew:
        assert sorted(clew.info().as_json()["types"]) == ["buyer", "seller"]
    with Clew.open(tmp_path / "dealers.csv", cache_dir=cache) as clew:
        assert sorted(clew.info().as_json()["types"]) == ["dealer"]


def test_two_rows_of_texts_have_a_header(tmp_path: Path, cache: Path):
    (tmp_path / "people.csv").write_text("login,name,city\nann,Ann Lee,Ulm\nbob,Bob Ray,Bonn\n")
    with Clew.open(tmp_path / "people.csv", cache_dir=cache) as clew:
        assert rows(clew, "(a)-[:city]->(b)", "a", "b") == {("Ann Lee", "Ulm"), ("Bob Ray", "Bonn")}


def test_days_and_flags_in_digits_and_months_are_read(family: Clew):
    found = family.query("MATCH (m:marriage) WHERE m.`held on` > date('1840-01-01') RETURN count(m)")
    assert found.rows == ((2,),)
    assert rows(family, "(w:ward_node)", "w", "w.is_open", "w.children") >= {("North", "True", "1")}
    assert {a.label for a in family.ask("Which wards are open?").answers} == {"North", "West"}
    assert {a.label for a in family.ask("Which beasts were sighted before 2020?").answers} == {"Badger"}


def test_columns_that_differ_in_case_are_one_relation(family: Clew):
    assert rows(family, "(a)-[:ward]->(w)", "a") >= {("B1",), ("Adder",)}


def test_columns_of_many_rows_lead_to_the_rows_of_a_table_of_many(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("clew.graph.readers.columns.MOST_TRACKED", 2_000)
    count = 2_100
    tables = {
        "parts.csv": ["stock,part", *(f"{500 + 37 * i},Part {i}" for i in range(count))],
        "towns.csv": ["code,town", *(f"T{i},Town {i}" for i in range(9))],
        "trips.csv": [
            "trip no,from,to,load",
            *(f"24-{i},T{i % 9},T{i % 7},{500 + 37 * (i // 2)}" for i in range(count)),
        ],
        "orders.csv": ["order,client", *(f"O{i},Part {count - 1 - i}" for i in range(9))],
    }
    for name, lines in tables.items():
        (tmp_path / name).write_text("\n".join(lines), "utf-8")
    many = Clew.open(tmp_path, cache_dir=cache)
    found = many.query("MATCH (t {name: '24-2099'})-[:load]->(p) RETURN p.name")
    assert found.rows == (("Part 1049",),)
    found = many.query("MATCH (o {name: 'O0'})-[:client]->(p:part) RETURN p.name")
    assert found.rows == ((f"Part {count - 1}",),)


def test_a_query_is_told_what_a_name_is_of(family: Clew):
    with pytest.raises(ClewError, match=r"no label or relation ward\. Near: ward_node"):
        family.query("MATCH (w:ward) RETURN w.name")
    with pytest.raises(ClewError, match="It is a relation"):
        family.query("MATCH (b:bx) RETURN b.ward")


def test_two_columns_of_one_name_are_a_header_all_the_same(tmp_path: Path, cache: Path):
    (tmp_path / "stock.csv").write_text("name,kept,kept\nNut,1,2\nBolt,3,4\n", "utf-8")
    twice = Clew.open(tmp_path / "stock.csv", cache_dir=cache)
    assert [a.label for a in twice.ask("What is the kept 2 of Bolt?").answers] == ["4"]
    assert "two columns are called kept" in str(twice.info().report)


def test_columns_of_any_name_and_signed_numbers_are_queried(tmp_path: Path, cache: Path):
    text = "name,cast,index,for,lead\nHeat,Al Pacino,3,adults,+6\nRonin,Jean Reno,4,adults,-2\n"
    (tmp_path / "films.csv").write_text(text, "utf-8")
    films = Clew.open(tmp_path / "films.csv", cache_dir=cache)
    found = films.query("MATCH (f:film)-[:cast]->(a) RETURN f.name, a.name, f.index, f.lead ORDER BY f.name")
    assert found.rows == (("Heat", "Al Pacino", 3, 6), ("Ronin", "Jean Reno", 4, -2))


KEYED = {
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


ASKED_BY_KEYS = {
    "Who manages the Leeds Depot?": {"Gordon Blythe"},
    "Which vans does Tom Askew drive?": {"YA1", "YC3"},
    "Which vans are at the Hull Depot?": {"YC3"},
    "Which boats does Margaret Tilney have?": {"Avocet", "Wigeon"},
    "Which tickets does Rolf Meister have?": {"4410", "4412"},
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Clew:
    folder = tmp_path_factory.mktemp("keys")
    for name, text in KEYED.items():
        (folder / name).write_text(text, "utf-8")
    return Clew.open(folder, cache_dir=cache)


@pytest.mark.parametrize("question", ASKED_BY_KEYS)
def test_columns_lead_to_the_rows_of_other_tables(tables: Clew, question: str):
    answer = tables.ask(question)
    assert {a.label for a in answer.answers} == ASKED_BY_KEYS[question], answer.abstained


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


@pytest.mark.parametrize("header", ["entity\ttype\n", ""])
def test_a_file_of_types_beside_triples(tmp_path: Path, header: str):
    triples = "Ann\tworks_at\tNord\nBob\tworks_at\tSud\nCid\tworks_at\tNord\nDee\tworks_at\tSud\n"
    (tmp_path / "triples.tsv").write_text(triples, "utf-8")
    types = "Ann\tPerson\nBob\tPerson\nCid\tPerson\nDee\tPerson\nNord\tFirm\nSud\tFirm\n"
    (tmp_path / "types.tsv").write_text(header + types, "utf-8")
    with Clew.open(tmp_path, cache_dir=tmp_path / "cache") as clew:
        assert clew.info().types == {"Person": 4, "Firm": 2}


def test_a_table_of_types_is_no_list_of_them(tmp_path: Path):
    (tmp_path / "types.csv").write_text("id,name\nT1,Van\nT2,Lorry\nT3,Bus\nT4,Tram\n", "utf-8")
    (tmp_path / "vehicles.csv").write_text("id,name,type_id\nV1,Mole,T1\nV2,Hare,T2\nV3,Wolf,T1\n", "utf-8")
    with Clew.open(tmp_path, cache_dir=tmp_path / "cache") as clew:
        assert clew.info().types == {"vehicle": 3, "type": 4}
