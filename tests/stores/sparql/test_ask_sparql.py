"""A SPARQL endpoint asked at its address: methods of an index, by a copy or by what is near the names."""

import io
import json
from contextlib import ExitStack
from urllib.parse import parse_qs, urlsplit

import pyoxigraph
import pytest
from neo4j_server import Unavailable
from sparql_server import fuseki_server, oxigraph_server

from clew.database import Database
from clew.errors import UsageError
from clew.graph.readers.hints import Hints
from clew.methods.database_copy import DatabaseCopy
from clew.stores.errors import StoreError
from clew.stores.neighbourhood import Fetcher, FetchLimits
from clew.stores.sparql.embedded import statements
from clew.stores.sparql.endpoint import SparqlEndpoint
from clew.stores.sparql.near_sparql import NearSparql
from clew.text.embedders.static import StaticEmbedder
from servers.answering_server import answering, reply

TOWNS = """
@prefix x: <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix w: <http://words/> .
w:liegtAn rdfs:label "liegt an"@de, "lies on"@en .
w:Stadt a owl:Class ; rdfs:label "town"@en, "Stadt"@de .
x:b1 a w:Stadt ; rdfs:label "Köln"@de, "Cologne"@en ; w:liegtAn x:r1 ; w:population 1000000 .
x:b2 a w:Stadt ; rdfs:label "Bonn"@de ; w:liegtAn x:r1 ; w:mayor [ rdfs:label "nobody" ] .
x:b3 a w:Stadt ; rdfs:label "Trier"@de ; w:liegtAn x:r2 .
x:r1 rdfs:label "Rhein"@de, "Rhine"@en . x:r2 rdfs:label "Mosel"@de, "Moselle"@en .
x:Bad_Ems w:liegtAn x:r3 . x:r3 rdfs:label "Lahn" .
"""


@pytest.fixture(scope="module")
def embedder():
    return StaticEmbedder.load()


@pytest.fixture(scope="module", params=["oxigraph", "fuseki"])
def address(request, films, tmp_path_factory):
    """The films in a real server."""
    file = tmp_path_factory.mktemp("films") / "films.nt"
    file.write_text("".join(statements(films[0])), "utf-8")
    server = {"oxigraph": oxigraph_server, "fuseki": fuseki_server}[request.param]
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(server(file))
        except Unavailable as error:
            pytest.skip(str(error))
        yield opened


def large(address, embedder):
    """The endpoint, as if it had too many triples to be copied."""
    opened = Database(SparqlEndpoint(address), embedder)
    vars(opened)["_copy"] = DatabaseCopy(NearSparql(opened.store), embedder, most=10)
    return opened


def detail(answer, step):
    return next(each.detail for each in answer.steps if each.name == step)


def labels(answer):
    return {a.label for a in answer.answers}


@pytest.mark.server
@pytest.mark.parametrize("method", ["auto", "kg-rag", "walk-retrieve"])
def test_a_method_of_an_index_asks_what_is_near_the_names(address, embedder, method):
    with large(address, embedder) as database:
        answer = database.ask("Who directed Memento?", method=method)
    assert labels(answer) == {"Christopher Nolan"}
    assert answer.citations
    near = detail(answer, "neighbourhood")
    assert near["round trips"] <= 11
    assert near["edges"] > 100


@pytest.mark.server
def test_a_small_graph_is_copied_once(address, embedder, tmp_path):
    question = "Who directed Memento?"
    for trips in (30, 2):
        with Database(SparqlEndpoint(address), embedder, cache_dir=tmp_path) as database:
            first = database.ask(question, method="kg-rag")
            again = database.ask(question, method="auto")
        assert labels(first) == labels(again) == {"Christopher Nolan"}
        assert detail(first, "copy of the database")["round trips"] <= trips
        assert detail(again, "copy of the database")["round trips"] == 0
        assert first.complete


@pytest.mark.server
@pytest.mark.parametrize("question", ["WHO DIRECTED MEMENTO?", "who directed memento"])
def test_names_are_found_in_any_case(address, question):
    found = Fetcher(NearSparql(SparqlEndpoint(address))).nodes_named_in(question)
    assert found.topic_entities == ("urn:clew:entity:Memento",)


