"""Tables and files as people have them, asked through the public face."""

import json
from datetime import date
from pathlib import Path

import networkx
import pandas
import pytest

from clew import Clew, ClewError
from clew.graph.build import build_graph
from clew.graph.readers.hints import Hints, names_of, split_of


@pytest.fixture
def opened(tmp_path):
    """Open files of texts, as one graph; the folder if there are several."""

    def open_files(files: dict[str, str], **options) -> Clew:
        for name, text in files.items():
            (tmp_path / name).write_text(text, "utf-8")
        source = tmp_path if len(files) > 1 else tmp_path / next(iter(files))
        return Clew.open(source, cache_dir=tmp_path / "cache", **options)

    return open_files


def notes(clew: Clew) -> str:
    return "\n".join(clew.info().report["notes"])


def labels(clew: Clew, question: str) -> list[str]:
    return sorted(answer.label for answer in clew.ask(question).answers)


def values(clew: Clew, relation: str) -> dict[str, float]:
    """Head → parsed value of a relation."""
    graph = clew.opened.graph
    number = list(graph.relations).index(relation)
    rows = zip(*(column.tolist() for column in graph.out.columns()), strict=True)
    return {graph.labels[h]: graph.values.value[t] for h, r, t in rows if r == number}


GOODS = """id,article,price,weight,sold_percent,added,barcode
1,Oak Chair,"$1,200.50",5 kg,45%,31/01/2020,0012
2,Pine Table,$950.00,500 g,7%,03/04/2019,0450
3,Desk Lamp,on request,2 kg,100%,12/11/2018,1200
4,Long Sofa,"$12,000",40 kg,3.5%,01/02/2020,0007
5,Tall Shelf,($3.00),12 kg,0%,02/02/2020,0100
"""


def test_areas_are_numbers_with_a_unit(opened):
    areas = ("Alder,1 850 sq m", "Beck,620 m²", "Corn,90 square metres", "Dell,1 sq km")
    with opened({"parks.csv": "\n".join(("park,area", *areas)) + "\n"}) as clew:
        assert values(clew, "area") == {"Alder": 1850, "Beck": 620, "Corn": 90, "Dell": 1e6}
        assert "area: decimal, sqm" in notes(clew)


def test_a_column_is_typed_by_all_its_cells_and_said(opened):
    with opened({"goods.csv": GOODS}) as clew:
        assert values(clew, "price") == pytest.approx(
            {
                "Oak Chair": 1200.5,
                "Pine Table": 950,
                "Desk Lamp": float("nan"),
                "Long Sofa": 12000,
                "Tall Shelf": -3,
            },
            nan_ok=True,
        )
        assert values(clew, "weight")["Pine Table"] == 0.5
        assert "price: decimal, USD; 1 cell is a text" in notes(clew)
        assert "weight: decimal, kg" in notes(clew)
        assert "added: date, day first" in notes(clew)
        assert "barcode: id" in notes(clew)
        assert "name = article" in notes(clew)
        assert labels(clew, "Which goods were added before May 2019?") == ["Desk Lamp", "Pine Table"]
        assert clew.query("MATCH (g:good) RETURN max(g.weight), min(g.added)").rows[0] == (
            40.0,
            date(2018, 11, 12),
        )
        query = "SELECT ?p { ?g <urn:clew:relation:price> ?p FILTER(?p > 1000) } ORDER BY ?p"
        assert [float(row[0].value) for row in clew.query(query).rows] == [1200.5, 12000]
        price = next(relation for relation in clew.info().relations if relation.name == "price")
        assert price.tail_types[0].type == "decimal, USD"


@pytest.mark.parametrize(
    ("text", "relation", "expected"),
    [
        ("name;prix\nAnne;1.234,50\nLuc;12,5\n", "prix", [1234.5, 12.5]),
        ("name;prix\nAnne;1,200\nLuc;3,500\n", "prix", [1.2, 3.5]),
        ('name,size,x\nAnn,"1,200",a\nLuc,"3,500",b\n', "size", [1200, 3500]),
        ("name,size,x\nAnn,1\u00a0200,a\nLuc,\u22123,b\n", "size", [1200, -3]),
        ("name,cost,x\nAnn,3.5 million EUR,a\nLuc,€2bn,b\n", "cost", [3.5e6, 2e9]),
        ("name,day,x\nAnn,12/31/2020,a\nLuc,3/4/2021,b\n", "day", [737789, 737852]),
        ("name,day,x\nAnn,31.12.2020,a\nLuc,03.04.2021,b\n", "day", [737789, 737882]),
        ("city,people,founded\nRome,2800000,753 BC\n", "founded", [-275028]),
        ("name,start,x\nAnn,9:30 pm,a\nLuc,06:00,b\n", "start", [21.5 / 24, 0.25]),
        ("name,day,x\nAnn,03/04/2020,a\nLuc,05/06/2021,b\n", "day", [float("nan")] * 2),
    ],
)
def test_numbers_and_dates_as_people_write_them(opened, text, relation, expected):
    with opened({"a.csv": text}) as clew:
        assert list(values(clew, relation).values()) == pytest.approx(expected, nan_ok=True)


