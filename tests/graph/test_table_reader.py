"""Tables as people have them: what is taken for what, and said."""

import datetime
from pathlib import Path

import pytest

from clew.errors import ParseError, UsageError
from clew.graph import XSD
from clew.graph.build import build_graph
from clew.graph.readers.batch import Tally
from clew.graph.readers.hints import Hints, columns_of
from clew.graph.readers.registry import choose_reader
from clew.graph.readers.sources import Sources

Triple = tuple[str, str, object]
INTEGER, DECIMAL, STRING = (XSD + name for name in ("integer", "decimal", "string"))


class Found:
    """All that a reader gave for a file."""

    def __init__(self, path: Path, hints: Hints | None = None, on_error: str = "fail") -> None:
        self.tally = Tally(on_error, hints=hints or Hints())  # type: ignore[arg-type]
        batches = list(Sources([path], None, self.tally.hints).read(0, self.tally))
        self.triples = [row for b in batches for row in zip(b.heads, b.relations, b.tails, strict=True)]
        self.nodes = [node for b in batches for node in b.nodes]
        self.types = [pair for b in batches for pair in b.types]
        self.labels = {label.subject: label.text for b in batches for label in b.labels}

    @property
    def note(self) -> str:
        return "\n".join(self.tally.notes)


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


EDGES = [("Jon", "sibling of", "Arya"), ("Arya", "kills", "Walder")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "from,to,relationship\nJon,Arya,sibling of\nArya,Walder,kills\n"),
        ("a.csv", "source,target,relation,weight\nJon,Arya,sibling of,3\nArya,Walder,kills,1\n"),
        ("a.csv", "src,rel,dst\nJon,sibling of,Arya\nArya,kills,Walder\n"),
        ("a.csv", "id,subject,predicate,object\n1,Jon,sibling of,Arya\n2,Arya,kills,Walder\n"),
        ("a.csv", "Subject;Predicate;Object\nJon;sibling of;Arya\nArya;kills;Walder\n"),
        ("a.tsv", "from\tto\trelationship\nJon\tArya\tsibling of\nArya\tWalder\tkills\n"),
        ("a.tsv", "head_id\trelation_type\ttail_id\nJon\tsibling of\tArya\nArya\tkills\tWalder\n"),
        ("a.csv", "FromNode,ToNode,EdgeType\nJon,Arya,sibling of\nArya,Walder,kills\n"),
        (
            "a.csv",
            '"Source","Target","Type","Id","Label","Weight"\n'
            "Jon,Arya,Directed,0,sibling of,1\nArya,Walder,Directed,1,kills,1\n",
        ),
        ("a.csv", "origin,destination,type\nJon,Arya,sibling of\nArya,Walder,kills\n"),
        ("a.csv", ":START_ID,:END_ID,:TYPE\nJon,Arya,sibling of\nArya,Walder,kills\n"),
        ("a.txt", "from,to,relationship\nJon,Arya,sibling of\nArya,Walder,kills\n"),
        ("a.csv", "node1,node2,interaction\rJon,Arya,sibling of\rArya,Walder,kills\r"),
        ("a.tsv", "Jon\tsibling of\tArya\rArya\tkills\tWalder\r"),
        ("a", "from,to,type\r\nJon,Arya,sibling of\r\nArya,Walder,kills\r\n"),
    ],
)
def test_edges_are_known_by_their_header(name: str, text: str, tmp_path: Path) -> None:
    assert Found(write(tmp_path / name, text)).triples == EDGES


def test_gephi_with_and_without_direction_or_relation(tmp_path: Path) -> None:
    rows = "Addam-Marbrand,Jaime-Lannister,Undirected,3,1\nAerys,Jaime,Directed,5,1\n"
    text = "Source,Target,Type,weight,book\n" + rows
    found = Found(write(tmp_path / "asoiaf.csv", text))
    assert found.triples == [
        ("Addam-Marbrand", "linked to", "Jaime-Lannister"),
        ("Jaime-Lannister", "linked to", "Addam-Marbrand"),
        ("Aerys", "linked to", "Jaime"),
    ]
    assert "relation = “linked to”" in found.note
    text = "Source,Target,Weight\nAemon,Grenn,5\n"
    found = Found(write(tmp_path / "b.csv", text), Hints(relation="meets"))
    assert found.triples == [("Aemon", "meets", "Grenn")]


