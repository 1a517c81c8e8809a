"""What a user is told when an endpoint is not there, is not one, or breaks off: in one line."""

import gc
import re
import socket
import threading
import time

import pytest

from clew.errors import UsageError
from clew.stores.errors import QueryError, StoreError, StoreTimeout
from clew.stores.sparql.endpoint import SparqlEndpoint, address_of
from servers.answering_server import CERTIFICATE, answering, reply

ASK = "ASK { ?s ?p ?o }"
JSON = "application/sparql-results+json"
HEAD = b'{"head": {"vars": ["s"]}, "results": {"bindings": ['
ROW = b'{"s": {"type": "uri", "value": "urn:a"}}'


def failure(address, query=ASK, **options):
    with pytest.raises((StoreError, QueryError)) as raised:
        SparqlEndpoint(address, **options).run(query)
    message = str(raised.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("status", "media", "body", "expected"),
    [
        (200, "text/html; charset=utf-8", b"<!doctype html><p>Hello", "web page.*Check the path"),
        (200, "application/xhtml+xml", b"<html/>", "Check the path"),
        (200, "image/png", b"\x89PNG", "image/png that is no result"),
        (200, JSON, b"<!doctype html>", "cannot be read as"),
        (200, JSON, b"", "cannot be read as"),
        (400, "text/plain", b"Parse error:\nline 1", r"cannot run the query \(Parse error:\)"),
        (400, "text/html", b"<html>bad", "cannot run the query$"),
        (401, "text/plain", b"", "user and password.*check both"),
        (403, "text/html", b"<html>", "user and password"),
        (404, "text/html", b"<html>", "no endpoint at that path"),
        (405, "text/plain", b"", "no endpoint at that path"),
        (429, "text/plain", b"", "too many requests.*Wait"),
        (500, "text/plain", b"java.lang.OutOfMemoryError", "HTTP 500 .java.lang.OutOfMemoryError"),
        (503, "text/html", b"<html>", "HTTP 503"),
        (504, "text/html", b"<html>", "its own time"),
    ],
)
def test_an_answer_that_is_no_result(status, media, body, expected):
    with answering(reply(status, media, body)) as address:
        assert re.search(expected, failure(address))


def test_no_server_and_no_host():
    assert "nothing answers at that port" in failure("sparql+http://localhost:9/sparql")
    assert "no host of that name" in failure("sparql+http://nowhere.invalid/sparql")


@pytest.mark.parametrize(
    "address", ["sparql+ftp://x/y", "https://x/y", "sparql+http:///x", "sparql+http://a b/"]
)
def test_an_address_that_is_none(address):
    with pytest.raises(UsageError, match="address"):
        SparqlEndpoint(address)


def test_a_password_is_sent_and_never_shown():
    seen = []

    def answer(handler):
        seen.append(handler.headers["authorization"])
        reply(401, "text/plain", b"")(handler)

    with answering(answer) as address:
        message = failure(address.replace("//", "//ann:se%20cret@"))
    assert "cret" not in message
    assert "ann" not in message
    assert seen == ["Basic YW5uOnNlIGNyZXQ="]
    assert address_of("sparql+https://ann:pw@host:1/a?b=c").public_address == "sparql+https://host:1/a?b=c"


@pytest.mark.parametrize("length", ["1000000", None])
def test_a_connection_that_breaks_off_in_mid_result(length):
    headers = {"content_length": length} if length else {}
    with answering(reply(200, JSON, HEAD + ROW + b", ", **headers)) as address:
        message = failure(address, "SELECT * { ?s ?p ?o }")
    assert re.search("broke off the connection|cut short", message)


def test_what_broke_off_may_be_forgotten_in_any_thread():
    with answering(reply(200, JSON, HEAD + ROW + b", ")) as address:
        failure(address, "SELECT * { ?s ?p ?o }")
    forgetting = threading.Thread(target=gc.collect)
    forgetting.start()
    forgetting.join()  # what must end in the thread that made it would be an error of this test