def test_names_are_found_by_type(opened):
    people = "id,firstName,lastName\n1,Maria,Anders\n2,Maria,Lang\n"
    films = "id,title,year\n7,Heat,1995\n8,,1931\n"
    files = {
        "people.csv": people,
        "films.csv": films,
        "edges.csv": "source,target,type\n1,7,likes\n2,7,likes\n",
    }
    with opened(files) as clew:
        assert labels(clew, "Who likes Heat?") == ["Maria Anders", "Maria Lang"]
        assert "name = firstName lastName" in notes(clew)
    with opened(files, hints=Hints(names=names_of('person="lastName",film=year'))) as clew:
        assert labels(clew, "Who likes 1995?") == ["Anders", "Lang"]
    with pytest.raises(ClewError, match="--names film=titel: no table has such a column"):
        opened(files, hints=Hints(names=names_of("film=titel")))


FILMS = 'title,genres,studio,year\nHeat,"Crime, Drama","Burbank, USA",1995\nM,Crime,"Berlin, Germany",1931\n'
FILMS += 'Up,"Drama, Family","Emeryville, USA",2009\n'


CLIENTS = """client_no,name,city
00432,Goethe School,Dresden
00830,Goethe School,Cologne
00150,Lindenhof School,Cologne
"""
RENTALS = "from,relation,to,fee\n00150,rents,Fable,$90.00\n00432,rents,Echo,$75.00\n"
STAFF = "emp_no,name,warehouse_id\n7,Ada Rowe,W01\n11,Bo Lind,W02\n12,Cy Marsh,W01\n"
WAREHOUSES = "Warehouse ID,Warehouse Name,City,Pallets\nW01,North Hall,Bonn,900\nW02,South Hall,Ulm,800\n"


def test_rows_that_others_refer_to_by_id_are_shown_by_their_names(opened):
    with opened({"clients.csv": CLIENTS, "rentals.csv": RENTALS}) as clew:
        assert labels(clew, "Who rents Fable?") == ["Lindenhof School"]
        rented = clew.ask("Who rents Echo?")
        assert rented.citations[0].triples[0].head == rented.text == "Goethe School (00432)"
        assert [hit.label for hit in clew.find_entities("Goethe School (00830)")] == ["Goethe School (00830)"]
        assert labels(clew, "Which city is Goethe School (00830) in?") == ["Cologne"]


def test_names_that_are_unique_do_not_hide_the_ids_that_others_refer_to(opened):
    with opened({"staff.csv": STAFF, "warehouses.csv": WAREHOUSES}) as clew:
        assert "warehouse_id: ids of warehouses" in notes(clew)
        assert labels(clew, "Which staff have the warehouse North Hall?") == ["Ada Rowe", "Cy Marsh"]


def test_a_column_of_words_that_two_tables_have_identifies_none_of_them(opened):
    climbers = "name,country\nOtto Renner,Veld\nGrace Whitlock,Albany\nDario Silva,Marona\n"
    peaks = "name,country,climber\nArden,Veld,Otto Renner\nKern,Albany,Grace Whitlock\n"
    peaks += "Sol,Albany,Dario Silva\n"
    with opened({"climbers.csv": climbers, "peaks.csv": peaks}) as clew:
        assert "climber: ids of climbers" in notes(clew)
        assert "country: ids" not in notes(clew)
        assert labels(clew, "Which country is Otto Renner from?") == ["Veld"]


def test_a_column_called_after_a_table_leads_to_it_whatever_its_own_id_is_called(opened):
    customers = "id,name,city\n1,Alba Paper,Rome\n2,Berg,Bonn\n3,Crux,Paris\n"
    orders = "order_id,customer_id,quantity\nO1,1,5\nO2,2,7\nO3,1,9\n"
    with opened({"customers.csv": customers, "orders.csv": orders}) as clew:
        assert labels(clew, "Which orders are from customers in Rome?") == ["O1", "O3"]