APOC = """"_id","_labels","born","name","released","title","_start","_end","_type","roles"
"0",":Movie","","","1999","The Matrix",,,,
"1",":Actor:Person","1964","Keanu Reeves","","",,,,
,,,,,,"1","0","ACTED_IN","[""Neo""]"
"""


def test_nodes_and_edges_in_one_file_as_apoc_exports_them(tmp_path: Path) -> None:
    found = Found(write(tmp_path / "all.csv", APOC))
    assert found.types == [("0", "Movie"), ("1", "Actor"), ("1", "Person")]
    assert found.labels == {"0": "The Matrix", "1": "Keanu Reeves"}
    assert ("1", "ACTED_IN", "0") in found.triples
    assert not any(relation == "title" for _, relation, _ in found.triples)
    assert ("1", "born", ("1964", INTEGER)) in found.triples
    _, report = build_graph([tmp_path / "all.csv"])
    assert not any("ids of nodes" in note for note in report.notes)


PLACES = """Entity,Year,Deaths
Flood,1900,7
Flood,1901,9
Fire,1900,9
Fire,1901,2
"""


def test_rows_that_only_two_cells_tell_apart_are_entities_of_both(tmp_path: Path) -> None:
    found = Found(write(tmp_path / "a.csv", PLACES))
    assert found.nodes == ["Flood, 1900", "Flood, 1901", "Fire, 1900", "Fire, 1901"]
    assert found.triples[:3] == [
        ("Flood, 1900", "Entity", "Flood"),
        ("Flood, 1900", "Year", ("1900", INTEGER)),
        ("Flood, 1900", "Deaths", ("7", INTEGER)),
    ]
    assert "id = Entity with Year; relations = Entity, Year, Deaths" in found.note


def test_what_edges_are_called_is_said_beside_a_table_of_other_things(tmp_path: Path) -> None:
    edges = write(tmp_path / "flights.csv", "origin,destination,count\nABE,ATL,8\nATL,ABE,7\n")
    nodes = write(
        tmp_path / "airports.csv", "iata,city,state,lat\nABE,Allentown,PA,40.6\nATL,Atlanta,GA,33.6\n"
    )
    graph, report = build_graph([edges, nodes], hints=Hints(relation="flies to"))
    assert set(graph.relations) == {"flies to", "city", "state", "lat"}
    assert not any("--relation" in note for note in report.notes)


def test_a_row_is_called_by_its_text_before_its_year(tmp_path: Path) -> None:
    rows = ("1955,Peru,5", "1955,Chad,6", "1960,Peru,6", "1960,Chad,5")
    found = Found(write(tmp_path / "a.csv", "year,country,births\n" + "\n".join(rows)))
    assert found.nodes == ["Peru, 1955", "Chad, 1955", "Peru, 1960", "Chad, 1960"]


def test_codes_some_of_which_look_like_numbers_tell_rows_apart(tmp_path: Path) -> None:
    rows = "0E0,Moriarty,NM\n00M,Thigpen,MS\n01G,Perry,NY\n02A,Moriarty,NM\n"
    found = Found(write(tmp_path / "a.csv", "iata,city,state\n" + rows))
    assert found.nodes == ["0E0", "00M", "01G", "02A"]


def test_rows_of_the_same_node_are_said_wherever_they_are(tmp_path: Path) -> None:
    rows = "".join(f"{number},x\n" for number in (*range(1, 300), 299))
    found = Found(write(tmp_path / "a.csv", "id,kind\n" + rows))
    assert "several rows are of the same node (299); what they say of it is put together" in found.note
    assert "several rows" not in Found(write(tmp_path / "b.csv", "id,kind\n1,x\n2,x\n")).note


POKEMON = """#,Name,Type 1,Type 2,Total,Legendary
1,Bulbasaur,Grass,Poison,318,False
3,Venusaur,Grass,Poison,525,False
3,VenusaurMega Venusaur,Grass,Poison,625,False
4,Charmander,Fire,,309,False
"""


