"""What a user is told when a Neo4j server is not there, refuses, or breaks off: one line, and what to "
"check."""

import contextlib
import socket
import ssl
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from clew.errors import UsageError
from clew.llm.testing import ScriptedModel
from clew.stores.doctor import check_store
from clew.stores.errors import StoreError
from clew.stores.opening import Login, open_neo4j

pytest.importorskip("neo4j", reason="the driver of Neo4j is not installed")

CERTIFICATE = Path(__file__).resolve().parents[1] / "servers" / "localhost.pem"
BOLT = bytes.fromhex("6060b017")


def failure(address, login=None):
    with pytest.raises(StoreError) as raised:
        open_neo4j(address, login or Login()).close()
    message = str(raised.value)
    assert "\n" not in message
    return message


@contextmanager
def listening(serve, *, tls=False):
    """A server that calls `serve(connection)` for each connection; yields its port."""
    server = socket.create_server(("localhost", 0))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    stop, threads = threading.Event(), []

    def handle(connection):
        try:
            if tls:
                connection = context.wrap_socket(connection, server_side=True)
            with connection:
                serve(connection)
        except OSError:
            return

    def accept():
        while not stop.is_set():
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=handle, args=(connection,)))
            threads[-1].start()

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield server.getsockname()[1]
    finally:
        stop.set()
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        for each in (thread, *threads):
            each.join()


def of_version(version):
    """Speak Bolt as far as a driver asks who it talks to."""

    def serve(connection):
        connection.recv(20)
        connection.sendall(b"\x00\x00\x04\x04")
        connection.recv(4096)
        agent = f"Neo4j/{version}".encode()
        body = b"\xb1\x70\xa2\x86server" + bytes([0x80 + len(agent)]) + agent
        body += b"\x8dconnection_id\x86bolt-1"
        connection.sendall(len(body).to_bytes(2, "big") + body + b"\x00\x00")
        connection.recv(4096)

    return serve


def test_no_server_and_no_host():
    for scheme in ("bolt", "neo4j", "neo4j+s"):
        message = failure(f"{scheme}://localhost:9")
        assert "cannot be reached: nothing answers at that port" in message
        assert "Check that the server runs" in message
    assert "no host of that name" in failure("bolt://nowhere.invalid")


def test_an_address_that_is_none():
    with pytest.raises(UsageError, match="no address of Neo4j"):
        open_neo4j("https://localhost", Login())


def test_neo4j_4_is_too_old():
    with listening(of_version("4.4.38")) as port:
        message = failure(f"bolt://localhost:{port}")
    assert message == (
        f"bolt://localhost:{port} is Neo4j 4.4.38; Clew needs Neo4j 5 or newer. Upgrade the server"
    )