def of_store(store, *, cap=None):
    """A pyoxigraph store behind HTTP, which gives at most `cap` solutions without a word."""

    def answer(handler):
        text = urlsplit(handler.path).query or handler.body.decode()
        found, body = store.query(parse_qs(text)["query"][0]), io.BytesIO()
        rows = list(found)[:cap]
        answer.trips += 1
        lines = ["\t".join(str(v) for v in found.variables)]
        lines += ["\t".join("" if term is None else str(term) for term in row) for row in rows]
        body.write("\n".join([*lines, ""]).encode())
        reply(200, "text/tab-separated-values", body.getvalue())(handler)

    answer.trips = 0
    return answer


def stored(turtle=TOWNS):
    store = pyoxigraph.Store()
    store.load(turtle.encode(), pyoxigraph.RdfFormat.TURTLE)
    return store


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("Which town lies on the Moselle?", {"Trier"}),
        ("What does Cologne lie on?", {"Rhine"}),
        ("What does Köln lie on?", {"Rhine"}),
        ("What does Bad Ems lie on?", {"Lahn"}),
        ("What is the population of Cologne?", {"1000000"}),
    ],
)
def test_labels_in_languages_of_things_relations_and_classes_and_ends_of_iris(embedder, question, right):
    with answering(of_store(stored())) as address, large(address, embedder) as database:
        assert labels(database.ask(question)) == right


@pytest.mark.parametrize(
    ("question", "node"),
    [
        ("Who directed Is Anybody There?", "a"),
        ("Is Anybody There? was directed by whom?", "a"),
        ("Who made Monsters, Inc.?", "b"),
        ("Monsters, Inc. was made by whom?", "b"),
        ("When did (500) Days of Summer begin?", "c"),
    ],
)
def test_a_name_may_begin_and_end_in_a_mark(question, node):
    names = {"a": "Is Anybody There?", "b": "Monsters, Inc.", "c": "(500) Days of Summer"}
    lines = [
        f'<http://x/{id}> rdfs:label "{name}" ; <http://x/p> <http://x/q> .' for id, name in names.items()
    ]
    turtle = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . " + "\n".join(lines)
    with answering(of_store(stored(turtle))) as address:
        found = Fetcher(NearSparql(SparqlEndpoint(address))).nodes_named_in(question)
    assert found.topic_entities == (f"http://x/{node}",)


def test_classes_and_relations_are_not_what_a_question_is_about():
    with answering(of_store(stored())) as address:
        found = Fetcher(NearSparql(SparqlEndpoint(address))).nodes_named_in("Which town lies on Rhine?")
    assert found.topic_entities == ("http://x/r1",)
    assert found.notes == ("nodes without a name (blank nodes) were not fetched",)


@pytest.mark.parametrize(("language", "name"), [("de", "Mosel"), ("en", "Moselle")])
def test_the_language_of_labels_is_that_of_the_user(embedder, tmp_path, language, name):
    turtle = "\n".join(line for line in TOWNS.splitlines() if "nobody" not in line)
    with answering(of_store(stored(turtle))) as address:
        endpoint = SparqlEndpoint(address)
        with Database(endpoint, embedder, cache_dir=tmp_path, language=language) as database:
            vars(database)["_copy"] = DatabaseCopy(
                NearSparql(endpoint), embedder, most=10, hints=Hints(language=language)
            )
            answer = database.ask("What does Trier lie on?")
    assert labels(answer) == {name}


def test_an_endpoint_that_caps_its_results_is_asked_in_parts():
    turtle = "".join(f"<http://x/hub> <http://x/p> <http://x/n{i}> . " for i in range(40))
    turtle += "".join(f"<http://x/n{i}> <http://x/q> <http://x/m{i}> . " for i in range(40))
    near = {}
    for cap in (None, 50):
        with answering(of_store(stored(turtle), cap=cap)) as address:
            neighbours = NearSparql(SparqlEndpoint(address)).neighbours()
            near[cap] = neighbours.edges([f"http://x/n{i}" for i in range(40)], 100)
    assert set(near[50].edges) == set(near[None].edges)
    assert len(near[50].edges) == 80
    assert not near[50].cut
    with answering(of_store(stored(turtle), cap=20)) as address:
        assert NearSparql(SparqlEndpoint(address)).neighbours().edges(["http://x/hub"], 100).cut


