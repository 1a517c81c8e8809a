"""A real Milvus server for tests, from the package `milvus`, in a process that can be killed.

    with milvus_server() as server: server.uri …

Its programs are unpacked once and kept between runs. Raises `Unavailable` where the package is not installed.
"""

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

PROGRAM = """
import os, socket, sys
from milvus import MilvusServer, MilvusServerConfig
def bound(self, port):  # also a port that was in use a moment ago
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(("127.0.0.1", port))
    except OSError:  # another program has it: the caller tries the next one
        found.close()
        return None
    return found
MilvusServerConfig.try_bind_port = bound
home, port, clients, peers = sys.argv[1:]
server = MilvusServer(wait_for_started=False)
server.set_base_dir(home)
server.listen_port = int(port)
server.config.configs["etcd_port"] = int(clients)
os.environ["ETCD_CONFIG_PATH"] = home + "/etcd.yaml"
os.environ["PROXY_TIMETICKINTERVAL"] = "20"
for name in ("CHECKINTERVAL", "CHECKSEGMENTINTERVAL", "CHECKCHANNELINTERVAL", "DISTPULLINTERVAL"):
    os.environ["QUERYCOORD_" + name] = "20"
os.environ["COMMON_SESSION_TTL"] = "2"  # for how long one that starts waits for one that was killed
server.start()
server.wait_started(60_000)
print("ready", server.server_proc.pid, flush=True)
sys.stdin.read()
server.stop()
"""
ETCD = """
name: default
data-dir: {home}/data/etcd.data
listen-client-urls: http://localhost:{clients}
advertise-client-urls: http://localhost:{clients}
listen-peer-urls: http://localhost:{peers}
initial-advertise-peer-urls: http://localhost:{peers}
initial-cluster: default=http://localhost:{peers}
"""
"""The etcd in a Milvus listens on ports of its own, or there could be one Milvus on a machine."""


class Unavailable(Exception):
    """There is no Milvus server on this machine; says why."""


def free_ports(count):
    """Return ports that nothing listens on."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for free in found:
            free.bind(("127.0.0.1", 0))
        return [free.getsockname()[1] for free in found]


class MilvusServer:
    """One server with its data in `home`."""

    def __init__(self, home):
        self.home = home
        self._ports = free_ports(3)
        port, clients, peers = self._ports
        self.uri = f"http://127.0.0.1:{port}"
        (home / "etcd.yaml").write_text(ETCD.format(home=home, clients=clients, peers=peers))
        self._process = None
        self._pid = 0

    def start(self):
        """Start, or start again with what was there."""
        environment = {**os.environ, "HOME": str(self.home)}
        command = [sys.executable, "-c", PROGRAM, str(self.home), *map(str, self._ports)]
        with (self.home / "log").open("a") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
            )
        told = self._process.stdout.readline().split()
        if not told:
            raise Unavailable(f"Milvus did not start: {(self.home / 'log').read_text()[-300:]}")
        self._pid = int(told[1])

    def kill(self):
        """Kill it at once."""
        os.kill(self._pid, signal.SIGKILL)
        self.stop()

    def stop(self):
        """Stop it, if it runs."""
        if self._process is None:
            return
        self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._process = None


@contextlib.contextmanager
def milvus_server():
    """Start a server without data."""
    if importlib.util.find_spec("milvus") is None:
        raise Unavailable("the package milvus is not installed")
    base = os.environ.get("CLEW_TEST_CACHE") or Path.home() / ".cache" / "clew-tests"
    programs = Path(base) / f"milvus-{version('milvus')}" / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="clew-milvus-"))
    (home / "bin").symlink_to(programs)
    server = MilvusServer(home)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)