def test_a_server_that_is_no_neo4j():
    with listening(lambda c: (c.recv(100), c.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"))) as port:
        assert "7687" in failure(f"bolt://localhost:{port}")


def test_a_server_that_hangs_up():
    with listening(lambda c: c.recv(100)) as port:
        assert "the connection broke" in failure(f"bolt://localhost:{port}")


def test_tls_where_there_is_none_and_none_where_it_is():
    with listening(lambda c: c.recv(100)) as port:
        assert "without +s" in failure(f"bolt+s://localhost:{port}")
    with listening(lambda c: (c.recv(100), c.sendall(BOLT))) as port:
        assert "without +s" in failure(f"bolt+s://localhost:{port}")
    with listening(lambda c: c.recv(100), tls=True) as port:
        assert "neo4j+s://" in failure(f"bolt://localhost:{port}")
        assert "certificate that is not trusted" in failure(f"bolt+s://localhost:{port}")


def test_a_wrong_password(neo4j_address):
    message = failure(neo4j_address, Login(password="wrong"))  # noqa: S106
    assert "$NEO4J_PASSWORD" in message


def test_no_such_database(neo4j_address, login):
    assert "has no database 'nowhere'" in failure(f"{neo4j_address}/nowhere", login)


@pytest.fixture
def login(neo4j_address):
    from neo4j_server import PASSWORD

    return Login(password=PASSWORD)


@contextmanager
def cutting(address, after):
    """Pass a connection on, and cut it once `after` bytes have come from the server."""
    target = int(address.rpartition(":")[2])

    def serve(connection):
        with socket.create_connection(("localhost", target)) as behind:

            def forward():
                while data := connection.recv(1 << 16):
                    behind.sendall(data)

            def quiet():
                try:
                    forward()
                except OSError:
                    return

            thread = threading.Thread(target=quiet)
            thread.start()
            left = after
            while left > 0 and (data := behind.recv(min(left, 1 << 14))):
                left -= len(data)
                connection.sendall(data)
            connection.shutdown(socket.SHUT_RDWR)
        thread.join()

    with listening(serve) as port:
        yield f"bolt://localhost:{port}"


def test_a_connection_that_breaks_in_mid_result(neo4j_address, login):
    with (
        cutting(neo4j_address, 20_000) as address,
        closing(open_neo4j(address, login)) as store,
        pytest.raises(StoreError, match="the connection broke") as raised,
    ):
        list(store.stream("UNWIND range(1, 100000) AS x RETURN x"))
    assert "\n" not in str(raised.value)


def test_a_server_that_restarts_in_mid_question_is_an_error_and_the_next_question_is_answered(
    neo4j_address, login
):
    """Whatever byte the connection ends at, no answer is made of what came."""
    import neo4j

    from clew.database import Database
    from clew.stores.neo4j import Neo4jStore
    from clew.text.embedders import StaticEmbedder

    with neo4j.GraphDatabase.driver(neo4j_address, auth=("neo4j", login.password)) as driver:
        driver.execute_query("MERGE (:Restarted {name: 'Ana'})-[:KNOWS]->(:Restarted {name: 'Bo'})")
    question, embedder = "Who does Ana know?", StaticEmbedder.load()
    query = "MATCH (:Restarted {name: 'Ana'})-[:KNOWS]->(b) RETURN b.name AS b"
    model = ScriptedModel(lambda r: '{"column": "b"}' if "<rows>" in r.messages[1].text else query)
    wire = Wire(neo4j_address)
    with listening(wire.serve) as port:
        store = Neo4jStore(f"bolt://localhost:{port}", password=login.password, seconds=30)
        with Database(store, embedder) as opened:
            wire.left = 700
            with pytest.raises(StoreError, match=r"localhost:\d+ cannot be reached, or the connection broke"):
                opened.ask(question, model=model)
            wire.left = None
            assert [a.label for a in opened.ask(question, model=model).answers] == ["Bo"]


class Wire:
    """Passes connections on to a server; with `left`, all of them end after so many bytes from it."""

    def __init__(self, address):
        self.port, self.left = int(address.rpartition(":")[2]), None

    def serve(self, connection):
        with socket.create_connection(("localhost", self.port)) as behind:
            thread = threading.Thread(target=self._forward, args=(connection, behind))
            thread.start()
            while data := behind.recv(1 << 14):
                if self.left is not None:
                    self.left -= len(data)
                    if self.left < 0:
                        break
                connection.sendall(data)
            connection.shutdown(socket.SHUT_RDWR)
        thread.join()

    @staticmethod
    def _forward(connection, behind):
        with contextlib.suppress(OSError):
            while data := connection.recv(1 << 16):
                behind.sendall(data)
            behind.shutdown(socket.SHUT_RDWR)


def test_the_doctor_says_what_it_saw(neo4j_address, login):
    checks = check_store(neo4j_address, login)
    assert [check.name for check in checks] == ["server", "reading", "schema", "speed"]
    assert "Neo4j 5." in checks[0].detail
    (check,) = check_store(neo4j_address, Login(password="wrong"))  # noqa: S106
    assert (check.state, "$NEO4J_PASSWORD" in check.detail) == ("failed", True)


def test_a_user_in_the_address_comes_before_that_of_the_environment(neo4j_address, login):
    address = neo4j_address.replace("//", f"//neo4j:{login.password}@")
    with closing(open_neo4j(address, Login(password="wrong"))) as store:  # noqa: S106
        assert store.run("RETURN 1 AS one").rows == ((1,),)
        assert login.password not in store.name
