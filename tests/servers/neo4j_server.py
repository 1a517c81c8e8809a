"""A real Neo4j 5 server for tests: its jars come from Maven Central once, and are kept between runs.

    with neo4j_server() as address: …

Needs Java 17 and Maven; raises `Unavailable` without them.
"""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PASSWORD = "clew-test-password"  # noqa: S105
VERSION = "5.26.0"
OLDEST_JAVA = 17
SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Java compiles quickly rather than well: half of the work of a run of some minutes."""


class Unavailable(Exception):
    """There is no Neo4j server on this machine; says why."""


def check_java() -> None:
    """Raise Unavailable without Java 17 or newer."""
    if shutil.which("java") is None:
        raise Unavailable("the tests that need Neo4j are left out: there is no Java 17 (java)")
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    if found is None or int(found[1]) < OLDEST_JAVA:
        raise Unavailable(f"the tests that need Neo4j are left out: Java is not 17 or newer ({said[:40]})")


def jars() -> Path:
    """Return the folder with the server's jars, fetching them the first time."""
    check_java()
    base = os.environ.get("CLEW_TEST_CACHE") or Path.home() / ".cache" / "clew-tests"
    folder = Path(base) / f"neo4j-{VERSION}"
    if (folder / "complete").exists():
        return folder
    if shutil.which("mvn") is None:
        raise Unavailable("the tests that need Neo4j are left out: there is no Maven to fetch it (mvn)")
    folder.mkdir(parents=True, exist_ok=True)
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={folder}", "-DincludeScope=runtime"]
    done = subprocess.run(
        ["mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), *goal], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Unavailable(f"Maven could not fetch Neo4j: {done.stdout[-300:]}")
    (folder / "complete").touch()
    return folder


@contextlib.contextmanager
def neo4j_server():
    """Start a server with an empty database; yields its Bolt address. User neo4j, password `PASSWORD`."""
    folder = jars()
    import neo4j

    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as home:
        program = ["-cp", f"{folder}/*", str(HERE / "Neo4jServer.java"), home, str(port)]
        command = ["java", "-Xmx700m", *SHORT_LIVED, *program]
        with (Path(home) / "log").open("w") as log:
            server = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        try:
            if server.stdout is None or server.stdin is None or "ready" not in server.stdout.readline():
                raise Unavailable(f"Neo4j did not start: {(Path(home) / 'log').read_text()[-500:]}")
            address = f"bolt://localhost:{port}"
            with neo4j.GraphDatabase.driver(address, auth=("neo4j", "neo4j")) as driver:
                text = "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $new"
                driver.execute_query(text, new=PASSWORD, database_="system")
            yield address
        finally:
            server.stdin.close()
            try:
                server.wait(timeout=30)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
            server.stdout.close()