def test_cells_of_several_values_are_split_where_the_column_shows_it(opened):
    with opened({"films.csv": FILMS}) as clew:
        assert labels(clew, "What are the genres of Heat?") == ["Crime", "Drama"]
        assert 'genres: several values in a cell, split at ", "' in notes(clew)
        assert labels(clew, "What is the studio of M?") == ["Berlin, Germany"]
    with opened({"films.csv": FILMS}, hints=Hints(splits=False)) as clew:
        assert labels(clew, "What are the genres of Heat?") == ["Crime, Drama"]
    with opened({"films.csv": FILMS}, hints=Hints(split=split_of('studio=", "'))) as clew:
        assert labels(clew, "What is the studio of M?") == ["Berlin", "Germany"]


def test_other_columns_tell_a_point_that_groups_from_a_fraction(opened):
    with opened({"parts.csv": "part;price;stock\nHinge;1,50;1.200\nBracket;0,90;900\n"}) as clew:
        assert labels(clew, "Which part has the largest stock?") == ["Hinge"]
    with opened({"parts.csv": "part;price;stock\nHinge;1.50;1.200\nBracket;0.90;900\n"}) as clew:
        assert labels(clew, "Which part has the largest stock?") == ["Bracket"]


def test_slashes_separate_words_that_come_again_and_no_scores(opened):
    rows = ("Ann,German/English,2/1", "Bob,English,1/2", "Cid,French/German,2/2", "Dee,French,1/1")
    with opened({"people.csv": "name,speaks,score\n" + "\n".join(rows) + "\n"}) as clew:
        assert labels(clew, "Who speaks German?") == ["Ann", "Cid"]
        assert labels(clew, "What is the score of Ann?") == ["2/1"]


def test_ids_are_those_of_their_table(opened):
    rooms = "id,floor\n1,3\n2,4\n"
    desks = "id,in_room,colour\n1,2,red\n2,2,blue\n3,1,red\n"
    with opened({"rooms.csv": rooms, "desks.csv": desks}) as clew:
        assert clew.ask("How many desks are there?").text == "3"
        assert clew.query("MATCH (d:desk)-[:in_room]->(r:room) WHERE r.floor = 4 RETURN d.name").rows == (
            ("desk 1",),
            ("desk 2",),
        )


def test_ends_of_edges_say_that_ids_are_of_one_space(tmp_path):
    for name, text in {
        "cats.csv": "id,name\n1,Tom\n2,Kit\n",
        "more_cats.csv": "id,colour\n1,grey\n",
        "edges.csv": "source,target,type\n1,2,chases\n",
    }.items():
        (tmp_path / name).write_text(text)
    graph, _ = build_graph([tmp_path])
    assert sorted(graph.entities)[:2] == ["1", "2"]


APOC = [
    {"type": "node", "id": "0", "labels": ["User"], "properties": {"name": "Adam", "age": 42}},
    {"type": "node", "id": "1", "labels": ["User"], "properties": {"name": "Jim", "age": 41}},
    {
        "id": "0", "type": "relationship", "label": "KNOWS", "properties": {"since": 1993},
        "start": {"id": "0", "labels": ["User"]}, "end": {"id": "1", "labels": ["User"]},
    },
]  # fmt: skip
NODES = [{"identity": i, "labels": ["User"], "properties": n["properties"]} for i, n in enumerate(APOC[:2])]
LINK = {"identity": 0, "start": 0, "end": 1, "type": "KNOWS", "properties": {"since": 1993}}
SOCIAL = {
    "lines.json": "\n".join(map(json.dumps, APOC)),
    "array.json": json.dumps(APOC),
    "parts.json": json.dumps({"nodes": APOC[:2], "rels": APOC[2:]}),
    "keys.json": json.dumps({"nodes": {n["id"]: n for n in APOC[:2]}, "rels": {"0": APOC[2]}}),
    "browser.json": json.dumps([{"n": NODES[0], "r": LINK, "m": NODES[1]}]),
    "paths.json": json.dumps([{
        "p": {"start": NODES[0], "end": NODES[1], "length": 1,
              "segments": [{"start": NODES[0], "relationship": LINK, "end": NODES[1]}]},
    }]),
    "gremlin.csv": "~id,~from,~to,~label,since:int\ne0,0,1,KNOWS,1993\n",
    "graph.graphml": "",
    "graph.gexf": "",
    "graph.gml": "",
    "graph.net": "",
}  # fmt: skip


def network() -> networkx.MultiDiGraph:
    graph = networkx.MultiDiGraph()
    graph.add_node(0, name="Adam", age=42)
    graph.add_node(1, name="Jim", age=41)
    graph.add_edge(0, 1, relation="KNOWS", since=1993)
    return graph