def test_a_wide_table_is_an_entity_a_row(tmp_path: Path) -> None:
    found = Found(write(tmp_path / "Pokemon.csv", POKEMON))
    assert found.nodes == ["Bulbasaur", "Venusaur", "VenusaurMega Venusaur", "Charmander"]
    assert ("Bulbasaur", "Type 2", "Poison") in found.triples
    assert [t for t in found.triples if t[0] == "Charmander"] == [
        ("Charmander", "#", ("4", INTEGER)),
        ("Charmander", "Type 1", "Fire"),
        ("Charmander", "Total", ("309", INTEGER)),
        ("Charmander", "Legendary", ("False", XSD + "boolean")),
    ]
    assert "id = Name; relations = #, Type 1, Type 2, Total, Legendary" in found.note
    graph, _ = build_graph([tmp_path / "Pokemon.csv"])
    values = dict(zip(graph.entities, graph.values.value.tolist(), strict=True))
    assert values["318"] == 318.0


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("film,director,year\nMemento,Nolan,2000\nHeat,Mann,1995\nTenet,Nolan,2020\n",
         ("Memento", "director", "Nolan")),
        ("name,city,age\nAnn,Rome,30\nBob,Oslo,41\nCat,Rome,22\n", ("Ann", "city", "Rome")),
        (",name,city\n0,Ann,Rome\n1,Bob,Oslo\n", ("Ann", "city", "Rome")),
        ("Unnamed: 0,name,city\n0,Ann,Rome\n1,Bob,Oslo\n", ("Ann", "city", "Rome")),
        ("orderID,customerID,freight\n1,7,3\n2,7,4\n", ("orderID:1", "customerID", "customerID:7")),
        ("position,start,end\nking,1272,1307\nqueen,1553,1558\nheir,1700,1701\n",
         ("king", "start", ("1272", INTEGER))),
        ("person,from,to,office\nAnn,1999,2004,mayor\nBob,2004,2010,mayor\n",
         ("Ann", "from", ("1999", INTEGER))),
        ("animal,legs\ndog,4\nbird,2\n", ("dog", "legs", ("4", INTEGER))),
        ("State,Capital,Tree\nOhio,Columbus,Buckeye\nIowa,Des Moines,Oak\nUtah,Ogden,Aspen\n",
         ("Ohio", "Capital", "Columbus")),
        ("name,address 1,city\nAnn,12 Elm St,Rome\nBob,7 Oak St,Oslo\nCat,9 Low St,Bonn\n",
         ("Ann", "address 1", "12 Elm St")),
        ("name,country,size\nOslo,Norway,7\nRome,Italy,9\n", ("Oslo", "country", "Norway")),
        ("Name;Land;Size\nOslo;Norge;7\nMoss;Norge;9\n".replace(";", ","), ("Oslo", "Land", "Norge")),
        ("city,country,mayor\nOslo,Norge,Lie\nMoss,Norge,Rud\nRoma,Italia,Rossi\nBari,Italia,Neri\n",
         ("Oslo", "country", "Norge")),
        ("country,population 2020,size\nPeru,7,a\nChad,8,b\nIran,9,c\n",
         ("Peru", "population 2020", ("7", INTEGER))),
    ],
)  # fmt: skip
def test_other_wide_tables(text: str, first: Triple, tmp_path: Path) -> None:
    found = Found(write(tmp_path / "a.csv", text))
    assert found.triples[0] == first
    assert ("--format tsv or csv" in found.note) == text.startswith(("State", "name,address", "city"))


@pytest.mark.parametrize(
    "text",
    [
        "France,capital,Paris\nItaly,capital,Rome\nSpain,capital,Madrid\nPeru,capital,Lima\n",
        "Memento,director,Nolan\nMemento,year,2000\nHeat,director,Mann\n",
        "a,b,c\n",
        "a,b,c\nd,e,f\n",
        "Q90,P17,Q142\nQ64,P36,Q183\nQ220,P190,Q38\nQ84,P6,Q145\n",
        "Thing 1,made of,x\nThing 2,built by,y\nThing 3,sold in,z\nThing 4,lost at,w\n",
        "Rome,capital of,Italy\nOslo,near,Drammen\nParis,lies on,Seine\nBonn,birthplace of,Beethoven\n",
        "ann,Knows,bob\nbob,Likes,cat\ncat,Fears,dan\ndan,Sees,eve\n",
        "name,Norway,7\nOslo,country,Norway\nRome,country,Italy\n",
        "Ann,LIVES_IN,Oslo\nBob,LIVES_IN,Rome\nCat,LIVES_IN,Bonn\nDan,WORKS_IN,Bonn\n",
        "http://e.org/a,http://p.org/b,c\nx,y,z\nu,v,w\nr,s,t\n",
    ],
)
def test_triples_without_a_header_stay_triples(text: str, tmp_path: Path) -> None:
    for name, delimiter in (("a.csv", ","), ("a.tsv", "\t")):
        path = write(tmp_path / name, text.replace(",", delimiter))
        assert len(Found(path).triples) == text.count("\n")


