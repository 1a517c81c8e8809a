"""Real SPARQL endpoints for tests: Oxigraph's server (a package), and Jena Fuseki (Java, from Maven Central).

with oxigraph_server("data.nt") as address: …        # sparql+http://localhost:PORT/query
with fuseki_server("data.nt") as address: …          # sparql+http://localhost:PORT/ds/sparql
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from neo4j_server import Unavailable, check_java

FUSEKI = "5.2.0"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return free.getsockname()[1]


def fuseki_jar() -> Path:
    """Return the server's jar, fetching it the first time."""
    check_java()
    base = os.environ.get("CLEW_TEST_CACHE") or Path.home() / ".cache" / "clew-tests"
    folder = Path(base) / f"fuseki-{FUSEKI}"
    jar = folder / f"jena-fuseki-server-{FUSEKI}.jar"
    if (folder / "complete").exists():
        return jar
    if shutil.which("mvn") is None:
        raise Unavailable("the tests that need Fuseki are left out: there is no Maven to fetch it (mvn)")
    artifact = f"-Dartifact=org.apache.jena:jena-fuseki-server:{FUSEKI}"
    done = subprocess.run(
        ["mvn", "-q", "-B", "dependency:copy", artifact, f"-DoutputDirectory={folder}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Unavailable(f"Maven could not fetch Fuseki: {done.stdout[-300:]}")
    (folder / "complete").touch()
    return jar


def _wait(port, process, log):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if process.poll() is not None:
            raise Unavailable(f"the server did not start: {log.read_text()[-500:]}")
        with contextlib.suppress(OSError), socket.create_connection(("localhost", port), 1):
            return
        time.sleep(0.05)
    raise Unavailable("the server did not start within a minute")


@contextlib.contextmanager
def _running(command, port, folder):
    log = Path(folder) / "log"
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder)
    try:
        _wait(port, process, log)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def oxigraph_server(*files):
    """Serve files of triples read-only."""
    program = shutil.which("oxigraph", path=str(Path(sys.executable).parent)) or shutil.which("oxigraph")
    if program is None:
        raise Unavailable("the package oxigraph is not installed")
    with tempfile.TemporaryDirectory() as folder:
        data, port = Path(folder) / "data", free_port()
        names = [str(Path(file).resolve()) for file in files]
        subprocess.run([program, "load", "-l", str(data), "-f", *names], check=True, capture_output=True)
        command = [program, "serve-read-only", "-l", str(data), "-b", f"localhost:{port}"]
        with _running(command, port, folder):
            yield f"sparql+http://localhost:{port}/query"


@contextlib.contextmanager
def fuseki_server(file, *, users=None, certificate=None):
    """Serve a file; `users` {name: password}, `certificate` a PKCS#12 store with the password `changeit`."""
    jar = fuseki_jar()
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = ["java", "-Xmx300m", "-jar", str(jar), "--localhost", f"--file={Path(file).resolve()}"]
        scheme, secure = "http", port
        if users:
            (Path(folder) / "users").write_text("".join(f"{n}: {p}\n" for n, p in users.items()))
            command += ["--passwd=users", "--auth=basic"]
        if certificate:
            (Path(folder) / "https.json").write_text(f'{{"keystore": "{certificate}", "passwd": "changeit"}}')
            secure, scheme = free_port(), "https"
            command += ["--https=https.json", f"--httpsPort={secure}"]
        with _running([*command, f"--port={port}", "/ds"], secure, folder):
            yield f"sparql+{scheme}://localhost:{secure}/ds/sparql"