def test_a_hub_is_not_passed_through_and_the_answer_is_not_complete(embedder):
    turtle = "".join(f"<http://x/n{i}> <http://x/knows> <http://x/Hub> . " for i in range(30))
    with answering(of_store(stored(turtle + "<http://x/n1> <http://x/likes> <http://x/n2> ."))) as address:
        fetcher = Fetcher(NearSparql(SparqlEndpoint(address)), FetchLimits(hub=10))
        found = fetcher.nodes_named_in("What does n1 like?")
        fetcher.fetch(found)
    assert found.hubs == 1
    assert found.notes == ("1 nodes with many edges were not passed through",)


def test_a_change_is_seen_in_the_counts():
    store, states = stored(), []
    with answering(of_store(store)) as address:
        near = NearSparql(SparqlEndpoint(address))
        states.append(near.state(1000))
        assert near.state(1000) == states[0]
        node = pyoxigraph.NamedNode("http://x/b3")
        old = next(iter(store.quads_for_pattern(node, pyoxigraph.NamedNode("http://words/liegtAn"), None)))
        store.remove(old)
        states.append(near.state(1000))
        store.add(pyoxigraph.Quad(node, old.predicate, pyoxigraph.NamedNode("http://x/longer")))
        states.append(near.state(1000))
        assert len(set(states)) == 3
        assert near.state(5) is None


def test_text_of_a_question_is_never_a_part_of_a_query():
    store = stored()
    with answering(of_store(store)) as address:
        fetcher = Fetcher(NearSparql(SparqlEndpoint(address)))
        for text in ('x" } } DELETE', "a\\", '"@en <http://x/b1>', "line\nbreak\r\ttab", "> ?s ?p ?o"):
            assert fetcher.nodes_named_in("?", [text]).topic_entities == ()
        assert fetcher.nodes_named_in("?", ["Trier"]).topic_entities == ("http://x/b3",)


def test_an_endpoint_that_breaks_off_is_an_error_and_the_next_question_is_answered(embedder):
    answer = of_store(stored())

    def breaks(handler):
        if answer.trips == 5:
            answer.trips += 1
            reply(200, "text/tab-separated-values", b"?s\t?p\n", content_length="900")(handler)
        else:
            answer(handler)

    with answering(breaks) as address, large(address, embedder) as database:
        with pytest.raises(StoreError, match="broke off the connection in mid-reply"):
            database.ask("Which town lies on the Moselle?")
        assert labels(database.ask("Which town lies on the Moselle?")) == {"Trier"}


def test_methods_that_need_an_index_say_so(embedder):
    with answering(of_store(stored())) as address, Database(SparqlEndpoint(address), embedder) as database:
        for method in ("kaping", "synaptiqa"):
            with pytest.raises(UsageError, match=r"needs an index.* clew index sparql\+http://localhost"):
                database.ask("Who?", method=method)


def test_the_answers_are_those_of_an_index(films, embedder, tmp_path):
    from clew.engine import Clew

    (tmp_path / "films.nt").write_text("".join(statements(films[0])), "utf-8")
    store = pyoxigraph.Store()
    store.bulk_load(path=str(tmp_path / "films.nt"), format=pyoxigraph.RdfFormat.N_TRIPLES)
    questions = ["Who directed Inception?", "Which films did Jonathan Nolan write?", "What genre is Vertigo?"]
    index = Clew.open(tmp_path / "films.nt", embedder=embedder, cache_dir=tmp_path)
    with answering(of_store(store)) as address, large(address, embedder) as database, index:
        for question in questions:
            assert labels(database.ask(question)) == labels(index.ask(question)) != set()


CLAIMS = {
    "Christopher Nolan directed Memento.": "supported",
    "Christopher Nolan directed Memento and Jaws.": "refuted",
    "Memento was directed by Steven Spielberg.": "refuted",
    "Jonathan Nolan wrote Memento but did not direct it.": "supported",
    "A film by Christopher Nolan stars Guy Pearce.": "supported",
    "Christopher Nolan painted Guernica.": "not_enough_info",
}


