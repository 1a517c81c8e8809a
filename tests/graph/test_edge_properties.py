"""Properties of edges: read from every source that has them, stored, filtered, ranked, cited."""

import json

import pytest
from typer.testing import CliRunner

from clew import Clew
from clew.cli.app import app
from clew.errors import PatternError, UsageError
from clew.graph.build import build_graph

FLIGHTS = """from,to,relationship,airline,since,weight
Oslo,Bergen,flight,SAS,2005,3.5
Oslo,Bergen,flight,Norwegian,2011,2
Bergen,Paris,flight,KLM,1999,9
Oslo,Paris,train,,2020-05-01,
"""
NAMED = "@prefix : <http://ex.org/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"


def statements(clew):
    """((head, relation, tail), properties) of the edges that have some."""
    return [((t.head, t.relation, t.tail), dict(p)) for t in clew.triples() for p in t.properties]


def edges_of(tmp_path, name, text):
    """The statements of a file, and the notes on it."""
    (tmp_path / name).write_text(text)
    with Clew.open(tmp_path / name, cache_dir=tmp_path / "cache") as clew:
        return statements(clew), clew.opened.manifest.about.report["notes"]


@pytest.fixture(scope="module")
def flights(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flights")
    (folder / "flights.csv").write_text(FLIGHTS)
    with Clew.open(folder / "flights.csv", cache_dir=folder / "cache") as clew:
        yield clew


@pytest.mark.parametrize(
    ("where", "ends"),
    [
        ({"since": ">2006"}, ["Bergen"]), ({"since": ">=2005", "weight": "<3"}, ["Bergen"]),
        ({"since": ">=2012", "weight": "<3"}, []), ({"airline": "sas"}, ["Bergen"]),
        ({"airline": "!=SAS"}, ["Bergen"]), ({"airline": "<O"}, ["Bergen"]), ({"airline": ">5"}, []),
        ({"weight": 2}, ["Bergen"]), ({"since": ">2020-01-01"}, ["Paris"]),
    ],
)  # fmt: skip
def test_edges_of_a_pattern_are_filtered(flights, where, ends):
    found = flights.match({"triples": [["Oslo", "UNKNOWN", "UNKNOWN 1", where]]}, all=True)
    assert sorted({m.labels[1] for m in found.matches if m.gsd == 0}) == ends


def test_an_unknown_property_is_said(flights):
    def match(where):
        return flights.match({"triples": [["Oslo", "flight", "UNKNOWN 1", where]]})

    with pytest.raises(UsageError, match="Those of this graph are: airline, since, weight"):
        match({"pilot": "Ann"})
    for nothing in (">", ">> 2010"):
        with pytest.raises(PatternError, match="compares with nothing"):
            match({"since": nothing})


def test_a_pattern_has_conditions_on_its_edges(flights):
    pattern = {"triples": [["Oslo", "flight", "UNKNOWN 1", {"since": ">2010", "airline": "norwegian"}]]}
    found = flights.match(pattern, all=True)
    assert [m.labels for m in found.matches] == [("Oslo", "Bergen")]
    assert ("airline", "SAS") in found.matches[0].texts[0].properties[0]
    # One edge meets all of them: no airline has both.
    pattern["triples"][0][3] = {"since": ">2010", "airline": "SAS"}
    assert flights.match(pattern, all=True).matches == ()
    assert flights.match(pattern, k=3).matches == ()


def test_an_answer_cites_them(flights):
    told = flights.ask("Where does the Oslo train go?").as_json()
    assert told["citations"][0]["triples"] == [["Oslo", "train", "Paris"]]
    assert told["citations"][0]["properties"] == [[{"since": ["2020-05-01"]}]]


WORK = """from,to,relationship,since,until,hired
Ann,Acme,works at,2011,2020,
Bob,Acme,works at,2015-03-01,,
Ann,Oslo,lives in,,,
Bob,Rome,lives in,,,1999
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    (folder / "work.csv").write_text(WORK)
    with Clew.open(folder / "work.csv", cache_dir=folder / "cache") as clew:
        yield clew


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Since when does Ann work at Acme?", ["2011"]),
        ("From which year did Ann work at Acme?", ["2011"]),
        ("How long has Ann worked at Acme?", ["2011"]),
        ("Until when did Ann work at Acme?", ["2020"]),
        ("since when is Bob working at Acme", ["2015-03-01"]),
        ("Since when does Bob live in Rome?", ["1999"]),
    ],
)
def test_since_when_and_until_when_are_asked_of_an_edge(work, question, values):
    answer = work.ask(question)
    assert [a.label for a in answer.answers] == values
    assert answer.question == question.rstrip()
    assert [c.answer for c in answer.citations] == values
    assert answer.citations[0].triples[0].properties


def test_an_edge_that_does_not_say_until_when_is_no_answer(work):
    answer = work.ask("Until when did Bob work at Acme?")
    assert (answer.abstained.reason, answer.answers) == ("empty_result", ())
    assert answer.abstained.detail == "it records none: until when Acme is where Bob works"


def test_of_several_edges_all_are_said(flights):
    answer = flights.ask("Since when does Oslo have a flight to Bergen?")
    assert [a.label for a in answer.answers] == ["2005", "2011"]


def test_sparql_asks_them(flights):
    for edge in (
        "<< e:Oslo ?r ?b >> p:airline ?a ; p:since ?y",
        "e:Oslo ?r ?b {| p:airline ?a ; p:since ?y |}",
    ):
        rows = flights.query(f"SELECT ?a {{ {edge} . FILTER(?y > 2006) }}").rows
        assert [[term.value for term in row] for row in rows] == [["Norwegian"]]


def test_match_shows_them_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "flights.csv").write_text(FLIGHTS)
    pattern = json.dumps({"triples": [["Bergen", "flight", "UNKNOWN 1", {"airline": "KLM"}]]})
    done = CliRunner().invoke(app, ["match", str(tmp_path / "flights.csv"), pattern, "--json"])
    assert json.loads(done.stdout)["matches"][0]["properties"] == [
        [{"airline": ["KLM"], "since": ["1999"], "weight": ["9"]}]
    ]


def test_an_edge_without_direction_has_them_both_ways(tmp_path):
    found, _ = edges_of(tmp_path, "g.csv", "Source,Target,Type,Weight\na,b,Undirected,3\nb,c,Directed,4\n")
    assert [(ends[0], ends[2], held["Weight"]) for ends, held in found] == [
        ("a", "b", "3"),
        ("b", "a", "3"),
        ("b", "c", "4"),
    ]


def test_relationships_of_neo4j_have_them(tmp_path):
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id:ID,name,:LABEL\n1,Ann,Person\n2,Acme,Firm\n")
    (folder / "edges.csv").write_text(":START_ID,:END_ID,:TYPE,since:long,role\n1,2,WORKS_AT,2011,boss\n")
    with Clew.open(folder, cache_dir=tmp_path / "cache") as clew:
        assert statements(clew)[0][1] == {"since": "2011", "role": "boss"}
        assert clew.match({"triples": [["Ann", "WORKS_AT", "UNKNOWN 1", {"since": "<2020"}]]}).matches


def test_rdf_says_them_of_reifiers_and_reified_statements(tmp_path):
    text = NAMED + (
        ":Oslo :flight :Bergen {| :since 2005 ; :airline :SAS |} , :Paris .\n"
        ":x a rdf:Statement ; rdf:subject :Oslo ; rdf:predicate :flight ; rdf:object :Paris ; :since 1999 .\n"
        ":y a rdf:Statement ; rdf:subject :Oslo ; rdf:predicate :flight ; rdf:object :Rome ; :since 2001 .\n"
        ":z a rdf:Statement ; rdf:subject :Oslo ; :since 2001 .\n"
    )
    found, notes = edges_of(tmp_path, "f.ttl", text)
    assert [(ends[2], held) for ends, held in found] == [
        ("Bergen", {"since": "2005", "airline": "SAS"}),
        ("Paris", {"since": "1999"}),
    ]
    assert any("1 statement with properties is of a triple that no source states" in note for note in notes)
    assert any("1 reified statements lack an end" in note for note in notes)


def test_the_name_of_a_graph_is_one(tmp_path):
    text = "".join(f"<http://e/a> <http://e/p> <http://e/b> <http://e/g{i}> .\n" for i in (1, 2))
    found, _ = edges_of(tmp_path, "f.nq", text + '<http://e/a> <http://e/q> "7" .\n')
    assert [held for _, held in found] == [{"graph": "g1"}, {"graph": "g2"}]


def test_a_large_file_of_rdf_has_them_too(tmp_path):
    lines = (f":a{i} :knows :b{i} {{| :since {i} |}} .\n" for i in range(2_000))
    found, _ = edges_of(tmp_path, "f.ttl", NAMED + "".join(lines))
    assert (("a1999", "knows", "b1999"), {"since": "1999"}) in found
    assert len(found) == 2_000


def told(clew):
    """Triple in words → the properties of its edges."""
    found = {}
    for ends, held in statements(clew):
        found.setdefault(" ".join(ends), []).append(held)
    return found


@pytest.fixture
def own(tmp_path):
    """An index of `FLIGHTS` that may be updated, and what adds or removes rows of such a table."""
    (tmp_path / "flights.csv").write_text(FLIGHTS)
    clew = Clew.index(tmp_path / "flights.csv", tmp_path / "own.clew")

    def update(side, *rows):
        (tmp_path / "more.csv").write_text("\n".join([FLIGHTS.splitlines()[0], *rows]) + "\n")
        clew.update(**{side: [tmp_path / "more.csv"]})
        with Clew.open(tmp_path / "own.clew") as again:
            assert told(again) == told(clew)  # what is on the disk is what is open
        return told(clew)

    with clew:
        yield update


def test_an_update_adds_edges_with_properties(own):
    held = own(
        "add",
        "Rome,Oslo,flight,ITA,2021,7",
        "Oslo,Bergen,flight,SAS,2005,3.5",
        "Bergen,Paris,flight,AF,2001,1",
    )
    assert held["Rome flight Oslo"] == [{"airline": "ITA", "since": "2021", "weight": "7"}]
    assert [e["airline"] for e in held["Oslo flight Bergen"]] == ["SAS", "Norwegian"]
    assert [e["airline"] for e in held["Bergen flight Paris"]] == ["KLM", "AF"]


def test_an_update_removes_a_triple_with_all_its_edges(own):
    own("add", "Rome,Oslo,flight,ITA,2021,7")
    held = own("remove", "Oslo,Bergen,flight,,,", "Rome,Oslo,flight,,,")
    assert sorted(held) == ["Bergen flight Paris", "Oslo train Paris"]


def test_a_triple_that_comes_back_has_the_properties_that_it_comes_with(own):
    own("remove", "Oslo,Bergen,flight,,,")
    held = own("add", "Oslo,Bergen,flight,Wideroe,2024,1")
    assert held["Oslo flight Bergen"] == [{"airline": "Wideroe", "since": "2024", "weight": "1"}]
    own("remove", "Oslo,Bergen,flight,,,")
    assert "Oslo flight Bergen" not in own("add", "Oslo,Bergen,flight,,,")


def test_values_of_new_edges_are_numbers_and_dates(own, tmp_path):
    own("add", "Rome,Oslo,flight,ITA,2021-05-01,7")
    with Clew.open(tmp_path / "own.clew") as clew:
        for where in ({"since": ">2021-01-01"}, {"weight": ">6"}):
            assert clew.match({"triples": [["Rome", "flight", "UNKNOWN", where]]}).matches


WIKIBASE = """
@prefix wd: <http://wiki.example/entity/> .
@prefix s: <http://wiki.example/entity/statement/> .
@prefix v: <http://wiki.example/value/> .
@prefix wdt: <http://wiki.example/prop/direct/> .
@prefix p: <http://wiki.example/prop/> .
@prefix ps: <http://wiki.example/prop/statement/> .
@prefix pq: <http://wiki.example/prop/qualifier/> .
@prefix psv: <http://wiki.example/prop/statement/value/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
s:a a wikibase:Statement, wikibase:BestRank ; wikibase:rank wikibase:NormalRank ; ps:P1 wd:Q2 ; psv:P1 v:x ;
    pq:P2 "2001" ; pq:P3 wd:Q3 ; prov:wasDerivedFrom <http://wiki.example/reference/r> .
wd:Q1 rdfs:label "Ann"@en ; wdt:P1 wd:Q2 ; p:P1 s:a .
wd:Q2 rdfs:label "Acme"@en .
wd:Q3 rdfs:label "cook"@en .
wd:P1 rdfs:label "employer"@en ; wikibase:directClaim wdt:P1 ; wikibase:claim p:P1 .
wd:P2 rdfs:label "since"@en .
wd:P3 rdfs:label "job"@en .
"""


def test_qualifiers_of_wikibase_are_properties_of_edges(tmp_path):
    path = tmp_path / "a.ttl"
    path.write_text(WIKIBASE)
    graph, report = build_graph([path])
    assert graph.triples == 1
    assert list(graph.relation_labels) == ["employer"]
    assert graph.edge_properties.of(0) == (("since", "2001"), ("job", "cook"))
    assert not any("lack an end" in note for note in report.notes)


def test_a_relation_that_is_written_like_those_of_wikibase_stays_one(tmp_path):
    path = tmp_path / "a.nt"
    path.write_text("<http://e.org/a> <http://e.org/prop/P1> <http://e.org/b> .\n")
    graph, _ = build_graph([path])
    assert list(graph.relations) == ["http://e.org/prop/P1"]


def test_names_and_types_of_a_named_graph_are_no_statements_that_are_missed(tmp_path):
    text = ':g { :Oslo a :City ; <http://www.w3.org/2000/01/rdf-schema#label> "Oslo" ; :size 3 . }'
    found, notes = edges_of(tmp_path, "f.trig", NAMED + text)
    assert [held for _, held in found] == [{"graph": "g"}]
    assert not any("no source states" in note for note in notes)


@pytest.mark.parametrize("listed", ["( :z :a :m )", "[ a rdf:Seq ; rdf:_2 :a ; rdf:_1 :z ; rdf:_3 :m ]"])
def test_a_list_of_rdf_is_its_members_in_their_order(tmp_path, listed):
    (tmp_path / "g.ttl").write_text(
        "@prefix : <http://example.org/> .\n@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ':m rdfs:label "Mia Noor" . :a rdfs:label "Abel Moss" . :z rdfs:label "Zoe Hart" .\n'
        f':p a :Paper ; rdfs:label "Deep Roots" ; :author {listed} ; :editor [ :of :m ] ; :sponsor () .\n'
    )
    with Clew.open(tmp_path / "g.ttl", cache_dir=tmp_path / "cache") as clew:
        answer = clew.ask("Who are the authors of Deep Roots?")
        assert [a.label for a in answer.answers] == ["Zoe Hart", "Abel Moss", "Mia Noor"]
        assert [a.label for a in clew.ask("How many authors does Deep Roots have?").answers] == ["3"]
        first = "SELECT ?x { ?p <http://example.org/author>/(rdf:first|rdf:_1) ?x }"
        assert [row[0].value for row in clew.query(first).rows] == ["http://example.org/z"]
        triples = {ends for ends, _ in statements(clew)}
        assert {relation for _, relation, _ in triples} == {"author"}


def test_what_has_one_thing_in_its_list_is_in_no_order_of_places(tmp_path):
    (tmp_path / "g.ttl").write_text(
        "@prefix : <http://example.org/> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ':m rdfs:label "Mint" . :e rdfs:label "Rice" .\n'
        ':a a :Dish ; rdfs:label "Apple Pot" ; :ingredient ( :e :m ) .\n'
        ':b a :Dish ; rdfs:label "Bean Pot" ; :ingredient ( :m :e ) .\n'
    )
    with Clew.open(tmp_path / "g.ttl", cache_dir=tmp_path / "cache") as clew:
        assert [a.label for a in clew.ask("Which dishes have the ingredient Mint?").answers] == [
            "Apple Pot",
            "Bean Pot",
        ]
        assert [a.label for a in clew.ask("What are the ingredients of Bean Pot?").answers] == [
            "Mint",
            "Rice",
        ]


def test_lists_that_are_too_many_at_once_are_counted(tmp_path, monkeypatch):
    """Cells of lists that come long before what leads to them stay triples."""
    monkeypatch.setattr("clew.graph.readers.rdf.MOST_HELD", 4)
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    cells = "".join(f"_:c{i} <{rdf}first> <e:m{i}> .\n_:c{i} <{rdf}rest> <{rdf}nil> .\n" for i in range(6))
    (tmp_path / "g.nt").write_text(cells + "".join(f"<e:d{i}> <e:author> _:c{i} .\n" for i in range(6)))
    graph, report = build_graph([tmp_path / "g.nt"])
    relations = [graph.relations[graph.triple(at)[1]] for at in range(graph.triples)]
    kept = relations.count(f"{rdf}rest")
    assert kept
    assert [note for note in report.sources[0].notes if f"{kept} lists stay cells" in note]


PARTNERS = (
    "id,name,type\nc1,Alba Paper,customer\nc2,Brix Foods,customer\nd1,North Depot,depot\n"
    "p1,Resin,product\np2,Glue,product\n"
)
DEALT = (
    "from,relation,to,date,pallets,status\nc1,ordered,p1,2023-03-04,60,delivered\n"
    "c1,ordered,p2,2023-05-01,20,cancelled\nc2,ordered,p1,2022-03-09,80,cancelled\n"
    "d1,delivered to,c1,2023-03-06,40,done\nd1,delivered to,c2,2023-03-11,70,cancelled\n"
)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which products were cancelled in March?", {"Resin"}),
        ("Which products were cancelled in 2023?", {"Glue"}),
        ("What is the largest delivery from North Depot?", {"Brix Foods"}),
    ],
)
def test_edges_are_asked_by_a_month_and_by_their_largest_number(tmp_path_factory, cache, question, answers):
    folder = tmp_path_factory.mktemp("dealt")
    (folder / "nodes.csv").write_text(PARTNERS)
    (folder / "edges.csv").write_text(DEALT)
    answer = Clew.open(folder, cache_dir=cache).ask(question)
    assert {a.label for a in answer.answers} == answers, answer.abstained