@pytest.mark.parametrize(
    ("text", "hints", "expected"),
    [
        ("a,b,c\nJon,Arya,sibling of\n", Hints(columns_of("head=a,relation=c,tail=b")), EDGES[0]),
        ("Jon,Arya,sibling of\n", Hints(columns_of("head=1,relation=3,tail=2")), EDGES[0]),
        ("2B,410,AER,2965,KZN,2990,,0,CR2\n", Hints(columns_of("head=3,tail=5"), relation="flies to"),
         ("AER", "flies to", "KZN")),
        ("year,node\n1999,Memento\n", Hints(id="node"), ("Memento", "year", ("1999", INTEGER))),
        ("Type,Kind\nx,y\n", Hints(id="2"), ("y", "Type", ("x", XSD + "string"))),
    ],
)  # fmt: skip
def test_columns_can_be_said(text: str, hints: Hints, expected: Triple, tmp_path: Path) -> None:
    for name in ("a.csv", "a"):
        assert Found(write(tmp_path / name, text), hints).triples == [expected] or "Type" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("head", "given as head=from"),
        ("head=a,tale=b", "not 'tale'"),
        ("relation=a", "need a head and a tail"),
    ],
)
def test_columns_that_are_said_wrongly(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Hints(columns_of(text))


@pytest.mark.parametrize("together", [True, False])
def test_edge_ends_that_are_no_ids_of_nodes_are_warned_of(together: bool, tmp_path: Path) -> None:
    nodes = write(tmp_path / "nodes.csv", "id,name\n1,Jon\n2,Arya\n")
    edges = write(tmp_path / "edges.csv", "source,target,type\n1,2,knows\nJon,Arya,likes\n")
    _, report = build_graph([tmp_path] if together else [nodes, edges])
    assert any("2 of 4 ends of edges are not among the ids of nodes: Jon, Arya." in n for n in report.notes)
    write(edges, "source,target,type\n1,2,knows\n")
    _, report = build_graph([nodes, edges])
    assert not any("ends of edges" in note for note in report.notes)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt"])
def test_a_text_of_windows_is_read_and_said(name: str, tmp_path: Path) -> None:
    text = "Zürich,liegt in,Schweiz\nKöln,liegt in,Deutschland\nCafé “Müller”,liegt in,Köln\n"
    path = write(tmp_path / name, text.replace(",", "," if name == "a.csv" else "\t").encode("cp1252"))
    found = Found(path)
    assert [t[0] for t in found.triples] == ["Zürich", "Köln", "Café “Müller”"]
    assert "read as CP1252" in found.note


def test_damaged_utf8_is_not_taken_for_a_text_of_windows(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "Zürich,in,Köln\n".encode() + b"K\xf6ln,in,x\n")
    with pytest.raises(ParseError, match=r"a\.csv:2: invalid UTF-8.*--encoding"):
        Found(path)
    assert Found(path, Hints(encoding="latin-1")).triples[1][0] == "Köln"
    with pytest.raises(UsageError, match="unknown encoding 'klingon'"):
        Hints(encoding="klingon")


def test_rows_of_another_width_are_faults(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "from,to,type\na,b,c\na,b\n,b,c\n")
    found = Found(path, on_error="skip")
    assert found.triples == [("a", "c", "b")]
    assert [reason.split(": ")[1] for reason in found.tally.reasons] == [
        "2 columns where the header has 3. Quote cells that hold the separator",
        "a cell of the edge is empty. Give every edge its two nodes",
    ]


def test_excel(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="the extra excel is not installed")
    book = openpyxl.Workbook()
    for row in (
        ("Name", "City", "Born", "Height"),
        ("Ann", "Rome", datetime.datetime(1990, 5, 1), 1.7),
        (None, None, None, None),
        ("Bob", "Oslo", datetime.date(1985, 1, 2), 2.0),
    ):
        book.active.append(row)
    book.create_sheet("more")
    book.save(tmp_path / "people.xlsx")
    found = Found(tmp_path / "people.xlsx")
    assert found.triples[:3] == [
        ("Ann", "City", "Rome"),
        ("Ann", "Born", ("1990-05-01", XSD + "date")),
        ("Ann", "Height", ("1.7", DECIMAL)),
    ]
    assert found.triples[5] == ("Bob", "Height", ("2", DECIMAL))
    assert "only the first sheet is read (Sheet), not more" in found.note
    assert found.tally.blank == 1
    with pytest.raises(ParseError, match="not an Excel workbook"):
        Found(write(tmp_path / "b.xlsx", "nonsense"))


def test_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"src": ["Jon", "Arya"], "rel": ["sibling of", "kills"], "dst": ["Arya", "Walder"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    found = Found(tmp_path / "a.parquet")
    assert found.triples == EDGES
    values = arrow.table({"id": [1, 2], "name": ["Jon", None], "tags": [["a", "b"], []], "age": [1.5, None]})
    parquet.write_table(values, tmp_path / "b.parquet")
    found = Found(tmp_path / "b.parquet")
    assert found.labels == {"1": "Jon"}
    assert ("1", "age", ("1.5", DECIMAL)) in found.triples
    with pytest.raises(ParseError, match="not a Parquet file"):
        Found(write(tmp_path / "c.parquet", "nonsense"))


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("<http://a/x> <http://a/p> <http://a/y> .\n", "ntriples"),
        ("# note\n@prefix a: <http://a/> .\na:x a:p a:y .\n", "turtle"),
        ('<?xml version="1.0"?><rdf:RDF/>', "rdfxml"), ('[{"@id": "http://a/x"}]', "jsonld"),
        ("a\tb\tc\n", "tsv"), ("a|b|c\n", "pipe"), ("a,b,c\n", "csv"), ("from,to,type\na,b,c\n", "table"),
        ("id,name,born,city\n1,a,b,c\n", "table"),
    ],
)  # fmt: skip
def test_a_file_without_an_ending_is_known_by_how_it_begins(text: str, format: str, tmp_path: Path) -> None:
    assert choose_reader(write(tmp_path / "stdin", text)).name == format


