"""`export`: a whole graph from an endpoint, also if its results are capped or it breaks off."""

import io
import json
from urllib.parse import parse_qs, urlsplit

import pyoxigraph
import pytest
from neo4j_server import Unavailable
from sparql_server import oxigraph_server
from typer.testing import CliRunner

from clew.cli.app import app
from clew.stores.errors import StoreError
from clew.stores.export import export_sparql
from clew.stores.sparql.endpoint import address_of
from servers.answering_server import answering, reply

TURTLE = """PREFIX : <http://x/>
:a :p :b, :c, :d ; :q "text \\"quoted\\"\\nand more", 5, "mot"@fr .
:b :p [ :q "deep" ; :r [ :q 7 ] ] .
:c :p _:one . _:one :q :a . :d a :Thing ."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "graph.ttl"
    path.write_text(TURTLE, "utf-8")
    return path


def canonical(source):
    """The triples with the same names for the same blank nodes."""
    dataset = pyoxigraph.Dataset(pyoxigraph.parse(source, pyoxigraph.RdfFormat.N_TRIPLES))
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return {str(quad) for quad in dataset}


def expected():
    quads = pyoxigraph.parse(TURTLE, pyoxigraph.RdfFormat.TURTLE)
    lines = pyoxigraph.serialize((q.triple for q in quads), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return canonical(lines)


def endpoint(turtle=TURTLE, *, cap=None, media=pyoxigraph.RdfFormat.N_TRIPLES, breaks=()):
    """A real store behind HTTP; at most `cap` triples a result, and queries that it breaks off at."""
    store = pyoxigraph.Store()
    store.load(turtle.encode(), pyoxigraph.RdfFormat.TURTLE)
    asked = []

    def answer(handler):
        query = parse_qs(urlsplit(handler.path).query)["query"][0]
        asked.append(query)
        kind, whole = results_of(query)
        if kind != media.media_type:
            reply(200, kind, whole)(handler)
        elif any(word in query for word in breaks):
            reply(200, kind, whole[:-9], content_length=str(len(whole)))(handler)
        else:
            reply(200, kind, whole)(handler)

    def results_of(query):
        # Solutions must end in their thread, so that no frame may hold them when a client has gone.
        results, body = store.query(query), io.BytesIO()
        if isinstance(results, pyoxigraph.QuerySolutions):
            results.serialize(body, pyoxigraph.QueryResultsFormat.JSON)
            return "application/sparql-results+json", body.getvalue()
        pyoxigraph.serialize(list(results)[:cap], body, media)
        return media.media_type, body.getvalue()

    answer.asked = asked
    return answer


def read(address, *progress):
    file = io.BytesIO()
    export_sparql(address_of(address), file, *progress)
    return canonical(file.getvalue())


def test_a_graph_of_a_real_server_is_whole(data):
    shown = []
    try:
        with oxigraph_server(data) as address:
            triples = read(address, lambda *state: shown.append(state))
    except Unavailable as error:
        pytest.skip(str(error))
    assert triples == expected()
    assert shown[-1] == ("triples", 13, 13)


@pytest.mark.parametrize("media", ["N_TRIPLES", "TURTLE", "RDF_XML"])
def test_all_syntaxes_are_read(media):
    with answering(endpoint(media=getattr(pyoxigraph.RdfFormat, media))) as address:
        assert read(address) == expected()


def test_capped_results_are_asked_for_in_pages():
    answer, file = endpoint(cap=2), io.BytesIO()
    with (
        answering(answer) as address,
        pytest.raises(StoreError, match="2 of the 6 triples that it counts for _:"),
    ):
        export_sparql(address_of(address), file)
    # Blank nodes cannot be joined between pages, all else is there.
    assert any("OFFSET 2" in query for query in answer.asked)
    lines = file.getvalue().decode().splitlines()
    assert {line for line in lines if "/p>" in line and "_:" not in line} == {
        f"<http://x/a> <http://x/p> <http://x/{end}> ." for end in "bcd"
    }


def test_a_reply_that_breaks_off_is_said():
    with (
        answering(endpoint(breaks=["CONSTRUCT { ?s <http://x/q>"])) as address,
        pytest.raises(StoreError, match="broke off"),
    ):
        read(address)


def test_an_empty_graph_is_said():
    with answering(endpoint("")) as address, pytest.raises(StoreError, match="no triples in its default"):
        read(address)


def test_the_index_names_the_address_that_it_was_read_from(tmp_path):
    out = tmp_path / "kb.clew"
    with answering(endpoint()) as address:
        made = CliRunner().invoke(app, ["index", address.replace("://", "://ann:secret@"), "-o", str(out)])
    assert made.exit_code == 0, made.output
    told = CliRunner().invoke(app, ["info", str(out), "--json"])
    assert [source["path"] for source in json.loads(told.stdout)["sources"]] == [address]
    assert [path.name for path in tmp_path.iterdir()] == ["kb.clew"]
