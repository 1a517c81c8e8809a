"""`export`: a whole graph from an endpoint, also if its results are capped or it breaks off."""

import io
import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pyoxigraph
import pytest
from neo4j_server import Unavailable
from sparql_server import oxigraph_server
from typer.testing import CliRunner

from clew.cli.app import app
from clew.errors import InputError
from clew.stores.errors import StoreError
from clew.stores.export import export_sparql, open_folder
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


def read(folder):
    return canonical((folder.data / "graph.nt").read_bytes())


def test_a_graph_of_a_real_server_is_whole(data, tmp_path):
    try:
        with oxigraph_server(data) as address:
            folder = open_folder(tmp_path / "import", address)
            shown = []
            export_sparql(address_of(address), folder, lambda *state: shown.append(state))
    except Unavailable as error:
        pytest.skip(str(error))
    assert read(folder) == expected()
    assert shown[-1] == ("triples", 13, 13)


@pytest.mark.parametrize("media", ["N_TRIPLES", "TURTLE", "RDF_XML"])
def test_all_syntaxes_are_read(media, tmp_path):
    with answering(endpoint(media=getattr(pyoxigraph.RdfFormat, media))) as address:
        folder = open_folder(tmp_path / "import", address)
        export_sparql(address_of(address), folder)
    assert read(folder) == expected()


def test_capped_results_are_asked_for_in_pages(tmp_path):
    answer = endpoint(cap=2)
    with answering(answer) as address:
        folder = open_folder(tmp_path / "import", address)
        with pytest.raises(StoreError, match="2 of the 6 triples that it counts for _:"):
            export_sparql(address_of(address), folder)
    # Blank nodes cannot be joined between pages, all else is there.
    assert "http://x/p" in folder.finished
    assert any("OFFSET 2" in query for query in answer.asked)
    lines = (folder.data / "graph.nt").read_text().splitlines()
    assert {line for line in lines if "/p>" in line and "_:" not in line} == {
        f"<http://x/a> <http://x/p> <http://x/{end}> ." for end in "bcd"
    }


def test_an_interrupted_import_goes_on_where_it_was(tmp_path):
    with answering(endpoint(breaks=["CONSTRUCT { ?s <http://x/q>"])) as address:
        folder = open_folder(tmp_path / "import", "one")
        with pytest.raises(StoreError, match="broke off"):
            export_sparql(address_of(address), folder)
    assert "http://x/p" in folder.finished
    answer = endpoint()
    with answering(answer) as address:
        folder = open_folder(tmp_path / "import", "one")
        export_sparql(address_of(address), folder)
    assert read(folder) == expected()
    assert not any("CONSTRUCT { ?s <http://x/p>" in query for query in answer.asked)


def test_a_folder_of_another_source_is_begun_again(tmp_path):
    folder = open_folder(tmp_path / "import", "one")
    (folder.data / "graph.nt").write_text("old")
    folder.finish("x", 3)
    assert open_folder(tmp_path / "import", "one").finished == {"": 0, "x": 3}
    folder = open_folder(tmp_path / "import", "two")
    assert folder.finished == {"": 0}
    assert list(folder.data.iterdir()) == []


def test_what_is_in_the_way_is_not_touched(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="in the way"):
        open_folder(tmp_path, "one")
    assert Path(tmp_path / "mine.txt").read_text() == "mine"


def test_an_empty_graph_is_said(tmp_path):
    with answering(endpoint("")) as address, pytest.raises(StoreError, match="no triples in its default"):
        export_sparql(address_of(address), open_folder(tmp_path / "import", address))


def test_the_index_names_the_address_that_it_was_read_from(tmp_path):
    out = tmp_path / "kb.clew"
    with answering(endpoint()) as address:
        made = CliRunner().invoke(app, ["index", address.replace("://", "://ann:secret@"), "-o", str(out)])
    assert made.exit_code == 0, made.output
    told = CliRunner().invoke(app, ["info", str(out), "--json"])
    assert [source["path"] for source in json.loads(told.stdout)["sources"]] == [address]
    assert [path.name for path in tmp_path.iterdir()] == ["kb.clew"]