@pytest.mark.parametrize("name", SOCIAL)
def test_formats_that_people_have(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(SOCIAL[name])
    if name.endswith((".graphml", ".gexf", ".gml")):
        getattr(networkx, f"write_{path.suffix[1:]}")(network(), path)
    if name.endswith(".net"):
        graph = networkx.MultiDiGraph()
        graph.add_edge("Adam", "Jim", relation="KNOWS", since="1993")
        networkx.write_pajek(graph, path)
    sources = [path]
    if name == "gremlin.csv":
        nodes = tmp_path / "nodes.csv"
        nodes.write_text("~id,~label,name:string,age:int\n0,User,Adam,42\n1,User,Jim,41\n")
        sources = [nodes, path]
    with Clew.open(sources, cache_dir=tmp_path / "cache") as clew:
        (edge,) = (triple for triple in clew.triples() if triple.relation == "KNOWS")
        assert (edge.head, edge.tail) == ("Adam", "Jim")
        assert float(dict(edge.properties[0])["since"]) == 1993


def test_a_graph_of_networkx_and_data_frames(tmp_path):
    with Clew.from_networkx(network()) as clew:
        assert clew.query("MATCH (a)-[r:KNOWS]->(b) RETURN a.name, a.age, r.since, b.name").rows == (
            ("Adam", 42, 1993, "Jim"),
        )
    frames = {
        "films": pandas.DataFrame({
            "film_id": [1, 2], "title": ["Heat", "M"], "director_id": [2, 1],
            "released": pandas.to_datetime(["1995-12-15", None]),
        }),
        "directors": pandas.DataFrame({"director_id": [1, 2], "name": ["Fritz Lang", "Michael Mann"]}),
    }  # fmt: skip
    with Clew.from_frames(frames) as clew:
        assert labels(clew, "Who directed Heat?") == ["Michael Mann"]
        assert clew.query("MATCH (f:film {name: 'Heat'}) RETURN f.released").rows == ((date(1995, 12, 15),),)
    with pytest.raises(ClewError, match="films is no data frame"):
        Clew.from_frames({"films": [1]})
    with pytest.raises(ClewError, match="list is no graph of NetworkX"):
        Clew.from_networkx([])


BOM = {
    "bomFormat": "CycloneDX",
    "metadata": {"component": {"bom-ref": "app", "type": "application", "name": "shop"}},
    "components": [
        {"bom-ref": "p1", "type": "library", "name": "left", "licenses": [{"license": {"id": "MIT"}}]}
    ],
    "dependencies": [{"ref": "app", "dependsOn": ["p1"]}],
}
SPDX = {
    "spdxVersion": "SPDX-2.3", "SPDXID": "SPDXRef-DOCUMENT", "name": "bill",
    "packages": [{"SPDXID": "a", "name": "shop"}, {"SPDXID": "b", "name": "left", "versionInfo": "1.2"}],
    "relationships": [{"spdxElementId": "a", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": "b"}],
}  # fmt: skip
RESULTS = {
    "head": {"vars": ["item", "itemLabel", "country", "countryLabel"]},
    "results": {"bindings": [{
        "item": {"type": "uri", "value": "http://www.wikidata.org/entity/Q220"},
        "country": {"type": "uri", "value": "http://www.wikidata.org/entity/Q38"},
        "itemLabel": {"value": "Rome"}, "countryLabel": {"value": "Italy"},
    }]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("document", "triple"),
    [
        (BOM, ("shop", "depends on", "left")),
        (SPDX, ("shop", "DEPENDS_ON", "left")),
        (RESULTS, ("Rome", "country", "Italy")),
    ],
)
def test_bills_of_material_and_results_of_queries(document, triple, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    with Clew.open(path, cache_dir=tmp_path / "cache") as clew:
        assert triple in [(t.head, t.relation, t.tail) for t in clew.triples()]


ENTITIES = (
    '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "&b;&b;"><!ENTITY b "xxxxxxxx">]><graphml>&a;</graphml>'
)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.csv": "id,name,age\n"}, "a header and no rows"),
        ({"a.csv": "id,name,age\n,Ann,3\n", "b.csv": "id,name,town\n,Bo,Ayr\n"},
         r"a\.csv:2: the id is empty(.|\n)*b\.csv:2"),
        ({"a.csv": ",".join(map(str, range(30_000))) + "\n" + "1," * 29_999 + "1\n"}, "30,000 columns"),
        ({"a.graphml": ENTITIES}, "defined by other entities"),
        ({"a.xml": "<feed><entry/></feed>"}, "Of XML, Clew reads RDF/XML, GraphML and GEXF"),
        ({"a.graphml": "<graphml><graph></graphml>"}, "not graphml, or damaged"),
        ({"a.gml": "graph [ node"}, "not gml, or damaged"),
        ({"a.json": '{"type": "Topology", "arcs": [[1, 2]]}'},
         "exports of Neo4j .*CycloneDX, SPDX, and JSON-LD"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_why(opened, files, message):
    with pytest.raises(ClewError, match=message):
        opened(files)


def test_what_can_be_read_of_odd_tables_is_read_and_noted(opened):
    text = "id,name,title,price,price\n1,Ann,,3,4\n\ufeff2,,Boss,x,5\n3,,,5,6\n"
    with opened({"a.csv": text}) as clew:
        graph = clew.opened.graph
        assert {"Ann", "Boss", "3"} <= set(graph.labels)
        assert "two columns are called price; one is read as price 2" in notes(clew)
        assert "byte order marks within the file are left out" in notes(clew)
    with opened(
        {"a.csv": "id,name,age\n,Ann,3\n2,Bob,4\n", "b.csv": "a,b,c,g\nd,b,f,b\n"}, on_error="skip"
    ) as clew:
        assert clew.info().report["skipped"] == 2
        assert "1 of 2 files cannot be read: b.csv" in notes(clew)


def test_example_questions_are_what_people_would_ask(opened):
    goods = "id,name,purchased,insured value\n1,Nightingale,31.12.2008,$610.50\n2,Amber,30.01.2024,$35.10\n"
    with opened({"goods.csv": goods}) as clew:
        questions = " ".join(clew.example_questions())
        assert "When was Nightingale purchased?" in questions
        assert "What is the insured value of Nightingale?" in questions


def test_what_shares_an_id_is_told_apart_by_what_it_is_one_of(opened):
    files = {
        "sections.csv": "section_id,room\nS1,Blue\nS2,Red\n",
        "students.csv": "student_id,section_id,paid\nS1,S1,no\nS2,S2,no\nS3,S2,no\n",
    }
    with opened(files) as clew:
        assert clew.ask("Which students are in section S2?").text == "S2 (student) · S3"
        assert clew.ask("What is the room of S2 (section)?").text == "Red"
        assert "paid: boolean" in notes(clew)  # all of *no*, as of *yes*, says that none is so


def test_numbers_in_a_column_of_a_role_are_ids_of_the_only_table_that_has_them(opened):
    files = {
        "people.csv": "id,name,town\n1,Ann Lee,Oslo\n2,Bob Ray,Bergen\n3,Cid Orr,Oslo\n",
        "buildings.csv": "id,title,owner,floors\n11,Red Barn,2,1\n12,Old Mill,1,3\n13,New Mill,3,2\n",
        "incidents.csv": "id,object,kind\n21,11,fire\n22,12,flood\n23,13,fire\n",
    }
    with opened(files) as clew:
        assert clew.ask("Which buildings does Ann Lee own?").text == "Old Mill"
        assert clew.ask("In which town does the owner of New Mill live?").text == "Oslo"
        assert clew.ask("What is the object of incident 22?").text == "Old Mill"
        assert clew.ask("How many floors does Old Mill have?").text == "3"  # and no person
        assert "owner: ids of people" in notes(clew)


def test_numbers_that_several_tables_may_mean_stay_numbers(opened):
    files = {
        "sheds.csv": "id,title,length\n1,Red Shed,7\n2,Old Shed,8\n",
        "boats.csv": "id,title,length\n1,Gull,4\n2,Tern,5\n",
        "repairs.csv": "id,object,cost\n21,1,700\n22,2,900\n",
    }
    with opened(files) as clew:
        assert "object: integer" in notes(clew)


def test_rows_without_a_name_are_counted_and_called_by_their_ids(opened):
    with opened({"tiles.csv": "id,name,size\nT1,Red,2\nT2,,3\nT3,Blue,4\nT4,,5\n"}) as clew:
        assert "name: empty in 2 of 4 rows, which go by their ids" in notes(clew)
        assert clew.ask("What is the size of T2?").text == "3"


def test_edges_without_a_relation_are_called_by_their_file(opened):
    rows = (
        "from,to,pallets,delivered,status\nYork,Hull,50,2024-03-01,done\n"
        "York,Leeds,80,2024-04-01,cancelled\nHull,York,20,2024-03-09,cancelled\n"
    )
    with opened({"deliveries.csv": rows}) as clew:
        assert "relation = “delivery”" in notes(clew)
        assert clew.ask("How many pallets were delivered from York to Leeds?").text == "80"
        assert clew.ask("What is the status of the delivery from York to Leeds?").text == "cancelled"