def test_a_chunk_that_breaks_off():
    body = b"%x\r\n%s\r\nffff\r\n{" % (len(HEAD), HEAD)
    with answering(reply(200, JSON, body, transfer_encoding="chunked")) as address:
        assert "broke off the connection in mid-reply" in failure(address, "SELECT * { ?s ?p ?o }")


def test_a_reply_that_drips_ends_in_time():
    def answer(handler):
        reply(200, JSON, HEAD)(handler)
        for _ in range(400):
            handler.wfile.write(ROW + b", ")
            time.sleep(0.05)

    with answering(answer) as address:
        start = time.monotonic()
        with pytest.raises(StoreTimeout, match=r"no result within 0.5 s"):
            SparqlEndpoint(address, seconds=0.5).run("SELECT * { ?s ?p ?o }")
        assert time.monotonic() - start < 10  # whole it would take 20


def test_rows_after_the_limit_are_not_read():
    def answer(handler):
        reply(200, JSON, HEAD)(handler)
        while True:
            handler.wfile.write(ROW + b", ")

    with answering(answer) as address:
        rows = SparqlEndpoint(address, seconds=20).run("SELECT * { ?s ?p ?o }")
    assert (len(rows.rows), rows.complete) == (1000, False)


def test_a_certificate_that_nobody_vouches_for(monkeypatch):
    with answering(reply(200, JSON, b'{"head": {}, "boolean": true}'), tls=True) as address:
        message = failure(address)
        assert "certificate that is not trusted" in message
        assert "$SSL_CERT_FILE" in message
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert SparqlEndpoint(address).run(ASK).rows == ((True,),)
        assert "not TLS" not in failure(address.replace("localhost", "127.0.0.1"))


def test_tls_where_there_is_none_and_none_where_it_is():
    with answering(reply(200, JSON, b"{}")) as address:
        assert "does not speak TLS" in failure(address.replace("+http", "+https"))
    with answering(reply(200, JSON, b"{}"), tls=True) as address:
        assert "sparql+https://" in failure(address.replace("+https", "+http"))


def test_a_server_that_is_no_http():
    with socket.create_server(("localhost", 0)) as server:

        def serve():
            connection, _ = server.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        assert "not HTTP" in failure(f"sparql+http://localhost:{server.getsockname()[1]}/")
        thread.join()


def test_a_redirection_is_followed_within_the_host_only():
    def moved(handler):
        if handler.path.startswith("/sparql"):
            reply(302, "text/plain", b"", location="/other")(handler)
        else:
            assert "query=" in handler.path
            reply(200, JSON, b'{"head": {}, "boolean": true}')(handler)

    with answering(moved) as address:
        assert SparqlEndpoint(address).run(ASK).rows == ((True,),)
    with answering(reply(302, "text/plain", b"", location="http://elsewhere.invalid/")) as address:
        assert "elsewhere.invalid" in failure(address)
    with answering(reply(302, "text/plain", b"", location="/sparql")) as address:
        assert "without end" in failure(address)


def test_a_long_query_is_posted():
    seen = []

    def answer(handler):
        seen.append((handler.command, getattr(handler, "body", b"")[:6]))
        reply(200, JSON, b'{"head": {}, "boolean": true}')(handler)

    with answering(answer) as address:
        SparqlEndpoint(address).run(ASK)
        SparqlEndpoint(address).run(f"ASK {{ ?s ?p '{'x' * 3000}' }}")
    assert seen == [("GET", b""), ("POST", b"query=")]


@pytest.mark.parametrize(
    ("media", "body"),
    [
        (JSON, HEAD + ROW + b"]}}"),
        ("application/json", HEAD + ROW + b"]}}"),
        ("text/tab-separated-values", b"?s\n<urn:a>\n"),
        (
            "application/sparql-results+xml",
            b'<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="s"/></head>'
            b'<results><result><binding name="s"><uri>urn:a</uri></binding></result></results></sparql>',
        ),
    ],
)
def test_results_are_read_in_all_forms(media, body):
    with answering(reply(200, media, body)) as address:
        rows = SparqlEndpoint(address).run("SELECT ?s { ?s ?p ?o }")
    assert (rows.columns, [row[0].value for row in rows.rows]) == (("s",), ["urn:a"])