@pytest.mark.parametrize("closed", [False, True])
def test_verdicts_are_those_of_an_index(films, embedder, tmp_path, closed):
    from clew.engine import Clew

    (tmp_path / "films.nt").write_text("".join(statements(films[0])), "utf-8")
    store = pyoxigraph.Store()
    store.bulk_load(path=str(tmp_path / "films.nt"), format=pyoxigraph.RdfFormat.N_TRIPLES)
    index = Clew.open(tmp_path / "films.nt", embedder=embedder, cache_dir=tmp_path)
    with answering(of_store(store)) as address, large(address, embedder) as database, index:
        for claim, verdict in CLAIMS.items():
            told = database.verify(claim, closed_world=closed)
            assert told.verdict == index.verify(claim, closed_world=closed).verdict, claim
            assert closed or told.verdict == verdict, claim
            assert detail(told, "neighbourhood")["round trips"] <= 9
            assert told.complete
            assert bool(told.citations) == (told.verdict != "not_enough_info") or closed


def hub(known, *, most):
    """Ann knows `known` people but the last one; of a node with more than `most` edges none is fetched."""
    names = [f"Bob{chr(65 + i)}" for i in range(known)]
    turtle = "".join(f"<http://x/Ann> <http://x/knows> <http://x/{name}> . " for name in names[:-1])
    turtle += f"<http://x/Cid> <http://x/knows> <http://x/{names[-1]}> . "
    return stored(turtle), FetchLimits(hops=2, edges=most)


@pytest.mark.parametrize(
    ("most", "claim", "verdict"),
    [
        (1000, "Ann knows BobA.", "supported"),
        (1000, "Ann knows at least 12 people.", "refuted"),
        (5, "Cid knows BobL.", "supported"),
        (5, "Ann knows BobL.", "not_enough_info"),
        (5, "Ann knows at least 12 people.", "not_enough_info"),
    ],
)
@pytest.mark.parametrize("closed", [False, True])
def test_what_was_not_fetched_decides_nothing_also_in_a_closed_world(
    embedder, monkeypatch, most, claim, verdict, closed
):
    from clew.methods import neighbourhoods

    store, limits = hub(12, most=most)
    monkeypatch.setattr(neighbourhoods, "FetchLimits", lambda hops: limits)
    with answering(of_store(store)) as address, large(address, embedder) as database:
        told = database.verify(claim, closed_world=closed)
    assert told.verdict == verdict
    assert told.complete == (most == 1000 or "Ann" not in claim)
    assert bool(told.notes) != told.complete


def test_a_claim_that_names_nothing_is_left_open_with_the_reason(embedder):
    with answering(of_store(stored())) as address, large(address, embedder) as database:
        told = database.verify("Nothing lies on anything.", closed_world=True)
    assert (told.verdict, told.abstained.reason) == ("not_enough_info", "no_entity")


def test_a_model_verifies_against_what_is_near(embedder):
    from clew.llm.testing import ScriptedModel

    asked = []

    def reply(request):
        asked.append(request.messages[-1].text)
        return "{}"

    with answering(of_store(stored())) as address, large(address, embedder) as database:
        told = database.verify("Trier lies on the Moselle.", model=ScriptedModel(reply))
        assert (told.verdict, asked) == ("supported", [])
        told = database.verify("Trier lies on the Moselle.", method="simgrag", model=ScriptedModel(reply))
        assert asked
        assert told.verdict == "not_enough_info"
        assert detail(told, "neighbourhood")["edges"]
        with pytest.raises(UsageError, match="needs a chat model"):
            database.verify("Trier lies on the Moselle.", method="simgrag")
        with pytest.raises(UsageError, match="not verified by"):
            database.verify("Trier lies on the Moselle.", method="kg-rag")


@pytest.mark.server
def test_the_command_verifies_at_an_address(address, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from clew.cli.app import app

    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path))
    claims, out = tmp_path / "claims.jsonl", tmp_path / "verdicts.jsonl"
    claims.write_text("".join(json.dumps({"claim": claim}) + "\n" for claim in CLAIMS), "utf-8")
    one = CliRunner().invoke(app, ["verify", address, "Christopher Nolan directed Memento."])
    many = CliRunner().invoke(app, ["verify", address, "--claims", str(claims), "--out", str(out), "-q"])
    wrong = CliRunner().invoke(app, ["verify", address, "Memento is a film.", "--format", "tsv"])
    assert (one.exit_code, one.stdout.split()[:1]) == (0, ["Supported"]), one.stderr
    assert many.exit_code == 0
    told = [json.loads(line)["verdict"] for line in out.read_text("utf-8").splitlines()]
    assert told == list(CLAIMS.values())
    assert wrong.exit_code == 2