def test_an_unclear_folder_names_its_tables(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "a,b,c,g\nd,b,f,b\n")
    write(tmp_path / "b.csv", "name,age\nAnn,31\nBob,28\n")
    write(tmp_path / "c.csv", "d,e,f,g\ng,e,i,e\n")
    with pytest.raises(ParseError) as error:
        build_graph([tmp_path])
    assert "a.csv:1: a table (a,b,c,g), and it is not clear what its columns are" in str(error.value)
    assert "c.csv:1" in str(error.value)
    graph, report = build_graph([tmp_path], on_error="skip")
    assert graph.triples == 2
    assert report.skipped == 2
    assert any("2 of 3 files cannot be read: a.csv, c.csv" in note for note in report.notes)


@pytest.mark.parametrize("header", [",city,age", "Unnamed: 0,city,age"])
def test_an_unnamed_column_of_names_calls_the_rows(header: str, tmp_path: Path) -> None:
    found = Found(write(tmp_path / "a.csv", header + "\nAnn,Rome,30\nBob,Oslo,41\n"))
    assert found.nodes == ["Ann", "Bob"]
    assert found.triples == [
        ("Ann", "city", "Rome"),
        ("Ann", "age", ("30", INTEGER)),
        ("Bob", "city", "Oslo"),
        ("Bob", "age", ("41", INTEGER)),
    ]
    assert Found(write(tmp_path / "b.csv", ",age\nAnn,30\nBob,41\n")).nodes == ["Ann", "Bob"]


@pytest.mark.parametrize("name", ["edges.tsv", "edges.txt"])
def test_remarks_before_a_list_of_edges_are_left_out(name: str, tmp_path: Path) -> None:
    text = "# Directed graph\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n"
    found = Found(write(tmp_path / name, text))
    assert found.triples == [("0", "linked to", "1"), ("1", "linked to", "2")]
    assert "lines before the first row that begin with # are left out: 2" in found.note
    kept = Found(write(tmp_path / "b.csv", "#ai,likes,#ml\n#ml,likes,#ir\n"))
    assert kept.triples == [("#ai", "likes", "#ml"), ("#ml", "likes", "#ir")]
